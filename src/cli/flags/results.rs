//! The flag for the format of the result files.

use clap::Args;
use lookalike_base::{Result, refuse};
use lookalike_engine::cluster::ResultFormat;

/// The format of the result files.
#[derive(Debug, Args)]
pub struct ResultsFlag {
    /// Format of the result files: tsv, parquet as well, or none
    ///
    /// parquet writes pairs.parquet, clusters.parquet and documents.parquet beside the text files,
    /// with typed columns, for DuckDB, Polars, pandas and Spark. In a finished directory, the
    /// command only adds these files and computes nothing again. With none, no result files are
    /// written; `lookalike stage cluster DIR` writes them later, without another search.
    ///
    /// Example: --results parquet
    #[arg(long, value_name = "FORMAT", default_value = "tsv", help_heading = None)]
    pub results: Option<ResultFormat>,
}

impl ResultsFlag {
    /// The format, for a command whose purpose is to write results.
    pub fn some(&self) -> Result<ResultFormat> {
        match self.results.unwrap_or_default() {
            ResultFormat::None => refuse("results", "none", "possible with run, join and add"),
            format => Ok(format),
        }
    }
}
