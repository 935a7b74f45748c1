//! `qrels`: check relevance judgements and rankings for duplicates.

use std::fmt::Write;
use std::path::Path;

use crate::qrels::{
    CONTRADICTIONS_FILE, FileCounts, QrelsConfig, QrelsFormat, QrelsReport, TopicCounts,
    run as compare,
};
use crate::report::grid::{Grid, WIDTH};
use lookalike::line;
use lookalike::report::terminal::Line;
use lookalike_base::{count, counted};

use lookalike::cli::command::{Command, Context, Out, Result};

impl Command for QrelsConfig {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let report = compare(self, context)?;
        for warning in warnings(&report, &self.clusters) {
            context.progress.note(&warning);
        }
        let place = self.output.as_deref();
        out.found(place, &report, || Ok(table(&report, place, out.columns())))
    }
}

/// Warn if one in this number of lines names a document that the collection does not have.
const UNKNOWN: u64 = 10;

/// Warnings about judgements and rankings that do not fit the clusters.
fn warnings(report: &QrelsReport, clusters: &Path) -> Vec<String> {
    let files = std::iter::once(&report.qrels).chain(&report.runs);
    let mut warnings: Vec<String> = files.flat_map(|file| of_file(file, clusters)).collect();
    if report.qrels.unknown.is_none() && report.all.judged > 0 && report.all.clustered == 0 {
        warnings.push(format!(
            "warning: {}: none of {} names a document in a cluster of {}; check that the clusters belong to the judged collection",
            report.qrels.path.display(),
            counted(report.qrels.lines, "line"),
            clusters.display()
        ));
    }
    warnings
}

/// Warnings about lines whose document the collection does not have, if there are many, and about
/// lines that are not in the order of their scores.
pub(super) fn of_file(file: &FileCounts, clusters: &Path) -> impl Iterator<Item = String> + use<> {
    let (path, unknown) = (file.path.display(), file.unknown.unwrap_or(0));
    let unknown = (unknown > 0 && unknown >= file.lines / UNKNOWN).then(|| {
        format!(
            "warning: {path}: {} of {} name a document that the collection in {} does not have; \
             check that it is the judged collection, and that it has the docnos of the judgements",
            count(unknown),
            counted(file.lines, "line"),
            clusters.display()
        )
    });
    let rise = file.scores_rise.filter(|&rise| rise > 0).map(|rise| {
        format!(
            "warning: {path}: {} with a higher score than the line before; lookalike ranks by \
             score, as trec_eval does",
            counted(rise, "line")
        )
    });
    unknown.into_iter().chain(rise)
}

/// The number of lines whose document the collection does not have, and the first of them.
pub(super) fn unknown(file: &FileCounts) -> Option<String> {
    let named = file.first_unknown.iter();
    let mut named: Vec<_> = named
        .map(|(docno, line)| format!("{docno} (line {line})"))
        .collect();
    let unknown = file.unknown.filter(|&unknown| unknown > 0)?;
    if unknown > named.len() as u64 {
        named.push("...".into());
    }
    let (unknown, named) = (count(unknown), named.join(", "));
    Some(format!("{unknown} not in the collection: {named}"))
}

/// The report as text for people.
fn table(report: &QrelsReport, output: Option<&Path>, columns: usize) -> String {
    let mut out = String::new();
    let form = match report.format {
        QrelsFormat::Trec => String::new(),
        format => format!(" ({format})"),
    };
    file(&mut out, ("qrels", &form), &report.qrels, report);
    for run in &report.runs {
        file(&mut out, ("run", ""), run, report);
    }
    let (with, without): (Vec<_>, Vec<_>) =
        (report.topics.iter()).partition(|(_, counts)| counts.groups > 0);
    let all = [("all", &report.all), ("distinct", &report.distinct)];
    let with = with
        .into_iter()
        .map(|(topic, counts)| (topic.as_str(), counts));
    let rows: Vec<_> = with.chain(all).collect();
    let mut grid = |title: &str, head, row: &dyn Fn(&TopicCounts) -> Line| {
        let rows = rows
            .iter()
            .map(|(topic, of)| [line![*topic], row(of)].concat());
        out.push('\n');
        Grid {
            title: title.into(),
            head: Grid::names(head),
            rows: rows.collect(),
        }
        .print(WIDTH.min(columns), &mut out);
    };
    grid(
        "Judged documents and their clusters",
        "topic,judged,clustered,groups,exact,documents",
        &|of| {
            line![
                of.judged,
                of.clustered,
                of.groups,
                of.exact_groups,
                of.documents
            ]
        },
    );
    grid(
        "Contradictions: relevant and other documents in a group, or several grades",
        "topic,inconsistent,exact,near,documents,grades,exact,near,documents",
        &|of| {
            let both = [&of.inconsistent, &of.grades_differ];
            both.map(|of| line![of.groups, of.exact, of.near, of.documents])
                .concat()
        },
    );
    let contradictions = report.all.grades_differ.groups;
    if contradictions > 0 {
        let all = counted(contradictions, "contradiction");
        let _ = match output {
            Some(output) => {
                let path = output.join(CONTRADICTIONS_FILE);
                writeln!(out, "\n{all} in {}", path.display())
            }
            None => writeln!(
                out,
                "\n{all}; -o DIR lists them in DIR/{CONTRADICTIONS_FILE}"
            ),
        };
    }
    match without.len() {
        0 => {}
        1 => out.push_str("\n1 topic without groups is not listed\n"),
        n => {
            let topics = counted(n as u64, "topic");
            let _ = writeln!(out, "\n{topics} without groups are not listed");
        }
    }
    out
}

/// Appends the counts of a file's lines.
fn file(out: &mut String, (what, form): (&str, &str), counts: &FileCounts, report: &QrelsReport) {
    let _ = write!(
        out,
        "{what:<6}{}{form}: {}, {} kept (--keep {}), {} removed",
        counts.path.display(),
        counted(counts.lines, "line"),
        counts.kept,
        report.keep,
        counts.removed
    );
    for (n, what) in [
        (counts.unjudged, "of these in topics without judgements"),
        (counts.renamed, "renamed"),
        (counts.rescored, "with a raised score"),
    ] {
        if n > 0 {
            let _ = write!(out, ", {n} {what}");
        }
    }
    let unknown = unknown(counts).map(|unknown| format!(", {unknown}"));
    let _ = writeln!(out, "{}", unknown.unwrap_or_default());
}
