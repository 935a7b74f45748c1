//! Runs the trials of a study one after the other.

use lookalike_base::{
    Context, Counts, Error, PairTable, Result, Threshold, Unit, counted, peak_bytes, refuse,
};
use lookalike_engine::collection::{self, Catalogue, each_document};
use lookalike_engine::pipeline;
use lookalike_engine::sample::{Rate, Sampled, Sampling};
use lookalike_engine::trial::{self, Documents, TrialCost};
use lookalike_store::{self as store, Manifest, Workspace, disk, put_file};
use lookalike_tasks::plan::{self, PlanConfig, Target};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::comparison::comparison;
use super::results::{PlannedTrial, Study, StudyConfig, StudyCost, Trial, TrialGroup, USUAL};

/// The name of the stage in progress and messages.
pub const STAGE: &str = "study";
/// The subdirectory of the output directory for the results of a study.
pub const DIRECTORY: &str = "study";
/// Memory of the readers of pair lists and the writers of small files.
const FIXED_BYTES: u64 = 32 << 20;
/// Beyond this rank, the figure of document sizes skips ranks: its steps are the rank divided by
/// this number.
const RANKS: u64 = 100;

impl Default for StudyConfig {
    /// The ratios and the thresholds of Ye, Wen & Ma 2008, sections 5 and 6.
    fn default() -> Self {
        StudyConfig {
            ratios: vec![2, 4, 8, 16],
            thresholds: (10..=19).filter_map(|n| Threshold::new(n, 20)).collect(),
        }
    }
}

impl StudyConfig {
    /// Returns an error if the ratios or thresholds are out of range or not in ascending order.
    pub fn check(&self) -> Result<()> {
        let ratios: Vec<String> = self.ratios.iter().map(|n| format!("1/{n}")).collect();
        let rising = self.ratios.windows(2).all(|pair| pair[0] < pair[1]);
        if self.ratios.is_empty()
            || !rising
            || self.ratios[0] < 2
            || self.ratios.iter().any(|&n| n > 1024)
        {
            let limit = "give each once, 1/2 to 1/1024: every class of each is a trial";
            return refuse("ratios", ratios.join(","), limit);
        }
        let rising = self.thresholds.windows(2).all(|pair| pair[0] < pair[1]);
        if self.thresholds.is_empty() || !rising {
            let given: Vec<String> = self.thresholds.iter().map(Threshold::to_string).collect();
            let limit = "give each once, the lowest first";
            return refuse("thresholds", given.join(","), limit);
        }
        Ok(())
    }

    /// The number of the threshold nearest to a value, and the lower one of two.
    pub(crate) fn nearest(&self, wanted: f64) -> Option<usize> {
        let away = |threshold: &Threshold| (threshold.to_f64() - wanted).abs();
        let all = self.thresholds.iter().enumerate();
        all.min_by(|(_, a), (_, b)| away(a).total_cmp(&away(b)))
            .map(|(place, _)| place)
    }

    /// Memory in bytes of the tables of all trials.
    fn bytes(&self, base: &Workspace) -> u64 {
        let groups = collection::config(&base.manifest).size_groups.count() as u64;
        let side = self.thresholds.len() as u64 + 1;
        (self.trials() + 1) * groups * 2 * side * side * size_of::<u64>() as u64
    }

    /// The number of trials: one for each class of each ratio.
    pub(crate) fn trials(&self) -> u64 {
        self.ratios.iter().map(|&n| u64::from(n)).sum()
    }
}

/// The precisions for which plans are made.
const PLANNED: [(u64, u64); 3] = [(4, 5), (9, 10), (19, 20)];

