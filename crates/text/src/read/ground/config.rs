//! Parameters of reading: the format, the names of JSON fields, the limits.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use globset::{Glob, GlobSet};
use serde::{Deserialize, Serialize};

use super::convert::{self, Converter, Limits};
use super::dialect::Mark;
use super::fields::{FieldPath, Step, is_page};
use super::record::ContentKind;
use super::split_at::SplitAt;
use lookalike_base::{Context, budget::ByteSize, keywords, refuse};

/// The default limit on the growth of compressed input: deflate cannot exceed 1,032, real text is
/// below 50, and files of mostly one byte come close to 1,000.
pub const DEFAULT_MAX_RATIO: u64 = 1000;

/// The default of `--convert-timeout`.
const CONVERT_SECONDS: u64 = 60;

/// The default of `--convert-memory`.
const CONVERT_MEMORY: ByteSize = ByteSize::mib(2048);

/// The longest name of the elements of `--record`; a longer one would not fit into the look-ahead
/// of a framer.
pub(crate) const LONGEST_NAME: usize = 256;

keywords! {
    /// The formats of input, as `--format` names them.
    #[derive(Hash)]
    pub enum Format: "is not a format; use" {
        /// TREC web bundles: GOV, GOV2, WT10G.
        TrecWeb = "trec-web",
        /// TREC SGML: AP, WSJ, FT, LA, FBIS, NTCIR, and also Reuters-21578.
        TrecSgml = "trec-sgml",
        /// Web archives: WARC 0.18 to 1.1, including WET.
        Warc = "warc",
        /// Web archives in the older formats ARC 1 and 2.
        Arc = "arc",
        /// JSON objects: one per line, one after the other, or in one array.
        Jsonl = "jsonl",
        /// Tables of text with a delimiter that the header shows: comma, tab, semicolon or bar.
        Csv = "csv",
        /// Tables of text with tabs.
        Tsv = "tsv",
        /// Parquet files: each row is a document.
        Parquet = "parquet",
        /// Mailboxes: messages one after the other, each after a line of `From ` and a date.
        Mbox = "mbox",
        /// Each file is one mail message.
        Eml = "eml",
        /// Each file is one document of plain text.
        Text = "text",
        /// Each file is one document of markup.
        Html = "html",
    }
}

/// The value of `--quote` for tables in which no character encloses cells.
pub const NO_QUOTE: &str = "none";

/// The types of WARC records that are documents, by default.
pub const WARC_TYPES: &str = "response,resource,conversion";

/// Globs for URLs. `*` matches any text, also across `/`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<Glob>", into = "Vec<Glob>")]
pub struct UrlGlobs {
    globs: Vec<Glob>,
    set: GlobSet,
}

impl TryFrom<Vec<Glob>> for UrlGlobs {
    type Error = globset::Error;

    fn try_from(globs: Vec<Glob>) -> Result<UrlGlobs, globset::Error> {
        let set = GlobSet::new(&globs)?;
        Ok(UrlGlobs { globs, set })
    }
}

impl From<UrlGlobs> for Vec<Glob> {
    fn from(globs: UrlGlobs) -> Vec<Glob> {
        globs.globs
    }
}

impl PartialEq for UrlGlobs {
    fn eq(&self, other: &UrlGlobs) -> bool {
        self.globs == other.globs
    }
}

impl Eq for UrlGlobs {}

impl fmt::Display for UrlGlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let globs: Vec<&str> = self.globs.iter().map(Glob::glob).collect();
        f.write_str(&globs.join(" "))
    }
}

impl UrlGlobs {
    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.globs.is_empty()
    }

    /// Whether one of them matches.
    pub fn matches(&self, url: &str) -> bool {
        !self.is_empty() && self.set.is_match(url)
    }
}

keywords! {
    /// Which texts of the fields of JSON, CSV and Parquet are markup, as `--markup` names it.
    /// Formats of the web and of mail say this themselves.
    pub enum Markup: "does not say which fields are markup; use" {
        /// Those of a field called `html`, and those for which a field such as `content_type` has a
        /// media type of HTML or XML.
        Declared = "declared",
        /// The declared ones, and those that begin like a page. A type is read in any form.
        Auto = "auto",
        /// None: tags are text like any other.
        Never = "never",
        /// All.
        Always = "always",
    }
}

/// The version of the rule by which fields are read as text. Rule 1 left out values that are not
/// strings, and took one child as the text of a record of markup.
pub const READ_RULE: u32 = 2;

