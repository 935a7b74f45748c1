//! Passages: the text that documents share, with its places.
//!
//! # In and out
//! In: a collection, and the inputs that it was read from, which are read again. Out, in the
//! directory of the collection: `SPANS_FILE`, `REMOVABLE_FILE` and `COVERAGE_FILE`; if
//! [`PassagesConfig::matches`] says so, also `MATCHES_FILE`, `OVERLAPS_FILE`, `COMMON_FILE`
//! and `COMMON_PLACES_FILE`; with [`MatchesConfig::reuse`], `REUSE_FILE`, `REUSE_MATCHES_FILE`,
//! `REUSE_CLUSTERS_FILE` and `REUSE_PLACES_FILE` in place of `MATCHES_FILE`; with
//! [`PassagesConfig::boilerplate`], `BOILERPLATE_FILE` and `BOILERPLATE_PLACES_FILE`.
//!
//! # Definitions
//! A *k-gram* is a run of k consecutive tokens ([`PassagesConfig::length`], or
//! [`ReuseConfig::match_length`] if reuses are looked for). A token position is
//! *repeated* if it lies in an occurrence of a k-gram that occurs at least twice in the collection,
//! in another document or elsewhere in the same one; overlapping occurrences count. Excluded words
//! ([`PassagesConfig::excluded`], `excluded`) do not count as tokens here. A *span* is a maximal
//! run of repeated positions of a document. A position is *removable* if it is repeated and lies in
//! no first occurrence of a repeated k-gram, by input order and then by position: without the
//! removable positions, every repeated k-gram still occurs once.
//!
//! # Algorithm
//! 1. `grams`: each document is cut into stretches of consecutive k-grams that share a minimizer.
//! 2. `repeats`: external sorts of the stretches, and of some of their k-grams, find the repeated
//!    k-grams of each document and where each occurs first.
//! 3. `spans`: the spans of each document follow from its repeats. Their bytes and lines are found
//!    in its text.
//! 4. `sweep`, `join` and `matches`: pairs of documents, their matches, and common passages also
//!    follow from the repeats. A condition ([`PassagesConfig::condition`]) limits these pairs.
//!    Of two documents with dates, the earlier one is the first of the pair.
//! 5. `chain` and `reuses`: the matches of a pair are chained over gaps, and the places of all
//!    chains are put together.
//!
//! # Invariants
//! - Every span is found and none is wrong; the module `repeats` says how k-grams are compared.
//! - The files depend on inputs and parameters alone, not on threads, memory or stops.
//!
//! # Stops
//! If the stretches do not fit in memory, all sorts of the repeats are saved in the directory of
//! the collection (`checkpoint`), and so is which files are complete. The same search then
//! continues from them. A unit of the inputs that was being read is read again. The work after the
//! sorts, up to the next file, is done again.
//!
//! # Cost
//! The inputs are read three times, twice more for matches, and once more for the dates of reuses.
//! Memory: what reading takes; 28 bytes for each document, 4 more for its group, and 8 for its date; 32 bytes for each of
//! [`MatchesConfig::max_documents`], or for each document if there are fewer; and the rest of the
//! budget for the sorts. An eighth of it holds the common passages (about 50 bytes each) and an
//! eighth the names of groups; more of them are refused. One document of a pair is in memory: 56
//! bytes for each of its repeats (`join`), and 129 for each of its matches if these are chained. A
//! pair that does not fit is refused with the least memory that will do. An eighth of the memory
//! for the sorts holds the reuses (128 bytes each). A word that is repeated n times has n repeats. Temporary files: 8 to 20
//! bytes for each stretch, and the files of `sweep` for each repeat and pair.
//!
//! # Errors
//! `BadParameter` for a length out of range, for tokens that are not words, and for standard input;
//! `InputChanged` if an input has changed since it was read; `BudgetTooSmall`; those of reading.

