//! Tables of limited width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::flow::Flow;
use super::{Screen, Style, visible};
use lookalike_base::fraction;

/// Columns between two cells.
const BETWEEN: usize = 2;

/// Columns that the first cell of a row always has.
const LEAST_NAME: usize = 12;

/// A row of a table, as a reader sees it ([`line!`](crate::line)).
pub type Line = Vec<String>;

/// A value that has a form for readers.
pub trait Shown {
    /// This form.
    fn shown(&self) -> String;
}

impl Shown for str {
    fn shown(&self) -> String {
        self.into()
    }
}

impl Shown for u64 {
    fn shown(&self) -> String {
        self.to_string()
    }
}

/// A share with four decimals.
impl Shown for f64 {
    fn shown(&self) -> String {
        fraction(*self, 4)
    }
}

/// The ends of an interval.
impl Shown for [f64; 2] {
    fn shown(&self) -> String {
        format!("{:.4}-{:.4}", self[0], self[1])
    }
}

impl<T: Shown> Shown for Option<T> {
    fn shown(&self) -> String {
        self.as_ref().map_or("-".into(), T::shown)
    }
}

/// A [`Line`](crate::report::terminal::Line) of values.
#[doc(hidden)]
#[macro_export]
macro_rules! line {
    ($($cell:expr),* $(,)?) => {{
        use $crate::report::terminal::Shown;
        vec![$($cell.shown()),*]
    }};
}

/// Appends rows below these names of columns to `out`, in at most `most` columns. Each column is as
/// wide as its widest cell; the first is aligned left, the others right. The first cell of a row is a
/// name: if it is too long, it is shortened, and gets a number.
pub fn tabled<'t>(
    head: impl IntoIterator<Item = &'t str>,
    rows: impl IntoIterator<Item = Line>,
    most: usize,
    out: &mut String,
) -> Long {
    let shown = |row: Line| row.iter().map(|cell| visible(cell)).collect();
    let mut all: Vec<Line> = vec![head.into_iter().map(visible).collect()];
    all.extend(rows.into_iter().map(shown));
    let count = all.iter().map(Vec::len).max().unwrap_or(0);
    let others: usize = (1..count).map(|n| width(&all, n) + BETWEEN).sum();
    let room = most.saturating_sub(others).max(LEAST_NAME);
    let mut long = Vec::new();
    for (n, row) in all.iter_mut().enumerate() {
        if let Some(name) = row.first_mut()
            && name.width() > room
        {
            let number = format!(" [{n}]");
            let short = start(name, room.saturating_sub(number.len() + 1));
            let short = format!("{short}…{number}");
            long.push((n, std::mem::replace(name, short)));
        }
    }
    aligned(&all, 1, out);
    Long(long)
}

/// Columns of the widest cell of a column.
fn width(rows: &[Line], column: usize) -> usize {
    let cells = rows.iter().filter_map(|row| row.get(column));
    cells.map(|cell| cell.width()).max().unwrap_or(0)
}

/// Appends an empty line and rows in aligned columns below their names, which are separated by
/// commas; nothing without rows. The first `left` columns are aligned left, the others right.
pub fn named(names: &str, mut rows: Vec<Line>, left: usize, out: &mut String) {
    if !rows.is_empty() {
        rows.insert(0, names.split(", ").map(String::from).collect());
        out.push('\n');
        aligned(&rows, left, out);
    }
}

/// Appends rows in aligned columns. The first `left` columns are aligned left, the others right.
fn aligned(rows: &[Line], left: usize, out: &mut String) {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(|n| width(rows, n)).collect();
    laid(rows, &widths, left, out);
}

