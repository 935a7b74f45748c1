//! An output directory: its lock, its manifest, its scrap.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::entries::{MANIFEST_FORMAT, Manifest};
use super::inputs::INPUTS_FILE;
use super::lock::{LOCK_FILE, Lock};
use crate::collection::CollectionConfig;
use crate::ids::FingerprintKind;
use crate::read::Inputs;
use crate::sample::Sampling;
use crate::store::{self, Kind, PartInfo, disk};
use crate::{Error, Result};

/// Name of the manifest in an output directory.
pub const MANIFEST_FILE: &str = "manifest.json";

/// An output directory, locked for this process.
#[derive(Debug)]
pub struct Workspace {
    directory: PathBuf,
    /// What is committed. Change it, then [`Workspace::commit`].
    pub manifest: Manifest,
    _lock: Lock,
    /// Committed files that were gone when the directory was opened.
    lost: Vec<PathBuf>,
    /// Another directory, and the subdirectories that are its, read and never written.
    base: Option<(PathBuf, Vec<&'static str>)>,
}

fn read_manifest(directory: &Path) -> Result<Option<Manifest>> {
    let path = directory.join(MANIFEST_FILE);
    let bytes = match disk::read_all(&path) {
        Ok(bytes) => bytes,
        // Only where there is nothing at all: for want of a manifest, parts are scrap.
        Err(Error::Io { source, .. })
            if source.kind() == std::io::ErrorKind::NotFound && disk::is_gone(&path)? =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let corrupt = |what: &str, expected: String, found: String| Error::Corrupt {
        path: path.clone(),
        offset_bytes: 0,
        what: what.into(),
        expected,
        found,
    };
    // The last line holds the checksum of all before it.
    let body_end = bytes[..bytes.len().saturating_sub(1)]
        .iter()
        .rposition(|&b| b == b'\n')
        .map_or(0, |at| at + 1);
    let (body, sum) = bytes.split_at(body_end);
    let value: serde_json::Value = serde_json::from_slice(body).map_err(|e| {
        corrupt(
            "manifest",
            "JSON and a line with its checksum".into(),
            e.to_string(),
        )
    })?;
    let format = value
        .get("format")
        .and_then(serde_json::Value::as_u64)
        .unwrap_or(0) as u32;
    if format != MANIFEST_FORMAT {
        return Err(Error::Version {
            path: path.clone(),
            found: format,
            least: MANIFEST_FORMAT,
            most: MANIFEST_FORMAT,
        });
    }
    let found = format!("{:016x}", store::checksum(body));
    if sum != format!("{found}\n").as_bytes() {
        let stated = String::from_utf8_lossy(sum).into_owned();
        return Err(corrupt(
            "checksum of the manifest",
            format!("{stated:?}"),
            found,
        ));
    }
    let manifest = serde_json::from_value(value)
        .map_err(|e| corrupt("manifest", "the fields of its format".into(), e.to_string()))?;
    Ok(Some(manifest))
}

/// Subdirectories that hold parts; nothing else in them is ours.
const DIRECTORIES: [&str; 6] = [
    "collection",
    "catalogue",
    "sample",
    "runs",
    "postings",
    "pairs",
];
/// A directory for sorts that need no checkpoint; emptied at every start.
const SCRATCH: &str = "scratch";

/// Refuses a directory that is somebody else's, before anything in it is touched: what is not known would
/// be removed as scrap, and a lock written over.
fn refuse_others(directory: &Path) -> Result<()> {
    // Listed before the manifest is looked for: another process may just be beginning here.
    let mut names = Vec::new();
    for entry in disk::entries(directory).map_err(Error::io("list", directory))? {
        names.push(entry.map_err(Error::io("list", directory))?.file_name());
    }
    // One that is another program's is refused by this.
    if read_manifest(directory)?.is_some() {
        return Ok(());
    }
    let there = |name: &str| names.iter().any(|found| found == name);
    let begun = |name: &OsStr| {
        let list = disk::temporary(Path::new(INPUTS_FILE));
        let manifest = disk::temporary(Path::new(MANIFEST_FILE));
        let directories = DIRECTORIES.into_iter().chain([SCRATCH]);
        [LOCK_FILE.as_ref(), list.as_os_str(), manifest.as_os_str()].contains(&name)
            || directories.into_iter().any(|ours| name == ours)
    };
    let ours = names.is_empty()
        || there(LOCK_FILE) && (there(INPUTS_FILE) || names.iter().all(|name| begun(name)));
    if ours {
        return Ok(());
    }
    Err(Error::BadParameter {
        name: "output",
        given: directory.display().to_string(),
        limit: "it is not empty and holds no manifest.json; give a new directory".into(),
    })
}

impl Workspace {
    /// Refuses a directory that another process works in, before anything long is done for it. Who opens it
    /// later is told again.
    pub fn look_whether_free(directory: &Path) -> Result<()> {
        Lock::look_whether_free(directory)
    }

    /// Opens the directory for a run over `inputs`, or makes it. What it holds must have been made
    /// from the same inputs with the same collection parameters.
    pub fn open_or_create(
        directory: &Path,
        config: &CollectionConfig,
        inputs: &Inputs,
    ) -> Result<Self> {
        disk::create_lasting_directory(directory)?;
        refuse_others(directory)?;
        let lock = Lock::take(directory)?;
        let manifest = match read_manifest(directory)? {
            Some(mut manifest) => {
                super::inputs::restore(directory, &manifest.inputs, inputs)?;
                check_list(directory, &manifest)?;
                compatible(directory, &manifest, config)?;
                super::inputs::same(directory, inputs)?;
                manifest.inputs.skipped = inputs.skipped;
                manifest
            }
            None => {
                let json = serde_json::to_vec(config).unwrap_or_default();
                Manifest {
                    inputs: super::inputs::write(directory, inputs)?,
                    ..Manifest::new(config, &store::digest(&json))
                }
            }
        };
        let mut workspace = Workspace {
            directory: directory.to_path_buf(),
            manifest,
            _lock: lock,
            lost: Vec::new(),
            base: None,
        };
        // Standard input is not read twice.
        let again = inputs.iter().all(|input| input.path != Path::new("-"));
        workspace.lost = workspace.forget_gone(again)?;
        workspace.prepare()?;
        workspace.commit(&[])?;
        Ok(workspace)
    }

    /// Opens a directory that holds a collection.
    pub fn open(directory: &Path) -> Result<Self> {
        let manifest = Workspace::look(directory)?;
        let lock = Lock::take(directory)?;
        let mut workspace = Workspace {
            directory: directory.to_path_buf(),
            manifest,
            _lock: lock,
            lost: Vec::new(),
            base: None,
        };
        // Again, now that nobody else can change it.
        workspace.manifest = Workspace::look(directory)?;
        check_list(directory, &workspace.manifest)?;
        workspace.lost = workspace.forget_gone(false)?;
        workspace.prepare()?;
        Ok(workspace)
    }

    /// Opens or makes a directory for another question to the collection of `base`, which stays as it is:
    /// what the question makes lies in `directory`. Where `base` has the shared postings of all
    /// fingerprints and `sampling` is to have them, they are used too.
    ///
    /// What `directory` holds of an earlier such question is kept, if the collection is the same.
    pub fn over(base: &Workspace, directory: &Path, sampling: &Sampling) -> Result<Self> {
        let mut names = vec!["collection", "catalogue"];
        let theirs = &base.manifest;
        let complete = theirs.postings.as_ref().filter(|p| p.complete);
        let same = theirs
            .sample
            .as_ref()
            .is_some_and(|s| s.sampling == *sampling);
        let shared = complete.filter(|_| same);
        let mut workspace = Workspace::standing_on(base, directory, "", shared)?;
        workspace.manifest.segments.clone_from(&theirs.segments);
        workspace.manifest.catalogue.clone_from(&theirs.catalogue);
        workspace.manifest.ingested = theirs.ingested;
        if shared.is_some() {
            names.extend(["sample", "postings"]);
            workspace.manifest.sample.clone_from(&theirs.sample);
            workspace.manifest.postings.clone_from(&theirs.postings);
            workspace.manifest.runs = None;
        }
        workspace.base = Some((base.directory.clone(), names));
        workspace.forget_gone(true)?;
        workspace.prepare()?;
        Ok(workspace)
    }

    /// Opens or makes a directory for a collection of some documents of `base`, with its parameters.
    ///
    /// What `directory` holds is kept, if it was made from the same collection for the same documents, as
    /// `which` says.
    pub fn beside(base: &Workspace, directory: &Path, which: &str) -> Result<Self> {
        let mut workspace = Workspace::standing_on(base, directory, which, None)?;
        workspace.forget_gone(true)?;
        workspace.prepare()?;
        Ok(workspace)
    }

    /// Opens or makes a directory for a method's keys of the documents of `base`. `method` is its name for
    /// people, `which` says all that its keys depend on.
    ///
    /// What `directory` holds is kept, if it was made from the same collection by the same method.
    pub fn of_method(
        base: &Workspace,
        directory: &Path,
        method: &str,
        which: &str,
    ) -> Result<Self> {
        let mut workspace = Workspace::standing_on(base, directory, which, None)?;
        // Its rejects and its page name input files by their numbers.
        let list = disk::read_all(&base.directory.join(super::INPUTS_FILE))?;
        let own = directory.join(super::INPUTS_FILE);
        if disk::is_gone(&own)? {
            super::others::put(directory, super::INPUTS_FILE, &list)?;
        }
        check_list(directory, &workspace.manifest)?;
        workspace.manifest.method = Some(method.into());
        workspace.manifest.collection.shingle.fingerprint = FingerprintKind::Xxh3;
        workspace.lost = workspace.forget_gone(true)?;
        workspace.prepare()?;
        workspace.commit(&[])?;
        Ok(workspace)
    }

    fn standing_on(
        base: &Workspace,
        directory: &Path,
        which: &str,
        postings: Option<&super::PostingsEntry>,
    ) -> Result<Self> {
        disk::create_lasting_directory(directory)?;
        let lock = Lock::take(directory)?;
        let theirs = &base.manifest;
        // What it stands on is told by the inputs and the parts that it uses.
        let (parameters, segments) = (&theirs.collection_digest, &theirs.segments);
        let stands_on =
            serde_json::to_vec(&(&theirs.inputs, parameters, segments, which, postings));
        let origin = store::digest(&stands_on.unwrap_or_default());
        let found = read_manifest(directory)?;
        let other = found
            .as_ref()
            .is_some_and(|m| m.origin.as_ref() != Some(&origin));
        if other {
            // What it names is scrap now, and is removed: it must not be found again without that.
            disk::remove(&directory.join(MANIFEST_FILE))?;
            disk::sync_directory(directory)?;
        }
        let manifest = found.filter(|_| !other);
        let manifest = manifest.unwrap_or_else(|| Manifest {
            origin: Some(origin),
            inputs: theirs.inputs.clone(),
            ..Manifest::new(&theirs.collection, &theirs.collection_digest)
        });
        Ok(Workspace {
            directory: directory.to_path_buf(),
            manifest,
            _lock: lock,
            lost: Vec::new(),
            base: None,
        })
    }

    /// Committed files that were gone when the directory was opened, and are to be made again.
    pub fn take_lost(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.lost)
    }

    /// Removes the directory and all that is ours in it.
    pub fn discard(self) -> Result<()> {
        let own = self.directory.clone();
        // First what names the others: a manifest of parts that are gone could not be gone on from.
        disk::remove(&own.join(MANIFEST_FILE))?;
        disk::sync_directory(&own)?;
        for name in DIRECTORIES.into_iter().chain([SCRATCH]) {
            let path = own.join(name);
            for file in disk::list(&path)? {
                disk::remove(&path.join(file))?;
            }
        }
        disk::remove(&own.join(LOCK_FILE))?;
        for name in DIRECTORIES.into_iter().chain([SCRATCH]) {
            disk::remove_directory(&own.join(name))?;
        }
        disk::remove_directory(&own)
    }

    /// Reads the manifest of a directory without locking it.
    pub fn look(directory: &Path) -> Result<Manifest> {
        read_manifest(directory)?.ok_or_else(|| Error::StageMissing {
            path: directory.into(),
            stage: "ingest",
        })
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// A subdirectory for parts.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        match &self.base {
            Some((base, names)) if names.contains(&name) => base.join(name),
            _ => self.directory.join(name),
        }
    }

