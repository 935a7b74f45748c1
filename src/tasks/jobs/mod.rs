//! The search for pairs as an array of jobs, which share nothing but a directory or a bucket.
//!
//! # Source
//! The steps of [`super::distributed`], which are also those of an engine such as Spark. Files that
//! tasks leave for others, on a file system that all of them see, in place of a shuffle: Dean &
//! Ghemawat 2004, section 3.
//!
//! # In and out
//! The *exchange* is a directory or a prefix of an object store. [`Plan::make`] writes the plan and
//! the list of inputs to it. [`run`] does one task: it reads what the tasks of earlier steps left,
//! and leaves one file, which appears complete or not at all. [`finish()`] makes an output directory
//! of a run of what the last tasks left, and [`pairs`] the lines of its pairs alone.
//!
//! # Algorithm
//! A plan of N tasks has N parts of the documents and N ranges of fingerprints, and each step has N
//! tasks. The tasks are numbered through, step by step ([`Step`]). A task of the first step reads a
//! share of the inputs as a run does ([`crate::engine::collection::Share`]), and leaves the segments
//! as well. Documents are called by the number of that task and their number in its share.
//!
//! # Invariants
//! - A task that runs again, anywhere, writes the same bytes. Two that run at the same time do not
//!   disturb each other.
//! - No task begins before all of the files that it needs are there.
//! - The files of another plan are refused.
//!
//! # Limits
//! 2^32 documents in a part and in a share, 2^32 parts: documents are called by 64 bits in the steps
//! and by 96 bits between them. An output directory has at most 2^32 - 2 documents.
//!
//! # Cost
//! Memory: that of the steps, within the budget. Disk: what a task reads beyond its memory and what
//! it leaves; in the first step also the segments and texts of the share.

mod finish;
mod read;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::base::error::refuse;
use crate::base::ids::FingerprintKind;
use crate::base::numbers::{count, counted};
use crate::base::progress::{Context, Unit};
use crate::engine::collection::CollectionConfig;
use crate::engine::join::{JoinConfig, Pairs};
use crate::engine::pipeline::JoinParameters;
use crate::engine::sample::Sampling;
use crate::store::disk::{self, AtomicFile, Scratch};
use crate::store::remote;
use crate::store::workspace::{InputEntry, Skipped, check_address, refuse_below_another};
use crate::tasks::distributed::{
    Blocks, Candidates, Classes, Config, Found, Frequencies, PartResults, Prefixes, Row, Stage,
    Verify, documents_in,
};
use crate::text::read::{InputFile, Inputs};
use crate::text::rewrite::again;
use crate::{Error, Result};

pub use finish::{Listed, finish, pairs};

const STAGE: &str = "task";
/// The format of a plan.
const FORMAT: u32 = 1;
/// The program, whose versions differ in what they leave.
const PROGRAM: &str = concat!("lookalike ", env!("CARGO_PKG_VERSION"));
const PLAN: &str = "plan.json";
const INPUTS: &str = "inputs.jsonl";
/// Where the segments of the collection are.
const COLLECTION: &str = "collection";
/// The most tasks of a step.
pub const MOST_TASKS: u32 = 10_000;
/// Memory that a step needs beyond what it takes by the budget: a chunk of fingerprints, its copies
/// and the buffers of the process.
const STEP_BYTES: u64 = 200 << 20;
/// The least memory for the rest.
const LEAST_BYTES: u64 = 56 << 20;
/// Memory for a fingerprint of a document, in all copies of its set and of its part of a chunk.
const FINGERPRINT_BYTES: u64 = 48;
/// Memory for a document of a part.
const DOCUMENT_BYTES: u64 = 150;
/// How often a task that waits looks whether its inputs are there: at first, and in the end.
const LOOK_EVERY: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(15)];

/// A step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Reads a share of the inputs.
    Read,
    /// [`Frequencies`] of a part.
    Frequencies,
    /// [`Classes`] of a range.
    Classes,
    /// [`Prefixes`] of a part.
    Prefixes,
    /// [`Candidates`] of a range.
    Candidates,
    /// [`Blocks`] of long lists.
    Blocks,
    /// [`Verify`] of a part.
    Verify,
    /// [`PartResults`] of a part.
    Results,
}

