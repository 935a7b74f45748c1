//! The k-grams of texts that count for no document. A passage has no window that such a text has.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use lookalike_base::Result;
use lookalike_base::bits::Bits;
use lookalike_base::progress::Context;
use lookalike_engine::collection::CollectionConfig;
use lookalike_engine::excluded::{each_text, too_many};
use lookalike_store::{digest_bits, digest_text};
use lookalike_text::parse::{Parser, TokenConsumer, Tokens};

/// The most k-grams.
const MOST: usize = 1 << 18;
/// Bits of the filter: few k-grams of other texts pass it.
const FILTER_BITS: u32 = 24;

/// The k-grams of some texts.
#[derive(Clone, Debug)]
pub struct ExcludedGrams {
    digest: String,
    /// Their hashes, sorted.
    grams: Arc<[u128]>,
    /// Their first and last tokens.
    ends: Arc<Bits>,
}

/// Equal if their k-grams are.
impl PartialEq for ExcludedGrams {
    fn eq(&self, other: &ExcludedGrams) -> bool {
        self.digest == other.digest
    }
}

impl Eq for ExcludedGrams {}

/// As the digest of the k-grams.
impl Serialize for ExcludedGrams {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(&self.digest)
    }
}

/// The bit of a k-gram in the filter, from the hashes of its first and its last token.
fn bit(first: u64, last: u64) -> u32 {
    let mixed = (first.rotate_left(32) ^ last).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (u64::BITS - FILTER_BITS)) as u32
}

impl ExcludedGrams {
    /// The k-grams of the documents in some files, which are read as the inputs of the collection
    /// are; `None` without files.
    pub(super) fn read(
        files: &[PathBuf],
        (collection, length): (&CollectionConfig, u32),
        context: &Context<'_>,
    ) -> Result<Option<ExcludedGrams>> {
        if files.is_empty() {
            return Ok(None);
        }
        let mut parser = Parser::new(&collection.shingle.parse);
        let mut found = Collected {
            length: length as usize,
            grams: Vec::new(),
            ends: Bits::new(1 << FILTER_BITS),
        };
        each_text(files, &collection.read, context, |document, file| {
            let facts = parser.parse(document, &mut found);
            parser.shrink();
            found.settle();
            match found.grams.len() > MOST {
                true => Err(too_many(file, "windows of this length", MOST)),
                false => Ok((facts.words, facts.notices)),
            }
        })?;
        let bytes: Vec<_> = found.grams.iter().map(|gram| gram.to_le_bytes()).collect();
        Ok(Some(ExcludedGrams {
            digest: digest_text(digest_bits(bytes.as_flattened())),
            grams: found.grams.into(),
            ends: Arc::new(found.ends),
        }))
    }

    /// The digest of the k-grams.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> u64 {
        self.grams.len() as u64 * 32 + (1 << FILTER_BITS) / 8
    }

    /// Whether a k-gram may be one of these, by the hashes of its first and its last token.
    pub(super) fn may_have(&self, first: u64, last: u64) -> bool {
        self.ends.contains(bit(first, last))
    }

    /// Whether a k-gram is one of these.
    pub(super) fn has(&self, gram: &[u8]) -> bool {
        self.grams.binary_search(&xxh3_128(gram)).is_ok()
    }
}

/// The k-grams of texts while they are read.
struct Collected {
    length: usize,
    grams: Vec<u128>,
    ends: Bits,
}

impl Collected {
    fn settle(&mut self) {
        self.grams.sort_unstable();
        self.grams.dedup();
    }
}

impl TokenConsumer for Collected {
    fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize {
        let bytes = tokens.bytes;
        for span in tokens.spans(self.length) {
            let gram = bytes.get(span).unwrap_or_default();
            let mut words = gram.split(|&byte| byte == b' ');
            let first = xxh3_64(words.next().unwrap_or_default());
            let last = words.next_back().map_or(first, xxh3_64);
            self.ends.insert(bit(first, last));
            self.grams.push(xxh3_128(gram));
        }
        if self.grams.len() > 2 * MOST {
            self.settle();
        }
        if last {
            return bytes.len();
        }
        let kept = (tokens.len() + 1).saturating_sub(self.length);
        tokens
            .starts
            .get(kept)
            .map_or(0, |&start| start.min(bytes.len()))
    }
}
