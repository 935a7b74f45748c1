//! The result files: spans, their removable parts, and what part of each document they cover.

use std::ops::Range;

use super::gaps::Gaps;
use super::places::{PIECE_BYTES, Repeat, Repeats, RepeatsReader};
use super::repeats::Search;
use super::tables::{How, columns, create, numbers_of, with_captures};
use super::{COVERAGE_FILE, REMOVABLE_FILE, SPANS_FILE, STAGE, Stats};
use lookalike_base::{Result, Unit, in_order};
use lookalike_engine::collection::{Captured, Column, DocumentRecord};
use lookalike_store::{InputList, ResultFile, Workspace, cells, disk, push_row, table};
use lookalike_text::parse::{ParseConfig, Parser, TokenKind, each_token};
use lookalike_text::read::RawDocument;

/// Spans and removable parts of a document whose lines are made at once.
const RANGES: usize = 64 << 10;
/// A worker hands over the lines that it has made when they take this number of bytes.
const LINES_BYTES: usize = 4 << 20;

/// Lines of the files, and their content.
#[derive(Default)]
struct Lines {
    spans: String,
    removable: String,
    coverage: String,
    stats: Stats,
}

/// Where a token is in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub begin: usize,
    pub end: usize,
    /// The number of its line, from 1.
    pub line: u64,
}

/// Finds tokens in a text, some at a time.
#[derive(Debug, Default)]
pub(super) struct Positions {
    wanted: Vec<u32>,
    found: Vec<Position>,
    /// A token and where it is, at which the next search begins.
    from: (u32, Position),
    /// A token that was kept, and where it is.
    kept: Option<(u32, Position)>,
}

impl Positions {
    /// Begins a text.
    pub fn begin(&mut self) {
        self.from = (0, Position::default());
        self.kept = None;
    }

    /// Finds tokens of the text. All come at or after the token of [`Positions::go_on`]; `false` if
    /// the text has too few.
    pub fn find(
        &mut self,
        text: &str,
        parse: &ParseConfig,
        tokens: impl Iterator<Item = u32>,
    ) -> bool {
        self.wanted.clear();
        self.found.clear();
        self.wanted.extend(tokens);
        self.wanted.sort_unstable();
        self.wanted.dedup();
        let (mut token, from) = match parse.tokens {
            // A literal or a comment may be open there.
            TokenKind::Code(_) => (0, Position::default()),
            _ => self.from,
        };
        let (offset, mut line, mut counted) = (from.begin, from.line.max(1), from.begin);
        let mut wanted = self.wanted.iter().peekable();
        // A text that begins with a token has the same tokens as the rest of a longer one.
        let rest = text.get(offset..).unwrap_or_default();
        each_token(rest, parse, |span| {
            if wanted.next_if(|wanted| **wanted == token).is_some() {
                let (begin, end) = (offset + span.start, offset + span.end);
                let between = text.as_bytes().get(counted..begin).unwrap_or_default();
                line += memchr::memchr_iter(b'\n', between).count() as u64;
                counted = begin;
                self.found.push(Position { begin, end, line });
            }
            token += 1;
            wanted.peek().is_some()
        });
        self.found.len() == self.wanted.len()
    }

    /// A token that was looked for, or kept.
    pub fn of(&self, token: u32) -> Option<Position> {
        match self.wanted.binary_search(&token) {
            Ok(at) => self.found.get(at).copied(),
            Err(_) => {
                let kept = self.kept.filter(|(kept, _)| *kept == token);
                kept.map(|(_, position)| position)
            }
        }
    }

    /// The next search begins at this token, which was looked for.
    pub fn go_on(&mut self, token: u32) {
        if let Some(position) = self.of(token) {
            self.from = (token, position);
        }
    }

    /// Keeps a token that was looked for, or kept.
    pub fn keep(&mut self, token: u32) {
        self.kept = self.of(token).map(|position| (token, position));
    }
}

/// Finds the spans of a document, and what of them is removable, from its repeats.
#[derive(Debug, Default)]
struct Cover {
    /// Complete ones that were not yet taken.
    spans: Vec<Range<u32>>,
    removable: Vec<Range<u32>>,
    /// The open span, which may still grow.
    open: Option<Range<u32>>,
    /// The first token of the open span behind its first occurrences so far.
    behind: u32,
}

