//! The files of the exchange: on a disk that all machines see, or in a store.

use std::path::{Path, PathBuf};

use lookalike_base::{Context, Error, Result};
use lookalike_store::{AtomicFile, Scratch, disk, remote};

use super::STAGE;

/// The names of the files of a directory, or of the objects below an address.
pub(super) fn names(path: &Path) -> Result<Vec<String>> {
    if !remote::is_address(path) {
        return match disk::exists(path)? {
            true => disk::list(path),
            false => Ok(Vec::new()),
        };
    }
    let below = path.join("");
    match remote::list(&below) {
        Ok(objects) => {
            let names = objects.iter().filter_map(|(object, _)| object.file_name());
            Ok(names.map(|name| name.to_string_lossy().into()).collect())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error).map_err(Error::io("list", path)),
    }
}

/// A file of the exchange that is being written. Several processes may write the same one at the
/// same time, so on a disk each writes below a name of its own.
pub(super) struct Leaving {
    out: AtomicFile,
    path: PathBuf,
    /// Where it is until it is complete; `None` for an object of a store.
    place: Option<(Scratch, PathBuf)>,
}

impl Leaving {
    pub fn create(path: &Path) -> Result<Leaving> {
        let place = match (remote::is_address(path), path.parent()) {
            (false, Some(parent)) => {
                disk::create_lasting_directory(parent)?;
                let scratch = Scratch::beside(path)?;
                let place = scratch.path().join("file");
                Some((scratch, place))
            }
            _ => None,
        };
        let out = AtomicFile::create(place.as_ref().map_or(path, |(_, place)| place))?;
        Ok(Leaving {
            out,
            path: path.into(),
            place,
        })
    }

    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.put(bytes)
    }

    pub fn finish(self) -> Result<()> {
        self.out.finish()?;
        if let Some((_, place)) = &self.place {
            disk::rename(place, &self.path)?;
            disk::sync_parent(&self.path)?;
        }
        Ok(())
    }
}

/// Removes what killed processes left of complete files of a directory. A process that still writes
/// one of them finds it complete ([`super::run`]).
pub(super) fn remove_left(directory: &Path, of: impl Fn(&str) -> bool) -> Result<()> {
    match remote::is_address(directory) {
        true => Ok(()),
        false => disk::remove_left(directory, of),
    }
}

/// Copies a file to a place where it appears complete or not at all.
pub(super) fn copy(from: &Path, to: &Path, context: &Context<'_>) -> Result<()> {
    let mut out = Leaving::create(to)?;
    out.out.put_file(from, || context.stop.check(STAGE))?;
    out.finish()
}
