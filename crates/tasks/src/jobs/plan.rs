//! The plan: what all tasks have in common, and which of them are done.

use std::collections::BTreeSet;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

use crate::distributed::Config;
use lookalike_base::{
    Context, Error, FingerprintKind, Result, byte_size::ByteSize, count, counted, path_word, refuse,
};
use lookalike_engine::collection::{CollectionConfig, SegmentEntry};
use lookalike_engine::join::{JoinConfig, Pairs};
use lookalike_engine::pipeline::JoinParameters;
use lookalike_engine::sample::Sampling;
use lookalike_rewrite::again;
use lookalike_store::{
    InputEntry, Skipped, check_address, disk, json, received, received::is_part,
    refuse_below_another, remote,
};
use lookalike_text::read::{InputFile, Inputs};

use super::exchange::{Leaving, names, remove_left};
use super::rows::Facts;
use super::steps::{Step, Task};
use super::{COLLECTION, STAGE, rows};

/// The format of a plan.
const FORMAT: u32 = 2;
/// The program; the files of its versions differ.
const PROGRAM: &str = concat!("lookalike ", env!("CARGO_PKG_VERSION"));
const PLAN: &str = "plan.json";
const INPUTS: &str = "inputs.jsonl";
/// The most tasks of a step.
pub(super) const MOST_TASKS: u32 = 10_000;
/// How often a task that waits looks whether its inputs are there: at first, and in the end.
const LOOK_EVERY: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(15)];

/// The parameters that the tasks of a search have in common.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    format: u32,
    /// The program that wrote it.
    program: String,
    /// Tasks of a step.
    tasks: u32,
    pub collection: CollectionConfig,
    pub join: JoinConfig,
    pub sampling: Sampling,
    /// Whether only the pairs are wanted: then the segments stay where they are made, and documents
    /// are called by their docnos as well.
    pub pairs_only: bool,
    pub need_documents: bool,
    skipped: Skipped,
    /// Number of inputs, and the xxh3 of their list.
    #[serde(deserialize_with = "received::count")]
    inputs: u64,
    list: String,
}

/// An input in the list of a plan.
#[derive(Serialize, Deserialize)]
struct InputLine {
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
    pub(super) exchange: PathBuf,
    pub(super) written: Written,
    digest: u128,
}

