//! Lists the near-duplicates among files: `cargo run --example files -- OUT INPUT...`

use std::path::{Path, PathBuf};

use lookalike::{Collection, Options, Result};

/// Lists the pairs and clusters of documents in files and directories.
pub fn near_duplicates(out: &Path, inputs: Vec<PathBuf>) -> Result<String> {
    let options = Options::default().threshold(0.5);
    let collection = Collection::create(out, inputs, options)?;
    let mut text = String::new();
    for pair in collection.pairs()? {
        let pair = pair?;
        text += &format!("{:.3} {} {}\n", pair.resemblance, pair.a, pair.b);
    }
    for cluster in collection.clusters()? {
        let cluster = cluster?;
        let members = cluster.members.len();
        text += &format!("{members} like {}\n", cluster.representative);
    }
    Ok(text)
}

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(out) = arguments.next() else {
        eprintln!("give a directory for the results, and files or directories to read");
        std::process::exit(2);
    };
    print!("{}", near_duplicates(&out, arguments.collect())?);
    Ok(())
}
