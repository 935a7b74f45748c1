//! Worker threads that share tasks, and the calling thread, which commits what they finish.
//!
//! The stages that commit their results part by part use this scaffold. A worker takes one task
//! after another and hands over each part that it has finished; the order of the parts depends on
//! the threads. A part that was committed stays committed when the stage fails later, so the next
//! run starts with the tasks that are left.
//!
//! # Errors
//! Workers do not stop each other: if one fails, the others finish the tasks that are left. If a
//! commit fails, no task is handed out any more. The error of a worker comes before that of the
//! commits. A panic, of a worker or in a commit, is an error like any other.

use crate::Result;
use crate::progress::{caught, joined_all};
use crate::threads;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crossbeam_channel::{Sender, bounded};

/// Tasks that several threads share, handed out in order.
pub(crate) struct Queue<T>(Mutex<VecDeque<T>>);

impl<T> Queue<T> {
    pub(crate) fn new(tasks: impl IntoIterator<Item = T>) -> Queue<T> {
        Queue(Mutex::new(tasks.into_iter().collect()))
    }

    /// The next task; `None` if none is left.
    pub(crate) fn next(&self) -> Option<T> {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.pop_front()
    }

    /// Drops all tasks that are left.
    pub(crate) fn clear(&self) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.clear();
    }
}

/// Where a worker gets its tasks, and where it hands over what it finishes.
pub(crate) struct Tasks<'a, T, P> {
    queue: &'a Queue<T>,
    finished: Sender<P>,
}

impl<T, P> Tasks<'_, T, P> {
    /// The next task; `None` if none is left, or if a commit failed.
    pub(crate) fn next(&self) -> Option<T> {
        self.queue.next()
    }

    /// Hands a finished part to the thread that commits.
    pub(crate) fn finished(&self, part: P) {
        // The channel is closed only after a failure, which the other side reports.
        if self.finished.send(part).is_err() {
            self.queue.clear();
        }
    }

    /// Drops all tasks that are left, for every worker.
    pub(crate) fn cancel(&self) {
        self.queue.clear();
    }
}

/// Runs `work` on `threads` threads, and `commit` on this one for every part that they finish.
pub(crate) fn work_and_commit<T: Send, P: Send>(
    stage: &'static str,
    threads: usize,
    tasks: impl IntoIterator<Item = T>,
    work: impl Fn(&Tasks<'_, T, P>) -> Result<()> + Sync,
    mut commit: impl FnMut(P) -> Result<()>,
) -> Result<()> {
    let queue = Queue::new(tasks);
    let (finished, parts) = bounded(threads);
    threads::scope(|scope| {
        let (queue, work) = (&queue, &work);
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let finished = finished.clone();
                scope.spawn(move || work(&Tasks { queue, finished }))
            })
            .collect();
        drop(finished);
        let committed = caught(stage, || parts.iter().try_for_each(&mut commit));
        // Workers that wait to hand over a part must not wait forever.
        drop(parts);
        joined_all(stage, workers).and(committed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn failure() -> Error {
        Error::Interrupted { stage: "test" }
    }

    #[test]
    fn every_task_is_done_and_every_part_committed() {
        for threads in [1, 3] {
            let mut committed = Vec::new();
            let work = |tasks: &Tasks<'_, u32, u32>| {
                while let Some(task) = tasks.next() {
                    tasks.finished(2 * task);
                }
                Ok(())
            };
            work_and_commit("test", threads, 0..100, work, |part| {
                committed.push(part);
                Ok(())
            })
            .unwrap();
            committed.sort_unstable();
            assert!(committed.into_iter().eq((0..100).map(|task| 2 * task)));
        }
    }

    #[test]
    fn the_parts_of_the_others_are_committed_when_a_worker_fails() {
        let mut committed = 0;
        let work = |tasks: &Tasks<'_, u32, u32>| {
            while let Some(task) = tasks.next() {
                match task {
                    0 => return Err(failure()),
                    1 => panic!("as a defect would"),
                    _ => tasks.finished(task),
                }
            }
            Ok(())
        };
        let result = work_and_commit("test", 3, 0..100, work, |_| {
            committed += 1;
            Ok(())
        });
        assert!(result.is_err());
        assert_eq!(committed, 98);
    }

    #[test]
    fn no_task_is_handed_out_after_a_failed_commit() {
        for panics in [false, true] {
            let begun = AtomicU32::new(0);
            let work = |tasks: &Tasks<'_, u32, u32>| {
                while let Some(task) = tasks.next() {
                    begun.fetch_add(1, Ordering::Relaxed);
                    tasks.finished(task);
                }
                Ok(())
            };
            let result = work_and_commit("test", 2, 0..100, work, |_| match panics {
                true => panic!("as a defect would"),
                false => Err(failure()),
            });
            assert!(result.is_err());
            // One for the commit, two in the channel, and two of each worker.
            assert!(begun.into_inner() <= 7);
        }
    }
}
