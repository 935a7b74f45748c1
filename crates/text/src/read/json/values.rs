//! The values of a JSON object by their places in its text, and the paths that lead to them.
//!
//! A value that no path leads to is passed over and not checked: only its quotes and brackets
//! count. So `NaN`, a number of any size, an escape that JSON does not have, or any nesting in a
//! field that nobody wants does not cost the record.
//!
//! # Cost
//! One pass over the object, which skips strings by memchr, and one more over each value that a
//! path leads into.

use std::borrow::Cow;
use std::ops::Range;

use crate::read::ground::fields::{FieldPath, Step, quoted, short};
use crate::read::ground::resolve::Level;
use lookalike_base::{counted, flag_word, words};
use memchr::{memchr, memchr2};
use serde_json::value::RawValue;

/// Depth to which brackets are distinguished and values of lists are looked for.
const DEEPEST: u32 = 128;

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Whether the string has a backslash.
    String {
        escaped: bool,
    },
    Object,
    List,
    Null,
    Boolean,
    Number,
    /// `NaN`, `Infinity` or `-Infinity`, as Python writes them.
    NotFinite,
    /// Letters that are not a JSON value.
    Word,
}

impl Kind {
    /// The name of the type, for messages.
    pub fn text(self) -> &'static str {
        match self {
            Kind::String { .. } => "string",
            Kind::Object => "object",
            Kind::List => "list",
            Kind::Null => "null",
            Kind::Boolean => "boolean",
            Kind::Number | Kind::NotFinite => "number",
            Kind::Word => "no JSON value",
        }
    }
}

/// A value: its place in the text, and what it is.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub place: Range<usize>,
    pub kind: Kind,
}

impl Value {
    /// The value in the object's spelling.
    pub fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.place.clone()).unwrap_or_default()
    }

    /// Returns the characters between the quotes of a string, or any other value in the object's
    /// spelling.
    pub fn literal<'t>(&self, text: &'t str) -> &'t str {
        let whole = self.text(text);
        match self.kind {
            Kind::String { .. } => whole.get(1..whole.len() - 1).unwrap_or_default(),
            _ => whole,
        }
    }
}

/// Why a text is not a JSON object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    pub at: usize,
    pub what: &'static str,
}

impl Malformed {
    /// A word that is not a JSON value.
    pub(crate) fn no_value(value: &Value) -> Self {
        Malformed {
            at: value.place.start,
            what: "expected a value",
        }
    }
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at byte {} of the record", self.what, self.at)
    }
}

type Result<T> = std::result::Result<T, Malformed>;

fn malformed<T>(at: usize, what: &'static str) -> Result<T> {
    Err(Malformed { at, what })
}

/// Bytes that may be before and after an object: white space, and the marks that separate texts.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Walks over a text.
struct Walk<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl<'t> Walk<'t> {
    fn new(text: &'t str, at: usize) -> Self {
        Walk {
            bytes: text.as_bytes(),
            at,
        }
    }

