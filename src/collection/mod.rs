//! Stage 4 of 10: the collection on disk.
//!
//! # In and out
//! In: the inputs. Out: for each segment, its documents (name, address, place in the input, words,
//! MD5 ...), their fingerprint sets, what was rejected, and their text where it is to be kept; then, over
//! all documents, the catalogue: docnos by number, the representative of each document, the size of each
//! stored set.
//!
//! # Algorithm
//! 1. One reader frames records (stage 1) into batches of about a megabyte and cuts the stream into
//!    segments, a boundary that depends on nothing but the input.
//! 2. Workers parse and shingle batches (stages 2 and 3) in whatever order they get them.
//! 3. One writer puts the results back in input order, appends them to the segment's three parts (four
//!    with text), and commits a segment when it is whole.
//! 4. When all is in, MD5s and docnos are sorted (externally) to find exact duplicates and docnos
//!    that occur twice.
//!
//! # Invariants
//! - Documents are numbered in input order, whatever the threads do.
//! - The set of a document whose MD5 has been seen lately is not stored again: it can only be an
//!   exact duplicate, which takes no part. "Lately" is a table of fixed size, so the bytes on disk
//!   depend on nothing but the input. Text is kept of the documents whose sets are stored.
//! - What is between reader and writer is bounded by the budget, by the worst case of each byte.
//!
//! # Cost
//! Memory: the budget. A document too large for its worst case to fit is shingled by the writer in
//! several passes over ranges of fingerprints, straight into the part.
//!
//! # Where we depart from the source
//! Exact duplicates first: Ye, Wen & Ma 2008, section 4.2. The segment is the unit of checkpoint,
//! the batch (not the segment) that of work: so one gzip file keeps all cores busy and a segment's
//! bytes never need to be in memory at once.

mod blocks;
mod catalogue;
mod config;
mod documents;
mod ingest;
mod records;
mod sets;
mod texts;

pub(crate) use catalogue::each_document;
pub use catalogue::{Catalogue, CatalogueStats, Column, GroupStats, Names, run as catalogue};
pub use config::{CollectionConfig, SizeGroups};
pub use documents::{DocumentReader, DocumentRecord, DocumentWriter, RejectReader, RejectWriter};
pub use ingest::{SegmentStats, least_memory, run as ingest};
pub use records::{
    CatalogueEntry, Cursor, Ingested, SegmentEntry, Segments, begin, beside, config, ingested,
    segments, segments_mut, standing_on,
};
pub(crate) use sets::position;
pub use sets::{Looking, MappedSets, SET_BLOCK_BYTES, SetReader, SetWriter};
pub(crate) use texts::TEXT_ZSTD_LEVEL;
pub use texts::{TEXT_BLOCK_BYTES, TextReader, TextWriter};
