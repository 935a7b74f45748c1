//! An external sort of many items of 24 bytes, into which they are pushed one by one.
//!
//! # Algorithm
//! Items are collected in a buffer of fixed size. A full buffer is sorted and written to a file. At
//! the end the files and the last buffer are merged; if there are more files than may be open, the
//! oldest ones are merged into one first.
//!
//! # Cost
//! Memory: the buffer, and [`READ_BYTES`] for each file. One thread sorts.
//!
//! # What is not guaranteed
//! The files have no checksums. They are temporary, and the number of items is checked at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::disk;
use super::small::Tagged;
use crate::budget::ByteSize;
use crate::{Error, Result, limits};

/// Bytes of an item, in memory and in a file.
const ITEM_BYTES: usize = 24;
/// The least items in a buffer.
const LEAST_ITEMS: usize = 1024;
/// Bytes that are read of a file at once.
const READ_BYTES: usize = 48 << 10;
/// The most files that are merged at once.
const MOST_FILES: u64 = 256;

/// A [`Tagged`] whose alignment wastes no memory; of the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    high: u64,
    low: u64,
    document: u32,
    extra: u32,
}

impl From<Tagged> for Item {
    fn from(item: Tagged) -> Item {
        Item {
            high: (item.key >> 64) as u64,
            low: item.key as u64,
            document: item.document,
            extra: item.extra,
        }
    }
}

impl From<Item> for Tagged {
    fn from(item: Item) -> Tagged {
        Tagged {
            key: u128::from(item.high) << 64 | u128::from(item.low),
            document: item.document,
            extra: item.extra,
        }
    }
}

impl Item {
    fn encode(&self) -> [u8; ITEM_BYTES] {
        let mut bytes = [0; ITEM_BYTES];
        bytes[..8].copy_from_slice(&self.high.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.low.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.document.to_le_bytes());
        bytes[20..].copy_from_slice(&self.extra.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; ITEM_BYTES]) -> Item {
        let words = bytes.as_chunks::<4>().0;
        let word = |n: usize| words.get(n).map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let long = |n: usize| u64::from(word(n + 1)) << 32 | u64::from(word(n));
        Item {
            high: long(0),
            low: long(2),
            document: word(4),
            extra: word(5),
        }
    }
}

/// A sort into which items are pushed.
pub struct TaggedSorter {
    place: PathBuf,
    capacity: usize,
    files: usize,
    buffer: Vec<Item>,
    pushed: u64,
    named: u64,
    sorted: Vec<PathBuf>,
}

impl TaggedSorter {
    /// Begins a sort in the directory `place`, with about `memory`. There must be nothing in its
    /// place.
    pub fn create(place: &Path, memory: ByteSize) -> Result<TaggedSorter> {
        let files = limits::files_left(1).clamp(2, MOST_FILES) as usize;
        TaggedSorter::with_files(place, memory, files)
    }

    fn with_files(place: &Path, memory: ByteSize, files: usize) -> Result<TaggedSorter> {
        disk::create_directory(place)?;
        Ok(TaggedSorter {
            place: place.to_path_buf(),
            capacity: (memory.as_len() / ITEM_BYTES).max(LEAST_ITEMS),
            files,
            buffer: Vec::new(),
            pushed: 0,
            named: 0,
            sorted: Vec::new(),
        })
    }

    /// Adds an item.
    pub fn push(&mut self, item: Tagged) -> Result<()> {
        if self.buffer.len() == self.capacity {
            self.spill()?;
        }
        if self.buffer.len() == self.buffer.capacity() {
            // Pages that are not used are not memory, so the whole buffer costs nothing before.
            self.buffer.reserve_exact(self.capacity - self.buffer.len());
        }
        self.buffer.push(item.into());
        self.pushed += 1;
        Ok(())
    }

    /// The number of items.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> u64 {
        self.pushed
    }

    fn create_file(&mut self) -> Result<(PathBuf, BufWriter<disk::File>)> {
        self.named += 1;
        let path = self.place.join(format!("sorted-{}", self.named));
        let out = BufWriter::with_capacity(disk::WRITE_BUFFER, disk::create(&path)?);
        Ok((path, out))
    }

    /// Writes the buffer to a file.
    fn spill(&mut self) -> Result<()> {
        if self.sorted.len() == self.files {
            let (path, mut out) = self.create_file()?;
            let mut merged = Merged::open(&self.sorted, Vec::new())?;
            while let Some(item) = merged.next()? {
                let written = out.write_all(&item.encode());
                written.map_err(Error::io("write", &path))?;
            }
            out.flush().map_err(Error::io("write", &path))?;
            for old in std::mem::replace(&mut self.sorted, vec![path]) {
                disk::remove(&old)?;
            }
        }
        let (path, mut out) = self.create_file()?;
        self.buffer.sort_unstable();
        for item in &self.buffer {
            let written = out.write_all(&item.encode());
            written.map_err(Error::io("write", &path))?;
        }
        out.flush().map_err(Error::io("write", &path))?;
        self.buffer.clear();
        self.sorted.push(path);
        Ok(())
    }

    /// The items, in order.
    pub fn sorted(mut self) -> Result<Sorted> {
        self.buffer.sort_unstable();
        Ok(Sorted {
            merged: Merged::open(&self.sorted, self.buffer)?,
            place: self.place,
            pushed: self.pushed,
            taken: 0,
        })
    }
}

