//! `graph`: print the pairs of an output directory as a graph.

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::report::{GraphFormat, graph, write_graph};
use crate::{Result, pipeline};
use clap::Args;

use super::context::{Host, with_context};
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
    /// Example: --output pairs.dot
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    memory: Memory,
}

pub fn run(options: &Options, host: &dyn Host) -> Result<ExitCode> {
    with_context(host, &options.memory.alone(true), |context| {
        let mut workspace = pipeline::open(&options.directory)?;
        if let Some(output) = &options.output {
            write_graph(&mut workspace, options.format, output, context)?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut out = BufWriter::new(std::io::stdout().lock());
        graph(&workspace, options.format, context, |bytes| {
            super::said(out.write_all(bytes))
        })?;
        super::said(out.flush())?;
        Ok(ExitCode::SUCCESS)
    })
}
