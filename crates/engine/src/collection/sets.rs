//! The fingerprint sets of a segment: written and read in order, or looked up at random.

use crate::collection::SegmentEntry;
use lookalike_base::{Error, Key, Result, counted, limits, process};
use lookalike_store::{
    HEADER_BYTES, Header, Kind, MANIFEST_FILE, Mapped, PartFile, PartInfo, PartReader, PartWriter,
    Places, Workspace, check_sum, checksum,
};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use xxhash_rust::xxh3::Xxh3;

use super::{Catalogue, Column, Extent};

/// Keys passed on at once, because a set may be larger than memory.
const PIECE: usize = 16 << 10;
/// Bytes of sets per checksum. The first look at a set reads this much of a cold file. Each block
/// costs 8 bytes of checksum.
pub const SET_BLOCK_BYTES: usize = 64 << 10;

/// Writes the sets of a segment, with a checksum for every [`SET_BLOCK_BYTES`] of them.
pub struct SetWriter {
    part: PartWriter,
    block: Xxh3,
    filled: usize,
    sums: Vec<u8>,
}

impl SetWriter {
    /// Starts the sets of segment `number`.
    pub fn create(
        directory: &Path,
        parameters: u128,
        number: u64,
        key_bytes: usize,
    ) -> Result<Self> {
        let header = Header::new(Kind::Fingerprints, parameters, number, key_bytes);
        Ok(SetWriter {
            part: PartWriter::create(directory, &header)?,
            block: Xxh3::new(),
            filled: 0,
            sums: Vec::new(),
        })
    }

    /// Appends keys, little-endian.
    pub fn put(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.part.put(bytes)?;
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(SET_BLOCK_BYTES - self.filled));
            self.block.update(now);
            self.filled += now.len();
            bytes = later;
            if self.filled == SET_BLOCK_BYTES {
                self.close_block();
            }
        }
        Ok(())
    }

    /// Appends keys.
    pub fn put_keys<K: Key>(&mut self, keys: &[K], scratch: &mut Vec<u8>) -> Result<()> {
        for piece in keys.chunks(8192) {
            scratch.clear();
            for key in piece {
                key.put_le(scratch);
            }
            self.put(scratch)?;
        }
        Ok(())
    }

    fn close_block(&mut self) {
        let sum = self.block.digest();
        self.sums.extend_from_slice(&sum.to_le_bytes());
        self.block.reset();
        self.filled = 0;
    }

    /// Makes the part durable. The caller has put `records` keys.
    pub fn finish(mut self, records: u64) -> Result<PartInfo> {
        if self.filled > 0 {
            self.close_block();
        }
        let index = self.part.position();
        self.part.put(&self.sums)?;
        self.part.finish(records, index, 0)
    }
}

/// Reads the stored sets of a segment, document by document.
pub struct SetReader<K> {
    part: PartReader,
    piece: Vec<K>,
}

impl<K: Key> SetReader<K> {
    /// Opens a segment's sets.
    pub fn open(places: &Places, segment: &SegmentEntry) -> Result<Self> {
        let part = places.open("collection", Kind::Fingerprints, &segment.fingerprints)?;
        if part.header.key_bytes as usize != K::BYTES {
            return Err(part.corrupt("key size", K::BYTES, part.header.key_bytes));
        }
        Ok(SetReader {
            part,
            piece: Vec::new(),
        })
    }

    /// Passes the bytes of the next document's set of `size` keys to `take`, with room for the keys of
    /// a piece.
    fn each_piece(
        &mut self,
        size: u32,
        mut take: impl FnMut(&[u8], &mut Vec<K>) -> Result<()>,
    ) -> Result<()> {
        let mut left = size as usize;
        while left > 0 {
            let n = left.min(PIECE);
            self.piece.clear();
            take(self.part.take(n * K::BYTES)?, &mut self.piece)?;
            left -= n;
        }
        Ok(())
    }

    /// Reads the next document's set of `size` keys, in rising pieces.
    pub fn next(&mut self, size: u32, mut take: impl FnMut(&[K]) -> Result<()>) -> Result<()> {
        self.each_piece(size, |bytes, piece| {
            piece.extend(keys_of::<K>(bytes));
            take(piece)
        })
    }

    /// Reads the next document's keys within bounds, in rising pieces. `size` counts all its
    /// keys.
    pub(crate) fn next_within(
        &mut self,
        size: u32,
        bounds: (K, K),
        mut take: impl FnMut(&[K]) -> Result<()>,
    ) -> Result<()> {
        self.each_piece(size, |bytes, piece| {
            piece.extend(keys_of::<K>(within_le(bytes, bounds)));
            take(piece)
        })
    }

