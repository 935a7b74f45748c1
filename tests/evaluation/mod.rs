//! Methods, measures, plans, studies, queries and the report page: what is computed from a
//! collection.

mod deco;
pub mod index;
mod measures;
mod methods;
mod papers;
mod plan;
mod queries;
mod query;
mod report_page;
mod reproduce;
mod study;
mod study_figures;
mod term_methods;
