//! The unique terms of a document, with the tokenisation, filters and stemming of the papers on
//! I-Match.
//!
//! # Source
//! `chowdhury`: Chowdhury, Frieder, Grossman & McCabe 2002, section 4.2 (five filters, in any
//! combination) and section 3 (unique tokens in ascending Unicode order). `kolcz`: Kolcz &
//! Chowdhury 2008, section 6.3.
//!
//! # Algorithm
//! A token is a sequence of characters without white space, in lower case.
//!
//! `chowdhury` applies the selected filters. `sw` removes SMART's stop words (`stop-words.txt`),
//! `tg5` removes tokens of fewer than 5 characters, `tl25` removes tokens of more than 25, and
//! `nosc` removes tokens with a special character. `stem` then replaces each remaining token by its
//! stem (`porter.rs`).
//!
//! `kolcz` removes tokens with a character that is not alphanumeric, tokens with more than one
//! digit, and tokens of fewer than 4 characters.
//!
//! # Invariants
//! - A term contains no white space, so a line feed after each term separates them.
//! - Terms are equal if their 64-bit xxh3 hashes are equal.
//!
//! # Where we depart from the papers
//! - Neither paper defines a special character. Here it is any character that Unicode counts
//!   neither as a letter, digit or number nor as a combining mark. So a token that ends in a comma
//!   has one. The share of terms that `nosc` leaves in Table II (9.5 %) agrees with this.
//! - The papers do not give the order of the filters. Here lengths and stop words are checked
//!   before stemming.
//! - "The numbers are removed in parsing" (2002, section 4.3) describes the authors' parser; here
//!   numbers are kept.
//! - Section 6.3 of 2008 uses the subject and body of an email; here the document is the ingested
//!   text.

use std::collections::HashSet;
use std::fmt;
use std::sync::LazyLock;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::document::fingerprint;
use super::{Document, Keys, Values, porter};

/// SMART's stop words.
static STOP_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| stop_words().collect());

fn stop_words() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("stop-words.txt").lines();
    lines.filter(|line| !line.starts_with('#'))
}

/// Which terms to extract, as the parameters `terms` and `filters` choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preprocessing {
    Chowdhury(Filters),
    Kolcz,
}

/// The syntactic filters, a bit for each of [`FILTERS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Filters(usize);

/// The names of the filters.
const FILTERS: [&str; 5] = ["sw", "tg5", "tl25", "nosc", "stem"];

/// `tl25` removes tokens of more characters.
const LONG: usize = 25;
/// `tg5` removes tokens of fewer characters.
const SHORT: usize = 5;
/// `kolcz` removes tokens of fewer characters.
const KOLCZ_SHORT: usize = 4;
/// The separator after each term.
pub(super) const END: u8 = b'\n';

/// Describes the values that the parameter `filters` accepts.
macro_rules! filters_help {
    () => {
        "any of sw (stop words), tg5 (below 5 characters), tl25 (above 25), nosc (with special characters) \
         and stem (Porter), joined by +; or none"
    };
}
pub(super) use filters_help;

/// The parameter `least-terms`, which all methods of terms share.
pub(super) const LEAST_TERMS: &str =
    "least-terms=0: ignores documents with fewer unique terms (2008, section 6.3: 5 for email)";

/// The value of [`LEAST_TERMS`].
pub(super) fn least_terms(values: &Values) -> Result<usize, String> {
    Ok(values.number("least-terms", 0..=1_000_000)? as usize)
}

impl Filters {
    /// The sets of filters other than `stem`.
    pub(super) const SETS: usize = 16;

    /// The filters other than `stem`, as bits.
    pub(super) fn set(self) -> usize {
        self.0 % Filters::SETS
    }

    /// Whether terms are stems.
    pub(super) fn stem(self) -> bool {
        self.0 >= Filters::SETS
    }

