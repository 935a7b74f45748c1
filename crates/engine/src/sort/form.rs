//! Forms sorted runs from the collection.

use crate::collection::{self, Catalogue, Column, ColumnBuilder, Extent, SetReader};
use crate::sample::{
    Chooser, Expected, Rate, SampleEntry, Sampled, SelectStats, Selection, Selector, Sets,
};
use lookalike_base::{
    Budget, Context, Error, Key, Measure, PROCESS_BYTES, Result, Stop, Tasks, Unit, counted, lock,
    work_and_commit,
};
use lookalike_store::{Header, Kind, PartInfo, PartWriter, StageRecord, Workspace, disk};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::buffer::{Buffer, Held};
use super::run::{Record, RunFile, RunWriter};

const STAGE: &str = "sort";
const DIRECTORY: &str = "runs";
/// Memory of a worker for its reader, writer and codec, and for sorting one bucket.
const WORKER_BYTES: u64 = 4 << 20;
/// Records in the largest buffer worth filling (64 MiB of records), unless it would make more than
/// [`MANY_RUNS`] runs. Measured on 61 million records: sorting with 1 GiB per thread takes twice
/// the CPU time of sorting with 100 MiB (`docs/experiments.md`), and merging a few more runs costs
/// almost nothing.
const FAST_RECORDS: u64 = 4 << 20;
/// Number of runs that can be merged at once with little memory.
const MANY_RUNS: u64 = 128;
/// Records in the smallest buffer worth sorting.
const LEAST_RECORDS: u64 = 1024;

/// A committed run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEntry {
    /// The part.
    pub part: PartInfo,
    /// Number of merges that it has been through.
    pub generation: u32,
    /// Ranges of documents (first, one past the last) whose records are all in this run. A run that
    /// holds only a part of one document covers nothing. It is committed together with the run that
    /// covers the document.
    pub covers: Vec<(u32, u32)>,
}

/// Opens committed runs.
pub fn open_runs<K: Key>(
    runs: &[RunEntry],
    directory: &Path,
    parameters: u128,
) -> Result<Vec<RunFile<K>>> {
    let open = |RunEntry { part, .. }: &RunEntry| {
        RunFile::open(
            Kind::Run,
            &directory.join(&part.name),
            Some(parameters),
            Some(part),
        )
    };
    runs.iter().map(open).collect()
}

impl From<PartInfo> for RunEntry {
    /// A run of records that were not merged, which covers nothing yet.
    fn from(part: PartInfo) -> RunEntry {
        RunEntry {
            part,
            generation: 0,
            covers: Vec::new(),
        }
    }
}

/// Counts from forming runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormStats {
    /// Records sorted.
    pub records: u64,
    /// Runs spilled.
    pub runs: u64,
    /// Bytes spilled.
    pub bytes: u64,
}

/// The requests of a selection of records to the sort.
pub struct Asked<'a> {
    /// The selection.
    pub selection: Selection,
    /// The bytes that the merge of held records needs in addition to them; `None` if the sort must
    /// not hold records in memory.
    pub hold: Option<u64>,
    /// Whether to make nothing if the join that asks would better count all records.
    pub may_count: bool,
    /// Whether postings of all records would be made without runs.
    pub in_passes: bool,
    /// Removes runs of all records, and the parts that were made of them.
    pub discard: &'a dyn Fn(&mut Workspace) -> Result<()>,
}

/// The result of a sort.
#[derive(Debug)]
pub enum Formed<K> {
    /// Runs.
    Runs,
    /// All records in memory.
    Held(Held<K>),
    /// Nothing, because it pays to count all records.
    Refused,
}

/// The data that all workers read.
struct RunPlan<'a, K> {
    sets: Sets<'a>,
    runs: &'a Path,
    sampled: &'a Sampled,
    most: Option<u32>,
    /// Ranges of documents that committed runs cover, sorted.
    covered: Vec<(u32, u32)>,
    next_number: AtomicU64,
    capacity: usize,
    done: AtomicU64,
    selector: Option<&'a Selector<'a, K>>,
    /// Whether buffers are held, as long as none is full.
    hold: bool,
    spilled: AtomicBool,
    stop: &'a Stop,
    held: Mutex<HeldBuffers<K>>,
    /// By segment, what its documents can share ([`Chooser::shareable`]).
    shareable: Mutex<Vec<Option<Column>>>,
}

