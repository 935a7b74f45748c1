//! `plan`: a sampling ratio for each size group.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use lookalike::evaluate::plan::PlanConfig;
use lookalike::ids::Threshold;
use lookalike::manifest::Workspace;
use lookalike::{Error, Result, pipeline, report};

use super::context::with_context;
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

pub fn run(options: &Options) -> Result<ExitCode> {
    let threshold = options.threshold.threshold;
    let config = options.planning.config(threshold, options.precision)?;
    with_context(
        &options.limits.resources(options.print.quiet()),
        |context| {
            let mut workspace = Workspace::open(&options.directory)?;
            let planned = pipeline::plan(&mut workspace, &config, context)?;
            let path = options.output.clone();
            let path = path.unwrap_or_else(|| options.directory.join(pipeline::PLAN_FILE));
            pipeline::keep_plan(&mut workspace, &path, &planned.plan)?;
            if options.print.json() {
                let text = serde_json::to_string_pretty(&planned.plan).map_err(|e| Error::Io {
                    operation: "encode",
                    path: "plan".into(),
                    source: e.into(),
                })?;
                super::say(&(text + "\n"))?;
            } else if !options.print.quiet() {
                let table = report::plan(&planned, &workspace.manifest);
                super::say(&format!("{table}\nplan in {}\n", path.display()))?;
            }
            Ok(ExitCode::SUCCESS)
        },
    )
}
