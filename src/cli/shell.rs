//! `completions` and `man`: completion scripts and manual pages.

use std::marker::PhantomData;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;
use clap_mangen::Man;
use lookalike_base::{Error, Result};
use lookalike_engine::outputs;
use lookalike_store::disk;

use super::command::Run;
use super::context::Host;
use super::{Program, described};

/// Options of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsOptions<P: Program> {
    /// Shell: bash, elvish, fish, powershell or zsh
    #[arg(hide_possible_values = true)]
    shell: Shell,
    #[arg(skip)]
    program: PhantomData<P>,
}

/// Options of `man`.
#[derive(Debug, Args)]
pub struct ManOptions<P: Program> {
    /// Directory for the pages, which is created if it is missing
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[arg(skip)]
    program: PhantomData<P>,
}

impl<P: Program> Run for CompletionsOptions<P> {
    fn main(&self, host: &dyn Host) -> Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut described::<P>(), P::NAME, &mut script);
        host.say(&String::from_utf8_lossy(&script))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl<P: Program> Run for ManOptions<P> {
    fn main(&self, _: &dyn Host) -> Result<ExitCode> {
        let directory = &self.directory;
        outputs::check_directory("DIR", directory)?;
        disk::create_directory(directory)?;
        let mut command = described::<P>().disable_help_subcommand(true);
        command.build();
        let inner = command
            .get_subcommands()
            .flat_map(clap::Command::get_subcommands);
        // The `help` of commands within a command is none of ours.
        let inner = inner.filter(|command| command.get_name() != "help");
        let all = [&command].into_iter().chain(command.get_subcommands());
        for command in all.chain(inner) {
            let man = Man::new(command.clone());
            let path = directory.join(man.get_filename());
            let mut page = Vec::new();
            man.render(&mut page).map_err(Error::io("write", &path))?;
            // The text after the flags has the same title in every page, so give it the right one.
            let page = String::from_utf8_lossy(&page)
                .replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n")
                .replace(".SH EXTRA\nExit status:\n", ".SH EXIT STATUS\n");
            let mut file = disk::AtomicFile::create(&path)?;
            file.put(page.as_bytes())?;
            file.finish()?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
