//! xz, and the blocks of a file as parts.

use std::io::BufRead;
use std::ops::Range;
use std::sync::Arc;

use flate2::Crc;
use liblzma::stream::{Action, Error, Status, Stream};

use super::ahead::{Helped, Parts, Shared, Text};
use super::checked::Member;
use super::input::Input;
use super::members::{head_of, read_all_at};
use super::{DECODER_MEMORY, Failure, Fault, Reason, Stepped, xz_dictionary};
use lookalike_store::File;

/// xz (The .xz File Format 1.2.1), with any number of streams.
pub(super) struct Xz {
    decoder: Option<Stream>,
    /// Where the bytes that the decoder has got are in a stream.
    walk: Walk,
}

impl Xz {
    pub(super) fn new() -> Self {
        Xz {
            decoder: None,
            walk: Walk::new(0),
        }
    }

    /// Begins with a stream. `None` at the end of the file.
    fn begin(&mut self, input: &mut Input) -> Result<Option<Stream>, Failure> {
        let is_known = |magic: &[u8; 6]| magic[..] == *MAGIC;
        let Some(magic) = input.magic("xz: no stream begins here", is_known)? else {
            return Ok(None);
        };
        let flags: [u8; 6] = input.need("xz: premature eof")?;
        let mut decoder =
            Stream::new_stream_decoder(DECODER_MEMORY, 0).map_err(|error| failure(&error))?;
        let begun = decoder.process(&[magic, flags].concat(), &mut [], Action::Run);
        begun.map_err(|error| failure(&error))?;
        self.walk = Walk::new(flags[1]);
        Ok(Some(decoder))
    }
}

impl Member for Xz {
    const MAGIC: &'static [u8] = MAGIC;

    /// The next block, or the index.
    fn may_begin(_: u8) -> bool {
        true
    }

    fn step(&mut self, input: &mut Input, out: &mut [u8]) -> Result<Stepped, Failure> {
        let mut decoder = match self.decoder.take() {
            Some(decoder) => decoder,
            None => match self.begin(input)? {
                Some(decoder) => decoder,
                None => return Ok(Stepped::End),
            },
        };
        // The checksum of a block is compared before the next one begins.
        let bytes: &[u8] = match self.walk.ended {
            true => &[],
            false => input.fill_buf()?,
        };
        let at_end = bytes.is_empty() && !self.walk.ended;
        let mut ahead = self.walk;
        let bytes = &bytes[..ahead.pass(bytes)];
        let before = (decoder.total_in(), decoder.total_out());
        let status = decoder.process(bytes, out, Action::Run);
        let used = (decoder.total_in() - before.0) as usize;
        let made = (decoder.total_out() - before.1) as usize;
        if used == bytes.len() {
            self.walk = ahead;
        } else {
            self.walk.pass(&bytes[..used]);
        }
        input.consume(used);
        match status {
            Ok(Status::StreamEnd) => return Ok(Stepped::Boundary),
            Ok(_) if made == 0 && at_end => return Err(Failure::truncated("xz: premature eof")),
            Ok(_) if made == 0 && used == 0 && !self.walk.ended => {
                return Err(Failure::corrupt("xz: the decoder is stuck"));
            }
            Ok(_) => {}
            Err(error) => return Err(failure(&error)),
        }
        self.decoder = Some(decoder);
        if made == 0 && used == 0 {
            self.walk.ended = false;
            return Ok(Stepped::Boundary);
        }
        Ok(Stepped::Bytes(made))
    }

    fn is_between(&self) -> bool {
        self.decoder.is_none()
    }

    fn restart(&mut self) {
        self.decoder = None;
    }

    fn parts(of: &Helped<'_>) -> Option<Shared> {
        let blocks = Blocks::new(of.file.clone(), of.length, &head_of(of.file)?)?;
        Some((Arc::new(blocks), Some(0)))
    }
}

/// Finds the ends of the blocks of a stream by the lengths of the chunks of LZMA2, which is the last
/// filter of every block (section 5.3.1).
#[derive(Clone, Copy, Default)]
struct Walk {
    /// Bytes of the block so far.
    block: u64,
    /// Bytes up to those that say what comes next.
    skip: u64,
    /// Those that came of them.
    head: [u8; 6],
    length: usize,
    state: Walking,
    /// Bytes of the checksum of a block.
    check: u64,
    /// Whether a block has just ended.
    ended: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Walking {
    /// Before a block.
    #[default]
    Block,
    /// Before a chunk.
    Chunk,
    /// Before the end of a block.
    End,
    /// In the index, or in bytes that are not an index.
    Rest,
}

impl Walk {
    /// At the end of a stream's header, with the second byte of its flags.
    fn new(flags: u8) -> Walk {
        let check = match flags & 0x0f {
            0 => 0,
            kind => 4 << ((kind - 1) / 3),
        };
        Walk {
            check,
            ..Walk::default()
        }
    }

