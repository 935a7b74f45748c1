//! Measures the effect of sampling on precision and recall, by document size, for every class of
//! every ratio.
//!
//! # Source
//! Ye, Wen & Ma 2008, sections 4 and 5: a sampling ratio 1/n is tried with each of its n classes;
//! the run without sampling is the ground truth.
//!
//! # In and out
//! In: a collection. Out: a [`Study`], and the files of `study/` (FORMAT.md). For each trial and
//! size group, the study has the number of pairs by the thresholds that their estimated and true
//! resemblance reach, and the number of sampled shingles.
//!
//! # Algorithm
//! 1. List the exact pairs at the lowest threshold, from the postings if the directory already has
//!    them.
//! 2. Run each trial: the equivalent of `--sampling 1/n:class`, at the lowest threshold, in its own
//!    directory over the same collection. Its pair list and the exact one have the same order, so
//!    the study reads them side by side and counts every pair in a table of estimated by true
//!    threshold. One trial thus serves all thresholds, and verified sampling with any margin.
//! 3. Write a small file for each finished trial. An interrupted study resumes with the trial that
//!    it was running.
//! 4. Make plans ([`lookalike_tasks::plan`]) for three precisions on the whole collection, run
//!    them like trials, and compare everything with the exact run ([`StudyComparison`]). Write
//!    tables (`report::study_tables`).
//!
//! # Invariants
//! - The counts depend only on the collection and the lists of ratios and thresholds.
//!
//! # Cost
//! One exact join at the lowest threshold, and for each ratio 1/n, n joins of 1/n of the records.
//! Memory: 17 bytes per document and the tables, in addition to the memory of a join. The tables
//! take 16 (thresholds + 1)² bytes for each trial and size group.
//!
//! # Where we depart from the source
//! The paper compares only documents of the same size group. Here pairs across groups count too,
//! separately, in the group of the smaller document.

mod adaptive;
mod comparison;
mod fit;
mod ratios;
pub mod results;
mod run;
mod view;

pub use adaptive::{Adaptive, adaptive};
pub use comparison::{StudyComparison, Way, comparison};
pub(crate) use fit::line;
pub use fit::{PowerLaw, power_law};
pub use lookalike_base::precision::{PairTable, Reached};
pub use ratios::{GroupRatios, ROUNDING, TARGETS, has_pairs, plans};
pub use results::{PlannedTrial, Study, StudyConfig, StudyCost, Trial, TrialGroup, USUAL};
pub(crate) use run::collection_digest;
pub use run::{COST_FILE, DIRECTORY, FORMAT, PAGE_FILE, STAGE, load, run, write};
pub use view::Moments;
pub(crate) use view::{ClassSpread, Metric, PairKind, RatioTrials, Scope, View, mean, ratio_name};
