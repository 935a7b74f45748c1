//! The corpus streams past the items.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use super::grams::{Finder, Grams, PLACES_BYTES};
use super::items::{Item, TestSets};
use super::listed::{Dropped, Entry, Listed, Rows, Spill, share};
use super::runs::{ByClass, Run};
use super::shown;
use super::stats::{CorpusReport, ShownTexts, ShownWindow};
use super::{ContaminationConfig, REJECTS_FILE, STAGE};
use lookalike_base::{Budget, Context, Result, counted, lock};
use lookalike_engine::cluster::reject_line;
use lookalike_engine::collection::Captured;
use lookalike_engine::scan::{Place, Scan, Scanned};
use lookalike_text::parse::{Parser, SpanFinder};
use lookalike_text::read::{InputFile, Interpreted, RawDocument, Reject, warnings};

/// Buffers of the files that are written.
const FIXED_BYTES: u64 = 24 << 20;
/// Memory of a thread for each token of the test sets: the classes that a document has, and its
/// items, while these lists grow.
const TOKEN_BYTES: u64 = 3 * (4 + 4);
/// Rows are put into a file when they have this number of bytes.
const ROWS_BYTES: usize = 256 << 10;

/// Memory for the places of a document's n-grams, and its texts for a page.
fn places_bytes(config: &ContaminationConfig) -> u64 {
    let shown = (shown::OF_DOCUMENT * shown::MOST_BYTES) as u64;
    let shown = if config.page.is_some() { shown } else { 0 };
    config.output.as_ref().map_or(0, |_| PLACES_BYTES + shown)
}

/// The least memory in addition to the items: a fixed part, and for each token of the test sets.
pub(super) fn least(config: &ContaminationConfig, inputs: usize) -> (u64, u64) {
    let fixed = FIXED_BYTES + Scan::least(&config.read, inputs) + places_bytes(config);
    (fixed, TOKEN_BYTES)
}

/// Counts the documents that contain parts of an item.
#[derive(Default)]
pub(super) struct OfItem {
    /// Documents that share a run.
    pub documents: AtomicU64,
    /// The most tokens that one of them covers.
    pub best: AtomicU32,
}

/// A number of remarks, and the first one, by its place.
type Said = (u64, Option<(Place, String)>);

/// The state that all threads share.
pub(super) struct Search<'a> {
    pub inputs: &'a [InputFile],
    pub config: &'a ContaminationConfig,
    pub sets: &'a TestSets,
    grams: &'a Grams,
    pub(super) scan: Scan<'a>,
    /// One bit for each token of the test sets: a document covers it.
    covered: Vec<AtomicU64>,
    pub items: Vec<OfItem>,
    spill: Option<&'a Spill>,
    pub(super) listed: Mutex<Listed>,
    /// The memory for listed documents beyond the first ones of each item, within the budget.
    room: u64,
    budget: Budget,
    /// Of rejects, and of warnings about documents.
    said: [Mutex<Said>; 2],
    /// Whether documents with items are captures.
    pub(super) captures: AtomicBool,
}

/// A document that was found.
struct Hit {
    item: u32,
    covered: u32,
}

