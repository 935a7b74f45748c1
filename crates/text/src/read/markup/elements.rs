//! Interprets an element of markup as a record: its fields and its text.
//!
//! # Fields
//! A field is a path of names joined by dots, from the record to an element below it:
//! `revision.text`. A name selects the children of this name. Without such children it selects the
//! attribute of this name. At the start of a path, a name that selects neither selects the
//! outermost elements of this name anywhere in the record, or before an attribute all of them.
//! `@name` is an attribute. The values of all elements that a path leads to are joined by line feeds.
//!
//! # What counts as text
//! Without `--text-field`, all text of the record but its docno and URL: one child alone would make
//! records equal that differ elsewhere. If its elements have no text, it is the first attribute of [`TEXTS`] with a
//! value that is not blank, in any case. A value is markup, so its own tags and entities are
//! resolved. A value without tags of its own may be markup that is escaped once more, in entities
//! or a CDATA section: an element or attribute called `body`, `html` or `encoded` always is; one
//! called `text`, if it begins like a page; any other that the user names, and any other of
//! [`TEXTS`], if it begins with a tag, a declaration or a comment.
//!
//! # How
//! The parser of markup resolves charsets and entities, so it gets the unchanged bytes of the
//! values, behind the XML declaration of the file. If they are escaped once more, only characters
//! of ASCII are resolved here; the parser resolves the other ones with it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::{memchr, memchr2, memmem};

use super::sgml;
use crate::read::ground::bytes::{MARK, is_one_of, text_of, trim_front};
use crate::read::ground::config::ReadConfig;
use crate::read::ground::fields::{FieldPath, Known, Step, URL_FIELDS, is_page, no_text};
use crate::read::ground::outcome::{HEAD, Interpreter, Outcome, refused};
use crate::read::ground::record::{ContentKind, Marks, Prolog, RawDocument};
use crate::read::ground::resolve::{Level, Names, Texts, no_docno, take_each};
use crate::read::look::sniff::{kind_of_markup, looks_like_markup};
use crate::read::look::tags::{CDATA, Kind, Tag, Tags, entity, labels, local, unescaped};
use crate::read::look::wordless::{in_attributes, other_attributes};
use lookalike_base::{counted, flag_word, words};
use lookalike_source::Reason;

/// The attributes searched for the text, in this order, without `--text-field`, and the elements
/// whose text may be escaped once more.
const TEXTS: [&str; 10] =
    words("text encoded contents content body html raw_content article description summary");

/// Those searched for the docno, in this order, without `--id-field`.
const IDS: [&str; 9] = [
    "id", "_id", "docno", "doc_id", "docid", "uuid", "pmid", "url", "uri",
];

const TITLE: &str = "title";

/// The longest XML declaration.
const DECLARATION: usize = 256;

/// Elements with the text of a record that are named.
const MOST_NAMES: usize = 32;

/// The declaration of a body if the file has none.
const XML: &[u8] = b"<?xml version=\"1.0\"?>";

