//! Measures of similarity between two documents, from the keys that they share, in exact
//! arithmetic.
//!
//! # Source
//! Resemblance and containment: Broder 1997, as in Ye, Wen & Ma 2008, section 3.2, and Cherkasova
//! et al. 2009, section 2. Scores S1 to S4: Bernstein & Zobel 2006, section 6.2. S4 weights each
//! shared shingle; the join computes it for the pairs that reach its bounds
//! (`lookalike_engine::join`). Cosine over sets: Kolcz & Chowdhury 2008, equation 2. The bounds of
//! the prefix join follow Bayardo, Ma & Srikant 2007, derived for each measure below.
//!
//! # Invariants
//! - A pair reaches the threshold exactly when [`Criterion::reached`] returns true. It compares
//!   integers.
//! - Every measure grows with the number of shared keys. `Criterion::least_shared`,
//!   [`Criterion::prefix`] and `Criterion::largest_partner` never exclude a pair that reaches the
//!   threshold (tested against all small cases).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::{Threshold, resemblance_text};
use crate::keywords::stored_as_text;

/// The measure that is compared with the threshold. In each formula, `shared` is the number of keys
/// that two sets of `a` and `b` keys have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Measure {
    /// shared / (a + b - shared).
    #[default]
    Resemblance,
    /// shared / min(a, b): the share of the smaller set that is in the other.
    Containment,
    /// shared / sqrt(a b).
    Cosine,
    /// shared / mean of a and b (Dice 1945).
    Dice,
    /// Bernstein & Zobel's S1: the number of shared keys, at least this number. The threshold does
    /// not apply.
    Shared(u32),
    /// Bernstein & Zobel's S2: shared / min of the lengths in words.
    S2,
    /// Bernstein & Zobel's S3: shared / mean of the lengths in words.
    S3,
    /// Bernstein & Zobel's S4: as S3, but a shared key that f sets contain counts 1 / f. This
    /// module has only its bounds, which assume f = 2. `lookalike_engine::join` computes the score
    /// of the pairs that reach them.
    S4,
    /// shared / n, for sets of n keys that each stand for their position (Sketch).
    Of(u32),
    /// The share of the n smallest keys of the union that both sets contain: Broder's estimate of
    /// resemblance from the n smallest keys of each set (Min). `a` and `b` are at most n.
    Smallest(u32),
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::Resemblance => f.write_str("resemblance"),
            Measure::Containment => f.write_str("containment"),
            Measure::Cosine => f.write_str("cosine"),
            Measure::Dice => f.write_str("dice"),
            Measure::Shared(least) => write!(f, "s1:{least}"),
            Measure::S2 => f.write_str("s2"),
            Measure::S3 => f.write_str("s3"),
            Measure::S4 => f.write_str("s4"),
            Measure::Of(n) => write!(f, "of:{n}"),
            Measure::Smallest(n) => write!(f, "smallest:{n}"),
        }
    }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a score; use resemblance, containment (or overlap), cosine, dice, s1:N \
                 (at least N shared), s2, s3 or s4"
            )
        };
        let (name, number) = match text.split_once(':') {
            Some((name, number)) => (name, Some(number)),
            None => (text, None),
        };
        let number = number
            .map(|n| n.parse::<u32>().ok().filter(|&n| n > 0).ok_or_else(wrong))
            .transpose()?;
        Ok(match (name, number) {
            ("resemblance", None) => Measure::Resemblance,
            // The overlap coefficient is the same score.
            ("containment" | "overlap", None) => Measure::Containment,
            ("cosine", None) => Measure::Cosine,
            ("dice", None) => Measure::Dice,
            ("s1", Some(least)) => Measure::Shared(least),
            ("s2", None) => Measure::S2,
            ("s3", None) => Measure::S3,
            ("s4", None) => Measure::S4,
            ("of", Some(n)) => Measure::Of(n),
            ("smallest", Some(n)) => Measure::Smallest(n),
            _ => return Err(wrong()),
        })
    }
}

stored_as_text!(Measure);

impl Measure {
    /// Whether it is resemblance. That is the default, which older manifests do not name.
    pub fn is_default(&self) -> bool {
        *self == Measure::Resemblance
    }

    /// Whether sizes are lengths in words instead of numbers of keys.
    pub fn of_words(self) -> bool {
        matches!(self, Measure::S2 | Measure::S3 | Measure::S4)
    }

