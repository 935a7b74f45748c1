//! The counts of a study.

use serde::{Deserialize, Serialize};

use crate::base::ids::Threshold;
use crate::base::precision::PairTable;

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
    /// Representatives with shingles of which none is sampled: they can be in no pair.
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

/// A table or figure of a study, to be written to its directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyFile {
    /// Its name, without a directory.
    pub name: String,
    /// Its bytes, UTF-8.
    pub content: Vec<u8>,
}
