//! Short texts in place of pages: 10 to 40 words each, as JSON lines.
//!
//! # Algorithm
//! A document is an original, the edited version of an original before it, or the exact duplicate
//! of a document before it. Half of these choose any document, half one near the first, so that the
//! sizes of families have a heavy tail. An edit replaces each word with a probability of its own,
//! from 0.01 to 0.1.

use std::io::{self, Write};

use super::Counts;
use super::plan::Parameters;
use super::random::{Purpose, Random};
use super::vocabulary::Vocabulary;

/// Documents of a file: about 20 MB.
pub const FILE: u64 = 100_000;
/// The folder of the files.
pub const TEXTS: &str = "texts";
/// Bytes of a document in its file, on average: measured over 1,000,000 documents of seed 1.
pub const MEAN_DOCUMENT: u64 = 197;
/// The head of the truth.
pub const TRUTH: &[u8] = b"docno\tkind\tof\trate\twords\n";

/// A document's name.
pub fn docno(number: u64) -> String {
    format!("T{number:09}")
}

enum Origin {
    Original,
    Edited { of: u64, rate: f64 },
    Exact { of: u64 },
}

pub struct Short<'a> {
    pub parameters: Parameters,
    pub vocabulary: &'a Vocabulary,
}

impl Short<'_> {
    fn random(&self, purpose: Purpose, number: u64) -> Random {
        Random::new(self.parameters.seed, purpose, number)
    }

    fn origin(&self, number: u64) -> Origin {
        let mut random = self.random(Purpose::Origin, number);
        let u = random.unit();
        if number == 0 || u >= self.parameters.exact + self.parameters.edited {
            return Origin::Original;
        }
        let near_the_first = random.chance(0.5);
        let of = match near_the_first {
            true => random.skewed(number),
            false => ((random.unit() * number as f64) as u64).min(number - 1),
        };
        if u < self.parameters.exact {
            return Origin::Exact { of };
        }
        let rate = 0.01 + 0.09 * random.unit();
        let of = self.original(of);
        Origin::Edited { of, rate }
    }

    /// The original that a document comes from, perhaps itself. Each step leads to a lower number.
    fn original(&self, mut number: u64) -> u64 {
        while let Origin::Exact { of } | Origin::Edited { of, .. } = self.origin(number) {
            number = of;
        }
        number
    }

    /// The ranks of a document's words.
    fn words(&self, number: u64, words: &mut Vec<u32>) {
        match self.origin(number) {
            Origin::Original => {
                let mut random = self.random(Purpose::Text, number);
                let length = random.between(10, 40);
                words.clear();
                words.extend((0..length).map(|_| self.vocabulary.draw(&mut random)));
            }
            Origin::Edited { of, rate } => {
                self.words(of, words);
                let mut random = self.random(Purpose::Edit, number);
                for word in words {
                    if random.chance(rate) {
                        *word = self.vocabulary.draw(&mut random);
                    }
                }
            }
            Origin::Exact { of } => self.words(of, words),
        }
    }

    /// Writes the documents of a file. Returns their lines of the truth, and what they count.
    pub fn file(
        &self,
        numbers: std::ops::Range<u64>,
        out: &mut dyn Write,
    ) -> io::Result<(Vec<u8>, Counts)> {
        let (mut truth, mut counts) = (Vec::new(), Counts::default());
        let (mut words, mut line) = (Vec::new(), Vec::new());
        for number in numbers {
            self.words(number, &mut words);
            line.clear();
            write!(line, "{{\"id\":\"{}\",\"text\":\"", docno(number))?;
            for (at, &word) in words.iter().enumerate() {
                if at > 0 {
                    line.push(b' ');
                }
                line.extend_from_slice(self.vocabulary.form(word));
            }
            line.extend_from_slice(b"\"}\n");
            out.write_all(&line)?;
            counts.documents += 1;
            counts.bytes += line.len() as u64;
            counts.words += words.len() as u64;
            let (own, length) = (docno(number), words.len());
            match self.origin(number) {
                Origin::Original => {
                    counts.originals += 1;
                    writeln!(truth, "{own}\toriginal\t\t\t{length}")?;
                }
                Origin::Edited { of, rate } => {
                    counts.edited += 1;
                    writeln!(truth, "{own}\tedited\t{}\t{rate:.6}\t{length}", docno(of))?;
                }
                Origin::Exact { of } => {
                    counts.exact_duplicates += 1;
                    writeln!(truth, "{own}\texact\t{}\t\t{length}", docno(of))?;
                }
            }
        }
        Ok((truth, counts))
    }
}
