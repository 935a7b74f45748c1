//! The sections of the page, in their order.

use std::collections::HashMap;

use super::changes::{Block, Stretch, changes};
use super::choose::{Chosen, HUNDREDTHS, Member, ShownCluster, ShownDocument, ShownPair};
use super::html::Html;
use super::study::Figure;
use super::texts::{Text, Words};
use super::{MEMBERS_SHOWN, PageConfig, WORDS_COMPARED};
use crate::collection::GroupStats;
use crate::experiments::study::{Comparison, Spread};
use crate::ids::Threshold;
use crate::measure::Measure;
use crate::numbers::{self, count, counted, fraction};
use crate::parse::TokenKind;
use crate::pipeline::Summary;
use crate::report::charts::Row;
use crate::report::ledger::{bytes, cost_rows, ledger_rows, share};
use crate::report::wording::Wording;
use crate::sample::Sampling;

/// `1 document`, `2 documents`.
fn many(n: u64, what: &str) -> String {
    counted(n, what).replacen(' ', "\u{a0}", 1)
}

/// What a shingle is in this run.
fn shingle_words(summary: &Summary) -> String {
    let shingle = &summary.collection.shingle;
    match &shingle.parse.tokens {
        TokenKind::Bytes(n) => format!("{n} bytes of text in a row"),
        _ => format!("{} words in a row", shingle.shingle_size),
    }
}

fn is_sampled(summary: &Summary) -> bool {
    summary
        .sampling
        .as_ref()
        .is_some_and(|sampling| *sampling != Sampling::default())
}

pub(super) fn head(html: &mut Html, title: &'static str) {
    html.raw(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'; img-src data:\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>",
    )
    .raw(title)
    .raw("</title>\n<style>\n")
    .raw(include_str!("style.css"))
    .raw("</style>\n</head>\n<body>\n<header>\n<h1>")
    .raw(title)
    .raw("</h1>\n");
}

pub(super) fn contents(html: &mut Html, wording: &Wording<'_>, study: bool, listed: bool) {
    html.raw("<nav aria-label=\"Contents\"><a href=\"#found\">What was found</a>");
    html.raw("<a href=\"#ledger\">Ledger</a><a href=\"#sizes\">Sizes and ")
        .raw(wording.noun())
        .raw("</a>");
    if study {
        html.raw("<a href=\"#study\">Sampling study</a>");
    }
    html.raw("<a href=\"#clusters\">Largest clusters</a>");
    if listed {
        html.raw("<a href=\"#nearest\">Pairs nearest the threshold</a>");
        html.raw("<a href=\"#random\">Pairs at random</a>");
    }
    html.raw("</nav>\n</header>\n<main>\n");
}

