//! Finds changes between crawls: the versions of each page, in the order of time.
//!
//! # In and out
//! In: a collection with its pairs, and its inputs, which are read again. Out: a [`Version`] for each
//! capture of a page, compared with the one before it, and one for each time that a page is gone.
//!
//! # Definitions
//! - The directory in which all inputs lie has a folder or a file for each *crawl*. Crawls are in the
//!   order of their earliest captures; if one has no dates, in the order of the inputs.
//! - A *page* is an address ([`lookalike_text::read::page_address`]), or the id of a document in its crawl. Its captures
//!   are in the order (crawl, date, input). A `revisit` record is a document with the text of the
//!   capture to which it refers, if the inputs have that capture. A document is compared with the
//!   last document before it, and other records are passed over.
//! - A page with a document is *gone* in the first crawl without a capture of it, or when the server
//!   answers 404, 410, 301 or 308, until a capture answers something else. It has *returned* with
//!   the next document or `revisit` record.
//! - A page that is gone by 301 or 308 has *moved* to the page that the server names, if that page
//!   has a document, and this page has moved from there if its first capture is a document in that
//!   crawl or in a later one. Otherwise a page that is gone in a crawl has moved to a page whose first
//!   capture is a document in that crawl if this document has the same words, or makes a pair, with
//!   the last document of the page that is gone, of an earlier crawl. If several new pages fit a
//!   gone page, or several gone pages fit a new page, the most similar page counts; among pages
//!   with the same words, the page with the same path on its host, and then the first.
//!
//! # Algorithm
//! 1. Read the captures from the inputs, aside, and resolve the `revisit` records (`read.rs`).
//! 2. Sort them by page and time.
//! 3. Go through the pages to find the new and the gone pages of each crawl, and through the pairs
//!    to find what has moved.
//! 4. Make the rows of each page, in the order of the first captures. The resemblance is computed from
//!    the stored sets.
//!
//! # Cost
//! The inputs are read once more. Memory: [`CAPTURE_BYTES`] for each capture, [`REVISIT_BYTES`] for
//! each `revisit` record, the mapped sets, and a record for each thread.
//!
//! # What is not guaranteed
//! Two addresses with the same hash of 128 bits are one page.

mod crawls;
mod read;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::Mutex;

use serde::Serialize;

use crate::dedup::check_pairs;
use crawls::Crawls;
use lookalike_base::{
    Context, Measure, Ratio, Result, Threshold, Unit, count, counted, keywords, lock, path_word,
    refuse, with_keys,
};
use lookalike_engine::collection::{self, Catalogue, MappedSets, each_document};
use lookalike_engine::document::{READER_BYTES, record_bytes};
use lookalike_engine::join::{List, Pairs, PairsEntry, each_measured_pair, sizes_of_pairs};
use lookalike_engine::sample::Sampled;
use lookalike_store::{Cell, Column, SetAside, Workspace, cells, columns};
use lookalike_text::read::date;

pub use read::Capture;
use read::{Captures, UNDATED, Visit};

const STAGE: &str = "versions";

/// Memory of a capture: its visit, its page, its representative, and the entries of a page that is
/// new and gone, in a tree that is half full, and in tables of which at least 7 of 16 places are full.
const CAPTURE_BYTES: u64 = (size_of::<Visit>()
    + size_of::<&[Visit]>()
    + 4
    + 2 * 2 * size_of::<(Key, Alike<'_>)>()
    + 2 * 3 * size_of::<((Key, u64), &Visit)>()) as u64;
/// Memory of the names to which a `revisit` record refers.
const REVISIT_BYTES: u64 = 256;
/// Readers, writers and the buffers of tables.
const FIXED_BYTES: u64 = 32 << 20;

keywords! {
    /// The name of a page from crawl to crawl.
    pub enum By: "names no page; use" {
        Address = "address",
        Id = "id",
    }
}

keywords! {
    /// The change of a page.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Change {
        /// Its first document, in the first crawl or after `revisit` records.
        #[default]
        First = "first",
        SameBytes = "same bytes",
        SameText = "same text",
        SameWords = "same words",
        Revisit = "revisit",
        /// It reaches the threshold, or may do so, if of one text only a similar one is known.
        Edited = "edited",
        Rewritten = "rewritten",
        New = "new",
        Moved = "moved",
        MovedAway = "moved away",
        Gone = "gone",
        /// It was gone, and is there again.
        Returned = "returned",
        /// The record could not be read as a document, and the page is not gone.
        Unread = "unread",
    }
}