    /// The next byte that is not white space.
    fn next(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            if !is_space(byte) {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Passes over a string. Returns whether it has a backslash.
    fn string(&mut self) -> Result<bool> {
        let mut escaped = false;
        self.at += 1;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let Some(found) = memchr2(b'"', b'\\', rest) else {
                return malformed(self.bytes.len(), "a string is not closed");
            };
            self.at += found + 1;
            if rest[found] == b'"' {
                return Ok(escaped);
            }
            escaped = true;
            self.at += 1;
        }
    }

    /// Passes over an object or a list.
    fn nested(&mut self) -> Result<()> {
        let (mut depth, mut lists) = (0u32, 0u128);
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => {
                    if depth < DEEPEST {
                        lists = lists & !(1 << depth) | u128::from(byte == b'[') << depth;
                    }
                    depth += 1;
                }
                b'}' | b']' => {
                    depth -= 1;
                    if depth < DEEPEST && (lists >> depth & 1 == 1) != (byte == b']') {
                        return malformed(self.at, "a bracket that does not match");
                    }
                    if depth == 0 {
                        self.at += 1;
                        return Ok(());
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        malformed(self.at, "a bracket is not closed")
    }

    /// Passes over a value.
    fn value(&mut self) -> Result<Value> {
        let first = self.next();
        let begin = self.at;
        let kind = match first {
            Some(b'"') => Kind::String {
                escaped: self.string()?,
            },
            Some(b'{') => {
                self.nested()?;
                Kind::Object
            }
            Some(b'[') => {
                self.nested()?;
                Kind::List
            }
            _ => {
                let rest = self.bytes.get(begin..).unwrap_or_default();
                let word = |byte: &&u8| {
                    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_')
                };
                let length = rest.iter().take_while(word).count();
                self.at += length;
                match &rest[..length] {
                    [] => return malformed(begin, "expected a value"),
                    b"null" => Kind::Null,
                    b"true" | b"false" => Kind::Boolean,
                    b"NaN" | b"Infinity" | b"-Infinity" => Kind::NotFinite,
                    word if is_number(word) => Kind::Number,
                    _ => Kind::Word,
                }
            }
        };
        Ok(Value {
            place: begin..self.at,
            kind,
        })
    }
}

/// Whether a word is a number of JSON, of any size.
fn is_number(word: &[u8]) -> bool {
    matches!(word, [b'-' | b'0'..=b'9', ..]) && serde_json::from_slice::<&RawValue>(word).is_ok()
}

/// Calls `act` with the name, with its quotes, and the value of each member of the object at
/// `begin`. Returns where the object ends.
fn each_member(text: &str, begin: usize, mut act: impl FnMut(&Value, Value)) -> Result<usize> {
    let mut walk = Walk::new(text, begin);
    if walk.next() != Some(b'{') {
        return malformed(walk.at, "expected `{`");
    }
    walk.at += 1;
    if walk.next() == Some(b'}') {
        return Ok(walk.at + 1);
    }
    loop {
        if walk.next() != Some(b'"') {
            return malformed(walk.at, "expected a name in quotes");
        }
        let begin = walk.at;
        let escaped = walk.string()?;
        let name = Value {
            place: begin..walk.at,
            kind: Kind::String { escaped },
        };
        if walk.next() != Some(b':') {
            return malformed(walk.at, "expected `:`");
        }
        walk.at += 1;
        act(&name, walk.value()?);
        match walk.next() {
            Some(b',') => walk.at += 1,
            Some(b'}') => return Ok(walk.at + 1),
            _ => return malformed(walk.at, "expected `,` or `}`"),
        }
    }
}

/// Calls `act` with each element of a list.
fn each_element(text: &str, list: &Value, mut act: impl FnMut(Value) -> Result<()>) -> Result<()> {
    let mut walk = Walk::new(text, list.place.start + 1);
    if walk.next() == Some(b']') {
        return Ok(());
    }
    loop {
        act(walk.value()?)?;
        match walk.next() {
            Some(b',') => walk.at += 1,
            Some(b']') => return Ok(()),
            _ => return malformed(walk.at, "expected `,` or `]`"),
        }
    }
}

/// The first elements of a list.
pub(crate) fn elements(text: &str, list: &Value, most: usize) -> Vec<Value> {
    let mut found = Vec::new();
    let full = Malformed { at: 0, what: "" };
    let _ = each_element(text, list, |element| {
        found.push(element);
        match found.len() < most {
            true => Ok(()),
            false => Err(full.clone()),
        }
    });
    found
}

/// Whether an object is a part of a text, and nothing else: it has a text, and facts about it.
pub(crate) fn is_part(text: &str, object: &Value) -> bool {
    let (mut is_typed, mut has_text, mut has_others) = (false, false, false);
    let read = each_member(text, object.place.start, |name, _| {
        let name = text_of(text, name);
        let is = |names: &[&str]| names.contains(&&*name);
        is_typed |= is(&["type", "text"]);
        has_text |= is(&PART_TEXTS);
        has_others |= ![&PART_TEXTS[..], &PART_FACTS, &PART_QUOTES]
            .into_iter()
            .any(is);
    });
    read.is_ok() && is_typed && has_text && !has_others
}

/// The value of the last member of this name.
fn member(text: &str, object: &Value, wanted: &str) -> Result<Option<Value>> {
    let mut found = None;
    each_member(text, object.place.start, |name, value| {
        if text_of(text, name) == wanted {
            found = Some(value);
        }
    })?;
    Ok(found)
}

/// A string without its quotes and escapes, any other value in the object's spelling.
pub(crate) fn text_of<'t>(text: &'t str, value: &Value) -> Cow<'t, str> {
    match value.kind {
        Kind::String { escaped: true } => {
            let mut out = String::new();
            decode(value.literal(text), &mut out);
            Cow::Owned(out)
        }
        Kind::String { escaped: false } => Cow::Borrowed(value.literal(text)),
        _ => Cow::Borrowed(value.text(text)),
    }
}

/// Members of an object: those that were wanted, by their names.
pub(crate) type Members<'t> = Vec<(Cow<'t, str>, Value)>;