    /// Name of the column in which the value is printed.
    #[must_use]
    pub fn column(self) -> &'static str {
        match self {
            Measure::Resemblance => "resemblance",
            _ => "score",
        }
    }

    /// The value; 0 if the denominator is 0.
    #[must_use]
    pub fn value(self, shared: u64, a: u64, b: u64) -> f64 {
        let (s, x, y) = (shared as f64, a as f64, b as f64);
        let whole = match self {
            Measure::Resemblance => x + y - s,
            Measure::Containment | Measure::S2 => x.min(y),
            Measure::Cosine => (x * y).sqrt(),
            Measure::Shared(_) => 1.0,
            Measure::Dice | Measure::S3 => (x + y) / 2.0,
            // `shared` is in units of 2^-32, as for `text`.
            Measure::S4 => 4_294_967_296.0,
            Measure::Of(n) => f64::from(n),
            Measure::Smallest(n) => f64::from(n).min(x + y - s),
        };
        if whole > 0.0 { s / whole } else { 0.0 }
    }

    /// The value with six decimals; a whole number for S1. S4 does not follow from the number of
    /// shared keys: for it, `shared` is the score in units of 2^-32.
    #[must_use]
    pub fn text(self, shared: u64, a: u64, b: u64) -> String {
        let of = |whole: u64| match whole {
            0 => "0.000000".into(),
            // Writes shared / whole as shared / (whole + shared - shared).
            _ => resemblance_text(shared, whole, shared),
        };
        match self {
            Measure::Resemblance => resemblance_text(shared, a, b),
            Measure::Containment | Measure::S2 => of(a.min(b)),
            Measure::Shared(_) => shared.to_string(),
            // IEEE 754 rounds division and square root exactly, so every machine prints the same
            // digits.
            Measure::Cosine if a > 0 && b > 0 => {
                format!("{:.6}", shared as f64 / (a as f64 * b as f64).sqrt())
            }
            Measure::Cosine => "0.000000".into(),
            Measure::Dice | Measure::S3 => match a + b {
                0 => "0.000000".into(),
                whole => resemblance_text(2 * shared, whole, 2 * shared),
            },
            Measure::S4 => {
                let millionths = (u128::from(shared) * 1_000_000 + (1 << 31)) >> 32;
                format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
            }
            Measure::Of(n) => of(n.into()),
            Measure::Smallest(n) => of(u64::from(n).min(a + b - shared)),
        }
    }
}

/// A measure and the threshold that a pair must reach.
///
/// Sizes are numbers of keys. With `Measure::of_words` they are lengths in words, and a set has
/// at most as many keys as its document has words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// The measure.
    pub measure: Measure,
    /// The threshold.
    pub threshold: Threshold,
}

impl Criterion {
    /// Whether every pair that reaches `other` reaches this.
    #[must_use]
    pub fn serves(self, other: Criterion) -> bool {
        self.measure == other.measure && self.threshold <= other.threshold
    }

    /// Whether two sets of these sizes with this number of shared keys reach the threshold.
    #[must_use]
    #[inline]
    pub fn reached(self, shared: u64, a: u64, b: u64) -> bool {
        let t = self.threshold;
        let (p, q) = (u128::from(t.numerator()), u128::from(t.denominator()));
        let (s, x, y) = (u128::from(shared), u128::from(a), u128::from(b));
        let share_of = |whole: u128| whole > 0 && s * q >= whole * p;
        match self.measure {
            Measure::Resemblance => t.reached(shared, a, b),
            Measure::Containment | Measure::S2 => share_of(x.min(y)),
            Measure::Cosine => x > 0 && y > 0 && (s * q).pow(2) >= x * y * p * p,
            Measure::Shared(least) => shared >= least.into(),
            Measure::Dice | Measure::S3 => x + y > 0 && 2 * s * q >= (x + y) * p,
            // A shared key counts 1/2 at most, because at least two sets contain it.
            Measure::S4 => share_of(x + y),
            Measure::Of(n) => share_of(n.into()),
            Measure::Smallest(n) => share_of(u128::from(n).min(x + y - s)),
        }
    }

    /// The smallest number of shared keys with which two sets of these sizes reach the threshold.
    /// For [`Measure::Smallest`] it is a lower bound, because not every shared key counts.
    #[inline]
    pub fn least_shared(self, a: u64, b: u64) -> u64 {
        let t = self.threshold;
        let (p, q) = (u128::from(t.numerator()), u128::from(t.denominator()));
        let both = (u128::from(a) + u128::from(b)) * p;
        match self.measure {
            Measure::Resemblance => t.least_shared(a, b),
            Measure::Containment | Measure::S2 => part(t, a.min(b)).max(1),
            Measure::Cosine => {
                // s q >= sqrt(a b) p. No overflow: 10^18 times 2^64 is below 2^124.
                let square = (u128::from(a) * u128::from(b) * p * p).div_ceil(q * q);
                let root = square.isqrt();
                (root + u128::from(root * root < square)).max(1) as u64
            }
            Measure::Shared(least) => least.into(),
            Measure::Dice | Measure::S3 => both.div_ceil(2 * q).max(1) as u64,
            Measure::S4 => both.div_ceil(q).max(1) as u64,
            Measure::Of(n) => part(t, n.into()),
            Measure::Smallest(_) => part(t, a.max(b)).max(1),
        }
    }

