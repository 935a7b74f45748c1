//! The threads of ingest.
//!
//! A thread takes the next unit and reads, shingles and writes it by itself, so that little passes
//! between threads. A thread that finds no unit left, or no memory for another one, helps: it
//! decompresses what readers are about to read, shingles batches of the units that they read, and
//! writes those whose turn it is.
//!
//! # Invariants
//! - Batches are handed over only while there is a thread that does nothing but help, and a helper
//!   waits for nothing but work. So every batch in flight is finished and gives its credit back,
//!   even while all readers wait for credit.
//! - After a failure, waiting for credit ends, and so does every reader.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, Sender, bounded, select, unbounded};

use super::feeder::{Damaged, Decoding, Feeder, Known, Work};
use super::shares::{Shape, Shares};
use super::units::Unit;
use super::worker::{Done, Worker};
use super::writer::{Committer, SegmentsWriter};
use crate::collection::CollectionConfig;
use lookalike_base::{Context, Credit, Error, Key, Result, caught, lock, threads};
use lookalike_source::{Helpers, Job};
use lookalike_store::{Workspace, disk};

/// Batches that wait for each helper: one to go on with while the reader works on its own.
const WAITING_PER_HELPER: usize = 2;

/// The state that all threads share.
pub(super) struct Ingest<'a, K: Key> {
    known: Known<'a>,
    units: &'a [Unit],
    config: &'a CollectionConfig,
    shares: Shares,
    shape: Shape,
    context: &'a Context<'a>,
    committer: Committer<'a>,
    credit: Credit,
    decoders: Credit,
    next_unit: AtomicUsize,
    helpers: Helpers,
    /// The ranges that readers want decompressed ahead of them.
    jobs: Receiver<Job>,
    /// Bytes of the inputs read so far, before decompression.
    position: AtomicU64,
    failed: AtomicBool,
    failure: Mutex<Option<Error>>,
    /// Stretches that turned out to be damaged after documents from them were written.
    damaged: Mutex<Vec<Damaged>>,
    key: std::marker::PhantomData<fn(K)>,
}

/// A batch, and where it is to be written.
struct Task<'i, 'a, K: Key> {
    work: Work,
    out: Arc<InOrder<'i, 'a, K>>,
}

/// Writes the batches of a unit in the order in which they were read. The thread that brings the
/// next batch writes it, and the batches that waited for it.
struct InOrder<'i, 'a, K: Key> {
    order: Mutex<Order>,
    writer: Mutex<SegmentsWriter<'i, 'a, K>>,
    /// Closed when no task of the unit is left.
    _open: Sender<Infallible>,
}

#[derive(Default)]
struct Order {
    next: u64,
    waiting: HashMap<u64, Done>,
    writing: bool,
}

impl<K: Key> InOrder<'_, '_, K> {
    fn put(&self, done: Done, credit: &Credit) -> Result<()> {
        let mut order = lock(&self.order);
        order.waiting.insert(done.sequence, done);
        if order.writing {
            return Ok(());
        }
        order.writing = true;
        loop {
            let next = order.next;
            let Some(done) = order.waiting.remove(&next) else {
                break;
            };
            order.next += 1;
            drop(order);
            disk::point("ingest: writer");
            let cost = done.cost;
            caught("writer", || lock(&self.writer).push(done))?;
            credit.give(cost);
            order = lock(&self.order);
        }
        order.writing = false;
        Ok(())
    }
}

impl<'a, K: Key> Ingest<'a, K> {
    pub(super) fn new(
        workspace: &'a mut Workspace,
        known: Known<'a>,
        units: &'a [Unit],
        config: &'a CollectionConfig,
        shares: Shares,
        context: &'a Context<'a>,
    ) -> Self {
        let (helpers, jobs) = Helpers::new(shares.ahead);
        Ingest {
            known,
            units,
            config,
            shares,
            shape: Shape::new::<K>(config, shares),
            context,
            committer: Committer::new(workspace, context.stop),
            credit: Credit::new(shares.in_flight),
            decoders: Credit::new(shares.decoders),
            next_unit: AtomicUsize::new(0),
            helpers,
            jobs,
            position: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            failure: Mutex::new(None),
            damaged: Mutex::default(),
            key: std::marker::PhantomData,
        }
    }

