//! `exact-duplicates.tsv`, `documents.tsv` and `documents.parquet`.

use crate::collection::{
    self, Captured, Catalogue, DocumentView, Sameness, SharedTexts, each_document_of, each_place,
};
use lookalike_base::Result;
use lookalike_store::{
    Cell, Column, InputList, Manifest, ResultFile, Table, cells, columns, only_if,
};

use super::lines::{parameters, size_column};
use super::{ClusterStats, Clustered, STAGE, TABLES};

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
    of: &Clustered<'_>,
    stats: &mut ClusterStats,
) -> Result<[ResultFile; 2]> {
    let workspace = of.workspace;
    let (directory, parameters) = (workspace.directory(), parameters(&workspace.manifest));
    let columns = exact_columns(&workspace.manifest);
    let mut exact = Table::create(directory, "exact-duplicates.tsv", &parameters, &columns)?;
    let mut texts = SharedTexts::new(workspace)?;
    let before = collection::against(&workspace.manifest).segments as usize;
    let before = collection::segments(&workspace.manifest).get(..before);
    each_document_of(workspace, before.unwrap_or_default(), |number, document| {
        of.context.tick(STAGE, number)?;
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
        let (own, (representative, other)) = (Captured::of(document), of.names.named(first)?);
        exact.row(&cells! {
            document.docno, &representative, md5, same.text(), own.url.as_ref(),
            own.date.as_ref(), other.url.as_ref(), other.date.as_ref(),
        })
    };
    let file = ("documents.tsv", STAGE);
    let all = write_rows(of, file, &mut each)?;
    stats.identical = known.then_some(identical);
    Ok([exact.done()?, all])
}

/// Writes `documents.parquet`.
pub(super) fn documents_table(of: &Clustered<'_>) -> Result<ResultFile> {
    let mut none = |_, _: &DocumentView<'_>, _, _: Cell<'_>| Ok(());
    let file = ("documents.parquet", TABLES);
    write_rows(of, file, &mut none)
}

/// Takes a document, its representative if it is an exact duplicate, and its MD5.
type Each<'e> = dyn FnMut(u32, &DocumentView<'_>, Option<u32>, Cell<'_>) -> Result<()> + 'e;

/// Writes a row for each document to a file, and passes the document on.
fn write_rows(
    of: &Clustered<'_>,
    (name, stage): (&str, &'static str),
    each: &mut Each<'_>,
) -> Result<ResultFile> {
    let (directory, manifest) = (of.workspace.directory(), &of.workspace.manifest);
    let columns = columns(manifest);
    let mut table = Table::create(directory, name, &parameters(manifest), &columns)?;
    let mut inputs = InputList::open(directory)?;
    // The directory of a method has no rejected records, so it cannot number the records.
    let numbered = manifest.method.is_none();
    let mut firsts = Catalogue::representatives_in_order(of.workspace)?;
    firsts.skip_to(collection::against(manifest).documents)?;
    each_place(of.workspace, |number, record, document| {
        of.context.advance(stage, number)?;
        let first = firsts.next()?.filter(|&first| first != number);
        let md5 = Cell::Digest(u128::from_be_bytes(document.md5));
        each(number, &document, first, md5)?;
        let cluster = of.components.cluster(number).map(|(_, cluster)| cluster);
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
