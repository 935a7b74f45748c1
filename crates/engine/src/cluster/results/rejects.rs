//! `rejects.jsonl`.

use crate::collection::{self, CatalogueEntry, RejectReader};
use lookalike_base::Result;
use lookalike_store::{AtomicFile, Column, InputList, PartInfo, ResultFile, Workspace, columns};
use lookalike_text::read::{Reject, SaidOnce};
use std::fmt::Write;
use std::path::Path;

use super::ClusterStats;
use super::lines::json;

/// The members of the objects in `rejects.jsonl`.
pub(super) const COLUMNS: [Column; 6] = columns! {
    file: Text, offset: I64, docno: Text or "", reason: Text, detail: Text or "", document: Text,
};

/// `rejects.jsonl`: in input order, then docnos that are not unique.
pub fn write_rejects(workspace: &Workspace, stats: &mut ClusterStats) -> Result<ResultFile> {
    let manifest = &workspace.manifest;
    let mut out = AtomicFile::create(&workspace.directory().join("rejects.jsonl"))?;
    let mut inputs = InputList::open(workspace.directory())?;
    let first = collection::against(manifest).files;
    let segments = collection::own_segments(manifest)
        .iter()
        .map(|s| ("collection", &s.rejects));
    let catalogue = manifest
        .get::<CatalogueEntry>()
        .into_iter()
        .flat_map(CatalogueEntry::levels)
        .map(|level| ("catalogue", &level.rejects));
    let mut said = SaidOnce::default();
    for (place, info) in segments.chain(catalogue) {
        let path = workspace.part(place, &info.name);
        let part = (path.as_path(), workspace.collection_parameters(), info);
        each_reject(part, &mut said, |reject, kept| {
            if reject.source.file < first {
                return Ok(());
            }
            let file = inputs.path_of(reject.source.file)?;
            stats.rejects += 1;
            out.put(reject_line(file, reject, kept).as_bytes())
        })?;
    }
    Ok(ResultFile::new("rejects.jsonl", out.finish()?))
}

/// Passes the rejects of a part to `take`, and whether the document of each is used nevertheless.
pub fn each_reject(
    (path, parameters, info): (&Path, u128, &PartInfo),
    said: &mut SaidOnce,
    mut take: impl FnMut(&Reject, bool) -> Result<()>,
) -> Result<()> {
    let mut rejects = RejectReader::open(path, Some(parameters), Some(info))?;
    while let Some((mut reject, kept)) = rejects.next_reject()? {
        // A file may be in several segments.
        if let Some(detail) = said.detail(&reject) {
            reject.detail = detail.into();
        }
        take(&reject, kept)?;
    }
    rejects.finish()
}

/// One line of `rejects.jsonl`.
pub fn reject_line(file: &str, reject: &Reject, kept: bool) -> String {
    let mut line = String::new();
    let _ = write!(
        line,
        "{{\"file\":{},\"offset\":{}",
        json(file),
        reject.source.offset
    );
    if let Some(docno) = &reject.docno {
        let _ = write!(line, ",\"docno\":{}", json(docno));
    }
    let _ = write!(line, ",\"reason\":{}", json(reject.reason.text()));
    if !reject.detail.is_empty() {
        let _ = write!(line, ",\"detail\":{}", json(&reject.detail));
    }
    let _ = writeln!(
        line,
        ",\"document\":\"{}\"}}",
        if kept { "used" } else { "rejected" }
    );
    line
}
