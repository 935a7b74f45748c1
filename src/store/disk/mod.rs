//! The one layer through which files are created, written, synced, renamed and removed.
//!
//! Results that end up under their true name are written to `NAME.tmp`, synced, and renamed; the
//! directory is synced by whoever commits ([`sync_directory`]). A sync that fails is an error and is
//! never tried again as if it had worked: the kernel may have dropped the pages.
//!
//! Below a directory that is claimed ([`claim`]) no link is followed, and only regular files are opened
//! (`inside`).

use std::fs;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::FileType;

use crate::{Error, Result};

#[cfg(feature = "faults")]
pub mod faults;
mod inside;
#[cfg(not(feature = "faults"))]
mod faults {
    //! Nothing goes wrong on purpose.
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
    pub(crate) fn point(_: &'static str) {}
}

pub(crate) use faults::point;
pub use inside::claim;

/// Bytes of a writer's buffer.
pub const WRITE_BUFFER: usize = 256 << 10;
/// Bytes of a sequential reader's buffer.
pub const READ_BUFFER: usize = 256 << 10;

/// Kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// A file is opened for reading.
    Open,
    /// A file is created.
    Create,
    /// Bytes are read.
    Read,
    /// Bytes are written.
    Write,
    /// A file's content is made durable.
    Sync,
    /// A directory's names are made durable.
    SyncDirectory,
    /// A file gets another name.
    Rename,
    /// A file is removed.
    Remove,
    /// A directory is made.
    CreateDirectory,
    /// A directory is removed.
    RemoveDirectory,
    /// The names in a directory are read.
    List,
    /// A name is looked up.
    Inspect,
    /// A file is mapped.
    Map,
    /// A file is locked.
    Lock,
    /// No operation: a place in a stage that has a name.
    Point,
}

impl Op {
    /// All of them.
    pub const ALL: [Op; 15] = [
        Op::Open,
        Op::Create,
        Op::Read,
        Op::Write,
        Op::Sync,
        Op::SyncDirectory,
        Op::Rename,
        Op::Remove,
        Op::CreateDirectory,
        Op::RemoveDirectory,
        Op::List,
        Op::Inspect,
        Op::Map,
        Op::Lock,
        Op::Point,
    ];

    /// As it is called in texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Op::Open => "open",
            Op::Create => "create",
            Op::Read => "read",
            Op::Write => "write",
            Op::Sync => "sync",
            Op::SyncDirectory => "sync-directory",
            Op::Rename => "rename",
            Op::Remove => "remove",
            Op::CreateDirectory => "create-directory",
            Op::RemoveDirectory => "remove-directory",
            Op::List => "list",
            Op::Inspect => "inspect",
            Op::Map => "map",
            Op::Lock => "lock",
            Op::Point => "point",
        }
    }

    /// The kind that is called so.
    #[must_use]
    pub fn named(name: &str) -> Option<Op> {
        Op::ALL.into_iter().find(|op| op.name() == name)
    }

    /// Does it change what is on the disk, or make a change last?
    #[must_use]
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

/// An open file. Bytes go in and out through here only.
#[derive(Debug)]
pub struct File {
    file: fs::File,
    #[cfg(feature = "faults")]
    path: PathBuf,
}

