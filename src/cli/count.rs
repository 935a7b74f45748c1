//! `count`: count the documents, words and shingles of inputs.

use std::path::{Path, PathBuf};

use crate::report::{records, write_records};
use clap::Args;
use lookalike_base::Result;
use lookalike_base::progress::Context;
use lookalike_engine::outputs;
use lookalike_tasks::count;

use super::command::{Command, Out, Setup};
use super::flags::{Answering, InputFlags, ShingleFlags};
use super::unread;

/// Options of `count`.
#[derive(Debug, Args)]
pub struct Options {
    /// File to write the counts to: .html for a page, .json, .tsv or .parquet
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    input: InputFlags,
    #[command(flatten)]
    shingles: ShingleFlags,
    #[command(flatten)]
    answering: Answering,
}

impl Command for Options {
    fn setup(&self) -> Setup {
        self.answering.setup()
    }

    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let inputs = self.input.files(Path::new(""))?;
        let reads: Vec<&Path> = inputs.iter().map(|input| input.path.as_path()).collect();
        if let Some(output) = &self.output {
            outputs::check(output, None, &reads)?;
            outputs::check_place("output", output)?;
            outputs::check_ending("output", output, &["html", "json", "tsv", "parquet"])?;
        }
        let (read, shingle) = (self.input.read()?, self.shingles.config(&self.input)?);
        let counts = count::run(&inputs, &read, &shingle, &std::env::temp_dir(), context)?;
        let (rows, below) = (&counts.inputs, counts.lengths());
        if let Some(output) = &self.output {
            write_records(rows, &counts, ("Counts", &below), output)?;
        }
        out.result(&counts, || {
            Ok(format!("{}\n{below}\n", records(rows, out.columns())))
        })?;
        unread::lines(&counts.unread, context);
        Ok(())
    }
}
