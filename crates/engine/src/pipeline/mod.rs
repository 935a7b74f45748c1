//! Runs stages 1 to 9 in order over an output directory, and skips committed stages.

use std::path::{Path, PathBuf};

use crate::cluster;
use crate::cluster::{ResultFormat, ResultsEntry, TablesEntry};
use crate::collection::{
    self, Additions, Against, Catalogue, CatalogueBefore, CatalogueEntry, CollectionConfig,
    Ingested, Segments, Share,
};
use crate::index::{self, IndexEntry, IndexStats};
use crate::join::{self, Before, JoinProgress, PairsEntry};
use crate::merge::{self, PostingsEntry};
use crate::sample::plan::Plan;
use crate::sample::{self, PlanGiven, SampleEntry, Sampled, Sampling, Selection};
use crate::sort::{self, Asked, Formed, RunsEntry};
use lookalike_base::{Context, Criterion, Error, Result, path_word, refuse, with_keys};
use lookalike_source::lasting;
use lookalike_store::{
    Checkpoint, Cost, LastSearch, MANIFEST_FILE, Meter, StageRecordKind, Workspace, disk, remote,
};
use lookalike_text::read::{self, InputFile, Inputs, list_outside};

mod add;
mod against;
mod lines;
mod open;
mod parameters;
mod preflight;
mod publish;
mod shares;
mod summary;

pub use add::{add, change_condition, first_added, parameters, search_again};
pub use against::run_against;
pub use open::{
    check_results, has_texts, look, open, open_catalogued, open_for, open_shared, open_texts,
    open_to_read,
};
use parameters::Needs;
pub use parameters::{AppliedPlan, JoinParameters, Spill};
pub use publish::publish;
pub use shares::{gather, ingest_share, join_found};
pub use summary::{SUMMARY_FILE, Selected, Summary, first_reject};

/// Every kind of record that a manifest can have, in the order of the stages.
pub const RECORDS: &[StageRecordKind] = &[
    StageRecordKind::of::<CollectionConfig>(),
    // More documents do not change the parameters of the last search.
    StageRecordKind::of::<LastSearch>(),
    StageRecordKind::of::<Against>(),
    StageRecordKind::of::<Segments>(),
    StageRecordKind::of::<Additions>(),
    StageRecordKind::of::<CatalogueBefore>(),
    StageRecordKind::of::<Ingested>(),
    StageRecordKind::of::<CatalogueEntry>(),
    StageRecordKind::of::<Checkpoint>(),
    StageRecordKind::of::<IndexEntry>(),
    StageRecordKind::of::<Before>(),
    StageRecordKind::of::<Plan>(),
    StageRecordKind::of::<PlanGiven>(),
    StageRecordKind::of::<SampleEntry>(),
    StageRecordKind::of::<RunsEntry>(),
    StageRecordKind::of::<PostingsEntry>(),
    StageRecordKind::of::<JoinProgress>(),
    StageRecordKind::of::<PairsEntry>(),
    StageRecordKind::of::<ResultsEntry>(),
    StageRecordKind::of::<TablesEntry>(),
];

/// Lists the inputs. The output directory may lie below one of them; its files are not inputs.
///
/// # Errors
/// `NoInput` without any file; the errors of [`lookalike_text::read::list_selected`].
pub fn inputs(arguments: &[PathBuf], out: &Path) -> Result<Inputs> {
    selected_inputs(arguments, &read::Selection::default(), out)
}

/// The files that a command reads.
pub struct InputChoice {
    /// Files and directories.
    pub paths: Vec<PathBuf>,
    /// Which files of the directories.
    pub selection: read::Selection,
    /// Whether a collection without documents is an error.
    pub need_documents: bool,
    /// Whether an input that cannot be read is left out, rather than an error.
    pub skip_unreadable: bool,
}

impl InputChoice {
    /// Lists the inputs of an output directory.
    ///
    /// # Errors
    /// The errors of [`inputs`], and of an input that cannot be read.
    pub fn list(&self, out: &Path) -> Result<Inputs> {
        let mut inputs = selected_inputs(&self.paths, &self.selection, out)?;
        inputs.need_documents = self.need_documents;
        if !self.skip_unreadable {
            inputs.check_readable()?;
        }
        Ok(inputs)
    }
}

