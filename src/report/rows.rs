//! Lines of a name and a value.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use lookalike_base::{count, counted, numbers};

/// A share in brackets; empty if the total is 0.
pub(super) fn share(part: u64, whole: u64) -> String {
    numbers::share(part, whole).map_or_else(String::new, |share| format!(" ({share})"))
}

/// A part of a number of things: `0 of 5 records`, `2 of 5 records (40.0 %)`.
pub(super) fn part_of(part: u64, whole: u64, what: &str) -> String {
    let of = format!("{} of {}", count(part), counted(whole, what));
    match part {
        0 => of,
        part => of + &share(part, whole),
    }
}

/// Rows of a name and a value. The name of a part is indented below the name of the whole.
#[derive(Default)]
pub struct Rows {
    /// Columns of a number, which is aligned right.
    number: usize,
    pub(super) rows: Vec<(String, String)>,
}

impl Rows {
    /// Rows whose numbers have this number of columns.
    pub fn new(number: usize) -> Rows {
        let rows = Vec::new();
        Rows { number, rows }
    }

    /// Appends a row.
    pub fn row(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.rows.push((name.into(), value.into()));
    }

    /// Appends a number.
    pub fn count(&mut self, name: impl Into<String>, n: u64) {
        self.noted(name, n, "");
    }

    /// Appends a number, unless it is 0.
    pub fn any(&mut self, name: impl Into<String>, n: u64) {
        if n > 0 {
            self.count(name, n);
        }
    }

    /// Appends a part of a whole, with its share.
    pub(crate) fn share(&mut self, name: impl Into<String>, part: u64, whole: u64) {
        self.noted(name, part, &share(part, whole));
    }

    /// Appends a part of a whole, and its share behind it.
    pub(crate) fn part(&mut self, name: &str, part: u64, whole: u64) {
        let share = numbers::share(part, whole).unwrap_or_else(|| "-".into());
        self.noted(name, part, &format!("  {share}"));
    }

    /// Appends a number and a note on it.
    pub(crate) fn noted(&mut self, name: impl Into<String>, n: u64, note: &str) {
        let width = self.number;
        self.row(name, format!("{:>width$}{note}", count(n)));
    }

    /// Appends a number for each entry of `counts`.
    pub fn each(&mut self, what: &str, counts: &BTreeMap<impl Display, u64>) {
        for (of, n) in counts {
            self.count(format!("{what}{of}"), *n);
        }
    }

    /// Columns of the longest name.
    pub fn longest(&self) -> usize {
        let names = self.rows.iter().map(|(name, _)| name.chars().count());
        names.max().unwrap_or(0)
    }

    /// The lines. Names have at least this number of columns.
    pub fn text(&self, width: usize) -> String {
        let mut text = String::new();
        for (name, value) in &self.rows {
            let _ = writeln!(text, "{name:<width$}{value}");
        }
        text
    }
}
