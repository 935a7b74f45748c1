//! `graph`: print the pairs of an output directory as a graph.

use std::path::PathBuf;

use crate::report::{GraphFormat, graph, write_graph};
use clap::Args;
use lookalike_base::Result;
use lookalike_base::progress::Context;

use super::command::{Command, Out, Printed, Setup};
use super::flags::Memory;
use lookalike_engine::pipeline::{open_for, open_shared};

/// Options of `graph`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory of an earlier `run`, or of a method
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

impl Command for Options {
    fn setup(&self) -> Setup {
        self.memory.alone(Printed::result(false))
    }

    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        if let Some(output) = &self.output {
            let mut workspace = open_for(&self.directory, output, context)?;
            return write_graph(&mut workspace, self.format, output, context);
        }
        let workspace = open_shared(&self.directory, context)?;
        // Whole lines, many at a time.
        let mut text = Vec::new();
        graph(&workspace, self.format, context, |bytes| {
            text.extend_from_slice(bytes);
            match text.len() >= AT_ONCE && bytes.ends_with(b"\n") {
                true => out.say(&String::from_utf8_lossy(&std::mem::take(&mut text))),
                false => Ok(()),
            }
        })?;
        out.say(&String::from_utf8_lossy(&text))
    }
}

/// Bytes that are collected before they are printed.
const AT_ONCE: usize = 64 << 10;
