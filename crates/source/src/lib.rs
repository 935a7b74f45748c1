//! Opens an input: its bytes, decompressed if the first bytes show that they are compressed by gzip,
//! bzip2, xz, zstd or compress, bounded and checked.
//!
//! - [`Source`]: the bytes of a file, which other threads may decompress ahead ([`Helpers`]), and
//!   which are decoded from UTF-16 if the caller says so. A ratio bounds what they may become.
//! - [`Decompressed`]: the same as [`Read`], of a file that is read from its first byte to its last.
//! - [`inflate_body`]: a compressed body of HTTP.
//! - [`Fault`]: why bytes ended, where they were damaged, and whether more follow. Its [`Reason`] is
//!   one of those that a list of rejects states, for inputs and for their records.
//!
//! Decoders distinguish a cut stream from a damaged one, and deliver the bytes before a cut. They
//! deliver no member, frame or block that is damaged, and go on behind it (`checked`).
//!
//! It is apart from what reads texts because it knows no format of records, and copies of inputs
//! are read with it too.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod ahead;
mod body;
mod bzip2;
mod checked;
mod gzip;
mod input;
mod lzw;
mod members;
mod reason;
#[cfg(test)]
mod tests;
mod xz;
mod zstd;

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use self::ahead::{Ahead, Checks, Helped, Text};
use self::bzip2::Bzip2;
use self::checked::{Checked, Member, Sound};
use self::gzip::Gzip;
use self::lzw::Lzw;
use self::xz::Xz;
use self::zstd::Zstd;
use lookalike_base::{Error, Wide, WideDecoder, keywords, wide};
use lookalike_store::{File, remote};

pub use ahead::{Helpers, Job};
pub use body::{BodyEnd, BodyStream, inflate_body};
pub use input::{FromPlace, Input, ReadAt, Stoppable};
pub use members::read_all_at;
pub use reason::Reason;

/// Number of decompressed bytes up to which the compression ratio is not checked. Small files of
/// very repetitive text are not bombs, and 16 MiB fill no disk.
pub const RATIO_FREE_BYTES: u64 = 16 << 20;

/// 128 MiB: `xz -9` needs 65 MiB, and `zstd --long` needs 128 MiB.
const DECODER_MEMORY: u64 = 128 << 20;
const ZSTD_WINDOW_LOG: u32 = 27;

/// Number of bytes requested from a source at a time.
pub const STEP: usize = 256 << 10;

/// Ends the bytes once a stop is requested: a record may have any number of members, and a member
/// need not have a byte of it.
fn check_stop() -> Result<(), Fault> {
    remote::check_stop("read").map_err(|_| Fault::refused(&remote::stopped()))
}

/// Why a stream of bytes ended early, or which bytes were left after its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub reason: Reason,
    pub detail: String,
    /// The number of the error, if the disk, the machine or a store failed rather than the file
    /// ([`remote::number_of`]).
    pub failure: Option<i32>,
    /// Whether more bytes follow, from behind the damage.
    pub goes_on: bool,
    /// The beginning of the bytes that were not delivered.
    pub head: Vec<u8>,
    /// The last delivered bytes are damaged: this number of them.
    pub delivered: u64,
}

impl Fault {
    pub fn new(reason: Reason, detail: impl Into<String>) -> Self {
        Fault {
            reason,
            detail: detail.into(),
            failure: None,
            goes_on: false,
            head: Vec::new(),
            delivered: 0,
        }
    }

    /// Nothing is read behind the damage.
    pub fn stop(&mut self) {
        if std::mem::take(&mut self.goes_on) {
            self.detail += "; the rest of the file is not read";
        }
    }

    /// An error that the operating system or a store returned.
    pub fn refused(error: &io::Error) -> Self {
        let failure = remote::number_of(error).filter(|_| !lasting(error));
        Fault {
            failure,
            ..Fault::new(Reason::Unreadable, error.to_string())
        }
    }
}

