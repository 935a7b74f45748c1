//! From sets to postings without runs, where memory takes all records in a few passes.

use crate::Result;
use crate::budget::{Budget, PROCESS_BYTES};
use crate::collection::{self, Catalogue, Column, SegmentEntry, SetReader};
use crate::ids::Key;
use crate::merge::PostingsEntry;
use crate::progress::{Context, Stop, Unit, caught, joined};
use crate::sample::{Rate, SampleEntry, Sampled};
use crate::sort::{Buffer, FormStats, RunsEntry};
use crate::store::{PartInfo, disk};
use crate::workspace::Workspace;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crossbeam_channel::{Sender, bounded};

use super::profile::{Collected, Collector, PROFILE_SHARE};
use super::ranges::{WORKER_BYTES, ZSTD_LEVEL, commit_range, finish, ranges_of};
use super::{MergeStats, PostingsWriter, STAGE};

/// Passes over the sets at most: each reads all of them. So eight read 64 bytes for each 64-bit
/// fingerprint, from the page cache as long as it holds the sets, where runs write and read some 15.
const MOST_PASSES: u64 = 8;
/// Ranges in a buffer at most, if that makes no more than [`MOST_PASSES`]: some 200 MiB. With 500 MiB in
/// each of two buffers a merge of 61 million records took 6.4 CPU seconds, with these 3.0.
const FAST_RANGES: u64 = 3;
/// A buffer takes this much more than is expected of its ranges, in 1/16: keys are random, but some
/// stand in many documents.
const SPARE: u64 = 1;

/// How the ranges are shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Passes {
    /// Records that a thread's buffer takes.
    capacity: u64,
    /// Ranges that are expected to fit it.
    ranges: u32,
    /// Whether there is room for profiles.
    collect: bool,
}

fn passes<K: Key>(budget: &Budget, records: u64, documents: u64, levels: usize) -> Option<Passes> {
    let threads = budget.threads as u64;
    let profiles = threads * Collector::<K>::bytes(documents, levels);
    let collect = profiles <= budget.memory.0 / PROFILE_SHARE;
    let fixed = PROCESS_BYTES
        + documents * 4
        + Sampled::bytes(levels, documents)
        + threads * (WORKER_BYTES + documents * 4)
        + if collect { profiles } else { 0 };
    let memory = budget.memory.0.checked_sub(fixed)?;
    let capacity = Buffer::<K>::capacity(memory / threads);
    let ranges = u64::from(ranges_of(records));
    let each = records.div_ceil(ranges) * (16 + SPARE) / 16 + 4096;
    let fit = (capacity / each).min(FAST_RANGES.max(ranges.div_ceil(MOST_PASSES)));
    if fit == 0 {
        return None;
    }
    // As many groups as give every thread as much to do.
    let groups = ranges.div_ceil(fit).next_multiple_of(threads).min(ranges);
    let ranges = ranges.div_ceil(groups);
    Some(Passes {
        capacity: capacity.min(each * ranges),
        ranges: ranges as u32,
        collect,
    })
}

/// Do all records fit memory in a few passes over the sets? Not where the sets are cut off
/// ([`crate::sample::Sampling::most_per_document`]), nor where runs have been made already.
#[must_use]
pub fn wanted<K: Key>(workspace: &Workspace, budget: &Budget) -> bool {
    let manifest = &workspace.manifest;
    let (Some(sample), Ok(catalogue)) =
        (manifest.get::<SampleEntry>(), Catalogue::stats(workspace))
    else {
        return false;
    };
    let begun = manifest.get::<PostingsEntry>().is_some_and(|p| p.direct);
    if sample.sampling.most_per_document().is_some() || (manifest.has::<RunsEntry>() && !begun) {
        return false;
    }
    let (records, levels) = (sample.stats.sampled, sample.sizes.len());
    // The keys of a sample lie in one range of several.
    let levels_of = sample
        .sampling
        .levels(collection::config(manifest).size_groups.count());
    if ranges_of(records) > 1 && levels_of.rates.first().is_some_and(|rate| rate.n() > 1) {
        return false;
    }
    takes::<K>(budget, records, catalogue.documents, levels)
}

/// Does memory take so many records in a few passes?
pub(crate) fn takes<K: Key>(budget: &Budget, records: u64, documents: u64, levels: usize) -> bool {
    passes::<K>(budget, records, documents, levels).is_some_and(|passes| {
        u64::from(ranges_of(records)).div_ceil(passes.ranges.into()) <= MOST_PASSES
    })
}

