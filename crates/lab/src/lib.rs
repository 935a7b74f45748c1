//! The laboratory: everything that runs the pipeline several times to measure something.
//!
//! - [`study`]: precision and recall of every sampling ratio (Ye, Wen & Ma 2008, sections 5 and 6).
//! - [`transfer`]: the labels of documents for their near-duplicates in another collection.
//! - [`compare`]: the methods of the papers side by side.
//! - [`perturb`]: corpora with known pairs.
//! - [`formulas`]: the values that the papers predict.
//! - [`reproduce`]: the tables and figures of the papers on a collection.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod compare;
pub mod formulas;
pub mod perturb;
pub mod reproduce;
pub mod study;
pub mod transfer;
