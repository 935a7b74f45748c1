//! The `prefix` join: the same pairs as by counting, found under few fingerprints of each document.
//!
//! # Source
//! The prefix filter: Chaudhuri, Ganti & Kaushik 2006; Bayardo, Ma & Srikant 2007, section 3; Xiao,
//! Wang, Lin & Yu 2008, section 3 (prefix and length filter for resemblance). That fingerprints of one
//! document alone need not be kept: Bernstein & Zobel 2006, section 5. Union-find instead of pairs where
//! clusters alone are wanted is ours, and so is everything that makes it work on disk.
//!
//! # In and out
//! In: shared postings, sizes of samples, the fingerprint sets of the collection. Out: the pair list;
//! or, with [`super::Pairs::None`], a link from each member of a cluster to its representative, with the
//! fingerprints that the two share (which may be below the threshold).
//!
//! # Algorithm
//! Put all fingerprints in one order, rarest first. If r(A, B) >= t, A and B share a fingerprint that is
//! among the first p(A) = |A| - ceil(t |A|) + 1 of A and among the first p(B) of B: their *prefixes*.
//! Any order will do, as long as it is one for all. Here it is (class of document frequency, fingerprint).
//!
//! 1. *Profile*: for each document, how many of its fingerprints are in each class. Counted by the merge
//!    as it makes the postings, committed with them, used for every threshold.
//! 2. *Cut-offs* ([`cutoff`]): a document with p(A) or more fingerprints of its own can have no partner
//!    and is pruned. For the others, the class at which the running sum reaches p(A) is the cut-off, and
//!    of that class only as many count as are still missing. Where pruning has thinned the postings so much
//!    that other classes pay for another pass, frequencies are counted again over the documents left.
//! 3. *Candidates* ([`candidates`]): the postings are streamed once. Under each fingerprint, the documents
//!    that have it in their prefix are paired, if their sizes and the fingerprints that they can share at
//!    all leave a chance. Candidates are sorted and made distinct by the run machinery.
//! 4. *Verify* ([`verify`]): the two sets are intersected in the mapped store, in the order of the
//!    candidates, which is the order of the files; given up as soon as the threshold is out of reach.
//!
//! # Invariants
//! - No pair at or above the threshold is missed: the order is frozen before cut-offs are taken, and
//!   every later pass uses the same.
//! - Candidates do not depend on threads or budget: of the cut-off class, documents take fingerprints in
//!   fingerprint order, whoever decodes the blocks.
//! - With sampling, two documents are compared on the coarser of their ratios. So a document has a
//!   prefix for its own level and for every coarser one, and a pair is looked for on one level only.
//!
//! # Cost
//! One pass over the postings, and one more for each recount; a look at each pair of documents under one
//! fingerprint; one intersection for each candidate. Figures are in `docs/experiments.md`.
//! Memory: 13 bytes a document and level, and buffers.
//!
//! # Where we depart from the source
//! The papers order by document frequency itself and index in memory; classes of frequency need no sort
//! for each document and no index. Their positional filter bounds what is left after a shared
//! fingerprint; here verification gives up early instead, and a document's fingerprints that no other
//! has are subtracted before.

pub mod candidates;
pub mod cutoff;
pub mod verify;

use crate::budget::{ByteSize, PROCESS_BYTES};
use crate::collection::{self, Catalogue, MappedSets};
use crate::ids::Key;
use crate::join::JoinProgress;
use crate::merge::PostingsEntry;
use crate::numbers::counted;
use crate::progress::{Context, Unit};
use crate::sample::{SampleEntry, Sampled};
use crate::sort::RunEntry;
use crate::workspace::Workspace;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

use super::{JoinConfig, STAGE, list};

pub use cutoff::Round;

/// A thread's decoder, run writer and tables.
const WORKER_BYTES: u64 = 6 << 20;

