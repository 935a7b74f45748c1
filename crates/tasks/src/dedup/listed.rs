//! Documents that a list names, which are removed whatever they resemble.
//!
//! A list is a table whose columns are separated by tabs, as `documents.tsv`, `removed.tsv` and the
//! `drop.tsv` of a search for contamination are. Its first line after the comments has the names of
//! the columns. `file` and `record` name a document; if there is a column `docno`, it must say the
//! same, so that a list of other inputs is noticed.

use std::collections::HashMap;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::STAGE;
use super::places::Places;
use lookalike_base::{Bits, Context, Error, Result, counted};
use lookalike_engine::collection::Names;
use lookalike_store::table::cell;
use lookalike_text::read::InputFile;
use lookalike_text::read::lines::{Lines, parsed, shorten};

/// The most bytes of a line: two names of 64 KiB with every byte escaped, and more.
const MOST_LINE_BYTES: usize = 1 << 20;

/// Reads the names of the columns of a list: where `file` and `record` are, and perhaps `docno`.
fn columns(lines: &mut Lines) -> Result<(usize, usize, Option<usize>)> {
    let expected = "names of columns separated by tabs, file and record among them";
    loop {
        if !lines.advance()? {
            return Err(lines.bad(expected, "the end of the file"));
        }
        if !lines.line().starts_with(b"#") {
            break;
        }
    }
    let names: Vec<&[u8]> = lines.line().split(|&byte| byte == b'\t').collect();
    let find = |name: &str| names.iter().position(|column| *column == name.as_bytes());
    let needed = find("file").zip(find("record"));
    let (file, record) = needed.ok_or_else(|| lines.bad(expected, shorten(lines.line())))?;
    Ok((file, record, find("docno")))
}

/// Refuses a file that is not a list.
pub(super) fn check(path: &Path) -> Result<()> {
    columns(&mut Lines::open(path, MOST_LINE_BYTES)?).map(|_| ())
}

/// Bytes of memory of the documents that a list names, and to read it.
pub(super) fn bytes(documents: u64, files: u64) -> u64 {
    documents / 8 + files * 64
}

/// Reads the documents that a list names. Those before `first` belong to another collection, and no list can
/// name them.
pub(super) fn read(
    path: &Path,
    inputs: &[InputFile],
    first: usize,
    places: &Places,
    names: &Names,
    context: &Context<'_>,
) -> Result<Bits> {
    let documents = places.documents(inputs.len().saturating_sub(1) as u32).end;
    let mut listed = Bits::new(documents as usize);
    let own = inputs.iter().enumerate().skip(first);
    let files: HashMap<u64, u32> = own
        .map(|(number, input)| (xxh3_64(cell(&input.docno).as_bytes()), number as u32))
        .collect();
    let mut lines = Lines::open(path, MOST_LINE_BYTES)?;
    let (file, record, docno) = columns(&mut lines)?;
    let mut unknown: Option<(Error, u64)> = None;
    while lines.advance()? {
        context.tick(STAGE, lines.number())?;
        if lines.line().is_empty() || lines.line().starts_with(b"#") {
            continue;
        }
        let cells: Vec<&[u8]> = lines.line().split(|&byte| byte == b'\t').collect();
        let cell_of = |column: usize| cells.get(column).copied();
        let (Some(file), Some(record)) = (cell_of(file), cell_of(record)) else {
            return Err(lines.bad("a cell for each column", shorten(lines.line())));
        };
        let Some(number) = parsed(record) else {
            return Err(lines.bad("the number of a record, from 1", shorten(record)));
        };
        let input = files.get(&xxh3_64(file)).filter(|&&number| {
            // Another name may have the same hash.
            cell(&inputs[number as usize].docno).as_bytes() == file
        });
        let document = input.and_then(|&file| places.find(file, number));
        let problem = match document {
            None => Some(format!("record {number} of the file {}", shorten(file))),
            Some(document) => {
                let docno = docno.and_then(cell_of);
                let name = names.get(document)?;
                let same = docno.is_none_or(|docno| cell(&name).as_bytes() == docno);
                listed.insert(document);
                (!same).then(|| {
                    let docno = shorten(docno.unwrap_or_default());
                    format!(
                        "docno {docno} for the document {}",
                        shorten(name.as_bytes())
                    )
                })
            }
        };
        if let Some(found) = problem {
            match &mut unknown {
                Some((_, more)) => *more += 1,
                None => unknown = Some((lines.bad("a document of the inputs", found), 0)),
            }
        }
    }
    match unknown {
        None => Ok(listed),
        Some((error, more)) => Err(with_more(error, more)),
    }
}

/// Says how many more lines name no document, and what to do.
fn with_more(mut error: Error, more: u64) -> Error {
    if let (Error::BadLine { found, .. }, true) = (&mut error, more > 0) {
        *found += &format!(", and {} more", counted(more, "such line"));
    }
    error.hinted("make the list from the inputs of this command, named in the same way")
}
