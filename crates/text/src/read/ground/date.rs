//! The date of a capture or message, as its record states it, and dates in fields.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime};
use lookalike_base::words;

/// Limit on the characters of a date in a form that is not known.
const CHARS: usize = 40;

const MONTHS: [&str; 12] = words("jan feb mar apr may jun jul aug sep oct nov dec");

/// A date in the usual form, or as it is.
pub fn usual_date(date: &str) -> String {
    let as_it_is = || date.chars().take(CHARS).collect();
    digits(date)
        .or_else(|| named_month(date))
        .unwrap_or_else(as_it_is)
}

/// Reads `20040131120000`, `20040131`, and the minutes of early archives (`199701311200`), of which
/// it returns the day. Any other number is a count of seconds or milliseconds.
fn digits(date: &str) -> Option<String> {
    if !matches!(date.len(), 8 | 12 | 14) || !date.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize| date.get(from..from + 2).unwrap_or("00");
    let is_minute = ("1990".."2200").contains(&date.get(..4)?) && part(8) < "24" && part(10) < "60";
    if date.len() == 12 && !is_minute {
        return None;
    }
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
fn named_month(stated: &str) -> Option<String> {
    let mut words = stated
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
    let time = words.next();
    let zoned = time.and_then(|time| {
        let (_, zone) = stated.split_once(time)?;
        let name = MONTHS[month - 1];
        let usual = format!("{day} {name} {year} {time}{zone}");
        Some(DateTime::parse_from_rfc2822(&usual).ok()?.to_utc())
    });
    if let Some(utc) = zoned.filter(|utc| (1000..=9999).contains(&utc.year())) {
        return Some(utc.format("%Y-%m-%dT%H:%M:%SZ").to_string());
    }
    let time = time.and_then(|time| time.get(..8));
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

/// A date in seconds since 1970, and the nanoseconds after them: either a date that [`date`] reads,
/// or a date of RFC 2822, or in another common form in which the month cannot be mistaken for the
/// day.
pub fn moment(text: &str) -> Option<(i64, i64)> {
    let day = text.get(..10).unwrap_or_default();
    let is_day = day.as_bytes().get(4) == Some(&b'-') && day.as_bytes().get(7) == Some(&b'-');
    // A record may be dated 30 February, but nobody wrote it then.
    if is_day && NaiveDate::parse_from_str(day, "%Y-%m-%d").is_err() {
        return None;
    }
    if let Some(usual) = digits(text) {
        return moment(&usual);
    }
    if let Some(moment) = expanded(text).or_else(|| instant(text)) {
        return Some(moment);
    }
    let zoned = DateTime::parse_from_rfc2822(text)
        .or_else(|_| DateTime::parse_from_str(text, "%A %B %d %H:%M:%S %z %Y"));
    let days = [
        "%Y-%m-%d",
        "%Y/%m/%d",
        "%B %d, %Y",
        "%d %B %Y",
        "%d-%B-%Y",
        "%A, %B %d, %Y",
        "%A, %d %B %Y",
    ];
    let mut naive = days.iter().filter_map(|day| {
        let clock = |clock| NaiveDateTime::parse_from_str(text, &format!("{day} {clock}"));
        let midnight = NaiveDate::parse_from_str(text, day).map(|day| day.and_time(NaiveTime::MIN));
        midnight
            .or_else(|_| clock("%H:%M:%S%.f"))
            .or_else(|_| clock("%H:%M"))
            .ok()
    });
    let seconds = match zoned {
        Ok(zoned) => zoned.timestamp(),
        Err(_) => naive.next()?.and_utc().timestamp(),
    };
    Some((seconds, 0))
}

/// Reads a number as a date, in seconds since 1970. Four digits that are a year from 1000 to 2199, or
/// 9999, are its first day, and eight that begin with one are a day (`None` if the calendar lacks
/// that day). Six are a month, twelve a minute and fourteen a second, if there is such a one. Other
/// numbers count seconds, from 10^11 on milliseconds, from 10^14 on microseconds, and from 10^17 on
/// nanoseconds.
pub fn seconds(number: f64) -> Option<f64> {
    /// Where a unit begins, and its parts of a second. 10^11 seconds are the year 5138, and 10^11
    /// milliseconds 1973.
    const UNITS: [(f64, f64); 3] = [(1e17, 1e9), (1e14, 1e6), (1e11, 1e3)];
    let is_year = |year: f64| (1000.0..2200.0).contains(&year) || year.trunc() == 9999.0;
    let years = |unit: f64| number.fract() == 0.0 && is_year(number / unit);
    let written = |text: &str| moment(text).map(|(seconds, _)| seconds as f64);
    if years(1.0) || years(1e4) {
        return written(&number.to_string());
    }
    let unit = UNITS.iter().find(|unit| number.abs() >= unit.0);
    let stated = match () {
        () if years(1e2) => written(&format!("{}-{:02}", (number / 1e2).trunc(), number % 1e2)),
        () if years(1e8) || years(1e10) => written(&number.to_string()),
        () => None,
    };
    stated.or(Some(number / unit.map_or(1.0, |unit| unit.1)))
}

/// Seconds from 1 March of the year -400 to 1970.
const YEAR_400: i64 = (719_468 + 146_097) * 86_400;

/// The day of what [`date`] gives, in UTC: `2004-01-31`.
pub fn day(date: u64) -> Option<String> {
    let date = DateTime::from_timestamp((date / 10_000_000) as i64 - YEAR_400, 0)?;
    Some(date.date_naive().to_string())
}

/// A date in a field: a number as [`seconds`] reads it, whatever its spelling, unless it is a year of
/// up to four digits, or a text as [`moment`] does. The unit is that of [`date`].
pub fn stated_date(text: &str) -> Option<u64> {
    let is_year = text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    let second = match text.parse() {
        Ok(number) if !is_year && f64::is_finite(number) => seconds(number)? as i64,
        _ => moment(text)?.0,
    };
    u64::try_from(second.checked_add(YEAR_400)?.checked_mul(10_000_000)?).ok()
}

/// A date of RFC 3339, or of WARC 1.0 and 1.1 (with fewer or more digits), in units of 100 ns
/// since the year -400. A date without a zone is in UTC.
pub fn date(text: &str) -> Option<u64> {
    let (seconds, nanoseconds) = instant(text)?;
    u64::try_from((seconds + YEAR_400) * 10_000_000 + nanoseconds / 100).ok()
}

/// A date with a signed year, as ISO 8601 writes years of more than four digits. The calendar
/// repeats after 400 years.
fn expanded(text: &str) -> Option<(i64, i64)> {
    let digits = text.strip_prefix(['+', '-'])?;
    let (year, rest) = digits.split_at_checked(digits.find('-')?)?;
    let year: i64 = text.get(..=year.len())?.parse().ok()?;
    let year = year
        .checked_sub(2000)
        .filter(|_| digits.len() - rest.len() >= 4)?;
    let (seconds, nanoseconds) = instant(&format!("{}{rest}", 2000 + year.rem_euclid(400)))?;
    let cycles = year.div_euclid(400).checked_mul(146_097 * 86_400)?;
    Some((seconds.checked_add(cycles)?, nanoseconds))
}

/// A date as [`date`] reads it, in seconds since 1970 and nanoseconds.
fn instant(text: &str) -> Option<(i64, i64)> {
    let text = text.trim();
    let digits = |range: std::ops::Range<usize>| -> Option<i64> {
        let part = text.get(range)?;
        part.bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| part.parse().ok())?
    };
    let at = |place: usize| text.as_bytes().get(place).copied();
    let (year, month, day) = match (at(4), at(7)) {
        (Some(b'-'), Some(b'-')) => (digits(0..4)?, digits(5..7)?, digits(8..10)?),
        (Some(b'-'), None) => (digits(0..4)?, digits(5..7)?, 1),
        (None, _) => (digits(0..4)?, 1, 1),
        _ => return None,
    };
    // Days that a month does not have continue in the next one.
    let month = NaiveDate::from_ymd_opt(year as i32, month as u32, 1)?;
    if !(1..=31).contains(&day) {
        return None;
    }
    let mut seconds = (i64::from(month.to_epoch_days()) + day - 1) * 86_400;
    let mut fraction = 0;
    if let Some(rest) = text.get(10..).filter(|rest| !rest.is_empty()) {
        let mut rest = rest.strip_prefix(['T', 't', ' '])?;
        let mut clock = [0; 3];
        for (place, part) in clock.iter_mut().enumerate() {
            if place > 0 {
                match rest.strip_prefix(':') {
                    Some(after) => rest = after,
                    None => break,
                }
            }
            *part = rest.get(..2)?.parse::<u32>().ok()?.into();
            rest = &rest[2..];
        }
        let [hour, minute, second] = clock;
        // A second may be the 61st of its minute.
        if hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        seconds += hour * 3600 + minute * 60 + second;
        if let Some(after) = rest.strip_prefix('.') {
            let length = after.bytes().take_while(u8::is_ascii_digit).count();
            let digits = format!("{:0<9}", &after[..length.min(9)]);
            fraction = digits.parse::<i64>().ok()?;
            rest = &after[length..];
        }
        seconds -= zone(rest)?;
    }
    Some((seconds, fraction))
}

/// The offset of a zone in seconds.
fn zone(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let (sign, rest) = match text.as_bytes() {
        [] | [b'Z' | b'z'] | b"UTC" | b"GMT" => return Some(0),
        [b'+', ..] => (1, &text[1..]),
        [b'-', ..] => (-1, &text[1..]),
        _ => return None,
    };
    let (hours, minutes) = match rest.split_once(':') {
        Some(parts) => parts,
        None => rest.split_at_checked(2)?,
    };
    let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 24 && minutes < 60).then(|| sign * i64::from(hours * 3600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_one_form() {
        for (date, expected) in [
            ("20040131120059", "2004-01-31T12:00:59Z"),
            ("20040131", "2004-01-31"),
            ("199701312359", "1997-01-31"),
            ("199701312460", "199701312460"),
            ("170004024900", "170004024900"),
            ("1700040249", "1700040249"),
            ("1700070835000", "1700070835000"),
            ("20049931", "20049931"),
            ("2004-01-31T12:00:00Z", "2004-01-31T12:00:00Z"),
            ("Sat, 31 Jan 2004 12:00:00 GMT", "2004-01-31T12:00:00Z"),
            ("Mon, 31 Jan 2004 01:00:00 +0900", "2004-01-30T16:00:00Z"),
            ("31 Jan 2004 23:30 EST (winter)", "2004-02-01T04:30:00Z"),
            ("31 January 2004 12:00:00 -0500", "2004-01-31T17:00:00Z"),
            ("31-Jan-2004 12:00:00 +0100", "2004-01-31T11:00:00Z"),
            ("31 Dec 9999 23:30:00 -0500", "9999-12-31T23:30:00Z"),
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
    fn dates_in_fields_are_days() {
        for (text, expected) in [
            ("1312112000", Some("2011-07-31")),
            ("1312112000000", Some("2011-07-31")),
            ("20110731", Some("2011-07-31")),
            ("18710304", Some("1871-03-04")),
            ("18710304120000", Some("1871-03-04")),
            ("16230231", None),
            ("99991231", Some("9999-12-31")),
            ("22001231", Some("1970-09-12")),
            ("202405", Some("2024-05-01")),
            ("202413", Some("1970-01-03")),
            ("199701312359", Some("1997-01-31")),
            ("199701312460", Some("1976-04-30")),
            ("2024.0", Some("2024-01-01")),
            ("1871/03/04", Some("1871-03-04")),
            ("March 4, 1871", Some("1871-03-04")),
            ("1871", Some("1871-01-01")),
            ("Sat, 31 Jan 2004 12:00:00 GMT", Some("2004-01-31")),
            ("yesterday", None),
            ("1e300", None),
            // A number is one, whatever its spelling.
            ("1e9", Some("2001-09-09")),
            ("1000000000", Some("2001-09-09")),
            ("1e12", Some("2001-09-09")),
            ("-1e5", Some("1969-12-30")),
            ("-100000", Some("1969-12-30")),
            ("-999", Some("1969-12-31")),
            ("0999", Some("0999-01-01")),
        ] {
            let found = stated_date(text).and_then(day);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
