//! The framer: cuts one input into records, in order, with one record in memory at a time.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::bytes::trim_front;
use super::config::{Format, ReadConfig, extension_of, format_of_extension};
use super::elements::has_element;
use super::formats::{Container, can_be_json, container_of};
use super::frame_archive::{ArchiveFramer, Shape};
use super::frame_elements::ElementFramer;
use super::frame_json::{self, JsonFramer};
use super::frame_lines::{LineFramer, one_per_line};
use super::frame_mbox::MboxFramer;
use super::frame_table::TableFramer;
use super::frame_trec::{self, Tag};
use super::framer::Step;
use super::inputs::InputFile;
use super::interpret::{docno_of, many_records};
use super::parquet::pages::ReadAt;
use super::parquet::{ENCRYPTED, MAGIC, ParquetFramer};
use super::record::{
    Batch, Origin, Part, Prolog, Reason, Record, RecordKind, Reject, SourceSpan, Table,
};
use super::sniff::{binary_file_kind, looks_like_markup};
use super::source::{Fault, From, Helpers, Input, Source, compression_of};
use super::stream::{Sink, Stream};
use super::table::{Claim, Look};
use crate::base::progress::Stop;
use crate::base::wide::Wide;
use crate::store::disk::{self, SharedFile};

/// Number of bytes examined to detect the format.
const LOOK: usize = 64 << 10;

/// Files with fewer bytes are not worth the help of others.
const LEAST_AHEAD: u64 = 1 << 20;

/// While standard input is idle, this is the interval between checks for a stop request: 0.1 s.
const LOOK_FOR_STOP: Duration = Duration::from_millis(100);

/// Cuts one input into records.
///
/// Memory: the window (512 KiB, up to 3 MiB in an archive with wrong lengths) and the decoder. A
/// record goes straight to the batch, which stores at most [`ReadConfig::max_document`] bytes of
/// it.
pub struct RecordReader {
    stream: Stream,
    config: ReadConfig,
    /// Number of records, and of rejects other than stray bytes, so far.
    framed: u64,
    /// Error number of a disk or machine failure, see [`RecordReader::failure`].
    failure: Option<i32>,
    /// Number of records and rejects delivered so far.
    delivered: u64,
    origin: Arc<Origin>,
    /// Where the piece ends that is being read, unless the file does.
    until: Option<u64>,
    odd_path: bool,
    /// Bytes before the first row of a table.
    header: u64,
    /// Whether a text begins like JSON.
    like_json: bool,
    /// Whether JSON lines are records of their own ([`RecordReader::open_by_line`]).
    by_line: bool,
    file: u32,
    state: State,
    /// At the end of the bytes: how they were framed, and how to go on behind damage.
    behind: Option<(State, Option<State>)>,
    /// Whether bytes before these are damaged.
    damaged: bool,
    /// Where the last record ended that was delivered.
    last_end: u64,
    /// The file being read, for checking that it is still the file that was listed.
    opened: Option<SharedFile>,
    /// The same file, for a format that is not read from its first byte to its last.
    seekable: Option<Arc<dyn ReadAt>>,
}

enum State {
    Start,
    Trec(Box<Tag>),
    Archive(ArchiveFramer),
    Json(JsonFramer),
    Lines(LineFramer),
    Mbox(MboxFramer),
    Table(TableFramer),
    Parquet(Box<ParquetFramer>),
    Elements(Box<ElementFramer>),
    /// The whole stream is one document.
    Plain {
        mail: bool,
    },
    /// Behind damage, before a record certainly begins.
    Behind(Framing),
    End,
    Done,
}

impl State {
    /// How to go on behind damage. `None` if the rest of the file cannot be used.
    fn behind(&self) -> Option<State> {
        Some(match self {
            State::Start => State::Start,
            State::Trec(tag) => State::Behind(Framing::Tag(tag.clone())),
            State::Json(_) => State::Behind(Framing::Json),
            State::Archive(framer) => State::Archive(framer.again()),
            State::Mbox(framer) => State::Mbox(framer.clone()),
            State::Behind(framing) => State::Behind(framing.clone()),
            _ => return None,
        })
    }

