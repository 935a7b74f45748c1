//! `contamination`: find the items of test sets in a corpus.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::base::ids::Threshold;
use crate::base::numbers::count;
use crate::base::progress::Context;
use crate::engine::pipeline;
use crate::tasks::contamination::{
    ContaminationConfig, ContaminationReport, SetReport, check_corpus, run as contamination,
};
use crate::text::parse::ParseConfig;
use crate::text::read::ReadConfig;
use clap::Args;

use super::command::{Command, Out, Setup};
use super::flags::{Memory, Output, ReadLimits, Reading, Threads, WalkFlags};

/// Options of `contamination`.
#[derive(Debug, Args)]
pub struct Options {
    /// Files, directories, or `-` for standard input
    ///
    /// Any format that `lookalike run` reads. Hidden files of a directory are skipped.
    #[arg(required = true, value_name = "CORPUS")]
    corpus: Vec<PathBuf>,
    /// Test sets: files and directories
    ///
    /// JSON objects, one on each line or in an array, Parquet, or CSV (.csv, or .tsv with tabs)
    /// with the names of the columns in the first row; or any other format of the corpus, whose
    /// documents are the items. They may be compressed. They are read into memory: about 110 bytes
    /// for each word.
    #[arg(long, required = true, num_args = 1.., value_name = "TESTSET")]
    against: Vec<PathBuf>,
    /// Directory for the files of the result [default: none]
    ///
    /// It must be new, empty, or one of an earlier `contamination`. Without this flag, the command
    /// only counts.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Fields of an item to look for [default: text, content, ...]
    ///
    /// Each field is a text of its own: no run goes from one to the next. Dots lead into objects,
    /// and a list of strings is a text with a line for each. The default is the one field that is
    /// read as the text of a document (--text-field names that of the corpus).
    ///
    /// Example: --fields question,answer
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "Search"
    )]
    fields: Vec<String>,
    /// Field with the name of an item [default: id, docno, ...]
    ///
    /// An item without it is called FILE:RECORD, where RECORD is its number in the file, from 1.
    ///
    /// Example: --item-id task_id
    #[arg(long, value_name = "FIELD", help_heading = "Search")]
    item_id: Option<String>,
    /// Least number of words in a shared run
    ///
    /// A field with fewer words is looked for as a whole.
    ///
    /// Example: --ngram 8
    #[arg(
        long,
        value_name = "N",
        default_value_t = ContaminationConfig::default().ngram,
        help_heading = "Search"
    )]
    ngram: u32,
    /// Skip fields with fewer words than N
    ///
    /// A field with fewer than --ngram words is looked for as a whole. But an answer such as "Yes"
    /// is in most documents, so a field with fewer than N words is not looked for. The table counts
    /// such fields, and they are not part of the item.
    ///
    /// Example: --least 3
    #[arg(
        long,
        value_name = "N",
        default_value_t = ContaminationConfig::default().least,
        help_heading = "Search"
    )]
    least: u32,
    /// Put a document into drop.tsv if it has this share of an item
    ///
    /// Example: --drop-at 0.5
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = ContaminationConfig::default().drop_at,
        help_heading = "Search"
    )]
    drop_at: Threshold,
    /// List at most this number of documents for each item
    ///
    /// contaminated.jsonl has those that cover most of the item, and of several the first ones. The
    /// number of all documents is always given, and drop.tsv is complete.
    ///
    /// Example: --most 100
    #[arg(
        long,
        value_name = "N",
        default_value_t = ContaminationConfig::default().most,
        help_heading = "Search"
    )]
    most: usize,
    /// Fail if any record of the corpus or of a test set is rejected
    ///
    /// The files are written before that.
    ///
    /// Example: --strict
    #[arg(long, help_heading = "Search")]
    strict: bool,
    #[command(flatten)]
    walk: WalkFlags,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    limits: ReadLimits,
    #[command(flatten)]
    memory: Memory,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    print: Output,
}

impl Command for Options {
    fn setup(&self) -> Setup {
        self.memory
            .with(self.threads, self.print.printed().always())
    }

    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let config = ContaminationConfig {
            against: self.against.clone(),
            fields: self.fields.clone(),
            item_id: self.item_id.clone(),
            read: ReadConfig {
                max_document: self.limits.max_document,
                max_ratio: self.limits.max_ratio,
                ..self.reading.config()?
            },
            parse: ParseConfig {
                detector: self.limits.detect_charset,
                ..ParseConfig::default()
            },
            ngram: self.ngram,
            least: self.least,
            drop_at: self.drop_at,
            most: self.most,
            output: self.output.clone(),
            strict: self.strict,
        };
        config.check()?;
        check_corpus(&self.corpus)?;
        let output = self.output.as_deref().unwrap_or(Path::new(""));
        let inputs = pipeline::selected_inputs(&self.corpus, &self.walk.selection(), output)?;
        inputs.check_readable()?;
        let report = contamination(&inputs, &config, context)?;
        out.result(&report, || Ok(table(&report, &config)))
    }
}

/// The report as text for people.
fn table(report: &ContaminationReport, config: &ContaminationConfig) -> String {
    let mut out = String::new();
    let corpus = &report.corpus;
    let mut row = |what: &str, number: u64| {
        let _ = writeln!(out, "{what:<42}{:>14}", count(number));
    };
    row("corpus: files", corpus.files);
    row("records read", corpus.records);
    for (kind, n) in &corpus.skipped {
        row(&format!("  skipped: {kind}"), *n);
    }
    for (reason, n) in &corpus.rejected {
        row(&format!("  rejected: {reason}"), *n);
    }
    row("  documents", corpus.documents);
    row("    with a run of a test item", corpus.found);
    row(
        &format!("    with {} of a test item or more", report.drop_at),
        corpus.to_drop,
    );
    for set in &report.test_sets {
        out.push('\n');
        out.push_str(&table_of(set));
    }
    if let Some(output) = &config.output {
        let _ = writeln!(out, "\nfiles in {}", output.display());
    }
    out
}

fn table_of(set: &SetReport) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "test set {}", crate::store::table::cell(&set.name));
    let mut row = |what: &str, number: u64| {
        let _ = writeln!(out, "{what:<42}{:>14}", count(number));
    };
    for (reason, n) in &set.rejected {
        row(&format!("rejected: {reason}"), *n);
    }
    row("items", set.items);
    row("  looked for", set.searched);
    row("  found", set.found);
    let _ = writeln!(
        out,
        "{:<28}{:>14}{:>14}",
        "  items covered by", "one document", "all together"
    );
    for level in &set.levels {
        let share = format!("    at least {}", level.share);
        let (one, all) = (count(level.by_one_document), count(level.by_all_documents));
        let _ = writeln!(out, "{share:<28}{one:>14}{all:>14}");
    }
    let fields = set.fields;
    let counts = [
        ("looked for by their runs", fields.long),
        ("looked for as a whole", fields.short),
        ("too short", fields.left_out),
        ("without words", fields.empty),
        ("missing", fields.missing),
    ];
    let counts: Vec<String> = (counts.iter().filter(|(_, n)| *n > 0))
        .map(|(what, n)| format!("{} {what}", count(*n)))
        .collect();
    let _ = writeln!(out, "  fields: {}", counts.join(", "));
    out
}
