//! The one layer that creates, writes, syncs, renames and removes files.
//!
//! A result is written to `NAME.tmp`, synced, and renamed to its final name. The code that commits
//! it syncs the directory (`sync_directory`). A failed sync is an error and is never retried: the
//! kernel may have dropped the pages, and a second sync would wrongly succeed.
//!
//! Below a claimed directory (`claim`), no link is followed and only regular files are opened
//! (`inside`). Everywhere else a path is the user's. An output there never replaces anything but a
//! regular file (`destination`), and opening or reading may wait, for a FIFO or a terminal
//! ([`waiting`]).

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::FileType;
use xxhash_rust::xxh3::xxh3_64;

use crate::remote;
use lookalike_base::{Error, Result, budget::ByteSize, command, keywords, threads};

#[cfg(feature = "faults")]
pub mod faults;
mod inside;
#[cfg(not(feature = "faults"))]
mod faults {
    //! Stand-ins for builds without the feature `faults`: nothing fails on purpose.
    use super::{Op, Path, io};

    #[inline(always)]
    pub(super) fn doing<T>(
        _: Op,
        _: &Path,
        _: Option<&Path>,
        act: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        act()
    }

    #[inline(always)]
    pub(super) fn limit(_: Op, _: &Path, bytes: usize) -> io::Result<usize> {
        Ok(bytes)
    }

    #[inline(always)]
    pub fn buffer(_: &Path, items: usize) -> usize {
        items
    }

    #[inline(always)]
    pub fn point(_: &'static str) {}
}

pub use crate::metadata::Metadata;
pub use faults::{buffer, point};
pub use inside::claim;

/// Bytes of a writer's buffer.
pub const WRITE_BUFFER: usize = 256 << 10;
/// Bytes of a sequential reader's buffer.
pub const READ_BUFFER: usize = 256 << 10;

keywords! {
    /// Kinds of file operations.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Op {
        /// A file is opened for reading.
        Open = "open",
        /// A file is created.
        Create = "create",
        /// Bytes are read.
        Read = "read",
        /// Bytes are written.
        Write = "write",
        /// A file's content is made durable.
        Sync = "sync",
        /// A directory's names are made durable.
        SyncDirectory = "sync-directory",
        /// A file gets another name.
        Rename = "rename",
        /// A file is removed.
        Remove = "remove",
        /// A directory is made.
        CreateDirectory = "create-directory",
        /// A directory is removed.
        RemoveDirectory = "remove-directory",
        /// The names in a directory are read.
        List = "list",
        /// A name is looked up.
        Inspect = "inspect",
        /// A file is mapped.
        Map = "map",
        /// A file is locked.
        Lock = "lock",
        /// No operation: a named point in a stage.
        Point = "point",
    }
}

impl Op {
    /// The kind with this name.
    pub fn named(name: &str) -> Option<Op> {
        Op::ALL.into_iter().find(|op| op.text() == name)
    }

    /// Whether the operation changes the content of the disk or makes a change durable.
    pub fn changes(self) -> bool {
        use Op::{
            Create, CreateDirectory, Remove, RemoveDirectory, Rename, Sync, SyncDirectory, Write,
        };
        matches!(
            self,
            Create
                | CreateDirectory
                | Remove
                | RemoveDirectory
                | Rename
                | Sync
                | SyncDirectory
                | Write
        )
    }
}

/// An open file, or an object of a store. All bytes go in and out through this type. A copy has the
/// same reading position.
#[derive(Clone, Debug)]
pub struct File {
    file: Opened,
    /// Whether reading and writing may wait for another process: not for a regular file.
    waits: bool,
    #[cfg(feature = "faults")]
    path: PathBuf,
}

/// An open file of the disk, or an object.
#[derive(Debug)]
enum Opened {
    Disk(Arc<fs::File>),
    #[cfg(feature = "remote")]
    Object(Arc<remote::Object>, Box<Mutex<remote::Window>>),
    /// An object that is being written.
    Upload(Arc<Mutex<remote::Upload>>),
}

impl Clone for Opened {
    fn clone(&self) -> Opened {
        match self {
            Opened::Disk(file) => Opened::Disk(file.clone()),
            // Each copy reads an object from other places, so each has its own window.
            #[cfg(feature = "remote")]
            Opened::Object(object, _) => Opened::Object(object.clone(), Box::default()),
            Opened::Upload(upload) => Opened::Upload(upload.clone()),
        }
    }
}

