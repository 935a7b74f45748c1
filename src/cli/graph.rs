//! `graph`: the pairs of an output directory as a graph.

use lookalike::report::{graph, write_graph};
use lookalike::{Result, pipeline};
use std::io::{BufWriter, Write};
use std::process::ExitCode;

use super::args::{GraphOptions, MeansOptions};
use super::run::with_context;

pub fn run(options: &GraphOptions) -> Result<ExitCode> {
    let means = MeansOptions {
        memory: options.memory,
        threads: Some(1),
        ignore_disk_space: false,
        scratch: None,
        quiet: true,
        json: false,
    };
    with_context(&means, |context| {
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
