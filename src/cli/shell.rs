//! `completions` and `man`: completion scripts and manual pages.

use std::marker::PhantomData;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use lookalike_base::{Error, Result};
use lookalike_engine::outputs;
use lookalike_store::disk;

use super::command::{Run, Setup};
use super::context::Host;
use super::{Program, described, topics};

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

/// How every manual page of this program and of its laboratory begins.
const PAGE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n.TH lookalike";

/// A word that lasts as long as the process, which ends when it has printed the script.
fn lasting(word: &str) -> &'static str {
    word.to_string().leak()
}

/// A command whose flags list the words that they take: the message about another one names them.
fn valued(command: Command) -> Command {
    let command = command.mut_args(|arg| {
        let value = Arg::new("value").value_parser(arg.get_value_parser().clone());
        let reader = Command::new("value").no_binary_name(true).arg(value);
        let read = |word: &str| reader.clone().try_get_matches_from([word]);
        let told = read("no value").map_or_else(|error| error.to_string(), |_| String::new());
        let words = told.split_once("; use ").map_or("", |(_, words)| words);
        let words = words.split(|c: char| !c.is_alphanumeric() && !"-_:".contains(c));
        let words = words.filter(|word| read(word).is_ok()).map(lasting);
        match words.collect::<Vec<_>>() {
            none if none.is_empty() => arg,
            words => arg.value_parser(PossibleValuesParser::new(words)),
        }
    });
    command.mut_subcommands(valued)
}

impl<P: Program> Run for CompletionsOptions<P> {
    fn main(&self, _: &Setup, host: &dyn Host) -> Result<ExitCode> {
        let mut script = Vec::new();
        let command = described::<P>();
        // The pages stand beside the commands that have help.
        let pages = topics::names(&command)
            .map(Command::new)
            .collect::<Vec<_>>();
        let about = |one: &Command| Command::new(lasting(one.get_name()));
        let named = command
            .get_subcommands()
            .map(|of| about(of).subcommands(of.get_subcommands().map(about)));
        let help = Command::new("help").subcommands(named.chain(pages));
        let command = valued(command)
            .disable_help_subcommand(true)
            .subcommand(help);
        let mut command = command.mut_subcommands(|of| of.disable_help_subcommand(true));
        clap_complete::generate(self.shell, &mut command, P::NAME, &mut script);
        host.say(&String::from_utf8_lossy(&script))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl<P: Program> Run for ManOptions<P> {
    fn main(&self, _: &Setup, _: &dyn Host) -> Result<ExitCode> {
        let directory = &self.directory;
        outputs::check_directory("DIR", directory)?;
        let mut command = described::<P>().disable_help_subcommand(true);
        command.build();
        let inner = command
            .get_subcommands()
            .flat_map(clap::Command::get_subcommands);
        // The `help` of commands within a command is none of ours.
        let inner = inner.filter(|command| command.get_name() != "help");
        let all = [&command].into_iter().chain(command.get_subcommands());
        let all = all.chain(inner).map(|command| Man::new(command.clone()));
        let all: Vec<Man> = all.collect();
        let place = |man: &Man| directory.join(man.get_filename());
        for man in &all {
            outputs::check_unnamed("DIR", &place(man), &[PAGE])?;
        }
        disk::create_directory(directory)?;
        for man in all {
            let (path, mut page) = (place(&man), Vec::new());
            man.render(&mut page).map_err(Error::io("write", &path))?;
            // The text after the flags has the same title in every page, so give it the right one.
            let page = String::from_utf8_lossy(&page)
                .replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n")
                .replace(".SH EXTRA\nExit status:\n", ".SH EXIT STATUS\n");
            disk::put(&path, page.as_bytes())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
