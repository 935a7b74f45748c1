//! Interprets newswire markup (TREC disks, NTCIR, Reuters-21578), and finds the id of an NITF file.
//!
//! # What counts as text
//! The text of a document with a body element (`TEXT`, `BODY`, `LP` ...) is the content of its
//! headline and body elements, in order; every other element is left out (`DATE`, `SO`, `IN` ...).
//! The text of a document without a body element is everything but the elements known to hold no
//! text. `DATELINE` is left out, because it differs between two copies of one story. `GRAPHIC` and
//! `CAPTION` count inside a body element but not outside one. The parser handles the tags inside.
//!
//! Each omission has a line with the names of its elements, unless these have the name of the
//! document, a list of codes ([`CODES`]), or another fact of a few words.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

use crate::read::ground::bytes::{begins_any_case, find_any_case, is_one_of, text_of};
use crate::read::ground::config::ReadConfig;
use crate::read::ground::fields::LEFT_OUT;
use crate::read::ground::outcome::{HEAD, Interpreter, Outcome, head_of, refused};
use crate::read::ground::record::{ContentKind, Marks, RawDocument};
use crate::read::look::tags::{Kind, Tags, attributes, closes, unescaped};
use crate::read::look::wordless::words_in;
use lookalike_base::{reserve, words};
use lookalike_source::Reason;

/// Elements that contain the text itself.
const BODIES: [&str; 9] = [
    "TEXT", "BODY", "LP", "LEADPARA", "SUMMARY", "ABSTRACT", "CONTENT", "MAINTEXT", "PARA",
];

/// Elements that contain a headline.
const HEADLINES: [&str; 14] =
    words("HEADLINE HEAD HL TITLE TTL TI H1 H2 H3 H4 H5 HT1 TITLE1 SUBHEAD");

/// Elements without text in the collections named above.
const METADATA: [&str; 54] = words(
    "DOCNO DOCID DOCHDR FILEID FIRST SECOND DATE DATE1 DATELINE SO CO MS IN NS RE G GV AN ST DD \
     PUB PAGE PG BYLINE BY AU NOTE ACCESS CATEGORY LENGTH SECTION SUBJECT TYPE CORRECTION \
     CORRECTION-DATE HT PARENT USDEPT USBUREAU XX CN PE TP PROFILE EDITION NAME GRAPHIC CAPTION \
     LANG AUTHOR ID URL DESCRIPT JOURNAL",
);

/// Elements whose words are not a loss, however many there are.
const CODES: [&str; 10] =
    words("DOCNO DOCID DOCHDR TOPICS PLACES PEOPLE ORGS EXCHANGES COMPANIES MKNOTE");

/// Elements of [`METADATA`] that may have sentences.
const PROSE: [&str; 6] = words("NOTE CORRECTION GRAPHIC CAPTION DESCRIPT SUBJECT");

/// The most words of an element that are not a loss: of facts, and of any other one, which may have
/// as many words and numbers together as facts have words.
const FACT: usize = 12;
const CODE: usize = 1;

/// The longest tag.
const TAG: usize = 4096;

/// Elements left out that are named.
const MOST_LEFT: usize = 16;

/// The content of the first element with this name, without its tags. The name matches exactly as
/// given, in capitals.
pub(crate) fn element<'a>(bytes: &'a [u8], open: &[u8], close: &[u8]) -> Option<&'a [u8]> {
    let start = memmem::find(bytes, open)? + open.len();
    let length = memmem::find(&bytes[start..], close)?;
    Some(&bytes[start..start + length])
}

/// The opening tag at the start of these bytes, without its brackets.
pub(crate) fn open_tag(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.strip_prefix(b"<")?;
    Some(&rest[..memchr::memchr(b'>', rest)?])
}

/// The length of a quoted value. Some writers do not escape quotes inside a value: what follows the
/// last one is the next attribute or the end of the tag.
fn quoted(bytes: &[u8], quote: u8) -> usize {
    let mut quotes = memchr::memchr_iter(quote, bytes);
    let Some(first) = quotes.next() else {
        return bytes.len();
    };
    let ends = |&at: &usize| {
        let rest = bytes[at + 1..].trim_ascii();
        let name = rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"-_:.".contains(byte))
            .count();
        rest.is_empty() || rest == b"/" || name > 0 && rest.get(name) == Some(&b'=')
    };
    let mut quotes = [first].into_iter().chain(quotes).take(16);
    quotes.find(ends).unwrap_or(first)
}

