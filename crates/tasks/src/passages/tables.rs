//! The columns and the rows of the result files, and the files as Parquet tables.

use std::ops::Range;

use super::places::Place;
use super::{
    BOILERPLATE_FILE, BOILERPLATE_PLACES_FILE, COMMON_FILE, COMMON_PLACES_FILE, COVERAGE_FILE,
    MATCHES_FILE, OVERLAPS_FILE, REMOVABLE_FILE, REUSE_CLUSTERS_FILE, REUSE_FILE,
    REUSE_MATCHES_FILE, SPANS_FILE, STAGE,
};
use lookalike_base::{Context, Result};
use lookalike_engine::collection::{
    self, Captured, ColumnBuilder, DocumentView, Names, each_place,
};
use lookalike_engine::table::TypedTable;
use lookalike_store::{AtomicFile, Cell, Column, ResultFile, Table, Workspace, cells, columns};

/// Parameters that a file states: name and value.
pub(super) type How = [(&'static str, String)];

/// A range of a document.
const SPANS: [Column; 9] = columns! {
    docno: Text, begin_token: I64, end_token: I64, begin_byte: I64, end_byte: I64,
    begin_line: I64, end_line: I64, file: Text, record: I64,
};

/// A place of a passage; only boilerplate has the text.
const PLACE: &[Column] = &columns! {
    docno: Text, begin_token: I64, end_token: I64, begin_byte: I64, end_byte: I64, document: I64,
};
const TEXT: [Column; 1] = columns! { text: Text };

const MATCHES: [Column; 12] = columns! {
    docno_a: Text, docno_b: Text, begin_a: I64, begin_b: I64, tokens: I64, begin_byte_a: I64,
    end_byte_a: I64, begin_byte_b: I64, end_byte_b: I64, common: I64, document_a: I64,
    document_b: I64,
};

const COVERAGE: [Column; 11] = columns! {
    docno: Text, tokens: I64, repeated_tokens: I64, removable_tokens: I64, spans: I64,
    longest: I64 or "-", bytes: I64, repeated_bytes: I64, file: Text, record: I64, document: I64,
};

const OVERLAPS: [Column; 10] = columns! {
    docno_a: Text, docno_b: Text, matches: I64 or "-", longest: I64 or "-", tokens_a: I64,
    share_a: F64, tokens_b: I64, share_b: F64, document_a: I64, document_b: I64,
};

/// A reuse of two documents: where it begins and ends in each, its matched tokens, their share of
/// the longer span, and the number of its matches.
const REUSE: [Column; 17] = columns! {
    reuse: I64, cluster: I64, docno_a: Text, docno_b: Text, begin_a: I64, end_a: I64, begin_b: I64,
    end_b: I64, tokens: I64, density: F64, matches: I64, begin_byte_a: I64, end_byte_a: I64,
    begin_byte_b: I64, end_byte_b: I64, document_a: I64, document_b: I64,
};

/// A passage, and the number of documents or groups that have it, before its first place.
const COMMON: [Column; 4] = columns! { passage: I64, tokens: I64, documents: I64, places: I64 };
const BOILERPLATE: [Column; 4] = columns! { passage: I64, tokens: I64, groups: I64, places: I64 };

/// A passage and the group of its document, a reuse, and a cluster with the date of a place, before
/// a place or a match.
const PASSAGE: [Column; 1] = columns! { passage: I64 };
const GROUPED: [Column; 2] = columns! { passage: I64, group: Text };
const REUSED: [Column; 1] = columns! { reuse: I64 };
const CLUSTERED: [Column; 2] = columns! { cluster: I64, date: Text or "-" };

/// A cluster. The row ends with its earliest place. `earliest_by` is `date` if a record states its
/// date, and `order` if the place is the first in the order of the input.
const REUSE_CLUSTERS: [Column; 6] = columns! {
    cluster: I64, places: I64, documents: I64, longest: I64, earliest_by: Text, date: Text or "-",
};

/// The strongest reuse by which a place belongs to its cluster: the one with the most matched tokens.
const STRONGEST: [Column; 3] = columns! { reuse: I64, tokens: I64, density: F64 };

/// The columns that captures add to a row; the last files already have a date.
const OF_ONE: [Column; 2] = columns! { url: Text or "", date: Text or "" };
const OF_REUSE: [Column; 2] = columns! { url: Text or "", capture_date: Text or "" };
const OF_TWO: [Column; 4] = columns! {
    url_a: Text or "", url_b: Text or "", date_a: Text or "", date_b: Text or "",
};

/// The columns of a result file.
pub(super) fn columns(workspace: &Workspace, file: &str) -> Vec<Column> {
    const NONE: &[Column] = &[];
    let parts: [&[Column]; 4] = match file {
        SPANS_FILE | REMOVABLE_FILE => [NONE, &SPANS, NONE, &OF_ONE],
        COVERAGE_FILE => [NONE, &COVERAGE, NONE, &OF_ONE],
        MATCHES_FILE => [NONE, &MATCHES, NONE, &OF_TWO],
        OVERLAPS_FILE => [NONE, &OVERLAPS, NONE, &OF_TWO],
        COMMON_FILE => [&COMMON, PLACE, NONE, &OF_ONE],
        COMMON_PLACES_FILE => [&PASSAGE, PLACE, NONE, &OF_ONE],
        BOILERPLATE_FILE => [&BOILERPLATE, PLACE, &TEXT, &OF_ONE],
        BOILERPLATE_PLACES_FILE => [&GROUPED, PLACE, NONE, &OF_ONE],
        REUSE_FILE => [NONE, &REUSE, NONE, &OF_TWO],
        REUSE_MATCHES_FILE => [&REUSED, &MATCHES, NONE, &OF_TWO],
        REUSE_CLUSTERS_FILE => [&REUSE_CLUSTERS, PLACE, &STRONGEST, &OF_REUSE],
        _ => [&CLUSTERED, PLACE, &STRONGEST, &OF_REUSE],
    };
    let captures = collection::has_captures(&workspace.manifest);
    parts[..if captures { 4 } else { 3 }].concat()
}

/// Appends a row: `first`, the docnos of two documents, `rest`, and their numbers.
pub(super) fn pair_row(
    table: &mut Table<AtomicFile>,
    names: &Names,
    of: [u32; 2],
    first: &[Cell<'_>],
    rest: &[Cell<'_>],
) -> Result<()> {
    let [(docno_a, a), (docno_b, b)] = [names.named(of[0])?, names.named(of[1])?];
    let (docnos, numbers) = (cells! { &docno_a, &docno_b }, cells! { of[0], of[1] });
    let row = [first, &docnos, rest, &numbers].concat();
    table.row(&with_captures(row, &[&a, &b]))
}

/// Appends a row: `first`, the place from `place` to token `end` with its bytes, and `last`.
pub(super) fn place_row(
    table: &mut Table<AtomicFile>,
    names: &Names,
    place: (Place, u32, &Range<u64>),
    first: &[Cell<'_>],
    last: &[Cell<'_>],
) -> Result<()> {
    let (Place { document, token }, end, bytes) = place;
    let (docno, captured) = names.named(document)?;
    let place = cells! { &docno, token, end, bytes.start, bytes.end, document };
    table.row(&with_captures([first, &place, last].concat(), &[&captured]))
}

/// A row with its last cells: the addresses and the dates of its documents.
pub(super) fn with_captures<'c>(mut row: Vec<Cell<'c>>, of: &[&'c Captured]) -> Vec<Cell<'c>> {
    row.extend(of.iter().map(|it| Cell::from(it.url.as_ref())));
    row.extend(of.iter().map(|it| Cell::from(it.date.as_ref())));
    row
}

/// A number of each document, by the number of its record in its file and the document.
pub(super) fn numbers_of(
    workspace: &Workspace,
    number: impl Fn(u64, &DocumentView<'_>) -> u64,
) -> Result<collection::Column> {
    let mut numbers = ColumnBuilder::default();
    each_place(workspace, |_, record, document| {
        numbers.push(u32::try_from(number(record, &document)).unwrap_or(u32::MAX));
        Ok(())
    })?;
    Ok(numbers.finish())
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
    let columns = columns(workspace, name);
    Table::create(workspace.directory(), name, &parameters, &columns)
}

/// Writes a Parquet table with the rows of a text file. The search that found the rows may have
/// been stopped after the text file was complete, so it is not repeated.
pub(super) fn write(
    workspace: &Workspace,
    file: &ResultFile,
    context: &Context<'_>,
) -> Result<ResultFile> {
    let (directory, columns) = (workspace.directory(), columns(workspace, &file.name));
    let mut lines = TypedTable::open(&directory.join(&file.name), &columns)?;
    let parameters = lines.table.comments.iter();
    let parameters: Vec<_> = parameters.map(|(n, v)| (n.as_str(), v.clone())).collect();
    let name = file.name.replace(".tsv", ".parquet");
    let mut table = Table::create(directory, &name, &parameters, &columns)?;
    while let Some(put) = lines.row(|cells| table.row(cells))? {
        put?;
        context.tick(STAGE, lines.table.number())?;
    }
    table.done()
}

/// A share, rounded down to six decimals, so that 1.000000 is all.
pub(super) fn share(part: u64, whole: u64) -> Cell<'static> {
    let millionths = u128::from(part) * 1_000_000 / u128::from(whole.max(1));
    Cell::Real(millionths as f64 / 1e6)
}