/// As [`inputs`], but takes from the named directories only the files that `selection` chooses.
///
/// # Errors
/// The errors of [`inputs`].
pub fn selected_inputs(
    arguments: &[PathBuf],
    selection: &read::Selection,
    out: &Path,
) -> Result<Inputs> {
    let real = match disk::canonical(out) {
        Ok(real) => Some(real),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
        Err(e) => return Err(e).map_err(Error::io("inspect", out)),
    };
    let mut inputs = list_outside(arguments, selection, real.clone())?;
    if let Some(real) = real {
        let is_input = |input: &InputFile| -> Result<bool> {
            remote::check_stop("inputs")?;
            match disk::canonical(&input.path) {
                Ok(path) => Ok(!path.starts_with(&real)),
                Err(e) if !lasting(&e) => Err(Error::io("inspect", &input.path)(e)),
                Err(_) => Ok(true),
            }
        };
        let files = std::mem::take(&mut inputs.files).into_iter();
        let files = files.filter_map(|input| match is_input(&input) {
            Ok(is_input) => is_input.then_some(Ok(input)),
            Err(error) => Some(Err(error)),
        });
        inputs.files = files.collect::<Result<_>>()?;
    }
    if inputs.is_empty() {
        let paths = arguments.into();
        return Err(Error::NoInput { paths });
    }
    Ok(inputs)
}

/// Runs a stage and records its cost.
pub fn stage<T>(
    workspace: &mut Workspace,
    name: &'static str,
    context: &Context<'_>,
    run: impl FnOnce(&mut Workspace) -> Result<T>,
) -> Result<T> {
    let meter = Meter::start();
    let result = run(workspace);
    let used = meter.cost();
    let cost = workspace
        .manifest
        .costs
        .entry(name.to_string())
        .or_default();
    let ran = used.wall_seconds >= 0.01 || cost.wall_seconds == 0.0;
    if ran {
        cost.add(&used);
    }
    let Cost { wall_seconds, .. } = *cost;
    match &result {
        Ok(_) => context
            .progress
            .end(&format!("{name}: {}", lines::stage_line(workspace, name))),
        Err(_) => context
            .progress
            .end(&format!("{name}: stopped after {wall_seconds:.1} s")),
    }
    result
}

/// Opens or makes the directory of a run over the first `known` of these inputs. Adds texts to a
/// collection that keeps none, if `config` wants them: its inputs are then read again.
fn open_or_create(
    out: &Path,
    config: &CollectionConfig,
    (inputs, known): (&Inputs, usize),
    context: &Context<'_>,
) -> Result<Workspace> {
    let digest = config.digest(&out.join(MANIFEST_FILE))?;
    let mut begin = collection::begin(RECORDS, config, digest);
    begin.inputs.skipped = inputs.skipped;
    let with_texts = begin.clone();
    // Standard input cannot be read again.
    let again = !is_piped(inputs);
    let mut workspace = Workspace::open_or_create(
        out,
        begin,
        inputs[..known].iter().map(InputFile::entry),
        |manifest| {
            let theirs = manifest.get::<CollectionConfig>();
            theirs.map_or(Ok(()), |theirs| {
                let text = if theirs.text || again {
                    theirs.text
                } else {
                    config.text
                };
                let wanted = CollectionConfig {
                    text,
                    ..config.clone()
                };
                theirs.check_same(&wanted, collection::ingested(manifest), out)
            })
        },
    )?;
    if config.text && !collection::config(&workspace.manifest).text {
        context
            .progress
            .note("--keep-text: the inputs are read again");
        workspace.begin_again(with_texts)?;
    }
    Ok(workspace)
}

fn is_piped(inputs: &[InputFile]) -> bool {
    inputs.iter().any(|input| input.path == Path::new("-"))
}

