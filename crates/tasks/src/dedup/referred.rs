//! Captures to which `revisit` records of the inputs refer, and which are therefore kept.
//!
//! # Source
//! ISO 28500:2017 (WARC 1.1), sections 5 and 6.7. A `revisit` record names the record that has its
//! content by its id (`WARC-Refers-To`), or by its URL and date (`WARC-Refers-To-Target-URI` and
//! `WARC-Refers-To-Date`). Many crawlers wrote neither. Software for replay then takes a capture of
//! the same URL with the same `WARC-Payload-Digest`, or else the latest one before the visit.
//!
//! # Algorithm
//! 1. Read the WARC and ARC files. Sort the names of their captures and `revisit` records, and the
//!    names to which the `revisit` records refer.
//! 2. Go through each name with all its records. If a reference needs it, keep every capture with
//!    this name; of copies, which have the same id, one. A name is needed if no earlier kind of name
//!    led to a record. `revisit` records are not removed, so a chain of them ends at a kept capture.
//! 3. The last kind of name is a URL alone. Go through the captures of each URL by date, and keep
//!    the latest one before each `revisit` record that still needs one, or else the first one.
//!
//! Documents that a list names are removed all the same.
//!
//! # Cost
//! Nothing if the inputs have no `revisit` record; else the archives are read once more. Memory: a
//! bit for each document, two for each `revisit` record, a record for each thread, and the sort.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::choose::{Choice, Removal};
use super::values::memory_of_reader;
use super::{Choosing, STAGE, Unusable, each_record};
use lookalike_base::{Bits, Credit, MOST_SORT_BYTES, Result, budget::ByteSize, lock, unlocked};
use lookalike_engine::collection::{self, InputRecord, InputRecords};
use lookalike_store::{Sort, Workspace, item};
use lookalike_text::read::date;
use lookalike_text::read::{
    Container, FileRecords, InputFile, RecordKind, WarcHead, normal_digest, normal_url, usual_date,
};

/// The least memory of the sort.
const LEAST_SORT_BYTES: u64 = 1 << 20;

/// Counts of the `revisit` records in the inputs of a deduplication.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct References {
    /// `revisit` records in the WARC inputs.
    pub revisits: u64,
    /// Documents that are kept only because a `revisit` record refers to them.
    pub kept: u64,
    /// `revisit` records that refer to a removed record, which a list names (`--drop`) or which
    /// could not be read as a document (`--rejects drop`).
    pub removed: u64,
    /// `revisit` records that refer to no record of the inputs.
    pub outside: u64,
}

impl References {
    pub(super) fn is_empty(&self) -> bool {
        self.revisits == 0
    }
}

item! {
    /// A record with a name, or a reference to it.
    struct Named {
        /// A hash of the name, behind its kind.
        name: u128,
        /// [`WANTED`], a hash of the id of the record, or [`REFERENCE`].
        id: u32,
        /// The document, [`KEPT`] or [`REMOVED`]; or the `revisit` record that refers to the name.
        number: u32,
    }
}

/// A reference, before the records with its name and after them. By its URL alone, it comes after
/// the captures that are not later, and after all captures of the URL.
const WANTED: u32 = 0;
const REFERENCE: u32 = u32::MAX;

/// A record that is not a document: kept whatever is chosen, or removed.
const KEPT: u32 = u32::MAX;
const REMOVED: u32 = u32::MAX - 1;

/// The documents to which `revisit` records refer, among those that would be removed.
pub(super) struct Referred {
    pub documents: Bits,
    pub counts: References,
}

/// The `revisit` records that a collection may have; 0 if it certainly has none.
pub(super) fn revisits(workspace: &Workspace, documents: u64) -> u64 {
    let read = &collection::config(&workspace.manifest).read;
    let own = collection::own_segments(&workspace.manifest).iter();
    let skipped = own.filter_map(|segment| segment.stats.skipped.get("revisit"));
    let as_documents = read.reads_warc_type(b"revisit");
    skipped.sum::<u64>() + if as_documents { documents } else { 0 }
}

