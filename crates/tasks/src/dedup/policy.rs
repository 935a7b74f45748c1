//! The properties that make one document preferable to another.

use std::fmt;
use std::str::FromStr;

use globset::Glob;

use lookalike_base::{keywords, stored_as_text};
use lookalike_text::read::{moment, seconds};

/// One criterion of preference. The first of a list decides, the next ones break its ties, and the
/// order of the input breaks the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The document that comes first in the input.
    First,
    /// The document that comes last in the input.
    Last,
    /// The document with the most words.
    Longest,
    /// The document with the fewest words.
    Shortest,
    /// The greatest date in a field (RFC 3339, or a number); without a name, WARC-Date.
    Newest(Option<String>),
    /// The least date in a field; without a name, WARC-Date.
    Oldest(Option<String>),
    /// The greatest number or date in a field.
    Max(String),
    /// The least number or date in a field.
    Min(String),
    /// The first of these values that a field has.
    Prefer {
        /// The field.
        field: String,
        /// Its values, the preferred one first.
        values: Vec<String>,
    },
    /// The first of these globs that matches the name of the input file.
    PreferInput(Vec<Glob>),
}

impl Policy {
    /// The field that the policy reads from each record, if it reads one.
    pub fn field(&self) -> Option<&str> {
        match self {
            Policy::Newest(field) | Policy::Oldest(field) => {
                Some(field.as_deref().unwrap_or(WARC_DATE))
            }
            Policy::Max(field) | Policy::Min(field) | Policy::Prefer { field, .. } => Some(field),
            _ => None,
        }
    }
}

/// The field of dates of a WARC record.
const WARC_DATE: &str = "WARC-Date";

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dated = |f: &mut fmt::Formatter<'_>, name, field: &Option<String>| match field {
            None => f.write_str(name),
            Some(field) => write!(f, "{name}:{field}"),
        };
        match self {
            Policy::First => f.write_str("first"),
            Policy::Last => f.write_str("last"),
            Policy::Longest => f.write_str("longest"),
            Policy::Shortest => f.write_str("shortest"),
            Policy::Newest(field) => dated(f, "newest", field),
            Policy::Oldest(field) => dated(f, "oldest", field),
            Policy::Max(field) => write!(f, "max:{field}"),
            Policy::Min(field) => write!(f, "min:{field}"),
            Policy::Prefer { field, values } => write!(f, "prefer:{field}={}", values.join(",")),
            Policy::PreferInput(globs) => {
                let globs: Vec<&str> = globs.iter().map(Glob::glob).collect();
                write!(f, "prefer-input:{}", globs.join(","))
            }
        }
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let field = |rest: Option<&str>| match rest {
            Some(field) if !field.is_empty() => Ok(field.to_string()),
            _ => Err(format!("`{text}` names no field; use {name}:FIELD")),
        };
        let optional = |rest: Option<&str>| rest.map(|_| field(rest)).transpose();
        match (name, rest) {
            ("first", None) => Ok(Policy::First),
            ("last", None) => Ok(Policy::Last),
            ("longest", None) => Ok(Policy::Longest),
            ("shortest", None) => Ok(Policy::Shortest),
            ("newest", rest) => Ok(Policy::Newest(optional(rest)?)),
            ("oldest", rest) => Ok(Policy::Oldest(optional(rest)?)),
            ("max", rest) => Ok(Policy::Max(field(rest)?)),
            ("min", rest) => Ok(Policy::Min(field(rest)?)),
            ("prefer", Some(rest)) => match rest.split_once('=') {
                Some((name, values)) if !name.is_empty() && !values.is_empty() => {
                    Ok(Policy::Prefer {
                        field: name.into(),
                        values: values.split(',').map(Into::into).collect(),
                    })
                }
                _ => Err(format!(
                    "`{text}` is not a preference; use prefer:FIELD=VALUE,VALUE..."
                )),
            },
            ("prefer-input", Some(globs)) => globs
                .split(',')
                .map(|glob| Glob::new(glob).map_err(|error| error.to_string()))
                .collect::<Result<_, _>>()
                .map(Policy::PreferInput),
            _ => Err(format!(
                "`{text}` is not a policy; use first, last, longest, shortest, newest[:FIELD], \
                 oldest[:FIELD], max:FIELD, min:FIELD, prefer:FIELD=A,B or prefer-input:GLOB,GLOB"
            )),
        }
    }
}

stored_as_text!(Policy);

keywords! {
    /// Which documents of a group of duplicates are kept.
    #[derive(Default)]
    pub enum Rule: "is not a rule; use" {
        /// Each document that reaches the threshold with no kept document.
        #[default]
        Star = "star",
        /// The preferred document of each cluster.
        Cluster = "one-per-cluster" | "cluster",
        /// None of a cluster.
        None = "drop-clusters" | "none",
        /// All, so that only listed documents and those without words are removed.
        All = "keep-all" | "all",
    }
}

