//! The summary of a deduplication as text.

use super::rows::Rows;
use crate::base::numbers::{count, counted};
use crate::tasks::dedup::{DedupSummary, Removal, Rule};

/// The table at the end of `dedup`.
pub(crate) fn dedup_ledger(summary: &DedupSummary, rule: Rule) -> String {
    let mut rows = Rows::default();
    rows.count("records", summary.records());
    rows.count("  documents", summary.documents);
    rows.any("  rejected, no documents", summary.rejected);
    rows.any("  skipped, no documents", summary.skipped);
    let (removed, records) = (summary.records_removed(), summary.records());
    rows.share("records removed", removed, records);
    for (reason, &number) in Removal::ALL.iter().zip(&summary.removed) {
        let name = match reason {
            Removal::Exact => "  exact duplicates",
            Removal::Near => "  near-duplicates",
            Removal::Chain => "  connected by a chain",
            Removal::Contained => "  contained in a kept document",
            Removal::Clustered => "  members of clusters",
            Removal::Empty => "  documents without words",
            Removal::Listed => "  listed (--remove)",
        };
        rows.any(name, number);
    }
    rows.any("  rejected records", summary.rejected_dropped);
    let name = "  requests and metadata of removed records";
    rows.any(name, summary.companions);
    let name = "  of these, leave a revisit record";
    rows.any(name, summary.revisits);
    rows.count("records kept", summary.records_kept());
    rows.row("rule", rule.to_string());
    if summary.whole_files > 0 {
        let (whole, files) = (count(summary.whole_files), summary.files);
        let value = format!("{whole} of {}", counted(files, "file"));
        rows.row("files that lose nothing", value);
    }
    rows.text(rows.longest() + 2)
}
