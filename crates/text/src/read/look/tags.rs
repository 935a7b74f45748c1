//! The tags of markup: what a `<` begins, where it ends, and what a tag says.
//!
//! Readers take different things for tags, each for a reason:
//!
//! - [`Tags`] gives every tag of markup in memory, for the fields of records. Comments, CDATA
//!   sections, instructions and document types hide tags, and quotation marks hide a `>`.
//! - `--record` (`frame_elements`) looks only into tags of one name, because it reads all bytes of a
//!   file. A stretch that hides tags ends within a limit, or would need unlimited memory.
//! - Newswire (`frame_trec`, `sgml`) is not XML: its texts have single `<` and quotation marks, and
//!   tags in comments of its pages count. A name decides alone, and its tag ends at the next `>`.
//! - [`Tags::of_page`] gives the tags of a page as the HTML standard does, for the visible part of
//!   a page (`mail::text`) and for declarations of a charset (`parse::charset`).

use memchr::{memchr, memchr2, memchr3, memmem};

use crate::read::ground::bytes::{begins_any_case, find_any_case, is_one_of, spaces, trim_front};
use lookalike_base::words::words;

/// Bytes within which a `<meta>` tag must declare the charset (HTML standard, section 13.2.3.2),
/// unless nothing else does.
pub(crate) const PRESCAN_BYTES: usize = 1024;

/// A name without its prefix.
pub(crate) fn local(name: &[u8]) -> &[u8] {
    memchr(b':', name).map_or(name, |colon| &name[colon + 1..])
}

/// Words that a tag may have for each attribute with a value, and one more: with more, it is a
/// sentence behind a `<`.
pub(crate) const MOST_WORDS: usize = 4;

/// Whether this, in a tag and without a value, is a word like those of sentences. Style sheets have
/// others, and so have some frameworks.
pub(crate) fn is_word(name: &[u8]) -> bool {
    let letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte >= 0x80;
    name.first().is_some_and(letter) && memchr(b'-', name).is_none()
}

/// Says how much a sentence in the place of a tag of this name cost.
pub(crate) fn perhaps_no_tag(name: &str, at: usize, bytes: usize) -> String {
    format!("<{name} is perhaps no tag: from byte {at} to the next >, {bytes} bytes were left out")
}

/// Finds the end of a tag in its bytes after the name, which come in pieces of any length.
#[derive(Default)]
pub(crate) struct TagRest {
    quote: Option<u8>,
    value: Value,
    slash: bool,
}

/// Where in an attribute without quotes the place is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Value {
    #[default]
    Before,
    Begins,
    Inside,
}

/// Where the search for the end of a tag stops.
pub(crate) enum Stop {
    /// After the tag.
    End { length: usize, empty: bool },
    /// Before a `<`. The bytes after it can be given next.
    Bracket { at: usize, quoted: bool },
}

impl TagRest {
    /// Whether a value in quotes, in which the place is, ends in these bytes: behind its other quote
    /// the tag goes on or ends.
    pub(crate) fn is_closed_in(&self, bytes: &[u8]) -> bool {
        let end = self.quote.and_then(|quote| memchr(quote, bytes));
        let next = end.and_then(|end| bytes.get(end + 1));
        next.is_some_and(|byte| byte.is_ascii_whitespace() || b">/".contains(byte))
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Option<Stop> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if let Some(quote) = self.quote {
                at += memchr2(quote, b'<', &bytes[at..])?;
                if bytes[at] == b'<' {
                    return Some(Stop::Bracket { at, quoted: true });
                }
                self.quote = None;
                at += 1;
                continue;
            }
            let (length, empty) = (at + 1, std::mem::take(&mut self.slash));
            match (byte, self.value) {
                (b'>', _) => return Some(Stop::End { length, empty }),
                (b'<', _) => return Some(Stop::Bracket { at, quoted: false }),
                (b'"' | b'\'', Value::Begins) => {
                    self.quote = Some(byte);
                    self.value = Value::Before;
                }
                (_, Value::Inside) if byte.is_ascii_whitespace() => self.value = Value::Before,
                (_, Value::Inside) => {}
                (b'=', Value::Before) => self.value = Value::Begins,
                (_, Value::Begins) if byte.is_ascii_whitespace() => {}
                (_, Value::Begins) => self.value = Value::Inside,
                (b'/', Value::Before) => self.slash = true,
                (_, Value::Before) => {}
            }
            at += 1;
        }
        None
    }
}

