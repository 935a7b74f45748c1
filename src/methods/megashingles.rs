//! `megashingles` (Fetterly): six hashes of fourteen min-hashes each; two in common.
//!
//! # Source
//! Fetterly, Manasse & Najork 2003, as in Ye, Wen & Ma 2008, section 2.1 and Table 1, and Kolcz & Chowdhury
//! 2008, section 2: shingles of 5 words, the least of them under each of 84 hash functions, in order 14 to a
//! super-shingle, six super-shingles a document; documents with two of them in common are near-duplicates. Two
//! documents of resemblance r share a super-shingle with probability r^14 each
//! ([`crate::experiments::formulas`]).
//!
//! # Where we depart from the papers
//! The 84 functions are a mixer with 84 seeds over one 64-bit fingerprint, not 84 Rabin polynomials. "Two in
//! common" is counted, where the original compares all 15 pairs of them (megashingles): the same pairs.

use super::sketch::{family, functions, minima};
use super::super_shingles::together;
use super::{Document, Entry, Parameter, Plain, join_by_shared, mix};
use crate::join::JoinConfig;

pub(super) const METHOD: Entry = Entry {
    name: "megashingles",
    about: "Six super-shingles of fourteen min-hashes each; two in common make a pair",
    paper: "Fetterly et al. 2003, in Ye et al. 2008, Table 1, and Kolcz & Chowdhury 2008, section 2",
    parameters: &[
        Parameter {
            name: "size",
            default: "5",
            help: "words in a shingle",
        },
        Parameter {
            name: "super-shingles",
            default: "6",
            help: "super-shingles per document",
        },
        Parameter {
            name: "minima",
            default: "14",
            help: "min-hashes per super-shingle",
        },
        Parameter {
            name: "common",
            default: "2",
            help: "super-shingles that two documents must have in common",
        },
        Parameter {
            name: "seed",
            default: "0",
            help: "seed of the hash functions",
        },
    ],
    build: |values| {
        let sets = values.number("super-shingles", 1..=1000)?;
        let minima = values.number("minima", 1..=1000)?;
        Ok(Box::new(Megashingles {
            size: values.number("size", 1..=1000)? as usize,
            minima: minima as usize,
            common: values.number("common", 1..=sets)? as u32,
            family: family(
                functions(sets * minima)?,
                values.number("seed", 0..=u64::MAX)?,
            ),
        }))
    },
};

struct Megashingles {
    size: usize,
    minima: usize,
    common: u32,
    family: Vec<u64>,
}

impl Plain for Megashingles {
    fn join(&self) -> JoinConfig {
        join_by_shared(self.common)
    }

    fn keys(&self, document: &mut Document<'_>, keys: &mut Vec<u64>) {
        let fingerprints = document.shingles(self.size, 0);
        let mut least = Vec::with_capacity(self.family.len());
        minima(&self.family, fingerprints, |_, minimum| least.push(minimum));
        let groups = least.chunks_exact(self.minima).enumerate();
        // A super-shingle is its place and its hash.
        keys.extend(groups.map(|(i, minima)| mix(together(minima).wrapping_add(mix(i as u64)))));
    }
}
