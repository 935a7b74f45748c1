//! `qrels`: check relevance judgements and rankings for duplicates.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::Result;
use crate::evaluate::qrels::{
    FileCounts, Keep, QrelsConfig, QrelsReport, TopicCounts, run as compare,
};
use crate::numbers::counted;
use clap::Args;

use super::context::{Host, with_context};
use super::evaluate::columns;
use super::flags::{Memory, Output};

/// Options of `qrels`.
#[derive(Debug, Args)]
pub struct Options {
    /// Judgements: lines of TOPIC ITERATION DOCNO RELEVANCE
    ///
    /// The relevance is an integer and may be negative. A docno may occur once per topic. The file
    /// may be compressed.
    #[arg(value_name = "QRELS")]
    qrels: PathBuf,
    /// Clusters: an output directory, or its clusters.jsonl
    ///
    /// Give the directory if you have it. It also says which documents the collection has, and
    /// which near members of a cluster are exact duplicates of each other. A clusters.jsonl only
    /// says which members are exact duplicates of the representative.
    #[arg(long, value_name = "PATH")]
    clusters: PathBuf,
    /// Ranking to deduplicate: lines of TOPIC Q0 DOCNO RANK SCORE TAG
    ///
    /// The first line of each topic and cluster is kept, in the order of the file. Ranks are
    /// assigned again; scores stay. The file may be compressed.
    #[arg(long, value_name = "FILE")]
    run: Option<PathBuf>,
    /// Directory for qrels, run and inconsistent.jsonl [default: none]
    ///
    /// Without it, the command only counts.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Document to keep of a topic and cluster: first, best or map
    ///
    /// first keeps the first document of the collection, with its own relevance. best keeps the
    /// most relevant one, and the first of several. map replaces every docno of a cluster by the
    /// docno of its representative, in the ranking too, with the highest relevance. A ranking keeps
    /// the docno that it lists first. With first and best this may be a docno that the new qrels do
    /// not have, so score such a ranking with the original qrels, or use map.
    #[arg(long, value_name = "WHICH", default_value_t = Keep::default())]
    keep: Keep,
    #[command(flatten)]
    memory: Memory,
    #[command(flatten)]
    print: Output,
}

pub fn run(options: &Options, host: &dyn Host) -> Result<ExitCode> {
    let config = QrelsConfig {
        qrels: options.qrels.clone(),
        clusters: options.clusters.clone(),
        run: options.run.clone(),
        output: options.output.clone(),
        keep: options.keep,
    };
    with_context(
        host,
        &options.memory.alone(options.print.quiet()),
        |context| {
            let report = compare(&config, context)?;
            if let Some(FileCounts {
                path,
                scores_rise: Some(rise @ 1..),
                ..
            }) = &report.run
            {
                context.progress.note(&format!(
                    "warning: {}: {} with a higher score than the line before; this command keeps \
                 the order of the file, but programs that rank by score (such as trec_eval) use \
                 another order",
                    path.display(),
                    counted(*rise, "line")
                ));
            }
            host.say(&if options.print.json() {
                super::json(&report)?
            } else {
                table(&report)
            })?;
            Ok(ExitCode::SUCCESS)
        },
    )
}

/// The report as text for people.
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

/// Appends the counts of a file's lines.
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
