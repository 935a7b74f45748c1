//! Stage 8 of 9: from shared postings to the pair list.
//!
//! # Source
//! Steps 3 and 4 of Broder's algorithm (Broder, Glassman, Manasse & Zweig 1997) as restated by Ye,
//! Wen & Ma 2008, section 2.1: for every two documents count the fingerprints that they share, and
//! compute their resemblance from this count and their sizes.
//!
//! # In and out
//! In: shared postings and the sizes of the samples. Out: every pair of documents a < b whose
//! (estimated) resemblance is at or above the threshold, with its shared count, ordered by (a, b).
//!
//! # Algorithm
//! Two algorithms find the same pairs. [`prefix`] looks at a few fingerprints of each document and
//! verifies the candidates that it finds. [`count`] counts all fingerprints that any two documents
//! share. With [`Join::Auto`] the sort has estimated the cost of both: if the postings have what a
//! prefix join needs, it is the cheaper one.
//!
//! # Invariants
//! - The pairs are exactly those of the definition, unless `--max-postings` drops common shingles.
//!   The dropped lists are counted.
//! - The shared count does not determine the measure S4. The stage computes the weights of every
//!   pair that the bounds of S4 do not exclude (`weigh.rs`).
//! - Resemblance is compared in integers ([`lookalike_base::ids::Threshold`]).
//!
//! # Errors
//! `BudgetTooSmall`; `Corrupt`; `Io`.

pub mod closest;
mod config;
pub mod count;
mod counters;
mod found;
mod list;
mod pairs;
pub mod prefix;
mod weigh;

use crate::collection::{self, Tried};
use crate::merge::PostingsEntry;
use crate::sample::{SampleEntry, Sampled, Sampling, Selection};
use crate::sort::{Compression, RunEntry};
use lookalike_base::{Budget, Context, Error, Key, Result, counted, refuse};
use lookalike_store as store;
use lookalike_store::{MANIFEST_FILE, Workspace};
use lookalike_text::parse::TokenKind;
use serde::{Deserialize, Serialize};

pub use config::{Join, JoinConfig, Pairs};
pub use count::CountStats;
pub use found::{Take, run as found};
pub use list::{Before, List, PairsEntry};
pub use pairs::{Pair, each_measured_pair, each_pair, open_pairs, sizes_of_pairs};
pub use prefix::{AddedStats, PrefixStats};

const STAGE: &str = "join";
const DIRECTORY: &str = "pairs";
/// Counted pairs repeat the same `a` many times, so compression pays (measured in
/// `docs/experiments.md`).
const COMPRESSION: Compression = Some(1);

/// Counters of the join.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinStats {
    /// Pairs at or above the threshold; with [`Pairs::None`], links from members of clusters to
    /// their representatives.
    pub pairs: u64,
    /// Pairs below it that are listed apart ([`JoinConfig::review`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<u64>,
    /// Runs of counted pairs and of candidates.
    pub runs: u64,
    /// Bytes of these runs.
    pub spilled_bytes: u64,
    /// The most merges that any of these runs went through.
    pub generations: u32,
    /// Verified sampling: pairs whose full sets were intersected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked_up: Option<u64>,
    /// If a condition holds for no pair because it has no answer: for how many, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<String>,
    /// Counters of the `count` join.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<CountStats>,
    /// Counters of the `prefix` join.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<PrefixStats>,
    /// Counters of a join that added pairs to those that were there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<AddedStats>,
}

/// How far a join has come, as of its last commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinProgress {
    /// Digest of sample and join parameters.
    pub digest: String,
    /// Runs of counted pairs so far.
    pub runs: Vec<RunEntry>,
    /// Number of the next run.
    pub next_number: u64,
    /// Counters so far.
    pub stats: JoinStats,
    /// How the condition fared so far on the candidates of the `prefix` join.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<Tried>,
    /// Where the `count` join resumes.
    pub count: count::CountPlace,
    /// Where the `prefix` join resumes, once its candidates are written.
    pub prefix: Option<prefix::PrefixPlace>,
}

