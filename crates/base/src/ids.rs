//! Types that all modules share: keys, fingerprint kinds and the exact threshold.

use std::cmp::Ordering;
use std::fmt;
use std::hash::Hash;
use std::str::FromStr;

use crate::keywords::{keywords, stored_as_text};

/// The key that a record is sorted by: an unsigned integer of 64 or 128 bits.
///
/// Fingerprints are keys (xxh3: `u64`, MD5: `u128`), and so are pairs of documents.
pub trait Key:
    Copy + Ord + Eq + Hash + Default + Send + Sync + fmt::Debug + fmt::LowerHex + 'static
{
    /// Bits in the key, 64 or 128.
    const BITS: u32;
    /// Bytes of the key on disk.
    const BYTES: usize;
    /// The largest key.
    const MAX: Self;
    /// The key as a number.
    fn to_u128(self) -> u128;
    /// The low bits of a number.
    fn from_u128(value: u128) -> Self;
    /// Appends the key, little-endian.
    fn put_le(self, out: &mut Vec<u8>);
    /// Reads a key, little-endian, from exactly [`Key::BYTES`] bytes.
    fn get_le(bytes: &[u8]) -> Self;
    /// The distance of the key above `least`, which is not greater, without the lowest `shift`
    /// bits.
    fn above(self, least: Self, shift: u32) -> usize;
    /// Counts the keys that two rising sequences, little-endian, have in common. `None` as soon as
    /// it is certain that there are fewer than `least`.
    fn shared_le(a: &[u8], b: &[u8], least: u64) -> Option<u64>;
    /// Counts the keys among the `n` smallest of the union of both sequences that both contain. The
    /// sequences are as for [`Key::shared_le`].
    fn shared_smallest_le(a: &[u8], b: &[u8], n: u64) -> u64;
}

/// Keys of two sets that are compared at once. With eight, sets that share nine of ten keys take a
/// quarter more time than key by key; with four, none does.
const BLOCK: usize = 4;

macro_rules! key {
    ($t:ty) => {
        impl Key for $t {
            const BITS: u32 = <$t>::BITS;
            const BYTES: usize = size_of::<$t>();
            const MAX: Self = <$t>::MAX;
            #[inline]
            fn to_u128(self) -> u128 {
                u128::from(self)
            }
            fn from_u128(value: u128) -> Self {
                value as $t
            }
            fn put_le(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn get_le(bytes: &[u8]) -> Self {
                let mut array = [0; size_of::<$t>()];
                array.copy_from_slice(bytes);
                <$t>::from_le_bytes(array)
            }
            #[inline]
            fn above(self, least: Self, shift: u32) -> usize {
                usize::try_from(self.wrapping_sub(least) >> shift).unwrap_or(usize::MAX)
            }
            fn shared_le(a: &[u8], b: &[u8], least: u64) -> Option<u64> {
                let (a, _) = a.as_chunks::<{ size_of::<$t>() }>();
                let (b, _) = b.as_chunks::<{ size_of::<$t>() }>();
                let key = |bytes: [u8; size_of::<$t>()]| <$t>::from_le_bytes(bytes);
                // The number of keys of each set that may be missing in the other.
                let spare = |length: usize| length.checked_sub(usize::try_from(least).ok()?);
                let (spare_a, spare_b) = (spare(a.len())?, spare(b.len())?);
                let (mut i, mut j, mut shared) = (0, 0, 0);
                while let (Some(x), Some(y)) = (a.get(i..i + BLOCK), b.get(j..j + BLOCK)) {
                    // Similar sets share long stretches.
                    let differing = (0..BLOCK).fold(0, |bits, n| bits | (key(x[n]) ^ key(y[n])));
                    if differing == 0 {
                        shared += BLOCK;
                        i += BLOCK;
                        j += BLOCK;
                        continue;
                    }
                    // Which key is less cannot be predicted, so these steps do not branch.
                    let (mut in_x, mut in_y) = (0, 0);
                    for _ in 0..BLOCK {
                        let (x, y) = (key(x[in_x]), key(y[in_y]));
                        shared += usize::from(x == y);
                        in_x += usize::from(x <= y);
                        in_y += usize::from(y <= x);
                    }
                    i += in_x;
                    j += in_y;
                    if i - shared > spare_a || j - shared > spare_b {
                        return None;
                    }
                }
                while let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) {
                    let (x, y) = (key(x), key(y));
                    shared += usize::from(x == y);
                    i += usize::from(x <= y);
                    j += usize::from(y <= x);
                }
                let shared = shared as u64;
                (shared >= least).then_some(shared)
            }
            fn shared_smallest_le(a: &[u8], b: &[u8], n: u64) -> u64 {
                let (a, _) = a.as_chunks::<{ size_of::<$t>() }>();
                let (b, _) = b.as_chunks::<{ size_of::<$t>() }>();
                let (mut i, mut j, mut shared) = (0, 0, 0);
                for _ in 0..n {
                    // No key after the end of one set is in both.
                    let (Some(x), Some(y)) = (a.get(i), b.get(j)) else {
                        break;
                    };
                    let (x, y) = (<$t>::from_le_bytes(*x), <$t>::from_le_bytes(*y));
                    shared += u64::from(x == y);
                    i += usize::from(x <= y);
                    j += usize::from(y <= x);
                }
                shared
            }
        }
    };
}
key!(u64);
key!(u128);

