//! The counts of a study.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use lookalike_base::{Counts, PairTable, Threshold};
use lookalike_engine::trial::TrialCost;
use lookalike_tasks::plan::Plan;

/// The threshold for which the paper gives numbers.
pub const USUAL: f64 = 0.85;

/// The ratios and thresholds to try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyConfig {
    /// The n of each sampling ratio 1/n, ascending, each 2 or more.
    pub ratios: Vec<u32>,
    /// Resemblance thresholds, ascending.
    pub thresholds: Vec<Threshold>,
}

/// A size group in a trial. A pair belongs to the group of its document with fewer words. Two
/// equally long documents are in the same group anyway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialGroup {
    /// Representatives in the group that have shingles.
    pub documents: u64,
    /// Representatives with shingles, none of them sampled: they can be in no pair.
    pub nothing_sampled: u64,
    /// Distinct shingles of these documents, summed.
    pub shingles: u64,
    /// Sampled shingles: the ones that are processed.
    pub sampled: u64,
    /// Pairs of two documents of the group.
    pub same: PairTable,
    /// Pairs with a larger document of another group.
    pub cross: PairTable,
}

/// One class of one ratio.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// The n of the ratio 1/n; 1 is the exact run.
    pub n: u32,
    /// The class, 0 to n - 1.
    pub class: u32,
    /// By size group.
    pub groups: Vec<TrialGroup>,
}

/// A whole study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Study {
    /// The ratios and thresholds tried.
    pub config: StudyConfig,
    /// The size groups' bounds in words, as `0-499`.
    pub groups: Vec<String>,
    /// Sizes of documents (representatives) in words, largest first: (rank from 1, words). Contains
    /// all ranks up to 100, further ranks in steps of at most 1 %, and the last rank.
    pub sizes: Vec<(u64, u64)>,
    /// Ratio by ratio, class by class.
    pub trials: Vec<Trial>,
}

/// The cost of a study. It differs from run to run, so it is not part of the results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StudyCost {
    /// Reading the inputs, as recorded by the run that read them.
    pub reading: TrialCost,
    /// The exact run at the lowest threshold, from the collection to its pairs.
    pub exact: TrialCost,
    /// The mean cost of a trial of each ratio 1/n, by n.
    pub trials: BTreeMap<u32, TrialCost>,
    /// Runs with plans, which are made on the whole collection for the threshold nearest 0.85.
    pub planned: Vec<PlannedTrial>,
    /// Wall seconds of the exact run and all trials.
    pub wall_seconds: f64,
    /// CPU seconds of the exact run and all trials.
    pub cpu_seconds: f64,
    /// The number of trials, including the exact run.
    pub count: u64,
    /// Peak resident memory of the process in bytes.
    pub peak_bytes: u64,
}

/// A run with a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedTrial {
    /// The plan.
    pub plan: Plan,
    /// The counts of pairs at the plan's threshold.
    pub counts: Counts,
    /// The same counts by size group of the smaller document.
    pub groups: Vec<Counts>,
    /// Documents without any sampled shingle.
    pub nothing_sampled: u64,
    /// The cost of the run at the lowest threshold, as for the trials.
    pub cost: TrialCost,
}
