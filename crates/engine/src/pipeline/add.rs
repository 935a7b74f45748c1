//! Adds inputs to a collection.
//!
//! Segments, documents and lines of the list of inputs are appended. Records that later stages made
//! of all documents are removed, except the index, which gets another level, and the pairs, to
//! which the join adds the pairs of the new documents ([`crate::join::adds`]).

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::parameters::{AppliedPlan, JoinParameters};
use super::{RECORDS, Summary};
use crate::cluster::{self, ResultFormat, TablesEntry};
use crate::collection::{
    self, Additions, Catalogue, CatalogueBefore, CollectionConfig, Condition, Extent, Ingested,
};
use crate::index::IndexEntry;
use crate::join::{Before, PairsEntry};
use lookalike_base::{Context, Result, counted, refuse};
use lookalike_store::{
    Arranged, INPUTS_FILE, InputEntry, InputList, LastSearch, MANIFEST_FILE, Manifest, Skipped,
    Workspace, disk, workspace,
};
use lookalike_text::read::{InputFile, Inputs, folder_of};

/// The inputs of a run in the order of the list in `out`, which new ones follow, and the number of
/// listed ones; `None` if there is no list, or nothing to change.
///
/// # Errors
/// Inputs whose folders the condition compares must be named as before: the collection keeps the folders.
pub(super) fn arrange(
    out: &Path,
    inputs: &Inputs,
    condition: Option<&Condition>,
) -> Result<Option<(Inputs, usize)>> {
    let missing = |name: &str| disk::is_gone(&out.join(name));
    if missing(MANIFEST_FILE)? || missing(INPUTS_FILE)? || super::is_piped(inputs) {
        return Ok(None);
    }
    disk::claim(out);
    let entries: Vec<InputEntry> = inputs.iter().map(InputFile::entry).collect();
    let arranged = workspace::arrange(out, &entries, true)?;
    let known = arranged.listed.len();
    check_folders(out, condition, named(&arranged, inputs), |take| {
        collection::each_value(&Workspace::open_to_read(out, RECORDS)?, take)
    })?;
    let mut names = arranged.listed.iter().zip(&arranged.names);
    if known == inputs.len()
        && arranged.listed.is_sorted()
        && names.all(|(&place, (name, _))| inputs[place].docno == *name)
    {
        return Ok(None);
    }
    let all = arranged.listed.iter().chain(&arranged.new);
    let mut files: Vec<InputFile> = all.map(|&place| inputs[place].clone()).collect();
    let (listed, new) = files.split_at_mut(known);
    for (input, (name, below)) in listed.iter_mut().zip(&arranged.names) {
        (input.docno, input.below) = (name.clone(), *below);
    }
    let names = arranged.names.into_iter().map(|(name, _)| name);
    lookalike_text::read::tell_apart(new, names.collect());
    let arranged = Inputs {
        files,
        skipped: inputs.skipped,
        need_documents: inputs.need_documents,
    };
    Ok(Some((arranged, known)))
}

/// The given inputs that a list has, with their paths below the argument that it has.
fn named<'n>(
    arranged: &'n Arranged,
    inputs: &'n [InputFile],
) -> impl Iterator<Item = (&'n InputFile, &'n str)> {
    let names = arranged.listed.iter().zip(&arranged.names);
    names.map(|(&place, (name, below))| (&inputs[place], name.get(*below..).unwrap_or_default()))
}

/// Refuses inputs that a collection has in other folders, if the condition compares folders: the
/// collection keeps those that it was made with, and a new input would be in others. Records may
/// have fields of these names, so `values` passes the values of the documents. It returns whether
/// all inputs have been read; if not, every moved folder is refused.
pub(super) fn check_folders<'n>(
    out: &Path,
    condition: Option<&Condition>,
    inputs: impl Iterator<Item = (&'n InputFile, &'n str)>,
    values: impl FnOnce(&mut dyn FnMut(&str, Option<&str>)) -> Result<bool>,
) -> Result<()> {
    let fields = condition.map_or(&[][..], Condition::fields);
    let mut moved = HashMap::new();
    for (input, old) in inputs {
        let new = input.below();
        for field in fields {
            let was = folder_of(old, field);
            if was != folder_of(new, field) {
                moved.entry((&**field, was)).or_insert((old, new));
            }
        }
    }
    let mut found = None;
    if !moved.is_empty()
        && !values(&mut |field, value| found = found.or(moved.get(&(field, value)).copied()))?
    {
        found = moved.values().min().copied();
    }
    let Some((old, new)) = found else {
        return Ok(());
    };
    let what =
        format!("--where compares folders, and {old} is {new} below the inputs of this command");
    Err(workspace::other_inputs(out, what))
}

