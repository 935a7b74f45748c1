//! The compressed bodies of HTTP.

use std::io::{self, Read};

use flate2::{Decompress, FlushDecompress, Status};

use super::gzip::Gzip;
use super::input::Input;
use super::{Fault, RATIO_FREE_BYTES, Reason, exceeds, lacks_memory};
use lookalike_base::append;

/// Decompresses a whole buffer of gzip, zlib, raw deflate, brotli or zstd, the encodings of HTTP
/// bodies.
///
/// Returns the output and whether the stream was whole; `Err` if the output exceeds a limit.
pub fn inflate_body(
    body: &[u8],
    kind: BodyStream,
    limit: u64,
    max_ratio: u64,
) -> Result<(Vec<u8>, bool), Fault> {
    let mut out = Vec::new();
    let mut step = vec![0; (64 << 10).min(body.len().saturating_mul(8)).max(1 << 10)];
    let no_memory = |error: io::Error| {
        let detail = format!("content encoding: {error}");
        Fault::new(Reason::DecompressorMemory, detail)
    };
    let mut decoder = BodyDecoder::new(body, kind).map_err(no_memory)?;
    loop {
        let made = match decoder.read(&mut step) {
            Ok(Some(0)) => return Ok((out, true)),
            Ok(Some(made)) => made,
            Ok(None) => return Ok((out, false)),
            Err(error) => return Err(no_memory(error)),
        };
        let total = (out.len() + made) as u64;
        if total > RATIO_FREE_BYTES && exceeds(total, max_ratio, body.len() as u64) {
            return Err(Fault::new(
                Reason::DecompressionBomb,
                format!("content encoding: more than {max_ratio} bytes for one"),
            ));
        }
        if total > limit {
            return Err(Fault::new(
                Reason::TooLarge,
                format!("more than {limit} bytes after its content encoding is undone"),
            ));
        }
        append(&mut out, &step[..made]);
    }
}

/// The largest window of a body compressed by zstd, in bits (RFC 9659).
const WINDOW_LOG: u32 = 23;

enum BodyDecoder<'b> {
    Gzip(Box<(Gzip, Input)>),
    Other(Box<dyn Read + 'b>),
    Inflate {
        body: &'b [u8],
        inflate: Box<Decompress>,
        whole: bool,
    },
}

impl<'b> BodyDecoder<'b> {
    /// Fails if the machine has no memory for it.
    fn new(body: &'b [u8], kind: BodyStream) -> io::Result<Self> {
        Ok(match kind {
            BodyStream::Gzip => {
                let reader = Box::new(io::Cursor::new(body.to_vec()));
                let input = Input::with_buffer(reader, body.len().clamp(1, 64 << 10));
                BodyDecoder::Gzip(Box::new((Gzip::new(), input)))
            }
            BodyStream::Brotli => {
                BodyDecoder::Other(Box::new(brotli::Decompressor::new(body, body.len())))
            }
            BodyStream::Zstd => {
                let mut decoder = ::zstd::stream::read::Decoder::with_buffer(body)?;
                decoder.window_log_max(WINDOW_LOG)?;
                BodyDecoder::Other(Box::new(decoder))
            }
            BodyStream::Zlib | BodyStream::Deflate => BodyDecoder::Inflate {
                body,
                inflate: Box::new(Decompress::new(kind == BodyStream::Zlib)),
                whole: false,
            },
        })
    }

    /// Returns 0 at the end of a whole stream, and `None` if the stream is broken or cut, or if more
    /// than padding follows it. Fails if the machine has no memory for it.
    fn read(&mut self, out: &mut [u8]) -> io::Result<Option<usize>> {
        Ok(match self {
            BodyDecoder::Gzip(gzip) => {
                let (gzip, input) = &mut **gzip;
                gzip.read(input, out).ok()
            }
            BodyDecoder::Other(decoder) => match decoder.read(out) {
                Err(error) if lacks_memory(&error) => return Err(error),
                // The decoder of brotli says only now if bytes follow.
                Ok(0) => decoder.read(out).ok(),
                read => read.ok(),
            },
            BodyDecoder::Inflate {
                whole: true, body, ..
            } => {
                let padding = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
                body.iter().all(padding).then_some(0)
            }
            BodyDecoder::Inflate {
                body,
                inflate,
                whole,
            } => {
                let (before_in, before_out) = (inflate.total_in(), inflate.total_out());
                let status = inflate.decompress(body, out, FlushDecompress::None);
                *body = &body[(inflate.total_in() - before_in) as usize..];
                let made = (inflate.total_out() - before_out) as usize;
                match status {
                    Ok(Status::StreamEnd) => *whole = true,
                    Ok(_) if made > 0 => {}
                    // Output before the damage counts; the next call finds no more input.
                    Err(_) if made > 0 => *body = &[],
                    _ => return Ok(None),
                }
                Some(made)
            }
        })
    }
}

/// The compressed streams that an HTTP body may contain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BodyStream {
    Gzip,
    Zlib,
    Deflate,
    Brotli,
    Zstd,
}
