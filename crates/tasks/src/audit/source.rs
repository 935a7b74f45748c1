//! Where documents come from: the sources by which they are counted.

use std::fmt;
use std::str::FromStr;

use crate::dedup::values::Part;
use lookalike_text::read::usual_date;

/// A source by which documents are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The host of the address.
    Host,
    /// The year of a date: of the field with this name, or of the date that the record states, such
    /// as the date of its capture.
    Year(Option<String>),
    /// The value of a field.
    Field(String),
}

impl Source {
    /// Where the value stands.
    pub(super) fn part(&self) -> Part<'_> {
        match self {
            Source::Host => Part::Address,
            Source::Year(None) => Part::Date,
            Source::Year(Some(field)) | Source::Field(field) => Part::Field(field),
        }
    }

    /// The value of a document, by the content of its field.
    pub(super) fn value(&self, text: &str) -> Option<String> {
        match self {
            Source::Host => host(text),
            Source::Year(_) => year(&usual_date(text.trim())).map(Into::into),
            Source::Field(_) => Some(text.into()),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Host => f.write_str("host"),
            Source::Year(None) => f.write_str("year"),
            Source::Year(Some(field)) => write!(f, "year:{field}"),
            Source::Field(field) => write!(f, "field:{field}"),
        }
    }
}

impl FromStr for Source {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "host" => Ok(Source::Host),
            None if text == "year" => Ok(Source::Year(None)),
            Some(("year", field)) if !field.is_empty() => Ok(Source::Year(Some(field.into()))),
            Some(("field", field)) if !field.is_empty() => Ok(Source::Field(field.into())),
            _ => Err(format!(
                "`{text}` is not a source; use host, year, year:FIELD or field:NAME"
            )),
        }
    }
}

/// The host of a web address.
fn host(address: &str) -> Option<String> {
    lookalike_text::read::host(address.split_once("://")?.1)
}

/// The year of a date that begins with a year of four digits.
fn year(date: &str) -> Option<&str> {
    let date = date.trim_start();
    let (year, rest) = date.split_at_checked(4)?;
    let whole = rest.is_empty() || rest.starts_with('-');
    (whole && year.bytes().all(|b| b.is_ascii_digit())).then_some(year)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_read_what_they_print() {
        for text in ["host", "year", "year:date", "field:meta.source"] {
            assert_eq!(text.parse::<Source>().unwrap().to_string(), text);
        }
        for text in ["", "hosts", "host:a", "year:", "field", "field:", "input"] {
            assert!(text.parse::<Source>().is_err(), "{text}");
        }
    }

    #[test]
    fn hosts_are_those_of_addresses() {
        for (address, expected) in [
            ("http://example.org/a", Some("example.org")),
            (
                "https://User:pw@WWW.Example.org:8080?x",
                Some("www.example.org"),
            ),
            ("http://example.org.", Some("example.org")),
            ("http://[2001:db8::1]:80/", Some("[2001:db8::1]")),
            ("http://a@b@c/", Some("c")),
            ("http:///x", None),
            ("example.org/a", None),
            ("", None),
        ] {
            assert_eq!(host(address).as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn years_are_those_of_dates() {
        let source = Source::Year(None);
        for date in [
            "20120203",
            "Fri, 3 Feb 2012 10:11:12 GMT",
            "2012-02-03 10:11",
        ] {
            assert_eq!(source.value(date).as_deref(), Some("2012"), "{date}");
        }
        for (date, expected) in [
            ("2012-02-03T10:11:12Z", Some("2012")),
            ("2012", Some("2012")),
            (" 2012-02", Some("2012")),
            ("20120203", None),
            ("12-02-03", None),
            ("é012", None),
            ("", None),
        ] {
            assert_eq!(year(date), expected, "{date}");
        }
    }
}
