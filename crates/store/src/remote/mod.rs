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
//! A command reaches only the hosts and buckets that its command line names ([`Settings::named`]): an
//! address in a directory, a list or a plan may come from somebody else.
//!
//! # Cost
//! Memory: the window of each reader and the ranges that are on their way, within `reserve`; two
//! parts of each object that is written (`memory_of_upload`).

#[cfg(feature = "remote")]
mod address;
#[cfg(feature = "remote")]
mod client;
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
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lookalike_base::{Result, Stop, login, state, without_secrets};

pub use failure::{failed, is_failure, is_stop, number_of, stopped};
#[cfg(feature = "remote")]
pub use object::{Object, Window};
#[cfg(feature = "remote")]
pub use stores::{below, configure, list, metadata};
#[cfg(feature = "remote")]
pub use upload::{Upload, abort, check_writable, memory_of_upload};
#[cfg(not(feature = "remote"))]
pub use without::{Upload, abort, below, check_writable, list, memory_of_upload};

/// Receives the id of an upload of several parts before the first part is sent. If a command is
/// killed, the next one can then abort the upload.
pub type Begun = dyn Fn(&str) -> std::io::Result<()> + Send + Sync;

/// Returns variables, by name, or says why the files that have them cannot be used.
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
    /// Addresses of the buckets and hosts that are reached, and no others; `None` for all.
    pub named: Option<Vec<PathBuf>>,
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

/// An address with something secret in it, without that; and why it is refused. Addresses are printed
/// and stored.
pub fn secret(address: &Path) -> Option<(String, &'static str)> {
    let text = address.to_string_lossy();
    let (scheme, rest) = text.split_once("://")?;
    let rest = rest.trim_start_matches('/');
    if let Some(end) = login(rest) {
        let what = "names and passwords in addresses would be printed and stored; remove what is \
                    before the @ (credentials come from the environment), or download the file";
        return Some((format!("{scheme}://...{}", &rest[end..]), what));
    }
    let is_web = ["http", "https"]
        .iter()
        .any(|web| scheme.eq_ignore_ascii_case(web));
    // Elsewhere a question mark is a glob.
    let is_signed = |at: usize| rest[at..].contains('=') && without_secrets(&text) != text;
    let at = rest
        .find(['?', '#'])
        .filter(|&at| is_web || is_signed(at))?;
    let what = "addresses with `?` or `#`, such as signed ones, are not read; download the file";
    Some((format!("{scheme}://{}...", &rest[..=at]), what))
}

/// The bucket or host of an address, as an address: `s3://bucket`.
pub fn host(address: &Path) -> PathBuf {
    let text = normal(address).to_string_lossy().into_owned();
    let from = text.find("://").map_or(0, |at| at + 3);
    let length = text[from..].find('/').unwrap_or(text.len() - from);
    text[..from + length].into()
}