/// The value of an attribute in a tag, quoted or not; the name matches in any case.
pub(crate) fn attribute<'a>(tag: &'a [u8], name: &[u8]) -> Option<Cow<'a, str>> {
    let mut all = attributes(tag, quoted);
    let (_, value) = all.find(|(found, _)| found.eq_ignore_ascii_case(name))?;
    let value = value.trim_ascii();
    (!value.is_empty()).then(|| text_of(value))
}

/// The name that these bytes begin with, of an element of newswire.
pub(crate) fn leading_name(bytes: &[u8]) -> &[u8] {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'-';
    &bytes[..bytes.iter().take_while(is_name).count()]
}

/// The docno: in `<DOCNO>`, or, in NTCIR and by WikiExtractor, in `<DOC id="...">`, or, in Solr, in
/// `<field name="id">`.
pub(crate) fn trec_docno(head: &[u8]) -> Option<Cow<'_, str>> {
    let docno = |content: &'_ [u8]| !content.is_empty() && !content.contains(&b'<');
    let exact = element(head, b"<DOCNO>", b"</DOCNO>").map(<[u8]>::trim_ascii);
    if let Some(exact) = exact.filter(|content| docno(content)) {
        return Some(text_of(exact));
    }
    let tag = open_tag(head)?;
    let by_attribute = || {
        let names = [&b"id"[..], b"docno", b"docid"];
        names.iter().find_map(|name| attribute(tag, name))
    };
    let by_element = || {
        let start = find_any_case(head, b"<DOCNO>")? + 7;
        let (length, _) = find_close(&head[start..], b"DOCNO", usize::MAX)?;
        let content = head[start..start + length].trim_ascii();
        docno(content).then(|| text_of(content))
    };
    let by_field = || {
        let content = &head[tag.len() + 2..];
        let field = elements_of(content).find(|element| {
            let tag = open_tag(&content[element.whole.clone()]).unwrap_or_default();
            attribute(tag, b"name").is_some_and(|name| {
                ["id", "docno", "docid"].contains(&name.to_ascii_lowercase().as_str())
            })
        })?;
        let content = content[field.content].trim_ascii();
        docno(content).then(|| text_of(content))
    };
    if tag.starts_with(b"DOC") {
        // Few bundles in capitals have names in another case, so they are looked for last.
        by_attribute().or_else(by_element)
    } else {
        by_element().or_else(by_attribute).or_else(by_field)
    }
}

/// The role of an element in the text of a document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Body,
    Headline,
    Metadata,
}

/// Whether the words of an element are names, dates, codes and the like.
fn is_fact(name: &[u8]) -> bool {
    [&METADATA[..], &CODES, &["UNKNOWN"]]
        .iter()
        .any(|names| is_one_of(name, names))
}

fn role_of(name: &[u8]) -> Option<Role> {
    if is_one_of(name, &BODIES) {
        Some(Role::Body)
    } else if is_one_of(name, &HEADLINES) {
        Some(Role::Headline)
    } else if is_one_of(name, &METADATA) {
        Some(Role::Metadata)
    } else {
        None
    }
}

/// Whether documents have an element with this name.
pub(crate) fn is_known(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"field") || role_of(name).is_some()
}

/// An element of known role: its range including the tags, and the range of its content.
struct Element {
    role: Role,
    whole: Range<usize>,
    content: Range<usize>,
}

/// Iterates over the outermost elements of known role; unknown tags are stepped into. Not collected
/// in a list, which would be many times the size of a document that consists of elements only.
struct Elements<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Names for which no closing tag was found. They are not searched again, which would make the
    /// walk quadratic.
    never_closed: Vec<&'a [u8]>,
}

fn elements_of(bytes: &[u8]) -> Elements<'_> {
    Elements {
        bytes,
        at: 0,
        never_closed: Vec::new(),
    }
}

