//! The page of what changed between crawls.

use std::collections::BTreeSet;
use std::path::Path;

use super::documents::{PageDocuments, files_bytes};
use super::frame::{Frame, Section, Sheet, many};
use super::markup::{Markup, begin, end, html, isolated, link, named_link, plain, visible};
use super::pairs::compared;
use super::panels::{short, table};
use super::texts;
use super::{FIXED_BYTES, PageConfig, STAGE};
use lookalike_base::{Context, Memory, Result, count, counted, cut_after, path_word, shell_word};
use lookalike_engine::document::record_bytes;
use lookalike_store::Workspace;
use lookalike_tasks::versions::{Capture, Change, Crawl, Version, VersionsSummary};

const FILTER: &str = include_str!("versions.js");

/// Limit on the versions that are listed, and on the characters of a name.
const MOST: usize = 2000;
const NAME_CHARS: usize = 300;

/// The versions that a page lists: the first ones that are not an unchanged page.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    rows: Vec<Version>,
    all: u64,
    /// The kinds of the others.
    unlisted: BTreeSet<Change>,
}

/// Whether the texts of a version differ.
fn has_texts(row: &&Version) -> bool {
    use Change::{Edited, Moved, Returned, Rewritten};
    matches!(row.kind, Edited | Rewritten | Moved | Returned) && row.captures[0].is_some()
}

impl Changes {
    /// Adds a version.
    pub(crate) fn add(&mut self, mut version: Version) {
        use Change::{First, Revisit, SameBytes, SameText, SameWords};
        if let First | SameBytes | SameText | SameWords | Revisit = version.kind {
            self.unlisted.insert(version.kind);
            return;
        }
        self.all += 1;
        if self.rows.len() == MOST {
            return;
        }
        let captures = version.captures.iter_mut().flatten();
        let names = captures.flat_map(|it| [&mut it.address, &mut it.docno, &mut it.note]);
        let others = version.crawls.iter_mut().chain([&mut version.moved_to]);
        for name in names.chain(others.flatten()) {
            *name = cut_after(std::mem::take(name), NAME_CHARS);
        }
        self.rows.push(version);
    }
}

/// Writes the page, with the texts of `config.pairs` versions.
pub(crate) fn write(
    workspace: &Workspace,
    summary: &VersionsSummary,
    listed: &Changes,
    (output, config): (&Path, &PageConfig),
    context: &Context<'_>,
) -> Result<()> {
    let rows = &listed.rows;
    let held = rows.len() * (8 * NAME_CHARS + size_of::<Version>());
    let fixed = FIXED_BYTES + record_bytes(workspace) + files_bytes(workspace)? + held as u64;
    let mut memory = Memory::new(&context.budget, fixed);
    let with_texts = rows.iter().filter(has_texts).take(config.pairs);
    let wanted = with_texts.flat_map(|row| row.documents).flatten();
    let (documents, read) = texts::of_pairs(workspace, wanted, &mut memory, context)?;
    memory.check(|| format!("a page of {}", counted(rows.len() as u64, "version")))?;
    let page = VersionsPage {
        directory: path_word(workspace.directory()),
        documents: PageDocuments::of(&documents, &read, config),
    };
    let frame = Frame {
        script: Some(FILTER),
        ..Frame::of("What changed between crawls", &workspace.manifest.program)
    };
    let mut sheet = Sheet::create(output, &frame)?;
    sheet.put(counts(summary))?;
    sheet.put(begin("section", "versions"))?;
    sheet.put(head(listed, summary, config.pairs))?;
    for row in rows {
        context.stop.check(STAGE)?;
        sheet.put(page.row(row))?;
    }
    sheet.put(end("section"))?;
    sheet.finish().map(|_| ())
}

/// The table of counts.
fn counts(summary: &VersionsSummary) -> Markup {
    let kinds = kinds(summary);
    let numbers: Vec<String> = kinds.iter().map(|kind| format!(">{kind}")).collect();
    let mut heads = vec!["crawl", "from", "to"];
    heads.extend(numbers.iter().map(String::as_str));
    Section::new("crawls", "Crawls").of(html! {
        (table("", &heads, &html! {
            @for crawl in &summary.crawls {
                tr {
                    td.name { (isolated(&crawl.name)) }
                    @for date in [&crawl.first, &crawl.last] {
                        td.date { (visible(date.as_deref().unwrap_or("–"))) }
                    }
                    @for number in numbers_of(crawl, &kinds) { td.n { (number) } }
                }
            }
        }))
        @for warning in &summary.warnings { p.note { (visible(warning)) } }
        p.soft {
            (about(summary)) " Each capture is compared with the document that its address had \
             before; the earlier document is the first one. An edited page reaches the threshold, \
             and a rewritten one does not."
        }
    })
}

fn head(listed: &Changes, summary: &VersionsSummary, most: usize) -> Markup {
    let with_texts = listed.rows.iter().filter(has_texts).count();
    let kinds: BTreeSet<Change> = listed.rows.iter().map(|row| row.kind).collect();
    let shown = listed.rows.len() as u64;
    let unlisted: Vec<&str> = listed.unlisted.iter().map(|kind| kind.text()).collect();
    html! {
        h2 { "Changes" }
        @if shown < listed.all {
            p.note {
                "The page lists the first " (count(shown)) " of " (many(listed.all, "change"))
                "; a table with --output versions.tsv has all of them."
            }
        }
        @if !listed.unlisted.is_empty() {
            p.soft {
                "The page leaves out what did not change (" (unlisted.join(", "))
                "); a table with --output versions.tsv has all rows."
            }
        }
        @if most < with_texts {
            p.note {
                "The page has the texts of the first " (count(most as u64)) " of "
                (many(with_texts as u64, "change")) "; --samples " (with_texts) " shows all."
            }
        }
        p.options id="filter" hidden {
            label { "Words, address, date " input id="words" type="search"; }
            label { "Crawl "
                select id="crawl" {
                    option value="" { "all" }
                    @for crawl in &summary.crawls {
                        option value=(plain(&crawl.name)) { (plain(&crawl.name)) }
                    }
                }
            }
            label { "Kind "
                select id="kind" {
                    option value="" { "all" }
                    @for kind in kinds { option { (kind.text()) } }
                }
            }
            span id="shown" role="status" {}
        }
    }
}

