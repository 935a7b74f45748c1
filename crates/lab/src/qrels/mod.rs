//! Check TREC judgements and runs for near-duplicates, and deduplicate them.
//!
//! # Source
//! Chowdhury, Frieder, Grossman & McCabe 2002, section 4.6: among the documents judged for a topic,
//! they find duplicates that were judged differently. Bernstein & Zobel 2005 ("Redundant documents
//! and search effectiveness"): a ranked document that repeats an earlier one is of no use to the
//! reader. Forms of judgements: Clarke et al. 2008 ("Novelty and diversity in information retrieval
//! evaluation") and the program ndeval, which judge a document for each subtopic of a topic; the
//! Million Query track of TREC 2007 (Allan et al.), whose *prels* record by which method, and with
//! which probability, a document was chosen to be judged.
//!
//! # In and out
//! In: TREC relevance judgements (*qrels*, in one of the forms below), the clusters (an output
//! directory or a `clusters.jsonl`), and TREC rankings (*runs*: lines of topic, `Q0`, docno,
//! rank, score, tag). Fields are separated by white space, empty lines are ignored, and files may
//! be compressed. Out: [`QrelsReport`], and in a directory the files `contradictions.jsonl`, `qrels`
//! and each ranking under the name of its file.
//!
//! # The forms of judgements
//! - *trec*: topic, iteration, docno, relevance. A docno has one line in a topic.
//! - *ndeval*: topic, subtopic, docno, relevance. A docno has one line for each subtopic of a
//!   topic.
//! - *prels*: topic, docno, relevance, method, probability. A docno has one line in a topic.
//!
//! [`QrelsFormat::Auto`] takes five fields in the first line for *prels*. Four fields are *ndeval*
//! if a docno has lines in a topic that differ in the second field, and *trec* otherwise. Written
//! lines have the form of the lines that were read.
//!
//! # What is counted
//! A document is relevant if its relevance is above 0. For each topic:
//!
//! - *Judged*: lines of the qrels; *clustered*: judged lines whose document is in a cluster.
//! - A *group*: two or more judged documents of one cluster, for one subtopic if there are
//!   subtopics. It is *exact* if all of them are exact
//!   duplicates of each other.
//! - A group is *inconsistent* if some of its documents are relevant and some are not. Its *grades
//!   differ* if its documents do not all have the same relevance, so the grades of every
//!   inconsistent group differ. For both kinds, *exact* counts the groups in which exact duplicates
//!   of each other disagree, and *near* counts the other groups.
//!
//! In a directory, `exact-duplicates.tsv` records which documents are exact duplicates of each
//! other. A `clusters.jsonl` alone does not say which earlier member an `exact` member duplicates
//! once a `near` member has appeared. In that case only the members before the first `near` member
//! count as exact duplicates of each other.
//!
//! A cluster may have groups in several topics. [`QrelsReport::all`] has the sums over the topics,
//! and [`QrelsReport::distinct`] counts each cluster and each document once. A distinct cluster is
//! *exact* if all its groups are, and its duplicates disagree if they do in any of its groups.
//!
//! # What is kept
//! For each topic, subtopic and cluster, one line of the qrels ([`Keep`]); for each topic and
//! cluster, one line of the run. All lines whose document is in no cluster are kept. Judgements keep
//! their order; fields are separated by one space.
//!
//! - *best*: the document of highest relevance; of several, the first in the collection.
//! - *first*: the judged document that comes first in the collection, with its own relevance.
//! - *map*: every docno of a cluster is replaced by the docno of the cluster's representative,
//!   judged or not. The line takes the place of the first judged document, with its other fields
//!   and the highest relevance of the group.
//!
//! A ranking is the lines of a topic in the order of trec_eval: by falling score in single precision,
//! and of equal ones, the docno that is greater byte by byte comes first. It keeps the first line of
//! each cluster, under the docno that the judgements keep for the topic and cluster, so that the two files
//! fit each other; with *map* under the docno of the representative. Of several subtopics, the first
//! one decides which docno that is, in the judgements too. Ranks are renumbered in steps of one, from 0 if the topic's lowest rank is
//! 0 and otherwise from 1. If new docnos would change the order of equal scores, some are raised to
//! the next number of single precision, and so are the scores above that this reaches. Others do not
//! change. Lines whose score rises within a topic are counted.
//!
//! # Algorithm
//! 1. The qrels and the runs are read into memory.
//! 2. `clusters.jsonl` is streamed. For each document known from step 1, its cluster, its place and
//!    its kind are recorded.
//! 3. Judgements are sorted by topic, subtopic, cluster and place, so that each group is
//!    contiguous. Then they are sorted by cluster and docno, for the distinct counts.
//! 4. Each run is thinned and written.
//!
//! # Invariants
//! - Lines = kept + removed, for the qrels and for the run.
//! - Inconsistent groups = exact + near; the same holds for groups whose grades differ.
//! - The totals are the sums over the topics. Topics are in the order of the qrels, and so are the
//!   subtopics of a topic; groups are in the order of the clusters.
//!
//! # Cost
//! Memory: three times the bytes of the qrels and runs, 272 bytes for each line of the qrels, 320 bytes
//! for each line of the runs, and with *map* the docnos of the representatives. Clusters are streamed,
//! so their number and size do not matter.
//!
//! # Where we depart from the source
//! Chowdhury considers exact duplicates under I-Match. Here clusters come from any run, and exact
//! and near duplicates are counted separately. Graded relevance is our addition.
//!
//! # What is not guaranteed
//! Qrels cannot contain a docno with white space, so such documents are never judged. Docnos are
//! compared byte for byte, by hashes of 128 bits.
//!
//! # Errors
//! `BadLine` for a line that cannot be read, for a docno that occurs twice in a topic (and
//! subtopic), and for a representative that cannot be written; `StageMissing` for a directory
//! without clusters; `Corrupt` or `Truncated` if the clusters differ from the manifest;
//! `BudgetTooSmall`; `BadParameter` if the output would replace an input or lie in the output
//! directory of a run; `Io`.

