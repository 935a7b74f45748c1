//! MD5 of many short messages at once.
//!
//! # Source
//! R. Rivest, "The MD5 Message-Digest Algorithm", RFC 1321. The code keeps its notation: A to D, F
//! to I, the table T.
//!
//! # In and out
//! In: a text and stretches of it. Out: the digest of each stretch, as a big-endian number, in any
//! order.
//!
//! # Algorithm
//! Every step of MD5 depends on the step before, so a single message leaves most of a processor
//! idle. Here [`LANES`] messages with the same number of blocks go through each step together.
//! 1. A message is padded and put into the next free lane of the queue for its number of blocks.
//!    Word i of all lanes is stored side by side.
//! 2. A full queue is hashed. At the end, the rest of each queue is hashed.
//! 3. A message of more than [`MOST_BLOCKS`] blocks is hashed by itself.
//!
//! The lanes are plain arrays, which the compiler turns into vector instructions. `multiversion`
//! chooses the instruction set at run time: AVX-512 on processors that do not slow down for it (Ice
//! Lake, Zen 4 and later), else AVX2, else the baseline of the target.
//!
//! # Invariants
//! - The digest of each stretch is delivered exactly once, before [`Md5Lanes::digests`] returns.
//! - Each digest equals the `md-5` crate's, whatever the other lanes contain (tests).
//!
//! # Cost
//! On real text with ten words per shingle, this computes six times as many digests per second as
//! the `md-5` crate with AVX-512, four times with AVX2, and twice without (docs/experiments.md).
//! Memory: 16 KiB.

use std::f64::consts::PI;
use std::ops::Range;

use md5::{Digest, Md5};
use multiversion::multiversion;
use multiversion::target::match_target;

/// Messages hashed at once. 16 fill one register of AVX-512. With AVX2, two groups of 8 hide the
/// latency of the dependent steps, which outweighs the cost of register spills.
pub(super) const LANES: usize = 16;

/// Lanes that go through all steps together on machines with 128-bit registers. With 8, register
/// spills cost more than the parallelism gains.
const NARROW_LANES: usize = 4;

/// Blocks of the longest message that is queued. It has 247 bytes: ten words of twelve letters of
/// two bytes each.
const MOST_BLOCKS: usize = 4;

/// Bytes of a block.
pub(super) const BLOCK: usize = 64;

/// Words of a block.
pub(super) const BLOCK_WORDS: usize = BLOCK / 4;

/// The length of the longest queued message, rounded up to whole blocks.
const MOST_BYTES: usize = MOST_BLOCKS * BLOCK;

/// Ones, then zeros. For a message of n bytes, the bytes from `MOST_BYTES - n` on mask the message
/// in its blocks.
static KEEP: [u8; 2 * MOST_BYTES] = {
    let mut keep = [0; 2 * MOST_BYTES];
    let mut i = 0;
    while i < MOST_BYTES {
        keep[i] = 0xff;
        i += 1;
    }
    keep
};

/// The padding byte behind the message, at the same offset.
static PADDING: [u8; 2 * MOST_BYTES] = {
    let mut padding = [0; 2 * MOST_BYTES];
    padding[MOST_BYTES] = 0x80;
    padding
};

/// Shift amounts of each round.
const SHIFTS: [[u32; 4]; 4] = [
    [7, 12, 17, 22],
    [5, 9, 14, 20],
    [4, 11, 16, 23],
    [6, 10, 15, 21],
];

/// The integer part of 2^32 |sin(i + 1)|.
const T: [u32; 64] = {
    let mut table = [0; 64];
    let mut i = 0;
    while i < table.len() {
        table[i] = (4_294_967_296.0 * absolute_sine((i + 1) as f64)) as u32;
        i += 1;
    }
    table
};

/// |sin x|, by the series of Taylor for the rest of x after half turns, which change only the sign.
const fn absolute_sine(x: f64) -> f64 {
    let x = x - PI * ((x / PI) as u32) as f64;
    let (mut sum, mut term, mut n) = (x, x, 1.0);
    while n < 30.0 {
        term *= -x * x / ((n + 1.0) * (n + 2.0));
        sum += term;
        n += 2.0;
    }
    sum
}

