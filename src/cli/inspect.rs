//! `inspect`: any file of an output directory as text.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use lookalike::inspect::inspect;
use lookalike::{Error, Result};

use super::args::InspectOptions;

pub fn run(options: &InspectOptions) -> Result<ExitCode> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let shown = inspect(&options.file, options.records, &mut |line| match writeln!(
        out,
        "{}",
        super::harmless(&line)
    ) {
        // Whoever reads has seen enough.
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        result => result
            .map(|()| true)
            .map_err(Error::io("write", "standard output".as_ref())),
    });
    let flushed = out.flush();
    shown?;
    super::said(flushed)?;
    Ok(ExitCode::SUCCESS)
}
