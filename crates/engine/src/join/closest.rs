//! The two documents that resemble each other most, for a run that found no pair: how far is the
//! threshold from them?
//!
//! # Source
//! The join for the k most similar pairs of Xiao, Wang, Lin & Shang 2009, with k = 1: prefixes that
//! grow until no longer one can contain a better pair.
//!
//! # Algorithm
//! Order the fingerprints that several documents have, the rarest first. In round i each document
//! looks up its i-th fingerprint among those of earlier rounds, and all documents with it are
//! compared. A document that has n fingerprints, s of them shared, cannot reach more than
//! (s - i) / n from round i on. It stops as soon as that is below the best resemblance so far.
//!
//! # Invariants
//! - The pair is the best one, unless the search ended after [`MOST_STEPS`]. Of equally good pairs
//!   it is the first.
//! - The limits depend on the collection alone, so the answer does not depend on memory or threads.
//!
//! # Cost
//! All fingerprints in memory, 28 bytes each (44 with MD5); at most [`MOST_FINGERPRINTS`].

use std::num::NonZeroU32;
use std::ops::Range;

use crate::collection::{self, Catalogue, SetsByPlace};
use crate::join::{PairsEntry, STAGE, list};
use lookalike_base::Result;
use lookalike_base::ids::{FingerprintKind, Key};
use lookalike_base::memory::Memory;
use lookalike_base::progress::Context;
use lookalike_store::workspace::Workspace;

/// Limit on the fingerprints of a collection that is searched.
pub const MOST_FINGERPRINTS: u64 = 1 << 20;

/// Limit on the comparisons of two fingerprints, and on the pairs looked at: about a second.
const MOST_STEPS: u64 = 1 << 28;

/// The best pair of documents, a < b, as far as it was searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closest {
    pub a: u32,
    pub b: u32,
    pub shared: u32,
    /// The sizes of both sets.
    pub sizes: (u32, u32),
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// The collection has more than [`MOST_FINGERPRINTS`].
    TooLarge,
    /// No two documents have a fingerprint in common.
    Nothing,
    /// The best pair of all.
    Found(Closest),
    /// The best pair when the search ended after [`MOST_STEPS`], if it had found one.
    Stopped(Option<Closest>),
}

/// Searches the pair among the representatives of a collection. The memory counts what the search
/// takes; the caller checks it.
pub fn closest(
    workspace: &Workspace,
    memory: &mut Memory,
    context: &Context<'_>,
) -> Result<Search> {
    let fingerprints = Catalogue::stats(workspace)?.shingles;
    if fingerprints > MOST_FINGERPRINTS {
        return Ok(Search::TooLarge);
    }
    match collection::config(&workspace.manifest).shingle.fingerprint {
        FingerprintKind::Xxh3 => of_keys::<u64>(workspace, (fingerprints, memory), context),
        FingerprintKind::Md5 => of_keys::<u128>(workspace, (fingerprints, memory), context),
    }
}

/// Bytes for each fingerprint: its record and its element. The links between elements take the place
/// of the records.
fn bytes<K: Key>() -> u64 {
    (size_of::<(K, u32)>() + size_of::<Element>()) as u64
}

fn of_keys<K: Key>(
    workspace: &Workspace,
    (fingerprints, memory): (u64, &mut Memory),
    context: &Context<'_>,
) -> Result<Search> {
    if !memory.take(fingerprints * bytes::<K>()) {
        return Ok(Search::Nothing);
    }
    let mut keys: Vec<(K, u32)> = Vec::with_capacity(fingerprints as usize);
    let mut sizes = Vec::new();
    let mut documents = Vec::new();
    let mut set = Vec::new();
    let mut sets = SetsByPlace::<K>::new(workspace);
    let representatives = Catalogue::representatives(workspace)?;
    let mut firsts = representatives.iter();
    Catalogue::stored_in_order(workspace)?.each(|document, stored| {
        context.tick(STAGE, document)?;
        let place = sets.pass(document, stored);
        if firsts.next() == Some(document) && stored > 0 {
            set.clear();
            sets.read(place, &mut set)?;
            let number = documents.len() as u32;
            keys.extend(
                set.chunks_exact(K::BYTES)
                    .map(|key| (K::get_le(key), number)),
            );
            documents.push(document);
            sizes.push(stored);
        }
        Ok(())
    })?;
    let pairs = workspace.record::<PairsEntry>("join")?.config.pairs;
    let against = collection::against(&workspace.manifest).documents;
    let document = |n: u32| documents.get(n as usize).copied().unwrap_or(0);
    let listed = |a: u32, b: u32| list::is_listed(pairs, against, (document(a), document(b)));
    let check = || context.stop.check(STAGE);
    let (found, stopped) = best(&sizes, keys, MOST_STEPS, &listed, &check)?;
    let found = found.map(|found| Closest {
        a: document(found.a),
        b: document(found.b),
        ..found
    });
    Ok(match (found, stopped) {
        (found, true) => Search::Stopped(found),
        (Some(found), false) => Search::Found(found),
        (None, false) => Search::Nothing,
    })
}

