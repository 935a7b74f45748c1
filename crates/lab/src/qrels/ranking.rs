//! Reads rankings, which have one line for each document that a system returned for a topic, and
//! deduplicates them.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::clusters::Clusters;
use super::lines::{Judgements, Lines, Names, Topics, key_of};
use super::stats::FileCounts;
use super::{Chosen, Held};
use lookalike_base::{Error, Result};
use lookalike_store::AtomicFile;
use lookalike_text::read::lines::shorten;

/// Memory of a line besides its text: its key (16, twice while the table grows), the data about its
/// document (41), entries in the tables of documents (17, three times while it grows) and of clusters
/// (5, likewise), the line (48, three times) and its new docno and score (32).
const LINE_BYTES: u64 = 320;

const FIELDS: &[&str] = &["topic", "Q0", "docno", "rank", "score", "tag"];

/// A ranking in the order of trec_eval.
pub struct RankedRun {
    path: PathBuf,
    pub topics: Vec<RankedTopic>,
    /// Docno, `Q0`, score and tag of each line, with a space after each.
    text: String,
    /// Lines with a higher score than the line before of the same topic.
    rises: u64,
}

/// The lines of a topic.
pub struct RankedTopic {
    pub name: String,
    pub lines: Vec<RankedLine>,
    /// The lowest rank.
    lowest: i64,
    /// The score of the last line in the file.
    last: f64,
}

/// A line of a topic.
pub struct RankedLine {
    /// The hash of the docno.
    pub key: u128,
    score: f32,
    /// Where its fields start in the text.
    start: usize,
    /// The number of the line, from 1.
    line: u64,
}

impl RankedRun {
    /// Reads a ranking, each docno of a topic once, and adds the documents to `names`. It is not
    /// complete if the memory does not suffice.
    pub(super) fn read(path: &Path, names: &mut Names, held: &mut Held<'_>) -> Result<RankedRun> {
        let mut lines = Lines::open(path, vec![FIELDS])?;
        let mut numbers = Topics::default();
        let mut seen: HashSet<u128> = HashSet::new();
        let (mut topics, mut text): (Vec<RankedTopic>, _) = (Vec::new(), String::new());
        let mut rises = 0;
        while lines.next()? {
            held.stop(lines.file.number())?;
            let [topic, q0, docno, rank, written, tag] = lines.fields()[..] else {
                continue;
            };
            let bad =
                |expected: &str, found: &str| lines.file.bad(expected, shorten(found.as_bytes()));
            let rank = (rank.parse()).map_err(|_| bad("a rank that is an integer", rank))?;
            let score = written.parse::<f64>().ok().filter(|score| !score.is_nan());
            let score = score.ok_or_else(|| bad("a score that is a number", written))?;
            let ((number, new), key) = (numbers.number(topic), key_of(docno));
            // Docnos are hashes, so each topic has other ones.
            if !seen.insert(key ^ u128::from(number) << 96) {
                let again = format!("{} again", shorten(docno.as_bytes()));
                return Err(lines.file.bad("one line for each docno of a topic", again));
            }
            if new {
                topics.push(RankedTopic {
                    name: topic.into(),
                    lines: Vec::new(),
                    lowest: rank,
                    last: score,
                });
            }
            let fields = format!("{docno} {q0} {written} {tag} ");
            let bytes = LINE_BYTES + held.ranked_bytes + 3 * fields.len() as u64;
            if !held.memory.take(bytes) {
                continue;
            }
            names.add(key);
            let topic = &mut topics[number as usize];
            topic.lowest = topic.lowest.min(rank);
            rises += u64::from(score > topic.last);
            topic.last = score;
            topic.lines.push(RankedLine {
                key,
                score: score as f32,
                start: text.len(),
                line: lines.file.number(),
            });
            text.push_str(&fields);
        }
        for topic in &mut topics {
            let by = |line: &RankedLine| (line.score, fields(&text, line)[0]);
            // No score is NaN.
            let order = |a: &RankedLine, b: &RankedLine| by(b).partial_cmp(&by(a));
            (topic.lines).sort_unstable_by(|a, b| order(a, b).unwrap_or(Ordering::Equal));
        }
        Ok(RankedRun {
            path: path.into(),
            topics,
            text,
            rises,
        })
    }

    /// The number of lines, and those whose document is not known.
    pub fn counts(&self, clusters: &Clusters) -> FileCounts {
        let lines = self.topics.iter().flat_map(|topic| &topic.lines);
        let lines = lines.map(|line| (line.key, fields(&self.text, line)[0], line.line));
        FileCounts {
            scores_rise: Some(self.rises),
            ..FileCounts::of(&self.path, clusters, lines)
        }
    }

    /// Keeps the first line of each topic and cluster, under the docno that the judgements keep.
    pub(super) fn thin(
        &self,
        (judgements, clusters, chosen): (&Judgements, &Clusters, &Chosen),
        mut out: Option<&mut AtomicFile>,
    ) -> Result<FileCounts> {
        let mut counts = self.counts(clusters);
        let judged: HashMap<&String, u32> = judgements.topics.iter().zip(0..).collect();
        let mut text = String::new();
        for topic in &self.topics {
            let number = judged.get(&topic.name).copied();
            let mut seen = HashSet::new();
            let mut kept = Vec::with_capacity(topic.lines.len());
            for line in &topic.lines {
                let cluster = clusters.member(line.key).map(|member| member.cluster);
                if cluster.is_some_and(|cluster| !seen.insert(cluster)) {
                    counts.removed += 1;
                    counts.unjudged += u64::from(number.is_none());
                    continue;
                }
                let judgement = number.zip(cluster).and_then(|of| chosen.names.get(&of));
                let docno = fields(&self.text, line)[0];
                let name = match clusters.renamed(line.key)? {
                    Some(name) => name,
                    None => judgement.map_or(docno, |&number| judgements.named(number)),
                };
                counts.renamed += u64::from(name != docno);
                kept.push((line, line.score, name));
            }
            counts.kept += kept.len() as u64;
            // From the last line up, each stands before the one below.
            let mut below = (f32::NEG_INFINITY, "");
            for (line, score, name) in kept.iter_mut().rev() {
                *score = score.max(below.0);
                if *score == below.0 && *name <= below.1 {
                    *score = score.next_up();
                }
                if *score == below.0 && *name <= below.1 {
                    let what = format!(": the greatest score is tied in topic {}", topic.name);
                    return Err(Error::of(&counts.path, what, "give the lines lower scores"));
                }
                counts.rescored += u64::from(*score != line.score);
                below = (*score, *name);
            }
            let first = i64::from(topic.lowest != 0);
            for ((line, score, name), rank) in kept.iter().zip(first..) {
                let Some(out) = &mut out else { break };
                let [_, q0, written, tag] = fields(&self.text, line);
                let score = match *score == line.score {
                    true => written.into(),
                    false => format!("{:?}", f64::from(*score)),
                };
                text.clear();
                let _ = writeln!(text, "{} {q0} {name} {rank} {score} {tag}", topic.name);
                out.put(text.as_bytes())?;
            }
        }
        Ok(counts)
    }
}

/// Docno, `Q0`, score and tag of a line.
fn fields<'t>(text: &'t str, line: &RankedLine) -> [&'t str; 4] {
    // A line starts where the text ended.
    let mut fields = text[line.start..].split(' ');
    std::array::from_fn(|_| fields.next().unwrap_or_default())
}