    /// Is a subdirectory another directory's?
    pub(super) fn borrows(&self, name: &str) -> bool {
        self.base
            .as_ref()
            .is_some_and(|(_, names)| names.contains(&name))
    }

    /// Where sorts without checkpoints put their files.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.directory.join(SCRATCH)
    }

    /// Digest of the collection's parameters, as parts carry it.
    #[must_use]
    pub fn collection_parameters(&self) -> u128 {
        u128::from_str_radix(&self.manifest.collection_digest, 16).unwrap_or(0)
    }

    /// Makes the subdirectories, and removes what no manifest names.
    fn prepare(&mut self) -> Result<()> {
        for name in DIRECTORIES.into_iter().chain([SCRATCH]) {
            if !self.borrows(name) {
                disk::create_directory(&self.path(name))?;
            }
        }
        disk::remove(&disk::temporary(&self.path(MANIFEST_FILE)))?;
        disk::empty_directory(&self.scratch())?;
        self.remove_scrap()
    }

    /// Removes parts, and beginnings of parts, that the manifest does not name.
    pub fn remove_scrap(&self) -> Result<()> {
        let named = self.named();
        for name in DIRECTORIES {
            // Parts that are used in the other directory may be here of an earlier question.
            let borrowed = self.borrows(name);
            let directory = self.directory.join(name);
            for file in disk::list(&directory)? {
                let known = !borrowed
                    && named
                        .iter()
                        .any(|(d, part)| *d == name && part.name == file);
                if !known && is_ours(&file) {
                    disk::remove(&directory.join(&file))?;
                }
            }
        }
        Ok(())
    }

    /// Every committed part, with its subdirectory.
    #[must_use]
    pub fn named(&self) -> Vec<(&'static str, PartInfo)> {
        parts_of(&self.manifest)
            .into_iter()
            .map(|(d, _, p)| (d, p.clone()))
            .collect()
    }

    /// Commits the manifest after the parts in the named subdirectories are in place.
    pub fn commit(&mut self, directories: &[&str]) -> Result<()> {
        for name in directories {
            disk::sync_directory(&self.path(name))?;
        }
        self.manifest.program = program();
        let path = self.path(MANIFEST_FILE);
        let mut body = serde_json::to_vec_pretty(&self.manifest).map_err(|e| Error::Io {
            operation: "encode",
            path: path.clone(),
            source: e.into(),
        })?;
        body.push(b'\n');
        let sum = store::checksum(&body);
        let mut file = disk::AtomicFile::create(&path)?;
        file.put(&body)?;
        file.put(format!("{sum:016x}\n").as_bytes())?;
        file.finish()?;
        disk::sync_directory(&self.directory)
    }

    /// Digest of the sample stage for this collection and sampling.
    #[must_use]
    pub fn sample_digest(&self, sampling: &Sampling) -> String {
        store::digest(format!("{}\n{sampling}", self.manifest.collection_digest).as_bytes())
    }

    /// Keeps sample, runs and postings if they are of this digest; drops them and what stands on
    /// them otherwise. Returns whether they were kept.
    pub fn keep_sample(&mut self, digest: &str) -> bool {
        let keep = self
            .manifest
            .sample
            .as_ref()
            .is_some_and(|s| s.digest == digest);
        if !keep {
            self.manifest.sample = None;
            self.manifest.runs = None;
            self.manifest.postings = None;
            self.manifest.joining = None;
        }
        keep
    }

    /// Keeps the pairs if they are of this digest; drops them and the results otherwise.
    pub fn keep_pairs(&mut self, digest: &str) -> bool {
        let keep = self
            .manifest
            .pairs
            .as_ref()
            .is_some_and(|p| p.digest == digest);
        if !keep {
            self.manifest.pairs = None;
            self.manifest.results = None;
        }
        keep
    }
}

