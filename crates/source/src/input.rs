//! The bytes of a file on disk, before decompression.

use std::io::{self, BufRead, Read};
use std::sync::Arc;

use super::{Failure, Fault, magic_of};
use lookalike_base::Stop;
use lookalike_store::{File, remote};

/// Compressed bytes are read in blocks of this size.
const INPUT_BUFFER: usize = 256 << 10;
/// Bytes of the first read: most small files have fewer.
const FIRST_READ: usize = 16 << 10;

/// Bytes at any place of a file.
pub trait ReadAt: Send + Sync {
    /// Reads at `offset`; 0 only at the end.
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Bytes in the file.
    fn length(&self) -> io::Result<u64>;
}

impl ReadAt for File {
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        File::read_at(self, out, offset)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.size())
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..));
        rest.unwrap_or_default().read(out)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

/// Reads a file from some byte on.
pub struct FromPlace {
    pub file: Arc<dyn ReadAt>,
    pub at: u64,
}

impl Read for FromPlace {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read_at(out, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

/// The bytes of an object until a stop is requested: a record may have more of them than come in a
/// second, or in a day.
pub struct Stoppable<R> {
    pub inner: R,
    pub stop: Stop,
}

impl<R: Read> Read for Stoppable<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.stop.requested() {
            true => Err(remote::stopped()),
            false => self.inner.read(out),
        }
    }
}

/// The file's own bytes, buffered and counted.
pub struct Input {
    inner: Box<dyn Read + Send>,
    /// The file, if it may be read from any place.
    file: Option<File>,
    buffer: Vec<u8>,
    /// The length of a block. After [`Input::rewind`], the buffer has more than one.
    block: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) consumed: u64,
    /// The operating system's error, kept apart from the errors of decoders.
    pub(super) failure: Option<Fault>,
    ended: bool,
    /// Whether the first bytes need not be more than a line.
    by_line: bool,
    /// Whether the bytes at the last boundary are the beginning of a member.
    pub(super) begun: bool,
    /// The byte of the file to which [`Input::rewind`] returns.
    mark: Option<u64>,
    /// The bytes from there that have left the buffer.
    kept: Vec<u8>,
}

impl Input {
    pub fn new(inner: Box<dyn Read + Send>) -> Self {
        Input::with_buffer(inner, INPUT_BUFFER)
    }

    /// An input whose writer may wait for an answer to the first line.
    pub fn by_line(inner: Box<dyn Read + Send>) -> Self {
        Input {
            by_line: true,
            ..Input::new(inner)
        }
    }

    pub(super) fn with_buffer(inner: Box<dyn Read + Send>, length: usize) -> Self {
        Input {
            inner,
            file: None,
            buffer: Vec::new(),
            block: length,
            start: 0,
            end: 0,
            consumed: 0,
            failure: None,
            ended: false,
            by_line: false,
            begun: false,
            mark: None,
            kept: Vec::new(),
        }
    }

    /// Keeps the bytes from here on, for [`Input::rewind`].
    pub(super) fn mark(&mut self) {
        self.kept.clear();
        self.mark = Some(self.consumed);
    }

    pub(super) fn is_marked(&self) -> bool {
        self.mark.is_some()
    }

    /// Keeps no bytes any more.
    pub(super) fn unmark(&mut self) {
        self.kept = Vec::new();
        self.mark = None;
    }

    /// Returns to the mark, which is kept.
    pub(super) fn rewind(&mut self) {
        let Some(mark) = self.mark else { return };
        let back = (self.consumed - mark) as usize;
        if self.kept.is_empty() {
            self.start -= back;
        } else {
            self.kept.extend_from_slice(&self.buffer[..self.end]);
            std::mem::swap(&mut self.buffer, &mut self.kept);
            self.kept = Vec::new();
            (self.start, self.end) = (0, self.buffer.len());
        }
        self.consumed = mark;
    }

