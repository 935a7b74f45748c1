//! Sets of chosen documents, copied into memory.
//!
//! Documents that are compared lie anywhere in the files. If each is looked up when it is needed,
//! the same blocks are read and checked again and again. So the documents of many comparisons are
//! chosen first, and their sets are read in one pass in the order of the files.

use super::MappedSets;
use lookalike_base::{Bits, Ranks, Result, Stop, workers::share};

/// Bytes that a thread copies at a time.
const PIECE: usize = 4 << 20;

/// Documents whose sets will be loaded.
#[derive(Debug)]
pub struct Wanted {
    documents: Bits,
    count: usize,
    bytes: usize,
    room: usize,
    /// The memory of sets that were loaded before. New memory costs as much as reading sets into it.
    memory: (Vec<u64>, Vec<u8>),
}

impl Wanted {
    /// Bytes of memory for a collection of this number of documents, without the sets.
    pub fn bytes(documents: u64) -> u64 {
        Ranks::bytes(documents)
    }

    /// Begins with no document. The sets may take up to `room` bytes.
    pub fn new(documents: usize, room: u64) -> Wanted {
        Wanted {
            documents: Bits::new(documents),
            count: 0,
            bytes: 0,
            room: room as usize,
            memory: Default::default(),
        }
    }

    /// Adds two documents that are compared, or one twice; `false` if there is no room for them. A set that takes
    /// more than an eighth of the room is not loaded.
    pub fn add(&mut self, sets: &MappedSets, a: u32, b: u32) -> bool {
        let size = |document| match sets.bytes_of(document) {
            _ if self.documents.contains(document) => None,
            bytes if bytes > self.room / 8 => None,
            bytes => Some(bytes),
        };
        let new = [(a, size(a)), (b, size(b).filter(|_| a != b))];
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
        let (mut starts, mut bytes) = self.memory;
        starts.clear();
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
        bytes.resize(end as usize, 0);
        let mut rest = &mut bytes[..];
        let mut tasks = Vec::with_capacity(pieces.len());
        for (at, &(document, start)) in pieces.iter().enumerate() {
            let (next, end) = pieces.get(at + 1).copied().unwrap_or((u32::MAX, end));
            let (now, later) = rest.split_at_mut((end - start) as usize);
            rest = later;
            tasks.push((document..next, now));
        }
        let threads = threads.clamp(1, tasks.len().max(1));
        let documents = &self.documents;
        share("join", threads, tasks, |queue| {
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
    pub fn get(&self, document: u32) -> Option<&[u8]> {
        let rank = self.ranks.get(document)? as usize;
        self.bytes
            .get(self.starts[rank] as usize..self.starts[rank + 1] as usize)
    }

    /// Drops the sets and begins anew.
    pub fn into_wanted(self) -> Wanted {
        let mut documents = self.ranks.bits;
        documents.clear();
        Wanted {
            documents,
            count: 0,
            bytes: 0,
            room: self.room,
            memory: (self.starts, self.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sets::sets_of;
    use super::*;

    /// Sizes of none to several blocks.
    fn sizes(documents: usize) -> Vec<usize> {
        let size = |n: usize| match n * n % 61 {
            0 => 0,
            1 => 20_000,
            n => n * 37,
        };
        (0..documents).map(size).collect()
    }

    #[test]
    fn loaded_sets_are_the_mapped_ones() {
        let directory = tempfile::tempdir().unwrap();
        let sizes = sizes(3000);
        let sets = sets_of(directory.path(), &sizes, 1 << 30);
        for (room, threads) in [(1 << 30, 1), (1 << 30, 3), (1 << 20, 2), (100, 1)] {
            let mut wanted = Wanted::new(sizes.len(), room);
            let mut pairs = (0..2999u32).step_by(7).map(|a| (a, (a * 31 + 11) % 3000));
            let mut added = Vec::new();
            let refused = pairs.find(|&(a, b)| {
                let there = wanted.add(&sets, a, b);
                added.extend(there.then_some([a, b]).into_iter().flatten());
                !there
            });
            assert_eq!(refused.is_none(), room == 1 << 30, "{room}");
            let loaded = wanted.load(&sets, threads, &Stop::default()).unwrap();
            assert!(loaded.bytes.len() + loaded.starts.len() * 8 <= room as usize + 8);
            for document in 0..sizes.len() as u32 {
                let large = sizes[document as usize] * 8 > room as usize / 8;
                let expected = added.contains(&document) && !large;
                let found = loaded.get(document);
                assert_eq!(found.is_some(), expected, "{document}");
                let looking = sets.look();
                assert!(found.is_none_or(|set| set == looking.get(document).unwrap()));
            }
            assert!(
                loaded
                    .into_wanted()
                    .load(&sets, 1, &Stop::default())
                    .unwrap()
                    .bytes
                    .is_empty()
            );
        }
    }

    #[test]
    fn a_damaged_block_is_found_when_it_is_read() {
        use std::os::unix::fs::FileExt;
        let directory = tempfile::tempdir().unwrap();
        let sets = sets_of(directory.path(), &sizes(3000), 1 << 30);
        let parts = std::fs::read_dir(directory.path()).unwrap();
        let path = parts.map(|entry| entry.unwrap().path()).next().unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        // A byte of the second set's keys.
        file.write_all_at(&[0xff], 64 + 20_000 * 8 + 3).unwrap();
        let load = |a, b| {
            let mut wanted = Wanted::new(3000, 1 << 30);
            assert!(wanted.add(&sets, a, b));
            wanted.load(&sets, 2, &Stop::default()).map(|_| ())
        };
        load(2990, 2991).unwrap();
        let error = load(2, 2991).unwrap_err().to_string();
        assert!(error.contains("checksum of block 2 of the sets"), "{error}");
    }
}
