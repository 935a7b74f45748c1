//! The report page: one HTML file about one output directory, for readers of its results.
//!
//! # Source
//! The comparison of two texts: `align`. The choice of random pairs: those with the smallest hashes,
//! a sample without replacement.
//!
//! # In and out
//! In: the manifest, pairs, catalogue and documents of a directory on which `cluster` was run; the
//! input files again, for the texts of the pairs shown; `study/figures.json` and its SVGs, if there
//! are any. Out: one HTML file without scripts, which loads nothing.
//!
//! # Algorithm
//! 1. Read the pairs twice and the documents once, to choose the largest clusters, the pairs
//!    nearest the threshold and some others, and to collect the data of their documents
//!    (`choose.rs`).
//! 2. Read each input file that contains one of these documents once, up to the last of them. Parse
//!    each document with the same settings as the run, and use it if its MD5 is still the same
//!    (`texts.rs`). Threads read different files.
//! 3. Compare the words of each pair of texts; fold stretches without a difference
//!    (`align`).
//! 4. Write the page section by section. Each section has a file of its own.
//!
//! # Invariants
//! - The contents of documents, file names and arguments are written as text, never as markup
//!   (`html.rs`). An SVG of a study is embedded as an image: browsers run no script of an image and
//!   load nothing for it. A Content-Security-Policy also forbids both.
//! - The same directory, inputs and parameters give the same bytes. There is no date on the page.
//! - The counts are those of the summary; the page itself counts only for the histogram.
//! - A text that cannot be read again is missing from the page, which gives the reason; this is not
//!   an error.
//!
//! # Cost
//! Memory: 12 bytes per document, a part that grows with the number of clusters and pairs shown,
//! for each thread that reads texts one record of at most `--max-document` (memory limits the
//! number of threads), and for each pair shown its two texts, of which at most [`WORDS_COMPARED`]
//! words are kept. Time: the pairs twice, the documents once, and the input files up to the last
//! record shown.
//!
//! # What is not guaranteed
//! Texts are not compared beyond their first [`WORDS_COMPARED`] words. The marked differences need
//! not be the smallest set. An input whose path is not UTF-8 is not found again.
//!
//! # Errors
//! `StageMissing` if there are no pairs or clusters; `BudgetTooSmall`; `Corrupt` and `Io` for the
//! files of the directory.

mod choose;
mod clusters;
pub(crate) mod compare;
pub(crate) mod diff;
mod found;
mod frame;
mod html;
mod ledger;
mod markup;
mod old_frame;
mod pairs;
mod sizes;
mod study;
mod texts;

use crate::budget::Held;
use crate::cluster::ResultsEntry;
use crate::collection::Catalogue;
use crate::document::record_bytes;
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
use pairs::Which;
use texts::ShownText;

const STAGE: &str = "report";

/// Limit on the members of a cluster that are listed.
pub const MEMBERS_SHOWN: usize = 50;

/// Limit on the words compared of a text: longer documents are rare, and would make a long page.
pub const WORDS_COMPARED: usize = 20_000;

/// Name of the page in an output directory.
pub const PAGE_FILE: &str = "report.html";

/// Buffers of readers, the decompressor, the writer, a comparison and its markup. With two texts of
/// 20,000 words, half of them shared, the process needs 13 MiB in all.
const FIXED_BYTES: u64 = 16 << 20;

/// The number of clusters and pairs to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageConfig {
    /// Clusters.
    pub clusters: usize,
    /// Pairs nearest the threshold, and the number of random pairs.
    pub pairs: usize,
    /// Seed of the random choice.
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

/// The contents of a page, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageStats {
    /// Clusters shown.
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
    let record = record_bytes(workspace);
    let there = choose::Most::of(results.map(|results| results.stats), pairs, config);
    let chosen = choose::bytes(
        Catalogue::extent(workspace)?,
        levels,
        pairs.config.measure,
        &there,
    );
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
    let mut memory = Held::new(&context.budget, FIXED_BYTES + record + chosen);
    memory.check(what)?;
    context.progress.start(STAGE, Unit::Count("steps"), Some(3));

    let chosen = choose::choose(workspace, config, &mut memory, context)?;
    memory.check(what)?;
    context.progress.at(1);
    let wanted: Vec<u32> = chosen
        .nearest
        .iter()
        .chain(&chosen.random)
        .flat_map(|pair| [pair.a, pair.b])
        .collect();
    let room = (&mut memory, record);
    let texts = texts::read(workspace, &chosen.documents, &wanted, room, context)?;
    memory.check(what)?;
    context.progress.at(2);
    context.stop.check(STAGE)?;
    // Modified figures would no longer show the study's results.
    workspace.check_others(is_shown)?;
    let figures = study::figures(workspace.directory())?;
    let comparison = study::comparison(workspace.directory())?;
    let summary = Summary::of(manifest);
    let wording = &Wording::of(&summary).ok_or_else(|| missing("join"))?;
    let listed = choose::pairs_listed(workspace);

    let mut out = AtomicFile::create(output)?;
    let mut html = Html::default();
    old_frame::head(&mut html, "Near-duplicate documents");
    old_frame::contents(&mut html, wording, !figures.is_empty(), listed);
    found::found(&mut html, &summary, wording, listed);
    ledger::ledger(&mut html, &summary);
    sizes::sizes(
        &mut html,
        &summary,
        wording,
        listed.then_some(&chosen.histogram),
    );
    flush(&mut html, &mut out)?;
    if !figures.is_empty() {
        study::section(&mut html, comparison.as_ref(), &figures);
        flush(&mut html, &mut out)?;
    }
    clusters::clusters_head(&mut html, &summary, wording, &chosen);
    for (at, cluster) in chosen.clusters.iter().enumerate() {
        let documents = &chosen.documents;
        clusters::one_cluster(&mut html, cluster, wording, listed, documents, at == 0);
        flush(&mut html, &mut out)?;
    }
    old_frame::end(&mut html);
    if listed {
        for (which, shown) in [
            (Which::Nearest, &chosen.nearest),
            (Which::Random, &chosen.random),
        ] {
            pairs::pairs_head(&mut html, which, shown.len(), &summary, wording, config);
            for (at, pair) in shown.iter().enumerate() {
                context.stop.check(STAGE)?;
                let documents = &chosen.documents;
                let open = at == 0;
                pairs::one_pair(&mut html, pair, documents, &texts, &summary, wording, open);
                flush(&mut html, &mut out)?;
            }
            old_frame::end(&mut html);
        }
    }
    old_frame::foot(&mut html, &summary.program);
    flush(&mut html, &mut out)?;
    let (bytes, checksum) = out.finish()?;
    disk::sync_parent(output)?;
    let stats = PageStats {
        clusters: chosen.clusters.len() as u64,
        pairs: (chosen.nearest.len() + chosen.random.len()) as u64,
        missing: texts
            .values()
            .filter(|text| matches!(text, ShownText::Missing(_)))
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

/// Whether this is a study file that the page shows.
fn is_shown(name: &str) -> bool {
    name.strip_prefix("study/")
        .is_some_and(|name| !name.contains('/'))
}

fn flush(html: &mut Html, out: &mut AtomicFile) -> Result<()> {
    out.put(html.as_bytes())?;
    html.clear();
    Ok(())
}
