//! The report page: one HTML file about one output directory, for whoever wants to see what was found.
//!
//! # Source
//! The comparison of two texts: Myers 1986, by the crate `similar`, which limits the search as git does.
//! The choice of random pairs: those with the least hashes, a sample without replacement.
//!
//! # In and out
//! In: the manifest, pairs, catalogue and documents of a directory on which `cluster` was run; the input
//! files again, for the texts of the pairs shown; `study/figures.json` and its SVGs, where there are any.
//! Out: one file of HTML, without script and without anything to be loaded.
//!
//! # Algorithm
//! 1. Through the pairs twice, through the documents once: the largest clusters, the pairs nearest the
//!    threshold and some others, what is known of their documents (`choose.rs`).
//! 2. Each input file that holds one of these pairs' documents is read once, up to the last of them; each
//!    is interpreted as it was then, and used if its MD5 is still the same (`texts.rs`).
//! 3. The words of each two texts are compared; stretches without a difference are folded (`changes.rs`).
//! 4. The page is written section by section (`sections.rs`).
//!
//! # Invariants
//! - What comes from documents, file names and arguments is text: never markup (`html.rs`). An SVG of a
//!   study is embedded as an image: browsers run no script of an image and load nothing for it. A
//!   Content-Security-Policy forbids both once more.
//! - The same directory, inputs and parameters give the same bytes. There is no date on the page.
//! - The counts are those of the summary; nothing is counted twice but what the histogram shows.
//! - A text that cannot be read again is missing from the page, which says why; it is no error.
//!
//! # Cost
//! Memory: 12 bytes a document and those of the sample's sizes, one record of at most `--max-document`,
//! and for each pair shown its two texts, of which at most [`WORDS_COMPARED`] words are kept. Time: pairs
//! twice, documents once, and the input files up to the last record that is shown.
//!
//! # What is not guaranteed
//! Texts are not compared beyond their first [`WORDS_COMPARED`] words. The differences marked need not be
//! the fewest. An input whose path is not UTF-8 is not found again.
//!
//! # Errors
//! `StageMissing` where pairs or clusters are not there; `BudgetTooSmall`; `Corrupt` and `Io` of the files
//! of the directory.

mod changes;
mod choose;
pub(crate) mod compare;
mod html;
mod sections;
mod study;
mod texts;

use crate::budget::{Budget, ByteSize};
use crate::cluster::ResultsEntry;
use crate::collection::{self, Catalogue};
use crate::join::PairsEntry;
use crate::numbers::{count, counted};
use crate::pipeline::Summary;
use crate::progress::{Context, Unit};
use crate::sample::SampleEntry;
use crate::store::disk::{self, AtomicFile};
use crate::workspace::Workspace;
use crate::{Error, Result};
use std::path::Path;

use super::wording::Wording;
use html::Html;
use sections::Which;
use texts::Text;

const STAGE: &str = "report";

/// Members of a cluster that are listed.
pub const MEMBERS_SHOWN: usize = 50;

/// Words of a text that are compared: documents of more are few, and a page of them would be long.
pub const WORDS_COMPARED: usize = 20_000;

/// Name of the page in an output directory.
pub const PAGE_FILE: &str = "report.html";

/// Buffers of readers, the decompressor, the writer, a comparison and its markup: with two texts of 20,000
/// words, half of them shared, the process takes 13 MiB in all.
const FIXED_BYTES: u64 = 16 << 20;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageConfig {
    /// Clusters.
    pub clusters: usize,
    /// Pairs nearest the threshold, and as many at random.
    pub pairs: usize,
    /// Of the random choice.
    pub seed: u64,
}

impl Default for PageConfig {
    fn default() -> Self {
        PageConfig {
            clusters: 20,
            pairs: 10,
            seed: 0,
        }
    }
}

/// What is on a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageStats {
    /// Clusters shown.
    pub clusters: u64,
    /// Pairs shown.
    pub pairs: u64,
    /// Their texts that could not be read again.
    pub missing: u64,
    /// Bytes of the page,
    pub bytes: u64,
    /// and their checksum.
    pub checksum: u64,
}

