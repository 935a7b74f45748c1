//! The stores, and what they say of objects.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use globset::GlobBuilder;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::multipart::MultipartStore;
use object_store::path::Path as Key;
use object_store::{
    BackoffConfig, ClientOptions, GetOptions, HeaderMap, HeaderValue, ObjectMeta, ObjectStore,
    RetryConfig,
};
use serde::Deserialize;
use tokio::runtime::{self, Runtime};
use tokio::task::AbortHandle;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::address::{Address, Kind, shown};
use super::client::Connector;
use super::failure::Failure;
use super::{Settings, State};
use crate::metadata::Metadata;
use lookalike_base::{lock, state};

/// Where a machine in a cloud finds the credentials of its role, which are asked for last.
const MACHINE: &str = "169.254.169.254";

/// Where the hub is.
const HUB: &str = "https://huggingface.co";

/// The message for an object that does not exist.
pub(super) const NO_OBJECT: &str = "the store has no such object";

/// Entries of a folder that the hub lists in one answer.
const HUB_PAGE: usize = 1000;

/// The most bytes of an object: more than any store takes, and few enough to add up.
const MOST_SIZE: u64 = 1 << 50;

/// Memory for an object that is listed, beside two copies of its name; and for all of them, if the
/// command has no limit.
const NAME_BYTES: u64 = 440;
const MOST_NAMES: u64 = 1 << 30;

/// Pages of a listing, one after the other, that name no object that was not listed before. A store
/// sends such pages while it passes over deleted objects.
const MOST_EMPTY: usize = 1000;

/// The most bytes of what a store calls the next page. It is a part of the next request, and names
/// the last object in some encoding.
const MOST_TOKEN: usize = 16 << 10;

/// Characters of an error of a store that are shown.
const MOST_SAID: usize = 600;

/// Questions to the hub on their way.
const HEADS: usize = 16;

/// While a request is on its way, this is the interval between checks for a stop.
const LOOK_FOR_STOP: Duration = Duration::from_millis(50);

#[derive(Default)]
struct Stores {
    settings: Settings,
    /// By base.
    open: HashMap<String, Store>,
}

/// A store, how objects of several parts are written to it, and how it lists them. `None` if nothing
/// is written or listed there.
#[derive(Clone)]
pub(super) struct Store {
    pub objects: Arc<dyn ObjectStore>,
    pub parts: Option<Arc<dyn MultipartStore>>,
    pages: Option<Arc<dyn PaginatedListStore>>,
}

/// Sets how all stores are reached from now on, by the command of this thread or by all calls of the
/// library outside of commands.
pub fn configure(settings: Settings) {
    *lock(&state::<Mutex<Stores>>()) = Stores {
        settings,
        open: HashMap::new(),
    };
}

/// A result that is on its way. If it is dropped, nobody works for it any more.
pub(super) struct Coming<T> {
    result: mpsc::Receiver<T>,
    task: AbortHandle,
}

impl<T> Coming<T> {
    /// Waits for the result, or for a stop. An earlier stop takes precedence over the result,
    /// because there may be many requests with quick answers.
    pub fn wait(self) -> io::Result<T> {
        match super::is_stopped() {
            true => Err(super::stopped()),
            false => self.wait_after_stop(Duration::ZERO),
        }
    }

    /// As [`Coming::wait`], but for this time also after a stop.
    pub fn wait_after_stop(self, time: Duration) -> io::Result<T> {
        let mut stopped: Option<Instant> = None;
        loop {
            match self.result.recv_timeout(LOOK_FOR_STOP) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) if super::is_stopped() => {
                    if stopped.get_or_insert_with(Instant::now).elapsed() >= time {
                        return Err(super::stopped());
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure("the request was lost".into()).into());
                }
            }
        }
    }
}

