//! Tables of limited width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::flow::Flow;
use super::{Screen, Style, visible};

/// Columns of a table and of text below it, even if the output is not a terminal.
pub(crate) const WIDTH: usize = 100;

/// Columns between two cells.
const BETWEEN: usize = 2;

/// Columns that the first cell of a row always has.
const LEAST_NAME: usize = 12;

/// Rows of cells. Each column is as wide as its widest cell; the first is aligned left, the others
/// right.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    /// Names that were too long for the first column, with their numbers.
    long: Vec<(usize, String)>,
}

impl Table {
    /// A table with these names of columns.
    pub(crate) fn new<'t>(head: impl IntoIterator<Item = &'t str>) -> Table {
        Table {
            rows: vec![head.into_iter().map(visible).collect()],
            long: Vec::new(),
        }
    }

    /// Appends a row. Its first cell is a name.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows
            .push(cells.iter().map(|cell| visible(cell)).collect());
    }

    /// Appends the table to `out`, in at most [`WIDTH`] columns. A name that is too long for the
    /// first column is shortened there, and gets a number.
    pub(crate) fn print(mut self, out: &mut String) -> Long {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let others: usize = (1..count).map(|n| width(&self.rows, n) + BETWEEN).sum();
        let room = WIDTH.saturating_sub(others).max(LEAST_NAME);
        for (n, row) in self.rows.iter_mut().enumerate() {
            if let Some(name) = row.first_mut()
                && name.width() > room
            {
                let number = format!(" [{n}]");
                let short = start(name, room.saturating_sub(number.len() + 1));
                let short = format!("{short}…{number}");
                self.long.push((n, std::mem::replace(name, short)));
            }
        }
        aligned(&self.rows, 1, out);
        Long(self.long)
    }
}

/// Columns of the widest cell of a column.
fn width(rows: &[Vec<String>], column: usize) -> usize {
    let cells = rows.iter().filter_map(|row| row.get(column));
    cells.map(|cell| cell.width()).max().unwrap_or(0)
}

/// Appends an empty line and rows in aligned columns below their names, which are separated by
/// commas; nothing without rows. The first `left` columns are aligned left, the others right.
pub(crate) fn named(names: &str, mut rows: Vec<Vec<String>>, left: usize, out: &mut String) {
    if !rows.is_empty() {
        rows.insert(0, names.split(", ").map(String::from).collect());
        out.push('\n');
        aligned(&rows, left, out);
    }
}

/// Appends rows in aligned columns. The first `left` columns are aligned left, the others right.
fn aligned(rows: &[Vec<String>], left: usize, out: &mut String) {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(|n| width(rows, n)).collect();
    for row in rows {
        let mut line = String::new();
        for (n, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if n > 0 {
                line.push_str(&" ".repeat(BETWEEN));
            }
            let space = " ".repeat(width.saturating_sub(cell.width()));
            let parts = if n < left {
                [cell, &space]
            } else {
                [&space, cell]
            };
            line.extend(parts.map(String::as_str));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// Names that a table shortened, by row.
#[derive(Debug)]
pub(crate) struct Long(Vec<(usize, String)>);

impl Long {
    /// Appends the whole names to `out`.
    pub(crate) fn print(&self, out: &mut String) {
        if !self.0.is_empty() {
            out.push('\n');
        }
        for (n, name) in &self.0 {
            // Not at spaces, so that the name can be copied.
            let whole = format!("[{n}] {name}");
            let mut rest = whole.as_str();
            while !rest.is_empty() {
                let line = start(rest, WIDTH);
                rest = &rest[line.len()..];
                out.push_str(line);
                out.push('\n');
            }
        }
    }
}

/// The longest beginning of at most this number of columns. It looks at no character after it, and
/// once at each before: names of others can be long, and all of their characters without width.
fn start(text: &str, most: usize) -> &str {
    let mut width = 0;
    for (at, c) in text.char_indices() {
        width += match c {
            // It makes the character before it wide.
            '\u{fe0f}' => 1,
            c => c.width().unwrap_or(0),
        };
        if width > most {
            return &text[..at];
        }
    }
    text
}

/// Appends a text in lines of at most [`WIDTH`] columns.
pub(crate) fn wrapped(text: &str, out: &mut String) {
    let mut flow = Flow::new(Screen {
        colour: false,
        width: WIDTH,
    });
    flow.text(text, Style::Plain);
    for line in flow.finish() {
        out.push_str(line.text.trim_end());
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quadratic algorithm takes hours for these names.
    #[test]
    fn names_of_ten_megabytes_take_linear_work() {
        for name in ["\u{301}".repeat(5 << 20), "ab\u{301}".repeat(3 << 20)] {
            let mut table = Table::new(["method", "pairs"]);
            table.row(vec![name.clone(), "1".into()]);
            let mut out = String::new();
            table.print(&mut out).print(&mut out);
            let listed = out.split("\n\n").nth(1);
            let listed: String = listed.unwrap_or(&out).lines().collect();
            assert!(listed.contains(&name));
        }
    }

    #[test]
    fn a_long_name_is_shortened_and_listed() {
        let mut table = Table::new(["method", "pairs"]);
        let long = format!("i-match:lexicon={}", "漢/".repeat(90));
        table.row(vec!["shingles".into(), "77".into()]);
        table.row(vec![long.clone(), "1234567".into()]);
        table.row(vec!["a\u{1b}[31m\u{202e}".into(), "0".into()]);
        let mut out = String::new();
        table.print(&mut out).print(&mut out);
        for line in out.lines() {
            assert!(line.width() <= WIDTH, "{line}");
        }
        assert!(!out.contains(['\u{1b}', '\u{202e}']));
        let whole: String = out.split("\n\n").nth(1).unwrap().lines().collect();
        assert_eq!(whole, format!("[2] {long}"));
        assert_eq!(
            out.lines().nth(1).unwrap().len(),
            out.lines().next().unwrap().len()
        );
    }
}
