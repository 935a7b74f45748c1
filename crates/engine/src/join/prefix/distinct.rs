//! The candidates of all runs in order, each once.

use std::collections::VecDeque;

use super::STAGE;
use crate::sort::{BLOCK_RECORDS, RunFile};
use lookalike_base::{Result, Stop, in_order};

/// Blocks of each run in a range of keys, on average, and the fewest of all runs. A range begins
/// and ends within a block of each run, so one block more of each is decoded.
const BLOCKS: usize = 2;
const LEAST_BLOCKS: usize = 16;

/// Blocks that begin in a range of keys.
fn blocks(files: usize) -> usize {
    (BLOCKS * files).max(LEAST_BLOCKS)
}

/// The most candidates of a range, with repetitions.
fn most_candidates(files: usize) -> usize {
    (blocks(files) + files) * BLOCK_RECORDS
}

/// Bytes that a thread needs to merge a range: a cursor, and the candidates while they are sorted,
/// which takes half of their size, and when they wait.
fn thread_bytes(files: usize) -> u64 {
    (RunFile::<u64>::cursor_bytes() + most_candidates(files) * size_of::<u64>() * 5 / 2) as u64
}

/// Merges the runs of candidates. It cuts the keys into ranges, and threads merge some ranges at
/// a time.
pub(super) struct Distinct<'r> {
    files: &'r [RunFile<u64>],
    /// The first key of each range that has not been merged, except that of the next range.
    begins: std::vec::IntoIter<u64>,
    /// The first key of the next range; `None` if all are merged.
    from: Option<u64>,
    threads: usize,
    stop: &'r Stop,
    /// The candidates of the ranges that were merged, without those that were passed on.
    merged: VecDeque<std::vec::IntoIter<u64>>,
    /// Candidates read, with repetitions.
    pub read: u64,
}

impl<'r> Distinct<'r> {
    /// Bytes of memory for this number of runs.
    pub(super) fn bytes(files: usize, threads: usize) -> u64 {
        threads as u64 * thread_bytes(files)
    }

    /// Begins with the first candidate that is at least `from`. `memory` bounds the number of
    /// threads.
    pub(super) fn new(
        files: &'r [RunFile<u64>],
        from: u64,
        threads: usize,
        memory: u64,
        stop: &'r Stop,
    ) -> Self {
        let mut begins: Vec<u64> = files.iter().flat_map(RunFile::first_keys).collect();
        begins.sort_unstable();
        let blocks = blocks(files.len());
        let begins = begins.into_iter().skip(blocks).step_by(blocks);
        let mut begins: Vec<u64> = begins.filter(|&key| key > from).collect();
        begins.dedup();
        let most = memory / thread_bytes(files.len());
        Distinct {
            files,
            begins: begins.into_iter(),
            from: Some(from),
            threads: threads.min(most as usize).max(1),
            stop,
            merged: VecDeque::new(),
            read: 0,
        }
    }

    /// The next candidate; the next call returns the same one unless [`Distinct::advance`] is
    /// called.
    pub(super) fn next(&mut self) -> Result<Option<u64>> {
        loop {
            if let Some(range) = self.merged.front() {
                if let Some(&key) = range.as_slice().first() {
                    return Ok(Some(key));
                }
                self.merged.pop_front();
            } else if self.from.is_some() {
                self.merge()?;
            } else {
                return Ok(None);
            }
        }
    }

    pub(super) fn advance(&mut self) {
        self.merged.front_mut().and_then(Iterator::next);
    }

    /// Merges a range for each thread.
    fn merge(&mut self) -> Result<()> {
        let (files, stop) = (self.files, self.stop);
        let most = most_candidates(files.len());
        let (begins, from) = (&mut self.begins, &mut self.from);
        let (merged, read) = (&mut self.merged, &mut self.read);
        in_order(
            STAGE,
            self.threads,
            |hand_out| {
                for _ in 0..self.threads {
                    let Some(low) = *from else { break };
                    *from = begins.next();
                    stop.check(STAGE)?;
                    hand_out((low, from.map_or(u64::MAX, |next| next - 1)))?;
                }
                Ok(())
            },
            |(low, high), pass| {
                // Room that is not used takes no memory, and a vector that grows takes twice its
                // size.
                let mut keys = Vec::with_capacity(most);
                for file in files {
                    let mut cursor = file.range(low, high)?;
                    while cursor.head().is_some() {
                        let (rest, _) = cursor.rest();
                        keys.extend_from_slice(rest);
                        let n = rest.len();
                        cursor.skip(n)?;
                    }
                }
                let read = keys.len();
                keys.sort();
                keys.dedup();
                pass((read, keys))
            },
            |(records, keys): (usize, Vec<u64>)| {
                *read += records as u64;
                merged.push_back(keys.into_iter());
                Ok(())
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::{Record, RunWriter};
    use lookalike_base::random::Random;
    use lookalike_store::Kind;

    #[test]
    fn every_candidate_comes_once_and_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let mut random = Random::new(3);
        // Keys that few and that many runs have, neighbours on both sides of a bound, and the
        // greatest key.
        for (runs, keys) in [(0, 1), (1, 1 << 18), (3, 1 << 16), (20, 1 << 14)] {
            let mut all = Vec::new();
            let mut files = Vec::new();
            for number in 0..runs {
                let count = random.draw() % (4 * keys);
                let random_keys = (0..count).map(|_| random.draw() % keys);
                let mut run: Vec<u64> = random_keys.chain([u64::MAX]).collect();
                run.sort_unstable();
                run.dedup();
                let mut writer = RunWriter::create(directory.path(), number, 9, None).unwrap();
                for &key in &run {
                    writer.push(Record { key, value: 1 }).unwrap();
                }
                let path = directory.path().join(writer.finish().unwrap().name);
                files.push(RunFile::<u64>::open(Kind::Run, &path, Some(9), None).unwrap());
                all.extend(run);
            }
            all.sort_unstable();
            let read = all.len() as u64;
            all.dedup();
            for from in [0, all.get(all.len() / 3).copied().unwrap_or(5), u64::MAX] {
                for (threads, memory) in [(1, 0), (3, 0), (3, 1 << 30), (8, 1 << 30)] {
                    let stop = Stop::default();
                    let mut distinct = Distinct::new(&files, from, threads, memory, &stop);
                    assert_eq!(distinct.threads > 1, memory > 0);
                    let mut found = Vec::new();
                    while let Some(key) = distinct.next().unwrap() {
                        found.push(key);
                        distinct.advance();
                    }
                    assert!(found.iter().eq(all.iter().filter(|&&key| key >= from)));
                    assert!(from > 0 || distinct.read == read);
                }
            }
        }
    }
}