/// Reads the inputs into the collection of `out`. It resumes after the last commit.
pub fn ingest(
    inputs: &Inputs,
    out: &Path,
    config: &CollectionConfig,
    strict: bool,
    context: &Context<'_>,
) -> Result<Workspace> {
    if inputs.is_empty() {
        return Err(Error::NoInput { paths: Vec::new() });
    }
    context.budget.check()?;
    config.check()?;
    config.read.check_programs(context)?;
    let arranged = add::arrange(out, inputs, config.condition.as_ref())?;
    let (inputs, known) = match &arranged {
        Some((inputs, known)) => (inputs, *known),
        None => (inputs, inputs.len()),
    };
    preflight::before_ingest(inputs, out, context)?;
    let new = disk::is_gone(&out.join(MANIFEST_FILE))?;
    if new {
        // Before the directory is made: its parameters could not be changed any more.
        collection::require_memory(config, inputs.len(), &context.budget)?;
    }
    let made = disk::is_gone(out)?;
    let mut workspace = open_or_create(out, config, (inputs, known), context)?;
    if is_piped(inputs) && collection::ingested(&workspace.manifest) {
        let limit = format!(
            "standard input cannot be compared with the inputs of {}; use `lookalike run \
                 --from {}` to find pairs with other parameters, or start in a new directory",
            out.display(),
            path_word(out)
        );
        return refuse("INPUT", "-", limit);
    }
    note_lost(&mut workspace, context);
    read(&mut workspace, &inputs[..known], None, context)?;
    if known < inputs.len() {
        add::begin(&mut workspace, &inputs[known..], inputs.skipped, context)?;
        read(&mut workspace, inputs, None, context)?;
    }
    let mut workspace = meeting(workspace, config, inputs, (new, made), context)?;
    catalogue(&mut workspace, context)?;
    accepted(workspace, inputs.need_documents, (new, made), strict)
}

/// Removes a collection that this command began, and its directory if it was `made`: the next run may
/// use other parameters.
fn discard(workspace: Workspace, made: bool) -> Result<()> {
    let out = workspace.directory().to_path_buf();
    workspace.clear()?;
    match made {
        true => disk::remove_directory(&out),
        false => Ok(()),
    }
}

/// Refuses a condition that no documents can meet. Then it also removes the collection if it is
/// `new`, and its directory if this command `made` it.
fn meeting(
    workspace: Workspace,
    config: &CollectionConfig,
    inputs: &[InputFile],
    (new, made): (bool, bool),
    context: &Context<'_>,
) -> Result<Workspace> {
    let condition = config.condition.as_ref();
    match collection::check_condition(&workspace, condition, inputs, context) {
        Err(error) if new => discard(workspace, made).and(Err(error)),
        checked => checked.map(|()| workspace),
    }
}

/// Refuses a collection without documents if it needs some, and with `strict` one with rejects. If
/// it refuses a collection without documents, it also removes the collection if it is `new`, and
/// its directory if this command `made` it.
fn accepted(
    workspace: Workspace,
    need_documents: bool,
    (new, made): (bool, bool),
    strict: bool,
) -> Result<Workspace> {
    if need_documents && let Some(error) = summary::no_documents(&workspace)? {
        if new {
            discard(workspace, made)?;
        }
        return Err(error);
    }
    if strict && let Some(error) = first_reject(&workspace)? {
        // The run ends here, but the user needs the list of rejects.
        cluster::write_rejects(&workspace, &mut Default::default())?;
        return Err(error);
    }
    Ok(workspace)
}

/// Reads the inputs or a share of them, unless all of that has been read.
fn read(
    workspace: &mut Workspace,
    inputs: &[InputFile],
    share: Option<Share>,
    context: &Context<'_>,
) -> Result<()> {
    if collection::ingested(&workspace.manifest) {
        return Ok(());
    }
    let kind = collection::config(&workspace.manifest).shingle.fingerprint;
    stage(
        workspace,
        "ingest",
        context,
        |workspace| with_keys!(kind, K => collection::ingest::<K>(workspace, inputs, share, context)),
    )
}

/// Reports which files were missing and will be made again.
pub fn note_lost(workspace: &mut Workspace, context: &Context<'_>) {
    for path in workspace.take_lost() {
        let line = format!(
            "{} is missing; it is made again when it is needed",
            path.display()
        );
        context.progress.note(&line);
    }
}

/// Makes and commits the catalogue of a collection, unless it exists.
pub fn catalogued(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    catalogue(workspace, context)?;
    workspace.commit(&[])
}

/// Makes the catalogue, unless it exists.
pub fn catalogue(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    note_lost(workspace, context);
    if collection::ingested(&workspace.manifest) && !workspace.manifest.has::<CatalogueEntry>() {
        stage(workspace, "catalogue", context, |w| {
            collection::catalogue(w, &each_md5, context)
        })?;
    }
    Ok(())
}

/// Reads MD5s from the index if it has all these documents, and from the documents otherwise.
fn each_md5(
    workspace: &Workspace,
    end: u32,
    each: &mut dyn FnMut(u32, u128) -> Result<()>,
) -> Result<()> {
    let condition = &collection::config(&workspace.manifest).condition;
    match condition.is_none() && index::each_md5(workspace, end, each)? {
        true => Ok(()),
        false => collection::each_md5(workspace, end, each),
    }
}

