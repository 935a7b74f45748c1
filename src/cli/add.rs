//! `add`: add inputs to a collection.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::Result;
use crate::engine::pipeline;
use clap::Args;

use super::context::{Host, with_context};
use super::flags::{Limits, Output, WalkFlags};

/// Options of `add`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory of an earlier `run` or `ingest`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Files and directories to add
    ///
    /// They are read with the parameters of the collection. Inputs that the collection has already
    /// are left out.
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Fail if any record was rejected
    ///
    /// The command ends after reading and writes rejects.jsonl. Records of earlier inputs count,
    /// too.
    #[arg(long)]
    strict: bool,
    /// Leave out inputs that cannot be opened
    #[arg(long, hide_short_help = true)]
    skip_unreadable: bool,
    #[command(flatten)]
    walk: WalkFlags,
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
            let (out, selection) = (&options.directory, options.walk.selection());
            pipeline::look(out)?;
            let inputs = pipeline::selected_inputs(&options.inputs, &selection, out)?;
            if !options.skip_unreadable {
                inputs.check_readable()?;
            }
            let summary = pipeline::add(out, &inputs, options.strict, context)?;
            let rejected = super::run::rejected(&summary, out, context)?;
            super::run::print(&summary, (out, &rejected), &options.output, host)
        },
    )
}
