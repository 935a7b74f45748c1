//! Interprets one JSON object as a document.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::config::ReadConfig;
use super::interpret::{Outcome, Parts, Refusal};
use super::json_paths;
use super::record::{ContentKind, Reason};

/// The fields searched for the text, in this order, without `--text-field`.
pub const TEXT_FIELDS: [&str; 7] = [
    "text",
    "contents",
    "content",
    "body",
    "html",
    "raw_content",
    "article",
];

/// The fields searched for the docno, in this order, without `--id-field`.
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

/// The fields searched for the URL, in this order, without `--url-field`.
pub const URL_FIELDS: [&str; 5] = ["url", "uri", "WARC-Target-URI", "link", "source_url"];

/// Fields that can declare the text as markup.
pub(super) const TYPE_FIELDS: [&str; 6] = [
    "content_type",
    "contentType",
    "content-type",
    "mime",
    "mime_type",
    "type",
];

/// The value of a field, reduced to the parts that can be needed. A full value tree takes about 32
/// bytes for every two bytes of the object, which is too much for a large one.
enum Field<'t> {
    /// A string, borrowed from the object if it has no escapes. Most bytes of a collection are in
    /// such strings, so each copy of them would cost time.
    Text(Cow<'t, str>),
    /// A list that contains only strings, joined as lines.
    Lines(String),
    Number(Number),
    /// An object, reduced to the fields on a dotted path.
    Object(Fields<'t>),
    /// Anything else.
    Other,
}

impl Field<'_> {
    fn into_owned(self) -> Field<'static> {
        match self {
            Field::Text(text) => Field::Text(Cow::Owned(text.into_owned())),
            Field::Lines(lines) => Field::Lines(lines),
            Field::Number(number) => Field::Number(number),
            Field::Object(fields) => Field::Object(into_owned(fields)),
            Field::Other => Field::Other,
        }
    }
}

/// Names and values, in the order of the object.
type Fields<'t> = Vec<(String, Field<'t>)>;

/// Reads a value; of an object, only the fields on these paths.
#[derive(Clone, Copy)]
struct Within<'c> {
    paths: [Option<&'c str>; 3],
}

