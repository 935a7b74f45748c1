//! Near-duplicate documents in collections that do not fit in memory.
//!
//! The library finds all pairs of documents whose resemblance reaches a threshold, and groups them
//! into clusters. It keeps its data on disk and stays within a memory budget.
//!
//! Texts in memory:
//!
//! ```
//! let texts = ["A cat sat on the mat.", "Something else.", "A cat sat on the mat, too."];
//! let options = lookalike::Options::default().threshold(0.5).shingle_size(3);
//! for pair in lookalike::find_pairs(&texts, options)? {
//!     println!("{} and {}: {}", pair.a, pair.b, pair.resemblance);
//! }
//! # Ok::<(), lookalike::Error>(())
//! ```
//!
//! Files of any size: [`Collection`]. The programs in `examples/` show both, and additions,
//! look-ups and deduplication.
//!
//! # Crates
//! The code stands as crates in `crates/`. A crate uses only those that stand before it in this
//! list, and the modules of a crate also have an order. cargo and `tests/architecture.rs` see to it.
//!
//! - [`base`]: values, errors, limits, progress, threads
//! - [`store`]: the binary files that FORMAT.md describes, and the output directory
//! - [`source`]: the bytes of an input, decompressed, bounded and checked
//! - [`text`]: inputs -> documents -> tokens (stages 1 and 2)
//! - [`rewrite`]: inputs again, with records removed or changed
//! - [`engine`]: tokens -> pairs -> clusters (stages 3 to 9), and the pipeline
//! - [`methods`]: the methods of the literature, on the stages of the engine
//! - [`tasks`]: look-ups, evaluation, deduplication, passages, contamination
//!
//! This crate has the rest:
//!
//! - [`report`]: the ledger, report pages and graphs
//! - `facade`: [`find_pairs`] and [`Collection`]
//! - [`cli`]: the command line, for the program and for other hosts
//!
//! The laboratory stands above it, a program of its own: everything that runs the pipeline several
//! times to measure something.
//!
//! # Guarantees
//! The library never prints, exits, or reads the environment, except in [`cli`]. One exception:
//! [`find_pairs`], [`Collection::query`] and what only reads a directory use the system's directory
//! for temporary files, unless they are given another one.
//!
//! It runs on Unix only, because it relies on POSIX to map files into memory, to lock and sync
//! directories, and to wait for standard input.
#![deny(missing_docs)]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod cli;
mod facade;
pub mod report;

pub use lookalike_base as base;
pub use lookalike_engine as engine;
pub use lookalike_methods as methods;
pub use lookalike_rewrite as rewrite;
pub use lookalike_source as source;
pub use lookalike_store as store;
pub use lookalike_tasks as tasks;
pub use lookalike_text as text;

pub use base::budget::{ByteSize, Disk};
pub use base::error::{Error, Result};
pub use base::progress::{Progress, Stop};
pub use engine::cluster::{Member, MemberKind};
pub use facade::{Cluster, Collection, Options, Pair, ResultTable, Results, find_pairs};
pub use report::page::PageConfig;
pub use tasks::dedup::DedupConfig;
pub use tasks::passages::PassagesConfig;
pub use tasks::query::QueryConfig;
pub use text::parse::TokenKind;
pub use text::read::Markup;
