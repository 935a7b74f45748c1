//! Access to files below an output directory without following symbolic links.
//!
//! The user names an output directory, and the name may be a link. The files below it should be
//! this program's own, but the directory may come from someone else, and a link in it can lead
//! anywhere. Therefore a command claims the directory that it works in ([`claim`]). Below a claimed
//! directory, each subdirectory is opened in the one above it, operations are relative to that
//! handle, and no link is followed, neither on the way nor at the end. A file that is opened there
//! must be a regular file, because opening a FIFO could wait for ever. Every other path is the
//! user's, and links in it are followed as usual.
//!
//! # Invariants
//! - If one claimed directory lies in another, the outer one decides: the directory of a trial or
//!   of a method must not be a link, unless the user named it.
//! - A file is always created exclusively.
//! - A directory tree is always removed through handles.
//!
//! # What is not guaranteed
//! A claim is a path, and only paths that begin with it are guarded. So a command must build its
//! paths from the name that it claimed. A claim lasts as long as the process. It makes operations
//! stricter and changes nothing else.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Seek};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{LazyLock, PoisonError, RwLock};

#[cfg(any(target_os = "linux", target_os = "android"))]
use rustix::fs::ResolveFlags;
use rustix::fs::{self as sys, AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};

use super::{Destination, directory_of};
use lookalike_base::WrongFileType;

/// Expected type of an opened file, for messages.
pub(super) const FILE: &str = "a regular file";
/// Expected type of an output, for messages.
const WRITABLE: &str = "a file, a FIFO or a character device";
/// Expected type of an entered directory, for messages.
const DIRECTORY: &str = "a directory";

/// Why a tree is not removed.
const MOUNTED: &str = "another file system is mounted in it; unmount that first";

/// Flags to open a directory in order to reach the files in it. If the system allows it, this does
/// not need the right to list the directory.
#[cfg(any(target_os = "linux", target_os = "android"))]
const ENTER: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const ENTER: OFlags = OFlags::RDONLY;

/// Flags to open a regular file: do not wait if it is a FIFO.
const PLAIN: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

static CLAIMED: LazyLock<RwLock<HashSet<PathBuf>>> = LazyLock::new(RwLock::default);

/// Follows no link below this directory from now on.
pub fn claim(directory: &Path) {
    let mut claimed = CLAIMED.write().unwrap_or_else(PoisonError::into_inner);
    claimed.insert(directory.to_path_buf());
}

/// The outermost claimed directory that contains a path, and the path relative to it, which must
/// not contain `..`: names that the user gives may contain it, names in a manifest never do. A
/// directory that is named by its way up from another claimed one (`new/../old`) is claimed by
/// itself.
fn claimed(path: &Path) -> Option<(&Path, &Path)> {
    let up = |component| component == Component::ParentDir;
    let claimed = CLAIMED.read().unwrap_or_else(PoisonError::into_inner);
    let mut outermost = None;
    for above in path.ancestors().skip(1) {
        // The last ancestor of a relative path is empty: the working directory.
        if above.as_os_str().is_empty() || !claimed.contains(above) {
            continue;
        }
        let rest = path.strip_prefix(above).ok()?;
        if rest.components().any(up) {
            break;
        }
        outermost = Some((above, rest));
    }
    outermost
}

/// A name and the directory in which it is looked up: the working directory of the process if there
/// is none.
struct Spot {
    directory: Option<OwnedFd>,
    name: PathBuf,
    /// Whether it is below a claimed directory, so that a link is not followed.
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
                // By its path, because the claimed directory itself may be a link.
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

    /// Whether a link of this name is followed.
    fn follow(&self) -> OFlags {
        match self.ours {
            true => OFlags::NOFOLLOW,
            false => OFlags::empty(),
        }
    }

    /// Opens the directory of this name. Messages call it `path`.
    fn directory(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let opened = self.open(flags | OFlags::DIRECTORY | self.follow());
        opened.map_err(|error| self.misplaced(path, DIRECTORY).unwrap_or(error))
    }

    /// Opens the regular file of this name without following a link, below a claimed directory or
    /// not.
    fn file(&self, path: &Path, flags: OFlags) -> io::Result<(OwnedFd, Stat)> {
        self.regular(path, flags | OFlags::NOFOLLOW)
    }

    /// Opens the regular file of this name.
    fn regular(&self, path: &Path, flags: OFlags) -> io::Result<(OwnedFd, Stat)> {
        let opened = self.open(flags | PLAIN);
        let file = opened.map_err(|error| self.misplaced(path, FILE).unwrap_or(error))?;
        let stat = sys::fstat(&file)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok((file, stat)),
            other => Err(wrong(path, FILE, called(other))),
        }
    }

    /// The error if there is something else than expected under this name.
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

