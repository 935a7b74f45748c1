//! The report page: one HTML file about one output directory, for readers of its results.
//!
//! # Source
//! The comparison of two texts: `align`. The choice of random pairs: the pairs with the smallest
//! hashes, a sample without replacement.
//!
//! # In and out
//! In: the manifest, pairs, catalogue and documents of a directory on which `cluster` was run; the
//! input files again, for texts, dates and beginnings. Out: one HTML file, which loads nothing; or
//! a folder of them ([`write_split`]).
//!
//! # Algorithm
//! 1. Read the pairs once to find the clusters, the pairs nearest the threshold and some others,
//!    and once more for the links between the members of the clusters that are listed. Read the
//!    documents once for the data of those shown (`choose.rs`).
//! 2. Read each input file that contains one of these documents once, up to the last of them
//!    (`texts.rs`). Parse each document with the same settings as the run, and use its text, date
//!    and beginning if its MD5 is still the same: a page never shows the text of another file in
//!    its place. Threads read different files.
//! 3. Compare the words of each pair of texts; fold stretches without a difference
//!    (`align`, `side_by_side.rs`).
//! 4. Write the page section by section; each section has a file of its own. The data of all
//!    clusters listed follow the last section, as JSON for the script (`script.js`), which lists
//!    and searches them. Without it the largest clusters are tables.
//!
//! # Invariants
//! - The contents of documents, file names and arguments are written as text, never as markup
//!   (`markup.rs`), and as JSON without a character that means something to HTML. A
//!   Content-Security-Policy allows the page's own style and script, by their digests, and nothing
//!   else.
//! - The same directory, inputs and parameters give the same bytes. The date on the page is the
//!   date of the run.
//! - A page repeats the counts of the summary. It counts only the pairs of the histogram.
//! - A text that cannot be read again is missing from the page, which gives the reason; this is not
//!   an error.
//!
//! # Cost
//! Memory: 12 bytes per document, and 4 more while members are linked; a part that grows with the
//! clusters and pairs shown, of about 700 bytes for each of at most `PAGE_DOCUMENTS` documents;
//! for each thread that reads texts one record of at most `--max-document` (memory limits the
//! number of threads), and for each pair shown at most `WORDS_COMPARED` words of its two texts.
//! Time: the pairs twice, the documents once, and the input files up to the last record shown.
//!
//! # What is not guaranteed
//! Texts are not compared beyond their first `WORDS_COMPARED` words. The marked differences need
//! not be the smallest set. An input whose path is not UTF-8 is not found again.
//!
//! # Errors
//! `StageMissing` if there are no pairs or clusters; `BudgetTooSmall`; `Corrupt` and `Io` for the
//! files of the directory.

pub(crate) mod audit;
mod choose;
mod closest;
mod clusters;
mod contamination;
pub(crate) mod diff;
mod documents;
mod found;
#[doc(hidden)]
pub mod frame;
mod ledger;
#[doc(hidden)]
pub mod markup;
mod pairs;
#[doc(hidden)]
pub mod panels;
pub(crate) mod passages;
mod records;
mod side_by_side;
mod sizes;
mod split;
mod texts;
pub(crate) mod versions;

use crate::report::cost_rows;
use lookalike_base::{Context, Memory, Result, Unit, count, counted, numbers};
use lookalike_engine::cluster::ResultsEntry;
use lookalike_engine::collection::{self, Catalogue};
use lookalike_engine::document::record_bytes;
use lookalike_engine::join::PairsEntry;
use lookalike_engine::pipeline::Summary;
use lookalike_store::{Workspace, disk};
use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::wording::Wording;
use choose::{Chosen, ShownPair};
pub(crate) use contamination::contamination;
use documents::PageDocuments;
pub use documents::Replay;
use frame::{Frame, Sheet};
use markup::{Markup, html};
pub(crate) use records::records;
pub use split::{SPLIT_DIRECTORY, write_split};
use texts::Read;

const STAGE: &str = "report";

/// The script of the report page.
const SCRIPT: &str = include_str!("script.js");

/// Documents in clusters that one page lists, the largest clusters first. Such a page has about
/// 20 MB.
pub(crate) const PAGE_DOCUMENTS: u64 = 100_000;