/// The state of a thread.
struct Worker<'a> {
    /// The stretch of the corpus to which the rows belong.
    stretch: u32,
    parser: Parser,
    finder: Finder<'a>,
    report: CorpusReport,
    items: Vec<u32>,
    hits: Vec<Hit>,
    /// The capture that the document is.
    captured: Captured,
    rows: Rows,
    /// The bytes of these rows.
    bytes: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        inputs: &'a [InputFile],
        sets: &'a TestSets,
        grams: &'a Grams,
        config: &'a ContaminationConfig,
        spill: Option<&'a Spill>,
        context: &'a Context<'a>,
    ) -> Result<Search<'a>> {
        let tokens = sets.tokens() as u64;
        let places = places_bytes(config);
        let used = FIXED_BYTES + places + sets.bytes;
        let least = used + Scan::least(&config.read, inputs.len());
        // More documents may be listed than there are. They get at most half of the remaining
        // memory.
        let most = Listed::of_others(sets.items.iter().map(|_| u64::MAX), config.most);
        let room = spill.map_or(0, |_| {
            (context.budget.without(least).memory.0 / 2).min(most)
        });
        let memory = [used + room, places + tokens * TOKEN_BYTES];
        let what = || format!("looking for {}", sets.what());
        Ok(Search {
            inputs,
            config,
            sets,
            grams,
            scan: Scan::new(STAGE, inputs, &config.read, memory, what, context)?,
            covered: (0..sets.tokens().div_ceil(64))
                .map(|_| AtomicU64::new(0))
                .collect(),
            items: sets.items.iter().map(|_| OfItem::default()).collect(),
            spill,
            listed: Mutex::new(Listed::new(sets.items.len(), config.most, room)),
            room,
            budget: context.budget,
            said: <[Mutex<Said>; 2]>::default(),
            captures: AtomicBool::default(),
        })
    }

    /// Reads the corpus.
    pub(super) fn run(&self) -> Result<CorpusReport> {
        let mut report = CorpusReport {
            files: self.inputs.len() as u64,
            ..CorpusReport::default()
        };
        let start = || Worker {
            stretch: 0,
            parser: Parser::new(&self.config.parse),
            finder: Finder::new(self.grams, self.sets, self.spill.is_some()),
            report: CorpusReport::default(),
            items: Vec::new(),
            hits: Vec::new(),
            captured: Captured::default(),
            rows: Rows::default(),
            bytes: 0,
        };
        let each =
            |worker: &mut Worker<'_>, place: Place, found: Interpreted<'_>, of: Scanned<'_>| {
                if worker.bytes >= ROWS_BYTES || worker.stretch != place.stretch {
                    self.write_rows(worker)?;
                    worker.stretch = place.stretch;
                }
                worker.report.records += 1;
                match found {
                    Interpreted::Skipped(kind) => {
                        *worker.report.skipped.entry(kind).or_default() += 1;
                    }
                    Interpreted::Rejected(reject) => {
                        let reason = reject.reason.text();
                        *worker.report.rejected.entry(reason).or_default() += 1;
                        self.say(&reject, false, place, worker);
                    }
                    Interpreted::Document(document) => {
                        self.document(&document, (place, of), worker)?;
                        if of.large {
                            worker.parser.shrink();
                        }
                    }
                }
                Ok(())
            };
        self.scan.run(start, each, |mut worker| {
            self.write_rows(&mut worker)?;
            report.add(worker.report);
            Ok(())
        })?;
        Ok(report)
    }

    /// Refuses a budget in which not all documents could be listed that are to be listed.
    pub(super) fn check_listed(&self) -> Result<()> {
        let documents = (self.items.iter()).map(|of| of.documents.load(Ordering::Relaxed));
        let needed = Listed::of_others(documents, self.config.most);
        let most = self.config.most;
        let what = || {
            format!(
                "{} with up to {most} documents each (--most)",
                self.sets.what()
            )
        };
        match self.spill {
            Some(_) => self.budget.require_share(2 * self.room, 2 * needed, what),
            None => Ok(()),
        }
    }

    /// The first record that was rejected, in a line.
    pub(super) fn first_reject(&self) -> Option<String> {
        let (_, first) = &*lock(&self.said[0]);
        first.as_ref().map(|(_, line)| line.clone())
    }

    /// A line for the warnings that no file lists.
    pub(super) fn unlisted(&self) -> Option<String> {
        let (count, first) = &*lock(&self.said[1]);
        let (_, first) = first.as_ref().filter(|_| self.spill.is_none())?;
        Some(format!(
            "warning: the corpus: {}; the first: {}; with -o, {REJECTS_FILE} lists them",
            counted(*count, "warning"),
            first.trim_end()
        ))
    }

    /// The tokens of an item that some document covers.
    pub(super) fn covered(&self, item: &Item) -> u32 {
        let bit = |token: usize| {
            let word = self.covered.get(token / 64);
            word.map_or(0, |word| word.load(Ordering::Relaxed) >> (token % 64) & 1) as u32
        };
        let tokens = item
            .fields(self.sets)
            .flat_map(|field| field.tokens.clone());
        tokens.map(bit).sum()
    }

    /// Lists a record that was rejected, or a warning about a record that was `used`.
    fn say(&self, reject: &Reject, used: bool, place: Place, worker: &mut Worker<'_>) {
        let path = self.inputs[place.file as usize].path.to_string_lossy();
        if self.spill.is_some() {
            let line = reject_line(&path, reject, used);
            worker.bytes += line.len();
            worker.rows.rejects += &line;
        }
        let (count, first) = &mut *lock(&self.said[usize::from(used)]);
        *count += 1;
        if first.as_ref().is_none_or(|(other, _)| place < *other) {
            *first = Some((place, reject.line(&path)));
        }
    }

    /// The file of a listed document, and the number of its record there.
    pub(super) fn place(&self, entry: &Entry, before: &[u64]) -> (&str, u64) {
        let Place {
            file,
            stretch,
            record,
            ..
        } = entry.place;
        let file = &self.inputs[file as usize].docno;
        (file, before[stretch as usize] + record)
    }

    fn document(
        &self,
        document: &RawDocument<'_>,
        place: (Place, Scanned<'_>),
        worker: &mut Worker<'_>,
    ) -> Result<()> {
        let (place, read) = place;
        worker.finder.clear();
        let facts = worker.parser.parse(document, &mut worker.finder);
        for warning in warnings(document, facts.words, facts.notices) {
            self.say(&warning, true, place, worker);
        }
        worker.report.documents += 1;
        worker.report.tokens += facts.words;
        if worker.finder.classes.is_empty() {
            return Ok(());
        }
        worker.report.found += 1;
        let date = read.record.kind.capture_date(read.bytes);
        let url = document.url.as_deref().filter(|_| date.is_some());
        let url = url.map(String::from);
        self.captures.fetch_or(date.is_some(), Ordering::Relaxed);
        worker.captured = Captured { url, date };
        let (items, finder) = (&mut worker.items, &worker.finder);
        items.clear();
        for &class in &finder.classes {
            items.extend_from_slice(self.grams.items(class));
        }
        items.sort_unstable();
        items.dedup();
        worker.hits.clear();
        for &item in worker.items.iter() {
            let covered = self.cover(&self.sets.items[item as usize], &worker.finder);
            let of = &self.items[item as usize];
            of.documents.fetch_add(1, Ordering::Relaxed);
            of.best.fetch_max(covered, Ordering::Relaxed);
            worker.hits.push(Hit { item, covered });
        }
        self.mark_to_drop(document, place, worker);
        match self.spill {
            Some(spill) => self.list(document, (place, facts.words), spill, worker),
            None => Ok(()),
        }
    }

    /// Marks the tokens of an item that a document covers, and returns their number.
    fn cover(&self, item: &Item, finder: &Finder<'_>) -> u32 {
        let mut covered = 0;
        for field in item.fields(self.sets) {
            let mut end = field.tokens.start;
            for token in field.tokens.clone() {
                let Some(class) = self.grams.class_at(token) else {
                    break;
                };
                if !finder.has.contains(class) {
                    continue;
                }
                let begin = token.max(end);
                end = token + self.grams.length(class);
                covered += (end - begin) as u32;
                self.mark(begin..end);
            }
        }
        covered
    }

    /// Marks tokens of the test sets as covered.
    fn mark(&self, tokens: Range<usize>) {
        for token in tokens {
            if let Some(word) = self.covered.get(token / 64) {
                let bit = 1 << (token % 64);
                if word.load(Ordering::Relaxed) & bit == 0 {
                    word.fetch_or(bit, Ordering::Relaxed);
                }
            }
        }
    }

    /// Lists the document if it is to be dropped, with the item that it covers most.
    fn mark_to_drop(&self, document: &RawDocument<'_>, place: Place, worker: &mut Worker<'_>) {
        let tokens = |hit: &Hit| u64::from(self.sets.items[hit.item as usize].tokens);
        let product = |a: &Hit, b: &Hit| u64::from(a.covered) * tokens(b);
        // `max_by` returns the last maximum, so the hits are reversed: the first of several items with
        // the same share counts.
        let hits = worker.hits.iter().rev();
        let best = hits.max_by(|a, b| product(a, b).cmp(&product(b, a)));
        let Some(best) = best else { return };
        let (covered, of) = (u64::from(best.covered), tokens(best));
        if !self.config.drop_at.reached(covered, of, covered) {
            return;
        }
        worker.report.to_drop += 1;
        if self.spill.is_none() {
            return;
        }
        let url = worker.captured.url.as_ref().map_or(0, String::len);
        worker.bytes += size_of::<Dropped>() + document.docno.len() + url;
        worker.rows.dropped.push(Dropped {
            file: place.file,
            record: place.record,
            docno: document.docno.to_string(),
            captured: worker.captured.clone(),
            item: best.item,
            covered: best.covered,
        });
    }

    /// Lists the document with each item for which it is among the first.
    fn list(
        &self,
        document: &RawDocument<'_>,
        (place, words): (Place, u64),
        spill: &Spill,
        worker: &mut Worker<'_>,
    ) -> Result<()> {
        {
            let listed = lock(&self.listed);
            worker
                .hits
                .retain(|hit| listed.takes(hit.item, hit.covered, place));
        }
        if worker.hits.is_empty() {
            return Ok(());
        }
        let places = ByClass::new(&worker.finder);
        let runs: Vec<(Vec<Run<'_>>, bool)> = (worker.hits.iter())
            .map(|hit| places.runs(self.sets, self.grams, &self.sets.items[hit.item as usize]))
            .collect();
        drop(places);
        let mut shown: Vec<_> = (runs.iter().filter(|_| self.config.page.is_some()))
            .map(|(runs, _)| shown::windows(runs, words as usize))
            .collect();
        let mut room = shown::OF_DOCUMENT;
        for (windows, more) in &mut shown {
            *more += windows.len().saturating_sub(room);
            windows.truncate(room);
            room -= windows.len();
        }
        let of_runs = runs.iter().flat_map(|(runs, _)| runs);
        let of_runs = of_runs.map(|run| run.document..run.document + run.tokens);
        let windows = shown.iter().flat_map(|(windows, _)| windows);
        let windows = windows.map(|window| window.document.clone());
        let parser = &mut worker.parser;
        let bytes = Bytes::find(
            document,
            parser,
            self.config,
            of_runs.chain(windows.clone()),
        );
        let ranges: Vec<_> = windows.map(|tokens| bytes.span(&tokens)).collect();
        let mut texts = match ranges.is_empty() {
            true => Vec::new(),
            false => shown::texts_of(document, parser, &ranges),
        }
        .into_iter();
        let mut shown = shown.into_iter();
        for (hit, (runs, all)) in worker.hits.iter().zip(&runs) {
            let names = (&*document.docno, &worker.captured);
            let text = self.fragment(names, hit, runs, *all, &bytes);
            let shown = shown.next().map(|(windows, more)| {
                let windows = windows.iter().zip(&mut texts).map(|(window, text)| {
                    let item = self.sets.span(window.item.clone());
                    ShownWindow {
                        field: self.sets.names[window.field.name].clone(),
                        texts: [shown::part(&window.field.text, item), text],
                    }
                });
                ShownTexts {
                    docno: document.docno.to_string(),
                    url: document.url.as_deref().map(String::from),
                    date: worker.captured.date.clone(),
                    windows: windows.collect(),
                    more,
                }
            });
            let mut listed = lock(&self.listed);
            if listed.takes(hit.item, hit.covered, place) {
                let at = spill.texts.put(&(text, shown))?;
                listed.insert(hit.item, hit.covered, place, at);
            }
        }
        Ok(())
    }

    /// Writes the line of a document and an item, after the place of the document.
    fn fragment(
        &self,
        names: (&str, &Captured),
        hit: &Hit,
        runs: &[Run<'_>],
        all: bool,
        bytes: &Bytes,
    ) -> String {
        use std::fmt::Write;
        let json = |text: &str| serde_json::Value::from(text).to_string();
        let tokens = self.sets.items[hit.item as usize].tokens;
        let (docno, Captured { url, date }) = names;
        let mut text = format!("\"docno\":{},", json(docno));
        for (name, fact) in [("url", url), ("date", date)] {
            let fact = fact.as_ref().map(|fact| json(fact));
            text.extend(fact.map(|fact| format!("\"{name}\":{fact},")));
        }
        let _ = write!(
            text,
            "\"covered\":{},\"share\":{},\"runs\":[",
            hit.covered,
            share(hit.covered, tokens).json(),
        );
        for (n, run) in runs.iter().enumerate() {
            let item = self.sets.span(run.item..run.item + run.tokens);
            let in_document = bytes.span(&(run.document..run.document + run.tokens));
            let _ = write!(
                text,
                "{}{{\"field\":{},\"tokens\":{},\"item_token\":{},\"item_bytes\":[{},{}],\
                 \"document_token\":{},\"document_bytes\":[{},{}]}}",
                if n > 0 { "," } else { "" },
                json(&self.sets.names[run.field.name]),
                run.tokens,
                run.item - run.field.tokens.start,
                item.start,
                item.end,
                run.document,
                in_document.start,
                in_document.end,
            );
        }
        let _ = write!(text, "],\"all_runs\":{all}}}");
        text
    }

    /// Puts the rows of a stretch into a file.
    fn write_rows(&self, worker: &mut Worker<'_>) -> Result<()> {
        if let Some(spill) = self.spill.filter(|_| worker.bytes > 0) {
            let place = spill.rows.put(&std::mem::take(&mut worker.rows))?;
            lock(&spill.places).push((worker.stretch, place));
            worker.bytes = 0;
        }
        Ok(())
    }
}

/// Where the tokens at the ends of runs are in the text of a document.
struct Bytes {
    /// Token, first byte, end.
    tokens: Vec<(usize, usize, usize)>,
}

impl Bytes {
    /// Reads the document again.
    fn find(
        document: &RawDocument<'_>,
        parser: &mut Parser,
        config: &ContaminationConfig,
        ranges: impl Iterator<Item = Range<usize>>,
    ) -> Bytes {
        let mut tokens: Vec<_> = ranges
            .flat_map(|tokens| [tokens.start, tokens.end - 1])
            .map(|token| (token, 0, 0))
            .collect();
        tokens.sort_unstable();
        tokens.dedup();
        let mut wanted = tokens.iter_mut().peekable();
        let mut token = 0;
        let done = Cell::new(false);
        let mut act = |span: Range<usize>, _| {
            if let Some(found) = wanted.next_if(|(wanted, ..)| *wanted == token) {
                (found.1, found.2) = (span.start, span.end);
                done.set(wanted.peek().is_none());
            }
            token += 1;
        };
        let mut finder = SpanFinder::new(&config.parse);
        parser.as_read_in_pieces(document, &mut |piece| {
            if !done.get() {
                finder.push(piece, &mut act);
            }
        });
        finder.finish(&mut act);
        Bytes { tokens }
    }

    fn span(&self, tokens: &Range<usize>) -> Range<usize> {
        let of = |token: usize| {
            let at = self.tokens.binary_search_by_key(&token, |found| found.0);
            at.map_or((0, 0), |at| (self.tokens[at].1, self.tokens[at].2))
        };
        of(tokens.start).0..of(tokens.end - 1).1
    }
}

impl CorpusReport {
    fn add(&mut self, other: CorpusReport) {
        let sum = |counts: &mut BTreeMap<&'static str, u64>, more: BTreeMap<&'static str, u64>| {
            for (reason, n) in more {
                *counts.entry(reason).or_default() += n;
            }
        };
        lookalike_base::add!(self, other => records, documents, tokens, found, to_drop);
        sum(&mut self.rejected, other.rejected);
        sum(&mut self.skipped, other.skipped);
    }
}