/// The registers A to D before the first block.
pub(super) const START: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];

/// The registers A to D of `N` lanes.
pub(super) type Registers<const N: usize> = [[u32; N]; 4];

/// Messages with the same number of blocks, waiting for the queue to fill.
#[derive(Clone, Debug)]
struct Queue {
    /// For each i, word i of every lane's message.
    words: [[u32; LANES]; MOST_BLOCKS * BLOCK_WORDS],
    /// Number of lanes in use.
    filled: usize,
}

impl Queue {
    /// Pads `text[start..start + len]` to `BYTES`, a whole number of blocks, and puts it into a
    /// lane.
    #[inline]
    fn push<const BYTES: usize>(&mut self, text: &[u8], start: usize, len: usize) {
        // Nearly always there is more text behind the message. Reading a constant length and
        // masking the excess avoids a copy of variable length.
        let mut end = [0; BYTES];
        let from = text.get(start..).unwrap_or_default();
        let bytes: &[u8; BYTES] = match from.first_chunk() {
            Some(bytes) => bytes,
            None => {
                for (to, &byte) in end.iter_mut().zip(from) {
                    *to = byte;
                }
                &end
            }
        };
        // len <= BYTES <= MOST_BYTES, so BYTES bytes follow `cut`.
        let cut = MOST_BYTES - len.min(MOST_BYTES);
        let (keep, padding) = (&KEEP[cut..cut + BYTES], &PADDING[cut..cut + BYTES]);
        let mut padded = [0; BYTES];
        for (i, byte) in padded.iter_mut().enumerate() {
            *byte = (bytes[i] & keep[i]) | padding[i];
        }
        // The length in bits is at the very end, in two words. The second is always 0, and the
        // padding byte may be just before the first.
        let lane = self.filled % LANES;
        let words = padded.as_chunks::<4>().0;
        for (to, word) in self.words.iter_mut().zip(words) {
            to[lane] = u32::from_le_bytes(*word);
        }
        self.words[BYTES / 4 - 2][lane] = 8 * len as u32;
        self.filled += 1;
    }

    /// Hashes the messages in the lanes, of `blocks` blocks each, and empties the lanes.
    fn hash(&mut self, blocks: usize, found: &mut impl FnMut(u128)) {
        let [a, b, c, d] = registers(
            &START.map(|register| [register; LANES]),
            &self.words[..blocks * BLOCK_WORDS],
        );
        for lane in 0..self.filled.min(LANES) {
            let digest = [a[lane], b[lane], c[lane], d[lane]]
                .into_iter()
                .fold(0, |digest, word| {
                    digest << 32 | u128::from(word.swap_bytes())
                });
            found(digest);
        }
        self.filled = 0;
    }
}

/// Hashes messages, several at once.
#[derive(Clone, Debug)]
pub(super) struct Md5Lanes {
    /// One queue for messages of 1 block, one for 2, and so on. Empty between calls.
    queues: Box<[Queue; MOST_BLOCKS]>,
}

impl Default for Md5Lanes {
    fn default() -> Self {
        let empty = Queue {
            words: [[0; LANES]; MOST_BLOCKS * BLOCK_WORDS],
            filled: 0,
        };
        Md5Lanes {
            queues: Box::new(std::array::from_fn(|_| empty.clone())),
        }
    }
}

