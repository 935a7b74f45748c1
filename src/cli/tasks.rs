//! `tasks`: a search as an array of jobs.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use lookalike_base::{counted, listed, path_word, refuse, shell_word};
use lookalike_engine::cluster::ResultFormat;
use lookalike_engine::pipeline::JoinParameters;
use lookalike_rewrite::output;
use lookalike_store::remote;
use lookalike_tasks::jobs::{self, Outcome, Plan, Planned};

use crate::report::unused;

use super::command::{Args, Command, Context, Out, Result};
use super::flags::{CollectionFlags, JoinFlags, Limits, Output, Programs, ResultsFlag, With};
use super::run::Verbose;

crate::commands! {
    Steps:
    /// Write the plan of a search to a directory or an object store
    ///
    /// It lists the inputs and says what to find. Nothing is read yet.
    #[command(mut_args(|arg| match arg.get_id().as_str() {
        "output" => arg
            .value_name("EXCHANGE")
            .help("Directory or address that all tasks share")
            .long_help(
                "Directory or address that all tasks share\n\n\
                 A directory that all machines see, or a prefix of a store (s3://BUCKET/KEY). It must be \
                 empty, or have the same plan. Tasks put their files there, and you remove it after \
                 `tasks finish`.",
            ),
        // Tasks do not support these flags, or handle them in their own way.
        "strict" | "skip_unreadable" | "exclude_text" | "condition" | "precision" | "recall" | "ratios" | "subset"
        | "plan_seed" | "verified" | "candidates" | "join" | "pairs" | "review" | "max_postings" | "spill"
        | "fan_in" | "memory" | "threads" | "ignore_disk_space" | "scratch" => arg.hide(true),
        _ => arg,
    }))]
    "lookalike tasks plan sample-corpora/trec-web --tasks 2 -o shared"
    Plan(With<PlanOptions, Limits>),
    /// Do one task of a plan
    ///
    /// A task that is done is not done again. A task that was stopped begins again.
    #[command(mut_arg("ignore_disk_space", |arg| arg.hide(true)))]
    "lookalike tasks run shared --task 0"
    Run(With<RunOptions, With<Programs, Limits>>),
    /// Say which tasks are done, and which can run
    "lookalike tasks status shared"
    Status(With<StatusOptions, Output>),
    /// Make the results of a plan whose tasks are done
    ///
    /// DIR becomes what `lookalike run` makes of the same inputs, without postings. After a plan
    /// with --pairs-only, DIR gets pairs.tsv, same-words.tsv and rejects.jsonl alone.
    "lookalike tasks finish shared -o out"
    Finish(With<FinishOptions, Limits>),
}

/// Options of `tasks plan`.
#[derive(Debug, Args)]
pub struct PlanOptions {
    #[command(flatten)]
    collection: CollectionFlags,
    /// Tasks of each of the 8 steps
    ///
    /// A task should have 50 MB to 2 GB of text.
    ///
    /// Example: --tasks 64
    #[arg(long, value_name = "N", help_heading = None)]
    tasks: u32,
    /// Find the pairs alone, of any number of documents
    ///
    /// Without it, `tasks finish` makes an output directory, which has at most 2^32 - 2 documents
    /// and takes about the space that `lookalike run` takes. With it, the rows of pairs.tsv are
    /// written as they are found, and same-words.tsv names the documents that have the words of an
    /// earlier one.
    #[arg(long, help_heading = None)]
    pairs_only: bool,
    #[command(flatten)]
    join: JoinFlags,
}

/// Options of `tasks run`.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// Directory or address with a plan
    #[arg(value_name = "EXCHANGE")]
    exchange: PathBuf,
    /// Number of the task, from 0
    ///
    /// The tasks are numbered through, step by step: with N tasks in each step, the tasks of the
    /// first step are 0 to N - 1, the tasks of the second one N to 2 N - 1.
    ///
    /// Example: --task 17
    #[arg(long, value_name = "I", help_heading = None)]
    task: u64,
    /// Wait up to this number of seconds for the tasks of earlier steps
    ///
    /// Without it, a task that lacks them fails at once.
    ///
    /// Example: --wait 3600
    #[arg(long, value_name = "SECONDS", default_value_t = 0, help_heading = None)]
    wait: u64,
}

/// Options of `tasks status`.
#[derive(Debug, Args)]
pub struct StatusOptions {
    /// Directory or address with a plan
    #[arg(value_name = "EXCHANGE")]
    exchange: PathBuf,
}

/// Options of `tasks finish`.
#[derive(Debug, Args)]
pub struct FinishOptions {
    /// Directory or address with a plan whose tasks are done
    #[arg(value_name = "EXCHANGE")]
    exchange: PathBuf,
    /// Output directory; after a plan with --pairs-only also an address
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    #[command(flatten)]
    results: ResultsFlag,
}

