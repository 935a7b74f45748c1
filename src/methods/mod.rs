//! The methods of the papers: each is the keys of a document and what two documents must share.
//!
//! # In and out
//! In: a collection that keeps its texts (`--keep-text`), and a [`Spec`], the name of a method with its
//! parameters. Out: a directory `methods/SPEC` in the collection's, which holds a collection of its own,
//! with the method's keys in place of shingles, and the pairs and clusters of these.
//!
//! # Algorithm
//! 1. What a method must know of the whole collection before it can say a document's keys, such as
//!    document frequencies, it learns first ([`Method::prepare`]).
//! 2. The texts of all representatives become sets of keys (`extract.rs`).
//! 3. Stages 4 to 9 make postings, pairs and clusters of them, as of shingles.
//!
//! # Invariants
//! - All of the main job's: the bytes depend on nothing but collection and specification; a stopped run goes
//!   on; memory is bounded by the budget.
//! - A stage knows no method. A method is one file here and one line in [`METHODS`].
//!
//! # Where we depart from the papers
//! - Exact duplicates go first, for every method: papers that compare methods leave that open, and with
//!   them every method would find the same millions of pairs.
//! - Keys are 64 bits of xxh3 (or the first 64 of a digest that a paper asks for) where papers have Rabin
//!   fingerprints; the number of documents that it confuses is far below one at any size that a 32-bit
//!   document number allows.

mod bsw;
mod cosine;
mod deco;
mod document;
mod extract;
mod i_match;
mod lexicon;
mod megashingles;
mod min;
mod minhash;
mod mod_n;
mod porter;
mod run;
mod selection;
mod shingles;
mod sketch;
mod spec;
mod spex;
mod super_shingles;
mod syntactic;
mod terms;
mod texts;
mod windows;

use crate::ids::Threshold;
use crate::join::{Join, JoinConfig, Pairs};
use crate::measure::Measure;
use crate::progress::Context;
use crate::workspace::Workspace;
use crate::{Error, Result};

pub use document::Document;
pub(crate) use extract::COST;
pub use lexicon::LEXICON_FILE;
pub use run::{SETS_FILE, directory, keys, open, run};
pub use spec::{Parameter, Spec, Values};
pub use spex::FILE as SPEX_FILE;

/// Every method: one line each.
pub const METHODS: &[&Entry] = &[
    &shingles::METHOD,
    &super_shingles::METHOD,
    &megashingles::METHOD,
    &minhash::METHOD,
    &mod_n::METHOD,
    &min::METHOD,
    &sketch::METHOD,
    &bsw::METHOD,
    &i_match::METHOD,
    &syntactic::METHOD,
    &cosine::METHOD,
    &deco::METHOD,
];

/// What the table of methods holds of one.
#[derive(Debug)]
pub struct Entry {
    /// Its name in a [`Spec`].
    pub name: &'static str,
    /// One line on what it does.
    pub about: &'static str,
    /// Where it is described: paper and sections.
    pub paper: &'static str,
    /// Its parameters, with the paper's defaults.
    pub parameters: &'static [Parameter],
    /// Makes it of values for its parameters; what is wrong with them otherwise.
    pub build: fn(&Values) -> std::result::Result<Box<dyn Method>, String>,
}

/// A method with its parameters.
pub trait Method: Send + Sync {
    /// What two documents' keys must share.
    fn join(&self) -> JoinConfig;

    /// Learns what must be known of the collection.
    ///
    /// # Errors
    /// Those of the stages that it runs.
    fn prepare<'a>(
        &'a self,
        collection: &Workspace,
        context: &Context<'_>,
    ) -> Result<Box<dyn Keys + 'a>>;

    /// What its results depend on beside its parameters and the collection, such as what is in a file.
    ///
    /// # Errors
    /// That the file cannot be read.
    fn identity(&self) -> Result<String> {
        Ok(String::new())
    }

    /// Are the documents of each key a set of duplicates that is worth a line of its own (`sets.jsonl`)?
    fn sets(&self) -> bool {
        false
    }

    /// What somebody who takes its results must know.
    fn warning(&self) -> Option<String> {
        None
    }
}

