//! Frames the rows of CSV and TSV. A row includes its line end, and the header is not a record.
//!
//! RFC 4180 lets a cell in quotes have line ends, so one quote too many could take the rest of a
//! file into one cell. A quote ends such a cell if a delimiter or a line end follows. If anything
//! else follows after a line end was taken in, the first quote did not begin a cell: its line is
//! rejected, and the next line begins a row.

use std::sync::Arc;

use crate::read::ground::dialect::{RowEnd, Scan};
use crate::read::ground::framer::{Cuts, Framer, Step};
use crate::read::ground::record::{RecordKind, Table};
use crate::read::ground::stream::{Sink, Stream};
use lookalike_source::Reason;

/// A broken row of at most this many bytes costs one line. A longer one costs all bytes up to the
/// place where it breaks have left the window.
const AHEAD: usize = 1 << 20;

/// Frames rows of one table.
pub(crate) struct TableFramer {
    pub table: Arc<Table>,
    /// Records with more bytes are too large.
    pub limit: u64,
}

impl Framer for TableFramer {
    fn cuts(&self) -> Cuts {
        // Whether a row begins after every line end, whatever precedes it.
        match !self.table.dialect.quotes && self.table.dialect.end == b'\n' {
            true => Cuts::Certain,
            false => Cuts::Nowhere,
        }
    }

    fn certain_begin(&self, bytes: &[u8]) -> Option<usize> {
        // A backslash may escape a line end.
        let copied = self.table.dialect.copied;
        let mut ends = memchr::memchr_iter(b'\n', bytes);
        let end = ends.find(|&at| !copied || at > 0 && bytes[at - 1] != b'\\');
        end.map(|at| at + 1)
    }

    fn step(&mut self, stream: &mut Stream, sink: &mut Sink<'_>) -> Step {
        loop {
            let window = stream.ensure(1);
            let empty = |byte: &&u8| matches!(byte, b'\r' | b'\n');
            let lines = window.iter().take_while(empty).count();
            if window.is_empty() {
                return Step::End;
            }
            let all = lines == window.len();
            stream.consume(lines);
            if !all {
                break;
            }
        }
        let mut scan = Scan::new(self.table.dialect);
        let mut at = 0;
        while at < AHEAD {
            let window = stream.ensure(at + 1);
            let ahead = window.get(at..window.len().min(AHEAD)).unwrap_or_default();
            if ahead.is_empty() {
                return match scan.may_end() {
                    true => self.last(stream, sink, at),
                    false => self.not_closed(stream, sink),
                };
            }
            let (n, end) = scan.feed(ahead);
            at += n;
            match end {
                None => {}
                Some(RowEnd::Line) => {
                    sink.take(stream, at);
                    return self.record();
                }
                Some(RowEnd::Broken) => return self.not_closed(stream, sink),
            }
        }
        sink.take(stream, AHEAD);
        loop {
            let window = stream.ensure(1);
            // Beyond the limit, no quote is waited for.
            let room = (self.limit + 1).saturating_sub(sink.begun.length);
            let most = usize::try_from(room).unwrap_or(usize::MAX);
            if window.is_empty() {
                return match scan.may_end() {
                    true => self.last(stream, sink, 0),
                    false => unclosed(sink.begun.length),
                };
            }
            if most == 0 {
                self.pass_line(stream, sink);
                return self.record();
            }
            let (n, end) = scan.feed(&window[..window.len().min(most)]);
            sink.take(stream, n);
            match end {
                None => {}
                Some(RowEnd::Line) => return self.record(),
                Some(RowEnd::Broken) => {
                    self.pass_line(stream, sink);
                    return unclosed(sink.begun.length);
                }
            }
        }
    }
}

impl TableFramer {
    fn record(&self) -> Step {
        Step::record(RecordKind::Cells(self.table.clone()))
    }

    /// The last row, whose last `n` bytes are still in the window, and which may have no line end.
    fn last(&self, stream: &mut Stream, sink: &mut Sink<'_>, n: usize) -> Step {
        sink.take(stream, n);
        match stream.cut() {
            true => Step::cut(None, sink),
            false => self.record(),
        }
    }

    /// Rejects the first line of a row, which is still in the window.
    fn not_closed(&self, stream: &mut Stream, sink: &mut Sink<'_>) -> Step {
        self.pass_line(stream, sink);
        match stream.cut() && stream.at_end() {
            true => Step::rejected(Reason::Truncated, "the stream ends inside quotes"),
            false => unclosed(sink.begun.length),
        }
    }

    /// Passes over the rest of a line.
    fn pass_line(&self, stream: &mut Stream, sink: &mut Sink<'_>) {
        let end = self.table.dialect.end;
        loop {
            let window = stream.ensure(1);
            let found = memchr::memchr(end, window);
            let n = found.map_or(window.len(), |found| found + 1);
            if n == 0 {
                return;
            }
            sink.pass(stream, n);
            if found.is_some() {
                return;
            }
        }
    }
}

fn unclosed(bytes: u64) -> Step {
    Step::rejected(
        Reason::BadRow,
        format!("a quote is not closed; {bytes} bytes, up to a line end, are left out"),
    )
}
