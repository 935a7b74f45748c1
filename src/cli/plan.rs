//! `plan`: choose a sampling ratio for each size group.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::base::ids::Threshold;
use crate::engine::outputs;
use crate::engine::pipeline;
use crate::lab::plan::{self, PlanConfig};
use crate::{Result, report};
use clap::Args;

use super::context::{Host, with_context};
use super::flags::{Limits, Output, Planning, ThresholdFlag};

/// Options of `plan`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory of an earlier `ingest` or `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Lowest precision to keep in every size group
    ///
    /// Precision is the share of the pairs of a sampled run that are true.
    ///
    /// Example: --precision 0.9
    #[arg(
        short,
        long,
        value_name = "P",
        default_value_t = PlanConfig::default().target.precision
    )]
    precision: Threshold,
    #[command(flatten)]
    planning: Planning,
    /// File to write the plan to [default: DIR/plan.toml]
    ///
    /// Example: --output plan.toml
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    threshold: ThresholdFlag,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    print: Output,
}

pub fn run(options: &Options, host: &dyn Host) -> Result<ExitCode> {
    let threshold = options.threshold.threshold;
    let config = options.planning.config(threshold, options.precision)?;
    with_context(
        host,
        &options.limits.resources(options.print.quiet()),
        |context| {
            let mut workspace = pipeline::open(&options.directory)?;
            let path = options.output.clone();
            let path = path.unwrap_or_else(|| options.directory.join(plan::PLAN_FILE));
            // Check before the work begins, and not only before the file is written.
            outputs::check(&path, Some((&workspace, &[plan::PLAN_FILE])), &[])?;
            outputs::check_place("output", &path)?;
            let planned = plan::make(&mut workspace, &config, context)?;
            plan::keep(&mut workspace, &path, &planned.plan)?;
            if options.print.json() {
                host.say(&super::json(&planned.plan)?)?;
            } else if !options.print.quiet() {
                let table = report::plan(&planned, &workspace.manifest);
                host.say(&format!("{table}\nplan in {}\n", path.display()))?;
            }
            Ok(ExitCode::SUCCESS)
        },
    )
}
