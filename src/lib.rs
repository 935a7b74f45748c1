//! Near-duplicate documents in collections that do not fit in memory.
//!
//! The library finds all pairs of documents whose resemblance reaches a threshold, and groups them
//! into clusters. It keeps its data on disk and stays within a memory budget.
//!
//! # Layers
//! The library is built in layers, listed here from the ground up. A module uses only modules that
//! stand before it in this list; `tests/architecture.rs` enforces this.
//!
//! **Ground modules** know nothing of the pipeline: [`ids`], `random`, [`rate`], [`numbers`],
//! [`byte_size`], [`resource`], [`error`], [`budget`], [`measure`], [`precision`], [`union_find`],
//! `utf8`, [`process`], [`progress`] and [`limits`].
//!
//! **[`store`]** reads and writes the binary files that FORMAT.md describes.
//!
//! **[`workspace`]** manages the output directory: its lock, its input list, and its manifest of
//! named records. A stage defines its own records, and the manifest stores them without knowing
//! them.
//!
//! **Stages** transform the data one after the other:
//!
//! 1. [`read`]: inputs -> raw documents, in batches
//! 2. [`parse`]: raw documents -> canonical text and tokens
//! 3. [`shingle`]: tokens -> fingerprint sets
//! 4. [`collection`]: fingerprint sets -> the collection on disk, and its exact duplicates
//! 5. [`sample`]: collection -> the sampled `<fingerprint, document>` records
//! 6. [`sort`]: records -> sorted runs
//! 7. [`merge`]: sorted runs -> shared postings
//! 8. [`join`]: shared postings -> the pair list
//! 9. [`cluster`]: pair list -> clusters, and the result files
//!
//! **[`outputs`]** checks that a command may write to the path that the user gave.
//!
//! **[`pipeline`]** runs the stages in order over an output directory and reuses committed stages.
//!
//! **[`methods`]** implements the other methods of the literature. Each one replaces the shingles
//! of a document by features of its own; the stages from the sort on stay the same.
//!
//! **[`experiments`]**, **[`evaluate`]** and **[`query`]** use the pipeline and are independent of
//! each other. [`experiments`] runs the pipeline several times: sampling studies and plans,
//! comparisons of methods, corpora with known pairs. [`evaluate`] computes precision and recall
//! from two pair lists, and checks relevance judgements for contradictions within clusters.
//! [`query`] finds the documents of a collection that resemble or contain new ones.
//!
//! **[`transfer`]** gives the labels of documents to their near-duplicates in another collection,
//! with [`evaluate`] and [`query`].
//!
//! **[`passages`]** finds the text that documents share, word by word, with its places.
//! **[`contamination`]** finds the items of test sets in a corpus.
//!
//! **[`distributed`]** cuts the search for pairs into tasks for an engine on many machines. It
//! finds what [`pipeline`] finds.
//!
//! **[`report`]** and **[`inspect`]** present results: the ledger, report pages and graphs; and
//! every file of an output directory, verified and shown as text.
//!
//! **[`cli`]** is the command line, for the program and for other hosts.
//!
//! # Guarantees
//! The library never prints, exits, or reads the environment, except in [`cli`].
//!
//! It runs on Unix only, because it relies on POSIX to map files into memory, to lock and sync
//! directories, and to wait for standard input.
#![deny(missing_docs, unsafe_code)]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod align;
pub mod audit;
mod bits;
pub mod budget;
pub mod byte_size;
mod checkpoint;
pub mod cli;
pub mod cluster;
pub mod collection;
pub mod contamination;
pub mod dedup;
pub mod distributed;
mod document;
pub mod error;
pub mod evaluate;
pub mod experiments;
pub mod ids;
pub mod index;
pub mod inspect;
pub mod join;
mod least;
pub mod limits;
pub mod measure;
pub mod merge;
pub mod methods;
pub mod numbers;
pub mod outputs;
pub mod parse;
pub mod passages;
pub mod pipeline;
pub mod precision;
pub mod process;
pub mod progress;
pub mod query;
pub(crate) mod random;
pub mod rate;
mod ratio;
pub mod read;
pub mod report;
pub mod resource;
pub mod sample;
pub mod shingle;
pub mod sort;
pub mod store;
pub mod threads;
pub mod transfer;
pub mod union_find;
mod utf8;
mod wide;
mod workers;
pub mod workspace;

pub use error::{Error, Result};