impl<T> Drop for Coming<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Starts a request. The calling thread may be one of another runtime, so it never drives the
/// request itself.
pub(super) fn start<T: Send + 'static>(
    request: impl Future<Output = T> + Send + 'static,
) -> io::Result<Coming<T>> {
    static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);
    let mut runtime = lock(&RUNTIME);
    let runtime = match &*runtime {
        Some(runtime) => runtime,
        None => {
            let made = runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .thread_name("objects")
                .enable_all()
                .build()?;
            runtime.insert(made)
        }
    };
    let (send, result) = mpsc::sync_channel(1);
    let task = runtime.spawn(async move {
        let _ = send.send(request.await);
    });
    Ok(Coming {
        result,
        task: task.abort_handle(),
    })
}

pub(super) fn answer<T: Send + 'static>(
    request: impl Future<Output = object_store::Result<T>> + Send + 'static,
) -> io::Result<T> {
    start(request)?.wait()?.map_err(|error| refused(&error))
}

/// The error of a store. An error that may be gone next time becomes a [`Failure`].
pub(super) fn refused(error: &object_store::Error) -> io::Error {
    use object_store::Error::{InvalidPath, NotFound, Precondition};
    match error {
        NotFound { .. } => io::Error::new(io::ErrorKind::NotFound, NO_OBJECT),
        InvalidPath { .. } => io::Error::new(io::ErrorKind::InvalidInput, chain(error)),
        Precondition { .. } => changed().into(),
        // Also if access is denied: credentials expire, and no object is rejected for good because
        // of that.
        error => {
            let mut what = chain(error);
            if what.contains(MACHINE) {
                what += "; there are no credentials on this machine: set them, or give --anonymous \
                         for public objects";
            }
            Failure(what).into()
        }
    }
}

/// The error of an object that changed after it was opened.
pub(super) fn changed() -> Failure {
    Failure("the object has changed since it was opened".into())
}

/// An error and its causes, each once, in one line. Of an answer in XML it has the message. Of an
/// address it has nothing from the question mark on, where a signature may be.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text += ": ";
            text += &cause_text;
        }
        next = cause.source();
    }
    if let Some((before, answer)) = text
        .split_once("<?xml")
        .or_else(|| text.split_once("<Error"))
    {
        let said = answer.split_once("<Message>");
        let said = said.and_then(|(_, rest)| rest.split_once("</Message>"));
        text = format!("{before}{}", said.map_or("", |(message, _)| message));
    }
    let words = text
        .split_whitespace()
        .map(|word| match word.contains("://") {
            true => word.split('?').next().unwrap_or_default(),
            false => word,
        });
    let words = words.collect::<Vec<_>>().join(" ");
    words.chars().take(MOST_SAID).collect()
}

/// The store of an address.
pub(super) fn store(address: &Address) -> io::Result<Arc<dyn ObjectStore>> {
    Ok(opened(address)?.objects)
}

/// The store of an address, also for writing.
pub(super) fn opened(address: &Address) -> io::Result<Store> {
    let stores = state::<Mutex<Stores>>();
    let mut stores = lock(&stores);
    if let Some(store) = stores.open.get(&address.base) {
        return Ok(store.clone());
    }
    let base = &address.base;
    let is_named = |named: &PathBuf| {
        let named = super::host(named);
        named.as_os_str().eq_ignore_ascii_case(base)
    };
    if let Some(named) = &stores.settings.named
        && !named.iter().any(is_named)
    {
        let what = format!(
            "the command line does not name {base}; if you trust who wrote this address, repeat the \
             command with --allow-store {base}"
        );
        return Err(Failure(what).into());
    }
    let made = make(address, &stores.settings)?;
    stores.open.insert(address.base.clone(), made.clone());
    Ok(made)
}