impl Referred {
    /// Bytes of memory for a number of documents and of `revisit` records, without the threads.
    pub fn bytes(documents: u64, revisits: u64) -> u64 {
        match revisits {
            0 => 0,
            _ => documents / 8 + revisits / 4 + 64 + LEAST_SORT_BYTES,
        }
    }

    /// Finds the documents, with `memory` for the threads and for a larger sort.
    pub fn find(
        choosing: Choosing<'_>,
        choice: &Choice,
        rejects: Unusable,
        revisits: u64,
    ) -> Result<Referred> {
        let (reader, context) = (memory_of_reader(choosing.read()), choosing.context);
        let more = (choosing.memory.saturating_sub(reader) / 2).min(MOST_SORT_BYTES);
        let sorting = ByteSize(LEAST_SORT_BYTES + more);
        let sort = Sort::scratch(&choosing.scratch.join("references"), sorting)?;
        let names = Names {
            sort: Mutex::new(sort),
            revisits: AtomicU32::new(0),
            rejected: match rejects {
                Unusable::Keep => KEPT,
                Unusable::Drop => REMOVED,
            },
        };
        let memory = Credit::new(choosing.memory - more);
        choosing.each_file("references", |file, input, entries| {
            let _memory = memory.hold(reader);
            names.read(choosing, file, input, entries)
        })?;
        let count = names.revisits.into_inner();
        let mut resolver = Resolver {
            choice,
            referred: Bits::new(choice.documents() as usize),
            inside: Bits::new(revisits.max(count.into()) as usize),
            reached: Bits::new(revisits.max(count.into()) as usize),
            group: Group::default(),
            visits: Visits::default(),
        };
        let sorted = unlocked(names.sort);
        let mut passed = 0u64;
        sorted.finish()?.for_each(|named| {
            context.tick(STAGE, passed)?;
            passed += 1;
            resolver.take(named);
            Ok(())
        })?;
        let kept = resolver.referred.iter().count() as u64;
        let inside = resolver.inside.iter().count() as u64;
        let counts = References {
            revisits: count.into(),
            kept,
            removed: inside - resolver.reached.iter().count() as u64,
            outside: u64::from(count) - inside,
        };
        Ok(Referred {
            documents: resolver.referred,
            counts,
        })
    }
}

/// The names in all files.
struct Names {
    sort: Mutex<Sort<Named>>,
    /// `revisit` records so far.
    revisits: AtomicU32,
    /// [`KEPT`] or [`REMOVED`], for rejected records.
    rejected: u32,
}

impl Names {
    /// Takes the names of one file.
    fn read(
        &self,
        choosing: Choosing<'_>,
        file: u32,
        input: &InputFile,
        entries: &mut InputRecords<'_>,
    ) -> Result<()> {
        input.check_path()?;
        let stop = choosing.context.stop;
        let mut records = FileRecords::open(input, file, choosing.read(), STAGE, stop);
        let Some(Container::Warc | Container::Arc) = records.container()? else {
            return Ok(());
        };
        each_record(file, &mut records, entries, |record, bytes, entry| {
            let names = match record.kind {
                RecordKind::Arc => WarcHead::of_arc(bytes),
                _ => WarcHead::parse(bytes),
            };
            let number = match entry {
                None => KEPT,
                Some(InputRecord::Document(number, _)) => *number,
                Some(InputRecord::Rejected(_)) => self.rejected,
            };
            self.put(&names, number).map(|()| true)
        })
    }

