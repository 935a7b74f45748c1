//! The grammar of the names of fields, for JSON objects and for Parquet columns.
//!
//! ```text
//! fields = field { "," field }
//! field  = path { "|" path }
//! path   = name { "." name | "[]" | "[" number "]" | "[" path "=" value "]" }
//! ```
//!
//! A name in double quotes, or with a backslash before a character, may have any characters.
//! docs/guide/formats.md says what a path means.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use super::bytes::begins_any_case;
use super::record::Reject;
use lookalike_base::{flag_word, words};
use lookalike_source::Reason;

/// The fields searched for the text, in this order, without `--text-field`.
pub const TEXT_FIELDS: [&str; 7] = words("text contents content body html raw_content article");

/// The fields searched for the docno, in this order, without `--id-field`.
pub const ID_FIELDS: [&str; 9] = words("id _id docno doc_id docid uuid url uri WARC-Record-ID");

/// The fields searched for the URL, in this order, without `--url-field`.
pub const URL_FIELDS: [&str; 5] = ["url", "uri", "WARC-Target-URI", "link", "source_url"];

/// The fields searched for the date, in this order.
pub(crate) const DATE_FIELDS: [&str; 6] =
    words("date timestamp WARC-Date warc_date crawl_date fetch_time");

/// Fields that can declare the text as markup.
pub(crate) const TYPE_FIELDS: [&str; 6] =
    words("content_type contentType content-type mime mime_type type");

/// Whether the text begins like an HTML page.
pub(crate) fn is_page(text: &[u8]) -> bool {
    let start = text.trim_ascii_start();
    let tags = ["<!doctype html", "<html"];
    tags.iter()
        .any(|tag| begins_any_case(start, tag.as_bytes()))
}

