//! The page of a search for contamination: the items of which one document has the most, with the
//! texts of both side by side.

use std::path::Path;

use super::frame::{Frame, Sheet, many};
use super::markup::{Markup, begin, end, html, isolated, link, visible};
use super::panels::{headline, number, table};
use super::side_by_side::{block, options};
use super::texts::folded;
use lookalike_base::{Result, count, numbers::share};
use lookalike_engine::align::TextComparison;
use lookalike_store::{CREATED_BY, disk};
use lookalike_tasks::contamination::{
    ContaminationReport, DROP_FILE, FOUND_FILE, ITEMS_FILE, ListedDocument, ShownItem,
};
use lookalike_text::parse::ParseConfig;

/// Writes the page. `parse` says how texts are cut into tokens.
pub(crate) fn contamination(
    report: &ContaminationReport,
    parse: &ParseConfig,
    output: &Path,
) -> Result<()> {
    let title = match &report.test_sets[..] {
        [set] => format!("Items of {} in the corpus", set.name),
        sets => format!(
            "Items of {} in the corpus",
            many(sets.len() as u64, "test set")
        ),
    };
    let mut sheet = Sheet::create(output, &Frame::of(&title, CREATED_BY))?;
    sheet.put(found(report))?;
    if !report.shown.is_empty() {
        sheet.put(begin("section", "items"))?;
        sheet.put(ranking(report))?;
        for (item, rank) in report.shown.iter().zip(1..) {
            sheet.put(one_item(item, rank, parse))?;
        }
        sheet.put(end("section"))?;
    }
    sheet.finish()?;
    disk::sync_parent(output)
}

/// The items of all test sets that share a run with a document.
fn items_found(report: &ContaminationReport) -> u64 {
    report.test_sets.iter().map(|set| set.found).sum()
}

fn found(report: &ContaminationReport) -> Markup {
    let items: u64 = report.test_sets.iter().map(|set| set.items).sum();
    let found = items_found(report);
    let verb = if found == 1 || items == 1 {
        "is"
    } else {
        "are"
    };
    let finding = format!("of {} {verb} in the corpus.", many(items, "test item"));
    let corpus = &report.corpus;
    let columns = ">items,>looked for,>found,>one document has 0.8 or more,>one document has all";
    let columns: Vec<&str> = ["test set"].into_iter().chain(columns.split(',')).collect();
    html! {
        section id="found" {
            (headline(found, &finding, &[]))
            p.soft {
                "An item is found if it shares a run of at least " (many(report.ngram.into(), "word"))
                " with a document, or a shorter field of it in full. " (count(corpus.found)) " of "
                (many(corpus.documents, "document")) " share a run with an item"
                @if corpus.to_drop > 0 {
                    ", and " code { (DROP_FILE) } " lists the " (many(corpus.to_drop, "document")) " with "
                    (report.drop_at.to_string()) " of an item or more"
                } "."
            }
            (table("", &columns, &html! {
                @for set in &report.test_sets {
                    tr {
                        td.name { (isolated(&set.name)) }
                        @for n in [set.items, set.searched, set.found] { (number(&count(n))) }
                        @for level in set.levels.iter().skip(2) { (number(&count(level.by_one_document))) }
                    }
                }
            }))
        }
    }
}

/// The share of an item that is covered.
fn part(covered: u32, item: &ShownItem) -> String {
    share(covered.into(), item.tokens.into()).unwrap_or_default()
}

/// File and record.
fn place(document: &ListedDocument) -> String {
    format!("{}:{}", document.file, document.record)
}

/// The items in a table, and the text about all of them.
fn ranking(report: &ContaminationReport) -> Markup {
    let sets = report.test_sets.len() > 1;
    let columns = ">rank,item,document with the most,>words of the item,>in this document,>in all documents,>documents";
    let columns = columns.split(',').chain(sets.then_some("test set"));
    let columns: Vec<&str> = columns.collect();
    let (shown, all) = (report.shown.len() as u64, items_found(report));
    html! {
        h2 { "Items by the share that one document has" }
        p {
            @if shown < all {
                "The first " (count(shown)) " of " (many(all, "item")) ". " code { (ITEMS_FILE) } " lists all. "
            }
            "A run covers words of the item, and the share counts each covered word once. "
            code { (FOUND_FILE) } " has the place of each run."
        }
        (table("", &columns, &html! {
            @for (item, rank) in report.shown.iter().zip(1u64..) {
                @let best = item.listed.first();
                tr {
                    (number(&count(rank)))
                    td.name { a href={ "#item-" (rank) } { (isolated(&item.id)) } }
                    td.name { @if let Some(best) = best { (isolated(&place(best))) } }
                    (number(&count(item.tokens.into())))
                    (number(&part(best.map_or(0, |best| best.covered), item)))
                    (number(&part(item.covered, item)))
                    (number(&count(item.documents)))
                    @if sets { td.name { (isolated(&item.set)) } }
                }
            }
        }))
    }
}

/// An item and its documents.
fn one_item(item: &ShownItem, rank: u64, parse: &ParseConfig) -> Markup {
    let rest = item.documents.saturating_sub(item.listed.len() as u64);
    let best = item.listed.first().map_or(0, |best| best.covered);
    html! {
        details.pair id={ "item-" (rank) } open[rank == 1] {
            summary { b { (part(best, item)) } " " (isolated(&item.id)) }
            div.in {
                (options(true))
                @for document in &item.listed { (one_document(item, document, parse)) }
                @if rest > 0 { p.note { (many(rest, "document")) " with runs of this item not shown here." } }
            }
        }
    }
}

/// A document beside an item, or why it is missing.
fn one_document(item: &ShownItem, document: &ListedDocument, parse: &ParseConfig) -> Markup {
    let texts = &document.texts;
    html! {
        div.two-texts.heads {
            div {
                p { strong { (isolated(&item.id)) } }
                p.soft { "Test item, " (many(item.tokens.into(), "word")) }
            }
            div {
                p { strong { (isolated(&texts.docno)) } }
                p.soft {
                    (isolated(&place(document))) ", has " (many(document.covered.into(), "word"))
                    " of the item (" (part(document.covered, item)) ")"
                }
                @if let Some(url) = &texts.url { p { (link(url)) } }
                @if let Some(date) = &texts.date { p { (isolated(date)) } }
            }
        }
        @for window in &texts.windows {
            @let [of_item, of_document] = [0, 1].map(|n| folded(&window.texts[n], parse));
            @let comparison = TextComparison::new(&of_item, &of_document).of_whole_words();
            h3 { "Field " (visible(&window.field)) }
            @for piece in comparison.blocks(None) { (block(&comparison, &piece)) }
        }
        @if texts.more > 0 {
            p.note { (many(texts.more as u64, "place")) " of the item in this document are not shown here." }
        }
    }
}
