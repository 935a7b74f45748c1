//! The formulas of the papers, as functions that return `None` for arguments out of range.
//!
//! # Source
//! Kołcz & Chowdhury, *Lexicon randomization for near-duplicate detection with I-Match*, 2008.
//! Bernstein & Zobel, *Accurate discovery of co-derivative documents via duplicate text
//! detection*, 2006. Fetterly, Manasse & Najork, *On the evolution of clusters of near-duplicate
//! web pages*, 2003. Each function names the equation or section.
//!
//! # In and out
//! In: probabilities, from 0 to 1, and counts. Out: a probability or an expected number; `None` if
//! an argument is out of range or the result is undefined.
//!
//! # Invariants
//! - Every probability, argument or result, is at least 0 and at most 1, and never NaN.
//! - Products of many factors near 1, and differences of nearly equal numbers, are computed with
//!   `ln_1p` and `exp_m1`, so that a probability of 1e-18 keeps its significant digits.
//!
//! # Cost
//! Time is proportional to the number of factors of a product or terms of a sum, at most
//! [`MOST_TERMS`].

mod table;

pub(crate) use table::{FormulaPaper, FormulaRow, FormulaValues};

/// Limit on the factors of a product or the terms of a sum: more than any paper needs, and few
/// enough to compute at once.
pub(crate) const MOST_TERMS: u64 = 1_000_000;

/// Returns the value if it is a probability.
fn probability(p: f64) -> Option<f64> {
    (0.0..=1.0).contains(&p).then_some(p)
}

/// 1 - (1 - p)^n, for any n: the probability that at least one of n independent events of
/// probability p happens.
fn at_least_one(p: f64, n: f64) -> Option<f64> {
    if n == 0.0 {
        return Some(0.0);
    }
    // At p = 1 the logarithm is minus infinity, which gives the correct result, 1.
    probability(-(n * (-p).ln_1p()).exp_m1())
}

/// The probability that at least one of `lexicons` randomised lexicons gives an unchanged signature
/// after `changes` words of the lexicon were added or removed: 1 - (1 - p^n)^K. Each lexicon leaves
/// out a share `left_out` of the words.
///
/// Kołcz & Chowdhury 2008, equation 1. The equation treats the changes as independent, which holds
/// for lexicons much larger than the number of changes; [`lexicon_unchanged`] does not assume this.
///
/// ```
/// use lookalike_lab::formulas::signature_stability;
/// let one = signature_stability(0.33, 2, 1).unwrap();
/// assert!((one - 0.1089).abs() < 1e-12);
/// ```
pub fn signature_stability(left_out: f64, changes: u32, lexicons: u32) -> Option<f64> {
    let one = probability(left_out)?.powf(f64::from(changes));
    at_least_one(one, f64::from(lexicons))
}

/// The probability that a lexicon, drawn by leaving `left_out` of `terms` terms out, shows no
/// change: q = C(L - n, M) / C(L, M), the product of (L - M - j) / (L - j) for j from 0 to n - 1.
///
/// Kołcz & Chowdhury 2008, equation 6, exactly. As in the equation, this is the probability that
/// *none* of n given terms is among the M that are left out. Equation 1 requires *all* of them to
/// be among these, so `left_out` has opposite roles in the two. The result is `None` for more
/// changes than terms, for more terms left out than there are, and for more than [`MOST_TERMS`]
/// changes.
pub(crate) fn lexicon_unchanged(terms: u64, left_out: u64, changes: u64) -> Option<f64> {
    if changes > terms || left_out > terms || changes > MOST_TERMS {
        return None;
    }
    if changes > terms - left_out {
        return Some(0.0);
    }
    let factor = |j: u64| (terms - left_out - j) as f64 / (terms - j) as f64;
    probability((0..changes).map(factor).product())
}

/// The probability that trial number `trials`, counted from 1, is the first success: (1 - q)^(K -
/// - 1) q.
///
/// Kołcz & Chowdhury 2008, equation 7.
pub(crate) fn first_success(q: f64, trials: u64) -> Option<f64> {
    let q = probability(q)?;
    let before = trials.checked_sub(1)?;
    if before == 0 {
        return Some(q);
    }
    probability(q * (before as f64 * (-q).ln_1p()).exp())
}

