//! `status`, and `check`: `verify` reads and checks every committed file of an output directory,
//! `inspect` prints such a file as text, and `count` counts the documents, words and shingles of
//! inputs.

use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::report::{explained, ledger, records, rejected_by_file, unread, write_records};
use lookalike_base::{Error, counted, visible_lines};
use lookalike_engine::outputs::{self, Home};
use lookalike_engine::pipeline::{self, Summary};
use lookalike_store::Workspace;
use lookalike_tasks::count;
use lookalike_tasks::inspect::{inspect, stages, verify};

use super::command::{Args, Command, Context, Out, Result, Run, Setup};
use super::context::Host;
use super::flags::{InputFlags, ShingleFlags};

/// Options of `count`.
#[derive(Debug, Args)]
pub struct CountOptions {
    /// File to write the counts to: .html for a page, .json, .tsv or .parquet
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    input: InputFlags,
    #[command(flatten)]
    shingles: ShingleFlags,
}

impl Command for CountOptions {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let inputs = self.input.files(Path::new(""))?;
        let reads: Vec<&Path> = inputs.iter().map(|input| input.path.as_path()).collect();
        if let Some(output) = &self.output {
            let heads = [&outputs::TABLES[..], &["{\n  \"inputs\": ["]].concat();
            outputs::check("output", output, Home::Files(&reads), &heads)?;
            outputs::check_ending("output", output, &["html", "json", "tsv", "parquet"])?;
        }
        let (read, shingle) = (self.input.read()?, self.shingles.config(&self.input)?);
        let counts = count::run(&inputs, &read, &shingle, &std::env::temp_dir(), context)?;
        let (rows, below) = (&counts.inputs, counts.lengths());
        if let Some(output) = &self.output {
            write_records(rows, &counts, ("Counts", &below), output)?;
        }
        out.found(self.output.as_deref(), &counts, || {
            Ok(format!("{}\n{below}\n", records(rows, out.columns())))
        })?;
        unread::lines(&counts.unread, context);
        Ok(())
    }
}

/// Options of `verify`.
#[derive(Debug, Args)]
pub struct VerifyOptions {
    /// Output directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Run for VerifyOptions {
    fn main(&self, _: &Setup, host: &dyn Host) -> Result<ExitCode> {
        let found = verify(&self.directory)?;
        for error in &found.errors {
            super::tell_error(error);
        }
        let (files, bytes) = (counted(found.files, "file"), counted(found.bytes, "byte"));
        let damaged = found.errors.len();
        host.say(&format!("{files}, {bytes}, {damaged} damaged\n"))?;
        Ok(ExitCode::from(u8::from(damaged > 0)))
    }
}

/// Options of `inspect`.
#[derive(Debug, Args)]
pub struct InspectOptions {
    /// A binary file, such as a .pairs file
    ///
    /// Its name ends in .docs, .fps, .rejects, .col, .names, .run, .post, .pairs, .text, .index,
    /// .facts or .sorted.
    file: PathBuf,
    /// Print at most this number of records
    ///
    /// Example: --most 5
    #[arg(long, value_name = "N", default_value_t = 100)]
    most: u64,
}

impl Run for InspectOptions {
    fn main(&self, _: &Setup, _: &dyn Host) -> Result<ExitCode> {
        let failed = |error| Error::io("write", "standard output".as_ref())(error);
        let mut out = BufWriter::new(super::standard_output().map_err(failed)?);
        let terminal = std::io::stdout().is_terminal();
        let shown = inspect(&self.file, self.most, &mut |line| {
            match writeln!(out, "{}", visible_lines(&line, terminal)) {
                // The reader has closed the pipe because it needs no more.
                Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
                result => result.map(|()| true).map_err(failed),
            }
        });
        let flushed = out.flush();
        shown?;
        super::said(flushed)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Options of `status`.
#[derive(Debug, Args)]
pub struct StatusOptions {
    /// Output directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Run for StatusOptions {
    fn main(&self, setup: &Setup, host: &dyn Host) -> Result<ExitCode> {
        let manifest = pipeline::look(&self.directory)?;
        let summary = Summary::of(&manifest);
        if setup.json {
            host.say(&super::json(&summary)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut text = String::new();
        for (stage, state) in stages(&manifest) {
            text.push_str(&format!("{stage:<12}{state}\n"));
        }
        // A command that works in the directory, or a damaged part, must not hide the state.
        let rejected = match summary.ingest.rejected.is_empty() {
            true => String::new(),
            false => Workspace::open_to_read(&self.directory, pipeline::RECORDS)
                .and_then(|workspace| rejected_by_file(&workspace))
                .unwrap_or_default(),
        };
        let (ledger, explained) = (ledger(&summary), explained(&summary));
        host.say(&format!(
            "{text}\n{ledger}{rejected}\nWhat the rows count:\n{explained}"
        ))?;
        Ok(ExitCode::SUCCESS)
    }
}
