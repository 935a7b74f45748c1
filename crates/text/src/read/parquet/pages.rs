//! The pages of a column chunk, within bounds of memory.
//!
//! The reader of pages in the `parquet` crate trusts the sizes in page headers, and its decoders
//! of gzip, brotli and LZ4 frames write whatever comes out of a stream. This one checks each
//! header before it allocates, and no codec writes more than the header states.
//!
//! # Source
//! `parquet.thrift` and `Encodings.md` of the Parquet format, Thrift's compact protocol.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::schema::types::ColumnDescPtr;

use super::thrift::Fields;
use crate::read::ground::config::DEFAULT_MAX_RATIO;
use lookalike_source::{ReadAt, read_all_at};

/// Bytes that are read to look for a page header. Few headers are larger; they hold statistics.
const HEAD: usize = 8 << 10;

/// Largest page header that is read.
const LARGEST_HEAD: usize = 1 << 20;

/// A page may always have this many bytes. DuckDB closes a page after 100,000,000 bytes, so a
/// lower limit would reject files that it wrote.
const LARGE_PAGE: usize = 128 << 20;

/// The bytes that a page may have beyond the largest document, which one page can contain.
const BESIDE_DOCUMENT: usize = 8 << 20;

/// Largest page of a column that is copied. It may have large values that no document has, such as
/// images.
const LARGEST_COPIED: usize = 512 << 20;

/// Largest number of values in the pages of one row of a list. A value takes up to 36 bytes.
const VALUES_IN_ROW: u64 = 4 << 20;

/// Largest number of values in a page whose decoder stores the length of each.
const VALUES_WITH_LENGTH: u64 = 16 << 20;

/// Why a column cannot be read on. It passes through the `parquet` crate as an external error.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The disk or the machine failed, not the file.
    #[error("{0}")]
    Io(#[source] io::Error),
    /// The file needs more memory than it may have.
    #[error("{0}")]
    TooLarge(String),
    /// The file expands by more than `--max-ratio`.
    #[error("{0}")]
    Bomb(String),
}

impl From<Trouble> for ParquetError {
    fn from(trouble: Trouble) -> Self {
        ParquetError::External(Box::new(trouble))
    }
}

fn damaged<T>(what: impl Into<String>) -> Result<T> {
    Err(ParquetError::General(what.into()))
}

fn too_large<T>(what: String) -> Result<T> {
    Err(Trouble::TooLarge(what).into())
}

/// Reads exactly `length` bytes at `offset`, and allocates no more than the file has.
pub fn exactly(file: &dyn ReadAt, offset: u64, length: usize) -> Result<Vec<u8>> {
    let have = file.length().map_err(Trouble::Io)?;
    if have.saturating_sub(offset) < length as u64 {
        return damaged(format!(
            "{length} bytes expected at byte {offset}, the file has {have} bytes"
        ));
    }
    let mut bytes = vec![0; length];
    read_all_at(file, &mut bytes, offset).map_err(Trouble::Io)?;
    match offset + bytes.len() as u64 {
        end if bytes.len() < length => damaged(format!("the file ends at byte {end}")),
        _ => Ok(bytes),
    }
}

/// The limits for the pages of one column.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a page, before and after decompression.
    page: usize,
    /// Decompressed bytes for each compressed one, after [`lookalike_source::RATIO_FREE_BYTES`].
    max_ratio: u64,
    /// Values in the pages of one row of a list.
    row_values: u64,
}

impl Limits {
    /// Limits for documents of up to `max_document` bytes.
    pub fn new(max_document: u64, max_ratio: u64) -> Limits {
        let document = usize::try_from(max_document).unwrap_or(usize::MAX);
        Limits {
            page: LARGE_PAGE.max(document.saturating_add(BESIDE_DOCUMENT)),
            max_ratio,
            row_values: VALUES_IN_ROW,
        }
    }

