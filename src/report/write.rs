//! Writes pages into directories, and names them in the manifests there. Changes between crawls are
//! also written in tables.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::page::versions::{Changes, about, kinds, numbers_of};
use super::page::{self, PageConfig, PageStats};
use super::terminal::tabled;
use lookalike_base::{Context, Error, Result};
use lookalike_engine::outputs::{self, Home};
use lookalike_engine::{cluster, pipeline};
use lookalike_store::{Workspace, disk, remote, table, workspace};
use lookalike_tasks::audit::{self, AuditConfig, review};
use lookalike_tasks::dedup;
use lookalike_tasks::passages::shown::shows_passages;
use lookalike_tasks::versions::{COLUMNS, Version, VersionsConfig, VersionsSummary, versions};

/// Writes the page of a directory. If the page is inside the directory, the manifest records it.
pub fn write_page(
    workspace: &mut Workspace,
    config: &PageConfig,
    output: &Path,
    context: &Context<'_>,
) -> Result<PageStats> {
    let own = Home::Own(workspace, &[page::PAGE_FILE]);
    outputs::check("output", output, own, &[outputs::PAGE])?;
    pipeline::note_lost(workspace, context);
    workspace.write_file(output, |workspace| {
        let stats = match shows_passages(workspace)? {
            true => page::passages::write(workspace, config, output, context)?,
            false => page::write(workspace, config, output, context)?,
        };
        Ok(((stats.bytes, stats.checksum), stats))
    })
}

/// Audits the deduplication that wrote `kept`, and writes the page. With a review file, the page
/// has the verdicts in it; a file that does not exist is written first, for a person to fill in.
/// Returns whether it was.
///
/// # Errors
/// As [`lookalike_tasks::audit::audit()`] and [`review::read`]; `BadParameter` if a file would be
/// written in `kept` or over an input.
pub fn write_audit(
    kept: &Path,
    workspace: &Workspace,
    config: &AuditConfig,
    output: &Path,
    reviewed: Option<&Path>,
    look: &PageConfig,
    context: &Context<'_>,
) -> Result<bool> {
    check_audit(kept, "output", output, reviewed, &[])?;
    let collection = Home::Collection(workspace);
    outputs::check("output", output, collection, &[outputs::PAGE])?;
    let exists = reviewed.map(review::exists).transpose()?;
    if let (Some(review), Some(false)) = (reviewed, exists) {
        outputs::check("verdicts", review, collection, &[])?;
    }
    page::audit::check_memory(workspace, context)?;
    let audit = audit::audit(kept, workspace, config, context)?;
    let verdicts = match (reviewed, exists) {
        (Some(path), Some(true)) => Some(review::read(path, &audit)?),
        (Some(path), _) => {
            review::write(path, &audit, workspace, context)?;
            None
        }
        (None, _) => None,
    };
    page::audit::write(workspace, &audit, verdicts.as_ref(), look, output, context)?;
    Ok(exists == Some(false))
}

/// The place of the page of an audit: the place given by `parameter`, or a place beside the
/// directory of the kept records. Only a page is replaced. Refuses files that lie in that directory
/// or in one of `taken`, that are the same, or that cannot be created.
///
/// # Errors
/// `BadParameter`; `Io`.
pub fn place_audit(
    kept: &Path,
    parameter: &'static str,
    given: Option<&Path>,
    review: Option<&Path>,
    taken: &[&Path],
) -> Result<PathBuf> {
    let page = given.map_or_else(|| audit_page(kept), Path::to_path_buf);
    check_audit(kept, parameter, &page, review, taken)?;
    match given {
        None => outputs::check_unnamed(parameter, &page, &[outputs::PAGE])?,
        // A page that is written at once is also compared with the inputs ([`write_audit`]).
        Some(_) if taken.is_empty() => {}
        Some(_) => outputs::check_own(parameter, &page, &[outputs::PAGE])?,
    }
    Ok(page)
}

