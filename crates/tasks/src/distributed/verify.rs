//! Compares the sets of candidates.

use std::collections::HashMap;

use lookalike_base::{Criterion, Key, Result};
use lookalike_engine::collection::within_le;
use lookalike_engine::shingle::Shingler;
use lookalike_store::Aside;

use super::blob::{
    DOCUMENTS, PAIRS, RESULTS, Reader, TEXTS, all_rows, compress, put, put_bytes, unexpected,
};
use super::candidates::{PAIRS_TOGETHER, pairs_row};
use super::documents::{Documents, Member, Sampler, Side, set_of};
use super::{Config, Row, Stage, absent, bad, part_of};

const STAGE: &str = "verify";
/// Bytes of texts in a row.
const TEXT_BYTES: usize = 4 << 20;
/// Pairs that are compared in a step.
const STEP_PAIRS: usize = 1 << 16;
/// Bytes of the results of a row.
const RESULT_BYTES: usize = 1 << 20;

/// The sets of documents, in memory or in a file.
struct Sets {
    criterion: Criterion,
    sampler: Sampler,
    keys: Aside,
    /// Offset, number of keys and level of the set of each document.
    places: HashMap<u64, (u64, u32, u8)>,
    /// The first document of the last comparison, and its set.
    first: (u64, Vec<u8>),
    second: Vec<u8>,
}

impl Sets {
    fn new(config: &Config) -> Self {
        Sets {
            criterion: config.criterion,
            sampler: Sampler::new(config),
            keys: Aside::within(&config.scratch, config.memory / 4),
            places: HashMap::new(),
            first: (u64::MAX, Vec::new()),
            second: Vec::new(),
        }
    }

    fn put(&mut self, document: u64, level: usize, set: &[u64]) -> Result<()> {
        self.second.clear();
        set.iter().for_each(|key| key.put_le(&mut self.second));
        let at = self.keys.put(&self.second)?;
        self.places
            .insert(document, (at, set.len() as u32, level as u8));
        Ok(())
    }

    fn place(&self, document: u64) -> Result<(u64, u32, u8)> {
        let place = self.places.get(&document).copied();
        place.ok_or_else(|| absent(STAGE, document, self.places.len()))
    }

    /// Shared fingerprints and sizes of two documents, if they reach the threshold.
    fn compare(&mut self, a: u64, b: u64) -> Result<Option<[u32; 3]>> {
        let (at_a, length_a, level_a) = self.place(a)?;
        let (at_b, length_b, level_b) = self.place(b)?;
        let (first, set_a) = &mut self.first;
        if *first != a {
            set_a.resize(length_a as usize * u64::BYTES, 0);
            self.keys.get(at_a, set_a)?;
            *first = a;
        }
        self.second.resize(length_b as usize * u64::BYTES, 0);
        self.keys.get(at_b, &mut self.second)?;
        let bounds = self.sampler.bounds[usize::from(level_a.max(level_b))];
        let (set_a, set_b) = (within_le(set_a, bounds), within_le(&self.second, bounds));
        let [size_a, size_b] = [set_a, set_b].map(|set| (set.len() / u64::BYTES) as u64);
        let least = self.criterion.least_shared(size_a, size_b);
        let shared = u64::shared_le(set_a, set_b, least)
            .filter(|&shared| self.criterion.reached(shared, size_a, size_b));
        Ok(shared.map(|shared| [shared as u32, size_a as u32, size_b as u32]))
    }
}

/// A pair that reaches the threshold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The document with the lesser identifier; in a look-up, the query.
    pub a: Box<[u8]>,
    /// The other one.
    pub b: Box<[u8]>,
    /// Their places in the order of preference; empty if none was given.
    pub ranks: [Box<[u8]>; 2],
    /// Shared fingerprints, and the numbers of fingerprints of `a` and `b`.
    pub numbers: [u32; 3],
    /// Whether the two have the same words, and no condition parts them.
    pub exact: bool,
    /// Whether the two have the same words.
    pub same_words: bool,
}

