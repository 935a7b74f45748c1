//! `run`, `add`, `ingest`, `join`, `cluster` and `index`.

use std::path::{Path, PathBuf};

use crate::report::{answer, ledger, rejected_by_file, unread};
use clap::builder::ArgPredicate;
use lookalike_base::{Error, count, words};
use lookalike_engine::cluster::ResultFormat;
use lookalike_engine::collection::{self, CollectionConfig, Condition};
use lookalike_engine::pipeline::{self, AppliedPlan, JoinParameters, Summary, run_against};
use lookalike_methods::{self as methods, Spec};
use lookalike_store::Workspace;
use lookalike_tasks::plan::{self, run_with_plan};

use super::command::{Args, Command, Context, Out, Result};
use super::flags::{CollectionFlags, JoinFlags, ResultsFlag, WalkFlags};

/// Flags of a search. Another run in its directory keeps the parameters that they do not change.
const OF_SEARCH: [&str; 6] = ["threshold", "score", "sampling", "join", "pairs", "results"];

/// Options of `run`.
#[derive(Debug, Args)]
#[command(mut_args(|arg| match arg.get_id().as_str() {
    "inputs" => arg.required(false).required_unless_present("from"),
    // With --from, nobody reads the default.
    "output" => (arg.required(false).required_unless_present("from"))
        .default_value(".")
        .hide_default_value(true),
    id if OF_SEARCH.contains(&id) => arg.default_value_if("from", ArgPredicate::IsPresent, None),
    _ => arg,
}))]
pub struct RunOptions {
    #[command(flatten)]
    collection: CollectionFlags,
    /// Search the documents of DIR again, in place of INPUT and -o
    ///
    /// DIR is the output directory of an earlier `run`. Its documents are not read again, stages
    /// that the flags do not change are reused, and its results are replaced. Flags that are not
    /// given stay as they were: --threshold, --score, --join, --pairs, --results, --review (unless
    /// other flags leave it nothing to list), and --sampling or --precision, which take --verified,
    /// --candidates and --max-postings with them. --where may only name fields of the --where of the
    /// earlier run.
    ///
    /// Example: --from out --threshold 0.5
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["WalkFlags", "Reading", "ReadLimits", "ShingleFlags", "method", "against",
            "inputs", "output", "strict", "allow_empty", "skip_unreadable", "url_field", "keep_text",
            "exclude_text", "size_groups", "segment_size"],
        help_heading = None
    )]
    from: Option<PathBuf>,
    #[command(flatten)]
    join: JoinFlags,
    /// Find pairs by a published method (see `lookalike lab method`)
    ///
    /// The collection keeps its texts, and the results are written to DIR/methods/SPEC. --method
    /// NAME --help describes a method.
    ///
    /// Example: --method super-shingles:k=4
    #[arg(
        long,
        value_name = "SPEC",
        conflicts_with_all = ["threshold", "score", "sampling", "precision", "verified", "candidates", "join",
            "pairs", "review", "max_postings", "exclude_text"],
        help_heading = "Pairs", hide_short_help = true
    )]
    method: Option<Spec>,
    /// Compare the inputs with the collection in OLD, which is only read
    ///
    /// OLD is the output directory of a run with the same parameters. Lists pairs of a new document
    /// and one of OLD, and with --pairs all also pairs of new ones. The result files are about the
    /// new documents. If OLD has an index (`lookalike stage index`), only the new documents cost
    /// time; otherwise DIR gets an index.
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
    end: ResultFlags,
}

/// The flags of a command that makes results.
#[derive(Debug, Args)]
#[allow(missing_docs, reason = "the text would be help")]
pub struct ResultFlags {
    #[command(flatten)]
    pub results: ResultsFlag,
    #[command(flatten)]
    pub verbose: Verbose,
}

/// Options of `ingest`.
#[derive(Debug, Args)]
pub struct IngestOptions {
    #[command(flatten)]
    collection: CollectionFlags,
    #[command(flatten)]
    verbose: Verbose,
}

/// Options of `join`.
#[derive(Debug, Args)]
#[command(mut_args(|arg| match OF_SEARCH.contains(&arg.get_id().as_str()) {
    true => arg.default_value(None::<&str>),
    false => arg,
}))]
pub struct JoinOptions {
    /// Output directory of an earlier `run` or `stage ingest`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    join: JoinFlags,
    #[command(flatten)]
    end: ResultFlags,
}

/// Options of `cluster`.
#[derive(Debug, Args)]
pub struct ClusterOptions {
    /// Output directory of an earlier `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Also copy the result files to an object store
    #[arg(long, value_name = "ADDRESS", help_heading = None)]
    publish: Option<PathBuf>,
    #[command(flatten)]
    end: ResultFlags,
}

