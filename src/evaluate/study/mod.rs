//! What sampling costs in precision and recall, by document size, for every class of every ratio.
//!
//! # Source
//! Ye, Wen & Ma 2008, sections 4 and 5.

pub mod results;

pub use results::{Levels, PairTable, Study, StudyConfig, Trial, TrialGroup};
