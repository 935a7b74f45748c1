//! Makes the index from the stored sets.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::documents::{self, IndexedDocuments};
use super::lists::{ListsWriter, MadeRange};
use super::{DIRECTORY, IndexEntry, IndexStats, Layout, STAGE, key_of};
use crate::budget::{Budget, ByteSize, PROCESS_BYTES};
use crate::collection::{self, Catalogue, Representatives, SegmentEntry, SetReader};
use crate::ids::Key;
use crate::progress::{Context, Stop, Unit};
use crate::sort::Buffer;
use crate::store::disk;
use crate::workers::{Tasks, work_and_commit};
use crate::workspace::Workspace;
use crate::{Error, Result};

/// Memory of a thread's reader and writer.
const WORKER_BYTES: u64 = 4 << 20;
/// The least memory of a thread's buffer.
const LEAST_BUFFER: u64 = 2 << 20;
/// The most ranges in a buffer, unless that would make more than [`MOST_PASSES`]: a larger buffer
/// is slower, as in the merge without runs.
const FAST_RANGES: u64 = 3;
/// Passes over the sets for each thread from which on buffers become larger instead.
const MOST_PASSES: u64 = 8;

/// Makes the index of a collection, unless it exists. It resumes after the committed ranges.
pub fn run<K: Key>(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    if workspace
        .manifest
        .get::<IndexEntry>()
        .is_some_and(|index| index.complete)
    {
        return Ok(());
    }
    let extent = Catalogue::extent(workspace)?;
    let layout = Layout::of(extent.fingerprints);
    workspace.manifest.get_or_insert_with(|| IndexEntry {
        layout,
        parts: BTreeMap::new(),
        documents: None,
        stats: IndexStats::default(),
        complete: false,
    });
    if workspace
        .manifest
        .get::<IndexEntry>()
        .is_some_and(|index| index.documents.is_none())
    {
        let made = documents::write::<K>(workspace, context)?;
        let bytes = made.0.bytes + made.1.bytes;
        if let Some(index) = workspace.manifest.get_mut::<IndexEntry>() {
            index.documents = Some(made);
            index.stats.bytes += bytes;
        }
        workspace.commit(&[DIRECTORY])?;
    }
    context.progress.start(
        STAGE,
        Unit::Count("fingerprints"),
        Some(extent.fingerprints),
    );
    let budget = &context.budget;
    let threads = budget.threads as u64;
    let exact = Catalogue::stats(workspace)?.exact_duplicates;
    let fixed = PROCESS_BYTES
        + Representatives::most_bytes(extent.documents, exact)
        + threads * WORKER_BYTES;
    let least = ByteSize(fixed + threads * LEAST_BUFFER);
    budget.require(least, || "making an index".into())?;
    let (capacity, together) = buffers::<K>(budget, fixed, layout, extent.fingerprints);
    let (layout, todo) = match workspace.manifest.get::<IndexEntry>() {
        Some(index) => (
            index.layout,
            (0..index.layout.ranges).filter(|range| !index.parts.contains_key(range)),
        ),
        None => return Ok(()),
    };
    let todo: Vec<u32> = todo.collect();
    let groups = todo
        .chunk_by(|a, b| a + 1 == *b)
        .flat_map(|adjacent| adjacent.chunks(together))
        .filter_map(|group| Some((*group.first()?, *group.last()?)));
    let missing = || Error::StageMissing {
        path: workspace.directory().into(),
        stage: STAGE,
    };
    let segments = collection::segments(&workspace.manifest).to_vec();
    let done = AtomicU64::new(0);
    let shared = Shared {
        collection: &workspace.path("collection"),
        out: &workspace.path(DIRECTORY),
        parameters: workspace.collection_parameters(),
        segments: &segments,
        representatives: &Catalogue::representatives(workspace)?,
        documents: &IndexedDocuments::open(workspace)?.ok_or_else(missing)?,
        layout,
        stop: context.stop,
        done: &done,
    };
    let work = |tasks: &Groups<'_>| {
        let mut worker = Worker {
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
        if let Some(index) = workspace.manifest.get_mut::<IndexEntry>() {
            index.stats.lists += made.lists;
            index.stats.entries += made.entries;
            index.stats.bytes += bytes;
            index.parts.insert(made.range, made.part);
        }
        workspace.commit_part(&[DIRECTORY], bytes)?;
        context.progress.at(done.load(Ordering::Relaxed));
        Ok(())
    })?;
    if let Some(index) = workspace.manifest.get_mut::<IndexEntry>() {
        index.complete = true;
    }
    workspace.commit(&[DIRECTORY])?;
    workspace.remove_scrap()
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

struct Shared<'a> {
    collection: &'a Path,
    out: &'a Path,
    parameters: u128,
    segments: &'a [SegmentEntry],
    representatives: &'a Representatives,
    documents: &'a IndexedDocuments,
    layout: Layout,
    stop: &'a Stop,
    /// Keys written so far.
    done: &'a AtomicU64,
}

struct Worker<'a, K> {
    shared: &'a Shared<'a>,
    tasks: &'a Groups<'a>,
    buffer: Buffer<K>,
}

/// Writes the ranges of a group one after the other.
struct Out<'a, K> {
    shared: &'a Shared<'a>,
    tasks: &'a Groups<'a>,
    range: u32,
    writer: ListsWriter,
    high: K,
}

impl<'a, K: Key> Out<'a, K> {
    fn create(shared: &'a Shared<'a>, tasks: &'a Groups<'a>, range: u32) -> Result<Self> {
        Ok(Out {
            shared,
            tasks,
            range,
            writer: shared.writer::<K>(range)?,
            high: shared.layout.bounds::<K>(range).1,
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
        self.hand_over(made)?;
        self.range += 1;
        self.high = self.shared.layout.bounds::<K>(self.range).1;
        Ok(())
    }

    fn hand_over(&self, made: MadeRange) -> Result<()> {
        self.shared.stop.check(STAGE)?;
        self.shared.done.fetch_add(made.entries, Ordering::Relaxed);
        self.tasks.finished(made);
        Ok(())
    }

    fn finish(mut self, last: u32) -> Result<()> {
        while self.range < last {
            self.next()?;
        }
        let (shared, tasks, range) = (self.shared, self.tasks, self.range);
        let made = self.writer.finish(range)?;
        shared.stop.check(STAGE)?;
        shared.done.fetch_add(made.entries, Ordering::Relaxed);
        tasks.finished(made);
        Ok(())
    }
}

impl Shared<'_> {
    fn writer<K: Key>(&self, range: u32) -> Result<ListsWriter> {
        ListsWriter::create::<K>(self.out, self.parameters, self.layout, range)
    }

    /// Calls `take` with the keys from `low` to `high` of every representative, in the order of the
    /// documents, until it returns `false`.
    fn collect<K: Key>(
        &self,
        (low, high): (K, K),
        mut take: impl FnMut(&[K], u32) -> Result<bool>,
    ) -> Result<bool> {
        let mut facts = self.documents.in_order();
        for segment in self.segments {
            self.stop.check(STAGE)?;
            let first = segment.first_document;
            let mut sets = SetReader::<K>::open(self.collection, self.parameters, segment)?;
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

impl<K: Key> Worker<'_, K> {
    fn group(&mut self, (first, last): (u32, u32)) -> Result<()> {
        let layout = self.shared.layout;
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
