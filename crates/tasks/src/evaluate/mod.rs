//! Compares the pairs of a run with a ground truth.
//!
//! # Source
//! Precision and recall of a sampled run against the run without sampling: Ye, Wen & Ma 2008,
//! section 5, equations 2 and 3. Coverage, density and average precision over a judged sample:
//! Bernstein & Zobel 2006, section 7.
//!
//! # In and out
//! In: two pair lists ([`evaluate`]), or a run and judged pairs. Out: the numbers of correct, wrong
//! and missed pairs, by size group of the smaller document.
//!
//! A pair list is the output directory of a run, a `pairs.tsv`, or a list of another program. Such
//! a list has lines of two docnos and an optional resemblance. Columns are separated by tabs,
//! commas (RFC 4180) or spaces; a line may also be a JSON object. Files may be compressed. If the list
//! is compared with a directory or its `documents.tsv`, it may name a capture by its address. An
//! address that several captures have is refused, and a docno of the directory counts as a docno.
//!
//! # What is counted
//! Pairs are unordered. A pair that is listed several times counts once, with its highest
//! resemblance. A pair of a docno with itself is ignored.
//!
//! - **Documents.** An output directory records which documents are identical. Its list therefore
//!   stands for every listed pair, with each document replaced by every document identical to it,
//!   and for every pair of identical documents, with resemblance 1. A file stands for the pairs in
//!   it, with one exception. If the ground truth is a file, the run's directory has pairs of
//!   identical documents, and the file names none of these pairs, the file is a list of
//!   representatives. Without expansion, every pair of identical documents would count as wrong. It
//!   is therefore expanded like the list of a directory, and a note says so. A run that is such a
//!   file is not expanded, because it has missed these pairs; a note also says this.
//! - **Representatives.** The same, but identical documents count as one document, and pairs of
//!   identical documents are left out. The ground truth's directory decides which documents are
//!   identical, or the run's directory if the ground truth is a file.
//! - **Unknown.** If the ground truth is a directory, or its documents are given, it says nothing
//!   about pairs with other docnos. Such pairs are counted as unknown in both lists and left out of
//!   all other counts. A listed pair of a directory is unknown if one of its two documents has no
//!   known document among those identical to it.
//! - **Size groups** come from the ground truth's documents. A pair belongs to the group of its
//!   smaller document (fewer words).
//! - **Thresholds.** At a threshold, only the pairs of a list that reach it count. Resemblances are
//!   exact: they come from the columns of integers if the list has them, and otherwise from the
//!   decimals as written (27 digits; a JSON number is the shortest decimal that reads as the same
//!   64-bit number). In a list without resemblances, all pairs count at each threshold.
//! - **Clusters.** Two documents in one cluster are a pair. The run may be a list of clusters.
//! - **Removals.** The run may be a list of the documents that a deduplication removed or kept
//!   ([`RemovalsAt`]).
//!
//! With a judged sample, a pair is found if it is among the run's pairs of documents as defined
//! above, and:
//!
//! - coverage = judged true and found / judged true;
//! - density = judged true and found / judged and found;
//! - average precision: for each document, judged true / judged, over the found pairs with this
//!   document; then the mean over the documents with at least one found judged pair. These
//!   documents are the ones that a line of the judged pairs names first; with families, all
//!   documents.
//!
//! With families, every two documents of one family are judged true, and every two documents of
//! different families are judged false. Pairs with a document of no family are not judged.
//!
//! A ratio with denominator 0 is undefined, `None`: precision and density if nothing was found,
//! recall and coverage if nothing is true, F1 if nothing was found and nothing is true, average
//! precision if no judged pair was found.
//!
//! # Algorithm
//! 1. The documents are numbered by the rank of their docno's hash among all distinct hashes.
//! 2. The lists are read again and sorted by pair of numbers, which brings repeated pairs together.
//! 3. One of the lists is the base: the ground truth, unless only the run is a directory. Each pair
//!    of the other list is mapped to the pair of the base's classes of identical documents that
//!    contain its two documents. It carries the number of document pairs that it stands for, and is
//!    sorted together with the base. If the other list has classes too, their pairs are split along
//!    the base's classes. Both usually have the same classes, and nothing is split.
//! 4. The sorted stream brings everything that both lists say about a pair of classes together. The
//!    pair is then counted by level: the number of thresholds that it reaches in each list.
//!
//! # Invariants
//! - The counts do not depend on the memory budget.
//! - Pairs of documents are never written out unless a file lists them, except where the two
//!   directories disagree about which documents are identical.
//!
//! # Cost
//! Memory: 42 bytes for each document that any file names, in tables of up to 8 bytes each (122
//! with families). The sorts use the rest of the budget. Each list is read twice (the list of a
//! directory three times, because of its checksum), and once more each for judged pairs and for
//! families. Its pairs are sorted twice, at 24 bytes a pair.
//!
//! # Where we depart from the source
//! The papers count pairs of representatives at one threshold. We do not draw the sample of edges
//! to judge; that is left to the user.
//!
//! # Errors
//! `BadLine` for a line that cannot be read; `StageMissing` for a directory without results;
//! `Corrupt` if the results differ from the manifest; `BudgetTooSmall`; `Io`.