impl Step {
    /// All steps, in order.
    pub const ALL: [Step; 8] = [
        Step::Read,
        Step::Frequencies,
        Step::Classes,
        Step::Prefixes,
        Step::Candidates,
        Step::Blocks,
        Step::Verify,
        Step::Results,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Step::Read => "read",
            Step::Frequencies => "frequencies",
            Step::Classes => "classes",
            Step::Prefixes => "prefixes",
            Step::Candidates => "candidates",
            Step::Blocks => "blocks",
            Step::Verify => "verify",
            Step::Results => "results",
        }
    }

    /// The steps whose rows it takes. All of their tasks must be done.
    fn sources(self) -> &'static [Step] {
        match self {
            Step::Read => &[],
            Step::Frequencies => &[Step::Read],
            Step::Classes => &[Step::Frequencies],
            Step::Prefixes => &[Step::Classes, Step::Read],
            Step::Candidates => &[Step::Prefixes],
            Step::Blocks => &[Step::Candidates],
            Step::Verify => &[Step::Blocks, Step::Read],
            Step::Results => &[Step::Verify],
        }
    }

    /// The directory of its files: in the order of the steps.
    fn directory(self) -> String {
        format!("{}-{}", self as u8 + 1, self.name())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the tasks of a search have in common.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: u32,
    /// The program that wrote it.
    program: String,
    /// Tasks of a step.
    tasks: u32,
    collection: CollectionConfig,
    join: JoinConfig,
    sampling: Sampling,
    /// Whether only the pairs are wanted: then the segments stay where they are made, and documents
    /// are called by their docnos as well.
    pairs_only: bool,
    need_documents: bool,
    skipped: Skipped,
    /// Number of inputs, and the xxh3 of their list.
    inputs: u64,
    list: String,
}

/// An input in the list of a plan.
#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    entry: InputEntry,
    /// Whether its docno has escaped bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    odd: bool,
}

/// The plan of a search.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The directory or address where it is.
    exchange: PathBuf,
    written: Written,
    digest: u128,
}

/// What is to be planned.
#[derive(Clone, Debug)]
pub struct Planned<'p> {
    /// The inputs.
    pub inputs: &'p Inputs,
    /// How they are read.
    pub collection: &'p CollectionConfig,
    /// The pairs that are wanted.
    pub parameters: &'p JoinParameters,
    /// Tasks of a step.
    pub tasks: u32,
    /// Whether only the pairs are wanted.
    pub pairs_only: bool,
}

impl Planned<'_> {
    /// Refuses what tasks cannot do.
    fn check(&self) -> Result<()> {
        if !(1..=MOST_TASKS).contains(&self.tasks) {
            return refuse("tasks", self.tasks, format!("1 to {MOST_TASKS}"));
        }
        let (shingle, join) = (&self.collection.shingle, &self.parameters.join);
        if shingle.excluded.is_some() {
            let limit = "tasks compare whole texts; leave --exclude-text out";
            return refuse("exclude-text", "with tasks", limit);
        }
        if shingle.parse.tokens.is_by_name() {
            let limit = "the texts go on without their names; choose words, or one language";
            return refuse("tokens", &shingle.parse.tokens, limit);
        }
        if shingle.fingerprint != FingerprintKind::Xxh3 {
            return refuse("fingerprint", shingle.fingerprint, "tasks take 64 bits");
        }
        if join.pairs != Pairs::All {
            return refuse("pairs", join.pairs, "tasks find all pairs");
        }
        if join.candidates.is_some() {
            return refuse("verified", "with tasks", "they do not verify samples");
        }
        if join.max_postings.is_some() {
            return refuse("max-postings", "with tasks", "no task sees a whole list");
        }
        if self.parameters.plan.is_some() {
            return refuse("sampling", "a plan", "give the ratios themselves");
        }
        if let Some(input) = self.inputs.iter().find(|input| input.problem.is_some()) {
            let limit = "it cannot be read; leave it out";
            return refuse("INPUT", input.path.display(), limit);
        }
        if let Some(input) = self
            .inputs
            .iter()
            .find(|input| input.path.to_str().is_none())
        {
            let limit = "its path is not UTF-8; rename it";
            return refuse("INPUT", input.path.display(), limit);
        }
        if self.inputs.iter().any(|input| input.path == Path::new("-")) {
            return Err(again::standard_input());
        }
        let written = self.written(String::new());
        written.config(Path::new("."), 0).check()
    }

    fn written(&self, list: String) -> Written {
        Written {
            format: FORMAT,
            program: PROGRAM.into(),
            tasks: self.tasks,
            collection: self.collection.clone(),
            join: self.parameters.join,
            sampling: self.parameters.sampling.clone(),
            pairs_only: self.pairs_only,
            need_documents: self.inputs.need_documents,
            skipped: self.inputs.skipped,
            inputs: self.inputs.len() as u64,
            list,
        }
    }
}

