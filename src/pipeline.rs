//! The stages one after the other, each skipped when what it makes is there.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::cluster;
use crate::collection::{self, CollectionConfig};
use crate::compare::{self, CompareConfig, Comparison};
use crate::evaluate::plan::{self, Plan, PlanConfig, Planned};
use crate::evaluate::study::{self, Study, StudyConfig, StudyCost};
use crate::ids::FingerprintKind;
use crate::join::{self, JoinConfig};
use crate::manifest::{Cost, ResultFile, Workspace};
use crate::merge;
use crate::preflight;
use crate::progress::Context;
use crate::read::{Inputs, Selection, lasting, list_selected};
use crate::report::page::{PageConfig, PageStats};
use crate::report::{self, GraphFormat, Summary};
use crate::sample::{self, Sampling};
use crate::sort;
use crate::store::disk;
use crate::{Error, Result};

/// When records go through sorted runs on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spill {
    /// When memory does not take them in a few passes over the sets ([`merge::direct`]).
    #[default]
    Auto,
    /// Always.
    Always,
}

impl std::fmt::Display for Spill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Spill::Auto => "auto",
            Spill::Always => "always",
        })
    }
}

impl std::str::FromStr for Spill {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "auto" => Ok(Spill::Auto),
            "always" => Ok(Spill::Always),
            _ => Err(format!("`{text}` is not when to spill; use auto or always")),
        }
    }
}

/// Where a sampling plan comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Planning {
    /// It is there.
    Given(Box<Plan>),
    /// It is made for the collection, unless the last one that was made is it.
    Make(PlanConfig),
}

/// Name of the file with the last plan made in an output directory.
pub const PLAN_FILE: &str = "plan.toml";

/// What is asked of a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Which fingerprints take part, unless a plan says so.
    pub sampling: Sampling,
    /// A plan that says which, or one that is to be made.
    pub plan: Option<Planning>,
    /// How pairs are found, and which.
    pub join: JoinConfig,
    /// When records go through runs on disk. Results are the same.
    pub spill: Spill,
    /// Runs merged at once at most, below what the budget allows: for tests and measurements.
    pub fan_in: Option<usize>,
}

/// Lists the inputs. The output directory may lie below one of them; its files are no inputs.
pub fn inputs(arguments: &[PathBuf], out: &Path) -> Result<Inputs> {
    selected_inputs(arguments, &Selection::default(), out)
}

/// The same, of the files that `selection` takes of named directories.
pub fn selected_inputs(arguments: &[PathBuf], selection: &Selection, out: &Path) -> Result<Inputs> {
    let mut inputs = list_selected(arguments, selection)?;
    let real = match disk::canonical(out) {
        Ok(real) => real,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(inputs),
        Err(e) => return Err(e).map_err(Error::io("inspect", out)),
    };
    let mut failed = None;
    inputs
        .files
        .retain(|input| match disk::canonical(&input.path) {
            Ok(path) => !path.starts_with(&real),
            Err(e) if !lasting(&e) => {
                failed.get_or_insert_with(|| Error::io("inspect", &input.path)(e));
                true
            }
            Err(_) => true,
        });
    failed.map_or(Ok(inputs), Err)
}

/// Runs a stage and books its cost.
fn stage<T>(
    workspace: &mut Workspace,
    name: &'static str,
    context: &Context<'_>,
    run: impl FnOnce(&mut Workspace) -> Result<T>,
) -> Result<T> {
    let (wall, cpu) = (Instant::now(), report::cpu_seconds());
    let result = run(workspace);
    let wall_seconds = wall.elapsed().as_secs_f64();
    let cost = workspace
        .manifest
        .costs
        .entry(name.to_string())
        .or_default();
    let ran = wall_seconds >= 0.01 || cost.wall_seconds == 0.0;
    if ran {
        cost.wall_seconds += wall_seconds;
        cost.cpu_seconds += report::cpu_seconds() - cpu;
        cost.peak_bytes = cost.peak_bytes.max(report::peak_bytes());
    }
    let Cost { wall_seconds, .. } = *cost;
    match &result {
        Ok(_) => context
            .progress
            .end(&format!("{name}: {}", report::stage_line(workspace, name))),
        Err(_) => context
            .progress
            .end(&format!("{name}: stopped after {wall_seconds:.1} s")),
    }
    result
}

/// Reads the inputs into the collection of `out`, or goes on reading.
pub fn ingest(
    inputs: &Inputs,
    out: &Path,
    config: &CollectionConfig,
    strict: bool,
    context: &Context<'_>,
) -> Result<Workspace> {
    ingest_for(inputs, out, config, None, strict, context)
}

