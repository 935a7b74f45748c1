//! `study`: what sampling costs in precision and recall.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use lookalike::evaluate::plan::Ratio;
use lookalike::evaluate::study::{DIRECTORY, StudyConfig};
use lookalike::ids::Threshold;
use lookalike::manifest::Workspace;
use lookalike::{Error, Result, pipeline, report};

use super::context::with_context;
use super::flags::{Limits, List, Output};

/// Options of `study`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory of an earlier `ingest` or `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Sampling ratios to try, each with all of its classes
    ///
    /// 1/16 alone takes 16 trials.
    ///
    /// Example: --ratios 1/2,1/4
    #[arg(long, value_name = "LIST", default_value_t = List::of(&StudyConfig::default().ratios))]
    ratios: List<Ratio>,
    /// Thresholds to try, the lowest first
    ///
    /// Example: --ratios 1/2 --thresholds 0.5,0.85
    #[arg(long, value_name = "LIST", default_value_t = List(StudyConfig::default().thresholds))]
    thresholds: List<Threshold>,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    output: Output,
}

pub fn run(options: &Options) -> Result<ExitCode> {
    let config = StudyConfig {
        ratios: options.ratios.rising(),
        thresholds: options.thresholds.0.clone(),
    };
    config.check()?;
    with_context(
        &options.limits.resources(options.output.quiet()),
        |context| {
            let mut workspace = Workspace::open(&options.directory)?;
            let (study, cost) = pipeline::study(&mut workspace, &config, context)?;
            if options.output.json() {
                let text =
                    serde_json::to_string_pretty(&(&study, &cost)).map_err(|e| Error::Io {
                        operation: "encode",
                        path: "study".into(),
                        source: e.into(),
                    })?;
                super::say(&(text + "\n"))?;
            } else if !options.output.quiet() {
                let place = options.directory.join(DIRECTORY);
                let table = report::study(&study, &cost);
                super::say(&format!(
                    "{table}\ntables and figures in {}\n",
                    place.display()
                ))?;
            }
            Ok(ExitCode::SUCCESS)
        },
    )
}