/// Every part that a manifest names: subdirectory, kind, part.
#[must_use]
pub fn parts_of(manifest: &Manifest) -> Vec<(&'static str, Kind, &PartInfo)> {
    let mut parts = Vec::new();
    for segment in &manifest.segments {
        parts.push(("collection", Kind::Documents, &segment.documents));
        parts.push(("collection", Kind::Fingerprints, &segment.fingerprints));
        parts.push(("collection", Kind::Rejects, &segment.rejects));
        let text = segment.text.iter();
        parts.extend(text.map(|part| ("collection", Kind::Text, part)));
    }
    if let Some(catalogue) = &manifest.catalogue {
        parts.push(("catalogue", Kind::Names, &catalogue.names));
        parts.push(("catalogue", Kind::Column, &catalogue.name_ends));
        parts.push(("catalogue", Kind::Column, &catalogue.representatives));
        parts.push(("catalogue", Kind::Column, &catalogue.stored));
        parts.push(("catalogue", Kind::Rejects, &catalogue.rejects));
    }
    if let Some(sample) = &manifest.sample {
        parts.extend(sample.sizes.iter().map(|p| ("sample", Kind::Column, p)));
    }
    if let Some(runs) = &manifest.runs {
        parts.extend(runs.runs.iter().map(|r| ("runs", Kind::Run, &r.part)));
    }
    if let Some(postings) = &manifest.postings {
        parts.extend(
            postings
                .parts
                .values()
                .map(|p| ("postings", Kind::Postings, p)),
        );
    }
    if let Some(postings) = &manifest.postings {
        let profiles = postings.profiles.iter();
        parts.extend(profiles.map(|p| ("postings", Kind::Column, p)));
    }
    if let Some(joining) = &manifest.joining {
        let candidates = joining.prefix.iter().flat_map(|place| &place.candidates);
        let runs = joining.runs.iter().chain(candidates);
        parts.extend(runs.map(|r| ("pairs", Kind::Run, &r.part)));
    }
    if let Some(pairs) = &manifest.pairs {
        parts.push(("pairs", Kind::Pairs, &pairs.part));
        let scores = pairs.scores.iter();
        parts.extend(scores.map(|part| ("pairs", Kind::Pairs, part)));
    }
    parts
}

