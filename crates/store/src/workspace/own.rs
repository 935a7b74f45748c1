//! The directory of a command that writes a few files of known names.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::lock::{LOCK_FILE, Lock};
use crate::disk::{self, AtomicFile};
use crate::json;
use lookalike_base::Result;
use lookalike_base::error::refuse;

/// A directory that one command writes, its report last: if the report exists, the other files are
/// complete.
pub struct OwnDirectory {
    path: PathBuf,
    report: &'static str,
    _lock: Lock,
}

impl OwnDirectory {
    /// Refuses a directory that has files besides those that an earlier `command` may have left, or
    /// that another process uses.
    pub fn look(path: &Path, is_ours: impl Fn(&str) -> bool, command: &str) -> Result<()> {
        if !disk::exists(path)? {
            return Ok(());
        }
        disk::claim(path);
        Lock::look_whether_free(path)?;
        for name in disk::list_all(path)? {
            let whole = name.strip_suffix(".tmp").unwrap_or(&name);
            if name != LOCK_FILE && !is_ours(whole) && !disk::is_unnamed(&name) {
                let limit = format!(
                    "it contains {name}; use a new directory, or one of an earlier {command}"
                );
                return refuse("output", path.display(), limit);
            }
        }
        Ok(())
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
