//! Interprets the pages of TREC web bundles.

use std::borrow::Cow;

use memchr::memmem;

use super::archive::{ArcLine, field_after_line};
use super::http::{self, Head};
use crate::read::ground::bytes::{find_any_case, first_line, text_of};
use crate::read::ground::config::ReadConfig;
use crate::read::ground::outcome::{HEAD, Interpreter, Outcome, head_of, refused};
use crate::read::ground::record::{ContentKind, RawDocument};
use crate::read::look::sniff::{kind_of_markup, looks_like_markup};
use crate::read::markup::sgml::{self, TrecSgml};
use lookalike_source::Reason;

/// TREC web: `<DOCNO>`, a `<DOCHDR>` of URL and HTTP header, the page.
///
/// A page of the collection is a document whatever its HTTP status.
pub(crate) struct TrecWeb;

impl Interpreter for TrecWeb {
    fn document<'a>(&self, bytes: &'a [u8], _: &ReadConfig) -> Outcome<'a> {
        let header_start = memmem::find(bytes, b"<DOCHDR>").or_else(|| {
            let head = &bytes[..bytes.len().min(HEAD)];
            find_any_case(head, b"<DOCHDR>")
        });
        let front = &bytes[..header_start.unwrap_or(bytes.len().min(HEAD))];
        let docno = sgml::trec_docno(front).unwrap_or_default();
        let Some(start) = header_start.map(|at| at + b"<DOCHDR>".len()) else {
            return refused(Some(docno), Reason::BadHeader, "no <DOCHDR>");
        };
        let rest = &bytes[start..];
        let length = memmem::find(rest, b"</DOCHDR>");
        let Some(length) = length.or_else(|| find_any_case(rest, b"</DOCHDR>")) else {
            return refused(Some(docno), Reason::BadHeader, "<DOCHDR> not closed");
        };
        let header = bytes[start..start + length].trim_ascii_start();
        let line = first_line(header);
        let url = trec_url(line);
        let rest = &header[memchr::memchr(b'\n', header).map_or(header.len(), |end| end + 1)..];
        let head = Head::of_fields(rest);
        let mut body = &bytes[start + length + b"</DOCHDR>".len()..];
        body = body.strip_prefix(b"\r").unwrap_or(body);
        body = body.strip_prefix(b"\n").unwrap_or(body);
        body = &body[..sgml::end_of(body)];
        if let Some(kind) = http::not_text(body, &head) {
            return refused(Some(docno), Reason::NotText, kind);
        }
        let content = match head.mime.as_deref() {
            // Text extracted from PDF and office files still has their content type.
            Some(mime) if mime.starts_with("application/") && !looks_like_markup(body) => {
                ContentKind::of(mime.contains("html") || mime.contains("xml"))
            }
            Some("text/plain") => ContentKind::Text,
            Some("text/html") => ContentKind::Markup,
            _ => kind_of_markup(body),
        };
        Outcome::Document(RawDocument {
            url,
            charset: head.charset,
            notices: head.notices,
            ..RawDocument::of(docno, content, body.into())
        })
    }

    fn docno(&self, head: &[u8]) -> Option<String> {
        TrecSgml.docno(head)
    }

    fn field(&self, bytes: &[u8], name: &str) -> Option<String> {
        let header = sgml::element(head_of(bytes), b"<DOCHDR>", b"</DOCHDR>")?;
        field_after_line(header.trim_ascii_start(), name)
    }

    fn date(&self, bytes: &[u8]) -> Option<String> {
        let header = sgml::element(head_of(bytes), b"<DOCHDR>", b"</DOCHDR>")?;
        let header = header.trim_ascii_start();
        match ArcLine::parse(first_line(header)) {
            Some(line) => Some(text_of(line.date).into_owned()),
            None => field_after_line(header, "date"),
        }
    }
}

/// The URL on the first line of a DOCHDR: by itself (GOV), or as in an ARC file (WT10G).
fn trec_url(line: &[u8]) -> Option<Cow<'_, str>> {
    if let Some(line) = ArcLine::parse(line) {
        return Some(text_of(line.url));
    }
    let line = line.trim_ascii();
    let spaces = line.iter().any(u8::is_ascii_whitespace);
    (!line.is_empty() && (memmem::find(line, b"://").is_some() || !spaces)).then(|| text_of(line))
}
