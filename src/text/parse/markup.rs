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
//! # Where we depart from the standard
//! If the body begins with an XML declaration, and within SVG and MathML, `<x/>` closes itself and
//! `<title>` may contain tags. In HTML, `<script/>` opens a script, as in browsers. A tag such as
//! `<p>`, which SVG and MathML do not have, ends them if they were not closed (13.2.6.5).

use std::convert::Infallible;

use html5gum::{Emitter, Error, State};

use super::Sink;

/// Number of bytes by which tag names are distinguished; the longest relevant name has 14.
const NAME_BYTES: usize = 16;

/// Number of bytes by which values of attributes are distinguished.
const VALUE_BYTES: usize = 8;

/// Bytes kept of a title before folding: [`super::TITLE_CHARS`] characters of four bytes, and the
/// same again for white space to be folded.
const TITLE_BYTES: usize = 2 * 4 * super::TITLE_CHARS;

/// Whether a name is one of these.
macro_rules! one_of {
    ($name:expr, $($known:literal)+) => { matches!($name, $($known)|+) };
}

/// Whether an element does not separate words.
fn is_inline(name: &[u8]) -> bool {
    one_of! { name,
        b"a" b"abbr" b"acronym" b"b" b"bdi" b"bdo" b"big" b"cite" b"code" b"data" b"del" b"dfn"
        b"em" b"font" b"i" b"img" b"ins" b"kbd" b"label" b"mark" b"nobr" b"output" b"q" b"rp" b"rt"
        b"ruby" b"s" b"samp" b"small" b"span" b"strike" b"strong" b"sub" b"sup" b"time" b"tt" b"u"
        b"var" b"wbr"
    }
}

/// Whether a tag ends SVG and MathML that are still open. `<font>` does only with some attributes.
fn ends_foreign(name: &[u8]) -> bool {
    one_of! { name,
        b"b" b"big" b"blockquote" b"body" b"br" b"center" b"code" b"dd" b"div" b"dl" b"dt" b"em"
        b"embed" b"h1" b"h2" b"h3" b"h4" b"h5" b"h6" b"head" b"hr" b"i" b"img" b"li" b"listing"
        b"menu" b"meta" b"nobr" b"ol" b"p" b"pre" b"ruby" b"s" b"small" b"span" b"strong" b"strike"
        b"sub" b"sup" b"table" b"tt" b"u" b"ul" b"var"
    }
}

/// Whether an element of SVG or MathML contains HTML.
fn holds_html(name: &[u8]) -> bool {
    one_of! { name,
        b"foreignobject" b"desc" b"title" b"annotation-xml" b"mi" b"mo" b"mn" b"ms" b"mtext"
    }
}

/// The first bytes of a name or a value, as many as show whether it matters.
#[derive(Clone, Copy)]
struct Begin<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Begin<N> {
    const EMPTY: Self = Begin {
        bytes: [0; N],
        len: 0,
    };

    #[inline]
    fn push(&mut self, s: &[u8]) {
        let end = N.min(self.len + s.len());
        self.bytes[self.len..end].copy_from_slice(&s[..end - self.len]);
        self.len = end;
    }

    #[inline]
    fn get(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Whether this is the class of a word or a line of hOCR.
fn is_ocr(class: &[u8]) -> bool {
    let kind = class.strip_prefix(b"ocr");
    let kind = kind.map(|kind| kind.strip_prefix(b"x").unwrap_or(kind));
    matches!(kind, Some([b'_', b'w' | b'l', ..]))
}

/// The state of the first title.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Title {
    Awaited,
    Open,
    Done,
}

/// Passes text and word breaks on, and keeps the title.
pub(super) struct TextEmitter<'a, S> {
    sink: &'a mut S,
    /// The bytes of the first title, with ASCII white space folded.
    title: &'a mut Vec<u8>,
    title_state: Title,
    xml: bool,
    /// Number of open `<svg>` and `<math>` elements.
    foreign_depth: usize,
    /// Number of open elements in them that contain HTML.
    html_depth: usize,
    /// Whether the tokenizer is inside `<script>` or `<style>`.
    dropping: bool,
    name: Begin<NAME_BYTES>,
    end_tag: bool,
    self_closing: bool,
    /// The current attribute.
    attribute: Begin<NAME_BYTES>,
    /// The attributes `class` and `break` of the current tag.
    class: Begin<VALUE_BYTES>,
    breaks: Begin<VALUE_BYTES>,
    /// The element whose end tag ends the current raw-text state.
    raw_name: Begin<NAME_BYTES>,
}

impl<'a, S: Sink> TextEmitter<'a, S> {
    pub(super) fn new(sink: &'a mut S, title: &'a mut Vec<u8>, xml: bool) -> Self {
        title.clear();
        TextEmitter {
            sink,
            title,
            title_state: Title::Awaited,
            xml,
            foreign_depth: 0,
            html_depth: 0,
            dropping: false,
            name: Begin::EMPTY,
            end_tag: false,
            self_closing: false,
            attribute: Begin::EMPTY,
            class: Begin::EMPTY,
            breaks: Begin::EMPTY,
            raw_name: Begin::EMPTY,
        }
    }

