//! Numbers, limits, errors, threads: the things that every room uses.
//!
//! Nothing here knows documents, files of ours, or stages. From the ground up:
//!
//! - values: `keywords`, [`ids`], `bits`, `random`, [`rate`], [`numbers`], [`byte_size`],
//!   [`measure`], [`precision`], `ratio`, `least`, [`union_find`]
//! - text: `utf8`, `words`, `wide`
//! - the process: [`resource`], [`error`], [`budget`], `command`, `memory`, [`process`],
//!   [`progress`], [`threads`], `workers`, [`limits`]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod bits;
pub mod budget;
pub mod byte_size;
pub mod command;
pub mod error;
pub mod ids;
pub mod keywords;
pub mod least;
pub mod limits;
pub mod measure;
pub mod memory;
pub mod numbers;
pub mod precision;
pub mod process;
pub mod progress;
pub mod random;
pub mod rate;
pub mod ratio;
pub mod resource;
pub mod threads;
pub mod union_find;
pub mod utf8;
pub mod wide;
pub mod words;
pub mod workers;

pub use error::{Error, Result};
