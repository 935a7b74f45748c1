//! How a stage tells what it is doing, and how it is told to stop.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::budget::Budget;
use crate::{Error, Result};

/// What a stage's work is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of input.
    Bytes,
    /// Documents, records, ranges: anything that is counted.
    Count(&'static str),
}

/// Somebody who watches. Calls come from several threads.
pub trait Progress: Send + Sync {
    /// A stage begins; `total` where it is known.
    fn start(&self, stage: &'static str, unit: Unit, total: Option<u64>);
    /// Its work has come to `done`.
    fn at(&self, done: u64);
    /// It is over; a line for the log.
    fn end(&self, line: &str);
    /// Something worth telling.
    fn note(&self, line: &str);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn start(&self, _: &'static str, _: Unit, _: Option<u64>) {}
    fn at(&self, _: u64) {}
    fn end(&self, _: &str) {}
    fn note(&self, _: &str) {}
}

/// A request to stop at the next safe point. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks for a stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Has a stop been asked for?
    #[must_use]
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error if a stop has been asked for.
    pub fn check(&self, stage: &'static str) -> Result<()> {
        if self.requested() {
            Err(Error::Interrupted { stage })
        } else {
            Ok(())
        }
    }
}

/// What every stage is given beside its input and parameters.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Memory and threads.
    pub budget: Budget,
    /// The request to stop.
    pub stop: &'a Stop,
    /// Who watches.
    pub progress: &'a dyn Progress,
    /// Where sorts that need no checkpoint make a private directory; that of the workspace if none is given.
    pub scratch: Option<&'a Path>,
}

/// Does something on this thread; its panic becomes an error.
///
/// A panic that left the scope of threads who wait for this one would wait for them in turn, for ever.
pub(crate) fn caught<T>(what: &'static str, act: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(act))
        .unwrap_or_else(|panic| Err(panicked(what, &*panic)))
}

/// Joins a thread; its panic becomes an error.
pub(crate) fn joined<T>(
    what: &'static str,
    handle: std::thread::ScopedJoinHandle<'_, Result<T>>,
) -> Result<T> {
    handle
        .join()
        .unwrap_or_else(|panic| Err(panicked(what, &*panic)))
}

/// Joins threads, all of them before it says what the first that failed failed with: a scope that ends with a
/// panic that nobody asked for panics itself.
pub(crate) fn joined_all<'scope, T>(
    what: &'static str,
    handles: impl IntoIterator<Item = std::thread::ScopedJoinHandle<'scope, Result<T>>>,
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