/// The parameters of reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadConfig {
    /// The version of the rule by which fields are read; absent in directories under rule 1.
    #[serde(default = "first_rule", skip_serializing_if = "is_first_rule")]
    pub rule: u32,
    /// The format of every input; with `None`, it is detected from the first bytes of each file.
    pub format: Option<Format>,
    /// The name of the elements at which markup is split into records; with `None`, a file of
    /// markup is one document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    /// JSON: the path of the lists whose elements are the records; with `None`, objects are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<String>,
    /// Which lines of a text begin a record; with `None`, a file of text is one document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split_at: Option<SplitAt>,
    /// JSON and Parquet: the path of the field of the text; with `None`, one of
    /// [`super::fields::TEXT_FIELDS`]. Several fields, separated by commas, are joined as lines; of several
    /// with bars between, the first that is there counts.
    /// `list.field` takes the field of every element, `list[0].field` the field of the
    /// first, and `list[name=value].field` the field of every element with this value.
    pub text_field: Option<String>,
    /// JSON and Parquet: the path of the field of the docno; with `None`, one of
    /// [`super::fields::ID_FIELDS`].
    pub id_field: Option<String>,
    /// JSON and Parquet: the path of the field of the URL; with `None`, one of
    /// [`super::fields::URL_FIELDS`].
    pub url_field: Option<String>,
    /// The fields whose values the collection keeps ([`super::record::RawDocument::fact`]).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// Tables: what separates the cells, as `--delimiter` writes it; with `None`, the header decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// Tables: the character that encloses cells, or [`NO_QUOTE`]; with `None`, the double quote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// CSV and TSV: the names of the columns, separated by commas, of files without a header.
    pub columns: Option<String>,
    /// JSON, CSV and Parquet: the values that stand for nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub null: Vec<String>,
    /// JSON, CSV and Parquet: which texts are markup. `None`, as in the directories of versions
    /// before this parameter, means [`Markup::Auto`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub markup: Option<Markup>,
    /// The types of WARC records that are documents, separated by commas; with `None`,
    /// [`WARC_TYPES`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warc_type: Option<String>,
    /// Web archives: only records with these URLs are documents; all, if there are no globs. Other
    /// records that a crawler stores are documents only if one of these matches its URL.
    #[serde(skip_serializing_if = "UrlGlobs::is_empty")]
    pub include_url: UrlGlobs,
    /// Web archives: records with these URLs are not documents.
    #[serde(skip_serializing_if = "UrlGlobs::is_empty")]
    pub exclude_url: UrlGlobs,
    /// The programs that convert documents to text, in the order in which they are chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub convert: Vec<Converter>,
    /// Seconds after which a program is ended; with `None`, 60.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convert_timeout: Option<u64>,
    /// The address space of a program, on Linux; with `None`, 2 GiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convert_memory: Option<ByteSize>,
    /// Maximum size of a record, and of a body after its content encoding is undone.
    pub max_document: ByteSize,
    /// Maximum number of decompressed bytes per compressed byte, checked after
    /// [`lookalike_source::RATIO_FREE_BYTES`].
    pub max_ratio: u64,
}

/// The rule, of fields or of tokens, of a manifest of version 0.1.0, which does not name it.
pub(crate) fn first_rule() -> u32 {
    1
}

/// Whether a manifest does not name this rule.
pub(crate) fn is_first_rule(rule: &u32) -> bool {
    *rule == first_rule()
}

impl Default for ReadConfig {
    fn default() -> Self {
        ReadConfig {
            rule: READ_RULE,
            format: None,
            record: None,
            records: None,
            split_at: None,
            text_field: None,
            id_field: None,
            url_field: None,
            fields: Vec::new(),
            delimiter: None,
            quote: None,
            columns: None,
            null: Vec::new(),
            markup: Some(Markup::Declared),
            warc_type: None,
            include_url: UrlGlobs::default(),
            exclude_url: UrlGlobs::default(),
            convert: Vec::new(),
            convert_timeout: None,
            convert_memory: None,
            max_document: ByteSize::mib(64),
            max_ratio: DEFAULT_MAX_RATIO,
        }
    }
}

impl ReadConfig {
    /// Refuses to read with programs that the command does not name, that are gone, or that have
    /// another version than when the parameters were made. Callers are about to read documents,
    /// because this may start the programs.
    pub fn check_programs(&self, context: &Context<'_>) -> lookalike_base::Result<()> {
        convert::check(self.convert.iter(), context.programs)
    }

    /// The flags for the programs that neither `programs` nor the command so far names.
    pub fn unnamed_programs(&self, programs: &[String]) -> String {
        convert::unnamed(self.convert.iter(), programs)
    }

    /// As [`ReadConfig::check_programs`], but documents of the programs that the command does not
    /// name are rejected.
    pub fn check_named_programs(&self, context: &Context<'_>) -> lookalike_base::Result<()> {
        let mut named = self
            .convert
            .iter()
            .filter(|program| program.is_named(context.programs));
        named.try_for_each(Converter::check)
    }