/// Bytes beside the buffers.
fn fixed_bytes(extent: Extent, levels: usize, measure: Measure, threads: u64) -> u64 {
    let sampled = Sampled::bytes_for(measure, levels, extent);
    PROCESS_BYTES + extent.column_bytes() + sampled + threads * WORKER_BYTES
}

/// The most records in a run: the capacity of one thread's buffer, beside `fixed` bytes.
fn run_records<K: Key>(budget: &Budget, fixed: u64, records: u64) -> Result<usize> {
    let threads = budget.threads as u64;
    let least = least_bytes::<K>(threads);
    let what = || format!("sorting with {}", counted(threads, "thread"));
    let capacity = Buffer::<K>::capacity(budget.rest(fixed, least, what)? / threads);
    // A buffer needs no more room than there are records, and small buffers sort faster than large
    // ones.
    let fast = FAST_RECORDS.max(records / MANY_RUNS);
    Ok(capacity.min(records.max(LEAST_RECORDS)).min(fast) as usize)
}

/// Bytes of the smallest buffers.
fn least_bytes<K: Key>(threads: u64) -> u64 {
    threads * Buffer::<K>::bytes(LEAST_RECORDS)
}

/// The bytes of the budget that a sort can do without. Some of them are for a selection.
pub fn spare_bytes<K: Key>(
    workspace: &Workspace,
    measure: Measure,
    budget: &Budget,
) -> Result<u64> {
    let levels = workspace.record::<SampleEntry>("sample")?.sizes.len();
    let threads = budget.threads as u64;
    let fixed = fixed_bytes(Catalogue::extent(workspace)?, levels, measure, threads);
    Ok((budget.memory.0).saturating_sub(fixed + least_bytes::<K>(threads)))
}

/// Buffers that are held, with the documents that they cover.
type HeldBuffers<K> = Vec<(Buffer<K>, Vec<(u32, u32)>)>;

/// Bytes of buffers that are held.
fn held_bytes<K: Key>(held: &HeldBuffers<K>) -> u64 {
    held.iter().map(|(buffer, _)| buffer.used_bytes()).sum()
}

/// The most bytes in which a thread sorts a part of the buffers.
fn sorting_bytes<K: Key>(held: &mut HeldBuffers<K>) -> u64 {
    let longest: usize = held.iter_mut().map(|(buffer, _)| buffer.longest()).sum();
    // Collected, and distributed.
    (longest * size_of::<Record<K>>() * 2) as u64
}

/// The least bytes that the sort can do without for each key of documents that are tried, and the most
/// of these keys. More would not change the estimate.
const SPARE_OF_MEETING: u64 = 128;
const MOST_MEETINGS: u64 = 2 << 20;
/// The most records in a buffer that is held. Larger buffers are slower to fill than runs are to
/// merge.
const MOST_HELD: u64 = 16 << 20;

/// Forms runs of all sampled records, skipping the documents that committed runs cover.
pub fn run<K: Key>(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    form::<K>(workspace, None, context).map(|_| ())
}

/// Sorts the records that a selection chooses, unless it is refused. They are held in memory if they
/// may and if there is room.
///
/// # Errors
/// The errors of reading the sets and of writing runs; `Interrupted`.
pub fn run_selected<K: Key>(
    workspace: &mut Workspace,
    asked: &Asked<'_>,
    context: &Context<'_>,
) -> Result<Formed<K>> {
    form(workspace, Some(asked), context)
}

/// Counts for a selection, and for wider ones while many pairs are expected, unless the selection
/// is that of an earlier run. Some of the `spare` bytes are its own.
fn selector<'a, K: Key>(
    mut selection: Selection,
    recorded: bool,
    sampled: &'a Sampled,
    sets: Sets<'a>,
    spare: u64,
    context: &Context<'_>,
) -> Result<(Selector<'a, K>, Expected)> {
    let (stop, threads) = (context.stop, context.budget.threads);
    let room = meetings_room(spare);
    loop {
        let selector = Selector::count(selection, sampled, sets, threads, STAGE, stop)?;
        let expected = selector.expected(room, STAGE, stop)?;
        match selection.wider(spare) {
            Some(wider) if !recorded && expected.is_crowded() => selection = wider,
            _ => return Ok((selector, expected)),
        }
    }
}

