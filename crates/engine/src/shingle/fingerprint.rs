//! The hash of a shingle.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::md5_lanes::{Md5Lanes, digest};
use lookalike_base::Key;

/// Maps the bytes of a shingle to a key.
pub trait Fingerprinter {
    /// The fingerprint.
    type Fingerprint: Key;

    /// The fingerprint of a shingle: tokens joined by one space, or a window of bytes.
    fn fingerprint(&mut self, shingle: &[u8]) -> Self::Fingerprint;

    /// Passes the fingerprint of each shingle, a stretch of `text`, to `found`, in any order but
    /// before it returns. A stretch that is not inside `text` counts as empty.
    #[inline]
    fn fingerprints(
        &mut self,
        text: &[u8],
        shingles: impl Iterator<Item = Range<usize>>,
        mut found: impl FnMut(Self::Fingerprint),
    ) {
        for shingle in shingles {
            found(self.fingerprint(text.get(shingle).unwrap_or_default()));
        }
    }
}

/// 64 bits of xxh3.
#[derive(Clone, Copy, Debug)]
pub struct Xxh3Fingerprinter {
    /// The seed, as in the manifest.
    pub seed: u64,
}

impl Fingerprinter for Xxh3Fingerprinter {
    type Fingerprint = u64;

    #[inline]
    fn fingerprint(&mut self, shingle: &[u8]) -> u64 {
        xxh3_64_with_seed(shingle, self.seed)
    }
}

/// MD5. The digest is read as a big-endian number, so that keys sort like digests. Several shingles
/// are hashed at once.
#[derive(Clone, Debug, Default)]
pub struct Md5Fingerprinter {
    lanes: Md5Lanes,
}

impl Fingerprinter for Md5Fingerprinter {
    type Fingerprint = u128;

    #[inline]
    fn fingerprint(&mut self, shingle: &[u8]) -> u128 {
        digest(shingle)
    }

    #[inline]
    fn fingerprints(
        &mut self,
        text: &[u8],
        shingles: impl Iterator<Item = Range<usize>>,
        found: impl FnMut(u128),
    ) {
        self.lanes.digests(text, shingles, found);
    }
}