/// The parameters of a comparison of crawls.
#[derive(Clone, Debug, Default)]
pub struct VersionsConfig {
    /// `None`: by address, or by id if no document has an address.
    pub by: Option<By>,
    /// Only captures up to this date count, and of each page the last version.
    pub at: Option<String>,
    /// The crawls in their order; all if the list is empty.
    pub crawls: Vec<String>,
}

/// The columns of a table of versions. The earlier document is `a`.
pub const COLUMNS: [Column; 14] = columns! {
    address: Text, kind: Text, resemblance: F64 or "", crawl_a: Text or "", date_a: Text or "",
    docno_a: Text or "", address_a: Text or "", crawl_b: Text, date_b: Text or "",
    docno_b: Text or "", first_seen: Text or "", last_seen: Text or "", note: Text or "",
    moved_to: Text or "",
};

/// A capture of a page and the document before it, or a crawl without the page.
#[derive(Debug, Default)]
pub struct Version {
    pub kind: Change,
    /// Shared shingles and those of both documents, if both are known.
    pub shared: Option<[u64; 3]>,
    /// The earlier document and the capture, which is `None` if the crawl has none.
    pub captures: [Option<Capture>; 2],
    /// The numbers of the documents with their texts; `None` for a capture without a text.
    pub documents: [Option<u32>; 2],
    /// The names of their crawls.
    pub crawls: [Option<String>; 2],
    /// The dates of the first and of the last document or `revisit` record of the page.
    pub seen: [Option<String>; 2],
    /// The address to which the page has moved.
    pub moved_to: Option<String>,
}

impl Version {
    /// The address of the page.
    pub fn address(&self) -> &str {
        let mut captures = self.captures.iter().rev().flatten();
        captures.next().map_or("", |page| &page.address)
    }

    /// The resemblance of both documents.
    pub fn resemblance(&self) -> Option<Cell<'static>> {
        let shared = self.shared.filter(|[_, a, b]| a + b > 0)?;
        Some(Cell::Measured(Measure::Resemblance, shared))
    }

    /// The cells of its row.
    pub fn cells(&self) -> [Cell<'_>; COLUMNS.len()] {
        let [a, b] = self.captures.each_ref().map(Option::as_ref);
        let [date_a, date_b] = [a, b].map(|of| of?.date.as_ref());
        let [docno_a, docno_b] = [a, b].map(|of| Some(&of?.docno));
        let ([crawl_a, crawl_b], [first, last]) = (self.crawls.each_ref(), self.seen.each_ref());
        let note = b.map(|b| &b.note).filter(|note| !note.is_empty());
        cells! {
            self.address(), self.kind.text(), self.resemblance(), crawl_a.as_ref(), date_a, docno_a,
            a.map(|a| &a.address), crawl_b.as_ref(), date_b, docno_b, first.as_ref(), last.as_ref(),
            note, self.moved_to.as_ref(),
        }
    }
}

/// A crawl, and what changed in it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Crawl {
    pub name: String,
    /// The dates of its earliest and its latest capture.
    pub first: Option<String>,
    pub last: Option<String>,
    /// Rows by [`Change`].
    pub kinds: BTreeMap<&'static str, u64>,
    /// Its number in the order of the inputs, and the time of its earliest capture.
    #[serde(skip)]
    number: u16,
    /// Whether it is a file, and not a folder.
    #[serde(skip)]
    is_file: bool,
    #[serde(skip)]
    begin: Option<u64>,
    /// Its captures, and the pages that are gone because it has none of them.
    #[serde(skip)]
    captures: u64,
    #[serde(skip)]
    absent: u64,
}

