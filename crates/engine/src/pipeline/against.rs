//! Compares new documents with a collection that is only read.
//!
//! The output directory holds a collection that continues the other one: it names the segments of
//! the other directory, and has its own after them ([`lookalike_store::workspace::Base`]). So every
//! stage does what it does when documents are added to a collection ([`super::add()`]), and nothing
//! is copied. The result files are about the new documents.

use std::collections::HashMap;
use std::path::Path;

use super::parameters::JoinParameters;
use super::{RECORDS, Summary};
use crate::collection::{
    self, Addition, Additions, Against, CatalogueEntry, CollectionConfig, Extent, Ingested,
    Segments,
};
use crate::index::IndexEntry;
use crate::join::Pairs;
use crate::sample::Sampling;
use lookalike_base::{Context, Error, Measure, Result, refuse};
use lookalike_store::{Base, InputEntry, InputList, MANIFEST_FILE, Manifest, Workspace, disk};
use lookalike_text::read::{InputFile, Inputs};

/// Whether a manifest has what it says of another collection.
pub(super) fn is_possible(manifest: &Manifest) -> bool {
    let against = collection::against(manifest);
    let segments = collection::segments(manifest);
    let theirs = segments.get(..against.segments as usize).map(Extent::of);
    u64::from(against.files) <= manifest.inputs.files
        && theirs.is_some_and(|theirs| theirs.documents == u64::from(against.documents))
}

/// Refuses parameters with which collections cannot be compared.
pub(super) fn check(has_base: bool, parameters: &JoinParameters) -> Result<()> {
    let join = &parameters.join;
    if !has_base {
        if join.pairs == Pairs::Across {
            let limit = "the collection is not compared with another one; use all or none";
            return refuse("pairs", join.pairs, limit);
        }
        return Ok(());
    }
    if join.pairs == Pairs::None {
        let limit = "--against lists pairs; use all or across";
        return refuse("pairs", join.pairs, limit);
    }
    if parameters.sampling() != Sampling::Full || join.max_postings.is_some() {
        let limit = "--against is exact; leave --sampling, --precision and --max-postings out";
        return refuse("sampling", parameters.sampling(), limit);
    }
    if join.measure == Measure::S4 {
        let limit = "it weights by frequencies in one collection; --against has two";
        return refuse("score", join.measure, limit);
    }
    Ok(())
}

/// Finds the pairs of new documents with documents of the collection in `old`, and with each other.
/// The same call continues after a stop. `old` is only read.
///
/// # Errors
/// Those of [`super::run`]; `Incompatible` if the parameters differ from the other collection's.
pub fn run_against(
    inputs: &Inputs,
    old: &Path,
    out: &Path,
    config: &CollectionConfig,
    parameters: &JoinParameters,
    strict: bool,
    context: &Context<'_>,
) -> Result<Summary> {
    if inputs.is_empty() {
        return Err(Error::NoInput { paths: Vec::new() });
    }
    if old.to_str().is_none() {
        let limit = "its path is not UTF-8, so it could not be found again; rename it";
        return refuse("against", old.display(), limit);
    }
    context.budget.check()?;
    config.check()?;
    let new = disk::is_gone(&out.join(MANIFEST_FILE))?;
    let made = disk::is_gone(out)?;
    let (begin, listed) = match new {
        true => begin(old, config)?,
        false => continued(old, out, config)?,
    };
    check(true, parameters)?;
    parameters.check(&config.size_groups, false)?;
    let of_old = listed.iter().filter_map(|entry| {
        let below = entry.name.get(entry.below..).unwrap_or_default();
        Some((Path::new(entry.real.as_ref()?), below))
    });
    let of_old: HashMap<&Path, &str> = of_old.collect();
    let both = inputs.files.iter();
    let both = both.filter_map(|input| Some((input, *of_old.get(input.real.as_deref()?)?)));
    super::add::check_folders(old, config.condition.as_ref(), both, |take| {
        collection::each_value(&Workspace::open_to_read(old, RECORDS)?, take)
    })?;
    let files = listed.iter().map(InputFile::found);
    let mut own = inputs.files.clone();
    lookalike_text::read::tell_apart(&mut own, listed.iter().map(|e| e.name.clone()).collect());
    let files: Vec<InputFile> = files.chain(own).collect();
    if new {
        collection::require_memory(collection::config(&begin), files.len(), &context.budget)?;
    }
    let entries = files.iter().map(InputFile::entry);
    let mut workspace = Workspace::open_or_create(out, begin, entries, |_| Ok(()))?;
    super::note_lost(&mut workspace, context);
    super::read(&mut workspace, &files, None, context)?;
    let workspace = super::meeting(workspace, config, &files, (new, made), context)?;
    let mut workspace = super::accepted(workspace, inputs.need_documents, (new, made), strict)?;
    super::join(&mut workspace, parameters, context)?;
    super::results(&mut workspace, parameters.results, context)
}