/// The members of an object whose names are wanted, of which there must be few: each is compared with
/// those before it. The last of a repeated name counts.
///
/// A byte order mark or a record separator (RFC 7464) may precede the object.
pub(crate) fn members<'t>(text: &'t str, wanted: impl Fn(&str) -> bool) -> Result<Members<'t>> {
    let object = text.trim_start_matches(['\u{feff}', '\u{1e}', ' ', '\t', '\r', '\n']);
    let mut members: Members<'t> = Vec::new();
    let end = each_member(text, text.len() - object.len(), |name, value| {
        let name = text_of(text, name);
        if wanted(&name) {
            match members.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = value,
                None => members.push((name, value)),
            }
        }
    })?;
    let mut rest = Walk::new(text, end);
    match rest.next() {
        None => Ok(members),
        Some(_) => malformed(rest.at, "expected nothing after the object"),
    }
}

/// The result of following a path, besides the values that are handed over.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    /// The values that were handed over.
    pub values: u64,
    /// A list at the end of the path was there, if only an empty one or one of nulls.
    pub list: bool,
    /// An object was at its end.
    pub object: bool,
    /// Elements with an id of their own in the first list on the way, and the steps that go on from
    /// there.
    own: (u64, usize),
    pub left: Left,
}

/// The values at a path that count neither as text nor as nothing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Left {
    /// Objects at the end of the path that have no text, and the first kinds of them.
    parts: (u64, Vec<String>),
    /// The first names of members beside the text of the objects at the end of the path.
    beside: Vec<String>,
    /// Values that end before the path does, and their types.
    short: (u64, Vec<String>),
}

impl Reached {
    /// Whether the path led to a text, if only to an empty one.
    pub fn is_text(&self) -> bool {
        self.values > 0 || self.list && !self.object
    }

