//! Flags that many commands have are described once, on a page of their own: `lookalike help NAME`.
//! The help of a command only names them. The methods of the literature have such pages too.

use std::ffi::OsString;
use std::fmt::Write;

use clap::{Arg, Command};
use lookalike_base::listed;
use lookalike_methods::{self as methods, Entry};

/// Arguments with files that are read as documents, which may be objects of a store.
pub(super) const READ: [&str; 4] = ["inputs", "documents", "exclude_text", "exchange"];

/// The pages: their names, their subjects, and their flags.
const TOPICS: &str = "
    inputs: Flags that say which files are read, and how: text_field id_field url_field format \
     include exclude hidden read_outputs skip_unreadable allow_empty strict record records split_at \
     delimiter quote columns null markup warc_type include_url exclude_url convert convert_timeout \
     convert_memory max_document max_ratio detect_charset keep_text segment_size
    shingles: Flags that say what of documents is compared, and how: tokens shingle_size fold \
     exclude_text score condition short fingerprint seed size_groups
    sampling: Flags for searches that compare samples, and for the join: sampling precision recall \
     ratios subset plan_seed verified candidates max_postings join
    resources: Flags for memory, threads, disks and progress: memory threads scratch \
     ignore_disk_space spill fan_in progress
    stores: Flags for object stores (s3://, gs://, az://, hf://, https://): endpoint region anonymous \
     allow_store";

/// Commands whose help describes some of these flags. The flags of the last three commands have the
/// same names and other meanings.
const SHOWN: &str = "
    run: text_field id_field format include exclude convert tokens shingle_size exclude_text score \
     sampling memory threads condition
    dedup: text_field id_field format shingle_size exclude_text score condition
    passages: text_field id_field format convert exclude_text condition
    plan: precision recall ratios subset plan_seed
    contamination: strict
    check-count: shingle_size text_field
    stage-ingest: keep_text
    export-graph: format
    study: ratios
    perturb: seed";

/// The lines of a table, which have `N` cells.
pub(super) fn lines<const N: usize>(
    table: &'static str,
) -> impl Iterator<Item = [&'static str; N]> {
    let lines = table.lines().map(|line| line.trim().splitn(N, ": "));
    lines.filter_map(|cells| cells.collect::<Vec<_>>().try_into().ok())
}

pub(super) fn has(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|one| one == word)
}

/// Whether the help of a command only names a flag.
fn is_folded(command: &str, argument: &Arg) -> bool {
    let id = argument.get_id().as_str();
    let shown = lines(SHOWN).any(|[of, ids]| of == command && has(ids, id));
    !shown && argument.get_long().is_some() && lines(TOPICS).any(|[_, _, ids]| has(ids, id))
}

/// A command, and those in it, whose help names the flags of the pages below its own.
pub(super) fn folded(command: Command, path: &str) -> Command {
    let mut names = Vec::new();
    let mut more = "More flags, which `lookalike help NAME` describes:\n".to_string();
    for [name, _, ids] in lines(TOPICS) {
        // Every command that reads documents reads them from stores.
        let reads = |argument: &Arg| READ.contains(&argument.get_id().as_str());
        if name == "stores" && command.get_arguments().any(reads) {
            names.push(name);
        }
        let is_named = |argument: &&Arg| {
            let folded = is_folded(path, argument) && !argument.is_hide_set();
            folded && has(ids, argument.get_id().as_str())
        };
        let flags = command.get_arguments().filter(is_named);
        let flags = flags.filter_map(Arg::get_long);
        let flags = listed(", ", flags, |flag| format!("--{flag}"));
        if !flags.is_empty() {
            names.push(name);
            let _ = writeln!(more, "  {name}: {flags}");
        }
    }
    let command = command.mut_args(|argument| {
        let folded = is_folded(path, &argument) || argument.is_hide_set();
        argument.hide(folded)
    });
    let mut command = command.mut_subcommands(|inner| {
        let path = format!("{path}-{}", inner.get_name());
        folded(inner, path.trim_start_matches('-'))
    });
    if names.is_empty() || path.is_empty() {
        return command;
    }
    if let Some(examples) = command.get_after_long_help() {
        let _ = write!(more, "\n{examples}");
    }
    command = command.after_long_help(more);
    command.after_help(format!("More flags: lookalike help {}", names.join("|")))
}

/// The names of the pages of a program.
pub(super) fn names(program: &Command) -> impl Iterator<Item = &'static str> {
    let named = lines(TOPICS).map(|[name, _, _]| name);
    named.filter(|name| page(program, name).is_some())
}

/// A line that names the pages.
pub(super) fn line(program: &Command) -> String {
    match names(program).collect::<Vec<_>>() {
        none if none.is_empty() => String::new(),
        all => format!("\nFlags of many commands: lookalike help {}", all.join("|")),
    }
}

/// The page with this name.
pub(super) fn page(program: &Command, name: &str) -> Option<Command> {
    let [name, about, ids] = lines(TOPICS).find(|[of, _, _]| *of == name)?;
    let run = program.find_subcommand("run")?;
    let all = || run.get_arguments().chain(program.get_arguments());
    let flags = ids.split_whitespace();
    let flags = flags.filter_map(|id| all().find(|of| of.get_id() == id));
    let flags = flags.map(|of| Arg::clone(of).required(false).help_heading("Flags"));
    let page = Command::new(name).about(about).max_term_width(100);
    let page = page.args(flags).disable_help_flag(true);
    let page = page.override_usage("lookalike COMMAND ... [FLAGS]");
    let help = Arg::new("help").long("help").hide(true);
    Some(page.arg(help.action(clap::ArgAction::HelpLong)))
}

/// The description of the method that the arguments name together with `--help`, if they do.
pub(super) fn asked_for_help(arguments: impl Iterator<Item = OsString>) -> Option<String> {
    let parted = |word: OsString| word.to_string_lossy().replace("--method=", "--method\n");
    let words = listed("\n", arguments, parted);
    let asked = words.lines().any(|word| word == "--help" || word == "-h");
    let mut spec = words
        .lines()
        .skip_while(|word| !["--method", "method"].contains(word));
    let name = spec.nth(1).filter(|_| asked)?.split(':').next()?;
    methods::find(name).ok().map(about_method)
}

/// The description of a method and its parameters.
pub fn about_method(entry: &Entry) -> String {
    let (name, about, paper) = (entry.name, entry.about, entry.paper);
    let mut text = format!("{name}: {about}\n\nPaper: {paper}\n\n");
    text.push_str("Parameters, with the defaults of the paper:\n");
    for parameter in entry.parameters() {
        let named = format!("{}={}", parameter.name, parameter.default);
        let _ = writeln!(text, "  {named:<26} {}", parameter.help);
    }
    let _ = writeln!(
        text,
        "\nUsage: lookalike lab method {name}[:PARAMETER=VALUE,...] DIR\n   or: lookalike run INPUT... -o DIR \
         --method {name}[:PARAMETER=VALUE,...]"
    );
    text
}
