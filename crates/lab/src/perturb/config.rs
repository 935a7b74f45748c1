//! The parameters of a controlled corpus: which documents to copy, how often, and with which edits.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use lookalike_base::{Result, keywords, refuse};
use lookalike_text::read::{ReadConfig, Selection};

/// Originals and copies of Chowdhury et al. 2002.
const TEN: u64 = 10;
/// More edits than any corpus needs, and few enough to keep in memory.
const MOST: u32 = 100_000;
/// Limit on the copies of one document: every two documents of a family are a line of `truth.tsv`,
/// half a million lines for a document with a thousand copies.
const MOST_COPIES: u32 = 1000;

/// All parameters of the corpus except the inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerturbConfig {
    /// Which files of named directories are read.
    #[serde(default, skip_serializing_if = "Selection::is_default")]
    pub selection: Selection,
    /// How inputs are read.
    pub read: ReadConfig,
    /// Guess charsets, as in [`lookalike_text::parse::ParseConfig`].
    pub detector: bool,
    /// The recipe and its parameters.
    pub recipe: Recipe,
    /// Documents to copy; `None`: ten for `chowdhury`, all for `cherkasova`.
    pub originals: Option<u64>,
    /// Write the documents that are not copied; `None`: for `chowdhury` only.
    pub background: Option<bool>,
    /// Seed of all random draws.
    pub seed: u64,
}

/// The recipe, by its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recipe {
    /// Chowdhury et al. 2002, section 4.3.
    Chowdhury(Chowdhury),
    /// Cherkasova et al. 2009, section 3.
    Cherkasova(Cherkasova),
}

/// Parameters of Chowdhury et al. 2002.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
#[command(next_help_heading = "Chowdhury")]
pub struct Chowdhury {
    /// Copies of each document, at most 1000
    ///
    /// Example: --recipe chowdhury --copies 3
    #[arg(long, value_name = "N", default_value_t = TEN as u32)]
    pub copies: u32,
    /// Consider every I-th word for an edit
    ///
    /// Example: --recipe chowdhury --every 5
    #[arg(long, value_name = "I", default_value_t = 10)]
    pub every: u32,
    /// Edit a word if a random number from 1 to 10 is above A
    ///
    /// An edit removes the word, swaps it with the next one, or adds a word of the collection after
    /// it, with equal probability.
    ///
    /// Example: --recipe chowdhury --alpha 8
    #[arg(long, value_name = "A", default_value_t = 5)]
    pub alpha: u32,
}

impl Default for Chowdhury {
    fn default() -> Self {
        Chowdhury {
            copies: TEN as u32,
            every: 10,
            alpha: 5,
        }
    }
}

/// Parameters of Cherkasova et al. 2009.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
#[command(next_help_heading = "Cherkasova")]
pub struct Cherkasova {
    /// Kind of edit: insert or remove
    ///
    /// Example: --edit remove
    #[arg(long, value_name = "EDIT", default_value_t = Operation::Insert)]
    pub edit: Operation,
    /// Numbers of edits, one copy for each
    ///
    /// A document with N words or fewer gets no copy with N words removed.
    ///
    /// Example: --edits 1,2,5,10..20
    #[arg(long, value_name = "LIST", default_value = "1..50")]
    pub edits: EditCounts,
    /// Places of the edits: random or uniform
    ///
    /// uniform spaces the edits evenly.
    ///
    /// Example: --spread uniform
    #[arg(long, value_name = "SPREAD", default_value_t = EditPlaces::Random)]
    pub spread: EditPlaces,
    /// Word to insert
    ///
    /// Example: --word zzz
    #[arg(long, value_name = "WORD", default_value = "a")]
    pub word: String,
}

impl Default for Cherkasova {
    fn default() -> Self {
        Cherkasova {
            edit: Operation::Insert,
            edits: EditCounts((1..=50).collect()),
            spread: EditPlaces::Random,
            word: "a".into(),
        }
    }
}

keywords! {
    /// The kind of edit of `cherkasova`.
    pub enum Operation: "is not an edit; use" {
        /// Adds a word.
        Insert = "insert",
        /// Removes a word.
        Remove = "remove",
    }
}

keywords! {
    /// The places of the edits of `cherkasova`.
    pub enum EditPlaces: "is not a spread; use" {
        /// Random: each place with the same probability.
        Random = "random",
        /// Evenly spaced.
        Uniform = "uniform",
    }
}

/// Numbers of edits, ascending: `1..50` (both included), `1,2,5,10`, `0,5..10`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditCounts(pub Vec<u32>);

impl FromStr for EditCounts {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a list of numbers of edits; write 1..50 or 1,2,5, at most {MOST}"
            )
        };
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            let number = text.parse::<u32>().ok().filter(|&n| digits && n <= MOST);
            number.ok_or_else(wrong)
        };
        let mut counts = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                None => counts.push(number(part)?),
                Some((first, last)) => {
                    let (first, last) = (number(first)?, number(last)?);
                    if first > last {
                        return Err(wrong());
                    }
                    counts.extend(first..=last);
                }
            }
        }
        counts.sort_unstable();
        counts.dedup();
        Ok(EditCounts(counts))
    }
}

impl Recipe {
    /// Number and name of each copy of an original.
    pub(super) fn copies(&self) -> Vec<(u32, String)> {
        match self {
            Recipe::Chowdhury(recipe) => (1..=recipe.copies)
                .map(|n| (n, format!("chowdhury-{n}")))
                .collect(),
            Recipe::Cherkasova(recipe) => {
                let of = |&n: &u32| (n, format!("{}-{n}", recipe.edit));
                recipe.edits.0.iter().map(of).collect()
            }
        }
    }