/// A step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'p> {
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
    /// Parses a path, in which a comma and a bar have no meaning.
    pub fn one(text: &'p str) -> Result<FieldPath<'p>, String> {
        let fields = Self::parse(text, b".[", "a dot or a bracket")?.into_iter();
        fields.flatten().next().ok_or("expected a name".into())
    }

    /// Parses the paths to one field, separated by bars: the first that leads to a value counts.
    /// A comma has no meaning.
    pub fn ways(text: &'p str) -> Result<Vec<FieldPath<'p>>, String> {
        let fields = Self::parse(text, b".[|", "a dot, a bracket or a bar")?;
        Ok(fields.into_iter().flatten().collect())
    }

    /// Parses the paths of several fields, separated by commas.
    pub fn all(text: &'p str) -> Result<Vec<Vec<FieldPath<'p>>>, String> {
        Self::parse(text, b".[|,", "a dot, a bracket, a bar or a comma")
    }

    /// Parses paths in which these characters have a meaning.
    fn parse(text: &'p str, stops: &[u8], named: &str) -> Result<Vec<Vec<Self>>, String> {
        let mut parser = Parser { text, at: 0 };
        let mut fields = vec![vec![parser.path(stops)?]];
        while let Some(found) = parser.peek() {
            match (found, fields.last_mut()) {
                (b',' | b'|', Some(ways)) if stops.contains(&found) => {
                    parser.at += 1;
                    let path = parser.path(stops)?;
                    match found {
                        b'|' => ways.push(path),
                        _ => fields.push(vec![path]),
                    }
                }
                _ => return Err(parser.unexpected(named)),
            }
        }
        Ok(fields)
    }

    /// The path of a field that has the whole text as its name.
    pub fn whole(text: &'p str) -> FieldPath<'p> {
        FieldPath {
            literal: text,
            steps: vec![Step::Name(text.into())],
        }
    }

    /// The names on the way, whatever elements of lists the path takes.
    fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        let alone = self.steps.len() == 1;
        self.steps.iter().filter_map(move |step| match step {
            Step::Name(name) if alone || step.number().is_none() => Some(&**name),
            _ => None,
        })
    }

    /// The name of the field itself.
    pub fn last(&self) -> &str {
        self.names().next_back().unwrap_or(self.literal)
    }
}

/// A name in the spelling of a path: in quotes if it needs them.
pub fn quoted(name: &str) -> Cow<'_, str> {
    let plain = |byte: u8| !b".,|[]=\"\\".contains(&byte);
    if !name.is_empty() && name.bytes().all(plain) {
        return name.into();
    }
    let escaped = name.replace('\\', r"\\").replace('"', r#"\""#);
    format!("\"{escaped}\"").into()
}

/// A field that a record or a file has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its path.
    pub path: String,
    /// The type of its values.
    pub kind: Cow<'static, str>,
    /// Bytes of its text; `None` if it is not text.
    pub text: Option<usize>,
}

/// Fields that a message lists, and characters of each.
const LISTED: usize = 20;
const LONGEST: usize = 48;

/// The text before the list of fields in the detail of a reject.
pub(crate) const LIST: &str = "; it has ";
/// The text between the names of elements or attributes and the flags that read them.
pub(crate) const LEFT_OUT: &str = ": left out of the text; to count: ";
/// The texts before the field that a detail suggests.
const MEANT: &str = "; did you mean ";
const LONGEST_TEXT: &str = "; the longest text is in ";
/// The words before the names that a detail suggests for the columns of a table.
pub(crate) const NAMED: &str = "; name them with --columns ";
/// The words before the place of a column of Parquet whose lists make no documents.
const COLUMN: &str = "the column ";

/// Why a record or a file has no text: which field is missing or not text, which fields are there,
/// and which one may be meant.
pub fn no_text(given: Option<&str>, usual: &[&str], known: &[Known]) -> String {
    let detail = match given {
        None => usual
            .iter()
            .find_map(|name| objects_in(name, known).or_else(|| problem(name, known)))
            .unwrap_or_else(|| format!("none of {}", usual.join(", "))),
        Some(given) => {
            let fields =
                FieldPath::all(given).unwrap_or_else(|_| vec![vec![FieldPath::whole(given)]]);
            let literals = fields.iter().flatten().map(|path| path.literal.trim());
            let has = |path| known.iter().any(|known| leads_to(path, known));
            let problems: Vec<String> = literals
                .filter(|path| !has(path) || problem(path, known).is_some())
                .map(|path| problem(path, known).unwrap_or_else(|| format!("no field {path}")))
                .collect();
            match problems.is_empty() {
                true => format!("no text in {given}"),
                false => problems.join(", "),
            }
        }
    };
    // If an object has row numbers as names, a path to one of them would read that row only.
    let texts = || (known.iter()).filter(|known| known.text.is_some() && !is_numbered(&known.path));
    let alike = alike(texts());
    let names = [&ID_FIELDS[..], &URL_FIELDS].concat();
    let within = given.and_then(|given| within(given, texts()));
    let near = given.and_then(|given| nearest(given, texts()));
    let is_alone = |form: &String| alike.get(form).is_none_or(|&paths| paths < 2);
    // The name of a field of several objects means none of them.
    let near = near.filter(|near| {
        given.is_some_and(|given| given.contains('.'))
            || forms(&near.path).iter().skip(1).all(is_alone)
    });
    let longest = texts()
        .filter(|known| known.text > Some(0) && known.path.len() <= LONGEST)
        .filter(|known| !names.contains(&&*known.path))
        .filter(|known| forms(&known.path).iter().all(is_alone))
        .max_by_key(|known| (TEXT_FIELDS.contains(&last_name(&known.path)), known.text));
    let meant = match (within, near, longest) {
        (Some(within), ..) => format!("{MEANT}{within}?"),
        (None, Some(near), _) => format!("{MEANT}{}?", near.path),
        (None, None, Some(longest)) => format!("{LONGEST_TEXT}{}", longest.path),
        (None, None, None) if alike.values().any(|&paths| paths > 1) => {
            "; several of these are alike: one alone would leave out the others".into()
        }
        (None, None, None) => String::new(),
    };
    detail + &list_of(LIST, known) + &meant
}

/// As [`no_text`], for a Parquet file.
pub(crate) fn no_column(given: Option<&str>, usual: &[&str], known: &[Known]) -> String {
    let detail = no_text(given, usual, known);
    [MEANT, LONGEST_TEXT].iter().fold(detail, |detail, lead| {
        detail.replacen(lead, &format!("{lead}{COLUMN}"), 1)
    })
}

/// Why a path of the text leads nowhere in a table with these columns, or to no text: each column as
/// its path, its type, and whether it has text.
///
/// # Errors
/// The path has a mistake.
pub fn astray(given: &str, columns: Vec<(String, String, bool)>) -> Result<Option<String>, String> {
    let known = columns.into_iter().map(|(path, kind, text)| Known {
        path,
        kind: kind.into(),
        text: text.then_some(0),
    });
    let known: Vec<Known> = known.collect();
    let path = FieldPath::one(given)?;
    let mut way: Vec<String> = Vec::new();
    for step in path.steps.iter().filter(|step| step.number().is_none()) {
        match step {
            Step::Name(name) => way.push(name.to_string()),
            Step::Where { field, .. } => {
                let field = field.iter().map(ToString::to_string);
                let field: Vec<String> = way.iter().cloned().chain(field).collect();
                if !known.iter().any(|known| names(&known.path) == field) {
                    let missing = format!("no field {} for {given}", field.join("."));
                    return Ok(Some(missing + &list_of(LIST, &known)));
                }
            }
            Step::All => {}
        }
    }
    let has_text = |known: &Known| known.text.is_some() && names(&known.path) == way;
    Ok((!known.iter().any(has_text)).then(|| no_text(Some(given), &[], &known)))
}

/// Lists the fields that a record has, and the field that a name may mean, for the end of a message
/// that names it.
pub fn other_fields(given: &str, known: &[Known]) -> String {
    let meant = match nearest(given, known.iter()) {
        Some(meant) if meant.path != given => format!("{MEANT}{}?", meant.path),
        Some(same) if same.text.is_some() => "; an empty text counts as missing".into(),
        _ => String::new(),
    };
    list_of("; the first record has ", known) + &meant
}

/// The fields that the detail of a reject lists, and the field that it suggests, with the text
/// before them.
pub fn fields_in(detail: &str) -> &str {
    detail.find(LIST).map_or("", |at| &detail[at..])
}

/// Returns the suggestion in the detail of a reject as a flag: names of columns, or a field, and
/// the effect on a list. `others` are the fields that other records have, which the flag would
/// leave out.
pub fn advised(detail: &str, others: &str) -> Option<String> {
    if let Some((_, names)) = detail.rsplit_once(NAMED) {
        return Some(flag_word("--columns", names));
    }
    let field = suggested(detail)?;
    let is_column = detail.contains(COLUMN);
    let list = field
        .rfind("[].")
        .and_then(|at| field.split_at_checked(at + 2))
        .filter(|_| !is_column);
    let joins = match (list, field.contains("[]") && !is_column) {
        _ if !others.is_empty() => String::new(),
        (Some((list, name)), _) => format!(
            ", which makes one document of all its values in a record; for a document each, {} {}",
            flag_word("--records", list),
            flag_word("--text-field", name.trim_start_matches('.')),
        ),
        (None, true) => ", which takes the text of its objects, too".into(),
        (None, false) => String::new(),
    };
    let all = match others {
        "" => field.into(),
        others => format!("{others}|{field}"),
    };
    Some(flag_word("--text-field", &all) + &joins)
}

/// How many paths have each of their [`forms`].
fn alike<'k>(texts: impl Iterator<Item = &'k Known>) -> HashMap<String, usize> {
    let mut alike = HashMap::new();
    for form in texts.flat_map(|known| forms(&known.path)) {
        *alike.entry(form).or_default() += 1;
    }
    alike
}

