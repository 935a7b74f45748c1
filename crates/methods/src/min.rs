//! `min`: the n smallest fingerprints.
//!
//! # Source
//! Min_n of Cherkasova et al. 2009, section 2, after Broder 1997. Take the n smallest fingerprints
//! of both documents together: the share of them that both documents have is an unbiased estimate
//! of their resemblance. Windows of 20 bytes, n = 100 (section 4.3).
//!
//! # Where we depart from the paper
//! See `windows.rs`. A document with fewer than n fingerprints keeps them all. For two such
//! documents the estimate is their resemblance.

use super::windows::{THRESHOLD, WINDOW, window, windows};
use super::{Entry, Method, join_by};
use lookalike_base::Measure;

pub(super) const METHOD: Entry = Entry {
    name: "min",
    about: "The n smallest fingerprints of all byte windows",
    paper: "Cherkasova et al. 2009, sections 2 and 4",
    parameters: &[
        WINDOW,
        "n=100: number of fingerprints per document",
        THRESHOLD,
    ],
    build: |values| {
        let n = values.number("n", 1..=1 << 20)? as u32;
        let window = window(values)?;
        let join = join_by(Measure::Smallest(n), values.threshold("threshold")?);
        Ok(Method::plain(join, move |document, keys| {
            let fingerprints = windows(document, window);
            fingerprints.sort_unstable();
            fingerprints.dedup();
            keys.extend(fingerprints.iter().take(n as usize));
        }))
    },
};
