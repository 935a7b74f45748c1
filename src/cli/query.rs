//! `query`: find documents of a collection that resemble new ones.

use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};

use crate::report::terminal::Growing;
use lookalike_base::{Error, count, counted, path_word, shell_word};
use lookalike_engine::{collection, document, pipeline};
use lookalike_methods::Spec;
use lookalike_store::{Column, cells, columns, header, json, only_if, push_row};
use lookalike_tasks::query::{self, Answer, QueryConfig, Rejected, Reply};

use super::command::{Args, Command, Context, Out, Result};
use super::flags::{CriterionFlags, Lowest, Reading, WalkFlags, lowest};
use lookalike_engine::pipeline::{has_texts, open_catalogued};

/// The columns of the answers.
const COLUMNS: [Column; 11] = columns! {
    query: Text, docno: Text, match: Text, score: F64, contains_query: F64, in_query: F64,
    shared: I64, keys_query: I64, keys: I64, url: Text or "", date: Text or "",
};
/// The place of the first column that only captures have.
const OF_CAPTURES: usize = 9;

/// The most warnings that are printed.
const MOST_WARNINGS: u64 = 10;

/// The columns on a terminal, which has no room for all, and their places in a row.
const SHOWN: &str = "query, docno, match, url, date, score, contains, in query, shared";
const PLACES: [usize; 9] = [0, 1, 2, OF_CAPTURES, OF_CAPTURES + 1, 3, 4, 5, 6];

/// Options of `query`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory of an earlier `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Documents to look up: files, directories, or `-` for standard input
    ///
    /// Any format that `lookalike run` reads. Hidden files of a directory are skipped. If standard
    /// input has one JSON document on each line, the command answers the lines so far whenever the
    /// input pauses.
    #[arg(required = true, value_name = "DOCUMENT")]
    documents: Vec<PathBuf>,
    #[command(flatten)]
    comparison: CriterionFlags,
    /// Also list documents that contain this share of the query [default: 0.8]
    ///
    /// Finds the source of an excerpt, whose resemblance to the whole document is low. The column
    /// `match` says "contains" for documents that are listed only for this. "none" turns this off,
    /// which is the default with --method.
    ///
    /// Example: --containing 0.9
    #[arg(long, value_name = "SHARE", value_parser = lowest, help_heading = "Pairs")]
    containing: Option<Lowest>,
    /// List at most this number of documents per query; 0 lists all
    ///
    /// Example: --top 3
    #[arg(long, value_name = "N", default_value = "10", help_heading = "Pairs")]
    top: usize,
    /// Use the features of METHOD, not shingles (see `lookalike lab method`)
    ///
    /// The method also decides when two documents match. The collection must keep its texts
    /// (--keep-text).
    ///
    /// Example: --method i-match
    #[arg(
        long,
        value_name = "METHOD",
        conflicts_with_all = ["threshold", "score"],
        help_heading = "Pairs"
    )]
    method: Option<Spec>,
    /// Print tab-separated values also on a terminal
    ///
    /// A terminal gets an aligned table of the first seven columns, with long names cut to its
    /// width; a file or a pipe gets tab-separated values.
    ///
    /// Example: --tsv
    #[arg(long, conflicts_with = "json", help_heading = None, hide_short_help = true)]
    tsv: bool,
    #[command(flatten)]
    walk: WalkFlags,
    #[command(flatten)]
    reading: Reading,
}

