//! Sorts of about one item a document, by the `extsort` crate.
//!
//! They need no checkpoint, no ranges and no packing, so the crate carries its weight here; for the
//! shingle records it does not (`docs/experiments.md`). It takes a shortened file of its own for a
//! normal end, so what comes out is counted against what went in.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use extsort::{ExternalSorter, Sortable};

use crate::budget::ByteSize;
use crate::store::disk;
use crate::{Error, Result};

/// A key and a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tagged {
    /// Sorted by this,
    pub key: u128,
    /// then by this.
    pub document: u32,
    /// Goes along.
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

/// Sorts what `items` yields, in `directory/name`, with about `memory`, and hands it to `take`.
/// Returns how many there were.
pub fn sort_tagged(
    directory: &Path,
    name: &str,
    memory: ByteSize,
    items: impl FnOnce(&mut dyn FnMut(Tagged) -> Result<()>) -> Result<()>,
    mut take: impl FnMut(Tagged) -> Result<()>,
) -> Result<u64> {
    let place: PathBuf = directory.join(name);
    disk::create_directory(&place)?;
    // A growing buffer can hold its old and its new self at once.
    let segment = (memory.as_len() / (3 * size_of::<Tagged>())).max(1024);
    let mut sorter = ExternalSorter::new()
        .with_segment_size(segment)
        .with_sort_dir(place.clone())
        .pushed::<Tagged>();
    let mut pushed = 0u64;
    items(&mut |item| {
        pushed += 1;
        sorter.push(item).map_err(Error::io("sort into", &place))
    })?;
    let sorted = sorter.done().map_err(Error::io("sort in", &place))?;
    let mut taken = 0u64;
    for item in sorted {
        taken += 1;
        take(item.map_err(Error::io("read sorted items from", &place))?)?;
    }
    if taken != pushed {
        return Err(Error::Corrupt {
            path: place,
            offset_bytes: 0,
            what: "items that came back from sorting".into(),
            expected: pushed.to_string(),
            found: taken.to_string(),
        });
    }
    disk::remove_tree(&place)?;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_across_segments() {
        let directory = tempfile::tempdir().unwrap();
        let n = 10_000u32;
        let mut back = Vec::new();
        let taken = sort_tagged(
            directory.path(),
            "t",
            ByteSize(0),
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
