//! Makes a plan for a collection and a target.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::cells::Cells;
use super::choose::{choose, uniform, uniform_overall};
use super::subset::{self, DocumentSubset};
use super::{Plan, PlanConfig, PlannedGroup, Ratio, STAGE};
use lookalike_base::{Context, Key, Result, Unit, counted, cpu_seconds, with_keys};
use lookalike_engine::collection::{self, Catalogue};
use lookalike_engine::sample::{Rate, Sampled, Sampling};
use lookalike_engine::trial::{self, Documents, TrialCost};
use lookalike_store::{Workspace, disk};

/// The subdirectory of the output directory for temporary data; removed when the plan is made.
pub const DIRECTORY: &str = "plan";
/// Memory of the readers of pair lists.
const FIXED_BYTES: u64 = 32 << 20;

/// The cost of the trials. It differs from run to run, so it is not part of the plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanCost {
    /// The exact run on the measured documents.
    pub exact: TrialCost,
    /// The trial of each ratio 1/n, by n.
    pub trials: BTreeMap<u32, TrialCost>,
    /// Wall seconds in total.
    pub wall_seconds: f64,
    /// CPU seconds in total.
    pub cpu_seconds: f64,
}

/// A plan and its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// The cost of making the plan.
    pub cost: PlanCost,
}

/// Makes a plan for a collection.
pub fn run(base: &Workspace, config: &PlanConfig, context: &Context<'_>) -> Result<Planned> {
    config.check()?;
    let kind = collection::config(&base.manifest).shingle.fingerprint;
    with_keys!(kind, K => make::<K>(base, config, context))
}

fn make<K: Key>(base: &Workspace, config: &PlanConfig, context: &Context<'_>) -> Result<Planned> {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let trials = config.ratios.len() as u64 + 2;
    context.start(STAGE, Unit::Count("trials"), Some(trials));
    let directory = base.directory().join(DIRECTORY);
    disk::create_directory(&directory)?;
    let mut cost = PlanCost::default();
    let measured = match &config.subset {
        Some(subset) => {
            let place = directory.join("subset");
            let which = format!("subset {} of seed {}", subset.share, subset.seed);
            let mut part = collection::beside(base, &place, &which)?;
            let selection = DocumentSubset::new(subset);
            subset::make::<K>(base, &mut part, selection, context)?;
            let measured = gather(base, &part, config, &mut cost, context)?;
            part.discard()?;
            measured
        }
        None => gather(base, base, config, &mut cost, context)?,
    };
    let plan = measured.plan(base, config)?;
    clear(base)?;
    cost.wall_seconds = start.elapsed().as_secs_f64();
    cost.cpu_seconds = cpu_seconds() - cpu;
    Ok(Planned { plan, cost })
}

/// Removes temporary data, including data of earlier runs that were stopped.
fn clear(base: &Workspace) -> Result<()> {
    let directory = base.directory().join(DIRECTORY);
    for path in ["subset", "truth", "trial"].map(|name| directory.join(name)) {
        if disk::exists(&path)? {
            collection::beside(base, &path, "")?.discard()?;
        }
    }
    disk::remove_directory(&directory)
}

/// Makes plans for several targets from measurements on the whole collection. All targets have the
/// same threshold and the same ratios.
pub fn run_all(
    base: &Workspace,
    configs: &[PlanConfig],
    context: &Context<'_>,
) -> Result<Vec<Plan>> {
    let Some(first) = configs.first() else {
        return Ok(Vec::new());
    };
    configs.iter().try_for_each(PlanConfig::check)?;
    let mut cost = PlanCost::default();
    disk::create_directory(&base.directory().join(DIRECTORY))?;
    let measured = gather(base, base, first, &mut cost, context)?;
    clear(base)?;
    let plans = configs.iter().map(|config| measured.plan(base, config));
    plans.collect()
}

/// The pairs of a collection or a subset at every ratio.
struct Measured {
    cells: Cells,
    documents: u64,
}

