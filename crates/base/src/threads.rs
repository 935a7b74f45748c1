//! Threads that live within a scope, and the CPU time of a stage that more cores cannot reduce.
//!
//! A thread's *own course* is the CPU time that it has used. For each scope that it opened, the
//! time by which the busiest thread of the scope exceeded it during the scope is added. A stage
//! that takes 10 CPU seconds and has an own course of 2 becomes at most 5 times as fast with more
//! cores: its own course contains all work that is not divided.

use std::any::Any;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ScopedJoinHandle;

use rustix::time::{ClockId, clock_gettime};

use super::command;

thread_local! {
    /// Nanoseconds that the threads of this thread's scopes took longer than this thread.
    static WAITED: Cell<u64> = const { Cell::new(0) };
}

/// Seconds of CPU time in the own course of this thread.
pub fn course_seconds() -> f64 {
    course() as f64 / 1e9
}

/// Nanoseconds of CPU time in the own course of this thread.
fn course() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    let nanoseconds = used.tv_sec * 1_000_000_000 + used.tv_nsec;
    nanoseconds as u64 + WAITED.get()
}

/// Locks. After the panic of another thread, which ends the run anyway, the value is as it left it.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value of a mutex that no other thread has.
pub fn unlocked<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// A scope of threads.
pub struct Scope<'scope, 'env> {
    scope: &'scope std::thread::Scope<'scope, 'env>,
    busiest: Arc<AtomicU64>,
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread.
    pub fn spawn<T: Send + 'scope>(
        &self,
        work: impl FnOnce() -> T + Send + 'scope,
    ) -> Handle<'scope, T> {
        let done = Arc::new(Mutex::new(None));
        let place = done.clone();
        let thread = self.start(Box::new(move || *lock(&place) = Some(work())));
        Handle { thread, done }
    }

    /// The standard library needs much code to start a thread. The box lets it be compiled once
    /// here, and not for each kind of work.
    fn start(&self, work: Box<dyn FnOnce() + Send + 'scope>) -> ScopedJoinHandle<'scope, ()> {
        let (busiest, command) = (self.busiest.clone(), command::current());
        self.scope.spawn(move || {
            command.run(work);
            busiest.fetch_max(course(), Ordering::Relaxed);
        })
    }
}

/// A thread of a [`Scope`].
pub struct Handle<'scope, T> {
    thread: ScopedJoinHandle<'scope, ()>,
    done: Arc<Mutex<Option<T>>>,
}

impl<T> Handle<'_, T> {
    /// Whether the thread has ended.
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for the thread.
    ///
    /// # Errors
    /// The panic that ended the thread.
    pub fn join(self) -> std::thread::Result<T> {
        self.thread.join()?;
        let done = lock(&self.done).take();
        done.ok_or_else(|| Box::new("a thread without a result") as Box<dyn Any + Send>)
    }
}

/// Like [`std::thread::scope`], and counts what its threads use.
pub fn scope<'env, T>(work: impl for<'scope> FnOnce(Scope<'scope, 'env>) -> T) -> T {
    let busiest = Arc::new(AtomicU64::new(0));
    let before = course();
    let done = std::thread::scope(|scope| {
        work(Scope {
            scope,
            busiest: busiest.clone(),
        })
    });
    let meanwhile = course() - before;
    let longer = busiest.load(Ordering::Relaxed).saturating_sub(meanwhile);
    WAITED.set(WAITED.get() + longer);
    done
}

/// Bytes of the stack of a thread that only waits.
const STACK_BYTES: usize = 256 << 10;

/// Calls `act` for every item: work that waits for a disk and hardly computes. This thread shares
/// it with at most `helpers` more, or with fewer if the system does not start that many. After a
/// failure no more items are begun.
pub fn wait_together<I: Sync, E: Send>(
    items: &[I],
    helpers: usize,
    act: impl Fn(&I) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(None);
    let command = command::current();
    let work = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = act(item) {
                next.store(items.len(), Ordering::Relaxed);
                lock(&failed).get_or_insert(error);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..helpers.min(items.len().saturating_sub(1)) {
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
            let command = command.clone();
            if thread.spawn_scoped(scope, || command.run(work)).is_err() {
                break;
            }
        }
        work();
    });
    unlocked(failed).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses this many milliseconds of CPU time.
    fn work(milliseconds: u64) {
        let until = course() + milliseconds * 1_000_000;
        while course() < until {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn what_is_not_divided_counts_and_what_is_divided_does_not() {
        let before = course();
        work(20);
        scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| work(30));
            }
            work(10);
        });
        scope(|scope| {
            scope.spawn(|| {
                work(10);
                // A scope within a scope is part of its thread's course.
                super::scope(|scope| {
                    for milliseconds in [20, 30] {
                        scope.spawn(move || work(milliseconds));
                    }
                });
            });
            scope.spawn(|| work(15));
        });
        let milliseconds = (course() - before) / 1_000_000;
        // 20, 30 and 10 + 30, of 345 in all. Starting threads costs some more.
        assert!((90..200).contains(&milliseconds), "{milliseconds}");
    }
}