impl Opened {
    /// The file on disk.
    fn disk(&self) -> io::Result<&fs::File> {
        match self {
            Opened::Disk(file) => Ok(file),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

impl File {
    fn new(file: fs::File, path: &Path) -> File {
        File::of(Opened::Disk(file.into()), path)
    }

    fn of(file: Opened, path: &Path) -> File {
        #[cfg(not(feature = "faults"))]
        let _ = path;
        File {
            file,
            waits: false,
            #[cfg(feature = "faults")]
            path: path.to_path_buf(),
        }
    }

    #[cfg(feature = "faults")]
    fn path(&self) -> &Path {
        &self.path
    }

    #[cfg(not(feature = "faults"))]
    fn path(&self) -> &Path {
        Path::new("")
    }

    /// The file's metadata.
    pub fn metadata(&self) -> io::Result<Metadata> {
        faults::doing(Op::Inspect, self.path(), None, || match &self.file {
            Opened::Disk(file) => file.metadata().map(known),
            #[cfg(feature = "remote")]
            Opened::Object(object, _) => Ok(object.metadata().clone()),
            Opened::Upload(_) => Err(io::ErrorKind::Unsupported.into()),
        })
    }

    /// A copy for a reader that wants nothing from a place on.
    #[must_use]
    pub fn until(&self, end: Option<u64>) -> File {
        let copy = self.clone();
        #[cfg(feature = "remote")]
        if let (Opened::Object(_, window), Some(end)) = (&copy.file, end) {
            *threads::lock(window) = remote::Window::until(end);
        }
        #[cfg(not(feature = "remote"))]
        let _ = end;
        copy
    }

    /// Fills `out` with the bytes from `offset`.
    ///
    /// # Errors
    /// `UnexpectedEof` if the file ends too early.
    pub fn read_exact_at(&self, mut out: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !out.is_empty() {
            match self.read_at(out, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => {
                    out = &mut out[n..];
                    offset += n as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Reads at an offset, without changing the reading position.
    pub fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        let n = faults::limit(Op::Read, self.path(), out.len())?;
        self.read_from(&mut out[..n], offset)
    }

    fn read_from(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        use std::os::unix::fs::FileExt;
        match &self.file {
            Opened::Disk(file) => file.read_at(out, offset),
            #[cfg(feature = "remote")]
            Opened::Object(object, window) => {
                let mut window = threads::lock(window);
                let _wait = wait();
                object.read_at(&mut window, out, offset)
            }
            Opened::Upload(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Reads from the reading position.
    fn read_on(&self, out: &mut [u8]) -> io::Result<usize> {
        match &self.file {
            Opened::Disk(file) => {
                let mut file: &fs::File = file;
                file.read(out)
            }
            #[cfg(feature = "remote")]
            Opened::Object(object, _) => {
                let at = object.at.load(Ordering::Relaxed);
                let n = self.read_from(out, at)?;
                object.at.store(at + n as u64, Ordering::Relaxed);
                Ok(n)
            }
            Opened::Upload(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// The object that is being written, if the file is one.
    fn upload(&self) -> Option<MutexGuard<'_, remote::Upload>> {
        match &self.file {
            Opened::Upload(upload) => Some(threads::lock(upload)),
            _ => None,
        }
    }

    /// As [`File::new`], for a file of any type.
    fn of_any_type(file: fs::File, path: &Path) -> io::Result<File> {
        let waits = !file.metadata()?.is_file();
        let mut file = File::new(file, path);
        file.waits = waits;
        Ok(file)
    }

    /// Maps the file with `map`.
    pub(super) fn mapped<T>(&self, map: impl FnOnce(&fs::File) -> io::Result<T>) -> io::Result<T> {
        faults::doing(Op::Map, self.path(), None, || map(self.file.disk()?))
    }
}

impl Read for File {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = faults::limit(Op::Read, self.path(), out.len())?;
        let _wait = self.waits.then(wait);
        self.read_on(&mut out[..n])
    }
}

/// The numbers of waits that have begun and ended in this process: [`waiting`] is for a process that
/// runs one command, and ends with it.
static WAITS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// A call of the system that may wait for another process as long as that process likes: for the
/// other end of a FIFO, a terminal, or the reader of standard output.
pub struct Wait(());

/// Says that such a call begins. It has ended when the value is dropped.
pub fn wait() -> Wait {
    WAITS[0].fetch_add(1, Ordering::SeqCst);
    Wait(())
}

impl Drop for Wait {
    fn drop(&mut self) {
        WAITS[1].fetch_add(1, Ordering::SeqCst);
    }
}

/// Identifies the calls that are waiting now; `None` if there are none. A thread that waits cannot
/// notice a request to stop: if the same calls wait a moment after one, only the end of the process
/// ends them.
pub fn waiting() -> Option<(u64, u64)> {
    let ended = WAITS[1].load(Ordering::SeqCst);
    let begun = WAITS[0].load(Ordering::SeqCst);
    (begun != ended).then_some((begun, ended))
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = faults::limit(Op::Write, self.path(), bytes.len())?;
        if let Some(mut upload) = self.upload() {
            return upload.write(&bytes[..n]);
        }
        let _wait = self.waits.then(wait);
        let mut file = self.file.disk()?;
        file.write(&bytes[..n])
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.upload().is_some() {
            return Ok(());
        }
        let mut file = self.file.disk()?;
        file.flush()
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &self.file {
            Opened::Disk(file) => {
                let mut file: &fs::File = file;
                file.seek(to)
            }
            #[cfg(feature = "remote")]
            Opened::Object(object, _) => {
                let from = |begin: u64, by| begin.checked_add_signed(by);
                let at = match to {
                    SeekFrom::Start(at) => Some(at),
                    SeekFrom::Current(by) => from(object.at.load(Ordering::Relaxed), by),
                    SeekFrom::End(by) => from(object.metadata().size(), by),
                };
                let at = at.ok_or(io::ErrorKind::InvalidInput)?;
                object.at.store(at, Ordering::Relaxed);
                Ok(at)
            }
            Opened::Upload(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

/// The name of a file while it is still incomplete.
pub fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    name.into()
}

/// The longest name to which [`unlike_others`] adds 15 bytes: file systems take 255.
const MOST_NAME: usize = 240;

/// As [`temporary`], where other programs also write: a name that none of them uses.
fn unlike_others(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    let mut unlike = std::ffi::OsString::from(".");
    match name.len() > MOST_NAME {
        true => unlike.push(format!("{:016x}", xxh3_64(name.as_encoded_bytes()))),
        false => unlike.push(name),
    }
    unlike.push(".lookalike.tmp");
    path.with_file_name(unlike)
}

/// Creates a file for writing. First removes a leftover of the same name from a killed command. If
/// the name is a link, only the link is removed, not its target.
pub fn create(path: &Path) -> Result<File> {
    let create = || faults::doing(Op::Create, path, None, || inside::create(path));
    let mut created = create();
    if matches!(&created, Err(e) if e.kind() == io::ErrorKind::AlreadyExists) {
        remove(path)?;
        created = create();
    }
    Ok(File::new(created.map_err(Error::io("create", path))?, path))
}

/// Begins an object of about `expected` bytes, which nobody sees before [`place`]. `begun` is told
/// the id of an upload of several parts. If the file is dropped before, the upload is aborted.
pub fn create_object(
    path: &Path,
    expected: u64,
    begun: Option<Arc<remote::Begun>>,
) -> Result<File> {
    let create = || remote::Upload::create(path, expected, begun);
    let upload = faults::doing(Op::Create, path, None, create);
    let upload = upload.map_err(Error::io("write to", path))?;
    Ok(File::of(Opened::Upload(Arc::new(upload.into())), path))
}

/// Gives an object its name after [`sync`], replacing any object of that name. Returns what the store calls
/// this version of it.
pub fn place(file: &File, path: &Path) -> Result<Option<String>> {
    let place = || file.upload().map_or(Ok(None), |mut upload| upload.place());
    faults::doing(Op::Rename, path, Some(path), place).map_err(Error::io("write", path))
}

/// Aborts an upload that a killed command left, unless it is gone.
pub fn abort_upload(path: &Path, id: &str) -> Result<()> {
    faults::doing(Op::Remove, path, None, || remote::abort(path, id))
        .map_err(Error::io("abort an upload to", path))
}

/// The names of the objects below an address, with their metadata; at most this number of them.
pub fn objects_below(path: &Path, most: usize) -> Result<Vec<(String, Metadata)>> {
    let _wait = wait();
    faults::doing(Op::List, path, None, || remote::below(path, most))
        .map_err(Error::io("list", path))
}

/// Opens a file for reading. A file that the user names may be of any type: opening a FIFO waits
/// until another process writes to it.
///
/// The bytes of a FIFO can be read only once, but a command may open a file several times: to
/// recognise its form, and then to read it. So they are copied into a file without a name, which
/// every later call of the same command opens.
pub fn open(path: &Path) -> Result<File> {
    if remote::is_address(path) {
        return open_regular(path);
    }
    let copies = command::state::<Copies>();
    let opened = threads::lock(&copies).get(path).map(inside::again);
    if let Some(copy) = opened {
        return Ok(File::new(copy.map_err(Error::io("open", path))?, path));
    }
    let opened = faults::doing(Op::Open, path, None, || inside::open(path));
    let file = opened.and_then(|file| File::of_any_type(file, path));
    let mut file = file.map_err(Error::io("open", path))?;
    let is_fifo = file.file.disk().is_ok_and(inside::is_fifo);
    if !file.waits || !is_fifo {
        return Ok(file);
    }
    let copy = "a temporary file".as_ref();
    let mut all = tempfile::tempfile().map_err(Error::io("create", copy))?;
    each_piece(&mut file, path, |piece| {
        all.write_all(piece).map_err(Error::io("write", copy))
    })?;
    let again = inside::again(&all).map_err(Error::io("open", copy))?;
    threads::lock(&copies).insert(path.into(), all);
    Ok(File::new(again, path))
}

/// The copies of FIFOs that a command has read, by path.
type Copies = Mutex<BTreeMap<PathBuf, fs::File>>;

/// As [`open`], but refuses everything except regular files.
pub fn open_regular(path: &Path) -> Result<File> {
    open_input(path).map_err(Error::io("open", path))
}

/// Opens an input file for reading, which was a regular file when it was listed. If something else
/// has its name, this is an error and never a wait. The errors are the caller's to interpret.
pub fn open_input(path: &Path) -> io::Result<File> {
    #[cfg(feature = "remote")]
    if remote::is_address(path) {
        let _wait = wait();
        let opened = faults::doing(Op::Open, path, None, || remote::Object::open(path))?;
        let object = Opened::Object(opened.into(), Box::default());
        return Ok(File::of(object, path));
    }
    let opened = faults::doing(Op::Open, path, None, || inside::open_regular(path));
    Ok(File::new(opened?, path))
}

/// Creates a directory and its missing parents.
pub fn create_directory(path: &Path) -> Result<()> {
    let create = || inside::create_directory(path);
    faults::doing(Op::CreateDirectory, path, None, create)
        .map_err(Error::io("create directory", path))
}

/// Creates a directory and its missing parents, and makes their names durable.
pub fn create_lasting_directory(path: &Path) -> Result<()> {
    create_missing(path)?
        .into_iter()
        .try_for_each(sync_directory)
}

/// Creates a directory and its missing parents. Returns the directories in which it made names,
/// which are not durable yet.
pub fn create_missing(path: &Path) -> Result<Vec<&Path>> {
    let mut changed = Vec::new();
    for place in path.ancestors() {
        // The last ancestor of a relative path is empty and stands for the current directory.
        if place.as_os_str().is_empty() || exists(place)? {
            break;
        }
        changed.extend(parent(place));
    }
    create_directory(path)?;
    Ok(changed)
}

/// The directory in which a path is a name.
fn parent(path: &Path) -> Option<&Path> {
    path.parent()
        .map(|parent| match parent.as_os_str().is_empty() {
            true => Path::new("."),
            false => parent,
        })
}

/// The directory in which a path is a name; the current one if the path names no other.
pub fn directory_of(path: &Path) -> &Path {
    parent(path).unwrap_or(Path::new("."))
}

/// Makes the name of a path durable.
pub fn sync_parent(path: &Path) -> Result<()> {
    if remote::is_address(path) {
        return Ok(());
    }
    parent(path).map_or(Ok(()), sync_directory)
}

/// How the names of temporary directories begin.
const TEMPORARY: &str = "lookalike-";

/// The name that [`unnamed`] files have for the tests that cut the power by calculation.
const UNNAMED: &str = "unnamed.tmp";

/// Whether a file of this name can be what a killed process has left of an [`unnamed`] file: where
/// the system has no files without a name, it has one for a moment.
pub fn is_unnamed(name: &str) -> bool {
    name == UNNAMED || name.strip_prefix(".tmp").is_some_and(is_random)
}

/// Whether this is what the crate `tempfile` appends: six letters or digits.
fn is_random(text: &str) -> bool {
    text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Removes what killed processes left of files in a directory: the [`Scratch::beside`] of those
/// whose names are chosen.
pub fn remove_left(directory: &Path, of: impl Fn(&str) -> bool) -> Result<()> {
    for name in list_kind(directory, FileType::is_dir)? {
        let rest = name.strip_prefix(TEMPORARY);
        let file = rest.and_then(|rest| rest.rsplit_once('-'));
        if file.is_some_and(|(file, random)| is_random(random) && of(file)) {
            match remove_tree(&directory.join(name)) {
                // Another process removes it as well.
                Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
                removed => removed?,
            }
        }
    }
    Ok(())
}

/// Creates a file in `directory` for writing and reading. It has no name, so it vanishes with the
/// process.
pub fn unnamed(directory: &Path) -> Result<File> {
    let path = directory.join(UNNAMED);
    let create = || tempfile::tempfile_in(directory);
    let created = faults::doing(Op::Create, &path, None, create);
    let created = created.map_err(Error::io("make a file in", directory))?;
    Ok(File::new(created, &path))
}

/// A place for temporary files. If the directory was created for them, it is removed on drop.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    private: bool,
}

impl Scratch {
    /// Uses an existing directory.
    pub fn at(path: PathBuf) -> Scratch {
        Scratch {
            path,
            private: false,
        }
    }

    /// Creates a private directory in `parent`, named `lookalike-` and six characters.
    pub fn within(parent: &Path) -> Result<Scratch> {
        Scratch::named(parent, TEMPORARY)
    }

    /// Creates a private directory beside the path that a file will get. The name of the directory
    /// contains the name of the file ([`remove_left`]).
    pub fn beside(path: &Path) -> Result<Scratch> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Scratch::named(directory_of(path), &format!("{TEMPORARY}{name}-"))
    }

    /// Creates it by the name of `parent`, as a claim knows it: the paths of `tempfile` are
    /// absolute.
    fn named(parent: &Path, prefix: &str) -> Result<Scratch> {
        let mut path = PathBuf::new();
        let create = |chosen: &Path| {
            path = parent.join(chosen.file_name().unwrap_or_default());
            inside::create_new_directory(&path)
        };
        faults::doing(Op::CreateDirectory, parent, None, || {
            let mut names = tempfile::Builder::new();
            names.prefix(prefix).disable_cleanup(true);
            names.make_in(parent, create).map(drop)
        })
        .map_err(Error::io("make a directory in", parent))?;
        Ok(Scratch {
            path,
            private: true,
        })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.private {
            // A later command finds and removes it (`remove_left`).
            let _ = inside::remove_tree(&self.path);
        }
    }
}

/// The space of a file system.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// Bytes that this user may still write.
    pub left: ByteSize,
    /// All of it.
    pub size: ByteSize,
}

/// The space of the file system of a file or directory. Some network and user-space file systems
/// report none.
pub fn space(path: &Path) -> Option<Space> {
    let found = rustix::fs::statvfs(path).ok()?;
    let bytes = |blocks: u64| ByteSize(blocks.saturating_mul(found.f_frsize));
    (found.f_blocks > 0).then(|| Space {
        left: bytes(found.f_bavail),
        size: bytes(found.f_blocks),
    })
}

/// Makes the written content durable. It makes only one attempt: after a failure the kernel may
/// have dropped what it could not write, and a second attempt would succeed. Of an object, it sends
/// the last bytes.
pub fn sync(file: &File, path: &Path) -> Result<()> {
    if let Some(mut upload) = file.upload() {
        let seal = || upload.seal();
        return faults::doing(Op::Sync, path, None, seal).map_err(Error::io("write", path));
    }
    faults::doing(Op::Sync, file.path(), None, || file.file.disk()?.sync_all())
        .map_err(Error::io("sync", path))
}

/// Makes names that were created or removed in a directory durable.
pub fn sync_directory(path: &Path) -> Result<()> {
    let directory = faults::doing(Op::Open, path, None, || inside::open_directory(path));
    let directory = directory.map_err(Error::io("open directory", path))?;
    faults::doing(Op::SyncDirectory, path, None, || directory.sync_all())
        .map_err(Error::io("sync directory", path))
}

/// Gives a file its final name, replacing any file of that name.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    faults::doing(Op::Rename, from, Some(to), || inside::rename(from, to))
        .map_err(Error::io("rename", from))
}

/// Gives an open file its final name, replacing any file of that name. Later writes reach the file
/// under that name.
pub fn rename_open(file: File, from: &Path, to: &Path) -> Result<File> {
    rename(from, to)?;
    Ok(File::of(file.file, to))
}

/// Removes a file. A missing file is not an error.
pub fn remove(path: &Path) -> Result<()> {
    let removed = if_there(faults::doing(Op::Remove, path, None, || {
        inside::remove(path)
    }));
    removed.map(drop).map_err(Error::io("remove", path))
}

/// Removes an empty directory. A directory that is missing or not empty is left alone.
pub fn remove_directory(path: &Path) -> Result<()> {
    use io::ErrorKind::{DirectoryNotEmpty, NotFound};
    let remove = || inside::remove_directory(path);
    match faults::doing(Op::RemoveDirectory, path, None, remove) {
        Err(e) if ![NotFound, DirectoryNotEmpty].contains(&e.kind()) => {
            Err(e).map_err(Error::io("remove", path))
        }
        _ => Ok(()),
    }
}

/// Removes a directory and everything in it. If another file system is mounted in its place or within
/// it, the error names it.
pub(crate) fn remove_tree(path: &Path) -> Result<()> {
    faults::doing(Op::Remove, path, None, || inside::remove_tree(path))
        .map_err(Error::io("remove", path))
}

fn known(metadata: fs::Metadata) -> Metadata {
    use std::os::unix::fs::MetadataExt;
    #[allow(
        clippy::unnecessary_cast,
        reason = "a mode has 16 bits on Apple's systems"
    )]
    let kind = FileType::from_raw_mode(metadata.mode() as rustix::fs::RawMode);
    let modified = metadata.modified().ok();
    let modified = modified.map(|at| match at.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos),
    });
    Metadata::new(kind, metadata.len(), modified)
}

/// The metadata of a path, following links.
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    #[cfg(feature = "remote")]
    if remote::is_address(path) {
        let _wait = wait();
        return faults::doing(Op::Inspect, path, None, || remote::metadata(path));
    }
    faults::doing(Op::Inspect, path, None, || fs::metadata(path)).map(known)
}

/// The device and the number of a file on it, which together identify a file under any name. `None`
/// if there is no file.
pub fn identity(path: &Path) -> io::Result<Option<(u64, u64)>> {
    use std::os::unix::fs::MetadataExt;
    let found = if_there(faults::doing(Op::Inspect, path, None, || {
        fs::metadata(path)
    }))?;
    Ok(found.map(|metadata| (metadata.dev(), metadata.ino())))
}

/// Turns the error of a missing file into `None`.
fn if_there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// The absolute path without links; the address of an object.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    if remote::is_address(path) {
        return Ok(remote::normal(path));
    }
    faults::doing(Op::Inspect, path, None, || fs::canonicalize(path))
}

/// The absolute path without links, if the path leads to something.
pub fn real(path: &Path) -> Result<Option<PathBuf>> {
    use io::ErrorKind::{NotADirectory, NotFound};
    match canonical(path) {
        Ok(real) => Ok(Some(real)),
        Err(e) if matches!(e.kind(), NotFound | NotADirectory) => Ok(None),
        Err(e) => Err(e).map_err(Error::io("inspect", path)),
    }
}

/// The entries of a directory, in the kernel's order.
pub fn entries(path: &Path) -> io::Result<fs::ReadDir> {
    faults::doing(Op::List, path, None, || fs::read_dir(path))
}

/// The metadata of a path, or `None` if nothing has this name.
fn inspect(path: &Path) -> Result<Option<rustix::fs::Stat>> {
    let stat = faults::doing(Op::Inspect, path, None, || inside::inspect(path));
    if_there(stat).map_err(Error::io("inspect", path))
}

/// The size of a file.
pub fn size(path: &Path) -> Result<u64> {
    let stat = faults::doing(Op::Inspect, path, None, || inside::inspect(path));
    let size = stat.map_err(Error::io("inspect", path))?.st_size;
    Ok(u64::try_from(size).unwrap_or(0))
}

/// Whether something has this name. If this cannot be determined, it returns an error rather than
/// `false`: callers recreate missing files and would lose the existing content.
pub fn exists(path: &Path) -> Result<bool> {
    if remote::is_address(path) {
        let there = if_there(metadata(path)).map_err(Error::io("inspect", path))?;
        return Ok(there.is_some());
    }
    Ok(inspect(path)?.is_some())
}

/// Whether there is a directory of this name.
pub fn is_directory(path: &Path) -> Result<bool> {
    let stat = inspect(path)?;
    Ok(stat.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode).is_dir()))
}

