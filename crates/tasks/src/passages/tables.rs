//! The columns of the result files, and the files as Parquet tables.

use super::{
    BOILERPLATE_FILE, COMMON_FILE, COMMON_PLACES_FILE, COVERAGE_FILE, MATCHES_FILE, OVERLAPS_FILE,
    REMOVABLE_FILE, REUSE_CLUSTERS_FILE, REUSE_FILE, REUSE_MATCHES_FILE, REUSE_PLACES_FILE,
    SPANS_FILE, STAGE,
};
use lookalike_base::Result;
use lookalike_base::progress::Context;
use lookalike_engine::collection;
use lookalike_engine::table::TypedTable;
use lookalike_store::disk::AtomicFile;
use lookalike_store::table::{Cell, Column, Table, columns};
use lookalike_store::workspace::{ResultFile, Workspace};

/// Parameters that a file states: name and value.
pub(super) type How = [(&'static str, String)];

/// A range of a document.
pub(super) const SPANS: [Column; 9] = columns! {
    docno: Text, begin_token: I64, end_token: I64, begin_byte: I64, end_byte: I64,
    begin_line: I64, end_line: I64, file: Text, record: I64,
};

pub(super) const COVERAGE: [Column; 11] = columns! {
    docno: Text, tokens: I64, repeated_tokens: I64, removable_tokens: I64, spans: I64,
    longest: I64 or "-", bytes: I64, repeated_bytes: I64, file: Text, record: I64, document: I64,
};

const MATCHES: [Column; 12] = columns! {
    docno_a: Text, docno_b: Text, begin_a: I64, begin_b: I64, tokens: I64, begin_byte_a: I64,
    end_byte_a: I64, begin_byte_b: I64, end_byte_b: I64, common: I64, document_a: I64,
    document_b: I64,
};

const OVERLAPS: [Column; 10] = columns! {
    docno_a: Text, docno_b: Text, matches: I64 or "-", longest: I64 or "-", tokens_a: I64,
    share_a: F64, tokens_b: I64, share_b: F64, document_a: I64, document_b: I64,
};

/// A passage, the number of documents or groups that have it, and its first place. Only boilerplate
/// has the text.
const COMMON: [Column; 10] = columns! {
    passage: I64, tokens: I64, documents: I64, places: I64, docno: Text, begin_token: I64,
    end_token: I64, begin_byte: I64, end_byte: I64, document: I64,
};
const BOILERPLATE: [Column; 11] = columns! {
    passage: I64, tokens: I64, groups: I64, places: I64, docno: Text, begin_token: I64,
    end_token: I64, begin_byte: I64, end_byte: I64, document: I64, text: Text,
};

/// A place of a passage, and the group of its document if there are groups.
const COMMON_PLACES: [Column; 7] = columns! {
    passage: I64, docno: Text, begin_token: I64, end_token: I64, begin_byte: I64, end_byte: I64,
    document: I64,
};
const BOILERPLATE_PLACES: [Column; 8] = columns! {
    passage: I64, group: Text, docno: Text, begin_token: I64, end_token: I64, begin_byte: I64,
    end_byte: I64, document: I64,
};

/// A reuse of two documents: where it begins and ends in each, its matched tokens, their share of
/// the longer span, and the number of its matches.
const REUSE: [Column; 17] = columns! {
    reuse: I64, cluster: I64, docno_a: Text, docno_b: Text, begin_a: I64, end_a: I64, begin_b: I64,
    end_b: I64, tokens: I64, density: F64, matches: I64, begin_byte_a: I64, end_byte_a: I64,
    begin_byte_b: I64, end_byte_b: I64, document_a: I64, document_b: I64,
};
const REUSE_MATCHES: [Column; 13] = columns! {
    reuse: I64, docno_a: Text, docno_b: Text, begin_a: I64, begin_b: I64, tokens: I64,
    begin_byte_a: I64, end_byte_a: I64, begin_byte_b: I64, end_byte_b: I64, common: I64,
    document_a: I64, document_b: I64,
};

/// A cluster and its earliest place: the place of the least `date`, or the first one by `order`.
const REUSE_CLUSTERS: [Column; 12] = columns! {
    cluster: I64, places: I64, documents: I64, longest: I64, earliest_by: Text, date: Text or "-",
    docno: Text, begin_token: I64, end_token: I64, begin_byte: I64, end_byte: I64, document: I64,
};
const REUSE_PLACES: [Column; 8] = columns! {
    cluster: I64, date: Text or "-", docno: Text, begin_token: I64, end_token: I64,
    begin_byte: I64, end_byte: I64, document: I64,
};

/// The columns of a result file.
fn columns(file: &str) -> &'static [Column] {
    match file {
        SPANS_FILE | REMOVABLE_FILE => &SPANS,
        COVERAGE_FILE => &COVERAGE,
        MATCHES_FILE => &MATCHES,
        OVERLAPS_FILE => &OVERLAPS,
        COMMON_FILE => &COMMON,
        COMMON_PLACES_FILE => &COMMON_PLACES,
        BOILERPLATE_FILE => &BOILERPLATE,
        REUSE_FILE => &REUSE,
        REUSE_MATCHES_FILE => &REUSE_MATCHES,
        REUSE_CLUSTERS_FILE => &REUSE_CLUSTERS,
        REUSE_PLACES_FILE => &REUSE_PLACES,
        _ => &BOILERPLATE_PLACES,
    }
}

/// Begins a result file.
pub(super) fn create(workspace: &Workspace, name: &str, how: &How) -> Result<Table<AtomicFile>> {
    let mut parameters = vec![("format", "lookalike 1".to_string())];
    let of_collection = collection::config(&workspace.manifest).parameters();
    // The condition of the search is in `how`.
    parameters.extend(
        of_collection
            .into_iter()
            .filter(|(name, _)| *name != "where"),
    );
    parameters.extend(how.iter().cloned());
    Table::create(workspace.directory(), name, &parameters, columns(name))
}

/// Writes a Parquet table with the rows of a text file. The search that found the rows may have
/// been stopped after the text file was complete, so it is not repeated.
pub(super) fn write(
    workspace: &Workspace,
    file: &ResultFile,
    context: &Context<'_>,
) -> Result<ResultFile> {
    let (directory, columns) = (workspace.directory(), columns(&file.name));
    let mut lines = TypedTable::open(&directory.join(&file.name), columns)?;
    let parameters = lines.table().comments().iter();
    let parameters: Vec<_> = parameters.map(|(n, v)| (n.as_str(), v.clone())).collect();
    let name = file.name.replace(".tsv", ".parquet");
    let mut table = Table::create(directory, &name, &parameters, columns)?;
    while let Some(put) = lines.row(|cells| table.row(cells))? {
        put?;
        context.tick(STAGE, lines.table().number())?;
    }
    table.done()
}

/// A share, rounded down to six decimals, so that 1.000000 is all.
pub(super) fn share(part: u64, whole: u64) -> Cell<'static> {
    let millionths = u128::from(part) * 1_000_000 / u128::from(whole.max(1));
    Cell::Real(millionths as f64 / 1e6)
}
