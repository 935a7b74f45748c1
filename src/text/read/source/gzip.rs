//! gzip.

use std::io::BufRead;

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::checked::Member;
use super::input::Input;
use super::members::Format;
use super::{Failure, Stepped};
use crate::store::disk::SharedFile;

/// The longest header of a member: names in it end with a zero, or not at all.
const HEADER_BYTES: usize = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq)]
enum GzipState {
    Header,
    Body,
    Trailer,
    End,
}

/// gzip (RFC 1952), with any number of members.
pub(super) struct Gzip {
    pub(super) input: Input,
    inflate: Decompress,
    crc: Crc,
    state: GzipState,
    /// A fault found together with bytes that must be delivered first.
    fault: Option<Failure>,
    /// Whether a member was read whole.
    any: bool,
    /// Whether the bytes at the last boundary are the beginning of a member.
    begun: bool,
    /// Whether the last member has an end, whatever its checksum is.
    ended: bool,
}

impl Gzip {
    pub(super) fn new(input: Input) -> Self {
        Gzip {
            input,
            inflate: Decompress::new(false),
            crc: Crc::new(),
            state: GzipState::Header,
            fault: None,
            any: false,
            begun: false,
            ended: false,
        }
    }

    fn need(&mut self, what: &str) -> Result<u8, Failure> {
        self.input
            .byte()?
            .ok_or_else(|| Failure::truncated(format!("gzip: in the {what}")))
    }

    fn header(&mut self) -> Result<(), Failure> {
        const WHAT: &str = "header of a member";
        // The first byte of the magic number has been read; the second one, method, flags, time
        // (4), extra flags and system follow.
        let mut fixed = [0; 10];
        fixed[1] = self.need(WHAT)?;
        if fixed[1] != 0x8b {
            return Err(Failure::corrupt("gzip: no member begins here"));
        }
        self.begun = true;
        for byte in &mut fixed[2..] {
            *byte = self.need(WHAT)?;
        }
        let (method, flags) = (fixed[2], fixed[3]);
        if method != 8 || flags & 0xe0 != 0 {
            return Err(Failure::corrupt(format!(
                "gzip: header of a member has method {method} and flags {flags:#04x}"
            )));
        }
        if flags & 4 != 0 {
            let length = u16::from_le_bytes([self.need(WHAT)?, self.need(WHAT)?]);
            for _ in 0..length {
                self.need(WHAT)?;
            }
        }
        for flag in [8, 16] {
            if flags & flag != 0 {
                let mut length = 0;
                while self.need(WHAT)? != 0 {
                    length += 1;
                    if length == HEADER_BYTES {
                        return Err(Failure::corrupt("gzip: a name in a header has no end"));
                    }
                }
            }
        }
        if flags & 2 != 0 {
            self.need(WHAT)?;
            self.need(WHAT)?;
        }
        Ok(())
    }

    pub(super) fn read(&mut self, out: &mut [u8]) -> Result<usize, Failure> {
        loop {
            match self.step(out)? {
                Stepped::Bytes(0) | Stepped::Boundary => {}
                Stepped::Bytes(n) => return Ok(n),
                Stepped::End => return Ok(0),
            }
        }
    }

