//! The list of input files: the files that the arguments name, sorted, each file once.

pub(super) mod standard_input;

use globset::{Glob, GlobSet};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fmt::Write;
use std::io;
use std::ops::Deref;
use std::path::{Component, Path, PathBuf};

use lookalike_base::{error::Error, refuse};
use lookalike_source::{Reason, lasting};
use lookalike_store::{
    FileIdentity, InputEntry, Metadata, OutputKind, Skipped, check_secret, disk, missing,
    output_kind, refuse_remote, remote,
};

/// One file to read, or standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputFile {
    /// The path to open; `-` for standard input.
    pub path: PathBuf,
    /// The absolute path without symbolic links, if there is one.
    pub real: Option<PathBuf>,
    /// The name of the file, and the docno if the file is one document: its path relative to the
    /// input argument, or its file name if the argument is the file itself. If two names would be
    /// equal, all begin with as many components of their arguments' paths as tell them apart.
    /// Control characters and bytes that are not UTF-8 are written as `\xHH`.
    pub docno: String,
    /// The bytes of the name before the path below the argument: the components that tell it apart.
    pub below: usize,
    /// Whether the docno contains escaped bytes.
    pub odd_path: bool,
    /// Identity of the file when it was listed; `None` for standard input and unreadable entries.
    pub identity: Option<FileIdentity>,
    /// Why the file cannot be read, if that is already known; reading it yields one reject.
    pub problem: Option<(Reason, String)>,
}

impl InputFile {
    /// A file that is not listed yet, or standard input.
    pub fn named(path: impl Into<PathBuf>, docno: impl Into<String>) -> InputFile {
        InputFile {
            path: path.into(),
            docno: docno.into(),
            ..InputFile::default()
        }
    }

    /// Its path below the argument that led to it.
    pub fn below(&self) -> &str {
        self.docno.get(self.below..).unwrap_or_default()
    }

    /// Gives it a name that begins with other components of its path.
    fn rename(&mut self, name: String) {
        self.below = name.strip_suffix(self.below()).map_or(0, str::len);
        self.docno = name;
    }

    /// Its bytes on disk; 0 if they are unknown.
    pub fn size(&self) -> u64 {
        self.identity.as_ref().map_or(0, |file| file.size)
    }

    /// The bytes of all inputs on disk, if they are known.
    pub fn total(inputs: &[InputFile]) -> Option<u64> {
        let sizes = inputs.iter().map(|input| input.identity.as_ref());
        sizes.map(|file| file.map(|file| file.size)).sum()
    }

    /// The line of this file in the list of inputs.
    pub fn entry(&self) -> InputEntry {
        InputEntry {
            path: self.path.to_string_lossy().into_owned(),
            real: self
                .real
                .as_ref()
                .and_then(|real| real.to_str())
                .map(String::from),
            name: self.docno.clone(),
            below: self.below,
            identity: self.identity.clone(),
        }
    }

    /// A listed input, which is at this path. If a small file there has the listed bytes and another
    /// time, its time counts ([`lookalike_store::workspace::FileIdentity::found_at`]).
    pub fn of_entry(entry: &InputEntry, path: &Path, problem: Option<(Reason, String)>) -> Self {
        InputFile {
            real: entry.real.clone().map(PathBuf::from),
            identity: entry.identity.as_ref().map(|listed| listed.found_at(path)),
            below: entry.below,
            problem,
            ..InputFile::named(path, &*entry.name)
        }
    }

    /// A listed input at the first of its places where there is something, or where it was.
    pub fn found(entry: &InputEntry) -> Self {
        let path = entry.places().find(|path| disk::metadata(path).is_ok());
        InputFile::of_entry(entry, path.unwrap_or(Path::new(&entry.path)), None)
    }

    /// Checks that the path still leads to the file that was listed. Call this before opening the
    /// path: opening a path that has become a FIFO could wait for ever.
    ///
    /// # Errors
    /// `InputChanged`.
    pub fn check_path(&self) -> lookalike_base::Result<()> {
        self.check(|| disk::metadata(&self.path))
    }

