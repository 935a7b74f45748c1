//! Computes the cut-offs: how far the prefix of each document reaches.

use crate::base::ids::Key;
use crate::engine::collection::{Catalogue, Column, Extent};
use crate::engine::join::JoinProgress;
use crate::engine::merge::PostingsEntry;
use crate::engine::merge::profile::{
    Base, CLASSES, Profile, each_committed, each_profile, typical,
};
use crate::engine::sort::RunsEntry;
use crate::store::workspace::Workspace;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

use super::{Joining, STAGE};

/// The most times that frequencies are counted again.
const MOST_RECOUNTS: usize = 3;
/// Estimated cost of another pass over the postings, in probes per entry. The pass saves at most
/// the probes under fingerprints that pruning made rarer.
const PROBES_OF_AN_ENTRY: u64 = 1;

/// Counters of a round of pruning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Documents with fingerprints before the round.
    pub documents: u64,
    /// Entries of these documents in the posting lists that have two or more of them.
    pub entries: u64,
    /// Documents that the round pruned.
    pub pruned: u64,
    /// Entries of the pruned documents.
    pub entries_pruned: u64,
    /// Expected number of probes under the cut-offs after the round.
    pub probes_expected: u64,
}

/// The prefixes of a level's documents.
pub(super) struct Level {
    /// The last class of each document's prefix; 0 for a document that is pruned or is not compared
    /// at this level. Empty if all postings are in prefixes.
    pub(super) cutoff: Vec<u8>,
    /// The number of fingerprints of that class in the prefix, which takes the first ones.
    pub(super) quota: Column,
    /// The number of each document's fingerprints that occur in other documents too.
    pub(super) shareable: Column,
    /// The documents over which frequencies are counted; `None` for all documents.
    pub(super) base: Option<Base>,
}

/// The prefixes of all documents.
pub(super) struct Cutoffs(pub(super) Vec<Level>);

impl Cutoffs {
    /// Bytes of memory for this number of levels of a collection.
    pub(super) fn bytes(levels: usize, extent: Extent) -> u64 {
        let documents = extent.documents;
        levels as u64 * (documents + documents / 4 + 2 * extent.column_bytes())
    }
}

/// The state of one round.
struct Settling<'a> {
    join: &'a Joining<'a>,
    /// The directory of the postings.
    postings: PathBuf,
    levels: Vec<Level>,
    round: Round,
    prefix_postings: u64,
}

impl<'a> Settling<'a> {
    /// The first round, over the committed profiles.
    fn of(workspace: &Workspace, join: &'a Joining<'a>) -> Result<Self> {
        let documents = join.sampled.documents();
        // No number is larger than the size of the sample.
        let level = |sizes: &Column| Level {
            cutoff: vec![0; documents],
            quota: sizes.zeros_like(),
            shareable: sizes.zeros_like(),
            base: None,
        };
        let mut settling = Settling {
            join,
            postings: workspace.path("postings"),
            levels: join.sampled.columns().iter().map(level).collect(),
            round: Round::default(),
            prefix_postings: 0,
        };
        each_committed(
            workspace,
            join.sampled,
            (STAGE, join.context),
            |level, document, profile| settling.take(level, document, profile, true),
        )?;
        Ok(settling)
    }

    /// Processes a document's profile. `among` says whether the document takes part in the round.
    fn take(&mut self, level: usize, document: u32, profile: &Profile, among: bool) -> Result<()> {
        let to = &mut self.levels[level];
        let at = document as usize;
        to.cutoff[at] = 0;
        to.quota.set(document, 0);
        to.shareable.set(document, 0);
        let size = self.join.sampled.at(level, document);
        if size == 0 || self.join.sampled.level(document) > level || !among {
            return Ok(());
        }
        let measured = self.join.sampled.measured_at(level, document);
        let shared: u64 = profile.iter().map(|&n| u64::from(n)).sum();
        let singles = u64::from(size).checked_sub(shared);
        let singles = singles.ok_or_else(|| {
            let what = format!("fingerprints of document {document} in the postings");
            Error::corrupt(&self.postings, what).expected(format!("at most {size}"), shared)
        })?;
        self.round.documents += 1;
        self.round.entries += shared;
        let prefix = u64::from(self.join.config.of_samples().prefix(size, measured));
        let Some(mut left) = prefix.checked_sub(singles).filter(|&left| left > 0) else {
            self.round.pruned += 1;
            self.round.entries_pruned += shared;
            return Ok(());
        };
        self.prefix_postings += left;
        to.shareable.set(document, shared as u32);
        // The prefix is at most as long as the set, so it ends in one of the classes.
        for (class, &n) in profile.iter().enumerate().take(CLASSES).skip(1) {
            let taken = left.min(n.into());
            self.round.probes_expected += taken * (typical(class) - 1) / 2;
            if u64::from(n) >= left {
                to.cutoff[at] = class as u8;
                to.quota.set(document, left as u32);
                break;
            }
            left -= taken;
        }
        Ok(())
    }
}