/// Returns the forms that a path shares with the paths to the same field of other records, if an
/// object has records as its fields: all but its numbers, or all but a name above the field.
fn forms(path: &str) -> Vec<String> {
    let mut number = String::new();
    for c in path.chars() {
        match c {
            '0'..='9' if number.ends_with('0') => {}
            '0'..='9' => number.push('0'),
            c => number.push(c),
        }
    }
    let names = names(path);
    let above = 0..names.len().saturating_sub(1);
    let without = above.filter(|_| !path.contains('['));
    let without = without.map(|at| {
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names[at] = "";
        names.join("\0")
    });
    [number].into_iter().chain(without).collect()
}

/// Whether a path names an element, or one of the fields of an object, by its number. The field of a
/// record may be called by a number.
fn is_numbered(path: &str) -> bool {
    let path = FieldPath::one(path).unwrap_or_else(|_| FieldPath::whole(path));
    let mut steps = path.steps.iter();
    path.steps.len() > 1 && steps.any(|step| step.number().is_some())
}

/// The field that the detail of a reject suggests.
pub fn suggested(detail: &str) -> Option<&str> {
    let meant = detail
        .rsplit_once(MEANT)
        .and_then(|(_, meant)| meant.strip_suffix('?'));
    let field = meant.or_else(|| Some(detail.rsplit_once(LONGEST_TEXT)?.1))?;
    Some(field.strip_prefix(COLUMN).unwrap_or(field))
}

