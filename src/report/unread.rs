//! The warnings about reading, which come last: input files from which no document was read, even
//! with `--quiet`, a field of docnos that no document has, and documents too short to compare.

use std::path::Path;

use super::answer::short_documents;
use lookalike_base::{Context, Result};
use lookalike_engine::collection::{config, each_unread};
use lookalike_engine::pipeline::{self, Summary};
use lookalike_rewrite::again;
use lookalike_store::{InputList, Workspace, disk};
use lookalike_text::read::{RecordReader, Unread, other_fields};

/// Warnings about the input files from the `first` one on from which no document was read, and what
/// to do; empty if there are none.
fn unread_files(workspace: &Workspace, first: u32) -> Result<Vec<String>> {
    let mut unread = Unread::default();
    let mut inputs = InputList::open(workspace.directory())?;
    each_unread(workspace, |reject| {
        if reject.source.file >= first {
            let name = inputs.path_of(reject.source.file)?;
            unread.add(name, reject.reason, &reject.detail);
        }
        Ok(())
    })?;
    let list = workspace.directory().join("rejects.jsonl");
    let list = disk::exists(&list)?.then_some(list);
    let read = &config(&workspace.manifest).read;
    let documents = Summary::of(&workspace.manifest).ingest.documents;
    let used = read.used_fields(documents > 0);
    Ok(unread.warnings(list.as_deref(), used))
}

/// A warning that no document has the field that was given for the docno.
fn unused_id_field(workspace: &Workspace) -> Result<Option<String>> {
    let read = &config(&workspace.manifest).read;
    let ingest = Summary::of(&workspace.manifest).ingest;
    let none = ingest.documents > 0 && ingest.documents == ingest.unnamed;
    let Some(field) = read.id_field.as_deref().filter(|_| none) else {
        return Ok(None);
    };
    let mut inputs = InputList::open(workspace.directory())?;
    let first = inputs.next()?.and_then(|entry| again::listed(entry).ok());
    let known = first.map(|input| RecordReader::known_fields(&input, read));
    let others = other_fields(field, &known.unwrap_or_default());
    Ok(Some(format!(
        "warning: no document has the field {field} (--id-field), so all are named FILE:RECORD{others}"
    )))
}

/// Warns about the inputs of a collection from the `first` one on.
pub(crate) fn warn(workspace: &Workspace, first: u32, context: &Context<'_>) -> Result<()> {
    lines(&unread_files(workspace, first)?, context);
    let remarks = [unused_id_field(workspace)?, short_documents(workspace)?];
    for line in remarks.iter().flatten() {
        context.progress.note(line);
    }
    Ok(())
}

/// As [`warn`], for the directory of a finished command.
pub(crate) fn warn_in(
    directory: &Path,
    (summary, first): (&Summary, u32),
    context: &Context<'_>,
) -> Result<()> {
    let ingest = &summary.ingest;
    match ingest.rejected.is_empty() && ingest.unnamed == 0 && ingest.short == 0 {
        true => Ok(()),
        false => warn(&pipeline::open_shared(directory, context)?, first, context),
    }
}

/// Prints the lines of a warning.
pub(crate) fn lines(lines: &[String], context: &Context<'_>) {
    lines.iter().for_each(|line| context.progress.lost(line));
}
