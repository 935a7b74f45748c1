//! The memory of a stage: its parts within a budget, and the bytes that its threads share.
//!
//! A stage that knows its parts when it begins adds them up and calls [`Budget::rest`], which gives
//! it the size of the last part, or [`Budget::require`] if no part can grow. A stage that learns the
//! sizes as it reads counts them in a [`Memory`]. Threads that need more memory for some files or
//! records than for others share a [`Credit`].

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::budget::{Budget, ByteSize};
use crate::command::state;
use crate::threads::lock;
use crate::{Error, Result};

/// The most memory that a sort gets.
pub const MOST_SORT_BYTES: u64 = 1 << 30;

/// The budget of a command.
#[derive(Default)]
struct Whole(AtomicU64);

/// The most bytes of a block that no budget has to have room for.
const SMALL_BLOCK: u64 = 1 << 20;
/// The memory for a block, as a multiple of its size: the block, packed and unpacked, its texts,
/// and copies of them. A command also needs memory for other things.
const TIMES_A_BLOCK: u64 = 8;

/// Notes the memory that this command may use.
pub fn begin(memory: ByteSize) {
    state::<Whole>().0.store(memory.0, Ordering::Relaxed);
}

/// Refuses a block of `bytes` bytes that a file states, if the budget of this command has no room
/// for it.
pub fn room_for_block(bytes: u64, what: impl FnOnce() -> String) -> Result<()> {
    if bytes <= SMALL_BLOCK {
        return Ok(());
    }
    let given = state::<Whole>().0.load(Ordering::Relaxed);
    let least = bytes.saturating_mul(TIMES_A_BLOCK);
    match given == 0 || least <= given {
        true => Ok(()),
        false => Err(Error::BudgetTooSmall {
            given: ByteSize(given),
            least: ByteSize(least).round_up(),
            what: what(),
            instead: None,
        }),
    }
}

/// Makes room for `more` bytes. Small buffers double; large ones grow by an eighth, so that a
/// record of 64 MiB does not occupy 128 MiB.
pub fn reserve(buffer: &mut Vec<u8>, more: usize) {
    let needed = buffer.len() + more;
    if needed < 8 << 20 {
        buffer.reserve(more);
    } else if needed > buffer.capacity() {
        buffer.reserve_exact(more + needed / 8);
    }
}

/// Appends bytes to a buffer that grows as [`reserve`] says.
pub fn append(buffer: &mut Vec<u8>, bytes: &[u8]) {
    reserve(buffer, bytes.len());
    buffer.extend_from_slice(bytes);
}

/// The parts of a budget that are in use. Parts that do not fit are counted but not kept, so that the
/// refusal can state the least budget that is enough.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    budget: Budget,
    /// Bytes in use.
    pub used: u64,
}

impl Memory {
    /// Begins with this number of bytes.
    pub fn new(budget: &Budget, used: u64) -> Self {
        let budget = *budget;
        Memory { budget, used }
    }

    /// Counts this number of bytes; returns whether there is room for them.
    pub fn take(&mut self, bytes: u64) -> bool {
        self.used = self.used.saturating_add(bytes);
        self.fits()
    }

    /// Whether there was room for all parts so far.
    pub fn fits(&self) -> bool {
        self.used <= self.budget.memory.0
    }

    /// Bytes that are left.
    pub fn left(&self) -> u64 {
        self.budget.memory.0.saturating_sub(self.used)
    }

    /// Returns an error if there was no room.
    pub fn check(&self, what: impl FnOnce() -> String) -> Result<()> {
        self.budget.require(self.used, what)
    }
}

/// Bytes that threads take and give back. Requests are served in their order, so that small requests
/// do not delay a large one forever. A thread that holds some must not wait for more: two of them
/// would wait for each other.
pub struct Credit {
    state: Mutex<State>,
    most: u64,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    left: u64,
    /// The number of requests, and how many of them have been served.
    asked: u64,
    served: u64,
    closed: bool,
}

impl Credit {
    pub fn new(most: u64) -> Credit {
        Credit {
            state: Mutex::new(State {
                left: most,
                ..State::default()
            }),
            most,
            changed: Condvar::new(),
        }
    }

    /// Waits until `cost` is free and takes it; `false` once the credit is closed. A cost above the
    /// total means everything.
    pub fn take(&self, cost: u64) -> bool {
        let cost = cost.min(self.most);
        let mut state = lock(&self.state);
        let turn = state.asked;
        state.asked += 1;
        let waits = |state: &mut State| !state.closed && (state.served < turn || state.left < cost);
        let state = self.changed.wait_while(state, waits);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
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

    /// Like [`Credit::take`], and gives it back when the result is dropped.
    pub fn hold(&self, cost: u64) -> Option<Taken<&Credit>> {
        self.take(cost).then_some(Taken { credit: self, cost })
    }

    /// Like [`Credit::hold`], if `cost` is free at once.
    pub fn try_hold(credit: &Arc<Credit>, cost: u64) -> Option<Taken<Arc<Credit>>> {
        credit.try_take(cost).then(|| Taken {
            credit: credit.clone(),
            cost,
        })
    }

    /// Waits until everything is free; `false` once the credit is closed.
    pub fn wait_for_all(&self) -> bool {
        let all = self.take(self.most);
        if all {
            self.give(self.most);
        }
        all
    }

    /// Takes `cost` if it is free. A worker must not wait, because others may wait for its batch.
    pub fn try_take(&self, cost: u64) -> bool {
        let mut state = lock(&self.state);
        let free = state.left >= cost;
        if free {
            state.left -= cost;
        }
        free
    }

    pub fn give(&self, cost: u64) {
        let mut state = lock(&self.state);
        state.left += cost.min(self.most);
        if state.served < state.asked {
            self.changed.notify_all();
        }
    }

    /// Ends all waiting, after a failure.
    pub fn close(&self) {
        lock(&self.state).closed = true;
        self.changed.notify_all();
    }
}

/// Bytes that are given back when this is dropped.
pub struct Taken<C: Deref<Target = Credit>> {
    credit: C,
    cost: u64,
}

impl<C: Deref<Target = Credit>> Drop for Taken<C> {
    fn drop(&mut self) {
        self.credit.give(self.cost);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

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

    /// Small requests delayed a large one forever.
    #[test]
    fn requests_are_served_in_their_order() {
        let credit = Credit::new(10);
        assert!(credit.take(6));
        std::thread::scope(|scope| {
            let large = scope.spawn(|| credit.take(8));
            while lock(&credit.state).asked < 2 {
                std::thread::yield_now();
            }
            let small = scope.spawn(|| credit.take(3));
            while lock(&credit.state).asked < 3 {
                std::thread::yield_now();
            }
            assert_eq!(lock(&credit.state).served, 1);
            credit.give(6);
            assert!(large.join().unwrap());
            assert_eq!(lock(&credit.state).served, 2);
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

    #[test]
    fn no_more_is_taken_than_there_is() {
        let credit = Credit::new(10);
        let (held, most) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (credit, held, most) = (&credit, &held, &most);
                scope.spawn(move || {
                    for bytes in (0..200).map(|n| (n * 7 + thread) % 13) {
                        let _taken = credit.hold(bytes);
                        let bytes = bytes.min(10);
                        let now = held.fetch_add(bytes, Ordering::SeqCst) + bytes;
                        most.fetch_max(now, Ordering::SeqCst);
                        std::thread::yield_now();
                        held.fetch_sub(bytes, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), 10);
        assert_eq!(lock(&credit.state).left, 10);
    }
}
