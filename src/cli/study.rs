//! `study`: what sampling costs in precision and recall.

use std::process::ExitCode;

use lookalike::evaluate::study::{DIRECTORY, StudyConfig};
use lookalike::manifest::Workspace;
use lookalike::{Result, pipeline, report};

use super::args::StudyOptions;
use super::run::with_context;

pub fn run(options: &StudyOptions) -> Result<ExitCode> {
    let config = StudyConfig {
        ratios: options.ratios.0.clone(),
        thresholds: options.thresholds.clone(),
    };
    config.check()?;
    with_context(&options.means, |context| {
        let mut workspace = Workspace::open(&options.directory)?;
        let (study, cost) = pipeline::study(&mut workspace, &config, context)?;
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
