//! The `prefix` join finds the same pairs as the `count` join, but from a few fingerprints of each
//! document.
//!
//! # Source
//! The prefix filter: Chaudhuri, Ganti & Kaushik 2006; Bayardo, Ma & Srikant 2007, section 3; Xiao,
//! Wang, Lin & Yu 2008, section 3 (prefix and length filter for resemblance). Dropping fingerprints
//! that occur in one document only: Bernstein & Zobel 2006, section 5. Two parts are ours:
//! union-find in place of pairs when only clusters are wanted, and everything that makes the join
//! work on disk.
//!
//! # In and out
//! In: shared postings, sizes of the samples, the fingerprint sets of the collection.
//!
//! Out: the pair list. With [`super::Pairs::None`] it is instead a link from each member of a
//! cluster to its representative, with the number of fingerprints that the two share. The
//! resemblance of such a link may be below the threshold.
//!
//! # Algorithm
//! Put all fingerprints in one order. If r(A, B) >= t, then A and B share a fingerprint that is
//! among the first p(A) = |A| - ceil(t |A|) + 1 of A and among the first p(B) of B. These first
//! fingerprints are the *prefixes* of A and B. Any order works if it is the same for all documents.
//! The sort takes only fingerprints that are in prefixes ([`crate::sample::Selection`]),
//! with the rarest first.
//!
//! 1. *Candidates* ([`candidates`]): stream the postings once. Under each fingerprint, pair the
//!    documents whose sizes, and the fingerprints that they can share with any document, allow
//!    the threshold. The run machinery sorts the candidates;
//!    `distinct` merges them, a range of pairs in each thread, and removes repetitions.
//!    If memory has room for the postings, `held` finds the same candidates without repetitions.
//!    Documents that were added to a collection have their candidates from the index (`added`),
//!    in place of this step.
//! 2. *Verify* ([`verify`]): read the sets of as many candidates as fit in memory, in the order of
//!    the files, and intersect the two sets of each candidate. An intersection ends as soon as the
//!    threshold is out of reach.
//!
//! # Invariants
//! - No pair at or above the threshold is missed: the postings have the prefixes of all documents.
//!   They may have more; with all fingerprints, every pair that shares one is a candidate.
//! - Candidates do not depend on threads.
//! - With sampling, two documents are compared on the coarser of their ratios. So a document has a
//!   prefix for its own level and for every coarser one, and the join searches a pair on one level
//!   only.
//!
//! # Cost
//! Time: one pass over the postings; one probe for each pair of documents under one fingerprint;
//! one intersection for each candidate. Measurements are in `docs/experiments.md`.
//!
//! Memory: the sizes of the samples, and buffers.
//!
//! # Where we depart from the source
//! The papers order by document frequency itself and build an index in memory. Classes of frequency
//! need neither a sort for each document nor an index. The papers' positional filter bounds how
//! many fingerprints can follow a shared one. Here verification ends early instead.

mod added;
pub mod candidates;
mod distinct;
mod held;
pub mod verify;

use crate::collection::{Catalogue, MappedSets, Wanted};
use crate::join::JoinProgress;
use crate::merge;
use crate::sample::{SampleEntry, Sampled};
use crate::sort::{Record, RunEntry, RunWriter};
use lookalike_base::{Context, Key, PROCESS_BYTES, Result, Unit};
use lookalike_store::Workspace;
use serde::{Deserialize, Serialize};
use std::path::Path;

use super::{COMPRESSION, JoinConfig, Joining, STAGE, list};

pub use added::AddedStats;

/// Memory of a thread's decoder, run writer and tables.
const WORKER_BYTES: u64 = 6 << 20;

