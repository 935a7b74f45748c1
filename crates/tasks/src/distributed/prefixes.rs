//! The prefixes of documents, or their bands of min-hashes, to the ranges of their keys.

use std::collections::HashMap;

use lookalike_base::{Criterion, Result, within};
use lookalike_methods::MinHashes;

use super::blob::{CLASSES, POSTINGS, put, put_rows};
use super::documents::{SHORTENED, Sampler};
use super::frequencies::{Chunks, RangeClasses};
use super::{Config, Row, Stage, bad};

const STAGE: &str = "prefixes";

/// Other facts that a posting has about its document: the sides, whether the level is its own, the
/// level.
pub(super) const OWN: u64 = 4;
pub(super) const LEVEL: u32 = 3;

/// Sends postings, which have the columns key, rank, number of fingerprints, flags, and number of
/// fingerprints before the key in the order of the document.
fn send(sampler: &Sampler, part: u32, postings: &mut Vec<[u64; 5]>, out: &mut Vec<Row>) {
    postings.sort_unstable();
    let place = |posting: &[u64; 5]| sampler.place(posting[0] >> SHORTENED);
    for range in postings.chunk_by(|a, b| place(a) == place(b)) {
        let mut blob = vec![POSTINGS];
        put(&mut blob, part.into());
        put_rows(&mut blob, range);
        out.push(Row {
            place: place(&range[0]),
            blob,
        });
    }
    postings.clear();
}

/// Sends the prefixes of the documents of parts.
pub struct Prefixes {
    chunks: Chunks,
    criterion: Criterion,
    /// Classes by part and chunk.
    classes: HashMap<(u32, u32), Vec<RangeClasses>>,
}

impl Prefixes {
    /// A task without rows yet.
    pub fn new(config: &Config) -> Self {
        Prefixes {
            chunks: Chunks::new(config),
            criterion: config.criterion,
            classes: HashMap::new(),
        }
    }
}

impl Stage for Prefixes {
    fn take(&mut self, place: u32, blob: &[u8], _: &mut Vec<Row>) -> Result<()> {
        if blob.first() == Some(&CLASSES) {
            let classes = RangeClasses::read(blob)?;
            let chunk = self.classes.entry((place, classes.chunk)).or_default();
            chunk.push(classes);
            return Ok(());
        }
        self.chunks.documents.add(place, blob)
    }

    fn step(&mut self, out: &mut Vec<Row>) -> Result<bool> {
        if !self.chunks.next()? {
            return match self.classes.len() {
                0 => Ok(false),
                _ => Err(bad(STAGE, "the documents of each class", "classes alone")),
            };
        }
        let (documents, chunk) = (&self.chunks.documents, &self.chunks.chunk);
        let sampler = &documents.sampler;
        let classes = self.classes.remove(&(chunk.part, chunk.number));
        let index = Index::new(sampler, chunk.counted(sampler), classes.unwrap_or_default())?;
        let mut postings = Vec::new();
        let mut ordered: Vec<(u8, u64)> = Vec::new();
        for (node, set) in chunk.sets() {
            let own = documents.level(node);
            let (_, rank) = documents.number(node);
            for level in own..sampler.bounds.len() {
                let keys = within(set, sampler.bounds[level]);
                let prefix = self.criterion.prefix(keys.len() as u32, keys.len() as u32) as usize;
                if prefix == 0 {
                    continue;
                }
                ordered.clear();
                let is_counted = |key: &u64| key >> SHORTENED <= sampler.last_counted;
                let (counted, others) = keys.split_at(keys.partition_point(is_counted));
                let in_order = |&key: &u64| (index.class(sampler, key), scattered(key));
                ordered.extend(counted.iter().map(in_order));
                if counted.len() < prefix {
                    ordered.extend(others.iter().map(|&key| (NOT_COUNTED, scattered(key))));
                }
                let alone = ordered.iter().filter(|(class, _)| *class == 0).count();
                // Its prefix consists of fingerprints that no other document has.
                if alone >= prefix {
                    continue;
                }
                if prefix < ordered.len() {
                    ordered.select_nth_unstable(prefix - 1);
                }
                let own = if level == own { OWN } else { 0 };
                let flags = documents.sides(node) | own | (level as u64) << LEVEL;
                ordered[..prefix].sort_unstable();
                for (before, &(_, key)) in ordered[..prefix].iter().enumerate().skip(alone) {
                    let (size, key) = (keys.len() as u64, gathered(key));
                    postings.push([key, rank.into(), size, flags, before as u64]);
                }
            }
        }
        send(sampler, chunk.part, &mut postings, out);
        Ok(true)
    }
}

