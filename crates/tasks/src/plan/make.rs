//! Makes plans for collections, stores them in their output directories, and runs the pipeline with
//! them.

use std::path::Path;

use super::{Evidence, PLAN_FILE, Plan, PlanConfig, Planned, PlannedGroup, run, write};
use lookalike_base::{Context, Result, counted, percent};
use lookalike_engine::collection::{self, CollectionConfig};
use lookalike_engine::pipeline::{self, AppliedPlan, JoinParameters, Summary};
use lookalike_engine::sample::PlanGiven;
use lookalike_store::{Workspace, disk};
use lookalike_text::read::Inputs;

/// Makes a sampling plan for a collection.
pub fn make(
    workspace: &mut Workspace,
    config: &PlanConfig,
    context: &Context<'_>,
) -> Result<Planned> {
    check(workspace)?;
    pipeline::catalogue(workspace, context)?;
    let planned = run(workspace, config, context)?;
    let (share, seconds) = (percent(planned.plan.share, 2), planned.cost.wall_seconds);
    let line = format!("plan: {share} of the shingles ({seconds:.1} s)");
    context.progress.end(&line);
    Ok(planned)
}

/// A plan file names the parameters of its collection, and has no place for texts.
fn check(workspace: &Workspace) -> Result<()> {
    collection::has_all_shingles(workspace, "a plan holds for whole documents")
}

/// The program's own plan for a collection with these parameters. Reuses the plan that was made
/// last if its parameters are the same, and makes a new one otherwise. Leaves the plan in
/// [`PLAN_FILE`].
pub fn for_collection(
    workspace: &mut Workspace,
    config: &PlanConfig,
    context: &Context<'_>,
) -> Result<AppliedPlan> {
    check(workspace)?;
    pipeline::catalogue(workspace, context)?;
    let given = workspace.manifest.has::<PlanGiven>();
    let last = workspace.manifest.take::<Plan>();
    let last = last.filter(|plan| plan.config == *config && !given);
    let made = last.is_none();
    let plan = match last {
        Some(plan) => plan,
        None => {
            workspace.manifest.costs.remove("plan");
            pipeline::stage(workspace, "plan", context, |w| {
                let plan = run(w, config, context)?.plan;
                w.manifest.set(plan.clone());
                Ok(plan)
            })?
        }
    };
    if let Some(line) = saves_nothing(&plan) {
        context.progress.note(&line);
    }
    // The file may be damaged or contain another plan.
    let text = write(&plan);
    let file = workspace.directory().join(PLAN_FILE);
    let same = workspace.is_whole(PLAN_FILE) && disk::read_all(&file)? == text.as_bytes();
    if !same {
        workspace.put_other(PLAN_FILE, text.as_bytes())?;
    }
    workspace.manifest.set(plan.clone());
    workspace.manifest.remove::<PlanGiven>();
    if made {
        workspace.commit(&[])?;
    }
    Ok(AppliedPlan { plan, given: false })
}

/// Above this share of the shingles, a plan saves too little to justify its errors.
const NEARLY_ALL: f64 = 0.9;

/// The warning for a plan that takes nearly all shingles.
fn saves_nothing(plan: &Plan) -> Option<String> {
    let filled = plan.groups.iter().filter(|group| group.documents > 0);
    let blind = |group: &&PlannedGroup| group.evidence == Evidence::TooLittle;
    let (all, blind) = (filled.clone().count() as u64, filled.filter(blind).count());
    let why = match blind {
        0 => "smaller samples miss the precision".to_string(),
        _ => format!(
            "{blind} of {} have too few pairs in the subset to measure smaller samples; give a \
             larger --subset",
            counted(all, "size group")
        ),
    };
    (plan.share > NEARLY_ALL).then(|| {
        format!(
            "warning: the plan takes {} of the shingles and saves next to nothing: {why}, or \
             leave out --precision for an exact result",
            percent(plan.share, 1)
        )
    })
}

/// Runs the whole pipeline ([`pipeline::run`]) with a plan made for the collection.
pub fn run_with_plan(
    inputs: &Inputs,
    out: &Path,
    config: &CollectionConfig,
    planning: &PlanConfig,
    parameters: &JoinParameters,
    strict: bool,
    context: &Context<'_>,
) -> Result<Summary> {
    planning.check()?;
    parameters.check(&config.size_groups, true)?;
    let mut workspace = pipeline::ingest(inputs, out, config, strict, context)?;
    let parameters = JoinParameters {
        plan: Some(for_collection(&mut workspace, planning, context)?),
        ..parameters.clone()
    };
    pipeline::join(&mut workspace, &parameters, context)?;
    pipeline::results(&mut workspace, parameters.results, context)
}

/// Writes a plan file.
pub fn write_file(path: &Path, plan: &Plan) -> Result<()> {
    disk::put(path, write(plan).as_bytes())?;
    disk::sync_parent(path)
}

/// Writes a plan to a file. If the file lies in the output directory, the manifest records it. The
/// caller has checked the place ([`lookalike_engine::outputs::check`]).
pub fn keep(workspace: &mut Workspace, path: &Path, plan: &Plan) -> Result<()> {
    match workspace.other_name(path) {
        Some(name) => workspace.put_other(&name, write(plan).as_bytes()),
        None => write_file(path, plan),
    }
}
