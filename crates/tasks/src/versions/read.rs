//! Reads the captures of a collection from its inputs again: dates, bytes and `revisit` records are
//! in no file of the collection.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use bincode::{Decode, Encode};
use xxhash_rust::xxh3::xxh3_128;

use super::crawls::Crawls;
use super::{By, Change};
use lookalike_base::memory::Credit;
use lookalike_base::progress::Context;
use lookalike_base::threads::{lock, unlocked};
use lookalike_base::{Error, Result};
use lookalike_engine::collection::{self, InputRecord, InputRecords};
use lookalike_engine::document::{READER_BYTES, record_bytes};
use lookalike_rewrite::again::Again;
use lookalike_rewrite::files;
use lookalike_store::SetAside;
use lookalike_store::workspace::Workspace;
use lookalike_text::read::{InputFile, Interpreted, Record, RecordKind, WarcHead, date, interpret};

/// Marks a document that has no place among the captures.
const NONE: u64 = u64::MAX;
/// The time of a capture without a date, after all others of its crawl: 52 bits of a sort's key.
pub(super) const UNDATED: u64 = (1 << 52) - 1;
/// Longer addresses of records that are no documents are left out, as those of documents are.
const MOST_ADDRESS: usize = 64 << 10;

/// A document, or a record of an archive that is none, as its record states it.
#[derive(Clone, Debug, Encode, Decode)]
pub struct Capture {
    /// Its address, or its id.
    pub address: String,
    pub docno: String,
    pub date: Option<String>,
    /// The number of its crawl, in the order of the inputs.
    pub(super) crawl: u32,
    /// [`Change::First`] for a document, [`Change::Revisit`] or [`Change::Unread`].
    pub(super) is: usize,
    /// To what a `revisit` record refers, or why a record is no document.
    pub note: String,
    /// Digests of the bytes of a document and of its text.
    pub(super) body: [u64; 2],
    pub(super) text: [u8; 8],
}

impl Capture {
    /// Its time in milliseconds; [`UNDATED`] without one.
    pub(super) fn time(&self) -> u64 {
        let found = self.date.as_deref().and_then(date);
        found.map_or(UNDATED, |found| (found / 10_000).min(UNDATED - 1))
    }
}

/// Two captures: their times and their dates.
pub(super) type Ends = [(u64, String); 2];

/// The captures of a collection. The first ones are its documents, by their numbers.
pub(super) struct Captures<'c> {
    workspace: &'c Workspace,
    by: By,
    crawls: &'c Crawls,
    values: SetAside<Capture>,
    places: Vec<AtomicU64>,
    /// By crawl, its earliest and its latest capture with a date, and their dates.
    pub dates: Vec<Mutex<Option<Ends>>>,
}

