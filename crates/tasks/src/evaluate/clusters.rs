//! Pairs within clusters, counted from cluster sizes.

use super::Evaluating;
use super::classes::pairs_of;
use super::documents::{Documents, NONE};
use lookalike_base::Result;
use lookalike_base::precision::Counts;
use lookalike_store::Group;
use lookalike_store::item::item;

item! {
    /// A document in both clusters, or in one.
    struct Clustered {
        clusters: u64,
        document: u32,
    }
}

/// Compares the clusters of two directories over the documents of the ground truth's collection.
/// Two documents are a pair if they are in one cluster.
pub(super) fn compare(of: Evaluating<'_>, documents: &Documents) -> Result<Counts> {
    let (truth, run) = (&documents.truth.clusters, &documents.run.clusters);
    // Pairs of documents with the same key. The key is both clusters of a document, or one of them.
    let pairs = |key: &dyn Fn(usize) -> Option<u64>| -> Result<u64> {
        let mut sort = of.sort_beside(0, "clusters")?;
        for document in (0..documents.count()).filter(|&d| documents.known(d)) {
            if let Some(clusters) = key(document as usize) {
                sort.push(Clustered { clusters, document })?;
            }
        }
        let mut pairs = 0;
        let sorted = sort.finish()?;
        let count = |_, all: &mut Group<'_, Clustered>| {
            let mut size = 0;
            while all.next()?.is_some() {
                size += 1;
            }
            pairs += pairs_of(size);
            Ok(())
        };
        sorted.groups(|clustered| clustered.clusters, count)?;
        Ok(pairs)
    };
    let cluster = |clusters: &[u32], document: usize| {
        let cluster = clusters[document];
        (cluster != NONE).then_some(u64::from(cluster))
    };
    let true_pairs = pairs(&|document| cluster(truth, document))?;
    let found = pairs(&|document| cluster(run, document))?;
    let correct =
        pairs(&|document| Some(cluster(truth, document)? << 32 | cluster(run, document)?))?;
    Ok(Counts {
        correct,
        wrong: found - correct,
        missed: true_pairs - correct,
    })
}
