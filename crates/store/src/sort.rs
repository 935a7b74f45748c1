//! An external sort of many items of 24 bytes, into which they are pushed one by one.
//!
//! # Algorithm
//! Items are collected in a buffer of fixed size. A full buffer is sorted and written to a part
//! ([`Kind::Sorted`]). At the end the parts and the last buffer are merged; if there are more parts
//! than may be open, they are merged into one first.
//!
//! # Format
//! A part is a sequence of blocks. A block is the number of its items and of its bytes (two numbers
//! of 32 bits), and the items, each as the difference from its predecessor: two bytes that say how
//! many bytes its numbers take, and those bytes ("Sorted" in FORMAT.md).
//!
//! # Sorts that outlive the process
//! [`Sort::scratch`] sorts in a directory that is removed at the end. The parts of a sort that
//! [`Sort::resumed`] began are kept when it is dropped, so that a record can name them, and a later
//! sort continues with them.
//!
//! # Cost
//! Memory: the buffer, and about 42 KiB for each part that is merged. One thread sorts. On disk, an
//! item of random numbers takes about 20 bytes, and an item that is mostly equal to its predecessor
//! takes 5.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use super::disk;
use super::item::Item;
use super::part::{Header, Kind, PartInfo, PartReader, PartWriter};
use lookalike_base::{Error, Result, budget::ByteSize, limits};

/// Bytes of an item in memory.
const ITEM_BYTES: usize = 24;
/// The least items in a buffer.
const LEAST_ITEMS: usize = 1024;
/// Bytes that are read of a part at once.
const READ_BYTES: usize = 16 << 10;
/// The most parts that are merged at once.
const MOST_FILES: u64 = 256;
/// Items in a block.
const BLOCK_ITEMS: usize = 512;
/// The most bytes of an item in a block.
const MOST_BYTES: usize = 2 + ITEM_BYTES;

/// The numbers of an item, two by two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Packed(u64, u64, u64);

impl Packed {
    #[inline]
    fn new([a, b, c, d, e, f]: [u32; 6]) -> Packed {
        let two = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        Packed(two(a, b), two(c, d), two(e, f))
    }

    #[inline]
    fn words(self) -> [u32; 6] {
        let Packed(high, middle, low) = self;
        let [a, b, c] = [high, middle, low].map(|two| ((two >> 32) as u32, two as u32));
        [a.0, a.1, b.0, b.1, c.0, c.1]
    }

    /// Its numbers in the form of a part.
    #[inline]
    fn numbers(self) -> [u64; 5] {
        let Packed(high, middle, low) = self;
        let last = |two: u64| u64::from(two as u32);
        [high, middle >> 32, last(middle), low >> 32, last(low)]
    }
}

/// The bytes that a number takes without its leading zeros.
#[inline]
fn width(number: u64) -> usize {
    (64 - number.leading_zeros() as usize).div_ceil(8)
}

/// The items of a block, packed.
struct Block {
    bytes: Vec<u8>,
    items: usize,
    before: Packed,
}

impl Block {
    fn new() -> Block {
        Block {
            bytes: Vec::with_capacity(BLOCK_ITEMS * MOST_BYTES),
            items: 0,
            before: Packed::default(),
        }
    }

    /// Appends an item, which is not less than its predecessor.
    #[inline]
    fn push(&mut self, item: Packed) {
        let before = std::mem::replace(&mut self.before, item).numbers();
        let mut numbers = item.numbers();
        for (number, before) in numbers.iter_mut().zip(before) {
            *number -= before;
            if *number > 0 {
                break;
            }
        }
        let widths = numbers.map(width);
        let mut packed = [0; MOST_BYTES + 8];
        let mut end = 2;
        for (number, width) in numbers.into_iter().zip(widths) {
            packed[end..end + 8].copy_from_slice(&number.to_le_bytes());
            end += width;
        }
        let [high, rest @ ..] = widths;
        let widths = rest.iter().rev().fold(0, |all, width| all << 3 | width) << 4 | high;
        packed[..2].copy_from_slice(&(widths as u16).to_le_bytes());
        self.bytes.extend_from_slice(&packed[..end]);
        self.items += 1;
    }

