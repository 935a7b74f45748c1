//! Deduplicated copies of the inputs, after stage 9.
//!
//! # In and out
//! In: a collection with the list of its pairs or the links of its clusters, and the inputs that it
//! was read from. With [`Rule::All`] the list may be missing, as long as nothing that is written names clusters. Out:
//! each input file again, in its format and compression, without the redundant records; if wanted,
//! the removed records in the same layout, and `removed.jsonl` or `removed.parquet`, which names
//! the survivor of each removed document.
//!
//! # Algorithm
//! 0. The documents that a list names are removed before everything else: none of them is a
//!    survivor, and none connects others.
//! 1. The policies give an order of preference over all documents: one external sort for each.
//! 2. *Star rule* ([`Rule::Star`]): go through the documents in that order, and keep each document
//!    that does not reach the threshold with a document kept before. This is the greedy maximal
//!    independent set of the pair graph. It needs the pairs only, sorted by the later document of
//!    each, and whether a document is kept. Without a list, documents are compared with the kept
//!    ones of their cluster (`star`). *Cluster rule*: keep the first document of each connected
//!    component. With containment, a document is removed if a kept one with at least as many
//!    shingles contains it, so documents with more shingles come first, and the policies order
//!    documents with equal numbers. [`Rule::All`] keeps every document that is left.
//! 3. A capture of a web archive to which a `revisit` record of the inputs refers is kept, in
//!    addition to the survivor of its group (`referred`).
//! 4. Each input file is decompressed, and everything except the removed records is compressed
//!    again. A file that loses nothing is copied unchanged.
//!
//! # Invariants
//! - Star rule: no two kept documents reach the threshold, except for captures to which `revisit`
//!   records refer. Each removed document reaches it with its survivor, which is kept.
//! - Every record of the inputs is in the kept or in the removed files, with its own bytes. In
//!   addition, the kept files contain `revisit` records ([`Revisit`]).
//! - The output depends on inputs and parameters alone.
//! - A file is in its place when it is complete, and nothing is ever overwritten, but by the same
//!   bytes. A command that continues a directory refuses files that have changed.
//! - Nothing is read or written outside of the inputs, the work directory and the two outputs.
//!
//! [`lookalike_rewrite`] writes the files.
//!
//! # Cost
//! Memory: 44 bytes a document (56 with [`Revisit`]; without listed pairs about 12 more), 400 an
//! input file, and per thread what its
//! compressors take (xz: 96 MiB each, others below 10 MiB). A thread waits until there is memory
//! for its file. Policies that read a field read the inputs once more. If the inputs have `revisit`
//! records, all WARC files are framed once more. A WARC file that loses a record is framed once
//! more, to find the request and the metadata of the removed capture.

mod captures;
mod choose;
mod choosing;
mod decide;
mod evidence;
mod formats;
mod listed;
mod order;
mod places;
mod policy;
mod referred;
mod revisit;
mod search;
mod source;
mod star;
pub mod values;
mod write;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use serde::{Deserialize, Serialize};

use lookalike_base::{
    Context, Error, Measure, Result, counted, cut_after, is_zero, keywords, refuse,
};
use lookalike_engine::cluster::ResultFormat;
use lookalike_engine::collection::{self, Catalogue};
use lookalike_engine::join::PairsEntry;
use lookalike_rewrite::output::{self, Names, Outputs, Places};
use lookalike_rewrite::{self as rewrite, FINISHED_BYTES, FIXED_BYTES, Job, again, objects};
use lookalike_store::{
    Cost, INPUTS_FILE, InputEntry, InputList, MANIFEST_FILE, Meter, Workspace, remote,
};
use lookalike_text::read::{InputFile, ReadConfig};

pub use choose::{Fate, Removal, check_pairs};
pub(crate) use choosing::{Choosing, each_record};
pub use decide::Decided;
pub use evidence::{KEPT_TABLE, REMOVED_TABLE, removed_docnos};
pub use lookalike_rewrite::output::{PRIVATE, check_outside_kept, check_outside_taken};
pub use policy::{Policy, Rule, preference};
pub use referred::References;
pub(crate) use referred::{RecordNames, names};
pub use search::{Search, search};
pub use source::DedupSource;

use evidence::KEPT_LIST;
use write::Writing;

const STAGE: &str = "dedup";

