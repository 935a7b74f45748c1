//! Finds the words of a readable text.
//!
//! The canonical text of words has neither capitals nor punctuation. A display of a text needs
//! both, and positions in documents are those of the readable text. This module therefore
//! implements the definition of a token ([`super`]) a second time. A test compares it with
//! [`super::Parser`].

use std::cell::{Cell, RefCell};
use std::ops::Range;

use super::class::{Class, ClassCache, SLOW, WHITESPACE, WORDS};
use super::config::TokenKind;
use super::masks::{BLOCK, LANES, Masks};
use crate::utf8::boundary_before;

/// The token state while walking a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    None,
    Word,
    /// A word and an apostrophe, which belongs to the word only if a letter follows.
    Apostrophe,
    Ideograph,
}

/// The range of each token in `text`. For `bytes:N`, which has no tokens, the runs between white
/// space.
pub(crate) fn token_spans(text: &str, kind: &TokenKind) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut finder = SpanFinder::new(kind);
    finder.push(text, &mut |span| spans.push(span));
    finder.finish(&mut |span| spans.push(span));
    spans
}

/// Calls `each` with the range of each token in `text`, as [`token_spans`] returns them, until it
/// returns `false`.
pub(crate) fn each_token(text: &str, kind: &TokenKind, mut each: impl FnMut(Range<usize>) -> bool) {
    let mut finder = SpanFinder::new(kind);
    let more = Cell::new(true);
    let mut act = |span| more.set(more.get() && each(span));
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(boundary_before(rest, PIECE_BYTES));
        finder.push(piece, &mut act);
        if !more.get() {
            return;
        }
        rest = after;
    }
    finder.finish(&mut act);
}

/// Bytes of text between two looks whether more tokens are wanted.
const PIECE_BYTES: usize = 16 << 10;

thread_local! {
    /// Known classes, which a thread keeps from text to text.
    static CLASSES: RefCell<ClassCache> = RefCell::new(ClassCache::new());
}

/// Finds the range of each token in a text that comes in pieces. Takes a few bytes of memory,
/// however long the text is.
pub(crate) struct SpanFinder {
    words: bool,
    open: Open,
    span: Range<usize>,
    /// Bytes of the text so far.
    at: usize,
}

impl SpanFinder {
    pub(crate) fn new(kind: &TokenKind) -> SpanFinder {
        SpanFinder {
            words: *kind == TokenKind::Words,
            open: Open::None,
            span: 0..0,
            at: 0,
        }
    }

    /// Calls `act` with the tokens that end in the next piece.
    pub(crate) fn push(&mut self, text: &str, act: &mut dyn FnMut(Range<usize>)) {
        let mut masks = Masks::default();
        let mut at = 0;
        while at < text.len() {
            let end = text.len().min(at + BLOCK);
            masks.set(text.as_bytes().get(at..end).unwrap_or_default(), self.words);
            at = self.block(text, at..end, &masks, act);
        }
    }

    /// Goes through a block of a text. The last character may end behind it; returns where it ends.
    fn block(
        &mut self,
        text: &str,
        block: Range<usize>,
        masks: &Masks,
        act: &mut dyn FnMut(Range<usize>),
    ) -> usize {
        let mut at = block.start;
        while at < block.end {
            let (i, bit) = ((at - block.start) / LANES, (at - block.start) % LANES);
            let (space, slow) = masks.bits(i);
            // The rest of a word, or of what separates it from the next one.
            let ends = match self.open {
                Open::Word => space | slow,
                Open::None => !space | slow,
                Open::Apostrophe | Open::Ideograph => u64::MAX,
            };
            let length = ((ends >> bit).trailing_zeros() as usize).min(LANES - bit);
            at += length;
            self.at += length;
            if self.open == Open::Word {
                self.span.end = self.span.end.max(self.at);
            }
            if bit + length == LANES {
                continue;
            }
            match (slow >> (bit + length) & 1, self.open) {
                (0, Open::Word) => {
                    act(self.span.clone());
                    self.open = Open::None;
                }
                (0, Open::None) => {
                    self.span.start = self.at;
                    self.open = Open::Word;
                }
                _ => {
                    let c = text.get(at..).and_then(|rest| rest.chars().next());
                    let Some(c) = c else { return text.len() };
                    self.step(c, act);
                    at += c.len_utf8();
                }
            }
        }
        at
    }

    /// Calls `act` with the last token, if the text ends with one.
    pub(crate) fn finish(self, act: &mut dyn FnMut(Range<usize>)) {
        if self.open != Open::None {
            act(self.span);
        }
    }

