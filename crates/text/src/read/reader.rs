//! The framer: cuts one input into records, in order, with one record in memory at a time.

use std::borrow::Cow;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::formats::{can_be_json, container_of, is_message_name};
use super::ground::bytes::{MARK, trim_front};
use super::ground::config::{Format, ReadConfig};
use super::ground::fields::{Known, other_fields};
use super::ground::framer::{Container, Framer, Step};
use super::ground::record::{
    Batch, ContentKind, Message, Notice, Origin, Part, Prolog, Record, RecordKind, Reject,
    Sections, SourceSpan, Table, WholeFile,
};
use super::ground::stream::{Begun, Sink, Stream, ends_at_cr};
use super::inputs::InputFile;
use super::inputs::standard_input::{StandardInput, pauses_for};
use super::interpret::many_records;
use super::json::bulk::Action;
use super::json::frame_json::JsonFramer;
use super::look::sniff::{binary_file_kind, index_kind, looks_like_markup};
use super::mail::frame_mbox::MboxFramer;
use super::mail::{begins_message, put_line_feeds, with_line_feeds};
use super::markup::elements::has_element;
use super::markup::frame_elements::ElementFramer;
use super::markup::frame_trec::Tag;
use super::parquet::{ENCRYPTED, MAGIC, ParquetFramer};
use super::plain::frame_lines::{next_line, one_per_line};
use super::plain::frame_sections::SectionFramer;
use super::table::Claim;
use super::table::frame_table::TableFramer;
use super::web::frame_archive::{ArchiveFramer, Shape};
use lookalike_base::{Stop, Wide, wide};
use lookalike_source::{
    Codec, Fault, FromPlace, Helpers, Input, ReadAt, Reason, Source, Stoppable, compression_of,
};
use lookalike_store::{File, disk, remote};

/// Number of bytes examined to detect the format.
const LOOK: usize = 64 << 10;

/// Files with fewer bytes are not worth the help of others.
const LEAST_AHEAD: u64 = 1 << 20;

/// Cuts one input into records.
///
/// Memory: the window (512 KiB, up to 3 MiB in an archive with wrong lengths) and the decoder. A
/// record is copied straight to the batch, which stores at most [`ReadConfig::max_document`] bytes
/// of it.
#[derive(Default)]
pub struct RecordReader {
    stream: Stream,
    config: ReadConfig,
    /// Number of records, and of rejects other than stray bytes, so far.
    framed: u64,
    /// Error number of a disk or machine failure, see [`RecordReader::failure`].
    failure: Option<i32>,
    /// The number of the last record.
    pub number: u64,
    origin: Arc<Origin>,
    /// Where the piece ends that is being read, unless the file does.
    until: Option<u64>,
    odd_path: bool,
    /// Bytes before the first row of a table, once a record has been asked for: its header. No
    /// record has them.
    pub header: u64,
    /// Whether JSON lines are records of their own ([`RecordReader::open_by_line`]).
    by_line: bool,
    file: u32,
    state: State,
    /// The line that was being read when standard input paused.
    begun: Option<Begun>,
    /// At the end of the bytes: how they were framed, and how to go on behind damage.
    behind: Option<(State, Option<State>)>,
    /// Whether bytes before these are damaged.
    damaged: bool,
    /// Where the last record ended that was delivered.
    last_end: u64,
    /// The file being read, for checking that it is still the file that was listed.
    opened: Option<File>,
    /// The same file, for a format that is not read from its first byte to its last.
    seekable: Option<Arc<dyn ReadAt>>,
}

/// How a file is read.
#[derive(Default)]
pub(super) enum State {
    #[default]
    Start,
    Framed(Container, Box<dyn Framer>),
    /// JSON lines of standard input.
    Lines,
    Parquet(Box<ParquetFramer>),
    End,
    Done,
}

impl State {
    fn framed(container: Container, framer: impl Framer + 'static) -> State {
        State::Framed(container, Box::new(framer))
    }

