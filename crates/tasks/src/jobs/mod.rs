//! The search for pairs as an array of jobs, which share nothing but a directory or a bucket.
//!
//! # Source
//! The steps of [`super::distributed`], which an engine such as Spark also runs. Files that
//! tasks leave for others, on a file system that all of them see, in place of a shuffle: Dean &
//! Ghemawat 2004, section 3.
//!
//! # In and out
//! The *exchange* is a directory or a prefix of an object store. [`Plan::make`] writes the plan and
//! the list of inputs to it. [`run`] does one task: it reads the files that the tasks of earlier
//! steps left, and leaves one file, which appears complete or not at all. [`finish()`] makes an
//! output directory of a run from the files of the last tasks, and [`pairs`] the lines of its pairs
//! alone.
//!
//! # Algorithm
//! A plan of N tasks has N parts of the documents and N ranges of fingerprints, and each step has N
//! tasks. The tasks are numbered through, step by step ([`Step`]). A task of the first step reads a
//! share of the inputs as a run does ([`lookalike_engine::collection::Share`]), and leaves the segments
//! as well. Documents are called by the number of that task and their number in its share.
//!
//! # Invariants
//! - A task that runs again, anywhere, writes the same bytes. Two that run at the same time do not
//!   disturb each other.
//! - A file that a killed task leaves in the exchange is named after the file that it was to
//!   become. The same task, when it is done, and [`finish()`] and [`pairs`] remove it.
//! - No task begins before all of the files that it needs are there.
//! - The files of another plan are refused.
//!
//! # Limits
//! 2^32 documents in a part and in a share, 2^32 parts: documents are called by 64 bits in the steps
//! and by 96 bits between them. An output directory has at most 2^32 - 2 documents.
//!
//! # Cost
//! Memory: the steps keep within the budget. Disk: the input of a task beyond its memory, and its
//! output; in the first step also the segments and texts of the share.

mod exchange;
mod finish;
mod plan;
mod read;
mod rows;
mod steps;
#[cfg(test)]
mod tests;

use std::time::Duration;

use serde::Serialize;

use crate::distributed::{
    Blocks, Candidates, Classes, Frequencies, PartResults, Prefixes, Row, Stage, Verify, Weight,
};
use lookalike_base::{Context, Error, Result, Unit, counted};
use lookalike_store::{Scratch, disk};

pub use finish::{Listed, finish, pairs};
pub use plan::{Plan, Planned, StepState, ranges, summary};
pub use steps::Step;
use steps::Task;

const STAGE: &str = "task";
/// Where the segments of the collection are.
const COLLECTION: &str = "collection";
/// Memory that a step needs in addition to its budget: a chunk of fingerprints, its copies and the
/// buffers of the process.
const STEP_BYTES: u64 = 200 << 20;
/// The least memory for the rest.
const LEAST_BYTES: u64 = 56 << 20;
/// Memory for a fingerprint of a document, in all copies of its set and of its part of a chunk.
const FINGERPRINT_BYTES: u64 = 48;
/// Memory for a document of a part.
const DOCUMENT_BYTES: u64 = 150;

/// Says whether a task was done now or before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It was done now.
    Done,
    /// It had been done.
    Already,
}

/// The result of running a task.
#[derive(Clone, Debug, Serialize)]
pub struct Ran {
    /// Its number.
    pub task: u64,
    /// The name of its step.
    pub step: &'static str,
    /// Whether it was done now or before.
    pub outcome: Outcome,
    /// Bytes of rows that it read, beside inputs.
    pub bytes_read: u64,
    /// Bytes of rows that it left.
    pub bytes_left: u64,
}

/// Does a task, unless it is done. If the tasks that it needs are not done, waits for them for some
/// time.
///
/// # Errors
/// Of tasks that are missing; `BadParameter`; `BudgetTooSmall`; `Corrupt`; `InputChanged`; `Io`.
pub fn run(plan: &Plan, number: u64, wait: Duration, context: &Context<'_>) -> Result<Ran> {
    let task = plan.task(number)?;
    let mut ran = Ran {
        task: number,
        step: task.step.text(),
        outcome: Outcome::Already,
        bytes_read: 0,
        bytes_left: 0,
    };
    let done = match disk::exists(&plan.path(task))? {
        // A file that another plan or a broken disk left is written again.
        true => match plan.open(task) {
            Err(Error::Corrupt { .. }) => false,
            other => other.map(|_| true)?,
        },
        false => false,
    };
    if !done {
        match leave(plan, task, wait, &mut ran, context) {
            // Another process has done the task, and removed the file that this process had begun.
            Err(Error::Io { .. }) if plan.open(task).is_ok() => {}
            other => other?,
        }
    }
    plan.remove_left(task)?;
    Ok(ran)
}

