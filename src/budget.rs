//! The memory, threads and disk space that a run may use.

pub use crate::byte_size::ByteSize;
use crate::{Error, Result};

/// What a process holds besides what its stages count: code, stacks, and what the allocator keeps
/// of earlier stages. Measured at 27 to 56 MiB after an ingest; the stages that fill the budget to
/// its brim leave so much of it free, so that the whole stays well below the budget and 64 MiB.
pub const PROCESS_BYTES: u64 = 20 << 20;

/// The process stays below the budget and this; what an input's decompressor asks for beyond a few
/// MiB comes on top: up to 128 MiB for `zstd --long`, 65 MiB for `xz -9`. `scripts/bench-memory.sh`
/// holds it to that.
pub const BEYOND_BUDGET: ByteSize = ByteSize::mib(64);

/// What a stage may use: memory for buffers, counters and caches, and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes of memory for all buffers of a stage together.
    pub memory: ByteSize,
    /// Worker threads, 1 or more. With 1, everything runs on the calling thread.
    pub threads: usize,
    /// What [`crate::pipeline::preflight`] compares with.
    pub disk: Disk,
}

/// How much may be written to the disk of the output directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disk {
    /// As much as its file system says is available.
    #[default]
    Available,
    /// So much, whatever the file system says.
    Bytes(ByteSize),
    /// Whatever it takes: nothing is worked out beforehand.
    Unchecked,
}

/// The most worker threads.
pub const MOST_THREADS: usize = 1024;

impl Budget {
    /// Refuses a number of threads that nothing can run with.
    pub fn check(&self) -> Result<()> {
        if !(1..=MOST_THREADS).contains(&self.threads) {
            return Err(Error::BadParameter {
                name: "threads",
                given: self.threads.to_string(),
                limit: format!("1 to {MOST_THREADS}"),
            });
        }
        Ok(())
    }

    /// Refuses a budget that [`Budget::check`] refuses, and one of which `least` does not fit,
    /// naming `what` needs it.
    pub fn require(&self, least: ByteSize, what: impl FnOnce() -> String) -> Result<()> {
        self.check()?;
        if self.memory < least {
            let least = least.round_up();
            return Err(Error::BudgetTooSmall {
                given: self.memory,
                least,
                what: what(),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1301 MiB used to be told as 1.27GiB, which is less, and refused again.
    #[test]
    fn a_least_that_is_told_is_enough() {
        for bytes in [0, 1, 1301 << 20, 5 << 40, (1 << 30) + 1, u64::MAX] {
            let told = ByteSize(bytes).exact();
            assert_eq!(told.parse::<ByteSize>().unwrap(), ByteSize(bytes), "{told}");
        }
        let refused = crate::Error::BudgetTooSmall {
            given: ByteSize(1),
            least: ByteSize::mib(1301),
            what: String::new(),
        };
        assert!(refused.to_string().ends_with("at least 1301MiB"));
        assert_eq!(refused.help().unwrap(), "give --memory 1301MiB or more");
    }
}