impl Found {
    /// Appends its bytes.
    pub fn put(&self, out: &mut Vec<u8>) {
        for bytes in [&self.a, &self.b, &self.ranks[0], &self.ranks[1]] {
            put_bytes(out, bytes);
        }
        for number in self.numbers {
            put(out, number.into());
        }
        out.extend([self.exact, self.same_words].map(u8::from));
    }

    /// Passes on the pairs of which `put` appended the bytes.
    pub fn each(bytes: &[u8], mut take: impl FnMut(Found) -> Result<()>) -> Result<()> {
        let mut reader = Reader::new(STAGE, bytes);
        while !reader.is_empty() {
            take(Found::read(&mut reader)?)?;
        }
        Ok(())
    }

    fn read(reader: &mut Reader<'_>) -> Result<Found> {
        Ok(Found {
            a: reader.bytes()?.into(),
            b: reader.bytes()?.into(),
            ranks: [reader.bytes()?.into(), reader.bytes()?.into()],
            numbers: [
                reader.number_u32()?,
                reader.number_u32()?,
                reader.number_u32()?,
            ],
            exact: reader.byte()? == 1,
            same_words: reader.byte()? == 1,
        })
    }
}

/// Adds the results of a pair of nodes: their first members, or each query of the one with the
/// first document of the other.
fn add_found(
    config: &Config,
    [a, b]: [&[Member]; 2],
    numbers: [u32; 3],
    (exact, same_words): (bool, bool),
    mut add: impl FnMut(Found),
) {
    let mut found = |a: &Member, b: &Member, [shared, size_a, size_b]: [u32; 3]| {
        let rule = config.rule.as_ref();
        if rule.is_none_or(|rule| rule.holds(&a.kept, &b.kept)) {
            add(Found {
                a: a.id.clone(),
                b: b.id.clone(),
                ranks: [a.rank.clone(), b.rank.clone()],
                numbers: [shared, size_a, size_b],
                exact,
                same_words,
            });
        }
    };
    let [shared, size_a, size_b] = numbers;
    let turned = [shared, size_b, size_a];
    if !config.look_up {
        match a[0].id <= b[0].id {
            true => found(&a[0], &b[0], numbers),
            false => found(&b[0], &a[0], turned),
        }
        return;
    }
    let document = |members: &[Member]| {
        let of = |member: &&Member| member.side & Side::Collection as u8 > 0;
        members.iter().position(|member| of(&member))
    };
    let queries = |members: &'_ [Member]| -> Vec<usize> {
        let of = |n: &usize| members[*n].side & Side::Query as u8 > 0;
        (0..members.len()).filter(of).collect()
    };
    if let Some(n) = document(b) {
        for query in queries(a) {
            found(&a[query], &b[n], numbers);
        }
    }
    // A node that is compared with itself has answered already.
    if !exact && let Some(n) = document(a) {
        for query in queries(b) {
            found(&b[query], &a[n], turned);
        }
    }
}

/// Sends a result, in rows of moderate size.
fn send_found(bytes: &mut Vec<u8>, found: &Found, place: u32, out: &mut Vec<Row>) {
    if bytes.is_empty() {
        bytes.push(RESULTS);
    }
    found.put(bytes);
    if bytes.len() >= RESULT_BYTES {
        flush(bytes, place, out);
    }
}

fn flush(bytes: &mut Vec<u8>, place: u32, out: &mut Vec<Row>) {
    let blob = std::mem::take(bytes);
    out.extend((!blob.is_empty()).then_some(Row { place, blob }));
}

/// Compares the candidates within parts, and sends the texts of the others to where they meet.
pub struct Verify {
    config: Config,
    documents: Documents,
    pairs: Vec<(u32, [u64; 2])>,
    sets: Sets,
    /// The step that comes next: finishing the documents, then the pairs from this one on.
    at: Option<usize>,
    /// Results that are not sent yet.
    sending: Vec<u8>,
}

impl Verify {
    /// A task without rows yet.
    pub fn new(config: &Config) -> Self {
        Verify {
            config: config.clone(),
            documents: Documents::new(config),
            pairs: Vec::new(),
            sets: Sets::new(config),
            at: None,
            sending: Vec::new(),
        }
    }

