//! The ledger: what came in, what left, what was dropped and why, what it cost.
//!
//! # In and out
//! In: a manifest. Out: [`Summary`](crate::pipeline::Summary), which is `summary.json` and, as text, the table at the end of a
//! run, and with clusters and pairs the [`page`]; the pairs as a [`graph()`]. Every number in it was counted by a stage; nothing is
//! computed twice.

pub(crate) mod charts;
mod comparison;
pub mod figures;
mod graph;
mod ledger;
pub mod page;
mod plan;
mod wording;
mod write;

pub use graph::{GraphFormat, graph, write_graph};
pub use ledger::{cost_rows, ledger, ledger_rows};
pub use plan::{plan, study};
pub use write::{COMPARE_DIRECTORY, COMPARE_PAGE, write_comparison, write_page, write_study};
