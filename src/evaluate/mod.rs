//! Stage 10 of 10: what was found, held against what is true.
//!
//! # Source
//! Precision and recall of a sampled run against the run that samples nothing: Ye, Wen & Ma 2008,
//! section 5, equations 2 and 3. Coverage, density and average precision over a judged sample: Bernstein &
//! Zobel 2006, section 7.
//!
//! # In and out
//! In: two pair lists ([`evaluate`]), or a run and judged pairs. Out: counts
//! of pairs that are correct, wrong and missed, by size group of the smaller document.
//!
//! A pair list is a directory of a run, a `pairs.tsv`, or a list of another system: lines of two docnos and,
//! where there is one, a resemblance, in columns told apart by tabs, commas (RFC 4180) or spaces, or JSON
//! objects; compressed or not.
//!
//! # What is counted
//! Pairs are unordered. A pair that is listed again is the same pair, with the highest of its resemblances;
//! one of a docno with itself is none.
//!
//! - **Documents.** A directory says which documents are identical, so its list stands for: each listed
//!   pair, with every document identical to the one in place of it, and every pair of identical documents,
//!   of resemblance 1. A file stands for the pairs in it. But where the truth is a file that names no pair of
//!   documents that are identical in the run's directory, and there are such pairs, it is a list of
//!   representatives: counted as it stands, every pair of identical documents would be wrong. It then stands
//!   for what a directory would: its pairs, with every identical document in place of each, and every pair of
//!   identical documents. A note says so. A run that is such a file is counted as it stands, with a note: it
//!   has missed them.
//! - **Representatives.** The same, but that documents identical in the truth's directory (in the run's where
//!   the truth is a file) are one. Pairs within them are left out.
//! - **Unknown.** Where the truth is a directory, or its documents are given, nothing is known of pairs with
//!   other docnos: they are left out of everything, in both lists, and counted. A listed pair of a directory
//!   is unknown where no document identical to the one, or to the other, is known.
//! - **Size groups** are those of the truth's documents. A pair belongs to the group of its smaller document
//!   (fewer words).
//! - **Thresholds.** At a threshold, a list has those of its pairs that reach it. Resemblances are exact: from
//!   the columns of integers where they are there, or else from decimals as they are written (27 digits; a
//!   JSON number as the shortest decimal that is read as the same 64-bit number). A list without
//!   resemblances has all of its pairs at each threshold.
//! - **Clusters.** Two documents in one cluster are a pair.
//!
//! With a judged sample, a pair is found if the run has it among the pairs of documents above, and:
//!
//! - coverage = judged true and found / judged true;
//! - density = judged true and found / judged and found;
//! - average precision: of each document that a line of the judged pairs names first (of families: every
//!   document), judged true / judged, over the found pairs that have this document; then the mean over those of
//!   which any such pair was found.
//!
//! Of families, every two documents of one are judged true, every two of two families false, and pairs with a
//! document of none are not judged.
//!
//! A share of nothing is undefined, `None`: precision and density where nothing was found, recall and coverage
//! where nothing is true, F1 where both, average precision where no judged pair was found.
//!
//! # Algorithm
//! 1. The distinct hashes of all docnos, sorted, number the documents.
//! 2. The lists are read again and sorted by pair of numbers; repetitions fall together.
//! 3. One of the lists is the base: the truth, unless only the run is a directory. Each pair of the other is
//!    put where the base has its two classes of identical documents, with the number of pairs of documents
//!    that it stands for, and sorted with the base. Where the other has classes too, a pair of them is cut by
//!    the base's classes; commonly they are the same, and nothing is cut.
//! 4. Where a pair of classes comes by, all that both lists say of it is there, and it is counted by level:
//!    how many of the thresholds it reaches in the one and in the other.
//!
//! # Invariants
//! - The counts do not depend on the budget.
//! - No pair of documents is listed that was not listed in a file, but where the two directories differ in
//!   what is identical.
//!
//! # Cost
//! Memory: 50 bytes for each document that any file names (130 with families), and sorts in the rest of the
//! budget. Each list is read twice, a directory's three times (its checksum), and once more for each of
//! judged pairs and families; its pairs are sorted twice, in 24 bytes.
//!
//! # Where we depart from the source
//! The papers count pairs of representatives, at one threshold. A sample of edges to judge is the user's to
//! take.
//!
//! # Errors
//! `BadLine` for a line that cannot be read; `StageMissing` for a directory without results; `Corrupt` where
//! they are not what the manifest says; `BudgetTooSmall`; `Io`.

