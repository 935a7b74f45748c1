//! Bytes in memory, or in a temporary file if there are many.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::store::disk::{self, File};
use crate::{Error, Result};

/// Bytes that wait to be written to the file.
const BUFFER: usize = 1 << 20;

/// Bytes that are appended, and read at any offset.
pub(super) struct Spill {
    directory: PathBuf,
    /// Bytes that are kept in memory.
    most: usize,
    /// The bytes that are not in the file, from `written` on.
    memory: Vec<u8>,
    file: Option<File>,
    written: u64,
}

impl Spill {
    pub fn new(directory: &Path, most: u64) -> Self {
        Spill {
            directory: directory.into(),
            most: usize::try_from(most).unwrap_or(usize::MAX),
            memory: Vec::new(),
            file: None,
            written: 0,
        }
    }

    pub fn length(&self) -> u64 {
        self.written + self.memory.len() as u64
    }

    /// Appends bytes. Returns their offset.
    pub fn put(&mut self, bytes: &[u8]) -> Result<u64> {
        let offset = self.length();
        self.memory.extend_from_slice(bytes);
        let most = match &self.file {
            Some(_) => BUFFER,
            None => self.most,
        };
        if self.memory.len() > most {
            let mut file = match self.file.take() {
                Some(file) => file,
                None => disk::unnamed(&self.directory)?,
            };
            file.write_all(&self.memory)
                .map_err(Error::io("write a temporary file in", &self.directory))?;
            self.written += self.memory.len() as u64;
            self.memory.clear();
            self.memory.shrink_to(BUFFER);
            self.file = Some(file);
        }
        Ok(offset)
    }

    /// Reads bytes that were appended.
    pub fn read(&self, offset: u64, length: usize, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        out.resize(length, 0);
        let in_file = self.written.saturating_sub(offset).min(length as u64) as usize;
        if let (Some(file), true) = (&self.file, in_file > 0) {
            file.read_exact_at(&mut out[..in_file], offset)
                .map_err(Error::io("read a temporary file in", &self.directory))?;
        }
        if in_file < length {
            let at = (offset + in_file as u64 - self.written) as usize;
            out[in_file..].copy_from_slice(&self.memory[at..at + length - in_file]);
        }
        Ok(())
    }
}
