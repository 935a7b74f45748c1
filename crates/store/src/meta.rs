//! Small records of variable length, encoded with bincode 2.
//!
//! No other module knows the encoding. bincode 2 is complete and unmaintained (RUSTSEC-2025-0141).
//! This module writes its documented `standard` configuration (little-endian, variable-length
//! integers). Other crates can read it too, so the crate can be replaced without changing the
//! format.

use bincode::config::{self, Configuration, Limit, LittleEndian, Varint};
use bincode::{BorrowDecode, Encode};

/// The most bytes that an encoded block may claim, so that a damaged length cannot cause a huge
/// allocation.
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

/// Reads a value of a format version from the front of `bytes`, from which it may borrow its texts.
/// Returns the value and the number of bytes read.
pub fn decode<'b, T: BorrowDecode<'b, u16>>(
    bytes: &'b [u8],
    version: u16,
) -> Result<(T, usize), String> {
    bincode::borrow_decode_from_slice_with_context(bytes, settings(), version)
        .map_err(|e| e.to_string())
}
