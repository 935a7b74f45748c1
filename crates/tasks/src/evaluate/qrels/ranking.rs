//! Reads rankings, which have one line for each document that a system returned for a topic, and
//! deduplicates them.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

use super::clusters::Clusters;
use super::lines::{Judgements, Lines, Topics, key_of};
use super::stats::FileCounts;
use super::{Chosen, STAGE};
use lookalike_base::numbers::counted;
use lookalike_base::progress::Context;
use lookalike_base::{Error, Result};
use lookalike_store::disk::AtomicFile;
use lookalike_text::read::lines::shorten;

/// Memory of a line: its key (16, twice while the table grows), the data about its document (41),
/// and an entry in each of two tables, of documents by topic and of clusters by topic (17 and 9 if
/// the table is full, up to 51 and 27 while it grows).
pub(super) const LINE_BYTES: u64 = 152;

const FIELDS: &[&str] = &["topic", "Q0", "docno", "rank", "score", "tag"];

/// A line of a ranking.
pub struct RunLine<'l> {
    /// The number of the topic, in the order in which the file names topics.
    pub number: u32,
    /// The first field.
    pub topic: &'l str,
    q0: &'l str,
    /// The third field.
    pub docno: &'l str,
    /// The hash of the docno.
    pub key: u128,
    rank: i64,
    /// The fifth field, a number.
    pub score: f64,
    written: &'l str,
    tag: &'l str,
}

/// Reads the lines of a ranking, each docno of a topic once.
///
/// # Errors
/// `BadLine`; `Io`; those of `take`.
pub fn each_ranked(path: &Path, mut take: impl FnMut(&RunLine<'_>) -> Result<()>) -> Result<()> {
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
            let again = format!("{docno} again");
            return Err(bad("one line for each docno of a topic", &again));
        }
        take(&RunLine {
            number,
            topic,
            q0,
            docno,
            key,
            rank,
            score,
            written,
            tag,
        })?;
    }
    Ok(())
}

/// The state of a topic while its lines are read.
struct Ranks {
    next: i64,
    score: f64,
    /// The number that the judgements give the topic.
    judged: Option<u32>,
}

/// Keeps the first line of each topic and cluster, under the docno that the judgements keep.
pub(super) fn thin(
    path: &Path,
    expected: u64,
    (judgements, clusters): (&Judgements, &Clusters),
    chosen: &Chosen,
    mut out: Option<&mut AtomicFile>,
    context: &Context<'_>,
) -> Result<FileCounts> {
    let mut counts = FileCounts {
        path: path.into(),
        unknown: clusters.unknown(0).map(|_| 0),
        scores_rise: Some(0),
        ..FileCounts::default()
    };
    let mut judged = Topics::default();
    for topic in &judgements.topics {
        judged.number(topic);
    }
    let mut ranks: Vec<Ranks> = Vec::new();
    let mut seen: HashSet<(u32, u32)> = HashSet::new();
    let mut line = String::new();
    each_ranked(path, |ranked| {
        context.tick(STAGE, counts.lines)?;
        counts.lines += 1;
        let number = ranked.number as usize;
        if number == ranks.len() {
            ranks.push(Ranks {
                next: i64::from(ranked.rank != 0),
                score: f64::INFINITY,
                judged: judged.find(ranked.topic),
            });
        }
        if clusters.number(ranked.key).is_none() {
            return Err(changed(path, expected, "another docno"));
        }
        if let Some(unknown) = &mut counts.unknown {
            *unknown += u64::from(clusters.unknown(ranked.key) == Some(true));
        }
        let member = clusters.member(ranked.key);
        let state = &mut ranks[number];
        if let Some(rise) = &mut counts.scores_rise {
            *rise += u64::from(ranked.score > state.score);
        }
        state.score = ranked.score;
        if member.is_some_and(|member| !seen.insert((ranked.number, member.cluster))) {
            counts.removed += 1;
            return Ok(());
        }
        counts.kept += 1;
        let place = state.judged.zip(member.map(|member| member.cluster));
        let kept = place.and_then(|place| chosen.names.get(&place));
        let name = match clusters.renamed(ranked.key)? {
            Some(name) => name,
            None => kept.map_or(ranked.docno, |&kept| judgements.named(kept)),
        };
        counts.renamed += u64::from(name != ranked.docno);
        if let Some(out) = &mut out {
            line.clear();
            let (topic, rank, tag) = (ranked.topic, state.next, ranked.tag);
            let (q0, score) = (ranked.q0, ranked.written);
            let _ = writeln!(line, "{topic} {q0} {name} {rank} {score} {tag}");
            out.put(line.as_bytes())?;
        }
        state.next += 1;
        Ok(())
    })?;
    if counts.lines != expected {
        return Err(changed(path, expected, &counted(counts.lines, "line")));
    }
    Ok(counts)
}

fn changed(path: &Path, lines: u64, found: &str) -> Error {
    Error::input_changed(path, counted(lines, "line"), found)
}