/// Makes the features of a collection by a method, with `make`, and its catalogue, unless they
/// exist.
pub fn keys(
    workspace: &mut Workspace,
    context: &Context<'_>,
    make: impl FnOnce(&mut Workspace) -> Result<()>,
) -> Result<()> {
    if !collection::ingested(&workspace.manifest) {
        stage(workspace, "keys", context, make)?;
    }
    catalogue(workspace, context)
}

/// Makes the pair list of a collection.
pub fn join(
    workspace: &mut Workspace,
    parameters: &JoinParameters,
    context: &Context<'_>,
) -> Result<()> {
    context.budget.check()?;
    parameters.check(&collection::config(&workspace.manifest).size_groups, false)?;
    against::check(workspace.manifest.base.is_some(), parameters)?;
    catalogue(workspace, context)?;
    let applied = parameters.plan.as_ref();
    workspace.manifest.remove::<PlanGiven>();
    if applied.is_some_and(|applied| applied.given) {
        workspace.manifest.set(PlanGiven(true));
    }
    if applied.is_none_or(|applied| applied.given) {
        workspace.manifest.costs.remove("plan");
    }
    match applied {
        Some(applied) => workspace.manifest.set(applied.plan.clone()),
        None => workspace.manifest.remove::<Plan>(),
    }
    let kind = collection::config(&workspace.manifest).shingle.fingerprint;
    with_keys!(kind, K => join_keys::<K>(workspace, parameters, context))
}

/// Makes the index of a collection, of all fingerprints or for these pairs, unless it exists, and
/// returns its counts.
pub fn index(
    workspace: &mut Workspace,
    criterion: Option<Criterion>,
    context: &Context<'_>,
) -> Result<IndexStats> {
    catalogue(workspace, context)?;
    let kind = collection::config(&workspace.manifest).shingle.fingerprint;
    stage(
        workspace,
        "index",
        context,
        |workspace| with_keys!(kind, K => index::run::<K>(workspace, criterion, context)),
    )?;
    workspace.commit(&[])?;
    let entry = workspace.manifest.get::<IndexEntry>();
    Ok(entry.map(IndexEntry::stats).unwrap_or_default())
}

/// Makes the shared postings of all keys of a collection, unless they exist. It makes no pairs.
pub fn postings(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    catalogue(workspace, context)?;
    let kind = collection::config(&workspace.manifest).shingle.fingerprint;
    with_keys!(kind, K => merge_keys::<K>(workspace, &JoinParameters::default(), None, context))
}

/// How postings come about.
enum Course {
    /// From the runs that are there, because a merge of them has begun.
    Merge,
    /// From the rarest fingerprints of each document, because the join compares prefixes. They are
    /// held in memory if it takes them.
    Choose(Needs, Selection),
    /// From all fingerprints, in passes over the sets, because memory takes them in a few.
    Passes,
    /// From all fingerprints through runs, because memory does not take them or may not.
    Sort,
}

impl Course {
    /// The course to the postings that a join needs, or to those of all fingerprints, and about the
    /// number of their records; `None` if the postings exist. An existing part of a selection
    /// serves the join.
    fn of<K: lookalike_base::ids::Key>(
        workspace: &Workspace,
        needs: Option<Needs>,
        in_passes: bool,
        context: &Context<'_>,
    ) -> Result<Option<(Course, u64)>> {
        let selection = selected(workspace);
        // A join that compares prefixes reads postings of all fingerprints only if it counts.
        let postings = workspace.manifest.get::<PostingsEntry>();
        let postings = postings.filter(|_| needs.is_none() || selection.is_some());
        let stats = &workspace.record::<SampleEntry>("sample")?.stats;
        Ok(Some(match (postings, needs) {
            (Some(postings), _) if postings.complete => return Ok(None),
            (Some(postings), _) if !postings.direct => {
                let records = workspace.record::<RunsEntry>("sort")?.stats.records;
                (Course::Merge, records)
            }
            (_, Some(needs)) => {
                let criterion = needs.criterion;
                let sampled = Sampled::load_for(workspace, criterion.measure)?;
                let spare = sort::spare_bytes::<K>(workspace, criterion.measure, &context.budget)?;
                let new = || Selection::of(criterion, &sampled, stats.shingles, spare);
                let selection = selection.unwrap_or_else(new);
                let most = selection.most_keys(&sampled);
                (Course::Choose(needs, selection), most)
            }
            _ if in_passes => (Course::Passes, stats.sampled),
            _ => (Course::Sort, stats.sampled),
        }))
    }
}

