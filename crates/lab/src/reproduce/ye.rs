//! Ye, Wen & Ma: what sampling costs in precision and recall, by document size.
//!
//! # Source
//! Ye, Wen & Ma, *A systematic study on parameter correlations in large-scale duplicate document
//! detection*, 2008: Tables 1 to 3, Figures 1 to 4, sections 4 to 6.
//!
//! # Algorithm
//! A [`crate::study`] with the paper's ratios, each with all of its classes, and its
//! thresholds. Finished trials of the collection are reused.
//!
//! # Where we depart from the paper
//! As in [`crate::study`]. The collection decides the shingle size.

use super::model::{claim, exhibit, listed, mean, pairs};
use super::{Bench, Claim, Exhibit, Reproduction};
use crate::study::{
    self, GroupRatios, Metric, Moments, PairKind, PowerLaw, ROUNDING, RatioTrials, Scope,
    StudyConfig, USUAL, View, has_pairs, plans, power_law,
};
use lookalike_base::Result;
use lookalike_base::numbers::{count, percent};
use lookalike_engine::collection::each_document;

/// Words, documents and shingles by group of the TREC .GOV collection without exact duplicates
/// (Ye, Wen & Ma 2008, Table 3).
pub const GOV: [(&str, u64, u64); 11] = [
    ("0-499", 651_983, 118_247_397),
    ("500-999", 153_741, 105_876_410),
    ("1000-1999", 78_590, 107_785_579),
    ("2000-2999", 28_917, 69_980_491),
    ("3000-3999", 14_669, 50_329_605),
    ("4000-4999", 8_808, 39_165_329),
    ("5000-5999", 5_636, 30_760_394),
    ("6000-6999", 3_833, 24_750_365),
    ("7000-7999", 2_790, 20_796_424),
    ("8000-8999", 1_983, 16_770_544),
    ("9000-", 7_775, 93_564_410),
];

/// The n of the ratio of Figures 2(b) and 3.
const COARSE: u32 = 16;

/// The exhibits and claims, in the order of the paper.
pub(super) fn reproduce(bench: &mut Bench<'_>, made: &mut Reproduction) -> Result<()> {
    bench.note("sampled runs of every class")?;
    let context = bench.context();
    let (study, _) = study::run(&mut bench.base, &StudyConfig::default(), &context)?;
    let view = View::new(&study)?;
    let plans = plans(&view);
    made.exhibits.extend([
        Exhibit::new(
            ("table-1", "Table 1"),
            "Parameters of earlier work",
            "Cannot be tested here: a list of the parameters of other papers.",
        ),
        table_2(bench)?,
        figure_1(&view),
        table_3(&view),
        section_4_4(&view),
        by_threshold(&view, Metric::Precision),
        by_threshold(&view, Metric::Recall),
        figure_4(&view, &plans),
    ]);
    let usual = usual(&view);
    let coarse = |metric, scope, place| {
        let ratio = view.sampled_ratios().find(|ratio| ratio.n == COARSE)?;
        average(ratio, metric, scope, place)
    };
    let places = 0..view.thresholds().len();
    let along = |metric| -> Vec<f64> {
        let each = places.clone();
        let each = each.filter_map(|place| coarse(metric, Scope::All, place));
        each.collect()
    };
    let groups = (0..study.groups.len()).map(Scope::Group);
    let of_groups = groups.clone();
    let of_groups = of_groups.map(|group| coarse(Metric::Precision, group, usual));
    let recalls = pairs(groups, places.clone());
    let recalls = recalls.filter_map(|(group, place)| coarse(Metric::Recall, group, place));
    let classes = view.sampled_ratios().filter_map(|ratio| {
        let of = ratio.precision(Scope::All, PairKind::All, usual);
        let of = of.moments?;
        Some(((ratio.n, of.deviation), (ratio.n, of.mean)))
    });
    let (deviations, means): (Vec<_>, Vec<_>) = classes.unzip();
    let (first, all) = (view.whole(Scope::Group(0)), view.whole(Scope::All));
    made.claims.extend([
        sizes_follow_a_power_law(power_law(&study.sizes)),
        small_documents_have_few_shingles(
            (first.documents, all.documents),
            (first.shingles, all.shingles),
        ),
        ratios_are_kept(&taken(&view)),
        classes_are_alike(&deviations),
        precision_falls_with_the_threshold(&along(Metric::Precision)),
        precision_falls_with_the_ratio(&means),
        small_documents_suffer(&of_groups.collect::<Vec<_>>()),
        recall_stays_high(recalls.reduce(f64::min)),
        recall_depends_little_on_the_threshold(&along(Metric::Recall)),
        adaptive_takes_fewer(cases(&view, &plans)),
    ]);
    Ok(())
}

