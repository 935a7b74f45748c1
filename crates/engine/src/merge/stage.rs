//! Merges the ranges of all runs in parallel.

use crate::collection::Catalogue;
use crate::sort::{Compression, RunEntry, RunFile, RunsEntry, open_runs};
use lookalike_base::Result;
use lookalike_base::budget::{Budget, PROCESS_BYTES};
use lookalike_base::ids::Key;
use lookalike_base::progress::{Context, Stop, Unit};
use lookalike_base::workers::{Tasks, work_and_commit};
use lookalike_store::disk;
use lookalike_store::workspace::Workspace;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ranges::{
    Cuts, LongLists, MergedRange, RangeWriter, WORKER_BYTES, commit_range, finish, list_bytes,
};
use super::{
    Batches, Combine, Generations, MergeStats, Merged, PostingsEntry, STAGE, fan_in,
    merge_generations,
};

/// The fan-in: the number of runs merged at once.
fn runs_at_once<K: Key>(budget: &Budget, documents: u64, limit: Option<usize>) -> Result<usize> {
    let threads = budget.threads as u64;
    let fixed = PROCESS_BYTES + threads * WORKER_BYTES + list_bytes(documents, threads);
    let memory = budget.memory.0.saturating_sub(fixed);
    let fan_in = fan_in::<K>(budget, memory, threads)?;
    Ok(limit.unwrap_or(fan_in).clamp(2, fan_in.max(2)))
}

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
    let fan_in = runs_at_once::<K>(&context.budget, documents, limit)?;
    context.start(STAGE, Unit::Count("records"), Some(entry.stats.records));
    let (directory, out) = (workspace.path("runs"), workspace.path("postings"));
    let parameters = workspace.collection_parameters();
    let runs = fewer_runs::<K>(workspace, entry.runs, entry.next_number, fan_in, context)?;
    let generations = runs.iter().map(|run| run.generation).max().unwrap_or(0) + 1;
    let files = open_runs::<K>(&runs, &directory, parameters)?;
    let cuts = Cuts::of(entry.stats.records, entry.selection);
    let postings = workspace.manifest.get_or_insert_with(|| {
        let stats = MergeStats {
            generations,
            fan_in: runs.len() as u64,
            ..MergeStats::default()
        };
        PostingsEntry::begin(cuts, stats, false)
    });
    let tasks = postings.ranges_left(cuts.ranges);
    let done = AtomicU64::new(postings.stats.records);
    let merge = RangeMerge {
        files: &files,
        out: &out,
        parameters,
        long: LongLists::default(),
        cuts,
        stop: context.stop,
        done: &done,
    };
    let work = |tasks: &Tasks<'_, u32, MergedRange>| {
        while let Some(range) = tasks.next() {
            disk::point("merge: worker");
            tasks.finished(merge.range(range)?);
        }
        Ok(())
    };
    work_and_commit(STAGE, context.budget.threads, tasks, work, |merged| {
        disk::point("merge: commit");
        commit_range(workspace, merged)?;
        context.progress.at(done.load(Ordering::Relaxed));
        Ok(())
    })?;
    drop(files);
    finish(workspace, entry.stats.records, context)
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
        compression: Compression::Packed,
        combine: Combine::Keep,
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

/// What the workers need to merge a range of all runs.
struct RangeMerge<'a, K> {
    files: &'a [RunFile<K>],
    out: &'a Path,
    parameters: u128,
    long: LongLists,
    cuts: Cuts,
    stop: &'a Stop,
    /// Records merged so far.
    done: &'a AtomicU64,
}

impl<K: Key> RangeMerge<'_, K> {
    fn range(&self, range: u32) -> Result<MergedRange> {
        self.stop.check(STAGE)?;
        let (low, high) = self.cuts.bounds::<K>(range);
        let files = self.files.iter();
        let cursors = files.map(|file| file.range(low, high));
        let mut batches = Batches::new(cursors.collect::<Result<_>>()?, &self.long);
        let mut writer = RangeWriter::create(self.out, self.parameters, range, &self.long)?;
        let mut reported = 0;
        while let Some(batch) = batches.next()? {
            match batch {
                Merged::Records(records) => writer.push_records(records)?,
                Merged::Key(key, list) => writer.push_list(key, list)?,
            }
            let records = writer.records();
            if records - reported >= 1 << 16 {
                self.stop.check(STAGE)?;
                self.done.fetch_add(records - reported, Ordering::Relaxed);
                reported = records;
            }
        }
        writer.finish()
    }
}