mod bootstrap;
mod classes;
mod compare;
mod documents;
mod judged;
mod list;
mod rank;
mod removed;
mod samples;

use lookalike_base::{
    Context, MOST_SORT_BYTES, Result, Threshold, Unit, budget::ByteSize, counted, keywords, refuse,
};
use lookalike_engine::outputs::{self, Home};
use lookalike_engine::pipeline;
use lookalike_store::{Item, Sort, disk};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use bootstrap::{ByCollection, ByGrade, Graded, Intervals, Measures};
pub use documents::{FAMILIES, each_row};
pub use list::{Columns, Scores};
pub use lookalike_base::precision::Counts;
pub use rank::{CurvePoint, Ranking, Reaching};
pub use removed::{RemovalShare, RemovalsAt};
pub use samples::{Sample, SampleAt};

use compare::Tally;
use documents::{DOCUMENTS, DUPLICATES, Documents};
use list::PairList;

const STAGE: &str = "evaluate";
/// Buffers of readers and writers.
const FIXED_BYTES: u64 = 8 << 20;
/// The least memory for a sort.
const SORT_BYTES: u64 = 1 << 20;
/// The largest number of thresholds: the size of a tally grows with its square.
pub const MOST_THRESHOLDS: usize = 100;

/// A list of pairs, as named by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListFile {
    /// An output directory or a file.
    pub path: PathBuf,
    /// Which column holds what.
    pub columns: Option<Columns>,
}

keywords! {
    /// The form of the list of a run.
    #[derive(Default)]
    pub enum RunList: "is not possible; use" {
        /// Pairs of documents.
        #[default]
        Pairs = "pairs",
        /// Documents, each with its cluster.
        Clusters = "clusters",
        /// On each line, the documents of a cluster.
        ClusterLines = "cluster-lines",
        /// The documents that a deduplication removed.
        Removed = "removed",
        /// The documents that it kept.
        Kept = "kept",
    }
}

/// The run to evaluate, and the data to evaluate it against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluateConfig {
    /// The ground truth.
    pub truth: Option<ListFile>,
    /// The pairs of the run.
    pub run: ListFile,
    /// Whether the run lists pairs, clusters, or removed or kept documents.
    pub run_lists: RunList,
    /// A `documents.tsv` of all documents, if the ground truth is a file.
    pub documents: Option<PathBuf>,
    /// Thresholds in ascending order; empty to count everything that is listed.
    pub thresholds: Vec<Threshold>,
    /// Judged pairs.
    pub judged: Option<PathBuf>,
    /// The least grade of a judged pair that is true.
    pub true_grade: u32,
    /// Where to write the judged pairs about which the run and the people disagree, or the documents
    /// that are counted of a list of removed or kept ones.
    pub disagreements: Option<PathBuf>,
    /// Families of documents.
    pub families: Option<PathBuf>,
    /// Where to create a temporary directory for sorting.
    pub scratch: PathBuf,
}

/// A list whose type and header were read.
struct Opened {
    /// The file with the pairs.
    pairs: PathBuf,
    /// Its columns.
    columns: Option<Columns>,
    /// The output directory that the file belongs to.
    directory: Option<PathBuf>,
    comments: BTreeMap<String, String>,
    scores: Scores,
    /// The form of the list.
    of: RunList,
    /// Whether the run listed its pairs (`--pairs`).
    listed: bool,
}

