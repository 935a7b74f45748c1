//! A run with other parameters over an existing collection, and its pairs compared with the true
//! ones.

use crate::collection::{
    self, Catalogue, CatalogueEntry, Column, Extent, Ingested, Segments, each_document,
};
use crate::join::{JoinConfig, Pair, PairsEntry, open_pairs};
use crate::merge::PostingsEntry;
use crate::pipeline::{self, JoinParameters};
use crate::sample::{SampleEntry, Sampling, Selection};
use crate::sort::RunsEntry;
use lookalike_base::{Context, Criterion, Result, Silent, Threshold, cpu_seconds};
use lookalike_store::Workspace;
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// The cost of getting from the collection to the pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialCost {
    /// Seconds of wall time.
    pub wall_seconds: f64,
    /// Seconds of CPU time, user and system, all threads.
    pub cpu_seconds: f64,
    /// Records sorted: the sampled shingles.
    pub records: u64,
    /// Bytes of runs, and of runs of pairs.
    pub spilled_bytes: u64,
}

/// The remaining resources while the caller uses this many bytes. The trial does not report its
/// stages to the caller.
pub fn within<'a>(context: &Context<'a>, held: u64) -> Context<'a> {
    Context {
        progress: &Silent,
        budget: context.budget.without(held),
        ..*context
    }
}

/// Opens or creates a directory for other parameters over the collection of `base`, which does not
/// change. If `base` has postings of this `sampling` that serve the criterion, they are reused. Files
/// of an earlier trial in `directory` are kept if the collection is the same.
fn over(
    base: &Workspace,
    directory: &Path,
    sampling: &Sampling,
    criterion: Criterion,
) -> Result<Workspace> {
    let theirs = &base.manifest;
    let complete = theirs.get::<PostingsEntry>().filter(|postings| {
        let serves = |selection: Selection| selection.criterion.serves(criterion);
        postings.complete && postings.selection.is_some_and(serves)
    });
    let sample = theirs.get::<SampleEntry>();
    let sample = sample.filter(|sample| sample.sampling == *sampling);
    let shared = complete.zip(sample);
    let postings = shared.map(|(postings, _)| postings);
    let mut workspace = collection::standing_on(base, directory, "", postings)?;
    let own = &mut workspace.manifest;
    own.set(Segments(collection::segments(theirs).to_vec()));
    own.set(Ingested(collection::ingested(theirs)));
    own.remove::<CatalogueEntry>();
    if let Some(catalogue) = theirs.get::<CatalogueEntry>() {
        own.set(catalogue.clone());
    }
    let mut names = vec!["collection", "catalogue"];
    if let Some((postings, sample)) = shared {
        names.extend(["sample", "postings"]);
        own.set(sample.clone());
        own.set(postings.clone());
        own.remove::<RunsEntry>();
    }
    workspace.borrow(base, names);
    workspace.recover(true)?;
    Ok(workspace)
}

/// Finds all pairs of a collection with this sampling, in a separate directory. The caller uses
/// `held` bytes of the budget during the call.
pub fn ask(
    base: &Workspace,
    directory: &Path,
    sampling: &Sampling,
    join: impl Into<JoinConfig>,
    held: u64,
    context: &Context<'_>,
) -> Result<(Workspace, TrialCost)> {
    let join = join.into();
    let mut workspace = over(base, directory, sampling, join.of_samples())?;
    let parameters = JoinParameters {
        sampling: sampling.clone(),
        ..JoinParameters::from(join)
    };
    // The stages of a trial are not reported as the caller's.
    let silent = within(context, held);
    let (wall, cpu) = (Instant::now(), cpu_seconds());
    let joined = pipeline::join(&mut workspace, &parameters, &silent);
    joined.map_err(|error| context.budget.refused(error, held))?;
    let manifest = &workspace.manifest;
    let sample = manifest.get::<SampleEntry>();
    let runs = manifest.get::<RunsEntry>();
    let pairs = manifest.get::<PairsEntry>();
    let mut cost = TrialCost {
        wall_seconds: wall.elapsed().as_secs_f64(),
        cpu_seconds: cpu_seconds() - cpu,
        records: sample.map_or(0, |sample| sample.stats.sampled),
        spilled_bytes: runs.map_or(0, |runs| runs.stats.bytes)
            + pairs.map_or(0, |pairs| pairs.stats.spilled_bytes),
    };
    if workspace.path("postings") == base.path("postings") {
        // The cost includes the sorting of the earlier run whose postings are reused.
        for stage in ["sample", "sort", "merge"] {
            if let Some(stage) = base.manifest.costs.get(stage) {
                cost.wall_seconds += stage.wall_seconds;
                cost.cpu_seconds += stage.cpu_seconds;
            }
        }
        let runs = base.manifest.get::<RunsEntry>();
        cost.spilled_bytes += runs.map_or(0, |runs| runs.stats.bytes);
    }
    Ok((workspace, cost))
}

