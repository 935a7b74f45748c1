//! Reads the captures of a collection from its inputs again: dates, bytes and `revisit` records are
//! in no file of the collection.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use bincode::{Decode, Encode};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::crawls::{Crawls, MOST_ADDRESS, led};
use super::{By, Change, STAGE};
use crate::dedup::{RecordNames, each_record, names};
use lookalike_base::{Context, Credit, Result, lock};
use lookalike_engine::collection::{InputRecord, InputRecords};
use lookalike_engine::document::{READER_BYTES, record_bytes};
use lookalike_rewrite::files;
use lookalike_store::{SetAside, Workspace};
use lookalike_text::read::{
    FileRecords, InputFile, Interpreted, ReadConfig, Reason, Record, RecordKind, Reject, WarcHead,
    date, interpret, page_address,
};

/// The document of a record that has none.
const NONE: u32 = u32::MAX;
/// The time of a capture without a date, after all others of its crawl.
pub(super) const UNDATED: u64 = u64::MAX;

/// Reasons after which something of a file is missing, besides those about whole files.
const DAMAGE: [Reason; 4] = [
    Reason::Truncated,
    Reason::BadHeader,
    Reason::BadParquet,
    Reason::StrayBytes,
];

/// A document, or a record of an archive that is none, as its record states it.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct Capture {
    /// Its address in the form in which addresses are compared, or its id.
    pub address: String,
    /// Its docno. A `revisit` record has the docno of the document to which it refers, if that is known.
    pub docno: String,
    pub date: Option<String>,
    /// The capture that a `revisit` record names, or why the record was not read as a document.
    pub note: String,
    /// Digests of the bytes of a document and of its text.
    pub(super) body: u128,
    pub(super) text: [u8; 8],
    /// The names of a record of an archive, and the names to which a `revisit` record refers; or the
    /// page to which the address has moved.
    names: RecordNames,
    pub(super) to: RecordNames,
    /// The largest distance between the text of a `revisit` record and the text to which it refers:
    /// 1 minus their resemblance.
    pub(super) apart: f64,
}

/// A capture in the order of its crawl.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Visit {
    pub(super) crawl: u16,
    /// Milliseconds, or [`UNDATED`].
    pub(super) time: u64,
    /// The order of the inputs: the file, and the captures before it there.
    pub(super) order: (u32, u32),
    /// A hash of the name of the page.
    pub(super) page: u128,
    /// A hash of its path on its host.
    pub(super) path: u64,
    /// Where the capture is set aside.
    pub(super) value: u64,
    /// The document with its text, or [`NONE`].
    pub(super) text: u32,
    /// [`Change::First`] for a document, [`Change::Revisit`], [`Change::Gone`] or
    /// [`Change::MovedAway`] as the server answered, or [`Change::Unread`].
    pub(super) kind: Change,
}