impl Prolog {
    /// The prolog at the start of a file. In a page, a `<meta>` tag before the first element called
    /// `record` declares the charset. A byte order mark makes declarations of other charsets wrong.
    pub(crate) fn of(bytes: &[u8], record: Option<&str>) -> Prolog {
        let head = trim_front(bytes);
        let declaration = head
            .strip_prefix(b"<?xml")
            .filter(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))
            .and_then(|_| memmem::find(&head[..head.len().min(DECLARATION)], b"?>"))
            .map(|end| &head[..end + 2]);
        let root = || Tags::of(head).next();
        let xml = declaration.is_some()
            || root().is_some_and(|root| memmem::find(root.attributes, b"xmlns").is_some());
        let html = kind_of_markup(head) == ContentKind::Markup;
        let mut prolog = Prolog {
            xml,
            html,
            ..Prolog::default()
        };
        let known = |label: &[u8]| Encoding::for_label_no_replacement(label);
        prolog.encoding = match (declaration, record) {
            (Some(declaration), _) => {
                sgml::attribute(declaration, b"encoding").and_then(|label| known(label.as_bytes()))
            }
            (None, Some(record)) if html => {
                // A late tag says nothing of bytes that are UTF-8.
                let late =
                    std::str::from_utf8(head).is_err_and(|error| error.error_len().is_some());
                let first = Tags::of(head).find(|tag| prolog.names(tag.name, record));
                labels(&head[..first.map_or(head.len(), |tag| tag.start)], late).find_map(known)
            }
            _ => None,
        };
        // A declaration that can be read as ASCII is not in UTF-16.
        let not = [UTF_16LE, UTF_16BE, X_USER_DEFINED];
        let marked = bytes.starts_with(MARK);
        let counts = |found: &_| !not.contains(found) && (!marked || *found == UTF_8);
        prolog.encoding = prolog.encoding.filter(counts);
        let declaration = declaration.filter(|_| !marked || prolog.encoding.is_some());
        prolog.declaration = declaration.map(Box::from);
        prolog
    }

    /// Whether an element or attribute has the name that a user gave.
    fn names(&self, found: &[u8], wanted: &str) -> bool {
        let found = match wanted.contains(':') {
            true => found,
            false => local(found),
        };
        match self.xml {
            true => found == wanted.as_bytes(),
            false => found.eq_ignore_ascii_case(wanted.as_bytes()),
        }
    }

    /// The text of a short value, without tags, and in one line.
    fn plain(&self, raw: &[u8]) -> Option<String> {
        // Longer names are refused, and no value is unescaped to less than a tenth.
        let raw = &raw[..raw.len().min(16 * HEAD)];
        let mut bytes = Vec::new();
        unescape(raw, &mut bytes);
        let text = match self.encoding {
            Some(encoding) => encoding.decode_without_bom_handling(&bytes).0,
            None => match std::str::from_utf8(&bytes) {
                Ok(text) => text.into(),
                Err(_) => WINDOWS_1252.decode_without_bom_handling(&bytes).0,
            },
        };
        let text = unescaped(&text, |c| !c.is_ascii());
        let text = text_of(text.trim().as_bytes()).into_owned();
        (!text.is_empty()).then_some(text)
    }
}

/// Whether a field usually has this name.
fn is_usual(found: &[u8], name: &str) -> bool {
    local(found).eq_ignore_ascii_case(name.as_bytes())
}

/// Whether these bytes have a tag that opens an element of this name.
pub(crate) fn has_element(bytes: &[u8], name: &str) -> bool {
    let prolog = Prolog::default();
    Tags::of(bytes).any(|tag| tag.kind != Kind::Close && prolog.names(tag.name, name))
}

/// Passes on the elements of a name, with their content: the children, or, with `anywhere`, the
/// outermost ones.
fn elements<'a>(
    content: &'a [u8],
    is: &dyn Fn(&[u8]) -> bool,
    anywhere: bool,
    take: &mut dyn FnMut(Tag<'a>, &'a [u8]),
) {
    let mut tags = Tags::of(content);
    let mut depth = 0usize;
    let mut all_close = true;
    while let Some(tag) = tags.next() {
        if tag.kind == Kind::Close {
            depth = depth.saturating_sub(1);
        } else if !is(tag.name) || !anywhere && depth > 0 {
            depth += usize::from(tag.kind == Kind::Open);
        } else if tag.kind == Kind::Empty {
            take(tag, &[]);
        } else {
            let close = match all_close {
                true => closing(tags.clone(), is),
                false => None,
            };
            // If some elements are not closed, each ends before the next, or its text ends before a
            // tag.
            let close = close.or_else(|| {
                all_close = false;
                let next = tags.clone().find(|tag| is(tag.name));
                next.filter(|next| next.kind == Kind::Close)
            });
            match close {
                Some(close) => {
                    take(tag, &content[tag.end..close.start]);
                    tags.at = close.end;
                }
                None => {
                    let rest = &content[tag.end..];
                    take(tag, &rest[..memchr(b'<', rest).unwrap_or(rest.len())]);
                }
            }
        }
    }
}

/// The closing tag of the element that was opened before these tags.
fn closing<'a>(tags: Tags<'a>, is: &dyn Fn(&[u8]) -> bool) -> Option<Tag<'a>> {
    let mut depth = 1;
    for tag in tags.filter(|tag| is(tag.name)) {
        match tag.kind {
            Kind::Open => depth += 1,
            Kind::Empty => {}
            Kind::Close => depth -= 1,
        }
        if depth == 0 {
            return Some(tag);
        }
    }
    None
}

/// A record: its own tag and its content.
struct Element<'p, 'a> {
    prolog: &'p Prolog,
    tag: Tag<'a>,
    content: &'a [u8],
    /// Which names of usual fields there are in the content.
    usual: Vec<&'static str>,
    /// Whether elements of its own name are in the content.
    nests: bool,
}

