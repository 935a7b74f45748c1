//! The pair list, made of pairs that were found without this directory.

use crate::collection::Catalogue;
use crate::sample::{SampleEntry, Sampled};
use crate::sort::{Record, RunEntry, RunWriter};
use lookalike_base::ids::Key;
use lookalike_base::progress::{Context, Unit};
use lookalike_base::{Error, Result};
use lookalike_store::workspace::{MANIFEST_FILE, Workspace};

use super::{COMPRESSION, DIRECTORY, JoinConfig, JoinProgress, Joining};
use super::{Pair, PairsEntry, STAGE, list};

/// Bytes of pairs that are sorted together, if memory has room for them.
const MOST_SORTED: u64 = 1 << 30;
/// Memory for buffers of readers and writers.
const FIXED_BYTES: u64 = 16 << 20;

/// Takes a pair: two documents and their shared count.
pub type Take<'t> = dyn FnMut(u32, u32, u32) -> Result<()> + 't;

/// Makes the pair list of the pairs a < b of representatives that `find` passes on, each once and in
/// any order, with their shared counts. The pairs must be all pairs that reach the threshold.
///
/// # Errors
/// `Corrupt` if a pair does not reach it, comes twice, or is not of two documents.
pub fn run<K: Key>(
    workspace: &mut Workspace,
    config: &JoinConfig,
    find: impl FnOnce(&mut Take<'_>) -> Result<()>,
    context: &Context<'_>,
) -> Result<()> {
    let sample = workspace.record::<SampleEntry>("sample")?;
    let digest = super::digest(&sample.digest, config);
    workspace.manifest.remove::<PairsEntry>();
    workspace.manifest.remove_after::<PairsEntry>();
    workspace.manifest.set(JoinProgress {
        digest,
        next_number: 1,
        ..JoinProgress::default()
    });
    workspace.settle(&[])?;
    context.start(STAGE, Unit::Count("pairs"), None);
    let documents = Catalogue::stats(workspace)?.documents;
    let used = FIXED_BYTES + Sampled::bytes_in(workspace, config.measure)?;
    let least = list::least_bytes(workspace, config);
    let memory = super::rest(documents, used, least, &context.budget)?;
    let room = (memory.min(MOST_SORTED) / size_of::<Record<u64>>() as u64) as usize;
    let corrupt = |what: &str, expected: &str, found: String| {
        Error::corrupt(workspace.directory().join(MANIFEST_FILE), what).expected(expected, found)
    };
    let (directory, parameters) = (workspace.path(DIRECTORY), workspace.collection_parameters());
    let mut runs = Vec::new();
    let mut records: Vec<Record<u64>> = Vec::new();
    let mut given = 0u64;
    let mut write = |records: &mut Vec<Record<u64>>| -> Result<()> {
        records.sort_unstable_by_key(|record| record.key);
        let number = 1 + runs.len() as u64;
        let mut run = RunWriter::create(&directory, number, parameters, COMPRESSION)?;
        records.drain(..).try_for_each(|record| run.push(record))?;
        runs.push(RunEntry::from(run.finish()?));
        Ok(())
    };
    find(&mut |a, b, shared| {
        if a >= b || u64::from(b) >= documents {
            let found = format!("{a} and {b}");
            let expected = format!("two of {documents}, the earlier first");
            return Err(corrupt("documents of a pair", &expected, found));
        }
        given += 1;
        context.advance(STAGE, given)?;
        records.push(Record {
            key: Pair::key(a, b),
            value: shared,
        });
        match records.len() >= room.max(1) {
            true => write(&mut records),
            false => Ok(()),
        }
    })?;
    if !records.is_empty() {
        write(&mut records)?;
    }
    drop(records);
    if let Some(progress) = workspace.manifest.get_mut::<JoinProgress>() {
        progress.next_number = 1 + runs.len() as u64;
        progress.runs = runs;
    }
    workspace.commit(&[DIRECTORY])?;
    let sampled = Sampled::load_for(workspace, config.measure)?;
    let may = list::Listable::of(workspace, config.pairs, context)?;
    let join = Joining::new(config, (&sampled, &may), None, context);
    list::finish::<K>(workspace, &join, memory)?;
    let listed = workspace.record::<PairsEntry>("join")?.stats.pairs;
    if listed != given {
        workspace.manifest.remove::<PairsEntry>();
        workspace.commit(&[])?;
        let found = format!("{listed} of {given}");
        let expected = "each to reach the threshold and to come once";
        let path = workspace.directory().join(MANIFEST_FILE);
        return Err(Error::corrupt(path, "pairs of the tasks").expected(expected, found));
    }
    Ok(())
}
