//! Worker threads that share tasks, and the calling thread, which commits what they finish.
//!
//! The stages that commit their results part by part use this scaffold. A worker takes one task
//! after another and hands over each part that it has finished; the order of the parts depends on
//! the threads. A committed part is kept if the stage fails later, so the next run starts with the
//! tasks that are left.
//!
//! # Errors
//! Workers do not stop each other: if one fails, the others finish the tasks that are left. If a
//! commit fails, no task is handed out any more. An error of a worker comes before an error of the
//! commits. A panic, of a worker or in a commit, is an error like any other.
//!
//! # Without commits
//! [`share`] is for work that leaves nothing to commit.
//!
//! # In order
//! [`in_order`] is for results that are one stream: the workers make pieces of it, and the pieces
//! are passed on in the order of the tasks.

use crate::progress::{caught, joined, joined_all};
use crate::threads::{self, lock, unlocked};
use crate::{Error, Result};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossbeam_channel::SendError;

/// Tasks that several threads share, handed out in order.
pub struct Queue<T>(Mutex<VecDeque<T>>);

impl<T> Queue<T> {
    pub fn new(tasks: impl IntoIterator<Item = T>) -> Queue<T> {
        Queue(Mutex::new(tasks.into_iter().collect()))
    }

    /// The next task; `None` if none is left.
    pub fn next(&self) -> Option<T> {
        lock(&self.0).pop_front()
    }

    /// Drops all tasks that are left.
    pub fn clear(&self) {
        lock(&self.0).clear();
    }
}

/// One end of a channel: its items, and a channel of as many tokens. To wait for the other end
/// takes much code, which is compiled once for the tokens and not for each kind of item.
pub struct End<T, E>(Arc<Queue<T>>, E);

/// The end of a channel that takes items.
pub type Sender<T> = End<T, crossbeam_channel::Sender<()>>;
/// The end of a channel that gives items.
pub type Receiver<T> = End<T, crossbeam_channel::Receiver<()>>;

/// A channel that holds this number of items.
pub fn bounded<T>(most: usize) -> (Sender<T>, Receiver<T>) {
    let items = Arc::new(Queue::new([]));
    let (to, from) = crossbeam_channel::bounded(most);
    (End(items.clone(), to), End(items, from))
}

impl<T, E: Clone> Clone for End<T, E> {
    fn clone(&self) -> Self {
        End(self.0.clone(), self.1.clone())
    }
}

impl<T> Sender<T> {
    /// Waits for room. An error if nobody is left who could receive the item.
    pub fn send(&self, item: T) -> std::result::Result<(), SendError<()>> {
        lock(&self.0.0).push_back(item);
        self.1.send(()).inspect_err(|_| self.0.clear())
    }
}

impl<T> Receiver<T> {
    /// The items, until nobody is left who could send one.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        self.1.iter().map_while(|()| self.0.next())
    }
}

/// Runs `work` on `threads` threads, which share the tasks. If one fails, no task is handed out any
/// more.
pub fn share<T: Send>(
    what: &'static str,
    threads: usize,
    tasks: impl IntoIterator<Item = T>,
    work: impl Fn(&Queue<T>) -> Result<()> + Sync,
) -> Result<()> {
    let queue = Queue::new(tasks);
    let work = |_| work(&queue).inspect_err(|_| queue.clear());
    on_threads(what, threads, work, None).map(drop)
}

/// Runs the same work on `threads` threads, each with its number, and returns what they make, in the
/// order of the numbers. `watch` is called now and then while they work. With one thread that
/// nobody watches, it is this one.
pub fn on_threads<T: Send>(
    what: &'static str,
    threads: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
    watch: Option<&dyn Fn()>,
) -> Result<Vec<T>> {
    if threads <= 1 && watch.is_none() {
        return Ok(vec![caught(what, || work(0))?]);
    }
    threads::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = (0..threads)
            .map(|number| scope.spawn(move || work(number)))
            .collect();
        while let Some(watch) = watch
            && workers.iter().any(|worker| !worker.is_finished())
        {
            watch();
            std::thread::sleep(Duration::from_millis(2));
        }
        joined_all(what, workers)
    })
}

/// Where a worker gets its tasks, and where it hands over what it finishes.
pub struct Tasks<'a, T, P> {
    queue: &'a Queue<T>,
    finished: Sender<P>,
}

impl<T, P> Tasks<'_, T, P> {
    /// The next task; `None` if none is left, or if a commit failed.
    pub fn next(&self) -> Option<T> {
        self.queue.next()
    }

    /// Hands a finished part to the thread that commits.
    pub fn finished(&self, part: P) {
        // The channel is closed only after a failure, which the other side reports.
        if self.finished.send(part).is_err() {
            self.queue.clear();
        }
    }

    /// Drops all tasks that are left, for every worker.
    pub fn cancel(&self) {
        self.queue.clear();
    }
}

