//! The corpus streams past the items.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::grams::{Finder, Grams, PLACES_BYTES};
use super::items::{Item, TestSets};
use super::listed::{DROP_FILE, DocumentPlace, Dropped, Listed, Spill, share};
use super::runs::{ByClass, Run};
use super::stats::CorpusReport;
use super::{ContaminationConfig, STAGE};
use crate::base::budget::{Budget, ByteSize};
use crate::base::memory::Credit;
use crate::base::progress::{Context, Stop, Unit as Progressing};
use crate::base::threads::lock;
use crate::base::workers::{Tasks, work_and_commit};
use crate::engine::cluster::reject_line;
use crate::store::{disk, to_json};
use crate::text::parse::{Parser, SpanFinder};
use crate::text::read::{
    Batch, InputFile, Interpreted, Piece, RawDocument, ReadConfig, Reason, Record, RecordKind,
    RecordReader, Reject, interpret, retracted,
};
use crate::{Error, Result};

/// Buffers of the files that are written.
const FIXED_BYTES: u64 = 24 << 20;
/// Memory of a thread: the buffers of its reader and parser, and documents that are not large.
const THREAD_BYTES: u64 = 28 << 20;
/// Memory of a thread for each token of the test sets: the classes that a document has, and its
/// items, while these lists grow.
const TOKEN_BYTES: u64 = 3 * (4 + 4);
/// Memory of a decompressor that a thread's share contains.
const DECODER_BYTES: u64 = 12 << 20;
/// A larger document waits for memory.
const LARGE_BYTES: u64 = 2 << 20;
/// The amount of a large document's memory that is within what a process may use beyond its budget.
const BEYOND_BYTES: u64 = 48 << 20;

/// The least bytes of a unit, so that it is worth a thread's attention.
const UNIT_BYTES: u64 = 4 << 20;
/// A large corpus is cut into about this number of units.
const UNITS: u64 = 1024;
/// Rows are put into a file when they have this number of bytes.
const ROWS_BYTES: usize = 256 << 10;

/// Memory beside the record that the largest document can take: its text and its tokens, if it is
/// one token ([`crate::text::parse`]).
fn largest(read: &ReadConfig) -> u64 {
    read.max_document.0 * 9 / 4
}

/// How the memory is divided.
pub(super) struct Shares {
    threads: usize,
    /// Memory for large documents.
    large: u64,
    /// Memory for large decompressors.
    decoders: u64,
}

impl Shares {
    fn of_thread(config: &ContaminationConfig, tokens: u64) -> u64 {
        let places = if config.output.is_some() {
            PLACES_BYTES
        } else {
            0
        };
        THREAD_BYTES + config.read.max_document.0 + places + tokens * TOKEN_BYTES
    }

    /// The least memory in addition to the items: a fixed part, and for each token of the test
    /// sets.
    pub(super) fn least(config: &ContaminationConfig, inputs: usize) -> (u64, u64) {
        let large = largest(&config.read).saturating_sub(BEYOND_BYTES);
        let list = inputs as u64 * 500;
        (
            FIXED_BYTES + list + large + Self::of_thread(config, 0),
            TOKEN_BYTES,
        )
    }

    /// Divides the memory that is left beside the items.
    pub(super) fn new(
        config: &ContaminationConfig,
        inputs: usize,
        sets: &TestSets,
        units: usize,
        budget: &Budget,
    ) -> Result<Shares> {
        let tokens = sets.tokens() as u64;
        let (fixed, _) = Self::least(config, inputs);
        let thread = Self::of_thread(config, tokens);
        let what = || format!("looking for {}", sets.what());
        let left = budget.rest(fixed + sets.bytes(), 0, what)?;
        let more = (left * 4 / 5 / thread).min(units.min(budget.threads).max(1) as u64 - 1);
        let left = left - more * thread;
        let decoders = match more {
            0 => u64::MAX,
            _ => left / 2,
        };
        Ok(Shares {
            threads: more as usize + 1,
            large: largest(&config.read).saturating_sub(BEYOND_BYTES) + left / 2,
            decoders,
        })
    }
}

/// Consecutive inputs, or a piece of one.
pub(super) struct Unit {
    files: Range<usize>,
    piece: Option<Piece>,
}

