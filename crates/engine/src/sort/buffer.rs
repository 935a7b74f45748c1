//! The buffer for forming a run: records distributed over buckets by the highest bits of their
//! keys.

use super::{Distributor, Record};
use lookalike_base::{Key, Result};

/// The most records in a buffer, because they are numbered with 32 bits.
const MOST_RECORDS: u64 = 1 << 31;
/// Usable records per piece. A bucket of a full buffer has at least `BUCKET / 2` records, and only
/// one of its pieces is partly filled. So one record in 32 of a piece is assumed to be lost.
const FILLED: u64 = (PIECE - PIECE / 32) as u64;
/// Additional pieces for a buffer of any size.
const SPARE: u64 = 5;
/// Records in a piece. A bucket is a chain of pieces. In the buffer, pieces lie in the order in
/// which they were started.
const PIECE: usize = 64;
/// Approximate records in a bucket of a full buffer: the number sorted at once, in cache.
const BUCKET: usize = 4096;
/// The most buckets. Writing touches one cache line of 64 bytes in each.
const MOST_BUCKETS: usize = 1 << 14;
/// The most records in a bucket that is sorted by distribution. It bounds the memory for sorting.
const MOST_SORTED: usize = 32 << 10;

/// Records that will form a run.
///
/// A set arrives sorted, so it visits the buckets in order. When the buffer is full, each bucket is
/// sorted on its own. If the keys are too close together for that, the whole buffer is sorted in
/// place.
#[derive(Debug)]
pub struct Buffer<K> {
    records: Vec<Record<K>>,
    /// For each piece, the previous piece of its bucket.
    before: Vec<u32>,
    /// For each bucket, the position of its next record. At a multiple of [`PIECE`] the bucket
    /// needs a new piece.
    ends: Vec<u32>,
    least: K,
    most: K,
    shift: u32,
    filled: usize,
    capacity: usize,
    /// The pieces of one bucket.
    chain: Vec<u32>,
    distributor: Distributor<K>,
}

impl<K: Key> Buffer<K> {
    /// Bytes of memory for a buffer of this number of records, without the memory for sorting a
    /// bucket.
    pub fn bytes(capacity: u64) -> u64 {
        (capacity.div_ceil(FILLED) + SPARE) * Self::PIECE_BYTES
    }

    /// The number of records that fit into a buffer of this number of bytes.
    pub fn capacity(bytes: u64) -> u64 {
        let pieces = bytes / Self::PIECE_BYTES;
        (pieces.saturating_sub(SPARE) * FILLED).min(MOST_RECORDS)
    }

    /// Bytes of a piece, its link, and its share of the ends of the buckets.
    const PIECE_BYTES: u64 = (PIECE * size_of::<Record<K>>()) as u64 + 5;

    /// Creates a buffer for this number of records, with keys in `least..=most`.
    pub fn new(capacity: usize, least: K, most: K) -> Self {
        let buckets = (capacity / BUCKET + 1)
            .next_power_of_two()
            .clamp(2, MOST_BUCKETS);
        let width = u128::BITS - (most.to_u128() - least.to_u128()).leading_zeros();
        let pieces = capacity.div_ceil(PIECE) + buckets;
        Buffer {
            records: Vec::with_capacity(pieces * PIECE),
            before: Vec::with_capacity(pieces),
            ends: vec![0; buckets],
            least,
            most,
            shift: width.saturating_sub(buckets.ilog2()),
            filled: 0,
            capacity,
            chain: Vec::new(),
            distributor: Distributor::default(),
        }
    }

    /// Empties the buffer and sets its range of keys to `least..=most`.
    pub fn begin(&mut self, least: K, most: K) {
        let width = u128::BITS - (most.to_u128() - least.to_u128()).leading_zeros();
        (self.least, self.most) = (least, most);
        self.shift = width.saturating_sub(self.ends.len().ilog2());
        self.empty();
    }

    fn empty(&mut self) {
        self.records.clear();
        self.before.clear();
        self.ends.fill(0);
        self.filled = 0;
    }

    /// The number of records that still fit.
    pub fn room(&self) -> usize {
        self.capacity - self.filled
    }

