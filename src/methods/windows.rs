//! What the four algorithms of Cherkasova et al. have in common: fingerprints of every window of bytes.
//!
//! # Source
//! Cherkasova, Eshghi, Morrey, Tucek & Veitch 2009, section 2: a sliding window of w bytes in place of a
//! shingle of words, w = 20 by section 4.1. Containment is asked of Mod and BSW alone (Table 1: the n
//! smallest of a part may have nothing in common with those of the whole).
//!
//! # Where we depart from the paper
//! Windows are of the text with its white space folded, which the collection keeps; a Rabin fingerprint is
//! xxh3 of the window. A text shorter than a window has no keys.

use super::document::fingerprint;
use super::{Document, Parameter, Values, join_by};
use crate::join::JoinConfig;
use crate::measure::Measure;

pub(super) const WINDOW: Parameter = Parameter {
    name: "window",
    default: "20",
    help: "bytes in the sliding window (1 to 65536)",
};
pub(super) const THRESHOLD: Parameter = Parameter {
    name: "threshold",
    default: "0.7",
    help: "lowest similarity of a pair (section 5: above 70 % are good candidates)",
};
pub(super) const MEASURE: Parameter = Parameter {
    name: "measure",
    default: "resemblance",
    help: "resemblance, or containment of the smaller set in the other",
};

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

/// Fingerprints of all windows, in their order.
pub(super) fn windows<'d>(document: &'d mut Document<'_>, size: usize) -> &'d mut Vec<u64> {
    let (text, fingerprints) = document.text_and_buffer();
    let windows = text.as_bytes().windows(size);
    fingerprints.extend(windows.map(|window| fingerprint(window, 0)));
    fingerprints
}
