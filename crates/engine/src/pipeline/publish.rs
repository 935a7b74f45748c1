//! Copies of result files in an object store.

use std::path::Path;

use crate::cluster::{ResultsEntry, TablesEntry};
use lookalike_base::{Context, Result, Unit, refuse};
use lookalike_store::{StageRecord, Workspace, check_address, disk, remote};

use super::SUMMARY_FILE;

const STAGE: &str = "publish";

/// Copies the result files of a directory, and its summary, below an address. Objects that have the
/// same bytes are left as they are, so a call that was stopped can be repeated.
///
/// # Errors
/// `BadParameter` if it is not an address that can be written, or if there are other objects of
/// these names; `Io`; `Corrupt` if a result file differs from the file that was written.
pub fn publish(workspace: &Workspace, to: &Path, context: &Context<'_>) -> Result<()> {
    if !remote::is_address(to) {
        let limit = "an address such as s3://BUCKET/PREFIX; copy the files to a directory";
        return refuse("publish", to.display(), limit);
    }
    check_address("publish", to)?;
    let manifest = &workspace.manifest;
    let results = manifest.get::<ResultsEntry>().map(StageRecord::files);
    let tables = manifest.get::<TablesEntry>().map(StageRecord::files);
    let others = manifest.others.iter();
    let summary = others.filter(|other| other.name == SUMMARY_FILE);
    let files = results.into_iter().chain(tables).flatten().chain(summary);
    let files: Vec<_> = files.collect();
    context.start(STAGE, Unit::Count("files"), Some(files.len() as u64));
    for (done, file) in files.into_iter().enumerate() {
        context.progress.at(done as u64);
        let target = to.join(&file.name);
        if disk::exists(&target)? {
            match disk::check(&target, file.bytes, &file.checksum) {
                Ok(()) => continue,
                Err(_) => {
                    let limit = "another object has this name; give a new prefix";
                    return refuse("publish", target.display(), limit);
                }
            }
        }
        let from = workspace.directory().join(&file.name);
        disk::check(&from, file.bytes, &file.checksum)?;
        disk::copy(&from, &target, || context.stop.check(STAGE))?;
    }
    Ok(())
}
