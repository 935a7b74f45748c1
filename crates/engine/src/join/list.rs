//! The last step of both joins: merge runs of counted pairs into the pair list.

use crate::collection::{self, Catalogue, Conditions, Extent, MappedSets, Tried};
use crate::merge::{Generations, MergeStats, PostingsEntry, Sums, fan_in, merge_generations};
use crate::sample::plan::Plan;
use crate::sample::{self, PlanGiven, SampleEntry, Sampling, SelectStats, Selection};
use crate::sort::{
    BLOCK_RECORDS, FormStats, PackedRecords, Packer, Record, RunEntry, RunFile, RunWriter,
    RunsEntry,
};
use lookalike_base::{
    Context, Criterion, Key, Measure, Result, Threshold, in_order, keywords, workers::share,
};
use lookalike_store::{
    Header, Kind, Manifest, PartInfo, StageRecord, Workspace, disk, part_number as part_number_of,
};
use serde::{Deserialize, Serialize};

use super::{
    COMPRESSION, DIRECTORY, JoinConfig, JoinProgress, JoinStats, Joining, Pair, Pairs, STAGE, weigh,
};

/// Merges runs by generations until one merge can take the rest, and returns the remaining runs.
/// After each merge `set` puts the current runs into the progress, which is then committed.
pub(super) fn fewer(
    workspace: &mut Workspace,
    join: &Joining<'_>,
    runs: Vec<RunEntry>,
    memory: u64,
    set: impl Fn(&mut JoinProgress, Vec<RunEntry>),
) -> Result<Vec<RunEntry>> {
    let fan_in = fan_in::<u64>(&join.context.budget, memory, 1)?;
    let fan_in = join.limit.unwrap_or(fan_in).clamp(2, fan_in.max(2));
    let how = Generations {
        directory: &workspace.path(DIRECTORY),
        parameters: workspace.collection_parameters(),
        compression: COMPRESSION,
        adds: true,
        stop: join.context.stop,
        stage: STAGE,
    };
    let joining = workspace.manifest.get::<JoinProgress>();
    let mut number = joining.map_or(1, |joining| joining.next_number);
    let runs = merge_generations::<u64>(&how, runs, fan_in, &mut number, |runs, next| {
        if let Some(joining) = workspace.manifest.get_mut::<JoinProgress>() {
            set(joining, runs.to_vec());
            joining.next_number = next;
        }
        workspace.commit(&[DIRECTORY])
    })?;
    if let (Some(joining), Some(deepest)) = (
        workspace.manifest.get_mut::<JoinProgress>(),
        runs.iter().map(|run| run.generation).max(),
    ) {
        joining.stats.generations = joining.stats.generations.max(deepest + 1);
    }
    Ok(runs)
}

/// Opens runs of pairs for a merge.
pub(super) fn open(workspace: &Workspace, runs: &[RunEntry]) -> Result<Vec<RunFile<u64>>> {
    let open = |run: &RunEntry| open_part(workspace, Kind::Run, &run.part);
    runs.iter().map(open).collect()
}

/// The committed runs, as few as one merge takes, and the parts of the list from before an addition
/// that the new pairs replace; also the parts that are kept.
fn counted(
    workspace: &mut Workspace,
    join: &Joining<'_>,
    memory: u64,
) -> Result<(Vec<RunFile<u64>>, Vec<PartInfo>)> {
    let progress = workspace.manifest.get_or_default::<JoinProgress>();
    let to = |progress: &mut JoinProgress, runs| progress.runs = runs;
    let runs = fewer(workspace, join, progress.runs, memory, to)?;
    let mut files = open(workspace, &runs)?;
    let mut kept: Vec<PartInfo> = match before(workspace) {
        Some(before) => before.lists().cloned().collect(),
        None => Vec::new(),
    };
    // As for the levels of the index: a pair is written again only when the list has doubled.
    let mut pairs = count(&files);
    while let Some(part) = kept.pop_if(|part| part.records <= pairs) {
        pairs = pairs.saturating_add(part.records);
        files.push(open_part(workspace, Kind::Pairs, &part)?);
    }
    Ok((files, kept))
}

