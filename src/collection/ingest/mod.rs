//! From inputs to committed segments: one reader, several workers, one writer.
//!
//! # Parts
//! - `shares`: how the budget is divided, and what batches and documents can take of it.
//! - `credit`: the bytes that may be between the reader and the writer.
//! - `feeder`: the reader; it frames records into batches and cuts segments.
//! - `worker`: workers; they interpret and shingle the records of a batch.
//! - `writer`: the writer; it appends batches in input order and commits segments.
//! - `stats`: the counts of a segment.
//!
//! The reader sends `Work`, a worker turns it into `Done`, and the writer writes it. With one
//! thread, the three take turns.
//!
//! # Errors
//! `InputChanged` if a file differs from its entry in the list of inputs. Each file is checked
//! before it is opened, after it has been read, and before a segment that ends within it is
//! committed. So every committed segment was read from the files as listed. Once the file is
//! restored (including its modification time), the run can continue.

mod credit;
mod feeder;
mod shares;
mod stats;
mod worker;
mod writer;

use crate::Result;
use crate::budget::{Budget, ByteSize};
use crate::collection::{self, CollectionConfig, Cursor, Ingested};
use crate::ids::Key;
use crate::numbers::counted;
use crate::progress::{Context, Unit, caught, joined};
use crate::read::InputFile;
use crate::store::disk;
use crate::threads;
use crate::workspace::Workspace;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, Sender, bounded};

use credit::{CloseOnPanic, Credit, Grants};
use feeder::{Feeder, Work};
use shares::{INPUT_BYTES, Shape, Shares};
use worker::{Done, Worker};
use writer::SegmentsWriter;

pub use shares::least_memory;
pub use stats::SegmentStats;

const STAGE: &str = "ingest";
/// Subdirectory of the segments' parts.
const DIRECTORY: &str = "collection";

/// Refuses a budget that is too small for reading this number of inputs.
pub(crate) fn require_memory(
    config: &CollectionConfig,
    inputs: usize,
    budget: &Budget,
) -> Result<()> {
    budget.require(least_memory(config, inputs), || {
        let most = config.read.max_document;
        let files = counted(inputs as u64, "file");
        format!("reading documents of up to {most} (--max-document) from {files}")
    })
}

/// Reads the inputs into committed segments, starting after the last committed one.
pub fn run<K: Key>(
    workspace: &mut Workspace,
    inputs: &[InputFile],
    context: &Context<'_>,
) -> Result<()> {
    if collection::ingested(&workspace.manifest) {
        return Ok(());
    }
    let config = collection::config(&workspace.manifest).clone();
    require_memory(&config, inputs.len(), &context.budget)?;
    let list = inputs.len() as u64 * INPUT_BYTES;
    let shares = Shares::new(ByteSize(context.budget.memory.0 - list), &config);
    let total: Option<u64> = inputs
        .iter()
        .map(|i| i.identity.as_ref().map(|f| f.size))
        .sum();
    context.progress.start(STAGE, Unit::Bytes, total);
    let from = collection::segments(&workspace.manifest)
        .last()
        .map_or(Cursor::default(), |s| s.next);
    let shape = Shape::new::<K>(&config, shares);
    let feeder = Feeder::new(inputs, &config, shape, from, context)?;
    let writer = SegmentsWriter::<K>::new(workspace, shares)?;
    if context.budget.threads <= 1 {
        alone(feeder, writer, &config, shares, context)?;
    } else {
        together(feeder, writer, &config, shares, context)?;
    }
    workspace.manifest.set(Ingested(true));
    workspace.commit(&[DIRECTORY])
}

fn alone<K: Key>(
    mut feeder: Feeder<'_>,
    mut writer: SegmentsWriter<'_, K>,
    config: &CollectionConfig,
    shares: Shares,
    context: &Context<'_>,
) -> Result<()> {
    let mut worker = Worker::<K>::new(config, feeder.shape.worst);
    let grants = Grants {
        credit: None,
        most: shares.in_flight / 2,
    };
    while let Some(work) = feeder.next()? {
        disk::point("ingest: alone");
        writer.push(worker.process(work, &grants))?;
        context.progress.at(feeder.position());
    }
    Ok(())
}

fn together<K: Key>(
    mut feeder: Feeder<'_>,
    mut writer: SegmentsWriter<'_, K>,
    config: &CollectionConfig,
    shares: Shares,
    context: &Context<'_>,
) -> Result<()> {
    let (threads, worst) = (context.budget.threads, feeder.shape.worst);
    let credit = Credit::new(shares.in_flight);
    let position = AtomicU64::new(0);
    let (to_work, work): (Sender<Work>, Receiver<Work>) = bounded(threads * 2);
    let (to_writer, done): (Sender<Done>, Receiver<Done>) = bounded(threads * 2);
    threads::scope(|scope| {
        let (credit, position) = (&credit, &position);
        let reader = scope.spawn(move || -> Result<()> {
            while let Some(work) = feeder.next()? {
                disk::point("ingest: reader");
                position.store(feeder.position(), Ordering::Relaxed);
                let alone = work.alone;
                // Either end is closed only after a failure, and the side that failed reports it.
                if !credit.take(work.cost) || to_work.send(work).is_err() {
                    break;
                }
                if alone && !credit.wait_for_all() {
                    break;
                }
            }
            Ok(())
        });
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let (work, to_writer) = (work.clone(), to_writer.clone());
                scope.spawn(move || -> Result<()> {
                    let _guard = CloseOnPanic(credit);
                    let mut worker = Worker::<K>::new(config, worst);
                    let grants = Grants {
                        credit: Some(credit),
                        most: shares.batch,
                    };
                    for work in work {
                        disk::point("ingest: worker");
                        if to_writer.send(worker.process(work, &grants)).is_err() {
                            break;
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        drop((work, to_writer));
        let written = caught("writer", || {
            // Batches arrive in the order in which they are finished and are written in the order
            // in which they were read. The credit bounds the number of batches that wait here.
            let mut waiting: HashMap<u64, Done> = HashMap::new();
            let mut next = 0;
            for batch in &done {
                waiting.insert(batch.sequence, batch);
                while let Some(batch) = waiting.remove(&next) {
                    let cost = batch.cost;
                    disk::point("ingest: writer");
                    writer.push(batch)?;
                    credit.give(cost);
                    next += 1;
                }
                context.progress.at(position.load(Ordering::Relaxed));
            }
            Ok(())
        });
        drop(done);
        credit.close();
        let mut results = vec![joined("worker", reader)];
        results.extend(workers.into_iter().map(|w| joined("worker", w)));
        // A panicking worker makes the other threads stop early. Its error gives the reason.
        results
            .into_iter()
            .find(Result::is_err)
            .unwrap_or(Ok(()))
            .and(written)
    })
}
