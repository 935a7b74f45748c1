//! The reader of a unit: frames records into batches, and cuts the unit into segments.

use crate::collection::{CollectionConfig, Cursor};
use lookalike_base::{Context, Credit, Error, Result, Taken};
use lookalike_source::Helpers;
use lookalike_text::read::{Batch, InputFile, Piece, RecordReader, retracted};
use std::ops::Range;
use std::path::Path;

use super::STAGE;
use super::shares::{BATCH_BYTES, DECODER_BYTES, Shape};
use super::units::Unit;

/// Most records in a batch, for collections of tiny documents.
const BATCH_RECORDS: usize = 8192;

/// As [`BATCH_RECORDS`], if programs convert documents: other threads can take the next ones.
const CONVERTED_RECORDS: usize = 4;

/// A stretch of the decompressed bytes of a file whose checksum is wrong.
pub(super) type Damaged = (u32, Range<u64>);

/// The inputs, and their parts that are known to be damaged.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) inputs: &'a [InputFile],
    /// Records there are passed over.
    pub(super) damaged: &'a [Damaged],
}

/// A batch on its way to a worker.
pub(super) struct Work {
    pub(super) sequence: u64,
    pub(super) batch: Batch,
    /// Set if the segment ends after this batch: the start of the next segment.
    pub(super) ends_segment: Option<Cursor>,
    /// Whether the batch is one document whose fingerprints are left to the writer.
    pub(super) oversized: bool,
    /// Whether the reader must wait until this batch is finished.
    pub(super) alone: bool,
    pub(super) cost: u64,
}

/// The memory that decompressors may use.
#[derive(Clone, Copy)]
pub(super) struct Decoding<'a> {
    /// The source of memory for those that take much.
    pub(super) memory: &'a Credit,
    /// The threads that decompress ahead of the reader, if there are any.
    pub(super) helpers: Option<&'a Helpers>,
}

/// The reader of a unit: frames records into batches and cuts segments.
pub(super) struct Feeder<'a> {
    /// All inputs up to the end of the unit.
    inputs: &'a [InputFile],
    damaged: &'a [Damaged],
    /// Stretches that turned out to be damaged after records in them were delivered. `None` if such
    /// records are not used.
    found: Option<Vec<Damaged>>,
    unit: &'a Unit,
    config: &'a CollectionConfig,
    shape: Shape,
    context: &'a Context<'a>,
    decoding: Decoding<'a>,
    reader: Option<(RecordReader, Option<Taken<&'a Credit>>)>,
    cursor: Cursor,
    /// Bytes of the unit's files before the current file.
    before: u64,
    segment_bytes: u64,
    sequence: u64,
    /// A record that did not fit into the batch that it was read into.
    over: Option<Batch>,
    ended: bool,
}

