//! Bytes and items that a command sets aside in temporary files.

use std::io::{BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::disk::{self, File};
use super::{Item, VERSION, meta};
use bincode::{BorrowDecode, Encode};
use lookalike_base::{Error, Result, lock};

/// Bytes that wait to be written to a file.
const BUFFER: usize = disk::WRITE_BUFFER;

/// Bytes that threads append, and read at any offset. They are in memory until they are many, and
/// then in a file without a name.
pub struct Aside {
    directory: PathBuf,
    /// Bytes that are kept in memory before any are written.
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    file: Option<File>,
    /// Bytes in the file.
    written: u64,
    /// The bytes after them.
    waiting: Vec<u8>,
}

impl Aside {
    /// Makes a file in `directory` if there are many bytes.
    pub fn new(directory: &Path) -> Aside {
        Aside::within(directory, BUFFER as u64)
    }

    /// Makes a file if there are more than `most` bytes.
    pub fn within(directory: &Path, most: u64) -> Aside {
        Aside {
            directory: directory.into(),
            most: usize::try_from(most).unwrap_or(usize::MAX),
            state: Mutex::default(),
        }
    }

    /// The number of bytes.
    pub fn length(&self) -> u64 {
        let state = lock(&self.state);
        state.written + state.waiting.len() as u64
    }

    /// Appends bytes. Returns their offset.
    pub fn put(&self, bytes: &[u8]) -> Result<u64> {
        let mut state = lock(&self.state);
        let offset = state.written + state.waiting.len() as u64;
        state.waiting.extend_from_slice(bytes);
        let most = (state.file.as_ref()).map_or(self.most, |_| self.most.min(BUFFER));
        if state.waiting.len() > most {
            self.write(&mut state, BUFFER)?;
        }
        Ok(offset)
    }

    /// Writes what waits to the file, if there is one, and frees its memory.
    pub fn settle(&self) -> Result<()> {
        let mut state = lock(&self.state);
        match state.file {
            Some(_) => self.write(&mut state, 0),
            None => Ok(()),
        }
    }

    /// Writes what waits to the file, and keeps room for this number of bytes.
    fn write(&self, state: &mut State, kept: usize) -> Result<()> {
        let out = match &mut state.file {
            Some(file) => file,
            none => none.insert(disk::unnamed(&self.directory)?),
        };
        out.seek(SeekFrom::Start(state.written))
            .and_then(|_| out.write_all(&state.waiting))
            .map_err(Error::io("write a temporary file in", &self.directory))?;
        state.written += state.waiting.len() as u64;
        state.waiting.clear();
        state.waiting.shrink_to(kept);
        Ok(())
    }

    /// Reads the bytes from an offset on.
    pub fn get(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let state = lock(&self.state);
        let in_file = state.written.saturating_sub(offset).min(out.len() as u64) as usize;
        let (first, rest) = out.split_at_mut(in_file);
        if let Some(file) = &state.file {
            file.read_exact_at(first, offset)
                .map_err(Error::io("read a temporary file in", &self.directory))?;
        }
        if !rest.is_empty() {
            let at = (offset + in_file as u64 - state.written) as usize;
            rest.copy_from_slice(&state.waiting[at..at + rest.len()]);
        }
        Ok(())
    }

    /// Forgets all bytes, and uses their place again.
    pub fn clear(&mut self) {
        let mut state = lock(&self.state);
        state.written = 0;
        state.waiting.clear();
    }
}

/// Values that threads set aside.
pub struct SetAside<T> {
    bytes: Aside,
    of: PhantomData<fn(T) -> T>,
}

impl<T: Encode + for<'b> BorrowDecode<'b, u16>> SetAside<T> {
    /// Makes a temporary file in `directory` if there are many values.
    pub fn new(directory: &Path) -> SetAside<T> {
        SetAside {
            bytes: Aside::new(directory),
            of: PhantomData,
        }
    }

    /// Adds a value. Returns its place.
    pub fn put(&self, value: &T) -> Result<u64> {
        let mut bytes = vec![0; 4];
        let put = meta::encode(value, &mut bytes).map_err(std::io::Error::other);
        put.map_err(Error::io("encode a value for", &self.bytes.directory))?;
        let length = (bytes.len() as u32 - 4).to_le_bytes();
        bytes[..4].copy_from_slice(&length);
        self.bytes.put(&bytes)
    }

    /// Reads the value at a place.
    pub fn get(&self, mut place: u64) -> Result<T> {
        self.next(&mut place)
    }

    /// Reads the value at a place, and moves the place to the value that was put next.
    pub fn next(&self, place: &mut u64) -> Result<T> {
        let mut length = [0; 4];
        self.bytes.get(*place, &mut length)?;
        let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
        self.bytes.get(*place + 4, &mut bytes)?;
        let at = std::mem::replace(place, *place + 4 + bytes.len() as u64);
        let value = meta::decode(&bytes, VERSION).map(|(value, _)| value);
        value.map_err(|found| {
            Error::corrupt("(a temporary file)", "value")
                .at(at)
                .expected("what this command wrote", found)
        })
    }
}

/// Bytes of an item in a [`List`].
const ITEM_BYTES: usize = 24;
/// Bytes of items that are read at once.
const PIECE_BYTES: usize = ITEM_BYTES << 13;

/// Items in the order in which they are added.
pub struct List<T> {
    items: Aside,
    of: PhantomData<T>,
}

impl<T: Item> List<T> {
    /// Makes a temporary file in `directory` if there are many items.
    pub fn new(directory: &Path) -> List<T> {
        List {
            items: Aside::new(directory),
            of: PhantomData,
        }
    }

    /// Adds an item.
    pub fn push(&mut self, item: &T) -> Result<()> {
        let bytes = item.words().map(u32::to_le_bytes);
        self.items.put(bytes.as_flattened()).map(|_| ())
    }

    /// The number of items.
    pub fn count(&self) -> u64 {
        self.items.length() / ITEM_BYTES as u64
    }

    /// Passes on all items.
    pub fn each(&self, mut act: impl FnMut(T) -> Result<()>) -> Result<()> {
        let end = self.items.length();
        let mut bytes = vec![0; PIECE_BYTES];
        for at in (0..end).step_by(PIECE_BYTES) {
            let some = &mut bytes[..(end - at).min(PIECE_BYTES as u64) as usize];
            self.items.get(at, some)?;
            let items = some.as_chunks::<4>().0.as_chunks::<6>().0;
            for words in items {
                act(T::of(words.map(u32::from_le_bytes)))?;
            }
        }
        Ok(())
    }
}

/// Rows of `N` numbers, which threads write in any order.
pub struct Rows<const N: usize> {
    directory: PathBuf,
    file: Mutex<File>,
}

impl<const N: usize> Rows<N> {
    /// Makes a file without a name in a directory.
    pub fn create(directory: &Path) -> Result<Rows<N>> {
        Ok(Rows {
            directory: directory.into(),
            file: Mutex::new(disk::unnamed(directory)?),
        })
    }

    /// Writes rows, of which the first one has the number `first`.
    pub fn put(&self, first: u32, rows: impl Iterator<Item = [u64; N]>) -> Result<()> {
        let bytes: Vec<_> = rows.map(|row| row.map(u64::to_le_bytes)).collect();
        let mut file = lock(&self.file);
        file.seek(SeekFrom::Start(u64::from(first) * 8 * N as u64))
            .and_then(|_| file.write_all(bytes.as_flattened().as_flattened()))
            .map_err(Error::io("write a temporary file in", &self.directory))
    }

    /// Passes on the first `count` rows, in their order.
    pub fn each(&self, count: u32, mut act: impl FnMut(u32, [u64; N]) -> Result<()>) -> Result<()> {
        let failed = || Error::io("read a temporary file in", &self.directory);
        let mut file = lock(&self.file);
        file.rewind().map_err(failed())?;
        let mut file = BufReader::with_capacity(disk::READ_BUFFER, &mut *file);
        for number in 0..count {
            let mut row = [[0; 8]; N];
            file.read_exact(row.as_flattened_mut()).map_err(failed())?;
            act(number, row.map(u64::from_le_bytes))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::item;

    #[test]
    fn bytes_come_back_wherever_they_are() {
        let place = tempfile::tempdir().unwrap();
        let mut aside = Aside::within(place.path(), 100);
        for _ in 0..2 {
            let mut ends = vec![0];
            for n in 0..60u8 {
                let offset = aside.put(&vec![n; n.into()]).unwrap();
                assert_eq!(offset, ends[usize::from(n)]);
                ends.push(aside.length());
                for (n, range) in (0..=n).zip(ends.windows(2)) {
                    let mut bytes = vec![0; (range[1] - range[0]) as usize];
                    aside.get(range[0], &mut bytes).unwrap();
                    assert_eq!(bytes, vec![n; n.into()]);
                }
            }
            let mut all = vec![0; aside.length() as usize];
            aside.get(0, &mut all).unwrap();
            assert!(all.is_sorted());
            aside.clear();
            assert_eq!(aside.length(), 0);
        }
    }

    item! {
        struct Number {
            number: u64,
        }
    }

    #[test]
    fn items_come_back_in_their_order() {
        let place = tempfile::tempdir().unwrap();
        for count in [0, 1, 8192, 20_000] {
            let mut list = List::new(place.path());
            (0..count).for_each(|n| list.push(&Number { number: n * n }).unwrap());
            let mut found = Vec::new();
            let mut take = |item: Number| {
                found.push(item.number);
                Ok(())
            };
            list.each(&mut take).unwrap();
            assert!(found.into_iter().eq((0..count).map(|n| n * n)));
        }
    }
}
