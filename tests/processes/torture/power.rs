//! The power is cut: what the disk could hold then.
//!
//! What was synced is there. Of the bytes written to a file since, any part may be there, or zeros,
//! or what the blocks held before. Of the names made, changed and removed in a directory since it
//! was last synced, any may be as they were. The journal of the process
//! (`lookalike::store::disk::faults`) says what was done in which order, and keeps another name of
//! every file, so that one that was replaced or removed can come back.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::common::corpus::Random;
use crate::common::paths;

/// A file: where its bytes are, and how many of them are on the disk.
#[derive(Clone, Debug)]
struct Inode {
    bytes: Bytes,
    written: u64,
    synced: u64,
}

impl Inode {
    /// Its bytes are on the disk, whatever becomes of the name.
    fn link(from: &Path) -> Inode {
        let size = fs::metadata(from).unwrap().len();
        Inode {
            bytes: Bytes::Link(from.into()),
            written: size,
            synced: size,
        }
    }
}

#[derive(Clone, Debug)]
enum Bytes {
    /// As they were before the process.
    Held(Vec<u8>),
    /// In this file.
    At(PathBuf),
    /// It is a hard link of this file, which is not the process's.
    Link(PathBuf),
    /// The process died before it could give it another name: empty.
    Unknown,
}

/// Names of a directory, by the number of the file.
#[derive(Clone, Debug, Default)]
struct Directory {
    synced: BTreeMap<String, Node>,
    /// Not yet synced, in order.
    changes: Vec<Change>,
    /// How many of the changes had been made when the sync began that is under way.
    syncing: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    File(usize),
    Directory,
}

#[derive(Clone, Debug)]
enum Change {
    Make(String, Node),
    Rename(String, String, usize),
    Remove(String),
}

impl Directory {
    fn apply(names: &mut BTreeMap<String, Node>, change: &Change) {
        match change {
            Change::Make(name, node) => {
                names.insert(name.clone(), *node);
            }
            Change::Rename(from, to, file) => {
                names.remove(from);
                names.insert(to.clone(), Node::File(*file));
            }
            Change::Remove(name) => {
                names.remove(name);
            }
        }
    }

    /// As the process sees it.
    fn now(&self) -> BTreeMap<String, Node> {
        let mut names = self.synced.clone();
        for change in &self.changes {
            Directory::apply(&mut names, change);
        }
        names
    }

    fn sync(&mut self) {
        for change in self.changes.drain(..self.syncing) {
            Directory::apply(&mut self.synced, &change);
        }
        self.syncing = 0;
    }

    /// As the disk may have it.
    fn after(&self, random: &mut Random) -> BTreeMap<String, Node> {
        let mut names = self.synced.clone();
        // None, all, the first of them (as file systems with a journal do), or any.
        let first = random.below(self.changes.len() + 1);
        let way = random.below(4);
        for (i, change) in self.changes.iter().enumerate() {
            let done = match way {
                0 => false,
                1 => true,
                2 => i < first,
                _ => random.once_in(2),
            };
            if done {
                Directory::apply(&mut names, change);
            }
        }
        names
    }
}

/// What is below a directory before a process starts, all of it on the disk.
pub struct Before {
    root: PathBuf,
    files: Vec<Inode>,
    directories: BTreeMap<PathBuf, Directory>,
}

impl Before {
    /// Files there may be links of those in `inputs`.
    pub fn of(place: &Path, inputs: &Path) -> Before {
        let identity = |path: &Path| {
            let metadata = fs::metadata(path).unwrap();
            (metadata.dev(), metadata.ino())
        };
        let inputs = paths(inputs).into_iter();
        let inputs: BTreeMap<_, _> = inputs.map(|input| (identity(&input), input)).collect();
        let mut before = Before {
            root: place.to_path_buf(),
            files: Vec::new(),
            directories: BTreeMap::from([(place.to_path_buf(), Directory::default())]),
        };
        let mut waiting = vec![place.to_path_buf()];
        while let Some(directory) = waiting.pop() {
            let mut names = BTreeMap::new();
            for entry in fs::read_dir(&directory).unwrap() {
                let path = entry.unwrap().path();
                let name = name(&path);
                if path.is_dir() {
                    names.insert(name, Node::Directory);
                    waiting.push(path);
                } else {
                    before.files.push(match inputs.get(&identity(&path)) {
                        Some(input) => Inode::link(input),
                        None => {
                            let bytes = fs::read(&path).unwrap();
                            let size = bytes.len() as u64;
                            Inode {
                                bytes: Bytes::Held(bytes),
                                written: size,
                                synced: size,
                            }
                        }
                    });
                    names.insert(name, Node::File(before.files.len() - 1));
                }
            }
            before.directories.entry(directory).or_default().synced = names;
        }
        before
    }

    fn directory(&mut self, of: &Path) -> &mut Directory {
        let parent = of.parent().unwrap().to_path_buf();
        self.directories.entry(parent).or_default()
    }

    /// The file of a path, as the process sees it.
    fn file(&mut self, path: &Path) -> Option<usize> {
        match self.directory(path).now().get(&name(path)) {
            Some(Node::File(file)) => Some(*file),
            _ => None,
        }
    }

    /// Above where all began, all is there.
    fn is_there(&self, directory: &Path) -> bool {
        if self.root.starts_with(directory) {
            return true;
        }
        let parent = directory.parent().and_then(|p| self.directories.get(p));
        parent.is_some_and(|parent| parent.now().get(&name(directory)) == Some(&Node::Directory))
    }