/// The stages of a deduplication, in order: a search, and then the choice and the copies.
pub(super) const DEDUP_STAGES: &[&str] =
    &words::<9>("ingest catalogue sample sort merge join cluster dedup write");

/// The stages of a run, in order.
const STAGES: &[&str] = DEDUP_STAGES.split_at(7).0;

impl Command for RunOptions {
    fn stages(&self) -> &'static [&'static str] {
        STAGES
    }

    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        if let Some(directory) = &self.from {
            let condition = self.collection.condition.clone();
            let of = (directory.as_path(), condition);
            return search(of, &self.join, &self.end, out, context);
        }
        if let Some(spec) = &self.method {
            return self.run_method(spec, out, context);
        }
        let flags = &self.collection;
        let config = flags.config(context)?;
        let (planning, mut parameters) =
            self.join.parameters(&config, JoinParameters::default())?;
        parameters.results = self.end.results.results.unwrap_or_default();
        Workspace::look_whether_free(&flags.output)?;
        if self.against.is_some() && planning.is_some() {
            return Err(Error::parameter("precision", "with --against")
                .because("--against is exact; leave --precision out"));
        }
        let inputs = &flags.choice().list(&flags.output)?;
        let (directory, strict) = (&flags.output, flags.strict);
        let before = pipeline::look(directory).ok();
        let before = before.and_then(|manifest| pipeline::parameters(&manifest));
        let (config, parameters) = (&config, &parameters);
        let summary = match (&planning, &self.against) {
            (Some(planning), _) => run_with_plan(
                inputs, directory, config, planning, parameters, strict, context,
            )?,
            (None, Some(old)) => {
                run_against(inputs, old, directory, config, parameters, strict, context)?
            }
            (None, None) => pipeline::run(inputs, directory, config, parameters, strict, context)?,
        };
        let before = before.map(|before| before.join.threshold);
        let now = parameters.join.threshold;
        if let Some(before) = before.filter(|&before| before != now && !out.setup.has_threshold) {
            let directory = directory.display();
            context.progress.note(&format!(
                "{directory} had the pairs from {before} on, and now has the pairs from {now} on. \
                 To find the others again, give --threshold {before}"
            ));
        }
        self.end
            .verbose
            .print((&summary, 0), directory, out, context)
    }
}

impl RunOptions {
    /// Runs a published method on the collection.
    fn run_method(&self, spec: &Spec, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let (text, format) = (true, self.end.results.some()?);
        let config = self.collection.config(context)?;
        let workspace = ingested(
            &self.collection,
            &CollectionConfig { text, ..config },
            context,
        )?;
        let (mut made, mut summary) = methods::run(&workspace, spec, context)?;
        if format == ResultFormat::Parquet {
            summary = pipeline::tables(&mut made, context)?;
        }
        let verbose = self.end.verbose;
        verbose.print_of(&summary, &workspace, made.directory(), out)?;
        unread::warn(&workspace, 0, context)
    }
}

impl Command for IngestOptions {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let flags = &self.collection;
        let workspace = ingested(flags, &flags.config(context)?, context)?;
        let summary = Summary::of(&workspace.manifest);
        (self.verbose).print_of(&summary, &workspace, &flags.output, out)?;
        unread::warn(&workspace, 0, context)
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
    fn stages(&self) -> &'static [&'static str] {
        STAGES
    }

    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        search((&self.directory, None), &self.join, &self.end, out, context)
    }
}

/// Finds the pairs of an ingested collection.
fn search(
    (directory, condition): (&Path, Option<Condition>),
    join: &JoinFlags,
    end: &ResultFlags,
    out: &Out<'_>,
    context: &Context<'_>,
) -> Result<()> {
    let manifest = pipeline::look(directory)?;
    let before = pipeline::parameters(&manifest).unwrap_or_default();
    let config = collection::config(&manifest);
    let (format, review) = (before.results, before.join.review);
    let (planning, mut parameters) = join.parameters(config, before)?;
    parameters.results = end.results.results.unwrap_or(format);
    if let (Some(from), None, None) = (review, join.review, parameters.join.review) {
        let line = format!(
            "no more pairs to review from {from} on: they need a higher threshold and a full search"
        );
        context.progress.note(&line);
    }
    if let Some(AppliedPlan { plan, .. }) = &parameters.plan {
        let path = directory.join(plan::PLAN_FILE);
        plan.check(&path, config, parameters.join.threshold)?;
    }
    let mut workspace = pipeline::open_texts(directory)?;
    pipeline::change_condition(&mut workspace, condition, context)?;
    if let Some(planning) = &planning {
        parameters.plan = Some(plan::for_collection(&mut workspace, planning, context)?);
    }
    let summary = pipeline::search_again(&mut workspace, &parameters, context)?;
    (end.verbose).print_of(&summary, &workspace, directory, out)
}

