//! How well the score of a run ranks judged pairs.
//!
//! # Source
//! The area under the ROC curve as the probability that a true pair is ranked before a false one, and
//! its standard error: Hanley & McNeil 1982, "The meaning and use of the area under a receiver
//! operating characteristic (ROC) curve", equation 1. Average precision as the area under the steps
//! of precision over recall: Manning, Raghavan & Schütze 2008, section 8.4.
//!
//! # What is counted
//! Pairs are taken by score, the highest first; pairs of one score at once. Pairs of identical
//! documents come before all others. Pairs that the run does not list come last, as if they had one
//! lowest score: they add nothing to average precision, and count one half against each other in the
//! area.

use serde::Serialize;

use super::Evaluating;
use super::list::Scores;
use lookalike_base::{Result, precision::share};
use lookalike_store::{Sort, item};

/// The place of identical documents in the order of scores.
pub(super) const SAME: u64 = u64::MAX;
/// The precisions for which a score is given.
const PRECISIONS: [f64; 3] = [0.9, 0.95, 0.99];
/// The recall between two points of the curve, at least.
const STEP: f64 = 0.01;
/// The quantile of the normal distribution for an interval of 95 %.
pub(super) const QUANTILE: f64 = 1.959_964;

/// The place of a score, which is not negative, in the order of scores; above 0.
pub(super) fn place(score: f64) -> u64 {
    score.to_bits() + 1
}

item! {
    /// Judged pairs of one score.
    pub(super) struct Ranked {
        /// [`place`], reversed, so that the highest score comes first.
        below: u64,
        wrong: u64,
        right: u64,
    }
}

impl Ranked {
    pub(super) fn placed(place: u64, [wrong, right]: [u64; 2]) -> Ranked {
        Ranked::new(u64::MAX - place, wrong, right)
    }
}

/// How the judged pairs are ranked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranking {
    /// Precision, averaged over the pairs judged true; a pair that was not found counts 0.
    pub average_precision: Option<f64>,
    /// The probability that a true pair is ranked before a false one.
    pub auc: Option<f64>,
    /// The interval in which the area is with a probability of 95 %, if pairs are independent.
    pub auc_interval: Option<[f64; 2]>,
    /// The greatest F1 of a least score.
    pub best_f1: Option<f64>,
    /// That score; `None` if only identical documents have it.
    pub best_score: Option<f64>,
    /// For each precision of 0.9, 0.95 and 0.99, the lowest score down to which it is reached.
    pub reaching: Vec<Reaching>,
    /// Precision and recall from the highest score on, one recall of a hundredth apart or more.
    pub curve: Vec<CurvePoint>,
}

/// How far down a precision is reached.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reaching {
    /// The precision.
    pub precision: f64,
    /// The pairs with the lowest score that have at least this precision together with all above
    /// them; `None` if no score has it.
    pub from: Option<CurvePoint>,
}

/// Precision and recall of the pairs that have at least a score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// The score; `None` for identical documents.
    pub score: Option<f64>,
    /// Pairs judged true.
    pub true_found: u64,
    /// Pairs judged false.
    pub false_found: u64,
    /// True of both.
    pub precision: Option<f64>,
    /// True of all pairs judged true.
    pub recall: Option<f64>,
}

/// Ranks the pairs found, of all that are judged false and true. `None` if the run has no scores.
pub(super) fn ranking(
    found: Sort<Ranked>,
    [wrong, right]: [u64; 2],
    of: Evaluating<'_>,
) -> Result<Option<Ranking>> {
    if of.sources.run.scores == Scores::None {
        return Ok(None);
    }
    let [all_wrong, all_right] = [wrong, right].map(|n| n as f64);
    let (mut precision_sum, mut before) = (0.0, 0.0);
    let (mut best_f1, mut best_score) = (None, None);
    let mut sum = [0u64; 2];
    let (mut curve, mut last) = (Vec::new(), None);
    let mut reaching = PRECISIONS.map(|precision| Reaching {
        precision,
        from: None,
    });
    found.finish()?.groups(
        |ranked: &Ranked| ranked.below,
        |first, all| {
            let [wrong_before, right_before] = sum;
            while let Some(ranked) = all.next()? {
                sum[0] += ranked.wrong;
                sum[1] += ranked.right;
            }
            let [wrong_here, right_here] = [sum[0] - wrong_before, sum[1] - right_before];
            let score = match first.below {
                0 => None,
                below => Some(f64::from_bits(SAME - below - 1)),
            };
            let point = CurvePoint {
                score,
                true_found: sum[1],
                false_found: sum[0],
                precision: share(sum[1], sum[0] + sum[1]),
                recall: share(sum[1], right),
            };
            precision_sum += point.precision.unwrap_or(0.0) * right_here as f64;
            before += right_here as f64 * ((wrong - sum[0]) as f64 + wrong_here as f64 / 2.0);
            let f1 = share(2 * sum[1], sum[0] + sum[1] + right);
            if f1 > best_f1 {
                (best_f1, best_score) = (f1, score);
            }
            for reaching in &mut reaching {
                if point.precision >= Some(reaching.precision) {
                    reaching.from = Some(point.clone());
                }
            }
            let recall = point.recall.unwrap_or(0.0);
            if last.is_none_or(|last| recall >= last + STEP) {
                last = Some(recall);
                curve.push(point);
            }
            Ok(())
        },
    )?;
    before += (right - sum[1]) as f64 * (wrong - sum[0]) as f64 / 2.0;
    let auc = (wrong > 0 && right > 0).then(|| before / (all_right * all_wrong));
    Ok(Some(Ranking {
        average_precision: (right > 0).then(|| precision_sum / all_right),
        auc,
        auc_interval: auc.map(|auc| interval(auc, all_right, all_wrong)),
        best_f1,
        best_score,
        reaching: reaching.into(),
        curve,
    }))
}

/// The interval of an area under the curve of this number of true and false pairs.
fn interval(auc: f64, right: f64, wrong: f64) -> [f64; 2] {
    let square = auc * auc;
    let (of_right, of_wrong) = (auc / (2.0 - auc), 2.0 * square / (1.0 + auc));
    let variance = auc * (1.0 - auc)
        + (right - 1.0) * (of_right - square)
        + (wrong - 1.0) * (of_wrong - square);
    let error = (variance.max(0.0) / (right * wrong)).sqrt();
    [
        (auc - QUANTILE * error).max(0.0),
        (auc + QUANTILE * error).min(1.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If scores say nothing, the error is that of the statistic of Wilcoxon, Mann and Whitney.
    #[test]
    fn the_interval_of_a_half_is_that_of_ranks_by_chance() {
        for (right, wrong) in [(1.0, 1.0), (51.0, 58.0), (3.0, 4000.0)] {
            let [low, high] = interval(0.5, right, wrong);
            let error: f64 = ((right + wrong + 1.0) / (12.0 * right * wrong)).sqrt();
            assert!((low - (0.5 - QUANTILE * error).max(0.0)).abs() < 1e-12);
            assert!((high - (0.5 + QUANTILE * error).min(1.0)).abs() < 1e-12);
        }
        assert_eq!(interval(1.0, 9.0, 9.0), [1.0, 1.0]);
    }
}
