//! Everything that `FORMAT.md` describes: headers, footers, blocks, checksums, atomic files; and
//! the output directory with its manifest ([`workspace`]), and what an interrupted search has
//! finished (`checkpoint`).
//!
//! # In and out
//! A *part* is one binary file: a header of [`HEADER_BYTES`], a payload, and a footer of
//! [`FOOTER_BYTES`] whose checksum covers everything before it. [`PartWriter`] writes a part under
//! a `.tmp` name, syncs it and renames it. Only then may the manifest name it. [`PartReader`] reads
//! a part from its start and checks the whole part at its end. [`PartFile`] reads blocks at random,
//! each with its own checksum. `table` writes result files in a format of other programs.
//!
//! # Invariants
//! - All numbers are little-endian. Unknown flag bits are an error.
//! - A file without a footer is not a part. A writer that dies leaves only `.tmp` files, which are
//!   scrap.
//! - Every operation on a file uses [`disk`].
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![allow(
    clippy::should_implement_trait,
    reason = "the `next` of an iterator cannot fail"
)]

use std::path::Path;

use lookalike_base::{Error, Result};

mod aside;
pub mod checkpoint;
pub mod disk;
pub mod item;
pub mod json;
mod map;
pub mod meta;
pub mod metadata;
mod pack;
mod part;
pub mod received;
pub mod remote;
mod sort;
pub mod table;
pub mod workspace;

pub use aside::{Aside, List, Rows, SetAside};
pub use checkpoint::{Checkpoint, Checkpoints, LastSearch, UnitSort};
pub use disk::{AtomicFile, Destination, File, Metadata, READ_BUFFER, Scratch};
pub use item::Item;
pub use map::Mapped;
pub use pack::{KeyColumn, pack_u32, pack_u64, skip_packed, unpack_u32, unpack_u64};
pub use part::{
    FACTS_WITH_CAPTURES, FOOTER_BYTES, Footer, HEADER_BYTES, Header, Kind, NAMES_WITH_CAPTURES,
    PartFile, PartInfo, PartReader, PartWriter, VERSION, WITH_DATE, WITH_FIELDS, WITH_TEXT_DIGEST,
    part_number, part_stem, part_unit, read_header, verify_part,
};
pub use sort::{Group, Parts, Sort, Sorted, read_sorted};
pub use table::{
    CREATED_BY, Cell, Column, Failure, Format, Remembering, Row, TABLE_BYTES, Table, cell, header,
    only_if, push_row, unescaped,
};
pub use workspace::{
    Arranged, Base, Cost, FileIdentity, INPUTS_FILE, InputEntry, InputList, LOCK_FILE, Lock,
    MANIFEST_FILE, Manifest, Meter, OutputKind, OwnDirectory, PRIVATE, Places, ResultFile,
    SOURCE_FILE, STATE_FILE, Skipped, StageRecord, StageRecordKind, Workspace, check_address,
    check_file, check_inputs, check_secret, has_records, missing, output_kind, put_file,
    refuse_below_another, refuse_held, refuse_remote, resolved,
};

/// The checksum of blocks and parts: 64 bits of xxh3. It is not cryptographic; it detects
/// accidental damage.
pub fn checksum(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

/// Checks that a checksum is the stated one. `error` gets both as errors show them.
#[inline]
pub fn check_sum(
    stated: u64,
    found: u64,
    error: impl FnOnce(String, String) -> Error,
) -> Result<()> {
    match stated == found {
        true => Ok(()),
        false => Err(error(format!("{stated:016x}"), format!("{found:016x}"))),
    }
}

/// Encodes a value as JSON. Errors name the file `path`.
pub fn to_json(value: &impl serde::Serialize, path: &Path) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|e| Error::io("encode", path)(e.into()))
}

/// The [`digest`] of a value's JSON. Errors name the file `path`.
pub fn digest_of(value: &impl serde::Serialize, path: &Path) -> Result<String> {
    Ok(digest(&to_json(value, path)?))
}

/// Parses the text of a [`digest`] as a number.
pub(crate) fn digest_number(digest: &str) -> Option<u128> {
    let digits = digest.len() == 32 && digest.bytes().all(|b| b.is_ascii_hexdigit());
    u128::from_str_radix(digest, 16).ok().filter(|_| digits)
}

/// A digest of parameters: 128 bits of xxh3 over their JSON, as 32 hexadecimal digits.
pub fn digest(text: &[u8]) -> String {
    digest_text(digest_bits(text))
}

/// The digest as a number; [`digest`] is its text.
pub fn digest_bits(text: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(text)
}

/// A digest as text.
pub fn digest_text(number: u128) -> String {
    format!("{number:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All values that could not be encoded had the same digest, the digest of nothing.
    #[test]
    fn what_cannot_be_encoded_has_no_digest() {
        let path = Path::new("a/manifest.json");
        let keys = std::collections::BTreeMap::from([((1, 2), 3)]);
        let error = digest_of(&keys, path).unwrap_err().to_string();
        assert!(
            error.starts_with("cannot encode a/manifest.json: "),
            "{error}"
        );
        assert_eq!(digest_of(&1, path).unwrap(), digest(b"1"));
    }

    #[test]
    fn a_digest_is_32_digits() {
        assert_eq!(
            digest_number(&digest(b"1")),
            Some(xxhash_rust::xxh3::xxh3_128(b"1"))
        );
        let plus = format!("+{}", "1".repeat(31));
        for text in ["", "12", &"g".repeat(32), &plus, &"1".repeat(33)] {
            assert_eq!(digest_number(text), None, "{text}");
        }
    }
}
