//! What changed between crawls: the versions of each page, in the order of time.
//!
//! # In and out
//! In: a collection with its pairs, and its inputs, which are read again. Out: a [`Version`] for each
//! capture of a page, compared with the one before it, and one for each time that a page is gone.
//!
//! # Definitions
//! - The directory in which all inputs lie has a folder or a file for each *crawl*. Crawls are in the
//!   order of their earliest captures; if one has no dates, in the order of the inputs.
//! - A *page* is an address ([`crawls::normal`]), or the id of a document in its crawl. Its captures
//!   are in the order (crawl, date, input). A document is compared with the last document before
//!   it, and `revisit` records and records that are no documents are passed over.
//! - A page is *gone* in the first crawl without a capture of it. A page whose first capture is in
//!   that crawl has *moved* from there if its document has the same words, or makes a pair, with the
//!   last document of the page that is gone; the most similar one counts, and then the first.
//!
//! # Algorithm
//! 1. Read the captures from the inputs, aside (`read.rs`).
//! 2. Sort them by page and time. Each page gives its events, and what is new and what is gone in
//!    each crawl.
//! 3. Go through the pairs once, to find what has moved.
//! 4. Sort the events by the first capture of their page, and pass them on. The resemblance is that
//!    of the stored sets.
//!
//! # Cost
//! The inputs are read once more. Memory: [`CAPTURE_BYTES`] for each capture, the mapped sets, a
//! record for each thread, and two sorts.
//!
//! # What is not guaranteed
//! Two addresses with the same hash of 96 bits are one page.

mod crawls;
mod read;

use std::collections::BTreeMap;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use crate::dedup::{check_pairs, sizes};
use crawls::Crawls;
use lookalike_base::budget::ByteSize;
use lookalike_base::error::refuse;
use lookalike_base::ids::{FingerprintKind, Key};
use lookalike_base::keywords::keywords;
use lookalike_base::measure::Measure;
use lookalike_base::memory::MOST_SORT_BYTES;
use lookalike_base::numbers::counted;
use lookalike_base::progress::{Context, Unit};
use lookalike_base::{Error, Result};
use lookalike_engine::collection::{self, Catalogue, MappedSets, each_document};
use lookalike_engine::document::{READER_BYTES, record_bytes};
use lookalike_engine::join::{Pairs, PairsEntry, each_measured_pair};
use lookalike_engine::sample::Sampled;
use lookalike_store::Sort;
use lookalike_store::item::item;
use lookalike_store::table::{Cell, Column, cells, columns};
use lookalike_store::workspace::Workspace;
use lookalike_text::read::date;

pub use read::Capture;
use read::{Captures, Ends, UNDATED};

const STAGE: &str = "versions";

/// Memory of a capture: its place, its representative, its group in a sort, and whether it is new or
/// gone.
const CAPTURE_BYTES: u64 = 80;
/// Readers, writers and the buffers of tables.
const FIXED_BYTES: u64 = 32 << 20;
/// The least memory of the sorts.
const LEAST_SORT_BYTES: u64 = 4 << 20;

keywords! {
    /// What names a page from crawl to crawl.
    pub enum By: "names no page; use" {
        Address = "address",
        Id = "id",
    }
}

keywords! {
    /// What became of a page.
    #[derive(PartialOrd, Ord)]
    pub enum Change {
        /// Its first capture, in the first crawl.
        First = "first",
        SameBytes = "same bytes",
        SameText = "same text",
        SameWords = "same words",
        Revisit = "revisit",
        /// It reaches the threshold.
        Edited = "edited",
        Rewritten = "rewritten",
        New = "new",
        Moved = "moved",
        MovedAway = "moved away",
        Gone = "gone",
        /// The record could not be read as a document.
        Unread = "unread",
    }
}

/// What is asked for.
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
pub const COLUMNS: [Column; 13] = columns! {
    address: Text, kind: Text, resemblance: F64 or "", crawl_a: Text or "", date_a: Text or "",
    docno_a: Text or "", address_a: Text or "", crawl_b: Text, date_b: Text or "",
    docno_b: Text or "", first_seen: Text or "", last_seen: Text or "", note: Text or "",
};