/// Makes plans and runs them.
fn planned(trials: &mut Trials<'_>, study: &Study) -> Result<Vec<PlannedTrial>> {
    let at = study.config.nearest(USUAL).unwrap_or(0);
    let Some(&threshold) = study.config.thresholds.get(at) else {
        return Ok(Vec::new());
    };
    let nest = study
        .config
        .ratios
        .windows(2)
        .all(|pair| pair[1].is_multiple_of(pair[0]));
    if !nest {
        // Documents sampled at two different ratios would not be comparable.
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    let made = PLANNED.iter().filter_map(|&(p, q)| Threshold::new(p, q));
    let config = |precision| PlanConfig {
        target: Target {
            threshold,
            precision,
            recall: None,
        },
        ratios: study.config.ratios.clone(),
        subset: None,
    };
    let configs: Vec<PlanConfig> = made.map(config).collect();
    let held = trials.held()?;
    let plans = plan::run_all(trials.base, &configs, &trial::within(trials.context, held))
        .map_err(|error| trials.context.budget.refused(error, held))?;
    for plan in plans {
        let (workspace, cost) = trials.ask("trial", &plan.sampling(), held)?;
        trials.truth()?;
        let Some((truth, documents)) = &trials.truth else {
            break;
        };
        let trial = trials.compare(Rate::FULL, truth, &workspace, documents)?;
        let groups: Vec<Counts> = trial
            .groups
            .iter()
            .map(|group| group.same.at(at) + group.cross.at(at))
            .collect();
        let counts = groups
            .iter()
            .fold(Counts::default(), |sum, &group| sum + group);
        all.push(PlannedTrial {
            plan,
            counts,
            groups,
            nothing_sampled: trial.groups.iter().map(|group| group.nothing_sampled).sum(),
            cost,
        });
    }
    Ok(all)
}

/// Writes the tables, the figures and the cost. Removes files of an earlier study that this study
/// does not write.
pub fn write(
    base: &mut Workspace,
    study: &Study,
    cost: &StudyCost,
    tables: &[(&str, Vec<u8>)],
) -> Result<()> {
    let of_study = format!("{DIRECTORY}/");
    let kept = format!("{DIRECTORY}/{TRIALS}/");
    let earlier =
        base.forget_others(|name| name.starts_with(&of_study) && !name.starts_with(&kept))?;
    let mut files = Vec::new();
    let mut put = |name: &str, content: &[u8]| -> Result<()> {
        let name = format!("{of_study}{name}");
        files.push(put_file(base.directory(), &name, content)?);
        Ok(())
    };
    for (name, content) in tables {
        put(name, content)?;
    }
    let json = serde_json::json!({
        "format": FORMAT,
        "program": concat!("lookalike ", env!("CARGO_PKG_VERSION")),
        "config": study.config,
        "cost": cost,
        "comparison": comparison(study, cost)?,
    });
    put(COST_FILE, format!("{json:#}\n").as_bytes())?;
    for name in &earlier {
        if files.iter().all(|file| file.name != *name) {
            disk::remove(&base.directory().join(name))?;
        }
    }
    base.name_others(files)
}

/// The subdirectory of a study's directory for finished trials.
const TRIALS: &str = "trials";
/// The file with the cost of a study and the plans it tried.
pub const COST_FILE: &str = "study.json";

/// The page of a study.
pub const PAGE_FILE: &str = "study.html";

/// Size limit of `study.json` in bytes. Ours have some ten thousand.
const MOST_BYTES: u64 = 4 << 20;

/// The version of `study.json` and of the files of trials.
pub const FORMAT: u32 = 1;

/// A finished trial on disk.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// The [`FORMAT`] of the file. A trial with another format is run again.
    format: u32,
    /// A digest of everything the trial depends on.
    digest: String,
    trial: Trial,
    cost: TrialCost,
}

/// The file of a trial, with its directories.
fn kept_name(n: u32, class: u32) -> String {
    format!("{DIRECTORY}/{TRIALS}/1-{n}-{class}.json")
}

/// A digest of a collection. Errors name `path`.
pub(crate) fn collection_digest(manifest: &Manifest, path: &Path) -> Result<String> {
    let segments = collection::segments(manifest);
    store::digest_of(
        &(&manifest.inputs, &manifest.collection_digest, segments),
        path,
    )
}

