//! Columns of one 32-bit number per document: packed in memory, and read in order.

use lookalike_base::{Error, Result};
use lookalike_store::{HEADER_BYTES, Kind, PartInfo, PartReader};
use std::path::Path;

/// Documents in a block.
const BLOCK: usize = 64;
/// Numbers that a reader takes from its file at once.
const PIECE: usize = 16 << 10;
/// By bytes of a number: its bits.
const MASKS: [u32; 5] = [0, 0xff, 0xffff, 0xff_ffff, u32::MAX];

/// A column in memory.
///
/// The numbers of 64 documents are a block, and take as many bytes each as the largest of them.
/// Most numbers are set sizes, so a column of short texts takes a byte or two for each document,
/// and a large document only makes its own block larger.
#[derive(Clone, Debug)]
pub struct Column {
    len: usize,
    /// For each block: where its bytes begin, and in the last three bits the bytes of a number.
    blocks: Vec<u64>,
    /// The numbers, little-endian, and four bytes more, so that four can be read anywhere.
    bytes: Vec<u8>,
}

impl Column {
    /// The most bytes of a column of this number of documents whose numbers add up to `sum`.
    pub fn most_bytes(documents: u64, sum: u64) -> u64 {
        let blocks = documents.div_ceil(BLOCK as u64);
        // A block with numbers of n bytes has one of at least 256^(n - 1).
        let wide = (0..4).map(|n| blocks.min(sum >> (8 * n)));
        blocks * 8 + wide.sum::<u64>() * BLOCK as u64 + 8
    }

    /// Reads a column part.
    pub fn load(path: &Path, parameters: u128, info: &PartInfo) -> Result<Column> {
        let part = PartReader::open(path, Kind::Column, Some(parameters), Some(info))?;
        ColumnReader::of(part, std::iter::empty())?.column()
    }

    /// The number of documents.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn place(&self, document: usize) -> (usize, usize) {
        let block = self.blocks[document / BLOCK];
        let bytes = (block & 7) as usize;
        ((block >> 3) as usize + document % BLOCK * bytes, bytes)
    }

    /// The number of a document below [`Column::len`].
    #[inline]
    pub fn at(&self, document: u32) -> u32 {
        let (at, bytes) = self.place(document as usize);
        let four = &self.bytes[at..at + 4];
        u32::from_le_bytes([four[0], four[1], four[2], four[3]]) & MASKS[bytes]
    }

    /// The number of a document; `None` if there is no such document.
    pub fn get(&self, document: u32) -> Option<u32> {
        ((document as usize) < self.len).then(|| self.at(document))
    }

    /// The sum of the numbers of the documents in `first..last`.
    pub fn sum(&self, first: u32, last: u32) -> u64 {
        let (mut first, last) = (first as usize, last as usize);
        let mut sum = 0;
        while first < last {
            let end = last.min((first / BLOCK + 1) * BLOCK);
            let (at, bytes) = self.place(first);
            let numbers = &self.bytes[at..at + (end - first) * bytes];
            sum += match bytes {
                0 => 0,
                1 => numbers.iter().map(|&n| u64::from(n)).sum(),
                2 => {
                    let numbers = numbers.as_chunks::<2>().0.iter();
                    numbers.map(|&n| u64::from(u16::from_le_bytes(n))).sum()
                }
                _ => (first..end)
                    .map(|n| u64::from(self.at(n as u32)))
                    .sum::<u64>(),
            };
            first = end;
        }
        sum
    }

    /// Changes a number to one of no more bytes than the largest number of its block.
    #[inline]
    pub fn set(&mut self, document: u32, number: u32) {
        let (at, bytes) = self.place(document as usize);
        debug_assert!(number <= MASKS[bytes], "{number} in {bytes} bytes");
        self.bytes[at..at + bytes].copy_from_slice(&number.to_le_bytes()[..bytes]);
    }

    /// The numbers in the order of the documents.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len as u32).map(|document| self.at(document))
    }
}

/// Packs a column.
#[derive(Debug, Default)]
pub struct ColumnBuilder {
    len: usize,
    blocks: Vec<u64>,
    bytes: Vec<u8>,
    block: Vec<u32>,
}

impl ColumnBuilder {
    /// Appends the number of the next document.
    pub fn push(&mut self, number: u32) {
        self.block.push(number);
        if self.block.len() == BLOCK {
            self.close();
        }
    }

    fn close(&mut self) {
        let most = self.block.iter().copied().max().unwrap_or(0);
        let bytes = (u32::BITS - most.leading_zeros()).div_ceil(8) as usize;
        self.blocks
            .push((self.bytes.len() as u64) << 3 | bytes as u64);
        for number in &self.block {
            self.bytes.extend_from_slice(&number.to_le_bytes()[..bytes]);
        }
        self.len += self.block.len();
        self.block.clear();
    }