/// Keys that an estimate may hold. They are gone before the sort fills its buffers.
fn meetings_room(spare: u64) -> usize {
    (spare / SPARE_OF_MEETING).clamp(1 << 10, MOST_MEETINGS) as usize
}

fn form<K: Key>(
    workspace: &mut Workspace,
    asked: Option<&Asked<'_>>,
    context: &Context<'_>,
) -> Result<Formed<K>> {
    let made = workspace.manifest.get::<RunsEntry>();
    // Runs of all records serve until the selection is accepted.
    let of_all = asked.is_some() && made.is_some_and(|runs| runs.selection.is_none());
    let made = made.filter(|_| !of_all);
    let hold = asked.and_then(|asked| asked.hold);
    // Records that an earlier run held in memory are gone.
    let gone = asked.is_some() && made.is_some_and(|runs| runs.runs.is_empty());
    if made.is_some_and(|runs| runs.complete) && !gone {
        return Ok(Formed::Runs);
    }
    let sample = workspace.record::<SampleEntry>("sample")?.clone();
    let extent = Catalogue::extent(workspace)?;
    let (levels, records) = (sample.sizes.len(), sample.stats.sampled);
    let stored = Catalogue::stored(workspace)?;
    let measure = asked.map(|asked| asked.selection.criterion.measure);
    let measure = measure.unwrap_or_default();
    let sampled = Sampled::load_for(workspace, measure)?;
    let segments = collection::segments(&workspace.manifest).to_vec();
    let threads = context.budget.threads;
    let places = workspace.places().clone();
    let sets = Sets {
        places: &places,
        segments: &segments,
        stored: &stored,
    };
    let recorded = made.is_some_and(|runs| runs.selection.is_some());
    let begun = made.is_some_and(|runs| !runs.runs.is_empty());
    let spare = spare_bytes::<K>(workspace, measure, &context.budget)?;
    if let Some(asked) =
        asked.filter(|asked| asked.may_count && asked.in_passes && !begun && !recorded)
        && asked.selection.counts_all(&sampled)
    {
        let room = meetings_room(spare);
        if sets.have_few_pairs::<K>(&sampled, room, STAGE, context.stop)? {
            return Ok(Formed::Refused);
        }
    }
    let Means {
        selector,
        expected,
        budget,
    } = means::<K>(asked, recorded, &sampled, sets, records, spare, context)?;
    let fixed = fixed_bytes(extent, levels, measure, threads as u64);
    if let Some(asked) = asked.filter(|_| !begun) {
        if asked.may_count && expected.counting_pays() {
            return Ok(Formed::Refused);
        }
        if of_all {
            (asked.discard)(workspace)?;
        }
    }
    let capacity = run_records::<K>(&budget, fixed, expected.keys)?;
    // Threads take segments as they come, so one may get more records than another.
    let room = expected.keys * 2 / threads as u64 + (64 << 10);
    let most = Buffer::<K>::capacity(budget.memory.0.saturating_sub(fixed) / threads as u64);
    let hold = hold.filter(|_| !begun && room <= most.min(MOST_HELD));
    let entry = workspace.manifest.get_or_insert_with(RunsEntry::default);
    if gone {
        (entry.complete, entry.stats) = (false, FormStats::default());
    }
    entry.selection = selector.as_ref().map(Selector::selection);
    let entry = entry.clone();
    let mut covered: Vec<(u32, u32)> = entry.runs.iter().flat_map(|r| r.covers.clone()).collect();
    covered.sort_unstable();
    let runs = workspace.path(DIRECTORY);
    let plan = RunPlan {
        sets,
        runs: &runs,
        sampled: &sampled,
        most: sample.sampling.most_per_document(),
        covered,
        next_number: AtomicU64::new(entry.next_number),
        capacity: hold.map_or(capacity, |_| room as usize),
        done: AtomicU64::new(entry.stats.records),
        selector: selector.as_ref(),
        hold: hold.is_some(),
        spilled: AtomicBool::new(false),
        held: Mutex::default(),
        shareable: Mutex::new(vec![None; segments.len()]),
        stop: context.stop,
    };
    let work = |tasks: &Segments<'_>| Worker::new(&plan, tasks).work();
    let tasks = 0..segments.len();
    let commit = |runs| plan.commit(workspace, runs, context);
    work_and_commit(STAGE, threads, tasks, work, commit)?;
    let held = std::mem::take(&mut *lock(&plan.held));
    plan.end(workspace, held, hold, sample.stats.sampled, context)
}

