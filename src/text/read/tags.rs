//! The tags of markup in memory, and where a tag ends.

use memchr::{memchr, memchr2, memmem};

/// A name without its prefix.
pub(super) fn local(name: &[u8]) -> &[u8] {
    memchr(b':', name).map_or(name, |colon| &name[colon + 1..])
}

/// Finds the end of a tag in its bytes after the name, which come in pieces of any length.
#[derive(Default)]
pub(super) struct TagRest {
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
pub(super) enum Stop {
    /// After the tag.
    End { length: usize, empty: bool },
    /// Before a `<`. The bytes after it can be given next.
    Bracket { at: usize, quoted: bool },
}

impl TagRest {
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Option<Stop> {
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
            let slash = std::mem::take(&mut self.slash);
            match (byte, self.value) {
                (b'>', _) => {
                    return Some(Stop::End {
                        length: at + 1,
                        empty: slash,
                    });
                }
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

pub(crate) fn is_doctype(bytes: &[u8]) -> bool {
    let begin = bytes.get(..9);
    begin.is_some_and(|begin| begin.eq_ignore_ascii_case(b"<!DOCTYPE"))
}

/// The length of the document type declaration at the start of these bytes, if its end is there.
pub(crate) fn doctype_end(bytes: &[u8]) -> Option<usize> {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Empty,
    Close,
}

/// A tag, and its place in the markup.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tag<'a> {
    pub kind: Kind,
    pub name: &'a [u8],
    pub attributes: &'a [u8],
    pub start: usize,
    pub end: usize,
}

impl<'a> Tag<'a> {
    /// The names and values of its attributes.
    pub fn attributes(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let mut rest = self.attributes;
        std::iter::from_fn(move || {
            let equals = memchr(b'=', rest)?;
            let name = rest[..equals].trim_ascii_end();
            let begin = name.iter().rposition(u8::is_ascii_whitespace);
            let name = &name[begin.map_or(0, |at| at + 1)..];
            let value = rest[equals + 1..].trim_ascii_start();
            let (value, after) = match value.split_first() {
                Some((quote @ (b'"' | b'\''), inner)) => {
                    let length = memchr(*quote, inner).unwrap_or(inner.len());
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

    pub fn attribute(&self, is: impl Fn(&[u8]) -> bool) -> Option<&'a [u8]> {
        self.attributes()
            .find(|(name, _)| is(name))
            .map(|(_, value)| value)
    }
}

/// The tags in a stretch of markup, except tags in comments, CDATA sections, processing
/// instructions and document type declarations.
#[derive(Clone, Debug)]
pub(super) struct Tags<'a> {
    bytes: &'a [u8],
    pub at: usize,
    /// The ends that the rest of the bytes does not have, so that they are not searched again.
    endless: [bool; 4],
}

impl<'a> Tags<'a> {
    pub fn of(bytes: &'a [u8]) -> Self {
        Tags {
            bytes,
            at: 0,
            endless: [false; 4],
        }
    }

    /// The length of something that begins here and ends with `end`; the length of its beginning,
    /// if it does not end.
    fn aside(&mut self, number: usize, begin: usize, end: &[u8], rest: &[u8]) -> usize {
        if !self.endless[number] {
            match memmem::find(&rest[begin..], end) {
                Some(at) => return begin + at + end.len(),
                None => self.endless[number] = true,
            }
        }
        begin
    }

    fn tag(&mut self, start: usize, rest: &'a [u8]) -> Option<Tag<'a>> {
        let closes = rest[1] == b'/';
        let name_at = 1 + usize::from(closes);
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/' | b'<');
        let name_end = rest[name_at..].iter().position(ends);
        let name_end = name_end.map_or(rest.len(), |at| name_at + at);
        let (mut end, mut empty) = (name_end, false);
        let mut tag = TagRest::default();
        loop {
            match tag.feed(&rest[end..]) {
                Some(Stop::End {
                    length,
                    empty: closed,
                }) => {
                    end += length;
                    empty = closed;
                    break;
                }
                Some(Stop::Bracket { at, quoted: true }) => end += at + 1,
                Some(Stop::Bracket { at, quoted: false }) => {
                    end += at;
                    break;
                }
                // Nothing after this has an end, either.
                None => {
                    self.at = self.bytes.len();
                    return None;
                }
            }
        }
        self.at = start + end;
        let inside = rest[name_end..end].strip_suffix(b">");
        let inside = inside.unwrap_or(&rest[name_end..end]);
        Some(Tag {
            kind: match (closes, empty) {
                (true, _) => Kind::Close,
                (false, true) => Kind::Empty,
                (false, false) => Kind::Open,
            },
            name: &rest[name_at..name_end],
            attributes: inside
                .strip_suffix(b"/")
                .filter(|_| empty)
                .unwrap_or(inside),
            start,
            end: self.at,
        })
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = Tag<'a>;

    fn next(&mut self) -> Option<Tag<'a>> {
        loop {
            let bytes = self.bytes;
            let start = self.at + memchr(b'<', bytes.get(self.at..)?)?;
            let rest = &bytes[start..];
            self.at = start
                + match rest.get(1)? {
                    b'?' => self.aside(0, 2, b"?>", rest),
                    b'!' if rest.starts_with(b"<!--") => self.aside(1, 2, b"-->", rest),
                    b'!' if rest.starts_with(CDATA) => self.aside(2, CDATA.len(), b"]]>", rest),
                    b'!' if !self.endless[3] && is_doctype(rest) => doctype_end(rest)
                        .unwrap_or_else(|| {
                            self.endless[3] = true;
                            2
                        }),
                    b'/' if rest.get(2).is_some_and(begins_name) => match self.tag(start, rest) {
                        Some(tag) => return Some(tag),
                        None => return None,
                    },
                    byte if begins_name(byte) => match self.tag(start, rest) {
                        Some(tag) => return Some(tag),
                        None => return None,
                    },
                    _ => 1,
                };
        }
    }
}

pub(super) const CDATA: &[u8] = b"<![CDATA[";

fn begins_name(byte: &u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':' | 0x80..)
}
