//! Looks keys up.

use std::ops::Range;
use std::path::Path;

use super::lists::{BLOCK_HEAD, BLOCK_LISTS, CHUNK, CHUNK_HEAD, sum};
use super::{DIRECTORY, KEY_BITS, Layout, Level, MOST_RANGES, SHORT, leading};
use lookalike_base::{Criterion, Error, Key, Result};
use lookalike_store::{
    HEADER_BYTES, Kind, PartFile, PartInfo, Workspace, check_sum, unpack_u32, unpack_u64,
};

/// Bytes read at first for a block: most blocks fit.
const GUESS: usize = 1 << 10;
/// Bytes that are read at once where many blocks are read in their order. It takes as long as six
/// reads of one block, so it pays if the blocks are less than [`FAR`] bytes apart.
const WINDOW: usize = 64 << 10;
const FAR: u64 = 6 << 10;
/// Bytes of the place and the length of a long list.
const PLACE: usize = 16;
/// Bytes of a table that are read at once.
const TABLE_PIECE: usize = 4 << 10;
/// The most bytes of a block or chunk. A damaged length above this must not allocate memory.
const MOST_BYTES: usize = 1 << 20;

/// An index, opened for look-ups. Several threads can look keys up.
#[derive(Debug)]
pub struct Index {
    levels: Vec<OfLevel>,
    /// Whether it has all keys of a document, not only the least.
    pub(super) has_all: bool,
}

#[derive(Debug)]
struct OfLevel {
    layout: Layout,
    parts: Vec<PartFile>,
    /// Distinct keys.
    lists: u64,
    filter: Option<Filter>,
}

/// Says of most keys that a level does not have them, without reading it: a Bloom filter with one
/// hash function, the key itself.
#[derive(Debug)]
struct Filter(Vec<u64>);

impl Filter {
    /// Bits for each key: about an eighth of the other keys pass.
    const BITS: u64 = 8;

    fn bit(&self, key: u64) -> (usize, u64) {
        let bits = self.0.len() as u128 * 64;
        let bit = (u128::from(key) * bits) >> KEY_BITS;
        ((bit / 64) as usize, 1 << (bit % 64))
    }

    fn passes(&self, key: u64) -> bool {
        let (word, bit) = self.bit(key);
        self.0[word] & bit != 0
    }
}

/// Where a long list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListPlace {
    /// Number of documents. If two keys agree in the bits that the index keeps, it may count a
    /// document of both twice.
    pub length: u64,
    /// Its level, and the range of keys there.
    part: (usize, usize),
    offset: u64,
}

/// Buffers of a thread that looks keys up.
#[derive(Debug, Default)]
pub struct Buffers {
    window: Option<Window>,
    bytes: Vec<u8>,
    columns: BlockColumns,
    numbers: Vec<u32>,
}

/// The lists of a block.
#[derive(Debug, Default)]
struct BlockColumns {
    /// The keys, each as the gap behind the one before.
    keys: Vec<u64>,
    lengths: Vec<u32>,
    /// The first documents of short lists, and the gaps behind them.
    firsts: Vec<u32>,
    gaps: Vec<u32>,
}

impl BlockColumns {
    /// Unpacks the keys of a block; `None` if it is too short. Returns the rest of the block.
    fn keys<'b>(&mut self, block: &'b [u8], lists: usize) -> Option<&'b [u8]> {
        self.keys.clear();
        unpack_u64(block, lists, &mut self.keys)
    }

    /// Unpacks the lists of these keys. Returns the places of long lists.
    fn lists<'b>(&mut self, rest: &'b [u8]) -> Option<&'b [u8]> {
        self.lengths.clear();
        self.firsts.clear();
        self.gaps.clear();
        let rest = unpack_u32(rest, self.keys.len(), &mut self.lengths)?;
        let all = Places::behind(&self.lengths);
        let rest = unpack_u32(rest, all.short, &mut self.firsts)?;
        let rest = unpack_u32(rest, all.gaps, &mut self.gaps)?;
        (rest.len() == all.long * PLACE).then_some(rest)
    }
}

/// Bytes of a part that were read at once, because the bytes that follow are also wanted.
#[derive(Debug, Default)]
struct Window {
    /// Bytes that are read at once.
    size: usize,
    place: u64,
    bytes: Vec<u8>,
}