/// Expected number of probes under the cut-offs before any recount.
pub(super) fn expected(workspace: &Workspace, join: &Joining<'_>) -> Result<u64> {
    Ok(Settling::of(workspace, join)?.round.probes_expected)
}

/// Prunes documents, repeats the count while that pays, and returns the cut-offs of the remaining
/// documents.
pub(super) fn settle<K: Key>(
    workspace: &mut Workspace,
    join: &Joining<'_>,
    memory: u64,
) -> Result<Cutoffs> {
    let (documents, levels) = (join.sampled.documents(), join.sampled.rates().len());
    let postings = workspace.manifest.get::<PostingsEntry>();
    if postings.is_some_and(|postings| postings.selection.is_some()) {
        return Ok(selected(workspace, join));
    }
    let mut settling = Settling::of(workspace, join)?;
    let mut rounds = vec![settling.round];
    let cutoffs = Cutoffs::bytes(levels, Catalogue::extent(workspace)?);
    let memory = memory.saturating_sub(cutoffs);
    while rounds.len() <= MOST_RECOUNTS && pays(&settling.round) {
        join.context.stop.check(STAGE)?;
        let base = |level: &Level| Base::of(documents, |d| level.cutoff[d as usize] > 0);
        let bases: Vec<Option<Base>> = settling.levels.iter().map(|l| Some(base(l))).collect();
        (settling.round, settling.prefix_postings) = (Round::default(), 0);
        let (sampled, context) = (join.sampled, join.context);
        each_profile::<K>(
            workspace,
            sampled,
            &bases,
            memory,
            (STAGE, context),
            |level, document, profile| {
                let among = bases[level]
                    .as_ref()
                    .is_none_or(|base| base.holds(document));
                settling.take(level, document, profile, among)
            },
        )?;
        for (level, base) in settling.levels.iter_mut().zip(bases) {
            level.base = base;
        }
        rounds.push(settling.round);
    }
    let merged = workspace.manifest.get::<PostingsEntry>();
    let merged = merged.map(|postings| postings.stats).unwrap_or_default();
    if let Some(joining) = workspace.manifest.get_mut::<JoinProgress>() {
        let stats = joining.stats.prefix.get_or_insert_default();
        stats.entries = merged.entries;
        stats.singles = merged.singles;
        stats.rounds = rounds;
        stats.prefix_postings = settling.prefix_postings;
    }
    Ok(Cutoffs(settling.levels))
}

/// The cut-offs over selected postings: all of them are in prefixes.
fn selected(workspace: &mut Workspace, join: &Joining<'_>) -> Cutoffs {
    let merged = workspace.manifest.get::<PostingsEntry>();
    let merged = merged.map(|postings| postings.stats).unwrap_or_default();
    let runs = workspace.manifest.get::<RunsEntry>();
    let selected = runs.and_then(|runs| runs.selected).unwrap_or_default();
    if let Some(joining) = workspace.manifest.get_mut::<JoinProgress>() {
        let stats = joining.stats.prefix.get_or_insert_default();
        stats.entries = merged.entries;
        stats.singles = merged.singles;
        stats.prefix_postings = merged.entries;
        stats.rounds = vec![Round {
            documents: selected.documents,
            entries: merged.entries,
            pruned: selected.pruned,
            entries_pruned: 0,
            probes_expected: selected.probes_expected,
        }];
    }
    let level = |sizes: &Column| Level {
        cutoff: Vec::new(),
        quota: std::iter::empty().collect(),
        shareable: sizes.clone(),
        base: None,
    };
    Cutoffs(join.sampled.columns().iter().map(level).collect())
}

/// Does another count pay? It costs a pass over all entries. The fraction of the expected probes
/// that it can save is about the fraction of the entries that belonged to the pruned documents.
fn pays(round: &Round) -> bool {
    let saved = u128::from(round.probes_expected) * u128::from(round.entries_pruned)
        / u128::from(round.entries.max(1));
    saved > u128::from(round.entries * PROBES_OF_AN_ENTRY)
}