    /// Reads the next document's set of `size` keys in rising pieces: of each, the keys up to
    /// `greatest`, and the bytes of the others.
    pub(crate) fn next_split(
        &mut self,
        size: u32,
        greatest: K,
        mut take: impl FnMut(&[K], &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.each_piece(size, |bytes, piece| {
            let end = position(bytes, |key: K| key <= greatest) * K::BYTES;
            piece.extend(keys_of::<K>(&bytes[..end]));
            take(piece, &bytes[end..])
        })
    }

    /// Checks the whole part.
    pub fn finish(self) -> Result<()> {
        self.part.finish()
    }
}

/// Keys as they are stored.
pub(crate) fn keys_of<K: Key>(bytes: &[u8]) -> impl ExactSizeIterator<Item = K> {
    bytes.chunks_exact(K::BYTES).map(K::get_le)
}

/// The position of the first key, in a rising little-endian sequence, for which `before` is false.
pub(crate) fn position<K: Key>(keys: &[u8], before: impl Fn(K) -> bool) -> usize {
    let (mut low, mut high) = (0, keys.len() / K::BYTES);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(K::get_le(&keys[middle * K::BYTES..][..K::BYTES])) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// The keys of a rising little-endian sequence that are in `low..=high`.
pub fn within_le<K: Key>(keys: &[u8], (low, high): (K, K)) -> &[u8] {
    let from = position(keys, |key: K| key < low) * K::BYTES;
    let to = position(keys, |key: K| key <= high) * K::BYTES;
    &keys[from..to.max(from)]
}

/// Documents between two stored offsets.
const STRIDE: usize = 64;
/// The least number of bytes looked at between two readings of the kernel's count.
const LEAST_READ: u64 = 1 << 20;

/// The sets of a collection, mapped into memory for look-ups by document.
///
/// A block of a set is checked on the first look. The pages that were looked at are counted. When
/// they exceed the limit, they are given back to the kernel, and later looks check their blocks
/// again.
///
/// A thread looks at sets through a [`Looking`], which locks `alone` for reading. A thread that
/// gives pages back and clears the bits of checked blocks locks `alone` for writing. So pages are
/// never given back while another thread reads a set, or is between checking a block and setting
/// its bit. A set bit always shows that the block was checked after pages were last given back.
/// (The kernel may drop a page by itself at any time, and is trusted to read the same bytes again.)
#[derive(Debug)]
pub struct MappedSets {
    alone: RwLock<()>,
    /// The manifest, for errors: it says which segment contains a document.
    manifest: PathBuf,
    segments: Vec<MappedSegment>,
    stored: Column,
    /// For every [`STRIDE`]th document of a segment: the bytes of sets before it.
    offsets: Vec<u64>,
    key_bytes: usize,
    parameters: u128,
    /// Bytes of the blocks that were looked at since pages were last given back.
    resident: AtomicU64,
    /// `resident` at the last reading of the kernel's count.
    at_last_reading: AtomicU64,
    /// Bytes of other files that were mapped when these were opened.
    others: u64,
    most_resident: u64,
}

#[derive(Debug)]
struct MappedSegment {
    first_document: u32,
    /// Index in `offsets` of the first offset of this segment.
    first_offset: usize,
    map: Mapped,
    info: PartInfo,
    /// Bytes of sets in the payload. The checksums follow them.
    sets: usize,
    /// One bit per block, set if the block was checked since pages were last given back.
    checked: Vec<AtomicU64>,
}

/// Access to sets, which keeps their pages in memory. A thread has one at a time and drops it soon.
#[derive(Debug)]
pub struct Looking<'a> {
    sets: &'a MappedSets,
    _pages_stay: RwLockReadGuard<'a, ()>,
}

impl MappedSets {
    /// Bytes of memory for a collection, including the bits for the blocks of their files. Mapped
    /// pages are not included.
    pub fn bytes(extent: Extent) -> u64 {
        let documents = extent.documents;
        let offsets = documents / STRIDE as u64 * 8;
        extent.column_bytes() + offsets + extent.set_bytes / SET_BLOCK_BYTES as u64 / 8
    }

