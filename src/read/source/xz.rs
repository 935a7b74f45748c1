//! xz, and the blocks of a file as parts.

use std::io::BufRead;
use std::ops::Range;

use flate2::Crc;
use liblzma::stream::{Action, CONCATENATED, Error, Status, Stream};

use super::ahead::{Parts, Text};
use super::input::Input;
use super::members::read_all_at;
use super::{DECODER_MEMORY, Failure, Fault, xz_dictionary};
use crate::read::record::Reason;
use crate::store::disk::SharedFile;

/// xz (The .xz File Format 1.2.1), with any number of streams.
pub(super) struct Xz {
    pub(super) input: Input,
    decoder: Stream,
    ended: bool,
    /// A fault found together with bytes that must be delivered first.
    fault: Option<Failure>,
}

impl Xz {
    pub(super) fn new(input: Input) -> Result<Self, Error> {
        let decoder = Stream::new_stream_decoder(DECODER_MEMORY, CONCATENATED)?;
        Ok(Xz {
            input,
            decoder,
            ended: false,
            fault: None,
        })
    }

    pub(super) fn read(&mut self, out: &mut [u8]) -> Result<usize, Failure> {
        while !self.ended {
            if let Some(fault) = self.fault.take() {
                return Err(fault);
            }
            let bytes = self.input.fill_buf()?;
            let at_end = bytes.is_empty();
            let action = if at_end { Action::Finish } else { Action::Run };
            let before = (self.decoder.total_in(), self.decoder.total_out());
            let status = self.decoder.process(bytes, out, action);
            let used = (self.decoder.total_in() - before.0) as usize;
            let made = (self.decoder.total_out() - before.1) as usize;
            self.input.consume(used);
            let fault = match status {
                Ok(Status::StreamEnd) => {
                    self.ended = true;
                    None
                }
                Ok(_) if made == 0 && at_end => Some(Failure::truncated("xz: premature eof")),
                Ok(_) if made == 0 && used == 0 => {
                    Some(Failure::corrupt("xz: the decoder is stuck"))
                }
                Ok(_) => None,
                Err(error) => Some(failure(&error)),
            };
            if made > 0 {
                self.fault = fault;
                return Ok(made);
            }
            if let Some(fault) = fault {
                return Err(fault);
            }
        }
        Ok(0)
    }
}

fn failure(error: &Error) -> Failure {
    let reason = match error {
        Error::MemLimit => Reason::DecompressorMemory,
        _ => Reason::CorruptCompression,
    };
    Failure::Fault(Fault::new(reason, format!("xz: {error}")))
}

const HEADER_BYTES: u64 = 12;
const FOOTER_BYTES: u64 = 12;
/// An index has some ten bytes for each block, and at least two, which take 24 in memory. Files with
/// longer ones are left to the reader.
const INDEX_BYTES: u64 = 256 << 10;
/// Blocks with longer texts are left to the reader. `xz -9` writes texts of 192 MiB.
const TEXT_BYTES: u64 = 256 << 20;
/// What a decoder may take beyond its dictionary.
const BEYOND_DICTIONARY: u64 = 1 << 20;
/// Compressed bytes read at a time.
const STEP: usize = 256 << 10;

/// The blocks of a file of one stream (The .xz File Format 1.2.1), as its index lists them. Places
/// are numbers of blocks.
pub(super) struct Blocks {
    file: SharedFile,
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
    pub(super) fn new(file: SharedFile, length: u64, head: &[u8]) -> Option<Self> {
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
