//! Places of k-grams, and the repeats that are found: a file of them, and its reader.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::STAGE;
use lookalike_base::{Context, Error, Result};
use lookalike_store::{File, disk, field, item};

/// A place: a document, and a token in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub document: u32,
    pub token: u32,
}

impl Place {
    pub fn number(self) -> u64 {
        u64::from(self.document) << 32 | u64::from(self.token)
    }

    pub fn of(number: u64) -> Place {
        Place {
            document: (number >> 32) as u32,
            token: number as u32,
        }
    }

    /// The place some tokens further on.
    pub fn plus(self, tokens: u32) -> Place {
        Place {
            token: self.token + tokens,
            ..self
        }
    }
}

field! {
    Place, 64, |place: Place| place.number().into(), |number| Place::of(number as u64);
}

/// Bytes of a [`Repeat`] in the file.
pub(super) const REPEAT_BYTES: u64 = 16;
/// Bytes of the file that are read and written at once.
pub(super) const PIECE_BYTES: usize = 256 << 10;
/// Repeats that are read at once.
const SOME: u64 = PIECE_BYTES as u64 / REPEAT_BYTES;

item! {
    /// Consecutive k-grams of a document that also occur elsewhere. Their first occurrences are
    /// consecutive as well.
    pub(super) struct Repeat {
        /// The first k-gram.
        place: Place,
        /// Where the first k-gram occurs first: here, or at an earlier place.
        first: Place,
        /// The number of k-grams.
        count: u32,
    }
}

impl Repeat {
    /// Appends another one, if it continues this one.
    pub fn extend(&mut self, next: &Repeat) -> bool {
        let continues = self.place.document == next.place.document
            && self.place.plus(self.count) == next.place
            && self.first.document == next.first.document
            && self.first.plus(self.count) == next.first;
        if continues {
            self.count += next.count;
        }
        continues
    }

    /// The range of its k-grams by first occurrence.
    pub fn line(&self) -> (u64, u64) {
        let begin = self.first.number();
        (begin, begin + u64::from(self.count))
    }

    pub fn encode(&self) -> [u8; REPEAT_BYTES as usize] {
        let mut bytes = [0; REPEAT_BYTES as usize];
        let words = [
            self.place.token,
            self.count,
            self.first.document,
            self.first.token,
        ];
        for (bytes, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        bytes
    }
}

/// The repeats of all documents, in a file without a name.
pub(super) struct Repeats {
    pub file: File,
    /// The place of the file, for messages.
    pub directory: PathBuf,
    /// Where the repeats of each document end, in repeats, from document 0 on.
    pub ends: Vec<u64>,
}

impl Repeats {
    /// No repeats.
    pub fn none(directory: &Path) -> Result<Repeats> {
        Ok(Repeats {
            file: disk::unnamed(directory)?,
            directory: directory.into(),
            ends: Vec::new(),
        })
    }

    /// The range of a document's repeats.
    fn range(&self, document: u32) -> Range<u64> {
        let document = document as usize;
        let end = self.ends.get(document).copied().unwrap_or(0);
        let begin = document.checked_sub(1).and_then(|d| self.ends.get(d));
        begin.copied().unwrap_or(0)..end
    }

    /// The number of a document's repeats.
    pub fn count(&self, document: u32) -> u64 {
        let range = self.range(document);
        range.end - range.start
    }

    /// Whether a document has repeats.
    pub fn has(&self, document: u32) -> bool {
        self.count(document) > 0
    }

    /// Reads the repeats of documents, and up to `ahead` bytes of the repeats that follow.
    pub fn reader(&self, ahead: usize) -> RepeatsReader<'_> {
        RepeatsReader {
            repeats: self,
            ahead: ahead as u64 / REPEAT_BYTES,
            bytes: Vec::new(),
            held: 0..0,
            document: 0,
            left: 0..0,
        }
    }

    /// Visits all repeats, by place.
    pub fn each(
        &self,
        context: &Context<'_>,
        mut visit: impl FnMut(&Repeat) -> Result<()>,
    ) -> Result<()> {
        let (mut reader, mut some) = (self.reader(PIECE_BYTES), Vec::new());
        for document in (0..self.ends.len() as u32).filter(|&document| self.has(document)) {
            reader.begin(document);
            while reader.next(&mut some)? {
                context.stop.check(STAGE)?;
                some.iter().try_for_each(&mut visit)?;
            }
        }
        Ok(())
    }
}

/// Reads repeats.
pub(super) struct RepeatsReader<'r> {
    repeats: &'r Repeats,
    ahead: u64,
    bytes: Vec<u8>,
    held: Range<u64>,
    /// The document, and those of its repeats that are not yet read.
    document: u32,
    left: Range<u64>,
}

impl RepeatsReader<'_> {
    /// Begins a document.
    pub fn begin(&mut self, document: u32) {
        self.document = document;
        self.left = self.repeats.range(document);
    }

    /// Some of the next repeats of the document, by place, in place of what `repeats` has; `false`
    /// if there are none.
    pub fn next(&mut self, repeats: &mut Vec<Repeat>) -> Result<bool> {
        repeats.clear();
        self.append(repeats)
    }

    /// All repeats of a document, by place.
    pub fn of(&mut self, document: u32, repeats: &mut Vec<Repeat>) -> Result<()> {
        repeats.clear();
        self.begin(document);
        repeats.reserve_exact((self.left.end - self.left.start) as usize);
        while self.append(repeats)? {}
        Ok(())
    }

    fn append(&mut self, repeats: &mut Vec<Repeat>) -> Result<bool> {
        let begin = self.left.start;
        let end = self.left.end.min(begin + SOME);
        if begin == end {
            return Ok(false);
        }
        if begin < self.held.start || end > self.held.end {
            let all = self.repeats.ends.last().copied().unwrap_or(0);
            let ahead = (begin + self.ahead).min(all).max(end);
            self.bytes
                .resize(((ahead - begin) * REPEAT_BYTES) as usize, 0);
            self.held = 0..0;
            self.repeats
                .file
                .read_exact_at(&mut self.bytes, begin * REPEAT_BYTES)
                .map_err(Error::io(
                    "read a temporary file in",
                    &self.repeats.directory,
                ))?;
            self.held = begin..ahead;
        }
        let skipped = (begin - self.held.start) as usize;
        let count = (end - begin) as usize;
        let words = self.bytes.as_chunks::<4>().0.as_chunks::<4>().0;
        let held = words.get(skipped..skipped + count).unwrap_or_default();
        let document = self.document;
        repeats.extend(held.iter().map(|words| {
            let [token, count, first_document, first_token] = words.map(u32::from_le_bytes);
            Repeat {
                place: Place { document, token },
                count,
                first: Place {
                    document: first_document,
                    token: first_token,
                },
            }
        }));
        self.left.start = end;
        Ok(true)
    }
}