keywords! {
    /// How a shingle becomes a fingerprint.
    #[derive(Default)]
    pub enum FingerprintKind: "is not a fingerprint; use" {
        /// 64 bits of xxh3 with a seed.
        #[default]
        Xxh3 = "64",
        /// 128 bits of MD5, as Ye, Wen & Ma 2008, section 4.3, read as a big-endian number.
        Md5 = "md5",
    }
}

/// Evaluates an expression that names the type of the keys, by the kind of the fingerprints.
#[macro_export]
macro_rules! with_keys {
    ($kind:expr, $key:ident => $of_keys:expr) => {
        match $kind {
            $crate::ids::FingerprintKind::Xxh3 => {
                type $key = u64;
                $of_keys
            }
            $crate::ids::FingerprintKind::Md5 => {
                type $key = u128;
                $of_keys
            }
        }
    };
}

pub use with_keys;

/// A resemblance threshold as an exact fraction: 0.85 is 17/20. Above 0, at most 1.
///
/// No comparison uses floating point: a pair of sets reaches the threshold exactly when
/// [`Threshold::reached`] returns true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Threshold {
    numerator: u64,
    denominator: u64,
}

impl Default for Threshold {
    /// 0.85, as Ye, Wen & Ma 2008, section 5.
    fn default() -> Self {
        Threshold {
            numerator: 17,
            denominator: 20,
        }
    }
}

impl Threshold {
    /// The fraction, reduced; `None` unless 0 < numerator <= denominator <= 10^9.
    #[must_use]
    pub fn new(numerator: u64, denominator: u64) -> Option<Self> {
        if numerator == 0 || numerator > denominator || denominator > 1_000_000_000 {
            return None;
        }
        let (mut a, mut b) = (numerator, denominator);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Some(Threshold {
            numerator: numerator / a,
            denominator: denominator / a,
        })
    }

    /// Numerator of the reduced fraction.
    #[must_use]
    pub fn numerator(self) -> u64 {
        self.numerator
    }

    /// Denominator of the reduced fraction.
    #[must_use]
    pub fn denominator(self) -> u64 {
        self.denominator
    }

    /// The nearest number in floating point: for figures, never for a comparison.
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// Whether `shared / (a + b - shared)` is at or above the threshold. `shared` is at most `a`
    /// and `b`.
    ///
    /// Two empty sets have no resemblance and never reach the threshold.
    #[must_use]
    pub fn reached(self, shared: u64, a: u64, b: u64) -> bool {
        let union = u128::from(a) + u128::from(b) - u128::from(shared);
        union > 0
            && u128::from(shared) * u128::from(self.denominator)
                >= union * u128::from(self.numerator)
    }

