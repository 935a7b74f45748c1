//! Visits every posting list on all threads, for counts that do not depend on an order.

use crate::merge::PostingsEntry;
use lookalike_base::Result;
use lookalike_base::ids::Key;
use lookalike_base::progress::Context;
use lookalike_base::workers::on_threads;
use lookalike_store::disk;
use lookalike_store::workspace::Workspace;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::STAGE;

/// Memory of one thread, which has one reader.
pub(super) const WORKER_BYTES: u64 = 4 << 20;

/// Calls `each` with every list of `most` documents or fewer. Threads take ranges of the postings,
/// so the lists come in no particular order. The documents of a list are ascending and below
/// `documents`.
pub(super) fn each_list<K: Key>(
    workspace: &Workspace,
    postings: &PostingsEntry,
    most: Option<u32>,
    documents: usize,
    context: &Context<'_>,
    each: impl Fn(&[u32]) + Sync,
) -> Result<()> {
    let (next, done) = (AtomicU32::new(0), AtomicU64::new(0));
    let work = |_| -> Result<()> {
        loop {
            let range = next.fetch_add(1, Ordering::Relaxed);
            if range >= postings.ranges {
                return Ok(());
            }
            let mut reader = postings.open::<K>(workspace, range, documents)?;
            while let Some(lists) = reader.next_below(documents)? {
                context.stop.check(STAGE)?;
                disk::point("lists: worker");
                for list in lists.lists() {
                    if most.is_none_or(|most| list.len() <= most as usize) {
                        each(list);
                    }
                }
                done.fetch_add(lists.documents.len() as u64, Ordering::Relaxed);
            }
            reader.finish()?;
        }
    };
    let threads = context.budget.threads.min(postings.ranges.max(1) as usize);
    let watch = || context.progress.at(done.load(Ordering::Relaxed));
    on_threads(STAGE, threads, work, Some(&watch)).map(drop)
}
