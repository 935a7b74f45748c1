//! A search from its inputs to its results, and to copies without the repeated text.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::remove::{check_removal, check_removal_inputs, remove};
use super::{PassagesConfig, RemovalConfig, RemovalSummary, Stats, Then};
use crate::dedup;
use lookalike_base::{Context, Error, Result, refuse};
use lookalike_engine::cluster;
use lookalike_engine::collection::{self, CollectionConfig};
use lookalike_engine::excluded::excluded;
use lookalike_engine::pipeline::{self, InputChoice};
use lookalike_rewrite::output;
use lookalike_store::{LastSearch, OutputKind, Workspace, checkpoint, output_kind};
use lookalike_text::parse::TokenKind;

/// A search, and where its documents come from.
pub struct Task<'t> {
    /// One output directory of this program, or inputs to read.
    pub inputs: InputChoice,
    /// How inputs are read.
    pub collection: CollectionConfig,
    /// Whether a rejected record is an error.
    pub strict: bool,
    /// The directory for the documents and results of inputs, or for the copies; empty if none is
    /// given.
    pub output: &'t Path,
    /// The working directory, if copies of inputs are written.
    pub work: Option<&'t Path>,
    /// The removal from copies, if they are written.
    pub remove: Option<RemovalConfig>,
    /// The directory for the removed text.
    pub removed: Option<&'t Path>,
    /// The passages to find.
    pub passages: PassagesConfig,
    /// Files whose words count for no passage, in place of [`PassagesConfig::excluded`] and of the
    /// words that the directory leaves out.
    pub exclude_text: Option<&'t [PathBuf]>,
    /// Whether the page of the directory is written after the search.
    pub page: bool,
}

/// Counts the passages that a search found and removed.
#[derive(Debug, Serialize)]
pub struct Done {
    /// The counts of the search.
    #[serde(flatten)]
    pub found: Stats,
    /// The counts of the copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removal: Option<RemovalSummary>,
    /// The directory of the results.
    #[serde(skip)]
    pub directory: PathBuf,
}

/// The output directory that is the only input.
///
/// # Errors
/// Those of looking at it.
pub fn directory(inputs: &[PathBuf]) -> Result<Option<&Path>> {
    match inputs {
        [only] if output_kind(only)? == Some(OutputKind::Run) => Ok(Some(only)),
        _ => Ok(None),
    }
}

impl Task<'_> {
    /// Searches, and writes the copies.
    ///
    /// # Errors
    /// `BadParameter`; the errors of [`super::run()`] and [`super::remove()`].
    pub fn run(&self, context: &Context<'_>) -> Result<Done> {
        self.passages.check()?;
        super::check_collection(&self.collection)?;
        let directory = self.directory()?;
        let missing = match (directory, &self.remove) {
            (_, Some(_)) => Some("give -o KEPT, the directory for the copies"),
            (None, None) => {
                Some("give -o DIR, the directory for the documents and the result files")
            }
            (Some(_), None) => None,
        };
        if let (Some(limit), true) = (missing, self.output.as_os_str().is_empty()) {
            return refuse("output", "", limit);
        }
        let mut collection = match directory {
            Some(directory) => collection::config(&pipeline::look(directory)?).clone(),
            None => self.collection.clone(),
        };
        // Without some of its words, a program may have others.
        let tokens = &collection.shingle.parse.tokens;
        let programs = matches!(tokens, TokenKind::Code(_) | TokenKind::Auto(_));
        let files = self.exclude_text.unwrap_or_default();
        if let Some(file) = files.first().filter(|_| programs) {
            let limit = "no words of programs are left out; use --tokens words";
            return refuse("exclude-text", file.display(), limit);
        }
        let of_pairs = collection.shingle.excluded.take().filter(|_| !programs);
        let given = excluded(files, &collection, context)?;
        let mut workspace = self.collection(directory, context)?;
        let mut passages = self.passages.clone();
        let kept = passages.excluded.or(of_pairs);
        passages.excluded = given.or(kept.filter(|_| self.exclude_text.is_none()));
        let asked = serde_json::to_value((&passages, passages.results));
        // A command that writes copies does not list the matches.
        passages.matches = passages.matches.filter(|_| self.remove.is_none());
        let then = match self.remove {
            Some(_) => Then::Remove,
            None if self.page => Then::Page,
            None => Then::End,
        };
        let asked = asked.map_err(|e| Error::io("encode", workspace.directory())(e.into()))?;
        workspace.manifest.set(LastSearch(asked));
        let found = super::run(&mut workspace, &passages, then, context)?;
        let remove = |how| {
            let outputs = (self.output, self.removed);
            remove(&workspace, &passages, how, outputs, context)
        };
        let removal = self.remove.as_ref().map(remove).transpose()?;
        checkpoint::end(&mut workspace)?;
        Ok(Done {
            found,
            removal,
            directory: workspace.directory().into(),
        })
    }

    /// The output directory that is the only input.
    fn directory(&self) -> Result<Option<&Path>> {
        let Some(only) = directory(&self.inputs.paths)? else {
            return Ok(None);
        };
        let place = only.display();
        if let Some(work) = self.work {
            let limit = format!(
                "{place} is an output directory, in which the command works; leave --work out"
            );
            return refuse("work", work.display(), limit);
        }
        if self.remove.is_none() && !self.output.as_os_str().is_empty() {
            let limit = format!(
                "{place} is an output directory, which gets the result files; leave --output out"
            );
            return refuse("output", self.output.display(), limit);
        }
        Ok(Some(only))
    }

    /// The documents: from a directory, or from inputs that are read first. Refuses outputs and
    /// formats of inputs before the search.
    fn collection(&self, directory: Option<&Path>, context: &Context<'_>) -> Result<Workspace> {
        let outputs = (self.output, self.removed);
        let copies = self.remove.is_some();
        if let Some(directory) = directory {
            let mut workspace = pipeline::open_texts(directory)?;
            pipeline::catalogued(&mut workspace, context)?;
            if copies {
                check_removal(&workspace, outputs, context)?;
            }
            return Ok(workspace);
        }
        let work = match (copies, self.work) {
            (false, _) => self.output.into(),
            (true, Some(work)) => work.into(),
            (true, None) => dedup::work_directory(self.output),
        };
        if copies {
            output::check_outputs(&self.inputs.paths, &work, outputs)?;
        }
        Workspace::look_whether_free(&work)?;
        let inputs = self.inputs.list(&work)?;
        if copies {
            check_removal_inputs(&inputs, &self.collection.read, context)?;
        }
        let workspace = pipeline::ingest(&inputs, &work, &self.collection, self.strict, context)?;
        // No clusters follow, which have it among their results.
        cluster::write_rejects(&workspace, &mut Default::default())?;
        Ok(workspace)
    }
}
