//! Merging runs into fewer runs, when there are more than can be open at once.

use std::path::Path;

use crate::budget::ByteSize;
use crate::ids::Key;
use crate::numbers::counted;
use crate::progress::Stop;
use crate::sort::{Compression, Record, RunCursor, RunEntry, RunFile, RunWriter};
use crate::store::disk;
use crate::{Error, Result, limits};

use super::{Batch, Batches, LoserTree};

/// What becomes of two records of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// Both are kept, ordered by value.
    Keep,
    /// They become one; the values are added.
    Add,
}

/// How many runs can be merged at once with so much memory (for each of `threads`), and with the
/// file descriptors that the process may have. At least 2, or the least budget that allows 2.
pub fn fan_in<K: Key>(given: ByteSize, memory: u64, threads: u64) -> Result<usize> {
    let cursor = RunFile::<K>::cursor_bytes() as u64;
    let by_memory = memory / threads / cursor;
    if by_memory < 2 {
        return Err(Error::BudgetTooSmall {
            given,
            least: ByteSize(given.0 + 2 * cursor * threads - memory.min(2 * cursor * threads))
                .round_up(),
            what: format!("merging with {}", counted(threads, "thread")),
        });
    }
    // Runs are opened once and shared by the threads.
    let by_descriptors = limits::files_left(threads).max(2);
    Ok(by_memory.min(by_descriptors).min(4096) as usize)
}

/// Everything that a generation needs to know.
pub struct Generations<'a> {
    /// Where the runs are.
    pub directory: &'a Path,
    /// Their parameters' digest.
    pub parameters: u128,
    /// How the next generation is compressed.
    pub compression: Compression,
    /// What becomes of equal keys.
    pub combine: Combine,
    /// The request to stop.
    pub stop: &'a Stop,
    /// The stage on whose behalf.
    pub stage: &'static str,
}

/// Merges runs, lowest generation first, until there are at most `fan_in`. After each merge `commit`
/// is called with the runs as they are now; only then are the files that went into it removed.
pub fn merge_generations<K: Key>(
    how: &Generations<'_>,
    mut runs: Vec<RunEntry>,
    fan_in: usize,
    next_number: &mut u64,
    mut commit: impl FnMut(&[RunEntry], u64) -> Result<()>,
) -> Result<Vec<RunEntry>> {
    while runs.len() > fan_in {
        how.stop.check(how.stage)?;
        disk::point("generation");
        // Not more than needed: the last merge of all takes what is left.
        let take = fan_in.min(runs.len() - fan_in + 1);
        runs.sort_by_key(|run| (run.generation, run.part.bytes));
        let old: Vec<RunEntry> = runs.drain(..take).collect();
        let number = *next_number;
        *next_number += 1;
        let files = old
            .iter()
            .map(|run| {
                let path = how.directory.join(&run.part.name);
                RunFile::<K>::open(&path, Some(how.parameters), Some(&run.part))
            })
            .collect::<Result<Vec<_>>>()?;
        let cursors = files
            .iter()
            .map(|f| f.range(K::default(), K::MAX))
            .collect::<Result<_>>()?;
        let mut out = RunWriter::create(how.directory, number, how.parameters, how.compression)?;
        match how.combine {
            Combine::Keep => keep(how, cursors, &mut out)?,
            Combine::Add => add(how, cursors, &mut out)?,
        }
        drop(files);
        let mut covers: Vec<(u32, u32)> = old.iter().flat_map(|run| run.covers.clone()).collect();
        covers.sort_unstable();
        let generation = old.iter().map(|run| run.generation).max().unwrap_or(0) + 1;
        runs.push(RunEntry {
            part: out.finish()?,
            generation,
            covers: join_adjacent(&covers),
        });
        commit(&runs, *next_number)?;
        for run in &old {
            disk::remove(&how.directory.join(&run.part.name))?;
        }
    }
    Ok(runs)
}

fn keep<K: Key>(
    how: &Generations<'_>,
    cursors: Vec<RunCursor<'_, K>>,
    out: &mut RunWriter<K>,
) -> Result<()> {
    let mut batches = Batches::new(cursors);
    while let Some(batch) = batches.next()? {
        how.stop.check(how.stage)?;
        match batch {
            Batch::Records(records) => {
                for &record in records {
                    out.push(record)?;
                }
            }
            Batch::Key(key, values) => {
                for &value in values {
                    out.push(Record { key, value })?;
                }
            }
        }
    }
    Ok(())
}

fn add<K: Key>(
    how: &Generations<'_>,
    cursors: Vec<RunCursor<'_, K>>,
    out: &mut RunWriter<K>,
) -> Result<()> {
    let mut tree = LoserTree::new(cursors);
    let mut held: Option<Record<K>> = None;
    let mut records = 0u64;
    while let Some(record) = tree.next()? {
        records += 1;
        if records.is_multiple_of(1 << 16) {
            how.stop.check(how.stage)?;
        }
        match &mut held {
            Some(before) if before.key == record.key => {
                before.value = before.value.saturating_add(record.value);
            }
            _ => {
                if let Some(before) = held.replace(record) {
                    out.push(before)?;
                }
            }
        }
    }
    held.map_or(Ok(()), |last| out.push(last))
}

/// Intervals that touch become one.
fn join_adjacent(sorted: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut out: Vec<(u32, u32)> = Vec::new();
    for &(from, to) in sorted {
        match out.last_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ => out.push((from, to)),
        }
    }
    out
}
