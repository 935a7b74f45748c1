//! Values of Parquet as text: the digits that are in the file.

use chrono::{Datelike, NaiveDate};
use num_bigint::BigInt;

/// Bytes of the longest decimal that is written in digits; the conversion takes quadratic time.
/// The decimals of Arrow have at most 32.
pub(super) const LONGEST_DECIMAL: usize = 256;

/// A decimal: an integer in two's complement, big-endian, with `scale` digits behind the point.
pub fn decimal(bytes: &[u8], scale: i32) -> String {
    let mut text = BigInt::from_signed_bytes_be(bytes).to_string();
    let scale = usize::try_from(scale)
        .unwrap_or(0)
        .min(usize::from(u16::MAX));
    let sign = usize::from(text.starts_with('-'));
    let digits = text.len() - sign;
    if digits <= scale {
        text.insert_str(sign, &"0".repeat(scale + 1 - digits));
    }
    if scale > 0 {
        text.insert(text.len() - scale, '.');
    }
    text
}

/// A float as Python's JSON writes it, from the form `{:?}` of Rust, which has the same digits and
/// an exponent for the same numbers; `None` for NaN.
pub fn float(value: impl std::fmt::Debug) -> Option<String> {
    let written = format!("{value:?}");
    let (sign, size) = written.split_at(usize::from(written.starts_with('-')));
    Some(match (size, size.split_once('e')) {
        ("NaN", _) => return None,
        ("inf", _) => format!("{sign}Infinity"),
        (_, Some((digits, exponent))) => {
            format!("{sign}{digits}e{:+03}", exponent.parse::<i32>().ok()?)
        }
        (_, None) => written,
    })
}

/// A number of two bytes (IEEE 754): a sign, five bits of exponent and ten of fraction.
pub(super) fn half(bytes: &[u8]) -> Option<String> {
    let bits = u16::from_le_bytes(bytes.try_into().ok()?);
    let fraction = f32::from(bits & 0x3ff);
    let size = match bits >> 10 & 31 {
        0 => fraction * 2f32.powi(-24),
        31 if fraction > 0.0 => f32::NAN,
        31 => f32::INFINITY,
        exponent => (1024.0 + fraction) * 2f32.powi(i32::from(exponent) - 25),
    };
    float(if bits >> 15 == 1 { -size } else { size })
}

/// An interval, three numbers of four bytes, as in ISO 8601: `P1M2DT3.5S`.
pub(super) fn interval(bytes: &[u8]) -> Option<String> {
    let (numbers, []) = bytes.as_chunks::<4>() else {
        return None;
    };
    let &[months, days, millis] = numbers else {
        return None;
    };
    let [months, days, millis] = [months, days, millis].map(u32::from_le_bytes);
    Some(format!("P{months}M{days}DT{}S", f64::from(millis) / 1e3))
}

/// A day, counted from 1970, as `2004-01-31`. A year that has not four digits has a sign, as in
/// ISO 8601: `+12004-01-31`.
pub fn date(day: i64) -> String {
    /// Days of 400 years, after which the calendar repeats.
    const CYCLE: i64 = 146_097;
    let within = i32::try_from(day.rem_euclid(CYCLE)).ok();
    let date = within
        .and_then(NaiveDate::from_epoch_days)
        .unwrap_or_default();
    let year = i64::from(date.year()) + 400 * day.div_euclid(CYCLE);
    let rest = date.format("%m-%d");
    match year {
        0..=9999 => format!("{year:04}-{rest}"),
        _ => format!("{year:+05}-{rest}"),
    }
}

/// A time, counted from 1970 in `unit`s of a second, as `2004-01-31T12:00:00.5Z`, with the years of
/// [`date`].
pub fn timestamp(time: i64, unit: i64, utc: bool) -> String {
    let (second, part) = (time.div_euclid(unit), time.rem_euclid(unit));
    let date = date(second.div_euclid(86_400));
    let clock = second.rem_euclid(86_400);
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    let mut text = format!("{date}T{hour:02}:{minute:02}:{second:02}");
    if part > 0 {
        let digits = unit.ilog10() as usize;
        text += format!(".{part:0digits$}").trim_end_matches('0');
    }
    text + if utc { "Z" } else { "" }
}