    /// Opens the sets of a collection. At most about `most_resident` bytes of their files are kept
    /// in memory.
    pub fn open<K: Key>(workspace: &Workspace, most_resident: u64) -> Result<MappedSets> {
        let bytes = Extent::of(super::segments(&workspace.manifest)).set_bytes;
        let files = super::segments(&workspace.manifest).len();
        let mapped = || counted(files as u64, "mapped file");
        limits::room_for_mappings(files, bytes, || format!("looking at {} of sets", mapped()))?;
        let stored = Catalogue::stored(workspace)?;
        let mut segments = Vec::with_capacity(files);
        let mut offsets = Vec::with_capacity(stored.len() / STRIDE + 1);
        for segment in super::segments(&workspace.manifest) {
            let (info, first) = (&segment.fingerprints, segment.first_document);
            let file = SetFile::open::<K>(workspace, segment)?;
            let first_offset = offsets.len();
            let mut offset = 0u64;
            let documents = u64::from(first)..u64::from(first) + segment.stats.documents;
            for (n, document) in documents.enumerate() {
                // A manifest that this program did not write may have more documents.
                let Some(stored) = u32::try_from(document).ok().and_then(|d| stored.get(d)) else {
                    break;
                };
                if n % STRIDE == 0 {
                    offsets.push(offset);
                }
                offset += u64::from(stored) * K::BYTES as u64;
            }
            if offset != file.sets as u64 {
                let (part, at) = (&file.part, (HEADER_BYTES + file.sets) as u64);
                return Err(part.corrupt(at, "bytes of sets (catalogue)", file.sets, offset));
            }
            segments.push(MappedSegment {
                first_document: first,
                first_offset,
                map: Mapped::of(&file.part)?,
                info: info.clone(),
                sets: file.sets,
                checked: file.checked,
            });
        }
        Ok(MappedSets {
            alone: RwLock::new(()),
            manifest: workspace.directory().join(MANIFEST_FILE),
            segments,
            stored,
            offsets,
            key_bytes: K::BYTES,
            parameters: workspace.collection_parameters(),
            resident: AtomicU64::new(0),
            at_last_reading: AtomicU64::new(0),
            others: process::mapped_bytes(),
            most_resident,
        })
    }

    /// Starts a look at a few sets. Gives pages back first if there are too many.
    pub fn look(&self) -> Looking<'_> {
        if self.too_many() {
            self.give_back(&self.alone.write().unwrap_or_else(PoisonError::into_inner));
        }
        Looking {
            sets: self,
            _pages_stay: self.alone.read().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Whether more pages are in memory than the limit allows. A kernel may map much more than a
    /// thread looks at (Linux 6.18 maps up to 2 MiB), so the kernel's count is read now and then.
    fn too_many(&self) -> bool {
        let resident = self.resident.load(Ordering::Relaxed);
        let before = self.at_last_reading.load(Ordering::Relaxed);
        if resident.saturating_sub(before) < LEAST_READ.max(self.most_resident / 64) {
            return resident >= self.most_resident;
        }
        self.at_last_reading.store(resident, Ordering::Relaxed);
        let mapped = process::mapped_bytes().saturating_sub(self.others);
        if mapped >= self.most_resident {
            (self.resident).fetch_max(self.most_resident, Ordering::Relaxed);
        }
        resident.max(mapped) >= self.most_resident
    }

    /// Gives all pages back, unless another thread has just done so.
    fn give_back(&self, _alone: &RwLockWriteGuard<'_, ()>) {
        // The relaxed operations here and where bits are set are ordered by the lock.
        if self.resident.load(Ordering::Relaxed) < self.most_resident {
            return;
        }
        self.resident.store(0, Ordering::Relaxed);
        self.at_last_reading.store(0, Ordering::Relaxed);
        for segment in &self.segments {
            segment.map.give_back();
            for word in &segment.checked {
                word.store(0, Ordering::Relaxed);
            }
        }
    }

    /// The number of keys that two documents share, and the keys of each.
    pub fn shared(&self, a: u32, b: u32) -> Result<[u64; 3]> {
        let keys = |document| (self.bytes_of(document) / self.key_bytes) as u64;
        let looking = self.look();
        let shared = match self.key_bytes {
            _ if a == b => Some(keys(a)),
            8 => u64::shared_le(looking.get(a)?, looking.get(b)?, 0),
            _ => u128::shared_le(looking.get(a)?, looking.get(b)?, 0),
        };
        Ok([shared.unwrap_or(0), keys(a), keys(b)])
    }

    /// The bytes of a document's set.
    pub fn bytes_of(&self, document: u32) -> usize {
        self.stored.get(document).unwrap_or(0) as usize * self.key_bytes
    }

    /// Reads sets in the order of the files, without mapping them.
    pub fn reader(&self) -> SetsInOrder<'_> {
        SetsInOrder {
            sets: self,
            file: None,
            block: SetBlock::default(),
        }
    }

