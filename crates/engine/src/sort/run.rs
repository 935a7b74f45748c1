//! One sorted run on disk.

use std::path::Path;

use crate::collection::decompress;
use lookalike_base::{Error, Key, Result};
use lookalike_store::{
    Header, KeyColumn, Kind, PartFile, PartInfo, PartWriter, check_sum, checksum, pack_u32,
    unpack_u32,
};

/// Records in a block. A merge keeps one decoded block of each run in memory.
pub const BLOCK_RECORDS: usize = 4096;
/// Bytes before the body of a block: records, bytes, codec, distinct keys, checksum.
const BLOCK_HEAD: usize = 24;
const CODEC_PACKED: u32 = 0;
const CODEC_ZSTD: u32 = 1;

/// The unit of sorting: a key and a number that belongs to it.
///
/// For shingles: fingerprint and document. For counted pairs: both documents, and the count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Record<K> {
    /// The first sort key.
    pub key: K,
    /// The second sort key.
    pub value: u32,
}

/// The level at which zstd compresses the blocks of a run that become smaller by it after packing. `None`
/// where they would not, because random fingerprints cannot be compressed further.
pub type Compression = Option<i32>;

/// Writes a run. Records must be pushed in order.
pub struct RunWriter<K> {
    out: PartWriter,
    packer: Packer<K>,
    held: Vec<Record<K>>,
    block: PackedRecords<K>,
    index: Vec<u8>,
    blocks: u64,
    records: u64,
}

/// Packs the blocks of runs.
pub struct Packer<K> {
    compressor: Option<zstd::bulk::Compressor<'static>>,
    columns: Columns<K>,
    values: Vec<u32>,
    path: std::path::PathBuf,
}

/// A block of a run as it is stored.
#[derive(Debug, Default)]
pub struct PackedRecords<K> {
    first: K,
    records: usize,
    bytes: Vec<u8>,
}

/// Scratch columns of the codec.
#[derive(Default)]
struct Columns<K> {
    distinct: Vec<K>,
    repeats: Vec<u32>,
    keys: KeyColumn,
}

impl<K: Key> RunWriter<K> {
    /// Starts run `number` in a directory.
    pub fn create(
        directory: &Path,
        number: u64,
        parameters: u128,
        compression: Compression,
    ) -> Result<Self> {
        let header = Header::new(Kind::Run, parameters, number, K::BYTES);
        RunWriter::of(directory, header, compression)
    }

    /// Starts a part of another kind that has the shape of a run.
    pub fn of(directory: &Path, header: Header, compression: Compression) -> Result<Self> {
        Ok(RunWriter {
            out: PartWriter::create(directory, &header)?,
            packer: Packer::new(compression, directory)?,
            held: Vec::with_capacity(BLOCK_RECORDS),
            block: PackedRecords::default(),
            index: Vec::new(),
            blocks: 0,
            records: 0,
        })
    }

    /// Appends a record, which must not be less than the previous one.
    pub fn push(&mut self, record: Record<K>) -> Result<()> {
        self.held.push(record);
        if self.held.len() == BLOCK_RECORDS {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        let mut block = std::mem::take(&mut self.block);
        self.packer.pack(&self.held, &mut block)?;
        self.held.clear();
        self.put(&block)?;
        self.block = block;
        Ok(())
    }

    /// Appends a block. None of its records may be less than a record before it.
    pub fn put(&mut self, block: &PackedRecords<K>) -> Result<()> {
        self.flush()?;
        block.first.put_le(&mut self.index);
        self.index
            .extend_from_slice(&self.out.position().to_le_bytes());
        self.blocks += 1;
        self.records += block.records as u64;
        self.out.put(&block.bytes)
    }

    /// Writes the index and makes the run durable.
    pub fn finish(mut self) -> Result<PartInfo> {
        self.flush()?;
        let at = self.out.position();
        self.out.put(&self.index)?;
        self.out.put(&checksum(&self.index).to_le_bytes())?;
        self.out.finish(self.records, at, self.blocks)
    }
}

impl<K: Key> Packer<K> {
    /// `directory` is for errors.
    pub fn new(compression: Compression, directory: &Path) -> Result<Self> {
        let compressor = compression.map(zstd::bulk::Compressor::new).transpose();
        let compressor = compressor.map_err(Error::io("set up compression of", directory))?;
        Ok(Packer {
            compressor,
            columns: Columns::default(),
            values: Vec::with_capacity(BLOCK_RECORDS),
            path: directory.to_path_buf(),
        })
    }

