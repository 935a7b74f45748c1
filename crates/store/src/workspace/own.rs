//! The directory of a command that writes a few files of known names.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::lock::{LOCK_FILE, Lock};
use crate::disk::{self, AtomicFile};
use crate::json;
use lookalike_base::{Result, refuse};

/// A directory that one command writes, its report last: if the report exists, the other files are
/// complete.
pub struct OwnDirectory {
    path: PathBuf,
    report: &'static str,
    _lock: Lock,
}

impl OwnDirectory {
    /// Refuses a directory that has files besides those that an earlier `command` may have left, or
    /// that another process uses. Other programs also write files of these names, so only the text
    /// of the lock file shows that they are left by this one.
    pub fn look(path: &Path, is_ours: impl Fn(&str) -> bool, command: &str) -> Result<()> {
        if !disk::exists(path)? {
            return Ok(());
        }
        disk::claim(path);
        Lock::look_whether_free(path)?;
        let names = disk::list_all(path)?;
        let is_scrap = |name: &str| name == LOCK_FILE || disk::is_unnamed(name);
        let alone = names.iter().all(|name| is_scrap(name));
        let is_left = names.is_empty() || Lock::is_left(path, alone)?;
        let is_ours = |name: &str| is_ours(name.strip_suffix(".tmp").unwrap_or(name));
        let others = |name: &&String| !is_left || !is_scrap(name) && !is_ours(name);
        let Some(name) = names.iter().find(others) else {
            return Ok(());
        };
        let limit = match is_scrap(name) || is_ours(name) {
            true => format!(
                "it contains {name}, and no lock file of an earlier {command}; use a new directory"
            ),
            false => {
                format!("it contains {name}; use a new directory, or one of an earlier {command}")
            }
        };
        refuse("output", path.display(), limit)
    }

    /// Makes the directory, and removes the report of an earlier command and its other files that
    /// are `stale`.
    pub fn create(
        path: &Path,
        report: &'static str,
        stale: impl Fn(&str) -> bool,
    ) -> Result<OwnDirectory> {
        disk::create_lasting_directory(path)?;
        disk::claim(path);
        let lock = Lock::take(path)?;
        lock.sync(path)?;
        disk::remove(&path.join(report))?;
        for name in disk::list(path)?.iter().filter(|name| stale(name)) {
            disk::remove(&path.join(name))?;
        }
        disk::sync_directory(path)?;
        Ok(OwnDirectory {
            path: path.into(),
            report,
            _lock: lock,
        })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins a file.
    pub fn file(&self, name: &str) -> Result<AtomicFile> {
        AtomicFile::create(&self.path.join(name))
    }

    /// Writes the report. All other files must be finished.
    pub fn finish(&self, report: &impl Serialize) -> Result<()> {
        let text = json::pretty(report, self.path.join(self.report))?;
        disk::sync_directory(&self.path)?;
        let mut file = self.file(self.report)?;
        file.put(text.as_bytes())?;
        file.finish()?;
        disk::sync_directory(&self.path)
    }
}