impl Written {
    /// The parameters of the steps.
    fn config(&self, scratch: &Path, memory: u64) -> Config {
        Config {
            shingle: self.collection.shingle.clone(),
            criterion: self.join.criterion(),
            sampling: self.sampling.clone(),
            size_groups: self.collection.size_groups.clone(),
            places: self.tasks,
            memory,
            scratch: scratch.into(),
            bands: None,
            look_up: false,
        }
    }
}

/// A task, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Task {
    step: Step,
    /// Its number in the step.
    number: u32,
}

/// What became of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It was done now.
    Done,
    /// It had been done.
    Already,
}

/// What a task did.
#[derive(Clone, Debug, Serialize)]
pub struct Ran {
    /// Its number.
    pub task: u64,
    /// The name of its step.
    pub step: &'static str,
    /// What became of it.
    pub outcome: Outcome,
    /// Bytes of rows that it read, beside inputs.
    pub bytes_read: u64,
    /// Bytes of rows that it left.
    pub bytes_left: u64,
}

/// How far a step is.
#[derive(Clone, Debug, Serialize)]
pub struct StepState {
    /// Its name.
    pub step: &'static str,
    /// The number of its first task.
    pub first: u64,
    /// The number of its last task.
    pub last: u64,
    /// Tasks that are done.
    pub done: u64,
    /// The others.
    pub missing: Vec<u64>,
    /// Whether everything is there that these need.
    pub ready: bool,
}

