//! Records the sources and parameters of a directory of kept records.
//!
//! `.lookalike/source.json` names the work directory, with the parameters of the choice and the
//! counts, and `.lookalike/remove` is a copy of the list of `--drop`. With this record, a later
//! command can make the same choice again and list the removed documents.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{DedupConfig, DedupSummary, work_directory};
use lookalike_base::{error::Error, error::Result, path_word, refuse};
use lookalike_rewrite::output::{PRIVATE, State};
use lookalike_store::{SOURCE_FILE, Workspace, disk, json, received, remote, resolved};

/// The name of the copy of the list of documents to remove.
const LIST: &str = "remove";

/// The sources and parameters of a directory of kept records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DedupSource {
    /// The work directory, as a path from the directory of the kept records. If these are in a
    /// store, as an absolute path.
    #[serde(deserialize_with = "received::way")]
    work: String,
    /// The other collection (`--against`), as the work directory names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// The copy of the list of documents to remove (`--drop`), as a path from the directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove: Option<String>,
    /// Whether removed records were written (`--removed`).
    pub removed: bool,
    /// The parameters.
    pub config: DedupConfig,
    /// The counts.
    pub summary: DedupSummary,
}

impl DedupSource {
    /// Returns the sources and parameters of the directory `kept`.
    pub(super) fn of(
        kept: &Path,
        workspace: &Workspace,
        config: &DedupConfig,
        removed: bool,
        summary: &DedupSummary,
    ) -> Result<DedupSource> {
        let other = workspace.manifest.base.as_ref();
        Ok(DedupSource {
            work: path_from(kept, workspace.directory())?,
            against: other.map(|base| base.path.clone()),
            remove: config.remove.as_ref().map(|_| list_of(kept).1),
            removed,
            config: config.clone(),
            summary: summary.clone(),
        })
    }

    /// Writes the record, and the copy of the list.
    pub(super) fn write(&self, kept: &Path) -> Result<()> {
        if let Some(list) = &self.config.remove {
            disk::copy(list, &list_of(kept).0, || Ok(()))?;
        }
        let path = kept.join(PRIVATE).join(SOURCE_FILE);
        disk::put(&path, json::line(self, &path)?.as_bytes())?;
        disk::sync_parent(&path)
    }

    /// Reads the record of a complete directory, with the digest of its sources and parameters.
    ///
    /// # Errors
    /// `BadParameter` if the directory is not complete, or has no record.
    pub fn read(kept: &Path) -> Result<(DedupSource, String)> {
        let refuse = |limit: &str| Err(Error::parameter("DIR", kept.display()).because(limit));
        let state = State::read(kept)?;
        if !state.complete {
            return refuse(
                "the command that writes it has not finished; run the same `lookalike dedup` again",
            );
        }
        let path = kept.join(PRIVATE).join(SOURCE_FILE);
        if !disk::exists(&path)? {
            let work = path_word(&work_directory(kept));
            return refuse(&format!(
                "it does not record its work directory (.lookalike/source.json is missing): run the \
                 same `lookalike dedup` again, which writes the file; if `lookalike passages --remove` \
                 wrote it, `lookalike passages {work}` lists its pairs, and `lookalike report {work}` \
                 shows them"
            ));
        }
        let bytes = received::read_whole(&path, received::RECORD)?;
        let mut source: DedupSource = serde_json::from_slice(&bytes).map_err(|error| {
            Error::corrupt(&path, "record of the work directory")
                .expected("what `lookalike dedup` writes", error)
        })?;
        if source.work.starts_with('/') && !remote::is_address(kept) {
            let wrong = Error::corrupt(path, "work directory");
            return Err(wrong.expected("the way from this directory", source.work));
        }
        // The directory may come from someone else, so no file is read that it only names.
        let (list, name) = list_of(kept);
        source.config.remove = match &source.remove {
            None => None,
            Some(given) if *given == name => Some(list),
            Some(_) => {
                return refuse(
                    "it does not have its list of --drop; run the same `lookalike dedup` again, \
                     which copies the list into it",
                );
            }
        };
        Ok((source, state.digest))
    }

    /// The work directory.
    ///
    /// # Errors
    /// `BadParameter` if it is gone.
    pub fn work(&self, kept: &Path) -> Result<PathBuf> {
        let real = disk::canonical(kept).map_err(Error::io("inspect", kept))?;
        let work = shortened(&real.join(&self.work));
        match disk::exists(&work)? && disk::is_directory(&work)? {
            true => Ok(work),
            false => Err(Error::parameter("DIR", kept.display()).because(format!(
                "its work directory {} is gone; move both back to where they were, or run \
                     `lookalike dedup` again into a new directory",
                work.display()
            ))),
        }
    }
}

/// The copy of the list of documents to remove: its path, and its name from the directory.
fn list_of(kept: &Path) -> (PathBuf, String) {
    let name = format!("{PRIVATE}/{LIST}");
    (kept.join(&name), name)
}

/// Without `..` after a name. All directories on the way are real ones.
fn shortened(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                short.pop();
            }
            part => short.push(part),
        }
    }
    short
}

/// The path that leads from one place to another. They need not be there yet.
///
/// # Errors
/// `BadParameter` if it is not UTF-8: [`DedupSource`] is text.
pub(super) fn path_from(kept: &Path, work: &Path) -> Result<String> {
    let (from, to) = (resolved(kept)?, resolved(work)?);
    let path = match remote::is_address(&from) {
        true => to,
        false => {
            let both = from.components().zip(to.components());
            let common = both.take_while(|(a, b)| a == b).count();
            let up = from.components().skip(common).map(|_| OsStr::new(".."));
            let down = to.components().skip(common).map(Component::as_os_str);
            up.chain(down).collect()
        }
    };
    path.into_os_string().into_string().or_else(|_| {
        let limit = "the path of its work directory is not UTF-8, so that could not be found again; \
                     give another directory, or another --work";
        refuse("output", kept.display(), limit)
    })
}
