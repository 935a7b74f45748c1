//! `study`: measure what sampling costs in precision and recall.

use std::path::{Path, PathBuf};

use crate::report;
use crate::study::{DIRECTORY, PAGE_FILE, StudyConfig, comparison};
use lookalike_base::Threshold;
use lookalike_engine::pipeline;
use lookalike_tasks::plan::Ratio;

use lookalike::cli::command::{Args, Command, Context, Out, Result};
use lookalike::cli::flags::List;

/// Options of `study`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Output directory of an earlier `run`
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
    /// FORMAT.md describes the columns under "study".
    ///
    /// Example: --ratios 1/2 --csv
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Only write the page of a finished study again
    ///
    /// No trial is run.
    ///
    /// Example: --page
    #[arg(long, conflicts_with_all = ["ratios", "thresholds", "csv", "json"])]
    page: bool,
}

impl Command for Options {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let printed = |page: &Path| format!("page in {}\n", page.display());
        if self.page {
            let mut workspace = pipeline::open(&self.directory)?;
            let page = report::write_study_page(&mut workspace, context)?;
            return out.note(|| Ok(printed(&page)));
        }
        let config = StudyConfig {
            ratios: self.ratios.rising(),
            thresholds: self.thresholds.0.clone(),
        };
        config.check()?;
        let mut workspace = pipeline::open_texts(&self.directory)?;
        let (study, cost) = report::write_study(&mut workspace, &config, context)?;
        if self.csv {
            return out.answer(&(), || Ok(report::study_csv(&comparison(&study, &cost)?)));
        }
        out.result(&(&study, &cost), || {
            let page = self.directory.join(DIRECTORY).join(PAGE_FILE);
            let table = report::study(&study, &cost, out.columns())?;
            Ok(format!("{table}\n{}", printed(&page)))
        })
    }
}
