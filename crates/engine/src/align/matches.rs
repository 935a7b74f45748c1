//! All maximal matches of two sequences of token numbers.

use std::collections::HashMap;
use std::ops::Range;

/// Upper limit on the memory of [`matches()`] for each token of both sequences, without the matches
/// listed.
pub const BYTES: u64 = 64;

/// Upper limit on the tokens that are compared to find how long the listed matches are. Two texts
/// of one token repeated have a match for each of their diagonals, as long as the diagonal.
pub(crate) const MOST_COMPARED: u64 = 1 << 32;

/// A maximal match: two equal runs of tokens that cannot be extended to either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// The first token of the run in the first sequence.
    pub a: usize,
    /// The first token of the run in the second sequence.
    pub b: usize,
    /// Number of tokens.
    pub length: usize,
}

/// The maximal matches of two sequences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// The first matches by their place in the first sequence, then in the second.
    pub listed: Vec<Match>,
    /// Number of all matches.
    pub total: u64,
    /// The tokens of the first sequence that are part of a match: ranges that rise and do not
    /// touch.
    pub covered_a: Vec<Range<usize>>,
    /// The same of the second sequence.
    pub covered_b: Vec<Range<usize>>,
}

/// The name of a run that the shorter sequence does not have.
const NONE: u32 = u32::MAX;

/// Finds the maximal matches of at least `least` tokens: each pair of equal runs, one in `a` and
/// one in `b`, that cannot be extended by a token to the left or to the right. Lists at most `most`
/// of them, fewer if comparing their tokens would exceed [`MOST_COMPARED`].
pub fn matches(a: &[u32], b: &[u32], least: usize, most: usize) -> Matches {
    let least = least.max(1);
    if a.len() < least || b.len() < least {
        return Matches::default();
    }
    let swapped = b.len() > a.len();
    let (names_a, names_b) = if swapped {
        names(a, b, least)
    } else {
        let (names_b, names_a) = names(b, a, least);
        (names_a, names_b)
    };
    let of_a = Occurrences::new(a, &names_a);
    let of_b = Occurrences::new(b, &names_b);
    let mut found = Matches {
        listed: Vec::new(),
        total: of_a.total(&of_b),
        covered_a: covered(&names_a, least, &of_b),
        covered_b: covered(&names_b, least, &of_a),
    };
    list(
        (a, b),
        &names_a,
        &of_b,
        (least, most, MOST_COMPARED),
        &mut found.listed,
    );
    found
}

/// A name for each run of `length` tokens in two sequences. Equal runs have equal names, and other
/// runs different ones. A run that is not in `short` has the name [`NONE`].
fn names(short: &[u32], long: &[u32], length: usize) -> (Vec<u32>, Vec<u32>) {
    let mut of_short: Vec<u32> = short.to_vec();
    let mut of_long: Vec<u32> = long.to_vec();
    // The names of runs of `done` tokens give the names of runs of up to twice as many: two of the
    // shorter runs, which may overlap, make a longer one.
    let mut done = 1;
    while done < length {
        let step = done.min(length - done);
        let mut pairs: HashMap<(u32, u32), u32> = HashMap::new();
        rename(&mut of_short, step, |pair| {
            let next = pairs.len() as u32;
            *pairs.entry(pair).or_insert(next)
        });
        rename(&mut of_long, step, |pair| {
            pairs.get(&pair).copied().unwrap_or(NONE)
        });
        done += step;
    }
    (of_short, of_long)
}

/// Names pairs: each name and the name `step` places later become one name.
fn rename(names: &mut Vec<u32>, step: usize, mut name: impl FnMut((u32, u32)) -> u32) {
    let runs = names.len().saturating_sub(step);
    for at in 0..runs {
        names[at] = name((names[at], names[at + step]));
    }
    names.truncate(runs);
}

/// The runs of a sequence, sorted by their name, by the token before them, and by place.
struct Occurrences {
    /// Name, token before the run (0 at the beginning of the sequence, otherwise its number and 1),
    /// place.
    sorted: Vec<(u32, u64, u32)>,
}

impl Occurrences {
    fn new(tokens: &[u32], names: &[u32]) -> Occurrences {
        let places = names.iter().enumerate();
        let mut sorted: Vec<(u32, u64, u32)> = places
            .filter(|(_, name)| **name != NONE)
            .map(|(at, &name)| (name, before(tokens, at), at as u32))
            .collect();
        sorted.sort_unstable();
        Occurrences { sorted }
    }

