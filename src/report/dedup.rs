//! The summary of a deduplication as text.

use std::fmt::Write;

use super::ledger::share;
use crate::base::numbers::{count, counted};
use crate::tasks::dedup::{DedupSummary, Removal, Rule};

/// The table at the end of `dedup`.
#[must_use]
pub fn dedup_ledger(summary: &DedupSummary, rule: Rule) -> String {
    let mut rows = Vec::new();
    let mut row = |name: &str, value: String| rows.push((name.to_string(), value));
    row("records", count(summary.records()));
    row("  documents", count(summary.documents));
    if summary.rejected > 0 {
        row("  rejected, no documents", count(summary.rejected));
    }
    if summary.skipped > 0 {
        row("  skipped, no documents", count(summary.skipped));
    }
    let removed = summary.records_removed();
    let part = share(removed, summary.records());
    row("records removed", format!("{}{part}", count(removed)));
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
        if number > 0 {
            row(name, count(number));
        }
    }
    for (name, number) in [
        ("  rejected records", summary.rejected_dropped),
        (
            "  requests and metadata of removed records",
            summary.companions,
        ),
        ("  of these, leave a revisit record", summary.revisits),
    ] {
        if number > 0 {
            row(name, count(number));
        }
    }
    row("records kept", count(summary.records_kept()));
    row("rule", rule.to_string());
    if summary.whole_files > 0 {
        let value = format!(
            "{} of {}",
            count(summary.whole_files),
            counted(summary.files, "file")
        );
        row("files that lose nothing", value);
    }
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for (name, value) in rows {
        let _ = writeln!(out, "{name:<width$}  {value}");
    }
    out
}