/// The place of the threshold at which the paper prints values.
fn usual(view: &View<'_>) -> usize {
    view.study.config.nearest(USUAL).unwrap_or(0)
}

/// The mean over the classes of a ratio. The paper ran each group by itself, and the whole
/// collection.
fn average(ratio: &RatioTrials<'_>, metric: Metric, scope: Scope, place: usize) -> Option<f64> {
    let pairs = match scope {
        Scope::Group(_) => PairKind::Same,
        Scope::All => PairKind::All,
    };
    ratio.spread(metric, scope, pairs, place).mean()
}

fn table_2(bench: &Bench<'_>) -> Result<Exhibit> {
    let (mut documents, mut bytes, mut words) = (0, 0, 0);
    each_document(&bench.base, |_, document| {
        documents += 1;
        bytes += document.length;
        words += document.words;
        Ok(())
    })?;
    let each = documents.max(1);
    let rows = [
        ("documents", documents, 1_053_034u64),
        ("bytes", bytes, 12_900_000_000),
        ("bytes per document", bytes / each, 13_200),
        ("words per document", words / each, 699),
    ];
    Ok(exhibit!("table-2", "Table 2", "The collection",
        "All documents, including exact duplicates. Bytes are counted in the records as read. The paper has the web pages \
         of TREC .GOV.";
        (value, here, paper) in rows => value: Text = value, here: Count = here, gov_paper: Count = paper))
}

fn figure_1(view: &View<'_>) -> Exhibit {
    exhibit!("figure-1", "Figure 1", "Sizes of documents by rank",
        "Words of a document against its rank by size, without exact duplicates. On logarithmic axes a power law is a \
         straight line.";
        row in &view.study.sizes => rank: Count = row.0, words: Count = row.1)
    .lines("rank", &["words"], None)
    .decades(true, true)
}

fn table_3(view: &View<'_>) -> Exhibit {
    let paper = |words: &str| GOV.iter().find(|(name, ..)| *name == words);
    let here = |n| view.whole(Scope::Group(n));
    exhibit!("table-3", "Table 3", "Documents and shingles by size group",
        "Without exact duplicates. A group of the paper stands beside a group with the same words.";
        (n, words) in view.study.groups.iter().enumerate() =>
        words: Text = words.as_str(), documents: Count = here(n).documents, shingles: Count = here(n).shingles,
        documents_paper: Count = paper(words).map(|of| of.1), shingles_paper: Count = paper(words).map(|of| of.2))
}

/// The n of each ratio, with the least and the greatest share of the shingles that a class takes.
fn taken(view: &View<'_>) -> Vec<(u32, f64, f64)> {
    let all = view.whole(Scope::All).shingles;
    let of = |ratio: &RatioTrials<'_>| {
        let shares = ratio.trials.iter();
        let shares = shares.map(|trial| trial.sizes(Scope::All).sampled as f64 / all as f64);
        let shares = Moments::of(&shares.collect::<Vec<_>>())?;
        Some((ratio.n, shares.least, shares.greatest))
    };
    let ratios = view.sampled_ratios().filter(|_| all > 0);
    ratios.filter_map(of).collect()
}

fn section_4_4(view: &View<'_>) -> Exhibit {
    let usual = usual(view);
    let precision = |ratio: &RatioTrials<'_>| ratio.precision(Scope::All, PairKind::All, usual);
    let rows = view.sampled_ratios().map(precision).zip(taken(view));
    let rows = rows.map(|(spread, taken)| (spread.moments, taken));
    let about = format!(
        "Share of the shingles that a class takes, and precision over all pairs at threshold {}, over the classes of each \
         ratio. The paper says that both differ only slightly, without printing numbers.",
        view.threshold(usual)
    );
    exhibit!("section-4.4", "Section 4.4", "The classes of a ratio", about;
        (precision, (n, least, most)) in rows =>
        ratio: Text = format!("1/{n}"), least_taken: Share = least, most_taken: Share = most,
        precision: Number(3) = precision.map(|of| of.mean), least_precision: Number(3) = precision.map(|of| of.least),
        greatest_precision: Number(3) = precision.map(|of| of.greatest),
        deviation: Number(3) = precision.map(|of| of.deviation))
}