mod chain;
mod cuts;
mod excluded;
mod gaps;
mod grams;
mod groups;
mod join;
mod located;
mod matches;
mod places;
mod removable;
mod remove;
mod repeats;
mod reuses;
pub mod shown;
mod spans;
mod sweep;
mod tables;
mod task;
mod units;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::dedup;
use lookalike_base::{
    Context, PROCESS_BYTES, Result, budget::ByteSize, counted, is_zero, keywords, refuse,
};
use lookalike_engine::cluster::{DERIVED_FILES, ResultFormat};
use lookalike_engine::collection::{
    self, Catalogue, CollectionConfig, Condition, Conditions, Representatives, Reread,
};
use lookalike_engine::join::PairsEntry;
use lookalike_engine::shingle::Excluded;
use lookalike_store::{
    Checkpoints, Cost, LastSearch, MANIFEST_FILE, Manifest, Meter, ResultFile, Workspace,
    digest_of, disk,
};
use lookalike_text::parse::TokenKind;

pub use chain::ReuseConfig;
pub use cuts::Align;
pub use remove::{RemovalConfig, RemovalSummary, remove};
pub use task::{Done, Task, directory};
pub use units::{Scope, TextUnit, UnitsConfig};

use grams::MOST_LENGTH;
pub use groups::By;
use groups::Groups;
pub use located::TEXT_BYTES;
pub use lookalike_engine::outputs::PASSAGE_FILES as FILES;
use places::Repeats;
use repeats::{REPEATS, SORTS, Search};

const STAGE: &str = "passages";
/// Identifies the search in its checkpoints. The number changes if the search finds its passages in
/// another way.
const SEARCH: &str = "passages 2";

/// The spans of each document.
pub const SPANS_FILE: &str = "spans.tsv";
/// The removable parts of the spans.
pub(crate) const REMOVABLE_FILE: &str = "removable.tsv";
/// How much of each document is repeated.
pub(crate) const COVERAGE_FILE: &str = "coverage.tsv";
/// The matches of pairs of documents.
pub(crate) const MATCHES_FILE: &str = "matches.tsv";
/// How much of each other two documents share.
pub const OVERLAPS_FILE: &str = "overlaps.tsv";
/// Passages in many documents.
pub(crate) const COMMON_FILE: &str = "common.tsv";
/// Where they are.
pub(crate) const COMMON_PLACES_FILE: &str = "common-places.tsv";
/// The passages that most groups of documents share.
pub(crate) const BOILERPLATE_FILE: &str = "boilerplate.tsv";
/// Where they are.
pub(crate) const BOILERPLATE_PLACES_FILE: &str = "boilerplate-places.tsv";
/// The reuses of pairs of documents.
pub(crate) const REUSE_FILE: &str = "reuse.tsv";
/// Their matches.
pub(crate) const REUSE_MATCHES_FILE: &str = "reuse-matches.tsv";
/// The clusters of their places.
pub(crate) const REUSE_CLUSTERS_FILE: &str = "reuse-clusters.tsv";
/// The places.
pub(crate) const REUSE_PLACES_FILE: &str = "reuse-places.tsv";
/// The least memory for the sorts.
const LEAST_SORT_BYTES: u64 = 16 << 20;
/// Bytes of memory for each document: where its repeats end, and the places in it that are looked
/// for; its record number, its tokens, and the overhead of such a column.
const DOCUMENT_BYTES: u64 = 28;

keywords! {
    /// Which documents are compared.
    #[derive(Default)]
    pub enum Of: "is not" {
        /// All.
        #[default]
        All = "all",
        /// The documents that are not exact duplicates of earlier ones.
        Representatives = "representatives",
    }
}

