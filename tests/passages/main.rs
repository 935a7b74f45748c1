//! Where texts agree: passages that documents share, items of test sets in a corpus, and single
//! documents and pairs of them.

#[path = "../common/mod.rs"]
mod common;

mod contamination;
mod looking;
mod spans;
