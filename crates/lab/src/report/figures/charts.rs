//! The figures' axes and lines.

use super::tables::drawn;
use crate::report::charts::{Axis, Chart, Line, Look, Panel, Points, Whisker, round_tenth_below};
use crate::study::{GroupRatios, TARGETS};
use crate::study::{Metric, RatioTrials, Scope, Tried, View};
use crate::study::{PowerLaw, power_law};
use lookalike::report::wording::group_name;
use lookalike_base::ids::Threshold;

/// Room for markers at both ends of an axis of thresholds or precisions.
pub(super) const MARGIN: f64 = 0.01;

/// Limit on the lines in a panel of figure 4. If there are more thresholds, evenly spaced ones are
/// drawn.
const MOST_THRESHOLDS: usize = 8;

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

pub(super) fn figure1(view: &View, title: &str) -> Chart {
    let Some(of) = ByRank::of(view) else {
        return Chart::empty(title, "There are no documents with words.");
    };
    let mut lines = Vec::new();
    if let Some((law, ends)) = of.fitted {
        let label = format!("fitted: slope {}", signed(law.slope));
        lines.push(Line::new(label, Look::FIT, ends));
    }
    lines.push(Line::new("documents", Look::POINTS, of.documents));
    let (x, y) = of.axes;
    Chart::new(title, vec![Panel::new("", x, y, lines)])
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

/// Precision or recall against the threshold, a line for each group and one for all.
pub(super) fn by_threshold(
    view: &View,
    ratio: &RatioTrials,
    metric: Metric,
    floor: f64,
    title: &str,
) -> Chart {
    let Some((low, high)) = view.first_and_last() else {
        return Chart::empty(title, "The study has no thresholds.");
    };
    let line =
        |scope, label: String, look| Line::new(label, look, means(view, ratio, metric, scope));
    let count = view.study.groups.len();
    let mut lines = vec![line(Scope::All, "all pairs".into(), Look::WHOLE)];
    for (group, words) in view.study.groups.iter().enumerate() {
        let label = format!("{group}: {}", group_name(words));
        let look = Look::ordered(group, count);
        lines.push(line(Scope::Group(group), label, look));
    }
    if !lines.iter().any(Line::is_defined) {
        let why = format!("There are no pairs: {} is undefined.", metric.text());
        return Chart::empty(title, &why);
    }
    let x = Axis::linear("Resemblance threshold", low - MARGIN, high + MARGIN, 10);
    let y = format!("Mean {} over classes", metric.text());
    let y = Axis::linear(&y, floor, 1.0, 10);
    Chart::new(title, vec![Panel::new("", x, y, lines)])
}

/// The axes of precisions and of shares of the shingles, with a margin at the lower end of the
/// first and the upper end of the second. `None` if there are no shingles to process.
pub(super) fn share_axes(
    view: &View,
    plans: &[GroupRatios],
    titles: [&str; 2],
    (margin, high): (f64, f64),
) -> Option<(Axis, Axis)> {
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
        low: f64::from(first) / 100.0 - margin,
        high: f64::from(last) / 100.0 + MARGIN,
        ..Axis::linear(titles[0], 0.5, 1.0, 5)
    };
    let y = Axis {
        title: titles[1].into(),
        low: least.min(1.0 / f64::from(coarsest)) / 1.15,
        high,
        logarithmic: true,
        ticks,
    };
    Some((x, y))
}

/// Shares by precision, at a threshold.
pub(super) fn share_points(
    plans: &[GroupRatios],
    threshold: usize,
    share: fn(&GroupRatios) -> Option<f64>,
) -> Points {
    let at = plans.iter().filter(|plan| plan.threshold == threshold);
    at.map(|plan| (f64::from(plan.target) / 100.0, share(plan)))
        .collect()
}

pub(super) fn figure4(view: &View, plans: &[GroupRatios], title: &str) -> Chart {
    let shown = evenly(view.thresholds().len(), MOST_THRESHOLDS);
    if shown.is_empty() {
        return Chart::empty(title, "The study has no thresholds.");
    }
    let titles = ["Mean precision required", "Shingles to process"];
    let Some((x, y)) = share_axes(view, plans, titles, (MARGIN, 1.15)) else {
        return Chart::empty(title, "There are no shingles to process.");
    };
    let panel = |heading: &str, share: fn(&GroupRatios) -> Option<f64>| {
        let lines = shown.iter().enumerate().map(|(place, &threshold)| {
            let look = Look::ordered(place, shown.len());
            let points = share_points(plans, threshold, share);
            Line::new(view.threshold(threshold), look, points)
        });
        Panel::new(heading, x.clone(), y.clone(), lines.collect())
    };
    let panels = vec![
        panel("A ratio for each size group", |plan| plan.share),
        panel("One ratio for all", |plan| plan.uniform_share),
        panel("Lower limit, known afterwards", |plan| plan.least_share),
    ];
    Chart::new(title, panels)
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

/// Precision over the classes of each ratio, for all pairs and for the group of the smallest
/// documents.
pub(super) fn spread(view: &View, threshold: usize, title: &str) -> Chart {
    let ratios: Vec<&RatioTrials> = view.sampled_ratios().collect();
    let mut shown = vec![(Scope::All, "all pairs".to_string())];
    if view.study.groups.len() > 1 {
        let words = group_name(view.words(Scope::Group(0)));
        shown.push((Scope::Group(0), format!("group 0, {words} words")));
    }
    // Side by side if both are shown.
    let aside = |place: usize| (place as f64 - (shown.len() - 1) as f64 / 2.0) * 0.24;
    let (mut lines, mut whiskers) = (Vec::new(), Vec::new());
    for (place, (scope, label)) in shown.iter().enumerate() {
        let look = Look::ordered(place * 2, 4);
        let mut points = Vec::new();
        for (number, ratio) in ratios.iter().enumerate() {
            let x = number as f64 + aside(place);
            let spread = ratio.precision(*scope, drawn(*scope), threshold);
            points.push((x, spread.mean()));
            whiskers.extend(spread.moments.map(|moments| Whisker {
                look,
                x,
                least: moments.least,
                mean: moments.mean,
                greatest: moments.greatest,
                values: precisions(ratio, *scope, threshold),
            }));
        }
        lines.push(Line::new(label.as_str(), look, points));
    }
    let Some(least) = whiskers
        .iter()
        .map(|whisker| whisker.least)
        .reduce(f64::min)
    else {
        let why = "No sampled run found any pair: precision is undefined.";
        return Chart::empty(title, why);
    };
    let x = ratio_axis("Sampling ratio", &ratios);
    let y = Axis::linear("Precision", round_tenth_below(least), 1.0, 10);
    let mut panel = Panel::new("", x, y, lines);
    panel.whiskers = whiskers;
    Chart::new(title, vec![panel])
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
