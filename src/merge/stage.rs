//! Merges the ranges of all runs in parallel.

use crate::budget::{Budget, ByteSize, PROCESS_BYTES};
use crate::collection::Catalogue;
use crate::ids::Key;
use crate::progress::{Context, Stop, Unit, caught, joined};
use crate::sample::{Rate, SampleEntry, Sampled};
use crate::sort::{Compression, RunFile, RunsEntry};
use crate::store::{Kind, PartInfo, disk};
use crate::workspace::{StageRecord, Workspace};
use crate::{Error, Result};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::bounded;
use serde::{Deserialize, Serialize};

use super::profile::{self, Collector};
use super::{Batch, Batches, Combine, Generations, PostingsWriter, fan_in, merge_generations};

pub(super) const STAGE: &str = "merge";
/// Approximate number of records in a range.
const RANGE_RECORDS: u64 = 4 << 20;
/// The most ranges. Each range is a file.
const MOST_RANGES: u64 = 1024;
/// Level of zstd for the packed columns of postings. Near-duplicate documents share hundreds of
/// fingerprints, so the same list occurs many times (`docs/experiments.md`).
pub(super) const ZSTD_LEVEL: i32 = 1;
/// Memory of a thread's writer and compressor.
pub(super) const WORKER_BYTES: u64 = 4 << 20;

/// Counters of the merge. Records = entries + singles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeStats {
    /// Records merged.
    pub records: u64,
    /// Distinct fingerprints that occur in one document only. They are dropped, because they cannot
    /// contribute to a pair.
    pub singles: u64,
    /// Distinct fingerprints of two documents or more.
    pub lists: u64,
    /// Documents in these lists.
    pub entries: u64,
    /// The most documents of one fingerprint.
    pub longest: u64,
    /// Pairs of documents under one fingerprint, summed over all lists: the tokens of the `count`
    /// join.
    pub pair_tokens: u64,
    /// The most merges that a record went through, including this one.
    pub generations: u32,
    /// Runs that this merge had open.
    pub fan_in: u64,
    /// Bytes of postings.
    pub bytes: u64,
}

impl MergeStats {
    fn add(&mut self, other: &MergeStats) {
        self.records += other.records;
        self.singles += other.singles;
        self.lists += other.lists;
        self.entries += other.entries;
        self.longest = self.longest.max(other.longest);
        self.pair_tokens += other.pair_tokens;
        self.generations = self.generations.max(other.generations);
        self.fan_in = self.fan_in.max(other.fan_in);
        self.bytes += other.bytes;
    }

    /// Counts the documents of a fingerprint, and returns whether there are two or more.
    #[inline]
    pub(super) fn list(&mut self, documents: u64) -> bool {
        if documents < 2 {
            self.singles += documents;
            return false;
        }
        self.lists += 1;
        self.entries += documents;
        self.longest = self.longest.max(documents);
        self.pair_tokens += documents * (documents - 1) / 2;
        true
    }
}

/// The fan-in: the number of runs merged at once.
pub(crate) fn runs_at_once<K: Key>(
    budget: &Budget,
    documents: u64,
    limit: Option<usize>,
) -> Result<usize> {
    let threads = budget.threads as u64;
    // A posting list can name every document; it is built and then copied into its block.
    let fixed = PROCESS_BYTES + threads * (WORKER_BYTES + documents * 8);
    let memory = budget.memory.0.saturating_sub(fixed);
    let fan_in = fan_in::<K>(budget.memory, memory, threads)?;
    Ok(limit.unwrap_or(fan_in).clamp(2, fan_in.max(2)))
}

