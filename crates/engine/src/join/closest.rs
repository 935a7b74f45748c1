//! The two documents that resemble each other most, for a run that found no pair: how far is the
//! threshold from them?
//!
//! # Algorithm
//! Each document counts what it shares with those before it. A document that has n fingerprints, s of
//! them also in others, resembles none more than s / n, and is left out if the best pair so far is
//! above that.
//!
//! # Invariants
//! - The pair is the best one, unless the search ended after [`MOST_STEPS`]. Of equally good pairs
//!   it is the first.
//! - The limits depend on the collection alone, so the answer does not depend on memory or threads.
//!
//! # Cost
//! All sets in memory, and for each fingerprint at most 48 bytes (96 with MD5); at most
//! [`MOST_FINGERPRINTS`].

use std::cmp::Reverse;

use crate::collection::{self, Catalogue, Extent, MappedSets, Tried};
use crate::join::{Pair, PairsEntry, STAGE, list};
use lookalike_base::{Context, Key, Measure, Memory, Ratio, Result, with_keys};
use lookalike_store::Workspace;

/// Limit on the fingerprints of a collection that is searched.
pub const MOST_FINGERPRINTS: u64 = 1 << 20;

/// Limit on the shared fingerprints that are counted: about a second.
const MOST_STEPS: u64 = 1 << 28;

/// A pair with the sizes of both sets.
type Closest = (Pair, (u32, u32));

/// The better of two pairs is the greater one.
fn order((pair, sizes): Closest) -> (Ratio, Reverse<Pair>) {
    let ratio = Ratio::of(Measure::Resemblance, pair.shared, sizes);
    (ratio, Reverse(pair))
}

/// How far a search came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// The collection has more than [`MOST_FINGERPRINTS`].
    TooLarge,
    /// It looked at all pairs. Without a best one, no two documents have a fingerprint in common.
    Complete,
    /// It ended after [`MOST_STEPS`].
    Stopped,
}

/// Searches the best pair among the representatives of a collection. The memory counts what the
/// search takes; the caller checks it.
pub fn closest(
    workspace: &Workspace,
    memory: &mut Memory,
    context: &Context<'_>,
) -> Result<(Search, Option<Pair>)> {
    let fingerprints = Catalogue::stats(workspace)?.shingles;
    if fingerprints > MOST_FINGERPRINTS {
        return Ok((Search::TooLarge, None));
    }
    let kind = collection::config(&workspace.manifest).shingle.fingerprint;
    with_keys!(kind, K => of_keys::<K>(workspace, (fingerprints, memory), context))
}

fn of_keys<K: Key>(
    workspace: &Workspace,
    (fingerprints, memory): (u64, &mut Memory),
    context: &Context<'_>,
) -> Result<(Search, Option<Pair>)> {
    let extent = Extent::of(collection::segments(&workspace.manifest));
    let sets = MappedSets::bytes(extent) + extent.set_bytes;
    // The fingerprints, then those that are shared, and their documents. A list may take twice its
    // length.
    if !memory.take(sets + fingerprints * 6 * K::BYTES as u64) {
        return Ok((Search::Complete, None));
    }
    let sets = MappedSets::open::<K>(workspace, extent.set_bytes)?;
    let keys_of = |document: u32| {
        context.stop.check(STAGE)?;
        let looking = sets.look();
        let set = looking.get(document)?.chunks_exact(K::BYTES);
        Ok(set.map(K::get_le).collect())
    };
    let pairs = workspace.record::<PairsEntry>("join")?.config.pairs;
    let may = list::Listable::of(workspace, pairs, context)?;
    let representatives = Catalogue::representatives(workspace)?;
    let firsts = (0..).zip(representatives.iter()).filter(|(a, b)| a == b);
    let firsts: Vec<u32> = firsts.map(|(document, _)| document).collect();
    let (search, found) = best::<K>(&firsts, &keys_of, MOST_STEPS, &|a, b| {
        may.has((a, b), &mut Tried::default())
    })?;
    Ok((search, found.map(|found| found.0)))
}

