//! Makes postings from the fingerprint sets without runs, if all records fit in memory in a few
//! passes over the sets.

use crate::collection::{self, Catalogue, Extent, SegmentEntry, SetReader};
use crate::merge::PostingsEntry;
use crate::sample::{SampleEntry, Sampled, Sets};
use crate::sort::{Buffer, FormStats, RunsEntry};
use lookalike_base::{
    Budget, Context, Key, PROCESS_BYTES, Result, Stop, Tasks, Unit, work_and_commit,
};
use lookalike_store::{Workspace, disk};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::ranges::{
    Cuts, LongLists, MergedRange, RangeWriter, WORKER_BYTES, bounds, commit_range, finish,
    list_bytes, ranges_of,
};
use super::{MergeStats, STAGE};

/// The most passes over the sets for each thread. Threads read the same sets at about the same
/// time, so eight passes read 64 bytes for each 64-bit fingerprint from the disk, unless the sets
/// fit in the page cache. With runs, about 15 bytes are written and read.
const MOST_PASSES: u64 = 8;
/// The most passes of all threads. Reading 61 million fingerprints once takes 0.05 CPU seconds;
/// writing runs and merging them takes 5 more than making the postings without.
const MOST_PASSES_OF_ALL: u64 = 32;
/// The most ranges in a buffer (about 200 MiB), unless that would make more than [`MOST_PASSES`]. A
/// merge of 61 million records took 6.4 CPU seconds with two buffers of 500 MiB each, and 3.0 with
/// this limit.
const FAST_RANGES: u64 = 3;
/// A buffer has room for this many sixteenths more records than its ranges are expected to have.
/// Keys are random, but some keys occur in many documents.
const SPARE: u64 = 1;

/// How the ranges are divided into passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Passes {
    /// Records that fit in a thread's buffer.
    capacity: u64,
    /// Ranges that are expected to fit in the buffer.
    ranges: u32,
}

fn passes<K: Key>(budget: &Budget, records: u64, extent: Extent, levels: usize) -> Option<Passes> {
    let threads = budget.threads as u64;
    let fixed = PROCESS_BYTES
        + extent.column_bytes()
        + Sampled::bytes(levels, extent)
        + threads * WORKER_BYTES
        + list_bytes(extent.documents, threads);
    let memory = budget.memory.0.checked_sub(fixed)?;
    let capacity = Buffer::<K>::capacity(memory / threads);
    let ranges = u64::from(ranges_of(records));
    let each = records.div_ceil(ranges) * (16 + SPARE) / 16 + 4096;
    let fit = (capacity / each).min(FAST_RANGES.max(ranges.div_ceil(MOST_PASSES)));
    if fit == 0 {
        return None;
    }
    // The number of groups is a multiple of the threads, so that all threads have equal work.
    let groups = ranges.div_ceil(fit).next_multiple_of(threads).min(ranges);
    let ranges = ranges.div_ceil(groups);
    Some(Passes {
        capacity: capacity.min(each * ranges),
        ranges: ranges as u32,
    })
}

/// Whether to make postings without runs: all records fit in memory in a few passes over the sets,
/// the sample does not cut the sets off (`crate::sample::Sampling::most_per_document`), and
/// no runs have been made.
pub fn wanted<K: Key>(workspace: &Workspace, budget: &Budget) -> bool {
    let manifest = &workspace.manifest;
    let (Some(sample), Ok(extent)) = (manifest.get::<SampleEntry>(), Catalogue::extent(workspace))
    else {
        return false;
    };
    let begun = manifest.get::<PostingsEntry>().is_some_and(|p| p.direct);
    if sample.sampling.most_per_document().is_some() || (manifest.has::<RunsEntry>() && !begun) {
        return false;
    }
    let (records, levels) = (sample.stats.sampled, sample.sizes.len());
    // All keys of a sample are in one of the ranges.
    let levels_of = sample
        .sampling
        .levels(collection::config(manifest).size_groups.count());
    if ranges_of(records) > 1 && levels_of.rates.first().is_some_and(|rate| rate.n() > 1) {
        return false;
    }
    let most = (MOST_PASSES * budget.threads as u64).min(MOST_PASSES_OF_ALL);
    passes::<K>(budget, records, extent, levels)
        .is_some_and(|passes| u64::from(ranges_of(records)).div_ceil(passes.ranges.into()) <= most)
}