fn make(address: &Address, settings: &Settings) -> io::Result<Store> {
    let more = match (address.kind, settings.more) {
        (Kind::S3, Some(more)) if !settings.anonymous => more().map_err(Failure)?,
        _ => Vec::new(),
    };
    let endpoints = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "HF_ENDPOINT"];
    // Variables of the environment come later than those of files, so they count.
    let mut variables = more;
    variables.extend_from_slice(&settings.variables);
    let given = variables
        .iter()
        .filter(|(name, _)| endpoints.contains(&&**name));
    for endpoint in settings
        .endpoint
        .iter()
        .chain(given.map(|(_, value)| value))
    {
        let rest = endpoint
            .strip_prefix("http://")
            .or_else(|| endpoint.strip_prefix("https://"));
        if super::secret(Path::new(endpoint)).is_some() {
            let what = "the endpoint has a name, a password or a query; give the scheme, the host and \
                        the port, and credentials in the environment";
            return Err(Failure(what.into()).into());
        }
        if rest.is_none_or(|rest| rest.is_empty() || rest.starts_with('/')) {
            let what = format!(
                "the endpoint `{endpoint}` does not begin with http:// or https:// and a host"
            );
            return Err(Failure(what).into());
        }
    }
    build(address, settings, &variables).map_err(|error| refused(&error))
}

fn build(
    address: &Address,
    settings: &Settings,
    variables: &[(String, String)],
) -> object_store::Result<Store> {
    // Another library of the process may have chosen one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let retry = RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(200),
            max_backoff: Duration::from_secs(15),
            base: 2.5,
        },
        max_retries: 10,
        retry_timeout: Duration::from_secs(120),
    };
    let variable = |wanted: &str| {
        let found = variables.iter().rfind(|(name, _)| name == wanted);
        found.map(|(_, value)| value.clone())
    };
    let given = settings.endpoint.clone();
    let endpoint = match address.kind {
        Kind::S3 => (given.or_else(|| variable("AWS_ENDPOINT_URL_S3")))
            .or_else(|| variable("AWS_ENDPOINT_URL")),
        Kind::Hub => given
            .or_else(|| variable("HF_ENDPOINT"))
            .or(Some(HUB.into())),
        Kind::Web => Some(address.base.clone()),
        Kind::Google | Kind::Azure => given,
    };
    let is_plain = (endpoint.iter()).any(|endpoint| endpoint.starts_with("http://"));
    let options = ClientOptions::new().with_allow_http(is_plain);
    let mut connector = Connector {
        headers: HeaderMap::new(),
        leaves: matches!(address.kind, Kind::Web | Kind::Hub),
    };
    // The builders have the same methods and no common trait.
    macro_rules! configured {
        ($builder:expr, $prefix:literal) => {{
            let mut builder = $builder.with_retry(retry).with_http_connector(connector);
            for (name, value) in variables {
                let name = name.to_ascii_lowercase();
                if name.starts_with($prefix)
                    && let Ok(key) = name.parse()
                {
                    builder = builder.with_config(key, value);
                }
            }
            if settings.anonymous {
                builder = builder.with_skip_signature(true);
            }
            builder.with_client_options(options)
        }};
    }
    Ok(match address.kind {
        Kind::S3 => {
            let mut builder = configured!(AmazonS3Builder::new(), "aws_");
            if let Some(endpoint) = endpoint {
                builder = builder.with_endpoint(endpoint);
            }
            if let Some(region) = &settings.region {
                builder = builder.with_region(region);
            }
            both(builder.with_bucket_name(&address.bucket).build()?)
        }
        Kind::Google => {
            let mut builder = configured!(GoogleCloudStorageBuilder::new(), "google_");
            if let Some(endpoint) = endpoint {
                builder = builder.with_base_url(&endpoint);
            }
            both(builder.with_bucket_name(&address.bucket).build()?)
        }
        Kind::Azure => {
            let mut builder = configured!(MicrosoftAzureBuilder::new(), "azure_");
            if let Some(endpoint) = endpoint {
                builder = builder.with_endpoint(endpoint);
            }
            both(builder.with_container_name(&address.bucket).build()?)
        }
        Kind::Web | Kind::Hub => {
            let token = variable("HF_TOKEN");
            let token = token.filter(|_| address.kind == Kind::Hub && !settings.anonymous);
            if let Some(token) = token
                && let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {}", token.trim()))
            {
                value.set_sensitive(true);
                connector.headers.insert("authorization", value);
            }
            let builder = HttpBuilder::new().with_url(endpoint.unwrap_or_default());
            let builder = builder.with_client_options(options).with_retry(retry);
            only_read(builder.with_http_connector(connector).build()?)
        }
    })
}