    /// Reads a file from this byte.
    pub(super) fn of(file: File, at: u64) -> Self {
        let mut input = Input::new(Box::new(io::empty()));
        input.may_go_on_in(file);
        input.go_on_at(at);
        input
    }

    /// Says which file this is, for [`Input::go_on_at`].
    pub(super) fn may_go_on_in(&mut self, file: File) {
        self.file = Some(file);
    }

    /// Goes on at another byte of the file. The blocks that a decoder sees begin where they do if
    /// the file is read from its first byte.
    pub(super) fn go_on_at(&mut self, at: u64) {
        let Some(file) = &self.file else { return };
        self.inner = Box::new(FromPlace {
            file: Arc::new(file.clone()),
            at,
        });
        (self.start, self.end, self.ended) = (0, 0, false);
        self.consumed = at;
        self.unmark();
    }

    /// Fills the buffer, which must be empty, completely or to the end of the file. Decoders then
    /// see the same blocks however the operating system splits its reads. That matters because the
    /// number of bytes that they lose at damage depends on the blocks.
    fn fill(&mut self) {
        self.fill_until(|_| false);
    }

    fn fill_until(&mut self, enough: impl Fn(&[u8]) -> bool) {
        if let Some(mark) = self.mark {
            let begin = self.consumed - self.end as u64;
            let from = mark.saturating_sub(begin) as usize;
            self.kept
                .extend_from_slice(&self.buffer[from.min(self.end)..self.end]);
        }
        (self.start, self.end) = (0, 0);
        self.buffer.truncate(self.block);
        let most = self.to_next_block();
        while !self.ended && self.end < most && !enough(&self.buffer[..self.end]) {
            if self.end == self.buffer.len() {
                // The buffer grows with the file.
                let length = (self.end * 16).max(FIRST_READ);
                self.buffer.resize(length.min(self.block), 0);
            }
            let room = self.buffer.len().min(most);
            match self.inner.read(&mut self.buffer[self.end..room]) {
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

    /// Bytes up to where the next block of the file begins.
    fn to_next_block(&self) -> usize {
        self.block - (self.consumed % self.block as u64) as usize
    }

    /// The first bytes. Valid only before any byte is consumed.
    pub(super) fn head(&mut self) -> &[u8] {
        if self.end > 0 {
            // It was looked at before.
        } else if self.by_line {
            // A line end in compressed bytes is none.
            let is_line = |head: &[u8]| head.contains(&b'\n') && magic_of(head).is_none();
            self.fill_until(is_line);
        } else {
            self.fill();
        }
        &self.buffer[..self.end]
    }

    /// The magic number with which a member begins; `None` at the end of the file. `what` says what
    /// does not begin here if it is another one, or cut.
    pub(super) fn magic<const N: usize>(
        &mut self,
        what: &str,
        is_known: impl FnOnce(&[u8; N]) -> bool,
    ) -> Result<Option<[u8; N]>, Failure> {
        self.begun = false;
        let mut magic = [0; N];
        for (n, byte) in magic.iter_mut().enumerate() {
            match self.byte()? {
                Some(next) => *byte = next,
                None if n == 0 => return Ok(None),
                None => return Err(Failure::corrupt(what)),
            }
        }
        self.begun = is_known(&magic);
        match self.begun {
            true => Ok(Some(magic)),
            false => Err(Failure::corrupt(what)),
        }
    }

    /// The next bytes. If they are not all there, the file is cut off in `what`.
    pub(super) fn need<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Failure> {
        let mut bytes = [0; N];
        for byte in &mut bytes {
            *byte = self.byte()?.ok_or_else(|| Failure::truncated(what))?;
        }
        Ok(bytes)
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
        // After a return to the mark, decoders see the same blocks again.
        let end = self.end.min(self.start + self.to_next_block());
        Ok(&self.buffer[self.start..end])
    }

    fn consume(&mut self, n: usize) {
        self.start = (self.start + n).min(self.end);
        self.consumed += n as u64;
    }
}