impl File {
    fn new(file: fs::File, path: &Path) -> File {
        #[cfg(not(feature = "faults"))]
        let _ = path;
        File {
            file,
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

    /// What the kernel says of it.
    pub fn metadata(&self) -> io::Result<fs::Metadata> {
        faults::doing(Op::Inspect, self.path(), None, || self.file.metadata())
    }

    /// Fills `out` from `offset`.
    ///
    /// # Errors
    /// `UnexpectedEof` where the file ends before.
    pub fn read_exact_at(&self, mut out: &mut [u8], mut offset: u64) -> io::Result<()> {
        use std::os::unix::fs::FileExt;
        while !out.is_empty() {
            let read = faults::limit(Op::Read, self.path(), out.len())
                .and_then(|n| self.file.read_at(&mut out[..n], offset));
            match read {
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

    /// Maps it by what `map` does.
    pub(super) fn mapped<T>(&self, map: impl FnOnce(&fs::File) -> io::Result<T>) -> io::Result<T> {
        faults::doing(Op::Map, self.path(), None, || map(&self.file))
    }
}

impl Read for File {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = faults::limit(Op::Read, self.path(), out.len())?;
        self.file.read(&mut out[..n])
    }
}

/// A file that one reads and another looks at meanwhile.
#[derive(Clone, Debug)]
pub struct SharedFile(Arc<File>);

impl SharedFile {
    /// Shares a file.
    #[must_use]
    pub fn new(file: File) -> SharedFile {
        SharedFile(Arc::new(file))
    }

    /// What the kernel says of it.
    pub fn metadata(&self) -> io::Result<fs::Metadata> {
        self.0.metadata()
    }
}

impl Read for SharedFile {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = faults::limit(Op::Read, self.0.path(), out.len())?;
        (&self.0.file).read(&mut out[..n])
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = faults::limit(Op::Write, self.path(), bytes.len())?;
        self.file.write(&bytes[..n])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// The name under which a file is written before it is whole.
#[must_use]
pub fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    name.into()
}

/// Creates a file for writing. What a command that was killed left under its name is removed before, and of a
/// link that somebody put there only the name.
pub fn create(path: &Path) -> Result<File> {
    let create = || faults::doing(Op::Create, path, None, || inside::create(path));
    let mut created = create();
    if matches!(&created, Err(e) if e.kind() == io::ErrorKind::AlreadyExists) {
        remove(path)?;
        created = create();
    }
    Ok(File::new(created.map_err(Error::io("create", path))?, path))
}

/// Opens a file for reading.
pub fn open(path: &Path) -> Result<File> {
    open_input(path).map_err(Error::io("open", path))
}

/// Opens a file of somebody else's for reading; what goes wrong is not this program's.
pub fn open_input(path: &Path) -> io::Result<File> {
    let opened = faults::doing(Op::Open, path, None, || inside::open(path));
    Ok(File::new(opened?, path))
}

/// Makes a directory and those above it.
pub fn create_directory(path: &Path) -> Result<()> {
    let create = || inside::create_directory(path);
    faults::doing(Op::CreateDirectory, path, None, create)
        .map_err(Error::io("create directory", path))
}

/// Makes a directory and those above it, and makes sure that their names are on the disk.
pub fn create_lasting_directory(path: &Path) -> Result<()> {
    let mut missing = Vec::new();
    for place in path.ancestors() {
        // The last of a relative path is empty: where we are.
        if place.as_os_str().is_empty() || exists(place)? {
            break;
        }
        missing.push(place);
    }
    create_directory(path)?;
    missing.into_iter().try_for_each(sync_parent)
}

/// Makes sure that the name of a path is on the disk.
pub fn sync_parent(path: &Path) -> Result<()> {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => sync_directory(Path::new(".")),
        Some(parent) => sync_directory(parent),
        None => Ok(()),
    }
}

/// Makes a directory in another, that is removed when it is dropped.
pub fn scratch_directory(parent: &Path) -> Result<tempfile::TempDir> {
    faults::doing(Op::CreateDirectory, parent, None, || {
        tempfile::Builder::new()
            .prefix("lookalike-")
            .tempdir_in(parent)
    })
    .map_err(Error::io("make a directory in", parent))
}

/// Where temporary files go. A directory that was made for them goes when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _private: Option<tempfile::TempDir>,
}

impl Scratch {
    /// A directory that is there.
    #[must_use]
    pub fn at(path: PathBuf) -> Scratch {
        Scratch {
            path,
            _private: None,
        }
    }

    /// A private directory in another, `lookalike-` and six characters.
    pub fn within(parent: &Path) -> Result<Scratch> {
        let private = scratch_directory(parent)?;
        Ok(Scratch {
            path: private.path().to_path_buf(),
            _private: Some(private),
        })
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Makes sure that what was written is on the disk. It is asked once: after a failure the kernel may
/// have dropped what it could not write, and would say yes to a second question.
pub fn sync(file: &File, path: &Path) -> Result<()> {
    faults::doing(Op::Sync, file.path(), None, || file.file.sync_all())
        .map_err(Error::io("sync", path))
}

/// Makes sure that names made or removed in a directory are on the disk.
pub fn sync_directory(path: &Path) -> Result<()> {
    let directory = faults::doing(Op::Open, path, None, || inside::open_directory(path));
    let directory = directory.map_err(Error::io("open directory", path))?;
    faults::doing(Op::SyncDirectory, path, None, || directory.sync_all())
        .map_err(Error::io("sync directory", path))
}

/// Gives a file its true name, replacing what was there.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    faults::doing(Op::Rename, from, Some(to), || inside::rename(from, to))
        .map_err(Error::io("rename", from))
}

/// Removes a file; one that is not there is no error.
pub fn remove(path: &Path) -> Result<()> {
    match faults::doing(Op::Remove, path, None, || inside::remove(path)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e).map_err(Error::io("remove", path)),
        _ => Ok(()),
    }
}

/// Removes a directory that is empty; one that is not, or is not there, stays as it is.
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

/// Removes all that is in a directory, whatever it is, and leaves the directory.
pub fn empty_directory(path: &Path) -> Result<()> {
    let names = faults::doing(Op::List, path, None, || inside::list(path));
    for (name, kind) in names.map_err(Error::io("list", path))? {
        let path = path.join(name);
        if kind == FileType::Directory {
            remove_tree(&path)?;
        } else {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Removes a directory with all that is in it.
pub fn remove_tree(path: &Path) -> Result<()> {
    faults::doing(Op::Remove, path, None, || inside::remove_tree(path))
        .map_err(Error::io("remove", path))
}

/// What the kernel says of a name, links followed.
pub fn metadata(path: &Path) -> io::Result<fs::Metadata> {
    faults::doing(Op::Inspect, path, None, || fs::metadata(path))
}

/// What tells a file from every other, whatever it is called: its device and its number there. None where there
/// is no file.
pub fn identity(path: &Path) -> io::Result<Option<(u64, u64)>> {
    use std::os::unix::fs::MetadataExt;
    match metadata(path) {
        Ok(metadata) => Ok(Some((metadata.dev(), metadata.ino()))),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// A path without links.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    faults::doing(Op::Inspect, path, None, || fs::canonicalize(path))
}

/// The entries of a directory, as the kernel has them.
pub fn entries(path: &Path) -> io::Result<fs::ReadDir> {
    faults::doing(Op::List, path, None, || fs::read_dir(path))
}

/// What the kernel says of a name, if there is one.
fn inspect(path: &Path) -> Result<Option<rustix::fs::Stat>> {
    match faults::doing(Op::Inspect, path, None, || inside::inspect(path)) {
        Ok(stat) => Ok(Some(stat)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e).map_err(Error::io("inspect", path)),
    }
}

/// The size of a file.
pub fn size(path: &Path) -> Result<u64> {
    let stat = faults::doing(Op::Inspect, path, None, || inside::inspect(path));
    let size = stat.map_err(Error::io("inspect", path))?.st_size;
    Ok(u64::try_from(size).unwrap_or(0))
}

/// Is there something of this name? That it cannot be told is an error, and not a no: what is not
/// there is made anew, and what it said is lost.
pub fn exists(path: &Path) -> Result<bool> {
    Ok(inspect(path)?.is_some())
}

/// Is there a directory of this name?
pub fn is_directory(path: &Path) -> Result<bool> {
    let stat = inspect(path)?;
    Ok(stat.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode).is_dir()))
}

/// Is there nothing of this name, not even a link to nowhere?
pub fn is_gone(path: &Path) -> Result<bool> {
    match faults::doing(Op::Inspect, path, None, || inside::inspect_name(path)) {
        Ok(_) => Ok(false),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(e) => Err(e).map_err(Error::io("inspect", path)),
    }
}

/// Names of the regular files of a directory, sorted; none where there is no directory.
pub fn list(path: &Path) -> Result<Vec<String>> {
    let all = match faults::doing(Op::List, path, None, || inside::list(path)) {
        Ok(all) => all,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e).map_err(Error::io("list", path)),
    };
    let files = all.into_iter().filter(|(_, kind)| kind.is_file());
    let mut names: Vec<String> = files
        .filter_map(|(name, _)| name.into_string().ok())
        .collect();
    names.sort_unstable();
    Ok(names)
}

/// Reads a whole small file.
pub fn read_all(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?
        .read_to_end(&mut bytes)
        .map_err(Error::io("read", path))?;
    Ok(bytes)
}

/// Reads what there is, up to the length of `out`. An interrupted call is no failure.
pub fn read_some(file: &mut File, out: &mut [u8], path: &Path) -> Result<usize> {
    loop {
        match file.read(out) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => return other.map_err(Error::io("read", path)),
        }
    }
}

/// A file that this process has locked for as long as it holds it, or what the one says that has it.
pub enum Locked {
    /// It is ours, and says so.
    Ours(File),
    /// It is another's, who wrote this.
    Theirs(String),
}

/// So long after a first attempt a lock is tried again.
const LOCK_AGAIN: Duration = Duration::from_millis(50);

/// Was a lock got, if it could be told?
fn got(tried: std::result::Result<(), fs::TryLockError>) -> io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(fs::TryLockError::WouldBlock) => Ok(false),
        Err(fs::TryLockError::Error(e)) => Err(e),
    }
}