    /// The segment of a document, and where its set is in the payload.
    fn place(&self, document: u32) -> Result<(&MappedSegment, Range<usize>)> {
        let at = (self.segments).partition_point(|segment| segment.first_document <= document);
        let missing = || {
            let expected = format!("a segment with it, of {} documents", self.stored.len());
            Error::corrupt(&self.manifest, format!("the set of document {document}"))
                .expected(expected, "none")
        };
        let segment = at.checked_sub(1).map(|at| &self.segments[at]);
        let (Some(segment), Some(stored)) = (segment, self.stored.get(document)) else {
            return Err(missing());
        };
        let n = (document - segment.first_document) as usize;
        let noted = document - (n % STRIDE) as u32;
        let before = self.stored.sum(noted, document);
        // A manifest that this program did not write may have documents that are in no segment.
        let offset = self.offsets.get(segment.first_offset + n / STRIDE);
        let start = *offset.ok_or_else(missing)? as usize + before as usize * self.key_bytes;
        let end = start + stored as usize * self.key_bytes;
        if end > segment.sets {
            return Err(missing());
        }
        Ok((segment, start..end))
    }

    fn look_at(&self, segment: &MappedSegment, block: usize) -> Result<()> {
        let (word, bit) = (&segment.checked[block / 64], 1u64 << (block % 64));
        if word.load(Ordering::Relaxed) & bit != 0 {
            return Ok(());
        }
        self.resident
            .fetch_add(SET_BLOCK_BYTES as u64, Ordering::Relaxed);
        let from = block * SET_BLOCK_BYTES;
        let to = (from + SET_BLOCK_BYTES).min(segment.sets);
        segment.map.will_need(from, to - from);
        let bytes = segment.map.bytes();
        let stated = u64::get_le(&bytes[segment.sets + block * 8..][..8]);
        check_block(segment.map.path(), block, stated, &bytes[from..to])?;
        word.fetch_or(bit, Ordering::Relaxed);
        Ok(())
    }
}

/// The blocks that a range of the payload touches.
fn blocks_of(range: &Range<usize>) -> Range<usize> {
    let end = range.start + range.len();
    range.start / SET_BLOCK_BYTES..end.div_ceil(SET_BLOCK_BYTES)
}

fn check_block(path: &Path, block: usize, stated: u64, bytes: &[u8]) -> Result<()> {
    check_sum(stated, checksum(bytes), |stated, found| {
        let at = (HEADER_BYTES + block * SET_BLOCK_BYTES) as u64;
        let block = Error::corrupt(path, format!("checksum of block {block} of the sets"));
        block.at(at).expected(stated, found)
    })
}

/// The block of a file of sets that was read last, for the next set in it.
#[derive(Debug, Default)]
pub struct SetBlock {
    number: Option<usize>,
    bytes: Vec<u8>,
}

/// The sets of a segment, read at random without mapping them.
#[derive(Debug)]
pub struct SetFile {
    part: PartFile,
    /// Bytes of sets in the payload. The checksums follow them.
    sets: usize,
    /// A bit for each block that was checked.
    checked: Vec<AtomicU64>,
}

impl SetFile {
    /// Opens the sets of a segment in a workspace.
    pub fn open<K: Key>(workspace: &Workspace, segment: &SegmentEntry) -> Result<SetFile> {
        let info = &segment.fingerprints;
        let path = workspace.part("collection", &info.name);
        SetFile::of(&path, workspace.collection_parameters(), info, K::BYTES)
    }

    fn of(path: &Path, parameters: u128, info: &PartInfo, key_bytes: usize) -> Result<SetFile> {
        let part = PartFile::open(path, Kind::Fingerprints, Some(parameters), Some(info))?;
        let sets = info.records.saturating_mul(key_bytes as u64);
        let all = sets.saturating_add(sets.div_ceil(SET_BLOCK_BYTES as u64).saturating_mul(8));
        if all != part.footer.payload_bytes {
            let found = part.footer.payload_bytes;
            return Err(part.corrupt(part.payload_end(), "bytes of payload", all, found));
        }
        let sets = sets as usize;
        let words = 0..sets.div_ceil(SET_BLOCK_BYTES).div_ceil(64);
        Ok(SetFile {
            part,
            sets,
            checked: words.map(|_| AtomicU64::new(0)).collect(),
        })
    }