/// A stretch of markup in which tags do not count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aside {
    Comment,
    Cdata,
    Instruction,
    Doctype,
}

impl Aside {
    /// The kind that these bytes begin like.
    pub fn at(bytes: &[u8]) -> Option<Aside> {
        match bytes.get(1)? {
            b'?' => Some(Aside::Instruction),
            b'!' if bytes.starts_with(COMMENT) => Some(Aside::Comment),
            b'!' if bytes.starts_with(CDATA) => Some(Aside::Cdata),
            b'!' if is_doctype(bytes) => Some(Aside::Doctype),
            _ => None,
        }
    }

    /// Its length, if its end is in these bytes, which it begins, and not before `known`.
    pub fn length(self, bytes: &[u8], known: usize) -> Option<usize> {
        let (inside, end): (_, &[u8]) = match self {
            // `<!-->` is a comment.
            Aside::Comment => (2, b"-->"),
            Aside::Cdata => (CDATA.len(), b"]]>"),
            Aside::Instruction => (2, b"?>"),
            Aside::Doctype => return doctype_end(bytes),
        };
        let from = inside.max(known);
        let at = memmem::find(bytes.get(from..)?, end)?;
        Some(from + at + end.len())
    }
}

pub(crate) const COMMENT: &[u8] = b"<!--";
pub(crate) const CDATA: &[u8] = b"<![CDATA[";

pub fn is_doctype(bytes: &[u8]) -> bool {
    begins_any_case(bytes, b"<!DOCTYPE")
}

/// Where the document type declaration at the front of markup ends, if it declares anything itself:
/// in brackets, before which there are no others.
pub(crate) fn internal_subset(bytes: &[u8]) -> usize {
    let rest = trim_front(bytes);
    let mut at = bytes.len() - rest.len();
    while let Some(rest) = bytes.get(at..)
        && rest.starts_with(b"<")
        && let Some(aside) = Aside::at(rest)
    {
        let Some(length) = aside.length(rest, 0).filter(|_| aside != Aside::Cdata) else {
            return 0;
        };
        at += length;
        if aside == Aside::Doctype {
            return if has_declarations(rest) { at } else { 0 };
        }
        at += spaces(&bytes[at..]);
    }
    0
}

/// Whether a document type declaration has declarations inside it, which can contain tags.
pub(crate) fn has_declarations(bytes: &[u8]) -> bool {
    let first = memchr3(b'[', b'>', b'<', &bytes[2..]);
    first.is_some_and(|at| bytes[2 + at] == b'[')
}

/// The length of the document type declaration at the start of these bytes, if its end is there.
pub fn doctype_end(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut inside) = (9, false);
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        at += match byte {
            b'"' | b'\'' => memchr(byte, &rest[1..])? + 2,
            b'<' if rest.starts_with(b"<!--") => memmem::find(rest, b"-->")? + 3,
            b'<' if rest.starts_with(b"<?") => memmem::find(rest, b"?>")? + 2,
            b'>' if !inside => return Some(at + 1),
            b'[' | b']' => {
                inside = byte == b'[';
                1
            }
            _ => 1,
        };
    }
    None
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Open,
    Empty,
    Close,
}

/// A tag, and its place in the markup.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tag<'a> {
    pub kind: Kind,
    pub name: &'a [u8],
    pub attributes: &'a [u8],
    pub start: usize,
    pub end: usize,
}

impl<'a> Tag<'a> {
    /// The names and values of its attributes.
    pub fn attributes(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let quoted = |value: &[u8], quote| memchr(quote, value).unwrap_or(value.len());
        attributes(self.attributes, quoted)
    }

    pub fn attribute(&self, is: impl Fn(&[u8]) -> bool) -> Option<&'a [u8]> {
        self.attributes()
            .find_map(|(name, value)| is(name).then_some(value))
    }
}

/// The attributes with a value in a tag. `quoted` finds the length of a value from what follows its
/// quotation mark.
pub(crate) fn attributes<'a>(
    mut rest: &'a [u8],
    quoted: fn(&[u8], u8) -> usize,
) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
    std::iter::from_fn(move || {
        let equals = memchr(b'=', rest)?;
        let name = rest[..equals].trim_ascii_end();
        let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'/';
        let begin = name.iter().rposition(ends);
        let name = &name[begin.map_or(0, |at| at + 1)..];
        let value = rest[equals + 1..].trim_ascii_start();
        let (value, after) = match value.split_first() {
            Some((quote @ (b'"' | b'\''), inner)) => {
                let length = quoted(inner, *quote);
                (&inner[..length], inner.get(length + 1..))
            }
            _ => {
                let space = value.iter().position(u8::is_ascii_whitespace);
                let (value, after) = value.split_at(space.unwrap_or(value.len()));
                (value, Some(after))
            }
        };
        rest = after.unwrap_or_default();
        Some((name, value))
    })
}

