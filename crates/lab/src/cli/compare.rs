//! `compare`: run several methods and compare them.

use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use std::time::Duration;

use crate::compare::CompareConfig;
use crate::report;
use lookalike_engine::pipeline;
use lookalike_methods::{METHODS, Spec};

use lookalike::cli::command::{Args, Command, Context, Out, Result};
use lookalike_base::{Error, path_word};

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
    #[command(flatten)]
    config: CompareConfig,
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
    /// The parameters with all methods to compare. The ground truths come first.
    fn config(&self) -> Result<CompareConfig> {
        let mut config = self.config.clone();
        let (methods, truths) = (&mut config.methods, &mut config.truths);
        if methods.is_empty() {
            for entry in METHODS {
                methods.push(Spec::read(entry.name)?);
            }
        }
        if truths.is_empty() {
            for name in TRUTHS {
                truths.push(Spec::read(name)?);
            }
        }
        for more in truths.iter().chain(&config.baseline).rev() {
            let name = more.to_string();
            if methods.iter().all(|method| method.to_string() != name) {
                methods.insert(0, more.clone());
            }
        }
        Ok(config)
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
    let what = format!("lookalike lab method {spec} {}", path_word(directory));
    let help = "see its message above; repeat the same command to continue";
    Err(Error::other(format!("`{what}` failed: {status}"), help))
}
