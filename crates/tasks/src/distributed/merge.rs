//! Merges the sorted rows of many blobs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use lookalike_base::Result;
use lookalike_store::Aside;

use super::bad;
use super::blob::{Reader, rows_of_block};

/// The largest header of a block: two numbers.
const HEADER: u64 = 20;

/// Blobs of rows with N columns, each sorted by its first column.
pub(super) struct Merge<const N: usize> {
    stage: &'static str,
    spill: Aside,
    sources: Vec<BlobRows<N>>,
    /// Sources whose first row is among the heads.
    begun: usize,
    /// The next key of each source, and the source.
    heads: BinaryHeap<Reverse<(u64, u32)>>,
    buffer: Vec<u8>,
}

struct BlobRows<const N: usize> {
    at: u64,
    end: u64,
    before: u64,
    rows: Vec<[u64; N]>,
    next: usize,
}

impl<const N: usize> Merge<N> {
    pub fn new(stage: &'static str, directory: &Path, memory: u64) -> Self {
        Merge {
            stage,
            spill: Aside::within(directory, memory),
            sources: Vec::new(),
            begun: 0,
            heads: BinaryHeap::new(),
            buffer: Vec::new(),
        }
    }

    /// Adds the rows of a blob. They belong to the source of this number, counted from 0.
    pub fn add(&mut self, rows: &[u8]) -> Result<()> {
        let at = self.spill.put(rows)?;
        self.sources.push(BlobRows {
            at,
            end: at + rows.len() as u64,
            before: 0,
            rows: Vec::new(),
            next: 0,
        });
        Ok(())
    }

    /// Puts the next row of a source among the heads.
    fn advance(&mut self, number: u32) -> Result<()> {
        let source = &mut self.sources[number as usize];
        if source.next == source.rows.len() {
            source.next = 0;
            if source.at == source.end {
                source.rows = Vec::new();
                return Ok(());
            }
            let head = HEADER.min(source.end - source.at);
            self.buffer.resize(head as usize, 0);
            self.spill.get(source.at, &mut self.buffer)?;
            let mut reader = Reader::new(self.stage, &self.buffer);
            let (count, length) = (reader.number()?, reader.number()?);
            let at = source.at + head - reader.left() as u64;
            if length > source.end - at {
                return Err(bad(self.stage, "a whole block", "one that is cut off"));
            }
            self.buffer.resize(length as usize, 0);
            self.spill.get(at, &mut self.buffer)?;
            source.at = at + length;
            let (before, rows) = (&mut source.before, &mut source.rows);
            rows_of_block(self.stage, count as usize, &self.buffer, before, rows)?;
        }
        let key = source.rows[source.next][0];
        self.heads.push(Reverse((key, number)));
        Ok(())
    }

    /// The rows of the next key, with their sources. Returns `false` at the end.
    pub fn next(&mut self, group: &mut Vec<(u32, [u64; N])>) -> Result<bool> {
        group.clear();
        for source in self.begun..self.sources.len() {
            self.advance(source as u32)?;
        }
        self.begun = self.sources.len();
        let Some(&Reverse((key, _))) = self.heads.peek() else {
            return Ok(false);
        };
        while let Some(&Reverse((found, number))) = self.heads.peek() {
            if found != key {
                break;
            }
            self.heads.pop();
            let source = &mut self.sources[number as usize];
            while let Some(&row) = source.rows.get(source.next)
                && row[0] == key
            {
                group.push((number, row));
                source.next += 1;
            }
            // A key may go on in the next block; then the source comes up again.
            self.advance(number)?;
        }
        Ok(true)
    }
}