mod clusters;
mod config;
mod lines;
mod ranking;
mod stats;

use lookalike_base::{Context, Memory, Result, refuse};
use lookalike_engine::{outputs, pipeline};
use lookalike_store::{AtomicFile, OwnDirectory, disk};
use lookalike_text::read::uncompressed;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use lines::{JUDGEMENT_BYTES, Names};

pub use clusters::Clusters;
pub use lines::{Judgement, Judgements, MOST_LINE_BYTES, key_of};
pub use ranking::{RankedLine, RankedRun};

pub use config::{Keep, QrelsConfig, QrelsFormat};
pub use stats::{Differing, FileCounts, QrelsReport, TopicCounts};

const STAGE: &str = "qrels";
/// Buffers of readers and writers, and a line.
const FIXED_BYTES: u64 = 8 << 20;

/// The list of inconsistent groups, next to [`QRELS_FILE`] and the rankings in the output
/// directory.
pub const CONTRADICTIONS_FILE: &str = "contradictions.jsonl";
/// The deduplicated qrels.
pub(crate) const QRELS_FILE: &str = "qrels";
/// The links of `transfer`, whose other files have the same names as those of `qrels`.
pub(crate) const TRANSFERRED_FILE: &str = "transferred.tsv";

/// The cluster number of a document that is in no cluster.
const NONE: u32 = u32::MAX;

/// The files with the clusters.
pub struct Source {
    clusters: PathBuf,
    /// `documents.tsv` and `exact-duplicates.tsv`.
    tables: Option<[PathBuf; 2]>,
}

impl Source {
    /// Opens the given path and, for a directory, checks its files.
    ///
    /// # Errors
    /// `StageMissing`, `Corrupt` or `Truncated` for a directory whose clusters are not whole.
    pub fn open(path: &Path) -> Result<Source> {
        if !disk::is_directory(path)? {
            return Ok(Source {
                clusters: path.into(),
                tables: None,
            });
        }
        let names = ["clusters.jsonl", "documents.tsv", "exact-duplicates.tsv"];
        pipeline::check_results(path, &names)?;
        let [clusters, documents, duplicates] = names.map(|name| path.join(name));
        Ok(Source {
            clusters,
            tables: Some([documents, duplicates]),
        })
    }
}

