//! Converts markup to text, with html5gum's tokenizer and an emitter that keeps only text.
//!
//! # Source
//! Tokenization as in the HTML standard, section 13.2.5, which html5gum implements. No tree is
//! built; the tag name alone selects the state to which a tree builder would switch.
//!
//! # What is text
//! - Character data is text, with entities decoded. `<title>` and `<textarea>` contain text and
//!   entities but no tags; `<xmp>` and `<plaintext>` contain only text.
//! - Not text: tags and their attributes, comments, the doctype, processing instructions, and the
//!   content of `<script>` and `<style>`. A NUL is dropped, as browsers do in a body.
//! - `<noscript>`, `<noframes>`, `<iframe>` and `<noembed>` are parsed as ordinary markup: old
//!   pages have their text there.
//! - CDATA sections are text in XML, SVG and MathML, and comments elsewhere, as in the standard.
//!
//! # What separates words
//! Every tag separates words, except the tags of [`is_inline`]: the phrasing content of the
//! standard that continues a line, and the old font tags. Form controls, table cells, `<br>` and
//! unknown elements separate. Comments do not. Two attributes decide otherwise: the words and lines
//! of hOCR (`<span class="ocrx_word">`) separate, and in XML an element with `break="no"` does not
//! (TEI P5, att.breaking: a line that ends inside of a word).
//!
//! # HTML and XML
//! In XML, SVG and MathML, `<x/>` closes itself; in HTML, `<script/>` opens a script, as in browsers.
//! A body is XML if it begins with an XML declaration or has a document type of XHTML, if its first
//! element has an `xmlns`, or if the reader knows it ([`ContentKind::Xml`]). The elements named above
//! are special in HTML only: in XML that is neither XHTML nor SVG, a `<script>` may be the script of
//! a play, so its text counts. ALTO has its words in attributes: `<String CONTENT="word"/>`, whatever
//! the prefix of its names.
//!
//! # Where we depart from the standard
//! A tag such as `<p>`, which SVG and MathML do not have, ends them if they were not closed
//! (13.2.6.5). A tag that does not end before the document does is text ([`Unread::Tag`]). The
//! declarations in the internal subset of a document type are not text, although the standard ends
//! the declaration at its first `>`. In XML that is not HTML and needs no decoding, an instruction
//! ends with `?>` and a comment with `-->` alone (XML 1.0, 2.5 and 2.6).

use std::convert::Infallible;
use std::fmt;

use html5gum::{Emitter, Error, State};
use memchr::{memchr, memchr2, memmem};

use super::Sink;
use crate::read::{Aside, ContentKind, MOST_WORDS, is_word, local, perhaps_no_tag};
use lookalike_base::words;

/// Number of bytes by which tag names are distinguished; the longest relevant name has fourteen, or
/// six behind a prefix.
const NAME_BYTES: usize = 32;

/// Bytes kept of a title before folding: [`super::TITLE_CHARS`] characters of four bytes, and the
/// same again for white space to be folded.
const TITLE_BYTES: usize = 2 * 4 * super::TITLE_CHARS;

/// Attributes without a value that a tag with another `<` may have: with more, it is a sentence behind
/// a `<`.
const MOST_WITH_BRACKET: usize = 1;

/// Attributes of HTML without a value.
const FLAGS: [&str; 27] = words(
    "allowfullscreen async autofocus autoplay checked compact controls declare default defer \
     disabled formnovalidate hidden inert ismap itemscope loop multiple muted nomodule noresize \
     noshade novalidate nowrap readonly required selected",
);

/// The namespaces of HTML.
const HTML: [&[u8]; 2] = [
    b"http://www.w3.org/1999/xhtml",
    b"http://www.w3.org/TR/REC-html40",
];

