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

use super::model::{mean, pairs};
use super::published::{Measured, Rows};
use super::{Bench, Cell, cells, rows, table};
use crate::study::{
    self, Adaptive, Metric, Moments, PairKind, PowerLaw, ROUNDING, RatioTrials, Scope, StudyConfig,
    USUAL, View, plans, power_law,
};
use lookalike_base::{Result, listed};
use lookalike_engine::collection::each_document;

/// The n of the ratio of Figures 2(b) and 3.
const COARSE: u32 = 16;

/// Measures the rows of the tables and the values of the claims.
pub(super) fn reproduce(bench: &mut Bench<'_>, made: &mut Measured) -> Result<()> {
    bench.note("sampled runs of every class")?;
    let context = bench.context();
    let (study, _) = study::run(&mut bench.base, &StudyConfig::default(), &context)?;
    let view = View::new(&study)?;
    let plans = plans(&view);
    made.table("table-2", table_2(bench)?);
    table!(made, "figure-1", (rank, words) in &study.sizes => *rank, *words);
    let groups = study.groups.iter().enumerate();
    let groups = groups.map(|(n, words)| (words, view.whole(Scope::Group(n))));
    table!(made, "table-3", (words, of) in groups => words.as_str(), of.documents, of.shingles);
    section_4_4(&view, made);
    made.table("figure-2", by_threshold(&view, Metric::Precision));
    made.table("figure-3", by_threshold(&view, Metric::Recall));
    table!(made, "figure-4", plan in &plans =>
        view.threshold(plan.threshold), f64::from(plan.target) / 100.0, plan.share,
        plan.uniform_share, plan.least_share);
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
    let share = |part: u64, whole: u64| part as f64 / whole as f64;
    made.claim("power law", power(power_law(&study.sizes)));
    let documents = share(first.documents, all.documents);
    let shares = cells![documents, share(first.shingles, all.shingles)];
    made.claim("small documents", shares);
    made.claim("ratios are kept", farthest(&taken(&view)));
    made.claim("classes are alike", widest(&deviations));
    made.claim("precision by threshold", ends(&along(Metric::Precision)));
    made.claim("precision by ratio", by_ratio(&means));
    let of_groups: Vec<Option<f64>> = of_groups.collect();
    made.claim(
        "precision of small documents",
        smallest_and_others(&of_groups),
    );
    made.claim("least recall", cells![recalls.reduce(f64::min)]);
    made.claim("recall by threshold", ends(&along(Metric::Recall)));
    made.claim("adaptive sampling", combinations(&Adaptive::of(&view)));
    Ok(())
}

/// The place of the threshold at which the paper prints values.
fn usual(view: &View<'_>) -> usize {
    view.study.config.nearest(USUAL).unwrap_or(0)
}

/// The mean over the classes of a ratio. The paper ran each group by itself, and the whole
/// collection.
fn average(ratio: &RatioTrials<'_>, metric: Metric, scope: Scope, place: usize) -> Option<f64> {
    ratio.spread(metric, scope, scope.pairs(), place).mean()
}

