//! The common parts of all framers. A framer finds where the records of one format begin and end.

use super::record::RecordKind;
use super::stream::{Sink, Stream};
use lookalike_base::keywords;
use lookalike_source::Reason;

keywords! {
    /// The format of an input: what its records are cut by.
    pub enum Container {
        Trec = "TREC",
        Reuters = "Reuters-21578",
        Warc = "WARC",
        Arc = "ARC",
        Json = "JSON",
        /// JSON objects, most of them before their documents.
        Bulk = "JSON of Elasticsearch's bulk format",
        Mbox = "mbox",
        Mail = "mail",
        Table = "CSV or TSV",
        Parquet = "Parquet",
        /// Markup that is split at the elements of one name.
        Elements = "markup split by --record",
        /// Text that is split at lines.
        Sections = "text split by --split-at",
        Plain = "text or HTML",
    }
}

/// The result of one step of a framer.
pub(crate) enum Step {
    /// A record; its bytes are in the sink.
    Record {
        kind: RecordKind,
        notice: Option<(Reason, String)>,
    },
    /// A stretch of bytes that is not a record, either in the sink or skipped.
    Rejected(Option<String>, Reason, String),
    /// The end of the stream was reached.
    End,
}

impl Step {
    pub fn record(kind: RecordKind) -> Self {
        Step::Record { kind, notice: None }
    }

    pub fn rejected(reason: Reason, detail: impl Into<String>) -> Self {
        Step::named(None, reason, detail)
    }

    /// A reject whose docno may be known.
    pub fn named(docno: Option<String>, reason: Reason, detail: impl Into<String>) -> Self {
        Step::Rejected(docno, reason, detail.into())
    }

    /// The stream ends inside a record.
    pub fn cut(docno: Option<String>, sink: &Sink<'_>) -> Self {
        let detail = format!(
            "the stream ends after {} bytes of the record",
            sink.begun.length
        );
        Step::named(docno, Reason::Truncated, detail)
    }
}

/// Where a file can be cut into parts that are read at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cuts {
    Nowhere,
    /// Where [`Framer::certain_begin`] says.
    Certain,
    /// Where a reader of the whole file finds records.
    Found,
}

/// Cuts a stream into the records of one format.
pub(crate) trait Framer: Send {
    /// Frames the next record, or the next stretch of bytes that is not one.
    fn step(&mut self, stream: &mut Stream, sink: &mut Sink<'_>) -> Step;

    fn cuts(&self) -> Cuts {
        Cuts::Nowhere
    }

    /// The first place in these bytes where a record begins, whatever precedes the bytes.
    fn certain_begin(&self, _bytes: &[u8]) -> Option<usize> {
        None
    }

    /// Says that records precede the stream.
    fn begun(&mut self) {}

    /// A framer of what follows damage. `None` if it cannot be used.
    fn behind(&self) -> Option<Box<dyn Framer>> {
        None
    }

    /// Whether a record begins with these bytes, at a place where one is expected.
    fn begins(&self, _bytes: &[u8]) -> bool {
        false
    }
}

/// How far a record is looked for behind damage.
const LOOK: usize = 64 << 10;

/// Behind damage, before a record certainly begins.
pub(crate) struct Behind<F> {
    framer: F,
    /// Whether a record has begun.
    begun: bool,
}

impl<F: Framer + Clone + 'static> Behind<F> {
    pub fn of(framer: F) -> Box<dyn Framer> {
        let begun = false;
        Box::new(Behind { framer, begun })
    }

    /// Skips the rest of a record whose beginning is damaged. `None` where a record begins.
    fn skip(&self, stream: &mut Stream, sink: &mut Sink<'_>) -> Option<Step> {
        /// The bytes before a beginning, as far as they matter.
        const BEFORE: usize = 1 << 10;
        stream.skip_space(LOOK);
        loop {
            let window = stream.ensure(LOOK);
            let (n, last) = match self.framer.certain_begin(window) {
                _ if sink.begun.offset.is_none() && self.framer.begins(window) => return None,
                Some(at) => (at, true),
                None if window.len() < LOOK => (window.len(), true),
                None => (window.len() - BEFORE, false),
            };
            sink.pass(stream, n);
            if last {
                let length = sink.begun.length;
                return (length > 0).then(|| {
                    let detail = format!("{length} bytes of a record whose beginning is damaged");
                    Step::rejected(Reason::StrayBytes, detail)
                });
            }
        }
    }
}

impl<F: Framer + Clone + 'static> Framer for Behind<F> {
    fn step(&mut self, stream: &mut Stream, sink: &mut Sink<'_>) -> Step {
        if !self.begun {
            if let Some(step) = self.skip(stream, sink) {
                return step;
            }
            self.begun = true;
        }
        self.framer.step(stream, sink)
    }

    fn behind(&self) -> Option<Box<dyn Framer>> {
        self.framer.behind()
    }

    fn begins(&self, bytes: &[u8]) -> bool {
        self.framer.begins(bytes)
    }
}
