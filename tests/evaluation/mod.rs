//! Methods, measures, plans, look-ups and the report page: what is computed from a
//! collection.

mod deco;
pub mod index;
mod measures;
mod plan;
mod query;
mod report_page;
mod term_methods;
