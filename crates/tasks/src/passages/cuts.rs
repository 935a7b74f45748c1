//! Computes the ranges to cut out of a text to remove its removable tokens.
//!
//! # Definitions
//! An *atom* is the unit of removal: a token, a line or a paragraph. A line is the text between
//! line feeds, if it is more than white space; a paragraph is a maximal run of such lines. An atom
//! is removed if it has a token and every token of it is removable.
//!
//! # Algorithm
//! Between atoms there are *separators*: punctuation and white space, or empty lines. Where a run
//! of atoms is removed, one of the separators at its sides is removed with it:
//! 1. At the beginning of the text the separator on the right is removed, at its end the separator
//!    on the left, so that the beginning and the end of the text do not change.
//! 2. Elsewhere the separator with more line feeds is kept, or the left one if both have the same
//!    number. So sentences keep their full stop, and paragraphs remain apart.
//! 3. If the tokens at both sides of a cut would become one, or others, a space stands between
//!    them. That happens in scripts without spaces.
//!
//! If no token of a text is kept, nothing of the text is kept.
//!
//! # Invariants
//! The tokens of the remaining text are the tokens of the kept atoms.

use std::ops::Range;

use lookalike_base::keywords;
use lookalike_text::parse::{ParseConfig, each_token, token_spans};
use lookalike_text::read::Cut;

keywords! {
    /// The smallest text that is removed: a token, a line or a paragraph.
    #[derive(Default)]
    pub enum Align: "is not" {
        /// Tokens.
        #[default]
        Token = "token",
        /// Lines.
        Line = "line",
        /// Paragraphs: lines between empty ones.
        Paragraph = "paragraph",
    }
}

/// A cut, and the tokens in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextCut {
    pub cut: Cut,
    /// By number in the text.
    pub tokens: Range<u32>,
}

/// Returns the ranges to cut out of a text, and the number of the text's tokens. The `removable`
/// ranges of bytes are in order, and begin and end with tokens.
pub(super) fn cuts(
    text: &str,
    parse: &ParseConfig,
    removable: &[Range<usize>],
    align: Align,
) -> (Vec<TextCut>, u32) {
    let mut cutter = Cutter {
        text,
        parse,
        tokens: align == Align::Token,
        before: None,
        run: None,
        cuts: Vec::new(),
    };
    let mut removable = Removable(removable);
    let mut token = 0;
    match align {
        Align::Token => each_token(text, parse, |span| {
            let goes = removable.has(&span);
            cutter.atom(span, token..token + 1, goes);
            token += 1;
            true
        }),
        Align::Line | Align::Paragraph => {
            let mut blocks = Blocks::new(text, align == Align::Paragraph);
            let mut block = blocks.next();
            let (mut first, mut stays) = (0, false);
            each_token(text, parse, |span| {
                while let Some(open) = block.take_if(|open| open.end <= span.start) {
                    cutter.atom(open, first..token, first < token && !stays);
                    (first, stays) = (token, false);
                    block = blocks.next();
                }
                stays |= !removable.has(&span);
                token += 1;
                true
            });
            while let Some(open) = block {
                cutter.atom(open, first..token, first < token && !stays);
                (first, stays) = (token, false);
                block = blocks.next();
            }
        }
    }
    cutter.close(None);
    let mut cuts = cutter.cuts;
    let tokens = cuts.iter().map(|cut| cut.tokens.end - cut.tokens.start);
    if !cuts.is_empty() && tokens.sum::<u32>() == token {
        let cut = Cut {
            range: 0..text.len(),
            space: false,
        };
        let tokens = 0..token;
        cuts = vec![TextCut { cut, tokens }];
    }
    (cuts, token)
}

/// The removable ranges that are left.
struct Removable<'r>(&'r [Range<usize>]);

impl Removable<'_> {
    /// Whether a token is removable. Tokens come in order.
    fn has(&mut self, span: &Range<usize>) -> bool {
        while let [first, rest @ ..] = self.0
            && first.end <= span.start
        {
            self.0 = rest;
        }
        self.0
            .first()
            .is_some_and(|first| first.start <= span.start)
    }
}

/// The lines or paragraphs of a text, without the ends of their lines.
pub(super) struct Blocks<'t> {
    text: &'t str,
    at: usize,
    paragraphs: bool,
}

impl Blocks<'_> {
    pub fn new(text: &str, paragraphs: bool) -> Blocks<'_> {
        let at = 0;
        Blocks {
            text,
            at,
            paragraphs,
        }
    }
}

impl Iterator for Blocks<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let mut block: Option<Range<usize>> = None;
        while let Some(rest) = self.text.get(self.at..).filter(|rest| !rest.is_empty()) {
            let end = memchr::memchr(b'\n', rest.as_bytes());
            let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            let begin = self.at;
            self.at += end.map_or(rest.len(), |end| end + 1);
            if line.trim().is_empty() {
                match block {
                    Some(block) => return Some(block),
                    None => continue,
                }
            }
            let line = line.strip_suffix('\r').unwrap_or(line);
            let end = begin + line.len();
            let open = block.get_or_insert(begin..end);
            open.end = end;
            if !self.paragraphs {
                break;
            }
        }
        block
    }
}

/// A run of atoms that go, while it is open.
struct Run {
    span: Range<usize>,
    tokens: Range<u32>,
}

/// Makes cuts from atoms.
struct Cutter<'t> {
    text: &'t str,
    parse: &'t ParseConfig,
    /// Whether atoms are tokens.
    tokens: bool,
    /// The last kept atom.
    before: Option<Range<usize>>,
    run: Option<Run>,
    cuts: Vec<TextCut>,
}

impl Cutter<'_> {
    /// Takes the next atom.
    fn atom(&mut self, span: Range<usize>, tokens: Range<u32>, goes: bool) {
        if !goes {
            self.close(Some(&span));
            self.before = Some(span);
            return;
        }
        match &mut self.run {
            Some(run) => {
                run.span.end = span.end;
                run.tokens.end = tokens.end;
            }
            None => self.run = Some(Run { span, tokens }),
        }
    }

    /// Ends the run before a kept atom, or at the end of the text.
    fn close(&mut self, next: Option<&Range<usize>>) {
        let Some(Run { span, tokens }) = self.run.take() else {
            return;
        };
        let of = |range: Range<usize>| self.text.get(range).unwrap_or_default();
        let (range, space) = match (&self.before, next) {
            (None, None) => (span, false),
            (None, Some(next)) => (span.start..next.start, false),
            (Some(before), None) => (before.end..span.end, false),
            (Some(before), Some(next)) => {
                let (left, right) = (of(before.end..span.start), of(span.end..next.start));
                let feeds = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count();
                let (range, stays) = match feeds(left) < feeds(right) {
                    true => (before.end..span.end, right),
                    false => (span.start..next.start, left),
                };
                let apart = !self.tokens
                    || stays.bytes().any(|byte| byte.is_ascii_whitespace())
                    || self.remain(of(before.clone()), stays, of(next.clone()));
                (range, !apart)
            }
        };
        let cut = Cut { range, space };
        self.cuts.push(TextCut { cut, tokens });
    }

    /// Whether two tokens remain unchanged with this separator between them.
    fn remain(&self, before: &str, separator: &str, next: &str) -> bool {
        let joined = [before, separator, next].concat();
        let begin = before.len() + separator.len();
        token_spans(&joined, self.parse) == [0..before.len(), begin..joined.len()]
    }
}
