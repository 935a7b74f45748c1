//! The bytes that batches may take until they are written.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes to be taken and given back. Who asks first is served first, so that one who needs much is
/// not left waiting by those who need little.
pub(crate) struct Credit {
    state: Mutex<State>,
    most: u64,
    changed: Condvar,
}

struct State {
    left: u64,
    /// How many have asked, and how many of them have been served.
    asked: u64,
    served: u64,
    closed: bool,
}

impl Credit {
    pub(crate) fn new(most: u64) -> Credit {
        Credit {
            state: Mutex::new(State {
                left: most,
                asked: 0,
                served: 0,
                closed: false,
            }),
            most,
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `cost` is free and takes it; `false` once the credit is closed. More than there
    /// is means everything.
    pub(super) fn take(&self, cost: u64) -> bool {
        let cost = cost.min(self.most);
        let mut state = self.state();
        let turn = state.asked;
        state.asked += 1;
        while !state.closed && (state.served < turn || state.left < cost) {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return false;
        }
        state.served += 1;
        state.left -= cost;
        if state.served < state.asked {
            self.changed.notify_all();
        }
        true
    }

    /// Like [`Credit::take`], and gives it back at the end.
    pub(crate) fn hold(&self, cost: u64) -> Option<Taken<'_>> {
        self.take(cost).then_some(Taken { credit: self, cost })
    }

    /// Waits until everything is free; `false` once the credit is closed.
    pub(super) fn wait_for_all(&self) -> bool {
        let all = self.take(self.most);
        if all {
            self.give(self.most);
        }
        all
    }

    /// Takes `cost` if it is free. A worker must not wait, because its batch may be the one that
    /// others wait for.
    fn try_take(&self, cost: u64) -> bool {
        let mut state = self.state();
        let free = state.left >= cost;
        if free {
            state.left -= cost;
        }
        free
    }

    pub(super) fn give(&self, cost: u64) {
        let mut state = self.state();
        state.left += cost.min(self.most);
        if state.served < state.asked {
            self.changed.notify_all();
        }
    }

    /// Ends all waiting, after a failure.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }
}

/// What is given back when it is dropped.
pub(crate) struct Taken<'a> {
    credit: &'a Credit,
    cost: u64,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.credit.give(self.cost);
    }
}

/// Additional memory that a worker may use for a batch. Decoding a content encoding makes bodies
/// larger, and the reader does not decode them.
pub(super) struct Grants<'a> {
    /// The source of the memory.
    pub(super) credit: &'a Credit,
    /// The limit for one batch.
    pub(super) most: u64,
}

impl Grants<'_> {
    /// Grants more to a batch that has already been granted `granted`; returns the amount.
    pub(super) fn more(&self, granted: u64) -> Option<u64> {
        let step = (self.most / 2).max(1);
        (granted + step <= self.most && self.credit.try_take(step)).then_some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_when_the_credit_is_closed() {
        let credit = Credit::new(10);
        assert!(credit.take(10));
        std::thread::scope(|scope| {
            let waiting = [
                scope.spawn(|| credit.take(1)),
                scope.spawn(|| credit.wait_for_all()),
            ];
            credit.close();
            assert!(waiting.into_iter().all(|thread| !thread.join().unwrap()));
        });
        assert!(!credit.take(1));
    }

    /// Small requests went before a large one for ever.
    #[test]
    fn who_asks_first_is_served_first() {
        let credit = Credit::new(10);
        assert!(credit.take(6));
        std::thread::scope(|scope| {
            let large = scope.spawn(|| credit.take(8));
            while credit.state().asked < 2 {
                std::thread::yield_now();
            }
            let small = scope.spawn(|| credit.take(3));
            while credit.state().asked < 3 {
                std::thread::yield_now();
            }
            assert_eq!(credit.state().served, 1);
            credit.give(6);
            assert!(large.join().unwrap());
            assert_eq!(credit.state().served, 2);
            credit.give(8);
            assert!(small.join().unwrap());
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
