//! The result files: spans, their removable parts, and what part of each document they cover.

use std::fmt::Write;
use std::ops::Range;

use super::repeats::{PIECE_BYTES, Repeat, Repeats, Search};
use super::{COVERAGE_FILE, REMOVABLE_FILE, SPANS_FILE, STAGE, Stats};
use crate::cluster::cell;
use crate::collection::{Column, ColumnBuilder, DocumentRecord, each_place};
use crate::parse::{ParseConfig, Parser, TokenKind, each_token};
use crate::progress::Unit;
use crate::read::RawDocument;
use crate::store::disk::{self, AtomicFile};
use crate::workers::in_order;
use crate::workspace::{InputList, ResultFile, Workspace};
use crate::{Error, Result};

/// A worker hands over the lines that it has made when they take this number of bytes.
const LINES_BYTES: usize = 4 << 20;

/// Lines of the files, and what they say.
#[derive(Default)]
struct Lines {
    spans: String,
    removable: String,
    coverage: String,
    stats: Stats,
}

/// Where a token is in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub begin: usize,
    pub end: usize,
    /// The number of its line, from 1.
    pub line: u64,
}

/// Finds tokens in texts.
#[derive(Debug, Default)]
pub(super) struct Positions {
    wanted: Vec<u32>,
    found: Vec<Position>,
}

impl Positions {
    /// Finds the first and the last token of each range; `false` if the text has too few tokens.
    pub fn find<'r>(
        &mut self,
        text: &str,
        kind: &TokenKind,
        ranges: impl Iterator<Item = &'r Range<u32>>,
    ) -> bool {
        self.wanted.clear();
        self.found.clear();
        self.wanted
            .extend(ranges.flat_map(|range| [range.start, range.end.saturating_sub(1)]));
        self.wanted.sort_unstable();
        self.wanted.dedup();
        let (mut token, mut line, mut counted) = (0, 1, 0);
        let mut wanted = self.wanted.iter().peekable();
        each_token(text, kind, |span| {
            if wanted.next_if(|wanted| **wanted == token).is_some() {
                let between = text.as_bytes().get(counted..span.start);
                line += memchr::memchr_iter(b'\n', between.unwrap_or_default()).count() as u64;
                counted = span.start;
                self.found.push(Position {
                    begin: span.start,
                    end: span.end,
                    line,
                });
            }
            token += 1;
            wanted.peek().is_some()
        });
        self.found.len() == self.wanted.len()
    }

    /// A token that was looked for.
    pub fn of(&self, token: u32) -> Option<Position> {
        let at = self.wanted.binary_search(&token).ok()?;
        self.found.get(at).copied()
    }
}

/// Appends a range to sorted ones, of which it may extend the last.
pub(super) fn append(ranges: &mut Vec<Range<u32>>, range: Range<u32>) {
    match ranges.last_mut() {
        Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
        _ => ranges.push(range),
    }
}

/// The tokens that repeated k-grams of a document cover.
pub(super) fn spans_of(repeats: &[Repeat], length: u32, spans: &mut Vec<Range<u32>>) {
    spans.clear();
    for repeat in repeats {
        let begin = repeat.place.token;
        append(spans, begin..begin + (repeat.count - 1 + length));
    }
}

/// The repeated tokens of a document that no first occurrence covers.
pub(super) fn removable_of(
    repeats: &[Repeat],
    length: u32,
    spans: &[Range<u32>],
    removable: &mut Vec<Range<u32>>,
) {
    removable.clear();
    let mut firsts = Vec::new();
    for repeat in repeats.iter().filter(|repeat| repeat.first == repeat.place) {
        let begin = repeat.place.token;
        append(&mut firsts, begin..begin + (repeat.count - 1 + length));
    }
    let mut firsts = firsts.iter().peekable();
    for span in spans {
        let mut begin = span.start;
        while let Some(first) = firsts.next_if(|first| first.start < span.end) {
            if begin < first.start {
                removable.push(begin..first.start);
            }
            begin = first.end;
        }
        if begin < span.end {
            removable.push(begin..span.end);
        }
    }
}

pub(super) fn tokens_of(ranges: &[Range<u32>]) -> u64 {
    ranges
        .iter()
        .map(|range| u64::from(range.end - range.start))
        .sum()
}

/// The number of each document's record in its file.
fn records(workspace: &Workspace) -> Result<Column> {
    let mut records = ColumnBuilder::default();
    each_place(workspace, |_, record, _| {
        records.push(u32::try_from(record).unwrap_or(u32::MAX));
        Ok(())
    })?;
    Ok(records.finish())
}

/// What makes the lines of a unit's documents.
struct Maker<'a> {
    search: &'a Search<'a>,
    parse: &'a ParseConfig,
    records: &'a Column,
    parser: Parser,
    inputs: InputList,
    text: String,
    positions: Positions,
    spans: Vec<Range<u32>>,
    removable: Vec<Range<u32>>,
}