/// Parameters of a search for passages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassagesConfig {
    /// The least length of a passage, in tokens: 1 to 500.
    pub length: u32,
    /// The documents that are compared.
    pub of: Of,
    /// The lines or paragraphs that are found, in place of passages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<UnitsConfig>,
    /// Shingles of texts whose words count for no passage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<Excluded>,
    /// The condition of the pairs whose matches are listed, if it is not the collection's.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// How matches are listed; none are if it is absent.
    pub matches: Option<MatchesConfig>,
    /// Which groups of documents are searched for passages that they share; none if it is absent.
    pub boilerplate: Option<BoilerplateConfig>,
    /// Whether the files are also written as Parquet tables.
    #[serde(skip)]
    pub results: ResultFormat,
}

/// How passages are listed that several groups of documents share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoilerplateConfig {
    /// The groups.
    pub by: By,
    /// The number of passages in the list. Passages in the most groups come first, and among equals
    /// the longest.
    pub top: u32,
}

/// How the matches of pairs of documents are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchesConfig {
    /// Two documents are a pair if they share a k-gram that occurs in at most this number of
    /// documents.
    pub max_documents: u32,
    /// Defines a reuse. If it is given, the matches are those of reuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse: Option<ReuseConfig>,
}

impl Default for MatchesConfig {
    fn default() -> Self {
        MatchesConfig {
            max_documents: 100,
            reuse: None,
        }
    }
}

impl Default for PassagesConfig {
    fn default() -> Self {
        PassagesConfig {
            length: 50,
            of: Of::All,
            units: None,
            excluded: None,
            condition: None,
            matches: Some(MatchesConfig::default()),
            boilerplate: None,
            results: ResultFormat::default(),
        }
    }
}

impl PassagesConfig {
    /// Returns the parameters of the last search of a collection, if it was a search for passages.
    pub fn before(manifest: &Manifest) -> Option<PassagesConfig> {
        let asked = manifest.get::<LastSearch>()?;
        let (config, results) = serde_json::from_value(asked.0.clone()).ok()?;
        Some(PassagesConfig { results, ..config })
    }

    /// Returns the parameters that define a passage, as result files state them.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut how = match &self.units {
            None => vec![("length", self.length.to_string())],
            Some(units) => vec![
                ("unit", units.unit.to_string()),
                ("scope", units.scope.to_string()),
                ("least", units.least.to_string()),
            ],
        };
        how.extend(self.reuse().iter().flat_map(ReuseConfig::parameters));
        how.push(("of", self.of.to_string()));
        let excluded = self.excluded.iter();
        how.extend(excluded.map(|of| ("exclude-text", of.digest.clone())));
        let condition = self.condition.iter().filter(|of| !of.is_true());
        how.extend(condition.map(|condition| ("where", condition.to_string())));
        how
    }

    /// Returns the definition of a reuse, if reuses are looked for.
    pub fn reuse(&self) -> Option<ReuseConfig> {
        let matches = self.matches.filter(|_| self.units.is_none());
        matches.and_then(|matches| matches.reuse)
    }

    /// Refuses a length out of range.
    ///
    /// # Errors
    /// `BadParameter`.
    pub fn check(&self) -> Result<()> {
        self.units.as_ref().map_or(Ok(()), UnitsConfig::check)?;
        if (1..=MOST_LENGTH).contains(&self.length) {
            let reuse = self.reuse();
            return reuse.map_or(Ok(()), |reuse| reuse.check(self.length));
        }
        refuse("length", self.length, format!("1 to {MOST_LENGTH} tokens"))
    }
}

