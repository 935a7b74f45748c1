//! `inputs.jsonl`: the input files of a collection, one per line.
//!
//! The list is separate from the manifest because it can have millions of lines, and every commit
//! rewrites the manifest.

use std::borrow::{Borrow, Cow};
use std::collections::{HashMap, HashSet};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::{ResultFile, Workspace};
use crate::disk::{self, AtomicFile, Metadata};
use crate::{json, received, remote};
use lookalike_base::{Error, Result, counted, is_zero, path_word, shell_word};

/// Name of the list of inputs in an output directory.
pub const INPUTS_FILE: &str = "inputs.jsonl";

/// The manifest's summary of the list of inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputsEntry {
    /// Input files.
    pub files: u64,
    /// Bytes of the input files before decompression, without files of unknown size.
    pub bytes: u64,
    /// The list file itself.
    pub list: ResultFile,
    /// Files that the walk through the given directories left out.
    #[serde(default, skip_serializing_if = "Skipped::is_nothing")]
    pub skipped: Skipped,
}

/// Counts of the files that directory walks left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Hidden files and hidden directories. A hidden directory counts once, whatever it contains.
    #[serde(deserialize_with = "received::count")]
    pub hidden: u64,
    /// Files that the globs of a selection exclude.
    #[serde(deserialize_with = "received::count")]
    pub excluded: u64,
    /// Output directories of runs below the named directories.
    #[serde(
        default,
        skip_serializing_if = "is_zero",
        deserialize_with = "received::count"
    )]
    pub outputs: u64,
}

impl Skipped {
    /// Whether nothing was left out.
    pub fn is_nothing(&self) -> bool {
        *self == Skipped::default()
    }
}

/// An input file: a line of `inputs.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputEntry {
    /// Its path, with bytes that are not UTF-8 replaced.
    #[serde(deserialize_with = "received::input")]
    pub path: String,
    /// Its absolute path without symbolic links. Missing for standard input, for a path that is not
    /// UTF-8, and in directories of version 0.1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real: Option<String>,
    /// Its name in docnos and rejects.
    #[serde(deserialize_with = "received::input")]
    pub name: String,
    /// The bytes of the name before the path below the argument that led to it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub below: usize,
    /// Size, time and digest; `None` for standard input and for files that cannot be read.
    pub identity: Option<FileIdentity>,
}

impl InputEntry {
    /// The paths at which the file may be, the likeliest first. A relative path depends on the
    /// working directory, and an absolute one does not survive a move of the files. A path in which
    /// bytes were replaced is none of them: another file may have it.
    pub fn places(&self) -> impl Iterator<Item = &Path> {
        let path = Some(&self.path).filter(|_| !self.is_altered());
        let places = self.real.iter().chain(path);
        places.map(Path::new)
    }

    /// Whether bytes of the path that are not UTF-8 were replaced.
    pub fn is_altered(&self) -> bool {
        let has = |path: &String| path.contains(char::REPLACEMENT_CHARACTER);
        let is_address = || remote::is_address(Path::new(&self.path));
        has(&self.path) && !self.real.as_ref().map_or_else(is_address, has)
    }

    /// Whether nothing is in its places any more, as after a move of all inputs. Without an absolute
    /// path, that is not known.
    fn is_gone(&self) -> bool {
        let gone = |at| matches!(disk::is_gone(at), Ok(true));
        self.real.is_some() && self.places().all(gone)
    }

    /// Returns the keys that tell the file from others, the surest first. An altered path needs the
    /// name, in which no byte is replaced: as it is, or below the argument.
    fn keys(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let altered = self.is_altered();
        let key = |name: &str| match altered {
            true => Cow::from(format!("{}\0{name}", self.path)),
            false => Cow::from(&self.path),
        };
        let below = self.name.get(self.below..).unwrap_or_default();
        let real = self.real.iter().map(Cow::from);
        real.chain([self.name.as_str(), below].map(key))
    }

    /// Whether two entries name the same file.
    pub fn is_at_place_of(&self, other: &InputEntry) -> bool {
        self.keys()
            .any(|key| other.keys().any(|other| other == key))
    }
}

/// Bytes at each end of a file that [`FileIdentity::digest`] covers.
const DIGEST_BYTES: u64 = 64 << 10;

/// The properties that identify a file when a run is resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIdentity {
    /// Bytes in the file.
    #[serde(deserialize_with = "received::count")]
    pub size: u64,
    /// Time of last modification, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// xxh3 (128 bits, hexadecimal) of the size, the first 64 KiB and the last 64 KiB; of an object
    /// in a store its etag, after `etag `.
    pub digest: String,
}