impl Window {
    fn new(size: usize) -> Window {
        Window {
            size,
            ..Window::default()
        }
    }

    /// Copies the bytes at a place, which lie before `end`.
    fn read(&mut self, part: &PartFile, place: u64, end: u64, out: &mut [u8]) -> Result<()> {
        let held = |window: &Window| {
            let at = usize::try_from(place.checked_sub(window.place)?).ok()?;
            Some(at..at.checked_add(out.len())?)
        };
        if held(self).is_none_or(|range| range.end > self.bytes.len()) {
            let length = end.saturating_sub(place).min(self.size as u64) as usize;
            self.bytes.clear();
            self.bytes.resize(length.max(out.len()), 0);
            part.read_at(&mut self.bytes, place)?;
            self.place = place;
        }
        let bytes = held(self).and_then(|range| self.bytes.get(range));
        out.copy_from_slice(bytes.unwrap_or_default());
        Ok(())
    }
}

/// The lists of some keys. They are read in the order of the keys, with far fewer reads than keys,
/// because the first fingerprints of sorted sets are near each other in the index.
#[derive(Debug, Default)]
pub struct Lists {
    /// For each key, in the order in which the keys were given: its rank among the distinct keys.
    ranks: Vec<u32>,
    /// By these ranks.
    parts: Vec<(u32, ListPart)>,
    documents: Vec<u32>,
}

/// The part of a key's list that one level has.
#[derive(Debug)]
enum ListPart {
    /// Where its documents are.
    Short(Range<usize>),
    Long(ListPlace),
}

impl Lists {
    /// The number of documents of the n-th key. The documents of short lists are appended to `short`,
    /// level by level and there in order, and the places of long ones to `long`; [`Index::long`] reads
    /// these.
    pub fn get(&self, n: usize, short: &mut Vec<u32>, long: &mut Vec<ListPlace>) -> u64 {
        let rank = self.ranks[n];
        let first = self.parts.partition_point(|(of, _)| *of < rank);
        let own = self.parts[first..].iter().take_while(|(of, _)| *of == rank);
        let lengths = own.map(|(_, part)| match part {
            ListPart::Short(documents) => {
                short.extend_from_slice(&self.documents[documents.clone()]);
                documents.len() as u64
            }
            ListPart::Long(place) => {
                long.push(*place);
                place.length
            }
        });
        lengths.sum()
    }
}

impl OfLevel {
    fn open<K: Key>(workspace: &Workspace, level: &Level) -> Result<OfLevel> {
        let directory = workspace.path(DIRECTORY);
        let corrupt = |what: &str, expected: String, found: String| {
            Error::corrupt(&directory, what).expected(expected, found)
        };
        let layout = level.layout;
        if !layout.is_valid() {
            let expected = format!("1 to {MOST_RANGES} ranges with 1 bucket or more");
            return Err(corrupt(
                "layout of the index",
                expected,
                format!("{layout:?}"),
            ));
        }
        let parameters = workspace.collection_parameters();
        let mut parts = Vec::with_capacity(layout.ranges as usize);
        for range in 0..layout.ranges {
            let Some(info) = level.parts.get(&range) else {
                let expected = format!("{} ranges", layout.ranges);
                return Err(corrupt(
                    "parts of the index",
                    expected,
                    format!("none of range {range}"),
                ));
            };
            let path = workspace.part(DIRECTORY, &info.name);
            let part = PartFile::open(&path, Kind::Index, Some(parameters), Some(info))?;
            if part.header.key_bytes as usize != K::BYTES {
                let found = part.header.key_bytes;
                return Err(part.corrupt(40, "key size", K::BYTES, found));
            }
            check_table(&part, layout, level.part(range.into()))?;
            parts.push(part);
        }
        Ok(OfLevel {
            layout,
            parts,
            lists: level.stats.lists,
            filter: None,
        })
    }