    /// How to go on behind damage. `None` if the rest of the file cannot be used.
    fn behind(&self) -> Option<State> {
        match self {
            State::Start => Some(State::Start),
            State::Framed(container, framer) => Some(State::Framed(*container, framer.behind()?)),
            _ => None,
        }
    }

    /// The kind of the record that begins with these bytes.
    fn kind_of(&self, head: &[u8]) -> Option<RecordKind> {
        let container = match self {
            State::Framed(container, framer) if framer.begins(head) => *container,
            State::Start => container_of(head),
            _ => return None,
        };
        match container {
            Container::Warc => Some(RecordKind::Warc),
            Container::Arc => Some(RecordKind::Arc),
            Container::Json | Container::Bulk => Some(RecordKind::Json),
            Container::Trec => Some(RecordKind::TrecSgml),
            _ => None,
        }
    }
}

/// Frames a whole stream as one document.
struct WholeFramer {
    /// The name of the file.
    name: Arc<str>,
    mail: bool,
    /// Whether bytes before the stream are damaged.
    damaged: bool,
    notice: Option<(Reason, String)>,
    framed: bool,
}

impl Framer for WholeFramer {
    fn step(&mut self, stream: &mut Stream, sink: &mut Sink<'_>) -> Step {
        if std::mem::replace(&mut self.framed, true) {
            return Step::End;
        }
        while let n @ 1.. = stream.ensure(1).len() {
            sink.take(stream, n);
        }
        if self.mail {
            put_line_feeds(sink.held_mut());
        }
        let docno = self.name.to_string();
        if stream.cut() || self.damaged {
            return Step::named(Some(docno), Reason::Truncated, "");
        }
        Step::Record {
            kind: match self.mail {
                true => RecordKind::Mail(Message { docno, mbox: false }),
                false => RecordKind::Plain(WholeFile { docno }),
            },
            notice: self.notice.take(),
        }
    }
}

/// The result of [`RecordReader::next_or_pause`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The batch has one record more.
    Record,
    /// The input has paused. The batch may have the first bytes of the next record and must be
    /// kept.
    Paused,
    /// The input has ended.
    End,
}

/// The first bytes that are not framed yet. More may be in the window, which depends on reads.
fn head_of(stream: &mut Stream) -> &[u8] {
    let head = stream.ensure(LOOK);
    &head[..head.len().min(LOOK)]
}

/// The container of a file with these first bytes and this name.
fn container_for(head: &[u8], name: &str, format: Option<Format>) -> Container {
    if let Some(format) = format {
        return Container::of(format, head);
    }
    match container_of(head) {
        Container::Plain if is_message_name(name) && begins_message(head, true) => Container::Mail,
        // It may begin with stray bytes.
        Container::Plain => Format::of_extension(name)
            .map_or(Container::Plain, |format| Container::of(format, head)),
        container => container,
    }
}

/// The bytes of an input. Those of an object end with an error once a stop is requested; a disk
/// delivers a record before anybody waits for it.
fn until_stop(
    bytes: impl Read + Send + 'static,
    input: &InputFile,
    stop: &Stop,
) -> Box<dyn Read + Send> {
    match remote::is_address(&input.path) {
        true => Box::new(Stoppable {
            inner: bytes,
            stop: stop.clone(),
        }),
        false => Box::new(bytes),
    }
}

impl RecordReader {
    /// Opens an input. The first record reports any error. Waiting for standard input ends when a
    /// stop is requested; the input then ends with a fault that the caller never reads, since it
    /// stops.
    pub fn open(input: &InputFile, file: u32, config: &ReadConfig, stop: &Stop) -> RecordReader {
        let mut reader = Self::opened(input, file, config, stop, None);
        Arc::make_mut(&mut reader.origin).stop = stop.clone();
        reader
    }

