//! The last step of both joins: runs of counted pairs into the pair list.

use super::{COMPRESSION, DIRECTORY, JoinConfig, JoinProgress, STAGE};
use crate::Result;
use crate::ids::Threshold;
use crate::manifest::{PairsEntry, Workspace};
use crate::merge::{Combine, Generations, LoserTree, fan_in, merge_generations};
use crate::progress::Context;
use crate::sample::Sampled;
use crate::sort::{Record, RunEntry, RunFile, RunWriter};
use crate::store::{Kind, PartInfo};

/// Merges runs by generations until the rest can be merged at once; `set` puts the runs that there are
/// now into the progress, which is then committed. Returns them.
pub(super) fn fewer(
    workspace: &mut Workspace,
    runs: Vec<RunEntry>,
    memory: u64,
    limit: Option<usize>,
    context: &Context<'_>,
    set: impl Fn(&mut JoinProgress, Vec<RunEntry>),
) -> Result<Vec<RunEntry>> {
    let fan_in = fan_in::<u64>(context.budget.memory, memory, 1)?;
    let fan_in = limit.unwrap_or(fan_in).clamp(2, fan_in.max(2));
    let how = Generations {
        directory: &workspace.path(DIRECTORY),
        parameters: workspace.collection_parameters(),
        compression: COMPRESSION,
        combine: Combine::Add,
        stop: context.stop,
        stage: STAGE,
    };
    let mut number = workspace
        .manifest
        .joining
        .as_ref()
        .map_or(1, |joining| joining.next_number);
    let runs = merge_generations::<u64>(&how, runs, fan_in, &mut number, |runs, next| {
        if let Some(joining) = &mut workspace.manifest.joining {
            set(joining, runs.to_vec());
            joining.next_number = next;
        }
        workspace.commit(&[DIRECTORY])
    })?;
    if let (Some(joining), Some(deepest)) = (
        &mut workspace.manifest.joining,
        runs.iter().map(|run| run.generation).max(),
    ) {
        joining.stats.generations = joining.stats.generations.max(deepest + 1);
    }
    Ok(runs)
}

/// Opens runs, to be merged from key `from` on.
pub(super) fn open(workspace: &Workspace, runs: &[RunEntry]) -> Result<Vec<RunFile<u64>>> {
    let directory = workspace.path(DIRECTORY);
    let parameters = workspace.collection_parameters();
    runs.iter()
        .map(|run| {
            let path = directory.join(&run.part.name);
            RunFile::<u64>::open(&path, Some(parameters), Some(&run.part))
        })
        .collect()
}

/// Merges the committed runs of counted pairs, adding the counts of equal pairs; pairs that reach the
/// threshold are the pair list.
pub(super) fn finish(
    workspace: &mut Workspace,
    config: &JoinConfig,
    sampled: &Sampled,
    memory: u64,
    limit: Option<usize>,
    context: &Context<'_>,
) -> Result<()> {
    let progress = workspace.manifest.joining.clone().unwrap_or_default();
    let runs = fewer(
        workspace,
        progress.runs,
        memory,
        limit,
        context,
        |progress, runs| progress.runs = runs,
    )?;
    let files = open(workspace, &runs)?;
    let cursors = files
        .iter()
        .map(|file| file.range(0, u64::MAX))
        .collect::<Result<_>>()?;
    let mut tree = LoserTree::new(cursors);
    let (directory, parameters) = (workspace.path(DIRECTORY), workspace.collection_parameters());
    let mut out = RunWriter::create_kind(Kind::Pairs, &directory, 0, parameters, COMPRESSION)?;
    let mut held: Option<Record<u64>> = None;
    let (mut read, mut pairs) = (0u64, 0u64);
    let mut keep = |record: Record<u64>, threshold: Threshold| -> Result<()> {
        let (a, b) = sampled.sizes((record.key >> 32) as u32, record.key as u32);
        if threshold.reached(record.value.into(), a.into(), b.into()) {
            pairs += 1;
            out.push(record)?;
        }
        Ok(())
    };
    while let Some(record) = tree.next()? {
        read += 1;
        if read.is_multiple_of(1 << 16) {
            context.stop.check(STAGE)?;
        }
        match &mut held {
            Some(before) if before.key == record.key => {
                before.value = before.value.saturating_add(record.value);
            }
            _ => {
                if let Some(before) = held.replace(record) {
                    keep(before, config.threshold)?;
                }
            }
        }
    }
    if let Some(last) = held {
        keep(last, config.threshold)?;
    }
    let part = out.finish()?;
    committed(workspace, config, part, pairs)
}

/// The pair list is there: names it, and drops what it was made from.
pub(super) fn committed(
    workspace: &mut Workspace,
    config: &JoinConfig,
    part: PartInfo,
    pairs: u64,
) -> Result<()> {
    let mut progress = workspace.manifest.joining.take().unwrap_or_default();
    progress.stats.pairs = pairs;
    workspace.manifest.pairs = Some(PairsEntry {
        digest: progress.digest,
        config: *config,
        part,
        stats: progress.stats,
    });
    workspace.manifest.results = None;
    workspace.commit(&[DIRECTORY])?;
    workspace.remove_scrap()
}