/// Whether an element does not separate words.
fn is_inline(name: &[u8]) -> bool {
    matches!(
        name,
        b"a" | b"abbr"
            | b"acronym"
            | b"b"
            | b"bdi"
            | b"bdo"
            | b"big"
            | b"cite"
            | b"code"
            | b"data"
            | b"del"
            | b"dfn"
            | b"em"
            | b"font"
            | b"i"
            | b"img"
            | b"ins"
            | b"kbd"
            | b"label"
            | b"mark"
            | b"nobr"
            | b"output"
            | b"q"
            | b"rp"
            | b"rt"
            | b"ruby"
            | b"s"
            | b"samp"
            | b"small"
            | b"span"
            | b"strike"
            | b"strong"
            | b"sub"
            | b"sup"
            | b"time"
            | b"tt"
            | b"u"
            | b"var"
            | b"wbr"
    )
}

/// Tags that end SVG and MathML that are still open. `<font>` does only with some attributes.
const ENDS_FOREIGN: [&str; 44] = words(
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img \
     li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var",
);

/// Elements of SVG or MathML that contain HTML.
const HOLDS_HTML: [&str; 9] = words("foreignobject desc title annotation-xml mi mo mn ms mtext");

/// The declarations of a document type.
const DECLARES: [&str; 4] = words("ELEMENT ATTLIST ENTITY NOTATION");

/// The first bytes that the tokenizer reports of a CDATA section that is a comment.
const SECTION: &[u8] = b"[CDATA[";

/// Whether the name is one of these.
fn is_in(name: &[u8], names: &[&str]) -> bool {
    names.iter().any(|known| known.as_bytes() == name)
}

/// The first [`NAME_BYTES`] of a name or a value.
#[derive(Clone, Copy, Debug, Default)]
struct Name {
    bytes: [u8; NAME_BYTES],
    /// Bytes of all of it.
    len: usize,
}

impl Name {
    #[inline]
    fn push(&mut self, s: &[u8]) {
        let room = &mut self.bytes[self.len.min(NAME_BYTES)..];
        let n = s.len().min(room.len());
        room[..n].copy_from_slice(&s[..n]);
        self.len += s.len();
    }

    /// All of it. A longer name is irrelevant and reads as empty.
    #[inline]
    fn get(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    fn begin(&self) -> &[u8] {
        &self.bytes[..self.len.min(NAME_BYTES)]
    }

    /// Whether one of these classes marks a word, a line or another text of hOCR.
    fn is_ocr(&self) -> bool {
        let mut classes = self.begin().split(u8::is_ascii_whitespace);
        classes.any(|class| {
            let kind = class
                .strip_prefix(b"ocr")
                .map(|kind| kind.strip_prefix(b"x").unwrap_or(kind));
            matches!(
                kind,
                Some([b'_', b'w' | b'l', ..] | b"_header" | b"_caption" | b"_textfloat")
            )
        })
    }
}

/// The state of the first title.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Title {
    #[default]
    Awaited,
    Open,
    Done,
}

/// A tag or a comment that may not have ended, and where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    Tag(usize),
    Comment(usize),
}

/// Text that was left out because of markup that is not closed.
#[derive(Debug)]
pub(super) struct Left {
    what: What,
    at: usize,
    bytes: usize,
    to_the_end: bool,
    more: usize,
}

/// The markup that hides a text.
#[derive(Debug)]
pub(super) enum What {
    Open(String),
    Sentence(String),
    Cdata,
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, bytes) = (self.at, self.bytes);
        match (&self.what, self.to_the_end) {
            (What::Open(what), true) => write!(
                f,
                "{what} is not closed: the text from byte {at} to the end, {bytes} bytes, was left \
                 out"
            )?,
            (What::Open(what), false) => write!(
                f,
                "{what} is not closed where it seems to be: from byte {at} on, {bytes} bytes were \
                 left out"
            )?,
            (What::Sentence(name), _) => f.write_str(&perhaps_no_tag(name, at, bytes))?,
            (What::Cdata, _) => write!(
                f,
                "<![CDATA[ is a comment in HTML: from byte {at} on, {bytes} bytes were left out"
            )?,
        }
        let more = match self.more {
            0 => String::new(),
            more => format!(", and {more} such places more"),
        };
        let remedy = match self.what {
            What::Open(_) => "close it",
            What::Sentence(_) => "write &lt; for <",
            What::Cdata => "remove the marks around it",
        };
        write!(f, "{more}; {remedy} if this is text")
    }
}

