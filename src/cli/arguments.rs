//! The arguments of a program: its commands, flags and help.

use std::any::TypeId;
use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use lookalike_base::Result;
use lookalike_store::{disk, refuse_remote, remote};

use super::command::{Run, Setup};
use super::context::ProgressForm;
use super::flags::StoreFlags;
use super::renamed;
use super::topics::{self, READ};

/// A program: its commands, which [`commands!`](crate::commands) defines, and its name and help.
pub trait Program: Subcommand + Run {
    /// Its name.
    const NAME: &'static str;
    /// How it is started, in texts for users.
    const STARTED: &'static str;
    /// Its purpose: a line, and paragraphs after an empty line.
    const ABOUT: &'static str;
    /// The first thing to try, and a note on it.
    const FIRST: (&'static str, &'static str);
    /// The names of its commands in groups.
    const GROUPS: &'static [(&'static str, &'static [&'static str])];
    /// Commands, and words that people try in their place: lines `COMMAND: WORD WORD ...`.
    const MEANT: &'static str = "";
    /// Names of the version before, which still work in this one, and the names of today.
    const RENAMED: &'static str = "";
}

/// The arguments of a program.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_long_help = STATUS
)]
pub struct Arguments<P: Program> {
    #[command(subcommand)]
    pub command: P,
    /// How to show progress on standard error: auto or json
    ///
    /// "auto" draws a bar on a terminal and prints lines elsewhere. "json" prints a JSON object on
    /// a line when a stage begins and ends, once a second in between, and for each remark, even
    /// with --quiet.
    ///
    /// Example: --progress json
    #[arg(
        long,
        value_name = "FORM",
        global = true,
        default_value = "auto",
        help_heading = "Resources"
    )]
    pub progress: ProgressForm,
    #[command(flatten)]
    pub stores: StoreFlags,
    #[arg(skip)]
    pub setup: Setup,
    /// The arguments that are addresses, and whether they can be.
    #[arg(skip)]
    pub addresses: Vec<(PathBuf, bool)>,
    /// A line for each name of the version before.
    #[arg(skip)]
    pub renamed: Vec<String>,
}

const STATUS: &str = "Exit status:
  0    done
  1    failed; standard error says why and what to do
  2    wrong usage
  130  stopped by a signal; the same command continues";

