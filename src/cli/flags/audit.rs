//! Flags for the audit of a deduplication.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::report;
use crate::report::page::PageConfig;
use lookalike_base::{Context, Error, Result};
use lookalike_store::Workspace;
use lookalike_tasks::audit::{AuditConfig, Source};

/// The flags for the page of a deduplication.
#[derive(Debug, Args)]
#[command(next_help_heading = "Deduplication")]
pub(crate) struct AuditFlags {
    /// Also count documents by host, year or field:NAME (repeatable)
    ///
    /// For the output directory of `dedup`. host is the host of the address; year the year of the
    /// date that the record states, such as the capture date; year:FIELD the year of a date in a
    /// field; field:NAME the value of a field. A table shows the 20 values with the most documents.
    /// For a field, the inputs are read once more.
    ///
    /// Example: --by host --by year
    #[arg(long, value_name = "SOURCE", hide_short_help = true)]
    by: Vec<Source>,
    /// Pairs to show in each sample [default: 10]
    ///
    /// The page of a run shows pairs nearest the threshold and pairs at random. The page of
    /// `passages` shows the pairs that share the most words. The page of `dedup` shows removals at
    /// random, removals nearest the threshold, and near misses, which are kept documents just below
    /// the threshold. To find near misses, a search with a lower threshold runs in scratch space;
    /// 0 leaves it out.
    ///
    /// Example: --samples 20
    #[arg(long, value_name = "N")]
    pub samples: Option<usize>,
    /// File in which a person judges the pairs of the samples
    ///
    /// For the output directory of `dedup`. If FILE does not exist, it gets a line of JSON for each
    /// pair, with both texts. Set "correct" to true or false in each line, and repeat the command:
    /// the page then has the share of correct pairs in each sample, with its 95 % interval. A file
    /// that exists is never changed.
    ///
    /// Example: --verdicts verdicts.jsonl
    #[arg(long, value_name = "FILE")]
    verdicts: Option<PathBuf>,
}

impl AuditFlags {
    /// The file of verdicts.
    pub fn review(&self) -> Option<&Path> {
        self.verdicts.as_deref()
    }

    /// Refuses the flags if there is nothing that they apply to. `samples`: that flag applies.
    pub fn refuse(&self, samples: bool, limit: impl FnOnce() -> String) -> Result<()> {
        let review = self
            .review()
            .map(|review| ("verdicts", review.display().to_string()));
        let by = self.by.first().map(|by| ("by", by.to_string()));
        let samples = self.samples.filter(|_| !samples);
        let samples = samples.map(|samples| ("samples", samples.to_string()));
        match by.or(samples).or(review) {
            None => Ok(()),
            Some((name, given)) => Err(Error::parameter(name, given).because(limit())),
        }
    }

    /// Writes the page of the deduplication that wrote `kept`, with the seed and the clusters of
    /// `config`. Returns what to print.
    pub fn write(
        &self,
        kept: &Path,
        workspace: &Workspace,
        output: &Path,
        config: AuditConfig,
        look: &PageConfig,
        context: &Context<'_>,
    ) -> Result<String> {
        let config = AuditConfig {
            by: self.by.clone(),
            samples: self.samples.unwrap_or(config.samples),
            ..config
        };
        let review = self.review();
        let written = report::write_audit(kept, workspace, &config, output, review, look, context)?;
        let review = review.filter(|_| written);
        let review = review.map_or_else(String::new, |review| {
            format!("pairs to judge in {}\n", review.display())
        });
        Ok(format!("page in {}\n{review}", output.display()))
    }
}
