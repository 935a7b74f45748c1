//! Reads every document of some inputs once, on several threads, without keeping it.
//!
//! # In and out
//! In: inputs, how they are read, and the memory that the caller needs. Out: each record,
//! interpreted, with its [`Place`]. A worker gets the records of one stretch of the inputs after
//! the other, in the order of the inputs, and has a state of its own, which the caller merges.
//!
//! # Invariants
//! - Every file is the listed one, before and after it is read.
//! - The process uses the budget and at most [`BEYOND_BYTES`] more, however large a document is.
//!
//! # Cost
//! Memory: for each thread its reader, and the record that it works on. Documents of more than
//! [`LARGE_BYTES`] wait until there is room for their text and tokens.
//!
//! # Errors
//! `BudgetTooSmall`; `InputChanged`; `Interrupted`; `Io`, including a compressed file whose damage
//! is found after records of it were passed on; and the errors of the caller's functions.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::shingle::{DocumentFacts, ShingleConfig, Shingler};
use lookalike_base::{
    Context, Credit, Error, Key, Result, Tasks, Unit, budget::ByteSize, counted, lock, with_keys,
    work_and_commit,
};
use lookalike_store::disk;
use lookalike_text::read::{
    Batch, InputFile, Interpreted, ReadConfig, Reason, Record, RecordReader, Reject, Stretch,
    Unread, interpret, retracted,
};

/// Memory of a thread: the buffers of its reader and parser, and documents that are not large.
const THREAD_BYTES: u64 = 28 << 20;
/// Memory of a decompressor that a thread's share contains.
const DECODER_BYTES: u64 = 12 << 20;
/// A larger document waits for memory.
const LARGE_BYTES: u64 = 2 << 20;
/// The amount of a large document's memory that is within what a process may use beyond its budget.
const BEYOND_BYTES: u64 = 48 << 20;
/// Memory for an entry in the list of inputs.
const INPUT_BYTES: u64 = 500;

/// The least bytes of a stretch, so that it is worth a thread's attention.
const STRETCH_BYTES: u64 = 4 << 20;
/// Large inputs are cut into about this number of stretches.
const STRETCHES: u64 = 1024;
/// The fingerprints of a document in memory at once. A set takes twice its size while it is made.
const SET_BYTES: u64 = 16 << 20;
/// Bytes of a file between two reports of progress.
const SHOW_BYTES: u64 = 256 << 10;

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The number of its stretch of the inputs.
    pub stretch: u32,
    /// The number of its file.
    pub file: u32,
    /// Its number in the file, or in the stretch if that is a piece of a file, from 1. Skipped
    /// records do not count.
    pub record: u64,
    /// Its first byte in the file, or its row.
    pub offset: u64,
}

/// The inputs of a scan, how they are read, and the memory for them.
pub struct Scan<'a> {
    stage: &'static str,
    inputs: &'a [InputFile],
    read: &'a ReadConfig,
    /// As `read`, for documents that are not large.
    limited: ReadConfig,
    context: &'a Context<'a>,
    stretches: Vec<Stretch>,
    threads: usize,
    /// Memory for large documents.
    large: Credit,
    /// Memory for large decompressors.
    decoders: Credit,
    /// By stretch, its records.
    counts: Vec<AtomicU64>,
    /// Bytes of the inputs read so far.
    position: AtomicU64,
    /// By file: [`IS_READ`] if it has a document, or else 1 and the number of the reason of a
    /// reject, or 0.
    found: Vec<AtomicU8>,
    /// By file, the detail of a reject of some files that had no document until then.
    details: Mutex<BTreeMap<u32, String>>,
}

/// Marks a file that has a document.
const IS_READ: u8 = u8::MAX;
/// Files for which the detail of a reject is kept.
const DETAILS: usize = 64;

/// Memory beside the record that the largest document can take: its text and its tokens, if it is
/// one token ([`lookalike_text::parse`]).
fn largest(read: &ReadConfig) -> u64 {
    read.max_document.0 * 9 / 4
}

