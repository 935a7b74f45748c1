//! A command: its limits, its work, and how its result is printed.

use std::path::Path;
use std::process::ExitCode;

use clap::ArgMatches;
use clap::parser::ValueSource;
use serde::Serialize;

use crate::facade::Resources;
use crate::report::terminal::wrapped;
use lookalike_base::{Disk, Error, Progress, byte_size::ByteSize, flag_word, memory};
use lookalike_store::remote;
use lookalike_text::read::Converter;

use super::context::Host;

// Every command needs these beside the types here.
pub use clap::Args;
pub use lookalike_base::Result;
pub use lookalike_base::progress::Context;

/// A command that calls the library under limits. Its type has its options.
pub trait Command {
    /// The stages that its progress numbers, in order; empty for a single one.
    fn stages(&self) -> &'static [&'static str] {
        &[]
    }

    /// Does the work and prints the result.
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()>;
}

/// Anything that the first argument can name: a [`Command`], or a command without limits.
pub trait Run {
    /// Runs it.
    fn main(&self, setup: &Setup, host: &dyn Host) -> Result<ExitCode>;
}

impl<C: Command> Run for C {
    fn main(&self, setup: &Setup, host: &dyn Host) -> Result<ExitCode> {
        let progress = host.progress(setup.silent, self.stages());
        let stop = host.stop();
        remote::wait_until(&stop);
        let mut context = setup.limits.context(&stop, &*progress)?;
        memory::begin(context.budget.memory);
        let reserved = remote::reserve(context.budget.memory.0);
        let whole = context.budget;
        context.budget = whole.without(reserved);
        let out = &Out {
            host,
            progress: &*progress,
            setup,
        };
        self.run(out, &context).map_err(|error| match error {
            Error::BudgetTooSmall {
                least,
                what,
                instead,
                ..
            } if reserved > 0 => Error::BudgetTooSmall {
                given: whole.memory,
                least: ByteSize(remote::with_reserve(least.0)).round_up(),
                what,
                instead,
            },
            // A wait for a store was stopped.
            Error::Io {
                ref source,
                operation,
                ..
            } if remote::is_stop(source) => Error::Interrupted {
                stage: match operation == "write" {
                    true => "write",
                    false => "read",
                },
            },
            error => error,
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The values of the flags that many commands have.
#[derive(Debug, Default)]
pub struct Setup {
    pub(super) limits: Resources,
    /// Print no result that is also in a file.
    quiet: bool,
    /// Show no progress. A command that only prints a result has no flag for it.
    silent: bool,
    /// Print JSON, for programs.
    pub(super) json: bool,
    /// The flags under the heading *Reading* as they were given, for a command to suggest.
    pub(super) reading: String,
    /// Whether the command line has a threshold.
    pub(super) has_threshold: bool,
}

impl Setup {
    /// The flags that are given to a command. Without one for it, a command runs on one thread, and
    /// writes little to the disk.
    pub(super) fn of(command: &clap::Command, given: &ArgMatches) -> Setup {
        let has = |id: &str| command.get_arguments().any(|arg| arg.get_id() == id);
        let is_set = |id: &str| has(id) && given.get_flag(id);
        let runs_stages = has("ignore_disk_space");
        let programs = given.try_get_many("convert").ok().flatten();
        let programs = programs.into_iter().flatten().map(Converter::given);
        Setup {
            limits: Resources {
                memory: value(given, "memory"),
                threads: match has("threads") {
                    true => value(given, "threads"),
                    false => Some(1),
                },
                disk: match runs_stages && !is_set("ignore_disk_space") {
                    true => Disk::Available,
                    false => Disk::Unchecked,
                },
                scratch: value(given, "scratch").filter(|_| runs_stages),
                programs: programs.collect(),
            },
            quiet: is_set("quiet"),
            silent: is_set("quiet") || !has("quiet"),
            json: is_set("json"),
            reading: reading(command, given),
            has_threshold: has("threshold")
                && given.value_source("threshold") == Some(ValueSource::CommandLine),
        }
    }
}

/// The flags of the heading *Reading* that the command line has.
fn reading(command: &clap::Command, given: &ArgMatches) -> String {
    let reading = |arg: &&clap::Arg| arg.get_help_heading() == Some("Reading");
    let each = command.get_arguments().filter(reading).flat_map(|arg| {
        let id = arg.get_id().as_str();
        let is_given = given.value_source(id) == Some(ValueSource::CommandLine);
        let values = given.get_raw(id).into_iter().flatten();
        let flag = format!(" --{}", arg.get_long().unwrap_or_default());
        let takes = arg.get_action().takes_values();
        values
            .filter(move |_| is_given)
            .map(move |value| match takes {
                true => flag_word(&flag, &value.to_string_lossy()),
                false => flag.clone(),
            })
    });
    each.collect()
}

/// The value of a flag, if the command has it and it is given.
fn value<T: Clone + Send + Sync + 'static>(given: &ArgMatches, id: &str) -> Option<T> {
    given.try_get_one(id).ok().flatten().cloned()
}

/// Takes the result of a command.
pub struct Out<'h> {
    /// Where the command runs.
    pub(crate) host: &'h dyn Host,
    pub(super) progress: &'h dyn Progress,
    pub(super) setup: &'h Setup,
}

/// The most columns of a table or a paragraph: wider ones are not easier to read.
const WIDTH: usize = 100;

impl Out<'_> {
    /// Prints without running into the progress on the same terminal.
    fn aside(&self, print: impl Fn() -> Result<()>) -> Result<()> {
        let mut printed = Ok(());
        self.progress.aside(&mut || printed = print());
        printed
    }

    /// As [`Host::say`].
    pub(super) fn say(&self, text: &str) -> Result<()> {
        self.aside(|| self.host.say(text))
    }

    /// As [`Host::show`].
    pub(super) fn show(&self, text: &str) -> Result<()> {
        self.aside(|| self.host.show(text))
    }

    /// The columns for tables and paragraphs.
    pub fn columns(&self) -> usize {
        self.host.columns().unwrap_or(WIDTH).min(WIDTH)
    }

    /// Prints a result that is also in a file: as JSON, or the text for people.
    pub fn result(
        &self,
        result: &impl Serialize,
        text: impl FnOnce() -> Result<String>,
    ) -> Result<()> {
        match self.setup.quiet && !self.setup.json {
            true => Ok(()),
            false => self.answer(result, text),
        }
    }

    /// Prints a result that is also in a file, if `place` is one.
    pub fn found(
        &self,
        place: Option<&Path>,
        result: &impl Serialize,
        text: impl FnOnce() -> Result<String>,
    ) -> Result<()> {
        match place {
            Some(_) => self.result(result, text),
            None => self.answer(result, text),
        }
    }

    /// Prints a result that is in no file.
    pub fn answer(
        &self,
        result: &impl Serialize,
        text: impl FnOnce() -> Result<String>,
    ) -> Result<()> {
        match self.setup.json {
            true => self.say(&super::json(result)?),
            false => self.say(&self.fitted(text()?)),
        }
    }

    /// Prints text for people that is not part of the result in JSON.
    pub fn note(&self, text: impl FnOnce() -> Result<String>) -> Result<()> {
        match self.setup.json || self.setup.quiet {
            true => Ok(()),
            false => self.say(&self.fitted(text()?)),
        }
    }

    /// The text, with sentences wrapped on a terminal. Rows have spaces between their cells, and a
    /// command can be copied as it is.
    fn fitted(&self, text: String) -> String {
        let Some(width) = self.host.columns() else {
            return text;
        };
        let mut out = String::new();
        for line in text.lines() {
            let fits = line.len() <= width || line.contains("  ");
            match fits || line.starts_with("Next: ") {
                true => out += &format!("{line}\n"),
                false => wrapped(line, width, &mut out),
            }
        }
        out
    }
}