/// The same, as the beginning of the whole job if there is a question.
fn ingest_for(
    inputs: &Inputs,
    out: &Path,
    config: &CollectionConfig,
    question: Option<&Question>,
    strict: bool,
    context: &Context<'_>,
) -> Result<Workspace> {
    preflight::before_ingest(inputs, out, config, question, context)?;
    let mut workspace = Workspace::open_or_create(out, config, inputs)?;
    let piped = inputs.iter().any(|input| input.path == Path::new("-"));
    if piped && workspace.manifest.ingested {
        return Err(Error::BadParameter {
            name: "INPUT",
            given: "-".into(),
            limit: format!(
                "standard input cannot be compared with what {} was made from; use `lookalike join \
                 {0}` to ask it something else, or a new directory",
                out.display()
            ),
        });
    }
    tell_lost(&mut workspace, context);
    let workspace_ = &mut workspace;
    if !workspace_.manifest.ingested {
        stage(workspace_, "ingest", context, |w| {
            match config.shingle.fingerprint {
                FingerprintKind::Xxh3 => collection::ingest::<u64>(w, inputs, context),
                FingerprintKind::Md5 => collection::ingest::<u128>(w, inputs, context),
            }
        })?;
    }
    if workspace_.manifest.catalogue.is_none() {
        stage(workspace_, "catalogue", context, |w| {
            collection::catalogue(w, context)
        })?;
    }
    if strict && let Some(error) = report::first_reject(&workspace)? {
        // What was rejected is to be read, although the run ends here.
        cluster::write_rejects(&workspace, &mut Default::default())?;
        return Err(error);
    }
    Ok(workspace)
}

/// Makes a sampling plan for a collection.
pub fn plan(
    workspace: &mut Workspace,
    config: &PlanConfig,
    context: &Context<'_>,
) -> Result<Planned> {
    catalogue(workspace, context)?;
    let planned = plan::run(workspace, config, context)?;
    let (share, seconds) = (planned.plan.share * 100.0, planned.cost.wall_seconds);
    let line = format!("plan: {share:.2} % of the shingles ({seconds:.1} s)");
    context.progress.end(&line);
    Ok(planned)
}

/// Finds out what sampling costs in precision and recall, and writes it to the directory's `study`.
pub fn study(
    workspace: &mut Workspace,
    config: &StudyConfig,
    context: &Context<'_>,
) -> Result<(Study, StudyCost)> {
    catalogue(workspace, context)?;
    study::run(workspace, config, context)
}

/// Writes a plan file.
pub fn write_plan(path: &Path, plan: &Plan) -> Result<()> {
    let mut file = disk::AtomicFile::create(path)?;
    file.put(plan::write(plan).as_bytes())?;
    file.finish()?;
    disk::sync_parent(path)
}

/// Writes the file of a plan that was made for a directory; one that lies in it is named in its manifest.
pub fn keep_plan(workspace: &mut Workspace, path: &Path, plan: &Plan) -> Result<()> {
    match workspace.other_name(path) {
        Some(name) => workspace.put_other(&name, plan::write(plan).as_bytes()),
        None => write_plan(path, plan),
    }
}

/// Writes the page of a directory; one that lies in it is named in its manifest.
pub fn report(
    workspace: &mut Workspace,
    config: &PageConfig,
    output: &Path,
    context: &Context<'_>,
) -> Result<PageStats> {
    tell_lost(workspace, context);
    let name = workspace.other_name(output);
    if let Some(name) = &name {
        workspace.forget_others(|other| other == name)?;
    }
    let stats = report::page::write(workspace, config, output, context)?;
    if let Some(name) = &name {
        let file = ResultFile::new(name, (stats.bytes, stats.checksum));
        workspace.name_others(vec![file])?;
    }
    Ok(stats)
}

/// Says which files were gone and are made again.
fn tell_lost(workspace: &mut Workspace, context: &Context<'_>) {
    for path in workspace.take_lost() {
        let line = format!(
            "{} is gone; it is made again where it is needed",
            path.display()
        );
        context.progress.note(&line);
    }
}

