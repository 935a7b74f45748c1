//! Turns a framed record into a raw document, or into the reason why it is not one.

use std::borrow::Cow;

use super::ground::config::{Format, ReadConfig};
use super::ground::convert::Converter;
use super::ground::date::usual_date;
use super::ground::fields::Known;
use super::ground::outcome::{HEAD, Interpreter, Outcome, head_of, refused};
use super::ground::record::{
    ContentKind, RawDocument, Record, RecordKind, Reject, RowFields, WholeFile,
};
use super::json::JsonObject;
use super::json::bulk::BulkRecord;
use super::look::like_records;
use super::look::sniff::{binary_file_kind, binary_kind, kind_of_markup, looks_like_markup};
use super::mail::encoded;
use super::markup::sgml::{self, Reuters, TrecSgml};
use super::plain::several;
use super::web::trec_web::TrecWeb;
use super::web::warc::{ArcRecord, WarcRecord};
use lookalike_base::{Stop, flag_word, shell_word, words};
use lookalike_source::Reason;

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

impl Interpreted<'_> {
    /// Why a program of the user did not convert it, if that is the reason.
    pub fn not_converted(&self) -> Option<&Reject> {
        match self {
            Interpreted::Rejected(reject) if reject.reason == Reason::NotConverted => Some(reject),
            _ => None,
        }
    }
}

/// Interprets a record. A pure function of its arguments, and of the programs that convert documents:
/// it may run on any thread.
///
/// `bytes` are the record's own, [`Record::bytes`] of the batch's buffer.
pub fn interpret<'a>(record: &Record, bytes: &'a [u8], config: &ReadConfig) -> Interpreted<'a> {
    let interpreter = match record.kind.interpreter() {
        Ok(interpreter) => interpreter,
        Err(reject) => return Interpreted::Rejected(reject.clone()),
    };
    in_place(record, interpreter.document(bytes, config), config)
}

fn in_place<'a>(record: &Record, outcome: Outcome<'a>, config: &ReadConfig) -> Interpreted<'a> {
    let source = record.source;
    match outcome {
        Outcome::Foreign(parts, with) => {
            let text = converted(parts, &with, config, &record.origin.stop);
            in_place(record, text, config)
        }
        Outcome::Skipped(kind) => Interpreted::Skipped(kind),
        Outcome::Refused(docno, (reason, detail)) => Interpreted::Rejected(Reject {
            source,
            docno: docno
                .filter(|docno| !docno.is_empty() && docno.len() <= HEAD)
                .map(Cow::into_owned),
            reason,
            detail,
        }),
        // In a web archive, the record's number counts records that are not documents, so it would
        // not be the number that the results state.
        Outcome::Document(parts)
            if parts.docno.len() > HEAD
                && matches!(record.kind, RecordKind::Warc | RecordKind::Arc) =>
        {
            let detail = too_long(&parts.docno);
            Interpreted::Rejected(Reject::new(source, Reason::MissingDocno, detail))
        }
        Outcome::Document(mut parts) => {
            leave_out(&mut parts, config);
            // Many names are in memory at a time, and real ones are far shorter.
            if parts.docno.len() > HEAD {
                let detail = too_long(&parts.docno);
                parts.docno = Cow::default();
                parts.notices.push((Reason::MissingDocno, detail));
            }
            // White space may be before the declaration of a section.
            if !parts.body.trim_ascii_start().starts_with(b"<?xml") {
                parts.of_file = record.origin.charset;
            }
            // The parts of a mail may be encoded once more.
            if record.origin.decoded && !matches!(record.kind, RecordKind::Mail(_)) {
                parts.charset = Some("utf-8".into());
            }
            parts.unnamed = parts.docno.is_empty();
            if parts.unnamed {
                parts.docno = record.origin.name_of(record.number).into();
            }
            if let RecordKind::Json | RecordKind::Bulk | RecordKind::Cells(_) | RecordKind::Row(_) =
                record.kind
            {
                parts.notices.extend(like_null(&parts.body, config));
            }
            if let Some(url) = parts.url.take_if(|url| url.len() > HEAD) {
                let detail = format!("a URL of {} bytes is left out", url.len());
                parts.notices.push((Reason::OddHeader, detail));
            }
            parts.notices.splice(..0, record.notice.clone());
            parts.source = source;
            parts.element = matches!(record.kind, RecordKind::Element(_));
            Interpreted::Document(parts)
        }
    }
}

/// Leaves encoded files and the like out of a text, unless the user says that all of it is text.
fn leave_out(parts: &mut RawDocument<'_>, config: &ReadConfig) {
    if config.format != Some(Format::Text) {
        encoded::leave_out(parts);
    }
}