/// A time of old writers: nanoseconds of a day, and the Julian day.
pub(super) fn int96(words: &[u32]) -> Option<String> {
    let &[low, high, day] = words else {
        return None;
    };
    const DAY: u64 = 86_400_000_000_000;
    let nanos = u64::from(high) << 32 | u64::from(low);
    let day = i64::from(day) - 2_440_588;
    let (day, nanos) = (day + (nanos / DAY) as i64, (nanos % DAY) as i64);
    let time = day
        .checked_mul(DAY as i64)
        .and_then(|time| time.checked_add(nanos));
    Some(match time {
        Some(time) => timestamp(time, 1_000_000_000, false),
        // Nanoseconds reach from 1677 to 2262.
        None => timestamp(day * 86_400_000 + nanos / 1_000_000, 1_000, false),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_have_their_digits() {
        for value in [
            0i128,
            1,
            -1,
            9,
            10,
            99_999,
            -123_456_789_012,
            i64::MAX.into(),
            i128::MIN,
            i128::MAX,
        ] {
            for scale in [0u32, 1, 2, 9, 20, 38, 45] {
                let plain = value.unsigned_abs().to_string();
                let scale = scale as usize;
                let digits = format!("{plain:0>width$}", width = scale + 1);
                let (whole, part) = digits.split_at(digits.len() - scale);
                let sign = if value < 0 { "-" } else { "" };
                let point = if scale > 0 { "." } else { "" };
                let expected = format!("{sign}{whole}{point}{part}");
                let bytes = value.to_be_bytes();
                assert_eq!(decimal(&bytes, scale as i32), expected);
                // The same number in more bytes, and in as few as it takes.
                let sign = if value < 0 { 0xff } else { 0 };
                let longer = [&[sign; 20][..], &bytes].concat();
                assert_eq!(decimal(&longer, scale as i32), expected);
                if let Ok(short) = i64::try_from(value) {
                    assert_eq!(decimal(&short.to_be_bytes(), scale as i32), expected);
                }
            }
        }
        assert_eq!(decimal(&[], 2), "0.00");
        assert_eq!(decimal(&[0x80], 0), "-128");
        let large = decimal(&[0x7f; LONGEST_DECIMAL], 3);
        assert_eq!(large.len(), 618);
    }

    #[test]
    fn floats_are_written_as_python_writes_them() {
        for (value, expected) in [
            (1.0, "1.0"),
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (-1.5, "-1.5"),
            (123.456, "123.456"),
            (100.0, "100.0"),
            (0.1, "0.1"),
            (0.0001, "0.0001"),
            (0.000_123, "0.000123"),
            (0.000_01, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (1e15, "1000000000000000.0"),
            (1_234_567_890_123_456.7, "1234567890123456.8"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (5e-324, "5e-324"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
        ] {
            assert_eq!(float(value).as_deref(), Some(expected));
        }
        for (value, expected) in [(0.1f32, "0.1"), (1e-4, "0.0001"), (1e16, "1e+16")] {
            assert_eq!(float(value).as_deref(), Some(expected));
        }
        assert_eq!(float(f64::NAN), None);
        assert_eq!(float(f64::NEG_INFINITY).as_deref(), Some("-Infinity"));
    }

    #[test]
    fn dates_and_times_are_those_of_the_calendar() {
        for (day, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (19_723, "2024-01-01"),
            (-719_528, "0000-01-01"),
            (2_932_896, "9999-12-31"),
            (2_932_897, "+10000-01-01"),
            (-719_529, "-0001-12-31"),
            (i32::MAX.into(), "+5881580-07-11"),
        ] {
            assert_eq!(date(day), expected);
        }
        assert_eq!(timestamp(0, 1_000, true), "1970-01-01T00:00:00Z");
        assert_eq!(
            timestamp(-1, 1_000_000, false),
            "1969-12-31T23:59:59.999999"
        );
        assert_eq!(timestamp(1_500, 1_000, true), "1970-01-01T00:00:01.5Z");
        assert_eq!(
            timestamp(i64::MAX, 1_000, true),
            "+292278994-08-17T07:12:55.807Z"
        );
        assert!(timestamp(i64::MIN, 1, true).starts_with("-292277022657-01-27T"));
        assert_eq!(
            int96(&[1, 0, 2_440_589]).as_deref(),
            Some("1970-01-02T00:00:00.000000001")
        );
        assert_eq!(
            int96(&[0, 0, 3_000_000]).as_deref(),
            Some("3501-08-15T00:00:00")
        );
        assert!(int96(&[u32::MAX, u32::MAX, u32::MAX]).is_some());
    }
}