/// What is written in a lock file by whoever has it; nothing, if it cannot be read.
fn holder(file: &mut File) -> String {
    let mut text = Vec::new();
    let _ = file.read_to_end(&mut text);
    String::from_utf8_lossy(&text).trim().into()
}

/// Who has locked a file, if somebody has and it can be told.
#[must_use]
pub fn locked_by(path: &Path) -> Option<String> {
    let opened = faults::doing(Op::Open, path, None, || inside::look_at_lock(path));
    let mut file = File::new(opened.ok()?, path);
    let try_lock = || faults::doing(Op::Lock, path, None, || got(file.file.try_lock_shared())).ok();
    if try_lock()? {
        return None;
    }
    // The holder may not yet have said who he is.
    std::thread::sleep(LOCK_AGAIN);
    let free = try_lock()?;
    (!free).then(|| holder(&mut file))
}

/// Locks a file, which is made if it is not there, and writes into it who did.
pub fn lock(path: &Path, text: &str) -> Result<Locked> {
    let opened = faults::doing(Op::Create, path, None, || inside::open_lock(path));
    let mut file = File::new(opened.map_err(Error::io("open", path))?, path);
    let try_lock = || faults::doing(Op::Lock, path, None, || got(file.file.try_lock()));
    let mut locked = try_lock().map_err(Error::io("lock", path))?;
    if !locked {
        // It may be held for a moment by somebody who looks, or by one who has not yet said who he is.
        std::thread::sleep(LOCK_AGAIN);
        locked = try_lock().map_err(Error::io("lock", path))?;
    }
    if !locked {
        let mut holder = Vec::new();
        // Whoever has it may be writing it.
        let _ = file.read_to_end(&mut holder);
        return Ok(Locked::Theirs(
            String::from_utf8_lossy(&holder).trim().into(),
        ));
    }
    file.file.set_len(0).map_err(Error::io("write", path))?;
    file.write_all(text.as_bytes())
        .map_err(Error::io("write", path))?;
    Ok(Locked::Ours(file))
}

