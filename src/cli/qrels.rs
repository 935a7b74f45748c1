//! `qrels`: relevance judgements against clusters.

use std::fmt::Write;
use std::process::ExitCode;

use lookalike::Result;
use lookalike::evaluate::qrels::{
    FileCounts, QrelsConfig, QrelsReport, TopicCounts, run as compare,
};
use lookalike::numbers::counted;

use super::args::{MeansOptions, QrelsOptions};
use super::evaluate::columns;
use super::run::with_context;

pub fn run(options: &QrelsOptions) -> Result<ExitCode> {
    let config = QrelsConfig {
        qrels: options.qrels.clone(),
        clusters: options.clusters.clone(),
        run: options.run.clone(),
        output: options.output.clone(),
        keep: options.keep,
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
        let report = compare(&config, context)?;
        if let Some(FileCounts {
            path,
            scores_rise: Some(rise @ 1..),
            ..
        }) = &report.run
        {
            context.progress.note(&format!(
                "warning: {}: {} with a higher score than the line before; a program that ranks by \
                 score has another order than this one, that of the file",
                path.display(),
                counted(*rise, "line")
            ));
        }
        super::say(&if options.json {
            super::json(&report)?
        } else {
            table(&report)
        })?;
        Ok(ExitCode::SUCCESS)
    })
}

/// The report for people.
fn table(report: &QrelsReport) -> String {
    let mut out = String::new();
    file(&mut out, "qrels", &report.qrels, report);
    if let Some(run) = &report.run {
        file(&mut out, "run", run, report);
    }
    let names = [
        "topic",
        "judged",
        "clustered",
        "groups",
        "exact",
        "documents",
        "inconsistent",
        "exact",
        "near",
        "documents",
        "grades differ",
        "exact",
        "near",
        "documents",
    ];
    let mut rows = vec![names.map(String::from).to_vec()];
    for (topic, counts) in &report.topics {
        rows.push(row(topic, counts));
    }
    rows.push(row("all", &report.all));
    columns(&mut out, &rows, 1);
    out
}

/// What became of a file's lines.
fn file(out: &mut String, what: &str, counts: &FileCounts, report: &QrelsReport) {
    let _ = write!(
        out,
        "{what:<6}{}: {}, {} kept (--keep {}), {} removed",
        counts.path.display(),
        counted(counts.lines, "line"),
        counts.kept,
        report.keep,
        counts.removed
    );
    let unknown = counts.unknown.unwrap_or(0);
    for (n, what) in [
        (counts.renamed, "renamed"),
        (unknown, "not in the collection"),
    ] {
        if n > 0 {
            let _ = write!(out, ", {n} {what}");
        }
    }
    out.push('\n');
}

fn row(topic: &str, counts: &TopicCounts) -> Vec<String> {
    let TopicCounts {
        judged,
        clustered,
        groups,
        exact_groups,
        documents,
        inconsistent,
        grades_differ,
    } = counts;
    let mut cells = vec![topic.to_string()];
    cells.extend([judged, clustered, groups, exact_groups, documents].map(ToString::to_string));
    for differing in [inconsistent, grades_differ] {
        let numbers = [
            differing.groups,
            differing.exact,
            differing.near,
            differing.documents,
        ];
        cells.extend(numbers.map(|n| n.to_string()));
    }
    cells
}
