//! The result of interpreting a record, before it has its place.

use std::borrow::Cow;

use super::record::{ContentKind, RawDocument, Reason, Reject};

/// How many bytes of a record are searched for its names, and the maximum length of a name.
pub(super) const HEAD: usize = 64 << 10;

/// A rejection without its place; [`super::interpret()`] adds the place.
pub(super) struct Refusal {
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
pub(super) enum Outcome<'a> {
    Document(Parts<'a>),
    Skipped(&'static str),
    Refused {
        docno: Option<Cow<'a, str>>,
        refusal: Refusal,
    },
}

/// A document whose notices do not have their place yet.
pub(super) struct Parts<'a> {
    /// Empty if the record has none.
    pub docno: Cow<'a, str>,
    pub url: Option<Cow<'a, str>>,
    pub title: Option<Cow<'a, str>>,
    pub content: ContentKind,
    pub charset: Option<Cow<'a, str>>,
    pub body: Cow<'a, [u8]>,
    pub notices: Vec<(Reason, String)>,
}

/// A record that is not a document.
pub(super) fn refused<'a>(
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
            notices,
        }
    }
}