    /// Checks by size and modification time that a file is still the file that was listed.
    ///
    /// This cannot detect a change that keeps the size and happens within one tick of the file
    /// system's clock (some milliseconds), or one after which the modification time was set back.
    pub(super) fn check(
        &self,
        now: impl FnOnce() -> io::Result<Metadata>,
    ) -> lookalike_base::Result<()> {
        let Some(listed) = &self.identity else {
            return Ok(());
        };
        let expected = || format!("{} bytes", listed.size);
        let changed = |expected: String, found: String| {
            Err(Error::input_changed(&self.path, expected, found))
        };
        match now() {
            Err(error) if !lasting(&error) => Err(error).map_err(Error::io("inspect", &self.path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                changed(expected(), "vanished".into())
            }
            Err(error) => changed(expected(), format!("become unreadable ({error})")),
            Ok(metadata) if !metadata.is_file() => {
                changed(expected(), "become something that is not a file".into())
            }
            Ok(metadata) if metadata.size() != listed.size => {
                changed(expected(), format!("{} bytes", metadata.size()))
            }
            Ok(metadata) if !listed.has_etag_of(&metadata) => changed(
                format!("{}, {}", expected(), listed.digest),
                format!("etag {}", metadata.etag().unwrap_or_default()),
            ),
            Ok(metadata) => match metadata.modified_ns() {
                Ok(modified) if modified == listed.modified_ns => Ok(()),
                _ => changed(
                    format!("{} and another time of modification", expected()),
                    "the same size, modified since it was listed (`cp -p` and `rsync -a` keep the time \
                     of a copy)"
                        .into(),
                ),
            },
        }
    }
}

/// Which files of a directory are read. A file that is itself an argument is always read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Selection {
    /// Only files that match one of these globs; all files if the list is empty. A glob is matched
    /// against the path below the directory.
    pub include: Vec<Glob>,
    /// Files that match one of these globs are left out.
    pub exclude: Vec<Glob>,
    /// Also read hidden files and directories: those whose names begin with a dot.
    pub hidden: bool,
    /// Also read the files of output directories of runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub read_outputs: bool,
}

impl Selection {
    /// Whether this is the default selection.
    pub fn is_default(&self) -> bool {
        *self == Selection::default()
    }
}

/// The files to read, in order, and counts of the files left out. Dereferences to the slice of
/// files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// The files.
    pub files: Vec<InputFile>,
    /// Counts of the files left out.
    pub skipped: Skipped,
    /// A run that finds no document in them fails.
    pub need_documents: bool,
}

impl Inputs {
    /// Refuses inputs that cannot be opened.
    ///
    /// # Errors
    /// The first of them, and their number.
    pub fn check_readable(&self) -> lookalike_base::Result<()> {
        let mut problems = self.files.iter().filter_map(|file| match &file.problem {
            Some((Reason::Unreadable, detail)) => Some((&file.path, detail)),
            _ => None,
        });
        match problems.next() {
            None => Ok(()),
            Some((path, detail)) => Err(Error::unreadable(path, detail, problems.count() as u64)),
        }
    }
}

impl Deref for Inputs {
    type Target = [InputFile];

    fn deref(&self) -> &[InputFile] {
        &self.files
    }
}

/// Lists all files that the arguments name and [`Selection::default`] selects: see
/// [`list_selected`].
///
/// # Errors
/// As [`list_selected`].
pub fn list_inputs(arguments: &[PathBuf]) -> lookalike_base::Result<Inputs> {
    list_selected(arguments, &Selection::default())
}

/// Lists all files that the arguments name, sorted by the bytes of their paths.
///
/// Directories are walked, and `selection` decides which of their files are read. Output
/// directories of runs are not walked unless it says so. Symbolic links are followed, including
/// links to directories, but no directory is walked twice. So a loop ends, and a file that is
/// reached by two paths is listed once, under its own path rather than under a link's. An entry
/// that is not a regular file or cannot be opened remains in the list with its problem, so that it
/// is rejected in its place and not silently skipped.
///
/// # Errors
/// `Missing` if an argument does not exist; `Io` if it cannot be examined, or if the disk or the
/// machine fails; `BadParameter` if an argument is an output directory of a run.
pub fn list_selected(
    arguments: &[PathBuf],
    selection: &Selection,
) -> lookalike_base::Result<Inputs> {
    list_outside(arguments, selection, None)
}

