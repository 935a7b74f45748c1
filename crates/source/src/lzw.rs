//! Decompresses the `.Z` files of compress(1): LZW with codes of 9 to at most 16 bits.
//!
//! # Source
//! Welch 1984, as compress 4.0 writes it. Codes have their least significant bit first, and their
//! width grows with the table. In block mode, a CLEAR code empties the table. Codes are written in
//! groups of eight; when the width changes or the table is emptied, the rest of the group is
//! padding.
//!
//! The format has no length and no checksum, so a file that is cut between two codes looks like a
//! whole one. A cut inside a code is detected if the remaining bits are not zero.

use std::io::BufRead;

use super::input::Input;
use super::{Failure, Fault, Reason};

const FIRST_BITS: u32 = 9;
const CLEAR: usize = 256;
const NO_CODE: usize = usize::MAX;
/// Output is decoded in pieces of about this size.
const PIECE: usize = 64 << 10;

pub(super) struct Lzw {
    input: Input,
    started: bool,
    ended: bool,
    block_mode: bool,
    max_bits: u32,
    width: u32,
    /// Bits consumed since the width last changed; they give the end of the group.
    group_bits: u64,
    bits: u64,
    bit_count: u32,
    prefix: Vec<u16>,
    suffix: Vec<u8>,
    /// The next free index of the table.
    free: usize,
    previous: usize,
    first_byte: u8,
    out: Vec<u8>,
    given: usize,
    /// Scratch: the string of a code is found from its end.
    string: Vec<u8>,
    fault: Option<Failure>,
}

impl Lzw {
    pub fn new(input: Input) -> Self {
        Lzw {
            input,
            started: false,
            ended: false,
            block_mode: true,
            max_bits: 16,
            width: FIRST_BITS,
            group_bits: 0,
            bits: 0,
            bit_count: 0,
            prefix: Vec::new(),
            suffix: Vec::new(),
            free: CLEAR + 1,
            previous: NO_CODE,
            first_byte: 0,
            out: Vec::new(),
            given: 0,
            string: Vec::new(),
            fault: None,
        }
    }

    pub fn input(&self) -> &Input {
        &self.input
    }

    pub fn read(&mut self, out: &mut [u8]) -> Result<usize, Failure> {
        if self.given == self.out.len() {
            self.out.clear();
            self.given = 0;
            if self.fault.is_none() && !self.ended {
                self.fault = self.decode().err();
            }
            if self.out.is_empty() {
                self.ended = true;
                return self.fault.take().map_or(Ok(0), Err);
            }
        }
        let n = out.len().min(self.out.len() - self.given);
        out[..n].copy_from_slice(&self.out[self.given..self.given + n]);
        self.given += n;
        Ok(n)
    }

    fn start(&mut self) -> Result<(), Failure> {
        let header: [u8; 3] = self.input.need("compress: header")?;
        self.max_bits = u32::from(header[2] & 0x1f);
        self.block_mode = header[2] & 0x80 != 0;
        if !(FIRST_BITS + 1..=16).contains(&self.max_bits) {
            // `compress -b 9` writes such files, which uncompress and gzip cannot read either.
            return Err(Failure::Fault(Fault::new(
                Reason::UnsupportedFormat,
                format!(
                    "compress: codes of up to {} bits, 10 to 16 are read",
                    self.max_bits
                ),
            )));
        }
        self.free = if self.block_mode { CLEAR + 1 } else { CLEAR };
        self.prefix = vec![0; 1 << self.max_bits];
        self.suffix = vec![0; 1 << self.max_bits];
        for (byte, place) in (0..=255).zip(&mut self.suffix) {
            *place = byte;
        }
        self.started = true;
        Ok(())
    }

    /// The next `count` bits, or `None` if fewer are left.
    fn take_bits(&mut self, count: u32) -> Result<Option<usize>, Failure> {
        while self.bit_count < count {
            let bytes = self.input.fill_buf()?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let n = bytes.len().min(((64 - self.bit_count) / 8) as usize);
            for &byte in &bytes[..n] {
                self.bits |= u64::from(byte) << self.bit_count;
                self.bit_count += 8;
            }
            self.input.consume(n);
        }
        let value = self.bits & ((1 << count) - 1);
        self.bits >>= count;
        self.bit_count -= count;
        self.group_bits += u64::from(count);
        Ok(Some(value as usize))
    }

    /// Skips the padding up to the end of the group of eight codes.
    fn align(&mut self) -> Result<(), Failure> {
        let group = u64::from(self.width) * 8;
        let mut padding = (group - self.group_bits % group) % group;
        while padding > 0 {
            let step = padding.min(16);
            if self.take_bits(step as u32)?.is_none() {
                // Some writers omit the padding at the end of the file.
                (self.bits, self.bit_count) = (0, 0);
                break;
            }
            padding -= step;
        }
        self.group_bits = 0;
        Ok(())
    }

    fn decode(&mut self) -> Result<(), Failure> {
        if !self.started {
            self.start()?;
        }
        let most = 1usize << self.max_bits;
        while self.out.len() < PIECE {
            if self.width < self.max_bits && self.free >= 1 << self.width {
                self.align()?;
                self.width += 1;
            }
            let Some(code) = self.take_bits(self.width)? else {
                if self.bits != 0 {
                    (self.bits, self.bit_count) = (0, 0);
                    return Err(Failure::truncated("compress: in the middle of a code"));
                }
                self.ended = true;
                return Ok(());
            };
            if self.previous == NO_CODE {
                if code >= CLEAR {
                    return Err(Failure::corrupt(format!("compress: first code is {code}")));
                }
                self.previous = code;
                self.first_byte = code as u8;
                self.out.push(code as u8);
                continue;
            }
            if code == CLEAR && self.block_mode {
                // The next code would use index 256, which is CLEAR, so no code can refer to it.
                self.free = CLEAR;
                self.align()?;
                self.width = FIRST_BITS;
                continue;
            }
            let mut at = code;
            self.string.clear();
            if code >= self.free {
                if code > self.free {
                    return Err(Failure::corrupt(format!(
                        "compress: code {code}, at most {} is possible",
                        self.free
                    )));
                }
                self.string.push(self.first_byte);
                at = self.previous;
            }
            // A prefix is always smaller than its code, so this ends.
            while at >= CLEAR {
                self.string.push(self.suffix[at]);
                at = usize::from(self.prefix[at]);
            }
            self.first_byte = at as u8;
            self.string.push(self.first_byte);
            self.out.extend(self.string.iter().rev());
            if self.free < most {
                self.prefix[self.free] = self.previous as u16;
                self.suffix[self.free] = self.first_byte;
                self.free += 1;
            }
            self.previous = code;
        }
        Ok(())
    }
}