impl Plan {
    /// Writes a plan to a directory or below an address, where nothing else may be. The same plan
    /// may be there already.
    ///
    /// # Errors
    /// `BadParameter`; `Io`.
    pub fn make(planned: &Planned<'_>, exchange: &Path) -> Result<Plan> {
        planned.check()?;
        match remote::is_address(exchange) {
            true => check_address("output", exchange)?,
            false => refuse_below_another("output", exchange)?,
        }
        let mut lines = Vec::new();
        for input in planned.inputs.iter() {
            let line = Line {
                entry: input.entry(),
                odd: input.odd_path,
            };
            lines.extend(crate::store::to_json(&line, &exchange.join(INPUTS))?);
            lines.push(b'\n');
        }
        let list = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&lines));
        let path = exchange.join(PLAN);
        let written = planned.written(list);
        let mut bytes = crate::store::json::pretty(&written, &path)?.into_bytes();
        bytes.push(b'\n');
        match Plan::read(exchange) {
            Ok(there) if there.digest == digest_of(&bytes) => return Ok(there),
            Ok(_) => {
                let limit = "it has another plan; give a new place, or the same parameters";
                return refuse("output", exchange.display(), limit);
            }
            Err(_) if disk::exists(&path)? => {
                let limit = "it has a plan of another program; give a new place";
                return refuse("output", exchange.display(), limit);
            }
            Err(_) => {}
        }
        if is_taken(exchange)? {
            return refuse(
                "output",
                exchange.display(),
                "it is not empty; give a new place",
            );
        }
        for (name, content) in [(INPUTS, &lines), (PLAN, &bytes)] {
            let path = exchange.join(name);
            let mut out = Leaving::create(&path)?;
            out.put(content)?;
            out.finish()?;
        }
        Plan::read(exchange)
    }

    /// Reads a plan.
    ///
    /// # Errors
    /// `Io`; `Corrupt`; `BadParameter` if it is not one of this program.
    pub fn read(exchange: &Path) -> Result<Plan> {
        if !remote::is_address(exchange) {
            // No link or FIFO in it is opened: it may come from someone else.
            disk::claim(exchange);
        }
        let path = exchange.join(PLAN);
        if !disk::exists(&path)? {
            let limit = "it has no plan; `lookalike tasks plan` writes one";
            return refuse("EXCHANGE", exchange.display(), limit);
        }
        let bytes = disk::read_all(&path)?;
        let written: Written = serde_json::from_slice(&bytes).map_err(|error| {
            Error::corrupt(&path, "plan").expected("what `lookalike tasks plan` writes", error)
        })?;
        if written.format != FORMAT || !(1..=MOST_TASKS).contains(&written.tasks) {
            let found = format!("format {}, {} tasks", written.format, written.tasks);
            return Err(Error::corrupt(&path, "plan")
                .expected(format!("format {FORMAT}, 1 to {MOST_TASKS} tasks"), found));
        }
        if written.program != PROGRAM {
            let limit = format!(
                "{} planned it; use that version for all tasks, or plan again",
                written.program
            );
            return refuse("EXCHANGE", exchange.display(), limit);
        }
        written.config(Path::new("."), 0).check()?;
        Ok(Plan {
            exchange: exchange.into(),
            written,
            digest: digest_of(&bytes),
        })
    }

    /// Whether only the pairs are wanted.
    pub fn pairs_only(&self) -> bool {
        self.written.pairs_only
    }

    /// The tasks of each step.
    pub fn tasks(&self) -> u32 {
        self.written.tasks
    }

    /// The tasks of all steps.
    pub fn all_tasks(&self) -> u64 {
        u64::from(self.tasks()) * Step::ALL.len() as u64
    }

    /// Number and bytes of the inputs.
    pub fn inputs_and_bytes(&self) -> Result<(u64, u64)> {
        let inputs = self.inputs(true)?;
        Ok((
            inputs.len() as u64,
            inputs.iter().map(InputFile::size).sum(),
        ))
    }

    fn task(&self, number: u64) -> Result<Task> {
        if number >= self.all_tasks() {
            let limit = format!("0 to {}", self.all_tasks() - 1);
            return refuse("task", number, limit);
        }
        let tasks = u64::from(self.tasks());
        Ok(Task {
            step: Step::ALL[(number / tasks) as usize],
            number: (number % tasks) as u32,
        })
    }

    fn number(&self, task: Task) -> u64 {
        u64::from(self.tasks()) * task.step as u64 + u64::from(task.number)
    }

    fn origin(&self, task: Task) -> rows::Origin {
        rows::Origin {
            plan: self.digest,
            task: self.number(task),
            places: self.tasks(),
        }
    }

    fn path(&self, task: Task) -> PathBuf {
        let name = format!("{:05}.rows", task.number);
        self.exchange.join(task.step.directory()).join(name)
    }

    fn open(&self, task: Task) -> Result<rows::File> {
        rows::File::open(&self.path(task), self.origin(task))
    }

    /// The inputs where they are on this machine, or as they were given. Those in stores are not
    /// looked at: they are when they are opened.
    fn inputs(&self, as_given: bool) -> Result<Inputs> {
        let path = self.exchange.join(INPUTS);
        let bytes = disk::read_all(&path)?;
        let found = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&bytes));
        if found != self.written.list {
            let what = "checksum of the list of inputs";
            return Err(Error::corrupt(path, what).expected(&self.written.list, found));
        }
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        let files = lines.map(|line| {
            let Line { entry, odd } = serde_json::from_slice(line).map_err(|error| {
                Error::corrupt(&path, "list of inputs").expected("an input on a line", error)
            })?;
            let input = match as_given || remote::is_address(Path::new(&entry.path)) {
                true => InputFile::of_entry(&entry, Path::new(&entry.path), None),
                false => again::listed(&entry)?,
            };
            Ok(InputFile {
                odd_path: odd,
                ..input
            })
        });
        Ok(Inputs {
            files: files.collect::<Result<_>>()?,
            skipped: self.written.skipped,
            need_documents: self.written.need_documents,
        })
    }

    /// The tasks of a step that are done.
    fn done(&self, step: Step) -> Result<BTreeSet<u32>> {
        let names = names(&self.exchange.join(step.directory()))?;
        let numbers = names.iter().filter_map(|name| {
            let number = name.strip_suffix(".rows")?.parse().ok()?;
            (number < self.tasks()).then_some(number)
        });
        Ok(numbers.collect())
    }

    /// The numbers of the tasks of a step that are not done.
    fn missing(&self, step: Step) -> Result<Vec<u64>> {
        let done = self.done(step)?;
        let missing = (0..self.tasks()).filter(|number| !done.contains(number));
        let number = |number| self.number(Task { step, number });
        Ok(missing.map(number).collect())
    }

    /// How far each step is.
    ///
    /// # Errors
    /// `Io`.
    pub fn state(&self) -> Result<Vec<StepState>> {
        let mut states: Vec<StepState> = Vec::new();
        for step in Step::ALL {
            let missing = self.missing(step)?;
            let is_done = |step: &Step| states[*step as usize].missing.is_empty();
            let ready = step.sources().iter().all(is_done);
            let (first, last) = (0, self.tasks() - 1);
            let number = |number| self.number(Task { step, number });
            states.push(StepState {
                step: step.name(),
                first: number(first),
                last: number(last),
                done: u64::from(self.tasks()) - missing.len() as u64,
                missing,
                ready,
            });
        }
        Ok(states)
    }

    /// Refuses a step of which tasks are missing. Waits for them for some time.
    fn need(&self, steps: &[Step], wait: Duration, context: &Context<'_>) -> Result<()> {
        let begun = Instant::now();
        for &step in steps {
            let mut pause = LOOK_EVERY[0];
            loop {
                let missing = self.missing(step)?;
                if missing.is_empty() {
                    break;
                }
                if begun.elapsed() >= wait {
                    return Err(Error::TasksMissing {
                        exchange: self.exchange.clone(),
                        step: step.name(),
                        missing: ranges(&missing),
                        count: missing.len() as u64,
                    });
                }
                if pause == LOOK_EVERY[0] {
                    let (number, which) = (missing.len() as u64, ranges(&missing));
                    let number = counted(number, "task");
                    let line = format!("waiting for {number} of the step {step}: {which}");
                    context.progress.note(&line);
                }
                let next = Instant::now() + pause.min(wait.saturating_sub(begun.elapsed()));
                pause = (pause * 2).min(LOOK_EVERY[1]);
                while Instant::now() < next {
                    context.stop.check(STAGE)?;
                    std::thread::sleep(Duration::from_millis(50));
                }
            }
        }
        Ok(())
    }
}

