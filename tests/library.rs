//! Tests of the stages and methods, called in this process.

mod common;

mod evaluation;
mod links;
mod pipeline;
