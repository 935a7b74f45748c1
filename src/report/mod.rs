//! Results as text, tables and pages.
//!
//! # In and out
//! In: the [`Summary`](lookalike_engine::pipeline::Summary) of a directory, an [`Audit`](lookalike_tasks::audit::Audit),
//! a comparison or a study. Out: the answer, which is printed at the end of a run; the ledger; an HTML
//! [`page`]; CSV; and the pairs as a [`graph()`]. A stage counted every number; nothing is computed
//! twice.

mod answer;
pub(crate) mod charts;
mod compared;
mod comparison;
mod csv;
mod dedup;
pub mod figures;
mod formulas;
mod graph;
mod ledger;
pub mod page;
mod plan;
mod records;
mod reproduced;
mod reproduction;
pub(crate) mod rows;
pub(crate) mod terminal;
mod unread;
mod wording;
mod write;

pub use answer::short_documents;
pub(crate) use answer::{answer, searched};
pub use compared::{compared, compared_csv};
pub(crate) use dedup::{Deduplicated, dedup_ledger};
pub use formulas::formulas;
pub use graph::{GraphFormat, graph, write_graph};
pub(crate) use ledger::{Rejected, explained};
pub use ledger::{cost_rows, ledger, ledger_rows};
pub use plan::{plan, study, study_csv};
pub(crate) use records::{records, write_records};
pub use reproduced::{Reproduced, ReproducedPaper, reproduced};
pub use reproduction::{REPRODUCE_FILE, REPRODUCE_PAGE, write_reproduction};
pub use unread::{unread_files, unused_id_field};
pub(crate) use write::write_diff;
pub use write::{
    COMPARE_DIRECTORY, COMPARE_PAGE, Reviewed, place_audit, study_page, write_audit,
    write_comparison, write_page, write_study, write_study_page,
};
