//! `plan`: choose a sampling ratio for each size group.

use std::path::PathBuf;

use crate::report;
use lookalike_base::Threshold;
use lookalike_engine::outputs::{self, Home};
use lookalike_engine::pipeline;
use lookalike_tasks::plan;

use super::command::{Args, Command, Context, Out, Result};
use super::flags::{Planning, ThresholdFlag};

/// Options of `plan`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory of an earlier `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Lowest precision to keep in every size group
    ///
    /// Precision is the share of the pairs of a sampled run that are true.
    ///
    /// Example: --precision 0.9
    #[arg(short, long, value_name = "P", default_value = "0.8")]
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
}

impl Command for Options {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let threshold = self.threshold.threshold.unwrap_or_default();
        let config = self.planning.config(threshold, self.precision)?;
        let mut workspace = pipeline::open_texts(&self.directory)?;
        let path = self.output.clone();
        let path = path.unwrap_or_else(|| self.directory.join(plan::PLAN_FILE));
        let own = Home::Own(&workspace, &[plan::PLAN_FILE]);
        outputs::check("output", &path, own, &[plan::HEAD])?;
        let planned = plan::make(&mut workspace, &config, context)?;
        plan::keep(&mut workspace, &path, &planned.plan)?;
        out.result(&planned.plan, || {
            let table = report::plan(&planned, &workspace.manifest);
            Ok(format!("{table}\nplan in {}\n", path.display()))
        })
    }
}