impl Opened {
    /// The threshold of its pairs, if it says so.
    fn threshold(&self) -> Option<Threshold> {
        self.comments.get("threshold")?.parse().ok()
    }
}

/// All files to read.
struct Sources<'a> {
    config: &'a EvaluateConfig,
    context: &'a Context<'a>,
    truth: Option<Opened>,
    run: Opened,
}

/// Counts of the lines and pairs of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ListCounts {
    /// Lines with pairs.
    pub lines: u64,
    /// Distinct pairs.
    pub pairs: u64,
    /// Lines that repeat one of these pairs.
    pub repeated: u64,
    /// Lines that pair a docno with itself, which are ignored.
    pub to_themselves: u64,
    /// Pairs with a docno that the ground truth's collection does not have; they are left out.
    pub unknown: u64,
    /// Pairs of identical documents, which are left out of the pairs of representatives. Includes
    /// lines that pair identical documents of the list's own directory.
    pub identical: u64,
}

/// A list, in the report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ListReport {
    /// The path as given.
    pub path: PathBuf,
    /// Whether it is the output directory of a run.
    pub directory: bool,
    /// Where resemblances are taken from.
    pub scores: Scores,
    /// Its counts; `None` without a ground truth.
    pub counts: Option<ListCounts>,
}

/// Counts, and the ratios computed from them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Pairs of the ground truth.
    pub true_pairs: u64,
    /// Pairs that the run found.
    pub found: u64,
    /// The counts.
    #[serde(flatten)]
    pub counts: Counts,
    /// Correct / found.
    pub precision: Option<f64>,
    /// Correct / true.
    pub recall: Option<f64>,
    /// Harmonic mean of precision and recall.
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
    /// Pairs of two documents of this group.
    pub same: Measured,
    /// Pairs of a document of this group and one of a group of larger documents.
    pub cross: Measured,
}

/// All pairs, and the pairs by size group if documents have size groups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairCounts {
    /// All pairs.
    pub all: Measured,
    /// The same by size group.
    pub groups: Vec<GroupMeasured>,
}

/// Pairs at one threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairsAt {
    /// The threshold; `None` for everything in the lists.
    pub threshold: Option<Threshold>,
    /// Pairs of representatives, if a list records which documents are identical.
    pub representatives: Option<PairCounts>,
    /// Pairs of documents.
    pub documents: PairCounts,
}

/// The whole report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// Notes that a reader needs to interpret the numbers.
    pub notes: Vec<String>,
    /// The ground truth.
    pub truth: Option<ListReport>,
    /// The run.
    pub run: ListReport,
    /// Counts by threshold; empty without a ground truth or if the run did not list its pairs.
    pub pairs: Vec<PairsAt>,
    /// Pairs of documents in one cluster, if both lists are directories.
    pub clusters: Option<Measured>,
    /// By threshold, if the run is a list of removed or kept documents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removals: Vec<RemovalsAt>,
    /// Measured with the judged pairs.
    pub judged: Option<Sample>,
    /// Measured with the families.
    pub families: Option<Sample>,
}

/// Opens a list and, for a directory, checks its files.
fn open(list: &ListFile, of: RunList) -> Result<Opened> {
    let mut opened = Opened {
        pairs: list.path.clone(),
        columns: list.columns.clone(),
        directory: disk::is_directory(&list.path)?.then(|| list.path.clone()),
        comments: BTreeMap::new(),
        scores: Scores::None,
        of,
        listed: false,
    };
    if of != RunList::Pairs {
        if opened.directory.is_some() {
            let limit = format!(
                "{} is a directory; the flag is for lists",
                list.path.display()
            );
            return refuse("run-lists", of, limit);
        }
        return Ok(opened);
    }
    if let Some(directory) = &opened.directory {
        pipeline::check_results(directory, &["pairs.tsv", DOCUMENTS, DUPLICATES])?;
        opened.pairs = directory.join("pairs.tsv");
    }
    let pairs = PairList::open(&opened.pairs, opened.columns.as_ref())?;
    opened.comments = pairs.table.comments.iter().cloned().collect();
    opened.scores = pairs.scores;
    opened.listed = opened
        .comments
        .get("pairs")
        .is_none_or(|kind| kind != "none");
    Ok(opened)
}