    /// Limits for columns that are copied, whatever is in them.
    pub fn of_copy() -> Limits {
        Limits {
            page: LARGEST_COPIED,
            max_ratio: DEFAULT_MAX_RATIO,
            row_values: VALUES_WITH_LENGTH,
        }
    }
}

/// The fields of a page header.
#[derive(Clone, Debug, Default)]
struct Header {
    kind: i32,
    uncompressed: usize,
    compressed: usize,
    /// The CRC-32 of the stored page, if the writer stated it.
    crc: Option<u32>,
    values: u64,
    encoding: i32,
    def_encoding: i32,
    rep_encoding: i32,
    nulls: u64,
    rows: u64,
    def_bytes: usize,
    rep_bytes: usize,
    is_compressed: bool,
    sorted: bool,
}

/// `PageType` in parquet.thrift.
const DATA: i32 = 0;
const DICTIONARY: i32 = 2;
const DATA_V2: i32 = 3;

impl Header {
    /// Parses a header; `None` if the bytes end before it does. Also returns its length.
    fn parse(bytes: &[u8]) -> Result<Option<(Header, usize)>> {
        let mut header = Header {
            kind: -1,
            is_compressed: true,
            ..Header::default()
        };
        let mut fields = Fields::new(bytes);
        let mut valid = true;
        let whole = fields.each(|field, value, within| {
            let number = value.unwrap_or_default();
            let mut length = |to: &mut usize| match usize::try_from(number) {
                Ok(n) => *to = n,
                Err(_) => valid = false,
            };
            match (within, field) {
                (None, 1) => header.kind = i32::try_from(number).unwrap_or(-1),
                (None, 2) => length(&mut header.uncompressed),
                (None, 3) => length(&mut header.compressed),
                // A signed number of 32 bits.
                (None, 4) => header.crc = value.map(|crc| crc as u32),
                // DataPageHeader, DictionaryPageHeader, DataPageHeaderV2.
                (Some(5 | 7 | 8), 1) => match u64::try_from(number) {
                    Ok(n) => header.values = n,
                    Err(_) => valid = false,
                },
                (Some(5 | 7), 2) | (Some(8), 4) => {
                    header.encoding = i32::try_from(number).unwrap_or(-1);
                }
                (Some(5), 3) => header.def_encoding = i32::try_from(number).unwrap_or(-1),
                (Some(5), 4) => header.rep_encoding = i32::try_from(number).unwrap_or(-1),
                (Some(7), 3) => header.sorted = number != 0,
                (Some(8), 2) => header.nulls = u64::try_from(number).unwrap_or(0),
                (Some(8), 3) => header.rows = u64::try_from(number).unwrap_or(0),
                (Some(8), 5) => length(&mut header.def_bytes),
                (Some(8), 6) => length(&mut header.rep_bytes),
                (Some(8), 7) => header.is_compressed = number != 0,
                _ => {}
            }
        });
        match whole {
            Ok(Some(length)) if valid => Ok(Some((header, length))),
            Ok(Some(_)) => damaged("a page header with a negative size"),
            Ok(None) => Ok(None),
            Err(what) => damaged(format!("page header: {what}")),
        }
    }
}

fn encoding(number: i32) -> Result<Encoding> {
    #[expect(deprecated, reason = "old files have levels in this encoding")]
    let bit_packed = Encoding::BIT_PACKED;
    Ok(match number {
        0 => Encoding::PLAIN,
        2 => Encoding::PLAIN_DICTIONARY,
        3 => Encoding::RLE,
        4 => bit_packed,
        5 => Encoding::DELTA_BINARY_PACKED,
        6 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
        7 => Encoding::DELTA_BYTE_ARRAY,
        8 => Encoding::RLE_DICTIONARY,
        9 => Encoding::BYTE_STREAM_SPLIT,
        other => return damaged(format!("encoding {other}")),
    })
}