/// The facts about the attributes of a tag.
#[derive(Clone, Copy, Debug, Default)]
struct Bare {
    /// Those without a value, and those with one.
    count: usize,
    others: usize,
    /// Bytes that are not ASCII in their names: scripts without spaces have long ones.
    wide: usize,
    /// Whether the current one has none so far.
    open: bool,
    /// Whether a `<` is in a name.
    bracket: bool,
}

/// The state of a document at a place in its markup.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The bytes of the first title, with ASCII white space folded.
    pub title: Vec<u8>,
    title_state: Title,
    /// Where the tokenizer is in the text.
    pub position: usize,
    /// The markup that begins at the end of the bytes read so far.
    pub unread: Option<Unread>,
    pub left: Option<Left>,
    /// Bytes of the values before.
    before: usize,
    /// Whether a tag was read.
    begun: bool,
    declared: bool,
    pub xml: bool,
    /// Whether the first element is `<html>`.
    page: bool,
    /// Whether the elements of HTML have their meaning.
    html: bool,
    /// In XML that is not HTML: the element around HTML, and how many of its name are open.
    inside: Option<(Name, usize)>,
    /// Number of open `<svg>` and `<math>` elements.
    foreign_depth: usize,
    /// Number of open elements in them that contain HTML.
    html_depth: usize,
    /// Whether the tokenizer is inside `<script>` or `<style>`.
    dropping: bool,
    /// Where the dropped text begins, and whether its tag is written as a tag that closes itself.
    dropped: (usize, bool),
    /// Whether there are words in the dropped text.
    words: Words,
    /// Where a comment begins, if it is a section of XML.
    section: Option<usize>,
    /// Where the last `<` is; and the last byte of what it begins, and whether its name has ended, if
    /// that is a comment only because it cannot be a tag: `<?`, `<! `, `</ `.
    bracket: usize,
    bogus: Option<(u8, bool)>,
    /// Where the internal subset of the document type ends, or a comment or an instruction of XML.
    pub subset: usize,
    /// The attributes of the current tag.
    bare: Bare,
    name: Name,
    end_tag: bool,
    self_closing: bool,
    /// The current attribute.
    attribute: Name,
    /// Where its value begins, and whether the value has tags.
    value: (usize, bool),
    /// The attributes `class`, `break` and `xmlns` of the current tag.
    class: Name,
    breaks: Name,
    namespace: Option<Name>,
    /// Those of a word of ALTO: `CONTENT`, `SUBS_TYPE` and `SUBS_CONTENT`.
    content: Vec<u8>,
    part: Name,
    whole: Vec<u8>,
    /// The word of ALTO whose first part was taken for all of it, and whose second is to come.
    divided: Vec<u8>,
    /// The document type's public identifier.
    public: Name,
    /// The element whose end tag ends the current raw-text state.
    raw_name: Name,
}

impl Scan {
    /// At the beginning of a document, or of another value of the same document. Another value
    /// keeps the title and the notes about the text left out.
    pub fn begin(&mut self, content: ContentKind, xml: bool, first: bool) {
        let mut before = std::mem::take(self);
        if first {
            before.title.clear();
            (before.title_state, before.left) = (Title::Awaited, None);
            (before.before, before.position) = (0, 0);
        }
        let declared = content == ContentKind::Xml;
        *self = Scan {
            title: before.title,
            title_state: match before.title_state {
                Title::Awaited => Title::Awaited,
                _ => Title::Done,
            },
            left: before.left,
            before: before.before + before.position,
            declared,
            xml: xml || declared,
            html: !declared,
            ..Scan::default()
        };
    }

    /// Notes the text left out.
    pub fn leave(&mut self, what: What, at: usize, to_the_end: bool) {
        let bytes = self.position.saturating_sub(at);
        match &mut self.left {
            Some(left) => left.more += 1,
            None => {
                self.left = Some(Left {
                    what,
                    at: self.before + at,
                    bytes,
                    to_the_end,
                    more: 0,
                });
            }
        }
    }

