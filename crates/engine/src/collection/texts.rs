//! The texts of a segment's documents on disk, for collections that keep them.
//!
//! # In and out
//! In: the text of each document whose set is stored, in document order (defined by
//! [`lookalike_text::parse::Parser::text`]). Out: one part per segment, a stream of lengths and texts in
//! zstd blocks.
//!
//! # Invariants
//! - A block holds [`TEXT_BLOCK_BYTES`] of the stream; the last block holds the rest. A text may
//!   span blocks.
//! - The reader does not trust a stored length: its memory grows with the blocks that it has read,
//!   not with the length that the part states.
//!
//! # Cost
//! Memory for one block and its compressed form, both when writing and when reading.

use crate::collection::SegmentEntry;
use lookalike_base::{Error, Result};
use lookalike_store::{Footer, Header, Kind, PartInfo, PartReader, PartWriter, Workspace};
use std::path::Path;

use super::blocks::{Packer, take};

/// Bytes of the stream in a block: the memory for it, and the amount that has to be decompressed to
/// read one text.
pub const TEXT_BLOCK_BYTES: usize = 256 << 10;

/// Compression runs in the single writer thread. 71.2 MB of texts took 24.9 MB at level 1 and 23.6
/// MB at level 3, and level 3 took 1.5 times as long.
const TEXT_ZSTD_LEVEL: i32 = 1;

/// Bytes of a stored length.
const LENGTH_BYTES: usize = 8;

/// Writes the texts of a segment.
pub struct TextWriter {
    out: PartWriter,
    packer: Packer,
    block: Vec<u8>,
    /// Texts that begin in the block.
    begun: u32,
    texts: u64,
    bytes: u64,
    /// Bytes of the current text that are still to be put.
    left: u64,
}

impl TextWriter {
    /// Starts the texts of segment `number`.
    pub fn create(directory: &Path, parameters: u128, number: u64) -> Result<Self> {
        let header = Header::new(Kind::Text, parameters, number, 0);
        let out = PartWriter::create(directory, &header)?;
        Ok(TextWriter {
            packer: Packer::new(TEXT_ZSTD_LEVEL, out.path())?,
            out,
            block: Vec::with_capacity(TEXT_BLOCK_BYTES),
            begun: 0,
            texts: 0,
            bytes: 0,
            left: 0,
        })
    }

    /// Begins the next text, of this number of bytes. The previous text must be complete.
    pub fn begin(&mut self, bytes: u64) -> Result<()> {
        self.check_whole()?;
        self.begun += 1;
        self.texts += 1;
        self.bytes += bytes;
        self.append(&bytes.to_le_bytes())?;
        self.left = bytes;
        Ok(())
    }

    /// Appends a piece of the current text.
    pub fn put(&mut self, piece: &[u8]) -> Result<()> {
        let Some(left) = self.left.checked_sub(piece.len() as u64) else {
            return Err(self.wrong(self.left, piece.len() as u64));
        };
        self.left = left;
        self.append(piece)
    }

    /// Appends a whole text.
    pub fn push(&mut self, text: &[u8]) -> Result<()> {
        self.begin(text.len() as u64)?;
        self.put(text)
    }

    /// Makes the part durable.
    pub fn finish(mut self) -> Result<PartInfo> {
        self.check_whole()?;
        self.flush()?;
        self.out.finish(self.texts, 0, self.bytes)
    }

    fn check_whole(&self) -> Result<()> {
        match self.left {
            0 => Ok(()),
            left => Err(self.wrong(left, 0)),
        }
    }

    fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let room = TEXT_BLOCK_BYTES - self.block.len();
            let (now, rest) = bytes.split_at(room.min(bytes.len()));
            self.block.extend_from_slice(now);
            bytes = rest;
            if self.block.len() == TEXT_BLOCK_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if !self.block.is_empty() {
            self.packer.put(&mut self.out, self.begun, &self.block)?;
            self.block.clear();
            self.begun = 0;
        }
        Ok(())
    }

    /// The error for a number of bytes that differs from the number announced.
    fn wrong(&self, expected: u64, found: u64) -> Error {
        let problem = format!("{expected} bytes were to come, {found} came");
        Error::io("write a text to", self.out.path())(std::io::Error::other(problem))
    }
}