/// Opens a collection for more inputs, once all listed ones have been read.
pub(super) fn begin(
    workspace: &mut Workspace,
    new: &[InputFile],
    skipped: Skipped,
    context: &Context<'_>,
) -> Result<()> {
    let files = workspace.manifest.inputs.files;
    context.progress.note(&format!(
        "{} after the {} that {} has",
        counted(new.len() as u64, "new input"),
        files,
        workspace.directory().display()
    ));
    let manifest = &mut workspace.manifest;
    let documents = Extent::of(collection::segments(manifest)).documents;
    let tables = manifest.has::<TablesEntry>();
    // An addition that was stopped has recorded more than its remaining results show.
    let before = manifest.take::<Before>();
    let before = before.or_else(|| Before::of(manifest, documents as u32, tables));
    let index = manifest.take::<IndexEntry>();
    collection::begin_addition(manifest);
    manifest.remove_after::<Ingested>();
    if let Some(before) = before {
        manifest.set(before);
    }
    if let Some(index) = index {
        manifest.set(index);
    }
    let entries: Vec<InputEntry> = new.iter().map(InputFile::entry).collect();
    workspace.append_inputs(&entries, skipped)?;
    workspace.settle(&[])?;
    if workspace.manifest.has::<LastSearch>() {
        let line = "the tables of the last search for passages lack the new documents";
        context.progress.note(line);
    }
    let removed = super::remove_stale(workspace)?;
    for page in removed.iter().filter(|name| *name != super::SUMMARY_FILE) {
        let line = format!("{page} was about the documents before, and is removed");
        context.progress.note(&line);
    }
    Ok(())
}

/// Adds inputs to the collection in a directory, and brings its pairs and results up to date, if it
/// has them. Without `results`, it writes the result files that there were. It continues an
/// addition that was stopped. Inputs that the collection has are left out.
///
/// # Errors `InputChanged` if an input differs from what the collection has of it; otherwise the errors of
/// [`super::run`].
pub fn add(
    directory: &Path,
    inputs: &Inputs,
    strict: bool,
    results: Option<ResultFormat>,
    context: &Context<'_>,
) -> Result<Summary> {
    context.budget.check()?;
    let mut workspace = opened(directory)?;
    let config = collection::config(&workspace.manifest);
    config.check_rule(directory)?;
    config.read.check_programs(context)?;
    if super::is_piped(inputs) {
        let limit = "standard input cannot be read again if the command is stopped; store it in a \
                    file first";
        return refuse("INPUT", "-", limit);
    }
    if workspace.manifest.base.is_some() {
        let limit = "it was compared with another collection; add the inputs to that one, or run \
                    them against it in a new directory";
        return refuse("DIR", directory.display(), limit);
    }
    super::note_lost(&mut workspace, context);
    let entries: Vec<InputEntry> = inputs.iter().map(InputFile::entry).collect();
    let arranged = workspace::arrange(directory, &entries, false)?;
    check_folders(
        directory,
        collection::config(&workspace.manifest).condition.as_ref(),
        named(&arranged, inputs),
        |take| collection::each_value(&workspace, take),
    )?;
    if !collection::ingested(&workspace.manifest) {
        let listed = listed(&workspace, inputs, &arranged.listed)?;
        super::read(&mut workspace, &listed, None, context)?;
    }
    if !arranged.listed.is_empty() {
        let there = counted(arranged.listed.len() as u64, "input");
        let line = format!("{there} left out: {} has them", directory.display());
        context.progress.note(&line);
    }
    if !arranged.new.is_empty() {
        let new = arranged.new.iter().map(|&place| inputs[place].clone());
        let mut new: Vec<InputFile> = new.collect();
        lookalike_text::read::tell_apart(&mut new, names(&workspace)?);
        begin(&mut workspace, &new, inputs.skipped, context)?;
        let mut all = listed(&workspace, inputs, &arranged.listed)?;
        let known = all.len() - new.len();
        all.splice(known.., new);
        super::read(&mut workspace, &all, None, context)?;
        let condition = collection::config(&workspace.manifest).condition.as_ref();
        collection::check_condition(&workspace, condition, &all, context)?;
    }
    let mut workspace = super::accepted(workspace, false, (false, false), strict)?;
    let Some(parameters) = parameters(&workspace.manifest) else {
        let line = "the directory had no pairs; `lookalike run --from` finds them";
        context.progress.note(line);
        super::catalogue(&mut workspace, context)?;
        indexed(&mut workspace, context)?;
        // No other file of a search for pairs is there.
        cluster::write_rejects(&workspace, &mut Default::default())?;
        return Ok(Summary::of(&workspace.manifest));
    };
    let asked = workspace.manifest.has::<Before>();
    if asked || !workspace.manifest.has::<PairsEntry>() {
        super::join(&mut workspace, &parameters, context)?;
    }
    indexed(&mut workspace, context)?;
    let results = results.unwrap_or(parameters.results);
    super::results(&mut workspace, results, context)
}

/// The first input of the last addition to a collection.
pub fn first_added(manifest: &Manifest) -> u32 {
    let additions = manifest.get::<Additions>();
    let last = additions.and_then(|additions| additions.0.last());
    last.map_or(0, |last| last.file)
}