/// Takes a value, as its bytes are, and the name of its element or attribute.
type Take<'t, 'a> = dyn FnMut(&'a [u8], &[u8]) + 't;

impl<'p, 'a> Element<'p, 'a> {
    /// The element that these bytes begin with; its end may be missing.
    fn of(prolog: &'p Prolog, bytes: &'a [u8]) -> Self {
        let tag = Tags::of(bytes).next().unwrap_or_default();
        let end = memmem::rfind(bytes, b"</").unwrap_or(bytes.len());
        let content = bytes.get(tag.end..end).unwrap_or_default();
        Element {
            prolog,
            tag,
            content,
            usual: Vec::new(),
            nests: false,
        }
    }

    /// Looks for usual fields, in one pass over the tags.
    fn with_usual(mut self) -> Self {
        let all = || IDS.iter().chain(&URL_FIELDS).chain(&[TITLE]);
        for tag in Tags::of(self.content).filter(|tag| tag.kind != Kind::Close) {
            self.nests |= tag.name == self.tag.name;
            if let Some(name) = all().find(|name| is_usual(tag.name, name))
                && !self.usual.contains(name)
            {
                self.usual.push(name);
            }
        }
        self
    }

    /// Passes on the values of a field, as the module page defines it. Returns whether there are
    /// any.
    fn values(&self, path: &FieldPath<'_>, take: &mut Take<'_, 'a>) -> bool {
        names_of(path)
            .is_some_and(|steps| values((self.tag, self.content), &steps, self.prolog, true, take))
    }

    /// The line of a record that has records of its own name within it, whose fields were not all
    /// `taken`: a record within a record is not a document.
    fn nested(
        &self,
        texts: &Texts<'_>,
        given: &str,
        mut taken: BTreeMap<usize, usize>,
    ) -> Option<(Reason, String)> {
        let own = |found: &[u8]| found == self.tag.name;
        let name = shown(self.tag.name);
        let (mut lost, mut paths) = (0, given.to_string());
        // The longest paths usually come last.
        let all: Vec<_> = texts.paths().filter(|_| self.nests).collect();
        for path in all.into_iter().rev() {
            let (Some(steps), before) = (names_of(path), lost) else {
                continue;
            };
            let mut take = |raw: &'a [u8], _: &[u8]| {
                let begin = raw.as_ptr().addr();
                let within = taken.range(..=begin).next_back();
                let is_taken = within.is_some_and(|(_, end)| begin + raw.len() <= *end);
                if !is_taken && has_text(raw) {
                    lost += 1;
                    taken.insert(begin, begin + raw.len());
                }
            };
            let mut look = |tag, content| {
                values((tag, content), &steps, self.prolog, false, &mut take);
            };
            if let [attribute] = &steps[..]
                && attribute.starts_with('@')
            {
                let tags = Tags::of(self.content).filter(|tag| tag.kind != Kind::Close);
                tags.filter(|tag| own(tag.name))
                    .for_each(|tag| look(tag, &[]));
            } else {
                elements(self.content, &own, true, &mut look);
            }
            if lost > before {
                paths.push_str(&format!(",{name}.{}", path.literal.trim()));
            }
        }
        let line = || {
            let (fields, flag) = (counted(lost, "field"), flag_word("--text-field", &paths));
            format!("{fields} of {name} elements in this one; to count: {flag}")
        };
        (lost > 0).then(|| (Reason::ElementsLeft, line()))
    }

    /// The value of a docno or the like, in one line.
    fn name(&self, given: Option<&str>, usual: &'static [&'static str]) -> Option<String> {
        Names::of(given, usual).all(&self).next()
    }
}

/// The values of fields, in one line.
impl<'p> Level<'p> for &Element<'_, '_> {
    type Found = String;

    fn whole(&self, _: &str) -> Option<String> {
        None
    }

    /// Only children and attributes count, in any case of their names.
    fn usual(&self, name: &str) -> Option<String> {
        let is = |found: &[u8]| is_usual(found, name);
        let mut first: Option<String> = None;
        // The number of an article in PubMed is deeper than its other names.
        let anywhere = name == "pmid";
        if self.usual.contains(&name) {
            elements(self.content, &is, anywhere, &mut |tag, content| {
                if first.is_none() {
                    let link = || tag.attribute(|name| name == b"href");
                    let plain = self.prolog.plain(content);
                    first = plain.or_else(|| self.prolog.plain(link()?));
                }
            });
        }
        first.or_else(|| self.prolog.plain(self.tag.attribute(is)?))
    }

