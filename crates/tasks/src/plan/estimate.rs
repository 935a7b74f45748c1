//! A share measured on a sample of pairs, with its confidence interval.

use lookalike_base::wilson;
use lookalike_engine::sample::plan::Estimate;

/// One-sided 95 % quantile of the normal distribution: each end of an interval is on the wrong side
/// of the true value one time in twenty.
const Z: f64 = 1.6449;

/// The pairs of one document.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Pairs that count.
    pub whole: u64,
    /// The correct ones among them.
    pub part: u64,
}

/// Estimates the share of `part` in `whole` over documents, where each pair counts for both of its
/// documents. Returns `None` without pairs.
///
/// # Source
/// Pairs that share a document are not independent: whether that document was drawn, or which of
/// its fingerprints are sampled, affects all of them. The variance of a mean over such pairs is the
/// sum of the products of residuals over any two pairs that share a document: for each document the
/// square of the sum over its pairs, minus the terms counted twice (Fafchamps & Gubert 2007;
/// Aronow, Samii & Assenova 2015, dyadic data). The variance gives the number of independent pairs
/// that would carry the same information (Kish 1965, the design effect). It is at least half the
/// number of documents that there would be if all had equally many pairs. The interval is Wilson's
/// (1927) for this number; it does not collapse where every measured pair was correct (Korn &
/// Graubard 1998 do the same with an exact interval).
pub fn estimate(documents: impl Iterator<Item = Sums> + Clone) -> Option<Estimate> {
    let (mut whole, mut part, mut squares) = (0u64, 0u64, 0u128);
    for sums in documents.clone() {
        whole += sums.whole;
        part += sums.part;
        squares += u128::from(sums.whole).pow(2);
    }
    if whole == 0 {
        return None;
    }
    let p = part as f64 / whole as f64;
    let pairs = whole as f64 / 2.0;
    // Half the number of documents, if each had the same number of pairs.
    let equal = (whole as f64 * whole as f64 / squares as f64 / 2.0).max(1.0);
    let by_document: f64 = documents
        .map(|sums| (sums.part as f64 - p * sums.whole as f64).powi(2))
        .sum();
    // Over all pairs, the residual is 1 - p for a correct pair and -p for a false one.
    let by_pair = pairs * p * (1.0 - p);
    let variance = (by_document - by_pair) / (pairs * pairs);
    let spread = p * (1.0 - p);
    // Rounding may leave a little more than 0.
    let worth = if variance > 1e-12 && spread > 0.0 {
        (spread / variance).clamp(equal, pairs.max(equal))
    } else {
        equal
    };
    let (low, high) = wilson(p, worth, Z);
    Some(Estimate {
        value: p,
        low,
        high,
        pairs: whole / 2,
        worth,
    })
}

