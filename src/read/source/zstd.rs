//! zstd.

use std::io::{self, BufRead};

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};
use zstd::zstd_safe::DParameter;

use super::input::Input;
use super::{Failure, Stepped};

/// zstd (RFC 8878), with any number of frames.
pub(super) struct Zstd {
    pub(super) input: Input,
    decoder: Decoder<'static>,
    /// Whether a frame has begun and not ended.
    inside: bool,
}

impl Zstd {
    /// Frames may need a window of `window_log` bits.
    pub(super) fn new(input: Input, window_log: u32) -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(window_log))?;
        Ok(Zstd {
            input,
            decoder,
            inside: false,
        })
    }

    /// The byte of the file at which the next frame begins, unless this is inside of one.
    pub(super) fn boundary(&self) -> Option<u64> {
        (!self.inside).then_some(self.input.consumed)
    }

    /// Decompresses until there are some bytes or the frame ends.
    pub(super) fn step(&mut self, out: &mut [u8]) -> Result<Stepped, Failure> {
        if !self.inside {
            if self.input.fill_buf()?.is_empty() {
                return Ok(Stepped::End);
            }
            self.decoder.reinit()?;
            self.inside = true;
        }
        // What the last call had no room for comes first, without more input.
        let mut input: &[u8] = &[];
        loop {
            let mut from = InBuffer::around(input);
            let mut to = OutBuffer::around(&mut *out);
            let hint = self.decoder.run(&mut from, &mut to)?;
            let (used, made) = (from.pos(), to.pos());
            self.input.consume(used);
            // The frame has ended and all of it is delivered.
            self.inside = hint != 0;
            if made > 0 {
                return Ok(Stepped::Bytes(made));
            }
            if !self.inside {
                return Ok(Stepped::Boundary);
            }
            input = self.input.fill_buf()?;
            if input.is_empty() {
                let cut = io::Error::new(io::ErrorKind::UnexpectedEof, "incomplete frame");
                return Err(cut.into());
            }
        }
    }

    /// Goes on at another byte of the file, where a frame begins or the file ends.
    pub(super) fn go_on_at(&mut self, at: u64) {
        self.input.go_on_at(at);
        self.inside = false;
    }
}