/// Makes shared postings of all sampled records; goes on after the ranges committed. `false` if keys
/// crowd into a range that no buffer takes: then there is nothing left of it, and runs have to be made.
pub fn run<K: Key>(workspace: &mut Workspace, context: &Context<'_>) -> Result<bool> {
    let Some(sample) = workspace.manifest.get::<SampleEntry>().cloned() else {
        return Ok(false);
    };
    let documents = Catalogue::stats(workspace)?.documents;
    let records = sample.stats.sampled;
    let levels = sample.sizes.len();
    let Some(passes) = passes::<K>(&context.budget, records, documents, levels) else {
        return Ok(false);
    };
    context
        .progress
        .start(STAGE, Unit::Count("records"), Some(records));
    let ranges = ranges_of(records);
    let collect = passes.collect && !workspace.manifest.has::<PostingsEntry>();
    workspace.manifest.set(RunsEntry {
        complete: true,
        stats: FormStats {
            records,
            ..FormStats::default()
        },
        ..RunsEntry::default()
    });
    let postings = workspace.manifest.get_or_insert_with(|| PostingsEntry {
        ranges,
        parts: Default::default(),
        stats: MergeStats::default(),
        complete: false,
        direct: true,
        profiles: Vec::new(),
    });
    let todo: Vec<u32> = (0..ranges)
        .filter(|r| !postings.parts.contains_key(r))
        .collect();
    let done = postings.stats.records;
    // Groups of ranges that follow each other.
    let groups = todo
        .chunk_by(|a, b| a + 1 == *b)
        .flat_map(|row| row.chunks(passes.ranges as usize));
    let groups: VecDeque<(u32, u32)> = groups
        .filter_map(|group| Some((*group.first()?, *group.last()?)))
        .collect();
    let stored = Catalogue::stored(workspace)?;
    let sampled = Sampled::load(workspace)?;
    let segments = collection::segments(&workspace.manifest).to_vec();
    let (directory, out) = (workspace.path("collection"), workspace.path("postings"));
    let threads = context.budget.threads;
    let (merged, arrive) = bounded::<(u32, PartInfo, MergeStats)>(threads);
    let collected = Collected::<K>::new(&sampled, collect);
    let shared = Shared {
        collection: &directory,
        out: &out,
        parameters: workspace.collection_parameters(),
        segments: &segments,
        stored: &stored,
        sampled: &sampled,
        ranges,
        capacity: passes.capacity as usize,
        queue: Mutex::new(groups),
        crowded: AtomicBool::new(false),
        done: AtomicU64::new(done),
        stop: context.stop,
    };
    std::thread::scope(|scope| -> Result<()> {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let (shared, merged, collected) = (&shared, merged.clone(), &collected);
                scope.spawn(move || -> Result<()> {
                    let mut worker = Worker {
                        shared,
                        merged,
                        buffer: Buffer::<K>::new(shared.capacity, K::default(), K::MAX),
                        profiles: collected.begin(),
                    };
                    worker.work()?;
                    collected.end(worker.profiles);
                    Ok(())
                })
            })
            .collect();
        drop(merged);
        let committed = caught(STAGE, || {
            for (range, info, stats) in &arrive {
                disk::point("merge in memory: commit");
                commit_range(workspace, range, info, &stats)?;
                context.progress.at(shared.done.load(Ordering::Relaxed));
            }
            Ok(())
        });
        drop(arrive);
        let results: Vec<_> = workers.into_iter().map(|w| joined(STAGE, w)).collect();
        results
            .into_iter()
            .find(Result::is_err)
            .unwrap_or(Ok(()))
            .and(committed)
    })?;
    if shared.crowded.load(Ordering::SeqCst) {
        discard(workspace)?;
        return Ok(false);
    }
    let memory = context.budget.memory.0.saturating_sub(PROCESS_BYTES);
    finish::<K>(
        workspace,
        records,
        &sampled,
        collected.whole(),
        memory,
        context,
    )?;
    Ok(true)
}

/// Drops what was made so far, so that runs can be made instead.
pub fn discard(workspace: &mut Workspace) -> Result<()> {
    workspace.manifest.remove::<PostingsEntry>();
    workspace.manifest.remove::<RunsEntry>();
    workspace.commit(&[])?;
    workspace.remove_scrap()
}

/// What every worker reads.
struct Shared<'a> {
    collection: &'a Path,
    out: &'a Path,
    parameters: u128,
    segments: &'a [SegmentEntry],
    stored: &'a Column,
    sampled: &'a Sampled,
    ranges: u32,
    capacity: usize,
    /// First and last range of each group.
    queue: Mutex<VecDeque<(u32, u32)>>,
    crowded: AtomicBool,
    done: AtomicU64,
    stop: &'a Stop,
}