    /// Goes on by bytes, up to the end of the block; returns their number.
    fn pass(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            if self.skip > 0 {
                let n = self.skip.min((bytes.len() - at) as u64);
                (self.skip, self.block) = (self.skip - n, self.block + n);
                at += n as usize;
                if self.skip > 0 || self.state != Walking::End {
                    continue;
                }
            } else {
                self.head[self.length] = bytes[at];
                (self.length, self.block) = (self.length + 1, self.block + 1);
                at += 1;
                self.next();
            }
            if self.state == Walking::End && self.skip == 0 {
                let (ended, check) = (true, self.check);
                *self = Walk {
                    ended,
                    check,
                    ..Walk::default()
                };
                break;
            }
        }
        at
    }

    /// Looks at the bytes that say what comes next, if they are complete.
    fn next(&mut self) {
        let [first, ..] = self.head;
        let number = |at: usize| u64::from(u16::from_be_bytes([self.head[at], self.head[at + 1]]));
        (self.state, self.skip) = match (self.state, first) {
            (Walking::Block, 0) => (Walking::Rest, u64::MAX),
            (Walking::Block, size) => (Walking::Chunk, (u64::from(size) + 1) * 4 - 1),
            (Walking::Chunk, 0) => {
                let padded = self.block.next_multiple_of(4);
                (Walking::End, padded - self.block + self.check)
            }
            (Walking::Chunk, 1 | 2) if self.length < 3 => return,
            (Walking::Chunk, 1 | 2) => (Walking::Chunk, number(1) + 1),
            (Walking::Chunk, 0x80..) if self.length < 5 => return,
            (Walking::Chunk, 0x80..) => (Walking::Chunk, number(3) + 1 + u64::from(first >= 0xc0)),
            (Walking::Chunk | Walking::End | Walking::Rest, _) => (Walking::Rest, u64::MAX),
        };
        self.length = 0;
    }
}

pub(super) fn failure(error: &Error) -> Failure {
    let (reason, help) = match error {
        Error::MemLimit => (
            Reason::DecompressorMemory,
            "; at most 128 MiB are used: xz -dc FILE | lookalike run -",
        ),
        Error::Mem => (Reason::DecompressorMemory, ""),
        _ => (Reason::CorruptCompression, ""),
    };
    Failure::Fault(Fault::new(reason, format!("xz: {error}{help}")))
}

const MAGIC: &[u8] = b"\xfd7zXZ\0";
const HEADER_BYTES: u64 = 12;
const FOOTER_BYTES: u64 = 12;
/// An index has some ten bytes for each block, and at least two, which take 24 in memory. Files with
/// longer ones are left to the reader.
const INDEX_BYTES: u64 = 256 << 10;
/// Blocks with longer texts are left to the reader. `xz -9` writes texts of 192 MiB.
const TEXT_BYTES: u64 = 256 << 20;
/// The memory that a decoder may take beyond its dictionary.
const BEYOND_DICTIONARY: u64 = 1 << 20;
/// Compressed bytes read at a time.
const STEP: usize = 256 << 10;

/// The blocks of a file of one stream (The .xz File Format 1.2.1), as its index lists them. Places
/// are numbers of blocks.
pub(super) struct Blocks {
    file: File,
    header: [u8; HEADER_BYTES as usize],
    /// Where the blocks begin, and where the last one ends.
    begin: Vec<u64>,
    /// Bytes of each without its padding, and of its text.
    lengths: Vec<(u64, u64)>,
    dictionary: u64,
    /// Bytes of the longest text.
    text: u64,
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// A number of 7 bits a byte, and what follows it (section 1.2).
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let last = bytes.iter().take(9).position(|byte| byte & 0x80 == 0)?;
    let digits = bytes[..=last].iter().rev();
    let number = digits.fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f));
    Some((number, &bytes[last + 1..]))
}