    /// Packs 1 to [`BLOCK_RECORDS`] records in order.
    pub fn pack(&mut self, records: &[Record<K>], block: &mut PackedRecords<K>) -> Result<()> {
        let Columns {
            distinct,
            repeats,
            keys,
        } = &mut self.columns;
        distinct.clear();
        repeats.clear();
        self.values.clear();
        // Each key is stored once with its number of repetitions. A difference of 0 for each
        // repetition would take as many bits as the other differences of its frame.
        for record in records {
            self.values.push(record.value);
            match repeats.last_mut() {
                Some(repeat) if distinct.last() == Some(&record.key) => *repeat += 1,
                _ => {
                    distinct.push(record.key);
                    repeats.push(0);
                }
            }
        }
        let bytes = &mut block.bytes;
        bytes.clear();
        bytes.resize(BLOCK_HEAD, 0);
        keys.pack(distinct.iter().copied(), bytes);
        pack_u32(repeats, bytes);
        pack_u32(&self.values, bytes);
        let mut codec = CODEC_PACKED;
        if let Some(compressor) = &mut self.compressor {
            let body = &bytes[BLOCK_HEAD..];
            let packed = compressor.compress(body);
            let packed = packed.map_err(Error::io("compress a block of", &self.path))?;
            if packed.len() + 4 < body.len() {
                let raw = body.len() as u32;
                bytes.truncate(BLOCK_HEAD);
                bytes.extend_from_slice(&raw.to_le_bytes());
                bytes.extend_from_slice(&packed);
                codec = CODEC_ZSTD;
            }
        }
        let (head, body) = bytes.split_at_mut(BLOCK_HEAD);
        head[..4].copy_from_slice(&(records.len() as u32).to_le_bytes());
        head[4..8].copy_from_slice(&(body.len() as u32).to_le_bytes());
        head[8..12].copy_from_slice(&codec.to_le_bytes());
        head[12..16].copy_from_slice(&(distinct.len() as u32).to_le_bytes());
        head[16..].copy_from_slice(&checksum(body).to_le_bytes());
        block.first = records.first().map_or(K::default(), |first| first.key);
        block.records = records.len();
        Ok(())
    }
}

/// An open run, with its index in memory and its blocks on disk. The cursors of all ranges share
/// it.
#[derive(Debug)]
pub struct RunFile<K> {
    part: PartFile,
    index: Vec<(K, u64)>,
    /// Offset of the index, which is the end of the last block.
    end: u64,
    /// If the keys are pairs of documents: the number of documents.
    documents: Option<u64>,
}

impl<K: Key> RunFile<K> {
    /// The file.
    pub fn path(&self) -> &Path {
        self.part.path()
    }