/// The inputs of a sort that were determined before it.
struct Means<'a, K> {
    selector: Option<Selector<'a, K>>,
    /// The keys and records that the sort is expected to have.
    expected: Expected,
    /// The rest of the budget, beyond the selection.
    budget: Budget,
}

/// Counts for a selection, if one is asked for, by the number of all records and the spare bytes.
fn means<'a, K: Key>(
    asked: Option<&Asked<'_>>,
    recorded: bool,
    sampled: &'a Sampled,
    sets: Sets<'a>,
    records: u64,
    spare: u64,
    context: &Context<'_>,
) -> Result<Means<'a, K>> {
    let Some(&Asked { selection, .. }) = asked else {
        context.start(STAGE, Unit::Count("records"), Some(records));
        return Ok(Means {
            selector: None,
            expected: Expected::of_all(records),
            budget: context.budget,
        });
    };
    context.start(STAGE, Unit::Count("fingerprints"), Some(records));
    let (selector, expected) = selector(selection, recorded, sampled, sets, spare, context)?;
    let choosers = context.budget.threads as u64 * Chooser::<K>::BYTES;
    let documents = sampled.documents() as u64;
    let shareable = Column::most_bytes(documents, records);
    let used = shareable + selector.bytes() + choosers;
    Ok(Means {
        selector: Some(selector),
        expected,
        // Whatever the budget, there is room for the smallest table.
        budget: context.budget.without(used.min(spare)),
    })
}

impl<K: Key> RunPlan<'_, K> {
    fn commit(
        &self,
        workspace: &mut Workspace,
        runs: Vec<RunEntry>,
        context: &Context<'_>,
    ) -> Result<()> {
        disk::point("sort: commit");
        let next_number = self.next_number.load(Ordering::SeqCst);
        let entry = workspace.manifest.get_or_insert_with(RunsEntry::default);
        let bytes = runs.iter().map(|run| run.part.bytes).sum();
        for run in runs {
            entry.stats.records += run.part.records;
            entry.stats.runs += 1;
            entry.stats.bytes += run.part.bytes;
            entry.runs.push(run);
        }
        entry.next_number = next_number;
        workspace.commit_part(&[DIRECTORY], bytes)?;
        context.progress.at(self.done.load(Ordering::Relaxed));
        Ok(())
    }

    /// Passes the held buffers on if all records are in them and memory has room to merge them.
    /// Otherwise it writes them as runs, and checks that the runs have all records: `sampled` of
    /// them without a selection.
    fn end(
        &self,
        workspace: &mut Workspace,
        mut held: HeldBuffers<K>,
        hold: Option<u64>,
        sampled: u64,
        context: &Context<'_>,
    ) -> Result<Formed<K>> {
        let stats = self.selector.map(Selector::stats);
        let shareable = stats.map(|_| self.write_shareable()).transpose()?;
        let entry = workspace.manifest.get_or_insert_with(RunsEntry::default);
        entry.shareable = shareable;
        let budget = context.budget;
        let merging = hold.unwrap_or(0) + budget.threads as u64 * sorting_bytes(&mut held);
        let fits = held_bytes(&held) + merging <= budget.memory.0;
        if !held.is_empty() && fits && !self.spilled.load(Ordering::SeqCst) {
            let buffers = held.into_iter().map(|(buffer, _)| buffer);
            let held = Held::new(buffers.collect());
            let entry = workspace.manifest.get_or_insert_with(RunsEntry::default);
            entry.selected = stats;
            entry.stats.records = held.records();
            workspace.commit(&[DIRECTORY])?;
            return Ok(Formed::Held(held));
        }
        for (buffer, covers) in held {
            let mut spilling = Spilling {
                plan: self,
                buffer,
                covers,
                parts: Vec::new(),
            };
            let runs = spilling.spill()?;
            self.commit(workspace, runs, context)?;
        }
        let expected = stats.map_or(sampled, |stats| stats.keys);
        let entry = workspace.manifest.get_or_insert_with(RunsEntry::default);
        if entry.stats.records != expected {
            return Err(Error::corrupt(self.runs, "records in all runs")
                .expected(expected, entry.stats.records));
        }
        entry.selected = stats;
        entry.complete = true;
        workspace.commit(&[DIRECTORY])?;
        Ok(Formed::Runs)
    }
}

