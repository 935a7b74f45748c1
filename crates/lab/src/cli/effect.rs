//! `effect`: what near-duplicates do to the metrics of rankings.

use std::fmt::Write;

use super::qrels::{of_file, unknown};
use crate::effect::{EffectConfig, EffectReport, METRICS, SystemEffect, Treatment, Values, run};
use crate::qrels::FileCounts;
use crate::report::grid::{Grid, WIDTH};
use lookalike::cli::command::{Args, Command, Context, Out, Result};
use lookalike_base::{count, counted};
use lookalike_store::table::cell;

/// Limit on the topics in the table.
const MOST_TOPICS: usize = 20;

/// Options of `effect`.
#[derive(Debug, Args)]
pub(crate) struct EffectOptions {
    #[command(flatten)]
    config: EffectConfig,
    /// Print a line for each ranking, treatment and topic, with tabs
    ///
    /// The columns are called as in trec_eval. The topic `all` has the means.
    #[arg(long, conflicts_with = "json")]
    tsv: bool,
}

impl Command for EffectOptions {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let report = run(&self.config, context)?;
        let files = report.systems.iter().map(|of| &of.file);
        for file in std::iter::once(&report.qrels).chain(files) {
            for warning in of_file(file, &self.config.clusters) {
                context.progress.note(&warning);
            }
        }
        out.answer(&report, || {
            Ok(match self.tsv {
                true => tsv(&report),
                false => tables(&report, WIDTH.min(out.columns())),
            })
        })
    }
}

/// Each value in a table with tabs.
fn tsv(report: &EffectReport) -> String {
    let mut text = format!(
        "run\ttreatment\ttopic\t{}\n",
        METRICS.map(|metric| metric.1).join("\t")
    );
    for system in &report.systems {
        let path = system.file.path.display().to_string();
        for ((treatment, means), topics) in
            Treatment::ALL.iter().zip(&system.means).zip(&system.topics)
        {
            let names = report.topics.iter().map(String::as_str);
            let lines = names.zip(topics).chain([("all", means)]);
            for (topic, values) in lines {
                let values = values.map(|value| format!("{value:.6}")).join("\t");
                let _ = writeln!(text, "{}\t{treatment}\t{topic}\t{values}", cell(&path));
            }
        }
    }
    text
}

/// The report as text for people.
fn tables(report: &EffectReport, width: usize) -> String {
    let mut out = format!(
        "{}: {}, {} of {} clusters or single documents{}\n",
        report.qrels.path.display(),
        counted(report.topics.len() as u64, "topic"),
        counted(report.qrels.lines, "judgement"),
        count(report.qrels.kept),
        not_known(&report.qrels)
    );
    for system in &report.systems {
        out.push('\n');
        metrics(report, system).print(width, &mut out);
    }
    let several = report.systems.len() > 1;
    if several {
        out.push('\n');
        orders(report).print(width, &mut out);
    }
    topics(report, several, width, &mut out);
    out
}

/// The documents of a file that the collection does not have, after what else is said of the file.
fn not_known(file: &FileCounts) -> String {
    unknown(file).map_or(String::new(), |unknown| format!("; {unknown}"))
}

/// The names of all metrics after that of the first column.
fn head(first: &str) -> Vec<String> {
    Grid::row(first, METRICS.map(|metric| metric.0.into()))
}

/// The means of a system, and its places among several.
fn metrics(report: &EffectReport, system: &SystemEffect) -> Grid {
    let row = |(n, treatment): (usize, Treatment)| {
        let value = |metric: usize| {
            let of = |system: &SystemEffect| system.means[n][metric];
            let own = of(system);
            let better = report
                .systems
                .iter()
                .filter(|other| of(other) > own)
                .count();
            match report.systems.len() {
                1 => format!("{own:.4}"),
                _ => format!("{own:.4} ({})", better + 1),
            }
        };
        let values = (0..METRICS.len()).map(value);
        Grid::row(treatment.text(), values)
    };
    let file = &system.file;
    let mut title = format!(
        "{}: {}, {}{} below a document of their cluster",
        file.path.display(),
        counted(file.lines, "line"),
        count(file.removed),
        if file.kept + file.removed < file.lines {
            " of judged topics"
        } else {
            ""
        }
    );
    if system.missing > 0 {
        let _ = write!(title, "; {} missing", counted(system.missing, "topic"));
    }
    title += &not_known(file);
    Grid {
        title,
        head: head("treatment"),
        rows: Treatment::ALL.into_iter().enumerate().map(row).collect(),
    }
}

/// Kendall's tau of each treatment and metric with the order as given.
fn orders(report: &EffectReport) -> Grid {
    let rows = Treatment::ALL.iter().zip(&report.tau).skip(1);
    let rows = rows.map(|(treatment, tau)| {
        let cells = tau.map(|tau| tau.map_or("-".into(), |tau| format!("{tau:.3}")));
        Grid::row(treatment.text(), cells)
    });
    Grid {
        title: format!(
            "Kendall's tau of the order of {} and their order as given",
            counted(report.systems.len() as u64, "run")
        ),
        head: head("treatment"),
        rows: rows.collect(),
    }
}

/// The topics that change most: pairs of systems in another order, or the values of one system.
fn topics(report: &EffectReport, several: bool, width: usize, out: &mut String) {
    let value = |n: usize, topic: usize| -> f64 {
        let of = |values: &[Vec<Values>]| values[n][topic][0];
        match several {
            true => report.swaps[n][topic] as f64,
            false => report
                .systems
                .first()
                .map_or(0.0, |system| of(&system.topics)),
        }
    };
    let change = |topic: usize| {
        let each = (1..Treatment::ALL.len()).map(|n| (value(n, topic) - value(0, topic)).abs());
        each.fold(0.0, f64::max)
    };
    let mut changed: Vec<usize> = (0..report.topics.len())
        .filter(|&topic| change(topic) > 0.0)
        .collect();
    changed.sort_by(|&a, &b| change(b).total_cmp(&change(a)));
    let all = changed.len();
    changed.truncate(MOST_TOPICS);
    let (what, first, decimals) = match several {
        true => (
            "with another order of the runs by MAP: pairs in another order",
            1,
            0,
        ),
        false => ("with another average precision", 0, 4),
    };
    let rows = changed.into_iter().map(|topic| {
        let cells =
            (first..Treatment::ALL.len()).map(|n| format!("{:.decimals$}", value(n, topic)));
        Grid::row(&report.topics[topic], cells)
    });
    let names = Treatment::ALL
        .iter()
        .skip(first)
        .map(|treatment| treatment.to_string());
    let grid = Grid {
        title: format!(
            "{} of {} {what}",
            count(all as u64),
            counted(report.topics.len() as u64, "topic")
        ),
        head: Grid::row("topic", names),
        rows: rows.collect(),
    };
    out.push('\n');
    match grid.rows.is_empty() {
        true => out.push_str(&(grid.title + "\n")),
        false => grid.print(width, out),
    }
    if all > MOST_TOPICS {
        let _ = writeln!(
            out,
            "\n{} more; --tsv prints all values",
            count((all - MOST_TOPICS) as u64)
        );
    }
}