impl Iterator for Elements<'_> {
    type Item = Element;

    fn next(&mut self) -> Option<Element> {
        let bytes = self.bytes;
        while let Some(start) = memchr::memchr(b'<', &bytes[self.at..]).map(|found| self.at + found)
        {
            let rest = &bytes[start + 1..];
            let name = leading_name(rest);
            self.at = start + 1;
            if name.is_empty() {
                continue;
            }
            let tag_end = || memchr::memchr(b'>', &rest[..rest.len().min(TAG)]);
            let role = if name.eq_ignore_ascii_case(b"field") {
                // A field of Solr: its attribute has the name.
                let tag = &rest[..tag_end().unwrap_or_default()];
                attribute(tag, b"name").and_then(|name| role_of(name.as_bytes()))
            } else {
                role_of(name)
            };
            let (Some(role), Some(tag_end)) = (role, tag_end()) else {
                continue;
            };
            let inside = start + 1 + tag_end + 1;
            self.at = inside;
            let mut never = self.never_closed.iter();
            if never.any(|other| other.eq_ignore_ascii_case(name)) {
                continue;
            }
            let (length, end) = match find_close(&bytes[inside..], name, usize::MAX) {
                Some((length, end)) => (length, inside + end),
                // A body that is not closed extends to the end of the document.
                None if role == Role::Body => {
                    let length = memmem::rfind(&bytes[inside..], b"</DOC");
                    (length.unwrap_or(bytes.len() - inside), bytes.len())
                }
                None => {
                    self.never_closed.push(name);
                    continue;
                }
            };
            self.at = end;
            return Some(Element {
                role,
                whole: start..end,
                content: inside..inside + length,
            });
        }
        None
    }
}

/// The start and the end of the closing tag for a name, in any case. At most `most` bytes of white
/// space are in it.
pub(crate) fn find_close(bytes: &[u8], name: &[u8], most: usize) -> Option<(usize, usize)> {
    memmem::find_iter(bytes, b"</").find_map(|start| {
        let from = start + 2 + name.len();
        let named = begins_any_case(&bytes[start + 2..], name);
        let rest = bytes.get(from..).filter(|_| named)?;
        Some((start, from + closes(&rest[..rest.len().min(most)])?))
    })
}

/// Joins several stretches with line ends between them; a single one is not copied.
#[derive(Default)]
struct Joined<'a>(Option<Cow<'a, [u8]>>, Marks);

impl<'a> Joined<'a> {
    fn push(&mut self, part: &'a [u8]) {
        self.1.add(self.0.as_deref().unwrap_or_default(), true);
        match &mut self.0 {
            None => self.0 = Some(Cow::Borrowed(part)),
            Some(parts) => {
                let parts = parts.to_mut();
                reserve(parts, part.len() + 1);
                parts.push(b'\n');
                parts.extend_from_slice(part);
            }
        }
    }

    /// The text, and where its parts begin.
    fn end(self) -> (Cow<'a, [u8]>, Vec<usize>) {
        (self.0.unwrap_or_default(), self.1.begins())
    }
}

/// The words and numbers that are left out of a text, counted by the names of their elements; words
/// in no element have no name.
#[derive(Default)]
struct Left<'a> {
    counts: Vec<(&'a [u8], (usize, usize))>,
    /// Whether one is a field of Solr.
    solr: bool,
}

impl<'a> Left<'a> {
    /// Counts the words in a part of a document that is left out.
    fn add(&mut self, part: &'a [u8]) {
        // The element that the words are in, as its tag and as a field of Solr: the outermost one
        // with facts, or else the outermost one.
        let mut open: Option<(&[u8], &[u8])> = None;
        let (mut tags, mut at) = (Tags::of(part), 0);
        while let Some((start, tag)) = tags.mark() {
            self.count(open.map_or(&[], |(_, name)| name), &part[at..start]);
            at = tags.at;
            let Some(tag) = tag else {
                continue;
            };
            if tag.kind == Kind::Close {
                open = open.filter(|(name, _)| !name.eq_ignore_ascii_case(tag.name));
                continue;
            }
            let field = tag.attribute(|found| found.eq_ignore_ascii_case(b"name"));
            let field = field.filter(|_| tag.name.eq_ignore_ascii_case(b"field"));
            self.solr |= field.is_some();
            let shown = field.unwrap_or(tag.name);
            if open.is_none_or(|(_, open)| !is_fact(open) && is_fact(shown)) {
                open = Some((tag.name, shown));
            }
        }
        self.count(open.map_or(&[], |(_, name)| name), &part[at..]);
    }

