//! The grammar of the names of fields, for JSON objects and for Parquet columns.
//!
//! ```text
//! fields = path { "," path }
//! path   = name { "." name | "[]" | "[" number "]" | "[" path "=" value "]" }
//! ```
//!
//! A name in double quotes, or with a backslash before a character, may have any characters.
//! docs/guide/formats.md says what a path means.

use std::borrow::Cow;

use super::record::{ContentKind, Reason, Reject};
use crate::base::words::words;

/// The fields searched for the text, in this order, without `--text-field`.
pub const TEXT_FIELDS: [&str; 7] = words("text contents content body html raw_content article");

/// The fields searched for the docno, in this order, without `--id-field`.
pub const ID_FIELDS: [&str; 9] = words("id _id docno doc_id docid uuid url uri WARC-Record-ID");

/// The fields searched for the URL, in this order, without `--url-field`.
pub const URL_FIELDS: [&str; 5] = ["url", "uri", "WARC-Target-URI", "link", "source_url"];

/// The fields searched for the date, in this order.
pub(super) const DATE_FIELDS: [&str; 6] =
    words("date timestamp WARC-Date warc_date crawl_date fetch_time");

/// Fields that can declare the text as markup.
pub(super) const TYPE_FIELDS: [&str; 6] =
    words("content_type contentType content-type mime mime_type type");

/// What the text of a field is: by the field's name, by the content type in lower case that
/// another field declares, or, without that, by its beginning.
pub fn content_of(html: bool, declared: Option<&str>, text: &[u8]) -> ContentKind {
    let is = |kind: &str| declared.is_some_and(|declared| declared.contains(kind));
    let markup = html || is("html") || is("xml") || !is("text/plain") && is_page(text);
    ContentKind::of(markup)
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

/// A step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step<'p> {
    /// The field of this name, or the element of this number, from 0.
    Name(Cow<'p, str>),
    /// All elements of a list.
    All,
    /// The elements of a list whose field has this value.
    Where {
        /// The names on the way to the field, from the element.
        field: Vec<Cow<'p, str>>,
        /// The value of the field, in the input's spelling.
        value: Cow<'p, str>,
    },
}

impl Step<'_> {
    /// The number of an element that the step takes.
    pub fn number(&self) -> Option<usize> {
        match self {
            Step::Name(name) if name.bytes().all(|byte| byte.is_ascii_digit()) => name.parse().ok(),
            _ => None,
        }
    }
}

/// The way to a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldPath<'p> {
    /// The path in the user's spelling. A record may have a field with this name.
    pub literal: &'p str,
    pub steps: Vec<Step<'p>>,
}