/// Figures 2 and 3.
fn by_threshold(view: &View<'_>, metric: Metric) -> Exhibit {
    let drawn = view
        .sampled_ratios()
        .filter(|ratio| ratio.n == COARSE || metric == Metric::Precision && ratio.n == 4);
    let scopes: Vec<Scope> = view.scopes().collect();
    let rows = pairs(pairs(drawn, scopes), view.thresholds().iter().enumerate());
    let rows = rows.map(|((ratio, scope), (place, threshold))| {
        let paper = match scope {
            _ if place != usual(view) || ratio.n != COARSE => None,
            Scope::All => Some(0.70),
            Scope::Group(0) => Some(0.57),
            Scope::Group(_) => None,
        };
        let name = format!("1/{}, {} words", ratio.n, view.words(scope));
        let mean = average(ratio, metric, scope, place);
        (name, threshold.to_f64(), mean, paper)
    });
    let figure = match metric {
        Metric::Precision => exhibit!("figure-2", "Figure 2", "Precision by threshold",
            "Mean precision over the classes of a ratio: over all pairs, and over the pairs within each size group. The \
             paper draws 1/4 (a) and 1/16 (b), and prints two values of 1/16.";
            (name, threshold, mean, paper) in rows =>
            ratio_and_words: Text = name, threshold: Number(2) = threshold,
            precision: Number(3) = mean, precision_paper: Number(2) = paper),
        Metric::Recall => exhibit!("figure-3", "Figure 3", "Recall by threshold",
            "Mean recall over the classes of a ratio: over all pairs, and over the pairs within each size group. The paper \
             draws 1/16, without printing values.";
            (name, threshold, mean, _) in rows =>
            ratio_and_words: Text = name, threshold: Number(2) = threshold,
            recall: Number(3) = mean, recall_paper: Number(2) = None::<f64>),
    };
    figure.lines("threshold", &[metric.text()], Some("ratio_and_words"))
}

fn figure_4(view: &View<'_>, plans: &[GroupRatios]) -> Exhibit {
    let paper = |plan: &GroupRatios| match (&view.threshold(plan.threshold)[..], plan.target) {
        ("0.6", 80) => Some(0.08),
        ("0.85", 85) => Some(0.0555),
        _ => None,
    };
    exhibit!("figure-4", "Figure 4", "Shingles to process for a required precision",
        "Share of the shingles: adaptive sampling, with the coarsest ratio that reaches the precision in each size group; \
         uniform sampling, with the coarsest one that reaches it over all pairs; and the fewest shingles of any choice of \
         ratios that reaches it, known afterwards.";
        plan in plans =>
        threshold: Text = view.threshold(plan.threshold), precision: Number(2) = f64::from(plan.target) / 100.0,
        adaptive: Share = plan.share, uniform: Share = plan.uniform_share, lower_limit: Share = plan.least_share,
        adaptive_paper: Share = paper(plan))
    .lines("precision", &["adaptive", "uniform", "lower_limit"], Some("threshold"))
    .decades(false, true)
}

/// Combinations of a threshold and a precision for which adaptive sampling takes fewer shingles
/// than uniform sampling, as many, and more; the size group that adds most in the last ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cases {
    fewer: u64,
    same: u64,
    more: u64,
    dearest: Option<String>,
}

fn cases(view: &View<'_>, plans: &[GroupRatios]) -> Cases {
    let mut cases = Cases::default();
    let mut dearest = vec![0u64; view.study.groups.len()];
    for plan in plans {
        let (Some(share), Some(uniform)) = (plan.share, plan.uniform_share) else {
            continue;
        };
        if !has_pairs(view, Scope::All, PairKind::All, plan.threshold) {
            continue;
        }
        match share - uniform {
            apart if apart < -ROUNDING => cases.fewer += 1,
            apart if apart <= ROUNDING => cases.same += 1,
            _ => cases.more += 1,
        }
        if let Some(count) = plan.dearest.and_then(|group| dearest.get_mut(group)) {
            *count += 1;
        }
    }
    let most = dearest.iter().zip(&view.study.groups);
    let most = most.max_by_key(|(n, _)| **n).filter(|(n, _)| **n > 0);
    cases.dearest = most.map(|(_, words)| words.clone());
    cases
}

// The claims. Each is a function of counts.

/// The shares of the variance that a straight line explains, and how far the slopes of its halves may
/// be apart.
const STRAIGHT: f64 = 0.95;
const BENT: f64 = 1.5;

