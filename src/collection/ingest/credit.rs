//! The bytes that batches may take between the reader and the writer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};

/// The bytes that may be between the reader and the writer.
pub(super) struct Credit {
    left: Mutex<u64>,
    most: u64,
    changed: Condvar,
    closed: AtomicBool,
}

impl Credit {
    pub(super) fn new(most: u64) -> Credit {
        Credit {
            left: Mutex::new(most),
            most,
            changed: Condvar::new(),
            closed: AtomicBool::new(false),
        }
    }

    /// Waits until `cost` is free and takes it; `false` if the other side is gone.
    pub(super) fn take(&self, cost: u64) -> bool {
        let cost = cost.min(self.most);
        let mut left = self
            .left
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        while *left < cost {
            if self.closed.load(Ordering::SeqCst) {
                return false;
            }
            left = self
                .changed
                .wait(left)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        *left -= cost;
        !self.closed.load(Ordering::SeqCst)
    }

    /// Waits until everything is free; `false` if the other side is gone.
    pub(super) fn wait_for_all(&self) -> bool {
        let all = self.take(self.most);
        self.give(self.most);
        all
    }

    /// Takes `cost` if it is free. A worker must not wait, because the writer may need its batch
    /// first.
    fn try_take(&self, cost: u64) -> bool {
        let mut left = self
            .left
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let free = *left >= cost;
        if free {
            *left -= cost;
        }
        free
    }

    pub(super) fn give(&self, cost: u64) {
        let mut left = self
            .left
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        *left += cost.min(self.most);
        self.changed.notify_all();
    }

    pub(super) fn close(&self) {
        let _left = self
            .left
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        self.closed.store(true, Ordering::SeqCst);
        self.changed.notify_all();
    }
}

/// Additional memory that a worker may use for a batch. Decoding a content encoding makes bodies
/// larger, and the reader does not decode them.
pub(super) struct Grants<'a> {
    /// The source of the memory; `None` if it is already reserved.
    pub(super) credit: Option<&'a Credit>,
    /// The limit for one batch.
    pub(super) most: u64,
}

impl Grants<'_> {
    /// Grants more to a batch that has already been granted `granted`; returns the amount.
    pub(super) fn more(&self, granted: u64) -> Option<u64> {
        let step = (self.most / 2).max(1);
        let free =
            granted + step <= self.most && self.credit.is_none_or(|credit| credit.try_take(step));
        free.then_some(step)
    }
}

/// Stops the reader when a worker panics. The batch of that worker never reaches the writer.
/// Without this, the writer would wait for the batch, and the reader for the credit of all later
/// batches.
pub(super) struct CloseOnPanic<'a>(pub(super) &'a Credit);

impl Drop for CloseOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When a worker panicked, a reader that was waiting for credit was never woken and the run
    /// hung.
    #[test]
    fn a_panicking_worker_ends_the_reading() {
        let credit = Credit::new(10);
        assert!(credit.take(10));
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| credit.take(1));
            let worker = scope.spawn(|| {
                let _guard = CloseOnPanic(&credit);
                panic!("as a defect would");
            });
            assert!(worker.join().is_err());
            assert!(!reader.join().unwrap());
        });
    }

    #[test]
    fn credit_is_given_back() {
        let credit = Credit::new(10);
        std::thread::scope(|scope| {
            assert!(credit.take(7));
            let reader = scope.spawn(|| credit.take(8));
            credit.give(7);
            assert!(reader.join().unwrap());
        });
        // A request above the total is limited to the total.
        credit.give(8);
        assert!(credit.take(99));
    }
}
