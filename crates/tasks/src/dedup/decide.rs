//! Decides over all documents of a collection, with everything that the decision reads.

use super::choose::{self, Choice};
use super::choosing::Choosing;
use super::listed;
use super::places::Places;
use super::policy::{Policy, Rule};
use super::referred::{self, References, Referred};
use super::{DedupConfig, STAGE, order, star, values};
use lookalike_base::{Bits, Context, Criterion, Measure, Result, Unit, counted, with_keys};
use lookalike_engine::collection::{self, Catalogue, Names};
use lookalike_engine::sample::Sampled;
use lookalike_rewrite::FIXED_BYTES;
use lookalike_store::{Scratch, Workspace};
use lookalike_text::read::InputFile;

/// The fate of every document, and the data about the documents.
pub struct Decided<'d> {
    pub workspace: &'d Workspace,
    pub inputs: &'d [InputFile],
    pub context: &'d Context<'d>,
    pub criterion: Criterion,
    pub choice: Choice,
    pub places: Places,
    pub names: Names,
    pub sizes: Sampled,
    /// Digest of the documents that a list names, and of those that `revisit` records keep.
    pub list: Option<u64>,
    /// The `revisit` records of the inputs.
    pub references: References,
    pub scratch: Scratch,
    /// Bytes of memory that are in use, with those that the caller named.
    pub used: u64,
    /// Bytes of memory that are left.
    pub spare: u64,
}

impl<'d> Decided<'d> {
    /// Decides by the parameters, with the pairs of the collection or without them
    /// ([`super::needs_pairs`]). The caller uses `beside` bytes of memory at the same time;
    /// `threads` says, from the bytes that are left, how many its threads need at least.
    pub fn make(
        workspace: &'d Workspace,
        inputs: &'d [InputFile],
        config: &DedupConfig,
        criterion: Criterion,
        pairs: bool,
        (beside, threads): (u64, &dyn Fn(u64) -> u64),
        context: &'d Context<'d>,
    ) -> Result<Decided<'d>> {
        let documents = Catalogue::stats(workspace)?.documents;
        let damaged = collection::damaged(workspace)?;
        let in_order = config.keep.iter().all(|policy| *policy == Policy::First);
        let ranks_bytes = match (in_order, &damaged) {
            (true, None) => 0,
            (_, damaged) => documents * 8 + damaged.as_ref().map_or(0, |_| documents / 8),
        };
        let extent = Catalogue::extent(workspace)?;
        let listing = config.remove.is_some();
        let listed_bytes = match listing {
            true => listed::bytes(documents, inputs.len() as u64),
            false => 0,
        };
        let star_bytes = match config.rule == Rule::Star && !choose::lists_pairs(workspace) {
            true => star::bytes(workspace)?,
            false => 0,
        };
        let revisits = referred::revisits(workspace, documents);
        let columns = Choice::bytes(workspace, documents, listing)?
            + config.identical.map_or(0, |_| documents * 16)
            + listed_bytes
            + Places::bytes(documents, inputs.len() as u64)
            + ranks_bytes
            + star_bytes
            + Sampled::bytes_for(criterion.measure, 1, extent)
            + Referred::bytes(documents, revisits)
            + beside
            + Catalogue::names_bytes(workspace, &context.budget)?;
        let used = FIXED_BYTES + columns;
        let there = context.budget.memory.0.saturating_sub(used);
        let what = || format!("choosing among {}", counted(documents, "document"));
        let spare = context.budget.rest(used, threads(there), what)?;

        let scratch = workspace.scratch(context)?;
        let places = Places::read(workspace, inputs.len() as u32, context)?;
        let names = Catalogue::names(workspace, &context.budget)?;
        let first = collection::against(&workspace.manifest).files as usize;
        let listed = (config.remove.as_ref())
            .map(|list| listed::read(list, inputs, first, &places, &names, context))
            .transpose()?;
        let mut list = listed.as_ref().map(Bits::digest);
        let choosing = Choosing {
            workspace,
            inputs,
            scratch: scratch.path(),
            memory: spare,
            context,
        };
        let values = values::preferences(choosing, &places, &config.keep)?;
        context.start(STAGE, Unit::Count("documents"), Some(documents));
        let largest_first = criterion.measure == Measure::Containment;
        let keep = &config.keep;
        let ranks = order::ranks(choosing, keep, largest_first, &values, damaged.as_ref())?;
        let mut choice = Choice::make(choosing, config, criterion, pairs, listed, &ranks)?;
        choice.damaged = damaged;
        let kind = collection::config(&workspace.manifest).shingle.fingerprint;
        with_keys!(kind, K => choice.compare_sets::<K>(choosing, &ranks))?;
        if let Some(which) = config.identical {
            choice.remove_copies(choosing, which, &ranks)?;
        }
        drop(ranks);
        context
            .progress
            .end(&format!("{STAGE}: {}", counted(documents, "document")));
        let mut references = References::default();
        if revisits > 0 {
            let found = Referred::find(choosing, &choice, config.rejects, revisits)?;
            references = found.counts;
            if references.kept > 0 {
                let digest = found.documents.digest();
                list = Some(list.unwrap_or_default().rotate_left(1) ^ digest);
                choice.referred = Some(found.documents);
            }
        }
        Ok(Decided {
            workspace,
            inputs,
            context,
            criterion,
            sizes: choose::sizes(workspace, pairs)?,
            choice,
            places,
            names,
            list,
            references,
            scratch,
            used,
            spare,
        })
    }

    /// The sizes of two documents, as the measure takes them.
    pub(crate) fn measured(&self, a: u32, b: u32) -> (u32, u32) {
        let class = |document| self.choice.representative(document);
        self.sizes.measured(class(a), class(b))
    }

    /// Returns the data for the steps after the decision.
    pub(crate) fn choosing(&self) -> Choosing<'_> {
        Choosing {
            workspace: self.workspace,
            inputs: self.inputs,
            scratch: self.scratch.path(),
            memory: self.spare,
            context: self.context,
        }
    }
}
