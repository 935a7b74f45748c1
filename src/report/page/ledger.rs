//! The ledger, the cost of each stage and the parameters of the run.

use super::frame::{Section, many};
use super::markup::{Markup, html, isolated, visible};
use super::panels::table;
use crate::report::ledger::{bytes, cost_rows, ledger_rows};
use lookalike_base::{Measure, Result, count};
use lookalike_engine::collection::each_unread;
use lookalike_engine::pipeline::Summary;
use lookalike_store::{InputList, Workspace};
use lookalike_text::parse::TokenKind;

/// The most files of a list.
pub(super) const FILES_NAMED: u64 = 100;

/// The files from which no document was read, and why.
pub(super) fn unread(workspace: &Workspace) -> Result<Markup> {
    let (mut files, mut all) = (Vec::new(), 0);
    let mut inputs = InputList::open(workspace.directory())?;
    each_unread(workspace, |reject| {
        all += 1;
        if all <= FILES_NAMED {
            let path = inputs.path_of(reject.source.file)?.to_string();
            files.push((path, reject.reason.text(), reject.detail));
        }
        Ok(())
    })?;
    if all == 0 {
        return Ok(html! {});
    }
    let rows = html! {
        @for (path, reason, detail) in &files {
            tr {
                th scope="row" { (isolated(path)) }
                td { (reason) @if !detail.is_empty() { ": " (visible(detail)) } }
            }
        }
    };
    let section = Section::new("unread", "Files that were not read");
    Ok(section.of(html! {
        p {
            "No document was read from " (many(all, "file")) ". "
            @if all > FILES_NAMED { "The first " (count(FILES_NAMED)) " are listed here; " }
            @else { "The list of all records that were not used is " }
            code { "rejects.jsonl" } @if all > FILES_NAMED { " lists all" } "."
        }
        (table("", &["file", "reason"], &rows))
    }))
}

/// The section, folded.
pub(super) fn ledger(summary: &Summary) -> Markup {
    let rows = ledger_rows(summary).into_iter().map(|(name, value)| {
        let trimmed = name.trim_start().to_string();
        let class = match name.len() - trimmed.len() {
            0 => None,
            1..=2 => Some("in1"),
            _ => Some("in2"),
        };
        (class, trimmed, value)
    });
    Section::new("ledger", "Ledger").of(html! {
        p { "What the run read, what it left out and why, and what each stage counted and cost." }
        details {
            summary { "All counts, costs and parameters" }
            div.in {
                div.side-by-side {
                    (table("Counts", &[], &html! {
                        @for (class, name, value) in rows {
                            tr { th scope="row" class=[class] { (name) } td { (value) } }
                        }
                    }))
                    div { (costs(summary)) (made_with(summary)) }
                }
            }
        }
    })
}

fn costs(summary: &Summary) -> Markup {
    let caption = "Time and memory of each stage";
    html! {
        (table(caption, &["stage", ">wall time (s)", ">CPU time (s)", ">peak memory so far"], &html! {
            @for (stage, cost) in cost_rows(summary) {
                tr {
                    th scope="row" { (stage) }
                    td.n { (format_args!("{:.2}", cost.wall_seconds)) }
                    td.n { (format_args!("{:.2}", cost.cpu_seconds)) }
                    td.n { (bytes(cost.peak_bytes)) }
                }
            }
        }))
    }
}

fn made_with(summary: &Summary) -> Markup {
    let shingle = &summary.collection.shingle;
    let mut rows = vec![("program", summary.program.clone())];
    if let Some(method) = &summary.method {
        rows.push(("method", method.clone()));
    } else {
        rows.extend(summary.collection.parameters());
        if !matches!(shingle.parse.tokens, TokenKind::Bytes(_)) {
            rows.push(("shingle size", shingle.shingle_size.to_string()));
        }
        rows.push(("short documents", shingle.short.to_string()));
        rows.push(("fingerprint", shingle.fingerprint.to_string()));
        rows.push(("seed", shingle.seed.to_string()));
    }
    if let Some(sampling) = &summary.sampling {
        rows.push(("sampling", sampling.to_string()));
    }
    if let Some(config) = &summary.join_config {
        if !config.measure.is_default() {
            rows.push(("score", config.measure.to_string()));
        }
        if !matches!(config.measure, Measure::Shared(_)) {
            rows.push(("threshold", config.threshold.to_string()));
        }
        let most = config.max_postings.map(|most| most.to_string());
        rows.push(("posting limit", most.unwrap_or_else(|| "none".into())));
        rows.push(("pairs", config.pairs.to_string()));
        rows.extend(config.review.map(|review| ("review", review.to_string())));
    }
    let rows = html! {
        @for (name, value) in rows { tr { th scope="row" { (name) } td { (visible(&value)) } } }
    };
    table("Made with", &[], &rows)
}