impl<'a> Scan<'a> {
    /// The least memory of a scan with one thread.
    pub fn least(read: &ReadConfig, inputs: usize) -> u64 {
        let large = largest(read).saturating_sub(BEYOND_BYTES);
        inputs as u64 * INPUT_BYTES + large + THREAD_BYTES + read.max_document.0
    }

    /// Prepares to read the inputs. The caller uses `used` bytes with one thread, and `further`
    /// bytes more for each other thread. `what` names the work in a refusal.
    pub fn new(
        stage: &'static str,
        inputs: &'a [InputFile],
        read: &'a ReadConfig,
        [used, further]: [u64; 2],
        what: impl FnOnce() -> String,
        context: &'a Context<'a>,
    ) -> Result<Scan<'a>> {
        let total: u64 = inputs.iter().map(InputFile::size).sum();
        let least = STRETCH_BYTES.max(total / STRETCHES);
        let stretches = Stretch::all(inputs, 0, read, [least; 2], context.stop);
        let least = |max_document| {
            let read = ReadConfig {
                max_document,
                ..read.clone()
            };
            Scan::least(&read, inputs.len()) + used
        };
        let most = read.max_document;
        context.budget.require_for(most, least, what)?;
        let left = context.budget.memory.0 - least(most);
        let thread = THREAD_BYTES + read.max_document.0 + further;
        let most = stretches.len().min(context.budget.threads).max(1) as u64;
        let more = (left * 4 / 5 / thread).min(most - 1);
        let left = left - more * thread;
        let large = largest(read).saturating_sub(BEYOND_BYTES) + left / 2;
        Ok(Scan {
            stage,
            inputs,
            read,
            limited: ReadConfig {
                max_document: ByteSize(read.max_document.0.min(LARGE_BYTES)),
                ..read.clone()
            },
            context,
            threads: more as usize + 1,
            large: Credit::new(large),
            decoders: Credit::new(if more == 0 { u64::MAX } else { left / 2 }),
            counts: stretches.iter().map(|_| AtomicU64::new(0)).collect(),
            stretches,
            position: AtomicU64::new(0),
            found: inputs.iter().map(|_| AtomicU8::new(0)).collect(),
            details: Mutex::default(),
        })
    }

    /// The files from which no document was read, once the inputs are read.
    pub fn unread(&self) -> Unread {
        let (mut unread, details) = (Unread::default(), lock(&self.details));
        for (number, (found, input)) in (0..).zip(self.found.iter().zip(self.inputs)) {
            let found = found.load(Ordering::Relaxed).checked_sub(1);
            let reason = found.and_then(|reason| Reason::ALL.get(usize::from(reason)));
            if let Some(reason) = reason {
                let detail = details.get(&number).map_or("", |detail| detail);
                unread.add(&input.path.to_string_lossy(), *reason, detail);
            }
        }
        unread
    }

    /// Notes that a record of a file was rejected.
    fn rejected(&self, file: u32, reject: &Reject) {
        let found = &self.found[file as usize];
        let reason = reject.reason as u8 + 1;
        let first = found.compare_exchange(0, reason, Ordering::Relaxed, Ordering::Relaxed);
        if first.is_ok() {
            let mut details = lock(&self.details);
            details.insert(file, reject.detail.clone());
            if details.len() > DETAILS {
                details.pop_last();
            }
        }
    }

    /// Reads the inputs. Each thread makes a worker with `start`, and calls `each` with it for
    /// every record that it reads. `end` gets the workers, on this thread.
    ///
    pub fn run<W: Send>(
        &self,
        start: impl Fn() -> W + Sync,
        each: impl Fn(&mut W, Place, Interpreted<'_>, Scanned<'_>) -> Result<()> + Sync,
        end: impl FnMut(W) -> Result<()>,
    ) -> Result<()> {
        let (stage, context) = (self.stage, self.context);
        context.start(stage, Unit::Bytes, InputFile::total(self.inputs));
        let work = |tasks: &Tasks<'_, (u32, &Stretch), W>| {
            let mut worker = start();
            let mut act = |place, found: Interpreted<'_>, of: Scanned<'_>| {
                each(&mut worker, place, found, of)
            };
            while let Some((number, stretch)) = tasks.next() {
                for file in stretch.files.clone() {
                    disk::point("scan: worker");
                    self.file((number, stretch), file, &mut act)
                        .inspect_err(|_| tasks.cancel())?;
                }
            }
            tasks.finished(worker);
            Ok(())
        };
        let all = (0..).zip(&self.stretches);
        work_and_commit(stage, self.threads, all, work, end)
    }

    /// The number of records of the file before each stretch, once the inputs are read.
    pub fn records_before(&self) -> Vec<u64> {
        let mut before = 0;
        let count = |(stretch, records): (&Stretch, &AtomicU64)| {
            let begin = match &stretch.piece {
                Some(piece) if piece.begin() > 0 => before,
                _ => 0,
            };
            before = begin + records.load(Ordering::Relaxed);
            begin
        };
        self.stretches.iter().zip(&self.counts).map(count).collect()
    }

    /// Reads a file, or the piece of a stretch.
    fn file(
        &self,
        (stretch, of): (u32, &Stretch),
        file: u32,
        act: &mut dyn FnMut(Place, Interpreted<'_>, Scanned<'_>) -> Result<()>,
    ) -> Result<()> {
        let (input, stop) = (&self.inputs[file as usize], self.context.stop);
        self.read.check_programs(self.context)?;
        input.check_path()?;
        let mut reader = match &of.piece {
            Some(piece) => piece.open(stop),
            None => RecordReader::open(input, file, self.read, stop),
        };
        let beyond = reader.decoder_memory().saturating_sub(DECODER_BYTES);
        let _memory = (beyond > 0).then(|| self.decoders.hold(beyond));
        let mut batch = Batch::default();
        let (mut number, mut at) = (0, reader.position());
        loop {
            let more = reader.next_into(&mut batch);
            stop.check(self.stage)?;
            reader.check(input)?;
            if reader.position() - at >= SHOW_BYTES || !more {
                let position = reader.position();
                let read = position - std::mem::replace(&mut at, position);
                let before = self.position.fetch_add(read, Ordering::Relaxed);
                self.context.progress.at(before + read);
            }
            if !more {
                break;
            }
            for (record, bytes) in batch.each() {
                if record.retracts {
                    return Err(retracted(input));
                }
                let place = Place {
                    stretch,
                    file,
                    record: number + 1,
                    offset: record.source.offset,
                };
                number += u64::from(self.record(record, bytes, place, act)?);
            }
            batch.clear();
            batch.bytes.shrink_to(LARGE_BYTES as usize);
        }
        reader.check_unchanged(input)?;
        if let Some(piece) = &of.piece {
            piece.counted(reader.number);
            if let Some(error) = piece.failure() {
                return Err(error).map_err(Error::io("read", &input.path));
            }
        }
        self.counts[stretch as usize].fetch_add(number, Ordering::Relaxed);
        Ok(())
    }

    /// Interprets a record and passes it on. Returns whether it has a number; a skipped record has
    /// none.
    fn record(
        &self,
        record: &Record,
        bytes: &[u8],
        place: Place,
        act: &mut dyn FnMut(Place, Interpreted<'_>, Scanned<'_>) -> Result<()>,
    ) -> Result<bool> {
        let most = self.read;
        let length = bytes.len() as u64;
        // The size of what these contain is known only once they are decoded.
        let grows = record.kind.grows(most);
        let mut large = length > LARGE_BYTES;
        loop {
            let cost = if grows { largest(most) } else { length * 9 / 4 };
            let _memory = large.then(|| self.large.hold(cost));
            let read = if grows && !large { &self.limited } else { most };
            let found = interpret(record, bytes, read);
            // It ends the conversion of a document with a reject.
            self.context.stop.check(self.stage)?;
            if matches!(&found, Interpreted::Rejected(reject) if reject.reason == Reason::TooLarge)
                && read.max_document < most.max_document
            {
                large = true;
                continue;
            }
            match &found {
                Interpreted::Document(_) => {
                    let found = &self.found[place.file as usize];
                    if found.load(Ordering::Relaxed) != IS_READ {
                        found.store(IS_READ, Ordering::Relaxed);
                    }
                }
                Interpreted::Rejected(reject) => self.rejected(place.file, reject),
                Interpreted::Skipped(_) => {}
            }
            let numbered = !matches!(found, Interpreted::Skipped(_));
            let of = Scanned {
                record,
                bytes,
                large,
            };
            return act(place, found, of).map(|()| numbered);
        }
    }
}

