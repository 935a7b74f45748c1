//! The Python module `lookalike._native`: the commands of lookalike, run in the Python process.
//!
//! A command runs on a thread of its own without the interpreter's lock. The calling thread wakes
//! up every 100 ms: it passes progress on, and asks Python whether Ctrl-C was pressed.

mod arrow;
mod distributed;
mod functions;
mod memory;
mod results;

use std::collections::VecDeque;
use std::error::Error as _;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::ArgAction;
use clap::error::{ContextKind, ContextValue};
use lookalike::base::progress::{Progress, Stop, Unit};
use lookalike::base::utf8::without_secrets;
use lookalike::cli::{self, Failure, Host};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

use crate::arrow::Table;

create_exception!(
    lookalike,
    Error,
    PyException,
    "A failure. It has `path`, `offset` (bytes) and `help`, each a value or None."
);

/// How often the calling thread wakes up.
const EVERY: Duration = Duration::from_millis(100);
/// The most reports that wait for the calling thread. Of more, the oldest are dropped.
const MOST_REPORTS: usize = 1024;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A progress report of a command.
#[derive(Clone, Debug)]
enum Report {
    Start {
        stage: &'static str,
        unit: &'static str,
        total: Option<u64>,
    },
    End(String),
    Note(String),
}

/// The state that the calling thread and the thread of the command share.
#[derive(Default)]
struct Shared {
    stop: Stop,
    output: Mutex<String>,
    reports: Mutex<VecDeque<Report>>,
    /// Warnings, and remarks that a part of the input was not read.
    warnings: Mutex<Vec<String>>,
    /// Work done in the stage that runs.
    done: Mutex<u64>,
    ended: Mutex<bool>,
    wake: Condvar,
}

impl Shared {
    fn report(&self, report: Report) {
        let mut reports = locked(&self.reports);
        if reports.len() == MOST_REPORTS {
            reports.pop_front();
        }
        reports.push_back(report);
    }
}

impl Host for Shared {
    fn say(&self, text: &str) -> lookalike::Result<()> {
        locked(&self.output).push_str(text);
        Ok(())
    }

    fn stop(&self) -> Stop {
        self.stop.clone()
    }

    fn progress(&self, _quiet: bool, _stages: &[&str]) -> Box<dyn Progress + '_> {
        Box::new(Reports(self))
    }
}

struct Reports<'s>(&'s Shared);

impl Progress for Reports<'_> {
    fn start(&self, stage: &'static str, unit: Unit, total: Option<u64>) {
        let unit = match unit {
            Unit::Bytes => "bytes",
            Unit::Count(what) => what,
        };
        *locked(&self.0.done) = 0;
        self.0.report(Report::Start { stage, unit, total });
    }

    fn at(&self, done: u64) {
        *locked(&self.0.done) = done;
    }

    fn end(&self, line: &str) {
        self.0.report(Report::End(line.into()));
    }

    fn note(&self, line: &str) {
        self.0.report(Report::Note(line.into()));
        if line.starts_with("warning: ") {
            locked(&self.0.warnings).push(line.into());
        }
    }

    fn lost(&self, line: &str) {
        self.note(line);
        let mut warnings = locked(&self.0.warnings);
        if warnings.last().is_none_or(|last| last != line) {
            warnings.push(line.into());
        }
    }
}

/// Sets `ended` and wakes the calling thread, also when the thread panics.
struct Ending(Arc<Shared>);

impl Drop for Ending {
    fn drop(&mut self) {
        *locked(&self.0.ended) = true;
        self.0.wake.notify_all();
    }
}

/// Passes reports to a Python callable, as `(event, stage, unit, done, total, text)`.
struct Listener<'p> {
    callable: Option<Bound<'p, PyAny>>,
    stage: Option<(&'static str, &'static str, Option<u64>)>,
    reported: u64,
}

impl Listener<'_> {
    fn pass(&mut self, shared: &Shared) -> PyResult<()> {
        let Some(callable) = &self.callable else {
            return Ok(());
        };
        let reports: Vec<Report> = locked(&shared.reports).drain(..).collect();
        for report in reports {
            match report {
                Report::Start { stage, unit, total } => {
                    self.stage = Some((stage, unit, total));
                    self.reported = 0;
                    callable.call1(("start", stage, unit, 0, total, None::<&str>))?;
                }
                Report::End(text) => {
                    let stage = self.stage.take();
                    let (name, unit, total) = stage
                        .map_or((None, None, None), |(name, unit, total)| {
                            (Some(name), Some(unit), total)
                        });
                    callable.call1(("end", name, unit, total, total, Some(text)))?;
                }
                Report::Note(text) => {
                    let none = None::<&str>;
                    callable.call1(("note", none, none, none, none, Some(text)))?;
                }
            }
        }
        let done = *locked(&shared.done);
        if let (Some((stage, unit, total)), true) = (self.stage, done > self.reported) {
            self.reported = done;
            callable.call1(("progress", stage, unit, done, total, None::<&str>))?;
        }
        Ok(())
    }
}