impl FileIdentity {
    /// The identity of an object in a store.
    pub fn of_object(metadata: &Metadata) -> io::Result<FileIdentity> {
        Ok(FileIdentity {
            size: metadata.size(),
            modified_ns: metadata.modified_ns()?,
            digest: digest_of_etag(metadata.etag()),
        })
    }

    fn is_of_object(&self) -> bool {
        self.digest.starts_with("etag ")
    }

    /// Whether its digest is one of all bytes, not only of those at the ends.
    fn is_of_all_bytes(&self) -> bool {
        self.size <= 2 * DIGEST_BYTES && !self.is_of_object()
    }

    /// This file with the time of the one at a path, if that has the same bytes and only its time
    /// differs. Larger files than the digest covers keep theirs.
    #[must_use]
    pub fn found_at(&self, path: &Path) -> FileIdentity {
        let differs = |now: Metadata| {
            let other = now.modified_ns().is_ok_and(|at| at != self.modified_ns);
            now.is_file() && now.size() == self.size && other
        };
        let differs = self.is_of_all_bytes() && disk::metadata(path).is_ok_and(differs);
        let now = differs.then(|| FileIdentity::of(path).ok()).flatten();
        let same = now.filter(|now| now.digest == self.digest);
        same.unwrap_or_else(|| self.clone())
    }

    /// Whether this is the object with this metadata.
    pub fn has_etag_of(&self, metadata: &Metadata) -> bool {
        metadata.etag().is_none() || self.digest == digest_of_etag(metadata.etag())
    }

    /// The current identity of a file.
    pub fn of(path: &Path) -> io::Result<FileIdentity> {
        if remote::is_address(path) {
            return FileIdentity::of_object(&disk::metadata(path)?);
        }
        let mut file = disk::open_input(path)?;
        let metadata = file.metadata()?;
        let size = metadata.size();
        let modified_ns = metadata.modified_ns()?;
        let mut hash = Xxh3::new();
        hash.update(&size.to_le_bytes());
        // With room for all of it, the bytes of a small file come in one read.
        let mut bytes = Vec::with_capacity(DIGEST_BYTES as usize);
        (&mut file).take(DIGEST_BYTES).read_to_end(&mut bytes)?;
        hash.update(&bytes);
        if bytes.len() as u64 != size {
            bytes.clear();
            file.seek(SeekFrom::Start(size.saturating_sub(DIGEST_BYTES)))?;
            file.take(DIGEST_BYTES).read_to_end(&mut bytes)?;
        }
        hash.update(&bytes);
        Ok(FileIdentity {
            size,
            modified_ns,
            digest: format!("{:032x}", hash.digest128()),
        })
    }
}

fn digest_of_etag(etag: Option<&str>) -> String {
    format!("etag {}", etag.unwrap_or("unknown"))
}

/// Writes the list.
pub(super) fn write(
    directory: &Path,
    inputs: impl Iterator<Item = InputEntry>,
) -> Result<InputsEntry> {
    let path = directory.join(INPUTS_FILE);
    let out = AtomicFile::create(&path)?;
    put_all(out, &path, InputsEntry::default(), inputs)
}

/// Appends inputs to a list, of which the entry says what it has, and finishes it.
fn put_all(
    mut out: AtomicFile,
    path: &Path,
    mut entry: InputsEntry,
    inputs: impl Iterator<Item = impl Borrow<InputEntry>>,
) -> Result<InputsEntry> {
    for input in inputs {
        let input = input.borrow();
        remote::check_stop("inputs")?;
        entry.files += 1;
        entry.bytes += input.identity.as_ref().map_or(0, |identity| identity.size);
        out.put(json::line(input, path)?.as_bytes())?;
    }
    entry.list = ResultFile::new(INPUTS_FILE, out.finish()?);
    Ok(entry)
}

