//! Pairs on an engine that spreads rows over many machines, such as Apache Spark.
//!
//! # Source
//! The prefix join of [`lookalike_engine::join`], cut into tasks. A lossless filter by prefixes on such an
//! engine: Vernica, Carey & Li 2010. Min-hashes in bands: see [`lookalike_methods`].
//!
//! # In and out
//! The engine has one kind of row: a *place* and a *blob*, which is one binary value with thousands
//! of packed records. An engine pays for rows, not for bytes, so there are few rows. It has to
//! bring all rows of one place into one task, in any order, and to run a failed task again. It
//! needs no other feature.
//!
//! In: texts with identifiers. Out: pairs of identifiers, with the numbers that [`lookalike_engine::pipeline`]
//! finds for the same texts.
//!
//! # Algorithm
//! Each step is a [`Stage`]. Places are *parts* of the documents, by the MD5 of their words, or
//! *ranges* of fingerprints.
//!
//! 1. [`Intake`]: the texts, compressed, to their part. Documents of the same words meet there. With a
//!    condition, those count as the same that also have the same values ([`Rule::class`]).
//! 2. [`Frequencies`] (part): the distinct fingerprints of a part, shortened to 40 bits, to their
//!    ranges. Without size groups, it sends only the least ones, about twice as many as the prefixes
//!    have ([`lookalike_engine::sample::Selection`]). A prefix contains others only if its document
//!    has too few of these. Only the first of several documents with the same words takes part from
//!    here on.
//! 3. [`Classes`] (range): for each fingerprint, a class of its document frequency, back to the
//!    parts. It is a byte for each fingerprint, which compresses to two bits.
//! 4. [`Prefixes`] (part, with the classes): the prefix of each document, without the fingerprints
//!    that were counted in no other document, to their ranges.
//! 5. [`Candidates`] (range): the documents that share a fingerprint of their prefixes, and whose
//!    sizes allow the threshold. Both parts of a pair of documents get it. A long list is cut into
//!    blocks, and each two blocks are a row for [`Blocks`], so no task is quadratic.
//! 6. [`Verify`] (part, with the candidates): compares the sets of two documents of the same part,
//!    and sends the texts of the others to where they meet.
//! 7. [`PartResults`]: compares these.
//!
//! With bands of min-hashes, [`Bands`] replaces the steps 2 to 4.
//!
//! # Invariants
//! - The result depends on nothing but the texts: not on the number of parts, nor on the order of
//!   rows. A task that runs again gives the same rows. So documents are numbered by their MD5
//!   within their part.
//! - Every stage checks that the rows it needs have come, and fails otherwise. An engine that
//!   brings the rows of a place to different tasks causes an error, not a wrong result.
//! - A class that is wrong costs time, never a pair: any order of fingerprints is lossless if it is
//!   the same for all documents. Shortened fingerprints may therefore collide.
//!
//! # Cost
//! Documents are parsed once and shingled up to three times, which costs less than moving their
//! sets: a compressed text takes a third of its set. Memory: [`Config::memory`] for the blobs of a
//! task, which go to a file beyond that; about 150 bytes for each document of a task, 24 for each
//! candidate, and 150 MB for a chunk of fingerprints.

mod blob;
mod candidates;
mod documents;
mod frequencies;
mod graph;
mod merge;
mod prefixes;
#[cfg(test)]
mod tests;
mod verify;

use std::path::PathBuf;
use std::sync::Arc;

use lookalike_base::{Criterion, Error, Result, refuse};
use lookalike_engine::collection::{Rule, SizeGroups};
use lookalike_engine::sample::Sampling;
use lookalike_engine::shingle::ShingleConfig;

pub use blob::Weight;
pub(crate) use blob::put;
pub use candidates::{Blocks, Candidates};
pub use documents::{Intake, Side};
pub use frequencies::{Classes, Frequencies};
pub use graph::Graph;
pub use prefixes::{Bands, Prefixes};
pub use verify::{Found, PartResults, Verify};

/// The parameters of all stages of a job. They have to be the same in every task.
#[derive(Clone)]
pub struct Config {
    /// Tokens, shingles and fingerprints, which must have 64 bits.
    pub shingle: ShingleConfig,
    /// The criterion that a pair must reach.
    pub criterion: Criterion,
    /// The sampling; all but [`Sampling::Broder97`].
    pub sampling: Sampling,
    /// The size groups of the sampling.
    pub size_groups: SizeGroups,
    /// Number of parts, and of ranges: at least 1.
    pub places: u32,
    /// Bytes of blobs that a task keeps in memory.
    pub memory: u64,
    /// Directory for temporary files.
    pub scratch: PathBuf,
    /// Bands and rows of min-hashes, if candidates come from these.
    pub bands: Option<(u32, u32)>,
    /// Whether pairs are made of a query and a document of the collection.
    pub look_up: bool,
    /// The condition that a pair must meet. The document with the lesser identifier comes first.
    pub rule: Option<Arc<Rule>>,
}

impl Config {
    /// Refuses parameters that the stages do not support.
    pub fn check(&self) -> Result<()> {
        self.shingle.check()?;
        self.sampling.check(self.size_groups.count())?;
        if self.sampling == Sampling::Broder97 {
            let why =
                "it drops fingerprints by the length of their lists, which no task knows; use 1/25";
            return refuse("sampling", &self.sampling, why);
        }
        if self.places == 0 {
            return refuse("partitions", "0", "at least 1");
        }
        if self.criterion.measure.of_words() {
            let why = "use resemblance, containment, cosine or dice";
            return refuse("score", self.criterion.measure, why);
        }
        if self.bands.is_some() && self.sampling != Sampling::Full {
            let why = "min-hashes are a sample already; leave it at full";
            return refuse("sampling", &self.sampling, why);
        }
        Ok(())
    }
}

/// A row: where it has to go, and its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The part or the range.
    pub place: u32,
    /// The packed records.
    pub blob: Vec<u8>,
}

/// A step of a job: the part of it that one task does.
///
/// The caller passes all rows of some places, in any order, then calls `step` until it returns
/// false. Each call may add rows to `out`, which are for the next stage.
pub trait Stage: Send {
    /// Takes a row.
    fn take(&mut self, place: u32, blob: &[u8], out: &mut Vec<Row>) -> Result<()>;
    /// Does a piece of the work. Returns whether there is more.
    fn step(&mut self, out: &mut Vec<Row>) -> Result<bool>;
}

/// A range or a part: `value` of 2^64, as one of `places`.
fn place_of(value: u64, places: u32) -> u32 {
    ((u128::from(value) * u128::from(places)) >> 64) as u32
}

/// A number for a document: its part, and its place in the order of the MD5s of the part.
fn document(part: u32, rank: u32) -> u64 {
    u64::from(part) << 32 | u64::from(rank)
}

fn part_of(document: u64) -> u32 {
    (document >> 32) as u32
}

/// An error about a document that is not among this number of documents of a task.
fn absent(stage: &'static str, document: u64, documents: usize) -> Error {
    let (part, rank) = (part_of(document), document as u32);
    let expected = format!("document {rank} of part {part} in the same task");
    bad(stage, expected, format!("{documents} documents"))
}

/// An error about the rows of a stage.
fn bad(stage: &'static str, expected: impl ToString, found: impl ToString) -> Error {
    Error::corrupt(format!("(the rows of the stage {stage})"), "rows").expected(expected, found)
}
