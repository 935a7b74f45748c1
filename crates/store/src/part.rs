//! One binary file: header, payload, footer.

use std::io::{Read, Seek, SeekFrom};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::disk::{AtomicFile, File};
use super::{check_sum, checksum, disk, received};
use lookalike_base::{Error, Result, keywords};

const MAGIC: [u8; 8] = *b"\x89LKA\r\n\x1a\n";
const FOOTER_MAGIC: [u8; 8] = *b"\nLKAend\n";
/// Bytes of every header.
pub const HEADER_BYTES: usize = 64;
/// Bytes of every footer.
pub const FOOTER_BYTES: usize = 64;
/// The format version that this build writes for most kinds ([`Kind::version`]), and the least one
/// that it reads.
pub const VERSION: u16 = 1;
/// From this version on, documents and their facts have the digest of their text.
pub const WITH_TEXT_DIGEST: u16 = 2;
/// From this version on, documents have the values of fields. Earlier programs wrote it for
/// collections that keep fields, and the one before for others.
pub const WITH_FIELDS: u16 = 3;
/// From this version on, documents have the date of their capture.
pub const WITH_DATE: u16 = 4;
/// From this version on, the names of facts begin with captures.
pub const FACTS_WITH_CAPTURES: u16 = 3;
/// From this version on, an index may have only the least fingerprints of each document.
const INDEX_OF_LEAST: u16 = 2;
/// The version of names that begin with captures. Others have the one before.
pub const NAMES_WITH_CAPTURES: u16 = 2;

keywords! {
    /// The kinds of parts.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Kind {
        /// Documents of a segment (`.docs`).
        Documents = "docs",
        /// Fingerprint sets of a segment (`.fps`).
        Fingerprints = "fps",
        /// Rejects of a segment, and notices (`.rejects`).
        Rejects = "rejects",
        /// One number per document, of 32 bits or (for the ends of docnos) of 64 bits (`.col`).
        Column = "col",
        /// Docnos of all documents, for look-ups by number (`.names`).
        Names = "names",
        /// A sorted run of records (`.run`).
        Run = "run",
        /// Posting lists of shared fingerprints in a range (`.post`).
        Postings = "post",
        /// The pair list (`.pairs`).
        Pairs = "pairs",
        /// Texts of a segment's documents (`.text`).
        Text = "text",
        /// The fingerprints of a range with their documents, for look-ups (`.index`).
        Index = "index",
        /// Facts about documents, or their docnos, for look-ups (`.facts`).
        Facts = "facts",
        /// Items of a sort, in order (`.sorted`).
        Sorted = "sorted",
    }
}

impl Kind {
    /// The four letters that identify the kind in the header.
    pub fn tag(self) -> [u8; 4] {
        // In the order of the kinds.
        const TAGS: [&[u8; 4]; Kind::ALL.len()] = [
            b"DOCS", b"FPRS", b"RJCT", b"COLM", b"NAME", b"RUNS", b"POST", b"PAIR", b"TEXT",
            b"INDX", b"FACT", b"SORT",
        ];
        *TAGS[self as usize]
    }

    /// The last format version that this build reads and writes. It reads all from [`VERSION`] on.
    pub fn version(self) -> u16 {
        match self {
            Kind::Documents => WITH_DATE,
            Kind::Facts => FACTS_WITH_CAPTURES,
            Kind::Names => NAMES_WITH_CAPTURES,
            Kind::Index => INDEX_OF_LEAST,
            _ => VERSION,
        }
    }

    /// The extension of the file name, without the dot.
    pub fn extension(self) -> &'static str {
        self.text()
    }
}

/// The first [`HEADER_BYTES`] of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The kind of the part.
    pub kind: Kind,
    /// Format version of that kind.
    pub version: u16,
    /// Digest of the parameters that made it.
    pub parameters: u128,
    /// Its number within its kind: in the upper 32 bits the unit of the input that it belongs to,
    /// if there are several.
    pub number: u64,
    /// Bytes of a key or number in the part: 4, 8 or 16; 0 if there are none.
    pub key_bytes: u32,
}

