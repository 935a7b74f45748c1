//! What is fuzzed: from bytes to a panic where the program, or what it promises, is broken.
//!
//! A target is a function of bytes. The first of them choose parameters ([`controls`]), the others
//! are the input. The same functions are run by the fuzzer (`fuzz_targets/`) and, over the
//! committed inputs and mutations of them, by `tests/fuzz_corpus.rs`.

pub mod archives;
pub mod compressed;
pub mod controls;
pub mod directory;
pub mod elements;
pub mod json;
pub mod lists;
pub mod mail;
pub mod manifest;
pub mod names;
pub mod pages;
pub mod parquet;
pub mod parts;
pub mod place;
pub mod plan;
pub mod records;
pub mod study;
pub mod tables;
pub mod text;
pub mod trec;

/// A target.
pub type Target = fn(&[u8]);

/// All of them, by the name of their directory in `corpus/`.
pub const TARGETS: [(&str, Target); 17] = [
    ("archives", archives::run),
    ("compressed", compressed::run),
    ("directory", directory::run),
    ("elements", elements::run),
    ("json", json::run),
    ("lists", lists::run),
    ("mail", mail::run),
    ("manifest", manifest::run),
    ("names", names::run),
    ("pages", pages::run),
    ("parquet", parquet::run),
    ("parts", parts::run),
    ("plan", plan::run),
    ("study", study::run),
    ("tables", tables::run),
    ("text", text::run),
    ("trec", trec::run),
];
