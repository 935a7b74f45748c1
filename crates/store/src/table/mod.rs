//! Result tables: rows of cells in a text file or a Parquet file.
//!
//! A table is defined once, as a list of [`Column`]s. The header and the lines of its text file,
//! the schema and the values of its Parquet file, and the types of a text file that is read again
//! all follow from the list (`columns!`). A row is a slice with a [`Cell`] for each column
//! (`cells!`).
//!
//! # In and out
//! In: rows of cells. Out: a text file whose columns are separated by tabs, or a Parquet file
//! (`parquet`). A file whose name ends with `.parquet` is one; every other is a text file. Its
//! parameters are comment lines at its start, or the metadata of a Parquet file.
//!
//! # Errors
//! `Io` with the path if writing fails.

mod parquet;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::disk::AtomicFile;
use crate::workspace::ResultFile;
use lookalike_base::{Error, Measure, Result, count};

use parquet::ParquetRows;
pub use parquet::{CREATED_BY, Failure, Remembering, TABLE_BYTES};
pub use text::{cell, header, push_row, unescaped};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number below 2^32.
    U32,
    /// A number below 2^63.
    I64,
    /// A number with a fraction.
    F64,
    /// A string.
    Text,
}

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Lines,
    Parquet,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Its name in the first line.
    pub name: &'static str,
    /// The type of its values.
    pub kind: Kind,
    /// The text of [`Cell::Null`], if a cell may be null.
    pub null: Option<&'static str>,
    /// The only format whose files have the column.
    only: Option<Format>,
    /// Whether no file has it.
    absent: bool,
}

impl Column {
    pub const fn new(name: &'static str, kind: Kind) -> Column {
        Column {
            name,
            kind,
            null: None,
            only: None,
            absent: false,
        }
    }

    /// The column may have nulls, for which a text file has `null`.
    pub const fn or(mut self, null: &'static str) -> Column {
        self.null = Some(null);
        self
    }

    /// Files of the other format do not have the column.
    pub const fn only(mut self, format: Format) -> Column {
        self.only = Some(format);
        self
    }

    /// The name for people.
    pub fn shown(&self) -> String {
        self.name.replace('_', " ")
    }

    pub fn is_in(&self, format: Format) -> bool {
        !self.absent && self.only.is_none_or(|only| only == format)
    }

    /// The value that [`push_row`] wrote into a cell, without its escapes; `None` if the column
    /// cannot have it.
    pub fn parse<'a>(&self, text: &'a str) -> Option<Cell<'a>> {
        match self.kind {
            _ if self.null == Some(text) => Some(Cell::Null),
            Kind::Text => Some(Cell::Text(text)),
            Kind::F64 => text.parse().ok().map(Cell::Real),
            Kind::U32 | Kind::I64 => text.parse().ok().map(Cell::Number),
        }
    }
}

/// Leaves columns out of all files, unless they are wanted. A row still has cells for them.
pub fn only_if(columns: &mut [Column], wanted: bool) {
    for column in columns {
        column.absent = !wanted;
    }
}

/// The columns of a table: `NAME: KIND`, with `or NULL` if cells may be null ([`Column::or`]), and
/// `in FORMAT` if only files of one format have the column.
#[macro_export]
macro_rules! columns {
    ($($name:ident: $kind:ident $(or $null:literal)? $(in $format:ident)?),* $(,)?) => {
        [$($crate::table::Column::new(
            stringify!($name),
            $crate::table::Kind::$kind,
        )$(.or($null))?$(.only($crate::table::Format::$format))?),*]
    };
}

/// A row with names: a type whose fields are the columns of a table.
pub trait Row {
    /// The columns, in the order of the fields.
    const COLUMNS: &'static [Column];

    /// The cells, one for each column.
    fn cells(&self) -> Vec<Cell<'_>>;
}

/// Declares a type of rows: `FIELD: TYPE as KIND` ([`columns!`]). Its fields are also the members of
/// its JSON object.
#[macro_export]
macro_rules! row {
    (@cell Text $field:expr) => { $crate::table::Cell::from(&$field) };
    (@cell $kind:ident $field:expr) => { $crate::table::Cell::from($field) };
    (
        $(#[$about:meta])*
        $vis:vis struct $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty as $kind:ident,)+ }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        $vis struct $name {
            $($(#[$doc])* pub $field: $type,)+
        }

        impl $crate::table::Row for $name {
            const COLUMNS: &'static [$crate::table::Column] =
                &$crate::table::columns! { $($field: $kind),+ };

            fn cells(&self) -> Vec<$crate::table::Cell<'_>> {
                vec![$($crate::table::row!(@cell $kind self.$field)),+]
            }
        }
    };
}