/// Expected number of trials until the first success: 1/q.
///
/// Kołcz & Chowdhury 2008, section 7.4 and Table 4: the number of lexicons until one leaves a
/// signature unchanged. With M = 0.33 L, which is whole for each L of the table,
/// [`lexicon_unchanged`] gives 13 of its 15 values to the last digit printed. The two others (n =
/// 50, L = 10,000 and n = 20, L = 100,000) are 0.01 less than printed.
pub(crate) fn expected_trials(q: f64) -> Option<f64> {
    let q = probability(q)?;
    (q > 0.0).then(|| 1.0 / q)
}

/// The probability that exactly `selected` chunks are selected from a passage of `chunks` chunks
/// that two documents share, if one chunk in `every` is selected: e^-λ λ^c / c! with
/// λ = chunks / every.
///
/// Bernstein & Zobel 2006, section 4.3: for a shared passage of 1,024 bytes and k = 256, the
/// probability that no chunk is selected is 1.8 %, and that one is selected is 7.3 %. The same
/// holds for 100 words with k = 25.
///
/// ```
/// use lookalike_lab::formulas::selected_of_shared;
/// let percent = |p: Option<f64>| format!("{:.1} %", p.unwrap() * 100.0);
/// assert_eq!(percent(selected_of_shared(1024.0, 256.0, 0)), "1.8 %");
/// assert_eq!(percent(selected_of_shared(1024.0, 256.0, 1)), "7.3 %");
/// ```
pub fn selected_of_shared(chunks: f64, every: f64, selected: u32) -> Option<f64> {
    let counts = chunks.is_finite() && chunks >= 0.0 && every.is_finite() && every >= 1.0;
    if !counts || u64::from(selected) > MOST_TERMS {
        return None;
    }
    let lambda = chunks / every;
    if lambda == 0.0 {
        return Some(if selected == 0 { 1.0 } else { 0.0 });
    }
    // Interleave the factors so that the product is always near 1: multiply by the growing factors
    // first, and by parts of e^-λ to balance them.
    let (mut term, mut exponent) = (1.0, lambda);
    for i in 1..=selected {
        term *= lambda / f64::from(i);
        while term > 1.0 && exponent > 0.0 {
            let part = exponent.min(1.0);
            term *= (-part).exp();
            exponent -= part;
        }
    }
    probability(term * (-exponent).exp())
}

/// The probability that fewer than `wanted` chunks are selected, so that a pair which must share
/// that number is missed: the sum of [`selected_of_shared`] below `wanted`.
///
/// Bernstein & Zobel 2006, section 4.3.
pub(crate) fn missed(chunks: f64, every: f64, wanted: u32) -> Option<f64> {
    selected_of_shared(chunks, every, wanted)?;
    let Some(most) = wanted.checked_sub(1) else {
        return Some(0.0);
    };
    // Sum from the largest term outwards. A cast saturates at the limits of the type.
    let lambda = chunks / every;
    let middle = most.min(lambda as u32);
    let largest = selected_of_shared(chunks, every, middle)?;
    let mut sum = largest;
    let mut term = largest;
    for selected in (1..=middle).rev() {
        term *= f64::from(selected) / lambda;
        sum += term;
    }
    term = largest;
    for selected in middle..most {
        term *= lambda / f64::from(selected + 1);
        sum += term;
    }
    probability(sum.min(1.0))
}

/// The probability that two documents of resemblance r share at least `wanted` of `super_shingles`,
/// each made of `shingles_each` min-wise samples: the upper tail of a binomial distribution with p
/// = r^k.
///
/// Fetterly, Manasse & Najork 2003, section 3: six super-shingles of fourteen samples each, two of
/// them shared.
///
/// ```
/// use lookalike_lab::formulas::super_shingles_shared;
/// let at = |r| super_shingles_shared(r, 14, 6, 2).unwrap();
/// assert!(at(0.95) > 0.87 && at(0.8) < 0.03);
/// ```
pub fn super_shingles_shared(
    resemblance: f64,
    shingles_each: u32,
    super_shingles: u32,
    wanted: u32,
) -> Option<f64> {
    if shingles_each == 0 {
        return None;
    }
    let p = probability(resemblance)?.powf(f64::from(shingles_each));
    at_least(super_shingles, wanted, p)
}

/// The probability that at least `wanted` of `tries` succeed, each with probability p.
fn at_least(tries: u32, wanted: u32, p: f64) -> Option<f64> {
    if u64::from(tries) > MOST_TERMS {
        return None;
    }
    if wanted == 0 {
        return Some(1.0);
    }
    if wanted > tries || p == 0.0 {
        return Some(0.0);
    }
    if p == 1.0 {
        return Some(1.0);
    }
    if wanted == 1 {
        return at_least_one(p, f64::from(tries));
    }
    // Sum the tail with the smaller probability, from its largest term outwards, so that
    // subtracting from 1 loses no digit.
    if f64::from(wanted) > f64::from(tries) * p {
        probability(tail(tries, wanted, p).min(1.0))
    } else {
        probability((1.0 - tail(tries, tries - wanted + 1, 1.0 - p)).max(0.0))
    }
}