pub(super) fn found(html: &mut Html, summary: &Summary, wording: &Wording<'_>, listed: bool) {
    let catalogue = summary.catalogue.clone().unwrap_or_default();
    let cluster = summary.cluster.unwrap_or_default();
    let pairs = summary.join.as_ref().map_or(0, |join| join.pairs);
    let (documents, exact) = (catalogue.documents, catalogue.exact_duplicates);
    html.raw("<section id=\"found\">\n<ul class=\"tiles\">\n");
    let mut tile = |value: String, name: &str| {
        html.raw("<li><b>")
            .text(&value)
            .raw("</b><span>")
            .text(name)
            .raw("</span></li>\n");
    };
    tile(count(documents), "documents");
    tile(count(exact), "exact duplicates");
    if listed {
        tile(count(pairs), &wording.row());
    }
    tile(count(cluster.clusters), "clusters");
    let redundant = cluster.redundant;
    tile(
        count(redundant),
        &format!("redundant documents{}", share(redundant, documents)),
    );
    html.raw("</ul>\n<p>");
    html.text(&format!(
        "{} ({}) gave {}.",
        many(summary.inputs, "input file"),
        bytes(summary.input_bytes),
        many(documents, "document")
    ));
    let rejected: u64 = summary.ingest.rejected.values().sum();
    if rejected > 0 {
        html.text(&format!(
            " {} could not be read as documents; rejects.jsonl names each, and why.",
            many(rejected, "record")
        ));
    }
    if exact > 0 {
        html.text(&format!(
            " {}{} of them {} an earlier one word for word (exact duplicates).",
            count(exact),
            share(exact, documents),
            if exact == 1 { "repeats" } else { "repeat" }
        ));
    }
    if documents > 0 {
        let by = match wording.method {
            None => format!("shingles, which are all runs of {}", shingle_words(summary)),
            Some(method) => format!("the keys that the method {method} makes of each"),
        };
        html.text(&format!(
            " {} compared by {by}: {}.",
            match catalogue.representatives {
                1 => "The 1 that remains was".to_string(),
                n => format!("The {} that remain were", count(n)),
            },
            wording.definition()
        ));
    }
    html.raw("</p>\n<p>");
    if listed {
        let reached = wording.listed();
        html.text(&match pairs {
            0 => format!("No pair of documents has {reached}."),
            1 => format!("{} of documents has {reached}.", many(1, "pair")),
            n => format!("{} of documents have {reached}.", many(n, "pair")),
        });
    } else {
        html.text(&format!(
            "Pairs with {} were looked for as far as the clusters need them, and not listed (--pairs none).",
            wording.listed()
        ));
    }
    if cluster.clusters == 0 {
        html.text(" There are no clusters, and nothing is redundant.");
    } else {
        html.text(&format!(
            " Documents that are linked by such a pair, or are equal, form {}, of {} in all; the largest \
             has {}. Keeping one document of each cluster, and all that are in none, would leave out {}{}.",
            many(cluster.clusters, "cluster"),
            many(cluster.documents, "document"),
            count(cluster.largest),
            many(redundant, "document"),
            share(redundant, documents)
        ));
    }
    html.raw("</p>\n");
    exactness(html, summary, wording);
    html.raw("</section>\n");
}

/// Whether the figures are exact, and if not, what is wrong with them.
fn exactness(html: &mut Html, summary: &Summary, wording: &Wording<'_>) {
    let most = summary.join_config.and_then(|config| config.max_postings);
    let sampled = is_sampled(summary);
    if sampled && let (Some(sampling), Some(sample)) = (&summary.sampling, &summary.sample) {
        let verified = summary
            .join_config
            .is_some_and(|config| config.candidates.is_some());
        let (what, errors) = if verified {
            (
                "Every pair is verified in the full sets, and its resemblance exact; but pairs may be missing",
                "What a sample does not show is not looked up, of",
            )
        } else {
            (
                "These figures are estimates",
                "Pairs near the threshold are missed, and others listed that are below it;",
            )
        };
        html.raw("<p class=\"note\">").text(&format!(
            "{what}: only a sample of the shingles took part ({sampling}: {} of {}{}). {errors} short \
             documents, of which few shingles are sampled, most of all.",
            count(sample.sampled),
            count(sample.shingles),
            share(sample.sampled, sample.shingles)
        ));
        html.raw("</p>\n");
    }
    if let Some(most) = most {
        html.raw("<p class=\"note\">").text(&format!(
            "The {}s of more than {} were left out (--max-postings), so documents may resemble each \
             other more than is counted here, and pairs may be missing.",
            wording.key(),
            many(most.into(), "document")
        ));
        html.raw("</p>\n");
    }
    if !sampled && most.is_none() {
        html.raw(match wording.method {
            None => {
                "<p>The comparison is exact: every shingle of every document took part, and nothing is \
                 estimated.</p>\n"
            }
            Some(_) => {
                "<p>Every key of every document took part: these are all pairs that the method has.</p>\n"
            }
        });
    }
}

pub(super) fn ledger(html: &mut Html, summary: &Summary) {
    html.raw("<section id=\"ledger\">\n<h2>Ledger</h2>\n");
    html.raw("<p>What came in, what was left out and why, and what each stage counted.</p>\n");
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
    html.raw("<th scope=\"col\" class=\"n\">wall s</th><th scope=\"col\" class=\"n\">CPU s</th>");
    html.raw("<th scope=\"col\" class=\"n\">peak so far</th></tr></thead>\n<tbody>\n");
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
        row("max. postings", most.unwrap_or_else(|| "none".into()));
        row("pairs", config.pairs.to_string());
    }
    html.raw("</tbody></table></div></div>\n</div>\n</section>\n");
}