keywords! {
    /// How records without words, or that could not be read as documents, are treated.
    #[derive(Default)]
    pub enum Unusable: "is not possible; use" {
        /// They are kept. A document without words duplicates nothing.
        #[default]
        Keep = "keep",
        /// They are removed.
        Drop = "drop",
    }
}

/// The form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The kept records, and the removed ones if there is a directory for them.
    #[default]
    Records,
    /// All records, each with a member `lookalike` that says whether it would be kept (JSON only).
    Annotated,
    /// Lists of the documents (`kept.tsv`, `removed.tsv`).
    Lists,
}

keywords! {
    /// Which removed WARC records leave a `revisit` record.
    #[derive(Default)]
    pub enum Revisit: "is not a choice of records; use" {
        /// None.
        #[default]
        None = "none",
        /// Records whose payload has the bytes of the survivor's, which was not captured later.
        Identical = "identical",
        /// Those, and with a profile of the program's own all others that have a survivor.
        All = "all",
    }
}

keywords! {
    /// The property in which a removed document is identical to its survivor.
    pub enum Identical: "does not say what is identical; use" {
        /// The payload of the WARC record, byte for byte.
        Payload = "payload",
        /// The text as read, byte for byte.
        Text = "text",
        /// The words.
        Words = "words",
    }
}

impl Revisit {
    fn is_none(&self) -> bool {
        *self == Revisit::None
    }
}

/// Parameters of a deduplication.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DedupConfig {
    /// The order of preference.
    pub keep: Vec<Policy>,
    /// Which documents of a group are kept.
    pub rule: Rule,
    /// Removes copies alone, in place of the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identical: Option<Identical>,
    /// Documents without words.
    pub empty: Unusable,
    /// Rejected records.
    pub rejects: Unusable,
    /// The form of the output.
    pub form: Form,
    /// Link files that lose nothing to the inputs, in place of copies.
    pub link: bool,
    /// `revisit` records in place of removed ones.
    #[serde(default, skip_serializing_if = "Revisit::is_none")]
    pub revisit: Revisit,
    /// The format of the lists of documents. A directory may have them in both formats, so it does
    /// not decide which command may continue a directory.
    #[serde(skip)]
    pub results: ResultFormat,
    /// A list of documents that are removed before the choice. Its content, and not its path,
    /// decides which command may continue a directory.
    #[serde(skip)]
    pub remove: Option<PathBuf>,
}

impl DedupConfig {
    /// The parameter that needs the payloads of WARC records, if one does.
    fn needs_payloads(&self) -> Option<(&'static str, &'static str)> {
        match (self.revisit, self.identical) {
            (_, Some(which @ Identical::Payload)) => Some(("identical", which.text())),
            (Revisit::None, _) => None,
            (which, _) => Some(("revisit", which.text())),
        }
    }
}

/// Counts of a deduplication.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DedupSummary {
    /// Documents read.
    pub documents: u64,
    /// Documents kept.
    pub kept: u64,
    /// Documents removed, in the order of [`Removal::ALL`]; in JSON by [`Removal::text`].
    #[serde(with = "by_reason")]
    pub removed: [u64; Removal::ALL.len()],
    /// Rejected records.
    pub rejected: u64,
    /// Rejected records that were removed.
    pub rejected_dropped: u64,
    /// Records that are not documents (`warcinfo`, `request` ...).
    pub skipped: u64,
    /// The part of these that are requests and metadata of removed WARC records, which were removed
    /// with them.
    pub companions: u64,
    /// Removed documents in whose place there is a `revisit` record.
    pub revisits: u64,
    /// With [`DedupConfig::revisit`], the removed documents without a `revisit` record that have
    /// the words of their survivor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untraced_copies: Option<u64>,
    /// Removed documents that leave no record, because the survivor with their payload is later.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub later_survivors: u64,
    /// `revisit` records of the inputs, and the documents that are kept because of them.
    #[serde(default, skip_serializing_if = "References::is_empty")]
    pub references: References,
    /// Input files.
    pub files: u64,
    /// Input files that lose nothing.
    pub whole_files: u64,
    /// The cost of each part of the work: `choose`, `payloads` ([`Revisit`]), `lists` and `write`.
    #[serde(skip)]
    pub costs: BTreeMap<&'static str, Cost>,
}

/// Counts of [`DedupSummary::removed`] in JSON, by reason.
mod by_reason {
    use super::Removal;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::Value;

    type Counts = [u64; Removal::ALL.len()];

