//! An output directory: its lock, its manifest, and the removal of scrap.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::inputs::INPUTS_FILE;
use super::lock::{LOCK_FILE, Lock};
use super::manifest::{Base, FIRST_FORMAT, MANIFEST_FILE, MANIFEST_FORMAT, Manifest, program};
use super::place::{PRIVATE, SOURCE_FILE, has_records, is_run, is_run_with, near, refuse_remote};
use super::record::{StageRecord, StageRecordKind};
use super::{InputEntry, Skipped};
use crate::{self as store, Kind, PartInfo, PartReader, disk, received};
use lookalike_base::{
    Context, Error, NOT_THERE, Result, lock, refuse, room_for_block, workers::share,
};

/// An output directory, locked for this process.
#[derive(Debug)]
pub struct Workspace {
    places: Places,
    /// The committed state. After a change, call [`Workspace::commit`].
    pub manifest: Manifest,
    /// The locks of the directory, and of the directory whose parts it uses.
    locks: Mutex<Vec<Lock>>,
    /// Bytes of the manifest at the last commit of this process.
    manifest_bytes: u64,
    /// Bytes of parts that were made since then and are not committed.
    uncommitted: u64,
    /// The subdirectories of these parts.
    unsynced: BTreeSet<String>,
    /// Committed files that were missing when the directory was opened.
    lost: Vec<PathBuf>,
    /// Whether it was opened to read it: then nothing in it is made, replaced or removed.
    only_read: bool,
}

/// Where the parts of a workspace are, and what they must say.
#[derive(Clone, Debug)]
pub struct Places {
    directory: PathBuf,
    /// Digest of the collection's parameters, as stored in the header of each part.
    pub parameters: u128,
    /// Another output directory, and the subdirectories that are read from it. They are never
    /// written.
    base: Option<(PathBuf, Vec<&'static str>)>,
    /// Another output directory, and which of its parts are read.
    lent: Option<(PathBuf, Base)>,
}

impl Places {
    /// The places of the parts that a manifest in `directory` names.
    pub fn of(directory: &Path, manifest: &Manifest) -> Places {
        let lent = manifest.base.as_ref().map(|base| {
            let real = base.real.as_deref().map(Path::new);
            let real = real.filter(|real| matches!(disk::is_directory(real), Ok(true)));
            let lender = real.unwrap_or(Path::new(&base.path)).to_path_buf();
            disk::claim(&lender);
            (lender, base.clone())
        });
        Places {
            directory: directory.to_path_buf(),
            parameters: manifest.parameters(),
            base: None,
            lent,
        }
    }

    /// Whether a part is one of another directory that this one uses.
    pub fn is_lent(&self, directory: &str, name: &str) -> bool {
        let lent = self.lent.as_ref();
        lent.is_some_and(|(_, base)| base.has(directory, name))
    }

    /// The path of a subdirectory for parts.
    pub fn path(&self, name: &str) -> PathBuf {
        match &self.base {
            Some((base, names)) if names.contains(&name) => base.join(name),
            _ => self.directory.join(name),
        }
    }

    /// The path of a part in a subdirectory.
    pub fn part(&self, directory: &str, name: &str) -> PathBuf {
        match &self.lent {
            Some((lender, _)) if self.is_lent(directory, name) => lender.join(directory).join(name),
            _ => self.path(directory).join(name),
        }
    }

