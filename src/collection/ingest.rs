//! From inputs to committed segments: one reader, several workers, one writer.
//!
//! # Errors
//! `InputChanged` if a file differs from its entry in the list of inputs. Each file is checked
//! before it is opened, after it has been read, and before a segment that ends within it is
//! committed. So every committed segment was read from the files as listed. Once the file is
//! restored (including its modification time), the run can continue.

use crate::budget::ByteSize;
use crate::collection::{Cursor, Ingested, SegmentEntry};
use crate::ids::Key;
use crate::numbers::counted;
use crate::parse::TokenKind;
use crate::progress::{Context, Stop, Unit, caught, joined};
use crate::rate::Rate;
use crate::read::{
    Batch, InputFile, Interpreted, ReadConfig, Reason, Record, RecordKind, RecordReader, Reject,
    interpret,
};
use crate::shingle::Shingler;
use crate::store::disk;
use crate::workspace::Workspace;
use crate::{Error, Result};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};

use crossbeam_channel::{Receiver, Sender, bounded};
use serde::{Deserialize, Serialize};

use super::documents::{DocumentRecord, DocumentWriter, RejectWriter};
use super::{CollectionConfig, DocumentReader, SetWriter, TextWriter};

const STAGE: &str = "ingest";
/// Subdirectory of the segments' parts.
const DIRECTORY: &str = "collection";
/// Approximate raw bytes of a batch. Large enough to make handing over a batch cheap, and small
/// enough to let the workers finish at about the same time.
const BATCH_BYTES: usize = 1 << 20;
/// Most records in a batch, for collections of tiny documents.
const BATCH_RECORDS: usize = 8192;
/// Bytes of canonical text that a worker collects in order to compute several MD5s at once. This
/// covers a whole batch unless decoding made the text longer. Each thread uses this memory on top
/// of what the budget counts.
const UNDIGESTED_BYTES: usize = 2 << 20;
/// Slots of the table of recent MD5s: 16 MiB.
const SEEN_SLOTS: usize = 1 << 20;
/// Memory that ingest uses beyond the parts of the budget below: the table of MD5s, and the buffers
/// of the decompressors and of the three part writers.
const FIXED_BYTES: u64 = 40 << 20;
/// Additional memory if text is kept: a block, its compressor, and the writer's buffer.
const TEXT_BYTES: u64 = 6 << 20;
/// Bytes of text per byte of a body: a byte of a legacy charset or an invalid byte can become three
/// bytes, and a growing text can have twice its length allocated.
const TEXT_GROWTH: u64 = 6;
/// How many bytes of a record are searched for a content encoding.
const HEAD_BYTES: usize = 64 << 10;
/// Memory for an entry in the list of inputs: its path twice, and its identity. Long paths take
/// more.
const INPUT_BYTES: u64 = 400;
/// The largest number of documents with 32-bit numbers, with one number reserved.
const MOST_DOCUMENTS: u64 = u32::MAX as u64 - 1;

/// Counts of a segment. `records` is the sum of `documents`, `rejected` and `skipped`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentStats {
    /// Raw bytes of the records.
    pub bytes: u64,
    /// Records and rejects that the reader delivered.
    pub records: u64,
    /// Documents among them.
    pub documents: u64,
    /// Rejected records, by reason.
    pub rejected: BTreeMap<String, u64>,
    /// Notices about documents that are kept, by reason.
    pub noticed: BTreeMap<String, u64>,
    /// Records that are not documents, by kind (`request`, `warcinfo` ...).
    pub skipped: BTreeMap<String, u64>,
    /// Words (tokens).
    pub words: u64,
    /// Distinct shingles, summed over documents.
    pub shingles: u64,
    /// Documents with no words.
    pub empty: u64,
    /// Documents with fewer words than a shingle, without the empty ones.
    pub short: u64,
    /// Fingerprints stored.
    pub stored: u64,
    /// Documents whose set is not stored because an equal MD5 was seen recently.
    pub omitted: u64,
    /// Bytes of text kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub text: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl SegmentStats {
    /// Adds another segment's counts.
    pub fn add(&mut self, other: &SegmentStats) {
        self.bytes += other.bytes;
        self.records += other.records;
        self.documents += other.documents;
        for (mine, theirs) in [
            (&mut self.rejected, &other.rejected),
            (&mut self.noticed, &other.noticed),
            (&mut self.skipped, &other.skipped),
        ] {
            for (name, n) in theirs {
                *mine.entry(name.clone()).or_default() += n;
            }
        }
        self.words += other.words;
        self.shingles += other.shingles;
        self.empty += other.empty;
        self.short += other.short;
        self.stored += other.stored;
        self.omitted += other.omitted;
        self.text += other.text;
    }
}