/// The order of a value of a field, the preferred value least; a document without a value comes
/// last. `None` if the policy cannot read the value.
pub fn preference(policy: &Policy, value: Option<&str>) -> Option<u128> {
    if let (Policy::Prefer { values, .. }, Some(value)) = (policy, value) {
        let read = |text: &str| number(text, false).filter(|_| plain(text));
        let equal = |wanted: &String| read(value).is_some_and(|value| Some(value) == read(wanted));
        let at = values.iter().position(|wanted| wanted == value);
        let at = at.or_else(|| values.iter().position(equal));
        return Some(at.map_or(MISSING, |at| at as u128));
    }
    let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) else {
        return Some(MISSING);
    };
    let date = || moment(value).map(|(seconds, rest)| key(seconds as f64, rest));
    let ascending = match policy {
        // A WARC-Date may be a year alone, which in another field would be a number.
        Policy::Newest(None) | Policy::Oldest(None) => date(),
        Policy::Newest(_) | Policy::Oldest(_) => number(value, true).or_else(date),
        Policy::Max(_) | Policy::Min(_) => number(value, false).or_else(date),
        _ => return Some(MISSING),
    };
    match policy {
        _ if value.eq_ignore_ascii_case("nan") => Some(MISSING),
        Policy::Newest(_) | Policy::Max(_) => ascending.map(|value| MISSING - 1 - value),
        _ => ascending,
    }
}

/// The place of documents without a value, behind all values.
const MISSING: u128 = u128::MAX;

/// Whether a text is a number in the usual spelling: `3` and `3.0` are, the code `03` is not.
fn plain(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    matches!(digits, [b'0'] | [b'0', b'.', ..] | [b'1'..=b'9', ..])
}

/// A number as an integer of the same order: the bits of the nearest number of 64 bits, and by how
/// much a large integer differs from it. With `epoch`, it is a date ([`seconds`]).
fn number(text: &str, epoch: bool) -> Option<u128> {
    /// From here on, not every integer is a number of 64 bits.
    const EXACT: f64 = (1_u64 << 53) as f64;
    let value: f64 = text.parse().ok().filter(|value: &f64| !value.is_nan())?;
    let scaled = if epoch { seconds(value)? } else { value };
    let unit = if scaled == value { 1.0 } else { 1000.0 };
    let exact = text.parse::<i128>().ok().filter(|_| value.abs() >= EXACT);
    let rest = exact.map_or(0, |exact| exact.saturating_sub((scaled * unit) as i128));
    Some(key(scaled, rest as i64))
}

