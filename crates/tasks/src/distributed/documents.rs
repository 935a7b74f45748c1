//! The documents: on their way to their parts, and there.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::dedup::{Policy, preference};
use lookalike_base::{Criterion, Rate, Result};
use lookalike_engine::collection::Rule;
use lookalike_engine::sample::{KEYS_OF_A_CHOICE, Levels, PARTS};
use lookalike_engine::shingle::Shingler;
use lookalike_store::Aside;
use lookalike_text::read::{ContentKind, RawDocument};

use super::blob::{DOCUMENTS, Reader, compress, put, put_bytes};
use super::{Config, Row, absent, bad, place_of};

const STAGE: &str = "documents";
/// Text that is kept before it is sent to its parts.
const INTAKE_BYTES: usize = 32 << 20;
/// Documents and bytes whose MD5s are computed together.
const TOGETHER: usize = 256;
const TOGETHER_BYTES: usize = 1 << 20;
/// Nothing is hashed.
const NO_RANGE: (u64, u64) = (1, 0);

/// The part that a document has in the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// One of the documents among which pairs are sought.
    Any = 3,
    /// A query.
    Query = 1,
    /// A document of the collection that is looked up.
    Collection = 2,
}

/// Sends texts to their parts.
pub struct Intake {
    places: u32,
    groups: lookalike_engine::collection::SizeGroups,
    /// The order of preference.
    pub policies: Vec<Policy>,
    rule: Option<Arc<Rule>>,
    shingler: Shingler<u64>,
    /// The records of documents whose MD5s are still to be computed, with the values of the condition.
    open: Vec<(Vec<u8>, String)>,
    /// Records by part and MD5.
    records: Vec<(u32, [u8; 16], Vec<u8>)>,
    bytes: usize,
    text: Vec<u8>,
}

impl Intake {
    /// `policies` say which of two documents to keep, if that is to be found out.
    pub fn new(config: &Config, policies: Vec<Policy>) -> Result<Self> {
        config.check()?;
        Ok(Intake {
            places: config.places,
            groups: config.size_groups.clone(),
            policies,
            rule: config.rule.clone(),
            shingler: Shingler::new(&config.shingle),
            open: Vec::new(),
            records: Vec::new(),
            bytes: 0,
            text: Vec::new(),
        })
    }

    /// The fields of the condition, whose values `add` expects.
    pub fn condition(&self) -> &[String] {
        let rule = self.rule.as_ref();
        rule.map_or(&[], |rule| rule.condition.fields())
    }

    /// Adds a document. The policies and the condition take their fields from `values`, except the
    /// number of words, which is counted here. Identifiers are ordered by their bytes. A document
    /// without words is left out, because no other resembles it.
    pub fn add(
        &mut self,
        text: &str,
        content: ContentKind,
        id: &[u8],
        (values, fields): (&[Option<&str>], Vec<Option<String>>),
        side: Side,
        out: &mut Vec<Row>,
    ) -> Result<()> {
        let document = RawDocument::of_text(text, content);
        let mut set = Vec::new();
        self.text.clear();
        let facts = self
            .shingler
            .shingle_keeping(&document, NO_RANGE, &mut set, &mut self.text);
        let kept = self.rule.as_ref().map_or(String::new(), |rule| {
            let fields = rule.condition.fields().iter().zip(fields);
            let values = fields.map(|(field, value)| match &**field {
                "words" => Some(facts.words.to_string()),
                _ => value,
            });
            serde_json::Value::from(values.collect::<Vec<_>>()).to_string()
        });
        let record = match facts.words {
            0 => Vec::new(),
            words => {
                let rank = self.rank(words, values);
                self.record(side, words, [id, &rank, kept.as_bytes(), &self.text])
            }
        };
        self.bytes += record.len();
        self.open.push((record, kept));
        if self.open.len() >= TOGETHER || self.shingler.undigested_bytes() >= TOGETHER_BYTES {
            self.close();
        }
        if self.bytes >= INTAKE_BYTES {
            self.send(out)?;
        }
        Ok(())
    }