fn sizes_follow_a_power_law(law: Option<PowerLaw>) -> Claim {
    let apart = |(a, b): (f64, f64)| !(1.0 / BENT..=BENT).contains(&(a / b));
    let halves = law.as_ref().and_then(|law| law.halves);
    let shown = halves.map_or_else(String::new, |(a, b)| {
        format!(", {a:.2} in the first half and {b:.2} in the second")
    });
    claim!("Section 4.2, Figure 1", "figure-1", "The sizes of documents follow a power law.";
        law in law => law.slope < 0.0 && law.explained >= STRAIGHT && !halves.is_some_and(apart),
        "The slope is {:.2}{shown}; the line explains {} of the variance.", law.slope, percent(law.explained, 1))
}

/// In group 0 and in all groups.
fn small_documents_have_few_shingles(documents: (u64, u64), shingles: (u64, u64)) -> Claim {
    let share = |(part, whole): (u64, u64)| (whole > 0).then(|| part as f64 / whole as f64);
    claim!("Section 6, Table 3", "table-3",
        "Most documents are small (68 % have fewer than 500 words), but they have few of the shingles (17 %).";
        (documents, shingles) in share(documents).zip(share(shingles)) => documents > 0.5 && shingles < 0.5,
        "The smallest group has {} of the documents and {} of the shingles.", percent(documents, 1), percent(shingles, 1))
}

/// The n of each ratio 1/n, with the least and the greatest share that a class takes.
fn ratios_are_kept(taken: &[(u32, f64, f64)]) -> Claim {
    let apart = taken.iter().map(|(n, least, most)| {
        let ratio = 1.0 / f64::from(*n);
        (ratio - least).abs().max((most - ratio).abs()) / ratio
    });
    claim!("Section 4.4", "section-4.4", "Each class takes the share of the shingles that its ratio says (within 5 %).";
        most in apart.reduce(f64::max) => most <= 0.05, "A class takes at most {} more or less.", percent(most, 1))
}

/// A deviation up to this is slight.
const SLIGHT: f64 = 0.05;

/// The n of each ratio 1/n, with the deviation of precision over its classes.
fn classes_are_alike(deviations: &[(u32, f64)]) -> Claim {
    claim!("Section 4.4", "section-4.4",
        "The precision of the classes of a ratio differs only slightly (deviation up to 0.05).";
        (n, deviation) in deviations.iter().max_by(|a, b| a.1.total_cmp(&b.1)) => *deviation <= SLIGHT,
        "The standard deviation is {deviation:.3} at 1/{n}, and not more at other ratios.")
}

/// The values at the lowest and the highest threshold, if these differ.
fn ends(along: &[f64]) -> Option<(f64, f64)> {
    let ends = along.first().copied().zip(along.last().copied());
    ends.filter(|_| along.len() > 1)
}

/// Mean precision at 1/16 by threshold, ascending.
fn precision_falls_with_the_threshold(along: &[f64]) -> Claim {
    claim!("Section 5.1, Figure 2", "figure-2", "Precision falls as the threshold rises.";
        (first, last) in ends(along) => last < first,
        "At 1/16 over all pairs, from {first:.2} at the lowest threshold to {last:.2} at the highest.")
}

/// The n of each ratio 1/n with its mean precision, the finest ratio first.
fn precision_falls_with_the_ratio(ratios: &[(u32, f64)]) -> Claim {
    let known = Some(ratios).filter(|ratios| ratios.len() > 1);
    claim!("Section 5.3", "figure-2", "Precision falls with the sampling ratio.";
        ratios in known => ratios.windows(2).all(|pair| pair[1].1 <= pair[0].1 + ROUNDING),
        "Mean precision over all pairs at the threshold nearest 0.85: {}.",
        listed(", ", ratios, |(n, mean)| format!("1/{n} {mean:.2}")))
}

/// Mean precision at 1/16 of each size group, the smallest documents first.
fn small_documents_suffer(groups: &[Option<f64>]) -> Claim {
    let first = groups.first().copied().flatten();
    let others: Vec<f64> = groups.iter().skip(1).flatten().copied().collect();
    let mean = (!others.is_empty()).then(|| mean(others));
    claim!("Section 5.1, Figure 2(b)", "figure-2",
        "Sampling hurts the precision of small documents more than that of large ones.";
        (first, others) in first.zip(mean) => first < others,
        "At 1/16 and the threshold nearest 0.85: {first:.2} in the group of the smallest documents, {others:.2} in the \
         mean of the other groups.";
        else "There are not enough size groups with pairs.")
}