/// Whether an error is permanent: a property of the file, which the operating system would report
/// again, rather than a one-time failure of the disk or the machine.
pub fn lasting(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, IsADirectory, NotADirectory, NotFound, PermissionDenied};
    if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        return true;
    }
    if remote::is_failure(error) {
        return false;
    }
    error.raw_os_error().is_none()
        || matches!(
            error.kind(),
            InvalidFilename | IsADirectory | NotADirectory | NotFound | PermissionDenied
        )
}

keywords! {
    /// The compression of a file.
    pub enum Codec {
        None = "file",
        Gzip = "gzip",
        Bzip2 = "bzip2",
        Xz = "xz",
        Zstd = "zstd",
        /// compress(1), `.Z`.
        Lzw = "compress (.Z)",
    }
}

/// How compressed files begin. A frame of zstd that is to be skipped has any number in the lower half
/// of its first byte.
const MAGIC: [(&[u8], Codec); 6] = [
    (&[0x1f, 0x8b], Codec::Gzip),
    (&[0x1f, 0x9d], Codec::Lzw),
    (b"BZh", Codec::Bzip2),
    (b"\xfd7zXZ\0", Codec::Xz),
    (&[0x28, 0xb5, 0x2f, 0xfd], Codec::Zstd),
    (&[0x50, 0x2a, 0x4d, 0x18], Codec::Zstd),
];

/// The magic numbers that can follow the block size in a stream of bzip2: of a block, or of the
/// end.
const BZIP2_BLOCKS: [&[u8]; 2] = [b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"];

/// The magic number with which these bytes agree, as far as they go.
fn magic_of(head: &[u8]) -> Option<&'static (&'static [u8], Codec)> {
    let Some((&first, rest)) = head.split_first() else {
        return MAGIC.first();
    };
    let first = if first >> 4 == 5 { 0x50 } else { first };
    let is = |magic: &[u8]| magic[0] == first && magic[1..].iter().zip(rest).all(|(a, b)| a == b);
    MAGIC.iter().find(|(magic, _)| is(magic))
}

/// The compression whose magic number these first bytes are.
pub fn compression_of(head: &[u8]) -> Option<Codec> {
    let (magic, codec) = magic_of(head)?;
    let rest = head.get(magic.len()..)?;
    let begins = *codec != Codec::Bzip2
        || rest.first().is_some_and(u8::is_ascii_digit)
            && BZIP2_BLOCKS
                .iter()
                .any(|block| rest[1..].starts_with(block));
    begins.then_some(*codec)
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
    let held = match compression {
        Codec::None | Codec::Lzw => 0,
        _ => checked::MEMORY,
    };
    window.min(DECODER_MEMORY) + held
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
    Plain(Box<Input>),
    Members(Box<dyn Sound>),
    Lzw(Box<Lzw>),
    /// Whole blocks of bzip2 or xz. Nothing is known of the state of a decoder between them.
    Blocks(Blocks),
}

/// How far a file is read whose blocks are decompressed one by one.
struct Blocks {
    /// Where the next one begins.
    at: u64,
    ended: bool,
    checks: Checks,
}

/// The result of one step of a decoder.
enum Stepped {
    /// This number of bytes was decompressed.
    Bytes(usize),
    /// A part has ended: a member of gzip, or a frame of zstd.
    Boundary,
    End,
}

impl Decoder {
    /// The decoder, and the dictionary of the file.
    fn new(compression: Option<Codec>, mut input: Input) -> Result<(Self, Arc<[u8]>), Fault> {
        fn members<F: Member + Send + 'static>(input: Input, decoder: F, codec: Codec) -> Decoder {
            Decoder::Members(Box::new(Checked::new(input, decoder, codec)))
        }
        let mut dictionary = Arc::default();
        let codec = compression.unwrap_or(Codec::None);
        let decoder = match codec {
            Codec::None => Decoder::Plain(Box::new(input)),
            Codec::Gzip => members(input, Gzip::new(), codec),
            Codec::Bzip2 => members(input, Bzip2::new(), codec),
            Codec::Xz => members(input, Xz::new(), codec),
            Codec::Zstd => {
                let decoder;
                (decoder, dictionary) = Zstd::of_file(&mut input)?;
                members(input, decoder, codec)
            }
            Codec::Lzw => Decoder::Lzw(Box::new(Lzw::new(input))),
        };
        Ok((decoder, dictionary))
    }
}