/// The pages of one column chunk.
pub struct Pages {
    file: Arc<dyn ReadAt>,
    /// The next page header, or the page if its header was read.
    at: u64,
    end: u64,
    next: Option<Header>,
    codec: Compression,
    column: ColumnDescPtr,
    limits: Limits,
    /// Bytes of the pages so far, before and after decompression.
    compressed: u64,
    uncompressed: u64,
    /// Values in the pages since the last row began, see [`VALUES_IN_ROW`].
    in_row: Arc<std::sync::atomic::AtomicU64>,
}

impl Pages {
    /// The pages of a chunk. The caller sets `in_row` to 0 before each row of a list.
    pub fn new(
        file: Arc<dyn ReadAt>,
        chunk: &ColumnChunkMetaData,
        limits: Limits,
        in_row: Arc<std::sync::atomic::AtomicU64>,
    ) -> Result<Pages> {
        if chunk.file_path().is_some() {
            return damaged("the column is in another file");
        }
        let data = chunk.data_page_offset();
        // Some writers state 0 for a dictionary that they did not write.
        let dictionary = chunk.dictionary_page_offset().filter(|&at| at > 0);
        let start = dictionary.map_or(data, |at| at.min(data));
        let (Ok(at), Ok(length)) = (u64::try_from(start), u64::try_from(chunk.compressed_size()))
        else {
            return damaged("a column chunk with a negative offset or size");
        };
        let have = file.length().map_err(Trouble::Io)?;
        let Some(end) = at.checked_add(length).filter(|&end| end <= have) else {
            return damaged(format!(
                "{length} bytes expected at byte {at}, the file has {have} bytes"
            ));
        };
        Ok(Pages {
            file,
            at,
            end,
            next: None,
            codec: chunk.compression(),
            column: chunk.column_descr_ptr(),
            limits,
            compressed: 0,
            uncompressed: 0,
            in_row,
        })
    }

    /// Reads the next header, if that has not been done.
    fn header(&mut self) -> Result<Option<&Header>> {
        let mut head = HEAD;
        while self.next.is_none() && self.at < self.end {
            let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
            let bytes = exactly(&*self.file, self.at, head.min(left))?;
            match Header::parse(&bytes)? {
                Some((header, length)) => {
                    self.at += length as u64;
                    if header.compressed as u64 > self.end - self.at {
                        return damaged(format!(
                            "a page of {} bytes at byte {}, the column has {} left",
                            header.compressed,
                            self.at,
                            self.end - self.at
                        ));
                    }
                    if matches!(header.kind, DATA | DICTIONARY | DATA_V2) {
                        self.next = Some(header);
                    } else {
                        // Readers skip pages of other types.
                        self.at += header.compressed as u64;
                        head = HEAD;
                    }
                }
                None if head >= left => return damaged("a page header is cut off"),
                None if head >= LARGEST_HEAD => {
                    return too_large(format!("a page header of more than {LARGEST_HEAD} bytes"));
                }
                None => head *= 2,
            }
        }
        Ok(self.next.as_ref())
    }

    /// Checks what a header says before anything is allocated for its page.
    fn check(&mut self, header: &Header) -> Result<()> {
        let large = header.uncompressed.max(header.compressed);
        if large > self.limits.page {
            return too_large(format!(
                "a page of {large} bytes, at most {} are read (a larger --max-document allows more)",
                self.limits.page
            ));
        }
        self.compressed += header.compressed as u64;
        self.uncompressed += header.uncompressed as u64;
        let free = self.uncompressed <= lookalike_source::RATIO_FREE_BYTES;
        let most = self.compressed.saturating_mul(self.limits.max_ratio);
        if !free && self.uncompressed > most {
            return Err(Trouble::Bomb(format!(
                "{} bytes out of {}, at most {} for one; the rest is left out",
                self.uncompressed, self.compressed, self.limits.max_ratio
            ))
            .into());
        }
        if header.kind != DICTIONARY && self.column.max_rep_level() > 0 {
            let before = self
                .in_row
                .fetch_add(header.values, std::sync::atomic::Ordering::Relaxed);
            if before.saturating_add(header.values) > self.limits.row_values {
                return too_large(format!(
                    "a row of a list in pages of {} values, at most {} are read",
                    before + header.values,
                    self.limits.row_values
                ));
            }
        }
        Ok(())
    }