/// Counts judgements that contradict each other, and writes the deduplicated files.
pub fn run(config: &QrelsConfig, context: &Context<'_>) -> Result<QrelsReport> {
    let source = Source::open(&config.clusters)?;
    if let Some(output) = &config.output {
        check_output(config, &source, output)?;
    }
    let mut held = Held::new(STAGE, context, (0, 0));
    let renaming = config.keep == Keep::Map;
    let given = (config.qrels.as_path(), config.qrels_format);
    let (judgements, clusters, runs) = read(given, &source, &config.runs, renaming, &mut held)?;

    let mut order: Vec<Placed> = (judgements.all.iter().zip(0..))
        .map(|(judgement, number)| Placed::of(judgement, number, &judgements, &clusters))
        .collect();
    order.sort_unstable();

    let counts = judgements.counts(&config.qrels, &clusters);
    let mut report = QrelsReport::new(config, &judgements, counts);
    let create = |output| OwnDirectory::create(output, CONTRADICTIONS_FILE, |_| false);
    let output = config.output.as_deref().map(create).transpose()?;
    let create = |name: &str| output.as_ref().map(|output| output.file(name)).transpose();
    let mut contradictions = create(CONTRADICTIONS_FILE)?;
    let mut qrels = create(QRELS_FILE)?;
    let given = (&judgements, &clusters);
    let out = contradictions.as_mut();
    let chosen = Chosen::of(config, given, &order, &mut report, out, context)?;
    // Each cluster once, and each document of it.
    let key = |placed: &Placed| (placed.cluster, judgements.all[placed.number as usize].key);
    order.sort_unstable_by_key(key);
    for (n, cluster) in order.chunk_by(|a, b| a.cluster == b.cluster).enumerate() {
        context.tick(STAGE, n)?;
        let documents = cluster.chunk_by(|a, b| key(a) == key(b));
        let marks = |placed: &Placed| chosen.marks[placed.number as usize];
        let documents =
            documents.map(|lines| lines.iter().map(marks).fold(Marks::default(), Marks::and));
        let clustered = cluster[0].cluster != NONE;
        report.distinct.add_cluster(clustered, documents);
    }
    drop(order);
    for (number, judgement) in judgements.all.iter().enumerate() {
        context.tick(STAGE, number)?;
        if !chosen.keep[number] {
            report.qrels.removed += 1;
            continue;
        }
        report.qrels.kept += 1;
        let place = clusters.member(judgement.key);
        let place = place.map(|member| (judgement.topic, member.cluster));
        let name = place.and_then(|place| chosen.names.get(&place));
        let docno = match clusters.renamed(judgement.key)? {
            Some(name) => name,
            None => judgements.named(name.copied().unwrap_or(number as u32)),
        };
        report.qrels.renamed += u64::from(docno != judgements.docno(judgement));
        if let Some(out) = &mut qrels {
            let line = judgements.line(judgement, docno, chosen.grades[number]);
            out.put(line.as_bytes())?;
        }
    }
    // Each file is closed before the next ranking is created, so that few are open. All get their
    // names at the end.
    let files = [contradictions, qrels].into_iter().flatten();
    let files = files.map(|file| file.close(true));
    let mut files = files.collect::<Result<Vec<_>>>()?;
    for (run, path) in runs.iter().zip(&config.runs) {
        let mut file = create(&uncompressed(path))?;
        let given = (&judgements, &clusters, &chosen);
        report.runs.push(run.thin(given, file.as_mut())?);
        files.extend(file.map(|file| file.close(true)).transpose()?);
    }
    for file in files {
        file.finish()?;
    }
    if let Some(output) = &output {
        disk::sync_directory(output.path())?;
    }
    Ok(report)
}

/// Reads judgements, some rankings, and the clusters of all documents in them.
/// `renaming` keeps the docnos of representatives.
///
/// # Errors
/// Those of the module.
pub fn read<'r>(
    (qrels, format): (&Path, QrelsFormat),
    source: &Source,
    rankings: impl IntoIterator<Item = &'r PathBuf>,
    renaming: bool,
    held: &mut Held<'_>,
) -> Result<(Judgements, Clusters, Vec<RankedRun>)> {
    let judgements = Judgements::read(qrels, format, held)?;
    let mut names = Names::of(&judgements);
    let runs = rankings.into_iter();
    let runs = runs.map(|path| RankedRun::read(path, &mut names, held));
    let runs = runs.collect::<Result<Vec<_>>>()?;
    (held.memory).check(|| "the judgements and ranked documents".into())?;
    names.close();
    let clusters = Clusters::read(source, names, renaming, held)?;
    Ok((judgements, clusters, runs))
}

/// The decisions about each judgement, by its number.
struct Chosen {
    keep: Vec<bool>,
    /// The judgement whose docno stands for a topic and cluster, in the ranking too.
    names: HashMap<(u32, u32), u32>,
    /// With `map`, each line that is kept gets the highest relevance of its group.
    grades: Vec<i64>,
    marks: Vec<Marks>,
}