/// Runs a command and returns the text that it would print.
#[pyfunction]
#[pyo3(signature = (arguments, progress=None))]
fn command(
    py: Python<'_>,
    arguments: Vec<PathBuf>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let shared = Arc::new(Shared::default());
    let ending = Ending(Arc::clone(&shared));
    let thread = std::thread::Builder::new().spawn(move || {
        let shared = &ending.0;
        cli::execute(arguments.into_iter().map(PathBuf::into), &**shared)
    })?;
    let mut listener = Listener {
        callable: progress,
        stage: None,
        reported: 0,
    };
    let mut raised = None;
    loop {
        let ended = py.detach(|| {
            let ended = locked(&shared.ended);
            let waited = shared
                .wake
                .wait_timeout_while(ended, EVERY, |ended| !*ended);
            *waited.unwrap_or_else(PoisonError::into_inner).0
        });
        if raised.is_none() {
            let checked = py.check_signals().and_then(|()| listener.pass(&shared));
            raised = checked.inspect_err(|_| shared.stop.request()).err();
        }
        if ended {
            break;
        }
    }
    let done = py.detach(|| thread.join());
    if let Some(raised) = raised {
        return Err(raised);
    }
    let warnings = std::mem::take(&mut *locked(&shared.warnings));
    if listener.callable.is_none() && !warnings.is_empty() {
        let warned = py.import("lookalike._progress")?.getattr("warned")?;
        warned.call1((warnings,))?;
    }
    match done {
        Ok(Ok(())) => Ok(std::mem::take(&mut *locked(&shared.output))),
        Ok(Err(Failure::Usage(error))) => Err(PyValueError::new_err(usage(&error))),
        Ok(Err(Failure::Failed(error))) => Err(raise(py, &error)),
        Err(_) => Err(Error::new_err("the thread of the command panicked")),
    }
}

/// The error in the arguments of a call. The message of the command line names the parameter in place
/// of the flag and omits the advice for a shell.
fn usage(error: &clap::Error) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let flag = text(ContextKind::InvalidArg).and_then(|flag| flag.strip_prefix("--"));
    let value = text(ContextKind::InvalidValue);
    if let (Some(flag), Some(value), Some(why)) = (flag, value, error.source()) {
        let name = flag.split(['=', ' ']).next().unwrap_or(flag);
        return format!("{}={value}: {why}", name.replace('-', "_"));
    }
    let message = error.render().to_string();
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let advice = ["\n\nUsage:", "\n\nFor more information"];
    let ends = advice.iter().filter_map(|advice| message.find(advice));
    let end = ends.min().unwrap_or(message.len());
    message[..end].trim_end().to_string()
}

/// A message that begins with a flag, with the parameter in its place.
fn of_parameter(text: String) -> String {
    let Some((flag, rest)) = text
        .strip_prefix("--")
        .and_then(|text| text.split_once(' '))
    else {
        return text;
    };
    format!("{} {rest}", flag.replace('-', "_"))
}

/// An error of the library as a Python exception.
fn raise(py: Python<'_>, error: &lookalike::Error) -> PyErr {
    use lookalike::Error::{BadParameter, Interrupted, Remote};
    let text = without_secrets(&error.to_string()).into_owned();
    let raised = match error {
        Interrupted { .. } => PyKeyboardInterrupt::new_err(text),
        BadParameter { .. } | Remote { .. } => PyValueError::new_err(of_parameter(text)),
        _ => Error::new_err(text),
    };
    let value = raised.value(py);
    let path = error.path().map(|path| path.to_path_buf());
    let set = value
        .setattr("path", path)
        .and_then(|()| value.setattr("offset", error.offset_bytes()))
        .and_then(|()| value.setattr("help", error.help()));
    set.err().unwrap_or(raised)
}

/// The flags of a command: name, whether it takes a value, whether it can be repeated, its default
/// values, and its first line of help.
type Flag = (String, bool, bool, Vec<String>, String);

/// The flags of a command, without those that every command has.
#[pyfunction]
fn flags(name: &str) -> PyResult<Vec<Flag>> {
    let mut commands = cli::described::<cli::Commands>();
    commands.build();
    let command = commands
        .find_subcommand(name)
        .ok_or_else(|| PyValueError::new_err(format!("there is no command {name}")))?;
    let flags = command.get_arguments().filter_map(|argument| {
        let long = argument.get_long()?;
        let several = matches!(argument.get_action(), ArgAction::Append);
        let defaults = argument.get_default_values().iter();
        Some((
            long.to_string(),
            argument.get_action().takes_values(),
            several,
            defaults
                .map(|value| value.to_string_lossy().into_owned())
                .collect(),
            argument
                .get_help()
                .map(ToString::to_string)
                .unwrap_or_default(),
        ))
    });
    Ok(flags.collect())
}

/// A result file of a directory as a table: pairs, clusters, documents, exact_duplicates, rejects or review.
#[pyfunction]
fn table(py: Python<'_>, directory: PathBuf, name: &str) -> PyResult<Table> {
    let of = name.parse().map_err(PyValueError::new_err::<String>)?;
    results::table(directory, of).map_err(|error| raise(py, &error))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<Error>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(flags, module)?)?;
    module.add_function(wrap_pyfunction!(table, module)?)?;
    module.add_function(wrap_pyfunction!(functions::tokens, module)?)?;
    module.add_function(wrap_pyfunction!(functions::shingles, module)?)?;
    module.add_function(wrap_pyfunction!(functions::fingerprints, module)?)?;
    module.add_function(wrap_pyfunction!(functions::score, module)?)?;
    module.add_class::<Table>()?;
    module.add_class::<arrow::Batches>()?;
    module.add_function(wrap_pyfunction!(arrow::wrapped, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::column, module)?)?;
    module.add_class::<memory::Spool>()?;
    module.add_function(wrap_pyfunction!(distributed::check_job, module)?)?;
    module.add_function(wrap_pyfunction!(distributed::fields_of, module)?)?;
    module.add_function(wrap_pyfunction!(memory::fields_of_condition, module)?)?;
    module.add_function(wrap_pyfunction!(distributed::values_of, module)?)?;
    module.add_class::<distributed::IntakeTask>()?;
    module.add_class::<distributed::StageTask>()?;
    module.add_class::<distributed::ResultsTask>()?;
    module.add_class::<distributed::GraphTask>()?;
    Ok(())
}