impl Maker<'_> {
    /// Appends the lines of a document.
    fn document(
        &mut self,
        number: u32,
        document: &DocumentRecord,
        raw: &RawDocument<'_>,
        repeats: &[Repeat],
        lines: &mut Lines,
    ) -> Result<()> {
        let length = self.search.length;
        spans_of(repeats, length, &mut self.spans);
        removable_of(repeats, length, &self.spans, &mut self.removable);
        self.text.clear();
        self.parser.text_as_read(raw, &mut self.text);
        let docno = cell(&document.docno);
        let file = self.inputs.entry_of(document.file)?;
        let file = cell(file.map_or("", |input| &input.name)).into_owned();
        let record = self.records.get(number).unwrap_or_default();
        let stats = &mut lines.stats;
        let mut repeated_bytes = 0;
        if !self.spans.is_empty() {
            let all = self.spans.iter().chain(&self.removable);
            if !self.positions.find(&self.text, &self.parse.tokens, all) {
                return Err(self.search.reread.changed(document));
            }
            let put = |ranges: &[Range<u32>], out: &mut String| {
                let mut bytes = 0;
                for range in ranges {
                    let first = self.positions.of(range.start);
                    let last = self.positions.of(range.end - 1);
                    let Some((first, last)) = first.zip(last) else {
                        continue;
                    };
                    bytes += (last.end - first.begin) as u64;
                    let _ = writeln!(
                        out,
                        "{docno}\t{}\t{}\t{}\t{}\t{}\t{}\t{file}\t{record}",
                        range.start, range.end, first.begin, last.end, first.line, last.line
                    );
                }
                bytes
            };
            repeated_bytes = put(&self.spans, &mut lines.spans);
            put(&self.removable, &mut lines.removable);
            stats.repeating += 1;
        }
        let repeated = tokens_of(&self.spans);
        let removable = tokens_of(&self.removable);
        let lengths = self
            .spans
            .iter()
            .map(|span| u64::from(span.end - span.start));
        let longest = lengths.max().unwrap_or(0);
        let (words, spans, bytes) = (document.words, self.spans.len(), self.text.len());
        let _ = writeln!(
            lines.coverage,
            "{docno}\t{words}\t{repeated}\t{removable}\t{spans}\t{longest}\t{bytes}\
             \t{repeated_bytes}\t{file}\t{record}\t{number}"
        );
        stats.documents += 1;
        stats.tokens += words;
        stats.spans += spans as u64;
        stats.repeated_tokens += repeated;
        stats.removable_tokens += removable;
        stats.bytes += bytes as u64;
        stats.repeated_bytes += repeated_bytes;
        stats.longest = stats.longest.max(longest);
        Ok(())
    }
}

/// The comment lines and the header of a file.
pub(super) fn header(how: &str, tokens: &TokenKind, columns: &str) -> String {
    format!("# format: lookalike 1\n# tokens: {tokens}\n{how}{columns}\n")
}

/// Writes the files into the directory of the collection. `how` has comment lines with parameters.
pub(super) fn write(
    workspace: &Workspace,
    search: &Search<'_>,
    repeats: &Repeats,
    how: &str,
    stats: &mut Stats,
) -> Result<Vec<ResultFile>> {
    let directory = workspace.directory();
    let records = records(workspace)?;
    let places = "begin_token\tend_token\tbegin_byte\tend_byte\tbegin_line\tend_line\tfile\trecord";
    let begin = |name: &str, columns: &str| {
        let mut file = AtomicFile::create(&directory.join(name))?;
        file.put(header(how, &search.parse.tokens, columns).as_bytes())?;
        Ok::<_, Error>(file)
    };
    let mut spans = begin(SPANS_FILE, &format!("docno\t{places}"))?;
    let mut removable = begin(REMOVABLE_FILE, &format!("docno\t{places}"))?;
    let mut coverage = begin(
        COVERAGE_FILE,
        "docno\ttokens\trepeated_tokens\tremovable_tokens\tspans\tlongest\tbytes\trepeated_bytes\
         \tfile\trecord\tdocument",
    )?;
    let (reread, context) = (search.reread, search.context);
    let documents = u64::from(search.documents);
    context
        .progress
        .start(STAGE, Unit::Count("documents"), Some(documents));
    let hand_out =
        |hand: &mut dyn FnMut(usize) -> Result<()>| (0..reread.units()).try_for_each(hand);
    let work = |unit: usize, pass: &mut dyn FnMut(Lines) -> Result<()>| {
        disk::point("passages: spans");
        let mut maker = Maker {
            search,
            parse: search.parse,
            records: &records,
            parser: Parser::new(search.parse),
            inputs: InputList::open(directory)?,
            text: String::new(),
            positions: Positions::default(),
            spans: Vec::new(),
            removable: Vec::new(),
        };
        let mut lines = Lines::default();
        let mut reader = repeats.reader(PIECE_BYTES);
        let mut own = Vec::new();
        let wanted = |number| search.only.is_none_or(|only| only.has(number));
        let done = reread.each(unit, wanted, |number, document, raw| {
            reader.of(number, &mut own)?;
            maker.document(number, document, raw, &own, &mut lines)?;
            match lines.spans.len() + lines.removable.len() + lines.coverage.len() >= LINES_BYTES {
                true => pass(std::mem::take(&mut lines)),
                false => Ok(()),
            }
        });
        done.and_then(|()| pass(lines))
            .inspect_err(|_| reread.close())
    };
    let take = |lines: Lines| {
        spans.put(lines.spans.as_bytes())?;
        removable.put(lines.removable.as_bytes())?;
        coverage.put(lines.coverage.as_bytes())?;
        let part = &lines.stats;
        stats.documents += part.documents;
        stats.tokens += part.tokens;
        stats.repeating += part.repeating;
        stats.spans += part.spans;
        stats.repeated_tokens += part.repeated_tokens;
        stats.removable_tokens += part.removable_tokens;
        stats.bytes += part.bytes;
        stats.repeated_bytes += part.repeated_bytes;
        stats.longest = stats.longest.max(part.longest);
        context.progress.at(stats.documents);
        Ok(())
    };
    in_order(STAGE, reread.threads(), hand_out, work, take)?;
    Ok(vec![
        ResultFile::new(SPANS_FILE, spans.finish()?),
        ResultFile::new(REMOVABLE_FILE, removable.finish()?),
        ResultFile::new(COVERAGE_FILE, coverage.finish()?),
    ])
}
