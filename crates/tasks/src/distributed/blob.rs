//! Records packed into blobs.
//!
//! A blob begins with a byte that names its kind. Rows of numbers are in ascending order of their
//! first column, in blocks: number of rows, bytes of the block, then each column packed
//! ([`lookalike_store::pack_u64`]), the first one as differences.

use std::path::Path;

use lookalike_base::{Error, Result};
use lookalike_store::{pack_u64, unpack_u64};

use super::bad;

/// The kinds of blobs.
pub(super) const DOCUMENTS: u8 = 1;
pub(super) const KEYS: u8 = 2;
pub(super) const CLASSES: u8 = 3;
pub(super) const POSTINGS: u8 = 4;
pub(super) const BLOCKS: u8 = 5;
pub(super) const PAIRS: u8 = 6;
pub(super) const TEXTS: u8 = 7;
pub(super) const RESULTS: u8 = 8;

/// Rows in a block.
const BLOCK: usize = 2048;
/// The level of zstd for texts and classes.
const LEVEL: i32 = 1;

pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        out.push(value as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends bytes, compressed.
pub(super) fn compress(bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let packed =
        zstd::bulk::compress(bytes, LEVEL).map_err(Error::io("compress", Path::new("(a blob)")))?;
    put(out, bytes.len() as u64);
    put_bytes(out, &packed);
    Ok(())
}

/// Reads a blob from its beginning.
pub(super) struct Reader<'a> {
    stage: &'static str,
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(stage: &'static str, bytes: &'a [u8]) -> Self {
        Reader { stage, bytes }
    }

    /// A blob after its kind.
    pub fn of(stage: &'static str, kind: u8, blob: &'a [u8]) -> Result<Self> {
        match blob.split_first() {
            Some((&found, bytes)) if found == kind => Ok(Reader { stage, bytes }),
            found => Err(unexpected(stage, found.map(|(&kind, _)| kind))),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn left(&self) -> usize {
        self.bytes.len()
    }

    fn short(&self) -> Error {
        bad(self.stage, "a whole blob", "one that is cut off")
    }

    pub fn take(&mut self, length: u64) -> Result<&'a [u8]> {
        let length = usize::try_from(length).map_err(|_| self.short())?;
        let (taken, rest) = self
            .bytes
            .split_at_checked(length)
            .ok_or_else(|| self.short())?;
        self.bytes = rest;
        Ok(taken)
    }

    pub fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    pub fn number(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(self.short())
    }

    /// The number of rows up to the end, as their blocks tell it.
    fn rows(&mut self) -> Result<u64> {
        let mut rows = 0u64;
        while !self.is_empty() {
            rows = rows.saturating_add(self.number()?);
            self.bytes()?;
        }
        Ok(rows)
    }

    pub(crate) fn number_u32(&mut self) -> Result<u32> {
        u32::try_from(self.number()?).map_err(|_| self.short())
    }

    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.number()?;
        self.take(length)
    }

    /// Bytes that [`compress`] wrote.
    pub fn compressed(&mut self) -> Result<Vec<u8>> {
        let length = self.number()?;
        let packed = self.bytes()?;
        // zstd makes at most 128 KiB of three bytes.
        let most = (packed.len() as u64 + 1) << 17;
        let length = usize::try_from(length).ok().filter(|&n| n as u64 <= most);
        let length = length.ok_or_else(|| self.short())?;
        let bytes = zstd::bulk::decompress(packed, length).ok();
        let bytes = bytes.filter(|bytes| bytes.len() == length);
        bytes.ok_or_else(|| bad(self.stage, "a compressed blob", "one that is damaged"))
    }
}

/// The memory of a row, computed from the counts in its head.
#[derive(Default)]
pub struct Weight {
    /// Its documents.
    pub documents: u64,
    /// Bytes that stay, beside those for documents.
    pub kept: u64,
    /// Bytes while it is taken.
    pub once: u64,
}

