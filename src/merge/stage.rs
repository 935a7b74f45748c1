//! Merges the ranges of all runs in parallel.

use crate::budget::{Budget, ByteSize, PROCESS_BYTES};
use crate::collection::Catalogue;
use crate::ids::Key;
use crate::progress::{Context, Stop, Unit, caught, joined};
use crate::sample::{Rate, SampleEntry, Sampled};
use crate::sort::{Compression, RunFile, RunsEntry};
use crate::store::{PartInfo, disk};
use crate::workspace::Workspace;
use crate::{Error, Result};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::bounded;

use super::profile::{Collected, Collector, PROFILE_SHARE};
use super::ranges::{WORKER_BYTES, ZSTD_LEVEL, commit_range, finish, ranges_of};
use super::{
    Batch, Batches, Combine, Generations, MergeStats, PostingsEntry, PostingsWriter, STAGE, fan_in,
    merge_generations,
};

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
    let profiles =
        Sampled::bytes(levels, documents) + threads * Collector::<K>::bytes(documents, levels);
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
