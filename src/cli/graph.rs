//! `graph`: print the pairs of an output directory as a graph.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::Result;
use crate::engine::pipeline;
use crate::report::{GraphFormat, graph, write_graph};
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
            let mut workspace = pipeline::open_for(&options.directory, output, context)?;
            write_graph(&mut workspace, options.format, output, context)?;
            return Ok(ExitCode::SUCCESS);
        }
        let workspace = pipeline::open_shared(&options.directory, context)?;
        let mut out = Lines::new(host);
        graph(&workspace, options.format, context, |bytes| out.put(bytes))?;
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Bytes that are collected before they are printed.
const AT_ONCE: usize = 64 << 10;

/// Prints whole lines, many at a time.
struct Lines<'h> {
    host: &'h dyn Host,
    text: Vec<u8>,
}

impl<'h> Lines<'h> {
    fn new(host: &'h dyn Host) -> Lines<'h> {
        Lines {
            host,
            text: Vec::new(),
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.text.extend_from_slice(bytes);
        match self.text.len() >= AT_ONCE && bytes.ends_with(b"\n") {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        let text = std::mem::take(&mut self.text);
        self.host.say(&String::from_utf8_lossy(&text))
    }
}