mod classes;
mod clusters;
mod compare;
mod documents;
pub(crate) mod lines;
mod list;
pub mod qrels;
mod samples;

use crate::budget::ByteSize;
use crate::cluster::ResultsEntry;
use crate::ids::Threshold;
use crate::numbers::counted;
use crate::progress::{Context, Unit};
use crate::store::disk;
use crate::{Error, Result, pipeline};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use crate::precision::Counts;
pub use list::{Columns, Scores};
pub use samples::{Sample, SampleAt};

use compare::Tally;
use documents::{DOCUMENTS, DUPLICATES, Documents};
use list::PairList;

const STAGE: &str = "evaluate";
/// Buffers of readers and writers.
const FIXED_BYTES: u64 = 8 << 20;
/// The least for a sort.
const SORT_BYTES: u64 = 1 << 20;
/// So many thresholds at most: what is counted grows with their square.
pub const MOST_THRESHOLDS: usize = 100;

/// A list of pairs, as it is named by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListFile {
    /// An output directory or a file.
    pub path: PathBuf,
    /// Where the file has what.
    pub columns: Option<Columns>,
}

/// What is to be evaluated, against what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluateConfig {
    /// The pairs that are true.
    pub truth: Option<ListFile>,
    /// The pairs that were found.
    pub run: ListFile,
    /// A `documents.tsv` of all documents, where the truth is a file.
    pub documents: Option<PathBuf>,
    /// Rising thresholds; none for all that is listed.
    pub thresholds: Vec<Threshold>,
    /// Judged pairs.
    pub judged: Option<PathBuf>,
    /// Families of documents.
    pub families: Option<PathBuf>,
    /// Where a directory for sorting is made and removed.
    pub scratch: PathBuf,
}

/// A list that has been looked at.
struct Opened {
    /// The file with the pairs,
    pairs: PathBuf,
    /// and where its columns are.
    columns: Option<Columns>,
    /// The output directory that it is of.
    directory: Option<PathBuf>,
    comments: BTreeMap<String, String>,
    scores: Scores,
    /// Were pairs listed at all (`--pairs`)?
    listed: bool,
}

/// All that is read.
struct Sources {
    truth: Option<Opened>,
    run: Opened,
    documents: Option<PathBuf>,
    judged: Option<PathBuf>,
    families: Option<PathBuf>,
}

/// What is in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ListCounts {
    /// Lines with pairs.
    pub lines: u64,
    /// Distinct pairs,
    pub pairs: u64,
    /// lines that repeat one of them,
    pub repeated: u64,
    /// lines with a pair of a docno with itself, left out.
    pub to_themselves: u64,
    /// Of the pairs, those with a docno that the truth's collection has not, left out.
    pub unknown: u64,
    /// Of the pairs, those of documents that are identical, left out of the pairs of representatives; with
    /// lines that pair identical documents of their own directory.
    pub identical: u64,
}

/// A list, in the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListReport {
    /// The path that was given.
    pub path: PathBuf,
    /// Is it a directory of a run?
    pub directory: bool,
    /// What resemblances are taken from.
    pub scores: Scores,
    /// What is in it; nothing where no truth was given.
    pub counts: Option<ListCounts>,
}

/// Counts, and the shares they make.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Pairs that are true.
    pub true_pairs: u64,
    /// Pairs that were found.
    pub found: u64,
    /// The counts.
    #[serde(flatten)]
    pub counts: Counts,
    /// Correct / found.
    pub precision: Option<f64>,
    /// Correct / true.
    pub recall: Option<f64>,
    /// Their harmonic mean.
    pub f1: Option<f64>,
}

