//! Auxiliary files, which commands write beside the results: the summary, the report page, a plan,
//! the files of a study.
//!
//! # Invariants
//! - A file is removed from the manifest before it is rewritten, and is named again when it is
//!   complete. A stop in between leaves a file that the manifest does not name, never a file that
//!   contradicts it.

use std::path::{Path, PathBuf};

use super::directory::Workspace;
use super::lock::LOCK_FILE;
use super::manifest::{MANIFEST_FILE, check};
use super::{INPUTS_FILE, ResultFile};
use crate::disk::{self, AtomicFile};
use lookalike_base::{Context, Result};

impl Workspace {
    /// Whether the manifest names the file and its content is unchanged.
    pub fn is_whole(&self, name: &str) -> bool {
        let named = self.manifest.others.iter().find(|file| file.name == name);
        named.is_some_and(|file| check(self.directory(), file).is_ok())
    }

    /// Refuses files that the manifest names and whose content has changed. It cannot check other
    /// files.
    pub fn check_others(&self, which: impl Fn(&str) -> bool) -> Result<()> {
        let mut named = self.manifest.others.iter().filter(|file| which(&file.name));
        named.try_for_each(|file| check(self.directory(), file))
    }

    /// Removes files from the manifest before they are rewritten or deleted. Returns their names.
    pub fn forget_others(&mut self, which: impl Fn(&str) -> bool) -> Result<Vec<String>> {
        self.may_change()?;
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

    /// Adds complete files to the manifest and commits it.
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

    /// Writes a small file into the directory and adds it to the manifest.
    pub fn put_other(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.write_other(name, |file| file.put(content))
    }

    /// Writes a file piece by piece into the directory and adds it to the manifest.
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

    /// Writes a file anywhere, and adds it to the manifest if it lies in the directory. `write`
    /// returns its length and checksum first.
    pub fn write_file<T>(
        &mut self,
        output: &Path,
        write: impl FnOnce(&Workspace) -> Result<((u64, u64), T)>,
    ) -> Result<T> {
        let name = self.other_name(output);
        if let Some(name) = &name {
            self.forget_others(|other| other == name)?;
        }
        let (written, more) = write(self)?;
        match &name {
            Some(name) => self.name_others(vec![ResultFile::new(name, written)])?,
            None => disk::sync_parent(output)?,
        }
        Ok(more)
    }

    /// The name of a file in this directory, however its path is spelt. `None` for files elsewhere,
    /// and for names that belong to the workspace or to result files.
    pub fn other_name(&self, path: &Path) -> Option<String> {
        let name = path.file_name()?.to_str()?;
        let parent = disk::canonical(disk::directory_of(path)).ok()?;
        let mut results = self.manifest.result_files();
        let taken = [MANIFEST_FILE, LOCK_FILE, INPUTS_FILE].contains(&name)
            || results.any(|file| file.name == name);
        (!taken && parent == disk::canonical(self.directory()).ok()?).then(|| name.to_string())
    }
}

/// The subdirectory of a file.
fn place_of(file: &ResultFile) -> Option<&str> {
    file.name.rsplit_once('/').map(|(place, _)| place)
}

impl Workspace {
    /// Whether a committed part in one of these subdirectories is missing.
    pub fn misses_part_in(&self, places: &[&str]) -> Result<bool> {
        for (place, _, part) in self.manifest.parts() {
            if places.contains(&place) && disk::is_gone(&self.part(place, &part.name))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes missing files, and the records that depend on them, from the manifest, so that they
    /// are made again. To repair a damaged file, delete it and run the same command again. Parts of
    /// the collection are removed only if the inputs are available (`inputs`). Returns the paths of
    /// the missing files.
    pub(super) fn forget_gone(&mut self, inputs: bool) -> Result<Vec<PathBuf>> {
        let lost = self.without_gone(inputs)?;
        if !lost.is_empty() {
            self.commit(&[])?;
        }
        Ok(lost)
    }

    /// Removes missing files from the manifest in memory, for a directory that is opened to read
    /// it, and reports them.
    pub fn read_without_gone(&mut self, context: &Context<'_>) -> Result<()> {
        for path in self.without_gone(false)? {
            let line = format!("{} is missing; it is left out", path.display());
            context.progress.note(&line);
        }
        Ok(())
    }

    /// As [`Workspace::forget_gone`], but changes the manifest only in memory.
    fn without_gone(&mut self, inputs: bool) -> Result<Vec<PathBuf>> {
        let mut lost: Vec<(&'static str, PathBuf)> = Vec::new();
        for (place, _, part) in self.manifest.parts() {
            let path = self.part(place, &part.name);
            let from_inputs = self.manifest.comes_from_inputs(place);
            let lent = self.places().is_lent(place, &part.name);
            let ours = !from_inputs || inputs && !lent;
            if ours && !self.borrows(place) && disk::is_gone(&path)? {
                lost.push((place, path));
            }
        }
        let directory = self.directory().to_path_buf();
        // No command reads a deleted page or plan. The files of a study belong together: a study
        // that has lost only some of them would be misleading, so all of it is removed.
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
        Ok(lost.into_iter().map(|(_, path)| path).collect())
    }
}
