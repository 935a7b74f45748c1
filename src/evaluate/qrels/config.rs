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

/// The input files and the output directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QrelsConfig {
    /// The qrels.
    pub qrels: PathBuf,
    /// An output directory, or a `clusters.jsonl`.
    pub clusters: PathBuf,
    /// A ranking to deduplicate.
    pub run: Option<PathBuf>,
    /// The directory for the deduplicated files. `None` writes nothing.
    pub output: Option<PathBuf>,
    /// Which judgement of a group is kept.
    pub keep: Keep,
}
