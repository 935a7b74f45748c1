//! A share measured on some pairs, and how far it can be trusted.

use serde::{Deserialize, Serialize};

/// One-sided 95 % of the normal distribution: both ends of an interval are beyond the truth one time in
/// twenty each.
const Z: f64 = 1.6449;

/// Precision or recall, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The share measured.
    pub value: f64,
    /// It is at least this, with 95 % confidence,
    pub low: f64,
    /// and at most this, with 95 % confidence.
    pub high: f64,
    /// Pairs that it was measured on.
    pub pairs: u64,
    /// How many pairs that have nothing to do with each other would say as much.
    pub worth: f64,
}

/// The pairs of one family of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sums {
    /// Pairs that count, each by how many it stands for,
    pub whole: f64,
    /// those of them that are right,
    pub part: f64,
    /// and how many there are.
    pub pairs: u64,
}

/// Estimates the share of `part` in `whole` over families; `None` where there is nothing.
///
/// # Source
/// Pairs of one family are not independent: one fingerprint that is sampled or not decides over all of
/// them. So the families are taken as the sample: the variance of the quotient of their sums is that
/// of cluster sampling, linearised (Cochran 1977, section 6.5), from which follows how many
/// independent pairs would be worth as much (Kish 1965, the design effect), at least as many as there are
/// families, if all had equal weight; with these, the interval is
/// Wilson's (1927), which does not collapse where everything measured was right (Korn & Graubard
/// 1998 do the same with an exact interval).
pub(crate) fn estimate(families: impl Iterator<Item = Sums> + Clone) -> Option<Estimate> {
    let (mut whole, mut part, mut squares) = (0.0, 0.0, 0.0);
    let (mut pairs, mut count) = (0u64, 0u64);
    for family in families.clone().filter(|family| family.whole > 0.0) {
        whole += family.whole;
        part += family.part;
        squares += family.whole * family.whole;
        pairs += family.pairs;
        count += 1;
    }
    if count == 0 {
        return None;
    }
    let p = (part / whole).clamp(0.0, 1.0);
    // As many families of equal weight.
    let equal = whole * whole / squares;
    let residuals: f64 = families
        .map(|family| (family.part - p * family.whole).powi(2))
        .sum();
    let variance = if count > 1 {
        count as f64 / (count - 1) as f64 * residuals / (whole * whole)
    } else {
        0.0
    };
    let spread = p * (1.0 - p);
    let worth = if variance > 0.0 && spread > 0.0 && count > 1 {
        (spread / variance).clamp(equal, (pairs as f64).max(equal))
    } else {
        equal
    };
    let (low, high) = wilson(p, worth);
    Some(Estimate {
        value: p,
        low,
        high,
        pairs,
        worth,
    })
}

/// Could so many pairs, all of them right, show that a share is at least `target`?
pub(crate) fn could_show(worth: f64, target: f64) -> bool {
    wilson(1.0, worth).0 >= target
}

/// Wilson's interval of a share p measured on n.
fn wilson(p: f64, n: f64) -> (f64, f64) {
    let z2 = Z * Z;
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(whole: f64, part: f64) -> Sums {
        Sums {
            whole,
            part,
            pairs: whole as u64,
        }
    }

    #[test]
    fn intervals_are_wilsons() {
        // 8 of 10 with z = 1.6449: by hand, middle (0.8 + 0.13528) / 1.27057, half 0.19533.
        let (low, high) = wilson(0.8, 10.0);
        assert!(
            (low - 0.540_8).abs() < 1e-3 && (high - 0.931_4).abs() < 1e-3,
            "{low} {high}"
        );
        // All right: n / (n + z²).
        let (low, high) = wilson(1.0, 10.0);
        assert!((low - 10.0 / (10.0 + Z * Z)).abs() < 1e-12 && high > 0.999_999);
        assert!(could_show(10.9, 0.8) && !could_show(10.7, 0.8));
    }

    #[test]
    fn families_are_what_counts() {
        let single = estimate((0..100).map(|i| sums(1.0, f64::from(u8::from(i % 5 > 0))))).unwrap();
        assert!((single.value - 0.8).abs() < 1e-12 && single.pairs == 100);
        assert!((single.worth - 100.0).abs() < 1e-9);
        // The same pairs in ten families, two of them wholly wrong: worth ten, nearly.
        let families =
            estimate((0..10).map(|i| sums(10.0, if i % 5 > 0 { 10.0 } else { 0.0 }))).unwrap();
        assert!((families.value - 0.8).abs() < 1e-12 && families.pairs == 100);
        assert!((families.worth - 10.0).abs() < 1e-9);
        let (low, _) = wilson(0.8, 10.0);
        assert!((families.low - low).abs() < 1e-9, "{families:?}");
        assert!(single.low > families.low + 0.1);
        // One family is one family, however large.
        let one = estimate(std::iter::once(sums(1000.0, 1000.0))).unwrap();
        assert!((one.low - 1.0 / (1.0 + Z * Z)).abs() < 1e-12);
        assert_eq!(estimate(std::iter::empty()), None);
        assert_eq!(estimate(std::iter::once(sums(0.0, 0.0))), None);
    }

    #[test]
    fn intervals_hold_as_often_as_they_say() {
        // 400 samples of 60 families, each right with probability 0.9 and of 1 to 8 pairs: the lower end is
        // above the truth about one time in twenty.
        let mut state = 7u64;
        let mut random = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1u32 << 31)
        };
        let mut missed = 0;
        for _ in 0..400 {
            let families: Vec<Sums> = (0..60)
                .map(|_| {
                    let whole = (1.0 + random() * 8.0).floor();
                    sums(whole, if random() < 0.9 { whole } else { 0.0 })
                })
                .collect();
            let estimate = estimate(families.iter().copied()).unwrap();
            missed += u32::from(estimate.low > 0.9);
        }
        assert!((4..40).contains(&missed), "{missed} of 400");
    }
}