    /// Opens a part in a subdirectory, which must be the part that the manifest names.
    pub fn open(&self, directory: &str, kind: Kind, info: &PartInfo) -> Result<PartReader> {
        let path = self.part(directory, &info.name);
        PartReader::open(&path, kind, Some(self.parameters), Some(info))
    }
}

fn read_manifest(directory: &Path, kinds: &'static [StageRecordKind]) -> Result<Option<Manifest>> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    // Every command that uses or inspects a directory reads its manifest first.
    disk::claim(directory);
    let path = directory.join(MANIFEST_FILE);
    let is_regular = || disk::kind_of_name(&path).is_ok_and(|kind| kind == disk::REGULAR);
    let size = match disk::metadata(&path) {
        Err(error) if is_regular() => return Err(error).map_err(Error::io("inspect", &path)),
        // Reading it refuses a link, a directory and a device.
        there => there.map_or(0, |there| there.size()),
    };
    let most = match size > received::RECORD {
        true => received::most_of(directory, size, PART_IN_MANIFEST)?,
        false => received::RECORD,
    };
    let bytes = match received::read_whole(&path, most) {
        Ok(bytes) => bytes,
        // A missing manifest turns every part into scrap, so return `None` only if nothing at all
        // has this name.
        Err(Error::Io { source, .. }) if source.kind() == NotFound && disk::is_gone(&path)? => {
            return Ok(None);
        }
        Err(Error::Io { source, .. }) if source.kind() == NotADirectory => {
            return Err(not_output(directory)?);
        }
        Err(error) => return Err(error),
    };
    if !is_run_with(directory, &bytes)? {
        return Err(Error::NotOutput {
            path: directory.into(),
            what: "another program wrote its manifest.json",
            near: None,
        });
    }
    let corrupt = |what: &str, expected: String, found: String| {
        Error::corrupt(&path, what).expected(expected, found)
    };
    let Sealed { json, covered, sum } = Sealed::of(&bytes);
    #[derive(Deserialize)]
    struct Fields<'j> {
        #[serde(borrow)]
        format: Option<&'j RawValue>,
    }
    let fields: Fields<'_> = serde_json::from_slice(json).map_err(|e| {
        let expected = "JSON that ends with its checksum".into();
        corrupt("manifest", expected, e.to_string())
    })?;
    let format = fields.format.map_or("none", RawValue::get);
    let format: u32 = format
        .parse()
        .map_err(|_| corrupt("format of the manifest", "a number".into(), format.into()))?;
    let formats = FIRST_FORMAT..=MANIFEST_FORMAT;
    if !formats.contains(&format) {
        return Err(Error::version(&path, format, formats));
    }
    let found = format!("{:016x}", store::checksum(covered));
    if sum != found.as_bytes() {
        let stated = String::from_utf8_lossy(sum).into_owned();
        return Err(corrupt(
            "checksum of the manifest",
            format!("{stated:?}"),
            found,
        ));
    }
    serde_json::from_slice::<Counted>(json).map_err(|error| {
        let expected = format!("at most {}", received::MOST);
        corrupt("number in the manifest", expected, error.to_string())
    })?;
    // Its numbers are taken as they are, and its names may take more than in the file.
    room_for_block(bytes.len() as u64, || format!("reading {}", path.display()))?;
    let mut manifest = Manifest::from_json(json, kinds)
        .map_err(|e| corrupt("manifest", "the fields of its format".into(), e.to_string()))?;
    if let Some(name) = misplaced(&manifest) {
        return Err(corrupt(
            "name of a file",
            "the name of such a file".into(),
            format!("{name:?}"),
        ));
    }
    manifest.format = MANIFEST_FORMAT;
    Ok(Some(manifest))
}

/// Fields of a manifest that only have numbers of bytes, records and the like. There is one for
/// each of many parts, and they are added up.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Counted {
    inputs: received::Counts,
    segments: received::Counts,
    catalogue: received::Counts,
    results: received::Counts,
    additions: received::Counts,
    index: received::Counts,
}
/// The most bytes of a manifest for each of the files that it describes, including the other fields
/// of the manifest.
const PART_IN_MANIFEST: u64 = 2 << 10;

/// A manifest as it is stored.
struct Sealed<'b> {
    json: &'b [u8],
    /// The bytes that the checksum covers.
    covered: &'b [u8],
    sum: &'b [u8],
}