/// Counters of the `prefix` join, filter by filter. If documents have different ratios, a document
/// counts once for each level on which it is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefixStats {
    /// Entries of the postings.
    pub entries: u64,
    /// Pairs of documents under one fingerprint in the prefix of both.
    pub probes: u64,
    /// Probes skipped because the same documents had been paired under another fingerprint.
    pub probes_repeated: u64,
    /// Probes whose sizes exclude the threshold.
    pub probes_by_length: u64,
    /// Probes excluded by the number of fingerprints that occur in one of the two documents only.
    #[serde(default)]
    pub probes_by_singles: u64,
    /// Pairs excluded by the number of fingerprints that their prefixes share.
    #[serde(default)]
    pub pairs_by_prefix: u64,
    /// With [`super::Pairs::None`]: probes of documents that were in one cluster already.
    pub probes_clustered: u64,
    /// Pairs written to runs of candidates, with repetitions.
    pub spilled: u64,
    /// Distinct candidates.
    pub candidates: u64,
    /// Pairs of sets intersected.
    pub verified: u64,
}

/// Where the join resumes, once its candidates are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefixPlace {
    /// Runs of candidates.
    pub candidates: Vec<RunEntry>,
    /// The last candidate that has been verified.
    pub done: Option<u64>,
}

/// Joins by prefixes. It resumes after the last commit.
pub(super) fn run<K: Key>(
    workspace: &mut Workspace,
    config: &JoinConfig,
    listed: &list::Listable,
    limit: Option<usize>,
    context: &Context<'_>,
) -> Result<()> {
    let sample = workspace.record::<SampleEntry>("sample")?;
    let levels = sample.sizes.len();
    let longest = merge::stats(&workspace.manifest).longest;
    let extent = Catalogue::extent(workspace)?;
    let documents = extent.documents;
    let threads = context.budget.threads as u64;
    // A thread has the longest list packed, decoded, filtered, and while it is paired.
    let fixed = PROCESS_BYTES
        + listed.bytes()
        + extent.column_bytes()
        + Sampled::bytes_for(config.measure, levels, extent)
        + threads * (WORKER_BYTES + longest * (36 + 4 * levels as u64));
    let clusters = match config.pairs {
        super::Pairs::All | super::Pairs::Across => 0,
        super::Pairs::None => documents * 4 + verify::LINKS_BYTES,
    };
    let mapped =
        MappedSets::bytes(extent) + Wanted::bytes(documents) + list::least_bytes(workspace, config);
    let least = clusters + mapped + threads * candidates::LEAST_BYTES + verify::LEAST_BYTES;
    let memory = super::rest(documents, fixed, least, &context.budget)?;
    let sampled = Sampled::load_for(workspace, config.measure)?;
    let join = Joining::new(config, (&sampled, listed), limit, context);
    let found = workspace.manifest.get::<JoinProgress>();
    if found.is_none_or(|joining| joining.prefix.is_none()) {
        match super::known(workspace) {
            Some(before) => added::run::<K>(workspace, &join, before, memory - clusters)?,
            None if clusters == 0 && held::fits(workspace, &join, memory) => {
                held::run::<K>(workspace, &join)?;
            }
            None => candidates::run::<K>(workspace, &join, memory - clusters)?,
        }
    }
    verify::run::<K>(workspace, &join, memory - clusters - mapped)
}

/// Writes sorted candidates as a run of its own.
fn write_run(
    directory: &Path,
    parameters: u128,
    number: u64,
    keys: &[u64],
    context: &Context<'_>,
) -> Result<RunEntry> {
    let mut run = RunWriter::create(directory, number, parameters, COMPRESSION)?;
    for (n, &key) in keys.iter().enumerate() {
        context.tick(STAGE, n)?;
        run.push(Record { key, value: 1 })?;
    }
    run.finish().map(RunEntry::from)
}

/// Reports the start of a pass over the postings as progress.
fn start_pass(workspace: &Workspace, context: &Context<'_>) {
    let entries = merge::stats(&workspace.manifest).entries;
    context.start(STAGE, Unit::Count("posting entries"), Some(entries));
}