    fn write(&mut self, part: &mut PartWriter) -> Result<()> {
        part.put(&(self.items as u32).to_le_bytes())?;
        part.put(&(self.bytes.len() as u32).to_le_bytes())?;
        part.put(&self.bytes)?;
        self.bytes.clear();
        (self.items, self.before) = (0, Packed::default());
        Ok(())
    }
}

/// Writes sorted items into a part.
struct Writer {
    part: PartWriter,
    block: Block,
    items: u64,
}

impl Writer {
    fn create(directory: &Path, parameters: u128, number: u64) -> Result<Writer> {
        let header = Header::new(Kind::Sorted, parameters, number, 0);
        Ok(Writer {
            part: PartWriter::create(directory, &header)?,
            block: Block::new(),
            items: 0,
        })
    }

    #[inline]
    fn push(&mut self, item: Packed) -> Result<()> {
        self.block.push(item);
        self.items += 1;
        match self.block.items {
            BLOCK_ITEMS => self.block.write(&mut self.part),
            _ => Ok(()),
        }
    }

    fn finish(mut self, lasting: bool) -> Result<PartInfo> {
        if self.block.items > 0 {
            self.block.write(&mut self.part)?;
        }
        self.part.end(self.items, 0, 0, lasting)
    }
}

/// The part of a sort that does not depend on the type of its items.
#[derive(Default)]
pub struct Parts {
    place: PathBuf,
    /// Whether the parts are kept, and so must be durable.
    lasting: bool,
    parameters: u128,
    capacity: usize,
    files: usize,
    buffer: Vec<Packed>,
    /// Items in the parts and in the buffer.
    pushed: u64,
    /// The number of the next part.
    next: u64,
    parts: Vec<PartInfo>,
    /// Parts whose items are in another one now. They are not needed if no record names them; a
    /// scratch sort has removed its own already.
    pub(crate) merged: Vec<PathBuf>,
}

impl Parts {
    fn new(place: &Path, memory: ByteSize) -> Parts {
        let items = (memory.as_len() / ITEM_BYTES).max(LEAST_ITEMS);
        Parts {
            place: place.to_path_buf(),
            capacity: disk::buffer(place, items),
            files: limits::files_left(1).clamp(2, MOST_FILES) as usize,
            next: 1,
            ..Parts::default()
        }
    }

    #[inline]
    fn push(&mut self, item: Packed) -> Result<()> {
        if self.buffer.len() == self.capacity {
            self.spill()?;
        }
        if self.buffer.len() == self.buffer.capacity() {
            // The allocator moves the pages of a large buffer, so both need no memory at once.
            let items = self.buffer.len();
            let more = (2 * items).clamp(LEAST_ITEMS, self.capacity.max(LEAST_ITEMS)) - items;
            self.buffer.reserve_exact(more.min(self.capacity - items));
        }
        self.buffer.push(item);
        self.pushed += 1;
        Ok(())
    }

    /// The parts, and the number of the next one.
    pub fn parts(&self) -> (&[PartInfo], u64) {
        (&self.parts, self.next)
    }

    fn create_part(&mut self) -> Result<Writer> {
        let number = self.next;
        self.next += 1;
        Writer::create(&self.place, self.parameters, number)
    }

    fn merged(&self) -> Result<Merged> {
        Merged::open(&self.place, self.parameters, &self.parts)
    }

    /// Writes the buffer to a part.
    fn spill(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        if self.parts.len() == self.files {
            let mut merged = self.merged()?;
            let mut all = self.create_part()?;
            while let Some(item) = merged.next()? {
                all.push(item)?;
            }
            let all = all.finish(self.lasting)?;
            for old in std::mem::replace(&mut self.parts, vec![all]) {
                let path = self.place.join(old.name);
                match self.lasting {
                    true => self.merged.push(path),
                    false => disk::remove(&path)?,
                }
            }
        }
        let mut part = self.create_part()?;
        self.buffer.sort_unstable();
        self.buffer.iter().try_for_each(|item| part.push(*item))?;
        self.parts.push(part.finish(self.lasting)?);
        self.buffer.clear();
        Ok(())
    }

