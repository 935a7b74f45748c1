//! A sampling ratio for each size group: the least that is enough for a wanted precision.
//!
//! # Source
//! Ye, Wen & Ma 2008, section 6: precision falls with the sampling ratio, and most for small documents,
//! which have few of all shingles. So each size group gets the smallest ratio that keeps the
//! precision asked for, found on a subset of the collection.
//!
//! # In and out
//! In: a collection, a target, a list of ratios that nest. Out: a [`Plan`]: a ratio for each size group
//! with what was measured, as a small commented TOML file.
//!
//! # Algorithm
//! 1. The pairs of the collection (or of a subset) are found exactly, and with class 0 of each ratio, which is
//!    the class that a run with the plan takes.
//! 2. Every pair that is found or true is counted by ratio and by the size groups of its two documents, for
//!    either document.
//! 3. From the largest documents to the smallest, each group gets the coarsest ratio of which the lower end
//!    of the interval of precision (and recall, if asked) is at or above the target: [`Estimate`]. Pairs
//!    across groups are taken on the coarser of two ratios, as they will be compared. A group with too
//!    few pairs to show anything borrows those of the next smaller groups, where precision is lower rather than
//!    higher; if that does not show it either, it takes every fingerprint.
//!
//! # The subset
//! Documents are drawn by their MD5, each with the same probability s, whatever else there is. Of the pairs,
//! s² are left, right and wrong ones alike, so that shares of them are unbiased. Drawing alike documents
//! together left more pairs, but whole templates of wrong ones were in the subset or not at all, and
//! a plan without them promised too much (`docs/experiments.md`).
//!
//! # Invariants
//! - A plan depends on collection and [`PlanConfig`] alone.
//! - Measured on the whole collection, precision and recall are those that a run with the plan has there.
//!
//! # Cost
//! One exact join of the subset at the threshold, and one for each ratio; a pass over all sets to draw it.
//!
//! # Where we depart from the source
//! The paper takes measured precision as it is, within groups only, and as the mean over classes. It
//! splits documents into eleven groups; a group of six pairs says nothing, and here it is told so.
//!
//! # What is not promised
//! The interval is about pairs like those measured, for each group apart: at 95 %, one group in twenty is
//! expected to fall short. Another class, seed or collection needs another plan.

mod cells;
mod choose;
mod estimate;
mod make;
mod run;
pub(crate) mod subset;

pub use crate::sample::plan::{
    Estimate, Evidence, PLAN_FILE, Plan, PlanConfig, PlannedGroup, Ratio, Subset, Target, read,
    write,
};
pub use make::{for_collection, keep, make, run_with_plan, write_file};
pub(crate) use run::run_all;
pub use run::{DIRECTORY, PlanCost, Planned, run};

/// What the stage is called in progress and messages.
pub const STAGE: &str = "plan";