/// How far a search of these many steps comes, and the best of the pairs that may be listed.
fn best<K: Key>(
    documents: &[u32],
    keys_of: &dyn Fn(u32) -> Result<Vec<K>>,
    most_steps: u64,
    listed: &dyn Fn(u32, u32) -> bool,
) -> Result<(Search, Option<Closest>)> {
    let mut keys = Vec::new();
    for &document in documents {
        keys.append(&mut keys_of(document)?);
    }
    keys.sort_unstable();
    let groups = keys.chunk_by(|x, y| x == y).filter(|group| group.len() > 1);
    // Each has a chain of the documents before that have it: the place of the last of them.
    let mut heads: Vec<(K, usize)> = groups.map(|group| (group[0], usize::MAX)).collect();
    drop(keys);
    let mut chains: Vec<(u32, usize)> = Vec::new();
    let mut sizes = Vec::new();
    let mut counts = vec![0u32; documents.len()];
    let (mut others, mut steps) = (Vec::new(), 0u64);
    let mut found: Option<Closest> = None;
    for (number, &b) in (0u32..).zip(documents) {
        let set = keys_of(b)?;
        let head = |key| heads.binary_search_by_key(key, |of| of.0).ok();
        let shared: Vec<usize> = set.iter().filter_map(head).collect();
        let (size, most) = (set.len() as u32, shared.len() as u32);
        sizes.push(size);
        let bound = Ratio::of(Measure::Resemblance, most, (size, most));
        if found.is_some_and(|found| bound < order(found).0) {
            continue;
        }
        for at in shared {
            let mut next = std::mem::replace(&mut heads[at].1, chains.len());
            chains.push((number, next));
            while let Some(&(other, before)) = chains.get(next) {
                if counts[other as usize] == 0 {
                    others.push(other as usize);
                }
                counts[other as usize] += 1;
                (next, steps) = (before, steps + 1);
            }
        }
        for other in others.drain(..) {
            let shared = std::mem::take(&mut counts[other]);
            let (a, sizes) = (documents[other], (sizes[other], size));
            let pair = Pair {
                a,
                b,
                shared,
                score: 0,
            };
            if found.is_none_or(|found| order((pair, sizes)) > order(found)) && listed(a, b) {
                found = Some((pair, sizes));
            }
        }
        if steps > most_steps {
            return Ok((Search::Stopped, found));
        }
    }
    Ok((Search::Complete, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pairs, one by one.
    fn brute_force(sets: &[Vec<u64>]) -> Option<Closest> {
        let mut found: Option<Closest> = None;
        for (b, second) in (0u32..).zip(sets) {
            for (a, first) in (0u32..b).zip(sets) {
                let shared = first.iter().filter(|key| second.contains(key)).count() as u32;
                let sizes = (first.len() as u32, second.len() as u32);
                let pair = (
                    Pair {
                        a,
                        b,
                        shared,
                        score: 0,
                    },
                    sizes,
                );
                if shared > 0 && found.is_none_or(|found| order(pair) > order(found)) {
                    found = Some(pair);
                }
            }
        }
        found
    }

    fn search(sets: &[Vec<u64>]) -> Option<Closest> {
        let (search, found) = search_for(MOST_STEPS, sets);
        assert_eq!(search, Search::Complete);
        found
    }

    fn search_for(most_steps: u64, sets: &[Vec<u64>]) -> (Search, Option<Closest>) {
        let documents: Vec<u32> = (0..sets.len() as u32).collect();
        let keys_of = |document: u32| Ok(sets[document as usize].clone());
        best(&documents, &keys_of, most_steps, &|_, _| true).unwrap()
    }

    proptest::proptest! {
        #[test]
        fn the_closest_pair_is_that_of_brute_force(
            sets in proptest::collection::vec(proptest::collection::btree_set(0u64..60, 0..25), 0..20)
        ) {
            let sets: Vec<Vec<u64>> = sets.into_iter().map(|set| set.into_iter().collect()).collect();
            proptest::prop_assert_eq!(search(&sets), brute_force(&sets));
        }
    }

    /// Documents that were not compared must not pass for documents with nothing in common.
    #[test]
    fn a_search_that_ends_early_says_so() {
        let sets = [vec![1, 2, 3], vec![3, 4], vec![2, 3]];
        assert_eq!(search_for(0, &sets).0, Search::Stopped);
        assert_eq!(
            search_for(1 << 20, &sets),
            (Search::Complete, search(&sets))
        );
    }

    #[test]
    fn nothing_in_common_is_no_pair() {
        assert_eq!(search(&[vec![1, 2], vec![3], vec![]]), None);
        let found = search(&[vec![1, 2, 3], vec![3, 4], vec![2, 3]]).unwrap();
        assert_eq!(
            (found.0.a, found.0.b, found.0.shared, found.1),
            (0, 2, 2, (3, 2))
        );
    }
}
