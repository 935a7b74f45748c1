//! Reads rankings, which have one line for each document that a system returned for a topic, and
//! deduplicates them.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

use super::clusters::Clusters;
use super::lines::{Judgements, Lines, ONE_LINE, Topics, again, key_of};
use super::stats::FileCounts;
use super::{Chosen, Held};
use lookalike_base::numbers::counted;
use lookalike_base::{Error, Result};
use lookalike_store::disk::AtomicFile;
use lookalike_text::read::lines::shorten;

/// Memory of a line besides its text: its key (16, twice while the table grows), the data about its
/// document (41), entries in the tables of documents (17, three times while it grows) and of clusters
/// (5, likewise), the line (32, three times) and its new docno and score (32).
pub(super) const LINE_BYTES: u64 = 272;

const FIELDS: &[&str] = &["topic", "Q0", "docno", "rank", "score", "tag"];

/// A line of a ranking.
pub(super) struct RunLine<'l> {
    /// The number of the topic, in the order in which the file names topics.
    number: u32,
    topic: &'l str,
    /// The fields that are held: docno, `Q0`, score and tag.
    fields: [&'l str; 4],
    /// The hash of the docno.
    pub key: u128,
    rank: i64,
    score: f64,
    line: u64,
}

impl RunLine<'_> {
    /// Memory of the text, which grows.
    pub fn held_bytes(&self) -> u64 {
        3 * self
            .fields
            .map(|field| field.len() as u64 + 1)
            .iter()
            .sum::<u64>()
    }
}

