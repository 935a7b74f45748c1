//! `status`: what an output directory holds.

use std::process::ExitCode;

use lookalike::Result;
use lookalike::inspect::stages;
use lookalike::pipeline::{self, Summary};
use lookalike::report::ledger;

use super::args::StatusOptions;

pub fn run(options: &StatusOptions) -> Result<ExitCode> {
    let manifest = pipeline::look(&options.directory)?;
    let summary = Summary::of(&manifest);
    if options.json {
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