impl From<Counts> for Measured {
    fn from(counts: Counts) -> Measured {
        Measured {
            true_pairs: counts.true_pairs(),
            found: counts.found(),
            counts,
            precision: counts.precision(),
            recall: counts.recall(),
            f1: counts.f1(),
        }
    }
}

/// Pairs of one size group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupMeasured {
    /// Words of the smaller document, as `500-999`.
    pub words: String,
    /// Pairs of two documents of the group.
    pub same: Measured,
    /// Pairs with a document of a group of larger ones.
    pub cross: Measured,
}

/// All pairs and, where documents have size groups, by those.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pairs {
    /// All.
    pub all: Measured,
    /// By size group.
    pub groups: Vec<GroupMeasured>,
}

/// Pairs at one threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairsAt {
    /// The threshold; everything in the lists where there is none.
    pub threshold: Option<Threshold>,
    /// Pairs of representatives, where a list says which documents are identical.
    pub representatives: Option<Pairs>,
    /// Pairs of documents.
    pub documents: Pairs,
}

/// The whole report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// What one must know to believe the rest.
    pub notes: Vec<String>,
    /// The truth.
    pub truth: Option<ListReport>,
    /// The run.
    pub run: ListReport,
    /// By threshold; nothing where there is no truth, or pairs were not listed.
    pub pairs: Vec<PairsAt>,
    /// Pairs of documents in one cluster, where both are directories.
    pub clusters: Option<Measured>,
    /// By judged pairs.
    pub judged: Option<Sample>,
    /// By families.
    pub families: Option<Sample>,
}

/// Looks at a list; checks the files of a directory.
fn open(list: &ListFile) -> Result<Opened> {
    let directory = disk::is_directory(&list.path)?.then(|| list.path.clone());
    let mut pairs = list.path.clone();
    let mut columns = list.columns.clone();
    if let Some(directory) = &directory {
        let manifest = pipeline::look(directory)?;
        let results = manifest
            .get::<ResultsEntry>()
            .ok_or_else(|| Error::StageMissing {
                path: directory.clone(),
                stage: "cluster",
            })?;
        let read = ["pairs.tsv", DOCUMENTS, DUPLICATES];
        for file in results
            .files
            .iter()
            .filter(|file| read.contains(&file.name.as_str()))
        {
            disk::check(&directory.join(&file.name), file.bytes, &file.checksum)?;
        }
        pairs = directory.join("pairs.tsv");
        columns = None;
    }
    let list = PairList::open(&pairs, columns.as_ref())?;
    let comments = list.table().comments().clone();
    Ok(Opened {
        scores: list.scores(),
        listed: comments.get("pairs").is_none_or(|kind| kind != "none"),
        pairs,
        columns,
        directory,
        comments,
    })
}

/// Notes what makes two lists hard to compare.
fn compare_headers(truth: &Opened, run: &Opened, notes: &mut Vec<String>) {
    for name in ["tokens", "shingle-size", "fingerprint"] {
        let (a, b) = (truth.comments.get(name), run.comments.get(name));
        if let (Some(a), Some(b)) = (a, b)
            && a != b
        {
            notes.push(format!(
                "the truth was made with --{name} {a}, the run with {b}"
            ));
        }
    }
}

/// Notes thresholds below that of a list.
fn compare_threshold(
    what: &str,
    list: &Opened,
    least: Option<&Threshold>,
    notes: &mut Vec<String>,
) {
    let own = list
        .comments
        .get("threshold")
        .and_then(|text| text.parse::<Threshold>().ok());
    if let (Some(own), Some(&least)) = (own, least)
        && least < own
    {
        notes.push(format!(
            "the {what} lists pairs from {own} on: below that it has the pairs of {own}"
        ));
    }
}

