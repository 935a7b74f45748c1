//! The ways to open an output directory.

use std::path::Path;

use super::{RECORDS, against, catalogued};
use crate::cluster::ResultsEntry;
use crate::collection::{self, CatalogueEntry, CollectionConfig};
use crate::merge::PostingsEntry;
use crate::sample::SampleEntry;
use lookalike_base::{Context, Error, Result, refuse};
use lookalike_store::{MANIFEST_FILE, Manifest, Workspace, disk};

/// Opens a directory that holds a collection, and locks it.
pub fn open(directory: &Path) -> Result<Workspace> {
    let workspace = Workspace::open(directory, RECORDS)?;
    check(directory, &workspace.manifest)?;
    Ok(workspace)
}

/// As [`open`], for a command that reads texts or compares shingles: refuses a directory of a
/// method, which has neither.
pub fn open_texts(directory: &Path) -> Result<Workspace> {
    let workspace = open(directory)?;
    has_texts(&workspace)?;
    Ok(workspace)
}

/// Refuses a directory of a method.
pub fn has_texts(workspace: &Workspace) -> Result<()> {
    let Some(method) = &workspace.manifest.method else {
        return Ok(());
    };
    let limit = format!(
        "it has the features of the method {method}, not the documents; give the directory of \
         `lookalike run`"
    );
    let directory = workspace.directory().display();
    Err(Error::parameter("DIR", directory).because(limit))
}

/// Opens a directory that holds a collection with its catalogue for reading only, so that several
/// processes can use it at the same time, even on a read-only medium; `None` if it must be opened
/// with [`open`] first, because the catalogue is to be made or a file is missing.
pub fn open_to_read(directory: &Path) -> Result<Option<Workspace>> {
    let workspace = Workspace::open_to_read(directory, RECORDS)?;
    check(directory, &workspace.manifest)?;
    let ready = collection::ingested(&workspace.manifest)
        && workspace.manifest.has::<CatalogueEntry>()
        && !workspace.misses_part_in(&["catalogue", "index"])?;
    Ok(ready.then_some(workspace))
}

/// Reads the manifest of a directory without locking it.
pub fn look(directory: &Path) -> Result<Manifest> {
    let manifest = Workspace::look(directory, RECORDS)?;
    check(directory, &manifest)?;
    Ok(manifest)
}

/// Refuses a manifest without the parameters of its collection, or that says more of another
/// collection than it has.
fn check(directory: &Path, manifest: &Manifest) -> Result<()> {
    let corrupt = |expected: &str, found: String| {
        Error::corrupt(directory.join(MANIFEST_FILE), "manifest").expected(expected, found)
    };
    let parameters = match manifest.get().map(CollectionConfig::check) {
        Some(Ok(())) => None,
        Some(Err(error)) => Some(error.to_string()),
        None => Some("none".into()),
    };
    if let Some(found) = parameters {
        return Err(corrupt("the parameters of its collection", found));
    }
    if !against::is_possible(manifest) {
        let found = format!("{:?}", collection::against(manifest));
        let expected = "some of its inputs, segments and documents in `against`";
        return Err(corrupt(expected, found));
    }
    let postings = manifest.get::<PostingsEntry>().filter(|it| it.complete);
    if let Some(postings) = postings.filter(|it| !it.parts.keys().copied().eq(0..it.ranges)) {
        let expected = format!("postings of {} ranges", postings.ranges);
        return Err(corrupt(&expected, postings.parts.len().to_string()));
    }
    let sample = manifest.get::<SampleEntry>();
    let groups = collection::config(manifest).size_groups.count();
    let levels = sample.map(|sample| sample.sampling.levels(groups).rates.len());
    let columns = sample.map(|sample| sample.sizes.len());
    if columns != levels {
        let expected = format!("{} levels of the sample", levels.unwrap_or_default());
        return Err(corrupt(&expected, columns.unwrap_or_default().to_string()));
    }
    let sizes = sample.into_iter().flat_map(|sample| &sample.sizes);
    let sizes = sizes.map(|part| part.records);
    match collection::other_number(manifest, sizes) {
        Some((expected, found)) => Err(corrupt(&format!("{expected} documents"), found)),
        None => Ok(()),
    }
}

/// Opens a directory to read it, which several commands can do at the same time. Nothing in it is
/// changed, so it may be on a read-only medium.
pub fn open_shared(directory: &Path, context: &Context<'_>) -> Result<Workspace> {
    // Refuses a manifest without the parameters of a collection.
    look(directory)?;
    let mut workspace = Workspace::open_to_read(directory, RECORDS)?;
    workspace.read_without_gone(context)?;
    Ok(workspace)
}

/// As [`open_shared`], and makes the catalogue first if it was lost, or the ingest was interrupted
/// before it.
pub fn open_catalogued(directory: &Path, context: &Context<'_>) -> Result<Workspace> {
    let base = open_shared(directory, context)?;
    let ingested = collection::ingested(&base.manifest);
    if !ingested || base.manifest.has::<CatalogueEntry>() {
        return Ok(base);
    }
    drop(base);
    catalogued(&mut open(directory)?, context)?;
    open_shared(directory, context)
}

/// As [`open_shared`], for a command that writes `output`. If that is a file of the directory, the
/// manifest is going to name it, and no other command can use the directory.
pub fn open_for(directory: &Path, output: &Path, context: &Context<'_>) -> Result<Workspace> {
    let workspace = open_shared(directory, context)?;
    if workspace.other_name(output).is_none() {
        return Ok(workspace);
    }
    drop(workspace);
    open(directory)
}

/// Compares result files of a finished directory with its manifest, and returns the manifest.
///
/// # Errors
/// `StageMissing` if the directory has no results; `Corrupt` if a file differs from the file that
/// was written.
pub fn check_results(directory: &Path, names: &[&str]) -> Result<Manifest> {
    let manifest = look(directory)?;
    let results = manifest
        .get::<ResultsEntry>()
        .ok_or_else(|| Error::no_stage(directory, "cluster"))?;
    for name in names {
        let Some(file) = results.files.iter().find(|file| file.name == *name) else {
            if *name != "review.tsv" {
                return Err(Error::no_stage(directory, "cluster"));
            }
            let limit = format!("it has no {name}; `lookalike run --from` with --review makes one");
            return refuse("DIR", directory.display(), limit);
        };
        disk::check(&directory.join(name), file.bytes, &file.checksum)?;
    }
    Ok(manifest)
}
