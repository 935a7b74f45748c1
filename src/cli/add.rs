//! `add`: add inputs to a collection.

use std::path::PathBuf;

use clap::Args;
use lookalike_base::Result;
use lookalike_base::progress::Context;
use lookalike_engine::cluster::ResultFormat;
use lookalike_engine::pipeline;

use super::command::{Command, Out};
use super::flags::WalkFlags;
use super::run::Verbose;

/// Options of `add`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory of an earlier `run`
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
    /// The command ends after reading and writes rejects.jsonl. Records of earlier inputs also
    /// count.
    #[arg(long)]
    strict: bool,
    /// Leave out inputs that cannot be opened
    #[arg(long, hide_short_help = true)]
    skip_unreadable: bool,
    /// Format of the result files: tsv, parquet as well, or none
    ///
    /// The default is the format that the directory has, or tsv.
    ///
    /// The result files list all documents, so writing them costs more than adding one document to
    /// a large collection. With none, they are removed and not written; `lookalike stage cluster DIR`
    /// writes them after the last addition, without another search.
    ///
    /// Example: --results none
    #[arg(long, value_name = "FORMAT", hide_short_help = true)]
    results: Option<ResultFormat>,
    #[command(flatten)]
    walk: WalkFlags,
    #[command(flatten)]
    verbose: Verbose,
}

impl Command for Options {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let (directory, selection) = (&self.directory, self.walk.selection());
        pipeline::look(directory)?;
        let inputs = pipeline::selected_inputs(&self.inputs, &selection, directory)?;
        if !self.skip_unreadable {
            inputs.check_readable()?;
        }
        let summary = pipeline::add(directory, &inputs, self.strict, self.results, context)?;
        self.verbose.print(&summary, directory, out, context)
    }
}