/// The cells of a row.
#[macro_export]
macro_rules! cells {
    ($($cell:expr),* $(,)?) => {
        [$($crate::table::Cell::from($cell)),*]
    };
}

pub use {cells, columns, row};

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// A number without a fraction.
    Number(u64),
    /// Six decimals in a text file.
    Real(f64),
    /// The value of a measure, from the amount that two documents share and their sizes. A text
    /// file has the digits of [`Measure::text`].
    Measured(Measure, [u64; 3]),
    /// 32 hexadecimal digits.
    Digest(u128),
    /// A string.
    Text(&'a str),
}

impl Cell<'_> {
    /// The value for people.
    pub fn shown(self) -> String {
        match self {
            Cell::Number(number) => count(number),
            Cell::Text(text) => text.into(),
            other => other.json(),
        }
    }

    /// The value in JSON.
    pub fn json(self) -> String {
        let mut out = String::new();
        match self {
            Cell::Text(text) => out = serde_json::Value::from(text).to_string(),
            other => text::push_cell(&mut out, other, "null"),
        }
        out
    }
}

impl From<f64> for Cell<'_> {
    fn from(value: f64) -> Self {
        Cell::Real(value)
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl From<$number> for Cell<'_> {
            fn from(value: $number) -> Self {
                Cell::Number(value as u64)
            }
        })*
    };
}

numbers!(u8 u16 u32 u64 usize);

impl<'a, T: AsRef<str> + ?Sized> From<&'a T> for Cell<'a> {
    fn from(value: &'a T) -> Self {
        Cell::Text(value.as_ref())
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Null, T::into)
    }
}

/// A table that is being written.
pub struct Table<W: Write + Send> {
    path: PathBuf,
    out: Out<W>,
}

enum Out<W: Write + Send> {
    Lines {
        out: W,
        columns: Vec<Column>,
        line: String,
    },
    Parquet(Box<ParquetRows<W>>),
}

impl<W: Write + Send> Table<W> {
    /// Begins a table in `out`. The name in `path` decides the format.
    pub fn new(
        path: &Path,
        out: W,
        parameters: &[(&str, String)],
        columns: &[Column],
    ) -> Result<Self> {
        let is_parquet = path.extension().is_some_and(|ending| ending == "parquet");
        let out = match is_parquet {
            true => Out::Parquet(Box::new(ParquetRows::new(path, out, parameters, columns)?)),
            false => Out::Lines {
                out,
                columns: columns.to_vec(),
                line: String::new(),
            },
        };
        let path = path.into();
        let mut table = Table { path, out };
        table.put(&text::header(parameters, columns))?;
        Ok(table)
    }

    /// Appends a row with a cell for each column.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        match &mut self.out {
            Out::Parquet(rows) => rows.row(&self.path, cells),
            Out::Lines { out, columns, line } => {
                line.clear();
                push_row(line, columns, cells);
                let put = out.write_all(line.as_bytes());
                put.map_err(Error::io("write", &self.path))
            }
        }
    }

    /// Appends lines that [`push_row`] made. Only a text file has lines.
    pub fn put(&mut self, lines: &str) -> Result<()> {
        match &mut self.out {
            Out::Parquet(_) => Ok(()),
            Out::Lines { out, .. } => {
                let put = out.write_all(lines.as_bytes());
                put.map_err(Error::io("write", &self.path))
            }
        }
    }

    /// Writes the rest of the file, and returns the output.
    pub fn finish(self) -> Result<W> {
        match self.out {
            Out::Parquet(rows) => rows.finish(&self.path),
            Out::Lines { out, .. } => Ok(out),
        }
    }
}

impl Table<AtomicFile> {
    /// Begins a result file in a directory.
    pub fn create(
        directory: &Path,
        name: &str,
        parameters: &[(&str, String)],
        columns: &[Column],
    ) -> Result<Self> {
        let path = directory.join(name);
        Table::new(&path, AtomicFile::create(&path)?, parameters, columns)
    }

    /// Puts the complete file in its place.
    pub fn done(self) -> Result<ResultFile> {
        let name = self.path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        Ok(ResultFile::new(&name, self.finish()?.finish()?))
    }
}
