//! From documents that were added to a collection to sorted candidates.
//!
//! A document is looked up in the index ([`crate::index`]), with enough of its fingerprints for any
//! earlier document that reaches the threshold to have one of them. So the cost is that of the
//! added documents, and no frequency of all documents is needed: any fingerprints will do. The
//! least ones are taken, which lie together in the index: the fingerprints of many documents are
//! looked up in its order. And the index needs only the least ones of the earlier documents.

use std::ops::{ControlFlow, Range};
use std::sync::Mutex;

use crate::collection::{self, Catalogue, Extent, SetReader};
use crate::index::{Index, IndexSearcher, TOGETHER};
use crate::join::{DIRECTORY, JoinProgress, Pair, STAGE};
use crate::sort::RunEntry;
use lookalike_base::{Key, Result, Unit, counted, in_order, lock, unlocked};
use lookalike_store::{Workspace, disk};

use serde::{Deserialize, Serialize};

use super::{Joining, write_run};

/// The least and the most bytes of sets that a thread takes at a time.
const LEAST_TASK_BYTES: u64 = 256 << 10;
const MOST_TASK_BYTES: u64 = 16 << 20;
/// The least fingerprints that a thread looks up together, which saves reads.
const LEAST_TOGETHER: u64 = 1 << 10;
/// Bytes of sets for each fingerprint that is looked up, about.
const BYTES_OF_LOOK_UP: u64 = 32;
/// Candidates that are passed on at once.
const PIECE: usize = 32 << 10;
/// Fingerprints of added documents for each that is looked up, about.
const KEYS_OF_LOOK_UP: u64 = 5;
/// The most bytes of the filters of the levels of the index.
const MOST_FILTERS: u64 = 64 << 20;
/// The least and the most candidates that are sorted in memory.
const LEAST_CANDIDATES: u64 = 1 << 10;
const MOST_CANDIDATES: u64 = 8 << 20;

/// Counters of a join that adds pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedStats {
    /// Added documents that were looked up: representatives with fingerprints.
    pub documents: u64,
    /// Fingerprints that were looked up in the index.
    pub look_ups: u64,
}

/// Sets of consecutive documents that are looked up.
#[derive(Default)]
struct Task {
    /// The documents, with the number of their fingerprints.
    documents: Vec<(u32, u32)>,
    sets: Vec<u8>,
}

/// Looks the documents from `before` on up, and commits runs of candidates.
pub(super) fn run<K: Key>(
    workspace: &mut Workspace,
    join: &Joining<'_>,
    before: u32,
    memory: u64,
) -> Result<()> {
    let index = Index::open::<K>(workspace, Some(join.config.of_samples()))?
        .ok_or_else(|| workspace.missing("index"))?;
    let filters = (memory / 8).min(MOST_FILTERS);
    let own = collection::segments(&workspace.manifest).iter();
    let own = own.filter(|segment| segment.first_document >= before);
    let keys = Extent::of(own).fingerprints;
    let index = index.filtering(keys / KEYS_OF_LOOK_UP, filters)?;
    let context = join.context;
    let threads = context.budget.threads;
    let mut progress = workspace.manifest.get_or_default::<JoinProgress>();
    let all = join.sampled.documents() as u64;
    let new = all.saturating_sub(before.into());
    let unit = Unit::Count("added documents");
    context.start(STAGE, unit, Some(new));
    let largest = (before..all as u32).map(|document| join.sampled.own(document));
    let largest = largest.max().map_or(0, u64::from) * K::BYTES as u64;
    let together = index.bytes_read();
    let each = IndexSearcher::bytes(all)
        + 4 * LEAST_TASK_BYTES
        + (LEAST_TOGETHER + TOGETHER) * together
        + 3 * PIECE as u64 * 8;
    let used = filters + 2 * largest + threads as u64 * each;
    let what = || format!("looking up {}", counted(new, "added document"));
    (context.budget).require_share(memory, used + LEAST_CANDIDATES * 64, what)?;
    let memory = memory - used;
    // The more fingerprints are looked up together, the nearer each is to the one before it.
    let share = memory / 4 / threads as u64;
    let most = LEAST_TOGETHER + share / (together + 4 * BYTES_OF_LOOK_UP);
    let task_bytes = (most * BYTES_OF_LOOK_UP)
        .min(keys * K::BYTES as u64 / threads as u64 / 2)
        .clamp(LEAST_TASK_BYTES, MOST_TASK_BYTES);
    let memory = memory - memory / 4;
    let searches = Mutex::new(Vec::new());
    let directory = workspace.path(DIRECTORY);
    let parameters = workspace.collection_parameters();
    let capacity = (memory / 8 / 8).clamp(LEAST_CANDIDATES, MOST_CANDIDATES) as usize;
    let mut out = Runs {
        write: |number, keys: &[u64]| write_run(&directory, parameters, number, keys, context),
        number: progress.next_number,
        buffer: Vec::new(),
        capacity,
        runs: Vec::new(),
    };
    let mut looked_up = 0;
    in_order(
        STAGE,
        threads,
        |hand_out| {
            each_task::<K>(
                workspace,
                join,
                before,
                task_bytes as usize,
                |task, reached| {
                    context.stop.check(STAGE)?;
                    context.progress.at((reached - before).into());
                    looked_up += task.documents.len() as u64;
                    hand_out(task)
                },
            )
        },
        |task: Task, pass| {
            disk::point("added: worker");
            let taken = lock(&searches).pop();
            let mut search: IndexSearcher = taken.unwrap_or_default();
            let of = (join, most as usize);
            look_up::<K>(&index, of, &task, &mut search, pass)?;
            let mut searches = lock(&searches);
            searches.push(search);
            Ok(())
        },
        |keys: Vec<u64>| out.extend(&keys),
    )?;
    out.spill()?;
    let (runs, number) = (out.runs, out.number);
    let searches = unlocked(searches);
    let added = progress.stats.added.get_or_insert_default();
    added.documents = looked_up;
    added.look_ups = searches.iter().map(|search| search.look_ups).sum();
    progress.next_number = number;
    progress.take_candidates(runs);
    crate::join::commit(workspace, &progress)
}

