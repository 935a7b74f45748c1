//! What is compared, and what is kept.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::Serialize;

/// Which of the judged documents of one topic and cluster is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// The first in the collection.
    #[default]
    First,
    /// That of highest relevance; of several, the first in the collection.
    Best,
    /// The cluster's representative in place of all, with the highest relevance of them.
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

/// What is read, and where what is kept goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QrelsConfig {
    /// The judgements.
    pub qrels: PathBuf,
    /// An output directory, or a `clusters.jsonl`.
    pub clusters: PathBuf,
    /// A ranking.
    pub run: Option<PathBuf>,
    /// The directory for what is kept; nothing is written without.
    pub output: Option<PathBuf>,
    /// Which judgement of a group is kept.
    pub keep: Keep,
}