impl Header {
    /// The header of a part that is written now.
    pub fn new(kind: Kind, parameters: u128, number: u64, key_bytes: usize) -> Header {
        Header {
            kind,
            version: kind.version(),
            parameters,
            number,
            key_bytes: key_bytes as u32,
        }
    }

    fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        out[..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&self.kind.tag());
        out[12..14].copy_from_slice(&self.version.to_le_bytes());
        out[16..32].copy_from_slice(&self.parameters.to_le_bytes());
        out[32..40].copy_from_slice(&self.number.to_le_bytes());
        out[40..44].copy_from_slice(&self.key_bytes.to_le_bytes());
        let sum = checksum(&out[..56]);
        out[56..].copy_from_slice(&sum.to_le_bytes());
        out
    }

    fn decode(bytes: &[u8; HEADER_BYTES], path: &Path) -> Result<Header> {
        if bytes[..8] != MAGIC {
            return Err(Error::NotOurs {
                path: path.into(),
                found: bytes[..8].to_vec(),
            });
        }
        let (stated, found) = (u64_at(bytes, 56), checksum(&bytes[..56]));
        check_sum(stated, found, |stated, found| {
            let header = Error::corrupt(path, "checksum of the header");
            header.at(56).expected(stated, found)
        })?;
        let corrupt = |at, what: &str| Error::corrupt(path, what).at(at);
        let tag = [bytes[8], bytes[9], bytes[10], bytes[11]];
        let mut kinds = Kind::ALL.into_iter();
        let kind = kinds.find(|kind| kind.tag() == tag).ok_or_else(|| {
            let found = String::from_utf8_lossy(&tag);
            corrupt(8, "kind").expected("a kind this build knows", found)
        })?;
        let version = u16::from_le_bytes([bytes[12], bytes[13]]);
        if !(VERSION..=kind.version()).contains(&version) {
            let formats = VERSION.into()..=kind.version().into();
            return Err(Error::version(path, version.into(), formats));
        }
        for (at, what, reserved) in [
            (14, "flags", &bytes[14..16]),
            (44, "reserved bytes", &bytes[44..56]),
        ] {
            if reserved.iter().any(|&b| b != 0) {
                return Err(corrupt(at, what).expected("0", format!("{reserved:02x?}")));
            }
        }
        let mut parameters = [0; 16];
        parameters.copy_from_slice(&bytes[16..32]);
        Ok(Header {
            kind,
            version,
            parameters: u128::from_le_bytes(parameters),
            number: u64_at(bytes, 32),
            key_bytes: u64_at(bytes, 40) as u32,
        })
    }
}

/// The last [`FOOTER_BYTES`] of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footer {
    /// The number of documents, records, lists or pairs, depending on the kind.
    pub records: u64,
    /// Bytes between header and footer.
    pub payload_bytes: u64,
    /// Offset of the index in the file, or 0, depending on the kind.
    pub index_offset: u64,
    /// Another number, depending on the kind, or 0.
    pub extra: u64,
    /// xxh3 of everything before it.
    pub checksum: u64,
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// The manifest's description of a committed part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartInfo {
    /// File name within its directory.
    #[serde(deserialize_with = "received::part")]
    pub name: String,
    /// Bytes of the file.
    #[serde(deserialize_with = "received::count")]
    pub bytes: u64,
    /// Number of records.
    #[serde(deserialize_with = "received::count")]
    pub records: u64,
    /// Its footer's checksum, 16 hexadecimal digits.
    pub checksum: String,
}

/// Writes a part from its first byte to its last.
pub struct PartWriter(AtomicFile);

