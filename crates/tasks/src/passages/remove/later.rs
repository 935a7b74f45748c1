//! Keeps the cuts of a column of a Parquet file until the column is written.
//!
//! The columns of a row group are written one after the other. All parts of a text are cut when the
//! first of them is written, so the cuts of the others wait in a temporary file. Each has the
//! checksum of the value that was cut. The file is used again when everything in it has been read,
//! so it has the cuts of one row group.

use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use lookalike_base::{Error, Result};
use lookalike_store::Aside;
use lookalike_text::read::Cut;

/// Bytes that wait to be written.
const BUFFER: u64 = 64 << 10;

/// The cuts of one column, row by row.
pub(super) struct Later {
    cuts: Aside,
    /// Bytes that have been read.
    read: u64,
}

impl Later {
    /// Bytes of memory.
    pub const BYTES: u64 = 2 * BUFFER;

    /// Keeps cuts in a directory if there are many.
    pub fn new(directory: &Path) -> Later {
        Later {
            cuts: Aside::within(directory, BUFFER),
            read: 0,
        }
    }

    /// Adds the cuts of a value.
    pub fn put(&mut self, value: &[u8], cuts: &[Cut]) -> Result<()> {
        self.cuts.put(&xxh3_128(value).to_le_bytes())?;
        self.cuts.put(&(cuts.len() as u64).to_le_bytes())?;
        for Cut { range, space } in cuts {
            let numbers = [range.start, range.end, usize::from(*space)];
            let bytes = numbers.map(|number| (number as u64).to_le_bytes());
            self.cuts.put(bytes.as_flattened())?;
        }
        Ok(())
    }

    /// The cuts of the next value; `None` if there are none, or if they belong to another value.
    pub fn take(&mut self, value: &[u8]) -> Result<Option<Vec<Cut>>> {
        if self.read == self.cuts.length() {
            return Ok(None);
        }
        let checksum = u128::from_le_bytes(self.next()?);
        let length = u64::from_le_bytes(self.next()?);
        let mut cuts = Vec::new();
        for _ in 0..length {
            let mut number = || Ok::<_, Error>(u64::from_le_bytes(self.next()?) as usize);
            let range = number()?..number()?;
            let space = number()? == 1;
            cuts.push(Cut { range, space });
        }
        if self.read == self.cuts.length() {
            self.cuts.clear();
            self.read = 0;
        }
        Ok((checksum == xxh3_128(value)).then_some(cuts))
    }

    fn next<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.cuts.get(self.read, &mut bytes)?;
        self.read += N as u64;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_come_back_in_their_order() {
        let place = tempfile::tempdir().unwrap();
        let mut later = Later::new(place.path());
        let cuts = |n: usize| {
            let cut = |at: usize| Cut {
                range: at * 7..at * 7 + n,
                space: (at + n).is_multiple_of(3),
            };
            (0..n % 5000).map(cut).collect::<Vec<_>>()
        };
        let value = |n: usize| format!("value {n}").into_bytes();
        // A file of several buffers, then small ones in the same place.
        for group in [0..40, 4990..5010, 0..0, 7..8, 3..9] {
            for n in group.clone() {
                later.put(&value(n), &cuts(n)).unwrap();
            }
            for n in group {
                assert_eq!(later.take(&value(n)).unwrap(), Some(cuts(n)));
            }
            assert_eq!((later.read, later.cuts.length()), (0, 0));
        }
        later.put(b"one", &cuts(2)).unwrap();
        assert_eq!(later.take(b"two").unwrap(), None);
        assert_eq!(later.take(b"more").unwrap(), None);
    }
}