/// Cuts the inputs into units, in their order.
pub(super) fn units(inputs: &[InputFile], read: &ReadConfig, stop: &Stop) -> Vec<Unit> {
    let size = |input: &InputFile| input.identity.as_ref().map_or(0, |file| file.size);
    let total: u64 = inputs.iter().map(size).sum();
    let least = UNIT_BYTES.max(total / UNITS);
    let mut units = Vec::new();
    let (mut begin, mut bytes) = (0, 0);
    for (file, input) in inputs.iter().enumerate() {
        let pieces = Piece::all(input, file as u32, read, least, stop);
        bytes += size(input);
        let last = file + 1 == inputs.len();
        let cut = !pieces.is_empty();
        if cut && begin < file {
            units.push(Unit {
                files: begin..file,
                piece: None,
            });
        }
        units.extend(pieces.into_iter().map(|piece| Unit {
            files: file..file + 1,
            piece: Some(piece),
        }));
        if !cut && (bytes >= least || last) {
            units.push(Unit {
                files: begin..file + 1,
                piece: None,
            });
        }
        if cut || bytes >= least {
            (begin, bytes) = (file + 1, 0);
        }
    }
    units
}

/// What is found of an item.
#[derive(Default)]
pub(super) struct OfItem {
    /// Documents that share a run.
    pub documents: AtomicU64,
    /// The most tokens that one of them covers.
    pub best: AtomicU32,
}

/// What all threads share.
pub(super) struct Search<'a> {
    pub inputs: &'a [InputFile],
    pub units: Vec<Unit>,
    config: &'a ContaminationConfig,
    context: &'a Context<'a>,
    sets: &'a TestSets,
    grams: &'a Grams,
    shares: Shares,
    large: Credit,
    decoders: Credit,
    /// One bit for each token of the test sets: a document covers it.
    covered: Vec<AtomicU64>,
    pub items: Vec<OfItem>,
    /// By unit, its records.
    counts: Vec<AtomicU64>,
    spill: Option<&'a Spill>,
    listed: Mutex<Listed>,
    report: Mutex<CorpusReport>,
    /// The first reject, by its place.
    first: Mutex<Option<(DocumentPlace, String)>>,
    position: AtomicU64,
}

/// A document that was found.
struct Hit {
    item: u32,
    covered: u32,
}

