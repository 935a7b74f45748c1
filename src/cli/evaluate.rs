//! `evaluate`: precision and recall of a run.

use std::fmt::Write;
use std::process::ExitCode;

use lookalike::Result;
use lookalike::evaluate::{
    EvaluateConfig, Evaluation, ListFile, ListReport, Measured, Sample, Scores, evaluate,
};
use lookalike::ids::Threshold;
use lookalike::numbers::{self, counted};
use lookalike::store::disk;

use super::args::{EvaluateOptions, MeansOptions};
use super::run::with_context;

pub fn run(options: &EvaluateOptions) -> Result<ExitCode> {
    let list = |path: &std::path::PathBuf, own: &Option<_>| ListFile {
        // A directory has columns of its own; those of both lists are for the other.
        columns: own.clone().or_else(|| {
            let both = options.columns.clone();
            both.filter(|_| !matches!(disk::is_directory(path), Ok(true)))
        }),
        path: path.clone(),
    };
    let config = EvaluateConfig {
        truth: options
            .truth
            .as_ref()
            .map(|path| list(path, &options.truth_columns)),
        run: list(&options.run, &options.run_columns),
        documents: options.documents.clone(),
        thresholds: options.thresholds.clone(),
        judged: options.judged.clone(),
        families: options.families.clone(),
        scratch: options.scratch.clone().unwrap_or_else(std::env::temp_dir),
    };
    let means = MeansOptions {
        memory: options.memory,
        threads: Some(1),
        ignore_disk_space: true,
        scratch: None,
        quiet: options.quiet,
        json: options.json,
    };
    with_context(&means, |context| {
        let evaluation = evaluate(&config, context)?;
        for note in &evaluation.notes {
            context.progress.note(&format!("warning: {note}"));
        }
        super::say(&if options.json {
            super::json(&evaluation)?
        } else {
            table(&evaluation)
        })?;
        Ok(ExitCode::SUCCESS)
    })
}

/// The report for people.
fn table(evaluation: &Evaluation) -> String {
    let mut out = String::new();
    if let Some(truth) = &evaluation.truth {
        list(&mut out, "truth", truth);
    }
    list(&mut out, "run", &evaluation.run);
    let at = |threshold: Option<Threshold>| threshold.map_or("all".into(), |t| t.to_string());

    let mut rows = Vec::new();
    let many = evaluation
        .pairs
        .iter()
        .any(|pairs| pairs.representatives.is_some());
    for pairs in &evaluation.pairs {
        let at = at(pairs.threshold);
        if let Some(representatives) = &pairs.representatives {
            rows.push(row(["representatives", &at], &representatives.all));
        }
        rows.push(row(["documents", &at], &pairs.documents.all));
    }
    if let Some(clusters) = &evaluation.clusters {
        rows.push(row(["in one cluster", "-"], clusters));
    }
    if !rows.is_empty() {
        rows.insert(0, header(["pairs of", "at"]));
        columns(&mut out, &rows, 2);
    }
    for pairs in &evaluation.pairs {
        let shown = pairs.representatives.as_ref().unwrap_or(&pairs.documents);
        let mut rows = vec![header(["words of the smaller", "of the larger"])];
        for group in &shown.groups {
            for (which, measured) in [("same", &group.same), ("more", &group.cross)] {
                if measured.true_pairs + measured.found > 0 {
                    rows.push(row([&group.words, which], measured));
                }
            }
        }
        if rows.len() > 1 {
            let what = if many { "representatives" } else { "documents" };
            let at = pairs
                .threshold
                .map_or(String::new(), |t| format!(" at {t}"));
            let _ = write!(out, "\npairs of {what}{at}, by size group");
            columns(&mut out, &rows, 2);
        }
    }
    let samples = [
        ("judged", &evaluation.judged),
        ("families", &evaluation.families),
    ];
    let mut rows = Vec::new();
    for (what, sample) in samples {
        if let Some(Sample {
            true_pairs,
            at: by_threshold,
            ..
        }) = sample
        {
            for sample in by_threshold {
                rows.push(vec![
                    what.to_string(),
                    at(sample.threshold),
                    true_pairs.to_string(),
                    (sample.true_found + sample.false_found).to_string(),
                    sample.true_found.to_string(),
                    fraction(sample.coverage),
                    fraction(sample.density),
                    fraction(sample.average_precision),
                ]);
            }
        }
    }
    if !rows.is_empty() {
        let names = [
            "sample",
            "at",
            "true",
            "found",
            "correct",
            "coverage",
            "density",
            "average precision",
        ];
        rows.insert(0, names.map(String::from).to_vec());
        columns(&mut out, &rows, 2);
    }
    out
}

/// What there is of a list.
fn list(out: &mut String, what: &str, list: &ListReport) {
    let scores = match list.scores {
        Scores::None => "no resemblances",
        Scores::Integers => "resemblances in integers",
        Scores::Decimals => "resemblances in decimals",
    };
    let _ = write!(out, "{what:<7}{}", list.path.display());
    if let Some(counts) = &list.counts {
        let _ = write!(out, ": {}, {scores}", counted(counts.pairs, "pair"));
        for (n, what) in [
            (counts.repeated, "repeated"),
            (counts.to_themselves, "of a document with itself"),
            (counts.unknown, "unknown"),
            (counts.identical, "of identical documents"),
        ] {
            if n > 0 {
                let _ = write!(out, ", {n} {what}");
            }
        }
    }
    out.push('\n');
}

fn header(first: [&str; 2]) -> Vec<String> {
    let rest = [
        "true",
        "found",
        "correct",
        "wrong",
        "missed",
        "precision",
        "recall",
        "F1",
    ];
    first.into_iter().chain(rest).map(String::from).collect()
}

fn row(first: [&str; 2], measured: &Measured) -> Vec<String> {
    let counts = measured.counts;
    let mut cells: Vec<String> = first.into_iter().map(String::from).collect();
    let numbers = [
        measured.true_pairs,
        measured.found,
        counts.correct,
        counts.wrong,
        counts.missed,
    ];
    cells.extend(numbers.map(|n| n.to_string()));
    cells.extend([measured.precision, measured.recall, measured.f1].map(fraction));
    cells
}

/// Four decimals; `-` where it is undefined.
fn fraction(share: Option<f64>) -> String {
    share.map_or("-".into(), |share| numbers::fraction(share, 4))
}

/// Rows as aligned columns, the first `left` of them to the left, after an empty line.
pub(super) fn columns(out: &mut String, rows: &[Vec<String>], left: usize) {
    let count = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    out.push('\n');
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            let _ = if column < left {
                write!(line, "{gap}{cell:<width$}")
            } else {
                write!(line, "{gap}{cell:>width$}")
            };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}
