//! One JSON object as a document.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::config::ReadConfig;
use super::interpret::{Outcome, Parts, Refusal};
use super::record::{ContentKind, Reason};

/// The fields looked at for the text, in this order, where `--text-field` names none.
pub const TEXT_FIELDS: [&str; 7] = [
    "text",
    "contents",
    "content",
    "body",
    "html",
    "raw_content",
    "article",
];

/// The fields looked at for the docno, in this order, where `--id-field` names none.
pub const ID_FIELDS: [&str; 9] = [
    "id",
    "_id",
    "docno",
    "doc_id",
    "docid",
    "uuid",
    "url",
    "uri",
    "WARC-Record-ID",
];

/// The fields looked at for the URL, in this order, where `--url-field` names none.
pub const URL_FIELDS: [&str; 5] = ["url", "uri", "WARC-Target-URI", "link", "source_url"];

/// Fields that may say that the text is markup.
const TYPE_FIELDS: [&str; 6] = [
    "content_type",
    "contentType",
    "content-type",
    "mime",
    "mime_type",
    "type",
];

/// The wanted fields of one object; the others are parsed and dropped.
struct Wanted<'c> {
    config: &'c ReadConfig,
}

impl Wanted<'_> {
    fn wants(&self, name: &str) -> bool {
        let configured = [
            &self.config.text_field,
            &self.config.id_field,
            &self.config.url_field,
        ];
        configured.into_iter().flatten().any(|field| {
            // A dotted path may also be the name of a field that has dots in it.
            field == name || field.split('.').next() == Some(name)
        }) || (self.config.text_field.is_none() && TEXT_FIELDS.contains(&name))
            || (self.config.id_field.is_none() && ID_FIELDS.contains(&name))
            || (self.config.url_field.is_none() && URL_FIELDS.contains(&name))
            || TYPE_FIELDS.contains(&name)
            || name == "title"
    }
}

impl<'de> Visitor<'de> for Wanted<'_> {
    type Value = Vec<(String, Value)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields: Vec<(String, Value)> = Vec::new();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            // Of a repeated name the first counts.
            if self.wants(&name) && !fields.iter().any(|(known, _)| *known == name) {
                fields.push((name.into_owned(), map.next_value()?));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(fields)
    }
}

fn parse(text: &str, config: &ReadConfig) -> serde_json::Result<Vec<(String, Value)>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let fields = deserializer.deserialize_map(Wanted { config })?;
    deserializer.end()?;
    Ok(fields)
}

/// The value of a field, or of a path through objects.
fn find<'v>(fields: &'v [(String, Value)], path: &str) -> Option<&'v Value> {
    let top = |name: &str| {
        fields
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    };
    top(path).or_else(|| {
        let (first, rest) = path.split_once('.')?;
        rest.split('.')
            .try_fold(top(first)?, |value, name| value.get(name))
    })
}

/// A value as a docno or URL.
fn name_in(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let text = text.trim();
            (!text.is_empty()).then(|| text.to_string())
        }
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A value as text; a list of strings is read as its lines.
fn text_in(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(values) => {
            let lines: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
            lines.map(|lines| lines.join("\n"))
        }
        _ => None,
    }
}

/// Lone halves of surrogate pairs (`\ud83d` without the other) become U+FFFD; the parser would
/// refuse the whole object for one of them, and cut texts end in them.
fn repair_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let unit = |at: usize| -> Option<u16> {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut lone = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        at += found;
        match unit(at) {
            Some(0xd800..=0xdbff) => match unit(at + 6) {
                Some(0xdc00..=0xdfff) => at += 12,
                _ => {
                    lone.push(at);
                    at += 6;
                }
            },
            Some(0xdc00..=0xdfff) => {
                lone.push(at);
                at += 6;
            }
            _ => at = (at + 2).min(bytes.len()),
        }
    }
    if lone.is_empty() {
        return None;
    }
    let mut repaired = String::with_capacity(text.len());
    let mut from = 0;
    for at in lone {
        repaired.push_str(&text[from..at]);
        repaired.push_str("\\ufffd");
        from = at + 6;
    }
    repaired.push_str(&text[from..]);
    Some(repaired)
}

/// The document in an object.
pub(super) fn document<'a>(bytes: &'a [u8], config: &ReadConfig) -> Outcome<'a> {
    let mut notices = Vec::new();
    let text = String::from_utf8_lossy(bytes);
    if matches!(text, Cow::Owned(_)) {
        notices.push((Reason::InvalidBytes, "not UTF-8".to_string()));
    }
    let fields = match parse(&text, config) {
        Ok(fields) => fields,
        Err(error) => {
            let again = repair_surrogates(&text).and_then(|text| parse(&text, config).ok());
            match again {
                Some(fields) => {
                    notices.push((Reason::InvalidBytes, "half a surrogate pair".to_string()));
                    fields
                }
                None => {
                    let refusal = Refusal::new(Reason::BadJson, error.to_string());
                    return Outcome::Refused {
                        docno: docno_in_head(bytes).map(Cow::Owned),
                        refusal,
                    };
                }
            }
        }
    };
    fn named<'n>(field: &'n Option<String>, fields: &'n [&'n str]) -> Vec<&'n str> {
        field
            .as_deref()
            .map_or_else(|| fields.to_vec(), |field| vec![field])
    }
    let first = |names: &[&str], read: fn(&Value) -> Option<String>| {
        names
            .iter()
            .find_map(|name| Some((name.to_string(), read(find(&fields, name)?)?)))
    };
    let ids = named(&config.id_field, &ID_FIELDS);
    let Some((_, docno)) = first(&ids, name_in) else {
        let refusal = Refusal::new(Reason::MissingDocno, format!("none of {}", ids.join(", ")));
        return Outcome::Refused {
            docno: None,
            refusal,
        };
    };
    let texts = named(&config.text_field, &TEXT_FIELDS);
    let Some((text_field, body)) = first(&texts, text_in) else {
        let refusal = Refusal::new(Reason::MissingText, format!("none of {}", texts.join(", ")));
        return Outcome::Refused {
            docno: Some(docno.into()),
            refusal,
        };
    };
    let url = first(&named(&config.url_field, &URL_FIELDS), name_in).map(|(_, url)| url.into());
    let kind = first(&TYPE_FIELDS, name_in).map(|(_, kind)| kind.to_ascii_lowercase());
    let markup = text_field.rsplit('.').next() == Some("html")
        || kind.as_ref().is_some_and(|kind| kind.contains("html") || kind.contains("xml"))
        // No word on its type: a whole page says itself what it is.
        || !kind.is_some_and(|kind| kind.contains("text/plain")) && is_page(&body);
    Outcome::Document(Parts {
        docno: docno.into(),
        url,
        title: find(&fields, "title").and_then(name_in).map(Cow::Owned),
        content: if markup {
            ContentKind::Markup
        } else {
            ContentKind::Text
        },
        charset: Some("utf-8".into()),
        body: body.into_bytes().into(),
        notices,
    })
}

/// Does the text begin as an HTML page does?
fn is_page(text: &str) -> bool {
    let start = text.trim_start().as_bytes();
    ["<!doctype html", "<html"].iter().any(|tag| {
        start
            .get(..tag.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()))
    })
}

/// The id in the first bytes of an object that cannot be parsed as a whole, where it is a plain
/// string or number.
pub(super) fn docno_in_head(head: &[u8]) -> Option<String> {
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
