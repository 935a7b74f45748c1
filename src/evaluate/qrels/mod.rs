//! Relevance judgements and rankings held against duplicate clusters.
//!
//! # Source
//! Chowdhury, Frieder, Grossman & McCabe 2002, section 4.6: of the documents judged for a topic, duplicates
//! that were judged differently. Bernstein & Zobel 2005 ("Redundant documents and search effectiveness"): a
//! ranked document that repeats one ranked before it is of no use to the reader.
//!
//! # In and out
//! In: relevance judgements as TREC has them (*qrels*: lines of topic, iteration, docno, relevance), the
//! clusters (an output directory, or a `clusters.jsonl`), and a ranking as TREC has it (a *run*: lines of
//! topic, `Q0`, docno, rank, score, tag). Fields are told apart by white space, empty lines are passed over, files may
//! be compressed. Out: [`QrelsReport`]; in a directory `inconsistent.jsonl`, `qrels` and `run`.
//!
//! # What is counted
//! A document is relevant where its relevance is above 0. For each topic:
//!
//! - *Judged*: lines of the qrels; *clustered*: those whose document is in a cluster.
//! - A *group*: two judged documents or more of one cluster. It is *exact* if all of them are exact duplicates of each
//!   other.
//! - A group is *inconsistent* if some of its documents are relevant and some are not; its *grades differ* if not all
//!   have the same relevance, so that every inconsistent group is one of these too. Of each kind, *exact* counts the groups
//!   in which this is so between exact duplicates of each other, *near* the others.
//!
//! Which documents are exact duplicates of each other is what `exact-duplicates.tsv` of a directory says. A
//! `clusters.jsonl` alone does not say of which earlier member an `exact` one is a duplicate once there is a `near`
//! one: only the members before the first `near` one are taken for exact duplicates of each other.
//!
//! # What is kept
//! Of each topic and cluster one line of the qrels ([`Keep`]) and one of the run; all lines whose document is in no
//! cluster. Lines stay in their order; fields are separated by one space.
//!
//! - *first*: the judged document that is first in the collection, with its own relevance.
//! - *best*: the one of highest relevance; of several, the first in the collection.
//! - *map*: every docno of a cluster becomes that of the cluster's representative, judged or not. The line stands
//!   where the first judged one stood, with its iteration and the highest relevance of the group.
//!
//! A ranking is the lines of a topic in the order of the file. Of a cluster its first line is kept, under its own docno
//! with *first* and *best*, and under that of the representative with *map*. Ranks are given anew, rising by one from
//! that of the topic's first line where that is 0, else from 1; scores stay. A program that ranks by score (trec_eval) sees
//! the same order only if scores do not rise: lines where they do are counted.
//!
//! With *first* and *best* the document that a ranking keeps may be another than the qrels keep. Such a ranking is to be
//! scored with the qrels as they were; `map` gives a ranking and qrels that belong together.
//!
//! # Algorithm
//! 1. The qrels are read into memory; of the run, the distinct hashes of its docnos.
//! 2. `clusters.jsonl` is streamed: for each document known from 1, its cluster, place, kind.
//! 3. Judgements are sorted by topic, cluster and place: a group is a stretch of them.
//! 4. The run is read again and written, with a table of the topics and clusters seen.
//!
//! # Invariants
//! - Lines = kept + removed, of the qrels and of the run.
//! - Inconsistent groups = those exact + those near; likewise where grades differ.
//! - The topics' counts add up to those of all. Topics are in the order of the qrels, groups in that of the clusters.
//!
//! # Cost
//! Memory: the qrels' bytes three times and 200 bytes for each of their lines, 128 for each line of the run, the
//! representatives' docnos with *map*. Clusters are streamed, so their number and size cost nothing.
//!
//! # Where we depart from the source
//! Chowdhury looks at exact duplicates under I-Match; clusters are of whatever run made them, and the two kinds are
//! told apart. Graded relevance is ours.
//!
//! # What is not guaranteed
//! A docno with white space in it cannot stand in qrels; such documents are never judged. Docnos are compared byte
//! for byte, by hashes of 128 bits.
//!
//! # Errors
//! `BadLine` for a line that cannot be read, for a docno that stands twice in a topic, and for a representative that
//! cannot be written; `StageMissing` for a directory without clusters; `Corrupt` or `Truncated` where they are not what the
//! manifest says; `BudgetTooSmall`; `BadParameter` where the output would replace an input or lie in the output
//! directory of a run; `Io`.

