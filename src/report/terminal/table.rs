//! Tables of limited width.

use unicode_width::UnicodeWidthStr;

use super::flow::Flow;
use super::{Screen, Style, visible};

/// Columns of a table and of text below it, also where output does not go to a terminal.
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
        let width = |rows: &[Vec<String>], column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..count).map(|n| width(&self.rows, n)).collect();
        let others: usize = widths.iter().skip(1).map(|width| width + BETWEEN).sum();
        let room = WIDTH.saturating_sub(others).max(LEAST_NAME);
        for (n, row) in self.rows.iter_mut().enumerate() {
            if let Some(name) = row.first_mut()
                && name.width() > room
            {
                let number = format!(" [{n}]");
                let short = start(name, room.saturating_sub(number.len() + 1)) + "…" + &number;
                self.long.push((n, std::mem::replace(name, short)));
            }
        }
        let first = width(&self.rows, 0);
        for row in &self.rows {
            let mut line = String::new();
            for (n, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = match n {
                    0 => 0,
                    _ => BETWEEN + width.saturating_sub(cell.width()),
                };
                line.push_str(&" ".repeat(gap));
                line.push_str(cell);
                if n == 0 {
                    line.push_str(&" ".repeat(first.saturating_sub(cell.width())));
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        Long(self.long)
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
            let mut rest = format!("[{n}] {name}");
            while !rest.is_empty() {
                let line = start(&rest, WIDTH);
                rest = rest.split_off(line.len());
                out.push_str(&line);
                out.push('\n');
            }
        }
    }
}

/// The longest beginning of at most this number of columns.
fn start(text: &str, most: usize) -> String {
    let mut start = String::new();
    for c in text.chars() {
        start.push(c);
        if start.width() > most {
            start.pop();
            break;
        }
    }
    start
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
