//! `run`, `ingest`, `join` and `cluster`.

use std::path::Path;
use std::process::ExitCode;

use lookalike::budget::{Budget, ByteSize, Disk};
use lookalike::collection::CollectionConfig;
use lookalike::evaluate::plan::{self, PlanConfig, Subset, Target};
use lookalike::join::JoinConfig;
use lookalike::limits;
use lookalike::manifest::Workspace;
use lookalike::methods::{self, Spec};
use lookalike::parse::ParseConfig;
use lookalike::pipeline::{self, Planning, Question};
use lookalike::progress::{Context, Stop};
use lookalike::read::ReadConfig;
use lookalike::report::{Summary, ledger};
use lookalike::sample::Sampling;
use lookalike::shingle::ShingleConfig;
use lookalike::store::disk;
use lookalike::{Error, Result};

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
    let question = question(&options.question, &config)?;
    with_context(&options.means, |context| {
        Workspace::look_whether_free(&options.input.output)?;
        let inputs = pipeline::inputs(&options.input.inputs, &options.input.output)?;
        let (out, strict) = (&options.input.output, options.input.strict);
        let summary = pipeline::run(&inputs, out, &config, &question, strict, context)?;
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
    let manifest = Workspace::look(&options.directory)?;
    let question = question(&options.question, &manifest.collection)?;
    with_context(&options.means, |context| {
        let mut workspace = Workspace::open(&options.directory)?;
        pipeline::join(&mut workspace, &question, context)?;
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
        let mut workspace = Workspace::open(&options.directory)?;
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
    shingle.check()?;
    if options.segment_size < ByteSize(1 << 10) {
        return Err(Error::BadParameter {
            name: "segment-size",
            given: options.segment_size.to_string(),
            limit: "at least 1KiB".into(),
        });
    }
    Ok(CollectionConfig {
        read,
        shingle,
        size_groups: options.size_groups.clone(),
        segment_size: options.segment_size,
        text: options.keep_text,
    })
}

fn question(options: &QuestionOptions, collection: &CollectionConfig) -> Result<Question> {
    if options.max_postings.is_some_and(|most| most < 2) {
        return Err(Error::BadParameter {
            name: "max-postings",
            given: options.max_postings.unwrap_or(0).to_string(),
            limit: "at least 2: a pair needs two documents".into(),
        });
    }
    if options.fan_in.is_some_and(|runs| runs < 2) {
        return Err(Error::BadParameter {
            name: "fan-in",
            given: options.fan_in.unwrap_or(0).to_string(),
            limit: "at least 2".into(),
        });
    }
    let (sampling, plan) = match (&options.sampling, options.precision) {
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
            config.check()?;
            (Sampling::Full, Some(Planning::Make(config)))
        }
        (SamplingChoice::As(sampling), None) => (sampling.clone(), None),
        (SamplingChoice::Plan(path), None) => {
            let plan = plan::read(path)?;
            plan.check(path, collection, options.threshold)?;
            (plan.sampling(), Some(Planning::Given(Box::new(plan))))
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
    if candidates.is_some() && sampling == Sampling::Full && plan.is_none() {
        return Err(Error::BadParameter {
            name: "verified",
            given: "with --sampling full".into(),
            limit: "what is not sampled is exact".into(),
        });
    }
    let join = options.join;
    let question = Question {
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
    question.join.check()?;
    Ok(question)
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
    if threads == 0 || threads > 1024 {
        return Err(Error::BadParameter {
            name: "threads",
            given: threads.to_string(),
            limit: "1 to 1024".into(),
        });
    }
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
