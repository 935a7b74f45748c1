//! Stage 2 of 9: raw documents to canonical text and tokens.
//!
//! # Source
//! Tokens as in Ye, Wen & Ma 2008, section 2.1 (`whitespace`) and Cherkasova et al. 2009
//! (`bytes:N`); charsets after the WHATWG Encoding standard; markup after the HTML standard,
//! section 13.2.5.
//!
//! # In and out
//! In: a [`RawDocument`]. Out: its tokens, passed to a [`TokenConsumer`] as stretches of the
//! canonical document (the tokens joined by one space), and facts about the document
//! ([`ParseFacts`]).
//!
//! # Algorithm
//! 1. Decide the charset (`charset.rs`). Valid UTF-8 is used in place; everything else is decoded
//!    in pieces.
//! 2. A streaming tokenizer reads markup and passes on text and word breaks (`markup.rs`).
//! 3. Text becomes canonical text, 64 bytes at a time where it is ASCII (`masks.rs`, `tokens.rs`);
//!    other characters have a class (`class.rs`), which says where tokens begin and end (`cut.rs`).
//!    The same pass can also keep the text itself, with its white space folded (`text.rs`).
//!
//! # Tokens
//! Four steps lead from the decoded text to tokens, in this order:
//! 1. Default-ignorable code points (soft hyphen, zero-width space and joiners, word joiner,
//!    U+FEFF, bidirectional controls, variation selectors) are dropped. They neither separate nor
//!    distinguish tokens.
//! 2. With [`Fold::compat`], a character is replaced by its compatibility decomposition, unless
//!    that is more than one token. With [`Fold::diacritics`] and [`Fold::digits`], characters of
//!    decompositions are dropped or become ASCII digits (`fold.rs`).
//!    [`Fold::arabic`] replaces Arabic letters.
//! 3. The text is cut, and the characters of words are lower-cased. A final sigma becomes a sigma.
//! 4. Tokens are put into Normalization Form C. Lower-casing each character keeps canonical
//!    equivalence, so canonically equivalent texts have the same tokens, and a text has the same
//!    tokens as its NFC. Marks of more than 30 in a row are composed 30 at a time.
//!
//! These are tokens:
//! - `words`: a maximal run of alphanumeric characters ([`char::is_alphanumeric`]) and their
//!   combining marks (general category M), each character lower-cased by itself. An apostrophe
//!   (`'`, or U+2019, which becomes `'`) between two alphanumeric characters belongs to the word;
//!   the character before it may carry marks. Each character of the scripts Han, Hiragana and
//!   Katakana is a token of its own, with its marks. Letters of the line-break class SA (Thai, Lao,
//!   Khmer, Myanmar, Tai Le, New Tai Lue, Tai Tham, Tai Viet, Ahom), which have no spaces between
//!   words, begin a token each, which ends with their extended grapheme cluster (UAX #29); emoji
//!   modifiers end it before, and a mark of another script counts as an extending mark. Every other
//!   character separates words, including a mark that follows neither kind of token. (Vowel signs
//!   that are letters and cannot be reordered begin a word there.)
//!
//!   A word and the white space after it, in which a line ends, are followed by the rest of the word
//!   if a soft hyphen ends the word, and a letter or digit follows; or with [`Fold::hyphens`], if
//!   another hyphen ends it, and a letter that is not a capital follows.
//! - `whitespace`: a maximal run of characters that are not [`char::is_whitespace`].
//! - `code`: names, numbers, operators and the words of literals and comments, with their case
//!   (`code.rs`).
//! - `bytes:N`: the decoded text with its white space folded; no other step applies. Stage 3 slides
//!   windows of N bytes over it.
//!
//! A change of these rules gets a new number ([`TOKEN_RULE`]), which the manifest stores.
//!
//! A token may begin in one piece of text and end in another: `foo<b>bar</b>` is one word.
//!
//! # Invariants
//! - Parsing never fails: any sequence of bytes is a document.
//! - The tokens depend only on the document, not on how it was cut into pieces or portions.
//! - [`Parser::text`] returns a text that, parsed as plain UTF-8, gives the same tokens as the
//!   document, for every token kind.
//!
//! # Cost
//! One pass. The portions that a consumer takes bound the memory, not the document, unless the
//! document consists of a few giant tokens. The buffers take about 8 MiB, plus at most six times
//! the body for the longest stretch that a consumer may keep. (A byte of a legacy charset becomes
//! up to three, buffers grow by a quarter at a time, and the tokenizer holds an unterminated end
//! tag once.) After the first few documents, parsing allocates only for a document's title, its
//! notices, and a few bytes per entity in the markup tokenizer.