/// Elements whose content has no tags.
const WITHOUT_TAGS: [&str; 8] = words("script style title textarea xmp iframe noembed noframes");

/// The labels of `<meta>` tags that begin in the first bytes (HTML standard, section 13.2.3.2,
/// "prescan a byte stream"), or with `late` of all, as a parser finds them, which knows that scripts
/// and titles have no tags.
pub(crate) fn labels(text: &[u8], late: bool) -> impl Iterator<Item = &[u8]> {
    let (most, begins) = match late {
        true => (text.len(), text.len()),
        false => (text.len().min(2 * PRESCAN_BYTES), PRESCAN_BYTES),
    };
    let mut tags = Tags::of_page(&text[..most]);
    std::iter::from_fn(move || {
        loop {
            let tag = tags.next().filter(|tag| tag.start < begins)?;
            let opens = tag.kind != Kind::Close;
            if opens && late && is_one_of(tag.name, &WITHOUT_TAGS) {
                tags.pass_content(tag.name);
            }
            let is_meta = opens && tag.name.eq_ignore_ascii_case(b"meta");
            if let Some(label) = label_of(&tag).filter(|_| is_meta) {
                return Some(label);
            }
        }
    })
}

/// The label that a `<meta>` tag declares. The first of several attributes with the same name counts.
fn label_of<'a>(tag: &Tag<'a>) -> Option<&'a [u8]> {
    let value = |wanted: &[u8]| tag.attribute(|name| name.eq_ignore_ascii_case(wanted));
    let pragma = || {
        value(b"http-equiv")?
            .eq_ignore_ascii_case(b"content-type")
            .then_some(())
    };
    value(b"charset").or_else(|| pragma().and_then(|()| label_in_content(value(b"content")?)))
}

/// The label in `text/html; charset=label` (HTML standard, "extracting a character encoding").
fn label_in_content(content: &[u8]) -> Option<&[u8]> {
    let mut rest = content;
    loop {
        rest = &rest[find_any_case(rest, b"charset")? + 7..];
        let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") else {
            continue;
        };
        let value = value.trim_ascii_start();
        return match value.first()? {
            &quote @ (b'"' | b'\'') => {
                let end = memchr(quote, &value[1..])?;
                Some(&value[1..=end])
            }
            _ => {
                let end = value
                    .iter()
                    .position(|&b| b.is_ascii_whitespace() || b == b';');
                Some(&value[..end.unwrap_or(value.len())])
            }
        };
    }
}

/// Whether these bytes begin with a name, in any case unless `exact`, and behind it have white space
/// or one of `ends`.
pub(crate) fn is_named(bytes: &[u8], name: &[u8], exact: bool, ends: &[u8]) -> bool {
    bytes
        .split_at_checked(name.len())
        .is_some_and(|(found, rest)| {
            let same = found == name || !exact && found.eq_ignore_ascii_case(name);
            let ends = |next: &u8| next.is_ascii_whitespace() || ends.contains(next);
            same && rest.first().is_some_and(ends)
        })
}

/// The length of the rest of a closing tag, if these bytes after its name complete it: `>`.
pub(crate) fn closes(bytes: &[u8]) -> Option<usize> {
    let space = spaces(bytes);
    (bytes.get(space) == Some(&b'>')).then_some(space + 1)
}

/// The tags in a stretch of markup, except tags in comments, CDATA sections, processing
/// instructions and document type declarations.
#[derive(Clone, Debug)]
pub(crate) struct Tags<'a> {
    bytes: &'a [u8],
    pub at: usize,
    /// Whether it is a page.
    page: bool,
    /// The ends that the rest of the bytes does not have, so that they are not searched again.
    endless: [bool; 4],
}

impl<'a> Tags<'a> {
    pub fn of(bytes: &'a [u8]) -> Self {
        Tags {
            bytes,
            at: 0,
            page: false,
            endless: [false; 4],
        }
    }

    /// The tags of a page (HTML standard, section 13.2.5): a `<` does not end a tag, only comments may
    /// contain a `>`, and a tag or comment without an end goes on to the end of the page.
    pub fn of_page(bytes: &'a [u8]) -> Self {
        Tags {
            page: true,
            ..Tags::of(bytes)
        }
    }