    /// Reads the bytes of the payload in `range` to `out`.
    pub fn read(&self, range: Range<u64>, block: &mut SetBlock, out: &mut Vec<u8>) -> Result<()> {
        let range = range.start as usize..range.end as usize;
        if range.end > self.sets || range.start > range.end {
            let (expected, found) = (format!("up to byte {}", self.sets), range.end);
            let offset = (HEADER_BYTES + range.start) as u64;
            return Err(self.part.corrupt(offset, "end of a set", expected, found));
        }
        out.resize(range.len(), 0);
        self.fill(range, block, out)
    }

    /// Reads a range of the sets. Checks each block that it touches when it is touched for the first
    /// time; later, only the bytes in `range` are read, unless the block is still there.
    fn fill(&self, range: Range<usize>, block: &mut SetBlock, mut out: &mut [u8]) -> Result<()> {
        for number in blocks_of(&range) {
            let first = number * SET_BLOCK_BYTES;
            let from = range.start.max(first);
            let to = range.end.min(first + SET_BLOCK_BYTES);
            let (now, later) = out.split_at_mut(to - from);
            out = later;
            let (word, bit) = (&self.checked[number / 64], 1 << (number % 64));
            if block.number != Some(number) {
                if word.load(Ordering::Relaxed) & bit > 0 {
                    self.part.read_at(now, (HEADER_BYTES + from) as u64)?;
                    continue;
                }
                block.number = None;
                self.read_block(number, &mut block.bytes)?;
                block.number = Some(number);
                word.fetch_or(bit, Ordering::Relaxed);
            }
            now.copy_from_slice(&block.bytes[from - first..to - first]);
        }
        Ok(())
    }

    /// Reads and checks a block.
    fn read_block(&self, block: usize, bytes: &mut Vec<u8>) -> Result<()> {
        let from = block * SET_BLOCK_BYTES;
        bytes.resize(SET_BLOCK_BYTES.min(self.sets - from), 0);
        self.part.read_at(bytes, (HEADER_BYTES + from) as u64)?;
        let mut stated = [0; 8];
        let place = (HEADER_BYTES + self.sets + block * 8) as u64;
        self.part.read_at(&mut stated, place)?;
        check_block(self.part.path(), block, u64::from_le_bytes(stated), bytes)
    }
}

/// Reads the sets of rising document numbers. It reads each block once.
#[derive(Debug)]
pub struct SetsInOrder<'s> {
    sets: &'s MappedSets,
    /// The first document of the open segment, and the file of the segment.
    file: Option<(u32, SetFile)>,
    block: SetBlock,
}

impl SetsInOrder<'_> {
    /// Copies the set of a document, which has this number of bytes ([`MappedSets::bytes_of`]).
    pub fn read(&mut self, document: u32, out: &mut [u8]) -> Result<()> {
        let (segment, range) = self.sets.place(document)?;
        let first = segment.first_document;
        let file = match &mut self.file {
            Some((opened, file)) if *opened == first => file,
            file => {
                let (parameters, bytes) = (self.sets.parameters, self.sets.key_bytes);
                let opened = SetFile::of(segment.map.path(), parameters, &segment.info, bytes)?;
                self.block.number = None;
                &mut file.insert((first, opened)).1
            }
        };
        file.fill(range, &mut self.block, out)
    }
}

impl Looking<'_> {
    /// The keys of a document's set, little-endian and rising.
    pub fn get(&self, document: u32) -> Result<&[u8]> {
        let (segment, range) = self.sets.place(document)?;
        for block in blocks_of(&range) {
            self.sets.look_at(segment, block)?;
        }
        // The range is inside the payload: opening checked that the set sizes of a segment add up
        // to its file size.
        Ok(&segment.map.bytes()[range])
    }
}