/// Reads the texts of a segment in order.
pub struct TextReader {
    part: PartReader,
    block: Vec<u8>,
    at: usize,
    /// Texts that begin in the block: the number in its head, and the number found so far.
    begun: (u32, u32),
    /// Texts not yet begun.
    texts: u64,
    /// Bytes of the texts not yet begun, according to the footer.
    bytes: u64,
    /// Bytes of the current text not yet read.
    left: u64,
}

impl TextReader {
    /// Opens a part of texts.
    pub fn open(path: &Path, parameters: Option<u128>, info: Option<&PartInfo>) -> Result<Self> {
        let part = PartReader::open(path, Kind::Text, parameters, info)?;
        let Footer { records, extra, .. } = part.footer;
        Ok(TextReader {
            part,
            block: Vec::new(),
            at: 0,
            begun: (0, 0),
            texts: records,
            bytes: extra,
            left: 0,
        })
    }

    /// Opens the texts of a segment, if they are kept.
    pub fn of(workspace: &Workspace, segment: &SegmentEntry) -> Result<Option<Self>> {
        let Some(info) = &segment.text else {
            return Ok(None);
        };
        let path = workspace.part("collection", &info.name);
        TextReader::open(&path, Some(workspace.collection_parameters()), Some(info)).map(Some)
    }

    /// Reads the next text into `text`; `false` after the last.
    pub fn next(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        text.clear();
        if self.next_length()?.is_none() {
            return Ok(false);
        }
        while let Some(piece) = self.piece()? {
            text.extend_from_slice(piece);
        }
        Ok(true)
    }

    /// Goes to the next text and returns its stated length in bytes; `None` after the last text.
    /// Skips the rest of the previous text.
    pub fn next_length(&mut self) -> Result<Option<u64>> {
        while self.piece()?.is_some() {}
        if self.texts == 0 {
            return Ok(None);
        }
        let mut length = [0; LENGTH_BYTES];
        for (i, byte) in length.iter_mut().enumerate() {
            self.fill()?;
            // A text begins where its length begins.
            self.begun.1 += u32::from(i == 0);
            *byte = self.block.get(self.at).copied().unwrap_or_default();
            self.at += 1;
        }
        let length = u64::from_le_bytes(length);
        self.texts -= 1;
        let Some(bytes) = self.bytes.checked_sub(length) else {
            let most = format!("at most {} bytes", self.bytes);
            return Err(self.part.corrupt("length of a text", most, length));
        };
        self.bytes = bytes;
        self.left = length;
        Ok(Some(length))
    }