/// Limit on the members of a cluster that a page lists.
pub(crate) const MEMBERS_LISTED: usize = 1_000;

/// Limit on the members of a cluster that are shown without the script.
pub const MEMBERS_SHOWN: usize = 50;

/// Limit on the words compared of a text: longer documents are rare, and would make a long page.
pub(crate) const WORDS_COMPARED: usize = 20_000;

/// Name of the page in an output directory.
pub const PAGE_FILE: &str = "report.html";

/// Where the laboratory puts the page of a study, in an output directory.
pub const STUDY_PAGE: &str = "study/study.html";

/// Buffers of readers, the decompressor, the writer, a comparison and its markup. With two texts of
/// 20,000 words, half of them shared, the process needs 13 MiB in all.
const FIXED_BYTES: u64 = 16 << 20;

/// The options of the command that choose the content of a page.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct PageConfig {
    /// Title of the page [default: Near-duplicates in NAME]
    ///
    /// NAME is the name of the inputs. For the output directory of `dedup`, the default is What the
    /// deduplication of NAME removed; for `passages`, Shared passages of the documents.
    ///
    /// Example: --title "Our crawl of March"
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Link captures to a web archive: an address with {timestamp} and {url}
    ///
    /// A document gets a link if its record states an address and the date of its capture, as
    /// records of WARC, ARC and TREC web files do.
    ///
    /// Example: --replay https://web.archive.org/web/{timestamp}/{url}
    #[arg(long, value_name = "ADDRESS")]
    #[allow(
        rustdoc::bare_urls,
        reason = "a terminal shows the example as it is typed"
    )]
    pub replay: Option<Replay>,
    /// Number of clusters to show without the page's script, the largest first
    ///
    /// The script lists all clusters of up to 100,000 documents in total, the largest first.
    ///
    /// Example: --clusters 50
    #[arg(long, value_name = "N", default_value = "20")]
    pub clusters: usize,
    /// Seed of the random pairs
    ///
    /// Example: --sample-seed 1
    #[arg(
        id = "sample_seed",
        long = "sample-seed",
        value_name = "N",
        default_value = "0",
        hide_short_help = true
    )]
    pub seed: u64,
    /// Pairs nearest the threshold, and the number of random pairs.
    #[arg(skip)]
    pub pairs: usize,
    /// The output directory as the user named it, for the commands that the page shows.
    #[arg(skip)]
    pub directory: Option<String>,
}

impl Default for PageConfig {
    fn default() -> Self {
        PageConfig {
            title: None,
            replay: None,
            clusters: 20,
            pairs: 10,
            seed: 0,
            directory: None,
        }
    }
}

/// The contents of a page, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageStats {
    /// Clusters listed.
    pub clusters: u64,
    /// Pairs shown.
    pub pairs: u64,
    /// Texts of these pairs that could not be read again.
    pub missing: u64,
    /// Bytes of the page.
    pub bytes: u64,
    /// Checksum of the page.
    pub checksum: u64,
}

/// Writes the page of a directory to `output`.
pub fn write(
    workspace: &Workspace,
    config: &PageConfig,
    output: &Path,
    context: &Context<'_>,
) -> Result<PageStats> {
    let (pairs, results) = finished(workspace)?;
    let missing = workspace.missing("join");
    let documents = Catalogue::stats(workspace)?.documents;
    let record = record_bytes(workspace);
    let there = choose::Most::of(results.stats, pairs, config);
    let chosen = choose::bytes(workspace, pairs.config.measure, &there)?;
    let what = || {
        let (clusters, pairs) = (
            counted(there.clusters, "cluster"),
            counted(there.pairs, "pair"),
        );
        format!(
            "a page of {clusters} and twice {pairs} of {}",
            counted(documents, "document")
        )
    };
    let files = documents::files_bytes(workspace)?;
    let mut memory = Memory::new(&context.budget, FIXED_BYTES + record + chosen + files);
    memory.check(what)?;
    context.start(STAGE, Unit::Count("steps"), Some(3));

    let chosen = choose::choose(workspace, config, &mut memory, context)?;
    memory.check(what)?;
    context.progress.at(1);
    let members = chosen.clusters.iter().flat_map(|cluster| &cluster.shown);
    let firsts = members.filter(|member| member.first == member.document);
    let firsts: HashSet<u32> = firsts.map(|member| member.document).collect();
    let texts = chosen.texts(config.clusters);
    let compared = &chosen.compared() | &texts;
    let wanted = (&compared, &(&firsts | &compared));
    let room = &mut memory;
    let read = texts::read(workspace, &chosen.documents, wanted, room, None, context)?;
    memory.check(what)?;
    context.progress.at(2);
    context.stop.check(STAGE)?;
    let summary = Summary::of(&workspace.manifest);
    let page = Page {
        config,
        summary: &summary,
        wording: &Wording::of(&summary).ok_or(missing)?,
        listed: choose::pairs_listed(workspace),
        chosen: &chosen,
        documents: PageDocuments::of(&chosen.documents, &read, config),
        texts: Texts::Here(&texts),
    };
    let written = page.write(workspace, output, context)?;
    let shown = [chosen.clusters.len(), chosen.pairs().count()];
    Ok(PageStats::end(workspace, written, shown, &read, context))
}

