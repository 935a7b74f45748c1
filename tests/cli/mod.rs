//! The commands, as a user calls them.

mod commands;
mod evaluate;
mod identity;
mod perturb;
mod qrels;
mod transfer;
