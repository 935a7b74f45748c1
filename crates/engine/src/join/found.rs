//! The pair list, made of pairs that were found without this directory.

use crate::collection::Catalogue;
use crate::sample::{SampleEntry, Sampled};
use crate::sort::Record;
use lookalike_base::{Context, Error, Result, Unit, budget::ByteSize};
use lookalike_store::{MANIFEST_FILE, Sort, Workspace, item};

use super::{JoinConfig, JoinProgress, Pair, PairsEntry, STAGE, list};

/// Bytes of pairs that are sorted together, if memory has room for them.
const MOST_SORTED: u64 = 1 << 30;
/// Memory for buffers of readers and writers.
const FIXED_BYTES: u64 = 16 << 20;

item! {
    /// A pair in a sort.
    struct TaskPair {
        a: u32,
        b: u32,
        shared: u32,
    }
}

/// Takes a pair: two documents and their shared count.
pub type Take<'t> = dyn FnMut(u32, u32, u32) -> Result<()> + 't;

/// Makes the pair list of the pairs a < b of representatives that `find` passes on, each once and in
/// any order, with their shared counts. The pairs must be all pairs that reach the threshold.
///
/// # Errors
/// `Corrupt` if a pair does not reach it, comes twice, or is not of two documents.
pub fn run(
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
    let sampled = Sampled::load_for(workspace, config.measure)?;
    let corrupt = |what: &str, expected: &str, found: String| {
        Error::corrupt(workspace.directory().join(MANIFEST_FILE), what).expected(expected, found)
    };
    let scratch = workspace.scratch(context)?;
    let memory = ByteSize(memory.min(MOST_SORTED));
    let mut sort = Sort::scratch(&scratch.path().join("found"), memory)?;
    let mut given = 0u64;
    find(&mut |a, b, shared| {
        if a >= b || u64::from(b) >= documents {
            let found = format!("{a} and {b}");
            let expected = format!("two of {documents}, the earlier first");
            return Err(corrupt("documents of a pair", &expected, found));
        }
        given += 1;
        context.advance(STAGE, given)?;
        sort.push(TaskPair { a, b, shared })
    })?;
    let mut out = list::writer(workspace, 0)?;
    let mut last = None;
    sort.finish()?.for_each(|TaskPair { a, b, shared }| {
        context.stop.check(STAGE)?;
        let (key, sizes) = (Pair::key(a, b), sampled.measured(a, b));
        let reached = (config.criterion()).reached(shared.into(), sizes.0.into(), sizes.1.into());
        if last.replace(key) == Some(key) || !reached {
            let expected = "each to reach the threshold and to come once";
            return Err(corrupt(
                "pairs of the tasks",
                expected,
                format!("{a} and {b}"),
            ));
        }
        out.push(Record { key, value: shared })
    })?;
    drop(scratch);
    let part = out.finish()?;
    list::committed(workspace, config, vec![part], [None, None], given)
}
