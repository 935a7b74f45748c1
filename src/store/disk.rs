//! The one layer through which files are created, written, synced, renamed and removed.
//!
//! Results that end up under their true name are written to `NAME.tmp`, synced, and renamed; the
//! directory is synced by whoever commits ([`sync_directory`]). A sync that fails is an error and is
//! never tried again as if it had worked: the kernel may have dropped the pages.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Bytes of a writer's buffer.
pub const WRITE_BUFFER: usize = 256 << 10;
/// Bytes of a sequential reader's buffer.
pub const READ_BUFFER: usize = 256 << 10;

/// The name under which a file is written before it is whole.
#[must_use]
pub fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    name.into()
}

/// Creates or empties a file for writing.
pub fn create(path: &Path) -> Result<File> {
    File::create(path).map_err(Error::io("create", path))
}

/// Opens a file for reading.
pub fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(Error::io("open", path))
}

/// Makes a directory and those above it.
pub fn create_directory(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(Error::io("create directory", path))
}

/// Makes sure that what was written is on the disk.
pub fn sync(file: &File, path: &Path) -> Result<()> {
    file.sync_all().map_err(Error::io("sync", path))
}

/// Makes sure that names made or removed in a directory are on the disk.
pub fn sync_directory(path: &Path) -> Result<()> {
    let directory = File::open(path).map_err(Error::io("open directory", path))?;
    directory
        .sync_all()
        .map_err(Error::io("sync directory", path))
}

/// Gives a file its true name, replacing what was there.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(Error::io("rename", from))
}

/// Removes a file; one that is not there is no error.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(e).map_err(Error::io("remove", path))
        }
        _ => Ok(()),
    }
}

/// Removes a directory that is empty; one that is not, or is not there, stays as it is.
pub fn remove_directory(path: &Path) -> Result<()> {
    use std::io::ErrorKind::{DirectoryNotEmpty, NotFound};
    match fs::remove_dir(path) {
        Err(e) if ![NotFound, DirectoryNotEmpty].contains(&e.kind()) => {
            Err(e).map_err(Error::io("remove", path))
        }
        _ => Ok(()),
    }
}

/// The size of a file.
pub fn size(path: &Path) -> Result<u64> {
    Ok(fs::metadata(path)
        .map_err(Error::io("inspect", path))?
        .len())
}

/// Names of the regular files of a directory, sorted; none where there is no directory.
pub fn list(path: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e).map_err(Error::io("list", path)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::io("list", path))?;
        let kind = entry.file_type().map_err(Error::io("list", path))?;
        if kind.is_file()
            && let Ok(name) = entry.file_name().into_string()
        {
            names.push(name);
        }
    }
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

/// Reads a file again: has it the size and checksum (16 hexadecimal digits) that are stated?
pub fn check(path: &Path, bytes: u64, stated: &str) -> Result<()> {
    let mut file = open(path)?;
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    let mut buffer = vec![0; READ_BUFFER];
    let mut read = 0;
    loop {
        let n = file.read(&mut buffer).map_err(Error::io("read", path))?;
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
            offset_bytes: 0,
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