    fn find(&self, path: &'p FieldPath<'p>) -> Option<String> {
        let mut first = None;
        self.values(path, &mut |raw, _| {
            first = first.take().or_else(|| self.prolog.plain(raw));
        });
        first
    }
}

/// The names on a path, which takes all elements of a name, with brackets or without.
fn names_of<'p>(path: &'p FieldPath<'_>) -> Option<Vec<&'p str>> {
    let names = path.steps.iter().filter(|step| **step != Step::All);
    let names = names.map(|step| match step {
        Step::Name(name) => Some(&**name),
        _ => None,
    });
    names.collect()
}

fn values<'a>(
    (tag, content): (Tag<'a>, &'a [u8]),
    steps: &[&str],
    prolog: &Prolog,
    first: bool,
    take: &mut Take<'_, 'a>,
) -> bool {
    let [step, rest @ ..] = steps else {
        return false;
    };
    let attribute = |wanted: &str| tag.attribute(|name| prolog.names(name, wanted));
    if let Some(wanted) = step.strip_prefix('@') {
        let value = attribute(wanted);
        value
            .into_iter()
            .for_each(|value| take(value, wanted.as_bytes()));
        return value.is_some();
    }
    let is = |name: &[u8]| prolog.names(name, step);
    let mut any = false;
    let mut search = |anywhere: bool, take: &mut Take<'_, 'a>| {
        if let (true, [attribute]) = (anywhere, rest)
            && attribute.starts_with('@')
        {
            for tag in Tags::of(content).filter(|tag| tag.kind != Kind::Close && is(tag.name)) {
                any |= values((tag, &[]), rest, prolog, false, take);
            }
            return any;
        }
        elements(content, &is, anywhere, &mut |tag, content| {
            if rest.is_empty() {
                take(content, tag.name);
                any = true;
            } else {
                any |= values((tag, content), rest, prolog, false, take);
            }
        });
        any
    };
    if search(false, take) {
        return true;
    }
    if rest.is_empty()
        && let Some(value) = attribute(step)
    {
        take(value, step.as_bytes());
        return true;
    }
    first && search(true, take)
}

/// Appends a text without its tags, with CDATA sections unwrapped and ASCII characters unescaped.
fn unescape(mut raw: &[u8], out: &mut Vec<u8>) {
    while let Some(at) = memchr2(b'<', b'&', raw) {
        out.extend_from_slice(&raw[..at]);
        raw = &raw[at..];
        let length = if raw[0] == b'&' {
            match entity(raw) {
                Some((c, length)) if c.is_ascii() => {
                    out.push(c as u8);
                    length
                }
                _ => {
                    out.push(b'&');
                    1
                }
            }
        } else if let Some(inside) = raw.strip_prefix(CDATA) {
            let length = memmem::find(inside, b"]]>").unwrap_or(inside.len());
            out.extend_from_slice(&inside[..length]);
            (CDATA.len() + length + 3).min(raw.len())
        } else {
            out.push(b' ');
            memchr(b'>', raw).map_or(raw.len(), |end| end + 1)
        };
        raw = &raw[length..];
    }
    out.extend_from_slice(raw);
}

/// Whether the value of a field is markup that is escaped once more.
fn is_escaped_markup(raw: &[u8], name: &[u8]) -> bool {
    let tags = |raw: &[u8]| {
        let mut rest = raw;
        while let Some(at) = memchr(b'<', rest) {
            let Some(inside) = rest[at..].strip_prefix(CDATA) else {
                return true;
            };
            let end = memmem::find(inside, b"]]>").map(|end| end + 3);
            rest = &inside[end.unwrap_or(inside.len())..];
        }
        false
    };
    if tags(raw) {
        return false;
    }
    let is = |names: &[&str]| is_one_of(local(name), names);
    if is(&["body", "html", "encoded"]) {
        return true;
    }
    let mut begin = Vec::new();
    unescape(
        &raw.trim_ascii_start()[..raw.trim_ascii_start().len().min(2048)],
        &mut begin,
    );
    if is(&["text"]) {
        is_page(&begin)
    } else {
        looks_like_markup(&begin)
    }
}

