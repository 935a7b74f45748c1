//! Shared postings on disk.

use std::path::{Path, PathBuf};

use crate::collection::decompress;
use lookalike_base::{Error, Key, Result, room_for_block};
use lookalike_store::{
    Header, KeyColumn, Kind, PartInfo, PartReader, PartWriter, Places, check_sum, checksum,
    pack_u32, unpack_u32,
};

/// Entries (documents in lists) after which a block is full.
const BLOCK_ENTRIES: usize = 16 << 10;
const CODEC_PACKED: u32 = 0;
const CODEC_ZSTD: u32 = 1;
/// Bytes before a block's body.
const HEAD: usize = 32;

/// The posting lists of a block, in columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostingsBlock<K> {
    /// The fingerprint of each list, ascending.
    pub keys: Vec<K>,
    /// The number of documents of each list, 2 or more.
    pub lengths: Vec<u32>,
    /// The documents of all lists, one list after the other; ascending within each list.
    pub documents: Vec<u32>,
}

impl<K> PostingsBlock<K> {
    /// The documents of each list.
    #[inline]
    pub fn lists(&self) -> impl Iterator<Item = &[u32]> {
        let mut rest = &self.documents[..];
        self.lengths.iter().map(move |&length| {
            let list;
            (list, rest) = rest.split_at(length as usize);
            list
        })
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.lengths.clear();
        self.documents.clear();
    }
}

/// Writes the postings of a range.
pub struct PostingsWriter<K> {
    out: PartWriter,
    block: PostingsBlock<K>,
    lists: u64,
    entries: u64,
    column: KeyColumn,
    gaps: Vec<u32>,
    body: Vec<u8>,
    compressor: Option<zstd::bulk::Compressor<'static>>,
    packed: Vec<u8>,
}

impl<K: Key> PostingsWriter<K> {
    /// Starts the postings of range `number`.
    pub fn create(
        directory: &Path,
        parameters: u128,
        number: u64,
        zstd_level: Option<i32>,
    ) -> Result<Self> {
        let header = Header::new(Kind::Postings, parameters, number, K::BYTES);
        let compressor = zstd_level.map(zstd::bulk::Compressor::new).transpose();
        Ok(PostingsWriter {
            out: PartWriter::create(directory, &header)?,
            block: PostingsBlock::default(),
            lists: 0,
            entries: 0,
            column: KeyColumn::default(),
            gaps: Vec::new(),
            body: Vec::new(),
            compressor: compressor.map_err(Error::io("set up compression of", directory))?,
            packed: Vec::new(),
        })
    }

    /// Appends a list of two or more documents, in ascending order.
    pub fn push(&mut self, key: K, documents: impl ExactSizeIterator<Item = u32>) -> Result<()> {
        self.block.keys.push(key);
        self.block.lengths.push(documents.len() as u32);
        self.block.documents.extend(documents);
        if self.block.documents.len() >= BLOCK_ENTRIES {
            self.flush()?;
        }
        Ok(())
    }

