//! The command line. It turns arguments into a configuration, calls the library once, and prints
//! the result.
//!
//! Each command has a file with its options, whose type is a `Command`: it does the work, and hands
//! its result to `Out`, which prints JSON or text. `flags` has the flags that several commands share, and `commands.rs` the
//! list of commands with their help. All but the commands is also the frame of the laboratory, whose
//! list is another [`Program`].
//!
//! Results go to standard output, everything else to standard error. Exit status: 0 done, 1 failed,
//! 2 wrong usage, 130 interrupted (the same command continues).

mod arguments;
mod checks;
#[doc(hidden)]
pub mod command;
mod commands;
mod contamination;
mod context;
mod dedup;
mod diff;
mod evaluate;
mod exports;
#[doc(hidden)]
pub mod flags;
mod json_lines;
mod lab;
mod passages;
mod plan;
mod progress;
mod query;
mod renamed;
mod report;
mod run;
mod screen;
mod shell;
mod show;
mod signals;
mod tasks;
mod topics;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;

use lookalike_base::{
    Error, command::Command as Bounded, is_deceptive, limits, memory, process, return_freed_memory,
    visible_lines, without_secrets,
};
use lookalike_store::{check_secret, disk, json::pretty, missing, refuse_remote, remote};

use crate::report::page::markup::escaped_json;
use arguments::Arguments;
use context::Process;

pub use arguments::{Program, described};
#[doc(hidden)]
pub use command::{Command, Out, Run, Setup};
pub use commands::Commands;
pub use context::Host;
#[doc(hidden)]
pub use run::ResultFlags;
#[doc(hidden)]
pub use shell::{CompletionsOptions, ManOptions};
#[doc(hidden)]
pub use signals::end_with_parent;
#[doc(hidden)]
pub use topics::about_method;

/// Exit status of a command that a signal stopped. The same command continues it.
const INTERRUPTED: u8 = 130;
/// Exit status after wrong usage.
const USAGE: u8 = 2;

/// Runs the command of a program that the arguments of this process name.
pub fn main<P: Program>() -> ExitCode {
    #[cfg(feature = "faults")]
    if let Ok(text) = std::env::var("LOOKALIKE_FAULTS")
        && let Err(what) = disk::faults::arm_process(&text)
    {
        eprintln!("LOOKALIKE_FAULTS: cannot understand {what}");
        return ExitCode::from(USAGE);
    }
    return_freed_memory();
    if let Some(page) = topics::asked_for_help(std::env::args_os().skip(1)) {
        return ended(say(&page).map(|()| ExitCode::SUCCESS));
    }
    let arguments = match Arguments::<P>::read(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(told) => return usage(&told),
    };
    // By default the system kills a process without a message when a file reaches the limit on file
    // sizes. With a handler, whose flag nothing reads, the write fails and the error is printed.
    let _ = signal_hook::flag::register(
        signal_hook::consts::SIGXFSZ,
        std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)),
    );
    let host = Process(arguments.progress);
    let quiet = |argument: OsString| argument == "-q" || argument == "--quiet";
    let notes = host.progress(std::env::args_os().any(quiet), &[]);
    arguments.renamed.iter().for_each(|line| notes.note(line));
    let done = caught(&arguments, &host);
    ended(done.map_err(|error| named(error, std::env::args_os())))
}

/// Rewords the error if it is about a path that an argument names or contains: a file stands where a
/// directory should be, a name is too long, or nothing has the name.
fn named(error: Error, arguments: impl Iterator<Item = OsString>) -> Error {
    use std::io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    let Error::Io { path, source, .. } = &error else {
        return error;
    };
    let plain = |at: &Path| at.strip_prefix(".").unwrap_or(at).to_path_buf();
    let given = arguments.flat_map(|argument| {
        let text = argument.to_string_lossy();
        let value = text.split_once('=').map(|(_, value)| plain(value.as_ref()));
        [Some(plain(argument.as_ref())), value]
    });
    let (given, path): (Vec<_>, _) = (given.flatten().collect(), plain(path));
    let names = |at: &Path| given.iter().any(|given| given == at);
    let no = |at: &Path, why: &str| Error::parameter("PATH", at.display()).because(why);
    let is_file = |at: &&Path| disk::metadata(at).is_ok_and(|found| !found.is_dir());
    match source.kind() {
        _ if remote::is_address(&path) || !path.ancestors().any(names) => error,
        NotFound if names(&path) => missing(&path),
        NotADirectory => match path.ancestors().find(is_file) {
            Some(file) => no(file, "it is a file, not a directory; give another path"),
            None => error,
        },
        InvalidFilename => no(&path, "it or a name in it is too long; give a shorter one"),
        _ => error,
    }
}

/// Prints the error of a command that failed. Returns its exit status.
fn ended(result: Result<ExitCode, Error>) -> ExitCode {
    result.unwrap_or_else(|error| {
        tell_error(&error);
        match error {
            Error::Interrupted { .. } => ExitCode::from(INTERRUPTED),
            Error::BadParameter { .. } | Error::NoInput { .. } | Error::Remote { .. } => {
                ExitCode::from(USAGE)
            }
            _ => ExitCode::FAILURE,
        }
    })
}

/// Why a command did not come to its end.
#[derive(Debug)]
pub enum Failure {
    /// The arguments are wrong, or ask for help: a message.
    Usage(Box<clap::Error>),
    /// The command failed.
    Failed(Box<Error>),
}