/// The name of the checksum, which is the last field. It covers all bytes before this name.
const SEAL: &[u8] = b"\"checksum\"";

impl Sealed<'_> {
    fn of(bytes: &[u8]) -> Sealed<'_> {
        let at = memchr::memmem::rfind(bytes, SEAL).unwrap_or(bytes.len());
        let (covered, end) = bytes.split_at(at);
        for (before, after) in [(": \"", "\"\n}\n"), (":\"", "\"}\n")] {
            let sum = end.get(SEAL.len()..).unwrap_or_default();
            let sum = sum.strip_prefix(before.as_bytes());
            let sum = sum.and_then(|sum| sum.strip_suffix(after.as_bytes()));
            if let Some(sum) = sum.filter(|sum| sum.len() == 16) {
                return Sealed {
                    json: bytes,
                    covered,
                    sum,
                };
            }
        }
        // Format 1: the last line holds the checksum of all before it.
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let end = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        let (json, sum) = bytes.split_at(end);
        Sealed {
            json,
            covered: json,
            sum,
        }
    }
}

/// The JSON of a manifest with its checksum as the last field.
fn sealed(mut body: String) -> String {
    let (end, comma, colon) = match body.ends_with("\n}\n") {
        true => ("\n}\n", ",\n  ", ": "),
        false => ("}\n", ",", ":"),
    };
    body.truncate(body.len() - end.len());
    body.push_str(comma);
    let sum = store::checksum(body.as_bytes());
    body.push_str(&format!("\"checksum\"{colon}\"{sum:016x}\"{end}"));
    body
}

/// The first name in a manifest that is not one of the kind that its place has.
fn misplaced(manifest: &Manifest) -> Option<&str> {
    let parts = manifest.parts().into_iter();
    let mut parts = parts.filter(|(_, kind, part)| !received::is_part(&part.name, Some(*kind)));
    let list = &manifest.inputs.list.name;
    let files = manifest.result_files().chain(&manifest.others);
    let mut files = files.map(|file| file.name.as_str());
    // An empty name is that of a list that is not there yet.
    let list = (!["", INPUTS_FILE].contains(&list.as_str())).then_some(list.as_str());
    let ours = [MANIFEST_FILE, LOCK_FILE, INPUTS_FILE];
    let part = parts.next().map(|(_, _, part)| part.name.as_str());
    part.or(list)
        .or_else(|| files.find(|name| ours.contains(name)))
}

/// A subdirectory for sorts that need no checkpoint. It is emptied at every start.
const SCRATCH: &str = "scratch";

/// Refuses a directory that belongs to another program, before changing anything in it: unknown
/// files would be removed as scrap, and the lock file would be overwritten.
fn refuse_others(directory: &Path, kinds: &'static [StageRecordKind]) -> Result<()> {
    // List the names before reading the manifest, because another process may be creating this
    // directory.
    let mut names = Vec::new();
    for entry in disk::entries(directory).map_err(Error::io("list", directory))? {
        names.push(entry.map_err(Error::io("list", directory))?.file_name());
    }
    let theirs = read_manifest(directory, kinds);
    let theirs = match theirs {
        Ok(Some(_)) => return Ok(()),
        Ok(None) => "it is not empty and has no manifest.json; give a new directory",
        Err(Error::NotOutput { .. }) => {
            "it is not empty, and another program wrote its manifest.json; give a new directory"
        }
        Err(error) => return Err(error),
    };
    let there = |name: &str| names.iter().any(|found| found == name);
    let begun = |name: &OsStr| {
        let list = disk::temporary(Path::new(INPUTS_FILE));
        let manifest = disk::temporary(Path::new(MANIFEST_FILE));
        let directories = Manifest::directories(kinds).into_iter().chain([SCRATCH]);
        [LOCK_FILE.as_ref(), list.as_os_str(), manifest.as_os_str()].contains(&name)
            || directories.into_iter().any(|ours| name == ours)
    };
    let ours = names.is_empty()
        || there(LOCK_FILE) && (there(INPUTS_FILE) || names.iter().all(|name| begun(name)));
    if ours {
        return Ok(());
    }
    refuse("output", directory.display(), theirs)
}

