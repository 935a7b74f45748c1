//! `compare`: methods side by side.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use lookalike::experiments::compare::{self, CompareConfig};
use lookalike::methods::{METHODS, Spec};
use lookalike::progress::Context;
use lookalike::{Error, Result, pipeline, report};

use super::args::CompareOptions;
use super::run::with_context;

/// Methods that are held to be true where nothing is said.
const TRUTHS: [&str; 2] = ["shingles", "cosine"];
/// How often it is looked whether a method is done, or a stop asked for.
const LOOK: Duration = Duration::from_millis(20);

pub fn run(options: &CompareOptions) -> Result<ExitCode> {
    let mut methods = options.methods.clone();
    if methods.is_empty() {
        for entry in METHODS {
            methods.push(Spec::read(entry.name)?);
        }
    }
    let mut truths = options.truth.clone();
    if truths.is_empty() {
        let there = |name: &&str| METHODS.iter().any(|entry| entry.name == *name);
        for name in TRUTHS.iter().filter(|name| there(name)) {
            truths.push(Spec::read(name)?);
        }
    }
    for truth in truths.iter().rev() {
        if methods
            .iter()
            .all(|method| method.to_string() != truth.to_string())
        {
            methods.insert(0, truth.clone());
        }
    }
    with_context(&options.means, |context| {
        {
            // What every method needs is made once, and refused once.
            let mut base = pipeline::open(&options.directory)?;
            pipeline::catalogued(&mut base, context)?;
        }
        let count = methods.len();
        for (n, spec) in methods.iter().enumerate() {
            let line = format!("{spec} ({} of {count})", n + 1);
            context.progress.note(&line);
            alone(spec, &options.directory, context)?;
        }
        let config = CompareConfig {
            methods: methods.clone(),
            truths: truths.clone(),
            edits: options.edits.clone(),
            cost: options.cost,
        };
        let mut base = pipeline::open(&options.directory)?;
        let comparison = report::write_comparison(&mut base, &config, context)?;
        if options.means.json {
            super::say(&super::json(&comparison)?)?;
        } else if !options.means.quiet {
            super::say(&format!(
                "{}\ntables in {}\n",
                compare::table(&comparison),
                options.directory.join(report::COMPARE_DIRECTORY).display()
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Runs a method in a process of its own, so that its peak of memory is its own too. It ends with this one, even
/// if this one is killed.
fn alone(spec: &Spec, directory: &Path, context: &Context<'_>) -> Result<()> {
    let program = std::env::current_exe().map_err(Error::io("find", Path::new("this program")))?;
    let budget = &context.budget;
    let mut child = Command::new(&program)
        .arg("method")
        .arg(spec.to_string())
        .arg(directory)
        .args(["--quiet", "--memory", &budget.memory.0.to_string()])
        .args(["--threads", &budget.threads.to_string()])
        .arg("--with-parent")
        .args(
            context
                .scratch
                .iter()
                .flat_map(|place| [Path::new("--scratch"), place]),
        )
        .stdin(Stdio::piped())
        .spawn()
        .map_err(Error::io("start", &program))?;
    let status = loop {
        let looked = child.try_wait().map_err(Error::io("wait for", &program))?;
        if let Some(status) = looked {
            break status;
        }
        if context.stop.requested() {
            // What it has committed stays; the same command goes on from there.
            let _ = child.kill();
            let _ = child.wait();
            return Err(Error::Interrupted { stage: "compare" });
        }
        std::thread::sleep(LOOK);
    };
    if status.success() {
        return Ok(());
    }
    if context.stop.requested() {
        return Err(Error::Interrupted { stage: "compare" });
    }
    // It has said why.
    Err(Error::Failed {
        what: format!("lookalike method {spec} {}", directory.display()),
        status: status.to_string(),
    })
}
