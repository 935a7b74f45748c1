//! The ledger: the documents that came in and went out, those dropped and why, and the cost of the
//! run.
//!
//! # In and out
//! In: a manifest. Out: [`Summary`](crate::pipeline::Summary), which becomes `summary.json`, the
//! table printed at the end of a run and, with clusters and pairs, the [`page`]; and the pairs as a
//! [`graph()`]. A stage counted every number in it; nothing is computed twice.

pub(crate) mod charts;
mod compared;
mod comparison;
mod dedup;
pub mod figures;
mod graph;
mod ledger;
pub mod page;
mod plan;
pub(crate) mod terminal;
mod wording;
mod write;

pub use compared::{compared, compared_csv};
pub use dedup::dedup_ledger;
pub use graph::{GraphFormat, graph, write_graph};
pub use ledger::{cost_rows, ledger, ledger_rows};
pub use plan::{plan, study, study_csv};
pub(crate) use write::write_diff;
pub use write::{
    COMPARE_DIRECTORY, COMPARE_PAGE, Reviewed, place_audit, study_page, write_audit,
    write_comparison, write_page, write_study, write_study_page,
};