mod charset;
mod class;
mod code;
mod config;
mod cut;
mod doubt;
mod fold;
mod known;
mod markup;
mod masks;
mod spans;
mod text;
mod tokens;

use std::fmt;
use std::io::{self, Read};

use html5gum::{IoReader, Reader, Tokenizer};
use xxhash_rust::xxh3::Xxh3Default;

use crate::read::{Notice, RawDocument, Reason, internal_subset};

use charset::{Charset, Decoding};
use lookalike_base::Carry;
use markup::{Scan, TextEmitter, Unread, What, Words};
use text::Text;
use tokens::Canonical;

pub use config::{
    Code, Comments, Fold, Language, OLDEST_TOKEN_RULE, ParseConfig, TOKEN_RULE, TokenKind,
    other_rule,
};
pub use spans::{
    SpanFinder, canonical_token, each_token, each_token_or_name, push_canonical, token_spans,
};
pub use tokens::{TokenConsumer, Tokens};

/// Maximum number of characters kept of a title.
pub const TITLE_CHARS: usize = 200;

/// The tags without an end that are read as text with markup behind them. After them, the rest is
/// text without markup, so that the time stays linear.
const MOST_UNREAD: usize = 8;

/// Bytes of a tag without an end that are looked at.
const LOOK_UNREAD: u64 = 4 << 10;

/// Bytes of a tag without attributes that the end of a document may have cut.
const CUT_TAG: usize = 24;

/// Bytes of a decoded text in which its document type ends.
const LOOK_SUBSET: u64 = 16 << 10;

/// Bytes of text decoded at a time.
const DECODE_BYTES: usize = 16 << 10;

/// Facts about a document that parsing yields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseFacts {
    /// Number of tokens; for `bytes:N`, of words separated by white space.
    pub words: u64,
    /// The first title outside SVG, or the title that the source gives, with white space folded, at
    /// most [`TITLE_CHARS`] characters.
    pub title: Option<String>,
    /// The source charset, by its name in the Encoding standard.
    pub charset: &'static str,
    /// The xxh3 hash of the text as read: decoded to UTF-8, without a byte order mark at its start
    /// and without markup. A tag that separates words counts as a line feed. If bytes were replaced by
    /// U+FFFD, a hash of these bytes follows the text.
    pub text: u64,
    /// Problems with the charset. The caller fills in source and docno.
    pub notices: Vec<Notice>,
}

/// Receives the text of a document in pieces, which may end anywhere, and the word breaks that no
/// character marks.
trait Sink {
    /// A piece of text, in UTF-8.
    fn text(&mut self, piece: &[u8]);
    /// Separates the text that follows from the text before.
    fn word_break(&mut self);
}

/// Converts text to tokens, and hashes it.
struct ToTokens<'a> {
    hash: &'a mut Xxh3Default,
    canonical: &'a mut Canonical,
    consumer: &'a mut dyn TokenConsumer,
}

impl Sink for ToTokens<'_> {
    #[inline]
    fn text(&mut self, piece: &[u8]) {
        self.hash.update(piece);
        self.canonical.push(piece, self.consumer);
    }

    #[inline]
    fn word_break(&mut self) {
        self.hash.update(b"\n");
        self.canonical.word_break();
    }
}