    /// Adds a document that was read before, with the MD5 of its words, their number, and its text
    /// without markup. One whose words an earlier document of this task has may come without text.
    pub(crate) fn add_read(
        &mut self,
        (digest, words): ([u8; 16], u64),
        text: &[u8],
        id: &[u8],
        out: &mut Vec<Row>,
    ) -> Result<()> {
        let record = self.record(Side::Any, words, [id, &[], &[], text]);
        self.bytes += record.len();
        self.records
            .push((part_of_digest(&digest, self.places), digest, record));
        match self.bytes >= INTAKE_BYTES {
            true => self.send(out),
            false => Ok(()),
        }
    }

    /// The record of a document. `parts` are its identifier, its rank, the values of the condition,
    /// and its text.
    fn record(&self, side: Side, words: u64, parts: [&[u8]; 4]) -> Vec<u8> {
        let mut record = Vec::with_capacity(parts.map(<[u8]>::len).iter().sum::<usize>() + 24);
        record.extend([side as u8, self.groups.group(words)]);
        for part in parts {
            put_bytes(&mut record, part);
        }
        record
    }

    /// Sends the rest.
    pub fn finish(&mut self, out: &mut Vec<Row>) -> Result<()> {
        self.send(out)
    }

    /// The place of a document in the order of preference: a preferred document compares as less.
    /// The last byte says which of the rest is preferred: 0 for the least identifier, 1 for the
    /// greatest.
    fn rank(&self, words: u64, values: &[Option<&str>]) -> Vec<u8> {
        let mut rank = Vec::new();
        let mut values = values.iter();
        for policy in &self.policies {
            let place = match policy {
                Policy::First => break,
                Policy::Last => {
                    rank.push(1);
                    return rank;
                }
                Policy::Longest => (u64::MAX - words).into(),
                Policy::Shortest => words.into(),
                policy => {
                    let value = values.next().copied().flatten();
                    preference(policy, value).unwrap_or(u128::MAX)
                }
            };
            rank.extend_from_slice(&place.to_be_bytes());
        }
        if !self.policies.is_empty() {
            rank.push(0);
        }
        rank
    }

    fn close(&mut self) {
        let digests = self.shingler.digests();
        for ((record, kept), digest) in self.open.drain(..).zip(digests) {
            if !record.is_empty() {
                let rule = self.rule.as_ref();
                let class = rule.map_or(*digest, |rule| rule.class(digest, &kept, &record));
                self.records
                    .push((part_of_digest(&class, self.places), class, record));
            }
        }
    }

    fn send(&mut self, out: &mut Vec<Row>) -> Result<()> {
        self.close();
        self.bytes = 0;
        self.records.sort_by_key(|(part, ..)| *part);
        for part in self.records.chunk_by(|a, b| a.0 == b.0) {
            let mut blob = vec![DOCUMENTS];
            put(&mut blob, part.len() as u64);
            let mut records = Vec::new();
            for (_, digest, record) in part {
                blob.extend_from_slice(digest);
                records.extend_from_slice(record);
            }
            compress(&records, &mut blob)?;
            out.push(Row {
                place: part[0].0,
                blob,
            });
        }
        self.records.clear();
        Ok(())
    }
}

/// The part of the documents with these words.
fn part_of_digest(&[a, b, c, d, e, f, g, h, ..]: &[u8; 16], places: u32) -> u32 {
    place_of(u64::from_be_bytes([a, b, c, d, e, f, g, h]), places)
}

/// A document of a part.
#[derive(Default)]
pub(super) struct Member {
    part: u32,
    digest: [u8; 16],
    pub side: u8,
    group: u8,
    pub id: Box<[u8]>,
    pub rank: Box<[u8]>,
    /// The values of the condition.
    pub kept: Box<[u8]>,
    /// Its text among the texts.
    at: u64,
    length: u32,
}

impl Member {
    /// Appends the facts about the document that a result needs.
    pub fn put(&self, out: &mut Vec<u8>) {
        out.push(self.side);
        put_bytes(out, &self.id);
        put_bytes(out, &self.rank);
        put_bytes(out, &self.kept);
    }

    /// Whether a document of the same part has the same words.
    pub fn has_words_of(&self, other: &Member) -> bool {
        self.digest[..8] == other.digest[..8]
    }

