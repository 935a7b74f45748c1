//! The removable ranges of a collection, from [`REMOVABLE_FILE`], by file and document.

use std::ops::Range;

use bincode::{Decode, Encode};

use super::shown::numbers;
use super::{REMOVABLE_FILE, STAGE};
use lookalike_base::{Context, Result};
use lookalike_engine::collection::{DocumentRecord, InputRecord, InputRecords, each_place};
use lookalike_engine::table::Table;
use lookalike_store::{Scratch, SetAside, Workspace};
use lookalike_text::read::InputFile;
use lookalike_text::read::lines::shorten;

/// Bytes of memory besides the files.
const FIXED_BYTES: u64 = 512 << 10;

/// How the documents of an input file change.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileNeeds {
    /// Where the ranges of its first document with some are set aside.
    start: u64,
    /// The number of these documents.
    pub changing: u64,
    /// The largest record with removable text, in bytes.
    pub largest: u64,
    /// Whether it has a document without tokens.
    pub wordless: bool,
}

/// The removable ranges of bytes of a document, and the number of tokens in all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub(super) struct Ranges {
    pub bytes: Vec<Range<usize>>,
    pub tokens: u64,
}

/// The removable ranges of a collection.
pub(super) struct Removable {
    files: Vec<FileNeeds>,
    /// For each document with removable text, the number of its record in its file, from 1, and its
    /// ranges.
    ranges: SetAside<(u64, Ranges)>,
    /// The directory of the temporary file of `ranges`.
    _scratch: Scratch,
}

impl Removable {
    /// Bytes of memory for this number of input files.
    pub fn bytes(files: u64) -> u64 {
        files * size_of::<FileNeeds>() as u64 + FIXED_BYTES
    }

    /// Reads the ranges of all files, each of which must belong to a document.
    pub fn open(
        workspace: &Workspace,
        inputs: &[InputFile],
        context: &Context<'_>,
    ) -> Result<Self> {
        let mut files = vec![FileNeeds::default(); inputs.len()];
        let scratch = workspace.scratch(context)?;
        let ranges = SetAside::new(scratch.path());
        let mut table = Table::open(&workspace.directory().join(REMOVABLE_FILE))?;
        table.want_names(&[
            "record",
            "begin_token",
            "end_token",
            "begin_byte",
            "end_byte",
            "file",
        ])?;
        let mut row = Vec::new();
        let mut left = table.next(&mut row)?;
        let another = |table: &Table, row: &[Vec<u8>]| {
            let expected = "a removable range of a document, in the order of the input";
            table.bad(expected, shorten(&row.join(&b'\t')))
        };
        each_place(workspace, |number, record, document| {
            context.tick(STAGE, number)?;
            let at = document.file as usize;
            let (Some(needs), Some(input)) = (files.get_mut(at), inputs.get(at)) else {
                return Ok(());
            };
            needs.wordless |= document.words == 0;
            let mut own = Ranges::default();
            let (mut token, mut byte) = (0, 0);
            while left && row[5] == input.docno.as_bytes() {
                let [its, begin, end, begin_byte, end_byte] = numbers(&table, &row)?;
                if its != record {
                    break;
                }
                if begin < token || byte > begin_byte || begin >= end || begin_byte >= end_byte {
                    return Err(another(&table, &row));
                }
                (token, byte) = (end, end_byte);
                own.tokens += end - begin;
                own.bytes.push(begin_byte as usize..end_byte as usize);
                left = table.next(&mut row)?;
            }
            if own.tokens > 0 {
                let place = ranges.put(&(record, own))?;
                if needs.changing == 0 {
                    needs.start = place;
                }
                needs.changing += 1;
                needs.largest = needs.largest.max(document.length);
            }
            Ok(())
        })?;
        match left {
            true => Err(another(&table, &row)),
            false => Ok(Removable {
                files,
                ranges,
                _scratch: scratch,
            }),
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

    /// Reads the documents of a file, with their ranges.
    pub fn documents(&self, file: u32) -> FileDocuments<'_> {
        let needs = self.of(file);
        FileDocuments {
            file,
            record: 0,
            all: &self.ranges,
            place: needs.start,
            left: needs.changing,
            next: None,
        }
    }
}

/// A document of a file, and its removable ranges.
#[derive(Clone, Debug, Default)]
pub(super) struct Document {
    pub record: u64,
    pub facts: Box<DocumentRecord>,
    pub ranges: Ranges,
}

impl Document {
    /// Whether it loses all its tokens.
    pub fn is_emptied(&self) -> bool {
        self.facts.words > 0 && self.ranges.tokens == self.facts.words
    }
}

/// The place in the documents of a file, and in their ranges.
pub(super) struct FileDocuments<'r> {
    file: u32,
    record: u64,
    all: &'r SetAside<(u64, Ranges)>,
    place: u64,
    left: u64,
    next: Option<(u64, Ranges)>,
}

impl FileDocuments<'_> {
    /// The next document among the entries.
    pub fn next(&mut self, entries: &mut InputRecords<'_>) -> Result<Option<Document>> {
        while let Some(entry) = entries.next_of(self.file)? {
            self.record += 1;
            let InputRecord::Document(_, facts) = entry else {
                continue;
            };
            if self.next.is_none() && self.left > 0 {
                self.next = Some(self.all.next(&mut self.place)?);
                self.left -= 1;
            }
            let next = self.next.take_if(|(its, _)| *its == self.record);
            return Ok(Some(Document {
                record: self.record,
                facts,
                ranges: next.unwrap_or_default().1,
            }));
        }
        Ok(None)
    }
}