    /// Reads all keys into a filter.
    fn make_filter(&mut self, buffers: &mut Buffers) -> Result<()> {
        let words = (self.lists * Filter::BITS).div_ceil(64).max(1) as usize;
        let mut filter = Filter(vec![0; words]);
        let buckets = u64::from(self.layout.buckets);
        for (range, part) in self.parts.iter().enumerate() {
            let mut table = vec![0; buckets as usize * 8];
            part.read_at(&mut table, part.footer.index_offset)?;
            buffers.window = Some(Window::new(WINDOW));
            for within in 0..buckets {
                let bucket = range as u64 * buckets + within;
                let mut place = number(&table, within as usize * 8);
                while place > 0 {
                    let block = read_block(part, place, bucket, buffers)?;
                    let Buffers { bytes, columns, .. } = &mut *buffers;
                    let keys = columns.keys(&bytes[BLOCK_HEAD..], block.lists);
                    keys.ok_or_else(|| block.short(part))?;
                    let mut key = self.layout.least(bucket);
                    for gap in &columns.keys {
                        key = key.wrapping_add(*gap) & ((1 << KEY_BITS) - 1);
                        let (word, bit) = filter.bit(key);
                        filter.0[word] |= bit;
                    }
                    place = block.before;
                }
            }
        }
        buffers.window = None;
        self.filter = Some(filter);
        Ok(())
    }

    /// Adds the lists of keys, which are sorted, from the level of this number.
    fn read(
        &self,
        level: usize,
        keys: &[u64],
        buffers: &mut Buffers,
        lists: &mut Lists,
    ) -> Result<()> {
        let buckets = u64::from(self.layout.buckets);
        let (Some(&first), Some(&last)) = (keys.first(), keys.last()) else {
            return Ok(());
        };
        let bytes: u64 = self.parts.iter().map(|part| part.footer.index_offset).sum();
        let crossed = self.layout.bucket(last) - self.layout.bucket(first);
        let apart = bytes / self.layout.all() * crossed / keys.len() as u64;
        let near = first != last && apart < FAR;
        let size = if near { WINDOW } else { GUESS };
        let (mut at, mut of) = (Window::default(), None);
        let filter = self.filter.as_ref();
        for (&key, rank) in keys.iter().zip(0..) {
            if filter.is_some_and(|filter| !filter.passes(key)) {
                continue;
            }
            let bucket = self.layout.bucket(key);
            let range = (bucket / buckets) as usize;
            if of.replace(range) != Some(range) {
                at = Window::new(TABLE_PIECE);
                buffers.window = Some(Window::new(size));
            }
            let part = &self.parts[range];
            let mut word = [0; 8];
            let entry = part.footer.index_offset + bucket % buckets * 8;
            at.read(part, entry, part.payload_end(), &mut word)?;
            let mut place = u64::from_le_bytes(word);
            let of_key = (key, self.layout.least(bucket));
            let found = loop {
                let block = read_block(part, place, bucket, buffers)?;
                let found = block.find(
                    (part, (level, range)),
                    of_key,
                    buffers,
                    &mut lists.documents,
                )?;
                // Blocks of a bucket lie one after the other, so this ends.
                place = block.before;
                if found.is_some() || place == 0 {
                    break found;
                }
            };
            lists.parts.extend(found.map(|part| (rank, part)));
        }
        Ok(())
    }
}

impl Index {
    /// Opens the index of a collection; `None` if it has no complete one that has the fingerprints
    /// which a search for these pairs looks up, or all of them without a criterion.
    pub fn open<K: Key>(
        workspace: &Workspace,
        criterion: Option<Criterion>,
    ) -> Result<Option<Index>> {
        let entry = super::complete(workspace).filter(|entry| entry.serves(criterion));
        let Some(entry) = entry else {
            return Ok(None);
        };
        let levels = entry.levels.iter();
        let levels = levels.map(|level| OfLevel::open::<K>(workspace, level));
        let levels = levels.collect::<Result<_>>()?;
        Ok(Some(Index {
            levels,
            has_all: entry.criterion.is_none(),
        }))
    }

    /// The most bytes for each key of [`Index::read`]. Long lists are not read.
    pub fn bytes_read(&self) -> u64 {
        // A list may be in every level.
        let parts = size_of::<(u32, ListPart)>() * self.levels.len();
        SHORT as u64 * 4 + 64 + parts as u64
    }

