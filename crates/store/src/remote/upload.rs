//! An object that is written.
//!
//! Its bytes are collected until they are a part. A part is on its way while the next one is
//! collected. [`Upload::place`] asks the store to make the object of the parts; until then the object
//! is not visible. `place` also puts an object of one part, in one request.

use std::fmt;
use std::io;
use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path as Key;
use object_store::{MultipartId, ObjectStore, ObjectStoreExt, PutPayload};

use super::Begun;
use super::address::{Address, Kind};
use super::failure::Failure;
use super::stores::{self, Coming, answer, start};

/// The least bytes of a part. All parts of an object have the same size: some stores demand it.
const PART: u64 = 8 << 20;

/// Stores take 10,000 parts. This leaves room for an object that is larger than expected.
const MOST_PARTS: u64 = 9_000;

/// The first bytes that are kept for a part.
const FIRST: usize = 64 << 10;

/// The most bytes of what a store calls an upload. It is a part of requests.
const MOST_ID: usize = 4095;

/// How long a request to begin an upload goes on after a stop: without its answer the upload could
/// not be aborted.
const TO_BEGIN: Duration = Duration::from_millis(300);

/// How long a request to abort an upload goes on after a stop.
const TO_ABORT: Duration = Duration::from_millis(500);

/// Bytes of a part of an object of about this size.
fn part_bytes(expected: u64) -> u64 {
    let mut part = PART;
    while expected.div_ceil(part) > MOST_PARTS {
        part *= 2;
    }
    part
}

/// Memory of an upload of about this size: a part that is collected and one on its way.
pub fn memory_of_upload(expected: u64) -> u64 {
    2 * part_bytes(expected)
}

/// Says why nothing can be written below an address, if that is so.
pub fn check_writable(path: &Path) -> io::Result<()> {
    let address = Address::of(path)?;
    let what = match address.kind {
        Kind::S3 | Kind::Google | Kind::Azure => return address.path().map(|_| ()),
        Kind::Web => "files of web servers are only read",
        Kind::Hub => "datasets of the hub are only read",
    };
    let what = format!("{what}; give an address that begins with s3://, gs:// or az://");
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// The error of a store about an object that is written.
fn refused(error: &object_store::Error) -> io::Error {
    match error {
        // It is the bucket or the upload that is missing. The store says which.
        object_store::Error::NotFound { .. } => Failure(stores::chain(error)).into(),
        error => stores::refused(error),
    }
}

/// Refuses what no store calls an upload. Without it, the request to abort the upload would be one to
/// delete the object.
fn check_id(kind: Kind, id: &str) -> io::Result<()> {
    // Azure has none, because it deletes blocks by itself that do not become an object.
    if id.len() <= MOST_ID && (kind == Kind::Azure || !id.is_empty()) {
        return Ok(());
    }
    let found = id.len();
    let what = format!("an upload has a name of 1 to {MOST_ID} bytes; this one has {found}");
    Err(io::Error::new(io::ErrorKind::InvalidData, what))
}

/// Aborts an upload, unless it is complete or was aborted.
pub fn abort(path: &Path, id: &str) -> io::Result<()> {
    let ((_, parts), key) = writable(path)?;
    check_id(Address::of(path)?.kind, id)?;
    let id = id.to_string();
    match answer(async move { parts.abort_multipart(&key, &id).await }) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// The interfaces of a store that write an object as a whole, and in parts.
type Writers = (Arc<dyn ObjectStore>, Arc<dyn MultipartStore>);

/// The interfaces that write the object at an address, and its key.
fn writable(path: &Path) -> io::Result<(Writers, Key)> {
    check_writable(path)?;
    let address = Address::of(path)?;
    let store = stores::opened(&address)?;
    let parts = store.parts.ok_or(io::ErrorKind::Unsupported)?;
    match address.path()? {
        key if key.as_ref().is_empty() => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it names no object, but a bucket",
        )),
        key => Ok(((store.objects, parts), key)),
    }
}

/// An object that is being written. Without [`Upload::place`] it is given up when it is dropped.
pub struct Upload {
    objects: Arc<dyn ObjectStore>,
    parts: Arc<dyn MultipartStore>,
    kind: Kind,
    key: Key,
    part: usize,
    filling: Vec<u8>,
    id: Option<MultipartId>,
    sending: Option<Coming<object_store::Result<PartId>>>,
    sent: Vec<PartId>,
    bytes: u64,
    begun: Option<Arc<Begun>>,
    /// Nothing follows a failure: bytes would be missing.
    failed: bool,
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Upload").field(&self.key).finish()
    }
}

impl Upload {
    /// Begins an object of about `expected` bytes. `begun` is told of an upload of several parts.
    pub fn create(path: &Path, expected: u64, begun: Option<Arc<Begun>>) -> io::Result<Upload> {
        let ((objects, parts), key) = writable(path)?;
        Ok(Upload {
            objects,
            parts,
            kind: Address::of(path)?.kind,
            key,
            part: part_bytes(expected) as usize,
            filling: Vec::new(),
            id: None,
            sending: None,
            sent: Vec::new(),
            bytes: 0,
            begun,
            failed: false,
        })
    }

