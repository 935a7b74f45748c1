//! Small records of variable length, encoded with bincode 2.
//!
//! The one place that knows the encoding. bincode 2 is complete and unmaintained
//! (RUSTSEC-2025-0141); what is written here is its documented `standard` configuration
//! (little-endian, variable-length integers), which other crates read too, so the crate can be
//! exchanged without a change of format.

use bincode::config::{self, Configuration, Limit, LittleEndian, Varint};
use bincode::{Decode, Encode};

/// No encoded block may claim more than this: a damaged length must not allocate.
pub const MOST_BYTES: usize = 256 << 20;

fn settings() -> Configuration<LittleEndian, Varint, Limit<MOST_BYTES>> {
    config::standard().with_limit::<MOST_BYTES>()
}

/// Appends a value.
pub fn encode<T: Encode>(value: &T, out: &mut Vec<u8>) -> Result<(), String> {
    bincode::encode_into_std_write(value, out, settings())
        .map(|_| ())
        .map_err(|e| e.to_string())
}

/// Reads a value from the front of `bytes`; the value and the bytes it took.
pub fn decode<T: Decode<()>>(bytes: &[u8]) -> Result<(T, usize), String> {
    bincode::decode_from_slice(bytes, settings()).map_err(|e| e.to_string())
}
