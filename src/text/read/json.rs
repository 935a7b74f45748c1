//! Interprets one JSON object as a document.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use super::config::ReadConfig;
use super::fields::{
    DATE_FIELDS, FieldPath, ID_FIELDS, Known, TEXT_FIELDS, TYPE_FIELDS, URL_FIELDS, no_text, quoted,
};
use super::json_values::{
    Kind, Malformed, Members, Take, Value, decode, first_element, leaves, may_begin, members,
    named, reach, text_of,
};
use super::outcome::{Interpreter, Outcome, Parts, Refusal};
use super::record::Reason;

/// The names of fields to look for, in this order: a given one, or all of a list.
enum Names<'c> {
    Given(FieldPath<'c>),
    Usual(&'static [&'static str]),
}

impl<'c> Names<'c> {
    fn of(given: Option<&'c str>, usual: &'static [&'static str]) -> Result<Names<'c>, Malformed> {
        match given {
            Some(path) => FieldPath::one(path).map(Names::Given).map_err(|_| NO_PATH),
            None => Ok(Names::Usual(usual)),
        }
    }

    fn want(&self, name: &str) -> bool {
        match self {
            Names::Given(path) => may_begin(path, name),
            Names::Usual(names) => names.contains(&name),
        }
    }

    /// The first value that `read` accepts.
    fn first(
        &self,
        text: &str,
        members: &Members<'_>,
        read: fn(&str, &Value) -> Option<String>,
    ) -> Option<String> {
        let mut found = None;
        let mut take = |value: &Value| {
            if found.is_none() {
                found = read(text, value);
            }
        };
        // A bad value elsewhere does not reject the text.
        match self {
            Names::Given(path) => {
                let _ = reach(text, members, path, &mut take);
            }
            Names::Usual(names) => {
                for value in names.iter().filter_map(|name| named(members, name)) {
                    let _ = leaves(text, value, &mut take);
                }
            }
        }
        found
    }
}

/// The configuration refuses such a path before anything is read.
const NO_PATH: Malformed = Malformed {
    at: 0,
    what: "no field is named",
};

/// The fields of the text.
pub(super) struct TextFields<'c> {
    given: Option<&'c str>,
    /// The given ones.
    paths: Vec<FieldPath<'c>>,
}

/// The text of an object, if it has one.
pub(super) struct Found {
    /// Whether the name of its field says that it is HTML.
    pub html: bool,
    /// The first of several given fields that the object does not have.
    pub missing: Option<String>,
}

impl<'c> TextFields<'c> {
    pub fn new(config: &'c ReadConfig) -> Result<Self, Malformed> {
        let given = config.text_field.as_deref();
        let paths = given.map(FieldPath::all).transpose();
        Ok(TextFields {
            given,
            paths: paths.map_err(|_| NO_PATH)?.unwrap_or_default(),
        })
    }

    pub(crate) fn want(&self, name: &str) -> bool {
        match self.given {
            // All together may be the name of one field.
            Some(given) => given == name || self.paths.iter().any(|path| may_begin(path, name)),
            None => TEXT_FIELDS.contains(&name),
        }
    }

