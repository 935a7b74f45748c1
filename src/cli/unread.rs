//! The warning about input files from which no document was read. It comes last, and is printed
//! even with `--quiet`.

use std::path::Path;

use crate::Result;
use crate::base::progress::Context;
use crate::engine::pipeline::{self, Summary};
use crate::report::{unread_files, unused_id_field};
use crate::store::workspace::Workspace;

/// Warns about the inputs of a collection.
pub(super) fn warn(workspace: &Workspace, context: &Context<'_>) -> Result<()> {
    lines(&unread_files(workspace)?, context);
    unused_id_field(workspace)?
        .iter()
        .for_each(|line| context.progress.note(line));
    Ok(())
}

/// As [`warn`], for the directory of a finished command.
pub(super) fn warn_in(directory: &Path, summary: &Summary, context: &Context<'_>) -> Result<()> {
    match summary.ingest.rejected.is_empty() && summary.ingest.unnamed == 0 {
        true => Ok(()),
        false => warn(&pipeline::open_shared(directory, context)?, context),
    }
}

/// Prints the lines of a warning.
pub(super) fn lines(lines: &[String], context: &Context<'_>) {
    lines.iter().for_each(|line| context.progress.lost(line));
}
