//! `status`: show the contents of an output directory.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::report::{explained, ledger, rejected_by_file};
use clap::Args;
use lookalike_base::Result;
use lookalike_engine::pipeline::{self, Summary};
use lookalike_store::workspace::Workspace;
use lookalike_tasks::inspect::stages;

use super::command::{Run, Setup};
use super::context::Host;

/// Options of `status`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Run for Options {
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
