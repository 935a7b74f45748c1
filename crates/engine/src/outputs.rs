//! Checks that a command may write to a path that the user gave.
//!
//! # The rule
//! - An output must not be an input of the collection or a file that the command reads. The check
//!   finds a file under every spelling of its path and under every link to it.
//! - An output must not lie in an output directory of another command, of whatever kind: the
//!   directory of a run, records that `dedup` kept or removed, or the files of `contamination`. In
//!   the directory where the command works, it must not be a file that the program creates there,
//!   and must not lie in a subdirectory that the program creates. The one exception is the file that
//!   the command is made to write: `report` replaces `report.html` of its directory.
//! - Nothing but a regular file is replaced. Outside of the directory where the command works, it
//!   must be empty or begin as a file of this program does. A symbolic link is kept, and the file
//!   that it leads to is written. Output to a FIFO or a character device is written through it. A socket, a block
//!   device and a directory are refused, and in an output directory also links, FIFOs and devices.
//!
//! # Cost
//! If the output exists, one look at every input of the collection, because files are compared by
//! device and inode.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::cluster::{DERIVED_FILES, RESULT_FILES, TABLE_FILES};
use crate::sample::plan::PLAN_FILE;
use lookalike_base::{Error, Result, refuse, words};
use lookalike_source::lasting;
use lookalike_store::{
    Destination, INPUTS_FILE, InputList, LOCK_FILE, MANIFEST_FILE, OutputKind, Workspace, disk,
    remote, workspace,
};
use memchr::memmem;

/// Subdirectories that commands create in an output directory, including the directories of parts.
pub const DIRECTORIES: [&str; 15] = words(
    "collection catalogue checkpoint index sample runs postings pairs scratch methods study plan \
     compare report stores",
);

/// Files that commands create in an output directory, besides results and files made from results.
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

/// The tables that a search for passages writes. Each may also be a Parquet file.
pub const PASSAGE_FILES: [&str; 13] = words(
    "spans.tsv removable.tsv coverage.tsv matches.tsv overlaps.tsv common.tsv common-places.tsv \
     boilerplate.tsv boilerplate-places.tsv reuse.tsv reuse-matches.tsv reuse-clusters.tsv \
     reuse-places.tsv",
);

/// How every page begins.
pub const PAGE: &str = "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"generator\" \
     content=\"lookalike\">";
/// How every file of Parquet begins. Only the end says which program wrote it.
const PARQUET: &str = "PAR1";
/// How the files begin that the ending of a name makes of rows.
pub const TABLES: [&str; 3] = [PAGE, "# format: lookalike 1\n", PARQUET];

