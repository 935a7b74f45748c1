//! The record of the files that a command has finished in an output directory.
//!
//! `.lookalike/files.jsonl` has a line for each finished file: its length and checksum, or that it
//! is a link to the input. A line is on the disk before its file gets its name, so a file without
//! a line is not ours. An object gets another line when it has its name, with its etag. Lines are
//! only appended; when a command begins and when it ends, it writes
//! the list again, sorted.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::log::Log;
use lookalike_base::{Error, Result};
use lookalike_store::received;

/// The expectation in messages about a file that no command finished.
pub(super) const NOT_FINISHED: &str = "no file, because none was finished";

/// A file that an earlier command finished has other content, or was not finished by one.
pub(super) fn changed(path: &Path, expected: &str, found: &str) -> Error {
    let what = format!(" is not what lookalike wrote: expected {expected}, found {found}");
    let help = "move it to another directory if you need it, or delete it; then repeat the \
                command, which writes it again";
    Error::of(path, what, help)
}

/// The name of the list.
const FILE: &str = "files.jsonl";

/// A finished file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Finished {
    /// Its path below the directory.
    #[serde(deserialize_with = "received::below")]
    pub name: String,
    #[serde(flatten)]
    pub content: Content,
}

/// The content of a finished file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    /// This number of bytes, with this checksum.
    Bytes {
        bytes: u64,
        xxh3: String,
        /// The name that the store gives to this version of an object. Missing until the object has
        /// its name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        etag: Option<String>,
    },
    /// The content of the input: it is a hard link.
    Linked { linked: bool },
}

impl Content {
    /// Whether both are the same content, of the same version or not.
    fn is(&self, other: &Content) -> bool {
        match (self, other) {
            (
                Content::Bytes { bytes, xxh3, .. },
                Content::Bytes {
                    bytes: n,
                    xxh3: sum,
                    ..
                },
            ) => (bytes, xxh3) == (n, sum),
            _ => self == other,
        }
    }
}

/// Adds what a line says to what earlier lines say of the same file.
fn add(known: &mut Vec<Content>, content: Content) {
    known.retain(|known| !known.is(&content));
    known.push(content);
}

/// The list, open for more lines.
pub(super) struct FinishedList {
    pub(super) log: Log,
    /// By name. A file that was written again, the same way, has one entry.
    files: BTreeMap<String, Vec<Content>>,
}

impl FinishedList {
    /// Reads the list below a private directory; it may be missing.
    pub fn read(private: &Path) -> Result<FinishedList> {
        let log = Log::at(private.join(FILE));
        let mut files: BTreeMap<String, Vec<Content>> = BTreeMap::new();
        log.each(|line| {
            if let Some(Finished { name, content }) = line {
                add(files.entry(name).or_default(), content);
            }
            Ok(())
        })?;
        Ok(FinishedList { log, files })
    }

    /// Returns the contents that the file of this name may have. There are several if a command was
    /// killed while it wrote the file again.
    pub fn of(&self, name: &str) -> &[Content] {
        self.files.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the last recorded content of each file.
    pub fn last(&self) -> impl Iterator<Item = (&str, &Content)> {
        let files = self.files.iter();
        files.filter_map(|(name, all)| Some((name.as_str(), all.last()?)))
    }

    /// Writes the list again, and opens it for more lines. `is_there` says whether a file is in its
    /// place.
    pub fn begin(&mut self, is_there: impl Fn(&str) -> Result<bool>) -> Result<()> {
        let mut gone = Vec::new();
        for name in self.files.keys() {
            if !is_there(name)? {
                gone.push(name.clone());
            }
        }
        for name in gone {
            self.files.remove(&name);
        }
        self.write()
    }

    /// Writes the list again, with the last entry of each file.
    pub fn complete(&mut self) -> Result<()> {
        for content in self.files.values_mut() {
            content.drain(..content.len().saturating_sub(1));
        }
        self.write()
    }

    fn write(&mut self) -> Result<()> {
        let files = self.files.iter();
        let lines = files.flat_map(|(name, all)| {
            all.iter().map(|content| Finished {
                name: name.clone(),
                content: content.clone(),
            })
        });
        self.log.write(lines)
    }

    /// Appends the lines of files that are about to get their names, and syncs them.
    pub fn append<'f>(&mut self, files: impl Iterator<Item = &'f Finished> + Clone) -> Result<()> {
        for Finished { name, content } in files.clone() {
            add(self.files.entry(name.clone()).or_default(), content.clone());
        }
        self.log.append(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_same_bytes_the_last_line_counts() {
        let place = tempfile::tempdir().unwrap();
        let lines = r#"{"name":"a","bytes":1,"xxh3":"x"}
{"name":"a","bytes":2,"xxh3":"y"}
{"name":"a","bytes":1,"xxh3":"x","etag":"\"e\""}
{"name":"a","byt"#;
        std::fs::write(place.path().join(FILE), lines).unwrap();
        let list = FinishedList::read(place.path()).unwrap();
        let content = |bytes, xxh3: &str, etag: Option<&str>| Content::Bytes {
            bytes,
            xxh3: xxh3.into(),
            etag: etag.map(String::from),
        };
        let expected = [content(2, "y", None), content(1, "x", Some("\"e\""))];
        assert_eq!(list.of("a"), expected);
    }
}
