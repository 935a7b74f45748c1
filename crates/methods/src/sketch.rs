//! `sketch`: the smallest fingerprint under each of n hash functions.
//!
//! # Source
//! Sketch_n of Cherkasova et al. 2009, section 2 (min-wise independent permutations, Broder 1997).
//! A document is a vector of n minima. The share of positions in which two vectors agree estimates
//! the resemblance. Windows of 20 bytes, n = 100 (section 4.3).
//!
//! # Where we depart from the paper
//! See `windows.rs`. The n functions are a 64-bit mixer with n seeds over one fingerprint of the
//! window. The paper hashes every window n times (Bob Jenkins' family).

use super::windows::{THRESHOLD, WINDOW, window, windows};
use super::{Entry, Method, Values, join_by, mix};
use lookalike_base::Measure;

pub(super) const METHOD: Entry = Entry {
    name: "sketch",
    about: "The smallest fingerprint of all byte windows under each of n hash functions",
    paper: "Cherkasova et al. 2009, sections 2 and 4",
    parameters: &[
        WINDOW,
        "n=100: number of hash functions, at most 4096",
        SEED,
        THRESHOLD,
    ],
    build: |values| {
        let family = family(values.number("n", 1..=u64::from(u32::MAX))?, seed(values))?;
        let window = window(values)?;
        let join = join_by(
            Measure::Of(family.len() as u32),
            values.threshold("threshold")?,
        );
        Ok(Method::plain(join, move |document, keys| {
            // A feature is the hash of a position and the minimum there.
            let fingerprints = windows(document, window);
            minima(&family, fingerprints, |i, least| {
                keys.push(mix(least.wrapping_add(family[i])));
            });
        }))
    },
};

pub(super) const SEED: &str = "seed=0: seed of the hash functions";

/// The most hash functions of a method, because each is one more pass over all fingerprints of a
/// document. The standard error of an estimate from 4,096 functions is at most 0.008. The method
/// `shingles` is exact and costs less.
pub(super) const MOST_FUNCTIONS: u64 = 4096;

/// The value of [`SEED`].
pub(super) fn seed(values: &Values) -> Result<u64, String> {
    values.number("seed", 0..=u64::MAX)
}

/// One random number for each hash function of a family. Refuses more than [`MOST_FUNCTIONS`].
pub(super) fn family(n: u64, seed: Result<u64, String>) -> Result<Vec<u64>, String> {
    if n > MOST_FUNCTIONS {
        return Err(format!(
            "{n} hash functions are too many, at most {MOST_FUNCTIONS} are possible: with these an estimate is \
             wrong by less than 0.01 as a rule, and the method `shingles`, which is exact, costs less"
        ));
    }
    let seed = seed?;
    Ok((0..n).map(|i| mix(seed ^ mix(i))).collect())
}

/// Calls `take` with the number of each function and its minimum over the fingerprints. Without
/// fingerprints it does not call `take`.
pub(super) fn minima(
    family: &[u64],
    fingerprints: &mut Vec<u64>,
    mut take: impl FnMut(usize, u64),
) {
    // Repeated fingerprints would cost time and change nothing.
    fingerprints.sort_unstable();
    fingerprints.dedup();
    for (i, function) in family.iter().enumerate() {
        if let Some(least) = fingerprints.iter().map(|f| mix(f ^ function)).min() {
            take(i, least);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Spec;

    /// Without a limit, `sketch:n=65536` takes minutes and `minhash:bands=1000,rows=1000` hours.
    #[test]
    fn more_hash_functions_than_help_are_refused() {
        for (spec, good) in [
            ("sketch:n=4096", true),
            ("sketch:n=4097", false),
            ("sketch:n=65536", false),
            ("minhash:bands=64,rows=64", true),
            ("minhash:bands=1000,rows=1000", false),
            ("megashingles:super-shingles=64,minima=64", true),
            ("megashingles:super-shingles=1000,minima=5", false),
        ] {
            let read = Spec::read(spec);
            assert_eq!(read.is_ok(), good, "{spec}");
            if let Err(error) = read {
                let told = error.to_string();
                assert!(
                    told.contains("at most 4096") && told.contains("`shingles`"),
                    "{told}"
                );
            }
        }
    }
}
