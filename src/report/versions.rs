//! What changed between crawls: in a table of counts, in result tables and on a page.

use std::fmt::Write;
use std::path::PathBuf;

use super::page::PageConfig;
use super::page::versions::{Changes, about, kinds, numbers_of, write};
use super::terminal::Table;
use lookalike_base::Result;
use lookalike_base::progress::Context;
use lookalike_engine::{cluster, outputs};
use lookalike_store::disk::AtomicFile;
use lookalike_store::table;
use lookalike_store::workspace::Workspace;
use lookalike_tasks::versions::{COLUMNS, Version, VersionsConfig, VersionsSummary, versions};

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
    for file in files {
        outputs::check_outside("output", file, workspace)?;
        outputs::check_place("output", file)?;
        outputs::check_ending("output", file, &["html", "tsv", "parquet"])?;
        if file.extension().is_some_and(|ending| ending == "html") {
            pages.push(file);
        } else {
            let out = AtomicFile::create(file)?;
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
    for page in pages {
        write(workspace, &summary, &listed, (page, look), context)?;
    }
    Ok(summary)
}

/// The counts of each crawl, in at most `width` columns.
pub(crate) fn changes(summary: &VersionsSummary, width: usize) -> String {
    let kinds = kinds(summary);
    let mut table = Table::new(["crawl", "from"].into_iter().chain(kinds.iter().copied()));
    for crawl in &summary.crawls {
        let from = crawl.first.as_deref().and_then(|date| date.get(..10));
        let mut row = vec![crawl.name.clone(), from.unwrap_or("-").into()];
        row.extend(numbers_of(crawl, &kinds));
        table.row(row);
    }
    let mut out = String::new();
    table.print(width, &mut out).print(width, &mut out);
    let _ = writeln!(out, "\n{}", about(summary));
    out
}