    #[inline]
    fn step(&mut self, c: char, act: &mut dyn FnMut(Range<usize>)) {
        let start = self.at;
        self.at += c.len_utf8();
        let table = if self.words { &WORDS } else { &WHITESPACE };
        let class = match table.get(c as usize) {
            Some(b' ') => Class::Separator,
            Some(&SLOW) | None if self.words => CLASSES.with_borrow_mut(|classes| classes.get(c)),
            Some(&SLOW) | None if c.is_whitespace() => Class::Separator,
            // Upper case makes no difference here.
            _ => Class::Letter,
        };
        let becomes = match (class, self.open) {
            (Class::Letter | Class::Upper, Open::Word | Open::Apostrophe)
            | (Class::LetterMark, Open::Apostrophe) => Open::Word,
            (Class::Mark | Class::LetterMark, Open::Word | Open::Ideograph) => self.open,
            (Class::Apostrophe, Open::Word) => {
                self.open = Open::Apostrophe;
                return;
            }
            _ => {
                if self.open != Open::None {
                    act(self.span.clone());
                }
                self.span.start = start;
                match class {
                    Class::Letter | Class::Upper | Class::LetterMark => Open::Word,
                    Class::Ideograph => Open::Ideograph,
                    Class::Separator | Class::Mark | Class::Apostrophe => Open::None,
                }
            }
        };
        self.span.end = self.at;
        self.open = becomes;
    }
}

/// The canonical text of a token: two tokens are equal if their canonical texts are equal.
pub(crate) fn canonical_token(token: &str, kind: &TokenKind) -> String {
    let mut canonical = String::new();
    push_canonical(token, kind, &mut canonical);
    canonical
}

/// Appends the canonical text of a token.
pub(crate) fn push_canonical(token: &str, kind: &TokenKind, out: &mut String) {
    match kind {
        TokenKind::Words => out.extend(
            token
                .chars()
                .map(|c| if c == '\u{2019}' { '\'' } else { c })
                .flat_map(char::to_lowercase),
        ),
        TokenKind::Whitespace | TokenKind::Bytes(_) => out.push_str(token),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{ParseConfig, Parser, TokenConsumer, Tokens};
    use crate::read::{ContentKind, RawDocument};
    use proptest::prelude::*;

    struct Collected(Vec<u8>);

    impl TokenConsumer for Collected {
        fn take(&mut self, tokens: Tokens<'_>, _: bool) -> usize {
            let done = tokens.starts.last().copied().unwrap_or(0);
            let done = done.min(tokens.bytes.len());
            self.0.extend_from_slice(&tokens.bytes[..done]);
            done
        }
    }

    fn canonical(text: &str, kind: &TokenKind) -> String {
        let document = RawDocument::of_text(text, ContentKind::Text);
        let mut out = Collected(Vec::new());
        let config = ParseConfig {
            tokens: kind.clone(),
            ..ParseConfig::default()
        };
        Parser::new(&config).parse(&document, &mut out);
        String::from_utf8(out.0).unwrap()
    }

    fn same(text: &str) {
        // A byte order mark at the start is not text.
        let text = text.trim_start_matches('\u{feff}');
        for kind in [TokenKind::Words, TokenKind::Whitespace] {
            let spans = token_spans(text, &kind);
            let tokens: Vec<String> = spans
                .into_iter()
                .map(|span| canonical_token(&text[span], &kind))
                .collect();
            assert_eq!(tokens.join(" "), canonical(text, &kind), "{text:?} {kind}");
        }
    }

    #[test]
    fn corners() {
        for text in [
            "",
            " ",
            "Don't 'quote' dogs' o'clock' ''a'",
            "near-duplicate (Word), e.g. 3.14",
            "漢字かな kana カナ゙x 漢'字",
            "e\u{301}te\u{301} \u{301}x a'\u{301}b a\u{2019}b a'\u{93f}",
            "İstanbul ẞ ΑΣ",
        ] {
            same(text);
        }
    }

    /// What is between 64 bytes, and between 4,096.
    #[test]
    fn long_texts() {
        let parts = [
            "x'y 漢字'é'd ",
            "a\u{301}b'\u{301}c. ",
            "'",
            "𝒳'z''",
            "\0 \u{b} - ",
        ];
        for part in parts {
            for pad in (0..70).chain(BLOCK - 70..BLOCK + 3) {
                for fill in ["a", " "] {
                    same(&(fill.repeat(pad) + part + &fill.repeat(70) + part));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn tokens_are_those_of_the_parser(text in "[a-cA-C'\u{2019}\u{301}\u{93f}\u{915}漢カ ,.\n-]{0,40}") {
            same(&text);
        }

        #[test]
        fn pieces_do_not_change_the_spans(text in "[a-cA-C'\u{2019}\u{301}漢カ𝒳 ,\n-]{0,30}", size in 1usize..7) {
            for kind in [TokenKind::Words, TokenKind::Whitespace] {
                let mut spans = Vec::new();
                let mut finder = SpanFinder::new(&kind);
                let mut rest = &text[..];
                while !rest.is_empty() {
                    let (piece, after) = rest.split_at(boundary_before(rest, size + 3));
                    finder.push(piece, &mut |span| spans.push(span));
                    rest = after;
                }
                finder.finish(&mut |span| spans.push(span));
                assert_eq!(spans, token_spans(&text, &kind));
            }
        }

        #[test]
        fn tokens_of_any_text_are_those_of_the_parser(text in any::<String>()) {
            same(&text);
        }
    }
}