    /// Adds rising keys. There must be room for all of them.
    pub fn extend(&mut self, keys: &[K], value: u32) {
        let last = self.ends.len() - 1;
        for &key in keys {
            let end = &mut self.ends[key.above(self.least, self.shift).min(last)];
            if (*end as usize).is_multiple_of(PIECE) {
                self.before.push(end.wrapping_sub(1) / PIECE as u32);
                *end = self.records.len() as u32;
                self.records
                    .resize(self.records.len() + PIECE, Record::default());
            }
            self.records[*end as usize] = Record { key, value };
            *end += 1;
        }
        self.filled += keys.len();
    }

    /// Passes all records to `take` in sorted order, then empties the buffer.
    pub fn drain(&mut self, mut take: impl FnMut(&[Record<K>]) -> Result<()>) -> Result<()> {
        if self.longest() > MOST_SORTED {
            self.compact();
            self.records.sort_unstable();
            take(&self.records)?;
        } else {
            let (mut distributor, mut chain) = (
                std::mem::take(&mut self.distributor),
                std::mem::take(&mut self.chain),
            );
            for bucket in 0..self.ends.len() {
                let count = self.chain(bucket, &mut chain);
                if count > 0 {
                    let (first, last) = self.bounds(bucket);
                    let records = self.chained(bucket, &chain);
                    take(distributor.sort(first, last, count, records))?;
                }
            }
            (self.distributor, self.chain) = (distributor, chain);
        }
        self.empty();
        Ok(())
    }

    /// Bytes of the records that are in the buffer.
    pub(super) fn used_bytes(&self) -> u64 {
        let records = self.records.len() * size_of::<Record<K>>();
        (records + 4 * (self.before.len() + self.ends.len())) as u64
    }

    /// The most records in a bucket.
    pub(super) fn longest(&mut self) -> usize {
        let mut chain = std::mem::take(&mut self.chain);
        let longest = (0..self.ends.len()).map(|bucket| self.chain(bucket, &mut chain));
        let longest = longest.max().unwrap_or(0);
        self.chain = chain;
        longest
    }

    /// The least and the greatest key of a bucket.
    fn bounds(&self, bucket: usize) -> (K, K) {
        let first = self.least.to_u128() + ((bucket as u128) << self.shift);
        let last = first.saturating_add((1u128 << self.shift) - 1);
        (
            K::from_u128(first),
            K::from_u128(last.min(self.most.to_u128())),
        )
    }

    /// The records of a bucket, in the order in which they came, given its pieces.
    fn chained<'b>(
        &'b self,
        bucket: usize,
        chain: &'b [u32],
    ) -> impl Iterator<Item = Record<K>> + Clone + 'b {
        let tail = self.tail(bucket);
        chain.iter().rev().enumerate().flat_map(move |(n, &piece)| {
            let at = piece as usize * PIECE;
            let filled = if n + 1 == chain.len() { tail } else { PIECE };
            self.records[at..at + filled].iter().copied()
        })
    }

    /// Number of records in the last piece of a bucket that is not empty.
    fn tail(&self, bucket: usize) -> usize {
        (self.ends[bucket] as usize - 1) % PIECE + 1
    }

    /// Collects the pieces of a bucket, last piece first. Returns the number of its records.
    fn chain(&self, bucket: usize, chain: &mut Vec<u32>) -> usize {
        chain.clear();
        if self.ends[bucket] == 0 {
            return 0;
        }
        let mut piece = (self.ends[bucket] - 1) / PIECE as u32;
        while let Some(&before) = self.before.get(piece as usize) {
            chain.push(piece);
            piece = before;
        }
        (chain.len() - 1) * PIECE + self.tail(bucket)
    }

    /// Closes the gaps after the last records of the buckets.
    fn compact(&mut self) {
        let mut ends: Vec<u32> = self.ends.iter().copied().filter(|&end| end > 0).collect();
        ends.sort_unstable();
        let (mut to, mut from) = (0, 0);
        for end in ends {
            let end = end as usize;
            self.records.copy_within(from..end, to);
            to += end - from;
            from = end.next_multiple_of(PIECE);
        }
        self.records.copy_within(from.., to);
        to += self.records.len() - from;
        self.records.truncate(to);
    }
}

/// Buffers of the same capacity and range of keys, which are sorted together.
#[derive(Debug)]
pub struct Held<K>(Vec<Buffer<K>>);

