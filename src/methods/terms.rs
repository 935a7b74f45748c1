//! The unique terms of a document, as the papers that work with them cut, filter and stem them.
//!
//! # Source
//! `chowdhury`: Chowdhury, Frieder, Grossman & McCabe 2002, section 4.2 (five filters, any of which together) and
//! section 3 (unique tokens in ascending order of Unicode). `kolcz`: Kolcz & Chowdhury 2008, section 6.3.
//!
//! # Algorithm
//! A token is what stands between white space, in lower case. `chowdhury` removes, by its filters:
//! `sw` one of SMART's stop words (`stop-words.txt`), `tg5` one of fewer than 5 characters, `tl25` one of more than 25,
//! `nosc` one with a special character, and `stem` then exchanges what is left for its stem
//! (`porter.rs`). `kolcz` removes what is not alphanumeric throughout, what has more than one
//! digit, and what has fewer than 4 characters.
//!
//! # Invariants
//! - A term holds no white space, so that a line feed behind each keeps them apart.
//! - Terms are told apart by 64 bits of xxh3.
//!
//! # Where we depart from the papers
//! - Neither says what a special character is: here any that is no letter, digit or number of Unicode, nor a
//!   mark on one. A token with a comma behind it has one, as the share of terms that `nosc` leaves in
//!   Table II (9.5 %) says too.
//! - The order of the filters is not told: lengths and stop words are looked at before stemming.
//! - "The numbers are removed in parsing" (2002, section 4.3) is the authors' parser; here they stay.
//! - Of email, section 6.3 of 2008 takes subject and body; here the document is what was ingested.

use std::collections::HashSet;
use std::fmt;
use std::sync::LazyLock;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::document::fingerprint;
use super::porter;
use super::{Document, Keys, Parameter, Values};

/// SMART's stop words.
static STOP_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| stop_words().collect());

fn stop_words() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("stop-words.txt").lines();
    lines.filter(|line| !line.starts_with('#'))
}

/// Which terms: chosen by the parameters `terms` and `filters`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preprocessing {
    Chowdhury(Filters),
    Kolcz,
}

/// The syntactic filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Filters {
    stop_words: bool,
    short: bool,
    long: bool,
    special: bool,
    stem: bool,
}

/// A token of more characters is removed by `tl25`.
const LONG: usize = 25;
/// A token of fewer characters is removed by `tg5`.
const SHORT: usize = 5;
/// A word of fewer characters is none of Kolcz & Chowdhury's.
const KOLCZ_SHORT: usize = 4;
/// The separator behind each term.
pub(super) const END: u8 = b'\n';

pub(super) const FILTERS_HELP: &str = "any of sw (stop words), tg5 (below 5 characters), tl25 (above 25), nosc (with special characters) \
     and stem (Porter), joined by +; or none";

/// `least-terms`, of every method here.
pub(super) const LEAST_TERMS: Parameter = Parameter {
    name: "least-terms",
    default: "0",
    help: "ignores documents with fewer unique terms (2008, section 6.3: 5 for email)",
};

/// The value of [`LEAST_TERMS`].
pub(super) fn least_terms(values: &Values) -> Result<usize, String> {
    Ok(values.number(LEAST_TERMS.name, 0..=1_000_000)? as usize)
}

impl Filters {
    /// Reads `sw+tg5+stem` or `none`.
    pub(super) fn read(text: &str) -> Result<Filters, String> {
        let mut filters = Filters::default();
        for name in text.split('+').filter(|_| text != "none") {
            let slot = match name {
                "sw" => &mut filters.stop_words,
                "tg5" => &mut filters.short,
                "tl25" => &mut filters.long,
                "nosc" => &mut filters.special,
                "stem" => &mut filters.stem,
                _ => return Err(format!("filters are {FILTERS_HELP}, and not `{text}`")),
            };
            if std::mem::replace(slot, true) {
                return Err(format!("filters: {name} is given twice"));
            }
        }
        Ok(filters)
    }
}

impl fmt::Display for Filters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            (self.stop_words, "sw"),
            (self.short, "tg5"),
            (self.long, "tl25"),
            (self.special, "nosc"),
            (self.stem, "stem"),
        ];
        let names: Vec<&str> = all.iter().filter(|(on, _)| *on).map(|(_, n)| *n).collect();
        f.write_str(if names.is_empty() { "none" } else { "" })?;
        f.write_str(&names.join("+"))
    }
}

impl fmt::Display for Preprocessing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Preprocessing::Chowdhury(filters) => write!(f, "chowdhury:{filters}"),
            Preprocessing::Kolcz => f.write_str("kolcz"),
        }
    }
}

/// The unique terms of a document.
#[derive(Debug, Default)]
pub(super) struct Terms {
    /// Terms, each with [`END`] behind it.
    text: Vec<u8>,
    /// Fingerprint of each, and where it begins.
    found: Vec<(u64, usize)>,
}

impl Preprocessing {
    /// A document's unique terms, in no order that means anything.
    pub(super) fn terms(&self, document: &mut Document<'_>) -> Terms {
        let mut terms = Terms::default();
        let mut word = String::new();
        let mut stemmed = Vec::new();
        let tokens = document.whitespace();
        for token in tokens.windows(1) {
            // The text was UTF-8, and tokens are cut between characters.
            let Ok(token) = std::str::from_utf8(token) else {
                continue;
            };
            word.clear();
            word.extend(token.chars().flat_map(char::to_lowercase));
            if word.is_empty() || !self.keeps(&word) {
                continue;
            }
            if matches!(self, Preprocessing::Chowdhury(filters) if filters.stem) {
                stemmed.clear();
                stemmed.extend_from_slice(word.as_bytes());
                porter::stem(&mut stemmed);
                terms.push(&stemmed);
            } else {
                terms.push(word.as_bytes());
            }
        }
        terms.found.sort_unstable();
        terms.found.dedup_by_key(|(fingerprint, _)| *fingerprint);
        terms
    }

