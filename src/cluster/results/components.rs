//! Which cluster each document is in.

use crate::Result;
use crate::collection::{Catalogue, Column};
use crate::join::{JoinConfig, Pairs, each_pair};
use crate::progress::Context;
use crate::sample::Sampled;
use crate::union_find::UnionFind;
use crate::workspace::Workspace;

use super::{ClusterStats, STAGE};

/// Marks a document that is in no cluster.
pub(super) const NO_CLUSTER: u32 = u32::MAX;

/// The connected components of the pairs and of the exact duplicates. A component of two documents
/// or more is a cluster, and its least document is its root: the representative.
pub(super) struct Components {
    /// The root of each document.
    pub(super) roots: Vec<u32>,
    /// For each document, the first document with the same MD5.
    pub(super) firsts: Column,
    /// The number of the cluster of each root; [`NO_CLUSTER`] for the other documents.
    pub(super) numbers: Vec<u32>,
}

impl Components {
    /// Unites the documents of each pair, and exact duplicates, and numbers the clusters by their
    /// roots.
    pub(super) fn new(
        workspace: &Workspace,
        stats: &mut ClusterStats,
        context: &Context<'_>,
    ) -> Result<Components> {
        let firsts = Catalogue::representatives(workspace)?;
        let mut sets = UnionFind::new(firsts.0.len() as u32);
        let mut pairs = 0u64;
        each_pair(workspace, |pair| {
            if pairs.is_multiple_of(4096) {
                context.stop.check(STAGE)?;
            }
            pairs += 1;
            sets.union(pair.a, pair.b);
            Ok(())
        })?;
        for (document, &first) in firsts.0.iter().enumerate() {
            sets.union(first, document as u32);
        }
        // The sizes of the components, then the numbers of those of two documents or more.
        let roots = sets.roots();
        let mut numbers = vec![0u32; roots.len()];
        for &root in &roots {
            numbers[root as usize] += 1;
        }
        let mut next = 0u32;
        for size in &mut numbers {
            if *size >= 2 {
                stats.clusters += 1;
                stats.documents += u64::from(*size);
                stats.largest = stats.largest.max((*size).into());
                *size = next;
                next += 1;
            } else {
                *size = NO_CLUSTER;
            }
        }
        stats.redundant = stats.documents - stats.clusters;
        Ok(Components {
            roots,
            firsts,
            numbers,
        })
    }

    /// The first document with the same MD5, and the number of the cluster.
    pub(super) fn place(&self, document: u32) -> (u32, u32) {
        let root = self.roots[document as usize];
        (
            self.firsts.0[document as usize],
            self.numbers[root as usize],
        )
    }

    /// The pairs of a document and the root of its cluster, sorted by document. There are at most
    /// `linked` of them, because a document is in at most one pair with its root.
    pub(super) fn pairs_with_root(
        &self,
        workspace: &Workspace,
        config: &JoinConfig,
        sampled: &Sampled,
        linked: u64,
    ) -> Result<Vec<RootPair>> {
        let mut pairs: Vec<RootPair> = Vec::with_capacity(linked as usize);
        let criterion = config.criterion();
        each_pair(workspace, |pair| {
            let (a, b) = sampled.measured(pair.a, pair.b);
            // If pairs are not listed, the links of the clusters may be below the threshold.
            let reached = || {
                config.pairs != Pairs::None
                    || criterion.reached(pair.shared.into(), a.into(), b.into())
            };
            if self.roots[pair.a as usize] == pair.a && reached() {
                pairs.push(RootPair {
                    document: pair.b,
                    amount: pair.stored_amount(config.measure),
                    root_size: a,
                    size: b,
                });
            }
            Ok(())
        })?;
        pairs.sort_unstable_by_key(|pair| pair.document);
        Ok(pairs)
    }
}

/// A pair of a document and the root of its cluster.
pub(super) struct RootPair {
    pub(super) document: u32,
    /// The amount that the measure is computed from.
    pub(super) amount: u32,
    pub(super) root_size: u32,
    pub(super) size: u32,
}

/// Memory for this number of documents, of which `linked` may have a pair with the root of their
/// cluster.
pub(super) fn bytes(documents: u64, linked: u64) -> u64 {
    documents * 3 * size_of::<u32>() as u64 + linked * size_of::<RootPair>() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link took 24 bytes where 16 were counted, and a list that grows up to twice as many.
    #[test]
    fn memory_is_counted_as_it_is_taken() {
        assert_eq!(size_of::<RootPair>(), 16);
        assert_eq!(bytes(1000, 600), 1000 * 12 + 600 * 16);
    }
}
