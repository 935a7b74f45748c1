//! `transfer`: carry labels to near-duplicates in another collection.

use std::path::PathBuf;

use crate::transfer::{LabelsFormat, TransferConfig, TransferReport, run as transfer};
use clap::Args;
use lookalike::report::rows::Rows;
use lookalike_base::Result;
use lookalike_base::numbers::{count, counted};
use lookalike_base::progress::Context;

use lookalike::cli::flags::ThresholdFlag;
use lookalike::cli::{Command, Out};

/// Options of `transfer`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Labels of documents of OLD: judgements, or a list of docno and label
    ///
    /// --labels-format lists the forms. The file may be compressed.
    #[arg(long, value_name = "FILE")]
    labels: PathBuf,
    /// Output directory of a run with the labelled documents
    #[arg(long, value_name = "OLD")]
    from: PathBuf,
    /// Output directory with the documents that get the labels
    ///
    /// It must have the --tokens, --shingle-size, --short, --fingerprint and --seed of OLD. With an
    /// index (`lookalike stage index`), few labels take little time.
    #[arg(long, value_name = "NEW")]
    to: PathBuf,
    /// Directory for the labels and contradictions.jsonl [default: none]
    ///
    /// The labels are in qrels, or in labels.tsv, labels.txt, labels.csv or labels.jsonl, by their
    /// form. Without this flag, the command only counts.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Form of the labels: auto, trec, ndeval, prels, tsv, text, csv, jsonl
    ///
    /// trec, ndeval and prels are judgements, as for `lookalike lab qrels --qrels-format`. tsv has
    /// lines of a docno, a tab and a label; text has any white space between them. csv has a header
    /// with the columns docno and label. jsonl has objects with the members docno and label. A list
    /// has one line for each docno. auto decides by the first line: a brace begins jsonl, four
    /// fields with an integer at the end are trec or ndeval, five fields with numbers are prels,
    /// one tab makes tsv, a header makes csv, and other lines of two fields are text.
    ///
    /// Example: --labels-format tsv
    #[arg(long, value_name = "FORM", default_value_t = LabelsFormat::default())]
    labels_format: LabelsFormat,
    #[command(flatten)]
    threshold: ThresholdFlag,
}

/// Warn if one in this number of docnos is unknown.
const UNKNOWN: u64 = 10;

impl Command for Options {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let config = TransferConfig {
            labels: self.labels.clone(),
            format: self.labels_format,
            from: self.from.clone(),
            to: self.to.clone(),
            threshold: self.threshold.threshold.unwrap_or_default(),
            output: self.output.clone(),
        };
        let report = transfer(&config, context)?;
        for warning in warnings(&report, &config) {
            context.progress.note(&warning);
        }
        out.found(self.output.as_deref(), &report, || Ok(table(&report)))
    }
}

fn warnings(report: &TransferReport, config: &TransferConfig) -> Vec<String> {
    let path = report.path.display();
    let mut warnings = Vec::new();
    let unknown = report.unknown_docnos;
    if unknown > 0 && unknown >= report.docnos / UNKNOWN {
        warnings.push(format!(
            "warning: {path}: the collection in {} does not have {} of {}; check that it is the \
             labelled collection, and that it has the docnos of the labels",
            config.from.display(),
            count(unknown),
            counted(report.docnos, "docno"),
        ));
    }
    if report.unwritable > 0 {
        warnings.push(format!(
            "warning: {} left out of the written labels, whose form cannot hold the docno; \
             transferred.tsv has them",
            counted(report.unwritable, "label")
        ));
    }
    if report.repeated > 0 {
        warnings.push(format!(
            "warning: {} left out of the written labels, because several documents of {} have the \
             same docno; transferred.tsv has them",
            counted(report.repeated, "label"),
            config.to.display()
        ));
    }
    warnings
}

/// The report as text for people.
fn table(report: &TransferReport) -> String {
    let mut rows = Rows::new(12);
    rows.count("labels read", report.labels);
    rows.count("  of unknown documents", report.unknown_labels);
    rows.count("  without a near-duplicate", report.alone);
    rows.count("  overruled by more similar documents", report.overruled);
    rows.count("  transferred", report.transferred);
    rows.count("documents that get labels", report.documents);
    rows.count("labels that they get", report.written);
    rows.count("contradictions", report.contradictions);
    rows.count("docnos of the labels", report.docnos);
    rows.count("  unknown", report.unknown_docnos);
    let (path, format) = (report.path.display(), report.format);
    format!("labels {path} ({format})\n{}", rows.text(38))
}