/// Why a directory without a manifest is not an output directory of a run.
fn not_output(directory: &Path) -> Result<Error> {
    refuse_remote(directory)?;
    let exists = !disk::is_gone(directory)?;
    let what = if !exists {
        NOT_THERE
    } else if !disk::is_directory(directory)? {
        "it is a file"
    } else if has_records(directory)? {
        "it has records that `dedup` or `passages --remove` wrote"
    } else if disk::exists(&directory.join(LOCK_FILE))?
        && disk::exists(&directory.join(INPUTS_FILE))?
    {
        "the command that began it has not read anything yet"
    } else {
        "it has no manifest.json"
    };
    let is_output = |other: &Path| is_run(other).unwrap_or(false);
    Ok(Error::NotOutput {
        path: directory.into(),
        what,
        near: match exists {
            true => Some(work_of(directory)).filter(|work| is_output(work)),
            false => near(directory, is_output),
        },
    })
}

/// Returns the directory in which the records in `kept` were searched. Their own record names a
/// directory next to them; otherwise it is the default of `dedup`. The record may be forged, so no
/// path with `..` in it and no absolute one is followed.
fn work_of(kept: &Path) -> PathBuf {
    let path = kept.join(PRIVATE).join(SOURCE_FILE);
    let source = received::read_whole(&path, received::RECORD).unwrap_or_default();
    let source: serde_json::Value = serde_json::from_slice(&source).unwrap_or_default();
    let next = source["work"].as_str();
    let next = next.and_then(|work| work.strip_prefix("../"));
    match next.filter(|name| received::is_below(name)) {
        Some(name) => kept.with_file_name(name),
        None => PathBuf::from([kept.as_os_str(), OsStr::new(".work")].join(OsStr::new(""))),
    }
}

impl Workspace {
    /// Refuses a directory that another process has locked, before a long computation starts.
    /// Opening the directory later checks again.
    pub fn look_whether_free(directory: &Path) -> Result<()> {
        Lock::look_whether_free(directory)
    }

    /// Opens the directory for a run over `inputs`, or creates it with the manifest `begin`. An
    /// existing directory must come from the same inputs, and `check` must accept its parameters.
    pub fn open_or_create(
        directory: &Path,
        begin: Manifest,
        inputs: impl Iterator<Item = InputEntry> + Clone,
        check: impl FnOnce(&Manifest) -> Result<()>,
    ) -> Result<Self> {
        super::place::refuse_below_another("output", directory)?;
        disk::create_lasting_directory(directory)?;
        refuse_others(directory, begin.kinds())?;
        let lock = Lock::take(directory)?;
        let manifest = match read_manifest(directory, begin.kinds())? {
            Some(mut manifest) => {
                super::inputs::restore(directory, &manifest.inputs, inputs.clone())?;
                check_list(directory, &manifest)?;
                super::inputs::trim(directory, &manifest.inputs)?;
                check(&manifest)?;
                super::inputs::same(directory, inputs.clone())?;
                manifest.inputs.skipped = begin.inputs.skipped;
                manifest
            }
            None => {
                let mut manifest = begin;
                let skipped = manifest.inputs.skipped;
                manifest.inputs = super::inputs::write(directory, inputs.clone())?;
                manifest.inputs.skipped = skipped;
                manifest
            }
        };
        let mut workspace = Workspace::locked(directory, manifest, lock);
        workspace.lock_lender()?;
        // Standard input cannot be read a second time.
        workspace.recover(inputs.into_iter().all(|input| input.path != "-"))?;
        workspace.commit(&[])?;
        Ok(workspace)
    }