/// A document with the text that a program of the user makes of its bytes.
fn converted<'a>(
    parts: RawDocument<'a>,
    with: &Converter,
    config: &ReadConfig,
    stop: &Stop,
) -> Outcome<'a> {
    let (memory, limits) = (config.convert_memory(), config.convert_limits());
    let text = with.convert(&parts.body, memory, &limits, stop);
    let text = text.and_then(|text| match binary_kind(&text) {
        Some(kind) => {
            let detail = format!("it printed no text but {kind}");
            Err((Reason::NotConverted, detail))
        }
        None => Ok(text),
    });
    match text {
        Ok(text) => Outcome::Document(RawDocument {
            content: with.content(),
            charset: Some("utf-8".into()),
            body: text.into(),
            ..parts
        }),
        Err((reason, detail)) => refused(Some(parts.docno), reason, detail),
    }
}

/// A warning about a text that is a word for nothing, as databases and Python write it.
fn like_null(body: &[u8], config: &ReadConfig) -> Option<(Reason, String)> {
    const NULLS: [&str; 11] = words("NULL null Null nan NaN None N/A n/a NA <NA> \\N");
    let field = config.text_field.as_ref();
    let several = field.is_some_and(|field| field.contains(','));
    let one = |text: &[u8]| (NULLS.iter()).find(|null| null.as_bytes() == text.trim_ascii());
    let found = one(body).or_else(|| match several {
        true => body.split(|&byte| byte == b'\n').find_map(one),
        false => None,
    })?;
    let flag = flag_word("--null", found);
    let detail = format!("it is {found}; {flag} leaves such texts out");
    Some((Reason::PerhapsNull, detail))
}

fn too_long(docno: &str) -> String {
    let bytes = docno.len();
    format!("a docno of {bytes} bytes; at most {HEAD} are possible")
}

impl RecordKind {
    /// Whether the document can be larger than the record, because its contents are encoded
    /// or converted.
    pub fn grows(&self, config: &ReadConfig) -> bool {
        use RecordKind::{Arc, Mail, Plain, Warc};
        match self {
            Warc | Arc | Mail(_) => true,
            Plain(file) => config.converter_of_file(&file.docno).is_some(),
            _ => false,
        }
    }

    /// One line for each format; or what the framer rejected.
    fn interpreter(&self) -> Result<&dyn Interpreter, &Reject> {
        Ok(match self {
            RecordKind::TrecWeb => &TrecWeb,
            RecordKind::TrecSgml => &TrecSgml,
            RecordKind::Reuters => &Reuters,
            RecordKind::Warc => &WarcRecord,
            RecordKind::Arc => &ArcRecord,
            RecordKind::Json => &JsonObject,
            RecordKind::Bulk | RecordKind::Deletion => &BulkRecord,
            RecordKind::Mail(message) => message,
            RecordKind::Cells(table) => &**table,
            RecordKind::Row(fields) => &**fields,
            RecordKind::Element(prolog) => &**prolog,
            RecordKind::Section(sections) => &**sections,
            RecordKind::Plain(file) => file,
            RecordKind::Rejected(reject) => return Err(reject),
        })
    }

    /// The docno in the first bytes of a record that is not delivered.
    pub fn docno(&self, held: &[u8]) -> Option<String> {
        self.interpreter().ok()?.docno(head_of(held))
    }

    /// The value of a field of a record: of a JSON object or an element by its path, of a row of a
    /// table by the name or number of its column, of a header of WARC, HTTP or mail by its name; of a
    /// row of Parquet, if [`ReadConfig::fields`] has it.
    pub fn field(&self, bytes: &[u8], name: &str) -> Option<String> {
        self.interpreter().ok()?.field(bytes, name)
    }

    /// The fields of a JSON object or of a row of a table, for a message; none of other records.
    pub fn known(&self, bytes: &[u8]) -> Vec<Known> {
        self.interpreter().map_or(Vec::new(), |of| of.known(bytes))
    }

    /// The date of a record: `WARC-Date`; the date in the line of an ARC record; the `Date` of the
    /// HTTP header in a TREC web record, or of a mail message; the `DATE` of a Reuters record; one
    /// of the usual fields of a JSON object or an element, or columns of a table.
    ///
    /// In the form `2004-01-31T12:00:00Z` or `2004-01-31` if the record's form is known.
    pub fn date(&self, bytes: &[u8]) -> Option<String> {
        let found = self.interpreter().ok()?.date(bytes)?;
        let found = found.trim();
        (!found.is_empty()).then(|| usual_date(found))
    }

