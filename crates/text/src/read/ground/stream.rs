//! A window over the decompressed bytes, and the sink that collects a record from it.

use std::borrow::Cow;

use super::bytes::spaces;
use super::record::SourceSpan;
use lookalike_base::{Wide, WideDecoder, append};
use lookalike_source::{Fault, Reason, STEP, Source};

/// A sliding window over a source. The way that the source splits its reads has no effect: each
/// look-ahead requests a number of bytes, and gets them or all that are left.
#[derive(Default)]
pub(crate) struct Stream {
    pub source: Option<Source>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset of the window's first byte in the decompressed stream.
    pub offset: u64,
    /// Whether there is nothing beyond the bytes that [`Stream::ensure`] last returned.
    pub ended: bool,
    position: u64,
    max_ratio: u64,
    /// Why the bytes ended, if not at the end of the file.
    pub fault: Option<Fault>,
}

impl Stream {
    pub fn new(source: Result<Source, Fault>, max_ratio: u64) -> Self {
        let (source, fault) = match source {
            Ok(source) => (Some(source), None),
            Err(fault) => (None, Some(fault)),
        };
        Stream {
            ended: source.is_none(),
            source,
            max_ratio,
            fault,
            ..Stream::default()
        }
    }

    /// Bytes of the file consumed so far.
    pub fn position(&self) -> u64 {
        self.source
            .as_ref()
            .map_or(self.position, |source| source.position().max(self.position))
    }

    /// Decodes the bytes to UTF-8; none of them may be consumed yet.
    pub(crate) fn widen(&mut self, wide: Wide) {
        if let Some(source) = &mut self.source {
            let begun = self.buffer[self.start..self.end].to_vec();
            source.widen(WideDecoder::new(wide), begun, self.ended);
            (self.start, self.end, self.ended) = (0, 0, false);
            if let Some(fault) = &mut self.fault {
                fault.stop();
            }
        }
    }

    /// The decoder to UTF-8, if there is one.
    pub fn wide(&self) -> Option<&WideDecoder> {
        self.source.as_ref().and_then(Source::wide)
    }

    /// The bytes ahead that are already in the buffer.
    pub fn window(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Whether all bytes are consumed.
    pub(crate) fn at_end(&mut self) -> bool {
        self.ensure(1).is_empty()
    }

    /// Whether a fault ended the bytes, so that the record being read is cut off.
    pub fn cut(&self) -> bool {
        self.fault
            .as_ref()
            .is_some_and(|fault| fault.reason != Reason::StrayBytes)
    }

    /// Whether bytes of this record, which has just been read, are known to be damaged.
    pub(crate) fn reaches_damage(&self, record: SourceSpan) -> bool {
        self.fault.as_ref().is_some_and(|fault| {
            let end = self.offset + (self.end - self.start) as u64;
            record.offset + record.length > end.saturating_sub(fault.delivered)
        })
    }

    /// The bytes ahead: at least `n`; fewer only at the end of the stream.
    pub(crate) fn ensure(&mut self, n: usize) -> &[u8] {
        while self.end - self.start < n && !self.ended {
            self.read();
        }
        &self.buffer[self.start..self.end]
    }

    /// Whether bytes are in memory, before or behind the decompressor, so that reading them waits
    /// for nothing.
    pub(crate) fn has_more(&self) -> bool {
        self.start < self.end || self.source.as_ref().is_some_and(Source::has_more)
    }

    /// Reads once more from the source.
    pub fn read(&mut self) {
        let Some(source) = &mut self.source else {
            self.ended = true;
            return;
        };
        if self.buffer.len() - self.end < STEP {
            // A move costs at most the bytes consumed before it, so the total cost of all moves is
            // linear.
            if self.start >= self.end - self.start {
                self.buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            }
            if self.buffer.len() - self.end < STEP {
                self.buffer.resize(self.end + STEP, 0);
            }
        }
        let room = self.end..self.end + STEP;
        match source.read(&mut self.buffer[room], self.max_ratio) {
            Ok(0) => self.ended = true,
            Ok(n) => self.end += n,
            Err(fault) => {
                self.fault = Some(fault);
                self.ended = true;
            }
        }
        self.position = self.position.max(source.position());
    }

    pub(crate) fn consume(&mut self, n: usize) {
        debug_assert!(n <= self.end - self.start);
        self.start = (self.start + n).min(self.end);
        self.offset += n as u64;
    }

    /// Skips white space and returns what follows: at least `n` bytes if there are that many.
    pub(crate) fn skip_space(&mut self, n: usize) -> &[u8] {
        loop {
            let window = self.ensure(1);
            let space = spaces(window);
            let whole = space == window.len();
            self.consume(space);
            if !whole || self.ended {
                return self.ensure(n);
            }
        }
    }
}

/// Puts LF in the place of CR.
fn line_feeds(bytes: &mut [u8]) {
    let ends = bytes.iter_mut().filter(|byte| **byte == b'\r');
    ends.for_each(|byte| *byte = b'\n');
}

/// Whether the lines of a file with these first bytes end with CR alone.
pub(crate) fn ends_at_cr(head: &[u8]) -> bool {
    memchr::memchr(b'\n', head).is_none() && memchr::memchr(b'\r', head).is_some()
}

/// The first bytes of a file with LF at the ends of lines that end with CR alone.
pub(crate) fn in_lines(head: &[u8]) -> Cow<'_, [u8]> {
    let mut lines = Cow::from(head);
    if ends_at_cr(head) {
        line_feeds(lines.to_mut());
    }
    lines
}