/// The name of a file type in messages.
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

/// Opens a file for reading. Below a claimed directory it must be a regular file. Everywhere else
/// it may be a FIFO, and opening it waits for a writer.
pub(super) fn open(path: &Path) -> io::Result<fs::File> {
    let spot = Spot::of(path)?;
    if spot.ours {
        Ok(spot.file(path, OFlags::RDONLY)?.0.into())
    } else {
        let _wait = super::wait();
        fs::File::open(path)
    }
}

/// Whether an open file is a FIFO.
pub(super) fn is_fifo(file: &fs::File) -> bool {
    let stat = sys::fstat(file);
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo)
}

/// Opens an open file again, to read it from its beginning.
pub(super) fn again(file: &fs::File) -> io::Result<fs::File> {
    let here = format!("/proc/self/fd/{}", file.as_raw_fd());
    if let Ok(again) = fs::File::open(here) {
        return Ok(again);
    }
    // A system without /proc. Both share the reading position, so only one is in use.
    let mut again = file.try_clone()?;
    again.rewind()?;
    Ok(again)
}

/// Opens a regular file for reading. Outside claimed directories a link is followed.
pub(super) fn open_regular(path: &Path) -> io::Result<fs::File> {
    let spot = Spot::of(path)?;
    Ok(spot.regular(path, OFlags::RDONLY | spot.follow())?.0.into())
}

/// Returns the type of the file of this name, for messages. No link is followed.
pub(super) fn kind_of_name(path: &Path) -> io::Result<&'static str> {
    let stat = inspect_name(path)?;
    Ok(called(FileType::from_raw_mode(stat.st_mode)))
}

/// Opens a device or FIFO to write to it. A FIFO waits for a reader.
pub(super) fn write_to(path: &Path) -> io::Result<fs::File> {
    let _wait = super::wait();
    Ok(open_at(CWD, path, OFlags::WRONLY | OFlags::NOCTTY)?.into())
}

/// Whether a path is below a claimed directory.
pub(super) fn is_claimed(path: &Path) -> bool {
    claimed(path).is_some()
}

/// The most links that lead to a file, as for the system itself.
const MOST_LINKS: usize = 40;

/// The destination of an output that the user names.
pub(super) fn destination(path: &Path) -> io::Result<Destination> {
    let mut at = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let kind = match sys::statat(CWD, &at, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => FileType::from_raw_mode(stat.st_mode),
            Err(rustix::io::Errno::NOENT) => return Ok(Destination::File(at)),
            Err(error) => return Err(error.into()),
        };
        match kind {
            FileType::RegularFile => return Ok(Destination::File(at)),
            FileType::Fifo | FileType::CharacterDevice => return Ok(Destination::Through(at)),
            FileType::Symlink => {}
            other => return Err(wrong(path, WRITABLE, called(other))),
        }
        let above = directory_of(&at);
        // The links of /proc do not lead to a path: an open file may have another name by now, or
        // none, as a pipe.
        if fs::canonicalize(above)?.starts_with("/proc") {
            let kind = FileType::from_raw_mode(sys::statat(CWD, &at, AtFlags::empty())?.st_mode);
            return match kind {
                FileType::Fifo | FileType::CharacterDevice => Ok(Destination::Through(at)),
                other => Err(wrong(path, "a file by its own name", called(other))),
            };
        }
        at = above.join(fs::read_link(&at)?);
    }
    Err(rustix::io::Errno::LOOP.into())
}

/// Creates a file for writing. Fails if the name exists.
pub(super) fn create(path: &Path) -> io::Result<fs::File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    Ok(Spot::of(path)?.open(flags)?.into())
}

/// Opens a lock file, or creates it. It is written in place, so it must have no other name.
pub(super) fn open_lock(path: &Path) -> io::Result<fs::File> {
    let spot = Spot::of(path)?;
    let (file, stat) = spot.file(path, OFlags::RDWR | OFlags::CREATE)?;
    if stat.st_nlink != 1 {
        return Err(wrong(path, FILE, "a file with another name (a hard link)"));
    }
    Ok(file.into())
}

/// Opens a lock file to read who holds the lock.
pub(super) fn look_at_lock(path: &Path) -> io::Result<fs::File> {
    Ok(Spot::of(path)?.file(path, OFlags::RDONLY)?.0.into())
}

/// Opens a directory to sync it.
pub(super) fn open_directory(path: &Path) -> io::Result<fs::File> {
    Ok(Spot::of(path)?.directory(path, OFlags::RDONLY)?.into())
}

