//! Docnos by document number, and captures.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use bincode::{Decode, Encode};
use serde::{Deserialize, Serialize};

use super::documents::DocumentRecord;
use lookalike_base::{Error, Key, Result};
use lookalike_store::{
    HEADER_BYTES, Kind, NAMES_WITH_CAPTURES, PartFile, PartInfo, table::cell, unescaped,
    verify_part,
};

/// The address and the date of a capture of a web archive; neither for another document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Encode, Decode)]
pub struct Captured {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

impl Captured {
    /// The capture that a document is.
    pub fn of<S: AsRef<str> + Default + PartialEq>(document: &DocumentRecord<S>) -> Captured {
        let text = |text: &S| text.as_ref().to_string();
        let date = document.date.0.as_ref().map(text);
        let url = document.url.as_ref().filter(|_| date.is_some());
        let url = url.map(text);
        Captured { url, date }
    }

    /// As a name begins with it: the date and the address as cells of a text file, with a tab after
    /// each; a tab alone for no capture.
    pub fn stored(&self) -> String {
        let url = self.url.as_deref().unwrap_or_default();
        match &self.date {
            Some(date) => format!("{}\t{}\t", cell(date), cell(url)),
            None => "\t".into(),
        }
    }

    /// Reads a name that begins with a capture: the capture, and the docno.
    pub fn split(name: &str) -> (Captured, &str) {
        let (stored, docno) = name.split_at(Captured::end(name.as_bytes()));
        let mut cells = stored.split('\t').map(|cell| {
            let text = unescaped(cell.as_bytes()).filter(|text| !text.is_empty())?;
            Some(String::from_utf8_lossy(&text).into_owned())
        });
        let (date, url) = (cells.next().flatten(), cells.next().flatten());
        (Captured { url, date }, docno)
    }

    /// Where the docno begins in a name that begins with a capture.
    pub(crate) fn end(name: &[u8]) -> usize {
        let tabs = usize::from(name.first() != Some(&b'\t'));
        let end = memchr::memchr_iter(b'\t', name).nth(tabs);
        end.map_or(0, |at| at + 1)
    }
}

/// Docnos by document number, and captures. Several threads can look them up.
///
/// A small file is read into memory. From a large one, each look-up reads one docno, which takes
/// less time and memory than mapping the file (figures in docs/experiments.md).
#[derive(Debug)]
pub struct Names {
    levels: Vec<Level>,
}

/// The docnos of consecutive documents.
#[derive(Debug)]
struct Level {
    /// The first document.
    first: u32,
    names: Bytes,
    ends: Bytes,
}

/// The payload of a part.
#[derive(Debug)]
struct Bytes {
    part: PartFile,
    /// All of it, if it is held in memory.
    held: Option<Vec<u8>>,
}

impl Bytes {
    fn open(
        path: &Path,
        kind: Kind,
        parameters: u128,
        (info, held): (&PartInfo, bool),
    ) -> Result<Bytes> {
        verify_part(path, kind, Some(info))?;
        let part = PartFile::open(path, kind, Some(parameters), Some(info))?;
        let all = held.then(|| part.read(HEADER_BYTES as u64, part.footer.payload_bytes));
        let held = all.transpose()?;
        Ok(Bytes { part, held })
    }

    /// `length` bytes from `at` on; `None` if the payload ends before.
    fn get(&self, at: u64, length: u64) -> Result<Option<Cow<'_, [u8]>>> {
        let Some(end) = at.checked_add(length) else {
            return Ok(None);
        };
        if end > self.part.footer.payload_bytes {
            return Ok(None);
        }
        Ok(Some(match &self.held {
            Some(held) => held[at as usize..end as usize].into(),
            None => self.part.read(HEADER_BYTES as u64 + at, length)?.into(),
        }))
    }
}

