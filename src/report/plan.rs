//! A plan and a study as tables for readers.

use std::fmt::Write;

use crate::report::terminal::{Table, wrapped};
use lookalike_base::budget::ByteSize;
use lookalike_base::numbers::{self, count, counted, fraction};
use lookalike_lab::study::{MeanAndRange, Study, StudyComparison, StudyCost, comparison, saving};
use lookalike_store::workspace::Manifest;
use lookalike_tasks::plan::{Estimate, Evidence, PlanCost, Planned, PlannedGroup, Ratio};

use super::csv::{Csv, cell, text};

fn percent(share: f64) -> String {
    numbers::percent(share, 2)
}

fn estimated(estimate: Option<Estimate>) -> String {
    estimate.map_or("-".into(), |e| {
        format!(
            "{} ({} to {})",
            fraction(e.value, 3),
            fraction(e.low, 3),
            fraction(e.high, 3)
        )
    })
}

fn evidence(group: &PlannedGroup, groups: &[PlannedGroup]) -> String {
    let pairs = group.precision.or(group.recall).map_or(0, |e| e.pairs);
    match group.evidence {
        Evidence::Own => format!("{} of its own", counted(pairs, "pair")),
        Evidence::Pooled { first } => {
            let from = groups
                .get(usize::from(first))
                .map_or("", |group| &group.words);
            format!(
                "{}, pooled with the groups from {from} words",
                counted(pairs, "pair")
            )
        }
        Evidence::TooLittle => format!("too few pairs ({}): every fingerprint", count(pairs)),
    }
}

/// Expected CPU seconds from the collection to the pairs: of the exact run, and of the planned one.
/// The measured times are scaled to the records of the whole collection, and interpolated between
/// ratios by the number of records.
pub(crate) fn expected_seconds(planned: &Planned) -> (f64, f64) {
    let PlanCost { exact, trials, .. } = &planned.cost;
    let all: u64 = planned.plan.groups.iter().map(|group| group.shingles).sum();
    let factor = all as f64 / (exact.records as f64).max(1.0);
    let whole = exact.cpu_seconds * factor;
    let Some(coarsest) = trials.values().next_back() else {
        return (whole, whole);
    };
    let spread = (exact.records as f64 - coarsest.records as f64).max(1.0);
    let slope = (exact.cpu_seconds - coarsest.cpu_seconds).max(0.0) / spread;
    let records = planned.plan.share * exact.records as f64;
    let seconds = coarsest.cpu_seconds + slope * (records - coarsest.records as f64);
    (whole, seconds.max(0.0) * factor)
}

/// The plan as a table.
#[must_use]
pub fn plan(planned: &Planned, manifest: &Manifest) -> String {
    let plan = &planned.plan;
    let mut out = String::new();
    let target = &plan.config.target;
    let recall = target
        .recall
        .map_or(String::new(), |recall| format!(", recall {recall}"));
    let on = match &plan.config.subset {
        Some(subset) => format!(
            "a subset of {} (share {}, seed {})",
            counted(plan.documents, "document"),
            subset.share,
            subset.seed
        ),
        None => format!("all of {}", counted(plan.documents, "document")),
    };
    let _ = writeln!(
        out,
        "plan for precision {}{recall} at threshold {}, measured on {on}\n\n{:>10} {:>10} {:>13}  {:<6} {:<24} {:<24} measured on",
        target.precision,
        target.threshold,
        "words",
        "documents",
        "shingles",
        "ratio",
        "precision (90 % interval)",
        "recall (90 % interval)",
    );
    for group in &plan.groups {
        let _ = writeln!(
            out,
            "{:>10} {:>10} {:>13}  {:<6} {:<25} {:<24} {}",
            group.words,
            group.documents,
            group.shingles,
            group.ratio.to_string(),
            estimated(group.precision),
            estimated(group.recall),
            evidence(group, &plan.groups),
        );
    }
    let share_of = |ratio: Ratio| percent(1.0 / f64::from(ratio.0));
    let _ = writeln!(
        out,
        "\nshingles to process                          {}",
        percent(plan.share)
    );
    let _ = writeln!(
        out,
        "one ratio for all, target met in each group  {} ({})\none ratio for all, target met over all pairs {} ({})",
        share_of(plan.uniform),
        plan.uniform,
        share_of(plan.uniform_overall),
        plan.uniform_overall,
    );
    let (exact, sampled) = expected_seconds(planned);
    let reading = ["ingest", "catalogue"]
        .iter()
        .filter_map(|stage| manifest.costs.get(*stage))
        .fold(0.0, |sum, cost| sum + cost.cpu_seconds);
    let _ = writeln!(
        out,
        "\nCPU seconds: reading took {reading:.1}. After that, an exact run takes about {exact:.1} and this plan about {sampled:.1}."
    );
    let better = "An exact run is better value: its precision and recall are 1.";
    let _ = match saving(reading, exact, sampled) {
        None => writeln!(out, "These times are too short to compare. {better}"),
        Some((saved, worth)) => writeln!(
            out,
            "Sampling saves {} of a whole run here.{}{}",
            numbers::percent(saved, 0),
            if worth { "" } else { " " },
            if worth { "" } else { better }
        ),
    };
    out
}

