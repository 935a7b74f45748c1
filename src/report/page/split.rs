//! A folder of pages: all clusters with the texts of their members, and an index of their documents,
//! without a script.

use super::choose::{self, Chosen, Rank, Survey};
use super::clusters::{beside, one_cluster};
use super::frame::{Frame, Section, Sheet, many};
use super::markup::{Markup, html, isolated};
use super::panels::table;
use super::texts::{self, Read};
use super::{
    FIXED_BYTES, MEMBERS_LISTED, Page, PageConfig, PageDocuments, PageStats, STAGE, Texts,
    documents, finished, found,
};
use crate::report::wording::Wording;
use lookalike_base::{Context, Memory, Result, Unit, count, counted};
use lookalike_engine::cluster;
use lookalike_engine::document::{ShownDocument, record_bytes};
use lookalike_engine::pipeline::{self, Summary};
use lookalike_store::{ResultFile, SetAside, Workspace, disk};
use std::collections::{HashMap, HashSet};

/// Subdirectory of an output directory with the pages.
pub const SPLIT_DIRECTORY: &str = cluster::DERIVED_DIRECTORY;

/// Documents on a page of clusters, which has about 4 MB.
pub(crate) const SPLIT_DOCUMENTS: u64 = 5_000;

/// Bytes of markup after which a page of texts ends.
const TEXT_PAGE_BYTES: usize = 1 << 20;

/// Documents on a page of the index.
const INDEX_DOCUMENTS: usize = 20_000;

/// Memory that is reserved for each document whose data is gathered, with its names, date and entry
/// in the index.
const DOCUMENT_BYTES: u64 = 1_000;

/// An entry of the index.
struct Entry {
    /// The docno; of a capture its address, its date and its docno.
    name: String,
    document: u32,
    /// The page of its cluster, and the number of the cluster.
    page: usize,
    cluster: u32,
}

/// One page of clusters.
struct Part {
    ranks: std::ops::Range<usize>,
    /// The most and the least members of a cluster.
    members: (u64, u64),
}

/// Writes the pages of a directory to its subdirectory, and names them in the manifest.
pub fn write_split(
    workspace: &mut Workspace,
    config: &PageConfig,
    context: &Context<'_>,
) -> Result<PageStats> {
    let place = workspace.directory().join(SPLIT_DIRECTORY);
    pipeline::note_lost(workspace, context);
    finished(workspace)?;
    disk::create_lasting_directory(&place)?;
    let of = format!("{SPLIT_DIRECTORY}/");
    let before = workspace.forget_others(|name| name.starts_with(&of))?;
    for name in before {
        disk::remove(&workspace.directory().join(name))?;
    }
    let (files, stats) = write(workspace, config, context)?;
    workspace.name_others(files)?;
    Ok(stats)
}

