//! Shingles that count for no document, from a template, a licence or an assignment.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use lookalike_base::Key;
use lookalike_store::{digest_bits, digest_text};

/// The most shingles that can be excluded. They are part of the parameters of a collection, which
/// are in memory and in its manifest.
pub const MOST_EXCLUDED: usize = 1 << 18;

/// Bytes of memory for a shingle: its fingerprint, and its digits in the manifest.
const BYTES: u64 = 96;

/// The shingles of texts that count for no document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excluded {
    /// Digest of the shingles.
    pub digest: String,
    /// The documents that they come from.
    pub texts: u64,
    /// Number of distinct shingles.
    pub shingles: u64,
    /// Their fingerprints, sorted. Summaries leave them out.
    #[serde(default, skip_serializing_if = "Keys::is_empty")]
    keys: Keys,
}

impl Excluded {
    /// The distinct fingerprints of a number of texts, sorted.
    pub fn new(keys: &[u128], texts: u64) -> Excluded {
        let bytes: Vec<_> = keys.iter().map(|key| key.to_le_bytes()).collect();
        Excluded {
            digest: digest_text(digest_bits(bytes.as_flattened())),
            texts,
            shingles: keys.len() as u64,
            keys: Keys(keys.into()),
        }
    }

    /// Describes the excluded texts, for messages.
    pub fn text_of(excluded: Option<&Excluded>) -> String {
        match excluded {
            Some(excluded) => format!("texts with the digest {}", excluded.digest),
            None => "none".into(),
        }
    }

    /// The same without the fingerprints, for summaries.
    pub fn named(&self) -> Excluded {
        Excluded {
            keys: Keys::default(),
            ..self.clone()
        }
    }

    /// Whether it has its fingerprints, which summaries leave out.
    pub fn is_whole(&self) -> bool {
        self.keys.0.len() as u64 == self.shingles
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> u64 {
        self.shingles * BYTES
    }

    /// Whether a shingle has this fingerprint.
    pub fn has(&self, key: u128) -> bool {
        self.keys.0.binary_search(&key).is_ok()
    }

    /// Removes these shingles from a sorted set.
    pub(super) fn remove_from<K: Key>(&self, set: &mut Vec<K>) {
        let mut left = &self.keys.0[..];
        set.retain(|key| {
            let key = key.to_u128();
            let smaller = left.partition_point(|excluded| *excluded < key);
            left = left.get(smaller..).unwrap_or_default();
            left.first() != Some(&key)
        });
    }
}

/// Sorted fingerprints, stored as digits of one width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Keys(Arc<[u128]>);

impl Keys {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Keys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_wide = self.0.last().is_some_and(|&last| last > u64::MAX.into());
        let width = if is_wide { 32 } else { 16 };
        let digits: String = (self.0.iter())
            .map(|key| format!("{key:0width$x}"))
            .collect();
        // All keys are as wide as the last one, which is the largest.
        serializer.collect_str(&format_args!("{width}:{digits}"))
    }
}

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || D::Error::custom("excluded shingles are not sorted fingerprints");
        let (width, digits) = text.split_once(':').ok_or_else(wrong)?;
        let width: usize = width.parse().map_err(|_| wrong())?;
        if ![16, 32].contains(&width) || digits.len() % width > 0 || !digits.is_ascii() {
            return Err(wrong());
        }
        let keys = digits.as_bytes().chunks_exact(width).map(|digits| {
            let digits = std::str::from_utf8(digits).map_err(|_| wrong())?;
            u128::from_str_radix(digits, 16).map_err(|_| wrong())
        });
        let keys: Arc<[u128]> = keys.collect::<Result<_, _>>()?;
        match keys.is_sorted() {
            true => Ok(Keys(keys)),
            false => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shingles_are_removed_from_sets_and_stored() {
        for excluded in [
            vec![],
            vec![3u128, 5, 9, 1 << 40],
            vec![0, 7, u128::MAX - 1],
        ] {
            let excluded = Excluded::new(&excluded, 2);
            let json = serde_json::to_string(&excluded).unwrap();
            let read: Excluded = serde_json::from_str(&json).unwrap();
            assert_eq!((&read, read.is_whole()), (&excluded, true));
            let named = serde_json::to_string(&excluded.named()).unwrap();
            assert!(!named.contains("keys"), "{named}");
            for set in [vec![], vec![0u64, 1, 3, 4, 9, 10, 1 << 40], vec![5, 7]] {
                let mut found = set.clone();
                excluded.remove_from(&mut found);
                let left = |key: &u64| !excluded.keys.0.contains(&u128::from(*key));
                let expected: Vec<u64> = set.into_iter().filter(left).collect();
                assert_eq!(found, expected);
            }
        }
        for wrong in ["16:00", "8:00000000", "16:zz00000000000000", "x"] {
            let json = format!(r#"{{"digest":"","texts":1,"shingles":1,"keys":"{wrong}"}}"#);
            assert!(serde_json::from_str::<Excluded>(&json).is_err(), "{wrong}");
        }
    }
}
