//! Writes files again without their near-duplicates: `cargo run --example clean -- OUT KEPT`
//!
//! OUT is a directory that `lookalike run` or the example `files` made. KEPT must not exist.

use std::path::Path;

use lookalike::{Collection, DedupConfig, Options, PassagesConfig, Result};

/// Writes the inputs of a collection again without their near-duplicates. Returns the numbers of
/// documents that were kept and removed.
pub fn without_duplicates(out: &Path, kept: &Path) -> Result<(u64, u64)> {
    let collection = Collection::open(out, Options::default())?;
    let summary = collection.dedup(kept, None, &DedupConfig::default())?;
    Ok((summary.kept, summary.removed_documents()))
}

/// Writes tables of the passages of 20 tokens or more that occur twice or more. Returns the number
/// of tokens in these passages.
pub fn repeated_tokens(out: &Path) -> Result<u64> {
    let collection = Collection::open(out, Options::default())?;
    let config = PassagesConfig {
        length: 20,
        ..PassagesConfig::default()
    };
    Ok(collection.passages(&config)?.repeated_tokens)
}

fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [out, kept] = arguments.as_slice() else {
        eprintln!("give the directory of a collection, and a new directory");
        std::process::exit(2);
    };
    let (kept, removed) = without_duplicates(Path::new(out), Path::new(kept))?;
    let repeated = repeated_tokens(Path::new(out))?;
    println!("{kept} documents kept, {removed} removed; {repeated} tokens are repeated");
    Ok(())
}