    /// Rejects limits that would allow no input at all, and empty field names.
    pub fn check(&self) -> lookalike_base::Result<()> {
        if self.max_document.0 == 0 || self.max_document.0 > 1 << 32 {
            return refuse("max-document", self.max_document, "1 byte to 4GiB");
        }
        if self.max_ratio == 0 {
            return refuse("max-ratio", self.max_ratio, "1 or more");
        }
        if !(1..=86_400).contains(&self.convert_timeout()) {
            let limit = "1 to 86400 seconds";
            return refuse("convert-timeout", self.convert_timeout(), limit);
        }
        if self.convert_memory() < ByteSize::mib(1) {
            return refuse("convert-memory", self.convert_memory(), "1MiB or more");
        }
        for (n, converter) in self.convert.iter().enumerate() {
            if self.convert[..n]
                .iter()
                .any(|other| other.kind == converter.kind)
            {
                return refuse("convert", &converter.kind, "one command for each kind");
            }
        }
        if let Some(columns) = &self.columns
            && columns.split(',').any(|name| name.trim().is_empty())
        {
            let limit = "names, separated by commas";
            return refuse("columns", columns, limit);
        }
        for (name, given) in [("delimiter", &self.delimiter), ("quote", &self.quote)] {
            let Some(given) = given.as_ref().filter(|given| *given != NO_QUOTE) else {
                continue;
            };
            let limit = "a character, its name (tab, DC4), ^A or \\x14";
            let mark = Mark::parse(given);
            let several = |mark: &Mark| {
                name == "quote"
                    && std::str::from_utf8(mark).is_ok_and(|text| text.chars().count() > 1)
            };
            match mark {
                Err(what) => return refuse(name, given, format!("{limit}: {what}")),
                Ok(mark) if several(&mark) => {
                    return refuse(name, given, format!("{limit}, or none"));
                }
                Ok(_) => {}
            }
            if let Some(format) = self.format
                && !matches!(format, Format::Csv | Format::Tsv)
            {
                let limit = format!("only tables have cells; leave out --format {format}");
                return refuse(name, given, &limit);
            }
        }
        if self.delimiter.is_some() && self.delimiter == self.quote {
            let limit = "another character than the delimiter";
            return refuse("quote", self.quote.as_deref().unwrap_or_default(), limit);
        }
        const TYPES: &str = "warcinfo,response,resource,request,metadata,revisit,conversion";
        if let Some(types) = &self.warc_type
            && !types
                .split(',')
                .all(|kind| TYPES.split(',').any(|known| known == kind))
        {
            let limit = format!("some of {TYPES}, separated by commas");
            return refuse("warc-type", types, &limit);
        }
        if let Some(name) = &self.record {
            let odd = |c: char| c.is_whitespace() || "<>/=\"'&".contains(c);
            if name.is_empty() || name.len() > LONGEST_NAME || name.contains(odd) {
                let limit = "the name of an element, without brackets";
                return refuse("record", name, limit);
            }
            if let Some(format) = self.format.filter(|format| *format != Format::Html) {
                let limit = format!("only markup has elements; leave out --format {format}");
                return refuse("record", name, &limit);
            }
        }
        if let Some(path) = &self.records {
            let steps = FieldPath::one(path).map(|path| path.steps);
            let plain = |step: &Step<'_>| matches!(step, Step::Name(_) | Step::All);
            if !steps.is_ok_and(|steps| steps.iter().all(plain)) {
                let limit = "the path of a list, such as messages[] or data.items[]";
                return refuse("records", path, limit);
            }
        }
        if let (Some(split_at), Some(format)) = (&self.split_at, self.format)
            && !matches!(format, Format::Text | Format::Html)
        {
            let limit = format!("only text is split at lines; leave out --format {format}");
            return refuse("split-at", split_at, &limit);
        }
        for (name, field) in [
            ("text-field", &self.text_field),
            ("id-field", &self.id_field),
            ("url-field", &self.url_field),
        ] {
            let Some(field) = field else { continue };
            let parsed = match name {
                "text-field" => FieldPath::all(field).map(drop),
                _ => FieldPath::ways(field).map(drop),
            };
            if let Err(what) = parsed {
                let limit = format!(
                    "the path of a field, such as page.body or messages[role=user].content, with \
                     other names in double quotes: {what}"
                );
                return refuse(name, field, &limit);
            }
        }
        Ok(())
    }

    /// The delimiter and the quote that are given, as a file with these first bytes writes them.
    pub(crate) fn marks(&self, head: &[u8]) -> (Option<Mark>, Option<Mark>) {
        let is_utf8 = match std::str::from_utf8(head) {
            Ok(_) => true,
            Err(error) => error.error_len().is_none(),
        };
        let mark = |given: &Option<String>| {
            let given = given.as_ref().filter(|given| *given != NO_QUOTE)?;
            let mark = Mark::parse(given).ok()?;
            let other = mark.in_windows_1252().filter(|_| !is_utf8);
            Some(other.unwrap_or(mark))
        };
        (mark(&self.delimiter), mark(&self.quote))
    }

