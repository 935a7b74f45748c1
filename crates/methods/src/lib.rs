//! The methods of the papers: each defines the features of a document and what two documents must
//! share.
//!
//! # In and out
//! In: a collection that keeps its texts (`--keep-text`), and a [`Spec`], the name of a method with
//! its parameters. Out: a directory `methods/SPEC` inside the collection's directory. It holds a
//! collection of its own, with the method's features in place of shingles, and their pairs and
//! clusters.
//!
//! # Algorithm
//! 1. Some methods need statistics of the whole collection, such as document frequencies, before
//!    they can compute features. [`Method::prepare`] computes them first.
//! 2. The texts of all representatives are turned into sets of features (`extract.rs`).
//! 3. Stages 4 to 9 make postings, pairs and clusters from these sets, in the same way as from
//!    shingles.
//!
//! # Invariants
//! - The invariants of the main job hold: the output depends only on the collection and the
//!   specification, a stopped run can be resumed, and the budget bounds the memory.
//! - No stage knows about a particular method. A method is one file here and one line in
//!   [`METHODS`].
//!
//! # Where we depart from the papers
//! - Every method removes exact duplicates first. Papers that compare methods do not say whether
//!   they do; without this step, every method would find the same millions of pairs. Only `deco`
//!   can keep them, because its paper measures what they cost.
//! - Features are 64 bits of xxh3 (or the first 64 bits of a digest that a paper prescribes) where
//!   papers use Rabin fingerprints. The expected number of documents that collide is far below one
//!   at any collection size that 32-bit document numbers allow.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

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
mod variants;
mod windows;

use std::path::PathBuf;
use std::sync::Arc;

use lookalike_base::{Context, Criterion, Error, Measure, Result, Threshold};
use lookalike_engine::join::JoinConfig;
use lookalike_store::Workspace;
use lookalike_text::parse::ParseConfig;

pub use deco::{TABLE_1 as DECO_THRESHOLDS, at as deco_at};
pub use document::Document;
pub use extract::COST;
pub use lexicon::LEXICON_FILE;
pub use minhash::MinHashes;
pub use run::{SETS_FILE, directory, keys, keys_to_read, open, run};
pub use spec::{Parameter, Spec, Values};
pub use spex::FILE as SPEX_FILE;
pub use variants::{Counts, Sizes, Variants, combinations, filters, variant_names, variants};

/// All methods, one line each.
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

/// An entry of the table of methods.
#[derive(Debug)]
pub struct Entry {
    /// The name of the method in a [`Spec`].
    pub name: &'static str,
    /// Describes the method in one line.
    pub about: &'static str,
    /// The paper and sections that describe it.
    pub paper: &'static str,
    /// Its parameters with the paper's defaults, each as `NAME=DEFAULT: HELP`.
    pub parameters: &'static [&'static str],
    /// Builds the method from values of its parameters, or says what is wrong with them.
    pub build: fn(&Values) -> std::result::Result<Method, String>,
}

/// Computes the statistics of a collection.
type Prepare = dyn Fn(&Workspace, &Context<'_>) -> Result<Keys> + Send + Sync;
/// Appends the features of a document.
type Append = dyn Fn(&mut Document<'_>, &mut Vec<u64>) + Send + Sync;

/// A method with its parameters.
pub struct Method {
    /// The features that two documents must share to be a pair.
    pub join: JoinConfig,
    /// Whether the documents of each feature are a set of duplicates, listed as a line in
    /// `sets.jsonl`.
    pub sets: bool,
    /// Whether exact duplicates have features and pairs like all other documents.
    pub keeps_duplicates: bool,
    /// A limitation that users of the results need to know.
    pub warning: Option<String>,
    /// A file on which the results depend besides the parameters and the collection.
    file: Option<PathBuf>,
    prepare: Box<Prepare>,
}

impl Method {
    /// A method that needs statistics of the collection, which `prepare` computes.
    fn new(
        join: JoinConfig,
        prepare: impl Fn(&Workspace, &Context<'_>) -> Result<Keys> + Send + Sync + 'static,
    ) -> Method {
        Method {
            join,
            sets: false,
            keeps_duplicates: false,
            warning: None,
            file: None,
            prepare: Box::new(prepare),
        }
    }

    /// A method that needs no statistics of the collection. `join` says which features two
    /// documents must share, and `append` appends the features of one document ([`Keys::of`]).
    fn plain(
        join: JoinConfig,
        append: impl Fn(&mut Document<'_>, &mut Vec<u64>) + Send + Sync + 'static,
    ) -> Method {
        let keys = Keys::of(append);
        Method::new(join, move |_, _| Ok(keys.clone()))
    }

    /// Computes the statistics of the collection that the method needs.
    ///
    /// # Errors
    /// Those of the stages that it runs.
    pub fn prepare(&self, collection: &Workspace, context: &Context<'_>) -> Result<Keys> {
        (self.prepare)(collection, context)
    }
}

/// Computes features of documents.
#[derive(Clone)]
pub struct Keys {
    append: Arc<Append>,
    /// Memory that the statistics of the collection use.
    pub held_bytes: u64,
    /// Small files that describe the statistics and are stored next to the results: name and
    /// content.
    pub files: Vec<(&'static str, String)>,
}

impl Keys {
    /// `append` appends a document's features, in any order, with or without repetitions. The method
    /// ignores and counts documents without features.
    fn of(append: impl Fn(&mut Document<'_>, &mut Vec<u64>) + Send + Sync + 'static) -> Keys {
        Keys {
            append: Arc::new(append),
            held_bytes: 0,
            files: Vec::new(),
        }
    }
}

/// Computes the features of a document, sorted and distinct.
pub struct Keyer<'a> {
    keys: &'a Keys,
    scratch: document::Scratch,
}

impl<'a> Keyer<'a> {
    /// `parse` are the parameters of the collection.
    pub fn new(keys: &'a Keys, parse: &ParseConfig) -> Self {
        Keyer {
            keys,
            scratch: document::Scratch::new(parse),
        }
    }

    /// Replaces `set` with the features of a text, given in the form in which the collection stores
    /// it.
    pub fn keys(&mut self, text: &str, set: &mut Vec<u64>) {
        set.clear();
        let mut document = Document::new(text, &mut self.scratch);
        (self.keys.append)(&mut document, set);
        set.sort_unstable();
        set.dedup();
        if text.len() > LARGE_TEXT {
            // Frees the buffers of a long text before the next document is read.
            self.scratch.shrink();
            set.shrink_to_fit();
        }
    }
}

/// Buffers are freed after a text longer than this number of bytes.
const LARGE_TEXT: usize = 256 << 10;

/// A join that finds all pairs by a measure.
pub fn join_by(measure: Measure, threshold: Threshold) -> JoinConfig {
    JoinConfig::from(Criterion { measure, threshold })
}

/// A join that finds all pairs that share at least this number of features. The threshold does not
/// apply.
pub(crate) fn join_by_shared(least: u32) -> JoinConfig {
    // 1 of 1 is a valid share, so this cannot fail.
    let whole = Threshold::new(1, 1).unwrap_or_else(|| unreachable!());
    join_by(Measure::Shared(least), whole)
}

/// Finds a method by its name.
///
/// # Errors
/// [`Error::BadParameter`], which lists the names of all methods.
pub fn find(name: &str) -> Result<&'static Entry> {
    let found = METHODS.iter().find(|entry| entry.name == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = METHODS.iter().map(|entry| entry.name).collect();
        Error::parameter("method", name).because(format!("the methods are {}", names.join(", ")))
    })
}

pub use lookalike_base::random::mix_key as mix;