    /// Those of the filters, other than `stem`, that remove a word.
    fn removing(self, word: &str) -> usize {
        let length = word.chars().count();
        let removes = |bit: &usize| match bit {
            0 => STOP_WORDS.contains(word),
            1 => length < SHORT,
            2 => length > LONG,
            _ => word.chars().any(is_special),
        };
        let bits = (0..4).filter(|bit| self.0 >> bit & 1 == 1);
        bits.filter(removes).map(|bit| 1 << bit).sum()
    }

    /// Reads `sw+tg5+stem` or `none`.
    pub(super) fn read(text: &str) -> Result<Filters, String> {
        let mut filters = Filters::default();
        for name in text.split('+').filter(|_| text != "none") {
            let bit = FILTERS.iter().position(|filter| *filter == name);
            let bit =
                bit.ok_or_else(|| format!("filters are {}, and not `{text}`", filters_help!()))?;
            if filters.0 >> bit & 1 == 1 {
                return Err(format!("filters: {name} is given twice"));
            }
            filters.0 |= 1 << bit;
        }
        Ok(filters)
    }
}

impl fmt::Display for Filters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = (0..).zip(FILTERS).filter(|(bit, _)| self.0 >> bit & 1 == 1);
        let names: Vec<&str> = names.map(|(_, name)| name).collect();
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
    /// The terms, each followed by [`END`].
    text: Vec<u8>,
    /// For each term its fingerprint and where it begins in `text`.
    found: Vec<(u64, usize)>,
}

impl Preprocessing {
    /// The parameters `terms` and `filters`.
    pub(super) fn read(values: &Values) -> Result<Preprocessing, String> {
        let filters = Filters::read(values.text("filters"))?;
        match values.one_of("terms", &[("chowdhury", false), ("kolcz", true)])? {
            false => Ok(Preprocessing::Chowdhury(filters)),
            true if filters == Filters::default() => Ok(Preprocessing::Kolcz),
            true => Err("filters belong to terms=chowdhury".into()),
        }
    }

    /// The features of documents with at least this number of unique terms: the fingerprints of
    /// these terms.
    pub(super) fn keys(self, least_terms: usize) -> Keys {
        Keys::of(move |document, keys| {
            let terms = self.terms(document);
            if terms.len() >= least_terms {
                keys.extend(terms.fingerprints());
            }
        })
    }