/// Opens a collection. If the file of its pairs is lost, the parameters remain, so that the join
/// finds the pairs again.
fn opened(directory: &Path) -> Result<Workspace> {
    let before = searched(&super::look(directory)?);
    let mut workspace = super::open_texts(directory)?;
    let own = &mut workspace.manifest;
    if let Some(before) = before.filter(|_| !own.has::<Before>() && !own.has::<PairsEntry>()) {
        own.set(Before {
            part: None,
            added: Vec::new(),
            ..before
        });
    }
    Ok(workspace)
}

/// Brings the index up to date, if there is one. The join may have done so.
fn indexed(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    let documents = Catalogue::stats(workspace)?.documents;
    let index = workspace.manifest.get::<IndexEntry>();
    if let Some(index) = index.filter(|i| i.documents() != documents || i.making.is_some()) {
        super::index(workspace, index.criterion, context)?;
    }
    Ok(())
}

/// The search whose pairs a directory has, or had before an addition.
fn searched(manifest: &Manifest) -> Option<Before> {
    // A search that began again has other parameters than the pairs that it replaces.
    let before = manifest.get::<Before>().cloned();
    before.or_else(|| Before::of(manifest, 0, manifest.has::<TablesEntry>()))
}

/// The parameters of the pairs that a directory has, or had before an addition, and of its results.
pub fn parameters(manifest: &Manifest) -> Option<JoinParameters> {
    let before = searched(manifest)?;
    let plan = before.plan.map(|(plan, given)| AppliedPlan { plan, given });
    Some(JoinParameters {
        sampling: before.sampling,
        plan,
        results: match before.tables {
            true => ResultFormat::Parquet,
            false => ResultFormat::Tsv,
        },
        ..JoinParameters::from(before.config)
    })
}

/// Replaces the condition of a collection; `true` drops it. The collection must keep the fields that
/// the new condition names. Everything that depends on which documents are pairs is made again.
///
/// # Errors
/// `BadParameter` if the collection does not keep a field.
pub fn change_condition(
    workspace: &mut Workspace,
    condition: Option<Condition>,
    context: &Context<'_>,
) -> Result<()> {
    let config = collection::config(&workspace.manifest);
    let given = condition.is_some();
    let condition = condition.filter(|condition| !condition.is_true());
    if !given || config.condition == condition {
        return Ok(());
    }
    let before = Before::of(&workspace.manifest, 0, false);
    let before = before.or_else(|| workspace.manifest.get::<Before>().cloned());
    collection::check_condition(workspace, condition.as_ref(), &[], context)?;
    let config = CollectionConfig {
        condition,
        ..config.clone()
    };
    workspace.manifest.set(config);
    workspace.manifest.remove::<CatalogueBefore>();
    workspace.manifest.remove_after::<Ingested>();
    if let Some(before) = before {
        workspace.manifest.set(Before {
            part: None,
            ..before
        });
    }
    workspace.settle(&[])
}

/// Searches a collection again. The new parameters are recorded before the pairs of the last search
/// are removed. So the same command continues this search, with the parameters that it does not
/// name.
pub fn search_again(
    workspace: &mut Workspace,
    parameters: &JoinParameters,
    context: &Context<'_>,
) -> Result<Summary> {
    parameters.check(&collection::config(&workspace.manifest).size_groups, false)?;
    let plan = parameters.plan.as_ref();
    workspace.manifest.set(Before {
        documents: 0,
        digest: String::new(),
        config: parameters.join,
        sampling: parameters.sampling.clone(),
        plan: plan.map(|applied| (applied.plan.clone(), applied.given)),
        tables: parameters.results == ResultFormat::Parquet,
        part: None,
        added: Vec::new(),
    });
    workspace.commit(&[])?;
    super::join(workspace, parameters, context)?;
    workspace.manifest.remove::<Before>();
    workspace.commit(&[])?;
    super::results(workspace, parameters.results, context)
}

/// All listed inputs, by their lines. The inputs at these places are also among the given ones.
fn listed(workspace: &Workspace, given: &Inputs, places: &[usize]) -> Result<Vec<InputFile>> {
    let mut list = InputList::open(workspace.directory())?;
    let mut places = places.iter().map(|&place| &given[place]).peekable();
    let mut files = Vec::new();
    while let Some(entry) = list.next()? {
        let same = |input: &&InputFile| entry.is_at_place_of(&input.entry());
        files.push(match places.next_if(same) {
            Some(input) => {
                let mut input = input.clone();
                (input.docno, input.below) = (entry.name.clone(), entry.below);
                input
            }
            None => InputFile::found(entry),
        });
    }
    Ok(files)
}

/// The names of the listed inputs.
fn names(workspace: &Workspace) -> Result<HashSet<String>> {
    let mut names = HashSet::new();
    let mut list = InputList::open(workspace.directory())?;
    while let Some(entry) = list.next()? {
        names.insert(entry.name.clone());
    }
    Ok(names)
}
