//! The paper's claim about each figure, and the same numbers of this study.

use super::charts::{pretty, signed, significant};
use super::fit::power_law;
use super::measure::{Measure, Ratio, Scope, View, bounds, mean};
use super::plan::plan;
use super::tables::drawn;
use crate::experiments::study::USUAL;
use crate::numbers::count;

/// The paper's statement about a figure, or about a measure at 1/n.
pub(super) fn paper(figure: &str, n: u32) -> &'static str {
    match (figure, n) {
        ("figure1", _) => "In .GOV words against rank is a line on logarithmic axes (a power law).",
        ("table3", _) => {
            "0–499 words: 68 % of .GOV, 17 % of its shingles. 9,000 or more: 0.8 % and 14 %."
        }
        ("precision", 4) => "Figure 2(a): precision falls as the threshold rises, in group 0 most.",
        ("precision", 16) => {
            "Figure 2(b): 0.70 overall at 0.85, 0.57 in group 0; above 0.95, under 3,000 words, below 0.1."
        }
        ("precision", 2 | 8) => "Not shown; it is said to behave as at 1/4 and 1/16.",
        ("recall", 16) => {
            "Figure 3: above 0.6 in every group, and hardly falling with the threshold."
        }
        ("recall", _) => {
            "Not shown; it is said to suffer only where little is sampled of small documents."
        }
        ("figure4", _) => {
            "Ratios 1/2 to 1/16 by size group need 8 % of the shingles for precision 0.8 at threshold 0.6 \
             (4.72 % with 1/32 too), and 5.55 % for 0.85 at 0.85."
        }
        ("spread", _) => "The classes of a ratio differ only slightly, in precision and in recall.",
        _ => "Not shown.",
    }
}

pub(super) fn figure1(view: &View) -> String {
    let Some(law) = power_law(&view.study.sizes) else {
        return "There are too few documents for a slope.".into();
    };
    let halves = law.halves.map_or(String::new(), |(a, b)| {
        format!(" (first half {}, second half {})", signed(a), signed(b))
    });
    let (first, last, slope) = (count(law.ranks.0), count(law.ranks.1), signed(law.slope));
    let explained = law.explained * 100.0;
    format!(
        "Ranks {first} to {last}: slope {slope}{halves}, {explained:.1} % of the variance explained."
    )
}

pub(super) fn table3(view: &View) -> String {
    let all = view.whole(Scope::All);
    let percent = |part: u64, whole: u64| significant(part as f64 * 100.0 / whole.max(1) as f64);
    let groups = view.study.groups.iter().enumerate();
    let shown = groups.filter(|(group, _)| *group == 0 || group + 1 == view.study.groups.len());
    let shown = shown.map(|(group, words)| {
        let here = view.whole(Scope::Group(group));
        let documents = percent(here.documents, all.documents);
        let shingles = percent(here.shingles, all.shingles);
        format!(
            "{} words: {documents} % of the documents, {shingles} % of the shingles. ",
            pretty(words)
        )
    });
    let (documents, shingles) = (count(all.documents), count(all.shingles));
    shown.collect::<String>() + &format!("All: {documents} documents, {shingles} shingles.")
}

fn number(value: Option<f64>) -> String {
    value.map_or("undefined".into(), |value| format!("{value:.2}"))
}

/// At the lowest, the usual and the highest threshold; and the groups that the paper names.
pub(super) fn by_threshold(view: &View, ratio: &Ratio, measure: Measure) -> String {
    let thresholds = view.thresholds();
    let of = |scope, place| ratio.spread(measure, scope, drawn(scope), place).mean();
    let Some(usual) = view.study.config.nearest(USUAL) else {
        return "The study has no thresholds.".into();
    };
    let mut shown = vec![0, usual, thresholds.len() - 1];
    shown.dedup();
    let values = |scope| {
        let places = shown
            .iter()
            .filter_map(|&place| Some((place, thresholds.get(place)?)));
        let texts = places.map(|(place, at)| format!("{} at {at}", number(of(scope, place))));
        texts.collect::<Vec<_>>().join(", ")
    };
    let mut text = format!("All pairs: {}.", values(Scope::All));
    if !view.study.groups.is_empty() {
        text += &format!(" Group 0: {}.", values(Scope::Group(0)));
    }
    let of_groups = |last: u64, above: f64| {
        let most = |words: &str| bounds(words).and_then(|b| b.1).unwrap_or(u64::MAX);
        let groups = view.study.groups.iter().enumerate();
        let groups = groups.filter(move |(_, words)| most(words) <= last);
        let places = thresholds.iter().enumerate();
        let places = places.filter(move |(_, threshold)| threshold.to_f64() > above);
        groups.flat_map(move |(g, _)| {
            places
                .clone()
                .filter_map(move |(t, _)| of(Scope::Group(g), t))
        })
    };
    if measure == Measure::Precision {
        return match of_groups(2999, 0.95).reduce(f64::max) {
            None => text,
            Some(most) => {
                text + &format!(" Groups under 3,000 words above 0.95: at most {most:.2}.")
            }
        };
    }
    let least = number(of_groups(u64::MAX, 0.0).reduce(f64::min));
    let empty = ratio
        .trials
        .iter()
        .map(|t| t.sizes(Scope::All).nothing_sampled);
    let all = view.whole(Scope::All).documents.max(1) as f64;
    let empty = significant(mean(empty).unwrap_or(0.0) * 100.0 / all);
    text + &format!(" Least of a group: {least}. Documents without a sampled shingle: {empty} %.")
}

pub(super) fn figure4(view: &View) -> String {
    let percent = |share: Option<f64>| match share {
        None => "undefined".into(),
        Some(share) => significant(share * 100.0) + " %",
    };
    let line = |(target, wanted)| {
        let place = view.study.config.nearest(wanted)?;
        let (plan, at) = (plan(view, target, place), view.thresholds().get(place)?);
        let (share, uniform) = (percent(plan.share), percent(plan.uniform_share));
        let (without, groups) = (plan.without_pairs, view.study.groups.len());
        Some(format!(
            "Precision 0.{target} at threshold {at}: {share} with a ratio for each group, {uniform} with one for \
             all ({without} of {groups} groups have no pairs)."
        ))
    };
    let lines = [(80, 0.6), (85, USUAL)].into_iter().filter_map(line);
    lines
        .reduce(|a, b| a + " " + &b)
        .unwrap_or("The study has no thresholds.".into())
}

/// Precision at the ratio whose classes differ most.
pub(super) fn spread(view: &View, threshold: usize) -> String {
    let all = Scope::All;
    let of = |ratio: &Ratio| ratio.precision(all, drawn(all), threshold).moments;
    let measured = view.sampled_ratios();
    let measured = measured.filter_map(|ratio| Some((ratio.name(), of(ratio)?)));
    let widest = measured.max_by(|(_, a), (_, b)| a.width().total_cmp(&b.width()));
    widest.map_or("No sampled run found any pair.".into(), |(name, m)| {
        format!(
            "All pairs: from {:.3} to {:.3} at {name} (standard deviation {:.3}), where classes differ most.",
            m.least, m.greatest, m.deviation
        )
    })
}