    /// Opens a run, or a part of another kind that has the shape of one, and reads its index.
    pub fn open(
        kind: Kind,
        path: &Path,
        parameters: Option<u128>,
        info: Option<&PartInfo>,
    ) -> Result<Self> {
        let part = PartFile::open(path, kind, parameters, info)?;
        if part.header.key_bytes as usize != K::BYTES {
            return Err(part.corrupt(40, "key size", K::BYTES, part.header.key_bytes));
        }
        let end = part.footer.index_offset;
        let length = part
            .payload_end()
            .checked_sub(end)
            .and_then(|n| n.checked_sub(8));
        let wanted = part.footer.extra.checked_mul(K::BYTES as u64 + 8);
        let (Some(length), true) = (length, length == wanted && length.is_some()) else {
            return Err(part.corrupt(
                end,
                "size of the index",
                format!("{wanted:?}"),
                format!("{length:?}"),
            ));
        };
        let bytes = part.read(end, length + 8)?;
        let (bytes, sum) = bytes.split_at(length as usize);
        let corrupt = |stated, found| part.corrupt(end, "checksum of the index", stated, found);
        check_sum(u64::get_le(sum), checksum(bytes), corrupt)?;
        let index = bytes
            .chunks_exact(K::BYTES + 8)
            .map(|entry| {
                (
                    K::get_le(&entry[..K::BYTES]),
                    u64::get_le(&entry[K::BYTES..]),
                )
            })
            .collect();
        Ok(RunFile {
            part,
            index,
            end,
            documents: None,
        })
    }

    /// The same run, whose keys must be pairs of two of `documents` documents, the earlier one
    /// first: cursors refuse others. The numbers of a pair are indexes into columns.
    pub fn of_pairs(mut self, documents: u64) -> Self {
        self.documents = Some(documents);
        self
    }

    /// Records in the run.
    pub fn records(&self) -> u64 {
        self.part.footer.records
    }

    /// The first key of each block, in order.
    pub fn first_keys(&self) -> impl Iterator<Item = K> {
        self.index.iter().map(|&(first, _)| first)
    }

    /// Bytes of memory that a cursor over a run needs.
    pub(crate) const fn cursor_bytes() -> usize {
        // The decoded block, its encoded bytes, the columns of the codec (4 bytes per record, and
        // per record a key or two halves of one), and the cursor's part of a merge's batch.
        BLOCK_RECORDS * (6 * K::BYTES + 24)
    }

    /// A cursor over the records whose keys are in `low..=high`.
    pub fn range(&self, low: K, high: K) -> Result<RunCursor<'_, K>> {
        // A key can continue from one block into the next. So start one block before the first
        // block whose first key is at or above `low`.
        let block = self
            .index
            .partition_point(|&(first, _)| first < low)
            .saturating_sub(1);
        let mut cursor = RunCursor {
            run: self,
            block,
            keys: Vec::new(),
            values: Vec::new(),
            at: 0,
            high,
            body: Vec::new(),
            columns: Columns::default(),
        };
        cursor.load()?;
        loop {
            let below = cursor.keys.partition_point(|&key| key < low);
            cursor.skip(below)?;
            if cursor.at > 0 || below == 0 {
                return Ok(cursor);
            }
        }
    }
}

/// A position in a run.
pub struct RunCursor<'a, K> {
    run: &'a RunFile<K>,
    block: usize,
    keys: Vec<K>,
    values: Vec<u32>,
    at: usize,
    high: K,
    body: Vec<u8>,
    columns: Columns<K>,
}