    fn keeps(&self, word: &str) -> bool {
        let length = word.chars().count();
        match self {
            Preprocessing::Chowdhury(filters) => {
                !(filters.short && length < SHORT
                    || filters.long && length > LONG
                    || filters.special && word.chars().any(is_special)
                    || filters.stop_words && STOP_WORDS.contains(word))
            }
            Preprocessing::Kolcz => {
                length >= KOLCZ_SHORT
                    && !word.chars().any(is_special)
                    && word.chars().filter(|c| c.is_numeric()).count() <= 1
            }
        }
    }
}

fn is_special(c: char) -> bool {
    let mark = || !c.is_ascii() && c.general_category_group() == GeneralCategoryGroup::Mark;
    !c.is_alphanumeric() && !mark()
}

impl Terms {
    fn push(&mut self, term: &[u8]) {
        self.found.push((fingerprint(term, 0), self.text.len()));
        self.text.extend_from_slice(term);
        self.text.push(END);
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Puts them in ascending order of Unicode.
    pub(super) fn sort(&mut self) {
        let Terms { text, found } = self;
        found.sort_unstable_by(|a, b| term_at(text, a.1).cmp(term_at(text, b.1)));
    }

    /// Their fingerprints.
    pub(super) fn fingerprints(&self) -> impl Iterator<Item = u64> {
        self.found.iter().map(|(fingerprint, _)| *fingerprint)
    }

    /// Each with the line feed behind it.
    pub(super) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let found = self.found.iter();
        found.map(|(_, at)| {
            let length = term_at(&self.text, *at).len();
            self.text.get(*at..at + length + 1).unwrap_or_default()
        })
    }
}

/// The term that begins there.
fn term_at(text: &[u8], at: usize) -> &[u8] {
    let rest = text.get(at..).unwrap_or_default();
    let end = memchr::memchr(END, rest).unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default()
}

/// Terms as keys.
pub(super) struct TermKeys {
    pub(super) preprocessing: Preprocessing,
    pub(super) least_terms: usize,
}

impl Keys for TermKeys {
    fn keys(&self, document: &mut Document<'_>, keys: &mut Vec<u64>) {
        let terms = self.preprocessing.terms(document);
        if terms.len() >= self.least_terms {
            keys.extend(terms.fingerprints());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::Scratch;
    use super::*;

    fn terms(preprocessing: &str, text: &str) -> String {
        let preprocessing = match preprocessing {
            "kolcz" => Preprocessing::Kolcz,
            filters => Preprocessing::Chowdhury(Filters::read(filters).unwrap()),
        };
        let mut scratch = Scratch::default();
        let mut terms = preprocessing.terms(&mut Document::new(text, &mut scratch));
        terms.sort();
        let lines: Vec<&[u8]> = terms.lines().collect();
        String::from_utf8(lines.concat())
            .unwrap()
            .replace('\n', "|")
    }

    #[test]
    fn stop_words_are_smarts() {
        assert_eq!(stop_words().count(), 571);
        // Its one word that stands there twice.
        assert_eq!(STOP_WORDS.len(), 570);
        assert!(
            ["a", "a's", "would", "zero"]
                .iter()
                .all(|w| STOP_WORDS.contains(w))
        );
        assert!(stop_words().all(|w| w == w.trim() && w == w.to_lowercase()));
    }

    #[test]
    fn each_filter_removes_what_it_says() {
        let text = "The Running, dogs' x=1 running dog 1998 Ünïcode incomprehensibilitiesoftwenty \
                    incomprehensibilitiesoftwentysix THE";
        for (filters, kept) in [
            (
                "none",
                "1998|dog|dogs'|incomprehensibilitiesoftwenty|incomprehensibilitiesoftwentysix|running|\
                 running,|the|x=1|ünïcode|",
            ),
            ("nosc+tl25", "1998|dog|running|the|ünïcode|"),
            ("nosc+tl25+sw", "1998|dog|running|ünïcode|"),
            ("nosc+tl25+tg5", "running|ünïcode|"),
            // What is no letter of A to Z is a consonant: `cod` ends consonant, vowel, consonant.
            ("nosc+tl25+stem+tg5", "run|ünïcode|"),
        ] {
            assert_eq!(terms(filters, text), kept, "{filters}");
        }
        // Exactly five, and exactly 25, are kept.
        assert_eq!(
            terms("tg5+tl25", "four fives 1234567890123456789012345"),
            "1234567890123456789012345|fives|"
        );
        assert_eq!(terms("tl25", "12345678901234567890123456"), "");
        // A mark on a letter is nothing special.
        assert_eq!(terms("nosc", "cafe\u{301} a-b"), "cafe\u{301}|");
    }

    #[test]
    fn words_of_section_6_3() {
        assert_eq!(
            terms("kolcz", "Four fou mp3s mp34 end. v1agra Ünïc 2008"),
            "four|mp3s|v1agra|ünïc|"
        );
    }

    #[test]
    fn filters_read_and_print() {
        for text in ["none", "sw", "sw+tg5+tl25+nosc+stem", "nosc+stem"] {
            assert_eq!(Filters::read(text).unwrap().to_string(), text);
        }
        assert_eq!(Filters::read("stem+nosc").unwrap().to_string(), "nosc+stem");
        for text in ["", "sw+", "sw+sw", "none+sw", "SW"] {
            assert!(Filters::read(text).is_err(), "{text}");
        }
    }
}
