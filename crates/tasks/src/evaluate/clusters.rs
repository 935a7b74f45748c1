//! Pairs within clusters, counted from cluster sizes.

use super::classes::{Classes, pairs_of};
use super::documents::{Documents, NONE};
use lookalike_base::precision::Counts;

/// Compares the clusters of two directories over the documents of the ground truth's collection.
/// Two documents are a pair if they are in one cluster.
pub(super) fn compare(documents: &Documents) -> Counts {
    let (truth, run) = (&documents.truth.clusters, &documents.run.clusters);
    // Pairs of documents of one cluster of the first list, and of one cluster of both lists.
    let pairs = |one: &[u32], other: &[u32]| {
        let known = (0..documents.count()).filter(|&document| documents.known(document));
        let each = known.map(|document| (one[document as usize], other[document as usize]));
        let clusters = Classes::new(documents.count(), each.filter(|(one, _)| *one != NONE));
        let mut pairs = [0; 2];
        for cluster in 0..documents.count() {
            let both = clusters
                .of(cluster)
                .iter()
                .filter(|(other, _)| *other != NONE);
            pairs[0] += pairs_of(clusters.size(cluster));
            pairs[1] += both.map(|&(_, size)| pairs_of(size.into())).sum::<u64>();
        }
        pairs
    };
    let [true_pairs, correct] = pairs(truth, run);
    let [found, _] = pairs(run, truth);
    Counts {
        correct,
        wrong: found - correct,
        missed: true_pairs - correct,
    }
}
