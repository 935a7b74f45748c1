//! Union-find in which the root of a set is its smallest member.

use std::sync::atomic::{AtomicU32, Ordering};

/// Disjoint sets of document numbers.
#[derive(Clone, Debug)]
pub struct UnionFind(Vec<u32>);

impl UnionFind {
    /// Every document in a set of its own.
    #[must_use]
    pub fn new(documents: u32) -> UnionFind {
        UnionFind((0..documents).collect())
    }

    /// The smallest member of a document's set.
    pub fn find(&mut self, document: u32) -> u32 {
        let mut at = document;
        loop {
            let parent = self.0[at as usize];
            let above = self.0[parent as usize];
            if parent == above {
                return parent;
            }
            // Path halving: every other node on the path is linked to its grandparent.
            self.0[at as usize] = above;
            at = above;
        }
    }

    /// Unites the sets of two documents. The smaller root becomes the root, so only halving keeps
    /// paths short: at most log n steps per operation, amortised. Returns whether they were two
    /// sets.
    pub fn union(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b) as usize] = a.min(b);
        a != b
    }
}

impl UnionFind {
    /// The smallest member of each document's set.
    #[must_use]
    pub fn roots(mut self) -> Vec<u32> {
        for document in 0..self.0.len() {
            // The parent is smaller, so its root is known.
            let parent = self.0[document] as usize;
            self.0[document] = self.0[parent];
        }
        self.0
    }
}

/// A [`UnionFind`] that threads share. Every operation takes effect at one moment (it is
/// linearizable).
///
/// A root is linked below a smaller one by compare-and-swap. So parents only ever get smaller, no
/// link is lost and no cycle can arise (Anderson & Woll 1991).
#[derive(Debug)]
pub struct SharedUnionFind(Vec<AtomicU32>);

impl SharedUnionFind {
    /// Every document in a set of its own.
    #[must_use]
    pub fn new(documents: u32) -> SharedUnionFind {
        SharedUnionFind((0..documents).map(AtomicU32::new).collect())
    }

    /// The smallest member of a document's set. A concurrent [`SharedUnionFind::union`] may make it
    /// out of date.
    #[must_use]
    pub fn find(&self, document: u32) -> u32 {
        let mut at = document;
        loop {
            let parent = self.0[at as usize].load(Ordering::Acquire);
            let above = self.0[parent as usize].load(Ordering::Acquire);
            if parent == above {
                return parent;
            }
            // If another thread was faster, it has stored a smaller parent, and this exchange may
            // fail.
            let _ = self.0[at as usize].compare_exchange_weak(
                parent,
                above,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            at = above;
        }
    }

    /// Unites the sets of two documents.
    pub fn union(&self, a: u32, b: u32) {
        loop {
            let (a, b) = (self.find(a), self.find(b));
            let (least, other) = (a.min(b), a.max(b));
            if least == other
                || self.0[other as usize]
                    .compare_exchange(other, least, Ordering::AcqRel, Ordering::Relaxed)
                    .is_ok()
            {
                return;
            }
        }
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
            // Spread labels until nothing changes.
            let mut label: Vec<u32> = (0..60).collect();
            for _ in 0..60 {
                for &(a, b) in &edges {
                    let least = label[a as usize].min(label[b as usize]);
                    label[a as usize] = least;
                    label[b as usize] = least;
                }
            }
            let shared = SharedUnionFind::new(60);
            std::thread::scope(|scope| {
                for half in edges.chunks(edges.len().div_ceil(2).max(1)) {
                    let shared = &shared;
                    scope.spawn(move || half.iter().for_each(|&(a, b)| shared.union(a, b)));
                }
            });
            for document in 0..60 {
                prop_assert_eq!(sets.find(document), label[document as usize]);
                prop_assert_eq!(shared.find(document), label[document as usize]);
            }
        }
    }
}