pub(super) fn sizes(
    html: &mut Html,
    summary: &Summary,
    wording: &Wording<'_>,
    histogram: Option<&[u64; HUNDREDTHS]>,
) {
    let (noun, keys) = (wording.noun(), wording.keys());
    html.raw("<section id=\"sizes\">\n<h2>Sizes and ").raw(noun);
    html.raw("</h2>\n<div class=\"side-by-side\">\n<div>\n");
    html.raw("<h3>Documents by number of words</h3>\n");
    html.raw("<p>Exact duplicates are counted once. A document's ")
        .raw(keys)
        .raw(" are the distinct ones.</p>\n");
    let groups = summary
        .catalogue
        .as_ref()
        .map(|catalogue| catalogue.groups.as_slice())
        .unwrap_or_default();
    let documents: u64 = groups.iter().map(|group| group.documents).sum();
    let shingles: u64 = groups.iter().map(|group| group.shingles).sum();
    let part = |n: u64, all: u64| if all == 0 { 0.0 } else { n as f64 / all as f64 };
    let rows: Vec<Row> = groups
        .iter()
        .map(|group| Row {
            label: group_name(group),
            bars: [(group.documents, documents), (group.shingles, shingles)]
                .into_iter()
                .map(|(n, all)| {
                    (
                        part(n, all),
                        numbers::percent(part(n, all), 1).replace(' ', "\u{a0}"),
                    )
                })
                .collect(),
        })
        .collect();
    if documents > 0 {
        html.raw("<figure>\n<figcaption><span class=\"together\"><span class=\"key one\"></span>share of the documents</span> ");
        html.raw("<span class=\"together\"><span class=\"key two\"></span>share of the ")
            .raw(keys)
            .raw("</span></figcaption>\n");
        let label = format!("Share of the documents and of the {keys} in each size group");
        html.bars(&label, &rows);
        html.raw("</figure>\n");
    }
    group_table(html, groups, keys);
    html.raw("</div>\n<div>\n<h3>Pairs by ")
        .raw(noun)
        .raw("</h3>\n");
    match histogram {
        // It has no upper end.
        Some(_) if matches!(wording.measure, Measure::Shared(_)) => {
            html.raw("<p>What they have in common is in <code>pairs.tsv</code>.</p>\n");
        }
        Some(histogram) if histogram.iter().any(|&n| n > 0) => {
            html.raw("<p>Each row is the pairs from its ")
                .raw(noun)
                .raw(" up to the next.</p>\n<figure>\n");
            let rows = histogram_rows(histogram, wording.threshold);
            html.bars(&format!("Number of pairs by {noun}"), &rows);
            html.raw("</figure>\n");
        }
        Some(_) => {
            html.raw("<p>There are no pairs.</p>\n");
        }
        None => not_listed(html),
    }
    html.raw("</div>\n</div>\n</section>\n");
}

/// The bounds of a size group: `500–999`, `9000 or more`.
fn group_name(group: &GroupStats) -> String {
    match group.words.strip_suffix('-') {
        Some(least) => format!("{least} or more"),
        None => group.words.replace('-', "–"),
    }
}

