//! External sorts of about one item per document, with the `extsort` crate.
//!
//! These sorts need no checkpoints, ranges or packing, so the crate is good enough for them. It is
//! not good enough for the records of shingles (`docs/experiments.md`). The crate treats a
//! truncated temporary file as a normal end, so this module compares the number of sorted items
//! with the number of items that went in.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use extsort::{ExternalSorter, Sortable};

use crate::base::budget::ByteSize;
use crate::base::limits;
use crate::store::disk;
use crate::{Error, Result};

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
    take: impl FnMut(Tagged) -> Result<()>,
) -> Result<u64> {
    let files = limits::files_left(1).clamp(2, MOST_FILES) as usize;
    sort_with_files(&directory.join(name), memory, files, items, take)
}

/// Like [`sort_tagged`], with a limit on the number of open files. The crate opens all files of a
/// sort at once. If there would be more files than the limit, the items sorted so far are written
/// to one file, and these files are merged at the end.
fn sort_with_files(
    place: &Path,
    memory: ByteSize,
    files: usize,
    items: impl FnOnce(&mut dyn FnMut(Tagged) -> Result<()>) -> Result<()>,
    mut take: impl FnMut(Tagged) -> Result<()>,
) -> Result<u64> {
    disk::create_directory(place)?;
    // While a buffer grows, both its old and its new memory can be in use.
    let segment = (memory.as_len() / (3 * size_of::<Tagged>())).max(1024);
    let begin = || {
        let sorter = ExternalSorter::new().with_segment_size(segment);
        sorter.with_sort_dir(place.to_path_buf()).pushed::<Tagged>()
    };
    let mut sorter = begin();
    let (mut pushed, mut in_sorter) = (0u64, 0usize);
    let mut sorted = SortedFiles::new(place, files);
    items(&mut |item| {
        // Replace a full sorter when the next item arrives, so that it is never replaced for
        // nothing.
        if in_sorter == segment.saturating_mul(files) {
            let full = std::mem::replace(&mut sorter, begin());
            sorted.add(full.done().map_err(Error::io("sort in", place))?)?;
            in_sorter = 0;
        }
        pushed += 1;
        in_sorter += 1;
        sorter.push(item).map_err(Error::io("sort into", place))
    })?;
    let last = sorter.done().map_err(Error::io("sort in", place))?;
    let mut taken = 0u64;
    let mut take = |item| {
        taken += 1;
        take(item)
    };
    if sorted.names.is_empty() {
        for item in last {
            take(item.map_err(Error::io("read sorted items from", place))?)?;
        }
    } else {
        sorted.add(last)?;
        sorted.merge(&mut take)?;
    }
    if taken != pushed {
        return Err(
            Error::corrupt(place, "items that came back from sorting").expected(pushed, taken)
        );
    }
    disk::remove_tree(place)?;
    Ok(taken)
}

/// Sorted files. They are closed until they are merged.
struct SortedFiles<'a> {
    place: &'a Path,
    /// The most files that may be open at once.
    most: usize,
    names: Vec<PathBuf>,
    written: usize,
}

impl<'a> SortedFiles<'a> {
    fn new(place: &'a Path, most: usize) -> Self {
        SortedFiles {
            place,
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
            self.merge(&mut |item| one.push(item))?;
            for name in self.names.drain(..) {
                disk::remove(&name)?;
            }
            self.names.push(one.finish()?);
        }
        let mut out = self.create()?;
        for item in items {
            out.push(item.map_err(Error::io("read sorted items from", self.place))?)?;
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

    /// Passes the items of all files to `take`, in order.
    fn merge(&self, take: &mut dyn FnMut(Tagged) -> Result<()>) -> Result<()> {
        let mut readers = Vec::with_capacity(self.names.len());
        let mut heads = BinaryHeap::with_capacity(self.names.len());
        for (n, path) in self.names.iter().enumerate() {
            let left = disk::size(path)? / ITEM_BYTES;
            readers.push((BufReader::new(disk::open(path)?), left, path));
            heads.extend(self.next(&mut readers[n])?.map(|item| Reverse((item, n))));
        }
        while let Some(Reverse((item, n))) = heads.pop() {
            take(item)?;
            heads.extend(self.next(&mut readers[n])?.map(|item| Reverse((item, n))));
        }
        Ok(())
    }

    fn next(
        &self,
        (file, left, path): &mut (BufReader<disk::File>, u64, &PathBuf),
    ) -> Result<Option<Tagged>> {
        let Some(after) = left.checked_sub(1) else {
            return Ok(None);
        };
        *left = after;
        Tagged::decode(file)
            .map(Some)
            .map_err(Error::io("read", path))
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
        let taken = sort_with_files(
            &directory.path().join("t"),
            ByteSize(0),
            files,
            |push| {
                for i in 0..n {
                    push(Tagged {
                        key: u128::from(i.wrapping_mul(0x9e37_79b1) % 1000),
                        document: i,
                        extra: 1,
                    })?;
                }
                Ok(())
            },
            |item| {
                back.push(item);
                Ok(())
            },
        );
        assert_eq!(taken.unwrap(), u64::from(n));
        assert!(back.is_sorted());
        assert_eq!(back.len(), n as usize);
        assert_eq!(disk::list(directory.path()).unwrap(), Vec::<String>::new());
    }
}