    /// The next piece of the text, at most [`TEXT_BLOCK_BYTES`] long; `None` at its end. A piece
    /// may end inside a character.
    pub fn piece(&mut self) -> Result<Option<&[u8]>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.fill()?;
        let from = self.at;
        let here = (self.block.len() - from) as u64;
        let length = here.min(self.left);
        self.left -= length;
        self.at += length as usize;
        Ok(self.block.get(from..self.at))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.part.path()
    }

    /// Reads the next block if the current one is used up.
    fn fill(&mut self) -> Result<()> {
        if self.at < self.block.len() {
            return Ok(());
        }
        self.check_begun()?;
        let begun = take(&mut self.part, TEXT_BLOCK_BYTES, &mut self.block)?;
        self.begun = (begun, 0);
        self.at = 0;
        // Every block except the last is full.
        let bytes = self.block.len();
        if bytes == 0 || bytes < TEXT_BLOCK_BYTES && self.part.remaining() > 0 {
            return Err(self
                .part
                .corrupt("bytes of a block", TEXT_BLOCK_BYTES, bytes));
        }
        Ok(())
    }

    fn check_begun(&self) -> Result<()> {
        let (stated, found) = self.begun;
        if stated == found {
            return Ok(());
        }
        Err(self
            .part
            .corrupt("texts that begin in a block", stated, found))
    }

    /// Checks the whole part after the last text has been read.
    pub fn finish(mut self) -> Result<()> {
        while self.next_length()?.is_some() {}
        self.check_begun()?;
        let over = (self.block.len() - self.at) as u64 + self.part.remaining();
        if over > 0 || self.bytes > 0 {
            let (all, texts) = (self.part.footer.extra, self.part.footer.records);
            let expected = format!("{all} in {texts} texts");
            return Err(self
                .part
                .corrupt("bytes of texts", expected, "another number"));
        }
        self.part.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn written(directory: &Path, texts: &[&[u8]]) -> (PathBuf, PartInfo) {
        let mut writer = TextWriter::create(directory, 7, 0).unwrap();
        for text in texts {
            writer.begin(text.len() as u64).unwrap();
            for piece in text.chunks(100_000) {
                writer.put(piece).unwrap();
            }
        }
        let info = writer.finish().unwrap();
        (directory.join(&info.name), info)
    }

    #[test]
    fn what_was_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let long: Vec<u8> = (0..3 * TEXT_BLOCK_BYTES)
            .map(|i| (i * i % 251) as u8)
            .collect();
        // This includes lengths that cross the end of a block.
        for first in TEXT_BLOCK_BYTES - 20..=TEXT_BLOCK_BYTES {
            let texts = [&long[..first], b"", b"abc", &long, b"", &long[..9]];
            let (path, info) = written(directory.path(), &texts);
            assert_eq!(info.records, 6);
            let mut reader = TextReader::open(&path, Some(7), Some(&info)).unwrap();
            let mut text = Vec::new();
            for expected in texts {
                assert!(reader.next(&mut text).unwrap());
                assert_eq!(text, expected);
            }
            assert!(!reader.next(&mut text).unwrap());
            reader.finish().unwrap();
            // Skip some texts and read others in pieces.
            let mut reader = TextReader::open(&path, Some(7), Some(&info)).unwrap();
            for (i, expected) in texts.iter().enumerate() {
                assert_eq!(reader.next_length().unwrap(), Some(expected.len() as u64));
                if i % 2 == 1 {
                    let piece = reader.piece().unwrap().unwrap_or_default();
                    assert!(expected.starts_with(piece));
                }
            }
            reader.finish().unwrap();
        }
    }

    #[test]
    fn a_text_that_is_not_as_long_as_was_said_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = TextWriter::create(directory.path(), 7, 0).unwrap();
        writer.begin(3).unwrap();
        assert!(writer.put(b"four").is_err());
        assert!(writer.begin(1).is_err());
        assert!(writer.finish().is_err());
    }

    /// Wrong lengths, counts and sizes behind correct checksums.
    #[test]
    fn a_length_is_not_believed() {
        let directory = tempfile::tempdir().unwrap();
        for (stream, records, extra, begun) in [
            (&[0xff; 8][..], 1, u64::MAX, 1),
            (&[0xff; 8], 1, 3, 1),
            (&[3, 0, 0, 0, 0, 0, 0, 0, b'a', b'b'], 1, 3, 1),
            (&[3, 0, 0], 1, 3, 1),
            (&[1, 0, 0, 0, 0, 0, 0, 0, b'a', b'b'], 1, 1, 1),
            (&[1, 0, 0, 0, 0, 0, 0, 0, b'a'], 1, 1, 2),
            (&[1, 0, 0, 0, 0, 0, 0, 0, b'a'], 1, 2, 1),
            (&[1, 0, 0, 0, 0, 0, 0, 0, b'a'], 0, 0, 1),
            (&[1, 0, 0, 0, 0, 0, 0, 0, b'a'], u64::MAX, 1, 1),
            (&[], 1, 0, 0),
        ] {
            let header = Header::new(Kind::Text, 7, 0, 0);
            let mut out = PartWriter::create(directory.path(), &header).unwrap();
            let packer = Packer::new(1, out.path())
                .unwrap()
                .put(&mut out, begun, stream);
            packer.unwrap();
            let info = out.finish(records, 0, extra).unwrap();
            let path = directory.path().join(&info.name);
            let mut reader = TextReader::open(&path, Some(7), Some(&info)).unwrap();
            let mut text = Vec::new();
            let read = loop {
                match reader.next(&mut text) {
                    Ok(true) => {}
                    Ok(false) => break reader.finish(),
                    Err(error) => break Err(error),
                }
            };
            assert!(read.is_err(), "{stream:?} {records} {extra} {begun}");
            assert!(text.capacity() < 1 << 20);
        }
        fs::remove_file(directory.path().join("000000.text")).unwrap();
    }
}
