//! The bytes of one input, decompressed if the first bytes show that they are compressed.
//!
//! Decoders distinguish a cut stream from a damaged one, and deliver the bytes before the cut or
//! the damage. With gzip and compress that is every byte before the damage; bzip2 and xz lose up to
//! 32 KiB before it, and zstd up to 256 KiB.

use std::io::{self, BufRead, Read};
use std::path::Path;

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::lzw::Lzw;
use super::record::Reason;
use crate::Error;

/// Compressed bytes are read in blocks of this size.
const INPUT_BUFFER: usize = 256 << 10;

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

/// The file's own bytes, buffered and counted.
pub(super) struct Input {
    inner: Box<dyn Read + Send>,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    consumed: u64,
    /// The operating system's error, kept apart from the errors of decoders.
    failure: Option<Fault>,
    ended: bool,
    /// Whether the first bytes need not be more than a line.
    by_line: bool,
}

impl Input {
    pub fn new(inner: Box<dyn Read + Send>) -> Self {
        Input::with_buffer(inner, INPUT_BUFFER)
    }

    /// An input of which the first line may be all that comes before an answer to it.
    pub fn by_line(inner: Box<dyn Read + Send>) -> Self {
        Input {
            by_line: true,
            ..Input::new(inner)
        }
    }

    fn with_buffer(inner: Box<dyn Read + Send>, length: usize) -> Self {
        Input {
            inner,
            buffer: vec![0; length].into_boxed_slice(),
            start: 0,
            end: 0,
            consumed: 0,
            failure: None,
            ended: false,
            by_line: false,
        }
    }

    /// Fills the buffer, which must be empty, completely or to the end of the file. Decoders then
    /// see the same blocks however the operating system splits its reads. That matters because the
    /// number of bytes that they lose at damage depends on the blocks.
    fn fill(&mut self) {
        self.fill_until(|_| false);
    }

    fn fill_until(&mut self, enough: impl Fn(&[u8]) -> bool) {
        (self.start, self.end) = (0, 0);
        while !self.ended && self.end < self.buffer.len() && !enough(&self.buffer[..self.end]) {
            match self.inner.read(&mut self.buffer[self.end..]) {
                Ok(n) => {
                    self.ended = n == 0;
                    self.end += n;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    self.failure = Some(Fault::refused(&error));
                }
            }
        }
    }

    /// The first bytes. Valid only before any byte is consumed.
    fn head(&mut self) -> &[u8] {
        if self.by_line {
            // A line end in compressed bytes is none.
            let is_line = |head: &[u8]| head.contains(&b'\n') && !begins_compressed(head);
            self.fill_until(is_line);
        } else {
            self.fill();
        }
        &self.buffer[..self.end]
    }

    /// The next byte, or `None` at the end.
    pub fn byte(&mut self) -> io::Result<Option<u8>> {
        let byte = self.fill_buf()?.first().copied();
        self.consume(usize::from(byte.is_some()));
        Ok(byte)
    }
}

impl Read for Input {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.start == self.end && !self.ended {
            // Nothing is buffered, so read directly into `out`.
            loop {
                match self.inner.read(out) {
                    Ok(n) => {
                        self.ended = n == 0 && !out.is_empty();
                        self.consumed += n as u64;
                        return Ok(n);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => {
                        self.ended = true;
                        self.failure = Some(Fault::refused(&error));
                        return Err(error);
                    }
                }
            }
        }
        if self.start == self.end
            && let Some(failure) = &self.failure
        {
            return Err(io::Error::other(failure.detail.clone()));
        }
        let n = out.len().min(self.end - self.start);
        out[..n].copy_from_slice(&self.buffer[self.start..self.start + n]);
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            self.fill();
            if let Some(failure) = self.failure.as_ref().filter(|_| self.end == 0) {
                return Err(io::Error::other(failure.detail.clone()));
            }
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, n: usize) {
        self.start = (self.start + n).min(self.end);
        self.consumed += n as u64;
    }
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
            Some(Codec::Bzip2) => Decoder::Bzip2(Box::new(Bzip2::Inside(
                bzip2::bufread::BzDecoder::new(input),
            ))),
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum GzipState {
    Header,
    Body,
    Trailer,
    End,
}

/// gzip (RFC 1952), with any number of members.
struct Gzip {
    input: Input,
    inflate: Decompress,
    crc: Crc,
    state: GzipState,
    /// Whether the first byte of the next member's magic number was already consumed.
    magic_begun: bool,
    /// A fault found together with bytes that must be delivered first.
    fault: Option<Failure>,
    /// The number of members that have begun.
    members: u64,
}

impl Gzip {
    fn new(input: Input) -> Self {
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

    fn read(&mut self, out: &mut [u8]) -> Result<usize, Failure> {
        if let Some(fault) = self.fault.take() {
            self.state = GzipState::End;
            return Err(fault);
        }
        loop {
            match self.state {
                GzipState::End => return Ok(0),
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
                        return Ok(made);
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
                        return Ok(0);
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
                }
            }
        }
    }
}

/// bzip2, with any number of streams.
enum Bzip2 {
    Inside(bzip2::bufread::BzDecoder<Input>),
    /// After the last stream.
    After(Input),
    /// Placeholder while one stream is replaced by the next.
    Between,
}

impl Bzip2 {
    fn input(&self) -> Option<&Input> {
        match self {
            Bzip2::Inside(decoder) => Some(decoder.get_ref()),
            Bzip2::After(input) => Some(input),
            Bzip2::Between => None,
        }
    }

