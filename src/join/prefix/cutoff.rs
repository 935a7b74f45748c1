//! How far the prefix of each document reaches.

use crate::ids::Key;
use crate::join::JoinProgress;
use crate::merge::PostingsEntry;
use crate::merge::profile::{Base, CLASSES, Profile, each_committed, each_profile, typical};
use crate::workspace::Workspace;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

use super::{Joining, STAGE};

/// Times that frequencies are counted again at most.
const MOST_RECOUNTS: usize = 3;
/// Another pass over the postings costs about as much as so many probes for each of its entries, and
/// saves at most those probes that are made under fingerprints which pruning made rarer.
const PROBES_OF_AN_ENTRY: u64 = 1;

/// What a round of pruning did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Documents with fingerprints before it,
    pub documents: u64,
    /// their entries in the postings (of two of these documents or more),
    pub entries: u64,
    /// the documents it pruned,
    pub pruned: u64,
    /// and their entries.
    pub entries_pruned: u64,
    /// Probes that the cut-offs after it let expect.
    pub probes_expected: u64,
}

/// The prefixes of a level's documents.
pub(super) struct Level {
    /// The last class of a document's prefix; 0 for one that is pruned, or not compared at this level.
    pub(super) cutoff: Vec<u8>,
    /// How many fingerprints of that class are in it: the first ones.
    pub(super) quota: Vec<u32>,
    /// Fingerprints that it can share with any other document.
    pub(super) shareable: Vec<u32>,
    /// Documents over which frequencies are counted; none is all.
    pub(super) base: Option<Base>,
}

/// The prefixes of all documents.
pub(super) struct Cutoffs(pub(super) Vec<Level>);

impl Cutoffs {
    /// Bytes of memory for so many documents.
    pub(super) fn bytes(levels: usize, documents: u64) -> u64 {
        levels as u64 * (documents * 9 + documents / 4)
    }
}

/// One round, while it goes on.
struct Settling<'a> {
    join: &'a Joining<'a>,
    /// The directory of what is counted.
    postings: PathBuf,
    levels: Vec<Level>,
    round: Round,
    prefix_postings: u64,
}

impl<'a> Settling<'a> {
    /// The first round, over the committed profiles.
    fn of(workspace: &Workspace, join: &'a Joining<'a>) -> Result<Self> {
        let documents = join.sampled.documents();
        let level = || Level {
            cutoff: vec![0; documents],
            quota: vec![0; documents],
            shareable: vec![0; documents],
            base: None,
        };
        let mut settling = Settling {
            join,
            postings: workspace.path("postings"),
            levels: join.sampled.rates().iter().map(|_| level()).collect(),
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

    /// Takes a document's profile; `among`: is it one of those that the round begins with?
    fn take(&mut self, level: usize, document: u32, profile: &Profile, among: bool) -> Result<()> {
        let to = &mut self.levels[level];
        let at = document as usize;
        (to.cutoff[at], to.quota[at], to.shareable[at]) = (0, 0, 0);
        let size = self.join.sampled.at(level, document);
        if size == 0 || self.join.sampled.level(document) > level || !among {
            return Ok(());
        }
        let measured = self.join.sampled.measured_at(level, document);
        let shared: u64 = profile.iter().map(|&n| u64::from(n)).sum();
        let singles = u64::from(size).checked_sub(shared);
        let singles = singles.ok_or_else(|| Error::Corrupt {
            path: self.postings.clone(),
            offset_bytes: None,
            what: format!("fingerprints of document {document} in the postings"),
            expected: format!("at most {size}"),
            found: shared.to_string(),
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
        to.shareable[at] = shared as u32;
        // The prefix is at most the size, so one of the classes ends it.
        for (class, &n) in profile.iter().enumerate().take(CLASSES).skip(1) {
            let taken = left.min(n.into());
            self.round.probes_expected += taken * (typical(class) - 1) / 2;
            if u64::from(n) >= left {
                (to.cutoff[at], to.quota[at]) = (class as u8, left as u32);
                break;
            }
            left -= taken;
        }
        Ok(())
    }
}

/// Probes that the cut-offs let expect before any recount.
pub(super) fn expected(workspace: &Workspace, join: &Joining<'_>) -> Result<u64> {
    Ok(Settling::of(workspace, join)?.round.probes_expected)
}

/// Prunes documents, counts again while it pays, and returns the cut-offs of the others.
pub(super) fn settle<K: Key>(
    workspace: &mut Workspace,
    join: &Joining<'_>,
    memory: u64,
) -> Result<Cutoffs> {
    let (documents, levels) = (join.sampled.documents(), join.sampled.rates().len());
    let mut settling = Settling::of(workspace, join)?;
    let mut rounds = vec![settling.round];
    let memory = memory.saturating_sub(Cutoffs::bytes(levels, documents as u64));
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

/// Does another count pay? It can save as large a part of the expected probes as the pruned documents had
/// of the entries, about, and costs a pass over all entries.
fn pays(round: &Round) -> bool {
    let saved = u128::from(round.probes_expected) * u128::from(round.entries_pruned)
        / u128::from(round.entries.max(1));
    saved > u128::from(round.entries * PROBES_OF_AN_ENTRY)
}
