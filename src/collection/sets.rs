//! The fingerprint sets of a segment, read in order.

use crate::Result;
use crate::ids::Key;
use crate::manifest::{SegmentEntry, Workspace};
use crate::store::{Kind, PartReader};

/// Keys handed on at once: a set may be larger than memory.
const PIECE: usize = 16 << 10;

/// Reads the stored sets of a segment, document by document.
pub struct SetReader<K> {
    part: PartReader,
    piece: Vec<K>,
}

impl<K: Key> SetReader<K> {
    /// Opens a segment's sets.
    pub fn open(
        workspace_directory: &std::path::Path,
        parameters: u128,
        segment: &SegmentEntry,
    ) -> Result<Self> {
        let info = &segment.fingerprints;
        let path = workspace_directory.join("collection").join(&info.name);
        let part = PartReader::open(&path, Kind::Fingerprints, Some(parameters), Some(info))?;
        if part.header.key_bytes as usize != K::BYTES {
            return Err(part.corrupt("key size", K::BYTES, part.header.key_bytes));
        }
        Ok(SetReader {
            part,
            piece: Vec::new(),
        })
    }

    /// Opens a segment's sets in a workspace.
    pub fn of(workspace: &Workspace, segment: &SegmentEntry) -> Result<Self> {
        SetReader::open(
            workspace.directory(),
            workspace.collection_parameters(),
            segment,
        )
    }

    /// The next document's set of `size` keys, in rising pieces.
    pub fn next(&mut self, size: u32, mut take: impl FnMut(&[K]) -> Result<()>) -> Result<()> {
        let mut left = size as usize;
        while left > 0 {
            let n = left.min(PIECE);
            let bytes = self.part.take(n * K::BYTES)?;
            self.piece.clear();
            self.piece
                .extend(bytes.chunks_exact(K::BYTES).map(K::get_le));
            take(&self.piece)?;
            left -= n;
        }
        Ok(())
    }

    /// Checks the whole part.
    pub fn finish(self) -> Result<()> {
        self.part.finish()
    }
}
