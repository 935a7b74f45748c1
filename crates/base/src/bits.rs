//! Sets of document numbers as bits.

use std::ops::Range;

/// A set of numbers below a limit.
#[derive(Clone, Debug, Default)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// Creates an empty set of numbers below `limit`.
    pub fn new(limit: usize) -> Bits {
        Bits(vec![0; limit.div_ceil(64)])
    }

    /// Adds a number. Returns whether it was not in the set.
    pub fn insert(&mut self, number: u32) -> bool {
        let word = &mut self.0[number as usize / 64];
        let before = *word;
        *word |= 1 << (number % 64);
        *word != before
    }

    /// Removes a number.
    pub fn remove(&mut self, number: u32) {
        self.0[number as usize / 64] &= !(1 << (number % 64));
    }

    /// Whether a number is in the set.
    pub fn contains(&self, number: u32) -> bool {
        self.0[number as usize / 64] >> (number % 64) & 1 == 1
    }

    /// The numbers in the set, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.within(0..u32::MAX)
    }

    /// The numbers of a range that are in the set, in order.
    pub fn within(&self, range: Range<u32>) -> impl Iterator<Item = u32> {
        let words = self.0.iter().zip(0u32..).skip(range.start as usize / 64);
        let numbers = words.flat_map(|(&word, at)| {
            let left = std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
            let bits = left.take_while(|&word| word != 0);
            bits.map(move |word| at * 64 + word.trailing_zeros())
        });
        numbers
            .skip_while(move |&number| number < range.start)
            .take_while(move |&number| number < range.end)
    }

    /// A digest of the numbers.
    pub fn digest(&self) -> u64 {
        let words: Vec<_> = self.0.iter().map(|word| word.to_le_bytes()).collect();
        xxhash_rust::xxh3::xxh3_64(words.as_flattened())
    }

    /// Removes all numbers.
    pub fn clear(&mut self) {
        self.0.fill(0);
    }
}

/// Words of bits from one stored rank to the next.
const STRIDE: usize = 8;

/// The ranks of the numbers in a set: how many smaller ones are in it.
#[derive(Clone, Debug, Default)]
pub struct Ranks {
    /// The set.
    pub bits: Bits,
    /// For every [`STRIDE`]th word of the bits: the numbers before it.
    before: Vec<u32>,
    count: u32,
}

impl Ranks {
    /// Counts the numbers of a set.
    pub fn of(bits: Bits) -> Ranks {
        let mut count = 0;
        let before = bits.0.chunks(STRIDE).map(|words| {
            let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
            count += ones;
            count - ones
        });
        Ranks {
            before: before.collect(),
            bits,
            count,
        }
    }

    /// Bytes of memory for a set of numbers below `limit`.
    pub fn bytes(limit: u64) -> u64 {
        limit / 8 + limit / 128 + 64
    }

    /// The rank of a number; `None` if it is not in the set.
    pub fn get(&self, number: u32) -> Option<u32> {
        let (word, bit) = (number as usize / 64, number % 64);
        let at = self.bits.0[word];
        if at >> bit & 1 == 0 {
            return None;
        }
        let whole = &self.bits.0[word - word % STRIDE..word];
        let within: u32 = whole.iter().map(|word| word.count_ones()).sum();
        Some(self.before[word / STRIDE] + within + (at & ((1 << bit) - 1)).count_ones())
    }

    /// The size of the set.
    pub fn count(&self) -> u32 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_count_the_smaller_numbers() {
        for limit in [1u32, 63, 64, 65, 512, 513, 2000] {
            let mut bits = Bits::new(limit as usize);
            let of = |number: u32| number.wrapping_mul(2_654_435_761) >> 30 == 1;
            let chosen: Vec<u32> = (0..limit).filter(|&number| of(number)).collect();
            for &number in &chosen {
                assert!(bits.insert(number) && !bits.insert(number));
            }
            assert!(bits.iter().eq(chosen.iter().copied()));
            let (from, to) = (limit / 3, limit / 2 + 1);
            let within = chosen.iter().filter(|number| (from..to).contains(*number));
            assert!(bits.within(from..to).eq(within.copied()));
            let ranks = Ranks::of(bits);
            assert_eq!(ranks.count() as usize, chosen.len());
            for number in 0..limit {
                let expected = chosen.binary_search(&number).ok().map(|rank| rank as u32);
                assert_eq!(ranks.get(number), expected, "{number} of {limit}");
            }
            let mut bits = ranks.bits;
            bits.clear();
            assert!((0..limit).all(|number| !bits.contains(number)));
        }
    }
}
