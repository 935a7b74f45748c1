//! `run`, `ingest`, `join` and `cluster`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

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

use super::context::{Host, with_context};
use super::flags::{CollectionFlags, JoinFlags, Limits, Output, ResultsFlag};

/// Options of `run`.
#[derive(Debug, Args)]
pub struct RunOptions {
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
    /// parameters. The cost is that of the new documents, if OLD has an index (`lookalike index`);
    /// otherwise DIR gets one.
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
    #[command(flatten)]
    output: Output,
}

/// Options of `ingest`.
#[derive(Debug, Args)]
pub struct IngestOptions {
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    output: Output,
}

/// Options of `join`.
#[derive(Debug, Args)]
pub struct JoinOptions {
    /// Output directory of an earlier `ingest` or `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    join: JoinFlags,
    #[command(flatten)]
    results: ResultsFlag,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    output: Output,
}

/// Options of `cluster`.
#[derive(Debug, Args)]
pub struct ClusterOptions {
    /// Output directory of an earlier `join` or `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    results: ResultsFlag,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    output: Output,
}

pub fn run(options: &RunOptions, host: &dyn Host) -> Result<ExitCode> {
    if let Some(spec) = &options.method {
        return run_method(options, spec, host);
    }
    let flags = &options.collection;
    let config = flags.config()?;
    let (planning, parameters) = options.join.parameters(&config)?;
    with_context(
        host,
        &options.limits.resources(options.output.quiet()),
        |context| {
            Workspace::look_whether_free(&flags.output)?;
            if options.against.is_some() && planning.is_some() {
                return Err(Error::parameter("precision", "with --against")
                    .because("--against is exact; leave --precision out"));
            }
            let inputs = flags.list()?;
            let (out, strict) = (&flags.output, flags.strict);
            let summary = match &planning {
                None if options.against.is_some() => {
                    let old = options.against.as_deref().unwrap_or(Path::new(""));
                    let from = (&inputs, old);
                    pipeline::run_against(from, out, &config, &parameters, strict, context)?
                }
                None => pipeline::run(&inputs, out, &config, &parameters, strict, context)?,
                Some(planning) => plan::run_with_plan(
                    (&inputs, out),
                    &config,
                    (planning, &parameters),
                    strict,
                    context,
                )?,
            };
            let summary = options.results.complete_in(out, summary, context)?;
            let rejected = rejected(&summary, out, context)?;
            print(&summary, (out, &rejected), &options.output, host)
        },
    )
}

/// Reads the inputs into a collection with texts, and finds its pairs by a method.
fn run_method(options: &RunOptions, spec: &Spec, host: &dyn Host) -> Result<ExitCode> {
    let flags = &options.collection;
    let config = CollectionConfig {
        text: true,
        ..flags.config()?
    };
    with_context(
        host,
        &options.limits.resources(options.output.quiet()),
        |context| {
            Workspace::look_whether_free(&flags.output)?;
            let inputs = flags.list()?;
            let mut workspace =
                pipeline::ingest(&inputs, &flags.output, &config, flags.strict, context)?;
            workspace.commit(&[])?;
            let (mut made, summary) = methods::run(&workspace, spec, context)?;
            let summary = options.results.complete(&mut made, summary, context)?;
            let rejected = rejected_files(&workspace)?;
            let printed = (made.directory(), rejected.as_str());
            print(&summary, printed, &options.output, host)
        },
    )
}

pub fn ingest(options: &IngestOptions, host: &dyn Host) -> Result<ExitCode> {
    let flags = &options.collection;
    let config = flags.config()?;
    with_context(
        host,
        &options.limits.resources(options.output.quiet()),
        |context| {
            Workspace::look_whether_free(&flags.output)?;
            let inputs = flags.list()?;
            let mut workspace =
                pipeline::ingest(&inputs, &flags.output, &config, flags.strict, context)?;
            workspace.commit(&[])?;
            let summary = Summary::of(&workspace.manifest);
            let rejected = rejected_files(&workspace)?;
            let printed = (flags.output.as_path(), rejected.as_str());
            print(&summary, printed, &options.output, host)
        },
    )
}

pub fn join(options: &JoinOptions, host: &dyn Host) -> Result<ExitCode> {
    let manifest = pipeline::look(&options.directory)?;
    let collection = collection::config(&manifest);
    let (planning, mut parameters) = options.join.parameters(collection)?;
    with_context(
        host,
        &options.limits.resources(options.output.quiet()),
        |context| {
            let mut workspace = pipeline::open(&options.directory)?;
            if let Some(planning) = &planning {
                parameters.plan = Some(plan::for_collection(&mut workspace, planning, context)?);
            }
            pipeline::join(&mut workspace, &parameters, context)?;
            // The results of the pairs that were there are gone, so make those of the new pairs.
            let summary = pipeline::cluster(&mut workspace, context)?;
            let summary = options.results.complete(&mut workspace, summary, context)?;
            print(&summary, (&options.directory, ""), &options.output, host)
        },
    )
}

pub fn cluster(options: &ClusterOptions, host: &dyn Host) -> Result<ExitCode> {
    with_context(
        host,
        &options.limits.resources(options.output.quiet()),
        |context| {
            let mut workspace = pipeline::open(&options.directory)?;
            let summary = pipeline::cluster(&mut workspace, context)?;
            let summary = options.results.complete(&mut workspace, summary, context)?;
            print(&summary, (&options.directory, ""), &options.output, host)
        },
    )
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
    (out, rejected): (&Path, &str),
    output: &Output,
    host: &dyn Host,
) -> Result<ExitCode> {
    if output.json() {
        host.say(&super::json(summary)?)?;
    } else if !output.quiet() {
        let place = out.display();
        host.say(&format!(
            "{}{rejected}\nresults in {place}\n",
            ledger(summary)
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