fn only_read(store: impl ObjectStore) -> Store {
    Store {
        objects: Arc::new(store),
        parts: None,
        pages: None,
    }
}

/// A store that is read and written.
fn both<S: ObjectStore + MultipartStore + PaginatedListStore>(store: S) -> Store {
    let store = Arc::new(store);
    Store {
        objects: store.clone(),
        parts: Some(store.clone()),
        pages: Some(store),
    }
}

thread_local! {
    /// The last object that this thread asked about. It is used if the thread opens this object
    /// next. It cannot be too old: all ranges are asked for with its etag.
    static LAST: RefCell<Option<(PathBuf, Metadata)>> = const { RefCell::new(None) };
}

fn metadata_of(meta: &ObjectMeta) -> io::Result<Metadata> {
    if meta.size > MOST_SIZE {
        let name = shown(meta.location.as_ref());
        let what = format!("it says that {name} has {} bytes", meta.size);
        return Err(Failure(what).into());
    }
    let modified = meta.last_modified.timestamp_nanos_opt().unwrap_or(0);
    Ok(Metadata::of_object(meta.size, modified, meta.e_tag.clone()))
}

/// The names that a listing has returned so far. The names may have a quarter of the command's
/// memory.
struct Names {
    left: u64,
    /// 128 bits of each key: with 64, one of two keys could be taken for the other and vanish.
    keys: HashSet<u128>,
    pages: HashSet<u64>,
    /// Pages since the last new key.
    empty: usize,
}

impl Names {
    fn new() -> Names {
        let left = match state::<State>().memory.load(Ordering::Relaxed) {
            0 => MOST_NAMES,
            memory => memory / 4,
        };
        Names {
            left,
            keys: HashSet::new(),
            pages: HashSet::new(),
            empty: 0,
        }
    }

    /// Takes a name. Returns whether it was not listed before: the object at a key and the mark of a
    /// folder at the same key with a slash are listed with the same one.
    fn take(&mut self, name: &str) -> io::Result<bool> {
        let left = self.left.checked_sub(NAME_BYTES + 2 * name.len() as u64);
        self.left = left.ok_or_else(|| {
            let what = "it lists more objects than fit in the memory of this command: give more \
                        --memory, or an address with fewer objects below it";
            io::Error::new(io::ErrorKind::InvalidInput, what)
        })?;
        let is_new = self.keys.insert(xxh3_128(name.as_bytes()));
        if is_new {
            self.empty = 0;
        }
        Ok(is_new)
    }

    /// Takes what the store calls the next page.
    fn turn(&mut self, page: &str) -> io::Result<()> {
        self.empty += 1;
        let what = if page.len() > MOST_TOKEN {
            format!("the name of a page has {} bytes", page.len())
        } else if !self.pages.insert(xxh3_64(page.as_bytes())) {
            "a page was listed before".into()
        } else if self.empty >= MOST_EMPTY {
            format!("{MOST_EMPTY} pages name no more objects")
        } else {
            return Ok(());
        };
        let what = format!("the store's listing has no end: {what}");
        Err(Failure(what).into())
    }
}

/// Asks what the store says of an object.
fn head(address: &Address) -> io::Result<Coming<object_store::Result<ObjectMeta>>> {
    let (store, key) = (store(address)?, address.path()?);
    start(async move {
        let head = GetOptions {
            head: true,
            ..GetOptions::default()
        };
        store.get_opts(&key, head).await.map(|found| found.meta)
    })
}

/// Asks the store for the metadata of an object.
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    let address = Address::of(path)?;
    let found = head(&address)?.wait()?;
    let found = found.map_err(|error| refused(&error))?;
    let found = metadata_of(&found)?;
    LAST.set(Some((path.into(), found.clone())));
    Ok(found)
}

