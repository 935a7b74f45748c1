//! Cherkasova.
//!
//! # Source
//! Cherkasova, Eshghi, Morrey, Tucek & Veitch, *Applying syntactic similarity algorithms for enterprise information management*, 2009.

use super::{Bench, Claim, Exhibit};
use crate::Result;

/// The exhibits and claims, in the order of the paper.
pub(super) fn reproduce(_bench: &mut Bench<'_>) -> Result<(Vec<Exhibit>, Vec<Claim>)> {
    Ok((Vec::new(), Vec::new()))
}