    /// Reasons that earlier programs did not have.
    const NEW: [Removal; 2] = [Removal::Identical, Removal::SameWords];

    pub fn serialize<S: Serializer>(counts: &Counts, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(Removal::ALL.map(Removal::text).iter().zip(counts))
    }

    /// Earlier programs wrote the counts in the order of [`Removal::ALL`], without names.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Counts, D::Error> {
        let value = Value::deserialize(from)?;
        let mut counts = [0; Removal::ALL.len()];
        for (count, reason) in counts.iter_mut().zip(Removal::ALL) {
            let named = value.get(reason.text());
            if named.is_none() && NEW.contains(&reason) {
                continue;
            }
            let found = named.or_else(|| value.get(reason as usize - NEW.len()));
            let missing = || D::Error::custom(format!("no count of `{}`", reason.text()));
            *count = found.and_then(Value::as_u64).ok_or_else(missing)?;
        }
        Ok(counts)
    }

    #[cfg(test)]
    mod tests {
        use crate::dedup::DedupSummary;
        use serde_json::{json, to_value};

        #[test]
        fn counts_have_names_and_are_read_without() {
            let removed = [0, 0, 1, 2, 3, 4, 5, 6, 7];
            let summary = DedupSummary {
                removed,
                ..DedupSummary::default()
            };
            let mut value = to_value(&summary).unwrap();
            let named = value["removed"].clone();
            assert_eq!((&named["exact"], &named["listed"]), (&json!(1), &json!(7)));
            let mut earlier = named.clone();
            earlier.as_object_mut().unwrap().remove("identical");
            earlier.as_object_mut().unwrap().remove("same words");
            for form in [named, earlier, json!(removed[2..])] {
                value["removed"] = form;
                let read: DedupSummary = serde_json::from_value(value.clone()).unwrap();
                assert_eq!(read, summary);
            }
            for form in [
                json!({"exact": 1}),
                json!([1, 2]),
                json!(null),
                json!("near"),
            ] {
                value["removed"] = form;
                assert!(serde_json::from_value::<DedupSummary>(value.clone()).is_err());
            }
        }
    }
}

impl DedupSummary {
    /// Documents removed, for whatever reason.
    pub fn removed_documents(&self) -> u64 {
        self.removed.iter().sum()
    }

    /// Records of all kinds in the inputs.
    pub fn records(&self) -> u64 {
        self.documents + self.rejected + self.skipped
    }

    /// Records of all kinds that are removed.
    pub fn records_removed(&self) -> u64 {
        self.removed_documents() + self.rejected_dropped + self.companions
    }
}

/// Refuses parameters that contradict each other or the pairs of a directory.
fn check(
    workspace: &Workspace,
    config: &DedupConfig,
    inputs: &[InputFile],
    removed: Option<&Path>,
) -> Result<()> {
    check_evidence(config, inputs, removed)?;
    if removed.is_some() && config.form == Form::Annotated {
        return refuse("removed", "--annotate", "annotated files have every record");
    }
    if config.form != Form::Records && config.revisit != Revisit::None {
        let limit =
            "only copies of the records have `revisit` records; leave --annotate or --ids-only out";
        return refuse("revisit", config.revisit.text(), limit);
    }
    if config.form != Form::Records && config.rejects == Unusable::Drop {
        let limit = "only copies of the records leave them out";
        return refuse("rejects", "drop", limit);
    }
    let contained =
        workspace.matches::<PairsEntry>(|pairs| pairs.config.measure == Measure::Containment);
    let against = workspace.manifest.base.is_some();
    if against && contained {
        let limit = "a document of the other collection would have to go for a longer new one";
        return refuse("score", "containment", limit);
    }
    if let (true, Some((parameter, value))) = (against, config.needs_payloads()) {
        let limit = "the payloads of the other collection are not read; leave the flag out";
        return refuse(parameter, value, limit);
    }
    if let (Some(which), true) = (config.identical, choose::has_condition(workspace)) {
        let limit = "the --where of the directory decides on each pair; leave --identical out";
        return refuse("identical", which.text(), limit);
    }
    if contained && !matches!(config.rule, Rule::Star | Rule::All) {
        let limit = "with --score containment only the star rule is defined";
        return refuse("rule", config.rule, limit);
    }
    match choose::lists_pairs(workspace) {
        true => Ok(()),
        false => search::check_links(config),
    }
}