fn digest_of(bytes: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(bytes)
}

/// Numbers in ascending order as ranges, the first of them.
pub fn ranges(numbers: &[u64]) -> String {
    const MOST: usize = 8;
    let mut text = Vec::new();
    for range in numbers.chunk_by(|a, b| a + 1 == *b) {
        text.push(match range {
            [one] => one.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => continue,
        });
    }
    if text.len() > MOST {
        text.truncate(MOST);
        text.push("...".into());
    }
    text.join(", ")
}

/// The names of the files of a directory, or of the objects below an address.
fn names(path: &Path) -> Result<Vec<String>> {
    if !remote::is_address(path) {
        return match disk::exists(path)? {
            true => disk::list(path),
            false => Ok(Vec::new()),
        };
    }
    let below = path.join("");
    match remote::list(&below) {
        Ok(objects) => {
            let names = objects.iter().filter_map(|(object, _)| object.file_name());
            Ok(names.map(|name| name.to_string_lossy().into()).collect())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error).map_err(Error::io("list", path)),
    }
}

/// Whether there is anything in a directory or below an address but a list of inputs, which a plan
/// begins with.
fn is_taken(exchange: &Path) -> Result<bool> {
    Ok(names(exchange)?.iter().any(|name| name != INPUTS))
}

/// A file of the exchange that is being written. Several processes may write the same one at the
/// same time, so on a disk each writes below a name of its own.
struct Leaving {
    out: AtomicFile,
    path: PathBuf,
    /// Where it is until it is complete; `None` for an object of a store.
    place: Option<(Scratch, PathBuf)>,
}

impl Leaving {
    fn create(path: &Path) -> Result<Leaving> {
        let place = match (remote::is_address(path), path.parent()) {
            (false, Some(parent)) => {
                disk::create_lasting_directory(parent)?;
                let scratch = Scratch::within(match parent.as_os_str().is_empty() {
                    true => Path::new("."),
                    false => parent,
                })?;
                let place = scratch.path().join("file");
                Some((scratch, place))
            }
            _ => None,
        };
        let out = AtomicFile::create(place.as_ref().map_or(path, |(_, place)| place))?;
        Ok(Leaving {
            out,
            path: path.into(),
            place,
        })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.put(bytes)
    }

    fn finish(self) -> Result<()> {
        self.out.finish()?;
        if let Some((_, place)) = &self.place {
            disk::rename(place, &self.path)?;
            disk::sync_parent(&self.path)?;
        }
        Ok(())
    }
}

/// Copies a file to a place where it appears complete or not at all.
fn copy(from: &Path, to: &Path, context: &Context<'_>) -> Result<()> {
    let mut out = Leaving::create(to)?;
    out.out.put_file(from, || context.stop.check(STAGE))?;
    out.finish()
}

