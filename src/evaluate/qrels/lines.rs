//! Reads lines of white-space separated fields, the judgements among them, and the set of documents
//! that they name.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use super::Held;
use crate::read;
use crate::read::lines::shorten;
use crate::{Error, Result};

/// A longer line is an error, because a line has to fit in memory. A docno has at most 64 KiB.
const MOST_LINE_BYTES: usize = 1 << 20;

/// Memory of a line besides its text: the judgement (48, twice while the table grows), its place
/// during the sort (24), its relevance and whether it is kept (9), its key and the data about its
/// document (57).
pub(super) const JUDGEMENT_BYTES: u64 = 200;

/// A file of lines with a fixed number of fields, compressed or not.
pub(super) struct Lines {
    lines: read::lines::Lines,
    /// The names of the fields, for errors.
    names: &'static [&'static str],
}

impl Lines {
    pub fn open(path: &Path, names: &'static [&'static str]) -> Result<Lines> {
        Ok(Lines {
            lines: read::lines::Lines::open(path, MOST_LINE_BYTES)?,
            names,
        })
    }

    /// Advances to the next line that is not empty and sets `fields` to the ranges for
    /// [`Lines::text`]. Returns `false` at the end of the file.
    pub fn next(&mut self, fields: &mut Vec<Range<usize>>) -> Result<bool> {
        loop {
            if !self.lines.advance()? {
                return Ok(false);
            }
            fields.clear();
            let mut start = None;
            for (at, byte) in self.lines.line().iter().chain([&b' ']).enumerate() {
                match (byte.is_ascii_whitespace(), start) {
                    (false, None) => start = Some(at),
                    (true, Some(from)) => {
                        fields.push(from..at);
                        start = None;
                    }
                    _ => {}
                }
            }
            if !fields.is_empty() {
                break;
            }
        }
        if fields.len() != self.names.len() {
            let expected = format!("{} fields ({})", self.names.len(), self.names.join(", "));
            return Err(self.bad(
                expected,
                format!("{}: {}", fields.len(), shorten(self.lines.line())),
            ));
        }
        if std::str::from_utf8(self.lines.line()).is_err() {
            return Err(self.bad("UTF-8", shorten(self.lines.line())));
        }
        Ok(true)
    }

    /// A field of the current line.
    pub fn text(&self, field: &Range<usize>) -> &str {
        std::str::from_utf8(&self.lines.line()[field.clone()]).unwrap_or_default()
    }

    /// An error in the current line.
    pub fn bad(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        self.lines.bad(expected, found)
    }
}

/// The hash that identifies a docno, as in the catalogue.
pub(super) fn key_of(docno: &str) -> u128 {
    xxh3_128(docno.as_bytes())
}

/// Numbers topics in the order in which they appear.
#[derive(Default)]
pub(super) struct Topics(HashMap<String, u32>);

impl Topics {
    /// The number of a topic, and whether the topic is new.
    pub fn number(&mut self, topic: &str) -> (u32, bool) {
        if let Some(&number) = self.0.get(topic) {
            return (number, false);
        }
        let number = self.0.len() as u32;
        self.0.insert(topic.into(), number);
        (number, true)
    }
}

/// A line of the qrels.
pub(super) struct Judgement {
    pub topic: u32,
    pub key: u128,
    pub grade: i64,
    /// Where the iteration starts in the text of [`Judgements`]; the docno follows. Then their
    /// lengths.
    start: u64,
    iteration: u32,
    docno: u32,
}

/// All lines of the qrels.
#[derive(Default)]
pub(super) struct Judgements {
    pub all: Vec<Judgement>,
    pub topics: Vec<String>,
    text: String,
}