/// How the inputs are written again.
#[derive(Clone, Copy)]
struct Rewriting<'r> {
    config: &'r DedupConfig,
    outputs: Places<'r>,
    read: &'r ReadConfig,
    context: &'r Context<'r>,
}

impl Rewriting<'_> {
    /// Refuses inputs and directories that [`run`] would refuse, before the inputs are read, and
    /// outputs that a second call would take for inputs.
    ///
    /// # Errors
    /// `BadParameter`; `BudgetTooSmall` if [`run`] could not write a file.
    fn check_before(self, inputs: &[PathBuf], work: &Path) -> Result<()> {
        self.check_memory(&[])?;
        self.check_link()?;
        if let Some(list) = &self.config.remove {
            listed::check(list)?;
        }
        output::check_outputs(inputs, work, self.outputs)?;
        source::path_from(self.outputs.0, work).map(drop)
    }

    /// Refuses inputs whose formats do not fit the parameters, before they are read.
    ///
    /// # Errors
    /// `BadParameter`; `BudgetTooSmall` if [`run`] could not write a file; `Io`.
    fn check_inputs(self, inputs: &[InputFile]) -> Result<()> {
        self.check_memory(inputs)?;
        check_names(inputs)?;
        check_evidence(self.config, inputs, self.outputs.1)?;
        objects::check_keys(output::named(self.outputs), inputs)?;
        formats::check(self, inputs)?;
        formats::check_fields(self, inputs)
    }

    /// Refuses a budget with which the inputs cannot be written, whatever is in them.
    fn check_memory(self, inputs: &[InputFile]) -> Result<()> {
        let fixed = FIXED_BYTES + self.memory_of_objects(inputs, false);
        let budget = &self.context.budget;
        let there = budget.memory.0.saturating_sub(fixed);
        let least = fixed + self.least_of_threads(inputs, there);
        budget.require(least, || "writing the inputs again".into())
    }

    /// Memory of the outputs that are in a store ([`objects::memory`]).
    fn memory_of_objects(self, inputs: &[InputFile], writing: bool) -> u64 {
        let outputs = output::named(self.outputs).map(|(_, output)| output);
        objects::memory(outputs, inputs, writing)
    }

    /// Refuses links of files in a store.
    fn check_link(self) -> Result<()> {
        let (kept, limit) = (self.outputs.0, "objects are no links; leave --link out");
        match self.config.link && remote::is_address(kept) {
            true => refuse("link", kept.display(), limit),
            false => Ok(()),
        }
    }

    /// The least memory of the threads that read the inputs again, if `there` is that much for
    /// them. Without a list of the inputs, it is the memory for uncompressed copies.
    fn least_of_threads(self, inputs: &[InputFile], there: u64) -> u64 {
        // Fields are read from records, and requests of removed ones are found among them.
        let reading = match self.config.needs_payloads() {
            None => values::memory_of_reader(self.read),
            Some(_) => memory_of_payloads(self.read),
        };
        let outputs = 1 + u64::from(self.outputs.1.is_some());
        let sending = self.memory_of_objects(inputs, true);
        let copying = rewrite::least_memory(inputs, outputs, there.saturating_sub(sending));
        (copying + sending).max(reading)
    }
}

/// Refuses inputs whose removed records would be in the file with the reasons.
fn check_evidence(
    config: &DedupConfig,
    inputs: &[InputFile],
    removed: Option<&Path>,
) -> Result<()> {
    let evidence = evidence::file_names(config.results);
    let mut names = inputs.iter().map(|input| input.docno.as_str());
    match (removed, names.find(|name| evidence.contains(name))) {
        (Some(_), Some(name)) => {
            let limit = "an input has the name of the file with the reasons; rename the input";
            refuse("removed", name, limit)
        }
        _ => Ok(()),
    }
}

/// Refuses inputs that cannot be written again under their names.
pub(crate) fn check_names(inputs: &[InputFile]) -> Result<()> {
    for input in inputs {
        check_name(&input.docno, &input.path.to_string_lossy())?;
        if !remote::is_short(&input.docno) {
            let short = remote::short();
            let path = cut_after(input.path.to_string_lossy().into(), 200);
            let limit =
                format!("a path that is written again has {short}; give a folder further down");
            return refuse("INPUT", path, limit);
        }
        if input.path.to_str().is_none() && input.problem.is_none() {
            return Err(again::not_utf8(&input.path.to_string_lossy()));
        }
    }
    Ok(())
}

