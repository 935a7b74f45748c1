//! The digest of a text, and what it says about two documents with the same words.

use serde::Serializer;

use super::since::Since;
use lookalike_base::keywords;
use lookalike_store::WITH_TEXT_DIGEST;

keywords! {
    /// The agreement of two documents that have the same words.
    #[derive(PartialOrd, Ord)]
    pub enum Sameness {
        /// Their texts as read, byte for byte.
        Identical = "identical",
        /// Their words; their texts differ in case, punctuation, white space or the like.
        SameWords = "same words",
        /// Their words. Whether their texts do is unknown, because an earlier program read them.
        Unknown = "exact",
    }
}

impl Sameness {
    /// Compares two documents that have the same words.
    pub fn of(a: TextDigest, b: TextDigest) -> Sameness {
        match a == b {
            _ if a.is_unknown() || b.is_unknown() => Sameness::Unknown,
            true => Sameness::Identical,
            false => Sameness::SameWords,
        }
    }
}

/// The xxh3 hash of a text as read ([`lookalike_text::parse::ParseFacts::text`]). It is unknown in
/// collections of earlier programs.
pub type TextDigest = Since<WITH_TEXT_DIGEST, [u8; 8]>;

impl TextDigest {
    /// The digest of a text with this hash.
    pub fn new(hash: u64) -> TextDigest {
        Since(hash.max(1).to_le_bytes())
    }

    /// Whether the text was read by a program that made no digest.
    pub(crate) fn is_unknown(&self) -> bool {
        self.0 == [0; 8]
    }

    pub(super) fn hexadecimal<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", u64::from_le_bytes(self.0)))
    }
}
