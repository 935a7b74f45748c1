//! `verify`: read and check every committed file of an output directory.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use lookalike_base::Result;
use lookalike_base::numbers::counted;
use lookalike_tasks::inspect::verify;

use super::command::Run;
use super::context::Host;
use super::flags::Memory;

/// Options of `verify`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    memory: Memory,
}

impl Run for Options {
    fn main(&self, host: &dyn Host) -> Result<ExitCode> {
        self.memory.begin();
        let found = verify(&self.directory)?;
        for error in &found.errors {
            super::tell_error(error);
        }
        let (files, bytes) = (counted(found.files, "file"), counted(found.bytes, "byte"));
        let damaged = found.errors.len();
        host.say(&format!("{files}, {bytes}, {damaged} damaged\n"))?;
        Ok(if found.errors.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}
