//! A table of text, for a terminal and for a page.

use lookalike::report::page::markup::{Markup, html, plain, visible};
use lookalike::report::terminal::{tabled, wrapped};
use lookalike_base::fraction;

/// Columns of a terminal that is not wide.
pub(crate) const WIDTH: usize = 80;

/// Rows of cells, the first of which is the name of the row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Grid {
    pub title: String,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// Names of columns that are separated by commas.
    pub(crate) fn names(names: &str) -> Vec<String> {
        names.split(',').map(String::from).collect()
    }

    /// A row or a head: a name and cells.
    pub(crate) fn row(
        name: impl Into<String>,
        cells: impl IntoIterator<Item = String>,
    ) -> Vec<String> {
        std::iter::once(name.into()).chain(cells).collect()
    }

    /// Appends the title and the table to the text for a terminal of this number of columns.
    pub(crate) fn print(&self, width: usize, out: &mut String) {
        wrapped(&self.title, width, out);
        out.push('\n');
        let head = self.head.iter().map(String::as_str);
        tabled(head, self.rows.iter().cloned(), width, out).print(width, out);
    }

    /// The table for a page, without its title.
    pub(crate) fn markup(&self) -> Markup {
        let rows = self.rows.iter().filter_map(|row| row.split_first());
        let rows = rows
            .map(|(name, cells)| (html! { th scope="row" { (visible(name)) } }, cells.to_vec()));
        table(&self.title, &self.head, rows)
    }
}

/// A table for a page whose first column, the heads of the rows, is always visible. The others are
/// numbers. The label is for readers who do not see it.
pub(super) fn table(
    label: &str,
    head: &[String],
    rows: impl IntoIterator<Item = (Markup, Vec<String>)>,
) -> Markup {
    sticky(
        label,
        &html! {
            thead { tr {
                @for (n, name) in head.iter().enumerate() { th.n[n > 0] scope="col" { (visible(name)) } }
            } }
            tbody { @for (name, cells) in rows { tr {
                (name)
                @for cell in cells { td.n { (visible(&cell)) } }
            } } }
        },
    )
}

/// A table whose first column is always visible, with its head.
pub(super) fn sticky(label: &str, table: &Markup) -> Markup {
    html! {
        div.scroll role="region" aria-label=(plain(label)) tabindex="0" {
            table.sticky { (table) }
        }
    }
}

/// A share with three decimals.
pub(crate) fn three(share: f64) -> String {
    fraction(share, 3)
}
