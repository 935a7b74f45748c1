//! The laboratory: everything that runs the pipeline several times to measure something.
//!
//! - [`study`]: precision and recall of every sampling ratio (Ye, Wen & Ma 2008, sections 5 and 6).
//! - [`transfer`]: the labels of documents for their near-duplicates in another collection.
//! - [`qrels`]: near-duplicates in judgements and rankings.
//! - [`compare`]: the methods of the papers side by side.
//! - [`effect`]: what near-duplicates do to the metrics of retrieval systems.
//! - [`perturb`]: corpora with known pairs.
//! - [`formulas`]: the values that the papers predict.
//! - [`reproduce`]: the tables and figures of the papers on a collection.
//! - [`report`]: all of this for readers.
//! - [`cli`]: the program `lookalike-lab`, which `lookalike lab` starts.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod cli;
pub mod compare;
pub mod effect;
pub mod formulas;
pub mod perturb;
pub mod qrels;
pub mod report;
pub mod reproduce;
pub mod study;
pub mod transfer;