impl<'p> FieldPath<'p> {
    /// Parses the path of one field, in which a comma has no meaning.
    pub fn one(text: &'p str) -> Result<FieldPath<'p>, String> {
        let mut parser = Parser { text, at: 0 };
        let path = parser.path(false)?;
        match parser.peek() {
            None => Ok(path),
            Some(_) => Err(parser.unexpected("a dot or a bracket")),
        }
    }

    /// Parses the paths of several fields, separated by commas.
    pub fn all(text: &'p str) -> Result<Vec<FieldPath<'p>>, String> {
        let mut parser = Parser { text, at: 0 };
        let mut paths = Vec::new();
        loop {
            paths.push(parser.path(true)?);
            match parser.peek() {
                None => return Ok(paths),
                Some(b',') => parser.at += 1,
                Some(_) => return Err(parser.unexpected("a dot, a bracket or a comma")),
            }
        }
    }

    /// The path of a field that has the whole text as its name.
    pub fn whole(text: &'p str) -> FieldPath<'p> {
        FieldPath {
            literal: text,
            steps: vec![Step::Name(text.into())],
        }
    }

    /// The name of the field itself.
    pub fn last(&self) -> &str {
        let names = self
            .steps
            .iter()
            .rev()
            .filter(|step| step.number().is_none());
        let mut names = names.filter_map(|step| match step {
            Step::Name(name) => Some(&**name),
            _ => None,
        });
        names.next().unwrap_or(self.literal)
    }
}

/// A name in the spelling of a path: in quotes if it needs them.
pub(crate) fn quoted(name: &str) -> Cow<'_, str> {
    let plain = |byte: u8| !b".,[]=\"\\".contains(&byte);
    if !name.is_empty() && name.bytes().all(plain) {
        return name.into();
    }
    let mut out = String::from('"');
    for character in name.chars() {
        if matches!(character, '"' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
    out.push('"');
    out.into()
}

/// A field that a record or a file has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// Its path.
    pub path: String,
    /// The type of its values.
    pub kind: Cow<'static, str>,
    /// Bytes of its text; `None` if it is not text.
    pub text: Option<usize>,
}

/// Fields that a message lists, and characters of each.
const LISTED: usize = 12;
const LONGEST: usize = 48;

/// The text before the list of fields in the detail of a reject.
pub(super) const LIST: &str = "; it has ";

/// Why a record or a file has no text: which field is missing or not text, and which fields
/// are there.
pub(crate) fn no_text(given: Option<&str>, usual: &[&str], known: &[Known]) -> String {
    let has = |path: &str| known.iter().find(|known| known.path == path);
    let is = |known: &Known| match &*known.kind {
        "null" => format!("{} is null", short(&known.path)),
        kind => format!("{} is of type {kind}, not string", short(&known.path)),
    };
    let paths = given.map(FieldPath::all).and_then(Result::ok);
    let mut detail = match (given, paths.as_deref()) {
        (Some(given), Some([_])) => match has(given) {
            Some(known) => is(known),
            None => format!("no field {given}"),
        },
        (Some(given), _) => format!("none of {given}"),
        (None, _) => match usual.iter().find_map(|name| has(name)) {
            Some(known) => is(known),
            None => format!("none of {}", usual.join(", ")),
        },
    };
    if known.is_empty() {
        return detail;
    }
    let list = known.iter().take(LISTED);
    let list = list.map(|known| format!("{} ({})", short(&known.path), known.kind));
    detail += LIST;
    detail += &list.collect::<Vec<_>>().join(", ");
    if known.len() > LISTED {
        detail += ", ...";
    }
    let texts = known.iter().filter(|known| known.text.is_some());
    let nearest = match given {
        Some(given) => texts
            .map(|known| (likeness(given, &known.path), known))
            .filter(|(alike, _)| *alike > 800)
            .max_by_key(|(alike, _)| *alike),
        None => texts
            .filter(|known| !ID_FIELDS.contains(&&*known.path))
            .map(|known| (known.text.unwrap_or(0), known))
            .filter(|(length, _)| *length > 0)
            .max_by_key(|(length, _)| *length),
    };
    match (nearest, given) {
        (Some((_, known)), Some(_)) => detail += &format!("; did you mean {}?", short(&known.path)),
        (Some((_, known)), None) => {
            detail += &format!("; the longest text is in {}", short(&known.path));
        }
        (None, _) => {}
    }
    detail
}

/// Remembers the file for which a detail was given at length, so that it is not repeated for each
/// record.
#[derive(Default)]
pub(crate) struct SaidOnce {
    file: Option<u32>,
}

impl SaidOnce {
    /// The detail of the next reject: the fields that a record has are listed once for a file.
    pub(crate) fn detail<'r>(&mut self, reject: &'r Reject) -> &'r str {
        let file = Some(reject.source.file);
        if reject.reason == Reason::MissingText
            && let Some((short, _)) = reject.detail.split_once(LIST)
            && std::mem::replace(&mut self.file, file) == file
        {
            return short;
        }
        &reject.detail
    }
}

/// The similarity of two paths, in thousandths.
fn likeness(given: &str, known: &str) -> usize {
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_lowercase();
    let whole = strsim::jaro_winkler(&given.to_lowercase(), &known.to_lowercase());
    let part = strsim::jaro_winkler(&last(given), &last(known));
    // The same name in another place is nearer than another name.
    (whole.max(part * 0.99) * 1000.0) as usize
}

fn short(path: &str) -> Cow<'_, str> {
    match path.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", path.get(..end).unwrap_or_default()).into(),
        None => path.into(),
    }
}

