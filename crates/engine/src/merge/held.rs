//! Makes postings from selected records that are held in memory.

use crate::merge::PostingsEntry;
use crate::sort::{Held, RunsEntry};
use lookalike_base::Result;
use lookalike_base::budget::PROCESS_BYTES;
use lookalike_base::ids::Key;
use lookalike_base::progress::{Context, Unit};
use lookalike_base::workers::{Tasks, work_and_commit};
use lookalike_store::disk;
use lookalike_store::workspace::Workspace;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ranges::{
    Cuts, LongLists, MergedRange, RangeWriter, WORKER_BYTES, commit_range, finish, list_bytes,
};
use super::{MergeStats, STAGE};

/// Bytes of memory beside the held records.
pub fn bytes(documents: u64, threads: u64) -> u64 {
    PROCESS_BYTES + threads * WORKER_BYTES + list_bytes(documents, threads)
}

/// Makes shared postings of records in memory. It resumes after the committed ranges.
pub fn run<K: Key>(workspace: &mut Workspace, held: Held<K>, context: &Context<'_>) -> Result<()> {
    let records = held.records();
    context.start(STAGE, Unit::Count("records"), Some(records));
    let runs = workspace.manifest.get_or_insert_with(RunsEntry::default);
    runs.complete = true;
    let cuts = Cuts::of(records, runs.selection);
    let begin = || PostingsEntry::begin(cuts, MergeStats::default(), true);
    let postings = workspace.manifest.get_or_insert_with(begin);
    let tasks = postings.ranges_left(cuts.ranges);
    let done = AtomicU64::new(postings.stats.records);
    let (out, parameters) = (
        workspace.path("postings"),
        workspace.collection_parameters(),
    );
    let long = LongLists::default();
    let work = |tasks: &Tasks<'_, u32, MergedRange>| {
        while let Some(range) = tasks.next() {
            disk::point("merge in memory: worker");
            context.stop.check(STAGE)?;
            let mut writer = RangeWriter::<K>::create(&out, parameters, range, &long)?;
            held.sorted(cuts.bounds(range), |records| writer.push_records(records))?;
            done.fetch_add(writer.records(), Ordering::Relaxed);
            tasks.finished(writer.finish()?);
        }
        Ok(())
    };
    work_and_commit(STAGE, context.budget.threads, tasks, work, |merged| {
        disk::point("merge in memory: commit");
        commit_range(workspace, merged)?;
        context.progress.at(done.load(Ordering::Relaxed));
        Ok(())
    })?;
    drop(held);
    finish(workspace, records, context)
}
