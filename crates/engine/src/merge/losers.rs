//! A tree of losers over the cursors of runs.

use crate::sort::{Record, RunCursor};
use lookalike_base::{Key, Result, Stop};

/// Merges cursors and yields their records in order.
///
/// Node i of the tree has the loser of the match that was played there, and node 0 has the winner
/// of all matches. After the winner is refilled, only the matches on its way up are played again:
/// log2 of the number of runs.
pub struct LoserTree<'a, K> {
    cursors: Vec<RunCursor<'a, K>>,
    /// The head of each run; `None` if the run is used up.
    heads: Vec<Option<Record<K>>>,
    losers: Vec<usize>,
}

impl<'a, K: Key> LoserTree<'a, K> {
    /// Plays the first matches.
    pub fn new(cursors: Vec<RunCursor<'a, K>>) -> Self {
        let heads: Vec<_> = cursors.iter().map(RunCursor::head).collect();
        let mut tree = LoserTree {
            losers: vec![0; heads.len()],
            cursors,
            heads,
        };
        if !tree.heads.is_empty() {
            tree.losers[0] = tree.play(1);
        }
        tree
    }

    /// Plays the matches of the subtree at `node` and returns the winner. The leaves are the nodes
    /// from `n` on.
    fn play(&mut self, node: usize) -> usize {
        let n = self.heads.len();
        if node >= n {
            return node - n;
        }
        let (a, b) = (self.play(2 * node), self.play(2 * node + 1));
        let (winner, loser) = if self.before(a, b) { (a, b) } else { (b, a) };
        self.losers[node] = loser;
        winner
    }

    /// Whether the head of run `a` comes before the head of run `b`. Ties go to the lower run.
    #[inline]
    fn before(&self, a: usize, b: usize) -> bool {
        match (&self.heads[a], &self.heads[b]) {
            (Some(x), Some(y)) => (x, a) < (y, b),
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => a < b,
        }
    }

    /// Takes the least record out of its run; `None` if all runs are used up.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Record<K>>> {
        let n = self.heads.len();
        if n == 0 {
            return Ok(None);
        }
        let mut winner = self.losers[0];
        let Some(record) = self.heads[winner] else {
            return Ok(None);
        };
        self.cursors[winner].advance()?;
        self.heads[winner] = self.cursors[winner].head();
        let mut node = (winner + n) / 2;
        while node > 0 {
            let other = self.losers[node];
            if self.before(other, winner) {
                self.losers[node] = winner;
                winner = other;
            }
            node /= 2;
        }
        self.losers[0] = winner;
        Ok(Some(record))
    }
}

/// Merges cursors, and makes one record of all that have the same key: the sum of their values.
pub struct Sums<'a, K> {
    tree: LoserTree<'a, K>,
    held: Option<Record<K>>,
    read: u64,
}

impl<'a, K: Key> Sums<'a, K> {
    /// Begins before the first record.
    pub fn of(cursors: Vec<RunCursor<'a, K>>) -> Self {
        Sums {
            tree: LoserTree::new(cursors),
            held: None,
            read: 0,
        }
    }

    /// The next record, unless the stage is to stop; `None` if all runs are used up.
    pub fn next(&mut self, (stage, stop): (&'static str, &Stop)) -> Result<Option<Record<K>>> {
        while let Some(record) = self.tree.next()? {
            self.read += 1;
            stop.tick(stage, self.read)?;
            match &mut self.held {
                Some(held) if held.key == record.key => {
                    held.value = held.value.saturating_add(record.value);
                }
                held => {
                    if let Some(before) = held.replace(record) {
                        return Ok(Some(before));
                    }
                }
            }
        }
        Ok(self.held.take())
    }
}
