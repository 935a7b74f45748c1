//! Which fields of a record are its text, its docno, its URL and its type: the rules of all formats.
//!
//! A format says what a name and a path lead to ([`Level`]): a member of an object, a column, an
//! element. The rest is here: the usual names, a name that is a whole flag, bars, commas, values
//! that stand for nothing, and the lines about fields that a record lacks.

use std::borrow::Cow;

use encoding_rs::WINDOWS_1252;

use super::bytes::escape;
use super::config::ReadConfig;
use super::fields::{FieldPath, Step, TEXT_FIELDS};
use super::record::{ContentKind, Field, Marks, Notice};
use lookalike_base::flag_word;
use lookalike_source::Reason;

/// The fields of a record, or of all records of a file.
pub(crate) trait Level<'p> {
    /// The field or value that a name or a path leads to.
    type Found;

    /// The field that has a whole flag as its name.
    fn whole(&self, name: &'p str) -> Option<Self::Found>;

    /// The field that has one of the usual names.
    fn usual(&self, name: &'p str) -> Option<Self::Found> {
        self.whole(name)
    }

    /// Finds the field or value that a path of the user leads to.
    fn find(&self, path: &'p FieldPath<'p>) -> Option<Self::Found>;
}

/// Whether a field of this name can be what a path leads to.
pub(crate) fn may_begin(path: &FieldPath<'_>, name: &str) -> bool {
    path.literal == name || matches!(path.steps.first(), Some(Step::Name(first)) if *first == name)
}

/// Where a docno, a URL or the like is: in the first field of these that has one.
pub(crate) enum Names<'c> {
    Given(&'c str, Vec<FieldPath<'c>>),
    Usual(&'static [&'static str]),
}

impl<'c> Names<'c> {
    /// The field that the user names, or the usual ones. The configuration has been checked, so it
    /// has no path with a mistake.
    pub fn of(given: Option<&'c str>, usual: &'static [&'static str]) -> Names<'c> {
        given.map_or(Names::Usual(usual), |given| {
            Names::Given(given, FieldPath::ways(given).unwrap_or_default())
        })
    }

    /// Whether a field of this name can be one of these.
    pub fn want(&self, name: &str) -> bool {
        match self {
            Names::Given(given, ways) => {
                *given == name || ways.iter().any(|way| may_begin(way, name))
            }
            Names::Usual(names) => names.contains(&name),
        }
    }

    /// Those that are there.
    pub fn all<'p, L: Level<'p>>(&'p self, level: &L) -> impl Iterator<Item = L::Found> {
        let (whole, ways, names) = match self {
            Names::Given(given, ways) => (level.whole(given), &ways[..], &[][..]),
            Names::Usual(names) => (None, &[][..], *names),
        };
        // A field that has the whole flag as its name is the only one.
        let has_others = whole.is_none();
        let ways = ways.iter().filter(move |_| has_others);
        (whole.into_iter())
            .chain(ways.filter_map(|path| level.find(path)))
            .chain(names.iter().filter_map(|name| level.usual(name)))
    }
}

/// The fields of the text that the user names.
pub(crate) struct Texts<'c> {
    given: Option<&'c str>,
    fields: Vec<Vec<FieldPath<'c>>>,
}

impl<'c> Texts<'c> {
    pub fn of(config: &'c ReadConfig) -> Texts<'c> {
        let given = config.text_field.as_deref();
        let fields = given.and_then(|given| FieldPath::all(given).ok());
        Texts {
            given,
            fields: fields.unwrap_or_default(),
        }
    }

    /// Whether a field of this name can have a part of the text.
    pub fn want(&self, name: &str) -> bool {
        match self.given {
            Some(given) => given == name || self.paths().any(|path| may_begin(path, name)),
            None => TEXT_FIELDS.contains(&name),
        }
    }

    /// All ways to all fields.
    pub fn paths(&self) -> impl Iterator<Item = &FieldPath<'c>> {
        self.fields.iter().flatten()
    }

    /// The fields, with all ways to each.
    pub fn given(&self) -> Vec<Field<'_, &FieldPath<'c>>> {
        let fields = self.fields.iter().map(|ways| Field {
            name: ways.first().map_or("", |path| path.literal.trim()).into(),
            ways: ways.iter().collect(),
        });
        fields.collect()
    }

