//! Where texts agree: single documents and pairs of them, passages that documents share, and items
//! of test sets in a corpus.

mod captures;
mod checkpoints;
mod contamination;
mod copies;
mod exclude;
mod looking;
mod page;
mod remove;
mod reuse;
mod spans;
mod support;
mod units;
