//! Random numbers that are the same on every machine and in every order of work.
//!
//! # Source
//! SplitMix64: Steele, Lea & Flood, *Fast splittable pseudorandom number generators*, 2014, section
//! 4, with the constants of Vigna's version. Numbers below a bound: Lemire, *Fast random integer
//! generation in an interval*, 2019.
//!
//! # Invariants
//! - The numbers drawn depend on the seed alone. Code that draws for several things gives each its
//!   own seed, so that their order has no effect.
//! - Nothing here is secret or hard to guess.

/// The step of SplitMix64's counter: the odd number nearest 2^64 / golden ratio.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A permutation of 64-bit numbers that depends on the seed: the finaliser of SplitMix64, in which
/// every output bit depends on all input bits.
#[inline]
pub fn mix(key: u64, seed: u64) -> u64 {
    let mut z = key ^ seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number of the stream.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0, 0)
    }

    /// A number below `bound`, all with equal probability; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        // This many of the 2^64 numbers must be rejected, so that `bound` divides the rest.
        let unfair = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.draw()) * u128::from(bound);
            if product as u64 >= unfair {
                return (product >> 64) as u64;
            }
        }
    }
}

/// A permutation of 64-bit numbers: every bit of the result depends on every bit of the argument.
#[inline]
#[must_use]
pub fn mix_key(key: u64) -> u64 {
    mix(key.wrapping_add(STEP), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of Vigna's splitmix64.c with the state 1234567.
    #[test]
    fn the_stream_is_that_of_splitmix64() {
        let mut random = Random::new(1_234_567);
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!([(); 5].map(|()| random.draw()), expected);
    }

    #[test]
    fn numbers_below_a_bound_are_equally_probable() {
        const DRAWS: u64 = 60_000;
        for bound in [1, 2, 3, 10] {
            let mut random = Random::new(7);
            let mut times = vec![0u64; bound as usize];
            for _ in 0..DRAWS {
                times[random.below(bound) as usize] += 1;
            }
            let mean = DRAWS as f64 / bound as f64;
            for &n in &times {
                // Five standard deviations.
                assert!((n as f64 - mean).abs() <= 5.0 * mean.sqrt(), "{times:?}");
            }
        }
        // About half of all numbers are rejected for this bound; each result is below the bound.
        let bound = (1u64 << 63) + 1;
        let mut random = Random::new(1);
        assert!((0..1000).all(|_| random.below(bound) < bound));
        assert_eq!(random.below(0), 0);
    }
}