    /// The fields, in their order; without `--text-field`, the first of the usual ones that is there.
    pub fn fields<'p, L: Level<'p>>(&'p self, level: &L) -> Vec<Field<'p, L::Found>> {
        let one = |name: &'p str, found| {
            vec![Field {
                name: name.into(),
                ways: vec![found],
            }]
        };
        let Some(given) = self.given else {
            let mut usual = TEXT_FIELDS.iter();
            let found = usual.find_map(|&name| Some(one(name, level.usual(name)?)));
            return found.unwrap_or_default();
        };
        // All together may be the name of one field.
        let several = self.paths().nth(1).is_some();
        if let Some(found) = several.then(|| level.whole(given)).flatten() {
            return one(given, found);
        }
        let fields = self.given().into_iter().map(|Field { name, ways }| Field {
            name,
            ways: ways
                .into_iter()
                .filter_map(|path| level.find(path))
                .collect(),
        });
        fields.collect()
    }
}

/// The usual name of the field of the text, if no flag names it.
pub(crate) fn usual_of<F>(config: &ReadConfig, fields: &[Field<'_, F>]) -> Option<&'static str> {
    let field = fields.first().filter(|_| config.text_field.is_none())?;
    TEXT_FIELDS.into_iter().find(|name| *name == field.name)
}

/// Takes the value of each field: `take` says whether a way leads to one, `is_blank` whether it leads
/// only to blank ones, which count if no other way leads to a value. The result is the line of a
/// record that lacks some of the fields.
pub(crate) fn take_each<F, E>(
    fields: &[Field<'_, F>],
    is_blank: impl Fn(&F) -> bool,
    mut take: impl FnMut(&F) -> Result<bool, E>,
) -> Result<Option<(Reason, String)>, E> {
    let mut missing = Vec::new();
    'fields: for Field { name, ways } in fields {
        let mut blank = None;
        for way in ways {
            if ways.len() > 1 && is_blank(way) {
                blank = blank.or(Some(way));
            } else if take(way)? {
                continue 'fields;
            }
        }
        match blank {
            Some(way) if take(way)? => {}
            _ => missing.push(&**name),
        }
    }
    let line = |names: String| (Reason::MissingField, format!("no field {names}"));
    Ok((!missing.is_empty()).then(|| line(missing.join(", "))))
}

impl Marks {
    /// Determines the content type of a text, from the fields whose values it has and from the
    /// content type in lower case that the record declares, and returns where its values begin. If
    /// only a part of it is markup, the other parts are escaped: so each field is read as if it
    /// were the only one.
    pub fn content(
        &self,
        declared: Option<&str>,
        body: &mut Cow<'_, [u8]>,
        config: &ReadConfig,
    ) -> Result<(ContentKind, Vec<usize>), Notice> {
        let html = self.values.iter().any(|(_, html)| *html);
        let content = config.content(html, declared, body);
        if !content.is_markup() {
            return Ok((content, Vec::new()));
        }
        let fields = || self.values.chunk_by(|(_, one), (_, other)| one == other);
        if fields().nth(1).is_none() {
            return Ok((content, self.begins()));
        }
        let ends = fields().skip(1).map(|values| values[0].0);
        let mut out = Vec::with_capacity(body.len());
        let mut begins = Vec::new();
        for (values, end) in fields().zip(ends.chain([body.len()])) {
            let (begin, html) = values[0];
            let part = body.get(begin..end).unwrap_or_default();
            begins.extend(values.iter().map(|(at, _)| out.len() + at - begin));
            if html || config.content(false, declared, part).is_markup() {
                out.extend_from_slice(part);
                continue;
            }
            escape(part, &mut out);
            if out.len() as u64 > config.max_document.0 {
                let detail = format!("more than {} bytes as markup", config.max_document.0);
                return Err((Reason::TooLarge, detail));
            }
        }
        *body = out.into();
        begins.remove(0);
        Ok((content, begins))
    }
}

/// A warning about a usual field whose text goes on in another field, or is there alone: the text
/// ends with an ellipsis, or is empty. `others` are the texts of the record with their paths.
pub(crate) fn beside(
    name: &str,
    body: &[u8],
    others: impl FnOnce() -> Vec<(String, String)>,
) -> Option<(Reason, String)> {
    /// Bytes at the end among which the ellipsis is, before an address.
    const END: usize = 100;
    /// The fewest words in front of it.
    const WORDS: usize = 4;
    let end = body.get(body.len().saturating_sub(END)..).unwrap_or(body);
    let blank = end.len() == body.len() && body.trim_ascii().is_empty();
    let has = |mark| memchr::memmem::find(end, mark).is_some();
    let marks = ["…", "...", "[+"];
    if !blank && !marks.iter().any(|mark| has(mark.as_bytes())) {
        return None;
    }
    let flag = |first: &str, then: &str| flag_word("--text-field", &format!("{first}|{then}"));
    let mut others = others().into_iter().filter(|(path, _)| path != name);
    if blank {
        let (path, _) = others
            .find(|(path, text)| TEXT_FIELDS.contains(&&**path) && !text.trim().is_empty())?;
        let detail = format!("{name} is empty, and {path} is not: {}", flag(name, &path));
        return Some((Reason::NotComparable, detail));
    }
    let body = std::str::from_utf8(body).ok()?;
    let head = marks
        .iter()
        .filter_map(|mark| body.get(..body.rfind(mark)?));
    let head = head
        .max_by_key(|head| head.len())?
        .trim_end_matches(['.', '…', '[', ' ']);
    // A character of a script without spaces is a word or more than half of one.
    let words = head
        .split_whitespace()
        .map(|word| word.chars().filter(|c| *c >= '\u{e00}').count().max(1));
    if words.sum::<usize>() < WORDS {
        return None;
    }
    let goes_on = |text: &str| {
        let mut text = text.chars().filter(|c| !c.is_whitespace());
        let mut head = head.chars().filter(|c| !c.is_whitespace());
        head.all(|c| text.next() == Some(c)) && text.any(char::is_alphanumeric)
    };
    let (path, _) = others.find(|(_, text)| goes_on(text))?;
    let detail = format!("the text is cut, and {path} goes on: {}", flag(&path, name));
    Some((Reason::PartsLeft, detail))
}

/// The line of a record without the docno that the user names.
pub(crate) fn no_docno(config: &ReadConfig) -> Option<(Reason, String)> {
    let field = config.id_field.as_ref()?;
    Some((Reason::MissingDocno, format!("no {field}")))
}

/// Whether the bytes of a value are one of these nulls. Bytes that are not UTF-8 are compared in
/// the charset of texts that declare none.
pub(crate) fn is_null(nulls: &[String], value: &[u8]) -> bool {
    let decoded = |null: &String| {
        value.len() <= null.len()
            && std::str::from_utf8(value).is_err()
            && WINDOWS_1252.decode_without_bom_handling(value).0 == *null
    };
    (nulls.iter()).any(|null| null.as_bytes() == value || !null.is_ascii() && decoded(null))
}