/// Runs the trials on `part`, which is a subset of `base` or `base` itself, and counts their pairs.
fn gather(
    base: &Workspace,
    part: &Workspace,
    config: &PlanConfig,
    cost: &mut PlanCost,
    context: &Context<'_>,
) -> Result<Measured> {
    let stats = Catalogue::stats(part)?;
    let (documents, representatives) = (stats.documents, stats.representatives);
    let extent = Catalogue::extent(base)?;
    let least = FIXED_BYTES + Documents::bytes(extent) + Sampled::bytes(1, extent) + documents * 8;
    let what = || format!("a plan for {}", counted(documents, "document"));
    context.budget.require(least, what)?;
    let threshold = config.target.threshold;
    let place = |name: &str| base.directory().join(DIRECTORY).join(name);
    let (all, at) = (&Sampling::Full, place("truth"));
    let (truth, exact) = trial::ask(part, &at, all, threshold, 0, context)?;
    cost.exact = exact;
    context.progress.at(1);
    let known = Documents::load(part)?;
    let mut cells = Cells::default();
    for (number, &n) in config.ratios.iter().enumerate() {
        context.progress.at(number as u64 + 1);
        let ratio = number as u8 + 1;
        let sampling = Sampling::Uniform(Rate::new(n, 0).unwrap_or(Rate::FULL));
        let held = Documents::bytes(extent) + cells.bytes();
        let place = place("trial");
        let (workspace, took) = trial::ask(part, &place, &sampling, threshold, held, context)?;
        cost.trials.insert(n, took);
        trial::each_compared(&truth, &workspace, STAGE, context, |pair| {
            let (a, b) = (pair.a, pair.b);
            let (smaller, larger) = known.groups(a, b);
            let (found, truth) = (pair.found.is_some(), pair.truth.is_some());
            for document in [a, b] {
                cells.count((ratio, smaller, larger, document), found, truth);
                // Ratio 0 stands for all fingerprints, which find every true pair. Count these
                // pairs once.
                if truth && ratio == 1 {
                    cells.count((0, smaller, larger, document), true, true);
                }
            }
            // Choosing needs as much memory again, for a table by document.
            context.budget.require(least + 2 * cells.bytes(), || {
                let ratios = counted(u64::from(ratio) + 1, "ratio");
                format!(
                    "the pairs of {} at {ratios}",
                    counted(documents, "document")
                )
            })
        })?;
        if number + 1 == config.ratios.len() {
            workspace.discard()?;
        }
    }
    truth.discard()?;
    cells.settle();
    Ok(Measured {
        cells,
        documents: representatives,
    })
}

impl Measured {
    /// Chooses a plan.
    fn plan(&self, base: &Workspace, config: &PlanConfig) -> Result<Plan> {
        let count = collection::config(&base.manifest).size_groups.count();
        let ratios = config.ratios.len() as u8 + 1;
        let choices = choose(&self.cells, count, ratios, &config.target);
        let n_of = |ratio: u8| match usize::from(ratio).checked_sub(1) {
            Some(at) => Ratio(config.ratios.get(at).copied().unwrap_or(1)),
            None => Ratio(1),
        };
        let whole = &Catalogue::stats(base)?.groups;
        let groups: Vec<PlannedGroup> = choices
            .into_iter()
            .zip(whole)
            .map(|(choice, group)| PlannedGroup {
                words: group.words.clone(),
                documents: group.documents,
                shingles: group.shingles,
                ratio: n_of(choice.ratio),
                evidence: choice.evidence,
                precision: choice.precision,
                recall: choice.recall,
            })
            .collect();
        let all: u64 = groups.iter().map(|group| group.shingles).sum();
        let taken = |group: &PlannedGroup| group.shingles as f64 / f64::from(group.ratio.0);
        let taken: f64 = groups.iter().map(taken).sum();
        if groups.len() != count {
            return Err(base.missing("catalogue"));
        }
        Ok(Plan {
            config: config.clone(),
            shingle: collection::config(&base.manifest).shingle.clone(),
            size_groups: collection::config(&base.manifest).size_groups.clone(),
            documents: self.documents,
            groups,
            share: if all == 0 { 1.0 } else { taken / all as f64 },
            uniform: n_of(uniform(&self.cells, count, ratios, &config.target)),
            uniform_overall: n_of(uniform_overall(&self.cells, count, ratios, &config.target).0),
        })
    }
}
