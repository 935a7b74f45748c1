//! Reads the captures of a collection from its inputs again: dates, bytes and `revisit` records are
//! in no file of the collection.

use std::sync::Mutex;

use bincode::{Decode, Encode};
use xxhash_rust::xxh3::xxh3_128;

use super::crawls::{Crawls, normal};
use super::{By, Change};
use lookalike_base::Result;
use lookalike_base::memory::Credit;
use lookalike_base::progress::Context;
use lookalike_base::threads::lock;
use lookalike_engine::collection::{InputRecord, InputRecords};
use lookalike_engine::document::{READER_BYTES, record_bytes};
use lookalike_rewrite::again::Again;
use lookalike_rewrite::files;
use lookalike_store::SetAside;
use lookalike_store::workspace::Workspace;
use lookalike_text::read::{
    InputFile, Interpreted, ReadConfig, Record, RecordKind, WarcHead, date, interpret,
};

/// The number of a record that was not read as a document.
const NONE: u32 = u32::MAX;
/// The time of a capture without a date, after all others of its crawl.
pub(super) const UNDATED: u64 = u64::MAX;
/// A record with a longer address is left out, whether or not it is a document.
const MOST_ADDRESS: usize = 64 << 10;

/// A document, or a record of an archive that is none, as its record states it.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct Capture {
    /// Its address, or its id.
    pub address: String,
    pub docno: String,
    pub date: Option<String>,
    /// The capture that a `revisit` record names, or why the record was not read as a document.
    pub note: String,
    /// [`Change::First`] for a document, [`Change::Revisit`] or [`Change::Unread`].
    pub(super) kind: Change,
    /// Digests of the bytes of a document and of its text.
    pub(super) body: u128,
    pub(super) text: [u8; 8],
}

/// A capture in the order of its crawl.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Visit {
    pub(super) crawl: u32,
    /// Milliseconds, or [`UNDATED`].
    pub(super) time: u64,
    /// The order of the inputs, in which documents come first: the number of a document or [`NONE`],
    /// the file, and where the capture is set aside. One thread reads a file.
    pub(super) order: (u32, u32, u64),
    /// A hash of what names the page.
    pub(super) page: u128,
}

impl Visit {
    /// The number of its document, if it is one.
    pub(super) fn document(&self) -> Option<u32> {
        Some(self.order.0).filter(|&number| number != NONE)
    }
}

/// The captures of a collection, which several threads set aside.
pub(super) struct Captures<'c> {
    pub(super) workspace: &'c Workspace,
    pub(super) read: &'c ReadConfig,
    pub(super) by: By,
    pub(super) crawls: &'c Crawls,
    pub(super) context: &'c Context<'c>,
    pub(super) values: SetAside<Capture>,
    pub(super) visits: Mutex<Vec<Visit>>,
}

impl Captures<'_> {
    /// Reads them, with `memory` for the threads.
    pub(super) fn read(&self, inputs: &[InputFile], memory: u64) -> Result<()> {
        self.read.check_named_programs(self.context)?;
        let credit = Credit::new(memory);
        let open = |file| InputRecords::of_file(self.workspace, file);
        let act = |file, input: &InputFile, entries: &mut InputRecords<'_>| {
            let _memory = credit.hold(record_bytes(self.workspace) + READER_BYTES);
            self.file(file, input, entries)
        };
        files::each("captures", (inputs, 0), open, act, self.context)
    }

    fn file(&self, file: u32, input: &InputFile, entries: &mut InputRecords<'_>) -> Result<()> {
        input.check_path()?;
        let mut records = Again::open(input, file, self.read, self.context.stop);
        let mut next = entries.next_of(file)?;
        while records.advance()? {
            let Some((record, bytes)) = records.record() else {
                continue;
            };
            let at = record.source.offset;
            // Only of a rejected file or row there may be no record.
            while let Some(InputRecord::Rejected(reject)) = &next
                && reject.source.offset < at
            {
                next = entries.next_of(file)?;
            }
            let entry = next.take_if(|entry| offset(entry) == at);
            if entry.is_some() {
                next = entries.next_of(file)?;
            }
            if !self.put((file, input), (record, bytes), entry)? {
                return records.seek(at);
            }
        }
        while let Some(InputRecord::Rejected(_)) = next {
            next = entries.next_of(file)?;
        }
        // A document without a record stays the next one. That there is none, `seek` says.
        next.map_or(Ok(()), |entry| records.seek(offset(&entry)))
    }

    /// Sets the capture of a record aside, if it has an address and is in the collection or a
    /// `revisit`. Returns whether a document still is one.
    fn put(
        &self,
        (file, input): (u32, &InputFile),
        (record, bytes): (&Record, &[u8]),
        entry: Option<InputRecord>,
    ) -> Result<bool> {
        let head = match record.kind {
            RecordKind::Warc => WarcHead::parse(bytes),
            RecordKind::Arc => WarcHead::of_arc(bytes),
            _ => WarcHead::default(),
        };
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let target = head.target.filter(|url| url.len() <= MOST_ADDRESS);
        let (mut number, mut address) = (NONE, target.map(lossy));
        let mut capture = Capture {
            date: record.kind.date(bytes),
            ..Capture::default()
        };
        match entry {
            Some(InputRecord::Document(of, document)) => {
                let Interpreted::Document(raw) = interpret(record, bytes, self.read) else {
                    return Ok(false);
                };
                (number, address, capture.docno) = (of, document.url, document.docno);
                (capture.body, capture.text) = (xxh3_128(&raw.body), document.text.to_bytes());
            }
            Some(InputRecord::Rejected(reject)) => {
                capture.kind = Change::Unread;
                capture.note = format!("{}: {}", reject.reason, reject.detail);
                capture.docno = reject.docno.unwrap_or_default();
            }
            None if head.is(b"revisit") => {
                let to = [head.to_target, head.to_date, head.to_id];
                let to = to.into_iter().flatten().take(2).map(lossy);
                capture.kind = Change::Revisit;
                capture.note = to.collect::<Vec<_>>().join(" ");
                capture.docno = record.kind.docno(bytes).unwrap_or_default();
            }
            None => return Ok(true),
        }
        let (crawl, rest) = &self.crawls.files[file as usize];
        if self.by == By::Id {
            // A docno that begins with the name of the file may have the name of the crawl in it.
            let behind = capture.docno.strip_prefix(&input.docno);
            let behind = behind.filter(|_| !rest.is_empty());
            let id = behind.map_or_else(|| capture.docno.clone(), |it| format!("{rest}{it}"));
            address = Some(id).filter(|id| !id.is_empty());
        }
        let Some(address) = address else {
            return Ok(true);
        };
        let page = match self.by {
            By::Address => xxh3_128(&normal(&address)),
            By::Id => xxh3_128(address.as_bytes()),
        };
        capture.address = address;
        let time = capture.date.as_deref().and_then(date);
        let visit = Visit {
            crawl: *crawl,
            time: time.map_or(UNDATED, |time| time / 10_000),
            order: (number, file, self.values.put(&capture)?),
            page,
        };
        lock(&self.visits).push(visit);
        Ok(true)
    }
}

fn offset(entry: &InputRecord) -> u64 {
    match entry {
        InputRecord::Document(_, document) => document.offset,
        InputRecord::Rejected(reject) => reject.source.offset,
    }
}
