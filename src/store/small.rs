//! External sorts of about one item per document, with the `extsort` crate.
//!
//! These sorts need no checkpoints, ranges or packing, so the crate is good enough for them. It is
//! not good enough for the records of shingles (`docs/experiments.md`). The crate treats a
//! truncated temporary file as a normal end, so this module compares the number of sorted items
//! with the number of items that went in.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use extsort::{ExternalSorter, PushExternalSorter, Sortable, SortedIterator};

use crate::budget::ByteSize;
use crate::store::disk;
use crate::{Error, Result, limits};

/// Bytes of an item in a file.
const ITEM_BYTES: u64 = 24;
/// The most files in a sort. Each has a buffer of 8 KiB.
const MOST_FILES: u64 = 1 << 10;

/// An item to be sorted: a key, a document and another number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tagged {
    /// The first sort key.
    pub key: u128,
    /// The second sort key.
    pub document: u32,
    /// A number that is carried along and does not affect the order.
    pub extra: u32,
}

impl Sortable for Tagged {
    fn encode<W: Write>(&self, writer: &mut W) -> io::Result<()> {
        let mut bytes = [0; 24];
        bytes[..16].copy_from_slice(&self.key.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.document.to_le_bytes());
        bytes[20..].copy_from_slice(&self.extra.to_le_bytes());
        writer.write_all(&bytes)
    }

    fn decode<R: Read>(reader: &mut R) -> io::Result<Self> {
        let mut bytes = [0; 24];
        reader.read_exact(&mut bytes)?;
        let mut key = [0; 16];
        key.copy_from_slice(&bytes[..16]);
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Ok(Tagged {
            key: u128::from_le_bytes(key),
            document: word(16),
            extra: word(20),
        })
    }
}

/// Sorts the items that `items` yields, in `directory/name` and with about `memory`, and passes
/// them to `take`. Returns the number of items.
pub fn sort_tagged(
    directory: &Path,
    name: &str,
    memory: ByteSize,
    items: impl FnOnce(&mut dyn FnMut(Tagged) -> Result<()>) -> Result<()>,
    mut take: impl FnMut(Tagged) -> Result<()>,
) -> Result<u64> {
    let mut sorter = tagged_sorter(&directory.join(name), memory)?;
    items(&mut |item| sorter.push(item))?;
    let mut sorted = sorter.sorted()?;
    while let Some(item) = sorted.next()? {
        take(item)?;
    }
    Ok(sorted.taken)
}

/// An order of items.
pub trait Compare: Fn(&Tagged, &Tagged) -> Ordering + Send + Sync + Clone {}

impl<C: Fn(&Tagged, &Tagged) -> Ordering + Send + Sync + Clone> Compare for C {}

/// A sort into which items are pushed one by one.
///
/// The crate opens all files of a sort at once. If there would be more files than may be open, the
/// items sorted so far are written to one file, and these files are merged at the end.
pub struct TaggedSorter<C: Compare> {
    place: PathBuf,
    // A closure, unlike a pointer to a function, is compiled into the sort.
    compare: C,
    /// Items that are sorted in memory.
    segment: usize,
    files: usize,
    sorter: PushExternalSorter<Tagged, C>,
    in_sorter: usize,
    pushed: u64,
    sorted: SortedFiles,
}

/// Begins a sort in the directory `place`, with about `memory`. There must be nothing in its place.
pub fn tagged_sorter(place: &Path, memory: ByteSize) -> Result<TaggedSorter<impl Compare + use<>>> {
    let files = limits::files_left(1).clamp(2, MOST_FILES) as usize;
    TaggedSorter::with_files(place, memory, files, Tagged::cmp)
}

impl<C: Compare> TaggedSorter<C> {
    fn with_files(place: &Path, memory: ByteSize, files: usize, compare: C) -> Result<Self> {
        disk::create_directory(place)?;
        // While a buffer grows, both its old and its new memory can be in use.
        let segment = (memory.as_len() / (3 * size_of::<Tagged>())).max(1024);
        Ok(TaggedSorter {
            place: place.to_path_buf(),
            segment,
            files,
            sorter: begin(place, segment, compare.clone()),
            compare,
            in_sorter: 0,
            pushed: 0,
            sorted: SortedFiles::new(place, files),
        })
    }

    /// Adds an item.
    pub fn push(&mut self, item: Tagged) -> Result<()> {
        // Replace a full sorter when the next item arrives, so that it is never replaced for
        // nothing.
        if self.in_sorter == self.segment.saturating_mul(self.files) {
            let full = std::mem::replace(
                &mut self.sorter,
                begin(&self.place, self.segment, self.compare.clone()),
            );
            let full = full.done().map_err(Error::io("sort in", &self.place))?;
            self.sorted.add(full)?;
            self.in_sorter = 0;
        }
        self.pushed += 1;
        self.in_sorter += 1;
        let pushed = self.sorter.push(item);
        pushed.map_err(Error::io("sort into", &self.place))
    }

    /// The number of items.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> u64 {
        self.pushed
    }

    /// The items, in order.
    pub fn sorted(mut self) -> Result<Sorted<C>> {
        let last = self.sorter.done();
        let last = last.map_err(Error::io("sort in", &self.place))?;
        let source = if self.sorted.names.is_empty() {
            Source::Sorter(last)
        } else {
            self.sorted.add(last)?;
            Source::Files(self.sorted.merged()?)
        };
        Ok(Sorted {
            place: self.place,
            pushed: self.pushed,
            taken: 0,
            source,
        })
    }
}

