//! What sampling costs in precision and recall, by document size, for every class of every ratio.
//!
//! # Source
//! Ye, Wen & Ma 2008, sections 4 and 5: a sampling ratio 1/n is tried with each of its n classes; the run
//! that samples nothing is the truth.
//!
//! # In and out
//! In: a collection. Out: a [`Study`]: for each trial and size group, pairs by the thresholds that their
//! estimated and their true resemblance reach, and what was sampled; and the files of `study/` (FORMAT.md).
//!
//! # Algorithm
//! 1. The exact pairs at the lowest threshold are listed; where the directory has the postings already,
//!    from these.
//! 2. A trial is what `--sampling 1/n:class` does, at the lowest threshold, in a directory of its own
//!    over the same collection. Its pair list and the exact one are in the same order; they are read side by
//!    side, and every pair is counted in a table of estimated by true threshold. So one trial serves
//!    all thresholds, and verified sampling with any margin too.
//! 3. A finished trial is a small file; a study that is stopped goes on with the trial it was in.
//! 4. Plans ([`crate::experiments::plan`]) for three precisions are made on the whole collection and run like trials, and
//!    all is put side by side with the exact run ([`Comparison`]). Tables and figures are written ([`crate::report::figures`]).
//!
//! # Invariants
//! - What is counted depends on the collection and the lists of ratios and thresholds alone.
//!
//! # Cost
//! One exact join at the lowest threshold, and for each ratio 1/n n joins of an n-th of the records.
//! Memory: 17 bytes a document and the tables, 16 (thresholds + 1)² bytes for each trial and size group, beside what
//! a join takes.
//!
//! # Where we depart from the source
//! The paper compares documents of the same size group only. Here pairs across groups count too, apart,
//! in the group of the smaller document.

mod comparison;
pub mod results;
mod run;

pub use crate::precision::{Levels, PairTable};
pub(crate) use comparison::saving;
pub use comparison::{Comparison, Row, Spread, comparison};
pub use results::{Study, StudyConfig, StudyFile, Trial, TrialGroup};
pub(crate) use run::USUAL;
pub use run::{COST_FILE, DIRECTORY, FORMAT, PlannedTrial, STAGE, StudyCost, run, write};
