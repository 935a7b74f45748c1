//! The counts of a segment.

use lookalike_base::is_zero;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counts of a segment. `records` is the sum of `documents`, `rejected` and `skipped`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentStats {
    /// Raw bytes of the records.
    pub bytes: u64,
    /// Records and rejects that the reader delivered.
    pub records: u64,
    /// Documents among them.
    pub documents: u64,
    /// Rejected records, by reason.
    pub rejected: BTreeMap<String, u64>,
    /// Notices about documents that are kept, by reason.
    pub noticed: BTreeMap<String, u64>,
    /// Records that are not documents, by kind (`request`, `warcinfo` ...).
    pub skipped: BTreeMap<String, u64>,
    /// Words (tokens).
    pub words: u64,
    /// Distinct shingles, summed over documents.
    pub shingles: u64,
    /// Documents with no words.
    pub empty: u64,
    /// Documents with fewer words than a shingle, without the empty ones.
    pub short: u64,
    /// Fingerprints stored.
    pub stored: u64,
    /// Documents whose set is not stored because an equal MD5 was seen recently in its unit.
    pub omitted: u64,
    /// Documents without a docno of their own, which are called `FILE:RECORD`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unnamed: u64,
    /// Documents that are captures of web archives, with their dates.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub captures: u64,
    /// If no flag names the field of the text: documents by the fields, or elements of records of
    /// markup, that are their text; the first names in the order of their bytes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, u64>,
    /// If the names of documents decide what their tokens are: documents by kind of token.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tokens: BTreeMap<String, u64>,
    /// Bytes of text kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub text: u64,
}

/// Names of fields that are counted.
const MOST_FIELDS: usize = 32;

/// Counts documents with a field. The names that come first are kept, so the counts do not depend on
/// the order of documents, and no input makes them large.
pub(super) fn add_field(fields: &mut BTreeMap<String, u64>, name: &str, n: u64) {
    match fields.get_mut(name) {
        Some(count) => *count += n,
        None => {
            fields.insert(name.into(), n);
            if fields.len() > MOST_FIELDS {
                fields.pop_last();
            }
        }
    }
}

impl SegmentStats {
    /// Adds another segment's counts.
    pub fn add(&mut self, other: &SegmentStats) {
        for (mine, theirs) in [
            (&mut self.rejected, &other.rejected),
            (&mut self.noticed, &other.noticed),
            (&mut self.skipped, &other.skipped),
            (&mut self.tokens, &other.tokens),
        ] {
            for (name, n) in theirs {
                *mine.entry(name.clone()).or_default() += n;
            }
        }
        for (name, n) in &other.fields {
            add_field(&mut self.fields, name, *n);
        }
        lookalike_base::add!(self, other => bytes, records, documents, words, shingles, empty, short,
            stored, omitted, unnamed, captures, text);
    }
}
