//! `status`: show the contents of an output directory.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use lookalike::Result;
use lookalike::inspect::stages;
use lookalike::pipeline::{self, Summary};
use lookalike::report::ledger;

use super::flags::Json;

/// Options of `status`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    json: Json,
}

pub fn run(options: &Options) -> Result<ExitCode> {
    let manifest = pipeline::look(&options.directory)?;
    let summary = Summary::of(&manifest);
    if options.json.json {
        super::say(&super::json(&summary)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for (stage, state) in stages(&manifest) {
        text.push_str(&format!("{stage:<12}{state}\n"));
    }
    super::say(&format!("{text}\n{}", ledger(&summary)))?;
    Ok(ExitCode::SUCCESS)
}
