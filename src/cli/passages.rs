//! `passages`: find the text that documents share.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::numbers::{count, percent};
use crate::passages::{
    self, Align, COVERAGE_FILE, Of, PassagesConfig, REMOVABLE_FILE, RemovalSummary, SPANS_FILE,
    Stats, Unit, UnitsConfig,
};
use crate::progress::Context;
use crate::store::disk;
use crate::workspace::{MANIFEST_FILE, Workspace};
use crate::{Error, Result, dedup, pipeline};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

use super::context::{Host, with_context};
use super::flags::{CollectionFlags, Limits, Output, RemovalFlags, UnitFlags};

/// Options of `passages`.
#[derive(Debug, Args)]
#[command(mut_args(|arg| match arg.get_id().as_str() {
    "inputs" => arg
        .value_name("DIR|INPUT")
        .help("A directory of `ingest` or `run`, or files and directories")
        .long_help(
            "A directory of `ingest` or `run`, or files and directories\n\n\
             DIR alone: its inputs are read again, and the result files are written to it. INPUT: \
             its documents are read into the directory that --output names.",
        ),
    // An empty path stands for none.
    "output" => arg
        .required(false)
        .value_parser(OsStringValueParser::new().map(PathBuf::from))
        .default_value("")
        .hide_default_value(true),
    "keep_text" | "shingle_size" | "short" | "fingerprint" | "seed" | "size_groups" => {
        arg.hide(true)
    }
    _ => arg,
}))]
pub struct Options {
    #[command(flatten)]
    collection: CollectionFlags,
    /// Least length of a passage, in tokens (1 to 500)
    ///
    /// Shorter passages are more, and more of them are chance. 50 is common for training data of
    /// language models, 13 for contamination.
    ///
    /// Example: --length 13
    #[arg(
        long,
        value_name = "K",
        default_value_t = PassagesConfig::default().length,
        help_heading = "Passages"
    )]
    length: u32,
    /// Compare all documents, or representatives
    ///
    /// representatives leaves out exact duplicates of earlier documents.
    ///
    /// Example: --of representatives
    #[arg(long, value_name = "WHICH", default_value_t = Of::All, help_heading = "Passages")]
    of: Of,
    #[command(flatten)]
    units: UnitFlags,
    #[command(flatten)]
    removal: RemovalFlags,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    output: Output,
}

/// The directory of a collection that the arguments name in place of inputs.
fn directory<'o>(flags: &'o CollectionFlags, removal: &RemovalFlags) -> Result<Option<&'o Path>> {
    let [only] = flags.inputs.as_slice() else {
        return Ok(None);
    };
    let is_ours = disk::is_directory(only)? && disk::exists(&only.join(MANIFEST_FILE))?;
    let given = !flags.output.as_os_str().is_empty();
    if let (true, Some(work)) = (is_ours, &removal.work) {
        return Err(Error::BadParameter {
            name: "work",
            given: work.display().to_string(),
            limit: format!(
                "{} is an output directory, in which the command works; leave --work out",
                only.display()
            ),
        });
    }
    match (is_ours, given && !removal.remove) {
        (true, true) => Err(Error::BadParameter {
            name: "output",
            given: flags.output.display().to_string(),
            limit: format!(
                "{} is an output directory, which gets the result files; leave --output out",
                only.display()
            ),
        }),
        (true, false) => Ok(Some(only)),
        (false, _) => Ok(None),
    }
}

/// Makes or opens the collection. `copies` are the directories for what stays and for what goes.
fn collection(
    options: &Options,
    directory: Option<&Path>,
    copies: Option<(&Path, Option<&Path>)>,
    context: &Context<'_>,
) -> Result<Workspace> {
    let flags = &options.collection;
    if let Some(directory) = directory {
        let mut workspace = pipeline::open(directory)?;
        pipeline::catalogued(&mut workspace, context)?;
        if let Some(outputs) = copies {
            passages::check_removal(&workspace, outputs, context)?;
        }
        return Ok(workspace);
    }
    let work = match (copies, &options.removal.work) {
        (None, _) => flags.output.clone(),
        (Some(_), Some(work)) => work.clone(),
        (Some((kept, _)), None) => dedup::work_directory(kept),
    };
    if let Some(outputs) = copies {
        passages::check_before_removal(&flags.inputs, &work, outputs)?;
    }
    Workspace::look_whether_free(&work)?;
    let config = flags.config()?;
    let inputs = flags.list_for(&work)?;
    if copies.is_some() {
        passages::check_removal_inputs(&inputs, &config.read, context)?;
    }
    pipeline::ingest(&inputs, &work, &config, flags.strict, context)
}

