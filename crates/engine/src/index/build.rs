//! Makes the index from the stored sets.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::documents::{self, IndexedDocuments};
use super::lists::{ListsWriter, MadeRange};
use super::{DIRECTORY, IndexEntry, IndexStats, Layout, Level, STAGE, key_of};
use crate::collection::{self, Catalogue, Extent, Representatives, SegmentEntry, SetReader};
use crate::sort::Buffer;
use lookalike_base::budget::{Budget, PROCESS_BYTES};
use lookalike_base::ids::Key;
use lookalike_base::progress::{Context, Stop, Unit};
use lookalike_base::workers::{Tasks, work_and_commit};
use lookalike_base::{Error, Result};
use lookalike_store::disk;
use lookalike_store::workspace::{Places, Workspace};

/// Memory of a thread's reader and writer.
const WORKER_BYTES: u64 = 4 << 20;
/// The least memory of a thread's buffer.
const LEAST_BUFFER: u64 = 2 << 20;
/// The most ranges in a buffer, unless that would make more than [`MOST_PASSES`]: a larger buffer
/// is slower, as in the merge without runs.
const FAST_RANGES: u64 = 3;
/// Passes over the sets for each thread from which on buffers become larger instead.
const MOST_PASSES: u64 = 8;

/// Makes the index of a collection, or the levels that it lacks. It resumes after the committed
/// ranges.
pub fn run<K: Key>(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    let documents = Catalogue::stats(workspace)?.documents;
    loop {
        let entry = workspace.manifest.get_or_insert_with(IndexEntry::default);
        if entry.documents() > documents {
            *entry = IndexEntry::default();
        }
        let fits = |level: &Level| {
            let gap = u64::from(level.first) > entry.documents();
            !gap && level.end() > entry.documents() && level.end() <= documents
        };
        if entry.making.as_ref().is_none_or(|level| !fits(level)) {
            entry.making = None;
            if entry.documents() == documents {
                return Ok(());
            }
            let level = next(workspace, documents);
            if let Some(entry) = workspace.manifest.get_mut::<IndexEntry>() {
                entry.making = Some(level);
            }
        }
        make::<K>(workspace, context)?;
    }
}

/// The level of the documents that have none, and of the levels before it that are not larger.
fn next(workspace: &Workspace, documents: u64) -> Level {
    let entry = workspace.manifest.get::<IndexEntry>();
    let entry = entry.cloned().unwrap_or_default();
    let mut first = entry.documents();
    let segments = collection::segments(&workspace.manifest).iter();
    let new = segments.filter(|segment| u64::from(segment.first_document) >= first);
    let mut keys = Extent::of(new).fingerprints;
    for before in entry.levels.iter().rev() {
        if before.stats.entries > keys {
            break;
        }
        keys += before.stats.entries;
        first = before.first.into();
    }
    let numbers = entry.levels.iter().map(|level| level.number + 1);
    // The names of levels of another directory are never reused, even when a larger level has taken
    // their place: the part would be looked for there.
    let base = workspace.manifest.base.as_ref();
    let others = base.and_then(|base| base.below.get(DIRECTORY).copied());
    Level {
        number: numbers.chain(others).max().unwrap_or(0),
        first: first as u32,
        documents: documents - first,
        layout: Layout::of(keys),
        parts: BTreeMap::new(),
        facts: None,
        stats: IndexStats::default(),
    }
}

/// The level that is being made.
fn making(workspace: &mut Workspace) -> Result<&mut Level> {
    let path = workspace.directory().to_path_buf();
    let entry = workspace.manifest.get_mut::<IndexEntry>();
    let making = entry.and_then(|entry| entry.making.as_mut());
    making.ok_or(Error::no_stage(path, STAGE))
}