/// The object that `tasks plan --json` prints.
#[derive(Serialize)]
struct PlanPrinted {
    tasks: u64,
    tasks_of_step: u32,
    steps: Vec<&'static str>,
}

impl Command for PlanOptions {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let flags = &self.collection;
        if flags.strict {
            let limit = "no task knows what others reject; look at rejects.jsonl at the end";
            return refuse("strict", "with tasks", limit);
        }
        let config = flags.config(context)?;
        let (planning, parameters) = self.join.parameters(&config, JoinParameters::default())?;
        if planning.is_some() {
            let limit = "give the ratios themselves with --sampling";
            return refuse("precision", "with tasks", limit);
        }
        let choice = flags.choice();
        for input in &choice.paths {
            output::check_outside("output", &flags.output, input)?;
        }
        let inputs = choice.list(&flags.output)?;
        let planned = Planned {
            inputs: &inputs,
            collection: &config,
            parameters: &parameters,
            tasks: self.tasks,
            pairs_only: self.pairs_only,
        };
        let plan = Plan::make(&planned, &flags.output)?;
        let printed = PlanPrinted {
            tasks: plan.all_tasks(),
            tasks_of_step: plan.tasks(),
            steps: jobs::Step::ALL.map(jobs::Step::text).to_vec(),
        };
        out.result(&printed, || {
            let exchange = path_word(&flags.output);
            let programs = &config.read.convert;
            let programs = listed("", programs, |program| format!(" {}", program.flag()));
            // The command line of a task names the exchange, and no other place.
            let addresses = choice.paths.iter().filter(|path| remote::is_address(path));
            let mut hosts: BTreeSet<PathBuf> = addresses.map(|path| remote::host(path)).collect();
            hosts.remove(&remote::host(&flags.output));
            let hosts = listed(",", &hosts, |host| host.to_string_lossy().into_owned());
            let allow = match hosts.is_empty() {
                true => String::new(),
                false => format!("export LOOKALIKE_ALLOW_STORE={}\n      ", shell_word(&hosts)),
            };
            Ok(format!(
                "{}\n\nNext: {allow}for i in $(seq 0 {}); do lookalike tasks run {exchange} --task $i{programs} || \
                 break; done\n      lookalike tasks finish {exchange} -o {}\n",
                jobs::summary(&plan)?,
                plan.all_tasks() - 1,
                path_word(&unused("out")),
            ))
        })
    }
}

impl Command for RunOptions {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let plan = Plan::read(&self.exchange)?;
        let ran = jobs::run(&plan, self.task, Duration::from_secs(self.wait), context)?;
        out.result(&ran, || {
            Ok(match ran.outcome {
                Outcome::Already => format!("task {} ({}) was done before\n", ran.task, ran.step),
                Outcome::Done => format!("task {} ({}) is done\n", ran.task, ran.step),
            })
        })
    }
}

impl Command for StatusOptions {
    fn run(&self, out: &Out<'_>, _: &Context<'_>) -> Result<()> {
        let states = Plan::read(&self.exchange)?.state()?;
        out.answer(&states, || {
            let mut lines = vec![format!(
                "{:<14}{:<14}{:>6}  missing",
                "step", "tasks", "done"
            )];
            for state in &states {
                let tasks = format!("{}-{}", state.first, state.last);
                let missing = match (state.missing.is_empty(), state.ready) {
                    (true, _) => String::new(),
                    (_, true) => jobs::ranges(&state.missing),
                    (_, false) => "it needs the steps before".into(),
                };
                let line = format!("{:<14}{tasks:<14}{:>6}  {missing}", state.step, state.done);
                lines.push(line.trim_end().into());
            }
            if states.iter().all(|state| state.missing.is_empty()) {
                let exchange = path_word(&self.exchange);
                let output = path_word(&unused("out"));
                lines.push(format!(
                    "\nNext: lookalike tasks finish {exchange} -o {output}"
                ));
            }
            Ok(lines.join("\n") + "\n")
        })
    }
}

impl Command for FinishOptions {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let format = self.results.some()?;
        let plan = Plan::read(&self.exchange)?;
        if plan.pairs_only() {
            if format != ResultFormat::Tsv {
                let limit = "the pairs of a plan with --pairs-only are lines";
                return refuse("results", format, limit);
            }
            let listed = jobs::pairs(&plan, &self.output, context)?;
            return out.result(&listed, || {
                Ok(format!(
                    "{}, {}, {}, {}\n",
                    counted(listed.documents, "document"),
                    counted(listed.pairs, "pair"),
                    counted(listed.exact_duplicates, "exact duplicate"),
                    counted(listed.rejects, "rejected record"),
                ))
            });
        }
        let summary = jobs::finish(&plan, &self.output, format, context)?;
        Verbose::default().print((&summary, 0), &self.output, out, context)
    }
}