/// Runs a command in this process, for a host. The arguments are the program's, without its name.
///
/// # Errors
/// The arguments name no command or are wrong, or the command failed or panicked.
pub fn execute(
    arguments: impl IntoIterator<Item = OsString>,
    host: &dyn Host,
) -> Result<(), Failure> {
    let given: Vec<OsString> = std::iter::once("lookalike".into())
        .chain(arguments)
        .collect();
    let arguments = Arguments::<Commands>::read(given.iter().cloned());
    let arguments = arguments.map_err(|message| Failure::Usage(Box::new(message)))?;
    match caught(&arguments, host) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::Failed(Box::new(named(error, given.into_iter())))),
    }
}

/// Runs a command. The library turns a panic of a worker thread into an error, and this does so
/// with one of this thread.
fn caught<P: Program>(arguments: &Arguments<P>, host: &dyn Host) -> Result<ExitCode, Error> {
    let addresses = || arguments.addresses.iter();
    addresses().try_for_each(|(path, _)| check_secret(path))?;
    for (path, _) in addresses().filter(|(_, possible)| !possible) {
        refuse_remote(path)?;
    }
    let stores = addresses().map(|(path, _)| path.clone());
    let stores = arguments.stores.allowed(stores.collect())?;
    let main = || {
        remote::begin(!stores.is_empty());
        // Commands without `--memory` need a bound as well.
        let given = arguments.setup.limits.memory;
        memory::begin(given.unwrap_or_else(|| limits::default_memory(1)));
        arguments.stores.configure(stores);
        arguments.command.main(&arguments.setup, host)
    };
    let done = catch_unwind(AssertUnwindSafe(|| Bounded::default().run(main)));
    done.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(Error::Panicked {
            what: "main",
            message: text.unwrap_or_else(|| "no message".into()),
        })
    })
}

/// Prints help and version to standard output, and errors in the arguments to standard error.
fn usage(told: &clap::Error) -> ExitCode {
    let text = told.render();
    if told.use_stderr() {
        use std::io::Write;
        // On a terminal, this keeps the colours.
        let _ = write!(
            anstream::stderr(),
            "{}",
            without_secrets(&text.ansi().to_string())
        );
        return ExitCode::from(USAGE);
    }
    let shown = match std::io::stdout().is_terminal() {
        true => text.ansi().to_string(),
        false => text.to_string(),
    };
    ended(print(shown.as_bytes()).map(|()| ExitCode::SUCCESS))
}

/// Prints a result. Output that is not on a terminal is data and keeps deceptive characters.
fn say(text: &str) -> Result<(), Error> {
    print(visible_lines(text, std::io::stdout().is_terminal()).as_bytes())
}

/// Writes to standard output.
fn print(bytes: &[u8]) -> Result<(), Error> {
    use std::io::Write;
    let _wait = disk::wait();
    said(standard_output().and_then(|mut out| out.write_all(bytes)))
}

/// Standard output. [`std::io::stdout`] reports success if it is closed or open for reading only.
fn standard_output() -> std::io::Result<std::fs::File> {
    if process::stdout_was_closed() {
        let what = "it was closed when the program started";
        return Err(std::io::Error::other(what));
    }
    let out = std::io::stdout().as_fd().try_clone_to_owned()?;
    Ok(out.into())
}

/// The result of writing to standard output. If a reader such as `head` closes the pipe early, that
/// is not an error.
fn said(written: std::io::Result<()>) -> Result<(), Error> {
    match written {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(e).map_err(Error::io("write", "standard output".as_ref()))
        }
        _ => Ok(()),
    }
}

/// Lines as standard error shows them, which logs keep.
fn told(lines: &str) -> String {
    visible_lines(&without_secrets(lines), true).into_owned()
}

/// Prints lines on standard error. If that fails, the command continues, because there is no place
/// left to report the failure.
fn tell(lines: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{}", told(lines));
}

/// A report as JSON.
fn json(report: &impl serde::Serialize) -> Result<String, Error> {
    Ok(plain_json(&pretty(report, "standard output")?))
}

/// Escapes DEL, the control characters above it and deceptive characters in JSON strings. JSON
/// allows them unescaped, but some terminals obey them.
fn plain_json(text: &str) -> String {
    escaped_json(text, |c| {
        matches!(c, '\u{7f}'..='\u{9f}') || is_deceptive(c)
    })
}

/// Prints an error, its causes and its remedy. The first words have the colours of errors in the
/// arguments.
fn tell_error(error: &Error) {
    use std::io::Write;
    let styles = clap::builder::Styles::styled();
    let part = |style: &clap::builder::styling::Style, word: &str, text: &str| {
        let shown = told(text);
        let _ = writeln!(anstream::stderr(), "{style}{word}:{style:#} {shown}");
    };
    // A forged name with a line feed must not begin a line that looks like a message.
    let text = error.to_string().replace('\n', "\\x0a");
    part(styles.get_error(), "error", &text);
    if let Some(help) = error.help() {
        part(styles.get_valid(), "  help", &help);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// JSON for a terminal is the same JSON.
    #[test]
    fn escaped_json_says_the_same() {
        for c in '\0'..=char::MAX {
            let json = serde_json::to_string(&c.to_string()).unwrap();
            let plain = plain_json(&json);
            assert!(!plain.contains(|c: char| c.is_control() || is_deceptive(c)));
            assert_eq!(
                serde_json::from_str::<String>(&plain).unwrap(),
                c.to_string()
            );
        }
    }
}
