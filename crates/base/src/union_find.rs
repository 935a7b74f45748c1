//! Union-find in which the root of a set is its smallest member.

use std::sync::atomic::{AtomicU32, Ordering};

/// Disjoint sets of document numbers, which threads can share. Every operation takes effect at one
/// moment (it is linearizable).
///
/// A root is linked below a smaller one by compare-and-swap. So a parent is always smaller than its
/// child, no link is lost and no cycle can arise (Anderson & Woll 1991).
#[derive(Debug)]
pub struct UnionFind(Vec<AtomicU32>);

impl UnionFind {
    /// Every document in a set of its own.
    #[must_use]
    pub fn new(documents: u32) -> UnionFind {
        UnionFind((0..documents).map(AtomicU32::new).collect())
    }

    /// The smallest member of a document's set. A concurrent [`UnionFind::union`] may make it out of
    /// date.
    #[must_use]
    pub fn find(&self, document: u32) -> u32 {
        let mut at = document;
        loop {
            let parent = self.0[at as usize].load(Ordering::Acquire);
            let above = self.0[parent as usize].load(Ordering::Acquire);
            if parent == above {
                return parent;
            }
            // Path halving links every other node on the path to its grandparent. Such a node never
            // becomes a root again, so only halving writes here, and the thread that writes last
            // also stores an ancestor.
            self.0[at as usize].store(above, Ordering::Release);
            at = above;
        }
    }

    /// Unites the sets of two documents. The smaller root becomes the root, so only halving keeps
    /// paths short: at most log n steps per operation, amortised. Returns whether they were two
    /// sets.
    pub fn union(&self, a: u32, b: u32) -> bool {
        loop {
            let (a, b) = (self.find(a), self.find(b));
            let (least, other) = (a.min(b), a.max(b));
            if least == other {
                return false;
            }
            let root = &self.0[other as usize];
            let linked = root.compare_exchange(other, least, Ordering::AcqRel, Ordering::Relaxed);
            if linked.is_ok() {
                return true;
            }
        }
    }

    /// The smallest member of each document's set.
    #[must_use]
    pub fn roots(self) -> Vec<u32> {
        let mut roots: Vec<u32> = self.0.into_iter().map(AtomicU32::into_inner).collect();
        for document in 0..roots.len() {
            // The parent is smaller, so its root is known.
            roots[document] = roots[roots[document] as usize];
        }
        roots
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn roots_are_the_least_reachable(edges in prop::collection::vec((0u32..60, 0u32..60), 0..80)) {
            let sets = UnionFind::new(60);
            for &(a, b) in &edges {
                sets.union(a, b);
            }
            // Spread labels until nothing changes.
            let mut label: Vec<u32> = (0..60).collect();
            for _ in 0..60 {
                for &(a, b) in &edges {
                    let least = label[a as usize].min(label[b as usize]);
                    label[a as usize] = least;
                    label[b as usize] = least;
                }
            }
            let shared = UnionFind::new(60);
            std::thread::scope(|scope| {
                for half in edges.chunks(edges.len().div_ceil(2).max(1)) {
                    let shared = &shared;
                    scope.spawn(move || half.iter().for_each(|&(a, b)| {
                        shared.union(a, b);
                    }));
                }
            });
            for document in 0..60 {
                prop_assert_eq!(sets.find(document), label[document as usize]);
                prop_assert_eq!(shared.find(document), label[document as usize]);
            }
        }
    }
}
