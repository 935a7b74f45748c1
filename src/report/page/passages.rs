//! The page of a search for passages: the largest clusters of reuses, and the pairs of documents that
//! share the most words, with their passages side by side.

use std::collections::HashSet;
use std::path::Path;

use super::documents::{PageDocuments, files_bytes, named, title};
use super::frame::{Frame, Section, Sheet, many};
use super::ledger::{FILES_NAMED, unread};
use super::markup::{Markup, begin, end, html, isolated, visible};
use super::pairs::{headings, names, why_missing};
use super::panels::{headline, table};
use super::side_by_side::{block, options};
use super::texts;
use super::{FIXED_BYTES, PageConfig, PageStats, STAGE, WORDS_COMPARED};
use crate::report::answer::each_length;
use lookalike_base::{Context, Memory, Result, Unit, count, counted, percent, shell_word};
use lookalike_engine::align::{TextComparison, Words};
use lookalike_engine::collection::has_captures;
use lookalike_engine::document::{ShownDocument, look_up, record_bytes};
use lookalike_engine::pipeline::Summary;
use lookalike_store::Workspace;
use lookalike_tasks::passages::shown::{
    Shared, SharedCluster, SharedPair, SharedPassage, SharedPlace, largest, list_bytes, most_shared,
};
use lookalike_text::read::stated_date;

/// Words before and after a passage.
const AROUND: usize = 15;
/// Words of a cluster's text in its heading.
const EXCERPT: usize = 30;

/// Writes the page of a directory with passages to `output`.
pub(crate) fn write(
    workspace: &Workspace,
    config: &PageConfig,
    output: &Path,
    context: &Context<'_>,
) -> Result<PageStats> {
    let what = || {
        let pairs = counted(config.pairs as u64, "pair");
        format!("a page of {pairs} with their passages")
    };
    let (record, names) = (record_bytes(workspace), files_bytes(workspace)?);
    let directory = workspace.directory();
    let list = list_bytes(directory, config.pairs, config.clusters)?;
    let mut memory = Memory::new(&context.budget, FIXED_BYTES + record + names + list);
    memory.check(what)?;
    context.start(STAGE, Unit::Count("steps"), Some(3));
    let shared = most_shared(directory, config.pairs, context)?;
    let clusters = match shared.gaps {
        Some(_) => largest(directory, config.clusters, context)?,
        None => (0, Vec::new()),
    };
    context.progress.at(1);
    let pairs = shared.pairs.iter().flat_map(|pair| pair.documents);
    let earliest = clusters.1.iter().map(|cluster| cluster.places[0].document);
    let wanted = pairs.chain(earliest);
    let (mut documents, read) = texts::of_pairs(workspace, wanted, &mut memory, context)?;
    let places = clusters.1.iter().flat_map(|cluster| &cluster.places);
    let mut others: Vec<u32> = places.map(|place| place.document).collect();
    others.retain(|number| !documents.contains_key(number));
    if !others.is_empty() {
        documents.extend(look_up(workspace, others, &mut memory, STAGE, context)?);
    }
    memory.check(what)?;
    context.progress.at(2);
    let page = Page {
        read_documents: Summary::of(&workspace.manifest).ingest.documents,
        captures: has_captures(&workspace.manifest),
        shared: &shared,
        clusters: &clusters.1,
        config,
        documents: PageDocuments::of(&documents, &read, config),
    };
    let title = config.title.clone().unwrap_or_else(|| page.title());
    let mut sheet = Sheet::create(output, &Frame::of(&title, &workspace.manifest.program))?;
    sheet.put(page.found())?;
    if !page.clusters.is_empty() {
        sheet.put(begin("section", "clusters"))?;
        sheet.put(page.head_of_clusters(clusters.0))?;
        for (at, cluster) in page.clusters.iter().enumerate() {
            context.stop.check(STAGE)?;
            sheet.put(page.cluster(cluster, at == 0))?;
        }
        sheet.put(end("section"))?;
    }
    if !shared.pairs.is_empty() {
        sheet.put(begin("section", "pairs"))?;
        sheet.put(page.ranking())?;
        for (at, pair) in shared.pairs.iter().enumerate() {
            context.stop.check(STAGE)?;
            sheet.put(page.pair(pair, at == 0))?;
        }
        sheet.put(end("section"))?;
    }
    sheet.put(short(workspace, &shared)?)?;
    sheet.put(unread(workspace)?)?;
    let written = sheet.finish()?;
    let shown = [0, shared.pairs.len()];
    Ok(PageStats::end(workspace, written, shown, &read, context))
}

