//! Runs a method on a collection, from the specification to pairs and clusters.

use lookalike_base::{Context, Error, FingerprintKind, Key, Result};
use lookalike_engine::collection::{self, Catalogue, CatalogueEntry, CollectionConfig};
use lookalike_engine::merge::AllPostings;
use lookalike_engine::pipeline::{self, JoinParameters, Summary};
use lookalike_store::{MANIFEST_FILE, Workspace, disk};
use std::path::{Path, PathBuf};

use super::{Spec, extract, texts};

/// The name of the file that lists the documents of each feature, for methods in which one feature
/// stands for a set of duplicates.
pub const SETS_FILE: &str = "sets.jsonl";

/// The directory of a method's results, inside the directory of the collection.
pub fn directory(base: &Workspace, spec: &Spec) -> PathBuf {
    base.directory().join("methods").join(spec.file_name())
}

/// Opens or creates the directory of a method. Keeps results of the same method on the same
/// collection.
pub fn open(base: &Workspace, spec: &Spec) -> Result<Workspace> {
    let which = spec.identity()?;
    workspace(base, &directory(base, spec), &spec.to_string(), &which)
}

/// Opens or creates a directory for the features that a method extracts from the documents of
/// `base`. `method` is the name to display. `which` identifies everything that the features depend
/// on.
pub(super) fn workspace(
    base: &Workspace,
    directory: &Path,
    method: &str,
    which: &str,
) -> Result<Workspace> {
    let mut workspace = collection::standing_on::<()>(base, directory, which, None)?;
    workspace.copy_inputs(base)?;
    workspace.manifest.method = Some(method.into());
    if let Some(config) = workspace.manifest.get_mut::<CollectionConfig>() {
        config.shingle.fingerprint = FingerprintKind::Xxh3;
    }
    workspace.recover(true)?;
    workspace.commit(&[])?;
    Ok(workspace)
}

/// Opens the directory of a method to read the features there; extracts them first if they do not
/// exist. Several processes can read them at the same time.
pub fn keys_to_read(base: &Workspace, spec: &Spec, context: &Context<'_>) -> Result<Workspace> {
    let which = spec.identity()?;
    let place = directory(base, spec);
    if let Some(there) = to_read(base, &place, &which, context)? {
        return Ok(there);
    }
    drop(keys(base, spec, context)?);
    let there = to_read(base, &place, &which, context)?;
    there.ok_or(Error::no_stage(place, "keys"))
}

/// Opens a directory that [`workspace`] made, to read it; `None` if it does not have the features
/// of these documents.
pub(super) fn to_read(
    base: &Workspace,
    directory: &Path,
    which: &str,
    context: &Context<'_>,
) -> Result<Option<Workspace>> {
    if disk::is_gone(&directory.join(MANIFEST_FILE))? {
        return Ok(None);
    }
    let mut workspace = Workspace::open_to_read(directory, base.manifest.kinds())?;
    let origin = collection::origin::<()>(base, directory, which, None)?;
    if workspace.manifest.origin.as_ref() != Some(&origin)
        || workspace.misses_part_in(&["collection", "catalogue"])?
    {
        return Ok(None);
    }
    workspace.read_without_gone(context)?;
    let manifest = &workspace.manifest;
    let ready = collection::ingested(manifest) && manifest.has::<CatalogueEntry>();
    Ok(ready.then_some(workspace))
}

/// Extracts the features of a method, unless they exist.
pub fn keys(base: &Workspace, spec: &Spec, context: &Context<'_>) -> Result<Workspace> {
    let segments = collection::segments(&base.manifest);
    if !collection::ingested(&base.manifest) || !base.manifest.has::<CatalogueEntry>() {
        return Err(base.missing("ingest"));
    }
    collection::has_all_shingles(base, "a method extracts features from whole texts")?;
    if segments.iter().any(|segment| segment.text.is_none()) {
        return Err(texts::no_text(base));
    }
    let parse = &collection::config(&base.manifest).shingle.parse;
    parse.check_rule(base.directory())?;
    if let Some(warning) = &spec.method.warning {
        context
            .progress
            .note(&format!("warning: {spec}: {warning}"));
    }
    let mut workspace = open(base, spec)?;
    pipeline::keys(&mut workspace, context, |workspace| {
        let keys = spec.method.prepare(base, context)?;
        for (name, content) in &keys.files {
            workspace.put_other(name, content.as_bytes())?;
        }
        let duplicates = spec.method.keeps_duplicates;
        extract::run(base, workspace, &keys, duplicates, context)
    })?;
    Ok(workspace)
}

/// Finds the features, pairs and clusters of a method, reusing committed stages, and returns the
/// counts.
pub fn run(base: &Workspace, spec: &Spec, context: &Context<'_>) -> Result<(Workspace, Summary)> {
    let mut workspace = keys(base, spec, context)?;
    let parameters = JoinParameters {
        all_postings: spec.method.sets,
        ..JoinParameters::from(spec.method.join)
    };
    pipeline::join(&mut workspace, &parameters, context)?;
    let summary = pipeline::cluster(&mut workspace, context)?;
    if spec.method.sets {
        write_sets(&mut workspace, context)?;
    }
    Ok((workspace, summary))
}

/// Writes the documents of each shared feature, one feature per line in ascending order.
fn write_sets(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    if workspace.is_whole(SETS_FILE) {
        return Ok(());
    }
    let names = Catalogue::names(workspace, &context.budget)?;
    let documents = Catalogue::stats(workspace)?.documents;
    let postings = AllPostings::<u64>::of(workspace, documents);
    workspace.write_other(SETS_FILE, |out| {
        postings.each(|block| {
            context.stop.check("sets")?;
            for (key, list) in block.keys.iter().zip(block.lists()) {
                let mut line = format!("{{\"key\":\"{:016x}\",\"members\":[", key.to_u128());
                for (n, &document) in list.iter().enumerate() {
                    if n > 0 {
                        line.push(',');
                    }
                    let docno = serde_json::Value::from(&*names.get(document)?);
                    line.push_str(&docno.to_string());
                }
                line.push_str("]}\n");
                out.put(line.as_bytes())?;
            }
            Ok(())
        })
    })
}