struct Parser<'p> {
    text: &'p str,
    at: usize,
}

impl<'p> Parser<'p> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn unexpected(&self, expected: &str) -> String {
        match self
            .text
            .get(self.at..)
            .and_then(|rest| rest.chars().next())
        {
            Some(found) => format!("expected {expected} before `{found}` at byte {}", self.at),
            None => format!("expected {expected} at its end"),
        }
    }

    fn path(&mut self, commas: bool) -> Result<FieldPath<'p>, String> {
        let begin = self.at;
        let stops: &[u8] = if commas { b".[," } else { b".[" };
        let mut steps = vec![Step::Name(self.name(stops)?)];
        loop {
            match self.peek() {
                Some(b'.') => {
                    self.at += 1;
                    steps.push(Step::Name(self.name(stops)?));
                }
                Some(b'[') => {
                    self.at += 1;
                    steps.push(self.bracket()?);
                }
                _ => break,
            }
        }
        let literal = self.text.get(begin..self.at).unwrap_or_default();
        Ok(FieldPath { literal, steps })
    }

    /// What is in brackets, after the opening one.
    fn bracket(&mut self) -> Result<Step<'p>, String> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if let (Some(b']'), Some(number)) = (rest.as_bytes().get(digits), rest.get(..digits)) {
            self.at += digits + 1;
            return Ok(match digits {
                0 => Step::All,
                _ => Step::Name(number.into()),
            });
        }
        let mut field = vec![self.name(b".=]")?];
        while self.peek() == Some(b'.') {
            self.at += 1;
            field.push(self.name(b".=]")?);
        }
        if self.peek() != Some(b'=') {
            return Err(self.unexpected("`=` and a value"));
        }
        self.at += 1;
        let value = self.name(b"]")?;
        if self.peek() != Some(b']') {
            return Err(self.unexpected("`]`"));
        }
        self.at += 1;
        Ok(Step::Where { field, value })
    }

    /// A name up to one of the characters, or in quotes.
    fn name(&mut self, stops: &[u8]) -> Result<Cow<'p, str>, String> {
        let quoted = self.peek() == Some(b'"');
        self.at += usize::from(quoted);
        let begin = self.at;
        let mut name = String::new();
        // Up to here, the name has been copied.
        let mut from = begin;
        loop {
            match self.peek() {
                None if quoted => return Err(self.unexpected("a closing quote")),
                None => break,
                Some(b'"') if quoted => break,
                Some(b'\\') => {
                    name.push_str(self.text.get(from..self.at).unwrap_or_default());
                    from = self.at + 1;
                    let next = self.text.get(from..).and_then(|rest| rest.chars().next());
                    let Some(next) = next else {
                        return Err(self.unexpected("a character after the backslash"));
                    };
                    self.at = from + next.len_utf8();
                }
                Some(byte) if !quoted && stops.contains(&byte) => break,
                Some(_) => self.at += 1,
            }
        }
        let rest = self.text.get(from..self.at).unwrap_or_default();
        let empty = self.at == begin;
        self.at += usize::from(quoted);
        if empty && !quoted {
            return Err(self.unexpected("a name"));
        }
        Ok(if from == begin {
            Cow::Borrowed(rest)
        } else {
            name.push_str(rest);
            Cow::Owned(name)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &FieldPath<'_>) -> String {
        let steps = path.steps.iter().map(|step| match step {
            Step::Name(name) => format!("<{name}>"),
            Step::All => "*".into(),
            Step::Where { field, value } => format!("{}={value}", field.join("/")),
        });
        steps.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn paths_have_their_steps() {
        for (text, expected) in [
            ("text", "<text>"),
            ("page.body", "<page> <body>"),
            ("messages[].content", "<messages> * <content>"),
            ("messages.0.content", "<messages> <0> <content>"),
            ("messages[12][][0]", "<messages> <12> * <0>"),
            ("m[role=user].content", "<m> role=user <content>"),
            ("m[meta.role=a.b, c][0].c", "<m> meta/role=a.b, c <0> <c>"),
            (r#"m["a=b"="x]y"].c"#, "<m> a=b=x]y <c>"),
            (r#""a.b".c"#, "<a.b> <c>"),
            (r#""a,\"b\"\\".c"#, r#"<a,"b"\> <c>"#),
            (r"a\.b.c\[0]", "<a.b> <c[0]>"),
            ("WARC-Record-ID", "<WARC-Record-ID>"),
            ("größe.é", "<größe> <é>"),
            (r#""""#, "<>"),
            (r"\é", "<é>"),
        ] {
            let all = FieldPath::all(text).expect(text);
            assert_eq!(all.len(), 1);
            assert_eq!(shown(&all[0]), expected, "{text}");
            assert_eq!(FieldPath::one(text).unwrap(), all[0]);
            assert_eq!(all[0].literal, text);
        }
        let all = FieldPath::all(r#"a,b.c,"d,e",f\,g[]"#).unwrap();
        let all: Vec<String> = all.iter().map(shown).collect();
        assert_eq!(all, ["<a>", "<b> <c>", "<d,e>", "<f,g> *"]);
        assert_eq!(shown(&FieldPath::one("a,b.c").unwrap()), "<a,b> <c>");
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in [
            "", ".", "a.", ".a", "a..b", "a,", ",a", "a,,b", "[0]", "a[", "a[x", "a[x]", "a[x=",
            "a[x=]", "a[=x]", "a[0", "a[0x]", "a]b[", "\"a", "\"a\"b", "a\\", "a[x=y", "a[]b",
            "a[0]b",
        ] {
            assert!(FieldPath::all(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_missing_text_is_explained() {
        let known = |path: &str, kind: &'static str, text| Known {
            path: path.into(),
            kind: kind.into(),
            text,
        };
        let all = [
            known("url", "string", Some(20)),
            known("instruction", "string", Some(30)),
            known("n", "number", None),
            known("m.content", "string", Some(9)),
        ];
        let usual = ["text", "n"];
        let list = "; it has url (string), instruction (string), n (number), m.content (string)";
        for (given, expected) in [
            (
                Some("instructions"),
                format!("no field instructions{list}; did you mean instruction?"),
            ),
            (
                Some("m.contents"),
                format!("no field m.contents{list}; did you mean m.content?"),
            ),
            (
                Some("content"),
                format!("no field content{list}; did you mean m.content?"),
            ),
            (Some("n"), format!("n is of type number, not string{list}")),
            (Some("a,b"), format!("none of a,b{list}")),
            (
                None,
                format!(
                    "n is of type number, not string{list}; the longest text is in instruction"
                ),
            ),
        ] {
            assert_eq!(no_text(given, &usual, &all), expected);
        }
        assert_eq!(no_text(None, &["a", "b"], &[]), "none of a, b");
        assert_eq!(
            no_text(Some("t"), &[], &[known("t", "null", None)]),
            "t is null; it has t (null)"
        );
        let many: Vec<Known> = (0..99)
            .map(|n| known(&"x".repeat(n + 1), "number", None))
            .collect();
        assert!(no_text(None, &usual, &many).len() < 800);
        for name in ["a", "a.b", "a\"b\\", "", "[]", "a,b=c"] {
            let path = quoted(name);
            assert_eq!(
                FieldPath::all(&path).unwrap()[0].steps,
                [Step::Name(name.into())]
            );
        }
    }

    #[test]
    fn the_last_name_is_that_of_the_field() {
        for (text, last) in [
            ("page.html", "html"),
            ("html[0]", "html"),
            ("a.html.0", "html"),
            ("a[html=x]", "a"),
            ("0", "0"),
        ] {
            assert_eq!(FieldPath::one(text).unwrap().last(), last, "{text}");
        }
    }
}