fn write(
    workspace: &Workspace,
    config: &PageConfig,
    context: &Context<'_>,
) -> Result<(Vec<ResultFile>, PageStats)> {
    let (pairs, results) = finished(workspace)?;
    let most = choose::Most::split(results.stats, pairs, config);
    let record = record_bytes(workspace);
    let of_choice = choose::bytes(workspace, pairs.config.measure, &most)?;
    let index = results.stats.documents.saturating_mul(INDEX_BYTES);
    let mut memory = Memory::new(&context.budget, FIXED_BYTES + record + of_choice + index);
    let what = || {
        let documents = counted(results.stats.documents, "document");
        format!("pages of {documents} in clusters")
    };
    memory.check(what)?;
    let (mut survey, ranked) = Survey::new(workspace, config, None, &mut memory, context)?;
    memory.check(what)?;
    let parts = parts(&ranked);
    context.start(STAGE, Unit::Count("pages"), Some(parts.len() as u64 + 1));

    let summary = Summary::of(&workspace.manifest);
    let wording = Wording::of(&summary).ok_or_else(|| workspace.missing("join"))?;
    let mut sheets = Sheets {
        workspace,
        config,
        summary: &summary,
        wording: &wording,
        parts: &parts,
        files: Vec::new(),
        entries: Vec::new(),
        texts: TextPages::default(),
        context,
    };
    // As many pages at once as there is memory for, because each time all documents are read.
    let at_once = (memory.left() / (SPLIT_DOCUMENTS * DOCUMENT_BYTES)).max(1) as usize;
    let none = HashSet::new();
    let (mut first, mut missing) = (0, 0);
    for some in parts.chunks(at_once) {
        let ranks = some.first().map_or(0, |part| part.ranks.start)
            ..some.last().map_or(0, |part| part.ranks.end);
        let ranks = ranked.get(ranks).unwrap_or_default();
        let mut memory = memory;
        let chosen = survey.gather(ranks, false, &mut memory)?;
        memory.check(what)?;
        let wanted = (&chosen.different(), &chosen.roots());
        let aside = Some(SetAside::new(workspace.directory()));
        let room = &mut memory;
        let mut read = texts::read(workspace, &chosen.documents, wanted, room, aside, context)?;
        memory.check(what)?;
        missing += read.missing();
        sheets.texts(&chosen, &mut read)?;
        sheets.clusters(first, some, &chosen, &read)?;
        first += some.len();
    }
    sheets.index()?;
    let chosen = survey.gather(&[], true, &mut memory)?;
    let wanted = (&chosen.compared(), &none);
    let room = &mut memory;
    let read = texts::read(workspace, &chosen.documents, wanted, room, None, context)?;
    memory.check(what)?;
    sheets.front(&chosen, &read)?;
    let files = sheets.files;
    let stats = PageStats {
        clusters: ranked.len() as u64,
        pairs: chosen.pairs().count() as u64,
        missing: missing + read.missing(),
        bytes: files.iter().map(|file| file.bytes).sum(),
        checksum: 0,
    };
    context.progress.end(&format!(
        "{STAGE}: {} of {}",
        counted(files.len() as u64, "page"),
        counted(stats.clusters, "cluster")
    ));
    Ok((files, stats))
}

/// Bytes of an entry of the index, with names of ordinary length.
const INDEX_BYTES: u64 = 200;

/// The name of a document in the index.
fn indexed(document: &ShownDocument) -> String {
    match (&document.url, &document.date) {
        (Some(url), Some(date)) => format!("{url} {date} {}", document.docno),
        _ => document.docno.clone(),
    }
}

/// Cuts the clusters into pages.
fn parts(ranked: &[Rank]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut listed = 0;
    for (at, rank) in ranked.iter().enumerate() {
        match parts.last_mut() {
            Some(part) if listed + rank.listed() <= SPLIT_DOCUMENTS => {
                part.ranks.end = at + 1;
                part.members.1 = rank.members();
                listed += rank.listed();
            }
            _ => {
                listed = rank.listed();
                parts.push(Part {
                    ranks: at..at + 1,
                    members: (rank.members(), rank.members()),
                });
            }
        }
    }
    parts
}

/// A page of clusters, texts or documents.
fn file(kind: &str, page: usize) -> String {
    format!("{kind}-{:04}.html", page + 1)
}

/// The common parts of the pages, and the list of written pages.
struct Sheets<'s> {
    workspace: &'s Workspace,
    config: &'s PageConfig,
    summary: &'s Summary,
    wording: &'s Wording<'s>,
    parts: &'s [Part],
    files: Vec<ResultFile>,
    entries: Vec<Entry>,
    texts: TextPages,
    context: &'s Context<'s>,
}

/// The pages of texts: the sections of the next one, and the pages of the clusters.
#[derive(Default)]
struct TextPages {
    sections: Vec<Markup>,
    bytes: usize,
    written: usize,
    /// By the number of the cluster: the page on which its texts begin.
    of: HashMap<u32, String>,
}

impl TextPages {
    fn put(&mut self, markup: Markup) {
        self.bytes += markup.0.len();
        self.sections.push(markup);
    }
}