impl<'c> Captures<'c> {
    /// Reads them, with `memory` for the threads.
    pub(super) fn read(
        workspace: &'c Workspace,
        inputs: &[InputFile],
        (by, crawls): (By, &'c Crawls),
        documents: u64,
        (scratch, memory): (&std::path::Path, u64),
        context: &Context<'_>,
    ) -> Result<Captures<'c>> {
        let mut captures = Captures {
            workspace,
            by,
            crawls,
            values: SetAside::new(scratch),
            places: (0..documents).map(|_| AtomicU64::new(NONE)).collect(),
            dates: crawls.names.iter().map(|_| Mutex::default()).collect(),
        };
        let read = &collection::config(&workspace.manifest).read;
        read.check_named_programs(context)?;
        let (credit, others) = (Credit::new(memory), Mutex::new(Vec::new()));
        let open = |file| InputRecords::of_file(workspace, file);
        let act = |file, input: &InputFile, entries: &mut InputRecords<'_>| {
            let _memory = credit.hold(record_bytes(workspace) + READER_BYTES);
            captures.file(file, input, entries, &others, context)
        };
        files::each("captures", (inputs, 0), open, act, context)?;
        // One thread reads a file, and puts its captures in their order.
        let mut others: Vec<(u32, u64)> = unlocked(others);
        others.sort_unstable();
        let places = others.into_iter().map(|(_, place)| AtomicU64::new(place));
        captures.places.extend(places);
        Ok(captures)
    }

    /// How many there are, with the documents without an address.
    pub(super) fn count(&self) -> u32 {
        self.places.len() as u32
    }

    fn file(
        &self,
        file: u32,
        input: &InputFile,
        entries: &mut InputRecords<'_>,
        others: &Mutex<Vec<(u32, u64)>>,
        context: &Context<'_>,
    ) -> Result<()> {
        input.check_path()?;
        let read = &collection::config(&self.workspace.manifest).read;
        let mut records = Again::open(input, file, read, context.stop);
        // Only of a rejected file or row there may be no record.
        let passed = |entry: &InputRecord| match entry {
            InputRecord::Document(..) => Err(changed(input)),
            InputRecord::Rejected(_) => Ok(()),
        };
        let mut next = entries.next_of(file)?;
        while records.advance()? {
            let Some((record, bytes)) = records.record() else {
                continue;
            };
            while let Some(entry) = next.as_ref().filter(|e| offset(e) < record.source.offset) {
                passed(entry)?;
                next = entries.next_of(file)?;
            }
            let entry = match next
                .as_ref()
                .is_some_and(|e| offset(e) == record.source.offset)
            {
                true => std::mem::replace(&mut next, entries.next_of(file)?),
                false => None,
            };
            let number = match &entry {
                Some(InputRecord::Document(number, _)) => Some(*number),
                _ => None,
            };
            let Some(capture) = self.capture(file, input, (record, bytes), entry)? else {
                continue;
            };
            if let Some(time) = Some(capture.time()).filter(|&time| time != UNDATED) {
                let at = (time, capture.date.clone().unwrap_or_default());
                let known = &mut *lock(&self.dates[capture.crawl as usize]);
                let [first, last] = known.take().unwrap_or_else(|| [at.clone(), at.clone()]);
                *known = Some([first.min(at.clone()), last.max(at)]);
            }
            let place = self.values.put(&capture)?;
            match number {
                Some(number) => self.places[number as usize].store(place, Ordering::Relaxed),
                None => lock(others).push((file, place)),
            }
        }
        while let Some(entry) = next {
            passed(&entry)?;
            next = entries.next_of(file)?;
        }
        Ok(())
    }

    /// The capture of a record; `None` without an address, or if it is neither in the collection nor
    /// a `revisit`.
    fn capture(
        &self,
        file: u32,
        input: &InputFile,
        (record, bytes): (&Record, &[u8]),
        entry: Option<InputRecord>,
    ) -> Result<Option<Capture>> {
        let head = match record.kind {
            RecordKind::Warc => WarcHead::parse(bytes),
            RecordKind::Arc => WarcHead::of_arc(bytes),
            _ => WarcHead::default(),
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let target = head
            .target
            .filter(|url| url.len() <= MOST_ADDRESS)
            .map(text);
        let mut capture = Capture {
            address: String::new(),
            docno: record.kind.docno(bytes).unwrap_or_default(),
            date: record.kind.date(bytes),
            crawl: self.crawls.crawl(file),
            is: Change::Unread as usize,
            note: String::new(),
            body: [0; 2],
            text: [0; 8],
        };
        let url = match entry {
            Some(InputRecord::Document(_, document)) => {
                let read = &collection::config(&self.workspace.manifest).read;
                let Interpreted::Document(raw) = interpret(record, bytes, read) else {
                    return Err(changed(input));
                };
                let body = xxh3_128(&raw.body);
                capture.is = Change::First as usize;
                capture.body = [(body >> 64) as u64, body as u64];
                capture.text = document.text.to_bytes();
                capture.docno = document.docno;
                document.url
            }
            Some(InputRecord::Rejected(reject)) => {
                capture.note = format!("{}: {}", reject.reason, reject.detail);
                capture.docno = reject.docno.unwrap_or_default();
                target
            }
            None if head.is(b"revisit") => {
                let to = [head.to_target, head.to_date, head.to_id];
                let to = to.into_iter().flatten().take(2).map(text);
                capture.is = Change::Revisit as usize;
                capture.note = to.collect::<Vec<_>>().join(" ");
                target
            }
            None => return Ok(None),
        };
        let id = || self.crawls.id(file, &input.docno, &capture.docno);
        let address = match self.by {
            By::Address => url,
            By::Id => Some(id()).filter(|id| !id.is_empty()),
        };
        Ok(address.map(|address| Capture { address, ..capture }))
    }

    /// A capture; `None` without an address.
    pub(super) fn get(&self, capture: u32) -> Result<Option<Capture>> {
        match self.places[capture as usize].load(Ordering::Relaxed) {
            NONE => Ok(None),
            place => self.values.get(place).map(Some),
        }
    }
}

fn offset(entry: &InputRecord) -> u64 {
    match entry {
        InputRecord::Document(_, document) => document.offset,
        InputRecord::Rejected(reject) => reject.source.offset,
    }
}

fn changed(input: &InputFile) -> Error {
    Error::InputChanged {
        path: input.path.clone(),
        expected: "the documents that were read from it".into(),
        found: "other records".into(),
    }
}