    /// The list on the way whose elements look like records, for a message.
    pub fn like_records(&self, path: &[Step<'_>]) -> Option<String> {
        let (own, rest) = self.own;
        let steps = path.get(..path.len().checked_sub(rest)?)?;
        let names = steps.iter().map(|step| match step {
            Step::Name(name) => Some(quoted(name)),
            _ => None,
        });
        let list = names.collect::<Option<Vec<_>>>()?.join(".") + "[]";
        let flag = flag_word("--records", &list);
        let what = "has several objects with an id of their own";
        (own > 1).then(|| format!("{list} {what}: {flag} makes a document of each"))
    }

    /// The members of what the path led to that are not in the text, for a message.
    pub fn left_out(&self, path: &str) -> Option<String> {
        let Left {
            parts,
            beside,
            short,
        } = &self.left;
        let mut what = Vec::new();
        if parts.0 > 0 {
            what.push(format!(
                "{} without text ({})",
                counted(parts.0, "part"),
                parts.1.join(", ")
            ));
        }
        if !beside.is_empty() {
            let names = beside.join(", ");
            what.push(format!(
                "objects of which only the text counts, not {names}"
            ));
        }
        if short.0 > 0 {
            let values = counted(short.0, "value");
            what.push(format!(
                "{values} of type {}, which the path leads beyond",
                short.1.join(", ")
            ));
        }
        (!what.is_empty()).then(|| format!("{path} has {}", what.join(", ")))
    }
}

/// Takes the strings, numbers and truth values at the end of a path, in the order of the text.
/// Returns `false` for a value that stands for nothing.
pub(crate) type Take<'a> = dyn FnMut(&Value) -> bool + 'a;

/// Which objects at the end of a path have values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Objects {
    None,
    /// One value with its type, as MongoDB writes it: `{"$oid": "..."}`.
    Typed,
    /// Also the parts of a text.
    Parts,
}

/// A member of an object at which a path begins.
#[derive(Clone, Copy)]
pub(crate) struct Start<'s> {
    pub name: &'s str,
    value: &'s Value,
    /// The path, and how many of its steps lead on from the member.
    pub path: &'s [Step<'s>],
    left: usize,
    /// Whether the field at the end is called `html`.
    pub html: bool,
}

impl<'s> Start<'s> {
    /// A member that is itself the wanted value.
    pub fn at(name: &'s str, value: &'s Value) -> Start<'s> {
        Start {
            name,
            value,
            path: &[],
            left: 0,
            html: name == "html",
        }
    }
}

impl<'s> Level<'s> for &'s Members<'_> {
    type Found = Start<'s>;

    fn whole(&self, name: &'s str) -> Option<Start<'s>> {
        Some(Start::at(name, named(self, name)?))
    }

    fn find(&self, path: &'s FieldPath<'s>) -> Option<Start<'s>> {
        let html = path.last() == "html";
        let whole = self
            .whole(path.literal)
            .map(|start| Start { html, ..start });
        whole.or_else(|| {
            let (Step::Name(first), rest) = path.steps.split_first()? else {
                return None;
            };
            Some(Start {
                name: path.literal,
                value: named(self, first)?,
                path: &path.steps,
                left: rest.len(),
                html,
            })
        })
    }
}

/// Hands over the strings, numbers and truth values at the end of a path, which may be a list.
pub(crate) fn reach(
    text: &str,
    start: Start<'_>,
    objects: Objects,
    take: &mut Take<'_>,
) -> Result<Reached> {
    let steps = &start.path[start.path.len() - start.left..];
    let mut following = Following {
        text,
        objects,
        take,
        reached: Reached::default(),
    };
    following.follow(start.value, steps, 0)?;
    Ok(following.reached)
}

/// The member of this name.
pub(crate) fn named<'v>(members: &'v Members<'_>, wanted: &str) -> Option<&'v Value> {
    let found = members.iter().find(|(name, _)| name == wanted);
    found.map(|(_, value)| value)
}

/// The members of a part whose values are its text, the first of them that is there: of the parts
/// of messages, of what tools answer, and of the spans of formatted text.
pub(crate) const PART_TEXTS: [&str; 7] = words("text content parts thinking refusal output value");

/// The most names that a warning lists: of members beside the text, of kinds of parts, of types.
const MOST_NOTED: usize = 5;

/// The members of a part that say what its text is and not what it says.
pub(crate) const PART_FACTS: [&str; 9] =
    words("type id index role cache_control tool_use_id tool_call_id is_error content_type");

/// Members that may quote another text. A value without several words is a fact.
const PART_QUOTES: [&str; 4] = words("annotations citations logprobs signature");