impl JoinProgress {
    /// Takes all candidates of the `prefix` join, of which none is verified yet.
    fn take_candidates(&mut self, candidates: Vec<RunEntry>) {
        self.stats.runs += candidates.len() as u64;
        self.stats.spilled_bytes += candidates.iter().map(|run| run.part.bytes).sum::<u64>();
        let done = None;
        self.prefix = Some(prefix::PrefixPlace { candidates, done });
    }
}

/// Digest of everything that the pairs depend on.
pub fn digest(sample: &str, config: &JoinConfig) -> String {
    let JoinConfig {
        join,
        threshold,
        pairs,
        candidates,
        max_postings,
        measure,
        review,
    } = config;
    let max = max_postings.map_or("none".into(), |n| n.to_string());
    let mut text = format!("{sample}\n{join}\n{threshold}\n{max}\n{pairs}");
    if let Some(candidates) = candidates {
        text.push_str(&format!("\nverified from {candidates}"));
    }
    if !measure.is_default() {
        text.push_str(&format!("\n{measure}"));
    }
    if let Some(review) = review {
        text.push_str(&format!("\nreview from {review}"));
    }
    store::digest(text.as_bytes())
}

/// Runs the join, unless the pairs for these parameters are committed already. It resumes after the
/// last commit. With a `limit`, candidates go through sorted runs on disk, even if memory has room
/// for them, and `limit` bounds the fan-in of merges.
pub fn run<K: Key>(
    workspace: &mut Workspace,
    config: &JoinConfig,
    limit: Option<usize>,
    context: &Context<'_>,
) -> Result<()> {
    config.check()?;
    let sample = workspace.record::<SampleEntry>("sample")?;
    let digest = digest(&sample.digest, config);
    let tokens = &collection::config(&workspace.manifest).shingle.parse.tokens;
    if config.measure.of_words() && matches!(tokens, TokenKind::Bytes(_)) {
        let limit = "it divides by lengths in words, and `--tokens bytes:N` has no words";
        return refuse("score", config.measure, limit);
    }
    config.check_sampling(sample.sampling != Sampling::Full)?;
    let adds = adds(workspace, &digest);
    let serves = |selection: Selection| selection.criterion.serves(config.of_samples());
    let complete = |p: &PostingsEntry| p.complete && p.selection.is_none_or(serves);
    let complete = workspace.matches(complete);
    if !complete && !adds {
        return Err(workspace.missing("merge"));
    }
    if !adds {
        check_records(workspace)?;
    }
    let there = workspace.manifest.get::<PairsEntry>();
    if there.is_some_and(|pairs| pairs.digest == digest) {
        return Ok(());
    }
    workspace.manifest.remove::<PairsEntry>();
    workspace.manifest.remove_after::<PairsEntry>();
    // Without the pairs of before, those of added documents are not all.
    let is_other = |j: &JoinProgress| j.digest != digest || j.stats.added.is_some() != adds;
    if workspace.manifest.get().is_none_or(is_other) {
        let mut begun = JoinProgress {
            digest,
            next_number: 1,
            ..JoinProgress::default()
        };
        if adds {
            begun.stats.added = Some(AddedStats::default());
        } else if let Some(before) = workspace.manifest.get_mut::<Before>() {
            before.part = None;
        }
        workspace.manifest.set(begun);
        workspace.settle(&[])?;
    }
    let listed = &list::Listable::of(workspace, config.pairs, context)?;
    if !adds && counts(workspace, config) {
        count::run::<K>(workspace, config, listed, limit, context)
    } else {
        prefix::run::<K>(workspace, config, listed, limit, context)
    }
}