/// As [`list_selected`], without the files of a directory, which is given by its real path: the
/// output directory of the command may lie in an input.
pub fn list_outside(
    arguments: &[PathBuf],
    selection: &Selection,
    out: Option<PathBuf>,
) -> lookalike_base::Result<Inputs> {
    let mut walk = Walk::new(selection)?;
    walk.out = out;
    for argument in arguments {
        if remote::is_address(argument) {
            walk.objects(argument)?;
            continue;
        }
        refuse_remote(argument)?;
        if argument.as_os_str() == "-" {
            if walk.stdin {
                continue;
            }
            walk.stdin = true;
            walk.bases.push(NO_BASE);
            walk.files.push(InputFile::named("-", "-"));
            continue;
        }
        let metadata = match disk::metadata(argument) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && disk::is_gone(argument)? => {
                return Err(missing(argument));
            }
            metadata => metadata.map_err(Error::io("read", argument))?,
        };
        if metadata.is_dir() {
            if !selection.read_outputs && output_kind(argument)? == Some(OutputKind::Run) {
                let limit = "it is an output directory of lookalike; give the inputs that it was \
                            made from (dedup uses its pairs with --from), or add --read-outputs \
                            to read its files as documents";
                return refuse("INPUT", argument.display(), limit);
            }
            walk.directory(argument, argument)?;
        } else {
            // The file is itself an argument, so the selection does not apply.
            let parent = argument.parent().unwrap_or(Path::new(""));
            let real = self::real(argument)?;
            walk.file(argument, real, parent)?;
        }
    }
    walk.follow_links()?;
    if arguments.len() > 1 {
        walk.tell_apart()?;
    }
    let mut files = walk.files;
    files.sort_by(|a, b| bytes_of(&a.path).cmp(bytes_of(&b.path)));
    Ok(Inputs {
        files,
        skipped: walk.skipped,
        need_documents: false,
    })
}

/// The real path of a file; `None` if it has none for a permanent reason.
fn real(path: &Path) -> lookalike_base::Result<Option<PathBuf>> {
    unless_lasting(disk::canonical(path), path)
}

/// Returns the result of a look at a path; `None` after a permanent error.
fn unless_lasting<T>(found: io::Result<T>, path: &Path) -> lookalike_base::Result<Option<T>> {
    match found {
        Err(error) if lasting(&error) => Ok(None),
        found => found.map(Some).map_err(Error::io("inspect", path)),
    }
}

fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// Marks standard input, whose name is not relative to anything.
const NO_BASE: u32 = u32::MAX;

#[derive(Default)]
struct Walk {
    files: Vec<InputFile>,
    /// For each file, the number of the directory that its name is relative to.
    bases: Vec<u32>,
    /// The numbers of these directories.
    numbers: HashMap<PathBuf, u32>,
    skipped: Skipped,
    hidden: bool,
    read_outputs: bool,
    /// The real path of a directory that is left out.
    out: Option<PathBuf>,
    /// `None` selects all files.
    include: Option<GlobSet>,
    exclude: GlobSet,
    /// Real paths of the directories and files seen so far.
    seen: HashSet<PathBuf>,
    /// Symbolic links, with the argument under which they were found. They are followed after every
    /// real path is known, so that the real path is kept.
    links: Vec<(PathBuf, PathBuf)>,
    stdin: bool,
}

/// The error for globs of a parameter that cannot be compiled into one set.
pub fn bad_globs(parameter: &'static str) -> impl Fn(globset::Error) -> Error {
    move |error| {
        let glob = error.glob().unwrap_or("GLOB");
        Error::parameter(parameter, glob).because(error.kind().to_string())
    }
}

impl Walk {
    fn new(selection: &Selection) -> lookalike_base::Result<Walk> {
        let include = GlobSet::new(&selection.include).map_err(bad_globs("include"))?;
        Ok(Walk {
            hidden: selection.hidden,
            read_outputs: selection.read_outputs,
            include: Some(include).filter(|globs| !globs.is_empty()),
            exclude: GlobSet::new(&selection.exclude).map_err(bad_globs("exclude"))?,
            ..Walk::default()
        })
    }

