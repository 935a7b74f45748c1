//! A study as a table for readers, and as one with every number.

use crate::report::csv::{Csv, cell, text};
use crate::study::{MeanAndRange, Study, StudyComparison, StudyCost, comparison};
use lookalike::report::terminal::{Table, wrapped};
use lookalike_base::budget::ByteSize;
use lookalike_base::numbers::{self, counted, fraction};

fn percent(share: f64) -> String {
    numbers::percent(share, 2)
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
