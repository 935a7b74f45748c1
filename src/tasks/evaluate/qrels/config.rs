//! Which files are compared, and which judgements are kept.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::Serialize;

/// Which judged document of a topic and cluster is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// The first document in the collection.
    #[default]
    First,
    /// The document of highest relevance, and the first in the collection of several.
    Best,
    /// The representative of the cluster, with the highest relevance of the judged documents.
    Map,
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Keep::First => "first",
            Keep::Best => "best",
            Keep::Map => "map",
        })
    }
}

impl FromStr for Keep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Keep::First, Keep::Best, Keep::Map];
        let found = all.into_iter().find(|keep| keep.to_string() == text);
        found.ok_or_else(|| format!("`{text}` is not one of first, best, map"))
    }
}

/// What the lines of judgements look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QrelsFormat {
    /// The number of fields of the first line, and whether a docno has several lines, decide.
    #[default]
    Auto,
    /// Topic, iteration, docno, relevance.
    Trec,
    /// Topic, subtopic, docno, relevance: a docno may have a line for each subtopic.
    Ndeval,
    /// Topic, docno, relevance, method, probability.
    Prels,
}

/// The fields of a line in [`QrelsFormat::Trec`].
const TREC: &[&str] = &["topic", "iteration", "docno", "relevance"];
/// The fields of a line in [`QrelsFormat::Ndeval`].
const NDEVAL: &[&str] = &["topic", "subtopic", "docno", "relevance"];
/// The fields of a line in [`QrelsFormat::Prels`].
const PRELS: &[&str] = &["topic", "docno", "relevance", "method", "probability"];

impl QrelsFormat {
    /// The fields that a line may have.
    pub(super) fn fields(self) -> Vec<&'static [&'static str]> {
        match self {
            QrelsFormat::Auto => vec![TREC, PRELS],
            QrelsFormat::Trec => vec![TREC],
            QrelsFormat::Ndeval => vec![NDEVAL],
            QrelsFormat::Prels => vec![PRELS],
        }
    }
}

impl fmt::Display for QrelsFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            QrelsFormat::Auto => "auto",
            QrelsFormat::Trec => "trec",
            QrelsFormat::Ndeval => "ndeval",
            QrelsFormat::Prels => "prels",
        })
    }
}

impl FromStr for QrelsFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        use QrelsFormat::{Auto, Ndeval, Prels, Trec};
        let found = [Auto, Trec, Ndeval, Prels]
            .into_iter()
            .find(|format| format.to_string() == text);
        found.ok_or_else(|| format!("`{text}` is not one of auto, trec, ndeval, prels"))
    }
}

/// The input files and the output directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QrelsConfig {
    /// The qrels.
    pub qrels: PathBuf,
    /// What their lines look like.
    pub format: QrelsFormat,
    /// An output directory, or a `clusters.jsonl`.
    pub clusters: PathBuf,
    /// A ranking to deduplicate.
    pub run: Option<PathBuf>,
    /// The directory for the deduplicated files. `None` writes nothing.
    pub output: Option<PathBuf>,
    /// Which judgement of a group is kept.
    pub keep: Keep,
}
