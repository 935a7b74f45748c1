//! Hash counters of pairs: an upper bound of the shared count of a pair, before the exact count.
//!
//! # Source
//! Probabilistic counting: Fang, Shivakumar, Garcia-Molina, Motwani & Ullman 1998, used for
//! near-replicas by Shivakumar & Garcia-Molina 1999 and by Bernstein & Zobel 2006 (sections 4.2.2
//! and 6.2).
//!
//! # Algorithm
//! A first pass over the postings increments, for each pair token, the counter that the pair's hash
//! selects. A counter is at least the shared count of each of its pairs. So a pair is below the
//! threshold if its counter is below the least shared count.
//!
//! # Invariants
//! - Counters only increase and saturate at their largest value, which excludes no pair. So the
//!   join finds the same pairs as without counters.
//! - Increments commute, so the threads need no order.
//!
//! # Where we depart from the source
//! The papers prune the tokens that an exact count would write. Here tokens are never written
//! (`count.rs`), and the counters prune the counted pairs of a block of postings.

use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use crate::merge::PostingsEntry;
use lookalike_base::{Context, Key, Result, Unit, mix_key, on_threads};
use lookalike_store::{Workspace, disk};

use super::{Pair, STAGE};

/// Bytes of a counter.
const BYTES: u64 = 2;

/// The counters. Their number is a power of two.
pub(super) struct Counters {
    fields: Vec<AtomicU16>,
}

impl Counters {
    /// The bytes to use for counters of `tokens` pair tokens, at most `memory`.
    pub(super) fn bytes(memory: u64, tokens: u64) -> u64 {
        let fields = (memory / BYTES).max(1).ilog2().min(36);
        // With four counters for each pair token, few pairs share a counter.
        let enough = tokens.saturating_mul(4).max(1).ilog2() + 1;
        BYTES << fields.min(enough)
    }

    /// Counts all pair tokens in counters of `bytes`.
    pub(super) fn run<K: Key>(
        workspace: &Workspace,
        postings: &PostingsEntry,
        most: Option<u32>,
        documents: usize,
        bytes: u64,
        context: &Context<'_>,
    ) -> Result<Counters> {
        let fields = (bytes / BYTES).max(2);
        let counters = Counters {
            fields: (0..fields).map(|_| AtomicU16::new(0)).collect(),
        };
        let entries = postings.stats.entries;
        context.start(STAGE, Unit::Count("posting entries"), Some(entries));
        each_list::<K>(workspace, postings, most, documents, context, |list| {
            for (at, &a) in list.iter().enumerate() {
                for &b in &list[at + 1..] {
                    counters.count(a, b);
                }
            }
        })?;
        Ok(counters)
    }

    #[inline]
    fn field(&self, a: u32, b: u32) -> &AtomicU16 {
        // The number of fields is a power of two.
        let field = mix_key(Pair::key(a, b)) & (self.fields.len() as u64 - 1);
        &self.fields[field as usize]
    }

    #[inline]
    fn count(&self, a: u32, b: u32) {
        let field = self.field(a, b);
        let mut before = field.load(Ordering::Relaxed);
        while before < u16::MAX {
            let next = before + 1;
            match field.compare_exchange_weak(before, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => before = now,
            }
        }
    }

    /// Can the pair share `least` fingerprints?
    #[inline]
    pub(super) fn may_share(&self, a: u32, b: u32, least: u64) -> bool {
        let most = self.field(a, b).load(Ordering::Relaxed);
        most == u16::MAX || u64::from(most) >= least
    }
}

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
