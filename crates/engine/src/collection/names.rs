//! Docnos by document number.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use lookalike_base::ids::Key;
use lookalike_base::{Error, Result, limits};
use lookalike_store::{HEADER_BYTES, Kind, Mapped, PartFile, PartInfo, verify_part};

/// Docnos by document number. Several threads can look them up.
///
/// A small file is mapped. A look-up in a mapped file brings sixteen pages of it into memory, so
/// random look-ups in a large file take less time and memory if each docno is read by itself
/// (figures in docs/experiments.md).
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
enum Bytes {
    Mapped(Mapped),
    Read(PartFile),
}

impl Bytes {
    fn open(
        path: &Path,
        kind: Kind,
        parameters: u128,
        (info, mapped): (&PartInfo, bool),
    ) -> Result<Bytes> {
        if mapped {
            return Mapped::open(path, kind, parameters, info).map(Bytes::Mapped);
        }
        verify_part(path, kind, Some(info))?;
        PartFile::open(path, kind, Some(parameters), Some(info)).map(Bytes::Read)
    }

    /// `length` bytes from `at` on; `None` if the payload ends before.
    fn get(&self, at: u64, length: u64) -> Result<Option<Cow<'_, [u8]>>> {
        let Some(end) = at.checked_add(length) else {
            return Ok(None);
        };
        match self {
            Bytes::Mapped(map) => Ok(map
                .bytes()
                .get(at as usize..end as usize)
                .map(Cow::Borrowed)),
            Bytes::Read(part) if end > part.payload_end() - HEADER_BYTES as u64 => Ok(None),
            Bytes::Read(part) => {
                let mut bytes = vec![0; length as usize];
                part.read_at(&mut bytes, HEADER_BYTES as u64 + at)?;
                Ok(Some(Cow::Owned(bytes)))
            }
        }
    }

    fn path(&self) -> &Path {
        match self {
            Bytes::Mapped(map) => map.path(),
            Bytes::Read(part) => part.path(),
        }
    }
}

impl Names {
    /// Opens the files of docnos and of their ends.
    pub(super) fn open(
        (directory, parameters): (PathBuf, u128),
        parts: &[(&PartInfo, &PartInfo)],
        mapped: bool,
    ) -> Result<Names> {
        if mapped {
            let bytes = parts.iter().map(|(names, ends)| names.bytes + ends.bytes);
            let (count, bytes) = (parts.len() * 2, bytes.sum());
            let what = || "looking up docnos in mapped files".into();
            limits::room_for_mappings(count, bytes, what)?;
        }
        let open = |kind, info: &PartInfo| {
            Bytes::open(
                &directory.join(&info.name),
                kind,
                parameters,
                (info, mapped),
            )
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
        let after = self.levels.partition_point(|level| level.first <= document);
        self.levels[after.saturating_sub(1)].get(document)
    }
}

impl Level {
    fn get(&self, document: u32) -> Result<Cow<'_, str>> {
        let at = u64::from(document - self.first) * 8;
        let corrupt = |file: &Bytes, offset: u64, expected: &str| {
            Error::corrupt(file.path(), format!("docno of document {document}"))
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
        for mapped in [true, false] {
            let files = (directory.path().into(), 7);
            let names = Names::open(files, &[(&names, &ends)], mapped).unwrap();
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
                    file.path().display()
                );
                assert!(error.starts_with(&start), "{error}");
            }
        }
    }
}
