//! `inspect`: print any file of an output directory as text.

use std::io::{BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use lookalike_base::utf8::visible_lines;
use lookalike_base::{Error, Result};
use lookalike_tasks::inspect::inspect;

use super::command::Run;
use super::context::Host;
use super::flags::Memory;

/// Options of `inspect`.
#[derive(Debug, Args)]
pub struct Options {
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
    #[command(flatten)]
    memory: Memory,
}

impl Run for Options {
    fn main(&self, _: &dyn Host) -> Result<ExitCode> {
        self.memory.begin();
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