/// A record with some of its bytes in a batch's buffer.
#[derive(Clone, Copy)]
pub(crate) struct Begun {
    first: usize,
    /// Its bytes, including those left out.
    pub length: u64,
    /// Its offset in the decompressed stream, once it has begun.
    pub offset: Option<u64>,
}

/// Collects the bytes of the record being framed, at the end of a batch's buffer.
pub(crate) struct Sink<'b> {
    bytes: &'b mut Vec<u8>,
    limit: u64,
    pub begun: Begun,
}

impl<'b> Sink<'b> {
    /// Continues with a record that has begun.
    pub fn new(bytes: &'b mut Vec<u8>, limit: u64, begun: Option<Begun>) -> Self {
        let new = Begun {
            first: bytes.len(),
            length: 0,
            offset: None,
        };
        let begun = begun.unwrap_or(new);
        Sink {
            bytes,
            limit,
            begun,
        }
    }

    /// Moves `n` bytes from the window to the record. Bytes over the limit are only counted.
    pub fn take(&mut self, stream: &mut Stream, n: usize) {
        let room = self.limit.saturating_sub(self.begun.length).min(n as u64) as usize;
        if room > 0 {
            append(
                self.bytes,
                &stream.buffer[stream.start..stream.start + room],
            );
        }
        self.pass(stream, n);
    }

    /// Skips `n` bytes that belong to the stretch being framed but will not be delivered.
    pub fn pass(&mut self, stream: &mut Stream, n: usize) {
        self.begun.offset.get_or_insert(stream.offset);
        self.begun.length += n as u64;
        stream.consume(n);
    }

    /// Forgets the passed bytes, because the record begins here.
    pub fn forget(&mut self) {
        self.begun.offset = None;
        self.begun.length = 0;
    }

    pub fn too_large(&self) -> bool {
        self.begun.length > self.limit
    }

    /// The stored bytes of the record.
    pub fn held(&self) -> &[u8] {
        &self.bytes[self.begun.first..]
    }

    /// The same, to be changed in their places.
    pub fn held_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.begun.first..]
    }

    /// Removes `n` bytes from the end of the record, because they do not belong to it.
    pub fn shorten(&mut self, n: usize) {
        if !self.too_large() {
            self.bytes
                .truncate((self.bytes.len() - n.min(self.bytes.len())).max(self.begun.first));
            self.begun.length = (self.bytes.len() - self.begun.first) as u64;
        }
    }

    /// The record's range in the batch's buffer.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.begun.first..self.bytes.len()
    }

    /// Drops the bytes: the record is not delivered.
    pub fn discard(self) {
        self.bytes.truncate(self.begun.first);
    }
}