/// Counts of the versions.
#[derive(Clone, Debug, Serialize)]
pub struct VersionsSummary {
    pub by: By,
    /// The order of the crawls: `date`, `inputs` or `--crawl`.
    pub order: &'static str,
    /// In their order.
    pub crawls: Vec<Crawl>,
    /// Pages with a document.
    pub pages: u64,
    /// Addresses of which no capture could be read as a document: images, errors of a server.
    pub without_document: u64,
    /// Documents without an address.
    pub without_address: u64,
    /// The crawls that make pages gone and perhaps were cut off.
    pub warnings: Vec<String>,
}

/// Finds the versions, and passes each to `take`, page by page.
///
/// # Errors
/// `BadParameter` if the directory does not list all pairs, or nothing has an address;
/// `InputChanged` if an input is gone.
pub fn versions(
    workspace: &Workspace,
    config: &VersionsConfig,
    take: impl FnMut(Version) -> Result<()>,
    context: &Context<'_>,
) -> Result<VersionsSummary> {
    check(workspace)?;
    let collected = collection::config(&workspace.manifest);
    let until = config.at.as_deref().map_or(Ok(u64::MAX), until)?;
    let (crawls, inputs, asked) = Crawls::of(workspace, config)?;
    let mut by = By::Id;
    each_document(workspace, |_, document| {
        by = document.url.map_or(by, |_| By::Address);
        Ok(())
    })?;
    if config.by == Some(By::Address) && by == By::Id {
        let limit = "no document has an address; use id, or name the field of the address when you \
                     run: --url-field";
        return refuse("by", By::Address, limit);
    }
    let by = config.by.unwrap_or(by);
    let segments = collection::segments(&workspace.manifest).iter();
    let stats = segments.map(|segment| &segment.stats);
    let rejected = stats.clone().flat_map(|stats| stats.rejected.values());
    let revisits = stats.filter_map(|stats| stats.skipped.get("revisit"));
    let revisits: u64 = revisits.sum();
    let extent = Catalogue::extent(workspace)?;
    let all = extent.documents + revisits + rejected.sum::<u64>();
    let columns = MappedSets::bytes(extent) + Sampled::bytes(1, extent);
    let used = FIXED_BYTES + all * CAPTURE_BYTES + revisits * REVISIT_BYTES + columns;
    let documents = counted(extent.documents, "document");
    let what = || format!("comparing the versions of {documents}");
    let least = record_bytes(workspace) + READER_BYTES;
    let spare = context.budget.rest(used, least, what)?;
    let scratch = workspace.scratch(context)?;
    let captures = Captures {
        workspace,
        read: &collected.read,
        by,
        crawls: &crawls,
        context,
        values: SetAside::new(scratch.path()),
        visits: Mutex::new(Vec::with_capacity(all as usize)),
        damaged: Mutex::default(),
    };
    captures.read(&inputs, spare)?;
    let mut visits = std::mem::take(&mut *lock(&captures.visits));
    let documents = visits.iter().filter_map(Visit::document).count() as u64;
    captures.resolve(&mut visits)?;
    let all = crawls.all.clone();
    let limits = (&asked[..], config.at.as_ref().zip(Some(until)));
    let (order, crawls, whole) = in_order(&mut visits, &captures.values, all, limits)?;
    let mut pages: Vec<&[Visit]> = visits.chunk_by(|a, b| a.page == b.page).collect();
    let addresses = pages.len();
    pages.retain(|page| page.iter().any(|it| it.document().is_some()));
    let mut summary = VersionsSummary {
        by,
        order,
        crawls,
        pages: pages.len() as u64,
        without_document: (addresses - pages.len()) as u64,
        without_address: extent.documents - documents,
        warnings: Vec::new(),
    };
    let last = config.at.is_some();
    let many = pages.iter().map(|page| page.len() as u64).sum();
    context.start(STAGE, Unit::Count("captures"), Some(many));
    captures.rows(pages, (spare / 4, last, whole), &mut summary, take)?;
    summary.warnings = warnings(&summary.crawls, &lock(&captures.damaged));
    for warning in &summary.warnings {
        context.progress.lost(&format!("warning: {warning}"));
    }
    let pages = counted(summary.pages, "page");
    context.progress.end(&format!("{STAGE}: {pages}"));
    Ok(summary)
}

