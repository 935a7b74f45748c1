//! `megashingles` (Fetterly): six hashes of fourteen min-hashes each. Two of the six in common make
//! a pair.
//!
//! # Source
//! Fetterly, Manasse & Najork 2003, as described in Ye, Wen & Ma 2008, section 2.1 and Table 1, and
//! in Kolcz & Chowdhury 2008, section 2. They use shingles of 5 words and take the minimum of a
//! document under each of 84 hash functions. Each 14 consecutive minima make a super-shingle, so a
//! document has six. Documents with two super-shingles in common are near-duplicates. Each
//! super-shingle of two documents of resemblance r is equal with probability r^14
//! (`lookalike_lab::formulas`).
//!
//! # Where we depart from the papers
//! - The 84 functions are a mixer with 84 seeds over one 64-bit fingerprint, not 84 Rabin
//!   polynomials.
//! - The original compares all 15 pairs of super-shingles (megashingles). Here the join counts the
//!   super-shingles in common, which finds the same pairs.

use super::minhash::MinHashes;
use super::sketch::{SEED, family, seed};
use super::{Entry, Method, join_by_shared};

pub(super) const METHOD: Entry = Entry {
    name: "megashingles",
    about: "Six super-shingles of fourteen min-hashes each; two in common make a pair",
    paper: "Fetterly et al. 2003, in Ye et al. 2008, Table 1, and Kolcz & Chowdhury 2008, section 2",
    parameters: &[
        "size=5: words in a shingle",
        "super-shingles=6: super-shingles per document",
        "minima=14: min-hashes per super-shingle",
        "common=2: super-shingles that two documents must have in common",
        SEED,
    ],
    build: |values| {
        let sets = values.number("super-shingles", 1..=1000)?;
        let minima = values.number("minima", 1..=1000)?;
        let size = values.number("size", 1..=1000)? as usize;
        let join = join_by_shared(values.number("common", 1..=sets)? as u32);
        let hashes = MinHashes {
            family: family(sets * minima, seed(values))?,
            rows: minima as usize,
        };
        Ok(Method::plain(join, move |document, keys| {
            // The position is part of the hash: only super-shingles of equal position may match.
            hashes.keys(document.shingles(size), keys);
        }))
    },
};