/// The name that [`kind_of_name`] returns for a regular file.
pub const REGULAR: &str = inside::FILE;

/// The kind of thing that has this name, for messages. No link is followed.
pub fn kind_of_name(path: &Path) -> io::Result<&'static str> {
    faults::doing(Op::Inspect, path, None, || inside::kind_of_name(path))
}

/// Whether this user may create files in a directory, as far as the system tells.
pub fn is_writable(directory: &Path) -> bool {
    use rustix::fs::{Access, access};
    !matches!(
        access(directory, Access::WRITE_OK | Access::EXEC_OK),
        Err(rustix::io::Errno::ACCESS | rustix::io::Errno::ROFS | rustix::io::Errno::PERM)
    )
}

/// Whether nothing has this name, not even a dangling link.
pub fn is_gone(path: &Path) -> Result<bool> {
    if remote::is_address(path) {
        return exists(path).map(|exists| !exists);
    }
    let stat = faults::doing(Op::Inspect, path, None, || inside::inspect_name(path));
    let there = if_there(stat).map_err(Error::io("inspect", path))?;
    Ok(there.is_none())
}

/// Names of the regular files in a directory, sorted; empty if the directory is missing.
pub fn list(path: &Path) -> Result<Vec<String>> {
    list_kind(path, FileType::is_file)
}

