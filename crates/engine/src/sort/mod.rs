//! Stage 6 of 9: sort records into runs.
//!
//! # Source
//! Step 2 of Broder's algorithm as restated by Ye, Wen & Ma 2008, section 2.1: sort the pairs of
//! hash and document by hash, with merge sort, because they do not fit in memory. Run formation by
//! filling and sorting a buffer: Knuth, TAOCP vol. 3, section 5.4. Sorting by distribution: section
//! 5.2.5.
//!
//! # In and out
//! In: [`Record`]s (fingerprint, document) of the sampled representatives. Out: *runs*. Each run is
//! sorted by (fingerprint, document) and stored in blocks of packed columns. Each block has a
//! checksum, and each run has an index of fingerprints, so that a merge can start anywhere in it.
//!
//! # Algorithm
//! 1. The documents are cut into units of consecutive documents, by the sizes of their samples.
//! 2. A worker takes units until its share of the budget is full. Then it spills a run and records
//!    which documents the run covers. Records go straight into buckets by the highest bits of their
//!    keys. A bucket holds about 4,096 records when the buffer is full. Each bucket is sorted on
//!    its own, in cache, by distributing its records over slots by the next bits.
//! 3. A document too large for a buffer becomes a run of its own, because its stored set is already
//!    sorted.
//!
//! With a [`crate::sample::Selection`], the records are those that it chooses. They stay in
//! memory, without runs, if there is room.
//!
//! # Invariants
//! - Every sampled fingerprint of every representative is in exactly one run. Which run depends on
//!   the budget and the threads, but the result of the merge does not.
//! - After a stop, the documents that no committed run covers are planned again.
//! - Keys that crowd into few buckets, or into few slots of a bucket, are sorted by comparison.
//!   This takes more time but no more memory.
//!
//! # Cost
//! Memory: `threads` buffers of 16 bytes per record (32 with MD5), plus one twentieth for partly
//! filled pieces of buckets. Each record is written once, in about 7 bytes (`docs/experiments.md`).
//!
//! # Errors
//! `BudgetTooSmall`; `Corrupt` if the checksum of a stored set fails; `Io` with file and operation.

mod buffer;
mod distribute;
mod form;
mod run;

pub use buffer::{Buffer, Held};
pub use distribute::Distributor;
pub use form::{
    Asked, FormStats, Formed, RunEntry, RunsEntry, open_runs, run as form_runs,
    run_selected as form_selected, spare_bytes,
};
pub use run::{
    BLOCK_RECORDS, Compression, PackedRecords, Packer, Record, RunCursor, RunFile, RunWriter,
};