    /// The first bytes of a file with tabs for the given marks, which may be control characters.
    pub(crate) fn without_marks<'h>(&self, head: &'h [u8]) -> Cow<'h, [u8]> {
        let (delimiter, quote) = self.marks(head);
        let marks: Vec<Mark> = [delimiter, quote].into_iter().flatten().collect();
        if !marks.iter().any(|mark| mark.is_control()) {
            return head.into();
        }
        let is_mark = |byte: u8| byte == b'\x1e' || marks.iter().any(|mark| mark.contains(&byte));
        let plain = |&byte: &u8| if is_mark(byte) { b'\t' } else { byte };
        head.iter().map(plain).collect()
    }

    /// The program for a file that is one document.
    pub(crate) fn converter_of_file(&self, name: &str) -> Option<&Converter> {
        self.convert.iter().find(|found| found.is_for_file(name))
    }

    /// The program for a record of this media type.
    pub(crate) fn converter_of_type(&self, mime: Option<&str>) -> Option<&Converter> {
        let mut all = self.convert.iter();
        all.find(|found| mime.is_some_and(|mime| found.is_for_type(mime)))
    }

    /// Returns the limits of a program for one document.
    pub(crate) fn convert_limits(&self) -> Limits {
        Limits {
            time: Duration::from_secs(self.convert_timeout()),
            output: usize::try_from(self.max_document.0).unwrap_or(usize::MAX),
        }
    }

    fn convert_timeout(&self) -> u64 {
        self.convert_timeout.unwrap_or(CONVERT_SECONDS)
    }

    pub(crate) fn convert_memory(&self) -> ByteSize {
        self.convert_memory.unwrap_or(CONVERT_MEMORY)
    }

    /// Which texts of fields are markup.
    #[must_use]
    pub fn markup(&self) -> Markup {
        self.markup.unwrap_or(Markup::Auto)
    }

    /// The fields of the text, for advice about records without it: empty if there are no `documents`,
    /// or the flag names several fields of each.
    pub fn used_fields(&self, documents: bool) -> &str {
        match &self.text_field {
            _ if !documents => "",
            Some(fields) if fields.contains(',') => "",
            Some(fields) => fields,
            None => "text",
        }
    }

    /// Returns the kind of content of a field's text. `html` says whether the field has this name,
    /// and `declared` is the content type in lower case that another field declares.
    #[must_use]
    pub fn content(&self, html: bool, declared: Option<&str>, text: &[u8]) -> ContentKind {
        let is = |kind: &str| declared.is_some_and(|declared| declared.contains(kind));
        let marked = html || is("html") || is("xml");
        let markup = match self.markup() {
            Markup::Never => false,
            // `type` may also be a word of the user's own, such as "xml questions".
            Markup::Declared => html || marked && is("/"),
            Markup::Always => true,
            Markup::Auto => marked || !is("text/plain") && is_page(text),
        };
        match markup {
            true if !html && (is("/xml") || is("+xml")) => ContentKind::Xml,
            _ => ContentKind::of(markup),
        }
    }

    /// Whether WARC records of a type, in lower case, are documents.
    pub fn reads_warc_type(&self, kind: &[u8]) -> bool {
        let types = self.warc_type.as_deref().unwrap_or(WARC_TYPES);
        types.split(',').any(|name| name.as_bytes() == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of a collection's parameters is that of their JSON.
    #[test]
    fn directories_of_earlier_versions_read_fields_as_they_did() {
        let stored = serde_json::to_string(&ReadConfig::default()).unwrap();
        assert!(stored.contains(r#""markup":"declared","#), "{stored}");
        let old = stored.replace(r#""markup":"declared","#, "");
        let read: ReadConfig = serde_json::from_str(&old).unwrap();
        assert_eq!(read.markup(), Markup::Auto);
        assert_eq!(serde_json::to_string(&read).unwrap(), old);
    }

    #[test]
    fn formats_read_what_they_print() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
            assert_eq!(
                serde_json::to_string(&format).unwrap(),
                format!("\"{format}\"")
            );
        }
        assert!("WARC".parse::<Format>().is_err());
    }

    #[test]
    fn impossible_values_are_refused() {
        assert!(ReadConfig::default().check().is_ok());
        for config in [
            ReadConfig {
                max_document: ByteSize(0),
                ..ReadConfig::default()
            },
            ReadConfig {
                max_ratio: 0,
                ..ReadConfig::default()
            },
            ReadConfig {
                id_field: Some("a..b".into()),
                ..ReadConfig::default()
            },
            ReadConfig {
                columns: Some("id, ,text".into()),
                ..ReadConfig::default()
            },
        ] {
            assert!(config.check().is_err());
        }
    }
}
