//! The page of what changed between crawls.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use super::documents::{files_bytes, heading};
use super::frame::{Frame, Sheet, many};
use super::markup::{Markup, begin, end, html, isolated, link, plain, visible};
use super::pairs::both_texts;
use super::panels::{short, table};
use super::side_by_side::options;
use super::texts::{self, Read};
use super::{FIXED_BYTES, STAGE};
use lookalike_base::Result;
use lookalike_base::memory::Memory;
use lookalike_base::numbers::{count, counted};
use lookalike_base::progress::Context;
use lookalike_base::utf8::cut_after;
use lookalike_base::words::shell_word;
use lookalike_engine::document::{ShownDocument, files_of, look_up, record_bytes};
use lookalike_store::workspace::Workspace;
use lookalike_tasks::versions::{Change, Version, VersionsSummary};

const FILTER: &str = include_str!("versions.js");

/// Limit on the versions that are listed, and on the characters of a name.
const MOST: usize = 2000;
const NAME_CHARS: usize = 300;

/// The versions that a page lists: the first ones that are no unchanged page.
#[derive(Debug)]
pub(crate) struct Changes {
    rows: Vec<ChangeRow>,
    all: u64,
    /// Pairs of texts that may follow.
    pairs: usize,
}

#[derive(Debug)]
struct ChangeRow {
    kind: Change,
    address: String,
    score: Option<String>,
    /// The crawls and dates of both, and the address of the earlier document.
    crawls: [String; 2],
    dates: [Option<String>; 2],
    docnos: [Option<String>; 2],
    from: Option<String>,
    note: String,
    /// The documents, if their texts are shown.
    texts: Option<[u32; 2]>,
}

impl Changes {
    pub(crate) fn new(pairs: usize) -> Changes {
        Changes {
            rows: Vec::new(),
            all: 0,
            pairs,
        }
    }

    pub(crate) fn add(&mut self, version: &Version<'_>) {
        use Change::{Edited, First, Moved, Revisit, Rewritten, SameBytes, SameText, SameWords};
        if let First | SameBytes | SameText | SameWords | Revisit = version.kind {
            return;
        }
        self.all += 1;
        if self.rows.len() == MOST {
            return;
        }
        let cut = |text: &str| cut_after(text.into(), NAME_CHARS);
        let (a, b) = (version.a.map(|a| a.1), version.b.map(|b| b.1));
        let compared = matches!(version.kind, Edited | Rewritten | Moved) && self.pairs > 0;
        let numbers = version
            .a
            .zip(version.b.and_then(|b| b.0))
            .filter(|_| compared);
        self.pairs -= usize::from(numbers.is_some());
        self.rows.push(ChangeRow {
            kind: version.kind,
            address: cut(version.address()),
            score: version.resemblance().map(|score| short(&score.json())),
            crawls: version.crawls.map(|name| cut(name.unwrap_or_default())),
            dates: [a, b].map(|of| of?.date.clone()),
            docnos: [a, b].map(|of| Some(cut(&of?.docno))),
            from: a.filter(|_| version.kind == Moved).map(|a| cut(&a.address)),
            note: b.map_or_else(String::new, |b| cut(&b.note)),
            texts: numbers.map(|((a, _), b)| [a, b]),
        });
    }
}

/// Writes the page.
pub(crate) fn write(
    workspace: &Workspace,
    summary: &VersionsSummary,
    listed: &Changes,
    output: &Path,
    context: &Context<'_>,
) -> Result<()> {
    let what = || format!("a page of {}", counted(listed.rows.len() as u64, "version"));
    let held = listed.rows.len() * (6 * NAME_CHARS + size_of::<ChangeRow>());
    let fixed = FIXED_BYTES + record_bytes(workspace) + files_bytes(workspace)? + held as u64;
    let mut memory = Memory::new(&context.budget, fixed);
    let wanted = listed.rows.iter().filter_map(|row| row.texts).flatten();
    let wanted: HashSet<u32> = wanted.collect();
    let numbers = wanted.iter().copied().collect();
    let documents = look_up(workspace, numbers, &mut memory, STAGE, context)?;
    let places = documents.values().map(|it| it.place).collect();
    let texts_only = (&wanted, &HashSet::new());
    let read = texts::read(workspace, places, texts_only, &mut memory, None, context)?;
    memory.check(what)?;
    let page = VersionsPage {
        directory: shell_word(&workspace.directory().display().to_string()).into_owned(),
        files: &files_of(workspace, &documents)?,
        documents: &documents,
        read: &read,
    };
    let frame = Frame {
        title: "What changed between crawls",
        script: Some(FILTER),
        program: &workspace.manifest.program,
        ..Frame::default()
    };
    let mut sheet = Sheet::create(output, &frame)?;
    sheet.put(counts(summary))?;
    sheet.put(begin("section", "versions"))?;
    sheet.put(head(listed))?;
    for row in &listed.rows {
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
    let heads = ["crawl", "from", "to"]
        .into_iter()
        .chain(numbers.iter().map(String::as_str));
    html! {
        section id="crawls" {
            h2 { "Crawls" }
            (table("", &heads.collect::<Vec<_>>(), &html! {
                @for crawl in &summary.crawls {
                    tr {
                        td.name { (isolated(&crawl.name)) }
                        @for date in [&crawl.first, &crawl.last] {
                            td.date { (visible(date.as_deref().unwrap_or("–"))) }
                        }
                        @for kind in &kinds { td.n { (count(crawl.kinds.get(kind).copied().unwrap_or(0))) } }
                    }
                }
            }))
            p.soft {
                (about(summary)) " Each capture is compared with the document that its address had \
                 before; the earlier document is the first one. An edited page reaches the threshold, \
                 and a rewritten one does not."
            }
        }
    }
}

fn head(listed: &Changes) -> Markup {
    let kinds: BTreeSet<Change> = listed.rows.iter().map(|row| row.kind).collect();
    html! {
        h2 { "Changes" }
        @if (listed.rows.len() as u64) < listed.all {
            p.note {
                "The page lists the first " (count(listed.rows.len() as u64)) " of "
                (many(listed.all, "change")) "; a table with --output versions.tsv has all of them."
            }
        }
        p.options id="filter" hidden {
            label { "Words " input id="words" type="search"; }
            label { "Kind "
                select id="kind" {
                    option value="" { "all" }
                    @for kind in kinds { option value=(kind.text()) { (kind.text()) } }
                }
            }
            span id="shown" role="status" {}
        }
    }
}

struct VersionsPage<'p> {
    directory: String,
    files: &'p HashMap<u32, String>,
    documents: &'p HashMap<u32, ShownDocument>,
    read: &'p Read,
}