/// The name of a part with this number, without its extension.
pub fn part_stem(number: u64) -> String {
    let (unit, number) = (number >> 32, number as u32);
    match unit {
        0 => format!("{number:06}"),
        unit => format!("{unit}-{number:06}"),
    }
}

/// The upper half of the number of the part with this name.
pub fn part_unit(name: &str) -> u32 {
    let unit = name.split_once('-');
    unit.and_then(|(unit, _)| unit.parse().ok()).unwrap_or(0)
}

/// The number of the part with this name; `None` if this is not the name of a part.
pub fn part_number(name: &str) -> Option<u64> {
    let (stem, _) = name.split_once('.')?;
    let (unit, number) = stem.split_once('-').unwrap_or(("0", stem));
    let (unit, number): (u32, u32) = (unit.parse().ok()?, number.parse().ok()?);
    Some(u64::from(unit) << 32 | u64::from(number))
}

impl PartWriter {
    /// Starts the part `directory/NUMBER.EXTENSION` (as `.tmp`) with its header.
    pub fn create(directory: &Path, header: &Header) -> Result<Self> {
        let name = format!("{}.{}", part_stem(header.number), header.kind.extension());
        PartWriter::create_named(&directory.join(name), header)
    }

    /// Starts a part under the name `path`.
    pub fn create_named(path: &Path, header: &Header) -> Result<Self> {
        let mut writer = PartWriter(AtomicFile::of_part(path)?);
        writer.put(&header.encode())?;
        Ok(writer)
    }

    /// Appends bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.put(bytes)
    }

    /// The final path of the file.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The number of bytes written so far, which is the offset of the next byte.
    pub fn position(&self) -> u64 {
        self.0.bytes
    }

    /// Writes the footer, makes the file durable and renames it to its final name.
    pub fn finish(self, records: u64, index_offset: u64, extra: u64) -> Result<PartInfo> {
        self.end(records, index_offset, extra, true)
    }

    /// As [`PartWriter::finish`]. A part that need not be `lasting` may be lost with the power.
    pub(crate) fn end(
        mut self,
        records: u64,
        index_offset: u64,
        extra: u64,
        lasting: bool,
    ) -> Result<PartInfo> {
        let footer = Footer {
            records,
            payload_bytes: self.position() - HEADER_BYTES as u64,
            index_offset,
            extra,
            checksum: 0,
        };
        self.put(&footer_front(&footer))?;
        let sum = self.0.hash.digest();
        self.put(&sum.to_le_bytes())?;
        self.put(&FOOTER_MAGIC)?;
        let name = self.path().file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let (bytes, _) = self.0.end(lasting)?;
        Ok(PartInfo {
            name,
            bytes,
            records,
            checksum: format!("{sum:016x}"),
        })
    }
}

/// Checks the header fields that every reader requires.
fn check(header: &Header, kind: Kind, parameters: Option<u128>, path: &Path) -> Result<()> {
    if header.kind != kind {
        let [found, kind] = [header.kind, kind].map(|kind| format!("{kind:?}").to_lowercase());
        let help = "do not rename or swap files of an output directory: delete the file and repeat \
                    the command that made it, or start in a new directory with -o";
        let what = format!(" is a {found} file, expected {kind}");
        return Err(Error::of(path, what, help));
    }
    if let Some(expected) = parameters
        && expected != header.parameters
    {
        let found = header.parameters;
        let what = format!(" was made with parameters {found:032x}, expected {expected:032x}");
        let help = "it belongs to another run: delete it and repeat the command that made it, or \
                    start in a new directory with -o";
        return Err(Error::of(path, what, help));
    }
    Ok(())
}

/// Reads only the header of a part.
pub fn read_header(path: &Path) -> Result<Header> {
    let mut file = disk::open(path)?;
    header_of(&mut file, path)
}

