//! The date of a capture or message, as its record states it.

use memchr::memmem;

use super::archive::{ArcLine, field_after_line};
use super::bytes::{first_line, text_of};
use super::interpret::field_of;
use super::outcome::HEAD;
use super::record::RecordKind;
use crate::base::words::words;

/// Fields of a JSON object, or columns of a table, with the date, in the order in which they are
/// tried.
const FIELDS: [&str; 6] = words("date timestamp WARC-Date warc_date crawl_date fetch_time");

/// Limit on the characters of a date in a form that is not known.
const CHARS: usize = 40;

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// The date of a record: `WARC-Date`; the date in the line of an ARC record; the `Date` of the HTTP
/// header in a TREC web record, or of a mail message; the `DATE` of a Reuters record; one of the
/// usual fields of a JSON object or an element, or columns of a table.
///
/// In the form `2004-01-31T12:00:00Z` or `2004-01-31` if the record's form is known. The zone of a
/// mail message is left out.
pub(crate) fn date_of(kind: &RecordKind, bytes: &[u8]) -> Option<String> {
    let head = bytes.get(..bytes.len().min(HEAD)).unwrap_or_default();
    let found = match kind {
        RecordKind::Warc => field_of(kind, bytes, "WARC-Date")?,
        RecordKind::Arc => text_of(ArcLine::parse(first_line(head))?.date).into_owned(),
        RecordKind::TrecWeb => {
            let start = memmem::find(head, b"<DOCHDR>")? + b"<DOCHDR>".len();
            let end = memmem::find(&head[start..], b"</DOCHDR>")?;
            let header = head[start..start + end].trim_ascii_start();
            match ArcLine::parse(first_line(header)) {
                Some(line) => text_of(line.date).into_owned(),
                None => field_after_line(header, "date")?,
            }
        }
        RecordKind::Mail { .. } => field_after_line(head, "date")?,
        RecordKind::Reuters => {
            let start = memmem::find(head, b"<DATE>")? + b"<DATE>".len();
            let end = memmem::find(&head[start..], b"</DATE>")?;
            text_of(&head[start..start + end]).into_owned()
        }
        RecordKind::Json => FIELDS.iter().find_map(|name| {
            memmem::find(bytes, name.as_bytes())?;
            field_of(kind, bytes, name)
        })?,
        RecordKind::Cells(_) | RecordKind::Element(_) => {
            FIELDS.iter().find_map(|name| field_of(kind, bytes, name))?
        }
        RecordKind::TrecSgml
        | RecordKind::Row(_)
        | RecordKind::Plain { .. }
        | RecordKind::Rejected(_) => return None,
    };
    let found = found.trim();
    (!found.is_empty()).then(|| usual_date(found))
}

/// A date in the usual form, or unchanged.
pub(crate) fn usual_date(date: &str) -> String {
    let as_it_is = || date.chars().take(CHARS).collect();
    digits(date)
        .or_else(|| named_month(date))
        .unwrap_or_else(as_it_is)
}

/// `20040131120000` and its beginnings from the day on.
fn digits(date: &str) -> Option<String> {
    if !matches!(date.len(), 8..=14) || !date.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize| date.get(from..from + 2).unwrap_or("00");
    let day = format!("{}-{}-{}", date.get(..4)?, part(4), part(6));
    let (month, of_month): (u32, u32) = (part(4).parse().ok()?, part(6).parse().ok()?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&of_month) {
        return None;
    }
    Some(match date.len() {
        14 => format!("{day}T{}:{}:{}Z", part(8), part(10), part(12)),
        _ => day,
    })
}

/// `Sat, 31 Jan 2004 12:00:00 GMT` (RFC 9110, section 5.6.7; RFC 5322) and
/// `26-FEB-1987 15:01:01.79` (Reuters).
fn named_month(date: &str) -> Option<String> {
    let mut words = date
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '-'))
        .filter(|word| !word.is_empty())
        .peekable();
    words.next_if(|word| word.bytes().all(|b| b.is_ascii_alphabetic()));
    let day: u32 = words.next()?.parse().ok()?;
    let month = words.next()?.get(..3)?.to_ascii_lowercase();
    let month = 1 + MONTHS.iter().position(|name| *name == month)?;
    let year: u32 = words.next()?.parse().ok()?;
    if !(1..=31).contains(&day) || !(1000..=9999).contains(&year) {
        return None;
    }
    let date = format!("{year}-{month:02}-{day:02}");
    let time = words.next().and_then(|time| time.get(..8));
    let is_time = |time: &&str| {
        time.bytes().enumerate().all(|(at, b)| match at {
            2 | 5 => b == b':',
            _ => b.is_ascii_digit(),
        })
    };
    Some(match time.filter(is_time) {
        Some(time) => format!("{date}T{time}Z"),
        None => date,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_one_form() {
        for (date, expected) in [
            ("20040131120059", "2004-01-31T12:00:59Z"),
            ("20040131", "2004-01-31"),
            ("20049931", "20049931"),
            ("2004-01-31T12:00:00Z", "2004-01-31T12:00:00Z"),
            ("Sat, 31 Jan 2004 12:00:00 GMT", "2004-01-31T12:00:00Z"),
            ("31 January 2004", "2004-01-31"),
            ("26-FEB-1987 15:01:01.79", "1987-02-26T15:01:01Z"),
            ("Sat, 31 Jan 2004 99", "2004-01-31"),
            ("yesterday", "yesterday"),
            ("Sat", "Sat"),
            ("\u{e9}\u{e9}\u{e9}\u{e9}", "\u{e9}\u{e9}\u{e9}\u{e9}"),
        ] {
            assert_eq!(usual_date(date), expected);
        }
        assert_eq!(usual_date(&"x".repeat(99)).len(), CHARS);
    }

    #[test]
    fn each_format_has_its_date() {
        let warc = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2004-01-31T12:00:00Z\r\n\r\n";
        let trec = b"<DOC>\n<DOCNO>x</DOCNO>\n<DOCHDR>\nhttp://a/\nHTTP/1.1 200 OK\n\
                     Date: Sat, 31 Jan 2004 12:00:00 GMT\n</DOCHDR>\n";
        let mail =
            b"From a@b Sat Jan 31 12:00:00 2004\nSubject: x\nDate: 31 Jan 2004 12:00:00 +0100\n\n";
        let mbox = RecordKind::Mail {
            docno: String::new(),
            mbox: true,
        };
        for (kind, bytes) in [
            (RecordKind::Warc, &warc[..]),
            (RecordKind::TrecWeb, trec),
            (mbox, mail),
            (RecordKind::Json, b"{\"timestamp\": \"20040131120000\"}"),
        ] {
            let date = date_of(&kind, bytes);
            assert_eq!(date.as_deref(), Some("2004-01-31T12:00:00Z"), "{kind:?}");
        }
        for kind in [RecordKind::Warc, RecordKind::Arc, RecordKind::TrecWeb] {
            assert_eq!(date_of(&kind, b"x"), None);
        }
        assert_eq!(date_of(&RecordKind::Json, b"{\"date"), None);
    }
}