fn group_table(html: &mut Html, groups: &[GroupStats], keys: &'static str) {
    html.raw(
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">words</th><th scope=\"col\" ",
    );
    html.raw("class=\"n\">documents</th><th scope=\"col\" class=\"n\">")
        .raw(keys)
        .raw("</th></tr></thead>\n<tbody>\n");
    for group in groups {
        html.raw("<tr><th scope=\"row\">")
            .text(&group_name(group))
            .raw("</th><td class=\"n\">")
            .text(&count(group.documents))
            .raw("</td><td class=\"n\">")
            .text(&count(group.shingles))
            .raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n");
}

/// Hundredths above the threshold, some together where it is low: some twenty rows at most.
fn histogram_rows(histogram: &[u64; HUNDREDTHS], threshold: Threshold) -> Vec<Row> {
    let lowest = (threshold.numerator() * 100 / threshold.denominator()) as usize;
    let step = match lowest {
        80.. => 1,
        60.. => 2,
        _ => 5,
    };
    let row = |label: String, n: u64| Row {
        label,
        bars: vec![(n as f64, count(n))],
    };
    let mut rows: Vec<Row> = (lowest / step * step..HUNDREDTHS - 1)
        .step_by(step)
        .map(|from| {
            let n = histogram.iter().skip(from).take(step);
            let below = HUNDREDTHS - 1 - from;
            row(format!("0.{from:02}"), n.take(below).sum())
        })
        .collect();
    rows.push(row("1".into(), histogram.last().copied().unwrap_or(0)));
    rows
}

fn not_listed(html: &mut Html) {
    html.raw(
        "<p class=\"note\">Pairs were not listed (--pairs none). To have them listed and shown here: \
         <code>lookalike join DIR --pairs all</code>, then <code>lookalike cluster DIR</code>.</p>\n",
    );
}

/// A share with its spread over classes.
fn spread(html: &mut Html, spread: Option<Spread>) {
    html.raw("<td class=\"n\">");
    match spread {
        None => html.raw("&ndash;"),
        Some(s) if s.least == s.greatest => html.text(&fraction(s.mean, 3)),
        Some(s) => html
            .text(&fraction(s.mean, 3))
            .raw(" <span class=\"soft\">")
            .text(&format!(
                "{} to {}",
                fraction(s.least, 3),
                fraction(s.greatest, 3)
            ))
            .raw("</span>"),
    };
    html.raw("</td>");
}

/// Exact, sampled, verified and planned runs side by side.
fn comparison(html: &mut Html, of: &Comparison) {
    html.raw("<h3>What to choose</h3>\n<p><strong>")
        .text(&of.verdict)
        .raw("</strong></p>\n<p>Of the pairs that a run lists at ")
        .show(of.threshold)
        .raw(
            " or above, <em>precision</em> is the share that is truly so alike; of the pairs that truly are, \
             <em>recall</em> is the share that it lists. 1/16 sorts one of sixteen classes of shingles; shown are the mean \
             over all classes and, smaller, the worst and the best. <em>Verified</em>: what the sample finds from \
             the resemblance named on is checked in the full sets, so that no pair is false. A <em>plan</em> gives each \
             size group the smallest ratio that keeps the precision named. <em>Not sampled at all</em> are documents of which no \
             shingle is in the sample: they can be in no pair.</p>\n\
             <div class=\"scroll\"><table>\n<thead><tr><th>Run</th><th class=\"n\">Shingles sorted</th>\
             <th class=\"n\">Precision</th><th class=\"n\">Recall</th><th class=\"n\">Pairs</th>\
             <th class=\"n\">Looked up</th><th class=\"n\">Not sampled at all</th>\
             <th class=\"n\">CPU seconds</th></tr></thead>\n<tbody>\n",
        );
    for row in &of.rows {
        html.raw("<tr><td>")
            .text(&row.name)
            .raw("</td><td class=\"n\">")
            .text(&numbers::percent(row.share, 2))
            .raw("</td>");
        spread(html, row.precision);
        spread(html, row.recall);
        for n in [row.found, row.looked_up, row.nothing_sampled] {
            html.raw("<td class=\"n\">");
            if n == 0.0 {
                html.raw("&ndash;");
            } else {
                html.text(&count(n.round() as u64));
            }
            html.raw("</td>");
        }
        html.raw("<td class=\"n\">");
        match row.cpu_seconds {
            None => html.raw("&ndash;"),
            Some(seconds) => html.show(format_args!("{seconds:.2}")),
        };
        html.raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n<p class=\"soft\">CPU seconds from the collection to the pairs at ")
        .show(of.lowest)
        .raw(", the lowest threshold of the study; reading the collection took ")
        .show(format_args!("{:.1}", of.reading_seconds))
        .raw(" before that.</p>\n");
}

pub(super) fn study(html: &mut Html, compared: Option<&Comparison>, figures: &[Figure]) {
    html.raw("<section id=\"study\" class=\"study\">\n<h2>Sampling study</h2>\n");
    html.raw("<p>What a sample of the shingles would have cost in accuracy on this collection, beside what ");
    html.raw("Ye, Wen &amp; Ma (2008) saw on theirs.</p>\n");
    if let Some(compared) = compared {
        comparison(html, compared);
    }
    for figure in figures {
        let title = match figure.title.as_str() {
            "" => &figure.file,
            title => title,
        };
        html.raw("<h3>").text(title).raw("</h3>\n");
        match &figure.svg {
            Some(Ok(svg)) => {
                html.raw("<figure class=\"scroll\">\n")
                    .image(svg, title)
                    .raw("\n</figure>\n");
            }
            Some(Err(problem)) => {
                html.raw("<p class=\"note\">study/")
                    .text(&figure.file)
                    .raw(" is not shown: ")
                    .text(problem)
                    .raw(".</p>\n");
            }
            None => {
                html.raw("<p class=\"soft\">study/")
                    .text(&figure.file)
                    .raw("</p>\n");
            }
        }
        for (who, sentence) in [("In the paper: ", &figure.paper), ("Here: ", &figure.here)] {
            if !sentence.is_empty() {
                html.raw("<p><span class=\"soft\">")
                    .text(who)
                    .raw("</span>")
                    .text(sentence)
                    .raw("</p>\n");
            }
        }
    }
    html.raw("</section>\n");
}

pub(super) fn clusters_head(
    html: &mut Html,
    summary: &Summary,
    wording: &Wording<'_>,
    chosen: &Chosen,
) {
    html.raw("<section id=\"clusters\">\n<h2>Largest clusters</h2>\n");
    let all = summary.cluster.unwrap_or_default().clusters;
    if all == 0 {
        html.raw("<p>There are no clusters.</p>\n");
    } else {
        html.raw("<p>");
        let shown = chosen.clusters.len() as u64;
        if shown < all {
            html.text(&format!("{} of {}. ", count(shown), many(all, "cluster")));
        }
        html.raw("A cluster is a chain: each member is like some other, but its ")
            .raw(wording.noun());
        html.raw(
            " to the first, the representative, may be below the threshold. Exact duplicates have the words of a member before \
             them. All clusters are in <code>clusters.jsonl</code>.</p>\n",
        );
    }
}

/// Where pairs are listed, what is not in the list is below the threshold.
pub(super) fn one_cluster(
    html: &mut Html,
    cluster: &ShownCluster,
    wording: &Wording<'_>,
    listed: bool,
    documents: &HashMap<u32, ShownDocument>,
    open: bool,
) {
    html.raw(if open {
        "<details open><summary><b>"
    } else {
        "<details><summary><b>"
    });
    html.text(&many(cluster.members, "document")).raw("</b>");
    let near = cluster.members.saturating_sub(1 + cluster.exact);
    let representative = documents.get(&cluster.root);
    if let Some(document) = representative {
        html.isolated(document.title.as_deref().unwrap_or(&document.docno));
    }
    html.raw(" <span class=\"soft\">")
        .text(&format!(
            "({} near, {} exact)",
            count(near),
            count(cluster.exact)
        ))
        .raw("</span></summary><div class=\"in\">\n");
    if let Some(document) = representative {
        html.raw("<p>Representative: <strong>")
            .isolated(&document.docno)
            .raw("</strong>");
        if let Some(title) = &document.title {
            html.raw(", ").isolated(title);
        }
        if let Some(url) = &document.url {
            html.raw("<br>").link(url);
        }
        html.raw("</p>\n");
    }
    html.raw("<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">docno</th><th scope=\"col\">kind</th>");
    html.raw("<th scope=\"col\" class=\"n\">")
        .raw(wording.noun())
        .raw("</th><th scope=\"col\" class=\"n\">words</th>");
    html.raw("<th scope=\"col\">title</th><th scope=\"col\">address</th></tr></thead>\n<tbody>\n");
    for member in &cluster.shown {
        one_member(html, member, cluster.root, wording, listed, documents);
    }
    html.raw("</tbody></table></div>\n");
    if cluster.members > cluster.shown.len() as u64 {
        html.raw("<p class=\"soft\">")
            .text(&format!(
                "The first {MEMBERS_SHOWN} of {}.",
                many(cluster.members, "document")
            ))
            .raw("</p>\n");
    }
    html.raw("</div></details>\n");
}

fn one_member(
    html: &mut Html,
    member: &Member,
    root: u32,
    wording: &Wording<'_>,
    listed: bool,
    documents: &HashMap<u32, ShownDocument>,
) {
    let Some(document) = documents.get(&member.document) else {
        return;
    };
    html.raw("<tr><td class=\"name\">")
        .isolated(&document.docno)
        .raw("</td><td>");
    html.raw(if member.document == root {
        "representative"
    } else if member.first != member.document {
        "exact"
    } else {
        "near"
    });
    html.raw("</td><td class=\"n\">");
    match member.alike {
        _ if member.first == root => {
            html.raw("1.000000");
        }
        Some((amount, (a, b))) => {
            html.text(&wording.measure.text(amount, a.into(), b.into()));
        }
        None => {
            let below = match listed {
                true => wording.below(),
                false => "not listed".into(),
            };
            html.raw("<span class=\"soft\">")
                .text(&below)
                .raw("</span>");
        }
    }
    html.raw("</td><td class=\"n\">")
        .text(&count(document.words))
        .raw("</td><td class=\"long\">");
    html.isolated(document.title.as_deref().unwrap_or_default())
        .raw("</td><td class=\"long\">");
    html.link(document.url.as_deref().unwrap_or_default())
        .raw("</td></tr>\n");
}

/// Which pairs a section shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Nearest,
    Random,
}

