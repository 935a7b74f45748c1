//! The result of interpreting a record, before it has its place.

use std::borrow::Cow;

use super::config::ReadConfig;
use super::convert::Converter;
use super::fields::{DATE_FIELDS, Known};
use super::record::{ContentKind, RawDocument, Reject};
use lookalike_source::Reason;

/// How many bytes of a record are searched for its names, and the maximum length of a name.
pub(crate) const HEAD: usize = 64 << 10;

/// A rejection without its place; [`crate::read::interpret()`] adds the place.
pub(crate) struct Refusal {
    pub reason: Reason,
    pub detail: String,
}

impl Refusal {
    pub fn new(reason: Reason, detail: impl Into<String>) -> Self {
        Refusal {
            reason,
            detail: detail.into(),
        }
    }
}

/// The result of the interpreter of one format.
pub(crate) enum Outcome<'a> {
    Document(Parts<'a>),
    /// A document of which this program makes a text.
    Foreign(Parts<'a>, Converter),
    Skipped(&'static str),
    Refused {
        docno: Option<Cow<'a, str>>,
        refusal: Refusal,
    },
}

/// How the records of one format are interpreted.
pub(crate) trait Interpreter {
    /// The document in a record.
    fn document<'a>(&self, bytes: &'a [u8], config: &ReadConfig) -> Outcome<'a>;

    /// The docno in the first bytes of a record that is not delivered, at most [`HEAD`].
    fn docno(&self, head: &[u8]) -> Option<String>;

    /// The value of a field.
    fn field(&self, _bytes: &[u8], _name: &str) -> Option<String> {
        None
    }

    /// The fields of the record, for a message.
    fn known(&self, _bytes: &[u8]) -> Vec<Known> {
        Vec::new()
    }

    /// The date that the record states, as it is written there.
    fn date(&self, bytes: &[u8]) -> Option<String> {
        let mut fields = DATE_FIELDS.iter();
        fields.find_map(|name| self.field(bytes, name))
    }
}

/// The first bytes of a record, in which its names are.
pub(crate) fn head_of(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(HEAD)]
}

/// A document whose notices do not have their place yet.
pub(crate) struct Parts<'a> {
    /// Empty if the record has none.
    pub docno: Cow<'a, str>,
    pub url: Option<Cow<'a, str>>,
    pub title: Option<Cow<'a, str>>,
    pub content: ContentKind,
    pub charset: Option<Cow<'a, str>>,
    pub body: Cow<'a, [u8]>,
    /// As in [`RawDocument`].
    pub begins: Vec<usize>,
    pub fields: Vec<Cow<'static, str>>,
    pub notices: Vec<(Reason, String)>,
}

/// A record that is not a document.
pub(crate) fn refused<'a>(
    docno: Option<Cow<'a, str>>,
    reason: Reason,
    detail: impl Into<String>,
) -> Outcome<'a> {
    Outcome::Refused {
        docno,
        refusal: Refusal::new(reason, detail),
    }
}

impl<'a> Parts<'a> {
    /// A document of which nothing else is known.
    pub fn of(docno: Cow<'a, str>, content: ContentKind, body: Cow<'a, [u8]>) -> Parts<'a> {
        Parts {
            docno,
            url: None,
            title: None,
            content,
            charset: None,
            body,
            begins: Vec::new(),
            fields: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// The document with these parts, whose name is known.
    pub fn document(self, unnamed: bool, notices: Vec<Reject>) -> RawDocument<'a> {
        RawDocument {
            docno: self.docno,
            unnamed,
            url: self.url,
            title: self.title,
            content: self.content,
            charset: self.charset,
            body: self.body,
            begins: self.begins,
            fields: self.fields,
            notices,
        }
    }
}