/// Fields and their types, behind `lead`; nothing if there are none.
fn list_of(lead: &str, known: &[Known]) -> String {
    let list = known.iter().take(LISTED);
    let list = list.map(|known| format!("{} ({})", short(&known.path), known.kind));
    match (list.collect::<Vec<_>>().join(", "), known.len()) {
        (_, 0) => String::new(),
        (list, ..=LISTED) => format!("{lead}{list}"),
        (list, all) => format!("{lead}{list} and {} more", all - LISTED),
    }
}

/// The names on the way to a field, whatever elements of its lists the path takes.
fn names(path: &str) -> Vec<String> {
    let path = FieldPath::one(path).unwrap_or_else(|_| FieldPath::whole(path));
    path.names().map(Into::into).collect()
}

/// Whether a path of a user leads to this field.
fn leads_to(path: &str, known: &Known) -> bool {
    known.path == path || names(path) == names(&known.path)
}

/// Splits the path of a field in two: the part up to where a path of a user leads, and the part
/// below it.
fn below<'k>(path: &str, known: &'k Known) -> Option<(&'k str, &'k str)> {
    let path = names(path);
    let ends = known.path.match_indices(['.', '[']);
    let mut parts = ends.filter_map(|(end, _)| known.path.split_at_checked(end));
    parts.find(|(above, _)| names(above) == path)
}

/// The text below a path, as the path continued. It takes the same elements of lists as the path, if
/// the path says which.
fn within<'k>(given: &str, texts: impl Iterator<Item = &'k Known>) -> Option<String> {
    let path = FieldPath::one(given).ok()?;
    let lists = |path: &FieldPath<'_>| path.steps.len() - path.names().count();
    let (known, above, rest) = texts
        .filter_map(|known| below(given, known).map(|(above, rest)| (known, above, rest)))
        .max_by_key(|(known, ..)| {
            let name = last_name(&known.path);
            // The values of a map and not their keys.
            let is_text = TEXT_FIELDS.contains(&name);
            (is_text, !matches!(name, "key" | "keys"), known.text)
        })?;
    let whole = FieldPath::one(above).is_ok_and(|above| lists(&above) == lists(&path));
    let meant = match whole {
        true => format!("{given}{rest}"),
        false => known.path.clone(),
    };
    (meant.len() <= LONGEST).then_some(meant)
}

/// That a list has objects among its strings: nobody but the user knows which count.
fn objects_in(path: &str, known: &[Known]) -> Option<String> {
    let list = known
        .iter()
        .find(|known| known.path.strip_suffix("[]") == Some(path))?;
    Some(format!("{path} is a {}, not of strings alone", list.kind))
}

