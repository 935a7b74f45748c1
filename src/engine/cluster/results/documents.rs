//! `exact-duplicates.tsv`, `documents.tsv` and `documents.parquet`.

use crate::Result;
use crate::base::progress::Context;
use crate::engine::collection::{self, Catalogue, Names, each_place};
use crate::store::table::{Cell, Column, Table, cells, columns};
use crate::store::workspace::{InputList, Manifest, ResultFile, Workspace};

use super::components::Components;
use super::lines::{parameters, size_column};
use super::{STAGE, TABLES};

/// The columns of `exact-duplicates.tsv`.
pub(super) const EXACT: [Column; 3] = columns! { docno: Text, representative: Text, md5: Text };

/// The columns of `documents.tsv` and `documents.parquet`.
pub(super) fn columns(manifest: &Manifest) -> [Column; 12] {
    let mut columns = columns! {
        docno: Text, url: Text or "", words: I64, shingles: U32, size_group: U32,
        cluster: U32 or "", document: U32, file: Text, record: I64 or "", offset: I64,
        exact_duplicate_of: U32 or "" in Parquet, md5: Text in Parquet,
    };
    columns[3].name = size_column(manifest);
    columns
}

/// Writes `exact-duplicates.tsv` and `documents.tsv`.
pub(super) fn write_documents(
    workspace: &Workspace,
    names: &Names,
    context: &Context<'_>,
    components: &Components,
) -> Result<[ResultFile; 2]> {
    let (directory, parameters) = (workspace.directory(), parameters(&workspace.manifest));
    let mut exact = Table::create(directory, "exact-duplicates.tsv", &parameters, &EXACT)?;
    let mut each = |docno: &str, first: u32, md5: Cell<'_>| {
        exact.row(&cells! { docno, &names.get(first)?, md5 })
    };
    let all = write_rows(
        workspace,
        ("documents.tsv", STAGE),
        components,
        context,
        &mut each,
    )?;
    Ok([exact.done()?, all])
}

/// Writes `documents.parquet`.
pub(super) fn documents_table(
    workspace: &Workspace,
    components: &Components,
    context: &Context<'_>,
) -> Result<ResultFile> {
    let mut none = |_: &str, _, _: Cell<'_>| Ok(());
    write_rows(
        workspace,
        ("documents.parquet", TABLES),
        components,
        context,
        &mut none,
    )
}

/// Writes a row for each document to a file, and passes on the docno of each exact duplicate, its
/// representative and its MD5.
fn write_rows(
    workspace: &Workspace,
    (name, stage): (&str, &'static str),
    components: &Components,
    context: &Context<'_>,
    exact: &mut dyn FnMut(&str, u32, Cell<'_>) -> Result<()>,
) -> Result<ResultFile> {
    let (directory, manifest) = (workspace.directory(), &workspace.manifest);
    let columns = columns(manifest);
    let mut table = Table::create(directory, name, &parameters(manifest), &columns)?;
    let mut inputs = InputList::open(directory)?;
    // The directory of a method has no rejected records, so it cannot number the records.
    let numbered = manifest.method.is_none();
    let mut firsts = Catalogue::representatives_in_order(workspace)?;
    firsts.skip_to(collection::against(manifest).documents)?;
    each_place(workspace, |number, record, document| {
        context.advance(stage, number)?;
        let first = firsts.next()?.filter(|&first| first != number);
        let md5 = Cell::Digest(u128::from_be_bytes(document.md5));
        if let Some(first) = first {
            exact(document.docno, first, md5)?;
        }
        let cluster = components.cluster(number).map(|(_, cluster)| cluster);
        let file = inputs.entry_of(document.file)?;
        let file = file.map_or("", |input| &input.name);
        let record = numbered.then_some(record);
        table.row(&cells! {
            document.docno, document.url, document.words, document.shingles, document.group,
            cluster, number, file, record, document.offset, first, md5,
        })
    })?;
    firsts.finish()?;
    table.done()
}