fn header_of(file: &mut File, path: &Path) -> Result<Header> {
    let mut bytes = [0; HEADER_BYTES];
    let mut filled = 0;
    while filled < HEADER_BYTES {
        match disk::read_some(file, &mut bytes[filled..], path)? {
            0 => {
                if filled >= 8 && bytes[..8] != MAGIC || filled == 0 {
                    return Err(Error::NotOurs {
                        path: path.into(),
                        found: bytes[..filled.min(8)].into(),
                    });
                }
                let what = format!("a header has {HEADER_BYTES} bytes");
                return Err(Error::truncated(path, filled as u64, what));
            }
            n => filled += n,
        }
    }
    Header::decode(&bytes, path)
}

/// Reads and checks the footer, and leaves the position of the file after the header.
fn footer_of(file: &mut File, path: &Path, info: Option<&PartInfo>) -> Result<Footer> {
    let length = file
        .seek(SeekFrom::End(0))
        .map_err(Error::io("seek", path))?;
    if let Some(info) = info {
        disk::check_size(path, info.bytes, length)?;
    }
    if length < (HEADER_BYTES + FOOTER_BYTES) as u64 {
        let what = "no room for header and footer";
        return Err(Error::truncated(path, length, what));
    }
    let at = length - FOOTER_BYTES as u64;
    file.seek(SeekFrom::Start(at))
        .map_err(Error::io("seek", path))?;
    let mut bytes = [0; FOOTER_BYTES];
    file.read_exact(&mut bytes)
        .map_err(Error::io("read", path))?;
    if bytes[56..] != FOOTER_MAGIC {
        let what = "it does not end with a footer";
        return Err(Error::truncated(path, length, what));
    }
    let footer = Footer {
        records: u64_at(&bytes, 0),
        payload_bytes: u64_at(&bytes, 8),
        index_offset: u64_at(&bytes, 16),
        extra: u64_at(&bytes, 24),
        checksum: u64_at(&bytes, 48),
    };
    let expected = at - HEADER_BYTES as u64;
    let corrupt = |at, what: &str| Error::corrupt(path, what).at(at);
    if footer.payload_bytes != expected {
        let size = corrupt(at + 8, "payload size in the footer");
        return Err(size.expected(expected, footer.payload_bytes));
    }
    if bytes[32..48] != [0; 16] {
        let found = format!("{:02x?}", &bytes[32..48]);
        return Err(corrupt(at + 32, "reserved bytes of the footer").expected("zeros", found));
    }
    if let Some(info) = info {
        let found = format!("{:016x}", footer.checksum);
        if info.checksum != found {
            let sum = corrupt(at + 48, "checksum (manifest)");
            return Err(sum.expected(&info.checksum, found));
        }
        if info.records != footer.records {
            let records = corrupt(at, "records (manifest)");
            return Err(records.expected(info.records, footer.records));
        }
    }
    file.seek(SeekFrom::Start(HEADER_BYTES as u64))
        .map_err(Error::io("seek", path))?;
    Ok(footer)
}

/// Reads a part from its start. [`PartReader::finish`] checks that the whole part is undamaged.
pub struct PartReader {
    /// Only [`PartReader::finish`] verifies the checksum in its footer.
    part: PartFile,
    buffer: Vec<u8>,
    start: usize,
    hash: Xxh3,
    /// Payload bytes not yet read from the file.
    left: u64,
    position: u64,
    /// Bytes that are read of the file at once.
    at_once: usize,
}

impl PartReader {
    /// Opens a part of this kind. With `info`, it must be exactly the part that the manifest names.
    pub fn open(
        path: &Path,
        kind: Kind,
        parameters: Option<u128>,
        info: Option<&PartInfo>,
    ) -> Result<Self> {
        let part = PartFile::open(path, kind, parameters, info)?;
        let mut hash = Xxh3::new();
        hash.update(&part.header.encode());
        Ok(PartReader {
            left: part.footer.payload_bytes,
            part,
            buffer: Vec::new(),
            start: 0,
            hash,
            position: HEADER_BYTES as u64,
            at_once: disk::READ_BUFFER,
        })
    }