/// Keeps text with its white space folded.
struct ToText<'a> {
    text: &'a mut Text,
    take: &'a mut dyn FnMut(&[u8]),
}

impl Sink for ToText<'_> {
    #[inline]
    fn text(&mut self, piece: &[u8]) {
        self.text.push(piece, self.take);
    }

    #[inline]
    fn word_break(&mut self) {
        self.text.word_break(self.take);
    }
}

/// Passes on the text as read.
struct AsRead<'a> {
    carry: Carry,
    take: &'a mut dyn FnMut(&str),
}

impl AsRead<'_> {
    fn end(&mut self) {
        if let Some(c) = self.carry.end() {
            (self.take)(c.encode_utf8(&mut [0; 4]));
        }
    }
}

impl Sink for AsRead<'_> {
    fn text(&mut self, piece: &[u8]) {
        self.carry.push(piece, &mut *self.take);
    }

    fn word_break(&mut self) {
        self.end();
        (self.take)("\n");
    }
}

/// Sends one text to two sinks.
struct Both<A, B>(A, B);

impl<A: Sink, B: Sink> Sink for Both<A, B> {
    #[inline]
    fn text(&mut self, piece: &[u8]) {
        self.0.text(piece);
        self.1.text(piece);
    }

    #[inline]
    fn word_break(&mut self) {
        self.0.word_break();
        self.1.word_break();
    }
}

/// A sink for which the compiler makes no copy of the markup parser of its own. Such a copy takes
/// 150 KB, and saves a tenth of the time; only frequent ways are worth one.
struct Any<'a>(&'a mut dyn Sink);

impl Sink for Any<'_> {
    fn text(&mut self, piece: &[u8]) {
        self.0.text(piece);
    }

    fn word_break(&mut self) {
        self.0.word_break();
    }
}

/// Extracts the text of a document, with reusable buffers.
#[derive(Debug)]
struct Source {
    detector: bool,
    scan: Scan,
    decoded: Vec<u8>,
    /// A hash of what U+FFFD replaces in the document; 0 for nothing.
    replaced: u64,
}

impl Source {
    /// Sends a document's text to `sink`; returns its charset and any problems with it.
    fn send<S: Sink>(
        &mut self,
        document: &RawDocument<'_>,
        sink: &mut S,
    ) -> (&'static str, Vec<Notice>) {
        let mut notices = Vec::new();
        let charset = charset::decide(document, self.detector, &mut notices);
        self.replaced = document.replaced;
        let mut begin = charset.start;
        let mut invalid = None;
        let begins = document.begins.iter().copied();
        for (number, end) in begins.chain([document.body.len()]).enumerate() {
            let value = document.body.get(begin..end).unwrap_or_default();
            self.scan.begin(document.content, charset.xml, number == 0);
            let found = match document.content.is_markup() {
                true => self.markup((value, begin), &charset, sink),
                false => self.plain((value, begin), &charset, sink),
            };
            invalid = invalid.or(found);
            begin = end.max(begin);
        }
        notices.extend(invalid);
        if let Some(left) = self.scan.left.take() {
            notices.push((Reason::OpenMarkup, left.to_string()));
        }
        (charset.coding.name(), notices)
    }

    /// Sends plain text, which begins at this place of the body; returns a problem with its charset.
    fn plain<S: Sink>(
        &mut self,
        (text, at): (&[u8], usize),
        charset: &Charset,
        sink: &mut S,
    ) -> Option<Notice> {
        if charset.as_is {
            sink.text(text);
            return None;
        }
        self.decoded.resize(DECODE_BYTES, 0);
        let mut decoding = Decoding::of(charset.coding, text, at);
        loop {
            match decoding.next_piece(&mut self.decoded) {
                0 => return decoding.notice(charset, &mut self.replaced),
                length => sink.text(&self.decoded[..length]),
            }
        }
    }

