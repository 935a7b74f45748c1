//! The bytes of one input, decompressed if the first bytes show that they are compressed.
//!
//! Decoders distinguish a cut stream from a damaged one, and deliver the bytes before the cut or
//! the damage. With gzip and compress that is every byte before the damage; bzip2 and xz lose up to
//! 32 KiB before it, and zstd up to 256 KiB.

mod body;
mod bzip2;
mod gzip;
mod input;

use std::io::{self, BufRead, Read};
use std::path::Path;

use self::bzip2::Bzip2;
use self::gzip::Gzip;
use super::lzw::Lzw;
use super::record::Reason;
use crate::Error;

pub(super) use body::{BodyStream, inflate_body};
pub(super) use input::Input;

/// Output bytes requested per call from decoders that, on damage, drop what the same call had
/// already produced. This bounds the loss.
const PIECE: usize = 32 << 10;

/// 128 MiB: `xz -9` needs 65 MiB, and `zstd --long` needs 128 MiB.
const DECODER_MEMORY: u64 = 128 << 20;
const ZSTD_WINDOW_LOG: u32 = 27;

/// Why a stream of bytes ended early, or what was left after its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub reason: Reason,
    pub detail: String,
    /// The operating system's error number, if the disk or the machine failed rather than the file.
    pub failure: Option<i32>,
}

impl Fault {
    pub fn new(reason: Reason, detail: impl Into<String>) -> Self {
        Fault {
            reason,
            detail: detail.into(),
            failure: None,
        }
    }

    /// An error that the operating system returned.
    pub fn refused(error: &io::Error) -> Self {
        let failure = error.raw_os_error().filter(|_| !lasting(error));
        Fault {
            failure,
            ..Fault::new(Reason::Unreadable, error.to_string())
        }
    }
}

/// Whether an error is permanent: a property of the file, which the operating system would report
/// again, rather than a one-time failure of the disk or the machine.
pub(crate) fn lasting(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, IsADirectory, NotADirectory, NotFound, PermissionDenied};
    if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        return true;
    }
    let kinds = [
        InvalidFilename,
        IsADirectory,
        NotADirectory,
        NotFound,
        PermissionDenied,
    ];
    error.raw_os_error().is_none() || kinds.contains(&error.kind())
}

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    None,
    Gzip,
    Bzip2,
    Xz,
    Zstd,
    /// compress(1), `.Z`.
    Lzw,
}

impl Codec {
    fn name(self) -> &'static str {
        match self {
            Codec::None => "file",
            Codec::Gzip => "gzip",
            Codec::Bzip2 => "bzip2",
            Codec::Xz => "xz",
            Codec::Zstd => "zstd",
            Codec::Lzw => "compress (.Z)",
        }
    }
}

impl std::fmt::Display for Codec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The compression whose magic number these first bytes are.
pub(super) fn compression_of(head: &[u8]) -> Option<Codec> {
    if head.starts_with(&[0x1f, 0x8b]) {
        Some(Codec::Gzip)
    } else if head.starts_with(&[0x1f, 0x9d]) {
        Some(Codec::Lzw)
    } else if head.len() >= 10
        && head.starts_with(b"BZh")
        && head[3].is_ascii_digit()
        && (head[4..10] == *b"1AY&SY" || head[4..10] == [0x17, 0x72, 0x45, 0x38, 0x50, 0x90])
    {
        Some(Codec::Bzip2)
    } else if head.starts_with(b"\xfd7zXZ\0") {
        Some(Codec::Xz)
    } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
        || (head.len() >= 4 && head[0] & 0xf0 == 0x50 && head[1..4] == [0x2a, 0x4d, 0x18])
    {
        Some(Codec::Zstd)
    } else {
        None
    }
}

/// Whether these bytes may be the first of a compressed file: they are those of a magic number, as
/// far as they go.
fn begins_compressed(head: &[u8]) -> bool {
    const MAGIC: [&[u8]; 6] = [
        &[0x1f, 0x8b],
        &[0x1f, 0x9d],
        b"BZh",
        b"\xfd7zXZ\0",
        &[0x28, 0xb5, 0x2f, 0xfd],
        &[0x2a, 0x4d, 0x18],
    ];
    let common = |magic: &[u8], head: &[u8]| magic.iter().zip(head).all(|(a, b)| a == b);
    let [first, rest @ ..] = head else {
        return true;
    };
    MAGIC[..5].iter().any(|magic| common(magic, head)) || first >> 4 == 5 && common(MAGIC[5], rest)
}

