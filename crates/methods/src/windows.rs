//! Fingerprints of all windows of bytes, which the four algorithms of Cherkasova et al. share.
//!
//! # Source
//! Cherkasova, Eshghi, Morrey, Tucek & Veitch 2009, section 2: a sliding window of w bytes replaces
//! the shingle of words; w = 20 (section 4.1). Only Mod and BSW offer containment, because the n
//! smallest fingerprints of a part may have nothing in common with the n smallest of the whole
//! (Table 1).
//!
//! # Where we depart from the paper
//! Windows slide over the text that the collection keeps, in which each run of white space is one
//! character. The fingerprint of a window is its xxh3 hash, not a Rabin fingerprint. A text shorter
//! than a window has no features.

use super::document::fingerprint;
use super::{Document, Values, join_by};
use lookalike_base::Measure;
use lookalike_engine::join::JoinConfig;

pub(super) const WINDOW: &str = "window=20: bytes in the sliding window (1 to 65536)";
pub(super) const THRESHOLD: &str =
    "threshold=0.7: lowest similarity of a pair (section 5: above 70 % are good candidates)";
pub(super) const MEASURE: &str =
    "measure=resemblance: resemblance, or containment of the smaller set in the other";

pub(super) fn window(values: &Values) -> Result<usize, String> {
    Ok(values.number("window", 1..=1 << 16)? as usize)
}

pub(super) fn join(values: &Values) -> Result<JoinConfig, String> {
    let words = [
        ("resemblance", Measure::Resemblance),
        ("containment", Measure::Containment),
    ];
    let measure = values.one_of("measure", &words)?;
    Ok(join_by(measure, values.threshold("threshold")?))
}

/// The fingerprints of all windows, in text order.
pub(super) fn windows<'d>(document: &'d mut Document<'_>, size: usize) -> &'d mut Vec<u64> {
    let (text, fingerprints) = document.text_and_buffer();
    let windows = text.as_bytes().windows(size);
    fingerprints.extend(windows.map(fingerprint));
    fingerprints
}