mod clusters;
mod config;
mod lines;
mod ranking;
mod stats;

use crate::budget::ByteSize;
use crate::cluster::ResultsEntry;
use crate::progress::Context;
use crate::store::disk::{self, AtomicFile};
use crate::workspace::MANIFEST_FILE;
use crate::{Error, Result, outputs, pipeline};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clusters::Clusters;
use lines::{Judgements, Names};

pub use config::{Keep, QrelsConfig};
pub use stats::{Differing, FileCounts, QrelsReport, TopicCounts};

const STAGE: &str = "qrels";
/// Buffers of readers and writers, and a line.
const FIXED_BYTES: u64 = 8 << 20;

/// The group listing, beside [`QRELS_FILE`] and [`RUN_FILE`] in the output directory.
pub const INCONSISTENT_FILE: &str = "inconsistent.jsonl";
/// The qrels that are kept.
pub const QRELS_FILE: &str = "qrels";
/// The ranking that is kept.
pub const RUN_FILE: &str = "run";

/// What stands for a document that is in no cluster.
const NONE: u32 = u32::MAX;

/// Where the clusters are.
struct Source {
    clusters: PathBuf,
    /// `documents.tsv` and `exact-duplicates.tsv`.
    tables: Option<[PathBuf; 2]>,
}

impl Source {
    /// Looks at the path given; checks the files of a directory.
    fn open(path: &Path) -> Result<Source> {
        if !disk::is_directory(path)? {
            return Ok(Source {
                clusters: path.into(),
                tables: None,
            });
        }
        let results = pipeline::look(path)?;
        let results = results
            .get::<ResultsEntry>()
            .ok_or_else(|| Error::StageMissing {
                path: path.into(),
                stage: "cluster",
            })?;
        let names = ["clusters.jsonl", "documents.tsv", "exact-duplicates.tsv"];
        for file in &results.files {
            if names.contains(&file.name.as_str()) {
                disk::check(&path.join(&file.name), file.bytes, &file.checksum)?;
            }
        }
        let [clusters, documents, duplicates] = names.map(|name| path.join(name));
        Ok(Source {
            clusters,
            tables: Some([documents, duplicates]),
        })
    }
}