/// A capture of a page and the document before it, or a crawl without the page.
#[derive(Debug)]
pub struct Version<'v> {
    pub kind: Change,
    /// Shared shingles and those of both documents, if both are known.
    pub shared: Option<[u64; 3]>,
    /// The earlier document, with its number.
    pub a: Option<(u32, &'v Capture)>,
    /// The capture; `None` if the page is gone. It has no number if it is no document.
    pub b: Option<(Option<u32>, &'v Capture)>,
    /// The names of their crawls.
    pub crawls: [Option<&'v str>; 2],
    /// The dates of the first and of the last capture of the page.
    pub seen: [Option<&'v str>; 2],
}

impl<'v> Version<'v> {
    /// The address of the page.
    pub fn address(&self) -> &'v str {
        let page = self.b.map(|b| b.1).or(self.a.map(|a| a.1));
        page.map_or("", |page| &page.address)
    }

    /// The resemblance of both documents.
    pub fn resemblance(&self) -> Option<Cell<'static>> {
        let shared = self.shared.filter(|[_, a, b]| a + b > 0)?;
        Some(Cell::Measured(Measure::Resemblance, shared))
    }

    /// The cells of its row.
    pub fn cells(&self) -> [Cell<'v>; COLUMNS.len()] {
        let (a, b) = (self.a.map(|a| a.1), self.b.map(|b| b.1));
        let date = |of: Option<&'v Capture>| of.and_then(|of| of.date.as_deref());
        let docno = |of: Option<&'v Capture>| of.map(|of| &of.docno);
        cells! {
            self.address(), self.kind.text(), self.resemblance(), self.crawls[0], date(a), docno(a),
            a.map(|a| &a.address), self.crawls[1].unwrap_or_default(), date(b), docno(b),
            self.seen[0], self.seen[1], b.map(|b| &b.note).filter(|note| !note.is_empty()),
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
}

/// Counts of the versions.
#[derive(Clone, Debug, Serialize)]
pub struct VersionsSummary {
    pub by: By,
    /// By what the crawls are ordered: `date`, `inputs` or `--crawl`.
    pub order: &'static str,
    /// In their order.
    pub crawls: Vec<Crawl>,
    /// Pages with a document.
    pub pages: u64,
    /// Addresses of which no capture could be read as a document: images, errors of a server.
    pub without_document: u64,
    /// Documents without an address.
    pub without_address: u64,
}

item! {
    /// A capture by its page.
    struct OfPage {
        page: u64,
        more: u32,
        /// The place of the crawl and the time.
        when: u64,
        capture: u32,
    }
}

item! {
    /// An event of a page.
    struct Event {
        /// The first capture of the page.
        page: u32,
        at: u32,
        /// [`NONE`] if the page is gone.
        capture: u32,
        before: u32,
        last: u32,
        /// The place of the crawl and the kind.
        what: u32,
    }
}

const NONE: u32 = u32::MAX;

/// [`Key::shared_le`].
type SharedKeys = fn(&[u8], &[u8], u64) -> Option<u64>;

/// A document with its representative that is new or gone in a crawl: (representative, crawl,
/// document).
type Moving = (u32, u32, u32);

/// Finds the versions, and passes each to `take`, page by page.
///
/// # Errors
/// `BadParameter` if the directory does not list all pairs, or nothing has an address;
/// `InputChanged` if an input is gone.
pub fn versions(
    workspace: &Workspace,
    config: &VersionsConfig,
    mut take: impl FnMut(&Version<'_>) -> Result<()>,
    context: &Context<'_>,
) -> Result<VersionsSummary> {
    let criterion = check_pairs(workspace)?;
    let listed = !workspace.matches::<PairsEntry>(|pairs| pairs.config.pairs == Pairs::None);
    if criterion.measure != Measure::Resemblance || !listed {
        let limit = "its pairs by resemblance are not listed; find them: `lookalike run --from DIR \
                     --score resemblance --pairs all`";
        return refuse("DIR", workspace.directory().display(), limit);
    }
    if collection::config(&workspace.manifest).condition.is_some() {
        let limit = "its pairs have a condition (--where), and so would what moved; run again into \
                     a directory without one";
        return refuse("DIR", workspace.directory().display(), limit);
    }
    let until = config.at.as_deref().map(until).transpose()?;
    let (crawls, inputs) = Crawls::of(workspace, config)?;
    let (mut documents, mut addresses) = (0u64, 0);
    each_document(workspace, |_, document| {
        documents += 1;
        addresses += u64::from(document.url.is_some());
        Ok(())
    })?;
    let by = config
        .by
        .unwrap_or(if addresses > 0 { By::Address } else { By::Id });
    if by == By::Address && addresses == 0 {
        let limit = "no document has an address; use id, or name the field of the address when you \
                     run: --url-field";
        return refuse("by", by, limit);
    }
    let segments = collection::segments(&workspace.manifest).iter();
    let others = segments.flat_map(|segment| {
        let revisits = segment.stats.skipped.get("revisit");
        revisits.into_iter().chain(segment.stats.rejected.values())
    });
    let all = documents + others.sum::<u64>();
    if all >= NONE.into() {
        return Err(Error::too_many("captures", all, NONE.into()));
    }
    let extent = Catalogue::extent(workspace)?;
    let used = FIXED_BYTES
        + all * CAPTURE_BYTES
        + MappedSets::bytes(extent)
        + Sampled::bytes_for(criterion.measure, 1, extent);
    let least = record_bytes(workspace) + READER_BYTES + LEAST_SORT_BYTES;
    let what = || {
        format!(
            "comparing the versions of {}",
            counted(documents, "document")
        )
    };
    let spare = context.budget.rest(used, least, what)?;
    let scratch = workspace.scratch(context)?;
    let sorting = ByteSize((spare / 4).clamp(1 << 20, MOST_SORT_BYTES));
    let place = (scratch.path(), spare);
    let captures = Captures::read(workspace, &inputs, (by, &crawls), documents, place, context)?;

    // By crawl, its place in the order of time.
    let dates = captures
        .dates
        .iter()
        .map(|dates| lookalike_base::threads::lock(dates).clone());
    let dates: Vec<Option<Ends>> = dates.collect();
    let mut order: Vec<usize> = (0..crawls.names.len()).collect();
    let by_date = dates.iter().all(Option::is_some);
    let named = |crawl: &usize| {
        config
            .crawls
            .iter()
            .position(|name| *name == crawls.names[*crawl])
    };
    if !config.crawls.is_empty() {
        order.retain(|crawl| named(crawl).is_some());
        order.sort_by_key(named);
    } else if by_date {
        order.sort_by_key(|&crawl| dates[crawl].as_ref().map(|[first, _]| first.0));
    }
    if let Some(until) = until {
        let begun = |crawl: &usize| {
            dates[*crawl]
                .as_ref()
                .is_some_and(|[first, _]| first.0 <= until)
        };
        order.retain(begun);
        if order.is_empty() {
            return refuse(
                "at",
                config.at.as_deref().unwrap_or_default(),
                "no capture is that early",
            );
        }
    }
    let mut places = vec![None; crawls.names.len()];
    order
        .iter()
        .zip(0u64..)
        .for_each(|(&crawl, place)| places[crawl] = Some(place));
    let last_crawl = order.len().saturating_sub(1) as u32;
    let mut summary = VersionsSummary {
        by,
        order: match () {
            () if !config.crawls.is_empty() => "--crawl",
            () if by_date => "date",
            () => "inputs",
        },
        crawls: Vec::new(),
        pages: 0,
        without_document: 0,
        without_address: 0,
    };
    for &crawl in &order {
        let [first, last] = dates[crawl]
            .clone()
            .map_or([None, None], |ends| ends.map(|end| Some(end.1)));
        let name = crawls.names[crawl].clone();
        summary.crawls.push(Crawl {
            name,
            first,
            last,
            kinds: BTreeMap::new(),
        });
    }

    let mut sort = Sort::scratch(&scratch.path().join("pages"), sorting)?;
    for number in 0..captures.count() {
        context.tick(STAGE, number)?;
        let Some(capture) = captures.get(number)? else {
            summary.without_address += u64::from(u64::from(number) < documents);
            continue;
        };
        let (Some(place), time) = (places[capture.crawl as usize], capture.time()) else {
            continue;
        };
        if until.is_none_or(|until| time <= until) {
            let page = match by {
                By::Address => xxh3_128(&crawls::normal(&capture.address)),
                By::Id => xxh3_128(capture.address.as_bytes()),
            };
            let (page, more) = ((page >> 64) as u64, page as u32);
            sort.push(OfPage {
                page,
                more,
                when: place << 52 | time,
                capture: number,
            })?;
        }
    }
    let mut first_of = Vec::with_capacity(documents as usize);
    Catalogue::each_representative(workspace, |_, first| {
        first_of.push(first);
        Ok(())
    })?;
    let mut events = Sort::scratch(&scratch.path().join("events"), sorting)?;
    let (mut new, mut gone): (Vec<Moving>, Vec<Moving>) = Default::default();
    let mut group: Vec<(u32, u32)> = Vec::new();
    let mut passed = 0u64;
    context.start(
        STAGE,
        Unit::Count("captures"),
        Some(captures.count().into()),
    );
    sort.finish()?.groups(
        |of| (of.page, of.more),
        |_, all| {
            group.clear();
            while let Some(of) = all.next()? {
                passed += 1;
                context.tick(STAGE, passed)?;
                group.push(((of.when >> 52) as u32, of.capture));
            }
            let is_document = |capture: u32| u64::from(capture) < documents;
            if !group.iter().any(|&(_, capture)| is_document(capture)) {
                summary.without_document += 1;
                return Ok(());
            }
            summary.pages += 1;
            let (page, last) = (group[0].1, group[group.len() - 1].1);
            let mut at = 0;
            let mut put = |place: u32, kind: Change, capture, before: Option<u32>, ends: bool| {
                at += 1;
                let (before, what) = (before.unwrap_or(NONE), place << 8 | kind as u32);
                match until.is_none() || ends {
                    true => events.push(Event {
                        page,
                        at,
                        capture,
                        before,
                        last,
                        what,
                    }),
                    false => Ok(()),
                }
            };
            let mut before: Option<(u32, Capture)> = None;
            for (n, &(place, number)) in group.iter().enumerate() {
                let next = group.get(n + 1).map(|next| next.0);
                let left = next.map_or(place < last_crawl, |next| next > place + 1);
                let ends = next.is_none();
                let Some(capture) = captures.get(number)? else {
                    continue;
                };
                let known = before.as_ref().map(|before| before.0);
                let kind = match &before {
                    _ if !is_document(number) => Change::ALL[capture.is],
                    None if place == 0 => Change::First,
                    // Its source is to be found.
                    None if n == 0 => Change::Moved,
                    None => Change::New,
                    Some((earlier, as_it_was)) => {
                        let equal = first_of[*earlier as usize] == first_of[number as usize];
                        match () {
                            () if as_it_was.body == capture.body => Change::SameBytes,
                            () if !equal => Change::Edited,
                            () if as_it_was.text == capture.text => Change::SameText,
                            () => Change::SameWords,
                        }
                    }
                };
                if kind == Change::Moved {
                    new.push((first_of[number as usize], place, number));
                }
                put(place, kind, number, known, ends && !left)?;
                if is_document(number) {
                    before = Some((number, capture));
                }
                if left && let Some((document, _)) = before {
                    gone.push((first_of[document as usize], place + 1, document));
                    put(place + 1, Change::Gone, NONE, Some(document), ends)?;
                }
            }
            Ok(())
        },
    )?;

    let sizes = sizes(workspace)?;
    let moves = Moves::find(workspace, new, gone, &sizes, context)?;
    let kind = collection::config(&workspace.manifest).shingle.fingerprint;
    let mapped = spare / 4;
    let (sets, shared_le): (_, SharedKeys) = match kind {
        FingerprintKind::Xxh3 => (MappedSets::open::<u64>(workspace, mapped)?, u64::shared_le),
        FingerprintKind::Md5 => (
            MappedSets::open::<u128>(workspace, mapped)?,
            u128::shared_le,
        ),
    };
    let mut passed = 0u64;
    events.finish()?.for_each(|event| {
        passed += 1;
        context.tick(STAGE, passed)?;
        let place = event.what >> 8;
        let mut kind = Change::ALL[(event.what & 0xff) as usize];
        let document = Some(event.capture).filter(|&capture| u64::from(capture) < documents);
        let mut before = Some(event.before).filter(|&before| before != NONE);
        let mut shared = None;
        if let (Change::Moved, Some(document)) = (kind, document) {
            match moves.source(first_of[document as usize], place) {
                Some((source, of_both)) => (before, shared) = (Some(source), Some(of_both)),
                None => kind = Change::New,
            }
        } else if let (Some(document), Some(earlier)) = (document, before) {
            let [a, b] = [earlier, document].map(|document| first_of[document as usize]);
            let (of_a, of_b) = sizes.measured(a, b);
            let looking = sets.look();
            let of_both = match a == b {
                true => of_a.into(),
                false => shared_le(looking.get(a)?, looking.get(b)?, 0).unwrap_or(0),
            };
            shared = Some([of_both, of_a.into(), of_b.into()]);
            if kind == Change::Edited && !criterion.reached(of_both, of_a.into(), of_b.into()) {
                kind = Change::Rewritten;
            }
        } else if kind == Change::Gone
            && before.is_some_and(|of| moves.sources.binary_search(&(of, place)).is_ok())
        {
            kind = Change::MovedAway;
        }
        let get = |number: Option<u32>| number.map_or(Ok(None), |number| captures.get(number));
        let [a, b] = [
            get(before)?,
            get(Some(event.capture).filter(|&of| of != NONE))?,
        ];
        let [first, last] = [captures.get(event.page)?, captures.get(event.last)?];
        let seen = |of: &'_ Option<Capture>| of.as_ref().and_then(|of| of.date.clone());
        let seen = [seen(&first), seen(&last)];
        let name = |of: &Capture| crawls.names[of.crawl as usize].as_str();
        *summary.crawls[place as usize]
            .kinds
            .entry(kind.text())
            .or_default() += 1;
        take(&Version {
            kind,
            shared,
            a: a.as_ref().and_then(|a| Some((before?, a))),
            b: b.as_ref().map(|b| (document, b)),
            crawls: [
                a.as_ref().map(name),
                Some(&crawls.names[order[place as usize]]),
            ],
            seen: seen.each_ref().map(Option::as_deref),
        })
    })?;
    context
        .progress
        .end(&format!("{STAGE}: {}", counted(summary.pages, "page")));
    Ok(summary)
}

/// The last time of a date, or of a day.
fn until(text: &str) -> Result<u64> {
    const DAY: u64 = 86_400_000;
    match date(text).map(|found| found / 10_000) {
        Some(begin) if text.len() == "2004-01-31".len() => Ok(begin + DAY - 1),
        Some(time) if text.len() > "2004-01-31".len() => Ok(time.min(UNDATED - 1)),
        _ => refuse(
            "at",
            text,
            "not a date; write it as 2024-01-31 or 2024-01-31T12:00:00Z",
        ),
    }
}

/// From where the new pages of each crawl have come.
struct Moves {
    /// In rising order, and for each the document that is gone, with what both share.
    new: Vec<(u32, u32)>,
    found: Vec<Option<(u32, [u64; 3])>>,
    /// The documents of pages that moved away, with the crawl.
    sources: Vec<(u32, u32)>,
}

impl Moves {
    fn find(
        workspace: &Workspace,
        new: Vec<Moving>,
        mut gone: Vec<Moving>,
        sizes: &Sampled,
        context: &Context<'_>,
    ) -> Result<Moves> {
        let mut new: Vec<(u32, u32)> = new.into_iter().map(|(of, crawl, _)| (of, crawl)).collect();
        new.sort_unstable();
        new.dedup();
        gone.sort_unstable();
        gone.dedup_by_key(|(of, crawl, _)| (*of, *crawl));
        let source = |of: u32, crawl: u32| {
            let at = gone.binary_search_by_key(&(of, crawl), |(of, crawl, _)| (*of, *crawl));
            at.ok().map(|at| gone[at].2)
        };
        // The same words are more similar than any pair.
        let found = new.iter().map(|&(of, crawl)| {
            let size = sizes.measured(of, of).0.into();
            source(of, crawl).map(|document| (document, [size; 3]))
        });
        let mut found: Vec<_> = found.collect();
        let mut passed = 0u64;
        each_measured_pair(workspace, sizes, |pair, (a, b)| {
            passed += 1;
            context.tick(STAGE, passed)?;
            for (of, other, sizes) in [(pair.a, pair.b, [a, b]), (pair.b, pair.a, [b, a])] {
                let from = new.partition_point(|new| *new < (of, 0));
                let same = new[from..].iter().zip(&mut found[from..]);
                for (&(_, crawl), best) in same.take_while(|(new, _)| new.0 == of) {
                    let Some(document) = source(other, crawl) else {
                        continue;
                    };
                    let [size, of_source] = sizes.map(u64::from);
                    let found = (document, [pair.shared.into(), of_source, size]);
                    if best.as_ref().is_none_or(|best| is_better(&found, best)) {
                        *best = Some(found);
                    }
                }
            }
            Ok(())
        })?;
        let sources = new.iter().zip(&found);
        let sources = sources.filter_map(|(&(_, crawl), found)| Some(((*found)?.0, crawl)));
        let mut sources: Vec<(u32, u32)> = sources.collect();
        sources.sort_unstable();
        Ok(Moves {
            new,
            found,
            sources,
        })
    }

    fn source(&self, of: u32, crawl: u32) -> Option<(u32, [u64; 3])> {
        self.found[self.new.binary_search(&(of, crawl)).ok()?]
    }
}

/// Whether a source is more similar than another one, or as similar and before it.
fn is_better((document, [shared, a, b]): &(u32, [u64; 3]), best: &(u32, [u64; 3])) -> bool {
    let (other, [best_shared, best_a, best_b]) = best;
    let [this, that] = [
        u128::from(*shared) * u128::from(best_a + best_b - best_shared),
        u128::from(*best_shared) * u128::from(a + b - shared),
    ];
    this > that || this == that && document < other
}