/// Whether a string in a value has several words, perhaps in a script without spaces.
fn has_words(value: &str) -> bool {
    let mut walk = Walk::new(value, 0);
    while let Some(found) = memchr(b'"', value.as_bytes().get(walk.at..).unwrap_or_default()) {
        let begin = walk.at + found + 1;
        walk.at += found;
        if walk.string().is_err() {
            return false;
        }
        let literal = value.get(begin..walk.at - 1).unwrap_or_default().trim();
        if literal.contains([' ', '\\']) || !literal.is_ascii() {
            return true;
        }
    }
    false
}

/// On the way to the end of a path.
struct Following<'t, 'f, 'a> {
    text: &'t str,
    objects: Objects,
    take: &'f mut Take<'a>,
    reached: Reached,
}

impl Following<'_, '_, '_> {
    fn follow(&mut self, value: &Value, steps: &[Step<'_>], depth: u32) -> Result<()> {
        if depth > DEEPEST {
            return malformed(value.place.start, "lists and objects are nested too deep");
        }
        let text = self.text;
        let deeper = depth + 1;
        match (value.kind, steps) {
            (Kind::List, _) => {
                self.reached.list |= steps.is_empty();
                let (step, mut rest) = match steps.split_first() {
                    None => (None, steps),
                    // A name that is not a number names a field of every element.
                    Some((step @ Step::Name(_), _)) if step.number().is_none() => (None, steps),
                    Some((step, rest)) => (Some(step), rest),
                };
                // A number after a condition counts the elements that meet it.
                let nth = match (step, rest.split_first()) {
                    (Some(Step::Where { .. }), Some((step, after))) => {
                        step.number().inspect(|_| rest = after)
                    }
                    (Some(step), _) => step.number(),
                    (None, _) => None,
                };
                let mut met = 0;
                let own = &mut self.reached.own;
                let counts = *own == (0, 0) && matches!(rest, [Step::Name(_), ..]);
                if counts {
                    own.1 = steps.len();
                }
                each_element(text, value, |element| {
                    if counts && self.reached.own.0 < 2 && element.kind == Kind::Object {
                        self.reached.own.0 += u64::from(member(text, &element, "id")?.is_some());
                    }
                    if let Some(Step::Where { field, value }) = step
                        && !meets(text, &element, field, value)?
                    {
                        return Ok(());
                    }
                    met += 1;
                    match nth {
                        Some(nth) if met - 1 != nth => Ok(()),
                        _ => self.follow(&element, rest, deeper),
                    }
                })
            }
            (Kind::Object, [Step::Name(name), rest @ ..]) => match member(text, value, name)? {
                Some(value) => self.follow(&value, rest, deeper),
                None => Ok(()),
            },
            (Kind::Object, []) => self.part(value, deeper),
            // A list of one may be written without its brackets.
            (_, [Step::All, rest @ ..]) if value.kind != Kind::Null => {
                self.follow(value, rest, deeper)
            }
            (Kind::Null, _) => Ok(()),
            (Kind::Word, []) => Err(Malformed::no_value(value)),
            (_, []) => {
                self.reached.values += u64::from((self.take)(value));
                Ok(())
            }
            _ => {
                let short = &mut self.reached.left.short;
                short.0 += 1;
                note(&mut short.1, value.kind.text());
                Ok(())
            }
        }
    }

    /// Hands over the text of an object at the end of a path.
    fn part(&mut self, object: &Value, depth: u32) -> Result<()> {
        let text = self.text;
        let mut members: Members<'_> = Vec::new();
        each_member(text, object.place.start, |name, value| {
            members.push((text_of(text, name), value));
        })?;
        // A value with its type, as MongoDB writes it: {"$oid": "..."}.
        if let [(name, value)] = &members[..]
            && name.starts_with('$')
            && self.objects != Objects::None
        {
            return self.follow(value, &[], depth);
        }
        self.reached.object = true;
        if self.objects != Objects::Parts {
            return Ok(());
        }
        let (before, parts) = (self.reached.values, self.reached.left.parts.0);
        let mut texts = PART_TEXTS.iter().filter_map(|key| {
            // Of a repeated name, the last counts.
            members
                .iter()
                .rfind(|(name, value)| name == key && value.kind != Kind::Null)
        });
        let found = texts.next();
        if let Some((_, value)) = found {
            self.follow(value, &[], depth)?;
        }
        let left = &mut self.reached.left;
        if self.reached.values == before {
            if left.parts.0 == parts {
                left.parts.0 += 1;
                let kind = members.iter().find(|(name, _)| name == "type");
                let first = kind.map(|(_, kind)| text_of(text, kind));
                let first = first.or_else(|| members.first().map(|(name, _)| name.clone()));
                note(
                    &mut left.parts.1,
                    &first.unwrap_or("an empty object".into()),
                );
            }
        } else {
            // The speaker of a text is not a part of it.
            let used = found.map_or("from", |(name, _)| &**name);
            let is_fact = |name: &str, value: &Value| {
                PART_FACTS.contains(&name)
                    || name == used
                    || name == "from"
                    || PART_QUOTES.contains(&name) && !has_words(value.text(text))
            };
            let empty = |value: &Value| matches!(value.text(text), "null" | "[]" | "{}" | "\"\"");
            let beside = members
                .iter()
                .filter(|(name, value)| !is_fact(name, value) && !empty(value));
            for (name, _) in beside {
                note(&mut left.beside, name);
            }
        }
        Ok(())
    }
}

