//! The composition of each class of identical documents.

use lookalike_base::Counts;
use lookalike_store::field;

use super::documents::{Documents, NONE};

/// For each class, the number of its documents with each label.
pub(super) struct Classes {
    /// Where the labels of each class begin, indexed by the document that represents the class.
    starts: Vec<u32>,
    /// Label and number of documents; sorted by label within a class.
    labels: Vec<(u32, u32)>,
}

impl Classes {
    /// Collects (class, label) of the documents that have a label, out of `documents` documents.
    pub fn new(documents: u32, labelled: impl Iterator<Item = (u32, u32)>) -> Classes {
        let mut labels: Vec<(u32, u32)> = Vec::with_capacity(documents as usize);
        labels.extend(labelled);
        labels.sort_unstable();
        let mut starts = Vec::with_capacity(documents as usize + 1);
        let (mut read, mut written) = (0, 0);
        for class in 0..=documents {
            starts.push(written as u32);
            // The write position never overtakes the read position.
            while let Some(&pair) = labels.get(read).filter(|pair| pair.0 == class) {
                let equal = labels[read..]
                    .iter()
                    .take_while(|other| **other == pair)
                    .count();
                labels[written] = (pair.1, equal as u32);
                read += equal;
                written += 1;
            }
        }
        labels.truncate(written);
        Classes { starts, labels }
    }

    /// The labels in a class in ascending order, and the number of documents with each.
    pub fn of(&self, class: u32) -> &[(u32, u32)] {
        let class = class as usize;
        &self.labels[self.starts[class] as usize..self.starts[class + 1] as usize]
    }

    /// Number of documents of a class that have a label.
    pub fn size(&self, class: u32) -> u64 {
        self.of(class).iter().map(|&(_, n)| u64::from(n)).sum()
    }

    /// Number of documents of a class that have this label.
    pub fn with(&self, class: u32, label: u32) -> u64 {
        let labels = self.of(class);
        let at = labels.binary_search_by_key(&label, |&(label, _)| label);
        at.map_or(0, |at| u64::from(labels[at].1))
    }
}

/// The number of pairs of `n` documents.
pub(super) fn pairs_of(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

/// A pair of documents or of classes, the lower number first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub a: u32,
    pub b: u32,
}

impl Pair {
    pub fn new(a: u32, b: u32) -> Pair {
        let (a, b) = (a.min(b), a.max(b));
        Pair { a, b }
    }
}

field! {
    Pair, 64, |Pair { a, b }| u128::from(a) << 32 | u128::from(b), |number| Pair {
        a: (number >> 32) as u32,
        b: number as u32,
    };
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_counted_by_class() {
        let labelled = [(3, 9), (1, 7), (3, 2), (3, 9), (1, 7), (4, 0)];
        let classes = Classes::new(5, labelled.into_iter());
        let all: Vec<&[(u32, u32)]> = (0..5).map(|class| classes.of(class)).collect();
        let expected: [&[(u32, u32)]; 5] = [&[], &[(7, 2)], &[], &[(2, 1), (9, 2)], &[(0, 1)]];
        assert_eq!(all, expected);
        assert_eq!(
            (classes.size(3), classes.with(3, 9), classes.with(3, 3)),
            (3, 2, 0)
        );
        assert_eq!([0, 1, 2, 5].map(pairs_of), [0, 0, 1, 10]);
        assert_eq!(Pair::new(9, 4), Pair { a: 4, b: 9 });
    }
}