/// A digest of everything that a trial depends on.
fn kept_digest(base: &Workspace, config: &StudyConfig, n: u32, class: u32) -> Result<String> {
    let thresholds: Vec<String> = config.thresholds.iter().map(Threshold::to_string).collect();
    let path = base.directory().join(kept_name(n, class));
    let collection = collection_digest(&base.manifest, &path)?;
    let digest = format!("{collection}\n{n}\n{class}\n{}", thresholds.join(","));
    Ok(store::digest(digest.as_bytes()))
}

/// A finished trial of this collection; `None` if there is none, or if its file is damaged.
fn kept(base: &Workspace, config: &StudyConfig, n: u32, class: u32) -> Result<Option<Kept>> {
    let name = kept_name(n, class);
    if !base.is_whole(&name) {
        return Ok(None);
    }
    let json = disk::read_all(&base.directory().join(&name))?;
    let digest = kept_digest(base, config, n, class)?;
    let kept = serde_json::from_slice::<Kept>(&json).ok();
    Ok(kept.filter(|kept| kept.format == FORMAT && kept.digest == digest))
}

/// The memory in bytes that the numbers of a study take.
fn least_bytes(base: &Workspace, config: &StudyConfig) -> Result<u64> {
    Ok(FIXED_BYTES + config.bytes(base) + Catalogue::extent(base)?.documents * 8)
}

/// Bounds in words of the size groups.
fn groups(base: &Workspace) -> Vec<String> {
    let groups = &collection::config(&base.manifest).size_groups;
    let each = 0..groups.count();
    each.map(|group| groups.describe(group)).collect()
}

/// Reads the results of an earlier study of the same collection.
///
/// # Errors
/// `StageMissing` if there are none, or if the collection has changed since; `Corrupt` and
/// Of another format of `study.json`.
pub fn load(base: &Workspace, context: &Context<'_>) -> Result<(Study, StudyCost)> {
    #[derive(Deserialize)]
    struct Versioned {
        format: u32,
    }
    #[derive(Deserialize)]
    struct Costs {
        config: StudyConfig,
        cost: StudyCost,
    }
    let name = format!("{DIRECTORY}/{COST_FILE}");
    let path = base.directory().join(&name);
    if !disk::exists(&path)? {
        return Err(base.missing(STAGE));
    }
    base.check_others(|other| other == name)?;
    let size = disk::size(&path)?;
    if size > MOST_BYTES {
        return Err(Error::corrupt(path, "size").expected(
            format!("at most {MOST_BYTES} bytes"),
            format!("{size} bytes"),
        ));
    }
    let json = disk::read_all(&path)?;
    let corrupt = |e: serde_json::Error| {
        Error::corrupt(&path, "costs of a study")
            .expected("JSON with the parameters and the cost", e)
    };
    // Checked before the fields are read: another format may have other fields.
    let Versioned { format } = serde_json::from_slice(&json).map_err(corrupt)?;
    if format != FORMAT {
        return Err(Error::version(&path, format, FORMAT..=FORMAT));
    }
    let Costs { config, cost } = serde_json::from_slice(&json).map_err(corrupt)?;
    config.check()?;
    let least = least_bytes(base, &config)?;
    (context.budget).require(least, || "the results of a study".into())?;
    let mut trials = Vec::new();
    for n in std::iter::once(1).chain(config.ratios.iter().copied()) {
        for class in 0..n {
            context.stop.check(STAGE)?;
            let kept = kept(base, &config, n, class)?.ok_or_else(|| base.missing(STAGE))?;
            trials.push(kept.trial);
        }
    }
    let study = Study {
        groups: groups(base),
        sizes: sizes(base)?,
        config,
        trials,
    };
    Ok((study, cost))
}

