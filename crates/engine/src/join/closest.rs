//! The two documents that resemble each other most, for a run that found no pair: how far is the
//! threshold from them?
//!
//! # Algorithm
//! A document that has n fingerprints, s of them also in others, resembles none more than s / n. In
//! the falling order of this bound, each document counts what it shares with those before it. The
//! search ends at the first document whose bound is below the best resemblance so far.
//!
//! # Invariants
//! - The pair is the best one, unless the search ended after [`MOST_STEPS`]. Of equally good pairs
//!   it is the first.
//! - The limits depend on the collection alone, so the answer does not depend on memory or threads.
//!
//! # Cost
//! All fingerprints in memory, 24 bytes each (40 with MD5); at most [`MOST_FINGERPRINTS`].

use std::cmp::Ordering;

use crate::collection::{self, Catalogue, SetsByPlace};
use crate::join::{PairsEntry, STAGE, list};
use lookalike_base::Result;
use lookalike_base::ids::{Key, with_keys};
use lookalike_base::memory::Memory;
use lookalike_base::progress::Context;
use lookalike_store::workspace::Workspace;

/// Limit on the fingerprints of a collection that is searched.
pub const MOST_FINGERPRINTS: u64 = 1 << 20;

/// Limit on the shared fingerprints that are counted, and on the pairs looked at: about a second.
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
    let kind = collection::config(&workspace.manifest).shingle.fingerprint;
    with_keys!(kind, K => of_keys::<K>(workspace, (fingerprints, memory), context))
}

/// Bytes for each fingerprint: its record and its element. The lists of documents take the place of
/// the records.
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
    let document = |n: u32| documents.get(n as usize).copied().unwrap_or(0);
    let may = list::Listable::of(workspace, pairs, context)?;
    let listed = |a: u32, b: u32| may.has(document(a), document(b));
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

/// How the resemblance of two sets of these sizes compares with the best so far.
fn compared(shared: u64, (a, b): (u64, u64), best: Option<Closest>) -> Ordering {
    let Some(best) = best else {
        return Ordering::Greater;
    };
    let (of, size_a, size_b) = (best.shared.into(), best.sizes.0.into(), best.sizes.1.into());
    let union = |shared: u64, a: u64, b: u64| u128::from(a + b - shared);
    let one = u128::from(shared) * union(of, size_a, size_b);
    one.cmp(&(u128::from(of) * union(shared, a, b)))
}

/// A document, and the number of a fingerprint that it shares with others.
type Element = (u32, u32);

/// The documents that have each fingerprint, of those that were looked at.
struct Lists {
    /// Where the documents of a fingerprint begin, and where they end so far.
    places: Vec<(u32, u32)>,
    documents: Vec<u32>,
}

impl Lists {
    /// Empty lists with room for all, and the elements of the documents.
    fn new<K: Key>(mut keys: Vec<(K, u32)>) -> (Lists, Vec<Element>) {
        keys.sort_unstable();
        let (mut elements, mut places) = (Vec::new(), Vec::new());
        let groups = keys.chunk_by(|x, y| x.0 == y.0);
        for (number, group) in (0..).zip(groups.filter(|group| group.len() > 1)) {
            let begin = elements.len() as u32;
            places.push((begin, begin));
            elements.extend(group.iter().map(|&(_, document)| (document, number)));
        }
        drop(keys);
        elements.sort_unstable();
        let documents = vec![0; elements.len()];
        (Lists { places, documents }, elements)
    }

    /// The documents of a fingerprint. The next call has `document` too.
    fn put(&mut self, fingerprint: u32, document: u32) -> &[u32] {
        let (begin, end) = &mut self.places[fingerprint as usize];
        let before = *begin as usize..*end as usize;
        self.documents[before.end] = document;
        *end += 1;
        &self.documents[before]
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
    let (mut lists, elements) = Lists::new(keys);
    let size = |document: u32| u64::from(sizes[document as usize]);
    let mut sets: Vec<&[Element]> = elements.chunk_by(|a, b| a.0 == b.0).collect();
    sets.sort_by(|a, b| {
        let (of_a, of_b) = (a.len() as u64, b.len() as u64);
        (of_b * size(a[0].0)).cmp(&(of_a * size(b[0].0)))
    });
    let mut found: Option<Closest> = None;
    let mut shared = vec![0u32; sizes.len()];
    let (mut others, mut steps) = (Vec::new(), 0);
    for set in sets {
        check()?;
        let (document, most) = (set[0].0, set.len() as u64);
        if compared(most, (size(document), most), found).is_lt() {
            break;
        }
        for &(_, fingerprint) in set {
            let list = lists.put(fingerprint, document);
            for &other in list {
                if shared[other as usize] == 0 {
                    others.push(other);
                }
                shared[other as usize] += 1;
            }
            steps += list.len() as u64;
        }
        steps += others.len() as u64;
        for other in others.drain(..) {
            let shared = std::mem::take(&mut shared[other as usize]);
            let (a, b) = (document.min(other), document.max(other));
            let order = compared(shared.into(), (size(a), size(b)), found);
            let first = found.is_none_or(|found| (a, b) < (found.a, found.b));
            if (order.is_gt() || order.is_eq() && first) && listed(a, b) {
                let sizes = (size(a) as u32, size(b) as u32);
                found = Some(Closest {
                    a,
                    b,
                    shared,
                    sizes,
                });
            }
        }
        if steps > most_steps {
            return Ok((found, true));
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