/// What a thread needs.
struct Worker<'a> {
    parser: Parser,
    /// The place of the current record.
    place: DocumentPlace,
    finder: Finder<'a>,
    report: CorpusReport,
    items: Vec<u32>,
    hits: Vec<Hit>,
    drop: Vec<u8>,
    rejects: Vec<u8>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        inputs: &'a [InputFile],
        (sets, grams): (&'a TestSets, &'a Grams),
        config: &'a ContaminationConfig,
        spill: Option<&'a Spill>,
        context: &'a Context<'a>,
    ) -> Result<Search<'a>> {
        let units = units(inputs, &config.read, context.stop);
        let shares = Shares::new(config, inputs.len(), sets, units.len(), &context.budget)?;
        Ok(Search {
            inputs,
            config,
            context,
            sets,
            grams,
            large: Credit::new(shares.large),
            decoders: Credit::new(shares.decoders),
            shares,
            covered: (0..sets.tokens().div_ceil(64))
                .map(|_| AtomicU64::new(0))
                .collect(),
            items: sets.items.iter().map(|_| OfItem::default()).collect(),
            counts: units.iter().map(|_| AtomicU64::new(0)).collect(),
            units,
            spill,
            listed: Mutex::new(Listed::new(sets.items.len(), config.most)),
            report: Mutex::default(),
            first: Mutex::default(),
            position: AtomicU64::new(0),
        })
    }

    /// Reads the corpus.
    pub(super) fn run(&self) -> Result<()> {
        let size = |input: &InputFile| input.identity.as_ref().map(|file| file.size);
        let total: Option<u64> = self.inputs.iter().map(size).sum();
        let progress = self.context.progress;
        progress.start(STAGE, Progressing::Bytes, total);
        let threads = self.shares.threads;
        let work = |tasks: &Tasks<'_, usize, ()>| {
            let done = self.work(tasks);
            if done.is_err() {
                tasks.cancel();
            }
            done
        };
        work_and_commit(STAGE, threads, 0..self.units.len(), work, |()| Ok(()))?;
        self.report().files = self.inputs.len() as u64;
        Ok(())
    }

    pub(super) fn report(&self) -> std::sync::MutexGuard<'_, CorpusReport> {
        lock(&self.report)
    }

    pub(super) fn listed(&self) -> std::sync::MutexGuard<'_, Listed> {
        lock(&self.listed)
    }

    /// The first record that was rejected, as in `rejects.jsonl`.
    pub(super) fn first_reject(&self) -> Option<String> {
        lock(&self.first).as_ref().map(|(_, line)| line.clone())
    }

    /// The number of records of the file before each unit.
    pub(super) fn records_before(&self) -> Vec<u64> {
        let mut before = 0;
        let count = |(unit, records): (&Unit, &AtomicU64)| {
            let begin = match &unit.piece {
                Some(piece) if piece.begin() > 0 => before,
                _ => 0,
            };
            before = begin + records.load(Ordering::Relaxed);
            begin
        };
        self.units.iter().zip(&self.counts).map(count).collect()
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

    fn work(&self, tasks: &Tasks<'_, usize, ()>) -> Result<()> {
        let mut worker = Worker {
            parser: Parser::new(&self.config.parse),
            place: (0, 0, 0),
            finder: Finder::new(self.grams, self.sets, self.spill.is_some()),
            report: CorpusReport::default(),
            items: Vec::new(),
            hits: Vec::new(),
            drop: Vec::new(),
            rejects: Vec::new(),
        };
        while let Some(unit) = tasks.next() {
            for file in self.units[unit].files.clone() {
                disk::point("contamination: worker");
                let records = self.read((unit, file), &mut worker)?;
                self.counts[unit].fetch_add(records, Ordering::Relaxed);
            }
            self.write_rows(unit, &mut worker)?;
        }
        lock(&self.report).add(worker.report);
        Ok(())
    }

    /// Reads a file, or the piece of a unit; returns its records.
    fn read(&self, (unit, file): (usize, usize), worker: &mut Worker<'_>) -> Result<u64> {
        let (input, piece) = (&self.inputs[file], &self.units[unit].piece);
        let stop = self.context.stop;
        input.check_path()?;
        let mut reader = match piece {
            Some(piece) => piece.open(stop),
            None => RecordReader::open(input, file as u32, &self.config.read, stop),
        };
        let beyond = reader.decoder_memory().saturating_sub(DECODER_BYTES);
        let _memory = (beyond > 0).then(|| self.decoders.hold(beyond));
        let mut batch = Batch::default();
        let (mut number, mut events, mut at) = (0, 0, reader.position());
        loop {
            let more = reader.next_into(&mut batch);
            stop.check(STAGE)?;
            if let Some(error) = reader.failure() {
                return Err(error).map_err(Error::io("read", &input.path));
            }
            if reader.position() - at >= ROWS_BYTES as u64 || !more {
                let position = reader.position();
                let read = position - std::mem::replace(&mut at, position);
                let before = self.position.fetch_add(read, Ordering::Relaxed);
                self.context.progress.at(before + read);
            }
            if !more {
                break;
            }
            for record in &batch.records {
                if record.retracts {
                    return Err(retracted(input));
                }
                let bytes = batch.bytes.get(record.bytes.clone()).unwrap_or_default();
                worker.place = (unit as u32, file as u32, number + 1);
                number += u64::from(self.record(record, bytes, worker)?);
                events += 1;
            }
            batch.clear();
            batch.bytes.shrink_to(LARGE_BYTES as usize);
            if worker.drop.len() + worker.rejects.len() >= ROWS_BYTES {
                self.write_rows(unit, worker)?;
            }
        }
        reader.check_unchanged(input)?;
        if let Some(piece) = piece {
            piece.counted(events);
            if let Some(error) = piece.failure() {
                return Err(error).map_err(Error::io("read", &input.path));
            }
        }
        Ok(number)
    }

    /// Searches a record. Returns whether it has a number: one that is skipped has none.
    fn record(&self, record: &Record, bytes: &[u8], worker: &mut Worker<'_>) -> Result<bool> {
        let most = &self.config.read;
        let length = bytes.len() as u64;
        // The result of these is known only afterwards.
        let grows = matches!(
            record.kind,
            RecordKind::Warc | RecordKind::Arc | RecordKind::Mail(_)
        );
        let mut large = length > LARGE_BYTES;
        worker.report.records += 1;
        loop {
            let cost = if grows { largest(most) } else { length * 9 / 4 };
            let _memory = large.then(|| self.large.hold(cost));
            let limited = ReadConfig {
                max_document: ByteSize(most.max_document.0.min(LARGE_BYTES)),
                ..most.clone()
            };
            let read = if grows && !large { &limited } else { most };
            match interpret(record, bytes, read) {
                Interpreted::Skipped(kind) => {
                    *worker.report.skipped.entry(kind).or_default() += 1;
                    return Ok(false);
                }
                Interpreted::Rejected(reject)
                    if reject.reason == Reason::TooLarge
                        && read.max_document < most.max_document =>
                {
                    large = true;
                    continue;
                }
                Interpreted::Rejected(reject) => self.rejected(reject, worker),
                Interpreted::Document(document) => {
                    self.document(&document, worker)?;
                    if large {
                        worker.parser.shrink();
                    }
                }
            }
            return Ok(true);
        }
    }

    fn rejected(&self, reject: Reject, worker: &mut Worker<'_>) {
        let place = worker.place;
        let reason = reject.reason.text();
        *worker.report.rejected.entry(reason).or_default() += 1;
        let path = &self.inputs[place.1 as usize].path;
        let line = reject_line(&path.to_string_lossy(), &reject, false);
        if self.spill.is_some() {
            worker.rejects.extend_from_slice(line.as_bytes());
        }
        let mut first = lock(&self.first);
        if first.as_ref().is_none_or(|(other, _)| place < *other) {
            *first = Some((place, line.trim_end().into()));
        }
    }

    fn document(&self, document: &RawDocument<'_>, worker: &mut Worker<'_>) -> Result<()> {
        worker.finder.clear();
        let facts = worker.parser.parse(document, &mut worker.finder);
        worker.report.documents += 1;
        worker.report.tokens += facts.words;
        if worker.finder.classes().is_empty() {
            return Ok(());
        }
        worker.report.found += 1;
        let (items, finder) = (&mut worker.items, &worker.finder);
        items.clear();
        for &class in finder.classes() {
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
        self.mark_to_drop(document, worker)?;
        match self.spill {
            Some(spill) => self.list(document, spill, worker),
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
                if !finder.has(class) {
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
    fn mark_to_drop(&self, document: &RawDocument<'_>, worker: &mut Worker<'_>) -> Result<()> {
        let tokens = |hit: &Hit| u64::from(self.sets.items[hit.item as usize].tokens);
        let best = worker.hits.iter().reduce(|best, hit| {
            let more =
                u64::from(hit.covered) * tokens(best) > u64::from(best.covered) * tokens(hit);
            if more { hit } else { best }
        });
        let Some(best) = best else { return Ok(()) };
        let (covered, of) = (u64::from(best.covered), tokens(best));
        if !self.config.drop_at.reached(covered, of, covered) {
            return Ok(());
        }
        worker.report.to_drop += 1;
        if self.spill.is_none() {
            return Ok(());
        }
        let dropped = Dropped {
            file: worker.place.1,
            record: worker.place.2,
            docno: document.docno.to_string(),
            item: best.item,
            covered: best.covered,
        };
        worker.drop.extend(to_json(&dropped, DROP_FILE.as_ref())?);
        worker.drop.push(b'\n');
        Ok(())
    }

    /// Lists the document with each item for which it is among the first.
    fn list(
        &self,
        document: &RawDocument<'_>,
        spill: &Spill,
        worker: &mut Worker<'_>,
    ) -> Result<()> {
        let place = worker.place;
        {
            let listed = self.listed();
            worker
                .hits
                .retain(|hit| listed.takes(hit.item, hit.covered, place));
        }
        if worker.hits.is_empty() {
            return Ok(());
        }
        let places = ByClass::new(&worker.finder);
        let runs: Vec<(Vec<Run>, bool)> = (worker.hits.iter())
            .map(|hit| places.runs(self.sets, self.grams, &self.sets.items[hit.item as usize]))
            .collect();
        drop(places);
        let all = runs.iter().flat_map(|(runs, _)| runs);
        let bytes = Bytes::find(document, &mut worker.parser, self.config, all);
        for (hit, (runs, all)) in worker.hits.iter().zip(&runs) {
            let text = self.fragment(document, hit, (runs, *all), &bytes);
            let mut listed = self.listed();
            if listed.takes(hit.item, hit.covered, place) {
                let at = spill.put(text.as_bytes())?;
                listed.insert(hit.item, hit.covered, place, at);
            }
        }
        Ok(())
    }

    /// What is written of a document and an item, after the place of the document.
    fn fragment(
        &self,
        document: &RawDocument<'_>,
        hit: &Hit,
        (runs, all): (&[Run], bool),
        bytes: &Bytes,
    ) -> String {
        use std::fmt::Write;
        let json = |text: &str| serde_json::Value::from(text).to_string();
        let tokens = self.sets.items[hit.item as usize].tokens;
        let mut text = format!(
            "\"docno\":{},\"covered\":{},\"share\":{},\"runs\":[",
            json(&document.docno),
            hit.covered,
            share(hit.covered, tokens).json(),
        );
        for (n, run) in runs.iter().enumerate() {
            let (item_begin, item_end) = self.sets.span(run.item..run.item + run.tokens);
            let (begin, end) = bytes.span(run);
            let _ = write!(
                text,
                "{}{{\"field\":{},\"tokens\":{},\"item_token\":{},\"item_bytes\":[{item_begin},\
                 {item_end}],\"document_token\":{},\"document_bytes\":[{begin},{end}]}}",
                if n > 0 { "," } else { "" },
                json(&self.sets.names[run.field]),
                run.tokens,
                run.item - run.field_begin,
                run.document,
            );
        }
        let _ = write!(text, "],\"all_runs\":{all}}}");
        text
    }

    /// Puts the rows of a unit into a file.
    fn write_rows(&self, unit: usize, worker: &mut Worker<'_>) -> Result<()> {
        let Some(spill) = self.spill else {
            return Ok(());
        };
        for (rows, rejects) in [(&mut worker.drop, false), (&mut worker.rejects, true)] {
            if !rows.is_empty() {
                spill.put_rows(unit as u32, rejects, rows)?;
                rows.clear();
                rows.shrink_to(ROWS_BYTES);
            }
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
    fn find<'r>(
        document: &RawDocument<'_>,
        parser: &mut Parser,
        config: &ContaminationConfig,
        runs: impl Iterator<Item = &'r Run>,
    ) -> Bytes {
        let mut tokens: Vec<_> = runs
            .flat_map(|run| [run.document, run.document + run.tokens - 1])
            .map(|token| (token, 0, 0))
            .collect();
        tokens.sort_unstable();
        tokens.dedup();
        let mut wanted = tokens.iter_mut().peekable();
        let mut token = 0;
        let done = Cell::new(false);
        let mut act = |span: Range<usize>| {
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

    fn span(&self, run: &Run) -> (usize, usize) {
        let of = |token: usize| {
            let at = self.tokens.binary_search_by_key(&token, |found| found.0);
            at.map_or((0, 0), |at| (self.tokens[at].1, self.tokens[at].2))
        };
        (of(run.document).0, of(run.document + run.tokens - 1).1)
    }
}

impl CorpusReport {
    fn add(&mut self, other: CorpusReport) {
        let sum = |counts: &mut BTreeMap<&'static str, u64>, more: BTreeMap<&'static str, u64>| {
            for (reason, n) in more {
                *counts.entry(reason).or_default() += n;
            }
        };
        self.records += other.records;
        self.documents += other.documents;
        self.tokens += other.tokens;
        self.found += other.found;
        self.to_drop += other.to_drop;
        sum(&mut self.rejected, other.rejected);
        sum(&mut self.skipped, other.skipped);
    }
}
