//! Looks up a text in a collection: `cargo run --example look_up -- OUT TEXT`
//!
//! OUT is a directory that `lookalike run` or the example `files` made.

use std::path::Path;

use lookalike::{Collection, Options, QueryConfig, Result};

/// Lists the documents of a collection that resemble or contain a text.
pub fn matches(out: &Path, text: &str) -> Result<String> {
    let collection = Collection::open(out, Options::default())?;
    let mut found = String::new();
    for answer in collection.query([text], &QueryConfig::default())? {
        for document in answer.matches {
            found += &format!(
                "{} {:.3} {}\n",
                document.why, document.score, document.docno
            );
        }
    }
    Ok(found)
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [out, text] = arguments.as_slice() else {
        eprintln!("give the directory of a collection, and a text");
        std::process::exit(2);
    };
    print!("{}", matches(Path::new(out), text)?);
    Ok(())
}
