//! The program, as a user starts it.

#[path = "../../../../tests/common/mod.rs"]
mod common;
#[path = "../../../../tests/help.rs"]
mod help;

mod command_line;
mod effect;
mod perturb;
mod qrels;
mod transfer;
