//! Reads rankings, which have one line for each document that a system returned for a topic, and
//! deduplicates them.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

use super::clusters::Clusters;
use super::lines::{Lines, Names, Topics, key_of};
use super::stats::FileCounts;
use super::{Held, STAGE};
use lookalike_base::numbers::counted;
use lookalike_base::progress::Context;
use lookalike_base::{Error, Result};
use lookalike_store::disk::AtomicFile;
use lookalike_text::read::lines::shorten;

/// Memory of a line: its key (16, twice while the table grows), the data about its document (41),
/// and an entry in each of two tables, of documents by topic and of clusters by topic (9 each if
/// the table is full, up to 27 while it grows).
const LINE_BYTES: u64 = 128;

const FIELDS: &[&str] = &["topic", "Q0", "docno", "rank", "score", "tag"];

/// Collects the documents of a ranking and returns the number of its lines.
pub(super) fn look(path: &Path, names: &mut Names, held: &mut Held<'_>) -> Result<u64> {
    let mut lines = Lines::open(path, vec![FIELDS])?;
    let mut fields = Vec::new();
    let mut count = 0u64;
    while lines.next(&mut fields)? {
        held.stop(count)?;
        count += 1;
        if held.memory.take(LINE_BYTES) {
            names.add(key_of(lines.text(&fields[2])));
        }
    }
    held.memory
        .check(|| format!("the judgements and {count} ranked documents"))?;
    Ok(count)
}

/// The state of a topic while its lines are read.
struct Ranks {
    next: i64,
    score: f64,
}

/// Keeps the first line of each topic and cluster.
pub(super) fn thin(
    path: &Path,
    expected: u64,
    clusters: &Clusters,
    mut out: Option<&mut AtomicFile>,
    context: &Context<'_>,
) -> Result<FileCounts> {
    let mut lines = Lines::open(path, vec![FIELDS])?;
    let mut counts = FileCounts {
        path: path.into(),
        unknown: clusters.unknown(0).map(|_| 0),
        scores_rise: Some(0),
        ..FileCounts::default()
    };
    let mut topics = Topics::default();
    let mut ranks: Vec<Ranks> = Vec::new();
    let mut documents: HashSet<(u32, u32)> = HashSet::new();
    let mut seen: HashSet<(u32, u32)> = HashSet::new();
    let mut fields = Vec::new();
    let mut line = String::new();
    while lines.next(&mut fields)? {
        context.tick(STAGE, counts.lines)?;
        counts.lines += 1;
        let [topic, q0, docno, rank, score, tag] = &fields[..] else {
            continue;
        };
        let [topic, q0, docno] = [topic, q0, docno].map(|field| lines.text(field));
        let [rank, score, tag] = [rank, score, tag].map(|field| lines.text(field));
        let bad = |expected: &str, found: &str| lines.bad(expected, shorten(found.as_bytes()));
        let stated: i64 = (rank.parse()).map_err(|_| bad("a rank that is an integer", rank))?;
        let value = score.parse::<f64>().ok().filter(|score| !score.is_nan());
        let value = value.ok_or_else(|| bad("a score that is a number", score))?;
        let (number, new) = topics.number(topic);
        if new {
            ranks.push(Ranks {
                next: i64::from(stated != 0),
                score: f64::INFINITY,
            });
        }
        let key = key_of(docno);
        let Some(document) = clusters.number(key) else {
            return Err(changed(path, expected, "another docno"));
        };
        if !documents.insert((number, document)) {
            return Err(bad(
                "one line for each docno of a topic",
                &format!("{docno} again"),
            ));
        }
        if let Some(unknown) = &mut counts.unknown {
            *unknown += u64::from(clusters.unknown(key) == Some(true));
        }
        let member = clusters.member(key);
        // Always found: `number` is below the number of topics.
        let Some(state) = ranks.get_mut(number as usize) else {
            continue;
        };
        if let Some(rise) = &mut counts.scores_rise {
            *rise += u64::from(value > state.score);
        }
        state.score = value;
        if member.is_some_and(|member| !seen.insert((number, member.cluster))) {
            counts.removed += 1;
            continue;
        }
        counts.kept += 1;
        let name = clusters.renamed(key)?.unwrap_or(docno);
        counts.renamed += u64::from(name != docno);
        if let Some(out) = &mut out {
            line.clear();
            let _ = writeln!(line, "{topic} {q0} {name} {} {score} {tag}", state.next);
            out.put(line.as_bytes())?;
        }
        state.next += 1;
    }
    if counts.lines != expected {
        return Err(changed(path, expected, &counted(counts.lines, "line")));
    }
    Ok(counts)
}

fn changed(path: &Path, lines: u64, found: &str) -> Error {
    Error::input_changed(path, counted(lines, "line"), found)
}
