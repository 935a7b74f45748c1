//! Results of the laboratory as text, tables, figures and pages.

mod compared;
mod compared_tables;
mod csv;
mod formulas;
pub(crate) mod grid;
mod page;
mod reproduced;
mod reproduction;
mod study;
mod study_tables;
mod write;

pub use compared::compared;
pub use compared_tables::{compared_files, methods as compared_csv};
pub use formulas::formulas;
pub use page::study::page as study_page;
pub use reproduced::{Reproduced, ReproducedPaper, reproduced};
pub use reproduction::{REPRODUCE_FILE, REPRODUCE_PAGE, write_reproduction};
pub use study::{study, study_csv};
pub use study_tables::files as study_files;
pub use write::{COMPARE_DIRECTORY, COMPARE_PAGE, write_comparison, write_study, write_study_page};
