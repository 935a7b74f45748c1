//! JSON of what is always representable as JSON: encoding it fails for want of memory alone.

use std::path::Path;

use serde::Serialize;

use crate::{Error, Result};

fn encoded(json: serde_json::Result<String>, path: &Path) -> Result<String> {
    let json = json.map_err(|e| Error::Io {
        operation: "encode",
        path: path.into(),
        source: e.into(),
    })?;
    Ok(json + "\n")
}

/// The content of a file for people: indented, with a line feed at its end. `path` is named in errors.
pub fn pretty(value: &impl Serialize, path: impl AsRef<Path>) -> Result<String> {
    encoded(serde_json::to_string_pretty(value), path.as_ref())
}

/// One line, with its line feed. `path` is named in errors.
pub fn line(value: &impl Serialize, path: impl AsRef<Path>) -> Result<String> {
    encoded(serde_json::to_string(value), path.as_ref())
}