    /// Reads about this number of bytes at once, where many parts are open.
    pub(super) fn reading(mut self, bytes: usize) -> Self {
        self.at_once = bytes;
        self
    }

    /// The file offset of the next byte that [`PartReader::take`] returns.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Payload bytes not yet taken.
    pub fn remaining(&self) -> u64 {
        self.left + (self.buffer.len() - self.start) as u64
    }

    /// The next `n` bytes of the payload.
    pub fn take(&mut self, n: usize) -> Result<&[u8]> {
        if self.buffer.len() - self.start < n {
            self.fill(n)?;
        }
        let at = self.start;
        self.start += n;
        self.position += n as u64;
        Ok(&self.buffer[at..at + n])
    }

    /// The next 32-bit number of the payload.
    pub fn take_u32(&mut self) -> Result<u32> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// The next 64-bit number of the payload.
    pub fn take_u64(&mut self) -> Result<u64> {
        Ok(u64_at(self.take(8)?, 0))
    }

    fn fill(&mut self, n: usize) -> Result<()> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let have = self.buffer.len();
        if n as u64 > have as u64 + self.left {
            let what = format!("{n} bytes expected from byte {}", self.position);
            return Err(Error::truncated(self.path(), self.payload_end(), what));
        }
        let want = (n - have).max(self.at_once) as u64;
        let want = want.min(self.left) as usize;
        self.buffer.resize(have + want, 0);
        let read = self.part.file.read_exact(&mut self.buffer[have..]);
        read.map_err(Error::io("read", &self.part.path))?;
        self.hash.update(&self.buffer[have..]);
        self.left -= want as u64;
        Ok(())
    }

    /// An error about the bytes read last.
    pub fn corrupt(&self, what: &str, expected: impl ToString, found: impl ToString) -> Error {
        self.part.corrupt(self.position, what, expected, found)
    }

    /// Reads the rest and checks the whole part against the footer.
    pub fn finish(mut self) -> Result<()> {
        while self.left > 0 {
            self.start = self.buffer.len();
            self.fill(1)?;
        }
        self.hash.update(&footer_front(&self.part.footer));
        check_sum(self.footer.checksum, self.hash.digest(), |stated, found| {
            let at = self.part.payload_end() + 48;
            self.part.corrupt(at, "checksum", stated, found)
        })
    }
}

impl Deref for PartReader {
    type Target = PartFile;

    fn deref(&self) -> &PartFile {
        &self.part
    }
}

fn footer_front(footer: &Footer) -> [u8; 48] {
    let mut out = [0; 48];
    out[..8].copy_from_slice(&footer.records.to_le_bytes());
    out[8..16].copy_from_slice(&footer.payload_bytes.to_le_bytes());
    out[16..24].copy_from_slice(&footer.index_offset.to_le_bytes());
    out[24..32].copy_from_slice(&footer.extra.to_le_bytes());
    out
}

/// Reads a whole part and checks its header, size and checksum.
pub fn verify_part(path: &Path, kind: Kind, info: Option<&PartInfo>) -> Result<Footer> {
    let reader = PartReader::open(path, kind, None, info)?;
    let footer = reader.footer;
    reader.finish()?;
    Ok(footer)
}

/// A part for reading blocks at random. Opening checks only the header and the footer, so the
/// blocks need checksums of their own.
#[derive(Debug)]
pub struct PartFile {
    path: PathBuf,
    file: File,
    /// The header.
    pub header: Header,
    /// The footer.
    pub footer: Footer,
}