/// Adds a name to those that a warning lists.
fn note(names: &mut Vec<String>, name: &str) {
    let name = short(name);
    if names.len() < MOST_NOTED && !names.iter().any(|known| *known == name) {
        names.push(name.into());
    }
}

/// Whether the field of an element has a value.
fn meets(text: &str, element: &Value, field: &[Cow<'_, str>], wanted: &str) -> Result<bool> {
    let mut value = element.clone();
    for name in field {
        if value.kind != Kind::Object {
            return Ok(false);
        }
        match member(text, &value, name)? {
            Some(next) => value = next,
            None => return Ok(false),
        }
    }
    Ok(match value.kind {
        Kind::Object | Kind::List => false,
        _ => text_of(text, &value) == wanted,
    })
}

/// Appends a string without its escapes; an escape that JSON does not have is kept unchanged.
pub(crate) fn decode(literal: &str, out: &mut String) {
    for (piece, escape) in pieces(literal) {
        match escape.flatten() {
            Some(character) => out.push(character),
            None => out.push_str(piece),
        }
    }
}

/// The half of a surrogate pair that U+FFFD stands for, if the escape is one.
pub(crate) fn half(escape: &str, character: char) -> Option<u16> {
    let unit = (character == char::REPLACEMENT_CHARACTER).then(|| unit(escape, 0))?;
    unit.filter(|unit| (0xd800..=0xdfff).contains(unit))
}

/// The stretches of a string without escapes, and its escapes with what [`escape`] says of them, in
/// order.
pub(crate) fn pieces(literal: &str) -> impl Iterator<Item = (&str, Option<Option<char>>)> {
    let mut rest = literal;
    std::iter::from_fn(move || {
        let (length, character) = match memchr(b'\\', rest.as_bytes()) {
            Some(0) => {
                let (length, character) = escape(rest);
                (length, Some(character))
            }
            plain => (plain.unwrap_or(rest.len()), None),
        };
        let (piece, behind) = rest.split_at(length);
        rest = behind;
        (!piece.is_empty()).then_some((piece, character))
    })
}

/// The unit that an escape `\uXXXX` at this place stands for.
fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.as_bytes().get(at..at + 6)?.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The length of the escape at the beginning, and the character that it stands for; `None` if JSON
/// does not have it. Half a surrogate pair stands for U+FFFD.
fn escape(text: &str) -> (usize, Option<char>) {
    let character = match text.as_bytes().get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(&same @ (b'"' | b'\\' | b'/')) => same.into(),
        Some(b'u') => {
            let Some(first) = unit(text, 0) else {
                return (2, None);
            };
            let units = [first, unit(text, 6).unwrap_or_default()];
            return match char::decode_utf16(units).next() {
                Some(Ok(character)) => (6 * character.len_utf16(), Some(character)),
                _ => (6, Some(char::REPLACEMENT_CHARACTER)),
            };
        }
        // The character behind the backslash may have any length.
        _ => return (1, None),
    };
    (2, Some(character))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::ground::resolve::may_begin;

    /// The strings that a path leads to, joined by bars; numbers and truth values as written.
    fn found(object: &str, path: &str) -> Option<String> {
        let path = FieldPath::one(path).unwrap();
        let members = members(object, |name| may_begin(&path, name)).unwrap();
        let members = &members;
        let mut texts = Vec::new();
        let mut take = |value: &Value| {
            texts.push(text_of(object, value));
            true
        };
        let start = members.find(&path);
        let reached = start.map(|start| reach(object, start, Objects::Parts, &mut take).unwrap());
        let reached = reached.unwrap_or_default();
        (!texts.is_empty() || reached.list).then(|| texts.join("|"))
    }

    #[test]
    fn paths_lead_through_objects_and_lists() {
        let object = r#"{"prompt":"p","n":1.50,"messages":[{"role":"u","content":"a\nb"},{"role":"s"},
            {"content":"c","role":"u"},{"role":"x","content":null}],"parts":[["x","y"],["z"]],
            "tags":["t",5,null,"u"],"a":{"0":"zero","t":true},"b[c]":"literal","empty":[],
            "nulls":[null],"none":null,"a.0":"dotted","c":{"d":{"e.f":"q"}}}"#;
        for (path, expected) in [
            ("prompt", Some("p")),
            ("n", Some("1.50")),
            ("messages[].content", Some("a\nb|c")),
            ("messages.content", Some("a\nb|c")),
            ("messages.0.content", Some("a\nb")),
            ("messages[2].content", Some("c")),
            ("messages.1.content", None),
            ("messages.9.content", None),
            ("messages[role=u].content", Some("a\nb|c")),
            ("messages[role=u][1].content", Some("c")),
            ("messages[role=u].1.content", Some("c")),
            ("messages[role=u][2].content", None),
            ("messages[role=s].content", None),
            ("messages[content=c].role", Some("u")),
            ("messages[].role", Some("u|s|u|x")),
            ("parts", Some("x|y|z")),
            ("parts[][]", Some("x|y|z")),
            ("parts[1]", Some("z")),
            ("parts[][0]", Some("x|z")),
            ("tags", Some("t|5|u")),
            ("tags[0]", Some("t")),
            ("a.t", Some("true")),
            // A field that has the whole path as its name comes first.
            ("a.0", Some("dotted")),
            ("\"a\".0", Some("zero")),
            ("a[]", None),
            ("\"b[c]\"", Some("literal")),
            ("c.d.\"e.f\"", Some("q")),
            (r"c.d.e\.f", Some("q")),
            ("c.d.e.f", None),
            ("n.x", None),
            ("empty", Some("")),
            ("nulls", Some("")),
            ("none", None),
            ("empty[]", None),
        ] {
            assert_eq!(found(object, path).as_deref(), expected, "{path}");
        }
    }

    /// As in Python and jq, in the object and in those within it.
    #[test]
    fn of_a_repeated_name_the_last_counts() {
        let object = r#"{"t":"1","a":{"b":"x","b":"y"},"t":"2","a":{"b":"p","c":1,"b":"q"},
            "m":[{"r":"u","r":"s","c":"k"}],"z":{"b":"old"},"z":{},"\u0074":"3"}"#;
        for (path, expected) in [
            ("t", Some("3")),
            ("a.b", Some("q")),
            ("m[r=s].c", Some("k")),
            ("m[r=u].c", None),
            ("z.b", None),
        ] {
            assert_eq!(found(object, path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn what_nobody_wants_costs_nothing() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        let odd = r#"NaN -Infinity Infinity 1e400 -0 01 +1 .5 1. 0x1F None undefined tru "\x41" "\ud800" "\u12"
            [1,] {"}":"{","a":["]"]} "\\""#;
        let (nines, control) = ("9".repeat(10_000), "\"\t\u{1}\"");
        let more = [&*nines, &deep, control, "{\"a\" 1}", "[1 2]"];
        for value in odd.split_whitespace().chain(more) {
            let object = format!("{{\"x\":{value},\"t\":\"found\",\"y\":[{value}]}}");
            let shown = &object[..object.len().min(80)];
            assert_eq!(found(&object, "t").as_deref(), Some("found"), "{shown}");
        }
    }

    #[test]
    fn what_is_no_object_is_malformed() {
        let objects = r#"{;[];{"a"};{"a":};{"a":1;{"a":1,};{a:1};{"a":1 "b":2};{"a":[1};{"a":[1}};{"a":{]};{"a":"};
            {"a":"\"};{"a":1}};{"a":1} x;{"a":'x'};{"a":é};{'a':1}"#;
        for object in objects.split(';').chain(["", "{\"a\":1;\"b\":2}"]) {
            assert!(members(object, |_| true).is_err(), "{object}");
        }
        let deep = format!("{{\"t\":{}{}}}", "[".repeat(200), "]".repeat(200));
        let path = FieldPath::one("t").unwrap();
        let found = members(&deep, |_| true).unwrap();
        let start = (&found).find(&path).unwrap();
        assert!(reach(&deep, start, Objects::None, &mut |_| true).is_err());
        let word = r#"{"t":[broken]}"#;
        let found = members(word, |_| true).unwrap();
        let start = (&found).find(&path).unwrap();
        assert!(reach(word, start, Objects::None, &mut |_| true).is_err());
    }

    #[test]
    fn numbers_are_those_of_json() {
        for number in "0 -0 10 1.50 -1e9 1E+2 0.1e-7 123456789012345678901".split(' ') {
            assert!(is_number(number.as_bytes()), "{number}");
        }
        for word in " - 01 1. .5 +1 1e 1e+ 0x1 1.2.3 --1 nan".split(' ') {
            assert!(!is_number(word.as_bytes()), "{word}");
        }
    }

    #[test]
    fn escapes_are_decoded() {
        let strings = [
            (r"plain", "plain", 0),
            (r#"a\n\t\b\f\r\"\\\/"#, "a\n\t\u{8}\u{c}\r\"\\/", 0),
            (r"\u00e9\ud83d\ude00\uFFFD", "é😀\u{fffd}", 0),
            (r"\ud83d\ude00\ud83d", "😀\u{fffd}", 1),
            (r"\ude00x", "\u{fffd}x", 1),
            (r"\ud83d\u0041", "\u{fffd}A", 1),
            (r"\x41 \u12g4 \é", r"\x41 \u12g4 \é", 0),
        ];
        for (literal, expected, halves) in strings {
            let mut out = String::new();
            decode(literal, &mut out);
            assert_eq!(out, expected, "{literal}");
            let is_half = |(piece, c): &(&str, Option<Option<char>>)| {
                c.flatten().and_then(|c| half(piece, c)).is_some()
            };
            assert_eq!(pieces(literal).filter(is_half).count(), halves, "{literal}");
        }
        // The strings of JSON that serde_json knows.
        for text in "|a\u{7f}\u{80}\u{2028}|\0\u{1f}\"\\/é😀|\u{ffff}\u{10ffff}".split('|') {
            let written = serde_json::to_string(text).unwrap();
            let mut out = String::new();
            decode(&written[1..written.len() - 1], &mut out);
            assert_eq!(out, text);
        }
    }
}