    /// Length of the prefix of a set: in any order that all sets use, every set that reaches the
    /// threshold with it contains one of this number of its first keys. It is `keys` minus the
    /// smallest number of keys that it can share with such a set, plus one. 0 if no set can reach
    /// the threshold with it.
    #[must_use]
    pub fn prefix(self, keys: u32, size: u32) -> u32 {
        let t = self.threshold;
        let (p, q) = (u128::from(t.numerator()), u128::from(t.denominator()));
        let least = match self.measure {
            Measure::Resemblance => return t.prefix(keys),
            // The other set may have only one key.
            Measure::Containment | Measure::S2 => 1,
            // The other set has at least the shared keys: s >= t sqrt(a s) if s >= t^2 a.
            Measure::Cosine => (u128::from(keys) * p * p).div_ceil(q * q) as u64,
            Measure::Shared(least) => least.into(),
            // As above: s >= t (a + s) / 2 if s >= t a / (2 - t). For Dice, the size is the keys.
            Measure::Dice | Measure::S3 => (u128::from(size) * p).div_ceil(2 * q - p) as u64,
            // s >= t (a + s) if s >= t a / (1 - t). Impossible with t = 1.
            Measure::S4 if p == q => return 0,
            Measure::S4 => (u128::from(size) * p).div_ceil(q - p) as u64,
            Measure::Of(n) => part(t, n.into()),
            Measure::Smallest(_) => part(t, keys.into()),
        };
        match u64::from(keys).checked_sub(least.max(1)) {
            Some(before) => before as u32 + 1,
            None => 0,
        }
    }

    /// The largest size of a set that can reach the threshold with one of `size`.
    pub fn largest_partner(self, size: u32) -> u64 {
        let t = self.threshold;
        let (p, q) = (u128::from(t.numerator()), u128::from(t.denominator()));
        let size_ = u128::from(size);
        match self.measure {
            Measure::Resemblance | Measure::Smallest(_) => t.largest_partner(size),
            Measure::Containment | Measure::S2 | Measure::Shared(_) | Measure::Of(_) => u64::MAX,
            // If all of it is shared: size^2 >= t^2 size b, and size >= t (size + b) / 2.
            Measure::Cosine => (size_ * q * q / (p * p)).min(u64::MAX.into()) as u64,
            Measure::Dice | Measure::S3 => (size_ * (2 * q - p) / p) as u64,
            // size >= t (size + b).
            Measure::S4 => (size_ * (q - p) / p) as u64,
        }
    }
}