fn list_kind(path: &Path, is: impl Fn(FileType) -> bool) -> Result<Vec<String>> {
    let all = if_there(faults::doing(Op::List, path, None, || inside::list(path)));
    let all = all.map_err(Error::io("list", path))?.unwrap_or_default();
    let all = all.into_iter().filter(|(_, kind)| is(*kind));
    let names = all.filter_map(|(name, _)| name.into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    Ok(names)
}

/// The names in a directory, sorted; bytes that are not UTF-8 are replaced.
pub fn list_all(path: &Path) -> Result<Vec<String>> {
    let all = faults::doing(Op::List, path, None, || inside::list(path));
    let all = all.map_err(Error::io("list", path))?;
    let names = all
        .into_iter()
        .map(|(name, _)| name.to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    Ok(names)
}

/// Gives a file another name, which must be free. The errors are the caller's to interpret.
pub fn link(from: &Path, to: &Path) -> io::Result<()> {
    faults::doing(Op::Create, to, Some(from), || inside::link(from, to))
}

/// Reads a whole small file.
pub fn read_all(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?
        .read_to_end(&mut bytes)
        .map_err(Error::io("read", path))?;
    Ok(bytes)
}

/// Reads the next bytes, at most the length of `out`; 0 at the end of the file. Retries interrupted
/// calls.
pub fn read_some(file: &mut File, out: &mut [u8], path: &Path) -> Result<usize> {
    loop {
        match file.read(out) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => return other.map_err(Error::io("read", path)),
        }
    }
}

/// Passes the bytes of a file to `take`, piece by piece.
pub fn each_piece(
    file: &mut File,
    path: &Path,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut buffer = vec![0; READ_BUFFER];
    loop {
        match read_some(file, &mut buffer, path)? {
            0 => return Ok(()),
            read => take(&buffer[..read])?,
        }
    }
}

/// The size of a file, and its checksum as 16 hexadecimal digits. `goes_on` is asked between pieces,
/// and may end it.
pub fn content(path: &Path, mut goes_on: impl FnMut() -> Result<()>) -> Result<(u64, String)> {
    let (mut hash, mut bytes) = (xxhash_rust::xxh3::Xxh3::new(), 0);
    each_piece(&mut open(path)?, path, |piece| {
        hash.update(piece);
        bytes += piece.len() as u64;
        goes_on()
    })?;
    Ok((bytes, format!("{:016x}", hash.digest())))
}

/// A file that this process has locked until it drops it, or the text that the process with the
/// lock wrote.
pub enum Locked {
    /// This process has the lock.
    Ours(File),
    /// Another process has the lock and wrote this text.
    Theirs(String),
}

/// Delay before the second attempt to lock a file.
const LOCK_AGAIN: Duration = Duration::from_millis(50);

/// Opens a lock file for reading. Returns `None` if the file does not exist.
pub(crate) fn look_at_lock(path: &Path) -> Result<Option<File>> {
    let opened = faults::doing(Op::Open, path, None, || inside::look_at_lock(path));
    let opened = if_there(opened).map_err(Error::io("open", path))?;
    Ok(opened.map(|file| File::new(file, path)))
}

/// Tries to lock a file for reading, which several processes can do at a time. Does not change the
/// file, which may be on a read-only medium; `None` if there is no such file.
pub fn lock_shared(path: &Path) -> Result<Option<Locked>> {
    let Some(mut file) = look_at_lock(path)? else {
        return Ok(None);
    };
    let locked = lock_soon(path, || try_lock_shared(&file, path))?;
    Ok(Some(if locked {
        Locked::Ours(file)
    } else {
        Locked::Theirs(holder(&mut file))
    }))
}

/// Tries to get a lock, and once more after a moment: it may be held only briefly by a process that
/// inspects it, or its owner may not have written its text yet.
fn lock_soon(path: &Path, try_lock: impl Fn() -> io::Result<bool>) -> Result<bool> {
    let mut locked = try_lock();
    if matches!(locked, Ok(false)) {
        std::thread::sleep(LOCK_AGAIN);
        locked = try_lock();
    }
    locked.map_err(Error::io("lock", path))
}

fn try_lock_shared(file: &File, path: &Path) -> io::Result<bool> {
    faults::doing(Op::Lock, path, None, || {
        got(file.file.disk()?.try_lock_shared())
    })
}

/// Whether the attempt got the lock, or the error of the attempt.
fn got(tried: std::result::Result<(), fs::TryLockError>) -> io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(fs::TryLockError::WouldBlock) => Ok(false),
        Err(fs::TryLockError::Error(e)) => Err(e),
    }
}

