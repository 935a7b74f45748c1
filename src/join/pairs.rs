//! The pair list on disk: a part in the shape of a run, key = a·2^32 + b, value = shared count.

use crate::Result;
use crate::manifest::Workspace;
use crate::sort::RunFile;
use crate::store::Kind;

/// Two representatives, a < b, and what they share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The document that comes first.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// Fingerprints in both samples.
    pub shared: u32,
}

impl Pair {
    /// The key that orders pairs.
    #[must_use]
    pub fn key(a: u32, b: u32) -> u64 {
        u64::from(a) << 32 | u64::from(b)
    }

    /// The two documents of a key.
    #[must_use]
    pub fn of_key(key: u64) -> (u32, u32) {
        ((key >> 32) as u32, key as u32)
    }
}

/// Opens the committed pair list.
pub(crate) fn open_pairs(workspace: &Workspace) -> Result<RunFile<u64>> {
    let missing = || crate::Error::StageMissing {
        path: workspace.directory().into(),
        stage: "join",
    };
    let entry = workspace.manifest.pairs.as_ref().ok_or_else(missing)?;
    let path = workspace.path("pairs").join(&entry.part.name);
    let parameters = Some(workspace.collection_parameters());
    RunFile::<u64>::open_kind(Kind::Pairs, &path, parameters, Some(&entry.part))
}

/// Calls `each` with every pair of the committed pair list, in order.
pub fn each_pair(workspace: &Workspace, mut each: impl FnMut(Pair) -> Result<()>) -> Result<()> {
    let run = open_pairs(workspace)?;
    let mut cursor = run.range(0, u64::MAX)?;
    let mut pairs = 0;
    while let Some(record) = cursor.head() {
        let (a, b) = Pair::of_key(record.key);
        let shared = record.value;
        each(Pair { a, b, shared })?;
        pairs += 1;
        cursor.advance()?;
    }
    if pairs != run.records() {
        return Err(crate::Error::Corrupt {
            path: workspace.path("pairs"),
            offset_bytes: 0,
            what: "pairs in the list".into(),
            expected: run.records().to_string(),
            found: pairs.to_string(),
        });
    }
    Ok(())
}
