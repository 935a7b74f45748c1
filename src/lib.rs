//! Near-duplicate documents in collections that do not fit in memory.
//!
//! The library finds all pairs of documents whose resemblance reaches a threshold, and groups them
//! into clusters. It keeps its data on disk and stays within a memory budget.
//!
//! # Rooms
//! A room uses only the rooms that stand before it in this list, and within a room the modules have
//! an order, too; `tests/architecture.rs` enforces both.
//!
//! - [`base`]: values, errors, limits, progress, threads
//! - [`store`]: the binary files that FORMAT.md describes, and the output directory
//! - [`text`]: inputs -> documents -> tokens (stages 1 and 2)
//! - [`engine`]: tokens -> pairs -> clusters (stages 3 to 9), the pipeline, and the methods of the
//!   literature
//! - [`tasks`]: look-ups, evaluation, deduplication, passages, contamination
//! - [`lab`]: everything that runs the pipeline several times to measure something
//! - [`report`]: the ledger, report pages and graphs
//! - [`cli`]: the command line, for the program and for other hosts
//!
//! # Guarantees
//! The library never prints, exits, or reads the environment, except in [`cli`].
//!
//! It runs on Unix only, because it relies on POSIX to map files into memory, to lock and sync
//! directories, and to wait for standard input.
#![deny(missing_docs, unsafe_code)]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod base;
pub mod cli;
pub mod engine;
pub mod lab;
pub mod report;
pub mod store;
pub mod tasks;
pub mod text;

pub use base::error::{Error, Result};