    /// Sends the text of markup, as [`Source::plain`] does.
    fn markup<S: Sink>(
        &mut self,
        (text, at): (&[u8], usize),
        charset: &Charset,
        sink: &mut S,
    ) -> Option<Notice> {
        let decoding = || Decoding::of(charset.coding, text, at);
        let again = || -> Box<dyn Read + '_> {
            match charset.as_is {
                true => Box::new(text),
                // The decoder writes nothing into less room than a character may take.
                false => Box::new(io::BufReader::new(decoding())),
            }
        };
        let mut head = Vec::new();
        self.scan.subset = match charset.as_is {
            true => internal_subset(text),
            false => {
                let _ = again().take(LOOK_SUBSET).read_to_end(&mut head);
                internal_subset(&head)
            }
        };
        // HTML declares nothing.
        self.scan.xml |= self.scan.subset > 0;
        let mut invalid = None;
        if charset.as_is {
            self.tokens(text, text, &mut *sink);
        } else {
            let mut decoded = std::mem::take(&mut self.decoded);
            decoded.resize(DECODE_BYTES, 0);
            let mut decoding = decoding();
            let reading: &mut dyn Read = &mut decoding;
            let reader = IoReader::new_with_buffer(reading, &mut decoded);
            self.tokens(reader, &[], &mut Any(sink));
            invalid = decoding.notice(charset, &mut self.replaced);
            self.decoded = decoded;
        }
        self.unread(text, &again, &mut Any(sink));
        invalid
    }

    fn tokens<'t, T, S: Sink>(&mut self, read: T, text: &[u8], sink: &mut S)
    where
        T: html5gum::Readable<'t>,
    {
        let scan = &mut self.scan;
        // Neither reader can fail: one is a slice, the other a decoder over a slice.
        let _: Result<(), <T::Reader as Reader>::Error> =
            Tokenizer::new_with_emitter(read, TextEmitter { sink, scan, text }).finish();
    }

    /// Reads what begins like a tag and does not end as text, and notes a comment that does not
    /// end. `again` gives the decoded text from its beginning.
    fn unread<'t>(
        &mut self,
        text: &[u8],
        again: &dyn Fn() -> Box<dyn Read + 't>,
        sink: &mut Any<'_>,
    ) {
        let from = |at: usize| {
            let mut rest = again();
            // Only bytes that were read before without a failure are read again.
            let _ = io::copy(&mut rest.by_ref().take(at as u64), &mut io::sink());
            rest
        };
        for attempt in 0..=MOST_UNREAD {
            match self.scan.unread.take() {
                Some(Unread::Tag(at)) => {
                    let (mut rest, mut head) = (from(at), Vec::<u8>::new());
                    let _ = rest.by_ref().take(LOOK_UNREAD).read_to_end(&mut head);
                    if attempt == 0 && !is_text(&head) {
                        return;
                    }
                    // The text that follows is markup like any other.
                    sink.text(b"<");
                    self.scan.position = at + 1;
                    let mut rest = head.get(1..).unwrap_or_default().chain(rest);
                    let mut buffer = vec![0; DECODE_BYTES];
                    if attempt < MOST_UNREAD {
                        let reading: &mut dyn Read = &mut rest;
                        self.tokens(IoReader::new_with_buffer(reading, &mut buffer), &[], sink);
                        continue;
                    }
                    while let Ok(length @ 1..) = rest.read(&mut buffer) {
                        sink.text(&buffer[..length]);
                    }
                }
                Some(Unread::Comment(at)) => {
                    let mut begin = [0; 4];
                    let tail = text[text.len().saturating_sub(16)..].iter();
                    let tail: Vec<u8> = tail.copied().filter(|byte| *byte != 0).collect();
                    let closed = tail.ends_with(b"-->") || tail.ends_with(b"--!>");
                    let mut rest = from(at);
                    if !closed && rest.read_exact(&mut begin).is_ok() && begin == *b"<!--" {
                        let (mut words, mut piece) = (Words::default(), vec![0; DECODE_BYTES]);
                        while let Ok(length @ 1..) = rest.read(&mut piece) {
                            words.push(&piece[..length]);
                        }
                        if words.any() {
                            self.scan.leave(What::Open("<!--".into()), at, true);
                        }
                    }
                }
                None => {}
            }
            return;
        }
    }
}