impl Command for ClusterOptions {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let format = self.end.results.some()?;
        let mut workspace = pipeline::open(&self.directory)?;
        let summary = pipeline::results(&mut workspace, format, context)?;
        if let Some(address) = &self.publish {
            pipeline::publish(&workspace, address, context)?;
        }
        (self.end.verbose).print_of(&summary, &workspace, &self.directory, out)
    }
}

/// Options of `add`.
#[derive(Debug, Args)]
pub struct AddOptions {
    /// Output directory of an earlier `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Files and directories to add
    ///
    /// They are read with the parameters of the collection. Inputs that the collection has already
    /// are left out.
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Fail if any record was rejected
    ///
    /// The command ends after reading and writes rejects.jsonl. Records of earlier inputs also
    /// count.
    #[arg(long)]
    strict: bool,
    /// Leave out inputs that cannot be opened
    #[arg(long, hide_short_help = true)]
    skip_unreadable: bool,
    /// Format of the result files: tsv, parquet as well, or none
    ///
    /// The default is the format that the directory has, or tsv.
    ///
    /// The result files list all documents, so writing them costs more than adding one document to
    /// a large collection. With none, they are removed and not written; `lookalike stage cluster DIR`
    /// writes them after the last addition, without another search.
    ///
    /// Example: --results none
    #[arg(long, value_name = "FORMAT", hide_short_help = true)]
    results: Option<ResultFormat>,
    #[command(flatten)]
    walk: WalkFlags,
    #[command(flatten)]
    verbose: Verbose,
}

impl Command for AddOptions {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let (directory, selection) = (&self.directory, self.walk.selection());
        let inputs = pipeline::selected_inputs(&self.inputs, &selection, directory)?;
        if !self.skip_unreadable {
            inputs.check_readable()?;
        }
        let summary = pipeline::add(directory, &inputs, self.strict, self.results, context)?;
        let first = pipeline::first_added(&pipeline::look(directory)?);
        self.verbose
            .print((&summary, first), directory, out, context)
    }
}

/// Options of `index`.
#[derive(Debug, Args)]
pub struct IndexOptions {
    /// Output directory of an earlier `run`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Index the features of METHOD instead of shingles, for `query --method`
    ///
    /// Example: --method i-match
    #[arg(long, value_name = "METHOD", help_heading = "Pairs")]
    method: Option<Spec>,
}

impl Command for IndexOptions {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let mut base = pipeline::open_texts(&self.directory)?;
        pipeline::catalogued(&mut base, context)?;
        let stats = match &self.method {
            Some(spec) => {
                pipeline::index(&mut methods::keys(&base, spec, context)?, None, context)?
            }
            None => pipeline::index(&mut base, None, context)?,
        };
        out.result(&stats, || {
            Ok(format!(
                "index: {} fingerprints in {} lists, {} bytes\n",
                count(stats.entries),
                count(stats.lists),
                count(stats.bytes)
            ))
        })
    }
}

/// Whether the ledger is printed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Verbose {
    /// Also print the ledger: all counts, and the cost of each stage
    ///
    /// `lookalike status DIR` prints it later, and explains its words.
    ///
    /// Example: --verbose
    #[arg(short, long, conflicts_with = "quiet", help_heading = None)]
    verbose: bool,
}

impl Verbose {
    /// Prints the answer of a directory that is not open, and warns about its inputs from the `first`
    /// one on.
    pub(super) fn print(
        self,
        (summary, first): (&Summary, u32),
        directory: &Path,
        out: &Out<'_>,
        context: &Context<'_>,
    ) -> Result<()> {
        out.result(summary, || {
            let workspace = pipeline::open_shared(directory, context)?;
            self.text_of(summary, &workspace, directory)
        })?;
        unread::warn_in(directory, (summary, first), context)
    }

    /// Prints the answer of a collection whose results are in a directory.
    pub fn print_of(
        self,
        summary: &Summary,
        collection: &Workspace,
        results: &Path,
        out: &Out<'_>,
    ) -> Result<()> {
        out.result(summary, || self.text_of(summary, collection, results))
    }

    fn text_of(self, summary: &Summary, collection: &Workspace, results: &Path) -> Result<String> {
        let answer = answer(summary, collection, results)?;
        self.text(answer, || ledger(summary), collection)
    }

    /// An answer, and the ledger below it if it is printed.
    pub(super) fn text(
        self,
        answer: String,
        ledger: impl FnOnce() -> String,
        collection: &Workspace,
    ) -> Result<String> {
        if !self.verbose {
            return Ok(answer);
        }
        let rejected = rejected_by_file(collection)?;
        Ok(format!("{answer}\n{}{rejected}", ledger()))
    }
}