/// The address to which the names of the objects that an address names are relative: without what
/// comes from the first component on that is a glob.
pub fn prefix(path: &Path) -> PathBuf {
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
pub fn normal(address: &Path) -> PathBuf {
    let text = address.to_string_lossy();
    let (scheme, rest) = text.split_once("://").unwrap_or((&text, ""));
    format!(
        "{}://{}",
        scheme.to_ascii_lowercase(),
        rest.trim_end_matches('/')
    )
    .into()
}

/// The most bytes of the name of an input, or of an address: no longer path can be opened. And the
/// most names in it: each directory is looked at and made from the first one on.
const MOST_NAME: usize = 4095;
const MOST_PARTS: usize = 256;

/// Returns, for messages, the condition that [`is_short`] checks.
pub fn short() -> String {
    format!("at most {MOST_NAME} bytes and {MOST_PARTS} names, one below the other")
}

/// Whether a name of an input is not too long, nor of too many names.
pub fn is_short(path: &str) -> bool {
    path.len() <= MOST_NAME && path.split('/').count() <= MOST_PARTS
}

/// The signs of a glob.
const GLOB: [char; 4] = ['*', '?', '[', '{'];

/// Bytes for windows and ranges on their way, if nobody reserves more.
#[cfg(feature = "remote")]
const LEAST_RESERVED: u64 = 16 << 20;

/// The most of these bytes.
const MOST_RESERVED: u64 = 256 << 20;

/// The state that each command has of its own.
#[derive(Default)]
struct State {
    /// Whether it reads objects.
    in_use: AtomicBool,
    /// Its memory, if that is known, and the bytes that it may hold of them, if these are more than
    /// `LEAST_RESERVED`.
    memory: AtomicU64,
    reserved: AtomicU64,
    /// The bytes that all of its readers hold or wait for.
    #[cfg(feature = "remote")]
    held: AtomicU64,
    /// The request that ends its waits for a store.
    stop: OnceLock<Stop>,
}

/// Says whether the command that begins reads objects.
pub fn begin(in_use: bool) {
    state::<State>().in_use.store(in_use, Ordering::Relaxed);
}

/// Says what ends the waits of this command for a store.
pub fn wait_until(stop: &Stop) {
    state::<State>().stop.get_or_init(|| stop.clone());
}

/// Returns an error if this command has been asked to stop.
pub fn check_stop(stage: &'static str) -> Result<()> {
    let state = state::<State>();
    state.stop.get().map_or(Ok(()), |stop| stop.check(stage))
}

/// Whether waits have to end.
#[cfg(feature = "remote")]
fn is_stopped() -> bool {
    state::<State>().stop.get().is_some_and(Stop::requested)
}

/// The part of this much memory that is kept for bytes of objects: an eighth, and 256 MiB at most.
/// Nothing if the command reads none.
pub fn reserve(memory: u64) -> u64 {
    let state = state::<State>();
    if !state.in_use.load(Ordering::Relaxed) {
        return 0;
    }
    let reserved = (memory / 8).min(MOST_RESERVED);
    state.reserved.store(reserved, Ordering::Relaxed);
    state.memory.store(memory, Ordering::Relaxed);
    reserved
}

/// Returns the least memory that leaves `rest` bytes besides the bytes reserved for objects.
pub fn with_reserve(rest: u64) -> u64 {
    match state::<State>().in_use.load(Ordering::Relaxed) {
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
    fn secrets_are_left_out_of_addresses() {
        for (address, shown) in [
            ("https://user:secret@host/a@b", Some("https://...@host/a@b")),
            ("s3://key:secret@bucket", Some("s3://...@bucket")),
            ("s3://key:sec/ret@bucket/a", Some("s3://...@bucket/a")),
            ("http:///user:secret@host/a", Some("http://...@host/a")),
            ("HTTPS://host/a?X-Sig=secret", Some("HTTPS://host/a?...")),
            ("https://host?secret", Some("https://host?...")),
            ("az://c/a?sv=1&sig=secret", Some("az://c/a?...")),
            ("s3://bucket/a?b@c", None),
            ("s3://bucket/part-?-tokens.gz", None),
            ("hf://datasets/o/n@v1/a", None),
            ("https://host:80/a", None),
            ("a@b/c?d", None),
        ] {
            let found = secret(Path::new(address)).map(|(shown, _)| shown);
            assert_eq!(found.as_deref(), shown, "{address}");
        }
        assert_eq!(host(Path::new("S3://b/k/")), Path::new("s3://b"));
        assert_eq!(host(Path::new("https://h")), Path::new("https://h"));
    }

    #[test]
    fn the_end_or_begin_of_another_command_changes_nothing() {
        use lookalike_base::command::Command;
        Command::default().run(|| {
            begin(true);
            let stop = Stop::default();
            wait_until(&stop);
            assert_eq!(reserve(1 << 30), 128 << 20);
            let other = || {
                begin(false);
                wait_until(&Stop::default());
                assert_eq!(reserve(1 << 30), 0);
            };
            std::thread::scope(|scope| drop(scope.spawn(move || Command::default().run(other))));
            let state = state::<State>();
            assert_eq!(state.reserved.load(Ordering::Relaxed), 128 << 20);
            assert_eq!(with_reserve(7), 9);
            stop.request();
            assert!(state.stop.get().is_some_and(Stop::requested));
        });
    }

    #[test]
    fn spellings_of_an_address_are_compared_in_one() {
        let normal = |text: &str| normal(Path::new(text));
        assert_eq!(normal("S3://Bucket/Key//"), Path::new("s3://Bucket/Key"));
        assert!(normal("s3://b/in/x").starts_with(normal("S3://b/in/")));
        assert!(!normal("s3://b/inner").starts_with(normal("s3://b/in")));
    }
}