    fn change(&mut self, path: &Path, change: Change) {
        self.directory(path).changes.push(change);
    }

    /// A line of the journal.
    fn line(&mut self, line: &str, names: &Path) {
        let fields: Vec<&str> = line.split('\t').collect();
        let path = Path::new(fields.get(1).copied().unwrap_or(""));
        match (fields[0], fields.get(2)) {
            ("create", from) => {
                let old = self.file(path);
                if old.is_some() && name(path) == "lock" {
                    return; // It is opened, and its text is of no importance.
                }
                // A file that is written in place would be gone before its successor is there.
                assert!(
                    old.is_none() || name(path).ends_with(".tmp"),
                    "written in place: {line}"
                );
                let from = from.map(|from| Inode::link(Path::new(from)));
                self.files.push(from.unwrap_or(Inode {
                    bytes: Bytes::Unknown,
                    written: 0,
                    synced: 0,
                }));
                let made = Change::Make(name(path), Node::File(self.files.len() - 1));
                self.change(path, made);
            }
            ("named", Some(other)) => {
                if let Some(file) = self.file(path)
                    && matches!(self.files[file].bytes, Bytes::Unknown)
                {
                    self.files[file].bytes = Bytes::At(names.join(other));
                }
            }
            ("write", Some(bytes)) => {
                if let Some(file) = self.file(path) {
                    self.files[file].written += bytes.parse::<u64>().unwrap();
                }
            }
            ("sync-done", _) => {
                if let Some(file) = self.file(path) {
                    self.files[file].synced = self.files[file].written;
                }
            }
            ("rename", Some(to)) => {
                let to = Path::new(to);
                let Some(file) = self.file(path) else { return };
                if path.parent() == to.parent() {
                    self.change(path, Change::Rename(name(path), name(to), file));
                } else {
                    // Each directory may have it or not: the file may be in both, or in none.
                    self.change(path, Change::Remove(name(path)));
                    self.change(to, Change::Make(name(to), Node::File(file)));
                }
            }
            ("remove" | "remove-directory", _) => {
                let removed = Change::Remove(name(path));
                self.change(path, removed);
                if fields[0] == "remove" {
                    self.forget(path);
                }
            }
            ("create-directory", _) => {
                // With those above it that are not there.
                let missing: Vec<PathBuf> = path
                    .ancestors()
                    .take_while(|place| !self.is_there(place))
                    .map(Path::to_path_buf)
                    .collect();
                for place in missing.iter().rev() {
                    self.directories.entry(place.clone()).or_default();
                    self.change(place, Change::Make(name(place), Node::Directory));
                }
            }
            ("sync-directory", _) => {
                let directory = self.directories.entry(path.to_path_buf()).or_default();
                directory.syncing = directory.changes.len();
            }
            ("sync-directory-done", _) => {
                self.directories
                    .entry(path.to_path_buf())
                    .or_default()
                    .sync();
            }
            ("sync" | "point", _) => {}
            _ => panic!("not understood: {line}"),
        }
    }

    /// All names below a directory that was removed with what was in it.
    fn forget(&mut self, path: &Path) {
        let below = self
            .directories
            .iter_mut()
            .filter(|(d, _)| d.starts_with(path));
        for (_, directory) in below {
            let names: Vec<String> = directory.now().into_keys().collect();
            directory
                .changes
                .extend(names.into_iter().map(Change::Remove));
        }
    }

    fn content(&self, file: usize, random: &mut Random) -> Content {
        let inode = &self.files[file];
        let mut bytes = match &inode.bytes {
            Bytes::Link(path) => return Content::Link(path.clone()),
            Bytes::Held(bytes) => bytes.clone(),
            Bytes::At(path) => fs::read(path).unwrap(),
            Bytes::Unknown => Vec::new(),
        };
        let synced = (inode.synced as usize).min(bytes.len());
        let unsynced = bytes.len() - synced;
        match random.below(4) {
            0 => bytes.truncate(synced),
            1 => bytes.truncate(synced + random.below(unsynced + 1)),
            2 => bytes[synced..].fill(0),
            _ => bytes[synced..]
                .iter_mut()
                .for_each(|b| *b = random.next() as u8),
        }
        Content::Bytes(bytes)
    }
}

/// What has a name after the cut.
enum Content {
    Directory,
    Bytes(Vec<u8>),
    Link(PathBuf),
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().into()
}

/// Makes of `place` what the disk could hold after the process whose journal it is.
pub fn cut(place: &Path, journal: &Path, mut before: Before, random: &mut Random) {
    if let Ok(lines) = fs::read_to_string(journal.join("journal")) {
        for line in lines.lines() {
            before.line(line, journal);
        }
    }
    let mut files = Vec::new();
    let mut waiting = vec![place.to_path_buf()];
    while let Some(directory) = waiting.pop() {
        let Some(known) = before.directories.get(&directory) else {
            continue;
        };
        for (name, node) in known.after(random) {
            let path = directory.join(name);
            match node {
                Node::Directory => {
                    files.push((path.clone(), Content::Directory));
                    waiting.push(path);
                }
                Node::File(file) => files.push((path, before.content(file, random))),
            }
        }
    }
    for entry in fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
    }
    for (path, content) in files {
        match content {
            Content::Directory => fs::create_dir_all(&path).unwrap(),
            Content::Bytes(bytes) => fs::write(&path, bytes).unwrap(),
            Content::Link(from) => fs::hard_link(from, &path).unwrap(),
        }
    }
}
