//! The matches of two documents.
//!
//! # Algorithm
//! 1. Two occurrences of a run of k-grams have the same first occurrences. So the matches follow
//!    from the repeats of both documents: where these overlap by first occurrence, they are equal
//!    (*pieces*), and pieces that continue each other are joined.
//! 2. The repeats of one document are in memory. Only the overlapping repeats of the other one are
//!    kept; each makes a piece. So at most [`MOST_PIECES`] are kept.
//! 3. If there are more pieces, only the covered tokens are counted. The repeats of the other
//!    document pass by once more, and the k-grams that they share are marked in a bitmap.
//!
//! # Cost
//! Memory: [`Joiner::bytes`].

use std::ops::Range;

use super::chain::{Match, Reuse};
use super::gaps::Gaps;
use super::places::{Repeat, Repeats, RepeatsReader};
use super::repeats::Search;
use super::sweep::Run;
use lookalike_base::{Bits, Result};

/// The most pieces of the matches of a pair.
pub(crate) const MOST_PIECES: usize = 1 << 20;

/// The matches of a pair, and the tokens that they cover.
#[derive(Debug, Default)]
pub(super) struct PairMatches {
    pub a: u32,
    pub b: u32,
    pub matches: Vec<Match>,
    /// The reuses, if they are looked for; their matches are one after the other.
    pub reuses: Vec<Reuse>,
    pub listed: bool,
    pub longest: u32,
    pub tokens_a: u64,
    pub tokens_b: u64,
}

impl PairMatches {
    /// Divides the matches where one of the documents has excluded words, and numbers their tokens
    /// as the documents do.
    pub fn divide(&mut self, gaps: &mut [Gaps<'_>; 2]) -> Result<()> {
        let [of_a, of_b] = gaps;
        of_a.begin(self.a)?;
        of_b.begin(self.b)?;
        if of_a.is_empty() && of_b.is_empty() {
            return Ok(());
        }
        let divided = &mut self.matches;
        let mut wholes = std::mem::take(divided).into_iter();
        let divide = |whole: Match, divided: &mut Vec<Match>| {
            let in_a = of_a.within(whole.a..whole.a + whole.tokens);
            let in_b = of_b.within(whole.b..whole.b + whole.tokens);
            let mut ends: Vec<u32> = in_a.map(|at| at - whole.a).collect();
            ends.extend(in_b.map(|at| at - whole.b).chain([whole.tokens]));
            ends.sort_unstable();
            ends.dedup();
            let mut begin = 0;
            divided.extend(ends.into_iter().map(|end| {
                let from = std::mem::replace(&mut begin, end);
                Match {
                    a: of_a.at(whole.a + from),
                    b: of_b.at(whole.b + from),
                    tokens: end - from,
                    common: whole.common,
                }
            }));
        };
        for reuse in &mut self.reuses {
            let before = divided.len();
            let own = wholes.by_ref().take(reuse.matches as usize);
            own.for_each(|whole| divide(whole, divided));
            reuse.matches = (divided.len() - before) as u32;
        }
        wholes.for_each(|whole| divide(whole, divided));
        Ok(())
    }

    /// Counts the tokens that the matches cover, and the tokens of the longest match or reuse.
    pub fn count(&mut self) {
        let reuses = self.reuses.iter().map(|reuse| reuse.tokens);
        let lengths = self.matches.iter().map(|m| m.tokens).chain(reuses);
        self.longest = lengths.max().unwrap_or(0);
        let covered = |begin: fn(&Match) -> u32| {
            let ranges = self.matches.iter().map(|m| (begin(m), m.tokens));
            let mut ranges: Vec<_> = ranges.collect();
            ranges.sort_unstable();
            let mut covered = Covered::default();
            let all = ranges.into_iter();
            all.for_each(|(at, tokens)| covered.add(at..at + tokens));
            covered.tokens
        };
        (self.tokens_a, self.tokens_b) = (covered(|m| m.a), covered(|m| m.b));
    }
}

/// Equal k-grams of two documents that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    a: u32,
    b: u32,
    count: u32,
    common: bool,
}

/// Whether k-grams, by first occurrence, all lie in one common passage.
fn is_common(commons: &[Run], range: &Range<u64>) -> bool {
    let before = &commons[..commons.partition_point(|run| run.begin <= range.start)];
    before.last().is_some_and(|run| run.end >= range.end)
}

/// The tokens that some ranges cover, which come in the order of their beginnings.
#[derive(Default)]
struct Covered {
    tokens: u64,
    end: u32,
}

impl Covered {
    fn add(&mut self, range: Range<u32>) {
        let begin = range.start.max(self.end);
        if begin < range.end {
            self.tokens += u64::from(range.end - begin);
            self.end = range.end;
        }
    }
}

