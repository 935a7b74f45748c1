//! Files that commands write beside the results: the summary, the page, a plan, those of a study.
//!
//! # Invariants
//! - A file is taken from the manifest before it is written anew, and named when it is whole: a stop
//!   between the two leaves a file of which nothing is said, never one that is not what is said.

use std::path::{Path, PathBuf};

use super::directory::{MANIFEST_FILE, Workspace};
use super::lock::LOCK_FILE;
use super::{INPUTS_FILE, ResultFile};
use crate::Result;
use crate::store::disk::{self, AtomicFile};

impl Workspace {
    /// Is a file named, and as it was written?
    #[must_use]
    pub fn is_whole(&self, name: &str) -> bool {
        let named = self.manifest.others.iter().find(|file| file.name == name);
        named.is_some_and(|file| check(self.directory(), file).is_ok())
    }

    /// Refuses files that are named and not as they were written; of others nothing is known.
    pub fn check_others(&self, which: impl Fn(&str) -> bool) -> Result<()> {
        let mut named = self.manifest.others.iter().filter(|file| which(&file.name));
        named.try_for_each(|file| check(self.directory(), file))
    }

    /// Takes files from the manifest, to write them anew or to remove them; says which were there.
    pub fn forget_others(&mut self, which: impl Fn(&str) -> bool) -> Result<Vec<String>> {
        let mut taken = Vec::new();
        self.manifest.others.retain(|file| {
            let keep = !which(&file.name);
            if !keep {
                taken.push(file.name.clone());
            }
            keep
        });
        if !taken.is_empty() {
            self.commit(&[])?;
        }
        Ok(taken)
    }

    /// Names files that are whole, and commits.
    pub fn name_others(&mut self, files: Vec<ResultFile>) -> Result<()> {
        for file in &files {
            if let Some(directory) = self.directory().join(&file.name).parent() {
                disk::sync_directory(directory)?;
            }
        }
        let others = &mut self.manifest.others;
        others.retain(|old| files.iter().all(|new| new.name != old.name));
        others.extend(files);
        others.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        self.commit(&[])
    }

    /// Writes a small file of the directory and names it.
    pub fn put_other(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.forget_others(|other| other == name)?;
        let file = put(self.directory(), name, content)?;
        self.name_others(vec![file])
    }

    /// Writes a file of the directory piece by piece and names it.
    pub fn write_other(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut AtomicFile) -> Result<()>,
    ) -> Result<()> {
        self.forget_others(|other| other == name)?;
        let mut file = AtomicFile::create(&self.directory().join(name))?;
        write(&mut file)?;
        let file = ResultFile::new(name, file.finish()?);
        self.name_others(vec![file])
    }

    /// The name of a file of this directory, however its path is spelt; `None` of files elsewhere, and
    /// of those that are named in another place.
    #[must_use]
    pub fn other_name(&self, path: &Path) -> Option<String> {
        let name = path.file_name()?.to_str()?;
        let parent = path.parent().filter(|parent| *parent != Path::new(""));
        let parent = disk::canonical(parent.unwrap_or(Path::new("."))).ok()?;
        let mut results = self.manifest.result_files();
        let taken = [MANIFEST_FILE, LOCK_FILE, INPUTS_FILE].contains(&name)
            || results.any(|file| file.name == name);
        (!taken && parent == disk::canonical(self.directory()).ok()?).then(|| name.to_string())
    }
}

/// Writes a small file of a directory; it is to be named then.
pub(crate) fn put(directory: &Path, name: &str, content: &[u8]) -> Result<ResultFile> {
    let mut file = AtomicFile::create(&directory.join(name))?;
    file.put(content)?;
    Ok(ResultFile::new(name, file.finish()?))
}

/// Has a file the size and checksum that are stated?
pub(crate) fn check(directory: &Path, file: &ResultFile) -> Result<()> {
    disk::check(&directory.join(&file.name), file.bytes, &file.checksum)
}

/// The subdirectory of a file.
fn place_of(file: &ResultFile) -> Option<&str> {
    file.name.rsplit_once('/').map(|(place, _)| place)
}

impl Workspace {
    /// Takes from the manifest what is gone, and what stands on it, so that it is made again: whoever finds
    /// a damaged file deletes it and repeats the command. Parts of the collection only where the
    /// inputs are at hand (`inputs`). Returns what was gone.
    pub(super) fn forget_gone(&mut self, inputs: bool) -> Result<Vec<PathBuf>> {
        let mut lost: Vec<(&'static str, PathBuf)> = Vec::new();
        for (place, _, part) in self.manifest.parts() {
            let path = self.path(place).join(&part.name);
            let ours = inputs || !self.manifest.comes_from_inputs(place);
            if ours && !self.borrows(place) && disk::is_gone(&path)? {
                lost.push((place, path));
            }
        }
        let directory = self.directory().to_path_buf();
        // Nothing reads a page or a plan that was deleted; of a study, some files without the others would
        // tell something else.
        let others = &self.manifest.others;
        let whole = |place: Option<&str>| -> Result<bool> {
            for beside in others.iter().filter(|other| place_of(other) == place) {
                if !disk::is_gone(&directory.join(&beside.name))? {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        for file in others {
            let (path, place) = (directory.join(&file.name), place_of(file));
            if disk::is_gone(&path)? && (place.is_none() || whole(place)?) {
                lost.push(("", path));
            }
        }
        if lost.is_empty() {
            return Ok(Vec::new());
        }
        let manifest = &mut self.manifest;
        for (place, path) in &lost {
            match (*place, path.file_name().and_then(|name| name.to_str())) {
                ("", _) => manifest
                    .others
                    .retain(|file| directory.join(&file.name) != *path),
                (place, Some(part)) => manifest.lose(place, part),
                _ => {}
            }
        }
        self.commit(&[])?;
        Ok(lost.into_iter().map(|(_, path)| path).collect())
    }
}