/// The text that the owner of a lock wrote into the file; empty if it cannot be read.
fn holder(file: &mut File) -> String {
    let mut text = Vec::new();
    let _ = file.read_to_end(&mut text);
    String::from_utf8_lossy(&text).trim().into()
}

/// The owner of the lock on a file; `None` if the file is not locked or this cannot be determined.
pub(crate) fn locked_by(path: &Path) -> Option<String> {
    match lock_shared(path) {
        Ok(Some(Locked::Theirs(holder))) => Some(holder),
        _ => None,
    }
}

/// Locks a file, creating it if it is missing, and writes `text` into it to identify the owner.
pub fn lock(path: &Path, text: &str) -> Result<Locked> {
    let opened = faults::doing(Op::Create, path, None, || inside::open_lock(path));
    let mut file = File::new(opened.map_err(Error::io("open", path))?, path);
    let try_lock = || faults::doing(Op::Lock, path, None, || got(file.file.disk()?.try_lock()));
    if !lock_soon(path, try_lock)? {
        if try_lock_shared(&file, path).unwrap_or(false) {
            // The text is an earlier owner's.
            return Ok(Locked::Theirs("a process that reads it".into()));
        }
        // The owner may still be writing its text.
        return Ok(Locked::Theirs(holder(&mut file)));
    }
    // The text replaces an earlier owner's in this order, so that the file always begins like ours.
    let written = file.write_all(text.as_bytes());
    let cut = written.and_then(|()| file.file.disk()?.set_len(text.len() as u64));
    cut.map_err(Error::io("write", path))?;
    Ok(Locked::Ours(file))
}