    fn push_title(&mut self, text: &[u8]) {
        for &b in text {
            let b = if b.is_ascii_whitespace() { b' ' } else { b };
            let folds = b == b' ' && matches!(self.title.last(), None | Some(b' '));
            if !folds && self.title.len() < TITLE_BYTES {
                self.title.push(b);
            }
        }
    }

    fn title_break(&mut self) {
        if self.title_state == Title::Open {
            self.push_title(b" ");
        }
    }

    fn start_tag(&mut self) -> Option<State> {
        let name = self.name;
        let name = name.get();
        if self.foreign_depth > 0 {
            self.in_foreign(name, ends_foreign(name));
        }
        if is_inline(name) {
            if is_ocr(self.class.get()) {
                self.sink.word_break();
            }
            return None;
        }
        if !(self.xml && self.breaks.get() == b"no") {
            self.sink.word_break();
        }
        self.title_break();
        let foreign = self.foreign_depth > 0;
        let closed = self.self_closing && (self.xml || foreign);
        let state = match name {
            b"svg" | b"math" => {
                if !self.self_closing {
                    self.foreign_depth += 1;
                }
                return None;
            }
            _ if closed => return None,
            b"script" | b"style" => {
                self.dropping = true;
                if name == b"script" && !foreign {
                    State::ScriptData
                } else {
                    State::RawText
                }
            }
            b"title" if !foreign => {
                if self.title_state == Title::Awaited {
                    self.title_state = Title::Open;
                }
                if self.xml {
                    return None;
                }
                State::RcData
            }
            b"textarea" if !foreign && !self.xml => State::RcData,
            b"xmp" if !foreign && !self.xml => State::RawText,
            b"plaintext" if !foreign && !self.xml => State::PlainText,
            _ => return None,
        };
        self.raw_name = self.name;
        Some(state)
    }

    /// A tag within SVG or MathML, which may end them.
    fn in_foreign(&mut self, name: &[u8], ends: bool) {
        if ends && self.html_depth == 0 && !self.xml {
            self.foreign_depth = 0;
        } else if holds_html(name) && !self.self_closing {
            self.html_depth = match self.end_tag {
                false => self.html_depth + 1,
                true => self.html_depth.saturating_sub(1),
            };
        }
    }

    fn end_tag(&mut self) {
        let name = self.name;
        let name = name.get();
        if self.foreign_depth > 0 {
            self.in_foreign(name, matches!(name, b"p" | b"br"));
        }
        // Inside a script or style, the tokenizer only reports that element's own end tag.
        self.dropping = false;
        if is_inline(name) {
            return;
        }
        self.sink.word_break();
        self.title_break();
        match name {
            b"title" if self.title_state == Title::Open => self.title_state = Title::Done,
            b"svg" | b"math" => {
                self.foreign_depth = self.foreign_depth.saturating_sub(1);
                if self.foreign_depth == 0 {
                    self.html_depth = 0;
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
        if self.dropping || text == b"\0" {
            return;
        }
        self.sink.text(text);
        if self.title_state == Title::Open {
            self.push_title(text);
        }
    }

    #[inline]
    fn init_start_tag(&mut self) {
        self.name.len = 0;
        self.end_tag = false;
        self.self_closing = false;
        self.class.len = 0;
        self.breaks.len = 0;
    }

    #[inline]
    fn init_end_tag(&mut self) {
        self.name.len = 0;
        self.end_tag = true;
        self.self_closing = false;
    }

    #[inline]
    fn push_tag_name(&mut self, s: &[u8]) {
        self.name.push(s);
    }

    #[inline]
    fn set_self_closing(&mut self) {
        self.self_closing = true;
    }

    #[inline]
    fn init_attribute(&mut self) {
        self.attribute.len = 0;
    }

    #[inline]
    fn push_attribute_name(&mut self, s: &[u8]) {
        self.attribute.push(s);
    }

    #[inline]
    fn push_attribute_value(&mut self, s: &[u8]) {
        match self.attribute.get() {
            b"class" => self.class.push(s),
            b"break" => self.breaks.push(s),
            _ => {}
        }
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        if self.end_tag {
            self.end_tag();
            None
        } else {
            self.start_tag()
        }
    }

    #[inline]
    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.end_tag && self.name.len > 0 && self.name.get() == self.raw_name.get()
    }

    #[inline]
    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.xml || self.foreign_depth > 0
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
    fn emit_eof(&mut self) {}
    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    fn emit_current_comment(&mut self) {}
    fn emit_current_doctype(&mut self) {}
    fn set_force_quirks(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn init_doctype(&mut self) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
}
