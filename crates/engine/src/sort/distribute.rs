//! Sorts a few thousand records in cache, by the position of their keys between the least and the
//! most.

use super::Record;
use lookalike_base::Key;

/// Below this number, records are sorted by comparison.
const FEW: usize = 64;
/// The fewest slots per record. With two, few distinct random keys share a slot.
const SLOTS_A_RECORD: usize = 2;
/// The most slots. Their counts take 256 KiB and stay in the second-level cache.
const MOST_SLOTS: usize = 1 << 16;
/// The most records of a slot that insertion sort handles. Larger slots are sorted by comparison.
const CROWD: u32 = 24;

/// Sorts records by distributing them over slots, and keeps its buffers for the next sort.
///
/// Random keys get almost one slot each, whatever their range. So three passes sort them: one
/// counts, one places, and one is an insertion sort. Keys that crowd into a slot are sorted there
/// by comparison, so no input takes longer than a sort by comparison.
#[derive(Debug, Default)]
pub struct Distributor<K> {
    /// For each slot, the number of its records, later the position of its next record.
    slots: Vec<u32>,
    sorted: Vec<Record<K>>,
}

impl<K: Key> Distributor<K> {
    /// Sorts `count` records with keys in `least..=most`. It is fastest if equal keys arrive in the
    /// order of their values.
    pub fn sort(
        &mut self,
        least: K,
        most: K,
        count: usize,
        records: impl Iterator<Item = Record<K>> + Clone,
    ) -> &[Record<K>] {
        if self.sorted.len() < count {
            self.sorted.resize(count, Record::default());
        }
        if count < FEW {
            let mut n = 0;
            for (place, record) in self.sorted.iter_mut().zip(records) {
                *place = record;
                n += 1;
            }
            self.sorted[..n].sort_unstable();
            return &self.sorted[..n];
        }
        let slots = (count * SLOTS_A_RECORD).next_power_of_two().min(MOST_SLOTS);
        let width = u128::BITS
            - most
                .to_u128()
                .saturating_sub(least.to_u128())
                .leading_zeros();
        let shift = width.saturating_sub(slots.ilog2());
        self.slots.clear();
        self.slots.resize(slots, 0);
        let slots = &mut self.slots[..];
        // A key outside the bounds is an error of the caller. It goes into the last slot and is
        // sorted there.
        let end = slots.len() - 1;
        records
            .clone()
            .for_each(|r| slots[r.key.above(least, shift).min(end)] += 1);
        let (mut start, mut crowded) = (0, 0);
        for slot in slots.iter_mut() {
            crowded = crowded.max(*slot);
            start += std::mem::replace(slot, start);
        }
        let sorted = &mut self.sorted[..count];
        records.for_each(|r| {
            let slot = &mut slots[r.key.above(least, shift).min(end)];
            sorted[*slot as usize] = r;
            *slot += 1;
        });
        if crowded > CROWD {
            // By this point each slot holds the end of its records.
            let mut start = 0;
            for &end in slots.iter() {
                if end - start > CROWD {
                    let crowd = &mut sorted[start as usize..end as usize];
                    if !crowd.is_sorted() {
                        crowd.sort_unstable();
                    }
                }
                start = end;
            }
        }
        insertion(sorted);
        sorted
    }
}

/// Insertion sort. Every record is at most one slot away from its place.
fn insertion<K: Key>(records: &mut [Record<K>]) {
    for i in 1..records.len() {
        let record = records[i];
        let mut at = i;
        while at > 0 && record < records[at - 1] {
            records[at] = records[at - 1];
            at -= 1;
        }
        records[at] = record;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorts<K: Key>(records: &[Record<K>]) {
        let least = records.iter().map(|r| r.key).min().unwrap_or_default();
        let most = records.iter().map(|r| r.key).max().unwrap_or_default();
        let mut expected = records.to_vec();
        expected.sort_unstable();
        let mut distributor = Distributor::default();
        // The second sort reuses buffers with old content.
        for _ in 0..2 {
            let sorted = distributor.sort(least, most, records.len(), records.iter().copied());
            assert!(sorted == expected, "{} records", records.len());
        }
    }

    #[test]
    fn any_keys_are_sorted() {
        let mut state = 5u64;
        let mut random = move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        for n in [0, 1, 2, FEW - 1, FEW, 4096, 50_000] {
            // Uniform keys, one key, few keys, keys in a corner, and one key far from all others.
            for kind in 0..5 {
                let mut records: Vec<Record<u64>> = (0..n)
                    .map(|_| Record {
                        key: match kind {
                            0 => random(),
                            1 => 7,
                            2 => random() % 5 * (u64::MAX / 5),
                            3 => u64::MAX - random() % 300,
                            _ => random() >> 40,
                        },
                        value: random() as u32 % 1000,
                    })
                    .collect();
                if kind == 4 && n > 0 {
                    records[n / 2].key = u64::MAX;
                }
                sorts(&records);
                let wide: Vec<Record<u128>> = records
                    .iter()
                    .map(|r| Record {
                        key: u128::from(r.key) << 64 | u128::from(r.value % 3),
                        value: r.value,
                    })
                    .collect();
                sorts(&wide);
            }
        }
    }
}