/// The search to plan.
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
    /// Refuses parameters that tasks do not support.
    fn check(&self) -> Result<()> {
        if !(1..=MOST_TASKS).contains(&self.tasks) {
            return refuse("tasks", self.tasks, format!("1 to {MOST_TASKS}"));
        }
        let (shingle, join) = (&self.collection.shingle, &self.parameters.join);
        if let Some(condition) = &self.collection.condition {
            let limit = "tasks compare texts without their fields; leave --where out";
            return refuse("where", condition, limit);
        }
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
        if let Some(review) = join.review {
            return refuse("review", review, "tasks list the pairs at the threshold");
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
        let is_odd = |input: &&InputFile| input.path.to_str().is_none();
        if let Some(input) = self.inputs.iter().find(is_odd) {
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
    pub(super) fn config(&self, scratch: &Path, memory: u64) -> Config {
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
            rule: None,
        }
    }
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
            remote::check_stop(STAGE)?;
            let line = InputLine {
                entry: input.entry(),
                odd: input.odd_path,
            };
            lines.extend(json::line(&line, exchange.join(INPUTS))?.into_bytes());
        }
        let list = format!("{:016x}", xxh3_64(&lines));
        let path = exchange.join(PLAN);
        let written = planned.written(list);
        let mut bytes = json::pretty(&written, &path)?.into_bytes();
        bytes.push(b'\n');
        match Plan::read(exchange) {
            Ok(there) if there.digest == xxh3_128(&bytes) => return Ok(there),
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
            let limit = "it is not empty; give a new place";
            return refuse("output", exchange.display(), limit);
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
        let bytes = received::read_whole(&path, received::RECORD)?;
        let written: Written = serde_json::from_slice(&bytes).map_err(|error| {
            Error::corrupt(&path, "plan").expected("what `lookalike tasks plan` writes", error)
        })?;
        if (&*written.program, written.format) != (PROGRAM, FORMAT) {
            let by = match written.program == PROGRAM {
                true => "another build of this version",
                false => &written.program,
            };
            let limit = format!("{by} planned it; use that for all tasks, or plan again");
            return refuse("EXCHANGE", exchange.display(), limit);
        }
        if !(1..=MOST_TASKS).contains(&written.tasks) {
            return Err(Error::corrupt(&path, "plan")
                .expected(format!("1 to {MOST_TASKS} tasks"), written.tasks));
        }
        written.config(Path::new("."), 0).check()?;
        Ok(Plan {
            exchange: exchange.into(),
            written,
            digest: xxh3_128(&bytes),
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

    pub(super) fn task(&self, number: u64) -> Result<Task> {
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

    pub(super) fn number(&self, task: Task) -> u64 {
        u64::from(self.tasks()) * task.step as u64 + u64::from(task.number)
    }

    pub(super) fn origin(&self, task: Task) -> rows::Origin {
        rows::Origin {
            plan: self.digest,
            task: self.number(task),
            places: self.tasks(),
        }
    }

    pub(super) fn path(&self, task: Task) -> PathBuf {
        let name = rows_of(task.number);
        self.exchange.join(task.step.directory()).join(name)
    }

    pub(super) fn open(&self, task: Task) -> Result<rows::Rows> {
        rows::Rows::open(&self.path(task), self.origin(task))
    }

    /// The inputs where they are on this machine, or as they were given. Those in stores are not
    /// looked at: they are when they are opened.
    pub(super) fn inputs(&self, as_given: bool) -> Result<Inputs> {
        let path = self.exchange.join(INPUTS);
        let mut lines = BufReader::with_capacity(disk::READ_BUFFER, disk::open(&path)?);
        let (mut line, mut hash, mut files) = (Vec::new(), Xxh3::new(), Vec::new());
        while received::read_line(&mut lines, &mut line, &path)? > 0 {
            hash.update(&line);
            if files.len() as u64 == self.written.inputs {
                let what = format!("{} lines", self.written.inputs);
                return Err(Error::corrupt(path, "list of inputs").expected(what, "more"));
            }
            let InputLine { entry, odd } = serde_json::from_slice(&line).map_err(|error| {
                Error::corrupt(&path, "list of inputs").expected("an input on a line", error)
            })?;
            let input = match as_given || remote::is_address(Path::new(&entry.path)) {
                true => InputFile::of_entry(&entry, Path::new(&entry.path), None),
                false => again::listed(&entry)?,
            };
            files.push(InputFile {
                odd_path: odd,
                ..input
            });
        }
        let found = format!("{:016x}", hash.digest());
        if found != self.written.list {
            let what = "checksum of the list of inputs";
            return Err(Error::corrupt(path, what).expected(&self.written.list, found));
        }
        Ok(Inputs {
            files,
            skipped: self.written.skipped,
            need_documents: self.written.need_documents,
        })
    }

    /// Removes what killed processes left of the files of a task that is done.
    pub(super) fn remove_left(&self, task: Task) -> Result<()> {
        let rows = rows_of(task.number);
        remove_left(&self.exchange.join(task.step.directory()), |of| of == rows)?;
        if task.step == Step::Read {
            let facts: Facts = self.open(task)?.facts()?;
            let parts = facts.segments.iter().flat_map(SegmentEntry::parts);
            let names: BTreeSet<&str> = parts.map(|(_, part)| &*part.name).collect();
            remove_left(&self.exchange.join(COLLECTION), |of| names.contains(of))?;
        }
        Ok(())
    }

    /// The same for all tasks, and for the plan itself.
    pub(super) fn remove_all_left(&self) -> Result<()> {
        for step in Step::ALL {
            let of_task = |of: &str| self.task_of(of).is_some();
            remove_left(&self.exchange.join(step.directory()), of_task)?;
        }
        remove_left(&self.exchange.join(COLLECTION), |of| is_part(of, None))?;
        remove_left(&self.exchange, |of| [PLAN, INPUTS].contains(&of))
    }

    /// The number of the task in its step whose rows are called so.
    fn task_of(&self, name: &str) -> Option<u32> {
        let number = name.strip_suffix(".rows")?.parse().ok()?;
        (number < self.tasks()).then_some(number)
    }

    /// The tasks of a step that are done.
    pub(super) fn done(&self, step: Step) -> Result<BTreeSet<u32>> {
        let names = names(&self.exchange.join(step.directory()))?;
        Ok(names.iter().filter_map(|name| self.task_of(name)).collect())
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
                step: step.text(),
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
    pub(super) fn need(&self, steps: &[Step], wait: Duration, context: &Context<'_>) -> Result<()> {
        let begun = Instant::now();
        for &step in steps {
            let mut pause = LOOK_EVERY[0];
            loop {
                let missing = self.missing(step)?;
                if missing.is_empty() {
                    break;
                }
                if begun.elapsed() >= wait {
                    let exchange = path_word(&self.exchange);
                    let tasks = counted(missing.len() as u64, "task");
                    let help = format!(
                        "run them first; `lookalike tasks status {exchange}` lists what can run, and \
                         `tasks run` waits for others with --wait"
                    );
                    let missing = ranges(&missing);
                    let what = format!(": {tasks} of the step {step} not done: {missing}");
                    return Err(Error::of(&self.exchange, what, help));
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

/// The name of the rows of a task.
fn rows_of(number: u32) -> String {
    format!("{number:05}.rows")
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

/// Describes a plan for people.
pub fn summary(plan: &Plan) -> Result<String> {
    let inputs = plan.inputs(true)?;
    let bytes = inputs.iter().map(InputFile::size).sum();
    Ok(format!(
        "{} of {} inputs ({}), {} in each of {} steps",
        counted(plan.all_tasks(), "task"),
        count(inputs.len() as u64),
        ByteSize(bytes),
        count(u64::from(plan.tasks())),
        Step::ALL.len(),
    ))
}

/// Whether there is anything in a directory or below an address but a list of inputs, which a plan
/// begins with.
fn is_taken(exchange: &Path) -> Result<bool> {
    let is_other = |name: &String| name != INPUTS && !name.starts_with("lookalike-");
    Ok(names(exchange)?.iter().any(is_other))
}
