//! `exact-duplicates.tsv` and `documents.tsv`.

use crate::Result;
use crate::collection::{Catalogue, each_document};
use crate::progress::Context;
use crate::store::disk::AtomicFile;
use crate::workspace::{ResultFile, Workspace};
use std::fmt::Write;

use super::lines::{cell, finished};
use super::{NO_CLUSTER, STAGE};

/// `exact-duplicates.tsv` and `documents.tsv`; `place` gives representative and cluster.
pub(super) fn write_documents(
    workspace: &Workspace,
    context: &Context<'_>,
    header: &str,
    files: &mut Vec<ResultFile>,
    mut place: impl FnMut(u32) -> (u32, u32),
) -> Result<()> {
    let directory = workspace.directory();
    let names = Catalogue::names(workspace)?;
    let mut exact = AtomicFile::create(&directory.join("exact-duplicates.tsv"))?;
    exact.put(header.as_bytes())?;
    exact.put(b"docno\trepresentative\tmd5\n")?;
    let mut all = AtomicFile::create(&directory.join("documents.tsv"))?;
    all.put(header.as_bytes())?;
    let keys = match workspace.manifest.method {
        Some(_) => "keys",
        None => "shingles",
    };
    let columns = format!("docno\turl\twords\t{keys}\tsize_group\tcluster\n");
    all.put(columns.as_bytes())?;
    let mut line = String::new();
    each_document(workspace, |number, document| {
        if number.is_multiple_of(4096) {
            context.stop.check(STAGE)?;
            context.progress.at(number.into());
        }
        let (first, cluster) = place(number);
        let docno = cell(&document.docno);
        if first != number {
            line.clear();
            let _ = write!(line, "{docno}\t{}\t", cell(names.get(first)?));
            for byte in document.md5 {
                let _ = write!(line, "{byte:02x}");
            }
            line.push('\n');
            exact.put(line.as_bytes())?;
        }
        line.clear();
        let url = document.url.as_deref().unwrap_or_default();
        let cluster = if cluster == NO_CLUSTER {
            String::new()
        } else {
            cluster.to_string()
        };
        let (words, shingles, group) = (document.words, document.shingles, document.group);
        let _ = writeln!(
            line,
            "{docno}\t{}\t{words}\t{shingles}\t{group}\t{cluster}",
            cell(url)
        );
        all.put(line.as_bytes())
    })?;
    files.push(finished("exact-duplicates.tsv", exact)?);
    files.push(finished("documents.tsv", all)?);
    Ok(())
}
