//! A command: its limits, its work, and how its result is printed.

use std::process::ExitCode;

use serde::Serialize;

use crate::facade::Resources;
use crate::report::terminal::wrapped;
use lookalike_base::byte_size::ByteSize;
use lookalike_base::progress::{Context, Progress};
use lookalike_base::{Error, Result, memory};
use lookalike_store::remote;
use lookalike_text::read::Converter;

use super::context::Host;

/// A command that calls the library under limits. Its type has its options.
pub trait Command {
    /// The limits and the form of the output, as the user gave them.
    fn setup(&self) -> Setup;

    /// The stages that its progress numbers, in order; empty for a single one.
    fn stages(&self) -> &'static [&'static str] {
        &[]
    }

    /// Does the work and prints the result.
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()>;
}

/// Anything that the first argument can name: a [`Command`], or one that needs no limits.
pub trait Run {
    /// Runs it.
    fn main(&self, host: &dyn Host) -> Result<ExitCode>;
}

impl<C: Command> Run for C {
    fn main(&self, host: &dyn Host) -> Result<ExitCode> {
        let setup = self.setup();
        let printed = setup.printed;
        let progress = host.progress(printed.quiet, self.stages());
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
            printed,
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

/// The resources that a command may use, and the form of its output.
pub struct Setup {
    pub(crate) limits: Resources,
    /// What it prints.
    pub printed: Printed,
}

impl Setup {
    /// For a command that computes a result without limits, and prints it.
    pub fn printing(json: bool) -> Setup {
        Setup {
            limits: Resources::default(),
            printed: Printed::result(json),
        }
    }

    /// Says whether the result is in no file.
    pub fn always(mut self, always: bool) -> Setup {
        self.printed.always = always;
        self
    }

    /// Allows these programs, whatever directory names them.
    pub fn naming(mut self, programs: &[Converter]) -> Setup {
        self.limits.programs = programs.iter().map(Converter::given).collect();
        self
    }
}

/// What a command prints.
#[derive(Clone, Copy, Debug)]
pub struct Printed {
    /// No progress, and no result that is also in a file.
    pub quiet: bool,
    /// JSON, for programs.
    pub json: bool,
    /// The result is in no file, so it is printed even with `quiet`.
    pub always: bool,
}

impl Printed {
    /// The result alone, without progress.
    pub fn result(json: bool) -> Printed {
        Printed {
            quiet: true,
            json,
            always: true,
        }
    }
}

/// Takes the result of a command.
pub struct Out<'h> {
    /// Where the command runs.
    pub(crate) host: &'h dyn Host,
    pub(super) progress: &'h dyn Progress,
    pub(crate) printed: Printed,
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

    /// Prints the result: as JSON, or the text for people.
    pub fn result(
        &self,
        result: &impl Serialize,
        text: impl FnOnce() -> Result<String>,
    ) -> Result<()> {
        match self.printed.json {
            true => self.say(&super::json(result)?),
            false => self.note(text),
        }
    }

    /// Prints text for people that is not part of the result in JSON.
    pub fn note(&self, text: impl FnOnce() -> Result<String>) -> Result<()> {
        let printed = self.printed;
        match !printed.json && (printed.always || !printed.quiet) {
            true => self.say(&self.fitted(text()?)),
            false => Ok(()),
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
            match fits || line.starts_with("Next: lookalike ") {
                true => out += &format!("{line}\n"),
                false => wrapped(line, width, &mut out),
            }
        }
        out
    }
}
