//! Converts text in pieces to tokens: one buffer of canonical text, and the start of each token in
//! it.
//!
//! Pieces may end anywhere, inside a word or inside a character. ASCII is classified for a whole
//! block of text at once (`masks.rs`), which gives the output bytes and one bit per separator. Then
//! the stretches between redundant spaces are copied, and the token starts are read off the bits.
//! Short pieces and short runs use a table, byte by byte. [`Canonical::step`] handles an apostrophe
//! at the end of a word, and every non-ASCII character.
//!
//! Canonical composition takes place in the buffer, after the change to lower case. Only characters
//! that it can concern get there ([`Canonical::compose`]); ASCII and most text in NFC does not. A
//! *sequence* is a character and the combining marks after it. When a mark may change what stands
//! before it, the sequence is composed as soon as it ends.
//!
//! # Invariants
//! - `buffer[..used]` is canonical text: tokens, each followed by one space once it is closed. It
//!   ends in a space, or is empty, exactly when no token is open.
//! - An apostrophe at the end of a piece remains in the buffer until the next character shows
//!   whether it is inside a word; it is never passed on before that.
//! - The last character of an open token, with the marks after it, remains in the buffer, because
//!   the next character may compose with it. It takes at most [`SEQUENCE_BYTES`].

use std::ops::Range;

use unicode_normalization::char::{canonical_combining_class, compose, decompose_canonical};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::class::{Class, SLOW, lower, table};
use super::code::{Before, Cutter, NAME, NUMBER};
use super::config::{ParseConfig, TokenKind};
use super::cut::{Cut, Open, cut};
use super::fold::{Rules, each_folded};
use super::known::{ClassCache, Known};
use super::masks::{BLOCK, LANES, Masks};
use lookalike_base::{Carry, Decoded, decode, is_continuation};

/// The least length of a run for which processing one word of the masks pays off.
const LEAST_RUN: usize = 16;

/// Token starts are written in groups of this size, needed or not, so that their number causes no
/// branch mispredictions.
const STARTS_AT_ONCE: usize = 8;

/// Spare room for writes beyond the used part: twice [`LANES`] bytes, and the token starts of that
/// many bytes, rounded up.
const SPARE_BYTES: usize = 2 * LANES;
const SPARE_STARTS: usize = LANES / 2 + STARTS_AT_ONCE;

/// Marks that are composed with the character before them, as many as the Stream-Safe Text Format
/// allows (UAX #15, section 13). The marks after them are composed among themselves, this number at
/// a time. So no text makes the buffer of a sequence grow.
const MOST_MARKS: u8 = 30;

/// The longest sequence: a character, which decomposes into four at most, and its marks.
const SEQUENCE_BYTES: usize = 4 * (4 + MOST_MARKS as usize);

/// Canonical text is passed on whenever about this many bytes have accumulated; the consumer
/// decides what to keep. With its token starts it fits in the second-level cache.
pub(super) const DRAIN_BYTES: usize = 256 << 10;

/// Buffers of at least this size grow by a smaller factor.
const LARGE: usize = 8 << 20;

/// Canonical text in the middle of a document, or at its end.
#[derive(Clone, Copy, Debug)]
pub struct Tokens<'a> {
    /// Canonical text not yet consumed, without a space at its end. If more text may follow, it can
    /// end with an incomplete token.
    pub bytes: &'a [u8],
    /// The start of each complete token in `bytes`, then the start that the next token would have:
    /// token i is `bytes[starts[i]..starts[i + 1] - 1]`. Never empty.
    pub starts: &'a [usize],
}

impl<'a> Tokens<'a> {
    /// Number of complete tokens.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether it has no complete token.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The offset of a token in `bytes`, or their end if it is not complete.
    pub fn offset(&self, token: usize) -> usize {
        let start = self.starts.get(token).copied();
        start.unwrap_or(usize::MAX).min(self.bytes.len())
    }

    /// The complete tokens, each with the space after it. Of the `last` portion, all of it.
    pub fn whole(&self, last: bool) -> &'a [u8] {
        match last {
            true => self.bytes,
            false => self
                .bytes
                .get(..self.offset(self.len()))
                .unwrap_or_default(),
        }
    }

    /// `count` tokens from `first` on, joined by one space, if all of them are complete.
    #[inline]
    pub fn run(&self, first: usize, count: usize) -> Option<&'a [u8]> {
        let start = *self.starts.get(first)?;
        let end = *self.starts.get(first + count)?;
        // There is a space between a token and the next start.
        self.bytes.get(start..end.saturating_sub(1))
    }

    /// Every window of `count` consecutive tokens, joined by one space.
    pub fn windows(&self, count: usize) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let bytes = self.bytes;
        // A token and a space lie between a start and the next, so this is never out of range.
        self.spans(count)
            .map(move |span| bytes.get(span).unwrap_or_default())
    }

    /// The ranges in `bytes` of the windows that [`Tokens::windows`] yields.
    pub fn spans(&self, count: usize) -> impl Iterator<Item = Range<usize>> + use<'a> {
        let starts = self.starts;
        let ends = starts.get(count.max(1)..).unwrap_or_default();
        let pairs = starts.iter().zip(ends);
        pairs.map(|(&start, &end)| start..end.saturating_sub(1))
    }
}

/// Takes the tokens of a document, in one portion or, if it is large, in several.
pub trait TokenConsumer {
    /// Takes a portion and returns the number of its bytes that are consumed. A consumer that needs
    /// whole tokens must return the start of a token. The rest is offered again, with more text
    /// after it. `last` is true once, for the last portion, which may be empty.
    fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize;
}

