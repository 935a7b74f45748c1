//! Chowdhury.
//!
//! # Source
//! Chowdhury, Frieder, Grossman & McCabe, *Collection statistics for fast duplicate document detection*, 2002.

use super::{Bench, Claim, Exhibit};
use crate::Result;

/// The exhibits and claims, in the order of the paper.
pub(super) fn reproduce(_bench: &mut Bench<'_>) -> Result<(Vec<Exhibit>, Vec<Claim>)> {
    Ok((Vec::new(), Vec::new()))
}