/// Does a task, and leaves its rows.
fn leave(
    plan: &Plan,
    task: Task,
    wait: Duration,
    ran: &mut Ran,
    context: &Context<'_>,
) -> Result<()> {
    context.budget.require(STEP_BYTES + LEAST_BYTES, || {
        format!("a task of the step {}", task.step)
    })?;
    plan.need(task.step.sources(), wait, context)?;
    let scratch = Scratch::within(context.scratch.unwrap_or(&std::env::temp_dir()))?;
    let memory = context.budget.memory.0 - STEP_BYTES;
    let mut rows = rows::Writer::new(plan.tasks(), scratch.path(), memory / 4);
    let (path, origin) = (plan.path(task), plan.origin(task));
    let facts = match task.step {
        Step::Read => Some(read::run(plan, task, scratch.path(), &mut rows, context)?),
        _ => {
            ran.bytes_read = step(plan, task, &scratch, memory, &mut rows, context)?;
            None
        }
    };
    ran.bytes_left = rows.bytes();
    rows.finish(&path, origin, &facts, context.stop)?;
    ran.outcome = Outcome::Done;
    Ok(())
}

/// Passes all rows that a task takes to `take`. Returns their bytes.
fn each_row(
    plan: &Plan,
    task: Task,
    memory: u64,
    context: &Context<'_>,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<u64> {
    let mut files = Vec::new();
    for &step in task.step.sources() {
        for number in 0..plan.tasks() {
            context.stop.check(STAGE)?;
            files.push(Task { step, number });
        }
    }
    let total = files.len() as u64;
    context.start(task.step.text(), Unit::Count("files"), Some(total));
    let (mut bytes, mut documents, mut kept) = (0, 0u64, 0u64);
    for (done, source) in files.into_iter().enumerate() {
        context.progress.at(done as u64);
        let file = plan.open(source)?;
        if source.step == Step::Read {
            let largest = file.facts::<rows::Facts>()?.largest;
            let least = LEAST_BYTES + largest.saturating_mul(FINGERPRINT_BYTES);
            let what = || format!("a document of {}", counted(largest, "fingerprint"));
            context.budget.require(least, what)?;
        }
        bytes += file.bytes(task.number);
        file.each(task.number, context, |blob| {
            let weight = Weight::of(blob)?;
            kept = kept.saturating_add(weight.kept);
            let least = LEAST_BYTES.saturating_add(kept).saturating_add(weight.once);
            context.budget.require(least, || {
                format!(
                    "a task with the rows up to {} (a plan of more tasks has fewer in each)",
                    file.path.display()
                )
            })?;
            documents = documents.saturating_add(weight.documents);
            let needed = documents.saturating_mul(DOCUMENT_BYTES);
            if needed > memory / 2 {
                let what = || {
                    format!(
                        "{} or more in a part (a plan of more tasks has smaller ones)",
                        counted(documents, "document")
                    )
                };
                let least = STEP_BYTES + needed.saturating_mul(3);
                context.budget.require(least, what)?;
            }
            take(blob)
        })?;
    }
    Ok(bytes)
}

/// Does a task of a step after the first.
fn step(
    plan: &Plan,
    task: Task,
    scratch: &Scratch,
    memory: u64,
    rows: &mut rows::Writer,
    context: &Context<'_>,
) -> Result<u64> {
    let config = plan.written.config(scratch.path(), memory / 2);
    let mut stage: Box<dyn Stage> = match task.step {
        Step::Frequencies => Box::new(Frequencies::new(&config)),
        Step::Classes => Box::new(Classes::new(&config)),
        Step::Prefixes => Box::new(Prefixes::new(&config)),
        Step::Candidates => Box::new(Candidates::new(&config)),
        Step::Blocks => Box::new(Blocks::new(&config)),
        Step::Verify => Box::new(Verify::new(&config)),
        Step::Results => Box::new(PartResults::new(&config)),
        Step::Read => unreachable!("it takes no rows"),
    };
    let mut out: Vec<Row> = Vec::new();
    let read = each_row(plan, task, memory, context, |blob| {
        stage.take(task.number, blob, &mut out)?;
        rows.take(&mut out)
    })?;
    while stage.step(&mut out)? {
        context.stop.check(STAGE)?;
        rows.take(&mut out)?;
    }
    rows.take(&mut out)?;
    Ok(read)
}

/// The name of a document: the task that read it, its number in the share, and if the plan wants
/// only pairs, its capture and its docno. As bytes, names are in the order of the inputs.
fn document_name(task: u32, number: u64, docno: &str, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&task.to_be_bytes());
    out.extend_from_slice(&number.to_be_bytes());
    out.extend_from_slice(docno.as_bytes());
}

/// Reads a name that [`document_name`] wrote: the task, the number, and the docno after them.
fn named_document(name: &[u8]) -> Option<(u32, u64, &str)> {
    let (task, rest) = name.split_first_chunk()?;
    let (number, docno) = rest.split_first_chunk()?;
    let docno = std::str::from_utf8(docno).ok()?;
    let (task, number) = (u32::from_be_bytes(*task), u64::from_be_bytes(*number));
    Some((task, number, docno))
}

/// The number of a document among all: 64 bits, whatever the number of documents.
fn number_of(bases: &[u64], task: u32, number: u64) -> Option<u64> {
    let next = bases.get(task as usize + 1)?;
    let all = bases.get(task as usize)?.checked_add(number)?;
    (all < *next).then_some(all)
}
