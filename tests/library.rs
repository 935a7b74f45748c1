//! What the stages and methods compute, called in this process.

mod common;

mod evaluation;
mod links;
mod pipeline;