/// Bytes that a decoder may take for a file with these first bytes.
fn decoder_memory(compression: Codec, head: &[u8]) -> u64 {
    let window = match compression {
        Codec::Xz => xz_dictionary(head).unwrap_or(DECODER_MEMORY),
        Codec::Zstd => zstd_window(head).unwrap_or(DECODER_MEMORY),
        // 900 KB a block, and 4 bytes for each of them.
        Codec::Bzip2 => 5 << 20,
        Codec::None | Codec::Gzip | Codec::Lzw => 0,
    };
    window.min(DECODER_MEMORY)
}

/// The dictionary of the first block (The .xz File Format 1.2.1, sections 3.1 and 5.3.1).
fn xz_dictionary(head: &[u8]) -> Option<u64> {
    const STREAM_HEADER: usize = 12;
    const LZMA2: u8 = 0x21;
    let block = head.get(STREAM_HEADER..)?;
    let (flags, mut fields) = (*block.get(1)?, block.get(2..)?);
    // The sizes, if they are there: numbers of 7 bits a byte.
    for present in [0x40, 0x80] {
        if flags & present != 0 {
            let last = fields.iter().position(|byte| byte & 0x80 == 0)?;
            fields = fields.get(last + 1..)?;
        }
    }
    // Filters before the last one, which is LZMA2: each its number, the length of its properties,
    // and these.
    while *fields.first()? != LZMA2 {
        fields = fields.get(2 + usize::from(*fields.get(1)?)..)?;
    }
    let bits = *fields.get(2)?;
    (bits <= 40).then(|| (2 | u64::from(bits & 1)) << (bits / 2 + 11))
}

