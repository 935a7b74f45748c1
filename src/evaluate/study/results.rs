//! What a study counted.

use serde::{Deserialize, Serialize};

use crate::evaluate::Counts;
use crate::ids::Threshold;

/// What is to be tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyConfig {
    /// The n of each sampling ratio 1/n, rising, each 2 or more.
    pub ratios: Vec<u32>,
    /// Resemblance thresholds, rising.
    pub thresholds: Vec<Threshold>,
}

/// How many of the thresholds a resemblance reaches, the lowest first: 0 for a pair below all of them.
pub type Levels = usize;

/// Pairs of documents by the thresholds that their estimated resemblance reaches (rows), and their true
/// one (columns). Pairs that reach none in both are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairTable {
    /// Rows of `thresholds + 1` cells, one after the other.
    pub cells: Vec<u64>,
    /// Thresholds.
    pub thresholds: usize,
}

impl PairTable {
    /// An empty table for so many thresholds.
    #[must_use]
    pub fn new(thresholds: usize) -> PairTable {
        PairTable {
            cells: vec![0; (thresholds + 1) * (thresholds + 1)],
            thresholds,
        }
    }

    /// Counts a pair.
    pub fn count(&mut self, estimated: Levels, truth: Levels) {
        self.cells[estimated * (self.thresholds + 1) + truth] += 1;
    }

    /// Adds another table of the same thresholds.
    pub fn add(&mut self, other: &PairTable) {
        for (sum, n) in self.cells.iter_mut().zip(&other.cells) {
            *sum += n;
        }
    }

    /// Pairs that are found when the estimate has to reach threshold number `estimated` (from 0), held
    /// against the pairs that truly reach threshold number `truth`.
    #[must_use]
    pub fn counts(&self, estimated: usize, truth: usize) -> Counts {
        let mut counts = Counts::default();
        for (row, cells) in self.cells.chunks(self.thresholds + 1).enumerate() {
            for (column, &n) in cells.iter().enumerate() {
                match (row > estimated, column > truth) {
                    (true, true) => counts.correct += n,
                    (true, false) => counts.wrong += n,
                    (false, true) => counts.missed += n,
                    (false, false) => {}
                }
            }
        }
        counts
    }

    /// The same with one threshold for both, as in the paper.
    #[must_use]
    pub fn at(&self, threshold: usize) -> Counts {
        self.counts(threshold, threshold)
    }
}

/// A size group in a trial. A pair belongs to the group of its smaller document (fewer words; of two
/// equally long ones, they are of one group anyway).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialGroup {
    /// Representatives in the group that have shingles,
    pub documents: u64,
    /// and those of them of which nothing is sampled: they can be in no pair.
    pub nothing_sampled: u64,
    /// Distinct shingles of these documents, summed,
    pub shingles: u64,
    /// and the sampled ones: what is processed.
    pub sampled: u64,
    /// Pairs of two documents of the group.
    pub same: PairTable,
    /// Pairs with a document of a group of larger ones.
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
    /// What was tried.
    pub config: StudyConfig,
    /// The size groups' bounds in words, as `0-499`.
    pub groups: Vec<String>,
    /// Number of words of the documents (representatives) of some ranks, the largest first: (rank from 1,
    /// words). All ranks up to 100, and from there on about a hundred for each power of ten.
    pub sizes: Vec<(u64, u64)>,
    /// Ratio by ratio, class by class.
    pub trials: Vec<Trial>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_give_counts_at_any_two_thresholds() {
        // Two thresholds. (estimated, truth): both high; high but low; low but none; none but high.
        let mut table = PairTable::new(2);
        for (estimated, truth) in [(2, 2), (2, 1), (1, 0), (0, 2), (1, 2)] {
            table.count(estimated, truth);
        }
        let counts = |correct, wrong, missed| Counts {
            correct,
            wrong,
            missed,
        };
        assert_eq!(table.at(0), counts(3, 1, 1));
        assert_eq!(table.at(1), counts(1, 1, 2));
        // Estimates from the lower threshold on, held against the higher.
        assert_eq!(table.counts(0, 1), counts(2, 2, 1));
        let mut twice = table.clone();
        twice.add(&table);
        assert_eq!(twice.at(0), counts(6, 2, 2));
    }
}