impl Manifest {
    /// One of nothing yet.
    fn new(config: &CollectionConfig, collection_digest: &str) -> Manifest {
        Manifest {
            format: MANIFEST_FORMAT,
            program: program(),
            collection: config.clone(),
            collection_digest: collection_digest.into(),
            inputs: Default::default(),
            origin: None,
            method: None,
            segments: Vec::new(),
            ingested: false,
            catalogue: None,
            plan: None,
            plan_given: false,
            sample: None,
            runs: None,
            postings: None,
            joining: None,
            pairs: None,
            results: None,
            others: Vec::new(),
            costs: Default::default(),
        }
    }
}

fn program() -> String {
    format!("lookalike {}", env!("CARGO_PKG_VERSION"))
}

/// Is this a name that we give: digits or one of ours, and one of our endings?
fn is_ours(name: &str) -> bool {
    let name = name.strip_suffix(".tmp").unwrap_or(name);
    let Some((stem, ending)) = name.rsplit_once('.') else {
        return false;
    };
    let kinds = [
        "docs", "fps", "rejects", "col", "names", "run", "post", "pairs", "text",
    ];
    kinds.contains(&ending) && !stem.is_empty() && !stem.contains('/')
}

/// Is the list of inputs the one that the manifest was made with?
fn check_list(directory: &Path, manifest: &Manifest) -> Result<()> {
    let list = &manifest.inputs.list;
    disk::check(&directory.join(&list.name), list.bytes, &list.checksum)
}