impl Command for Options {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let base = open_catalogued(&self.directory, context)?;
        has_texts(&base)?;
        let theirs = collection::config(&base.manifest);
        // Before the header is printed.
        theirs.check_rule(base.directory())?;
        // As the collection was read, unless a flag says otherwise.
        let mut usual = theirs.read.clone();
        usual.format = None;
        let read = self.reading.config(usual)?;
        let selection = self.walk.selection();
        let inputs = pipeline::selected_inputs(&self.documents, &selection, &self.directory);
        let inputs = inputs.map_err(|error| {
            let name = error.path().and_then(Path::to_str).unwrap_or_default();
            match document::find(&base, name, context) {
                Ok(_) | Err(Error::SeveralDocuments { .. }) => {
                    let (place, document) = (path_word(&self.directory), shell_word(name));
                    let limit = format!(
                        "it names a document of {place}: `lookalike show {place} {document}` lists its pairs"
                    );
                    Error::parameter("DOCUMENT", name).because(limit)
                }
                Err(_) => error,
            }
        })?;
        let json = out.setup.json;
        let screen = out.host.columns().filter(|_| !self.tsv && !json);
        let captures = collection::has_captures(&base.manifest);
        let mut columns = COLUMNS;
        only_if(&mut columns[OF_CAPTURES..], captures);
        let shown = SHOWN.split(", ").zip(PLACES);
        let shown = shown.filter(|(_, at)| captures || *at < OF_CAPTURES);
        let names = shown.clone().map(|(name, _)| name);
        let texts = if captures { 5 } else { 3 };
        let mut table = screen.map(|screen| Growing::new(names, texts, screen));
        if !json && table.is_none() {
            out.say(&header(&[], &columns))?;
        }
        let first = OnceCell::new();
        let warned = Cell::new(0);
        let print = |reply: Reply| {
            // The answers of a pass may be long.
            context.stop.check("query")?;
            match reply {
                Reply::Warning(of) => {
                    warned.set(warned.get() + 1);
                    if warned.get() <= MOST_WARNINGS {
                        let line = format!("warning: {}: {}: {}", of.query, of.warning, of.detail);
                        context.progress.note(&line);
                    }
                    Ok(())
                }
                reply if json => {
                    out.say(&super::plain_json(&json::line(&reply, "standard output")?))
                }
                Reply::Answer(answer) => match &mut table {
                    None => out.say(&rows(&answer, &columns)),
                    Some(_) if answer.matches.is_empty() => Ok(()),
                    Some(table) => {
                        let rows = rows(&answer, &columns);
                        let cells = |row: &str| {
                            let row: Vec<&str> = row.split('\t').collect();
                            shown.clone().map(|(_, at)| row[at].into()).collect()
                        };
                        out.say(&table.rows(rows.lines().map(cells).collect()))
                    }
                },
                Reply::Rejected(Rejected { line, .. }) => {
                    context.progress.note(&format!("rejected: {line}"));
                    let _ = first.set(line);
                    Ok(())
                }
            }
        };
        let (method, config) = (self.method.as_ref(), self.config());
        let stats = query::run(&base, method, &inputs, &read, &config, context, print)?;
        context.progress.end(&format!(
            "query: {} of {} found a document; rejected: {}; passes over the collection: {}",
            stats.matched,
            counted(stats.queries, "query"),
            stats.rejected,
            stats.batches
        ));
        if warned.get() > MOST_WARNINGS {
            let more = count(warned.get() - MOST_WARNINGS);
            let line = format!("warning: {more} more warnings");
            context.progress.note(&line);
        }
        if let (0, Some(first)) = (stats.queries, first.get()) {
            let rejected = counted(stats.rejected, "record");
            let line =
                format!("warning: there was no query: {rejected} rejected; the first: {first}");
            context.progress.lost(&line);
        }
        Ok(())
    }
}

impl Options {
    fn config(&self) -> QueryConfig {
        QueryConfig {
            criterion: self.comparison.criterion(),
            containing: match (self.containing, &self.method) {
                (Some(share), _) => share,
                (None, Some(_)) => None,
                (None, None) => QueryConfig::default().containing,
            },
            top: (self.top > 0).then_some(self.top),
        }
    }
}

/// An answer as rows of tab-separated values.
fn rows(answer: &Answer, columns: &[Column]) -> String {
    let mut text = String::new();
    for found in &answer.matches {
        let why = found.why.to_string();
        let cells = cells! {
            &answer.query, &found.docno, &why, found.score, found.contains_query,
            found.in_query, found.shared, answer.keys_query, found.keys,
            found.captured.url.as_ref(), found.captured.date.as_ref(),
        };
        push_row(&mut text, columns, &cells);
    }
    text
}