/// The canonical text of the document being parsed.
#[derive(Debug)]
pub(super) struct Canonical {
    words: bool,
    /// Whether only white space of the text changes (`bytes:N`).
    raw: bool,
    /// Cuts programs (`code`).
    code: Option<Cutter>,
    rules: Rules,
    table: &'static [u8; 256],
    masks: Masks,
    classes: ClassCache,
    /// Canonical text in `..used`; the rest is spare room.
    buffer: Vec<u8>,
    used: usize,
    /// Starts of tokens in `..count`, including the open one; the rest is spare room.
    starts: Vec<usize>,
    count: usize,
    open: Open,
    /// The marks of the open sequence that composition concerns.
    marks: u8,
    /// If there are any: where the sequence begins, the combining class of the last mark, and
    /// whether the sequence may change.
    sequence: usize,
    last_mark: u8,
    changes: bool,
    /// The incomplete character at the end of a piece.
    carry: Carry,
    /// Tokens are passed on when `used` reaches this length.
    drain_at: usize,
    /// Number of tokens passed on and consumed.
    gone: u64,
}

impl Canonical {
    pub(super) fn new(config: &ParseConfig) -> Self {
        let words = config.tokens == TokenKind::Words;
        let rules = Rules::of(config);
        Canonical {
            words,
            raw: matches!(config.tokens, TokenKind::Bytes(_)),
            code: Cutter::of(config),
            rules,
            table: table(words, rules.fold.hyphens),
            masks: Masks::default(),
            classes: ClassCache::new(rules),
            buffer: Vec::new(),
            used: 0,
            starts: Vec::new(),
            count: 0,
            open: Open::None,
            marks: 0,
            sequence: 0,
            last_mark: 0,
            changes: false,
            carry: Carry::default(),
            drain_at: DRAIN_BYTES,
            gone: 0,
        }
    }

    /// Appends a piece of UTF-8 text, which may begin and end inside a character.
    pub(super) fn push(&mut self, mut piece: &[u8], consumer: &mut dyn TokenConsumer) {
        if let Some(c) = self.carry.complete(&mut piece) {
            self.make_room(4);
            self.step(c);
        }
        while !piece.is_empty() {
            let mut end = piece.len().min(BLOCK);
            // Blocks end between characters. (The text is valid; the limit only guards against
            // bugs.)
            for _ in 0..3 {
                if end < piece.len() && is_continuation(piece[end]) {
                    end -= 1;
                }
            }
            let (block, rest) = piece.split_at(end);
            self.push_block(block);
            piece = rest;
            if self.used >= self.drain_at {
                self.drain(consumer);
            }
        }
    }

    /// Ends the word: the text that follows is separate from the text before.
    pub(super) fn word_break(&mut self) {
        if let Some(c) = self.carry.end() {
            self.make_room(4);
            self.step(c);
        }
        if self.code.is_some() {
            self.settle();
            self.make_room(4);
            // It ends a line, too.
            self.enter_code('\n', Class::Separator);
        } else {
            self.settle();
            match self.open.after_line() {
                Open::None => self.end_token(),
                open => self.open = open,
            }
        }
    }

    /// Ends the open token, if any.
    fn end_token(&mut self) {
        self.make_room(1);
        self.close();
    }

    /// Passes on the rest, resets for the next document, and returns the number of tokens.
    pub(super) fn finish(&mut self, consumer: &mut dyn TokenConsumer) -> u64 {
        self.word_break();
        self.end_token();
        if let Some(code) = &mut self.code {
            code.reset();
        }
        self.make_room(1);
        self.starts[self.count] = self.used;
        let bytes = &self.buffer[..self.used.saturating_sub(1)];
        consumer.take(
            Tokens {
                bytes,
                starts: &self.starts[..=self.count],
            },
            true,
        );
        let tokens = self.gone + self.count as u64;
        self.used = 0;
        self.count = 0;
        self.gone = 0;
        self.drain_at = DRAIN_BYTES;
        tokens
    }

    /// Releases memory beyond what a document of ordinary size needs.
    pub(super) fn shrink(&mut self) {
        self.buffer.truncate(2 * DRAIN_BYTES);
        self.buffer.shrink_to_fit();
        self.starts.truncate(DRAIN_BYTES);
        self.starts.shrink_to_fit();
    }

    fn push_block(&mut self, block: &[u8]) {
        self.make_room(block.len());
        if self.code.is_some() {
            return self.push_code(block);
        }
        let masked = block.len() >= LANES;
        if masked {
            self.masks.set(block, self.words, self.rules.fold.hyphens);
        }
        let mut at = 0;
        while let Some(&b) = block.get(at) {
            let mapped = self.table[usize::from(b)];
            if mapped != SLOW {
                self.settle();
                match self.open {
                    Open::None | Open::Word => {}
                    Open::Apostrophe if mapped != b' ' => self.open = Open::Word,
                    Open::Broken { .. } => {
                        self.step(char::from(b));
                        at += 1;
                        continue;
                    }
                    _ => self.close(),
                }
                at = if masked {
                    self.push_masked(block, at)
                } else {
                    self.push_ascii(block, at)
                };
            } else if b == b'\''
                && self.open == Open::Word
                && block.get(at + 1).is_some_and(|b| b.is_ascii_alphanumeric())
            {
                // Only the table of words marks an ASCII apostrophe as slow.
                self.settle();
                self.buffer[self.used] = b;
                self.used += 1;
                at += 1;
            } else if b < 0x80 {
                self.step(char::from(b));
                at += 1;
            } else {
                match self.step_decoded(&block[at..]) {
                    Some(length) => at += length,
                    None => return,
                }
            }
        }
    }