/// The least `--memory` that can ingest this number of input files with these parameters.
#[must_use]
pub fn least_memory(config: &CollectionConfig, inputs: usize) -> ByteSize {
    let list = inputs as u64 * INPUT_BYTES;
    let document = config.read.max_document.0;
    // The record that the reader is filling, and batches of one and a half times its size.
    let reading = document * 5 / 2 + (16 << 20);
    // The largest document alone, and one pass over it. The pass takes a quarter of the memory that
    // the record leaves free. The amount subtracted is within what a process may use beyond its
    // budget. This sum is the larger one for documents of more than 100 MiB.
    let alone = (document * 31 / 8).saturating_sub(120 << 20);
    ByteSize(fixed_bytes(config) + list + reading.max(alone))
}

/// Memory that shingling a document can take beside its record, if its text has this number of
/// bytes: the text, unless it is the record's own bytes, and the canonical text a second time, if
/// it is one token. The canonical text grows by a quarter at a time.
/// quarter at a time.
fn beyond_record(text: u64) -> u64 {
    text * 9 / 4
}

fn fixed_bytes(config: &CollectionConfig) -> u64 {
    FIXED_BYTES + if config.text { TEXT_BYTES } else { 0 }
}

/// How the budget is divided.
#[derive(Clone, Copy)]
struct Shares {
    /// Worst-case bytes of all batches between reader and writer.
    in_flight: u64,
    /// Worst-case bytes of one batch. A document that exceeds it goes to the writer.
    batch: u64,
    /// Bytes of fingerprints that the writer keeps during one pass over an oversized document.
    pass: u64,
}

impl Shares {
    fn new(memory: ByteSize, config: &CollectionConfig) -> Shares {
        let in_flight = memory
            .0
            .saturating_sub(fixed_bytes(config) + config.read.max_document.0);
        Shares {
            in_flight,
            batch: in_flight / 4,
            pass: in_flight / 4,
        }
    }
}

/// A batch on its way to a worker.
struct Work {
    sequence: u64,
    batch: Batch,
    /// Set if the segment ends after this batch: the start of the next segment.
    ends_segment: Option<Cursor>,
    /// Whether the batch is one document whose fingerprints are left to the writer.
    oversized: bool,
    /// Whether the reader must wait until this batch is finished.
    alone: bool,
    cost: u64,
}

/// A batch on its way to the writer.
struct Done {
    sequence: u64,
    contents: Vec<Content>,
    ends_segment: Option<Cursor>,
    cost: u64,
}

enum Content {
    Shingled(Shingled),
    Oversized(Batch),
}

/// The result of a worker for a batch.
#[derive(Default)]
struct Shingled {
    bytes: u64,
    records: u64,
    documents: Vec<DocumentRecord>,
    /// The sets, one after the other, as bytes, because the width of the keys is not part of this
    /// type.
    sets: Vec<u8>,
    /// The texts, if they are kept, and the length of each in bytes.
    texts: Vec<u8>,
    text_bytes: Vec<usize>,
    /// Rejects, and notices (marked `true`).
    rejects: Vec<(Reject, bool)>,
    skipped: BTreeMap<&'static str, u64>,
}

impl Shingled {
    /// Bytes of memory for sets and texts.
    fn held(&self) -> u64 {
        (self.sets.len() + self.texts.len()) as u64
    }
}

/// Reads the inputs into committed segments, starting after the last committed one.
pub fn run<K: Key>(
    workspace: &mut Workspace,
    inputs: &[InputFile],
    context: &Context<'_>,
) -> Result<()> {
    if super::ingested(&workspace.manifest) {
        return Ok(());
    }
    let config = super::config(&workspace.manifest).clone();
    let least = least_memory(&config, inputs.len());
    context.budget.require(least, || {
        let most = config.read.max_document;
        let files = counted(inputs.len() as u64, "file");
        format!("reading documents of up to {most} (--max-document) from {files}")
    })?;
    let list = inputs.len() as u64 * INPUT_BYTES;
    let shares = Shares::new(ByteSize(context.budget.memory.0 - list), &config);
    let total: Option<u64> = inputs
        .iter()
        .map(|i| i.identity.as_ref().map(|f| f.size))
        .sum();
    context.progress.start(STAGE, Unit::Bytes, total);
    let from = super::segments(&workspace.manifest)
        .last()
        .map_or(Cursor::default(), |s| s.next);
    let shape = Shape::new::<K>(&config, shares);
    let feeder = Feeder::new(inputs, &config, shape, from, context)?;
    let writer = SegmentsWriter::<K>::new(workspace, shares)?;
    if context.budget.threads <= 1 {
        alone(feeder, writer, &config, shares, context)?;
    } else {
        together(feeder, writer, &config, shares, context)?;
    }
    workspace.manifest.set(Ingested(true));
    workspace.commit(&[DIRECTORY])
}

fn alone<K: Key>(
    mut feeder: Feeder<'_>,
    mut writer: SegmentsWriter<'_, K>,
    config: &CollectionConfig,
    shares: Shares,
    context: &Context<'_>,
) -> Result<()> {
    let mut worker = Worker::<K>::new(config, feeder.shape.worst);
    let grants = Grants {
        credit: None,
        most: shares.in_flight / 2,
    };
    while let Some(work) = feeder.next()? {
        disk::point("ingest: alone");
        writer.push(worker.process(work, &grants))?;
        context.progress.at(feeder.position());
    }
    Ok(())
}