impl Judgements {
    pub fn read(path: &Path, held: &mut Held<'_>) -> Result<Judgements> {
        let mut lines = Lines::open(path, &["topic", "iteration", "docno", "relevance"])?;
        let mut judgements = Judgements::default();
        let mut topics = Topics::default();
        let mut fields = Vec::new();
        let (mut count, mut room) = (0u64, true);
        while lines.next(&mut fields)? {
            held.stop(count)?;
            count += 1;
            let [topic, iteration, docno, relevance] = &fields[..] else {
                continue;
            };
            let (topic, iteration) = (lines.text(topic), lines.text(iteration));
            let (docno, relevance) = (lines.text(docno), lines.text(relevance));
            let grade = relevance.parse::<i64>().map_err(|_| {
                lines.bad(
                    "a relevance that is an integer",
                    shorten(relevance.as_bytes()),
                )
            })?;
            let bytes = (topic.len() + iteration.len() + docno.len()) as u64;
            room = held.take(JUDGEMENT_BYTES + 3 * bytes) && room;
            if !room {
                continue;
            }
            let (number, new) = topics.number(topic);
            if new {
                judgements.topics.push(topic.into());
            }
            judgements.all.push(Judgement {
                topic: number,
                key: key_of(docno),
                grade,
                start: judgements.text.len() as u64,
                iteration: iteration.len() as u32,
                docno: docno.len() as u32,
            });
            judgements.text.push_str(iteration);
            judgements.text.push_str(docno);
        }
        held.check(|| format!("{count} judgements"))?;
        if count >= u64::from(u32::MAX) {
            return Err(Error::TooMany {
                what: "judgements",
                found: count,
                most: u64::from(u32::MAX) - 1,
            });
        }
        judgements.check_unique(path)?;
        Ok(judgements)
    }

    /// Refuses two judgements of one document for one topic, which would make it a duplicate of
    /// itself.
    fn check_unique(&self, path: &Path) -> Result<()> {
        let mut order: Vec<u32> = (0..self.all.len() as u32).collect();
        let of = |number: u32| {
            let judgement = &self.all[number as usize];
            (judgement.topic, judgement.key)
        };
        order.sort_unstable_by_key(|&number| (of(number), number));
        let repeated = order.windows(2).filter(|pair| of(pair[0]) == of(pair[1]));
        let Some(second) = repeated.map(|pair| pair[1]).min() else {
            return Ok(());
        };
        // Line numbers are not kept in memory, so read the file again up to this line.
        let mut lines = Lines::open(path, &["topic", "iteration", "docno", "relevance"])?;
        let mut fields = Vec::new();
        for _ in 0..=second {
            if !lines.next(&mut fields)? {
                break;
            }
        }
        let docno = self.docno(&self.all[second as usize]);
        Err(lines.bad(
            "one line for each docno of a topic",
            format!("{} again", shorten(docno.as_bytes())),
        ))
    }

    pub fn iteration(&self, judgement: &Judgement) -> &str {
        let start = judgement.start as usize;
        &self.text[start..start + judgement.iteration as usize]
    }

    pub fn docno(&self, judgement: &Judgement) -> &str {
        let start = judgement.start as usize + judgement.iteration as usize;
        &self.text[start..start + judgement.docno as usize]
    }
}

/// The keys of the distinct documents of the qrels and the run.
pub(super) struct Names {
    keys: Vec<u128>,
    /// The number of keys at which repeated keys are removed.
    most: usize,
}

impl Names {
    pub fn of(judgements: &Judgements) -> Names {
        let mut names = Names {
            keys: judgements
                .all
                .iter()
                .map(|judgement| judgement.key)
                .collect(),
            most: 0,
        };
        names.close();
        names.most = (2 * names.keys.len()).max(1 << 16);
        names
    }

    pub fn add(&mut self, key: u128) {
        if self.keys.len() >= self.most {
            self.close();
            self.most = (2 * self.keys.len()).max(1 << 16);
        }
        self.keys.push(key);
    }

    /// Sorts the keys and removes repeated ones.
    pub fn close(&mut self) {
        self.keys.sort_unstable();
        self.keys.dedup();
    }

    pub fn keys(&self) -> &[u128] {
        &self.keys
    }

    pub fn count(&self) -> usize {
        self.keys.len()
    }

    pub fn find(&self, key: u128) -> Option<usize> {
        self.keys.binary_search(&key).ok()
    }
}
