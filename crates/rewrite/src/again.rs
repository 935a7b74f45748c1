//! Reads inputs again that a collection lists.

use std::path::Path;

use super::STAGE;
use lookalike_base::progress::Stop;
use lookalike_base::{Error, Result};
use lookalike_store::disk;
use lookalike_store::workspace::InputEntry;
use lookalike_text::read::{Batch, Container, InputFile, ReadConfig, Reason, Record, RecordReader};

/// The error of a command that reads its inputs twice.
pub fn standard_input() -> Error {
    let limit = "standard input cannot be read again; store it in a file first";
    Error::parameter("INPUT", "-").because(limit)
}

/// Whether a path leads to a file that can be copied.
pub fn is_regular(path: &Path) -> bool {
    disk::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// A listed input, where it is. It may have moved with its directory, or the working directory may
/// be another.
pub fn listed(entry: &InputEntry) -> Result<InputFile> {
    if entry.path == "-" {
        return Err(standard_input());
    }
    let path = entry.places().find(|path| is_regular(path));
    let problem = match path.is_some() || entry.identity.is_some() {
        true => None,
        false => Some((Reason::Unreadable, String::new())),
    };
    let path = path.unwrap_or(Path::new(&entry.path));
    Ok(InputFile::of_entry(entry, path, problem))
}

/// The records of an input, one in memory at a time.
pub struct Again<'i> {
    input: &'i InputFile,
    pub(super) reader: RecordReader,
    batch: Batch,
    stop: &'i Stop,
}

impl<'i> Again<'i> {
    pub fn open(input: &'i InputFile, file: u32, read: &ReadConfig, stop: &'i Stop) -> Again<'i> {
        Again {
            input,
            reader: RecordReader::open(input, file, read, stop),
            batch: Batch::default(),
            stop,
        }
    }

    /// The format of the input ([`RecordReader::container`]).
    pub fn container(&mut self) -> Result<Option<Container>> {
        let container = self.reader.container();
        self.reader.check(self.input)?;
        Ok(container)
    }

    /// Reads the next record; `false` at the end.
    pub fn advance(&mut self) -> Result<bool> {
        self.stop.check(STAGE)?;
        let more = self.reader.next_of(&mut self.batch).is_some();
        self.reader.check(self.input)?;
        Ok(more)
    }

    /// Reads until the record at an offset, or the first one after it. Returns whether there is a
    /// record at the offset.
    pub fn reach(&mut self, offset: u64) -> Result<bool> {
        while self.advance()? {
            let found = self.record().map(|(record, _)| record.source.offset);
            if found.is_some_and(|found| found >= offset) {
                return Ok(found == Some(offset));
            }
        }
        Ok(false)
    }

    /// Reads until the record at an offset.
    ///
    /// # Errors
    /// `InputChanged` if there is none.
    pub fn seek(&mut self, offset: u64) -> Result<()> {
        match self.reach(offset)? {
            true => Ok(()),
            false => Err(Error::InputChanged {
                path: self.input.path.clone(),
                expected: "the documents that were read from it".into(),
                found: "other records".into(),
            }),
        }
    }

    /// The last record that was read, and its bytes.
    pub fn record(&self) -> Option<(&Record, &[u8])> {
        self.batch.first()
    }

    /// Gives the memory of the last record back.
    pub fn forget(&mut self) {
        self.batch = Batch::default();
    }
}