/// Counts judgements that contradict each other, and writes what is kept.
pub fn run(config: &QrelsConfig, context: &Context<'_>) -> Result<QrelsReport> {
    let source = Source::open(&config.clusters)?;
    if let Some(output) = &config.output {
        check_output(config, &source, output)?;
    }
    let mut held = Held::new(context);
    let judgements = Judgements::read(&config.qrels, &mut held)?;
    let mut names = Names::of(&judgements);
    let ranked = match &config.run {
        Some(path) => Some(ranking::look(path, &mut names, &mut held)?),
        None => None,
    };
    names.close();
    let renaming = config.keep == Keep::Map;
    let clusters = Clusters::read(&source, names, renaming, &mut held)?;

    let mut order: Vec<Placed> = (judgements.all.iter().zip(0..))
        .map(|(judgement, number)| Placed::of(judgement.topic, number, &judgements, &clusters))
        .collect();
    order.sort_unstable();

    let mut report = QrelsReport::new(config, &judgements.topics);
    report.qrels.lines = judgements.all.len() as u64;
    report.qrels.unknown = clusters.tell_unknown(judgements.all.iter().map(|j| j.key));
    let mut out = Outputs::create(config)?;
    let mut keep = vec![true; order.len()];
    // Of what is kept with `map`, the highest relevance of its group.
    let mut grades: Vec<i64> = judgements.all.iter().map(|j| j.grade).collect();
    let groups =
        order.chunk_by(|a, b| (a.topic, a.cluster) == (b.topic, b.cluster) && a.cluster != NONE);
    for (n, group) in groups.enumerate() {
        if n.is_multiple_of(4096) {
            context.stop.check(STAGE)?;
        }
        let differing = Group::new(group, &judgements, &clusters);
        report.add(group[0].topic, &differing);
        if group.len() < 2 {
            continue;
        }
        if differing.grades.is_some()
            && let Some(out) = &mut out.inconsistent
        {
            out.put(differing.line(&judgements, &clusters).as_bytes())?;
        }
        let best = group
            .iter()
            .map(|p| judgements.all[p.number as usize].grade)
            .max();
        let best = best.unwrap_or_default();
        let kept = match config.keep {
            Keep::First => Some(group[0].number),
            Keep::Best => group
                .iter()
                .map(|p| p.number)
                .find(|&number| judgements.all[number as usize].grade == best),
            Keep::Map => group.iter().map(|p| p.number).min(),
        };
        for placed in group {
            keep[placed.number as usize] = Some(placed.number) == kept;
        }
        if let (Keep::Map, Some(kept)) = (config.keep, kept) {
            grades[kept as usize] = best;
        }
    }
    drop(order);
    let mut line = String::new();
    for (number, judgement) in judgements.all.iter().enumerate() {
        if number.is_multiple_of(4096) {
            context.stop.check(STAGE)?;
        }
        if !keep[number] {
            report.qrels.removed += 1;
            continue;
        }
        report.qrels.kept += 1;
        let mut docno = judgements.docno(judgement);
        if let Some(to) = clusters.renamed(judgement.key)? {
            report.qrels.renamed += u64::from(to != docno);
            docno = to;
        }
        if let Some(out) = &mut out.qrels {
            line.clear();
            let topic = &judgements.topics[judgement.topic as usize];
            let iteration = judgements.iteration(judgement);
            let _ = writeln!(line, "{topic} {iteration} {docno} {}", grades[number]);
            out.put(line.as_bytes())?;
        }
    }
    if let (Some(path), Some(lines)) = (&config.run, ranked) {
        report.run = Some(ranking::thin(
            path,
            lines,
            &clusters,
            out.run.as_mut(),
            context,
        )?);
    }
    out.finish()?;
    if let Some(output) = &config.output {
        disk::sync_directory(output)?;
    }
    Ok(report)
}

/// Refuses an output directory in which files of a run, or what is read here, would be replaced.
fn check_output(config: &QrelsConfig, source: &Source, output: &Path) -> Result<()> {
    if disk::exists(&output.join(MANIFEST_FILE))? {
        return Err(Error::BadParameter {
            name: "output",
            given: output.display().to_string(),
            limit: "it is the output directory of a run; give another".into(),
        });
    }
    let mut reads: Vec<&Path> = vec![&config.qrels, &source.clusters];
    reads.extend(source.tables.iter().flatten().map(PathBuf::as_path));
    reads.extend(config.run.as_deref());
    let mut files = [INCONSISTENT_FILE, QRELS_FILE, RUN_FILE].into_iter();
    files.try_for_each(|name| outputs::check(&output.join(name), None, &reads))
}

/// What is held in memory, against the budget. What goes over it is counted, not held, so that the refusal
/// names the least that would do.
struct Held<'a> {
    context: &'a Context<'a>,
    bytes: u64,
}

impl<'a> Held<'a> {
    fn new(context: &'a Context<'a>) -> Self {
        Held {
            context,
            bytes: FIXED_BYTES,
        }
    }

    /// Counts; says whether there is room.
    fn take(&mut self, bytes: u64) -> bool {
        self.bytes += bytes;
        self.bytes <= self.context.budget.memory.0
    }

    /// Refuses if there was no room.
    fn check(&self, what: impl FnOnce() -> String) -> Result<()> {
        self.context.budget.require(ByteSize(self.bytes), what)
    }

