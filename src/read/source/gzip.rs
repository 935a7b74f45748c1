//! gzip.

use std::io::BufRead;

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::input::Input;
use super::{Failure, Fault, Stepped, after_last};
use crate::read::record::Reason;

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
    /// Whether the first byte of the next member's magic number was already consumed.
    magic_begun: bool,
    /// A fault found together with bytes that must be delivered first.
    fault: Option<Failure>,
    /// The number of members that have begun.
    pub(super) members: u64,
}

impl Gzip {
    pub(super) fn new(input: Input) -> Self {
        Gzip {
            input,
            inflate: Decompress::new(false),
            crc: Crc::new(),
            state: GzipState::Header,
            magic_begun: false,
            fault: None,
            members: 0,
        }
    }

    fn need(&mut self, what: &str) -> Result<u8, Failure> {
        self.input
            .byte()?
            .ok_or_else(|| Failure::truncated(format!("gzip: in the {what}")))
    }

    fn header(&mut self) -> Result<(), Failure> {
        const WHAT: &str = "header of a member";
        // The magic number has been read; method, flags, time (4), extra flags and system follow.
        let mut fixed = [0; 10];
        let begun = usize::from(std::mem::take(&mut self.magic_begun));
        for byte in &mut fixed[begun..] {
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
                while self.need(WHAT)? != 0 {}
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
                Stepped::Bytes(n) => return Ok(n),
                Stepped::Boundary => {}
                Stepped::End => return Ok(0),
            }
        }
    }

    /// The byte of the file at which the next member begins, unless this is inside of one.
    pub(super) fn boundary(&self) -> Option<u64> {
        let begun = u64::from(self.magic_begun);
        (self.state == GzipState::Header).then(|| self.input.consumed - begun)
    }

    /// Goes on at another byte of the file, where a member begins.
    pub(super) fn go_on_at(&mut self, at: u64) {
        self.input.go_on_at(at);
        self.state = GzipState::Header;
        self.magic_begun = false;
    }

    /// Ends the file.
    pub(super) fn end(&mut self) {
        self.state = GzipState::End;
    }

    /// Decompresses until there are some bytes or the member ends.
    pub(super) fn step(&mut self, out: &mut [u8]) -> Result<Stepped, Failure> {
        if let Some(fault) = self.fault.take() {
            self.state = GzipState::End;
            return Err(fault);
        }
        loop {
            match self.state {
                GzipState::End => return Ok(Stepped::End),
                GzipState::Header => {
                    self.header()?;
                    self.members += 1;
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
                    // Some writers get the size wrong; only the checksum decides.
                    if crc != self.crc.sum() {
                        self.state = GzipState::End;
                        return Err(Failure::corrupt(format!(
                            "gzip: member of {size} bytes has checksum {:08x}, expected {crc:08x}",
                            self.crc.sum()
                        )));
                    }
                    let next = self.input.fill_buf()?;
                    if next.first() != Some(&0x1f) {
                        self.state = GzipState::End;
                        after_last(&mut self.input, "gzip")?;
                        return Ok(Stepped::End);
                    }
                    // Only one byte of the magic number is sure to be buffered.
                    self.input.consume(1);
                    if self.input.fill_buf()?.first() != Some(&0x8b) {
                        self.state = GzipState::End;
                        after_last(&mut self.input, "gzip")?;
                        return Err(Failure::Fault(Fault::new(
                            Reason::StrayBytes,
                            "bytes after the end of the gzip stream",
                        )));
                    }
                    self.magic_begun = true;
                    return Ok(Stepped::Boundary);
                }
            }
        }
    }
}
