//! Pairs within clusters, counted from cluster sizes.

use std::path::Path;

use super::classes::pairs_of;
use super::documents::{Documents, NONE};
use crate::Result;
use crate::base::budget::ByteSize;
use crate::base::precision::Counts;
use crate::store::{Tagged, sort_tagged};

/// Compares the clusters of two directories over the documents of the ground truth's collection.
/// Two documents are a pair if they are in one cluster.
pub(super) fn compare(documents: &Documents, scratch: &Path, memory: ByteSize) -> Result<Counts> {
    let (truth, run) = (&documents.truth.clusters, &documents.run.clusters);
    // Pairs of documents with the same key. The key is both clusters of a document, or one of them.
    let pairs = |key: &dyn Fn(usize) -> Option<u128>| -> Result<u64> {
        let (mut last, mut size, mut pairs) = (None, 0, 0);
        sort_tagged(
            scratch,
            "clusters",
            memory,
            |push| {
                for document in (0..documents.count()).filter(|&d| documents.known(d)) {
                    if let Some(key) = key(document as usize) {
                        push(Tagged {
                            key,
                            document,
                            extra: 0,
                        })?;
                    }
                }
                Ok(())
            },
            |Tagged { key, .. }| {
                if last.replace(key) != Some(key) {
                    pairs += pairs_of(size);
                    size = 0;
                }
                size += 1;
                Ok(())
            },
        )?;
        Ok(pairs + pairs_of(size))
    };
    let cluster = |clusters: &[u32], document: usize| {
        let cluster = clusters[document];
        (cluster != NONE).then_some(u128::from(cluster))
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
