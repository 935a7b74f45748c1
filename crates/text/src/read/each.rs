//! Reads every record of an input, or of all inputs in order, on one thread.

use std::time::Duration;

use super::ground::config::ReadConfig;
use super::ground::convert;
use super::ground::framer::Container;
use super::ground::record::{Batch, Record};
use super::inputs::InputFile;
use super::interpret::{Interpreted, interpret};
use super::reader::{Next, RecordReader};
use lookalike_base::{Context, Error, Result, Stop};

/// Number of records between reports of progress.
const SHOW_AFTER: u64 = 1024;

/// The error of a command that has already used records of a file that turn out to be damaged
/// ([`super::Record::retracts`]).
pub fn retracted(input: &InputFile) -> Error {
    Error::io("read", &input.path)(std::io::Error::other(
        "the checksum of a long compressed part is wrong, and records of it were already used; \
         restore the file, or decompress it and remove what is damaged",
    ))
}

/// The records of an input, one in memory at a time.
pub struct FileRecords<'i> {
    input: &'i InputFile,
    /// The reader of the input.
    pub reader: RecordReader,
    batch: Batch,
    stage: &'static str,
    stop: &'i Stop,
}

impl<'i> FileRecords<'i> {
    /// Opens an input, which is file number `file`. A stop ends the `stage`.
    pub fn open(
        input: &'i InputFile,
        file: u32,
        read: &ReadConfig,
        stage: &'static str,
        stop: &'i Stop,
    ) -> FileRecords<'i> {
        FileRecords {
            input,
            reader: RecordReader::open(input, file, read, stop),
            batch: Batch::default(),
            stage,
            stop,
        }
    }

    /// The format of the input ([`RecordReader::container`]).
    pub fn container(&mut self) -> Result<Option<Container>> {
        let container = self.reader.container();
        self.reader.check(self.input)?;
        Ok(container)
    }

    /// Reads the next record; `None` at the end.
    pub fn next_record(&mut self) -> Result<Option<(&Record, &[u8])>> {
        self.stop.check(self.stage)?;
        let next = self.reader.next_of(&mut self.batch);
        self.reader.check(self.input)?;
        Ok(next)
    }

    /// Reads until the record at an offset, or the first one after it. Returns the record, if it is
    /// at the offset.
    pub fn reach(&mut self, offset: u64) -> Result<Option<(&Record, &[u8])>> {
        loop {
            match self.next_record()?.map(|(record, _)| record.source.offset) {
                Some(found) if found < offset => {}
                found => return Ok(self.record().filter(|_| found == Some(offset))),
            }
        }
    }

    /// Reads until the record at an offset.
    ///
    /// # Errors
    /// `InputChanged` if there is none.
    pub fn seek(&mut self, offset: u64) -> Result<(&Record, &[u8])> {
        let path = &self.input.path;
        let expected = "the documents that were read from it";
        let changed = || Error::input_changed(path, expected, "other records");
        self.reach(offset)?.ok_or_else(changed)
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

/// An event of reading the inputs.
#[allow(
    clippy::large_enum_variant,
    reason = "one is passed at a time, and none is kept"
)]
pub enum Coming<'a> {
    /// The next record.
    Record(Interpreted<'a>),
    /// A record of this number of bytes, before it is interpreted.
    Framed(u64),
    /// Standard input has paused after this number of bytes of the next record.
    Pause(u64),
}

/// Reads the records of the inputs in order, one in memory at a time. Progress of `stage` continues
/// from `before` bytes.
pub fn each_interpreted(
    inputs: &[InputFile],
    config: &ReadConfig,
    stage: &'static str,
    before: u64,
    context: &Context<'_>,
    mut act: impl FnMut(Interpreted<'_>) -> Result<()>,
) -> Result<()> {
    let act = |coming: Coming<'_>| {
        if let Coming::Record(record) = coming {
            act(record)?;
        }
        Ok(None)
    };
    let open = RecordReader::open;
    each(inputs, config, stage, before, open, context, act)
}

/// As [`each_interpreted`], but JSON lines of standard input are read as
/// [`RecordReader::open_by_line`] says. `act` returns the time after which it wants to know that
/// standard input has paused there; `None` if it has nothing to do then.
pub fn each_as_it_comes(
    inputs: &[InputFile],
    config: &ReadConfig,
    stage: &'static str,
    context: &Context<'_>,
    act: impl FnMut(Coming<'_>) -> Result<Option<Duration>>,
) -> Result<()> {
    let open = RecordReader::open_by_line;
    each(inputs, config, stage, 0, open, context, act)
}

type Open = fn(&InputFile, u32, &ReadConfig, &Stop) -> RecordReader;

fn each(
    inputs: &[InputFile],
    config: &ReadConfig,
    stage: &'static str,
    mut before: u64,
    open: Open,
    context: &Context<'_>,
    mut act: impl FnMut(Coming<'_>) -> Result<Option<Duration>>,
) -> Result<()> {
    config.check()?;
    config.check_named_programs(context)?;
    let mut records = 0u64;
    let mut batch = Batch::default();
    let mut patience = None;
    for (file, input) in inputs.iter().enumerate() {
        context.stop.check(stage)?;
        input.check_path()?;
        // Other inputs need no program.
        let program = config.converter_of_file(&input.docno);
        convert::check(program.into_iter(), context.programs)?;
        let file = u32::try_from(file).unwrap_or(u32::MAX);
        let mut reader = open(input, file, config, context.stop);
        batch.clear();
        loop {
            let next = match patience {
                Some(patience) => reader.next_or_pause(&mut batch, patience, context.stop),
                None if reader.next_into(&mut batch) => Next::Record,
                None => Next::End,
            };
            reader.check(input)?;
            match next {
                Next::Record => {}
                Next::Paused => {
                    context.stop.check(stage)?;
                    patience = act(Coming::Pause(batch.bytes.len() as u64))?;
                    continue;
                }
                Next::End => break,
            }
            for (record, bytes) in batch.each() {
                // Standard input ends with a reject when a stop is requested.
                context.stop.check(stage)?;
                if records.is_multiple_of(SHOW_AFTER) {
                    context.progress.at(before + reader.position());
                }
                records += 1;
                if record.retracts {
                    return Err(retracted(input));
                }
                act(Coming::Framed(bytes.len() as u64))?;
                let found = interpret(record, bytes, config);
                // So does the conversion of a document.
                context.stop.check(stage)?;
                patience = act(Coming::Record(found))?;
            }
            batch.clear();
        }
        // Standard input ends early when a stop is requested.
        context.stop.check(stage)?;
        reader.check_unchanged(input)?;
        before += input.size();
        context.progress.at(before);
    }
    Ok(())
}
