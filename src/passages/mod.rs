//! Passages: the text that documents share, with its places.
//!
//! # In and out
//! In: a collection, and the inputs that it was read from, which are read again. Out, in the
//! directory of the collection: [`SPANS_FILE`], [`REMOVABLE_FILE`] and [`COVERAGE_FILE`].
//!
//! # Definitions
//! A *k-gram* is a run of k consecutive tokens ([`PassagesConfig::length`]). A token position is
//! *repeated* if it lies in an occurrence of a k-gram that occurs at least twice in the collection,
//! in another document or elsewhere in the same one; overlapping occurrences count. A *span* is a
//! maximal run of repeated positions of a document. A position is *removable* if it is repeated and
//! lies in no first occurrence of a repeated k-gram, by input order and then by position: without the
//! removable positions, every repeated k-gram still occurs once.
//!
//! # Algorithm
//! 1. `grams`: each document is cut into stretches of consecutive k-grams that share a minimizer.
//! 2. `repeats`: external sorts of the stretches, and of some of their k-grams, find the repeated
//!    k-grams of each document and where each occurs first.
//! 3. `spans`: the spans of each document follow from its repeats. Their bytes and lines are found
//!    in its text.
//!
//! # Invariants
//! - Every span is found and none is wrong; [`repeats`] says how k-grams are compared.
//! - The files depend on inputs and parameters alone, not on threads, memory or stops.
//!
//! # Cost
//! The inputs are read three times. Memory: what reading takes, 20 bytes for each document, and
//! the rest of the budget for the sorts. Temporary files: 24 bytes for each stretch.
//!
//! # Errors
//! `BadParameter` for a length out of range, for tokens that are not words, and for standard input;
//! `InputChanged` if an input is not what was read; `BudgetTooSmall`; those of reading.

mod cuts;
mod grams;
mod removable;
mod remove;
mod repeats;
mod spans;
mod units;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::Serialize;

use crate::budget::{ByteSize, PROCESS_BYTES};
use crate::collection::{self, Catalogue, Representatives, Reread};
use crate::numbers::counted;
use crate::parse::TokenKind;
use crate::progress::Context;
use crate::read::InputFile;
use crate::store::disk;
use crate::workspace::{Cost, InputList, Meter, Workspace};
use crate::{Error, Result};

pub use cuts::Align;
pub use remove::{
    REMOVED_ENDING, RemovalConfig, RemovalSummary, check_before_removal, check_removal,
    check_removal_inputs, remove,
};
pub use units::{Scope, Unit, UnitsConfig};

use grams::MOST_LENGTH;
use repeats::{Repeats, Search};

const STAGE: &str = "passages";

/// The spans of each document.
pub const SPANS_FILE: &str = "spans.tsv";
/// The removable parts of the spans.
pub const REMOVABLE_FILE: &str = "removable.tsv";
/// What part of each document is repeated.
pub const COVERAGE_FILE: &str = "coverage.tsv";
/// All files that the command writes.
pub const FILES: [&str; 3] = [SPANS_FILE, REMOVABLE_FILE, COVERAGE_FILE];

/// The least memory for the sorts.
const LEAST_SORT_BYTES: u64 = 16 << 20;
/// Bytes of memory for each document: where its repeats and its examined stretches end, and its
/// record number.
const DOCUMENT_BYTES: u64 = 20;

/// Which documents are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// All.
    #[default]
    All,
    /// Those that are no exact duplicates of earlier ones.
    Representatives,
}

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Of::All => "all",
            Of::Representatives => "representatives",
        })
    }
}

impl FromStr for Of {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "all" => Ok(Of::All),
            "representatives" => Ok(Of::Representatives),
            _ => Err(format!("`{text}` is not all or representatives")),
        }
    }
}

/// Parameters of a search for passages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PassagesConfig {
    /// The least length of a passage, in tokens: 1 to 500.
    pub length: u32,
    /// The documents that are compared.
    pub of: Of,
}

impl Default for PassagesConfig {
    fn default() -> Self {
        PassagesConfig {
            length: 50,
            of: Of::All,
        }
    }
}

impl PassagesConfig {
    /// Refuses a length out of range.
    ///
    /// # Errors
    /// `BadParameter`.
    pub fn check(&self) -> Result<()> {
        if (1..=MOST_LENGTH).contains(&self.length) {
            return Ok(());
        }
        Err(Error::BadParameter {
            name: "length",
            given: self.length.to_string(),
            limit: format!("1 to {MOST_LENGTH} tokens"),
        })
    }
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Documents compared.
    pub documents: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Documents with spans.
    pub repeating: u64,
    /// Spans.
    pub spans: u64,
    /// Repeated tokens.
    pub repeated_tokens: u64,
    /// Removable tokens.
    pub removable_tokens: u64,
    /// Bytes of the texts as read, and of their spans.
    pub bytes: u64,
    /// Bytes of the spans.
    pub repeated_bytes: u64,
    /// The longest span, in tokens.
    pub longest: u64,
    /// Stretches of k-grams, which were sorted.
    pub stretches: u64,
    /// K-grams that were sorted one by one.
    pub grams: u64,
    /// Runs of repeated k-grams whose first occurrences are runs, too.
    pub repeats: u64,
    /// Lines or paragraphs that were sorted.
    pub units: u64,
    /// What the search cost.
    #[serde(skip)]
    pub cost: Cost,
}

