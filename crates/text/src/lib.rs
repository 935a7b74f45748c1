//! From the bytes of inputs to text and tokens.
//!
//! - [`read`], stage 1: inputs -> raw documents, in batches
//! - [`parse`], stage 2: raw documents -> canonical text and tokens
//! - `align`: where the tokens of two texts agree and where they differ
//! - `table`: lists and result files, row by row
//! - [`rewrite`]: input files again, with some records removed or changed

pub(crate) mod align;
pub mod parse;
pub mod read;
#[path = "../../rewrite/src/lib.rs"]
pub mod rewrite;
pub(crate) mod table;