impl Names {
    /// Opens the files of docnos and of their ends.
    pub(super) fn open(
        (directory, parameters): (PathBuf, u128),
        parts: &[(&PartInfo, &PartInfo)],
        held: bool,
    ) -> Result<Names> {
        let open = |kind, info: &PartInfo| {
            Bytes::open(&directory.join(&info.name), kind, parameters, (info, held))
        };
        let mut first = 0;
        let levels = parts.iter().map(|(names, ends)| {
            let level = Level {
                first,
                names: open(Kind::Names, names)?,
                ends: open(Kind::Column, ends)?,
            };
            first = first.saturating_add(u32::try_from(names.records).unwrap_or(u32::MAX));
            Ok(level)
        });
        let levels = levels.collect::<Result<_>>()?;
        Ok(Names { levels })
    }

    /// Returns the docno of a document.
    pub fn get(&self, document: u32) -> Result<Cow<'_, str>> {
        self.named(document).map(|(docno, _)| docno)
    }

    /// Returns the docno of a document, and the capture that it is.
    pub fn named(&self, document: u32) -> Result<(Cow<'_, str>, Captured)> {
        let after = self.levels.partition_point(|level| level.first <= document);
        let level = &self.levels[after.saturating_sub(1)];
        let name = level.get(document)?;
        if level.names.part.header.version < NAMES_WITH_CAPTURES {
            return Ok((name, Captured::default()));
        }
        let (captured, docno) = Captured::split(&name);
        Ok((docno.to_string().into(), captured))
    }
}

impl Level {
    fn get(&self, document: u32) -> Result<Cow<'_, str>> {
        let at = u64::from(document - self.first) * 8;
        let corrupt = |file: &Bytes, offset: u64, expected: &str| {
            Error::corrupt(file.part.path(), format!("docno of document {document}"))
                .at(HEADER_BYTES as u64 + offset)
                .expected(expected, "none")
        };
        let outside = || corrupt(&self.ends, at, "its end within the file of names");
        let (start, end) = if document == self.first {
            let ends = self.ends.get(0, 8)?.ok_or_else(outside)?;
            (0, u64::get_le(&ends))
        } else {
            let ends = self.ends.get(at - 8, 16)?.ok_or_else(outside)?;
            (u64::get_le(&ends[..8]), u64::get_le(&ends[8..]))
        };
        let length = end.checked_sub(start).ok_or_else(outside)?;
        let name = self.names.get(start, length)?.ok_or_else(outside)?;
        let not_text = || corrupt(&self.names, start, "UTF-8");
        Ok(match name {
            Cow::Borrowed(name) => {
                Cow::Borrowed(std::str::from_utf8(name).map_err(|_| not_text())?)
            }
            Cow::Owned(name) => Cow::Owned(String::from_utf8(name).map_err(|_| not_text())?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_store::{Header, PartWriter};

    fn part(directory: &Path, kind: Kind, number: u64, bytes: &[u8]) -> PartInfo {
        let header = Header::new(kind, 7, number, 8);
        let mut out = PartWriter::create(directory, &header).unwrap();
        out.put(bytes).unwrap();
        out.finish(0, 0, 0).unwrap()
    }

    #[test]
    fn a_docno_that_cannot_be_is_told_by_the_file_that_is_wrong() {
        let directory = tempfile::tempdir().unwrap();
        let ends: Vec<u8> = [1u64, 3, 9, 4]
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .collect();
        let names = part(directory.path(), Kind::Names, 0, b"a\xff\xfe");
        let ends = part(directory.path(), Kind::Column, 1, &ends);
        for held in [true, false] {
            let files = (directory.path().into(), 7);
            let names = Names::open(files, &[(&names, &ends)], held).unwrap();
            assert_eq!(names.get(0).unwrap(), "a");
            let level = &names.levels[0];
            for (document, file, offset) in [
                (1, &level.names, 65),
                (2, &level.ends, 80),
                (3, &level.ends, 88),
                (4, &level.ends, 96),
            ] {
                let error = names.get(document).unwrap_err().to_string();
                let start = format!(
                    "{} is corrupt at byte {offset}: docno of document {document}: ",
                    file.part.path().display()
                );
                assert!(error.starts_with(&start), "{error}");
            }
        }
    }
}