impl<K> RunPlan<'_, K> {
    /// Writes the number of fingerprints that each document can share as a column.
    fn write_shareable(&self) -> Result<PartInfo> {
        let header = Header::new(Kind::Column, self.sets.places.parameters, 0, 4);
        let mut part = PartWriter::create(self.runs, &header)?;
        let mut documents = 0;
        for column in lock(&self.shareable).iter().flatten() {
            documents += column.len() as u64;
            column
                .iter()
                .try_for_each(|number| part.put(&number.to_le_bytes()))?;
        }
        part.finish(documents, 0, 0)
    }
}

/// Segments to sort, by their numbers, and the runs that cover some documents.
type Segments<'a> = Tasks<'a, usize, Vec<RunEntry>>;

struct Worker<'a, K: Key> {
    tasks: &'a Segments<'a>,
    chooser: Option<Chooser<'a, K>>,
    spilling: Spilling<'a, K>,
}

impl<'a, K: Key> Worker<'a, K> {
    fn new(plan: &'a RunPlan<'a, K>, tasks: &'a Segments<'a>) -> Self {
        // The class of the finest ratio contains the classes of the other ratios.
        let finest = plan.sampled.rates().first().copied();
        let (least, most) = finest.unwrap_or(Rate::FULL).bounds::<K>();
        let spilling = Spilling {
            plan,
            buffer: Buffer::new(plan.capacity, least, most),
            covers: Vec::new(),
            parts: Vec::new(),
        };
        Worker {
            tasks,
            chooser: plan.selector.map(Chooser::new),
            spilling,
        }
    }

    fn work(mut self) -> Result<()> {
        let plan = self.spilling.plan;
        while let Some(segment) = self.tasks.next() {
            disk::point("sort: worker");
            self.segment(segment)?;
        }
        if plan.hold && !plan.spilled.load(Ordering::SeqCst) {
            let Spilling { buffer, covers, .. } = self.spilling;
            lock(&plan.held).push((buffer, covers));
            return Ok(());
        }
        self.spill()
    }

    fn segment(&mut self, number: usize) -> Result<()> {
        let plan = self.spilling.plan;
        let segment = &plan.sets.segments[number];
        let first = segment.first_document;
        let last = first + segment.stats.documents as u32;
        let covered = |document: u32| {
            let after = plan.covered.partition_point(|&(from, _)| from <= document);
            after > 0 && plan.covered[after - 1].1 > document
        };
        let wanted = |document: u32| !covered(document) && plan.sampled.own(document) > 0;
        // The counts of a selection cover all documents.
        if self.chooser.is_none() && !(first..last).any(wanted) {
            return Ok(());
        }
        let mut sets = None;
        match &mut self.chooser {
            Some(chooser) => chooser.begin(number)?,
            None => sets = Some(SetReader::open(plan.sets.places, segment)?),
        }
        let mut shareable = ColumnBuilder::default();
        for document in first..last {
            plan.stop.tick(STAGE, document)?;
            let wanted = wanted(document);
            match &mut sets {
                None => shareable.push(self.choose(document, wanted)?),
                Some(sets) => self.take(sets, document, wanted)?,
            }
            // A document without records is covered by any run. Otherwise the interval would end
            // at every exact duplicate, and the manifest would list millions of them.
            match self.spilling.covers.last_mut() {
                Some(last) if last.1 == document && !covered(document) => last.1 += 1,
                _ if wanted => self.spilling.covers.push((document, document + 1)),
                _ => {}
            }
            if wanted {
                let size = plan.sampled.own(document).into();
                plan.done.fetch_add(size, Ordering::Relaxed);
            }
        }
        if let Some(chooser) = &mut self.chooser {
            chooser.finish()?;
            lock(&plan.shareable)[number] = Some(shareable.finish());
        }
        sets.map_or(Ok(()), SetReader::finish)
    }

