//! The record of the files that a command has finished in an output directory.
//!
//! `.lookalike/files.jsonl` has a line for each finished file: its length and checksum, or that it
//! is a link to the input. A line is on the disk before its file gets its name, so a file without
//! a line is not ours. Lines are only appended; when a command begins and when it ends, it writes
//! the list again, sorted.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};

use crate::base::threads::lock;
use crate::store::disk;
use crate::{Error, Result};

/// The name of the list.
const FILE: &str = "files.jsonl";

/// A finished file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Finished {
    /// Its path below the directory.
    pub name: String,
    #[serde(flatten)]
    pub content: Content,
}

/// What a finished file holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    /// This number of bytes, with this checksum.
    Bytes { bytes: u64, xxh3: String },
    /// The content of the input: it is a hard link.
    Linked { linked: bool },
}

/// The list, open for more lines.
pub(super) struct FinishedList {
    path: PathBuf,
    out: Option<disk::File>,
    /// Lines appended since it was opened.
    appended: u64,
    /// By name. A file that was written again, the same way, has one entry.
    files: BTreeMap<String, Vec<Content>>,
}

impl FinishedList {
    /// Reads the list below a private directory; it may be missing.
    pub fn read(private: &Path) -> Result<FinishedList> {
        let path = private.join(FILE);
        let mut files: BTreeMap<String, Vec<Content>> = BTreeMap::new();
        let text = match disk::exists(&path)? {
            true => disk::read_all(&path)?,
            false => Vec::new(),
        };
        // The last line may be cut off, or be anything after a power cut. Its file has no name yet.
        for line in text.split(|byte| *byte == b'\n') {
            if let Ok(Finished { name, content }) = serde_json::from_slice(line) {
                let known = files.entry(name).or_default();
                if !known.contains(&content) {
                    known.push(content);
                }
            }
        }
        Ok(FinishedList {
            path,
            out: None,
            appended: 0,
            files,
        })
    }

    /// What the file of a name may hold. It is one of several if a command was killed while it
    /// wrote the file again.
    pub fn of(&self, name: &str) -> &[Content] {
        self.files.get(name).map_or(&[], Vec::as_slice)
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
        let temporary = disk::temporary(&self.path);
        let mut text = Vec::new();
        for (name, all) in &self.files {
            for content in all {
                text.extend(line(name, content, &self.path)?);
            }
        }
        let mut out = disk::create(&temporary)?;
        out.write_all(&text)
            .map_err(Error::io("write", &self.path))?;
        disk::sync(&out, &temporary)?;
        let out = disk::rename_open(out, &temporary, &self.path)?;
        disk::sync_parent(&self.path)?;
        self.out = Some(out);
        Ok(())
    }

    /// Appends the line of a file. Returns the number of lines appended so far.
    fn append(&mut self, name: &str, content: Content) -> Result<u64> {
        let known = self.files.entry(name.to_string()).or_default();
        known.retain(|known| *known != content);
        let line = line(name, &content, &self.path)?;
        known.push(content);
        // A line after one that was cut off could not be read. So nothing follows a failure.
        let mut out = self.out.take().ok_or_else(|| self.failed())?;
        out.write_all(&line)
            .map_err(Error::io("write", &self.path))?;
        self.out = Some(out);
        self.appended += 1;
        Ok(self.appended)
    }

    fn failed(&self) -> Error {
        Error::io("write", &self.path)(io::Error::other("it could not be written before"))
    }
}

/// The list as threads share it.
pub(super) struct SharedList {
    list: Mutex<FinishedList>,
    /// How many of the lines appended are on the disk.
    synced: Mutex<u64>,
}

impl SharedList {
    pub fn new(list: FinishedList) -> SharedList {
        SharedList {
            list: Mutex::new(list),
            synced: Mutex::new(0),
        }
    }

    /// The list, while no thread adds to it.
    pub fn list(&self) -> MutexGuard<'_, FinishedList> {
        lock(&self.list)
    }

    /// Adds a file that is about to get its name. While a thread waits for the disk, others append
    /// their lines, and the next one waits for all of these.
    pub fn add(&self, name: &str, content: Content) -> Result<()> {
        let number = self.list().append(name, content)?;
        let mut synced = lock(&self.synced);
        if *synced >= number {
            return Ok(());
        }
        let (path, appended) = {
            let list = self.list();
            // Rename the file only after its line is synced.
            if list.out.is_none() {
                return Err(list.failed());
            }
            (list.path.clone(), list.appended)
        };
        let done = disk::open(&path).and_then(|file| disk::sync(&file, &path));
        match done {
            Ok(()) => *synced = appended,
            Err(_) => self.list().out = None,
        }
        done
    }
}

fn line(name: &str, content: &Content, path: &Path) -> Result<Vec<u8>> {
    let finished = Finished {
        name: name.into(),
        content: content.clone(),
    };
    let mut line = crate::store::to_json(&finished, path)?;
    line.push(b'\n');
    Ok(line)
}