/// Writes the list again if it is missing. Refuses the inputs if they produce a different list.
pub(super) fn restore(
    directory: &Path,
    entry: &InputsEntry,
    inputs: impl Iterator<Item = InputEntry> + Clone,
) -> Result<()> {
    let path = directory.join(&entry.list.name);
    if !disk::is_gone(&path)? {
        return Ok(());
    }
    let here = std::env::current_dir().unwrap_or_default();
    let real = |input: &InputEntry| PathBuf::from(input.real.as_ref().unwrap_or(&input.path));
    let at = |path: &Path, input| InputEntry {
        path: path.to_string_lossy().into_owned(),
        ..input
    };
    let now = write(directory, inputs.clone())?;
    let forms: [&dyn Fn(InputEntry) -> InputEntry; 4] = [
        // Earlier programs wrote no bytes before the path below an argument, and 0.1.0 no absolute
        // paths.
        &|input| InputEntry { below: 0, ..input },
        &|mut input| {
            (input.real, input.below) = (None, 0);
            input
        },
        // The arguments may have been absolute paths, or relative ones.
        &|input| at(&real(&input), input),
        &|input| {
            let real = real(&input);
            at(real.strip_prefix(&here).unwrap_or(&real), input)
        },
    ];
    if now.list == entry.list {
        return Ok(());
    }
    for form in forms {
        if write(directory, inputs.clone().map(form))?.list == entry.list {
            return Ok(());
        }
    }
    disk::remove(&path)?;
    let describe = |entry: &InputsEntry| {
        let (files, bytes) = (counted(entry.files, "file"), counted(entry.bytes, "byte"));
        format!("{files} of {bytes}, list {}", entry.list.checksum)
    };
    let what = format!(
        " is missing, and the inputs of this command are other ones: {} instead of {}",
        describe(&now),
        describe(entry)
    );
    let help = "put it back, or give the same INPUT, --include, --exclude, --hidden and --read-outputs \
                as before, and it is made again; or start in a new directory with -o";
    Err(Error::of(&path, what, help))
}

/// Lines after which a stop is looked for.
const STOP_LINES: u64 = 1 << 10;

/// Reads the list from its start, line by line.
pub struct InputList {
    path: PathBuf,
    lines: BufReader<disk::File>,
    next: u64,
    /// Offset of the current line.
    offset: u64,
    line: Vec<u8>,
    entry: Option<InputEntry>,
}

impl InputList {
    /// Opens the list of inputs in a directory.
    pub fn open(directory: &Path) -> Result<InputList> {
        let path = directory.join(INPUTS_FILE);
        let lines = BufReader::with_capacity(disk::READ_BUFFER, disk::open(&path)?);
        Ok(InputList {
            path,
            lines,
            next: 0,
            offset: 0,
            line: Vec::new(),
            entry: None,
        })
    }

    /// Reads the next input; `None` after the last one.
    pub fn next(&mut self) -> Result<Option<&InputEntry>> {
        self.offset += self.line.len() as u64;
        // The work for each line may take long, and there may be millions of lines.
        if self.next.is_multiple_of(STOP_LINES) {
            remote::check_stop("inputs")?;
        }
        if received::read_line(&mut self.lines, &mut self.line, &self.path)? == 0 {
            self.entry = None;
            return Ok(None);
        }
        let entry = serde_json::from_slice(&self.line).map_err(|e| {
            Error::corrupt(&self.path, format!("line {}", self.next + 1))
                .at(self.offset)
                .expected("an input", e)
        })?;
        self.next += 1;
        Ok(Some(self.entry.insert(entry)))
    }

    /// Returns the input with a number, or `None` if the list is shorter. Rising numbers are fast;
    /// a lower number reads the list again from its start.
    pub fn entry_of(&mut self, file: u32) -> Result<Option<&InputEntry>> {
        let wanted = u64::from(file) + 1;
        if self.next > wanted {
            let directory = self.path.parent().unwrap_or(Path::new(".")).to_path_buf();
            *self = InputList::open(&directory)?;
        }
        while self.next < wanted {
            if self.next()?.is_none() {
                return Ok(None);
            }
        }
        Ok(self.entry.as_ref())
    }

    /// Returns the name of the input with a number, like [`InputList::entry_of`].
    pub fn name_of(&mut self, file: u32) -> Result<&str> {
        Ok(self.entry_of(file)?.map_or("", |entry| &entry.name))
    }

    /// Returns the path of the input with a number, like [`InputList::entry_of`].
    pub fn path_of(&mut self, file: u32) -> Result<&str> {
        Ok(self.entry_of(file)?.map_or("", |entry| &entry.path))
    }
}

/// Which of some given inputs a list has, and which are new.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Arranged {
    /// The places of the listed ones among those given, in the order of the list.
    pub listed: Vec<usize>,
    /// The names of the listed ones that are given, and the bytes before the path below the argument.
    pub names: Vec<(String, usize)>,
    /// The places of the others, in the given order.
    pub new: Vec<usize>,
}