/// The class of a fingerprint that is not counted. It sorts after all others.
const NOT_COUNTED: u8 = u8::MAX;

/// An odd number, and the one with which its product is 1.
const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;
const GATHER: u64 = 0xf1de_83e1_9937_733d;

/// Fingerprints of the same class are ordered by this. By the fingerprints themselves, the low
/// ranges would get most of the prefixes: the first of eight had 36 times the work of the last.
fn scattered(key: u64) -> u64 {
    key.wrapping_mul(SCATTER)
}

/// The fingerprint that was scattered.
fn gathered(scattered: u64) -> u64 {
    scattered.wrapping_mul(GATHER)
}

/// The classes of the fingerprints of a chunk.
struct Index {
    /// The shortened fingerprints, each with its class in the lowest byte.
    entries: Vec<u64>,
    /// Where the entries of each of equal ranges begin, about [`RANGE`] in each.
    starts: Vec<u32>,
}

/// Entries that are read one after the other. They are in one or two lines of the cache.
const RANGE: usize = 8;

impl Index {
    fn new(sampler: &Sampler, mut keys: Vec<u64>, mut ranges: Vec<RangeClasses>) -> Result<Self> {
        keys.dedup();
        ranges.sort_unstable_by_key(|range| range.range);
        let mut classes = Vec::with_capacity(keys.len());
        let mut from = 0;
        for range in ranges {
            let length = keys[from..].partition_point(|&key| sampler.place(key) <= range.range);
            if range.classes.len() != length {
                let expected = format!("classes of {length} fingerprints of range {}", range.range);
                return Err(bad(STAGE, expected, range.classes.len().to_string()));
            }
            classes.extend_from_slice(&range.classes);
            from += length;
        }
        if classes.len() != keys.len() {
            let expected = format!("classes of {} fingerprints", keys.len());
            return Err(bad(STAGE, expected, classes.len().to_string()));
        }
        let mut starts = vec![0u32; keys.len() / RANGE + 1];
        let mut next = 0;
        for (n, (key, class)) in keys.iter_mut().zip(classes).enumerate() {
            let at = sampler.share(*key, starts.len() as u64) as usize;
            while next <= at {
                starts[next] = n as u32;
                next += 1;
            }
            *key = *key << u8::BITS | u64::from(class);
        }
        Ok(Index {
            entries: keys,
            starts,
        })
    }

    /// The class of a fingerprint of the chunk.
    fn class(&self, sampler: &Sampler, key: u64) -> u8 {
        let short = key >> SHORTENED;
        let from = self.starts[sampler.share(short, self.starts.len() as u64) as usize] as usize;
        let before = |&&entry: &&u64| entry >> u8::BITS < short;
        let steps = self.entries[from..].iter().take_while(before).count();
        self.entries[from + steps] as u8
    }
}

/// Sends bands of min-hashes in place of prefixes.
pub struct Bands {
    chunks: Chunks,
    hashes: MinHashes,
}

impl Bands {
    /// A task without rows yet.
    pub fn new(config: &Config) -> Result<Self> {
        let (bands, rows) = config.bands.unwrap_or((16, 8));
        Ok(Bands {
            chunks: Chunks::new(config),
            hashes: MinHashes::new(bands, rows, config.shingle.seed)?,
        })
    }
}

impl Stage for Bands {
    fn take(&mut self, place: u32, blob: &[u8], _: &mut Vec<Row>) -> Result<()> {
        self.chunks.documents.add(place, blob)
    }

    fn step(&mut self, out: &mut Vec<Row>) -> Result<bool> {
        if !self.chunks.next()? {
            return Ok(false);
        }
        let (documents, chunk) = (&self.chunks.documents, &self.chunks.chunk);
        let (mut postings, mut keys) = (Vec::new(), Vec::new());
        for (node, set) in chunk.sets() {
            let (size, rank) = (set.len() as u64, documents.number(node).1);
            keys.clear();
            self.hashes.keys(&mut set.to_vec(), &mut keys);
            let flags = documents.sides(node) | OWN;
            postings.extend(keys.iter().map(|&key| [key, rank.into(), size, flags, 0]));
        }
        send(&documents.sampler, chunk.part, &mut postings, out);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_scattered_is_gathered() {
        assert_eq!(SCATTER.wrapping_mul(GATHER), 1);
        let mut random = lookalike_base::random::Random::new(4);
        for _ in 0..100 {
            let key = random.below(u64::MAX);
            assert_eq!(gathered(scattered(key)), key);
        }
    }
}
