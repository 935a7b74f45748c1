//! Turns a framed record into a raw document, or into the reason why it is not one.

use std::borrow::Cow;

use memchr::memmem;
use xxhash_rust::xxh3::xxh3_64;

use super::archive::{ArcLine, Fields, first_line, text_of};
use super::config::{Format, ReadConfig};
use super::elements;
use super::http::{self, Body, Head};
use super::json;
use super::like_records;
use super::mail;
use super::record::{ContentKind, RawDocument, Reason, Record, RecordKind, Reject, RowFields};
use super::several;
use super::sgml;
use super::sniff::{binary_file_kind, extension_of, format_of_extension, looks_like_markup};
use super::table;

/// How many bytes of a record are searched for its names, and the maximum length of a name.
pub(super) const HEAD: usize = 64 << 10;

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

/// A rejection without its place; [`interpret`] adds the place.
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

/// Interprets a record. A pure function of its arguments: it may run on any thread.
///
/// `bytes` are the record's own, [`Record::bytes`] of the batch's buffer.
#[must_use]
pub fn interpret<'a>(record: &Record, bytes: &'a [u8], config: &ReadConfig) -> Interpreted<'a> {
    let outcome = match &record.kind {
        RecordKind::Rejected(reject) => return Interpreted::Rejected(reject.clone()),
        RecordKind::TrecWeb => trec_web(bytes),
        RecordKind::TrecSgml => sgml::trec(bytes),
        RecordKind::Reuters => sgml::reuters(bytes),
        RecordKind::Warc => warc(bytes, config),
        RecordKind::Arc => arc(bytes, config),
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
        // In a web archive, the record's number counts records that are no documents, so it would
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
            let notices = record
                .notice
                .iter()
                .map(|notice| Reject {
                    docno: docno.clone(),
                    ..notice.clone()
                })
                .chain(parts.notices.into_iter().map(|(reason, detail)| Reject {
                    source,
                    docno: docno.clone(),
                    reason,
                    detail,
                }))
                .collect();
            Interpreted::Document(RawDocument {
                docno: parts.docno,
                unnamed,
                url: parts.url,
                title: parts.title,
                content: parts.content,
                charset: parts.charset,
                body: parts.body,
                notices,
            })
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
        RecordKind::Warc => WarcHead::parse(head).docno().map(Cow::into_owned),
        RecordKind::Arc => ArcLine::parse(first_line(head)).map(|line| arc_docno(&line)),
        RecordKind::Json => json::docno_in_head(head),
        RecordKind::Mail { docno, .. } => Some(mail::docno_of(head, docno)),
        RecordKind::Plain { docno } => Some(docno.clone()),
        RecordKind::Cells(table) => table::docno_in_head(table, head),
        RecordKind::Row(fields) => Some(fields.docno.clone()),
        RecordKind::Element(prolog) => elements::docno_in_head(prolog, head),
        RecordKind::Rejected(_) => None,
    }
}

fn refused<'a>(
    docno: Option<Cow<'a, str>>,
    reason: Reason,
    detail: impl Into<String>,
) -> Outcome<'a> {
    Outcome::Refused {
        docno,
        refusal: Refusal::new(reason, detail),
    }
}