pub(super) fn pairs_head(
    html: &mut Html,
    which: Which,
    shown: usize,
    summary: &Summary,
    wording: &Wording<'_>,
    config: &PageConfig,
) {
    let threshold = wording.least();
    let all = summary.join.as_ref().map_or(0, |join| join.pairs);
    match which {
        Which::Nearest => {
            html.raw("<section id=\"nearest\">\n<h2>Pairs nearest the threshold</h2>\n<p>");
            html.text(&format!(
                "Those of {} that are at or least above {threshold}: is this still alike enough? ",
                many(all, "pair")
            ));
            html.raw("<del>Words marked so</del> are in the first text only, <ins>words marked so</ins> in ");
            html.raw("the second only; words are the same whatever their capitals and punctuation");
            html.text(match summary.collection.shingle.parse.tokens {
                TokenKind::Words => ". ",
                _ => " if those are the same, too. ",
            });
            html.raw("Stretches without a difference are folded.</p>\n");
        }
        Which::Random => {
            html.raw("<section id=\"random\">\n<h2>Pairs at random</h2>\n<p>");
            html.text(&format!(
                "Drawn from the other pairs, with seed {}.",
                config.seed
            ));
            html.raw(" All pairs are in <code>pairs.tsv</code>.</p>\n");
        }
    }
    if shown == 0 {
        html.raw(match (which, all) {
            (_, 0) => "<p>There are no pairs.</p>\n",
            (Which::Nearest, _) => "<p>None was asked for.</p>\n",
            (Which::Random, _) => "<p>There are no others.</p>\n",
        });
    }
}

