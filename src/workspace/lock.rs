//! A directory that one process at a time works in.

use std::path::Path;

use crate::store::disk;
use crate::{Error, Result, process};

/// Name of the lock file in an output directory.
pub const LOCK_FILE: &str = "lock";

/// A directory locked for this process, until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "the system's lock lives with it")] disk::File);

impl Lock {
    /// Locks an existing directory.
    ///
    /// # Errors
    /// `Locked`, with who holds it; `Io`.
    pub fn take(directory: &Path) -> Result<Lock> {
        let text = format!("process {} on {}\n", std::process::id(), host());
        match disk::lock(&directory.join(LOCK_FILE), &text)? {
            disk::Locked::Ours(file) => {
                // It tells whose the directory is until there is a manifest, and must not be lost before
                // what comes after it.
                disk::sync_directory(directory)?;
                Ok(Lock(file))
            }
            disk::Locked::Theirs(holder) => Err(locked(directory, holder)),
        }
    }

    /// Refuses a directory that another process works in.
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