    /// Hands over the strings of the text in their order; `None` without a text.
    pub fn strings(
        &self,
        text: &str,
        members: &Members<'_>,
        take: &mut Take<'_>,
    ) -> Result<Option<Found>, Malformed> {
        let Some(given) = self.given else {
            return usual_text(text, members, take);
        };
        let (mut any, mut list, mut other) = (false, false, false);
        let (reached, mut missing) = (Cell::new(0_u64), None);
        let mut take = |value: &Value| {
            reached.set(reached.get() + 1);
            match value.kind {
                Kind::String { .. } => {
                    any = true;
                    take(value);
                }
                _ => other = true,
            }
        };
        let html = match named(members, given) {
            Some(value) if self.paths.len() > 1 => {
                list = leaves(text, value, &mut take)?.is_list();
                false
            }
            _ => {
                for path in &self.paths {
                    let before = reached.get();
                    let is_list = reach(text, members, path, &mut take)?.is_list();
                    list |= is_list;
                    if !is_list && reached.get() == before && missing.is_none() {
                        missing = Some(path.literal.trim().to_string());
                    }
                }
                self.paths.iter().all(|path| path.last() == "html")
            }
        };
        Ok((any || list && !other).then_some(Found { html, missing }))
    }
}

/// Hands over the strings of the first of the usual fields that is a string, or a list of strings
/// and nulls.
fn usual_text(
    text: &str,
    members: &Members<'_>,
    take: &mut Take<'_>,
) -> Result<Option<Found>, Malformed> {
    for name in TEXT_FIELDS {
        let Some(value) = named(members, name) else {
            continue;
        };
        let found = match value.kind {
            Kind::String { .. } => true,
            Kind::List => {
                let mut others = false;
                let mut look = |value: &Value| {
                    others |= !matches!(value.kind, Kind::String { .. });
                };
                leaves(text, value, &mut look)?.is_list() && !others
            }
            Kind::Word => return Err(Malformed::no_value(value)),
            _ => false,
        };
        if found {
            leaves(text, value, take)?;
            let html = name == "html";
            let missing = None;
            return Ok(Some(Found { html, missing }));
        }
    }
    Ok(None)
}

/// The places of the strings of an object's text, without their quotes.
pub(super) fn text_strings(
    text: &str,
    config: &ReadConfig,
) -> Result<Vec<Range<usize>>, Malformed> {
    let texts = TextFields::new(config)?;
    let members = members(text, |name| texts.want(name))?;
    let mut places = Vec::new();
    texts.strings(text, &members, &mut |value| {
        places.push(value.place.start + 1..value.place.end - 1);
    })?;
    Ok(places)
}

/// The members of an object that are wanted of it.
fn wanted<'t>(
    text: &'t str,
    texts: &TextFields<'_>,
    names: &[&Names<'_>],
) -> Result<Members<'t>, Malformed> {
    members(text, |name| {
        texts.want(name)
            || names.iter().any(|names| names.want(name))
            || TYPE_FIELDS.contains(&name)
            || name == "title"
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
        let refusal = match std::str::from_utf8(bytes) {
            Ok(text) => match read(text, config) {
                Ok(parts) => return Outcome::Document(parts),
                Err(refused) => refused,
            },
            Err(_) => {
                // An invalid byte becomes three bytes.
                let length: usize = bytes
                    .utf8_chunks()
                    .map(|chunk| chunk.valid().len() + 3 * usize::from(!chunk.invalid().is_empty()))
                    .sum();
                if length as u64 > config.max_document.0 {
                    let detail = format!("{length} bytes as UTF-8");
                    (None, Refusal::new(Reason::TooLarge, detail))
                } else {
                    match read(&String::from_utf8_lossy(bytes), config) {
                        Ok(mut parts) => {
                            let not_utf8 = (Reason::InvalidBytes, "not UTF-8".to_string());
                            parts.notices.insert(0, not_utf8);
                            return Outcome::Document(Parts {
                                body: Cow::Owned(parts.body.into_owned()),
                                docno: Cow::Owned(parts.docno.into_owned()),
                                url: parts.url.map(|url| Cow::Owned(url.into_owned())),
                                title: parts.title.map(|title| Cow::Owned(title.into_owned())),
                                charset: Some("utf-8".into()),
                                ..parts
                            });
                        }
                        Err(refused) => refused,
                    }
                }
            }
        };
        let (docno, refusal) = refusal;
        Outcome::Refused {
            docno: docno.or_else(|| self.docno(bytes)).map(Cow::Owned),
            refusal,
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
                return Some(String::from_utf8_lossy(value).into_owned());
            }
        }
        None
    }

    /// A string, a number or a truth value; `None` if there is none, or this is not JSON.
    fn field(&self, bytes: &[u8], path: &str) -> Option<String> {
        let text = String::from_utf8_lossy(bytes);
        let names = Names::Given(FieldPath::one(path).ok()?);
        let members = members(&text, |name| names.want(name)).ok()?;
        names.first(&text, &members, |text, value| match value.kind {
            Kind::Boolean | Kind::NotFinite => Some(value.text(text).into()),
            _ => name_in(text, value),
        })
    }

    fn known(&self, bytes: &[u8]) -> Vec<Known> {
        known_fields(&String::from_utf8_lossy(bytes))
    }

    fn date(&self, bytes: &[u8]) -> Option<String> {
        DATE_FIELDS.iter().find_map(|name| {
            memchr::memmem::find(bytes, name.as_bytes())?;
            self.field(bytes, name)
        })
    }
}

