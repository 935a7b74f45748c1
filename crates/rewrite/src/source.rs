//! The content of an input file, for a copy.

use std::io::{self, Read, Write};
use std::path::Path;

use super::STAGE;
use super::copy::Members;
use super::output::OutputFile;
use lookalike_base::{Context, Error, Result};
use lookalike_source::{Decompressed, read_all_at};
use lookalike_store::{disk, remote};

/// Whether a file is Parquet, by its first bytes.
pub fn is_parquet(path: &Path) -> Result<bool> {
    let file = disk::open_regular(path)?;
    let mut head = vec![0; 4];
    read_all_at(&file, &mut head, 0).map_err(Error::io("read", path))?;
    Ok(head == b"PAR1")
}

/// The content of an input, as far as it can be decompressed.
pub struct Source {
    pub decompressed: Decompressed,
    /// Why some of it cannot be decompressed: the first reason.
    pub damage: Option<io::Error>,
    gaps: u64,
}

impl Source {
    pub fn open(path: &Path) -> Result<Source> {
        Ok(Source {
            decompressed: Decompressed::open_input(path)?,
            damage: None,
            gaps: 0,
        })
    }
}

impl Read for Source {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.damage.is_none() || self.decompressed.goes_on {
            match self.decompressed.read(out) {
                // The disk failed, and not the stream.
                Err(error) if remote::number_of(&error).is_some() => return Err(error),
                Err(error) => {
                    self.damage.get_or_insert(error);
                    self.gaps += 1;
                }
                read => return read,
            }
        }
        Ok(0)
    }
}

impl Members for Source {
    fn members(&self) -> u64 {
        self.decompressed.members()
    }

    fn gaps(&self) -> u64 {
        self.gaps
    }
}

/// Copies a file byte by byte.
pub(crate) fn copy_whole(path: &Path, out: &mut OutputFile, context: &Context<'_>) -> Result<()> {
    let mut input = disk::open_regular(path)?;
    disk::each_piece(&mut input, path, |piece| {
        context.stop.check(STAGE)?;
        out.write_all(piece).map_err(Error::io("write", &out.path))
    })
}
