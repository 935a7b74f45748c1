//! Makes the index from the stored sets.

use std::collections::BTreeMap;
use std::iter::from_fn;
use std::sync::atomic::{AtomicU64, Ordering};

use super::divided::Divided;
use super::documents::{self, OfLevel};
use super::lists::ListsWriter;
use super::{DIRECTORY, IndexEntry, IndexStats, Layout, Level, STAGE, key_of, leading, least};
use crate::collection::{self, Catalogue, Extent, Representatives, SegmentEntry, SetReader};
use crate::sort::{Buffer, Record};
use lookalike_base::{
    Context, Criterion, Error, Key, PROCESS_BYTES, Result, Stop, Tasks, Unit, files_left,
    work_and_commit, workers::share,
};
use lookalike_store::{PartInfo, Workspace, disk};

/// Memory of a thread's reader and writer.
const WORKER_BYTES: u64 = 4 << 20;
/// The least memory of a thread's buffer.
const LEAST_BUFFER: u64 = 2 << 20;

/// Makes the index of a collection, or the levels that it lacks: for these pairs, or of all
/// fingerprints. It resumes after the committed ranges.
pub fn run<K: Key>(
    workspace: &mut Workspace,
    criterion: Option<Criterion>,
    context: &Context<'_>,
) -> Result<()> {
    let documents = Catalogue::stats(workspace)?.documents;
    let other = |index: &IndexEntry| index.documents() > documents || !index.serves(criterion);
    if workspace.matches::<IndexEntry>(other) {
        workspace.manifest.remove::<IndexEntry>();
        workspace.settle(&[])?;
    }
    loop {
        let entry = workspace.manifest.get_or_insert_with(|| IndexEntry {
            criterion,
            ..IndexEntry::default()
        });
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
    let segments = collection::segments(&workspace.manifest);
    let from = |first: u64| {
        let new = segments.iter();
        Extent::of(new.filter(|segment| u64::from(segment.first_document) >= first)).fingerprints
    };
    let mut keys = from(first);
    for before in entry.levels.iter().rev() {
        let with = from(before.first.into());
        if with.saturating_sub(keys) > keys {
            break;
        }
        (keys, first) = (with, before.first.into());
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
        // Least keys lie as near each other as all keys do, in the first ranges.
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
    let layout = level.layout;
    let memory = (budget.memory.0 - fixed) / threads;
    let each = keys.div_ceil(layout.ranges.into()) * 17 / 16 + 4096;
    let capacity = Buffer::<u64>::capacity(memory).min(each);
    let scratch = workspace.scratch(context)?;
    // A block of each range that a thread fills, and two that are written.
    let block = memory / 3 / u64::from(layout.ranges);
    let done = AtomicU64::new(0);
    let (directory, stop) = (workspace.path(DIRECTORY), context.stop);
    let sets = (workspace.collection_parameters(), K::BYTES);
    let work = |tasks: &Tasks<'_, (u32, Divided), (u32, PartInfo, u64)>| {
        let mut buffer = Buffer::new(capacity as usize, 0, u64::MAX);
        while let Some((range, keys)) = tasks.next() {
            disk::point("index: worker");
            stop.check(STAGE)?;
            let mut lists = ListsWriter::create(&directory, sets, &level, range)?;
            let all = (layout.bounds(range), (0, u32::MAX));
            write(&mut lists, &mut buffer, all, &keys, stop)?;
            let (part, lists) = lists.finish()?;
            done.fetch_add(part.records, Ordering::Relaxed);
            tasks.finished((range, part, lists));
        }
        Ok(())
    };
    let todo = (0..layout.ranges).filter(|range| !level.parts.contains_key(range));
    let todo: Vec<u32> = todo.collect();
    // Each range has a file while its keys wait.
    for todo in todo.chunks(files_left(threads).max(1) as usize) {
        let ranges = todo.iter();
        let ranges = ranges.map(|&range| (range, Divided::new(scratch.path(), block)));
        let ranges: Vec<(u32, Divided)> = ranges.collect();
        divide::<K>(workspace, (&level, &segments), &ranges, context)?;
        work_and_commit(STAGE, budget.threads, ranges, work, |made| {
            disk::point("index: commit");
            let (range, part, lists) = made;
            let bytes = part.bytes;
            let level = making(workspace)?;
            level.stats.lists += lists;
            level.stats.entries += part.records;
            level.stats.bytes += bytes;
            level.parts.insert(range, part);
            workspace.commit_part(&[DIRECTORY], bytes)?;
            context.progress.at(done.load(Ordering::Relaxed));
            Ok(())
        })?;
    }
    if let Some(entry) = workspace.manifest.get_mut::<IndexEntry>()
        && let Some(made) = entry.making.take()
    {
        entry.levels.retain(|level| level.first < made.first);
        entry.levels.push(made);
    }
    workspace.settle(&[DIRECTORY])
}

/// Divides the leading bits of the keys of all representatives among the ranges, so that the sets
/// are read once.
fn divide<K: Key>(
    workspace: &Workspace,
    (level, segments): (&Level, &[SegmentEntry]),
    ranges: &[(u32, Divided)],
    context: &Context<'_>,
) -> Result<()> {
    let representatives = Catalogue::representatives(workspace)?;
    let documents = OfLevel::open(workspace, level)?;
    let index = workspace.manifest.get::<IndexEntry>();
    let criterion = index.and_then(|index| index.criterion);
    share(STAGE, context.budget.threads, segments, |segments| {
        let mut facts = documents.in_order();
        let blocks = ranges.iter();
        let blocks = blocks.map(|(range, keys)| (level.layout.bounds(*range), keys, Vec::new()));
        let mut blocks: Vec<_> = blocks.collect();
        let mut put = |keys: &[K], document| -> Result<()> {
            let mut keys = keys.iter().map(|&key| leading(key)).peekable();
            for ((low, high), divided, block) in &mut blocks {
                while keys.next_if(|key| key < low).is_some() {}
                divided.put(block, from_fn(|| keys.next_if(|key| key <= high)), document)?;
            }
            Ok(())
        };
        while let Some(segment) = segments.next() {
            disk::point("index: divide");
            context.stop.check(STAGE)?;
            let first = segment.first_document;
            let mut sets = SetReader::<K>::open(workspace.places(), segment)?;
            for document in first..first + segment.stats.documents as u32 {
                let own = facts.get(document)?;
                let takes_part = representatives.has(document);
                if takes_part && own.keys == 0 && own.words > 0 {
                    put(&[key_of(own.md5)], document)?;
                }
                let mut left = match takes_part {
                    true => least(criterion, own.keys, own.words) as usize,
                    false => 0,
                };
                sets.next(own.keys, |keys| {
                    let wanted = &keys[..keys.len().min(left)];
                    left -= wanted.len();
                    put(wanted, document)
                })?;
            }
            sets.finish()?;
        }
        let mut left = blocks.iter_mut();
        left.try_for_each(|(_, divided, block)| divided.write(block))
    })?;
    ranges.iter().try_for_each(|(_, divided)| divided.settle())
}

/// The least and the greatest key and document of a part.
type Bounds = ((u64, u64), (u32, u32));

/// Writes the keys within bounds.
fn write(
    lists: &mut ListsWriter,
    buffer: &mut Buffer<u64>,
    bounds: Bounds,
    divided: &Divided,
    stop: &Stop,
) -> Result<()> {
    let ((low, high), (first, last)) = bounds;
    buffer.begin(low, high);
    let all = divided.each((low, high), |keys, document| {
        stop.check(STAGE)?;
        let asked = (first..=last).contains(&document);
        let fits = !asked || keys.len() <= buffer.room();
        if asked && fits {
            buffer.extend(keys, document);
        }
        Ok(fits)
    })?;
    if all {
        return buffer.drain(|records| lists.extend(records));
    }
    if low == high && first == last {
        // Keys of one document that begin alike are one entry.
        return lists.extend(&[Record {
            key: low,
            value: first,
        }]);
    }
    let (key, document) = (low + (high - low) / 2, first + (last - first) / 2);
    let halves = match low < high {
        true => [
            ((low, key), (first, last)),
            ((key + 1, high), (first, last)),
        ],
        false => [
            ((low, low), (first, document)),
            ((low, low), (document + 1, last)),
        ],
    };
    let mut halves = halves.into_iter();
    halves.try_for_each(|half| write(lists, buffer, half, divided, stop))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys that do not fit in the buffer, and documents of one key that do not.
    #[test]
    fn what_does_not_fit_is_halved() {
        let place = tempfile::tempdir().unwrap();
        let divided = Divided::new(place.path(), 1000);
        let mut block = Vec::new();
        for document in 0..1000 {
            // The first document has one key twice.
            let keys = [7, 1 << 40, (1 << 40) + u64::from(document)];
            divided.put(&mut block, keys.into_iter(), document).unwrap();
        }
        divided.write(&mut block).unwrap();
        let level = Level {
            number: 0,
            first: 0,
            documents: 1000,
            layout: Layout::of(3000),
            parts: BTreeMap::new(),
            facts: None,
            stats: IndexStats::default(),
        };
        let made = [1 << 20, 100].map(|capacity| {
            let directory = place.path().join(capacity.to_string());
            disk::create_directory(&directory).unwrap();
            let mut lists = ListsWriter::create(&directory, (1, 8), &level, 0).unwrap();
            let mut buffer = Buffer::new(capacity, 0, u64::MAX);
            let all = (level.layout.bounds(0), (0, u32::MAX));
            write(&mut lists, &mut buffer, all, &divided, &Stop::default()).unwrap();
            let (part, lists) = lists.finish().unwrap();
            assert_eq!((lists, part.records), (1001, 2999), "{capacity}");
            disk::read_all(&directory.join(part.name)).unwrap()
        });
        assert!(made[0] == made[1]);
    }
}