/// Compares given inputs with the list in a directory. With `all`, every listed input must be
/// given.
///
/// # Errors
/// `InputChanged` if an input differs from its line, or is missing.
pub fn arrange(directory: &Path, given: &[InputEntry], all: bool) -> Result<Arranged> {
    let mut places = HashMap::with_capacity(given.len());
    for (place, entry) in given.iter().enumerate() {
        for key in entry.keys() {
            places.entry(key).or_insert(place);
        }
    }
    let mut arranged = Arranged::default();
    let mut listed = vec![false; given.len()];
    let mut list = InputList::open(directory)?;
    while let Some(old) = list.next()? {
        match old.keys().find_map(|key| places.get(&*key)) {
            Some(&place) => {
                check_same(old, &given[place])?;
                listed[place] = true;
                arranged.listed.push(place);
                arranged.names.push((old.name.clone(), old.below));
            }
            None if all => return Err(gone(directory, old)),
            None => {}
        }
    }
    arranged.new = (0..given.len()).filter(|&place| !listed[place]).collect();
    Ok(arranged)
}

fn describe(entry: &InputEntry) -> String {
    match &entry.identity {
        Some(identity) => format!("{} bytes, digest {}", identity.size, identity.digest),
        None => "no content that could be read".into(),
    }
}

/// An input that the directory was made from, and that the command does not have.
fn gone(directory: &Path, old: &InputEntry) -> Error {
    let what = format!("{} is not an input of this command", old.path);
    if !old.is_gone() {
        return other_inputs(directory, what);
    }
    let help = format!(
        "put it back where it was and repeat the command, or start in a new directory with -o; \
         `lookalike run --from {}` searches what was read, without the inputs",
        path_word(directory)
    );
    let what = format!(" holds results of other inputs: {what}, and is gone");
    Error::of(directory, what, help)
}

/// A directory that was made from other inputs than the command has.
pub fn other_inputs(directory: &Path, what: String) -> Error {
    let compared = Workspace::look(directory, &[]).is_ok_and(|manifest| manifest.base.is_some());
    let add = match compared || directory.extension().is_some_and(|end| end == "work") {
        true => String::new(),
        false => format!(
            ", or add the new inputs to it with `lookalike add {} INPUT...`",
            path_word(directory)
        ),
    };
    let help = format!(
        "use another -o{add}; to continue it, give the same INPUT, --include, --exclude, --hidden and \
         --read-outputs as before"
    );
    let what = format!(" holds results of other inputs: {what}");
    Error::of(directory, what, help)
}

/// Refuses an input that differs from the input listed at its place.
fn check_same(old: &InputEntry, new: &InputEntry) -> Result<()> {
    if old.identity == new.identity {
        return Ok(());
    }
    let (mut expected, mut found) = (describe(old), describe(new));
    if let Some(identity) = old.identity.as_ref().filter(|_| expected == found) {
        if identity.is_of_all_bytes() {
            return Ok(());
        }
        expected.push_str(" and another time of modification");
        found.push_str(", modified since (`cp -p` and `rsync -a` keep the time of a copy");
        let at = u64::try_from(identity.modified_ns).map(Duration::from_nanos);
        if let (false, Ok(at)) = (identity.is_of_object(), at) {
            let (seconds, nanos) = (at.as_secs(), at.subsec_nanos());
            found += &format!(
                "; if its bytes are the same, `touch -d @{seconds}.{nanos:09} -- {}` gives it the \
                 time that it had",
                shell_word(&old.path)
            );
        }
        found.push(')');
    }
    Err(Error::input_changed(&old.path, expected, found))
}

/// Checks that the list begins as the manifest says. A command that was stopped while it added
/// inputs may have left more lines, which do not count.
pub fn check(directory: &Path, entry: &InputsEntry) -> Result<()> {
    let list = &entry.list;
    let path = directory.join(&list.name);
    let size = disk::size(&path)?;
    let (checksum, counted) = copy_beginning(directory, entry, |_| Ok(()))?;
    let same = format!("{checksum:016x}") == list.checksum && size >= list.bytes;
    if same {
        check_lines(&path, entry, counted)?;
    }
    if same && size == list.bytes {
        return Ok(());
    }
    if size <= list.bytes {
        return disk::check(&path, list.bytes, &list.checksum);
    }
    let mut all = InputList::open(directory)?;
    let (mut lines, mut places) = (0, HashSet::new());
    // Appended lines are new: the same bytes twice are damage.
    while let Ok(Some(_)) = all.next()
        && places.insert(xxh3_64(&all.line))
    {
        lines += 1;
    }
    let whole = all.entry.is_none() && lines > entry.files;
    if same && whole {
        return Ok(());
    }
    disk::check(&path, list.bytes, &list.checksum)
}

