//! Interprets one JSON object as a document.

pub(super) mod bulk;
pub(super) mod frame_json;
pub(super) mod strings;
pub(super) mod values;

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use self::values::{
    Kind, Malformed, Members, Objects, Reached, Start, Value, elements, half, is_part, members,
    named, pieces, reach, text_of,
};
use super::ground::bytes::{invalid, is_damaged_utf8};
use super::ground::config::ReadConfig;
use super::ground::fields::{
    DATE_FIELDS, ID_FIELDS, Known, TEXT_FIELDS, TYPE_FIELDS, URL_FIELDS, no_text, quoted, short,
};
use super::ground::outcome::{Interpreter, Outcome};
use super::ground::record::{Marks, Notice, RawDocument};
use super::ground::resolve::{Names, Texts, beside, is_null, no_docno, take_each};
use encoding_rs::UTF_8;
use encoding_rs::mem::{decode_latin1, encode_latin1_lossy};
use lookalike_source::Reason;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Members of an object and elements of a list that are looked at for a message.
const MOST: usize = 256;

/// The text of an object, if it has one.
#[derive(Default)]
pub(super) struct Found {
    /// The usual name of its field, if no flag names it.
    pub field: Option<&'static str>,
    /// Parts of the fields that are not in the text, and fields that are missing.
    pub notices: Vec<(Reason, String)>,
}

impl Found {
    fn left_out(&mut self, reached: &Reached, path: &str) {
        let left = reached.left_out(path);
        self.notices
            .extend(left.map(|left| (Reason::PartsLeft, left)));
    }
}

/// Hands over the values of the text in their order, each with whether its field is called `html`;
/// `None` without a text.
pub(super) fn values(
    (texts, config): (&Texts<'_>, &ReadConfig),
    text: &str,
    members: &Members<'_>,
    take: &mut dyn FnMut(&Value, bool),
) -> Result<Option<Found>, Malformed> {
    let mut any = false;
    let mut take = |value: &Value, html| {
        let nulls = &config.null;
        let is_text = nulls.is_empty() || !is_null(nulls, text_of(text, value).as_bytes());
        if is_text {
            any = true;
            take(value, html);
        }
        is_text
    };
    if config.text_field.is_none() {
        return usual_text(text, members, &mut take);
    }
    let (mut found, mut list) = (Found::default(), false);
    let is_blank = |&start: &Start<'_>| {
        let mut blank = true;
        let reached = reach(text, start, Objects::Parts, &mut |value| {
            let value = text_of(text, value);
            blank &= value.trim().is_empty() || is_null(&config.null, value.as_bytes());
            true
        });
        blank && reached.is_ok_and(|reached| reached.is_text())
    };
    let missing = take_each(&texts.fields(&members), is_blank, |&start| {
        let reached = reach(text, start, Objects::Parts, &mut |value| {
            take(value, start.html)
        })?;
        found.left_out(&reached, start.name.trim());
        let several = reached.like_records(start.path);
        (found.notices).extend(several.map(|like| (Reason::PerhapsSeveral, like)));
        list |= reached.list && !reached.object;
        Ok(reached.is_text())
    })?;
    found.notices.extend(missing);
    Ok((any || list).then_some(found))
}

/// Hands over the values of the first of the usual fields that is a string, or a list of strings,
/// numbers and nulls. A list of objects counts only if the user names it.
fn usual_text(
    text: &str,
    members: &Members<'_>,
    take: &mut dyn FnMut(&Value, bool) -> bool,
) -> Result<Option<Found>, Malformed> {
    let mut found = Found::default();
    for name in TEXT_FIELDS {
        let Some(value) = named(members, name) else {
            continue;
        };
        let is_text = match value.kind {
            Kind::String { .. } => true,
            Kind::List => {
                let mut strings = 0;
                let mut look = |value: &Value| {
                    strings += u64::from(matches!(value.kind, Kind::String { .. }));
                    true
                };
                let reached = reach(text, Start::at(name, value), Objects::None, &mut look)?;
                !reached.object && (strings > 0 || reached.values == 0)
            }
            Kind::Null => continue,
            Kind::Word => return Err(Malformed::no_value(value)),
            _ => false,
        };
        let start = Start::at(name, value);
        let mut take = |value: &Value| take(value, start.html);
        if is_text && reach(text, start, Objects::None, &mut take)?.is_text() {
            found.field = Some(name);
            found.notices.truncate(1);
            return Ok(Some(found));
        }
        let kind = value.kind.text();
        found.notices.push((
            Reason::PartsLeft,
            format!("{name} is of type {kind}, and another field is the text"),
        ));
    }
    Ok(None)
}

