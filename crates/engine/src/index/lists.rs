//! The lists of a range on disk.
//!
//! A bucket is one block or more, each at most [`BLOCK_LISTS`] lists. A block names the block of
//! its bucket before it; the table at the end of the part has the last block of each bucket.

use std::path::Path;

use super::{Layout, Level, SHORT};
use crate::sort::Record;
use lookalike_base::Result;
use lookalike_store::{Header, Kind, PartInfo, PartWriter, checksum, pack_u32, pack_u64};

/// Bytes before a block's body: its checksum, the place of the block before it, the number of its
/// bytes and of its lists.
pub(super) const BLOCK_HEAD: usize = 24;
/// The most lists of a block.
pub(super) const BLOCK_LISTS: usize = 4096;
/// Bytes before the documents of a chunk of a long list: its checksum, and the number of its bytes
/// and of its documents.
pub(super) const CHUNK_HEAD: usize = 16;
/// The most documents of a chunk.
pub(super) const CHUNK: usize = 4096;

/// The checksum of bytes at a place that `number` identifies, so that it also detects the right
/// bytes at a wrong place.
pub(super) fn sum(number: u64, bytes: &[u8]) -> u64 {
    checksum(bytes) ^ number
}

/// Writes the lists of a range.
pub(super) struct ListsWriter {
    part: PartWriter,
    layout: Layout,
    /// The open bucket, the least key after it, and the last bucket of the range.
    bucket: u64,
    end: u64,
    last: u64,
    /// The last block of each bucket before the open one, and of the open one.
    table: Vec<u64>,
    before: u64,
    /// The key of the open list, its documents that are not written, and how many are.
    key: Option<u64>,
    documents: Vec<u32>,
    written: u64,
    /// Where the first chunk of the open list is.
    place: u64,
    lists: u64,
    entries: u64,
    block: Block,
    bytes: Vec<u8>,
    packed: Vec<u32>,
}

/// The lists of a block.
#[derive(Default)]
struct Block {
    keys: Vec<u64>,
    lengths: Vec<u32>,
    firsts: Vec<u32>,
    gaps: Vec<u32>,
    long: Vec<(u64, u64)>,
}

impl ListsWriter {
    /// Begins a range of a level whose sets have keys of this number of bytes.
    pub(super) fn create(
        directory: &Path,
        (parameters, key_bytes): (u128, usize),
        level: &Level,
        range: u32,
    ) -> Result<ListsWriter> {
        let layout = level.layout;
        let number = level.part(range.into());
        let header = Header::new(Kind::Index, parameters, number, key_bytes);
        let bucket = u64::from(range) * u64::from(layout.buckets);
        Ok(ListsWriter {
            part: PartWriter::create(directory, &header)?,
            layout,
            bucket,
            end: layout.least(bucket + 1),
            last: bucket + u64::from(layout.buckets) - 1,
            table: Vec::new(),
            before: 0,
            key: None,
            documents: Vec::new(),
            written: 0,
            place: 0,
            lists: 0,
            entries: 0,
            block: Block::default(),
            bytes: Vec::new(),
            packed: Vec::new(),
        })
    }

