//! `index`: make the index of a collection, for fast look-ups.

use std::path::PathBuf;

use clap::Args;
use lookalike_base::Result;
use lookalike_base::numbers::count;
use lookalike_base::progress::Context;
use lookalike_engine::pipeline;
use lookalike_methods::{self as methods, Spec};

use super::command::{Command, Out};

/// Options of `index`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory of an earlier `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Index the features of METHOD instead of shingles, for `query --method`
    ///
    /// Example: --method i-match
    #[arg(long, value_name = "METHOD", help_heading = "Pairs")]
    method: Option<Spec>,
}

impl Command for Options {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let mut base = pipeline::open_texts(&self.directory)?;
        pipeline::catalogued(&mut base, context)?;
        let stats = match &self.method {
            Some(spec) => pipeline::index(&mut methods::keys(&base, spec, context)?, context)?,
            None => pipeline::index(&mut base, context)?,
        };
        out.result(&stats, || {
            Ok(format!(
                "index: {} fingerprints in {} lists, {} bytes\n",
                count(stats.entries),
                count(stats.lists),
                count(stats.bytes)
            ))
        })
    }
}
