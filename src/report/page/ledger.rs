//! The ledger, the cost of each stage and the parameters of the run.

use super::html::Html;
use crate::measure::Measure;
use crate::parse::TokenKind;
use crate::pipeline::Summary;
use crate::report::ledger::{bytes, cost_rows, ledger_rows};

pub(super) fn ledger(html: &mut Html, summary: &Summary) {
    html.raw("<section id=\"ledger\">\n<h2>Ledger</h2>\n");
    html.raw("<p>What the run read, what it left out and why, and what each stage counted.</p>\n");
    html.raw("<div class=\"side-by-side\">\n<div class=\"scroll\"><table>\n<tbody>\n");
    for (name, value) in ledger_rows(summary) {
        let trimmed = name.trim_start();
        html.raw(match name.len() - trimmed.len() {
            0 => "<tr><th scope=\"row\">",
            1..=2 => "<tr><th scope=\"row\" class=\"in1\">",
            _ => "<tr><th scope=\"row\" class=\"in2\">",
        });
        html.text(trimmed)
            .raw("</th><td>")
            .text(&value)
            .raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n<div><div class=\"scroll\"><table>\n");
    html.raw(
        "<caption>Time and memory of each stage</caption>\n<thead><tr><th scope=\"col\">stage</th>",
    );
    html.raw("<th scope=\"col\" class=\"n\">wall time (s)</th><th scope=\"col\" class=\"n\">CPU time (s)</th>");
    html.raw("<th scope=\"col\" class=\"n\">peak memory so far</th></tr></thead>\n<tbody>\n");
    for (stage, cost) in cost_rows(summary) {
        html.raw("<tr><th scope=\"row\">")
            .text(stage)
            .raw("</th><td class=\"n\">")
            .show(format_args!("{:.2}", cost.wall_seconds))
            .raw("</td><td class=\"n\">")
            .show(format_args!("{:.2}", cost.cpu_seconds))
            .raw("</td><td class=\"n\">")
            .text(&bytes(cost.peak_bytes))
            .raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n<div class=\"scroll\"><table>\n<caption>Made with</caption>\n<tbody>\n");
    let shingle = &summary.collection.shingle;
    let mut row = |name: &str, value: String| {
        html.raw("<tr><th scope=\"row\">")
            .text(name)
            .raw("</th><td>")
            .text(&value)
            .raw("</td></tr>\n");
    };
    row("program", summary.program.clone());
    if let Some(method) = &summary.method {
        row("method", method.clone());
    } else {
        row("tokens", shingle.parse.tokens.to_string());
        if !matches!(shingle.parse.tokens, TokenKind::Bytes(_)) {
            row("shingle size", shingle.shingle_size.to_string());
        }
        row("short documents", shingle.short.to_string());
        row("fingerprint", shingle.fingerprint.to_string());
        row("seed", shingle.seed.to_string());
    }
    if let Some(sampling) = &summary.sampling {
        row("sampling", sampling.to_string());
    }
    if let Some(config) = &summary.join_config {
        if !config.measure.is_default() {
            row("score", config.measure.to_string());
        }
        if !matches!(config.measure, Measure::Shared(_)) {
            row("threshold", config.threshold.to_string());
        }
        let most = config.max_postings.map(|most| most.to_string());
        row("posting limit", most.unwrap_or_else(|| "none".into()));
        row("pairs", config.pairs.to_string());
    }
    html.raw("</tbody></table></div></div>\n</div>\n</section>\n");
}