/// Merges the committed runs of counted pairs and adds the counts of equal pairs. The pairs that
/// reach the threshold form the pair list, those that only reach the one for a review another. With
/// verified sampling they are candidates, and their full sets decide.
pub(super) fn finish<K: Key>(
    workspace: &mut Workspace,
    join: &Joining<'_>,
    memory: u64,
) -> Result<()> {
    let (config, sampled, context) = (join.config, join.sampled, join.context);
    let (files, kept) = counted(workspace, join, memory)?;
    let cursors = files.iter().map(|file| file.range(0, u64::MAX));
    let mut merged = Sums::of(cursors.collect::<Result<_>>()?);
    let directory = workspace.path(DIRECTORY);
    let mut out = writer(workspace, 0)?;
    let below = config.review.map(|_| writer(workspace, 1));
    let mut below = below.transpose()?;
    let mut full = match config.candidates {
        Some(_) => Some(Full::open::<K>(workspace, config.threshold, memory / 2)?),
        None => None,
    };
    let reaches = |criterion: Criterion, record: &Record<u64>| {
        let (a, b) = Pair::of_key(record.key);
        let (a, b) = sampled.measured(a, b);
        criterion.reached(record.value.into(), a.into(), b.into())
    };
    // The prefix join has tried the condition on its candidates.
    let is_tried = workspace.matches::<JoinProgress>(|joining| joining.prefix.is_some());
    let mut tried = Tried::default();
    let mut reached = |record: &Record<u64>| {
        let pair = Pair::of_key(record.key);
        reaches(config.of_samples(), record) && (is_tried || join.listed.has(pair, &mut tried))
    };
    let is_below =
        |record: &Record<u64>| config.review.is_some() && !reaches(config.criterion(), record);
    let mut pairs = 0;
    let threads = context.budget.threads;
    let most = (memory / 4 / PACKER_BYTES) as usize;
    in_order(
        STAGE,
        threads.min(most),
        |hand_out| {
            let mut pass = |below: bool, piece: Vec<Record<u64>>| {
                context.stop.check(STAGE)?;
                pairs += if below { 0 } else { piece.len() as u64 };
                hand_out((below, piece))
            };
            let mut pieces = [Vec::with_capacity(PIECE), Vec::new()];
            let mut window = Vec::new();
            loop {
                let next = merged.next((STAGE, context.stop))?;
                let ended = next.is_none();
                window.extend(next.filter(&mut reached));
                if ended || window.len() == WINDOW {
                    if let Some(full) = &mut full {
                        full.verify::<K>(&mut window, threads)?;
                    }
                    for record in window.drain(..) {
                        let below = is_below(&record);
                        let piece = &mut pieces[usize::from(below)];
                        piece.push(record);
                        if piece.len() == PIECE {
                            pass(below, std::mem::replace(piece, Vec::with_capacity(PIECE)))?;
                        }
                    }
                }
                if ended {
                    let [listed, below] = pieces;
                    pass(false, listed)?;
                    return pass(true, below);
                }
            }
        },
        |(below, piece): (bool, Vec<Record<u64>>), pass| {
            let mut packer = Packer::new(COMPRESSION, &directory)?;
            let blocks = piece.chunks(BLOCK_RECORDS).map(|records| {
                let mut block = PackedRecords::default();
                packer.pack(records, &mut block).map(|()| block)
            });
            pass((below, blocks.collect::<Result<Vec<_>>>()?))
        },
        |(is_below, blocks): (bool, Vec<PackedRecords<u64>>)| {
            let out = below.as_mut().filter(|_| is_below).unwrap_or(&mut out);
            blocks.iter().try_for_each(|block| out.put(block))
        },
    )?;
    let looked_up = full.map(|full| full.looked_up);
    let undecided = join.undecided(workspace, &tried)?;
    let mut part = out.finish()?;
    let review = below.map(RunWriter::finish).transpose()?;
    drop(merged);
    drop(files);
    let mut lists = kept;
    let mut scores = None;
    if config.measure == Measure::S4 {
        let weighed = weigh::run::<K>(workspace, join, &part, memory)?;
        pairs = weighed.pairs.records;
        part = weighed.pairs;
        scores = Some(weighed.scores);
    }
    if let Some(joining) = workspace.manifest.get_mut::<JoinProgress>() {
        joining.stats.looked_up = looked_up;
        joining.stats.undecided = undecided.or(joining.stats.undecided.take());
    }
    let kept = lists.iter().map(|part| part.records);
    pairs = kept.fold(pairs, u64::saturating_add);
    lists.push(part);
    committed(workspace, config, lists, [scores, review], pairs)
}

