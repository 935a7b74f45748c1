//! Sizes in bytes, as flags and messages write them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A number of bytes. Reads `67108864`, `64MiB`, `1.5GiB` and, for short, `64M` or `2G`, whose
/// units are powers of 1,024; and `64MB` or `2GB`, whose units are powers of 1,000. Case does not
/// matter.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ByteSize(pub u64);

const UNITS: [(&str, u32); 5] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10), ("B", 0)];

impl ByteSize {
    /// `n` mebibytes.
    #[must_use]
    pub const fn mib(n: u64) -> Self {
        ByteSize(n << 20)
    }

    /// Rounds up to a whole mebibyte, so that a limit printed in a message is enough when the user
    /// gives it.
    pub fn round_up(self) -> Self {
        ByteSize(self.0.div_ceil(1 << 20) << 20)
    }

    /// The exact size in the largest unit that divides it. Parsing the text gives the same size.
    #[must_use]
    pub fn exact(self) -> String {
        let divides = |shift: &u32| self.0 != 0 && self.0.is_multiple_of(1 << shift);
        let unit = UNITS.iter().find(|(_, shift)| divides(shift));
        unit.map_or("0B".into(), |(name, shift)| {
            format!("{}{name}", self.0 >> shift)
        })
    }

    /// As a buffer length; saturates if addresses have fewer than 64 bits.
    pub fn as_len(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl fmt::Display for ByteSize {
    /// Exact if a unit divides the size (`64MiB`), otherwise rounded to two decimals (`1.27GiB`).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, shift) in UNITS {
            let unit = 1u64 << shift;
            // A size that would round to 1024.00 of a unit is printed as 1.00 of the next.
            if self.0.saturating_add(unit / 1024 / 200) >= unit || shift == 0 {
                let text = match self.0.is_multiple_of(unit) {
                    true => format!("{}{name}", self.0 >> shift),
                    false => format!("{:.2}{name}", self.0 as f64 / unit as f64),
                };
                return f.pad(&text);
            }
        }
        Ok(())
    }
}

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let (number, unit) = (&text[..digits], text[digits..].trim());
        let (base, power) = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => (1, 0),
            "k" | "kib" => (1024, 1),
            "m" | "mib" => (1024, 2),
            "g" | "gib" => (1024, 3),
            "t" | "tib" => (1024, 4),
            "kb" => (1000, 1),
            "mb" => (1000, 2),
            "gb" => (1000, 3),
            "tb" => (1000, 4),
            _ => {
                return Err(format!(
                    "unknown unit `{unit}`; use KiB, MiB, GiB or TiB (powers of 1,024; K, M, G, T for \
                     short), kB, MB, GB or TB (powers of 1,000), or B"
                ));
            }
        };
        let unit = u64::pow(base, power);
        let wrong = || format!("`{text}` is not a size; write 64MiB, 2GB or a number of bytes");
        let bytes = if let Ok(whole) = number.parse::<u64>() {
            whole.checked_mul(unit)
        } else {
            let value: f64 = number.parse().map_err(|_| wrong())?;
            let bytes = value * unit as f64;
            (bytes.is_finite() && bytes < u64::MAX as f64).then_some(bytes as u64)
        };
        bytes
            .map(ByteSize)
            .ok_or_else(|| format!("`{text}` is more than 64 bits can count"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_and_print() {
        for (text, bytes) in [
            ("0", 0),
            ("17", 17),
            ("64MiB", 64 << 20),
            ("64m", 64 << 20),
            ("2G", 2 << 30),
            ("1.5GiB", 3 << 29),
            ("1 KiB", 1024),
            ("100MB", 100_000_000),
            ("100mb", 100_000_000),
            ("100MiB", 100 << 20),
            ("1.5kB", 1500),
            ("3KB", 3000),
            ("3k", 3 << 10),
            ("3K", 3 << 10),
            ("2GB", 2_000_000_000),
            ("1TB", 1_000_000_000_000),
            ("1t", 1 << 40),
            ("5b", 5),
        ] {
            assert_eq!(text.parse::<ByteSize>().unwrap(), ByteSize(bytes), "{text}");
        }
        for text in ["", "MiB", "64X", "-1", "1e3", "99999999999TiB", "1.2.3M"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
        assert_eq!(ByteSize(64 << 20).to_string(), "64MiB");
        assert_eq!(ByteSize((1 << 30) + (1 << 28)).to_string(), "1.25GiB");
        assert_eq!(ByteSize(0).to_string(), "0B");
        assert_eq!(ByteSize(92_123).to_string(), "89.96KiB");
        assert_eq!(ByteSize((1 << 20) - 1).to_string(), "1.00MiB");
        assert_eq!(ByteSize((1 << 20) - 6).to_string(), "1023.99KiB");
        assert_eq!(format!("{:>8}", ByteSize(17)), "     17B");
    }
}