    /// The smallest number of shared keys with which sets of these sizes reach the threshold:
    /// ceil(t (a + b) / (1 + t)). It may exceed the size of the smaller set.
    pub fn least_shared(self, a: u64, b: u64) -> u64 {
        if let Some(product) = (a + b).checked_mul(self.numerator) {
            return product.div_ceil(self.numerator + self.denominator);
        }
        let (p, q) = (u128::from(self.numerator), u128::from(self.denominator));
        ((u128::from(a) + u128::from(b)) * p).div_ceil(p + q) as u64
    }

    /// Length of the prefix of the prefix filter (Bayardo, Ma & Srikant 2007):
    /// `size - ceil(t size) + 1`. In any order that all sets use, every set that reaches the
    /// threshold with this one contains one of this number of its first keys. 0 for an empty set.
    #[must_use]
    pub fn prefix(self, size: u32) -> u32 {
        let least = (u64::from(size) * self.numerator).div_ceil(self.denominator) as u32;
        if size == 0 { 0 } else { size - least + 1 }
    }

    /// The largest set that can reach the threshold with one of `size` keys: floor(size / t).
    pub fn largest_partner(self, size: u32) -> u64 {
        u64::from(size) * self.denominator / self.numerator
    }
}

impl Ord for Threshold {
    fn cmp(&self, other: &Self) -> Ordering {
        // Neither product exceeds 10^18.
        let (left, right) = (
            self.numerator * other.denominator,
            other.numerator * self.denominator,
        );
        left.cmp(&right)
    }
}

impl PartialOrd for Threshold {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Threshold {
    /// As a decimal if the fraction is one (`0.85`), otherwise as a fraction (`2/3`).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut scale = 1u64;
        for digits in 0..=9usize {
            if scale.is_multiple_of(self.denominator) {
                let value = self.numerator * (scale / self.denominator);
                return if digits == 0 {
                    write!(f, "{value}")
                } else {
                    write!(f, "{}.{:0digits$}", value / scale, value % scale)
                };
            }
            scale *= 10;
        }
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (decimal, hundredths) = text.strip_suffix('%').map_or((text, 1), |text| (text, 100));
        let (whole, part) = decimal.split_once('.').unwrap_or((decimal, ""));
        let digits = [whole, part].concat().bytes().all(|b| b.is_ascii_digit());
        if digits && part.len() > 9 {
            return Err(format!(
                "`{text}` has too many digits; write at most 9 decimals"
            ));
        }
        let number = |digits: &str| match digits {
            "" => Some(0),
            digits => digits.parse::<u64>().ok(),
        };
        let fraction = match text.split_once('/') {
            Some((a, b)) => a.parse().ok().zip(b.parse().ok()),
            None if !digits || whole.len() + part.len() == 0 => None,
            None => {
                let scale = 10u64.pow(part.len() as u32);
                let whole = number(whole).and_then(|whole| whole.checked_mul(scale));
                let all = whole.zip(number(part));
                let all = all.and_then(|(whole, part)| whole.checked_add(part));
                all.zip(scale.checked_mul(hundredths))
            }
        };
        let threshold = fraction.and_then(|(a, b)| Threshold::new(a, b));
        threshold.ok_or_else(|| {
            format!("`{text}` is not a threshold; write 0.85 or 17/20, above 0, at most 1")
        })
    }
}

stored_as_text!(Threshold);