/// Completes the level that is being made, and drops those that it replaces.
fn make<K: Key>(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    let level = making(workspace)?.clone();
    let within = |segment: &SegmentEntry| {
        (u64::from(level.first)..level.end()).contains(&segment.first_document.into())
    };
    let segments = collection::segments(&workspace.manifest).iter();
    let segments: Vec<SegmentEntry> = segments.filter(|&s| within(s)).cloned().collect();
    if level.facts.is_none() {
        let made = documents::write(workspace, (&level, &segments), context)?;
        let bytes = made.0.bytes + made.1.bytes;
        let level = making(workspace)?;
        level.facts = Some(made);
        level.stats.bytes += bytes;
        workspace.commit(&[DIRECTORY])?;
    }
    let keys = Extent::of(&segments).fingerprints;
    context.start(STAGE, Unit::Count("fingerprints"), Some(keys));
    let budget = &context.budget;
    let threads = budget.threads as u64;
    let stats = Catalogue::stats(workspace)?;
    let fixed = PROCESS_BYTES
        + Representatives::most_bytes(stats.documents, stats.exact_duplicates)
        + threads * WORKER_BYTES;
    budget.require(fixed + threads * LEAST_BUFFER, || "making an index".into())?;
    let level = making(workspace)?.clone();
    let (capacity, together) = buffers::<K>(budget, fixed, level.layout, keys);
    let todo = (0..level.layout.ranges).filter(|range| !level.parts.contains_key(range));
    let todo: Vec<u32> = todo.collect();
    let groups = todo
        .chunk_by(|a, b| a + 1 == *b)
        .flat_map(|adjacent| adjacent.chunks(together))
        .filter_map(|group| Some((*group.first()?, *group.last()?)));
    let done = AtomicU64::new(0);
    let shared = RangeShared {
        places: &workspace.places().clone(),
        parameters: workspace.collection_parameters(),
        out: &workspace.path(DIRECTORY),
        level: &level,
        segments: &segments,
        representatives: &Catalogue::representatives(workspace)?,
        documents: &IndexedDocuments::of(workspace, &level)?,
        stop: context.stop,
        done: &done,
    };
    let work = |tasks: &Groups<'_>| {
        let mut worker = RangeWorker {
            shared: &shared,
            tasks,
            buffer: Buffer::<K>::new(capacity, K::default(), K::MAX),
        };
        while let Some(group) = tasks.next() {
            disk::point("index: worker");
            worker.group(group)?;
        }
        Ok(())
    };
    work_and_commit(STAGE, budget.threads, groups, work, |made| {
        disk::point("index: commit");
        let bytes = made.part.bytes;
        let level = making(workspace)?;
        level.stats.lists += made.lists;
        level.stats.entries += made.entries;
        level.stats.bytes += bytes;
        level.parts.insert(made.range, made.part);
        workspace.commit_part(&[DIRECTORY], bytes)?;
        context.progress.at(done.load(Ordering::Relaxed));
        Ok(())
    })?;
    if let Some(entry) = workspace.manifest.get_mut::<IndexEntry>()
        && let Some(made) = entry.making.take()
    {
        entry.levels.retain(|level| level.first < made.first);
        entry.levels.push(made);
    }
    workspace.settle(&[DIRECTORY])
}

/// The records of a thread's buffer, and the ranges that are collected together.
fn buffers<K: Key>(budget: &Budget, fixed: u64, layout: Layout, keys: u64) -> (usize, usize) {
    let memory = budget.memory.0.saturating_sub(fixed);
    let capacity = Buffer::<K>::capacity(memory / budget.threads as u64);
    let ranges = u64::from(layout.ranges);
    let each = keys.div_ceil(ranges) * 17 / 16 + 4096;
    let most = FAST_RANGES.max(ranges.div_ceil(MOST_PASSES));
    let together = (capacity / each).clamp(1, most);
    (capacity.min(each * together) as usize, together as usize)
}

/// First and last range of each group.
type Groups<'a> = Tasks<'a, (u32, u32), MadeRange>;

struct RangeShared<'a> {
    places: &'a Places,
    parameters: u128,
    out: &'a Path,
    level: &'a Level,
    segments: &'a [SegmentEntry],
    representatives: &'a Representatives,
    documents: &'a IndexedDocuments,
    stop: &'a Stop,
    /// Keys written so far.
    done: &'a AtomicU64,
}

struct RangeWorker<'a, K> {
    shared: &'a RangeShared<'a>,
    tasks: &'a Groups<'a>,
    buffer: Buffer<K>,
}

/// Writes the ranges of a group one after the other.
struct Out<'a, K> {
    shared: &'a RangeShared<'a>,
    tasks: &'a Groups<'a>,
    range: u32,
    writer: ListsWriter,
    high: K,
}

