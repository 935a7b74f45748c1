//! `run`, `ingest`, `join` and `cluster`.

use std::path::Path;
use std::process::ExitCode;

use lookalike::budget::{Budget, Disk};
use lookalike::collection::{self, CollectionConfig};
use lookalike::experiments::plan::{self, PlanConfig, Subset, Target};
use lookalike::join::JoinConfig;
use lookalike::methods::{self, Spec};
use lookalike::parse::ParseConfig;
use lookalike::pipeline::{self, AppliedPlan, JoinParameters, Summary};
use lookalike::progress::{Context, Stop};
use lookalike::read::ReadConfig;
use lookalike::report::ledger;
use lookalike::sample::Sampling;
use lookalike::shingle::ShingleConfig;
use lookalike::store::disk;
use lookalike::workspace::Workspace;
use lookalike::{Error, Result, limits};

use super::args::{
    ClusterOptions, IngestOptions, InputOptions, JoinOptions, MeansOptions, QuestionOptions,
    RunOptions, SamplingChoice,
};
use super::progress::Terminal;
use super::signals;

pub fn run(options: &RunOptions) -> Result<ExitCode> {
    if let Some(spec) = &options.method {
        return run_method(options, spec);
    }
    let config = collection(&options.input)?;
    let (planning, parameters) = parameters(&options.question, &config)?;
    with_context(&options.means, |context| {
        Workspace::look_whether_free(&options.input.output)?;
        let inputs = pipeline::inputs(&options.input.inputs, &options.input.output)?;
        let (out, strict) = (&options.input.output, options.input.strict);
        let summary = match &planning {
            None => pipeline::run(&inputs, out, &config, &parameters, strict, context)?,
            Some(planning) => plan::run_with_plan(
                (&inputs, out),
                &config,
                (planning, &parameters),
                strict,
                context,
            )?,
        };
        print(&summary, out, &options.means)
    })
}

/// Reads the inputs into a collection with texts, and has a method find its pairs.
fn run_method(options: &RunOptions, spec: &Spec) -> Result<ExitCode> {
    let config = CollectionConfig {
        text: true,
        ..collection(&options.input)?
    };
    with_context(&options.means, |context| {
        Workspace::look_whether_free(&options.input.output)?;
        let inputs = pipeline::inputs(&options.input.inputs, &options.input.output)?;
        let (out, strict) = (&options.input.output, options.input.strict);
        let mut workspace = pipeline::ingest(&inputs, out, &config, strict, context)?;
        workspace.commit(&[])?;
        let (made, summary) = methods::run(&workspace, spec, context)?;
        print(&summary, made.directory(), &options.means)
    })
}

pub fn ingest(options: &IngestOptions) -> Result<ExitCode> {
    let config = collection(&options.input)?;
    with_context(&options.means, |context| {
        Workspace::look_whether_free(&options.input.output)?;
        let inputs = pipeline::inputs(&options.input.inputs, &options.input.output)?;
        let (out, strict) = (&options.input.output, options.input.strict);
        let mut workspace = pipeline::ingest(&inputs, out, &config, strict, context)?;
        workspace.commit(&[])?;
        print(&Summary::of(&workspace.manifest), out, &options.means)
    })
}

pub fn join(options: &JoinOptions) -> Result<ExitCode> {
    let manifest = pipeline::look(&options.directory)?;
    let (planning, mut parameters) = parameters(&options.question, collection::config(&manifest))?;
    with_context(&options.means, |context| {
        let mut workspace = pipeline::open(&options.directory)?;
        if let Some(planning) = &planning {
            parameters.plan = Some(plan::for_collection(&mut workspace, planning, context)?);
        }
        pipeline::join(&mut workspace, &parameters, context)?;
        workspace.commit(&[])?;
        print(
            &Summary::of(&workspace.manifest),
            &options.directory,
            &options.means,
        )
    })
}

pub fn cluster(options: &ClusterOptions) -> Result<ExitCode> {
    with_context(&options.means, |context| {
        let mut workspace = pipeline::open(&options.directory)?;
        let summary = pipeline::cluster(&mut workspace, context)?;
        print(&summary, &options.directory, &options.means)
    })
}

