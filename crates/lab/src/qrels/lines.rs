//! Reads lines of white-space separated fields, the judgements among them, and the set of documents
//! that they name.

use std::collections::HashMap;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use super::{Clusters, FileCounts, Held, QrelsFormat};
use lookalike_base::{Error, Result};
use lookalike_text::read;
use lookalike_text::read::lines::shorten;

/// A longer line is an error, because a line has to fit in memory. A docno has at most 64 KiB.
pub const MOST_LINE_BYTES: usize = 1 << 20;

/// Memory of a line besides its text: the judgement (64, twice while the table grows), its place
/// during the sort (24), its relevance, whether it is kept and what its groups are (13), its key
/// and the data about its document (57), and the name of its cluster (13, three times while the
/// table grows).
pub(super) const JUDGEMENT_BYTES: u64 = 272;

/// Memory of a topic or subtopic besides its name: entries of the tables that find its number and
/// its name (24 and 32, twice while they grow), and its counts (128).
const TOPIC_BYTES: u64 = 256;

/// A file of lines with a fixed number of fields, compressed or not.
pub(super) struct Lines {
    pub file: read::lines::Lines,
    /// The names of the fields. The first line decides between several.
    names: Vec<&'static [&'static str]>,
}

impl Lines {
    pub fn open(path: &Path, names: Vec<&'static [&'static str]>) -> Result<Lines> {
        Ok(Lines {
            file: read::lines::Lines::open(path, MOST_LINE_BYTES)?,
            names,
        })
    }

    /// Advances to the next line that is not empty; `false` at the end of the file.
    pub fn next(&mut self) -> Result<bool> {
        if !self.file.advance_to_text()? {
            return Ok(false);
        }
        let parts = self.file.line().split(u8::is_ascii_whitespace);
        let count = parts.filter(|part| !part.is_empty()).count();
        if self.names.iter().any(|names| names.len() == count) {
            self.names.retain(|names| names.len() == count);
        } else {
            let forms = self.names.iter();
            let forms = forms.map(|names| format!("{} fields ({})", names.len(), names.join(", ")));
            let found = format!("{count}: {}", shorten(self.file.line()));
            let forms = forms.collect::<Vec<_>>().join(" or ");
            return Err(self.file.bad(forms, found));
        }
        if std::str::from_utf8(self.file.line()).is_err() {
            return Err(self.file.bad("UTF-8", shorten(self.file.line())));
        }
        Ok(true)
    }

    /// The fields of the line.
    pub fn fields(&self) -> Vec<&str> {
        let line = std::str::from_utf8(self.file.line()).unwrap_or_default();
        line.split_ascii_whitespace().collect()
    }
}

