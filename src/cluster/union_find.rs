//! Union-find whose roots are the least members.

/// Disjoint sets of document numbers.
#[derive(Clone, Debug)]
pub struct UnionFind(Vec<u32>);

impl UnionFind {
    /// Every document by itself.
    #[must_use]
    pub fn new(documents: u32) -> UnionFind {
        UnionFind((0..documents).collect())
    }

    /// The least member of a document's set.
    pub fn find(&mut self, document: u32) -> u32 {
        let mut at = document;
        loop {
            let parent = self.0[at as usize];
            let above = self.0[parent as usize];
            if parent == above {
                return parent;
            }
            // Path halving: every other step points two up.
            self.0[at as usize] = above;
            at = above;
        }
    }

    /// Makes the sets of two documents one. The lesser root stays the root, so paths are kept short
    /// by halving alone: at most log n a step, amortised.
    pub fn union(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn roots_are_the_least_reachable(edges in prop::collection::vec((0u32..60, 0u32..60), 0..80)) {
            let mut sets = UnionFind::new(60);
            for &(a, b) in &edges {
                sets.union(a, b);
            }
            // Labels spread until nothing changes.
            let mut label: Vec<u32> = (0..60).collect();
            for _ in 0..60 {
                for &(a, b) in &edges {
                    let least = label[a as usize].min(label[b as usize]);
                    label[a as usize] = least;
                    label[b as usize] = least;
                }
            }
            for document in 0..60 {
                prop_assert_eq!(sets.find(document), label[document as usize]);
            }
        }
    }
}