/// Defines the commands of each group of the overview, in its order, with their help and examples,
/// and runs the chosen one.
#[doc(hidden)]
#[macro_export]
macro_rules! commands {
    ($($group:ident: $(
        $(#[$about:meta])* $($example:literal)+ $(#[$more:meta])* $name:ident($options:ty),
    )*)*) => {
        // The commands. The help of the command that contains them describes them.
        #[derive(Debug, clap::Subcommand)]
        #[allow(missing_docs, reason = "the text would replace the help")]
        pub enum Commands {
            $($(
                $(#[$about])*
                $(#[$more])*
                #[command(after_long_help = concat!("Examples:" $(, "\n  ", $example)+))]
                $name(Box<$options>),
            )*)*
        }

        /// The commands by purpose.
        #[allow(dead_code, reason = "commands within a command are not in the overview")]
        const GROUPS: &[(&str, &[&str])] = &[$((stringify!($group), &[$(stringify!($name)),*])),*];

        impl $crate::cli::Run for Commands {
            fn main(
                &self,
                setup: &$crate::cli::Setup,
                host: &dyn $crate::cli::Host,
            ) -> $crate::Result<std::process::ExitCode> {
                match self {
                    $($(Commands::$name(options) => options.main(setup, host),)*)*
                }
            }
        }
    };
}

impl<P: Program> Arguments<P> {
    /// Reads arguments. The first one is the name of the program.
    ///
    /// # Errors
    /// A message to print: an error in the arguments, or the text for `--help` or `--version`.
    pub fn read(arguments: impl Iterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut arguments: Vec<OsString> = arguments.collect();
        let mut command = described::<P>();
        // No argument but a command stands first.
        if arguments.get(1).is_some_and(|word| word == "--") {
            arguments.remove(1);
        }
        if arguments
            .get(1..3)
            .is_some_and(|words| words == ["help", "help"])
        {
            arguments.remove(2);
        }
        if arguments.len() > 2 && arguments[1] == "help" {
            if let Some(topic) = topics::page(&command, &arguments[2].to_string_lossy()) {
                let page = topic.try_get_matches_from([P::STARTED, "--help"]);
                return page.and_then(|matches| Self::from_arg_matches(&matches));
            }
            arguments.remove(1);
            arguments.push("--help".into());
        }
        let renamed = renamed::today(&mut arguments, P::STARTED, P::RENAMED);
        let text = |at: usize| arguments.get(at).map(|word| word.to_string_lossy());
        let words = [1, 2].map(|at| text(at).map_or(String::new(), Cow::into_owned));
        let mut matches = command.try_get_matches_from_mut(&arguments);
        // To fold the help of all commands takes ten times as long as to read the arguments.
        if matches.as_ref().is_err_and(shows_help) {
            command = topics::folded(described::<P>(), "");
            matches = command.try_get_matches_from_mut(&arguments);
        }
        let matches = matches.map_err(|error| {
            let named = command.find_subcommand(&words[0]);
            let inner = named.and_then(|command| command.find_subcommand(&words[1]));
            let mut error = with_meant(error, inner.or(named), P::MEANT, &arguments);
            if error.use_stderr() && !renamed.is_empty() {
                tip(&mut error, &renamed);
            }
            error
        })?;
        let read = Self::from_arg_matches(&matches);
        let mut read = read.map_err(|error| error.format(&mut command))?;
        let (mut chosen, mut given, mut named) = (&command, &matches, Vec::new());
        while let Some((name, of)) = given.subcommand()
            && let Some(inner) = chosen.find_subcommand(name)
        {
            (chosen, given) = (inner, of);
            named.push(name);
        }
        read.setup = Setup::of(chosen, given);
        read.addresses = addresses(chosen, given, &named.join(" "));
        read.renamed = renamed;
        Ok(read)
    }
}

fn shows_help(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// Arguments of commands that may be objects, beside inputs. The command itself says that a work
/// directory is none.
const WRITTEN: [(&str, &[&str]); 6] = [
    ("stage cluster", &["publish"]),
    ("export results", &["publish"]),
    ("dedup", &["output", "removed", "report", "work"]),
    ("report", &["directory", "output"]),
    ("tasks plan", &["output"]),
    ("tasks finish", &["output"]),
];

/// The paths among the arguments of a command that are addresses, and whether one is possible there.
fn addresses(
    command: &clap::Command,
    matches: &clap::ArgMatches,
    named: &str,
) -> Vec<(PathBuf, bool)> {
    let mut all = Vec::new();
    let written = WRITTEN.iter().filter(|(of, _)| *of == named);
    let written: Vec<&str> = written.flat_map(|(_, ids)| *ids).copied().collect();
    let is_path = |of: &&clap::Arg| of.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    for argument in command.get_arguments().filter(is_path) {
        let id = argument.get_id().as_str();
        for path in matches.get_raw(id).into_iter().flatten().map(PathBuf::from) {
            let possible = READ.contains(&id) || written.contains(&id);
            let is_address = possible && remote::is_address(&path);
            if is_address || refuse_remote(&path).is_err() {
                all.push((path, is_address));
            }
        }
    }
    all
}

/// Flags of other programs, and the flags of the same meaning.
pub(super) const MEANT_FLAGS: &str = "
    --shingle-size: --ngram --ngrams --ngram-size --n-gram --k --shingles
    --threshold: --jaccard --jaccard-threshold --similarity --min-similarity --min-score
    --text-field: --column --text-column --field --text-key --key --text
    --id-field: --id --id-column --id-key --idx-column
    --output: --out --output-dir --outdir --dest
    --threads: --jobs --workers --num-proc --num-workers --cores
    --memory: --ram --mem --max-memory
    --length: --min-words --min-tokens --min-length --minimum-length
    --ids-only: --dry-run --list --no-write
    --report: --html --page
    --tokens: --tokenizer --tokenize --chars --bytes";

/// Looks up the meaning of a word in a table with lines `MEANT: WORD WORD ...`.
fn meant_by(table: &'static str, word: &str) -> Option<&'static str> {
    let mut lines = topics::lines(table);
    let [meant, _] = lines.find(|[_, words]| topics::has(words, word))?;
    Some(meant)
}

/// Puts tips below an error.
fn tip(error: &mut clap::Error, tips: &[String]) {
    let tips = tips.iter().map(clap::builder::StyledStr::from).collect();
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
}

/// Suggests the command or the flag that a word means, in place of a name that is spelt like it.
fn with_meant(
    mut error: clap::Error,
    command: Option<&clap::Command>,
    meant: &'static str,
    arguments: &[OsString],
) -> clap::Error {
    if error.kind() == ErrorKind::ArgumentConflict {
        // A flag that excludes a group of others is told with all of them.
        if let Some(ContextValue::Strings(all)) = error.get(ContextKind::PriorArg) {
            let words = arguments.iter().map(|word| word.to_string_lossy());
            let words: Vec<String> = words.map(|word| word.replace('=', " ") + " ").collect();
            let mut given = all.clone();
            given.retain(|flag| {
                let flag = flag.split_inclusive(' ').next().unwrap_or_default();
                words
                    .iter()
                    .any(|word| word.starts_with(flag) || !flag.starts_with('-'))
            });
            error.insert(ContextKind::PriorArg, ContextValue::Strings(given));
        }
        let both = error.to_string();
        if both.contains("--from <") {
            let line = "find other pairs first: lookalike run --from DIR --threshold T; to read the texts in \
                        another way: lookalike run INPUT... -o OTHER";
            tip(&mut error, &[line.into()]);
        }
        return error;
    }
    if let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) {
        let name = given.split('=').next().unwrap_or_default().to_lowercase();
        let known = meant_by(MEANT_FLAGS, &name);
        // The tip of the library, to give the word behind `--`, would make an input of it.
        error.remove(ContextKind::Suggested);
        if name == "--study" {
            tip(&mut error, &["use 'lookalike lab study DIR --page'".into()]);
        }
        let has = |flag: &str| {
            let mut flags = command.into_iter().flat_map(clap::Command::get_arguments);
            flags.any(|known| known.get_long() == flag.strip_prefix("--"))
        };
        if let Some(flag) = known.filter(|flag| has(flag)) {
            let suggested = ContextValue::String(flag.to_string());
            error.insert(ContextKind::SuggestedArg, suggested);
        }
        return error;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let word = given.to_lowercase();
    if let Some(command) = meant_by(meant, &word) {
        let suggested = ContextValue::Strings(vec![command.to_string()]);
        error.insert(ContextKind::SuggestedSubcommand, suggested);
    } else if disk::metadata(given.as_ref()).is_ok() {
        let line = format!("to find near-duplicates in it, use 'lookalike run {given} -o DIR'");
        error.remove(ContextKind::SuggestedSubcommand);
        tip(&mut error, &[line]);
    }
    error
}

/// The commands of a program and their flags, with the overview as help.
#[must_use]
pub fn described<P: Program>() -> clap::Command {
    let about = P::ABOUT.lines().next().unwrap_or_default();
    let command = Arguments::<P>::command().name(P::NAME).bin_name(P::STARTED);
    let command = command.about(about).long_about(P::ABOUT);
    let overview = overview::<P>(&command, about);
    command.override_help(overview)
}

/// The overview: where to start, and the commands in groups, in lines of 80 columns.
fn overview<P: Program>(command: &clap::Command, about: &str) -> clap::builder::StyledStr {
    let styles = command.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let (first, note) = P::FIRST;
    let mut text = format!("{about}\n\n");
    let _ = writeln!(
        text,
        "{header}Start{header:#}    {literal}{first}{literal:#}   {note}"
    );
    for (group, names) in P::GROUPS {
        let mut group = *group;
        for name in names.iter().map(|name| name.to_lowercase()) {
            let about = command
                .find_subcommand(&name)
                .and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(
                text,
                "{header}{:<9}{header:#}{literal}{name:<15}{literal:#}{about}",
                std::mem::take(&mut group),
            );
        }
    }
    let _ = write!(
        text,
        "{}\nUsage: {} COMMAND ... (COMMAND -h: its flags; --help: with examples)\n\
         Exit status: 0 done, 1 failed, 2 wrong usage, 130 stopped (can be continued)",
        topics::line(command),
        P::STARTED
    );
    text.into()
}
