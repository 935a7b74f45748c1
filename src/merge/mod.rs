//! Stage 7 of 10: merge sorted runs into shared postings.
//!
//! # Source
//! Step 2 of Broder's algorithm (Broder, Glassman, Manasse & Zweig 1997) as restated by Ye, Wen &
//! Ma 2008, section 2.1. Distribution by the keys themselves, which are random: Knuth, TAOCP vol. 3,
//! section 5.2.5. Tree of losers: section 5.4.1. That fingerprints of one document alone join no pair
//! and need not be kept: Bernstein & Zobel 2006, section 5 (there by estimate, here exactly).
//!
//! # In and out
//! In: R runs of records, each sorted by (fingerprint, document). Out: *shared postings*: every
//! fingerprint of two documents or more, with its documents ascending, in fingerprint order, one
//! part for each range of fingerprints. Fingerprints of one document are counted and dropped.
//!
//! # Algorithm
//! 1. While R > F (the fan-in), merge F runs of the lowest generation into one of the next.
//! 2. Cut the fingerprints into ranges of equal width; merge each range of all runs on its own, batch
//!    by batch. Ranges are merged in parallel and committed one by one.
//! 3. A batch is all records below the least key that any run's next block begins with: they lie in
//!    the blocks that are decoded now. They are distributed over slots by their keys, in cache, and
//!    what shares a slot is put in order. A key that goes on from a block of a run into the next is
//!    collected from all runs on its own.
//! 4. Counted pairs, whose equal keys become one record, are merged by a tree of losers.
//!
//! Where memory takes all records in a few passes over the sets there are no runs: [`direct`]. Either way
//! each document's fingerprints are counted by class of document frequency as lists are made: its
//! *profile*, which the prefix join begins with.
//!
//! # Invariants
//! - Ties go to the lower document: same bytes for every budget, fan-in and thread count.
//! - The number of ranges depends on the number of records alone.
//! - Records in = documents listed + fingerprints of one document. Runs go only after the postings
//!   are committed.
//!
//! # Cost
//! Memory: for each thread one decoded block of each run, room for as many records in a batch (some
//! 4,096 of random keys, no more than the blocks hold of any), and the longest posting list (at most 4
//! bytes a document). Each record is read once, and written and read once more for each generation.
//!
//! # Where we depart from the source
//! The result is the paper's. Cutting it by ranges, and merging by batches, are ours.
//!
//! # Errors
//! `Corrupt` when a checksum or a count fails (`verify` checks the order too); `BudgetTooSmall`; `Io` with file and operation.

mod batches;
pub mod direct;
mod generations;
mod losers;
mod postings;
pub(crate) mod profile;
mod stage;

pub use batches::{Batch, Batches};
pub use generations::{Combine, Generations, fan_in, merge_generations};
pub use losers::LoserTree;
pub use postings::{PackedBlock, PostingsBlock, PostingsDecoder, PostingsReader, PostingsWriter};
pub(crate) use profile::profile_bytes;
pub(crate) use stage::runs_at_once;
pub use stage::{MergeStats, PostingsEntry, run};