fn collection(options: &InputOptions) -> Result<CollectionConfig> {
    let read = ReadConfig {
        format: options.format,
        text_field: options.text_field.clone(),
        id_field: options.id_field.clone(),
        url_field: options.url_field.clone(),
        max_document: options.max_document,
        max_ratio: options.max_ratio,
    };
    let shingle = ShingleConfig {
        parse: ParseConfig {
            tokens: options.tokens.clone(),
            detector: options.detect_charset,
        },
        shingle_size: options.shingle_size,
        short: options.short,
        fingerprint: options.fingerprint,
        seed: options.seed,
    };
    let config = CollectionConfig {
        read,
        shingle,
        size_groups: options.size_groups.clone(),
        segment_size: options.segment_size,
        text: options.keep_text,
    };
    config.check()?;
    Ok(config)
}

/// The parameters of the join, and how its plan is to be made if one is.
fn parameters(
    options: &QuestionOptions,
    collection: &CollectionConfig,
) -> Result<(Option<PlanConfig>, JoinParameters)> {
    let (sampling, planning, plan) = match (&options.sampling, options.precision) {
        (_, Some(precision)) => {
            let target = Target {
                threshold: options.threshold,
                precision,
                recall: options.recall,
            };
            let config = PlanConfig {
                target,
                ratios: options.ratios.0.clone(),
                subset: Some(Subset {
                    share: options.subset.0,
                    seed: options.plan_seed,
                }),
            };
            (Sampling::Full, Some(config), None)
        }
        (SamplingChoice::As(sampling), None) => (sampling.clone(), None, None),
        (SamplingChoice::Plan(path), None) => {
            let plan = plan::read(path)?;
            plan.check(path, collection, options.threshold)?;
            let applied = AppliedPlan { plan, given: true };
            (applied.plan.sampling(), None, Some(applied))
        }
    };
    let max_postings = options.max_postings.or(sampling.max_postings());
    let candidates = match (options.verified, options.candidates) {
        (true, candidates) => Some(candidates.unwrap_or(options.threshold)),
        (false, None) => None,
        (false, Some(candidates)) => {
            return Err(Error::BadParameter {
                name: "candidates",
                given: candidates.to_string(),
                limit: "it belongs to --verified".into(),
            });
        }
    };
    let join = options.join;
    let parameters = JoinParameters {
        sampling,
        plan,
        join: JoinConfig {
            join,
            threshold: options.threshold,
            measure: options.score,
            max_postings,
            pairs: options.pairs,
            candidates,
        },
        spill: options.spill,
        fan_in: options.fan_in,
    };
    parameters.check(&collection.size_groups, planning.is_some())?;
    Ok((planning, parameters))
}

/// Sets up signals, progress and budget around a call of the library.
pub(super) fn with_context(
    means: &MeansOptions,
    call: impl FnOnce(&Context<'_>) -> Result<ExitCode>,
) -> Result<ExitCode> {
    let stop = Stop::default();
    let terminal = Terminal::new(means.quiet);
    signals::watch(&stop);
    let threads = means.threads.unwrap_or_else(|| {
        std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
    });
    let memory = means
        .memory
        .unwrap_or_else(|| limits::default_memory(threads));
    let space = if means.ignore_disk_space {
        Disk::Unchecked
    } else {
        Disk::Available
    };
    let budget = Budget {
        memory,
        threads,
        disk: space,
    };
    budget.check()?;
    limits::check(&budget)?;
    if let Some(scratch) = &means.scratch
        && !disk::is_directory(scratch)?
    {
        return Err(Error::BadParameter {
            name: "scratch",
            given: scratch.display().to_string(),
            limit: "give a directory that is there".into(),
        });
    }
    call(&Context {
        budget,
        stop: &stop,
        progress: &terminal,
        scratch: means.scratch.as_deref(),
    })
}

pub(super) fn print(summary: &Summary, out: &Path, means: &MeansOptions) -> Result<ExitCode> {
    if means.json {
        super::say(&super::json(summary)?)?;
    } else if !means.quiet {
        super::say(&format!(
            "{}\nresults in {}\n",
            ledger(summary),
            out.display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