/// The inputs of a collection, to be read again.
fn inputs_of(workspace: &Workspace) -> Result<Vec<InputFile>> {
    let mut inputs = Vec::new();
    let mut entries = InputList::open(workspace.directory())?;
    while let Some(entry) = entries.next()? {
        if entry.path == "-" {
            return Err(Error::BadParameter {
                name: "INPUT",
                given: "-".into(),
                limit: "standard input cannot be read again; store it in a file first".into(),
            });
        }
        // The file may have moved with its directory, or the working directory may be another.
        let is_file = |path: &&Path| disk::metadata(path).is_ok_and(|found| found.is_file());
        let path = entry.places().find(is_file);
        let problem = match path.is_some() || entry.identity.is_some() {
            true => None,
            false => Some((crate::read::Reason::Unreadable, String::new())),
        };
        let path = path.unwrap_or(Path::new(&entry.path));
        inputs.push(InputFile::of_entry(entry, path, problem));
    }
    Ok(inputs)
}

/// Finds the passages of a collection with its catalogue, and writes the result files into its
/// directory.
///
/// # Errors
/// As the module says.
pub fn run(
    workspace: &mut Workspace,
    config: &PassagesConfig,
    context: &Context<'_>,
) -> Result<Stats> {
    config.check()?;
    let (length, of) = (config.length, config.of);
    let how = format!("# length: {length}\n# of: {of}\n");
    let find = |search: &Search<'_>, stats: &mut Stats| search.run(stats);
    search(workspace, (length, of), &how, find, context)
}

/// Finds the repeated lines or paragraphs of a collection with its catalogue, and writes the result
/// files into its directory.
///
/// # Errors
/// As the module says.
pub fn run_units(
    workspace: &mut Workspace,
    config: &UnitsConfig,
    context: &Context<'_>,
) -> Result<Stats> {
    config.check()?;
    let UnitsConfig {
        unit,
        scope,
        least,
        of,
    } = config;
    let how = format!("# unit: {unit}\n# scope: {scope}\n# least: {least}\n# of: {of}\n");
    let find = |search: &Search<'_>, stats: &mut Stats| units::find(search, config, stats);
    search(workspace, (1, *of), &how, find, context)
}

/// Writes the result files for the repeats that `find` finds. `how` is what they say of the
/// parameters.
fn search(
    workspace: &mut Workspace,
    (length, of): (u32, Of),
    how: &str,
    find: impl FnOnce(&Search<'_>, &mut Stats) -> Result<Repeats>,
    context: &Context<'_>,
) -> Result<Stats> {
    let meter = Meter::start();
    let refuse = |name, given: String, limit: &str| {
        Err(Error::BadParameter {
            name,
            given,
            limit: limit.into(),
        })
    };
    let collection = collection::config(&workspace.manifest).clone();
    if let TokenKind::Bytes(_) = collection.shingle.parse.tokens {
        let given = collection.shingle.parse.tokens.to_string();
        return refuse("tokens", given, "passages consist of words; use words");
    }
    if workspace.manifest.base.is_some() {
        let given = workspace.directory().display().to_string();
        return refuse("DIR", given, "it was made with --against; give its inputs");
    }
    let stats = Catalogue::stats(workspace)?;
    let (documents, duplicates) = (stats.documents, stats.exact_duplicates);
    let inputs = inputs_of(workspace)?;
    let only_bytes = match of {
        Of::All => 0,
        Of::Representatives => Representatives::most_bytes(documents, duplicates),
    };
    let tables = documents * DOCUMENT_BYTES + only_bytes;
    let reading = Reread::least_memory(&collection, inputs.len()).0;
    let least = ByteSize(PROCESS_BYTES + tables + reading + LEAST_SORT_BYTES);
    context.budget.require(least, || {
        format!("finding the passages of {}", counted(documents, "document"))
    })?;
    let left = context.budget.memory.0 - PROCESS_BYTES - tables;
    let reading = reading.max(left / 2);
    let only = match of {
        Of::All => None,
        Of::Representatives => Some(Catalogue::representatives(workspace)?),
    };
    workspace.forget_others(|name| FILES.contains(&name))?;
    let scratch = workspace.scratch(context)?;
    let reread = Reread::new(workspace, &inputs, ByteSize(reading), context);
    let search = Search {
        reread: &reread,
        parse: &collection.shingle.parse,
        length,
        only: only.as_ref(),
        documents: documents as u32,
        scratch: scratch.path(),
        memory: left - reading,
        context,
    };
    let mut stats = Stats::default();
    let repeats = find(&search, &mut stats)?;
    let files = spans::write(workspace, &search, &repeats, how, &mut stats)?;
    drop((repeats, reread, scratch));
    workspace.name_others(files)?;
    stats.cost = meter.cost();
    Ok(stats)
}
