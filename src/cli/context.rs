//! What surrounds a call of the library: signals, progress, budget.

use std::path::PathBuf;
use std::process::ExitCode;

use lookalike::budget::{Budget, ByteSize, Disk};
use lookalike::progress::{Context, Stop};
use lookalike::store::disk;
use lookalike::{Error, Result, limits};

use super::progress::Terminal;
use super::signals;

/// What a command may use, as it was typed.
pub struct Resources {
    pub memory: Option<ByteSize>,
    pub threads: Option<usize>,
    pub disk: Disk,
    pub scratch: Option<PathBuf>,
    pub quiet: bool,
}

/// Sets up signals, progress and budget around a call of the library.
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
