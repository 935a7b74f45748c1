//! The laboratory: everything that runs the pipeline several times to measure something.
//!
//! - [`study`]: precision and recall of every sampling ratio (Ye, Wen & Ma 2008, sections 5 and 6).
//! - [`plan`]: a sampling ratio for each size group.
//! - [`compare`]: the methods of the papers side by side.
//! - [`perturb`]: corpora with known pairs.
//! - [`formulas`]: the values that the papers predict.
//! - [`reproduce`]: the tables and figures of the papers on a collection.

pub mod compare;
pub mod formulas;
pub mod perturb;
#[path = "../../tasks/src/plan/mod.rs"]
pub mod plan;
pub mod reproduce;
pub mod study;
