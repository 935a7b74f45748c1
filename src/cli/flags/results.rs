//! The flag for the format of the result files.

use std::path::Path;

use crate::Result;
use crate::base::progress::Context;
use crate::engine::cluster::ResultFormat;
use crate::engine::pipeline::{self, Summary};
use crate::store::workspace::Workspace;
use clap::Args;

/// The format of the result files.
#[derive(Debug, Args)]
pub(crate) struct ResultsFlag {
    /// Format of the result files: tsv, or parquet as well
    ///
    /// parquet writes pairs.parquet, clusters.parquet and documents.parquet beside the text files,
    /// with typed columns, for DuckDB, Polars, pandas and Spark. In a finished directory, the
    /// command only adds these files and computes nothing again.
    ///
    /// Example: --results parquet
    #[arg(
        long,
        value_name = "FORMAT",
        default_value_t = ResultFormat::default(),
        hide_short_help = true,
        help_heading = None
    )]
    pub results: ResultFormat,
}

impl ResultsFlag {
    /// Writes the files that the format wants beside the text files of a finished directory.
    /// Returns the summary of the directory.
    pub fn complete(
        &self,
        workspace: &mut Workspace,
        summary: Summary,
        context: &Context<'_>,
    ) -> Result<Summary> {
        match self.results {
            ResultFormat::Tsv => Ok(summary),
            ResultFormat::Parquet => pipeline::tables(workspace, context),
        }
    }

    /// As [`ResultsFlag::complete`], in a directory that is not open.
    pub(crate) fn complete_in(
        &self,
        directory: &Path,
        summary: Summary,
        context: &Context<'_>,
    ) -> Result<Summary> {
        match self.results {
            ResultFormat::Tsv => Ok(summary),
            ResultFormat::Parquet => {
                self.complete(&mut pipeline::open(directory)?, summary, context)
            }
        }
    }
}