    /// Opens a directory that holds a collection.
    pub fn open(directory: &Path, kinds: &'static [StageRecordKind]) -> Result<Self> {
        Workspace::look(directory, kinds)?;
        let lock = Lock::take(directory)?;
        // Read the manifest again: from here on no other process can change it.
        let manifest = Workspace::look(directory, kinds)?;
        check_list(directory, &manifest)?;
        super::inputs::trim(directory, &manifest.inputs)?;
        let mut workspace = Workspace::locked(directory, manifest, lock);
        workspace.lock_lender()?;
        workspace.recover(false)?;
        Ok(workspace)
    }

    /// Opens a directory that holds a collection for reading only. Several processes can do so at a
    /// time. Nothing in it is changed: a commit is refused. Files that are missing are found when
    /// they are opened.
    pub fn open_to_read(directory: &Path, kinds: &'static [StageRecordKind]) -> Result<Self> {
        Workspace::look(directory, kinds)?;
        let lock = Lock::share(directory)?;
        let manifest = Workspace::look(directory, kinds)?;
        check_list(directory, &manifest)?;
        let mut workspace = Workspace::locked(directory, manifest, lock);
        workspace.only_read = true;
        workspace.lock_lender()?;
        Ok(workspace)
    }

    /// Opens or creates a directory that depends on the collection of `base`, with the manifest
    /// `begin`. Its content is kept if it has the same `origin`. The caller must call
    /// `Workspace::recover` next.
    pub fn standing_on(
        base: &Workspace,
        directory: &Path,
        origin: &str,
        begin: Manifest,
    ) -> Result<Workspace> {
        disk::create_lasting_directory(directory)?;
        let lock = Lock::take(directory)?;
        let found = read_manifest(directory, begin.kinds())?;
        let same = |manifest: &Manifest| manifest.origin.as_deref() == Some(origin);
        if found.as_ref().is_some_and(|manifest| !same(manifest)) {
            // The files that this manifest names are about to be removed as scrap. Remove the
            // manifest first, so that it never outlives them.
            disk::remove(&directory.join(MANIFEST_FILE))?;
            disk::sync_directory(directory)?;
        }
        let found = found.filter(same);
        if found.is_none() {
            // The list is a copy from a collection that may have grown since.
            disk::remove(&directory.join(INPUTS_FILE))?;
        }
        let manifest = found.unwrap_or_else(|| {
            let mut manifest = begin;
            manifest.origin = Some(origin.into());
            manifest.inputs.clone_from(&base.manifest.inputs);
            manifest
        });
        Ok(Workspace::locked(directory, manifest, lock))
    }

    /// Locks the directory whose parts this one uses, for reading. Without it, the parts would look
    /// lost one by one.
    fn lock_lender(&mut self) -> Result<()> {
        if let Some((lender, _)) = &self.places.lent {
            if disk::is_gone(lender)? {
                let what = format!(" needs {}, which is gone", lender.display());
                let help = "move that collection back to where it was, or compare with it again: \
                            `lookalike run NEW --against OLD -o DIR`, with a new DIR";
                return Err(Error::of(self.directory(), what, help));
            }
            lock(&self.locks).push(Lock::share(lender)?);
        }
        Ok(())
    }

    /// Lets others change the directory from now on, for a reader that has opened everything that
    /// it needs, or needs only files that are never changed: the parts of a collection.
    pub fn release(&self) {
        lock(&self.locks).clear();
    }

    fn locked(directory: &Path, manifest: Manifest, lock: Lock) -> Workspace {
        let mut workspace = Workspace::unlocked(directory, manifest);
        workspace.locks = Mutex::new(vec![lock]);
        workspace
    }

    /// A directory with this manifest, without its lock. Other processes may change its files.
    pub fn unlocked(directory: &Path, manifest: Manifest) -> Workspace {
        Workspace {
            places: Places::of(directory, &manifest),
            manifest,
            locks: Mutex::default(),
            manifest_bytes: 0,
            uncommitted: 0,
            unsynced: BTreeSet::new(),
            lost: Vec::new(),
            only_read: false,
        }
    }