/// The hash that identifies a docno, as in the catalogue.
pub fn key_of(docno: impl AsRef<[u8]>) -> u128 {
    xxh3_128(docno.as_ref())
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
pub struct Judgement {
    pub topic: u32,
    /// The number of the text in the second field of a form with four fields, which is the subtopic
    /// in [`QrelsFormat::Ndeval`]; else 0.
    second: u32,
    pub key: u128,
    pub grade: i64,
    /// The number of its line, from 1.
    line: u64,
    /// Where the fields start in the text of [`Judgements`] that a written line repeats: iteration
    /// or subtopic, or method and probability; the docno follows. Then their lengths.
    start: u64,
    repeated: u32,
    docno: u32,
}

/// All lines of the qrels.
#[derive(Default)]
pub struct Judgements {
    /// The form of the lines, never [`QrelsFormat::Auto`].
    pub format: QrelsFormat,
    pub all: Vec<Judgement>,
    pub topics: Vec<String>,
    text: String,
}

impl Judgements {
    /// No judgements yet, of one topic without a name.
    pub fn list() -> Judgements {
        Judgements {
            format: QrelsFormat::Trec,
            topics: vec![String::new()],
            ..Judgements::default()
        }
    }

    pub fn read(path: &Path, format: QrelsFormat, held: &mut Held<'_>) -> Result<Judgements> {
        let mut lines = Lines::open(path, format.fields())?;
        let mut judgements = Judgements {
            format,
            ..Judgements::default()
        };
        let (mut topics, mut seconds) = (Topics::default(), Topics::default());
        let mut repeated = String::new();
        let (mut count, mut room) = (0u64, true);
        while lines.next()? {
            held.stop(count)?;
            count += 1;
            repeated.clear();
            let (topic, second, docno, relevance) = match lines.fields()[..] {
                [topic, second, docno, relevance] => {
                    repeated.push_str(second);
                    (topic, second, docno, relevance)
                }
                [topic, docno, relevance, method, probability] => {
                    judgements.format = QrelsFormat::Prels;
                    if probability.parse::<f64>().is_err() {
                        let found = shorten(probability.as_bytes());
                        return Err(lines.file.bad("a probability that is a number", found));
                    }
                    repeated.push_str(method);
                    repeated.push(' ');
                    repeated.push_str(probability);
                    (topic, "", docno, relevance)
                }
                _ => continue,
            };
            let wrong = "a relevance that is an integer";
            let grade = relevance.parse::<i64>();
            let grade = grade.map_err(|_| lines.file.bad(wrong, shorten(relevance.as_bytes())))?;
            let bytes = (topic.len() + repeated.len() + docno.len()) as u64;
            room = held.take_line(bytes) && room;
            if !room {
                continue;
            }
            let (number, new) = topics.number(topic);
            if new {
                held.memory.take(TOPIC_BYTES);
                judgements.topics.push(topic.into());
            }
            let (second, new) = seconds.number(second);
            if new {
                held.memory.take(TOPIC_BYTES);
            }
            let line = lines.file.number();
            judgements.push((number, second), (docno, line), grade, &repeated);
        }
        judgements.settled(path, ("judgements", count), held)
    }

    /// Adds the judgement of a document, in a line of this number, for a topic and second field.
    /// `repeated` are the other fields.
    pub fn push(&mut self, of: (u32, u32), (docno, line): (&str, u64), grade: i64, repeated: &str) {
        self.all.push(Judgement {
            topic: of.0,
            second: of.1,
            key: key_of(docno),
            grade,
            line,
            start: self.text.len() as u64,
            repeated: repeated.len() as u32,
            docno: docno.len() as u32,
        });
        self.text.push_str(repeated);
        self.text.push_str(docno);
    }

    /// Decides on the form, if it is not known yet. Refuses more lines than memory has room for, and two
    /// judgements of one document for one topic and subtopic, because a document is not a duplicate
    /// of itself.
    pub fn settled(
        mut self,
        path: &Path,
        (what, count): (&'static str, u64),
        held: &Held<'_>,
    ) -> Result<Judgements> {
        held.memory.check(|| format!("{count} {what}"))?;
        if count >= u64::from(u32::MAX) {
            return Err(Error::too_many(what, count, u64::from(u32::MAX) - 1));
        }
        let mut order: Vec<u32> = (0..self.all.len() as u32).collect();
        let of = |number: u32| {
            let judgement = &self.all[number as usize];
            ((judgement.topic, judgement.key), judgement.second)
        };
        order.sort_unstable_by_key(|&number| (of(number), number));
        if self.format == QrelsFormat::Auto {
            let mut pairs = order.windows(2).map(|pair| (of(pair[0]), of(pair[1])));
            let by_subtopic = pairs.any(|(a, b)| a.0 == b.0 && a.1 != b.1);
            self.format = match by_subtopic {
                true => QrelsFormat::Ndeval,
                false => QrelsFormat::Trec,
            };
        }
        let by_subtopic = self.format == QrelsFormat::Ndeval;
        let repeats = |pair: &&[u32]| {
            let (a, b) = (of(pair[0]), of(pair[1]));
            a.0 == b.0 && (a.1 == b.1 || !by_subtopic)
        };
        let Some(second) = order.windows(2).filter(repeats).map(|pair| pair[1]).min() else {
            return Ok(self);
        };
        let expected = match by_subtopic {
            true => "one line for each docno and subtopic of a topic",
            false if self.topics == [""] => "one line for each docno",
            false => "one line for each docno of a topic",
        };
        let judgement = &self.all[second as usize];
        let found = format!("{} again", shorten(self.docno(judgement).as_bytes()));
        Err(Error::bad_line(path, judgement.line, expected, found))
    }

    /// The counts of the lines of the file.
    pub fn counts(&self, path: &Path, clusters: &Clusters) -> FileCounts {
        let lines = self.all.iter().map(|of| (of.key, self.docno(of), of.line));
        FileCounts::of(path, clusters, lines)
    }

    /// Returns the number of the subtopic, which is judged separately within a topic; 0 in other
    /// forms.
    pub fn subtopic(&self, judgement: &Judgement) -> u32 {
        match self.format {
            QrelsFormat::Ndeval => judgement.second,
            _ => 0,
        }
    }

    /// The fields besides topic, docno and relevance.
    pub fn repeated(&self, judgement: &Judgement) -> &str {
        let start = judgement.start as usize;
        &self.text[start..start + judgement.repeated as usize]
    }

    pub fn docno(&self, judgement: &Judgement) -> &str {
        let start = judgement.start as usize + judgement.repeated as usize;
        &self.text[start..start + judgement.docno as usize]
    }

    /// The docno of a judgement by its number.
    pub(super) fn named(&self, number: u32) -> &str {
        self.docno(&self.all[number as usize])
    }

    /// The line of a judgement with this docno and relevance.
    pub fn line(&self, judgement: &Judgement, docno: &str, grade: i64) -> String {
        let topic = &self.topics[judgement.topic as usize];
        let repeated = self.repeated(judgement);
        match self.format {
            QrelsFormat::Prels => format!("{topic} {docno} {grade} {repeated}\n"),
            _ => format!("{topic} {repeated} {docno} {grade}\n"),
        }
    }
}

/// The keys of the distinct documents of the qrels and the run.
pub(super) struct Names {
    pub keys: Vec<u128>,
    /// The number of keys at which repeated keys are removed.
    most: usize,
}

impl Names {
    pub fn of(judgements: &Judgements) -> Names {
        let keys = judgements.all.iter().map(|judgement| judgement.key);
        let keys = keys.collect();
        let mut names = Names { keys, most: 0 };
        names.close();
        names
    }

    pub fn add(&mut self, key: u128) {
        if self.keys.len() >= self.most {
            self.close();
        }
        self.keys.push(key);
    }

    /// Sorts the keys and removes repeated ones.
    pub fn close(&mut self) {
        self.keys.sort_unstable();
        self.keys.dedup();
        self.most = (2 * self.keys.len()).max(1 << 16);
    }

    pub fn find(&self, key: u128) -> Option<usize> {
        self.keys.binary_search(&key).ok()
    }
}