impl<K: Key> RunCursor<'_, K> {
    /// The current record; `None` past the end of the range.
    #[inline]
    pub fn head(&self) -> Option<Record<K>> {
        let (&key, &value) = (self.keys.get(self.at)?, self.values.get(self.at)?);
        Some(Record { key, value })
    }

    /// The remaining records of the block, as columns; empty past the end of the range.
    pub fn rest(&self) -> (&[K], &[u32]) {
        (&self.keys[self.at..], &self.values[self.at..])
    }

    /// The first key of the next block; `None` if that key is past the range.
    pub fn next_key(&self) -> Option<K> {
        let &(first, _) = self.run.index.get(self.block)?;
        (first <= self.high).then_some(first)
    }

    /// An error for an unexpected value at the cursor.
    pub fn corrupt(&self, expected: &str, found: &str) -> Error {
        let block = self.block.saturating_sub(1);
        let offset = self.run.index.get(block).map_or(0, |&(_, offset)| offset);
        self.run.part.corrupt(offset, "block", expected, found)
    }

    /// Skips this number of records, all of them within the block.
    pub fn skip(&mut self, records: usize) -> Result<()> {
        self.at += records;
        if records > 0 && self.at >= self.keys.len() {
            self.load()?;
        }
        Ok(())
    }

    /// Moves to the next record.
    #[inline]
    pub fn advance(&mut self) -> Result<()> {
        self.at += 1;
        if self.at >= self.keys.len() {
            self.load()?;
        }
        Ok(())
    }

    /// Decodes the next block. The cursor is empty at the end of the run.
    fn load(&mut self) -> Result<()> {
        self.keys.clear();
        self.values.clear();
        self.at = 0;
        let part = &self.run.part;
        let Some(&(first, offset)) = self.run.index.get(self.block) else {
            return Ok(());
        };
        if first > self.high {
            return Ok(());
        }
        self.block += 1;
        let end = self
            .run
            .index
            .get(self.block)
            .map_or(self.run.end, |&(_, offset)| offset);
        let length = end.saturating_sub(offset) as usize;
        // A block is never larger than its unpacked columns plus one byte of width per frame.
        let most = BLOCK_HEAD + K::BYTES + BLOCK_RECORDS * (K::BYTES + 8) + BLOCK_RECORDS / 16;
        if length < BLOCK_HEAD || length > most {
            return Err(part.corrupt(offset, "size of a block", format!("at most {most}"), length));
        }
        self.body.resize(length, 0);
        part.read_at(&mut self.body, offset)?;
        let (head, body) = self.body.split_at(BLOCK_HEAD);
        let corrupt = |stated, found| part.corrupt(offset, "checksum of a block", stated, found);
        check_sum(u64::get_le(&head[16..]), checksum(body), corrupt)?;
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (n, codec, distinct) = (word(0) as usize, word(8), word(12) as usize);
        let bad = |found: String| part.corrupt(offset, "block", "a decodable block", found);
        if n == 0 || n > BLOCK_RECORDS || distinct == 0 || distinct > n {
            return Err(bad(format!("{n} records of {distinct} keys")));
        }
        let mut unpacked = Vec::new();
        let body = match codec {
            CODEC_PACKED => body,
            CODEC_ZSTD if body.len() >= 4 => {
                let raw = u32::from_le_bytes([body[0], body[1], body[2], body[3]]) as usize;
                let done = decompress(&body[4..], raw.min(most), &mut unpacked);
                done.map_err(|error| bad(error.to_string()))?;
                &unpacked
            }
            other => return Err(bad(format!("codec {other}"))),
        };
        let Columns {
            distinct: keys,
            repeats,
            keys: column,
            ..
        } = &mut self.columns;
        keys.clear();
        repeats.clear();
        let whole = column.unpack(body, distinct, keys).and_then(|rest| {
            let rest = unpack_u32(rest, distinct, repeats)?;
            let total: u64 = repeats.iter().map(|&repeat| u64::from(repeat) + 1).sum();
            let rest = unpack_u32(rest, n, &mut self.values)?;
            (rest.is_empty() && total == n as u64).then_some(())
        });
        if whole.is_none() {
            return Err(bad("columns of other sizes".into()));
        }
        // Ranges are looked up in the index, so the block has to agree with the index.
        if keys.first() != Some(&first) {
            return Err(bad("a first key that is not that of the index".into()));
        }
        if let Some(documents) = self.run.documents {
            let pairs = keys.iter().map(|&key| {
                let key = key.to_u128() as u64;
                (key >> 32, key & u64::from(u32::MAX))
            });
            if let Some((a, b)) = pairs.into_iter().find(|&(a, b)| a >= b || b >= documents) {
                let expected = format!("two of {documents} documents, the earlier one first");
                return Err(part.corrupt(offset, "pair", expected, format!("({a}, {b})")));
            }
        }
        for (&key, &repeat) in keys.iter().zip(&*repeats) {
            self.keys
                .extend(std::iter::repeat_n(key, repeat as usize + 1));
        }
        if self.keys.last().is_some_and(|&last| last > self.high) {
            let end = self.keys.partition_point(|&key| key <= self.high);
            self.keys.truncate(end);
            self.values.truncate(end);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip<K: Key>(mut records: Vec<Record<K>>, compression: Compression, low: K, high: K) {
        records.sort_unstable();
        let directory = tempfile::tempdir().unwrap();
        let mut writer = RunWriter::create(directory.path(), 1, 9, compression).unwrap();
        for &record in &records {
            writer.push(record).unwrap();
        }
        let info = writer.finish().unwrap();
        assert_eq!(info.records, records.len() as u64);
        let path = directory.path().join(&info.name);
        let run = RunFile::<K>::open(Kind::Run, &path, Some(9), Some(&info)).unwrap();
        let mut cursor = run.range(low, high).unwrap();
        let mut back = Vec::new();
        while let Some(record) = cursor.head() {
            back.push(record);
            cursor.advance().unwrap();
        }
        records.retain(|r| low <= r.key && r.key <= high);
        assert_eq!(back, records);
    }

    #[test]
    fn blocks_and_ranges() {
        for n in [
            0,
            1,
            BLOCK_RECORDS - 1,
            BLOCK_RECORDS,
            BLOCK_RECORDS + 1,
            3 * BLOCK_RECORDS,
        ] {
            let records: Vec<_> = (0..n as u64)
                .map(|i| Record {
                    key: i / 3000 * 5,
                    value: i as u32,
                })
                .collect();
            for (low, high) in [
                (0, u64::MAX),
                (5, 5),
                (5, 10),
                (6, 9),
                (11, u64::MAX),
                (0, 0),
            ] {
                round_trip(records.clone(), None, low, high);
                round_trip(records.clone(), Some(1), low, high);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn random_runs(keys in prop::collection::vec(
                           (any::<u128>(), any::<u32>(), 0u32..128), 0..9000),
                       a in any::<u128>(), b in any::<u128>()) {
            let records: Vec<Record<u128>> = keys.iter()
                .map(|&(key, value, shift)| Record { key: key >> (shift / 16 * 16), value })
                .collect();
            round_trip(records.clone(), Some(1), a.min(b), a.max(b));
            let narrow: Vec<Record<u64>> = records.iter()
                .map(|r| Record { key: r.key as u64, value: r.value }).collect();
            round_trip(narrow, None, a as u64 >> 2, u64::MAX);
        }
    }

    #[test]
    fn damage_is_found() {
        // Flip every byte of a small run, and some bytes of a run with several blocks.
        for (records, step) in [(200, 1), (9000, 211)] {
            flip(records, step);
        }
    }

    fn flip(records: u64, step: usize) {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = RunWriter::<u64>::create(directory.path(), 1, 9, None).unwrap();
        let record = |i: u64| Record {
            key: i * i / 2,
            value: i as u32 % 7,
        };
        for i in 0..records {
            writer.push(record(i)).unwrap();
        }
        let info = writer.finish().unwrap();
        let path = directory.path().join(&info.name);
        let bytes = std::fs::read(&path).unwrap();
        let all = |path: &Path| -> Result<Vec<Record<u64>>> {
            let run = RunFile::<u64>::open(Kind::Run, path, Some(9), Some(&info))?;
            let mut cursor = run.range(0, u64::MAX)?;
            let mut all = Vec::new();
            while let Some(record) = cursor.head() {
                all.push(record);
                cursor.advance()?;
            }
            Ok(all)
        };
        let right: Vec<_> = (0..records).map(record).collect();
        assert_eq!(all(&path).unwrap(), right);
        for at in (0..bytes.len()).step_by(step) {
            let mut bad = bytes.clone();
            bad[at] ^= 0x10;
            std::fs::write(&path, &bad).unwrap();
            // Damage gives an error or the same records, never different records.
            if let Ok(found) = all(&path) {
                assert_eq!(found, right, "flip at {at}");
            }
        }
    }
}
