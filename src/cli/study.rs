//! `study`: what sampling costs in precision and recall.

use lookalike::experiments::study::{DIRECTORY, StudyConfig};
use lookalike::{Result, pipeline, report};
use std::process::ExitCode;

use super::args::StudyOptions;
use super::run::with_context;

pub fn run(options: &StudyOptions) -> Result<ExitCode> {
    let config = StudyConfig {
        ratios: options.ratios.0.clone(),
        thresholds: options.thresholds.clone(),
    };
    config.check()?;
    with_context(&options.means, |context| {
        let mut workspace = pipeline::open(&options.directory)?;
        let (study, cost) = report::write_study(&mut workspace, &config, context)?;
        if options.means.json {
            super::say(&super::json(&(&study, &cost))?)?;
        } else if !options.means.quiet {
            let place = options.directory.join(DIRECTORY);
            let table = report::study(&study, &cost);
            super::say(&format!(
                "{table}\ntables and figures in {}\n",
                place.display()
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    })
}