    /// Processes the run of bytes from `at` that the masks of the block settle; returns where it
    /// ends.
    fn push_masked(&mut self, block: &[u8], mut at: usize) -> usize {
        while at < block.len() {
            let (word, first) = (at / LANES, at % LANES);
            let (space, slow) = self.masks.bits(word);
            let slow = slow >> first << first;
            let end = (slow.trailing_zeros() as usize).min(LANES);
            if end - first < LEAST_RUN {
                return self.push_ascii(block, at);
            }
            let here = u64::MAX >> (LANES - end) >> first << first;
            // The bytes at which a token may begin: those after a space, and the first one unless
            // it extends an open token.
            let free = (space & here) << 1 | u64::from(self.open == Open::None) << first;
            let begins = !space & free & here;
            let mut dropped = space & free & here;
            let (Some(text), Some(out), Some(starts)) = (
                self.masks.text(word),
                self.buffer
                    .get_mut(self.used..)
                    .and_then(|room| room.first_chunk_mut::<{ 2 * LANES }>()),
                self.starts
                    .get_mut(self.count..)
                    .and_then(|room| room.first_chunk_mut::<SPARE_STARTS>()),
            ) else {
                // Unreachable: `SPARE_BYTES` and `SPARE_STARTS` are always reserved.
                return self.push_ascii(block, at);
            };
            // Copy the stretches between dropped spaces. Each copy has the greatest possible
            // length; the next stretch overwrites the excess.
            let (mut from, mut used, mut begun) = (first, 0, 0);
            while from < end {
                let to = (dropped.trailing_zeros() as usize).min(end);
                if let (Some(stretch), Some(place)) = (
                    text.get(from..from + LANES),
                    out.get_mut(used..used + LANES),
                ) {
                    place.copy_from_slice(stretch);
                }
                let length = to - from;
                if length > 0 {
                    begun |= (begins >> from & u64::MAX >> (LANES - length)) << used;
                    used += length;
                }
                if to == end {
                    break;
                }
                from = to + (dropped >> to).trailing_ones() as usize;
                dropped &= u64::MAX.checked_shl(from as u32).unwrap_or(0);
            }
            let count = begun.count_ones() as usize;
            for places in starts
                .chunks_exact_mut(STARTS_AT_ONCE)
                .take(count.div_ceil(STARTS_AT_ONCE))
            {
                for place in places {
                    *place = self.used + begun.trailing_zeros() as usize;
                    begun &= begun.wrapping_sub(1);
                }
            }
            self.count += count;
            self.used += used;
            self.open = if space >> (end - 1) & 1 == 1 {
                Open::None
            } else {
                Open::Word
            };
            at = word * LANES + end;
            if end < LANES {
                break;
            }
        }
        at
    }

    /// Processes the run of bytes from `at` that the table settles; returns where it ends. Every
    /// byte is written, and every position is recorded as a token start. Only the increments of the
    /// two indexes depend on the text, so the text is only tested by the branch that ends the run.
    #[inline]
    fn push_ascii(&mut self, block: &[u8], at: usize) -> usize {
        let table = self.table;
        let run = &block[at..];
        let buffer = &mut self.buffer[self.used..];
        let starts = &mut self.starts[self.count..];
        let (mut used, mut count) = (0, 0);
        let mut space_before = self.open == Open::None;
        let mut taken = run.len();
        for (i, &b) in run.iter().enumerate() {
            let mapped = table[usize::from(b)];
            if mapped == SLOW {
                taken = i;
                break;
            }
            let space = mapped == b' ';
            starts[count] = self.used + used;
            buffer[used] = mapped;
            count += usize::from(space_before & !space);
            used += usize::from(!(space_before & space));
            space_before = space;
        }
        self.used += used;
        self.count += count;
        self.open = if space_before { Open::None } else { Open::Word };
        at + taken
    }

    /// Processes a block of a program.
    fn push_code(&mut self, block: &[u8]) {
        let mut at = 0;
        while let Some(&b) = block.get(at) {
            if b < 0x80 {
                self.settle();
                if self.enter_code(char::from(b), Class::Separator) {
                    self.buffer[self.used] = b;
                    self.used += 1;
                }
                at += 1;
                let rest = &block[at..];
                if let Some(code) = &mut self.code {
                    let (length, extends) = code.run(rest);
                    if extends {
                        let end = self.used + length;
                        self.buffer[self.used..end].copy_from_slice(&rest[..length]);
                        self.used = end;
                    }
                    at += length;
                }
                continue;
            }
            match self.step_decoded(&block[at..]) {
                Some(length) => at += length,
                None => return,
            }
        }
    }

    /// As [`Canonical::enter`], for programs.
    #[inline]
    fn enter_code(&mut self, c: char, class: Class) -> bool {
        let Some(code) = &mut self.code else {
            return false;
        };
        let step = code.step(c, class);
        match step.before {
            Before::Nothing => {}
            Before::Retract => {
                self.count -= 1;
                self.used = self.starts[self.count];
                self.open = Open::None;
            }
            Before::Split => {
                self.used -= 1;
                let last = self.buffer[self.used];
                self.close_code(false);
                self.starts[self.count] = self.used;
                self.count += 1;
                self.buffer[self.used] = last;
                self.used += 1;
                self.open = Open::Alone;
            }
        }
        match step.cut {
            Cut::Nothing | Cut::Hold => false,
            Cut::Extend => true,
            Cut::Separate => {
                self.close_code(step.name);
                false
            }
            Cut::Begin => {
                self.close_code(step.name);
                self.starts[self.count] = self.used;
                self.count += 1;
                // Not a word, which letters extend without more ado.
                self.open = Open::Alone;
                true
            }
        }
    }

