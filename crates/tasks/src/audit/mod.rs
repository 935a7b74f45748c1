//! The audit of a deduplication: what it removed, from where, and pairs of documents by which a
//! person can judge it.
//!
//! # In and out
//! In: a directory of kept records (KEPT) of [`crate::dedup`], the work directory that it
//! names, and the inputs, whose texts are read again. Out: an [`Audit`], from which the report page
//! is written, and a file for the verdicts of a person ([`review`]).
//!
//! # Algorithm
//! 1. `.lookalike/source.json` in KEPT names the work directory and the parameters. The choice is
//!    made again ([`crate::dedup`]). Its digest must equal KEPT's: otherwise the pairs, the
//!    inputs or a list have changed since.
//! 2. The documents are counted by reason, by input and by other sources (`tally.rs`). Values that
//!    two documents share are found by an external sort, so the number of values is not limited.
//! 3. The largest clusters are found, with their survivors (`clusters.rs`).
//! 4. Three samples are drawn (`samples.rs`, `near.rs`): removals at random, removals nearest the
//!    threshold, and near misses. A near miss is a pair of kept documents that is just below the
//!    threshold. To find them, the join runs again with a lower threshold, in scratch space.
//!
//! # Invariants
//! - Nothing in KEPT is changed.
//! - The result depends on KEPT, the work directory, the inputs and the parameters alone, not on
//!   threads or memory.
//! - The counts by reason are those that `dedup` recorded, and each table adds up to them.
//!
//! # Cost
//! Memory: what the choice takes ([`crate::dedup`]), then a buffer for sorting. Scratch
//! space: 40 bytes a document for each source other than the input, the values themselves, and what
//! a join takes. Time: the choice, a join, and one reading of the inputs if a source is a field.
//!
//! # What is not guaranteed
//! Two values of a source with the same hash of 64 bits are counted as one.
//!
//! # Errors
//! `BadParameter` if KEPT is not complete, does not name its work directory, or was made from
//! something else; `BudgetTooSmall`; `Corrupt` and `Io` for the files that are read.

mod clusters;
mod near;
pub mod review;
mod samples;
mod source;
mod tally;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::dedup::{self, Decided, DedupSource, Removal};
use lookalike_base::{
    Context, Criterion, Error, Memory, Result, Silent, Threshold, Unit, counted, path_word,
};
use lookalike_engine::collection;
use lookalike_engine::document::{ShownDocument, look_up};
use lookalike_store::Workspace;

pub use clusters::{AuditedCluster, ClusterMember, MEMBERS_SHOWN};
pub use samples::{SampleKind, SamplePair};
pub use source::Source;
pub use tally::{ROWS_SHOWN, SourceTable, SourceTally, Tally};

const STAGE: &str = "audit";

/// Buffers of readers, the sorts' files and the rows of the tables.
const FIXED_BYTES: u64 = 8 << 20;

/// Memory of a pair or a member that is shown, without the names of its documents.
const SHOWN_BYTES: u64 = 512;

/// Characters of a name that are kept.
const NAME_CHARS: usize = 300;

/// Selects what an audit shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditConfig {
    /// Sources by which documents are counted, besides the input.
    pub by: Vec<Source>,
    /// Largest clusters.
    pub clusters: usize,
    /// Pairs of each sample.
    pub samples: usize,
    /// Seed of the random sample.
    pub seed: u64,
}

impl Default for AuditConfig {
    fn default() -> Self {
        AuditConfig {
            by: Vec::new(),
            clusters: 20,
            samples: 10,
            seed: 0,
        }
    }
}

/// The result of an audit: the documents that a deduplication removed, and samples to judge.
#[derive(Clone, Debug, PartialEq)]
pub struct Audit {
    /// The directory of the kept records, as the user gave it.
    pub kept: PathBuf,
    /// The program that made the work directory.
    pub program: String,
    /// Digest of everything that decided which documents were removed.
    pub digest: String,
    /// The record that `dedup` wrote.
    pub source: DedupSource,
    /// The measure and the threshold.
    pub criterion: Criterion,
    /// Documents by input file, and by each other source.
    pub tables: Vec<SourceTable>,
    /// Clusters of two documents or more.
    pub all_clusters: u64,
    /// The largest clusters.
    pub clusters: Vec<AuditedCluster>,
    /// The parameters of the audit.
    pub config: AuditConfig,
    /// Near misses reach this threshold.
    pub near_from: Threshold,
    /// Removals from which the random sample is drawn.
    pub drawn_from: u64,
    /// Removals that reach the threshold with their survivor, other than exact duplicates.
    pub reaching: u64,
    /// Near misses in all.
    pub near_misses: u64,
    /// The pairs of the three samples, in the order of [`SampleKind::ALL`].
    pub pairs: Vec<SamplePair>,
    /// The documents of the clusters and pairs.
    pub documents: HashMap<u32, ShownDocument>,
}

