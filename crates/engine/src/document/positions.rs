//! Where two texts agree, as positions in both.

use std::ops::Range;

use serde::Serialize;

use crate::align::{Stretch, Words, differences, matches, numbers};

use super::compare::{Both, CompareConfig, Side};
use super::texts::Source;

/// The comparison of two documents, with positions.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    pub a: SideFacts,
    pub b: SideFacts,
    /// Shingles that both have.
    pub shared: u64,
    /// `null` if neither has a shingle.
    pub resemblance: Option<f64>,
    /// The share of the first document's shingles that the second has.
    pub a_in_b: Option<f64>,
    /// The share of the second document's shingles that the first has.
    pub b_in_a: Option<f64>,
    /// The stretches that are equal in an alignment of both texts; `null` if a text is missing.
    pub equal: Option<Vec<Pair>>,
    /// The shared passages, including passages that cross; `null` if a text is missing.
    pub passages: Option<Passages>,
}

/// A document.
#[derive(Clone, Debug, Serialize)]
pub struct SideFacts {
    pub docno: String,
    pub document: u32,
    pub file: String,
    pub record: Option<u64>,
    pub title: Option<String>,
    pub words: u64,
    pub shingles: u32,
    pub text: TextFacts,
}

/// The text of a document.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum TextFacts {
    Read { source: Source, bytes: u64 },
    Missing { missing: String },
}

/// All passages, and the first of them.
#[derive(Clone, Debug, Serialize)]
pub struct Passages {
    /// The least tokens of a passage.
    pub length: usize,
    /// How many there are.
    pub total: u64,
    /// Tokens of each document in a passage.
    pub covered_a: Covered,
    pub covered_b: Covered,
    /// By their place in the first document, then in the second.
    pub listed: Vec<Pair>,
}

/// Equal tokens of both texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pair {
    pub tokens: usize,
    pub a: Place,
    pub b: Place,
}

/// Where some tokens lie in a text. Tokens and bytes: the first, and the one after the last. Lines:
/// the first and the last, from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    pub tokens: [usize; 2],
    pub bytes: [usize; 2],
    pub lines: [u64; 2],
}

/// The tokens of a text that are part of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Covered {
    pub tokens: u64,
    pub covered: u64,
    /// The share of the tokens that is covered; 0 of a text without tokens.
    pub share: f64,
}

impl Covered {
    fn of(words: &Words, ranges: &[Range<usize>]) -> Covered {
        let tokens = words.spans.len() as u64;
        let covered = ranges.iter().map(|range| range.len() as u64).sum();
        Covered {
            tokens,
            covered,
            share: covered as f64 / tokens.max(1) as f64,
        }
    }
}

/// Bytes of a text between two entries of the index of lines.
const LINE_BLOCK: usize = 4096;

/// The lines of a text, which line feeds end.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t [u8],
    /// Line feeds before each block.
    before: Vec<u64>,
}

impl<'t> Lines<'t> {
    pub fn new(text: &'t str) -> Self {
        let text = text.as_bytes();
        let mut all = 0;
        let count = |block: &[u8]| {
            let before = all;
            all += memchr::memchr_iter(b'\n', block).count() as u64;
            before
        };
        Lines {
            text,
            before: text.chunks(LINE_BLOCK).map(count).collect(),
        }
    }

    /// The line of a byte, from 1.
    pub fn of(&self, byte: usize) -> u64 {
        let block = (byte / LINE_BLOCK).min(self.before.len().saturating_sub(1));
        let before = self.before.get(block).copied().unwrap_or(0);
        let rest = self.text.get(block * LINE_BLOCK..byte.min(self.text.len()));
        let here = memchr::memchr_iter(b'\n', rest.unwrap_or_default()).count();
        1 + before + here as u64
    }

    /// Whether there is more than one line.
    pub fn several(&self) -> bool {
        let text = self.text.strip_suffix(b"\n").unwrap_or(self.text);
        memchr::memchr(b'\n', text).is_some()
    }
}

fn place(words: &Words, lines: &Lines<'_>, tokens: Range<usize>) -> Place {
    let bytes = words.bytes_of(&tokens);
    Place {
        tokens: [tokens.start, tokens.end],
        lines: [
            lines.of(bytes.start),
            lines.of(bytes.end.saturating_sub(1).max(bytes.start)),
        ],
        bytes: [bytes.start, bytes.end],
    }
}

/// The shared passages of two texts.
pub fn passages([a, b]: [&Words; 2], config: &CompareConfig) -> Passages {
    let (of_a, of_b) = numbers(a, b);
    let found = matches(&of_a, &of_b, config.length, config.most);
    let (lines_a, lines_b) = (Lines::new(&a.text), Lines::new(&b.text));
    let listed = found.listed.iter().map(|found| Pair {
        tokens: found.length,
        a: place(a, &lines_a, found.a..found.a + found.length),
        b: place(b, &lines_b, found.b..found.b + found.length),
    });
    Passages {
        length: config.length,
        total: found.total,
        covered_a: Covered::of(a, &found.covered_a),
        covered_b: Covered::of(b, &found.covered_b),
        listed: listed.collect(),
    }
}

impl Compared {
    /// The comparison of two documents.
    pub fn new(both: &Both, config: &CompareConfig) -> Compared {
        let [a_in_b, b_in_a] = both.containments();
        let mut compared = Compared {
            a: SideFacts::of(&both.a),
            b: SideFacts::of(&both.b),
            shared: both.shared,
            resemblance: both.resemblance(),
            a_in_b,
            b_in_a,
            equal: None,
            passages: None,
        };
        if let (Ok((a, _)), Ok((b, _))) = (&both.a.text, &both.b.text) {
            let (of_a, of_b) = numbers(a, b);
            let (lines_a, lines_b) = (Lines::new(&a.text), Lines::new(&b.text));
            let stretches = differences(&of_a, &of_b).into_iter();
            let equal = stretches.filter(|stretch| stretch.equal);
            let equal = equal.map(|Stretch { a: x, b: y, .. }| Pair {
                tokens: x.len(),
                a: place(a, &lines_a, x),
                b: place(b, &lines_b, y),
            });
            compared.equal = Some(equal.collect());
            compared.passages = Some(passages([a, b], config));
        }
        compared
    }
}

impl SideFacts {
    fn of(side: &Side) -> SideFacts {
        let record = &side.found.record;
        SideFacts {
            docno: record.docno.clone(),
            document: side.found.number,
            file: side.found.file.clone(),
            record: side.found.record_number,
            title: record.title.clone(),
            words: record.words,
            shingles: record.shingles,
            text: match &side.text {
                Ok((words, source)) => TextFacts::Read {
                    source: *source,
                    bytes: words.text.len() as u64,
                },
                Err(reason) => TextFacts::Missing {
                    missing: reason.clone(),
                },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_text() {
        let texts = [
            String::new(),
            "a\nb\n\nc".into(),
            "\n".repeat(LINE_BLOCK * 2 + 3),
            format!("{}\nx", "y".repeat(LINE_BLOCK - 1)),
        ];
        for text in texts {
            let lines = Lines::new(&text);
            let mut line = 1;
            for at in 0..=text.len() {
                assert_eq!(lines.of(at), line, "{at}");
                line += u64::from(text.as_bytes().get(at) == Some(&b'\n'));
            }
            assert_eq!(lines.several(), text.lines().count() > 1);
        }
    }
}
