//! The result of interpreting a record, before it has its place.

use std::borrow::Cow;

use super::config::ReadConfig;
use super::convert::Converter;
use super::fields::{DATE_FIELDS, Known};
use super::record::{Notice, RawDocument};
use lookalike_source::Reason;

/// How many bytes of a record are searched for its names, and the maximum length of a name.
pub(crate) const HEAD: usize = 64 << 10;

/// The result of the interpreter of one format.
pub(crate) enum Outcome<'a> {
    Document(RawDocument<'a>),
    /// A document of which this program makes a text.
    Foreign(RawDocument<'a>, Converter),
    Skipped(&'static str),
    /// With the docno, if it is known.
    Refused(Option<Cow<'a, str>>, Notice),
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

/// A record that is not a document.
pub(crate) fn refused<'a>(
    docno: Option<Cow<'a, str>>,
    reason: Reason,
    detail: impl Into<String>,
) -> Outcome<'a> {
    Outcome::Refused(docno, (reason, detail.into()))
}