/// A fingerprint of a document that other documents have. They sort by document, and then the
/// rarest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Element {
    document: u32,
    documents: u32,
    fingerprint: u32,
}

/// Keeps the fingerprints that several documents have, in the order of the documents.
fn shared_elements<K: Key>(mut keys: Vec<(K, u32)>) -> (Vec<Element>, usize) {
    keys.sort_unstable();
    let groups = || {
        let groups = keys.chunk_by(|x, y| x.0 == y.0);
        groups.filter(|group| group.len() > 1)
    };
    let mut number = 0;
    let mut elements = Vec::with_capacity(groups().map(<[_]>::len).sum());
    for (fingerprint, group) in (0..).zip(groups()) {
        number = fingerprint + 1;
        elements.extend(group.iter().map(|&(_, document)| Element {
            document,
            documents: group.len() as u32,
            fingerprint,
        }));
    }
    drop(keys);
    elements.sort_unstable();
    (elements, number as usize)
}

/// The number of fingerprints in both lists, which have the same order.
fn shared_of(a: &[Element], b: &[Element]) -> u32 {
    let rank = |element: &Element| (element.documents, element.fingerprint);
    let mut others = b.iter().peekable();
    let mut shared = 0;
    for element in a {
        while others
            .next_if(|other| rank(other) < rank(element))
            .is_some()
        {}
        shared += u32::from(
            others
                .next_if(|other| rank(other) == rank(element))
                .is_some(),
        );
    }
    shared
}

/// How the resemblance of two sets of these sizes compares with the best so far.
fn compared(shared: u64, (a, b): (u64, u64), best: Option<Closest>) -> std::cmp::Ordering {
    let Some(best) = best else {
        return std::cmp::Ordering::Greater;
    };
    let (of, size_a, size_b) = (best.shared.into(), best.sizes.0.into(), best.sizes.1.into());
    let union = |shared: u64, a: u64, b: u64| u128::from(a + b - shared);
    let one = u128::from(shared) * union(of, size_a, size_b);
    one.cmp(&(u128::from(of) * union(shared, a, b)))
}

/// The elements of all documents, and those that were looked up, as a chain for each fingerprint.
struct Chains {
    elements: Vec<Element>,
    /// Where the elements of each document begin and end, and the size of its set.
    documents: Vec<(Range<usize>, u64)>,
    /// The last element of each fingerprint, and the element before each.
    last: Vec<Option<NonZeroU32>>,
    before: Vec<Option<NonZeroU32>>,
}

impl Chains {
    fn new<K: Key>(sizes: &[u32], keys: Vec<(K, u32)>) -> Chains {
        let (elements, fingerprints) = shared_elements(keys);
        let mut at = 0;
        let documents = (0u32..).zip(sizes).map(|(document, &size)| {
            let of = elements.get(at..).unwrap_or_default();
            let own = of.iter().take_while(|element| element.document == document);
            let from = at;
            at += own.count();
            (from..at, u64::from(size))
        });
        Chains {
            documents: documents.collect(),
            last: vec![None; fingerprints],
            before: vec![None; elements.len()],
            elements,
        }
    }

    /// The elements of a document, where they begin, and the size of its set.
    fn of(&self, document: u32) -> (&[Element], usize, u64) {
        let place = self.documents.get(document as usize);
        let (range, size) = place.cloned().unwrap_or_default();
        let elements = self.elements.get(range.clone()).unwrap_or_default();
        (elements, range.start, size)
    }