impl<K: Key> Held<K> {
    pub(super) fn new(buffers: Vec<Buffer<K>>) -> Held<K> {
        debug_assert!(buffers.windows(2).all(|b| b[0].shift == b[1].shift));
        Held(buffers)
    }

    /// Number of records.
    pub fn records(&self) -> u64 {
        self.0.iter().map(|buffer| buffer.filled as u64).sum()
    }

    /// Passes the records with keys in `low..=high` to `take`, in sorted order.
    ///
    /// # Errors
    /// The errors of `take`.
    pub fn sorted(
        &self,
        (low, high): (K, K),
        mut take: impl FnMut(&[Record<K>]) -> Result<()>,
    ) -> Result<()> {
        let Some(any) = self.0.first() else {
            return Ok(());
        };
        let last = any.ends.len() - 1;
        let bucket = |key: K| key.max(any.least).above(any.least, any.shift).min(last);
        let (mut chain, mut records) = (Vec::new(), Vec::new());
        let mut distributor = Distributor::default();
        for bucket in bucket(low)..=bucket(high) {
            records.clear();
            for buffer in &self.0 {
                if buffer.chain(bucket, &mut chain) > 0 {
                    records.extend(buffer.chained(bucket, &chain));
                }
            }
            let sorted = if records.len() > MOST_SORTED {
                records.sort_unstable();
                &records[..]
            } else {
                let (first, last) = any.bounds(bucket);
                distributor.sort(first, last, records.len(), records.iter().copied())
            };
            let from = sorted.partition_point(|record| record.key < low);
            let to = sorted.partition_point(|record| record.key <= high);
            take(&sorted[from..to])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorts<K: Key>(capacity: usize, sets: &[Vec<K>], least: K, most: K) {
        let mut buffer = Buffer::new(capacity, least, most);
        let place = buffer.records.capacity();
        let held =
            place * size_of::<Record<K>>() + 4 * (buffer.before.capacity() + buffer.ends.len());
        let counted = Buffer::<K>::bytes(capacity as u64);
        assert!(held as u64 <= counted, "{held} bytes, {counted} counted");
        assert!(Buffer::<K>::capacity(counted) >= capacity as u64);
        for _ in 0..2 {
            let mut expected = Vec::new();
            for (value, set) in (0..).zip(sets) {
                assert!(set.len() <= buffer.room());
                buffer.extend(set, value);
                expected.extend(set.iter().map(|&key| Record { key, value }));
            }
            expected.sort_unstable();
            let mut sorted: Vec<Record<K>> = Vec::new();
            let drained = buffer.drain(|records| {
                sorted.extend_from_slice(records);
                Ok(())
            });
            drained.unwrap();
            assert!(sorted == expected, "{} records", expected.len());
            assert_eq!(buffer.room(), capacity);
            assert_eq!(buffer.records.capacity(), place);
        }
    }

    #[test]
    fn a_full_buffer_is_sorted() {
        let mut state = 3u64;
        let mut random = move || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        };
        for capacity in [0, 1, PIECE, PIECE + 1, BUCKET, 5000, 100_000] {
            for (least, most) in [
                (0, u64::MAX),
                (u64::MAX / 3, u64::MAX / 3 * 2),
                (5, 6),
                (9, 9),
            ] {
                // Keys over the whole range, keys in the lowest part of it (too many for one
                // bucket), and equal keys.
                for part in [1, 1 << 16, u64::MAX] {
                    let mut left = capacity;
                    let mut sets = Vec::new();
                    while left > 0 {
                        let n = left.min(1 + random() as usize % 900);
                        left -= n;
                        let width = (most - least) / part;
                        let key = |random: u64| least + random % width.saturating_add(1).max(1);
                        let mut set: Vec<u64> = (0..n).map(|_| key(random())).collect();
                        set.sort_unstable();
                        sets.push(set);
                    }
                    sorts(capacity, &sets, least, most);
                    let wide = |key: u64| u128::from(key) << 64;
                    let sets: Vec<Vec<u128>> = sets
                        .iter()
                        .map(|set| set.iter().map(|&key| wide(key)).collect())
                        .collect();
                    sorts(capacity, &sets, wide(least), wide(most));
                }
            }
        }
    }
}