    /// The kind of the record that begins with these bytes.
    fn kind_of(&self, head: &[u8]) -> Option<RecordKind> {
        match self {
            State::Archive(framer) => framer.begins(head).then(|| framer.kind()),
            State::Json(_) | State::Behind(Framing::Json) => {
                head.starts_with(b"{").then_some(RecordKind::Json)
            }
            State::Trec(tag) | State::Behind(Framing::Tag(tag)) if !tag.is_reuters() => {
                tag.opens(head).then_some(RecordKind::TrecSgml)
            }
            State::Start => match container_of(head) {
                Container::Warc => Some(RecordKind::Warc),
                Container::Arc => Some(RecordKind::Arc),
                Container::Json => Some(RecordKind::Json),
                Container::Trec => Some(RecordKind::TrecSgml),
                _ => None,
            },
            _ => None,
        }
    }
}

/// How the records of a file are found, as far as it matters for cutting it into pieces.
#[derive(Clone)]
pub(super) enum Framing {
    Json,
    Tag(Box<Tag>),
    /// Every line is a record.
    Lines,
    /// Cut between row groups.
    Parquet,
    /// Cut where a reader of the whole file finds records.
    Elements,
    Other,
}

/// The result of [`RecordReader::next_or_pause`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The batch has one record more.
    Record,
    /// The input has paused. The batch may have the first bytes of the next record and must be
    /// kept.
    Paused,
    /// The input has ended.
    End,
}

/// Standard input, which may stay idle for ever.
struct StandardInput {
    stop: Stop,
}

impl Read for StandardInput {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.wait()?;
        io::stdin().read(out)
    }
}

impl StandardInput {
    /// Waits for input or its end; returns an error once a stop is requested.
    fn wait(&self) -> io::Result<()> {
        while !self.stop.requested() {
            if comes_within(LOOK_FOR_STOP)? {
                return Ok(());
            }
        }
        Err(io::Error::other("a stop was asked for"))
    }
}

/// Skips what is left of a record whose beginning is damaged. `None` where a record begins.
fn behind(stream: &mut Stream, sink: &mut Sink<'_>, framing: &Framing) -> Option<Step> {
    /// What precedes a beginning, as far as it matters.
    const BEFORE: usize = 1 << 10;
    stream.skip_space(LOOK);
    loop {
        let window = stream.ensure(LOOK);
        let first = sink.offset().is_none();
        let (begins, found) = match framing {
            Framing::Tag(tag) => (tag.opens(window), tag.certain_begin(window)),
            _ => (window.starts_with(b"{"), frame_json::certain_begin(window)),
        };
        let (n, last) = match found {
            _ if first && begins => return None,
            Some(at) => (at, true),
            None if window.len() < LOOK => (window.len(), true),
            None => (window.len() - BEFORE, false),
        };
        sink.pass(stream, n);
        if last {
            let length = sink.length();
            return (length > 0).then(|| {
                let detail = format!("{length} bytes of a record whose beginning is damaged");
                Step::rejected(Reason::StrayBytes, detail)
            });
        }
    }
}

/// Whether input or its end comes on standard input within this time. The answer may be no too
/// early if a signal arrives.
fn comes_within(time: Duration) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    let most = Timespec {
        tv_sec: time.as_secs() as i64,
        tv_nsec: time.subsec_nanos().into(),
    };
    match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&most)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether nothing comes on standard input for this time. An error is left to the next read.
fn pauses_for(patience: Duration, stop: &Stop) -> bool {
    let begun = Instant::now();
    loop {
        let left = patience.saturating_sub(begun.elapsed());
        match comes_within(left.min(LOOK_FOR_STOP)) {
            Ok(false) if stop.requested() => return false,
            Ok(false) if begun.elapsed() >= patience => return true,
            Ok(false) => {}
            Ok(true) | Err(_) => return false,
        }
    }
}

impl RecordReader {
    /// Opens an input. The first record reports any error. Waiting for standard input ends when a
    /// stop is requested; the input then ends with a fault that the caller never reads, since it
    /// stops.
    #[must_use]
    pub fn open(input: &InputFile, file: u32, config: &ReadConfig, stop: &Stop) -> RecordReader {
        if let Some((reason, detail)) = &input.problem {
            return Self::failed(input, file, config, Fault::new(*reason, detail.clone()));
        }
        if input.path.as_os_str() == "-" {
            let waiting = StandardInput { stop: stop.clone() };
            return Self::new(Box::new(waiting), input, file, config);
        }
        match disk::open_input(&input.path) {
            Ok(opened) => {
                let opened = SharedFile::new(opened);
                let mut reader = Self::new(Box::new(opened.clone()), input, file, config);
                reader.seekable = Some(Arc::new(opened.clone()));
                reader.opened = Some(opened);
                reader
            }
            Err(error) => Self::failed(input, file, config, Fault::refused(&error)),
        }
    }