pub fn run(options: &Options, host: &dyn Host) -> Result<ExitCode> {
    let flags = &options.collection;
    let config = PassagesConfig {
        length: options.length,
        of: options.of,
    };
    config.check()?;
    let units = options.units.config(options.of);
    units.as_ref().map_or(Ok(()), UnitsConfig::check)?;
    let removal = &options.removal;
    let directory = directory(flags, removal)?;
    let missing = match (directory, removal.remove) {
        (_, true) => Some("the directory for the copies; give -o KEPT"),
        (None, false) => Some("the directory for the documents and the result files; give -o DIR"),
        (Some(_), false) => None,
    };
    if let (Some(limit), true) = (missing, flags.output.as_os_str().is_empty()) {
        return Err(Error::BadParameter {
            name: "output",
            given: "none".into(),
            limit: limit.into(),
        });
    }
    let kept = flags.output.as_path();
    let copies = removal.remove.then_some((kept, removal.removed.as_deref()));
    let resources = options.limits.resources(options.output.quiet());
    with_context(host, &resources, |context| {
        let mut workspace = collection(options, directory, copies, context)?;
        let found = match &units {
            Some(units) => passages::run_units(&mut workspace, units, context)?,
            None => passages::run(&mut workspace, &config, context)?,
        };
        let removed = match copies {
            Some(copies) => {
                let how = removal.config(match units.as_ref().map(|units| units.unit) {
                    None => Align::Token,
                    Some(Unit::Line) => Align::Line,
                    Some(Unit::Paragraph) => Align::Paragraph,
                });
                let sought = (&config, &units);
                Some(passages::remove(
                    &workspace, &sought, &how, copies, context,
                )?)
            }
            None => None,
        };
        let out: PathBuf = workspace.directory().into();
        if options.output.json() {
            let printed = Printed {
                found: &found,
                removal: removed.as_ref(),
            };
            host.say(&super::json(&printed)?)?;
        } else if !options.output.quiet() {
            let title = match &units {
                Some(units) => format!("repeated {}s", units.unit),
                None => format!("passages of at least {} tokens", config.length),
            };
            let mut text = table(&found, &title, &out);
            if let (Some(removed), Some(copies)) = (&removed, copies) {
                text += &removal_table(removed, &found, copies);
            }
            host.say(&text)?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// What `--json` prints.
#[derive(serde::Serialize)]
struct Printed<'s> {
    #[serde(flatten)]
    found: &'s Stats,
    #[serde(skip_serializing_if = "Option::is_none")]
    removal: Option<&'s RemovalSummary>,
}

/// What was removed, as text for people.
fn removal_table(
    summary: &RemovalSummary,
    found: &Stats,
    (kept, removed): (&Path, Option<&Path>),
) -> String {
    let mut text = String::new();
    let lines = [
        (
            "documents that lose text",
            summary.changed,
            Some(share(summary.changed, summary.documents)),
        ),
        (
            "  all of it",
            summary.emptied,
            Some(share(summary.emptied, summary.documents)),
        ),
        ("documents left out", summary.dropped, None),
        ("ranges removed", summary.ranges, None),
        (
            "  tokens",
            summary.removed_tokens,
            Some(share(summary.removed_tokens, found.tokens)),
        ),
        (
            "  bytes of text",
            summary.removed_bytes,
            Some(share(summary.removed_bytes, found.bytes)),
        ),
        ("files", summary.files, None),
        ("  that lose nothing", summary.whole_files, None),
    ];
    let _ = writeln!(text);
    for (name, number, share) in lines {
        let share = share.map_or_else(String::new, |share| format!("  {share}"));
        let _ = writeln!(text, "{name:<28}{:>14}{share}", count(number));
    }
    let (wall, cpu) = (summary.cost.wall_seconds, summary.cost.cpu_seconds);
    let _ = writeln!(text, "{:<28}{wall:>14.1}", "seconds");
    let _ = writeln!(text, "{:<28}{cpu:>14.1}", "CPU seconds");
    let _ = writeln!(text, "copies in {}", kept.display());
    if let Some(removed) = removed {
        let _ = writeln!(text, "removed text in {}", removed.display());
    }
    text
}

fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => "-".into(),
        _ => percent(part as f64 / whole as f64, 1),
    }
}

/// The findings as text for people.
fn table(stats: &Stats, title: &str, out: &Path) -> String {
    let mut text = String::new();
    let lines = [
        ("documents", stats.documents, None),
        (
            "  with a repeated passage",
            stats.repeating,
            Some(share(stats.repeating, stats.documents)),
        ),
        ("tokens", stats.tokens, None),
        (
            "  repeated",
            stats.repeated_tokens,
            Some(share(stats.repeated_tokens, stats.tokens)),
        ),
        (
            "  removable",
            stats.removable_tokens,
            Some(share(stats.removable_tokens, stats.tokens)),
        ),
        ("spans", stats.spans, None),
        ("longest span, in tokens", stats.longest, None),
    ];
    let _ = writeln!(text, "{title}");
    for (name, number, share) in lines {
        let share = share.map_or_else(String::new, |share| format!("  {share}"));
        let _ = writeln!(text, "{name:<28}{:>14}{share}", count(number));
    }
    let (wall, cpu) = (stats.cost.wall_seconds, stats.cost.cpu_seconds);
    let _ = writeln!(text, "{:<28}{wall:>14.1}", "seconds");
    let _ = writeln!(text, "{:<28}{cpu:>14.1}", "CPU seconds");
    let _ = writeln!(
        text,
        "results in {}: {SPANS_FILE}, {REMOVABLE_FILE}, {COVERAGE_FILE}",
        out.display()
    );
    text
}