    /// Appends documents to the lists of their keys. Records rise.
    pub(super) fn extend(&mut self, records: &[Record<u64>]) -> Result<()> {
        for list in records.chunk_by(|a, b| a.key == b.key) {
            let Some(&Record { key, .. }) = list.first() else {
                continue;
            };
            if self.key != Some(key) {
                self.close_list()?;
                // Before any chunk of the new list, because the chunks of a list lie one after the
                // other.
                while key >= self.end {
                    self.close_bucket()?;
                }
                self.key = Some(key);
            }
            for &Record { value, .. } in list {
                // A document may have several fingerprints with this key.
                if self.documents.last() != Some(&value) {
                    self.documents.push(value);
                    if self.documents.len() > CHUNK {
                        self.chunk(CHUNK)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the first documents of a long list.
    fn chunk(&mut self, count: usize) -> Result<()> {
        let place = self.part.position();
        if self.written == 0 {
            self.place = place;
        }
        self.packed.clear();
        let mut before = 0;
        for &document in &self.documents[..count] {
            self.packed.push(document - before);
            before = document;
        }
        self.bytes.clear();
        self.bytes.resize(CHUNK_HEAD, 0);
        pack_u32(&self.packed, &mut self.bytes);
        let length = (self.bytes.len() - CHUNK_HEAD) as u32;
        self.bytes[8..12].copy_from_slice(&length.to_le_bytes());
        self.bytes[12..16].copy_from_slice(&(count as u32).to_le_bytes());
        let check = sum(place, &self.bytes[8..]);
        self.bytes[..8].copy_from_slice(&check.to_le_bytes());
        self.part.put(&self.bytes)?;
        self.documents.drain(..count);
        self.written += count as u64;
        Ok(())
    }

    fn close_list(&mut self) -> Result<()> {
        let Some(key) = self.key.take() else {
            return Ok(());
        };
        if self.written > 0 || self.documents.len() > SHORT {
            while !self.documents.is_empty() {
                self.chunk(self.documents.len().min(CHUNK))?;
            }
            self.block.lengths.push(SHORT as u32);
            self.block.long.push((self.place, self.written));
            self.entries += self.written;
        } else if let Some((&first, rest)) = self.documents.split_first() {
            self.block.lengths.push(rest.len() as u32);
            self.block.firsts.push(first);
            let mut before = first;
            for &document in rest {
                self.block.gaps.push(document - before);
                before = document;
            }
            self.entries += rest.len() as u64 + 1;
        }
        self.documents.clear();
        self.written = 0;
        self.lists += 1;
        self.block.keys.push(key);
        if self.block.keys.len() == BLOCK_LISTS {
            self.close_block()?;
        }
        Ok(())
    }

    fn close_block(&mut self) -> Result<()> {
        let block = &mut self.block;
        let count = block.keys.len() as u32;
        let mut before = self.layout.least(self.bucket);
        for key in &mut block.keys {
            let gap = *key - before;
            before = std::mem::replace(key, gap);
        }
        self.bytes.clear();
        self.bytes.resize(BLOCK_HEAD, 0);
        pack_u64(&block.keys, &mut self.bytes);
        pack_u32(&block.lengths, &mut self.bytes);
        pack_u32(&block.firsts, &mut self.bytes);
        pack_u32(&block.gaps, &mut self.bytes);
        for (place, length) in &block.long {
            self.bytes.extend_from_slice(&place.to_le_bytes());
            self.bytes.extend_from_slice(&length.to_le_bytes());
        }
        let length = (self.bytes.len() - BLOCK_HEAD) as u32;
        self.bytes[8..16].copy_from_slice(&self.before.to_le_bytes());
        self.bytes[16..20].copy_from_slice(&length.to_le_bytes());
        self.bytes[20..24].copy_from_slice(&count.to_le_bytes());
        let check = sum(self.bucket, &self.bytes[8..]);
        self.bytes[..8].copy_from_slice(&check.to_le_bytes());
        self.before = self.part.position();
        self.part.put(&self.bytes)?;
        block.keys.clear();
        block.lengths.clear();
        block.firsts.clear();
        block.gaps.clear();
        block.long.clear();
        Ok(())
    }

    /// Every bucket has a block, so that a place of 0 in the table is damage.
    fn close_bucket(&mut self) -> Result<()> {
        if !self.block.keys.is_empty() || self.before == 0 {
            self.close_block()?;
        }
        self.table.push(self.before);
        self.before = 0;
        self.bucket += 1;
        self.end = self.layout.least(self.bucket + 1);
        Ok(())
    }

    /// Ends the part. A record of it is a document in a list. Returns the part and the number of lists.
    pub(super) fn finish(mut self) -> Result<(PartInfo, u64)> {
        self.close_list()?;
        while self.bucket <= self.last {
            self.close_bucket()?;
        }
        let index = self.part.position();
        for place in &self.table {
            self.part.put(&place.to_le_bytes())?;
        }
        let ranges = self.layout.ranges.into();
        let part = self.part.finish(self.entries, index, ranges)?;
        Ok((part, self.lists))
    }
}