    /// Ends the open token of a program, if any.
    fn close_code(&mut self, name: bool) {
        if self.rules.fold.literals
            && self.open != Open::None
            && let begin = self.starts[self.count - 1]
            && self.buffer[begin].is_ascii_digit()
        {
            self.used = begin + NUMBER.len();
            self.buffer[begin..self.used].copy_from_slice(NUMBER.as_bytes());
        }
        if name && self.rules.fold.identifiers {
            let begin = self.starts[self.count - 1];
            if let Some(code) = &self.code
                && code.is_own(&self.buffer[begin..self.used])
            {
                self.used = begin + NAME.len();
                self.buffer[begin..self.used].copy_from_slice(NAME.as_bytes());
            }
        }
        self.close();
    }

    /// Processes the character that begins the rest of a block, and returns its length. If the block
    /// ends inside of it, it is held for the next one: `None`.
    #[inline]
    fn step_decoded(&mut self, rest: &[u8]) -> Option<usize> {
        match decode(rest) {
            Decoded::Char(c, length) => {
                self.step(c);
                Some(length)
            }
            Decoded::Cut => {
                self.carry.hold(rest);
                None
            }
            Decoded::Invalid => {
                self.step(char::REPLACEMENT_CHARACTER);
                Some(1)
            }
        }
    }

    /// Processes one character by the definition of a token. The caller has made room.
    #[inline]
    fn step(&mut self, c: char) {
        match self.classes.plain(c) {
            // Nearly all characters of alphabets.
            Some(Class::Letter) if self.open == Open::Word && self.marks == 0 => self.put(c),
            Some(class) if self.marks == 0 => self.step_as(c, class),
            _ => self.step_slowly(c),
        }
    }

    /// Processes a character that composing or folding may concern, or that is met for the first
    /// time.
    #[inline(never)]
    fn step_slowly(&mut self, c: char) {
        if self.raw {
            let class = if c.is_whitespace() {
                Class::Separator
            } else {
                Class::Letter
            };
            return self.step_as(c, class);
        }
        let known = self.classes.get(c);
        if let Some(form) = known.form() {
            each_folded(c, form, self.rules, |d| {
                // The form of one character can be many times as long.
                self.make_room(2 * BLOCK);
                let known = self.classes.get(d);
                self.step_known(d, known);
            });
        } else {
            self.step_known(c, known);
        }
    }

    /// Processes a character that is not folded.
    fn step_known(&mut self, c: char, known: Known) {
        let class = known.class();
        if matches!(class, Class::Ignorable | Class::SoftHyphen) {
            if self.code.is_none() {
                self.enter(c, class);
            }
            return;
        }
        // A mark that is part of a token continues a sequence; whatever else comes ends it.
        let continues = known.composes()
            && matches!(class, Class::Mark | Class::Stacker)
            && self.open != Open::None;
        if !continues {
            self.settle();
        }
        if !known.composes() {
            return self.step_as(c, class);
        }
        // A decomposed character can be three times as long.
        self.make_room(2 * BLOCK);
        if !self.enter(c, class) {
            return;
        }
        if known.only_moves() {
            self.put_mark(c, canonical_combining_class(c), false);
        } else if self.words && class == Class::Upper {
            for lower in lower(c) {
                decompose_canonical(lower, |d| self.compose(d));
            }
        } else {
            decompose_canonical(c, |d| self.compose(d));
        }
    }

    /// Processes a character that nothing else concerns, outside of a sequence that is open.
    #[inline]
    fn step_as(&mut self, c: char, class: Class) {
        if !self.enter(c, class) {
            return;
        }
        if class == Class::Upper && self.words {
            for lower in lower(c) {
                self.put(lower);
            }
        } else {
            self.put(c);
        }
    }

    /// Opens and closes tokens before a character; returns whether the character belongs to the
    /// open one.
    #[inline(always)]
    fn enter(&mut self, c: char, class: Class) -> bool {
        let class = match class {
            class if self.words => class,
            class if self.code.is_some() => return self.enter_code(c, class),
            class => class.in_white_space(c),
        };
        let (effect, open) = cut(self.open, class, c);
        match effect {
            Cut::Nothing | Cut::Extend => {}
            Cut::Separate => self.close(),
            Cut::Hold => self.put('\''),
            Cut::Begin => {
                self.close();
                self.starts[self.count] = self.used;
                self.count += 1;
            }
        }
        self.open = open;
        matches!(effect, Cut::Extend | Cut::Begin)
    }

    /// Appends a decomposed character to the open token.
    fn compose(&mut self, c: char) {
        let class = canonical_combining_class(c);
        if class > 0 {
            let composes = is_nfc_quick(std::iter::once(c)) != IsNormalized::Yes;
            return self.put_mark(c, class, composes);
        }
        // Composes only with the character directly before it (Hangul, some vowel signs).
        self.settle();
        let at = self.last();
        let before = std::str::from_utf8(&self.buffer[at..self.used]).unwrap_or_default();
        match before.chars().next().and_then(|before| compose(before, c)) {
            Some(composed) => {
                self.used = at;
                self.put(composed);
            }
            None => self.put(c),
        }
    }

    /// Appends a mark of this combining class to the open token.
    fn put_mark(&mut self, c: char, class: u8, composes: bool) {
        if self.marks == 0 {
            self.sequence = self.last();
        } else if self.marks == MOST_MARKS {
            self.settle();
            self.sequence = self.used;
        }
        self.changes |= composes || self.marks > 0 && class < self.last_mark;
        self.put(c);
        self.marks += 1;
        self.last_mark = class;
    }