/// Refuses a directory whose pairs are not all pairs by resemblance.
fn check(workspace: &Workspace) -> Result<()> {
    let criterion = check_pairs("DIR", workspace)?;
    let listed = workspace.matches::<PairsEntry>(|pairs| pairs.config.pairs != Pairs::None);
    let unfit = |limit: &str| refuse("DIR", workspace.directory().display(), limit);
    if criterion.measure != Measure::Resemblance || !listed {
        return unfit(&format!(
            "its pairs by resemblance are not listed; find them: `lookalike run --from {} \
             --score resemblance --pairs all`",
            path_word(workspace.directory())
        ));
    }
    if collection::config(&workspace.manifest).condition.is_some() {
        return unfit(
            "its pairs have a condition (--where), and so would what moved; run again into a \
             directory without one",
        );
    }
    Ok(())
}

/// Says which crawls are damaged, or make pages gone and are much smaller than the one before, and
/// which are of the same time.
fn warnings(crawls: &[Crawl], damaged: &BTreeMap<u16, String>) -> Vec<String> {
    let warning = |(n, crawl): (usize, &Crawl)| {
        let name = &crawl.name;
        let before = n.checked_sub(1).map(|n| &crawls[n]);
        let damage = damaged.get(&crawl.number);
        let is_small = |before: &&Crawl| crawl.absent > 0 && crawl.captures * 2 < before.captures;
        let larger = before.filter(is_small).filter(|_| damage.is_none());
        let what = match crawl.absent {
            0 => format!("{name} may lack pages, which are new in a later crawl, because"),
            absent => format!(
                "{name} makes {} gone only because it has no capture of them, {}",
                counted(absent, "page"),
                larger.map_or("but", |_| "and")
            ),
        };
        let why = match (damage, larger) {
            (Some(damage), _) => format!("{damage}. Read a whole copy in a new directory, or"),
            (None, Some(larger)) => format!(
                "it has {}, where {} has {}. If it was cut off,",
                counted(crawl.captures, "capture"),
                larger.name,
                count(larger.captures)
            ),
            (None, None) => return None,
        };
        Some(format!(
            "{what} {why} leave it out: name the other crawls with --crawl"
        ))
    };
    let beside = crawls.windows(2).filter(|two| {
        let [a, b] = [&two[0], &two[1]];
        a.is_file && b.is_file && a.first.is_some() && a.first < b.last && b.first < a.last
    });
    let beside = beside.map(|two| {
        format!(
            "{} and {} were captured at the same time. If they are parts of one crawl, put the files \
             of each crawl into a folder, and run again into a new directory",
            two[0].name, two[1].name
        )
    });
    let warned = crawls.iter().enumerate().filter_map(warning);
    warned.chain(beside.take(1)).collect()
}

/// The last time of a date, or of a day.
fn until(text: &str) -> Result<u64> {
    const DAY: u64 = 86_400_000;
    let day = "2004-01-31".len();
    let Some(begin) = date(text).filter(|_| text.len() >= day) else {
        let limit = "not a date; write it as 2024-01-31 or 2024-01-31T12:00:00Z";
        return refuse("at", text, limit);
    };
    Ok(begin / 10_000 + if text.len() == day { DAY - 1 } else { 0 })
}