/// Refuses an input whose output would be in the program's own directory.
fn check_name(name: &str, path: &str) -> Result<()> {
    match output::is_private(name) {
        true => Err(Error::parameter("INPUT", path).because(format!(
            "its output would be in {}, where the program keeps its own files; rename it",
            output::PRIVATE
        ))),
        false => Ok(()),
    }
}

/// Memory of a thread that compares payloads: a record is in memory, and once more without its
/// transfer coding.
fn memory_of_payloads(read: &ReadConfig) -> u64 {
    (2 * read.max_document.0).saturating_add(8 << 20)
}

/// The inputs of a collection, from its list, to be read again. `check` gets each with its line.
pub(crate) fn listed_inputs(
    workspace: &Workspace,
    mut check: impl FnMut(usize, &InputEntry, &InputFile) -> Result<()>,
) -> Result<Vec<InputFile>> {
    let mut inputs = Vec::new();
    let mut entries = InputList::open(workspace.directory())?;
    let others = collection::against(&workspace.manifest).files as usize;
    while let Some(entry) = entries.next()? {
        if inputs.len() < others {
            // They are not read, and need not be there.
            inputs.push(InputFile::of_entry(entry, Path::new(&entry.path), None));
            continue;
        }
        let input = again::listed(entry)?;
        check(inputs.len() + 1, entry, &input)?;
        inputs.push(input);
    }
    Ok(inputs)
}

/// The inputs of a collection, each to be written again under its name.
pub(crate) fn inputs_of(workspace: &Workspace) -> Result<Vec<InputFile>> {
    let list = workspace.directory().join(INPUTS_FILE);
    let mut names = std::collections::HashSet::new();
    listed_inputs(workspace, |line, entry, _| {
        check_name(&entry.name, &entry.path)?;
        output::plain_name(&entry.name, &list, line)?;
        if !names.insert(entry.name.clone()) {
            let limit = format!(
                "another input also has the name {}, and their outputs would collide; give the \
                     directory that contains both",
                entry.name
            );
            return refuse("INPUT", &entry.path, limit);
        }
        Ok(())
    })
}

/// Writes the inputs of a finished directory again to `kept`, without the redundant records, which
/// go to `removed`.
///
/// # Errors
/// `StageMissing` if the pairs have not been found and what is written depends on them;
/// `BadParameter` if they do not say what may go,
/// or if an output directory is not empty; `InputChanged` if an input has changed since it was
/// read.
pub fn run(
    workspace: &Workspace,
    config: &DedupConfig,
    outputs: Places<'_>,
    context: &Context<'_>,
) -> Result<DedupSummary> {
    let (meter, mut costs) = (Meter::start(), BTreeMap::new());
    let pairs = needs_pairs(config, outputs.1.is_some());
    let criterion = choose::criterion(workspace, pairs)?;
    let inputs = inputs_of(workspace)?;
    let own = inputs.get(collection::against(&workspace.manifest).files as usize..);
    let own = own.unwrap_or_default();
    check(workspace, config, own, outputs.1)?;
    let read = &collection::config(&workspace.manifest).read;
    let of = Rewriting {
        config,
        outputs,
        read,
        context,
    };
    of.check_link()?;
    source::path_from(outputs.0, workspace.directory())?;
    output::check_places(workspace.directory(), own, outputs, context.stop)?;
    objects::check_keys(output::named(outputs), own)?;
    formats::check(of, own)?;
    let documents = Catalogue::stats(workspace)?.documents;
    let beside = revisit::Revisits::bytes(config.revisit, documents)
        + inputs.len() as u64 * 2 * FINISHED_BYTES
        + of.memory_of_objects(own, false);
    let threads = |there| of.least_of_threads(own, there);
    let beside = (beside, &threads as &dyn Fn(u64) -> u64);
    let decided = Decided::make(
        workspace, &inputs, config, criterion, pairs, beside, context,
    )?;

    costs.insert("choose", meter.cost());
    if decided.references.removed > 0 {
        let refer = counted(decided.references.removed, "revisit record");
        (context.progress).lost(&format!(
            "warning: {refer} of the inputs refer to records that --drop or --rejects drop removes"
        ));
    }
    let revisits = match config.revisit {
        Revisit::None => None,
        which => {
            let meter = Meter::start();
            let made = revisit::Revisits::find(&decided, which)?;
            costs.insert("payloads", meter.cost());
            Some(made)
        }
    };
    let meter = Meter::start();

    let removes = outputs.1.is_some();
    let digests = digests(workspace, config, removes, decided.list)?;
    let outputs = Outputs::open(outputs, (workspace.directory(), &digests[0]))?;
    let names = names_of(own);
    outputs.begin((&names, &names), context)?;
    let (kept, removed) = (&outputs.kept, outputs.removed.as_ref());
    let mut summary = decided.write(&outputs, config)?;
    summary.files = own.len() as u64;
    let segments = collection::own_segments(&workspace.manifest).iter();
    let skipped = segments.flat_map(|segment| segment.stats.skipped.values());
    summary.skipped = skipped.sum();
    costs.insert("lists", meter.cost());
    if config.form != Form::Lists {
        let meter = Meter::start();
        let writing = Writing {
            decided: &decided,
            config,
            revisits: revisits.as_ref(),
            companions: AtomicU64::new(0),
        };
        let job = Job {
            inputs: &inputs,
            first: collection::against(&workspace.manifest).files,
            read,
            kept,
            removed,
            annotated: config.form == Form::Annotated,
            link: config.link,
            memory: decided.spare,
            context,
        };
        summary.whole_files = rewrite::rewrite(&job, &writing)?;
        summary.companions = writing.companions.into_inner();
        if let Some(revisits) = &revisits {
            summary.untraced_copies = Some(revisits.untraced_copies);
            summary.later_survivors = revisits.later_survivors;
        }
        summary.revisits = revisits.map_or(0, |revisits| revisits.count);
        costs.insert("write", meter.cost());
    }
    summary.references = decided.references;
    summary.costs = costs;
    let place = kept.directory();
    DedupSource::of(place, workspace, config, removes, &summary)?.write(place)?;
    outputs.complete(context)?;
    Ok(summary)
}