/// The window of the first frame (RFC 8878, section 3.1.1.1).
fn zstd_window(head: &[u8]) -> Option<u64> {
    const MAGIC: usize = 4;
    if head.first()? & 0xf0 == 0x50 {
        // A frame to be skipped says nothing. The window of levels up to 19 is at most this.
        return Some(8 << 20);
    }
    let descriptor = *head.get(MAGIC)?;
    let rest = head.get(MAGIC + 1..)?;
    if descriptor & 0x20 == 0 {
        let window = *rest.first()?;
        let base = 1u64 << (10 + (window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    // One segment: the window is the length of the content, after the number of the dictionary.
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let length = [1, 2, 4, 8][usize::from(descriptor >> 6)];
    let bytes = rest.get(dictionary..dictionary + length)?;
    let number = bytes
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | u64::from(byte));
    Some(if length == 2 { number + 256 } else { number })
}

enum Decoder {
    Plain(Input),
    Gzip(Box<Gzip>),
    Bzip2(Box<Bzip2>),
    Xz(Box<liblzma::bufread::XzDecoder<Input>>),
    Zstd(Box<zstd::stream::read::Decoder<'static, Input>>),
    Lzw(Box<Lzw>),
}

/// The decompressed bytes of one input.
pub(super) struct Source {
    decoder: Decoder,
    compression: Option<Codec>,
    produced: u64,
    memory: u64,
}

impl Source {
    /// Bytes as they are.
    pub fn plain(input: Input) -> Self {
        Source {
            decoder: Decoder::Plain(input),
            compression: None,
            produced: 0,
            memory: 0,
        }
    }

    /// Chooses the decoder from the first bytes.
    pub fn new(mut input: Input) -> Result<Self, Fault> {
        let head = input.head();
        let compression = compression_of(head);
        let memory = compression.map_or(0, |compression| decoder_memory(compression, head));
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            Fault::new(Reason::DecompressorMemory, format!("{what}: {error}"))
        };
        let decoder = match compression {
            None | Some(Codec::None) => Decoder::Plain(input),
            Some(Codec::Gzip) => Decoder::Gzip(Box::new(Gzip::new(input))),
            Some(Codec::Bzip2) => Decoder::Bzip2(Box::new(Bzip2::new(input))),
            Some(Codec::Xz) => {
                let stream = liblzma::stream::Stream::new_stream_decoder(
                    DECODER_MEMORY,
                    liblzma::stream::CONCATENATED,
                )
                .map_err(|error| failed("xz", &error))?;
                Decoder::Xz(Box::new(liblzma::bufread::XzDecoder::new_stream(
                    input, stream,
                )))
            }
            Some(Codec::Zstd) => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(input)
                    .map_err(|error| failed("zstd", &error))?;
                decoder
                    .window_log_max(ZSTD_WINDOW_LOG)
                    .map_err(|error| failed("zstd", &error))?;
                Decoder::Zstd(Box::new(decoder))
            }
            Some(Codec::Lzw) => Decoder::Lzw(Box::new(Lzw::new(input))),
        };
        Ok(Source {
            decoder,
            compression,
            produced: 0,
            memory,
        })
    }

    /// Bytes that the decoder may take, by what the first frame or block says. Later ones of the
    /// same file may say more, up to 128 MiB, but are seldom written so.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// The detected compression, if any.
    pub fn compression(&self) -> Option<Codec> {
        self.compression
    }

    /// Bytes of the file consumed so far.
    pub fn position(&self) -> u64 {
        self.input().map_or(0, |input| input.consumed)
    }

    fn input(&self) -> Option<&Input> {
        match &self.decoder {
            Decoder::Plain(input) => Some(input),
            Decoder::Gzip(gzip) => Some(&gzip.input),
            Decoder::Bzip2(bzip2) => bzip2.input(),
            Decoder::Xz(decoder) => Some(decoder.get_ref()),
            Decoder::Zstd(decoder) => Some(decoder.get_ref()),
            Decoder::Lzw(lzw) => Some(lzw.input()),
        }
    }

    /// Whether bytes of the file are in memory that are not decompressed yet.
    pub fn has_more(&self) -> bool {
        self.input().is_some_and(|input| input.start < input.end)
    }

    /// Reads decompressed bytes; 0 at the end.
    pub fn read(&mut self, out: &mut [u8], max_ratio: u64) -> Result<usize, Fault> {
        let piece = out.len().min(PIECE);
        let result = match &mut self.decoder {
            Decoder::Plain(input) => input.read(out).map_err(Failure::Io),
            Decoder::Gzip(gzip) => gzip.read(out),
            Decoder::Bzip2(bzip2) => bzip2.read(&mut out[..piece]),
            Decoder::Xz(decoder) => decoder.read(&mut out[..piece]).map_err(Failure::Io),
            // A block has up to 128 KiB; the decoder delivers it whole only if `out` has room for
            // it.
            Decoder::Zstd(decoder) => decoder.read(out).map_err(Failure::Io),
            Decoder::Lzw(lzw) => lzw.read(out),
        };
        let n = match result {
            Ok(n) => n,
            Err(failure) => return Err(self.fault_of(failure)),
        };
        self.produced += n as u64;
        if let Some(compression) = self.compression
            && self.produced > super::RATIO_FREE_BYTES
            && exceeds(self.produced, max_ratio, self.position())
        {
            return Err(Fault::new(
                Reason::DecompressionBomb,
                format!(
                    "{compression}: {} bytes out of {}, at most {max_ratio} for one; the rest is \
                     left out",
                    self.produced,
                    self.position()
                ),
            ));
        }
        Ok(n)
    }

    fn fault_of(&self, failure: Failure) -> Fault {
        if let Some(failure) = self.input().and_then(|input| input.failure.clone()) {
            return failure;
        }
        let compression = self.compression.unwrap_or(Codec::None);
        match failure {
            Failure::Fault(fault) => fault,
            Failure::Io(error) => {
                let text = error.to_string();
                let memory = text.contains("too much memory")
                    || error.get_ref().is_some_and(|inner| {
                        inner
                            .downcast_ref::<liblzma::stream::Error>()
                            .is_some_and(|error| *error == liblzma::stream::Error::MemLimit)
                    });
                let reason = if memory {
                    Reason::DecompressorMemory
                } else if error.kind() == io::ErrorKind::UnexpectedEof {
                    Reason::TruncatedCompression
                } else {
                    Reason::CorruptCompression
                };
                Fault::new(reason, format!("{compression}: {text}"))
            }
        }
    }
}

/// The decompressed bytes of a file that holds no documents, such as a list of pairs.
pub(crate) struct Decompressed(Source);

impl Decompressed {
    /// Opens a file with any supported compression, or none.
    pub(crate) fn open(path: &Path) -> crate::Result<Decompressed> {
        let file = crate::store::disk::open(path)?;
        let source = Source::new(Input::new(Box::new(file))).map_err(io_error);
        Ok(Decompressed(source.map_err(Error::io("read", path))?))
    }

    /// The compression that the first bytes show.
    pub(crate) fn codec(&self) -> Codec {
        self.0.compression.unwrap_or(Codec::None)
    }

    /// Bytes that the decoder may take.
    pub(crate) fn memory(&self) -> u64 {
        self.0.memory
    }

    /// The number of members that have begun. Only gzip is known to have several; a call of `read`
    /// gives bytes of one.
    pub(crate) fn members(&self) -> u64 {
        match &self.0.decoder {
            Decoder::Gzip(gzip) => gzip.members,
            _ => 1,
        }
    }
}

impl Read for Decompressed {
    /// No ratio limit applies: the bytes are streamed, and the user named the file explicitly.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out, u64::MAX).map_err(io_error)
    }
}