    /// Adds the names of a record, and the names to which it refers.
    fn put(&self, record: &WarcHead<'_>, number: u32) -> Result<()> {
        let Some((own, to)) = names(record) else {
            return Ok(());
        };
        let is_revisit = record.is(b"revisit");
        let url = record.to_target.filter(|_| is_revisit);
        let url = url.or(record.target).map(normal_url);
        let url = url.as_deref();
        let when = record.date.and_then(instant).unwrap_or(UNDATED);
        let id = record.id().map_or(number, |id| xxh3_64(id) as u32);
        let id = id.clamp(WANTED + 1, REFERENCE - 1);
        let mut sort = lock(&self.sort);
        let mut put = |name: Option<u128>, id, number| {
            name.map_or(Ok(()), |name| sort.push(Named { name, id, number }))
        };
        for name in own {
            put(name, id, number)?;
        }
        if !is_revisit {
            return put(url.map(|url| visited(url, when)), id, number);
        }
        let number = self.revisits.fetch_add(1, Ordering::Relaxed);
        for name in to {
            put(name, WANTED, number)?;
            put(name, REFERENCE, number)?;
        }
        put(url.map(|url| visited(url, when + 1)), WANTED, number)?;
        put(url.map(|url| visited(url, LAST)), REFERENCE, number)
    }
}

/// The names of a capture or a `revisit` record: its id, its URL with its date, and the URL with the
/// digest of its payload.
pub(crate) type RecordNames = [Option<u128>; 3];

/// Hashes of the names of a record, and of those to which it refers. `None` for other records.
pub(crate) fn names(record: &WarcHead<'_>) -> Option<(RecordNames, RecordNames)> {
    let is_revisit = record.is(b"revisit");
    if !is_revisit && !record.is(b"response") && !record.is(b"resource") {
        return None;
    }
    let of = |id: Option<&[u8]>, url: Option<&[u8]>, when: Option<&[u8]>| {
        let url = url.map(normal_url);
        let digest = url.as_deref().zip(record.payload_digest);
        let by_date = |(url, when): (&[u8], &[u8])| match instant(when) {
            Some(instant) => name(1, url, &instant.to_le_bytes()),
            None => name(1, url, when),
        };
        [
            id.map(|id| name(0, id, b"")),
            url.as_deref().zip(when).map(by_date),
            digest.map(|(url, digest)| name(2, url, &normal_digest(digest))),
        ]
    };
    let mut own = of(record.id(), record.target, record.date);
    if !is_revisit {
        return Some((own, [None; 3]));
    }
    // The digest is that of the capture to which it refers.
    own[2] = None;
    let to = of(
        record.to_id,
        record.to_target.or(record.target),
        record.to_date,
    );
    // A name of the record itself leads to no other record.
    let to = to.map(|name| name.filter(|_| !own.contains(&name)));
    Some((own, to))
}

/// A hash of a name of two parts. Names of a lower kind sort first.
fn name(kind: u128, one: &[u8], other: &[u8]) -> u128 {
    kind << 126 | xxh3_128(&[one, b" ", other].concat()) >> 2
}

/// The last kind of name: the URL, and the time of the visit.
const VISITED: u128 = 3;

/// The time of visits without a date, and the time after all visits.
const UNDATED: u64 = LAST - 2;
const LAST: u64 = (1 << 62) - 1;

/// The name of a visit, in the order of the visits of its URL.
fn visited(url: &[u8], time: u64) -> u128 {
    VISITED << 126 | u128::from(xxh3_64(url)) << 62 | u128::from(time.min(LAST))
}

/// The time of a date, so that dates of different precisions are equal.
fn instant(when: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(when).ok()?;
    date(text).or_else(|| date(&usual_date(text)))
}

/// Decides which records are kept, name by name.
struct Resolver<'c> {
    choice: &'c Choice,
    referred: Bits,
    /// The `revisit` records that refer to a record of the inputs, and those that refer to a kept
    /// record.
    inside: Bits,
    reached: Bits,
    group: Group,
    visits: Visits,
}

/// The facts about the records with one name.
#[derive(Default)]
struct Group {
    name: u128,
    /// Whether a reference needs the name.
    wanted: bool,
    /// Whether a record has the name, and whether a record that is kept has it.
    found: bool,
    kept: bool,
    /// The id of the last record, and its copies.
    id: u32,
    copies: Copies,
}

