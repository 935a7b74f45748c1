//! The ledger: what came in, what left, what was dropped and why, what it cost.
//!
//! # In and out
//! In: a manifest. Out: [`Summary`], which is `summary.json` and, as text, the table at the end of a
//! run, and with clusters and pairs the [`page`]; the pairs as a [`graph()`]. Every number in it was counted by a stage; nothing is
//! computed twice.

pub(crate) mod charts;
mod graph;
mod ledger;
pub mod page;
mod plan;
mod process;
mod summary;
mod verify;
mod wording;

pub use graph::{GraphFormat, graph, write_graph};
pub(crate) use ledger::count;
pub use ledger::{cost_rows, ledger, ledger_rows, stage_line};
pub use plan::{plan, study};
pub use process::{cpu_seconds, peak_bytes};
pub use summary::{SUMMARY_FILE, Summary, first_reject, write_summary};
pub use verify::{Verified, inspect, stages, verify};
