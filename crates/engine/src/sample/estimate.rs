//! Estimates the costs of two joins from some of the documents.
//!
//! # Algorithm
//! Some documents choose their keys. All pairs of these documents under one key are listed, once of
//! the chosen keys and once of all that are counted. If one document in 16 was asked, one pair in
//! 256 is among them, with everything that it shares. So the list also says how often the same two
//! documents meet: near-duplicates meet under hundreds of keys, documents that share a phrase under
//! one, and each of them has to be verified.

use lookalike_base::{Key, mix_key};

/// The most pairs that are listed.
const MOST_PAIRS: f64 = (1 << 20) as f64;
/// Up to this number of pairs under chosen keys, the join by prefixes is so fast that the choice does
/// not matter.
const FEW_PAIRS: f64 = 100_000.0;

/// Pairs of documents under one key.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Met {
    /// Pairs, once for each key.
    pub(super) pairs: f64,
    /// Pairs, once, that have to be verified.
    pub(super) distinct: f64,
}

impl Met {
    /// Whether pairing all keys of this number of records costs less than to choose some of them,
    /// if these are in memory and each of them is counted. Choosing takes 29 ns more for each record
    /// than a merge of all.
    pub(super) fn is_little_beside(&self, records: u64) -> bool {
        2.5 * self.pairs + 40.0 * self.distinct < 25.0 * records as f64
    }
}

/// Keys of some documents.
pub(super) struct Meetings<K> {
    records: Vec<(K, u32)>,
    room: usize,
    /// If memory has no room for all documents, each step keeps half of them; this is the number of
    /// steps. A document keeps all its keys, because they say how often documents meet.
    bits: u32,
}

impl<K: Key> Meetings<K> {
    /// Room for this number of keys.
    pub(super) fn new(room: usize) -> Self {
        Meetings {
            records: Vec::new(),
            room,
            bits: 0,
        }
    }

    pub(super) fn take(&mut self, keys: &[K], document: u32) {
        if !keeps(document, self.bits) {
            return;
        }
        self.records.extend(keys.iter().map(|&key| (key, document)));
        while self.records.len() > self.room && self.bits < u64::BITS {
            self.fewer();
        }
    }

    /// Keeps half of the documents.
    fn fewer(&mut self) {
        self.bits += 1;
        self.records
            .retain(|&(_, document)| keeps(document, self.bits));
    }

    /// The pairs of all documents, from those among documents that have `share` of all keys. Of their
    /// keys, the share `counted` was taken. Of the different pairs, those that are `possible`.
    pub(super) fn met(
        mut self,
        share: f64,
        counted: f64,
        possible: impl Fn(u32, u32) -> bool,
    ) -> Met {
        self.records.sort_unstable();
        let of_documents = share / f64::from(self.bits).exp2();
        let pairs = self.pairs() / counted / of_documents.powi(2);
        while self.pairs() > MOST_PAIRS {
            self.fewer();
        }
        let mut listed = Vec::new();
        for list in self.records.chunk_by(|a, b| a.0 == b.0) {
            for (n, &(_, a)) in list.iter().enumerate() {
                let after = list[n + 1..].iter();
                listed.extend(after.map(|&(_, b)| u64::from(a) << 32 | u64::from(b)));
            }
        }
        let all = listed.len() as f64;
        listed.sort_unstable();
        listed.dedup();
        let distinct = listed.len().max(1) as f64;
        let times = times_met(all / distinct, counted);
        listed.retain(|pair| possible((pair >> 32) as u32, *pair as u32));
        Met {
            pairs,
            distinct: pairs / times * listed.len() as f64 / distinct,
        }
    }

    fn pairs(&self) -> f64 {
        let lists = self.records.chunk_by(|a, b| a.0 == b.0);
        let of_list = |list: &[(K, u32)]| list.len() as f64 * (list.len() as f64 - 1.0) / 2.0;
        lists.map(of_list).sum()
    }
}