impl Chosen {
    /// Decides about the judgements of one topic and cluster together. They are in `order`.
    fn of(
        config: &QrelsConfig,
        (judgements, clusters): (&Judgements, &Clusters),
        order: &[Placed],
        report: &mut QrelsReport,
        mut out: Option<&mut AtomicFile>,
        context: &Context<'_>,
    ) -> Result<Chosen> {
        let mut keep = vec![true; order.len()];
        let mut grades: Vec<i64> = judgements.all.iter().map(|j| j.grade).collect();
        let mut marks = vec![Marks::default(); order.len()];
        let mut names = HashMap::new();
        let groups = order.chunk_by(|a, b| {
            (a.topic, a.subtopic, a.cluster) == (b.topic, b.subtopic, b.cluster)
                && a.cluster != NONE
        });
        for (n, group) in groups.enumerate() {
            context.tick(STAGE, n)?;
            let differing = Group::new(group, judgements, clusters);
            report.add(group[0].topic, &differing);
            let numbers = || group.iter().map(|placed| placed.number);
            let best = numbers().map(|number| grades[number as usize]).max();
            let best = best.unwrap_or_default();
            let kept = match config.keep {
                Keep::First => Some(group[0].number),
                Keep::Best => numbers().find(|&number| grades[number as usize] == best),
                Keep::Map => numbers().min(),
            };
            if let (true, Some(kept)) = (differing.clustered, kept) {
                // The first subtopic names the cluster if there are several.
                let place = (group[0].topic, group[0].cluster);
                names.entry(place).or_insert(kept);
            }
            if group.len() < 2 {
                continue;
            }
            if differing.marks.grades.is_some()
                && let Some(out) = &mut out
            {
                out.put(differing.line(judgements, clusters).as_bytes())?;
            }
            for number in numbers() {
                marks[number as usize] = differing.marks;
                keep[number as usize] = Some(number) == kept;
            }
            if let (Keep::Map, Some(kept)) = (config.keep, kept) {
                grades[kept as usize] = best;
            }
        }
        Ok(Chosen {
            keep,
            names,
            grades,
            marks,
        })
    }
}

/// Refuses an output directory in which a file of a run or an input would be replaced.
fn check_output(config: &QrelsConfig, source: &Source, output: &Path) -> Result<()> {
    let mut reads: Vec<&Path> = vec![&config.qrels, &source.clusters];
    reads.extend(source.tables.iter().flatten().map(PathBuf::as_path));
    reads.extend(config.runs.iter().map(PathBuf::as_path));
    let mut files = BTreeSet::from([CONTRADICTIONS_FILE.to_string(), QRELS_FILE.into()]);
    for path in &config.runs {
        if !files.insert(uncompressed(path)) {
            let limit = format!("{} in it would be two files", uncompressed(path));
            return refuse("run", path.display(), limit + "; give it another name");
        }
    }
    outputs::check_files(output, files.iter().map(String::as_str), &[], &reads)?;
    // An earlier command may have had other rankings; `transfer` marks its directories too.
    let theirs = disk::exists(&output.join(TRANSFERRED_FILE))?;
    let is_ours = |name: &str| !theirs || files.contains(name);
    OwnDirectory::look(output, is_ours, "qrels")
}

/// The memory of judgements and the data that belong to them, and the way to stop their reading.
pub struct Held<'a> {
    context: &'a Context<'a>,
    stage: &'static str,
    pub memory: Memory,
    /// Bytes of memory of a judgement besides its text.
    line_bytes: u64,
    /// The memory that the caller needs for each line of a ranking, besides the memory of [`read`]
    /// and of its docno.
    pub ranked_bytes: u64,
}

impl<'a> Held<'a> {
    /// `bytes` are in use by the caller, and it needs `line_bytes` for each judgement besides
    /// [`JUDGEMENT_BYTES`].
    pub fn new(
        stage: &'static str,
        context: &'a Context<'a>,
        (bytes, line_bytes): (u64, u64),
    ) -> Self {
        Held {
            context,
            stage,
            memory: Memory::new(&context.budget, FIXED_BYTES + bytes),
            line_bytes: JUDGEMENT_BYTES + line_bytes,
            ranked_bytes: 0,
        }
    }

    /// Counts a judgement with this number of bytes of text, as [`Memory::take`] does.
    pub fn take_line(&mut self, bytes: u64) -> bool {
        self.memory.take(self.line_bytes + 3 * bytes)
    }

