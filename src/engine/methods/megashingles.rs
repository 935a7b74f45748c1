//! `megashingles` (Fetterly): six hashes of fourteen min-hashes each. Two of the six in common make
//! a pair.
//!
//! # Source
//! Fetterly, Manasse & Najork 2003, as described in Ye, Wen & Ma 2008, section 2.1 and Table 1, and
//! in Kolcz & Chowdhury 2008, section 2. They use shingles of 5 words and take the minimum of a
//! document under each of 84 hash functions. Each 14 consecutive minima make a super-shingle, so a
//! document has six. Documents with two super-shingles in common are near-duplicates. Each
//! super-shingle of two documents of resemblance r is equal with probability r^14
//! ([`crate::lab::formulas`]).
//!
//! # Where we depart from the papers
//! - The 84 functions are a mixer with 84 seeds over one 64-bit fingerprint, not 84 Rabin
//!   polynomials.
//! - The original compares all 15 pairs of super-shingles (megashingles). Here the join counts the
//!   super-shingles in common, which finds the same pairs.

use super::sketch::{family, functions, minima};
use super::super_shingles::together;
use super::{Document, Entry, Parameter, Plain, join_by_shared, mix};
use crate::engine::join::JoinConfig;

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
        // The position is part of the hash: only super-shingles of equal position may match.
        keys.extend(groups.map(|(i, minima)| mix(together(minima).wrapping_add(mix(i as u64)))));
    }
}