/// Makes the postings that a join needs, or those of all fingerprints, unless they exist.
fn merge_keys<K: lookalike_base::ids::Key>(
    workspace: &mut Workspace,
    parameters: &JoinParameters,
    needs: Option<Needs>,
    context: &Context<'_>,
) -> Result<()> {
    let spill = parameters.spill;
    sampled::<K>(workspace, &parameters.sampling(), context)?;
    let budget = &context.budget;
    if let Some(selection) = selected(workspace) {
        let serves = needs.is_some_and(|needs| selection.criterion.serves(needs.criterion));
        let complete = workspace.matches::<PostingsEntry>(|p| p.complete);
        let measure = selection.criterion.measure;
        // They lack what this join needs, or memory has no room to choose as they were chosen.
        if !serves
            || !complete && !selection.fits(sort::spare_bytes::<K>(workspace, measure, budget)?)
        {
            discard_postings(workspace)?;
        }
    }
    let in_passes = spill == Spill::Auto && merge::direct::wanted::<K>(workspace, budget);
    let Some((course, records)) = Course::of::<K>(workspace, needs, in_passes, context)? else {
        return Ok(());
    };
    let direct = matches!(course, Course::Passes);
    preflight::before_sort::<K>(workspace, (records, direct), context)?;
    match course {
        Course::Merge => {}
        Course::Choose(needs, selection) => {
            let documents = Catalogue::stats(workspace)?.documents;
            let hold = merge::held_bytes(documents, budget.threads as u64);
            let asked = Asked {
                selection,
                hold: (spill == Spill::Auto).then_some(hold),
                may_count: needs.may_count,
                in_passes,
                discard: &discard_postings,
            };
            let formed = stage(workspace, "sort", context, |w| {
                sort::form_selected::<K>(w, &asked, context)
            })?;
            match formed {
                // It counts, under all fingerprints.
                Formed::Refused => return merge_keys::<K>(workspace, parameters, None, context),
                Formed::Held(held) => {
                    return stage(workspace, "merge", context, |w| {
                        merge::run_held::<K>(w, held, context)
                    });
                }
                // The ranges that were made from memory are those that runs give.
                Formed::Runs => {
                    if let Some(postings) = workspace.manifest.get_mut::<PostingsEntry>() {
                        postings.direct = false;
                    }
                }
            }
        }
        Course::Passes | Course::Sort => {
            let passes = |w: &mut Workspace| merge::direct::run::<K>(w, context);
            if direct && stage(workspace, "merge", context, passes)? {
                return Ok(());
            }
            if workspace.manifest.has::<PostingsEntry>() {
                // An earlier run began this merge with a larger budget.
                merge::direct::discard(workspace)?;
            }
            stage(workspace, "sort", context, |w| {
                sort::form_runs::<K>(w, context)
            })?;
        }
    }
    stage(workspace, "merge", context, |w| {
        merge::run::<K>(w, parameters.fan_in, context)
    })
}

/// Removes runs and postings, and their costs, so that others can be made.
fn discard_postings(workspace: &mut Workspace) -> Result<()> {
    for name in ["sort", "merge"] {
        workspace.manifest.costs.remove(name);
    }
    merge::direct::discard(workspace)
}

/// The selection of the runs or postings that there are.
fn selected(workspace: &Workspace) -> Option<Selection> {
    let runs = workspace.manifest.get::<RunsEntry>();
    let runs = runs.and_then(|runs| runs.selection);
    let postings = workspace.manifest.get::<PostingsEntry>();
    runs.or(postings.and_then(|postings| postings.selection))
}

/// Makes the sizes of the samples, unless they exist.
fn sampled<K: lookalike_base::ids::Key>(
    workspace: &mut Workspace,
    sampling: &Sampling,
    context: &Context<'_>,
) -> Result<()> {
    let digest = sample::digest(&workspace.manifest, sampling);
    let there = workspace.manifest.get::<SampleEntry>();
    if there.is_none_or(|sample| sample.digest != digest) {
        for name in ["sample", "sort", "merge", "join", "cluster", "tables"] {
            workspace.manifest.costs.remove(name);
        }
        stage(workspace, "sample", context, |w| {
            sample::run::<K>(w, sampling, context)
        })?;
    }
    Ok(())
}

