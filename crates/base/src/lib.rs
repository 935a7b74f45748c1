//! Numbers, limits, errors, threads: the things that every room uses.
//!
//! Nothing here knows documents, files of ours, or stages. From the ground up:
//!
//! - values: `keywords`, [`ids`], `bits`, `random`, [`rate`], [`numbers`], [`byte_size`],
//!   [`measure`], [`precision`], `ratio`, `least`, [`union_find`]
//! - text: `utf8`, `words`, `wide`
//! - the process: [`resource`], [`error`], [`budget`], `command`, `memory`, [`process`],
//!   [`progress`], [`threads`], `workers`, [`limits`]
//!
//! The root exports all items that other crates use, so that a file imports them in one statement.
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

pub use bits::{Bits, Ranks};
pub use budget::{Budget, Disk, PROCESS_BYTES};
pub use command::{Command, state};
pub use error::{Error, NOT_THERE, Result, WrongFileType, refuse};
pub use ids::{FingerprintKind, Key, Threshold};
pub use keywords::alternatives;
pub use least::Least;
pub use limits::files_left;
pub use measure::{Criterion, Measure};
pub use memory::{Credit, MOST_SORT_BYTES, Memory, Taken, append, reserve, room_for_block};
pub use numbers::{count, counted, fraction, is_zero, percent, push_decimal};
pub use precision::{Counts, PairTable, wilson};
pub use process::{counters_in_large_pages, cpu_seconds, peak_bytes, return_freed_memory};
pub use progress::{Context, Progress, Silent, Stop, Unit, caught, joined, joined_all};
pub use random::{Random, STEP, mix, mix_key};
pub use rate::{Rate, within};
pub use ratio::Ratio;
pub use threads::{lock, unlocked, wait_together};
pub use union_find::UnionFind;
pub use utf8::{
    Carry, Decoded, Utf8Check, boundary_before, cut_after, decode, is_continuation, is_deceptive,
    login, push_visible, visible_lines, without_secrets,
};
pub use wide::{LOOK, Wide, WideDecoder, WideEncoder};
pub use words::{flag_word, listed, path_word, shell_word, words};
pub use workers::{Queue, Receiver, Tasks, bounded, in_order, on_threads, work_and_commit};