/// The places of the strings of an object's text, without their quotes.
pub(super) fn text_strings(
    text: &str,
    config: &ReadConfig,
) -> Result<Vec<Range<usize>>, Malformed> {
    let texts = Texts::of(config);
    let members = members(text, |name| texts.want(name))?;
    let (mut places, mut other) = (Vec::new(), None);
    values(
        (&texts, config),
        text,
        &members,
        &mut |value, _| match value.kind {
            Kind::String { .. } => places.push(value.place.start + 1..value.place.end - 1),
            _ => other = Some(value.place.start),
        },
    )?;
    let what = "a number or a truth value, which cannot be cut,";
    other.map_or(Ok(places), |at| Err(Malformed { at, what }))
}

/// The first value of these fields that can be a name.
fn first(
    names: &Names<'_>,
    text: &str,
    members: &Members<'_>,
    read: fn(&str, &Value) -> Option<String>,
) -> Option<String> {
    names.all(&members).find_map(|start| {
        let mut found = None;
        // A bad value elsewhere does not reject the text.
        let _ = reach(text, start, Objects::Typed, &mut |value| {
            found = found.take().or_else(|| read(text, value));
            true
        });
        found
    })
}

/// A string or a number as a docno or URL.
fn name_in(text: &str, value: &Value) -> Option<String> {
    match value.kind {
        Kind::String { .. } | Kind::Number => {
            let name = text_of(text, value);
            let name = name.trim();
            (!name.is_empty()).then(|| name.to_string())
        }
        _ => None,
    }
}

pub(super) struct JsonObject;

impl Interpreter for JsonObject {
    fn document<'a>(&self, bytes: &'a [u8], config: &ReadConfig) -> Outcome<'a> {
        // Checking alone is several times as fast as replacing, which is rarely needed.
        let read = match std::str::from_utf8(bytes) {
            Ok(text) => read(text, &[], config),
            Err(_) => read_other(bytes, config),
        };
        match read {
            Ok((parts, body)) => Outcome::Document(RawDocument { body, ..parts }),
            Err((docno, refusal)) => {
                let docno = docno.or_else(|| self.docno(bytes));
                Outcome::Refused(docno.map(Cow::Owned), refusal)
            }
        }
    }

    /// The id, if it is a plain string or number. The object may not be whole.
    fn docno(&self, head: &[u8]) -> Option<String> {
        let head = &head[..head.len().min(4096)];
        for name in ["\"id\"", "\"_id\"", "\"docno\""] {
            let Some(at) = memchr::memmem::find(head, name.as_bytes()) else {
                continue;
            };
            let Some(rest) = head[at + name.len()..]
                .trim_ascii_start()
                .strip_prefix(b":")
            else {
                continue;
            };
            let rest = rest.trim_ascii_start();
            let value = match rest {
                [b'"', rest @ ..] => &rest[..memchr::memchr2(b'"', b'\\', rest)?],
                _ => &rest[..rest.iter().position(|byte| !byte.is_ascii_digit())?],
            };
            if !value.is_empty() {
                return Some(as_text(value).0.into_owned());
            }
        }
        None
    }

    /// A string, a number or a truth value; `None` if there is none, or this is not JSON.
    fn field(&self, bytes: &[u8], path: &str) -> Option<String> {
        let (text, _) = as_text(bytes);
        let names = Names::of(Some(path), &[]);
        let members = members(&text, |name| names.want(name)).ok()?;
        first(&names, &text, &members, |text, value| match value.kind {
            Kind::Boolean | Kind::NotFinite => Some(value.text(text).into()),
            _ => name_in(text, value),
        })
    }

    fn known(&self, bytes: &[u8]) -> Vec<Known> {
        known_fields(&as_text(bytes).0)
    }

    fn date(&self, bytes: &[u8]) -> Option<String> {
        DATE_FIELDS.iter().find_map(|name| {
            memchr::memmem::find(bytes, name.as_bytes())?;
            self.field(bytes, name)
        })
    }
}