    /// Returns the docno of the original if a document of this docno could be mistaken for one of
    /// its copies.
    pub(super) fn original_of<'d>(&self, docno: &'d str) -> Option<&'d str> {
        let (original, name) = docno.rsplit_once('~')?;
        let (kind, number) = name.rsplit_once('-')?;
        let number: u32 = number.parse().ok()?;
        let made = match self {
            Recipe::Chowdhury(recipe) => {
                kind == "chowdhury" && (1..=recipe.copies).contains(&number)
            }
            Recipe::Cherkasova(recipe) => {
                kind == recipe.edit.to_string() && recipe.edits.0.contains(&number)
            }
        };
        made.then_some(original)
    }
}

impl PerturbConfig {
    /// Documents to copy; `None`: all.
    pub(super) fn originals(&self) -> Option<u64> {
        match self.recipe {
            Recipe::Chowdhury(_) => Some(self.originals.unwrap_or(TEN)),
            Recipe::Cherkasova(_) => self.originals,
        }
    }

    pub(super) fn background(&self) -> bool {
        self.background.unwrap_or(self.needs_terms())
    }

    pub(super) fn needs_terms(&self) -> bool {
        matches!(self.recipe, Recipe::Chowdhury(_))
    }

    /// The most edits that a copy of a text of this many words can have.
    pub(super) fn most_edits(&self, words: u64) -> u64 {
        match &self.recipe {
            Recipe::Chowdhury(recipe) => words / u64::from(recipe.every.max(1)),
            Recipe::Cherkasova(recipe) => recipe.edits.0.iter().max().map_or(0, |&n| n.into()),
        }
    }

    /// Checks the ranges of all parameters.
    ///
    /// # Errors
    /// `BadParameter`.
    pub fn check(&self) -> Result<()> {
        self.read.check()?;
        if self.originals == Some(0) {
            return refuse("originals", "0", "at least 1");
        }
        let why = "every two copies of a document are a line of truth.tsv";
        match &self.recipe {
            Recipe::Chowdhury(recipe) => {
                if recipe.copies == 0 || recipe.copies > MOST_COPIES {
                    let counts = format!("1 to {MOST_COPIES}; {why}");
                    return refuse("copies", recipe.copies, counts);
                }
                if recipe.every == 0 {
                    return refuse("every", "0", "at least 1");
                }
                if recipe.alpha > 10 {
                    let limit = "0 (edit every word looked at) to 10 (none)";
                    return refuse("alpha", recipe.alpha, limit);
                }
            }
            Recipe::Cherkasova(recipe) => {
                let most = recipe.edits.0.iter().max();
                if most.is_none_or(|&most| most > MOST) {
                    let given = most.map_or("nothing".into(), ToString::to_string);
                    return refuse("edits", given, format!("numbers from 0 to {MOST}"));
                }
                let copies = recipe.edits.0.len();
                if copies > MOST_COPIES as usize {
                    let limit = format!("at most {MOST_COPIES}; {why}");
                    return refuse("edits", format!("with {copies} numbers"), limit);
                }
                let word = &recipe.word;
                let long = word.len() > super::words::TERM_BYTES;
                if long || word.is_empty() || word.contains(char::is_whitespace) {
                    let most = super::words::TERM_BYTES;
                    let limit = format!("one word, without white space, of at most {most} bytes");
                    return refuse("word", format!("{word:?}"), limit);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_edits_are_ranges_and_lists() {
        let read = |text: &str| text.parse::<EditCounts>().map(|counts| counts.0);
        assert_eq!(read("1..50"), Ok((1..=50).collect()));
        assert_eq!(read("10,1,2,5,2"), Ok(vec![1, 2, 5, 10]));
        assert_eq!(read("0,3..4"), Ok(vec![0, 3, 4]));
        for text in [
            "", "a", "5..1", "1,,2", "-1", "+1", "1..", "100001", "1...3",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(Cherkasova::default().edits, "1..50".parse().unwrap());
    }

    /// 65,536 copies of a document are two thousand million pairs, which would fill a disk without
    /// any warning.
    #[test]
    fn more_copies_than_can_be_paired_are_refused() {
        let chowdhury = |copies| {
            Recipe::Chowdhury(Chowdhury {
                copies,
                ..Chowdhury::default()
            })
        };
        let cherkasova = |last| {
            Recipe::Cherkasova(Cherkasova {
                edits: EditCounts((1..=last).collect()),
                ..Cherkasova::default()
            })
        };
        for (recipe, good) in [
            (chowdhury(1000), true),
            (chowdhury(1001), false),
            (cherkasova(1000), true),
            (cherkasova(1001), false),
        ] {
            let config = PerturbConfig {
                selection: Default::default(),
                read: ReadConfig::default(),
                detector: true,
                recipe,
                originals: None,
                background: None,
                seed: 0,
            };
            assert_eq!(config.check().is_ok(), good);
            if let Err(error) = config.check() {
                let told = error.to_string();
                assert!(told.contains("1000; every two copies"), "{told}");
            }
        }
    }

    #[test]
    fn names_of_copies_are_told_from_others() {
        let recipe = Recipe::Cherkasova(Cherkasova::default());
        for (n, name) in recipe.copies() {
            assert_eq!(
                recipe.original_of(&format!("a~b~{name}")),
                Some("a~b"),
                "{n}"
            );
        }
        for name in [
            "a",
            "a~insert-51",
            "a~insert-0",
            "a~remove-1",
            "insert-1",
            "a~insert-x",
        ] {
            assert_eq!(recipe.original_of(name), None);
        }
    }
}
