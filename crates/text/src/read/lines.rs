//! Read a text file, compressed or not, line by line.
//!
//! # Cost
//! The reader keeps one line in memory. A line longer than the caller allows is an error.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use lookalike_base::{Error, Result};
use lookalike_source::Decompressed;
use lookalike_store::READ_BUFFER;

/// Reads a file line by line.
pub struct Lines {
    path: PathBuf,
    input: BufReader<Decompressed>,
    /// The current line, without its end.
    line: Vec<u8>,
    /// The number of the current line, from 1.
    number: u64,
    /// The most bytes that a line may have.
    most: usize,
}

impl Lines {
    /// Opens a file.
    pub fn open(path: &Path, most: usize) -> Result<Lines> {
        Ok(Lines {
            path: path.into(),
            input: BufReader::with_capacity(READ_BUFFER, Decompressed::open(path)?),
            line: Vec::new(),
            number: 0,
            most,
        })
    }

    /// Reads the next line; `false` at the end of the file.
    ///
    /// LF or CRLF ends a line. A byte order mark before the first line is dropped.
    pub fn advance(&mut self) -> Result<bool> {
        self.line.clear();
        let mut some = self.input.by_ref().take(self.most as u64 + 1);
        let read = some.read_until(b'\n', &mut self.line);
        let any = read.map_err(Error::io("read", &self.path))? > 0;
        self.number += u64::from(any);
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        }
        if self.line.len() > self.most {
            return Err(self.bad(format!("a line of at most {} bytes", self.most), "more"));
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        if self.number == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
            self.line.drain(..3);
        }
        Ok(any)
    }

    /// Reads the next line that has more than white space; `false` at the end of the file.
    pub fn advance_to_text(&mut self) -> Result<bool> {
        while self.advance()? {
            if !self.line.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The current line, without its end.
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// The number of the current line, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// An error in the current line.
    pub fn bad(&self, expected: impl ToString, found: impl ToString) -> Error {
        Error::bad_line(&self.path, self.number, expected, found)
    }
}

/// The value of a field, if it is one of this type.
pub fn parsed<T: FromStr>(field: &[u8]) -> Option<T> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// Text for a message: the first hundred characters.
pub fn shorten(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut short: String = text.chars().take(100).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    format!("`{}`", short.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_lose_their_ends_and_are_numbered() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lines");
        std::fs::write(&path, "\u{feff}one\r\n\ntwo\u{feff}\nlast").unwrap();
        let mut lines = Lines::open(&path, 8).unwrap();
        for (number, expected) in ["one", "", "two\u{feff}", "last"].iter().enumerate() {
            assert!(lines.advance().unwrap());
            assert_eq!(
                (lines.line(), lines.number),
                (expected.as_bytes(), number as u64 + 1)
            );
        }
        assert!(!lines.advance().unwrap());
        let mut lines = Lines::open(&path, 5).unwrap();
        assert!(lines.advance().is_err(), "a byte order mark counts");
        std::fs::write(&path, "12345678\n123456789\n").unwrap();
        let mut lines = Lines::open(&path, 8).unwrap();
        assert!(lines.advance().unwrap());
        let error = lines.advance().unwrap_err().to_string();
        assert!(
            error.contains("line 2: expected a line of at most 8 bytes, found more"),
            "{error}"
        );
    }
}
