//! Where a command runs.

use std::ffi::OsString;
use std::io::IsTerminal;

use clap::ValueEnum;

use lookalike_base::{Progress, Result, Stop};

use super::json_lines::JsonLines;
use super::progress::{Terminal, columns_of};
use super::signals;

/// Where a command runs: it takes the results, shows the progress, and stops the command.
pub trait Host: Sync {
    /// Takes a result that is in no file. A terminal gets escapes in place of control characters.
    fn say(&self, text: &str) -> Result<()>;
    /// Takes a result unchanged: escape sequences in it are the program's own.
    fn show(&self, text: &str) -> Result<()> {
        self.say(text)
    }
    /// The number of columns, if results go to a terminal.
    fn columns(&self) -> Option<usize> {
        None
    }
    /// The arguments of this process, if it is the command's own: another program may take its place.
    fn arguments(&self) -> Option<Vec<OsString>> {
        None
    }
    /// The request to stop. A command calls this once, before it begins.
    fn stop(&self) -> Stop;
    /// The receiver of progress reports of these stages; with `quiet`, none of them is shown.
    fn progress(&self, quiet: bool, stages: &'static [&'static str]) -> Box<dyn Progress + '_>;
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the text would be help")]
pub enum ProgressForm {
    // For people.
    Auto,
    // For programs.
    Json,
}

/// A process of its own: results go to standard output, progress to standard error, and signals
/// stop the command.
pub(crate) struct Process(pub ProgressForm);

impl Host for Process {
    fn say(&self, text: &str) -> Result<()> {
        super::say(text)
    }

    fn show(&self, text: &str) -> Result<()> {
        super::print(text.as_bytes())
    }

    fn columns(&self) -> Option<usize> {
        let out = std::io::stdout();
        out.is_terminal().then(|| columns_of(&out))
    }

    fn arguments(&self) -> Option<Vec<OsString>> {
        Some(std::env::args_os().skip(1).collect())
    }

    fn stop(&self) -> Stop {
        let stop = Stop::default();
        signals::watch(&stop);
        stop
    }

    fn progress(&self, quiet: bool, stages: &'static [&'static str]) -> Box<dyn Progress + '_> {
        match self.0 {
            ProgressForm::Auto => Box::new(Terminal::new(quiet, stages)),
            ProgressForm::Json => Box::new(JsonLines::new(super::tell)),
        }
    }
}
