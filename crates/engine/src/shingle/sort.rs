//! Sorting a document's fingerprints.
//!
//! Fingerprints are uniformly distributed, so a key almost determines its own place in the sorted
//! set. The keys are distributed by their leading bits into as many slots as there are keys, and
//! each slot is sorted. On web pages with a thousand fingerprints this takes half the time of
//! [`slice::sort_unstable`]. If the keys are not uniform (a document that repeats itself, a narrow
//! range), `sort_unstable` sorts the crowded slots, so in the worst case this takes as long as
//! `sort_unstable` alone.

use lookalike_base::Key;

/// With fewer keys, a plain sort is as fast.
const LEAST: usize = 32;

/// With more keys, the slots do not fit the second-level cache.
const MOST: usize = 1 << 16;

/// Maximum number of keys in a slot that is sorted by insertion.
const CROWDED: u32 = 12;

/// Sorts and deduplicates sets of fingerprints. Between sets it keeps at most [`MOST`] keys and the
/// same number of counts.
#[derive(Debug, Default)]
pub(super) struct Sorter<K: Key> {
    /// The keys, distributed into slots.
    dealt: Vec<K>,
    /// First the number of keys in each slot, then the end of each slot.
    slots: Vec<u32>,
}

impl<K: Key> Sorter<K> {
    /// Sorts `set` and drops duplicates.
    pub(super) fn sort_distinct(&mut self, set: &mut Vec<K>) {
        if (LEAST..MOST).contains(&set.len()) {
            self.deal(set);
            // Every key is written, and a key that equals the next is then overwritten, so that no
            // branch depends on the keys. There is one place per key.
            let mut kept = 0;
            for (key, next) in self.dealt.iter().zip(self.dealt.iter().skip(1)) {
                set[kept] = *key;
                kept += usize::from(key != next);
            }
            if let Some(last) = self.dealt.last() {
                set[kept] = *last;
                kept += 1;
            }
            set.truncate(kept);
        } else {
            set.sort_unstable();
            set.dedup();
        }
    }

    /// Distributes `keys` into `dealt` and sorts them.
    fn deal(&mut self, keys: &[K]) {
        let slots = keys.len();
        let slot = |key: K| {
            let leading = (key.to_u128() >> (K::BITS - 64)) as u64;
            ((u128::from(leading) * slots as u128) >> 64) as usize
        };
        self.slots.clear();
        self.slots.resize(slots, 0);
        for &key in keys {
            self.slots[slot(key)] += 1;
        }
        let (mut sum, mut most) = (0, 0);
        for count in &mut self.slots {
            most = most.max(*count);
            (*count, sum) = (sum, sum + *count);
        }
        // No need to clear: every place is written.
        if self.dealt.len() < slots {
            self.dealt.resize(slots, K::default());
        }
        self.dealt.truncate(slots);
        for &key in keys {
            let place = &mut self.slots[slot(key)];
            self.dealt[*place as usize] = key;
            *place += 1;
        }
        if most > CROWDED {
            let mut start = 0;
            for &end in &self.slots {
                self.dealt[start..end as usize].sort_unstable();
                start = end as usize;
            }
            return;
        }
        // The slots are in order already, so no key leaves its slot.
        for i in 1..slots {
            let key = self.dealt[i];
            let mut at = i;
            while at > 0 && self.dealt[at - 1] > key {
                self.dealt[at] = self.dealt[at - 1];
                at -= 1;
            }
            self.dealt[at] = key;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<K: Key>(keys: Vec<K>) {
        let mut expected = keys.clone();
        expected.sort_unstable();
        expected.dedup();
        let mut sorter = Sorter::default();
        // A larger set leaves no keys behind for the next.
        sorter.sort_distinct(&mut vec![K::MAX; 500]);
        let mut found = keys;
        sorter.sort_distinct(&mut found);
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn equals_the_plain_sort(
            keys in prop::collection::vec(any::<u128>(), 0..300),
            again in prop::collection::vec(0usize..300, 0..200),
            shift in 0u32..128,
        ) {
            let mut keys: Vec<u128> = keys.iter().map(|k| k >> shift).collect();
            for i in again {
                if let Some(&key) = keys.get(i) {
                    keys.push(key);
                }
            }
            check(keys.iter().map(|&k| (k >> 64) as u64).collect());
            check(keys.iter().map(|&k| k as u64).collect());
            check(keys);
        }
    }

    #[test]
    fn corners() {
        for n in [0, 1, 31, 32, 33, 1000] {
            check(vec![7u64; n]);
            check(vec![u128::MAX; n]);
            check((0..n as u64).rev().collect());
            check(
                (0..n as u64)
                    .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
                    .collect(),
            );
        }
        check(
            (0..70_000u64)
                .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
                .collect(),
        );
    }
}
