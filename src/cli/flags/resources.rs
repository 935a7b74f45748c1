//! Flags for memory, threads, disk space and output, which [`Setup`] reads.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use lookalike_base::{Result, budget::ByteSize};

use crate::cli::command::{Run, Setup};
use crate::cli::context::Host;

/// The memory limit, for every command that can need much memory.
#[derive(Clone, Copy, Debug, Args)]
pub struct Memory {
    /// Memory for buffers and tables [default: 1/4 of free, 256MiB to 4GiB]
    ///
    /// The process uses less than this size plus 64 MiB, plus the window of an input that was
    /// compressed with zstd --long or xz -9. Memory-mapped files do not count, because the kernel
    /// drops their pages when it needs memory. The size does not change results. If it is too
    /// small, the command fails and says how much the next step needs. A SIZE is a number of bytes, or a number with a unit: KiB, MiB, GiB or TiB (powers of 1,024; K, M, G, T for
    /// short), or kB, MB, GB or TB (powers of 1,000).
    ///
    /// Example: --memory 1GiB
    #[arg(long, value_name = "SIZE", help_heading = "Resources")]
    memory: Option<ByteSize>,
}

/// The number of threads.
#[derive(Clone, Copy, Debug, Args)]
pub struct Threads {
    /// Worker threads [default: the number of cores]
    ///
    /// The number does not change results.
    ///
    /// Example: --threads 2
    #[arg(long, value_name = "N", help_heading = "Resources")]
    threads: Option<usize>,
}

/// Two groups of flags; or the options of a command, and the flags that only
/// [`Setup`] reads.
#[derive(Debug, Args)]
#[group(skip)]
pub struct With<A: Args, B: Args> {
    #[command(flatten)]
    first: A,
    #[command(flatten)]
    second: B,
}

impl<A: Args + Run, B: Args> Run for With<A, B> {
    fn main(&self, setup: &Setup, host: &dyn Host) -> Result<ExitCode> {
        self.first.main(setup, host)
    }
}

/// Memory, threads and output, for commands whose answer is printed.
pub type Answering = With<Memory, With<Threads, Output>>;

/// Memory, threads, disk space and output, for commands that run stages.
pub type Limits = With<With<Memory, Threads>, With<DiskFlags, Output>>;

/// Disk space and temporary files.
#[derive(Debug, Args)]
pub struct DiskFlags {
    /// Start even if the disk looks too small for the output
    ///
    /// Before reading and before sorting, a run compares the space that it still needs with the
    /// free space of the disk of DIR. Before reading it only knows the sizes of the inputs, and
    /// expects too much if few of their bytes are text. A run that fills the disk stops. The same
    /// command continues it once there is space.
    #[arg(long, help_heading = "Resources")]
    ignore_disk_space: bool,
    /// Put temporary files below PLACE [default: DIR/scratch]
    ///
    /// Use your fastest disk. For `run`, the files take 24 bytes per document. The command makes a
    /// directory there, called lookalike- and six characters, and removes it at the end. A killed
    /// process leaves it behind; you may delete it at any time. Sorted runs are kept in DIR, because
    /// a command that was stopped continues from them. The default of `report KEPT` and of `tasks
    /// run` is TMPDIR or /tmp. The place does not change results.
    ///
    /// Example: --scratch /tmp
    #[arg(long, value_name = "PLACE", help_heading = "Resources")]
    scratch: Option<PathBuf>,
}

/// Whether to print only errors and results.
#[derive(Debug, Args)]
pub struct Quiet {
    /// Print no progress and no summary
    ///
    /// Errors are still printed, and so is a result that the command writes to no file. Warnings
    /// that something is lost are also printed: that no document was read from a file, that values
    /// of --keep cannot be read, or that a revisit record loses its capture.
    #[arg(short, long, help_heading = None)]
    pub quiet: bool,
}

/// The format of the printed result.
#[derive(Debug, Args)]
pub struct Json {
    /// Print the result as JSON
    #[arg(long, help_heading = None)]
    pub json: bool,
}

/// Flags for the output of a command.
pub type Output = With<Quiet, Json>;