    /// The content of a page. The levels of version 2 come first and are never compressed.
    fn content(&self, header: &Header, bytes: Vec<u8>) -> Result<Bytes> {
        let levels = match header.kind {
            DATA_V2 => header.def_bytes.saturating_add(header.rep_bytes),
            _ => 0,
        };
        if levels > header.uncompressed || levels > bytes.len() {
            return damaged(format!(
                "{levels} bytes of levels in a page of {} bytes",
                bytes.len()
            ));
        }
        if self.codec == Compression::UNCOMPRESSED
            || header.kind == DATA_V2 && !header.is_compressed
        {
            return Ok(bytes.into());
        }
        let mut out = Vec::with_capacity(header.uncompressed);
        out.extend_from_slice(&bytes[..levels]);
        let most = header.uncompressed - levels;
        if most > 0 {
            decompress(self.codec, &bytes[levels..], &mut out, most)?;
        }
        if out.len() != header.uncompressed {
            return damaged(format!(
                "a page of {} bytes after decompression, expected {}",
                out.len(),
                header.uncompressed
            ));
        }
        Ok(out.into())
    }

    /// Checks the numbers inside of a page by which decoders allocate.
    fn check_content(&self, header: &Header, content: &Bytes) -> Result<()> {
        let values = header.values;
        if header.kind == DICTIONARY {
            let width = match self.column.physical_type() {
                Type::BOOLEAN => return damaged("a dictionary of booleans"),
                Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
                Type::INT64 | Type::DOUBLE => 8,
                Type::INT96 => 12,
                Type::FIXED_LEN_BYTE_ARRAY => u64::try_from(self.column.type_length()).unwrap_or(0),
            };
            if values.saturating_mul(width.max(1)) > content.len() as u64 {
                return damaged(format!(
                    "a dictionary of {values} values in {} bytes",
                    content.len()
                ));
            }
            if values > self.limits.row_values {
                return too_large(format!(
                    "a dictionary of {values} values, at most {} are read",
                    self.limits.row_values
                ));
            }
            return Ok(());
        }
        if !matches!(header.encoding, 5..=7) {
            return Ok(());
        }
        let levels = match self.levels_length(header, content) {
            Some(length) if length <= content.len() => length,
            _ => return damaged("levels that are longer than their page"),
        };
        let mut rest = &content[levels..];
        // The lengths of prefixes, and behind them the lengths of suffixes.
        for _ in 0..if header.encoding == 7 { 2 } else { 1 } {
            let Some((count, length)) = delta_packed(rest) else {
                return damaged("delta-encoded numbers are cut off");
            };
            if count > values {
                return damaged(format!(
                    "{count} delta-encoded numbers in a page of {values} values"
                ));
            }
            if count > VALUES_WITH_LENGTH {
                return too_large(format!(
                    "a page of {count} values, at most {VALUES_WITH_LENGTH} are read"
                ));
            }
            rest = &rest[length..];
        }
        Ok(())
    }

    /// Bytes of levels before the values of a data page.
    fn levels_length(&self, header: &Header, content: &[u8]) -> Option<usize> {
        if header.kind == DATA_V2 {
            return header.def_bytes.checked_add(header.rep_bytes);
        }
        let mut length: usize = 0;
        let levels = [
            (self.column.max_rep_level(), header.rep_encoding),
            (self.column.max_def_level(), header.def_encoding),
        ];
        for (most, encoding) in levels {
            if most == 0 {
                continue;
            }
            let bytes = if encoding == 4 {
                let bits = u64::from(i16::BITS - most.leading_zeros());
                usize::try_from(header.values.checked_mul(bits)?.div_ceil(8)).ok()?
            } else {
                let stated = content.get(length..)?.first_chunk::<4>()?;
                (u32::from_le_bytes(*stated) as usize).checked_add(4)?
            };
            length = length.checked_add(bytes)?;
        }
        Some(length)
    }

