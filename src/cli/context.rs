//! Sets up signals, progress and budget for calls of the library.

use std::process::ExitCode;

use crate::Result;
use crate::base::progress::{Context, Progress, Stop};
use crate::facade;

use super::commands::ProgressForm;
use super::json_lines::JsonLines;
use super::progress::Terminal;
use super::signals;

/// The resources that a command may use, as the user gave them.
pub struct Resources {
    pub(crate) limits: facade::Resources,
    pub quiet: bool,
}

/// Where a command runs: it takes the results, shows the progress, and stops the command.
pub trait Host: Sync {
    /// Takes a result that goes to no file. A terminal gets escapes in place of control characters.
    fn say(&self, text: &str) -> Result<()>;
    /// Takes a result as it is: escape sequences in it are the program's own.
    fn show(&self, text: &str) -> Result<()> {
        self.say(text)
    }
    /// The number of columns, if results go to a terminal.
    fn columns(&self) -> Option<usize> {
        None
    }
    /// The request to stop. A command calls this once, before it begins.
    fn stop(&self) -> Stop;
    /// The receiver of progress reports; with `quiet`, none of them is shown.
    fn progress(&self, quiet: bool) -> Box<dyn Progress + '_>;
}

/// A process of its own: results go to standard output, progress to standard error, and signals
/// stop the command.
pub struct Process(pub ProgressForm);

impl Host for Process {
    fn say(&self, text: &str) -> Result<()> {
        super::say(text)
    }

    fn show(&self, text: &str) -> Result<()> {
        super::print(text.as_bytes())
    }

    fn columns(&self) -> Option<usize> {
        super::screen::columns()
    }

    fn stop(&self) -> Stop {
        let stop = Stop::default();
        signals::watch(&stop);
        stop
    }

    fn progress(&self, quiet: bool) -> Box<dyn Progress + '_> {
        match self.0 {
            ProgressForm::Auto => Box::new(Terminal::new(quiet)),
            ProgressForm::Json => Box::new(JsonLines::new(super::tell)),
        }
    }
}

/// Calls the library with the host's progress and stop, and with a budget.
pub fn with_context(
    host: &dyn Host,
    resources: &Resources,
    call: impl FnOnce(&Context<'_>) -> Result<ExitCode>,
) -> Result<ExitCode> {
    let progress = host.progress(resources.quiet);
    let stop = host.stop();
    call(&resources.limits.context(&stop, &*progress)?)
}
