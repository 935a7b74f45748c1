//! Files mapped into memory, for random look-ups.
#![allow(unsafe_code)] // see `Mapped::of`

use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::part::PartFile;
use crate::HEADER_BYTES;
use lookalike_base::{Error, Result};

/// The mapped payload of a part. The kernel may drop its pages whenever it needs memory.
#[derive(Debug)]
pub struct Mapped {
    map: Mmap,
    end: usize,
    path: PathBuf,
}

impl Mapped {
    /// Maps a part. The content needs checksums of its own.
    pub fn of(part: &PartFile) -> Result<Self> {
        // SAFETY: no other program changes the file. Committed parts are never written again, the
        // directory's lock keeps other runs of this program out, and this process opens the file
        // only for reading. If a user truncates the file during a run, the run is killed (SIGBUS),
        // but it does not read the memory of another object.
        let map = part
            .file()
            .mapped(|file| unsafe { Mmap::map(file) })
            .map_err(Error::io("map", part.path()))?;
        // A look at a page can map 2 MiB of the file otherwise, and the pages in memory are counted
        // in smaller units. Systems without such pages refuse the advice.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::NoHugePage);
        // Only pages that are looked at are read. If the file does not fit in the page cache, these
        // pages may still fit.
        let _ = map.advise(memmap2::Advice::Random);
        Ok(Mapped {
            map,
            end: part.payload_end() as usize,
            path: part.path().to_path_buf(),
        })
    }

    /// The payload.
    pub fn bytes(&self) -> &[u8] {
        &self.map[HEADER_BYTES..self.end]
    }

    /// Lets the kernel read a part of the payload at once, not page by page.
    pub fn will_need(&self, from: usize, length: usize) {
        let _ = self
            .map
            .advise_range(memmap2::Advice::WillNeed, HEADER_BYTES + from, length);
    }

    /// Lets the kernel drop the pages. The next access reads them from the file again.
    pub fn give_back(&self) {
        // SAFETY: the mapping is shared and read-only, so dropping its pages loses nothing. The
        // same bytes come back from the file, which no process writes (see `of`). If
        // the call fails, the pages simply remain in memory.
        let _ = unsafe {
            self.map
                .unchecked_advise(memmap2::UncheckedAdvice::DontNeed)
        };
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