impl Interpreter for Prolog {
    fn document<'a>(&self, bytes: &'a [u8], config: &ReadConfig) -> Outcome<'a> {
        let element = Element::of(self, bytes).with_usual();
        let mut notices = Vec::new();
        let docno = element.name(config.id_field.as_deref(), &IDS);
        notices.extend(no_docno(config).filter(|_| docno.is_none()));
        let docno = docno.unwrap_or_default();
        let url = element.name(config.url_field.as_deref(), &URL_FIELDS);
        let mut fields = Vec::new();
        let mut body = self.declaration.as_deref().unwrap_or(XML).to_vec();
        let declaration = body.len();
        let (mut any, mut length, mut html) = (false, 0u64, self.html);
        let mut marks = Marks::default();
        {
            let mut push = |raw: &[u8], name: &[u8]| {
                length += raw.len() as u64 + u64::from(any);
                if length > config.max_document.0 {
                    return;
                }
                marks.add(&body, true);
                if std::mem::replace(&mut any, true) {
                    body.push(b'\n');
                }
                let escaped = is_escaped_markup(raw, name);
                html |= escaped;
                match escaped {
                    true => unescape(raw, &mut body),
                    false => body.extend_from_slice(raw),
                }
            };
            match &config.text_field {
                Some(given) => {
                    let texts = Texts::of(config);
                    let mut taken = BTreeMap::new();
                    let is_blank = |path: &&FieldPath<'_>| {
                        let mut blank = true;
                        element.values(path, &mut |raw, _| blank &= !has_text(raw)) && blank
                    };
                    let missing = take_each::<_, Infallible>(&texts.given(), is_blank, |path| {
                        Ok(element.values(path, &mut |raw, name| {
                            let begin = raw.as_ptr().addr();
                            taken.insert(begin, begin + raw.len());
                            push(raw, name);
                        }))
                    });
                    let Ok(missing) = missing;
                    notices.extend(missing);
                    notices.extend(element.nested(&texts, given, taken));
                }
                None if has_text(element.content) => {
                    let names = element.with_text(config);
                    let own = names.iter().any(|name| **name == *shown(element.tag.name));
                    let texts = || names.iter().map(ToString::to_string).collect();
                    let left = other_attributes(
                        bytes.get(..element.tag.end).unwrap_or_default(),
                        (!own).then(texts),
                        |attribute| element.names_it(attribute, config),
                    );
                    notices.extend(left.map(|left| (Reason::AttributeText, left)));
                }
                None => {
                    let mut texts = TEXTS.iter().filter_map(|name| {
                        let mut all = element.tag.attributes();
                        let found = all.find(|(found, _)| is_usual(found, name));
                        found.filter(|(_, value)| !value.trim_ascii().is_empty())
                    });
                    let place = match texts.next() {
                        Some((name, value)) => {
                            push(value, name);
                            let field = format!("@{}", shown(name));
                            fields.push(field.clone().into());
                            other_attributes(bytes, Some(vec![field]), |other| other == name)
                        }
                        // If the record has content, reading the content reports the attributes in it.
                        None if element.content.is_empty() => {
                            in_attributes(bytes, ContentKind::Xml, 0, true, true)
                        }
                        None => None,
                    };
                    notices.extend(place.map(|place| (Reason::AttributeText, place)));
                }
            }
        }
        let refused = |reason, detail| refused(Some(docno.clone().into()), reason, detail);
        if length > config.max_document.0 {
            return refused(Reason::TooLarge, format!("{length} bytes in its fields"));
        }
        if !any {
            match &config.text_field {
                Some(paths) => {
                    let detail = no_text(Some(paths), &[], &element.known());
                    return refused(Reason::MissingText, detail);
                }
                None => {
                    html |= element.whole_text(config, &mut body, &mut marks);
                    fields = element.with_text(config);
                }
            }
        }
        debug_assert!(body.len() <= declaration + bytes.len().max(length as usize));
        let content = if html {
            ContentKind::Markup
        } else {
            ContentKind::Xml
        };
        Outcome::Document(RawDocument {
            url: url.map(Cow::Owned),
            title: element.name(None, &[TITLE]).map(Cow::Owned),
            begins: marks.begins(),
            fields,
            notices,
            of_file: self.encoding,
            ..RawDocument::of(docno.into(), content, body.into())
        })
    }

    fn docno(&self, head: &[u8]) -> Option<String> {
        Element::of(self, head).with_usual().name(None, &IDS)
    }

    fn known(&self, bytes: &[u8]) -> Vec<Known> {
        Element::of(self, bytes).known()
    }

    /// The value is in one line.
    fn field(&self, bytes: &[u8], path: &str) -> Option<String> {
        Element::of(self, bytes).name(Some(path), &[])
    }
}