    /// Reads what `put` wrote.
    pub fn read(reader: &mut Reader<'_>) -> Result<Member> {
        Ok(Member {
            side: reader.byte()?,
            id: reader.bytes()?.into(),
            rank: reader.bytes()?.into(),
            kept: reader.bytes()?.into(),
            ..Member::default()
        })
    }
}

/// The documents of some parts. Those with the same words are one *node*.
pub(super) struct Documents {
    members: Vec<Member>,
    /// The first member of each node, and the number of members at the end.
    nodes: Vec<u32>,
    /// The first node of each part.
    parts: BTreeMap<u32, u32>,
    texts: Aside,
    buffer: Vec<u8>,
    shingler: Shingler<u64>,
    pub sampler: Sampler,
}

impl Documents {
    pub fn new(config: &Config) -> Self {
        Documents {
            members: Vec::new(),
            nodes: Vec::new(),
            parts: BTreeMap::new(),
            texts: Aside::within(&config.scratch, config.memory / 2),
            buffer: Vec::new(),
            shingler: Shingler::new(&config.shingle),
            sampler: Sampler::new(config),
        }
    }

    pub fn add(&mut self, part: u32, blob: &[u8]) -> Result<()> {
        let mut reader = Reader::of(STAGE, DOCUMENTS, blob)?;
        let count = reader.number()?;
        let digests = reader.take(count.saturating_mul(16))?;
        let records = reader.compressed()?;
        let mut reader = Reader::new(STAGE, &records);
        for digest in digests.as_chunks().0 {
            let (side, group) = (reader.byte()?, reader.byte()?);
            let (id, rank) = (reader.bytes()?.into(), reader.bytes()?.into());
            let (kept, text) = (reader.bytes()?.into(), reader.bytes()?);
            self.members.push(Member {
                part,
                digest: *digest,
                side,
                group,
                id,
                rank,
                kept,
                at: self.texts.put(text)?,
                length: text.len() as u32,
            });
        }
        Ok(())
    }

    /// Numbers the nodes, so no documents may be added afterwards.
    pub fn finish(&mut self) -> Result<()> {
        if self.members.len() > u32::MAX as usize {
            let found = self.members.len().to_string();
            return Err(bad(STAGE, "at most 2^32 documents in a task", found));
        }
        self.members.sort_unstable_by(|a, b| {
            let key = |m: &Member| (m.part, m.digest);
            let rest = |m: &Member| (m.side, m.rank.clone());
            let by_id = || a.id.cmp(&b.id).then_with(|| rest(a).cmp(&rest(b)));
            key(a).cmp(&key(b)).then_with(by_id)
        });
        for (n, member) in self.members.iter().enumerate() {
            let before = n.checked_sub(1).map(|n| &self.members[n]);
            if before.is_none_or(|b| (b.part, b.digest) != (member.part, member.digest)) {
                let node = self.nodes.len() as u32;
                self.parts.entry(member.part).or_insert(node);
                self.nodes.push(n as u32);
            }
        }
        self.nodes.push(self.members.len() as u32);
        Ok(())
    }

    pub fn nodes(&self) -> usize {
        self.nodes.len().saturating_sub(1)
    }

    /// Part and rank of a node.
    pub fn number(&self, node: usize) -> (u32, u32) {
        let part = self.first(node).part;
        (part, node as u32 - self.parts[&part])
    }

    /// The node of a number.
    pub fn node(&self, stage: &'static str, document: u64) -> Result<usize> {
        let (part, rank) = (super::part_of(document), document as u32);
        let first = self.parts.get(&part);
        let node = first.map(|&first| first as usize + rank as usize);
        let node = node.filter(|&node| node < self.nodes() && self.first(node).part == part);
        node.ok_or_else(|| absent(stage, document, self.nodes()))
    }

    pub fn members(&self, node: usize) -> &[Member] {
        &self.members[self.nodes[node] as usize..self.nodes[node + 1] as usize]
    }

    fn first(&self, node: usize) -> &Member {
        &self.members[self.nodes[node] as usize]
    }

    /// The sides of a node's members.
    pub fn sides(&self, node: usize) -> u64 {
        let members = self.members(node).iter();
        u64::from(members.fold(0, |sides, member| sides | member.side))
    }