/// Returns [`metadata`], without a request if the last one of this thread was for the same object.
pub(super) fn last_metadata(path: &Path) -> io::Result<Metadata> {
    let last = LAST.take().filter(|(asked, _)| asked == path);
    match last {
        Some((_, found)) => Ok(found),
        None => metadata(path),
    }
}

/// The objects that an address names: the object itself, those whose keys fit its glob, or all
/// below it as a prefix. In the order of the store.
///
/// # Errors
/// `NotFound` if there are none.
pub fn list(path: &Path) -> io::Result<Vec<(PathBuf, Metadata)>> {
    let address = Address::of(path)?;
    if !address.key.is_empty() && !address.key.ends_with('/') {
        match metadata(path) {
            Ok(found) => return Ok(vec![(path.into(), found)]),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // A folder of the hub is not a file, and has another status.
            Err(_) if address.kind == Kind::Hub => {}
            Err(error) => return Err(error),
        }
    }
    if address.kind == Kind::Web {
        let what = "the server has no such file, and files of web servers are not listed";
        return Err(io::Error::new(io::ErrorKind::NotFound, what));
    }
    let prefix = address.before_glob();
    let glob = prefix.map(|_| {
        let mut glob = GlobBuilder::new(&address.key);
        let built = glob.literal_separator(true).build();
        built
            .map(|glob| glob.compile_matcher())
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error.kind().to_string()))
    });
    let glob = glob.transpose()?;
    let below = address.at(prefix.unwrap_or(&address.key));
    let keeps = move |key: &str| glob.as_ref().is_none_or(|glob| glob.is_match(key));
    let found = match address.kind {
        Kind::Hub => hub_files(&below, keeps)?,
        _ => below_prefix(&below, usize::MAX, keeps)?,
    };
    if found.is_empty() {
        let what = "no object has this key or a key below it";
        return Err(io::Error::new(io::ErrorKind::NotFound, what));
    }
    let objects = found.into_iter();
    let objects = objects.map(|(key, metadata)| (address.at(&key).text().into(), metadata));
    Ok(objects.collect())
}

/// The names of the objects below an address, relative to it, and what the store says of them. No
/// more than `most` are asked for.
pub fn below(path: &Path, most: usize) -> io::Result<Vec<(String, Metadata)>> {
    let address = Address::of(path)?;
    let from = match address.path()?.as_ref() {
        "" => 0,
        prefix => prefix.len() + 1,
    };
    let names = below_prefix(&address, most, |_| true)?.into_iter();
    Ok(names
        // The folder itself may be marked by an object.
        .filter_map(|(key, meta)| Some((key.get(from..)?.into(), meta)))
        .collect())
}

/// The keys below a prefix that are to be kept; of `most` of those that are listed.
fn below_prefix(
    address: &Address,
    most: usize,
    keeps: impl Fn(&str) -> bool + Send + 'static,
) -> io::Result<Vec<(String, Metadata)>> {
    let pages = opened(address)?.pages.ok_or(io::ErrorKind::Unsupported)?;
    let (folder, root) = (address.path()?, address.clone());
    let mut names = Names::new();
    let request = async move {
        let prefix = match folder.as_ref() {
            "" => None,
            folder => Some(format!("{folder}/")),
        };
        let (mut found, mut page_token) = (Vec::new(), None);
        loop {
            let options = PaginatedListOptions {
                page_token,
                ..PaginatedListOptions::default()
            };
            let page = pages.list_paginated(prefix.as_deref(), options).await;
            let page = page.map_err(|error| refused(&error))?;
            for meta in page.result.objects {
                let key = meta.location.as_ref();
                let is_outside = |prefix: &String| !key.starts_with(prefix.as_str());
                if meta.location != folder && prefix.as_ref().is_some_and(is_outside) {
                    let what = format!(
                        "the store lists {:?} below {:?}",
                        shown(key),
                        folder.as_ref()
                    );
                    return Err(Failure(what).into());
                }
                // Those that are not kept count as well: a listing may have no end.
                if names.take(key)? && keeps(key) {
                    root.at(key).check()?;
                    found.push(meta);
                }
                if names.keys.len() >= most {
                    return Ok(found);
                }
            }
            if let Some(next) = &page.page_token {
                names.turn(next)?;
            } else {
                return Ok::<Vec<ObjectMeta>, io::Error>(found);
            }
            page_token = page.page_token;
        }
    };
    let mut found = Vec::new();
    for meta in start(request)?.wait()?? {
        let key = meta.location.as_ref().to_string();
        // A key that ends with a slash marks a folder. The listing drops the slash, and the store
        // has no object with the shorter key.
        if meta.size == 0
            && let Err(error) = head(&address.at(&key))?.wait()?
        {
            match refused(&error) {
                error if error.kind() == io::ErrorKind::NotFound => continue,
                error => return Err(error),
            }
        }
        found.push((key, metadata_of(&meta)?));
    }
    Ok(found)
}