/// Runs `work` on `threads` threads, and `commit` on this one for every part that they finish.
pub fn work_and_commit<T: Send, P: Send>(
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

/// Passes what `work` makes of each task to `take`, in the order in which `hand_out` hands out the
/// tasks. `work` runs on `threads` threads, `take` on another one, and `hand_out` on this one. With
/// one thread, everything runs on this one.
///
/// `work` may make several pieces of a task. A worker waits with the second one until all earlier
/// tasks have been passed on. So at most twice as many pieces are held as there are threads, beside
/// those that are being made.
pub fn in_order<T: Send, P: Send>(
    stage: &'static str,
    threads: usize,
    hand_out: impl FnOnce(&mut dyn FnMut(T) -> Result<()>) -> Result<()>,
    work: impl Fn(T, &mut dyn FnMut(P) -> Result<()>) -> Result<()> + Sync,
    mut take: impl FnMut(P) -> Result<()> + Send,
) -> Result<()> {
    if threads <= 1 {
        return caught(stage, || hand_out(&mut |task| work(task, &mut take)));
    }
    let (to_workers, tasks) = bounded::<(T, Sender<P>)>(threads);
    let (in_turn, turns) = bounded::<Receiver<P>>(2 * threads);
    let failed = AtomicBool::new(false);
    let first = Mutex::new(None);
    let fail = |error| {
        let mut first = lock(&first);
        // Who gives up may be here before the thread that failed.
        if matches!(&*first, None | Some(Error::Interrupted { .. })) {
            *first = Some(error);
        }
        failed.store(true, Ordering::Relaxed);
    };
    // A thread that gets this error ends because another thread has failed first.
    let given_up = || Error::Interrupted { stage };
    threads::scope(|scope| {
        let (work, failed, fail, tasks) = (&work, &failed, &fail, &tasks);
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(move || {
                    let work = |(task, pieces): (T, Sender<P>)| {
                        let mut pass = |piece| pieces.send(piece).map_err(|_| given_up());
                        caught(stage, || work(task, &mut pass))
                    };
                    if let Err(error) = tasks.iter().try_for_each(work) {
                        fail(error);
                        // A channel keeps results that were not received, and other threads would
                        // wait for them.
                        tasks.iter().for_each(drop);
                    }
                    Ok(())
                })
            })
            .collect();
        let taker = scope.spawn(move || {
            let mut take = |piece| match failed.load(Ordering::Relaxed) {
                true => Err(given_up()),
                false => take(piece),
            };
            let mut each = |pieces: Receiver<P>| pieces.iter().try_for_each(&mut take);
            if let Err(error) = caught(stage, || turns.iter().try_for_each(&mut each)) {
                fail(error);
                turns.iter().for_each(drop);
            }
            Ok(())
        });
        let handed_out = caught(stage, || {
            hand_out(&mut |task| {
                let (pieces, passed) = bounded(1);
                let closed = failed.load(Ordering::Relaxed)
                    || in_turn.send(passed).is_err()
                    || to_workers.send((task, pieces)).is_err();
                if closed { Err(given_up()) } else { Ok(()) }
            })
        });
        if let Err(error) = handed_out {
            fail(error);
        }
        drop((to_workers, in_turn));
        let workers = joined_all(stage, workers);
        joined(stage, taker).and(workers).map(|_| ())
    })?;
    unlocked(first).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::sync::atomic::AtomicU32;

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

    /// Each task becomes as many pieces as its number says, and none if it is divisible by five.
    fn pieces(task: u32) -> impl Iterator<Item = (u32, u32)> {
        (0..task % 5).map(move |piece| (task, piece))
    }

    #[test]
    fn pieces_come_in_the_order_of_their_tasks() {
        for threads in [1, 2, 7] {
            let mut taken = Vec::new();
            in_order(
                "test",
                threads,
                |hand_out| (0..500).try_for_each(hand_out),
                |task, pass| {
                    if task % 3 == 0 {
                        std::thread::yield_now();
                    }
                    pieces(task).try_for_each(pass)
                },
                |piece| {
                    taken.push(piece);
                    Ok(())
                },
            )
            .unwrap();
            assert!(taken.into_iter().eq((0..500).flat_map(pieces)));
        }
    }

    #[test]
    fn a_failure_anywhere_ends_everything_and_is_told() {
        let fails = |at: &str, who: &str| match at {
            _ if at != who => Ok(()),
            "panic" => panic!("as a defect would"),
            _ => Err(Error::NoInput {
                paths: vec![who.into()],
            }),
        };
        // Which thread waits for which when it fails differs from time to time.
        for n in 0..600 {
            let threads = [1, 2, 3][n % 3];
            for at in ["hand out", "work", "all work", "take"] {
                let handed_out = AtomicU32::new(0);
                let result = in_order(
                    "test",
                    threads,
                    |hand_out| {
                        for task in 0..100_000 {
                            handed_out.fetch_add(1, Ordering::Relaxed);
                            hand_out(task)?;
                            if task == 9 {
                                fails(at, "hand out")?;
                            }
                        }
                        Ok(())
                    },
                    |task, pass| {
                        if task == 9 {
                            fails(at, "work")?;
                        }
                        if task >= 9 {
                            fails(at, "all work")?;
                        }
                        [task, task].into_iter().try_for_each(pass)
                    },
                    |piece| {
                        if piece == 9 {
                            fails(at, "take")
                        } else {
                            Ok(())
                        }
                    },
                );
                let is_first =
                    matches!(&result, Err(Error::NoInput { paths }) if *paths == [Path::new(at)]);
                assert!(is_first, "{at}: {result:?}");
                assert!(handed_out.into_inner() < 100, "{at}");
            }
            let result = in_order(
                "test",
                threads,
                |hand_out| (0..100_000).try_for_each(hand_out),
                |_, pass| pass(()),
                |()| fails("panic", "panic"),
            );
            assert!(matches!(result, Err(Error::Panicked { .. })), "{result:?}");
        }
    }
}
