//! Outputs below an address of a store.
//!
//! The private directory of such an output is on this machine, below the work directory, because
//! nothing can be locked or appended to in a store. Beside the list of finished files it has
//! `uploads.jsonl`, with a line for each upload of several parts. The line is on the disk before the
//! first part is sent, so the next command can abort what a killed one left.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::log::Log;
use lookalike_base::{Error, Result, cut_after, limits, lock, refuse, wait_together};
use lookalike_store::{PRIVATE, STATE_FILE, check_address, disk, received, refuse_held, remote};
use lookalike_text::read::InputFile;

/// The directory in the work directory that has the private directories of outputs in stores.
const STORES: &str = "stores";

/// The list of uploads that may be unfinished.
const UPLOADS: &str = "uploads.jsonl";

/// Bytes of objects of one part that wait for their names, and the memory for them: as much again
/// is being put, and in both cases the last one may be of almost a part.
pub(super) const MOST_BYTES: u64 = 8 << 20;
const WAITING_BYTES: u64 = 4 * MOST_BYTES;

/// Characters of a name in a message.
pub(super) const SHOWN_CHARS: usize = 100;

/// Objects that are asked for to see whether there are any beside our own.
const FEW: usize = 16;

/// How large the copy of an input may become: twice as large, with annotations or compressed less.
/// Larger ones have too many parts.
pub(super) fn expected(input: &InputFile) -> u64 {
    input.size().saturating_mul(2)
}

/// Memory of an output of these inputs, if it is in a store: the listing, the uploads that wait for
/// names, and, if `writing`, one object that is written.
pub fn memory<'p>(
    outputs: impl IntoIterator<Item = &'p Path>,
    inputs: &[InputFile],
    writing: bool,
) -> u64 {
    let largest = inputs.iter().map(expected).max().unwrap_or(0);
    let one = match writing {
        true => remote::memory_of_upload(largest),
        false => WAITING_BYTES + inputs.len() as u64 * super::FINISHED_BYTES,
    };
    let outputs = outputs.into_iter().filter(|path| remote::is_address(path));
    outputs.count() as u64 * one
}

/// The private directory of an output.
pub(super) fn private(directory: &Path, work: &Path) -> PathBuf {
    if !remote::is_address(directory) {
        return directory.join(PRIVATE);
    }
    let address = remote::normal(directory);
    let hash = xxhash_rust::xxh3::xxh3_64(address.as_os_str().as_encoded_bytes());
    work.join(STORES).join(format!("{hash:016x}")).join(PRIVATE)
}

/// As [`super::output::OutputDirectory::look`]. Also refuses an output that was begun elsewhere,
/// because without the list of finished files, nothing says which objects are ours.
pub(super) fn look(directory: &Path, parameter: &'static str, work: &Path) -> Result<bool> {
    check_address(parameter, directory)?;
    refuse_held(parameter, directory)?;
    if disk::exists(&directory.join(PRIVATE).join(STATE_FILE))? {
        if disk::exists(&private(directory, work).join(STATE_FILE))? {
            return Ok(true);
        }
        let limit = "it was begun on another machine or with another work directory; continue \
                     there, delete the objects below it, or give a new prefix";
        return refuse(parameter, directory.display(), limit);
    }
    let found = disk::objects_below(directory, FEW)?;
    let limit = match found
        .iter()
        .all(|(name, _)| Path::new(name).starts_with(PRIVATE))
    {
        // A bucket itself has two components.
        true if remote::normal(directory).components().count() > 2 && disk::exists(directory)? => {
            "it is an object; give a new prefix"
        }
        true => return Ok(false),
        false => "it is not empty; give a new prefix",
    };
    refuse(parameter, directory.display(), limit)
}

/// Refuses inputs whose names cannot be keys below an address.
pub fn check_keys<'p>(
    outputs: impl IntoIterator<Item = (&'static str, &'p Path)>,
    inputs: &[InputFile],
) -> Result<()> {
    for (parameter, output) in outputs {
        if remote::is_address(output) {
            check_address(parameter, output)?;
            let mut inputs = inputs.iter();
            inputs.try_for_each(|input| check_address(parameter, &output.join(&input.docno)))?;
        }
    }
    Ok(())
}

/// The objects and uploads of an output in a store.
pub(super) struct Objects {
    /// The objects that were there when the command began, by name: the bytes of each, and the
    /// store's name for this version of it.
    there: HashMap<String, (u64, Option<String>)>,
    uploads: Arc<Uploads>,
}