    /// The documents with the same words.
    fn equal(&mut self, out: &mut Vec<Row>) -> Result<()> {
        let mut set = Vec::new();
        for node in 0..self.documents.nodes() {
            let members = self.documents.members(node);
            let both = self.documents.sides(node) == 3;
            if members.len() < 2 || self.config.look_up && !both {
                continue;
            }
            // They share all shingles, whatever the sampling.
            self.documents.set_within(node, (0, u64::MAX), &mut set)?;
            let numbers = [set.len() as u32; 3];
            let (place, _) = self.documents.number(node);
            let members = self.documents.members(node);
            let (first, others) = match self.config.look_up {
                true => (members, members.chunks(members.len())),
                false => (&members[..1], members[1..].chunks(1)),
            };
            for other in others {
                let two = [first, other];
                add_found(&self.config, two, numbers, (true, true), |found| {
                    send_found(&mut self.sending, &found, place, out);
                });
            }
        }
        Ok(())
    }

    /// Sends texts and pairs of a part to the parts in which they are compared.
    fn send(&mut self, pairs: &[(u32, [u64; 2])], out: &mut Vec<Row>) -> Result<()> {
        let mut wanted: Vec<(u32, u64)> = Vec::new();
        let mut away = Vec::new();
        for &(part, [a, b]) in pairs {
            if part_of(a) != part_of(b) {
                // They meet at the part of one of them, which sends the pair. Of many pairs, each part
                // gets as many as the others.
                let meeting = part_of(if (a ^ b) & 1 == 0 { a } else { b });
                if part == meeting {
                    away.push([a, b]);
                }
                wanted.push((meeting, if part == part_of(a) { a } else { b }));
            }
        }
        if let Some(&(part, _)) = pairs.first() {
            let rows = away.chunks(PAIRS_TOGETHER);
            out.extend(rows.map(|pairs| pairs_row(part, pairs)));
        }
        wanted.sort_unstable();
        wanted.dedup();
        let (mut texts, mut text) = (Vec::new(), Vec::new());
        for meeting in wanted.chunk_by(|a, b| a.0 == b.0) {
            for (n, &(place, number)) in meeting.iter().enumerate() {
                let node = self.documents.node(STAGE, number)?;
                put(&mut texts, number);
                texts.push(self.documents.level(node) as u8);
                let members = self.documents.members(node);
                // Pairs need the first one only.
                let members = if self.config.look_up {
                    members
                } else {
                    &members[..1]
                };
                put(&mut texts, members.len() as u64);
                members.iter().for_each(|member| member.put(&mut texts));
                self.documents.text(node, &mut text)?;
                put_bytes(&mut texts, &text);
                if texts.len() >= TEXT_BYTES || n + 1 == meeting.len() {
                    let mut blob = vec![TEXTS];
                    compress(&texts, &mut blob)?;
                    out.push(Row { place, blob });
                    texts.clear();
                }
            }
        }
        Ok(())
    }
}

impl Stage for Verify {
    fn take(&mut self, place: u32, blob: &[u8], _: &mut Vec<Row>) -> Result<()> {
        match blob.first() {
            Some(&DOCUMENTS) => self.documents.add(place, blob),
            Some(&PAIRS) => {
                let mut reader = Reader::of(STAGE, PAIRS, blob)?;
                let pairs = all_rows(STAGE, &mut reader)?.into_iter();
                self.pairs.extend(pairs.map(|pair| (place, pair)));
                Ok(())
            }
            kind => Err(unexpected(STAGE, kind.copied())),
        }
    }