/// The sampling of a question; a plan that it asks for is made.
fn sampling(
    workspace: &mut Workspace,
    question: &Question,
    context: &Context<'_>,
) -> Result<Sampling> {
    let (made, plan) = match &question.plan {
        None => {
            workspace.manifest.costs.remove("plan");
            (false, None)
        }
        Some(Planning::Given(plan)) => {
            workspace.manifest.costs.remove("plan");
            (false, Some(Plan::clone(plan)))
        }
        Some(Planning::Make(config)) => {
            let given = workspace.manifest.plan_given;
            let last = workspace.manifest.plan.take();
            let last = last.filter(|plan| plan.config == *config && !given);
            let made = last.is_none();
            if made {
                workspace.manifest.costs.remove("plan");
                stage(workspace, "plan", context, |w| {
                    w.manifest.plan = Some(plan::run(w, config, context)?.plan);
                    Ok(())
                })?;
            }
            (made, last.or_else(|| workspace.manifest.plan.take()))
        }
    };
    let sampling = plan
        .as_ref()
        .map_or_else(|| question.sampling.clone(), Plan::sampling);
    let given = matches!(question.plan, Some(Planning::Given(_)));
    if !given && let Some(plan) = &plan {
        // Another one may have been written there since, or this one damaged.
        let text = plan::write(plan);
        let file = workspace.directory().join(PLAN_FILE);
        let same = workspace.is_whole(PLAN_FILE) && disk::read_all(&file)? == text.as_bytes();
        if !same {
            workspace.put_other(PLAN_FILE, text.as_bytes())?;
        }
    }
    workspace.manifest.plan = plan;
    workspace.manifest.plan_given = given;
    if made {
        workspace.commit(&[])?;
    }
    Ok(sampling)
}

/// Subdirectory of an output directory with the tables of a comparison.
pub const COMPARE_DIRECTORY: &str = "compare";

/// Name of the page of a comparison, in [`COMPARE_DIRECTORY`].
pub const COMPARE_PAGE: &str = "compare.html";

/// Compares methods that were run on a collection, and writes what was found to its directory.
pub fn compare(
    workspace: &mut Workspace,
    config: &CompareConfig,
    context: &Context<'_>,
) -> Result<Comparison> {
    catalogued(workspace, context)?;
    let comparison = compare::run(workspace, config, context)?;
    disk::create_lasting_directory(&workspace.directory().join(COMPARE_DIRECTORY))?;
    let json = serde_json::to_string_pretty(&comparison).map_err(|e| Error::Io {
        operation: "encode",
        path: COMPARE_DIRECTORY.into(),
        source: e.into(),
    })?;
    let of = format!("{COMPARE_DIRECTORY}/");
    workspace.forget_others(|name| name.starts_with(&of))?;
    let figures = compare::figures(&comparison)?;
    let page = report::page::compare::page(&comparison, &config.methods, &figures);
    let mut files = compare::files(&comparison);
    files.extend(figures);
    files.push(compare::TableFile {
        name: "compare.json",
        text: json + "\n",
    });
    for file in files {
        workspace.put_other(&format!("{of}{}", file.name), file.text.as_bytes())?;
    }
    workspace.put_other(&format!("{of}{COMPARE_PAGE}"), &page)?;
    Ok(comparison)
}

/// Makes the catalogue of a collection, if it is not there, and commits it.
pub fn catalogued(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    catalogue(workspace, context)?;
    workspace.commit(&[])
}

/// Makes the catalogue, if it is not there.
fn catalogue(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    tell_lost(workspace, context);
    if workspace.manifest.ingested && workspace.manifest.catalogue.is_none() {
        stage(workspace, "catalogue", context, |w| {
            collection::catalogue(w, context)
        })?;
    }
    Ok(())
}

/// Makes a collection's keys by a method, as `make` does it, and its catalogue, unless they are there.
pub fn keys(
    workspace: &mut Workspace,
    context: &Context<'_>,
    make: impl FnOnce(&mut Workspace) -> Result<()>,
) -> Result<()> {
    if !workspace.manifest.ingested {
        stage(workspace, "keys", context, make)?;
    }
    catalogue(workspace, context)
}

/// Makes the pair list of a collection.
pub fn join(workspace: &mut Workspace, question: &Question, context: &Context<'_>) -> Result<()> {
    catalogue(workspace, context)?;
    let sampling = sampling(workspace, question, context)?;
    match workspace.manifest.collection.shingle.fingerprint {
        FingerprintKind::Xxh3 => join_keys::<u64>(workspace, question, &sampling, context),
        FingerprintKind::Md5 => join_keys::<u128>(workspace, question, &sampling, context),
    }
}

/// The merge without runs, as [`stage`] wants it.
fn merge_direct<K: crate::ids::Key>(
    context: &Context<'_>,
) -> impl FnOnce(&mut Workspace) -> Result<bool> {
    move |workspace| merge::direct::run::<K>(workspace, context)
}