fn table_2(bench: &Bench<'_>) -> Result<Rows> {
    let (mut documents, mut bytes, mut words) = (0u64, 0, 0);
    each_document(&bench.base, |_, document| {
        documents += 1;
        bytes += document.length;
        words += document.words;
        Ok(())
    })?;
    let each = documents.max(1);
    let values = [
        ("documents", documents),
        ("bytes", bytes),
        ("bytes per document", bytes / each),
        ("words per document", words / each),
    ];
    Ok(rows!((value, here) in values => value, here))
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

fn section_4_4(view: &View<'_>, made: &mut Measured) {
    let usual = usual(view);
    let precision = |ratio: &RatioTrials<'_>| ratio.precision(Scope::All, PairKind::All, usual);
    let rows = view.sampled_ratios().map(precision).zip(taken(view));
    let rows = rows.map(|(spread, taken)| (spread.moments, taken));
    let rows = rows!((precision, (n, least, most)) in rows =>
        format!("1/{n}"), least, most, precision.map(|of| of.mean), precision.map(|of| of.least),
        precision.map(|of| of.greatest), precision.map(|of| of.deviation));
    made.table_about("section-4.4", cells![view.threshold(usual)], rows);
}

/// Figures 2 and 3.
fn by_threshold(view: &View<'_>, metric: Metric) -> Rows {
    let drawn = view
        .sampled_ratios()
        .filter(|ratio| ratio.n == COARSE || metric == Metric::Precision && ratio.n == 4);
    let scopes: Vec<Scope> = view.scopes().collect();
    let name = |n: u32, scope| format!("1/{n}, {} words", view.words(scope));
    rows!(((ratio, scope), (place, threshold)) in pairs(pairs(drawn, scopes), view.thresholds().iter().enumerate()) =>
        name(ratio.n, scope), threshold.to_f64(), average(ratio, metric, scope, place))
}

// The values of the claims. Each is a function of counts.

/// Slope, slopes of the halves, explained share of the variance, and how the slopes of the halves
/// relate.
fn power(law: Option<PowerLaw>) -> Vec<Cell> {
    let halves = law.and_then(|law| law.halves);
    let shown = halves.map_or_else(String::new, |(a, b)| {
        format!(", {a:.2} in the first half and {b:.2} in the second")
    });
    let bend = halves.map_or(1.0, |(a, b)| a / b);
    let (slope, explained) = law.map(|law| (law.slope, law.explained)).unzip();
    cells![slope, shown, explained, bend]
}

/// How far the share that a class takes is from its ratio, at most. `taken` has the n of each ratio
/// 1/n, with the least and the greatest share.
fn farthest(taken: &[(u32, f64, f64)]) -> Vec<Cell> {
    let apart = taken.iter().map(|(n, least, most)| {
        let ratio = 1.0 / f64::from(*n);
        (ratio - least).abs().max((most - ratio).abs()) / ratio
    });
    cells![apart.reduce(f64::max)]
}

/// The greatest deviation of precision over the classes of a ratio, with its n.
fn widest(deviations: &[(u32, f64)]) -> Vec<Cell> {
    let most = deviations.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    cells![most.map(|(_, deviation)| *deviation), most.map(|(n, _)| *n)]
}

/// The values at the lowest and the highest threshold, if these differ, and their difference.
fn ends(along: &[f64]) -> Vec<Cell> {
    let ends = along.first().zip(along.last());
    let ends = ends.filter(|_| along.len() > 1);
    cells![
        ends.map(|of| *of.0),
        ends.map(|of| *of.1),
        ends.map(|(first, last)| first - last)
    ]
}

/// Mean precision by ratio, and the greatest rise from one to the next. `ratios` has the n of each
/// ratio 1/n, the finest first.
fn by_ratio(ratios: &[(u32, f64)]) -> Vec<Cell> {
    let shown = listed(", ", ratios, |(n, mean)| format!("1/{n} {mean:.2}"));
    let falls = |pair: &[(u32, f64)]| pair[1].1 <= pair[0].1 + ROUNDING;
    let all = (ratios.len() > 1).then(|| ratios.windows(2).all(falls));
    cells![shown, all]
}

/// The value of the group with the smallest documents, and the mean of the other groups.
fn smallest_and_others(groups: &[Option<f64>]) -> Vec<Cell> {
    let others = groups.iter().skip(1).flatten().copied();
    cells![groups.first().copied().flatten(), mean(others)]
}

/// All combinations, and those of each case.
fn combinations(of: &Adaptive) -> Vec<Cell> {
    let [fewer, same, more] = of.cases;
    let all = fewer + same + more;
    let why = of.dearest.first().map_or_else(String::new, |(words, _)| {
        format!(
            " Where it takes more, a group needs a finer ratio for itself than all pairs together do, most often the \
             group of {words} words."
        )
    });
    let never_more = (all > 0).then_some(fewer > 0 && more == 0);
    cells![all, fewer, same, more, why, never_more]
}

#[cfg(test)]
mod tests {
    use super::super::Paper::Ye2008;
    use super::super::published::{Published, assert_findings};
    use super::*;

    #[test]
    fn the_papers_table_adds_up_as_the_paper_says() {
        let published = Published::of(Ye2008).unwrap();
        let rows = published.rows("table-3");
        let sum = |n: usize| rows.iter().filter_map(|row| row[n].number()).sum::<f64>();
        // Section 4.2; section 6: 68 % of the documents and 17 % of the shingles in group 0.
        let sums = [1, 2].map(|n| sum(n) as u64);
        assert_eq!(sums[0], 958_725);
        assert_eq!(651_983 * 100 / sums[0], 68);
        assert_eq!(118_247_397 * 100 / sums[1], 17);
    }

    #[test]
    fn claims_about_the_collection() {
        let sizes = |of: &dyn Fn(f64) -> f64| -> Option<PowerLaw> {
            let sizes: Vec<(u64, u64)> = (1..5000).map(|n| (n, of(n as f64) as u64 + 1)).collect();
            power_law(&sizes)
        };
        let (law, straight) = (sizes(&|rank| 1e9 / rank), sizes(&|rank| 1e6 - 199.0 * rank));
        assert_findings(Ye2008, "power law", [law, straight, None].map(power));
        let shares = [(0.68, 0.17), (0.3, 0.17), (f64::NAN, f64::NAN)];
        let shares = shares.map(|(documents, shingles)| cells![documents, shingles]);
        assert_findings(Ye2008, "small documents", shares);
    }

    #[test]
    fn claims_about_classes() {
        let half = (2, 0.499, 0.501);
        let (near, far) = ([half, (4, 0.249, 0.251)], [half, (4, 0.2, 0.3)]);
        let taken = [&near[..], &far, &[]].map(farthest);
        assert_findings(Ye2008, "ratios are kept", taken);
        let (near, far) = ([(2, 0.01), (4, 0.04)], [(2, 0.01), (4, 0.4)]);
        let deviations = [&near[..], &far, &[]].map(widest);
        assert_findings(Ye2008, "classes are alike", deviations);
    }

    #[test]
    fn claims_about_precision_and_recall() {
        let along: [&[f64]; 3] = [&[0.9, 0.95, 0.3], &[0.9, 0.3, 0.95], &[0.9]];
        assert_findings(Ye2008, "precision by threshold", along.map(ends));
        let ratios = |last| [(2, 0.9), (4, 0.8), (8, last)];
        let ratios = [&ratios(0.8)[..], &ratios(0.85), &[(2, 0.9)]];
        assert_findings(Ye2008, "precision by ratio", ratios.map(by_ratio));
        let groups = [(0.57, Some(0.9)), (0.95, Some(0.9)), (0.57, None)];
        let groups = groups.map(|(first, last)| smallest_and_others(&[Some(first), None, last]));
        assert_findings(Ye2008, "precision of small documents", groups);
        let least = [Some(0.61), Some(0.6), None].map(|least| cells![least]);
        assert_findings(Ye2008, "least recall", least);
        let along: [&[f64]; 3] = [&[0.9, 0.85], &[0.9, 0.5], &[]];
        assert_findings(Ye2008, "recall by threshold", along.map(ends));
    }

    #[test]
    fn claims_about_adaptive_sampling() {
        let cases = |fewer, more: u64| Adaptive {
            cases: [fewer, 0, more],
            dearest: (more > 0)
                .then(|| ("0-499".into(), more))
                .into_iter()
                .collect(),
            threshold: None,
            targets: Vec::new(),
            beaten: 0,
        };
        let of = [cases(3, 0), cases(3, 1), cases(0, 0)];
        let of = of.each_ref().map(combinations);
        let here = assert_findings(Ye2008, "adaptive sampling", of);
        let end = "most often the group of 0-499 words.";
        assert!(here[1].ends_with(end), "{here:?}");
    }
}
