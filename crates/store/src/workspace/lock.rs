//! A lock that lets only one process at a time work in a directory.

use std::path::Path;

use crate::disk;
use lookalike_base::{Error, Result, process};

/// Name of the lock file in an output directory.
pub const LOCK_FILE: &str = "lock";

/// A lock on a directory. Dropping it releases the lock.
#[derive(Debug)]
pub struct Lock(
    #[expect(dead_code, reason = "the system's lock lives with it")] Option<disk::File>,
);

impl Lock {
    /// Locks an existing directory.
    ///
    /// # Errors
    /// `Locked`, with the process that has the lock; `Io`.
    pub fn take(directory: &Path) -> Result<Lock> {
        let text = format!("process {} on {}\n", std::process::id(), host());
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
    Error::Locked {
        path: directory.into(),
        holder: if holder.is_empty() {
            "another process".into()
        } else {
            holder
        },
    }
}