    /// Reads all units. Returns the damaged parts; the units that have them must be read again.
    pub(super) fn run(self) -> Result<Vec<Damaged>> {
        let (to_helpers, tasks) = unbounded();
        let all = self.context.budget.threads.max(1);
        if all == 1 {
            self.read_units(&to_helpers, &tasks);
        } else {
            threads::scope(|scope| {
                for thread in 0..all {
                    let (this, tasks) = (&self, tasks.clone());
                    let reading = (thread < self.shares.units).then(|| to_helpers.clone());
                    scope.spawn(move || {
                        if let Some(to_helpers) = reading {
                            this.read_units(&to_helpers, &tasks);
                        }
                        this.help(&tasks);
                    });
                }
                drop(to_helpers);
            });
        }
        let failure = lock(&self.failure).take();
        let damaged = std::mem::take(&mut *lock(&self.damaged));
        failure.map_or(Ok(damaged), Err)
    }

    /// Ends everything. Only the first failure is reported, because it causes the others.
    fn fail(&self, error: Error) {
        lock(&self.failure).get_or_insert(error);
        self.failed.store(true, Ordering::SeqCst);
        self.credit.close();
        self.decoders.close();
    }

    fn read_units<'i>(
        &'i self,
        to_helpers: &Sender<Task<'i, 'a, K>>,
        tasks: &Receiver<Task<'i, 'a, K>>,
    ) {
        let read = || {
            let mut worker = Worker::new(self.config, self.shape);
            loop {
                let unit = self.next_unit.fetch_add(1, Ordering::Relaxed);
                match self.units.get(unit) {
                    Some(unit) => self.read(unit, &mut worker, to_helpers, tasks)?,
                    None => return Ok(()),
                }
            }
        };
        if let Err(error) = caught("reader", read) {
            self.fail(error);
        }
    }

    /// Reads the part of a unit that is not yet committed, and ends when it is written.
    fn read<'i>(
        &'i self,
        unit: &'i Unit,
        worker: &mut Worker<K>,
        to_helpers: &Sender<Task<'i, 'a, K>>,
        tasks: &Receiver<Task<'i, 'a, K>>,
    ) -> Result<()> {
        let committed = self.committer.committed(unit);
        let from = committed.last().map_or(unit.begin(), |last| last.next);
        let mut read = 0;
        let mut at = |position| {
            let more = position - read;
            read = position;
            let before = self.position.fetch_add(more, Ordering::Relaxed);
            self.context.progress.at(before + more);
        };
        if from == unit.end() {
            at(unit.bytes);
            return Ok(());
        }
        let mut feeder = Feeder::new(
            self.known,
            unit,
            self.config,
            self.shape,
            Decoding {
                memory: &self.decoders,
                helpers: Some(&self.helpers),
            },
            from,
            self.context,
        )?
        .looking_for_damage();
        let (open, closed) = bounded(0);
        let out = Arc::new(InOrder {
            order: Mutex::default(),
            writer: Mutex::new(SegmentsWriter::new(
                &self.committer,
                unit.clone(),
                &committed,
                self.config,
                self.shape.batch,
            )?),
            _open: open,
        });
        while let Some(work) = feeder.next()? {
            disk::point("ingest: reader");
            let alone = work.alone;
            if !self.credit.take(work.cost) {
                break;
            }
            let task = Task {
                work,
                out: out.clone(),
            };
            let helpers = self.helpers.threads();
            if !alone && to_helpers.len() < helpers * WAITING_PER_HELPER {
                // This thread has a receiver itself.
                let _ = to_helpers.send(task);
            } else {
                self.process(task, worker);
            }
            at(feeder.position());
            if alone && !self.credit.wait_for_all() {
                break;
            }
        }
        at(feeder.position());
        lock(&self.damaged).extend(feeder.found());
        drop(out);
        loop {
            select! {
                recv(tasks) -> task => task.into_iter().for_each(|task| self.process(task, worker)),
                recv(closed) -> _ => return Ok(()),
            }
        }
    }

    /// Works on batches, and decompresses, until no unit is being read.
    fn help(&self, tasks: &Receiver<Task<'_, 'a, K>>) {
        let mut worker = Worker::new(self.config, self.shape);
        self.helpers.joined();
        loop {
            select! {
                recv(tasks) -> task => match task {
                    Ok(task) => self.process(task, &mut worker),
                    Err(_) => return,
                },
                // This is never closed, because `helpers` can send.
                recv(self.jobs) -> job => job.into_iter().for_each(|job| job()),
            }
        }
    }

    fn process(&self, task: Task<'_, 'a, K>, worker: &mut Worker<K>) {
        if self.failed.load(Ordering::SeqCst) {
            return;
        }
        let processed = caught("worker", || {
            disk::point("ingest: worker");
            let done = worker.process(task.work, &self.credit);
            task.out.put(done, &self.credit)
        });
        if let Err(error) = processed {
            self.fail(error);
        }
    }
}
