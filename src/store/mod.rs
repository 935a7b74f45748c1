//! Every byte that `FORMAT.md` describes: headers, footers, blocks, checksums, atomic files.
//!
//! # In and out
//! A *part* is one binary file: a header of [`HEADER_BYTES`], a payload, a footer of
//! [`FOOTER_BYTES`] whose checksum covers all before it. [`PartWriter`] makes one under a `.tmp`
//! name, syncs it and renames it; only then may the manifest name it. [`PartReader`] reads one from
//! its start and checks the whole at its end; [`PartFile`] reads blocks at random, each with a
//! checksum of its own.
//!
//! # Invariants
//! - Everything is little-endian. Unknown flag bits are an error.
//! - A part without its footer is not a part: writers that die leave only `.tmp` files, which are
//!   scrap.
//! - Every operation on a file goes through [`disk`].

pub mod disk;
pub mod json;
mod map;
pub mod meta;
mod pack;
mod part;

pub use map::Mapped;
pub use pack::{KeyColumn, pack_u32, pack_u64, skip_packed, unpack_u32, unpack_u64};
pub use part::{
    FOOTER_BYTES, Footer, HEADER_BYTES, Header, Kind, PartFile, PartInfo, PartReader, PartWriter,
    VERSION, read_header, verify_part,
};

/// The checksum of blocks and parts: 64 bits of xxh3 (not cryptographic; it is there for accidents).
#[must_use]
pub fn checksum(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

/// A digest of parameters, 128 bits of xxh3 over their JSON, as 32 hexadecimal digits.
#[must_use]
pub fn digest(text: &[u8]) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(text))
}