/// The pairs that were there before documents were added, if the join that has begun adds to them.
pub(super) fn before(workspace: &Workspace) -> Option<&Before> {
    let progress = workspace.manifest.get::<JoinProgress>();
    let adds = progress.is_some_and(|progress| progress.stats.added.is_some());
    workspace.manifest.get::<Before>().filter(|_| adds)
}

/// Which pairs may be listed.
pub(super) struct Listable {
    pairs: Pairs,
    /// The documents before this one are those of another collection.
    against: u32,
    pub conditions: Option<Conditions>,
}

impl Listable {
    pub fn of(workspace: &Workspace, pairs: Pairs, context: &Context<'_>) -> Result<Listable> {
        let condition = collection::config(&workspace.manifest).condition.as_ref();
        Ok(Listable {
            pairs,
            against: collection::against(&workspace.manifest).documents,
            conditions: Conditions::open(workspace, condition, context)?,
        })
    }

    /// The bytes of memory that it takes.
    pub fn bytes(&self) -> u64 {
        self.conditions.as_ref().map_or(0, |of| of.bytes)
    }

    /// Whether a pair a < b may be listed, if the condition holds for it.
    pub fn allows(&self, a: u32, b: u32) -> bool {
        b >= self.against && (self.pairs != Pairs::Across || a < self.against)
    }

    /// Whether a pair a < b may be listed. Counts what the condition says.
    pub fn has(&self, pair: (u32, u32), tried: &mut Tried) -> bool {
        let conditions = self.conditions.as_ref();
        self.allows(pair.0, pair.1) && conditions.is_none_or(|of| of.hold_for(pair, tried))
    }
}

/// Number of pairs that are verified together.
const WINDOW: usize = 64 << 10;
/// Number of pairs that a thread packs at a time.
const PIECE: usize = 4 * BLOCK_RECORDS;
/// Memory of a thread that packs: three pieces (one being packed, two in the channels), each as
/// records or packed, and a compressor.
const PACKER_BYTES: u64 = 2 << 20;
/// Memory for a second list: its next piece, and what its writer holds.
const REVIEW_BYTES: u64 = 1 << 20;
/// The least number of bytes of the sets to keep in memory.
const LEAST_MAPPED: u64 = 1 << 20;

/// The least memory that the last step needs in addition to sizes and runs.
pub(super) fn least_bytes(workspace: &Workspace, config: &JoinConfig) -> u64 {
    let mut window = WINDOW as u64 * 32;
    if config.review.is_some() {
        window += REVIEW_BYTES;
    }
    let extent = Extent::of(collection::segments(&workspace.manifest));
    if config.measure == Measure::S4 {
        window += weigh::least_bytes(extent.documents);
    }
    let full = config
        .candidates
        .map(|_| MappedSets::bytes(extent) + LEAST_MAPPED);
    window + full.unwrap_or(0)
}

/// Verifies candidates against the full sets.
struct Full {
    sets: MappedSets,
    threshold: Threshold,
    looked_up: u64,
}

impl Full {
    fn open<K: Key>(workspace: &Workspace, threshold: Threshold, memory: u64) -> Result<Full> {
        Ok(Full {
            sets: MappedSets::open::<K>(workspace, memory.max(LEAST_MAPPED))?,
            threshold,
            looked_up: 0,
        })
    }

    /// Keeps the candidates whose full sets reach the threshold, with the shared count of these
    /// sets.
    fn verify<K: Key>(&mut self, window: &mut Vec<Record<u64>>, threads: usize) -> Result<()> {
        self.looked_up += window.len() as u64;
        let (sets, threshold) = (&self.sets, self.threshold);
        let each = window.len().div_ceil(threads).max(1);
        share(STAGE, threads, window.chunks_mut(each), |pieces| {
            while let Some(piece) = pieces.next() {
                disk::point("list: worker");
                for record in piece {
                    let (a, b) = Pair::of_key(record.key);
                    let sets = sets.look();
                    let (a, b) = (sets.get(a)?, sets.get(b)?);
                    let size = |set: &[u8]| (set.len() / K::BYTES) as u64;
                    let least = threshold.least_shared(size(a), size(b));
                    // 0 marks a rejected candidate: the full sets of a real pair share
                    // fingerprints.
                    record.value = K::shared_le(a, b, least).map_or(0, |shared| shared as u32);
                }
            }
            Ok(())
        })?;
        window.retain(|record| record.value > 0);
        Ok(())
    }
}