/// Runs the trials of a study that are not finished, and returns the results and costs of all.
pub fn run(
    base: &mut Workspace,
    config: &StudyConfig,
    context: &Context<'_>,
) -> Result<(Study, StudyCost)> {
    config.check()?;
    pipeline::catalogue(base, context)?;
    let extent = Catalogue::extent(base)?;
    let documents = extent.documents;
    let columns = Documents::bytes(extent) + Sampled::bytes(1, extent);
    let what = || format!("a study of {}", counted(documents, "document"));
    (context.budget).require(least_bytes(base, config)? + columns, what)?;
    let directory = base.directory().join(DIRECTORY);
    disk::create_lasting_directory(&directory.join(TRIALS))?;
    let (groups, sizes) = (groups(base), sizes(base)?);
    context.start(STAGE, Unit::Count("trials"), Some(config.trials() + 1));
    let mut study = Study {
        config: config.clone(),
        groups,
        sizes,
        trials: Vec::new(),
    };
    let mut trials = Trials {
        base,
        config,
        directory: &directory,
        context,
        truth: None,
    };
    let mut cost = StudyCost::default();
    // Ratio 1/1 is the exact run.
    for n in std::iter::once(1).chain(config.ratios.iter().copied()) {
        for class in 0..n {
            context.progress.at(cost.count);
            let Kept {
                trial, cost: one, ..
            } = trials.trial(n, class)?;
            lookalike_base::add!(cost, one => wall_seconds, cpu_seconds);
            cost.count += 1;
            if n == 1 {
                cost.exact = one;
            } else {
                let mean = cost.trials.entry(n).or_default();
                mean.wall_seconds += one.wall_seconds / f64::from(n);
                mean.cpu_seconds += one.cpu_seconds / f64::from(n);
                lookalike_base::add!(mean, one => records, spilled_bytes);
            }
            study.trials.push(trial);
        }
        if let Some(mean) = cost.trials.get_mut(&n) {
            mean.records /= u64::from(n);
            mean.spilled_bytes /= u64::from(n);
        }
    }
    cost.planned = planned(&mut trials, &study)?;
    trials.discard()?;
    for stage in ["ingest", "catalogue"] {
        if let Some(stage) = base.manifest.costs.get(stage) {
            lookalike_base::add!(cost.reading, stage => wall_seconds, cpu_seconds);
        }
    }
    cost.peak_bytes = peak_bytes();
    let line = format!(
        "{STAGE}: {}, {:.1} s, {:.1} CPU s",
        counted(cost.count, "trial"),
        cost.wall_seconds,
        cost.cpu_seconds
    );
    context.progress.end(&line);
    Ok((study, cost))
}

/// Sizes of representatives in words by rank, for the figure of document sizes.
fn sizes(base: &Workspace) -> Result<Vec<(u64, u64)>> {
    let representatives = Catalogue::representatives(base)?;
    let mut words = Vec::new();
    each_document(base, |number, document| {
        if representatives.has(number) {
            words.push(document.words);
        }
        Ok(())
    })?;
    words.sort_unstable_by(|a, b| b.cmp(a));
    let mut kept = Vec::new();
    let mut rank = 1;
    while let Some(&words) = words.get(rank as usize - 1) {
        kept.push((rank, words));
        rank += (rank / RANKS).max(1);
    }
    // The smallest document is always included.
    if let Some(&least) = words.last()
        && kept
            .last()
            .is_some_and(|&(rank, _)| rank < words.len() as u64)
    {
        kept.push((words.len() as u64, least));
    }
    Ok(kept)
}

struct Trials<'a> {
    base: &'a mut Workspace,
    config: &'a StudyConfig,
    directory: &'a Path,
    context: &'a Context<'a>,
    /// The true pairs, and the sizes and size groups of the documents, once the first trial runs.
    truth: Option<(Workspace, Documents)>,
}