/// Whether a tag without an end is text: it has a bracket, or no attributes. A shorter tag may be
/// the rest of a tag that the end of a document cuts, so it is not text without a bracket.
fn is_text(tag: &[u8]) -> bool {
    let equals = memchr::memchr(b'=', tag).is_some();
    let bracket = memchr::memrchr2(b'<', b'>', tag) > Some(0);
    bracket || tag.len() > CUT_TAG && !equals
}

/// Parses one document after the other, reusing the same buffers.
pub struct Parser {
    source: Source,
    hash: Box<Xxh3Default>,
    canonical: Canonical,
    /// If the names of documents decide what their tokens are.
    by_name: Option<ByName>,
    text: Text,
}

/// Tokens that depend on the names of documents.
struct ByName {
    config: ParseConfig,
    /// Those of `canonical`.
    now: TokenKind,
    /// Another kind, whose buffers are kept.
    other: Option<(TokenKind, Canonical)>,
}

impl fmt::Debug for Parser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parser").finish_non_exhaustive()
    }
}

impl Parser {
    /// A parser with empty buffers.
    pub fn new(config: &ParseConfig) -> Self {
        Parser {
            source: Source {
                detector: config.detector,
                scan: Scan::default(),
                decoded: Vec::new(),
                replaced: 0,
            },
            hash: Box::default(),
            canonical: Canonical::new(&config.of("")),
            by_name: config.tokens.is_by_name().then(|| ByName {
                config: config.clone(),
                now: config.tokens.of(""),
                other: None,
            }),
            text: Text::default(),
        }
    }

    /// Parses a document and passes its tokens to `consumer`.
    pub fn parse(
        &mut self,
        document: &RawDocument<'_>,
        consumer: &mut dyn TokenConsumer,
    ) -> ParseFacts {
        self.begin(&document.docno);
        self.hash.reset();
        let mut sink = ToTokens {
            hash: &mut self.hash,
            canonical: &mut self.canonical,
            consumer,
        };
        let (charset, notices) = self.source.send(document, &mut sink);
        self.facts(document, charset, notices, consumer)
    }

    /// Prepares for the tokens of a document with this name.
    fn begin(&mut self, name: &str) {
        let Some(by_name) = &mut self.by_name else {
            return;
        };
        let kind = by_name.config.tokens.of(name);
        if kind == by_name.now {
            return;
        }
        let canonical = match by_name.other.take() {
            Some((other, canonical)) if other == kind => canonical,
            _ => Canonical::new(&by_name.config.of(name)),
        };
        let before = std::mem::replace(&mut self.canonical, canonical);
        by_name.other = Some((std::mem::replace(&mut by_name.now, kind), before));
    }

    /// Passes the tokens of plain UTF-8 text of a document with this name to `consumer`.
    pub fn plain(&mut self, name: &str, text: &[u8], consumer: &mut dyn TokenConsumer) {
        self.begin(name);
        self.canonical.push(text, consumer);
        self.canonical.finish(consumer);
    }

    /// Like [`Parser::parse`], and also appends the document's text, as [`Parser::text`] defines
    /// it, to `out`.
    pub fn parse_keeping(
        &mut self,
        document: &RawDocument<'_>,
        consumer: &mut dyn TokenConsumer,
        out: &mut Vec<u8>,
    ) -> ParseFacts {
        self.begin(&document.docno);
        let text = &mut self.text;
        let mut take = |piece: &[u8]| out.extend_from_slice(piece);
        self.hash.reset();
        let tokens = ToTokens {
            hash: &mut self.hash,
            canonical: &mut self.canonical,
            consumer,
        };
        let kept = ToText {
            text,
            take: &mut take,
        };
        let (charset, notices) = self
            .source
            .send(document, &mut Any(&mut Both(tokens, kept)));
        self.text.finish(&mut take);
        self.facts(document, charset, notices, consumer)
    }