/// The decompressed bytes of one input.
pub struct Source {
    decoder: Decoder,
    /// The detected compression, if any.
    pub compression: Option<Codec>,
    produced: u64,
    /// Bytes that the decoder may take, by what the first frame or block says. Later ones of the
    /// same file may say more, up to 128 MiB, but are seldom written so.
    pub memory: u64,
    dictionary: Arc<[u8]>,
    ahead: Option<Box<AheadOf>>,
    /// Decompressed bytes that were not delivered yet.
    text: Text,
    delivered: usize,
    wide: Option<Box<Widened>>,
}

/// A text in UTF-16, which is delivered in UTF-8.
struct Widened {
    decoder: WideDecoder,
    /// Decompressed bytes. The bytes from `at` on are not decoded yet.
    bytes: Vec<u8>,
    at: usize,
    /// How the decompressed bytes ended.
    ended: Option<Result<(), Fault>>,
}

impl Widened {
    /// Behind damage, it is not known where a unit of the text begins. In UTF-8, the text has one
    /// and a half times as many bytes, or fewer.
    fn stop(mut fault: Fault) -> Fault {
        fault.stop();
        fault.delivered += fault.delivered / 2;
        fault
    }
}

/// Bytes of a wide text decoded at a time. They become three times as many at most.
const WIDE_BYTES: usize = 64 << 10;

/// A file, and what others decompress of it.
struct AheadOf {
    file: File,
    texts: Ahead,
}

impl Source {
    /// Unchanged bytes.
    pub fn plain(input: Input) -> Self {
        Source::of(Decoder::Plain(Box::new(input)))
    }

    fn of(decoder: Decoder) -> Self {
        Source {
            decoder,
            compression: None,
            produced: 0,
            memory: 0,
            dictionary: Arc::default(),
            ahead: None,
            text: Text::default(),
            delivered: 0,
            wide: None,
        }
    }

    /// Decodes what follows to UTF-8: `begun`, which was read already, and then the rest, unless
    /// `begun` is all of it.
    pub fn widen(&mut self, decoder: WideDecoder, begun: Vec<u8>, all: bool) {
        self.wide = Some(Box::new(Widened {
            decoder,
            bytes: begun,
            at: 0,
            ended: all.then_some(Ok(())),
        }));
    }

    /// The decoder to UTF-8, if there is one.
    pub fn wide(&self) -> Option<&WideDecoder> {
        self.wide.as_ref().map(|wide| &wide.decoder)
    }

    /// Chooses the decoder from the first bytes.
    pub fn new(mut input: Input) -> Result<Self, Fault> {
        let head = input.head();
        let compression = compression_of(head);
        let memory = compression.map_or(0, |compression| decoder_memory(compression, head));
        let (decoder, dictionary) = Decoder::new(compression, input)?;
        Ok(Source {
            compression,
            // A decoder has a copy.
            memory: memory + 2 * dictionary.len() as u64,
            dictionary,
            ..Source::of(decoder)
        })
    }

    /// Bytes of the file consumed so far.
    pub fn position(&self) -> u64 {
        match (&self.decoder, &self.ahead) {
            (Decoder::Blocks(blocks), Some(ahead)) => ahead.texts.parts().byte(blocks.at),
            _ => self.input().map_or(0, |input| input.consumed),
        }
    }

    fn input(&self) -> Option<&Input> {
        match &self.decoder {
            Decoder::Plain(input) => Some(input),
            Decoder::Members(members) => Some(members.input()),
            Decoder::Lzw(lzw) => Some(lzw.input()),
            Decoder::Blocks(_) => None,
        }
    }

    /// Whether bytes of the file are in memory that are not decompressed yet.
    pub fn has_more(&self) -> bool {
        self.input().is_some_and(|input| input.start < input.end)
    }