/// Whether a document is one of the one in two to the power of `bits` that are kept.
fn keeps(document: u32, bits: u32) -> bool {
    mix_key(document.into()).leading_zeros() >= bits
}

/// Under how many keys two documents meet, if those that meet under one of a `share` of the keys do
/// so under `found` of them on average.
fn times_met(found: f64, share: f64) -> f64 {
    let expected = |times: f64| share * times / (1.0 - (1.0 - share).powf(times));
    let (mut low, mut high) = (1.0, 1e6);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if expected(middle) < found {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The estimates for a selection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expected {
    /// Keys that documents choose.
    pub keys: u64,
    /// Keys of the sample, and documents that have some.
    pub(super) records: u64,
    pub(super) documents: u64,
    /// Pairs of documents under chosen keys, and under all keys.
    pub(super) chosen: Met,
    pub(super) every: Met,
}

impl Expected {
    /// A sort of all keys.
    pub fn of_all(keys: u64) -> Expected {
        Expected {
            keys,
            ..Expected::default()
        }
    }

    /// Whether so many pairs are expected under the chosen keys that a wider region may pay: if most
    /// of a document is in many others, and the rest has too few keys in the region. (Twice the
    /// region costs 17 ns for each key of the collection, and a pair 30; a wider region saves some
    /// of the pairs.)
    pub(crate) fn is_crowded(&self) -> bool {
        self.chosen.pairs > self.records as f64
    }

    /// Whether a join that sorts all keys and counts is expected to take less CPU time than one that
    /// sorts and pairs the chosen keys. The figures are nanoseconds, fitted to 14 collections and
    /// thresholds (`docs/experiments.md`).
    pub(crate) fn counting_pays(&self) -> bool {
        let (records, documents) = (self.records as f64, self.documents as f64);
        let of_set = records / documents.max(1.0);
        let sorting = 100.0 * self.keys as f64 + 500.0 * documents;
        let verifying = (250.0 + of_set) * self.chosen.distinct;
        let by_prefixes = sorting + 30.0 * self.chosen.pairs + verifying;
        let counting = 45.0 * records + 2.5 * self.every.pairs + 40.0 * self.every.distinct;
        self.chosen.pairs > FEW_PAIRS && by_prefixes > counting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_base::random::Random;

    /// Documents of which some meet under many keys, and others under one: with room for all keys,
    /// for few, and with more pairs than are listed.
    #[test]
    fn pairs_and_different_pairs_are_estimated() {
        for (documents, room) in [(400u32, 1 << 20), (2_000, 30_000), (3_000, 1 << 20)] {
            let random = &mut Random::new(documents.into());
            let mut meetings = Meetings::<u64>::new(room);
            let mut lists = std::collections::BTreeMap::<u64, Vec<u32>>::new();
            for document in 0..documents {
                let of_pair: Vec<u64> = (0..40u64)
                    .map(|n| mix_key(u64::from(document / 2) * 64 + n))
                    .collect();
                let by_chance = (0..20).map(|_| mix_key(random.below(3_000) << 40));
                let mut keys: Vec<u64> = of_pair.into_iter().chain(by_chance).collect();
                keys.sort_unstable();
                keys.dedup();
                meetings.take(&keys, document);
                for key in keys {
                    lists.entry(key).or_default().push(document);
                }
            }
            let mut met = std::collections::BTreeMap::<(u32, u32), u64>::new();
            for list in lists.values() {
                for (n, &a) in list.iter().enumerate() {
                    list[n + 1..]
                        .iter()
                        .for_each(|&b| *met.entry((a, b)).or_default() += 1);
                }
            }
            let (pairs, distinct) = (met.values().sum::<u64>() as f64, met.len() as f64);
            let found = meetings.met(1.0, 1.0, |_, _| true);
            let near = |a: f64, b: f64| a / b < 1.3 && b / a < 1.3;
            assert!(near(found.pairs, pairs), "{found:?} {pairs} {distinct}");
            assert!(
                near(found.distinct, distinct),
                "{found:?} {pairs} {distinct}"
            );
        }
    }
}