    /// As [`RecordReader::open`], for a caller that answers records one by one. If standard input
    /// has one JSON document on each line, as its first line shows, then each line is a record, and
    /// [`RecordReader::next_or_pause`] reports pauses between lines.
    #[must_use]
    pub(crate) fn open_by_line(
        input: &InputFile,
        file: u32,
        config: &ReadConfig,
        stop: &Stop,
    ) -> RecordReader {
        if input.problem.is_some() || input.path.as_os_str() != "-" {
            return Self::open(input, file, config, stop);
        }
        let waiting = StandardInput { stop: stop.clone() };
        let source = Source::new(Input::by_line(Box::new(waiting)));
        let stream = Stream::new(source, config.max_ratio);
        RecordReader {
            by_line: true,
            ..Self::of(stream, input, file, config)
        }
    }

    /// Lets helpers decompress parts of `input`, which this reads, ahead of this. It changes no
    /// record. No record may have been read.
    pub(crate) fn decompress_ahead(&mut self, input: &InputFile, helpers: &Helpers) {
        if let (Some(opened), Some(identity)) = (&self.opened, &input.identity)
            && identity.size >= LEAST_AHEAD
        {
            self.stream.decompress_ahead(opened, identity.size, helpers);
        }
    }

    /// Bytes that the decompressor may take.
    #[must_use]
    pub fn decoder_memory(&self) -> u64 {
        self.stream.decoder_memory()
    }

    /// Opens a part of a file that ends at `until`, unless the file does.
    pub(super) fn open_part(
        input: &InputFile,
        file: u32,
        config: &ReadConfig,
        stop: &Stop,
        part: Arc<dyn Part>,
        until: Option<u64>,
    ) -> RecordReader {
        let mut reader = Self::open(input, file, config, stop);
        reader.until = until;
        if part.begin() > 0
            && let Some(opened) = &reader.opened
        {
            let (opened, at) = (opened.clone(), part.begin());
            // The format is that of the file.
            if let Ok(state) = reader.detect() {
                reader.state = state;
                let source = Source::plain(Input::new(Box::new(From { file: opened, at })));
                reader.stream = Stream::new(Ok(source), config.max_ratio).beginning_at(at);
                reader.framed = 1;
            }
        }
        reader.origin = Arc::new(Origin::new(&input.docno, Some(part)));
        reader
    }

    /// Opens some row groups of a Parquet file. Their rows have numbers of the file.
    pub(super) fn open_groups(
        input: &InputFile,
        file: u32,
        config: &ReadConfig,
        stop: &Stop,
        groups: Range<u64>,
    ) -> RecordReader {
        let mut reader = Self::open(input, file, config, stop);
        if let Ok(mut state) = reader.detect() {
            if let State::Parquet(framer) = &mut state {
                framer.only(groups);
            }
            reader.state = state;
        }
        reader
    }

    /// How a file is framed.
    pub(super) fn framing(input: &InputFile, config: &ReadConfig) -> io::Result<Framing> {
        let mut reader = Self::beginning(input, LOOK as u64, config)?;
        let state = reader.detect();
        Ok(match state {
            // Its places refer to the decoded text.
            _ if reader.stream.wide().is_some() => Framing::Other,
            Ok(State::Json(_)) => Framing::Json,
            Ok(State::Trec(tag)) => Framing::Tag(tag),
            Ok(State::Table(framer)) if framer.table.has_lines() => Framing::Lines,
            Ok(State::Parquet(_)) => Framing::Parquet,
            Ok(State::Elements(_)) => Framing::Elements,
            _ => Framing::Other,
        })
    }

    /// Where a Parquet file is cut into pieces of about `bytes`, by row groups, and the bytes of
    /// each piece.
    pub(super) fn cuts(
        input: &InputFile,
        config: &ReadConfig,
        bytes: u64,
    ) -> io::Result<(Vec<u64>, Vec<u64>)> {
        let mut reader = Self::beginning(input, LOOK as u64, config)?;
        Ok(match reader.detect() {
            Ok(State::Parquet(mut framer)) => framer.cuts(bytes),
            _ => Default::default(),
        })
    }

    /// Reads from any source. `docno` names the document if the whole stream is one document, and
    /// its extension gives the format if the content does not.
    #[must_use]
    pub fn from_reader(
        reader: impl Read + Send + 'static,
        docno: &str,
        file: u32,
        config: &ReadConfig,
    ) -> RecordReader {
        let input = InputFile {
            path: "-".into(),
            real: None,
            docno: docno.into(),
            odd_path: false,
            identity: None,
            problem: None,
        };
        Self::new(Box::new(reader), &input, file, config)
    }

