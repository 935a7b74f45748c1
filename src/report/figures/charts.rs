//! The figures' axes and lines.

use super::fit::power_law;
use super::measure::{Metric, RatioTrials, Scope, View, ratio_name};
use super::plan::{GroupRatios, TARGETS};
use super::tables::drawn;
use crate::report::charts::{Axis, Chart, Look, Panel, Series, Whisker, round_tenth_below};
use crate::report::wording::group_name;

/// Room for markers at both ends of an axis of thresholds or precisions.
const MARGIN: f64 = 0.01;

/// Limit on the lines in a panel of figure 4. Of more thresholds, some evenly spaced ones are
/// drawn.
const MOST_THRESHOLDS: usize = 8;

/// Sizes that a logarithmic axis can show.
fn drawable(view: &View) -> Vec<(u64, u64)> {
    let sizes = view.study.sizes.iter().copied();
    sizes
        .filter(|&(rank, words)| rank > 0 && words > 0)
        .collect()
}

/// The axes of ranks and words; `None` if there are no documents with words.
pub(super) fn figure1_axes(view: &View) -> Option<(Axis, Axis)> {
    let sizes = drawable(view);
    let words = || sizes.iter().map(|&(_, words)| words as f64);
    let greatest = sizes.iter().map(|&(rank, _)| rank as f64);
    let greatest = greatest.reduce(f64::max)?;
    let (least, most) = (words().reduce(f64::min)?, words().reduce(f64::max)?);
    Some((
        Axis::decades("Rank by size", 1.0, greatest),
        Axis::decades("Words", least, most),
    ))
}

pub(super) fn figure1(view: &View, title: &str) -> Chart {
    let sizes = drawable(view);
    let Some((x, y)) = figure1_axes(view) else {
        return Chart::empty(title, "There are no documents with words.");
    };
    let mut lines = Vec::new();
    if let Some(law) = power_law(&view.study.sizes) {
        let end = |rank: u64| {
            let rank = rank as f64;
            // Not below the axis, where the first slope is steep.
            (rank, Some(law.scale * rank.powf(law.slope)))
        };
        lines.push(Series {
            label: format!("fitted: slope {}", signed(law.slope)),
            look: Look::FIT,
            points: vec![end(law.ranks.0), end(law.ranks.1)],
        });
    }
    lines.push(Series {
        label: "documents".into(),
        look: Look::POINTS,
        points: sizes
            .iter()
            .map(|&(r, w)| (r as f64, Some(w as f64)))
            .collect(),
    });
    Chart::new(title, vec![Panel::new("", x, y, lines)])
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
    let at: Vec<f64> = view.thresholds().iter().map(|t| t.to_f64()).collect();
    let (Some(&low), Some(&high)) = (at.first(), at.last()) else {
        return Chart::empty(title, "The study has no thresholds.");
    };
    let line = |scope: Scope, label: String, look: Look| Series {
        label,
        look,
        points: at
            .iter()
            .enumerate()
            .map(|(place, &x)| (x, ratio.spread(metric, scope, drawn(scope), place).mean()))
            .collect(),
    };
    let count = view.study.groups.len();
    let mut lines = vec![line(Scope::All, "all pairs".into(), Look::WHOLE)];
    for (group, words) in view.study.groups.iter().enumerate() {
        let label = format!("{group}: {}", group_name(words));
        lines.push(line(
            Scope::Group(group),
            label,
            Look::ordered(group, count),
        ));
    }
    let drawn = lines.iter().flat_map(|line| &line.points);
    if !drawn.into_iter().any(|(_, y)| y.is_some()) {
        let why = format!("There are no pairs: {} is undefined.", metric.text());
        return Chart::empty(title, &why);
    }
    let x = Axis::linear("Resemblance threshold", low - MARGIN, high + MARGIN, 10);
    let y = format!("Mean {} over classes", metric.text());
    let y = Axis::linear(&y, floor, 1.0, 10);
    Chart::new(title, vec![Panel::new("", x, y, lines)])
}

