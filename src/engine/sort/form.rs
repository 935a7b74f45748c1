//! Forms sorted runs from the collection.

use crate::base::budget::{Budget, PROCESS_BYTES};
use crate::base::ids::Key;
use crate::base::numbers::counted;
use crate::base::progress::{Context, Stop, Unit};
use crate::base::workers::{Tasks, work_and_commit};
use crate::engine::collection::{self, Catalogue, Column, Extent, SegmentEntry, SetReader};
use crate::engine::sample::{Rate, SampleEntry, Sampled};
use crate::store::workspace::{Places, StageRecord, Workspace};
use crate::store::{Kind, PartInfo, disk};
use crate::{Error, Result};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::buffer::Buffer;
use super::run::{Compression, RunWriter};

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

/// The data that all workers read.
struct RunPlan<'a> {
    places: &'a Places,
    runs: &'a Path,
    parameters: u128,
    segments: &'a [SegmentEntry],
    stored: &'a Column,
    sampled: &'a Sampled,
    most: Option<u32>,
    /// Ranges of documents that committed runs cover, sorted.
    covered: Vec<(u32, u32)>,
    next_number: AtomicU64,
    capacity: usize,
    done: AtomicU64,
}

/// The most records in a run: the capacity of one thread's buffer.
pub(crate) fn run_records<K: Key>(
    budget: &Budget,
    extent: Extent,
    levels: usize,
    records: u64,
) -> Result<usize> {
    let threads = budget.threads as u64;
    let fixed = PROCESS_BYTES
        + extent.column_bytes()
        + Sampled::bytes(levels, extent)
        + threads * WORKER_BYTES;
    let least = threads * Buffer::<K>::bytes(LEAST_RECORDS);
    let what = || format!("sorting with {}", counted(threads, "thread"));
    let capacity = Buffer::<K>::capacity(budget.rest(fixed, least, what)? / threads);
    // A buffer needs no more room than there are records, and small buffers sort faster than large
    // ones.
    let fast = FAST_RECORDS.max(records / MANY_RUNS);
    Ok(capacity.min(records.max(LEAST_RECORDS)).min(fast) as usize)
}

/// Forms runs of all sampled records, skipping the documents that committed runs cover.
pub fn run<K: Key>(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    let made = workspace.manifest.get::<RunsEntry>();
    if made.is_some_and(|runs| runs.complete) {
        return Ok(());
    }
    let sample = workspace.record::<SampleEntry>("sample")?.clone();
    let extent = Catalogue::extent(workspace)?;
    let (levels, records) = (sample.sizes.len(), sample.stats.sampled);
    let capacity = run_records::<K>(&context.budget, extent, levels, records)?;
    context.start(STAGE, Unit::Count("records"), Some(records));
    let stored = Catalogue::stored(workspace)?;
    let sampled = Sampled::load(workspace)?;
    let entry = workspace
        .manifest
        .get_or_insert_with(RunsEntry::default)
        .clone();
    let mut covered: Vec<(u32, u32)> = entry.runs.iter().flat_map(|r| r.covers.clone()).collect();
    covered.sort_unstable();
    let segments = collection::segments(&workspace.manifest).to_vec();
    let runs = workspace.path(DIRECTORY);
    let plan = RunPlan {
        places: &workspace.places().clone(),
        runs: &runs,
        parameters: workspace.collection_parameters(),
        segments: &segments,
        stored: &stored,
        sampled: &sampled,
        most: sample.sampling.most_per_document(),
        covered,
        next_number: AtomicU64::new(entry.next_number),
        capacity,
        done: AtomicU64::new(entry.stats.records),
    };
    let work = |tasks: &Segments<'_>| Worker::<K>::new(&plan, tasks, context.stop).work();
    let tasks = 0..segments.len();
    work_and_commit(STAGE, context.budget.threads, tasks, work, |runs| {
        disk::point("sort: commit");
        let next_number = plan.next_number.load(Ordering::SeqCst);
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
        context.progress.at(plan.done.load(Ordering::Relaxed));
        Ok(())
    })?;
    let entry = workspace.manifest.get_or_insert_with(RunsEntry::default);
    if entry.stats.records != sample.stats.sampled {
        return Err(Error::corrupt(runs, "records in all runs")
            .expected(sample.stats.sampled, entry.stats.records));
    }
    entry.complete = true;
    workspace.commit(&[DIRECTORY])
}

/// Segments to sort, by their numbers, and the runs that cover some documents.
type Segments<'a> = Tasks<'a, usize, Vec<RunEntry>>;