fn together<K: Key>(
    mut feeder: Feeder<'_>,
    mut writer: SegmentsWriter<'_, K>,
    config: &CollectionConfig,
    shares: Shares,
    context: &Context<'_>,
) -> Result<()> {
    let (threads, worst) = (context.budget.threads, feeder.shape.worst);
    let credit = Credit::new(shares.in_flight);
    let position = AtomicU64::new(0);
    let (to_work, work): (Sender<Work>, Receiver<Work>) = bounded(threads * 2);
    let (to_writer, done): (Sender<Done>, Receiver<Done>) = bounded(threads * 2);
    std::thread::scope(|scope| {
        let (credit, position) = (&credit, &position);
        let reader = scope.spawn(move || -> Result<()> {
            while let Some(work) = feeder.next()? {
                disk::point("ingest: reader");
                position.store(feeder.position(), Ordering::Relaxed);
                let alone = work.alone;
                // Either end is closed only after a failure, and the side that failed reports it.
                if !credit.take(work.cost) || to_work.send(work).is_err() {
                    break;
                }
                if alone && !credit.wait_for_all() {
                    break;
                }
            }
            Ok(())
        });
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let (work, to_writer) = (work.clone(), to_writer.clone());
                scope.spawn(move || -> Result<()> {
                    let _guard = CloseOnPanic(credit);
                    let mut worker = Worker::<K>::new(config, worst);
                    let grants = Grants {
                        credit: Some(credit),
                        most: shares.batch,
                    };
                    for work in work {
                        disk::point("ingest: worker");
                        if to_writer.send(worker.process(work, &grants)).is_err() {
                            break;
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        drop((work, to_writer));
        let written = caught("writer", || {
            // Batches arrive in the order in which they are finished and are written in the order
            // in which they were read. The credit bounds the number of batches that wait here.
            let mut waiting: HashMap<u64, Done> = HashMap::new();
            let mut next = 0;
            for batch in &done {
                waiting.insert(batch.sequence, batch);
                while let Some(batch) = waiting.remove(&next) {
                    let cost = batch.cost;
                    disk::point("ingest: writer");
                    writer.push(batch)?;
                    credit.give(cost);
                    next += 1;
                }
                context.progress.at(position.load(Ordering::Relaxed));
            }
            Ok(())
        });
        drop(done);
        credit.close();
        let mut results = vec![joined("worker", reader)];
        results.extend(workers.into_iter().map(|w| joined("worker", w)));
        // A panicking worker makes the other threads stop early. Its error gives the reason.
        results
            .into_iter()
            .find(Result::is_err)
            .unwrap_or(Ok(()))
            .and(written)
    })
}

/// The bytes that may be between the reader and the writer.
struct Credit {
    left: Mutex<u64>,
    most: u64,
    changed: Condvar,
    closed: AtomicBool,
}

impl Credit {
    fn new(most: u64) -> Credit {
        Credit {
            left: Mutex::new(most),
            most,
            changed: Condvar::new(),
            closed: AtomicBool::new(false),
        }
    }

    /// Waits until `cost` is free and takes it; `false` if the other side is gone.
    fn take(&self, cost: u64) -> bool {
        let cost = cost.min(self.most);
        let mut left = self
            .left
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        while *left < cost {
            if self.closed.load(Ordering::SeqCst) {
                return false;
            }
            left = self
                .changed
                .wait(left)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        *left -= cost;
        !self.closed.load(Ordering::SeqCst)
    }

    /// Waits until everything is free; `false` if the other side is gone.
    fn wait_for_all(&self) -> bool {
        let all = self.take(self.most);
        self.give(self.most);
        all
    }

    /// Takes `cost` if it is free. A worker must not wait, because the writer may need its batch
    /// first.
    fn try_take(&self, cost: u64) -> bool {
        let mut left = self
            .left
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let free = *left >= cost;
        if free {
            *left -= cost;
        }
        free
    }

    fn give(&self, cost: u64) {
        let mut left = self
            .left
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        *left += cost.min(self.most);
        self.changed.notify_all();
    }

    fn close(&self) {
        let _left = self
            .left
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        self.closed.store(true, Ordering::SeqCst);
        self.changed.notify_all();
    }
}

/// Additional memory that a worker may use for a batch. Decoding a content encoding makes bodies
/// larger, and the reader does not decode them.
struct Grants<'a> {
    /// The source of the memory; `None` if it is already reserved.
    credit: Option<&'a Credit>,
    /// The limit for one batch.
    most: u64,
}

impl Grants<'_> {
    /// Grants more to a batch that has already been granted `granted`; returns the amount.
    fn more(&self, granted: u64) -> Option<u64> {
        let step = (self.most / 2).max(1);
        let free =
            granted + step <= self.most && self.credit.is_none_or(|credit| credit.try_take(step));
        free.then_some(step)
    }
}

/// Stops the reader when a worker panics. The batch of that worker never reaches the writer.
/// Without this, the writer would wait for the batch, and the reader for the credit of all later
/// batches.
struct CloseOnPanic<'a>(&'a Credit);

impl Drop for CloseOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close();
        }
    }
}

