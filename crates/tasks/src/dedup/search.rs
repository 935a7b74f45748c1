//! Finds the pairs of inputs that are to be deduplicated.

use std::path::Path;

use super::{DedupConfig, Rewriting, Rule};
use lookalike_base::{Context, Criterion, Result, refuse};
use lookalike_engine::cluster::ResultFormat;
use lookalike_engine::collection::CollectionConfig;
use lookalike_engine::join::{JoinConfig, Pairs, PairsEntry};
use lookalike_engine::pipeline::{self, InputChoice, JoinParameters};
use lookalike_rewrite::output::Places;
use lookalike_store::{Workspace, disk, has_records};
use lookalike_text::read::Inputs;

/// A search for the pairs of inputs.
pub struct Search<'s> {
    /// The inputs.
    pub inputs: InputChoice,
    /// How they are read.
    pub collection: CollectionConfig,
    /// The score and the threshold of the pairs.
    pub criterion: Criterion,
    /// Whether all pairs are listed or none.
    pub pairs: Pairs,
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
    config: &DedupConfig,
    outputs: Places<'_>,
    context: &Context<'_>,
) -> Result<Workspace> {
    let (collection, strict) = (&search.collection, search.strict);
    let of = Rewriting {
        config,
        outputs,
        read: &collection.read,
        context,
    };
    of.check_before(&search.inputs.paths, work)?;
    let join = JoinConfig {
        pairs: search.pairs,
        ..JoinConfig::from(search.criterion)
    };
    check_pairs(search, config)?;
    let parameters = JoinParameters::from(join);
    Workspace::look_whether_free(work)?;
    let inputs = search.inputs.list(work)?;
    check_kept(&join, &inputs, work, outputs.0)?;
    of.check_inputs(&inputs)?;
    match search.against {
        Some(old) => {
            let parameters = &parameters;
            pipeline::run_against(&inputs, old, work, collection, parameters, strict, context)?
        }
        None => pipeline::run(&inputs, work, collection, &parameters, strict, context)?,
    };
    let mut workspace = pipeline::open(work)?;
    if config.results == ResultFormat::Parquet {
        pipeline::tables(&mut workspace, context)?;
    }
    Ok(workspace)
}

/// Refuses pairs from which the removed documents would not follow.
fn check_pairs(search: &Search<'_>, config: &DedupConfig) -> Result<()> {
    match search.pairs {
        Pairs::Across => refuse("pairs", search.pairs, "dedup lists all or none"),
        Pairs::None if search.against.is_some() => {
            refuse("pairs", search.pairs, "--against lists pairs; use all")
        }
        Pairs::None if search.collection.condition.is_some() => refuse(
            "pairs",
            search.pairs,
            "--where decides on each pair; use all",
        ),
        Pairs::None => check_links(config),
        _ => Ok(()),
    }
}

/// Refuses parameters for which the links of clusters do not suffice: if listed documents are left
/// out, the rest of a cluster may have several parts.
pub(super) fn check_links(config: &DedupConfig) -> Result<()> {
    match config.rule {
        Rule::Cluster | Rule::None if config.remove.is_some() => {
            let limit = "with --drop it needs all pairs; find them without --pairs none";
            refuse("rule", config.rule, limit)
        }
        _ => Ok(()),
    }
}

/// Refuses another criterion, and more inputs, for an output that was begun: the new pairs would
/// replace the evidence of what was removed, before the output is refused.
fn check_kept(join: &JoinConfig, inputs: &Inputs, work: &Path, kept: &Path) -> Result<()> {
    if !has_records(kept)? || !disk::exists(work)? {
        return Ok(());
    }
    // A directory that cannot be read is refused when it is opened.
    let Ok(manifest) = pipeline::look(work) else {
        return Ok(());
    };
    let Some(pairs) = manifest.get::<PairsEntry>() else {
        return Ok(());
    };
    if inputs.len() as u64 > manifest.inputs.files {
        let limit = "it was made from fewer inputs; give a new directory";
        return refuse("output", kept.display(), limit);
    }
    let flags = |of: &JoinConfig| {
        let pairs = match of.pairs {
            Pairs::All => String::new(),
            pairs => format!(" --pairs {pairs}"),
        };
        format!("--score {} --threshold {}{pairs}", of.measure, of.threshold)
    };
    let (of, with) = (flags(&pairs.config), flags(join));
    if of == with {
        return Ok(());
    }
    let limit = format!(
        "it was made with {of}; repeat the command with them, or give another --output for {with}"
    );
    refuse("output", kept.display(), limit)
}