/// Runs of sorted candidates.
struct Runs<W> {
    write: W,
    number: u64,
    buffer: Vec<u64>,
    capacity: usize,
    runs: Vec<RunEntry>,
}

impl<W: FnMut(u64, &[u64]) -> Result<RunEntry>> Runs<W> {
    fn extend(&mut self, keys: &[u64]) -> Result<()> {
        self.buffer.extend_from_slice(keys);
        if self.buffer.len() >= self.capacity {
            self.spill()?;
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.buffer.sort_unstable();
        let run = (self.write)(self.number, &self.buffer)?;
        self.number += 1;
        self.buffer.clear();
        self.runs.push(run);
        Ok(())
    }
}

/// Calls `take` with the sets of the documents from `before` on, some at a time, and the document
/// after them.
fn each_task<K: Key>(
    workspace: &Workspace,
    join: &Joining<'_>,
    before: u32,
    task_bytes: usize,
    mut take: impl FnMut(Task, u32) -> Result<()>,
) -> Result<()> {
    let mut stored = Catalogue::stored_in_order(workspace)?;
    let mut number = 0;
    let mut task = Task::default();
    for segment in collection::segments(&workspace.manifest) {
        if segment.first_document < before {
            continue;
        }
        while number < segment.first_document {
            stored.next()?;
            number += 1;
        }
        let mut sets = SetReader::<K>::open(workspace.places(), segment)?;
        for _ in 0..segment.stats.documents {
            let size = stored.next()?.unwrap_or(0);
            let own = join.sampled.own(number);
            sets.next(size, |keys| {
                if own > 0 {
                    keys.iter().for_each(|key| key.put_le(&mut task.sets));
                }
                Ok(())
            })?;
            if own > 0 {
                task.documents.push((number, size));
            }
            number += 1;
            if task.sets.len() >= task_bytes {
                take(std::mem::take(&mut task), number)?;
            }
        }
        sets.finish()?;
    }
    take(task, number.max(before))
}

/// Passes the candidates of some documents on. At most `most` fingerprints are looked up together.
fn look_up<K: Key>(
    index: &Index,
    (join, most): (&Joining<'_>, usize),
    task: &Task,
    search: &mut IndexSearcher,
    pass: &mut dyn FnMut(Vec<u64>) -> Result<()>,
) -> Result<()> {
    let (sampled, criterion) = (join.sampled, join.config.of_samples());
    let mut candidates = Vec::new();
    let mut find = |wanted: &[Wanted<'_>], keys: &[K]| -> Result<()> {
        join.context.stop.check(STAGE)?;
        let lists = search.read_lists(index, keys)?;
        for Wanted {
            document,
            set,
            prefix,
            keys,
        } in wanted
        {
            let document = *document;
            let read = (&lists, keys.clone());
            search.find_in::<K>(index, read, document.into(), set, *prefix)?;
            search.each(|other| {
                let common = ((set.len() / K::BYTES) as u32).min(sampled.own(other));
                let (a, b) = sampled.measured(other, document);
                if !join.listed.allows(other, document) {
                    return Ok(ControlFlow::Continue(()));
                }
                if common > 0 && u64::from(common) >= criterion.least_shared(a.into(), b.into()) {
                    candidates.push(Pair::key(other, document));
                }
                if candidates.len() >= PIECE {
                    join.context.stop.check(STAGE)?;
                    pass(std::mem::take(&mut candidates))?;
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(())
    };
    let (mut wanted, mut keys) = (Vec::new(), Vec::new());
    let mut rest = &task.sets[..];
    for &(document, size) in &task.documents {
        let (set, after) = rest.split_at(size as usize * K::BYTES);
        rest = after;
        let prefix = criterion
            .prefix(size, sampled.measured_at(0, document))
            .into();
        if prefix == 0 {
            continue;
        }
        let some = usize::try_from(IndexSearcher::wanted(prefix)).unwrap_or(usize::MAX);
        if !keys.is_empty() && keys.len().saturating_add(some) > most {
            find(&wanted, &keys)?;
            (wanted, keys) = (Vec::new(), Vec::new());
        }
        let begin = keys.len();
        keys.extend(
            set.chunks_exact(K::BYTES)
                .take(some.min(most))
                .map(K::get_le),
        );
        wanted.push(Wanted {
            document,
            set,
            prefix,
            keys: begin..keys.len(),
        });
    }
    find(&wanted, &keys)?;
    pass(candidates)
}

/// A document that is looked up.
struct Wanted<'t> {
    document: u32,
    set: &'t [u8],
    prefix: u64,
    /// Those of its fingerprints that are read together with others'.
    keys: Range<usize>,
}