impl PageStats {
    /// Ends the work on a page of this length and checksum, with this number of clusters and pairs.
    fn end(
        workspace: &Workspace,
        (bytes, checksum): (u64, u64),
        shown: [usize; 2],
        read: &Read,
        context: &Context<'_>,
    ) -> PageStats {
        let [clusters, pairs] = shown.map(|n| n as u64);
        let stats = PageStats {
            clusters,
            pairs,
            missing: read.missing(),
            bytes,
            checksum,
        };
        let missing = match stats.missing {
            0 => String::new(),
            n => format!(", {} of their texts missing", count(n)),
        };
        let read = &collection::config(&workspace.manifest).read;
        let programs = match read.unnamed_programs(&[]) {
            all if all.is_empty() || stats.missing == 0 => String::new(),
            all => format!(": if you know the programs, give {all}"),
        };
        let clusters = match stats.clusters {
            0 => String::new(),
            n => format!("{}, ", counted(n, "cluster")),
        };
        let pairs = counted(stats.pairs, "pair");
        let line = format!("{STAGE}: {clusters}{pairs}{missing}{programs}");
        context.progress.end(&line);
        stats
    }
}

/// The records of the pairs and of the results that were made from them.
fn finished(workspace: &Workspace) -> Result<(&PairsEntry, &ResultsEntry)> {
    let pairs = workspace.record::<PairsEntry>("join")?;
    let results = workspace.record::<ResultsEntry>("cluster")?;
    match results.digest == pairs.digest {
        true => Ok((pairs, results)),
        false => Err(workspace.missing("cluster")),
    }
}

/// Everything that the sections of a page show.
struct Page<'p> {
    config: &'p PageConfig,
    summary: &'p Summary,
    wording: &'p Wording<'p>,
    /// Whether pairs are listed.
    listed: bool,
    chosen: &'p Chosen,
    documents: PageDocuments<'p>,
    texts: Texts<'p>,
}