/// Cuts lines off that a command left that was stopped while it added inputs.
pub(super) fn trim(directory: &Path, entry: &InputsEntry) -> Result<()> {
    let path = directory.join(&entry.list.name);
    if disk::size(&path)? == entry.list.bytes {
        return Ok(());
    }
    let mut out = AtomicFile::create(&path)?;
    copy_beginning(directory, entry, |bytes| out.put(bytes))?;
    out.finish()?;
    disk::sync_directory(directory)
}

/// Appends inputs to a list, and returns what the manifest is to say of it.
pub(super) fn append(
    directory: &Path,
    entry: &InputsEntry,
    new: &[InputEntry],
) -> Result<InputsEntry> {
    let path = directory.join(&entry.list.name);
    let mut out = AtomicFile::create(&path)?;
    let (_, lines) = copy_beginning(directory, entry, |bytes| out.put(bytes))?;
    check_lines(&path, entry, lines)?;
    put_all(out, &path, entry.clone(), new.iter())
}

/// Refuses a manifest that counts other lines: of those behind its number, no command would read the
/// inputs.
fn check_lines(path: &Path, entry: &InputsEntry, lines: u64) -> Result<()> {
    if lines == entry.files {
        return Ok(());
    }
    let stated = counted(entry.files, "line");
    Err(Error::corrupt(path, "list of inputs").expected(stated, lines))
}

/// Reads the part of the list that the manifest names; returns its checksum and its lines.
fn copy_beginning(
    directory: &Path,
    entry: &InputsEntry,
    mut put: impl FnMut(&[u8]) -> Result<()>,
) -> Result<(u64, u64)> {
    let path = directory.join(&entry.list.name);
    let mut file = disk::open(&path)?;
    let mut buffer = vec![0; disk::READ_BUFFER];
    let (mut left, mut hash, mut lines) = (entry.list.bytes, Xxh3::new(), 0);
    while left > 0 {
        let n = disk::read_some(&mut file, &mut buffer, &path)? as u64;
        if n == 0 {
            break;
        }
        let bytes = &buffer[..n.min(left) as usize];
        hash.update(bytes);
        lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        put(bytes)?;
        left -= bytes.len() as u64;
    }
    Ok((hash.digest(), lines))
}

/// Refuses inputs that differ from the list.
pub(super) fn same(directory: &Path, inputs: impl Iterator<Item = InputEntry>) -> Result<()> {
    let come =
        |new: &InputEntry| other_inputs(directory, format!("it was made without {}", new.path));
    let mut list = InputList::open(directory)?;
    for new in inputs {
        let Some(old) = list.next()? else {
            return Err(come(&new));
        };
        if !old.is_at_place_of(&new) {
            return Err(if old.path < new.path || old.is_gone() {
                gone(directory, old)
            } else {
                come(&new)
            });
        }
        check_same(old, &new)?;
    }
    match list.next()? {
        Some(old) => Err(gone(directory, old)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(path: &Path) -> InputEntry {
        InputEntry {
            path: path.to_string_lossy().into(),
            real: Some(path.to_string_lossy().into()),
            name: "a".into(),
            below: 0,
            identity: None,
        }
    }

    /// The inputs of a collection may have been moved together with it.
    #[test]
    fn inputs_that_are_gone_are_to_be_put_back() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let listed = [at("b"), at("c")].map(|path| input(&path));
        std::fs::write(at("c"), "").unwrap();
        write(place.path(), listed.clone().into_iter()).unwrap();
        let help = |given: &[InputEntry]| {
            let error = same(place.path(), given.iter().cloned()).unwrap_err();
            (error.to_string(), error.help().unwrap())
        };
        for given in ["a", "d"] {
            let (line, help) = help(&[input(&at(given))]);
            assert!(
                line.ends_with("/b is not an input of this command, and is gone"),
                "{line}"
            );
            assert!(
                help.starts_with("put it back") && help.contains("run --from"),
                "{help}"
            );
        }
        let (line, help) = help(&listed[..1]);
        assert!(
            line.ends_with("/c is not an input of this command"),
            "{line}"
        );
        assert!(help.contains("lookalike add"), "{help}");
    }

    #[test]
    fn a_broken_line_is_told_by_where_it_begins() {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path(), std::iter::once(input("a".as_ref()))).unwrap();
        let path = directory.path().join(INPUTS_FILE);
        let first = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{first}{first}broken\n")).unwrap();
        let mut list = InputList::open(directory.path()).unwrap();
        assert!(list.next().unwrap().is_some() && list.next().unwrap().is_some());
        let error = list.next().unwrap_err().to_string();
        let start = format!(
            "{} is corrupt at byte {}: line 3: ",
            path.display(),
            2 * first.len()
        );
        assert!(error.starts_with(&start), "{error}");
    }
}