/// The number of the part with the pairs: the least one that no part of the list has that was there
/// before documents were added. That list is read until the new one is complete.
fn part_number(workspace: &Workspace) -> u64 {
    let before = workspace.manifest.get::<Before>();
    let lists = before.into_iter().flat_map(Before::lists);
    let used: Vec<u64> = lists
        .filter_map(|part| part_number_of(&part.name))
        .collect();
    (0..).find(|number| !used.contains(number)).unwrap_or(0)
}

/// Begins a part with pairs. With a review, nothing is kept of the list before, so that the number
/// `after` its own is free.
pub(super) fn writer(workspace: &Workspace, after: u64) -> Result<RunWriter<u64>> {
    let (number, parameters) = (part_number(workspace), workspace.collection_parameters());
    let header = Header::new(Kind::Pairs, parameters, number + after, u64::BYTES);
    RunWriter::of(&workspace.path(DIRECTORY), header, COMPRESSION)
}

/// Records the complete pair list in the manifest, and drops the files that it was made from.
pub(super) fn committed(
    workspace: &mut Workspace,
    config: &JoinConfig,
    mut lists: Vec<PartInfo>,
    [scores, review]: [Option<PartInfo>; 2],
    pairs: u64,
) -> Result<()> {
    let added = lists.split_off(1);
    let progress = workspace.manifest.take::<JoinProgress>();
    let mut progress = progress.unwrap_or_default();
    progress.stats.pairs = pairs;
    progress.stats.review = review.as_ref().map(|part| part.records);
    let runs = workspace.manifest.get::<RunsEntry>();
    let selected = runs.and_then(|runs| runs.selection.zip(runs.selected));
    let sort = runs.map(|runs| runs.stats);
    let merge = workspace.manifest.get::<PostingsEntry>();
    let before = sort.zip(merge.map(|postings| postings.stats));
    workspace.manifest.set(PairsEntry {
        digest: progress.digest,
        config: *config,
        part: lists.remove(0),
        added,
        scores,
        review,
        stats: progress.stats,
        before,
        selected,
    });
    workspace.manifest.remove_after::<PairsEntry>();
    workspace.manifest.remove::<Before>();
    workspace.settle(&[DIRECTORY])
}

/// The search of a collection before documents were added to it: how its pairs were found, and the
/// pairs themselves if the pairs of the added documents can join them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Before {
    /// Number of the documents that it had.
    pub documents: u32,
    /// Digest of sample and join parameters.
    pub digest: String,
    /// The join's parameters.
    pub config: JoinConfig,
    /// The sampling.
    pub sampling: Sampling,
    /// The plan that determined it, and whether it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<(Plan, bool)>,
    /// Whether the results were tables, too.
    pub tables: bool,
    /// The pairs among these documents, unless they depend on the documents that are added.
    pub part: Option<PartInfo>,
    /// The parts of the list after the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<PartInfo>,
}

impl Before {
    /// Returns the record of a finished join, before documents are added.
    pub fn of(manifest: &Manifest, documents: u32, tables: bool) -> Option<Before> {
        let pairs = manifest.get::<PairsEntry>()?;
        let config = pairs.config;
        let sampling = match manifest.get::<SampleEntry>() {
            Some(sample) => sample.sampling.clone(),
            // The column of sizes may be lost, which is made again.
            None => {
                let full = sample::digest(manifest, &Sampling::Full);
                let is_full = super::digest(&full, &config) == pairs.digest;
                is_full.then_some(Sampling::Full)?
            }
        };
        // Sizes of samples, frequencies, and what frequencies weigh, depend on all documents. A list
        // for a review is made at once.
        let stays = sampling == Sampling::Full
            && config.max_postings.is_none()
            && config.candidates.is_none()
            && config.review.is_none()
            && config.measure != Measure::S4;
        let given = manifest.get::<PlanGiven>().is_some_and(|given| given.0);
        Some(Before {
            documents,
            digest: pairs.digest.clone(),
            config,
            sampling,
            plan: manifest.get::<Plan>().map(|plan| (plan.clone(), given)),
            tables,
            part: stays.then(|| pairs.part.clone()),
            added: pairs.added.clone(),
        })
    }

