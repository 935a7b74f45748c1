//! The jobs that users have once there are pairs, and searches of other kinds.
//!
//! - [`query`] finds documents of a collection that resemble or contain new ones.
//! - [`evaluate`] computes precision and recall, and checks relevance judgements for near-duplicates.
//! - [`dedup`] writes the inputs again without duplicates; [`audit`] shows what it removed.
//! - [`passages`] finds the text that documents share; [`contamination`] finds the items of test sets
//!   in a corpus.
//! - [`count`] counts the documents, words and shingles of inputs.
//! - [`distributed`] cuts the search for pairs into tasks for an engine on many machines.
//! - [`jobs`] runs these tasks as an array of jobs of a scheduler.
//! - [`versions`] says what changed between crawls.
//! - [`plan`] finds a sampling ratio for each size group.
//! - [`inspect`] verifies every file of an output directory, and shows it as text.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod audit;
pub mod contamination;
pub mod count;
pub mod dedup;
pub mod distributed;
pub mod evaluate;
pub mod inspect;
pub mod jobs;
pub mod passages;
pub mod plan;
pub mod query;
pub mod versions;
