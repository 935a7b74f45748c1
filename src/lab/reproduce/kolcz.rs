//! Kołcz & Chowdhury.
//!
//! # Source
//! Kołcz & Chowdhury, *Lexicon randomization for near-duplicate detection with I-Match*, 2008.

use super::{Bench, Claim, Exhibit};
use crate::Result;

/// The exhibits and claims, in the order of the paper.
pub(super) fn reproduce(_bench: &mut Bench<'_>) -> Result<(Vec<Exhibit>, Vec<Claim>)> {
    Ok((Vec::new(), Vec::new()))
}