    /// Takes the sampled keys of the next document.
    fn take(&mut self, sets: &mut SetReader<K>, document: u32, wanted: bool) -> Result<()> {
        let plan = self.spilling.plan;
        let stored = plan.sets.stored.at(document);
        if !wanted {
            return sets.next(stored, |_| Ok(()));
        }
        if plan.sampled.own(document) as usize > self.spilling.buffer.room() {
            self.spill()?;
        }
        let bounds = plan.sampled.rate(document).bounds::<K>();
        let mut left = plan.most.map_or(usize::MAX, |most| most as usize);
        sets.next_within(stored, bounds, |keys| {
            let keys = &keys[..keys.len().min(left)];
            left -= keys.len();
            self.spilling.put(keys, document)
        })
    }

    /// Takes the chosen keys of the next document, and returns what it can share.
    fn choose(&mut self, document: u32, wanted: bool) -> Result<u32> {
        let Worker {
            tasks,
            chooser,
            spilling,
        } = self;
        let Some(chooser) = chooser else {
            return Ok(0);
        };
        let mut begun = false;
        chooser.next(document, |keys| {
            if !wanted {
                return Ok(());
            }
            if !begun && keys.len() > spilling.buffer.room() {
                finish(tasks, spilling.spill()?);
            }
            begun = true;
            spilling.put(keys, document)
        })?;
        Ok(chooser.shareable())
    }

    fn spill(&mut self) -> Result<()> {
        finish(self.tasks, self.spilling.spill()?);
        Ok(())
    }
}

fn finish(tasks: &Segments<'_>, runs: Vec<RunEntry>) {
    if !runs.is_empty() {
        tasks.finished(runs);
    }
}

/// A buffer, and the documents whose records are in it.
struct Spilling<'a, K> {
    plan: &'a RunPlan<'a, K>,
    buffer: Buffer<K>,
    covers: Vec<(u32, u32)>,
    /// Runs that hold a part of the current document.
    parts: Vec<RunEntry>,
}

impl<K: Key> Spilling<'_, K> {
    /// Takes keys of a document, which may be more than there is room for.
    fn put(&mut self, mut keys: &[K], document: u32) -> Result<()> {
        while !keys.is_empty() {
            if self.buffer.room() == 0 {
                let part = self.write()?;
                self.parts.push(part);
            }
            let (now, later) = keys.split_at(keys.len().min(self.buffer.room()));
            self.buffer.extend(now, document);
            keys = later;
        }
        Ok(())
    }

    /// Sorts the buffer into a run. The caller fills in the documents that it covers.
    fn write(&mut self) -> Result<RunEntry> {
        let plan = self.plan;
        plan.stop.check(STAGE)?;
        plan.spilled.store(true, Ordering::SeqCst);
        let number = plan.next_number.fetch_add(1, Ordering::SeqCst);
        let mut run = RunWriter::create(plan.runs, number, plan.sets.places.parameters, None)?;
        self.buffer.drain(|records| {
            for &record in records {
                run.push(record)?;
            }
            Ok(())
        })?;
        run.finish().map(RunEntry::from)
    }

    /// Writes the buffer, and returns all runs that were not returned yet.
    fn spill(&mut self) -> Result<Vec<RunEntry>> {
        if self.covers.is_empty() {
            return Ok(Vec::new());
        }
        let mut run = self.write()?;
        run.covers = std::mem::take(&mut self.covers);
        self.parts.push(run);
        Ok(std::mem::take(&mut self.parts))
    }
}

/// The sorted runs. They are removed once the postings are written.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunsEntry {
    /// The runs committed so far.
    pub runs: Vec<RunEntry>,
    /// Whether they cover every document.
    pub complete: bool,
    /// Number of the next run.
    pub next_number: u64,
    /// The counts.
    pub stats: FormStats,
    /// Which of the sampled records they have; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// The counts of the selection, once it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<SelectStats>,
    /// With a selection: how many of its sampled fingerprints each document can share with another,
    /// at most. It is kept with the postings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shareable: Option<PartInfo>,
}

impl StageRecord for RunsEntry {
    const NAME: &'static str = "runs";
    const DIRECTORY: Option<&'static str> = Some(DIRECTORY);
    const TAKES_ALONG: &'static [&'static str] = &["postings", "joining"];

    fn parts(&self) -> Vec<(Kind, &PartInfo)> {
        let runs = self.runs.iter().map(|run| (Kind::Run, &run.part));
        let shareable = self.shareable.iter().map(|part| (Kind::Column, part));
        runs.chain(shareable).collect()
    }
}
