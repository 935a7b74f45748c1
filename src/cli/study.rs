//! `study`: measure what sampling costs in precision and recall.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::base::ids::Threshold;
use crate::engine::pipeline;
use crate::lab::plan::Ratio;
use crate::lab::study::{DIRECTORY, PAGE_FILE, StudyConfig, comparison};
use crate::{Result, report};
use clap::Args;

use super::context::{Host, with_context};
use super::flags::{Limits, List, Output};

/// Options of `study`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory of an earlier `ingest` or `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Sampling ratios to try, each with all of its classes
    ///
    /// Every class is one trial: 1/16 takes 16 of them.
    ///
    /// Example: --ratios 1/2,1/4
    #[arg(long, value_name = "LIST", default_value_t = List::of(&StudyConfig::default().ratios))]
    ratios: List<Ratio>,
    /// Thresholds to try, the lowest first
    ///
    /// Example: --ratios 1/2 --thresholds 0.5,0.85
    #[arg(long, value_name = "LIST", default_value_t = List(StudyConfig::default().thresholds))]
    thresholds: List<Threshold>,
    /// Print a line for each run, with all its numbers, as CSV
    ///
    /// The columns are those of FORMAT.md, "study".
    ///
    /// Example: --ratios 1/2 --csv
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    output: Output,
}

pub fn run(options: &Options, host: &dyn Host) -> Result<ExitCode> {
    let config = StudyConfig {
        ratios: options.ratios.rising(),
        thresholds: options.thresholds.0.clone(),
    };
    config.check()?;
    with_context(
        host,
        &options.limits.resources(options.output.quiet()),
        |context| {
            let mut workspace = pipeline::open(&options.directory)?;
            let (study, cost) = report::write_study(&mut workspace, &config, context)?;
            if options.output.json() {
                host.say(&super::json(&(&study, &cost))?)?;
            } else if options.csv {
                host.say(&report::study_csv(&comparison(&study, &cost)))?;
            } else if !options.output.quiet() {
                let place = options.directory.join(DIRECTORY);
                let table = report::study(&study, &cost);
                host.say(&format!(
                    "{table}\npage in {}\n",
                    place.join(PAGE_FILE).display()
                ))?;
            }
            Ok(ExitCode::SUCCESS)
        },
    )
}