fn join_keys<K: lookalike_base::ids::Key>(
    workspace: &mut Workspace,
    parameters: &JoinParameters,
    context: &Context<'_>,
) -> Result<()> {
    let (config, sampling) = (&parameters.join, &parameters.sampling());
    let limit = (parameters.fan_in).or((parameters.spill == Spill::Always).then_some(usize::MAX));
    let digest = join::digest(&sample::digest(&workspace.manifest, sampling), config);
    let there = workspace.manifest.get::<PairsEntry>();
    let there = there.filter(|pairs| pairs.digest == digest);
    if there.is_some_and(|pairs| pairs.stats.added.is_some()) {
        // They were found without postings.
        sampled::<K>(workspace, sampling, context)?;
    } else if join::adds(workspace, &digest) {
        sampled::<K>(workspace, sampling, context)?;
        let criterion = (*sampling == Sampling::Full).then(|| config.of_samples());
        stage(workspace, "index", context, |w| {
            index::run::<K>(w, criterion, context)
        })?;
    } else {
        merge_keys::<K>(workspace, parameters, parameters.needs(), context)?;
    }
    if !workspace.matches::<PairsEntry>(|p| p.digest == digest) {
        if !workspace.matches::<JoinProgress>(|j| j.digest == digest) {
            for name in ["join", "cluster", "tables"] {
                workspace.manifest.costs.remove(name);
            }
        }
        stage(workspace, "join", context, |w| {
            join::run::<K>(w, config, limit, context)
        })?;
    }
    remove_stale(workspace).map(drop)
}

/// Removes result files that belong to other pairs than the committed ones, because they would
/// mislead a reader. Returns the names of pages and other files that were made of them.
fn remove_stale(workspace: &mut Workspace) -> Result<Vec<String>> {
    let mut forgotten = Vec::new();
    if !workspace.manifest.has::<ResultsEntry>() {
        let derived = cluster::DERIVED_FILES.into_iter().chain([SUMMARY_FILE]);
        let derived: Vec<&str> = derived.collect();
        let pages = format!("{}/", cluster::DERIVED_DIRECTORY);
        forgotten =
            workspace.forget_others(|name| derived.contains(&name) || name.starts_with(&pages))?;
        if workspace.manifest.has::<TablesEntry>() {
            workspace.manifest.remove::<TablesEntry>();
            workspace.commit(&[])?;
        }
        let results = cluster::RESULT_FILES
            .into_iter()
            .chain(cluster::TABLE_FILES);
        let results = results.chain(derived);
        for name in results.chain(forgotten.iter().map(String::as_str)) {
            disk::remove(&workspace.directory().join(name))?;
        }
    }
    Ok(forgotten)
}

/// Makes the clusters, the result files and the summary.
pub fn cluster(workspace: &mut Workspace, context: &Context<'_>) -> Result<Summary> {
    catalogue(workspace, context)?;
    stage(workspace, "cluster", context, |w| cluster::run(w, context))?;
    summary::write(workspace)
}

/// Writes the results as Parquet files beside the text files, unless they exist, and the summary.
pub fn tables(workspace: &mut Workspace, context: &Context<'_>) -> Result<Summary> {
    stage(workspace, "tables", context, |w| {
        cluster::write_tables(w, context)
    })?;
    summary::write(workspace)
}

/// Writes the result files that the format wants, unless they exist. Without any, `stage cluster`
/// makes them later from the pairs that are there.
pub fn results(
    workspace: &mut Workspace,
    format: ResultFormat,
    context: &Context<'_>,
) -> Result<Summary> {
    if format == ResultFormat::None {
        workspace.manifest.remove::<ResultsEntry>();
        workspace.commit(&[])?;
        remove_stale(workspace)?;
        return Ok(Summary::of(&workspace.manifest));
    }
    let summary = cluster(workspace, context)?;
    match format {
        ResultFormat::Parquet => tables(workspace, context),
        _ => Ok(summary),
    }
}

/// Runs all stages.
pub fn run(
    inputs: &Inputs,
    out: &Path,
    config: &CollectionConfig,
    parameters: &JoinParameters,
    strict: bool,
    context: &Context<'_>,
) -> Result<Summary> {
    against::check(false, parameters)?;
    parameters.check(&config.size_groups, false)?;
    let mut workspace = ingest(inputs, out, config, strict, context)?;
    join(&mut workspace, parameters, context)?;
    results(&mut workspace, parameters.results, context)
}