/// The captures of one URL so far, by date.
#[derive(Default)]
struct Visits {
    /// The name of the latest captures.
    latest: Option<u128>,
    copies: Copies,
    /// Whether a reference that is earlier than all captures needs one.
    early: bool,
    /// Whether the first capture was kept for it.
    first_kept: bool,
}

/// Captures of which one suffices.
#[derive(Default)]
struct Copies {
    /// Whether one of them is kept.
    kept: bool,
    /// The first record that can be kept, after whether it is damaged: an intact record is
    /// preferred.
    first: Option<(bool, u32)>,
}

impl Resolver<'_> {
    fn take(&mut self, named: Named) {
        let Named { name, id, number } = named;
        if name >> 126 == VISITED {
            return self.visit(named);
        }
        if name != self.group.name || id != self.group.id {
            self.keep_copy();
            self.group.id = id;
        }
        if name != self.group.name {
            self.group = Group {
                name,
                id,
                ..Group::default()
            };
        }
        match id {
            WANTED => self.group.wanted |= !self.inside.contains(number),
            REFERENCE if self.group.found => self.resolve(number, self.group.kept),
            REFERENCE => {}
            _ if self.group.wanted => {
                self.group.found = true;
                self.group.copies.add(number, self.choice, &self.referred);
            }
            _ => {}
        }
    }

    /// Keeps one of the copies of the last record, if none is kept and one can be.
    fn keep_copy(&mut self) {
        let mut copies = std::mem::take(&mut self.group.copies);
        self.group.kept |= copies.keep_one(&mut self.referred);
    }

    /// Notes that a `revisit` record refers to records of the inputs, unless an earlier kind of name
    /// led to some.
    fn resolve(&mut self, revisit: u32, kept: bool) {
        if self.inside.insert(revisit) && kept {
            self.reached.insert(revisit);
        }
    }

    /// Takes a capture of a URL, or a reference to the URL alone.
    fn visit(&mut self, Named { name, id, number }: Named) {
        if name >> 62 != self.group.name >> 62 {
            self.visits = Visits::default();
        }
        self.group.name = name;
        match id {
            WANTED if self.inside.contains(number) => {}
            WANTED => match self.visits.latest {
                None => self.visits.early = true,
                Some(_) => {
                    let kept = self.visits.copies.keep_one(&mut self.referred);
                    self.resolve(number, kept);
                }
            },
            REFERENCE => {
                self.keep_first();
                if self.visits.latest.is_some() {
                    self.resolve(number, self.visits.first_kept);
                }
            }
            _ => {
                if self.visits.latest != Some(name) {
                    self.keep_first();
                    self.visits.latest = Some(name);
                    self.visits.copies = Copies::default();
                }
                self.visits.copies.add(number, self.choice, &self.referred);
            }
        }
    }

    /// Keeps one of the first captures of a URL, if an earlier reference needs it.
    fn keep_first(&mut self) {
        let visits = &mut self.visits;
        if visits.latest.is_some() && std::mem::take(&mut visits.early) {
            visits.first_kept = visits.copies.keep_one(&mut self.referred);
        }
    }
}

impl Copies {
    fn add(&mut self, number: u32, choice: &Choice, referred: &Bits) {
        let fate = match number {
            KEPT => None,
            REMOVED => return,
            document if referred.contains(document) => None,
            document => choice.fate(document),
        };
        match fate {
            None => self.kept = true,
            Some(fate) => {
                let copy = (choice.is_damaged(number), number);
                let free = (fate.reason != Removal::Listed).then_some(copy);
                self.first = [self.first, free].into_iter().flatten().min();
            }
        }
    }

    /// Keeps one, if none is kept and one can be. Returns whether one is kept.
    fn keep_one(&mut self, referred: &mut Bits) -> bool {
        if let Some((_, first)) = self.first.take().filter(|_| !self.kept) {
            referred.insert(first);
            self.kept = true;
        }
        self.kept
    }
}
