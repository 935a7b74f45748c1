//! Memory, threads, disk, and what is printed.

use clap::Args;
use lookalike::budget::{ByteSize, Disk};

use crate::cli::context::Resources;

/// Memory, of every command that can need much of it.
#[derive(Clone, Copy, Debug, Args)]
pub struct Memory {
    /// Memory for buffers and tables [default: 1/4 of free, 256MiB to 4GiB]
    ///
    /// The process stays below this size plus 64 MiB, plus the window of an input that was compressed with zstd --long
    /// or xz -9. Memory-mapped files do not count, because the kernel drops their pages when it needs memory. The size does not change results. A size that is too small
    /// is refused with the smallest one that is enough. Units are powers of 1,024: KiB, MiB, GiB, TiB.
    ///
    /// Example: --memory 1GiB
    #[arg(long, value_name = "SIZE", help_heading = "Resources")]
    memory: Option<ByteSize>,
}

impl Memory {
    /// For a command that runs on one thread and does not fill the disk of a collection.
    pub fn alone(self, quiet: bool) -> Resources {
        Resources {
            memory: self.memory,
            threads: Some(1),
            disk: Disk::Unchecked,
            quiet,
        }
    }
}

/// Memory, threads and disk, of the stages.
#[derive(Debug, Args)]
pub struct Limits {
    #[command(flatten)]
    memory: Memory,
    /// Worker threads [default: the number of cores]
    ///
    /// The number does not change results.
    ///
    /// Example: --threads 2
    #[arg(long, value_name = "N", help_heading = "Resources")]
    threads: Option<usize>,
    /// Start even if the disk looks too small for the output
    ///
    /// Before reading and before sorting, a run compares the space that it still needs with the free space
    /// of the disk of DIR. It first estimates from samples of the inputs, and the estimate is too high if
    /// there are many exact duplicates. A run that fills the disk stops. The same command continues it once there is
    /// space.
    #[arg(long, hide_short_help = true, help_heading = "Resources")]
    ignore_disk_space: bool,
}

impl Limits {
    /// As the library takes them.
    pub fn resources(&self, quiet: bool) -> Resources {
        Resources {
            memory: self.memory.memory,
            threads: self.threads,
            disk: if self.ignore_disk_space {
                Disk::Unchecked
            } else {
                Disk::Available
            },
            quiet,
        }
    }
}

/// Whether more than errors and results is printed.
#[derive(Debug, Args)]
pub struct Quiet {
    /// Print no progress, no warnings and no summary
    ///
    /// Errors are still printed, and so is a result that the command writes to no file.
    #[arg(short, long)]
    pub quiet: bool,
}

/// The form of what is printed.
#[derive(Debug, Args)]
pub struct Json {
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// What is printed, and how.
#[derive(Debug, Args)]
pub struct Output {
    #[command(flatten)]
    quiet: Quiet,
    #[command(flatten)]
    json: Json,
}

impl Output {
    pub fn quiet(&self) -> bool {
        self.quiet.quiet
    }

    pub fn json(&self) -> bool {
        self.json.json
    }
}