/// ceil(t whole).
fn part(t: Threshold, whole: u64) -> u64 {
    let product = u128::from(whole) * u128::from(t.numerator());
    product.div_ceil(t.denominator().into()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEASURES: [&str; 13] = [
        "resemblance",
        "containment",
        "cosine",
        "dice",
        "s1:1",
        "s1:4",
        "s2",
        "s3",
        "s4",
        "of:5",
        "of:12",
        "smallest:9",
        "smallest:30",
    ];

    #[test]
    fn measures_read_and_print() {
        for text in MEASURES {
            let measure: Measure = text.parse().unwrap();
            assert_eq!(measure.to_string(), text);
            let json = serde_json::to_string(&measure).unwrap();
            assert_eq!(serde_json::from_str::<Measure>(&json).unwrap(), measure);
        }
        for text in [
            "", "dice:", "overlap:", "s1", "s1:0", "s1:-1", "s2:3", "s5", "of", "Cosine", "cosine:",
        ] {
            assert!(text.parse::<Measure>().is_err(), "{text}");
        }
    }

    /// The formulas of the papers in floating point, for values that are far from a threshold.
    fn value(measure: Measure, s: f64, a: f64, b: f64) -> f64 {
        match measure {
            Measure::Resemblance => s / (a + b - s),
            Measure::Containment | Measure::S2 => s / a.min(b),
            Measure::Cosine => s / (a * b).sqrt(),
            Measure::Shared(n) => s - f64::from(n) + 1.0,
            Measure::Dice | Measure::S3 => s / ((a + b) / 2.0),
            Measure::S4 => s / (a + b),
            Measure::Of(n) => s / f64::from(n),
            Measure::Smallest(n) => s / f64::from(n).min(a + b - s),
        }
    }

    #[test]
    fn overlap_is_the_containment_of_the_smaller_set() {
        assert_eq!("overlap".parse(), Ok(Measure::Containment));
    }

    /// Checks every bound against the definition, for all small sizes.
    #[test]
    fn bounds_exclude_no_pair() {
        for name in MEASURES {
            let measure: Measure = name.parse().unwrap();
            let most = match measure {
                Measure::Smallest(n) | Measure::Of(n) => u64::from(n).min(14),
                _ => 14,
            };
            for text in ["0.1", "1/3", "0.5", "0.6", "2/3", "0.85", "0.9", "1"] {
                let threshold: Threshold = text.parse().unwrap();
                let criterion = Criterion { measure, threshold };
                let t = threshold.numerator() as f64 / threshold.denominator() as f64;
                for (a, b) in (0..=most).flat_map(|a| (0..=most).map(move |b| (a, b))) {
                    let mut before = false;
                    for s in 0..=a.min(b) {
                        let reached = criterion.reached(s, a, b);
                        let v = value(measure, s as f64, a as f64, b as f64);
                        let border = match measure {
                            Measure::Shared(_) => 1.0,
                            _ => t,
                        };
                        if (v - border).abs() > 1e-9 {
                            assert_eq!(reached, v > border, "{name} {text} {s} {a} {b}");
                        }
                        assert!(!before || reached, "it rises: {name} {text} {s} {a} {b}");
                        before = reached;
                        let exact = !matches!(measure, Measure::Smallest(_)) && a > 0 && b > 0;
                        let enough = s >= criterion.least_shared(a, b);
                        assert!(
                            if exact {
                                reached == enough
                            } else {
                                !reached || enough
                            },
                            "least: {name} {text} {s} {a} {b}"
                        );
                        if !reached || s == 0 {
                            continue;
                        }
                        // If sizes are in words, a set has at most that number of keys.
                        let keys = if measure.of_words() { s..=a } else { a..=a };
                        for keys in keys {
                            let prefix = criterion.prefix(keys as u32, a as u32);
                            let least = keys - s + 1;
                            assert!(
                                u64::from(prefix) >= least,
                                "prefix: {name} {text} {s} {keys} {a} {b}"
                            );
                        }
                        assert!(
                            b <= criterion.largest_partner(a as u32),
                            "partner: {name} {text} {s} {a} {b}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn large_sizes_do_not_overflow() {
        let large = u64::from(u32::MAX);
        let fine: Threshold = "0.999999999".parse().unwrap();
        for name in MEASURES {
            let measure: Measure = name.parse().unwrap();
            let criterion = Criterion {
                measure,
                threshold: fine,
            };
            let _ = criterion.prefix(u32::MAX, u32::MAX);
            // S4 is at most 1/2 for sets of equal size.
            let half = measure == Measure::S4;
            assert_eq!(criterion.reached(large, large, large), !half, "{name}");
            assert_eq!(criterion.least_shared(large, large) <= large, !half);
            assert_eq!(criterion.largest_partner(u32::MAX) >= large, !half);
        }
    }

    #[test]
    fn values_print() {
        let text = |measure: &str, s, a, b| measure.parse::<Measure>().unwrap().text(s, a, b);
        assert_eq!(text("resemblance", 1, 2, 2), "0.333333");
        assert_eq!(text("containment", 1, 3, 2), "0.500000");
        assert_eq!(text("cosine", 9, 10, 10), "0.900000");
        assert_eq!(text("dice", 3, 8, 4), "0.500000");
        assert_eq!(text("overlap", 3, 8, 4), "0.750000");
        assert_eq!(text("s1:3", 9, 10, 10), "9");
        assert_eq!(text("s2", 3, 8, 4), "0.750000");
        assert_eq!(text("s3", 3, 8, 4), "0.500000");
        assert_eq!(text("s4", 1 << 31, 8, 4), "0.500000");
        assert_eq!(text("s4", (1 << 32) / 3, 8, 4), "0.333333");
        assert_eq!(text("of:100", 7, 100, 100), "0.070000");
        assert_eq!(text("smallest:10", 7, 10, 10), "0.700000");
        assert_eq!(text("smallest:10", 2, 4, 4), "0.333333");
        for measure in [
            "containment",
            "cosine",
            "dice",
            "s2",
            "s3",
            "s4",
            "smallest:3",
        ] {
            assert_eq!(text(measure, 0, 0, 0), "0.000000");
        }
    }
}