/// TREC web: `<DOCNO>`, a `<DOCHDR>` of URL and HTTP header, the page.
///
/// A page of the collection is a document whatever its HTTP status.
fn trec_web(bytes: &[u8]) -> Outcome<'_> {
    let header_start = memmem::find(bytes, b"<DOCHDR>").or_else(|| {
        let head = &bytes[..bytes.len().min(HEAD)];
        sgml::find_any_case(head, b"<DOCHDR>")
    });
    let front = &bytes[..header_start.unwrap_or(bytes.len().min(HEAD))];
    let docno = sgml::trec_docno(front).unwrap_or_default();
    let Some(start) = header_start.map(|at| at + b"<DOCHDR>".len()) else {
        return refused(Some(docno), Reason::BadHeader, "no <DOCHDR>");
    };
    let rest = &bytes[start..];
    let length = memmem::find(rest, b"</DOCHDR>");
    let Some(length) = length.or_else(|| sgml::find_any_case(rest, b"</DOCHDR>")) else {
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
    let content = match head.mime() {
        // Text extracted from PDF and office files still has their content type.
        Some(mime) if mime.starts_with("application/") && !looks_like_markup(body) => {
            if mime.contains("html") || mime.contains("xml") {
                ContentKind::Markup
            } else {
                ContentKind::Text
            }
        }
        Some("text/plain") => ContentKind::Text,
        _ => ContentKind::Markup,
    };
    Outcome::Document(Parts {
        docno,
        url,
        title: None,
        content,
        charset: head.charset,
        body: body.into(),
        notices: head.notices,
    })
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

/// The relevant fields of a WARC header.
#[derive(Default)]
struct WarcHead<'a> {
    kind: Option<&'a [u8]>,
    trec_id: Option<&'a [u8]>,
    record_id: Option<&'a [u8]>,
    target: Option<&'a [u8]>,
    content_type: Option<&'a [u8]>,
    odd: Option<&'a [u8]>,
    block: usize,
}

impl<'a> WarcHead<'a> {
    fn parse(bytes: &'a [u8]) -> Self {
        let mut head = WarcHead::default();
        let mut fields = Fields::after_line(bytes);
        for (name, value) in &mut fields {
            // Of a repeated field, the first value that is not empty counts.
            let field = match name.to_ascii_lowercase().as_slice() {
                b"warc-type" => &mut head.kind,
                b"warc-trec-id" => &mut head.trec_id,
                b"warc-record-id" => &mut head.record_id,
                b"warc-target-uri" => &mut head.target,
                b"content-type" => &mut head.content_type,
                _ => continue,
            };
            if field.is_none() && !value.is_empty() {
                *field = Some(value);
            }
        }
        head.odd = fields.odd;
        head.block = fields.body();
        head
    }

    /// Old versions of wget put the URL in angle brackets.
    fn url(&self) -> Option<Cow<'a, str>> {
        self.target
            .map(unbracket)
            .filter(|url| !url.is_empty())
            .map(text_of)
    }

    fn docno(&self) -> Option<Cow<'a, str>> {
        if let Some(id) = self.trec_id {
            return Some(text_of(id));
        }
        let id = self.record_id.map(|id| {
            let id = unbracket(id);
            id.strip_prefix(b"urn:uuid:").unwrap_or(id)
        });
        id.filter(|id| !id.is_empty())
            .map(text_of)
            .or_else(|| self.url())
    }
}

