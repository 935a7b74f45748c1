//! What lies below an output directory, reached without following a link.
//!
//! The user names an output directory, by a link if they like. What lies below it should be this
//! program's, but the directory may come from someone else, and a link in it can lead anywhere. So
//! the directory that a command works in is claimed ([`claim`]). Below a claimed directory each
//! subdirectory is opened in the one above it, operations are done relative to that handle, and no
//! link is followed, neither on the way nor at the end. A file that is opened there must be a
//! regular file: opening a FIFO could wait for ever. Every other path is the user's and means what
//! it means to the system.
//!
//! # Invariants
//! - Where one claimed directory lies in another, the outer one decides: the directory of a trial
//!   or of a method may be no link, unless it is the directory that the user named.
//! - A file is created exclusively, wherever it is.
//! - What is removed with all that it holds is entered by handles, wherever it is.
//!
//! # What is not guaranteed
//! A claim is a path, and only paths that begin with it are guarded: a command builds its paths
//! from the name that it claimed. A claim lasts as long as the process; it makes operations
//! stricter and changes nothing else.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use rustix::fs::{self as sys, AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::retry_on_intr;

use crate::error::WrongFileType;

/// What is expected where a file is opened.
const FILE: &str = "a regular file";
/// What is expected where a directory is entered.
const DIRECTORY: &str = "a directory";

/// How a directory is opened to reach what is in it: where the system can, without the right to
/// list it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const ENTER: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const ENTER: OFlags = OFlags::RDONLY;

/// How a file of ours is opened: no link is followed, and a FIFO is not waited for.
const PLAIN: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

static CLAIMED: RwLock<BTreeSet<PathBuf>> = RwLock::new(BTreeSet::new());

/// Follows no link below this directory from now on.
pub fn claim(directory: &Path) {
    let mut claimed = CLAIMED.write().unwrap_or_else(PoisonError::into_inner);
    claimed.insert(directory.to_path_buf());
}

/// The outermost claimed directory that a path lies below, and the way from there. A path that goes
/// up again is the user's: names in a manifest do not.
fn claimed(path: &Path) -> Option<(&Path, &Path)> {
    let up = |component| component == Component::ParentDir;
    let claimed = CLAIMED.read().unwrap_or_else(PoisonError::into_inner);
    let mut outermost = None;
    for above in path.ancestors().skip(1) {
        // The last of a relative path is empty: where we are.
        if !above.as_os_str().is_empty() && claimed.contains(above) {
            outermost = Some(above);
        }
    }
    let rest = path.strip_prefix(outermost?).ok()?;
    (!rest.components().any(up)).then_some((outermost?, rest))
}

/// A name, and the directory that it is looked up in; that of the process if there is none.
struct Spot {
    directory: Option<OwnedFd>,
    name: PathBuf,
    /// Below a claimed directory: a link is not followed.
    ours: bool,
}

impl Spot {
    /// Opens the directories on the way to a path.
    fn of(path: &Path) -> io::Result<Spot> {
        let Some((root, rest)) = claimed(path) else {
            return Ok(Spot {
                directory: None,
                name: path.to_path_buf(),
                ours: false,
            });
        };
        let mut spot = Spot {
            directory: None,
            name: root.to_path_buf(),
            ours: true,
        };
        let mut reached = root.to_path_buf();
        for name in rest {
            if reached == root {
                // By its path: the claimed directory itself may be a link.
                spot.name.push(name);
            } else {
                spot.directory = Some(spot.directory(&reached, ENTER)?);
                spot.name = name.into();
            }
            reached.push(name);
        }
        Ok(spot)
    }

    fn at(&self) -> BorrowedFd<'_> {
        self.directory.as_ref().map_or(CWD, AsFd::as_fd)
    }

    fn open(&self, flags: OFlags) -> io::Result<OwnedFd> {
        open_at(self.at(), &self.name, flags)
    }

    /// Opens the directory of this name, which is called `path` in messages.
    fn directory(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let follow = if self.ours {
            OFlags::NOFOLLOW
        } else {
            OFlags::empty()
        };
        let opened = self.open(flags | OFlags::DIRECTORY | follow);
        opened.map_err(|error| self.misplaced(path, DIRECTORY).unwrap_or(error))
    }

    /// Opens the regular file of this name; no link is followed, whosever it is.
    fn file(&self, path: &Path, flags: OFlags) -> io::Result<(OwnedFd, Stat)> {
        let opened = self.open(flags | PLAIN);
        let file = opened.map_err(|error| self.misplaced(path, FILE).unwrap_or(error))?;
        let stat = sys::fstat(&file)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok((file, stat)),
            other => Err(wrong(path, FILE, called(other))),
        }
    }

    /// What is there instead of what is expected, if that is the case.
    fn misplaced(&self, path: &Path, expected: &'static str) -> Option<io::Error> {
        let found = sys::statat(self.at(), &self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let found = called(FileType::from_raw_mode(found.st_mode));
        (found != expected).then(|| wrong(path, expected, found))
    }
}

fn open_at(at: BorrowedFd<'_>, name: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let mode = Mode::from_raw_mode(0o666);
    let opened = retry_on_intr(|| sys::openat(at, name, flags | OFlags::CLOEXEC, mode));
    Ok(opened?)
}

