//! Threads that go through the input files.
//!
//! Each thread takes some consecutive files at a time, the largest first. So the records of small
//! files are read in one pass over their segment, and no large file is left for the end. Nothing
//! that is written depends on the order of the files.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::STAGE;
use lookalike_base::{Context, Result, Unit, budget::ByteSize, counted, workers::share};
use lookalike_text::read::InputFile;

/// The most bytes and files that a thread takes at a time. The records of all of them are read in
/// one pass over the documents of their segments.
const MOST_BYTES_TAKEN: u64 = 4 << 20;
const MOST_FILES_TAKEN: usize = 1024;
/// The least number of times that each thread takes files: at the end, the others wait for the
/// thread that has most left.
const TIMES: usize = 16;

/// Calls `act` for every file from number `first` on, with its number and with what `open` makes for
/// the first of the consecutive files that a thread takes. Several threads call it.
pub fn each<R>(
    name: &'static str,
    (inputs, first): (&[InputFile], u32),
    open: impl Fn(u32) -> R + Sync,
    act: impl Fn(u32, &InputFile, &mut R) -> Result<()> + Sync,
    context: &Context<'_>,
) -> Result<()> {
    let bytes: u64 = inputs.iter().map(InputFile::size).sum();
    context.start(name, Unit::Bytes, Some(bytes));
    let tasks = tasks(inputs, context.budget.threads);
    let threads = context.budget.threads.clamp(1, tasks.len().max(1));
    let done = AtomicU64::new(0);
    // After a failure, the other threads end with the files that they have taken.
    share(name, threads, tasks, |queue| {
        while let Some(task) = queue.next() {
            let mut records = open(task.files.start);
            for (file, input) in task.of(inputs).filter(|(file, _)| *file >= first) {
                context.stop.check(STAGE)?;
                act(file, input, &mut records)?;
                let before = done.fetch_add(input.size(), Ordering::Relaxed);
                context.progress.at(before + input.size());
            }
        }
        Ok(())
    })?;
    let files = counted(inputs.len() as u64, "file");
    context
        .progress
        .end(&format!("{name}: {files} of {}", ByteSize(bytes)));
    Ok(())
}

/// Consecutive files that a thread takes.
#[derive(Debug, PartialEq, Eq)]
struct Task {
    files: Range<u32>,
    bytes: u64,
}

impl Task {
    /// Its files and their numbers.
    fn of<'i>(&self, inputs: &'i [InputFile]) -> impl Iterator<Item = (u32, &'i InputFile)> {
        let files = self.files.start as usize..self.files.end as usize;
        self.files
            .clone()
            .zip(inputs.get(files).unwrap_or_default())
    }
}

/// Divides the files, the largest tasks first.
fn tasks(inputs: &[InputFile], threads: usize) -> Vec<Task> {
    let times = threads.max(1) * TIMES;
    let all: u64 = inputs.iter().map(InputFile::size).sum();
    let most_bytes = (all / times as u64).min(MOST_BYTES_TAKEN);
    let most_files = (inputs.len() / times).clamp(1, MOST_FILES_TAKEN);
    let mut tasks: Vec<Task> = Vec::new();
    for (file, bytes) in (0..).zip(inputs.iter().map(InputFile::size)) {
        match tasks.last_mut() {
            Some(task) if task.files.len() < most_files && task.bytes + bytes <= most_bytes => {
                task.files.end = file + 1;
                task.bytes += bytes;
            }
            _ => tasks.push(Task {
                files: file..file + 1,
                bytes,
            }),
        }
    }
    tasks.sort_by_key(|task| Reverse(task.bytes));
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_store::workspace::FileIdentity;

    fn of_sizes(sizes: &[u64]) -> Vec<InputFile> {
        let of_size = |&size: &u64| InputFile {
            identity: Some(FileIdentity {
                size,
                ..FileIdentity::default()
            }),
            ..InputFile::named("x", "x")
        };
        sizes.iter().map(of_size).collect()
    }

    #[test]
    fn every_file_is_in_one_task_and_large_ones_come_first() {
        let mixed: Vec<u64> = (0..5000).map(|n| n * n % 7919 * 100).collect();
        for (sizes, threads) in [
            (&mixed[..], 1),
            (&mixed, 32),
            (&[0; 3000], 2),
            (&[9 << 30, 1, 1, 5 << 30], 2),
            (&[], 2),
        ] {
            let inputs = of_sizes(sizes);
            let mut tasks = tasks(&inputs, threads);
            assert!(tasks.is_sorted_by(|a, b| a.bytes >= b.bytes));
            for task in &tasks {
                let one = task.files.len() == 1;
                assert!(one || task.bytes <= MOST_BYTES_TAKEN);
                assert!(task.files.len() <= MOST_FILES_TAKEN);
                let bytes: u64 = task.of(&inputs).map(|(_, input)| input.size()).sum();
                assert_eq!(bytes, task.bytes);
            }
            let enough = threads * TIMES;
            assert!(tasks.len() >= enough.min(sizes.len()), "{}", tasks.len());
            tasks.sort_by_key(|task| task.files.start);
            let files = tasks.into_iter().flat_map(|task| task.files);
            assert!(files.eq(0..sizes.len() as u32));
        }
    }
}