/// Counts the results of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Words that count for no passage, because an excluded text has them.
    pub excluded_tokens: u64,
    /// Bytes of the texts as read, and of their spans.
    pub bytes: u64,
    /// Bytes of the spans.
    pub repeated_bytes: u64,
    /// The longest span, in tokens.
    pub longest: u64,
    /// Pairs of documents that share a passage in few documents.
    pub pairs: u64,
    /// Those of them with too many matches for a list (`join::MOST_PIECES`).
    pub unlisted_pairs: u64,
    /// The matches of the others.
    pub matches: u64,
    /// Reuses of pairs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reuses: u64,
    /// Clusters of the places of reuses.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reuse_clusters: u64,
    /// Common passages.
    pub common: u64,
    /// Passages that several groups of documents share.
    pub boilerplate: u64,
    /// Stretches of k-grams, which were sorted.
    pub stretches: u64,
    /// K-grams that were sorted one by one.
    pub grams: u64,
    /// Runs of repeated k-grams whose first occurrences are also runs.
    pub repeats: u64,
    /// Lines or paragraphs that were sorted.
    pub units: u64,
    /// The cost of the search.
    #[serde(skip)]
    pub cost: Cost,
}

impl Stats {
    /// Adds the documents of a part, and their spans.
    fn add(&mut self, part: &Stats) {
        lookalike_base::add!(self, part => documents, tokens, repeating, spans, repeated_tokens,
            removable_tokens, excluded_tokens, bytes, repeated_bytes);
        self.longest = self.longest.max(part.longest);
    }
}

/// Whether the copies of [`remove()`] follow a search. If not, nothing of it is left but its
/// results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Nothing.
    End,
    /// The page of the directory is written and replaces the existing page.
    Page,
    /// [`remove()`]. If it is stopped, the same search finds its results.
    Remove,
}