/// The value of a field of a record: of a JSON object or an element by its path, of a row of a table
/// by the name or number of its column, of a WARC header by its name.
pub(crate) fn field_of(kind: &RecordKind, bytes: &[u8], name: &str) -> Option<String> {
    match kind {
        RecordKind::Json => json::field(bytes, name),
        RecordKind::Element(prolog) => elements::field(prolog, bytes, name),
        RecordKind::Cells(table) => table::field(table, bytes, name),
        RecordKind::Warc => {
            let mut fields = Fields::after_line(&bytes[..bytes.len().min(HEAD)]);
            let found = fields.find(|(field, _)| field.eq_ignore_ascii_case(name.as_bytes()));
            found.map(|(_, value)| text_of(value).into_owned())
        }
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
    let Outcome::Document(parts) = outcome else {
        return None;
    };
    Some(RawDocument {
        docno: Cow::default(),
        unnamed: false,
        url: parts.url,
        title: parts.title,
        content: parts.content,
        charset: parts.charset,
        body: parts.body,
        notices: Vec::new(),
    })
}

/// Whether a file that is one document is markup by its name, or by the format that all have.
pub(crate) fn is_markup_by_name(name: &str, config: &ReadConfig) -> bool {
    match config.format {
        Some(format) => format == Format::Html,
        None => format_of_extension(&extension_of(name)) == Some(Format::Html),
    }
}

/// The type of a WARC record, and hashes of what links it to the other records of its capture: the
/// values of `WARC-Record-ID`, `WARC-Concurrent-To` and `WARC-Refers-To` (ISO 28500, section 5),
/// and its URL with its date, because some crawlers write no links.
pub(crate) fn warc_links(bytes: &[u8]) -> (&[u8], Vec<u64>) {
    const LINKS: [&str; 3] = ["warc-record-id", "warc-concurrent-to", "warc-refers-to"];
    let head = WarcHead::parse(bytes);
    let mut links = Vec::new();
    let mut date = None;
    for (name, value) in Fields::after_line(bytes) {
        let value = unbracket(value);
        if value.is_empty() {
            continue;
        }
        if LINKS
            .iter()
            .any(|link| name.eq_ignore_ascii_case(link.as_bytes()))
        {
            links.push(xxh3_64(value));
        } else if name.eq_ignore_ascii_case(b"warc-date") {
            date = Some(value);
        }
    }
    if let (Some(url), Some(date)) = (head.target.map(unbracket), date) {
        links.push(xxh3_64(&[url, b" ", date].concat()));
    }
    (head.kind.unwrap_or_default(), links)
}

pub(super) fn unbracket(value: &[u8]) -> &[u8] {
    let value = value.strip_prefix(b"<").unwrap_or(value);
    value.strip_suffix(b">").unwrap_or(value).trim_ascii()
}

fn warc<'a>(bytes: &'a [u8], config: &ReadConfig) -> Outcome<'a> {
    let head = WarcHead::parse(bytes);
    let docno = head.docno();
    let Some(kind) = head.kind else {
        return refused(docno, Reason::BadHeader, "no WARC-Type");
    };
    let kind = kind.to_ascii_lowercase();
    if kind == b"continuation" {
        // Those that follow their first segment were joined with it.
        let detail = "a segment of a record whose first segment is not before it";
        return refused(docno, Reason::Truncated, detail);
    }
    if !config.reads_warc_type(&kind) {
        return Outcome::Skipped(match kind.as_slice() {
            b"response" => "response",
            b"resource" => "resource",
            b"conversion" => "conversion",
            b"warcinfo" => "warcinfo",
            b"request" => "request",
            b"metadata" => "metadata",
            b"revisit" => "revisit",
            // The standard requires that readers ignore types of later versions.
            _ => "unknown WARC-Type",
        });
    }
    let url = head.url();
    if let Some(kind) = left_out(url.as_deref(), config) {
        return Outcome::Skipped(kind);
    }
    let Some(docno) = docno else {
        return refused(
            None,
            Reason::MissingDocno,
            "no WARC-TREC-ID, record id or target URI",
        );
    };
    let block = &bytes[head.block..];
    let content_type = head.content_type.map(text_of);
    // Some writers omit the HTTP header.
    let is_http = kind == b"response" && (http::begins(block) || block.trim_ascii().is_empty());
    let body = if is_http {
        http::response(block, config)
    } else {
        let mut head = Head::default();
        if let Some(kind) = content_type.filter(|kind| !kind.starts_with("application/http")) {
            head.set_content_type(kind);
        }
        http::bare(block, head)
    };
    let mut notices = Vec::new();
    if let Some(odd) = head.odd {
        let odd = &odd[..odd.len().min(200)];
        notices.push((Reason::OddHeader, String::from_utf8_lossy(odd).into_owned()));
    }
    finish(docno, url, body, notices)
}

/// Why the URL of a record of an archive excludes it, if it does: the kind under which the
/// ledger counts it.
fn left_out(url: Option<&str>, config: &ReadConfig) -> Option<&'static str> {
    let url = url.unwrap_or_default();
    if config.exclude_url.matches(url) {
        return Some("URL excluded by --exclude-url");
    }
    if config.include_url.matches(url) {
        return None;
    }
    let by_crawler = written_by_crawler(url);
    if by_crawler.is_none() && !config.include_url.is_empty() {
        return Some("URL not in --include-url");
    }
    by_crawler
}