/// Does a task, unless it is done. If the tasks that it needs are not done, waits for them for some
/// time.
///
/// # Errors
/// `TasksMissing`; `BadParameter`; `BudgetTooSmall`; `Corrupt`; `InputChanged`; `Io`.
pub fn run(plan: &Plan, number: u64, wait: Duration, context: &Context<'_>) -> Result<Ran> {
    let task = plan.task(number)?;
    let mut ran = Ran {
        task: number,
        step: task.step.name(),
        outcome: Outcome::Already,
        bytes_read: 0,
        bytes_left: 0,
    };
    if disk::exists(&plan.path(task))? {
        match plan.open(task) {
            // What another plan or a broken disk left is written again.
            Err(Error::Corrupt { .. }) => {}
            other => return other.map(|_| ran),
        }
    }
    ran.outcome = Outcome::Done;
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
    Ok(ran)
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
    context.start(task.step.name(), Unit::Count("files"), Some(total));
    let (mut bytes, mut documents) = (0, 0u64);
    for (done, source) in files.into_iter().enumerate() {
        context.progress.at(done as u64);
        let file = plan.open(source)?;
        if source.step == Step::Read {
            let largest = file.facts::<read::Facts>()?.largest;
            let least = LEAST_BYTES + largest.saturating_mul(FINGERPRINT_BYTES);
            let what = || format!("a document of {}", counted(largest, "fingerprint"));
            context.budget.require(least, what)?;
        }
        bytes += file.bytes(task.number);
        file.each(task.number, context.stop, |blob| {
            documents = documents.saturating_add(documents_in(blob));
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
        Step::Results => Box::new(Results {
            stage: PartResults::new(&config),
            found: Vec::new(),
            blob: Vec::new(),
        }),
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

/// Bytes of pairs in a row of the last step.
const RESULT_BYTES: usize = 1 << 20;

/// The last step, whose rows are pairs, all of one place.
struct Results {
    stage: PartResults,
    found: Vec<Found>,
    blob: Vec<u8>,
}

impl Results {
    fn send(&mut self, all: bool, out: &mut Vec<Row>) {
        let found = self.found.drain(..);
        found.for_each(|pair| pair.put(&mut self.blob));
        if self.blob.len() >= RESULT_BYTES || all && !self.blob.is_empty() {
            let blob = std::mem::take(&mut self.blob);
            out.push(Row { place: 0, blob });
        }
    }
}

impl Stage for Results {
    fn take(&mut self, _: u32, blob: &[u8], out: &mut Vec<Row>) -> Result<()> {
        self.stage.take(blob, &mut self.found)?;
        self.send(false, out);
        Ok(())
    }

    fn step(&mut self, out: &mut Vec<Row>) -> Result<bool> {
        let more = self.stage.step(&mut self.found)?;
        self.send(!more, out);
        Ok(more)
    }
}

/// The name of a document: the task that read it, its number in the share, and its docno if the
/// plan wants only pairs. As bytes, names are in the order of the inputs.
fn document_name(task: u32, number: u64, docno: &str, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&task.to_be_bytes());
    out.extend_from_slice(&number.to_be_bytes());
    out.extend_from_slice(docno.as_bytes());
}

/// What [`document_name`] wrote: the task, the number, and the docno.
fn named_document(name: &[u8]) -> Option<(u32, u64, &str)> {
    let (task, rest) = name.split_first_chunk()?;
    let (number, docno) = rest.split_first_chunk()?;
    let docno = std::str::from_utf8(docno).ok()?;
    Some((
        u32::from_be_bytes(*task),
        u64::from_be_bytes(*number),
        docno,
    ))
}

/// The number of a document among all: 64 bits, whatever the number of documents.
fn number_of(bases: &[u64], task: u32, number: u64) -> Option<u64> {
    let next = bases.get(task as usize + 1)?;
    let all = bases.get(task as usize)?.checked_add(number)?;
    (all < *next).then_some(all)
}

/// Says what a plan is, for people.
pub fn summary(plan: &Plan) -> Result<String> {
    let (inputs, bytes) = plan.inputs_and_bytes()?;
    Ok(format!(
        "{} of {} inputs ({}), {} in each of {} steps",
        counted(plan.all_tasks(), "task"),
        count(inputs),
        crate::base::byte_size::ByteSize(bytes),
        count(u64::from(plan.tasks())),
        Step::ALL.len(),
    ))
}