fn wrong(path: &Path, expected: &'static str, found: &'static str) -> io::Error {
    io::Error::other(WrongFileType {
        path: path.to_path_buf(),
        expected,
        found,
    })
}

/// As it is called in messages.
fn called(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => FILE,
        FileType::Directory => DIRECTORY,
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "of no known type",
    }
}

/// Opens a file for reading. One of ours must be a regular file.
pub(super) fn open(path: &Path) -> io::Result<fs::File> {
    let spot = Spot::of(path)?;
    if spot.ours {
        Ok(spot.file(path, OFlags::RDONLY)?.0.into())
    } else {
        fs::File::open(path)
    }
}

/// Creates a file for writing; that there is something of this name is an error.
pub(super) fn create(path: &Path) -> io::Result<fs::File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    Ok(Spot::of(path)?.open(flags)?.into())
}

/// Opens a lock file, or makes it. It is written to in place, so it must have no other name.
pub(super) fn open_lock(path: &Path) -> io::Result<fs::File> {
    let spot = Spot::of(path)?;
    let (file, stat) = spot.file(path, OFlags::RDWR | OFlags::CREATE)?;
    if stat.st_nlink != 1 {
        return Err(wrong(path, FILE, "a file with another name (a hard link)"));
    }
    Ok(file.into())
}

/// Opens a lock file to see who has it.
pub(super) fn look_at_lock(path: &Path) -> io::Result<fs::File> {
    Ok(Spot::of(path)?.file(path, OFlags::RDONLY)?.0.into())
}

/// Opens a directory to sync it.
pub(super) fn open_directory(path: &Path) -> io::Result<fs::File> {
    Ok(Spot::of(path)?.directory(path, OFlags::RDONLY)?.into())
}

/// What the kernel says of a name; a link of the user's is followed.
pub(super) fn inspect(path: &Path) -> io::Result<Stat> {
    let spot = Spot::of(path)?;
    let flags = if spot.ours {
        AtFlags::SYMLINK_NOFOLLOW
    } else {
        AtFlags::empty()
    };
    Ok(sys::statat(spot.at(), &spot.name, flags)?)
}

/// What the kernel says of a name; no link is followed.
pub(super) fn inspect_name(path: &Path) -> io::Result<Stat> {
    let spot = Spot::of(path)?;
    Ok(sys::statat(
        spot.at(),
        &spot.name,
        AtFlags::SYMLINK_NOFOLLOW,
    )?)
}

pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (Spot::of(from)?, Spot::of(to)?);
    Ok(sys::renameat(from.at(), &from.name, to.at(), &to.name)?)
}

/// Removes a name that is no directory's; of a link, the link.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let spot = Spot::of(path)?;
    Ok(sys::unlinkat(spot.at(), &spot.name, AtFlags::empty())?)
}

pub(super) fn remove_directory(path: &Path) -> io::Result<()> {
    let spot = Spot::of(path)?;
    Ok(sys::unlinkat(spot.at(), &spot.name, AtFlags::REMOVEDIR)?)
}

/// Makes a directory and those above it.
pub(super) fn create_directory(path: &Path) -> io::Result<()> {
    let Some((root, rest)) = claimed(path) else {
        return fs::create_dir_all(path);
    };
    let mut reached = root.to_path_buf();
    for component in rest.components() {
        reached.push(component);
        let spot = Spot::of(&reached)?;
        match sys::mkdirat(spot.at(), &spot.name, Mode::from_raw_mode(0o777)) {
            Ok(()) => {}
            Err(rustix::io::Errno::EXIST) => drop(spot.directory(&reached, ENTER)?),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// What is in a directory, by name and type.
pub(super) fn list(path: &Path) -> io::Result<Vec<(OsString, FileType)>> {
    names(&Spot::of(path)?.directory(path, OFlags::RDONLY)?)
}

fn names(directory: &OwnedFd) -> io::Result<Vec<(OsString, FileType)>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not tell.
            FileType::Unknown => {
                let stat = sys::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            known => known,
        };
        names.push((name.to_os_string(), kind));
    }
    Ok(names)
}

/// Removes a directory with all that is in it; a link in it is removed and not followed.
pub(super) fn remove_tree(path: &Path) -> io::Result<()> {
    struct Level {
        directory: OwnedFd,
        name: OsString,
        left: Vec<(OsString, FileType)>,
    }
    let spot = Spot::of(path)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let enter = |at: BorrowedFd<'_>, name: &OsStr| -> io::Result<Level> {
        let directory = open_at(at, name.as_ref(), flags)?;
        Ok(Level {
            left: names(&directory)?,
            directory,
            name: name.to_os_string(),
        })
    };
    // Not by recursion: how deep it goes is not ours to say.
    let mut levels = vec![enter(spot.at(), spot.name.as_os_str())?];
    while let Some(level) = levels.last_mut() {
        match level.left.pop() {
            Some((name, FileType::Directory)) => {
                let inner = enter(level.directory.as_fd(), &name)?;
                levels.push(inner);
            }
            Some((name, _)) => sys::unlinkat(&level.directory, &name, AtFlags::empty())?,
            None => {
                let name = std::mem::take(&mut level.name);
                levels.pop();
                let at = levels
                    .last()
                    .map_or(spot.at(), |outer| outer.directory.as_fd());
                sys::unlinkat(at, &name, AtFlags::REMOVEDIR)?;
            }
        }
    }
    Ok(())
}