/// Reads an object as a document. A refusal may have its docno.
fn read<'t>(text: &'t str, config: &ReadConfig) -> Result<Parts<'t>, (Option<String>, Refusal)> {
    let bad = |error: Malformed| (None, Refusal::new(Reason::BadJson, error.to_string()));
    let ids = Names::of(config.id_field.as_deref(), &ID_FIELDS).map_err(bad)?;
    let urls = Names::of(config.url_field.as_deref(), &URL_FIELDS).map_err(bad)?;
    let texts = TextFields::new(config).map_err(bad)?;
    let members = wanted(text, &texts, &[&ids, &urls]).map_err(bad)?;
    let mut notices = Vec::new();
    let docno = ids.first(text, &members, name_in);
    if let (None, Some(field)) = (&docno, &config.id_field) {
        notices.push((Reason::MissingDocno, format!("no {field}")));
    }
    let docno = docno.unwrap_or_default();
    let url = urls.first(text, &members, name_in);
    let kind = Names::Usual(&TYPE_FIELDS).first(text, &members, name_in);
    let title = Names::Usual(&["title"]).first(text, &members, name_in);

    let mut body = Body::default();
    let found = texts.strings(text, &members, &mut |value| body.add(text, value, config));
    let found = found.map_err(bad)?;
    if body.length > config.max_document.0 {
        let fields = config.text_field.as_deref().unwrap_or("its text");
        let detail = format!("{} bytes in {fields}", body.length);
        return Err((Some(docno), Refusal::new(Reason::TooLarge, detail)));
    }
    if let Some(at) = body.bad_escape {
        let what = "an escape that JSON does not have";
        return Err(bad(Malformed { at, what }));
    }
    if body.half {
        notices.push((Reason::InvalidBytes, "half a surrogate pair".to_string()));
    }
    let Some(Found { html, missing }) = found else {
        let given = config.text_field.as_deref();
        let detail = no_text(given, &TEXT_FIELDS, &known_fields(text));
        return Err((Some(docno), Refusal::new(Reason::MissingText, detail)));
    };
    if let Some(field) = missing {
        notices.push((Reason::MissingField, format!("no field {field}")));
    }
    let kind = kind.map(|kind| kind.to_ascii_lowercase());
    let body = match body.text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    };
    Ok(Parts {
        docno: docno.into(),
        url: url.map(Cow::Owned),
        title: title.map(Cow::Owned),
        content: config.content(html, kind.as_deref(), &body),
        charset: Some("utf-8".into()),
        body,
        notices,
    })
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
    /// Members of each object that are looked at.
    const MOST: usize = 256;
    let left = Cell::new(MOST);
    let more = |_: &str| left.replace(left.get().saturating_sub(1)) > 0;
    for (name, value) in members(object, more).unwrap_or_default() {
        if known.len() >= MOST * MOST {
            return;
        }
        let path = format!("{prefix}{}", quoted(&name));
        let element = element_of(object, &value);
        let (within, dot) = match (value.kind, &element) {
            (Kind::Object, _) if depth > 1 => (&value, "."),
            (Kind::List, Some(element)) if element.kind == Kind::Object && depth > 1 => {
                (element, "[].")
            }
            _ => {
                known.push(known_value(object, path, &value));
                continue;
            }
        };
        let within = within.text(object);
        add_fields(within, &format!("{path}{dot}"), depth - 1, known);
    }
}

fn element_of(text: &str, value: &Value) -> Option<Value> {
    let is_list = value.kind == Kind::List;
    is_list.then(|| first_element(text, value)).flatten()
}

/// A field with this value. The type of a list is the type of its first element.
fn known_value(text: &str, path: String, value: &Value) -> Known {
    let element = element_of(text, value);
    let of = element.as_ref().unwrap_or(value);
    let kind = match (of.kind, of.text(text)) {
        (Kind::Number, number) if !number.contains(['.', 'e', 'E']) => "integer",
        (kind, _) => kind.text(),
    };
    Known {
        path,
        kind: match element {
            Some(_) => format!("list of {kind}").into(),
            None => kind.into(),
        },
        text: matches!(of.kind, Kind::String { .. }).then_some(value.place.len()),
    }
}

/// The text of a document, as its strings come.
#[derive(Default)]
struct Body<'t> {
    /// The only string, borrowed from the object if it has no escapes; most bytes of a collection
    /// are in such strings, so each copy of them would cost time.
    text: Cow<'t, str>,
    any: bool,
    /// The bytes of the text, which can be more than are kept.
    length: u64,
    half: bool,
    /// Where a string begins that has an escape that JSON does not have.
    bad_escape: Option<usize>,
}

impl<'t> Body<'t> {
    fn add(&mut self, text: &'t str, value: &Value, config: &ReadConfig) {
        let literal = value.literal(text);
        let escaped = matches!(value.kind, Kind::String { escaped: true });
        let first = !std::mem::replace(&mut self.any, true);
        if first && !escaped {
            self.length = literal.len() as u64;
            self.text = Cow::Borrowed(literal);
            return;
        }
        let begin = self.text.len();
        // The same string many times would outgrow the memory that is counted for the record.
        if self.length > config.max_document.0 {
            self.length += literal.len() as u64 + 1;
            return;
        }
        let out = self.text.to_mut();
        if !first {
            out.push('\n');
        }
        if escaped {
            let odd = decode(literal, out);
            self.half |= odd.half;
            if odd.escape {
                self.bad_escape.get_or_insert(value.place.start);
            }
        } else {
            out.push_str(literal);
        }
        self.length += (out.len() - begin) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::read::record::ContentKind;

    fn parts<'a>(object: &'a str, config: &ReadConfig) -> Parts<'a> {
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