impl Md5Lanes {
    /// Passes the digest of each stretch of `text` to `found`, in any order. A stretch that is not
    /// inside `text` counts as empty.
    pub(super) fn digests(
        &mut self,
        text: &[u8],
        stretches: impl Iterator<Item = Range<usize>>,
        mut found: impl FnMut(u128),
    ) {
        for stretch in stretches {
            let (start, len) = match text.get(stretch.clone()) {
                Some(message) => (stretch.start, message.len()),
                None => (0, 0),
            };
            // One byte of padding and 8 bytes of length.
            let blocks = (len + 8) / BLOCK + 1;
            let Some(queue) = self.queues.get_mut(blocks - 1) else {
                found(digest(&text[start..start + len]));
                continue;
            };
            match blocks {
                1 => queue.push::<BLOCK>(text, start, len),
                2 => queue.push::<{ 2 * BLOCK }>(text, start, len),
                3 => queue.push::<{ 3 * BLOCK }>(text, start, len),
                _ => queue.push::<{ 4 * BLOCK }>(text, start, len),
            }
            if queue.filled == LANES {
                queue.hash(blocks, &mut found);
            }
        }
        for (i, queue) in self.queues.iter_mut().enumerate() {
            if queue.filled > 0 {
                queue.hash(i + 1, &mut found);
            }
        }
    }
}

/// The digest of one message.
#[inline]
pub(super) fn digest(message: &[u8]) -> u128 {
    u128::from_be_bytes(Md5::digest(message).into())
}

/// The registers after the last block, beginning with `start`. Compiled once for each vector width;
/// the version is chosen at run time.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn registers(start: &Registers<LANES>, words: &[[u32; LANES]]) -> Registers<LANES> {
    match_target! {
        "x86_64+avx512f+avx512vl" => in_groups::<LANES>(start, words),
        "x86_64+avx2" => in_groups::<LANES>(start, words),
        _ => in_groups::<NARROW_LANES>(start, words),
    }
}

/// The registers after the last block, computed for `N` lanes at a time. This function and all that
/// it calls are inlined, so that they are compiled for the caller's vector width.
#[inline(always)]
fn in_groups<const N: usize>(start: &Registers<LANES>, words: &[[u32; LANES]]) -> Registers<LANES> {
    let mut all = *start;
    for first in (0..LANES).step_by(N) {
        let registers = group::<N>(start, words, first);
        for (all, register) in all.iter_mut().zip(registers) {
            all[first..first + N].copy_from_slice(&register);
        }
    }
    all
}