/// Makes the shared postings of all keys of a collection, unless they are there, and no pairs.
pub fn postings(workspace: &mut Workspace, context: &Context<'_>) -> Result<()> {
    catalogue(workspace, context)?;
    let (sampling, spill) = (&Sampling::Full, Spill::Auto);
    match workspace.manifest.collection.shingle.fingerprint {
        FingerprintKind::Xxh3 => merge_keys::<u64>(workspace, sampling, spill, None, context),
        FingerprintKind::Md5 => merge_keys::<u128>(workspace, sampling, spill, None, context),
    }
}

fn merge_keys<K: crate::ids::Key>(
    workspace: &mut Workspace,
    sampling: &Sampling,
    spill: Spill,
    fan_in: Option<usize>,
    context: &Context<'_>,
) -> Result<()> {
    let digest = workspace.sample_digest(sampling);
    if workspace
        .manifest
        .sample
        .as_ref()
        .is_none_or(|s| s.digest != digest)
    {
        for name in ["sample", "sort", "merge", "join", "cluster"] {
            workspace.manifest.costs.remove(name);
        }
        stage(workspace, "sample", context, |w| {
            sample::run::<K>(w, sampling, context)
        })?;
    }
    if workspace
        .manifest
        .postings
        .as_ref()
        .is_none_or(|p| !p.complete)
    {
        let direct = spill == Spill::Auto && merge::direct::wanted::<K>(workspace, &context.budget);
        if !direct
            && workspace
                .manifest
                .postings
                .as_ref()
                .is_some_and(|p| p.direct)
        {
            // Begun with more memory than there is now.
            merge::direct::discard(workspace)?;
        }
        preflight::before_sort::<K>(workspace, direct, fan_in, context)?;
        let made = direct && stage(workspace, "merge", context, merge_direct::<K>(context))?;
        if !made {
            stage(workspace, "sort", context, |w| {
                sort::form_runs::<K>(w, context)
            })?;
            stage(workspace, "merge", context, |w| {
                merge::run::<K>(w, fan_in, context)
            })?;
        }
    }
    Ok(())
}

fn join_keys<K: crate::ids::Key>(
    workspace: &mut Workspace,
    question: &Question,
    sampling: &Sampling,
    context: &Context<'_>,
) -> Result<()> {
    let (config, fan_in) = (&question.join, question.fan_in);
    merge_keys::<K>(workspace, sampling, question.spill, fan_in, context)?;
    let digest = join::digest(&workspace.sample_digest(sampling), config);
    if workspace
        .manifest
        .pairs
        .as_ref()
        .is_none_or(|p| p.digest != digest)
    {
        if workspace
            .manifest
            .joining
            .as_ref()
            .is_none_or(|j| j.digest != digest)
        {
            for name in ["join", "cluster"] {
                workspace.manifest.costs.remove(name);
            }
        }
        stage(workspace, "join", context, |w| {
            join::run::<K>(w, config, fan_in, context)
        })?;
    }
    remove_stale(workspace)
}

/// Result files of other pairs than those that are committed now would mislead who reads them.
fn remove_stale(workspace: &mut Workspace) -> Result<()> {
    if workspace.manifest.results.is_none() {
        let graphs = GraphFormat::ALL.map(GraphFormat::file_name);
        let others = [report::SUMMARY_FILE, report::page::PAGE_FILE];
        let others: Vec<&str> = others.into_iter().chain(graphs).collect();
        workspace.forget_others(|name| others.contains(&name))?;
        for name in cluster::RESULT_FILES.into_iter().chain(others) {
            disk::remove(&workspace.directory().join(name))?;
        }
    }
    Ok(())
}

/// Makes clusters and the files for people, and the summary of all.
pub fn cluster(workspace: &mut Workspace, context: &Context<'_>) -> Result<Summary> {
    catalogue(workspace, context)?;
    stage(workspace, "cluster", context, |w| cluster::run(w, context))?;
    let summary = Summary::of(&workspace.manifest);
    report::write_summary(workspace, &summary)?;
    Ok(summary)
}

/// The whole job.
pub fn run(
    inputs: &Inputs,
    out: &Path,
    config: &CollectionConfig,
    question: &Question,
    strict: bool,
    context: &Context<'_>,
) -> Result<Summary> {
    if inputs.is_empty() {
        return Err(Error::BadParameter {
            name: "INPUT",
            given: "nothing".into(),
            limit: "give at least one file or directory with files".into(),
        });
    }
    let mut workspace = ingest_for(inputs, out, config, Some(question), strict, context)?;
    join(&mut workspace, question, context)?;
    cluster(&mut workspace, context)
}