/// The metadata of a file. Outside claimed directories a link is followed.
pub(super) fn inspect(path: &Path) -> io::Result<Stat> {
    let spot = Spot::of(path)?;
    let flags = if spot.ours {
        AtFlags::SYMLINK_NOFOLLOW
    } else {
        AtFlags::empty()
    };
    Ok(sys::statat(spot.at(), &spot.name, flags)?)
}

/// The metadata of a name. No link is followed.
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

/// Makes a hard link. If `from` is a symbolic link, the file it leads to is linked.
pub(super) fn link(from: &Path, to: &Path) -> io::Result<()> {
    let to = Spot::of(to)?;
    let how = AtFlags::SYMLINK_FOLLOW;
    Ok(sys::linkat(sys::CWD, from, to.at(), &to.name, how)?)
}

/// Removes a name that is not a directory. If it is a link, only the link is removed.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let spot = Spot::of(path)?;
    Ok(sys::unlinkat(spot.at(), &spot.name, AtFlags::empty())?)
}

pub(super) fn remove_directory(path: &Path) -> io::Result<()> {
    let spot = Spot::of(path)?;
    Ok(sys::unlinkat(spot.at(), &spot.name, AtFlags::REMOVEDIR)?)
}

/// Creates a directory and its missing parents.
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
            Err(Errno::EXIST) => drop(spot.directory(&reached, ENTER)?),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Creates a directory of which there is none yet.
pub(super) fn create_new_directory(path: &Path) -> io::Result<()> {
    let spot = Spot::of(path)?;
    Ok(sys::mkdirat(
        spot.at(),
        &spot.name,
        Mode::from_raw_mode(0o777),
    )?)
}

/// The entries of a directory, by name and type.
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
            // Some file systems do not report the type.
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

/// Opens a directory to list it, through no link and into no other file system: what somebody
/// mounted there is theirs.
fn open_unmounted(at: BorrowedFd<'_>, name: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let open = || sys::openat2(at, name, flags, Mode::empty(), ResolveFlags::NO_XDEV);
        match retry_on_intr(open) {
            // A kernel before 5.6, or a sandbox that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened,
        }
    }
    retry_on_intr(|| sys::openat(at, name, flags, Mode::empty()))
}

/// Removes a directory tree. A link in it is removed and not followed. A mount point is refused.
pub(super) fn remove_tree(path: &Path) -> io::Result<()> {
    struct Level {
        directory: OwnedFd,
        name: OsString,
        left: Vec<(OsString, FileType)>,
    }
    let spot = Spot::of(path)?;
    let above = directory_of(&spot.name);
    let above = open_at(spot.at(), above, ENTER | OFlags::DIRECTORY)?;
    let enter = |at: BorrowedFd<'_>, name: &OsStr| -> io::Result<Level> {
        let directory = open_unmounted(at, name.as_ref()).map_err(|error| match error {
            Errno::XDEV => io::Error::other(MOUNTED),
            error => error.into(),
        })?;
        Ok(Level {
            left: names(&directory)?,
            directory,
            name: name.to_os_string(),
        })
    };
    // Not recursive, because someone else may have made the tree deeper than the stack allows.
    let mut levels = vec![enter(
        above.as_fd(),
        spot.name.file_name().unwrap_or_default(),
    )?];
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
                    .map_or(above.as_fd(), |outer| outer.directory.as_fd());
                sys::unlinkat(at, &name, AtFlags::REMOVEDIR)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Scratch;

    #[test]
    fn a_private_directory_is_made_and_removed_through_no_link() {
        let place = tempfile::tempdir().unwrap();
        let (ours, victim) = (place.path().join("ours"), place.path().join("victim"));
        fs::create_dir_all(ours.join("there")).unwrap();
        fs::create_dir(&victim).unwrap();
        std::os::unix::fs::symlink(&victim, ours.join("elsewhere")).unwrap();
        claim(&ours);
        let refused = Scratch::beside(&ours.join("elsewhere/file")).unwrap_err();
        assert!(refused.to_string().contains("symbolic link"), "{refused}");
        let scratch = Scratch::beside(&ours.join("there/file")).unwrap();
        let (path, kept) = (
            scratch.path().to_path_buf(),
            victim.join(scratch.path().file_name().unwrap()),
        );
        fs::write(path.join("content"), b"").unwrap();
        fs::create_dir(&kept).unwrap();
        // Somebody puts a link in the place of the directory that holds it.
        fs::rename(ours.join("there"), ours.join("moved")).unwrap();
        std::os::unix::fs::symlink(&victim, ours.join("there")).unwrap();
        drop(scratch);
        assert!(kept.is_dir());
        fs::remove_file(ours.join("there")).unwrap();
        fs::rename(ours.join("moved"), ours.join("there")).unwrap();
        remove_tree(&path).unwrap();
        assert!(!path.exists());
    }
}
