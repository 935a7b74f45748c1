//! The members of a gzip file, and the frames of a zstd file, as parts.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use memchr::memmem;

use super::Stepped;
use super::ahead::{Helped, Parts, Text};
use super::checked::Member;
use super::input::{Input, ReadAt};
use lookalike_store::File;

/// Compressed bytes that a helper takes at a time. Members of a web archive have tens of kilobytes.
const STRIDE: u64 = 256 << 10;
/// Most bytes of a text: 32 for each of the compressed ones.
const TEXT_BYTES: usize = 8 << 20;
/// Output bytes requested at a time.
const STEP: usize = 256 << 10;
/// The cost of beginning with bytes that are not a member, in output bytes. A range can be full of
/// them.
const BEGIN_BYTES: usize = 64 << 10;
/// Frames of zstd that need more are left to the reader. This is the window of levels up to 19.
pub(super) const WINDOW_LOG: u32 = 23;

/// A format whose members begin with a magic number at a byte, so that others can find them.
pub(super) trait Format: Member {
    /// Bytes that a decoder may take.
    const MEMORY: u64;

    /// A decoder of the member that begins with `head`; `None` if these cannot be its first bytes.
    fn begin(head: &[u8], dictionary: &[u8]) -> Option<Self>;
}

/// Parts that are members. Places are bytes of the file.
pub(super) struct Members<F> {
    file: File,
    length: u64,
    dictionary: Arc<[u8]>,
    format: std::marker::PhantomData<fn() -> F>,
}

impl<F> Members<F> {
    pub(super) fn new(of: &Helped<'_>) -> Self {
        Members {
            file: of.file.clone(),
            length: of.length,
            dictionary: of.dictionary.clone(),
            format: std::marker::PhantomData,
        }
    }
}

/// Reads at `at` until `out` is full or the file ends.
pub fn read_all_at(file: &dyn ReadAt, out: &mut Vec<u8>, at: u64) -> io::Result<()> {
    let mut filled = 0;
    while filled < out.len() {
        match file.read_at(&mut out[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    out.truncate(filled);
    Ok(())
}

/// The first bytes of a file, which say enough of its parts.
pub(super) fn head_of(file: &File) -> Option<Vec<u8>> {
    let mut head = vec![0; 64];
    read_all_at(file, &mut head, 0).ok()?;
    Some(head)
}

impl<F: Format> Parts for Members<F> {
    fn stride(&self) -> u64 {
        STRIDE
    }

    fn end(&self) -> u64 {
        self.length
    }

    fn memory(&self) -> u64 {
        TEXT_BYTES as u64 + 2 * STRIDE + F::MEMORY + self.dictionary.len() as u64
    }

    fn byte(&self, place: u64) -> u64 {
        place
    }

    fn decompress(&self, range: Range<u64>, known: bool, mut bytes: Vec<u8>) -> Option<Text> {
        // The first bytes of a member can be behind the range.
        let mut head = vec![0; (range.end - range.start) as usize + 32];
        read_all_at(&self.file, &mut head, range.start).ok()?;
        // Whatever the file contains, no more than two texts are made in vain.
        let mut work = 2 * TEXT_BYTES;
        for found in memmem::find_iter(&head, F::MAGIC) {
            let start = range.start + found as u64;
            if start >= range.end || (known && found > 0) || work == 0 {
                return None;
            }
            let Some(mut decoder) = F::begin(&head[found..], &self.dictionary) else {
                continue;
            };
            let mut input = Input::of(self.file.clone(), start);
            let (mut filled, mut whole) = (0, None);
            while filled < TEXT_BYTES && super::check_stop().is_ok() {
                let room = (filled + STEP).min(TEXT_BYTES);
                if bytes.len() < room {
                    bytes.resize(room.max(bytes.len() * 2).min(TEXT_BYTES), 0);
                }
                match decoder.step(&mut input, &mut bytes[filled..room]) {
                    Ok(Stepped::Bytes(n)) => filled += n,
                    Ok(Stepped::Boundary) => {}
                    Ok(Stepped::End) => {
                        whole = Some((self.length, filled, true));
                        break;
                    }
                    Err(_) => break,
                }
                if decoder.is_between() {
                    let end = input.consumed;
                    whole = Some((end, filled, end == self.length));
                    if end >= range.end {
                        break;
                    }
                }
            }
            if let Some((end, length, last)) = whole {
                bytes.truncate(length);
                return Some(Text {
                    place: start..end,
                    last,
                    bytes,
                    ..Text::default()
                });
            }
            work = work.saturating_sub(filled.max(BEGIN_BYTES));
        }
        None
    }
}