impl<'c> Within<'c> {
    /// The rest of each path that leads through `name`.
    fn below(paths: [Option<&'c str>; 3], name: &str) -> Within<'c> {
        let rest = |path: &'c str| path.strip_prefix(name)?.strip_prefix('.');
        Within {
            paths: paths.map(|path| path.and_then(rest)),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Within<'_> {
    type Value = Field<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Field<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// The default methods return an error, which is right for types that JSON cannot express.
impl<'de> Visitor<'de> for Within<'_> {
    type Value = Field<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Field<'de>, E> {
        Ok(Field::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Field<'de>, E> {
        Ok(Field::Text(Cow::Owned(text.to_string())))
    }

    fn visit_unit<E: Error>(self) -> Result<Field<'de>, E> {
        Ok(Field::Other)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Field<'de>, E> {
        Ok(Field::Other)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Field<'de>, E> {
        Ok(Field::Number(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Field<'de>, E> {
        Ok(Field::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Field<'de>, E> {
        Ok(Number::from_f64(value).map_or(Field::Other, Field::Number))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Field<'de>, A::Error> {
        let (mut lines, mut first) = (String::new(), true);
        while let Some(line) = values.next_element_seed(Within { paths: [None; 3] })? {
            let Field::Text(line) = line else {
                while values.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(Field::Other);
            };
            if !first {
                lines.push('\n');
            }
            lines.push_str(&line);
            first = false;
        }
        Ok(Field::Lines(lines))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Field<'de>, A::Error> {
        let mut fields: Fields<'de> = Vec::new();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            let mut paths = self.paths.into_iter().flatten();
            let wanted = paths.any(|path| path.split('.').next() == Some(&*name));
            if wanted && !fields.iter().any(|(known, _)| *known == name) {
                let value = map.next_value_seed(Within::below(self.paths, &name))?;
                fields.push((name.into_owned(), value));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Field::Object(fields))
    }
}

/// The wanted fields of one object; all others are parsed and dropped.
struct Wanted<'c> {
    config: &'c ReadConfig,
}

impl Wanted<'_> {
    /// The field names and paths from the command line.
    fn paths(&self) -> [Option<&str>; 3] {
        let config = self.config;
        [&config.text_field, &config.id_field, &config.url_field].map(Option::as_deref)
    }

    fn wants(&self, name: &str) -> bool {
        self.paths().into_iter().flatten().any(|field| {
            // A dotted path may also be the literal name of a field that contains dots.
            field == name || field.split('.').next() == Some(name)
        }) || (self.config.text_field.is_none() && TEXT_FIELDS.contains(&name))
            || (self.config.id_field.is_none() && ID_FIELDS.contains(&name))
            || (self.config.url_field.is_none() && URL_FIELDS.contains(&name))
            || TYPE_FIELDS.contains(&name)
            || name == "title"
    }
}

impl<'de> Visitor<'de> for Wanted<'_> {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields: Fields<'de> = Vec::new();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            // Of a repeated name, the first counts.
            if self.wants(&name) && !fields.iter().any(|(known, _)| *known == name) {
                let value = map.next_value_seed(Within::below(self.paths(), &name))?;
                fields.push((name.into_owned(), value));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(fields)
    }
}

fn parse<'t>(text: &'t str, config: &ReadConfig) -> serde_json::Result<Fields<'t>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let fields = deserializer.deserialize_map(Wanted { config })?;
    deserializer.end()?;
    Ok(fields)
}

fn into_owned(fields: Fields<'_>) -> Fields<'static> {
    fields
        .into_iter()
        .map(|(name, field)| (name, field.into_owned()))
        .collect()
}

/// The value of a field, or at the end of a path through objects.
fn find<'v, 't>(fields: &'v mut Fields<'t>, path: &str) -> Option<&'v mut Field<'t>> {
    fn named<'v, 't>(fields: &'v mut Fields<'t>, name: &str) -> Option<&'v mut Field<'t>> {
        let named = fields.iter_mut().find(|(known, _)| known == name);
        named.map(|(_, field)| field)
    }
    if fields.iter().any(|(known, _)| known == path) {
        return named(fields, path);
    }
    let mut names = path.split('.');
    let mut field = named(fields, names.next()?)?;
    for name in names {
        let Field::Object(fields) = field else {
            return None;
        };
        field = named(fields, name)?;
    }
    Some(field)
}

/// A value as a docno or URL.
fn name_in(field: &mut Field<'_>) -> Option<String> {
    match field {
        Field::Text(text) => {
            let text = text.trim();
            (!text.is_empty()).then(|| text.to_string())
        }
        Field::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Takes a value out as text; a list of strings becomes its lines.
fn take_text<'t>(field: &mut Field<'t>) -> Option<Cow<'t, str>> {
    match field {
        Field::Text(text) => Some(std::mem::take(text)),
        Field::Lines(lines) => Some(std::mem::take(lines).into()),
        _ => None,
    }
}

/// Replaces unpaired surrogates (`\ud83d` without its second half) by U+FFFD. The parser would
/// reject the whole object for one of them, and truncated texts can end in one.
pub(super) fn repair_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let unit = |at: usize| -> Option<u16> {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut repaired = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        at += found;
        let lone = match unit(at) {
            Some(0xd800..=0xdbff) => match unit(at + 6) {
                Some(0xdc00..=0xdfff) => {
                    at += 12;
                    continue;
                }
                _ => true,
            },
            Some(0xdc00..=0xdfff) => true,
            _ => false,
        };
        if !lone {
            at = (at + 2).min(bytes.len());
            continue;
        }
        if repaired.is_empty() {
            repaired.reserve_exact(text.len());
        }
        repaired.push_str(&text[from..at]);
        repaired.push_str("\\ufffd");
        at += 6;
        from = at;
    }
    if repaired.is_empty() {
        return None;
    }
    repaired.push_str(&text[from..]);
    Some(repaired)
}

/// Interprets an object as a document.
pub(super) fn document<'a>(bytes: &'a [u8], config: &ReadConfig) -> Outcome<'a> {
    let mut notices = Vec::new();
    // Checking alone is several times as fast as replacing, which is rarely needed.
    let (text, parsed) = match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), parse(text, config)),
        Err(_) => {
            notices.push((Reason::InvalidBytes, "not UTF-8".to_string()));
            // An invalid byte becomes three bytes.
            let length: usize = bytes
                .utf8_chunks()
                .map(|chunk| chunk.valid().len() + 3 * usize::from(!chunk.invalid().is_empty()))
                .sum();
            if length as u64 > config.max_document.0 {
                let detail = format!("{length} bytes as UTF-8");
                return Outcome::Refused {
                    docno: docno_in_head(bytes).map(Cow::Owned),
                    refusal: Refusal::new(Reason::TooLarge, detail),
                };
            }
            let text = String::from_utf8_lossy(bytes);
            let parsed = parse(&text, config).map(into_owned);
            (text, parsed)
        }
    };
    let mut fields = match parsed {
        Ok(fields) => fields,
        Err(error) => {
            let again =
                repair_surrogates(&text).and_then(|text| parse(&text, config).map(into_owned).ok());
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
    fn first<'t, T>(
        fields: &mut Fields<'t>,
        names: &[&str],
        read: fn(&mut Field<'t>) -> Option<T>,
    ) -> Option<(String, T)> {
        names
            .iter()
            .find_map(|name| Some((name.to_string(), read(find(fields, name)?)?)))
    }
    let ids = named(&config.id_field, &ID_FIELDS);
    let docno = first(&mut fields, &ids, name_in).map(|(_, docno)| docno);
    if let (None, Some(field)) = (&docno, &config.id_field) {
        notices.push((Reason::MissingDocno, format!("no {field}")));
    }
    let docno = docno.unwrap_or_default();
    let urls = named(&config.url_field, &URL_FIELDS);
    let url = first(&mut fields, &urls, name_in).map(|(_, url)| url.into());
    let kind = first(&mut fields, &TYPE_FIELDS, name_in).map(|(_, kind)| kind.to_ascii_lowercase());
    let title = find(&mut fields, "title").and_then(name_in).map(Cow::Owned);
    // The text comes last: it is taken out of its field, which can also be one of the fields above.
    let texts = named(&config.text_field, &TEXT_FIELDS);
    let mut found = first(&mut fields, &texts, take_text).map(|(field, body)| {
        let markup = field.rsplit('.').next() == Some("html");
        (markup, body)
    });
    if let (None, Some(paths)) = (&found, &config.text_field) {
        // Not one field, so perhaps several, or in lists.
        let mut gathered = json_paths::gather(&text, paths);
        if gathered.is_err()
            && let Some(repaired) = repair_surrogates(&text)
        {
            gathered = json_paths::gather(&repaired, paths);
            notices.push((Reason::InvalidBytes, "half a surrogate pair".to_string()));
            notices.dedup();
        }
        if let Ok(Some(body)) = gathered {
            if body.len() as u64 > config.max_document.0 {
                let detail = format!("{} bytes in {paths}", body.len());
                return Outcome::Refused {
                    docno: Some(docno.into()),
                    refusal: Refusal::new(Reason::TooLarge, detail),
                };
            }
            found = Some((json_paths::all_end_in(paths, "html"), body.into()));
        }
    }
    let Some((markup, body)) = found else {
        let refusal = Refusal::new(Reason::MissingText, format!("none of {}", texts.join(", ")));
        return Outcome::Refused {
            docno: Some(docno.into()),
            refusal,
        };
    };
    let content = content_of(markup, kind.as_deref(), body.as_bytes());
    Outcome::Document(Parts {
        docno: docno.into(),
        url,
        title,
        content,
        charset: Some("utf-8".into()),
        body: match body {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        },
        notices,
    })
}

/// The value of a field of an object, a string or a number; `None` if it has none, or is no JSON.
pub(super) fn field(bytes: &[u8], path: &str) -> Option<String> {
    let config = ReadConfig {
        id_field: Some(path.into()),
        ..ReadConfig::default()
    };
    let text = String::from_utf8_lossy(bytes);
    name_in(find(&mut parse(&text, &config).ok()?, path)?)
}

/// What the text of a field is: by the field's name, by the content type in lower case that
/// another field declares, or, without that, by its beginning.
pub fn content_of(html: bool, declared: Option<&str>, text: &[u8]) -> ContentKind {
    let is = |kind: &str| declared.is_some_and(|declared| declared.contains(kind));
    if html || is("html") || is("xml") || !is("text/plain") && is_page(text) {
        ContentKind::Markup
    } else {
        ContentKind::Text
    }
}

/// Whether the text begins like an HTML page.
pub(super) fn is_page(text: &[u8]) -> bool {
    let start = text.trim_ascii_start();
    ["<!doctype html", "<html"].iter().any(|tag| {
        start
            .get(..tag.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()))
    })
}

/// The id in the first bytes of an object that cannot be parsed as a whole, if it is a plain string
/// or number.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<'a>(object: &'a str, config: &ReadConfig) -> Parts<'a> {
        match document(object.as_bytes(), config) {
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
        config.max_document = crate::budget::ByteSize(79);
        assert_eq!(parts(object, &config).body.len(), 79);
        config.max_document = crate::budget::ByteSize(78);
        let outcome = document(object.as_bytes(), &config);
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
        assert_eq!((&*lines.docno, &*lines.body), ("-1.5", &b"x\ny"[..]));
        assert_eq!(lines.title, None);
        let deep = parts(r#"{"a":{"n":18446744073709551615,"b":{"c":"z"}}}"#, &config);
        assert_eq!(
            (&*deep.docno, &*deep.body),
            ("18446744073709551615", &b"z"[..])
        );
        // A string has no fields.
        let bytes = br#"{"a":"b","a.n":"1"}"#;
        assert!(matches!(
            document(bytes, &config),
            Outcome::Refused { docno: Some(docno), .. } if docno == "1"
        ));
    }
}
