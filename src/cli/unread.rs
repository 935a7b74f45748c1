//! The warnings about what was read, which come last: input files from which no document was read,
//! even with `--quiet`, a field of docnos that no document has, and documents too short to compare.

use std::path::Path;

use crate::report::{short_documents, unread_files, unused_id_field};
use lookalike_base::Result;
use lookalike_base::progress::Context;
use lookalike_engine::pipeline::{self, Summary};
use lookalike_store::workspace::Workspace;

/// Warns about the inputs of a collection.
pub(super) fn warn(workspace: &Workspace, context: &Context<'_>) -> Result<()> {
    lines(&unread_files(workspace)?, context);
    let remarks = [unused_id_field(workspace)?, short_documents(workspace)?];
    remarks
        .iter()
        .flatten()
        .for_each(|line| context.progress.note(line));
    Ok(())
}

/// As [`warn`], for the directory of a finished command.
pub(super) fn warn_in(directory: &Path, summary: &Summary, context: &Context<'_>) -> Result<()> {
    let ingest = &summary.ingest;
    match ingest.rejected.is_empty() && ingest.unnamed == 0 && ingest.short == 0 {
        true => Ok(()),
        false => warn(&pipeline::open_shared(directory, context)?, context),
    }
}

/// Prints the lines of a warning.
pub(super) fn lines(lines: &[String], context: &Context<'_>) {
    lines.iter().for_each(|line| context.progress.lost(line));
}
