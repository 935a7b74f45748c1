//! Visits all documents in order, and reads the fingerprint sets that the caller wants.

use super::Catalogue;
use super::sets::{SetBlock, SetFile};
use lookalike_base::{Error, Key, Result};
use lookalike_store::Workspace;

/// Calls `each` with every document, in order: its number, the number of its stored keys, and a
/// function that reads these keys, little-endian.
pub fn each_set<K: Key>(
    workspace: &Workspace,
    mut each: impl FnMut(u32, u32, &mut dyn FnMut(&mut Vec<u8>) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let mut segments = super::segments(&workspace.manifest).iter().peekable();
    let (mut segment, mut file, mut block) = (None, None, SetBlock::default());
    // Where the next set begins in its segment.
    let mut next = 0u64;
    Catalogue::stored_in_order(workspace)?.each(|document, keys| {
        while let Some(begun) = segments.next_if(|it| it.first_document <= document) {
            (segment, file, next) = (Some(begun), None, 0);
            block = SetBlock::default();
        }
        let start = next;
        next = start.saturating_add(u64::from(keys) * K::BYTES as u64);
        each(document, keys, &mut |out| {
            let file = match (&mut file, segment) {
                (Some(file), _) => file,
                (file, Some(segment)) => file.insert(SetFile::open::<K>(workspace, segment)?),
                (None, None) => {
                    let directory = workspace.directory();
                    return Err(Error::corrupt(directory, "documents of the catalogue")
                        .expected("a segment with them", "none"));
                }
            };
            file.read(start..next, &mut block, out)
        })
    })
}
