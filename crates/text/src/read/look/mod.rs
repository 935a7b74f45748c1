//! Classifies bytes: text or binary, which markup, whether words are left without its tags.

pub(super) mod like_records;
pub(super) mod sniff;
pub(super) mod tags;
pub(super) mod wordless;