    /// Appends a list as a block of its own, and keeps no memory for it.
    pub(super) fn push_alone(&mut self, key: K, documents: Vec<u32>) -> Result<()> {
        self.flush()?;
        self.block.keys.push(key);
        self.block.lengths.push(documents.len() as u32);
        self.block.documents = documents;
        self.flush()?;
        self.block.documents = Vec::new();
        (self.body, self.packed) = (Vec::new(), Vec::new());
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if self.block.keys.is_empty() {
            return Ok(());
        }
        let (lists, entries) = (self.block.keys.len(), self.block.documents.len());
        self.body.clear();
        self.column
            .pack(self.block.keys.iter().copied(), &mut self.body);
        pack_u32(&self.block.lengths, &mut self.body);
        // First documents and gaps are separate columns, because each column has its own width.
        if lists == 1 {
            // In place, because the list may be long.
            let list = &mut self.block.documents;
            pack_u32(&list[..1], &mut self.body);
            for at in 1..list.len() {
                list[at - 1] = list[at] - list[at - 1];
            }
            pack_u32(&list[..list.len() - 1], &mut self.body);
        } else {
            self.gaps.clear();
            let mut firsts = Vec::with_capacity(lists);
            for list in self.block.lists() {
                firsts.push(list[0]);
                self.gaps
                    .extend(list.windows(2).map(|pair| pair[1] - pair[0]));
            }
            pack_u32(&firsts, &mut self.body);
            pack_u32(&self.gaps, &mut self.body);
        }
        let mut codec = CODEC_PACKED;
        let raw = self.body.len();
        if let Some(compressor) = &mut self.compressor {
            self.packed.clear();
            self.packed.reserve(zstd::zstd_safe::compress_bound(raw));
            let done = compressor.compress_to_buffer(&self.body, &mut self.packed);
            done.map_err(Error::io("compress a block of", self.out.path()))?;
            if self.packed.len() < raw {
                std::mem::swap(&mut self.body, &mut self.packed);
                codec = CODEC_ZSTD;
            }
        }
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(&(lists as u32).to_le_bytes());
        head[4..8].copy_from_slice(&(entries as u32).to_le_bytes());
        head[8..12].copy_from_slice(&(self.body.len() as u32).to_le_bytes());
        head[12..16].copy_from_slice(&codec.to_le_bytes());
        head[16..24].copy_from_slice(&(raw as u64).to_le_bytes());
        head[24..].copy_from_slice(&checksum(&self.body).to_le_bytes());
        self.out.put(&head)?;
        self.out.put(&self.body)?;
        self.lists += lists as u64;
        self.entries += entries as u64;
        self.block.clear();
        Ok(())
    }

    /// Makes the part durable. Its records are the lists, and its `extra` is their documents.
    pub fn finish(mut self) -> Result<PartInfo> {
        self.flush()?;
        self.out.finish(self.lists, 0, self.entries)
    }
}

/// A block of postings as it is on disk. Any thread can decode it.
#[derive(Debug, Default)]
pub struct PackedBlock {
    lists: usize,
    /// The number of documents in all lists.
    pub entries: usize,
    codec: u32,
    raw: usize,
    checksum: u64,
    body: Vec<u8>,
    path: PathBuf,
    offset: u64,
}

impl PackedBlock {
    /// Returns an error if `lists`, which are lists of this block, name a document whose number is
    /// not below `documents`.
    pub fn check(&self, lists: &[u32], documents: usize) -> Result<()> {
        match lists.iter().max() {
            Some(&most) if most as usize >= documents => Err(self.corrupt(
                "a document in a posting list",
                format!("a number below {documents}"),
                most,
            )),
            _ => Ok(()),
        }
    }

    fn corrupt(&self, what: &str, expected: impl ToString, found: impl ToString) -> Error {
        Error::corrupt(&self.path, what)
            .at(self.offset)
            .expected(expected, found)
    }
}

/// Decodes blocks. It reuses its buffers.
#[derive(Default)]
pub struct PostingsDecoder<K> {
    block: PostingsBlock<K>,
    column: KeyColumn,
    firsts: Vec<u32>,
    gaps: Vec<u32>,
    unpacked: Vec<u8>,
}

impl<K: Key> PostingsDecoder<K> {
    /// Decodes the lists of a block.
    pub fn decode(&mut self, packed: &PackedBlock) -> Result<&PostingsBlock<K>> {
        self.decode_some(packed, true)
    }

    /// Decodes the lists of a block without their keys.
    pub fn decode_lists(&mut self, packed: &PackedBlock) -> Result<&PostingsBlock<K>> {
        self.decode_some(packed, false)
    }

