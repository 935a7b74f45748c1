//! The commands, as a user calls them.

#[path = "../common/mod.rs"]
mod common;

mod cli;
mod evaluate;
mod identity;
mod perturb;
mod qrels;
mod transfer;
