//! Measures of judged pairs in memory, and how they vary with the documents.
//!
//! # Source
//! Confidence intervals from the percentiles of resamples: Efron & Tibshirani 1993, *An introduction
//! to the bootstrap*, section 13.3. Pairs that share a document are not independent, so documents are
//! drawn and not pairs, as vertices are in Snijders & Borgatti 1999, "Non-parametric standard errors
//! and tests for network statistics": a pair counts as often as its first document was drawn, times
//! how often its second was.
//!
//! # Invariants
//! - The same pairs give the same intervals: the draws have a fixed seed.
//!
//! # Cost
//! Time: [`REPLICATES`] times the pairs and documents. Memory: [`PAIR_BYTES`] for each pair.

use serde::Serialize;

use super::STAGE;
use lookalike_base::{Context, Random, Result};

/// Draws of documents.
pub(super) const REPLICATES: u32 = 1000;
/// The share of the draws outside of an interval, at either end.
const TAIL: f64 = 0.025;
/// Bytes of memory of a judged pair: itself, and its two documents in a list of all documents.
pub(super) const PAIR_BYTES: u64 = 32 + 2 * 8;

/// A judged pair, and how the run finds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged {
    /// The two documents: at first any numbers, for [`intervals`] from 0 without gaps.
    pub documents: [u32; 2],
    /// The place of its score; 0 if it was not found.
    pub place: u64,
    /// The number of thresholds that it reaches.
    pub level: u32,
    /// The number of its collection.
    pub collection: u32,
    /// Whether it is judged true.
    pub right: bool,
}

/// Measures of some judged pairs, or the interval of each measure.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measures<T = f64> {
    /// For each threshold, pairs found and judged true / judged true.
    pub coverage: Vec<Option<T>>,
    /// For each threshold, pairs found and judged true / found and judged.
    pub density: Vec<Option<T>>,
    /// Average precision by score ([`super::Ranking`]).
    pub average_precision: Option<T>,
    /// Area under the curve.
    pub auc: Option<T>,
    /// The greatest F1 of a least score.
    pub best_f1: Option<T>,
}

impl<T> Measures<T> {
    /// Leaves out the measures of the ranking if the run has no scores.
    pub(super) fn of_scores(mut self, has_scores: bool) -> Self {
        if !has_scores {
            (self.average_precision, self.auc, self.best_f1) = (None, None, None);
        }
        self
    }
}

/// The intervals of measures in which 95 % of the draws are; `None` if a measure is undefined in most
/// of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Intervals {
    /// Draws.
    pub replicates: u32,
    /// Documents in judged pairs.
    pub documents: u64,
    #[serde(flatten)]
    pub measures: Measures<[f64; 2]>,
}

/// The measures that depend on the grades of judged pairs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Graded {
    /// The least grade of a pair judged true.
    pub true_grade: u32,
    /// Pairs by grade, ascending.
    pub grades: Vec<ByGrade>,
    /// Pairs by collection, in the order of the file; empty if it names none, and for more than a
    /// million pairs.
    pub collections: Vec<ByCollection>,
    /// How the measures vary with the documents; `None` for more than a million pairs.
    pub intervals: Option<Intervals>,
}

/// Judged pairs of a grade.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ByGrade {
    /// The grade.
    pub grade: u32,
    /// Pairs with it.
    pub pairs: u64,
    /// How many of them were found, by threshold.
    pub found: Vec<u64>,
}

/// Judged pairs of a collection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ByCollection {
    /// Its name.
    pub collection: String,
    /// Pairs judged true.
    pub true_pairs: u64,
    /// Pairs judged false.
    pub false_pairs: u64,
    /// Its measures. Measures of the ranking are undefined if the run has no scores.
    #[serde(flatten)]
    pub measures: Measures,
}

fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// Measures pairs in falling order of their places, each counted `weight` times, at `top`
/// thresholds.
pub(super) fn measure<'p>(
    pairs: impl Iterator<Item = &'p Judged> + Clone,
    top: usize,
    weight: impl Fn(&Judged) -> f64,
) -> Measures {
    // By level, and of all: judged false, judged true.
    let mut levels = vec![[0.0; 2]; top + 1];
    for pair in pairs.clone() {
        if let Some(level) = levels.get_mut(pair.level as usize) {
            level[usize::from(pair.right)] += weight(pair);
        }
    }
    let from = |least: usize| {
        let above = levels.iter().skip(least);
        above.fold([0.0; 2], |sum, n| [sum[0] + n[0], sum[1] + n[1]])
    };
    let [all_wrong, all_right] = from(0);
    let found = (1..=top).map(from);
    let (mut sum, mut group) = ([0.0; 2], [0.0; 2]);
    let (mut precisions, mut before, mut best) = (0.0, 0.0, None);
    let mut pairs = pairs.peekable();
    while let Some(pair) = pairs.next() {
        group[usize::from(pair.right)] += weight(pair);
        if pairs.peek().is_some_and(|next| next.place == pair.place) {
            continue;
        }
        let [wrong, right] = std::mem::take(&mut group);
        before += right * (all_wrong - sum[0] - wrong + wrong / 2.0);
        sum = [sum[0] + wrong, sum[1] + right];
        if pair.place > 0 {
            precisions += right * share(sum[1], sum[0] + sum[1]).unwrap_or(0.0);
            let f1 = share(2.0 * sum[1], sum[0] + sum[1] + all_right);
            if f1 > best {
                best = f1;
            }
        }
    }
    Measures {
        coverage: found
            .clone()
            .map(|[_, right]| share(right, all_right))
            .collect(),
        density: found
            .map(|[wrong, right]| share(right, right + wrong))
            .collect(),
        average_precision: share(precisions, all_right),
        auc: share(before, all_right * all_wrong),
        best_f1: best,
    }
}

/// Sorts pairs as [`measure`] takes them, and numbers their documents; returns the number of these.
pub(super) fn arrange(pairs: &mut [Judged]) -> u64 {
    let mut documents: Vec<u32> = pairs.iter().flat_map(|pair| pair.documents).collect();
    documents.sort_unstable();
    documents.dedup();
    for pair in pairs.iter_mut() {
        pair.documents = pair.documents.map(|document| {
            let at = documents.partition_point(|&other| other < document);
            at as u32
        });
    }
    // All of it: equal pairs in any order would be summed in any order.
    pairs.sort_unstable_by_key(|pair| (std::cmp::Reverse(pair.place), pair.documents));
    documents.len() as u64
}

/// The intervals of the measures of arranged pairs of so many `documents`.
pub(super) fn intervals(
    pairs: &[Judged],
    documents: u64,
    (top, has_scores): (usize, bool),
    context: &Context<'_>,
) -> Result<Intervals> {
    let mut random = Random::new(0);
    let mut draws = Vec::with_capacity(REPLICATES as usize);
    let mut times = vec![0u32; documents as usize];
    for _ in 0..REPLICATES {
        context.stop.check(STAGE)?;
        times.fill(0);
        for _ in 0..documents {
            if let Some(times) = times.get_mut(random.below(documents) as usize) {
                *times += 1;
            }
        }
        let of = |document: u32| times.get(document as usize).copied().map_or(0.0, f64::from);
        draws.push(measure(pairs.iter(), top, |pair| {
            let [a, b] = pair.documents;
            of(a) * of(b)
        }));
    }
    let middle = |value: &dyn Fn(&Measures) -> Option<f64>| {
        percentiles(draws.iter().filter_map(value).collect())
    };
    let at = |values: fn(&Measures) -> &Vec<Option<f64>>| {
        let each = 0..top;
        each.map(|n| middle(&|draw| values(draw).get(n).copied().flatten()))
            .collect()
    };
    let measures = Measures {
        coverage: at(|draw| &draw.coverage),
        density: at(|draw| &draw.density),
        average_precision: middle(&|draw| draw.average_precision),
        auc: middle(&|draw| draw.auc),
        best_f1: middle(&|draw| draw.best_f1),
    };
    Ok(Intervals {
        replicates: REPLICATES,
        documents,
        measures: measures.of_scores(has_scores),
    })
}