    /// The parts of the list of pairs; none if all pairs are found again.
    pub(super) fn lists(&self) -> impl Iterator<Item = &PartInfo> {
        let added = self.added.iter().filter(|_| self.part.is_some());
        self.part.iter().chain(added)
    }
}

/// The number of pairs in some files.
pub(super) fn count(files: &[RunFile<u64>]) -> u64 {
    let records = files.iter().map(RunFile::records);
    records.fold(0, u64::saturating_add)
}

/// Opens a run of pairs, or a list of them.
pub(super) fn open_part(
    workspace: &Workspace,
    kind: Kind,
    part: &PartInfo,
) -> Result<RunFile<u64>> {
    let path = workspace.part(DIRECTORY, &part.name);
    let parameters = Some(workspace.collection_parameters());
    let run = RunFile::<u64>::open(kind, &path, parameters, Some(part))?;
    Ok(run.of_pairs(Catalogue::stats(workspace)?.documents))
}

impl StageRecord for Before {
    const NAME: &'static str = "before";
    const OMITTED: bool = true;
    const DIRECTORY: Option<&'static str> = Some(DIRECTORY);

    fn parts(&self) -> Vec<(Kind, &PartInfo)> {
        self.lists().map(|part| (Kind::Pairs, part)).collect()
    }

    fn without(&self, _: &str) -> Option<Self> {
        Some(Before {
            part: None,
            ..self.clone()
        })
    }
}

/// The pair list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PairsEntry {
    /// Digest of sample and join parameters.
    pub digest: String,
    /// The join's parameters.
    pub config: JoinConfig,
    /// The pairs.
    pub part: PartInfo,
    /// More pairs, of documents that were added: each part is ordered like the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<PartInfo>,
    /// The scores of the pairs in units of 2^-32, in a part of the same format, if the shared
    /// counts do not determine them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<PartInfo>,
    /// The pairs to be reviewed, ordered like the first part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<PartInfo>,
    /// Counters of the join.
    pub stats: JoinStats,
    /// Counters of the sort and the merge before it, which stay when the postings are lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<(FormStats, MergeStats)>,
    /// The selection from the sampled fingerprints, kept for the same reason; `None` for all of
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<(Selection, SelectStats)>,
}

keywords! {
    /// A list of pairs.
    pub enum List: "is not a list" {
        /// The pairs at the threshold.
        Pairs = "pairs",
        /// Those below it ([`JoinConfig::review`]).
        Review = "review",
    }
}

impl PairsEntry {
    /// The lists that there are.
    pub fn lists(&self) -> impl Iterator<Item = List> + use<> {
        let review = self.config.review.map(|_| List::Review);
        std::iter::once(List::Pairs).chain(review)
    }

    /// The parts of a list.
    pub(super) fn parts_of(&self, list: List) -> impl Iterator<Item = &PartInfo> {
        let listed = Some(&self.part).filter(|_| list == List::Pairs);
        let added = self.added.iter().filter(move |_| list == List::Pairs);
        let review = self.review.iter().filter(move |_| list == List::Review);
        listed.into_iter().chain(added).chain(review)
    }
}

impl StageRecord for PairsEntry {
    const NAME: &'static str = "pairs";
    const DIRECTORY: Option<&'static str> = Some("pairs");

    fn parts(&self) -> Vec<(Kind, &PartInfo)> {
        let parts = std::iter::once(&self.part).chain(&self.added);
        let parts = parts.chain(&self.scores).chain(&self.review);
        parts.map(|part| (Kind::Pairs, part)).collect()
    }
}

impl StageRecord for JoinProgress {
    const NAME: &'static str = "joining";
    const DIRECTORY: Option<&'static str> = Some("pairs");

    fn parts(&self) -> Vec<(Kind, &PartInfo)> {
        let candidates = self.prefix.iter().flat_map(|place| &place.candidates);
        let runs = self.runs.iter().chain(candidates);
        runs.map(|run| (Kind::Run, &run.part)).collect()
    }
}