    fn decode_some(&mut self, packed: &PackedBlock, keys: bool) -> Result<&PostingsBlock<K>> {
        let (lists, entries) = (packed.lists, packed.entries);
        let corrupt = |stated, found| packed.corrupt("checksum of a block", stated, found);
        check_sum(packed.checksum, checksum(&packed.body), corrupt)?;
        let body = match packed.codec {
            CODEC_PACKED => &packed.body[..],
            CODEC_ZSTD => {
                // The checksum covers the body of a block and not its head. So the size that zstd
                // states in the body decides how much memory is allocated.
                let inside = zstd::zstd_safe::get_frame_content_size(&packed.body).ok();
                let inside = inside.flatten().unwrap_or(0);
                if inside != packed.raw as u64 {
                    return Err(packed.corrupt("bytes of a block, unpacked", inside, packed.raw));
                }
                decompress(&packed.body, packed.raw, &mut self.unpacked)
                    .map_err(|e| packed.corrupt("block", "zstd", e))?;
                &self.unpacked[..]
            }
            other => return Err(packed.corrupt("codec", "0 or 1", other)),
        };
        let block = &mut self.block;
        block.clear();
        self.firsts.clear();
        self.gaps.clear();
        let rest = if keys {
            self.column.unpack(body, lists, &mut block.keys)
        } else {
            KeyColumn::skip::<K>(body, lists)
        };
        let columns = rest.and_then(|rest| {
            let rest = unpack_u32(rest, lists, &mut block.lengths)?;
            let rest = unpack_u32(rest, lists, &mut self.firsts)?;
            let rest = unpack_u32(rest, entries - lists, &mut self.gaps)?;
            let total: u64 = block.lengths.iter().map(|&n| u64::from(n)).sum();
            (rest.is_empty() && total == entries as u64 && !block.lengths.contains(&0))
                .then_some(())
        });
        if columns.is_none() {
            return Err(packed.corrupt("block", "columns with the stated counts", "other counts"));
        }
        block.documents.resize(entries, 0);
        // The lengths add up to the number of entries. A list has one gap fewer than documents.
        let (mut documents, mut gaps) = (&mut block.documents[..], &self.gaps[..]);
        for (&first, &length) in self.firsts.iter().zip(&block.lengths) {
            let (list, after) = documents.split_at_mut(length as usize);
            let (own, rest) = gaps.split_at(length as usize - 1);
            (documents, gaps) = (after, rest);
            let mut document = first;
            list[0] = document;
            for (next, &gap) in list[1..].iter_mut().zip(own) {
                document = document.wrapping_add(gap);
                *next = document;
            }
        }
        Ok(&self.block)
    }
}

/// Reads the postings of a range, block by block.
pub struct PostingsReader<K> {
    part: PartReader,
    packed: PackedBlock,
    decoder: PostingsDecoder<K>,
    lists: u64,
    entries: u64,
    /// The most entries of a block.
    most: u64,
}

impl<K: Key> PostingsReader<K> {
    /// Opens a postings part of a collection of any size.
    pub fn open(path: &Path, parameters: Option<u128>, info: Option<&PartInfo>) -> Result<Self> {
        let part = PartReader::open(path, Kind::Postings, parameters, info)?;
        if part.header.key_bytes as usize != K::BYTES {
            return Err(part.corrupt("key size", K::BYTES, part.header.key_bytes));
        }
        Ok(PostingsReader {
            part,
            packed: PackedBlock::default(),
            decoder: PostingsDecoder::default(),
            lists: 0,
            entries: 0,
            most: u32::MAX.into(),
        })
    }

    /// The same part, of a collection of this number of documents: a larger block is refused before
    /// it takes memory.
    pub fn of(mut self, documents: u64) -> Self {
        // A block is full before its last list, which has each document once at most.
        self.most = documents.saturating_add(BLOCK_ENTRIES as u64);
        self
    }

    /// Opens the postings of a range of a collection of this number of documents.
    pub(super) fn of_range(places: &Places, info: &PartInfo, documents: u64) -> Result<Self> {
        let path = places.part("postings", &info.name);
        let reader = PostingsReader::open(&path, Some(places.parameters), Some(info))?;
        Ok(reader.of(documents))
    }