/// Refuses postings of fewer records than the sample has, unless a selection says why: they may be
/// from a program that knows no selections.
fn check_records(workspace: &Workspace) -> Result<()> {
    let sample = workspace.record::<SampleEntry>("sample")?;
    let postings = workspace.record::<PostingsEntry>("merge")?;
    let (expected, found) = (sample.stats.sampled, postings.stats.records);
    if postings.selection.is_none() && found != expected {
        let path = workspace.directory().join(MANIFEST_FILE);
        return Err(Error::corrupt(path, "records of the postings").expected(expected, found));
    }
    Ok(())
}

/// A fingerprint of an added document costs as much as this number of fingerprints in a join of all
/// documents.
const FINGERPRINTS_OF_ADDED: u64 = 6;

/// Whether a join with this digest adds pairs to those that were there before documents were added,
/// in place of finding all pairs again. It needs the index.
pub fn adds(workspace: &Workspace, digest: &str) -> bool {
    let manifest = &workspace.manifest;
    let against = collection::against(manifest).documents;
    let first = match (against, manifest.get::<Before>()) {
        (0, Some(before)) if before.part.is_some() && before.digest == digest => before.documents,
        (0, _) => return false,
        (against, _) => against,
    };
    let begun = manifest.get::<JoinProgress>();
    if let Some(begun) = begun.filter(|j| j.digest == digest) {
        return begun.stats.added.is_some();
    }
    let (mut all, mut new) = (0u64, 0u64);
    for segment in collection::segments(manifest) {
        let keys = segment.fingerprints.records;
        all += keys;
        if segment.first_document >= first {
            new += keys;
        }
    }
    new.saturating_mul(FINGERPRINTS_OF_ADDED) <= all
}

/// The number of documents whose pairs with each other are known, or not wanted, if the join that
/// has begun adds to them.
fn known(workspace: &Workspace) -> Option<u32> {
    let before = list::before(workspace).map(|before| before.documents);
    let begun = workspace.manifest.get::<JoinProgress>();
    let adds = begun.is_some_and(|begun| begun.stats.added.is_some());
    let against = collection::against(&workspace.manifest).documents;
    before.or((adds && against > 0).then_some(against))
}

/// Should the stage run the count join? Selected postings lack what it counts; all were made because
/// it is wanted, or cheaper.
fn counts(workspace: &Workspace, config: &JoinConfig) -> bool {
    let all = workspace.matches::<PostingsEntry>(|postings| postings.selection.is_none());
    config.join.counts() || all && config.may_count()
}

/// The memory beside `used` bytes, of which a join needs at least `least`.
fn rest(documents: u64, used: u64, least: u64, budget: &Budget) -> Result<u64> {
    budget.rest(used, least, || {
        let (documents, threads) = (counted(documents, "document"), budget.threads as u64);
        format!("joining {documents} with {}", counted(threads, "thread"))
    })
}

/// The parameters that all steps of a join have in common.
#[derive(Clone, Copy)]
struct Joining<'a> {
    config: &'a JoinConfig,
    sampled: &'a Sampled,
    listed: &'a list::Listable,
    /// The most runs that are merged at once.
    limit: Option<usize>,
    context: &'a Context<'a>,
}

impl<'a> Joining<'a> {
    /// Returns the message about a condition that holds for no pair
    /// ([`collection::Conditions::undecided`]).
    fn undecided(&self, workspace: &Workspace, tried: &Tried) -> Result<Option<String>> {
        let conditions = self.listed.conditions.as_ref();
        conditions.map_or(Ok(None), |of| of.undecided(workspace, tried, self.context))
    }

    fn new(
        config: &'a JoinConfig,
        (sampled, listed): (&'a Sampled, &'a list::Listable),
        limit: Option<usize>,
        context: &'a Context<'a>,
    ) -> Joining<'a> {
        Joining {
            config,
            sampled,
            listed,
            limit,
            context,
        }
    }
}

/// Commits the progress of a join.
fn commit(workspace: &mut Workspace, progress: &JoinProgress) -> Result<()> {
    workspace.manifest.set(progress.clone());
    workspace.commit(&[DIRECTORY])
}
