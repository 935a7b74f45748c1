//! Keys that wait in temporary files until their ranges are made.

use std::path::Path;

use super::KEY_BITS;
use lookalike_base::{Error, Result};
use lookalike_store::Aside;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a key, and of a document with the number of its keys.
const WORD: usize = KEY_BITS as usize / 8;
/// The most bytes of a block: enough that a block is written and read like a file.
const MOST_BLOCK: u64 = 32 << 10;

/// The keys of some ranges, document by document, in blocks that end with zeros and a checksum.
pub(super) struct Divided {
    blocks: Aside,
    /// Bytes of a block before its checksum.
    bytes: usize,
}

impl Divided {
    /// Keeps blocks of at most `most` bytes, in a file without a name if there are several.
    pub(super) fn new(directory: &Path, most: u64) -> Divided {
        let bytes = most.clamp(3 * WORD as u64, MOST_BLOCK) / WORD as u64 * WORD as u64;
        Divided {
            blocks: Aside::within(directory, bytes),
            bytes: bytes as usize - WORD,
        }
    }

    /// Appends keys of a document to a block, which is written when it is full.
    pub(super) fn put(
        &self,
        block: &mut Vec<u8>,
        keys: impl Iterator<Item = u64>,
        document: u32,
    ) -> Result<()> {
        let mut keys = keys.peekable();
        block.reserve_exact(self.bytes + WORD - block.len());
        while keys.peek().is_some() {
            let room = (self.bytes - block.len()) / WORD;
            if room < 2 {
                self.write(block)?;
                continue;
            }
            let head = block.len();
            block.extend_from_slice(&[0; WORD]);
            for key in keys.by_ref().take(room - 1) {
                block.extend_from_slice(&key.to_le_bytes()[..WORD]);
            }
            let count = (block.len() - head) / WORD - 1;
            let word = (count as u64) << 32 | u64::from(document);
            block[head..head + WORD].copy_from_slice(&word.to_le_bytes()[..WORD]);
        }
        Ok(())
    }

    /// Writes a block, unless it is empty.
    pub(super) fn write(&self, block: &mut Vec<u8>) -> Result<()> {
        if !block.is_empty() {
            block.resize(self.bytes, 0);
            let checksum = xxh3_64(block).to_le_bytes();
            block.extend_from_slice(&checksum[..WORD]);
            self.blocks.put(block)?;
            block.clear();
        }
        Ok(())
    }

    /// Frees the memory of keys that are in a file. All blocks must be written.
    pub(super) fn settle(&self) -> Result<()> {
        self.blocks.settle()
    }

    /// Calls `take` with the keys from `low` to `high` of each document until it returns `false`.
    /// Returns what it returned last.
    pub(super) fn each(
        &self,
        (low, high): (u64, u64),
        mut take: impl FnMut(&[u64], u32) -> Result<bool>,
    ) -> Result<bool> {
        let (mut block, mut keys) = (vec![0; self.bytes + WORD], Vec::new());
        for at in (0..self.blocks.length()).step_by(self.bytes + WORD) {
            self.blocks.get(at, &mut block)?;
            let (block, checksum) = block.split_at(self.bytes);
            if xxh3_64(block).to_le_bytes()[..WORD] != *checksum {
                let damaged = Error::corrupt("(a temporary file)", "block of keys");
                return Err(damaged.at(at).expected("its checksum", "another"));
            }
            let mut words = block.chunks_exact(WORD).map(|bytes| {
                let mut word = [0; 8];
                word[..WORD].copy_from_slice(bytes);
                u64::from_le_bytes(word)
            });
            while let Some(head) = words.next().filter(|&head| head > 0) {
                keys.clear();
                let own = words.by_ref().take((head >> 32) as usize);
                keys.extend(own.filter(|key| (low..=high).contains(key)));
                if !take(&keys, head as u32)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_in_pieces() {
        let place = tempfile::tempdir().unwrap();
        for most in [12, 18, 19, 100, 1 << 30] {
            let divided = Divided::new(place.path(), most);
            let (mut block, mut expected) = (Vec::new(), Vec::new());
            for document in 0..300u32 {
                let keys: Vec<u64> = (0..u64::from(document) % 70 * 40)
                    .map(|n| n << 31)
                    .collect();
                divided
                    .put(&mut block, keys.iter().copied(), document)
                    .unwrap();
                let within = keys.iter().filter(|key| (1 << 33..=1 << 40).contains(*key));
                expected.extend(within.map(|&key| (key, document)));
            }
            divided.write(&mut block).unwrap();
            let mut found = Vec::new();
            let all = divided.each((1 << 33, 1 << 40), |keys, document| {
                found.extend(keys.iter().map(|&key| (key, document)));
                Ok(true)
            });
            assert!(all.unwrap() && found == expected, "{most}");
            assert!(!divided.each((0, 0), |_, _| Ok(false)).unwrap());
        }
    }
}