/// A name for a message.
fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(&name[..name.len().min(40)]).into_owned()
}

/// Whether there is anything but white space between the tags.
fn has_text(content: &[u8]) -> bool {
    let mut at = 0;
    let mut gaps = Tags::of(content).map(|tag| {
        let gap = content.get(at..tag.start).unwrap_or_default();
        at = tag.end;
        !gap.trim_ascii().is_empty()
    });
    let rest = |at| content.get(at..).unwrap_or_default().trim_ascii();
    gaps.any(|text| text) || !rest(at).is_empty()
}

/// Appends the content of a record, in which fields of [`TEXTS`] may be escaped once more. Returns
/// whether one is.
fn whole_text(content: &[u8], out: &mut Vec<u8>, marks: &mut Marks) -> bool {
    let mut from = 0;
    let mut opened: Option<Tag<'_>> = None;
    for tag in Tags::of(content) {
        if let (Kind::Close, Some(open)) = (tag.kind, opened)
            && is_one_of(local(open.name), &TEXTS)
            && let Some(raw) = content.get(open.end..tag.start)
            && is_escaped_markup(raw, open.name)
        {
            out.extend_from_slice(content.get(from..open.end).unwrap_or_default());
            marks.add(out, true);
            unescape(raw, out);
            marks.add(out, true);
            from = tag.start;
        }
        opened = (tag.kind == Kind::Open).then_some(tag);
    }
    out.extend_from_slice(content.get(from..).unwrap_or_default());
    from > 0
}

impl<'a> Element<'_, 'a> {
    /// Whether a child names the record: it is its docno or its URL.
    fn names_it(&self, found: &[u8], config: &ReadConfig) -> bool {
        let is = |given: &Option<String>, usual: &[&str]| match given {
            Some(path) => self.prolog.names(found, path),
            None => usual.iter().any(|name| is_usual(found, name)),
        };
        is(&config.id_field, &IDS) || is(&config.url_field, &URL_FIELDS)
    }

    /// The names of the children that have the text of the record, and its own name if it has text
    /// itself.
    fn with_text(&self, config: &ReadConfig) -> Vec<Cow<'static, str>> {
        let mut names: Vec<&'a [u8]> = Vec::new();
        let mut add = |name: &'a [u8], content: &[u8]| {
            if names.len() < MOST_NAMES && !names.contains(&name) && has_text(content) {
                names.push(name);
            }
        };
        let mut from = 0;
        elements(self.content, &|_| true, false, &mut |tag, content| {
            let before = self.content.get(from..tag.start).unwrap_or_default();
            add(self.tag.name, before);
            from = tag.end + content.len();
            if !self.names_it(tag.name, config) {
                add(tag.name, content);
            }
        });
        let rest = self.content.get(from..).unwrap_or_default();
        add(self.tag.name, rest);
        names.into_iter().map(|name| shown(name).into()).collect()
    }

    /// Appends all text of the record except the children that name it. Returns whether some of it
    /// is markup that was escaped.
    fn whole_text(&self, config: &ReadConfig, out: &mut Vec<u8>, marks: &mut Marks) -> bool {
        marks.add(&[], true);
        let names_it = |found: &[u8]| self.names_it(found, config);
        let (mut from, mut escaped) = (0, false);
        elements(self.content, &names_it, false, &mut |tag, content| {
            let before = self.content.get(from..tag.start).unwrap_or_default();
            escaped |= whole_text(before, out, marks);
            from = tag.end + content.len();
        });
        let rest = self.content.get(from..).unwrap_or_default();
        whole_text(rest, out, marks) | escaped
    }

    /// Its attributes and elements, for a message.
    fn known(&self) -> Vec<Known> {
        let mut all: Vec<Known> = Vec::new();
        let mut add = |path: String, kind: &'static str, value: &[u8]| {
            if all.len() < MOST_NAMES && all.iter().all(|known| known.path != path) {
                let text = has_text(value).then_some(value.len());
                let kind = kind.into();
                all.push(Known { path, kind, text });
            }
        };
        for (name, value) in self.tag.attributes() {
            add(format!("@{}", shown(name)), "attribute", value);
        }
        elements(self.content, &|_| true, false, &mut |tag, content| {
            add(shown(tag.name), "element", content);
        });
        all
    }
}