/// K-grams by first occurrence: disjoint ranges in order.
#[derive(Default)]
struct Line {
    ranges: Vec<(u64, u64)>,
}

impl Line {
    /// Takes in the repeats, which are sorted by first occurrence.
    fn set(&mut self, repeats: &[Repeat]) {
        self.ranges.clear();
        for (begin, end) in repeats.iter().map(Repeat::line) {
            match self.ranges.last_mut() {
                Some(last) if last.1 >= begin => last.1 = last.1.max(end),
                _ => self.ranges.push((begin, end)),
            }
        }
    }

    /// The parts of the line that a repeat has, in order.
    fn parts(&self, repeat: &Repeat) -> impl Iterator<Item = Range<u64>> {
        let (begin, end) = repeat.line();
        let from = self.ranges.partition_point(|&(_, other)| other <= begin);
        let ranges = self.ranges.get(from..).unwrap_or_default();
        let ranges = ranges.iter().take_while(move |(other, _)| *other < end);
        ranges.map(move |(other_begin, other_end)| begin.max(*other_begin)..end.min(*other_end))
    }
}

/// Marks k-grams of a line.
struct Marks<'l> {
    line: &'l Line,
    /// The number of k-grams before each range.
    before: Vec<u64>,
    marked: Bits,
}

impl Marks<'_> {
    fn new(line: &Line) -> Marks<'_> {
        let mut count = 0;
        let before = |&(begin, end): &(u64, u64)| {
            let before = count;
            count += end - begin;
            before
        };
        let before = line.ranges.iter().map(before).collect();
        Marks {
            line,
            before,
            marked: Bits::new(count as usize),
        }
    }

    /// The number of a k-gram of the line.
    fn number(&self, gram: u64) -> u64 {
        let after = self.line.ranges.partition_point(|range| range.0 <= gram);
        let range = after.checked_sub(1);
        let range = range.and_then(|at| self.line.ranges.get(at).zip(self.before.get(at)));
        range.map_or(0, |((begin, _), before)| gram - begin + before)
    }

    fn mark(&mut self, part: &Range<u64>) {
        let number = self.number(part.start);
        for n in number..number + (part.end - part.start) {
            // The k-grams of a line are those of one document.
            self.marked.insert(n as u32);
        }
    }
}

/// Finds the matches of pairs.
pub(super) struct Joiner<'a> {
    repeats: &'a Repeats,
    reader: RepeatsReader<'a>,
    commons: &'a [Run],
    length: u32,
    /// A document with all its repeats, sorted by first occurrence, and their line.
    held: Option<u32>,
    own: Vec<Repeat>,
    line: Line,
    /// The repeats of the other document that overlap those.
    kept: Vec<Repeat>,
    some: Vec<Repeat>,
    pieces: Vec<Piece>,
}

