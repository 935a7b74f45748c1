//! Parameters of a join.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::Threshold;

/// The way to the pair list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Join {
    /// Count the shared fingerprints of every two documents that share one.
    #[default]
    Count,
}

impl fmt::Display for Join {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Join::Count => "count",
        })
    }
}

impl FromStr for Join {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "count" => Ok(Join::Count),
            _ => Err(format!("`{text}` is not a join; use count")),
        }
    }
}

/// Parameters of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinConfig {
    /// The way to the pair list.
    pub join: Join,
    /// Pairs at or above it are listed.
    pub threshold: Threshold,
    /// Fingerprints of more documents are dropped (lossy); `None` keeps all.
    pub max_postings: Option<u32>,
}
