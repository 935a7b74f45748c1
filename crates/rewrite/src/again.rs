//! Inputs that a collection lists, to be read again.

use std::path::Path;

use lookalike_base::{Error, Result};
use lookalike_store::{InputEntry, disk};
use lookalike_text::read::{InputFile, Reason};

/// The error of a command that reads its inputs twice.
pub fn standard_input() -> Error {
    let limit = "standard input cannot be read again; store it in a file first";
    Error::parameter("INPUT", "-").because(limit)
}

/// The list of inputs holds text, from which such a file cannot be found again.
pub fn not_utf8(path: &str) -> Error {
    Error::parameter("INPUT", path)
        .because("its path is not UTF-8, so it cannot be found again; rename it")
}

/// Whether a path leads to a file that can be copied.
pub(crate) fn is_regular(path: &Path) -> bool {
    disk::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// A listed input, where it is. It may have moved with its directory, or the working directory may
/// be another.
pub fn listed(entry: &InputEntry) -> Result<InputFile> {
    if entry.path == "-" {
        return Err(standard_input());
    }
    let path = entry.places().find(|path| is_regular(path));
    if path.is_none() && entry.identity.is_some() && entry.is_altered() {
        return Err(not_utf8(&entry.path));
    }
    let problem = match path.is_some() || entry.identity.is_some() {
        true => None,
        false => Some((Reason::Unreadable, String::new())),
    };
    let path = path.unwrap_or(Path::new(&entry.path));
    Ok(InputFile::of_entry(entry, path, problem))
}
