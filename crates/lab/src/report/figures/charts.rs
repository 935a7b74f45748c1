//! The axes and points of the figures.

use super::tables::drawn;
use crate::report::charts::{Axis, Points, round_tenth_below};
use crate::study::{
    GroupRatios, Metric, PowerLaw, RatioTrials, Scope, TARGETS, Tried, View, power_law,
};
use lookalike_base::ids::Threshold;

/// Room for markers at both ends of an axis of thresholds or precisions.
pub(super) const MARGIN: f64 = 0.01;

/// Words by rank, and the line fitted to them.
pub(super) struct ByRank {
    /// Only the documents that a logarithmic axis can show.
    pub documents: Points,
    /// The line and its ends.
    pub fitted: Option<(PowerLaw, Points)>,
    /// The axes of ranks and words.
    pub axes: (Axis, Axis),
}

impl ByRank {
    /// `None` if there are no documents with words.
    pub(super) fn of(view: &View) -> Option<ByRank> {
        let sizes = view.study.sizes.iter();
        let drawable = sizes.filter(|(rank, words)| *rank > 0 && *words > 0);
        let places = drawable.map(|&(rank, words)| (rank as f64, words as f64));
        let words = || places.clone().map(|(_, words)| words);
        let greatest = places.clone().map(|(rank, _)| rank).reduce(f64::max)?;
        let (least, most) = (words().reduce(f64::min)?, words().reduce(f64::max)?);
        let fitted = power_law(&view.study.sizes).map(|law| {
            let end = |rank: u64| {
                let rank = rank as f64;
                (rank, Some(law.scale * rank.powf(law.slope)))
            };
            (law, vec![end(law.ranks.0), end(law.ranks.1)])
        });
        Some(ByRank {
            documents: places.map(|(rank, words)| (rank, Some(words))).collect(),
            fitted,
            axes: (
                Axis::decades("Rank by size", 1.0, greatest),
                Axis::decades("Words", least, most),
            ),
        })
    }
}

/// The means over the classes of a ratio, by threshold.
pub(super) fn means(view: &View, ratio: &RatioTrials, metric: Metric, scope: Scope) -> Points {
    let thresholds = view.thresholds().iter().enumerate();
    let at = |(place, threshold): (usize, &Threshold)| {
        let spread = ratio.spread(metric, scope, drawn(scope), place);
        (threshold.to_f64(), spread.mean())
    };
    thresholds.map(at).collect()
}

/// Where the axis of precision or recall begins: below every value of any ratio, so that readers
/// can compare the figures of all ratios.
pub(super) fn floor(view: &View, metric: Metric) -> f64 {
    let mut least: f64 = 1.0;
    for ratio in view.sampled_ratios() {
        for threshold in 0..view.thresholds().len() {
            for scope in view.scopes() {
                if let Some(mean) = ratio.spread(metric, scope, drawn(scope), threshold).mean() {
                    least = least.min(mean);
                }
            }
        }
    }
    round_tenth_below(least)
}

/// The axes of precisions and of shares of the shingles. `None` if there are no shingles to process.
pub(super) fn share_axes(view: &View, plans: &[GroupRatios]) -> Option<(Axis, Axis)> {
    let shares = plans
        .iter()
        .flat_map(|p| [p.share, p.uniform_share, p.least_share]);
    let least = shares.flatten().reduce(f64::min)?;
    let ratios: Vec<u32> = view.sampled_ratios().map(|ratio| ratio.n).collect();
    let coarsest = ratios.last().copied().unwrap_or(2);
    let mut ticks = vec![(1.0, "100 %".to_string())];
    ticks.extend(ratios.iter().map(|&n| {
        let share = 1.0 / f64::from(n);
        (share, format!("{} %", significant(share * 100.0)))
    }));
    let (first, last) = (*TARGETS.start(), *TARGETS.end());
    let x = Axis {
        low: f64::from(first) / 100.0,
        high: f64::from(last) / 100.0 + MARGIN,
        ..Axis::linear("Mean precision", 0.5, 1.0, 5)
    };
    let y = Axis {
        title: "Share of the shingles".into(),
        low: least.min(1.0 / f64::from(coarsest)) / 1.15,
        high: 1.1,
        logarithmic: true,
        ticks,
    };
    Some((x, y))
}

/// A share of the shingles that a plan takes.
pub(super) type Share = fn(&GroupRatios) -> Option<f64>;

/// Shares by precision, at a threshold.
pub(super) fn share_points(plans: &[GroupRatios], threshold: usize, share: Share) -> Points {
    let at = plans.iter().filter(|plan| plan.threshold == threshold);
    at.map(|plan| (f64::from(plan.target) / 100.0, share(plan)))
        .collect()
}

/// A number with a typographic minus sign.
pub(super) fn signed(number: f64) -> String {
    format!("{number:.2}").replace('-', "\u{2212}")
}

/// At most `most` of 0..count, evenly spaced, with the first and the last.
pub(super) fn evenly(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    (0..most).map(|k| k * (count - 1) / (most - 1)).collect()
}

/// A percentage with three digits, without trailing zeros: `6.25`, `12.5`, `50`.
pub(super) fn significant(percent: f64) -> String {
    let digits = match percent {
        p if p >= 99.95 => 0,
        p if p >= 9.995 => 1,
        p if p >= 0.9995 => 2,
        _ => 3,
    };
    let text = lookalike_base::numbers::percent(percent / 100.0, digits);
    let text = text.trim_end_matches(" %");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        text.into()
    }
}

/// The axis of the ratios, one unit for each.
pub(super) fn ratio_axis(title: &str, ratios: &[&RatioTrials]) -> Axis {
    let ticks = ratios.iter().enumerate();
    Axis {
        title: title.into(),
        low: -0.5,
        high: ratios.len() as f64 - 0.5,
        logarithmic: false,
        ticks: ticks.map(|(k, ratio)| (k as f64, ratio.name())).collect(),
    }
}

/// The precision of each class of a ratio.
pub(super) fn precisions(ratio: &RatioTrials, scope: Scope, threshold: usize) -> Vec<f64> {
    let counts = |t: &Tried| t.counts(scope, drawn(scope), threshold);
    let trials = ratio.trials.iter();
    trials.filter_map(|t| counts(t).precision()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_of_many_thresholds_are_shown_with_both_ends() {
        assert_eq!(evenly(3, 8), [0, 1, 2]);
        assert_eq!(evenly(15, 8), [0, 2, 4, 6, 8, 10, 12, 14]);
        assert_eq!(evenly(11, 4), [0, 3, 6, 10]);
    }

    #[test]
    fn percentages_have_three_digits() {
        let texts = [100.0, 50.0, 12.5, 6.25, 3.125, 0.1].map(significant);
        assert_eq!(texts, ["100", "50", "12.5", "6.25", "3.12", "0.1"]);
    }
}