    /// Appends some of these bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.filling.len() == self.part && !bytes.is_empty() {
            self.send()?;
        }
        let filled = self.filling.len();
        let n = bytes.len().min(self.part - filled);
        if filled + n > self.filling.capacity() {
            // Most objects are small. An object that already has a part will fill the next part.
            let more = match self.id {
                Some(_) => self.part,
                None => (filled + n).max(2 * filled).clamp(FIRST, self.part),
            };
            self.filling.reserve_exact(more - filled);
        }
        self.filling.extend_from_slice(&bytes[..n]);
        self.bytes += n as u64;
        Ok(n)
    }

    /// Sends the part that was collected, once the one before is there.
    fn send(&mut self) -> io::Result<()> {
        if mem::replace(&mut self.failed, true) {
            return Err(Failure("it could not be written before".into()).into());
        }
        self.arrive()?;
        let id = match &self.id {
            Some(id) => id.clone(),
            None => self.begin()?,
        };
        let (parts, key, number) = (self.parts.clone(), self.key.clone(), self.sent.len());
        let part = PutPayload::from(mem::take(&mut self.filling));
        let sending = async move { parts.put_part(&key, &id, number, part).await };
        self.sending = Some(start(sending)?);
        self.failed = false;
        Ok(())
    }

    fn begin(&mut self) -> io::Result<MultipartId> {
        let (parts, key) = (self.parts.clone(), self.key.clone());
        let begun = start(async move { parts.create_multipart(&key).await })?;
        let id = begun.wait_after_stop(TO_BEGIN)?;
        let id = id.map_err(|error| refused(&error))?;
        check_id(self.kind, &id)?;
        self.id = Some(id.clone());
        self.begun.as_ref().map_or(Ok(()), |begun| begun(&id))?;
        Ok(id)
    }

    /// Waits for the part on its way.
    fn arrive(&mut self) -> io::Result<()> {
        if let Some(sending) = self.sending.take() {
            let part = sending.wait()?.map_err(|error| refused(&error))?;
            self.sent.push(part);
        }
        Ok(())
    }

    /// Sends the rest, so that only the object's name is missing.
    pub fn seal(&mut self) -> io::Result<()> {
        if self.id.is_none() && !self.failed {
            self.filling.shrink_to_fit();
            return Ok(());
        }
        self.send()?;
        self.failed = true;
        self.arrive()
    }

    /// Makes an object of the parts that were sent. Returns the name that the store gives to this
    /// version of it.
    pub fn place(&mut self) -> io::Result<Option<String>> {
        let key = self.key.clone();
        let Some(id) = self.id.clone() else {
            let objects = self.objects.clone();
            let whole = PutPayload::from(mem::take(&mut self.filling));
            let put = start(async move { objects.put(&key, whole).await })?.wait()?;
            return put.map(|put| put.e_tag).map_err(|error| refused(&error));
        };
        let (parts, sent) = (self.parts.clone(), mem::take(&mut self.sent));
        let complete = async move { parts.complete_multipart(&key, &id, sent).await };
        let placed = match start(complete)?.wait()? {
            Ok(placed) => Ok(placed.e_tag),
            // The answer to an earlier attempt was lost if the object is there.
            Err(error @ object_store::Error::NotFound { .. }) => {
                let (objects, key) = (self.objects.clone(), self.key.clone());
                let found = start(async move { objects.head(&key).await })?.wait()?;
                match found {
                    Ok(found) if found.size == self.bytes => Ok(None),
                    _ => Err(refused(&error)),
                }
            }
            Err(error) => Err(refused(&error)),
        }?;
        self.id = None;
        Ok(placed)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        self.sending = None;
        let (parts, key) = (self.parts.clone(), self.key.clone());
        // If this fails, the next command aborts it, or whoever looks after the bucket.
        let aborted = start(async move { parts.abort_multipart(&key, &id).await });
        let _ = aborted.and_then(|aborted| aborted.wait_after_stop(TO_ABORT));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_grow_with_the_object() {
        assert_eq!(part_bytes(0), PART);
        assert_eq!(part_bytes(PART * MOST_PARTS), PART);
        assert_eq!(part_bytes(PART * MOST_PARTS + 1), 2 * PART);
        assert!(part_bytes(5 << 40).is_multiple_of(PART));
        assert!((5u64 << 40).div_ceil(part_bytes(5 << 40)) <= MOST_PARTS);
    }

    #[test]
    fn only_some_stores_are_written() {
        let check = |text: &str| check_writable(Path::new(text));
        for text in ["s3://b/k", "gs://b", "az://c/k/"] {
            assert!(check(text).is_ok(), "{text}");
        }
        for text in ["https://h/k", "hf://datasets/a/b", "s3://b/a//b", "s3://"] {
            assert!(check(text).is_err(), "{text}");
        }
        assert!(writable(Path::new("s3://bucket/")).is_err());
    }
}