    /// Reads the first `limit` bytes of a file. Of a Parquet file, whose footer is at its end, all
    /// rows can be read.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub(crate) fn beginning(
        input: &InputFile,
        limit: u64,
        config: &ReadConfig,
    ) -> io::Result<RecordReader> {
        let opened = SharedFile::new(disk::open_input(&input.path)?);
        let from_start = opened.clone().take(limit);
        let mut reader = Self::from_reader(from_start, &input.docno, 0, config);
        reader.seekable = Some(Arc::new(opened));
        Ok(reader)
    }

    /// Like [`RecordReader::from_reader`], but reads bytes in memory, which may be a Parquet file.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>, docno: &str, file: u32, config: &ReadConfig) -> RecordReader {
        let bytes = bytes::Bytes::from(bytes);
        let from_start = io::Cursor::new(bytes.clone());
        let mut reader = Self::from_reader(from_start, docno, file, config);
        reader.seekable = Some(Arc::new(bytes));
        reader
    }

    fn new(
        reader: Box<dyn Read + Send>,
        input: &InputFile,
        file: u32,
        config: &ReadConfig,
    ) -> RecordReader {
        let stream = Stream::new(Source::new(Input::new(reader)), config.max_ratio);
        Self::of(stream, input, file, config)
    }

    fn failed(input: &InputFile, file: u32, config: &ReadConfig, fault: Fault) -> RecordReader {
        Self::of(
            Stream::new(Err(fault), config.max_ratio),
            input,
            file,
            config,
        )
    }

    fn of(stream: Stream, input: &InputFile, file: u32, config: &ReadConfig) -> RecordReader {
        RecordReader {
            stream,
            config: config.clone(),
            framed: 0,
            failure: None,
            delivered: 0,
            origin: Arc::new(Origin::new(&input.docno, None)),
            until: None,
            odd_path: input.odd_path,
            header: 0,
            like_json: false,
            by_line: false,
            file,
            state: State::Start,
            behind: None,
            damaged: false,
            last_end: 0,
            opened: None,
            seekable: None,
        }
    }

    /// Returns an error if the file changed since it was listed: the bytes read may then mix the
    /// old and the new file. Call this when the file has been read, and before anything read so far
    /// is stored.
    ///
    /// # Errors
    /// `InputChanged`.
    pub fn check_unchanged(&self, input: &InputFile) -> crate::Result<()> {
        match &self.opened {
            Some(opened) => input.check_opened(opened),
            None => Ok(()),
        }
    }

    /// Bytes of the file consumed so far, as stored on disk.
    #[must_use]
    pub fn position(&self) -> u64 {
        match &self.state {
            State::Parquet(framer) => framer.position(),
            _ => self.stream.position(),
        }
    }

    /// Bytes decompressed so far from [`RecordReader::position`] bytes of the file, including bytes
    /// that are not yet framed.
    #[must_use]
    pub fn decompressed(&self) -> u64 {
        if let State::Parquet(framer) = &self.state {
            return framer.delivered();
        }
        self.stream.offset() + self.stream.window().len() as u64
    }

    /// The failure of the disk or the machine that ended the input, if any. It may be transient, so
    /// a caller that stores what was read must not take this end, and the rejects at it, for the
    /// input's own.
    #[must_use]
    pub fn failure(&self) -> Option<io::Error> {
        if let State::Parquet(framer) = &self.state {
            return framer.failure().map(io::Error::from_raw_os_error);
        }
        let coming = self.stream.fault.as_ref().and_then(|fault| fault.failure);
        self.failure.or(coming).map(io::Error::from_raw_os_error)
    }

    /// The format of the input, by its first bytes. `None` if it has no records: it is empty, not
    /// text, or cannot be read.
    pub(crate) fn container(&mut self) -> Option<Container> {
        if matches!(self.state, State::Start) {
            self.state = self.detect().ok()?;
        }
        Some(match &self.state {
            State::Trec(tag) if tag.is_reuters() => Container::Reuters,
            State::Trec(_) => Container::Trec,
            State::Archive(framer) if framer.is_warc() => Container::Warc,
            State::Archive(_) => Container::Arc,
            State::Json(_) | State::Lines(_) => Container::Json,
            State::Mbox(_) => Container::Mbox,
            State::Plain { mail: true } => Container::Mail,
            State::Plain { mail: false } => Container::Plain,
            State::Table(_) => Container::Table,
            State::Parquet(_) => Container::Parquet,
            State::Elements(_) => Container::Elements,
            State::Behind(_) | State::Start | State::End | State::Done => return None,
        })
    }

    /// Bytes before the first row of a table, once a record has been asked for: its header. No record
    /// has them.
    #[must_use]
    pub fn header(&self) -> u64 {
        self.header
    }

    /// Appends the next record, or the reject in its place, to the batch. Returns `false` at the
    /// end of the input, without appending anything.
    pub fn next_into(&mut self, batch: &mut Batch) -> bool {
        self.next(batch, |_| false) == Next::Record
    }

    /// As [`RecordReader::next_into`]. If no byte comes on standard input for the time `patience`,
    /// the next line is not waited for, and the next call continues to read it.
    pub(crate) fn next_or_pause(
        &mut self,
        batch: &mut Batch,
        patience: Duration,
        stop: &Stop,
    ) -> Next {
        self.next(batch, |stream| {
            !stream.has_more() && pauses_for(patience, stop)
        })
    }

    fn next(&mut self, batch: &mut Batch, pauses: impl Fn(&Stream) -> bool) -> Next {
        loop {
            if let State::Parquet(framer) = &mut self.state {
                return match framer.next_into(batch) {
                    true => Next::Record,
                    false => Next::End,
                };
            }
            let limit = self.config.max_document.0;
            let mut retracted = None;
            let mut sink = match &mut self.state {
                State::Lines(framer) => framer.sink(&mut batch.bytes, limit),
                _ => Sink::new(&mut batch.bytes, limit),
            };
            let step = match &mut self.state {
                State::Start => match self.detect() {
                    Ok(State::End) => {
                        self.end();
                        continue;
                    }
                    // Its first row has no names.
                    Ok(State::Table(_)) if self.damaged => {
                        self.state = State::Plain { mail: false };
                        continue;
                    }
                    Ok(state) => {
                        self.state = state;
                        continue;
                    }
                    Err(rejected) => {
                        self.end();
                        rejected
                    }
                },
                State::Trec(tag) => frame_trec::step(&mut self.stream, &mut sink, tag),
                State::Archive(framer) => framer.step(&mut self.stream, &mut sink),
                State::Json(framer) => framer.step(&mut self.stream, &mut sink),
                State::Lines(framer) => match framer.step(&mut self.stream, &mut sink, &pauses) {
                    Some(step) => step,
                    None => return Next::Paused,
                },
                State::Mbox(framer) => framer.step(&mut self.stream, &mut sink, self.origin.name()),
                State::Table(framer) => framer.step(&mut self.stream, &mut sink, limit),
                State::Elements(framer) => {
                    framer.step(&mut self.stream, &mut sink, self.framed == 0)
                }
                State::Plain { mail } => {
                    let mail = *mail;
                    self.end();
                    self.plain(&mut sink, mail)
                }
                State::Behind(framing) => match behind(&mut self.stream, &mut sink, framing) {
                    Some(step) => step,
                    None => {
                        self.state = match framing {
                            Framing::Tag(tag) => State::Trec(tag.clone()),
                            _ => State::Json(JsonFramer::default()),
                        };
                        continue;
                    }
                },
                State::End => {
                    self.state = State::Done;
                    let behind = self.behind.take();
                    match self.stream.fault.take() {
                        Some(mut fault) => {
                            self.failure = fault.failure;
                            let begin = self.stream.offset().saturating_sub(fault.delivered);
                            if fault.delivered > 0 && self.last_end > begin {
                                retracted = Some((begin, self.stream.offset() - begin));
                            }
                            let docno = behind.as_ref().and_then(|(state, _)| {
                                docno_of(&state.kind_of(&fault.head)?, &fault.head)
                            });
                            match behind {
                                Some((_, Some(behind))) if fault.goes_on => {
                                    self.state = behind;
                                    self.damaged = true;
                                    self.stream.go_on();
                                }
                                _ => fault.stop(),
                            }
                            Step::Rejected {
                                reason: fault.reason,
                                docno,
                                detail: fault.detail,
                            }
                        }
                        None => continue,
                    }
                }
                State::Done | State::Parquet(_) => return Next::End,
            };
            let mut source = SourceSpan {
                file: self.file,
                offset: sink.offset().unwrap_or(self.stream.offset()),
                length: sink.length(),
            };
            if let Some((begin, length)) = retracted {
                (source.offset, source.length) = (begin, length);
            }
            if self.until.is_some_and(|until| source.offset >= until) {
                // The next piece begins with it.
                sink.discard();
                self.state = State::Done;
                return Next::End;
            }
            let range = sink.range();
            let reject = |docno, reason, detail| Reject {
                source,
                docno,
                reason,
                detail,
            };
            let (kind, notice) = match step {
                Step::End => {
                    self.end();
                    continue;
                }
                Step::Record { kind, .. } if self.stream.reaches_damage(source) => {
                    self.framed += 1;
                    let detail = "its checksum, or the checksum of the rest, is wrong";
                    let docno = docno_of(&kind, sink.held());
                    let reason = Reason::CorruptCompression;
                    let rejected = reject(docno, reason, detail.into());
                    (RecordKind::Rejected(rejected), None)
                }
                Step::Record { kind, .. } if sink.too_large() => {
                    self.framed += 1;
                    let mut detail = format!(
                        "{} bytes, at most {} are read",
                        sink.length(),
                        self.config.max_document.0
                    );
                    if matches!(kind, RecordKind::Plain { .. })
                        && let Some(many) = many_records(sink.held())
                    {
                        detail = format!("{detail}; {many}");
                    }
                    let docno = docno_of(&kind, sink.held());
                    (
                        RecordKind::Rejected(reject(docno, Reason::TooLarge, detail)),
                        None,
                    )
                }
                Step::Record { kind, notice } => {
                    self.framed += 1;
                    let kind = match (kind, self.config.format) {
                        (RecordKind::TrecWeb, Some(Format::TrecSgml)) => RecordKind::TrecSgml,
                        (RecordKind::TrecSgml, Some(Format::TrecWeb)) => RecordKind::TrecWeb,
                        (kind, _) => kind,
                    };
                    let notice = notice.or_else(|| self.malformed(&sink));
                    let notice = notice.map(|(reason, detail)| reject(None, reason, detail));
                    (kind, notice)
                }
                Step::Rejected {
                    mut reason,
                    docno,
                    detail,
                } => {
                    if reason == Reason::StrayBytes && sink.length() > 0 {
                        let nothing_else = self.framed == 0 && self.stream.at_end();
                        if nothing_else && self.config.format.is_some() {
                            reason = Reason::WrongFormat;
                        }
                    } else {
                        self.framed += 1;
                    }
                    (RecordKind::Rejected(reject(docno, reason, detail)), None)
                }
            };
            let mut bytes = range;
            if matches!(kind, RecordKind::Rejected(_)) {
                bytes.end = bytes.start;
                sink.discard();
            } else {
                self.last_end = source.offset + source.length;
            }
            self.delivered += 1;
            batch.records.push(Record {
                kind,
                source,
                number: self.delivered,
                origin: self.origin.clone(),
                bytes,
                notice,
                retracts: retracted.is_some(),
            });
            return Next::Record;
        }
    }

    /// The notice that bytes of the record were not text in the wide encoding of the file.
    fn malformed(&self, sink: &Sink<'_>) -> Option<(Reason, String)> {
        let wide = self.stream.wide()?;
        let first = wide.malformed()?;
        let replaced = sink.offset()? + sink.length() > first.to
            && memchr::memmem::find(sink.held(), "\u{fffd}".as_bytes()).is_some();
        replaced.then(|| {
            let (name, at) = (wide.wide().name(), first.from);
            let detail = format!("{name} by its first bytes, but byte {at} of the file is not");
            (Reason::InvalidBytes, detail)
        })
    }

    /// The bytes have ended, perhaps at damage.
    fn end(&mut self) {
        let state = std::mem::replace(&mut self.state, State::End);
        let behind = state.behind();
        self.behind = Some((state, behind));
    }

    /// Detects the format, or returns why there is none.
    fn detect(&mut self) -> Result<State, Step> {
        let compression = self.stream.compression();
        if self.by_line && compression.is_none() && self.has_a_document_on_each_line() {
            return Ok(State::Lines(LineFramer::default()));
        }
        let docno = Some(self.origin.name().to_string());
        let rejected = |reason, detail: String| {
            Err(Step::Rejected {
                reason,
                docno: docno.clone(),
                detail,
            })
        };
        let head = self.stream.ensure(LOOK);
        if let Some(wide) = Wide::of(head) {
            if let Some(kind) = binary_file_kind(head) {
                return rejected(Reason::BinaryFile, kind);
            }
            self.stream.widen(wide);
            self.origin = Arc::new(self.origin.decoded());
        }
        let head = self.stream.ensure(LOOK);
        // More may be in the window, which depends on reads.
        let head = &head[..head.len().min(LOOK)];
        if head.is_empty() {
            // A fault takes precedence over the reject for an empty file.
            return match &self.stream.fault {
                Some(fault) if fault.reason != Reason::StrayBytes => Ok(State::End),
                _ => rejected(Reason::EmptyFile, String::new()),
            };
        }
        if let (Some(outer), Some(inner)) = (compression, compression_of(head)) {
            return rejected(
                Reason::UnsupportedFormat,
                format!("{inner} inside {outer}; one layer of compression is undone"),
            );
        }
        let (parquet, encrypted) = (head.starts_with(MAGIC), head.starts_with(ENCRYPTED));
        if encrypted {
            let what = "a Parquet file with an encrypted footer";
            return rejected(Reason::UnsupportedFormat, what.into());
        }
        if parquet && matches!(self.config.format, None | Some(Format::Parquet)) {
            return match (&self.seekable, compression) {
                (Some(file), None) => {
                    let (file, config) = (file.clone(), &self.config);
                    let framer = ParquetFramer::new(file, self.file, self.origin.name(), config);
                    Ok(State::Parquet(Box::new(framer)))
                }
                (_, Some(outer)) => rejected(
                    Reason::UnsupportedFormat,
                    format!(
                        "a Parquet file inside {outer}: it is read from its end, so it must be \
                         decompressed first"
                    ),
                ),
                (None, None) => rejected(
                    Reason::UnsupportedFormat,
                    "a Parquet file in a pipe: it is read from its end, so give it as a file"
                        .into(),
                ),
            };
        }
        if self.config.format == Some(Format::Parquet) {
            let begins = head[..head.len().min(4)].escape_ascii().to_string();
            let what = format!("it begins with {begins}, a Parquet file with PAR1");
            return rejected(Reason::WrongFormat, what);
        }
        if let Some(framer) = self.split_at_elements() {
            return Ok(State::Elements(Box::new(framer)));
        }
        let head = self.stream.ensure(LOOK);
        let container = match self.config.format {
            Some(Format::TrecWeb | Format::TrecSgml) => match container_of(head) {
                Container::Reuters => Container::Reuters,
                _ => Container::Trec,
            },
            Some(Format::Warc) => Container::Warc,
            Some(Format::Arc) => Container::Arc,
            Some(Format::Jsonl) => Container::Json,
            Some(Format::Mbox) => Container::Mbox,
            Some(Format::Eml) => Container::Mail,
            Some(Format::Csv | Format::Tsv) => Container::Table,
            // Parquet is dealt with above.
            Some(Format::Text | Format::Html | Format::Parquet) => Container::Plain,
            None => match container_of(head) {
                Container::Plain => self.by_extension(),
                Container::Json if !can_be_json(head) && self.is_text_by_name() => {
                    self.like_json = true;
                    Container::Plain
                }
                container => container,
            },
        };
        let head = self.stream.ensure(LOOK);
        // More may be in the window, which depends on reads.
        let head = &head[..head.len().min(LOOK)];
        let forced = self.config.format.is_some();
        if (container == Container::Plain || !forced && container_of(head) == Container::Plain)
            && let Some(kind) = binary_file_kind(head)
        {
            return rejected(Reason::BinaryFile, kind);
        }
        let extension = extension_of(self.origin.name());
        let of_extension = format_of_extension(&extension);
        let claim = match (container, self.config.format) {
            (Container::Table, Some(Format::Tsv)) => Some(Claim::Tsv),
            (Container::Table, None) if of_extension == Some(Format::Tsv) => Some(Claim::Tsv),
            (Container::Table, _) => Some(Claim::Csv),
            (Container::Plain, None) => Some(Claim::Content {
                named: of_extension.is_some(),
            }),
            _ => None,
        };
        if let Some(claim) = claim {
            match Table::look(head, head.len() < LOOK, claim, &self.config) {
                Look::Table(table, header) => {
                    self.header = header as u64;
                    self.stream.consume(header);
                    let table = Arc::from(table);
                    return Ok(State::Table(TableFramer { table }));
                }
                Look::Refused(reason, detail) => return rejected(reason, detail),
                Look::Other => {}
            }
        }
        let bundle = matches!(container, Container::Trec | Container::Reuters)
            .then(|| Box::new(Tag::certainly(trim_front(head))));
        if container != Container::Plain && head.starts_with(b"\xef\xbb\xbf") {
            self.stream.consume(3);
        }
        if let Some(tag) = bundle {
            return Ok(State::Trec(tag));
        }
        Ok(match container {
            Container::Warc => State::Archive(ArchiveFramer::new(Shape::Warc)),
            Container::Arc => State::Archive(ArchiveFramer::new(Shape::Arc)),
            Container::Json => State::Json(JsonFramer::default()),
            Container::Mbox => State::Mbox(MboxFramer::default()),
            Container::Mail => State::Plain { mail: true },
            // The others are dealt with above.
            Container::Plain
            | Container::Parquet
            | Container::Elements
            | Container::Table
            | Container::Trec
            | Container::Reuters => State::Plain { mail: false },
        })
    }

    /// The framer of a file of markup that is to be split: one that begins like markup, or has the
    /// element in its first bytes. A byte order mark is consumed.
    fn split_at_elements(&mut self) -> Option<ElementFramer> {
        let name = self.config.record.as_deref()?;
        let head = self.stream.ensure(LOOK);
        let head = &head[..head.len().min(LOOK)];
        let markup = match container_of(head) {
            Container::Trec | Container::Reuters => true,
            Container::Plain => {
                self.config.format.is_some() || looks_like_markup(head) || has_element(head, name)
            }
            _ => false,
        };
        if !markup || binary_file_kind(head).is_some() {
            return None;
        }
        let framer = ElementFramer::new(name, Prolog::of(head));
        if head.starts_with(b"\xef\xbb\xbf") {
            self.stream.consume(3);
        }
        Some(framer)
    }

    /// Whether the first line, or as much of it as is looked at, begins JSON lines. A byte order
    /// mark before them is consumed.
    fn has_a_document_on_each_line(&mut self) -> bool {
        let forced = match self.config.format {
            None => false,
            Some(Format::Jsonl) => true,
            Some(_) => return false,
        };
        const MARK: &[u8] = b"\xef\xbb\xbf";
        loop {
            let window = self.stream.window();
            let text = window.strip_prefix(MARK).unwrap_or(window);
            let text = text.trim_ascii_start();
            let end = memchr::memchr(b'\n', text);
            if end.is_none() && window.len() < LOOK && !self.stream.ended() {
                self.stream.read();
                continue;
            }
            let line = &text[..end.unwrap_or(text.len())];
            let each = Wide::of(window).is_none() && one_per_line(line, forced);
            if each && window.starts_with(MARK) {
                self.stream.consume(MARK.len());
            }
            return each;
        }
    }

    fn is_text_by_name(&self) -> bool {
        format_of_extension(&extension_of(self.origin.name())) == Some(Format::Text)
    }

    /// The container of a file whose first bytes are inconclusive because it begins with stray
    /// bytes.
    fn by_extension(&self) -> Container {
        match format_of_extension(&extension_of(self.origin.name())) {
            Some(Format::Jsonl) => Container::Json,
            Some(Format::Warc) => Container::Warc,
            Some(Format::Arc) => Container::Arc,
            Some(Format::Mbox) => Container::Mbox,
            Some(Format::Eml) => Container::Mail,
            Some(Format::Csv | Format::Tsv) => Container::Table,
            _ => Container::Plain,
        }
    }

    /// Frames the whole stream as one document.
    fn plain(&mut self, sink: &mut Sink<'_>, mail: bool) -> Step {
        loop {
            let n = self.stream.ensure(1).len();
            if n == 0 {
                break;
            }
            sink.take(&mut self.stream, n);
        }
        if self.stream.cut() || self.damaged {
            return Step::Rejected {
                reason: Reason::Truncated,
                docno: Some(self.origin.name().to_string()),
                detail: String::new(),
            };
        }
        let notice = self.odd_path.then(|| {
            (
                Reason::OddPath,
                "bytes that are not UTF-8 and controls stand as \\xHH".to_string(),
            )
        });
        let like_json = || {
            let what = "it begins like JSON, but is not; with --format jsonl, each line is one";
            (Reason::PerhapsSeveral, what.to_string())
        };
        let notice = notice.or_else(|| self.like_json.then(like_json));
        let docno = self.origin.name().to_string();
        let kind = if mail {
            RecordKind::Mail { docno, mbox: false }
        } else {
            RecordKind::Plain { docno }
        };
        Step::Record { kind, notice }
    }
}