    /// Whether an entry of a directory is left out because its name begins with a dot; if so,
    /// counts it.
    fn hides(&mut self, name: &OsStr) -> bool {
        let hides = !self.hidden && name.as_encoded_bytes().starts_with(b".");
        self.skipped.hidden += u64::from(hides);
        hides
    }

    /// Whether the globs leave out a file below an argument; if so, counts it.
    fn excludes(&mut self, path: &Path, argument: &Path) -> bool {
        let below = path.strip_prefix(argument).unwrap_or(path);
        let included = self
            .include
            .as_ref()
            .is_none_or(|globs| globs.is_match(below));
        let excludes = !included || self.exclude.is_match(below);
        self.skipped.excluded += u64::from(excludes);
        excludes
    }

    /// Lists the objects that an address names. The names of those below a prefix are relative to
    /// it; before a glob, it ends with the last `/`.
    fn objects(&mut self, argument: &Path) -> lookalike_base::Result<()> {
        check_secret(argument)?;
        let found = remote::list(argument).map_err(Error::io("list", argument))?;
        let prefix = remote::prefix(argument);
        let is_one = |path: &PathBuf| path == argument;
        let alone = found.len() == 1 && found.iter().any(|(path, _)| is_one(path));
        for (path, metadata) in found {
            let below = path.strip_prefix(&prefix).unwrap_or(&path).to_path_buf();
            let hidden = below.components().any(|part| self.hides(part.as_os_str()));
            if !alone && (hidden || self.excludes(&path, &prefix)) {
                continue;
            }
            if !self.seen.insert(path.clone()) {
                continue;
            }
            remote::check_stop("inputs")?;
            let base = match alone {
                true => path.parent().unwrap_or(&prefix).to_path_buf(),
                false => prefix.clone(),
            };
            let identity = FileIdentity::of_object(&metadata);
            let identity = identity.map_err(Error::io("list", argument))?;
            self.push(&path, None, &base, Some(identity), None);
        }
        Ok(())
    }

