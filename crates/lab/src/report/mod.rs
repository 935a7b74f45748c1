//! Results of the laboratory as text, tables, figures and pages.

mod charts;
mod compared;
mod comparison;
mod csv;
pub mod figures;
mod formulas;
mod page;
mod reproduced;
mod reproduction;
mod study;
mod write;

pub use compared::{compared, compared_csv};
pub use formulas::formulas;
pub use reproduced::{Reproduced, ReproducedPaper, reproduced};
pub use reproduction::{REPRODUCE_FILE, REPRODUCE_PAGE, write_reproduction};
pub use study::{study, study_csv};
pub use write::{
    COMPARE_DIRECTORY, COMPARE_PAGE, study_page, write_comparison, write_study, write_study_page,
};