/// Adds notes on differences that make two lists hard to compare.
fn compare_headers(truth: &Opened, run: &Opened, notes: &mut Vec<String>) {
    let has_tokens = |list: &&Opened| list.comments.contains_key("tokens");
    let both = [truth, run].iter().all(has_tokens);
    let optional = ["fold", "exclude-text"].into_iter().filter(|_| both);
    let stated = ["tokens", "markup", "shingle-size", "fingerprint"].map(|name| (name, None));
    for (name, absent) in optional.map(|name| (name, Some("none"))).chain(stated) {
        let of = [truth, run].map(|list| list.comments.get(name).map(String::as_str).or(absent));
        if let [Some(a), Some(b)] = of
            && a != b
        {
            notes.push(format!(
                "the ground truth was made with --{name} {a}, the run with {b}"
            ));
        }
    }
}

/// Adds a note on thresholds below the threshold of a list.
fn compare_threshold(
    what: &str,
    list: &Opened,
    least: Option<&Threshold>,
    notes: &mut Vec<String>,
) {
    if let (Some(own), Some(&least)) = (list.threshold(), least)
        && least < own
    {
        notes.push(format!(
            "the {what} lists no pairs below {own}: lower thresholds use its pairs from {own} on"
        ));
    }
}

impl EvaluateConfig {
    /// Refuses combinations of parameters that make no sense.
    fn check(&self) -> Result<()> {
        let list = || {
            let texts: Vec<String> = self.thresholds.iter().map(ToString::to_string).collect();
            texts.join(",")
        };
        if self.thresholds.len() > MOST_THRESHOLDS {
            let limit = format!("at most {MOST_THRESHOLDS} thresholds");
            return refuse("thresholds", list(), &limit);
        }
        if self.thresholds.windows(2).any(|pair| pair[0] >= pair[1]) {
            return refuse("thresholds", list(), "give them in rising order");
        }
        let truth = self.truth.as_ref();
        if truth.is_none() && self.judged.is_none() && self.families.is_none() {
            return refuse("truth", "(none)", "give --truth, --judged or --families");
        }
        if self.run_lists != RunList::Pairs {
            let is_directory = truth.is_some_and(|list| list.path.is_dir());
            if !is_directory || self.judged.is_some() || self.families.is_some() {
                let limit =
                    "give --truth DIR, a directory to compare it with; judged samples need pairs";
                return refuse("run-lists", self.run_lists, limit);
            }
        }
        if matches!(self.run_lists, RunList::Clusters | RunList::ClusterLines)
            && !self.thresholds.is_empty()
        {
            let limit = "clusters have no threshold: leave the flag out";
            return refuse("thresholds", list(), limit);
        }
        let disagreements = self.disagreements.as_deref();
        let counted = matches!(self.run_lists, RunList::Removed | RunList::Kept);
        let some = counted || self.judged.is_some();
        judged::check(self.true_grade, some, disagreements)?;
        if let Some(output) = &self.disagreements {
            let lists = truth.into_iter().chain([&self.run]).map(|list| &list.path);
            let files = [&self.documents, &self.judged, &self.families];
            let files = files.into_iter().flatten();
            let reads: Vec<&Path> = lists.chain(files).map(PathBuf::as_path).collect();
            let heads = [judged::HEAD, removed::HEAD];
            outputs::check("disagreements", output, Home::Files(&reads), &heads)?;
        }
        if let (Some(documents), Some(truth)) = (&self.documents, truth)
            && disk::is_directory(&truth.path)?
        {
            let limit = "the ground truth is a directory and has its own documents.tsv";
            return refuse("documents", documents.display(), limit);
        }
        let run = ("run-columns", Some(&self.run), self.run_lists);
        for (name, list, of) in [("truth-columns", truth, RunList::Pairs), run] {
            let Some(list) = list else { continue };
            let Some(columns) = &list.columns else {
                continue;
            };
            if disk::is_directory(&list.path)? {
                let limit = "a directory has fixed columns; the flag is for lists";
                return refuse(name, "for a directory", limit);
            }
            columns.check(name, of)?;
        }
        Ok(())
    }
}