    /// Reads the next block without decoding it; `false` after the last block.
    pub fn take_packed(&mut self, out: &mut PackedBlock) -> Result<bool> {
        if self.part.remaining() == 0 {
            return Ok(false);
        }
        let offset = self.part.position();
        let mut head = [0; HEAD];
        head.copy_from_slice(self.part.take(HEAD)?);
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (lists, entries) = (word(0) as usize, word(4) as usize);
        let raw = usize::try_from(u64::get_le(&head[16..24])).unwrap_or(usize::MAX);
        let left = self.part.footer.extra.saturating_sub(self.entries);
        let left = left.min(self.most);
        // No body is larger than its unpacked columns and a byte of width for each frame.
        let most = K::BYTES + (lists + entries) * (K::BYTES + 12) + 64;
        if lists == 0
            || entries < 2 * lists
            || entries as u64 > left
            || raw > most
            || word(8) as usize > raw
        {
            let found = format!("{lists} lists, {entries} entries, {raw} bytes");
            let expected = format!("lists of two documents or more, at most {left} entries");
            return Err(self.part.corrupt("block", expected, found));
        }
        if self.most >= u32::MAX.into() {
            // Columns of a few bytes may state any number of entries.
            let bytes = 4 * entries as u64;
            room_for_block(bytes.max(raw as u64), || {
                format!(
                    "a block of {entries} entries in {}",
                    self.part.path().display()
                )
            })?;
        }
        let body = self.part.take(word(8) as usize)?;
        out.body.clear();
        out.body.extend_from_slice(body);
        if out.path != self.part.path() {
            out.path = self.part.path().into();
        }
        (out.lists, out.entries, out.raw) = (lists, entries, raw);
        (out.codec, out.checksum) = (word(12), u64::get_le(&head[24..]));
        out.offset = offset;
        self.lists += lists as u64;
        self.entries += entries as u64;
        Ok(true)
    }