    /// The unique terms of a document, in no particular order.
    pub(super) fn terms(&self, document: &mut Document<'_>) -> Terms {
        let mut terms = Terms::default();
        let mut word = String::new();
        let mut stemmed = Vec::new();
        let tokens = document.whitespace();
        for token in tokens.windows(1) {
            // Always UTF-8: the text is, and tokens are cut between characters.
            let Ok(token) = std::str::from_utf8(token) else {
                continue;
            };
            word.clear();
            word.extend(token.chars().flat_map(char::to_lowercase));
            if word.is_empty() || !self.keeps(&word) {
                continue;
            }
            if matches!(self, Preprocessing::Chowdhury(filters) if filters.stem()) {
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
        match self {
            Preprocessing::Chowdhury(filters) => filters.removing(word) == 0,
            Preprocessing::Kolcz => {
                word.chars().count() >= KOLCZ_SHORT
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
        self.found.push((fingerprint(term), self.text.len()));
        self.text.extend_from_slice(term);
        self.text.push(END);
    }

    /// The number of terms.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Sorts the terms in ascending Unicode order.
    pub(super) fn sort(&mut self) {
        let Terms { text, found } = self;
        found.sort_unstable_by(|a, b| term_at(text, a.1).cmp(term_at(text, b.1)));
    }

    /// The fingerprints of the terms.
    pub(super) fn fingerprints(&self) -> impl Iterator<Item = u64> {
        self.found.iter().map(|(fingerprint, _)| *fingerprint)
    }

    /// The terms, each with the line feed after it.
    pub(super) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|place| self.at(place))
    }

    /// The term at a place, with the line feed after it.
    fn at(&self, place: usize) -> &[u8] {
        let (_, at) = self.found[place];
        let length = term_at(&self.text, at).len();
        &self.text[at..=at + length]
    }
}

/// The term that begins at `at`.
fn term_at(text: &[u8], at: usize) -> &[u8] {
    let rest = text.get(at..).unwrap_or_default();
    let end = memchr::memchr(END, rest).unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default()
}

/// The unique tokens of a document, and what each of the filters makes of them.
pub(super) struct Sifted {
    /// The tokens in ascending Unicode order.
    tokens: Terms,
    /// For each token the filters that remove it.
    removed: Vec<usize>,
    /// The stems of all tokens, in their order.
    stems: Terms,
    /// The places of the stems in ascending Unicode order.
    by_stem: Vec<usize>,
}

impl Sifted {
    pub(super) fn of(document: &mut Document<'_>) -> Sifted {
        let mut tokens = Preprocessing::Chowdhury(Filters::default()).terms(document);
        tokens.sort();
        let (mut removed, mut stems) = (Vec::with_capacity(tokens.len()), Terms::default());
        let mut stem = Vec::new();
        for line in tokens.lines() {
            let word = line.strip_suffix(&[END]).unwrap_or(line);
            // Always UTF-8, as the text is.
            let word_text = std::str::from_utf8(word).unwrap_or_default();
            removed.push(Filters(Filters::SETS - 1).removing(word_text));
            stem.clear();
            stem.extend_from_slice(word);
            porter::stem(&mut stem);
            stems.push(&stem);
        }
        let mut by_stem: Vec<usize> = (0..stems.len()).collect();
        // Without the line feed, which is not the least character of a term.
        let term = |at: usize| stems.at(at).strip_suffix(&[END]);
        by_stem.sort_by(|&a, &b| term(a).cmp(&term(b)));
        Sifted {
            tokens,
            removed,
            stems,
            by_stem,
        }
    }

    /// The number of tokens.
    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The terms that filters leave, as [`Preprocessing::terms`] gives them, sorted.
    pub(super) fn through(&self, filters: Filters) -> impl Iterator<Item = &[u8]> {
        let set = filters.set();
        let kept = move |at: &usize| self.removed.get(*at).is_some_and(|by| by & set == 0);
        let mut last: &[u8] = &[];
        (0..self.len())
            .map(move |place| match filters.stem() {
                true => self.by_stem.get(place).copied().unwrap_or(place),
                false => place,
            })
            .filter(kept)
            .filter_map(move |at| {
                let of = if filters.stem() {
                    &self.stems
                } else {
                    &self.tokens
                };
                let line = of.at(at);
                (std::mem::replace(&mut last, line) != line).then_some(line)
            })
    }

    /// The fingerprints of each token and its stem, and the filters that remove it.
    pub(super) fn tokens(&self) -> impl Iterator<Item = (u64, u64, u32)> {
        let both = self.tokens.fingerprints().zip(self.stems.fingerprints());
        let all = both.zip(&self.removed);
        all.map(|((token, stem), removed)| (token, stem, *removed as u32))
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
        let mut scratch = Scratch::new(&Default::default());
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
        // One word of the list occurs twice.
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
            // Characters other than a to z are consonants: `cod` ends consonant, vowel, consonant.
            ("nosc+tl25+stem+tg5", "run|ünïcode|"),
        ] {
            assert_eq!(terms(filters, text), kept, "{filters}");
        }
        // Tokens of exactly 5 and exactly 25 characters are kept.
        assert_eq!(
            terms("tg5+tl25", "four fives 1234567890123456789012345"),
            "1234567890123456789012345|fives|"
        );
        assert_eq!(terms("tl25", "12345678901234567890123456"), "");
        // A combining mark is not a special character.
        assert_eq!(terms("nosc", "maq\u{301} a-b"), "maq\u{301}|");
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
