//! The collection of a reproduction, and the results made from it: methods, comparisons, edited
//! copies.

use std::path::{Path, PathBuf};

use super::STAGE;
use crate::compare::{self, CompareConfig, Comparison};
use crate::perturb::{self, PerturbConfig, Recipe};
use lookalike_base::{Context, Criterion, Error, Result, Silent};
use lookalike_engine::collection::{self, Catalogue, CollectionConfig};
use lookalike_engine::pipeline::{self, Summary};
use lookalike_engine::sample::Sampling;
use lookalike_engine::trial;
use lookalike_methods::{self as methods, Spec};
use lookalike_store::{self as store, InputList, MANIFEST_FILE, Workspace, disk, json, put_file};
use lookalike_text::read::{ReadConfig, Selection};

/// The subdirectory of an output directory with the results made from the collection.
pub const MADE: &str = "made";

/// The collection, and the place for the results made from it. Methods run in the collection's
/// directory, where `compare` finds them too.
pub struct Bench<'a> {
    /// The collection.
    pub base: Workspace,
    made: PathBuf,
    /// The label of each document, as `evaluate --families` reads them.
    pub labels: Option<&'a Path>,
    context: &'a Context<'a>,
}

/// A collection of edited copies.
pub struct Copies {
    /// The originals, the copies and the background.
    pub collection: Workspace,
    /// The edits of each copy.
    pub edits: PathBuf,
}