    /// Uses subdirectories of `base` instead of this directory's own subdirectories of the same
    /// names, and the parts that another directory lends to `base`. They are only read.
    pub fn borrow(&mut self, base: &Workspace, names: Vec<&'static str>) {
        self.places.lent.clone_from(&base.places.lent);
        self.places.base = Some((base.places.directory.clone(), names));
    }

    /// Copies the list of inputs of `base`, because rejects and report pages refer to input files
    /// by number.
    pub fn copy_inputs(&self, base: &Workspace) -> Result<()> {
        let list = self.places.directory.join(INPUTS_FILE);
        if disk::is_gone(&list)? {
            disk::copy(&base.places.directory.join(INPUTS_FILE), &list, || Ok(()))?;
        }
        check_list(&self.places.directory, &self.manifest)
    }

    /// Adds inputs to the end of the list. The caller commits: until then the lines do not count.
    pub fn append_inputs(&mut self, new: &[InputEntry], skipped: Skipped) -> Result<()> {
        let mut entry = super::inputs::append(self.directory(), &self.manifest.inputs, new)?;
        entry.skipped.hidden += skipped.hidden;
        entry.skipped.excluded += skipped.excluded;
        entry.skipped.outputs += skipped.outputs;
        self.manifest.inputs = entry;
        disk::sync_directory(self.directory())
    }

    /// Drops missing committed files from the manifest, creates the subdirectories, and removes
    /// scrap. Parts that come from the inputs can be rebuilt only if `inputs` are available.
    pub fn recover(&mut self, inputs: bool) -> Result<()> {
        self.lost = self.forget_gone(inputs)?;
        self.prepare()
    }