    /// Writes all items to parts, and gives the memory of the buffer back.
    pub fn flush(&mut self) -> Result<()> {
        self.spill()?;
        self.buffer = Vec::new();
        Ok(())
    }
}

/// A sort into which items are pushed.
pub struct Sort<T> {
    /// The sort without the type of its items.
    pub untyped: Parts,
    items: PhantomData<fn(T) -> T>,
}

impl<T: Item> Sort<T> {
    /// Begins a sort in the directory `place`, which must not exist, with about `memory`.
    pub fn scratch(place: &Path, memory: ByteSize) -> Result<Sort<T>> {
        disk::create_directory(place)?;
        Ok(Sort::with(Parts::new(place, memory)))
    }

    /// Continues a sort whose parts, in a directory of parts with these parameters, are kept. New
    /// parts are numbered from `next` on.
    pub fn resumed(
        (directory, parameters): (&Path, u128),
        next: u64,
        parts: Vec<PartInfo>,
        memory: ByteSize,
    ) -> Sort<T> {
        Sort::with(Parts {
            lasting: true,
            parameters,
            pushed: parts.iter().map(|part| part.records).sum(),
            next,
            parts,
            ..Parts::new(directory, memory)
        })
    }

    fn with(untyped: Parts) -> Sort<T> {
        let items = PhantomData;
        Sort { untyped, items }
    }

    /// Adds an item.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<()> {
        self.untyped.push(Packed::new(item.words()))
    }

    /// The items, in order.
    pub fn finish(self) -> Result<Sorted<T>> {
        let mut parts = self.untyped;
        parts.buffer.sort_unstable();
        let mut merged = parts.merged()?;
        merged.add(std::mem::take(&mut parts.buffer));
        Ok(Sorted {
            merged,
            parts,
            taken: 0,
            unique: false,
            passed: 0,
            last: None,
            items: PhantomData,
        })
    }
}

/// The items of a sort, in order.
pub struct Sorted<T> {
    merged: Merged,
    parts: Parts,
    taken: u64,
    /// Whether equal items are passed on once.
    unique: bool,
    /// The number of items passed on so far, and the last one.
    pub passed: u64,
    last: Option<Packed>,
    items: PhantomData<fn() -> T>,
}

impl<T: Item> Sorted<T> {
    /// Passes on each item once, however often it was pushed.
    pub fn unique(self) -> Sorted<T> {
        let unique = true;
        Sorted { unique, ..self }
    }

    /// The next item. After the last one it checks the parts, removes the directory of a scratch
    /// sort, and returns `None`.
    #[inline]
    pub fn next(&mut self) -> Result<Option<T>> {
        while let Some(item) = self.merged.next()? {
            self.taken += 1;
            if self.unique && self.last.replace(item) == Some(item) {
                continue;
            }
            self.passed += 1;
            return Ok(Some(T::of(item.words())));
        }
        self.end().map(|()| None)
    }

    #[cold]
    fn end(&self) -> Result<()> {
        let Parts { place, pushed, .. } = &self.parts;
        if self.taken != *pushed {
            return Err(Error::corrupt(place, "items that came back from sorting")
                .expected(pushed, self.taken));
        }
        match self.parts.lasting {
            true => Ok(()),
            false => disk::remove_tree(place),
        }
    }

    /// Passes each item to `each`. Returns the number of items.
    pub fn for_each(mut self, mut each: impl FnMut(T) -> Result<()>) -> Result<u64> {
        while let Some(item) = self.next()? {
            each(item)?;
        }
        Ok(self.passed)
    }