    /// Notes the text dropped from a script or style that is closed only now.
    fn leave_dropped(&mut self, to_the_end: bool) {
        let (at, closes) = self.dropped;
        if std::mem::take(&mut self.dropping) && (closes || to_the_end) && self.words.any() {
            let name = String::from_utf8_lossy(self.raw_name.get());
            let slash = if closes { "/" } else { "" };
            self.leave(What::Open(format!("<{name}{slash}>")), at, to_the_end);
        }
    }

    /// At a tag of which these bytes have been read.
    #[inline]
    fn begin_tag(&mut self, ends: bool, read: usize) {
        self.unread = Some(Unread::Tag(self.position.saturating_sub(read)));
        self.name.len = 0;
        self.end_tag = ends;
        self.self_closing = false;
        self.bare = Bare::default();
        self.value.1 = false;
    }

    /// Notes a tag that seems to be a sentence behind a `<`.
    fn leave_sentence(&mut self) {
        self.count_bare();
        let bare = std::mem::take(&mut self.bare);
        if bare.count == 0 && bare.wide == 0 {
            return;
        }
        let bracket = bare.bracket || memchr(b'<', self.name.get()).is_some();
        let most = match bracket {
            true => MOST_WITH_BRACKET,
            false => MOST_WORDS * (1 + bare.others),
        };
        let words = bare.count + bare.wide / 6;
        if bare.count > 0 && self.value.1 {
            // The quote before ended no value but began one.
            self.leave(What::Open("a value in quotes".into()), self.value.0, false);
        } else if words > most
            && let Some(Unread::Tag(at) | Unread::Comment(at)) = self.unread
        {
            let slash = if self.end_tag { "/" } else { "" };
            let name = String::from_utf8_lossy(self.name.get());
            self.leave(What::Sentence(format!("{slash}{name}")), at, false);
        }
    }

    /// Counts the attribute that ends, if it has no value.
    fn count_bare(&mut self) {
        if std::mem::take(&mut self.bare.open) {
            // Style sheets are not sentences, nor are the names of some frameworks.
            let name = self.attribute.get();
            let prose = is_word(name) && !is_in(name, &FLAGS);
            self.bare.count += usize::from(prose);
        }
    }

    /// Decides by the first tag what kind of markup the document is.
    fn root(&mut self, name: &[u8]) {
        self.begun = true;
        let namespace = self.namespace.filter(|_| !matches!(name, b"svg" | b"math"));
        self.xml = self.xml
            || namespace.is_some()
            || memmem::find(self.public.begin(), b"DTD XHTML").is_some();
        self.page = name == b"html";
        self.html = self.page
            || match namespace {
                Some(namespace) => is_html(namespace.begin()),
                None => !self.declared,
            };
    }

    /// Follows HTML in XML that is not HTML.
    fn follow(&mut self) {
        match &mut self.inside {
            Some((name, depth)) if name.get() == self.name.get() => match self.end_tag {
                true if *depth == 1 => self.inside = None,
                true => *depth -= 1,
                false => *depth += usize::from(!self.self_closing),
            },
            Some(_) => {}
            None => {
                let is_html = |name: Name| is_html(name.begin());
                let begins = self.name.get() == b"html" || self.namespace.is_some_and(is_html);
                if begins && !self.end_tag && !self.self_closing {
                    self.inside = Some((self.name, 1));
                }
            }
        }
    }
}

/// Looks for words outside of tags, in a text that comes in pieces.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Words {
    found: bool,
    /// In a tag, and whether it has words.
    tag: Option<bool>,
}

impl Words {
    pub fn push(&mut self, piece: &[u8]) {
        let mut rest = piece.iter();
        while !self.found
            && let Some(&byte) = rest.next()
        {
            let word = byte.is_ascii_alphanumeric() || byte >= 0x80;
            match (byte, &mut self.tag) {
                (b'<', tag) => *tag = Some(tag.unwrap_or_default()),
                (b'>', tag) => *tag = None,
                (_, Some(any)) => *any |= word,
                (_, None) => self.found = word,
            }
        }
    }

