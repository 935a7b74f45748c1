//! gzip.

use std::io::BufRead;
use std::sync::Arc;

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::ahead::{Helped, Shared};
use super::checked::Member;
use super::input::Input;
use super::members::{Format, Members};
use super::{Failure, Stepped};

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
    inflate: Decompress,
    crc: Crc,
    state: GzipState,
    /// A fault found together with bytes that must be delivered first.
    fault: Option<Failure>,
    /// Whether a member was read whole.
    pub(super) any: bool,
    /// Whether the last member has an end, whatever its checksum is.
    ended: bool,
}

impl Gzip {
    pub(super) fn new() -> Self {
        Gzip {
            inflate: Decompress::new(false),
            crc: Crc::new(),
            state: GzipState::Header,
            fault: None,
            any: false,
            ended: false,
        }
    }

    fn header(&mut self, input: &mut Input) -> Result<(), Failure> {
        const WHAT: &str = "gzip: in the header of a member";
        // The first byte of the magic number has been read; the second one, method, flags, time
        // (4), extra flags and system follow.
        if input.need(WHAT)? != [0x8b] {
            return Err(Failure::corrupt("gzip: no member begins here"));
        }
        input.begun = true;
        let [method, flags, ..]: [u8; 8] = input.need(WHAT)?;
        if method != 8 || flags & 0xe0 != 0 {
            return Err(Failure::corrupt(format!(
                "gzip: header of a member has method {method} and flags {flags:#04x}"
            )));
        }
        if flags & 4 != 0 {
            for _ in 0..u16::from_le_bytes(input.need(WHAT)?) {
                input.need::<1>(WHAT)?;
            }
        }
        for flag in [8, 16] {
            if flags & flag != 0 {
                let mut length = 0;
                while input.need(WHAT)? != [0] {
                    length += 1;
                    if length == HEADER_BYTES {
                        return Err(Failure::corrupt("gzip: a name in a header has no end"));
                    }
                }
            }
        }
        if flags & 2 != 0 {
            input.need::<2>(WHAT)?;
        }
        Ok(())
    }

    pub(super) fn read(&mut self, input: &mut Input, out: &mut [u8]) -> Result<usize, Failure> {
        loop {
            match self.step(input, out)? {
                Stepped::Bytes(0) | Stepped::Boundary => {}
                Stepped::Bytes(n) => return Ok(n),
                Stepped::End => return Ok(0),
            }
        }
    }

    /// Decompresses a block of a body. `None` if the body has ended without more bytes.
    fn body(&mut self, input: &mut Input, out: &mut [u8]) -> Result<Option<Stepped>, Failure> {
        let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
        let bytes = input.fill_buf()?;
        let at_end = bytes.is_empty();
        let status = self.inflate.decompress(bytes, out, FlushDecompress::None);
        let used = (self.inflate.total_in() - before_in) as usize;
        let made = (self.inflate.total_out() - before_out) as usize;
        input.consume(used);
        self.crc.update(&out[..made]);
        let fault = match status {
            Ok(Status::StreamEnd) => {
                self.state = GzipState::Trailer;
                None
            }
            Ok(_) if made == 0 && at_end => {
                Some(Failure::truncated("gzip: in the middle of a member"))
            }
            Ok(_) if made == 0 && used == 0 => Some(Failure::corrupt("gzip: the decoder is stuck")),
            Ok(_) => None,
            Err(_) => Some(Failure::corrupt("gzip: damaged data in a member")),
        };
        if made > 0 {
            self.fault = fault;
            return Ok(Some(Stepped::Bytes(made)));
        }
        if let Some(fault) = fault {
            self.state = GzipState::End;
            return Err(fault);
        }
        Ok((self.state == GzipState::Body).then_some(Stepped::Bytes(0)))
    }

    /// Compares the checksum of a member.
    fn trailer(&mut self, input: &mut Input) -> Result<Stepped, Failure> {
        const WHAT: &str = "gzip: in the checksum of a member";
        let crc = u32::from_le_bytes(input.need(WHAT)?);
        let size = u32::from_le_bytes(input.need(WHAT)?);
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
        let follows = input.fill_buf()?.first().copied();
        if size != made as u32 && follows.is_some_and(|byte| byte != 0x1f) {
            (self.state, self.ended) = (GzipState::End, false);
            return Err(Failure::corrupt(format!(
                "gzip: member of {made} bytes states {size}, and no member follows"
            )));
        }
        self.any = true;
        Ok(Stepped::Boundary)
    }
}

impl Format for Gzip {
    const MEMORY: u64 = 1 << 20;

    fn begin(head: &[u8], _: &[u8]) -> Option<Self> {
        let reserved = head.get(3)? & 0xe0;
        (reserved == 0).then(Gzip::new)
    }
}

impl Member for Gzip {
    const MAGIC: &'static [u8] = &[0x1f, 0x8b, 8];

    fn may_begin(byte: u8) -> bool {
        // Zeros are padding.
        matches!(byte, 0x1f | 0)
    }

    fn step(&mut self, input: &mut Input, out: &mut [u8]) -> Result<Stepped, Failure> {
        if let Some(fault) = self.fault.take() {
            self.state = GzipState::End;
            return Err(fault);
        }
        loop {
            match self.state {
                GzipState::End => return Ok(Stepped::End),
                GzipState::Header => {
                    (input.begun, self.ended) = (false, false);
                    let mut first = input.byte()?;
                    while self.any && first == Some(0) {
                        // Padding.
                        first = input.byte()?;
                    }
                    match first {
                        Some(0x1f) => self.header(input)?,
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
                    if let Some(stepped) = self.body(input, out)? {
                        return Ok(stepped);
                    }
                }
                GzipState::Trailer => return self.trailer(input),
            }
        }
    }

    fn is_between(&self) -> bool {
        self.state == GzipState::Header
    }

    fn restart(&mut self) {
        self.state = GzipState::Header;
        self.fault = None;
    }

    fn ended(&self) -> bool {
        self.ended
    }

    fn parts(of: &Helped<'_>) -> Option<Shared> {
        Some((Arc::new(Members::<Self>::new(of)), None))
    }
}
