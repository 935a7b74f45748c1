//! Bernstein & Zobel.
//!
//! # Source
//! Bernstein & Zobel, *Accurate discovery of co-derivative documents via duplicate text detection*, 2006.

use super::{Bench, Claim, Exhibit};
use crate::Result;

/// The exhibits and claims, in the order of the paper.
pub(super) fn reproduce(_bench: &mut Bench<'_>) -> Result<(Vec<Exhibit>, Vec<Claim>)> {
    Ok((Vec::new(), Vec::new()))
}