fn io_error(fault: Fault) -> io::Error {
    if let Some(failure) = fault.failure {
        return io::Error::from_raw_os_error(failure);
    }
    io::Error::other(format!("{} ({})", fault.reason.text(), fault.detail))
}

/// The error of a decoder.
pub(super) enum Failure {
    Io(io::Error),
    Fault(Fault),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}

impl Failure {
    pub fn corrupt(detail: impl Into<String>) -> Self {
        Failure::Fault(Fault::new(Reason::CorruptCompression, detail))
    }

    pub fn truncated(detail: impl Into<String>) -> Self {
        Failure::Fault(Fault::new(Reason::TruncatedCompression, detail))
    }
}

/// Checks what follows the last member of a gzip or bzip2 file. Zeros are padding (of tapes and of
/// some writers). Anything else is one stretch of stray bytes, whose length is reported.
fn after_last(input: &mut Input, compression: &str) -> Result<(), Failure> {
    let (mut length, mut garbage) = (0u64, false);
    loop {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            break;
        }
        let n = bytes.len();
        garbage |= bytes.iter().any(|&byte| byte != 0);
        length += n as u64;
        input.consume(n);
    }
    if garbage {
        return Err(Failure::Fault(Fault::new(
            Reason::StrayBytes,
            format!("{length} bytes after the end of the {compression} stream"),
        )));
    }
    Ok(())
}

/// Whether `from` bytes grew more than `max_ratio` times. A ratio of 0, which
/// [`super::ReadConfig::check`] rejects, allows no output.
fn exceeds(produced: u64, max_ratio: u64, from: u64) -> bool {
    produced
        .checked_div(max_ratio)
        .is_none_or(|least| least > from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What compressors write in their headers is what was asked of them.
    #[test]
    fn decoders_say_what_memory_they_take() {
        let memory = |bytes: Vec<u8>| {
            let input = Input::new(Box::new(io::Cursor::new(bytes)));
            Source::new(input).unwrap().memory()
        };
        let text = b"a text ".repeat(100_000);
        assert_eq!(memory(text.clone()), 0);
        for (preset, bytes) in [(0, 1 << 18), (1, 1 << 20), (6, 8 << 20), (9, 64 << 20)] {
            let mut xz = liblzma::write::XzEncoder::new(Vec::new(), preset);
            io::Write::write_all(&mut xz, &text).unwrap();
            assert_eq!(memory(xz.finish().unwrap()), bytes);
        }
        for log in [10, 17, 23, 27] {
            let mut zstd = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
            zstd.window_log(log).unwrap();
            io::Write::write_all(&mut zstd, &text).unwrap();
            assert_eq!(memory(zstd.finish().unwrap()), 1 << log);
        }
        // Short contents are one segment.
        for length in [5, 255, 256, 300, 65_535, 65_792] {
            let zstd = zstd::bulk::compress(&text[..length], 1).unwrap();
            assert_eq!(memory(zstd), length as u64);
        }
        // Frames to be skipped, and headers that are cut off.
        let skipped = b"\x50\x2a\x4d\x18\x01\0\0\0x";
        assert_eq!(memory(skipped.to_vec()), 8 << 20);
        assert_eq!(memory(b"\xfd7zXZ\0".to_vec()), DECODER_MEMORY);
        assert_eq!(memory(vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0]), DECODER_MEMORY);
    }
}
