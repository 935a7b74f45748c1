//! The hash of a shingle.

use md5::{Digest, Md5};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::ids::Key;

/// A hash from the bytes of a shingle to a key.
pub trait Fingerprinter {
    /// The fingerprint.
    type Fingerprint: Key;

    /// The fingerprint of a shingle: tokens joined by one space, or a window of bytes.
    fn fingerprint(&mut self, shingle: &[u8]) -> Self::Fingerprint;
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

/// MD5, the digest read as a big-endian number, so that keys sort as digests do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Md5Fingerprinter;

impl Fingerprinter for Md5Fingerprinter {
    type Fingerprint = u128;

    #[inline]
    fn fingerprint(&mut self, shingle: &[u8]) -> u128 {
        u128::from_be_bytes(Md5::digest(shingle).into())
    }
}
