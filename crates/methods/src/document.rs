//! The document as the methods see it: its text, and the lines, words and shingles of the text.

pub(super) use xxhash_rust::xxh3::xxh3_64 as fingerprint;

use lookalike_text::parse::{ParseConfig, Parser, TokenConsumer, TokenKind, Tokens};

/// Buffers that are reused from one document to the next.
#[derive(Debug)]
pub(super) struct Scratch {
    words: Parser,
    whitespace: Parser,
    held: Held,
    /// Fingerprints from which a method selects its features.
    fingerprints: Vec<u64>,
}

impl Scratch {
    /// Buffers for a collection with these parameters. The method chooses the kind of token.
    pub(super) fn new(parse: &ParseConfig) -> Self {
        let parser = |tokens| {
            Parser::new(&ParseConfig {
                tokens,
                ..parse.clone()
            })
        };
        Scratch {
            words: parser(TokenKind::Words),
            whitespace: parser(TokenKind::Whitespace),
            held: Held::default(),
            fingerprints: Vec::new(),
        }
    }

    /// Frees the buffers, which a long text has filled.
    pub(super) fn shrink(&mut self) {
        self.words.shrink();
        self.whitespace.shrink();
        self.held = Held::default();
        self.fingerprints = Vec::new();
    }
}

/// All tokens of a document.
#[derive(Debug, Default)]
struct Held {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl TokenConsumer for Held {
    fn take(&mut self, tokens: Tokens<'_>, last: bool) -> usize {
        // The last token may continue, so the parser passes it again.
        let bytes = tokens.whole(last);
        let offset = self.bytes.len();
        let starts = tokens.starts.iter().take(tokens.len());
        self.starts.extend(starts.map(|start| offset + start));
        self.bytes.extend_from_slice(bytes);
        if last {
            self.bytes.push(b' ');
        }
        bytes.len()
    }
}

/// A document: the text that the collection keeps of it. In this text, each run of white space is
/// one line feed if it contained a line feed, and one space otherwise.
#[derive(Debug)]
pub struct Document<'a> {
    text: &'a str,
    /// The documents with this text that count: 1 if exact duplicates are removed.
    pub(super) copies: u64,
    scratch: &'a mut Scratch,
}

impl<'a> Document<'a> {
    /// A document with this text.
    pub(super) fn new(text: &'a str, scratch: &'a mut Scratch) -> Self {
        // The collection stores an extra byte order mark before a text that begins with one.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Document {
            text,
            copies: 1,
            scratch,
        }
    }

    /// The text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The text, and an empty buffer.
    pub(super) fn text_and_buffer(&mut self) -> (&'a str, &mut Vec<u64>) {
        self.scratch.fingerprints.clear();
        (self.text, &mut self.scratch.fingerprints)
    }

    /// The lines of the text.
    pub fn lines(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.text.split('\n')
    }

    /// The words of the text: its tokens by [`TokenKind::Words`].
    pub fn words(&mut self) -> Tokens<'_> {
        self.tokens(&TokenKind::Words)
    }

    /// The parts of the text between white space: its tokens by [`TokenKind::Whitespace`].
    pub fn whitespace(&mut self) -> Tokens<'_> {
        self.tokens(&TokenKind::Whitespace)
    }

    fn tokens(&mut self, kind: &TokenKind) -> Tokens<'_> {
        self.tokenise(kind);
        self.scratch.held.tokens()
    }

    fn tokenise(&mut self, kind: &TokenKind) {
        let scratch = &mut *self.scratch;
        let held = &mut scratch.held;
        held.bytes.clear();
        held.starts.clear();
        let parser = match kind {
            TokenKind::Words => &mut scratch.words,
            _ => &mut scratch.whitespace,
        };
        parser.plain("", self.text.as_bytes(), held);
        // Where the next token would start.
        held.starts.push(held.bytes.len());
    }

    /// The fingerprints of every `size` consecutive words, joined by one space, in text order.
    pub fn shingles(&mut self, size: usize) -> &mut Vec<u64> {
        self.tokenise(&TokenKind::Words);
        let scratch = &mut *self.scratch;
        let fingerprints = &mut scratch.fingerprints;
        fingerprints.clear();
        let windows = scratch.held.tokens().windows(size);
        fingerprints.extend(windows.map(fingerprint));
        fingerprints
    }
}

impl Held {
    fn tokens(&self) -> Tokens<'_> {
        let bytes = self.bytes.strip_suffix(b" ").unwrap_or(&self.bytes);
        Tokens {
            bytes,
            starts: &self.starts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut scratch = Scratch::new(&ParseConfig::default());
        // Fill the buffers with another document first.
        Document::new("something else", &mut scratch).words();
        let mut document = Document::new(text, &mut scratch);
        let tokens = document.words();
        let found: Vec<String> = tokens
            .windows(1)
            .map(|word| String::from_utf8(word.to_vec()).unwrap())
            .collect();
        assert_eq!(tokens.len(), found.len());
        found
    }

    #[test]
    fn tokens_are_whole() {
        assert_eq!(words(""), [""; 0]);
        assert_eq!(words("One"), ["one"]);
        assert_eq!(words("One, two\nthree."), ["one", "two", "three"]);
        // Longer than one portion of the parser.
        let long: Vec<String> = (0..200_000).map(|i| format!("w{i}")).collect();
        assert_eq!(words(&long.join(" ")), long);
    }

    #[test]
    fn the_shingles_of_ye_section_3_1() {
        let mut scratch = Scratch::new(&ParseConfig::default());
        let text = "The ones we don't know we don't know";
        let mut document = Document::new(text, &mut scratch);
        let mut found = document.shingles(3).clone();
        let expected = [
            "the ones we",
            "ones we don't",
            "we don't know",
            "don't know we",
            "know we don't",
            "we don't know",
        ];
        let expected: Vec<u64> = expected.iter().map(|s| fingerprint(s.as_bytes())).collect();
        assert_eq!(found, expected);
        // "we don't know" occurs twice and is one shingle.
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 5);
    }
}
