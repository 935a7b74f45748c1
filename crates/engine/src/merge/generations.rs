//! Merges runs into fewer runs if there are more than can be open at once.

use std::path::Path;

use crate::sort::{Compression, Record, RunCursor, RunEntry, RunFile, RunWriter, open_runs};
use lookalike_base::{Budget, Key, Result, Stop, counted, limits};
use lookalike_store::disk;

use super::ranges::LongLists;
use super::{Batches, Merged, Sums};

/// The number of runs, at least 2, that can be merged at once. It depends on `memory`, which
/// `threads` threads share, and on the file descriptors that the process may have. If the memory
/// is too small for 2 runs, the error names the least `budget`.
pub fn fan_in<K: Key>(budget: &Budget, memory: u64, threads: u64) -> Result<usize> {
    let cursor = RunFile::<K>::cursor_bytes() as u64;
    let what = || format!("merging with {}", counted(threads, "thread"));
    budget.require_share(memory, 2 * cursor * threads, what)?;
    let by_memory = memory / threads / cursor;
    // Runs are opened once and shared by the threads.
    let by_descriptors = limits::files_left(threads).max(2);
    Ok(by_memory.min(by_descriptors).min(4096) as usize)
}

/// How to merge generations of runs.
pub struct Generations<'a> {
    /// Where the runs are.
    pub directory: &'a Path,
    /// The digest of their parameters.
    pub parameters: u128,
    /// How the next generation is compressed.
    pub compression: Compression,
    /// Whether the merge adds the values of all records of a key to one record. Otherwise it keeps
    /// every record, ordered by value.
    pub adds: bool,
    /// The request to stop.
    pub stop: &'a Stop,
    /// The stage that merges, for errors.
    pub stage: &'static str,
}

/// Merges runs, lowest generation first, until there are at most `fan_in`. After each merge, it
/// calls `commit` with the runs that are left and the next number, and then removes the files of
/// the merged runs.
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
        // Do not merge more runs than necessary: the final merge takes up to `fan_in`.
        let take = fan_in.min(runs.len() - fan_in + 1);
        runs.sort_by_key(|run| (run.generation, run.part.bytes));
        let old: Vec<RunEntry> = runs.drain(..take).collect();
        let number = *next_number;
        *next_number += 1;
        let files = open_runs::<K>(&old, how.directory, how.parameters)?;
        let cursors = files
            .iter()
            .map(|f| f.range(K::default(), K::MAX))
            .collect::<Result<_>>()?;
        let mut out = RunWriter::create(how.directory, number, how.parameters, how.compression)?;
        match how.adds {
            false => keep(how, cursors, &mut out)?,
            true => add(how, cursors, &mut out)?,
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
    let long = LongLists::default();
    let mut batches = Batches::new(cursors, &long);
    while let Some(batch) = batches.next()? {
        how.stop.check(how.stage)?;
        match batch {
            Merged::Records(records) => {
                for &record in records {
                    out.push(record)?;
                }
            }
            Merged::Key(key, values) => {
                for &value in &*values {
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
    let mut sums = Sums::of(cursors);
    while let Some(record) = sums.next((how.stage, how.stop))? {
        out.push(record)?;
    }
    Ok(())
}

/// Joins intervals that touch.
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
