//! `report`: write the HTML page of an output directory.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::report::page::{PAGE_FILE, PageConfig};
use crate::{Result, report};
use clap::Args;

use super::context::{Host, open_for, with_context};
use super::flags::{Memory, Quiet, Threads};

/// Options of `report`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory of an earlier `run` or `cluster`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// File to write the page to [default: DIR/report.html]
    ///
    /// If the file is in DIR, the command needs DIR for itself, because the manifest there names the
    /// page. Otherwise it only reads DIR: several commands can do so at the same time, also on a
    /// read-only medium.
    ///
    /// Example: --output page.html
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Number of clusters to show, the largest first
    ///
    /// Example: --clusters 50
    #[arg(long, value_name = "N", default_value_t = PageConfig::default().clusters)]
    clusters: usize,
    /// Pairs to show nearest the threshold, and the same number at random
    ///
    /// Both texts of a pair are shown side by side. The command reads them from the inputs again.
    ///
    /// Example: --pairs 50
    #[arg(long, value_name = "N", default_value_t = PageConfig::default().pairs)]
    pairs: usize,
    /// Seed of the random pairs
    ///
    /// Example: --seed 1
    #[arg(long, value_name = "N", default_value_t = PageConfig::default().seed)]
    seed: u64,
    #[command(flatten)]
    memory: Memory,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    quiet: Quiet,
}

pub fn run(options: &Options, host: &dyn Host) -> Result<ExitCode> {
    let quiet = options.quiet.quiet;
    let config = PageConfig {
        clusters: options.clusters,
        pairs: options.pairs,
        seed: options.seed,
    };
    let output = options.output.clone();
    let output = output.unwrap_or_else(|| options.directory.join(PAGE_FILE));
    let resources = options.memory.with(options.threads, quiet);
    with_context(host, &resources, |context| {
        let mut workspace = open_for(&options.directory, &output, context)?;
        report::write_page(&mut workspace, &config, &output, context)?;
        if !quiet {
            host.say(&format!("page in {}\n", output.display()))?;
        }
        Ok(ExitCode::SUCCESS)
    })
}