struct VersionsPage<'p> {
    directory: String,
    documents: PageDocuments<'p>,
}

impl VersionsPage<'_> {
    fn row(&self, row: &Version) -> Markup {
        let kind = row.kind.text();
        let [a, b] = row.captures.each_ref().map(Option::as_ref);
        let from = a.filter(|_| row.kind == Change::Moved).map(|a| &*a.address);
        let other = from.or(row.moved_to.as_deref());
        let docnos = [a, b].map(|of| Some(of?.docno.as_str()));
        let dates = [a, b].map(|of| of?.date.as_ref());
        let shown = row.documents.map(|number| self.documents.get(number?));
        let titles = shown.map(|document| document?.title.as_deref());
        let known = dates.map(|date| date.map(String::as_str)).into_iter();
        let words = [Some(row.address()), other].into_iter().chain(known);
        let words: Vec<&str> = words.chain(docnos).chain(titles).flatten().collect();
        let crawls = row.crawls.each_ref().map(Option::as_ref);
        let [date_a, date_b] = [0, 1].map(|n| dates[n].or(crawls[n]).map_or("", String::as_str));
        html! {
            details.pair.version data-kind=(kind) data-crawl=(plain(crawls[1].map_or("", String::as_str)))
                data-words=(plain(&words.join(" "))) {
                summary {
                    b { (kind) @if let Some(score) = row.resemblance() { " " (short(&score.json())) } } " "
                    (isolated(row.address()))
                    @if let Some(other) = other {
                        " " span.soft { @if from.is_some() { "from " } @else { "to " } (isolated(other)) }
                    }
                    " " span.soft { @if a.is_some() { (visible(date_a)) " → " } (visible(date_b)) }
                }
                div.in { (self.texts(row, [a, b])) }
            }
        }
    }

    /// Both texts, or what else is known.
    fn texts(&self, row: &Version, captures: [Option<&Capture>; 2]) -> Markup {
        let documents = row.documents.map(|number| self.documents.get(number?));
        if let [Some(a), Some(b)] = documents {
            return compared(self.documents, [a, b]);
        }
        // A longer address was cut.
        let note = captures[1].map_or("", |b| &b.note);
        let known = row.documents.iter().zip(captures);
        let known =
            known.filter_map(|(of, it)| Some(shell_word(&it.filter(|_| of.is_some())?.docno)));
        let known: Vec<_> = known.collect();
        let command =
            |name, of: &str| isolated(&format!("lookalike {name} {} {of}", self.directory));
        html! {
            p { (link(row.address())) }
            @for (crawl, capture) in row.crawls.iter().zip(captures) {
                @if let (Some(crawl), Some(Capture { address, docno, date, .. })) = (crawl, capture) {
                    @let date = date.as_deref().unwrap_or_default();
                    p.soft {
                        (isolated(crawl)) ": " (visible(date)) " " (isolated(docno))
                        @if let Some(replayed) = self.documents.replay.filter(|_| address.chars().count() <= NAME_CHARS)
                            .and_then(|it| it.of(address, date)) {
                            " " (named_link(&replayed, html! { "capture" }))
                        }
                    }
                }
            }
            @match &known[..] {
                [] => {}
                [docno] => p.soft { "To see it: " code { (command("show", docno)) } },
                _ => p.soft { "To see both: " code { (command("diff", &known.join(" "))) } },
            }
            @if !note.is_empty() { p.note { (visible(note)) } }
        }
    }
}

/// The kinds that there are.
pub(crate) fn kinds(summary: &VersionsSummary) -> Vec<&'static str> {
    let mut kinds = Change::ALL.map(Change::text).to_vec();
    kinds.retain(|kind| (summary.crawls.iter()).any(|crawl| crawl.kinds.contains_key(kind)));
    kinds
}

/// The rows of a crawl, by kind.
pub(crate) fn numbers_of(crawl: &Crawl, kinds: &[&'static str]) -> impl Iterator<Item = String> {
    let number = |kind| crawl.kinds.get(kind).copied().unwrap_or(0);
    kinds.iter().map(move |kind| count(number(kind)))
}

/// How pages and crawls were distinguished, and the omitted pages.
pub(crate) fn about(summary: &VersionsSummary) -> String {
    let mut out = format!("{} by {}.", counted(summary.pages, "page"), summary.by);
    if summary.order == "inputs" {
        out += " Not every crawl has a date, so the crawls are in the order of the inputs; --crawl gives another.";
    }
    let unread = "without a capture that could be read as a document";
    for (n, noun, rest) in [
        (summary.without_document, "address", unread),
        (summary.without_address, "document", "without an address"),
    ] {
        let are = if n == 1 { "is" } else { "are" };
        if n > 0 {
            out += &format!(" {} {rest} {are} left out.", counted(n, noun));
        }
    }
    out
}