    /// Where the last character of the open token begins, or would begin if it has none.
    #[inline]
    fn last(&self) -> usize {
        let begin = self.starts[..self.count].last().copied();
        let begin = begin.unwrap_or(self.used);
        let mut at = self.used;
        while at > begin {
            at -= 1;
            if !is_continuation(self.buffer[at]) {
                break;
            }
        }
        at
    }

    /// Ends the open sequence, if any.
    #[inline]
    fn settle(&mut self) {
        if self.marks > 0 {
            self.end_sequence();
        }
    }

    #[inline(never)]
    fn end_sequence(&mut self) {
        self.marks = 0;
        if !std::mem::take(&mut self.changes) {
            return;
        }
        let mut composed = [0; SEQUENCE_BYTES];
        let mut length = 0;
        if let Ok(sequence) = std::str::from_utf8(&self.buffer[self.sequence..self.used]) {
            let mut chars = sequence.chars();
            match (chars.next(), chars.next(), chars.next()) {
                // Most sequences: an ASCII letter and an accent.
                (Some(letter @ '\0'..='\x7f'), Some(mark), None) => {
                    let Some(c) = compose(letter, mark) else {
                        return;
                    };
                    length = c.encode_utf8(&mut composed).len();
                }
                _ => {
                    for c in sequence.nfc() {
                        length += c.encode_utf8(&mut composed[length..]).len();
                    }
                }
            }
        }
        self.used = self.sequence;
        self.make_room(2 * BLOCK);
        self.buffer[self.used..self.used + length].copy_from_slice(&composed[..length]);
        self.used += length;
    }

    #[inline]
    fn put(&mut self, c: char) {
        self.used += c.encode_utf8(&mut self.buffer[self.used..]).len();
    }

    /// Ends the open token, if any, with a space, which replaces a pending apostrophe.
    #[inline]
    fn close(&mut self) {
        match self.open {
            Open::None => return,
            Open::Apostrophe => self.buffer[self.used - 1] = b' ',
            _ => {
                self.buffer[self.used] = b' ';
                self.used += 1;
            }
        }
        self.open = Open::None;
    }

    /// Makes room for everything that `len` bytes of text can become. Bytes: a lower case of up to
    /// 3 bytes for 2, the 3 bytes of an ideograph and a space before it, and the open token.
    /// Starts: a token in every second byte, and the end mark. Both include the excess writes of
    /// [`Canonical::push_masked`]. In programs every byte can be a token, and a name of one byte
    /// becomes [`NAME`].
    fn make_room(&mut self, len: usize) {
        let len = if self.code.is_some() { 2 * len } else { len };
        let bytes = self.used + 2 * len + 16 + SPARE_BYTES;
        if self.buffer.len() < bytes {
            grow(&mut self.buffer, bytes);
        }
        let starts = self.count + len / 2 + 4 + SPARE_STARTS;
        if self.starts.len() < starts {
            grow(&mut self.starts, starts);
        }
    }

    /// Offers the consumer the settled text, in the middle of a document.
    fn drain(&mut self, consumer: &mut dyn TokenConsumer) {
        let (settled, complete) = match self.open {
            Open::None => (self.used.saturating_sub(1), self.count),
            Open::Apostrophe => (self.used - 1, self.count - 1),
            // The text that follows can still change all of it.
            _ if self.code.is_some() => {
                let begin = self.starts[self.count - 1];
                (begin.saturating_sub(1), self.count - 1)
            }
            _ => {
                let begin = self.starts[self.count - 1];
                let sequence = match self.marks {
                    0 => self.last(),
                    _ => self.sequence,
                };
                // Without the space before the token.
                let space = usize::from(sequence == begin && begin > 0);
                (sequence - space, self.count - 1)
            }
        };
        if self.open == Open::None {
            self.make_room(1);
            self.starts[self.count] = self.used;
        }
        let tokens = Tokens {
            bytes: &self.buffer[..settled],
            starts: &self.starts[..=complete],
        };
        let done = consumer.take(tokens, false).min(settled);
        self.buffer.copy_within(done..self.used, 0);
        self.used -= done;
        self.sequence = self.sequence.saturating_sub(done);
        // An open token keeps its start, though some of its bytes may be gone.
        let gone = self.starts[..complete].partition_point(|&start| start < done);
        for i in gone..self.count {
            self.starts[i - gone] = self.starts[i].saturating_sub(done);
        }
        self.count -= gone;
        self.gone += gone as u64;
        // Wait for at least as many bytes again as were kept, so that the kept bytes are moved
        // rarely.
        self.drain_at = DRAIN_BYTES + 2 * self.used;
    }
}

