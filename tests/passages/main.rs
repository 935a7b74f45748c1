//! Where texts agree: passages that documents share.

#[path = "../common/mod.rs"]
mod common;

mod copies;
mod remove;
mod spans;
mod support;
mod units;
