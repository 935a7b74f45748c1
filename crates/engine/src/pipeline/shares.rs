//! A run whose inputs are read in shares, and whose pairs are found, by other processes.

use std::path::Path;

use crate::collection::{self, CollectionConfig, Ingested, Share};
use crate::join::{self, PairsEntry};
use crate::sample;
use lookalike_base::{Context, Result};
use lookalike_store::{MANIFEST_FILE, Workspace, disk};
use lookalike_text::read::Inputs;

use super::JoinParameters;

/// Reads a share of the inputs into segments of `out`, with their texts. They are the segments that
/// [`super::ingest`] makes of the same inputs. No other stage may work on the directory.
pub fn ingest_share(
    inputs: &Inputs,
    out: &Path,
    config: &CollectionConfig,
    share: Share,
    context: &Context<'_>,
) -> Result<Workspace> {
    config.check()?;
    config.read.check_programs(context)?;
    let mut workspace = super::open_or_create(out, config, (inputs, inputs.len()), context)?;
    super::read(&mut workspace, inputs, Some(share), context)?;
    Ok(workspace)
}

/// Opens or makes the directory of a run, and its catalogue. `bring` puts the segments into it that
/// it does not have yet, and commits them.
pub fn gather(
    inputs: &Inputs,
    out: &Path,
    config: &CollectionConfig,
    bring: impl FnOnce(&mut Workspace) -> Result<()>,
    context: &Context<'_>,
) -> Result<Workspace> {
    context.budget.check()?;
    let new = disk::is_gone(&out.join(MANIFEST_FILE))?;
    let made = disk::is_gone(out)?;
    let mut workspace = super::open_or_create(out, config, (inputs, inputs.len()), context)?;
    super::note_lost(&mut workspace, context);
    if !collection::ingested(&workspace.manifest) {
        super::stage(&mut workspace, "ingest", context, bring)?;
        workspace.manifest.set(Ingested(true));
        workspace.commit(&["collection"])?;
    }
    super::catalogue(&mut workspace, context)?;
    super::accepted(workspace, inputs.need_documents, (new, made), false)
}

/// Makes the pair list of pairs that were found elsewhere ([`join::found`]), unless the directory
/// has it. `find` passes them on.
pub fn join_found(
    workspace: &mut Workspace,
    parameters: &JoinParameters,
    find: impl FnOnce(&mut join::Take<'_>) -> Result<()>,
    context: &Context<'_>,
) -> Result<()> {
    let (config, sampling) = (&parameters.join, parameters.sampling());
    super::sampled::<u64>(workspace, &sampling, context)?;
    let digest = join::digest(&sample::digest(&workspace.manifest, &sampling), config);
    if !workspace.matches::<PairsEntry>(|pairs| pairs.digest == digest) {
        super::stage(workspace, "join", context, |workspace| {
            join::found(workspace, config, find, context)
        })?;
    }
    super::remove_stale(workspace).map(drop)
}