    fn page(&self, header: Header, buf: Bytes) -> Result<Page> {
        let number = |n: u64| {
            let number = u32::try_from(n).ok();
            number.ok_or_else(|| ParquetError::General(format!("a page of {n} values")))
        };
        let encoded = encoding(header.encoding)?;
        Ok(match header.kind {
            DICTIONARY => Page::DictionaryPage {
                buf,
                num_values: number(header.values)?,
                encoding: encoded,
                is_sorted: header.sorted,
            },
            DATA_V2 => Page::DataPageV2 {
                buf,
                num_values: number(header.values)?,
                encoding: encoded,
                num_nulls: number(header.nulls)?,
                num_rows: number(header.rows)?,
                def_levels_byte_len: u32::try_from(header.def_bytes)?,
                rep_levels_byte_len: u32::try_from(header.rep_bytes)?,
                is_compressed: header.is_compressed,
                statistics: None,
            },
            _ => Page::DataPage {
                buf,
                num_values: number(header.values)?,
                encoding: encoded,
                def_level_encoding: encoding(header.def_encoding)?,
                rep_level_encoding: encoding(header.rep_encoding)?,
                statistics: None,
            },
        })
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.header()?;
        let Some(header) = self.next.take() else {
            return Ok(None);
        };
        let at = self.at;
        self.at += header.compressed as u64;
        self.check(&header)?;
        let bytes = exactly(&*self.file, at, header.compressed)?;
        if let Some(expected) = header.crc {
            let mut crc = flate2::Crc::new();
            crc.update(&bytes);
            if crc.sum() != expected {
                return damaged(format!(
                    "a page of {} bytes has checksum {:08x}, expected {expected:08x}",
                    bytes.len(),
                    crc.sum()
                ));
            }
        }
        let content = self.content(&header, bytes)?;
        self.check_content(&header, &content)?;
        Ok(Some(self.page(header, content)?))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        let Some(header) = self.header()? else {
            return Ok(None);
        };
        let data = header.kind != DICTIONARY;
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        Ok(Some(PageMetadata {
            num_rows: (header.kind == DATA_V2).then(|| size(header.rows)),
            num_levels: data.then(|| size(header.values)),
            is_dict: !data,
        }))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.header()?;
        if let Some(header) = self.next.take() {
            self.at += header.compressed as u64;
        }
        Ok(())
    }
}

/// Appends the decompressed bytes to `out`, at most `most` of them.
fn decompress(codec: Compression, bytes: &[u8], out: &mut Vec<u8>, most: usize) -> Result<()> {
    fn failed(error: impl std::fmt::Display) -> String {
        error.to_string()
    }
    let start = out.len();
    out.resize(start + most, 0);
    let room = &mut out[start..];
    // A whole page, or else a stream.
    let block = match codec {
        Compression::SNAPPY => snap::raw::Decoder::new()
            .decompress(bytes, room)
            .map_err(failed),
        Compression::ZSTD(_) => zstd::bulk::decompress_to_buffer(bytes, room).map_err(failed),
        Compression::LZ4_RAW => lz4_flex::block::decompress_into(bytes, room).map_err(failed),
        // Three framings have this name: Hadoop's, none, and LZ4's own.
        Compression::LZ4 => hadoop_lz4(bytes, room)
            .or_else(|| lz4_flex::block::decompress_into(bytes, room).ok())
            .ok_or_else(String::new),
        _ => Err(String::new()),
    };
    out.truncate(start + *block.as_ref().unwrap_or(&0));
    let stream: Box<dyn Read + '_> = match (codec, block) {
        (_, Ok(_)) => return Ok(()),
        (Compression::GZIP(_), _) => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
        (Compression::BROTLI(_), _) => Box::new(brotli::Decompressor::new(bytes, 64 << 10)),
        (Compression::LZ4, _) => Box::new(lz4_flex::frame::FrameDecoder::new(bytes)),
        (Compression::LZO, _) => return damaged("LZO, which is not supported"),
        (_, Err(error)) => return damaged(format!("{codec}: {error}")),
    };
    // One byte more shows a stream that is too long.
    let read = stream.take(most as u64 + 1).read_to_end(out);
    read.map_err(|error| ParquetError::General(format!("{codec}: {error}")))?;
    Ok(())
}

