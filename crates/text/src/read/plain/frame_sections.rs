//! Frames text at the lines at which `--split-at` splits it, and interprets the records.
//!
//! # What a record is
//! - A record begins with a line in which the expression is found, and ends where the next one
//!   begins or the file ends. So every byte from the first such line on is in a record, but for
//!   empty lines at the beginning of one, and the lines from one on that is the end of the records:
//!   the expression is found there with its group `end`. They are rejected in one stretch.
//! - What precedes the first such line is rejected in one stretch. If the expression is found in an
//!   empty line, the file begins with a record, as if an empty line preceded it.
//! - A line ends with LF; with CR in a file whose first bytes have no LF. A CR before the LF is not
//!   a part of the line. Only the first [`LONGEST_LINE`] bytes of a line are compared.
//!
//! Whether a line begins a record depends on nothing but the line, so a file can be cut at each.

use std::sync::Arc;

use crate::read::ground::bytes::spaces;
use crate::read::ground::config::ReadConfig;
use crate::read::ground::framer::{Behind, Cuts, Framer, Step};
use crate::read::ground::outcome::{Interpreter, Outcome};
use crate::read::ground::record::{ContentKind, RawDocument, RecordKind, Sections};
use crate::read::ground::split_at::LONGEST_LINE;
use crate::read::ground::stream::{Sink, Stream};
use crate::read::look::sniff::looks_like_markup;
use lookalike_source::Reason;

/// Cuts a text at lines.
#[derive(Clone)]
pub(crate) struct SectionFramer {
    sections: Arc<Sections>,
    /// Whether the first record has begun.
    begun: bool,
}

impl SectionFramer {
    pub fn new(sections: Sections) -> SectionFramer {
        SectionFramer {
            begun: sections.at.begins(b""),
            sections: sections.into(),
        }
    }

    /// The first line of these bytes without its end, and its length with it. `None` if it may go
    /// on beyond them.
    fn line<'b>(&self, bytes: &'b [u8], ended: bool) -> Option<(&'b [u8], usize)> {
        match memchr::memchr(self.sections.end, bytes) {
            Some(end) => Some((&bytes[..end], end + 1)),
            None if bytes.len() >= LONGEST_LINE || ended => Some((bytes, bytes.len())),
            None => None,
        }
    }

    /// Passes over the empty lines before a record.
    fn skip_empty(&self, stream: &mut Stream) {
        loop {
            stream.ensure(LONGEST_LINE);
            let ended = stream.ended;
            let window = stream.window();
            let window = &window[..window.len().min(LONGEST_LINE)];
            let space = spaces(window);
            let all = space == window.len();
            let lines = memchr::memrchr(self.sections.end, &window[..space]);
            let n = if all {
                space
            } else {
                lines.map_or(0, |end| end + 1)
            };
            stream.consume(n);
            if !all || ended && stream.window().is_empty() {
                return;
            }
        }
    }

    /// Takes the line that has begun, and all lines before the next that begins a record. Returns
    /// whether there is one.
    fn to_next(&self, stream: &mut Stream, mut take: impl FnMut(&mut Stream, usize)) -> bool {
        // Whether the bytes at this place belong to a line that has been looked at.
        let mut inside = true;
        loop {
            stream.ensure(LONGEST_LINE);
            let (window, ended) = (stream.window(), stream.ended);
            let (mut at, mut found) = (0, false);
            while at < window.len() {
                let rest = &window[at..];
                if !inside {
                    let Some((line, _)) = self.line(rest, ended) else {
                        break;
                    };
                    found = self.sections.at.begins(line);
                    if found {
                        break;
                    }
                }
                let end = memchr::memchr(self.sections.end, rest);
                inside = end.is_none();
                at += end.map_or(rest.len(), |end| end + 1);
            }
            let all = ended && at == window.len();
            take(stream, at);
            if found || all {
                return found;
            }
        }
    }
}

impl Framer for SectionFramer {
    fn cuts(&self) -> Cuts {
        match self.sections.end {
            b'\n' => Cuts::Certain,
            _ => Cuts::Nowhere,
        }
    }

    fn certain_begin(&self, bytes: &[u8]) -> Option<usize> {
        memchr::memchr_iter(self.sections.end, bytes).find_map(|end| {
            let (line, _) = self.line(&bytes[end + 1..], false)?;
            self.sections.at.begins(line).then_some(end + 1)
        })
    }

    fn begun(&mut self) {
        self.begun = true;
    }

    fn behind(&self) -> Option<Box<dyn Framer>> {
        let begun = true;
        Some(Behind::of(SectionFramer {
            begun,
            ..self.clone()
        }))
    }

    fn step(&mut self, stream: &mut Stream, sink: &mut Sink<'_>) -> Step {
        self.skip_empty(stream);
        if stream.at_end() {
            return Step::End;
        }
        if !self.begun {
            stream.ensure(LONGEST_LINE);
            let first = self.line(stream.window(), true);
            self.begun = first.is_some_and(|(line, _)| self.sections.at.begins(line));
        }
        if !self.begun {
            self.begun = self.to_next(stream, |stream, n| sink.pass(stream, n));
            return match self.begun {
                true => Step::rejected(
                    Reason::StrayBytes,
                    "before the first line that --split-at matches",
                ),
                false => {
                    let lines = format!("no line matches {}", self.sections.at);
                    Step::rejected(Reason::NoMatch, lines)
                }
            };
        }
        stream.ensure(LONGEST_LINE);
        let first = self.line(stream.window(), true);
        if first.is_some_and(|(line, _)| self.sections.at.ends(line)) {
            self.to_next(stream, |stream, n| sink.pass(stream, n));
            return Step::rejected(Reason::StrayBytes, "behind the end that --split-at matches");
        }
        self.to_next(stream, |stream, n| sink.take(stream, n));
        match stream.cut() && stream.at_end() {
            true => Step::cut(self.sections.docno(sink.held()), sink),
            false => Step::record(RecordKind::Section(self.sections.clone())),
        }
    }
}

impl Interpreter for Sections {
    fn document<'a>(&self, bytes: &'a [u8], _: &ReadConfig) -> Outcome<'a> {
        let content = self.content;
        let content = content.unwrap_or_else(|| ContentKind::of(looks_like_markup(bytes)));
        let docno = self.docno(bytes).unwrap_or_default();
        Outcome::Document(RawDocument::of(docno.into(), content, bytes.into()))
    }

    fn docno(&self, head: &[u8]) -> Option<String> {
        self.at.docno(self.first_line(head))
    }

    /// Returns the text that a group of the expression matches.
    fn field(&self, bytes: &[u8], name: &str) -> Option<String> {
        self.at.group(self.first_line(bytes), name)
    }
}

impl Sections {
    fn first_line<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[..memchr::memchr(self.end, bytes).unwrap_or(bytes.len())]
    }
}