    /// The date of a record of a web archive that is a capture.
    pub fn capture_date(&self, bytes: &[u8]) -> Option<String> {
        let is_archive = matches!(self, RecordKind::Warc | RecordKind::Arc);
        is_archive.then(|| self.date(bytes)).flatten()
    }
}

/// The names of the facts that documents of all formats have, if they have an address. A field of a
/// record with one of these names is not looked for.
pub const FACTS: [&str; 5] = words("docno file url host path");

/// The `folder` or the `top_folder` of a path below an argument; `None` for another name, or without one.
pub fn folder_of<'p>(below: &'p str, name: &str) -> Option<&'p str> {
    let (folder, _) = below.rsplit_once('/')?;
    match name {
        "folder" => Some(folder),
        "top_folder" => folder.split('/').next(),
        _ => None,
    }
}

/// The most bytes of a field that a condition compares.
pub const MOST_VALUE_BYTES: usize = 4 << 10;

/// Returns the field of this name as conditions compare it: without white space around it, and the
/// `host` or the `path` of an address. An empty field is missing.
pub fn stated(name: &str, value: &str) -> Option<String> {
    let value = value.trim();
    let address = || value.split_once("://").map(|(_, address)| address);
    let stated = match name {
        "host" => host(address()?)?,
        "path" => format!("/{}", address()?.split_once('/')?.1),
        "date" => usual_date(value),
        _ => value.into(),
    };
    Some(stated).filter(|stated| !stated.is_empty())
}

impl RawDocument<'_> {
    /// Returns the fact about a document that has this name: one of [`FACTS`], or a field of its
    /// record; without a field of this name, the `date` that its record states, the `folder` of its
    /// file, and `top_folder`, the first one below the input that was named.
    pub fn fact(&self, name: &str, record: &Record, bytes: &[u8]) -> Option<String> {
        match name {
            "docno" => Some(self.docno.to_string()),
            "file" => Some(record.origin.name.to_string()),
            "url" => self.url.as_ref().map(ToString::to_string),
            "host" | "path" => stated(name, self.url.as_ref()?),
            "date" => match record.kind.field(bytes, name) {
                Some(date) => stated(name, &date),
                None => record.kind.date(bytes),
            },
            "folder" | "top_folder" => {
                let folder = || folder_of(record.origin.below()?, name).map(String::from);
                record.kind.field(bytes, name).or_else(folder)
            }
            _ => record.kind.field(bytes, name),
        }
    }
}

/// The host of a web address from its authority on, in lower case and without a port.
pub fn host(address: &str) -> Option<String> {
    let authority = address.split(['/', '?', '#', '\\']).next()?;
    let (_, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let host = match place.find(']') {
        // An IPv6 address.
        Some(end) if place.starts_with('[') => &place[..=end],
        _ => place.split(':').next()?,
    };
    let host = host.trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_lowercase())
}

/// The document in a JSON object or in a file that is one document, without its docno.
pub fn document_of<'a>(
    is_json: bool,
    name: &str,
    bytes: &'a [u8],
    config: &ReadConfig,
) -> Option<RawDocument<'a>> {
    let outcome = match is_json {
        true => JsonObject.document(bytes, config),
        false => WholeFile { docno: name.into() }.document(bytes, config),
    };
    let Outcome::Document(mut parts) = outcome else {
        return None;
    };
    leave_out(&mut parts, config);
    (parts.docno, parts.notices) = Default::default();
    Some(parts)
}

/// Whether a file that is one document is markup by its name, or by the format that all have.
pub fn is_markup_by_name(name: &str, config: &ReadConfig) -> bool {
    match config.format {
        Some(format) => format == Format::Html,
        None => Format::of_extension(name) == Some(Format::Html),
    }
}

/// A row of a Parquet file.
impl Interpreter for RowFields {
    fn document<'a>(&self, bytes: &'a [u8], config: &ReadConfig) -> Outcome<'a> {
        let declared = self.content_type.as_ref();
        let declared = declared.map(|kind| kind.to_ascii_lowercase());
        let docno = Cow::Owned(self.docno.clone());
        // Bytes can be anything, even bytes that are a file elsewhere.
        let values = self.parts.iter().flatten();
        let values = values.filter_map(|part| bytes.get(part.clone()));
        let mut values = values.chain([bytes]).filter(|_| !self.utf8);
        if let Some(kind) = values.find_map(binary_kind) {
            return refused(Some(docno), Reason::NotText, format!("the value is {kind}"));
        }
        let mut body = bytes.into();
        let content = self.marks.content(declared.as_deref(), &mut body, config);
        let (content, begins) = match content {
            Ok(found) => found,
            Err((reason, detail)) => return refused(Some(docno), reason, detail),
        };
        Outcome::Document(RawDocument {
            url: self.url.clone().map(Cow::Owned),
            title: self.title.clone().map(Cow::Owned),
            charset: self.utf8.then(|| "utf-8".into()),
            begins,
            fields: self.field.into_iter().map(Cow::Borrowed).collect(),
            notices: self.notices.clone(),
            ..RawDocument::of(docno, content, body)
        })
    }

    fn docno(&self, _: &[u8]) -> Option<String> {
        Some(self.docno.clone())
    }

    fn field(&self, _: &[u8], name: &str) -> Option<String> {
        let kept = self.kept.iter().find(|(field, _)| field == name)?;
        Some(kept.1.clone())
    }

    /// A row has no other fields than those that are asked for.
    fn date(&self, _: &[u8]) -> Option<String> {
        None
    }
}