/// Why the text cannot be in a field that is there; `None` if it is not there, or has text.
fn problem(path: &str, known: &[Known]) -> Option<String> {
    let kind = match known.iter().find(|known| leads_to(path, known)) {
        Some(known) if known.text.is_some() => return None,
        Some(known) => &*known.kind,
        None => known.iter().find_map(|known| {
            let (_, rest) = below(path, known)?;
            let kinds = [
                (".key_value[].key", "map"),
                (".entries[].key", "map"),
                (".map[].key", "map"),
                (".", "object"),
                ("[].", "list of object"),
            ];
            kinds
                .iter()
                .find_map(|(next, kind)| rest.starts_with(next).then_some(*kind))
        })?,
    };
    Some(match kind {
        "null" => format!("{} is null", short(path)),
        kind => format!("{} is of type {kind}, not string", short(path)),
    })
}

/// The field whose path resembles the given one most; of several, the one with the longest text.
fn nearest<'k>(given: &str, known: impl Iterator<Item = &'k Known>) -> Option<&'k Known> {
    known
        .filter(|known| known.path.len() <= LONGEST)
        .map(|known| (likeness(given, &known.path), known.text, known))
        .filter(|(alike, ..)| *alike > 800)
        .max_by_key(|(alike, length, _)| (*alike, *length))
        .map(|(.., known)| known)
}

fn last_name(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or_default()
}

/// Remembers the file for which a detail was given at length, so that it is not repeated for each
/// record.
#[derive(Default)]
pub struct SaidOnce {
    file: Option<u32>,
    /// The names of a file that were said to be left out.
    names: (Option<u32>, BTreeSet<String>),
}

/// Names that are remembered.
const MOST_NAMES: usize = 256;

impl SaidOnce {
    /// The detail of the next reject: the fields that a record has are listed once for a file.
    /// `None` if only names are left out that were named.
    pub fn detail<'r>(&mut self, reject: &'r Reject) -> Option<&'r str> {
        let file = Some(reject.source.file);
        if matches!(reject.reason, Reason::ElementsLeft | Reason::AttributeText)
            && let Some((names, _)) = reject.detail.split_once(LEFT_OUT)
        {
            if self.names.0 != file {
                self.names = (file, BTreeSet::new());
            }
            let known = &mut self.names.1;
            let new = names.split(", ").filter(|name| !known.contains(*name));
            let new: Vec<String> = new.map(Into::into).collect();
            let any = !new.is_empty();
            known.extend(new);
            // Names that are forgotten are said again.
            while known.len() > MOST_NAMES {
                known.pop_first();
            }
            return any.then_some(&reject.detail);
        }
        let lists = [
            Reason::MissingText,
            Reason::MissingDocno,
            Reason::MissingField,
        ];
        if lists.contains(&reject.reason)
            && let Some((short, _)) = reject.detail.split_once(LIST)
            && std::mem::replace(&mut self.file, file) == file
        {
            return Some(short);
        }
        Some(&reject.detail)
    }
}

/// The similarity of two paths, in thousandths. The same name in another place is nearer than
/// another name.
fn likeness(given: &str, known: &str) -> usize {
    let (given, known) = (given.to_lowercase(), known.to_lowercase());
    let alike = |a: &str, b: &str| (strsim::jaro_winkler(a, b) * 1000.0) as usize;
    let names = known.split('.').map(|name| name.trim_end_matches("[]"));
    let part = names.map(|name| alike(last_name(&given), name)).max();
    alike(&given, &known).max(part.unwrap_or(0) * 99 / 100)
}