struct Worker<'a, K> {
    plan: &'a RunPlan<'a>,
    tasks: &'a Segments<'a>,
    stop: &'a Stop,
    buffer: Buffer<K>,
    covers: Vec<(u32, u32)>,
    /// Runs that hold a part of the current document.
    parts: Vec<RunEntry>,
}

impl<'a, K: Key> Worker<'a, K> {
    fn new(plan: &'a RunPlan<'a>, tasks: &'a Segments<'a>, stop: &'a Stop) -> Self {
        // The class of the finest ratio contains the classes of the other ratios.
        let finest = plan.sampled.rates().first().copied();
        let (least, most) = finest.unwrap_or(Rate::FULL).bounds::<K>();
        let buffer = Buffer::new(plan.capacity, least, most);
        Worker {
            plan,
            tasks,
            stop,
            buffer,
            covers: Vec::new(),
            parts: Vec::new(),
        }
    }

    fn work(mut self) -> Result<()> {
        while let Some(segment) = self.tasks.next() {
            disk::point("sort: worker");
            self.segment(&self.plan.segments[segment])?;
        }
        self.spill()
    }

    fn segment(&mut self, segment: &SegmentEntry) -> Result<()> {
        let plan = self.plan;
        let first = segment.first_document;
        let last = first + segment.stats.documents as u32;
        let covered = |document: u32| {
            let after = plan.covered.partition_point(|&(from, _)| from <= document);
            after > 0 && plan.covered[after - 1].1 > document
        };
        let wanted = |document: u32| !covered(document) && plan.sampled.own(document) > 0;
        if !(first..last).any(wanted) {
            return Ok(());
        }
        let mut sets = SetReader::<K>::open(plan.places, plan.parameters, segment)?;
        for document in first..last {
            self.stop.tick(STAGE, document)?;
            let stored = plan.stored.at(document);
            if !wanted(document) {
                sets.next(stored, |_: &[K]| Ok(()))?;
                // A document without records is covered by any run. Otherwise the interval would
                // end at every exact duplicate, and the manifest would list millions of them.
                if let Some(last) = self.covers.last_mut()
                    && last.1 == document
                    && !covered(document)
                {
                    last.1 += 1;
                }
                continue;
            }
            let size = plan.sampled.own(document) as usize;
            if size > self.buffer.room() {
                self.spill()?;
            }
            let (low, high) = plan.sampled.rate(document).bounds::<K>();
            let mut left = plan.most.map_or(usize::MAX, |most| most as usize);
            sets.next(stored, |keys| {
                let from = keys.partition_point(|&key| key < low);
                let to = keys.partition_point(|&key| key <= high);
                let mut keys = &keys[from..to.min(from.saturating_add(left))];
                left -= keys.len();
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
            })?;
            match self.covers.last_mut() {
                Some(last) if last.1 == document => last.1 += 1,
                _ => self.covers.push((document, document + 1)),
            }
            plan.done.fetch_add(size as u64, Ordering::Relaxed);
        }
        sets.finish()
    }

    /// Sorts the buffer into a run. The caller fills in the documents that it covers.
    fn write(&mut self) -> Result<RunEntry> {
        self.stop.check(STAGE)?;
        let number = self.plan.next_number.fetch_add(1, Ordering::SeqCst);
        let mut run = RunWriter::create(
            self.plan.runs,
            number,
            self.plan.parameters,
            Compression::Packed,
        )?;
        self.buffer.drain(|records| {
            for &record in records {
                run.push(record)?;
            }
            Ok(())
        })?;
        Ok(RunEntry {
            part: run.finish()?,
            generation: 0,
            covers: Vec::new(),
        })
    }

    fn spill(&mut self) -> Result<()> {
        if self.covers.is_empty() {
            return Ok(());
        }
        let mut run = self.write()?;
        run.covers = std::mem::take(&mut self.covers);
        self.parts.push(run);
        self.tasks.finished(std::mem::take(&mut self.parts));
        Ok(())
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
}

impl StageRecord for RunsEntry {
    const NAME: &'static str = "runs";
    const DIRECTORY: Option<&'static str> = Some(DIRECTORY);
    const TAKES_ALONG: &'static [&'static str] = &["postings", "joining"];

    fn parts(&self) -> Vec<(Kind, &PartInfo)> {
        let runs = self.runs.iter();
        runs.map(|run| (Kind::Run, &run.part)).collect()
    }
}
