//! `compare`: run several methods and compare them.

use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use std::time::Duration;

use crate::compare::{COST, CompareConfig, QueryConfig, Sample};
use crate::report;
use lookalike_engine::pipeline;
use lookalike_methods::{METHODS, Spec};

use lookalike::cli::command::{Args, Command, Context, Out, Result};
use lookalike_base::Error;

/// Methods whose pairs are the ground truth by default.
const TRUTHS: [&str; 2] = ["shingles", "cosine"];
/// Interval between checks whether a method has ended or a stop was requested.
const LOOK: Duration = Duration::from_millis(20);

/// Options of `compare`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Output directory of `stage ingest --keep-text`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Method to run (repeatable): NAME[:PARAMETER=VALUE,...] [default: all]
    ///
    /// Parameters that are not given have the values of the method's paper.
    ///
    /// Example: --method super-shingles:k=4 --method minhash
    #[arg(long = "method", value_name = "SPEC")]
    methods: Vec<Spec>,
    /// Method whose pairs are the ground truth (repeatable)
    ///
    /// It is also run. The default is shingles and cosine.
    ///
    /// Example: --method minhash --truth shingles
    #[arg(long, value_name = "SPEC")]
    truth: Vec<Spec>,
    /// Edit list (edits.jsonl) of `lookalike lab perturb`
    ///
    /// For a collection of a corpus that `lookalike lab perturb` made. Adds tables of how many of the
    /// edited copies each method finds.
    #[arg(long, value_name = "FILE")]
    edits: Option<PathBuf>,
    /// Print means over queries: N documents, all, or a file of docnos
    ///
    /// The file has a docno on each line.
    ///
    /// A query is a document of the collection (Kolcz & Chowdhury 2008, equations 3 to 5). Recall and
    /// precision are means over the queries for which the ground truth finds another document,
    /// utility is one over all queries. The table also has the share of pure clusters: those in
    /// which all pairs found are true.
    ///
    /// Example: --method minhash --queries 100
    #[arg(long, value_name = "SAMPLE")]
    queries: Option<Sample>,
    /// Method that the increase of recall over queries is relative to
    ///
    /// It is also run.
    ///
    /// Example: --queries all --method minhash --baseline mod
    #[arg(long, value_name = "SPEC", requires = "queries")]
    baseline: Option<Spec>,
    /// A label for each document, such as "spam" or "legitimate"
    ///
    /// As for `lookalike evaluate --families`: lines of DOCNO LABEL. With labels, the utility of a
    /// query counts documents of its label, and a cost for each document of another label.
    #[arg(long, value_name = "FILE", requires = "queries")]
    labels: Option<PathBuf>,
    /// Seed of the random choice of queries
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        requires = "queries",
        hide_short_help = true
    )]
    query_seed: u64,
    /// Cost of a false pair in the utility, in true pairs
    ///
    /// Example: --method minhash --cost 10
    #[arg(long, value_name = "N", default_value_t = COST, hide_short_help = true)]
    cost: u64,
    /// Print a line for each method, with all its numbers, as CSV
    ///
    /// FORMAT.md describes the columns under "Comparisons".
    ///
    /// Example: --method minhash --csv
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

impl Command for Options {
    fn run(&self, out: &Out<'_>, context: &Context<'_>) -> Result<()> {
        let config = self.config()?;
        // Run the stages that every method needs once, so that their failure is reported once.
        pipeline::catalogued(&mut pipeline::open_texts(&self.directory)?, context)?;
        let count = config.methods.len();
        for (n, spec) in config.methods.iter().enumerate() {
            let line = format!("{spec} ({} of {count})", n + 1);
            context.progress.note(&line);
            alone(spec, &self.directory, context)?;
        }
        let mut base = pipeline::open_texts(&self.directory)?;
        let comparison = report::write_comparison(&mut base, &config, context)?;
        if self.csv {
            return out.answer(&(), || Ok(report::compared_csv(&comparison)));
        }
        out.result(&comparison, || {
            let place = self.directory.join(report::COMPARE_DIRECTORY);
            let page = place.join(report::COMPARE_PAGE);
            let table = report::compared(&comparison, out.columns());
            Ok(format!("{table}\npage in {}\n", page.display()))
        })
    }
}

impl Options {
    /// The methods to compare: the ground truths come first.
    fn config(&self) -> Result<CompareConfig> {
        let mut methods = self.methods.clone();
        if methods.is_empty() {
            for entry in METHODS {
                methods.push(Spec::read(entry.name)?);
            }
        }
        let mut truths = self.truth.clone();
        if truths.is_empty() {
            let there = |name: &&str| METHODS.iter().any(|entry| entry.name == *name);
            for name in TRUTHS.iter().filter(|name| there(name)) {
                truths.push(Spec::read(name)?);
            }
        }
        for more in truths.iter().chain(&self.baseline).rev() {
            let name = more.to_string();
            if methods.iter().all(|method| method.to_string() != name) {
                methods.insert(0, more.clone());
            }
        }
        let queries = self.queries.clone().map(|sample| QueryConfig {
            sample,
            seed: self.query_seed,
            against: self.baseline.clone(),
            labels: self.labels.clone(),
        });
        Ok(CompareConfig {
            methods,
            truths,
            edits: self.edits.clone(),
            queries,
            cost: self.cost,
        })
    }
}

/// Runs a method in a separate process, so that its peak memory is measured separately. That
/// process ends when this one ends, even if this one is killed.
fn alone(spec: &Spec, directory: &Path, context: &Context<'_>) -> Result<()> {
    let program = std::env::current_exe().map_err(Error::io("find", Path::new("this program")))?;
    let budget = &context.budget;
    let mut child = process::Command::new(&program)
        .arg("method")
        .arg(spec.to_string())
        .arg(directory)
        .args(["--quiet", "--memory", &budget.memory.0.to_string()])
        .args(["--threads", &budget.threads.to_string()])
        .arg("--with-parent")
        .stdin(Stdio::piped())
        .spawn()
        .map_err(Error::io("start", &program))?;
    let status = loop {
        let looked = child.try_wait().map_err(Error::io("wait for", &program))?;
        if let Some(status) = looked {
            break status;
        }
        if context.stop.requested() {
            // Committed files are kept, and the same command continues from them.
            let _ = child.kill();
        }
        std::thread::sleep(LOOK);
    };
    if status.success() {
        return Ok(());
    }
    if context.stop.requested() {
        return Err(Error::Interrupted { stage: "compare" });
    }
    // The method has printed its error.
    let what = format!("lookalike lab method {spec} {}", directory.display());
    let help = "see its message above; repeat the same command to continue";
    Err(Error::other(format!("`{what}` failed: {status}"), help))
}
