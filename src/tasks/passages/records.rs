//! Fixed-size records in a temporary file.

use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::places::PIECE_BYTES;
use crate::store::disk::{self, File};
use crate::{Error, Result};

/// Writes records of numbers of 32 bits.
pub(super) struct Records {
    out: BufWriter<File>,
    place: PathBuf,
}

impl Records {
    /// Begins a file without a name in a directory.
    pub fn create(directory: &Path) -> Result<Records> {
        Ok(Records {
            out: BufWriter::with_capacity(PIECE_BYTES, disk::unnamed(directory)?),
            place: directory.into(),
        })
    }

    pub fn push(&mut self, words: &[u32]) -> Result<()> {
        let mut put = |word: &u32| self.out.write_all(&word.to_le_bytes());
        let put = words.iter().try_for_each(&mut put);
        put.map_err(Error::io("write a temporary file in", &self.place))
    }

    pub fn read(self) -> Result<RecordsReader> {
        let place = self.place;
        let file = self.out.into_inner().map_err(|e| e.into_error());
        let file = file.and_then(|mut file| file.rewind().map(|()| file));
        let file = file.map_err(Error::io("write a temporary file in", &place))?;
        Ok(RecordsReader {
            file: BufReader::with_capacity(PIECE_BYTES, file),
            place,
        })
    }
}

/// Reads records.
pub(super) struct RecordsReader {
    file: BufReader<File>,
    place: PathBuf,
}

impl RecordsReader {
    /// The next record. The caller knows how many there are.
    pub fn next<const N: usize>(&mut self) -> Result<[u32; N]> {
        let mut words = [0; N];
        for word in &mut words {
            let mut bytes = [0; 4];
            let read = self.file.read_exact(&mut bytes);
            read.map_err(Error::io("read a temporary file in", &self.place))?;
            *word = u32::from_le_bytes(bytes);
        }
        Ok(words)
    }
}
