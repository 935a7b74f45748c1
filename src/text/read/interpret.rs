//! Turns a framed record into a raw document, or into the reason why it is not one.

use std::borrow::Cow;

use super::archive::field_after_line;
use super::config::{Format, ReadConfig, extension_of, format_of_extension};
use super::elements;
use super::fields::content_of;
use super::json;
use super::like_records;
use super::mail;
use super::outcome::{HEAD, Outcome, Parts, refused};
use super::record::{ContentKind, RawDocument, Reason, Record, RecordKind, Reject, RowFields};
use super::several;
use super::sgml;
use super::sniff::{binary_file_kind, looks_like_markup};
use super::table;
use super::trec_web;
use super::warc;

/// The result of interpreting a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interpreted<'a> {
    /// A document.
    Document(RawDocument<'a>),
    /// Not a document, as expected: `warcinfo`, `request`. Counted by kind.
    Skipped(&'static str),
    /// The record should be a document but is not one.
    Rejected(Reject),
}

/// Interprets a record. A pure function of its arguments: it may run on any thread.
///
/// `bytes` are the record's own, [`Record::bytes`] of the batch's buffer.
#[must_use]
pub fn interpret<'a>(record: &Record, bytes: &'a [u8], config: &ReadConfig) -> Interpreted<'a> {
    let outcome = match &record.kind {
        RecordKind::Rejected(reject) => return Interpreted::Rejected(reject.clone()),
        RecordKind::TrecWeb => trec_web::document(bytes),
        RecordKind::TrecSgml => sgml::trec(bytes),
        RecordKind::Reuters => sgml::reuters(bytes),
        RecordKind::Warc => warc::document(bytes, config),
        RecordKind::Arc => warc::arc(bytes, config),
        RecordKind::Json => json::document(bytes, config),
        RecordKind::Mail { docno, mbox } => mail::document(bytes, docno, *mbox, config),
        RecordKind::Cells(table) => table::document(table, bytes, config),
        RecordKind::Row(fields) => row(fields, bytes),
        RecordKind::Element(prolog) => elements::document(prolog, bytes, config),
        RecordKind::Plain { docno } => plain(docno, bytes, config),
    };
    let source = record.source;
    match outcome {
        Outcome::Skipped(kind) => Interpreted::Skipped(kind),
        Outcome::Refused { docno, refusal } => Interpreted::Rejected(Reject {
            source,
            docno: docno
                .filter(|docno| !docno.is_empty() && docno.len() <= HEAD)
                .map(Cow::into_owned),
            reason: refusal.reason,
            detail: refusal.detail,
        }),
        // In a web archive, the record's number counts records that are not documents, so it would
        // not be the number that the results state.
        Outcome::Document(parts)
            if parts.docno.len() > HEAD
                && matches!(record.kind, RecordKind::Warc | RecordKind::Arc) =>
        {
            Interpreted::Rejected(Reject {
                source,
                docno: None,
                reason: Reason::MissingDocno,
                detail: too_long(&parts.docno),
            })
        }
        Outcome::Document(mut parts) => {
            // Many names are in memory at a time, and real ones are far shorter.
            if parts.docno.len() > HEAD {
                let detail = too_long(&parts.docno);
                parts.docno = Cow::default();
                parts.notices.push((Reason::MissingDocno, detail));
            }
            // The parts of a mail may be encoded once more.
            if record.origin.is_decoded() && !matches!(record.kind, RecordKind::Mail { .. }) {
                parts.charset = Some("utf-8".into());
            }
            let unnamed = parts.docno.is_empty();
            if unnamed {
                parts.docno = record.origin.name_of(record.number).into();
            }
            if let Some(url) = parts.url.take_if(|url| url.len() > HEAD) {
                let detail = format!("a URL of {} bytes is left out", url.len());
                parts.notices.push((Reason::OddHeader, detail));
            }
            let docno = Some(parts.docno.to_string());
            let of_record = record.notice.clone().into_iter();
            let own = parts.notices.drain(..).map(|(reason, detail)| Reject {
                source,
                docno: None,
                reason,
                detail,
            });
            let named = |notice| Reject {
                docno: docno.clone(),
                ..notice
            };
            let notices = of_record.chain(own).map(named).collect();
            Interpreted::Document(parts.document(unnamed, notices))
        }
    }
}

fn too_long(docno: &str) -> String {
    format!(
        "a docno of {} bytes; at most {HEAD} are possible",
        docno.len()
    )
}