impl Interpreter for WholeFile {
    fn document<'a>(&self, bytes: &'a [u8], config: &ReadConfig) -> Outcome<'a> {
        let docno = Cow::Owned(self.docno.clone());
        if let Some(with) = config.converter_of_file(&docno) {
            let parts = RawDocument::of(docno, ContentKind::Text, bytes.into());
            return Outcome::Foreign(parts, with.clone());
        }
        let is = |format: Option<Format>| match format? {
            format @ (Format::Html | Format::Text) => Some(format == Format::Html),
            _ => None,
        };
        let said = is(config.format).or_else(|| is(Format::of_extension(&docno)));
        let markup = said.unwrap_or_else(|| looks_like_markup(bytes));
        let content = match markup {
            true if config.format.is_none() => kind_of_markup(bytes),
            _ => ContentKind::of(markup),
        };
        if let Some(kind) = binary_file_kind(bytes) {
            return refused(Some(docno), Reason::BinaryFile, kind);
        }
        let nitf = markup.then(|| sgml::nitf_docno(bytes)).flatten();
        Outcome::Document(RawDocument {
            notices: like_several(bytes, content, config).into_iter().collect(),
            ..RawDocument::of(nitf.unwrap_or(docno), content, bytes.into())
        })
    }

    fn docno(&self, _: &[u8]) -> Option<String> {
        Some(self.docno.clone())
    }
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
    let like = many_records(bytes).or_else(|| several::looks_like(bytes, content, config));
    like.map(|detail| (Reason::PerhapsSeveral, detail))
}

/// Names the records that a file seems to have, and the flag that reads them.
pub(super) fn many_records(bytes: &[u8]) -> Option<String> {
    let (name, count) = like_records::like_records(bytes)?;
    let given = shell_word(&name);
    let name = name.escape_debug();
    Some(format!(
        "looks like {count} records <{name}>: use --record {given}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::ground::record::Message;

    #[test]
    fn a_field_is_compared_without_white_space() {
        for (name, value, is) in [
            ("source", " a b\n", Some("a b")),
            ("source", " \t", None),
            ("date", "", None),
            ("date", " 20240131100000 ", Some("2024-01-31T10:00:00Z")),
            ("host", " http://H.example:80/a ", Some("h.example")),
            ("path", " http://h.example/a?b ", Some("/a?b")),
            ("path", "h.example/a", None),
        ] {
            assert_eq!(stated(name, value).as_deref(), is, "{name} {value:?}");
        }
    }

    #[test]
    fn each_format_has_its_date() {
        let warc = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2004-01-31T12:00:00Z\r\n\r\n";
        let trec = b"<DOC>\n<DOCNO>x</DOCNO>\n<DOCHDR>\nhttp://a/\nHTTP/1.1 200 OK\n\
                     Date: Sat, 31 Jan 2004 12:00:00 GMT\n</DOCHDR>\n";
        let mail =
            b"From a@b Sat Jan 31 12:00:00 2004\nSubject: x\nDate: 31 Jan 2004 13:00:00 +0100\n\n";
        let mbox = RecordKind::Mail(Message {
            docno: String::new(),
            mbox: true,
        });
        for (kind, bytes) in [
            (RecordKind::Warc, &warc[..]),
            (RecordKind::TrecWeb, trec),
            (mbox, mail),
            (RecordKind::Json, b"{\"timestamp\": \"20040131120000\"}"),
        ] {
            let date = kind.date(bytes);
            assert_eq!(date.as_deref(), Some("2004-01-31T12:00:00Z"), "{kind:?}");
        }
        for kind in [RecordKind::Warc, RecordKind::Arc, RecordKind::TrecWeb] {
            assert_eq!(kind.date(b"x"), None);
        }
        assert_eq!(RecordKind::Json.date(b"{\"date"), None);
    }
}
