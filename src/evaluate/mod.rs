//! Stage 10 of 10: what was found, held against what is true.
//!
//! # Source
//! Precision and recall of a sampled run against the run that samples nothing: Ye, Wen & Ma 2008,
//! section 5, equations 2 and 3.
//!
//! # In and out
//! In: two pair lists, or a collection and a list of sampling ratios ([`study`]). Out: counts of pairs that
//! are correct, wrong and missed, by size group of the smaller document.

pub mod counts;
pub mod plan;
pub mod study;
pub(crate) mod trial;

pub use counts::Counts;
