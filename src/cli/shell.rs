//! `completions` and `man`: what a shell and `man` read.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;
use lookalike::store::disk;
use lookalike::{Error, Result};

use super::commands::described;

/// Options of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsOptions {
    /// Shell: bash, elvish, fish, powershell or zsh
    #[arg(hide_possible_values = true)]
    shell: Shell,
}

/// Options of `man`.
#[derive(Debug, Args)]
pub struct ManOptions {
    /// Directory for the pages, which is created if it is missing
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub fn completions(options: &CompletionsOptions) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut described(), "lookalike", &mut script);
    super::say(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

pub fn man(options: &ManOptions) -> Result<ExitCode> {
    let directory = &options.directory;
    disk::create_directory(directory)?;
    clap_mangen::generate_to(described(), directory).map_err(Error::io("write", directory))?;
    Ok(ExitCode::SUCCESS)
}
