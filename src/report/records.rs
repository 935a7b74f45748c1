//! Rows with names ([`Row`]) for readers: in aligned columns, as a page, or in a file.

use std::path::Path;

use serde::Serialize;

use super::page;
use super::terminal::tabled;
use lookalike_base::Result;
use lookalike_store::{AtomicFile, Row, disk, json, table};

/// The rows as text for a terminal of this number of columns.
pub(crate) fn records<R: Row>(rows: &[R], width: usize) -> String {
    let names: Vec<String> = R::COLUMNS.iter().map(table::Column::shown).collect();
    let head = names.iter().map(String::as_str);
    let rows = rows.iter().map(R::cells);
    let rows = rows.map(|cells| cells.into_iter().map(table::Cell::shown).collect());
    let mut out = String::new();
    tabled(head, rows, width, &mut out).print(width, &mut out);
    out
}

/// Writes rows to a file, whose name decides the form: `.html` a page with a title and a line below
/// it, `.json` the value `all`, and any other a result table.
pub(crate) fn write_records<R: Row>(
    rows: &[R],
    all: &impl Serialize,
    heading: (&str, &str),
    path: &Path,
) -> Result<()> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let text = match ending {
        Some("html") => page::records(rows, heading),
        Some("json") => json::pretty(all, path)?.into_bytes(),
        _ => {
            let format = [("format", "lookalike 1".to_string())];
            let out = AtomicFile::create(path)?;
            let mut table = table::Table::new(path, out, &format, R::COLUMNS)?;
            for row in rows {
                table.row(&row.cells())?;
            }
            return table.done().map(|_| ());
        }
    };
    disk::put(path, &text).map(|_| ())
}
