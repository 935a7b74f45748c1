//! `run`, `ingest`, `join` and `cluster`.

use std::path::{Path, PathBuf};

use crate::base::progress::Context;
use crate::engine::collection::{self, CollectionConfig};
use crate::engine::methods::{self, Spec};
use crate::engine::pipeline;
use crate::engine::pipeline::Summary;
use crate::lab::plan;
use crate::report::{ledger, rejected_files};
use crate::store::workspace::Workspace;
use crate::{Error, Result};
use clap::Args;

use super::command::{Command, Out, Setup};
use super::flags::{CollectionFlags, JoinFlags, Limits, ResultsFlag};
use super::unread;

/// Options of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    join: JoinFlags,
    /// Find pairs by a published method (see `lookalike method`)
    ///
    /// The collection keeps its texts (--keep-text), and the results are written to
    /// DIR/methods/SPEC. `lookalike method` lists the methods, and --method NAME --help describes
    /// one.
    ///
    /// Example: --method super-shingles:k=4
    #[arg(
        long,
        value_name = "SPEC",
        conflicts_with_all = ["threshold", "score", "sampling", "precision", "verified", "candidates", "join",
            "pairs", "max_postings"],
        help_heading = "Pairs"
    )]
    method: Option<Spec>,
    /// Compare the inputs with the collection in OLD, which is only read
    ///
    /// Lists pairs of a new document and one of OLD, and with --pairs all also pairs of new ones.
    /// documents.tsv and rejects.jsonl are about the new documents, and clusters.jsonl has the
    /// clusters with new ones. OLD is the output directory of a `run` or `ingest` with the same
    /// parameters. If OLD has an index (`lookalike index`), only the new documents cost time;
    /// otherwise DIR gets an index.
    ///
    /// Example: --against out
    #[arg(
        long,
        value_name = "OLD",
        conflicts_with = "method",
        help_heading = "Pairs"
    )]
    against: Option<PathBuf>,
    #[command(flatten)]
    results: ResultsFlag,
    #[command(flatten)]
    limits: Limits,
}

/// Options of `ingest`.
#[derive(Debug, Args)]
pub(crate) struct IngestOptions {
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    limits: Limits,
}

/// Options of `join`.
#[derive(Debug, Args)]
pub(crate) struct JoinOptions {
    /// Output directory of an earlier `ingest` or `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    join: JoinFlags,
    #[command(flatten)]
    results: ResultsFlag,
    #[command(flatten)]
    limits: Limits,
}

/// Options of `cluster`.
#[derive(Debug, Args)]
pub(crate) struct ClusterOptions {
    /// Output directory of an earlier `join` or `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    results: ResultsFlag,
    #[command(flatten)]
    limits: Limits,
}

impl Command for RunOptions {
    fn setup(&self) -> Setup {
        self.limits.setup()
    }

    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        if let Some(spec) = &self.method {
            return self.run_method(spec, out, context);
        }
        let flags = &self.collection;
        let config = flags.config()?;
        let (planning, parameters) = self.join.parameters(&config)?;
        Workspace::look_whether_free(&flags.output)?;
        if self.against.is_some() && planning.is_some() {
            return Err(Error::parameter("precision", "with --against")
                .because("--against is exact; leave --precision out"));
        }
        let inputs = flags.choice().list(&flags.output)?;
        let (directory, strict) = (&flags.output, flags.strict);
        let summary = match (&planning, &self.against) {
            (Some(planning), _) => plan::run_with_plan(
                (&inputs, directory),
                &config,
                (planning, &parameters),
                strict,
                context,
            )?,
            (None, Some(old)) => {
                let from = (&inputs, old.as_path());
                pipeline::run_against(from, directory, &config, &parameters, strict, context)?
            }
            (None, None) => {
                pipeline::run(&inputs, directory, &config, &parameters, strict, context)?
            }
        };
        let summary = self.results.complete_in(directory, summary, context)?;
        print(
            &summary,
            (directory, &rejected(&summary, directory, context)?),
            out,
        )?;
        unread::warn_in(directory, &summary, context)
    }
}

impl RunOptions {
    /// Runs a published method on the collection.
    fn run_method(&self, spec: &Spec, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let text = true;
        let config = self.collection.config()?;
        let workspace = ingested(
            &self.collection,
            &CollectionConfig { text, ..config },
            context,
        )?;
        let (mut made, summary) = methods::run(&workspace, spec, context)?;
        let summary = self.results.complete(&mut made, summary, context)?;
        print(
            &summary,
            (made.directory(), &rejected_files(&workspace)?),
            out,
        )?;
        unread::warn(&workspace, context)
    }
}

impl Command for IngestOptions {
    fn setup(&self) -> Setup {
        self.limits.setup()
    }

    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let flags = &self.collection;
        let workspace = ingested(flags, &flags.config()?, context)?;
        let summary = Summary::of(&workspace.manifest);
        print(&summary, (&flags.output, &rejected_files(&workspace)?), out)?;
        unread::warn(&workspace, context)
    }
}

/// Reads the inputs into a collection.
fn ingested(
    flags: &CollectionFlags,
    config: &CollectionConfig,
    context: &Context<'_>,
) -> Result<Workspace> {
    Workspace::look_whether_free(&flags.output)?;
    let inputs = flags.choice().list(&flags.output)?;
    let mut workspace = pipeline::ingest(&inputs, &flags.output, config, flags.strict, context)?;
    workspace.commit(&[])?;
    Ok(workspace)
}

impl Command for JoinOptions {
    fn setup(&self) -> Setup {
        self.limits.setup()
    }

    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let manifest = pipeline::look(&self.directory)?;
        let collection = collection::config(&manifest);
        let (planning, mut parameters) = self.join.parameters(collection)?;
        let mut workspace = pipeline::open(&self.directory)?;
        if let Some(planning) = &planning {
            parameters.plan = Some(plan::for_collection(&mut workspace, planning, context)?);
        }
        pipeline::join(&mut workspace, &parameters, context)?;
        // The results of the earlier pairs are gone, so make the results of the new pairs.
        let summary = pipeline::cluster(&mut workspace, context)?;
        let summary = self.results.complete(&mut workspace, summary, context)?;
        print(&summary, (&self.directory, ""), out)
    }
}

impl Command for ClusterOptions {
    fn setup(&self) -> Setup {
        self.limits.setup()
    }

    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let mut workspace = pipeline::open(&self.directory)?;
        let summary = pipeline::cluster(&mut workspace, context)?;
        let summary = self.results.complete(&mut workspace, summary, context)?;
        print(&summary, (&self.directory, ""), out)
    }
}

/// The rejected records of a finished directory by file, if there are any.
pub(super) fn rejected(summary: &Summary, out: &Path, context: &Context<'_>) -> Result<String> {
    match summary.ingest.rejected.is_empty() {
        true => Ok(String::new()),
        false => rejected_files(&pipeline::open_shared(out, context)?),
    }
}

/// Prints the ledger of an output directory, and its rejected records by file.
pub(super) fn print(
    summary: &Summary,
    (directory, rejected): (&Path, &str),
    out: &Out<'_>,
) -> Result<()> {
    out.result(summary, || {
        let (ledger, place) = (ledger(summary), directory.display());
        Ok(format!("{ledger}{rejected}\nresults in {place}\n"))
    })
}
