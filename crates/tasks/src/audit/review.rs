//! The review file: the pairs of an audit for a person to judge, and the verdicts.
//!
//! # In and out
//! In: an [`Audit`] and the inputs. Out: one JSON object a line for each pair, with `"correct":
//! null` for the person to replace by `true` or `false`. Later, in: the file with these verdicts.
//! Out: for each kind of pair the share that is correct, with an interval.
//!
//! # Invariants
//! - A file that exists is never written.
//! - A file is accepted only if it has exactly the lines of the audit, in any order: each pair
//!   once, and nothing else. So a verdict never counts for another pair, or for another
//!   deduplication.
//!
//! # Source
//! The interval of a share: Wilson 1927, with a coverage of 95 %.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Audit, STAGE, SampleKind, SamplePair};
use lookalike_base::{Context, Error, Memory, Result, counted, cut_after, lock, unlocked, wilson};
use lookalike_engine::document::{
    Folded, READER_BYTES, Reread, ShownDocument, read_again, record_bytes,
};
use lookalike_store::{Workspace, disk, json};
use lookalike_text::read::lines::{Lines, shorten};

/// The most bytes of a text in the file. White space is folded before.
pub const TEXT_BYTES: usize = 16 << 10;

/// The most bytes of a line: two texts with every byte escaped, and a note.
const MOST_LINE_BYTES: usize = 1 << 20;

/// Characters of a note that are kept.
pub(crate) const NOTE_CHARS: usize = 500;

/// The two-sided 95 % quantile of the normal distribution.
const Z: f64 = 1.959_964;

/// Names a pair: by the deduplication, the kind, and the numbers of both documents.
pub(super) fn id(digest: &str, pair: &SamplePair) -> String {
    let kind = pair.kind.text();
    let text = format!("{digest} {kind} {} {}", pair.document, pair.other);
    format!("{:016x}", xxh3_64(text.as_bytes()))
}

/// A document in the file.
#[derive(Serialize)]
struct Named<'a> {
    docno: &'a str,
    file: &'a str,
    record: Option<u64>,
    /// The text, or why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<&'a str>,
}

/// A line of the written file.
#[derive(Serialize)]
struct ReviewLine<'a> {
    id: &'a str,
    deduplication: &'a str,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    resemblance: f64,
    document: Named<'a>,
    other: Named<'a>,
    correct: Option<bool>,
    note: &'a str,
}

/// The members that are read from a line. A person may add other members.
#[derive(Deserialize)]
struct Judged {
    id: String,
    deduplication: String,
    correct: Option<bool>,
    #[serde(default)]
    note: Option<String>,
}

/// The verdict about a pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewVerdict {
    /// Whether the decision about the pair was correct; `None` without a verdict.
    pub correct: Option<bool>,
    /// The note of the person, cut after `NOTE_CHARS` characters.
    pub note: String,
}

/// The verdicts about the pairs of an audit, by their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts(pub BTreeMap<String, ReviewVerdict>);

/// The share of pairs that a person judged correct.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correct {
    /// Pairs judged correct.
    pub correct: u64,
    /// Pairs with a verdict.
    pub judged: u64,
    /// The share.
    pub share: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Correct {
    /// The share of `correct` in `judged`, with Wilson's interval of 95 %; `None` without a
    /// verdict.
    pub fn of(correct: u64, judged: u64) -> Option<Correct> {
        if judged == 0 {
            return None;
        }
        let share = correct as f64 / judged as f64;
        let (low, high) = wilson(share, judged as f64, Z);
        // Rounding may leave an end that is 0 or 1 a little away from it.
        let (low, high) = match correct {
            0 => (0.0, high),
            all if all == judged => (low, 1.0),
            _ => (low, high),
        };
        Some(Correct {
            correct,
            judged,
            share,
            low,
            high,
        })
    }
}

impl Verdicts {
    /// The share of the pairs of a kind that were judged correct.
    pub fn correct(&self, audit: &Audit, kind: SampleKind) -> Option<Correct> {
        let verdicts = audit.sample(kind).filter_map(|pair| self.0.get(&pair.id));
        let (mut correct, mut judged) = (0, 0);
        for verdict in verdicts.filter_map(|verdict| verdict.correct) {
            judged += 1;
            correct += u64::from(verdict);
        }
        Correct::of(correct, judged)
    }
}