/// Merges all runs into shared postings. It resumes after the committed ranges. `limit` bounds the
/// fan-in below what the budget allows.
pub fn run<K: Key>(
    workspace: &mut Workspace,
    limit: Option<usize>,
    context: &Context<'_>,
) -> Result<()> {
    if workspace
        .manifest
        .get::<PostingsEntry>()
        .is_some_and(|p| p.complete)
    {
        return Ok(());
    }
    let missing = || Error::StageMissing {
        path: workspace.directory().into(),
        stage: "sort",
    };
    let entry = workspace
        .manifest
        .get::<RunsEntry>()
        .cloned()
        .filter(|r| r.complete)
        .ok_or_else(missing)?;
    let threads = context.budget.threads as u64;
    let documents = Catalogue::stats(workspace)?.documents;
    let levels = workspace.manifest.get::<SampleEntry>();
    let levels = levels.map_or(1, |sample| sample.sizes.len());
    // Profiles are counted during the merge if they do not take memory from it.
    let profiles = Sampled::bytes(levels, documents)
        + threads * profile::Collector::<K>::bytes(documents, levels);
    let fresh = !workspace.manifest.has::<PostingsEntry>();
    let collect = fresh && profiles <= context.budget.memory.0 / PROFILE_SHARE;
    let budget = Budget {
        memory: ByteSize(context.budget.memory.0 - if collect { profiles } else { 0 }),
        ..context.budget
    };
    let (collect, fan_in) = match runs_at_once::<K>(&budget, documents, limit) {
        Ok(fan_in) => (collect, fan_in),
        Err(_) => (false, runs_at_once::<K>(&context.budget, documents, limit)?),
    };
    context
        .progress
        .start(STAGE, Unit::Count("records"), Some(entry.stats.records));
    let (directory, out) = (workspace.path("runs"), workspace.path("postings"));
    let parameters = workspace.collection_parameters();
    let how = Generations {
        directory: &directory,
        parameters,
        compression: Compression::Packed,
        combine: Combine::Keep,
        stop: context.stop,
        stage: STAGE,
    };
    let mut number = entry.next_number;
    let mut runs = merge_generations::<K>(&how, entry.runs, fan_in, &mut number, |runs, next| {
        if let Some(entry) = workspace.manifest.get_mut::<RunsEntry>() {
            entry.runs = runs.to_vec();
            entry.next_number = next;
        }
        workspace.commit(&["runs"])?;
        context.progress.at(0);
        Ok(())
    })?;
    // Order the runs by their documents, so that less is left to sort.
    runs.sort_by(|a, b| a.covers.first().cmp(&b.covers.first()));
    let generations = runs.iter().map(|run| run.generation).max().unwrap_or(0) + 1;
    let files = runs
        .iter()
        .map(|run| {
            RunFile::<K>::open(
                &directory.join(&run.part.name),
                Some(parameters),
                Some(&run.part),
            )
        })
        .collect::<Result<Vec<_>>>()?;
    let ranges = ranges_of(entry.stats.records);
    let postings = workspace.manifest.get_or_insert_with(|| PostingsEntry {
        ranges,
        parts: Default::default(),
        stats: MergeStats {
            generations,
            fan_in: runs.len() as u64,
            ..MergeStats::default()
        },
        complete: false,
        direct: false,
        profiles: Vec::new(),
    });
    let todo: VecDeque<u32> = (0..ranges)
        .filter(|r| !postings.parts.contains_key(r))
        .collect();
    let queue = Mutex::new(todo);
    let done = AtomicU64::new(postings.stats.records);
    let sampled = Sampled::load(workspace)?;
    let collected = Collected::<K>::new(&sampled, collect);
    let (merged, arrive) = bounded::<(u32, PartInfo, MergeStats)>(threads as usize);
    std::thread::scope(|scope| -> Result<()> {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let (merged, queue, files, out, done, collected) =
                    (merged.clone(), &queue, &files, &out, &done, &collected);
                scope.spawn(move || -> Result<()> {
                    let mut profiles = collected.begin();
                    loop {
                        let next = queue
                            .lock()
                            .unwrap_or_else(std::sync::PoisonError::into_inner)
                            .pop_front();
                        let Some(range) = next else {
                            collected.end(profiles);
                            return Ok(());
                        };
                        disk::point("merge: worker");
                        let (info, stats) = merge_range(
                            files,
                            out,
                            parameters,
                            (range, ranges),
                            context.stop,
                            done,
                            &mut profiles,
                        )?;
                        if merged.send((range, info, stats)).is_err() {
                            return Ok(());
                        }
                    }
                })
            })
            .collect();
        drop(merged);
        let committed = caught(STAGE, || {
            for (range, info, stats) in &arrive {
                disk::point("merge: commit");
                commit_range(workspace, range, info, &stats)?;
                context.progress.at(done.load(Ordering::Relaxed));
            }
            Ok(())
        });
        drop(arrive);
        let results: Vec<_> = workers.into_iter().map(|w| joined("merge", w)).collect();
        results
            .into_iter()
            .find(Result::is_err)
            .unwrap_or(Ok(()))
            .and(committed)
    })?;
    drop(files);
    let memory = context.budget.memory.0.saturating_sub(PROCESS_BYTES);
    let collected = collected.whole();
    finish::<K>(
        workspace,
        entry.stats.records,
        &sampled,
        collected,
        memory,
        context,
    )
}

/// Profiles may take this fraction (one in `PROFILE_SHARE`) of the memory.
pub(super) const PROFILE_SHARE: u64 = 4;

/// The profiles that the threads of a merge collect.
pub(super) struct Collected<'a, K> {
    sampled: &'a Sampled,
    sum: Option<Mutex<Collector<'a, K>>>,
}

impl<'a, K: Key> Collected<'a, K> {
    pub(super) fn new(sampled: &'a Sampled, collect: bool) -> Self {
        // The first thread that ends provides its collector; until then the sum takes no memory.
        let sum = collect.then(|| Mutex::new(Collector::nothing(sampled)));
        Collected { sampled, sum }
    }

    /// A collector for one thread.
    pub(super) fn begin(&self) -> Option<Collector<'a, K>> {
        self.sum.as_ref().map(|_| Collector::new(self.sampled))
    }

    /// Adds the counts of a thread that has ended.
    pub(super) fn end(&self, counted: Option<Collector<'a, K>>) {
        if let (Some(sum), Some(counted)) = (&self.sum, counted) {
            sum.lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .add(counted);
        }
    }

    /// The sum of all counts; `None` if profiles were not counted.
    pub(super) fn whole(self) -> Option<Collector<'a, K>> {
        let sum = self.sum?;
        Some(
            sum.into_inner()
                .unwrap_or_else(std::sync::PoisonError::into_inner),
        )
    }
}