pub(super) fn figure4(view: &View, plans: &[GroupRatios], title: &str) -> Chart {
    let shares = || {
        plans
            .iter()
            .flat_map(|p| [p.share, p.uniform_share])
            .flatten()
    };
    let shown = evenly(view.thresholds().len(), MOST_THRESHOLDS);
    if shown.is_empty() {
        return Chart::empty(title, "The study has no thresholds.");
    }
    if shares().next().is_none() {
        return Chart::empty(title, "There are no shingles to process.");
    }
    let ratios: Vec<u32> = view.sampled_ratios().map(|ratio| ratio.n).collect();
    let coarsest = ratios.last().copied().unwrap_or(2);
    let least = shares().fold(1.0 / f64::from(coarsest), f64::min);
    let mut ticks = vec![(1.0, "100 %".to_string())];
    ticks.extend(ratios.iter().map(|&n| {
        let percent = 100.0 / f64::from(n);
        (1.0 / f64::from(n), format!("{} %", significant(percent)))
    }));
    let panel = |heading: &str, share: fn(&GroupRatios) -> Option<f64>| {
        let lines = shown.iter().enumerate().map(|(place, &threshold)| Series {
            label: view
                .thresholds()
                .get(threshold)
                .map_or_else(String::new, ToString::to_string),
            look: Look::ordered(place, shown.len()),
            points: plans
                .iter()
                .filter(|plan| plan.threshold == threshold)
                .map(|plan| (f64::from(plan.target) / 100.0, share(plan)))
                .collect(),
        });
        let (first, last) = (*TARGETS.start(), *TARGETS.end());
        let x = Axis {
            low: f64::from(first) / 100.0 - MARGIN,
            high: f64::from(last) / 100.0 + MARGIN,
            ..Axis::linear("Mean precision required", 0.5, 1.0, 5)
        };
        let y = Axis {
            title: "Shingles to process".into(),
            low: least / 1.15,
            high: 1.15,
            logarithmic: true,
            ticks: ticks.clone(),
        };
        Panel::new(heading, x, y, lines.collect())
    };
    let panels = vec![
        panel("A ratio for each size group", |plan| plan.share),
        panel("One ratio for all", |plan| plan.uniform_share),
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
    let text = crate::base::numbers::percent(percent / 100.0, digits);
    let text = text.trim_end_matches(" %");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        text.into()
    }
}

/// Precision over the classes of each ratio, for all pairs and for the group of the smallest
/// documents.
pub(super) fn spread(view: &View, threshold: usize, title: &str) -> Chart {
    let ratios: Vec<&RatioTrials> = view.sampled_ratios().collect();
    let shown = [
        (Scope::All, "all pairs".to_string()),
        (
            Scope::Group(0),
            format!("group 0, {} words", group_name(view.words(Scope::Group(0)))),
        ),
    ];
    let scopes = if view.study.groups.len() > 1 { 2 } else { 1 };
    let (mut lines, mut whiskers) = (Vec::new(), Vec::new());
    let mut least: f64 = 1.0;
    for (place, (scope, label)) in shown.into_iter().take(scopes).enumerate() {
        let look = Look::ordered(place * 2, 4);
        let mut points = Vec::new();
        for (number, ratio) in ratios.iter().enumerate() {
            // Side by side if both are shown.
            let x = number as f64 + (place as f64 - (scopes - 1) as f64 / 2.0) * 0.24;
            let spread = ratio.precision(scope, drawn(scope), threshold);
            points.push((x, spread.mean()));
            if let Some(moments) = spread.moments {
                least = least.min(moments.least);
                let trials = ratio.trials.iter();
                let values =
                    trials.filter_map(|t| t.counts(scope, drawn(scope), threshold).precision());
                whiskers.push(Whisker {
                    look,
                    x,
                    least: moments.least,
                    mean: moments.mean,
                    greatest: moments.greatest,
                    values: values.collect(),
                });
            }
        }
        lines.push(Series {
            label,
            look,
            points,
        });
    }
    if whiskers.is_empty() {
        return Chart::empty(
            title,
            "No sampled run found any pair: precision is undefined.",
        );
    }
    let ticks = ratios.iter().enumerate();
    let x = Axis {
        title: "Sampling ratio".into(),
        low: -0.5,
        high: ratios.len() as f64 - 0.5,
        logarithmic: false,
        ticks: ticks.map(|(k, r)| (k as f64, ratio_name(r.n))).collect(),
    };
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