    /// Walks a directory, with an explicit stack because paths can be deeper than the thread's
    /// stack allows.
    ///
    /// Real paths are composed during the walk. To resolve a path, the system examines every name
    /// in it from the root, so resolving each of a thousand nested directories would take minutes.
    fn directory(&mut self, directory: &Path, argument: &Path) -> lookalike_base::Result<()> {
        let mut waiting = match disk::canonical(directory) {
            Ok(real) => vec![(directory.to_path_buf(), real)],
            Err(error) => return self.refused(directory, argument, "", error),
        };
        while let Some((directory, real)) = waiting.pop() {
            if self.out.as_ref() == Some(&real) || !self.seen.insert(real.clone()) {
                continue;
            }
            if !self.read_outputs && output_kind(&directory)? == Some(OutputKind::Run) {
                self.skipped.outputs += 1;
                continue;
            }
            let entries = match disk::entries(&directory) {
                Ok(entries) => entries,
                Err(error) => {
                    self.refused(&directory, argument, "", error)?;
                    continue;
                }
            };
            for entry in entries {
                remote::check_stop("inputs")?;
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        self.refused(&directory, argument, "", error)?;
                        break;
                    }
                };
                if self.hides(&entry.file_name()) {
                    continue;
                }
                let path = entry.path();
                match entry.file_type() {
                    Ok(kind) if kind.is_symlink() => {
                        self.links.push((path, argument.to_path_buf()));
                    }
                    Ok(kind) if kind.is_dir() => {
                        waiting.push((path, real.join(entry.file_name())));
                    }
                    _ if self.excludes(&path, argument) => {}
                    Ok(_) => self.file(&path, Some(real.join(entry.file_name())), argument)?,
                    Err(error) => self.refused(&path, argument, "", error)?,
                }
            }
        }
        Ok(())
    }

    /// Follows the links found so far, and the links behind them, in the order of their paths.
    fn follow_links(&mut self) -> lookalike_base::Result<()> {
        while !self.links.is_empty() {
            let mut links = std::mem::take(&mut self.links);
            links.sort_by(|a, b| bytes_of(&a.0).cmp(bytes_of(&b.0)));
            for (path, argument) in links {
                remote::check_stop("inputs")?;
                match disk::metadata(&path) {
                    Ok(metadata) if metadata.is_dir() => self.directory(&path, &argument)?,
                    _ if self.excludes(&path, &argument) => {}
                    Ok(_) => self.file(&path, real(&path)?, &argument)?,
                    Err(error) => self.refused(&path, &argument, "symbolic link: ", error)?,
                }
            }
        }
        Ok(())
    }

    fn file(
        &mut self,
        path: &Path,
        real: Option<PathBuf>,
        argument: &Path,
    ) -> lookalike_base::Result<()> {
        let metadata = match disk::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => return self.refused(path, argument, "", error),
        };
        if let Some(real) = &real
            && !self.seen.insert(real.clone())
        {
            return Ok(());
        }
        if !metadata.is_file() {
            // Opening a FIFO could wait for ever, and reading a device might never end.
            let detail = format!(
                "{}; to read a pipe, give - and redirect it",
                metadata.kind()
            );
            self.push(path, real, argument, None, Some((Reason::NotAFile, detail)));
            return Ok(());
        }
        match FileIdentity::of(path) {
            Ok(identity) => {
                self.push(path, real, argument, Some(identity), None);
                Ok(())
            }
            Err(error) => self.refused(path, argument, "", error),
        }
    }

    /// Handles a file that could not be examined. If the error is permanent, the file is rejected
    /// in its place. A failure of the disk or the machine is an error, since it may not happen
    /// again.
    fn refused(
        &mut self,
        path: &Path,
        argument: &Path,
        what: &str,
        error: io::Error,
    ) -> lookalike_base::Result<()> {
        if !lasting(&error) {
            return Err(error).map_err(Error::io("read", path));
        }
        let problem = (Reason::Unreadable, format!("{what}{error}"));
        self.push(path, None, argument, None, Some(problem));
        Ok(())
    }

    fn push(
        &mut self,
        path: &Path,
        real: Option<PathBuf>,
        argument: &Path,
        identity: Option<FileIdentity>,
        problem: Option<(Reason, String)>,
    ) {
        let (docno, odd_path) = docno_of(path.strip_prefix(argument).unwrap_or(path));
        let next = self.numbers.len() as u32;
        let base = match self.numbers.get(argument) {
            Some(&number) => number,
            None => *self.numbers.entry(argument.into()).or_insert(next),
        };
        self.bases.push(base);
        self.files.push(InputFile {
            path: path.to_path_buf(),
            real,
            docno,
            below: 0,
            odd_path,
            identity,
            problem,
        });
    }

    /// Lengthens the names until all differ: each begins with one more component of the path of its
    /// argument.
    fn tell_apart(&mut self) -> lookalike_base::Result<()> {
        if self.names_differ() {
            return Ok(());
        }
        let mut bases: Vec<Vec<&OsStr>> = Vec::new();
        let mut absolute: Vec<PathBuf> = vec![PathBuf::new(); self.numbers.len()];
        for (base, &number) in &self.numbers {
            absolute[number as usize] = absolute_path(base)?;
        }
        for path in &absolute {
            let names = path.components().filter_map(|component| match component {
                Component::Normal(name) => Some(name),
                _ => None,
            });
            bases.push(names.collect());
        }
        let longest = bases.iter().map(Vec::len).max().unwrap_or(0);
        let short: Vec<String> = self.files.iter().map(|file| file.docno.clone()).collect();
        for length in 1..=longest {
            let prefixes: Vec<(String, bool)> = bases
                .iter()
                .map(|names| {
                    docno_of(
                        &names[names.len().saturating_sub(length)..]
                            .iter()
                            .collect::<PathBuf>(),
                    )
                })
                .collect();
            for ((file, &base), short) in self.files.iter_mut().zip(&self.bases).zip(&short) {
                if let Some((prefix, odd)) = prefixes.get(base as usize)
                    && !prefix.is_empty()
                {
                    file.rename(format!("{prefix}/{short}"));
                    file.odd_path |= odd;
                }
            }
            if self.names_differ() {
                break;
            }
        }
        Ok(())
    }

    fn names_differ(&self) -> bool {
        let mut names = HashSet::with_capacity(self.files.len());
        self.files.iter().all(|file| names.insert(&file.docno))
    }
}