    /// Reads and decodes the next block; `None` after the last block.
    pub fn next(&mut self) -> Result<Option<&PostingsBlock<K>>> {
        let mut packed = std::mem::take(&mut self.packed);
        let more = self.take_packed(&mut packed);
        self.packed = packed;
        if more? {
            self.decoder.decode(&self.packed).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Like [`PostingsReader::next`], but a document that is not below `documents` is an error.
    pub(crate) fn next_below(&mut self, documents: usize) -> Result<Option<&PostingsBlock<K>>> {
        if self.next()?.is_none() {
            return Ok(None);
        }
        let block = &self.decoder.block;
        self.packed.check(&block.documents, documents)?;
        Ok(Some(block))
    }

    /// Checks the whole part after its last block has been read.
    pub fn finish(self) -> Result<()> {
        let (lists, entries) = (self.part.footer.records, self.part.footer.extra);
        if (lists, entries) != (self.lists, self.entries) {
            let stated = format!("{lists} with {entries} entries");
            let found = format!("{} with {}", self.lists, self.entries);
            return Err(self.part.corrupt("posting lists", stated, found));
        }
        self.part.finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip<K: Key>(lists: &[(K, Vec<u32>)], level: Option<i32>) {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = PostingsWriter::create(directory.path(), 5, 2, level).unwrap();
        for (key, documents) in lists {
            writer.push(*key, documents.iter().copied()).unwrap();
        }
        let info = writer.finish().unwrap();
        let path = directory.path().join(&info.name);
        let mut reader = PostingsReader::<K>::open(&path, Some(5), Some(&info)).unwrap();
        let mut back = Vec::new();
        while let Some(block) = reader.next().unwrap() {
            for (key, list) in block.keys.iter().zip(block.lists()) {
                back.push((*key, list.to_vec()));
            }
        }
        reader.finish().unwrap();
        assert_eq!(back, lists);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn lists_round_trip(mut keys in prop::collection::vec(any::<u128>(), 0..400),
                            sizes in prop::collection::vec(2usize..40, 400),
                            start in any::<u32>()) {
            keys.sort_unstable();
            keys.dedup();
            let lists = keys.iter().zip(&sizes).enumerate();
            let lists: Vec<(u128, Vec<u32>)> = lists.map(|(i, (&key, &n))| {
                let first = (start >> (i % 32)).min(u32::MAX - 50_000);
                (key, (0..n as u32).map(|j| first + j * (1 + i as u32 % 900)).collect())
            }).collect();
            round_trip(&lists, Some(1));
            let narrow: Vec<(u64, Vec<u32>)> =
                lists.iter().map(|(key, list)| ((key >> 64) as u64, list.clone())).collect();
            round_trip(&narrow, None);
        }
    }

    #[test]
    fn long_lists() {
        let long: Vec<u32> = (0..100_000).collect();
        round_trip(
            &[(1u64, vec![0, u32::MAX]), (2, long), (u64::MAX, vec![3, 4])],
            Some(1),
        );
        round_trip::<u64>(&[], None);
    }

    /// A block may be as long as a list of all documents, and was unpacked whatever it said.
    #[test]
    fn blocks_have_no_more_entries_than_the_collection_has_documents() {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = PostingsWriter::create(directory.path(), 5, 2, Some(1)).unwrap();
        writer.push(1u64, 0..100_000).unwrap();
        let info = writer.finish().unwrap();
        let path = directory.path().join(&info.name);
        let next = |documents| {
            let reader = PostingsReader::<u64>::open(&path, Some(5), Some(&info));
            let mut reader = reader.unwrap().of(documents);
            reader.next().map(|block| block.is_some())
        };
        let least = 100_000 - BLOCK_ENTRIES as u64;
        assert!(next(least).unwrap());
        let error = next(least - 1).unwrap_err().to_string();
        assert!(error.contains("at most 99999 entries"), "{error}");
    }

    #[test]
    fn a_document_outside_the_collection_is_reported_with_its_block() {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = PostingsWriter::create(directory.path(), 5, 2, None).unwrap();
        writer.push(7u64, [3, 9].into_iter()).unwrap();
        let info = writer.finish().unwrap();
        let path = directory.path().join(&info.name);
        let open = || PostingsReader::<u64>::open(&path, Some(5), Some(&info)).unwrap();
        assert!(open().next_below(10).unwrap().is_some());
        let error = open().next_below(9).unwrap_err().to_string();
        let corrupt = "is corrupt at byte 64: a document in a posting list: \
                       expected a number below 9, found 9";
        assert_eq!(error, format!("{} {corrupt}", path.display()));
    }

    #[test]
    fn a_damaged_head_of_a_block_takes_no_memory() {
        let directory = tempfile::tempdir().unwrap();
        let long: Vec<u32> = (0..100_000).collect();
        let mut writer = PostingsWriter::create(directory.path(), 5, 2, Some(1)).unwrap();
        writer.push(7u64, long.iter().copied()).unwrap();
        let info = writer.finish().unwrap();
        let path = directory.path().join(&info.name);
        let bytes = std::fs::read(&path).unwrap();
        // The head of the first block: entries at 4, bytes unpacked at 16.
        for (at, number) in [(4, 1u64 << 29), (16, 1 << 20)] {
            let mut bad = bytes.clone();
            let place = lookalike_store::HEADER_BYTES + at;
            let width = if at == 4 { 4 } else { 8 };
            bad[place..place + width].copy_from_slice(&number.to_le_bytes()[..width]);
            std::fs::write(&path, &bad).unwrap();
            let mut reader = PostingsReader::<u64>::open(&path, Some(5), Some(&info)).unwrap();
            let error = reader.next().unwrap_err();
            let what = match &error {
                Error::Corrupt { what, .. } => what.as_str(),
                _ => "",
            };
            assert!(
                what == "block" || what == "bytes of a block, unpacked",
                "{error}"
            );
            assert!(reader.decoder.unpacked.capacity() == 0, "{at}");
        }
    }
}
