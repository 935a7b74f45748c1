//! `plan`: a sampling ratio for each size group.

use std::process::ExitCode;

use lookalike::evaluate::plan::{PlanConfig, Subset, Target};
use lookalike::manifest::Workspace;
use lookalike::{Result, pipeline, report};

use super::args::PlanOptions;
use super::run::with_context;

pub fn run(options: &PlanOptions) -> Result<ExitCode> {
    let config = PlanConfig {
        target: Target {
            threshold: options.threshold,
            precision: options.precision,
            recall: options.recall,
        },
        ratios: options.ratios.0.clone(),
        subset: options.subset.map(|share| Subset {
            share: share.0,
            seed: options.plan_seed,
        }),
    };
    config.check()?;
    with_context(&options.means, |context| {
        let mut workspace = Workspace::open(&options.directory)?;
        let planned = pipeline::plan(&mut workspace, &config, context)?;
        let path = options.output.clone();
        let path = path.unwrap_or_else(|| options.directory.join(pipeline::PLAN_FILE));
        pipeline::keep_plan(&mut workspace, &path, &planned.plan)?;
        if options.means.json {
            super::say(&super::json(&planned.plan)?)?;
        } else if !options.means.quiet {
            let table = report::plan(&planned, &workspace.manifest);
            super::say(&format!("{table}\nplan in {}\n", path.display()))?;
        }
        Ok(ExitCode::SUCCESS)
    })
}
