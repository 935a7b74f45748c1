//! `index`: make the index of a collection, for fast look-ups.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::Result;
use crate::base::numbers::count;
use crate::engine::methods::{self, Spec};
use crate::engine::pipeline;
use clap::Args;

use super::context::{Host, with_context};
use super::flags::{Limits, Output};

/// Options of `index`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory of an earlier `ingest` or `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Index the features of METHOD instead of shingles, for `query --method`
    ///
    /// Example: --method i-match
    #[arg(long, value_name = "METHOD", help_heading = "Pairs")]
    method: Option<Spec>,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    output: Output,
}

pub fn run(options: &Options, host: &dyn Host) -> Result<ExitCode> {
    with_context(
        host,
        &options.limits.resources(options.output.quiet()),
        |context| {
            let mut base = pipeline::open(&options.directory)?;
            pipeline::catalogued(&mut base, context)?;
            let stats = match &options.method {
                Some(spec) => pipeline::index(&mut methods::keys(&base, spec, context)?, context)?,
                None => pipeline::index(&mut base, context)?,
            };
            if options.output.json() {
                host.say(&super::json(&stats)?)?;
            } else if !options.output.quiet() {
                host.say(&format!(
                    "index: {} fingerprints in {} lists, {} bytes\n",
                    count(stats.entries),
                    count(stats.lists),
                    count(stats.bytes)
                ))?;
            }
            Ok(ExitCode::SUCCESS)
        },
    )
}