/// Evaluates a run.
pub fn evaluate(config: &EvaluateConfig, context: &Context<'_>) -> Result<Evaluation> {
    config.check()?;
    let mut notes = Vec::new();
    let sources = Sources {
        truth: (config.truth.as_ref().map(|list| open(list, RunList::Pairs))).transpose()?,
        run: open(&config.run, config.run_lists)?,
        config,
        context,
    };
    let thresholds = &config.thresholds[..];
    let named = [
        ("ground truth", sources.truth.as_ref()),
        (
            "run",
            Some(&sources.run).filter(|run| run.of == RunList::Pairs),
        ),
    ];
    let scored = |&(what, list): &(_, Option<&Opened>)| Some((what, list?.scores));
    let lists = || named.iter().filter_map(scored);
    let none = |scores| matches!(scores, Scores::None | Scores::Counts);
    if !thresholds.is_empty() && lists().all(|(_, scores)| none(scores)) {
        let limit =
            "no list has resemblances to compare it with; name their column with --pair-columns";
        return refuse("thresholds", thresholds[0], limit);
    }
    for (what, _) in lists().filter(|(_, scores)| !thresholds.is_empty() && none(*scores)) {
        notes.push(format!(
            "the {what} has no resemblances: all its pairs count at each threshold"
        ));
    }
    if let Some(truth) = &sources.truth {
        compare_headers(truth, &sources.run, &mut notes);
        if sources.run.of == RunList::Pairs {
            compare_threshold("ground truth", truth, thresholds.first(), &mut notes);
        }
    }
    compare_threshold("run", &sources.run, thresholds.first(), &mut notes);
    if !sources.run.listed && (config.judged.is_some() || config.families.is_some()) {
        let limit = "its pairs were not listed (--pairs none); judged samples need them";
        return refuse("run", config.run.path.display(), limit);
    }

    context.start(STAGE, Unit::Count("documents"), None);
    let scratch = disk::Scratch::within(&config.scratch)?;
    let place = scratch.path();
    let memory = (context.budget).rest(FIXED_BYTES, SORT_BYTES, || "evaluating".into())?;
    let memory = ByteSize(memory.min(MOST_SORT_BYTES));
    let docnos = documents::collect(&sources, place, memory)?;
    let count = docnos.count();
    context.stop.check(STAGE)?;
    let groups = 256 * 4 * 4 * (thresholds.len() as u64 + 2).pow(2) * 8;
    let named = config.families.is_some() || sources.run.of != RunList::Pairs;
    let families = if named { samples::FAMILY_BYTES } else { 0 };
    let held = FIXED_BYTES + count * (documents::DOCUMENT_BYTES + families) + groups;
    let what = || format!("evaluating {}", counted(count, "document"));
    let memory = context.budget.rest(held, 3 * SORT_BYTES, what)?;
    let of = Evaluating {
        sources: &sources,
        thresholds,
        scratch: place,
        memory: memory.min(MOST_SORT_BYTES),
        context,
    };
    let mut documents = Documents::load(&sources, &docnos)?;
    notes.append(&mut documents.notes);
    context.stop.check(STAGE)?;

    let report = |list: &ListFile, opened: &Opened| ListReport {
        path: list.path.clone(),
        directory: opened.directory.is_some(),
        scores: opened.scores,
        counts: None,
    };
    let mut evaluation = Evaluation {
        notes,
        truth: (config.truth.as_ref().zip(sources.truth.as_ref()))
            .map(|(list, opened)| report(list, opened)),
        run: report(&config.run, &sources.run),
        ..Evaluation::default()
    };
    if let Some(truth) = &sources.truth {
        compare_with(truth, of, &documents, &mut evaluation)?;
    }
    context.stop.check(STAGE)?;
    if let Some(path) = &config.judged {
        let sample = judged::judged(path, of, &mut documents)?;
        note_sample("judged pairs", path, &sample, &mut evaluation.notes);
        evaluation.judged = Some(sample);
    }
    if let Some(path) = &config.families {
        let sample = samples::families(path, of, &documents)?;
        let (what, notes) = ("documents of families", &mut evaluation.notes);
        note_sample(what, path, &sample, notes);
        evaluation.families = Some(sample);
    }
    Ok(evaluation)
}