/// Reads a file again: has it the size and checksum (16 hexadecimal digits) that are stated?
pub fn check(path: &Path, bytes: u64, stated: &str) -> Result<()> {
    let mut file = open(path)?;
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    let mut buffer = vec![0; READ_BUFFER];
    let mut read = 0;
    loop {
        let n = read_some(&mut file, &mut buffer, path)?;
        if n == 0 {
            break;
        }
        hash.update(&buffer[..n]);
        read += n as u64;
    }
    let sum = format!("{:016x}", hash.digest());
    if read < bytes {
        let what = format!("the manifest says {bytes} bytes");
        return Err(Error::Truncated {
            path: path.into(),
            offset_bytes: read,
            what,
        });
    }
    if read > bytes {
        return Err(Error::TooLong {
            path: path.into(),
            expected: bytes,
            found: read,
        });
    }
    if sum != stated {
        return Err(Error::Corrupt {
            path: path.into(),
            offset_bytes: None,
            what: "checksum (manifest)".into(),
            expected: stated.into(),
            found: sum,
        });
    }
    Ok(())
}

/// A text or JSON result: buffered, written aside, made durable and given its name by `finish`.
pub struct AtomicFile {
    path: PathBuf,
    out: BufWriter<File>,
    hash: xxhash_rust::xxh3::Xxh3,
    bytes: u64,
}

impl AtomicFile {
    /// Starts `path`, as `path.tmp`.
    pub fn create(path: &Path) -> Result<Self> {
        let file = create(&temporary(path))?;
        Ok(AtomicFile {
            path: path.to_path_buf(),
            out: BufWriter::with_capacity(WRITE_BUFFER, file),
            hash: xxhash_rust::xxh3::Xxh3::new(),
            bytes: 0,
        })
    }

    /// Appends bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.out
            .write_all(bytes)
            .map_err(Error::io("write", &self.path))
    }

    /// Makes the content durable and gives it its name. Returns size and checksum.
    pub fn finish(self) -> Result<(u64, u64)> {
        let file = self.out.into_inner().map_err(|e| e.into_error());
        let file = file.map_err(Error::io("write", &self.path))?;
        sync(&file, &self.path)?;
        drop(file);
        rename(&temporary(&self.path), &self.path)?;
        Ok((self.bytes, self.hash.digest()))
    }
}
