//! A lock that lets only one process at a time work in a directory.

use std::io::Read;
use std::path::Path;

use crate::disk;
use lookalike_base::{Error, Result, process};

/// Name of the lock file in an output directory.
pub const LOCK_FILE: &str = "lock";

/// How the text in a lock file of this program begins.
const OURS: &str = "process ";

/// A lock on a directory. Dropping it releases the lock.
#[derive(Debug)]
pub struct Lock(Option<disk::File>);

impl Lock {
    /// Locks an existing directory.
    ///
    /// # Errors
    /// `Locked`, with the process that has the lock; `Io`.
    pub fn take(directory: &Path) -> Result<Lock> {
        let text = format!("{OURS}{} on {}\n", std::process::id(), host());
        match disk::lock(&directory.join(LOCK_FILE), &text)? {
            disk::Locked::Ours(file) => {
                // Until there is a manifest, the lock file is what marks the directory as ours. It
                // must be durable before any file that is created after it.
                disk::sync_directory(directory)?;
                Ok(Lock(Some(file)))
            }
            disk::Locked::Theirs(holder) => Err(locked(directory, holder)),
        }
    }

    /// Locks an existing directory for reading. Other processes can do the same, and none can
    /// change the directory. Nothing is written.
    ///
    /// # Errors
    /// `Locked`, with the process that has the lock; `Io`.
    pub fn share(directory: &Path) -> Result<Lock> {
        match disk::lock_shared(&directory.join(LOCK_FILE))? {
            Some(disk::Locked::Ours(file)) => Ok(Lock(Some(file))),
            Some(disk::Locked::Theirs(holder)) => Err(locked(directory, holder)),
            None => Ok(Lock(None)),
        }
    }

    /// Makes the text of the lock file durable, so that [`Lock::is_left`] finds it.
    pub(super) fn sync(&self, directory: &Path) -> Result<()> {
        let mut file = self.0.iter();
        file.try_for_each(|file| disk::sync(file, &directory.join(LOCK_FILE)))
    }

    /// Whether a directory has a lock file with the text of this program. If it has nothing else, a
    /// command may have been stopped before the text was complete.
    pub(super) fn is_left(directory: &Path, alone: bool) -> Result<bool> {
        let path = directory.join(LOCK_FILE);
        let Some(file) = disk::look_at_lock(&path)? else {
            return Ok(false);
        };
        let mut head = Vec::new();
        let read = file.take(OURS.len() as u64).read_to_end(&mut head);
        read.map_err(Error::io("read", &path))?;
        // Zeros are what some file systems have after a power failure.
        let begun = OURS.as_bytes().starts_with(&head) || head.iter().all(|byte| *byte == 0);
        Ok(head == OURS.as_bytes() || alone && begun)
    }

    /// Refuses a directory that another process has locked.
    pub fn look_whether_free(directory: &Path) -> Result<()> {
        match disk::locked_by(&directory.join(LOCK_FILE)) {
            Some(holder) => Err(locked(directory, holder)),
            None => Ok(()),
        }
    }
}

fn host() -> String {
    let name = process::kernel_says("/proc/sys/kernel/hostname");
    let name = name.trim();
    if name.is_empty() { "this host" } else { name }.into()
}

fn locked(directory: &Path, holder: String) -> Error {
    let named = Some(holder).filter(|holder| !holder.is_empty());
    Error::Locked {
        path: directory.into(),
        holder: named.unwrap_or_else(|| "another process".into()),
    }
}
