//! What is known of a file without reading it.

use std::fs;
use std::io;
use std::time::UNIX_EPOCH;

/// The kind, size and age of a file, or of an object in a store.
#[derive(Clone, Debug)]
pub struct Metadata {
    kind: Kind,
    size: u64,
    modified_ns: Option<i64>,
    etag: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
    Fifo,
    Socket,
    Other,
}

impl Metadata {
    /// Of an object.
    #[cfg(feature = "remote")]
    pub(in crate::store) fn of_object(
        size: u64,
        modified_ns: i64,
        etag: Option<String>,
    ) -> Metadata {
        Metadata {
            kind: Kind::File,
            size,
            modified_ns: Some(modified_ns),
            etag,
        }
    }

    /// Whether it is a regular file or an object.
    pub fn is_file(&self) -> bool {
        self.kind == Kind::File
    }

    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.kind == Kind::Directory
    }

    /// Its bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// What it is, for a message, if it is neither a file nor a directory.
    pub fn kind(&self) -> &'static str {
        match self.kind {
            Kind::File => "a file",
            Kind::Directory => "a directory",
            Kind::Fifo => "a FIFO",
            Kind::Socket => "a socket",
            Kind::Other => "a device",
        }
    }

    /// Time of last modification, in nanoseconds since 1970.
    ///
    /// # Errors
    /// If the file system does not know it.
    pub fn modified_ns(&self) -> io::Result<i64> {
        self.modified_ns.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::Unsupported,
                "no time of modification is known",
            )
        })
    }

    /// What a store calls this version of an object.
    pub fn etag(&self) -> Option<&str> {
        self.etag.as_deref()
    }
}

impl From<fs::Metadata> for Metadata {
    fn from(metadata: fs::Metadata) -> Metadata {
        use std::os::unix::fs::FileTypeExt;
        let kind = metadata.file_type();
        let modified = metadata
            .modified()
            .ok()
            .map(|at| match at.duration_since(UNIX_EPOCH) {
                Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
                Err(before) => {
                    i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos)
                }
            });
        Metadata {
            kind: match () {
                () if kind.is_file() => Kind::File,
                () if kind.is_dir() => Kind::Directory,
                () if kind.is_fifo() => Kind::Fifo,
                () if kind.is_socket() => Kind::Socket,
                () => Kind::Other,
            },
            size: metadata.len(),
            modified_ns: modified,
            etag: None,
        }
    }
}