/// By what the crawls are ordered, the crawls that are compared, and how many of them, from the
/// first, had ended by the date. Leaves the visits of these, page by page, with the places of the
/// crawls in the order.
fn in_order(
    visits: &mut Vec<Visit>,
    values: &SetAside<Capture>,
    mut crawls: Vec<Crawl>,
    (asked, at): (&[u16], Option<(&String, u64)>),
) -> Result<(&'static str, Vec<Crawl>, u16)> {
    visits.sort_unstable();
    for visits in visits.chunk_by(|a, b| a.crawl == b.crawl) {
        crawls[visits[0].crawl as usize].captures = visits.len() as u64;
        let dated = &visits[..visits.partition_point(|it| it.time < UNDATED)];
        if let (Some(first), Some(last)) = (dated.first(), dated.last()) {
            let crawl = &mut crawls[first.crawl as usize];
            crawl.begin = Some(first.time);
            crawl.first = values.get(first.value)?.date;
            crawl.last = values.get(last.value)?.date;
        }
    }
    let place = |crawl: &Crawl| asked.iter().position(|&number| number == crawl.number);
    let order = if !asked.is_empty() {
        crawls.retain(|crawl| place(crawl).is_some());
        crawls.sort_by_key(place);
        "--crawl"
    } else if crawls.iter().all(|crawl| crawl.begin.is_some()) {
        crawls.sort_by_key(|crawl| crawl.begin);
        "date"
    } else {
        "inputs"
    };
    let until = at.map_or(u64::MAX, |(_, until)| until);
    if let Some((at, _)) = at {
        crawls.retain(|crawl| crawl.begin.is_some_and(|begin| begin <= until));
        if crawls.is_empty() {
            return refuse("at", at, "no capture is that early");
        }
    }
    let places = crawls.iter().map(|crawl| crawl.number).zip(0..);
    let places: HashMap<u16, u16> = places.collect();
    let mut whole = crawls.len() as u16;
    visits.retain_mut(|it| {
        let place = places.get(&it.crawl);
        it.crawl = place.copied().unwrap_or_default();
        if place.is_some() && it.time > until {
            whole = whole.min(it.crawl);
        }
        place.is_some() && it.time <= until
    });
    visits.sort_unstable_by_key(|it| (it.page, it.crawl, it.time, it.order));
    Ok((order, crawls, whole))
}

/// A capture of a page, or the first crawl without one.
#[derive(Clone, Copy)]
struct Event<'v> {
    crawl: u16,
    /// The last document before.
    before: Option<&'v Visit>,
    capture: Option<&'v Visit>,
    /// Whether the page was there before, and is there no longer.
    is_gone: bool,
    /// Whether the page was gone, and is there again.
    is_back: bool,
}

impl Event<'_> {
    /// Whether a page that was gone is captured without a document again.
    fn is_still_gone(&self) -> bool {
        let left = |it: &Visit| matches!(it.kind, Change::Gone | Change::MovedAway);
        !self.is_gone && self.before.is_some() && self.capture.is_some_and(left)
    }
}

/// The events of a page, if this many crawls have ended: a page that a later one has not captured may
/// still be there.
fn events(page: &[Visit], whole: u16) -> impl Iterator<Item = Event<'_>> {
    let (mut before, mut was_gone) = (None, false);
    page.iter().enumerate().flat_map(move |(n, it)| {
        let left = matches!(it.kind, Change::Gone | Change::MovedAway);
        let captured = Event {
            crawl: it.crawl,
            before,
            capture: Some(it),
            is_gone: left && !was_gone && before.is_some(),
            is_back: was_gone && matches!(it.kind, Change::First | Change::Revisit),
        };
        before = it.document().map(|_| it).or(before);
        was_gone = captured.is_gone || was_gone && !captured.is_back;
        let next = page.get(n + 1).map_or(whole, |next| next.crawl.min(whole));
        let is_gone = next > it.crawl + 1 && !was_gone && before.is_some();
        was_gone |= is_gone;
        let gone = is_gone.then_some(Event {
            crawl: it.crawl + 1,
            before,
            capture: None,
            is_gone,
            is_back: false,
        });
        [Some(captured), gone].into_iter().flatten()
    })
}

