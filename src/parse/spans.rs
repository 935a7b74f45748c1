//! Finds the words of a readable text.
//!
//! The canonical text of words has neither capitals nor punctuation, but a display of a text needs
//! both, and also needs to compare words. This module therefore implements the definition of a
//! token ([`super`]) a second time, character by character, for texts short enough to display. A
//! test compares it with [`super::Parser`].

use std::cell::RefCell;
use std::ops::Range;

use super::class::{Class, ClassCache};
use super::config::TokenKind;

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
    each_token(text, kind, |span| {
        spans.push(span);
        true
    });
    spans
}

/// Calls `each` with the range of each token in `text`, as [`token_spans`] returns them, until it
/// returns `false`.
pub(crate) fn each_token(text: &str, kind: &TokenKind, each: impl FnMut(Range<usize>) -> bool) {
    match kind {
        TokenKind::Words => words(text, each),
        TokenKind::Whitespace | TokenKind::Bytes(_) => runs(text, each),
    }
}

fn runs(text: &str, mut each: impl FnMut(Range<usize>) -> bool) {
    let mut start = None;
    for (at, c) in text.char_indices() {
        match (c.is_whitespace(), start) {
            (true, Some(from)) => {
                if !each(from..at) {
                    return;
                }
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
    }
    if let Some(from) = start {
        each(from..text.len());
    }
}

thread_local! {
    /// Known classes, which a thread keeps from text to text.
    static CLASSES: RefCell<ClassCache> = RefCell::new(ClassCache::new());
}

/// The class of each ASCII character; upper and lower case alike. Bytes of other characters are
/// marks, which no ASCII character is.
static ASCII: [Class; 256] = {
    let mut table = [Class::Mark; 256];
    let mut b = 0;
    while b < 128 {
        table[b] = match b as u8 {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => Class::Letter,
            b'\'' => Class::Apostrophe,
            _ => Class::Separator,
        };
        b += 1;
    }
    table
};

fn words(text: &str, mut each: impl FnMut(Range<usize>) -> bool) {
    let (mut open, mut span) = (Open::None, 0..0);
    let bytes = text.as_bytes();
    let ascii = |at: usize| bytes.get(at).map(|&b| ASCII[usize::from(b)]);
    let mut at = 0;
    while let Some(class) = ascii(at) {
        let (class, end) = match class {
            // Runs of letters and of separators are most of a text.
            Class::Letter if open == Open::Word => {
                at += 1;
                while ascii(at) == Some(Class::Letter) {
                    at += 1;
                }
                span.end = at;
                continue;
            }
            Class::Separator if open == Open::None => {
                at += 1;
                continue;
            }
            Class::Mark => match text.get(at..).and_then(|rest| rest.chars().next()) {
                Some(c) => (
                    CLASSES.with_borrow_mut(|classes| classes.get(c)),
                    at + c.len_utf8(),
                ),
                None => break,
            },
            class => (class, at + 1),
        };
        let becomes = match (class, open) {
            (Class::Letter | Class::Upper, Open::Word | Open::Apostrophe)
            | (Class::LetterMark, Open::Apostrophe) => Open::Word,
            (Class::Mark | Class::LetterMark, Open::Word | Open::Ideograph) => open,
            (Class::Apostrophe, Open::Word) => {
                open = Open::Apostrophe;
                at = end;
                continue;
            }
            _ => {
                if open != Open::None && !each(span.clone()) {
                    return;
                }
                span.start = at;
                match class {
                    Class::Letter | Class::Upper | Class::LetterMark => Open::Word,
                    Class::Ideograph => Open::Ideograph,
                    Class::Separator | Class::Mark | Class::Apostrophe => Open::None,
                }
            }
        };
        span.end = end;
        open = becomes;
        at = end;
    }
    if open != Open::None {
        each(span);
    }
}

/// The canonical text of a token: two tokens are equal if their canonical texts are equal.
pub(crate) fn canonical_token(token: &str, kind: &TokenKind) -> String {
    match kind {
        TokenKind::Words => token
            .chars()
            .map(|c| if c == '\u{2019}' { '\'' } else { c })
            .flat_map(char::to_lowercase)
            .collect(),
        TokenKind::Whitespace | TokenKind::Bytes(_) => token.into(),
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

    proptest! {
        #[test]
        fn tokens_are_those_of_the_parser(text in "[a-cA-C'\u{2019}\u{301}\u{93f}\u{915}漢カ ,.\n-]{0,40}") {
            same(&text);
        }

        #[test]
        fn tokens_of_any_text_are_those_of_the_parser(text in any::<String>()) {
            same(&text);
        }
    }
}
