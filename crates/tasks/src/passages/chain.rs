//! Reuses: matches of two documents that follow each other with gaps between them.
//!
//! # Definitions
//! A *chain* is a sequence of matches of which each one begins behind the end of the one before, in
//! both documents, with a *gap* of at most [`ReuseConfig::gap`] tokens in each. Its score is the
//! number of its matched tokens, less 0.05 for each token in a gap. The best chain is taken first,
//! and its matches take no part in others. Of two chains with the same score, the better chain is
//! the one whose first match begins earlier in the first document, then in the second; if they have
//! this match in common, the next one decides, and a chain that ends there is better than a chain
//! that continues. A chain is a *reuse* if it has at least [`super::PassagesConfig::length`]
//! matched tokens, and these are at least the share [`ReuseConfig::density`] of its span in either
//! document. Excluded words count in no gap and in no density. The tables and the places of a
//! cluster are in tokens of the whole texts.
//!
//! # Algorithm
//! Collinear chaining as in minimap2 (Li 2018, section 2.1.1), without its heuristics:
//! 1. The best chain that begins with a match goes on with the best of those that begin within
//!    the next `gap` tokens of both documents. The matches are visited from the last end in the
//!    first document to the first one. A tree over their beginnings in the second document has
//!    those that begin within `gap` tokens in the first, so that a visit takes O(log n).
//! 2. The best of all chains is taken. All chains that led to its last match are searched again,
//!    among the matches that are left. The others do not change, because scores only fall. So a
//!    search visits only the matches between the first and the last end of these chains.
//! 3. Dense chains have a least score, at which the search ends.
//!
//! # Cost
//! O(n log n) for the matches of a pair if few chains overlap; each chain that is taken adds at
//! most as much. Memory: [`MATCH_BYTES`] for each match.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use lookalike_base::{Result, Threshold, refuse};

/// The score that a matched token adds; a token in a gap subtracts 1.
const MATCHED: i64 = 20;
/// Limit on [`ReuseConfig::gap`].
const MOST_GAP: u32 = 10_000;
/// In place of a match.
const NONE: u32 = u32::MAX;
/// Bytes of memory for a match: its columns, its two nodes of the tree, its chain in the heap, its
/// reuse twice, and a copy.
pub(super) const MATCH_BYTES: u64 =
    41 + 3 * size_of::<Best>() as u64 + 2 * size_of::<Reuse>() as u64 + size_of::<Match>() as u64;

/// A score or a value to compare, and the match that has it.
type Best = (i64, Reverse<u32>);

/// Defines a reuse, besides the least number of its tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReuseConfig {
    /// The most tokens between two of its matches, in either document.
    pub gap: u32,
    /// The least length of a match, in tokens.
    pub match_length: u32,
    /// The least share of its matched tokens in its span.
    pub density: Threshold,
}

impl Default for ReuseConfig {
    fn default() -> Self {
        ReuseConfig {
            gap: 20,
            match_length: 8,
            density: Threshold::new(1, 2).unwrap_or_default(),
        }
    }
}

impl ReuseConfig {
    /// Its parameters as result files state them.
    pub(super) fn parameters(&self) -> [(&'static str, String); 3] {
        [
            ("gap", self.gap.to_string()),
            ("match-length", self.match_length.to_string()),
            ("density", self.density.to_string()),
        ]
    }

    /// Refuses values out of range, for reuses of at least `length` tokens.
    pub(super) fn check(&self, length: u32) -> Result<()> {
        if !(1..=MOST_GAP).contains(&self.gap) {
            return refuse("gap", self.gap, format!("0 to {MOST_GAP} tokens"));
        }
        if !(1..=length).contains(&self.match_length) {
            let limit = format!("1 to {length} tokens, as many as --length says");
            return refuse("match-length", self.match_length, limit);
        }
        Ok(())
    }

    /// Whether the matched tokens are dense enough in the span.
    fn is_dense(&self, reuse: &Reuse) -> bool {
        let (share, of) = (self.density.numerator(), self.density.denominator());
        u128::from(reuse.tokens) * u128::from(of) >= u128::from(reuse.span) * u128::from(share)
    }

    /// The score that each reuse of at least `length` tokens reaches. With m matched tokens, its
    /// spans have at most m / density tokens each, and the rest of them is in gaps.
    fn least_score(&self, length: u32) -> i64 {
        let share = i128::from(self.density.numerator());
        let of = i128::from(self.density.denominator());
        let least = ((i128::from(MATCHED) + 2) * share - 2 * of).max(0) * i128::from(length);
        (least / share) as i64
    }
}

/// A match of two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub a: u32,
    pub b: u32,
    pub tokens: u32,
    pub common: bool,
}

