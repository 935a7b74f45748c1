//! The summary of a deduplication as text.

use std::fmt::Write;
use std::path::Path;

use super::answer::{doubt, gone_for, named, not_used, programs};
use super::rows::{Rows, part_of};
use lookalike_base::{Result, count, counted, path_word};
use lookalike_engine::join::{Pairs, PairsEntry};
use lookalike_engine::pipeline::Summary;
use lookalike_store::Workspace;
use lookalike_tasks::dedup::{DedupConfig, DedupSummary, Form, Removal, Rule};

/// The answer of a finished deduplication, in at most six lines: of a collection in its directory as
/// the user gave it, with the directories of the kept and the removed records, and the page.
///
/// # Errors
/// Those of reading the rejects.
pub(crate) fn deduplicated(
    summary: &DedupSummary,
    (workspace, work): (&Workspace, &Path),
    (kept, removed, page): (&Path, Option<&Path>, Option<&Path>),
    config: &DedupConfig,
) -> Result<String> {
    let gone = summary.removed_documents();
    let (documents, files) = (summary.documents, counted(summary.files, "file"));
    let mut out = format!("Read {} from {files}.\n", counted(documents, "document"));
    let (what, written) = match config.form {
        Form::Records => ("removed", "Kept records"),
        Form::Annotated => ("marked as redundant", "All records"),
        Form::Lists => ("listed as redundant", "Lists"),
    };
    let was = if gone == 1 { "was" } else { "were" };
    let of = part_of(gone, documents, "document");
    let reasons = Removal::ALL
        .iter()
        .zip(&summary.removed)
        .filter(|(_, n)| **n > 0);
    let reasons: Vec<String> = reasons.map(|(reason, &n)| gone_for(*reason, n)).collect();
    let colon = if reasons.is_empty() { "" } else { ": " };
    let mut why = format!("{colon}{}", reasons.join(", "));
    for (number, with) in [
        (summary.rejected_dropped, "rejected record"),
        (summary.companions, "WARC request and metadata record"),
    ] {
        if number > 0 {
            why += &format!("; also {}", counted(number, with));
        }
    }
    let _ = writeln!(out, "{of} {was} {what}{why}.");
    let revisits = revisits(summary);
    if !revisits.is_empty() {
        let _ = writeln!(out, "{}", revisits.join(" "));
    }
    let read = Summary::of(&workspace.manifest);
    not_used(workspace, work, &mut out)?;
    let _ = write!(out, "{written} in {}", kept.display());
    if let Some(removed) = removed.map(Path::display) {
        let _ = write!(out, ", removed ones and the reasons in {removed}");
    }
    let pairs = workspace.manifest.get::<PairsEntry>();
    let (has_pairs, pairs) = (pairs.is_some(), pairs.map(|entry| entry.config.pairs));
    let found = match pairs {
        Some(Pairs::None) => "clusters",
        Some(_) => "pairs and clusters",
        None => "collection without pairs",
    };
    let _ = writeln!(out, "; {found} in {}.", work.display());
    if let Some(check) = doubt(&read, work) {
        let _ = writeln!(out, "{check}");
        return Ok(out);
    }
    // Lists have no page, and a page needs clusters; a page that the user asked for follows.
    if config.form == Form::Records && gone > 0 && has_pairs && page.is_none() {
        let (kept, programs) = (path_word(kept), programs(workspace));
        let _ = writeln!(
            out,
            "Next: lookalike report {kept}{programs}   # shows what was removed, and why"
        );
    }
    Ok(out)
}

/// Returns the sentences about the `revisit` records that `dedup` wrote or found in the inputs.
pub(super) fn revisits(summary: &DedupSummary) -> Vec<String> {
    let (of, kept) = (&summary.references, summary.references.kept);
    let mut says = Vec::new();
    let gone = summary.records_removed();
    if gone > 0 && (summary.untraced_copies.is_some() || summary.revisits > 0) {
        let left = counted(summary.revisits, "revisit record");
        let none = count(gone.saturating_sub(summary.revisits + summary.companions));
        says.push(format!(
            "{left} stand in the place of removed ones; {none} removed records left none (see --revisit)."
        ));
        if let Some(copies) = summary.untraced_copies.filter(|copies| *copies > 0) {
            let have = if copies == 1 { "has" } else { "have" };
            says.push(format!(
                "Of these, {} {have} the words of the record that was kept (see --identical).",
                count(copies)
            ));
        }
        if summary.later_survivors > 0 {
            says.push(format!(
                "For {}, the kept record with the same payload is later, and a revisit record refers \
                 to an earlier one (see --keep oldest).",
                count(summary.later_survivors)
            ));
        }
    }
    if kept > 0 {
        let were = if kept == 1 { "was" } else { "were" };
        let it = if kept == 1 { "it" } else { "each" };
        let kept = counted(kept, "duplicate");
        says.push(format!(
            "{kept} {were} kept, because a revisit record refers to {it}."
        ));
    }
    for (number, what) in [
        (of.removed, "a removed record"),
        (
            of.outside,
            "a capture outside of the inputs, perhaps of an earlier crawl",
        ),
    ] {
        if number > 0 {
            let refer = if number == 1 { "refers" } else { "refer" };
            let (number, of) = (count(number), counted(of.revisits, "revisit record"));
            says.push(format!("{number} of {of} {refer} to {what}."));
        }
    }
    says
}

/// All counts of a deduplication, for `dedup --verbose`.
pub(crate) fn dedup_ledger(summary: &DedupSummary, rule: Rule) -> String {
    let mut rows = Rows::default();
    rows.count("records", summary.records());
    rows.count("  documents", summary.documents);
    rows.any("  rejected, no documents", summary.rejected);
    rows.any("  skipped, no documents", summary.skipped);
    let (removed, records) = (summary.records_removed(), summary.records());
    rows.share("records removed", removed, records);
    for (reason, &number) in Removal::ALL.iter().zip(&summary.removed) {
        rows.any(format!("  {}", named(*reason)), number);
    }
    rows.any("  rejected records", summary.rejected_dropped);
    let name = "  requests and metadata of removed records";
    rows.any(name, summary.companions);
    rows.any("  of these, leave a revisit record", summary.revisits);
    rows.count("records kept", records - removed);
    let references = &summary.references;
    let name = "  duplicates to which revisit records refer";
    rows.any(name, references.kept);
    rows.any("revisit records in the inputs", references.revisits);
    rows.any("  refer to a removed record", references.removed);
    rows.any(
        "  refer to a capture outside of the inputs",
        references.outside,
    );
    rows.row("rule", rule.to_string());
    if summary.whole_files > 0 {
        let (whole, files) = (count(summary.whole_files), summary.files);
        let value = format!("{whole} of {}", counted(files, "file"));
        rows.row("files that lose nothing", value);
    }
    rows.text(rows.longest() + 2)
}
