//! The digest of a text, and what it says about two documents with the same words.

use bincode::de::{BorrowDecoder, Decoder};
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{BorrowDecode, Decode, Encode};
use serde::{Serialize, Serializer};

use lookalike_base::keywords::keywords;
use lookalike_store::WITH_TEXT_DIGEST;

keywords! {
    /// What two documents with the same words have in common.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextDigest(u64);

impl TextDigest {
    /// The digest of a text with this hash.
    pub fn new(hash: u64) -> TextDigest {
        TextDigest(hash.max(1))
    }

    /// The bytes of a digest that may be unknown.
    pub fn to_bytes(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }

    /// Reads what [`TextDigest::to_bytes`] made.
    pub fn from_bytes(bytes: [u8; 8]) -> TextDigest {
        TextDigest(u64::from_le_bytes(bytes))
    }

    /// Whether the text was read by a program that made no digest.
    pub(crate) fn is_unknown(&self) -> bool {
        self.0 == 0
    }
}

impl Serialize for TextDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

impl Encode for TextDigest {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.to_bytes().encode(encoder)
    }
}

/// Documents of earlier format versions have none.
impl Decode<u16> for TextDigest {
    fn decode<D: Decoder<Context = u16>>(decoder: &mut D) -> Result<Self, DecodeError> {
        match *decoder.context() >= WITH_TEXT_DIGEST {
            true => Decode::decode(decoder).map(TextDigest::from_bytes),
            false => Ok(TextDigest::default()),
        }
    }
}

impl<'b> BorrowDecode<'b, u16> for TextDigest {
    fn borrow_decode<D: BorrowDecoder<'b, Context = u16>>(
        decoder: &mut D,
    ) -> Result<Self, DecodeError> {
        Decode::decode(decoder)
    }
}
