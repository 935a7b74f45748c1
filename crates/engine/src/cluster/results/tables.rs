//! `pairs.parquet`, `review.parquet`, `clusters.parquet` and `documents.parquet`: the results with
//! their types, for databases and data frames.
//!
//! They are made from the same pairs as the text files, at any time after them. The manifest names
//! them in a record of its own, so that text files and tables can be made again one without the
//! other.

use crate::join::PairsEntry;
use lookalike_base::{Context, Result};
use lookalike_store::{ResultFile, StageRecord, TABLE_BYTES, Workspace, disk};
use serde::{Deserialize, Serialize};

use super::clusters::clusters_table;
use super::documents::documents_table;
use super::pairs::pairs_table;
use super::{Clustered, TABLES, exist};

/// The files of this step. The last one is there if pairs are to be reviewed.
pub const TABLE_FILES: [&str; 4] = [
    "pairs.parquet",
    "clusters.parquet",
    "documents.parquet",
    "review.parquet",
];

/// The results as tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TablesEntry {
    /// Digest of the pairs that they were made from.
    pub digest: String,
    /// Name, size and checksum of each.
    pub files: Vec<ResultFile>,
}

impl StageRecord for TablesEntry {
    const NAME: &'static str = TABLES;
    const OMITTED: bool = true;

    fn files(&self) -> &[ResultFile] {
        &self.files
    }
}

/// Writes the tables, unless complete tables of these pairs exist.
pub fn write_tables(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    let pairs = workspace.record::<PairsEntry>("join")?;
    let (digest, lists) = (pairs.digest.clone(), pairs.lists());
    if workspace.matches::<TablesEntry>(|of| of.digest == digest && exist(workspace, &of.files)) {
        return Ok(());
    }
    if workspace.manifest.take::<TablesEntry>().is_some() {
        workspace.commit(&[])?;
    }
    let of = Clustered::open(
        workspace,
        (TABLES, TABLE_BYTES),
        &mut Default::default(),
        context,
    )?;
    let pairs = lists.map(|list| pairs_table(&of, list));
    let mut files = pairs.collect::<Result<Vec<_>>>()?;
    files.push(clusters_table(&of)?);
    files.push(documents_table(&of)?);
    workspace.manifest.set(TablesEntry { digest, files });
    workspace.commit(&[])
}

/// Removes the tables, unless they were made from the pairs with this digest.
pub(super) fn remove_stale(workspace: &mut Workspace, digest: &str) -> Result<()> {
    let tables = workspace.manifest.get::<TablesEntry>();
    if tables.is_some_and(|tables| tables.digest == digest) {
        return Ok(());
    }
    if workspace.manifest.take::<TablesEntry>().is_some() {
        workspace.commit(&[])?;
    }
    let directory = workspace.directory();
    let mut names = TABLE_FILES.iter();
    names.try_for_each(|name| disk::remove(&directory.join(name)))
}