/// The documents that are too short for a passage.
fn short(workspace: &Workspace, shared: &Shared) -> Result<Markup> {
    let (mut names, mut all) = (Vec::new(), 0);
    if let Ok(length) = shared.length.parse::<u64>() {
        each_length(workspace, |docno, words| {
            if words < length {
                all += 1;
                if all <= FILES_NAMED {
                    names.push(docno.to_string());
                }
            }
        })?;
    }
    if all == 0 {
        return Ok(html! {});
    }
    Ok(Section::new("short", "Documents that are too short").of(html! {
        p {
            (many(all, "document")) (if all == 1 { " has" } else { " have" }) " fewer words than a \
             passage: "
            @for (at, name) in names.iter().enumerate() {
                @if at > 0 { ", " }
                (isolated(name))
            }
            @if all > FILES_NAMED { " and " (count(all - FILES_NAMED)) " more" } "."
        }
    }))
}

/// The data that the sections of the page show.
struct Page<'p> {
    /// The number of documents of the collection.
    read_documents: u64,
    captures: bool,
    shared: &'p Shared,
    /// The largest first.
    clusters: &'p [SharedCluster],
    config: &'p PageConfig,
    documents: PageDocuments<'p>,
}

impl Page<'_> {
    /// The documents, if there is one pair, and else how many were compared.
    fn title(&self) -> String {
        let names = self.shared.pairs.iter().flat_map(|pair| pair.documents);
        let names = names.map(|number| self.documents.get(number).map(title));
        let of = match (&names.collect::<Vec<_>>()[..], self.shared.all) {
            ([Some(a), Some(b)], 1) => format!("{a} and {b}"),
            _ => many(self.read_documents, "document"),
        };
        format!("Shared passages of {of}")
    }

    /// The dates that both documents of a pair state, and which of them is the later document.
    fn later(&self, pair: &SharedPair) -> Option<(usize, [&str; 2])> {
        let [a, b] = pair.documents.map(|n| self.documents.read.known.get(&n));
        let stated = [a?.date.as_deref()?.trim(), b?.date.as_deref()?.trim()];
        let [a, b] = stated.map(stated_date);
        let is_later = b? > a?;
        (a != b).then_some((usize::from(is_later), stated))
    }

    /// The pairs in a table, and the text about all of them.
    fn ranking(&self) -> Markup {
        let pairs = &self.shared.pairs;
        let dated = pairs.iter().any(|pair| self.later(pair).is_some());
        let columns =
            ">rank,document,shares with,>words,>of the document,>of the other,which is later";
        let columns: Vec<&str> = columns.split(',').take(6 + usize::from(dated)).collect();
        html! {
            (self.head())
            (table("", &columns, &html! {
                @for (pair, rank) in pairs.iter().zip(1u64..) {
                    @let later = self.later(pair);
                    @let (who, whom) = match later { Some((1, _)) => (1, 0), _ => (0, 1) };
                    @let names = pair.documents.map(|number| html! {
                        @if let Some(document) = self.documents.get(number) { (named(document)) }
                    });
                    @let [a, b] = pair.documents;
                    tr {
                        td.n { (count(rank)) }
                        td.name { a href={ "#pair-" (a) "-" (b) } { (names[who]) } }
                        td.name { (names[whom]) }
                        td.n { (count(pair.words[who])) }
                        td.n { (percent(pair.shares[who], 1)) }
                        td.n { (percent(pair.shares[whom], 1)) }
                        @match later {
                            Some((_, days)) => td.date { "the document: " (days[who]) ", the other: " (days[whom]) },
                            None => @if dated { td {} },
                        }
                    }
                }
            }))
        }
    }

    fn head_of_clusters(&self, all: u64) -> Markup {
        let shown = self.clusters.len() as u64;
        html! {
            h2 { "Texts and their places" }
            p {
                "A cluster is all places of one text, the earliest first. "
                @if shown < all {
                    "The first " (count(shown)) " of " (many(all, "cluster")) ", by their documents. "
                    code { "lookalike report " (self.directory()) " --clusters N" } " shows more of them, and "
                    code { "reuse-places.tsv" } " lists all. "
                }
                "The page shows the matched words of the strongest reuse that links a place to the cluster. If \
                 they are few, or their density is low, the place may have another text."
            }
        }
    }

    /// A cluster with its places.
    fn cluster(&self, cluster: &SharedCluster, open: bool) -> Markup {
        let (first, places) = (&cluster.places[0], &cluster.places);
        let dated = first.date.as_deref();
        // The first date may be a month or a year.
        let mut others = places.iter().filter(|of| of.document != first.document);
        let undecided = others.any(|of| match (dated, &of.date) {
            (Some(date), Some(other)) => other.starts_with(date),
            _ => false,
        });
        let listed = self.shared.pairs.iter().map(|pair| pair.documents);
        let listed: HashSet<[u32; 2]> = listed.collect();
        let other = places.iter().find(|of| of.document != first.document);
        let both = [Some(first), other].map(|of| self.documents.get(of?.document));
        html! {
            details.pair id={ "cluster-" (cluster.number) } open[open] {
                summary {
                    b { (many(cluster.documents, "document")) } " "
                    @match dated { Some(date) => { (isolated(date)) }, None => "undated" }
                    ": " (self.excerpt(first))
                }
                div.in {
                    @if undecided {
                        p.note { "These dates do not say which document is the earliest." }
                    } @else if dated.is_none() {
                        p.note { "No record states a date: the places are in the order of the input." }
                    }
                    (table("", &["date", "document", ">words", ">words matched", ">density", ""], &html! {
                        @for place in places {
                            @let pair = [[first.document, place.document], [place.document, first.document]]
                                .into_iter().find(|pair| listed.contains(pair));
                            tr {
                                td.date { @match &place.date { Some(date) => { (isolated(date)) }, None => "undated" } }
                                td.name {
                                    @if let Some(document) = self.documents.get(place.document) {
                                        (named(document)) " " (self.documents.address(document))
                                    }
                                }
                                td.n { (count((place.end - place.begin) as u64)) }
                                td.n { (count(place.words)) }
                                td.n { (percent(place.density, 1)) }
                                td { @if let Some([a, b]) = pair { a href={ "#pair-" (a) "-" (b) } { "pair" } } }
                            }
                        }
                    }))
                    p.note {
                        @if (places.len() as u64) < cluster.all {
                            (count(cluster.all - places.len() as u64)) " more places are in " code { "reuse-places.tsv" }
                            ", cluster " (cluster.number) ". "
                        }
                        @if let (Some(directory), [Some(a), Some(b)], Some([_, length, _])) =
                            (&self.config.directory, both, &self.shared.gaps)
                        {
                            "To see the words of two of them: "
                            code { (isolated(&diff(directory, [a, b], &format!("--passages --length {length}")))) }
                        }
                    }
                }
            }
        }
    }

    /// The first words of a place.
    fn excerpt(&self, place: &SharedPlace) -> Markup {
        let text = match self.documents.read.texts.get(&place.document) {
            Some(Ok(text)) if place.begin < text.spans.len() => text,
            _ => return html! { "its text is not available" },
        };
        let end = place.end.min(place.begin + EXCERPT).min(text.spans.len());
        let first = &text.text[text.bytes_of(&(place.begin..end))];
        html! { (isolated(first)) @if end < place.end { " …" } }
    }

    /// The directory as a shell reads it.
    fn directory(&self) -> Markup {
        let directory = self.config.directory.as_deref();
        isolated(&directory.map_or("DIR".into(), shell_word))
    }

    fn found(&self) -> Markup {
        let (what, share) = match self.shared.all {
            1 => ("pair", "shares"),
            _ => ("pairs", "share"),
        };
        let finding = format!("{what} of documents {share} a passage.");
        html! {
            section id="found" {
                (headline(self.shared.all, &finding, &[]))
                p.soft {
                    (many(self.read_documents, "document")) " were compared. A passage is a run of at \
                     least " (visible(&self.shared.length)) " words that both documents have"
                    @if let Some([gap, length, density]) = &self.shared.gaps {
                        ", in pieces of at least " (visible(length)) ", with gaps of at most " (visible(gap))
                        " words; at least the share " (visible(density)) " of its words is in pieces"
                    }
                    @if self.shared.excluding {
                        ", without the words of excluded texts. Where these lie in a passage, it is shown in parts, \
                         which may be shorter"
                    } ". "
                    @if let Some(condition) = &self.shared.condition {
                        "Only pairs with " code { (isolated(condition)) } " are listed. "
                    } "What \
                     the tokens leave out, such as markup and white space, does not matter. "
                    @if self.shared.gaps.is_some() || self.captures {
                        "Of two " (if self.shared.gaps.is_some() { "dated documents" } else { "captures" })
                        ", the first is the earlier one; of others, the one that was read first"
                    } @else { "Two documents are in the order in which they were read" }
                    ", which does not say which one is the source. The table names the later one first if their \
                     records state dates."
                }
            }
        }
    }

    fn head(&self) -> Markup {
        let shown = self.shared.pairs.len() as u64;
        html! {
            h2 { "Pairs with the most shared words" }
            p {
                @if shown < self.shared.all {
                    "The first " (count(shown)) " of " (many(self.shared.all, "pair")) " in total. "
                    code { "lookalike report " (self.directory()) " --samples N" } " shows more of them, and "
                    code { "overlaps.tsv" } " lists all. "
                }
                "The passages of a pair are in the order of the first document"
                @if !self.shared.excluding { ", with the words around them" } "."
            }
            @if !self.shared.repeated.is_empty() {
                p {
                    "Pairs that share only words of a row above come after the others: "
                    (isolated(&self.shared.repeated.join("; "))) "."
                }
            }
        }
    }

    fn pair(&self, pair: &SharedPair, open: bool) -> Markup {
        let [a, b] = pair.documents;
        let Some(documents) = self.documents.both(pair.documents) else {
            return html! {};
        };
        let [words_a, words_b] = pair.words.map(|words| many(words, "word"));
        let [share_a, share_b] = pair.shares.map(|share| percent(share, 1));
        html! {
            details.pair id={ "pair-" (a) "-" (b) } open[open] {
                summary {
                    b { (many(pair.words.into_iter().max().unwrap_or_default(), "word")) } " "
                    (names(documents[0], "and", documents[1]))
                }
                div.in {
                    p.soft.small {
                        "Shared: " (words_a) " of the first document (" (share_a) "), " (words_b)
                        " of the second (" (share_b) ")."
                        @if let Some((later, _)) = self.later(pair) {
                            " The " (["second", "first"][later]) " is the earlier one."
                        }
                    }
                    (headings(self.documents, documents))
                    (self.passages(pair, documents))
                }
            }
        }
    }

    /// The passages of a pair, or why they are missing.
    fn passages(&self, pair: &SharedPair, documents: [&ShownDocument; 2]) -> Markup {
        let Some(texts) = self.documents.read.both(documents) else {
            return why_missing(self.documents, documents);
        };
        let shown = shown(&pair.passages, texts);
        let rest = pair.all.map(|all| all.saturating_sub(shown.len() as u64));
        html! {
            @if !shown.is_empty() { (options(true)) }
            @for passage in &shown {
                h3 {
                    "Passage of " (many(passage.words as u64, "word"))
                    @if self.shared.gaps.is_some() {
                        @let [a, b] = [0, 1].map(|n| (passage.ends[n] - passage.begins[n]) as u64);
                        " in a stretch of " (count(a)) " in the first document and " (count(b)) " in the second"
                    }
                }
                // Excluded words beside a passage would look as if they were shared.
                @let most = if self.shared.excluding { 0 } else { AROUND };
                @let [first, second] = [0, 1].map(|n| around(texts[n], passage, n, most));
                @let comparison = TextComparison::new(&first, &second).of_whole_words();
                @for piece in comparison.blocks(None) { (block(&comparison, &piece)) }
            }
            @if rest != Some(0) {
                p.note {
                    @match rest {
                        Some(rest) => { (many(rest, "passage")) " of this pair are not shown here." }
                        None => { "This pair has too many passages for a list." }
                    }
                    @if let Some(directory) = &self.config.directory {
                        " To see the texts: " code { (isolated(&diff(directory, documents, "--full"))) }
                    }
                }
            }
        }
    }
}

