//! `super-shingles` (DSC-SS): hashes of several sampled shingles. One super-shingle in common makes
//! a pair.
//!
//! # Source
//! Broder, Glassman, Manasse & Zweig 1997, as run by Chowdhury, Frieder, Grossman & McCabe 2002
//! (sections 2 and 4, Tables V, VI and XI). They use shingles of 10 words, keep one in 25 of them,
//! and combine k of the kept shingles into a super-shingle, with k from 2 to 100. They ignore a
//! document that has fewer than k shingles left (Table V: 2.64 % of the documents with k = 2, 88.92
//! % with k = 100).
//!
//! # Algorithm
//! 1. Keep the shingles whose fingerprint is 0 modulo 25, and sort them by fingerprint.
//! 2. Hash every k consecutive shingles of this order into a super-shingle.
//! 3. The documents of every super-shingle that occurs in at least two documents are a set of
//!    duplicates (`sets.jsonl`). A document may be in several sets (section 4.3). Sets that overlap
//!    merge into clusters.
//!
//! # Where we depart from the papers
//! Chowdhury et al. do not say how they combine shingles. The default follows Broder et al. 1997,
//! where super-shingles are the shingles of the sorted sketch. `groups=adjacent` combines them into
//! groups of k without overlap instead.

use super::document::fingerprint;
use super::{Entry, Method, join_by_shared};

pub(super) const METHOD: Entry = Entry {
    name: "super-shingles",
    about: "DSC-SS: hashes of k sampled shingles each; one in common makes a pair",
    paper: "Chowdhury et al. 2002, sections 2 to 4; Broder et al. 1997",
    parameters: &[
        "k=2: shingles in a super-shingle (the paper: 2, 4, 5, 10, 15, 20, 25, 50, 75, 100)",
        "size=10: words in a shingle",
        "every=25: keeps one shingle in this number",
        "groups=sliding: sliding: every k consecutive shingles; adjacent: groups of k without overlap",
    ],
    build: |values| {
        let k = values.number("k", 1..=1000)? as usize;
        let size = values.number("size", 1..=1000)? as usize;
        let every = values.number("every", 1..=u64::from(u32::MAX))?;
        let sliding = values.one_of("groups", &[("sliding", true), ("adjacent", false)])?;
        let plain = Method::plain(join_by_shared(1), move |document, keys| {
            let sampled = document.shingles(size);
            sampled.retain(|f| f.is_multiple_of(every));
            join_shingles(sampled, k, sliding, keys);
        });
        Ok(Method {
            sets: true,
            ..plain
        })
    },
};

/// Appends the super-shingles of `k` of the sampled shingles.
fn join_shingles(sampled: &mut Vec<u64>, k: usize, sliding: bool, keys: &mut Vec<u64>) {
    sampled.sort_unstable();
    sampled.dedup();
    match sliding {
        true => keys.extend(sampled.windows(k).map(together)),
        false => keys.extend(sampled.chunks_exact(k).map(together)),
    }
}

/// The hash of a sequence of features.
pub(super) fn together(keys: &[u64]) -> u64 {
    let bytes: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
    fingerprint(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_with_too_few_are_ignored() {
        let keys = |text: &str| {
            let mut scratch = super::super::document::Scratch::new(&Default::default());
            let mut keys = Vec::new();
            let mut document = super::super::Document::new(text, &mut scratch);
            join_shingles(document.shingles(2), 3, true, &mut keys);
            keys
        };
        assert_eq!(keys("a b c").len(), 0);
        assert_eq!(keys("a b c d").len(), 1);
        assert_eq!(keys("a b c d e f").len(), 3);
        // A repeated shingle counts once.
        assert_eq!(keys("a b a b a b a b").len(), 0);
    }
}