/// A document and its body, or why there is none, perhaps with its docno.
type Read<'t> = Result<(RawDocument<'static>, Cow<'t, [u8]>), (Option<String>, Notice)>;

/// An object as text, and where it has strings that are not UTF-8, in which each byte is the character
/// of this number.
fn as_text(bytes: &[u8]) -> (Cow<'_, str>, Vec<usize>) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (text.into(), Vec::new());
    }
    let (mut text, mut others, mut escape) =
        (String::with_capacity(bytes.len()), Vec::new(), false);
    let strings = bytes.split_inclusive(|&byte| {
        let ends = byte == b'"' && !escape;
        escape = byte == b'\\' && !escape;
        ends
    });
    for string in strings {
        if let Ok(string) = std::str::from_utf8(string) {
            text.push_str(string);
        } else {
            others.push(text.len());
            text.push_str(&decode_latin1(string));
        }
    }
    (text.into(), others)
}

/// Reads an object that is not UTF-8.
fn read_other(bytes: &[u8], config: &ReadConfig) -> Read<'static> {
    let length = bytes.len() + bytes.iter().filter(|byte| !byte.is_ascii()).count();
    if length as u64 > config.max_document.0 && !is_damaged_utf8(bytes) {
        let detail = format!("{length} bytes as UTF-8");
        return Err((None, (Reason::TooLarge, detail)));
    }
    let (text, others) = as_text(bytes);
    let (mut parts, body) = read(&text, &others, config)?;
    let reason = match parts.replaced {
        0 => Reason::WrongCharset,
        _ => Reason::InvalidBytes,
    };
    let detail = "JSON is UTF-8, but this object is not";
    parts.notices.insert(0, (reason, detail.into()));
    Ok((parts, Cow::Owned(body.into_owned())))
}

/// Reads an object as a document; see [`as_text`].
fn read<'t>(text: &'t str, others: &[usize], config: &ReadConfig) -> Read<'t> {
    let bad = |error: Malformed| (None, (Reason::BadJson, error.to_string()));
    let names = [
        Names::of(config.id_field.as_deref(), &ID_FIELDS),
        Names::of(config.url_field.as_deref(), &URL_FIELDS),
        Names::Usual(&TYPE_FIELDS),
        Names::Usual(&["title"]),
    ];
    let texts = Texts::of(config);
    let wanted = |name: &str| texts.want(name) || names.iter().any(|names| names.want(name));
    let members = members(text, wanted).map_err(bad)?;
    let [docno, url, kind, title] = names
        .each_ref()
        .map(|names| first(names, text, &members, name_in));
    let mut notices: Vec<_> = no_docno(config)
        .filter(|_| docno.is_none())
        .into_iter()
        .collect();
    let docno = docno.unwrap_or_default();

    let mut body = Body::default();
    let found = values((&texts, config), text, &members, &mut |value, html| {
        let is_other = others.binary_search(&(value.place.start + 1)).is_ok();
        body.add((text, value), html, is_other, config);
    });
    let found = found.map_err(bad)?;
    if body.length > config.max_document.0 {
        let fields = config.text_field.as_deref().unwrap_or("its text");
        let detail = format!("{} bytes in {fields}", body.length);
        return Err((Some(docno), (Reason::TooLarge, detail)));
    }
    if let Some(at) = body.bad_escape {
        let what = "an escape that JSON does not have";
        return Err(bad(Malformed { at, what }));
    }
    if body.half {
        notices.push((Reason::InvalidBytes, "half a surrogate pair".to_string()));
    }
    let Some(found) = found else {
        let given = config.text_field.as_deref();
        let detail = no_text(given, &TEXT_FIELDS, &known_fields(text));
        return Err((Some(docno), (Reason::MissingText, detail)));
    };
    notices.extend(found.notices);
    if let Some(name) = found.field {
        notices.extend(beside(name, &body.text, || texts_of(text)));
    }
    let name = found.field.or(config.text_field.as_deref());
    notices.extend(name.and_then(|name| columnar(text, name, named(&members, name)?)));
    let kind = kind.map(|kind| kind.to_ascii_lowercase());
    let (marks, replaced, mut body) = (body.marks, body.replaced, body.text);
    let is_utf8 = others.is_empty() || std::str::from_utf8(&body).is_ok();
    let content = marks.content(kind.as_deref(), &mut body, config);
    let (content, begins) = content.map_err(|refusal| (Some(docno.clone()), refusal))?;
    let parts = RawDocument {
        url: url.map(Cow::Owned),
        title: title.map(Cow::Owned),
        charset: is_utf8.then(|| "utf-8".into()),
        begins,
        replaced,
        fields: found.field.into_iter().map(Cow::Borrowed).collect(),
        notices,
        ..RawDocument::of(docno.into(), content, Cow::default())
    };
    Ok((parts, body))
}