    /// Where the next tag begins, or the next stretch in which tags do not count. It ends at `at`.
    pub fn mark(&mut self) -> Option<(usize, Option<Tag<'a>>)> {
        loop {
            let start = self.at + memchr(b'<', self.bytes.get(self.at..)?)?;
            let rest = &self.bytes[start..];
            self.at = start + 1;
            if let [b'<', b'/', first, ..] | [b'<', first, ..] = rest
                && (first.is_ascii_alphabetic()
                    || !self.page && matches!(first, b'_' | b':' | 0x80..))
            {
                return Some((start, self.tag(start, rest)));
            }
            let length = match self.page {
                true => aside_of_page(rest),
                false => self.aside(rest),
            };
            if let Some(length) = length {
                self.at = start + length;
                return Some((start, None));
            }
        }
    }

    /// Passes over the content of an element of this name, in which there are no tags.
    pub fn pass_content(&mut self, name: &[u8]) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += find_any_case(rest, &[b"</", name].concat()).unwrap_or(rest.len());
    }

    fn aside(&mut self, rest: &[u8]) -> Option<usize> {
        let aside = Aside::at(rest)?;
        let endless = &mut self.endless[aside as usize];
        let length = (!*endless).then(|| aside.length(rest, 0)).flatten();
        *endless |= length.is_none();
        length
    }

    /// The tag that begins here; `None`, behind everything, if it has no end.
    fn tag(&mut self, start: usize, rest: &'a [u8]) -> Option<Tag<'a>> {
        let closes = rest[1] == b'/';
        let name_at = 1 + usize::from(closes);
        let ends = |byte: &u8| {
            byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/') || *byte == b'<' && !self.page
        };
        let name_end = rest[name_at..].iter().position(ends);
        let name_end = name_end.map_or(rest.len(), |at| name_at + at);
        let (mut end, mut tag) = (name_end, TagRest::default());
        let empty = loop {
            match tag.feed(&rest[end..]) {
                Some(Stop::End { length, empty }) => {
                    end += length;
                    break empty;
                }
                Some(Stop::Bracket { at, quoted }) => {
                    let passes = quoted || self.page;
                    end += at + usize::from(passes);
                    if !passes {
                        break false;
                    }
                }
                // Nothing after this has an end, either.
                None => {
                    self.at = self.bytes.len();
                    return None;
                }
            }
        };
        self.at = start + end;
        let bracket = match empty {
            true => 2,
            false => usize::from(rest[end - 1] == b'>'),
        };
        Some(Tag {
            kind: match (closes, empty) {
                (true, _) => Kind::Close,
                (false, true) => Kind::Empty,
                (false, false) => Kind::Open,
            },
            name: &rest[name_at..name_end],
            attributes: &rest[name_end..end - bracket],
            start,
            end: self.at,
        })
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = Tag<'a>;

    fn next(&mut self) -> Option<Tag<'a>> {
        loop {
            if let (_, Some(tag)) = self.mark()? {
                return Some(tag);
            }
        }
    }
}

/// The length of bytes that are neither a tag nor text of a page.
fn aside_of_page(bytes: &[u8]) -> Option<usize> {
    let length = match bytes {
        [b'<', b'!', b'-', b'-', ..] => Aside::Comment.length(bytes, 0),
        [b'<', b'!' | b'?', ..] | [b'<', b'/', _, ..] => memchr(b'>', bytes).map(|end| end + 1),
        _ => return None,
    };
    Some(length.unwrap_or(bytes.len()))
}

/// The character of the entity that begins here, and the entity's length. XML has five entities
/// with names.
pub(crate) fn entity(bytes: &[u8]) -> Option<(char, usize)> {
    let end = memchr(b';', &bytes[..bytes.len().min(12)])?;
    let c = match &bytes[1..end] {
        b"lt" => '<',
        b"gt" => '>',
        b"amp" => '&',
        b"quot" => '"',
        b"apos" => '\'',
        [b'#', digits @ ..] => {
            let digits = std::str::from_utf8(digits).ok()?;
            let number = match digits.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(number).filter(|c| *c != '\0')?
        }
        _ => return None,
    };
    Some((c, end + 1))
}

/// A text with the characters of its entities, of those that are `wanted`.
pub(crate) fn unescaped(text: &str, wanted: fn(char) -> bool) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let entity = entity(rest.as_bytes()).filter(|(c, _)| wanted(*c));
        let (c, length) = entity.unwrap_or(('&', 1));
        out.push(c);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}