    /// Takes the list of committed files that were missing at the start and have to be rebuilt.
    pub fn take_lost(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.lost)
    }

    /// Removes the directory and every file in it that this program wrote.
    pub fn discard(self) -> Result<()> {
        let own = self.places.directory.clone();
        self.clear()?;
        disk::remove_directory(&own)
    }

    /// Removes every file of a collection from the directory, and keeps the directory.
    pub fn clear(self) -> Result<()> {
        let own = self.places.directory.clone();
        // Remove the manifest first: no run could continue from a manifest whose parts are missing.
        disk::remove(&own.join(MANIFEST_FILE))?;
        disk::sync_directory(&own)?;
        for name in self.directories().into_iter().chain([SCRATCH]) {
            let path = own.join(name);
            for file in disk::list(&path)? {
                disk::remove(&path.join(file))?;
            }
        }
        disk::remove(&own.join(LOCK_FILE))?;
        for name in self.directories().into_iter().chain([SCRATCH]) {
            disk::remove_directory(&own.join(name))?;
        }
        disk::remove(&own.join(INPUTS_FILE))
    }

    /// The subdirectories that hold parts. They hold no other files of this program.
    fn directories(&self) -> Vec<&'static str> {
        Manifest::directories(self.manifest.kinds())
    }

    /// Reads the manifest of a directory without locking it.
    pub fn look(directory: &Path, kinds: &'static [StageRecordKind]) -> Result<Manifest> {
        match read_manifest(directory, kinds)? {
            Some(manifest) => Ok(manifest),
            None => Err(not_output(directory)?),
        }
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.places.directory
    }

    /// The record of a stage. Without it, the error says that the stage must run first.
    pub fn record<R: StageRecord>(&self, stage: &'static str) -> Result<&R> {
        self.manifest.get().ok_or_else(|| self.missing(stage))
    }

    /// Whether there is a record of a stage that matches.
    pub fn matches<R: StageRecord>(&self, test: impl FnOnce(&R) -> bool) -> bool {
        self.manifest.get().is_some_and(test)
    }

    /// Begins again with another manifest for the same inputs.
    pub fn begin_again(&mut self, manifest: Manifest) -> Result<()> {
        let old = std::mem::replace(&mut self.manifest, manifest);
        self.manifest.inputs = old.inputs;
        self.manifest.others = old.others;
        self.places.parameters = self.manifest.parameters();
        // Before the parts are removed: a manifest never names parts that are gone.
        self.settle(&[])
    }

    /// The error that a stage must run first.
    pub fn missing(&self, stage: &'static str) -> Error {
        Error::no_stage(self.directory(), stage)
    }

    /// The path of a subdirectory for parts.
    pub fn path(&self, name: &str) -> PathBuf {
        self.places.path(name)
    }

    /// The path of a part in a subdirectory.
    pub fn part(&self, directory: &str, name: &str) -> PathBuf {
        self.places.part(directory, name)
    }

    /// Where its parts are, for threads that work while the manifest changes.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Whether a subdirectory is borrowed from another directory.
    pub(super) fn borrows(&self, name: &str) -> bool {
        self.places
            .base
            .as_ref()
            .is_some_and(|(_, names)| names.contains(&name))
    }

    /// The place for the files of sorts without checkpoints.
    pub fn scratch(&self, context: &Context<'_>) -> Result<disk::Scratch> {
        match context.scratch {
            Some(place) => disk::Scratch::within(place),
            None if self.only_read => disk::Scratch::within(&std::env::temp_dir()),
            None => Ok(disk::Scratch::at(self.places.directory.join(SCRATCH))),
        }
    }

    /// Digest of the collection's parameters, as stored in the header of each part.
    pub fn collection_parameters(&self) -> u128 {
        self.manifest.parameters()
    }

    /// Creates the subdirectories and removes everything that the manifest does not name.
    fn prepare(&mut self) -> Result<()> {
        for name in self.directories().into_iter().chain([SCRATCH]) {
            if !self.borrows(name) {
                disk::create_directory(&self.path(name))?;
            }
        }
        disk::remove(&disk::temporary(&self.path(MANIFEST_FILE)))?;
        // With the directory itself: what somebody mounted there is theirs.
        let scratch = self.places.directory.join(SCRATCH);
        disk::remove_tree(&scratch)?;
        disk::create_directory(&scratch)?;
        self.remove_scrap(1)
    }

    /// Refuses a directory that was opened to read it.
    pub(super) fn may_change(&self) -> Result<()> {
        match self.only_read {
            false => Ok(()),
            true => Err(Error::io("change", self.directory())(
                std::io::ErrorKind::ReadOnlyFilesystem.into(),
            )),
        }
    }

    /// Removes finished and unfinished parts that the manifest does not name, with several threads
    /// if there are many files. It takes the system some time to give back the memory and the disk
    /// space of a large one.
    pub fn remove_scrap(&self, threads: usize) -> Result<()> {
        self.may_change()?;
        let mut scrap = Vec::new();
        let named = self.manifest.parts();
        for name in self.directories() {
            // A borrowed subdirectory may still hold parts from a run with earlier query
            // parameters.
            let borrowed = self.borrows(name);
            let directory = self.places.directory.join(name);
            for file in disk::list(&directory)? {
                let known = !borrowed
                    && named
                        .iter()
                        .any(|(d, _, part)| *d == name && part.name == file);
                if !known && is_ours(&file) {
                    scrap.push(directory.join(&file));
                }
            }
        }
        let threads = threads.min(scrap.len() / FILES_OF_A_THREAD);
        if threads < 2 {
            return scrap.iter().try_for_each(|path| disk::remove(path));
        }
        share("remove", threads, scrap, |queue| {
            while let Some(path) = queue.next() {
                disk::remove(&path)?;
            }
            Ok(())
        })
    }

    /// Commits like [`Workspace::commit`], unless the manifest is large and little is new. `bytes`
    /// counts the parts that are new since the last call. A later commit or the end of the stage
    /// commits the parts that are left out; a run that is killed before then makes them again. So
    /// manifests take at most a sixty-fourth of the bytes that are written.
    pub fn commit_part(&mut self, directories: &[&str], bytes: u64) -> Result<()> {
        self.uncommitted += bytes;
        if is_due(self.manifest_bytes, self.uncommitted) {
            return self.commit(directories);
        }
        let names = directories.iter().map(|name| name.to_string());
        self.unsynced.extend(names);
        Ok(())
    }

    /// Commits the manifest, and removes the parts that it does not name any more.
    pub fn settle(&mut self, directories: &[&str]) -> Result<()> {
        self.commit(directories)?;
        self.remove_scrap(1)
    }

    /// Commits the manifest. The parts in the named subdirectories must already be in place.
    pub fn commit(&mut self, directories: &[&str]) -> Result<()> {
        self.may_change()?;
        let unsynced = std::mem::take(&mut self.unsynced);
        let others = unsynced.iter().map(String::as_str);
        let others = others.filter(|name| !directories.contains(name));
        for name in directories.iter().copied().chain(others) {
            disk::sync_directory(&self.path(name))?;
        }
        self.manifest.program = program();
        let path = self.path(MANIFEST_FILE);
        let mut body = store::json::line(&self.manifest, &path)?;
        if body.len() <= MOST_INDENTED {
            body = store::json::pretty(&self.manifest, &path)?;
        }
        let body = sealed(body);
        (self.manifest_bytes, self.uncommitted) = (body.len() as u64, 0);
        disk::put(&path, body.as_bytes())?;
        disk::sync_directory(&self.places.directory)
    }
}