    fn count(&mut self, name: &'a [u8], text: &[u8]) {
        let (words, numbers) = words_in(text);
        let full = self.counts.len() == MOST_LEFT;
        let mut known = self.counts.iter_mut();
        match known.find(|(other, _)| other.eq_ignore_ascii_case(name)) {
            Some((_, count)) => *count = (count.0 + words, count.1 + numbers),
            None if words + numbers == 0 || full => {}
            None => self.counts.push((name, (words, numbers))),
        }
    }

    /// The line of a document with this tag whose text is in the elements `used`; of none, if all
    /// others are.
    fn line(self, tag: &[u8], used: &[&[u8]]) -> Option<(Reason, String)> {
        let loss = |(name, (words, numbers)): &(&[u8], (usize, usize))| {
            let (most, all) = match is_fact(name) && !is_one_of(name, &PROSE) {
                true => (FACT, *words),
                false => (CODE, words + numbers),
            };
            (*words > most || all > FACT) && !is_one_of(name, &CODES)
        };
        let lost = self.counts.into_iter().filter(loss);
        let lost: Vec<&[u8]> = lost.map(|(name, _)| name).collect();
        let shown = |name: &&[u8]| match *name {
            [] => "words outside of elements".into(),
            name => text_of(&name[..name.len().min(40)]).into_owned(),
        };
        let listed = |names: &[&[u8]], by| names.iter().map(shown).collect::<Vec<_>>().join(by);
        let all = [used, &lost].concat();
        let is_element = |name: &&[u8]| !name.is_empty() && leading_name(name).len() == name.len();
        let named = !used.is_empty() && !self.solr && all.iter().all(is_element);
        let fields = match named {
            true => format!(" --text-field {}", listed(&all, ",")),
            false => String::new(),
        };
        let record = text_of(leading_name(tag));
        let names = listed(&lost, ", ");
        let line = || format!("{names}{LEFT_OUT}--record {record}{fields}");
        (!lost.is_empty()).then(|| (Reason::ElementsLeft, line()))
    }
}

pub(crate) struct TrecSgml;

impl Interpreter for TrecSgml {
    fn document<'a>(&self, bytes: &'a [u8], _: &ReadConfig) -> Outcome<'a> {
        let head = &bytes[..bytes.len().min(HEAD)];
        let docno = trec_docno(head).unwrap_or_default();
        let tag = open_tag(bytes).unwrap_or_default();
        let inside = if tag.is_empty() { 0 } else { tag.len() + 2 };
        let end = end_of(bytes).max(inside);
        let content = &bytes[inside..end];
        let (mut parts, mut left, mut used) = (Joined::default(), Left::default(), Vec::new());
        if elements_of(content).any(|element| element.role == Role::Body) {
            let mut at = 0;
            for element in elements_of(content) {
                if element.role != Role::Metadata {
                    left.add(&content[at..element.whole.start]);
                    at = element.whole.end;
                    let tag = leading_name(&content[element.whole.start + 1..]);
                    if used.len() < MOST_LEFT && !used.contains(&tag) {
                        used.push(tag);
                    }
                    parts.push(&content[element.content]);
                }
            }
            left.add(&content[at..]);
        } else {
            let mut push = |part| {
                if !<[u8]>::trim_ascii(part).is_empty() {
                    parts.push(part);
                }
            };
            let mut at = 0;
            for element in elements_of(content) {
                if element.role == Role::Metadata {
                    push(&content[at..element.whole.start]);
                    at = element.whole.end;
                    left.add(&content[element.whole]);
                }
            }
            push(&content[at..]);
            // The part between them is left out of one text.
            parts.1 = Marks::default();
        }
        let stated = |name| attribute(tag, name).map(|value| unescaped(&value, |_| true).into());
        let (body, begins) = parts.end();
        Outcome::Document(RawDocument {
            begins,
            url: stated(b"url"),
            title: stated(b"title"),
            notices: left.line(tag, &used).into_iter().collect(),
            ..RawDocument::of(docno, ContentKind::Markup, body)
        })
    }

    fn docno(&self, head: &[u8]) -> Option<String> {
        trec_docno(head).map(Cow::into_owned)
    }
}

