//! Pairs found, held against the pairs that are true.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// How many pairs were found rightly, found wrongly, and not found.
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

    /// Correct / found (Ye, Wen & Ma 2008, equation 2); `None` where nothing was found.
    #[must_use]
    pub fn precision(self) -> Option<f64> {
        share(self.correct, self.found())
    }

    /// Correct / true (Ye, Wen & Ma 2008, equation 3); `None` where nothing is true.
    #[must_use]
    pub fn recall(self) -> Option<f64> {
        share(self.correct, self.true_pairs())
    }

    /// Harmonic mean of precision and recall, 2 correct / (found + true); `None` where nothing was found
    /// and nothing is true.
    #[must_use]
    pub fn f1(self) -> Option<f64> {
        share(2 * self.correct, self.found() + self.true_pairs())
    }
}

/// part / whole; `None` of nothing.
pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl Add for Counts {
    type Output = Counts;
    fn add(self, other: Counts) -> Counts {
        Counts {
            correct: self.correct + other.correct,
            wrong: self.wrong + other.wrong,
            missed: self.missed + other.missed,
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        *self = *self + other;
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
}