    /// Has a stop been asked for? Looked at now and then.
    fn stop(&self, n: u64) -> Result<()> {
        if n.is_multiple_of(4096) {
            self.context.stop.check(STAGE)?;
        }
        Ok(())
    }
}

/// A judgement where its document stands: sorted by topic, then as `clusters.jsonl` has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    topic: u32,
    cluster: u32,
    place: u64,
    number: u32,
}

impl Placed {
    fn of(topic: u32, number: u32, judgements: &Judgements, clusters: &Clusters) -> Placed {
        let member = clusters.member(judgements.all[number as usize].key);
        Placed {
            topic,
            cluster: member.map_or(NONE, |member| member.cluster),
            place: member.map_or(0, |member| member.place),
            number,
        }
    }
}

/// The documents judged for a topic that are in one cluster; or one that is in none.
struct Group<'g> {
    placed: &'g [Placed],
    clustered: bool,
    /// All are exact duplicates of each other.
    exact: bool,
    /// Some are relevant and some are not: is this so of exact duplicates of each other?
    relevance: Option<bool>,
    /// Likewise of any difference in grade.
    grades: Option<bool>,
}

impl<'g> Group<'g> {
    fn new(placed: &'g [Placed], judgements: &Judgements, clusters: &Clusters) -> Self {
        let mut of_class: Vec<(u128, i64)> = placed
            .iter()
            .map(|placed| {
                let judgement = &judgements.all[placed.number as usize];
                (clusters.class(judgement.key), judgement.grade)
            })
            .collect();
        of_class.sort_unstable();
        let differ = |of: &dyn Fn(i64) -> i64| {
            let differ = |some: &[(u128, i64)]| some.iter().any(|(_, g)| of(*g) != of(some[0].1));
            let mut classes = of_class.chunk_by(|a, b| a.0 == b.0);
            differ(&of_class).then(|| classes.any(differ))
        };
        Group {
            placed,
            clustered: placed[0].cluster != NONE,
            exact: of_class[0].0 == of_class[of_class.len() - 1].0,
            relevance: differ(&|grade| i64::from(grade > 0)),
            grades: differ(&|grade| grade),
        }
    }

    /// Its line in [`INCONSISTENT_FILE`].
    fn line(&self, judgements: &Judgements, clusters: &Clusters) -> String {
        let text = |text: &str| serde_json::Value::from(text).to_string();
        let differs = if self.relevance.is_some() {
            "relevance"
        } else {
            "grade"
        };
        let exact = self.relevance.or(self.grades) == Some(true);
        let mut line = format!(
            "{{\"topic\":{},\"cluster\":{},\"differs\":\"{differs}\",\"between\":\"{}\",\"members\":[",
            text(&judgements.topics[self.placed[0].topic as usize]),
            self.placed[0].cluster,
            if exact { "exact" } else { "near" },
        );
        for (n, placed) in self.placed.iter().enumerate() {
            let judgement = &judgements.all[placed.number as usize];
            let kind = clusters
                .member(judgement.key)
                .map_or("", |member| member.kind.text());
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

/// The files being written.
#[derive(Default)]
struct Outputs {
    inconsistent: Option<AtomicFile>,
    qrels: Option<AtomicFile>,
    run: Option<AtomicFile>,
}

impl Outputs {
    fn create(config: &QrelsConfig) -> Result<Outputs> {
        let Some(output) = &config.output else {
            return Ok(Outputs::default());
        };
        disk::create_lasting_directory(output)?;
        disk::claim(output);
        let create = |name| AtomicFile::create(&output.join(name));
        Ok(Outputs {
            inconsistent: Some(create(INCONSISTENT_FILE)?),
            qrels: Some(create(QRELS_FILE)?),
            run: config.run.as_ref().map(|_| create(RUN_FILE)).transpose()?,
        })
    }

    fn finish(self) -> Result<()> {
        for file in [self.inconsistent, self.qrels, self.run]
            .into_iter()
            .flatten()
        {
            file.finish()?;
        }
        Ok(())
    }
}
