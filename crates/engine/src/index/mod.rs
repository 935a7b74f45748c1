//! An index of all fingerprints, for look-ups that read little of a collection.
//!
//! # Source
//! An inverted file: Zobel & Moffat 2006. The search problem (1 x n) of Bernstein & Zobel 2006,
//! section 4.2.1. Cutting the keys into buckets of equal width, because they are random: Knuth,
//! TAOCP vol. 3, section 6.4.
//!
//! # In and out
//! In: a collection with its catalogue. Out: for each fingerprint of a representative, the
//! representatives that have it, and for each document the facts that an answer needs. The shared
//! postings ([`crate::merge`]) omit fingerprints of one document; this index has them,
//! because a new document may share them. An index for pairs that reach a threshold has only the
//! least fingerprints of each document: the shared ones that are least are among the least of both
//! documents (as in any order: [`Criterion::prefix`]).
//!
//! # Algorithm
//! The index keeps the first 48 bits of a key. A look-up gives candidates, and the sets decide; two
//! keys that agree in 48 bits only make a candidate more. The keys are cut into ranges, each a
//! file, and each range into buckets of about 128 keys. The key itself says in which bucket it is,
//! so a look-up reads the place of the bucket and the bucket. Lists of more than [`SHORT`]
//! documents lie outside the buckets, so that their length is known without reading them. The keys
//! of many documents are looked up together ([`Index::read`]): they are sorted, and buckets that
//! lie near each other are read at once.
//!
//! The sets are read once. Their keys are divided by ranges among temporary files, of which a
//! thread takes one at a time, sorts its keys in memory and writes the ranges. A file that does not
//! fit in the thread's share of the memory is halved by keys, and the documents of one key by
//! documents.
//!
//! Documents without keys are under the first bits of their MD5, so that identical ones are found.
//!
//! A collection grows, so the index is a list of *levels*, each of a range of documents, as in a
//! log-structured merge tree (O'Neil, Cheng, Gawlick & O'Neil 1996). New documents get a level of
//! their own. If the levels before it are not larger, they become one level with it: so there are
//! at most about log2(fingerprints) levels, and a fingerprint is written again only when the number
//! of fingerprints around it has doubled.
//!
//! # Invariants
//! - Same bytes for every budget and number of threads.
//! - The levels cover the documents from the first one on, without gaps. The levels that a larger
//!   one replaces are kept until the larger one is complete.
//! - Every byte that a look-up relies on is covered by a checksum that it checks. The checksums
//!   include the number of the bucket or document, so that they also detect a wrong place.
//! - Documents in lists = stored fingerprints of representatives + representatives without keys
//!   (but with words).
//!
//! # Cost
//! About 6 bytes for each fingerprint that it has and 64 and a docno for each document. Memory: the budget; a
//! record takes 17 bytes of it. The temporary files take 7 to 9 bytes for each fingerprint.
//!
//! # Errors
//! `BudgetTooSmall`, `StageMissing`, `Corrupt`, `Io`.

mod build;
mod divided;
mod documents;
mod lists;
mod look_up;
mod search;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::collection::{self, Extent};
use lookalike_base::{Criterion, Key};
use lookalike_store::{Kind, PartInfo, StageRecord, Workspace};

pub use build::run;
pub use documents::{Facts, IndexedDocuments, check_documents, check_facts, each_md5};
pub use look_up::{Buffers, Index, ListPlace, Lists, check_part};
pub use search::{IndexSearcher, TOGETHER};

const STAGE: &str = "index";
/// The subdirectory of the parts.
const DIRECTORY: &str = "index";
/// Leading bits of a key that the index keeps.
const KEY_BITS: u32 = 48;
/// The most documents of a list inside a bucket.
pub const SHORT: usize = 64;

/// Approximate number of keys in a range, which is a file.
const RANGE_KEYS: u64 = 4 << 20;
/// The most ranges.
const MOST_RANGES: u64 = 256;
/// Approximate number of keys in a bucket.
const BUCKET_KEYS: u64 = 128;

/// The index of a collection, if it covers all documents.
fn complete(workspace: &Workspace) -> Option<&IndexEntry> {
    let documents = Extent::of(collection::segments(&workspace.manifest)).documents;
    let entry = workspace.manifest.get::<IndexEntry>()?;
    let mut end = 0;
    for level in &entry.levels {
        if u64::from(level.first) != end {
            return None;
        }
        end = level.end();
    }
    (end == documents).then_some(entry)
}

/// Counts of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexStats {
    /// Distinct leading bits of keys.
    pub lists: u64,
    /// Documents in all lists.
    pub entries: u64,
    /// Bytes of the files.
    pub bytes: u64,
}

/// The index of a collection.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct IndexEntry {
    /// The complete levels, in the order of their documents.
    pub levels: Vec<Level>,
    /// The level that is being made. It replaces those within its range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub making: Option<Level>,
    /// The pairs that it is for: of each document, it has only the least fingerprints ([`least`]).
    /// Without, it has all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<Criterion>,
}

impl IndexEntry {
    /// The number of documents that the complete levels cover.
    pub fn documents(&self) -> u64 {
        self.levels.last().map_or(0, Level::end)
    }

    /// Counts of the complete levels.
    pub fn stats(&self) -> IndexStats {
        let mut all = IndexStats::default();
        for level in &self.levels {
            lookalike_base::add!(all, level.stats => lists, entries, bytes);
        }
        all
    }

    /// Whether it has what a search for these pairs looks up, or for any without a criterion.
    fn serves(&self, wanted: Option<Criterion>) -> bool {
        let own = self.criterion;
        own.is_none_or(|own| wanted.is_some_and(|wanted| own.serves(wanted)))
    }
}