/// The items of a sort, in order.
pub struct Sorted {
    merged: Merged,
    place: PathBuf,
    pushed: u64,
    taken: u64,
}

impl Sorted {
    /// The next item; `None` after the last one, when the files of the sort are removed.
    #[allow(clippy::should_implement_trait, reason = "an iterator cannot fail")]
    pub fn next(&mut self) -> Result<Option<Tagged>> {
        if let Some(item) = self.merged.next()? {
            self.taken += 1;
            return Ok(Some(item.into()));
        }
        if self.taken != self.pushed {
            return Err(Error::Corrupt {
                path: self.place.clone(),
                offset_bytes: None,
                what: "items that came back from sorting".into(),
                expected: self.pushed.to_string(),
                found: self.taken.to_string(),
            });
        }
        disk::remove_tree(&self.place)?;
        Ok(None)
    }
}

/// Sorted files and a sorted buffer, merged.
struct Merged {
    files: Vec<Reader>,
    buffer: std::vec::IntoIter<Item>,
    /// The next item of each file, and of the buffer, whose number follows those of the files.
    heads: BinaryHeap<Reverse<(Item, usize)>>,
}

impl Merged {
    fn open(files: &[PathBuf], buffer: Vec<Item>) -> Result<Merged> {
        let files = files.iter().map(|path| Reader::open(path));
        let mut merged = Merged {
            files: files.collect::<Result<_>>()?,
            buffer: buffer.into_iter(),
            heads: BinaryHeap::new(),
        };
        if merged.files.is_empty() {
            return Ok(merged);
        }
        for n in 0..=merged.files.len() {
            if let Some(item) = merged.next_of(n)? {
                merged.heads.push(Reverse((item, n)));
            }
        }
        Ok(merged)
    }

    fn next_of(&mut self, n: usize) -> Result<Option<Item>> {
        match self.files.get_mut(n) {
            Some(file) => file.next(),
            None => Ok(self.buffer.next()),
        }
    }

    #[inline]
    fn next(&mut self) -> Result<Option<Item>> {
        if self.files.is_empty() {
            return Ok(self.buffer.next());
        }
        let Some(mut head) = self.heads.peek_mut() else {
            return Ok(None);
        };
        let Reverse((item, n)) = *head;
        let next = match self.files.get_mut(n) {
            Some(file) => file.next()?,
            None => self.buffer.next(),
        };
        match next {
            Some(next) => *head = Reverse((next, n)),
            None => {
                PeekMut::pop(head);
            }
        }
        Ok(Some(item))
    }
}

/// Reads a sorted file.
struct Reader {
    file: disk::File,
    path: PathBuf,
    bytes: Vec<u8>,
    at: usize,
    /// Bytes that are not yet read.
    left: u64,
}

impl Reader {
    fn open(path: &Path) -> Result<Reader> {
        Ok(Reader {
            file: disk::open(path)?,
            path: path.into(),
            bytes: Vec::new(),
            at: 0,
            left: disk::size(path)?,
        })
    }

    #[inline]
    fn next(&mut self) -> Result<Option<Item>> {
        if self.at == self.bytes.len() {
            let length = self.left.min(READ_BYTES as u64);
            self.bytes.resize(length as usize, 0);
            let read = self.file.read_exact(&mut self.bytes);
            read.map_err(Error::io("read", &self.path))?;
            self.left -= length;
            self.at = 0;
        }
        let bytes = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk);
        self.at = (self.at + ITEM_BYTES).min(self.bytes.len());
        Ok(bytes.map(Item::decode))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lower limits on open files force merges of sorted files, once and repeatedly.
    #[test]
    fn sorts_across_files() {
        for (n, files) in [
            (0_u32, 2),
            (1, 2),
            (1024, 2),
            (10_000, 256),
            (10_000, 3),
            (100_000, 2),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let place = directory.path().join("t");
            let mut sorter = TaggedSorter::with_files(&place, ByteSize(0), files).unwrap();
            let mut expected = Vec::new();
            for i in 0..n {
                let key = u128::from(i.wrapping_mul(0x9e37_79b1_u32) % 1000);
                let item = Tagged {
                    key: key << 96 | key << 31,
                    document: i % 7,
                    extra: i,
                };
                sorter.push(item).unwrap();
                expected.push(item);
            }
            expected.sort_unstable();
            assert_eq!(sorter.len(), u64::from(n));
            let mut sorted = sorter.sorted().unwrap();
            let mut back = Vec::new();
            while let Some(item) = sorted.next().unwrap() {
                back.push(item);
            }
            assert_eq!(back, expected);
            assert_eq!(disk::list(directory.path()).unwrap(), Vec::<String>::new());
        }
    }
}