impl<'a> Bench<'a> {
    /// Opens the collection of a directory that keeps its texts.
    pub(super) fn open(
        directory: &Path,
        out: &Path,
        labels: Option<&'a Path>,
        context: &'a Context<'a>,
    ) -> Result<Bench<'a>> {
        let mut base = pipeline::open_texts(directory)?;
        pipeline::catalogued(&mut base, context)?;
        Ok(Bench {
            base,
            made: out.join(MADE),
            labels,
            context,
        })
    }

    /// The limits, without the progress of stages inside.
    pub fn context(&self) -> Context<'a> {
        Context {
            progress: &Silent,
            ..*self.context
        }
    }

    /// Reports the step that begins.
    pub fn note(&self, line: &str) -> Result<()> {
        self.context.stop.check(STAGE)?;
        self.context.progress.note(line);
        Ok(())
    }

    /// The directory for the results made from the collection, and for temporary files.
    ///
    /// # Errors
    /// `Io` if it cannot be created.
    pub fn scratch(&self) -> Result<&Path> {
        disk::create_lasting_directory(&self.made)?;
        Ok(&self.made)
    }

    /// Runs a method on a collection, or takes its results if it was run.
    ///
    /// # Errors
    /// Those of [`methods::run`].
    pub fn method(&self, on: &Workspace, spec: &str) -> Result<(Workspace, Summary)> {
        self.note(spec)?;
        methods::run(on, &Spec::read(spec)?, &self.context())
    }

    /// Finds the pairs of a collection, or of the features of a method, that reach another
    /// criterion. `name` is the name of the pairs below the output directory.
    ///
    /// # Errors
    /// Those of [`pipeline::join`].
    pub fn pairs(&self, on: &Workspace, name: &str, criterion: Criterion) -> Result<Workspace> {
        self.note(name)?;
        let place = self.scratch()?.join(name);
        let context = &self.context();
        Ok(trial::ask(on, &place, &Sampling::Full, criterion, 0, context)?.0)
    }

    /// Runs methods on a collection and compares them. `edits` is the list that [`Bench::copies`]
    /// returns.
    ///
    /// # Errors
    /// Those of [`methods::run`] and [`compare::run`].
    pub fn compare(
        &self,
        on: &Workspace,
        specs: &[impl AsRef<str>],
        edits: Option<&Path>,
    ) -> Result<Comparison> {
        let mut methods = Vec::with_capacity(specs.len());
        for spec in specs.iter().map(AsRef::as_ref) {
            methods.push(Spec::read(spec)?);
            // Its directory is locked, and compared below.
            drop(self.method(on, spec)?);
        }
        let config = CompareConfig {
            methods,
            edits: edits.map(Path::to_path_buf),
            ..CompareConfig::default()
        };
        compare::run(on, &config, &self.context())
    }

    /// The number of documents of which copies can be made, at most this number.
    pub fn originals(&self, most: u64) -> Result<u64> {
        let stats = Catalogue::stats(&self.base)?;
        let copied = stats.representatives - stats.without_shingles;
        Ok(copied.saturating_sub(stats.docnos_repeated).min(most))
    }

    /// Makes a corpus of edited copies of the collection's documents and reads it, or opens an
    /// existing corpus. `name` is its name below the output directory.
    ///
    /// # Errors
    /// Those of [`perturb::run`] and [`pipeline::ingest`]; `InputChanged` if an input of the
    /// collection is gone.
    pub fn copies(
        &self,
        name: &str,
        recipe: Recipe,
        originals: u64,
        background: bool,
    ) -> Result<Copies> {
        let base = &self.base;
        let theirs = collection::config(&base.manifest);
        let config = PerturbConfig {
            selection: Selection::default(),
            read: theirs.read.clone(),
            detector: theirs.shingle.parse.detector,
            recipe,
            originals: Some(originals),
            background: Some(background),
            seed: 0,
        };
        let (corpus, directory) = (self.made.join(name), self.made.join(format!("{name}.run")));
        let marker = self.made.join(format!("{name}.json"));
        let stands_on = (
            &base.manifest.inputs,
            &config,
            &theirs.shingle,
            env!("CARGO_PKG_VERSION"),
        );
        // Records that the copies are complete, and the sources of the copies and the collection.
        let done = serde_json::json!({ "of": store::digest_of(&stands_on, &marker)? });
        let done = json::pretty(&done, &marker)?.into_bytes();
        let copies = |collection| Copies {
            collection,
            edits: corpus.join(perturb::EDITS),
        };
        let size = done.len() as u64;
        if disk::exists(&marker)?
            && disk::size(&marker)? == size
            && disk::read_all(&marker)? == done
        {
            let mut collection = pipeline::open_texts(&directory)?;
            pipeline::catalogued(&mut collection, &self.context())?;
            return Ok(copies(collection));
        }
        self.note(&format!("{name}: making edited copies"))?;
        self.scratch()?;
        disk::remove(&marker)?;
        if disk::exists(&directory.join(MANIFEST_FILE))? {
            // It belongs to another collection, or its inputs are made again.
            pipeline::open(&directory)?.clear()?;
        }
        perturb::run(&inputs(base)?, &corpus, &config, &self.context())?;
        let files = [perturb::ORIGINALS, perturb::COPIES, perturb::BACKGROUND];
        let files = files.iter().take(if background { 3 } else { 2 });
        let files: Vec<PathBuf> = files.map(|file| corpus.join(file)).collect();
        let inputs = pipeline::inputs(&files, &directory)?;
        let config = CollectionConfig {
            read: ReadConfig::default(),
            text: true,
            ..theirs.clone()
        };
        let collection = pipeline::ingest(&inputs, &directory, &config, false, &self.context())?;
        put_file(&self.made, &format!("{name}.json"), &done)?;
        disk::sync_directory(&self.made)?;
        Ok(copies(collection))
    }
}

/// The input files of a collection.
fn inputs(base: &Workspace) -> Result<Vec<PathBuf>> {
    let mut list = InputList::open(base.directory())?;
    let mut paths = Vec::new();
    while let Some(entry) = list.next()? {
        let path = entry.places().find(|path| disk::metadata(path).is_ok());
        let path = path.ok_or_else(|| {
            let limit = format!(
                "edited copies are made of its inputs, and {} is not there any more",
                entry.path
            );
            Error::parameter("DIR", base.directory().display()).because(limit)
        })?;
        paths.push(path.to_path_buf());
    }
    Ok(paths)
}