impl Cover {
    /// Adds the next repeat.
    fn push(&mut self, repeat: &Repeat, length: u32) {
        let begin = repeat.place.token;
        let end = begin + (repeat.count - 1 + length);
        match &mut self.open {
            Some(open) if open.end >= begin => open.end = open.end.max(end),
            _ => {
                self.close();
                self.open = Some(begin..end);
                self.behind = begin;
            }
        }
        if repeat.first == repeat.place {
            self.remove_until(begin);
            self.behind = self.behind.max(end);
        }
    }

    fn remove_until(&mut self, end: u32) {
        if self.behind < end {
            self.removable.push(self.behind..end);
        }
    }

    /// Ends the open span.
    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.remove_until(open.end);
            self.spans.push(open);
        }
    }

    fn len(&self) -> usize {
        self.spans.len() + self.removable.len()
    }
}

fn tokens_of(ranges: &[Range<u32>]) -> u64 {
    let tokens = |range: &Range<u32>| u64::from(range.end - range.start);
    ranges.iter().map(tokens).sum()
}

/// The maker of the lines of a unit's documents.
struct Maker<'a, 'w> {
    search: &'a Search<'a, 'w>,
    /// Of the document.
    parse: ParseConfig,
    records: &'a Column,
    /// Of the spans and of the coverage.
    columns: [&'a [table::Column]; 2],
    parser: Parser,
    inputs: InputList,
    text: String,
    positions: Positions,
    repeats: RepeatsReader<'a>,
    some: Vec<Repeat>,
    cover: Cover,
    gaps: Gaps<'a>,
    lines: Lines,
}

impl Maker<'_, '_> {
    /// Makes the lines of a document, and passes them on if they are many.
    fn document(
        &mut self,
        number: u32,
        document: &DocumentRecord,
        raw: &RawDocument<'_>,
        pass: &mut dyn FnMut(Lines) -> Result<()>,
    ) -> Result<()> {
        self.text.clear();
        self.parser.text_as_read(raw, &mut self.text);
        self.parse = self.search.parse.of(&raw.docno);
        self.positions.begin();
        let file = self.inputs.name_of(document.file)?.to_string();
        let record = self.records.get(number).unwrap_or_default();
        let place = (&*file, record);
        let mut counts = Stats {
            documents: 1,
            tokens: document.words,
            bytes: self.text.len() as u64,
            ..Stats::default()
        };
        self.repeats.begin(number);
        self.gaps.begin(number)?;
        counts.excluded_tokens = self.gaps.left_out().into();
        while self.repeats.next(&mut self.some)? {
            for repeat in &self.some {
                self.cover.push(repeat, self.search.length);
            }
            if self.cover.len() >= RANGES {
                self.put(document, place, &mut counts)?;
                self.pass(pass)?;
            }
        }
        self.cover.close();
        self.put(document, place, &mut counts)?;
        counts.repeating = u64::from(counts.spans > 0);
        let cells = cells! {
            &document.docno, counts.tokens, counts.repeated_tokens, counts.removable_tokens,
            counts.spans, counts.longest, counts.bytes, counts.repeated_bytes, &file, record,
            number,
        };
        let captured = Captured::of(document);
        let cells = with_captures(cells.to_vec(), &[&captured]);
        push_row(&mut self.lines.coverage, self.columns[1], &cells);
        self.lines.stats.add(&counts);
        self.pass(pass)
    }

    /// Passes the lines on, if they are many.
    fn pass(&mut self, pass: &mut dyn FnMut(Lines) -> Result<()>) -> Result<()> {
        let lines = &self.lines;
        match lines.spans.len() + lines.removable.len() + lines.coverage.len() >= LINES_BYTES {
            true => pass(std::mem::take(&mut self.lines)),
            false => Ok(()),
        }
    }

