//! Stage 6 of 10: records into sorted runs.
//!
//! # Source
//! Step 2 of Broder's algorithm as restated by Ye, Wen & Ma 2008, section 2.1: pairs of hash and
//! document, sorted by hash, by merge sort because they are larger than memory. Run formation by
//! filling and sorting a buffer: Knuth, TAOCP vol. 3, section 5.4; by distribution: section 5.2.5.
//!
//! # In and out
//! In: [`Record`]s (fingerprint, document) of the sampled representatives. Out: *runs*, each sorted
//! by (fingerprint, document), in blocks of packed columns with a checksum each, and with an index
//! of fingerprints so that a merge can start anywhere in it.
//!
//! # Algorithm
//! 1. The documents are cut into units of consecutive documents, by their sample sizes.
//! 2. A worker takes units until its share of the budget is full, and spills a run that says which
//!    documents it covers. Records go at once into buckets by the highest bits of their keys, of
//!    some 4,096 when the buffer is full; each bucket is sorted on its own, in cache, by distributing
//!    it over slots by the next bits.
//! 3. A document too large for a buffer is a run of its own: its stored set is sorted already.
//!
//! # Invariants
//! - Every sampled fingerprint of every representative is in exactly one run. Which run depends on
//!   budget and threads; what the merge makes of the runs does not.
//! - After a stop, the documents that no committed run covers are planned anew.
//! - Keys that crowd into few buckets, or few slots of one, cost a sort by comparison, and no memory.
//!
//! # Cost
//! Memory: `threads` buffers of 16 bytes a record (32 with MD5), and a twentieth more for pieces of
//! buckets that are not full. Each record is written once, about
//! 7 bytes (`docs/experiments.md`).
//!
//! # Errors
//! `BudgetTooSmall`; `Corrupt` when a stored set's checksum fails; `Io` with file and operation.

mod buffer;
mod distribute;
mod form;
mod run;

pub use buffer::Buffer;
pub use distribute::Distributor;
pub(crate) use form::run_records;
pub use form::{FormStats, RunEntry, RunsEntry, run as form_runs};
pub use run::{BLOCK_RECORDS, Compression, Record, RunCursor, RunFile, RunWriter};
