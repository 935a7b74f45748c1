//! Merges the ranges of all runs in parallel.

use crate::collection::Catalogue;
use crate::sort::{Held, RunEntry, RunsEntry, open_runs};
use lookalike_base::{Context, Key, PROCESS_BYTES, Result, Tasks, Unit, work_and_commit};
use lookalike_store::{Workspace, disk};
use std::sync::atomic::{AtomicU64, Ordering};

use super::ranges::{
    Cuts, LongLists, MergedRange, RangeWriter, WORKER_BYTES, commit_range, finish, list_bytes,
};
use super::{
    Batches, Generations, MergeStats, Merged, PostingsEntry, STAGE, fan_in, merge_generations,
};

/// Merges all runs into shared postings. It resumes after the committed ranges. `limit` bounds the
/// fan-in below what the budget allows.
pub fn run<K: Key>(
    workspace: &mut Workspace,
    limit: Option<usize>,
    context: &Context<'_>,
) -> Result<()> {
    if workspace.matches::<PostingsEntry>(|p| p.complete) {
        return Ok(());
    }
    let entry = workspace.record::<RunsEntry>("sort")?.clone();
    if !entry.complete {
        return Err(workspace.missing("sort"));
    }
    let documents = Catalogue::stats(workspace)?.documents;
    let (budget, threads) = (&context.budget, context.budget.threads as u64);
    let memory = budget
        .memory
        .0
        .saturating_sub(held_bytes(documents, threads));
    let fan_in = fan_in::<K>(budget, memory, threads)?;
    let fan_in = limit.unwrap_or(fan_in).clamp(2, fan_in.max(2));
    context.start(STAGE, Unit::Count("records"), Some(entry.stats.records));
    let directory = workspace.path("runs");
    let parameters = workspace.collection_parameters();
    let runs = fewer_runs::<K>(workspace, entry.runs, entry.next_number, fan_in, context)?;
    let generations = runs.iter().map(|run| run.generation).max().unwrap_or(0) + 1;
    let files = open_runs::<K>(&runs, &directory, parameters)?;
    let stats = MergeStats {
        generations,
        fan_in: runs.len() as u64,
        ..MergeStats::default()
    };
    let cuts = Cuts::of(entry.stats.records, entry.selection);
    let begin = PostingsEntry::begin(cuts, stats, false);
    let points: [fn(); 2] = [
        || disk::point("merge: worker"),
        || disk::point("merge: commit"),
    ];
    let merge = move |writer: &mut RangeWriter<'_, K>, (low, high), done: &AtomicU64| {
        let cursors = files.iter().map(|file| file.range(low, high));
        let mut batches = Batches::new(cursors.collect::<Result<_>>()?, writer.long);
        let mut reported = 0;
        while let Some(batch) = batches.next()? {
            match batch {
                Merged::Records(records) => writer.push_records(records)?,
                Merged::Key(key, list) => writer.push_list(key, list)?,
            }
            let records = writer.records();
            if records - reported >= 1 << 16 {
                context.stop.check(STAGE)?;
                done.fetch_add(records - reported, Ordering::Relaxed);
                reported = records;
            }
        }
        Ok(())
    };
    ranges(
        workspace,
        entry.stats.records,
        cuts,
        begin,
        points,
        merge,
        context,
    )
}

/// Bytes of memory beside the records of [`run_held`].
pub fn held_bytes(documents: u64, threads: u64) -> u64 {
    PROCESS_BYTES + threads * WORKER_BYTES + list_bytes(documents, threads)
}

/// Makes shared postings of selected records that are held in memory, without runs. It resumes after
/// the committed ranges.
pub fn run_held<K: Key>(
    workspace: &mut Workspace,
    held: Held<K>,
    context: &Context<'_>,
) -> Result<()> {
    let records = held.records();
    context.start(STAGE, Unit::Count("records"), Some(records));
    let runs = workspace.manifest.get_or_insert_with(RunsEntry::default);
    runs.complete = true;
    let cuts = Cuts::of(records, runs.selection);
    let begin = PostingsEntry::begin(cuts, MergeStats::default(), true);
    let points: [fn(); 2] = [
        || disk::point("merge in memory: worker"),
        || disk::point("merge in memory: commit"),
    ];
    let merge = move |writer: &mut RangeWriter<'_, K>, bounds, done: &AtomicU64| {
        held.sorted(bounds, |records| writer.push_records(records))?;
        done.fetch_add(writer.records(), Ordering::Relaxed);
        Ok(())
    };
    ranges(workspace, records, cuts, begin, points, merge, context)
}

/// Merges the ranges that are left on all threads, and commits them one by one. `merge`, which owns
/// what it merges, merges one of them, between its least and its greatest key.
fn ranges<K: Key>(
    workspace: &mut Workspace,
    records: u64,
    cuts: Cuts,
    begin: PostingsEntry,
    points: [fn(); 2],
    merge: impl Fn(&mut RangeWriter<'_, K>, (K, K), &AtomicU64) -> Result<()> + Sync,
    context: &Context<'_>,
) -> Result<()> {
    let out = workspace.path("postings");
    let parameters = workspace.collection_parameters();
    let postings = workspace.manifest.get_or_insert_with(|| begin);
    let tasks = postings.ranges_left(cuts.ranges);
    let done = AtomicU64::new(postings.stats.records);
    let long = LongLists::default();
    let work = |tasks: &Tasks<'_, u32, MergedRange>| {
        while let Some(range) = tasks.next() {
            points[0]();
            context.stop.check(STAGE)?;
            let mut writer = RangeWriter::create(&out, parameters, range, &long)?;
            merge(&mut writer, cuts.bounds(range), &done)?;
            tasks.finished(writer.finish()?);
        }
        Ok(())
    };
    work_and_commit(STAGE, context.budget.threads, tasks, work, |merged| {
        points[1]();
        commit_range(workspace, merged)?;
        context.progress.at(done.load(Ordering::Relaxed));
        Ok(())
    })?;
    drop(merge);
    finish(workspace, records, context)
}

/// Merges runs until there are at most `fan_in`, and commits each merge.
fn fewer_runs<K: Key>(
    workspace: &mut Workspace,
    runs: Vec<RunEntry>,
    mut next_number: u64,
    fan_in: usize,
    context: &Context<'_>,
) -> Result<Vec<RunEntry>> {
    let how = Generations {
        directory: &workspace.path("runs"),
        parameters: workspace.collection_parameters(),
        compression: None,
        adds: false,
        stop: context.stop,
        stage: STAGE,
    };
    let mut runs = merge_generations::<K>(&how, runs, fan_in, &mut next_number, |runs, next| {
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
    Ok(runs)
}