    /// Makes the lines of the complete spans of a document, and of their removable parts.
    fn put(
        &mut self,
        document: &DocumentRecord,
        (file, record): (&str, u32),
        counts: &mut Stats,
    ) -> Result<()> {
        let (cover, positions) = (&mut self.cover, &mut self.positions);
        if cover.len() == 0 {
            return Ok(());
        }
        let gaps = &self.gaps;
        let open = cover.open.as_ref().map(|open| gaps.at(open.start));
        let lengths = cover.spans.iter().map(|span| span.end - span.start);
        counts.longest = counts.longest.max(lengths.max().unwrap_or(0).into());
        for ranges in [&mut cover.spans, &mut cover.removable] {
            if !gaps.is_empty() {
                *ranges = ranges.iter().flat_map(|range| gaps.parts(range)).collect();
            }
        }
        let ranges = || cover.spans.iter().chain(&cover.removable);
        let ends = ranges().flat_map(|range| [range.start, range.end - 1]);
        let kept = positions.kept.map(|(token, _)| token);
        let tokens = ends.chain(open).filter(|token| Some(*token) != kept);
        if !positions.find(&self.text, &self.parse, tokens) {
            return Err(self.search.reread.changed(document));
        }
        let (columns, captured) = (self.columns[0], Captured::of(document));
        let put = |ranges: &[Range<u32>], out: &mut String| {
            let mut bytes = 0;
            for range in ranges {
                let first = positions.of(range.start);
                let last = positions.of(range.end - 1);
                let Some((first, last)) = first.zip(last) else {
                    continue;
                };
                bytes += (last.end - first.begin) as u64;
                let cells = cells! {
                    &document.docno, range.start, range.end, first.begin, last.end, first.line,
                    last.line, file, record,
                };
                push_row(out, columns, &with_captures(cells.to_vec(), &[&captured]));
            }
            bytes
        };
        counts.repeated_bytes += put(&cover.spans, &mut self.lines.spans);
        put(&cover.removable, &mut self.lines.removable);
        counts.spans += cover.spans.len() as u64;
        counts.repeated_tokens += tokens_of(&cover.spans);
        counts.removable_tokens += tokens_of(&cover.removable);
        // The tokens of later ranges come behind the last beginning, except the beginning of the
        // open span.
        if let Some(last) = ranges().map(|range| range.start).chain(open).max() {
            positions.go_on(last);
        }
        if let Some(open) = open {
            positions.keep(open);
        }
        cover.spans.clear();
        cover.removable.clear();
        Ok(())
    }
}

/// Writes the files into the directory of the collection. `how` has their parameters.
pub(super) fn write(
    workspace: &Workspace,
    search: &Search<'_, '_>,
    repeats: &Repeats,
    how: &How,
    stats: &mut Stats,
) -> Result<Vec<ResultFile>> {
    let directory = workspace.directory();
    let records = numbers_of(workspace, |record, _| record)?;
    let columns = [SPANS_FILE, COVERAGE_FILE].map(|name| columns(workspace, name));
    let begin = |name| create(workspace, name, how);
    let mut spans = begin(SPANS_FILE)?;
    let mut removable = begin(REMOVABLE_FILE)?;
    let mut coverage = begin(COVERAGE_FILE)?;
    let (reread, context) = (search.reread, search.context);
    let documents = u64::from(search.documents);
    context.start(STAGE, Unit::Count("documents"), Some(documents));
    let hand_out =
        |hand: &mut dyn FnMut(usize) -> Result<()>| (0..reread.units()).try_for_each(hand);
    let work = |unit: usize, pass: &mut dyn FnMut(Lines) -> Result<()>| {
        disk::point("passages: spans");
        let mut maker = Maker {
            search,
            parse: search.parse.clone(),
            records: &records,
            columns: columns.each_ref().map(Vec::as_slice),
            parser: Parser::new(search.parse),
            inputs: InputList::open(directory)?,
            text: String::new(),
            positions: Positions::default(),
            repeats: repeats.reader(PIECE_BYTES),
            some: Vec::new(),
            cover: Cover::default(),
            gaps: Gaps::new(search.gaps),
            lines: Lines::default(),
        };
        let wanted = |number| search.only.is_none_or(|only| only.has(number));
        let done = reread.each(unit, wanted, |number, document, raw| {
            maker.document(number, document, raw, pass)
        });
        done.and_then(|()| pass(maker.lines))
            .inspect_err(|_| reread.close())
    };
    let take = |lines: Lines| {
        spans.put(&lines.spans)?;
        removable.put(&lines.removable)?;
        coverage.put(&lines.coverage)?;
        stats.add(&lines.stats);
        context.progress.at(stats.documents);
        Ok(())
    };
    in_order(STAGE, reread.threads, hand_out, work, take)?;
    Ok(vec![spans.done()?, removable.done()?, coverage.done()?])
}
