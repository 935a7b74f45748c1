//! Stage 7 of 9: merge sorted runs into shared postings.
//!
//! # Source
//! Step 2 of Broder's algorithm (Broder, Glassman, Manasse & Zweig 1997) as restated by Ye, Wen &
//! Ma 2008, section 2.1. Distribution by the keys themselves, which are random: Knuth, TAOCP vol.
//! 3, section 5.2.5. Tree of losers: section 5.4.1. Dropping fingerprints that occur in one
//! document only, because they cannot contribute to a pair: Bernstein & Zobel 2006, section 5 (they
//! find these fingerprints by an estimate; we find them exactly).
//!
//! # In and out
//! In: R runs of records, each sorted by (fingerprint, document).
//!
//! Out: *shared postings*. They list every fingerprint that occurs in two or more documents, in
//! fingerprint order, each with its documents in ascending order. There is one part for each range
//! of fingerprints. The merge counts and drops fingerprints that occur in one document only.
//!
//! # Algorithm
//! 1. While R > F (the fan-in), merge F runs of the lowest generation into one of the next.
//! 2. Cut the fingerprints into ranges of equal width; merge each range of all runs on its own,
//!    batch by batch. Ranges are merged in parallel and committed one by one.
//! 3. A batch consists of all records whose key is below the least first key of any run's next
//!    block. All of them lie in the blocks that are already decoded. The merge distributes them
//!    over slots by their keys, in cache, and sorts the records within each slot. If a key
//!    continues from one block of a run into the next, the merge collects the records of this key
//!    from all runs separately.
//! 4. A tree of losers merges counted pairs, because their equal keys become one record.
//!
//! Selected records that are held in memory become postings without runs ([`run_held`]). If all records
//! fit in memory within a few passes over the fingerprint sets, [`direct`] makes the postings without
//! runs.
//!
//! # Invariants
//! - Ties go to the lower document: same bytes for every budget, fan-in and thread count.
//! - The number of ranges depends only on the number of records.
//! - Records in = documents listed + fingerprints that occur in one document only.
//! - Runs are removed only after the postings are committed.
//!
//! # Cost
//! Memory, for each thread: one decoded block of each run; room for the same number of records in a
//! batch (about 4,096 if the keys are random, and for any keys at most what the blocks hold); and
//! posting lists of up to 262,144 documents. Once for all threads: a longer list, with 5 bytes per
//! document. Each record is read once, and written
//! and read once more for each generation.
//!
//! # Where we depart from the source
//! The result is the paper's. Cutting it by ranges, and merging by batches, are ours.
//!
//! # Errors
//! `Corrupt` when a checksum or a count is wrong (`verify` also checks the order);
//! `BudgetTooSmall`; `Io` with file and operation.

mod batches;
pub mod direct;
mod generations;
mod losers;
mod postings;
mod ranges;
mod stage;

pub use batches::{Batches, Merged};
pub use generations::{Generations, fan_in, merge_generations};
pub use losers::{LoserTree, Sums};
pub use postings::{PackedBlock, PostingsBlock, PostingsDecoder, PostingsReader, PostingsWriter};
pub use ranges::{AllPostings, LongLists, MergeStats, PostingsEntry, stats};
pub use stage::{held_bytes, run, run_held};

const STAGE: &str = "merge";
