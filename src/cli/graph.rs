//! `graph`: print the pairs of an output directory as a graph.

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::Result;
use crate::report::{GraphFormat, graph, write_graph};
use clap::Args;

use super::context::{Host, open_for, open_to_read, with_context};
use super::flags::Memory;

/// Options of `graph`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory of an earlier `run`, `join` or `method`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Format: dot (Graphviz), graphml or tsv
    ///
    /// Example: --format tsv
    #[arg(long, value_name = "FORMAT", default_value_t = GraphFormat::Dot)]
    format: GraphFormat,
    /// File to write [default: standard output]
    ///
    /// If the file is in DIR, the command needs DIR for itself, because the manifest there names
    /// the file. Otherwise it only reads DIR.
    ///
    /// Example: --output pairs.dot
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    memory: Memory,
}

pub fn run(options: &Options, host: &dyn Host) -> Result<ExitCode> {
    with_context(host, &options.memory.alone(true), |context| {
        if let Some(output) = &options.output {
            let mut workspace = open_for(&options.directory, output, context)?;
            write_graph(&mut workspace, options.format, output, context)?;
            return Ok(ExitCode::SUCCESS);
        }
        let workspace = open_to_read(&options.directory, context)?;
        let mut out = BufWriter::new(std::io::stdout().lock());
        graph(&workspace, options.format, context, |bytes| {
            super::said(out.write_all(bytes))
        })?;
        super::said(out.flush())?;
        Ok(ExitCode::SUCCESS)
    })
}
