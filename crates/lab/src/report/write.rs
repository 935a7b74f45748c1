//! Writes the results of the laboratory into directories, and names them in the manifests there.

use std::path::PathBuf;

use super::compared_tables::compared_files;
use super::{page, study_page, study_tables};
use crate::compare::{self, CompareConfig, Comparison};
use crate::study::{self, Study, StudyConfig, StudyCost};
use lookalike_base::{Context, Result};
use lookalike_engine::{outputs, pipeline};
use lookalike_store::{Workspace, disk, json};

/// Subdirectory of an output directory with the tables of a comparison.
pub const COMPARE_DIRECTORY: &str = "compare";

/// Name of the page of a comparison, in [`COMPARE_DIRECTORY`].
pub const COMPARE_PAGE: &str = "compare.html";

/// Compares methods on a collection, and writes tables and a page to its directory.
pub fn write_comparison(
    workspace: &mut Workspace,
    config: &CompareConfig,
    context: &Context<'_>,
) -> Result<Comparison> {
    let place = workspace.directory().join(COMPARE_DIRECTORY);
    if let Some(edits) = &config.edits {
        outputs::refuse_inside(&place, "edits", edits)?;
    }
    pipeline::catalogued(workspace, context)?;
    let comparison = compare::run(workspace, config, context)?;
    disk::create_lasting_directory(&place)?;
    let text = json::pretty(&comparison, workspace.directory().join(COMPARE_DIRECTORY))?;
    let of = format!("{COMPARE_DIRECTORY}/");
    workspace.forget_others(|name| name.starts_with(&of))?;
    let program = &workspace.manifest.program;
    let page = page::compare::page(&comparison, &config.methods, program);
    let mut files = compared_files(&comparison);
    files.push(("compare.json", text));
    for (name, text) in files {
        workspace.put_other(&format!("{of}{name}"), text.as_bytes())?;
    }
    workspace.put_other(&format!("{of}{COMPARE_PAGE}"), &page)?;
    Ok(comparison)
}

/// Runs the missing trials of a study, and writes its tables and page to its directory.
pub fn write_study(
    workspace: &mut Workspace,
    config: &StudyConfig,
    context: &Context<'_>,
) -> Result<(Study, StudyCost)> {
    let (study, cost) = study::run(workspace, config, context)?;
    let mut files = study_tables::files(&study)?;
    let page = study_page(&study, &cost, &workspace.manifest.program)?;
    files.push((study::PAGE_FILE, page));
    study::write(workspace, &study, &cost, &files)?;
    Ok((study, cost))
}

/// Writes the page of a finished study again, and returns its path.
///
/// # Errors
/// `StageMissing` without a study of the present collection.
pub fn write_study_page(workspace: &mut Workspace, context: &Context<'_>) -> Result<PathBuf> {
    let (study, cost) = study::load(workspace, context)?;
    let page = study_page(&study, &cost, &workspace.manifest.program)?;
    let name = format!("{}/{}", study::DIRECTORY, study::PAGE_FILE);
    workspace.put_other(&name, &page)?;
    Ok(workspace.directory().join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `outputs` and the report page lie below the modules that give these names.
    #[test]
    fn every_name_in_an_output_directory_is_known_below() {
        for name in [study::DIRECTORY, COMPARE_DIRECTORY] {
            assert!(outputs::DIRECTORIES.contains(&name), "{name}");
        }
        let page = format!("{}/{}", study::DIRECTORY, study::PAGE_FILE);
        assert_eq!(page, lookalike::report::page::STUDY_PAGE);
    }
}
