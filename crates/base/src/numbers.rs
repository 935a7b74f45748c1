//! Formats numbers for people: counts with nouns, and shares.

use chrono::DateTime;

/// A number with thousands separators.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Appends a number in decimal, as `to_string` writes it. Result files have several in each of
/// millions of lines, and the formatting of the standard library takes most of the time to write
/// those.
pub fn push_decimal(out: &mut String, n: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut left = n;
    while at == digits.len() || left > 0 {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    out.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
}

/// Whether a number is not worth a place in a stored record.
pub fn is_zero<N: Default + PartialEq>(n: &N) -> bool {
    *n == N::default()
}

/// A number with what it counts: `1 file`, `2,000 files`, `3 copies`.
#[must_use]
pub fn counted(n: u64, noun: &str) -> String {
    let plural = match noun.strip_suffix('y') {
        _ if n == 1 => noun.into(),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if noun.ends_with(['s', 'x']) || noun.ends_with("ch") => format!("{noun}es"),
        _ => format!("{noun}s"),
    };
    format!("{} {plural}", count(n))
}

/// A share from 0 to 1 as a percentage with this number of decimals: `99.5 %`.
///
/// Only exactly 1 is printed as `100 %` and only exactly 0 as `0 %`. Other shares that would round
/// to them are printed as `>99.9 %` or `<0.1 %`.
#[must_use]
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{} %", ends(share, 100.0, decimals))
}

/// A share from 0 to 1 with this number of decimals. Like [`percent`], it does not round to 0 or 1:
/// `>0.9999`.
#[must_use]
pub fn fraction(share: f64, decimals: usize) -> String {
    ends(share, 1.0, decimals)
}

/// A part of a whole in per cent with one decimal; `None` if the whole is 0.
#[must_use]
pub fn share(part: u64, whole: u64) -> Option<String> {
    (whole > 0).then(|| percent(part as f64 / whole as f64, 1))
}

/// A day in UTC as people write it: `31 January 2004`.
#[must_use]
pub fn date(seconds_since_1970: u64) -> String {
    let seconds = i64::try_from(seconds_since_1970).unwrap_or(i64::MAX);
    let time = DateTime::from_timestamp(seconds, 0);
    time.map_or_else(String::new, |time| time.format("%-d %B %Y").to_string())
}

fn ends(share: f64, whole: f64, decimals: usize) -> String {
    let text = |value: f64| format!("{value:.decimals$}");
    let least = 0.1f64.powi(i32::try_from(decimals).unwrap_or(0));
    let told = text(share * whole);
    if share > 0.0 && told == text(0.0) {
        format!("<{}", text(least))
    } else if share < 1.0 && told == text(whole) {
        format!(">{}", text(whole - least))
    } else if share == 0.0 {
        // Not -0.0, which is the sum of no numbers.
        text(0.0)
    } else {
        told
    }
}

/// Adds these counters of a value to those of another: `add!(all, part => pairs, bytes)`.
#[macro_export]
macro_rules! add {
    ($to:expr, $more:expr => $($counter:ident),+) => {
        $($to.$counter += $more.$counter;)+
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appended_numbers_are_those_of_the_standard_library() {
        let powers = (0..20).map(|n| 10u64.pow(n));
        let near = powers.flat_map(|power| [power - 1, power, power + 1]);
        for n in near.chain([0, 7, u64::from(u32::MAX), u64::MAX]) {
            let mut text = String::from("a");
            push_decimal(&mut text, n);
            assert_eq!(text, format!("a{n}"));
        }
    }

    #[test]
    fn counts_have_nouns() {
        assert_eq!(count(1_234_567), "1,234,567");
        for (n, noun, told) in [
            (0, "file", "0 files"),
            (1, "file", "1 file"),
            (2000, "document", "2,000 documents"),
            (1, "copy", "1 copy"),
            (2, "copy", "2 copies"),
            (2, "key", "2 keys"),
            (2, "class", "2 classes"),
            (2, "batch", "2 batches"),
        ] {
            assert_eq!(counted(n, noun), told);
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        // By date(1) of GNU coreutils.
        for (seconds, day) in [
            (0, "1 January 1970"),
            (951_782_400, "29 February 2000"),
            (951_868_799, "29 February 2000"),
            (951_868_800, "1 March 2000"),
            (1_798_675_199, "30 December 2026"),
            (1_798_761_599, "31 December 2026"),
            (4_107_542_400, "1 March 2100"),
            (13_574_563_200, "29 February 2400"),
        ] {
            assert_eq!(date(seconds), day);
        }
    }

    #[test]
    fn only_all_is_100_percent_and_only_nothing_0() {
        for (part, whole, told) in [
            (0, 7, "0.0 %"),
            (7, 7, "100.0 %"),
            (201, 202, "99.5 %"),
            (1998, 2000, "99.9 %"),
            (1999, 2000, ">99.9 %"),
            (9999, 10_000, ">99.9 %"),
            (1, 10_000, "<0.1 %"),
            (1, 1000, "0.1 %"),
        ] {
            assert_eq!(share(part, whole).unwrap(), told, "{part} of {whole}");
        }
        assert_eq!(share(0, 0), None);
        assert_eq!(percent(-0.0, 2), "0.00 %");
        assert_eq!(percent(0.996, 0), ">99 %");
        assert_eq!(fraction(0.99997, 4), ">0.9999");
        assert_eq!(fraction(1.0, 4), "1.0000");
        assert_eq!(fraction(0.00001, 4), "<0.0001");
    }
}
