//! Visits every posting list on all threads, for counts that do not depend on an order.

use crate::merge::{PostingsEntry, PostingsReader};
use lookalike_base::ids::Key;
use lookalike_base::progress::Context;
use lookalike_base::workers::on_threads;
use lookalike_base::{Error, Result};
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
    let directory = workspace.path("postings");
    let parameters = workspace.collection_parameters();
    let work = |_| -> Result<()> {
        loop {
            let range = next.fetch_add(1, Ordering::Relaxed);
            if range >= postings.ranges {
                return Ok(());
            }
            let Some(info) = postings.parts.get(&range) else {
                return Err(Error::no_stage(&directory, "merge"));
            };
            let path = directory.join(&info.name);
            let mut reader = PostingsReader::<K>::open(&path, Some(parameters), Some(info))?
                .of(documents as u64);
            while let Some(lists) = reader.next_below(documents)? {
                context.stop.check(STAGE)?;
                disk::point("lists: worker");
                let mut rest = &lists.documents[..];
                for &length in &lists.lengths {
                    let (list, after) = rest.split_at(length as usize);
                    rest = after;
                    if most.is_none_or(|most| length <= most) {
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
