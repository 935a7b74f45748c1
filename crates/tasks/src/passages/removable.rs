//! Reads the removable ranges of a collection, file by file, from [`REMOVABLE_FILE`].

use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::{REMOVABLE_FILE, STAGE};
use lookalike_base::progress::Context;
use lookalike_base::{Error, Result};
use lookalike_engine::collection::each_place;
use lookalike_store::disk::{self, File};
use lookalike_store::table::cell;
use lookalike_store::workspace::Workspace;
use lookalike_text::read::InputFile;

/// Bytes that a reader holds.
const BUFFER: usize = 64 << 10;

/// How the documents of an input file change.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileNeeds {
    /// Where its ranges begin; `None` if nothing of it is removable.
    pub start: Option<u64>,
    /// The largest record with removable text, in bytes.
    pub largest: u64,
    /// Whether it has a document without tokens.
    pub wordless: bool,
}

/// The removable ranges of a collection.
pub(super) struct Removable {
    path: PathBuf,
    files: Vec<FileNeeds>,
}

/// Removable text of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RemovableLine {
    /// The number of the document's record in its file, from 1.
    record: u64,
    tokens: Range<u64>,
    bytes: Range<usize>,
}

/// The columns of a line; `None` if it is not one of ours. The name of the file comes last.
fn parse(line: &str) -> Option<(RemovableLine, &str)> {
    let mut cells = line.strip_suffix('\n')?.split('\t').skip(1);
    let mut number = || cells.next()?.parse::<u64>().ok();
    let tokens = number()?..number()?;
    let bytes = usize::try_from(number()?).ok()?..usize::try_from(number()?).ok()?;
    let (_, _) = (number()?, number()?);
    let file = cells.next()?;
    let record = cells.next()?.parse().ok()?;
    let line = RemovableLine {
        record,
        tokens,
        bytes,
    };
    Some((line, file))
}

impl Removable {
    /// Bytes of memory for this number of input files.
    pub fn bytes(files: u64) -> u64 {
        files * size_of::<FileNeeds>() as u64 + BUFFER as u64
    }

    /// Finds where the ranges of each file begin, and that each belongs to a document.
    pub fn open(
        workspace: &Workspace,
        inputs: &[InputFile],
        context: &Context<'_>,
    ) -> Result<Self> {
        let path = workspace.directory().join(REMOVABLE_FILE);
        let mut files = vec![FileNeeds::default(); inputs.len()];
        let mut reader = RemovableReader::open(&path, None)?;
        let (mut file, mut name) = (u32::MAX, "".into());
        each_place(workspace, |number, record, document| {
            context.tick(STAGE, number)?;
            let at = document.file as usize;
            let (Some(needs), Some(input)) = (files.get_mut(at), inputs.get(at)) else {
                return Ok(());
            };
            if document.file != file {
                (file, name) = (document.file, cell(&input.docno));
            }
            needs.wordless |= document.words == 0;
            let start = reader.at;
            if reader.skip(&name, record)? {
                needs.start.get_or_insert(start);
                needs.largest = needs.largest.max(document.length);
            }
            Ok(())
        })?;
        match reader.next {
            Some(_) => Err(reader.corrupt()),
            None => Ok(Removable { path, files }),
        }
    }

    /// How a file changes.
    pub fn of(&self, file: u32) -> FileNeeds {
        self.files.get(file as usize).copied().unwrap_or_default()
    }

    /// The largest record with removable text, in bytes.
    pub fn largest(&self) -> u64 {
        let largest = self.files.iter().map(|file| file.largest);
        largest.max().unwrap_or(0)
    }

    /// Reads the ranges of a file.
    pub fn reader(&self, file: u32, input: &InputFile) -> Result<FileRanges> {
        let start = self.of(file).start;
        let open = |start| RemovableReader::open(&self.path, Some(start));
        Ok(FileRanges {
            reader: start.map(open).transpose()?,
            name: cell(&input.docno).into_owned(),
        })
    }
}

/// Reads the lines one by one.
struct RemovableReader {
    path: PathBuf,
    lines: BufReader<File>,
    /// Where the next line begins, and where reading continues.
    at: u64,
    end: u64,
    text: String,
    next: Option<(RemovableLine, String)>,
}

impl RemovableReader {
    /// Reads the file from a range on, or from its first one.
    fn open(path: &Path, start: Option<u64>) -> Result<Self> {
        let mut lines = BufReader::with_capacity(BUFFER, disk::open(path)?);
        let at = start.unwrap_or(0);
        let sought = lines.seek(SeekFrom::Start(at));
        sought.map_err(Error::io("read", path))?;
        let mut reader = RemovableReader {
            path: path.into(),
            lines,
            at,
            end: at,
            text: String::from("#"),
            next: None,
        };
        // Comments, and the names of the columns.
        while start.is_none() && reader.text.starts_with('#') {
            reader.line()?;
        }
        reader.advance()?;
        Ok(reader)
    }

    fn line(&mut self) -> Result<()> {
        self.text.clear();
        let read = self.lines.read_line(&mut self.text);
        self.at = self.end;
        self.end += read.map_err(Error::io("read", &self.path))? as u64;
        Ok(())
    }

    fn advance(&mut self) -> Result<()> {
        self.line()?;
        self.next = match parse(&self.text) {
            Some((line, file)) => Some((line, file.to_string())),
            None if self.text.is_empty() => None,
            None => return Err(self.corrupt()),
        };
        Ok(())
    }

    /// The next line, if it is about this record.
    fn take(&mut self, file: &str, record: u64) -> Result<Option<RemovableLine>> {
        let Some((line, _)) = self
            .next
            .take_if(|(line, its)| line.record == record && its == file)
        else {
            return Ok(None);
        };
        self.advance()?;
        Ok(Some(line))
    }

    /// Passes over the lines about a record. Returns whether there are some.
    fn skip(&mut self, file: &str, record: u64) -> Result<bool> {
        let mut any = false;
        while self.take(file, record)?.is_some() {
            any = true;
        }
        Ok(any)
    }

    fn corrupt(&self) -> Error {
        Error::corrupt(&self.path, "line").at(self.at).expected(
            "a removable range of a document, in the order of the input",
            format!("{:?}", self.text.chars().take(80).collect::<String>()),
        )
    }
}

/// Reads the ranges of one file.
pub(super) struct FileRanges {
    reader: Option<RemovableReader>,
    name: String,
}

/// What is removable of a document: ranges of bytes, and the number of tokens in all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges {
    pub bytes: Vec<Range<usize>>,
    pub tokens: u64,
}

impl FileRanges {
    /// The ranges of the document in a record; records rise.
    pub fn of(&mut self, record: u64) -> Result<Ranges> {
        let mut ranges = Ranges::default();
        let Some(reader) = &mut self.reader else {
            return Ok(ranges);
        };
        let (mut token, mut byte) = (0, 0);
        while let Some(line) = reader.take(&self.name, record)? {
            let in_order = line.bytes.start >= byte && line.tokens.start >= token;
            if !in_order || line.bytes.is_empty() || line.tokens.is_empty() {
                return Err(reader.corrupt());
            }
            (token, byte) = (line.tokens.end, line.bytes.end);
            ranges.tokens += line.tokens.end - line.tokens.start;
            ranges.bytes.push(line.bytes);
        }
        Ok(ranges)
    }
}