/// Reads a file again and checks its size and checksum (16 hexadecimal digits).
pub fn check(path: &Path, bytes: u64, stated: &str) -> Result<()> {
    let (read, sum) = content(path, || Ok(()))?;
    check_size(path, bytes, read)?;
    if sum != stated {
        return Err(Error::corrupt(path, "checksum (manifest)").expected(stated, sum));
    }
    Ok(())
}

/// Refuses a file of another size than the manifest says.
pub(crate) fn check_size(path: &Path, stated: u64, found: u64) -> Result<()> {
    if found < stated {
        let what = format!("the manifest says {stated} bytes");
        return Err(Error::truncated(path, found, what));
    }
    match found == stated {
        true => Ok(()),
        false => Err(Error::corrupt(path, "size")
            .expected(format!("{stated} bytes"), format!("{found} bytes"))),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To a file that gets this path when it is complete. The path never names a link; a regular
    /// file may exist there, or nothing.
    File(PathBuf),
    /// To this device or FIFO, byte by byte.
    Through(PathBuf),
}

/// Finds the destination of an output. Below a claimed directory no link is followed, and whatever
/// has the name is replaced. Everywhere else a link is followed and not replaced, a FIFO or a
/// character device is written to directly, and anything else except a regular file is refused. An
/// address is its own destination.
pub fn destination(path: &Path) -> Result<Destination> {
    if inside::is_claimed(path) || remote::is_address(path) {
        return Ok(Destination::File(path.into()));
    }
    let inspect = || faults::doing(Op::Inspect, path, None, || inside::destination(path));
    inspect().map_err(Error::io("write to", path))
}

/// The name of a file that is incomplete, and whether it is removed if it gets no other: no later
/// command would find it.
struct Temporary(PathBuf, bool);

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.1 {
            let _ = inside::remove(&self.0);
        }
    }
}