    /// The runs with a name.
    fn of(&self, name: u32) -> &[(u32, u64, u32)] {
        let start = self.sorted.partition_point(|of| of.0 < name);
        let rest = self.sorted.get(start..).unwrap_or_default();
        let length = rest.partition_point(|of| of.0 == name);
        rest.get(..length).unwrap_or_default()
    }

    fn has(&self, name: u32) -> bool {
        self.sorted.binary_search_by(|of| of.0.cmp(&name)).is_ok()
    }

    /// The number of pairs of runs, one of each sequence, with the same name and different tokens
    /// before them.
    fn total(&self, other: &Occurrences) -> u64 {
        let mut total = 0u64;
        let mut others = other.sorted.as_slice();
        for of_name in self.sorted.chunk_by(|x, y| x.0 == y.0) {
            let Some(&(name, ..)) = of_name.first() else {
                continue;
            };
            others = others
                .get(others.partition_point(|of| of.0 < name)..)
                .unwrap_or_default();
            let theirs = others.get(..others.partition_point(|of| of.0 == name));
            let mut theirs = theirs.unwrap_or_default();
            total = total.saturating_add(of_name.len() as u64 * theirs.len() as u64);
            for same in of_name.chunk_by(|x, y| x.1 == y.1) {
                let Some(&(_, before, _)) = same.first() else {
                    continue;
                };
                if before == START {
                    continue;
                }
                let from = theirs.partition_point(|of| of.1 < before);
                theirs = theirs.get(from..).unwrap_or_default();
                let equal = theirs.partition_point(|of| of.1 == before);
                total = total.saturating_sub(same.len() as u64 * equal as u64);
            }
        }
        total
    }
}

/// Stands for the token before the first one, which equals none.
const START: u64 = 0;

fn before(tokens: &[u32], at: usize) -> u64 {
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    before.map_or(START, |&token| u64::from(token) + 1)
}

/// The tokens in runs that the other sequence also has.
fn covered(names: &[u32], length: usize, other: &Occurrences) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (at, &name) in names.iter().enumerate() {
        if name == NONE || !other.has(name) {
            continue;
        }
        match ranges.last_mut() {
            Some(last) if last.end >= at => last.end = at + length,
            _ => ranges.push(at..at + length),
        }
    }
    ranges
}

/// Lists the first matches.
fn list(
    (a, b): (&[u32], &[u32]),
    names_a: &[u32],
    of_b: &Occurrences,
    (least, most, most_compared): (usize, usize, u64),
    listed: &mut Vec<Match>,
) {
    let mut compared = 0;
    let mut starts = Vec::new();
    for (at, &name) in names_a.iter().enumerate() {
        if name == NONE {
            continue;
        }
        let theirs = of_b.of(name);
        let own = before(a, at);
        starts.clear();
        // All but the runs with the same token before them, which are next to each other.
        let from = theirs.partition_point(|of| of.1 < own);
        let to = match own {
            START => from,
            _ => theirs.partition_point(|of| of.1 <= own),
        };
        for others in [theirs.get(..from), theirs.get(to..)] {
            starts.extend(others.unwrap_or_default().iter().map(|of| of.2 as usize));
        }
        starts.sort_unstable();
        for &start in &starts {
            if listed.len() >= most {
                return;
            }
            let (rest_a, rest_b) = (a.get(at + least..), b.get(start + least..));
            let room = most_compared - compared;
            let Some(more) = common(rest_a.unwrap_or_default(), rest_b.unwrap_or_default(), room)
            else {
                return;
            };
            compared += more as u64;
            listed.push(Match {
                a: at,
                b: start,
                length: least + more,
            });
        }
    }
}

/// Tokens compared at once.
const AT_ONCE: usize = 64;

