//! Reads the fingerprint sets of a few documents, in their order.

use std::marker::PhantomData;
use std::ops::Range;

use super::sets::{SetBlock, SetFile};
use lookalike_base::ids::Key;
use lookalike_base::{Error, Result};
use lookalike_store::workspace::Workspace;

/// The sets of a collection, read where they are wanted, in the order of the documents.
pub struct SetsByPlace<'a, K> {
    workspace: &'a Workspace,
    /// The number of segments that begin at or before the current document.
    segments: usize,
    /// Where the next set begins in its segment.
    next: u64,
    file: Option<SetFile>,
    block: SetBlock,
    key: PhantomData<K>,
}

impl<'a, K: Key> SetsByPlace<'a, K> {
    /// Begins before the first document.
    pub fn new(workspace: &'a Workspace) -> Self {
        SetsByPlace {
            workspace,
            segments: 0,
            next: 0,
            file: None,
            block: SetBlock::default(),
            key: PhantomData,
        }
    }

    /// Goes past a document with this number of keys; returns the place of its set.
    pub fn pass(&mut self, document: u32, keys: u32) -> Range<u64> {
        let segments = super::segments(&self.workspace.manifest);
        while segments
            .get(self.segments)
            .is_some_and(|segment| segment.first_document <= document)
        {
            self.segments += 1;
            self.next = 0;
            self.file = None;
            self.block = SetBlock::default();
        }
        let start = self.next;
        self.next = start.saturating_add(u64::from(keys) * K::BYTES as u64);
        start..self.next
    }

    /// Reads the set at a place of the current segment.
    pub fn read(&mut self, place: Range<u64>, out: &mut Vec<u8>) -> Result<()> {
        let segments = super::segments(&self.workspace.manifest);
        let segment = self.segments.checked_sub(1).and_then(|at| segments.get(at));
        let file = match (&mut self.file, segment) {
            (Some(file), _) => file,
            (file, Some(segment)) => file.insert(SetFile::open::<K>(self.workspace, segment)?),
            (None, None) => {
                let directory = self.workspace.directory();
                return Err(Error::corrupt(directory, "documents of the catalogue")
                    .expected("a segment with them", "none"));
            }
        };
        file.read(place, &mut self.block, out)
    }
}