impl Objects {
    /// Lists an output. `None` for a directory of this machine.
    pub fn of(directory: &Path, private: &Path) -> Result<Option<Objects>> {
        if !remote::is_address(directory) {
            return Ok(None);
        }
        let found = disk::objects_below(directory, usize::MAX)?.into_iter();
        let there = found.map(|(name, meta)| (name, (meta.size(), meta.etag().map(String::from))));
        Ok(Some(Objects {
            there: there.collect(),
            uploads: Arc::new(Uploads {
                directory: directory.into(),
                log: Mutex::new(Log::at(private.join(UPLOADS))),
            }),
        }))
    }

    pub fn has(&self, name: &str) -> bool {
        self.there.contains_key(name)
    }

    /// Whether an object is this version of it. If not, its bytes may still be the same.
    pub fn is(&self, name: &str, bytes: u64, etag: &str) -> bool {
        // Some stores quote it in some of their answers.
        let plain = |etag: &str| etag.trim_matches('"').to_string();
        let found = self.there.get(name);
        found.is_some_and(|(size, found)| {
            *size == bytes && found.as_deref().map(plain) == Some(plain(etag))
        })
    }

    /// Begins an object of this path and name.
    pub fn create(&self, path: &Path, name: &str, expected: u64) -> Result<disk::File> {
        let (uploads, name) = (self.uploads.clone(), name.to_string());
        let begun = move |id: &str| uploads.add(&name, id).map_err(io::Error::other);
        disk::create_object(path, expected, Some(Arc::new(begun)))
    }

    /// Aborts what an earlier command left of files with these names.
    pub fn begin(&self, names: HashSet<&str>) -> Result<()> {
        self.uploads.abort(names)
    }

    /// Ends the list of uploads, all of which are finished.
    pub fn complete(&self) -> Result<()> {
        lock(&self.uploads.log).remove()
    }
}

/// An upload of several parts.
#[derive(Serialize, Deserialize)]
struct Begun {
    #[serde(deserialize_with = "received::below")]
    name: String,
    /// The id that the store gave to the upload.
    upload: String,
}

/// The list of uploads.
struct Uploads {
    /// The output.
    directory: PathBuf,
    log: Mutex<Log>,
}

impl Uploads {
    fn add(&self, name: &str, upload: &str) -> Result<()> {
        let (name, upload) = (name.into(), upload.into());
        lock(&self.log).append(std::iter::once(Begun { name, upload }))
    }

    /// Aborts the uploads in the list, and begins a new one. A command begins each of its files
    /// once, and the list may come from someone else. A longer list would cause requests without
    /// end, or to objects of others.
    fn abort(&self, mut own: HashSet<&str>) -> Result<()> {
        let (most, mut number, mut left) = (own.len() + 1, 0, Vec::new());
        let mut log = lock(&self.log);
        // No part was sent of an upload whose line is cut off.
        log.each(|begun: Option<Begun>| {
            number += 1;
            let name = begun.as_ref().map(|begun| &*begun.name);
            if number > most || name.is_some_and(|name| !own.remove(name)) {
                let found = match name.filter(|_| number <= most) {
                    Some(name) => format!("{:?}", cut_after(name.into(), SHOWN_CHARS)),
                    None => "more lines".into(),
                };
                let expected =
                    "each file of this output once; if someone else made the list, delete it";
                let what = format!("line {number} of the uploads that were begun");
                return Err(Error::corrupt(&log.path, what).expected(expected, found));
            }
            left.extend(begun);
            Ok(())
        })?;
        wait_together(&left, limits::waiting_threads(), |begun| {
            disk::abort_upload(&self.directory.join(&begun.name), &begun.upload)
        })?;
        log.write(std::iter::empty::<Begun>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists of strangers sent requests to delete objects beside those of the output.
    #[test]
    fn only_uploads_of_own_files_are_aborted() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(UPLOADS);
        let uploads = Uploads {
            directory: "s3://bucket/kept".into(),
            log: Mutex::new(Log::at(path.clone())),
        };
        let abort = || uploads.abort(["a", "d/b"].into());
        let line = |name: &str| format!("{{\"name\":\"{name}\",\"upload\":\"1\"}}\n");
        for (lines, says) in [
            (line("c"), "line 1 of the uploads"),
            (
                line("a") + &line("d/b") + &line("a"),
                "line 3 of the uploads",
            ),
            ("\n".repeat(4), "found more lines"),
            (line(&"n".repeat(1000)), "…"),
        ] {
            std::fs::write(&path, lines).unwrap();
            let error = abort().unwrap_err().to_string();
            assert!(error.contains(says) && error.len() < 500, "{error}");
        }
        // Empty lines, and a line that was cut off, name no upload.
        std::fs::write(&path, "\n\n{\"name\":\"a\"").unwrap();
        abort().unwrap();
        assert_eq!(std::fs::read(path).unwrap(), b"");
    }
}
