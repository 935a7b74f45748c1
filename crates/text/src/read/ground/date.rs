//! The date of a capture or message, as its record states it.

/// Limit on the characters of a date in a form that is not known.
const CHARS: usize = 40;

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// A date in the usual form, or as it is.
pub fn usual_date(date: &str) -> String {
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
}