/// Two documents that are a true pair, a pair of a trial, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compared {
    pub a: u32,
    pub b: u32,
    /// The number of fingerprints they share, if it reaches the threshold of the true pairs.
    pub truth: Option<u32>,
    /// The number of sampled fingerprints they share, if it reaches the trial's threshold.
    pub found: Option<u32>,
}

/// Calls `each` with every pair of either list, in order.
pub fn each_compared(
    truth: &Workspace,
    trial: &Workspace,
    stage: &'static str,
    context: &Context<'_>,
    mut each: impl FnMut(Compared) -> Result<()>,
) -> Result<()> {
    let (true_list, found_list) = (open_pairs(truth)?, open_pairs(trial)?);
    let mut truths = true_list.range(0, u64::MAX)?;
    let mut founds = found_list.range(0, u64::MAX)?;
    let mut pairs = 0u64;
    loop {
        let (left, right) = (truths.head(), founds.head());
        let Some(key) = left.iter().chain(&right).map(|record| record.key).min() else {
            return Ok(());
        };
        context.tick(stage, pairs)?;
        pairs += 1;
        let (a, b) = Pair::of_key(key);
        let value = |record: Option<crate::sort::Record<u64>>| {
            record
                .filter(|record| record.key == key)
                .map(|record| record.value)
        };
        let (truth, found) = (value(left), value(right));
        each(Compared { a, b, truth, found })?;
        if truth.is_some() {
            truths.advance()?;
        }
        if found.is_some() {
            founds.advance()?;
        }
    }
}

/// The data about documents that assigns their pairs to groups.
#[derive(Debug)]
pub struct Documents {
    /// Size group of each.
    pub group: Vec<u8>,
    /// Distinct fingerprints of each representative; 0 of other documents.
    pub size: Column,
}

impl Documents {
    /// Bytes of memory for a collection of this extent.
    pub fn bytes(extent: Extent) -> u64 {
        extent.documents + extent.column_bytes()
    }

    pub fn load(workspace: &Workspace) -> Result<Documents> {
        let mut group = Vec::new();
        each_document(workspace, |_, document| {
            group.push(document.group);
            Ok(())
        })?;
        let size = Catalogue::sizes(workspace)?;
        Ok(Documents { group, size })
    }

    /// Groups of a pair: the smaller document's, then the larger document's.
    pub fn groups(&self, a: u32, b: u32) -> (u8, u8) {
        let (a, b) = (self.group[a as usize], self.group[b as usize]);
        (a.min(b), a.max(b))
    }

    /// Sizes of two sets.
    pub fn sizes(&self, a: u32, b: u32) -> (u64, u64) {
        (self.size.at(a).into(), self.size.at(b).into())
    }
}

/// The number of ascending thresholds that two sets with this overlap reach.
pub fn reached(thresholds: &[Threshold], shared: u32, sizes: (u64, u64)) -> usize {
    thresholds.partition_point(|threshold| threshold.reached(shared.into(), sizes.0, sizes.1))
}