    /// Keeps a filter of the keys of every level but the largest, where that saves reads if this
    /// number of keys is looked up, in up to this number of bytes: most keys are in few levels.
    pub fn filtering(mut self, look_ups: u64, mut bytes: u64) -> Result<Index> {
        let largest = self.levels.iter().map(|level| level.lists).max();
        let mut buffers = Buffers::default();
        for level in &mut self.levels {
            let needed = level.lists / 8 * Filter::BITS;
            let saves = level.layout.all() * 2 < look_ups;
            if Some(level.lists) != largest && saves && needed <= bytes {
                bytes -= needed;
                level.make_filter(&mut buffers)?;
            }
        }
        Ok(self)
    }

    /// Looks keys up in every level. The keys may come in any order, and are read in ascending order.
    pub fn read<K: Key>(&self, keys: &[K], buffers: &mut Buffers) -> Result<Lists> {
        let mut numbered: Vec<(u64, u32)> = keys.iter().map(|&key| leading(key)).zip(0..).collect();
        numbered.sort_unstable();
        let mut lists = Lists {
            ranks: vec![0; keys.len()],
            ..Lists::default()
        };
        let mut distinct: Vec<u64> = Vec::with_capacity(keys.len());
        for (key, number) in numbered {
            if distinct.last() != Some(&key) {
                distinct.push(key);
            }
            lists.ranks[number as usize] = distinct.len() as u32 - 1;
        }
        for (level, of) in self.levels.iter().enumerate() {
            let read = of.read(level, &distinct, buffers, &mut lists);
            // The next look-up may be in another part, also after an error.
            buffers.window = None;
            read?;
        }
        // Stable: the documents of a list come level by level.
        lists.parts.sort_by_key(|(rank, _)| *rank);
        Ok(lists)
    }

    /// Calls `take` with the documents of a long list, some at a time.
    pub fn long(
        &self,
        place: ListPlace,
        buffers: &mut Buffers,
        mut take: impl FnMut(&[u32]),
    ) -> Result<()> {
        let part = &self.levels[place.part.0].parts[place.part.1];
        each_chunk(part, place.offset, place.length, buffers, |documents| {
            take(documents);
            Ok(true)
        })
        .map(drop)
    }
}

/// The table must lie at the end of the payload.
fn check_table(part: &PartFile, layout: Layout, number: u64) -> Result<()> {
    if part.header.number != number {
        let found = part.header.number;
        return Err(part.corrupt(32, "number of the part", number, found));
    }
    let expected = part
        .payload_end()
        .checked_sub(u64::from(layout.buckets) * 8);
    let found = part.footer.index_offset;
    if expected != Some(found) || found < HEADER_BYTES as u64 {
        let expected = expected.map_or("a table of the buckets".into(), |at| at.to_string());
        return Err(part.corrupt(part.payload_end(), "place of the table", expected, found));
    }
    Ok(())
}

struct BlockRead {
    place: u64,
    before: u64,
    lists: usize,
}

fn number(bytes: &[u8], at: usize) -> u64 {
    u64::get_le(&bytes[at..at + 8])
}

/// Reads and checks bytes with a head: checksum, `skip` other bytes, the number of the bytes after
/// the head, and a count. `of` identifies the place.
fn read_checked(
    part: &PartFile,
    place: u64,
    head: usize,
    name: &str,
    of: u64,
    buffers: &mut Buffers,
) -> Result<usize> {
    let Buffers { bytes, window, .. } = buffers;
    let end = part.footer.index_offset;
    let mut read = |bytes: &mut [u8], place: u64| match window {
        Some(window) => window.read(part, place, end, bytes),
        None => part.read_at(bytes, place),
    };
    let room = end.saturating_sub(place) as usize;
    if place < HEADER_BYTES as u64 || room < head {
        let what = format!("place of a {name}");
        let expected = format!("{HEADER_BYTES} to {}", end.saturating_sub(head as u64));
        return Err(part.corrupt(place, &what, expected, place));
    }
    bytes.resize(GUESS.min(room), 0);
    read(bytes, place)?;
    let counts = number(bytes, head - 8);
    let (length, count) = (counts as u32 as usize, (counts >> 32) as usize);
    let whole = head + length;
    if length > MOST_BYTES || whole > room || count > BLOCK_LISTS.max(CHUNK) {
        let what = format!("bytes of a {name}");
        return Err(part.corrupt(place, &what, format!("at most {room}"), whole));
    }
    let had = bytes.len();
    if whole > had {
        bytes.resize(whole, 0);
        read(&mut bytes[had..], place + had as u64)?;
    }
    bytes.truncate(whole);
    check_sum(number(bytes, 0), sum(of, &bytes[8..]), |stated, found| {
        part.corrupt(place, &format!("checksum of a {name}"), stated, found)
    })?;
    Ok(count)
}