/// The lowest mean recall at 1/16 of any size group and threshold.
fn recall_stays_high(least: Option<f64>) -> Claim {
    claim!("Section 5.2, Figure 3", "figure-3",
        "Even at 1/16, recall is above 0.6 in every size group and at every threshold.";
        least in least => least > 0.6, "The lowest is {least:.2}.")
}

/// Mean recall at 1/16 by threshold, ascending.
fn recall_depends_little_on_the_threshold(along: &[f64]) -> Claim {
    claim!("Section 5.2, Figure 3", "figure-3", "Recall hardly falls as the threshold rises (by at most 0.1).";
        (first, last) in ends(along) => first - last <= 0.1,
        "Over all pairs, from {first:.2} at the lowest threshold to {last:.2} at the highest.")
}

fn adaptive_takes_fewer(cases: Cases) -> Claim {
    let all = cases.fewer + cases.same + cases.more;
    let why = cases.dearest.as_ref().map_or_else(String::new, |words| {
        format!(
            " Where it takes more, a group needs a finer ratio for itself than all pairs together do, most often the \
             group of {words} words."
        )
    });
    claim!("Section 6, Figure 4", "figure-4",
        "Adaptive sampling takes fewer shingles than one ratio for all, and never more.";
        cases in (all > 0).then_some(cases) => cases.fewer > 0 && cases.more == 0,
        "Of {} combinations of a threshold and a precision it takes fewer in {}, as many in {} and more in {}.{why}",
        count(all), count(cases.fewer), count(cases.same), count(cases.more))
}

#[cfg(test)]
mod tests {
    use super::super::model::assert_findings;
    use super::*;

    #[test]
    fn claims_about_the_collection() {
        let sizes = |of: &dyn Fn(f64) -> f64| -> Option<PowerLaw> {
            let sizes: Vec<(u64, u64)> = (1..5000).map(|n| (n, of(n as f64) as u64 + 1)).collect();
            power_law(&sizes)
        };
        let (law, straight) = (sizes(&|rank| 1e9 / rank), sizes(&|rank| 1e6 - 199.0 * rank));
        assert_findings([law, straight, None].map(sizes_follow_a_power_law));
        let small = |documents, shingles| small_documents_have_few_shingles(documents, shingles);
        let (most, few, none) = ((68, 100), (17, 100), (0, 0));
        assert_findings([small(most, few), small((30, 100), few), small(none, none)]);
    }

    #[test]
    fn claims_about_classes() {
        let half = (2, 0.499, 0.501);
        let (near, far) = ([half, (4, 0.249, 0.251)], [half, (4, 0.2, 0.3)]);
        assert_findings([&near[..], &far, &[]].map(ratios_are_kept));
        let (near, far) = ([(2, 0.01), (4, 0.04)], [(2, 0.01), (4, 0.4)]);
        assert_findings([&near[..], &far, &[]].map(classes_are_alike));
    }

    #[test]
    fn claims_about_precision_and_recall() {
        let along: [&[f64]; 3] = [&[0.9, 0.95, 0.3], &[0.9, 0.3, 0.95], &[0.9]];
        assert_findings(along.map(precision_falls_with_the_threshold));
        let ratios = |last| [(2, 0.9), (4, 0.8), (8, last)];
        let ratios = [&ratios(0.8)[..], &ratios(0.85), &[(2, 0.9)]];
        assert_findings(ratios.map(precision_falls_with_the_ratio));
        let groups = [(0.57, Some(0.9)), (0.95, Some(0.9)), (0.57, None)];
        let groups = groups.map(|(first, last)| [Some(first), None, last]);
        assert_findings(groups.map(|of| small_documents_suffer(&of)));
        assert_findings([Some(0.61), Some(0.6), None].map(recall_stays_high));
        let along: [&[f64]; 3] = [&[0.9, 0.85], &[0.9, 0.5], &[]];
        assert_findings(along.map(recall_depends_little_on_the_threshold));
    }

    #[test]
    fn claims_about_adaptive_sampling() {
        let cases = |fewer, more| Cases {
            fewer,
            same: 0,
            more,
            dearest: (more > 0).then(|| "0-499".into()),
        };
        assert_findings([cases(3, 0), cases(3, 1), cases(0, 0)].map(adaptive_takes_fewer));
        let why = adaptive_takes_fewer(cases(3, 1)).here;
        let end = "most often the group of 0-499 words.";
        assert!(why.ends_with(end), "{why}");
    }
}