/// What a crawler stores beside the pages: its log and its settings, and what it made of a page,
/// whose URL then contains the page's: `urn:text:https://e.org/`.
fn written_by_crawler(url: &str) -> Option<&'static str> {
    if url.starts_with("http") {
        return None;
    }
    let (scheme, rest) = url.split_once(':')?;
    Some(match scheme.to_ascii_lowercase().as_str() {
        "filedesc" => "filedesc",
        "dns" => "dns",
        "whois" => "whois",
        // wget and Heritrix.
        "metadata" => "metadata:",
        // brozzler.
        "screenshot" | "thumbnail" => "screenshot",
        "youtube-dl" => "youtube-dl:",
        "urn" => {
            let (name, of) = rest.split_once(':').unwrap_or((rest, ""));
            match name.to_ascii_lowercase().as_str() {
                "pageinfo" => "urn:pageinfo",
                "text" | "textfinal" => "urn:text",
                "view" | "fullpage" | "fullpagefinal" | "thumbnail" | "screenshot" => "screenshot",
                "log" | "logs" | "crawl-log" | "crawl-logs" => "crawl log",
                // wpull and other private names.
                name if name.starts_with("x-") => "urn: of a crawler",
                _ if of.contains("://") => "urn: of a crawler",
                _ => return None,
            }
        }
        _ => return None,
    })
}

fn finish<'a>(
    docno: Cow<'a, str>,
    url: Option<Cow<'a, str>>,
    body: Result<Body<'a>, Refusal>,
    mut notices: Vec<(Reason, String)>,
) -> Outcome<'a> {
    match body {
        Err(refusal) => Outcome::Refused {
            docno: Some(docno),
            refusal,
        },
        Ok(body) => {
            notices.extend(body.notices);
            Outcome::Document(Parts {
                docno,
                url,
                title: None,
                content: body.content,
                charset: body.charset,
                body: body.body,
                notices,
            })
        }
    }
}

/// ARC has no ids. The docno of a page is `URL@date`, which distinguishes two captures.
fn arc_docno(line: &ArcLine<'_>) -> String {
    format!("{}@{}", text_of(line.url), text_of(line.date))
}

fn arc<'a>(bytes: &'a [u8], config: &ReadConfig) -> Outcome<'a> {
    let Some(line) = ArcLine::parse(first_line(bytes)) else {
        return refused(None, Reason::BadHeader, "not the line of an ARC record");
    };
    let url = text_of(line.url);
    if let Some(kind) = left_out(Some(&url), config) {
        return Outcome::Skipped(kind);
    }
    let docno = arc_docno(&line).into();
    let block = &bytes[memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1)..];
    let body = if http::begins(block) || url.starts_with("http") && block.trim_ascii().is_empty() {
        http::response(block, config)
    } else {
        // Some writers omit the HTTP header.
        let mut head = Head::default();
        head.set_content_type(text_of(line.mime));
        http::bare(block, head)
    };
    finish(docno, Some(url), body, Vec::new())
}

/// Interprets a row of a Parquet file.
fn row<'a>(fields: &RowFields, bytes: &'a [u8]) -> Outcome<'a> {
    let declared = fields.content_type.as_ref();
    let declared = declared.map(|kind| kind.to_ascii_lowercase());
    Outcome::Document(Parts {
        docno: fields.docno.clone().into(),
        url: fields.url.clone().map(Cow::Owned),
        title: fields.title.clone().map(Cow::Owned),
        content: json::content_of(fields.html, declared.as_deref(), bytes),
        charset: fields.utf8.then(|| "utf-8".into()),
        body: bytes.into(),
        notices: Vec::new(),
    })
}

/// Interprets a file that is one document.
fn plain<'a>(docno: &str, bytes: &'a [u8], config: &ReadConfig) -> Outcome<'a> {
    let content = match config.format {
        Some(Format::Html) => ContentKind::Markup,
        Some(Format::Text) => ContentKind::Text,
        _ => match format_of_extension(&extension_of(docno)) {
            Some(Format::Html) => ContentKind::Markup,
            Some(Format::Text) => ContentKind::Text,
            _ if looks_like_markup(bytes) => ContentKind::Markup,
            _ => ContentKind::Text,
        },
    };
    if let Some(kind) = binary_file_kind(bytes) {
        return refused(Some(docno.to_string().into()), Reason::BinaryFile, kind);
    }
    let nitf = if content == ContentKind::Markup {
        sgml::nitf_docno(bytes)
    } else {
        None
    };
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