impl<'a> Feeder<'a> {
    /// Continues at `from`, which is in the unit.
    pub(super) fn new(
        known: Known<'a>,
        unit: &'a Unit,
        config: &'a CollectionConfig,
        shape: Shape,
        decoding: Decoding<'a>,
        from: Cursor,
        context: &'a Context<'a>,
    ) -> Result<Feeder<'a>> {
        let inputs = known.inputs;
        let files = unit.files.start as usize..from.file as usize;
        let mut feeder = Feeder {
            before: inputs
                .get(files)
                .unwrap_or_default()
                .iter()
                .map(InputFile::size)
                .sum(),
            inputs: &inputs[..unit.files.end as usize],
            damaged: known.damaged,
            found: None,
            unit,
            config,
            shape,
            context,
            decoding,
            reader: None,
            cursor: Cursor { event: 0, ..from },
            segment_bytes: 0,
            sequence: 0,
            over: None,
            ended: false,
        };
        if from.event > 0 {
            feeder.skip(from)?;
        }
        Ok(feeder)
    }

    /// Ends the unit early if records turn out to be damaged that were delivered
    /// ([`Feeder::found`]).
    pub(super) fn looking_for_damage(mut self) -> Self {
        self.found = Some(Vec::new());
        self
    }

    /// The damaged stretches that were found. Everything that came from this is to be forgotten.
    pub(super) fn found(self) -> Vec<Damaged> {
        self.found.unwrap_or_default()
    }

    /// Whether the last record of a batch is in a damaged stretch. Notes such stretches.
    fn is_damaged(&mut self, batch: &Batch) -> Result<bool> {
        let Some(record) = batch.records.last() else {
            return Ok(false);
        };
        let (file, offset) = (record.source.file, record.source.offset);
        let end = offset + record.source.length;
        if record.retracts {
            let stretch = (file, offset..end);
            let input = &self.inputs[file as usize];
            if let Some(found) = &mut self.found
                && !self.damaged.contains(&stretch)
            {
                if input.path == Path::new("-") {
                    return Err(retracted(input));
                }
                found.push(stretch);
            }
            return Ok(false);
        }
        let overlaps = |damaged: &Damaged| {
            let (of, stretch) = damaged;
            *of == file && offset < stretch.end && (end > stretch.start || offset == stretch.start)
        };
        Ok(self.damaged.iter().any(overlaps))
    }

    /// Skips the committed records of the file in which a segment ended, by framing them again.
    fn skip(&mut self, from: Cursor) -> Result<()> {
        let input = &self.inputs[from.file as usize];
        if input.identity.is_none() && input.path == Path::new("-") {
            let found = "nothing that could be read again: it is standard input";
            return Err(Error::input_changed("-", "been read in part", found));
        }
        let mut reader = self.open(input)?;
        let mut batch = Batch::default();
        while self.cursor.event < from.event {
            batch.clear();
            self.context.tick(STAGE, self.cursor.event)?;
            let more = reader.0.next_into(&mut batch);
            reader.0.check(input)?;
            if !more {
                let expected = format!("{} records or more", from.event);
                return Err(Error::input_changed(
                    &input.path,
                    expected,
                    self.cursor.event,
                ));
            }
            self.cursor.event += 1;
        }
        self.reader = Some(reader);
        Ok(())
    }

    /// Bytes of the unit read so far, before decompression.
    pub(super) fn position(&self) -> u64 {
        let reader = self.reader.as_ref();
        let position = self.before + reader.map_or(0, |(reader, _)| reader.position());
        match self.unit.piece {
            // Its last record is followed by some bytes of the next piece.
            Some(_) => position.min(self.unit.bytes),
            None => position,
        }
    }

    /// Checks that the current file is still the listed one.
    fn check_unchanged(&self) -> Result<()> {
        let counting = self.unit.piece.as_ref().and_then(Piece::failure);
        if let (Some(error), Some(input)) = (counting, self.inputs.last()) {
            return Err(Error::io("read", &input.path)(error));
        }
        match (&self.reader, self.inputs.get(self.cursor.file as usize)) {
            (Some((reader, _)), Some(input)) => reader.check_unchanged(input),
            _ => Ok(()),
        }
    }

    /// Opens the current input after checking that it is still the file that was listed. Without
    /// the check, a missing file would be committed as a reject, and the directory could never be
    /// used again with the complete inputs.
    fn open(&self, input: &InputFile) -> Result<(RecordReader, Option<Taken<&'a Credit>>)> {
        input.check_path()?;
        let (file, read) = (self.cursor.file, &self.config.read);
        read.check_programs(self.context)?;
        let stop = self.context.stop;
        let mut reader = match &self.unit.piece {
            Some(piece) => piece.open(stop),
            None => RecordReader::open(input, file, read, stop),
        };
        if let Some(helpers) = self.decoding.helpers {
            reader.decompress_ahead(input, helpers);
        }
        let beyond = reader.decoder_memory().saturating_sub(DECODER_BYTES);
        // If the memory is refused, another thread has failed, and this one is about to stop.
        let taken = (beyond > 0)
            .then(|| self.decoding.memory.hold(beyond))
            .flatten();
        Ok((reader, taken))
    }

    /// Appends the next record of the unit; `false` after the last one.
    fn read_into(&mut self, batch: &mut Batch) -> Result<bool> {
        loop {
            if let Some((reader, _)) = &mut self.reader {
                let more = reader.next_into(batch);
                reader.check(&self.inputs[self.cursor.file as usize])?;
                if more {
                    self.cursor.event += 1;
                    if self.is_damaged(batch)? {
                        if let Some(record) = batch.records.pop() {
                            batch.bytes.truncate(record.bytes.start);
                        }
                        continue;
                    }
                    return Ok(true);
                }
                let (position, number) = (reader.position(), reader.number);
                self.check_unchanged()?;
                self.reader = None;
                // The size of standard input is not known.
                let size = self.inputs[self.cursor.file as usize].size();
                self.before += size.max(position);
                if let Some(piece) = &self.unit.piece {
                    piece.counted(number);
                    self.cursor = self.unit.end();
                    return Ok(false);
                }
                self.cursor = Cursor::of_file(self.cursor.file + 1);
            }
            let Some(input) = self.inputs.get(self.cursor.file as usize) else {
                return Ok(false);
            };
            self.reader = Some(self.open(input)?);
        }
    }

    pub(super) fn next(&mut self) -> Result<Option<Work>> {
        if self.ended {
            return Ok(None);
        }
        let mut batch = self.over.take().unwrap_or_default();
        let mut ends_segment = self.account(batch.bytes.len());
        let too_much = |bytes: usize, shape: &Shape| bytes as u64 * shape.worst > shape.batch;
        let most = match self.config.read.convert.is_empty() {
            true => BATCH_RECORDS,
            false => CONVERTED_RECORDS,
        };
        while ends_segment.is_none()
            && batch.bytes.len() < BATCH_BYTES
            && batch.records.len() < most
        {
            // Each may be a file of its own.
            self.context.stop.check(STAGE)?;
            let (bytes, records) = (batch.bytes.len(), batch.records.len());
            if !self.read_into(&mut batch)? {
                self.ended = true;
                ends_segment = Some(self.cursor);
                break;
            }
            if self.found.as_ref().is_some_and(|found| !found.is_empty()) {
                // There may be more of it.
                while self.read_into(&mut batch)? {
                    batch.clear();
                    self.context.stop.check(STAGE)?;
                }
                self.ended = true;
                return Ok(None);
            }
            // A document too large to share a batch gets its own batch.
            if records > 0 && too_much(batch.bytes.len(), &self.shape) {
                self.over = Some(split(&mut batch, bytes, records));
                break;
            }
            ends_segment = self.account(batch.bytes.len() - bytes);
        }
        if ends_segment.is_some() {
            // A segment may be committed only if it was read from the file as listed.
            self.check_unchanged()?;
        }
        // A requested stop ends standard input early, and that end must not be committed.
        self.context.stop.check(STAGE)?;
        if batch.bytes.capacity() > 2 * batch.bytes.len().max(BATCH_BYTES) {
            // The batch held a large record that was moved to the next batch.
            batch.bytes.shrink_to_fit();
        }
        let bytes = batch.bytes.len() as u64;
        let (oversized, cost) = match batch.records.as_slice() {
            [record] if too_much(batch.bytes.len(), &self.shape) => {
                let cost = self.shape.cost_of_oversized(&record.kind, &batch.bytes);
                (true, cost)
            }
            _ => (false, bytes * self.shape.worst + 4096),
        };
        let work = Work {
            sequence: self.sequence,
            ends_segment,
            oversized,
            alone: oversized && cost >= self.shape.in_flight,
            cost,
            batch,
        };
        self.sequence += 1;
        Ok(Some(work))
    }

    /// Counts the bytes of a record into the segment. Returns the start of the next segment if this
    /// one ends.
    fn account(&mut self, bytes: usize) -> Option<Cursor> {
        self.segment_bytes += bytes as u64;
        (self.segment_bytes >= self.shape.segment_bytes).then(|| {
            self.segment_bytes = 0;
            self.cursor
        })
    }
}

/// Moves the last record out of a batch, together with the buffer that it enlarged.
fn split(batch: &mut Batch, bytes: usize, records: usize) -> Batch {
    let mut over = Batch {
        bytes: std::mem::take(&mut batch.bytes),
        records: batch.records.split_off(records),
    };
    batch.bytes.extend(over.bytes.drain(..bytes));
    for record in &mut over.records {
        record.bytes = record.bytes.start - bytes..record.bytes.end - bytes;
    }
    over
}