/// A name as a message shows it.
pub(crate) fn short(path: &str) -> Cow<'_, str> {
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
        let rest = self.text.get(self.at..).unwrap_or_default();
        match rest.chars().next() {
            Some(found) => format!("expected {expected} before `{found}` at byte {}", self.at),
            None => format!("expected {expected} at its end"),
        }
    }

    fn path(&mut self, stops: &[u8]) -> Result<FieldPath<'p>, String> {
        let begin = self.at;
        let mut steps = vec![Step::Name(self.name(stops)?)];
        while let Some(found @ (b'.' | b'[')) = self.peek() {
            self.at += 1;
            steps.push(match found {
                b'.' => Step::Name(self.name(stops)?),
                _ => self.bracket()?,
            });
        }
        let literal = self.text.get(begin..self.at).unwrap_or_default();
        Ok(FieldPath { literal, steps })
    }

    /// Reads the step in brackets, after the opening bracket.
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
            if field.iter().all(|name| name.starts_with('-')) {
                return Err(format!(
                    "expected a number from 0 instead of {}: there are none from the end",
                    field.join(".")
                ));
            }
            return Err(self.unexpected("`=` and a value"));
        }
        let before = self.text.get(..self.at).unwrap_or_default();
        self.at += 1;
        if before.ends_with(['!', '<', '>', '~']) || self.peek() == Some(b'=') {
            return Err(self.unexpected("`=` and no other comparison"));
        }
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
        Ok(match from == begin {
            true => rest.into(),
            false => (name + rest).into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::ground::record::SourceSpan;

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
            assert_eq!(all, [vec![FieldPath::one(text).unwrap()]]);
            assert_eq!(shown(&all[0][0]), expected, "{text}");
            assert_eq!(all[0][0].literal, text);
        }
        let all = FieldPath::all(r#"a,b.c,"d,e",f\,g[]"#).unwrap();
        let all: Vec<String> = all.iter().flatten().map(shown).collect();
        assert_eq!(all, ["<a>", "<b> <c>", "<d,e>", "<f,g> *"]);
        assert_eq!(shown(&FieldPath::one("a,b.c").unwrap()), "<a,b> <c>");
        let all = FieldPath::all(r#"a|b[].c,d|"e|f""#).unwrap();
        let shown = |ways: &Vec<FieldPath<'_>>| ways.iter().map(shown).collect::<Vec<_>>();
        let all: Vec<_> = all.iter().map(shown).collect();
        assert_eq!(all, [vec!["<a>", "<b> * <c>"], vec!["<d>", "<e|f>"]]);
        assert_eq!(FieldPath::ways("a,b|c").unwrap()[1].literal, "c");
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in [
            "", ".", "a.", ".a", "a..b", "a,", ",a", "a,,b", "[0]", "a[", "a[x", "a[x]", "a[x=",
            "a[x=]", "a[=x]", "a[0", "a[0x]", "a]b[", "\"a", "\"a\"b", "a\\", "a[x=y", "a[]b",
            "a[0]b", "a|", "|a", "a||b", "a[b!=c]", "a[b>=c]", "a[b==c]",
        ] {
            assert!(FieldPath::all(text).is_err(), "{text}");
        }
        let error = FieldPath::all("m[-1].c").unwrap_err();
        assert!(error.starts_with("expected a number from 0"), "{error}");
        let error = FieldPath::all("m[role!=user].c").unwrap_err();
        assert!(
            error.starts_with("expected `=` and no other comparison before `u`"),
            "{error}"
        );
        assert!(FieldPath::all(r#"m["role!"="=user"].c"#).is_ok());
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
            known("n", "integer", None),
            known("messages[].role", "string", Some(6)),
            known("messages[].words", "string", Some(9)),
            known("meta.n", "integer", None),
        ];
        let usual = ["text", "n"];
        let list = "; it has url (string), instruction (string), n (integer), messages[].role \
                    (string), messages[].words (string), meta.n (integer)";
        for (given, what, meant) in [
            ("instructions", "no field instructions", "instruction"),
            (
                "messages.word",
                "no field messages.word",
                "messages[].words",
            ),
            ("message", "no field message", "messages[].words"),
            (
                "messages",
                "messages is of type list of object, not string",
                "messages[].words",
            ),
            ("role", "no field role", "messages[].role"),
            ("meta", "meta is of type object, not string", ""),
            ("n", "n is of type integer, not string", ""),
            ("zzz", "no field zzz", ""),
            (
                "n,url,zzz",
                "n is of type integer, not string, no field zzz",
                "",
            ),
            ("", "n is of type integer, not string", ""),
        ] {
            let given = Some(given).filter(|given| !given.is_empty());
            let detail = no_text(given, &usual, &all);
            let (end, field) = match meant {
                "" => ("; the longest text is in instruction".into(), "instruction"),
                _ => (format!("; did you mean {meant}?"), meant),
            };
            assert_eq!(detail, format!("{what}{list}{end}"));
            assert_eq!(suggested(&detail), Some(field));
        }
        assert_eq!(no_text(None, &["a", "b"], &[]), "none of a, b");
        assert_eq!(
            no_text(Some("t"), &[], &[known("t", "null", None)]),
            "t is null; it has t (null)"
        );
        // The usual name of a text counts more than its length, and an address is not a text.
        let chat = [
            known("url", "string", Some(99)),
            known("messages[].role", "string", Some(9)),
            known("messages[].content", "string", Some(4)),
        ];
        let detail = no_text(None, &["text"], &chat);
        assert_eq!(suggested(&detail), Some("messages[].content"));
        assert_eq!(suggested("no field x; it has y (integer)"), None);
        // The path named a text of the messages, not of the parts of their contents.
        let parts = [
            known("messages[].role", "string", Some(9)),
            known("messages[].content[].type", "string", Some(99)),
            known("messages[].content[].text", "string", Some(4)),
        ];
        for (given, meant) in [
            (
                "messages[role=user].content",
                "messages[role=user].content[].text",
            ),
            ("messages[0].content", "messages[0].content[].text"),
            ("messages[].content", "messages[].content[].text"),
            ("messages.content", "messages[].content[].text"),
            ("messages", "messages[].content[].text"),
        ] {
            let detail = no_text(Some(given), &["text"], &parts);
            let what = format!("{given} is of type list of object, not string; it has ");
            assert!(detail.starts_with(&what), "{detail}");
            assert_eq!(suggested(&detail), Some(meant), "{detail}");
        }
        // Of fields with numbers as names, one alone is called what it is.
        let alone = [known("7", "string", Some(9)), known("k", "string", Some(1))];
        assert_eq!(suggested(&no_text(None, &["text"], &alone)), Some("7"));
        let rows = ["7", "8"].map(|path| known(path, "string", Some(9)));
        assert_eq!(suggested(&no_text(None, &["text"], &rows)), None);
        let numbered = [
            known("text.0", "string", Some(9)),
            known("1.text", "string", Some(9)),
        ];
        assert_eq!(suggested(&no_text(None, &["text"], &numbered)), None);
        // One of these left out the others.
        for paths in [["d1", "d2"], ["a.text", "b.text"]] {
            let alike = paths.map(|path| known(path, "string", Some(9)));
            for given in [None, Some("text")] {
                let detail = no_text(given, &["text"], &alike);
                assert_eq!(suggested(&detail), None, "{detail}");
            }
        }
        let advised = |field: &str, others| advised(&format!("{MEANT}{field}?"), others).unwrap();
        assert_eq!(advised("-x", ""), "--text-field=-x");
        assert!(advised("data[].text", "").ends_with("--records 'data[]' --text-field text"));
        assert_eq!(advised("m[].x", "text"), "--text-field 'text|m[].x'");
        assert_eq!(advised("the column m[].x", ""), "--text-field 'm[].x'");
        let many: Vec<Known> = (0..99)
            .map(|n| known(&"x".repeat(n + 1), "number", None))
            .collect();
        assert!(no_text(None, &usual, &many).len() < 1400);
        for name in ["a", "a.b", "a\"b\\", "", "[]", "a,b=c"] {
            let path = quoted(name);
            assert_eq!(
                FieldPath::all(&path).unwrap()[0][0].steps,
                [Step::Name(name.into())]
            );
        }
    }

    #[test]
    fn names_that_are_left_out_are_said_once_for_a_file() {
        let mut said = SaidOnce::default();
        for (file, names, expected) in [
            (0, "A, B", true),
            (0, "B", false),
            (0, "B, C", true),
            (0, "C, A", false),
            (1, "A", true),
        ] {
            let source = SourceSpan {
                file,
                offset: 0,
                length: 1,
            };
            let reject = Reject {
                source,
                docno: None,
                reason: Reason::ElementsLeft,
                detail: format!("{names}{LEFT_OUT}--record DOC"),
            };
            assert_eq!(said.detail(&reject).is_some(), expected, "{names}");
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
