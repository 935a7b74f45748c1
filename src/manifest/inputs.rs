//! `inputs.jsonl`: the input files of a directory, one a line.
//!
//! Apart from the manifest, because there may be millions of them and the manifest is written at
//! every commit.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::entries::{InputEntry, ResultFile};
use crate::read::{InputFile, Inputs, Skipped};
use crate::store::disk::{self, AtomicFile};
use crate::{Error, Result};

/// Name of the list of inputs in an output directory.
pub const INPUTS_FILE: &str = "inputs.jsonl";

/// What the manifest says of the list of inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputsEntry {
    /// Input files.
    pub files: u64,
    /// Bytes of those whose size is known, before decompression.
    pub bytes: u64,
    /// The list itself.
    pub list: ResultFile,
    /// What the walk through named directories left out.
    #[serde(default, skip_serializing_if = "Skipped::is_nothing")]
    pub skipped: Skipped,
}

/// An input as its line says it.
fn entry(input: &InputFile) -> InputEntry {
    InputEntry {
        path: input.path.to_string_lossy().into_owned(),
        name: input.docno.clone(),
        identity: input.identity.clone(),
    }
}

/// Writes the list.
pub(super) fn write(directory: &Path, inputs: &Inputs) -> Result<InputsEntry> {
    let path = directory.join(INPUTS_FILE);
    let mut out = AtomicFile::create(&path)?;
    let mut total = 0;
    for input in inputs.iter() {
        total += input.identity.as_ref().map_or(0, |identity| identity.size);
        let mut line = serde_json::to_vec(&entry(input)).map_err(|e| Error::Io {
            operation: "encode",
            path: path.clone(),
            source: e.into(),
        })?;
        line.push(b'\n');
        out.put(&line)?;
    }
    let (bytes, checksum) = out.finish()?;
    let list = ResultFile {
        name: INPUTS_FILE.into(),
        bytes,
        checksum: format!("{checksum:016x}"),
    };
    Ok(InputsEntry {
        files: inputs.len() as u64,
        bytes: total,
        list,
        skipped: inputs.skipped,
    })
}

/// Writes the list again if it is gone; with other inputs it would be another.
pub(super) fn restore(directory: &Path, entry: &InputsEntry, inputs: &Inputs) -> Result<()> {
    let path = directory.join(&entry.list.name);
    if !disk::is_gone(&path)? {
        return Ok(());
    }
    let now = write(directory, inputs)?;
    if now.list == entry.list {
        return Ok(());
    }
    disk::remove(&path)?;
    let describe = |entry: &InputsEntry| {
        let InputsEntry {
            files, bytes, list, ..
        } = entry;
        format!("{files} files of {bytes} bytes, list {}", list.checksum)
    };
    Err(Error::InputChanged {
        path,
        expected: describe(entry),
        found: describe(&now),
    })
}

/// Reads the list from its start, line by line.
pub struct InputList {
    path: PathBuf,
    lines: BufReader<disk::File>,
    next: u64,
    line: Vec<u8>,
    entry: Option<InputEntry>,
}

impl InputList {
    /// Opens the list of a directory.
    pub fn open(directory: &Path) -> Result<InputList> {
        let path = directory.join(INPUTS_FILE);
        let lines = BufReader::with_capacity(disk::READ_BUFFER, disk::open(&path)?);
        Ok(InputList {
            path,
            lines,
            next: 0,
            line: Vec::new(),
            entry: None,
        })
    }

    /// The next input; `None` after the last.
    #[expect(
        clippy::should_implement_trait,
        reason = "it can fail, and is not an iterator"
    )]
    pub fn next(&mut self) -> Result<Option<&InputEntry>> {
        self.line.clear();
        let read = self.lines.read_until(b'\n', &mut self.line);
        if read.map_err(Error::io("read", &self.path))? == 0 {
            self.entry = None;
            return Ok(None);
        }
        let entry = serde_json::from_slice(&self.line).map_err(|e| Error::Corrupt {
            path: self.path.clone(),
            offset_bytes: 0,
            what: format!("line {}", self.next + 1),
            expected: "an input".into(),
            found: e.to_string(),
        })?;
        self.next += 1;
        Ok(Some(self.entry.insert(entry)))
    }

    /// An input by its number; `None` where there are not so many. Fast for numbers that rise; a lower
    /// one begins anew.
    pub fn entry_of(&mut self, file: u32) -> Result<Option<&InputEntry>> {
        let wanted = u64::from(file) + 1;
        if self.next > wanted {
            let directory = self.path.parent().unwrap_or(Path::new(".")).to_path_buf();
            *self = InputList::open(&directory)?;
        }
        while self.next < wanted {
            if self.next()?.is_none() {
                return Ok(None);
            }
        }
        Ok(self.entry.as_ref())
    }

    /// The path of an input by its number, as [`InputList::entry_of`].
    pub fn path_of(&mut self, file: u32) -> Result<&str> {
        Ok(self.entry_of(file)?.map_or("", |entry| &entry.path))
    }
}

/// Refuses inputs that are not those of the list.
pub(super) fn same(directory: &Path, inputs: &[InputFile]) -> Result<()> {
    let describe = |entry: &InputEntry| match &entry.identity {
        Some(identity) => format!("{} bytes, digest {}", identity.size, identity.digest),
        None => "no content that could be read".into(),
    };
    let gone = |old: &InputEntry| Error::InputChanged {
        path: (&old.path).into(),
        expected: describe(old),
        found: "gone from the list of inputs".into(),
    };
    let come = |new: &InputEntry| Error::InputChanged {
        path: (&new.path).into(),
        expected: "not been there".into(),
        found: describe(new),
    };
    let mut list = InputList::open(directory)?;
    for input in inputs {
        let new = entry(input);
        let Some(old) = list.next()? else {
            return Err(come(&new));
        };
        if old.path != new.path {
            return Err(if old.path < new.path {
                gone(old)
            } else {
                come(&new)
            });
        }
        if old.identity != new.identity {
            let (mut expected, mut found) = (describe(old), describe(&new));
            if expected == found {
                expected.push_str(" and another time of modification");
                found.push_str(", modified since");
            }
            return Err(Error::InputChanged {
                path: (&old.path).into(),
                expected,
                found,
            });
        }
    }
    match list.next()? {
        Some(old) => Err(gone(old)),
        None => Ok(()),
    }
}
