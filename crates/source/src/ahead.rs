//! Decompression ahead of the reader, by threads that have nothing else to do.
//!
//! A compressed file often consists of parts that do not need each other: members of gzip, frames
//! of zstd, blocks of bzip2 and xz. Helpers guess where a part begins in a range of the file that
//! the reader has yet to reach, and decompress from there. The reader takes such a text only if it
//! gets to exactly that place itself, and decompresses everything else on its own. So a guess that
//! is wrong (a member may contain another one) costs time and nothing else, and the result does not
//! depend on the threads.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, unbounded};

use lookalike_base::{Credit, lock, memory};
use lookalike_store::File;

/// Texts that wait for the reader, for each helper: one to go on with.
const WAITING_PER_HELPER: usize = 2;

/// Work for a helper. It waits for nothing.
pub type Job = Box<dyn FnOnce() + Send>;

/// The threads that help, and the memory for what they decompress.
#[derive(Clone)]
pub struct Helpers {
    jobs: Sender<Job>,
    threads: Arc<AtomicUsize>,
    memory: Arc<Credit>,
}

impl Helpers {
    /// Nobody helps yet. Whoever does takes jobs from the receiver.
    pub fn new(memory: u64) -> (Helpers, Receiver<Job>) {
        let (jobs, receiver) = unbounded();
        let helpers = Helpers {
            jobs,
            threads: Arc::default(),
            memory: Arc::new(Credit::new(memory)),
        };
        (helpers, receiver)
    }

    /// One more thread takes jobs and does nothing else.
    pub fn joined(&self) {
        self.threads.fetch_add(1, Ordering::Relaxed);
    }

    /// The threads that do nothing but help.
    pub fn threads(&self) -> usize {
        self.threads.load(Ordering::Relaxed)
    }

    /// Takes memory, if it is free.
    pub(super) fn take(&self, bytes: u64) -> Option<Taken> {
        Credit::try_hold(&self.memory, bytes)
    }
}

/// Memory of the helpers, which is given back when this is dropped.
pub(super) type Taken = memory::Taken<Arc<Credit>>;

/// A checksum that the decoder of one block of bzip2 cannot compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    Block(u32),
    /// The end of a stream, with the checksum of its blocks.
    End(u32),
}

/// Compares the checksums of streams.
#[derive(Default)]
pub(super) struct Checks(u32);

impl Checks {
    /// Whether all are right.
    pub(super) fn passed(&mut self, checks: &[Check]) -> bool {
        checks.iter().all(|check| match check {
            Check::Block(crc) => {
                self.0 = self.0.rotate_left(1) ^ crc;
                true
            }
            Check::End(crc) => std::mem::take(&mut self.0) == *crc,
        })
    }
}

/// The decompressed bytes of one or more parts of a file.
#[derive(Default)]
pub(super) struct Text {
    /// Where the first part begins and where the last one ends, in the unit of [`Parts`].
    pub(super) place: Range<u64>,
    /// Whether the file ends there.
    pub(super) last: bool,
    pub(super) bytes: Vec<u8>,
    /// The value to compare with the previous parts (bzip2).
    pub(super) checks: Vec<Check>,
    /// The memory of the bytes, given back with this.
    pub(super) _memory: Option<Taken>,
}

/// The parts of a file. Places are bytes of the file, or bits, or numbers of parts: whatever says
/// where a part begins.
pub(super) trait Parts: Send + Sync {
    /// The ranges in which parts are looked for all have this length.
    fn stride(&self) -> u64;

    /// Where the file ends.
    fn end(&self) -> u64;

    /// Bytes of memory that decompressing a range takes, with its text.
    fn memory(&self) -> u64;

    /// The byte of the file at a place.
    fn byte(&self, place: u64) -> u64;

    /// Decompresses the parts that begin in `range`, into `text`, whose bytes are of no use. If
    /// `known`, one begins at its start; otherwise the first one has to be found. `None` if there
    /// is none, or if anything is wrong: the reader will find the reason. Ends at an earlier part
    /// if the text would take too much memory.
    fn decompress(&self, range: Range<u64>, known: bool, text: Vec<u8>) -> Option<Text>;
}

/// A file that others help to decompress, and its dictionary.
pub(super) struct Helped<'f> {
    pub(super) file: &'f File,
    pub(super) length: u64,
    pub(super) dictionary: &'f Arc<[u8]>,
}

/// The parts of a file, and where the first one begins if the reader takes all of them one by one.
pub(super) type Shared = (Arc<dyn Parts>, Option<u64>);

enum State {
    Waiting(Vec<u8>),
    Running,
    Done(Option<Text>),
}

/// A range that a helper decompresses.
struct Slot {
    range: Range<u64>,
    state: Mutex<State>,
    done: Condvar,
}

