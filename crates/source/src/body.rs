//! The compressed bodies of HTTP.

use std::io;

use brotli::enc::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};
use zstd::zstd_safe::DParameter;

use super::gzip::Gzip;
use super::input::Input;
use super::zstd::begins_frame;
use super::{Fault, RATIO_FREE_BYTES, Reason, exceeds, lacks_memory};
use lookalike_base::append;

/// Decompresses a whole buffer of gzip, zlib, raw deflate, brotli or zstd, the encodings of HTTP
/// bodies.
///
/// Returns the output and how the body ends; `Err` if the output exceeds a limit.
pub fn inflate_body(
    body: &[u8],
    kind: BodyStream,
    limit: u64,
    max_ratio: u64,
) -> Result<(Vec<u8>, BodyEnd), Fault> {
    let (mut rest, mut out) = (body, Vec::new());
    let mut part = vec![0; (64 << 10).min(body.len().saturating_mul(8)).max(1 << 10)];
    let no_memory = |error: io::Error| {
        let detail = format!("content encoding: {error}");
        Fault::new(Reason::DecompressorMemory, detail)
    };
    let mut step = decoder(body, kind).map_err(no_memory)?;
    loop {
        let (used, made, ended) = step(rest, &mut part);
        rest = &rest[used..];
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
        append(&mut out, &part[..made]);
        let padding = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
        let end = match ended {
            Ok(false) if used + made > 0 => continue,
            Ok(true) if rest.iter().all(padding) => BodyEnd::Whole,
            Ok(true) => BodyEnd::Followed,
            Err(error) if lacks_memory(&error) => return Err(no_memory(error)),
            Ok(false) | Err(_) => BodyEnd::Broken,
        };
        return Ok((out, end));
    }
}

/// The largest window of a body compressed by zstd, in bits (RFC 9659).
const WINDOW_LOG: u32 = 23;

/// Bytes that the decoder of brotli is given at a time: it counts them in 32 bits.
const BROTLI_BYTES: usize = 1 << 30;

/// Decompresses some of the rest of a body: how many bytes it read and made, and whether the stream
/// ended, or how it is broken.
type BodyStep = dyn FnMut(&[u8], &mut [u8]) -> (usize, usize, io::Result<bool>);

/// Fails if the machine has no memory for it.
fn decoder(body: &[u8], kind: BodyStream) -> io::Result<Box<BodyStep>> {
    let broken = || io::Error::from(io::ErrorKind::InvalidData);
    Ok(match kind {
        BodyStream::Gzip => {
            let reader = Box::new(io::Cursor::new(body.to_vec()));
            let mut input = Input::with_buffer(reader, body.len().clamp(1, 64 << 10));
            let mut gzip = Gzip::new();
            Box::new(move |rest, out| match gzip.read(&mut input, out) {
                Ok(0) => (rest.len(), 0, Ok(true)),
                Ok(made) => (0, made, Ok(false)),
                Err(_) => (0, 0, Ok(gzip.any && !input.begun)),
            })
        }
        BodyStream::Brotli => {
            let [bytes, words, codes] = [(); 3].map(|()| StandardAlloc::default());
            let (mut state, mut total) = (BrotliState::new(bytes, words, codes), 0);
            Box::new(move |rest, out| {
                let (mut used, mut left) = (0, rest.len().min(BROTLI_BYTES));
                let (mut made, mut room) = (0, out.len());
                let result = BrotliDecompressStream(
                    &mut left, &mut used, rest, &mut room, &mut made, out, &mut total, &mut state,
                );
                let ended = match result {
                    BrotliResult::ResultFailure => Err(broken()),
                    result => Ok(matches!(result, BrotliResult::ResultSuccess)),
                };
                (used, made, ended)
            })
        }
        BodyStream::Zstd => {
            let mut decoder = Decoder::new()?;
            decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG))?;
            Box::new(move |rest, out| {
                let (mut from, mut to) = (InBuffer::around(rest), OutBuffer::around(out));
                let hint = decoder.run(&mut from, &mut to);
                let next = rest[from.pos()..].first_chunk();
                let ended = hint.map(|hint| hint == 0 && !next.is_some_and(begins_frame));
                (from.pos(), to.pos(), ended)
            })
        }
        BodyStream::Zlib | BodyStream::Deflate => {
            let mut inflate = Decompress::new(kind == BodyStream::Zlib);
            Box::new(move |rest, out| {
                let (read, written) = (inflate.total_in(), inflate.total_out());
                let status = inflate.decompress(rest, out, FlushDecompress::None);
                let used = (inflate.total_in() - read) as usize;
                let made = (inflate.total_out() - written) as usize;
                let ended = status.map(|status| status == Status::StreamEnd);
                (used, made, ended.map_err(io::Error::from))
            })
        }
    })
}

/// How a compressed body ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BodyEnd {
    /// With its stream, or with padding behind it.
    Whole,
    /// Other bytes follow the stream.
    Followed,
    /// The stream is broken or cut.
    Broken,
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