impl Match {
    /// Where it ends in the first document.
    pub fn end_a(&self) -> u32 {
        self.a + self.tokens
    }
}

/// A reuse of two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reuse {
    /// The number of its matches.
    pub matches: u32,
    /// Its matched tokens.
    pub tokens: u32,
    /// The tokens from its beginning to its end, in the document in which these are more.
    pub span: u32,
}

/// The reuses of the matches of two documents, which are sorted by their beginnings in a, then in
/// b. Keeps the matches of reuses only: those of one after the other, in the order of beginnings.
///
/// # Errors
/// Those of `go_on`, which is asked after each chain.
pub(super) fn reuses(
    matches: &mut Vec<Match>,
    config: &ReuseConfig,
    length: u32,
    go_on: impl Fn() -> Result<()>,
) -> Result<Vec<Reuse>> {
    let all = std::mem::take(matches);
    if all.iter().map(|m| u64::from(m.tokens)).sum::<u64>() < length.into() {
        return Ok(Vec::new());
    }
    let mut chains = Chains::new(&all, config.gap);
    let mut found = Vec::new();
    while let Some(first) = chains.take(config.least_score(length)) {
        go_on()?;
        let reuse = chains.reuse(first);
        if reuse.tokens >= length && config.is_dense(&reuse) {
            found.push((first, reuse));
        }
    }
    found.sort_unstable_by_key(|(first, _)| *first);
    let own = found.iter().flat_map(|(first, _)| chains.chain(*first));
    matches.extend(own.map(|n| all[n as usize]));
    Ok(found.into_iter().map(|(_, reuse)| reuse).collect())
}

/// The best chains of some matches, which are sorted by their beginnings in a, then in b.
struct Chains<'m> {
    matches: &'m [Match],
    gap: u32,
    /// The matches by their ends in a.
    by_end: Vec<u32>,
    /// The beginnings in b, sorted, with their matches; and the place of each match there.
    by_b: Vec<(u32, u32)>,
    ranks: Vec<u32>,
    /// Of the best chain that begins with each match: its score, the next match and the last one.
    score: Vec<i64>,
    next: Vec<u32>,
    last: Vec<u32>,
    /// For each last match: the first place in `by_end` of a match whose chain leads to it.
    first: Vec<u32>,
    taken: Vec<bool>,
    /// A tree over the places in `by_b`, with the best of each part.
    tree: Vec<Best>,
    /// The chains that may be next. A score that has fallen is corrected when it comes up.
    heap: BinaryHeap<Best>,
}