impl Shared<'_> {
    fn bounds<K: Key>(&self, range: u32) -> (K, K) {
        Rate::new(self.ranges, range)
            .unwrap_or(Rate::FULL)
            .bounds::<K>()
    }
}

struct Worker<'a, K> {
    shared: &'a Shared<'a>,
    merged: Sender<(u32, PartInfo, MergeStats)>,
    buffer: Buffer<K>,
    profiles: Option<Collector<'a, K>>,
}

impl<K: Key> Worker<'_, K> {
    fn work(&mut self) -> Result<()> {
        loop {
            let next = self
                .shared
                .queue
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .pop_front();
            let Some((first, last)) = next else {
                return Ok(());
            };
            if self.shared.crowded.load(Ordering::SeqCst) {
                return Ok(());
            }
            disk::point("merge in memory: worker");
            self.group(first, last)?;
        }
    }

    /// Collects the records of some ranges, sorts them, and writes their postings.
    fn group(&mut self, first: u32, last: u32) -> Result<()> {
        let shared = self.shared;
        let (low, high) = (shared.bounds::<K>(first).0, shared.bounds::<K>(last).1);
        self.buffer.begin(low, high);
        for segment in shared.segments {
            shared.stop.check(STAGE)?;
            if self.collect(segment, low, high)? {
                continue;
            }
            if first == last {
                shared.crowded.store(true, Ordering::SeqCst);
                return Ok(());
            }
            // Half the ranges at once.
            let middle = first + (last - first) / 2;
            self.group(first, middle)?;
            return self.group(middle + 1, last);
        }
        let mut writing = Writing::<K>::new(shared, &self.merged, first)?;
        let profiles = &mut self.profiles;
        self.buffer.drain(|mut records| {
            while let Some(next) = records.first() {
                while next.key > writing.high {
                    writing.next_range()?;
                }
                let within = records.partition_point(|record| record.key <= writing.high);
                let (now, later) = records.split_at(within);
                records = later;
                writing.stats.records += now.len() as u64;
                for list in now.chunk_by(|a, b| a.key == b.key) {
                    if writing.stats.list(list.len() as u64) {
                        let documents = list.iter().map(|record| record.value);
                        if let Some(profiles) = profiles {
                            profiles.list(list[0].key, documents.clone());
                        }
                        writing.writer.push(list[0].key, documents)?;
                    }
                }
            }
            Ok(())
        })?;
        while writing.range < last {
            writing.next_range()?;
        }
        writing.close()
    }

    /// Puts a segment's records from `low` to `high` into the buffer; `false` if it does not take them.
    fn collect(&mut self, segment: &SegmentEntry, low: K, high: K) -> Result<bool> {
        let shared = self.shared;
        let first = segment.first_document;
        let mut sets = SetReader::<K>::open(shared.collection, shared.parameters, segment)?;
        for document in first..first + segment.stats.documents as u32 {
            let own = shared.sampled.own(document);
            let (least, most) = shared.sampled.rate(document).bounds::<K>();
            let (least, most) = (least.max(low), most.min(high));
            let mut room = true;
            let stored = shared.stored.0[document as usize];
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

/// Postings on their way to disk, range by range.
struct Writing<'a, K> {
    shared: &'a Shared<'a>,
    merged: &'a Sender<(u32, PartInfo, MergeStats)>,
    range: u32,
    high: K,
    writer: PostingsWriter<K>,
    stats: MergeStats,
}

impl<'a, K: Key> Writing<'a, K> {
    fn new(
        shared: &'a Shared<'a>,
        merged: &'a Sender<(u32, PartInfo, MergeStats)>,
        range: u32,
    ) -> Result<Self> {
        let parameters = shared.parameters;
        let writer =
            PostingsWriter::create(shared.out, parameters, range.into(), Some(ZSTD_LEVEL))?;
        Ok(Writing {
            shared,
            merged,
            range,
            high: shared.bounds::<K>(range).1,
            writer,
            stats: MergeStats::default(),
        })
    }

    fn next_range(&mut self) -> Result<()> {
        let next = Writing::new(self.shared, self.merged, self.range + 1)?;
        std::mem::replace(self, next).close()
    }

    fn close(self) -> Result<()> {
        self.shared.stop.check(STAGE)?;
        let mut stats = self.stats;
        let info = self.writer.finish()?;
        stats.bytes = info.bytes;
        self.shared.done.fetch_add(stats.records, Ordering::Relaxed);
        // A closed channel means that the other end failed and will say so.
        let _ = self.merged.send((self.range, info, stats));
        Ok(())
    }
}