impl Visit {
    /// The number of the document with its text, if there is one.
    pub(super) fn document(&self) -> Option<u32> {
        Some(self.text).filter(|&number| number != NONE)
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
    /// By crawl, a file that was not read to its end, and why.
    pub(super) damaged: Mutex<BTreeMap<u16, String>>,
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

    /// Gives each `revisit` record the text or the error of the capture to which it refers, if the
    /// inputs have it: by its id, by its address and date, or by its address and digest. The earliest capture
    /// with the name counts, because a visit refers to an earlier one.
    pub(super) fn resolve(&self, visits: &mut [Visit]) -> Result<()> {
        let is_revisit = |it: &Visit| it.kind == Change::Revisit;
        let mut named: HashMap<u128, Option<u32>> = HashMap::new();
        for visit in visits.iter().filter(|it| is_revisit(it)) {
            let to = self.values.get(visit.value)?.to;
            named.extend(to.into_iter().flatten().map(|name| (name, None)));
        }
        if named.is_empty() {
            return Ok(());
        }
        visits.sort_unstable_by_key(|it| (it.time, it.order));
        for (n, visit) in visits.iter().enumerate() {
            self.context.tick(STAGE, n as u64)?;
            for name in self.values.get(visit.value)?.names.into_iter().flatten() {
                let Some(first) = named.get_mut(&name) else {
                    continue;
                };
                // A `revisit` record keeps the id of the record that it replaces.
                let better = |&of: &u32| is_revisit(&visits[of as usize]) && !is_revisit(visit);
                if first.as_ref().is_none_or(better) {
                    *first = Some(n as u32);
                }
            }
        }
        for n in 0..visits.len() {
            if !is_revisit(&visits[n]) {
                continue;
            }
            let mut capture = self.values.get(visits[n].value)?;
            let mut to = capture.to.iter().flatten();
            let Some(to) = to.find_map(|name| *named.get(name)?) else {
                continue;
            };
            let to = visits[to as usize];
            let source = self.values.get(to.value)?;
            if to.document().is_some() {
                (capture.docno, capture.body, capture.text) =
                    (source.docno, source.body, source.text);
                capture.apart += source.apart;
            } else if !is_revisit(&to) {
                // Where another page has moved says nothing of this one.
                let is_own = visits[n].page == to.page;
                let is_moved = to.kind == Change::MovedAway && !is_own;
                visits[n].kind = if is_moved { Change::Unread } else { to.kind };
                capture.note = source.note;
                capture.to = if is_own { source.to } else { <_>::default() };
            }
            visits[n].text = to.text;
            visits[n].value = self.values.put(&capture)?;
        }
        Ok(())
    }

    fn file(&self, file: u32, input: &InputFile, entries: &mut InputRecords<'_>) -> Result<()> {
        input.check_path()?;
        let mut all = InputRecords::of_file(self.workspace, file);
        while let Some(entry) = all.next_of(file)? {
            if let InputRecord::Rejected(Reject { reason, .. }) = entry {
                // The reasons before that one concern whole files. A binary file is not damaged.
                let of_file = reason < Reason::UnsupportedFormat && reason != Reason::BinaryFile;
                if of_file || DAMAGE.contains(&reason) {
                    let why = format!("{} was not read whole ({reason})", input.docno);
                    lock(&self.damaged).insert(self.crawls.files[file as usize].0, why);
                }
            }
        }
        let mut records = FileRecords::open(input, file, self.read, STAGE, self.context.stop);
        let mut order = (file, 0);
        each_record(file, &mut records, entries, |record, bytes, entry| {
            order.1 += 1;
            self.put((order, input), (record, bytes), entry)
        })
    }

    /// Sets the capture of a record aside, if it has an address and is in the collection or a
    /// `revisit`. Returns whether a document still is one.
    fn put(
        &self,
        (order, input): ((u32, u32), &InputFile),
        (record, bytes): (&Record, &[u8]),
        entry: &mut Option<InputRecord>,
    ) -> Result<bool> {
        let head = match record.kind {
            RecordKind::Warc => WarcHead::parse(bytes),
            RecordKind::Arc => WarcHead::of_arc(bytes),
            _ => WarcHead::default(),
        };
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let target = head.target.filter(|url| url.len() <= MOST_ADDRESS);
        let (mut text, mut kind) = (NONE, Change::First);
        let mut address = target.map(lossy);
        let (own, to) = names(&head).unwrap_or_default();
        let mut capture = Capture {
            date: record.kind.date(bytes),
            names: own,
            to,
            ..Capture::default()
        };
        let location = || head.http(bytes, "Location");
        // The server says with 304 that the page is unchanged.
        let failure = head.no_success(bytes).filter(|it| !it.starts_with("304"));
        match entry {
            Some(InputRecord::Document(of, document)) => {
                let Interpreted::Document(raw) = interpret(record, bytes, self.read) else {
                    return Ok(false);
                };
                (text, address) = (*of, document.url.take());
                capture.docno = std::mem::take(&mut document.docno);
                (capture.body, capture.text) = (xxh3_128(&raw.body), document.text.0);
            }
            Some(InputRecord::Rejected(reject)) => {
                let answered = (reject.reason, &reject.detail);
                (kind, capture.note, capture.to) = answer(answered, address.as_deref(), location);
                capture.docno = reject.docno.take().unwrap_or_default();
            }
            None if head.is(b"revisit") && failure.is_some() => {
                let answered = (Reason::HttpStatus, &failure.unwrap_or_default());
                (kind, capture.note, capture.to) = answer(answered, address.as_deref(), location);
                capture.docno = record.kind.docno(bytes).unwrap_or_default();
            }
            None if head.is(b"revisit") => {
                let to = [head.to_target, head.to_date, head.to_id];
                let to = to.into_iter().flatten().take(2).map(lossy);
                kind = Change::Revisit;
                capture.note = to.collect::<Vec<_>>().join(" ");
                // `dedup --revisit=all` also leaves records for texts that only resemble the other.
                let field = |name| record.kind.field(bytes, name);
                let scores = ["Lookalike-Resemblance", "Lookalike-Containment"].map(field);
                if let Some(text) = scores.iter().flatten().next() {
                    let score = text.parse().unwrap_or(1.0);
                    // The resemblance is rounded, and a containment does not bound it.
                    let most = scores[0].as_ref().map_or(1.0, |_| 1.0 - score + 1e-6);
                    capture.apart = if score < 1.0 { most } else { 0.0 };
                    capture.note += &format!(" (similar text, {text})");
                }
                capture.docno = record.kind.docno(bytes).unwrap_or_default();
            }
            None => return Ok(true),
        }
        let (crawl, rest) = &self.crawls.files[order.0 as usize];
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
        capture.address = match self.by {
            By::Address => String::from_utf8_lossy(&page_address(&address)).into_owned(),
            By::Id => address,
        };
        let page = xxh3_128(capture.address.as_bytes());
        let host = capture.address.split_once("://").map(|(_, rest)| rest);
        let path = host.and_then(|rest| Some(rest.split_once('/')?.1));
        let path = xxh3_64(path.unwrap_or_default().as_bytes());
        let time = capture.date.as_deref().and_then(date);
        let visit = Visit {
            crawl: *crawl,
            time: time.map_or(UNDATED, |time| time / 10_000),
            order,
            page,
            path,
            value: self.values.put(&capture)?,
            text,
            kind,
        };
        lock(&self.visits).push(visit);
        Ok(true)
    }
}

/// Returns the meaning of a record without a document for its page, with a note and the new
/// address. 302, 303 and 307 are temporary, so the page is still there.
fn answer(
    (reason, detail): (Reason, &String),
    address: Option<&str>,
    location: impl Fn() -> Option<String>,
) -> (Change, String, RecordNames) {
    let mut names = RecordNames::default();
    if reason != Reason::HttpStatus {
        return (Change::Unread, format!("{reason}: {detail}"), names);
    }
    let leads = address.filter(|_| detail.starts_with('3'));
    let to = leads.and_then(|from| led(from, &location()?));
    let note = to.as_ref().map(|to| format!("{detail}: {to}"));
    let page = to.as_deref().map(page_address);
    let page = page.filter(|page| address.map(page_address).as_ref() != Some(page));
    let kind = match detail.get(..3) {
        Some("404" | "410") => Change::Gone,
        Some("301" | "308") if page.is_some() => Change::MovedAway,
        _ => Change::Unread,
    };
    names[0] = page.map(|page| xxh3_128(&page));
    (kind, note.unwrap_or_else(|| detail.clone()), names)
}
