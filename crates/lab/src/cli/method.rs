//! `method`: run a published method on a collection, or describe the methods.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lookalike::report::{GraphFormat, write_graph};
use lookalike_base::listed;
use lookalike_engine::cluster::ResultFormat;
use lookalike_engine::pipeline;
use lookalike_methods::{self as methods, METHODS, Spec};

use lookalike::cli::command::{Args, Command, Context, Out, Result};
use lookalike::cli::{ResultFlags, about_method, end_with_parent};

/// Options of `method`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Method and parameters: NAME or NAME:PARAMETER=VALUE,...
    spec: Option<String>,
    /// Output directory of `stage ingest --keep-text`
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Also write the pairs as graph.dot, graph.graphml and graph.tsv
    #[arg(long, requires = "directory")]
    graph: bool,
    /// End when standard input does: `compare`, which started this process, has ended.
    #[arg(long, hide = true)]
    with_parent: bool,
    #[command(flatten)]
    end: ResultFlags,
}

impl Command for Options {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let Some(spec) = &self.spec else {
            let all: BTreeMap<_, _> = METHODS.iter().map(|of| (of.name, of.about)).collect();
            return out.answer(&all, || Ok(list()));
        };
        let (spec, format) = (Spec::read(spec)?, self.end.results.some()?);
        let Some(directory) = &self.directory else {
            let about = spec.entry;
            let parameters = about.parameters().map(|of| (of.name, of.default));
            let parameters: BTreeMap<_, _> = parameters.collect();
            return out.answer(&parameters, || Ok(about_method(about)));
        };
        if self.with_parent {
            end_with_parent();
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
        (self.end.verbose).print_of(&summary, &base, made.directory(), out)
    }
}

/// The list of methods, one line for each.
fn list() -> String {
    let methods = listed("", METHODS, |of| format!("{:<16}{}\n", of.name, of.about));
    methods + "\n`lookalike lab method NAME` describes a method and its parameters.\n"
}
