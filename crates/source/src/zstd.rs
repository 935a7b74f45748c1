//! zstd.

use std::io::{self, BufRead, Read};
use std::sync::Arc;

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};
use zstd::zstd_safe::DParameter;

use super::ahead::{Helped, Shared};
use super::checked::Member;
use super::input::Input;
use super::members::{Format, Members, WINDOW_LOG};
use super::{Failure, Fault, Reason, Stepped, ZSTD_WINDOW_LOG, lacks_memory, zstd_window};

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The frame to be skipped that contains a dictionary for all others, at the beginning of a file
/// (IIPC, "Zstandard compression for WARC files").
const DICTIONARY: [u8; 4] = [0x5d, 0x2a, 0x4d, 0x18];
/// The first bytes of a dictionary that has tables, and not only text (RFC 8878, section 5).
const PARSED: [u8; 4] = [0x37, 0xa4, 0x30, 0xec];
/// The longest dictionary; web archives have dictionaries of up to 1 MiB.
const DICTIONARY_BYTES: u64 = 8 << 20;
/// More than the library needs besides a copy of a dictionary.
const TABLES_BYTES: usize = 1 << 20;

/// zstd (RFC 8878), with any number of frames.
pub(super) struct Zstd {
    decoder: Decoder<'static>,
    /// Whether a frame has begun and not ended.
    inside: bool,
    /// Whether the last bytes of a frame were delivered, but not its end.
    ending: bool,
}

/// The dictionary at the beginning of a file; empty if there is none.
pub(super) fn dictionary(input: &mut Input) -> Result<Arc<[u8]>, Fault> {
    let Some(size) = input
        .fill_buf()
        .unwrap_or_default()
        .strip_prefix(&DICTIONARY)
        .and_then(|rest| rest.first_chunk())
        .map(|&size| u64::from(u32::from_le_bytes(size)))
        .filter(|&size| size <= DICTIONARY_BYTES)
    else {
        return Ok(Arc::default());
    };
    input.consume(8);
    let mut bytes = Vec::new();
    // Without it, no frame can be decompressed.
    let damaged = |error: io::Error| {
        let reason = match lacks_memory(&error) {
            true => Reason::DecompressorMemory,
            false => Reason::CorruptCompression,
        };
        Fault::new(reason, format!("zstd: the dictionary of the file: {error}"))
    };
    let read = input.by_ref().take(size).read_to_end(&mut bytes);
    if let Some(failure) = input.failure.clone() {
        return Err(failure);
    }
    if read.is_err() || (bytes.len() as u64) < size {
        let detail = "zstd: in the dictionary of the file";
        return Err(Fault::new(Reason::TruncatedCompression, detail));
    }
    if bytes.starts_with(&MAGIC) {
        let mut dictionary = Vec::new();
        zstd::stream::read::Decoder::with_buffer(&bytes[..])
            .and_then(|mut decoder| {
                decoder.window_log_max(WINDOW_LOG)?;
                decoder
                    .take(DICTIONARY_BYTES + 1)
                    .read_to_end(&mut dictionary)
            })
            .map_err(damaged)?;
        if dictionary.len() as u64 > DICTIONARY_BYTES {
            let detail = format!("zstd: a dictionary of more than {DICTIONARY_BYTES} bytes");
            return Err(Fault::new(Reason::DecompressorMemory, detail));
        }
        bytes = dictionary;
    }
    Ok(bytes.into())
}

/// Whether a frame begins like this, or one to be skipped.
pub(super) fn begins_frame(magic: &[u8; 4]) -> bool {
    *magic == MAGIC || magic[0] & 0xf0 == 0x50 && magic[1..] == DICTIONARY[1..]
}

impl Zstd {
    /// Frames may need a window of `window_log` bits.
    pub(super) fn new(window_log: u32, dictionary: &[u8]) -> io::Result<Self> {
        let mut decoder = match dictionary {
            [] => Decoder::new()?,
            dictionary => Decoder::with_dictionary(dictionary)?,
        };
        decoder.set_parameter(DParameter::WindowLogMax(window_log))?;
        Ok(Zstd {
            decoder,
            inside: false,
            ending: false,
        })
    }

    /// A decoder of a whole file, and the dictionary.
    pub(super) fn of_file(input: &mut Input) -> Result<(Self, Arc<[u8]>), Fault> {
        let dictionary = dictionary(input)?;
        let decoder = Zstd::new(ZSTD_WINDOW_LOG, &dictionary).map_err(|error| {
            // If the library cannot parse a dictionary, it reports a lack of memory.
            let needed = dictionary.len() + TABLES_BYTES;
            let fits = || Vec::<u8>::new().try_reserve(needed).is_ok();
            let (reason, detail) = match dictionary.starts_with(&PARSED) && fits() {
                true => (
                    Reason::CorruptCompression,
                    "the dictionary of the file".into(),
                ),
                false => (Reason::DecompressorMemory, error.to_string()),
            };
            Fault::new(reason, format!("zstd: {detail}"))
        })?;
        Ok((decoder, dictionary))
    }
}

impl Format for Zstd {
    const MEMORY: u64 = (1 << WINDOW_LOG) + (1 << 20);

    fn begin(head: &[u8], dictionary: &[u8]) -> Option<Self> {
        let fits = zstd_window(head).is_none_or(|window| window <= 1 << WINDOW_LOG);
        fits.then(|| Zstd::new(WINDOW_LOG, dictionary).ok())?
    }
}

impl Member for Zstd {
    const MAGIC: &'static [u8] = &MAGIC;

    fn may_begin(byte: u8) -> bool {
        byte == MAGIC[0] || byte & 0xf0 == 0x50
    }

    fn step(&mut self, input: &mut Input, out: &mut [u8]) -> Result<Stepped, Failure> {
        if std::mem::take(&mut self.ending) {
            return Ok(Stepped::Boundary);
        }
        let mut magic = None;
        if !self.inside {
            magic = input.magic("zstd: no frame begins here", begins_frame)?;
            if magic.is_none() {
                return Ok(Stepped::End);
            }
            self.decoder.reinit()?;
            self.inside = true;
        }
        for block in 0..3 {
            // First comes the output for which the last call had no room, without more input.
            let magic = magic.take();
            let bytes: &[u8] = match &magic {
                Some(magic) => magic,
                None if block == 0 => &[],
                None => input.fill_buf()?,
            };
            if block > 0 && bytes.is_empty() {
                let cut = io::Error::new(io::ErrorKind::UnexpectedEof, "incomplete frame");
                return Err(cut.into());
            }
            let mut from = InBuffer::around(bytes);
            let mut to = OutBuffer::around(&mut *out);
            let hint = self.decoder.run(&mut from, &mut to)?;
            let (used, made) = (from.pos(), to.pos());
            if magic.is_none() {
                input.consume(used);
            }
            // The frame has ended and all of it is delivered.
            self.inside = hint != 0;
            if made > 0 {
                self.ending = !self.inside;
                return Ok(Stepped::Bytes(made));
            }
            if !self.inside {
                return Ok(Stepped::Boundary);
            }
        }
        Ok(Stepped::Bytes(0))
    }

    fn is_between(&self) -> bool {
        !self.inside
    }

    fn restart(&mut self) {
        (self.inside, self.ending) = (false, false);
    }

    fn parts(of: &Helped<'_>) -> Option<Shared> {
        Some((Arc::new(Members::<Self>::new(of)), None))
    }
}