    /// Lets others decompress parts of the file ahead of this, if it has any. `file` is the file
    /// that this reads, of `length` bytes, and no byte has been read yet.
    pub fn decompress_ahead(&mut self, file: &File, length: u64, helpers: &Helpers) {
        let Decoder::Members(members) = &mut self.decoder else {
            return;
        };
        let dictionary = &self.dictionary;
        let of = Helped {
            file,
            length,
            dictionary,
        };
        let Some((parts, first)) = members.parts(&of) else {
            return;
        };
        let mut texts = Ahead::new(parts, helpers.clone());
        if let Some(at) = first {
            // The reader may have to decompress a part itself.
            if !texts.has_memory() {
                return;
            }
            self.decoder = Decoder::Blocks(Blocks {
                at,
                ended: false,
                checks: Checks::default(),
            });
        }
        let file = file.clone();
        self.ahead = Some(Box::new(AheadOf { file, texts }));
    }

    /// Delivers the rest of a text that was decompressed ahead.
    fn deliver(&mut self, out: &mut [u8]) -> Option<usize> {
        let rest = &self.text.bytes[self.delivered..];
        let n = rest.len().min(out.len());
        out[..n].copy_from_slice(&rest[..n]);
        self.delivered += n;
        (n > 0).then_some(n)
    }

    /// At the beginning of a part, gets the text from there that was decompressed ahead, if there
    /// is one.
    fn take_ahead(&mut self, max_ratio: u64) -> Result<bool, Fault> {
        let Some(ahead) = &mut self.ahead else {
            return Ok(false);
        };
        let (at, alone) = match &self.decoder {
            // The first part shows how long they are.
            Decoder::Members(members) => (members.boundary().filter(|&at| at > 0), false),
            Decoder::Blocks(blocks) if blocks.ended => (None, true),
            Decoder::Blocks(blocks) => (Some(blocks.at), true),
            _ => (None, false),
        };
        let Some(at) = at else { return Ok(false) };
        if self.delivered > 0 {
            self.delivered = 0;
            ahead.texts.give_back(std::mem::take(&mut self.text));
        }
        let mut text = ahead.texts.text_from(at);
        if alone && text.is_none() {
            text = ahead.texts.decompress_from(at);
        }
        let Some(text) = text else {
            return if alone { self.begin_again() } else { Ok(false) };
        };
        // A decoder is stopped at a ratio that is too high, after each of its calls. If the ratio
        // were right even without the bytes of this text, then no call would have been stopped.
        let after = self.produced + text.bytes.len() as u64;
        let from = ahead.texts.parts().byte(at);
        let stopped = after > RATIO_FREE_BYTES && exceeds(after, max_ratio, from);
        let accepted = match &mut self.decoder {
            _ if stopped => false,
            Decoder::Members(members) => {
                members.pass(&text);
                true
            }
            Decoder::Blocks(blocks) => {
                (blocks.at, blocks.ended) = (text.place.end, text.last);
                blocks.checks.passed(&text.checks)
            }
            _ => false,
        };
        if accepted {
            self.text = text;
            return Ok(true);
        }
        if alone {
            return self.begin_again();
        }
        self.ahead = None;
        Ok(false)
    }

    /// Reads the file again without help, up to where this is.
    fn begin_again(&mut self) -> Result<bool, Fault> {
        let Some(ahead) = self.ahead.take() else {
            return Ok(false);
        };
        self.decoder = Decoder::new(self.compression, Input::of(ahead.file, 0))?.0;
        let mut left = self.produced;
        let mut bytes = vec![0; STEP];
        loop {
            check_stop()?;
            match self.step(&mut bytes) {
                Ok(Stepped::Bytes(n)) if n as u64 > left => {
                    bytes.truncate(n);
                    self.delivered = left as usize;
                    self.text.bytes = bytes;
                    return Ok(true);
                }
                Ok(Stepped::Bytes(n)) => left -= n as u64,
                Ok(Stepped::Boundary) => {}
                Ok(Stepped::End) => return Ok(false),
                Err(failure) => return Err(self.fault_of(failure)),
            }
            if left == 0 {
                return Ok(false);
            }
        }
    }

    /// Decompresses until there are some bytes, or a part ends.
    fn step(&mut self, out: &mut [u8]) -> Result<Stepped, Failure> {
        let n = match &mut self.decoder {
            Decoder::Plain(input) => input.read(out)?,
            // A block of zstd has up to 128 KiB; the decoder delivers it whole only if `out` has
            // room for it.
            Decoder::Members(members) => return members.step(out),
            Decoder::Lzw(lzw) => lzw.read(out)?,
            Decoder::Blocks(_) => 0,
        };
        Ok(match n {
            0 => Stepped::End,
            n => Stepped::Bytes(n),
        })
    }

