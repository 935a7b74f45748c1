//! How a stage reports its progress, and how a caller stops it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::budget::Budget;
use crate::threads::Handle;
use crate::{Error, Result};

/// The unit in which a stage counts its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of input.
    Bytes,
    /// Documents, records, ranges: anything that is counted.
    Count(&'static str),
}

/// Receives progress reports. Several threads call it.
pub trait Progress: Send + Sync {
    /// A stage begins. `total` is its amount of work, if known.
    fn start(&self, stage: &'static str, unit: Unit, total: Option<u64>);
    /// The stage has done this amount of its work.
    fn at(&self, done: u64);
    /// The stage has ended. `line` is for the log.
    fn end(&self, line: &str);
    /// A remark for the user.
    fn note(&self, line: &str);
    /// Calls `print`, which writes to the terminal that may show the progress.
    fn aside(&self, print: &mut dyn FnMut()) {
        print();
    }
    /// A remark that a part of the input was not read. The user sees it also when other remarks are
    /// hidden.
    fn lost(&self, line: &str) {
        self.note(line);
    }
}

/// Ignores all progress reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn start(&self, _: &'static str, _: Unit, _: Option<u64>) {}
    fn at(&self, _: u64) {}
    fn end(&self, _: &str) {}
    fn note(&self, _: &str) {}
}

/// The items of a loop after which it looks whether a stop has been requested.
const EVERY: u64 = 1024;

/// A request to stop at the next safe point. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Requests a stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Has a stop been requested?
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// As [`Stop::check`], for each 1,024th `n`: for loops whose turns take little time.
    #[inline]
    pub fn tick(&self, stage: &'static str, n: impl TryInto<u64>) -> Result<()> {
        match n.try_into() {
            Ok(n) if !n.is_multiple_of(EVERY) => Ok(()),
            _ => self.check(stage),
        }
    }

    /// Returns an error if a stop has been requested.
    pub fn check(&self, stage: &'static str) -> Result<()> {
        if self.requested() {
            Err(Error::Interrupted { stage })
        } else {
            Ok(())
        }
    }
}

/// The context that every stage gets in addition to its input and parameters.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Memory and threads.
    pub budget: Budget,
    /// The request to stop.
    pub stop: &'a Stop,
    /// The receiver of progress reports.
    pub progress: &'a dyn Progress,
    /// The directory in which sorts that need no checkpoint make a private directory; `None` for
    /// the directory of the workspace.
    pub scratch: Option<&'a Path>,
    /// The programs that the command names, as `KIND=COMMAND`. A program that only a directory or a
    /// plan names is never started.
    pub programs: &'a [String],
}

impl Context<'_> {
    /// Stops a loop at its `n`th item if that was requested; see [`Stop::tick`].
    #[inline]
    pub fn tick(&self, stage: &'static str, n: impl TryInto<u64>) -> Result<()> {
        self.stop.tick(stage, n)
    }

    /// As [`Context::tick`], and reports that `n` items are done.
    #[inline]
    pub fn advance(&self, stage: &'static str, n: impl Into<u64>) -> Result<()> {
        let n = n.into();
        if n.is_multiple_of(EVERY) {
            self.progress.at(n);
        }
        self.stop.tick(stage, n)
    }

    /// Reports that a stage begins. `total` is its amount of work, if known.
    pub fn start(&self, stage: &'static str, unit: Unit, total: Option<u64>) {
        self.progress.start(stage, unit, total);
    }
}

/// Runs `act` on this thread and turns a panic into an error.
///
/// In a scope whose threads wait for this one, a panic would cause a deadlock: leaving the scope
/// waits for those threads.
pub fn caught<T>(what: &'static str, act: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(act))
        .unwrap_or_else(|panic| Err(panicked(what, &*panic)))
}

/// Joins a thread and turns its panic into an error.
pub fn joined<T>(what: &'static str, handle: Handle<'_, Result<T>>) -> Result<T> {
    handle
        .join()
        .unwrap_or_else(|panic| Err(panicked(what, &*panic)))
}

/// Joins all threads, and then returns the error of the first one that failed. It must join all of
/// them, because a scope panics if a thread in it panicked and was not joined.
pub fn joined_all<'scope, T>(
    what: &'static str,
    handles: impl IntoIterator<Item = Handle<'scope, Result<T>>>,
) -> Result<Vec<T>> {
    let results: Vec<_> = handles
        .into_iter()
        .map(|handle| joined(what, handle))
        .collect();
    results.into_iter().collect()
}

fn panicked(what: &'static str, panic: &(dyn std::any::Any + Send)) -> Error {
    let message = panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".into());
    Error::Panicked { what, message }
}