impl VersionsPage<'_> {
    fn row(&self, row: &ChangeRow) -> Markup {
        let words = [
            Some(&row.address),
            row.from.as_ref(),
            row.docnos[0].as_ref(),
            row.docnos[1].as_ref(),
        ];
        let words: Vec<&str> = words.into_iter().flatten().map(String::as_str).collect();
        let date = |n: usize| row.dates[n].as_deref().unwrap_or(&row.crawls[n]);
        html! {
            details.pair.version data-kind=(row.kind.text()) data-words=(plain(&words.join(" "))) {
                summary {
                    b { (row.kind.text()) @if let Some(score) = &row.score { " " (score) } } " "
                    (isolated(&row.address))
                    @if let Some(from) = &row.from { " " span.soft { "from " (isolated(from)) } }
                    " " span.soft {
                        @if row.docnos[0].is_some() { (visible(date(0))) " → " }
                        (visible(date(1)))
                    }
                }
                div.in { (self.texts(row)) }
            }
        }
    }

    /// Both texts, or what else is known.
    fn texts(&self, row: &ChangeRow) -> Markup {
        let shown = row
            .texts
            .and_then(|[a, b]| Some([(a, self.documents.get(&a)?), (b, self.documents.get(&b)?)]));
        html! {
            @match (shown, &row.docnos) {
                (Some(pair), _) => {
                    div.two-texts.heads {
                        @for (number, document) in pair {
                            (heading(document, self.files, self.read.known.get(&number), None))
                        }
                    }
                    (options(false))
                    (both_texts(self.read, pair))
                }
                (None, docnos) => {
                    p { (link(&row.address)) }
                    @for (n, docno) in docnos.iter().enumerate() {
                        @if let Some(docno) = docno {
                            p.soft { (isolated(&row.crawls[n])) ": " (isolated(docno)) }
                        }
                    }
                    @if let [Some(a), Some(b)] = docnos {
                        p.soft { "To see both: " code {
                            (isolated(&format!("lookalike diff {} {} {}", self.directory, shell_word(a), shell_word(b))))
                        } }
                    }
                    @if !row.note.is_empty() { p.note { (visible(&row.note)) } }
                }
            }
        }
    }
}

/// The kinds that there are.
pub(crate) fn kinds(summary: &VersionsSummary) -> Vec<&'static str> {
    let has = |kind: &&str| {
        summary
            .crawls
            .iter()
            .any(|crawl| crawl.kinds.contains_key(kind))
    };
    Change::ALL
        .map(Change::text)
        .into_iter()
        .filter(has)
        .collect()
}

/// How pages and crawls were told apart, and what is left out.
pub(crate) fn about(summary: &VersionsSummary) -> String {
    let mut out = format!("{} by {}.", counted(summary.pages, "page"), summary.by);
    if summary.order == "inputs" {
        out += " Not every crawl has a date, so the crawls are in the order of the inputs; --crawl gives another.";
    }
    let with = |n: u64, one: &str, many: &str| {
        format!(" {} {}", count(n), if n == 1 { one } else { many })
    };
    if summary.without_document > 0 {
        out += &with(
            summary.without_document,
            "address without a capture that could be read as a document is left out.",
            "addresses without a capture that could be read as a document are left out.",
        );
    }
    if summary.without_address > 0 {
        out += &with(
            summary.without_address,
            "document without an address is left out.",
            "documents without an address are left out.",
        );
    }
    out
}