/// Gives inputs names that are not taken: each begins with as many more components of its path as
/// it needs.
pub fn tell_apart(inputs: &mut [InputFile], mut taken: HashSet<String>) {
    for input in inputs {
        if taken.contains(&input.docno) {
            let absolute = input
                .real
                .clone()
                .or_else(|| std::path::absolute(&input.path).ok());
            let path = absolute.unwrap_or_else(|| input.path.clone());
            let parts: Vec<Component<'_>> = path.components().collect();
            for from in (0..parts.len()).rev() {
                let (name, odd) = docno_of(&parts[from..].iter().collect::<PathBuf>());
                if name.len() > input.docno.len() && !taken.contains(&name) {
                    input.rename(name);
                    input.odd_path |= odd;
                    break;
                }
            }
        }
        taken.insert(input.docno.clone());
    }
}

/// The absolute path of a directory, with its symbolic links unless it leads through `..`.
fn absolute_path(path: &Path) -> lookalike_base::Result<PathBuf> {
    let here = Path::new(".");
    let path = if path.as_os_str().is_empty() {
        here
    } else {
        path
    };
    let up = path.components().any(|part| part == Component::ParentDir);
    let absolute = match up {
        true => disk::canonical(path),
        false => std::path::absolute(path),
    };
    Ok(unless_lasting(absolute, path)?.unwrap_or_else(|| path.into()))
}

/// A relative path as a docno, joined by `/`, and whether any part of it was escaped.
fn docno_of(path: &Path) -> (String, bool) {
    let mut docno = String::new();
    let mut odd = false;
    for component in path.components() {
        let Component::Normal(name) = component else {
            continue;
        };
        if !docno.is_empty() {
            docno.push('/');
        }
        for chunk in name.as_encoded_bytes().utf8_chunks() {
            for character in chunk.valid().chars() {
                if character.is_control() {
                    odd = true;
                    let mut buffer = [0; 4];
                    escape(character.encode_utf8(&mut buffer).as_bytes(), &mut docno);
                } else {
                    docno.push(character);
                }
            }
            odd |= !chunk.invalid().is_empty();
            escape(chunk.invalid(), &mut docno);
        }
    }
    (docno, odd)
}

fn escape(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        let _ = write!(out, "\\x{byte:02x}");
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;
    use lookalike_base::command::Command;
    use lookalike_base::progress::Stop;

    #[test]
    fn docnos_are_relative_and_escaped() {
        assert_eq!(docno_of(Path::new("a/b.txt")), ("a/b.txt".into(), false));
        assert_eq!(docno_of(Path::new("ä\t")), ("ä\\x09".into(), true));
        let path = Path::new(std::ffi::OsStr::from_bytes(b"d\xe9j\xe0/x"));
        assert_eq!(docno_of(path), ("d\\xe9j\\xe0/x".into(), true));
    }

    /// A walk over many files went on to its end.
    #[test]
    fn a_walk_stops_when_it_is_asked_to() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("a.txt"), "text").unwrap();
        let list = |stop: &Stop| {
            let list = || {
                remote::wait_until(stop);
                list_inputs(&[place.path().to_path_buf()])
            };
            Command::default().run(list)
        };
        let stop = Stop::default();
        assert_eq!(list(&stop).unwrap().len(), 1);
        stop.request();
        let stopped = list(&stop).map(drop).unwrap_err();
        assert!(
            matches!(stopped, lookalike_base::Error::Interrupted { .. }),
            "{stopped}"
        );
    }

    /// The error of the system stood in the middle of a sentence.
    #[test]
    fn a_changed_input_is_told_in_a_sentence() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.txt");
        std::fs::write(&path, "text").unwrap();
        let listed = list_inputs(std::slice::from_ref(&path)).unwrap();
        let says = |expected: &str| {
            let said = listed.files[0].check_path().unwrap_err().to_string();
            let path = path.display();
            let start = format!("input changed since it was read: {path} has {expected}");
            assert!(said.starts_with(&start), "{said}");
        };
        std::fs::write(&path, "other").unwrap();
        says("5 bytes, had 4 bytes");
        std::fs::remove_file(&path).unwrap();
        says("vanished, had 4 bytes");
        std::os::unix::fs::symlink(&path, &path).unwrap();
        says("become unreadable (");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        says("become something that is not a file, had 4 bytes");
    }
}
