//! `report`: the page of an output directory.

use lookalike::report::page::{PAGE_FILE, PageConfig};
use lookalike::{Result, pipeline, report};
use std::process::ExitCode;

use super::args::{MeansOptions, ReportOptions};
use super::run::with_context;

pub fn run(options: &ReportOptions) -> Result<ExitCode> {
    let means = MeansOptions {
        memory: options.memory,
        threads: Some(1),
        ignore_disk_space: false,
        scratch: None,
        quiet: options.quiet,
        json: false,
    };
    let config = PageConfig {
        clusters: options.clusters,
        pairs: options.pairs,
        seed: options.seed,
    };
    let output = options.output.clone();
    let output = output.unwrap_or_else(|| options.directory.join(PAGE_FILE));
    with_context(&means, |context| {
        let mut workspace = pipeline::open(&options.directory)?;
        report::write_page(&mut workspace, &config, &output, context)?;
        if !options.quiet {
            super::say(&format!("page in {}\n", output.display()))?;
        }
        Ok(ExitCode::SUCCESS)
    })
}
