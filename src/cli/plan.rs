//! `plan`: a sampling ratio for each size group.

use lookalike::experiments::plan::{self, PlanConfig, Subset, Target};
use lookalike::{Result, outputs, pipeline, report};
use std::process::ExitCode;

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
        let mut workspace = pipeline::open(&options.directory)?;
        let path = options.output.clone();
        let path = path.unwrap_or_else(|| options.directory.join(plan::PLAN_FILE));
        // Before the work, and not only before the file is written.
        outputs::check(&path, Some((&workspace, &[plan::PLAN_FILE])), &[])?;
        let planned = plan::make(&mut workspace, &config, context)?;
        plan::keep(&mut workspace, &path, &planned.plan)?;
        if options.means.json {
            super::say(&super::json(&planned.plan)?)?;
        } else if !options.means.quiet {
            let table = report::plan(&planned, &workspace.manifest);
            super::say(&format!("{table}\nplan in {}\n", path.display()))?;
        }
        Ok(ExitCode::SUCCESS)
    })
}