/// Finds the passages of a collection with its catalogue, and writes the result files into its
/// directory.
///
/// # Errors
/// As the module says.
pub fn run(
    workspace: &mut Workspace,
    config: &PassagesConfig,
    then: Then,
    context: &Context<'_>,
) -> Result<Stats> {
    let meter = Meter::start();
    config.check()?;
    let collection = collection::config(&workspace.manifest).clone();
    let mut config = config.clone();
    config.condition = config.condition.or(collection.condition.clone());
    let how = &config.parameters();
    if config.units.is_some() {
        // Units are found as tokens are.
        (config.length, config.matches, config.boilerplate) = (1, None, None);
    }
    collection.check_rule(workspace.directory())?;
    check_collection(&collection)?;
    if workspace.manifest.base.is_some() {
        let given = workspace.directory().display().to_string();
        return refuse("DIR", given, "it was made with --against; give its inputs");
    }
    let stats = Catalogue::stats(workspace)?;
    let (documents, duplicates) = (stats.documents, stats.exact_duplicates);
    // Before the results of the last search go.
    collection.read.check_programs(context)?;
    let inputs = dedup::listed_inputs(workspace, |_, _, input| input.check_path())?;
    let only_bytes = match config.of {
        Of::All => 0,
        Of::Representatives => Representatives::most_bytes(documents, duplicates),
    };
    let boilerplate = config.boilerplate.as_ref();
    let groups = boilerplate.map_or(0, |_| Groups::memory(documents));
    let condition = config.condition.as_ref();
    let condition = condition.filter(|_| config.matches.is_some());
    if condition != collection.condition.as_ref() {
        collection::check_condition(workspace, condition, &inputs, context)?;
    }
    let conditions = Conditions::open(workspace, condition, context)?;
    let active = config.matches.as_ref();
    let active = active.map_or(0, |matches| documents.min(matches.max_documents.into()));
    let excluded = config.excluded.as_ref();
    // Where the gaps of each document end.
    let groups = groups + excluded.map_or(0, |of| of.bytes() + 8 * documents);
    // The date of each document.
    let dated = config.reuse().is_some() || collection::has_captures(&workspace.manifest);
    let groups = groups + u64::from(dated && config.matches.is_some()) * 8 * documents;
    let values = conditions.as_ref().map_or(0, |of| of.bytes);
    let tables =
        documents * DOCUMENT_BYTES + only_bytes + groups + active * sweep::ACTIVE_BYTES + values;
    let reading = Reread::least_memory(&collection, inputs.len()).0;
    let (used, least) = (PROCESS_BYTES + tables, reading + LEAST_SORT_BYTES);
    let what = || format!("finding the passages of {}", counted(documents, "document"));
    let left = context.budget.rest(used, least, what)?;
    let reading = reading.max(left / 2);
    let only = match config.of {
        Of::All => None,
        Of::Representatives => Some(Catalogue::representatives(workspace)?),
    };
    let scratch = workspace.scratch(context)?;
    let reread = Reread::new(workspace, &collection, &inputs, ByteSize(reading), context);
    let directory = workspace.directory().to_path_buf();
    let line = |(name, value): &(&str, String)| format!("# {name}: {value}\n");
    let lines: String = how.iter().map(line).collect();
    let searched = (SEARCH, &lines, &workspace.manifest.inputs);
    let searched = digest_of(&searched, Path::new(MANIFEST_FILE))?;
    let checkpoints = Checkpoints::begin(workspace, SORTS, &searched)?;
    let steps = Steps::new(&checkpoints, &lines, &config)?;
    remove_others(&steps, &directory, then, context)?;
    let search = Search {
        reread: &reread,
        parse: &collection.shingle.parse,
        length: config.reuse().map_or(config.length, |of| of.match_length),
        reuse: config.reuse().map(|reuse| (reuse, config.length)),
        gaps: None,
        conditions: conditions.as_ref(),
        dates: &[],
        only: only.as_ref(),
        documents: documents as u32,
        scratch: scratch.path(),
        memory: left - reading,
        reading,
        checkpoints: &checkpoints,
        context,
    };
    let mut stats = Stats::default();
    let finished = steps.are_finished();
    let excluded = excluded.filter(|_| !finished);
    let gaps = excluded.map(|excluded| excluded::find(&search, (excluded, &collection.shingle)));
    let gaps = gaps.transpose()?;
    let search = Search {
        gaps: gaps.as_ref(),
        ..search
    };
    let repeats = match &config.units {
        _ if finished => Repeats::none(scratch.path())?,
        Some(units) => units::find(&search, units, &mut stats)?,
        None => search.run(&mut stats, |stats| search.find(stats))?,
    };
    let mut files = steps.run(SPANS, &mut stats, |workspace, stats| {
        spans::write(workspace, &search, &repeats, how, stats)
    })?;
    if let Some(matches) = &config.matches {
        files.extend(steps.run(MATCHES, &mut stats, |workspace, stats| {
            matches::write(workspace, &search, &repeats, how, matches, stats)
        })?);
    }
    if let Some(boilerplate) = boilerplate {
        files.extend(steps.run(BOILERPLATE, &mut stats, |workspace, stats| {
            matches::write_boilerplate(workspace, &search, &repeats, how, boilerplate, stats)
        })?);
    }
    if config.results == ResultFormat::Parquet {
        for file in files.clone() {
            files.push(tables::write(&checkpoints.workspace(), &file, context)?);
        }
    }
    drop((repeats, gaps, reread, scratch));
    drop(steps);
    checkpoints.end(then == Then::Remove, files)?;
    if config.excluded.is_some() && stats.excluded_tokens == 0 {
        context.progress.note(&format!(
            "the excluded text excluded nothing: no document has {} of its words in a row \
             (--shingle-size)",
            collection.shingle.shingle_size
        ));
    }
    stats.cost = meter.cost();
    Ok(stats)
}

/// Refuses a collection in which no passages are found.
fn check_collection(collection: &CollectionConfig) -> Result<()> {
    if let TokenKind::Bytes(_) = collection.shingle.parse.tokens {
        let given = collection.shingle.parse.tokens.to_string();
        return refuse("tokens", given, "passages consist of words; use words");
    }
    Ok(())
}

/// The steps that write result files.
const SPANS: &str = "spans";
const MATCHES: &str = "matches";
const BOILERPLATE: &str = "boilerplate";