    /// Appends to `out` the text of a document: decoded, without markup, not yet cut into tokens.
    ///
    /// A maximal run of white space ([`char::is_whitespace`]) becomes one line feed if it contains
    /// a line feed, carriage return, U+2028, U+2029 or a tag that separates words; otherwise it
    /// becomes one space. White space at the beginning and the end is dropped. The text is valid
    /// UTF-8. Parsed again as plain text, it gives the same tokens. Therefore a text that begins
    /// with U+FEFF gets one more in front, which the second parse takes for a byte order mark.
    pub fn text(&mut self, document: &RawDocument<'_>, out: &mut Vec<u8>) {
        self.text_in_pieces(document, &mut |piece| out.extend_from_slice(piece));
    }

    /// Appends to `out` the text of a document as read: decoded to UTF-8, without a byte order mark
    /// at its start and without markup. A tag that separates words becomes a line feed. White space
    /// is kept. A byte that belongs to no character becomes U+FFFD. Positions in documents are
    /// offsets in this text; for a plain text in UTF-8 without a byte order mark they are offsets
    /// in the text itself.
    pub fn text_as_read(&mut self, document: &RawDocument<'_>, out: &mut String) {
        self.as_read_in_pieces(document, &mut |piece| out.push_str(piece));
    }

    /// Like [`Parser::text_as_read`], in pieces.
    pub fn as_read_in_pieces(&mut self, document: &RawDocument<'_>, take: &mut dyn FnMut(&str)) {
        let carry = Carry::default();
        let mut sink = AsRead { carry, take };
        self.source.send(document, &mut Any(&mut sink));
        sink.end();
    }

    /// Like [`Parser::text`], in pieces of about 64 KiB, which may end inside a character.
    pub fn text_in_pieces(&mut self, document: &RawDocument<'_>, take: &mut dyn FnMut(&[u8])) {
        let text = &mut self.text;
        self.source
            .send(document, &mut Any(&mut ToText { text, take }));
        self.text.finish(take);
    }

    /// Finishes a document and returns its facts.
    fn facts(
        &mut self,
        document: &RawDocument<'_>,
        charset: &'static str,
        notices: Vec<Notice>,
        consumer: &mut dyn TokenConsumer,
    ) -> ParseFacts {
        let words = self.canonical.finish(consumer);
        if self.source.replaced != 0 {
            self.hash.update(&self.source.replaced.to_le_bytes());
        }
        let title = fold_title(&String::from_utf8_lossy(&self.source.scan.title))
            .or_else(|| fold_title(document.title.as_deref().unwrap_or_default()));
        ParseFacts {
            words,
            title,
            charset,
            text: self.hash.digest(),
            notices,
        }
    }

    /// Releases memory that only an oversized document needs.
    pub fn shrink(&mut self) {
        self.canonical.shrink();
        if let Some(by_name) = &mut self.by_name {
            by_name.other = None;
        }
    }
}

/// Folds and trims white space and keeps at most [`TITLE_CHARS`] characters; `None` if nothing is
/// left.
fn fold_title(title: &str) -> Option<String> {
    let mut folded = String::new();
    for word in title.split_whitespace() {
        folded.push_str(word);
        folded.push(' ');
        if folded.len() > 4 * TITLE_CHARS {
            break;
        }
    }
    let end = folded.char_indices().nth(TITLE_CHARS);
    let folded = folded[..end.map_or(folded.len(), |(end, _)| end)].trim_end();
    (!folded.is_empty()).then(|| folded.into())
}
