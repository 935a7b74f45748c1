//! `transfer`: carry labels to near-duplicates in another collection.

use crate::transfer::{TransferConfig, TransferReport, run as transfer};
use lookalike::report::rows::Rows;
use lookalike_base::{count, counted};

use lookalike::cli::command::{Command, Context, Out, Result};

/// Warn if one in this number of docnos is unknown.
const UNKNOWN: u64 = 10;

impl Command for TransferConfig {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let report = transfer(self, context)?;
        for warning in warnings(&report, self) {
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
