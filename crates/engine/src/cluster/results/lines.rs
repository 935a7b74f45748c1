//! Common to all result files: their parameters, the names of columns, and JSON strings.

use crate::collection;
use crate::join::{Pairs, PairsEntry};
use crate::sample::SampleEntry;
use lookalike_base::measure::Measure;
use lookalike_store::workspace::Manifest;

/// The parameters that two files must share to be comparable: name and value.
pub(super) fn parameters(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let config = collection::config(manifest);
    let shingle = &config.shingle;
    let mut out = vec![("format", "lookalike 1".to_string())];
    // With a method, words are counted as in the collection that the features were made from.
    let method = manifest
        .method
        .iter()
        .map(|method| ("method", method.clone()));
    out.extend(method.chain(config.parameters()));
    let mut add = |name, value: &dyn std::fmt::Display| out.push((name, value.to_string()));
    if manifest.method.is_none() {
        add("shingle-size", &shingle.shingle_size);
        add("short", &shingle.short);
        add("fingerprint", &shingle.fingerprint);
        add("seed", &shingle.seed);
        if let Some(excluded) = &shingle.excluded {
            add("exclude-text", &excluded.digest);
        }
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

pub(super) fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