    /// The text is taken out of its field, so everything else that uses the field is read before.
    #[test]
    fn one_field_may_be_all() {
        let config = ReadConfig {
            text_field: Some("title".into()),
            id_field: Some("title".into()),
            url_field: Some("title".into()),
            ..ReadConfig::default()
        };
        let all = parts(r#"{"title":" text/html "}"#, &config);
        assert_eq!(all.docno, "text/html");
        assert_eq!(all.url.as_deref(), Some("text/html"));
        assert_eq!(all.title.as_deref(), Some("text/html"));
        assert_eq!(&*all.body, b" text/html ");
        let config = ReadConfig {
            text_field: Some("type".into()),
            markup: Some(crate::text::read::Markup::Auto),
            ..ReadConfig::default()
        };
        let typed = parts(r#"{"id":7,"type":"text/html"}"#, &config);
        assert_eq!(typed.content, ContentKind::Markup);
        assert_eq!((&*typed.docno, &*typed.body), ("7", &b"text/html"[..]));
    }

    /// `prompt,completion` and `messages.0.content` were `no text field`.
    #[test]
    fn a_text_may_be_in_several_fields_and_in_lists() {
        let mut config = ReadConfig {
            text_field: Some("prompt,completion".into()),
            ..ReadConfig::default()
        };
        let object = r#"{"id":1,"completion":"c \ud800","prompt":"p","m":[{"t":"1"},{"t":"2"}]}"#;
        let both = parts(object, &config);
        assert_eq!(&*both.body, "p\nc \u{fffd}".as_bytes());
        config.text_field = Some("m[].t".into());
        assert_eq!(&*parts(object, &config).body, b"1\n2");
        config.text_field = Some("m.1.t".into());
        assert_eq!(&*parts(object, &config).body, b"2");
        // The same text many times would outgrow the memory that is counted for the record.
        config.text_field = Some(["prompt"; 40].join(","));
        config.max_document = crate::base::budget::ByteSize(79);
        assert_eq!(parts(object, &config).body.len(), 79);
        config.max_document = crate::base::budget::ByteSize(78);
        let outcome = JsonObject.document(object.as_bytes(), &config);
        assert!(matches!(
            outcome,
            Outcome::Refused {
                refusal: Refusal {
                    reason: Reason::TooLarge,
                    ..
                },
                ..
            }
        ));
    }

    /// A list with a null was not a text, or its nulls were texts; an object came first among
    /// several.
    #[test]
    fn nulls_in_lists_are_passed_over() {
        let config = ReadConfig::default();
        let text = |object| match JsonObject.document(object, &config) {
            Outcome::Document(parts) => Some(String::from_utf8(parts.body.into_owned()).unwrap()),
            _ => None,
        };
        for (object, expected) in [
            (r#"{"text":["a",null,"b\n"]}"#, Some("a\nb\n")),
            (r#"{"text":[[null],["a"],null]}"#, Some("a")),
            (r#"{"text":[null],"body":"b"}"#, Some("")),
            (r#"{"text":[]}"#, Some("")),
            (r#"{"text":null,"body":"b"}"#, Some("b")),
            (r#"{"text":["a",5],"body":"b"}"#, Some("b")),
            (r#"{"text":[{"x":"a"}],"body":"b"}"#, Some("b")),
            (r#"{"text":7}"#, None),
            (r#"{"text":[7]}"#, None),
        ] {
            assert_eq!(text(object.as_bytes()).as_deref(), expected, "{object}");
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
            Outcome::Refused { docno: Some(docno), refusal: Refusal { reason: Reason::BadJson, .. } }
                if docno == "7"
        ));
        let object = b"\xef\xbb\xbf \x1e{\"text\":\"tab \t\"}";
        let text = std::str::from_utf8(object).unwrap();
        assert_eq!(&*parts(text, &config).body, b"tab \t");
    }

    #[test]
    fn values_within_values_are_found() {
        let config = ReadConfig {
            text_field: Some("a.b.c".into()),
            id_field: Some("a.n".into()),
            ..ReadConfig::default()
        };
        let lines = parts(
            r#"{"a":{"n":-1.50,"b":{"c":["x","y"],"d":[null,true,{}]}},"title":null}"#,
            &config,
        );
        assert_eq!((&*lines.docno, &*lines.body), ("-1.50", &b"x\ny"[..]));
        assert_eq!(lines.title, None);
        let deep = parts(r#"{"a":{"n":18446744073709551615,"b":{"c":"z"}}}"#, &config);
        assert_eq!(
            (&*deep.docno, &*deep.body),
            ("18446744073709551615", &b"z"[..])
        );
        // A string has no fields.
        let bytes = br#"{"a":"b","a.n":"1"}"#;
        assert!(matches!(
            JsonObject.document(bytes, &config),
            Outcome::Refused { docno: Some(docno), .. } if docno == "1"
        ));
    }
}