pub(super) fn one_pair(
    html: &mut Html,
    pair: &ShownPair,
    documents: &HashMap<u32, ShownDocument>,
    texts: &HashMap<u32, Text>,
    summary: &Summary,
    wording: &Wording<'_>,
    open: bool,
) {
    let (Some(a), Some(b)) = (documents.get(&pair.a), documents.get(&pair.b)) else {
        return;
    };
    let (size_a, size_b) = pair.sizes;
    html.raw(if open {
        "<details open><summary><b>"
    } else {
        "<details><summary><b>"
    });
    let score = wording
        .measure
        .text(pair.amount, size_a.into(), size_b.into());
    html.text(&score)
        .raw("</b>")
        .isolated(&a.docno)
        .raw(" and ")
        .isolated(&b.docno);
    if let Some(title) = a.title.as_ref().or(b.title.as_ref()) {
        html.raw(" <span class=\"soft\">")
            .isolated(title)
            .raw("</span>");
    }
    html.raw("</summary><div class=\"in\">\n<p class=\"soft\">");
    let sampled = if is_sampled(summary) { "sampled " } else { "" };
    let shared = many(pair.shared.into(), &format!("{sampled}{}", wording.key()));
    html.text(&match wording.measure.of_words() {
        false => format!(
            "{shared} shared, of {} in the first and {} in the second",
            count(size_a.into()),
            count(size_b.into())
        ),
        true => format!(
            "{shared} shared, of {} and {}",
            many(size_a.into(), "word"),
            many(size_b.into(), "word")
        ),
    });
    html.raw("</p>\n<div class=\"two-texts heads\">");
    for document in [a, b] {
        html.raw("<div><p><strong>")
            .isolated(&document.docno)
            .raw("</strong> <span class=\"soft\">")
            .text(&many(document.words, "word"))
            .raw("</span></p>");
        if let Some(title) = &document.title {
            html.raw("<p>").isolated(title).raw("</p>");
        }
        if let Some(url) = &document.url {
            html.raw("<p>").link(url).raw("</p>");
        }
        html.raw("</div>");
    }
    html.raw("</div>\n");
    match (texts.get(&pair.a), texts.get(&pair.b)) {
        (Some(Text::Found(a)), Some(Text::Found(b))) => {
            two_texts(html, a, b, &summary.collection.shingle.parse.tokens);
        }
        (a, b) => {
            for (document, text) in [(pair.a, a), (pair.b, b)] {
                if let (Some(document), Some(Text::Missing(problem))) =
                    (documents.get(&document), text)
                {
                    html.raw("<p class=\"note\">The text of ")
                        .isolated(&document.docno)
                        .raw(" is not shown: ")
                        .text(problem)
                        .raw(".</p>\n");
                }
            }
        }
    }
    html.raw("</div></details>\n");
}