/// Whether this number of pairs, all of them correct, could show that a share is at least `target`.
pub(crate) fn could_show(worth: f64, target: f64) -> bool {
    wilson(1.0, worth, Z).0 >= target
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wilson(p: f64, n: f64) -> (f64, f64) {
        super::wilson(p, n, Z)
    }

    #[test]
    fn intervals_are_wilsons() {
        for n in 1..2000 {
            assert_eq!(wilson(0.0, f64::from(n)).0, 0.0, "{n}");
            assert_eq!(wilson(1.0, f64::from(n)).1, 1.0, "{n}");
        }
        // 8 of 10 with z = 1.6449: by hand, middle (0.8 + 0.13528) / 1.27057, half 0.19533.
        let (low, high) = wilson(0.8, 10.0);
        assert!(
            (low - 0.540_8).abs() < 1e-3 && (high - 0.931_4).abs() < 1e-3,
            "{low} {high}"
        );
        // All correct: n / (n + z²).
        let (low, high) = wilson(1.0, 10.0);
        assert!((low - 10.0 / (10.0 + Z * Z)).abs() < 1e-12 && high > 0.999_999);
        assert!(could_show(10.9, 0.8) && !could_show(10.7, 0.8));
    }

    /// Sums by document of pairs that are given as two documents each and whether they are correct.
    fn of_pairs(pairs: &[(u32, u32, bool)]) -> Vec<Sums> {
        let mut sums = std::collections::BTreeMap::<u32, Sums>::new();
        for &(a, b, right) in pairs {
            for document in [a, b] {
                let sums = sums.entry(document).or_default();
                sums.whole += 1;
                sums.part += u64::from(right);
            }
        }
        sums.into_values().collect()
    }

    #[test]
    fn documents_in_common_are_what_counts() {
        // A hundred independent pairs are worth a hundred.
        let apart: Vec<_> = (0..100).map(|i| (2 * i, 2 * i + 1, i % 5 > 0)).collect();
        let apart = estimate(of_pairs(&apart).into_iter()).unwrap();
        assert!((apart.value - 0.8).abs() < 1e-12 && apart.pairs == 100);
        assert!((apart.worth - 100.0).abs() < 1e-9, "{apart:?}");
        assert!((apart.low - wilson(0.8, 100.0).0).abs() < 1e-12);
        // Ten documents with ten pairs each, either all correct or all false. By hand: such a star
        // has (10 r)² and ten ends r², minus 10 r² counted twice. So it is worth one pair, and
        // all ten stars are worth ten.
        let stars: Vec<_> = (0..10)
            .flat_map(|star| (1..=10).map(move |end| (star * 11, star * 11 + end, star % 5 > 0)))
            .collect();
        let stars = estimate(of_pairs(&stars).into_iter()).unwrap();
        assert!((stars.value - 0.8).abs() < 1e-12 && stars.pairs == 100);
        // But no less than half of the 110 documents, if all had equally many pairs: 200² / (10 *
        // 100 + 100) / 2.
        assert!((stars.worth - 20_000.0 / 1_100.0).abs() < 1e-9, "{stars:?}");
        // All correct: half the documents of a clique.
        let clique: Vec<_> = (0..20)
            .flat_map(|a| (0..a).map(move |b| (b, a, true)))
            .collect();
        let clique = estimate(of_pairs(&clique).into_iter()).unwrap();
        assert_eq!((clique.pairs, clique.value), (190, 1.0));
        assert!((clique.worth - 10.0).abs() < 1e-9);
        assert_eq!(estimate(std::iter::empty()), None);
        assert_eq!(estimate(std::iter::once(Sums::default())), None);
    }

    #[test]
    fn estimates_by_hand() {
        // Two pairs of one document, correct; four separate pairs, one of them false. p = 5/6. The
        // residuals are 1/6 and -5/6. Their sums by document, squared: 4/36, two 1/36, two 25/36,
        // six 1/36; minus 6 p (1 - p): 32/36. The variance is a 36th of that, 0.02469, so the pairs
        // are worth 0.13889 / 0.02469.
        let pairs = [(0, 1), (0, 2), (3, 4), (5, 6), (7, 8), (9, 10)].map(|(a, b)| (a, b, a != 3));
        let estimate_ = estimate(of_pairs(&pairs).into_iter()).unwrap();
        assert!((estimate_.value - 5.0 / 6.0).abs() < 1e-12 && estimate_.pairs == 6);
        assert!((estimate_.worth - 5.625).abs() < 1e-9, "{estimate_:?}");
        let (low, high) = wilson(5.0 / 6.0, 5.625);
        assert_eq!((estimate_.low, estimate_.high), (low, high));
        // Pairs of one document that differ: the variance would make them worth more than there
        // are, so they are worth exactly their number.
        let differing = [(0, 1, true), (0, 2, false), (3, 4, true), (5, 6, true)];
        let differing = estimate(of_pairs(&differing).into_iter()).unwrap();
        assert!((differing.worth - 4.0).abs() < 1e-9, "{differing:?}");
        // A variance of 0 does not tell how many pairs they are worth: 8² / (4 + 4 + 4) / 2.
        let even = [(0, 1, true), (0, 2, false), (3, 1, false), (3, 2, true)];
        let even = estimate(of_pairs(&even).into_iter()).unwrap();
        assert!((even.worth - 2.0).abs() < 1e-9, "{even:?}");
    }

    #[test]
    fn intervals_hold_as_often_as_they_say() {
        // 400 samples of 60 cliques, each correct with probability 0.9 and of 2 to 4 documents: the
        // lower end is above the true value (0.9) about one time in twenty.
        let mut state = 7u64;
        let mut random = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1u32 << 31)
        };
        let mut missed = 0;
        for _ in 0..400 {
            let mut pairs = Vec::new();
            for clique in 0..60 {
                let documents = (2.0 + random() * 3.0) as u32;
                let right = random() < 0.9;
                for a in 0..documents {
                    pairs.extend((0..a).map(|b| (clique * 8 + b, clique * 8 + a, right)));
                }
            }
            let estimate = estimate(of_pairs(&pairs).into_iter()).unwrap();
            missed += u32::from(estimate.low > 0.9);
        }
        assert!((4..48).contains(&missed), "{missed} of 400");
    }
}