/// The registers after the last block, for the `N` lanes from `first` on.
#[inline(always)]
fn group<const N: usize>(
    start: &Registers<LANES>,
    words: &[[u32; LANES]],
    first: usize,
) -> Registers<N> {
    let mut registers = [[0; N]; 4];
    for (register, start) in registers.iter_mut().zip(start) {
        register.copy_from_slice(&start[first..first + N]);
    }
    for block in words.as_chunks::<BLOCK_WORDS>().0 {
        let mut abcd = registers;
        macro_rules! steps {
            ($($i:literal)*) => { $( abcd = step::<N, $i>(abcd, block, first); )* };
        }
        steps!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        steps!(16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
        steps!(32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47);
        steps!(48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63);
        for (register, more) in registers.iter_mut().zip(abcd) {
            for (lane, more) in register.iter_mut().zip(more) {
                *lane = lane.wrapping_add(more);
            }
        }
    }
    registers
}

/// Step `I`, counted from 0, in every lane. The registers rotate, so that the one to change is
/// always the first.
#[inline(always)]
fn step<const N: usize, const I: usize>(
    [a, b, c, d]: Registers<N>,
    block: &[[u32; LANES]; BLOCK_WORDS],
    first: usize,
) -> Registers<N> {
    let word = match I / 16 {
        0 => I,
        1 => (5 * I + 1) % 16,
        2 => (3 * I + 5) % 16,
        _ => 7 * I % 16,
    };
    let mut next = [0; N];
    for lane in 0..N {
        let (b, c, d) = (b[lane], c[lane], d[lane]);
        let mixed = match I / 16 {
            0 => (b & c) | (!b & d),
            1 => (b & d) | (c & !d),
            2 => b ^ c ^ d,
            _ => c ^ (b | !d),
        };
        next[lane] = a[lane]
            .wrapping_add(block[word][first + lane])
            .wrapping_add(T[I])
            .wrapping_add(mixed)
            .rotate_left(SHIFTS[I / 16][I % 4])
            .wrapping_add(b);
    }
    [d, next, b, c]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sorted(mut digests: Vec<u128>) -> Vec<u128> {
        digests.sort_unstable();
        digests
    }

    /// Checks that the digests of these stretches equal the `md-5` crate's, each the right number
    /// of times.
    fn check(lanes: &mut Md5Lanes, text: &[u8], stretches: &[Range<usize>]) {
        let mut found = Vec::new();
        lanes.digests(text, stretches.iter().cloned(), |digest| found.push(digest));
        let expected = stretches.iter().map(|s| digest(&text[s.clone()])).collect();
        assert_eq!(sorted(found), sorted(expected), "{stretches:?}");
    }

    fn text(len: usize) -> Vec<u8> {
        (0..len as u64)
            .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
            .collect()
    }

    #[test]
    fn every_length_in_every_lane() {
        let text = text(1000);
        let mut lanes = Md5Lanes::default();
        for len in 0..300 {
            // Also at the end of the text, where nothing follows the message.
            for start in [0, 1, 350, text.len() - len] {
                check(
                    &mut lanes,
                    &text,
                    std::slice::from_ref(&(start..start + len)),
                );
            }
            // One message of this length in each lane, among others with the same number of blocks.
            let blocks = (len + 8) / BLOCK;
            let other = if len % BLOCK == 0 { len + 1 } else { len - 1 };
            let other = if (other + 8) / BLOCK == blocks {
                other
            } else {
                len
            };
            for lane in 0..LANES {
                for used in [lane + 1, LANES, LANES + 1] {
                    let len = |i| if i == lane { len } else { other };
                    let stretches: Vec<_> = (0..used).map(|i| i..i + len(i)).collect();
                    check(&mut lanes, &text, &stretches);
                }
            }
        }
    }

    #[test]
    fn every_width_gives_the_same() {
        let text = text(MOST_BYTES * LANES);
        let words: Vec<[u32; LANES]> = text
            .as_chunks::<{ 4 * LANES }>()
            .0
            .iter()
            .map(|row| std::array::from_fn(|i| u32::from_le_bytes(row.as_chunks::<4>().0[i])))
            .collect();
        for blocks in 0..=MOST_BLOCKS {
            let words = &words[..blocks * BLOCK_WORDS];
            let mut start = START.map(|register| [register; LANES]);
            start[1][3] = 7;
            let expected = in_groups::<1>(&start, words);
            assert_eq!(registers(&start, words), expected);
            assert_eq!(in_groups::<NARROW_LANES>(&start, words), expected);
            assert_eq!(in_groups::<LANES>(&start, words), expected);
        }
    }

    #[test]
    fn the_table_is_that_of_the_sine() {
        for (i, &t) in T.iter().enumerate() {
            let sine = ((i + 1) as f64).sin().abs();
            assert_eq!(t, (sine * (1u64 << 32) as f64) as u32, "{i}");
        }
    }

    #[test]
    fn a_stretch_outside_is_empty() {
        let mut found = Vec::new();
        let stretches = [2..5, 1..2];
        Md5Lanes::default().digests(b"abc", stretches.into_iter(), |digest| found.push(digest));
        assert_eq!(sorted(found), sorted(vec![digest(b""), digest(b"b")]));
    }

    proptest! {
        #[test]
        fn mixtures_of_lengths(
            text in prop::collection::vec(any::<u8>(), 300..2000),
            stretches in prop::collection::vec((any::<prop::sample::Index>(), 0usize..300), 0..200),
        ) {
            let stretches: Vec<_> = stretches
                .iter()
                .map(|(start, len)| {
                    let start = start.index(text.len());
                    start..(start + len).min(text.len())
                })
                .collect();
            let mut lanes = Md5Lanes::default();
            check(&mut lanes, &text, &stretches);
            // A call leaves nothing behind in the lanes.
            check(&mut lanes, &text, &stretches[..stretches.len() / 2]);
        }
    }
}