    /// Whether there are any. Markup that does not end is not a tag.
    pub fn any(self) -> bool {
        self.found || self.tag == Some(true)
    }
}

/// Whether HTML has this namespace.
fn is_html(namespace: &[u8]) -> bool {
    HTML.iter().any(|html| namespace.starts_with(html))
}

/// Passes text and word breaks on, and keeps the title.
pub(super) struct TextEmitter<'a, S> {
    pub sink: &'a mut S,
    pub scan: &'a mut Scan,
    /// The text, unless it is being decoded, in which the ends of comments and instructions of XML are
    /// looked for; empty once one has no end.
    pub text: &'a [u8],
}

impl<S: Sink> TextEmitter<'_, S> {
    fn push_title(&mut self, text: &[u8]) {
        for &b in text {
            let b = if b.is_ascii_whitespace() { b' ' } else { b };
            let folds = b == b' ' && matches!(self.scan.title.last(), None | Some(b' '));
            if !folds && self.scan.title.len() < TITLE_BYTES {
                self.scan.title.push(b);
            }
        }
    }

    fn title_break(&mut self) {
        if self.scan.title_state == Title::Open {
            self.push_title(b" ");
        }
    }

    fn start_tag(&mut self) -> Option<State> {
        self.scan.leave_sentence();
        let name = self.scan.name;
        let name = name.get();
        if !self.scan.begun {
            self.scan.root(name);
        }
        if !self.scan.html {
            self.scan.follow();
        }
        if self.scan.foreign_depth > 0 {
            self.in_foreign(name, is_in(name, &ENDS_FOREIGN));
        }
        if is_inline(name) {
            if self.scan.class.is_ocr() {
                self.sink.word_break();
            }
            return None;
        }
        if !(self.scan.xml && self.scan.breaks.begin() == b"no") {
            self.sink.word_break();
        }
        self.title_break();
        let foreign = self.scan.foreign_depth > 0;
        let html = (self.scan.html || self.scan.inside.is_some()) && !foreign;
        // A title or text field of other XML may have elements.
        let raw = html && (self.scan.page || !self.scan.xml);
        let closed = self.scan.self_closing && (self.scan.xml || foreign);
        let state = match name {
            b"svg" | b"math" => {
                if !self.scan.self_closing {
                    self.scan.foreign_depth += 1;
                }
                return None;
            }
            name if local(name) == b"string" && !html && !foreign => {
                self.word();
                return None;
            }
            _ if closed => return None,
            b"script" | b"style" if html || foreign => {
                self.scan.dropping = true;
                self.scan.dropped = (self.scan.position, self.scan.self_closing);
                self.scan.words = Words::default();
                match name == b"script" && html {
                    true => State::ScriptData,
                    false => State::RawText,
                }
            }
            b"title" if !foreign => {
                if self.scan.title_state == Title::Awaited {
                    self.scan.title_state = Title::Open;
                }
                if !raw {
                    return None;
                }
                State::RcData
            }
            b"textarea" if raw => State::RcData,
            b"xmp" if raw => State::RawText,
            b"plaintext" if raw => State::PlainText,
            _ => return None,
        };
        self.scan.raw_name = self.scan.name;
        Some(state)
    }

    /// A word of ALTO. A word that a line end divides is whole where it begins, which may be in
    /// another file.
    fn word(&mut self) {
        let word = match (&*self.scan.whole, self.scan.part.begin()) {
            ([], _) => &self.scan.content,
            (whole, b"HypPart2") if whole == self.scan.divided => {
                self.scan.divided.clear();
                return;
            }
            (_, b"HypPart2") => &self.scan.content,
            (whole, _) => {
                self.scan.divided = whole.to_vec();
                whole
            }
        };
        self.sink.text(word);
        self.sink.word_break();
    }

    /// A tag within SVG or MathML, which may end them.
    fn in_foreign(&mut self, name: &[u8], ends: bool) {
        if ends && self.scan.html_depth == 0 && !self.scan.xml {
            self.scan.foreign_depth = 0;
        } else if is_in(name, &HOLDS_HTML) && !self.scan.self_closing {
            self.scan.html_depth = match self.scan.end_tag {
                false => self.scan.html_depth + 1,
                true => self.scan.html_depth.saturating_sub(1),
            };
        }
    }

    fn end_tag(&mut self) {
        self.scan.leave_sentence();
        let name = self.scan.name;
        let name = name.get();
        if self.scan.foreign_depth > 0 {
            self.in_foreign(name, matches!(name, b"p" | b"br"));
        }
        if !self.scan.html {
            self.scan.follow();
        }
        // Inside a script or style, the tokenizer only reports that element's own end tag.
        self.scan.leave_dropped(false);
        if is_inline(name) {
            return;
        }
        self.sink.word_break();
        self.title_break();
        match name {
            b"title" if self.scan.title_state == Title::Open => self.scan.title_state = Title::Done,
            b"svg" | b"math" => {
                self.scan.foreign_depth = self.scan.foreign_depth.saturating_sub(1);
                if self.scan.foreign_depth == 0 {
                    self.scan.html_depth = 0;
                }
            }
            _ => {}
        }
    }
}

