//! Compresses and encodes output as the input was.

use std::io::{self, Write};

use super::copy::MemberSink;
use lookalike_base::WideEncoder;
use lookalike_source::{Codec, Decompressed};

/// A compressed file that is being written, in one member or several.
pub struct Encoder<W: Write> {
    /// `None` only while one member follows another.
    stream: Option<Stream<W>>,
    codec: Codec,
    /// Whether the current member has a byte.
    any: bool,
    /// The encoding of a text in UTF-16, and room for encoded bytes.
    wide: Option<(WideEncoder, Vec<u8>)>,
}

enum Stream<W: Write> {
    Plain(W),
    Gzip(flate2::write::GzEncoder<W>),
    Bzip2(bzip2::write::BzEncoder<W>),
    Xz(liblzma::write::XzEncoder<W>),
    Zstd(zstd::stream::write::Encoder<'static, W>),
    Lzw(super::lzw::Encoder<W>),
}

/// The levels that the programs of these formats use by default.
const GZIP_LEVEL: u32 = 6;
const XZ_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

impl<W: Write> Encoder<W> {
    pub fn new(out: W, codec: Codec) -> io::Result<Self> {
        Ok(Encoder {
            stream: Some(Stream::new(out, codec)?),
            codec,
            any: false,
            wide: None,
        })
    }

    /// An encoder to the encoding of an input, and to this compression.
    pub fn like(input: &Decompressed, out: W, codec: Codec) -> io::Result<Self> {
        let wide = input.wide.map(|(wide, mark)| WideEncoder::new(wide, mark));
        Ok(Encoder {
            wide: wide.map(|encoder| (encoder, Vec::new())),
            ..Encoder::new(out, codec)?
        })
    }

    /// Bytes of memory that a compressor takes.
    pub fn memory(codec: Codec) -> u64 {
        match codec {
            Codec::None | Codec::Gzip => 1 << 20,
            Codec::Lzw => 2 << 20,
            Codec::Bzip2 => 9 << 20,
            Codec::Zstd => 8 << 20,
            Codec::Xz => 96 << 20,
        }
    }

    /// Ends the file.
    pub fn finish(mut self) -> io::Result<W> {
        match self.stream.take() {
            Some(stream) => stream.finish(),
            None => Err(broken()),
        }
    }
}

/// An encoder whose last member could not be ended.
fn broken() -> io::Error {
    io::Error::other("the compressed stream failed before")
}

impl<W: Write> Stream<W> {
    fn new(out: W, codec: Codec) -> io::Result<Self> {
        Ok(match codec {
            Codec::None => Stream::Plain(out),
            Codec::Gzip => {
                let level = flate2::Compression::new(GZIP_LEVEL);
                Stream::Gzip(flate2::write::GzEncoder::new(out, level))
            }
            Codec::Bzip2 => {
                let level = bzip2::Compression::best();
                Stream::Bzip2(bzip2::write::BzEncoder::new(out, level))
            }
            Codec::Xz => Stream::Xz(liblzma::write::XzEncoder::new(out, XZ_LEVEL)),
            Codec::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(out, ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                Stream::Zstd(encoder)
            }
            Codec::Lzw => Stream::Lzw(super::lzw::Encoder::new(out)?),
        })
    }

    fn finish(self) -> io::Result<W> {
        match self {
            Stream::Plain(out) => Ok(out),
            Stream::Gzip(encoder) => encoder.finish(),
            Stream::Bzip2(encoder) => encoder.finish(),
            Stream::Xz(encoder) => encoder.finish(),
            Stream::Zstd(encoder) => encoder.finish(),
            Stream::Lzw(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.any |= !bytes.is_empty();
        if let Some((mut wide, mut encoded)) = self.wide.take() {
            encoded.clear();
            wide.encode(bytes, &mut encoded);
            let written = self.write_all(&encoded);
            self.wide = Some((wide, encoded));
            return written.map(|()| bytes.len());
        }
        match &mut self.stream {
            Some(Stream::Plain(out)) => out.write(bytes),
            Some(Stream::Gzip(encoder)) => encoder.write(bytes),
            Some(Stream::Bzip2(encoder)) => encoder.write(bytes),
            Some(Stream::Xz(encoder)) => encoder.write(bytes),
            Some(Stream::Zstd(encoder)) => encoder.write(bytes),
            Some(Stream::Lzw(encoder)) => encoder.write(bytes),
            None => Err(broken()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> MemberSink for Encoder<W> {
    fn end_member(&mut self) -> io::Result<()> {
        // The other formats are read as one stream by programs that expect no members.
        if !std::mem::take(&mut self.any) || self.codec != Codec::Gzip {
            return Ok(());
        }
        let out = self.stream.take().ok_or_else(broken)?.finish()?;
        self.stream = Some(Stream::new(out, self.codec)?);
        Ok(())
    }
}
