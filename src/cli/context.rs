//! Sets up signals, progress and budget for calls of the library.

use std::path::PathBuf;
use std::process::ExitCode;

use lookalike::budget::{Budget, ByteSize, Disk};
use lookalike::progress::{Context, Stop};
use lookalike::store::disk;
use lookalike::{Error, Result, limits};

use super::progress::Terminal;
use super::signals;

/// The resources that a command may use, as the user gave them.
pub struct Resources {
    pub memory: Option<ByteSize>,
    pub threads: Option<usize>,
    pub disk: Disk,
    pub scratch: Option<PathBuf>,
    pub quiet: bool,
}

/// Calls the library with signals, progress and budget set up.
pub fn with_context(
    resources: &Resources,
    call: impl FnOnce(&Context<'_>) -> Result<ExitCode>,
) -> Result<ExitCode> {
    let stop = Stop::default();
    let terminal = Terminal::new(resources.quiet);
    signals::watch(&stop);
    let threads = resources.threads.unwrap_or_else(|| {
        std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
    });
    let budget = Budget {
        memory: resources
            .memory
            .unwrap_or_else(|| limits::default_memory(threads)),
        threads,
        disk: resources.disk,
    };
    budget.check()?;
    limits::check(&budget)?;
    if let Some(scratch) = &resources.scratch
        && !disk::is_directory(scratch)?
    {
        return Err(Error::BadParameter {
            name: "scratch",
            given: scratch.display().to_string(),
            limit: "give an existing directory".into(),
        });
    }
    call(&Context {
        budget,
        stop: &stop,
        progress: &terminal,
        scratch: resources.scratch.as_deref(),
    })
}