/// Reads the verdicts of a file that [`write()`] wrote for the same audit.
///
/// # Errors
/// `BadLine` names the line if it is not such an object, if it belongs to another deduplication, if
/// its pair is not in the audit, or if a pair comes twice or is missing.
pub fn read(path: &Path, audit: &Audit) -> Result<Verdicts> {
    let pairs: BTreeSet<&str> = audit.pairs.iter().map(|pair| &*pair.id).collect();
    let mut lines = Lines::open(path, MOST_LINE_BYTES)?;
    let mut verdicts = BTreeMap::new();
    while lines.advance()? {
        if lines.line().iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let line: Judged = match serde_json::from_slice(lines.line()) {
            Ok(line) => line,
            Err(error) => {
                let expected = "a JSON object with \"id\", \"deduplication\", and \"correct\" as \
                                true, false or null";
                // The line is in the message already.
                let problem = error.to_string();
                let problem = problem.split(" at line ").next().unwrap_or_default();
                let found = format!("{}: {problem}", shorten(lines.line()));
                return Err(lines.bad(expected, found));
            }
        };
        if line.deduplication != audit.digest {
            let kept = audit.kept.display();
            let expected = format!("a pair of the deduplication that wrote {kept}");
            let found = format!("a pair of another one, {}", quoted(&line.deduplication));
            return Err(lines
                .bad(expected, found)
                .hinted("or give the directory for which the file was written"));
        }
        if !pairs.contains(&*line.id) {
            let expected = "the id of a pair in the samples of this report";
            return Err(lines.bad(expected, quoted(&line.id)).hinted(SAME_SAMPLES));
        }
        let verdict = ReviewVerdict {
            correct: line.correct,
            note: cut_after(line.note.unwrap_or_default(), NOTE_CHARS),
        };
        if verdicts.contains_key(&line.id) {
            return Err(lines.bad("each pair once", format!("{} again", quoted(&line.id))));
        }
        verdicts.insert(line.id, verdict);
    }
    if let Some(missing) = pairs.iter().find(|id| !verdicts.contains_key(**id)) {
        let left = (pairs.len() - verdicts.len()) as u64;
        let expected = format!("a line for each of {}", counted(pairs.len() as u64, "pair"));
        let (left, missing) = (counted(left, "pair"), quoted(missing));
        let found = format!("the end of the file; {left} missing, such as {missing}");
        return Err(lines.bad(expected, found).hinted(SAME_SAMPLES));
    }
    Ok(Verdicts(verdicts))
}

/// Advice for a review file that has other pairs.
const SAME_SAMPLES: &str =
    "or give the same --samples and --sample-seed as for the command that wrote the file";

fn quoted(text: &str) -> String {
    shorten(text.as_bytes())
}

/// Whether there is a review file to be read.
///
/// # Errors
/// `Io`.
pub fn exists(path: &Path) -> Result<bool> {
    Ok(!disk::is_gone(path)?)
}

/// Writes the pairs of an audit to a new file, with their texts.
///
/// # Errors
/// `BadParameter` if the file exists; `BudgetTooSmall`; `Io`.
pub fn write(
    path: &Path,
    audit: &Audit,
    workspace: &Workspace,
    context: &Context<'_>,
) -> Result<()> {
    if exists(path)? {
        return Err(Error::parameter("verdicts", path.display())
            .because("the file exists; it is read and never written"));
    }
    let record = record_bytes(workspace);
    let mut held = Memory::new(&context.budget, READER_BYTES + record + (4 << 20));
    let texts = Mutex::new((BTreeMap::new(), &mut held));
    let take = |number: u32, read: Reread<'_>| {
        let text: TextOrReason = read.map(|(again, parser)| {
            let mut folded = Folded::new(TEXT_BYTES, false);
            parser.as_read_in_pieces(again.document, &mut |piece| folded.push(piece));
            folded.text + if folded.cut { "…" } else { "" }
        });
        let mut texts = lock(&texts);
        let bytes = text.as_ref().map_or_else(String::len, String::len);
        if texts.1.take(bytes as u64 + 100) {
            texts.0.insert(number, text);
        }
    };
    let pairs = audit.pairs.iter();
    let wanted = pairs.flat_map(|pair| [pair.document, pair.other]);
    let wanted = wanted.filter_map(|number| Some(audit.documents.get(&number)?.place));
    // One thread: the others would need memory for a record each, and there are few texts.
    read_again(workspace, wanted.collect(), 1, STAGE, context, &take)?;
    let (texts, held) = unlocked(texts);
    held.check(|| {
        let pairs = counted(audit.pairs.len() as u64, "pair");
        format!("the texts of {pairs}")
    })?;
    let mut out = disk::AtomicFile::create(path)?;
    for pair in &audit.pairs {
        let (Some(document), Some(other)) = (
            audit.documents.get(&pair.document),
            audit.documents.get(&pair.other),
        ) else {
            continue;
        };
        let line = ReviewLine {
            id: &pair.id,
            deduplication: &audit.digest,
            kind: pair.kind.text(),
            reason: pair.reason.map(crate::dedup::Removal::text),
            resemblance: pair.score.parse().unwrap_or_default(),
            document: named(document, texts.get(&pair.document)),
            other: named(other, texts.get(&pair.other)),
            correct: None,
            note: "",
        };
        out.put(json::line(&line, path)?.as_bytes())?;
    }
    out.finish()?;
    disk::sync_parent(path)
}

fn named<'a>(document: &'a ShownDocument, text: Option<&'a TextOrReason>) -> Named<'a> {
    Named {
        docno: &document.docno,
        file: &document.file,
        record: document.record,
        text: text.and_then(|text| text.as_deref().ok()),
        missing: text
            .and_then(|text| text.as_deref().err())
            .map(String::as_str),
    }
}

/// A text, or the reason why there is none.
type TextOrReason = std::result::Result<String, String>;

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the R function `binom.confint(method = "wilson")`, three decimals.
    #[test]
    fn intervals_are_those_of_wilson() {
        for (correct, judged, low, high) in [
            (9, 10, 0.596, 0.982),
            (10, 10, 0.722, 1.0),
            (0, 10, 0.0, 0.278),
            (5, 10, 0.237, 0.763),
            (1, 1, 0.207, 1.0),
            (95, 100, 0.888, 0.978),
            (100, 100, 0.963, 1.0),
        ] {
            let found = Correct::of(correct, judged).unwrap();
            assert!((found.low - low).abs() < 6e-4, "{found:?}");
            assert!((found.high - high).abs() < 6e-4, "{found:?}");
        }
        assert_eq!(Correct::of(0, 0), None);
    }
}