    /// Reads decompressed bytes, or the text that they are decoded to; 0 at the end.
    pub fn read(&mut self, out: &mut [u8], max_ratio: u64) -> Result<usize, Fault> {
        let Some(mut wide) = self.wide.take() else {
            return self.read_bytes(out, max_ratio);
        };
        let read = loop {
            if wide.at == wide.bytes.len() && wide.ended.is_none() {
                wide.at = 0;
                wide.bytes.resize(WIDE_BYTES, 0);
                let read = self.read_bytes(&mut wide.bytes, max_ratio);
                wide.bytes.truncate(*read.as_ref().unwrap_or(&0));
                wide.ended = match read {
                    Ok(1..) => None,
                    ended => Some(ended.map(|_| ()).map_err(Widened::stop)),
                };
            }
            let last = wide.ended.is_some();
            let (taken, made) = wide.decoder.decode(&wide.bytes[wide.at..], last, out);
            wide.at += taken;
            match &mut wide.ended {
                _ if made > 0 => break Ok(made),
                Some(ended) if taken == 0 => {
                    break std::mem::replace(ended, Ok(())).map(|()| 0);
                }
                _ => {}
            }
        };
        self.wide = Some(wide);
        read
    }

    /// Reads decompressed bytes; 0 at the end.
    fn read_bytes(&mut self, out: &mut [u8], max_ratio: u64) -> Result<usize, Fault> {
        let n = loop {
            check_stop()?;
            if let Some(n) = self.deliver(out) {
                break n;
            }
            if self.take_ahead(max_ratio)? {
                continue;
            }
            match self.step(out) {
                Ok(Stepped::Bytes(n)) => break n,
                Ok(Stepped::Boundary) => {}
                Ok(Stepped::End) => break 0,
                Err(failure) => return Err(self.fault_of(failure)),
            }
        };
        self.produced += n as u64;
        if let Some(compression) = self.compression
            && self.produced > RATIO_FREE_BYTES
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
        failure.fault(self.compression.unwrap_or(Codec::None))
    }
}

/// The decompressed bytes of a file that is read from its first byte to its last, such as a list of
/// pairs. Those of UTF-16 are decoded to the faithful form of UTF-8 ([`lookalike_base::wide`]).
pub struct Decompressed {
    pub source: Source,
    /// The encoding that they are decoded from, if they are, and whether they begin with its byte
    /// order mark.
    pub wide: Option<(Wide, bool)>,
    /// Decoded bytes. The bytes from `at` on are not delivered yet.
    text: Vec<u8>,
    at: usize,
    /// Whether bytes follow the last error, from behind the damage.
    pub goes_on: bool,
}

impl Decompressed {
    /// Opens a file with any supported compression, or none.
    pub fn open(path: &Path) -> lookalike_base::Result<Decompressed> {
        let file = lookalike_store::disk::open(path)?;
        let found = file.metadata().map_err(Error::io("inspect", path))?;
        if found.is_dir() {
            return Err(Error::io("read", path)(io::ErrorKind::IsADirectory.into()));
        }
        Self::of(file, path, false)
    }

    /// As [`Decompressed::open`], for an input of a collection, which is a regular file.
    pub fn open_input(path: &Path) -> lookalike_base::Result<Decompressed> {
        Self::of(lookalike_store::disk::open_regular(path)?, path, true)
    }

