//! `lab`: start the laboratory, which is a program of its own.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use lookalike_base::error::refuse;
use lookalike_base::{Error, Result};
use lookalike_store::disk;

use super::command::Run;
use super::context::Host;

/// The file of the laboratory.
const PROGRAM: &str = "lookalike-lab";

/// The commands that were of this program, and are now of the laboratory.
const MOVED: [&str; 8] = [
    "method",
    "compare",
    "reproduce",
    "formulas",
    "study",
    "perturb",
    "qrels",
    "transfer",
];

/// Options of `lab`.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct Options {
    /// A command of the laboratory, and its arguments
    #[arg(
        value_name = "ARGUMENTS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    arguments: Vec<OsString>,
}

impl Run for Options {
    fn main(&self, host: &dyn Host) -> Result<ExitCode> {
        let Some(mut arguments) = host.arguments() else {
            return refuse("COMMAND", "lab", "a host has no program in its place");
        };
        // Flags that every command has may stand before it.
        let before = arguments.len().saturating_sub(self.arguments.len());
        let named = arguments.iter().take(before).position(|one| one == "lab");
        arguments.remove(named.unwrap_or(0));
        start(&arguments)
    }
}

/// Starts the laboratory for a command that was moved there.
pub(super) fn moved(word: &str) -> Option<Result<ExitCode>> {
    MOVED.contains(&word).then(|| {
        super::tell(&format!("`lookalike {word}` is now `lookalike lab {word}`"));
        start(&std::env::args_os().skip(1).collect::<Vec<_>>())
    })
}

/// Replaces this process by the laboratory. It lies beside this program or on the path, but in no
/// directory that depends on where the user is.
fn start(arguments: &[OsString]) -> Result<ExitCode> {
    // For the other program it would be open.
    super::said(super::standard_output().map(drop))?;
    let own = std::env::current_exe().ok();
    let own = own.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::split_paths(&path).filter(|place| place.is_absolute());
    let mut all = own.into_iter().chain(path).map(|place| place.join(PROGRAM));
    let is_file = |program: &Path| disk::metadata(program).is_ok_and(|found| found.is_file());
    let Some(program) = all.find(|program| is_file(program)) else {
        let limit = format!(
            "`{PROGRAM}` is not installed; `cargo install --path crates/lab` installs it from the sources"
        );
        return refuse("COMMAND", "lab", limit);
    };
    let error = std::process::Command::new(&program).args(arguments).exec();
    Err(error).map_err(Error::io("start", &program))
}