impl EvaluateConfig {
    /// Refuses what does not go together.
    fn check(&self) -> Result<()> {
        let refuse = |name, given: String, limit: &str| {
            let limit = limit.to_string();
            Err(Error::BadParameter { name, given, limit })
        };
        let list = || {
            let texts: Vec<String> = self.thresholds.iter().map(ToString::to_string).collect();
            texts.join(",")
        };
        if self.thresholds.len() > MOST_THRESHOLDS {
            let limit = format!("at most {MOST_THRESHOLDS} thresholds");
            return refuse("thresholds", list(), &limit);
        }
        if self.thresholds.windows(2).any(|pair| pair[0] >= pair[1]) {
            return refuse("thresholds", list(), "they have to rise");
        }
        let truth = self.truth.as_ref();
        if truth.is_none() && self.judged.is_none() && self.families.is_none() {
            return refuse(
                "truth",
                "(none)".into(),
                "give --truth, --judged or --families",
            );
        }
        if let (Some(documents), Some(truth)) = (&self.documents, truth)
            && disk::is_directory(&truth.path)?
        {
            let limit = "the truth is a directory, which has its own";
            return refuse("documents", documents.display().to_string(), limit);
        }
        for (name, list) in [("truth-columns", truth), ("run-columns", Some(&self.run))] {
            if let Some(list) = list
                && list.columns.is_some()
                && disk::is_directory(&list.path)?
            {
                return refuse(
                    name,
                    "for a directory".into(),
                    "only files have columns to choose",
                );
            }
        }
        Ok(())
    }
}