    fn opened(
        input: &InputFile,
        file: u32,
        config: &ReadConfig,
        stop: &Stop,
        until: Option<u64>,
    ) -> RecordReader {
        if let Some((reason, detail)) = &input.problem {
            let fault = Fault::new(*reason, detail.clone());
            return Self::of(Err(fault), input, file, config);
        }
        if input.path.as_os_str() == "-" {
            let waiting = Input::new(Box::new(StandardInput { stop: stop.clone() }));
            return Self::of(Source::new(waiting), input, file, config);
        }
        match disk::open_input(&input.path) {
            Ok(opened) => {
                let bytes = Input::new(until_stop(opened.until(until), input, stop));
                let mut reader = Self::of(Source::new(bytes), input, file, config);
                reader.seekable = Some(Arc::new(opened.clone()));
                reader.opened = Some(opened);
                reader
            }
            Err(error) => Self::of(Err(Fault::refused(&error)), input, file, config),
        }
    }

    /// As [`RecordReader::open`], for a caller that answers records one by one. If standard input
    /// has one JSON document on each line, as its first line shows, then each line is a record, and
    /// [`RecordReader::next_or_pause`] reports pauses between lines.
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
        RecordReader {
            by_line: true,
            ..Self::of(source, input, file, config)
        }
    }

    /// Lets helpers decompress parts of `input`, which this reads, ahead of this. It changes no
    /// record. No record may have been read.
    pub fn decompress_ahead(&mut self, input: &InputFile, helpers: &Helpers) {
        if let (Some(opened), Some(identity)) = (&self.opened, &input.identity)
            && let Some(source) = &mut self.stream.source
            && identity.size >= LEAST_AHEAD
        {
            source.decompress_ahead(opened, identity.size, helpers);
        }
    }

    /// Bytes that the decompressor may take.
    pub fn decoder_memory(&self) -> u64 {
        (self.stream.source.as_ref()).map_or(0, |source| source.memory)
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
        let mut reader = Self::opened(input, file, config, stop, until);
        reader.until = until;
        if part.begin() > 0
            && let Some(opened) = &reader.opened
        {
            let (file, at) = (Arc::new(opened.until(until)), part.begin());
            // The file decides the format.
            if let Ok(mut state) = reader.detect() {
                if let State::Framed(_, framer) = &mut state {
                    framer.begun();
                }
                reader.state = state;
                let bytes = until_stop(FromPlace { file, at }, input, stop);
                let source = Source::plain(Input::new(bytes));
                reader.stream = Stream::new(Ok(source), config.max_ratio);
                reader.stream.offset = at;
                reader.framed = 1;
            }
        }
        let origin = Arc::make_mut(&mut reader.origin);
        (origin.part, origin.stop) = (Some(part), stop.clone());
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
                framer.groups = groups;
            }
            reader.state = state;
        }
        reader
    }

    /// How a file is read, unless places in it refer to a decoded text.
    pub(super) fn framing(input: &InputFile, config: &ReadConfig) -> io::Result<Option<State>> {
        let mut reader = Self::beginning(input, LOOK as u64, config)?;
        let state = reader.detect().ok();
        Ok(state.filter(|_| reader.stream.wide().is_none()))
    }

    /// Reads from any source. `docno` names the document if the whole stream is one document, and
    /// its extension gives the format if the content does not.
    pub fn from_reader(
        reader: impl Read + Send + 'static,
        docno: &str,
        file: u32,
        config: &ReadConfig,
    ) -> RecordReader {
        let source = Source::new(Input::new(Box::new(reader)));
        Self::of(source, &InputFile::named("-", docno), file, config)
    }

    /// Reads the first `limit` bytes of a file. If it is a Parquet file, whose footer is at its
    /// end, all rows can be read.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn beginning(
        input: &InputFile,
        limit: u64,
        config: &ReadConfig,
    ) -> io::Result<RecordReader> {
        let opened = disk::open_input(&input.path)?;
        let from_start = opened.clone().take(limit);
        let mut reader = Self::from_reader(from_start, &input.docno, 0, config);
        reader.seekable = Some(Arc::new(opened));
        Ok(reader)
    }

    /// Why a field cannot be used, with the fields that a record has.
    pub fn no_such_field(field: &str, inputs: &[InputFile], config: &ReadConfig) -> String {
        /// Inputs in which a record with fields is looked for.
        const LOOK_INPUTS: usize = 16;
        let inputs = inputs
            .iter()
            .filter(|input| input.problem.is_none())
            .take(LOOK_INPUTS);
        let mut known = inputs.map(|input| RecordReader::known_fields(input, config));
        let known = known.find(|known| !known.is_empty()).unwrap_or_default();
        let others = other_fields(field, &known);
        format!("no record has a field {field} with a string or a number{others}")
    }

    /// The fields of the first record of a file that has some, or the columns of a Parquet file,
    /// for a message.
    pub fn known_fields(input: &InputFile, config: &ReadConfig) -> Vec<Known> {
        /// Bytes at the beginning of the file that are read.
        const LOOK_BYTES: u64 = 256 << 10;
        let Ok(mut reader) = RecordReader::beginning(input, LOOK_BYTES, config) else {
            return Vec::new();
        };
        let mut batch = Batch::default();
        while let Some((record, bytes)) = reader.next_of(&mut batch) {
            let known = match &reader.state {
                State::Parquet(framer) => framer.known(),
                _ => record.kind.known(bytes),
            };
            if !known.is_empty() {
                return known;
            }
        }
        Vec::new()
    }

    /// Like [`RecordReader::from_reader`], but reads bytes in memory, which may be a Parquet file.
    pub fn from_bytes(bytes: Vec<u8>, docno: &str, file: u32, config: &ReadConfig) -> RecordReader {
        let bytes: Arc<dyn ReadAt> = Arc::new(bytes);
        let from_start = FromPlace {
            file: bytes.clone(),
            at: 0,
        };
        let mut reader = Self::from_reader(from_start, docno, file, config);
        reader.seekable = Some(bytes);
        reader
    }

    fn of(
        source: Result<Source, Fault>,
        input: &InputFile,
        file: u32,
        config: &ReadConfig,
    ) -> RecordReader {
        RecordReader {
            stream: Stream::new(source, config.max_ratio),
            config: config.clone(),
            origin: Arc::new(Origin {
                name: input.docno.as_str().into(),
                below: input.below,
                ..Origin::default()
            }),
            odd_path: input.odd_path,
            file,
            ..RecordReader::default()
        }
    }

    /// Returns an error if the file changed since it was listed: the bytes read may then mix the
    /// old and the new file. Call this when the file has been read, and before anything read so far
    /// is stored.
    ///
    /// # Errors
    /// `InputChanged`.
    pub fn check_unchanged(&self, input: &InputFile) -> lookalike_base::Result<()> {
        match &self.opened {
            // Wherever its path leads by now.
            Some(opened) => input.check(|| opened.metadata()),
            None => Ok(()),
        }
    }

    /// Bytes of the file consumed so far, as stored on disk.
    pub fn position(&self) -> u64 {
        match &self.state {
            State::Parquet(framer) => framer.position(),
            _ => self.stream.position(),
        }
    }

    /// Bytes decompressed so far from [`RecordReader::position`] bytes of the file, including bytes
    /// that are not yet framed.
    pub fn decompressed(&self) -> u64 {
        if let State::Parquet(framer) = &self.state {
            return framer.delivered;
        }
        self.stream.offset + self.stream.window().len() as u64
    }

    /// The failure of the disk or the machine that ended the input, if any. It may be transient, so
    /// a caller that stores the documents read must not take this end, and the rejects at it, for
    /// the input's own.
    pub fn failure(&self) -> Option<io::Error> {
        if let State::Parquet(framer) = &self.state {
            return framer.failure.map(remote::failed);
        }
        let coming = self.stream.fault.as_ref().and_then(|fault| fault.failure);
        self.failure.or(coming).map(remote::failed)
    }

    /// The failure that ended the input, if any, as the error of a command.
    pub fn check(&self, input: &InputFile) -> lookalike_base::Result<()> {
        match self.failure() {
            None => Ok(()),
            Some(error) if remote::is_stop(&error) => {
                Err(lookalike_base::Error::Interrupted { stage: "read" })
            }
            Some(error) => Err(error).map_err(lookalike_base::Error::io("read", &input.path)),
        }
    }

    /// The format of the input, by its first bytes. `None` if it has no records: it is empty, not
    /// text, or cannot be read.
    pub fn container(&mut self) -> Option<Container> {
        if matches!(self.state, State::Start) {
            self.state = self.detect().ok()?;
        }
        match &self.state {
            State::Framed(container, _) => Some(*container),
            State::Lines => Some(Container::Json),
            State::Parquet(_) => Some(Container::Parquet),
            State::Start | State::End | State::Done => None,
        }
    }

    /// Appends the next record, or the reject in its place, to the batch. Returns `false` at the
    /// end of the input, without appending anything.
    pub fn next_into(&mut self, batch: &mut Batch) -> bool {
        self.next(batch, |_| false) == Next::Record
    }

    /// Replaces the content of the batch with the next record, or with the reject in its place, and
    /// returns it with its bytes. `None` at the end of the input.
    pub fn next_of<'b>(&mut self, batch: &'b mut Batch) -> Option<(&'b Record, &'b [u8])> {
        batch.clear();
        self.next_into(batch);
        batch.first()
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
            let mut sink = Sink::new(&mut batch.bytes, limit, self.begun.take());
            let step = match &mut self.state {
                State::Start => match self.start() {
                    Some(rejected) => rejected,
                    None => continue,
                },
                State::Framed(_, framer) => framer.step(&mut self.stream, &mut sink),
                State::Lines => match next_line(&mut self.stream, &mut sink, &pauses) {
                    Some(step) => step,
                    None => {
                        self.begun = sink.begun.offset.map(|_| sink.begun);
                        return Next::Paused;
                    }
                },
                State::End => match self.fault() {
                    Some((step, place)) => {
                        retracted = place;
                        step
                    }
                    None => continue,
                },
                State::Done | State::Parquet(_) => return Next::End,
            };
            let (offset, length) = retracted.unwrap_or_else(|| {
                let offset = sink.begun.offset.unwrap_or(self.stream.offset);
                (offset, sink.begun.length)
            });
            let source = SourceSpan {
                file: self.file,
                offset,
                length,
            };
            if self.until.is_some_and(|until| offset >= until) {
                // The next piece begins with it.
                sink.discard();
                self.state = State::Done;
                return Next::End;
            }
            let Some((kind, notice)) = self.framed(step, &sink, source) else {
                self.end();
                continue;
            };
            let mut bytes = sink.range();
            if matches!(kind, RecordKind::Rejected(_)) {
                bytes.end = bytes.start;
                sink.discard();
            } else {
                self.last_end = offset + length;
            }
            self.number += u64::from(kind != RecordKind::Deletion);
            batch.records.push(Record {
                kind,
                source,
                number: self.number,
                origin: self.origin.clone(),
                bytes,
                notice,
                retracts: retracted.is_some(),
            });
            return Next::Record;
        }
    }

    /// Chooses how to frame the stream. Returns the reject if it cannot be framed.
    fn start(&mut self) -> Option<Step> {
        match self.detect() {
            Ok(State::End) => self.end(),
            // Its first row has no names.
            Ok(State::Framed(Container::Table, _)) if self.damaged => {
                self.state = State::framed(Container::Plain, self.whole(false));
            }
            Ok(state) => self.state = state,
            Err((reason, detail)) => {
                self.end();
                let name = self.origin.name.to_string();
                return Some(Step::named(Some(name), reason, detail));
            }
        }
        None
    }

    /// At the end of the bytes, the reject of what ended them, if it was not the end of the file,
    /// and the place of delivered bytes that turned out to be damaged.
    fn fault(&mut self) -> Option<(Step, Option<(u64, u64)>)> {
        self.state = State::Done;
        let behind = self.behind.take();
        let mut fault = self.stream.fault.take()?;
        self.failure = fault.failure;
        let begin = self.stream.offset.saturating_sub(fault.delivered);
        let is_retracted = fault.delivered > 0 && self.last_end > begin;
        let retracted = is_retracted.then(|| (begin, self.stream.offset - begin));
        let docno = behind
            .as_ref()
            .and_then(|(state, _)| state.kind_of(&fault.head)?.docno(&fault.head));
        match behind {
            Some((_, Some(behind))) if fault.goes_on => {
                self.state = behind;
                self.damaged = true;
                self.stream.ended = false;
            }
            _ => fault.stop(),
        }
        Some((Step::named(docno, fault.reason, fault.detail), retracted))
    }

    /// The record or reject that a framer found at a place. `None` at the end of the stream.
    fn framed(
        &mut self,
        step: Step,
        sink: &Sink<'_>,
        source: SourceSpan,
    ) -> Option<(RecordKind, Option<Notice>)> {
        let (docno, reason, detail) = match step {
            Step::End => return None,
            Step::Record { kind, .. } if self.stream.reaches_damage(source) => {
                let detail = "its checksum, or the checksum of the rest, is wrong";
                let docno = kind.docno(sink.held());
                (docno, Reason::CorruptCompression, detail.into())
            }
            Step::Record { kind, .. } if sink.too_large() => {
                let (length, most) = (sink.begun.length, self.config.max_document.0);
                let mut detail = format!("{length} bytes, at most {most} are read");
                if matches!(kind, RecordKind::Plain(_))
                    && let Some(many) = many_records(sink.held())
                {
                    detail = format!("{detail}; {many}");
                }
                (kind.docno(sink.held()), Reason::TooLarge, detail)
            }
            Step::Record { kind, notice } => {
                self.framed += 1;
                let kind = match (kind, self.config.format) {
                    (RecordKind::TrecWeb, Some(Format::TrecSgml)) => RecordKind::TrecSgml,
                    (RecordKind::TrecSgml, Some(Format::TrecWeb)) => RecordKind::TrecWeb,
                    (kind, _) => kind,
                };
                return Some((kind, notice.or_else(|| self.malformed(sink))));
            }
            Step::Rejected(docno, reason, detail) => (docno, reason, detail),
        };
        let is_stray = reason == Reason::StrayBytes && sink.begun.length > 0;
        let nothing_else = is_stray && self.framed == 0 && self.stream.at_end();
        self.framed += u64::from(!is_stray);
        let rejected = Reject {
            source,
            docno,
            reason: match nothing_else && self.config.format.is_some() {
                true => Reason::WrongFormat,
                false => reason,
            },
            detail,
        };
        Some((RecordKind::Rejected(rejected), None))
    }

    /// The notice that bytes of the record were not text in the wide encoding of the file.
    fn malformed(&self, sink: &Sink<'_>) -> Option<(Reason, String)> {
        let wide = self.stream.wide()?;
        let record = sink.begun.offset?..sink.begun.offset? + sink.begun.length;
        if let Some((first, other)) = wide.foreign().filter(|(at, _)| record.contains(&at.to)) {
            let (name, at) = (wide.wide().text(), first.from);
            let detail = format!(
                "{name} by its first bytes, but {other} from about byte {at} of the file on; \
                 convert the parts to one encoding"
            );
            return Some((Reason::DoubtfulText, detail));
        }
        let first = wide.malformed()?;
        let replaced = record.end > first.to
            && memchr::memmem::find(sink.held(), "\u{fffd}".as_bytes()).is_some();
        replaced.then(|| {
            let (name, at) = (wide.wide().text(), first.from);
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
    fn detect(&mut self) -> Result<State, Notice> {
        let source = self.stream.source.as_ref();
        let compression = source.and_then(|source| source.compression);
        if self.by_line && compression.is_none() && self.has_a_document_on_each_line() {
            return Ok(State::Lines);
        }
        let name = self.origin.name.clone();
        let head = self.stream.ensure(LOOK);
        // The program takes the bytes of the file, whatever they look like.
        if !head.is_empty() && self.config.converter_of_file(&name).is_some() {
            return Ok(State::framed(Container::Plain, self.whole(false)));
        }
        if let Some(name) = wide::utf32(head) {
            let detail = format!("a text in {name}; convert it first: iconv -f {name} -t UTF-8");
            return Err((Reason::UnsupportedFormat, detail));
        }
        if let Some(wide) = Wide::of(head) {
            if let Some(kind) = binary_file_kind(head) {
                return Err((Reason::BinaryFile, kind));
            }
            self.stream.widen(wide);
            Arc::make_mut(&mut self.origin).decoded = true;
        }
        if head_of(&mut self.stream).is_empty() {
            // A fault takes precedence over the reject for an empty file.
            return match &self.stream.fault {
                Some(fault) if fault.reason != Reason::StrayBytes => Ok(State::End),
                _ => Err((Reason::EmptyFile, String::new())),
            };
        }
        if let (Some(outer), Some(inner)) = (compression, compression_of(head_of(&mut self.stream)))
        {
            let detail = format!("{inner} inside {outer}; one layer of compression is undone");
            return Err((Reason::UnsupportedFormat, detail));
        }
        if let Some(parquet) = self.parquet(compression)? {
            return Ok(parquet);
        }
        if let Some(framer) = self.split_at_elements() {
            return Ok(State::framed(Container::Elements, framer));
        }
        let of_extension = Format::of_extension(&name);
        let format = self.config.format;
        let head = head_of(&mut self.stream);
        let mut container = container_for(head, &name, format);
        if let Cow::Owned(lines) = with_line_feeds(head) {
            let mail = container_for(&lines, &name, format);
            if matches!(mail, Container::Mail | Container::Mbox) {
                container = mail;
            }
        }
        let head = head_of(&mut self.stream);
        let like_json = container == Container::Json
            && format.is_none()
            && !can_be_json(head)
            && of_extension == Some(Format::Text);
        if like_json {
            container = Container::Plain;
        }
        if format.is_none()
            && container == Container::Plain
            && let Some(kind) = index_kind(head)
        {
            return Err((Reason::UnsupportedFormat, kind.into()));
        }
        if (container == Container::Plain
            || format.is_none() && container_of(head) == Container::Plain)
            && let Some(kind) = binary_file_kind(&self.config.without_marks(head))
        {
            return Err((Reason::BinaryFile, kind));
        }
        if container != Container::Plain || self.config.split_at.is_some() {
            Arc::make_mut(&mut self.origin).charset = Prolog::of(head, None).encoding;
        }
        if let (Container::Plain, Some(at)) = (container, &self.config.split_at) {
            let end = if ends_at_cr(head) { b'\r' } else { b'\n' };
            let content = match format.or(of_extension) {
                Some(Format::Html) => Some(ContentKind::Markup),
                Some(Format::Text) => Some(ContentKind::Text),
                _ => None,
            };
            let at = at.clone();
            if head.starts_with(MARK) {
                self.stream.consume(MARK.len());
            }
            let framer = SectionFramer::new(Sections { at, end, content });
            return Ok(State::framed(Container::Sections, framer));
        }
        let claim = match (container, format.or(of_extension)) {
            (Container::Table, Some(Format::Tsv)) => Some(Claim::Tsv),
            (Container::Table, _) => Some(Claim::Csv),
            (Container::Plain, Some(Format::Html)) if self.config.delimiter.is_some() => None,
            (Container::Plain, of_extension) if format.is_none() => Some(Claim::Content {
                named: of_extension.is_some(),
            }),
            _ => None,
        };
        let head = head_of(&mut self.stream);
        let look = |claim| Table::look(head, head.len() < LOOK, claim, &self.config).transpose();
        if let Some((table, header)) = claim.and_then(look).transpose()? {
            self.header = header as u64;
            self.stream.consume(header);
            let (table, limit) = (Arc::from(table), self.config.max_document.0);
            return Ok(State::framed(
                Container::Table,
                TableFramer { table, limit },
            ));
        }
        let container = match container {
            Container::Json
                if self.config.records.is_none() && Action::of(trim_front(head)).is_some() =>
            {
                Container::Bulk
            }
            container => container,
        };
        let bundle = matches!(container, Container::Trec | Container::Reuters)
            .then(|| Tag::certainly(trim_front(head)));
        if container != Container::Plain && head.starts_with(MARK) {
            self.stream.consume(MARK.len());
        }
        let framer: Box<dyn Framer> = match (container, bundle) {
            (_, Some(tag)) => Box::new(tag),
            (Container::Warc, _) => Box::new(ArchiveFramer { shape: Shape::Warc }),
            (Container::Arc, _) => Box::new(ArchiveFramer { shape: Shape::Arc }),
            (Container::Json, _) => Box::new(JsonFramer::new(self.config.records.as_deref())),
            (Container::Bulk, _) => Box::new(JsonFramer::of_bulk(true)),
            (Container::Mbox, _) => Box::new(MboxFramer::new(name)),
            _ => {
                let mut framer = self.whole(container == Container::Mail);
                if like_json {
                    let what =
                        "it begins like JSON, but is not; with --format jsonl, each line is one";
                    let like_json = || (Reason::PerhapsSeveral, what.to_string());
                    framer.notice = framer.notice.or_else(|| Some(like_json()));
                }
                Box::new(framer)
            }
        };
        Ok(State::Framed(container, framer))
    }

    /// The framer of a Parquet file, or why it cannot be read; `None` if it is another file.
    fn parquet(&mut self, compression: Option<Codec>) -> Result<Option<State>, Notice> {
        let head = self.stream.ensure(LOOK);
        if head.starts_with(ENCRYPTED) {
            let what = "a Parquet file with an encrypted footer";
            return Err((Reason::UnsupportedFormat, what.into()));
        }
        let format = self.config.format;
        if !head.starts_with(MAGIC) && format == Some(Format::Parquet) {
            let begins = head[..head.len().min(4)].escape_ascii().to_string();
            let what = format!("it begins with {begins}, a Parquet file with PAR1");
            return Err((Reason::WrongFormat, what));
        }
        if !head.starts_with(MAGIC) || !matches!(format, None | Some(Format::Parquet)) {
            return Ok(None);
        }
        let what = match (&self.seekable, compression) {
            (Some(file), None) => {
                let (file, origin) = (file.clone(), self.origin.clone());
                let framer = ParquetFramer::new(file, self.file, origin, &self.config);
                return Ok(Some(State::Parquet(Box::new(framer))));
            }
            (_, Some(outer)) => format!(
                "a Parquet file inside {outer}: it is read from its end, so it must be \
                 decompressed first"
            ),
            (None, None) => {
                "a Parquet file in a pipe: it is read from its end, so give it as a file".into()
            }
        };
        Err((Reason::UnsupportedFormat, what))
    }

    /// The framer of a stream that is one document.
    fn whole(&self, mail: bool) -> WholeFramer {
        let odd_path = || {
            let what = "bytes that are not UTF-8 and controls stand as \\xHH";
            (Reason::OddPath, what.to_string())
        };
        WholeFramer {
            name: self.origin.name.clone(),
            mail,
            damaged: self.damaged,
            notice: self.odd_path.then(odd_path),
            framed: false,
        }
    }

    /// The framer of a file of markup that is to be split: a file that begins like markup, or has
    /// the element in its first bytes. A byte order mark is consumed.
    fn split_at_elements(&mut self) -> Option<ElementFramer> {
        let name = self.config.record.as_deref()?;
        let head = head_of(&mut self.stream);
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
        let framer = ElementFramer::new(name, Prolog::of(head, Some(name)));
        if head.starts_with(MARK) {
            self.stream.consume(MARK.len());
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
        if self.config.records.is_some() {
            return false;
        }
        loop {
            let window = self.stream.window();
            let text = window.strip_prefix(MARK).unwrap_or(window);
            let text = text.trim_ascii_start();
            let end = memchr::memchr(b'\n', text);
            if end.is_none() && window.len() < LOOK && !self.stream.ended {
                self.stream.read();
                continue;
            }
            let line = &text[..end.unwrap_or(text.len())];
            let wide = Wide::of(window).is_some() || wide::utf32(window).is_some();
            let each = !wide && one_per_line(line, forced);
            if each && window.starts_with(MARK) {
                self.stream.consume(MARK.len());
            }
            return each;
        }
    }
}