/// A method that needs to know nothing of the collection.
trait Plain: Send + Sync {
    /// As [`Method::join`].
    fn join(&self) -> JoinConfig;

    /// As [`Keys::keys`].
    fn keys(&self, document: &mut Document<'_>, keys: &mut Vec<u64>);

    /// As [`Method::sets`].
    fn sets(&self) -> bool {
        false
    }

    /// As [`Method::warning`].
    fn warning(&self) -> Option<String> {
        None
    }
}

impl<P: Plain> Method for P {
    fn join(&self) -> JoinConfig {
        Plain::join(self)
    }

    fn prepare<'a>(&'a self, _: &Workspace, _: &Context<'_>) -> Result<Box<dyn Keys + 'a>> {
        Ok(Box::new(OfItself(self)))
    }

    fn sets(&self) -> bool {
        Plain::sets(self)
    }

    fn warning(&self) -> Option<String> {
        Plain::warning(self)
    }
}

struct OfItself<'a, P>(&'a P);

impl<P: Plain> Keys for OfItself<'_, P> {
    fn keys(&self, document: &mut Document<'_>, keys: &mut Vec<u64>) {
        self.0.keys(document, keys);
    }
}

/// A document's keys, sorted and distinct.
pub(crate) struct Keyer<'a> {
    keys: Box<dyn Keys + 'a>,
    scratch: document::Scratch,
}

impl<'a> Keyer<'a> {
    pub(crate) fn new(keys: Box<dyn Keys + 'a>) -> Self {
        Keyer {
            keys,
            scratch: document::Scratch::default(),
        }
    }

    /// Replaces `set` by the keys of a text, as the collection would keep it.
    pub(crate) fn keys(&mut self, text: &str, set: &mut Vec<u64>) {
        set.clear();
        let mut document = Document::new(text, &mut self.scratch);
        self.keys.keys(&mut document, set);
        set.sort_unstable();
        set.dedup();
        if text.len() > LARGE_TEXT {
            // What it took is not held beside the next document.
            self.scratch = document::Scratch::default();
            set.shrink_to_fit();
        }
    }

    /// Memory that it takes for what it knows of the collection.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.keys.held_bytes()
    }
}

/// The buffers of a longer text are given back.
const LARGE_TEXT: usize = 256 << 10;

/// Documents to keys.
pub trait Keys: Sync {
    /// Appends a document's keys, in any order, repeated or not. A document without keys is ignored by the
    /// method, and counted.
    fn keys(&self, document: &mut Document<'_>, keys: &mut Vec<u64>);

    /// Memory that it takes for what it knows of the collection.
    fn held_bytes(&self) -> u64 {
        0
    }

    /// Small files that tell what was learnt, to be kept beside the results: name and content.
    fn files(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// All pairs by a measure.
#[must_use]
pub fn join_by(measure: Measure, threshold: Threshold) -> JoinConfig {
    JoinConfig {
        join: Join::Auto,
        threshold,
        measure,
        max_postings: None,
        pairs: Pairs::All,
        candidates: None,
    }
}

/// All pairs that share at least so many keys. (The threshold does not apply.)
#[must_use]
pub fn join_by_shared(least: u32) -> JoinConfig {
    join_by(Measure::Shared(least), whole())
}

/// A threshold of 1.
#[must_use]
pub fn whole() -> Threshold {
    // 1 of 1 is one.
    Threshold::new(1, 1).unwrap_or_else(|| unreachable!())
}

/// A method by its name.
///
/// # Errors
/// [`Error::BadParameter`], with the names that there are.
pub fn find(name: &str) -> Result<&'static Entry> {
    let found = METHODS.iter().find(|entry| entry.name == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = METHODS.iter().map(|entry| entry.name).collect();
        Error::BadParameter {
            name: "method",
            given: name.into(),
            limit: format!("the methods are {}", names.join(", ")),
        }
    })
}

pub(crate) use crate::random::mix_key as mix;