/// The files that a command reads, and the directory in which it works. Its output must not replace
/// them.
#[derive(Clone, Copy)]
pub enum Home<'a> {
    /// The directory that it works in, and the names of the files in it that it is made to write.
    Own(&'a Workspace, &'a [&'a str]),
    /// The collection that it reads, into whose directory it writes nothing.
    Collection(&'a Workspace),
    /// The files that it reads. It has no directory.
    Files(&'a [&'a Path]),
}

/// Refuses an output, given by `parameter`, that could not be created or must not be replaced, or in
/// whose place is a file that begins in none of these ways, so another program wrote it. A command
/// calls this before a long computation.
pub fn check(parameter: &'static str, output: &Path, of: Home<'_>, heads: &[&str]) -> Result<()> {
    let is_own = check_as(parameter, output, of)?;
    check_place(parameter, output)?;
    match is_own {
        true => Ok(()),
        false => check_own(parameter, output, heads),
    }
}

/// Refuses a directory for outputs, given by `parameter`, that is an output directory of another
/// command or lies below one.
pub fn check_directory(parameter: &'static str, directory: &Path) -> Result<()> {
    match workspace::output_kind(directory)? {
        Some(OutputKind::Files) => refuse(
            parameter,
            directory.display(),
            "it has the files of another command; give another",
        ),
        _ => check_own_directory(parameter, directory),
    }
}

/// As [`check_directory`], for a command that looks itself whether the files there are its own.
pub fn check_own_directory(parameter: &'static str, directory: &Path) -> Result<()> {
    workspace::refuse_below_another(parameter, directory)?;
    let what = match workspace::output_kind(directory)? {
        None | Some(OutputKind::Files) => return Ok(()),
        Some(OutputKind::Run) => "it is the output directory of a run; give another",
        Some(OutputKind::Records) => "it has the records that a command wrote; give another",
    };
    refuse(parameter, directory.display(), what)
}

/// Refuses a directory that is to get files of these names if it is or lies in an output directory
/// of another command, or if one of the files must not be replaced. As in every directory that the
/// program writes, only regular files have these names.
pub fn check_files<'n>(
    directory: &Path,
    names: impl IntoIterator<Item = &'n str>,
    collections: &[&Workspace],
    reads: &[&Path],
) -> Result<()> {
    if disk::metadata(directory).is_ok_and(|found| !found.is_dir()) {
        let limit = "it is a file; give a directory";
        return refuse("output", directory.display(), limit);
    }
    check_own_directory("output", directory)?;
    for name in names {
        let path = directory.join(name);
        if let Some(kind) = irregular(&path)? {
            return Err(Error::parameter("output", directory.display())
                .because(format!("{name} in it is {kind}; give another directory")));
        }
        let at = ("output", &*path);
        check_replaced(at, (&path, false), None, reads)?;
        for collection in collections {
            check_replaced(at, (&path, false), Some(collection), &[])?;
        }
    }
    Ok(())
}

/// Refuses a file whose name ends in another way than with one of these endings. Without an ending,
/// it is a table in TSV.
pub fn check_ending(parameter: &'static str, output: &Path, endings: &[&str]) -> Result<()> {
    match output.extension().and_then(|ending| ending.to_str()) {
        Some(ending) if !endings.contains(&ending) => refuse(
            parameter,
            output.display(),
            format!(
                "a file with this ending is not written; use .{}",
                endings.join(", .")
            ),
        ),
        _ => Ok(()),
    }
}

/// Refuses an output, given by `parameter`, that could not be created: its directory does not exist
/// or cannot be written to, or something other than a file has the name.
pub fn check_place(parameter: &'static str, output: &Path) -> Result<()> {
    if remote::is_address(output) {
        workspace::check_address(parameter, output)?;
        return match output.components().count() {
            // The scheme and the bucket.
            ..=2 => refuse(
                parameter,
                output.display(),
                "it is a bucket; add the name of a file",
            ),
            _ => Ok(()),
        };
    }
    let refuse = |limit: String| refuse(parameter, output.display(), limit);
    let text = output.as_os_str().as_encoded_bytes();
    let is_file = |name: &OsStr| text.ends_with(name.as_encoded_bytes());
    if !output.file_name().is_some_and(is_file) {
        return refuse("it is the name of a directory; give a file".into());
    }
    let check = |path: &Path| {
        let parent = disk::directory_of(path);
        let what = match disk::real(parent)? {
            None => "does not exist; create it first",
            Some(real) if !disk::is_directory(&real)? => "is not a directory",
            Some(real) if !disk::is_writable(&real) => "cannot be written to; give another place",
            Some(_) => return Ok(()),
        };
        refuse(format!("{} {what}", parent.display()))
    };
    check(output)?;
    // A link is kept, so its target is what must have a place.
    match destination(parameter, output, output)? {
        Destination::File(target) => check(&target),
        Destination::Through(_) => Ok(()),
    }
}

/// Refuses an output, given by `parameter`, in place of a file that begins in none of these ways, so
/// another program wrote it.
pub fn check_own(parameter: &'static str, output: &Path, heads: &[&str]) -> Result<()> {
    let limit = "lookalike did not write this file, or an earlier version did; delete it, or give \
                 another name";
    match destination(parameter, output, output)? {
        Destination::File(path) if !begins(&path, heads)? => {
            refuse(parameter, output.display(), limit)
        }
        _ => Ok(()),
    }
}

