//! Where texts agree: passages that documents share, and items of test sets in a corpus.

#[path = "../common/mod.rs"]
mod common;

mod contamination;
mod spans;
