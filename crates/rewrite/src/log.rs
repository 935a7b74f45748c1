//! A list of lines in JSON to which a command appends while it works.
//!
//! A line is on the disk before the command does what the line says. So the next command knows of
//! everything that this one did, and work that no line names was not done. Nothing is ever appended
//! behind a failure, because a line after a truncated one could not be read.

use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use lookalike_base::{Error, Result};
use lookalike_store::{disk, json, received};

/// The list. It can be appended to once it was written.
pub(super) struct Log {
    pub(super) path: PathBuf,
    out: Option<disk::File>,
}

impl Log {
    pub(super) fn at(path: PathBuf) -> Log {
        Log { path, out: None }
    }

    /// Passes on what each line of an earlier command says. `None` stands for a line that says
    /// nothing: the last one may be cut off, or be anything after a power cut. The work that it
    /// would name was not done.
    pub(super) fn each<T: DeserializeOwned>(
        &self,
        mut take: impl FnMut(Option<T>) -> Result<()>,
    ) -> Result<()> {
        if !disk::exists(&self.path)? {
            return Ok(());
        }
        let (mut lines, mut line) = (BufReader::new(disk::open(&self.path)?), Vec::new());
        while received::read_line(&mut lines, &mut line, &self.path)? > 0 {
            take(serde_json::from_slice(&line).ok())?;
        }
        Ok(())
    }

    /// Writes the list again, with these lines.
    pub(super) fn write(&mut self, lines: impl Iterator<Item: Serialize>) -> Result<()> {
        let temporary = disk::temporary(&self.path);
        let mut out = disk::create(&temporary)?;
        self.put(&mut out, &temporary, lines)?;
        let out = disk::rename_open(out, &temporary, &self.path)?;
        disk::sync_parent(&self.path)?;
        self.out = Some(out);
        Ok(())
    }

    /// Appends lines, and syncs them.
    pub(super) fn append(&mut self, lines: impl Iterator<Item: Serialize>) -> Result<()> {
        let mut lines = lines.peekable();
        if lines.peek().is_none() {
            return Ok(());
        }
        let failed = || io::Error::other("it could not be written before");
        let out = self.out.take().ok_or_else(failed);
        let mut out = out.map_err(Error::io("write", &self.path))?;
        self.put(&mut out, &self.path, lines)?;
        self.out = Some(out);
        Ok(())
    }

    /// Writes lines, and syncs the file at its place.
    fn put(
        &self,
        out: &mut disk::File,
        place: &Path,
        lines: impl Iterator<Item: Serialize>,
    ) -> Result<()> {
        let mut text = String::new();
        for line in lines {
            text += &json::line(&line, &self.path)?;
        }
        let written = out.write_all(text.as_bytes());
        written.map_err(Error::io("write", &self.path))?;
        disk::sync(out, place)
    }

    /// Removes the list.
    pub(super) fn remove(&mut self) -> Result<()> {
        self.out = None;
        disk::remove(&self.path)
    }
}