fn read_block(
    part: &PartFile,
    place: u64,
    bucket: u64,
    buffers: &mut Buffers,
) -> Result<BlockRead> {
    let lists = read_checked(part, place, BLOCK_HEAD, "block", bucket, buffers)?;
    let before = number(&buffers.bytes, 8);
    if before >= place {
        return Err(part.corrupt(place + 8, "block before", format!("below {place}"), before));
    }
    Ok(BlockRead {
        place,
        before,
        lists,
    })
}

fn read_chunk(part: &PartFile, place: u64, buffers: &mut Buffers) -> Result<(usize, u64)> {
    let count = read_checked(part, place, CHUNK_HEAD, "chunk", place, buffers)?;
    let Buffers { bytes, numbers, .. } = buffers;
    numbers.clear();
    let rest = unpack_u32(&bytes[CHUNK_HEAD..], count, numbers);
    if rest.is_none_or(|rest| !rest.is_empty()) || count == 0 {
        return Err(part.corrupt(place, "documents of a chunk", count, "other bytes"));
    }
    summed(part, place, numbers, 0)?;
    Ok((count, place + bytes.len() as u64))
}

/// Calls `take` with the documents of a long list of this place and length, chunk by chunk, until
/// it returns `false`. Returns what it returned last.
fn each_chunk(
    part: &PartFile,
    mut offset: u64,
    mut left: u64,
    buffers: &mut Buffers,
    mut take: impl FnMut(&[u32]) -> Result<bool>,
) -> Result<bool> {
    while left > 0 {
        let (count, next) = read_chunk(part, offset, buffers)?;
        left = left
            .checked_sub(count as u64)
            .ok_or_else(|| part.corrupt(offset, "documents of a long list", left, count))?;
        offset = next;
        if !take(&buffers.numbers)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Turns gaps into documents.
fn summed(part: &PartFile, place: u64, numbers: &mut [u32], first: u32) -> Result<()> {
    let mut before = first;
    for number in numbers {
        before = before.checked_add(*number).ok_or_else(|| {
            let found = u64::from(before) + u64::from(*number);
            part.corrupt(place, "document of a list", "32 bits", found)
        })?;
        *number = before;
    }
    Ok(())
}

impl BlockRead {
    /// The list of a key in a part, which is the one of this level and range. `least` is the least
    /// key of the bucket. The documents of a short list are appended to `out`.
    fn find(
        &self,
        (part, of): (&PartFile, (usize, usize)),
        (key, least): (u64, u64),
        buffers: &mut Buffers,
        out: &mut Vec<u32>,
    ) -> Result<Option<ListPart>> {
        let Buffers { bytes, columns, .. } = buffers;
        let rest = columns.keys(&bytes[BLOCK_HEAD..], self.lists);
        let rest = rest.ok_or_else(|| self.short(part))?;
        let mut before = least;
        let at = columns.keys.iter().position(|gap| {
            before = before.wrapping_add(*gap);
            before >= key
        });
        let Some(at) = at.filter(|_| before == key) else {
            return Ok(None);
        };
        let long = columns.lists(rest).ok_or_else(|| self.short(part))?;
        let places = Places::behind(&columns.lengths[..at]);
        let own = columns.lengths[at] as usize;
        if own >= SHORT {
            let entry = &long[places.long * PLACE..];
            return Ok(Some(ListPart::Long(ListPlace {
                length: number(entry, 8),
                part: of,
                offset: number(entry, 0),
            })));
        }
        let first = columns.firsts[places.short];
        let gaps = &mut columns.gaps[places.gaps..places.gaps + own];
        summed(part, self.place, gaps, first)?;
        let begin = out.len();
        out.push(first);
        out.extend_from_slice(gaps);
        Ok(Some(ListPart::Short(begin..out.len())))
    }

    fn short(&self, part: &PartFile) -> Error {
        part.corrupt(self.place, "lists of a block", self.lists, "fewer")
    }
}

/// Where the documents of a list are in the columns of its block.
#[derive(Clone, Copy, Default)]
struct Places {
    short: usize,
    gaps: usize,
    long: usize,
}

impl Places {
    /// Behind lists of these lengths.
    fn behind(lengths: &[u32]) -> Places {
        let mut places = Places::default();
        for &length in lengths {
            if length as usize >= SHORT {
                places.long += 1;
            } else {
                places.short += 1;
                places.gaps += length as usize;
            }
        }
        places
    }
}

/// Calls `each` with the leading bits of every key of a part and its documents, a long list chunk
/// by chunk, until it returns `false`. Checks what it reads.
pub fn check_part(
    path: &Path,
    parameters: Option<u128>,
    info: Option<&PartInfo>,
    mut each: impl FnMut(u64, &[u32]) -> Result<bool>,
) -> Result<()> {
    let part = PartFile::open(path, Kind::Index, parameters, info)?;
    let end = part.payload_end();
    let table = part.footer.index_offset;
    if table < HEADER_BYTES as u64 || table > end || !(end - table).is_multiple_of(8) {
        return Err(part.corrupt(end, "place of the table", "within the payload", table));
    }
    let buckets = (end - table) / 8;
    let layout = Layout {
        ranges: u32::try_from(part.footer.extra).unwrap_or(0),
        buckets: u32::try_from(buckets).unwrap_or(0),
    };
    let range = part.header.number as u32;
    if !layout.is_valid() || range >= layout.ranges {
        let expected = "the number of a range";
        return Err(part.corrupt(end, "ranges of the index", expected, layout.ranges));
    }
    let first = u64::from(range) * buckets;
    let mut entries = 0u64;
    let (mut buffers, mut columns) = (Buffers::default(), BlockColumns::default());
    let mut documents = Vec::new();
    for bucket in 0..buckets {
        let mut word = [0; 8];
        part.read_at(&mut word, table + bucket * 8)?;
        // From the last block of the bucket to the first.
        let mut place = u64::from_le_bytes(word);
        let mut places = Vec::new();
        while place > 0 {
            places.push(place);
            place = read_block(&part, place, first + bucket, &mut buffers)?.before;
        }
        if places.is_empty() {
            let at = table + bucket * 8;
            return Err(part.corrupt(at, "place of a bucket", "a block", 0));
        }
        for &place in places.iter().rev() {
            let block = read_block(&part, place, first + bucket, &mut buffers)?;
            let body = buffers.bytes.clone();
            let rest = columns.keys(&body[BLOCK_HEAD..], block.lists);
            let long = rest.and_then(|rest| columns.lists(rest));
            let mut long = long.ok_or_else(|| block.short(&part))?;
            let mut key = layout.least(first + bucket);
            let (mut firsts, mut gaps) = (columns.firsts.iter(), &columns.gaps[..]);
            for (gap, &length) in columns.keys.iter().zip(&columns.lengths) {
                key = key.wrapping_add(*gap);
                documents.clear();
                if length as usize >= SHORT {
                    let (entry, after) = long.split_at(PLACE);
                    long = after;
                    let (place, length) = (number(entry, 0), number(entry, 8));
                    let more = each_chunk(&part, place, length, &mut buffers, |documents| {
                        entries += documents.len() as u64;
                        each(key, documents)
                    })?;
                    if !more {
                        return Ok(());
                    }
                    continue;
                }
                let (own, after) = gaps.split_at(length as usize);
                gaps = after;
                documents.extend(firsts.next());
                documents.extend_from_slice(own);
                summed(&part, place, &mut documents, 0)?;
                entries += documents.len() as u64;
                if !each(key, &documents)? {
                    return Ok(());
                }
            }
        }
        if bucket + 1 == buckets && entries != part.footer.records {
            let expected = part.footer.records;
            return Err(part.corrupt(end, "documents in lists", expected, entries));
        }
    }
    Ok(())
}
