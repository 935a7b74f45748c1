//! `report`: write the HTML page of an output directory.

use std::path::{Path, PathBuf};

use crate::report;
use crate::report::page::{self, PAGE_FILE, PageConfig, SPLIT_DIRECTORY};
use lookalike_base::{path_word, refuse};
use lookalike_engine::join::PairsEntry;
use lookalike_engine::pipeline::{self, SUMMARY_FILE};
use lookalike_store::{disk, has_records, refuse_remote};
use lookalike_tasks::audit::{self, AuditConfig};
use lookalike_tasks::contamination::REPORT_FILE;
use lookalike_tasks::passages::{OVERLAPS_FILE, SPANS_FILE};

use super::command::{Args, Command, Context, Out, Result};
use super::flags::{AuditFlags, Programs};
use lookalike_engine::pipeline::open_for;

/// Options of `report`.
#[derive(Debug, Args)]
pub struct Options {
    /// Output directory of an earlier `run`, `dedup` or `passages`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// File to write the page to [default: DIR/report.html]
    ///
    /// For the output directory KEPT of `dedup`, the default is KEPT.report.html. FILE may be an
    /// address of an object store, and so may KEPT.
    ///
    /// If the file is in DIR, the command needs DIR for itself, because the manifest there names
    /// the page. Otherwise it only reads DIR: several commands can do so at the same time, even on
    /// a read-only medium.
    ///
    /// Example: --output page.html
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    shown: PageConfig,
    /// Write a folder of pages with all clusters, DIR/report/index.html
    ///
    /// The pages need no script. Each has the clusters of up to 5,000 documents; others list the
    /// documents by name, with links to their clusters.
    ///
    /// Example: --split
    #[arg(long, conflicts_with_all = ["output", "clusters"])]
    split: bool,
    #[command(flatten)]
    programs: Programs,
    #[command(flatten)]
    audit: AuditFlags,
}

impl Command for Options {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        if has_records(&self.directory)? {
            return self.audit(out, context);
        }
        refuse_remote(&self.directory)?;
        self.audit.refuse(true, || {
            let directory = self.directory.display();
            format!(
                "{directory} is not an output directory of `lookalike dedup`; leave the flag out"
            )
        })?;
        let is_there = |name| disk::exists(&self.directory.join(name));
        let looked = pipeline::look(&self.directory);
        if looked.is_err() && matches!(is_there(REPORT_FILE), Ok(true)) {
            let limit =
                "`contamination` wrote it, and keeps no texts in it: add --report to that command";
            return refuse("DIR", self.directory.display(), limit);
        }
        if !looked?.has::<PairsEntry>() && !is_there(SPANS_FILE)? {
            let found = disk::entries(&self.directory.join("methods")).into_iter();
            let found = found.flatten().flatten().map(|entry| entry.path());
            let found = found.filter(|of| disk::exists(&of.join(SUMMARY_FILE)).unwrap_or(false));
            if let Some(of) = found.min() {
                let of = path_word(&of);
                let limit = format!("a method found its pairs: `lookalike report {of}` shows them");
                return refuse("DIR", self.directory.display(), limit);
            }
        }
        if is_there(SPANS_FILE)? && !is_there(OVERLAPS_FILE)? && !is_there("pairs.tsv")? {
            let place = path_word(&self.directory);
            let limit = format!(
                "its search for passages listed no pairs; `lookalike passages {place}` lists them, and this \
                 command then shows them"
            );
            return refuse("DIR", self.directory.display(), limit);
        }
        let config = PageConfig {
            pairs: self.audit.samples.unwrap_or(PageConfig::default().pairs),
            directory: self.directory.to_str().map(String::from),
            ..self.shown.clone()
        };
        if self.split {
            let mut workspace = pipeline::open(&self.directory)?;
            page::write_split(&mut workspace, &config, context)?;
            let pages = self.directory.join(SPLIT_DIRECTORY);
            let first = pages.join("index.html");
            return out.note(|| Ok(format!("pages in {}\n", first.display())));
        }
        write_page(
            &self.directory,
            &config,
            self.output.as_deref(),
            out,
            context,
        )
    }
}

/// Writes the page of an output directory, below it if no place is given.
pub(super) fn write_page(
    directory: &Path,
    config: &PageConfig,
    output: Option<&Path>,
    out: &Out<'_>,
    context: &Context<'_>,
) -> Result<()> {
    let page = output.map_or_else(|| directory.join(PAGE_FILE), Path::to_path_buf);
    let config = PageConfig {
        directory: directory.to_str().map(String::from),
        ..config.clone()
    };
    let mut workspace = open_for(directory, &page, context)?;
    report::write_page(&mut workspace, &config, &page, context)?;
    out.note(|| Ok(format!("page in {}\n", page.display())))
}

impl Options {
    /// Writes the page of a deduplication.
    fn audit(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let kept = &self.directory;
        if self.split {
            let limit = "the page of a deduplication is one file; leave the flag out";
            return refuse("split", kept.display(), limit);
        }
        let (given, review) = (self.output.as_deref(), self.audit.review());
        let output = report::place_audit(kept, "output", given, review, &[])?;
        let workspace = audit::open_work(kept, context)?;
        let config = AuditConfig {
            seed: self.shown.seed,
            clusters: self.shown.clusters,
            ..AuditConfig::default()
        };
        let told = (self.audit).write(kept, &workspace, &output, config, &self.shown, context)?;
        out.note(|| Ok(told))
    }
}
