//! bzip2.

use std::io::{BufRead, Read};

use super::input::Input;
use super::{Failure, after_last};

/// bzip2, with any number of streams.
pub(super) enum Bzip2 {
    Inside(::bzip2::bufread::BzDecoder<Input>),
    /// After the last stream.
    After(Input),
    /// Placeholder while one stream is replaced by the next.
    Between,
}

impl Bzip2 {
    pub(super) fn new(input: Input) -> Self {
        Bzip2::Inside(::bzip2::bufread::BzDecoder::new(input))
    }

    pub(super) fn input(&self) -> Option<&Input> {
        match self {
            Bzip2::Inside(decoder) => Some(decoder.get_ref()),
            Bzip2::After(input) => Some(input),
            Bzip2::Between => None,
        }
    }

    pub(super) fn read(&mut self, out: &mut [u8]) -> Result<usize, Failure> {
        while let Bzip2::Inside(decoder) = self {
            let n = decoder.read(out)?;
            if n > 0 || out.is_empty() {
                return Ok(n);
            }
            let Bzip2::Inside(decoder) = std::mem::replace(self, Bzip2::Between) else {
                break;
            };
            let mut input = decoder.into_inner();
            if matches!(input.fill_buf(), Ok([b'B', ..])) {
                *self = Bzip2::Inside(::bzip2::bufread::BzDecoder::new(input));
            } else {
                let rest = after_last(&mut input, "bzip2");
                *self = Bzip2::After(input);
                rest?;
            }
        }
        Ok(0)
    }
}