/// The study as a table for a terminal of this number of columns: precision and recall over all
/// pairs and the cost of each run.
#[must_use]
pub fn study(study: &Study, cost: &StudyCost, width: usize) -> String {
    let mut out = String::new();
    let comparison = comparison(study, cost);
    let title = format!(
        "Precision and recall at threshold {}, over all pairs: mean, least\u{2013}greatest of the classes",
        comparison.threshold
    );
    wrapped(&title, width, &mut out);
    out.push('\n');
    let columns = "run,shingles,precision,recall,pairs,verified,CPU s";
    let mut table = Table::new(columns.split(','));
    let number = |n: f64| match n {
        0.0 => "-".into(),
        n => format!("{n:.0}"),
    };
    for row in &comparison.rows {
        let seconds = row.cpu_seconds;
        table.row(vec![
            row.name.clone(),
            percent(row.share),
            spread(row.precision),
            spread(row.recall),
            number(row.found),
            number(row.looked_up),
            seconds.map_or("-".into(), |seconds| format!("{seconds:.2}")),
        ]);
    }
    table.print(width, &mut out).print(width, &mut out);
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
    let adaptive = super::figures::adaptive(study).map(|adaptive| adaptive.sentences());
    let adaptive = adaptive.map_or_else(|_| String::new(), |sentences| sentences.join(" "));
    for text in [key, adaptive, comparison.verdict, costs] {
        if !text.is_empty() {
            out.push('\n');
            wrapped(&text, width, &mut out);
        }
    }
    out
}

/// The runs of a study as CSV: a line for each, with all its numbers.
#[must_use]
pub fn study_csv(comparison: &StudyComparison) -> String {
    let mut table = Csv::new(
        "run,threshold,share,precision_mean,precision_least,precision_greatest,recall_mean,\
         recall_least,recall_greatest,found,looked_up,nothing_sampled,cpu_seconds",
    );
    for row in &comparison.rows {
        let mut line = vec![
            row.name.clone(),
            text(comparison.threshold),
            text(row.share),
        ];
        for spread in [row.precision, row.recall] {
            let each = [
                spread.map(|s| s.mean),
                spread.map(|s| s.least),
                spread.map(|s| s.greatest),
            ];
            line.extend(each.map(cell));
        }
        line.extend([row.found, row.looked_up, row.nothing_sampled].map(text));
        line.push(cell(row.cpu_seconds));
        table.line(line);
    }
    table.finish()
}

fn spread(spread: Option<MeanAndRange>) -> String {
    let number = |value: f64| fraction(value, 3);
    match spread {
        None => "-".into(),
        Some(s) if s.least == s.greatest => number(s.mean),
        Some(s) => format!(
            "{} {}\u{2013}{}",
            number(s.mean),
            number(s.least),
            number(s.greatest)
        ),
    }
}