/// The sum of C(s, j) p^j (1 - p)^(s - j) for j from `from` to s.
fn tail(tries: u32, from: u32, p: f64) -> f64 {
    let (rest, s) = (f64::from(tries - from), f64::from(tries));
    // The first term, as a product that is always near 1: the growing factors come first and are
    // balanced by the factors of the failures. After the first factor below 1 all factors are below
    // 1, so a product that underflows would be 0 anyway.
    let (mut term, mut failures) = (1.0, tries - from);
    for i in (1..=from).map(f64::from) {
        term *= (rest + i) / i * p;
        while term > 1.0 && failures > 0 {
            term *= 1.0 - p;
            failures -= 1;
        }
    }
    term *= (f64::from(failures) * (-p).ln_1p()).exp();
    let mut sum = term;
    for j in from..tries {
        let j = f64::from(j);
        term *= (s - j) / (j + 1.0) * (p / (1.0 - p));
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: Option<f64>, expected: f64, relative: f64) {
        let found = found.unwrap();
        assert!(
            (found - expected).abs() <= relative * expected.abs(),
            "{found} {expected}"
        );
    }

    /// Kołcz & Chowdhury 2008, Table 4, as printed, with M = 0.33 L.
    #[test]
    fn expected_lexicons_are_those_of_table_4() {
        let changes = [2, 5, 10, 20, 50];
        let printed = [
            (1_000, [2.23, 7.44, 56.10, 3_309.92, 932_403_182.29]),
            (10_000, [2.23, 7.41, 54.98, 3_037.91, 527_924_300.92]),
            (100_000, [2.23, 7.41, 54.87, 3_012.39, 499_897_879.50]),
        ];
        let mut other = Vec::new();
        for (terms, row) in printed {
            assert_eq!(terms * 33 % 100, 0);
            for (n, printed) in changes.into_iter().zip(row) {
                let q = lexicon_unchanged(terms, terms * 33 / 100, n);
                let trials = expected_trials(q.unwrap()).unwrap();
                // All but two round to the printed value; these two are 0.01 less.
                let hundredths = (trials * 100.0).round() - (printed * 100.0_f64).round();
                if hundredths != 0.0 {
                    other.push((terms, n, hundredths));
                }
            }
        }
        assert_eq!(other, [(10_000, 50, -1.0), (100_000, 20, -1.0)]);
    }

    #[test]
    fn equation_6_is_near_its_approximation_and_below_it() {
        for (terms, n) in [(1_000u64, 2), (1_000, 50), (100_000, 50)] {
            let left_out = terms * 33 / 100;
            let exact = lexicon_unchanged(terms, left_out, n).unwrap();
            // The right-hand side of the equation.
            let about = ((terms - left_out) as f64 / terms as f64).powi(n as i32);
            assert!(exact < about, "{terms} {n}");
            let share = 1.0 - exact / about;
            assert!(share < (n * n) as f64 / terms as f64, "{terms} {n} {share}");
        }
        // C(10 - 3, 4) / C(10, 4) = 35 / 210.
        near(lexicon_unchanged(10, 4, 3), 35.0 / 210.0, 1e-14);
        assert_eq!(lexicon_unchanged(10, 8, 3), Some(0.0));
        assert_eq!(lexicon_unchanged(10, 0, 10), Some(1.0));
        assert_eq!(lexicon_unchanged(0, 0, 0), Some(1.0));
        assert_eq!(lexicon_unchanged(10, 11, 1), None);
        assert_eq!(lexicon_unchanged(10, 1, 11), None);
    }

    #[test]
    fn equation_1_is_one_lexicon_after_the_other() {
        // One lexicon: p^n. Two: by inclusion and exclusion.
        near(signature_stability(0.33, 3, 1), 0.33f64.powi(3), 1e-14);
        let p = 0.5f64.powi(2);
        near(signature_stability(0.5, 2, 2), 2.0 * p - p * p, 1e-14);
        // Small probabilities keep their digits: 10 lexicons, each with 1e-20.
        near(signature_stability(1e-10, 2, 10), 1e-19, 1e-12);
        assert_eq!(signature_stability(0.3, 2, 0), Some(0.0));
        assert_eq!(signature_stability(0.3, 0, 1), Some(1.0));
        for p in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!(signature_stability(p, 1, 1), None);
        }
    }

    #[test]
    fn equation_7_is_a_distribution_with_the_mean_of_1_over_q() {
        let (mut all, mut mean) = (0.0, 0.0);
        for k in 1..=2_000 {
            let p = first_success(0.05, k).unwrap();
            all += p;
            mean += p * k as f64;
        }
        near(Some(all), 1.0, 1e-12);
        near(Some(mean), expected_trials(0.05).unwrap(), 1e-12);
        assert_eq!(first_success(0.5, 0), None);
        assert_eq!(first_success(1.0, 1), Some(1.0));
        assert_eq!(first_success(1.0, 2), Some(0.0));
        assert_eq!(first_success(0.0, 1), Some(0.0));
        assert_eq!(expected_trials(0.0), None);
        assert_eq!(expected_trials(2.0), None);
    }

    /// Bernstein & Zobel 2006, section 4.3, and the same for 100 words with k = 25.
    #[test]
    fn chunks_selected_are_those_of_bernstein_and_zobel() {
        for (chunks, every) in [(1024.0, 256.0), (100.0, 25.0)] {
            let percent = |c| selected_of_shared(chunks, every, c).map(|p| (p * 1000.0).round());
            assert_eq!(percent(0), Some(18.0));
            assert_eq!(percent(1), Some(73.0));
        }
        let two = 5.0 * (-4.0f64).exp();
        near(missed(1024.0, 256.0, 2), two, 1e-12);
        assert_eq!(missed(1024.0, 256.0, 0), Some(0.0));
        near(missed(100.0, 1.0, 1_000), 1.0, 1e-12);
        // One more and one less than the mean, which lies in the middle of a long range.
        near(missed(1e5, 1.0, 100_000), 0.5, 2e-3);
        let terms = (0..60).filter_map(|c| selected_of_shared(50.0, 1.0, c));
        near(missed(50.0, 1.0, 60), terms.sum(), 1e-12);
        assert_eq!(missed(0.0, 1.0, 3), Some(1.0));
        assert_eq!(selected_of_shared(0.0, 25.0, 0), Some(1.0));
        assert_eq!(selected_of_shared(0.0, 25.0, 3), Some(0.0));
        // A probability far below the smallest that e^-λ alone could represent.
        near(
            selected_of_shared(900.0, 1.0, 900),
            1.0 / (2.0 * std::f64::consts::PI * 900.0).sqrt(),
            1e-4,
        );
        for (chunks, every) in [
            (-1.0, 2.0),
            (1.0, 0.0),
            (f64::NAN, 1.0),
            (1.0, f64::INFINITY),
        ] {
            assert_eq!(selected_of_shared(chunks, every, 0), None);
            assert_eq!(missed(chunks, every, 1), None);
        }
    }

    /// The binomial tail, computed by adding up all outcomes.
    #[test]
    fn super_shingles_are_binomial() {
        for tries in 0..=10u32 {
            for wanted in 0..=tries + 1 {
                for p in [0.0, 1e-9, 0.3, 0.5, 0.97, 1.0] {
                    let mut expected = 0.0;
                    for outcome in 0..1u32 << tries {
                        let n = outcome.count_ones();
                        if n >= wanted {
                            expected +=
                                f64::powi(p, n as i32) * f64::powi(1.0 - p, (tries - n) as i32);
                        }
                    }
                    near(super_shingles_shared(p, 1, tries, wanted), expected, 1e-12);
                }
            }
        }
        // Fetterly et al.: 1 - (1 - p)^6 - 6 p (1 - p)^5 with p = r^14.
        for r in [0.5, 0.8, 0.9, 0.95] {
            let p = f64::powi(r, 14);
            let expected = 1.0 - f64::powi(1.0 - p, 6) - 6.0 * p * f64::powi(1.0 - p, 5);
            near(super_shingles_shared(r, 14, 6, 2), expected, 1e-6);
        }
        // The mass of a long distribution lies around its mean.
        near(super_shingles_shared(0.5, 1, 100_001, 50_001), 0.5, 1e-9);
        assert_eq!(super_shingles_shared(0.9, 0, 6, 2), None);
        assert_eq!(super_shingles_shared(1.5, 14, 6, 2), None);
        assert_eq!(super_shingles_shared(0.9, 14, u32::MAX, 2), None);
    }
}