/// As [`check_own`], for an output that the user did not name. It must be a regular file, or missing.
pub fn check_unnamed(parameter: &'static str, output: &Path, heads: &[&str]) -> Result<()> {
    match irregular(output)? {
        Some(kind) => {
            let limit = format!("it is {kind}; remove it, or give another name");
            refuse(parameter, output.display(), limit)
        }
        None => check_own(parameter, output, heads),
    }
}

/// Whether a file is missing, empty, or begins in one of these ways.
pub fn begins(path: &Path, heads: &[&str]) -> Result<bool> {
    if !disk::exists(path)? {
        return Ok(true);
    }
    let mut file = disk::open(path)?;
    let mut some = [0; 256];
    let read = disk::read_some(&mut file, &mut some, path)?;
    let begins = |head: &&str| some[..read].starts_with(head.as_bytes());
    let ours = read == 0 || heads.iter().any(begins);
    if !ours || !begins(&PARQUET) {
        return Ok(ours);
    }
    let size = file.metadata().map_err(Error::io("inspect", path))?.size();
    let most = some.len() as u64;
    let end = &mut some[..size.min(most) as usize];
    let read = file.read_exact_at(end, size.saturating_sub(most));
    read.map_err(Error::io("read", path))?;
    Ok(memmem::find(end, b"lookalike ").is_some())
}

/// The kind of thing that has this name, unless it is a regular file or nothing.
fn irregular(path: &Path) -> Result<Option<&'static str>> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    match disk::kind_of_name(path) {
        Ok(kind) => Ok((kind != disk::REGULAR).then_some(kind)),
        Err(e) if matches!(e.kind(), NotFound | NotADirectory) => Ok(None),
        Err(e) => Err(e).map_err(Error::io("inspect", path)),
    }
}

/// The destination of an output, given by `parameter`.
fn destination(parameter: &'static str, output: &Path, path: &Path) -> Result<Destination> {
    match disk::destination(path) {
        Err(Error::WrongFileType(wrong)) => Err(Error::parameter(parameter, output.display())
            .because(format!("it is {}; give another file", wrong.found))),
        other => other,
    }
}

/// Refuses an output that must not be replaced. Returns whether it is a file of its own directory
/// that the command is made to write.
fn check_as(parameter: &'static str, output: &Path, of: Home<'_>) -> Result<bool> {
    let (own, collection, reads) = match of {
        Home::Own(workspace, names) => (Some((workspace, names)), Some(workspace), &[][..]),
        Home::Collection(workspace) => (None, Some(workspace), &[][..]),
        Home::Files(reads) => (None, None, reads),
    };
    workspace::check_address(parameter, output)?;
    let refuse = |limit: String| refuse(parameter, output.display(), limit + "; give another file");
    let place = |path: &Path| match (path.file_name(), disk::real(disk::directory_of(path))?) {
        (Some(name), parent) => Ok(Some((name.to_os_string(), parent))),
        (None, _) => Ok(None),
    };
    let Some((mut name, parent)) = place(output)? else {
        return refuse("it is the name of a directory".into());
    };
    let Some(mut parent) = parent else {
        return Ok(false); // There is nothing, and nothing can be written there.
    };
    let home = match own {
        Some((workspace, _)) => disk::real(workspace.directory())?,
        None => None,
    };
    if let Some(directory) = taken_in(&parent, &name, (own, home.as_deref()))? {
        return refuse(format!(
            "it is a file of the output directory {}",
            directory.display()
        ));
    }
    if home.as_ref().is_some_and(|home| parent.starts_with(home))
        && let Some(kind) = irregular(&parent.join(&name))?
    {
        return refuse(format!("it is {kind} in an output directory"));
    }
    match destination(parameter, output, &parent.join(&name))? {
        Destination::Through(_) => return Ok(false),
        Destination::File(target) if target == parent.join(&name) => {}
        Destination::File(target) => {
            let Some((file, Some(above))) = place(&target)? else {
                return Ok(false); // Nothing can be written there.
            };
            (name, parent) = (file, above);
            if let Some(directory) = taken_in(&parent, &name, (own, home.as_deref()))? {
                return refuse(format!(
                    "it is a link to a file of the output directory {}",
                    directory.display()
                ));
            }
        }
    }
    if let Some((_, names)) = own
        && names.iter().any(|own| name == *own)
        && home.as_ref() == Some(&parent)
    {
        return Ok(true);
    }
    let is_home = home.as_ref() == Some(&parent);
    let target = parent.join(&name);
    check_replaced((parameter, output), (&target, is_home), collection, reads)?;
    Ok(false)
}