/// A text or JSON result. It is buffered and written under a temporary name. `finish` makes it
/// durable and renames it. A device or FIFO that the user names is written to directly. An object
/// of a store is there after `finish`, and nothing of it before.
pub struct AtomicFile {
    /// The path, for messages.
    pub(crate) path: PathBuf,
    /// The temporary and the final name; `None` if the bytes go to an object, or through to a
    /// device or FIFO.
    names: Option<(Temporary, PathBuf)>,
    out: BufWriter<File>,
    pub(crate) hash: xxhash_rust::xxh3::Xxh3,
    pub(crate) bytes: u64,
}

impl AtomicFile {
    /// Starts `path`, under a temporary name in the same directory.
    pub fn create(path: &Path) -> Result<Self> {
        let (file, names) = match destination(path)? {
            Destination::File(_) if remote::is_address(path) => {
                (create_object(path, 0, None)?, None)
            }
            Destination::File(target) => {
                let is_lost = !inside::is_claimed(path);
                let temporary = match is_lost {
                    true => unlike_others(&target),
                    false => temporary(&target),
                };
                let file = create(&temporary)?;
                (file, Some((Temporary(temporary, is_lost), target)))
            }
            Destination::Through(target) => {
                let open = || faults::doing(Op::Create, path, None, || inside::write_to(&target));
                let file = open().and_then(|file| File::of_any_type(file, path));
                (file.map_err(Error::io("write to", path))?, None)
            }
        };
        Ok(AtomicFile::of(path, file, names))
    }