    /// The column.
    pub fn finish(mut self) -> Column {
        if !self.block.is_empty() {
            self.close();
        }
        self.bytes.extend([0; 4]);
        self.blocks.shrink_to_fit();
        self.bytes.shrink_to_fit();
        Column {
            len: self.len,
            blocks: self.blocks,
            bytes: self.bytes,
        }
    }
}

impl FromIterator<u32> for Column {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Column {
        let mut column = ColumnBuilder::default();
        numbers.into_iter().for_each(|number| column.push(number));
        column.finish()
    }
}

/// Reads a column in order. It may have several parts, one after the other.
pub struct ColumnReader {
    part: PartReader,
    /// The parts after it. Each is opened when the part before it ends.
    rest: Box<dyn Iterator<Item = Result<PartReader>> + Send>,
    left: usize,
    numbers: std::vec::IntoIter<u32>,
}

impl ColumnReader {
    /// A column of these parts.
    pub(super) fn of(
        part: PartReader,
        rest: impl Iterator<Item = Result<PartReader>> + Send + 'static,
    ) -> Result<ColumnReader> {
        let mut column = ColumnReader {
            part,
            rest: Box::new(rest),
            left: 0,
            numbers: Vec::new().into_iter(),
        };
        column.begin()?;
        Ok(column)
    }

    /// Checks the size of the part that was opened.
    fn begin(&mut self) -> Result<()> {
        let n = self.part.footer.records;
        if n.checked_mul(4) != Some(self.part.footer.payload_bytes) {
            let (expected, found) = (
                format!("{n} numbers of 4 bytes"),
                self.part.footer.payload_bytes,
            );
            return Err(self.part.corrupt("size of a column", expected, found));
        }
        self.left = n as usize;
        Ok(())
    }

    /// The next number; `None` at the end.
    pub fn next(&mut self) -> Result<Option<u32>> {
        if let Some(number) = self.numbers.next() {
            return Ok(Some(number));
        }
        while self.left == 0 {
            let Some(next) = self.rest.next() else {
                return Ok(None);
            };
            std::mem::replace(&mut self.part, next?).finish()?;
            self.begin()?;
        }
        let piece = self.left.min(PIECE);
        self.left -= piece;
        let bytes = self.part.take(piece * 4)?.chunks_exact(4);
        let numbers = bytes.map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        self.numbers = numbers.collect::<Vec<_>>().into_iter();
        Ok(self.numbers.next())
    }

    /// Calls `each` with every document and its number, and checks the whole part.
    pub fn each(mut self, mut each: impl FnMut(u32, u32) -> Result<()>) -> Result<()> {
        let mut document = 0;
        while let Some(number) = self.next()? {
            each(document, number)?;
            document += 1;
        }
        self.finish()
    }

    /// Loads the whole column.
    pub(super) fn column(self) -> Result<Column> {
        let mut column = ColumnBuilder::default();
        self.each(|_, number| {
            column.push(number);
            Ok(())
        })?;
        Ok(column.finish())
    }

    /// Reports the number that was read last as corrupt.
    pub(super) fn corrupt(&self, what: String, expected: &str, found: u32) -> Error {
        let after = (self.left + self.numbers.len() + 1) as u64 * 4;
        let end = HEADER_BYTES as u64 + self.part.footer.payload_bytes;
        Error::corrupt(self.part.path(), what)
            .at(end - after)
            .expected(expected, found)
    }

    /// Checks the last part, once every number is read.
    pub fn finish(self) -> Result<()> {
        self.part.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_those_put_in(
            numbers in prop::collection::vec((0u32..=u32::MAX, 0u32..=34), 0..400),
        ) {
            let cut = |(number, bits): (u32, u32)| number.checked_shr(bits).unwrap_or(0);
            let numbers: Vec<u32> = numbers.into_iter().map(cut).collect();
            let column: Column = numbers.iter().copied().collect();
            prop_assert_eq!(column.iter().collect::<Vec<_>>(), numbers.clone());
            prop_assert_eq!(column.get(numbers.len() as u32), None);
            let taken = column.bytes.len() + column.blocks.len() * 8;
            let sum = numbers.iter().map(|&n| u64::from(n)).sum();
            prop_assert!(taken as u64 <= Column::most_bytes(numbers.len() as u64, sum));
            for (first, last) in [(0, numbers.len()), (numbers.len() / 3, numbers.len() / 2)] {
                let sum: u64 = numbers[first..last].iter().map(|&n| u64::from(n)).sum();
                prop_assert_eq!(column.sum(first as u32, last as u32), sum);
            }
            let mut halves = column.clone();
            for (document, &number) in (0..).zip(&numbers) {
                halves.set(document, number / 2);
            }
            prop_assert!(halves.iter().eq(numbers.iter().map(|n| n / 2)));
        }
    }
}
