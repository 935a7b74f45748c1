//! Precision and recall: pairs found, compared with the true pairs.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// Numbers of pairs: found and true, found but not true, and not found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Found and true (true positives).
    pub correct: u64,
    /// Found and not true (false positives).
    pub wrong: u64,
    /// True and not found (misses, false negatives).
    pub missed: u64,
}

impl Counts {
    /// Pairs found.
    #[must_use]
    pub fn found(self) -> u64 {
        self.correct + self.wrong
    }

    /// Pairs that are true.
    #[must_use]
    pub fn true_pairs(self) -> u64 {
        self.correct + self.missed
    }

    /// Correct / found (Ye, Wen & Ma 2008, equation 2); `None` if no pair was found.
    #[must_use]
    pub fn precision(self) -> Option<f64> {
        share(self.correct, self.found())
    }

    /// Correct / true (Ye, Wen & Ma 2008, equation 3); `None` if there are no true pairs.
    #[must_use]
    pub fn recall(self) -> Option<f64> {
        share(self.correct, self.true_pairs())
    }

    /// Harmonic mean of precision and recall, 2 correct / (found + true); `None` if no pair was
    /// found and there are no true pairs.
    #[must_use]
    pub fn f1(self) -> Option<f64> {
        share(2 * self.correct, self.found() + self.true_pairs())
    }
}

/// Wilson's interval of a share that was measured on `n`, with the quantile `z` of the normal
/// distribution (Wilson 1927). It is always within 0 and 1, and ends there at a share of 0 or 1,
/// whatever the rounding.
pub fn wilson(share: f64, n: f64, z: f64) -> (f64, f64) {
    let z2 = z * z;
    let middle = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = z / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    let low = if share > 0.0 { middle - half } else { 0.0 };
    let high = if share < 1.0 { middle + half } else { 1.0 };
    (low.max(0.0), high.min(1.0))
}

/// part / whole; `None` if the whole is 0.
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl Add for Counts {
    type Output = Counts;
    fn add(mut self, other: Counts) -> Counts {
        crate::add!(self, other => correct, wrong, missed);
        self
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        *self = *self + other;
    }
}

/// The number of thresholds that a resemblance reaches, counted from the lowest. It is 0 for a pair
/// below all of them.
pub type Reached = usize;

/// Counts of document pairs, by the thresholds that their estimated resemblance reaches (rows) and
/// the thresholds that their true resemblance reaches (columns). Pairs that reach no threshold in
/// either way are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairTable {
    /// Rows of `thresholds + 1` cells, one after the other.
    pub cells: Vec<u64>,
    /// Number of thresholds.
    pub thresholds: usize,
}

impl PairTable {
    /// An empty table for this number of thresholds.
    #[must_use]
    pub fn new(thresholds: usize) -> PairTable {
        PairTable {
            cells: vec![0; (thresholds + 1) * (thresholds + 1)],
            thresholds,
        }
    }

    /// Counts a pair.
    pub fn count(&mut self, estimated: Reached, truth: Reached) {
        self.cells[estimated * (self.thresholds + 1) + truth] += 1;
    }

    /// Adds another table of the same thresholds.
    pub fn add(&mut self, other: &PairTable) {
        for (sum, n) in self.cells.iter_mut().zip(&other.cells) {
            *sum += n;
        }
    }

    /// Compares the pairs whose estimate reaches threshold number `estimated` (from 0) with the
    /// pairs that truly reach threshold number `truth`.
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

    /// [`PairTable::counts`] with the same threshold for both, as in the paper.
    #[must_use]
    pub fn at(&self, threshold: usize) -> Counts {
        self.counts(threshold, threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_nothing_are_undefined() {
        let nothing = Counts::default();
        assert_eq!(nothing.precision(), None);
        assert_eq!(nothing.recall(), None);
        assert_eq!(nothing.f1(), None);
        let counts = Counts {
            correct: 3,
            wrong: 1,
            missed: 2,
        };
        assert_eq!(counts.precision(), Some(0.75));
        assert_eq!(counts.recall(), Some(0.6));
        assert_eq!(counts.f1(), Some(6.0 / 9.0));
    }

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
        // Compares estimates at or above the lower threshold with true resemblances at the higher
        // one.
        assert_eq!(table.counts(0, 1), counts(2, 2, 1));
        let mut twice = table.clone();
        twice.add(&table);
        assert_eq!(twice.at(0), counts(6, 2, 2));
    }
}
