//! A sampling ratio 1/n and one of its n classes: a contiguous slice of all fingerprints.

use std::fmt;
use std::str::FromStr;

use crate::ids::Key;
use crate::keywords::stored_as_text;

/// One class of a sampling ratio 1/n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate {
    n: u32,
    class: u32,
}

impl Rate {
    /// Every fingerprint.
    pub const FULL: Rate = Rate { n: 1, class: 0 };

    /// Class `class` of ratio 1/`n`; `None` unless class < n.
    #[must_use]
    pub fn new(n: u32, class: u32) -> Option<Rate> {
        (class < n).then_some(Rate { n, class })
    }

    /// Whether it has every fingerprint.
    #[must_use]
    pub fn is_full(&self) -> bool {
        *self == Rate::FULL
    }

    /// The n of 1/n.
    #[must_use]
    pub fn n(self) -> u32 {
        self.n
    }

    /// Which of the n classes.
    #[must_use]
    pub fn class(self) -> u32 {
        self.class
    }

    /// Least and greatest fingerprint of the class: those h with floor(h n / 2^b) = class.
    #[must_use]
    pub fn bounds<K: Key>(self) -> (K, K) {
        let high = if self.class + 1 == self.n {
            K::MAX.to_u128()
        } else {
            start::<K>(self.class + 1, self.n) - 1
        };
        (
            K::from_u128(start::<K>(self.class, self.n)),
            K::from_u128(high),
        )
    }
}

/// The keys of a rising slice that are in `low..=high`.
pub fn within<K: Ord>(keys: &[K], (low, high): (K, K)) -> &[K] {
    let from = keys.partition_point(|key| *key < low);
    let to = keys.partition_point(|key| *key <= high);
    &keys[from..to.max(from)]
}

/// ceil(k 2^b / n) for k < n, without overflow for b = 128.
fn start<K: Key>(k: u32, n: u32) -> u128 {
    if k == 0 {
        return 0;
    }
    let (k, n) = (u128::from(k), u128::from(n));
    let (mut quotient, mut rest) = (K::MAX.to_u128() / n, K::MAX.to_u128() % n + 1);
    if rest == n {
        quotient += 1;
        rest = 0;
    }
    k * quotient + (k * rest).div_ceil(n)
}

impl Default for Rate {
    fn default() -> Self {
        Rate::FULL
    }
}

stored_as_text!(Rate);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rate { n: 1, .. } => f.write_str("full"),
            Rate { n, class: 0 } => write!(f, "1/{n}"),
            Rate { n, class } => write!(f, "1/{n}:{class}"),
        }
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "full" {
            return Ok(Rate::FULL);
        }
        let wrong = || {
            format!(
                "`{text}` is not a sampling; write full, 1/16, 1/16:3 (class 3 of 0 to 15) or broder97"
            )
        };
        let ratio = text.strip_prefix("1/").ok_or_else(wrong)?;
        let (n, class) = ratio.split_once(':').unwrap_or((ratio, "0"));
        let n: u32 = n.parse().map_err(|_| wrong())?;
        let class: u32 = class.parse().map_err(|_| wrong())?;
        if n == 0 || n > 1_000_000 {
            return Err(format!("`{text}`: the n of 1/n is 1 to 1000000"));
        }
        Rate::new(n, class).ok_or_else(|| format!("`{text}`: 1/{n} has the classes 0 to {}", n - 1))
    }
}