/// An entry of a folder on the hub (`GET /api/datasets/OWNER/NAME/tree/REVISION/PATH`).
#[derive(Deserialize)]
struct Entry {
    r#type: String,
    path: String,
}

/// The files below a folder of a dataset. The hub lists other metadata than it sends when a file is
/// read, so each file to keep costs one more request.
fn hub_files(
    address: &Address,
    keeps: impl Fn(&str) -> bool,
) -> io::Result<Vec<(String, Metadata)>> {
    let of = address.in_dataset()?;
    let (dataset, revision, path) = (of.dataset, of.revision, of.path);
    let store = store(address)?;
    let root = address.key[..address.key.len() - path.len()].trim_end_matches('/');
    let mut folders = vec![path.trim_matches('/').to_string()];
    let mut names = Names::new();
    let mut keys = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        let at = format!("api/datasets/{dataset}/tree/{revision}/{folder}");
        let key = Key::from(at.trim_end_matches('/'));
        let store = store.clone();
        let request = async move {
            let found = store.get_opts(&key, GetOptions::default()).await?;
            found.bytes().await
        };
        let bytes = answer(request)?;
        let entries: Vec<Entry> = serde_json::from_slice(&bytes)
            .map_err(|error| Failure(format!("the hub's list of files: {error}")))?;
        if entries.len() >= HUB_PAGE {
            let what = format!(
                "the folder `{folder}` has {HUB_PAGE} entries or more, and the hub does not list \
                 the rest at once; name its files"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let mut inside = BTreeSet::new();
        for Entry { r#type, path } in entries {
            // So each folder is asked for once, and the number of folders has an end.
            let name = path
                .strip_prefix(&*folder)
                .map(|name| match folder.is_empty() {
                    true => Some(name),
                    false => name.strip_prefix('/'),
                });
            if name
                .flatten()
                .is_none_or(|name| name.is_empty() || name.contains('/'))
            {
                let (path, folder) = (shown(&path), shown(&folder));
                let what =
                    format!("the hub lists `{path}` in the folder `{folder}`, where it is not");
                return Err(Failure(what).into());
            }
            names.take(&path)?;
            let key = format!("{root}/{path}");
            let is_folder = r#type == "directory";
            if !is_folder && !keeps(&key) {
                continue;
            }
            address.at(&key).check()?;
            match is_folder {
                true => inside.insert(path),
                false => keys.insert(key),
            };
        }
        folders.extend(inside);
    }
    let keys: Vec<String> = keys.into_iter().collect();
    let mut files = Vec::with_capacity(keys.len());
    for some in keys.chunks(HEADS) {
        let asked = some.iter().map(|key| head(&address.at(key)));
        let asked = asked.collect::<io::Result<Vec<_>>>()?;
        for (key, coming) in some.iter().zip(asked) {
            let meta = coming.wait()?.map_err(|error| refused(&error))?;
            files.push((key.clone(), metadata_of(&meta)?));
        }
    }
    Ok(files)
}