/// Where the texts of the members of clusters are.
#[derive(Clone, Copy)]
enum Texts<'p> {
    /// On this page: the texts of these documents.
    Here(&'p HashSet<u32>),
    /// On the pages of these names, by the number of the cluster.
    There(&'p HashMap<u32, String>),
}

impl Page<'_> {
    /// Writes the page; returns its length in bytes and its checksum.
    fn write(
        &self,
        workspace: &Workspace,
        output: &Path,
        context: &Context<'_>,
    ) -> Result<(u64, u64)> {
        let title = self.title(workspace)?;
        // Elsewhere, the link would lead nowhere.
        let inside = workspace.other_name(output).is_some();
        let study = inside && disk::exists(&workspace.directory().join(STUDY_PAGE))?;
        let any = !self.chosen.clusters.is_empty();
        let frame = Frame {
            title: &title,
            below: self.date(),
            contents: self.contents(),
            script: any.then_some(SCRIPT),
            program: &self.summary.program,
        };
        let mut sheet = Sheet::create(output, &frame)?;
        sheet.put(found::found(self.summary, self.wording, self.scores()))?;
        if study {
            sheet.put(study_link())?;
        }
        if any {
            sheet.put(markup::begin("section", "clusters"))?;
            sheet.put(clusters::head(self))?;
            sheet.put(markup::begin("div", "largest"))?;
            let shown = self.chosen.clusters.iter().take(self.config.clusters);
            for (at, cluster) in shown.enumerate() {
                context.stop.check(STAGE)?;
                sheet.put(clusters::one_cluster(self, cluster, MEMBERS_SHOWN, at == 0))?;
            }
            sheet.put(markup::end("div"))?;
            sheet.put(markup::end("section"))?;
        }
        self.after_clusters(workspace, &mut sheet, context)?;
        if any {
            clusters::data(self, &mut sheet)?;
        }
        sheet.finish()
    }

    /// The sections that follow the clusters.
    fn after_clusters(
        &self,
        workspace: &Workspace,
        sheet: &mut Sheet,
        context: &Context<'_>,
    ) -> Result<()> {
        if self.none() {
            sheet.put(closest::closest(self))?;
        }
        if self.listed {
            let chosen = &self.chosen.of_pairs;
            for (head, id, shown) in [
                (pairs::nearest(self), "nearest", &chosen.nearest[..]),
                (pairs::below(self), "below", self.below()),
                (pairs::random(self), "random", &chosen.random),
            ] {
                if shown.is_empty() {
                    continue;
                }
                sheet.put(markup::begin("section", id))?;
                sheet.put(head)?;
                for (at, pair) in shown.iter().enumerate() {
                    context.stop.check(STAGE)?;
                    sheet.put(pairs::one_pair(self, pair, at == 0))?;
                }
                sheet.put(markup::end("section"))?;
            }
        }
        sheet.put(sizes::sizes(self.summary, self.wording))?;
        sheet.put(ledger::unread(workspace)?)?;
        sheet.put(ledger::ledger(self.summary))
    }

    /// The pairs below the threshold, without the closest pair.
    fn below(&self) -> &[ShownPair] {
        let below = &self.chosen.of_pairs.below[..];
        below.get(usize::from(self.none())..).unwrap_or_default()
    }

    /// The number of pairs by score, if pairs are listed.
    fn scores(&self) -> Option<&[u64; choose::HUNDREDTHS]> {
        self.listed.then_some(&self.chosen.histogram)
    }

    fn title(&self, workspace: &Workspace) -> Result<String> {
        Ok(match &self.config.title {
            Some(title) => title.clone(),
            None => format!(
                "Near-duplicates in {}",
                documents::collection_name(workspace, workspace.directory())?
            ),
        })
    }

    /// Whether documents were compared and no pair was found.
    fn none(&self) -> bool {
        let catalogue = self.summary.catalogue.as_ref();
        let join = self.summary.join.as_ref();
        self.listed
            && join.is_some_and(|join| join.pairs == 0)
            && catalogue.is_some_and(|catalogue| catalogue.representatives > 1)
    }

    /// The sections of the page.
    fn contents(&self) -> Vec<(&'static str, String)> {
        let clusters = self.summary.cluster.unwrap_or_default().clusters;
        let documents = self.summary.catalogue.as_ref();
        let documents = documents.map_or(0, |catalogue| catalogue.documents);
        let chosen = &self.chosen.of_pairs;
        let [nearest, random] = [&chosen.nearest, &chosen.random].map(|pairs| !pairs.is_empty());
        let sections = [
            ("found", "What was found", true),
            ("clusters", "Clusters", clusters > 0),
            ("closest", "The closest pair", self.none()),
            ("nearest", "Pairs nearest the threshold", nearest),
            ("below", "Below the threshold", !self.below().is_empty()),
            ("random", "Pairs at random", random),
            ("sizes", "Sizes of the documents", documents > 0),
            ("ledger", "Ledger", true),
        ];
        let there = sections.into_iter().filter(|(_, _, there)| *there);
        there.map(|(id, name, _)| (id, name.to_string())).collect()
    }

    /// The date of the run, if the directory states it.
    fn date(&self) -> Option<Markup> {
        let costs = cost_rows(self.summary);
        let ended = costs.last().map_or(0, |(_, cost)| cost.ended);
        (ended > 0).then(|| html! { "Run of " (numbers::date(ended)) })
    }
}

/// A line with the way to the page of the study of a directory.
fn study_link() -> Markup {
    html! {
        p {
            "A study compared ways of sampling on this collection: "
            a href=(STUDY_PAGE) { "results of the study" } "."
        }
    }
}