/// Appends rows in columns of these widths.
fn laid(rows: &[Line], widths: &[usize], left: usize, out: &mut String) {
    for row in rows {
        let mut line = String::new();
        for (n, (cell, width)) in row.iter().zip(widths).enumerate() {
            let space = " ".repeat(width.saturating_sub(cell.width()));
            line += &match n < left {
                true => format!("{cell}{space}"),
                false => format!("{space}{cell}"),
            };
            line += &" ".repeat(BETWEEN);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// A table whose rows are printed as they come. The first columns have texts, which are aligned
/// left; the others have numbers.
pub(crate) struct Growing {
    widths: Vec<usize>,
    texts: usize,
    /// Columns of the screen.
    screen: usize,
    head: Option<Vec<String>>,
}

impl Growing {
    /// A table with these names of columns, of which the first `texts` have texts.
    pub(crate) fn new<'t>(
        head: impl IntoIterator<Item = &'t str>,
        texts: usize,
        screen: usize,
    ) -> Growing {
        let head: Vec<String> = head.into_iter().map(visible).collect();
        Growing {
            widths: head.iter().map(|name| name.width()).collect(),
            texts,
            screen,
            head: Some(head),
        }
    }

    /// The lines of some rows, after the names of the columns if these are the first rows. A column
    /// is as wide as its widest cell so far. Texts that do not fit are shortened
    /// after a third, because names of files differ at both ends, and addresses at their beginning.
    pub(crate) fn rows(&mut self, rows: Vec<Line>) -> String {
        let shown = rows
            .iter()
            .map(|row| row.iter().map(|cell| visible(cell)).collect());
        let mut rows: Vec<Line> = self.head.take().into_iter().chain(shown).collect();
        for (n, width) in self.widths.iter_mut().enumerate() {
            *width = self::width(&rows, n).max(*width);
        }
        let numbers: usize = self.widths[self.texts..].iter().map(|w| w + BETWEEN).sum();
        let room = self.screen.saturating_sub(numbers);
        let each = (room / self.texts.max(1))
            .saturating_sub(BETWEEN)
            .max(LEAST_NAME);
        let mut widths = self.widths.clone();
        let texts = &mut widths[..self.texts];
        // The other columns get the space that the short ones leave.
        let short = texts.iter().filter(|&&w| w <= each);
        let spare: usize = short.clone().map(|w| each - w).sum();
        let long = texts.len() - short.count();
        for width in texts {
            *width = (*width).min(each + spare.checked_div(long).unwrap_or(0));
        }
        for row in &mut rows {
            for (cell, &width) in row.iter_mut().zip(&widths) {
                if cell.width() > width {
                    let third = width.saturating_sub(1) / 3;
                    let front = start(cell, if cell.contains("://") { 0 } else { third });
                    let back = end(cell, width.saturating_sub(1 + front.width()));
                    *cell = format!("{front}…{back}");
                }
            }
        }
        let mut out = String::new();
        laid(&rows, &widths, self.texts, &mut out);
        out
    }
}

/// The longest end of at most this number of columns.
fn end(text: &str, most: usize) -> &str {
    let mut width = 0;
    for (at, c) in text.char_indices().rev() {
        width += c.width().unwrap_or(0);
        if width > most {
            return &text[at + c.len_utf8()..];
        }
    }
    text
}

/// Names that a table shortened, by row.
#[derive(Debug)]
pub struct Long(Vec<(usize, String)>);

impl Long {
    /// Appends the whole names to `out`, in lines of at most `most` columns.
    pub fn print(&self, most: usize, out: &mut String) {
        if !self.0.is_empty() {
            out.push('\n');
        }
        for (n, name) in &self.0 {
            // Not at spaces, so that the name can be copied.
            let whole = format!("[{n}] {name}");
            let mut rest = whole.as_str();
            while !rest.is_empty() {
                let line = start(rest, most);
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

/// Appends a text in lines of at most `width` columns.
pub fn wrapped(text: &str, width: usize, out: &mut String) {
    let mut flow = Flow::new(Screen {
        colour: false,
        width,
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

    const WIDTH: usize = 100;

    /// A quadratic algorithm takes hours for these names.
    #[test]
    fn names_of_ten_megabytes_take_linear_work() {
        for name in ["\u{301}".repeat(5 << 20), "ab\u{301}".repeat(3 << 20)] {
            let (rows, mut out) = ([vec![name.clone(), "1".into()]], String::new());
            tabled(["method", "pairs"], rows, WIDTH, &mut out).print(WIDTH, &mut out);
            let listed = out.split("\n\n").nth(1);
            let listed: String = listed.unwrap_or(&out).lines().collect();
            assert!(listed.contains(&name));
        }
    }

    #[test]
    fn a_long_name_is_shortened_and_listed() {
        let long = format!("i-match:lexicon={}", "漢/".repeat(90));
        let rows = [
            ["shingles", "77"],
            [&long, "1234567"],
            ["a\u{1b}[31m\u{202e}", "0"],
        ];
        let rows = rows.map(|row| row.map(String::from).to_vec());
        let mut out = String::new();
        tabled(["method", "pairs"], rows, WIDTH, &mut out).print(WIDTH, &mut out);
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

    #[test]
    fn rows_that_come_one_by_one_fit_the_screen() {
        let mut table = Growing::new(["query", "docno", "score"], 2, 40);
        let row = |cells: [&str; 3]| vec![cells.map(String::from).to_vec()];
        let first = table.rows(row(["a", "PG-1", "1.000000"]));
        assert_eq!(first, "query  docno     score\na      PG-1   1.000000\n");
        let long = "crawl/2024/a-directory-with-a-long-name/page-17.html";
        let next = table.rows(row(["b", long, "0.9"]));
        assert_eq!(next.lines().count(), 1, "{next}");
        assert!(next.trim_end().width() <= 40, "{next}");
        assert!(
            next.contains("page-17.html") && next.contains("crawl/…"),
            "{next}"
        );
        assert_eq!(next.find("0.9"), Some(37), "{next}");
    }
}
