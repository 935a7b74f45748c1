//! From the bytes of inputs to text and tokens.
//!
//! - [`read`], stage 1: inputs -> raw documents, in batches
//! - [`parse`], stage 2: raw documents -> canonical text and tokens
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod parse;
pub mod read;