/// Makes shared postings of all sampled records, and resumes after the committed ranges. Returns
/// `false`, after removing the finished parts, if the keys of a range do not fit in a buffer. Then
/// runs must be made.
pub fn run<K: Key>(workspace: &mut Workspace, context: &Context<'_>) -> Result<bool> {
    let Some(sample) = workspace.manifest.get::<SampleEntry>().cloned() else {
        return Ok(false);
    };
    let extent = Catalogue::extent(workspace)?;
    let records = sample.stats.sampled;
    let levels = sample.sizes.len();
    let Some(passes) = passes::<K>(&context.budget, records, extent, levels) else {
        return Ok(false);
    };
    context.start(STAGE, Unit::Count("records"), Some(records));
    let ranges = ranges_of(records);
    workspace.manifest.set(RunsEntry {
        complete: true,
        stats: FormStats {
            records,
            ..FormStats::default()
        },
        ..RunsEntry::default()
    });
    let cuts = Cuts::of(records, None);
    let begin = || PostingsEntry::begin(cuts, MergeStats::default(), true);
    let postings = workspace.manifest.get_or_insert_with(begin);
    let todo = postings.ranges_left(ranges);
    let done = AtomicU64::new(postings.stats.records);
    // Groups of adjacent ranges.
    let groups = todo
        .chunk_by(|a, b| a + 1 == *b)
        .flat_map(|adjacent| adjacent.chunks(passes.ranges as usize))
        .filter_map(|group| Some((*group.first()?, *group.last()?)));
    let sampled = Sampled::load(workspace)?;
    let segments = collection::segments(&workspace.manifest).to_vec();
    let shared = Shared {
        sets: Sets {
            places: &workspace.places().clone(),
            segments: &segments,
            stored: &Catalogue::stored(workspace)?,
        },
        out: &workspace.path("postings"),
        long: LongLists::default(),
        sampled: &sampled,
        ranges,
        crowded: AtomicBool::new(false),
        done,
        stop: context.stop,
    };
    let work = |tasks: &Groups<'_>| {
        let mut worker = Worker {
            shared: &shared,
            tasks,
            buffer: Buffer::<K>::new(passes.capacity as usize, K::default(), K::MAX),
        };
        while let Some((first, last)) = tasks.next() {
            disk::point("merge in memory: worker");
            worker.group(first, last)?;
        }
        Ok(())
    };
    work_and_commit(STAGE, context.budget.threads, groups, work, |merged| {
        disk::point("merge in memory: commit");
        commit_range(workspace, merged)?;
        context.progress.at(shared.done.load(Ordering::Relaxed));
        Ok(())
    })?;
    if shared.crowded.load(Ordering::SeqCst) {
        discard(workspace)?;
        return Ok(false);
    }
    finish(workspace, records, context)?;
    Ok(true)
}

/// Removes the parts made so far, so that runs can be made instead.
pub fn discard(workspace: &mut Workspace) -> Result<()> {
    workspace.manifest.remove::<PostingsEntry>();
    workspace.manifest.remove::<RunsEntry>();
    workspace.settle(&[])
}

/// First and last range of each group.
type Groups<'a> = Tasks<'a, (u32, u32), MergedRange>;

/// The data that all workers share.
struct Shared<'a> {
    sets: Sets<'a>,
    out: &'a Path,
    long: LongLists,
    sampled: &'a Sampled,
    ranges: u32,
    /// Whether the keys of a range did not fit in a buffer.
    crowded: AtomicBool,
    /// Records written so far.
    done: AtomicU64,
    stop: &'a Stop,
}

impl Shared<'_> {
    fn finish<K: Key>(&self, writer: RangeWriter<'_, K>, tasks: &Groups<'_>) -> Result<()> {
        self.stop.check(STAGE)?;
        self.done.fetch_add(writer.records(), Ordering::Relaxed);
        tasks.finished(writer.finish()?);
        Ok(())
    }
}

struct Worker<'a, K> {
    shared: &'a Shared<'a>,
    tasks: &'a Groups<'a>,
    buffer: Buffer<K>,
}

impl<'a, K: Key> Worker<'a, K> {
    /// Collects the records of a group of ranges, sorts them, and writes their postings.
    fn group(&mut self, first: u32, last: u32) -> Result<()> {
        let shared = self.shared;
        let low = bounds::<K>(shared.ranges, first).0;
        let high = bounds::<K>(shared.ranges, last).1;
        self.buffer.begin(low, high);
        for segment in shared.sets.segments {
            shared.stop.check(STAGE)?;
            if self.collect(segment, low, high)? {
                continue;
            }
            if first == last {
                shared.crowded.store(true, Ordering::SeqCst);
                self.tasks.cancel();
                return Ok(());
            }
            // Half the ranges at a time.
            let middle = first + (last - first) / 2;
            self.group(first, middle)?;
            return self.group(middle + 1, last);
        }
        self.write(first, last)
    }

    /// Writes the records of the buffer, range by range.
    fn write(&mut self, first: u32, last: u32) -> Result<()> {
        let (shared, tasks) = (self.shared, self.tasks);
        let create = |range| {
            RangeWriter::<K>::create(
                shared.out,
                shared.sets.places.parameters,
                range,
                &shared.long,
            )
        };
        let mut writer = create(first)?;
        let next_range = |writer: &mut RangeWriter<'a, K>| {
            let next = create(writer.range + 1)?;
            shared.finish(std::mem::replace(writer, next), tasks)
        };
        self.buffer.drain(|mut records| {
            while let Some(next) = records.first() {
                let high = bounds::<K>(shared.ranges, writer.range).1;
                if next.key > high {
                    next_range(&mut writer)?;
                    continue;
                }
                let within = records.partition_point(|record| record.key <= high);
                let (now, later) = records.split_at(within);
                records = later;
                writer.push_records(now)?;
            }
            Ok(())
        })?;
        while writer.range < last {
            next_range(&mut writer)?;
        }
        shared.finish(writer, tasks)
    }

    /// Puts the records of a segment from `low` to `high` into the buffer; `false` if they do not
    /// fit.
    fn collect(&mut self, segment: &SegmentEntry, low: K, high: K) -> Result<bool> {
        let shared = self.shared;
        let first = segment.first_document;
        let mut sets = SetReader::<K>::open(shared.sets.places, segment)?;
        for document in first..first + segment.stats.documents as u32 {
            let own = shared.sampled.own(document);
            let (least, most) = shared.sampled.rate(document).bounds::<K>();
            let (least, most) = (least.max(low), most.min(high));
            let mut room = true;
            let stored = shared.sets.stored.at(document);
            sets.next_within(stored, (least, most), |keys| {
                if own == 0 || !room {
                    return Ok(());
                }
                room = keys.len() <= self.buffer.room();
                if room {
                    self.buffer.extend(keys, document);
                }
                Ok(())
            })?;
            if !room {
                return Ok(false);
            }
        }
        sets.finish()?;
        Ok(true)
    }
}