/// Refuses parameters that differ from the other collection's. It decides about segments and texts.
fn check_config(theirs: &CollectionConfig, config: &CollectionConfig, old: &Path) -> Result<()> {
    let wanted = CollectionConfig {
        segment_size: theirs.segment_size,
        text: theirs.text,
        ..config.clone()
    };
    theirs.check_same(&wanted, true, old)
}

/// The manifest of a new directory, and the inputs of the other collection.
fn begin(old: &Path, config: &CollectionConfig) -> Result<(Manifest, Vec<InputEntry>)> {
    let other = Workspace::open_to_read(old, RECORDS)?;
    super::has_texts(&other)?;
    let theirs = &other.manifest;
    let missing = |stage| Error::no_stage(old, stage);
    if !collection::ingested(theirs) || !theirs.has::<CatalogueEntry>() {
        return Err(missing("ingest"));
    }
    if theirs.base.is_some() {
        return Err(Error::parameter("against", old.display())
            .because("it was itself compared with another collection; give that one"));
    }
    let parameters = collection::config(theirs);
    check_config(parameters, config, old)?;
    let segments = collection::segments(theirs);
    let documents = Extent::of(segments).documents;
    let units = segments.iter().map(|segment| segment.unit() + 1).max();
    let against = Against {
        documents: documents as u32,
        files: theirs.inputs.files as u32,
        segments: segments.len() as u32,
    };
    let mut below = std::collections::BTreeMap::new();
    below.insert("collection".to_string(), units.unwrap_or(0));
    let mut manifest = collection::begin(RECORDS, parameters, theirs.parameters());
    manifest.set(against);
    manifest.set(Segments(segments.to_vec()));
    manifest.set(Ingested(false));
    manifest.set(Additions(vec![Addition {
        file: against.files,
        unit: units.unwrap_or(0),
        segments: against.segments,
    }]));
    if let Some(index) = theirs.get::<IndexEntry>()
        && index.documents() == documents
    {
        let levels = index.levels.iter().map(|level| level.number + 1).max();
        below.insert("index".into(), levels.unwrap_or(0));
        manifest.set(IndexEntry {
            making: None,
            ..index.clone()
        });
    }
    manifest.base = Some(Base {
        path: old.to_string_lossy().into_owned(),
        real: real(old)?,
        below,
    });
    Ok((manifest, listed(old, against.files)?))
}

/// The absolute path of a directory without symbolic links, if that is UTF-8.
fn real(directory: &Path) -> Result<Option<String>> {
    Ok(disk::real(directory)?.and_then(|real| real.to_str().map(String::from)))
}

/// The first inputs in the list of a directory.
fn listed(directory: &Path, files: u32) -> Result<Vec<InputEntry>> {
    let mut list = InputList::open(directory)?;
    let entries = (0..files).map(|_| Ok(list.next()?.cloned()));
    entries.filter_map(Result::transpose).collect()
}

/// The manifest of a directory that was begun, and the inputs of the other collection.
fn continued(
    old: &Path,
    out: &Path,
    config: &CollectionConfig,
) -> Result<(Manifest, Vec<InputEntry>)> {
    let manifest = super::look(out)?;
    let real = real(old)?;
    let same = manifest.base.as_ref().is_some_and(|base| {
        base.path == old.to_string_lossy() || base.real.is_some() && base.real == real
    });
    if !same {
        let base = manifest.base.as_ref();
        return Err(Error::Incompatible {
            path: out.into(),
            name: "--against".into(),
            expected: old.display().to_string(),
            found: base.map_or("nothing".into(), |base| base.path.clone()),
        });
    }
    check_config(collection::config(&manifest), config, out)?;
    let listed = listed(out, collection::against(&manifest).files)?;
    Ok((manifest, listed))
}