fn check_audit(
    kept: &Path,
    parameter: &'static str,
    output: &Path,
    review: Option<&Path>,
    taken: &[&Path],
) -> Result<()> {
    for (parameter, file) in [(parameter, Some(output)), ("verdicts", review)] {
        let Some(file) = file else { continue };
        dedup::check_outside_kept(parameter, file, kept)?;
        if parameter == "verdicts" && review::exists(file)? {
            continue; // It is only read.
        }
        for taken in taken {
            dedup::check_outside_taken(parameter, file, taken)?;
        }
        workspace::check_address(parameter, file)?;
        workspace::refuse_held(parameter, file)?;
        outputs::check_place(parameter, file)?;
    }
    if review.is_some_and(|review| review == output) {
        return Err(Error::parameter("verdicts", output.display())
            .because("the page is written to this file; give another one"));
    }
    Ok(())
}

/// The page of an audit if no file is given for it: beside the directory of the kept records, which
/// has the inputs' files and no others.
fn audit_page(kept: &Path) -> PathBuf {
    let kept: PathBuf = match kept.file_name() {
        _ if remote::is_address(kept) => remote::normal(kept),
        // The components leave out a slash at the end.
        Some(_) => kept.components().collect(),
        None => disk::canonical(kept).unwrap_or_else(|_| kept.into()),
    };
    let mut name = kept.into_os_string();
    name.push(".report.html");
    name.into()
}

/// Writes the versions to files, whose names decide the form: `.html` a page with at most `look.pairs`
/// pairs of texts, and any other a result table.
pub(crate) fn write_versions(
    workspace: &Workspace,
    config: &VersionsConfig,
    files: &[PathBuf],
    look: &PageConfig,
    context: &Context<'_>,
) -> Result<VersionsSummary> {
    let parameters = cluster::parameters(&workspace.manifest);
    let (mut pages, mut tables) = (Vec::new(), Vec::new());
    let collection = Home::Collection(workspace);
    for file in files {
        outputs::check("output", file, collection, &outputs::TABLES)?;
        outputs::check_ending("output", file, &["html", "tsv", "parquet"])?;
        if file.extension().is_some_and(|ending| ending == "html") {
            pages.push(file);
        } else {
            let out = disk::AtomicFile::create(file)?;
            tables.push(table::Table::new(file, out, &parameters, &COLUMNS)?);
        }
    }
    let mut listed = Changes::default();
    let take = |version: Version| {
        let mut tables = tables.iter_mut();
        tables.try_for_each(|table| table.row(&version.cells()))?;
        listed.add(version);
        Ok(())
    };
    let summary = versions(workspace, config, take, context)?;
    for table in tables {
        table.done()?;
    }
    for output in pages {
        page::versions::write(workspace, &summary, &listed, (output, look), context)?;
    }
    Ok(summary)
}

/// The counts of each crawl, in at most `width` columns.
pub(crate) fn changes(summary: &VersionsSummary, width: usize) -> String {
    let kinds = kinds(summary);
    let head = ["crawl", "from"].into_iter().chain(kinds.iter().copied());
    let rows = summary.crawls.iter().map(|crawl| {
        let from = crawl.first.as_deref().and_then(|date| date.get(..10));
        let mut row = vec![crawl.name.clone(), from.unwrap_or("-").into()];
        row.extend(numbers_of(crawl, &kinds));
        row
    });
    let mut out = String::new();
    tabled(head, rows, width, &mut out).print(width, &mut out);
    let _ = writeln!(out, "\n{}", about(summary));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{GraphFormat, page::PAGE_FILE};
    use lookalike_engine::cluster;
    use lookalike_engine::index::IndexEntry;
    use lookalike_engine::outputs;
    use lookalike_methods as methods;
    use lookalike_store::workspace::StageRecord;
    use lookalike_tasks::plan;

    /// `outputs` and `cluster` lie below the modules that give these names.
    #[test]
    fn every_name_in_an_output_directory_is_known_below() {
        let index = IndexEntry::DIRECTORY.unwrap_or_default();
        let split = page::SPLIT_DIRECTORY;
        for name in [plan::DIRECTORY, index, split] {
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
        for name in graphs.into_iter().chain([PAGE_FILE.into()]) {
            assert!(cluster::DERIVED_FILES.contains(&&*name), "{name}");
        }
    }
}