/// Refuses an output, given by a parameter, that would replace a file which the command reads or
/// which the collection needs. `is_home` if the directory of the target is the collection's.
fn check_replaced(
    (parameter, output): (&'static str, &Path),
    (target, is_home): (&Path, bool),
    collection: Option<&Workspace>,
    reads: &[&Path],
) -> Result<()> {
    let refuse = |limit: String| refuse(parameter, output.display(), limit + "; give another file");
    // A file that is written under a temporary name also replaces something.
    let mut replaced = BTreeSet::new();
    for path in [target, &disk::temporary(target)] {
        match disk::identity(path) {
            // The temporary name may be too long, and then nothing has it.
            Err(e) if e.kind() == std::io::ErrorKind::InvalidFilename && path != target => {}
            found => replaced.extend(found.map_err(Error::io("inspect", path))?),
        }
    }
    let is_address = remote::is_address(target);
    if replaced.is_empty() && !is_address {
        return Ok(());
    }
    let is = |path: &Path| match disk::identity(path) {
        _ if is_address => Ok(remote::is_address(path) && remote::normal(path) == target),
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
    let Some(workspace) = collection else {
        return Ok(());
    };
    let own = target.file_name().filter(|_| is_home);
    let own = own.map(|name| workspace.directory().join(name));
    for path in files_of(workspace) {
        // A report page that the manifest lists may be written again under the same name.
        let itself = own.as_ref() == Some(&path);
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
pub fn refuse_inside(directory: &Path, parameter: &'static str, read: &Path) -> Result<()> {
    match (disk::real(directory)?, disk::real(read)?) {
        (Some(directory), Some(file)) if file.starts_with(&directory) => {
            Err(Error::parameter(parameter, read.display())
                .because("this command replaces the files there; put it somewhere else"))
        }
        _ => Ok(()),
    }
}

/// The output directory, if there is one, in which a file of this name in `parent` must not be
/// written. Directories above `home`, where the command works, do not count.
fn taken_in<'p>(
    parent: &'p Path,
    name: &OsStr,
    (own, home): (Option<(&Workspace, &[&str])>, Option<&Path>),
) -> Result<Option<&'p Path>> {
    let mut inner = None;
    let text = name.to_string_lossy().replace(".parquet", ".tsv");
    for directory in parent.ancestors() {
        if Some(directory) == home {
            let allowed = own.map_or(&[] as &[&str], |(_, names)| names);
            let taken = match inner {
                None if allowed.iter().any(|own| name == *own) => false,
                None if PASSAGE_FILES.contains(&&*text) => true,
                None => FILES
                    .iter()
                    .chain(&RESULT_FILES)
                    .chain(&TABLE_FILES)
                    .chain(&DERIVED_FILES)
                    .any(|file| name == *file),
                Some(inner) => DIRECTORIES.iter().any(|directory| inner == *directory),
            };
            return Ok(taken.then_some(directory));
        }
        if workspace::output_kind(directory)?.is_some() {
            return Ok(Some(directory));
        }
        inner = directory.file_name();
    }
    Ok(None)
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
