//! Random numbers that depend on the seed, on what they are for, and on a number alone.
//!
//! # Source
//! SplitMix64: Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators".
//!
//! # Invariants
//! - A stream is made anew wherever it is needed, so what it decides is never kept in memory, and
//!   no thread depends on another.
//! - Of floating point only `+ - * /` and `sqrt` are used here and by the callers: these are exact
//!   by IEEE 754, and the bytes are the same on every machine.

/// What a stream decides: one each, so that a change of one does not shift the others.
#[derive(Clone, Copy)]
pub enum Purpose {
    Vocabulary = 1,
    /// What kind of document it is, and of which other.
    Origin,
    Words,
    Layout,
    Text,
    Edit,
    Markup,
    Header,
    /// The number is a host, a section of one, a family of forms, a stock sentence from here on.
    Host,
    Section,
    Form,
    Stock,
}

/// A stream of random numbers.
pub struct Random(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    pub fn new(seed: u64, purpose: Purpose, number: u64) -> Self {
        let stream = mix(seed ^ mix((purpose as u64).wrapping_mul(STEP)));
        Random(mix(stream ^ mix(number.wrapping_add(STEP))))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// Less than `n`, all alike but for 1 part in 2^32.
    pub fn below(&mut self, n: u32) -> u32 {
        (((self.next() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// From 0 to 1, without 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Less than `n`, i with a probability near i^(-2/3): a heavy tail without a logarithm.
    pub fn skewed(&mut self, n: u64) -> u64 {
        let u = self.unit();
        ((u * u * u * n as f64) as u64).min(n - 1)
    }
}
