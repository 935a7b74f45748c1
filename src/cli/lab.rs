//! `lab`: start the laboratory, which is a program of its own.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use lookalike_base::{Error, Result, refuse};
use lookalike_store::disk;

use super::command::{Run, Setup};
use super::context::Host;

/// The file of the laboratory.
const PROGRAM: &str = "lookalike-lab";

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
    fn main(&self, _: &Setup, host: &dyn Host) -> Result<ExitCode> {
        let Some(given) = host.arguments() else {
            return refuse("COMMAND", "lab", "a host has no program in its place");
        };
        // Flags that every command has may stand before it.
        let before = given.len().saturating_sub(self.arguments.len());
        let before = given[..before]
            .iter()
            .filter(|word| word.as_os_str() != "lab");
        start(&before.chain(&self.arguments).collect::<Vec<_>>())
    }
}

/// Replaces this process by the laboratory. It lies beside this program or on the path, but in no
/// directory that depends on where the user is.
fn start(arguments: &[&OsString]) -> Result<ExitCode> {
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