    /// The level of a node in the sampling.
    pub fn level(&self, node: usize) -> usize {
        self.sampler.level(self.first(node).group)
    }

    pub fn text(&mut self, node: usize, out: &mut Vec<u8>) -> Result<()> {
        let (at, length) = (self.first(node).at, self.first(node).length);
        out.resize(length as usize, 0);
        self.texts.get(at, out)
    }

    /// The sampled fingerprints of a node, sorted.
    pub fn set(&mut self, node: usize, set: &mut Vec<u64>) -> Result<()> {
        let bounds = self.sampler.bounds[self.level(node)];
        self.set_within(node, bounds, set)
    }

    /// The fingerprints of a node within bounds, sorted.
    pub(crate) fn set_within(
        &mut self,
        node: usize,
        bounds: (u64, u64),
        set: &mut Vec<u64>,
    ) -> Result<()> {
        let mut text = std::mem::take(&mut self.buffer);
        self.text(node, &mut text)?;
        let done = set_of(&mut self.shingler, &text, bounds, set);
        self.buffer = text;
        done
    }
}

/// The fingerprints of a text within bounds, sorted.
pub(super) fn set_of(
    shingler: &mut Shingler<u64>,
    text: &[u8],
    bounds: (u64, u64),
    set: &mut Vec<u64>,
) -> Result<()> {
    let text = std::str::from_utf8(text);
    let text = text.map_err(|_| bad(STAGE, "a text in UTF-8", "other bytes"))?;
    let document = RawDocument::of_text(text, ContentKind::Text);
    shingler.shingle_only(&document, bounds, set);
    Ok(())
}

/// The number of the lowest [`PARTS`] of all keys that have enough keys to choose a prefix from.
fn counted_parts(criterion: Criterion) -> u64 {
    let prefix = u64::from(criterion.prefix(1 << 16, 1 << 16));
    let parts = (prefix * KEYS_OF_A_CHOICE * u64::from(PARTS)).div_ceil(1 << 16);
    parts.min(PARTS.into())
}

/// Which fingerprints are in a sample, and where they go.
pub(super) struct Sampler {
    pub levels: Levels,
    /// The bounds of each level; the first one contains the others.
    pub bounds: Vec<(u64, u64)>,
    /// The greatest shortened key whose document frequency is counted.
    pub last_counted: u64,
    places: u32,
}

/// Bits that a fingerprint is shortened by when frequencies are counted. Two that become one are
/// counted together: one in fifty among 2 * 10^10.
pub(super) const SHORTENED: u32 = 24;

impl Sampler {
    pub fn new(config: &Config) -> Self {
        let levels = config.sampling.levels(config.size_groups.count());
        let bounds: Vec<(u64, u64)> = levels.rates.iter().copied().map(Rate::bounds).collect();
        let (low, high) = bounds[0];
        // A level is compared on the keys that are also in every coarser one, so all are counted.
        let last_counted = match bounds.len() {
            1 => low + (high - low) / u64::from(PARTS) * counted_parts(config.criterion),
            _ => high,
        };
        Sampler {
            last_counted: last_counted >> SHORTENED,
            bounds,
            levels,
            places: config.places,
        }
    }

    pub fn level(&self, group: u8) -> usize {
        let level = self.levels.level_of_group.get(usize::from(group));
        usize::from(level.copied().unwrap_or(0))
    }

    /// The share of the counted keys that are before a shortened key, as a part of `of`. For a key
    /// that is not counted, the share of the keys that are not counted. It grows with the key within
    /// each of these two groups.
    pub fn share(&self, short: u64, of: u64) -> u64 {
        let (low, high) = match short <= self.last_counted {
            true => (self.bounds[0].0 >> SHORTENED, self.last_counted),
            false => (self.last_counted + 1, self.bounds[0].1 >> SHORTENED),
        };
        // The share of 2^64. This needs no division of 128 bits for each key.
        let part = (short.clamp(low, high) - low) * (u64::MAX / (high - low + 1));
        ((u128::from(part) * u128::from(of)) >> 64) as u64
    }

    /// The range of a shortened key.
    pub fn place(&self, short: u64) -> u32 {
        self.share(short, self.places.into()) as u32
    }
}