/// A record that is read.
#[derive(Clone, Copy)]
pub struct Scanned<'r> {
    pub record: &'r Record,
    pub bytes: &'r [u8],
    /// Whether it is large: then its memory in buffers is to be given back.
    pub large: bool,
}

/// The things that a scan of shingles finds.
pub enum Shingled<'s> {
    /// A record that should be a document but is not.
    Rejected,
    /// Fingerprints of a document: its sorted set, or a range of it.
    Shingles(&'s mut dyn Iterator<Item = u128>),
    /// A document of this number of bytes, after all of its fingerprints.
    Document(&'s DocumentFacts, u64),
}

/// The least memory of [`each_shingled`].
pub fn least_shingled(read: &ReadConfig, inputs: usize) -> u64 {
    Scan::least(read, inputs) + 2 * SET_BYTES
}

/// Passes the shingles of every document of the inputs to `act`, which several threads call, with
/// the number of the file. Returns the files without a document. The caller uses `used` bytes.
pub fn each_shingled(
    stage: &'static str,
    inputs: &[InputFile],
    read: &ReadConfig,
    shingle: &ShingleConfig,
    used: u64,
    context: &Context<'_>,
    act: impl Fn(u32, Shingled<'_>) -> Result<()> + Sync,
) -> Result<Unread> {
    let what = || format!("{stage} of {}", counted(inputs.len() as u64, "file"));
    let memory = [used + 2 * SET_BYTES, 2 * SET_BYTES];
    let scan = Scan::new(stage, inputs, read, memory, what, context)?;
    with_keys!(shingle.fingerprint, K => scan.shingles::<K>(shingle, act))?;
    Ok(scan.unread())
}

impl Scan<'_> {
    fn shingles<K: Key>(
        &self,
        config: &ShingleConfig,
        act: impl Fn(u32, Shingled<'_>) -> Result<()> + Sync,
    ) -> Result<()> {
        let start = || (Shingler::<K>::new(config), Vec::new());
        let each = |worker: &mut (Shingler<K>, Vec<K>),
                    place: Place,
                    found: Interpreted<'_>,
                    of: Scanned<'_>| {
            let document = match found {
                Interpreted::Document(document) => document,
                Interpreted::Rejected(_) => return act(place.file, Shingled::Rejected),
                Interpreted::Skipped(_) => return Ok(()),
            };
            let (shingler, set) = worker;
            let mut done = Ok(());
            let facts = shingler.in_passes(&document, SET_BYTES, set, |_, set| {
                let mut keys = set.iter().map(|key| key.to_u128());
                if done.is_ok() {
                    done = act(place.file, Shingled::Shingles(&mut keys));
                }
            });
            if of.large {
                shingler.shrink();
            }
            let bytes = document.body.len() as u64;
            done.and_then(|()| act(place.file, Shingled::Document(&facts, bytes)))
        };
        self.run(start, each, |_| Ok(()))
    }
}
