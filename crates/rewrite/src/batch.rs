//! Complete files that get their names together.
//!
//! The bytes of a file and its line in the list of finished files must be on the disk before the
//! file gets its name. For one file after another that is three waits for the disk, which take
//! longer than copying a small file. So complete files wait, open and under temporary names, until
//! there are enough of them. Then several threads sync them, their lines are appended and synced
//! together, they get their names, and each directory is synced once.
//!
//! Objects of a store wait in the same way, in memory if they are small: their lines are synced
//! together, and several threads put them.
//!
//! A killed command leaves the waiting files without names, and the next one writes them again.
//! [`MOST_BYTES`] limits how much work that is.

use std::collections::BTreeSet;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use super::finished::{Content, Finished, FinishedList, NOT_FINISHED, changed};
use super::objects;
use lookalike_base::{Result, limits, lock, wait_together};
use lookalike_store::{disk, remote};

/// The most files that wait, if the process may open that many.
const MOST_FILES: u64 = 128;
/// Bytes of waiting files at which they get their names.
const MOST_BYTES: u64 = 16 << 20;
/// The batches of a command: those that fill and those that get their names, of two directories. A
/// share of the same size is left to everything else.
const BATCHES: u64 = 5;

/// A complete file that waits for its name.
pub(super) struct Complete {
    pub finished: Finished,
    /// Where the file is; `None` if it is an object of a store.
    pub temporary: Option<PathBuf>,
    /// Where it will be.
    pub path: PathBuf,
    /// The file while its bytes may not be on the disk. It is kept open, because a failure to write
    /// them could be forgotten with the last handle. An object is open until it has its name.
    pub file: Option<disk::File>,
}

#[derive(Default)]
struct Waiting {
    files: Vec<Complete>,
    bytes: u64,
}

/// The files of a directory that wait, and the list of its finished files.
pub(super) struct Batch {
    waiting: Mutex<Waiting>,
    most_files: usize,
    most_bytes: u64,
    /// Locked while files get their names.
    list: Mutex<FinishedList>,
}

impl Batch {
    pub fn new(directory: &Path, list: FinishedList) -> Batch {
        let most_files = (limits::files_left(1) / BATCHES).clamp(1, MOST_FILES);
        Batch {
            waiting: Mutex::default(),
            most_files: disk::buffer(directory, most_files as usize),
            most_bytes: match remote::is_address(directory) {
                true => objects::MOST_BYTES,
                false => MOST_BYTES,
            },
            list: Mutex::new(list),
        }
    }

    /// The list, while no file gets its name.
    pub fn list(&self) -> MutexGuard<'_, FinishedList> {
        lock(&self.list)
    }

    /// Adds a complete file. It has its name after this call or a later one.
    pub fn add(&self, mut complete: Complete) -> Result<()> {
        let bytes = match complete.finished.content {
            Content::Bytes { bytes, .. } => bytes,
            Content::Linked { .. } => 0,
        };
        // No other thread need wait while the disk writes a large file, or a store takes an object.
        match (&complete.temporary, complete.file.take()) {
            (None, Some(file)) => {
                disk::sync(&file, &complete.path)?;
                complete.file = Some(file);
            }
            (Some(temporary), Some(file)) if bytes >= MOST_BYTES => disk::sync(&file, temporary)?,
            (_, file) => complete.file = file,
        }
        let mut waiting = lock(&self.waiting);
        waiting.files.push(complete);
        waiting.bytes += bytes;
        if waiting.files.len() < self.most_files && waiting.bytes < self.most_bytes {
            return Ok(());
        }
        // Until the files before have their names, no more than these wait: others stop here.
        let mut list = self.list();
        let files = mem::take(&mut *waiting).files;
        drop(waiting);
        place(files, &mut list)
    }

    /// Gives the files that wait their names.
    pub fn finish(&self) -> Result<()> {
        let files = mem::take(&mut *lock(&self.waiting)).files;
        place(files, &mut self.list())
    }
}

/// Gives complete files their names.
fn place(files: Vec<Complete>, list: &mut FinishedList) -> Result<()> {
    let helpers = limits::waiting_threads();
    let known = &*list;
    wait_together(&files, helpers, |complete| {
        let Complete { finished, path, .. } = complete;
        // Whatever is there without a line is not ours.
        if known.of(&finished.name).is_empty() && !disk::is_gone(path)? {
            return Err(changed(path, NOT_FINISHED, "another file"));
        }
        match (&complete.temporary, &complete.file) {
            (Some(temporary), Some(file)) => disk::sync(file, temporary),
            _ => Ok(()),
        }
    })?;
    list.append(files.iter().map(|complete| &complete.finished))?;
    if files.iter().any(|complete| complete.temporary.is_none()) {
        return place_objects(&files, list);
    }
    let mut changed: BTreeSet<&Path> = BTreeSet::new();
    for complete in &files {
        let Some(temporary) = &complete.temporary else {
            continue;
        };
        if let Some(parent) = complete.path.parent()
            && changed.insert(parent)
        {
            changed.extend(disk::create_missing(parent)?);
        }
        disk::rename(temporary, &complete.path)?;
    }
    let changed: Vec<_> = changed.into_iter().collect();
    wait_together(&changed, helpers, |directory| {
        disk::sync_directory(directory)
    })
}

/// Gives complete objects their names.
fn place_objects(files: &[Complete], list: &mut FinishedList) -> Result<()> {
    let placed = Mutex::new(Vec::new());
    let done = wait_together(files, limits::waiting_threads(), |complete| {
        let Some(file) = &complete.file else {
            return Ok(());
        };
        let mut finished = complete.finished.clone();
        if let Content::Bytes { etag, .. } = &mut finished.content {
            *etag = disk::place(file, &complete.path)?;
        }
        lock(&placed).push(finished);
        Ok(())
    });
    // Also after a failure, the lines of the others are not lost.
    list.append(lock(&placed).iter())?;
    done
}