/// Sets of these sizes, of keys that rise through all of them, in one segment.
#[cfg(test)]
pub(super) fn sets_of(directory: &Path, sizes: &[usize], most_resident: u64) -> MappedSets {
    let keys: usize = sizes.iter().sum();
    let mut writer = SetWriter::create(directory, 5, 0, 8).unwrap();
    let bytes: Vec<u8> = (0..keys as u64).flat_map(u64::to_le_bytes).collect();
    writer.put(&bytes).unwrap();
    let info = writer.finish(keys as u64).unwrap();
    let path = directory.join(&info.name);
    let ends = sizes.iter().scan(0, |end, size| {
        *end += *size as u64 * 8;
        Some(*end)
    });
    let starts = std::iter::once(0).chain(ends).step_by(STRIDE);
    let file = SetFile::of(&path, 5, &info, 8).unwrap();
    MappedSets {
        alone: RwLock::new(()),
        manifest: PathBuf::new(),
        segments: vec![MappedSegment {
            first_document: 0,
            first_offset: 0,
            map: Mapped::of(&file.part).unwrap(),
            info,
            sets: file.sets,
            checked: file.checked,
        }],
        stored: sizes.iter().map(|&size| size as u32).collect(),
        offsets: starts.collect(),
        key_bytes: 8,
        parameters: 5,
        resident: AtomicU64::new(0),
        at_last_reading: AtomicU64::new(0),
        // Other tests of this process map files at the same time, so what the kernel counts says
        // nothing about these.
        others: u64::MAX,
        most_resident,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One thread could set the bit of a checked block after another thread had given the pages
    /// back and cleared the bits. The block was then read again without a check.
    #[test]
    fn pages_stay_while_they_are_looked_at_and_are_checked_again_after() {
        let directory = tempfile::tempdir().unwrap();
        let block = SET_BLOCK_BYTES / 8;
        let sets = sets_of(directory.path(), &[block; 3], SET_BLOCK_BYTES as u64);
        let path = sets.segments[0].map.path();
        let checked = || sets.segments[0].checked[0].load(Ordering::Relaxed);
        let looking = sets.look();
        looking.get(0).unwrap();
        // This exceeds the limit, but giving pages back has to wait for this look.
        looking.get(1).unwrap();
        assert!(sets.alone.try_write().is_err());
        assert_eq!(checked(), 0b011);
        // Another look does not have to wait.
        assert!(sets.alone.try_read().is_ok());
        drop(looking);
        // The next look gives the pages back, and its blocks are checked again.
        let looking = sets.look();
        assert_eq!(checked(), 0);
        looking.get(2).unwrap();
        assert_eq!(checked(), 0b100);
        drop(looking);
        // A change on disk since then is found.
        use std::os::unix::fs::FileExt;
        let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        file.write_all_at(&[9], HEADER_BYTES as u64 + 2 * SET_BLOCK_BYTES as u64)
            .unwrap();
        sets.look().get(2).unwrap_err();
    }

    /// The program's own pages count as mapped here, so the kernel's count is above the limit
    /// though the blocks looked at are below it.
    #[cfg(target_os = "linux")]
    #[test]
    fn pages_are_given_back_when_the_kernel_counts_more_than_was_looked_at() {
        let directory = tempfile::tempdir().unwrap();
        let block = SET_BLOCK_BYTES / 8;
        let mut sets = sets_of(directory.path(), &[block; 40], 2 << 20);
        let checked = |sets: &MappedSets| {
            let words = sets.segments[0].checked.iter();
            words
                .map(|word| word.load(Ordering::Relaxed).count_ones())
                .sum::<u32>()
        };
        let look = |sets: &MappedSets| {
            for document in 0..20 {
                sets.look().get(document).unwrap();
            }
            checked(sets)
        };
        assert!(process::mapped_bytes() > 2 << 20);
        assert_eq!(look(&sets), 20);
        let directory = tempfile::tempdir().unwrap();
        sets = sets_of(directory.path(), &[block; 40], 2 << 20);
        sets.others = 0;
        assert!(look(&sets) < 20);
    }

    #[test]
    fn every_block_has_a_checksum() {
        for keys in [0, 1, 8191, 8192, 8193, 20_000] {
            let directory = tempfile::tempdir().unwrap();
            let mut writer = SetWriter::create(directory.path(), 5, 0, 8).unwrap();
            let bytes: Vec<u8> = (0..keys as u64).flat_map(u64::to_le_bytes).collect();
            for piece in bytes.chunks(5000) {
                writer.put(piece).unwrap();
            }
            let info = writer.finish(keys as u64).unwrap();
            let path = directory.path().join(&info.name);
            let part = PartFile::open(&path, Kind::Fingerprints, Some(5), Some(&info)).unwrap();
            let map = Mapped::of(&part).unwrap();
            let (sets, sums) = map.bytes().split_at(keys * 8);
            assert_eq!(sets, bytes);
            let expected: Vec<u8> = bytes
                .chunks(SET_BLOCK_BYTES)
                .flat_map(|block| checksum(block).to_le_bytes())
                .collect();
            assert_eq!(sums, expected);
        }
    }
}
