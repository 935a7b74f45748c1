//! `exact-duplicates.tsv` and `documents.tsv`.

use crate::Result;
use crate::collection::{self, Catalogue, Names, each_place};
use crate::progress::Context;
use crate::store::disk::AtomicFile;
use crate::workspace::{InputList, ResultFile, Workspace};
use std::fmt::Write;

use super::STAGE;
use super::components::Components;
use super::lines::{cell, finished, size_column};

/// Writes `exact-duplicates.tsv` and `documents.tsv`.
pub(super) fn write_documents(
    workspace: &Workspace,
    header: &str,
    names: &Names,
    context: &Context<'_>,
    components: &Components,
) -> Result<[ResultFile; 2]> {
    let directory = workspace.directory();
    let mut exact = AtomicFile::create(&directory.join("exact-duplicates.tsv"))?;
    exact.put(header.as_bytes())?;
    exact.put(b"docno\trepresentative\tmd5\n")?;
    let mut all = AtomicFile::create(&directory.join("documents.tsv"))?;
    all.put(header.as_bytes())?;
    let size = size_column(&workspace.manifest);
    let columns =
        format!("docno\turl\twords\t{size}\tsize_group\tcluster\tdocument\tfile\trecord\toffset\n");
    all.put(columns.as_bytes())?;
    let mut line = String::new();
    let mut inputs = InputList::open(directory)?;
    // The directory of a method has no rejected records, so it cannot number the records.
    let numbered = workspace.manifest.method.is_none();
    let mut firsts = Catalogue::representatives_in_order(workspace)?;
    firsts.skip_to(collection::against(&workspace.manifest).documents)?;
    each_place(workspace, |number, record, document| {
        if number.is_multiple_of(4096) {
            context.stop.check(STAGE)?;
            context.progress.at(number.into());
        }
        let first = firsts.next()?.unwrap_or(number);
        let docno = cell(&document.docno);
        if first != number {
            line.clear();
            let _ = write!(line, "{docno}\t{}\t", cell(&names.get(first)?));
            for byte in document.md5 {
                let _ = write!(line, "{byte:02x}");
            }
            line.push('\n');
            exact.put(line.as_bytes())?;
        }
        line.clear();
        let url = document.url.as_deref().unwrap_or_default();
        let cluster = components.cluster(number);
        let cluster = cluster.map_or_else(String::new, |(_, number)| number.to_string());
        let (words, shingles, group) = (document.words, document.shingles, document.group);
        let _ = write!(
            line,
            "{docno}\t{}\t{words}\t{shingles}\t{group}\t{cluster}",
            cell(url)
        );
        let file = inputs.entry_of(document.file)?;
        let file = cell(file.map_or("", |input| &input.name));
        let _ = write!(line, "\t{number}\t{file}\t");
        if numbered {
            let _ = write!(line, "{record}");
        }
        let _ = writeln!(line, "\t{}", document.offset);
        all.put(line.as_bytes())
    })?;
    firsts.finish()?;
    Ok([
        finished("exact-duplicates.tsv", exact)?,
        finished("documents.tsv", all)?,
    ])
}