    /// Only of a regular file, which can be read again, is the text in compressed bytes looked at.
    fn of(
        file: lookalike_store::disk::File,
        path: &Path,
        regular: bool,
    ) -> lookalike_base::Result<Self> {
        let failed = |fault| Error::io("read", path)(io_error(fault));
        let mut input = Input::new(Box::new(file));
        let of = |head: &[u8]| Wide::of(head).map(|wide| (wide, Wide::of_mark(head).is_some()));
        let head = input.head();
        let wide = match compression_of(head) {
            None => of(head),
            Some(_) if regular => {
                let again = lookalike_store::disk::open_regular(path)?;
                let mut source = Source::new(Input::new(Box::new(again))).map_err(failed)?;
                let (mut head, mut length) = (vec![0; wide::LOOK], 0);
                while length < head.len()
                    && let Ok(n @ 1..) = source.read(&mut head[length..], u64::MAX)
                {
                    length += n;
                }
                of(&head[..length])
            }
            Some(_) => None,
        };
        let mut source = Source::new(input).map_err(failed)?;
        if let Some((wide, _)) = wide {
            source.widen(WideDecoder::faithful(wide), Vec::new(), false);
        }
        Ok(Decompressed {
            source,
            wide,
            text: Vec::new(),
            at: 0,
            goes_on: false,
        })
    }

    /// The compression that the first bytes show.
    pub fn codec(&self) -> Codec {
        self.source.compression.unwrap_or(Codec::None)
    }

    fn failed(&mut self, fault: Fault) -> io::Error {
        self.goes_on = fault.goes_on;
        io_error(fault)
    }

    /// The number of members that have begun. Only gzip is known to have several; a call of `read`
    /// gives bytes of one.
    pub fn members(&self) -> u64 {
        match &self.source.decoder {
            // Members end inside of the decoded bytes.
            _ if self.wide.is_some() => 1,
            Decoder::Members(members) if self.codec() == Codec::Gzip => members.members(),
            _ => 1,
        }
    }
}

impl Read for Decompressed {
    /// No ratio limit applies: the bytes are streamed, and the user named the file explicitly.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.wide.is_none() {
            let read = self.source.read(out, u64::MAX);
            return read.map_err(|fault| self.failed(fault));
        }
        if self.at == self.text.len() {
            self.text.resize(WIDE_BYTES, 0);
            let read = self.source.read(&mut self.text, u64::MAX);
            self.at = 0;
            self.text.truncate(*read.as_ref().unwrap_or(&0));
            read.map_err(|fault| self.failed(fault))?;
        }
        let n = out.len().min(self.text.len() - self.at);
        out[..n].copy_from_slice(&self.text[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

fn io_error(fault: Fault) -> io::Error {
    if let Some(failure) = fault.failure {
        return remote::failed(failure);
    }
    io::Error::other(format!("{} ({})", fault.reason.text(), fault.detail))
}

/// The error of a decoder.
enum Failure {
    Io(io::Error),
    Fault(Fault),
}

impl std::convert::From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}

impl Failure {
    fn fault(self, compression: Codec) -> Fault {
        match self {
            Failure::Fault(fault) => fault,
            Failure::Io(error) => {
                let text = error.to_string();
                let limited = text.contains("too much memory");
                let reason = if limited || lacks_memory(&error) {
                    Reason::DecompressorMemory
                } else if error.kind() == io::ErrorKind::UnexpectedEof {
                    Reason::TruncatedCompression
                } else {
                    Reason::CorruptCompression
                };
                let help = match compression {
                    Codec::Zstd if text.contains("Dictionary mismatch") => {
                        "; the dictionary must begin the file: decompress each of joined files alone"
                    }
                    Codec::Zstd if limited => {
                        "; at most 128 MiB are used: zstd -dc --long=31 FILE | lookalike run -"
                    }
                    _ => "",
                };
                Fault::new(reason, format!("{compression}: {text}{help}"))
            }
        }
    }

    pub fn corrupt(detail: impl Into<String>) -> Self {
        Failure::Fault(Fault::new(Reason::CorruptCompression, detail))
    }

    pub fn truncated(detail: impl Into<String>) -> Self {
        Failure::Fault(Fault::new(Reason::TruncatedCompression, detail))
    }
}

/// Whether a decoder of zstd failed because the machine has no memory for it.
fn lacks_memory(error: &io::Error) -> bool {
    error.to_string().contains("not enough memory")
}

/// Whether `from` bytes grew more than `max_ratio` times. A ratio of 0, which the configuration of
/// a reader rejects, allows no output.
fn exceeds(produced: u64, max_ratio: u64, from: u64) -> bool {
    produced
        .checked_div(max_ratio)
        .is_none_or(|least| least > from)
}
