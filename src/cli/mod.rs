//! The command line: arguments to configuration, one library call, what it returns to the terminal.
//!
//! Results go to standard output, everything else to standard error. Exit status: 0 done, 1 failed,
//! 2 wrong usage, 130 interrupted (resumable).

mod args;
mod inspect;
mod progress;
mod run;
mod status;
mod verify;

use std::process::ExitCode;

use clap::Parser;
use lookalike::Error;

use args::{Arguments, Command};

/// Exit status of a run that was stopped by a signal and can be resumed.
const INTERRUPTED: u8 = 130;

/// Runs the command of this process.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.command {
        Command::Run(options) => run::run(&options),
        Command::Ingest(options) => run::ingest(&options),
        Command::Join(options) => run::join(&options),
        Command::Cluster(options) => run::cluster(&options),
        Command::Status(options) => status::run(&options),
        Command::Inspect(options) => inspect::run(&options),
        Command::Verify(options) => verify::run(&options),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            report(&error);
            match error {
                Error::Interrupted { .. } => ExitCode::from(INTERRUPTED),
                Error::BadParameter { .. } => ExitCode::from(2),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// An error, its causes and its remedy.
fn report(error: &Error) {
    eprintln!("error: {error}");
    if let Some(help) = error.help() {
        eprintln!("  help: {help}");
    }
}