    /// Decompresses a block of input: some bytes, perhaps none, or the end of the member.
    pub(super) fn step(&mut self, out: &mut [u8]) -> Result<Stepped, Failure> {
        if let Some(fault) = self.fault.take() {
            self.state = GzipState::End;
            return Err(fault);
        }
        loop {
            match self.state {
                GzipState::End => return Ok(Stepped::End),
                GzipState::Header => {
                    (self.begun, self.ended) = (false, false);
                    let mut first = self.input.byte()?;
                    while self.any && first == Some(0) {
                        // Padding.
                        first = self.input.byte()?;
                    }
                    match first {
                        Some(0x1f) => self.header()?,
                        Some(_) => return Err(Failure::corrupt("gzip: no member begins here")),
                        None => {
                            self.state = GzipState::End;
                            return Ok(Stepped::End);
                        }
                    }
                    self.inflate.reset(false);
                    self.crc.reset();
                    self.state = GzipState::Body;
                }
                GzipState::Body => {
                    let (before_in, before_out) =
                        (self.inflate.total_in(), self.inflate.total_out());
                    let bytes = self.input.fill_buf()?;
                    let at_end = bytes.is_empty();
                    let status = self.inflate.decompress(bytes, out, FlushDecompress::None);
                    let used = (self.inflate.total_in() - before_in) as usize;
                    let made = (self.inflate.total_out() - before_out) as usize;
                    self.input.consume(used);
                    self.crc.update(&out[..made]);
                    let fault = match status {
                        Ok(Status::StreamEnd) => {
                            self.state = GzipState::Trailer;
                            None
                        }
                        Ok(_) if made == 0 && at_end => {
                            Some(Failure::truncated("gzip: in the middle of a member"))
                        }
                        Ok(_) if made == 0 && used == 0 => {
                            Some(Failure::corrupt("gzip: the decoder is stuck"))
                        }
                        Ok(_) => None,
                        Err(_) => Some(Failure::corrupt("gzip: damaged data in a member")),
                    };
                    if made > 0 {
                        self.fault = fault;
                        return Ok(Stepped::Bytes(made));
                    }
                    if let Some(fault) = fault {
                        self.state = GzipState::End;
                        return Err(fault);
                    }
                    if self.state == GzipState::Body {
                        return Ok(Stepped::Bytes(0));
                    }
                }
                GzipState::Trailer => {
                    let mut trailer = [0; 8];
                    for byte in &mut trailer {
                        *byte = self.need("checksum of a member")?;
                    }
                    let [a, b, c, d, e, f, g, h] = trailer;
                    let (crc, size) = (
                        u32::from_le_bytes([a, b, c, d]),
                        u32::from_le_bytes([e, f, g, h]),
                    );
                    self.state = GzipState::Header;
                    self.ended = true;
                    let made = self.inflate.total_out();
                    if crc != self.crc.sum() {
                        self.state = GzipState::End;
                        return Err(Failure::corrupt(format!(
                            "gzip: member of {made} bytes has checksum {:08x}, expected {crc:08x}",
                            self.crc.sum()
                        )));
                    }
                    // Some writers get the size wrong. But if no member follows either, bytes of the
                    // trailer are missing, and the next member begins in it.
                    let follows = self.input.fill_buf()?.first().copied();
                    if size != made as u32 && follows.is_some_and(|byte| byte != 0x1f) {
                        (self.state, self.ended) = (GzipState::End, false);
                        return Err(Failure::corrupt(format!(
                            "gzip: member of {made} bytes states {size}, and no member follows"
                        )));
                    }
                    self.any = true;
                    return Ok(Stepped::Boundary);
                }
            }
        }
    }
}

impl Format for Gzip {
    const MEMORY: u64 = 1 << 20;

    fn begin(file: &SharedFile, at: u64, head: &[u8], _: &[u8]) -> Option<Self> {
        let reserved = head.get(3)? & 0xe0;
        (reserved == 0).then(|| Gzip::new(Input::of(file.clone(), at)))
    }
}

impl Member for Gzip {
    const MAGIC: &'static [u8] = &[0x1f, 0x8b, 8];

    fn may_begin(byte: u8) -> bool {
        // Zeros are padding.
        matches!(byte, 0x1f | 0)
    }

    fn step(&mut self, out: &mut [u8]) -> Result<Stepped, Failure> {
        self.step(out)
    }

    fn boundary(&self) -> Option<u64> {
        (self.state == GzipState::Header).then_some(self.input.consumed)
    }

    fn restart(&mut self) {
        self.state = GzipState::Header;
        self.fault = None;
    }

    fn begun(&self) -> bool {
        self.begun
    }

    fn ended(&self) -> bool {
        self.ended
    }

    fn input(&self) -> &Input {
        &self.input
    }

    fn input_mut(&mut self) -> &mut Input {
        &mut self.input
    }
}
