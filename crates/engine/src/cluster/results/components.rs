//! Which cluster each document is in.

use crate::collection::{self, Catalogue};
use crate::join::{JoinConfig, List, Pairs, each_measured_pair, each_pair};
use crate::sample::Sampled;
use lookalike_base::{Bits, Context, Ranks, Result, UnionFind};
use lookalike_store::Workspace;

use super::{ClusterStats, STAGE};

/// The connected components of the pairs and of the exact duplicates. A component of two documents
/// or more is a cluster, and its least document is its root: the representative.
pub(super) struct Components {
    /// The root of each document.
    pub(super) roots: Vec<u32>,
    numbers: Ranks,
}

impl Components {
    /// Unites the documents of each pair, and exact duplicates, and numbers the clusters by their
    /// roots.
    pub(super) fn new(
        workspace: &Workspace,
        stats: &mut ClusterStats,
        context: &Context<'_>,
    ) -> Result<Components> {
        let sets = UnionFind::new(Catalogue::stats(workspace)?.documents as u32);
        let mut pairs = 0u64;
        each_pair(workspace, List::Pairs, |pair| {
            context.tick(STAGE, pairs)?;
            pairs += 1;
            sets.union(pair.a, pair.b);
            Ok(())
        })?;
        Catalogue::each_representative(workspace, |document, first| {
            sets.union(first, document);
            Ok(())
        })?;
        let roots = sets.roots();
        let first = collection::against(&workspace.manifest).documents;
        let numbers = numbers(&roots, first);
        stats.clusters = numbers.count().into();
        let in_cluster = |root: &&u32| numbers.get(**root).is_some();
        stats.documents = roots.iter().filter(in_cluster).count() as u64;
        let own = (0..).zip(&roots).skip(first as usize);
        let redundant = own.filter(|(document, root)| document != *root);
        stats.redundant = redundant.count() as u64;
        Ok(Components { roots, numbers })
    }

    /// The root and the number of the cluster of a document; `None` if it is in no cluster.
    pub(super) fn cluster(&self, document: u32) -> Option<(u32, u32)> {
        let root = self.roots[document as usize];
        Some((root, self.numbers.get(root)?))
    }

    /// For each document, the amount from which the measure of its pair with the root of its cluster is
    /// computed, or [`UNLISTED`].
    pub(super) fn with_root(
        &self,
        workspace: &Workspace,
        config: &JoinConfig,
        sampled: &Sampled,
    ) -> Result<Vec<u32>> {
        let mut amounts = vec![UNLISTED; self.roots.len()];
        let criterion = config.criterion();
        each_measured_pair(workspace, List::Pairs, sampled, |pair, (a, b)| {
            // If pairs are not listed, the links of the clusters may be below the threshold.
            let reached = || {
                config.pairs != Pairs::None
                    || criterion.reached(pair.shared.into(), a.into(), b.into())
            };
            if self.roots[pair.a as usize] == pair.a && reached() {
                amounts[pair.b as usize] = pair.stored_amount(config.measure);
            }
            Ok(())
        })?;
        Ok(amounts)
    }
}

/// Marks a document that is in no pair with its root. No amount is as large: a set of that size
/// would be a document of 32 GiB.
pub(super) const UNLISTED: u32 = u32::MAX;

/// The roots of the clusters that have documents from `first` on. The rank of a root is the number
/// of its cluster.
fn numbers(roots: &[u32], first: u32) -> Ranks {
    let mut of_clusters = Bits::new(roots.len());
    for (document, &root) in roots.iter().enumerate().skip(first as usize) {
        if root as usize != document {
            of_clusters.insert(root);
        }
    }
    Ranks::of(of_clusters)
}

/// Memory for this number of documents: roots, amounts, and the numbers of clusters.
pub(super) fn bytes(documents: u64) -> u64 {
    documents * 8 + documents / 8 + Ranks::bytes(documents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_numbered_by_their_roots() {
        for documents in [0u32, 1, 63, 64, 65, 5000] {
            // Every third document is a root of two or three; some documents are alone.
            let roots: Vec<u32> = (0..documents)
                .map(|document| {
                    if document % 7 == 0 {
                        document
                    } else {
                        document - document % 3
                    }
                })
                .collect();
            let numbers = numbers(&roots, 0);
            let mut next = 0;
            for root in 0..documents {
                let members = roots.iter().filter(|&&other| other == root).count();
                let expected = (members > 1).then_some(next);
                next += u32::from(members > 1);
                assert_eq!(numbers.get(root), expected, "{root} of {documents}");
            }
            assert_eq!(numbers.count(), next);
        }
    }
}