/// The order of a capture in the inputs.
type Order = (u32, u32);

/// A class and a crawl.
type Key = (u32, u16);

/// The pages that are new in a crawl, or gone in it.
#[derive(Default)]
struct MovingPages<'v> {
    alike: BTreeMap<Key, Alike<'v>>,
    /// The first document with a class, a crawl and a path.
    same: HashMap<(Key, u64), &'v Visit>,
}

/// The first document of all that have the same words; then the best candidate for the other end of
/// the move: the number of shared shingles, and its document.
type Alike<'v> = (&'v Visit, Option<(u32, &'v Visit)>);

/// Keeps the first of two documents.
fn keep_first<'v>(first: &mut &'v Visit, it: &'v Visit) {
    *first = std::cmp::min_by_key(*first, it, |it| it.order);
}

impl<'v> MovingPages<'v> {
    fn put(&mut self, key: Key, it: &'v Visit) {
        keep_first(&mut self.alike.entry(key).or_insert((it, None)).0, it);
        keep_first(self.same.entry((key, it.path)).or_insert(it), it);
    }

    /// Offers each entry of a class the entry of `others` with the other class in the same crawl. Each
    /// keeps its best offer.
    fn offer<R: Ord>(
        &mut self,
        others: &MovingPages<'v>,
        (of, other): (u32, u32),
        both: u32,
        rank: impl Fn(&(u32, &Visit)) -> R,
    ) {
        for ((_, crawl), (_, best)) in self.alike.range_mut((of, 0)..=(of, u16::MAX)) {
            let found = others.alike.get(&(other, *crawl));
            let found = found.map(|(first, _)| (both, *first));
            *best = best.iter().copied().chain(found).max_by_key(&rank);
        }
    }

    /// The document at the other end of a move: the one in `others` with the same class, crawl and
    /// path, or else the best offer.
    fn other(&self, others: &MovingPages<'v>, key: Key, it: &Visit) -> Option<&'v Visit> {
        let same = others.same.get(&(key, it.path)).copied();
        same.or_else(|| Some(self.alike.get(&key)?.1?.1))
    }
}

/// Whether documents reach a threshold, or may do so if their texts differ from the known ones by
/// these distances. Distances by resemblance add up at most.
fn may_reach(threshold: Threshold, [both, a, b]: [u64; 3], apart: f64) -> bool {
    let score = both as f64 / (a + b - both).max(1) as f64;
    let least = threshold.numerator() as f64 / threshold.denominator() as f64;
    threshold.reached(both, a, b) || apart > 0.0 && score + apart >= least
}

/// Where pages have moved.
#[derive(Default)]
struct Moves<'v> {
    new: MovingPages<'v>,
    gone: MovingPages<'v>,
    /// By the first capture of a new page, the last document of the first page from which the server
    /// leads there.
    led: HashMap<Order, &'v Visit>,
    /// By the crawl in which a page is gone and its last document, the first capture of the page to
    /// which the server leads.
    leads: HashMap<(u16, Order), &'v Visit>,
}

impl<'v> Moves<'v> {
    /// The last document of the page from which a new page has moved.
    fn source(&self, first: &Visit, class: u32) -> Option<&'v Visit> {
        let led = self.led.get(&first.order).copied();
        led.or_else(|| self.new.other(&self.gone, (class, first.crawl), first))
    }

    /// The first capture of the page to which a page with this last document has moved.
    fn target(&self, last: &Visit, key: Key) -> Option<&'v Visit> {
        let led = self.leads.get(&(key.1, last.order)).copied();
        // A page that is new and gone in one crawl is none of those that may have moved.
        let may_move = last.crawl < key.1;
        led.or_else(|| self.gone.other(&self.new, key, last).filter(|_| may_move))
    }
}