impl<'m> Chains<'m> {
    fn new(matches: &'m [Match], gap: u32) -> Chains<'m> {
        let count = matches.len();
        let mut by_end: Vec<u32> = (0..count as u32).collect();
        by_end.sort_unstable_by_key(|&n| (matches[n as usize].end_a(), n));
        let mut by_b: Vec<(u32, u32)> = matches.iter().map(|m| m.b).zip(0..).collect();
        by_b.sort_unstable();
        let mut ranks = vec![0; count];
        for (&(_, n), rank) in by_b.iter().zip(0..) {
            ranks[n as usize] = rank;
        }
        let mut chains = Chains {
            matches,
            gap,
            by_end,
            by_b,
            ranks,
            score: vec![0; count],
            next: vec![NONE; count],
            last: vec![NONE; count],
            first: vec![NONE; count],
            taken: vec![false; count],
            tree: vec![NOTHING; 2 * count],
            heap: BinaryHeap::new(),
        };
        chains.search(0, count, NONE);
        chains.heap = chains
            .score
            .iter()
            .copied()
            .zip((0..).map(Reverse))
            .collect();
        chains
    }

    /// The matches of the best chain that begins with a match.
    fn chain(&self, first: u32) -> impl Iterator<Item = u32> {
        let next = |n: &u32| Some(self.next[*n as usize]).filter(|&next| next != NONE);
        std::iter::successors(Some(first), next)
    }

    /// That chain as a reuse.
    fn reuse(&self, first: u32) -> Reuse {
        let own = self.chain(first).map(|n| self.matches[n as usize].tokens);
        let (mut matches, mut tokens) = (0, 0);
        own.for_each(|of| (matches, tokens) = (matches + 1, tokens + of));
        let last = &self.matches[self.last[first as usize] as usize];
        let first = &self.matches[first as usize];
        Reuse {
            matches,
            tokens,
            span: (last.a - first.a).max(last.b - first.b) + last.tokens,
        }
    }

    /// Takes the best chain, unless its score is less than `least`: its first match.
    fn take(&mut self, least: i64) -> Option<u32> {
        while let Some((score, Reverse(n))) = self.heap.pop() {
            let now = self.score[n as usize];
            if self.taken[n as usize] {
                continue;
            }
            if now < score {
                self.heap.push((now, Reverse(n)));
                continue;
            }
            if score < least {
                return None;
            }
            let mut next = n;
            while next != NONE {
                self.taken[next as usize] = true;
                next = self.next[next as usize];
            }
            let last = self.last[n as usize];
            let end = self.matches[last as usize].a;
            let matches = self.matches;
            let to = (self.by_end).partition_point(|&n| matches[n as usize].end_a() <= end);
            self.search(self.first[last as usize] as usize, to, last);
            return Some(n);
        }
        None
    }

    /// Finds the best chain for each of the matches `by_end[from..to]` whose best chain ended with
    /// the match `last`. Before the first search, all ended with [`NONE`].
    fn search(&mut self, from: usize, to: usize, last: u32) {
        let matches = self.matches;
        let Some(&latest) = self.by_end[..to].last() else {
            return;
        };
        let most = matches[latest as usize].end_a().saturating_add(self.gap);
        // The tree has the matches from `entered` up to `left`.
        let mut left = matches.partition_point(|m| m.a <= most);
        let mut entered = left;
        for at in (from..to).rev() {
            let n = self.by_end[at] as usize;
            if self.taken[n] || self.last[n] != last {
                continue;
            }
            let (a, b) = (matches[n].end_a(), matches[n].b + matches[n].tokens);
            while entered > 0 && matches[entered - 1].a >= a {
                entered -= 1;
                if !self.taken[entered] {
                    let m = &matches[entered];
                    let value = self.score[entered] - i64::from(m.a) - i64::from(m.b);
                    self.put(entered, (value, Reverse(entered as u32)));
                }
            }
            while left > entered && matches[left - 1].a > a.saturating_add(self.gap) {
                left -= 1;
                self.put(left, NOTHING);
            }
            let (value, Reverse(next)) = self.best(b, b.saturating_add(self.gap));
            let more = value.saturating_add(i64::from(a) + i64::from(b));
            let (next, more) = if more > 0 { (next, more) } else { (NONE, 0) };
            self.score[n] = MATCHED * i64::from(matches[n].tokens) + more;
            self.next[n] = next;
            let end = self.last.get(next as usize).copied().unwrap_or(n as u32);
            self.last[n] = end;
            let first = &mut self.first[end as usize];
            *first = (*first).min(at as u32);
        }
        (entered..left).for_each(|n| self.put(n, NOTHING));
    }

    /// Puts a match into the tree, or takes it out.
    fn put(&mut self, n: usize, best: Best) {
        let mut at = self.matches.len() + self.ranks[n] as usize;
        self.tree[at] = best;
        while at > 1 {
            at /= 2;
            self.tree[at] = self.tree[2 * at].max(self.tree[2 * at + 1]);
        }
    }

    /// The best of the matches in the tree whose beginnings in b are in a range.
    fn best(&self, from: u32, to: u32) -> Best {
        let count = self.matches.len();
        let mut begin = count + self.by_b.partition_point(|&(b, _)| b < from);
        let mut end = count + self.by_b.partition_point(|&(b, _)| b <= to);
        let mut best = NOTHING;
        while begin < end {
            if begin % 2 == 1 {
                best = best.max(self.tree[begin]);
                begin += 1;
            }
            if end % 2 == 1 {
                end -= 1;
                best = best.max(self.tree[end]);
            }
            (begin, end) = (begin / 2, end / 2);
        }
        best
    }
}

/// No match of the tree.
const NOTHING: Best = (i64::MIN, Reverse(NONE));