    fn step(&mut self, out: &mut Vec<Row>) -> Result<bool> {
        let Some(from) = self.at else {
            self.at = Some(0);
            self.documents.finish()?;
            self.equal(out)?;
            self.pairs.sort_unstable();
            self.pairs.dedup();
            return Ok(true);
        };
        // A step does not go beyond its part.
        let pairs = std::mem::take(&mut self.pairs);
        let Some(&(part, _)) = pairs.get(from) else {
            flush(&mut self.sending, 0, out);
            return Ok(false);
        };
        let to = (from + STEP_PAIRS).min(pairs.len());
        let to = from + pairs[from..to].partition_point(|(other, _)| *other == part);
        if from == 0 || pairs[from - 1].0 != part {
            let end = from + pairs[from..].partition_point(|(other, _)| *other == part);
            self.send(&pairs[from..end], out)?;
        }
        let mut set = Vec::new();
        for &(_, [a, b]) in &pairs[from..to] {
            if part_of(a) != part_of(b) {
                continue;
            }
            let documents = &self.documents;
            let nodes = [documents.node(STAGE, a)?, documents.node(STAGE, b)?];
            for (node, number) in nodes.into_iter().zip([a, b]) {
                if !self.sets.places.contains_key(&number) {
                    self.documents.set(node, &mut set)?;
                    self.sets.put(number, self.documents.level(node), &set)?;
                }
            }
            if let Some(numbers) = self.sets.compare(a, b)? {
                let two = nodes.map(|node| self.documents.members(node));
                let same_words = two[0][0].has_words_of(&two[1][0]);
                add_found(&self.config, two, numbers, (false, same_words), |found| {
                    send_found(&mut self.sending, &found, part, out);
                });
            }
        }
        flush(&mut self.sending, part, out);
        self.pairs = pairs;
        self.at = Some(to);
        Ok(true)
    }
}

/// Compares documents of different parts, and passes the results of the others on. Its rows have
/// only pairs, for [`Found::each`].
pub struct PartResults {
    config: Config,
    shingler: Shingler<u64>,
    sets: Sets,
    members: HashMap<u64, Vec<Member>>,
    pairs: Vec<[u64; 2]>,
    at: usize,
}

impl PartResults {
    /// A task without rows yet.
    pub fn new(config: &Config) -> Self {
        PartResults {
            config: config.clone(),
            shingler: Shingler::new(&config.shingle),
            sets: Sets::new(config),
            members: HashMap::new(),
            pairs: Vec::new(),
            at: 0,
        }
    }
}

impl Stage for PartResults {
    fn take(&mut self, _: u32, blob: &[u8], out: &mut Vec<Row>) -> Result<()> {
        match blob.first() {
            Some(&RESULTS) => {
                let mut bytes = Vec::new();
                Found::each(&blob[1..], |found| {
                    found.put(&mut bytes);
                    Ok(())
                })?;
                flush(&mut bytes, 0, out);
            }
            Some(&PAIRS) => {
                let mut reader = Reader::of(STAGE, PAIRS, blob)?;
                self.pairs.extend(all_rows::<2>(STAGE, &mut reader)?);
            }
            Some(&TEXTS) => {
                let texts = Reader::of(STAGE, TEXTS, blob)?.compressed()?;
                let mut reader = Reader::new(STAGE, &texts);
                let mut set = Vec::new();
                while !reader.is_empty() {
                    let number = reader.number()?;
                    let level = usize::from(reader.byte()?);
                    let members = (0..reader.number()?).map(|_| Member::read(&mut reader));
                    let members = members.collect::<Result<Vec<_>>>()?;
                    let text = reader.bytes()?;
                    let bounds = self.sets.sampler.bounds.get(level).copied();
                    let bounds = bounds.ok_or_else(|| bad(STAGE, "a level", level.to_string()))?;
                    set_of(&mut self.shingler, text, bounds, &mut set)?;
                    self.sets.put(number, level, &set)?;
                    self.members.insert(number, members);
                }
            }
            kind => return Err(unexpected(STAGE, kind.copied())),
        }
        Ok(())
    }

    /// Compares some pairs.
    fn step(&mut self, out: &mut Vec<Row>) -> Result<bool> {
        let mut bytes = Vec::new();
        if self.at == 0 {
            self.pairs.sort_unstable();
            self.pairs.dedup();
        }
        let to = (self.at + STEP_PAIRS).min(self.pairs.len());
        for &[a, b] in &self.pairs[self.at..to] {
            if let Some(numbers) = self.sets.compare(a, b)?
                && let (Some(x), Some(y)) = (self.members.get(&a), self.members.get(&b))
            {
                // Documents with the same words are of the same part.
                add_found(&self.config, [x, y], numbers, (false, false), |found| {
                    found.put(&mut bytes);
                });
            }
        }
        flush(&mut bytes, 0, out);
        self.at = to;
        Ok(to < self.pairs.len())
    }
}
