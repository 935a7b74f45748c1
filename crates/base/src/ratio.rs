//! Resemblance and containment as fractions that are compared exactly.

use std::cmp::Ordering;

use crate::ids::Threshold;
use crate::measure::Measure;

/// A part of a whole.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    part: u64,
    whole: u64,
}

impl Ratio {
    /// The containment of two sets of these sizes, or their resemblance for any other measure.
    pub fn of(measure: Measure, shared: u32, (a, b): (u32, u32)) -> Ratio {
        let (shared, a, b) = (u64::from(shared), u64::from(a), u64::from(b));
        let whole = match measure {
            Measure::Containment => a.min(b),
            _ => (a + b).saturating_sub(shared),
        };
        Ratio {
            part: shared,
            whole: whole.max(1),
        }
    }
}

impl From<Threshold> for Ratio {
    fn from(threshold: Threshold) -> Ratio {
        Ratio {
            part: threshold.numerator(),
            whole: threshold.denominator(),
        }
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        product(self.part, other.whole).cmp(&product(other.part, self.whole))
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ratio {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_compared_exactly() {
        let of = |shared, a, b| Ratio::of(Measure::Resemblance, shared, (a, b));
        assert!(of(17, 20, 17) == of(34, 40, 34));
        assert!(of(850_001, 1_000_000, 850_001) > of(17, 20, 17));
        assert!(of(17, 20, 17) == Ratio::from(Threshold::default()));
        let of = |shared, a, b| Ratio::of(Measure::Containment, shared, (a, b));
        assert!(of(17, 20, 40) == Ratio::from(Threshold::default()));
        assert!(of(0, 0, 0) < of(1, 9, 9));
    }
}