/// Evaluates a run.
pub fn evaluate(config: &EvaluateConfig, context: &Context<'_>) -> Result<Evaluation> {
    config.check()?;
    let mut notes = Vec::new();
    let sources = Sources {
        truth: config.truth.as_ref().map(open).transpose()?,
        run: open(&config.run)?,
        documents: config.documents.clone(),
        judged: config.judged.clone(),
        families: config.families.clone(),
    };
    let thresholds = &config.thresholds[..];
    let mut lists = sources.truth.iter().chain([&sources.run]);
    if !thresholds.is_empty() && lists.all(|list| list.scores == Scores::None) {
        return Err(Error::BadParameter {
            name: "thresholds",
            given: thresholds[0].to_string(),
            limit: "no list has resemblances to compare it with; name their column with --columns"
                .into(),
        });
    }
    if let Some(truth) = &sources.truth {
        compare_headers(truth, &sources.run, &mut notes);
        compare_threshold("truth", truth, thresholds.first(), &mut notes);
    }
    compare_threshold("run", &sources.run, thresholds.first(), &mut notes);
    let sampled = !sources.run.listed && (sources.judged.is_some() || sources.families.is_some());
    if sampled {
        return Err(Error::BadParameter {
            name: "run",
            given: config.run.path.display().to_string(),
            limit: "its pairs were not listed (--pairs none); judged samples need them".into(),
        });
    }

    context
        .progress
        .start(STAGE, Unit::Count("documents"), None);
    let scratch = disk::scratch_directory(&config.scratch)?;
    let place = scratch.path();
    let work = || "evaluating".to_string();
    let first = ByteSize(FIXED_BYTES + SORT_BYTES);
    context.budget.require(first, work)?;
    let most = 1u64 << 30;
    let memory = ByteSize((context.budget.memory.0 - FIXED_BYTES).min(most));
    let count = documents::collect(&sources, place, memory, context)?;
    context.stop.check(STAGE)?;
    let groups = 256 * 4 * 4 * (thresholds.len() as u64 + 2).pow(2) * 8;
    let families = if sources.families.is_some() {
        samples::FAMILY_BYTES
    } else {
        0
    };
    let held = FIXED_BYTES + count * (documents::DOCUMENT_BYTES + families) + groups;
    let least = ByteSize(held + 3 * SORT_BYTES);
    context.budget.require(least, || {
        format!("evaluating {}", counted(count, "document"))
    })?;
    let memory = ByteSize((context.budget.memory.0 - held).min(most));
    let mut documents = Documents::load(&sources, place, count, context, &mut notes)?;
    context.stop.check(STAGE)?;

    let report = |list: &ListFile, opened: &Opened| ListReport {
        path: list.path.clone(),
        directory: opened.directory.is_some(),
        scores: opened.scores,
        counts: None,
    };
    let mut evaluation = Evaluation {
        notes: Vec::new(),
        truth: config
            .truth
            .as_ref()
            .zip(sources.truth.as_ref())
            .map(|(list, o)| report(list, o)),
        run: report(&config.run, &sources.run),
        pairs: Vec::new(),
        clusters: None,
        judged: None,
        families: None,
    };
    if let (Some(truth), Some(report)) = (&sources.truth, &mut evaluation.truth) {
        if truth.listed && sources.run.listed {
            let found = compare::compare(&sources, thresholds, &documents, place, memory, context)?;
            let [truth, run] = found.counts;
            for (what, counts) in [("truth", truth), ("run", run)] {
                if counts.unknown > 0 {
                    notes.push(format!(
                        "{} of {} of the {what} have docnos that the truth's collection does not have; \
                         they are left out",
                        crate::numbers::count(counts.unknown), counted(counts.pairs, "pair")
                    ));
                }
            }
            if found.unnamed > 0 {
                let duplicates = counted(found.unnamed, "pair");
                notes.push(if documents.truth.has_classes() {
                    format!(
                        "the run names none of the {duplicates} of identical documents: pairs of documents \
                         count them as missed, pairs of representatives leave them out"
                    )
                } else {
                    format!(
                        "the truth names none of the {duplicates} of identical documents that the run's \
                         directory has: it is taken for a list of representatives, and its pairs stand for \
                         all documents that are identical to theirs"
                    )
                });
            }
            report.counts = Some(truth);
            evaluation.run.counts = Some(run);
            let classes = documents.truth.has_classes() || documents.run.has_classes();
            for threshold in 0..thresholds.len().max(1) {
                evaluation.pairs.push(PairsAt {
                    threshold: thresholds.get(threshold).copied(),
                    representatives: classes
                        .then(|| pairs(&documents, &found.representatives, threshold)),
                    documents: pairs(&documents, &found.all, threshold),
                });
            }
        } else {
            let which = if truth.listed { "run" } else { "truth" };
            notes.push(format!(
                "pairs of the {which} were not listed (--pairs none): only clusters are compared"
            ));
        }
        if documents.truth.has_classes() && documents.run.has_classes() {
            let counts = clusters::compare(&documents, place, memory)?;
            evaluation.clusters = Some(counts.into());
        }
    }
    context.stop.check(STAGE)?;
    if let Some(path) = &sources.judged {
        let (path, documents) = (path.as_path(), &mut documents);
        let sample = samples::judged(
            path, &sources, thresholds, documents, place, memory, context,
        )?;
        note_sample("judged pairs", path, &sample, &mut notes);
        evaluation.judged = Some(sample);
    }
    if let Some(path) = &sources.families {
        let sample = samples::families(
            path, &sources, thresholds, &documents, place, memory, context,
        )?;
        note_sample("documents of families", path, &sample, &mut notes);
        evaluation.families = Some(sample);
    }
    scratch
        .close()
        .map_err(Error::io("remove", &config.scratch))?;
    evaluation.notes = notes;
    Ok(evaluation)
}

fn note_sample(what: &str, path: &Path, sample: &Sample, notes: &mut Vec<String>) {
    let file = path.display();
    if sample.unknown > 0 {
        notes.push(format!(
            "{file}: {} {what} have docnos that the truth's collection does not have; they are left out",
            sample.unknown
        ));
    }
    if sample.not_in_run > 0 {
        notes.push(format!(
            "{file}: {} {what} have docnos that the run's collection does not have; they count as not found",
            sample.not_in_run
        ));
    }
}

/// A tally at a threshold.
fn pairs(documents: &Documents, tally: &Tally, threshold: usize) -> Pairs {
    let mut all = Counts::default();
    let mut groups = Vec::new();
    for (group, [same, cross]) in tally.at(threshold).enumerate() {
        all += same + cross;
        if let Some(bounds) = &documents.size_groups {
            groups.push(GroupMeasured {
                words: bounds.describe(group),
                same: same.into(),
                cross: cross.into(),
            });
        }
    }
    Pairs {
        all: all.into(),
        groups,
    }
}
