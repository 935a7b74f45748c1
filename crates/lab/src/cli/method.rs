//! `method`: run a published method on a collection, or describe the methods.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;

use crate::report::{GraphFormat, write_graph};
use clap::Args;
use lookalike_base::Result;
use lookalike_base::progress::Context;
use lookalike_engine::cluster::ResultFormat;
use lookalike_engine::pipeline;
use lookalike_methods::{self as methods, Entry, METHODS, Spec};

use super::command::{Command, Out, Setup};
use super::flags::{Limits, ResultsFlag};
use super::run::Verbose;

/// Options of `method`.
#[derive(Debug, Args)]
pub struct Options {
    /// Method and parameters: NAME or NAME:PARAMETER=VALUE,...
    spec: Option<String>,
    /// Output directory of an `ingest --keep-text`
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Also write the pairs as graph.dot, graph.graphml and graph.tsv
    #[arg(long, requires = "directory")]
    graph: bool,
    /// End when standard input does: `compare`, which started this process, has ended.
    #[arg(long, hide = true)]
    with_parent: bool,
    #[command(flatten)]
    results: ResultsFlag,
    #[command(flatten)]
    verbose: Verbose,
    #[command(flatten)]
    limits: Limits,
}

impl Command for Options {
    fn setup(&self) -> Setup {
        self.limits.setup()
    }

    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let Some(spec) = &self.spec else {
            return out.host.say(&list());
        };
        let (spec, format) = (Spec::read(spec)?, self.results.some()?);
        let Some(directory) = &self.directory else {
            return out.host.say(&page(spec.entry()));
        };
        if self.with_parent {
            super::signals::end_with_parent();
        }
        let mut base = pipeline::open_texts(directory)?;
        pipeline::catalogued(&mut base, context)?;
        let (mut made, mut summary) = methods::run(&base, &spec, context)?;
        if format == ResultFormat::Parquet {
            summary = pipeline::tables(&mut made, context)?;
        }
        if self.graph {
            for format in GraphFormat::ALL {
                let output = made.directory().join(format.file_name());
                write_graph(&mut made, format, &output, context)?;
            }
        }
        let places = (&base, made.directory());
        self.verbose.print_of(&summary, places, out)
    }
}

/// The description of the method that the arguments name together with `--help`, if they do.
pub(crate) fn asked_for_help(arguments: impl Iterator<Item = OsString>) -> Option<String> {
    let arguments: Vec<String> = arguments
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let help = |argument: &String| argument == "--help" || argument == "-h";
    if !arguments.iter().any(help) {
        return None;
    }
    let mut named = arguments.iter().zip(arguments.iter().skip(1));
    let spec = named
        .find(|(flag, _)| *flag == "--method" || *flag == "method")
        .map(|(_, spec)| spec.as_str())
        .or_else(|| arguments.iter().find_map(|a| a.strip_prefix("--method=")))?;
    let name = spec.split(':').next()?;
    methods::find(name).ok().map(page)
}

/// The list of methods, one line for each.
fn list() -> String {
    let mut text = String::new();
    for entry in METHODS {
        let _ = writeln!(text, "{:<16}{}", entry.name, entry.about);
    }
    text.push_str("\n`lookalike method NAME` describes a method and its parameters.\n");
    text
}

/// The description of a method and its parameters.
fn page(entry: &Entry) -> String {
    let (name, about, paper) = (entry.name, entry.about, entry.paper);
    let mut text = format!("{name}: {about}\n\nPaper: {paper}\n\n");
    text.push_str("Parameters, with the defaults of the paper:\n");
    for parameter in entry.parameters {
        let named = format!("{}={}", parameter.name, parameter.default);
        let _ = writeln!(text, "  {named:<26} {}", parameter.help);
    }
    let _ = writeln!(
        text,
        "\nUsage: lookalike method {name}[:PARAMETER=VALUE,...] DIR\n   or: lookalike run INPUT... -o DIR \
         --method {name}[:PARAMETER=VALUE,...]"
    );
    text
}