/// The number of ranges for this number of records.
pub(super) fn ranges_of(records: u64) -> u32 {
    records.div_ceil(RANGE_RECORDS).clamp(1, MOST_RANGES) as u32
}

/// Commits the postings of a range.
pub(super) fn commit_range(
    workspace: &mut Workspace,
    range: u32,
    info: PartInfo,
    stats: &MergeStats,
) -> Result<()> {
    if let Some(postings) = workspace.manifest.get_mut::<PostingsEntry>() {
        postings.stats.add(stats);
        postings.parts.insert(range, info);
    }
    workspace.commit(&["postings"])
}

/// Completes the merge after all ranges: checks that they hold all records, and writes the
/// profiles.
pub(super) fn finish<K: Key>(
    workspace: &mut Workspace,
    records: u64,
    sampled: &Sampled,
    collected: Option<Collector<'_, K>>,
    memory: u64,
    context: &Context<'_>,
) -> Result<()> {
    let profiles = profile::write(workspace, sampled, collected, memory, context)?;
    let path = workspace.path("postings");
    if let Some(postings) = workspace.manifest.get_mut::<PostingsEntry>() {
        if postings.stats.records != records {
            return Err(Error::Corrupt {
                path,
                offset_bytes: None,
                what: "records merged".into(),
                expected: records.to_string(),
                found: postings.stats.records.to_string(),
            });
        }
        postings.complete = true;
        postings.profiles = profiles;
    }
    // Keep the counters of the runs; the postings replace their files.
    if let Some(entry) = workspace.manifest.get_mut::<RunsEntry>() {
        entry.runs.clear();
    }
    workspace.commit(&["postings"])?;
    workspace.remove_scrap()
}

fn merge_range<K: Key>(
    files: &[RunFile<K>],
    out: &Path,
    parameters: u128,
    (range, ranges): (u32, u32),
    stop: &Stop,
    done: &AtomicU64,
    profiles: &mut Option<Collector<'_, K>>,
) -> Result<(PartInfo, MergeStats)> {
    stop.check(STAGE)?;
    let (low, high) = Rate::new(ranges, range).unwrap_or(Rate::FULL).bounds::<K>();
    let cursors = files
        .iter()
        .map(|file| file.range(low, high))
        .collect::<Result<_>>()?;
    let mut batches = Batches::new(cursors);
    let mut writer = PostingsWriter::create(out, parameters, range.into(), Some(ZSTD_LEVEL))?;
    let mut stats = MergeStats::default();
    let mut told = 0;
    while let Some(batch) = batches.next()? {
        match batch {
            Batch::Records(records) => {
                stats.records += records.len() as u64;
                for list in records.chunk_by(|a, b| a.key == b.key) {
                    if stats.list(list.len() as u64) {
                        let documents = list.iter().map(|record| record.value);
                        if let Some(profiles) = profiles {
                            profiles.list(list[0].key, documents.clone());
                        }
                        writer.push(list[0].key, documents)?;
                    }
                }
            }
            Batch::Key(key, list) => {
                stats.records += list.len() as u64;
                if stats.list(list.len() as u64) {
                    if let Some(profiles) = profiles {
                        profiles.list(key, list.iter().copied());
                    }
                    writer.push(key, list.iter().copied())?;
                }
            }
        }
        if stats.records - told >= 1 << 16 {
            stop.check(STAGE)?;
            done.fetch_add(stats.records - told, Ordering::Relaxed);
            told = stats.records;
        }
    }
    let info = writer.finish()?;
    stats.bytes = info.bytes;
    Ok((info, stats))
}

/// The shared postings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PostingsEntry {
    /// Number of fingerprint ranges.
    pub ranges: u32,
    /// The part of each range that is done.
    pub parts: BTreeMap<u32, PartInfo>,
    /// Counters of the merge.
    pub stats: MergeStats,
    /// Whether all ranges are done.
    pub complete: bool,
    /// Whether the postings were made from the sets, without runs.
    pub direct: bool,
    /// The profiles: the number of each document's fingerprints in each class of document
    /// frequency, by level.
    pub profiles: Vec<PartInfo>,
}

impl StageRecord for PostingsEntry {
    const NAME: &'static str = "postings";
    const DIRECTORY: Option<&'static str> = Some("postings");
    // The runs are removed when the postings are complete. If the postings are lost, both are made
    // again.
    const TAKES_ALONG: &'static [&'static str] = &["runs", "joining"];

    fn parts(&self) -> Vec<(Kind, &PartInfo)> {
        let postings = self.parts.values().map(|part| (Kind::Postings, part));
        let profiles = self.profiles.iter().map(|part| (Kind::Column, part));
        postings.chain(profiles).collect()
    }
}
