//! The largest clusters, with the documents of them that were kept.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::STAGE;
use crate::dedup::{Decided, Removal};
use lookalike_base::{Least, Result};

/// Members of a cluster that are shown.
pub const MEMBERS_SHOWN: usize = 20;

/// A document of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterMember {
    /// Its number.
    pub document: u32,
    /// Why it was removed; `None` if it was kept.
    pub removed: Option<Removal>,
    /// Whether it is one of the other collection.
    pub of_other: bool,
    /// The resemblance with its survivor, if it has one.
    pub score: Option<String>,
}

/// A cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditedCluster {
    /// Its number in `clusters.jsonl`.
    pub number: u32,
    /// Its documents.
    pub members: u64,
    /// Those of them that were kept.
    pub kept: u64,
    /// At most [`MEMBERS_SHOWN`] members: those that were kept first, then those that were removed,
    /// both in the order of the input.
    pub shown: Vec<ClusterMember>,
}

/// The number of clusters, and the largest ones. Ties are in the order of the documents.
pub(super) fn largest(decided: &Decided<'_>, most: usize) -> Result<(u64, Vec<AuditedCluster>)> {
    let choice = &decided.choice;
    let mut all = 0;
    let mut largest = Least::new(most);
    for document in 0..choice.documents() {
        let size = choice.cluster_size(document);
        if choice.cluster_root(document) == document && size >= 2 {
            all += 1;
            largest.offer((Reverse(size), document));
        }
    }
    let largest = largest.sorted();
    let places: HashMap<u32, usize> = (largest.iter().enumerate())
        .map(|(place, (_, root))| (*root, place))
        .collect();
    let mut found: Vec<(AuditedCluster, Vec<ClusterMember>)> = largest
        .iter()
        .map(|(Reverse(size), root)| {
            let cluster = AuditedCluster {
                number: choice.cluster(*root).map_or(0, |(number, _)| number),
                members: u64::from(*size),
                kept: 0,
                shown: Vec::new(),
            };
            (cluster, Vec::new())
        })
        .collect();
    for document in 0..choice.documents() {
        decided.context.tick(STAGE, document)?;
        let place = places.get(&choice.cluster_root(document));
        let Some((cluster, gone)) = place.and_then(|&place| found.get_mut(place)) else {
            continue;
        };
        let member = member(decided, document);
        let list = match member.removed {
            None => {
                cluster.kept += 1;
                &mut cluster.shown
            }
            Some(_) => gone,
        };
        if list.len() < MEMBERS_SHOWN {
            list.push(member);
        }
    }
    let whole = found.into_iter().map(|(mut cluster, gone)| {
        cluster.shown.extend(gone);
        cluster.shown.truncate(MEMBERS_SHOWN);
        cluster
    });
    Ok((all, whole.collect()))
}

fn member(decided: &Decided<'_>, document: u32) -> ClusterMember {
    let fate = decided.choice.fate(document);
    let survivor = fate.and_then(|fate| fate.survivor);
    ClusterMember {
        document,
        removed: fate.map(|fate| fate.reason),
        of_other: document < decided.choice.first,
        score: survivor.map(|_| decided.score_text(document)),
    }
}