/// A warning about an object with a list for each column of a table: the text has several sentences,
/// another field as many values, and the object no name.
fn columnar(text: &str, name: &str, column: &Value) -> Option<(Reason, String)> {
    if column.kind != Kind::List {
        return None;
    }
    let list = |value: &Value| elements(text, value, MOST);
    let is_words = |value: &Value| {
        value
            .text(text)
            .trim()
            .contains(|c| c == ' ' || c > '\u{e00}')
    };
    let texts = list(column);
    let count = texts.len();
    if texts.iter().filter(|text| is_words(text)).count() < 2 {
        return None;
    }
    let members = first_members(text, &ID_FIELDS);
    let has_id = |id: &&str| named(&members, id).is_some_and(|id| id.kind != Kind::List);
    let is_column = |value: &Value| value.kind == Kind::List && list(value).len() == count;
    let mut others = members.iter().filter(|(other, _)| other != name);
    let (other, _) = others.find(|(_, value)| is_column(value))?;
    let detail = format!(
        "{} and {} are lists of {count}: if they are columns, write each row as an object",
        short(name),
        short(other)
    );
    (!ID_FIELDS.iter().any(has_id)).then_some((Reason::PerhapsSeveral, detail))
}

/// The first members of an object, for a message, and those with these names; none if it is malformed.
fn first_members<'t>(object: &'t str, names: &[&str]) -> Members<'t> {
    let left = Cell::new(MOST);
    let more = || left.replace(left.get().saturating_sub(1)) > 0;
    members(object, |name| names.contains(&name) || more()).unwrap_or_default()
}

/// The first texts of an object, with their paths: each costs a pass over the object.
fn texts_of(object: &str) -> Vec<(String, String)> {
    let known = known_fields(object).into_iter();
    let texts = known
        .filter(|known| known.text.is_some())
        .take(MOST)
        .filter_map(|known| {
            let text = JsonObject.field(object.as_bytes(), &known.path)?;
            Some((known.path, text))
        });
    texts.collect()
}

/// The fields of an object, for a message: the fields of an object or of a list of objects in it
/// are named in place of it.
fn known_fields(text: &str) -> Vec<Known> {
    /// As deep as the parts of the messages of a conversation, and one more.
    const DEPTH: usize = 4;
    let mut known = Vec::new();
    add_fields(text, "", DEPTH, &mut known);
    known
}