impl<'a, K: Key> Out<'a, K> {
    fn create(shared: &'a RangeShared<'a>, tasks: &'a Groups<'a>, range: u32) -> Result<Self> {
        Ok(Out {
            shared,
            tasks,
            range,
            writer: shared.writer::<K>(range)?,
            high: shared.level.layout.bounds::<K>(range).1,
        })
    }

    #[inline]
    fn push(&mut self, key: K, document: u32) -> Result<()> {
        while key > self.high {
            self.next()?;
        }
        self.writer.push(key, document)
    }

    fn next(&mut self) -> Result<()> {
        let next = self.shared.writer::<K>(self.range + 1)?;
        let made = std::mem::replace(&mut self.writer, next).finish(self.range)?;
        self.shared.hand_over(self.tasks, made)?;
        self.range += 1;
        self.high = self.shared.level.layout.bounds::<K>(self.range).1;
        Ok(())
    }

    fn finish(mut self, last: u32) -> Result<()> {
        while self.range < last {
            self.next()?;
        }
        let (shared, tasks, range) = (self.shared, self.tasks, self.range);
        shared.hand_over(tasks, self.writer.finish(range)?)
    }
}

impl RangeShared<'_> {
    fn hand_over(&self, tasks: &Groups<'_>, made: MadeRange) -> Result<()> {
        self.stop.check(STAGE)?;
        self.done.fetch_add(made.entries, Ordering::Relaxed);
        tasks.finished(made);
        Ok(())
    }

    fn writer<K: Key>(&self, range: u32) -> Result<ListsWriter> {
        ListsWriter::create::<K>(self.out, self.parameters, self.level, range)
    }

    /// Calls `take` with the keys from `low` to `high` of every representative, in the order of the
    /// documents, until it returns `false`.
    fn collect<K: Key>(
        &self,
        (low, high): (K, K),
        mut take: impl FnMut(&[K], u32) -> Result<bool>,
    ) -> Result<bool> {
        let Some(mut facts) = self.documents.in_order() else {
            return Ok(true);
        };
        for segment in self.segments {
            self.stop.check(STAGE)?;
            let first = segment.first_document;
            let mut sets = SetReader::<K>::open(self.places, self.parameters, segment)?;
            for document in first..first + segment.stats.documents as u32 {
                let own = facts.get(document)?;
                let takes_part = self.representatives.has(document);
                let mut more = true;
                if takes_part && own.keys == 0 && own.words > 0 {
                    let key = key_of::<K>(own.md5);
                    if (low..=high).contains(&key) {
                        more = take(&[key], document)?;
                    }
                }
                sets.next_within(own.keys, (low, high), |keys| {
                    if takes_part && more {
                        more = take(keys, document)?;
                    }
                    Ok(())
                })?;
                if !more {
                    return Ok(false);
                }
            }
            sets.finish()?;
        }
        Ok(true)
    }
}

impl<K: Key> RangeWorker<'_, K> {
    fn group(&mut self, (first, last): (u32, u32)) -> Result<()> {
        let layout = self.shared.level.layout;
        let low = layout.bounds::<K>(first).0;
        let high = layout.bounds::<K>(last).1;
        let mut out = Out::create(self.shared, self.tasks, first)?;
        self.keys((low, high), &mut out)?;
        out.finish(last)
    }

    /// Writes the keys from `low` to `high`.
    fn keys(&mut self, (low, high): (K, K), out: &mut Out<'_, K>) -> Result<()> {
        let buffer = &mut self.buffer;
        buffer.begin(low, high);
        let all = self.shared.collect((low, high), |keys, document| {
            let fits = keys.len() <= buffer.room();
            if fits {
                buffer.extend(keys, document);
            }
            Ok(fits)
        })?;
        if all {
            return buffer.drain(|records| {
                let mut records = records.iter();
                records.try_for_each(|record| out.push(record.key, record.value))
            });
        }
        if low == high {
            // The documents of one key come in order.
            let each = |keys: &[K], document| {
                keys.iter().try_for_each(|&key| out.push(key, document))?;
                Ok(true)
            };
            return self.shared.collect((low, high), each).map(|_| ());
        }
        let middle = low.to_u128() + (high.to_u128() - low.to_u128()) / 2;
        self.keys((low, K::from_u128(middle)), out)?;
        self.keys((K::from_u128(middle + 1), high), out)
    }
}