/// A number in two parts as an integer of the same order.
fn key(value: f64, rest: i64) -> u128 {
    // Zero has one sign here.
    let bits = (value + 0.0).to_bits();
    let bits = if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    };
    u128::from(bits) << 64 | u128::from(rest.cast_unsigned() ^ (1 << 63))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_text::read::date;

    #[test]
    fn policies_read_what_they_print() {
        for text in [
            "first",
            "last",
            "longest",
            "shortest",
            "newest",
            "oldest:date",
            "newest:meta.date",
            "max:score",
            "min:n",
            "prefer:source=wiki,books",
            "prefer-input:*.jsonl,b/*",
        ] {
            assert_eq!(text.parse::<Policy>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "best",
            "max",
            "max:",
            "prefer:a",
            "prefer:=x",
            "first:a",
            "newest:",
        ] {
            assert!(text.parse::<Policy>().is_err(), "{text}");
        }
    }

    #[test]
    fn dates_have_the_order_of_time() {
        let rising = [
            "0000-01-01",
            "0000-03-01T00:00:00Z",
            "1969-12-31T23:59:59Z",
            "1970-01-01",
            "1970-01-01T00:00:00.0000001Z",
            "1970-01-01T00:00:01+00:00",
            "1999-12-31T23:59:60Z",
            "2000-02-29T12:00:00+13:00",
            "2000-02-29T00:00:00Z",
            "2000-02-29T12:00:00-01:30",
            "2000-03-01 00:00:00",
            "2012",
            "2012-02",
            "2012-02-03T10:11",
            "9999-12-31T23:59:59.999Z",
        ];
        let dates: Vec<u64> = rising.iter().map(|text| date(text).expect(text)).collect();
        assert!(dates.is_sorted_by(|a, b| a < b), "{dates:?}");
        let day = 86_400 * 10_000_000;
        assert_eq!(
            date("2001-01-01").unwrap() - date("2000-01-01").unwrap(),
            366 * day
        );
        assert_eq!(
            date("1901-01-01").unwrap() - date("1900-01-01").unwrap(),
            365 * day
        );
        for text in [
            "",
            "soon",
            "2012-13-01",
            "2012-01-01T25:00",
            "2012-01-01X",
            "20120101é",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn common_forms_of_dates_are_read() {
        let newest: Policy = "newest:d".parse().unwrap();
        let rank = |text: &str| preference(&newest, Some(text)).expect(text);
        for same in [
            &[
                "2024-01-02",
                "2024/01/02",
                "2024/1/2",
                "Jan 2, 2024",
                "January 02, 2024",
            ][..],
            &[
                "2 Jan 2024",
                "02 January 2024",
                "Tue, 2 Jan 2024 00:00:00 GMT",
            ],
            &[
                "Tue, 02 Jan 2024 01:00:00 +0100",
                "Tuesday, January 2, 2024",
            ],
            &[
                "Tue Jan 02 00:00:00 +0000 2024",
                "Jan 2, 2024 00:00",
                "2024/01/02 00:00:00",
            ],
            &["2024-01-02 00:00:00 UTC", "2024-01-02 01:00:00 +01:00"],
            &["1704153600", "1704153600000", "1704153600.0"],
            &["20240102", "20240102.0", "2.0240102E7", "20240102000000"],
            &["2-Jan-2024", "02-JAN-2024 00:00:00", "202401020000"],
        ] {
            for text in same {
                assert_eq!(rank(text), rank("2024-01-02T00:00:00Z"), "{text}");
            }
        }
        for (newer, older) in [
            (
                "2024-01-02T00:00:00.000000002",
                "2024-01-02T00:00:00.000000001Z",
            ),
            ("+10000-01-01", "9999-12-31T23:59:59.999999999"),
            ("+5881580-07-11", "+294247-01-10T04:00:54.775807"),
            ("0000-01-01", "-0001-12-31T23:59:59"),
            // A number of four or six digits is read as a year or a month, not as seconds.
            ("2024", "2023-12-31"),
            ("2024.0", "1971-01-01"),
            ("202405", "2024-04-30"),
            ("2024-01-02", "2024"),
            ("-0001-01-02", "-5877641-06-23"),
        ] {
            assert!(rank(newer) < rank(older), "{newer}");
        }
        let falling = [
            "1704153601",
            "2024-01-02T00:00:00.5Z",
            "1704153600000",
            "Jan 1, 2024",
        ];
        assert!(falling.map(rank).is_sorted());
    }

    #[test]
    fn numbers_keep_their_order_and_missing_values_come_last() {
        let rising = [
            "-Infinity",
            "-1e300",
            "-2",
            "-0.5",
            "0",
            "1e-300",
            "3",
            "3.50",
            "9007199254740991",
            "9007199254740992",
            "9007199254740993",
            "9223372036854775806",
            "9223372036854775807",
            "18446744073709551615",
            "1e300",
            "Infinity",
        ];
        let numbers: Vec<u128> = rising
            .iter()
            .map(|text| number(text, true).unwrap())
            .collect();
        assert!(numbers.is_sorted_by(|a, b| a < b));
        assert_eq!(number("-0", true), number("0", true));
        let (max, min): (Policy, Policy) = ("max:a".parse().unwrap(), "min:a".parse().unwrap());
        for policy in [&max, &min] {
            let missing = preference(policy, None);
            for value in ["nan", "NaN", ""] {
                assert_eq!(preference(policy, Some(value)), missing, "{value}");
            }
            for value in ["true", "soon", "01/02/2024", "2024-13-01"] {
                assert_eq!(preference(policy, Some(value)), None, "{value}");
            }
            let later = preference(policy, Some("2012-03-01T00:00:00Z"));
            let sooner = preference(policy, Some("2012-02-01"));
            assert_eq!(later < sooner, *policy == max);
            assert!(
                rising
                    .iter()
                    .all(|text| preference(policy, Some(text)) < missing)
            );
        }
        assert!(preference(&max, Some("2")) < preference(&max, Some("1")));
        assert!(preference(&min, Some("1")) < preference(&min, Some("2")));
        let newest: Policy = "newest".parse().unwrap();
        assert!(preference(&newest, Some("2013")) < preference(&newest, Some("2012-12-31")));
        let prefer: Policy = "prefer:a=x,y".parse().unwrap();
        assert!(preference(&prefer, Some("x")) < preference(&prefer, Some("y")));
        assert_eq!(preference(&prefer, Some("z")), Some(MISSING));
        let prefer: Policy = "prefer:a=3,1.50,02,-1,2".parse().unwrap();
        for (place, values) in (0..).zip([
            &["3", "3.0", "3e0"][..],
            &["1.5", "1.50", "15e-1"],
            &["02"],
            &["-1", "-1.0"],
            &["2", "2.00"],
        ]) {
            for value in values {
                assert_eq!(preference(&prefer, Some(value)), Some(place), "{value}");
            }
        }
        for value in ["03", "+3", "30", "1.51", "nan", "inf"] {
            assert_eq!(preference(&prefer, Some(value)), Some(MISSING), "{value}");
        }
        let prefer: Policy = "prefer:a=2024-10-27,4-clause".parse().unwrap();
        for value in ["2024-10-28", "3-clause", "2", "1e"] {
            assert_eq!(preference(&prefer, Some(value)), Some(MISSING), "{value}");
        }
    }
}
