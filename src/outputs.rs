//! What a command may write where the user says.
//!
//! # The rule
//! An output may not be an input of the collection, a file that the command reads, a file that an
//! output directory names or that the program makes there, nor lie in a directory that the program
//! makes there. A file counts as one of these under every spelling of its path, and under the names
//! of links to it. The one exception is the file for which the command is there: `report` replaces
//! `report.html` of its directory.
//!
//! # Cost
//! Where the output exists, a look at every input of the collection: they are compared by device
//! and inode.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::cluster::{DERIVED_FILES, RESULT_FILES};
use crate::read::lasting;
use crate::sample::plan::PLAN_FILE;
use crate::store::disk;
use crate::workspace::{INPUTS_FILE, InputList, LOCK_FILE, MANIFEST_FILE, Workspace};
use crate::{Error, Result};

/// Subdirectories that commands make in an output directory, those of parts included.
pub const DIRECTORIES: [&str; 11] = [
    "collection",
    "catalogue",
    "sample",
    "runs",
    "postings",
    "pairs",
    "scratch",
    "methods",
    "study",
    "plan",
    "compare",
];

/// Files that commands make in an output directory, besides results and what is made from them.
pub const FILES: [&str; 8] = [
    MANIFEST_FILE,
    INPUTS_FILE,
    LOCK_FILE,
    PLAN_FILE,
    "summary.json",
    "sets.jsonl",
    "lexicon.tsv",
    "spex.tsv",
];

/// A directory that a command works in, and the names of those of its files that the command is
/// there to write.
pub type Own<'a> = (&'a Workspace, &'a [&'a str]);

/// Refuses an output that is not to be replaced. `reads` are files that the command reads besides
/// the collection.
pub fn check(output: &Path, own: Option<Own<'_>>, reads: &[&Path]) -> Result<()> {
    let refuse = |limit: String| {
        Err(Error::BadParameter {
            name: "output",
            given: output.display().to_string(),
            limit: limit + "; give another file",
        })
    };
    let Some(name) = output.file_name() else {
        return refuse("it is the name of a directory".into());
    };
    let parent = output.parent().filter(|parent| *parent != Path::new(""));
    let Some(parent) = real(parent.unwrap_or(Path::new(".")))? else {
        return Ok(()); // There is nothing, and nothing can be written there.
    };
    let home = match own {
        Some((workspace, _)) => real(workspace.directory())?,
        None => None,
    };
    if let Some((_, names)) = own
        && names.iter().any(|own| name == *own)
        && home.as_ref() == Some(&parent)
    {
        return Ok(());
    }
    if let Some(directory) = taken_in(&parent, name, home.as_deref())? {
        return refuse(format!(
            "it is a file of the output directory {}",
            directory.display()
        ));
    }
    // What is written aside replaces something too.
    let mut replaced = BTreeSet::new();
    for path in [output, &disk::temporary(output)] {
        replaced.extend(disk::identity(path).map_err(Error::io("inspect", path))?);
    }
    if replaced.is_empty() {
        return Ok(());
    }
    let is = |path: &Path| match disk::identity(path) {
        Ok(identity) => Ok(identity.is_some_and(|identity| replaced.contains(&identity))),
        // What cannot be looked at is not what could be.
        Err(error) if lasting(&error) => Ok(false),
        Err(error) => Err(error).map_err(Error::io("inspect", path)),
    };
    for path in reads {
        if is(path)? {
            return refuse(format!("this command reads it, as {}", path.display()));
        }
    }
    let Some((workspace, _)) = own else {
        return Ok(());
    };
    for path in files_of(workspace) {
        // A page under a name of the user's, which the manifest has since, is written again.
        let itself = home.as_ref() == Some(&parent) && path == workspace.directory().join(name);
        if !itself && is(&path)? {
            return refuse(format!(
                "it is {}, which the collection needs",
                path.display()
            ));
        }
    }
    let mut inputs = InputList::open(workspace.directory())?;
    while let Some(input) = inputs.next()? {
        if input.path != "-" && is(input.path.as_ref())? {
            return refuse(format!("it is {}, an input of the collection", input.path));
        }
    }
    Ok(())
}

/// Refuses a file that is read, `parameter`, in a directory whose files are replaced.
pub(crate) fn refuse_inside(directory: &Path, parameter: &'static str, read: &Path) -> Result<()> {
    match (real(directory)?, real(read)?) {
        (Some(directory), Some(file)) if file.starts_with(&directory) => Err(Error::BadParameter {
            name: parameter,
            given: read.display().to_string(),
            limit: "this command replaces the files there; put it somewhere else".into(),
        }),
        _ => Ok(()),
    }
}

/// Where a path leads to, if it leads anywhere.
fn real(path: &Path) -> Result<Option<PathBuf>> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    match disk::canonical(path) {
        Ok(real) => Ok(Some(real)),
        Err(e) if matches!(e.kind(), NotFound | NotADirectory) => Ok(None),
        Err(e) => Err(e).map_err(Error::io("inspect", path)),
    }
}

/// The output directory, if there is one, that has a file of this name in `parent`, or makes
/// `parent` or what it lies in. What `home`, where the command works, lies in is no matter.
fn taken_in<'p>(parent: &'p Path, name: &OsStr, home: Option<&Path>) -> Result<Option<&'p Path>> {
    let mut inner = None;
    for directory in parent.ancestors() {
        let taken = match inner {
            None => FILES
                .iter()
                .chain(&RESULT_FILES)
                .chain(&DERIVED_FILES)
                .any(|file| name == *file),
            Some(inner) => DIRECTORIES.iter().any(|directory| inner == *directory),
        };
        if taken && is_ours(directory)? {
            return Ok(Some(directory));
        }
        if Some(directory) == home {
            break;
        }
        inner = directory.file_name();
    }
    Ok(None)
}

/// Is it an output directory?
fn is_ours(directory: &Path) -> Result<bool> {
    Ok(disk::exists(&directory.join(MANIFEST_FILE))? && disk::exists(&directory.join(LOCK_FILE))?)
}

/// Every file that a directory names, and those that say what it is.
fn files_of(workspace: &Workspace) -> impl Iterator<Item = PathBuf> {
    let manifest = &workspace.manifest;
    let parts = manifest.parts().into_iter();
    let parts = parts.map(|(place, _, part)| workspace.path(place).join(&part.name));
    let named = manifest.result_files().chain(&manifest.others);
    let named = named.map(|file| file.name.as_str());
    let all = named.chain([MANIFEST_FILE, INPUTS_FILE, LOCK_FILE]);
    parts.chain(all.map(|name| workspace.directory().join(name)))
}
