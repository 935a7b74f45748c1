//! The page of rows with names.

use super::frame::{Frame, Section};
use super::markup::{html, visible};
use super::panels::{number, table};
use lookalike_store::{CREATED_BY, Row, table::Kind};

/// A page with a table of the rows.
pub(crate) fn records<R: Row>(rows: &[R], (title, below): (&str, &str)) -> Vec<u8> {
    let heads = R::COLUMNS.iter().map(|column| match column.kind {
        Kind::Text => column.shown(),
        _ => format!(">{}", column.shown()),
    });
    let heads: Vec<String> = heads.collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let frame = Frame {
        below: Some(html! { (below) }),
        ..Frame::of(title, CREATED_BY)
    };
    let rows = html! {
        @for row in rows {
            tr {
                @for (column, cell) in R::COLUMNS.iter().zip(row.cells()) {
                    @match column.kind {
                        Kind::Text => td.name { (visible(&cell.shown())) },
                        _ => (number(&cell.shown())),
                    }
                }
            }
        }
    };
    frame.page(&[Section::bare(table("", &heads, &rows))])
}