    fn read(&mut self, out: &mut [u8]) -> Result<usize, Failure> {
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
                *self = Bzip2::Inside(bzip2::bufread::BzDecoder::new(input));
            } else {
                let rest = after_last(&mut input, "bzip2");
                *self = Bzip2::After(input);
                rest?;
            }
        }
        Ok(0)
    }
}

/// Whether `from` bytes grew more than `max_ratio` times. A ratio of 0, which
/// [`super::ReadConfig::check`] rejects, allows no output.
fn exceeds(produced: u64, max_ratio: u64, from: u64) -> bool {
    produced
        .checked_div(max_ratio)
        .is_none_or(|least| least > from)
}

/// Decompresses a whole buffer of gzip, zlib or raw deflate, the encodings of HTTP bodies.
///
/// Returns the output and whether the stream was whole; `Err` if the output exceeds a limit.
pub(super) fn inflate_body(
    body: &[u8],
    kind: BodyStream,
    limit: u64,
    max_ratio: u64,
) -> Result<(Vec<u8>, bool), Fault> {
    let mut out = Vec::new();
    let mut step = vec![0; (64 << 10).min(body.len().saturating_mul(8)).max(1 << 10)];
    let mut decoder = BodyDecoder::new(body, kind);
    loop {
        let made = match decoder.read(&mut step) {
            Some(0) => return Ok((out, true)),
            Some(made) => made,
            None => return Ok((out, false)),
        };
        let total = (out.len() + made) as u64;
        if total > super::RATIO_FREE_BYTES && exceeds(total, max_ratio, body.len() as u64) {
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
        super::stream::reserve(&mut out, made);
        out.extend_from_slice(&step[..made]);
    }
}

enum BodyDecoder<'b> {
    Gzip(Box<Gzip>),
    Inflate {
        body: &'b [u8],
        inflate: Box<Decompress>,
        whole: bool,
    },
}

impl<'b> BodyDecoder<'b> {
    fn new(body: &'b [u8], kind: BodyStream) -> Self {
        if kind == BodyStream::Gzip {
            let reader = Box::new(io::Cursor::new(body.to_vec()));
            let input = Input::with_buffer(reader, body.len().clamp(1, 64 << 10));
            return BodyDecoder::Gzip(Box::new(Gzip::new(input)));
        }
        let inflate = Box::new(Decompress::new(kind == BodyStream::Zlib));
        BodyDecoder::Inflate {
            body,
            inflate,
            whole: false,
        }
    }

    /// Returns 0 at the end of a whole stream, and `None` if the stream is broken or cut.
    fn read(&mut self, out: &mut [u8]) -> Option<usize> {
        match self {
            BodyDecoder::Gzip(gzip) => gzip.read(out).ok(),
            BodyDecoder::Inflate { whole: true, .. } => Some(0),
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
                    _ => return None,
                }
                Some(made)
            }
        }
    }
}

/// The compressed streams that an HTTP body may contain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyStream {
    Gzip,
    Zlib,
    Deflate,
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
