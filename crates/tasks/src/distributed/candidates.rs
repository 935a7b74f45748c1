//! Pairs of documents that share a key.

use std::mem::take;

use lookalike_base::{Criterion, Result};

use super::blob::{BLOCKS, PAIRS, POSTINGS, Reader, all_rows, put, put_rows, unexpected};
use super::merge::Merge;
use super::prefixes::{LEVEL, OWN};
use super::{Config, Row, Stage, bad, document, part_of, place_of};

const STAGE: &str = "candidates";
/// Pairs that are sorted together.
pub(super) const PAIRS_TOGETHER: usize = 1 << 20;
/// The documents of a list whose pairs are made at once. A longer list is cut into blocks.
const BLOCK: usize = 4096;
/// Bytes of rows after which a stage passes them on.
const ROWS_BYTES: usize = 4 << 20;

/// A document under a key: the number of its fingerprints, its number, its flags, and the number of
/// its fingerprints before the key.
type Entry = [u64; 4];

/// Makes pairs, without repetitions as far as memory reaches. As a task, it makes those of long
/// lists, and passes the others on.
pub struct Blocks {
    criterion: Criterion,
    look_up: bool,
    pairs: Vec<[u64; 2]>,
    pub(super) block: usize,
}

impl Blocks {
    /// A task without rows yet.
    pub fn new(config: &Config) -> Self {
        Blocks {
            criterion: config.criterion,
            look_up: config.look_up,
            pairs: Vec::new(),
            block: BLOCK,
        }
    }

    /// Whether two documents can make a pair, their sizes left aside.
    fn allowed(&self, a: u64, b: u64) -> bool {
        let sides = !self.look_up || (a & 1 & (b >> 1)) | (b & 1 & (a >> 1)) == 1;
        sides && (a | b) & OWN > 0
    }

    /// Adds a pair if it can reach the threshold with this key as the first key that they share in
    /// the order (Xiao, Wang, Lin & Yu 2008, section 4.1). A pair that does reach it can under its
    /// first key, so none is lost.
    fn add(&mut self, a: &Entry, b: &Entry, out: &mut Vec<Row>) {
        let most = (a[0] - a[3]).min(b[0] - b[3]);
        let enough = most >= self.criterion.least_shared(a[0], b[0]);
        if enough && a[1] != b[1] && self.allowed(a[2], b[2]) {
            self.pairs.push([a[1].min(b[1]), a[1].max(b[1])]);
            if self.pairs.len() >= PAIRS_TOGETHER {
                self.send(out);
            }
        }
    }

    /// The pairs within a list, which is sorted by size.
    fn within(&mut self, list: &[Entry], out: &mut Vec<Row>) {
        for n in 0..list.len() {
            self.between(&list[n..=n], &list[n + 1..], out);
        }
    }

    /// The pairs between two lists. The first has the smaller documents.
    fn between(&mut self, small: &[Entry], large: &[Entry], out: &mut Vec<Row>) {
        for a in small {
            let most = self.criterion.largest_partner(a[0] as u32);
            for b in large.iter().take_while(|b| b[0] <= most) {
                self.add(a, b, out);
            }
        }
    }

    /// The pairs of a list, or rows from which others make them.
    fn of_list(&mut self, key: u64, list: &[Entry], places: u32, out: &mut Vec<Row>) {
        if list.len() <= self.block {
            return self.within(list, out);
        }
        let blocks: Vec<&[Entry]> = list.chunks(self.block).collect();
        for (i, small) in blocks.iter().enumerate() {
            let largest = small.last();
            let most = largest.map(|a| self.criterion.largest_partner(a[0] as u32));
            for (j, large) in blocks.iter().enumerate().skip(i) {
                if large.first().map(|b| b[0]) > most {
                    break;
                }
                let mut blob = vec![BLOCKS];
                let mut rows = Vec::new();
                put_rows(&mut rows, small);
                put(&mut blob, rows.len() as u64);
                blob.extend_from_slice(&rows);
                if i < j {
                    put_rows(&mut blob, large);
                }
                let blocks = key ^ (i as u64) << 32 ^ j as u64;
                let place = place_of(blocks.wrapping_mul(0x9e37_79b9_7f4a_7c15), places);
                out.push(Row { place, blob });
            }
        }
    }