/// What was counted while joining, filter by filter. Where documents have several ratios, a document
/// counts once for each level on which it is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefixStats {
    /// Fingerprints of one document only, which use up prefixes for nothing.
    pub singles: u64,
    /// Entries of the shared postings.
    pub entries: u64,
    /// Documents pruned because their prefix is nothing else, round by round.
    pub rounds: Vec<Round>,
    /// Fingerprints in the prefixes of the documents left that are in shared postings.
    pub prefix_postings: u64,
    /// Pairs of documents under one fingerprint in the prefix of both.
    pub probes: u64,
    /// Those not looked at because the same documents had met under another fingerprint.
    pub probes_repeated: u64,
    /// Those whose sizes exclude the threshold.
    pub probes_by_length: u64,
    /// Those excluded by the fingerprints that one of the two has alone.
    pub probes_by_singles: u64,
    /// With [`super::Pairs::None`]: those of documents that were in one cluster by then.
    pub probes_clustered: u64,
    /// Pairs written to runs of candidates, not all distinct.
    pub spilled: u64,
    /// Distinct candidates.
    pub candidates: u64,
    /// Pairs of sets intersected.
    pub verified: u64,
}

/// Where the join goes on, once its candidates are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Runs of candidates.
    pub candidates: Vec<RunEntry>,
    /// The last one that has been dealt with.
    pub done: Option<u64>,
}

/// Joins by prefixes; goes on after what is committed.
pub(super) fn run<K: Key>(
    workspace: &mut Workspace,
    config: &JoinConfig,
    limit: Option<usize>,
    context: &Context<'_>,
) -> Result<()> {
    let sample = workspace.manifest.get::<SampleEntry>();
    let missing = || Error::StageMissing {
        path: workspace.directory().into(),
        stage: "sample",
    };
    let levels = sample.ok_or_else(missing)?.sizes.len();
    let postings = workspace.manifest.get::<PostingsEntry>();
    let longest = postings.map_or(0, |postings| postings.stats.longest);
    let documents = Catalogue::stats(workspace)?.documents;
    let threads = context.budget.threads as u64;
    let set_bytes: u64 = collection::segments(&workspace.manifest)
        .iter()
        .map(|segment| segment.fingerprints.bytes)
        .sum();
    let fixed = PROCESS_BYTES
        + Sampled::bytes_for(config.measure, levels, documents)
        + threads * (WORKER_BYTES + candidates::longest_bytes(longest, levels));
    let cutoffs = cutoff::Cutoffs::bytes(levels, documents);
    let clusters = match config.pairs {
        super::Pairs::All => 0,
        super::Pairs::None => documents * 12,
    };
    let mapped = MappedSets::bytes(documents, set_bytes) + list::least_bytes(workspace, config);
    let least = ByteSize(
        fixed
            + cutoffs
            + clusters
            + mapped
            + threads * candidates::LEAST_BYTES
            + verify::LEAST_BYTES,
    );
    context.budget.require(least, || {
        format!(
            "joining {} with {}",
            counted(documents, "document"),
            counted(threads, "thread")
        )
    })?;
    let memory = context.budget.memory.0 - fixed;
    let sampled = Sampled::load_for(workspace, config.measure)?;
    let join = Joining {
        config,
        sampled: &sampled,
        limit,
        context,
    };
    let found = workspace.manifest.get::<JoinProgress>();
    if found.is_none_or(|joining| joining.prefix.is_none()) {
        let cutoffs = cutoff::settle::<K>(workspace, &join, memory)?;
        candidates::run::<K>(workspace, &join, cutoffs, memory - clusters)?;
    }
    verify::run::<K>(workspace, &join, memory - clusters - mapped)
}

/// Probes that the cut-offs let expect.
pub(super) fn expected(
    workspace: &Workspace,
    config: &JoinConfig,
    context: &Context<'_>,
) -> Result<u64> {
    let sampled = Sampled::load_for(workspace, config.measure)?;
    let join = Joining {
        config,
        sampled: &sampled,
        limit: None,
        context,
    };
    cutoff::expected(workspace, &join)
}

/// What every step of a join is given.
struct Joining<'a> {
    config: &'a JoinConfig,
    sampled: &'a Sampled,
    limit: Option<usize>,
    context: &'a Context<'a>,
}

/// A pass over all postings begins.
fn start_pass(workspace: &Workspace, context: &Context<'_>) {
    let entries = workspace.manifest.get::<PostingsEntry>();
    let entries = entries.map(|postings| postings.stats.entries);
    context
        .progress
        .start(STAGE, Unit::Count("posting entries"), entries);
}