/// The number of equal tokens at the start of two sequences; `None` if it is above `most`.
fn common(a: &[u32], b: &[u32], most: u64) -> Option<usize> {
    let blocks = a.chunks_exact(AT_ONCE).zip(b.chunks_exact(AT_ONCE));
    let mut equal = 0;
    for (of_a, of_b) in blocks {
        if of_a != of_b {
            break;
        }
        equal += AT_ONCE;
        if equal as u64 > most {
            return None;
        }
    }
    let rest = [a, b].map(|all| all.get(equal..).unwrap_or_default());
    let [rest_a, rest_b] = rest;
    let more = rest_a.iter().zip(rest_b).take_while(|(x, y)| x == y);
    equal += more.count();
    (equal as u64 <= most).then_some(equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_base::random::Random;

    /// By the definition, over all pairs of places.
    fn by_definition(a: &[u32], b: &[u32], least: usize) -> Vec<Match> {
        let mut found = Vec::new();
        for i in 0..a.len() {
            for j in 0..b.len() {
                if i > 0 && j > 0 && a[i - 1] == b[j - 1] {
                    continue;
                }
                let equal = a[i..].iter().zip(&b[j..]).take_while(|(x, y)| x == y);
                let length = equal.count();
                if length >= least.max(1) {
                    found.push(Match { a: i, b: j, length });
                }
            }
        }
        found
    }

    fn union(tokens: usize, ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
        let mut covered = vec![false; tokens];
        ranges.flatten().for_each(|token| covered[token] = true);
        let mut out: Vec<Range<usize>> = Vec::new();
        for token in (0..tokens).filter(|&token| covered[token]) {
            match out.last_mut() {
                Some(last) if last.end == token => last.end += 1,
                _ => out.push(token..token + 1),
            }
        }
        out
    }

    fn check(a: &[u32], b: &[u32], least: usize) {
        let expected = by_definition(a, b, least);
        let found = matches(a, b, least, usize::MAX);
        assert_eq!(found.listed, expected, "{a:?} {b:?} {least}");
        assert_eq!(found.total, expected.len() as u64);
        let of_a = expected.iter().map(|m| m.a..m.a + m.length);
        assert_eq!(found.covered_a, union(a.len(), of_a));
        let of_b = expected.iter().map(|m| m.b..m.b + m.length);
        assert_eq!(found.covered_b, union(b.len(), of_b));
        for most in [0, 1, expected.len() / 2] {
            let some = matches(a, b, least, most);
            assert_eq!(some.listed, &expected[..most.min(expected.len())]);
            assert_eq!(some.total, found.total);
            assert_eq!(some.covered_b, found.covered_b);
        }
    }

    #[test]
    fn matches_are_those_of_the_definition() {
        let mut random = Random::new(11);
        let mut matched = 0;
        for round in 0..3000 {
            let words = [1, 2, 3, 20][round % 4];
            let mut sequence = |most: u64| -> Vec<u32> {
                let length = random.below(most);
                (0..length).map(|_| random.below(words) as u32).collect()
            };
            let (a, mut b) = (sequence(40), sequence(60));
            if round % 3 == 0 {
                b.extend_from_slice(&a);
            }
            for least in [0, 1, 2, 3, 5, 8, 13] {
                check(&a, &b, least);
                matched += matches(&a, &b, least, 1).listed.len();
            }
        }
        assert!(matched > 1000);
        for (a, b) in [(&[][..], &[][..]), (&[1], &[]), (&[1], &[1]), (&[1], &[2])] {
            check(a, b, 1);
        }
    }

    /// A document of one word: as many matches as diagonals, and pairs of runs without end.
    #[test]
    fn one_word_repeated_takes_bounded_time() {
        let (a, b) = (vec![7; 300_000], vec![7; 200_000]);
        let found = matches(&a, &b, 20, 1000);
        // One for each diagonal on which at least 20 tokens lie.
        assert_eq!(found.total, 300_000 + 200_000 - 1 - 2 * 19);
        assert_eq!(found.covered_a, std::slice::from_ref(&(0..300_000)));
        assert_eq!(found.covered_b, std::slice::from_ref(&(0..200_000)));
        assert_eq!(found.listed.len(), 1000);
        assert_eq!(
            found.listed[999],
            Match {
                a: 0,
                b: 999,
                length: 200_000 - 999
            }
        );
    }

    #[test]
    fn the_tokens_compared_are_limited() {
        let a = vec![7; 10_000];
        let names = vec![0; 9_981];
        let mut listed = Vec::new();
        let of_b = Occurrences::new(&a, &names);
        list((&a, &a), &names, &of_b, (20, 1000, 50_000), &mut listed);
        assert_eq!(listed.len(), 5);
    }
}