fn two_texts(html: &mut Html, a: &Words, b: &Words, tokens: &TokenKind) {
    for block in changes(a, b, tokens) {
        match block {
            Block::Folded(words) => {
                html.raw("<p class=\"fold\">… ")
                    .text(&many(words as u64, "word"))
                    .raw(" alike …</p>\n");
            }
            Block::Shown(stretches) => {
                html.raw("<div class=\"two-texts\">");
                side(html, a, &stretches, true);
                side(html, b, &stretches, false);
                html.raw("</div>\n");
            }
        }
    }
    if a.cut || b.cut {
        html.raw("<p class=\"note\">").text(&format!(
            "Only the beginnings of these texts are compared here: at most {} of each, less where words \
             are very long. What is marked near the end may go on behind it.",
            many(WORDS_COMPARED as u64, "word")
        ));
        html.raw("</p>\n");
    }
}

/// One of the texts in a block.
fn side(html: &mut Html, words: &Words, stretches: &[Stretch], first: bool) {
    html.raw("<div class=\"side\" dir=\"auto\">");
    let mut any = false;
    for stretch in stretches {
        let range = if first { &stretch.a } else { &stretch.b };
        let text = words.text.get(range.clone()).unwrap_or_default();
        any |= !text.is_empty();
        if stretch.alike || text.is_empty() {
            html.text(text);
            continue;
        }
        // The space behind the last word is not marked.
        let marked = text.trim_end();
        html.raw(if first { "<del>" } else { "<ins>" })
            .text(marked)
            .raw(if first { "</del>" } else { "</ins>" })
            .text(text.get(marked.len()..).unwrap_or_default());
    }
    if !any {
        html.raw("<span class=\"nothing\">nothing here</span>");
    }
    html.raw("</div>");
}

pub(super) fn end(html: &mut Html) {
    html.raw("</section>\n");
}

pub(super) fn foot(html: &mut Html, summary: &Summary) {
    html.raw("</main>\n<footer>")
        .text(&summary.program)
        .raw(". This page loads nothing and runs nothing.</footer>\n</body>\n</html>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_hold_every_pair() {
        let mut histogram = [0u64; HUNDREDTHS];
        for (bin, n) in histogram.iter_mut().enumerate() {
            *n = bin as u64;
        }
        for (text, rows, first) in [
            ("0.85", 16, "0.85"),
            ("2/3", 18, "0.66"),
            ("0.5", 11, "0.50"),
            ("0.01", 21, "0.00"),
            ("1", 1, "1"),
        ] {
            let found = histogram_rows(&histogram, text.parse().unwrap());
            assert_eq!((found.len(), found[0].label.as_str()), (rows, first));
            let all: f64 = found.iter().map(|row| row.bars[0].0).sum();
            let from = first.parse::<f64>().unwrap() * 100.0;
            let expected: u64 = (from.round() as u64..=100).sum();
            assert_eq!(all, expected as f64, "{text}");
        }
    }
}
