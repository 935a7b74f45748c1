//! Finds the pairs of inputs that are to be deduplicated.

use std::path::Path;

use super::{DedupConfig, check_before, check_inputs};
use crate::Result;
use crate::base::measure::Criterion;
use crate::base::progress::Context;
use crate::engine::cluster::ResultFormat;
use crate::engine::collection::CollectionConfig;
use crate::engine::join::JoinConfig;
use crate::engine::pipeline::{self, InputChoice, JoinParameters};
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
