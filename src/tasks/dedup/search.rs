//! Finds the pairs of inputs that are to be deduplicated.

use std::path::Path;

use super::{DedupConfig, check_before, check_inputs, is_kept};
use crate::Result;
use crate::base::error::refuse;
use crate::base::measure::Criterion;
use crate::base::progress::Context;
use crate::engine::cluster::ResultFormat;
use crate::engine::collection::CollectionConfig;
use crate::engine::join::{JoinConfig, PairsEntry};
use crate::engine::pipeline::{self, InputChoice, JoinParameters};
use crate::store::disk;
use crate::store::workspace::Workspace;

/// A search for the pairs of inputs.
pub struct Search<'s> {
    /// The inputs.
    pub inputs: InputChoice,
    /// How they are read.
    pub collection: CollectionConfig,
    /// The score and the threshold of the pairs.
    pub criterion: Criterion,
    /// An output directory: an input that resembles one of its documents is removed.
    pub against: Option<&'s Path>,
    /// Whether a rejected record is an error.
    pub strict: bool,
}

/// Finds the pairs in a working directory, or continues there. Before it reads the inputs, it
/// refuses whatever [`run`](super::run) would refuse after hours.
///
/// # Errors
/// `BadParameter`; `BudgetTooSmall`; the errors of [`pipeline::run`].
pub fn search(
    search: &Search<'_>,
    work: &Path,
    (config, outputs): (&DedupConfig, (&Path, Option<&Path>)),
    context: &Context<'_>,
) -> Result<Workspace> {
    let (collection, strict) = (&search.collection, search.strict);
    let how = (config, &collection.read);
    check_before(&search.inputs.paths, work, outputs, how, context)?;
    check_kept(search.criterion, work, outputs.0)?;
    let parameters = JoinParameters::from(JoinConfig::of(search.criterion));
    Workspace::look_whether_free(work)?;
    let inputs = search.inputs.list(work)?;
    let removed = outputs.1.is_some();
    check_inputs(config, &inputs, removed, &collection.read, context)?;
    match search.against {
        Some(old) => {
            let from = (&inputs, old);
            pipeline::run_against(from, work, collection, &parameters, strict, context)?
        }
        None => pipeline::run(&inputs, work, collection, &parameters, strict, context)?,
    };
    let mut workspace = pipeline::open(work)?;
    if config.results == ResultFormat::Parquet {
        pipeline::tables(&mut workspace, context)?;
    }
    Ok(workspace)
}

/// Refuses another criterion for an output that was begun: the new pairs would replace the evidence
/// of what was removed, before the output is refused.
fn check_kept(criterion: Criterion, work: &Path, kept: &Path) -> Result<()> {
    if !is_kept(kept)? || !disk::exists(work)? {
        return Ok(());
    }
    // A directory that cannot be read is refused when it is opened.
    let Ok(manifest) = pipeline::look(work) else {
        return Ok(());
    };
    let Some(pairs) = manifest.get::<PairsEntry>() else {
        return Ok(());
    };
    let of = (pairs.config.measure, pairs.config.threshold);
    if of == (criterion.measure, criterion.threshold) {
        return Ok(());
    }
    let limit = format!(
        "it was made with --score {} --threshold {}; repeat the command with them, or give another --output for \
         --score {} --threshold {}",
        of.0, of.1, criterion.measure, criterion.threshold
    );
    refuse("output", kept.display(), limit)
}