impl Audit {
    /// The pairs of one sample.
    pub fn sample(&self, kind: SampleKind) -> impl Iterator<Item = &SamplePair> {
        self.pairs.iter().filter(move |pair| pair.kind == kind)
    }

    /// The reasons for which a document was removed.
    pub fn reasons(&self) -> impl Iterator<Item = Removal> + '_ {
        let removed = Removal::ALL.into_iter().zip(self.source.summary.removed);
        removed
            .filter(|(_, number)| *number > 0)
            .map(|(reason, _)| reason)
    }
}

/// Opens the work directory of a directory of kept records to read it: someone else may have made
/// KEPT, which may name any directory.
///
/// # Errors
/// `BadParameter` if KEPT is not complete, or its work directory is not recorded or gone.
pub fn open_work(kept: &Path, context: &Context<'_>) -> Result<Workspace> {
    let (source, _) = DedupSource::read(kept)?;
    lookalike_engine::pipeline::open_shared(&source.work(kept)?, context)
}

/// Audits the deduplication that wrote `kept`, with the pairs of its work directory.
pub fn audit(
    kept: &Path,
    workspace: &Workspace,
    config: &AuditConfig,
    context: &Context<'_>,
) -> Result<Audit> {
    let (source, digest) = DedupSource::read(kept)?;
    let criterion = dedup::check_pairs("DIR", workspace)?;
    let inputs = dedup::inputs_of(workspace)?;
    let read = &collection::config(&workspace.manifest).read;
    let reader = dedup::values::memory_of_reader(read);
    let shown = (config.samples as u64)
        .saturating_mul(3)
        .saturating_add((config.clusters as u64).saturating_mul(MEMBERS_SHOWN as u64 * 2))
        .saturating_mul(SHOWN_BYTES)
        .min(1 << 60);
    let beside = FIXED_BYTES + shown;
    let (how, threads) = (&source.config, |_: u64| reader);
    let beside = (beside, &threads as &dyn Fn(u64) -> u64);
    // The deduplication has warned already.
    let progress = &Silent;
    let silent = Context {
        progress,
        ..*context
    };
    let made = Decided::make(workspace, &inputs, how, criterion, true, beside, &silent)?;
    let decided = Decided { context, ..made };
    let digests = dedup::digests(workspace, how, source.removed, decided.list)?;
    if !digests.contains(&digest) {
        return Err(changed(kept, workspace));
    }
    let steps = 4 + u64::from(config.samples > 0);
    let start = || {
        let unit = Unit::Count("steps");
        context.start(STAGE, unit, Some(steps));
    };
    start();
    let mut tables = tally::tables(&decided, &config.by)?;
    let counted_again = tally::sum(&mut tables);
    if counted_again.removed != source.summary.removed
        || counted_again.documents != source.summary.documents
    {
        return Err(changed(kept, workspace));
    }
    start();
    context.progress.at(1);
    let (all_clusters, clusters) = clusters::largest(&decided, config.clusters)?;
    context.progress.at(2);
    let (mut pairs, [drawn_from, reaching]) = samples::draw(&decided, config)?;
    context.progress.at(3);
    // Copies are removed whatever the threshold is.
    let samples = if how.identical.is_some() {
        0
    } else {
        config.samples
    };
    let (near, near_misses, near_from) = near::misses(&decided, samples)?;
    start();
    context.progress.at(steps - 1);
    pairs.extend(near);
    for pair in &mut pairs {
        pair.id = review::id(&digest, pair);
    }
    let mut held = Memory::new(&context.budget, decided.used + reader);
    let wanted = pairs.iter().flat_map(|pair| [pair.document, pair.other]);
    let members = clusters.iter().flat_map(|cluster| &cluster.shown);
    let wanted = wanted.chain(members.map(|member| member.document));
    let wanted: Vec<u32> = wanted.collect();
    let _ = held.take((wanted.len() * 2 * size_of::<(u32, ShownDocument)>()) as u64);
    let documents = look_up(workspace, wanted, &mut held, STAGE, context)?;
    held.check(|| {
        let pairs = counted(pairs.len() as u64, "pair");
        format!("an audit that shows {pairs}")
    })?;
    context.progress.end(&format!(
        "{STAGE}: {}, {}",
        counted(clusters.len() as u64, "cluster"),
        counted(pairs.len() as u64, "pair"),
    ));
    Ok(Audit {
        kept: kept.into(),
        program: workspace.manifest.program.clone(),
        digest,
        source,
        criterion,
        tables,
        all_clusters,
        clusters,
        config: config.clone(),
        near_from,
        drawn_from,
        reaching,
        near_misses,
        pairs,
        documents,
    })
}

fn changed(kept: &Path, workspace: &Workspace) -> Error {
    let work = workspace.directory();
    Error::parameter("DIR", kept.display()).because(format!(
        "it was made from an earlier state of the work directory {}, before `lookalike add` or a \
             search changed it; make a new one: `lookalike dedup --from {} -o OTHER`",
        work.display(),
        path_word(work)
    ))
}