/// A larger manifest is on one line: indented, it would be twice as long.
const MOST_INDENTED: usize = 64 << 10;
/// Fewer files are not worth a thread.
const FILES_OF_A_THREAD: usize = 16;
/// A smaller manifest is written with every commit: all of them together are few bytes.
const LARGE_MANIFEST: u64 = 1 << 20;
/// Bytes of parts for each byte of a large manifest.
const PARTS_OF_MANIFEST: u64 = 64;

/// Whether a manifest of this size is to be written for this number of bytes of new parts.
fn is_due(manifest: u64, new: u64) -> bool {
    manifest < LARGE_MANIFEST || new >= manifest.saturating_mul(PARTS_OF_MANIFEST)
}

/// Whether a name ends like the parts that this program writes, with or without `.tmp`.
fn is_ours(name: &str) -> bool {
    let name = name.strip_suffix(".tmp").unwrap_or(name);
    let Some((stem, ending)) = name.rsplit_once('.') else {
        return false;
    };
    let known = Kind::ALL.iter().any(|kind| kind.extension() == ending);
    known && !stem.is_empty() && !stem.contains('/')
}

/// Checks that the manifest was made with this list of inputs.
fn check_list(directory: &Path, manifest: &Manifest) -> Result<()> {
    super::inputs::check(directory, &manifest.inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many parts there are, the manifests take a small share of their bytes.
    #[test]
    fn manifests_are_few_bytes() {
        const ENTRY: u64 = 700;
        for (parts, of_part) in [(100, 1u64 << 26), (10_000, 1 << 26), (100_000, 1 << 20)] {
            let (mut written, mut manifest, mut new) = (0, 0, 0);
            for part in 1..=parts {
                new += of_part;
                if is_due(manifest, new) {
                    manifest = part * ENTRY;
                    written += manifest;
                    new = 0;
                }
            }
            let small = LARGE_MANIFEST / ENTRY * LARGE_MANIFEST;
            assert!(
                written <= small + parts * of_part / 50,
                "{parts}: {written}"
            );
            assert!(
                new < of_part.max(manifest * PARTS_OF_MANIFEST),
                "{parts}: {new} not committed"
            );
        }
    }
}