/// Reads the lines of a ranking, each docno of a topic once.
pub(super) fn each_ranked(
    path: &Path,
    mut take: impl FnMut(&RunLine<'_>) -> Result<()>,
) -> Result<()> {
    let mut lines = Lines::open(path, vec![FIELDS])?;
    let mut topics = Topics::default();
    let mut seen: HashSet<u128> = HashSet::new();
    let mut fields = Vec::new();
    while lines.next(&mut fields)? {
        let [topic, q0, docno, rank, score, tag] = &fields[..] else {
            continue;
        };
        let [topic, q0, docno] = [topic, q0, docno].map(|field| lines.text(field));
        let [rank, written, tag] = [rank, score, tag].map(|field| lines.text(field));
        let bad = |expected: &str, found: &str| lines.bad(expected, shorten(found.as_bytes()));
        let rank = (rank.parse()).map_err(|_| bad("a rank that is an integer", rank))?;
        let score = written.parse::<f64>().ok().filter(|score| !score.is_nan());
        let score = score.ok_or_else(|| bad("a score that is a number", written))?;
        let (number, key) = (topics.number(topic).0, key_of(docno));
        // Docnos are hashes, so each topic has other ones.
        if !seen.insert(key ^ u128::from(number) << 96) {
            return Err(lines.bad(ONE_LINE, again(docno)));
        }
        take(&RunLine {
            number,
            topic,
            fields: [docno, q0, written, tag],
            key,
            rank,
            score,
            line: lines.number(),
        })?;
    }
    Ok(())
}

/// A ranking in the order of trec_eval.
pub struct RankedRun {
    pub counts: FileCounts,
    pub topics: Vec<RankedTopic>,
    /// The fields of [`RunLine::fields`] of each line, with a space after each.
    text: String,
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
    /// Zero has one sign.
    score: f32,
    /// Where its fields start in the text.
    start: usize,
}

impl RankedRun {
    /// Reads a ranking that had this number of lines, with documents that the clusters know.
    ///
    /// # Errors
    /// `BadLine`; `InputChanged`; `Io`.
    pub fn read(
        path: &Path,
        expected: u64,
        clusters: &Clusters,
        held: &Held<'_>,
    ) -> Result<RankedRun> {
        let changed = |found: &str| Error::input_changed(path, counted(expected, "line"), found);
        let mut counts = FileCounts::new(path, clusters);
        let mut topics: Vec<RankedTopic> = Vec::new();
        let (mut text, mut rises) = (String::new(), 0);
        each_ranked(path, |ranked| {
            held.stop(counts.lines)?;
            if clusters.number(ranked.key).is_none() {
                return Err(changed("another docno"));
            }
            counts.add(clusters, (ranked.key, ranked.fields[0], ranked.line));
            let number = ranked.number as usize;
            if number == topics.len() {
                topics.push(RankedTopic {
                    name: ranked.topic.into(),
                    lines: Vec::new(),
                    lowest: ranked.rank,
                    last: f64::INFINITY,
                });
            }
            let topic = &mut topics[number];
            topic.lowest = topic.lowest.min(ranked.rank);
            rises += u64::from(ranked.score > topic.last);
            topic.last = ranked.score;
            topic.lines.push(RankedLine {
                key: ranked.key,
                score: ranked.score as f32 + 0.0,
                start: text.len(),
            });
            for field in ranked.fields {
                text.push_str(field);
                text.push(' ');
            }
            Ok(())
        })?;
        if counts.lines != expected {
            return Err(changed(&counted(counts.lines, "line")));
        }
        for topic in &mut topics {
            let docno = |line: &RankedLine| fields(&text, line)[0];
            let order = |a: &RankedLine, b: &RankedLine| {
                b.score
                    .total_cmp(&a.score)
                    .then_with(|| docno(b).cmp(docno(a)))
            };
            topic.lines.sort_unstable_by(order);
        }
        counts.scores_rise = Some(rises);
        Ok(RankedRun {
            counts,
            topics,
            text,
        })
    }

    /// Keeps the first line of each topic and cluster, under the docno that the judgements keep.
    pub(super) fn thin(
        self,
        (judgements, clusters, chosen): (&Judgements, &Clusters, &Chosen),
        mut out: Option<AtomicFile>,
    ) -> Result<FileCounts> {
        let mut counts = self.counts;
        let mut judged = Topics::default();
        for topic in &judgements.topics {
            judged.number(topic);
        }
        let mut text = String::new();
        for topic in &self.topics {
            let number = judged.find(&topic.name);
            let mut seen = HashSet::new();
            let mut kept = Vec::with_capacity(topic.lines.len());
            for line in &topic.lines {
                let cluster = clusters.member(line.key).map(|member| member.cluster);
                if cluster.is_some_and(|cluster| !seen.insert(cluster)) {
                    counts.removed += 1;
                    counts.unjudged += u64::from(number.is_none());
                    continue;
                }
                let place = number.zip(cluster);
                let judgement = place.and_then(|place| chosen.names.get(&place));
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
                    *score = above(*score);
                }
                if *score == below.0 && *name <= below.1 {
                    let topic = &topic.name;
                    let what = format!(": topic {topic} has the greatest score several times");
                    return Err(Error::of(&counts.path, what, "give the lines lower scores"));
                }
                counts.rescored += u64::from(*score != line.score);
                below = (*score, *name);
            }
            let first = i64::from(topic.lowest != 0);
            for ((line, score, name), rank) in kept.iter().zip(first..) {
                let Some(out) = &mut out else { break };
                let [_, q0, written, tag] = fields(&self.text, line);
                let raised = format!("{:?}", f64::from(*score));
                let score = if *score == line.score {
                    written
                } else {
                    &raised
                };
                text.clear();
                let _ = writeln!(text, "{} {q0} {name} {rank} {score} {tag}", topic.name);
                out.put(text.as_bytes())?;
            }
        }
        out.map(AtomicFile::finish).transpose()?;
        Ok(counts)
    }
}

/// Docno, `Q0`, score and tag of a line.
fn fields<'t>(text: &'t str, line: &RankedLine) -> [&'t str; 4] {
    // A line starts where the text ended.
    let mut fields = text[line.start..].split(' ');
    std::array::from_fn(|_| fields.next().unwrap_or_default())
}

/// The next greater score, and no subnormal number, which some programs take for 0.
fn above(score: f32) -> f32 {
    let next = score.next_up();
    if next.is_subnormal() {
        f32::MIN_POSITIVE
    } else {
        next
    }
}
