//! A sampling ratio for each size group: the smallest that reaches a wanted precision.
//!
//! # Source
//! Ye, Wen & Ma 2008, section 6: precision falls as sampling gets coarser, most of all for small
//! documents, which have few shingles. So each size group gets the smallest ratio that keeps the
//! wanted precision, determined on a subset of the collection.
//!
//! # In and out
//! In: a collection, a target, a list of nested ratios. Out: a [`Plan`]: a ratio for each size
//! group with the measurements behind it, as a small commented TOML file.
//!
//! # Algorithm
//! 1. Find the pairs of the collection (or of a subset) exactly, and again with class 0 of each
//!    ratio, which is the class that a run with the plan uses.
//! 2. Count every found or true pair by ratio and by the size groups of its two documents, once for
//!    each document.
//! 3. From the largest documents to the smallest, give each group the coarsest ratio at which the
//!    lower end of the interval of precision (and of recall, if wanted) reaches the target:
//!    [`Estimate`]. Pairs across groups are counted at the coarser of the two ratios, as a run will
//!    compare them. A group with too few pairs to show anything borrows the pairs of the next
//!    smaller groups, where precision tends to be lower, not higher. If that is still not enough,
//!    the group uses every fingerprint.
//!
//! # The subset
//! Documents are drawn by their MD5, each with the same probability s, whatever the rest of the
//! collection contains. A share s² of the correct pairs remains, and the same share of the false
//! pairs, so ratios between them are unbiased. Drawing similar documents together kept more pairs,
//! but then whole templates of false pairs were either in the subset or missing, and a plan made
//! without them promised too much (`docs/experiments.md`).
//!
//! # Invariants
//! - A plan depends only on the collection and [`PlanConfig`].
//! - If measured on the whole collection, precision and recall are the same as in a run with the
//!   plan on it.
//!
//! # Cost
//! One exact join of the subset at the threshold, one more join for each ratio, and a pass over all
//! sets to draw the subset.
//!
//! # Where we depart from the source
//! The paper uses the measured precision without an interval, within groups only, and as the mean
//! over classes. It splits documents into eleven groups. A group of six pairs shows nothing, and
//! this module says so.
//!
//! # What is not guaranteed
//! The interval concerns pairs like the measured ones, and each group separately: at 95 %, one
//! group in twenty is expected to fall short. Another class, seed or collection needs another plan.

mod cells;
mod choose;
mod estimate;
mod make;
mod run;
pub mod subset;

pub use lookalike_engine::sample::plan::{
    Estimate, Evidence, PLAN_FILE, Plan, PlanConfig, PlannedGroup, Ratio, Subset, Target,
};
pub use lookalike_engine::sample::plan_file::{HEAD, read, write};
pub use make::{for_collection, keep, make, run_with_plan, write_file};
pub use run::{DIRECTORY, PlanCost, Planned, run, run_all};

/// Name of the stage in progress and messages.
pub const STAGE: &str = "plan";

/// If sampling saves a smaller share than this of a whole run, an exact answer is better value.
const WORTH_SAVING: f64 = 0.25;

/// CPU seconds below which times differ by chance.
const LEAST_SECONDS: f64 = 0.1;

/// The share of a whole run that sampling saves, in CPU seconds, and whether this justifies an
/// inexact answer; `None` if the exact run takes too little time to tell.
pub fn saving(reading: f64, exact: f64, sampled: f64) -> Option<(f64, bool)> {
    let saved = (exact - sampled) / (reading + exact);
    (exact >= LEAST_SECONDS).then_some((saved.max(0.0), saved >= WORTH_SAVING))
}
