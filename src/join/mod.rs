//! Stage 8 of 10: from shared postings to the pair list.
//!
//! # Source
//! Steps 3 and 4 of Broder's algorithm (Broder, Glassman, Manasse & Zweig 1997) as restated by Ye,
//! Wen & Ma 2008, section 2.1: count for every two documents the fingerprints they share, and from
//! that and their sizes their resemblance.
//!
//! # In and out
//! In: shared postings and the samples' sizes. Out: every pair of documents a < b whose (estimated)
//! resemblance is at or above the threshold, with its shared count, ordered by (a, b).
//!
//! # Algorithm
//! `count`: see [`count`].
//!
//! # Invariants
//! - The pairs are those of the definition, exactly, unless `--max-postings` drops common shingles;
//!   what it drops is counted.
//! - Resemblance is compared in integers ([`crate::ids::Threshold`]).
//!
//! # Errors
//! `BudgetTooSmall`; `Corrupt`; `Io`.

mod config;
pub mod count;
mod pairs;

pub use config::{Join, JoinConfig};
pub use count::{JoinProgress, JoinStats};
pub use pairs::{Pair, each_pair};

use crate::Result;
use crate::ids::Key;
use crate::manifest::Workspace;
use crate::progress::Context;

/// Joins, unless the pairs of these parameters are there. `limit` bounds the fan-in of merges.
pub fn run<K: Key>(
    workspace: &mut Workspace,
    config: &JoinConfig,
    limit: Option<usize>,
    context: &Context<'_>,
) -> Result<()> {
    match config.join {
        Join::Count => count::run::<K>(workspace, config, limit, context),
    }
}