/// Compares the pairs of a run, and its clusters, with a ground truth.
fn compare_with(
    truth: &Opened,
    of: Evaluating<'_>,
    documents: &Documents,
    evaluation: &mut Evaluation,
) -> Result<()> {
    let notes = &mut evaluation.notes;
    let lists = of.sources.run.of;
    if matches!(lists, RunList::Removed | RunList::Kept) {
        evaluation.removals = removed::compare(truth, of, documents)?;
        return Ok(());
    }
    if truth.listed && of.sources.run.listed {
        let found = compare::compare(of, documents)?;
        let [truth, run] = found.counts;
        for (what, counts) in [("ground truth", truth), ("run", run)] {
            if counts.unknown > 0 {
                notes.push(format!(
                    "ignored {} of {} of the {what}, with docnos that the collection of the \
                     ground truth does not have",
                    lookalike_base::numbers::count(counts.unknown),
                    counted(counts.pairs, "pair")
                ));
            }
        }
        if found.unnamed > 0 {
            let duplicates = counted(found.unnamed, "pair");
            notes.push(if documents.truth.has_classes() {
                format!(
                    "the run lists none of the {duplicates} of exact duplicates: the line \
                     `documents` counts them as missed, the line `representatives` leaves \
                     them out"
                )
            } else {
                format!(
                    "the ground truth lists none of the {duplicates} of exact duplicates in \
                     the run's directory: it is treated as a list of representatives, so \
                     each of its pairs also stands for the exact duplicates of its documents"
                )
            });
        }
        if let Some(report) = &mut evaluation.truth {
            report.counts = Some(truth);
        }
        evaluation.run.counts = Some(run);
        let classes = documents.truth.has_classes() || documents.run.has_classes();
        for threshold in 0..of.top() {
            let at = |tally| pairs(documents, tally, threshold);
            evaluation.pairs.push(PairsAt {
                threshold: of.thresholds.get(threshold).copied(),
                representatives: classes.then(|| at(&found.representatives)),
                documents: at(&found.all),
            });
        }
    } else if lists == RunList::Pairs {
        let which = if truth.listed { "run" } else { "ground truth" };
        notes.push(format!(
            "pairs of the {which} were not listed (--pairs none): only clusters are compared"
        ));
    }
    if ![&documents.truth, &documents.run]
        .iter()
        .any(|side| side.clusters.is_empty())
    {
        evaluation.clusters = Some(classes::compare(documents).into());
    }
    Ok(())
}

/// The lists that are compared, and the directory and memory for sorting them.
#[derive(Clone, Copy)]
struct Evaluating<'a> {
    sources: &'a Sources<'a>,
    thresholds: &'a [Threshold],
    scratch: &'a Path,
    memory: u64,
    context: &'a Context<'a>,
}

impl Evaluating<'_> {
    /// The same while the caller uses this many bytes.
    fn without(self, bytes: u64, what: impl FnOnce() -> String) -> Result<Self> {
        let budget = &self.context.budget;
        budget.require_share(self.memory, bytes + 3 * SORT_BYTES, what)?;
        Ok(Evaluating {
            memory: self.memory - bytes,
            ..self
        })
    }

    /// The number of levels: without thresholds there is one, which every pair reaches.
    fn top(self) -> usize {
        self.thresholds.len().max(1)
    }

    /// A sort that runs at the same time as `others` others.
    fn sort_beside<T: Item>(self, others: u64, name: &str) -> Result<Sort<T>> {
        let memory = ByteSize(self.memory / (1 + others));
        Sort::scratch(&self.scratch.join(name), memory)
    }
}

fn note_sample(what: &str, path: &Path, sample: &Sample, notes: &mut Vec<String>) {
    let file = path.display();
    for (number, which, so) in [
        (sample.unknown, "ground truth", "are ignored"),
        (sample.not_in_run, "run", "count as not found"),
    ] {
        if number > 0 {
            notes.push(format!(
                "{file}: {number} {what} have docnos that the collection of the {which} does not \
                 have; they {so}"
            ));
        }
    }
}

/// The counts of a tally at a threshold.
fn pairs(documents: &Documents, tally: &Tally, threshold: usize) -> PairCounts {
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
    PairCounts {
        all: all.into(),
        groups,
    }
}
