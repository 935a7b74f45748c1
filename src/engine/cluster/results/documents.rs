//! `exact-duplicates.tsv` and `documents.tsv`.

use crate::Result;
use crate::base::progress::Context;
use crate::engine::collection::{self, Catalogue, Names, each_place};
use crate::store::disk::AtomicFile;
use crate::store::workspace::{InputList, ResultFile, Workspace};
use std::fmt::Write;

use super::STAGE;
use super::components::Components;
use super::lines::{cell, finished, push_column, size_column};

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
    // The file of the last document, and its name.
    let mut of: Option<(u32, String)> = None;
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
        let docno = cell(document.docno);
        if first != number {
            line.clear();
            let (representative, md5) = (names.get(first)?, u128::from_be_bytes(document.md5));
            let _ = writeln!(line, "{docno}\t{}\t{md5:032x}", cell(&representative));
            exact.put(line.as_bytes())?;
        }
        let input = match &of {
            Some((file, name)) if *file == document.file => name,
            _ => {
                let input = inputs.entry_of(document.file)?;
                let name = input.map_or_else(String::new, |input| cell(&input.name).into_owned());
                &of.insert((document.file, name)).1
            }
        };
        line.clear();
        line.push_str(&docno);
        line.push('\t');
        line.push_str(&cell(document.url.unwrap_or_default()));
        let cluster = components.cluster(number);
        for column in [
            Some(document.words),
            Some(document.shingles.into()),
            Some(document.group.into()),
            cluster.map(|(_, cluster)| cluster.into()),
            Some(number.into()),
        ] {
            push_column(&mut line, column);
        }
        line.push('\t');
        line.push_str(input);
        push_column(&mut line, numbered.then_some(record));
        push_column(&mut line, Some(document.offset));
        line.push('\n');
        all.put(line.as_bytes())
    })?;
    firsts.finish()?;
    Ok([
        finished("exact-duplicates.tsv", exact)?,
        finished("documents.tsv", all)?,
    ])
}
