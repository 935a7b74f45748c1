//! Writes pages into directories, and names them in the manifests there.

use std::path::Path;

use super::page::{self, PageConfig, PageStats};
use crate::document::{Both, Passages};
use crate::experiments::compare::{self, CompareConfig, Comparison, TableFile};
use crate::experiments::study::{self, Study, StudyConfig, StudyCost};
use crate::progress::Context;
use crate::store::{disk, json};
use crate::workspace::{ResultFile, Workspace};
use crate::{Result, collection, outputs, pipeline};

/// Subdirectory of an output directory with the tables of a comparison.
pub const COMPARE_DIRECTORY: &str = "compare";

/// Name of the page of a comparison, in [`COMPARE_DIRECTORY`].
pub const COMPARE_PAGE: &str = "compare.html";

/// Writes the page of a directory. If the page is inside the directory, the manifest records it.
pub fn write_page(
    workspace: &mut Workspace,
    config: &PageConfig,
    output: &Path,
    context: &Context<'_>,
) -> Result<PageStats> {
    outputs::check(output, Some((workspace, &[page::PAGE_FILE])), &[])?;
    pipeline::note_lost(workspace, context);
    let name = workspace.other_name(output);
    if let Some(name) = &name {
        workspace.forget_others(|other| other == name)?;
    }
    let stats = page::write(workspace, config, output, context)?;
    if let Some(name) = &name {
        let file = ResultFile::new(name, (stats.bytes, stats.checksum));
        workspace.name_others(vec![file])?;
    }
    Ok(stats)
}

/// Writes the page of a comparison of two documents.
pub(crate) fn write_diff(
    workspace: &mut Workspace,
    both: &Both,
    passages: &Passages,
    context: Option<usize>,
    output: &Path,
) -> Result<()> {
    let name = workspace.other_name(output);
    if let Some(name) = &name {
        workspace.forget_others(|other| other == name)?;
    }
    let words = [both.a.words(workspace)?, both.b.words(workspace)?];
    let kind = &collection::config(&workspace.manifest).shingle.parse.tokens;
    let program = &workspace.manifest.program;
    let shown = (kind, context);
    let written = page::diff::write(both, words, passages, shown, (program, output))?;
    if let Some(name) = &name {
        workspace.name_others(vec![ResultFile::new(name, written)])?;
    }
    Ok(())
}

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
    let figures = super::comparison::figures(&comparison);
    let page = page::compare::page(&comparison, &config.methods, &figures);
    let mut files = compare::files(&comparison);
    files.extend(figures);
    files.push(TableFile {
        name: "compare.json",
        text,
    });
    for file in files {
        workspace.put_other(&format!("{of}{}", file.name), file.text.as_bytes())?;
    }
    workspace.put_other(&format!("{of}{COMPARE_PAGE}"), &page)?;
    Ok(comparison)
}

/// Runs the missing trials of a study, and writes its tables and figures to its directory.
pub fn write_study(
    workspace: &mut Workspace,
    config: &StudyConfig,
    context: &Context<'_>,
) -> Result<(Study, StudyCost)> {
    let (study, cost) = study::run(workspace, config, context)?;
    let shown = super::figures::files(&study)?;
    study::write(workspace, &study, &cost, &shown)?;
    Ok((study, cost))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::plan;
    use crate::index::IndexEntry;
    use crate::report::{GraphFormat, page::PAGE_FILE};
    use crate::workspace::StageRecord;
    use crate::{cluster, methods, outputs};

    /// `outputs` and `cluster` lie below the modules that give these names.
    #[test]
    fn every_name_in_an_output_directory_is_known_below() {
        let index = IndexEntry::DIRECTORY.unwrap_or_default();
        let split = page::SPLIT_DIRECTORY;
        for name in [
            study::DIRECTORY,
            plan::DIRECTORY,
            COMPARE_DIRECTORY,
            index,
            split,
        ] {
            assert!(outputs::DIRECTORIES.contains(&name), "{name}");
        }
        let files = [
            pipeline::SUMMARY_FILE,
            methods::SETS_FILE,
            methods::LEXICON_FILE,
            methods::SPEX_FILE,
        ];
        for name in files {
            assert!(outputs::FILES.contains(&name), "{name}");
        }
        let graphs = GraphFormat::ALL.map(GraphFormat::file_name);
        for name in graphs.into_iter().chain([PAGE_FILE]) {
            assert!(cluster::DERIVED_FILES.contains(&name), "{name}");
        }
    }
}