impl<'a> Joiner<'a> {
    pub fn new(search: &Search<'_, '_>, repeats: &'a Repeats, commons: &'a [Run]) -> Joiner<'a> {
        Joiner {
            repeats,
            reader: repeats.reader(0),
            commons,
            length: search.length,
            held: None,
            own: Vec::new(),
            line: Line::default(),
            kept: Vec::new(),
            some: Vec::new(),
            pieces: Vec::new(),
        }
    }

    /// The document of a pair whose repeats are all in memory, and the other one. It is the first
    /// one, which often has several pairs, unless that has very many repeats.
    fn roles(repeats: &Repeats, one: u32, other: u32) -> (u32, u32) {
        let count = repeats.count(one);
        match count > MOST_PIECES as u64 && count > repeats.count(other) {
            true => (other, one),
            false => (one, other),
        }
    }

    /// Bytes of memory for a pair.
    pub fn bytes(repeats: &Repeats, one: u32, other: u32) -> u64 {
        const REPEAT: u64 = size_of::<Repeat>() as u64;
        const LINE: u64 = size_of::<(u64, u64)>() as u64;
        // A piece, a match, and its part of the second document.
        const PIECE: u64 =
            (size_of::<Piece>() + size_of::<Match>() + size_of::<(u32, u32)>()) as u64;
        let (held, streamed) = Self::roles(repeats, one, other);
        let (held, streamed) = (repeats.count(held), repeats.count(streamed));
        let kept = streamed.min(MOST_PIECES as u64);
        let pieces = held.saturating_mul(streamed).min(MOST_PIECES as u64);
        // The repeats that are open while pieces are found may be as many again. The marks take
        // their place.
        held * (2 * REPEAT + LINE) + kept * REPEAT + pieces * PIECE
    }

    /// The matches of two documents.
    pub fn join(&mut self, a: u32, b: u32) -> Result<PairMatches> {
        let (held, streamed) = Self::roles(self.repeats, a, b);
        if self.held != Some(held) {
            self.held = Some(held);
            self.reader.of(held, &mut self.own)?;
            self.own
                .sort_unstable_by_key(|repeat| (repeat.first, repeat.place));
            self.line.set(&self.own);
        }
        let mut found = PairMatches {
            a,
            b,
            listed: true,
            ..PairMatches::default()
        };
        let is_kept = self.keep(streamed)?;
        let (of_a, of_b) = match held == a {
            true => (&self.own, &self.kept),
            false => (&self.kept, &self.own),
        };
        self.pieces.clear();
        if !(is_kept && find_pieces(self.commons, of_a, of_b, &mut self.pieces)) {
            found.listed = false;
            let (of_held, of_streamed) = self.covered(streamed)?;
            (found.tokens_a, found.tokens_b) = match held == a {
                true => (of_held, of_streamed),
                false => (of_streamed, of_held),
            };
            return Ok(found);
        }
        self.matches(&mut found);
        Ok(found)
    }

    /// Keeps the repeats of a document that overlap the repeats in memory; `false` if there are too
    /// many.
    fn keep(&mut self, streamed: u32) -> Result<bool> {
        self.kept.clear();
        self.reader.begin(streamed);
        while self.reader.next(&mut self.some)? {
            for repeat in &self.some {
                if self.line.parts(repeat).next().is_none() {
                    continue;
                }
                if self.kept.len() == MOST_PIECES {
                    return Ok(false);
                }
                self.kept.push(*repeat);
            }
        }
        self.kept
            .sort_unstable_by_key(|repeat| (repeat.first, repeat.place));
        Ok(true)
    }

    /// Joins the pieces to matches.
    fn matches(&mut self, found: &mut PairMatches) {
        // Pieces that continue each other are on the same diagonal.
        let diagonal = |piece: &Piece| i64::from(piece.b) - i64::from(piece.a);
        self.pieces
            .sort_unstable_by_key(|piece| (diagonal(piece), piece.a));
        let joined = (self.pieces).chunk_by(|before, piece| {
            diagonal(before) == diagonal(piece) && before.a + before.count == piece.a
        });
        found.matches.extend(joined.map(|pieces| Match {
            a: pieces[0].a,
            b: pieces[0].b,
            tokens: pieces.iter().map(|piece| piece.count).sum::<u32>() - 1 + self.length,
            common: pieces.iter().all(|piece| piece.common),
        }));
        found.matches.sort_unstable_by_key(|m| (m.a, m.b));
        found.count();
    }

    /// The tokens of the document in memory whose k-grams the other document has, and the same for
    /// the other document, which is not in memory any more.
    fn covered(&mut self, streamed: u32) -> Result<(u64, u64)> {
        self.held = None;
        self.kept = Vec::new();
        self.pieces = Vec::new();
        let length = self.length;
        let mut of_streamed = Covered::default();
        let mut marks = Marks::new(&self.line);
        self.reader.begin(streamed);
        while self.reader.next(&mut self.some)? {
            for repeat in &self.some {
                for part in self.line.parts(repeat) {
                    let at = repeat.place.token + (part.start - repeat.line().0) as u32;
                    of_streamed.add(at..at + (part.end - part.start) as u32 - 1 + length);
                    marks.mark(&part);
                }
            }
        }
        self.own.sort_unstable_by_key(|repeat| repeat.place);
        let mut of_held = Covered::default();
        for repeat in &self.own {
            let number = marks.number(repeat.line().0);
            for n in 0..repeat.count {
                if marks.marked.contains(number as u32 + n) {
                    let at = repeat.place.token + n;
                    of_held.add(at..at + length);
                }
            }
        }
        Ok((of_held.tokens, of_streamed.tokens))
    }
}

/// Finds where the repeats of two documents overlap by first occurrence; `false` if that is in too
/// many places.
fn find_pieces(commons: &[Run], of_a: &[Repeat], of_b: &[Repeat], pieces: &mut Vec<Piece>) -> bool {
    // The repeats of b that may overlap the current one of a.
    let mut open: Vec<Repeat> = Vec::new();
    let mut next = of_b.iter().peekable();
    for a in of_a {
        let (begin, end) = a.line();
        open.retain(|b| b.line().1 > begin);
        while let Some(b) = next.next_if(|b| b.line().0 < end) {
            if b.line().1 > begin {
                open.push(*b);
            }
        }
        for b in &open {
            let (begin_b, end_b) = b.line();
            let (from, to) = (begin.max(begin_b), end.min(end_b));
            if from >= to {
                continue;
            }
            if pieces.len() == MOST_PIECES {
                return false;
            }
            pieces.push(Piece {
                a: a.place.token + (from - begin) as u32,
                b: b.place.token + (from - begin_b) as u32,
                count: (to - from) as u32,
                common: is_common(commons, &(from..to)),
            });
        }
    }
    true
}