/// A step of a search.
struct Step {
    name: &'static str,
    /// Digest of its parameters.
    of: String,
    /// Its files, and its counts up to its end, if it was finished before a stop.
    finished: Option<(Vec<String>, Stats)>,
}

/// The steps of a search.
struct Steps<'a, 'w> {
    all: Vec<Step>,
    checkpoints: &'a Checkpoints<'w>,
}

impl<'a, 'w> Steps<'a, 'w> {
    fn new(checkpoints: &'a Checkpoints<'w>, how: &str, config: &PassagesConfig) -> Result<Self> {
        let place = Path::new(MANIFEST_FILE);
        let mut all = vec![(SPANS, digest_of(&how, place)?)];
        if let Some(matches) = &config.matches {
            all.push((MATCHES, digest_of(&(how, matches), place)?));
        }
        if let Some(boilerplate) = &config.boilerplate {
            all.push((BOILERPLATE, digest_of(&(how, boilerplate), place)?));
        }
        let all = all.into_iter().map(|(name, of)| {
            let finished = checkpoints.step(name, &of);
            Step { name, of, finished }
        });
        Ok(Steps {
            all: all.collect(),
            checkpoints,
        })
    }

    /// Whether all steps were finished before a stop.
    fn are_finished(&self) -> bool {
        self.all.iter().all(|step| step.finished.is_some())
    }

    /// Whether it is a file of a step that was finished before a stop.
    fn has(&self, file: &str) -> bool {
        let finished = self.all.iter().filter_map(|step| step.finished.as_ref());
        let mut files = finished.flat_map(|(files, _)| files);
        files.any(|name| name == file)
    }

    /// The files of a step, which `write` writes if they are not there from before.
    fn run(
        &self,
        name: &str,
        stats: &mut Stats,
        write: impl FnOnce(&Workspace, &mut Stats) -> Result<Vec<ResultFile>>,
    ) -> Result<Vec<ResultFile>> {
        let step = self.all.iter().find(|step| step.name == name);
        let workspace = self.checkpoints.workspace();
        if let Some((files, found)) = step.and_then(|step| step.finished.as_ref()) {
            *stats = found.clone();
            let others = workspace.manifest.others.iter();
            let files = others.filter(|file| files.contains(&file.name));
            return Ok(files.cloned().collect());
        }
        let files = write(&workspace, stats)?;
        drop(workspace);
        if let (true, Some(step)) = (self.checkpoints.is_complete(REPEATS), step) {
            (self.checkpoints).finish_step(name, &step.of, stats, &files)?;
        }
        Ok(files)
    }
}

/// Removes the files of an earlier search, and those that a stopped one did not name.
fn remove_others(
    steps: &Steps<'_, '_>,
    directory: &Path,
    then: Then,
    context: &Context<'_>,
) -> Result<()> {
    let tables = FILES.map(|name| name.replace(".tsv", ".parquet"));
    let files = FILES.into_iter().chain(tables.iter().map(String::as_str));
    let other: Vec<&str> = files.filter(|name| !steps.has(name)).collect();
    // A page of the earlier search. In a directory with pairs, the page is about them.
    let has_pairs = steps.checkpoints.workspace().manifest.has::<PairsEntry>();
    let is_stale =
        |name: &str| !has_pairs && !steps.has(SPANS_FILE) && DERIVED_FILES.contains(&name);
    let is_other = |name: &str| other.contains(&name) || is_stale(name);
    let forgotten = steps.checkpoints.workspace().forget_others(is_other)?;
    let stale = forgotten.iter().filter(|name| is_stale(name));
    for page in stale.filter(|name| then != Then::Page || *name != DERIVED_FILES[0]) {
        let line = format!("{page} was about the last search, and is removed");
        context.progress.note(&line);
    }
    let forgotten = forgotten.iter().map(String::as_str);
    let mut names = other.into_iter().chain(forgotten);
    names.try_for_each(|name| disk::remove(&directory.join(name)))
}
