//! Stage 4 of 9: the collection on disk.
//!
//! # In and out
//! In: the inputs. Out, for each segment: its documents (name, address, place in the input, words,
//! MD5 ...), their fingerprint sets, the rejects, and, if requested, their text. Out, over all
//! documents: the catalogue, which holds the docnos by number, the representative of each document,
//! and the size of each stored set.
//!
//! # Algorithm
//! 1. The inputs are cut into units: consecutive files, or pieces of a large one. Each unit has
//!    segments of its own. Their boundaries depend on nothing but the input.
//! 2. A thread reads a unit: it frames records (stage 1) into batches of about a megabyte, parses
//!    and shingles them (stages 2 and 3), appends them to the segment's three parts (four with
//!    text), and commits each segment when it is complete.
//! 3. Threads without a unit shingle batches of others, in any order. They are written in the order
//!    of the input.
//! 4. When all segments are committed, external sorts of the MD5s and the docnos find exact
//!    duplicates and repeated docnos.
//!
//! # Invariants
//! - Documents are numbered in input order, whatever the threads do.
//! - The set of a document whose MD5 was seen recently in its unit is not stored again: the
//!   document can only be an exact duplicate, and exact duplicates are not compared. "Recently" is
//!   a table of fixed size, so the bytes on disk depend on nothing but the input. Text is kept for
//!   exactly the documents whose sets are stored. If fields are kept, all sets are stored, because a
//!   condition may tell documents with equal words apart.
//! - The budget bounds the data in flight, counting each byte at its worst case.
//!
//! # Cost
//! Memory: the budget. If the worst case of a document does not fit, the writer shingles the
//! document in several passes over ranges of fingerprints, straight into the part.
//!
//! # Where we depart from the source
//! Exact duplicates come first: Ye, Wen & Ma 2008, section 4.2. The segment is the unit of
//! checkpoints, and the batch is what threads share. So one gzip file keeps several cores busy, and
//! the bytes of a segment never need to be in memory at once.

mod blocks;
mod catalogue;
mod column;
mod condition;
mod conditions;
mod config;
mod documents;
mod each_set;
mod ingest;
mod loaded;
mod names;
mod places;
mod records;
mod same;
mod segment;
mod sets;
mod since;
mod text_digest;
mod texts;

pub(crate) use blocks::decompress;
pub use catalogue::{
    Catalogue, CatalogueStats, Extent, GroupStats, RepresentativeReader, Representatives,
    each_document, each_document_of, each_md5, run as catalogue,
};
pub use column::{Column, ColumnBuilder, ColumnReader};
pub use condition::{Condition, Rule};
pub use conditions::{Conditions, Tried, check as check_condition, each_value};
pub use config::{CollectionConfig, SizeGroups};
pub use documents::{
    DocumentReader, DocumentRecord, DocumentView, DocumentWriter, KeptFields, RejectReader,
    RejectWriter,
};
pub use each_set::each_set;
pub use ingest::{Reread, SegmentStats, Share, least_memory, require_memory, run as ingest};
pub use loaded::{LoadedSets, Wanted};
pub use names::{Captured, Names};
pub use places::{
    InputRecord, InputRecords, damaged, each_place, each_place_with_others, each_unread,
};
pub(crate) use records::not_stored;
pub use records::{
    Addition, Additions, Against, CatalogueBefore, CatalogueEntry, CatalogueLevel, Cursor,
    Ingested, SegmentEntry, Segments, against, begin, begin_addition, beside, config,
    has_all_shingles, has_captures, ingested, insert_segment, origin, other_number, own_segments,
    segment_of, segments, segments_mut, standing_on,
};
pub use same::SharedTexts;
pub use segment::SegmentWriter;
pub use sets::{
    Looking, MappedSets, SET_BLOCK_BYTES, SetBlock, SetFile, SetReader, SetWriter, SetsInOrder,
    within_le,
};
pub(crate) use sets::{keys_of, position};
pub use since::Since;
pub use text_digest::{Sameness, TextDigest};
pub use texts::{TEXT_BLOCK_BYTES, TextReader, TextWriter};
