//! `super-shingles` (DSC-SS): hashes of several sampled shingles; one in common is enough.
//!
//! # Source
//! Broder, Glassman, Manasse & Zweig 1997 as Chowdhury, Frieder, Grossman & McCabe 2002 ran it (sections 2 and
//! 4, Tables V, VI and XI): shingles of 10 words, every 25th kept, k of them to a super-shingle, k from 2 to
//! 100. A document with fewer than k shingles left is ignored (Table V: 2.64 % of the documents with k = 2,
//! 88.92 % with k = 100).
//!
//! # Algorithm
//! The shingles whose fingerprint is 0 modulo 25, sorted by it, are shingled once more: a super-shingle is
//! k that follow each other in that order. Every super-shingle of two documents or more is a set of
//! duplicates (`sets.jsonl`), in which a document may stand several times (section 4.3); the clusters are
//! these sets, merged.
//!
//! # Where we depart from the papers
//! Chowdhury et al. do not say how shingles were put together; it is done as in Broder et al. 1997, where
//! super-shingles are the shingling of the sorted sketch. `groups=adjacent` takes them k by k without
//! overlap instead.

use super::document::fingerprint;
use super::{Document, Entry, Parameter, Plain, join_by_shared};
use crate::join::JoinConfig;

pub(super) const METHOD: Entry = Entry {
    name: "super-shingles",
    about: "DSC-SS: hashes of k sampled shingles each; one in common makes a pair",
    paper: "Chowdhury et al. 2002, sections 2 to 4; Broder et al. 1997",
    parameters: &[
        Parameter {
            name: "k",
            default: "2",
            help: "shingles in a super-shingle (the paper: 2, 4, 5, 10, 15, 20, 25, 50, 75, 100)",
        },
        Parameter {
            name: "size",
            default: "10",
            help: "words in a shingle",
        },
        Parameter {
            name: "every",
            default: "25",
            help: "keeps one shingle in this number",
        },
        Parameter {
            name: "groups",
            default: "sliding",
            help: "sliding: every k consecutive shingles; adjacent: groups of k without overlap",
        },
    ],
    build: |values| {
        Ok(Box::new(SuperShingles {
            k: values.number("k", 1..=1000)? as usize,
            size: values.number("size", 1..=1000)? as usize,
            every: values.number("every", 1..=u64::from(u32::MAX))?,
            sliding: values.one_of("groups", &[("sliding", true), ("adjacent", false)])?,
        }))
    },
};

struct SuperShingles {
    k: usize,
    size: usize,
    every: u64,
    sliding: bool,
}

impl Plain for SuperShingles {
    fn join(&self) -> JoinConfig {
        join_by_shared(1)
    }

    fn sets(&self) -> bool {
        true
    }

    fn keys(&self, document: &mut Document<'_>, keys: &mut Vec<u64>) {
        let sampled = document.shingles(self.size, 0);
        sampled.retain(|f| f.is_multiple_of(self.every));
        sampled.sort_unstable();
        sampled.dedup();
        if self.sliding {
            keys.extend(sampled.windows(self.k).map(together));
        } else {
            keys.extend(sampled.chunks_exact(self.k).map(together));
        }
    }
}

/// The hash of several keys, one after the other.
pub(super) fn together(keys: &[u64]) -> u64 {
    let bytes: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
    fingerprint(&bytes, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_with_too_few_are_ignored() {
        let method = SuperShingles {
            k: 3,
            size: 2,
            every: 1,
            sliding: true,
        };
        let keys = |text: &str| {
            let mut scratch = super::super::document::Scratch::default();
            let mut keys = Vec::new();
            method.keys(&mut Document::new(text, &mut scratch), &mut keys);
            keys
        };
        assert_eq!(keys("a b c").len(), 0);
        assert_eq!(keys("a b c d").len(), 1);
        assert_eq!(keys("a b c d e f").len(), 3);
        // What stands there twice is one shingle.
        assert_eq!(keys("a b a b a b a b").len(), 0);
    }
}