impl Trials<'_> {
    /// Runs a trial, or reads its result if it is finished.
    fn trial(&mut self, n: u32, class: u32) -> Result<Kept> {
        self.context.stop.check(STAGE)?;
        // A damaged file is made again.
        if let Some(kept) = kept(self.base, self.config, n, class)? {
            return Ok(kept);
        }
        let name = kept_name(n, class);
        let path = self.base.directory().join(&name);
        let digest = kept_digest(self.base, self.config, n, class)?;
        let (trial, cost) = self.run(n, class)?;
        let kept = Kept {
            format: FORMAT,
            digest,
            trial,
            cost,
        };
        let json = store::to_json(&kept, &path)?;
        self.base.put_other(&name, &json)?;
        Ok(kept)
    }

    /// Finds the true pairs, unless they exist.
    fn truth(&mut self) -> Result<TrialCost> {
        if self.truth.is_some() {
            return Ok(TrialCost::default());
        }
        let (truth, cost) = self.ask("truth", &Sampling::Full, 0)?;
        self.truth = Some((truth, Documents::load(self.base)?));
        Ok(cost)
    }

    /// Finds the pairs of the lowest threshold in a directory of the study.
    fn ask(&self, name: &str, sampling: &Sampling, held: u64) -> Result<(Workspace, TrialCost)> {
        let (place, lowest) = (self.place(name), self.config.thresholds[0]);
        trial::ask(self.base, &place, sampling, lowest, held, self.context)
    }

    /// The memory in bytes that a study uses while a trial runs.
    fn held(&self) -> Result<u64> {
        Ok(Documents::bytes(Catalogue::extent(self.base)?) + self.config.bytes(self.base))
    }

    fn place(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn run(&mut self, n: u32, class: u32) -> Result<(Trial, TrialCost)> {
        let exact = self.truth()?;
        let Some((truth, documents)) = &self.truth else {
            return Err(Error::no_stage(self.directory, STAGE));
        };
        let rate = Rate::new(n, class).unwrap_or(Rate::FULL);
        if n == 1 {
            let trial = self.compare(rate, truth, truth, documents)?;
            return Ok((trial, exact));
        }
        let sampling = Sampling::Uniform(rate);
        let (workspace, cost) = self.ask("trial", &sampling, self.held()?)?;
        let trial = self.compare(rate, truth, &workspace, documents)?;
        Ok((trial, cost))
    }

    /// Counts the pairs and sizes of a trial.
    fn compare(
        &self,
        rate: Rate,
        truth: &Workspace,
        workspace: &Workspace,
        documents: &Documents,
    ) -> Result<Trial> {
        let thresholds = &self.config.thresholds;
        let sampled = Sampled::load(workspace)?;
        let empty = TrialGroup {
            same: PairTable::new(thresholds.len()),
            cross: PairTable::new(thresholds.len()),
            ..TrialGroup::default()
        };
        let mut groups = vec![empty; collection::config(&self.base.manifest).size_groups.count()];
        let sizes = documents.size.iter();
        for (document, (&group, size)) in documents.group.iter().zip(sizes).enumerate() {
            if size == 0 {
                continue;
            }
            let group = &mut groups[usize::from(group)];
            let own = sampled.own(document as u32);
            group.documents += 1;
            group.shingles += u64::from(size);
            group.sampled += u64::from(own);
            group.nothing_sampled += u64::from(own == 0);
        }
        trial::each_compared(truth, workspace, STAGE, self.context, |pair| {
            let (a, b) = (pair.a, pair.b);
            let truth = pair.truth.map_or(0, |shared| {
                trial::reached(thresholds, shared, documents.sizes(a, b))
            });
            let found = pair.found.map_or(0, |shared| {
                let (a, b) = sampled.sizes(a, b);
                trial::reached(thresholds, shared, (a.into(), b.into()))
            });
            let (smaller, larger) = documents.groups(a, b);
            let group = &mut groups[usize::from(smaller)];
            let table = if smaller == larger {
                &mut group.same
            } else {
                &mut group.cross
            };
            table.count(found, truth);
            Ok(())
        })?;
        Ok(Trial {
            n: rate.n(),
            class: rate.class(),
            groups,
        })
    }

    /// Removes temporary data, including data of earlier runs that were stopped.
    fn discard(mut self) -> Result<()> {
        if let Some((truth, _)) = self.truth.take() {
            truth.discard()?;
        }
        for path in ["truth", "trial"].map(|name| self.place(name)) {
            if disk::exists(&path)? {
                collection::beside(self.base, &path, "")?.discard()?;
            }
        }
        Ok(())
    }
}