/// The command that shows both documents.
fn diff(directory: &str, documents: [&ShownDocument; 2], how: &str) -> String {
    let [a, b] = documents.map(|document| shell_word(&document.docno));
    format!("lookalike diff {} {a} {b} {how}", shell_word(directory))
}

/// The passages that lie in the texts, the longest ones until they have [`WORDS_COMPARED`] words.
fn shown(passages: &[SharedPassage], texts: [&Words; 2]) -> Vec<SharedPassage> {
    let lies_in = |passage: &&SharedPassage| {
        let mut ranges = passage.begins.iter().zip(passage.ends).zip(texts);
        ranges.all(|((&begin, end), text)| begin <= end && end <= text.spans.len())
    };
    let mut found: Vec<SharedPassage> = passages.iter().filter(lies_in).copied().collect();
    found.sort_by_key(|passage| std::cmp::Reverse(passage.words));
    let mut words = 0;
    found.retain(|passage| {
        words += passage.ends[0] - passage.begins[0];
        words <= WORDS_COMPARED
    });
    found.sort_unstable();
    found
}

/// A passage in document `n` of its pair, with at most this number of words before and after it.
fn around(text: &Words, passage: &SharedPassage, n: usize, most: usize) -> Words {
    let begin = passage.begins[n];
    let from = begin.saturating_sub(most);
    let to = passage.ends[n] + most;
    let whole = |at: &usize| !text.joined(*at);
    let from = (from.saturating_sub(AROUND)..=from)
        .rev()
        .find(whole)
        .unwrap_or(from);
    let to = (to..=to + AROUND)
        .find(whole)
        .unwrap_or(to)
        .min(text.spans.len());
    let bytes = text.bytes_of(&(from..to));
    let spans = text.spans[from..to].iter();
    Words {
        spans: spans
            .map(|span| span.start - bytes.start..span.end - bytes.start)
            .collect(),
        text: text.text[bytes].to_string(),
        names: text.names.get(from..to).unwrap_or_default().to_vec(),
        cut: false,
        parse: text.parse.clone(),
    }
}
