//! Checks that a command may write to a path that the user gave.
//!
//! # The rule
//! An output must not be an input of the collection or a file that the command reads. It must not
//! be a file that an output directory names or that the program creates there, and must not lie in
//! a directory that the program creates there. The check finds a file under every spelling of its
//! path and under every link to it. The one exception is the file that the command is made to
//! write: `report` replaces `report.html` of its directory.
//!
//! # Cost
//! If the output exists, one look at every input of the collection, because files are compared by
//! device and inode.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::cluster::{DERIVED_FILES, RESULT_FILES, TABLE_FILES};
use crate::read::lasting;
use crate::sample::plan::PLAN_FILE;
use crate::store::disk;
use crate::workspace::{INPUTS_FILE, InputList, LOCK_FILE, MANIFEST_FILE, Workspace};
use crate::{Error, Result};

/// Subdirectories that commands create in an output directory, including the directories of parts.
pub const DIRECTORIES: [&str; 14] = [
    "collection",
    "catalogue",
    "checkpoint",
    "index",
    "sample",
    "runs",
    "postings",
    "pairs",
    "scratch",
    "methods",
    "study",
    "plan",
    "compare",
    "report",
];

/// Files that commands create in an output directory, besides results and files made from results.
pub const FILES: [&str; 26] = [
    MANIFEST_FILE,
    INPUTS_FILE,
    LOCK_FILE,
    PLAN_FILE,
    "summary.json",
    "sets.jsonl",
    "lexicon.tsv",
    "spex.tsv",
    "spans.tsv",
    "removable.tsv",
    "coverage.tsv",
    "matches.tsv",
    "overlaps.tsv",
    "common.tsv",
    "common-places.tsv",
    "boilerplate.tsv",
    "boilerplate-places.tsv",
    "spans.parquet",
    "removable.parquet",
    "coverage.parquet",
    "matches.parquet",
    "overlaps.parquet",
    "common.parquet",
    "common-places.parquet",
    "boilerplate.parquet",
    "boilerplate-places.parquet",
];

/// The directory that a command works in, and the names of the files in it that the command is made
/// to write.
pub type Own<'a> = (&'a Workspace, &'a [&'a str]);

/// Refuses an output that must not be replaced. `reads` are the files that the command reads
/// besides the collection.
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
    // A file that is written under a temporary name replaces something, too.
    let mut replaced = BTreeSet::new();
    for path in [output, &disk::temporary(output)] {
        replaced.extend(disk::identity(path).map_err(Error::io("inspect", path))?);
    }
    if replaced.is_empty() {
        return Ok(());
    }
    let is = |path: &Path| match disk::identity(path) {
        Ok(identity) => Ok(identity.is_some_and(|identity| replaced.contains(&identity))),
        // A file that can never be inspected is not the output, which was inspected just before.
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
        // A report page that the manifest lists may be written again under the same name.
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
        let mut itself = false;
        for place in input.places() {
            itself |= is(place)?;
        }
        if input.path != "-" && itself {
            return refuse(format!("it is {}, an input of the collection", input.path));
        }
    }
    Ok(())
}

/// Refuses an input file, given by `parameter`, that lies in a directory whose files are replaced.
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

/// The canonical path, if the path leads to something.
fn real(path: &Path) -> Result<Option<PathBuf>> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    match disk::canonical(path) {
        Ok(real) => Ok(Some(real)),
        Err(e) if matches!(e.kind(), NotFound | NotADirectory) => Ok(None),
        Err(e) => Err(e).map_err(Error::io("inspect", path)),
    }
}

/// The output directory, if there is one, that has a file of this name in `parent`, or that creates
/// `parent` or a directory above it. Directories above `home`, where the command works, do not
/// count.
fn taken_in<'p>(parent: &'p Path, name: &OsStr, home: Option<&Path>) -> Result<Option<&'p Path>> {
    let mut inner = None;
    for directory in parent.ancestors() {
        let taken = match inner {
            None => FILES
                .iter()
                .chain(&RESULT_FILES)
                .chain(&TABLE_FILES)
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

/// Whether a directory is an output directory.
fn is_ours(directory: &Path) -> Result<bool> {
    Ok(disk::exists(&directory.join(MANIFEST_FILE))? && disk::exists(&directory.join(LOCK_FILE))?)
}

/// Every file that a directory names, and the files that identify it.
fn files_of(workspace: &Workspace) -> impl Iterator<Item = PathBuf> {
    let manifest = &workspace.manifest;
    let parts = manifest.parts().into_iter();
    let parts = parts.map(|(place, _, part)| workspace.path(place).join(&part.name));
    let named = manifest.result_files().chain(&manifest.others);
    let named = named.map(|file| file.name.as_str());
    let all = named.chain([MANIFEST_FILE, INPUTS_FILE, LOCK_FILE]);
    parts.chain(all.map(|name| workspace.directory().join(name)))
}
