//! Sets of chosen documents, copied into memory.
//!
//! Documents that are compared lie anywhere in the files. If each is looked up when it is needed,
//! the same blocks are read and checked again and again. So the documents of many comparisons are
//! chosen first, and their sets are read in one pass in the order of the files.

use super::MappedSets;
use crate::Result;
use crate::bits::{Bits, Ranks};
use crate::progress::{Stop, joined_all};
use crate::threads;
use crate::workers::Queue;

/// Bytes that a thread copies at a time.
const PIECE: usize = 4 << 20;

/// Documents whose sets will be loaded.
#[derive(Debug)]
pub struct Wanted {
    documents: Bits,
    count: usize,
    bytes: usize,
    room: usize,
}

impl Wanted {
    /// Bytes of memory for a collection of this number of documents, without the sets.
    #[must_use]
    pub fn bytes(documents: u64) -> u64 {
        Ranks::bytes(documents)
    }

    /// Begins with no document. The sets may take up to `room` bytes.
    #[must_use]
    pub fn new(documents: usize, room: u64) -> Wanted {
        Wanted {
            documents: Bits::new(documents),
            count: 0,
            bytes: 0,
            room: room as usize,
        }
    }

    /// Adds two documents that are compared; `false` if there is no room for them. A set that takes
    /// more than an eighth of the room is not loaded.
    pub fn add(&mut self, sets: &MappedSets, a: u32, b: u32) -> bool {
        let size = |document| match sets.bytes_of(document) {
            _ if self.documents.contains(document) => None,
            bytes if bytes > self.room / 8 => None,
            bytes => Some(bytes),
        };
        let new = [(a, size(a)), (b, size(b))];
        let more: usize = new.iter().filter_map(|&(_, size)| size).sum();
        let more_documents = new.iter().filter(|(_, size)| size.is_some()).count();
        let held = (self.count + more_documents) * size_of::<u64>() + self.bytes + more;
        if held > self.room {
            return false;
        }
        for (document, size) in new {
            if size.is_some() && self.documents.insert(document) {
                self.count += 1;
            }
        }
        self.bytes += more;
        true
    }

    /// Reads the sets with several threads.
    pub fn load(self, sets: &MappedSets, threads: usize, stop: &Stop) -> Result<LoadedSets> {
        let mut starts = Vec::with_capacity(self.count + 1);
        let mut end = 0u64;
        let mut pieces = Vec::new();
        let mut first = 0;
        for (rank, document) in self.documents.iter().enumerate() {
            if rank == 0 || end - starts.get(first).copied().unwrap_or(0) >= PIECE as u64 {
                first = rank;
                pieces.push((document, end));
            }
            starts.push(end);
            end += sets.bytes_of(document) as u64;
        }
        starts.push(end);
        let mut bytes = vec![0; end as usize];
        let mut rest = &mut bytes[..];
        let mut tasks = Vec::with_capacity(pieces.len());
        for (at, &(document, start)) in pieces.iter().enumerate() {
            let (next, end) = pieces.get(at + 1).copied().unwrap_or((u32::MAX, end));
            let (now, later) = rest.split_at_mut((end - start) as usize);
            rest = later;
            tasks.push((document..next, now));
        }
        let threads = threads.clamp(1, tasks.len().max(1));
        let queue = Queue::new(tasks);
        let documents = &self.documents;
        let work = || -> Result<()> {
            let mut reader = sets.reader();
            while let Some((range, mut out)) = queue.next() {
                stop.check("join")?;
                for document in documents.within(range) {
                    let (now, later) = out.split_at_mut(sets.bytes_of(document));
                    reader.read(document, now)?;
                    out = later;
                }
            }
            Ok(())
        };
        let work = || work().inspect_err(|_| queue.clear());
        threads::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            joined_all("join", handles)
        })?;
        Ok(LoadedSets {
            ranks: Ranks::of(self.documents),
            starts,
            bytes,
            room: self.room,
        })
    }
}

/// Sets in memory.
#[derive(Debug)]
pub struct LoadedSets {
    ranks: Ranks,
    /// By rank, where the set begins.
    starts: Vec<u64>,
    bytes: Vec<u8>,
    room: usize,
}

impl LoadedSets {
    /// The keys of a document's set, little-endian and rising; `None` if it was not loaded.
    #[must_use]
    pub fn get(&self, document: u32) -> Option<&[u8]> {
        let rank = self.ranks.get(document)? as usize;
        self.bytes
            .get(self.starts[rank] as usize..self.starts[rank + 1] as usize)
    }

    /// Drops the sets and begins anew.
    #[must_use]
    pub fn into_wanted(self) -> Wanted {
        let mut documents = self.ranks.into_bits();
        documents.clear();
        Wanted {
            documents,
            count: 0,
            bytes: 0,
            room: self.room,
        }
    }
}
