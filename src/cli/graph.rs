//! `graph`: the pairs of an output directory as a graph.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use lookalike::manifest::Workspace;
use lookalike::report::{graph, write_graph};
use lookalike::{Error, Result};

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
        let mut workspace = Workspace::open(&options.directory)?;
        if let Some(output) = &options.output {
            write_graph(&mut workspace, options.format, output, context)?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut out = BufWriter::new(std::io::stdout().lock());
        let said = |result: std::io::Result<()>| match result {
            // Whoever reads has seen enough, and went away.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(Error::io("write", "standard output".as_ref())),
        };
        graph(&workspace, options.format, context, |bytes| {
            said(out.write_all(bytes))
        })?;
        said(out.flush())?;
        Ok(ExitCode::SUCCESS)
    })
}
