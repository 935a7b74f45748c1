//! bzip2.

use std::io::BufRead;
use std::ops::Range;
use std::sync::Arc;

use ::bzip2::{Decompress, Status};

use super::ahead::{Check, Helped, Parts, Shared, Text};
use super::checked::Member;
use super::input::Input;
use super::members::{head_of, read_all_at};
use super::{Failure, Stepped};
use lookalike_store::File;

/// bzip2, with any number of streams.
///
/// The whole block is read before anything comes out of it, and its checksum is compared when
/// all of it has. So input and output are given in turn: once nothing more comes out without input,
/// the block is sound.
pub(super) struct Bzip2 {
    decoder: Decompress,
    /// Whether a stream has begun and not ended.
    inside: bool,
    /// Whether some of a block came out.
    output: bool,
}

impl Bzip2 {
    pub(super) fn new() -> Self {
        Bzip2 {
            decoder: Decompress::new(false),
            inside: false,
            output: false,
        }
    }

    /// Gives the decoder input, or room for output; returns what it used of the input, even if that
    /// is damaged, what it made of it, and whether the stream has ended.
    fn decode(&mut self, bytes: &[u8], out: &mut [u8]) -> (usize, Result<(usize, bool), Failure>) {
        let before = (self.decoder.total_in(), self.decoder.total_out());
        let status = self.decoder.decompress(bytes, out);
        let used = (self.decoder.total_in() - before.0) as usize;
        let made = (self.decoder.total_out() - before.1) as usize;
        let done = match status {
            Ok(status) => Ok((made, matches!(status, Status::StreamEnd))),
            Err(error) => Err(Failure::corrupt(format!("bzip2: {error}"))),
        };
        (used, done)
    }

    /// Begins with a stream; whether there is one.
    fn begin(&mut self, input: &mut Input) -> Result<bool, Failure> {
        let magic = input.magic::<4>("bzip2: no stream begins here", |magic| {
            magic[..3] == *Self::MAGIC
        })?;
        let Some(magic) = magic else {
            return Ok(false);
        };
        self.decoder = Decompress::new(false);
        self.decode(&magic, &mut []).1?;
        (self.inside, self.output) = (true, false);
        Ok(true)
    }
}

impl Member for Bzip2 {
    const MAGIC: &'static [u8] = b"BZh";

    /// A block can begin at any bit.
    fn may_begin(_: u8) -> bool {
        true
    }

    fn step(&mut self, input: &mut Input, out: &mut [u8]) -> Result<Stepped, Failure> {
        if !self.inside && !self.begin(input)? {
            return Ok(Stepped::End);
        }
        let (made, _) = self.decode(&[], out).1?;
        if made > 0 {
            self.output = true;
            return Ok(Stepped::Bytes(made));
        }
        if std::mem::take(&mut self.output) {
            return Ok(Stepped::Boundary);
        }
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            return Err(Failure::truncated(
                "bzip2: decompression not finished but EOF reached",
            ));
        }
        let (used, done) = self.decode(bytes, &mut []);
        input.consume(used);
        let (_, ended) = done?;
        self.inside = !ended;
        Ok(match ended {
            true => Stepped::Boundary,
            false => Stepped::Bytes(0),
        })
    }

    fn is_between(&self) -> bool {
        !self.inside
    }

    fn restart(&mut self) {
        self.inside = false;
    }

    fn parts(of: &Helped<'_>) -> Option<Shared> {
        let blocks = Blocks::new(of.file.clone(), of.length, &head_of(of.file)?)?;
        Some((Arc::new(blocks), Some(Blocks::FIRST)))
    }
}

/// A block begins with the digits of pi, a stream ends with the digits of its square root, each in
/// 48 bits that can begin at any bit.
const BLOCK: u64 = 0x3141_5926_5359;
const END: u64 = 0x1772_4538_5090;
const MAGIC_BITS: u64 = 48;
/// `BZh` and the digit of the block size, in bits.
const HEADER_BITS: u64 = 32;
const CRC_BITS: u64 = 32;

/// Compressed bits that a helper takes at a time: blocks of text have about 200 KB.
const STRIDE: u64 = 8 * (512 << 10);
/// A block is not longer than this: 900 KB, and a hundredth more if its bytes are random (the
/// manual of bzip2 1.0.8, section 2.1). Others are left to the reader.
const BLOCK_BYTES: u64 = 1_000_000;
/// Most bytes of a text.
const TEXT_BYTES: usize = 8 << 20;

/// Bits of a buffer.
fn bits(bytes: &[u8], at: u64, count: u64) -> Option<u64> {
    let (byte, shift) = ((at / 8) as usize, at % 8);
    let end = (at + count).div_ceil(8) as usize;
    let bytes = bytes.get(byte..end)?;
    let number = bytes.iter().fold(0u128, |n, &b| n << 8 | u128::from(b));
    let unused = bytes.len() as u64 * 8 - shift - count;
    Some((number >> unused) as u64 & (u64::MAX >> (64 - count)))
}

/// Appends numbers of any width.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    /// The last bits, fewer than 8.
    rest: u64,
    count: u64,
}

impl Bits {
    fn push(&mut self, number: u64, count: u64) {
        debug_assert!(count <= 56);
        self.rest = self.rest << count | number;
        self.count += count;
        while self.count >= 8 {
            self.count -= 8;
            self.bytes.push((self.rest >> self.count) as u8);
        }
        self.rest &= (1 << self.count) - 1;
    }

    fn whole(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.push(0, 8 - self.count);
        }
        self.bytes
    }
}

