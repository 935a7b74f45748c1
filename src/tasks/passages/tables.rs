//! The result files as Parquet tables, made from the text files.

use std::io::{BufRead, BufReader};

use super::STAGE;
use crate::base::progress::Context;
use crate::store::disk::{self, AtomicFile};
use crate::store::table::{Cell, ColumnSpec, ColumnType, Table};
use crate::store::workspace::{ResultFile, Workspace};
use crate::{Error, Result};

/// Columns with text, and with shares. All others have integers.
const TEXTS: [&str; 6] = ["docno", "docno_a", "docno_b", "file", "group", "text"];
const SHARES: [&str; 2] = ["share_a", "share_b"];
/// Columns with `-` where there is no number.
const OPTIONAL: [&str; 2] = ["matches", "longest"];
/// All other columns.
const NUMBERS: [&str; 31] = [
    "begin_a",
    "begin_b",
    "begin_byte",
    "begin_byte_a",
    "begin_byte_b",
    "begin_line",
    "begin_token",
    "bytes",
    "common",
    "document",
    "document_a",
    "document_b",
    "documents",
    "end_byte",
    "end_byte_a",
    "end_byte_b",
    "end_line",
    "end_token",
    "groups",
    "longest",
    "matches",
    "passage",
    "places",
    "record",
    "removable_tokens",
    "repeated_bytes",
    "repeated_tokens",
    "spans",
    "tokens",
    "tokens_a",
    "tokens_b",
];

/// The type of a column.
fn column(name: &str) -> Option<ColumnSpec> {
    let of = |names: &'static [&'static str]| names.iter().find(|known| **known == name).copied();
    if let Some(name) = of(&TEXTS) {
        return Some(ColumnSpec::required(name, ColumnType::Text));
    }
    if let Some(name) = of(&SHARES) {
        return Some(ColumnSpec::required(name, ColumnType::F64));
    }
    let name = of(&NUMBERS)?;
    Some(match OPTIONAL.contains(&name) {
        true => ColumnSpec::optional(name, ColumnType::I64),
        false => ColumnSpec::required(name, ColumnType::I64),
    })
}

/// The text of a cell ([`crate::engine::cluster::cell`]).
fn text_of(cell: &str) -> String {
    let mut text = Vec::with_capacity(cell.len());
    let mut bytes = cell.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            text.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b't') => text.push(b'\t'),
            Some(b'n') => text.push(b'\n'),
            Some(b'r') => text.push(b'\r'),
            Some(b'x') => {
                let mut digit = || {
                    bytes
                        .next()
                        .and_then(|digit| char::from(digit).to_digit(16))
                };
                let byte = digit().zip(digit()).map(|(high, low)| 16 * high + low);
                text.extend(byte.and_then(|byte| u8::try_from(byte).ok()));
            }
            other => text.extend(other),
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Writes a table with the rows of a text file of this directory. Returns it.
pub(super) fn write(
    workspace: &Workspace,
    file: &ResultFile,
    context: &Context<'_>,
) -> Result<ResultFile> {
    let path = workspace.directory().join(&file.name);
    let name = file.name.replace(".tsv", ".parquet");
    let corrupt = |what: &str, found: &str| {
        Error::corrupt(&path, what).expected("what this command writes", found)
    };
    let mut lines = BufReader::with_capacity(disk::WRITE_BUFFER, disk::open(&path)?).lines();
    let mut next =
        || -> Result<Option<String>> { lines.next().transpose().map_err(Error::io("read", &path)) };
    let mut metadata = Vec::new();
    let columns = loop {
        let line = next()?.ok_or_else(|| corrupt("header", "nothing"))?;
        match line
            .strip_prefix("# ")
            .and_then(|line| line.split_once(": "))
        {
            Some((name, value)) => metadata.push((format!("lookalike.{name}"), value.into())),
            None => break line,
        }
    };
    let columns = columns
        .split('\t')
        .map(|name| column(name).ok_or_else(|| corrupt("columns", name)))
        .collect::<Result<Vec<_>>>()?;
    let target = workspace.directory().join(&name);
    let out = AtomicFile::create(&target)?;
    let mut table = Table::new(&target, out, &columns, metadata)?;
    let mut rows = 0u64;
    while let Some(line) = next()? {
        if rows.is_multiple_of(4096) {
            context.stop.check(STAGE)?;
        }
        rows += 1;
        let texts: Vec<String> = line.split('\t').map(text_of).collect();
        let cells = texts.iter().zip(&columns).map(|(text, column)| {
            let wrong = || corrupt(column.name, text);
            Ok(match column.kind {
                ColumnType::Text => Cell::Text(text),
                ColumnType::F64 => Cell::F64(text.parse().map_err(|_| wrong())?),
                _ if column.optional && text == "-" => Cell::Null,
                _ => Cell::U64(text.parse().map_err(|_| wrong())?),
            })
        });
        table.row(&cells.collect::<Result<Vec<_>>>()?)?;
    }
    Ok(ResultFile::new(&name, table.finish()?.finish()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cluster::cell;

    #[test]
    fn cells_are_read_back() {
        for text in ["", "a\tb\\n\nc\r\\", "\u{1b}[31m\u{85}é", "\\x41"] {
            assert_eq!(text_of(&cell(text)), text);
        }
    }
}