impl Weight {
    pub fn of(blob: &[u8]) -> Result<Weight> {
        const STAGE: &str = "tasks";
        let (&kind, bytes) = blob.split_first().ok_or_else(|| unexpected(STAGE, None))?;
        let mut reader = Reader::new(STAGE, bytes);
        let mut weight = Weight::default();
        match kind {
            DOCUMENTS => {
                weight.documents = reader.number()?;
                reader.take(weight.documents.saturating_mul(16))?;
                weight.once = reader.number()?;
            }
            KEYS | POSTINGS => {
                let (numbers, columns) = if kind == KEYS { (3, 2) } else { (1, 5) };
                (0..numbers).try_for_each(|_| reader.number().map(drop))?;
                // A merge has a block of each row.
                let first = if reader.is_empty() {
                    0
                } else {
                    reader.number()?
                };
                weight.kept = first.min(BLOCK as u64) * columns * 8;
            }
            CLASSES => {
                reader.number()?;
                reader.number()?;
                weight.kept = reader.number()?;
            }
            BLOCKS => {
                let mut small = Reader::new(STAGE, reader.bytes()?);
                let documents = small.rows()?.saturating_add(reader.rows()?);
                weight.once = documents.saturating_mul(32);
            }
            // Half as much again while the list of pairs grows.
            PAIRS => weight.kept = reader.rows()?.saturating_mul(24 + 12),
            TEXTS => weight.once = reader.number()?,
            // A pair of eight bytes becomes four names and three numbers.
            RESULTS => weight.once = blob.len() as u64 * 20,
            kind => return Err(unexpected(STAGE, Some(kind))),
        }
        Ok(weight)
    }
}

pub(super) fn unexpected(stage: &'static str, kind: Option<u8>) -> Error {
    let found = kind.map_or("an empty one".into(), |kind| format!("the kind {kind}"));
    bad(stage, "a blob of its input", found)
}

/// Appends rows, which are sorted by the first column.
pub(super) fn put_rows<const N: usize>(out: &mut Vec<u8>, rows: &[[u64; N]]) {
    let mut before = 0;
    let mut column = Vec::with_capacity(BLOCK);
    let mut packed = Vec::new();
    for block in rows.chunks(BLOCK) {
        packed.clear();
        for n in 0..N {
            column.clear();
            column.extend(block.iter().map(|row| row[n]));
            if n == 0 {
                for key in &mut column {
                    let difference = *key - before;
                    before = *key;
                    *key = difference;
                }
            }
            pack_u64(&column, &mut packed);
        }
        put(out, block.len() as u64);
        put_bytes(out, &packed);
    }
}

/// Reads the rows of a block. `before` is the first column of the row before it.
pub(super) fn rows_of_block<const N: usize>(
    stage: &'static str,
    count: usize,
    mut packed: &[u8],
    before: &mut u64,
    rows: &mut Vec<[u64; N]>,
) -> Result<()> {
    let damaged = || bad(stage, "a packed block", "one that is damaged");
    rows.clear();
    if count == 0 || count > BLOCK {
        return Err(damaged());
    }
    rows.resize(count, [0; N]);
    let mut column = Vec::with_capacity(count);
    for n in 0..N {
        column.clear();
        packed = unpack_u64(packed, count, &mut column).ok_or_else(damaged)?;
        for (row, &value) in rows.iter_mut().zip(&column) {
            row[n] = if n == 0 {
                *before = before.checked_add(value).ok_or_else(damaged)?;
                *before
            } else {
                value
            };
        }
    }
    Ok(())
}

/// All rows up to the end of a blob.
pub(super) fn all_rows<const N: usize>(
    stage: &'static str,
    reader: &mut Reader<'_>,
) -> Result<Vec<[u64; N]>> {
    let (mut all, mut rows, mut before) = (Vec::new(), Vec::new(), 0);
    while !reader.is_empty() {
        let count = reader.number()? as usize;
        rows_of_block(stage, count, reader.bytes()?, &mut before, &mut rows)?;
        all.extend_from_slice(&rows);
    }
    Ok(all)
}