impl PartFile {
    /// Opens a part of this kind. With `info`, it must be exactly the part that the manifest names.
    pub fn open(
        path: &Path,
        kind: Kind,
        parameters: Option<u128>,
        info: Option<&PartInfo>,
    ) -> Result<Self> {
        let mut file = disk::open(path)?;
        let header = header_of(&mut file, path)?;
        check(&header, kind, parameters, path)?;
        let footer = footer_of(&mut file, path, info)?;
        Ok(PartFile {
            path: path.to_path_buf(),
            file,
            header,
            footer,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Offset of the first byte after the payload.
    pub fn payload_end(&self) -> u64 {
        HEADER_BYTES as u64 + self.footer.payload_bytes
    }

    /// Fills `out` with the bytes from `offset`.
    pub fn read_at(&self, out: &mut [u8], offset: u64) -> Result<()> {
        if offset.saturating_add(out.len() as u64) > self.payload_end() {
            let what = format!("{} bytes expected at byte {offset}", out.len());
            return Err(Error::truncated(&self.path, self.payload_end(), what));
        }
        self.file
            .read_exact_at(out, offset)
            .map_err(Error::io("read", &self.path))
    }

    /// The `length` bytes from `offset`.
    pub fn read(&self, offset: u64, length: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length as usize];
        self.read_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// The open file, for mapping it into memory.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// An error about the bytes at `offset_bytes`.
    pub fn corrupt(
        &self,
        offset_bytes: u64,
        what: &str,
        expected: impl ToString,
        found: impl ToString,
    ) -> Error {
        Error::corrupt(&self.path, what)
            .at(offset_bytes)
            .expected(expected, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(directory: &Path) -> (PathBuf, PartInfo) {
        let header = Header::new(Kind::Column, 7, 3, 0);
        let mut writer = PartWriter::create(directory, &header).unwrap();
        for n in 0..100u32 {
            writer.put(&n.to_le_bytes()).unwrap();
        }
        let info = writer.finish(100, 0, 0).unwrap();
        (directory.join(&info.name), info)
    }

    #[test]
    fn names_have_their_numbers() {
        for number in [0, 5, 1 << 32, 7 << 32 | 1_234_567, u64::MAX] {
            let name = format!("{}.sorted", part_stem(number));
            assert_eq!(part_number(&name), Some(number), "{name}");
            assert_eq!(u64::from(part_unit(&name)), number >> 32, "{name}");
        }
        for name in [
            "",
            "x",
            "x.run",
            "-1.run",
            "4294967296-000000.run",
            "1-2-3.run",
        ] {
            assert_eq!(part_number(name), None, "{name}");
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let (path, info) = sample(directory.path());
        assert_eq!(info.name, "000003.col");
        let mut reader = PartReader::open(&path, Kind::Column, Some(7), Some(&info)).unwrap();
        for n in 0..100 {
            assert_eq!(reader.take_u32().unwrap(), n);
        }
        assert!(matches!(reader.take(1), Err(Error::Truncated { .. })));
        reader.finish().unwrap();
        let wrong = PartReader::open(&path, Kind::Column, Some(8), None);
        let told = |wrong: Result<PartReader>| wrong.err().unwrap().to_string();
        assert!(told(wrong).contains(" was made with parameters "));
        let wrong = PartReader::open(&path, Kind::Run, None, None);
        assert!(told(wrong).ends_with(" is a column file, expected run"));
    }

    #[test]
    fn every_flip_and_every_cut_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let (path, info) = sample(directory.path());
        let bytes = std::fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 0x41;
            std::fs::write(&path, &bad).unwrap();
            assert!(
                verify_part(&path, Kind::Column, None).is_err(),
                "flip at {at}"
            );
        }
        for length in 0..bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            assert!(
                verify_part(&path, Kind::Column, None).is_err(),
                "cut at {length}"
            );
        }
        let mut long = bytes.clone();
        long.push(0);
        std::fs::write(&path, &long).unwrap();
        assert!(matches!(
            verify_part(&path, Kind::Column, Some(&info)),
            Err(Error::Corrupt { .. })
        ));
        assert!(verify_part(&path, Kind::Column, None).is_err());
    }
}