    /// Sends the pairs to both of their parts.
    fn send(&mut self, out: &mut Vec<Row>) {
        let mut pairs = take(&mut self.pairs);
        pairs.sort_unstable();
        pairs.dedup();
        let mut wanted: Vec<(u32, [u64; 2])> = Vec::with_capacity(pairs.len() * 2);
        for &[a, b] in &pairs {
            wanted.push((part_of(a), [a, b]));
            if part_of(a) != part_of(b) {
                wanted.push((part_of(b), [a, b]));
            }
        }
        wanted.sort_unstable();
        let mut rows = Vec::new();
        for part in wanted.chunk_by(|a, b| a.0 == b.0) {
            rows.clear();
            rows.extend(part.iter().map(|(_, pair)| *pair));
            out.push(pairs_row(part[0].0, &rows));
        }
        pairs.clear();
        self.pairs = pairs;
    }
}

/// Refuses a key beyond the end of its document, and impossible sizes.
fn check(size: u64, before: u64) -> Result<()> {
    if before >= size || size > u32::MAX.into() {
        let found = format!("key {before} of {size}");
        return Err(bad(STAGE, "a key of the document", found));
    }
    Ok(())
}

/// A row of pairs, which are sorted.
pub(super) fn pairs_row(place: u32, pairs: &[[u64; 2]]) -> Row {
    let mut blob = vec![PAIRS];
    put_rows(&mut blob, pairs);
    Row { place, blob }
}

fn bytes(rows: &[Row]) -> usize {
    rows.iter().map(|row| row.blob.len()).sum()
}

/// Finds the documents that share a key of a range.
pub struct Candidates {
    merge: Merge<5>,
    /// The part of each source.
    parts: Vec<u32>,
    pub(super) pairs: Blocks,
    places: u32,
}

impl Candidates {
    /// A task without rows yet.
    pub fn new(config: &Config) -> Self {
        Candidates {
            merge: Merge::new(STAGE, &config.scratch, config.memory),
            parts: Vec::new(),
            pairs: Blocks::new(config),
            places: config.places,
        }
    }
}

impl Stage for Candidates {
    fn take(&mut self, _: u32, blob: &[u8], _: &mut Vec<Row>) -> Result<()> {
        let mut reader = Reader::of(STAGE, POSTINGS, blob)?;
        self.parts.push(reader.number_u32()?);
        self.merge.add(reader.take(reader.left() as u64)?)
    }

    fn step(&mut self, out: &mut Vec<Row>) -> Result<bool> {
        let (mut group, mut list) = (Vec::new(), Vec::new());
        while self.merge.next(&mut group)? {
            if group.len() < 2 {
                continue;
            }
            let key = group[0].1[0];
            // The lists of the levels are apart.
            group.sort_unstable_by_key(|(source, row)| (row[3] >> LEVEL, row[2], *source, row[1]));
            for level in group.chunk_by(|a, b| a.1[3] >> LEVEL == b.1[3] >> LEVEL) {
                list.clear();
                for &(source, [_, rank, size, flags, before]) in level {
                    check(size, before)?;
                    let part = self.parts[source as usize];
                    list.push([size, document(part, rank as u32), flags, before]);
                }
                // Whatever order the rows came in, the blocks are the same.
                list.sort_unstable();
                self.pairs.of_list(key, &list, self.places, out);
            }
            if bytes(out) >= ROWS_BYTES {
                return Ok(true);
            }
        }
        self.pairs.send(out);
        Ok(false)
    }
}

impl Stage for Blocks {
    fn take(&mut self, place: u32, blob: &[u8], out: &mut Vec<Row>) -> Result<()> {
        match blob.first() {
            Some(&PAIRS) => {
                let blob = blob.into();
                out.push(Row { place, blob });
            }
            Some(&BLOCKS) => {
                let mut reader = Reader::of(STAGE, BLOCKS, blob)?;
                let small = reader.bytes()?;
                let small: Vec<Entry> = all_rows(STAGE, &mut Reader::new(STAGE, small))?;
                let large: Vec<Entry> = all_rows(STAGE, &mut reader)?;
                let mut both = small.iter().chain(&large);
                both.try_for_each(|entry| check(entry[0], entry[3]))?;
                let most = small.len().max(large.len());
                if most > BLOCK {
                    return Err(bad(STAGE, format!("blocks of {BLOCK} documents"), most));
                }
                match large.is_empty() {
                    true => self.within(&small, out),
                    false => self.between(&small, &large, out),
                }
            }
            kind => return Err(unexpected(STAGE, kind.copied())),
        }
        Ok(())
    }

    fn step(&mut self, out: &mut Vec<Row>) -> Result<bool> {
        self.send(out);
        Ok(false)
    }
}