/// The names of all files that a directory may have.
fn names_of(inputs: &[InputFile]) -> Names<'_> {
    let kept = [KEPT_LIST, KEPT_TABLE].into_iter();
    let lists = kept
        .chain(evidence::REMOVED_NAMES)
        .chain(evidence::REFERRED_NAMES);
    let inputs = inputs.iter();
    let inputs = inputs.map(|input| (Cow::from(&*input.docno), Some(&*input.path)));
    let lists = lists.map(|name| (name.into(), None));
    inputs.chain(lists).collect()
}

/// Whether the output depends on the pairs. [`Rule::All`] removes nothing because of them, and then
/// only the clusters of documents come from them: in the evidence (`removed`) and in annotations,
/// and not in the copies or in text lists.
pub(crate) fn needs_pairs(config: &DedupConfig, removed: bool) -> bool {
    let shows_clusters = match config.form {
        Form::Records => removed,
        Form::Annotated => true,
        Form::Lists => config.results == ResultFormat::Parquet,
    };
    config.rule != Rule::All || shows_clusters
}

/// Digests of everything that decides what is written: the digest that a directory gets, and
/// another digest that it may have if it does not need the pairs, which may have been found since.
pub fn digests(
    workspace: &Workspace,
    config: &DedupConfig,
    removed: bool,
    list: Option<u64>,
) -> Result<Vec<String>> {
    let manifest = &workspace.manifest;
    let pairs = manifest.get::<PairsEntry>().map(|pairs| &pairs.digest);
    let without = (!needs_pairs(config, removed)).then_some(None);
    let digest = |pairs| {
        let (inputs, collection) = (&manifest.inputs.list.checksum, &manifest.collection_digest);
        let all = (pairs, inputs, collection, config, removed);
        let path = workspace.directory().join(MANIFEST_FILE);
        let mut bytes = lookalike_store::to_json(&all, &path)?;
        bytes.extend(list.iter().flat_map(|list| list.to_le_bytes()));
        Ok(lookalike_store::digest(&bytes))
    };
    std::iter::once(pairs).chain(without).map(digest).collect()
}

/// Where a command works if no directory is given for it: beside the kept records, or, if these are
/// in a store, in the current directory.
pub fn work_directory(kept: &Path) -> PathBuf {
    let place = match remote::is_address(kept) {
        true => kept.file_name().unwrap_or_default(),
        false => kept.as_os_str(),
    };
    let mut name = place.to_owned();
    name.push(".work");
    name.into()
}
