//! `contamination`: find the items of test sets in a corpus.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::report::page::{self, PAGE_FILE};
use crate::report::rows::Rows;
use crate::report::{unread, unused};
use lookalike_base::{Threshold, count, counted, listed, path_word};
use lookalike_tasks::contamination::{
    ContaminationConfig, ContaminationReport, DROP_FILE, SetReport, check_corpus,
    run as contamination,
};

use super::command::{Args, Command, Context, Out, Result};
use super::flags::InputFlags;

/// Options of `contamination`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search", mut_arg("inputs", |arg| arg.value_name("CORPUS")))]
pub struct Options {
    /// Test set: a file or a directory (repeatable)
    ///
    /// JSON objects, one on each line or in an array, Parquet, CSV or TSV with the names of the
    /// columns in the first row; or any other format of the corpus, whose documents are the items. It is read into memory: about 110 bytes for each word.
    #[arg(long, required = true, value_name = "FILE", help_heading = None)]
    test_set: Vec<PathBuf>,
    /// Directory for the files of the result [default: none]
    ///
    /// It must be new, empty, or one of an earlier `contamination`. Without this flag, the command
    /// only counts.
    #[arg(short, long, value_name = "DIR", help_heading = None)]
    output: Option<PathBuf>,
    /// Also write a page with items and documents side by side
    ///
    /// It shows the 200 items of which one document has the most, each with up to three documents.
    /// It is DIR/report.html without FILE.
    ///
    /// Example: --report
    #[arg(
        long,
        value_name = "FILE",
        require_equals = true,
        requires = "output",
        help_heading = None
    )]
    #[expect(
        clippy::option_option,
        reason = "the flag may be missing, or have no value"
    )]
    report: Option<Option<PathBuf>>,
    /// Fields of an item to look for [default: text, content, ...]
    ///
    /// Each field is a text of its own: no run extends from one to the next. Dots lead into
    /// objects, and a list of strings is a text with a line for each. The default is the field that
    /// is read as the text of a document (--text-field names the field of the corpus).
    ///
    /// Example: --fields question,answer
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    fields: Vec<String>,
    /// Field with the name of an item [default: id, docno, qid, ...]
    ///
    /// An item without it is called FILE:RECORD, where RECORD is its number in the file, from 1.
    ///
    /// Example: --item-id task_id
    #[arg(long, value_name = "FIELD")]
    item_id: Option<String>,
    /// Least number of words in a shared run
    ///
    /// A field with fewer words is matched in full, if it has as many as --least.
    ///
    /// Example: --ngram 8
    #[arg(long, value_name = "N", default_value = "13")]
    ngram: u32,
    /// Skip fields with fewer words than N
    ///
    /// An answer such as "Yes" is in most documents, so a field with fewer than N words is not
    /// looked for, whatever --ngram is. The table counts such fields, and they are not part of the
    /// item.
    ///
    /// Example: --least 3
    #[arg(long, value_name = "N", default_value = "5")]
    least: u32,
    /// Put a document into drop.tsv if it has this share of an item
    ///
    /// Example: --drop-at 0.5
    #[arg(long, value_name = "SHARE", default_value = "0.8")]
    drop_at: Threshold,
    /// List at most this number of documents for each item
    ///
    /// contaminated.jsonl has those that cover most of the item, and of several the first ones. The
    /// number of all documents is always given, and drop.tsv is complete. A document that is listed
    /// takes 120 bytes of memory.
    ///
    /// Example: --most 100
    #[arg(long, value_name = "N", default_value = "10")]
    most: usize,
    /// Fail if any record of the corpus or of a test set is rejected
    ///
    /// The files are written before that.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    corpus: InputFlags,
}

impl Command for Options {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let config = ContaminationConfig {
            against: self.test_set.clone(),
            fields: self.fields.clone(),
            item_id: self.item_id.clone(),
            read: self.corpus.read()?,
            parse: self.corpus.parse(),
            ngram: self.ngram,
            least: self.least,
            drop_at: self.drop_at,
            most: self.most,
            output: self.output.clone(),
            page: self.page(),
        };
        config.check()?;
        check_corpus(&self.corpus.inputs)?;
        let inputs = self
            .corpus
            .files(self.output.as_deref().unwrap_or(Path::new("")))?;
        let report = contamination(&inputs, &config, context)?;
        if let Some(page) = &config.page {
            page::contamination(&report, &config.parse, page)?;
        }
        if self.strict {
            report.check_strict()?;
        }
        out.found(self.output.as_deref(), &report, || {
            Ok(table(&report, &config) + &self.next(&report, &out.setup.reading))
        })?;
        if let Some(page) = &config.page {
            out.note(|| Ok(format!("page in {}\n", page.display())))?;
        }
        unread::lines(&report.unread, context);
        Ok(())
    }
}

impl Options {
    /// The page to write.
    fn page(&self) -> Option<PathBuf> {
        let (page, directory) = self.report.as_ref().zip(self.output.as_ref())?;
        Some((page.clone()).unwrap_or_else(|| directory.join(PAGE_FILE)))
    }

    /// The command that removes the documents of drop.tsv, if there are some.
    fn next(&self, report: &ContaminationReport, reading: &str) -> String {
        let (to_drop, inputs) = (report.corpus.to_drop, &self.corpus.inputs);
        let is_piped = inputs.iter().any(|input| input == Path::new("-"));
        let output = self.output.as_ref();
        let Some(output) = output.filter(|_| to_drop > 0 && !is_piped) else {
            return String::new();
        };
        format!(
            "Next: lookalike dedup {}{reading} -o {} --rule keep-all --drop {}   # a copy without the {}\n",
            listed(" ", inputs, |input| path_word(input)),
            path_word(&unused("clean")),
            path_word(&output.join(DROP_FILE)),
            counted(to_drop, "document")
        )
    }
}

/// The report as text for people.
fn table(report: &ContaminationReport, config: &ContaminationConfig) -> String {
    let mut rows = Rows::new(14);
    let corpus = &report.corpus;
    rows.count("corpus: files", corpus.files);
    rows.count("records read", corpus.records);
    rows.each("  skipped: ", &corpus.skipped);
    rows.each("  rejected: ", &corpus.rejected);
    rows.count("  documents", corpus.documents);
    rows.count("    with a run of a test item", corpus.found);
    let name = format!("    with {} of a test item or more", report.drop_at);
    rows.count(name, corpus.to_drop);
    let mut out = rows.text(42);
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
    let mut rows = Rows::new(14);
    rows.each("rejected: ", &set.rejected);
    rows.count("items", set.items);
    rows.count("  looked for", set.searched);
    rows.count("  found", set.found);
    let name = lookalike_store::table::cell(&set.name);
    let mut out = format!("test set {name}\n{}", rows.text(42));
    let mut levels = Rows::new(14);
    let heads = format!("{:>14}{:>14}", "one document", "all together");
    levels.row("  items covered by", heads);
    for level in &set.levels {
        let all = format!("{:>14}", count(level.by_all_documents));
        let name = format!("    at least {}", level.share);
        levels.noted(name, level.by_one_document, &all);
    }
    out += &levels.text(28);
    let fields = set.fields;
    let counts = [
        ("looked for by their runs", fields.long),
        ("matched in full", fields.short),
        ("too short", fields.left_out),
        ("without words", fields.empty),
        ("missing", fields.missing),
    ];
    let counts = counts.iter().filter(|(_, n)| *n > 0);
    let counts = listed(", ", counts, |(what, n)| format!("{} {what}", count(*n)));
    let _ = writeln!(out, "  fields: {counts}");
    out
}
