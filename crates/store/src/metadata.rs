//! The facts about a file that are known without reading it.

use std::io;

use rustix::fs::FileType;

/// The kind, size and age of a file, or of an object in a store.
#[derive(Clone, Debug)]
pub struct Metadata {
    kind: FileType,
    size: u64,
    modified_ns: Option<i64>,
    etag: Option<String>,
}

impl Metadata {
    /// The metadata of an object.
    #[cfg(feature = "remote")]
    pub(super) fn of_object(size: u64, modified_ns: i64, etag: Option<String>) -> Metadata {
        Metadata {
            etag,
            ..Metadata::new(FileType::RegularFile, size, Some(modified_ns))
        }
    }

    pub(super) fn new(kind: FileType, size: u64, modified_ns: Option<i64>) -> Metadata {
        Metadata {
            kind,
            size,
            modified_ns,
            etag: None,
        }
    }

    /// Whether it is a regular file or an object.
    pub fn is_file(&self) -> bool {
        self.kind.is_file()
    }

    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.kind.is_dir()
    }

    /// Its bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Names the kind of file, for messages.
    pub fn kind(&self) -> &'static str {
        match self.kind {
            FileType::RegularFile => "a file",
            FileType::Directory => "a directory",
            FileType::Fifo => "a FIFO",
            FileType::Socket => "a socket",
            _ => "a device",
        }
    }

    /// Time of last modification, in nanoseconds since 1970.
    ///
    /// # Errors
    /// If the file system does not know it.
    pub fn modified_ns(&self) -> io::Result<i64> {
        let unknown = "no time of modification is known";
        self.modified_ns
            .ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, unknown))
    }

    /// The name that a store gives to this version of an object.
    pub fn etag(&self) -> Option<&str> {
        self.etag.as_deref()
    }
}