    /// The elements of a chain from its last one on.
    fn chain(&self, fingerprint: u32) -> impl Iterator<Item = usize> + '_ {
        let place = |number: NonZeroU32| number.get() as usize - 1;
        let last = self.last.get(fingerprint as usize).copied().flatten();
        std::iter::successors(last.map(place), move |&at| {
            self.before.get(at).copied().flatten().map(place)
        })
    }

    /// Appends an element to its chain.
    fn link(&mut self, fingerprint: u32, at: usize) {
        let number = NonZeroU32::new(at as u32 + 1);
        if let (Some(last), Some(before)) = (
            self.last.get_mut(fingerprint as usize),
            self.before.get_mut(at),
        ) {
            *before = std::mem::replace(last, number);
        }
    }
}

/// The best of the pairs that may be listed, and whether the search ended after this number of steps.
/// Documents are numbered from 0.
fn best<K: Key>(
    sizes: &[u32],
    keys: Vec<(K, u32)>,
    most_steps: u64,
    listed: &dyn Fn(u32, u32) -> bool,
    check: &dyn Fn() -> Result<()>,
) -> Result<(Option<Closest>, bool)> {
    let mut chains = Chains::new(sizes, keys);
    let mut found: Option<Closest> = None;
    let mut active: Vec<u32> = (0..sizes.len() as u32).collect();
    let mut steps = 0;
    for round in 0usize.. {
        check()?;
        active.retain(|&a| {
            let (set, _, size) = chains.of(a);
            let left = set.len().saturating_sub(round) as u64;
            left > 0 && compared(left, (size, left), found).is_ge()
        });
        if active.is_empty() {
            break;
        }
        for &a in &active {
            let (set, start, size) = chains.of(a);
            let Some(element) = set.get(round) else {
                continue;
            };
            for at in chains.chain(element.fingerprint) {
                let Some(b) = chains.elements.get(at).map(|element| element.document) else {
                    continue;
                };
                let (other, from, other_size) = chains.of(b);
                let most = (set.len() - round).min(other.len().saturating_sub(at - from)) as u64;
                steps += 1;
                let pair = (a.min(b), a.max(b));
                if compared(most, (size, other_size), found).is_lt() || !listed(pair.0, pair.1) {
                    continue;
                }
                let shared = shared_of(set, other);
                steps += (set.len() + other.len()) as u64;
                let order = compared(shared.into(), (size, other_size), found);
                let first = found.is_none_or(|found| pair < (found.a, found.b));
                if order.is_gt() || order.is_eq() && first {
                    let size = |n: u32| chains.of(n).2 as u32;
                    found = Some(Closest {
                        a: pair.0,
                        b: pair.1,
                        shared,
                        sizes: (size(pair.0), size(pair.1)),
                    });
                }
            }
            let fingerprint = element.fingerprint;
            chains.link(fingerprint, start + round);
            if steps > most_steps {
                return Ok((found, true));
            }
        }
    }
    Ok((found, false))
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
                let pair = Closest {
                    a,
                    b,
                    shared,
                    sizes,
                };
                let order = compared(shared.into(), (sizes.0.into(), sizes.1.into()), found);
                let earlier = found.is_some_and(|found| (a, b) < (found.a, found.b));
                if shared > 0 && (order.is_gt() || order.is_eq() && earlier) {
                    found = Some(pair);
                }
            }
        }
        found
    }

    fn search(sets: &[Vec<u64>]) -> Option<Closest> {
        let (found, stopped) = search_for(MOST_STEPS, sets);
        assert!(!stopped);
        found
    }

    fn search_for(most_steps: u64, sets: &[Vec<u64>]) -> (Option<Closest>, bool) {
        let sizes: Vec<u32> = sets.iter().map(|set| set.len() as u32).collect();
        let keys = (0u32..).zip(sets);
        let keys = keys.flat_map(|(n, set)| set.iter().map(move |&key| (key, n)));
        best(&sizes, keys.collect(), most_steps, &|_, _| true, &|| Ok(())).unwrap()
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

    /// What was not compared must not pass for nothing in common.
    #[test]
    fn a_search_that_ends_early_says_so() {
        let sets = [vec![1, 2, 3], vec![3, 4], vec![2, 3]];
        assert!(search_for(0, &sets).1);
        assert_eq!(search_for(1 << 20, &sets), (search(&sets), false));
    }

    #[test]
    fn nothing_in_common_is_no_pair() {
        assert_eq!(search(&[vec![1, 2], vec![3], vec![]]), None);
        let found = search(&[vec![1, 2, 3], vec![3, 4], vec![2, 3]]).unwrap();
        assert_eq!(
            (found.a, found.b, found.shared, found.sizes),
            (0, 2, 2, (3, 2))
        );
    }
}
