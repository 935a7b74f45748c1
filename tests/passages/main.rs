//! Single documents, pairs of them, and the passages that documents share.

#[path = "../common/mod.rs"]
mod common;

mod looking;
