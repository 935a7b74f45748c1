//! Common to all result files: their parameters, the names of columns, and JSON strings.

use crate::collection::{self, CollectionConfig};
use crate::join::{JoinConfig, Pairs, PairsEntry};
use crate::sample::{SampleEntry, Sampling};
use lookalike_base::Measure;
use lookalike_store::Manifest;

/// The parameters that two files must share to be comparable: name and value.
pub fn parameters(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let sample = manifest.get::<SampleEntry>();
    let pairs = manifest.get::<PairsEntry>();
    parameters_of(
        manifest.method.as_deref(),
        collection::config(manifest),
        sample.map(|sample| &sample.sampling),
        pairs.map(|pairs| &pairs.config),
    )
}

/// As [`parameters`], of results that no directory has: how documents were read, whether features of
/// a method were made of them, and which of the shingles and of the pairs were taken.
pub fn parameters_of(
    method: Option<&str>,
    config: &CollectionConfig,
    sampling: Option<&Sampling>,
    join: Option<&JoinConfig>,
) -> Vec<(&'static str, String)> {
    let shingle = &config.shingle;
    let mut out = vec![("format", "lookalike 1".to_string())];
    // With a method, words are counted as in the collection that the features were made from.
    out.extend(method.map(|method| ("method", method.into())));
    out.extend(config.parameters());
    let mut add = |name, value: &dyn std::fmt::Display| out.push((name, value.to_string()));
    if method.is_none() {
        add("shingle-size", &shingle.shingle_size);
        add("short", &shingle.short);
        add("fingerprint", &shingle.fingerprint);
        add("seed", &shingle.seed);
        if let Some(excluded) = &shingle.excluded {
            add("exclude-text", &excluded.digest);
        }
    }
    add("size-groups", &config.size_groups);
    if let Some(sampling) = sampling {
        add("sampling", sampling);
    }
    if let Some(join) = join {
        if !join.measure.is_default() {
            add("score", &join.measure);
        }
        if !matches!(join.measure, Measure::Shared(_)) {
            add("threshold", &join.threshold);
        }
        let most = join.max_postings.map_or("none".into(), |n| n.to_string());
        add("max-postings", &most);
        if join.pairs == Pairs::None {
            add("pairs", &join.pairs);
        }
        if let Some(candidates) = join.candidates {
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