    /// Calls `each` for each key, with the first item of the key and all its items, which are next
    /// to each other. It need not take them all. Returns the number of items.
    pub fn groups<K: Eq>(
        mut self,
        key: impl Fn(&T) -> K,
        mut each: impl FnMut(T, &mut Group<'_, T>) -> Result<()>,
    ) -> Result<u64> {
        let mut next = self.next()?;
        while let Some(first) = next {
            let of = key(&first);
            let is_same = |item: &T| key(item) == of;
            next = self.next()?;
            let mut group = Group {
                sorted: &mut self,
                is_same: &is_same,
                first: Some(first),
                next,
            };
            each(first, &mut group)?;
            while group.next()?.is_some() {}
            next = group.next;
        }
        Ok(self.passed)
    }
}

/// The items of one key.
pub struct Group<'s, T> {
    sorted: &'s mut Sorted<T>,
    is_same: &'s dyn Fn(&T) -> bool,
    /// The first item, until it is taken.
    first: Option<T>,
    /// The item after it in the sort, or the next one.
    next: Option<T>,
}

impl<T: Item> Group<'_, T> {
    /// Whether no item of the key follows those that were taken and the first one.
    pub fn is_one(&self) -> bool {
        !self.next.is_some_and(|item| (self.is_same)(&item))
    }

    /// The next item of the key; `None` after the last one.
    pub fn next(&mut self) -> Result<Option<T>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let same = self.next.filter(|item| (self.is_same)(item));
        if same.is_some() {
            self.next = self.sorted.next()?;
        }
        Ok(same)
    }
}

/// Sorted parts and a sorted buffer, merged.
struct Merged {
    files: Vec<Reader>,
    buffer: std::vec::IntoIter<Packed>,
    /// The next item of each file, and of the buffer, which has the number after the last file.
    heads: BinaryHeap<Reverse<(Packed, usize)>>,
}

impl Merged {
    fn open(directory: &Path, parameters: u128, parts: &[PartInfo]) -> Result<Merged> {
        let open = |part| Reader::open(directory, parameters, part);
        let mut merged = Merged {
            files: parts.iter().map(open).collect::<Result<_>>()?,
            buffer: Vec::new().into_iter(),
            heads: BinaryHeap::new(),
        };
        for (n, file) in merged.files.iter_mut().enumerate() {
            if let Some(item) = file.next()? {
                merged.heads.push(Reverse((item, n)));
            }
        }
        Ok(merged)
    }

    /// Adds sorted items.
    fn add(&mut self, items: Vec<Packed>) {
        self.buffer = items.into_iter();
        if !self.files.is_empty()
            && let Some(item) = self.buffer.next()
        {
            self.heads.push(Reverse((item, self.files.len())));
        }
    }