impl<S: Sink> Emitter for TextEmitter<'_, S> {
    type Token = Infallible;

    #[inline]
    fn emit_string(&mut self, text: &[u8]) {
        self.scan.unread = None;
        if self.scan.dropping || text == b"\0" {
            self.scan.words.push(text);
            return;
        }
        let mut text = text;
        if self.scan.position.saturating_sub(text.len()) < self.scan.subset {
            let begin = self.scan.position - text.len();
            text = text.get(self.scan.subset - begin..).unwrap_or_default();
        }
        self.sink.text(text);
        if self.scan.title_state == Title::Open {
            self.push_title(text);
        }
    }

    #[inline]
    fn init_start_tag(&mut self) {
        self.scan.begin_tag(false, b"<a".len());
        self.scan.class.len = 0;
        self.scan.breaks.len = 0;
        self.scan.namespace = None;
        self.scan.content.clear();
        self.scan.whole.clear();
        self.scan.part.len = 0;
    }

    #[inline]
    fn init_end_tag(&mut self) {
        self.scan.begin_tag(true, b"</a".len());
    }

    #[inline]
    fn start_open_tag(&mut self) {
        self.scan.bracket = self.scan.position.saturating_sub(b"<".len());
    }

    #[inline]
    fn push_tag_name(&mut self, s: &[u8]) {
        self.scan.name.push(s);
    }

    #[inline]
    fn set_self_closing(&mut self) {
        self.scan.self_closing = true;
    }

    #[inline]
    fn init_attribute(&mut self) {
        self.scan.count_bare();
        self.scan.bare.open = true;
        self.scan.attribute.len = 0;
    }

    #[inline]
    fn init_attribute_value(&mut self) {
        self.scan.value = (self.scan.position, false);
        self.scan.bare.open = false;
        self.scan.bare.others += 1;
        if self.scan.attribute.get() == b"xmlns" {
            self.scan.namespace = Some(Name::default());
        }
    }

    #[inline]
    fn push_attribute_name(&mut self, s: &[u8]) {
        // A few bytes, for which a search of many would only begin.
        if s.contains(&b'<') {
            self.scan.bare.bracket = true;
            self.scan.bare.open &= self.scan.attribute.len > 0 || !s.starts_with(b"<");
        }
        self.scan.attribute.push(s);
        if !s.is_ascii() {
            self.scan.bare.wide += s.len();
        }
        // The quote before ended no value but began one.
        if self.scan.value.1 && memchr2(b'"', b'\'', s).is_some() {
            self.scan.value.1 = false;
            let what = What::Open("a value in quotes".into());
            self.scan.leave(what, self.scan.value.0, false);
        }
    }

    #[inline]
    fn push_attribute_value(&mut self, s: &[u8]) {
        self.scan.value.1 |= memchr(b'<', s).is_some() && memmem::find(s, b"</").is_some();
        match self.scan.attribute.get() {
            b"class" => self.scan.class.push(s),
            b"break" => self.scan.breaks.push(s),
            b"xmlns" => {
                if let Some(namespace) = &mut self.scan.namespace {
                    namespace.push(s);
                }
            }
            b"content" if !self.scan.html => self.scan.content.extend_from_slice(s),
            b"subs_content" if !self.scan.html => self.scan.whole.extend_from_slice(s),
            b"subs_type" => self.scan.part.push(s),
            _ => {}
        }
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        let state = match self.scan.end_tag {
            _ if self.scan.position < self.scan.subset => None,
            true => {
                self.end_tag();
                None
            }
            false => self.start_tag(),
        };
        self.scan.unread = None;
        state
    }

    #[inline]
    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.scan.end_tag
            && self.scan.name.len > 0
            && self.scan.name.get() == self.scan.raw_name.get()
    }

    #[inline]
    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.scan.xml || self.scan.foreign_depth > 0
    }

    #[inline]
    fn move_position(&mut self, offset: isize) {
        self.scan.position = self.scan.position.saturating_add_signed(offset);
    }

    fn init_comment(&mut self) {
        let at = self.scan.bracket;
        self.scan.unread = Some(Unread::Comment(at));
        self.scan.section = None;
        let is_xml = !self.scan.html && at >= self.scan.subset;
        let rest = self.text.get(at..).filter(|_| is_xml).unwrap_or_default();
        if let Some(aside @ (Aside::Comment | Aside::Instruction)) = Aside::at(rest) {
            match aside.length(rest, 0) {
                Some(length) => self.scan.subset = at + length,
                None => self.text = &[],
            }
        }
        let is_tag = self.scan.position - self.scan.bracket < b"<!--".len();
        self.scan.bogus = is_tag.then_some((0, false));
        if is_tag {
            self.scan.name.len = 0;
            self.scan.end_tag = false;
            self.scan.bare = Bare::default();
            self.scan.value.1 = false;
        }
    }

    fn push_comment(&mut self, s: &[u8]) {
        if s == SECTION {
            self.scan.section = Some(self.scan.position);
            self.scan.words = Words::default();
        } else if self.scan.section.is_some() {
            self.scan.words.push(s);
        } else if let (Some((_, mut named)), Some(end)) = (self.scan.bogus, s.last()) {
            for (number, word) in s.split(u8::is_ascii_whitespace).enumerate() {
                if number > 0 {
                    named = true;
                    self.init_attribute();
                }
                match memchr(b'=', word) {
                    _ if !named => self.scan.name.push(word),
                    Some(_) if self.scan.bare.open => self.init_attribute_value(),
                    None if !word.is_empty() => self.push_attribute_name(word),
                    _ => {}
                }
            }
            self.scan.bogus = Some((*end, named));
        }
    }

    fn emit_current_comment(&mut self) {
        if let Some(at) = self.scan.section.take()
            && self.scan.words.any()
        {
            self.scan.leave(What::Cdata, at, false);
        }
        let name = self.scan.name;
        let is_other = |last: &u8| match name.get() {
            [b'?', ..] => *last == b'?',
            // A comment with a single dash.
            [b'-', ..] => true,
            name => is_in(name, &DECLARES),
        };
        if self
            .scan
            .bogus
            .take()
            .is_some_and(|(last, _)| !is_other(&last))
            && self.scan.position >= self.scan.subset
        {
            self.scan.leave_sentence();
        }
    }

    fn init_doctype(&mut self) {
        self.scan.unread = None;
    }

    fn push_doctype_public_identifier(&mut self, s: &[u8]) {
        self.scan.public.push(s);
    }

    fn emit_eof(&mut self) {
        self.scan.leave_dropped(true);
    }

    // The tokens below are not text.

    #[inline]
    fn should_emit_errors(&mut self) -> bool {
        false
    }

    #[inline]
    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn set_last_start_tag(&mut self, _: Option<&[u8]>) {}
    fn emit_error(&mut self, _: Error) {}
    fn emit_current_doctype(&mut self) {}
    fn set_force_quirks(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
}