fn compatible(directory: &Path, manifest: &Manifest, config: &CollectionConfig) -> Result<()> {
    let flat = |config: &CollectionConfig| -> Vec<(String, String)> {
        let mut out = Vec::new();
        flatten(
            "",
            &serde_json::to_value(config).unwrap_or_default(),
            &mut out,
        );
        // Said only where it is asked for.
        if !config.text {
            out.push(("keep-text".into(), false.to_string()));
        }
        // The same names in the same places.
        out.sort_by(|a, b| a.0.cmp(&b.0));
        out
    };
    let (ours, theirs) = (flat(config), flat(&manifest.collection));
    for ((name, expected), (_, found)) in ours.iter().zip(&theirs) {
        // How the input is cut does not matter any more once it is all in.
        if expected != found && !(name == "segment-size" && manifest.ingested) {
            return Err(Error::Incompatible {
                path: directory.into(),
                name: format!("--{name}"),
                expected: expected.clone(),
                found: found.clone(),
            });
        }
    }
    Ok(())
}

/// Parameters by the name of their flag.
fn flatten(name: &str, value: &serde_json::Value, out: &mut Vec<(String, String)>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                flatten(&key.replace('_', "-"), value, out);
            }
        }
        serde_json::Value::String(text) => out.push((name.into(), text.clone())),
        serde_json::Value::Null => out.push((name.into(), "by default".into())),
        other => out.push((name.into(), other.to_string())),
    }
}
