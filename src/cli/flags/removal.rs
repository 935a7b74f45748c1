//! Flags for copies of the inputs without repeated text.

use std::path::PathBuf;

use clap::Args;

use super::KeepOrDrop;
use lookalike_tasks::dedup::Empty;
use lookalike_tasks::passages::{Align, RemovalConfig};

/// What is removed, and where the copies go.
#[derive(Debug, Args)]
#[command(next_help_heading = "Removing")]
pub(crate) struct RemovalFlags {
    /// Write copies of the inputs without removable text to KEPT
    ///
    /// --output names KEPT, which must be new or empty. It gets one file for each input file, under
    /// the same relative path, in the same format, compression and order. Only the text changes;
    /// the first occurrence of each passage is kept. The inputs must be JSON, Parquet or plain
    /// text. The same command continues after a stop.
    ///
    /// Example: --remove
    #[arg(long)]
    pub remove: bool,
    /// Remove tokens, or only whole lines or paragraphs [default: token]
    ///
    /// token removes runs of removable tokens. Punctuation and white space are kept on one side of
    /// them: the side with more line feeds, or the left side if both have the same number. line
    /// removes a line if all its tokens are removable. paragraph does the same for paragraphs,
    /// which are separated by empty lines.
    ///
    /// Example: --remove --align line
    #[arg(long, value_name = "TO", requires = "remove")]
    pub align: Option<Align>,
    /// Keep or drop documents that have no text left
    ///
    /// drop also leaves out documents that had no words.
    ///
    /// Example: --remove --empty drop
    #[arg(long, value_name = "WHAT", default_value = "keep", requires = "remove")]
    pub empty: KeepOrDrop,
    /// Directory for the removed text, a line of JSON for each range
    ///
    /// It gets a file NAME.removed.jsonl for each input file NAME that loses text. Each line has
    /// the removed text and its position in the text of its document.
    ///
    /// Example: --remove --removed removed
    #[arg(long, value_name = "REMOVED", requires = "remove")]
    pub removed: Option<PathBuf>,
    /// Working directory, for INPUT with --remove [default: KEPT.work]
    ///
    /// It has the documents and the result files. A directory that an earlier command made from the
    /// same inputs with the same parameters is reused.
    ///
    /// Example: --remove --work work
    #[arg(long, value_name = "DIR", requires = "remove", hide_short_help = true)]
    pub work: Option<PathBuf>,
}

impl RemovalFlags {
    /// The parameters in the form that the library takes.
    pub fn config(&self, align: Align) -> RemovalConfig {
        RemovalConfig {
            align: self.align.unwrap_or(align),
            empty: match self.empty {
                KeepOrDrop::Keep => Empty::Keep,
                KeepOrDrop::Drop => Empty::Drop,
            },
        }
    }
}