/// Writes the page of a directory to `output`.
pub fn write(
    workspace: &Workspace,
    config: &PageConfig,
    output: &Path,
    context: &Context<'_>,
) -> Result<PageStats> {
    let manifest = &workspace.manifest;
    let missing = |stage| Error::StageMissing {
        path: workspace.directory().into(),
        stage,
    };
    let pairs = manifest
        .get::<PairsEntry>()
        .ok_or_else(|| missing("join"))?;
    let results = manifest.get::<ResultsEntry>();
    if results.is_none_or(|results| results.digest != pairs.digest) {
        return Err(missing("cluster"));
    }
    let documents = Catalogue::stats(workspace)?.documents;
    let levels = manifest.get::<SampleEntry>().map_or(1, |s| s.sizes.len());
    // The record that is read, and as much again for what its encoding held.
    let record = collection::config(manifest).read.max_document.0 * 5 / 2;
    let there = choose::Most::of(results.map(|results| results.stats), pairs, config);
    let chosen = choose::bytes(documents, levels, pairs.config.measure, &there);
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
    let mut held = Held {
        budget: &context.budget,
        bytes: FIXED_BYTES + record + chosen,
    };
    held.check(what)?;
    context.progress.start(STAGE, Unit::Count("steps"), Some(3));

    let chosen = choose::choose(workspace, config, &mut held, context)?;
    held.check(what)?;
    context.progress.at(1);
    let wanted: Vec<u32> = chosen
        .nearest
        .iter()
        .chain(&chosen.random)
        .flat_map(|pair| [pair.a, pair.b])
        .collect();
    let texts = texts::read(workspace, &chosen.documents, &wanted, &mut held, context)?;
    held.check(what)?;
    context.progress.at(2);
    context.stop.check(STAGE)?;
    // Figures that are not as they were written would tell something else.
    workspace.check_others(is_shown)?;
    let figures = study::figures(workspace.directory())?;
    let comparison = study::comparison(workspace.directory())?;
    let summary = Summary::of(manifest);
    let wording = &Wording::of(&summary).ok_or_else(|| missing("join"))?;
    let listed = choose::pairs_listed(workspace);

    let mut out = AtomicFile::create(output)?;
    let mut html = Html::default();
    sections::head(&mut html, "Near-duplicate documents");
    sections::contents(&mut html, wording, !figures.is_empty(), listed);
    sections::found(&mut html, &summary, wording, listed);
    sections::ledger(&mut html, &summary);
    sections::sizes(
        &mut html,
        &summary,
        wording,
        listed.then_some(&chosen.histogram),
    );
    flush(&mut html, &mut out)?;
    if !figures.is_empty() {
        sections::study(&mut html, comparison.as_ref(), &figures);
        flush(&mut html, &mut out)?;
    }
    sections::clusters_head(&mut html, &summary, wording, &chosen);
    for (at, cluster) in chosen.clusters.iter().enumerate() {
        let documents = &chosen.documents;
        sections::one_cluster(&mut html, cluster, wording, listed, documents, at == 0);
        flush(&mut html, &mut out)?;
    }
    sections::end(&mut html);
    if listed {
        for (which, shown) in [
            (Which::Nearest, &chosen.nearest),
            (Which::Random, &chosen.random),
        ] {
            sections::pairs_head(&mut html, which, shown.len(), &summary, wording, config);
            for (at, pair) in shown.iter().enumerate() {
                context.stop.check(STAGE)?;
                let documents = &chosen.documents;
                let open = at == 0;
                sections::one_pair(&mut html, pair, documents, &texts, &summary, wording, open);
                flush(&mut html, &mut out)?;
            }
            sections::end(&mut html);
        }
    }
    sections::foot(&mut html, &summary);
    flush(&mut html, &mut out)?;
    let (bytes, checksum) = out.finish()?;
    disk::sync_parent(output)?;
    let stats = PageStats {
        clusters: chosen.clusters.len() as u64,
        pairs: (chosen.nearest.len() + chosen.random.len()) as u64,
        missing: texts
            .values()
            .filter(|text| matches!(text, Text::Missing(_)))
            .count() as u64,
        bytes,
        checksum,
    };
    context.progress.end(&format!(
        "{STAGE}: {}, {}, {} of their texts missing",
        counted(stats.clusters, "cluster"),
        counted(stats.pairs, "pair"),
        count(stats.missing)
    ));
    Ok(stats)
}

/// What a page holds in memory. Names and texts are counted as they are read; those for which there is no
/// room are counted and not held, so that a refusal names the least that would do.
struct Held<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Held<'_> {
    /// Counts so many bytes; says whether there is room for them.
    fn take(&mut self, bytes: usize) -> bool {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        self.bytes <= self.budget.memory.0
    }

    /// Refuses if there was no room.
    fn check(&self, what: impl FnOnce() -> String) -> Result<()> {
        self.budget.require(ByteSize(self.bytes), what)
    }
}

/// Is it a file of a study that the page shows?
fn is_shown(name: &str) -> bool {
    name.strip_prefix("study/")
        .is_some_and(|name| !name.contains('/'))
}

fn flush(html: &mut Html, out: &mut AtomicFile) -> Result<()> {
    out.put(html.as_bytes())?;
    html.clear();
    Ok(())
}
