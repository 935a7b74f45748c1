//! From tokens to pairs and clusters, in bounded memory.
//!
//! The stages that follow [`read`](lookalike_text::read) and [`parse`](lookalike_text::parse):
//!
//! 3. [`shingle`]: tokens -> fingerprint sets
//! 4. [`collection`]: fingerprint sets -> the collection on disk, and its exact duplicates
//! 5. [`sample`]: collection -> the sampled `<fingerprint, document>` records
//! 6. [`sort`]: records -> sorted runs
//! 7. [`merge`]: sorted runs -> shared postings
//! 8. [`join`]: shared postings -> the pair list
//! 9. [`cluster`]: pair list -> clusters, and the result files
//!
//! [`pipeline`] runs them in order over an output directory and reuses committed stages. `trial`
//! runs them again with other parameters, in a directory of its own. A method of the literature
//! replaces the shingles of a document by its own features; the stages from the sort on are the
//! same. [`align`] says where two texts agree, and [`table`] reads lists and result files row by row. [`index`] finds the documents that have a fingerprint, and `document` finds one
//! document by its name. [`excluded`] reads texts whose shingles count for no document. [`outputs`]
//! checks that a command may write to the path that the user gave.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![allow(
    clippy::should_implement_trait,
    reason = "the `next` of an iterator cannot fail"
)]

pub mod align;
pub mod cluster;
pub mod collection;
pub mod document;
pub mod excluded;
pub mod index;
pub mod join;
pub mod merge;
pub mod outputs;
pub mod pipeline;
pub mod sample;
pub mod scan;
pub mod shingle;
pub mod sort;
pub mod table;
pub mod trial;