fn add_fields(object: &str, prefix: &str, depth: usize, known: &mut Vec<Known>) {
    for (name, value) in first_members(object, &[]) {
        if known.len() >= MOST * MOST {
            return;
        }
        let path = format!("{prefix}{}", quoted(&name));
        let (kind, text) = match value.kind {
            Kind::Object if depth > 1 => {
                add_fields(value.text(object), &format!("{path}."), depth - 1, known);
                continue;
            }
            Kind::List => {
                let list = elements(object, &value, MOST);
                let is_object = |element: &&Value| element.kind == Kind::Object;
                let first = list.iter().find(is_object);
                let parts = first.is_some_and(|first| is_part(object, first));
                if let (Some(first), true, false) =
                    (first, list.iter().all(|e| is_object(&e)), parts)
                    && depth > 1
                {
                    add_fields(first.text(object), &format!("{path}[]."), depth - 1, known);
                    continue;
                }
                let mut kinds: Vec<&str> = Vec::new();
                for element in &list {
                    let kind = kind_of(object, element);
                    if !kinds.contains(&kind) && (kind != "null" || list.len() == 1) {
                        kinds.push(kind);
                    }
                }
                let nested = |e: &Value| {
                    let inside = e.text(object);
                    e.kind == Kind::List && inside.contains('"') && !inside.contains('{')
                };
                let is_text = parts || kinds.contains(&"string") || list.iter().any(nested);
                let mixed = first.is_some() && is_text;
                let kind = match kinds.is_empty() {
                    true => "list".into(),
                    false => format!("list of {}", kinds.join(" and ")),
                };
                known.push(Known {
                    path: if mixed { path + "[]" } else { path },
                    kind: kind.into(),
                    text: is_text.then_some(value.place.len()),
                });
                continue;
            }
            Kind::String { .. } => ("string", Some(value.place.len())),
            _ => (kind_of(object, &value), None),
        };
        let kind = kind.into();
        known.push(Known { path, kind, text });
    }
}

/// Returns the name of a value's kind for messages.
fn kind_of(text: &str, value: &Value) -> &'static str {
    match (value.kind, value.text(text)) {
        (Kind::Number, number) if !number.contains(['.', 'e', 'E']) => "integer",
        (kind, _) => kind.text(),
    }
}

/// The text of a document, as its strings come.
#[derive(Default)]
struct Body<'t> {
    /// The only string, borrowed from the object if it has no escapes; most bytes of a collection
    /// are in such strings, so each copy of them would cost time.
    text: Cow<'t, [u8]>,
    any: bool,
    /// The bytes of the text, which can be more than are kept.
    length: u64,
    marks: Marks,
    half: bool,
    /// A hash of what U+FFFD replaces; 0 for nothing.
    replaced: u64,
    /// Where a string begins that has an escape that JSON does not have.
    bad_escape: Option<usize>,
}

impl<'t> Body<'t> {
    /// Adds a value. If the string `is_other`, each character stands for one byte ([`as_text`]).
    fn add(
        &mut self,
        (text, value): (&'t str, &Value),
        html: bool,
        is_other: bool,
        config: &ReadConfig,
    ) {
        self.marks.add(&self.text, html);
        let literal = value.literal(text);
        let escaped = matches!(value.kind, Kind::String { escaped: true });
        let first = !std::mem::replace(&mut self.any, true);
        if first && !escaped && !is_other {
            self.length = literal.len() as u64;
            self.text = Cow::Borrowed(literal.as_bytes());
            return;
        }
        // The same string many times would outgrow the memory that is counted for the record.
        if self.length > config.max_document.0 {
            self.length += literal.len() as u64 + 1;
            return;
        }
        let out = self.text.to_mut();
        let begin = out.len();
        if !first {
            out.push(b'\n');
        }
        let (from, mut wide) = (out.len(), false);
        if escaped || is_other {
            for (piece, escape) in pieces(literal) {
                if let Some(Some(character)) = escape {
                    wide |= !character.is_ascii();
                    if let Some(half) = half(piece, character) {
                        self.half = true;
                        self.replaced = xxh3_64_with_seed(&half.to_le_bytes(), self.replaced);
                    }
                    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    continue;
                }
                if escape.is_some() {
                    self.bad_escape.get_or_insert(value.place.start);
                }
                match is_other {
                    true => out.extend_from_slice(&encode_latin1_lossy(piece)),
                    false => out.extend_from_slice(piece.as_bytes()),
                }
            }
        } else {
            out.extend_from_slice(literal.as_bytes());
        }
        // The raw bytes and the UTF-8 of an escaped character are in two charsets, so no single one
        // decodes the string.
        if is_other && (wide || is_damaged_utf8(&out[from..])) {
            let bytes = out.split_off(from);
            self.replaced = invalid(UTF_8, &bytes, self.replaced);
            out.extend_from_slice(String::from_utf8_lossy(&bytes).as_bytes());
        }
        self.length += (out.len() - begin) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::ground::record::ContentKind;

    fn parts<'a>(object: &'a str, config: &ReadConfig) -> RawDocument<'a> {
        match JsonObject.document(object.as_bytes(), config) {
            Outcome::Document(parts) => parts,
            _ => panic!("no document in {object}"),
        }
    }

