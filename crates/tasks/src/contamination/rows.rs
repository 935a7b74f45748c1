//! Test sets in CSV.

use std::cell::Cell;
use std::io::{self, Read};
use std::path::PathBuf;
use std::rc::Rc;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::ContaminationConfig;
use lookalike_base::{Error, Result};
use lookalike_source::Decompressed;
use lookalike_text::read::{ID_FIELDS, InputFile, TEXT_FIELDS};

/// Endings of compressed files.
const COMPRESSED: [&str; 5] = [".gz", ".zst", ".bz2", ".xz", ".Z"];

/// The separator of a file's columns, if its name says that it has columns.
fn separator(name: &str) -> Option<u8> {
    let ending = COMPRESSED
        .iter()
        .find_map(|ending| name.strip_suffix(ending));
    let name = ending.unwrap_or(name).to_ascii_lowercase();
    match name.rsplit_once('.')?.1 {
        "csv" => Some(b','),
        "tsv" => Some(b'\t'),
        _ => None,
    }
}

/// Whether the name of a file says that it is CSV, or that its columns are separated by tabs.
pub(super) fn is_rows(name: &str) -> bool {
    separator(name).is_some()
}

/// Ends a row that is too long, so that a missing quotation mark does not bring the rest of a file
/// into memory.
struct Limited {
    inner: Decompressed,
    /// Bytes that the row may still have.
    left: Rc<Cell<u64>>,
    most: u64,
}

impl Read for Limited {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(out)?;
        match self.left.get().checked_sub(length as u64) {
            Some(left) => self.left.set(left),
            None => {
                let text = format!("a row of more than {} bytes (--max-document)", self.most);
                return Err(io::Error::other(text));
            }
        }
        Ok(length)
    }
}

/// The rows of a file.
pub(super) struct Rows {
    path: PathBuf,
    name: String,
    reader: Reader<Limited>,
    left: Rc<Cell<u64>>,
    most: u64,
    /// The column of each field, and of the name.
    fields: Vec<(Option<usize>, bool)>,
    id: Option<usize>,
    number: u64,
}

impl Rows {
    /// Opens a file, whose first row has the names of the columns.
    pub(super) fn open(input: &InputFile, config: &ContaminationConfig) -> Result<Rows> {
        let most = config.read.max_document.0;
        let left = Rc::new(Cell::new(most));
        let limited = Limited {
            inner: Decompressed::open_input(&input.path)?,
            left: left.clone(),
            most,
        };
        let mut reader = ReaderBuilder::new()
            .delimiter(separator(&input.docno).unwrap_or(b','))
            .flexible(true)
            .from_reader(limited);
        let path = input.path.clone();
        let header = reader.byte_headers().map_err(|error| bad(&path, error))?;
        let header: Vec<String> = header
            .iter()
            .map(|name| {
                String::from_utf8_lossy(name)
                    .trim_start_matches('\u{feff}')
                    .trim()
                    .into()
            })
            .collect();
        let column = |name: &str| header.iter().position(|column| column == name);
        let first = |names: &[&str]| names.iter().find_map(|name| column(name));
        let fields: Vec<_> = match &config.fields[..] {
            [] => {
                let found = first(&TEXT_FIELDS);
                let markup = found.is_some_and(|at| header[at] == "html");
                vec![(found, markup)]
            }
            fields => (fields.iter())
                .map(|name| (column(name), name.rsplit('.').next() == Some("html")))
                .collect(),
        };
        if fields.iter().all(|(column, _)| column.is_none()) {
            let expected = match &config.fields[..] {
                [] => format!("one of the columns {}", TEXT_FIELDS.join(", ")),
                fields => format!("one of the columns {}", fields.join(", ")),
            };
            return Err(Error::BadLine {
                path,
                line: 1,
                expected,
                found: match header.join(", ") {
                    names if names.is_empty() => "an empty row".into(),
                    names => format!("`{}`", names.chars().take(200).collect::<String>()),
                },
                hint: "name the columns with --fields",
            });
        }
        let id = match &config.item_id {
            Some(name) => column(name),
            None => first(&ID_FIELDS),
        };
        Ok(Rows {
            path,
            name: input.docno.clone(),
            reader,
            left,
            most,
            fields,
            id,
            number: 0,
        })
    }

    /// Reads the next row; `false` after the last one.
    pub(super) fn next(&mut self, row: &mut ByteRecord) -> Result<bool> {
        self.left.set(self.most);
        self.number += 1;
        let read = self.reader.read_byte_record(row);
        read.map_err(|error| bad(&self.path, error))
    }

    /// The name of the item in the row that was read last.
    pub(super) fn id(&self, row: &ByteRecord) -> String {
        let id = self
            .id
            .and_then(|column| row.get(column))
            .unwrap_or_default();
        match String::from_utf8_lossy(id).trim() {
            "" => format!("{}:{}", self.name, self.number),
            id => id.into(),
        }
    }

    /// A field of a row.
    pub(super) fn field<'r>(&self, row: &'r ByteRecord, name: usize) -> Option<&'r [u8]> {
        row.get(self.fields.get(name)?.0?)
    }

    /// Whether the name of a field says that it is markup.
    pub(super) fn is_markup(&self, name: usize) -> bool {
        self.fields.get(name).is_some_and(|(_, markup)| *markup)
    }
}

fn bad(path: &std::path::Path, error: csv::Error) -> Error {
    let line = error.position().map_or(0, csv::Position::line);
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) if error.raw_os_error().is_some() => {
            Error::io("read", path)(error)
        }
        _ => Error::bad_line(path, line, "a row of comma-separated values", text),
    }
}