/// `shared / (a + b - shared)` with six decimals, `0.000000` for two empty sets. It is rounded half
/// up in integers, so every machine prints the same bytes.
pub fn resemblance_text(shared: u64, a: u64, b: u64) -> String {
    let union = u128::from(a) + u128::from(b) - u128::from(shared);
    if union == 0 {
        return "0.000000".into();
    }
    let doubled = u128::from(shared) * 2_000_000 + union;
    // Numbers of 64 bits are divided several times faster, and almost all numbers fit.
    let millionths = match (u64::try_from(doubled), u64::try_from(2 * union)) {
        (Ok(doubled), Ok(whole)) => doubled / whole,
        _ => (doubled / (2 * union)) as u64,
    };
    let mut text = (millionths / 1_000_000).to_string();
    text.push('.');
    let digit = |power| char::from(b'0' + (millionths / power % 10) as u8);
    text.extend([100_000, 10_000, 1000, 100, 10, 1].map(digit));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Random sets of keys of which a part is shared, for every bound, against sets of the library.
    fn shared_as_sets<K: Key + Ord + std::fmt::Debug>(random: &mut Random) {
        let size = random.below(40);
        let one_in = 1 + random.below(12);
        let (mut a, mut b) = (
            std::collections::BTreeSet::new(),
            std::collections::BTreeSet::new(),
        );
        for _ in 0..size {
            // Small numbers meet by chance; large ones fill all bytes.
            let wide = u128::from(random.below(60)) << (8 * random.below(15)) as u32;
            let key = K::from_u128(wide);
            match random.below(one_in) {
                0 => drop(a.insert(key)),
                1 => drop(b.insert(key)),
                _ => drop((a.insert(key), b.insert(key))),
            }
        }
        let bytes = |set: &std::collections::BTreeSet<K>| {
            let mut bytes = Vec::new();
            set.iter().for_each(|key| key.put_le(&mut bytes));
            bytes
        };
        let shared = a.intersection(&b).count() as u64;
        for least in 0..=size + 1 {
            let expected = (shared >= least).then_some(shared);
            let found = K::shared_le(&bytes(&a), &bytes(&b), least);
            assert_eq!(found, expected, "{least} of {a:?} and {b:?}");
        }
    }

    #[test]
    fn shared_keys_are_counted_as_by_sets() {
        let mut random = Random::new(5);
        for _ in 0..2_000 {
            shared_as_sets::<u64>(&mut random);
            shared_as_sets::<u128>(&mut random);
        }
    }

    #[test]
    fn thresholds_are_exact() {
        let t: Threshold = "0.85".parse().unwrap();
        assert_eq!((t.numerator(), t.denominator()), (17, 20));
        assert_eq!(t, "17/20".parse().unwrap());
        assert_eq!(t.to_string(), "0.85");
        assert_eq!("2/3".parse::<Threshold>().unwrap().to_string(), "2/3");
        assert_eq!("1".parse::<Threshold>().unwrap().to_string(), "1");
        assert_eq!(".5".parse::<Threshold>().unwrap().to_string(), "0.5");
        for text in [
            "0",
            "1.01",
            "-1",
            "x",
            "",
            ".",
            "1/0",
            "3/2",
            "0.1234567890",
            "1e-1",
            "+1",
        ] {
            assert!(text.parse::<Threshold>().is_err(), "{text}");
        }
        assert!(t.reached(17, 17, 20));
        assert!(!t.reached(16, 17, 20));
        assert!(!t.reached(0, 0, 0));
    }

    #[test]
    fn thresholds_are_ordered_exactly() {
        // The last three differ by less than the precision of a double, at the largest
        // denominators.
        let rising: Vec<Threshold> = ["1e-9", "0.1", "1/3", "0.5", "2/3", "0.85", "6/7"]
            .iter()
            .filter_map(|text| text.parse().ok())
            .chain([
                Threshold::new(999_999_997, 999_999_998).unwrap(),
                Threshold::new(999_999_998, 999_999_999).unwrap(),
                Threshold::new(999_999_999, 1_000_000_000).unwrap(),
                Threshold::new(1, 1).unwrap(),
            ])
            .collect();
        for (i, a) in rising.iter().enumerate() {
            for (j, b) in rising.iter().enumerate() {
                assert_eq!(a.cmp(b), i.cmp(&j), "{a} {b}");
            }
        }
    }

    #[test]
    fn least_shared_is_the_border() {
        for text in ["0.1", "0.3", "1/3", "0.5", "0.85", "1"] {
            let t: Threshold = text.parse().unwrap();
            for a in 0..40 {
                for b in 0..40 {
                    let least = t.least_shared(a, b);
                    for shared in 0..=a.min(b) {
                        let expected = shared >= least && a + b > 0;
                        assert_eq!(t.reached(shared, a, b), expected, "{text} {shared} {a} {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn resemblance_prints_rounded() {
        assert_eq!(resemblance_text(1, 2, 2), "0.333333");
        assert_eq!(resemblance_text(2, 2, 3), "0.666667");
        assert_eq!(resemblance_text(5, 5, 5), "1.000000");
        assert_eq!(resemblance_text(0, 0, 0), "0.000000");
    }
}
