//! JSON of values that always have a JSON form, so encoding fails only if memory runs out.

use std::path::Path;

use serde::Serialize;

use lookalike_base::{Error, Result};

fn encoded(json: serde_json::Result<String>, path: &Path) -> Result<String> {
    let json = json.map_err(|e| Error::io("encode", path)(e.into()))?;
    Ok(json + "\n")
}

/// Indented JSON for a file that people read, with a line feed at its end. Errors name `path`.
pub fn pretty(value: &impl Serialize, path: impl AsRef<Path>) -> Result<String> {
    encoded(serde_json::to_string_pretty(value), path.as_ref())
}

/// JSON on one line, with a line feed at its end. Errors name `path`.
pub fn line(value: &impl Serialize, path: impl AsRef<Path>) -> Result<String> {
    encoded(serde_json::to_string(value), path.as_ref())
}