/// Grows a buffer: by doubling while it is small, by a quarter when it is large, and by an eighth
/// when it has several megabytes. So a token as long as a document takes little more memory than
/// one copy of it.
fn grow<T: Copy + Default>(buffer: &mut Vec<T>, least: usize) {
    let len = buffer.len();
    let more = match len {
        0..DRAIN_BYTES => len,
        DRAIN_BYTES..LARGE => len / 4,
        LARGE.. => len / 8,
    };
    let new = least.max(len + more);
    buffer.reserve_exact(new - len);
    buffer.resize(new, T::default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Takes pairs of tokens as early as possible, and all of the text.
    #[derive(Default)]
    struct Pairs {
        pairs: Vec<Vec<u8>>,
        text: Vec<u8>,
        portions: usize,
    }

    impl TokenConsumer for Pairs {
        fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize {
            self.portions += 1;
            assert_eq!(tokens.is_empty(), tokens.starts.len() == 1);
            self.pairs.extend(tokens.windows(2).map(<[u8]>::to_vec));
            let done = match (last, tokens.len()) {
                (true, _) => tokens.bytes.len(),
                (false, 0) => 0,
                (false, n) => tokens.starts[n - 1],
            };
            self.text.extend_from_slice(&tokens.bytes[..done]);
            done
        }
    }

    fn canonical_of(kind: &TokenKind) -> Canonical {
        Canonical::new(&ParseConfig {
            tokens: kind.clone(),
            ..ParseConfig::default()
        })
    }

    const TEXT: &str = "Don't o\u{2019}C 'x' a'' \u{301}é\u{301}'É 漢か\u{3099}'字x \u{20000}İ\u{a0}\
                        \u{2019}t\u{93f} y'\u{301}z\0 \u{10400}";

    #[test]
    fn pieces_and_portions_do_not_matter() {
        for kind in [TokenKind::Words, TokenKind::Whitespace] {
            let mut canonical = canonical_of(&kind);
            let mut whole = Pairs::default();
            canonical.push(TEXT.as_bytes(), &mut whole);
            let tokens = canonical.finish(&mut whole);
            assert_eq!(whole.portions, 1);
            assert_eq!(tokens as usize, whole.pairs.len() + 1);
            let text = String::from_utf8(whole.text.clone()).unwrap();
            if kind == TokenKind::Words {
                assert_eq!(
                    text,
                    "don't o'c x a é\u{301}'é 漢 が 字 x \u{20000} i\u{307} t\u{93f} y z \
                     \u{10428}"
                );
            }
            // Two borders at every pair of positions, also inside characters.
            for first in 0..=TEXT.len() {
                for second in first..=TEXT.len() {
                    let bytes = TEXT.as_bytes();
                    let mut parts = Pairs::default();
                    for piece in [&bytes[..first], &bytes[first..second], &bytes[second..]] {
                        canonical.drain_at = 0;
                        canonical.push(piece, &mut parts);
                    }
                    assert_eq!(canonical.finish(&mut parts), tokens, "{first} {second}");
                    assert_eq!(parts.pairs, whole.pairs, "{first} {second}");
                    assert_eq!(parts.text, whole.text, "{first} {second}");
                    assert!(parts.portions > 1);
                }
            }
        }
    }

    proptest! {
        /// With pieces of one byte, the masks are never used.
        #[test]
        fn masks_agree_with_the_table(
            parts in prop::collection::vec("[a-zA-Z0-9]{0,9}[ \\t.,'-]{0,3}|[ ']{0,70}|[é漢’\u{301}\0]|[A-Za-z ]{0,200}", 0..60),
            drained in any::<bool>(),
        ) {
            let text = parts.concat();
            for kind in [TokenKind::Words, TokenKind::Whitespace] {
                let mut canonical = canonical_of(&kind);
                let (mut whole, mut bytes) = (Pairs::default(), Pairs::default());
                for (taken, piece) in [(&mut whole, text.len().max(1)), (&mut bytes, 1)] {
                    for piece in text.as_bytes().chunks(piece) {
                        if drained {
                            canonical.drain_at = 0;
                        }
                        canonical.push(piece, taken);
                    }
                    canonical.finish(taken);
                }
                prop_assert_eq!(String::from_utf8(whole.text), String::from_utf8(bytes.text));
                prop_assert_eq!(whole.pairs, bytes.pairs);
            }
        }
    }

    /// Every length of run and gap, at every position in a word of the masks.
    #[test]
    fn masks_agree_with_the_table_at_every_place() {
        let mut canonical = canonical_of(&TokenKind::Words);
        for before in 0..=LANES {
            for gap in 0..=LANES + 1 {
                let text = format!(
                    "{}{}{}x'y 'z' {}",
                    "A".repeat(before),
                    " ".repeat(gap),
                    "b c".repeat(before),
                    "-d".repeat(LANES)
                );
                let (mut whole, mut bytes) = (Pairs::default(), Pairs::default());
                canonical.push(text.as_bytes(), &mut whole);
                canonical.finish(&mut whole);
                for byte in text.as_bytes().chunks(1) {
                    canonical.push(byte, &mut bytes);
                }
                canonical.finish(&mut bytes);
                assert_eq!(whole.text, bytes.text, "{before} {gap}");
                assert_eq!(whole.pairs, bytes.pairs, "{before} {gap}");
            }
        }
    }

    /// The canonical text, from pieces of this number of bytes, passed on as early as possible.
    fn canonical(text: &str, config: &ParseConfig, size: usize) -> String {
        pieces(&mut Canonical::new(config), text, size)
    }

    fn pieces(canonical: &mut Canonical, text: &str, size: usize) -> String {
        let mut taken = All::default();
        for piece in text.as_bytes().chunks(size) {
            canonical.drain_at = 0;
            canonical.push(piece, &mut taken);
        }
        canonical.finish(&mut taken);
        taken.0
    }

    /// Takes all text that will not change.
    #[derive(Default)]
    struct All(String);

    impl TokenConsumer for All {
        fn take(&mut self, tokens: Tokens<'_>, _: bool) -> usize {
            self.0.push_str(std::str::from_utf8(tokens.bytes).unwrap());
            tokens.bytes.len()
        }
    }

    fn of(tokens: TokenKind, compat: bool) -> ParseConfig {
        ParseConfig {
            fold: crate::parse::Fold {
                compat,
                ..Default::default()
            },
            ..tokens.into()
        }
    }

    const KINDS: [TokenKind; 2] = [TokenKind::Words, TokenKind::Whitespace];

    /// For both kinds, without folding.
    fn plain() -> [Canonical; 2] {
        KINDS.map(|kind| Canonical::new(&of(kind, false)))
    }

    /// Applies `--fold compat` to a text.
    fn folded(text: &str, plain: &mut [Canonical; 2]) -> String {
        let mut out = String::new();
        for c in text.chars() {
            let form: String = [c].into_iter().nfkd().collect();
            let several = |plain| pieces(plain, &form, 100).contains(' ');
            match plain.iter_mut().any(several) {
                true => out.push(c),
                false => out.push_str(&form),
            }
        }
        out
    }

    /// A character and its decomposition have the same effect, in every surrounding.
    #[test]
    fn every_character_counts_as_its_decomposition() {
        let mut all = plain();
        for kind in KINDS {
            let mut plain = Canonical::new(&of(kind.clone(), false));
            let mut compat = Canonical::new(&of(kind.clone(), true));
            for c in '\0'..=char::MAX {
                let nfd: String = [c].into_iter().nfd().collect();
                let form = folded(&c.to_string(), &mut all);
                // A few Hangul syllables are enough, because a rule makes them.
                let some = ('가'..='힣').contains(&c) && !(c as u32).is_multiple_of(97);
                if some || nfd.chars().eq([c]) && form == nfd {
                    continue;
                }
                for before in ["", "a", "漢", "a'", "="] {
                    for after in ["", "b", "漢", "'b", "\u{301}", "\u{323}b"] {
                        let surrounded = |text: &str| format!("{before}{text}{after}");
                        let whole = surrounded(&c.to_string());
                        let found = pieces(&mut plain, &whole, 100);
                        assert_eq!(
                            found,
                            pieces(&mut plain, &surrounded(&nfd), 100),
                            "{whole:?}"
                        );
                        let found = pieces(&mut compat, &whole, 100);
                        assert_eq!(
                            found,
                            pieces(&mut compat, &surrounded(&form), 100),
                            "{whole:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn nobody_sees_a_difference() {
        for (text, tokens) in [
            ("co\u{ad}operate", "cooperate"),
            (
                "zero\u{200b}width wo\u{2060}rd a\u{feff}b",
                "zerowidth word ab",
            ),
            ("می\u{200c}خواهم", "میخواهم"),
            (
                "left\u{200e}to\u{202e}right don\u{ad}'\u{ad}t",
                "lefttoright don't",
            ),
            ("漢\u{e0100}字 ❤\u{fe0f} \u{ad} \u{3164}", "漢 字"),
            ("cafe\u{301} CAFE\u{301} caf\u{e9}", "café café café"),
            (
                "e\u{200d}\u{301} q\u{323}\u{307} q\u{307}\u{323}",
                "é q\u{323}\u{307} q\u{323}\u{307}",
            ),
            ("ạ\u{302} a\u{302}\u{323} ậ Ậ", "ậ ậ ậ ậ"),
            (
                "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af} \u{d55c}\u{ae00} 하\u{11ab}",
                "한글 한글 한",
            ),
            ("\u{212b} \u{c5} A\u{30a} \u{212a}g \u{2126}", "å å å kg ω"),
            (
                "\u{f900} \u{958} \u{915}\u{93c}",
                "豈 \u{915}\u{93c} \u{915}\u{93c}",
            ),
            ("\u{130} I\u{307} i\u{307}", "i\u{307} i\u{307} i\u{307}"),
            (
                "か\u{3099} が \u{9c7}\u{9be} \u{995}\u{9cb}",
                "が が \u{9cb} \u{995}\u{9cb}",
            ),
            ("\u{345}a \u{344}x", "a x"),
        ] {
            for size in 1..10 {
                assert_eq!(
                    canonical(text, &ParseConfig::default(), size),
                    tokens,
                    "{text:?}"
                );
            }
        }
        let whitespace = of(TokenKind::Whitespace, false);
        let text = "Co\u{ad}op, =\u{338} \u{ad} \u{301}e\u{301} \u{1d160}";
        let tokens = "Coop, ≠ \u{301}é \u{1d158}\u{1d165}\u{1d16e}";
        assert_eq!(canonical(text, &whitespace, 3), tokens);
        let bytes: ParseConfig = "bytes:4".parse::<TokenKind>().unwrap().into();
        let text = "Co\u{ad}op, =\u{338} \u{ad} e\u{301}";
        assert_eq!(canonical(text, &bytes, 3), text);
    }

    #[test]
    fn compatibility_forms_are_folded_if_asked() {
        for (text, words, whitespace) in [
            ("ﬁne ﬃ", "fine ffi", "fine ffi"),
            ("ＡＢＣ１２", "abc12", "ABC12"),
            ("①x² Ⅷ", "1x2 viii", "1x2 VIII"),
            ("ｶﾞ ﾊﾟｰ", "ガ パ ー", "ガ パー"),
            ("㈱a a＇b …b", "株 a a'b b", "(株)a a'b ...b"),
            // More than one word.
            ("½x ㍿ ﷺ", "½x ﷺ", "½x ㍿ ﷺ"),
        ] {
            for size in [1, 2, 100] {
                let of = |kind| canonical(text, &of(kind, true), size);
                assert_eq!(of(TokenKind::Words), words, "{text:?}");
                assert_eq!(of(TokenKind::Whitespace), whitespace, "{text:?}");
            }
        }
    }

    /// Runs of any number of marks take bounded memory, and pieces do not matter.
    #[test]
    fn long_runs_of_marks_are_composed_in_parts() {
        let marks = ['\u{301}', '\u{323}', '\u{345}', '\u{1d165}', '\u{93c}'];
        for kind in KINDS {
            let config = of(kind.clone(), false);
            for length in [1, 2, 29, 30, 31, 59, 60, 61, 1000] {
                let run: Vec<char> = (0..length).map(|i| marks[i * i % 7 % 5]).collect();
                let text: String = ['é']
                    .iter()
                    .chain(&run)
                    .chain(['x', ' ', 'y'].iter())
                    .collect();
                let mut expected = String::new();
                for (i, part) in run.chunks(usize::from(MOST_MARKS)).enumerate() {
                    let first = (i == 0).then_some('é');
                    expected.extend(first.into_iter().chain(part.iter().copied()).nfc());
                }
                expected.push_str("x y");
                for size in [1, 2, 7, 64, 4096] {
                    assert_eq!(canonical(&text, &config, size), expected, "{length} {size}");
                }
            }
            let mut canonical = Canonical::new(&config);
            let mut taken = Pairs::default();
            let run: String = marks.iter().collect::<String>().repeat(1 << 16);
            canonical.push("e".as_bytes(), &mut taken);
            canonical.push(run.as_bytes(), &mut taken);
            assert!(canonical.buffer.len() <= 2 * run.len());
            assert_eq!(canonical.finish(&mut taken), 1);
        }
    }

    /// Everything that one character can become has room.
    #[test]
    fn the_longest_forms_have_room() {
        for kind in KINDS {
            for c in [
                "\u{1d160}",
                "\u{2057}",
                "ΐ\u{323}",
                "İ",
                "\u{fdf2}",
                "\u{3316}",
                "\u{fb2c}",
            ] {
                for compat in [false, true] {
                    let config = of(kind.clone(), compat);
                    let text = c.repeat(3 * BLOCK);
                    let whole = canonical(&text, &config, text.len());
                    assert_eq!(whole, canonical(&text, &config, 1001), "{c:?}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        /// A text has the tokens of its NFC without the dropped characters, with folding or
        /// without.
        #[test]
        fn equivalent_texts_have_the_same_tokens(
            text in prop_oneof![
                "[a-cA-C'\u{2019}=\u{301}\u{323}\u{338}\u{345}\u{93f}\u{915}\u{93c}\u{1100}\u{1161}\u{11a8}\u{ac00}\
                 \u{ad}\u{200d}\u{34f}\u{212b}\u{130}\u{344}\u{f73}\u{9c7}\u{9be}\u{1f82}éệ漢カ\u{3099} ,\u{2000}.-]{0,28}",
                "[Ａﬁ½㈱ｶﾞ㍿…¨ﷲa-c'\u{ad}\u{301}\u{345} ]{0,28}",
                prop::collection::vec(any::<char>(), 0..28).prop_map(|text| text.into_iter().collect()),
                prop::collection::vec(prop::char::range('\u{300}', '\u{1fff}'), 0..28)
                    .prop_map(|text| text.into_iter().collect()),
            ],
            size in 1usize..9,
        ) {
            let mut all = plain();
            // Without lines, which soft hyphens join.
            let text: String = text.replace(['\n', '\r', '\u{2028}', '\u{2029}'], " ");
            let seen: String = text.chars().filter(|&c| !super::super::class::is_ignorable(c)).collect();
            for kind in KINDS {
                for compat in [false, true] {
                    let config = of(kind.clone(), compat);
                    let found = canonical(&text, &config, size);
                    prop_assert!(unicode_normalization::is_nfc(&found));
                    let mut plain = Canonical::new(&of(kind.clone(), false));
                    let seen = if compat { folded(&seen, &mut all) } else { seen.clone() };
                    for other in [seen.nfc().collect::<String>(), seen.nfd().collect()] {
                        prop_assert_eq!(&found, &pieces(&mut plain, &other, 100), "{:?}", other);
                    }
                }
            }
        }
    }

    #[test]
    fn bytes_that_are_no_utf8_separate() {
        let mut canonical = canonical_of(&TokenKind::Words);
        for (pieces, text) in [
            (&[&b"a\xffb"[..]][..], "a b"),
            (&[b"a\xc3", b"b"], "a b"),
            (&[b"a\xe6\x97", b"", b"\xa5b"], "a 日 b"),
            (&[b"a\xe6", b"\x97b"], "a b"),
            (&[b"\xf0\x9f", b"\x98", b"\x80a"], "a"),
            (&[b"\xed\xa0\x80a\x80"], "a"),
            (&[b"a\xe6\x97"], "a"),
        ] {
            let mut taken = Pairs::default();
            for piece in pieces {
                canonical.push(piece, &mut taken);
            }
            canonical.finish(&mut taken);
            assert_eq!(String::from_utf8_lossy(&taken.text), text, "{pieces:?}");
        }
    }

    #[test]
    fn memory_stays_small_and_is_given_back() {
        let mut canonical = canonical_of(&TokenKind::Words);
        let mut taken = Pairs::default();
        for _ in 0..100 {
            canonical.push("ab cd é ".repeat(4000).as_bytes(), &mut taken);
        }
        assert!(
            canonical.buffer.len() <= 4 * DRAIN_BYTES,
            "{}",
            canonical.buffer.len()
        );
        assert!(
            canonical.starts.len() <= 2 * DRAIN_BYTES,
            "{}",
            canonical.starts.len()
        );
        canonical.push(&[b'x'; 8 << 20], &mut taken);
        assert!(canonical.buffer.len() >= 8 << 20);
        assert_eq!(canonical.finish(&mut taken), 100 * 3 * 4000 + 1);
        canonical.shrink();
        assert!(canonical.buffer.capacity() <= 4 * DRAIN_BYTES);
        canonical.push(b"again", &mut taken);
        assert_eq!(canonical.finish(&mut taken), 1);
    }
}