impl Slot {
    /// Decompresses the range, unless somebody has begun with it.
    fn run(&self, parts: &dyn Parts) -> bool {
        let text = {
            let mut state = lock(&self.state);
            let State::Waiting(text) = &mut *state else {
                return false;
            };
            let text = std::mem::take(text);
            *state = State::Running;
            text
        };
        // A panic comes again where the reader gets to it.
        let range = self.range.clone();
        let text = catch_unwind(AssertUnwindSafe(|| parts.decompress(range, false, text)));
        *lock(&self.state) = State::Done(text.unwrap_or_default());
        self.done.notify_all();
        true
    }

    fn is_running(&self) -> bool {
        matches!(*lock(&self.state), State::Running)
    }

    /// The text. Nobody else begins with it after this.
    fn take(&self) -> Option<Text> {
        let mut state = lock(&self.state);
        while matches!(*state, State::Running) {
            state = self
                .done
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        match std::mem::replace(&mut *state, State::Done(None)) {
            State::Done(text) => text,
            State::Waiting(_) | State::Running => None,
        }
    }
}

/// The texts that helpers decompress for one reader.
pub(super) struct Ahead {
    parts: Arc<dyn Parts>,
    helpers: Helpers,
    /// Consecutive ranges.
    slots: VecDeque<(Arc<Slot>, Taken)>,
    /// Where the next range begins.
    next: u64,
    /// The first text that is done, and the reader has yet to get to it.
    coming: Option<Text>,
    /// A buffer for a further text.
    spare: Vec<u8>,
    /// Memory for a text of the reader's own.
    own: Option<Taken>,
}

impl Ahead {
    pub(super) fn new(parts: Arc<dyn Parts>, helpers: Helpers) -> Self {
        Ahead {
            parts,
            helpers,
            slots: VecDeque::new(),
            next: 0,
            coming: None,
            spare: Vec::new(),
            own: None,
        }
    }

    pub(super) fn parts(&self) -> &dyn Parts {
        &*self.parts
    }

    /// Whether there is memory for one text that the reader decompresses itself. It is kept for
    /// that.
    pub(super) fn has_memory(&mut self) -> bool {
        self.own = self.helpers.take(self.parts.memory());
        self.own.is_some()
    }

    /// Hands out the ranges behind the range with `at`, while there are helpers and memory.
    fn hand_out(&mut self, at: u64) {
        let stride = self.parts.stride();
        self.next = self.next.max((at / stride + 1) * stride);
        let most = self.helpers.threads() * WAITING_PER_HELPER;
        while self.slots.len() < most && self.next < self.parts.end() {
            let Some(taken) = self.helpers.take(self.parts.memory()) else {
                break;
            };
            let slot = Arc::new(Slot {
                range: self.next..(self.next + stride).min(self.parts.end()),
                state: Mutex::new(State::Waiting(std::mem::take(&mut self.spare))),
                done: Condvar::new(),
            });
            self.slots.push_back((slot.clone(), taken));
            self.next += stride;
            let parts = self.parts.clone();
            let job = Box::new(move || {
                slot.run(&*parts);
            });
            // Without a receiver, nobody has begun with it when the reader gets there.
            let _ = self.helpers.jobs.send(job);
        }
    }

    /// The text of the parts from `at` on, where the reader is, if a helper has it.
    pub(super) fn text_from(&mut self, at: u64) -> Option<Text> {
        self.hand_out(at);
        loop {
            match self.coming.take() {
                Some(text) if text.place.start == at => return Some(text),
                Some(text) if text.place.start > at => {
                    self.coming = Some(text);
                    return None;
                }
                Some(text) => self.give_back(text),
                None => {}
            }
            let (first, _) = self.slots.front()?;
            if first.range.start > at {
                return None;
            }
            // Instead of waiting, the reader does what will be next.
            let run = |(slot, _): &(Arc<Slot>, Taken)| slot.run(&*self.parts);
            while first.is_running() && self.slots.iter().any(run) {}
            self.coming = self.slots.pop_front().and_then(|(slot, taken)| {
                let text = slot.take()?;
                Some(Text {
                    _memory: Some(taken),
                    ..text
                })
            });
        }
    }

    /// Decompresses the parts from `at` to the end of its range. A helper may be doing so, but has
    /// not found the same place.
    pub(super) fn decompress_from(&mut self, at: u64) -> Option<Text> {
        let stride = self.parts.stride();
        let end = ((at / stride + 1) * stride).min(self.parts.end());
        let text = std::mem::take(&mut self.spare);
        self.parts.decompress(at..end, true, text)
    }

    /// Takes back the buffer of a text that is read.
    pub(super) fn give_back(&mut self, text: Text) {
        self.spare = text.bytes;
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        for (slot, _) in &self.slots {
            let mut state = lock(&slot.state);
            if matches!(*state, State::Waiting(_)) {
                *state = State::Done(None);
            }
        }
    }
}
