//! The lines that all result files share: the header, escaped cells, and JSON strings.

use crate::Result;
use crate::base::measure::Measure;
use crate::base::numbers::push_decimal;
use crate::engine::collection;
use crate::engine::join::{Pairs, PairsEntry};
use crate::engine::sample::SampleEntry;
use crate::store::disk::AtomicFile;
use crate::store::workspace::{Manifest, ResultFile};
use std::borrow::Cow;
use std::fmt::Write;

/// The parameters that two files must share to be comparable, as comment lines.
pub(super) fn header(manifest: &Manifest) -> String {
    let mut out = String::new();
    for (name, value) in parameters(manifest) {
        let _ = writeln!(out, "# {name}: {value}");
    }
    out
}

/// The parameters that two files must share to be comparable: name and value.
pub(super) fn parameters(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let shingle = &collection::config(manifest).shingle;
    let mut out = vec![("format", "lookalike 1".to_string())];
    // With a method, words are counted as in the collection that the features were made from.
    let method = manifest
        .method
        .iter()
        .map(|method| ("method", method.clone()));
    out.extend(method.chain(shingle.parse.parameters()));
    let mut add = |name, value: &dyn std::fmt::Display| out.push((name, value.to_string()));
    if manifest.method.is_none() {
        add("shingle-size", &shingle.shingle_size);
        add("short", &shingle.short);
        add("fingerprint", &shingle.fingerprint);
        add("seed", &shingle.seed);
    }
    add("size-groups", &collection::config(manifest).size_groups);
    if let Some(sample) = manifest.get::<SampleEntry>() {
        add("sampling", &sample.sampling);
    }
    if let Some(pairs) = manifest.get::<PairsEntry>() {
        if !pairs.config.measure.is_default() {
            add("score", &pairs.config.measure);
        }
        if !matches!(pairs.config.measure, Measure::Shared(_)) {
            add("threshold", &pairs.config.threshold);
        }
        let most = pairs
            .config
            .max_postings
            .map_or("none".into(), |n| n.to_string());
        add("max-postings", &most);
        if pairs.config.pairs == Pairs::None {
            add("pairs", &pairs.config.pairs);
        }
        if let Some(candidates) = pairs.config.candidates {
            add("verified-candidates", &candidates);
        }
    }
    out
}

/// The name of the column with the size of a document: the number of its features.
pub(super) fn size_column(manifest: &Manifest) -> &'static str {
    match manifest.method {
        Some(_) => "keys",
        None => "shingles",
    }
}

/// A cell of a TSV file: a backslash and control characters are escaped. A terminal would obey some
/// of them.
pub fn cell(text: &str) -> Cow<'_, str> {
    // Every control character has such a byte: those above ASCII are U+0080 to U+009F, which begin
    // with 0xc2. A test that does not end early is made for many bytes at once.
    let special = |byte: u8| byte < b' ' || byte == b'\\' || byte == 0x7f || byte == 0xc2;
    let any = text.bytes().fold(false, |any, byte| any | special(byte));
    if !any || !text.contains(|c: char| c == '\\' || c.is_control()) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\\\"),
            '\t' => escaped.push_str("\\t"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            control if control.is_control() => {
                for byte in control.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(escaped, "\\x{byte:02x}");
                }
            }
            plain => escaped.push(plain),
        }
    }
    Cow::Owned(escaped)
}

/// Appends a column to a line; an empty one if there is no number.
pub(super) fn push_column(line: &mut String, number: Option<u64>) {
    line.push('\t');
    if let Some(number) = number {
        push_decimal(line, number);
    }
}

pub(super) fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

pub(super) fn finished(name: &str, out: AtomicFile) -> Result<ResultFile> {
    let (bytes, checksum) = out.finish()?;
    Ok(ResultFile {
        name: name.into(),
        bytes,
        checksum: format!("{checksum:016x}"),
    })
}
