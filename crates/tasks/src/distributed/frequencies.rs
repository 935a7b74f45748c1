//! Document frequencies: the fingerprints of a part that can be chosen to their ranges, and their
//! classes back.

use super::blob::{CLASSES, KEYS, Reader, compress, put, put_rows};
use super::documents::{Documents, SHORTENED, Sampler};
use super::merge::Merge;
use super::{Config, Row, Stage, bad};
use lookalike_base::Result;

/// A part is worked on in chunks of documents that have at least this number of fingerprints.
const CHUNK: usize = 1 << 22;
/// The highest class of frequency.
const MOST_CLASS: u32 = 15;

/// The documents of a task, in chunks. Every stage that has the same documents makes the same ones.
pub(super) struct Chunks {
    pub documents: Documents,
    least: usize,
    begun: bool,
    /// The first node that is in no chunk yet.
    next: usize,
    /// The last chunk that was made.
    pub chunk: Chunk,
}

/// Some documents with consecutive numbers.
#[derive(Default)]
pub(super) struct Chunk {
    pub part: u32,
    pub number: u32,
    /// The first node.
    pub node: usize,
    /// The fingerprints of all documents, and the end of each document's.
    pub keys: Vec<u64>,
    pub ends: Vec<usize>,
}

impl Chunk {
    /// The documents of the chunk, each with its set.
    pub fn sets(&self) -> impl Iterator<Item = (usize, &[u64])> {
        let mut from = 0;
        let set = move |&end: &usize| &self.keys[std::mem::replace(&mut from, end)..end];
        (self.node..).zip(self.ends.iter().map(set))
    }

    /// The fingerprints that are counted, shortened and sorted.
    pub fn counted(&self, sampler: &Sampler) -> Vec<u64> {
        let short = self.keys.iter().map(|key| key >> SHORTENED);
        let mut keys: Vec<u64> = short.filter(|&key| key <= sampler.last_counted).collect();
        keys.sort_unstable();
        keys
    }
}

impl Chunks {
    pub fn new(config: &Config) -> Self {
        Chunks {
            documents: Documents::new(config),
            least: CHUNK,
            begun: false,
            next: 0,
            chunk: Chunk::default(),
        }
    }

    /// Makes the next chunk, if there is one.
    pub fn next(&mut self) -> Result<bool> {
        let chunk = &mut self.chunk;
        if !self.begun {
            self.begun = true;
            self.documents.finish()?;
            chunk.part = u32::MAX;
        }
        chunk.keys.clear();
        chunk.ends.clear();
        let nodes = self.documents.nodes();
        if self.next == nodes {
            return Ok(false);
        }
        let (part, _) = self.documents.number(self.next);
        chunk.number = if part == chunk.part {
            chunk.number + 1
        } else {
            0
        };
        (chunk.part, chunk.node) = (part, self.next);
        let mut set = Vec::new();
        while self.next < nodes && chunk.keys.len() < self.least {
            if self.documents.number(self.next).0 != part {
                break;
            }
            self.documents.set(self.next, &mut set)?;
            chunk.keys.extend_from_slice(&set);
            chunk.ends.push(chunk.keys.len());
            self.next += 1;
        }
        Ok(true)
    }
}

/// Sends the fingerprints of parts to their ranges.
pub struct Frequencies(Chunks);

impl Frequencies {
    /// A task without rows yet.
    pub fn new(config: &Config) -> Self {
        Frequencies(Chunks::new(config))
    }
}

impl Stage for Frequencies {
    fn take(&mut self, place: u32, blob: &[u8], _: &mut Vec<Row>) -> Result<()> {
        self.0.documents.add(place, blob)
    }

    fn step(&mut self, out: &mut Vec<Row>) -> Result<bool> {
        if !self.0.next()? {
            return Ok(false);
        }
        let chunk = &self.0.chunk;
        let sampler = &self.0.documents.sampler;
        let counted: Vec<[u64; 2]> = chunk
            .counted(sampler)
            .chunk_by(|a, b| a == b)
            .map(|same| [same[0], class(same.len() as u64)])
            .collect();
        for range in counted.chunk_by(|a, b| sampler.place(a[0]) == sampler.place(b[0])) {
            let mut blob = vec![KEYS];
            put(&mut blob, chunk.part.into());
            put(&mut blob, chunk.number.into());
            put(&mut blob, range.len() as u64);
            put_rows(&mut blob, range);
            out.push(Row {
                place: sampler.place(range[0][0]),
                blob,
            });
        }
        Ok(true)
    }
}

/// The class of a document frequency: 0 for a single document, then one for each doubling.
fn class(frequency: u64) -> u64 {
    u64::from(frequency.max(1).ilog2().min(MOST_CLASS))
}

/// Counts in how many documents the fingerprints of a range are, and answers to their parts.
pub struct Classes {
    merge: Merge<2>,
    /// The rows of the next stage: range, part, chunk and number of keys of each source.
    sources: Vec<(u32, u32, u32, u64)>,
    classes: Vec<Vec<u8>>,
}

const STAGE: &str = "classes";

impl Classes {
    /// A task without rows yet.
    pub fn new(config: &Config) -> Self {
        Classes {
            merge: Merge::new(STAGE, &config.scratch, config.memory),
            sources: Vec::new(),
            classes: Vec::new(),
        }
    }
}

impl Stage for Classes {
    fn take(&mut self, place: u32, blob: &[u8], _: &mut Vec<Row>) -> Result<()> {
        let mut reader = Reader::of(STAGE, KEYS, blob)?;
        let (part, chunk) = (reader.number_u32()?, reader.number_u32()?);
        let keys = reader.number()?;
        self.sources.push((place, part, chunk, keys));
        self.merge.add(reader.take(reader.left() as u64)?)
    }

    fn step(&mut self, out: &mut Vec<Row>) -> Result<bool> {
        self.classes = vec![Vec::new(); self.sources.len()];
        let mut group = Vec::new();
        while self.merge.next(&mut group)? {
            let documents = group
                .iter()
                .map(|(_, [_, class])| 1u64 << class.min(&31))
                .sum();
            for (source, _) in &group {
                self.classes[*source as usize].push(class(documents) as u8);
            }
        }
        for (&(range, part, chunk, keys), classes) in self.sources.iter().zip(&self.classes) {
            if classes.len() as u64 != keys {
                let found = classes.len().to_string();
                return Err(bad(STAGE, format!("{keys} fingerprints in a blob"), found));
            }
            let mut blob = vec![CLASSES];
            put(&mut blob, range.into());
            put(&mut blob, chunk.into());
            compress(classes, &mut blob)?;
            out.push(Row { place: part, blob });
        }
        self.sources.clear();
        Ok(false)
    }
}

/// The classes of the fingerprints of a chunk in one range.
pub(super) struct RangeClasses {
    pub range: u32,
    pub chunk: u32,
    pub classes: Vec<u8>,
}

impl RangeClasses {
    pub fn read(blob: &[u8]) -> Result<Self> {
        let mut reader = Reader::of(STAGE, CLASSES, blob)?;
        Ok(RangeClasses {
            range: reader.number_u32()?,
            chunk: reader.number_u32()?,
            classes: reader.compressed()?,
        })
    }
}