    #[inline]
    fn next(&mut self) -> Result<Option<Packed>> {
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

/// Reads a sorted part.
#[derive(Default)]
struct Reader {
    /// `None` after the last block, when the part is checked.
    part: Option<PartReader>,
    /// The items of a block, and [`MOST_BYTES`] zeros.
    bytes: Vec<u8>,
    at: usize,
    /// Items that are left in the block, and blocks with them in the part.
    left: usize,
    records: u64,
    before: Packed,
}

impl Reader {
    fn open(directory: &Path, parameters: u128, part: &PartInfo) -> Result<Reader> {
        let path = directory.join(&part.name);
        let part = PartReader::open(&path, Kind::Sorted, Some(parameters), Some(part))?;
        Ok(Reader::new(part.reading(READ_BYTES)))
    }

    fn new(part: PartReader) -> Reader {
        Reader {
            part: Some(part),
            ..Reader::default()
        }
    }

    /// Reads the next block; `false` if there is none.
    fn block(&mut self) -> Result<bool> {
        let Some(part) = &mut self.part else {
            return Ok(false);
        };
        if !self.bytes.is_empty() && self.at + MOST_BYTES != self.bytes.len() {
            let (expected, found) = (self.bytes.len() - MOST_BYTES, self.at);
            return Err(part.corrupt("bytes of a block", expected, found));
        }
        if part.remaining() == 0 {
            if self.records != part.footer.records {
                let (expected, found) = (part.footer.records, self.records);
                return Err(part.corrupt("items of a sort", expected, found));
            }
            self.part.take().map_or(Ok(()), PartReader::finish)?;
            return Ok(false);
        }
        let items = part.take_u32()? as usize;
        let bytes = part.take_u32()? as usize;
        if items == 0 || items > BLOCK_ITEMS || bytes > items * MOST_BYTES {
            let found = format!("{items} items in {bytes} bytes");
            return Err(part.corrupt("block of a sort", "items and their bytes", found));
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(part.take(bytes)?);
        self.bytes.resize(bytes + MOST_BYTES, 0);
        (self.at, self.left, self.before) = (0, items, Packed::default());
        self.records += items as u64;
        Ok(true)
    }

    #[inline]
    fn next(&mut self) -> Result<Option<Packed>> {
        if self.left == 0 && !self.block()? {
            return Ok(None);
        }
        self.left -= 1;
        match self.item() {
            Some(item) => {
                self.before = item;
                Ok(Some(item))
            }
            None => Err(self.damaged()),
        }
    }

    /// The next item of the block; `None` if there is none.
    #[inline]
    fn item(&mut self) -> Option<Packed> {
        let widths = u16::from_le_bytes(*self.bytes.get(self.at..)?.first_chunk()?);
        let mut at = self.at + 2;
        let mut number = |width: u16, most: u16| {
            let bytes = self.bytes.get(at..)?.first_chunk()?;
            at += usize::from(width);
            let number = u64::from_le_bytes(*bytes);
            match width {
                0 => Some(0),
                _ if width <= most => Some(number & u64::MAX >> (64 - 8 * u32::from(width))),
                _ => None,
            }
        };
        let mut numbers = [
            number(widths & 15, 8)?,
            number(widths >> 4 & 7, 4)?,
            number(widths >> 7 & 7, 4)?,
            number(widths >> 10 & 7, 4)?,
            number(widths >> 13, 4)?,
        ];
        for (number, before) in numbers.iter_mut().zip(self.before.numbers()) {
            let is_last = *number > 0;
            *number = number.checked_add(before)?;
            if is_last {
                break;
            }
        }
        self.at = at;
        let [high, rest @ ..] = numbers;
        let two = |high, low| {
            let (high, low) = (u32::try_from(high).ok()?, u32::try_from(low).ok()?);
            Some(u64::from(high) << 32 | u64::from(low))
        };
        let item = Packed(high, two(rest[0], rest[1])?, two(rest[2], rest[3])?);
        (at + MOST_BYTES <= self.bytes.len()).then_some(item)
    }

    #[cold]
    fn damaged(&self) -> Error {
        match &self.part {
            Some(part) => part.corrupt("item of a sort", "numbers of 1 to 8 bytes", "others"),
            None => unreachable!("a block is read before its part is checked"),
        }
    }
}

/// Reads a part from end to end, and passes on the numbers of its items until `each` returns
/// `false`.
pub fn read_sorted(
    path: &Path,
    parameters: Option<u128>,
    info: Option<&PartInfo>,
    mut each: impl FnMut([u32; 6]) -> Result<bool>,
) -> Result<()> {
    let mut reader = Reader::new(PartReader::open(path, Kind::Sorted, parameters, info)?);
    while let Some(item) = reader.next()? {
        if !each(item.words())? {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_base::random::Random;

    impl Item for [u32; 6] {
        fn words(&self) -> [u32; 6] {
            *self
        }

        fn of(words: [u32; 6]) -> Self {
            words
        }
    }

    fn scratch(place: &Path, files: usize) -> Sort<[u32; 6]> {
        let mut sort = Sort::scratch(place, ByteSize(0)).unwrap();
        sort.untyped.files = files;
        sort
    }

    fn all(sorted: Sorted<[u32; 6]>) -> Vec<[u32; 6]> {
        let mut back = Vec::new();
        let each = |item| {
            back.push(item);
            Ok(())
        };
        sorted.for_each(each).unwrap();
        back
    }

    /// Numbers of every width, many of them equal.
    fn items(count: usize, seed: u64) -> Vec<[u32; 6]> {
        let mut random = Random::new(seed);
        let mut number = |bits: u32| match random.below(3) {
            0 => 0,
            1 => random.draw() >> (64 - bits),
            _ => random.draw() >> (64 - 1 - random.below(bits.into())),
        };
        let mut item = || {
            let key = (number(64), number(64));
            Packed(key.0, key.1, number(32) << 32 | number(32)).words()
        };
        (0..count).map(|_| item()).collect()
    }

    /// The lower limits on open files force merges of sorted files, once and repeatedly.
    #[test]
    fn sorts_across_files() {
        for (n, files) in [
            (0, 2),
            (1, 2),
            (1024, 2),
            (10_000, 256),
            (10_000, 3),
            (100_000, 2),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let mut sorter = scratch(&directory.path().join("t"), files);
            let mut expected = items(n, n as u64);
            expected.iter().for_each(|item| sorter.push(*item).unwrap());
            expected.sort_unstable();
            assert_eq!(all(sorter.finish().unwrap()), expected);
            assert_eq!(disk::list(directory.path()).unwrap(), Vec::<String>::new());
        }
    }

    /// A sort that is dropped after any number of items continues with its parts, and items that
    /// are pushed again are passed on once.
    #[test]
    fn goes_on_with_its_parts() {
        let mut expected = items(5000, 3);
        for stop in [0, 1, 1023, 1024, 1025, 3000, 5000] {
            let directory = tempfile::tempdir().unwrap();
            let place = (directory.path(), 7);
            let mut first = Sort::resumed(place, 2 << 32, Vec::new(), ByteSize(0));
            let mut rest = &expected[..stop];
            rest.iter().for_each(|item| first.push(*item).unwrap());
            let (parts, next) = first.untyped.parts();
            let parts = parts.to_vec();
            let sorted: u64 = parts.iter().map(|part| part.records).sum();
            assert_eq!(sorted, stop.saturating_sub(1) as u64 / 1024 * 1024);
            let mut second = Sort::resumed(place, next, parts, ByteSize(0));
            drop(first);
            // Some of those that are there are pushed again.
            rest = &expected[sorted as usize / 2..];
            rest.iter().for_each(|item| second.push(*item).unwrap());
            second.untyped.spill().unwrap();
            let mut once = expected.clone();
            once.sort_unstable();
            once.dedup();
            let (parts, next) = second.untyped.parts();
            let (parts, next) = (parts.to_vec(), next);
            assert_eq!(all(second.finish().unwrap().unique()), once);
            let third = Sort::resumed(place, next, parts, ByteSize(0));
            assert_eq!(all(third.finish().unwrap().unique()), once);
            expected.rotate_left(17);
        }
    }

    /// Every damage is an error, at the latest behind the last item, and never a panic.
    #[test]
    fn damage_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let place = (directory.path(), 7);
        let mut sorter = Sort::resumed(place, 1, Vec::new(), ByteSize(0));
        let given = items(700, 5);
        given.iter().for_each(|item| sorter.push(*item).unwrap());
        sorter.untyped.spill().unwrap();
        let part = sorter.untyped.parts().0[0].clone();
        let path = directory.path().join(&part.name);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            std::fs::write(&path, &damaged).unwrap();
            read_sorted(&path, Some(7), Some(&part), |_| Ok(true)).unwrap_err();
        }
        for end in (0..whole.len()).step_by(97) {
            std::fs::write(&path, &whole[..end]).unwrap();
            read_sorted(&path, Some(7), Some(&part), |_| Ok(true)).unwrap_err();
        }
    }
}