/// The values at both ends of the middle 95 %; `None` if less than half of the draws have a value.
fn percentiles(mut values: Vec<f64>) -> Option<[f64; 2]> {
    if values.len() * 2 < REPLICATES as usize {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let outside = (values.len() as f64 * TAIL).floor() as usize;
    Some([
        *values.get(outside)?,
        *values.get(values.len() - 1 - outside)?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_base::budget::{Budget, ByteSize, Disk};
    use lookalike_base::progress::{Silent, Stop};

    fn pair(a: u32, b: u32, place: u64, right: bool) -> Judged {
        Judged {
            documents: [a, b],
            place,
            level: u32::from(place > 0),
            collection: 0,
            right,
        }
    }

    /// A pair with weight 3 counts as three pairs.
    #[test]
    fn weights_are_repetitions() {
        let mut random = Random::new(7);
        for _ in 0..50 {
            let weights: Vec<u64> = (0..12).map(|_| random.below(4)).collect();
            let mut pairs: Vec<Judged> = (0..12)
                .map(|n| pair(n, 20 + n, random.below(5), random.below(2) == 1))
                .collect();
            let mut repeated: Vec<Judged> = pairs
                .iter()
                .zip(&weights)
                .flat_map(|(pair, &n)| std::iter::repeat_n(*pair, n as usize))
                .collect();
            pairs.sort_by_key(|pair| std::cmp::Reverse(pair.place));
            repeated.sort_by_key(|pair| std::cmp::Reverse(pair.place));
            let weighted = measure(pairs.iter(), 1, |pair| {
                weights[pair.documents[0] as usize] as f64
            });
            let counted = measure(repeated.iter(), 1, |_| 1.0);
            let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
                (Some(a), Some(b)) => (a - b).abs() < 1e-12,
                (a, b) => a == b,
            };
            assert!(near(weighted.auc, counted.auc));
            assert!(near(weighted.average_precision, counted.average_precision));
            assert!(near(weighted.coverage[0], counted.coverage[0]));
            assert!(near(weighted.density[0], counted.density[0]));
        }
    }

    /// If no pairs have a common document, a share varies as that of independent pairs would. A pair
    /// is drawn through both of its documents, so its weight has the variance of a product.
    #[test]
    fn intervals_contain_the_measure_and_shrink_with_more_documents() {
        let stop = Stop::default();
        let context = Context {
            budget: Budget {
                memory: ByteSize::mib(64),
                threads: 1,
                disk: Disk::Unchecked,
            },
            stop: &stop,
            progress: &Silent,
            scratch: None,
            programs: &[],
        };
        let mut widths = Vec::new();
        for count in [40u32, 4000] {
            let mut pairs: Vec<Judged> = (0..count)
                .map(|n| pair(2 * n, 2 * n + 1, u64::from(n % 4), n % 2 == 0 || n % 3 == 0))
                .collect();
            let documents = arrange(&mut pairs);
            assert_eq!(documents, u64::from(count) * 2);
            let found = intervals(&pairs, documents, (1, true), &context).unwrap();
            let whole = measure(pairs.iter(), 1, |_| 1.0);
            let [low, high] = found.measures.coverage[0].unwrap();
            let coverage = whole.coverage[0].unwrap();
            assert!(low < coverage && coverage < high);
            let [low_auc, high_auc] = found.measures.auc.unwrap();
            assert!(low_auc < whole.auc.unwrap() && whole.auc.unwrap() < high_auc);
            widths.push(high - low);
            assert_eq!(
                found,
                intervals(&pairs, documents, (1, true), &context).unwrap()
            );
        }
        // A hundred times the documents: a tenth of the width.
        let ratio = widths[0] / widths[1];
        assert!((7.0..14.0).contains(&ratio), "{ratio}");
    }
}