    #[test]
    fn a_text_without_escapes_is_not_copied() {
        let config = ReadConfig::default();
        let plain = parts(r#"{"id":"a","text":"é b"}"#, &config);
        assert!(matches!(plain.body, Cow::Borrowed(b"\xc3\xa9 b")));
        let escaped = parts(r#"{"id":"a","text":"a\nb"}"#, &config);
        assert_eq!(&*escaped.body, b"a\nb");
    }

    fn of_text(field: &str) -> ReadConfig {
        ReadConfig {
            text_field: Some(field.into()),
            ..ReadConfig::default()
        }
    }

    /// The text is taken out of its field, so everything else that uses the field is read before.
    #[test]
    fn one_field_may_be_all() {
        let config = ReadConfig {
            id_field: Some("title".into()),
            url_field: Some("title".into()),
            ..of_text("title")
        };
        let all = parts(r#"{"title":" text/html "}"#, &config);
        let names = [Some(&*all.docno), all.url.as_deref(), all.title.as_deref()];
        assert_eq!(names, [Some("text/html"); 3]);
        assert_eq!(&*all.body, b" text/html ");
        let config = ReadConfig {
            markup: Some(crate::read::Markup::Auto),
            ..of_text("type")
        };
        let typed = parts(r#"{"id":7,"type":"text/html"}"#, &config);
        assert_eq!(typed.content, ContentKind::Markup);
        assert_eq!((&*typed.docno, &*typed.body), ("7", &b"text/html"[..]));
    }

    /// `prompt,completion` and `messages.0.content` were `no text field`.
    #[test]
    fn a_text_may_be_in_several_fields_and_in_lists() {
        let object = r#"{"id":1,"completion":"c \ud800","prompt":"p","m":[{"t":"1"},{"t":"2"}]}"#;
        for (field, text) in [
            ("prompt,completion", "p\nc \u{fffd}"),
            ("m[].t", "1\n2"),
            ("m.1.t", "2"),
        ] {
            assert_eq!(&*parts(object, &of_text(field)).body, text.as_bytes());
        }
        // The same text many times would outgrow the memory that is counted for the record.
        let most = |bytes| ReadConfig {
            max_document: lookalike_base::budget::ByteSize(bytes),
            ..of_text(&["prompt"; 40].join(","))
        };
        assert_eq!(parts(object, &most(79)).body.len(), 79);
        let outcome = JsonObject.document(object.as_bytes(), &most(78));
        assert!(matches!(
            outcome,
            Outcome::Refused(_, refusal) if refusal.0 == Reason::TooLarge
        ));
    }

    /// A list with a null was not a text, or its nulls were texts; an object came first among
    /// several.
    #[test]
    fn nulls_in_lists_are_passed_over() {
        let config = ReadConfig::default();
        for (object, expected) in [
            (r#"{"text":["a",null,"b\n"]}"#, Some("a\nb\n")),
            (r#"{"text":[[null],["a"],null]}"#, Some("a")),
            (r#"{"text":[null],"body":"b"}"#, Some("")),
            (r#"{"text":[]}"#, Some("")),
            (r#"{"text":null,"body":"b"}"#, Some("b")),
            (r#"{"text":["a",5],"body":"b"}"#, Some("a\n5")),
            (r#"{"text":[{"x":"a"}],"body":"b"}"#, Some("b")),
            (r#"{"text":7}"#, None),
            (r#"{"text":[7]}"#, None),
        ] {
            let found = match JsonObject.document(object.as_bytes(), &config) {
                Outcome::Document(parts) => Some(parts.body),
                _ => None,
            };
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{object}");
        }
    }

    /// A docno is what the file has: other digits would name another document.
    #[test]
    fn numbers_are_docnos_as_they_are_written() {
        let config = ReadConfig::default();
        for (written, docno) in [
            (
                "340282366920938463463374607431768211457",
                "340282366920938463463374607431768211457",
            ),
            ("1.0", "1.0"),
            ("-0", "-0"),
            ("1E+400", "1E+400"),
            ("12.340", "12.340"),
            ("\" a\\u0041\\x41 \"", "aA\\x41"),
            // A value that cannot be a name leaves the next field.
            ("NaN", "next"),
            ("null", "next"),
            ("true", "next"),
            ("\" \"", "next"),
            ("{}", "next"),
            ("broken", "next"),
        ] {
            let object = format!("{{\"id\":{written},\"text\":\"t\",\"url\":\"next\"}}");
            assert_eq!(parts(&object, &config).docno, docno, "{written}");
        }
        for (written, value) in [("true", "true"), ("NaN", "NaN"), ("[null,2.50]", "2.50")] {
            let object = format!("{{\"a\":{{\"b\":{written}}}}}");
            assert_eq!(
                JsonObject.field(object.as_bytes(), "a.b").as_deref(),
                Some(value)
            );
        }
    }

    #[test]
    fn an_escape_that_json_does_not_have_counts_in_the_text_alone() {
        let config = ReadConfig::default();
        let object = r#"{"title":"\x","text":"t","other":"\q"}"#;
        assert_eq!(parts(object, &config).title.as_deref(), Some("\\x"));
        let object = br#"{"id":"7","text":"t\x"}"#;
        assert!(matches!(
            JsonObject.document(object, &config),
            Outcome::Refused(Some(docno), (Reason::BadJson, _))
                if docno == "7"
        ));
        let object = b"\xef\xbb\xbf \x1e{\"text\":\"tab \t\"}";
        let text = std::str::from_utf8(object).unwrap();
        assert_eq!(&*parts(text, &config).body, b"tab \t");
    }

    /// Names in UTF-8 were Latin-1, or their fields not found, beside another string that is not UTF-8.
    #[test]
    fn each_string_is_utf8_or_not() {
        let objects: [(&[u8], &str, &[u8]); 4] = [
            (
                b"{\"id\":\"\xc3\xa91\",\"text\":\"ca\xff\"}",
                "é1",
                b"ca\xff",
            ),
            (
                b"{\"id\":\"\xe9\\\"1\",\"text\":\"\xc3\xa9\"}",
                "é\"1",
                b"\xc3\xa9",
            ),
            (b"{\"id\":1,\"t\xc3\xad\":\"a\xff\"}", "1", b"a\xff"),
            (
                b"{\"id\":1,\"t\xed\":[\"a\xff\",\"\xc3\xa9\"]}",
                "1",
                b"a\xff\n\xc3\xa9",
            ),
        ];
        for (object, docno, body) in objects {
            let Outcome::Document(parts) = JsonObject.document(object, &of_text("tí|text")) else {
                panic!("no document in {object:?}");
            };
            assert_eq!((&*parts.docno, &*parts.body), (docno, body));
        }
        let head = JsonObject.docno(b"{\"id\":\"\xf4\",\"text\":}");
        assert_eq!(head.as_deref(), Some("ô"));
    }

    #[test]
    fn values_within_values_are_found() {
        let config = ReadConfig {
            id_field: Some("a.n".into()),
            ..of_text("a.b.c")
        };
        for (object, docno, text) in [
            (
                r#"{"a":{"n":-1.50,"b":{"c":["x","y"],"d":[null,true,{}]}},"title":null}"#,
                "-1.50",
                "x\ny",
            ),
            (
                r#"{"a":{"n":18446744073709551615,"b":{"c":"z"}}}"#,
                "18446744073709551615",
                "z",
            ),
        ] {
            let found = parts(object, &config);
            assert_eq!((&*found.docno, &*found.body), (docno, text.as_bytes()));
            assert_eq!(found.title, None);
        }
        // A string has no fields.
        let bytes = br#"{"a":"b","a.n":"1"}"#;
        assert!(matches!(
            JsonObject.document(bytes, &config),
            Outcome::Refused(Some(docno), _) if docno == "1"
        ));
    }
}
