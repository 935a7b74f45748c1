//! A study as tables for readers, and as one with every number.

use crate::report::csv::csv;
use crate::report::grid::{Grid, three};
use crate::reproduce::cells;
use crate::study::{
    Adaptive, GroupRatios, Metric, Moments, Study, StudyComparison, StudyCost, View, comparison,
    ratio_name,
};
use lookalike::report::terminal::wrapped;
use lookalike::report::wording::group_name;
use lookalike_base::{Result, budget::ByteSize, count, counted};

/// The study as tables for a terminal of this number of columns: the ratio of each size group, and
/// precision and recall over all pairs and the cost of each run.
///
/// # Errors
/// If the study's tables do not match its ratios, groups and thresholds.
pub fn study(study: &Study, cost: &StudyCost, width: usize) -> Result<String> {
    let mut out = String::new();
    let view = View::new(study)?;
    let (comparison, adaptive) = (comparison(study, cost)?, Adaptive::of(&view));
    if let Some(ratios) = ratios(&adaptive, &view) {
        ratios.print(width, &mut out);
        out.push('\n');
    }
    wrapped(&adaptive.sentences().join(" "), width, &mut out);
    out.push('\n');
    let mut runs = runs(&comparison);
    for row in std::iter::once(&mut runs.head).chain(&mut runs.rows) {
        row.pop();
    }
    runs.print(width, &mut out);
    let key = format!(
        "verified: pairs checked in the full sets, so that precision is 1. CPU s: CPU seconds from the \
         collection to the pairs at {}, the lowest threshold.",
        comparison.lowest
    );
    let costs = format!(
        "{} in {:.1} s ({:.0} per minute), {:.1} CPU s, peak {}",
        counted(cost.count, "trial"),
        cost.wall_seconds,
        cost.count as f64 * 60.0 / cost.wall_seconds.max(f64::MIN_POSITIVE),
        cost.cpu_seconds,
        ByteSize(cost.peak_bytes),
    );
    for text in [key, comparison.verdict, costs] {
        out.push('\n');
        wrapped(&text, width, &mut out);
    }
    Ok(out)
}

/// The ratio of each size group for some precisions, and the share of the shingles that they take
/// (Ye, Wen & Ma 2008, section 6); `None` if there is nothing to compare.
pub(super) fn ratios(adaptive: &Adaptive, view: &View) -> Option<Grid> {
    let threshold = adaptive.threshold?;
    let targets = (!adaptive.targets.is_empty()).then_some(&adaptive.targets)?;
    let row =
        |name: &str, of: &dyn Fn(&GroupRatios) -> String| Grid::row(name, targets.iter().map(of));
    let groups = view.study.groups.iter().enumerate();
    let mut rows: Vec<_> = groups
        .map(|(n, words)| {
            let ratio = |at: &GroupRatios| ratio_name(at.groups.get(n).copied().unwrap_or(1));
            row(&(group_name(words) + " words"), &ratio)
        })
        .collect();
    rows.extend([
        row("one ratio for all", &|at| ratio_name(at.uniform)),
        row("shingles, ratio by group", &|at| three(at.share)),
        row("shingles, one ratio", &|at| three(at.uniform_share)),
        row("shingles, lower limit", &|at| three(at.least_share)),
    ]);
    Some(Grid {
        title: format!("Ratio by size group for a mean precision at threshold {threshold}"),
        head: row("size group", &|at| format!("precision 0.{}", at.target)),
        rows,
    })
}

/// Exact, sampled, verified and planned runs side by side.
pub(super) fn runs(comparison: &StudyComparison) -> Grid {
    let mean = |n: f64| match n {
        0.0 => "-".into(),
        n => count(n.round() as u64),
    };
    let rows = comparison.rows.iter().map(|row| {
        let seconds = row.cpu_seconds;
        vec![
            row.name.clone(),
            three(row.share),
            spread(row.precision),
            spread(row.recall),
            mean(row.found),
            mean(row.looked_up),
            seconds.map_or("-".into(), |seconds| format!("{seconds:.2}")),
            mean(row.nothing_sampled),
        ]
    });
    Grid {
        title: format!(
            "Precision and recall at threshold {}, over all pairs: mean, least\u{2013}greatest of the classes",
            comparison.threshold
        ),
        head: Grid::names("run,shingles,precision,recall,pairs,verified,CPU s,not sampled"),
        rows: rows.collect(),
    }
}

/// The mean precision or recall of each size group and ratio at a threshold.
pub(super) fn by_group(view: &View, metric: Metric, threshold: usize) -> Grid {
    let rows = view.scopes().map(|scope| {
        let each = view.sampled_ratios().map(|ratio| {
            let spread = ratio.spread(metric, scope, scope.pairs(), threshold);
            spread.mean().map_or("-".into(), three)
        });
        Grid::row(group_name(view.words(scope)), each)
    });
    let ratios = view.sampled_ratios().map(|ratio| ratio.name());
    Grid {
        title: format!(
            "Mean {metric} by size group at threshold {}",
            view.threshold(threshold)
        ),
        head: Grid::row("words", ratios),
        rows: rows.collect(),
    }
}

/// The runs of a study as CSV: a line for each, with all its numbers.
pub fn study_csv(comparison: &StudyComparison) -> String {
    let columns = "run,threshold,share,precision_mean,precision_least,precision_greatest,recall_mean,\
                   recall_least,recall_greatest,found,looked_up,nothing_sampled,cpu_seconds";
    // The shortest texts that give the same numbers when they are read.
    let text = |of: f64| of.to_string();
    let rows = comparison.rows.iter().map(|row| {
        let spreads = [row.precision, row.recall].into_iter().flat_map(|spread| {
            let of = |of: fn(Moments) -> f64| spread.map(of).map(text);
            [of(|s| s.mean), of(|s| s.least), of(|s| s.greatest)]
        });
        let numbers = [row.found, row.looked_up, row.nothing_sampled].map(Some);
        let numbers = numbers.into_iter().chain([row.cpu_seconds]);
        let all = spreads.chain(numbers.map(|n| n.map(text)));
        let threshold = comparison.threshold.to_string();
        cells![row.name.as_str(), threshold, text(row.share); all]
    });
    csv(columns, rows)
}

fn spread(spread: Option<Moments>) -> String {
    match spread {
        None => "-".into(),
        Some(s) if s.least == s.greatest => three(s.mean),
        Some(s) => format!(
            "{} {}\u{2013}{}",
            three(s.mean),
            three(s.least),
            three(s.greatest)
        ),
    }
}