    /// Checks from time to time whether a stop was requested.
    pub fn stop(&self, n: u64) -> Result<()> {
        self.context.tick(self.stage, n)
    }
}

/// A judgement with the place of its document. Sorts by topic, then in the order of
/// `clusters.jsonl`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    topic: u32,
    subtopic: u32,
    cluster: u32,
    place: u64,
    number: u32,
}

impl Placed {
    fn of(
        judgement: &Judgement,
        number: u32,
        judgements: &Judgements,
        clusters: &Clusters,
    ) -> Placed {
        let member = clusters.member(judgement.key);
        Placed {
            topic: judgement.topic,
            subtopic: judgements.subtopic(judgement),
            cluster: member.map_or(NONE, |member| member.cluster),
            place: member.map_or(0, |member| member.place),
            number,
        }
    }
}

/// Marks the kinds of groups of a judgement.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    /// In a group.
    grouped: bool,
    /// In a group of near-duplicates.
    near: bool,
    /// In a group in which some are relevant and some are not: whether exact duplicates of each
    /// other disagree.
    relevance: Option<bool>,
    /// The same for any difference in grade.
    grades: Option<bool>,
}

impl Marks {
    /// The marks of two judgements together.
    fn and(self, other: Marks) -> Marks {
        Marks {
            grouped: self.grouped || other.grouped,
            near: self.near || other.near,
            // Some(true) is greater than Some(false), and that is greater than None.
            relevance: self.relevance.max(other.relevance),
            grades: self.grades.max(other.grades),
        }
    }
}

/// The judged documents of a topic (and subtopic) that are in one cluster, or one document that is
/// in no cluster.
struct Group<'g> {
    placed: &'g [Placed],
    clustered: bool,
    marks: Marks,
}

impl<'g> Group<'g> {
    fn new(placed: &'g [Placed], judgements: &Judgements, clusters: &Clusters) -> Self {
        let of = |placed: &Placed| {
            let judgement = &judgements.all[placed.number as usize];
            (clusters.class(judgement.key), judgement.grade)
        };
        let mut of_class: Vec<(u128, i64)> = placed.iter().map(of).collect();
        of_class.sort_unstable();
        let differ = |of: &dyn Fn(i64) -> i64| {
            let differ = |some: &[(u128, i64)]| some.iter().any(|(_, g)| of(*g) != of(some[0].1));
            let mut classes = of_class.chunk_by(|a, b| a.0 == b.0);
            differ(&of_class).then(|| classes.any(differ))
        };
        Group {
            placed,
            clustered: placed[0].cluster != NONE,
            marks: Marks {
                grouped: placed.len() > 1,
                near: of_class[0].0 != of_class[of_class.len() - 1].0,
                relevance: differ(&|grade| i64::from(grade > 0)),
                grades: differ(&|grade| grade),
            },
        }
    }

    /// The group's line in [`CONTRADICTIONS_FILE`].
    fn line(&self, judgements: &Judgements, clusters: &Clusters) -> String {
        let text = |text: &str| serde_json::Value::from(text).to_string();
        let (relevance, grades) = (self.marks.relevance, self.marks.grades);
        let differs = relevance.map_or("grade", |_| "relevance");
        let exact = relevance.or(grades) == Some(true);
        let first = &judgements.all[self.placed[0].number as usize];
        let subtopic = match judgements.format {
            QrelsFormat::Ndeval => format!("\"subtopic\":{},", text(judgements.repeated(first))),
            _ => String::new(),
        };
        let mut line = format!(
            "{{\"topic\":{},{subtopic}\"cluster\":{},\"differs\":\"{differs}\",\"between\":\"{}\",\"members\":[",
            text(&judgements.topics[self.placed[0].topic as usize]),
            self.placed[0].cluster,
            if exact { "exact" } else { "near" },
        );
        for (n, placed) in self.placed.iter().enumerate() {
            let judgement = &judgements.all[placed.number as usize];
            let member = clusters.member(judgement.key);
            let kind = member.map_or("", |member| member.kind.text());
            let _ = write!(
                line,
                "{}{{\"docno\":{},\"grade\":{},\"kind\":\"{kind}\"}}",
                if n > 0 { "," } else { "" },
                text(judgements.docno(judgement)),
                judgement.grade,
            );
        }
        line.push_str("]}\n");
        line
    }
}
