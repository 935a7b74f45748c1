//! Adds files to a collection: `cargo run --example grow -- OUT INPUT...`
//!
//! OUT is a directory that `lookalike run` or the example `files` made.

use std::path::{Path, PathBuf};

use lookalike::{Collection, Options, Result};

/// Adds files and directories to a collection, and makes its index. Returns the number of documents
/// that it has afterwards.
pub fn grow(out: &Path, inputs: Vec<PathBuf>) -> Result<u64> {
    let collection = Collection::open(out, Options::default())?;
    let summary = collection.add(inputs)?;
    collection.index()?;
    Ok(summary.ingest.documents)
}

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(out) = arguments.next() else {
        eprintln!("give the directory of a collection, and files or directories to add");
        std::process::exit(2);
    };
    println!("{} documents", grow(&out, arguments.collect())?);
    Ok(())
}
