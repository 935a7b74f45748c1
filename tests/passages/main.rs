//! Runs of words that texts share: the items of test sets in a corpus.

#[path = "../common/mod.rs"]
mod common;

mod contamination;
