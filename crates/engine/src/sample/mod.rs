//! Stage 5 of 9: choose which fingerprints of which documents take part.
//!
//! # Source
//! Sampling by hash value: Broder, Glassman, Manasse & Zweig 1997 and Ye, Wen & Ma 2008,
//! section 4.4, where the trials of ratio 1/n take the fingerprints of one remainder modulo n.
//!
//! # In and out
//! In: the collection and a [`Sampling`]. Out: for each level of the sampling, one column with the
//! size of each document's sample (0 for documents that are not representatives). The records
//! themselves are cut from the stored sets by [`Rate::bounds`] when runs are formed (stage 6).
//!
//! # Algorithm
//! A fingerprint h of b bits is in class floor(h n / 2^b) of n. Each class is a contiguous slice of
//! a sorted set, and two binary searches find it.
//!
//! If only pairs from a threshold on are wanted, a [`Selection`] says which of the sampled
//! fingerprints enter the sort. It is made when they are sorted, and recorded with the sorted
//! records.
//!
//! # Invariants
//! - If n divides m, each class of m lies within one class of n. So two documents of different
//!   ratios can be compared on the coarser ratio, and their shared sampled fingerprints are exactly
//!   those of that ratio.
//! - With [`Sampling::Full`] the sample is the whole set.
//!
//! # Where we depart from the source
//! The class in the papers is h mod n, whose classes are not slices of a sorted set. On uniform
//! hashes, both definitions give random samples of the same size.

mod config;
mod estimate;
pub mod plan;
pub mod plan_file;
mod select;
mod stage;

pub use config::{Levels, Sampling};
pub use estimate::Expected;
pub use lookalike_base::rate::Rate;
pub use select::{Chooser, KEYS_OF_A_CHOICE, PARTS, SelectStats, Selection, Selector, Sets};
pub use stage::{PlanGiven, SampleEntry, SampleStats, Sampled, digest, run};
