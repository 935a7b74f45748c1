//! Numbers, limits, errors, threads: the things that every room uses.
//!
//! Nothing here knows documents, files of ours, or stages. From the ground up:
//!
//! - values: `keywords`, [`ids`], `bits`, `random`, [`rate`], [`numbers`], [`byte_size`],
//!   [`measure`], [`precision`], `ratio`, `least`, [`union_find`]
//! - text: `utf8`, `words`, `wide`
//! - the process: [`resource`], [`error`], [`budget`], `command`, `memory`, [`process`],
//!   [`progress`], [`threads`], `workers`, [`limits`]

pub(crate) mod bits;
pub mod budget;
pub mod byte_size;
pub(crate) mod command;
pub mod error;
pub mod ids;
pub(crate) mod keywords;
pub(crate) mod least;
pub mod limits;
pub mod measure;
pub(crate) mod memory;
pub mod numbers;
pub mod precision;
pub mod process;
pub mod progress;
pub(crate) mod random;
pub mod rate;
pub(crate) mod ratio;
pub mod resource;
pub mod threads;
pub mod union_find;
pub(crate) mod utf8;
pub(crate) mod wide;
pub(crate) mod words;
pub(crate) mod workers;