/// Texts, each after its length, in one or several blocks of LZ4, each after its own. The lengths
/// are big-endian numbers (Hadoop's `BlockCompressorStream`).
fn hadoop_lz4(mut bytes: &[u8], out: &mut [u8]) -> Option<usize> {
    let number = |bytes: &mut &[u8]| {
        let (number, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(u32::from_be_bytes(*number) as usize)
    };
    let mut done: usize = 0;
    while !bytes.is_empty() {
        let end = done.checked_add(number(&mut bytes)?)?;
        loop {
            let packed = number(&mut bytes)?;
            let (block, rest) = bytes.split_at_checked(packed)?;
            bytes = rest;
            let length = lz4_flex::block::decompress_into(block, out.get_mut(done..end)?).ok()?;
            done += length;
            if done == end {
                break;
            }
            if length == 0 {
                return None;
            }
        }
    }
    Some(done)
}

/// How many numbers a DELTA_BINARY_PACKED sequence has, and how many bytes.
fn delta_packed(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut fields = Fields::new(bytes);
    let block = fields.varint().ok()?;
    let parts = fields.varint().ok()?;
    let count = fields.varint().ok()?;
    fields.varint().ok()?;
    if parts == 0 || block == 0 || block > 1 << 20 || block % parts != 0 || block / parts % 8 != 0 {
        return None;
    }
    let part_values = block / parts;
    let mut left = count.saturating_sub(1);
    while left > 0 {
        fields.varint().ok()?;
        let at = fields.at;
        fields.skip(parts).ok()?;
        for &width in &bytes[at..fields.at] {
            // The last block has no parts beyond the last value.
            if left == 0 {
                break;
            }
            fields.skip(part_values * u64::from(width) / 8).ok()?;
            left = left.saturating_sub(part_values);
        }
    }
    Some((count, fields.at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_hadoop_have_several_blocks() {
        let number = |number: usize| (number as u32).to_be_bytes().to_vec();
        let block = |text: &[u8]| {
            let packed = lz4_flex::block::compress(text);
            [number(packed.len()), packed].concat()
        };
        let text = |blocks: &[&[u8]]| {
            let length = blocks.iter().map(|block| block.len()).sum();
            let blocks = blocks.iter().flat_map(|text| block(text));
            number(length).into_iter().chain(blocks).collect::<Vec<_>>()
        };
        let (one, two) = (&b"words and more words"[..], &b"and others"[..]);
        let both = text(&[one, two]);
        let unpacked = |bytes: &[u8]| {
            let mut out = [0; 64];
            hadoop_lz4(bytes, &mut out).map(|n| out[..n].to_vec())
        };
        let all = [one, two].concat();
        assert_eq!(unpacked(&both), Some(all.clone()));
        assert_eq!(unpacked(&[text(&[one]), text(&[two])].concat()), Some(all));
        assert_eq!(unpacked(&both[..both.len() - 1]), None);
        assert_eq!(unpacked(&text(&[one, b""])[..4]), None);
        // A block without a text, and a text that is longer than its page.
        assert_eq!(
            unpacked(&[number(1), block(b""), block(b"")].concat()),
            None
        );
        assert_eq!(unpacked(&text(&[&[b'x'; 65]])), None);
    }
}