/// The limits that decide where batches and segments end, and the memory that a batch may cost.
#[derive(Clone, Copy)]
struct Shape {
    segment_bytes: u64,
    /// Worst-case bytes of memory for each raw byte of a document.
    worst: u64,
    batch_cost: u64,
    /// As in [`Shares`].
    in_flight: u64,
    pass: u64,
    /// Worst-case bytes of fingerprints for each byte of text.
    fingerprints: u64,
    max_document: u64,
}

impl Shape {
    fn new<K: Key>(config: &CollectionConfig, shares: Shares) -> Shape {
        let shingler = Shingler::<K>::new(&config.shingle);
        let fingerprints = shingler
            .most_fingerprints(BATCH_BYTES)
            .div_ceil(BATCH_BYTES) as u64;
        // The record itself, its fingerprints (as a worker's set and as bytes for the writer), and
        // its text.
        let text = if config.text { TEXT_GROWTH } else { 0 };
        let worst = 1 + 2 * fingerprints * K::BYTES as u64 + text;
        Shape {
            segment_bytes: config.segment_size.0,
            worst,
            batch_cost: shares.batch,
            in_flight: shares.in_flight,
            pass: shares.pass,
            fingerprints: fingerprints * K::BYTES as u64,
            max_document: config.read.max_document.0,
        }
    }

    /// Memory that a document left to the writer can take.
    fn cost_of_oversized(&self, kind: &RecordKind, bytes: &[u8]) -> u64 {
        let length = bytes.len() as u64;
        let text = match kind {
            RecordKind::Warc | RecordKind::Arc if has_content_encoding(bytes) => self.max_document,
            // A body in a single-byte charset can double in size as UTF-8.
            RecordKind::Mail { .. } => (2 * length).min(self.max_document),
            _ => length,
        };
        let pass = (text * self.fingerprints).min(self.pass);
        length + beyond_record(text) + pass
    }
}

/// Whether the start of a record has a content-encoding header. If the match is wrong, the only
/// cost is a wait.
fn has_content_encoding(bytes: &[u8]) -> bool {
    const NAME: &[u8] = b"content-encoding";
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let mut lines = head.split(|&byte| byte == b'\n');
    lines.any(|line| {
        let name = line.get(..NAME.len());
        name.is_some_and(|name| name.eq_ignore_ascii_case(NAME))
    })
}

/// The reader: frames records into batches and cuts segments.
struct Feeder<'a> {
    inputs: &'a [InputFile],
    config: &'a CollectionConfig,
    shape: Shape,
    context: &'a Context<'a>,
    reader: Option<RecordReader>,
    cursor: Cursor,
    /// Bytes of the input files before the current file.
    before: u64,
    segment_bytes: u64,
    sequence: u64,
    /// A record that did not fit into the batch that it was read into.
    over: Option<Batch>,
    ended: bool,
}

