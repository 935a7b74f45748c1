//! A text and where its tokens lie.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use lookalike_text::parse::{ParseConfig, each_token_or_name, push_canonical};

/// Upper limit on the memory of [`numbers`] for each token of both texts.
pub const NUMBER_BYTES: u64 = 48;

/// A readable text and where its tokens lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    pub text: String,
    pub spans: Vec<Range<usize>>,
    /// For each token of a program, whether it is a name; empty for other texts.
    pub names: Vec<bool>,
    /// Whether this is only the beginning of the text.
    pub cut: bool,
    /// The rules that define its tokens.
    pub parse: ParseConfig,
}

impl Words {
    /// The tokens of a text. `parse` is that of the name of its document ([`ParseConfig::of`]).
    pub fn new(text: String, cut: bool, parse: ParseConfig) -> Words {
        let mut tokens = 0;
        each_token_or_name(&text, &parse, |_, _| {
            tokens += 1;
            true
        });
        let mut spans = Vec::with_capacity(tokens);
        let mut names = Vec::new();
        if parse.fold.identifiers {
            names.reserve_exact(tokens);
        }
        each_token_or_name(&text, &parse, |span, name| {
            spans.push(span);
            if parse.fold.identifiers {
                names.push(name);
            }
            true
        });
        Words {
            text,
            spans,
            names,
            cut,
            parse,
        }
    }

    /// The text between a token and the token before it. A line begins before the first token and
    /// after the last.
    pub fn gap(&self, token: usize) -> &str {
        let spans = &self.spans;
        let before = token.checked_sub(1).and_then(|before| spans.get(before));
        match (before, spans.get(token)) {
            (Some(before), Some(span)) => {
                let gap = self.text.get(before.end..span.start);
                gap.unwrap_or_default()
            }
            _ => "\n",
        }
    }

    /// Whether only punctuation is between a token and the token before it, so that both are one word
    /// for a reader.
    pub fn joined(&self, token: usize) -> bool {
        let gap = self.gap(token);
        !gap.is_empty() && !gap.contains(char::is_whitespace)
    }

    /// The memory that a text with its spans takes.
    pub fn bytes(&self) -> usize {
        self.text.capacity()
            + self.spans.capacity() * size_of::<Range<usize>>()
            + self.names.capacity()
    }

    /// The text of a token.
    fn token(&self, span: &Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The bytes from the first of some tokens to the last.
    pub fn bytes_of(&self, tokens: &Range<usize>) -> Range<usize> {
        let at = |token: usize| self.spans.get(token);
        let start = at(tokens.start).map_or(self.text.len(), |span| span.start);
        let last = tokens.end.checked_sub(1).and_then(at);
        let end = last.map_or(start, |span| span.end);
        start..end.max(start)
    }
}

/// A number for each token of two texts. Tokens with the same canonical text have the same number.
pub fn numbers(a: &Words, b: &Words) -> (Vec<u32>, Vec<u32>) {
    let tokens = a.spans.len() + b.spans.len();
    let differ = a.parse != b.parse;
    let mut numbering = Numbering {
        parse: [&a.parse, &b.parse],
        firsts: Vec::new(),
        slots: vec![EMPTY; (tokens + tokens / 3 + 1).next_power_of_two()],
        hash: RandomState::new(),
        canonical: String::new(),
        other: String::new(),
    };
    let [a, b] = [(a, false), (b, differ)].map(|(words, other)| {
        let names = words.names.iter().copied().chain(std::iter::repeat(false));
        let tokens = words.spans.iter().map(|span| words.token(span)).zip(names);
        tokens
            .map(|(text, name)| numbering.number(Token { text, name, other }))
            .collect()
    });
    (a, b)
}

const EMPTY: u32 = u32::MAX;

/// A token in the original spelling.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Token<'t> {
    text: &'t str,
    /// Whether it is the name of a program.
    name: bool,
    /// Whether it is a token by the parameters of the second text.
    other: bool,
}

/// A table of the tokens so far, which keeps no text of its own.
struct Numbering<'t> {
    /// The parameters of both texts.
    parse: [&'t ParseConfig; 2],
    /// By number, its first token.
    firsts: Vec<Token<'t>>,
    /// Numbers by hash, with linear probing.
    slots: Vec<u32>,
    /// With keys of this process, so that nobody can choose tokens that collide.
    hash: RandomState,
    canonical: String,
    other: String,
}

impl Token<'_> {
    fn push_canonical(&self, parse: &[&ParseConfig; 2], out: &mut String) {
        let [first, second] = parse;
        let parse = if self.other { second } else { first };
        push_canonical(self.text, self.name, parse, out);
    }
}

impl<'t> Numbering<'t> {
    fn number(&mut self, token: Token<'t>) -> u32 {
        self.canonical.clear();
        token.push_canonical(&self.parse, &mut self.canonical);
        let mask = self.slots.len() - 1;
        let mut at = self.hash.hash_one(&self.canonical) as usize & mask;
        loop {
            let Some(slot) = self.slots.get_mut(at) else {
                return EMPTY;
            };
            let Some(&first) = self.firsts.get(*slot as usize) else {
                *slot = self.firsts.len() as u32;
                self.firsts.push(token);
                return *slot;
            };
            if first != token {
                self.other.clear();
                first.push_canonical(&self.parse, &mut self.other);
            }
            if first == token || self.other == self.canonical {
                return *slot;
            }
            at = (at + 1) & mask;
        }
    }
}

/// A text cut into pieces: each token with the punctuation around it, up to the next white space.
#[derive(Debug)]
pub struct Pieces<'t> {
    pub words: &'t Words,
    /// Where each piece begins, and finally where the text ends.
    starts: Vec<usize>,
}

impl<'t> Pieces<'t> {
    pub fn new(words: &'t Words) -> Self {
        let mut starts = Vec::with_capacity(words.spans.len() + 1);
        let mut end = 0;
        for span in &words.spans {
            let between = words.text.get(end..span.start).unwrap_or_default();
            // An opening bracket belongs to the word after it. Characters before white space belong
            // to the word before.
            let at = match between.char_indices().rfind(|(_, c)| c.is_whitespace()) {
                _ if starts.is_empty() => 0,
                Some((at, c)) => end + at + c.len_utf8(),
                None => span.start,
            };
            starts.push(at);
            end = span.end;
        }
        if starts.is_empty() {
            starts.push(0);
        }
        starts.push(words.text.len());
        Pieces { words, starts }
    }

    /// Bytes of some pieces.
    pub fn bytes(&self, pieces: &Range<usize>) -> Range<usize> {
        let at = |piece: usize| self.starts.get(piece).copied();
        let all = self.words.text.len();
        at(pieces.start).unwrap_or(all)..at(pieces.end).unwrap_or(all)
    }

    /// The text of some pieces.
    pub fn text(&self, pieces: &Range<usize>) -> &'t str {
        let text = self.words.text.get(self.bytes(pieces));
        text.unwrap_or_default()
    }
}
