//! The memory, threads and disk space that a run may use.

pub use crate::byte_size::ByteSize;
use crate::error::refuse;
use crate::{Error, Result};

/// Memory of a process besides the memory that its stages count: code, stacks, and memory that the
/// allocator keeps from earlier stages. Measured at 27 to 56 MiB after an ingest. The stages that
/// use the whole budget leave this much of it free, so that the process remains well below the
/// budget plus 64 MiB.
pub const PROCESS_BYTES: u64 = 20 << 20;

/// The process uses less memory than the budget plus this. The window of an input's decompressor
/// comes on top if it exceeds a few MiB: up to 128 MiB for `zstd --long`, 65 MiB for `xz -9`.
/// `scripts/bench-memory.sh` checks the bound.
pub(crate) const BEYOND_BUDGET: ByteSize = ByteSize::mib(64);

/// The limits of a stage: memory for buffers, counters and caches, threads, and disk space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes of memory for all buffers of a stage together.
    pub memory: ByteSize,
    /// Worker threads, 1 or more. With 1, everything runs on the calling thread.
    pub threads: usize,
    /// The limit that a run checks before it reads and before it sorts.
    pub disk: Disk,
}

/// How much a command may write to the disk of the output directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disk {
    /// The space that the file system reports as available.
    #[default]
    Available,
    /// This number of bytes, whatever the file system reports.
    Bytes(ByteSize),
    /// Unlimited: the space needed is not checked beforehand.
    Unchecked,
}

/// The least `--max-document` that a refusal proposes: few texts are longer.
const LEAST_DOCUMENT: u64 = 1 << 20;

/// The most worker threads.
pub const MOST_THREADS: usize = 1024;

impl Budget {
    /// Refuses a number of threads outside 1 to `MOST_THREADS`.
    pub fn check(&self) -> Result<()> {
        if !(1..=MOST_THREADS).contains(&self.threads) {
            return refuse("threads", self.threads, format!("1 to {MOST_THREADS}"));
        }
        Ok(())
    }

    /// Returns the rest of this budget while `held` bytes are in use.
    #[must_use]
    pub fn without(&self, held: u64) -> Budget {
        let memory = ByteSize(self.memory.0.saturating_sub(held));
        Budget { memory, ..*self }
    }

    /// Restates an error about the rest of this budget, without `held` bytes, in terms of the
    /// whole.
    pub fn refused(&self, mut error: Error, held: u64) -> Error {
        if let Error::BudgetTooSmall { given, least, .. } = &mut error {
            (*given, *least) = (self.memory, ByteSize(least.0 + held).round_up());
        }
        error
    }

    /// Refuses a budget that [`Budget::check`] refuses, and a memory limit below `least` bytes.
    /// `what` names the work that needs the memory.
    pub fn require(&self, least: u64, what: impl FnOnce() -> String) -> Result<()> {
        self.check()?;
        if self.memory.0 < least {
            return Err(Error::BudgetTooSmall {
                given: self.memory,
                least: ByteSize(least).round_up(),
                what: what(),
                instead: None,
            });
        }
        Ok(())
    }

    /// As [`Budget::require`], for work whose need depends on the largest document. A refusal names
    /// a `--max-document` with which this budget is enough, or one with which less is needed.
    pub fn require_for(
        &self,
        most: ByteSize,
        least: impl Fn(ByteSize) -> u64,
        what: impl FnOnce() -> String,
    ) -> Result<()> {
        self.require(least(most), what).map_err(|mut error| {
            let halves = std::iter::successors(most.0.checked_sub(1), |most| Some(most / 2));
            let halves = halves.take_while(|&most| most >= LEAST_DOCUMENT);
            let mut smaller = halves.map(|most| ByteSize(1 << most.ilog2()));
            if let Error::BudgetTooSmall { instead, .. } = &mut error {
                *instead = match smaller.find(|&most| least(most) <= self.memory.0) {
                    Some(enough) => Some(format!("--max-document {}", enough.exact())),
                    None if most.0 <= LEAST_DOCUMENT => None,
                    None => {
                        let least = ByteSize(least(ByteSize(LEAST_DOCUMENT))).round_up();
                        let most = ByteSize(LEAST_DOCUMENT).exact();
                        Some(format!(
                            "--memory {} with --max-document {most}",
                            least.exact()
                        ))
                    }
                };
            }
            error
        })
    }

    /// The memory that is left beside `used` bytes. The work needs at least `least` of it; refuses
    /// as [`Budget::require`] does.
    pub fn rest(&self, used: u64, least: u64, what: impl FnOnce() -> String) -> Result<u64> {
        self.require(used + least, what)?;
        Ok(self.memory.0 - used)
    }

    /// Refuses a `share` of the memory below `least` bytes. The refusal names a budget that is
    /// larger by the missing bytes.
    pub fn require_share(
        &self,
        share: u64,
        least: u64,
        what: impl FnOnce() -> String,
    ) -> Result<()> {
        let missing = least.saturating_sub(share);
        self.require(self.memory.0.saturating_add(missing), what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message names a size that is enough: 1301 MiB, not the rounded 1.27GiB, which is less.
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
            instead: None,
        };
        assert!(refused.to_string().ends_with("at least 1301MiB"));
        assert_eq!(refused.help().unwrap(), "give --memory 1301MiB or more");
    }
}