/// The items of a sort, in order.
pub struct Sorted<C: Compare> {
    place: PathBuf,
    pushed: u64,
    taken: u64,
    source: Source<C>,
}

enum Source<C: Compare> {
    Sorter(SortedIterator<Tagged, C>),
    Files(Merged),
}

impl<C: Compare> Sorted<C> {
    /// The next item; `None` after the last one, when the files of the sort are removed.
    #[allow(clippy::should_implement_trait, reason = "an iterator cannot fail")]
    pub fn next(&mut self) -> Result<Option<Tagged>> {
        let item = match &mut self.source {
            Source::Sorter(items) => items.next().transpose(),
            Source::Files(files) => files.next(),
        };
        let item = item.map_err(Error::io("read sorted items from", &self.place))?;
        if item.is_some() {
            self.taken += 1;
        } else {
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
        }
        Ok(item)
    }
}

fn begin<C: Compare>(place: &Path, segment: usize, compare: C) -> PushExternalSorter<Tagged, C> {
    let sorter = ExternalSorter::new().with_segment_size(segment);
    sorter.with_sort_dir(place.to_path_buf()).pushed_by(compare)
}

/// Sorted files. They are closed until they are merged.
struct SortedFiles {
    place: PathBuf,
    /// The most files that may be open at once.
    most: usize,
    names: Vec<PathBuf>,
    written: usize,
}

impl SortedFiles {
    fn new(place: &Path, most: usize) -> Self {
        SortedFiles {
            place: place.to_path_buf(),
            most,
            names: Vec::new(),
            written: 0,
        }
    }

    /// Writes sorted items to a new file. If there are already as many files as can be open, merges
    /// them into one first.
    fn add(&mut self, items: impl Iterator<Item = io::Result<Tagged>>) -> Result<()> {
        if self.names.len() == self.most {
            let mut one = self.create()?;
            let mut merged = self.merged()?;
            while let Some(item) = merged.next().map_err(Error::io("read", &self.place))? {
                one.push(item)?;
            }
            for name in self.names.drain(..) {
                disk::remove(&name)?;
            }
            self.names.push(one.finish()?);
        }
        let mut out = self.create()?;
        for item in items {
            out.push(item.map_err(Error::io("read sorted items from", &self.place))?)?;
        }
        self.names.push(out.finish()?);
        Ok(())
    }

    fn create(&mut self) -> Result<SortedFile> {
        self.written += 1;
        let path = self.place.join(format!("sorted-{}", self.written));
        let out = BufWriter::with_capacity(disk::WRITE_BUFFER, disk::create(&path)?);
        Ok(SortedFile { path, out })
    }

    /// The items of all files, in order.
    fn merged(&self) -> Result<Merged> {
        let mut merged = Merged {
            files: Vec::with_capacity(self.names.len()),
            heads: BinaryHeap::with_capacity(self.names.len()),
        };
        for (n, path) in self.names.iter().enumerate() {
            let left = disk::size(path)? / ITEM_BYTES;
            let file = BufReader::new(disk::open(path)?);
            merged.files.push((file, left));
            merged.refill(n).map_err(Error::io("read", path))?;
        }
        Ok(merged)
    }
}

/// Sorted files, merged. Each has a number of items left.
struct Merged {
    files: Vec<(BufReader<disk::File>, u64)>,
    heads: BinaryHeap<Reverse<(Tagged, usize)>>,
}

impl Merged {
    /// Takes the next item of a file into the heads, if it has one.
    fn refill(&mut self, n: usize) -> io::Result<()> {
        if let Some((file, left)) = self.files.get_mut(n)
            && let Some(after) = left.checked_sub(1)
        {
            *left = after;
            self.heads.push(Reverse((Tagged::decode(file)?, n)));
        }
        Ok(())
    }

    fn next(&mut self) -> io::Result<Option<Tagged>> {
        let Some(Reverse((item, n))) = self.heads.pop() else {
            return Ok(None);
        };
        self.refill(n)?;
        Ok(Some(item))
    }
}

/// A sorted file being written.
struct SortedFile {
    path: PathBuf,
    out: BufWriter<disk::File>,
}

impl SortedFile {
    fn push(&mut self, item: Tagged) -> Result<()> {
        item.encode(&mut self.out)
            .map_err(Error::io("write", &self.path))
    }

    fn finish(mut self) -> Result<PathBuf> {
        self.out.flush().map_err(Error::io("write", &self.path))?;
        Ok(self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lower limits on open files force merges of sorted files, once and repeatedly.
    #[test]
    fn sorts_across_segments() {
        for (n, files) in [(10_000, 1024), (10_000, 3), (100_000, 2)] {
            sorts(n, files);
        }
    }

    fn sorts(n: u32, files: usize) {
        let directory = tempfile::tempdir().unwrap();
        let mut back = Vec::new();
        let place = directory.path().join("t");
        let mut sorter = TaggedSorter::with_files(&place, ByteSize(0), files, Tagged::cmp).unwrap();
        for i in 0..n {
            let item = Tagged {
                key: u128::from(i.wrapping_mul(0x9e37_79b1) % 1000),
                document: i,
                extra: 1,
            };
            sorter.push(item).unwrap();
        }
        let mut sorted = sorter.sorted().unwrap();
        while let Some(item) = sorted.next().unwrap() {
            back.push(item);
        }
        assert!(back.is_sorted());
        assert_eq!(back.len(), n as usize);
        assert_eq!(disk::list(directory.path()).unwrap(), Vec::<String>::new());
    }
}