    /// Starts a part, whose place is a directory of ours.
    pub(crate) fn of_part(path: &Path) -> Result<Self> {
        let temporary = temporary(path);
        let file = create(&temporary)?;
        let names = (Temporary(temporary, false), path.into());
        Ok(AtomicFile::of(path, file, Some(names)))
    }

    fn of(path: &Path, file: File, names: Option<(Temporary, PathBuf)>) -> Self {
        AtomicFile {
            path: path.to_path_buf(),
            names,
            out: BufWriter::with_capacity(WRITE_BUFFER, file),
            hash: xxhash_rust::xxh3::Xxh3::new(),
            bytes: 0,
        }
    }

    /// Appends bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.out
            .write_all(bytes)
            .map_err(Error::io("write", &self.path))
    }

    /// Makes the content durable and gives it its final name. Returns size and checksum.
    pub fn finish(self) -> Result<(u64, u64)> {
        self.end(true)
    }

    /// As [`AtomicFile::finish`]. Without `lasting`, a loss of power may take the content.
    pub(crate) fn end(self, lasting: bool) -> Result<(u64, u64)> {
        self.close(lasting)?.finish()
    }

    /// Closes the file, and makes its content durable if it is `lasting`. [`Closed::finish`] gives a
    /// file its final name; an object has its name already.
    pub fn close(self, lasting: bool) -> Result<Closed> {
        let file = self.out.into_inner().map_err(|e| e.into_error());
        let file = file.map_err(Error::io("write", &self.path))?;
        if file.upload().is_some() {
            sync(&file, &self.path)?;
            place(&file, &self.path)?;
        } else if lasting && self.names.is_some() {
            sync(&file, &self.path)?;
        }
        Ok(Closed {
            path: self.path,
            names: self.names,
            of: (self.bytes, self.hash.digest()),
        })
    }

    /// Appends the bytes of another file. `goes_on` is asked between pieces, and may end it.
    pub fn put_file(&mut self, from: &Path, mut goes_on: impl FnMut() -> Result<()>) -> Result<()> {
        each_piece(&mut open(from)?, from, |piece| {
            goes_on()?;
            self.put(piece)
        })
    }
}

/// A file that is complete and has no final name yet.
pub struct Closed {
    path: PathBuf,
    names: Option<(Temporary, PathBuf)>,
    of: (u64, u64),
}

impl Closed {
    /// Gives the file its final name. Returns size and checksum.
    pub fn finish(mut self) -> Result<(u64, u64)> {
        if let Some((temporary, target)) = &mut self.names {
            rename(&temporary.0, target)?;
            temporary.1 = false;
            if *target != self.path {
                // The caller syncs the directory of the link.
                sync_parent(target)?;
            }
        }
        Ok(self.of)
    }
}

/// Makes a whole file durable, as an [`AtomicFile`]. Returns its size and checksum.
pub fn put(path: &Path, bytes: &[u8]) -> Result<(u64, u64)> {
    let mut out = AtomicFile::create(path)?;
    out.put(bytes)?;
    out.finish()
}

/// As [`put`], with the bytes of another file. `goes_on` is asked between pieces, and may end it.
pub fn copy(from: &Path, to: &Path, goes_on: impl FnMut() -> Result<()>) -> Result<(u64, u64)> {
    let mut out = AtomicFile::create(to)?;
    out.put_file(from, goes_on)?;
    out.finish()
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
