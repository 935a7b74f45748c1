//! Mapped files, for look-ups at random.
#![allow(unsafe_code)] // the only place; see `Mapped::open_unchecked`

use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::part::{Kind, PartFile, PartInfo, verify_part};
use crate::store::HEADER_BYTES;
use crate::{Error, Result};

/// The payload of a part, mapped. The kernel may drop its pages whenever it needs memory.
#[derive(Debug)]
pub struct Mapped {
    map: Mmap,
    end: usize,
    path: PathBuf,
}

impl Mapped {
    /// Checks the whole part once, then maps it.
    pub fn open(path: &Path, kind: Kind, parameters: u128, info: &PartInfo) -> Result<Self> {
        verify_part(path, kind, Some(info))?;
        Mapped::open_unchecked(path, kind, parameters, info)
    }

    /// Maps a part of which only header and footer are checked: what is read must carry a checksum of
    /// its own.
    pub fn open_unchecked(
        path: &Path,
        kind: Kind,
        parameters: u128,
        info: &PartInfo,
    ) -> Result<Self> {
        let part = PartFile::open(path, kind, Some(parameters), Some(info))?;
        let end = part.payload_end() as usize;
        // SAFETY: the file is ours alone: committed parts are never written again, the directory's
        // lock keeps other runs of this program out, and this process opens it for reading only.
        // Somebody who truncates it by hand during a run kills the run (SIGBUS); no memory of
        // another object is read.
        let map = part
            .file()
            .mapped(|file| unsafe { Mmap::map(file) })
            .map_err(Error::io("map", path))?;
        Ok(Mapped {
            map,
            end,
            path: path.to_path_buf(),
        })
    }

    /// The payload.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.map[HEADER_BYTES..self.end]
    }

    /// Lets the kernel drop the pages now; they are read again when they are looked at again.
    pub fn give_back(&self) {
        // SAFETY: the mapping is shared and read-only, so dropping its pages loses nothing: the same
        // bytes come back from the file, which nobody writes (see `open_unchecked`).
        // That it fails only means that the pages stay.
        let _ = unsafe {
            self.map
                .unchecked_advise(memmap2::UncheckedAdvice::DontNeed)
        };
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}