impl<'a> Feeder<'a> {
    fn new(
        inputs: &'a [InputFile],
        config: &'a CollectionConfig,
        shape: Shape,
        from: Cursor,
        context: &'a Context<'a>,
    ) -> Result<Feeder<'a>> {
        let mut feeder = Feeder {
            inputs,
            config,
            shape,
            context,
            reader: None,
            cursor: Cursor {
                file: from.file,
                event: 0,
            },
            before: 0,
            segment_bytes: 0,
            sequence: 0,
            over: None,
            ended: false,
        };
        let size = |input: &InputFile| input.identity.as_ref().map_or(0, |f| f.size);
        feeder.before = inputs.iter().take(from.file as usize).map(size).sum();
        if from.event > 0 {
            feeder.skip(from)?;
        }
        Ok(feeder)
    }

    /// Skips the committed records of the file in which a segment ended, by framing them again.
    fn skip(&mut self, from: Cursor) -> Result<()> {
        let input = &self.inputs[from.file as usize];
        if input.identity.is_none() && input.path == Path::new("-") {
            return Err(Error::InputChanged {
                path: "-".into(),
                expected: "been read in part".into(),
                found: "nothing that could be read again: it is standard input".into(),
            });
        }
        let mut reader = open(input, from.file, self.config, self.context.stop)?;
        let mut batch = Batch::default();
        while self.cursor.event < from.event {
            batch.clear();
            if self.cursor.event.is_multiple_of(1024) {
                self.context.stop.check(STAGE)?;
            }
            let more = reader.next_into(&mut batch);
            failed(&reader, input)?;
            if !more {
                return Err(Error::InputChanged {
                    path: input.path.clone(),
                    expected: format!("{} records or more", from.event),
                    found: format!("{}", self.cursor.event),
                });
            }
            self.cursor.event += 1;
        }
        self.reader = Some(reader);
        Ok(())
    }

    /// Bytes of the inputs read so far, before decompression.
    fn position(&self) -> u64 {
        self.before + self.reader.as_ref().map_or(0, RecordReader::position)
    }

    /// Checks that the current file is still the one that was listed.
    fn check_unchanged(&self) -> Result<()> {
        match (&self.reader, self.inputs.get(self.cursor.file as usize)) {
            (Some(reader), Some(input)) => reader.check_unchanged(input),
            _ => Ok(()),
        }
    }

    /// Appends the next record of the inputs; `false` after the last one.
    fn read_into(&mut self, batch: &mut Batch) -> Result<bool> {
        loop {
            if let Some(reader) = &mut self.reader {
                let more = reader.next_into(batch);
                failed(reader, &self.inputs[self.cursor.file as usize])?;
                if more {
                    self.cursor.event += 1;
                    return Ok(true);
                }
                self.check_unchanged()?;
                self.reader = None;
                let done = &self.inputs[self.cursor.file as usize];
                self.before += done.identity.as_ref().map_or(0, |f| f.size);
                self.cursor = Cursor {
                    file: self.cursor.file + 1,
                    event: 0,
                };
            }
            let Some(input) = self.inputs.get(self.cursor.file as usize) else {
                return Ok(false);
            };
            let stop = self.context.stop;
            self.reader = Some(open(input, self.cursor.file, self.config, stop)?);
        }
    }

    fn next(&mut self) -> Result<Option<Work>> {
        if self.ended {
            return Ok(None);
        }
        self.context.stop.check(STAGE)?;
        let mut batch = self.over.take().unwrap_or_default();
        let mut ends_segment = self.account(batch.bytes.len());
        let too_much = |bytes: usize, shape: &Shape| bytes as u64 * shape.worst > shape.batch_cost;
        while ends_segment.is_none()
            && batch.bytes.len() < BATCH_BYTES
            && batch.records.len() < BATCH_RECORDS
        {
            let (bytes, records) = (batch.bytes.len(), batch.records.len());
            if !self.read_into(&mut batch)? {
                self.ended = true;
                ends_segment = Some(self.cursor);
                break;
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

/// Opens an input after checking that it is still the file that was listed. Without the check, a
/// missing file would be committed as a reject, and the directory could never be used again with
/// the complete inputs.
fn open(
    input: &InputFile,
    file: u32,
    config: &CollectionConfig,
    stop: &Stop,
) -> Result<RecordReader> {
    input.check_path()?;
    Ok(RecordReader::open(input, file, &config.read, stop))
}

/// Returns an error if an I/O failure ended the input. Committing the truncated input would make it
/// permanent, whereas a repeated command may read the whole file.
fn failed(reader: &RecordReader, input: &InputFile) -> Result<()> {
    let failure = reader.failure();
    failure.map_or(Ok(()), |error| {
        Err(error).map_err(Error::io("read", &input.path))
    })
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

/// Parses and shingles batches.
struct Worker<K: Key> {
    config: CollectionConfig,
    /// Like `config`, with a lower limit on bodies: what the batch may still use.
    read: ReadConfig,
    /// Worst-case bytes of memory for each byte of a body.
    worst: u64,
    shingler: Shingler<K>,
    set: Vec<K>,
}

impl<K: Key> Worker<K> {
    fn new(config: &CollectionConfig, worst: u64) -> Worker<K> {
        Worker {
            config: config.clone(),
            read: config.read.clone(),
            worst,
            shingler: Shingler::new(&config.shingle),
            set: Vec::new(),
        }
    }

    fn process(&mut self, work: Work, grants: &Grants<'_>) -> Done {
        let Work {
            sequence,
            batch,
            ends_segment,
            oversized,
            alone: _,
            mut cost,
        } = work;
        let contents = if oversized {
            vec![Content::Oversized(batch)]
        } else {
            self.shingle(&batch, &mut cost, grants)
        };
        Done {
            sequence,
            contents,
            ends_segment,
            cost,
        }
    }

    /// Shingles a batch. A body that outgrows both the batch's memory and the additional grants is
    /// left to the writer, which keeps its place in the order.
    fn shingle(&mut self, batch: &Batch, cost: &mut u64, grants: &Grants<'_>) -> Vec<Content> {
        let mut contents = Vec::new();
        let mut out = Shingled::default();
        let (mut digested, mut granted, mut held) = (0, 0, 0);
        for record in &batch.records {
            loop {
                let left = (*cost).saturating_sub(held + out.held());
                let most = self.config.read.max_document.0;
                self.read.max_document = ByteSize(most.min(left / self.worst));
                let (shingler, set) = (&mut self.shingler, &mut self.set);
                let (config, read) = (&self.config, &self.read);
                let mut texts = std::mem::take(&mut out.texts);
                let before = texts.len();
                let document = read_document(record, batch, config, read, &mut out, |document| {
                    set.clear();
                    let all = (K::default(), K::MAX);
                    if config.text {
                        shingler.shingle_keeping(document, all, set, &mut texts)
                    } else {
                        shingler.shingle_undigested(document, all, set)
                    }
                });
                out.texts = texts;
                match document {
                    Ok(Some(mut document)) => {
                        document.shingles = self.set.len() as u32;
                        for key in &self.set {
                            key.put_le(&mut out.sets);
                        }
                        out.documents.push(document);
                        out.text_bytes.push(out.texts.len() - before);
                        if self.shingler.undigested_bytes() >= UNDIGESTED_BYTES {
                            self.digest(&mut out.documents, &mut digested);
                        }
                    }
                    Ok(None) => {}
                    Err(Grown) => {
                        if let Some(more) = grants.more(granted) {
                            granted += more;
                            *cost += more;
                            continue;
                        }
                        self.digest(&mut out.documents, &mut digested);
                        digested = 0;
                        held += out.held();
                        contents.push(Content::Shingled(std::mem::take(&mut out)));
                        contents.push(Content::Oversized(Batch {
                            bytes: batch.bytes[record.bytes.clone()].to_vec(),
                            records: vec![Record {
                                bytes: 0..record.bytes.len(),
                                ..record.clone()
                            }],
                        }));
                        break;
                    }
                }
                out.bytes += record.bytes.len() as u64;
                out.records += 1;
                break;
            }
        }
        self.digest(&mut out.documents, &mut digested);
        contents.push(Content::Shingled(out));
        contents
    }

    /// Fills in the MD5s of the documents from `digested` on.
    fn digest(&mut self, documents: &mut [DocumentRecord], digested: &mut usize) {
        let documents = documents.get_mut(*digested..).unwrap_or_default();
        *digested += documents.len();
        for (document, md5) in documents.iter_mut().zip(self.shingler.digests()) {
            document.md5 = *md5;
        }
    }
}

/// A body that exceeds the limit here but not the limit of the collection.
struct Grown;

/// Interprets a record and shingles its document. Rejects and notices go to `out`. `read` is the
/// collection's configuration, or one with a stricter limit on bodies.
fn read_document(
    record: &Record,
    batch: &Batch,
    config: &CollectionConfig,
    read: &ReadConfig,
    out: &mut Shingled,
    shingle: impl FnOnce(&crate::read::RawDocument<'_>) -> crate::shingle::DocumentFacts,
) -> std::result::Result<Option<DocumentRecord>, Grown> {
    if let RecordKind::Rejected(reject) = &record.kind {
        out.rejects.push((reject.clone(), false));
        return Ok(None);
    }
    let bytes = &batch.bytes[record.bytes.clone()];
    let document = match interpret(record, bytes, read) {
        Interpreted::Document(document) => document,
        Interpreted::Skipped(kind) => {
            *out.skipped.entry(kind).or_default() += 1;
            return Ok(None);
        }
        Interpreted::Rejected(reject)
            if reject.reason == Reason::TooLarge
                && read.max_document < config.read.max_document =>
        {
            return Err(Grown);
        }
        Interpreted::Rejected(reject) => {
            out.rejects.push((reject, false));
            return Ok(None);
        }
    };
    let facts = shingle(&document);
    for mut notice in document.notices.iter().cloned().chain(facts.notices) {
        notice.source = record.source;
        notice
            .docno
            .get_or_insert_with(|| document.docno.to_string());
        out.rejects.push((notice, true));
    }
    Ok(Some(DocumentRecord {
        docno: document.docno.into_owned(),
        url: document.url.map(Into::into),
        title: facts.title,
        charset: facts.charset.to_string(),
        words: facts.words,
        shingles: 0,
        stored: true,
        short: facts.short,
        group: config.size_groups.group(facts.words),
        md5: facts.md5,
        file: record.source.file,
        offset: record.source.offset,
        length: record.source.length,
    }))
}

/// The MD5s seen recently: one slot for each value of some of their bits, which keeps the latest
/// MD5.
struct SeenLately(Vec<[u8; 16]>);

impl SeenLately {
    fn new() -> SeenLately {
        SeenLately(vec![[0; 16]; SEEN_SLOTS])
    }

    /// Whether the slot holds this MD5; stores it there.
    fn seen(&mut self, md5: &[u8; 16]) -> bool {
        let slot = u32::from_le_bytes([md5[0], md5[1], md5[2], md5[3]]) as usize % SEEN_SLOTS;
        std::mem::replace(&mut self.0[slot], *md5) == *md5
    }
}

/// The parts of the segment being written.
struct Open {
    documents: DocumentWriter,
    fingerprints: SetWriter,
    rejects: RejectWriter,
    texts: Option<TextWriter>,
    stats: SegmentStats,
}

/// The writer: appends batches in input order and commits segments.
struct SegmentsWriter<'a, K: Key> {
    workspace: &'a mut Workspace,
    config: CollectionConfig,
    shingler: Shingler<K>,
    pass_bytes: u64,
    seen: SeenLately,
    open: Option<Open>,
    next_document: u64,
    scratch: Vec<u8>,
}

impl<'a, K: Key> SegmentsWriter<'a, K> {
    fn new(workspace: &'a mut Workspace, shares: Shares) -> Result<Self> {
        let config = super::config(&workspace.manifest).clone();
        let mut seen = SeenLately::new();
        let mut next_document = 0;
        let parameters = workspace.collection_parameters();
        for segment in super::segments(&workspace.manifest) {
            let path = workspace.path(DIRECTORY).join(&segment.documents.name);
            let mut documents =
                DocumentReader::open(&path, Some(parameters), Some(&segment.documents))?;
            while let Some(document) = documents.next()? {
                seen.seen(&document.md5);
                next_document += 1;
            }
            documents.finish()?;
        }
        Ok(SegmentsWriter {
            workspace,
            shingler: Shingler::new(&config.shingle),
            config,
            pass_bytes: shares.pass,
            seen,
            open: None,
            next_document,
            scratch: Vec::new(),
        })
    }

    fn open(&mut self) -> Result<&mut Open> {
        if self.open.is_none() {
            let directory = self.workspace.path(DIRECTORY);
            let parameters = self.workspace.collection_parameters();
            let number = super::segments(&self.workspace.manifest).len() as u64;
            self.open = Some(Open {
                documents: DocumentWriter::create(&directory, parameters, number)?,
                fingerprints: SetWriter::create(&directory, parameters, number, K::BYTES)?,
                rejects: RejectWriter::create(&directory, parameters, number)?,
                texts: match self.config.text {
                    true => Some(TextWriter::create(&directory, parameters, number)?),
                    false => None,
                },
                stats: SegmentStats::default(),
            });
        }
        self.open.as_mut().ok_or(Error::StageMissing {
            path: DIRECTORY.into(),
            stage: STAGE,
        })
    }

    fn push(&mut self, done: Done) -> Result<()> {
        for content in done.contents {
            match content {
                Content::Shingled(batch) if batch.records == 0 => {}
                Content::Shingled(batch) => self.push_shingled(batch)?,
                Content::Oversized(batch) => self.push_oversized(&batch)?,
            }
        }
        if let (Some(next), true) = (done.ends_segment, self.open.is_some()) {
            self.commit(next)?;
        }
        Ok(())
    }

    fn push_shingled(&mut self, batch: Shingled) -> Result<()> {
        let (mut sets, mut texts) = (&batch.sets[..], &batch.texts[..]);
        let mut kept = Vec::with_capacity(batch.documents.len());
        for (document, &text_bytes) in batch.documents.iter().zip(&batch.text_bytes) {
            let (set, rest) = sets.split_at(document.shingles as usize * K::BYTES);
            sets = rest;
            let (text, rest) = texts.split_at(text_bytes);
            texts = rest;
            let stored = !self.seen.seen(&document.md5);
            kept.push((stored, set, text));
        }
        self.open()?;
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        for (document, (stored, set, text)) in batch.documents.iter().zip(kept) {
            if stored {
                open.fingerprints.put(set)?;
                if let Some(texts) = &mut open.texts {
                    texts.push(text)?;
                    open.stats.text += text.len() as u64;
                }
            }
            push_document(open, document, stored, &mut self.next_document)?;
        }
        push_rest(open, &batch)
    }

    /// Shingles a document whose fingerprints might not fit in memory, in passes over ranges of
    /// fingerprints.
    fn push_oversized(&mut self, batch: &Batch) -> Result<()> {
        // The first pass stores no fingerprints. It counts the tokens, which determine the number
        // of passes. The length of the record cannot, because its body may be many times as large.
        let mut most = 0;
        let record = &batch.records[0];
        let read = &self.config.read;
        let shingler = &mut self.shingler;
        let nothing = &mut Shingled::default();
        let _: std::result::Result<_, Grown> =
            read_document(record, batch, &self.config, read, nothing, |document| {
                let facts = shingler.shingle(document, (K::MAX, K::default()), &mut Vec::new());
                most = match self.config.shingle.parse.tokens {
                    TokenKind::Bytes(_) => shingler.most_fingerprints(document.body.len()) as u64,
                    TokenKind::Words | TokenKind::Whitespace => facts.words,
                };
                facts
            });
        // Release the buffer of the longest token, which may be as long as the document. The next
        // pass needs that memory again, beside the record.
        shingler.shrink();
        let passes = (most * K::BYTES as u64)
            .div_ceil(self.pass_bytes.max(1 << 20))
            .max(1) as u32;
        let mut out = Shingled {
            bytes: batch.bytes.len() as u64,
            ..Shingled::default()
        };
        out.records = 1;
        let mut set: Vec<K> = Vec::new();
        let bounds = |pass| Rate::new(passes, pass).unwrap_or(Rate::FULL).bounds::<K>();
        let shingler = &mut self.shingler;
        let first = read_document(record, batch, &self.config, read, &mut out, |document| {
            shingler.shingle(document, bounds(0), &mut set)
        });
        self.open()?;
        if let Ok(Some(mut document)) = first {
            let stored = !self.seen.seen(&document.md5);
            let mut shingles = set.len() as u64;
            for pass in 0..passes {
                if pass > 0 {
                    set.clear();
                    self.shingler.shrink();
                    // The first pass has already reported rejects and notices.
                    let mut again = Shingled::default();
                    let shingler = &mut self.shingler;
                    let read = &self.config.read;
                    let _: std::result::Result<_, Grown> =
                        read_document(record, batch, &self.config, read, &mut again, |document| {
                            shingler.shingle(document, bounds(pass), &mut set)
                        });
                    shingles += set.len() as u64;
                }
                if let (true, Some(open)) = (stored, &mut self.open) {
                    open.fingerprints.put_keys(&set, &mut self.scratch)?;
                }
            }
            document.shingles = u32::try_from(shingles).map_err(|_| Error::TooMany {
                what: "shingles in a document",
                found: shingles,
                most: u32::MAX.into(),
            })?;
            if let Some(open) = &mut self.open {
                if stored {
                    self.shingler.shrink();
                    push_text(open, &mut self.shingler, record, batch, &self.config)?;
                }
                push_document(open, &document, stored, &mut self.next_document)?;
            }
        }
        self.shingler = Shingler::new(&self.config.shingle);
        match &mut self.open {
            Some(open) => push_rest(open, &out),
            None => Ok(()),
        }
    }

    fn commit(&mut self, next: Cursor) -> Result<()> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let first = self.next_document - open.stats.documents;
        let entry = SegmentEntry {
            first_document: first as u32,
            documents: open.documents.finish()?,
            fingerprints: open.fingerprints.finish(open.stats.stored)?,
            rejects: open.rejects.finish()?,
            text: open.texts.map(TextWriter::finish).transpose()?,
            next,
            stats: open.stats,
        };
        super::segments_mut(&mut self.workspace.manifest).push(entry);
        self.workspace.commit(&[DIRECTORY])
    }
}

/// Keeps the text of an oversized document, if texts are kept. Reads it once for its length and
/// once more to write it piece by piece.
fn push_text<K: Key>(
    open: &mut Open,
    shingler: &mut Shingler<K>,
    record: &Record,
    batch: &Batch,
    config: &CollectionConfig,
) -> Result<()> {
    let Some(texts) = &mut open.texts else {
        return Ok(());
    };
    let mut each_piece = |take: &mut dyn FnMut(&[u8])| {
        let bytes = &batch.bytes[record.bytes.clone()];
        if let Interpreted::Document(document) = interpret(record, bytes, &config.read) {
            shingler.text_in_pieces(&document, take);
        }
    };
    let mut length = 0;
    each_piece(&mut |piece| length += piece.len() as u64);
    texts.begin(length)?;
    let mut written = Ok(());
    each_piece(&mut |piece| {
        if written.is_ok() {
            written = texts.put(piece);
        }
    });
    open.stats.text += length;
    written
}

fn push_document(
    open: &mut Open,
    document: &DocumentRecord,
    stored: bool,
    next_document: &mut u64,
) -> Result<()> {
    if *next_document >= MOST_DOCUMENTS {
        return Err(Error::TooMany {
            what: "documents",
            found: *next_document + 1,
            most: MOST_DOCUMENTS,
        });
    }
    *next_document += 1;
    let stats = &mut open.stats;
    stats.documents += 1;
    stats.words += document.words;
    stats.shingles += u64::from(document.shingles);
    stats.empty += u64::from(document.words == 0);
    stats.short += u64::from(document.short && document.words > 0);
    if stored {
        stats.stored += u64::from(document.shingles);
    } else {
        stats.omitted += 1;
    }
    open.documents.push(&DocumentRecord {
        stored,
        ..document.clone()
    })
}

fn push_rest(open: &mut Open, batch: &Shingled) -> Result<()> {
    open.stats.bytes += batch.bytes;
    open.stats.records += batch.records;
    for (reject, kept) in &batch.rejects {
        let counts = if *kept {
            &mut open.stats.noticed
        } else {
            &mut open.stats.rejected
        };
        *counts
            .entry(Reason::text(reject.reason).to_string())
            .or_default() += 1;
        open.rejects.push(reject, *kept)?;
    }
    for (kind, n) in &batch.skipped {
        *open.stats.skipped.entry((*kind).to_string()).or_default() += n;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When a worker panicked, a reader that was waiting for credit was never woken and the run
    /// hung.
    #[test]
    fn a_panicking_worker_ends_the_reading() {
        let credit = Credit::new(10);
        assert!(credit.take(10));
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| credit.take(1));
            let worker = scope.spawn(|| {
                let _guard = CloseOnPanic(&credit);
                panic!("as a defect would");
            });
            assert!(worker.join().is_err());
            assert!(!reader.join().unwrap());
        });
    }

    #[test]
    fn credit_is_given_back() {
        let credit = Credit::new(10);
        std::thread::scope(|scope| {
            assert!(credit.take(7));
            let reader = scope.spawn(|| credit.take(8));
            credit.give(7);
            assert!(reader.join().unwrap());
        });
        // A request above the total is limited to the total.
        credit.give(8);
        assert!(credit.take(99));
    }
}