/// The places of a magic number among these bytes, in order.
fn places(bytes: &[u8], magic: u64) -> Vec<u64> {
    let mut places = Vec::new();
    for shift in 0..8 {
        // The bytes that are wholly in the number; its first one may be.
        let inner = (magic << 16 >> shift).to_be_bytes();
        let inner = if shift == 0 {
            &inner[..6]
        } else {
            &inner[1..6]
        };
        let before = u64::from(shift > 0);
        for found in memchr::memmem::find_iter(bytes, inner) {
            let at = (8 * found as u64 + shift).checked_sub(8 * before);
            if let Some(at) = at
                && bits(bytes, at, MAGIC_BITS) == Some(magic)
            {
                places.push(at);
            }
        }
    }
    places.sort_unstable();
    places
}

/// Decompresses a block, which is a stream of its own then. Appends to `text`, up to
/// [`TEXT_BYTES`].
fn block(bytes: &[u8], place: Range<u64>, level: u8, text: &mut Vec<u8>) -> Option<u32> {
    let crc = bits(bytes, place.start + MAGIC_BITS, CRC_BITS)?;
    let mut stream = Bits::default();
    stream.push(
        u64::from_be_bytes(*b"\0\0\0\0BZh\0") | u64::from(level),
        HEADER_BITS,
    );
    let mut at = place.start;
    while at < place.end {
        let count = (place.end - at).min(56);
        stream.push(bits(bytes, at, count)?, count);
        at += count;
    }
    stream.push(END, MAGIC_BITS);
    stream.push(crc, CRC_BITS);
    let stream = stream.whole();
    let mut decoder = Decompress::new(false);
    loop {
        if text.len() == text.capacity() {
            let more = TEXT_BYTES
                .checked_sub(text.len())
                .filter(|&more| more > 0)?;
            text.reserve_exact(more.min(text.len().max(1 << 20)));
        }
        let read = stream.get(decoder.total_in() as usize..)?;
        let before = (decoder.total_in(), decoder.total_out());
        match decoder.decompress_vec(read, text).ok()? {
            Status::StreamEnd => break,
            _ if before == (decoder.total_in(), decoder.total_out()) => return None,
            _ => {}
        }
    }
    (decoder.total_in() == stream.len() as u64).then_some(crc as u32)
}

/// The blocks of a file, as parts. Places are bits.
pub(super) struct Blocks {
    file: File,
    length: u64,
    /// The digit of the block size, the same in all streams.
    level: u8,
}

impl Blocks {
    /// The place of the first block.
    pub(super) const FIRST: u64 = HEADER_BITS;

    /// `None` if the file does not begin with a block.
    pub(super) fn new(file: File, length: u64, head: &[u8]) -> Option<Self> {
        let level = *head.get(3)?;
        let begins = bits(head, HEADER_BITS, MAGIC_BITS) == Some(BLOCK);
        begins.then_some(Blocks {
            file,
            length,
            level,
        })
    }
}

impl Parts for Blocks {
    fn stride(&self) -> u64 {
        STRIDE
    }

    fn end(&self) -> u64 {
        8 * self.length
    }

    fn memory(&self) -> u64 {
        // Compressed bytes, a block that begins at a byte, the decoder, and the text.
        STRIDE / 8 + 2 * BLOCK_BYTES + (4 << 20) + TEXT_BYTES as u64
    }

    fn byte(&self, place: u64) -> u64 {
        place / 8
    }

    fn decompress(&self, range: Range<u64>, known: bool, mut text: Vec<u8>) -> Option<Text> {
        text.clear();
        let first = range.start / 8;
        let bits_before = 8 * first;
        let mut bytes = vec![0; (range.end.div_ceil(8) - first + BLOCK_BYTES) as usize];
        read_all_at(&self.file, &mut bytes, first).ok()?;
        let ends = places(&bytes, END);
        let mut places = places(&bytes, BLOCK);
        places.retain(|&place| bits_before + place >= range.start);
        let start = *places.first()?;
        if bits_before + start >= range.end || (known && bits_before + start > range.start) {
            return None;
        }
        let (mut at, mut last) = (start, false);
        let mut checks = Vec::new();
        // The reader obeys a stop before it takes finished blocks.
        while !last && bits_before + at < range.end && super::check_stop().is_ok() {
            let next = |places: &[u64]| {
                let next = places.partition_point(|&place| place <= at);
                places.get(next).copied().unwrap_or(u64::MAX)
            };
            let (block_end, stream_end) = (next(&places), next(&ends));
            let length = text.len();
            let mut step = || {
                let end = block_end.min(stream_end);
                let crc = block(&bytes, at..end, self.level, &mut text)?;
                if block_end < stream_end {
                    return Some((block_end, false, vec![Check::Block(crc)]));
                }
                let sum = bits(&bytes, end + MAGIC_BITS, CRC_BITS)?;
                let checks = vec![Check::Block(crc), Check::End(sum as u32)];
                let after = (end + MAGIC_BITS + CRC_BITS).next_multiple_of(8);
                if first + after / 8 == self.length {
                    return Some((after, true, checks));
                }
                let header = u64::from_be_bytes(*b"\0\0\0\0BZh\0") | u64::from(self.level);
                let again = bits(&bytes, after, HEADER_BITS)? == header
                    && bits(&bytes, after + HEADER_BITS, MAGIC_BITS)? == BLOCK;
                again.then_some((after + HEADER_BITS, false, checks))
            };
            let Some((to, ends, more)) = step() else {
                text.truncate(length);
                break;
            };
            (at, last) = (to, ends);
            checks.extend(more);
        }
        (at > start).then(|| Text {
            place: bits_before + start..bits_before + at,
            last,
            bytes: text,
            checks,
            ..Text::default()
        })
    }
}
