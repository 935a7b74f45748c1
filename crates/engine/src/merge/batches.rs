//! Merges runs in batches.

use crate::sort::{Distributor, Record, RunCursor};
use lookalike_base::{Key, Result, lock};
use std::sync::MutexGuard;

use super::ranges::{LONG, LongLists};

/// Merges cursors: yields their records in order, in batches of whole keys.
///
/// The index of a run has the first key of its next block, so all records below the least of these
/// keys lie in the decoded blocks. These records form a batch. It has about 4,096 records if the
/// keys are random, for any number of runs, and never more than the decoded blocks hold.
pub struct Batches<'a, K> {
    cursors: Vec<RunCursor<'a, K>>,
    /// The number of records of each cursor in the batch. The next call skips them.
    taken: Vec<usize>,
    distributor: Distributor<K>,
    list: Vec<u32>,
    long: &'a LongLists,
    /// Held while the list is long.
    alone: Option<MutexGuard<'a, ()>>,
}

/// The records that a merge yields at a time.
#[derive(Debug)]
pub enum Merged<'b, K> {
    /// All records of some keys, sorted.
    Records(&'b [Record<K>]),
    /// All values of one key, sorted. The key continues from one block of a run into the next.
    Key(K, &'b mut Vec<u32>),
}

impl<'a, K: Key> Batches<'a, K> {
    /// Begins a merge. It is fastest if the cursors are in the order of their values. Merges that
    /// share
    /// `long` wait for each other to use up a long list.
    pub fn new(cursors: Vec<RunCursor<'a, K>>, long: &'a LongLists) -> Self {
        Batches {
            taken: vec![0; cursors.len()],
            cursors,
            distributor: Distributor::default(),
            list: Vec::new(),
            long,
            alone: None,
        }
    }

    /// The next batch; `None` if all runs are used up.
    pub fn next(&mut self) -> Result<Option<Merged<'_, K>>> {
        if self.alone.is_some() {
            self.list = Vec::new();
            self.alone = None;
        }
        for (cursor, taken) in self.cursors.iter_mut().zip(&mut self.taken) {
            cursor.skip(std::mem::take(taken))?;
        }
        self.cursors.retain(|cursor| cursor.head().is_some());
        self.taken.truncate(self.cursors.len());
        let heads = self.cursors.iter().filter_map(RunCursor::head);
        let Some(least) = heads.map(|head| head.key).min() else {
            return Ok(None);
        };
        let limit = self.cursors.iter().filter_map(RunCursor::next_key).min();
        if limit.is_some_and(|limit| limit <= least) {
            return self.key(least).map(Some);
        }
        let (mut count, mut most) = (0, least);
        for (cursor, taken) in self.cursors.iter().zip(&mut self.taken) {
            let (keys, _) = cursor.rest();
            *taken = match limit {
                Some(limit) => keys.partition_point(|&key| key < limit),
                None => keys.len(),
            };
            count += *taken;
            if let Some(&last) = keys[..*taken].last() {
                most = most.max(last);
            }
        }
        if count == 0 {
            let found = format!("{:x}", least.to_u128());
            return Err(match self.cursors.first() {
                Some(cursor) => cursor.corrupt("rising keys", &found),
                None => return Ok(None),
            });
        }
        let records = self.cursors.iter().zip(&self.taken).flat_map(|(c, &n)| {
            let (keys, values) = c.rest();
            keys[..n]
                .iter()
                .zip(&values[..n])
                .map(|(&key, &value)| Record { key, value })
        });
        let sorted = self.distributor.sort(least, most, count, records);
        Ok(Some(Merged::Records(sorted)))
    }

    /// Takes all records of the least key.
    fn key(&mut self, key: K) -> Result<Merged<'_, K>> {
        self.list.clear();
        for cursor in &mut self.cursors {
            while cursor.head().is_some_and(|head| head.key == key) {
                let (keys, values) = cursor.rest();
                let n = keys.partition_point(|&k| k == key).max(1);
                if self.list.len() + n >= LONG && self.alone.is_none() {
                    self.alone = Some(lock(self.long));
                }
                self.list.extend_from_slice(&values[..n]);
                cursor.skip(n)?;
            }
        }
        if !self.list.is_sorted() {
            self.list.sort_unstable();
        }
        Ok(Merged::Key(key, &mut self.list))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::{BLOCK_RECORDS, RunFile, RunWriter};
    use lookalike_store::Kind;

    /// Merges the keys in `low..=high` of some runs, and returns the number of batches of one key.
    fn merges(runs: &[Vec<Record<u64>>], low: u64, high: u64) -> usize {
        let directory = tempfile::tempdir().unwrap();
        let mut files = Vec::new();
        for (number, records) in (0..).zip(runs) {
            let (place, packed) = (directory.path(), None);
            let mut run = RunWriter::create(place, number, 9, packed).unwrap();
            for &record in records {
                run.push(record).unwrap();
            }
            let path = place.join(run.finish().unwrap().name);
            files.push(RunFile::<u64>::open(Kind::Run, &path, Some(9), None).unwrap());
        }
        let cursors = files.iter().map(|file| file.range(low, high).unwrap());
        let long = LongLists::default();
        let mut batches = Batches::new(cursors.collect(), &long);
        let (mut merged, mut keys) = (Vec::new(), 0);
        while let Some(batch) = batches.next().unwrap() {
            let before = merged.last().map(|record: &Record<u64>| record.key);
            let begin = merged.len();
            match batch {
                Merged::Records(records) => {
                    assert!(records.len() <= runs.len() * BLOCK_RECORDS);
                    merged.extend_from_slice(records);
                }
                Merged::Key(key, values) => {
                    keys += 1;
                    merged.extend(values.iter().map(|&value| Record { key, value }));
                }
            }
            assert_ne!(before, Some(merged[begin].key), "a key in two batches");
        }
        let mut expected: Vec<Record<u64>> = runs.concat();
        expected.retain(|record| (low..=high).contains(&record.key));
        expected.sort_unstable();
        assert!(merged == expected, "{} of {}", merged.len(), expected.len());
        keys
    }

    #[test]
    fn any_runs_are_merged() {
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        };
        for count in [0, 1, 2, 9] {
            // Random keys, one key, few keys, and keys close together.
            for kind in 0..4 {
                let mut runs: Vec<Vec<Record<u64>>> = Vec::new();
                for run in 0..count {
                    let n = [3 * BLOCK_RECORDS, 10_000, BLOCK_RECORDS, 1, 0][run % 5];
                    let mut records: Vec<Record<u64>> = (0..n)
                        .map(|i| Record {
                            key: match kind {
                                0 => random(),
                                1 => 7,
                                2 => random() % 3 * (u64::MAX / 2),
                                _ => random() % 5000,
                            },
                            // Runs take turns, as those of several workers do.
                            value: ((i / 100) * count + run) as u32 * 100 + i as u32 % 100,
                        })
                        .collect();
                    records.sort_unstable();
                    runs.push(records);
                }
                let keys = merges(&runs, 0, u64::MAX);
                match kind {
                    0 => assert_eq!(keys, 0),
                    // More than a block of one key cannot come as records.
                    1 | 2 => assert_eq!(keys > 0, count > 0, "{count} runs of kind {kind}"),
                    _ => {}
                }
                merges(&runs, 7, 7);
                merges(&runs, 1, u64::MAX / 2);
            }
        }
    }
}