/// The docno in the first bytes of a record that is not delivered.
pub(crate) fn docno_of(kind: &RecordKind, held: &[u8]) -> Option<String> {
    let head = &held[..held.len().min(HEAD)];
    match kind {
        RecordKind::TrecWeb | RecordKind::TrecSgml => sgml::trec_docno(head).map(Cow::into_owned),
        RecordKind::Reuters => {
            sgml::attribute(sgml::open_tag(head)?, b"NEWID").map(Cow::into_owned)
        }
        RecordKind::Warc => warc::docno_in_head(head),
        RecordKind::Arc => warc::arc_docno_in_head(head),
        RecordKind::Json => json::docno_in_head(head),
        RecordKind::Mail { docno, .. } => Some(mail::docno_of(head, docno)),
        RecordKind::Plain { docno } => Some(docno.clone()),
        RecordKind::Cells(table) => table::docno_in_head(table, head),
        RecordKind::Row(fields) => Some(fields.docno.clone()),
        RecordKind::Element(prolog) => elements::docno_in_head(prolog, head),
        RecordKind::Rejected(_) => None,
    }
}

/// The value of a field of a record: of a JSON object or an element by its path, of a row of a
/// table by the name or number of its column, of a WARC header by its name.
pub(crate) fn field_of(kind: &RecordKind, bytes: &[u8], name: &str) -> Option<String> {
    match kind {
        RecordKind::Json => json::field(bytes, name),
        RecordKind::Element(prolog) => elements::field(prolog, bytes, name),
        RecordKind::Cells(table) => table::field(table, bytes, name),
        RecordKind::Warc => field_after_line(&bytes[..bytes.len().min(HEAD)], name),
        _ => None,
    }
}

/// The document in a JSON object or in a file that is one document, without its docno.
pub(crate) fn document_of<'a>(
    is_json: bool,
    name: &str,
    bytes: &'a [u8],
    config: &ReadConfig,
) -> Option<RawDocument<'a>> {
    let outcome = match is_json {
        true => json::document(bytes, config),
        false => plain(name, bytes, config),
    };
    let Outcome::Document(mut parts) = outcome else {
        return None;
    };
    parts.docno = Cow::default();
    Some(parts.document(false, Vec::new()))
}

/// Whether a file that is one document is markup by its name, or by the format that all have.
pub(crate) fn is_markup_by_name(name: &str, config: &ReadConfig) -> bool {
    match config.format {
        Some(format) => format == Format::Html,
        None => format_of_extension(&extension_of(name)) == Some(Format::Html),
    }
}

/// Interprets a row of a Parquet file.
fn row<'a>(fields: &RowFields, bytes: &'a [u8]) -> Outcome<'a> {
    let declared = fields.content_type.as_ref();
    let declared = declared.map(|kind| kind.to_ascii_lowercase());
    Outcome::Document(Parts {
        docno: fields.docno.clone().into(),
        url: fields.url.clone().map(Cow::Owned),
        title: fields.title.clone().map(Cow::Owned),
        content: content_of(fields.html, declared.as_deref(), bytes),
        charset: fields.utf8.then(|| "utf-8".into()),
        body: bytes.into(),
        notices: Vec::new(),
    })
}

/// Interprets a file that is one document.
fn plain<'a>(docno: &str, bytes: &'a [u8], config: &ReadConfig) -> Outcome<'a> {
    let markup = match config.format {
        Some(format @ (Format::Html | Format::Text)) => format == Format::Html,
        _ => match format_of_extension(&extension_of(docno)) {
            Some(format @ (Format::Html | Format::Text)) => format == Format::Html,
            _ => looks_like_markup(bytes),
        },
    };
    let content = ContentKind::of(markup);
    if let Some(kind) = binary_file_kind(bytes) {
        return refused(Some(docno.to_string().into()), Reason::BinaryFile, kind);
    }
    let nitf = markup.then(|| sgml::nitf_docno(bytes)).flatten();
    Outcome::Document(Parts {
        docno: nitf.unwrap_or_else(|| docno.to_string().into()),
        url: None,
        title: None,
        content,
        charset: None,
        body: bytes.into(),
        notices: like_several(bytes, content, config).into_iter().collect(),
    })
}

/// A warning about a file that is one document and looks like several, unless `--format` says what
/// it is.
fn like_several(
    bytes: &[u8],
    content: ContentKind,
    config: &ReadConfig,
) -> Option<(Reason, String)> {
    if config.format.is_some() {
        return None;
    }
    let like = many_records(bytes).or_else(|| several::looks_like(bytes, content));
    like.map(|detail| (Reason::PerhapsSeveral, detail))
}

/// What the records are that a file seems to have, and how to read them.
pub(super) fn many_records(bytes: &[u8]) -> Option<String> {
    let (name, count) = like_records::like_records(bytes)?;
    let name = name.escape_debug();
    Some(format!(
        "looks like {count} records <{name}>: use --record {name}"
    ))
}
