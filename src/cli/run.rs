//! `run`, `ingest`, `join` and `cluster`.

use std::path::Path;
use std::process::ExitCode;

use lookalike::budget::{Budget, ByteSize, Disk};
use lookalike::collection::CollectionConfig;
use lookalike::join::JoinConfig;
use lookalike::manifest::Workspace;
use lookalike::parse::ParseConfig;
use lookalike::pipeline::{self, Question};
use lookalike::progress::{Context, Stop};
use lookalike::read::ReadConfig;
use lookalike::report::{Summary, ledger};
use lookalike::shingle::ShingleConfig;
use lookalike::{Error, Result};

use super::args::{
    ClusterOptions, IngestOptions, InputOptions, JoinOptions, MeansOptions, QuestionOptions,
    RunOptions,
};
use super::progress::Terminal;

/// Bounds of the default of `--memory`.
const DEFAULT_MEMORY: (ByteSize, ByteSize) = (ByteSize::mib(256), ByteSize::mib(4096));

pub fn run(options: &RunOptions) -> Result<ExitCode> {
    let config = collection(&options.input)?;
    let question = question(&options.question)?;
    with_context(&options.means, |context| {
        let inputs = pipeline::inputs(&options.input.inputs, &options.input.output)?;
        let (out, strict) = (&options.input.output, options.input.strict);
        let summary = pipeline::run(&inputs, out, &config, &question, strict, context)?;
        print(&summary, out, &options.means)
    })
}

pub fn ingest(options: &IngestOptions) -> Result<ExitCode> {
    let config = collection(&options.input)?;
    with_context(&options.means, |context| {
        let inputs = pipeline::inputs(&options.input.inputs, &options.input.output)?;
        let (out, strict) = (&options.input.output, options.input.strict);
        let mut workspace = pipeline::ingest(&inputs, out, &config, strict, context)?;
        workspace.commit(&[])?;
        print(&Summary::of(&workspace.manifest), out, &options.means)
    })
}

pub fn join(options: &JoinOptions) -> Result<ExitCode> {
    let question = question(&options.question)?;
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
    })
}

fn question(options: &QuestionOptions) -> Result<Question> {
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
    let max_postings = options.max_postings.or(options.sampling.max_postings());
    let join = options.join;
    Ok(Question {
        sampling: options.sampling.clone(),
        join: JoinConfig {
            join,
            threshold: options.threshold,
            max_postings,
            pairs: options.pairs,
        },
        spill: options.spill,
        fan_in: options.fan_in,
    })
}

/// Sets up signals, progress and budget around a call of the library.
fn with_context(
    means: &MeansOptions,
    call: impl FnOnce(&Context<'_>) -> Result<ExitCode>,
) -> Result<ExitCode> {
    let stop = Stop::default();
    let terminal = Terminal::new(means.quiet);
    let (asked, quiet) = (stop.clone(), means.quiet);
    // Where no handler can be set a signal ends the process at once, which is safe too.
    let _ = ctrlc::set_handler(move || {
        if asked.requested() {
            std::process::exit(130);
        }
        asked.request();
        if !quiet {
            eprintln!("stopping at the next safe point; once more stops at once");
        }
    });
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
    let memory = means.memory.unwrap_or_else(default_memory);
    let disk = if means.ignore_disk_space {
        Disk::Unchecked
    } else {
        Disk::Available
    };
    let budget = Budget {
        memory,
        threads,
        disk,
    };
    call(&Context {
        budget,
        stop: &stop,
        progress: &terminal,
    })
}

/// A quarter of the memory that is available, within bounds.
fn default_memory() -> ByteSize {
    let (least, most) = DEFAULT_MEMORY;
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("MemAvailable:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.map_or(least, |kib| ByteSize(kib << 8))
        .clamp(least, most)
}

fn print(summary: &Summary, out: &Path, means: &MeansOptions) -> Result<ExitCode> {
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
