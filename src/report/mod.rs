//! Results as text, tables and pages.
//!
//! # In and out
//! In: the [`Summary`](lookalike_engine::pipeline::Summary) of a directory, or an
//! [`Audit`](lookalike_tasks::audit::Audit). Out: the answer, which is printed at the end of a run; the
//! ledger; an HTML [`page`]; and the pairs as a [`graph()`]. A stage counted every number; nothing is
//! computed twice. The laboratory makes its tables and pages of the parts here.

mod answer;
mod dedup;
mod graph;
mod ledger;
pub mod page;
mod plan;
mod records;
#[doc(hidden)]
pub mod rows;
#[doc(hidden)]
pub mod terminal;
pub(crate) mod unread;
#[doc(hidden)]
pub mod wording;
mod write;

pub(crate) use answer::{answer, searched, unused};
pub(crate) use dedup::{dedup_ledger, deduplicated};
pub use graph::{GraphFormat, graph, write_graph};
pub use ledger::{cost_rows, ledger, ledger_rows};
pub(crate) use ledger::{explained, rejected_by_file};
pub use plan::plan;
pub(crate) use records::{records, write_records};
pub(crate) use write::{changes, write_versions};
pub use write::{place_audit, write_audit, write_page};
