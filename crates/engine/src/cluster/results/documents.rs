//! `exact-duplicates.tsv`, `documents.tsv` and `documents.parquet`.

use crate::collection::{
    self, Captured, Catalogue, DocumentView, Names, Sameness, SharedTexts, each_document_of,
    each_place,
};
use lookalike_base::Result;
use lookalike_base::progress::Context;
use lookalike_store::table::{Cell, Column, Table, cells, columns, only_if};
use lookalike_store::workspace::{InputList, Manifest, ResultFile, Workspace};

use super::components::Components;
use super::lines::{parameters, size_column};
use super::{ClusterStats, STAGE, TABLES};

/// The columns of `exact-duplicates.tsv`.
pub(super) fn exact_columns(manifest: &Manifest) -> [Column; 8] {
    let mut columns = columns! {
        docno: Text, representative: Text, md5: Text, match: Text, url: Text or "",
        date: Text or "", representative_url: Text or "", representative_date: Text or "",
    };
    only_if(&mut columns[4..], collection::has_captures(manifest));
    columns
}

/// The columns of `documents.tsv` and `documents.parquet`.
pub(super) fn columns(manifest: &Manifest) -> [Column; 13] {
    let mut columns = columns! {
        docno: Text, url: Text or "", words: I64, shingles: U32, size_group: U32,
        cluster: U32 or "", document: U32, file: Text, record: I64 or "", offset: I64,
        exact_duplicate_of: U32 or "" in Parquet, md5: Text in Parquet,
        date: Text or "",
    };
    only_if(&mut columns[12..], collection::has_captures(manifest));
    columns[3].name = size_column(manifest);
    columns
}

/// Writes `exact-duplicates.tsv` and `documents.tsv`.
pub(super) fn write_documents(
    workspace: &Workspace,
    names: &Names,
    components: &Components,
    stats: &mut ClusterStats,
    context: &Context<'_>,
) -> Result<[ResultFile; 2]> {
    let (directory, parameters) = (workspace.directory(), parameters(&workspace.manifest));
    let columns = exact_columns(&workspace.manifest);
    let mut exact = Table::create(directory, "exact-duplicates.tsv", &parameters, &columns)?;
    let mut texts = SharedTexts::new(workspace)?;
    let before = collection::against(&workspace.manifest).segments as usize;
    let before = collection::segments(&workspace.manifest).get(..before);
    each_document_of(workspace, before.unwrap_or_default(), |number, document| {
        context.tick(STAGE, number)?;
        texts.put(number, document.text);
        Ok(())
    })?;
    let (mut identical, mut known) = (0, false);
    let mut each = |number: u32, document: &DocumentView<'_>, first: Option<u32>, md5: Cell<'_>| {
        texts.put(number, document.text);
        let Some(first) = first else {
            return Ok(());
        };
        let same = texts.compare(number, first);
        identical += u64::from(same == Sameness::Identical);
        known |= same != Sameness::Unknown;
        let (own, (representative, other)) = (Captured::of(document), names.named(first)?);
        exact.row(&cells! {
            document.docno, &representative, md5, same.text(), own.url.as_ref(),
            own.date.as_ref(), other.url.as_ref(), other.date.as_ref(),
        })
    };
    let file = ("documents.tsv", STAGE);
    let all = write_rows(workspace, file, components, context, &mut each)?;
    stats.identical = known.then_some(identical);
    Ok([exact.done()?, all])
}

/// Writes `documents.parquet`.
pub(super) fn documents_table(
    workspace: &Workspace,
    components: &Components,
    context: &Context<'_>,
) -> Result<ResultFile> {
    let mut none = |_, _: &DocumentView<'_>, _, _: Cell<'_>| Ok(());
    let file = ("documents.parquet", TABLES);
    write_rows(workspace, file, components, context, &mut none)
}

/// Takes a document, its representative if it is an exact duplicate, and its MD5.
type Each<'e> = dyn FnMut(u32, &DocumentView<'_>, Option<u32>, Cell<'_>) -> Result<()> + 'e;

/// Writes a row for each document to a file, and passes the document on.
fn write_rows(
    workspace: &Workspace,
    (name, stage): (&str, &'static str),
    components: &Components,
    context: &Context<'_>,
    each: &mut Each<'_>,
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
        each(number, &document, first, md5)?;
        let cluster = components.cluster(number).map(|(_, cluster)| cluster);
        let file = inputs.name_of(document.file)?;
        let record = numbered.then_some(record);
        table.row(&cells! {
            document.docno, document.url, document.words, document.shingles, document.group,
            cluster, number, file, record, document.offset, first, md5, document.date.0,
        })
    })?;
    firsts.finish()?;
    table.done()
}
