//! The paper's claim about each figure, and the same numbers of this study.

use super::charts::{signed, significant};
use super::tables::drawn;
use crate::study::{Metric, RatioTrials, Scope, USUAL, View, plan, power_law};
use lookalike::report::wording::group_name;
use lookalike_base::numbers::count;

/// The paper's claim about a figure, or about a metric at 1/n.
pub(super) fn paper(figure: &str, n: u32) -> &'static str {
    match (figure, n) {
        ("figure1", _) => {
            "In .GOV, words against rank is a straight line on logarithmic axes (a power law)."
        }
        ("table3", _) => {
            "0–499 words: 68 % of the documents of .GOV, 17 % of the shingles. 9,000 or more words: \
             0.8 % and 14 %."
        }
        ("precision", 4) => {
            "Figure 2(a): precision falls as the threshold rises, most of all in group 0."
        }
        ("precision", 16) => {
            "Figure 2(b): at threshold 0.85, 0.70 over all pairs and 0.57 in group 0. Above 0.95, \
             below 0.1 in groups under 3,000 words."
        }
        ("precision", 2 | 8) => "Not shown. The text says that it behaves as at 1/4 and 1/16.",
        ("recall", 16) => {
            "Figure 3: above 0.6 in every group, and almost the same at every threshold."
        }
        ("recall", _) => {
            "Not shown. The text says that recall is low only for small documents with few sampled \
             shingles."
        }
        ("figure4", _) => {
            "With ratios from 1/2 to 1/16 by size group, precision 0.8 at threshold 0.6 takes 8 % of \
             the shingles (4.72 % if 1/32 is allowed), and 0.85 at 0.85 takes 5.55 %."
        }
        ("spread", _) => {
            "Precision and recall differ only slightly between the classes of a ratio."
        }
        _ => "Not shown.",
    }
}

pub(super) fn figure1(view: &View) -> String {
    let Some(law) = power_law(&view.study.sizes) else {
        return "There are too few documents for a fit.".into();
    };
    let halves = law.halves.map_or(String::new(), |(a, b)| {
        format!(" (first half {}, second half {})", signed(a), signed(b))
    });
    format!(
        "The line fitted to ranks {} to {} has slope {}{halves} and explains {} % of the variance.",
        count(law.ranks.0),
        count(law.ranks.1),
        signed(law.slope),
        significant(law.explained * 100.0)
    )
}

/// The first and the last group.
pub(super) fn table3(view: &View) -> String {
    let all = view.whole(Scope::All);
    let percent = |part: u64, whole: u64| significant(part as f64 * 100.0 / whole.max(1) as f64);
    let mut text = String::new();
    for (group, words) in view.study.groups.iter().enumerate() {
        if group == 0 || group + 1 == view.study.groups.len() {
            let here = view.whole(Scope::Group(group));
            text += &format!(
                "{} words: {} % of the documents, {} % of the shingles. ",
                group_name(words),
                percent(here.documents, all.documents),
                percent(here.shingles, all.shingles)
            );
        }
    }
    let (documents, shingles) = (count(all.documents), count(all.shingles));
    text + &format!("All: {documents} documents, {shingles} shingles.")
}

/// Means at the usual and at the highest threshold, and the lowest mean of a group.
pub(super) fn by_threshold(view: &View, ratio: &RatioTrials, metric: Metric) -> String {
    let thresholds = view.thresholds();
    let of = |scope, place| ratio.spread(metric, scope, drawn(scope), place).mean();
    let Some(usual) = view.study.config.nearest(USUAL) else {
        return "The study has no thresholds.".into();
    };
    let number = |mean: Option<f64>| mean.map_or("undefined".into(), |mean| format!("{mean:.2}"));
    let mut text = String::new();
    for (place, threshold) in thresholds.iter().enumerate() {
        if place == usual || place + 1 == thresholds.len() {
            text += &format!(
                "At threshold {threshold}: {} over all pairs, {} in group 0. ",
                number(of(Scope::All, place)),
                number(of(Scope::Group(0), place))
            );
        }
    }
    let groups = (0..view.study.groups.len()).map(Scope::Group);
    let means = groups.flat_map(|group| (0..thresholds.len()).filter_map(move |t| of(group, t)));
    let least = number(means.reduce(f64::min));
    text + &format!("Lowest of any group and threshold: {least}.")
}

pub(super) fn figure4(view: &View) -> String {
    let percent = |share: Option<f64>| match share {
        None => "undefined".into(),
        Some(share) => significant(share * 100.0) + " %",
    };
    let sentences = [(80, 0.6), (85, USUAL)].map(|(target, wanted)| {
        let place = view.study.config.nearest(wanted)?;
        let (plan, at) = (plan(view, target, place), view.thresholds().get(place)?);
        Some(format!(
            "Precision 0.{target} at threshold {at} takes {} of the shingles with a ratio for each \
             group, {} with one ratio for all; the lower limit is {}.",
            percent(plan.share),
            percent(plan.uniform_share),
            percent(plan.least_share)
        ))
    });
    match sentences {
        [Some(a), Some(b)] => format!("{a} {b}"),
        _ => "The study has no thresholds.".into(),
    }
}

/// Precision at the ratio whose classes differ most.
pub(super) fn spread(view: &View, threshold: usize) -> String {
    let all = Scope::All;
    let measured = view.sampled_ratios().filter_map(|ratio| {
        let moments = ratio.precision(all, drawn(all), threshold).moments?;
        Some((ratio.name(), moments))
    });
    let widest = measured.max_by(|(_, a), (_, b)| a.width().total_cmp(&b.width()));
    widest.map_or("No sampled run found any pair.".into(), |(name, m)| {
        format!(
            "Over all pairs the classes of {name} differ most: from {:.3} to {:.3} (standard \
             deviation {:.3}).",
            m.least, m.greatest, m.deviation
        )
    })
}