impl Sheets<'_> {
    /// Writes one page, with a title and a line below it.
    fn sheet(
        &mut self,
        name: &str,
        (title, below): (&str, Option<Markup>),
        contents: Vec<(&'static str, String)>,
        content: impl FnOnce(&Self, &mut Sheet) -> Result<()>,
    ) -> Result<()> {
        self.context.stop.check(STAGE)?;
        let name = format!("{SPLIT_DIRECTORY}/{name}");
        let path = self.workspace.directory().join(&name);
        let frame = Frame {
            below,
            contents,
            ..Frame::of(title, &self.summary.program)
        };
        let mut sheet = Sheet::create(&path, &frame)?;
        content(self, &mut sheet)?;
        let written = sheet.finish()?;
        self.files.push(ResultFile::new(&name, written));
        self.context.progress.at(self.files.len() as u64);
        Ok(())
    }

    /// Pages with the texts of the members of these clusters, each beside the representative's. A
    /// page ends after [`TEXT_PAGE_BYTES`].
    fn texts(&mut self, chosen: &Chosen, read: &mut Read) -> Result<()> {
        let parse = &self.summary.collection.shingle.parse;
        self.texts.of.clear();
        for cluster in &chosen.clusters {
            read.load(cluster.root, parse)?;
            for (n, member) in cluster.different().enumerate() {
                self.context.stop.check(STAGE)?;
                read.load(member.document, parse)?;
                if n == 0 {
                    let file = file("texts", self.texts.written);
                    self.texts.of.insert(cluster.number, file);
                    let root = chosen.documents.get(&cluster.root);
                    let title = root.map_or("", |root| documents::title(root));
                    self.texts.put(html! {
                        h2 id={ "t" (cluster.number) } { (isolated(title)) }
                    });
                }
                let page = self.page(chosen, read);
                let beside = beside(&page, cluster, member, n == 0);
                self.texts.put(beside);
                read.unload(member.document);
                if self.texts.bytes > TEXT_PAGE_BYTES {
                    self.text_page()?;
                }
            }
            read.unload(cluster.root);
        }
        self.text_page()
    }

    /// Writes the page of the texts that wait for it.
    fn text_page(&mut self) -> Result<()> {
        if self.texts.sections.is_empty() {
            return Ok(());
        }
        let number = self.texts.written;
        let title = format!("Texts of clusters, page {}", count(number as u64 + 1));
        let below = html! {
            a href="index.html" { "Front page" }
            ". Each text is beside the first text of its cluster."
        };
        let sections = std::mem::take(&mut self.texts.sections);
        self.texts.bytes = 0;
        self.texts.written += 1;
        let head = (&*title, Some(below));
        self.sheet(&file("texts", number), head, Vec::new(), |_, sheet| {
            sections
                .into_iter()
                .try_for_each(|markup| sheet.put(markup))
        })
    }

    /// Pages of clusters, from page number `first` on.
    fn clusters(
        &mut self,
        first: usize,
        parts: &[Part],
        chosen: &Chosen,
        read: &Read,
    ) -> Result<()> {
        let mut rest = chosen.clusters.as_slice();
        for (number, part) in (first..).zip(parts) {
            let (here, others) = rest.split_at(part.ranks.len().min(rest.len()));
            rest = others;
            for cluster in here {
                for member in &cluster.shown {
                    let document = chosen.documents.get(&member.document);
                    self.entries.extend(document.map(|document| Entry {
                        name: indexed(document),
                        document: member.document,
                        page: number,
                        cluster: cluster.number,
                    }));
                }
            }
            let title = format!(
                "Clusters {} to {}",
                count(part.ranks.start as u64 + 1),
                count(part.ranks.end as u64)
            );
            let (name, head) = (file("clusters", number), Some(self.around(number)));
            self.sheet(&name, (&title, head), Vec::new(), |sheets, sheet| {
                let page = sheets.page(chosen, read);
                for cluster in here {
                    sheet.put(one_cluster(&page, cluster, MEMBERS_LISTED, false))?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn page<'p>(&'p self, chosen: &'p Chosen, read: &'p Read) -> Page<'p> {
        Page {
            config: self.config,
            summary: self.summary,
            wording: self.wording,
            listed: choose::pairs_listed(self.workspace),
            chosen,
            documents: PageDocuments::of(&chosen.documents, read, self.config),
            texts: Texts::There(&self.texts.of),
        }
    }

    /// Links to the front page and to the neighbours.
    fn around(&self, number: usize) -> Markup {
        let members = |part: &Part| match part.members {
            (most, least) if most == least => many(most, "document") + " each",
            (most, least) => format!("{} to {} each", count(most), many(least, "document")),
        };
        html! {
            a href="index.html" { "Front page" }
            @if number > 0 { ", " a href=(file("clusters", number - 1)) { "larger clusters" } }
            @if number + 1 < self.parts.len() {
                ", " a href=(file("clusters", number + 1)) { "smaller clusters" }
            }
            @if let Some(part) = self.parts.get(number) { ". " (members(part)) "." }
        }
    }

    /// The pages of the index, in the order of the names.
    fn index(&mut self) -> Result<()> {
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable_by(|a, b| (&a.name, a.document).cmp(&(&b.name, b.document)));
        for (number, some) in entries.chunks(INDEX_DOCUMENTS).enumerate() {
            let title = format!("Documents in clusters, page {}", number + 1);
            let head = (
                &*title,
                Some(html! { a href="index.html" { "Front page" } }),
            );
            self.sheet(&file("documents", number), head, Vec::new(), |_, sheet| {
                for some in some.chunks(1000) {
                    sheet.put(html! {
                        ul.index {
                            @for entry in some {
                                li {
                                    (isolated(&entry.name)) " "
                                    a href={ (file("clusters", entry.page)) "#c" (entry.cluster) } {
                                        "cluster " (entry.cluster)
                                    }
                                }
                            }
                        }
                    })?;
                }
                Ok(())
            })?;
        }
        self.entries = entries;
        Ok(())
    }

    /// The front page.
    fn front(&mut self, chosen: &Chosen, read: &Read) -> Result<()> {
        let (title, contents, below) = {
            let page = self.page(chosen, read);
            (page.title(self.workspace)?, page.contents(), page.date())
        };
        self.sheet("index.html", (&title, below), contents, |sheets, sheet| {
            let page = sheets.page(chosen, read);
            sheet.put(found::found(page.summary, page.wording, page.scores()))?;
            if !sheets.parts.is_empty() {
                sheet.put(sheets.contents())?;
            }
            page.after_clusters(sheets.workspace, sheet, sheets.context)
        })
    }

    /// The pages of clusters and of documents.
    fn contents(&self) -> Markup {
        let pages = self.entries.chunks(INDEX_DOCUMENTS).enumerate();
        let name = |entry: Option<&Entry>| isolated(entry.map_or("", |entry| &entry.name));
        Section::new("clusters", "Clusters").of(html! {
            p { "The pages have all clusters, the largest first, with at most "
                (count(MEMBERS_LISTED as u64)) " members of each, and the texts of members \
                that differ from the first one." }
            div.side-by-side {
                (table("Clusters by size", &["clusters", ">documents in each"], &html! {
                    @for (number, part) in self.parts.iter().enumerate() {
                        tr {
                            td { a href=(file("clusters", number)) {
                                (count(part.ranks.start as u64 + 1)) "\u{2013}"
                                (count(part.ranks.end as u64))
                            } }
                            td.n { (count(part.members.1)) "\u{2013}" (count(part.members.0)) }
                        }
                    }
                }))
                (table("Documents in clusters, by name", &["from", "to"], &html! {
                    @for (number, some) in pages {
                        tr {
                            td.name { a href=(file("documents", number)) { (name(some.first())) } }
                            td.name { (name(some.last())) }
                        }
                    }
                }))
            }
        })
    }
}
