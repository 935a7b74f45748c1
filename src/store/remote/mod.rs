//! Objects in stores (S3, Google Cloud Storage, Azure, the Hugging Face hub) and on web servers,
//! which [`disk`](super::disk) reads and writes as it reads and writes files. Needs the feature
//! `remote`.
//!
//! An object has no directory entry and no descriptor. Its path is its address, as the user gave
//! it or as a listing completes it; what identifies its content is the etag of the store. Each
//! range is asked for with the etag of the object that was opened, so the bytes of two versions are
//! never mixed.
//!
//! An object that is written is there when it is complete, or not at all (`upload`).
//!
//! # Cost
//! Memory: the window of each reader and the ranges that are on their way, within `reserve`; two
//! parts of each object that is written (`memory_of_upload`).

#[cfg(feature = "remote")]
mod address;
mod failure;
#[cfg(feature = "remote")]
mod object;
#[cfg(feature = "remote")]
mod stores;
#[cfg(feature = "remote")]
mod upload;
#[cfg(not(feature = "remote"))]
mod without;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use crate::base::progress::Stop;

pub(crate) use failure::{failed, is_failure, is_stop, number_of, stopped};
#[cfg(feature = "remote")]
pub(in crate::store) use object::{Object, Window};
#[cfg(feature = "remote")]
pub use stores::configure;
#[cfg(feature = "remote")]
pub(in crate::store) use stores::metadata;
#[cfg(feature = "remote")]
pub(crate) use stores::{below, list};
#[cfg(feature = "remote")]
pub(in crate::store) use upload::Upload;
#[cfg(feature = "remote")]
pub(crate) use upload::{abort, check_writable, memory_of_upload};
#[cfg(not(feature = "remote"))]
pub(in crate::store) use without::Upload;
#[cfg(not(feature = "remote"))]
pub(crate) use without::{abort, below, check_writable, list, memory_of_upload};

/// Is told the id of an upload of several parts before the first of them is sent. What a killed
/// command leaves unfinished can then be aborted by the next one.
pub(crate) type Begun = dyn Fn(&str) -> std::io::Result<()> + Send + Sync;

/// Returns variables, by name, or says what is wrong with the files that have them.
pub type Asked = fn() -> Result<Vec<(String, String)>, String>;

/// How stores are reached: what a program takes from its arguments and its environment.
#[derive(Clone, Default)]
pub struct Settings {
    /// The address of a server with the interface of the store, in place of the provider's.
    pub endpoint: Option<String>,
    /// The region of buckets.
    pub region: Option<String>,
    /// Requests are not signed.
    pub anonymous: bool,
    /// Variables with credentials and other options, by the names that the providers' own programs
    /// use: `AWS_ACCESS_KEY_ID`, `GOOGLE_APPLICATION_CREDENTIALS`, `AZURE_STORAGE_ACCOUNT_NAME`,
    /// `HF_TOKEN`.
    pub variables: Vec<(String, String)>,
    /// More variables for S3, which are asked for when they are needed.
    pub more: Option<Asked>,
}

/// Schemes of addresses that can be read.
#[cfg(feature = "remote")]
const READABLE: [&str; 6] = ["s3", "gs", "az", "https", "http", "hf"];
#[cfg(not(feature = "remote"))]
const READABLE: [&str; 0] = [];

/// Whether a path is the address of something that can be read, rather than of a file.
pub fn is_address(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    READABLE.iter().any(|scheme| {
        text.len() > scheme.len()
            && text[..scheme.len()].eq_ignore_ascii_case(scheme.as_bytes())
            && text[scheme.len()..].starts_with(b"://")
    })
}

/// The address to which the names of the objects that an address names are relative: without what
/// comes from the first component on that is a glob.
pub(crate) fn prefix(path: &Path) -> PathBuf {
    let mut text = path.to_string_lossy().into_owned();
    let from = text.find("://").map_or(0, |at| at + 3);
    text[..from].make_ascii_lowercase();
    match text[from..].find(GLOB) {
        Some(at) => text[..from + at]
            .rsplit_once('/')
            .map_or(&*text, |(before, _)| before)
            .into(),
        None => text.into(),
    }
}

/// An address in the one spelling that others are compared with: its scheme in small letters, and no
/// slash at its end.
pub(crate) fn normal(address: &Path) -> PathBuf {
    let text = address.to_string_lossy();
    let (scheme, rest) = text.split_once("://").unwrap_or((&text, ""));
    format!(
        "{}://{}",
        scheme.to_ascii_lowercase(),
        rest.trim_end_matches('/')
    )
    .into()
}

/// The signs of a glob.
const GLOB: [char; 4] = ['*', '?', '[', '{'];

/// Bytes for windows and ranges on their way, if nobody reserves more.
const LEAST_RESERVED: u64 = 16 << 20;

/// The most of these bytes.
const MOST_RESERVED: u64 = 256 << 20;

/// Whether this command reads objects, and the bytes that it may hold of them.
static IN_USE: AtomicBool = AtomicBool::new(false);
static RESERVED: AtomicU64 = AtomicU64::new(LEAST_RESERVED);

/// The request to stop of the last command that began.
static STOP: RwLock<Option<Stop>> = RwLock::new(None);

/// Says whether the command that begins reads objects.
pub(crate) fn begin(in_use: bool) {
    IN_USE.store(in_use, Ordering::Relaxed);
    RESERVED.store(LEAST_RESERVED, Ordering::Relaxed);
}

/// Says what ends the waits for a store.
pub(crate) fn wait_until(stop: &Stop) {
    *STOP.write().unwrap_or_else(PoisonError::into_inner) = Some(stop.clone());
}

/// Whether waits have to end.
#[cfg(feature = "remote")]
fn is_stopped() -> bool {
    let stop = STOP.read().unwrap_or_else(PoisonError::into_inner);
    stop.as_ref().is_some_and(Stop::requested)
}

/// The part of this much memory that is kept for bytes of objects: an eighth, and 256 MiB at most.
/// Nothing if the command reads none.
pub(crate) fn reserve(memory: u64) -> u64 {
    if !IN_USE.load(Ordering::Relaxed) {
        return 0;
    }
    let reserved = (memory / 8).min(MOST_RESERVED);
    RESERVED.store(reserved.max(LEAST_RESERVED), Ordering::Relaxed);
    reserved
}

/// The least memory that leaves this much beside what is kept for bytes of objects.
pub(crate) fn with_reserve(rest: u64) -> u64 {
    match IN_USE.load(Ordering::Relaxed) {
        true => rest.saturating_add((rest / 7 + 1).min(MOST_RESERVED)),
        false => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_paths() {
        let is = |text: &str| is_address(Path::new(text));
        for path in [
            "s3",
            "s3:/bucket/key",
            "./s3://b/k",
            "file:///a",
            "ftp://a/b",
            "s3a://b/k",
        ] {
            assert!(!is(path), "{path}");
        }
        for address in [
            "s3://b/k",
            "S3://b",
            "gs://b/",
            "hf://datasets/a/b",
            "https://a/b",
        ] {
            assert_eq!(is(address), cfg!(feature = "remote"), "{address}");
        }
    }

    #[test]
    fn spellings_of_an_address_are_compared_in_one() {
        let normal = |text: &str| normal(Path::new(text));
        assert_eq!(normal("S3://Bucket/Key//"), Path::new("s3://Bucket/Key"));
        assert!(normal("s3://b/in/x").starts_with(normal("S3://b/in/")));
        assert!(!normal("s3://b/inner").starts_with(normal("s3://b/in")));
    }
}