/// Where the content of a record ends: at its closing tag, in any case.
pub(crate) fn end_of(record: &[u8]) -> usize {
    memmem::rfind(record, b"</")
        .filter(|at| begins_any_case(&record[at + 2..], b"DOC"))
        .unwrap_or(record.len())
}

/// A Reuters-21578 story: title and body, or the whole text if it has no body.
pub(crate) struct Reuters;

impl Interpreter for Reuters {
    fn document<'a>(&self, bytes: &'a [u8], _: &ReadConfig) -> Outcome<'a> {
        let docno = open_tag(bytes).and_then(|tag| attribute(tag, b"NEWID"));
        let docno = docno.unwrap_or_default();
        let Some(start) = memmem::find(bytes, b"<TEXT") else {
            return refused(Some(docno), Reason::MissingText, "no <TEXT>");
        };
        let rest = &bytes[start..];
        let inside = memchr::memchr(b'>', rest).map_or(rest.len(), |end| end + 1);
        let length = find_close(&rest[inside..], b"TEXT", usize::MAX)
            .map_or(rest.len() - inside, |close| close.0);
        let text = &rest[inside..inside + length];
        let body = element(text, b"<BODY>", b"</BODY>");
        // Only the text outside the body: the body is included already.
        let beside = memmem::find(text, b"<BODY>").filter(|_| body.is_some());
        let before = &text[..beside.unwrap_or(text.len())];
        let title = element(before, b"<TITLE>", b"</TITLE>").or_else(|| {
            let after = memmem::find(&text[beside?..], b"</BODY>")?;
            element(&text[beside? + after..], b"<TITLE>", b"</TITLE>")
        });
        let mut parts: Vec<&[u8]> = match body {
            Some(body) => title.into_iter().chain([body]).collect(),
            None => vec![text],
        };
        let mut joined = Joined::default();
        parts.iter().for_each(|part| joined.push(part));
        // In the order of the document.
        let begin = |part: &[u8]| part.as_ptr().addr() - bytes.as_ptr().addr();
        parts.sort_by_key(|part| begin(part));
        let tag = open_tag(bytes);
        let (mut left, mut at) = (Left::default(), tag.map_or(0, |tag| tag.len() + 2));
        for part in parts {
            left.add(&bytes[at..begin(part)]);
            at = begin(part) + part.len();
        }
        left.add(&bytes[at..end_of(bytes).max(at)]);
        let used: &[&[u8]] = match body {
            Some(_) => &[b"TITLE", b"BODY"],
            None => &[b"TEXT"],
        };
        let notice = left.line(tag.unwrap_or_default(), used);
        let (body, begins) = joined.end();
        Outcome::Document(RawDocument {
            begins,
            notices: notice.into_iter().collect(),
            ..RawDocument::of(docno, ContentKind::Markup, body)
        })
    }

    fn docno(&self, head: &[u8]) -> Option<String> {
        attribute(open_tag(head)?, b"NEWID").map(Cow::into_owned)
    }

    fn date(&self, bytes: &[u8]) -> Option<String> {
        let date = element(head_of(bytes), b"<DATE>", b"</DATE>")?;
        Some(text_of(date).into_owned())
    }
}

/// The id of an NITF story: `<doc-id id-string="...">` in its head.
pub(crate) fn nitf_docno(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let nitf = memmem::find(&head[..head.len().min(2048)], b"<nitf")?;
    let id = memmem::find(&head[nitf..], b"<doc-id")? + nitf;
    attribute(open_tag(&head[id..])?, b"id-string")
}
