//! `status`: what an output directory holds.

use std::process::ExitCode;

use lookalike::Result;
use lookalike::manifest::Workspace;
use lookalike::report::{Summary, ledger, stages};

use super::args::StatusOptions;

pub fn run(options: &StatusOptions) -> Result<ExitCode> {
    let manifest = Workspace::look(&options.directory)?;
    let summary = Summary::of(&manifest);
    if options.json {
        println!(
            "{}",
            serde_json::to_string_pretty(&summary).unwrap_or_default()
        );
        return Ok(ExitCode::SUCCESS);
    }
    for (stage, state) in stages(&manifest) {
        println!("{stage:<12}{state}");
    }
    println!("\n{}", ledger(&summary));
    Ok(ExitCode::SUCCESS)
}
