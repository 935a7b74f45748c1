//! Tests of the laboratory, called in this process.

#[path = "../../../../tests/common/mod.rs"]
mod common;

mod methods;
mod papers;
mod queries;
mod reproduce;
mod study;
mod study_tables;