impl Blocks {
    /// `None` unless the file is one stream of several blocks, from its first byte to its last.
    pub(super) fn new(file: File, length: u64, head: &[u8]) -> Option<Self> {
        let header: [u8; HEADER_BYTES as usize] = *head.first_chunk()?;
        let read = |at, length: u64| {
            let mut bytes = vec![0; length as usize];
            read_all_at(&file, &mut bytes, at).ok()?;
            (bytes.len() as u64 == length).then_some(bytes)
        };
        // Section 2.1.2: checksum, length of the index, flags, magic number.
        let footer = read(length.checked_sub(FOOTER_BYTES)?, FOOTER_BYTES)?;
        let stored = |bytes: &[u8]| bytes.first_chunk().map(|&crc| u32::from_le_bytes(crc));
        let sound = footer[10..] == *b"YZ"
            && footer[8..10] == header[6..8]
            && stored(&footer) == Some(crc32(&footer[4..10]))
            && stored(&header[8..]) == Some(crc32(&header[6..8]));
        let index = (u64::from(stored(&footer[4..])?) + 1) * 4;
        if !sound || index > INDEX_BYTES {
            return None;
        }
        // Section 4: zero, the number of blocks, their lengths, padding, checksum.
        let index_at = length.checked_sub(FOOTER_BYTES + index)?;
        let bytes = read(index_at, index)?;
        let (fields, crc) = bytes.split_at_checked(bytes.len().checked_sub(4)?)?;
        if stored(crc)? != crc32(fields) || fields[0] != 0 {
            return None;
        }
        let (count, mut rest) = number(&fields[1..])?;
        let (mut begin, mut lengths) = (vec![HEADER_BYTES], Vec::new());
        for _ in 0..count {
            let (unpadded, more) = number(rest)?;
            let (text, more) = number(more)?;
            rest = more;
            let end = unpadded
                .checked_next_multiple_of(4)
                .and_then(|padded| begin.last()?.checked_add(padded))?;
            begin.push(end);
            lengths.push((unpadded, text));
        }
        let padding = rest.len() < 4 && rest.iter().all(|&byte| byte == 0);
        let fits = padding && begin.last() == Some(&index_at) && lengths.len() > 1;
        let dictionary = xz_dictionary(head)?;
        let text = lengths.iter().map(|&(_, text)| text).max()?;
        let small = dictionary <= DECODER_MEMORY && text <= TEXT_BYTES;
        (fits && small).then_some(Blocks {
            file,
            header,
            begin,
            lengths,
            dictionary,
            text,
        })
    }
}

/// Appends a number as [`number`] reads it.
fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

impl Blocks {
    /// The index and the footer of a stream of one block.
    fn end_of_stream(&self, unpadded: u64, text: u64) -> Vec<u8> {
        let mut bytes = vec![0, 1];
        push_number(&mut bytes, unpadded);
        push_number(&mut bytes, text);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(crc32(&bytes).to_le_bytes());
        let mut fields = (bytes.len() as u32 / 4 - 1).to_le_bytes().to_vec();
        fields.extend(&self.header[6..8]);
        bytes.extend(crc32(&fields).to_le_bytes());
        bytes.extend(fields);
        bytes.extend(b"YZ");
        bytes
    }
}

impl Parts for Blocks {
    fn stride(&self) -> u64 {
        1
    }

    fn end(&self) -> u64 {
        self.lengths.len() as u64
    }

    fn memory(&self) -> u64 {
        self.dictionary + BEYOND_DICTIONARY + STEP as u64 + self.text
    }

    fn byte(&self, place: u64) -> u64 {
        self.begin[place as usize]
    }

    fn decompress(&self, range: Range<u64>, _: bool, mut bytes: Vec<u8>) -> Option<Text> {
        let number = range.start as usize;
        let (unpadded, text) = *self.lengths.get(number)?;
        bytes.clear();
        // A decoder may want to see that there is no more.
        bytes.reserve_exact(text as usize + 1);
        let memory = self.dictionary + BEYOND_DICTIONARY;
        let mut decoder = Stream::new_stream_decoder(memory, 0).ok()?;
        let mut ended = false;
        let mut decode = |input: &[u8]| {
            let mut rest = input;
            while !rest.is_empty() {
                let before = (decoder.total_in(), decoder.total_out());
                let status = decoder.process_vec(rest, &mut bytes, Action::Run).ok()?;
                ended = status == Status::StreamEnd;
                rest = &rest[(decoder.total_in() - before.0) as usize..];
                if before == (decoder.total_in(), decoder.total_out()) {
                    return None;
                }
            }
            Some(())
        };
        decode(&self.header)?;
        let (mut at, end) = (self.begin[number], self.begin[number + 1]);
        let mut step = Vec::new();
        while at < end {
            step.resize(STEP.min((end - at) as usize), 0);
            read_all_at(&self.file, &mut step, at).ok()?;
            if step.is_empty() {
                return None;
            }
            decode(&step)?;
            at += step.len() as u64;
        }
        // The decoder compares the index with what it has read.
        decode(&self.end_of_stream(unpadded, text))?;
        let place = range.start..range.start + 1;
        ended.then_some(Text {
            last: place.end == self.end(),
            place,
            bytes,
            ..Text::default()
        })
    }
}