/// How many of the least keys of a set an index for these pairs has: more than the prefix, as many
/// as a search looks up.
fn least(criterion: Option<Criterion>, keys: u32, words: u64) -> u64 {
    let prefix = |criterion: Criterion| {
        let words = u32::try_from(words).unwrap_or(u32::MAX);
        let size = if criterion.measure.of_words() {
            words
        } else {
            keys
        };
        // An identical document is found even if no pair reaches the threshold.
        IndexSearcher::wanted(criterion.prefix(keys, size).max(1).into())
    };
    criterion.map_or(keys.into(), prefix).min(keys.into())
}

/// The index of a range of documents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Level {
    /// Its number, which no other level of the directory has: the upper half of the numbers of its
    /// parts.
    pub number: u32,
    /// Its first document.
    pub first: u32,
    /// Number of its documents.
    pub documents: u64,
    /// How the keys are divided.
    pub layout: Layout,
    /// The part of each range that is done.
    pub parts: BTreeMap<u32, PartInfo>,
    /// The facts about documents, and their docnos.
    pub facts: Option<(PartInfo, PartInfo)>,
    /// Counts of the committed parts.
    pub stats: IndexStats,
}

impl Level {
    /// The document after its last one.
    pub fn end(&self) -> u64 {
        u64::from(self.first) + self.documents
    }

    /// The number of a part: a range, or a part with facts.
    fn part(&self, number: u64) -> u64 {
        u64::from(self.number) << 32 | number
    }

    fn parts(&self) -> impl Iterator<Item = (Kind, &PartInfo)> {
        let lists = self.parts.values().map(|part| (Kind::Index, part));
        let facts = self
            .facts
            .iter()
            .flat_map(|(facts, docnos)| [facts, docnos]);
        lists.chain(facts.map(|part| (Kind::Facts, part)))
    }
}

impl StageRecord for IndexEntry {
    const NAME: &'static str = "index";
    const OMITTED: bool = true;
    const DIRECTORY: Option<&'static str> = Some(DIRECTORY);

    fn parts(&self) -> Vec<(Kind, &PartInfo)> {
        let levels = self.levels.iter().chain(&self.making);
        levels.flat_map(Level::parts).collect()
    }

    /// Keeps the levels before the lost part's level, and parts that are made elsewhere.
    fn without(&self, part: &str) -> Option<Self> {
        let has = |level: &Level| level.parts().any(|(_, own)| own.name == part);
        let kept = self.levels.iter().position(has);
        let levels = self.levels[..kept.unwrap_or(self.levels.len())].to_vec();
        let end = levels.last().map_or(0, Level::end);
        let making = self.making.clone();
        let making = making.filter(|level| !has(level) && u64::from(level.first) <= end);
        (!levels.is_empty() || making.is_some()).then_some(IndexEntry {
            levels,
            making,
            ..*self
        })
    }
}

/// How the keys are divided into ranges and buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Number of ranges.
    pub ranges: u32,
    /// Buckets of each range.
    pub buckets: u32,
}

impl Layout {
    /// The layout for about this number of keys.
    fn of(keys: u64) -> Layout {
        let ranges = keys.div_ceil(RANGE_KEYS).clamp(1, MOST_RANGES);
        let buckets = keys.div_ceil(ranges * BUCKET_KEYS).clamp(1, 1 << 30);
        Layout {
            ranges: ranges as u32,
            buckets: buckets as u32,
        }
    }

    /// Whether the numbers are possible, and so the arithmetic does not overflow.
    fn is_valid(self) -> bool {
        (1..=MOST_RANGES).contains(&self.ranges.into()) && (1..=1 << 30).contains(&self.buckets)
    }

    fn all(self) -> u64 {
        u64::from(self.ranges) * u64::from(self.buckets)
    }

    /// The bucket of a key, from its leading bits.
    fn bucket(self, leading: u64) -> u64 {
        ((u128::from(leading) * u128::from(self.all())) >> KEY_BITS) as u64
    }

    /// The least leading bits in a bucket.
    fn least(self, bucket: u64) -> u64 {
        (u128::from(bucket) << KEY_BITS).div_ceil(self.all().into()) as u64
    }

    /// The least and the greatest leading bits of a range.
    fn bounds(self, range: u32) -> (u64, u64) {
        let first = u64::from(range) * u64::from(self.buckets);
        let next = self.least(first + u64::from(self.buckets));
        (self.least(first), next - 1)
    }
}

/// The leading bits of a key.
#[inline]
fn leading<K: Key>(key: K) -> u64 {
    (key.to_u128() >> (K::BITS - KEY_BITS)) as u64
}

/// The key under which a document without keys is found.
pub fn key_of<K: Key>(md5: [u8; 16]) -> K {
    K::from_u128(u128::from_be_bytes(md5) >> (128 - K::BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_in_one_bucket() {
        for layout in [1, 127, 129, 4 << 20, 680_000_000, 1 << 40].map(Layout::of) {
            assert!(layout.is_valid(), "{layout:?}");
            let mut next = 0;
            for range in 0..layout.ranges {
                let (low, high) = layout.bounds(range);
                assert_eq!(low, next, "{layout:?}");
                next = high + 1;
                let first = u64::from(range) * u64::from(layout.buckets);
                assert_eq!(layout.bucket(low), first);
                assert_eq!(layout.bucket(high), first + u64::from(layout.buckets) - 1);
            }
            assert_eq!(next, 1 << KEY_BITS);
            let step = (layout.all() / 1000).max(1);
            for bucket in (1..layout.all()).step_by(step as usize) {
                let least = layout.least(bucket);
                assert_eq!(layout.bucket(least), bucket);
                assert_eq!(layout.bucket(least - 1), bucket - 1);
            }
        }
    }
}