impl Captures<'_> {
    /// Finds where the pages have moved. The pages are in the order of their hashes.
    fn moves<'v>(
        &self,
        pages: &[&'v [Visit]],
        whole: u16,
        class: impl Fn(&Visit) -> u32,
    ) -> Result<Moves<'v>> {
        let sizes = sizes_of_pairs(self.workspace)?;
        let mut moves = Moves::default();
        for page in pages {
            let first = &page[0];
            if first.crawl > 0 && first.document().is_some() {
                moves.new.put((class(first), first.crawl), first);
            }
            for event in events(page, whole).filter(|event| event.is_gone) {
                let Some(before) = event.before else {
                    continue;
                };
                // A page that is new and gone in one crawl has not moved to itself.
                if before.crawl < event.crawl {
                    moves.gone.put((class(before), event.crawl), before);
                }
                let Some(target) = self.leads(event, pages)? else {
                    continue;
                };
                moves.leads.insert((event.crawl, before.order), target);
                if target.document().is_some() && target.crawl >= event.crawl.max(1) {
                    keep_first(moves.led.entry(target.order).or_insert(before), before);
                }
            }
        }
        let Moves { new, gone, .. } = &mut moves;
        let classes: Vec<u32> = new.alike.keys().map(|key| key.0).collect();
        let mut alike = |of, other, both| {
            let rank = |&(both, it): &(u32, &Visit)| {
                let sizes = sizes.measured(class(it), of);
                (
                    Ratio::of(Measure::Resemblance, both, sizes),
                    Reverse(it.order),
                )
            };
            new.offer(gone, (of, other), both, rank);
            gone.offer(new, (of, other), both, rank);
        };
        // The same words are as similar as texts can be.
        for of in classes {
            alike(of, of, sizes.own(of));
        }
        let mut passed = 0u64;
        each_measured_pair(self.workspace, List::Pairs, &sizes, |pair, _| {
            passed += 1;
            self.context.tick(STAGE, passed)?;
            alike(pair.a, pair.b, pair.shared);
            alike(pair.b, pair.a, pair.shared);
            Ok(())
        })?;
        Ok(moves)
    }

    /// The first capture of the page to which the server leads from a page that is gone.
    fn leads<'v>(&self, event: Event<'_>, pages: &[&'v [Visit]]) -> Result<Option<&'v Visit>> {
        let Some(capture) = event.capture.filter(|it| it.kind == Change::MovedAway) else {
            return Ok(None);
        };
        let to = self.values.get(capture.value)?.to[0];
        let found = to.and_then(|to| pages.binary_search_by_key(&to, |it| it[0].page).ok());
        Ok(found.map(|at| &pages[at][0]))
    }

    /// The first and the last date at which a crawl captured the page. Errors of the server do not count.
    fn seen(&self, page: &[Visit]) -> Result<[Option<String>; 2]> {
        let is_there = |it: &&Visit| matches!(it.kind, Change::First | Change::Revisit);
        let date = |it: &Visit| Ok(self.values.get(it.value)?.date);
        let ends = [page.iter().find(is_there), page.iter().rfind(is_there)];
        let [first, last] = ends.map(|it| it.map_or(Ok(None), date));
        Ok([first?, last?])
    }

    /// Makes the rows, of which `last` leaves the last one of each page, and counts them.
    fn rows(
        &self,
        mut pages: Vec<&[Visit]>,
        (mapped, last, whole): (u64, bool, u16),
        summary: &mut VersionsSummary,
        mut take: impl FnMut(Version) -> Result<()>,
    ) -> Result<()> {
        let kind = collection::config(&self.workspace.manifest)
            .shingle
            .fingerprint;
        let sets = with_keys!(kind, K => MappedSets::open::<K>(self.workspace, mapped))?;
        let threshold = check_pairs("DIR", self.workspace)?.threshold;
        let representatives = Catalogue::representatives(self.workspace)?;
        let class = |it: &Visit| representatives.of(it.text);
        let moves = self.moves(&pages, whole, class)?;
        pages.sort_unstable_by_key(|page| page[0].order);
        let get = |it: Option<&Visit>| it.map(|it| self.values.get(it.value)).transpose();
        let mut passed = 0u64;
        for page in pages {
            let seen = self.seen(page)?;
            // That a page is gone stays its last version, however often the server says so.
            let mut events = events(page, whole)
                .filter(|event| !last || !event.is_still_gone())
                .peekable();
            while let Some(event) = events.next() {
                let Event { crawl, capture, .. } = event;
                passed += 1;
                self.context.tick(STAGE, passed)?;
                if last && events.peek().is_some() {
                    continue;
                }
                let document = capture.filter(|it| it.document().is_some());
                let source = document.filter(|_| capture == page.first());
                let source = source.and_then(|it| moves.source(it, class(it)));
                let before = event.before.or(source);
                let away = event.before.filter(|_| event.is_gone);
                let away = away.and_then(|it| moves.target(it, (class(it), crawl)));
                let mut captures = [get(before)?, get(capture)?];
                // How far the texts can be from those with which they are compared.
                let apart: f64 = captures.iter().flatten().map(|it| it.apart).sum();
                let classes = before.zip(document).map(|(a, b)| [class(a), class(b)]);
                let shared = classes.map(|[a, b]| sets.shared(a, b)).transpose()?;
                let is_equal = classes.is_some_and(|[a, b]| a == b);
                let is_visited = |it: &Visit| it.kind == Change::Revisit && it.crawl < crawl;
                let is_revisit = capture.is_some_and(|it| it.kind == Change::Revisit);
                let mut kind = match &captures {
                    _ if away.is_some() => Change::MovedAway,
                    _ if event.is_gone => Change::Gone,
                    _ if document.is_none() && is_revisit => Change::Revisit,
                    _ if document.is_none() => Change::Unread,
                    [None, _] if crawl == 0 || page.iter().any(is_visited) => Change::First,
                    [None, _] => Change::New,
                    _ if source.is_some() => Change::Moved,
                    _ if is_equal && apart > 0.0 => Change::Edited,
                    _ if is_equal && is_revisit => Change::Revisit,
                    [Some(a), Some(b)] if a.body == b.body => Change::SameBytes,
                    [Some(a), Some(b)] if is_equal && a.text == b.text => Change::SameText,
                    _ if is_equal => Change::SameWords,
                    _ if shared.is_some_and(|sizes| may_reach(threshold, sizes, apart)) => {
                        Change::Edited
                    }
                    _ => Change::Rewritten,
                };
                if event.is_back {
                    let compared = mem::replace(&mut kind, Change::Returned).text();
                    let note = captures[1].as_mut().map(|of| &mut of.note);
                    if let Some(note) = note.filter(|it| before.is_some() && it.is_empty()) {
                        note.push_str(compared);
                    }
                }
                let of_crawl = &mut summary.crawls[usize::from(crawl)];
                of_crawl.absent += u64::from(capture.is_none() && kind == Change::Gone);
                *of_crawl.kinds.entry(kind.text()).or_default() += 1;
                let name = |crawl: u16| summary.crawls[usize::from(crawl)].name.clone();
                take(Version {
                    kind,
                    // If a text only resembles its document, the shingles that they share were not
                    // counted.
                    shared: shared.filter(|_| apart == 0.0),
                    captures,
                    documents: [before, document].map(|it| it?.document()),
                    crawls: [before.map(|it| name(it.crawl)), Some(name(crawl))],
                    seen: seen.clone(),
                    moved_to: get(away)?.map(|of| of.address),
                })?;
            }
        }
        Ok(())
    }
}
