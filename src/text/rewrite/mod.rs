//! Input files written again, with some of their records removed or changed.
//!
//! This module knows files and records, but not why they change.

mod annotate;
pub(crate) mod copy;
pub(crate) mod encode;
pub(crate) mod files;
mod finished;
mod lzw;
pub(crate) mod output;
pub(crate) mod parquet;
pub(crate) mod source;

pub use parquet::parquet_with_rows;

const STAGE: &str = "dedup";
