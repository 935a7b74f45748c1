//! Where two sequences of token numbers differ.

use std::ops::Range;

use similar::DiffOp;
use similar::algorithms::{Capture, Compact, Replace, myers};

use lookalike_base::{STEP, mix_key};

/// Upper limit on the memory of [`differences`] for each token of both sequences.
pub const BYTES: u64 = 96;

/// Two sequences of up to this number of tokens together go to Myers' algorithm whole. Its limits
/// keep the worst pair of this length to about a second (release build).
pub(crate) const MYERS_TOKENS: usize = 40_000;

/// Tokens of each piece of a gap without anchors.
const PIECE: usize = 4_000;

/// Lengths of the runs that are tried as anchors, one after the other. A text that repeats its
/// phrases has few short runs that occur once; a text with many changes has few long ones in
/// common.
const ANCHORS: [usize; 3] = [32, 8, 1];

/// A stretch of two sequences: equal tokens, or tokens that only one sequence has in this place.
/// Ranges are of tokens or of bytes, as the function says that returns them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub equal: bool,
    pub a: Range<usize>,
    pub b: Range<usize>,
}

/// Where two sequences are equal and where they differ: ranges of tokens.
pub fn differences(a: &[u32], b: &[u32]) -> Vec<Stretch> {
    let mut out = Out::default();
    between((a, 0..a.len()), (b, 0..b.len()), &ANCHORS, &mut out);
    out.0
}

/// A sequence and the part of it that is compared.
type Part<'t> = (&'t [u32], Range<usize>);

/// The stretches so far.
#[derive(Default)]
pub(super) struct Out(pub(super) Vec<Stretch>);

impl Out {
    /// Appends a stretch, or extends the last one.
    pub(super) fn push(&mut self, equal: bool, a: Range<usize>, b: Range<usize>) {
        if a.is_empty() && b.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.equal == equal => {
                last.a.end = a.end;
                last.b.end = b.end;
            }
            _ => self.0.push(Stretch { equal, a, b }),
        }
    }
}

/// The number of equal tokens at the start of both sequences, and of the rest at their end.
pub(super) fn equal_ends(a: &[u32], b: &[u32]) -> (usize, usize) {
    let front = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let most = a.len().min(b.len()) - front;
    let back = a.iter().rev().zip(b.iter().rev()).take(most);
    (front, back.take_while(|(x, y)| x == y).count())
}

/// Compares two parts, with anchors of these lengths if the parts are long.
fn between((a, of_a): Part<'_>, (b, of_b): Part<'_>, lengths: &[usize], out: &mut Out) {
    if of_a.len() + of_b.len() <= MYERS_TOKENS {
        return myers((a, of_a), (b, of_b), out);
    }
    let (Some(slice_a), Some(slice_b)) = (a.get(of_a.clone()), b.get(of_b.clone())) else {
        return;
    };
    let (front, back) = equal_ends(slice_a, slice_b);
    let (from_a, from_b) = (of_a.start + front, of_b.start + front);
    let (to_a, to_b) = (of_a.end - back, of_b.end - back);
    out.push(true, of_a.start..from_a, of_b.start..from_b);
    middle((a, from_a..to_a), (b, from_b..to_b), lengths, out);
    out.push(true, to_a..of_a.end, to_b..of_b.end);
}

/// Compares two parts that differ at both ends.
fn middle((a, of_a): Part<'_>, (b, of_b): Part<'_>, lengths: &[usize], out: &mut Out) {
    if of_a.is_empty() || of_b.is_empty() {
        return out.push(false, of_a, of_b);
    }
    if of_a.len() + of_b.len() <= MYERS_TOKENS {
        return myers((a, of_a), (b, of_b), out);
    }
    let Some((&length, shorter)) = lengths.split_first() else {
        return pieces((a, of_a), (b, of_b), out);
    };
    let (mut at_a, mut at_b) = (of_a.start, of_b.start);
    for (anchor_a, anchor_b) in anchors((a, of_a.clone()), (b, of_b.clone()), length) {
        // An earlier anchor may have been extended over this one.
        if anchor_a < at_a || anchor_b < at_b {
            continue;
        }
        let (Some(before_a), Some(before_b)) = (a.get(at_a..anchor_a), b.get(at_b..anchor_b))
        else {
            continue;
        };
        let back = before_a.iter().rev().zip(before_b.iter().rev());
        let back = back.take_while(|(x, y)| x == y).count();
        let (start_a, start_b) = (anchor_a - back, anchor_b - back);
        let (rest_a, rest_b) = (a.get(anchor_a..of_a.end), b.get(anchor_b..of_b.end));
        let equal = rest_a.unwrap_or_default().iter();
        let equal = equal.zip(rest_b.unwrap_or_default());
        let equal = equal.take_while(|(x, y)| x == y).count();
        middle((a, at_a..start_a), (b, at_b..start_b), shorter, out);
        (at_a, at_b) = (anchor_a + equal, anchor_b + equal);
        out.push(true, start_a..at_a, start_b..at_b);
    }
    middle((a, at_a..of_a.end), (b, at_b..of_b.end), shorter, out);
}

/// Where runs of this length that occur once in each part lie, rising in both parts.
fn anchors((a, of_a): Part<'_>, (b, of_b): Part<'_>, length: usize) -> Vec<(usize, usize)> {
    let (Some(slice_a), Some(slice_b)) = (a.get(of_a.clone()), b.get(of_b.clone())) else {
        return Vec::new();
    };
    let mut pairs = once_in_each(slice_a, slice_b, length);
    pairs.sort_unstable();
    let rising = rising(&pairs).into_iter();
    rising
        .map(|(at_a, at_b)| (of_a.start + at_a as usize, of_b.start + at_b as usize))
        .collect()
}

/// Where the runs of this length that occur once in each of two sequences lie.
fn once_in_each(a: &[u32], b: &[u32], length: usize) -> Vec<(u32, u32)> {
    let (of_a, of_b) = (hashed(a, length), hashed(b, length));
    let mut rest = of_b.as_slice();
    let mut pairs = Vec::new();
    for same in of_a.chunk_by(|x, y| x.0 == y.0) {
        let &[(hash, at_a)] = same else { continue };
        rest = rest
            .get(rest.partition_point(|run| run.0 < hash)..)
            .unwrap_or_default();
        let theirs = rest.get(..rest.partition_point(|run| run.0 == hash));
        let Some(&[(_, at_b)]) = theirs else { continue };
        let (from_a, from_b) = (at_a as usize, at_b as usize);
        // Different runs may have the same hash.
        if a.get(from_a..from_a + length) == b.get(from_b..from_b + length) {
            pairs.push((at_a, at_b));
        }
    }
    pairs
}

/// The hash of each run of this length and its place, sorted.
fn hashed(tokens: &[u32], length: usize) -> Vec<(u64, u32)> {
    let first = tokens.get(..length).unwrap_or_default();
    let after = |hash: u64, token: u32| {
        hash.wrapping_mul(STEP)
            .wrapping_add(mix_key(u64::from(token)))
    };
    let mut hash = first.iter().fold(0, |hash, &token| after(hash, token));
    let leaves = STEP.wrapping_pow(length as u32);
    let mut runs = Vec::with_capacity((tokens.len() + 1).saturating_sub(length));
    if first.len() == length {
        runs.push((hash, 0));
    }
    let coming = tokens.get(length..).unwrap_or_default();
    for (at, (&gone, &token)) in (1..).zip(tokens.iter().zip(coming)) {
        let gone = mix_key(u64::from(gone)).wrapping_mul(leaves);
        hash = after(hash, token).wrapping_sub(gone);
        runs.push((hash, at));
    }
    runs.sort_unstable();
    runs
}

/// The longest subsequence whose second numbers rise, of pairs whose first numbers rise.
fn rising(pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
    // For each length, the pair that ends a subsequence of this length with the least number.
    let mut ends: Vec<u32> = Vec::new();
    let mut before: Vec<u32> = Vec::with_capacity(pairs.len());
    let second = |at: u32| pairs.get(at as usize).map_or(0, |pair| pair.1);
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| second(end) < pair.1);
        let previous = length.checked_sub(1).and_then(|length| ends.get(length));
        before.push(previous.copied().unwrap_or(u32::MAX));
        match ends.get_mut(length) {
            Some(end) => *end = at as u32,
            None => ends.push(at as u32),
        }
    }
    let mut out = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        let Some(&pair) = pairs.get(at as usize) else {
            break;
        };
        out.push(pair);
        next = before.get(at as usize).copied();
    }
    out.reverse();
    out
}

/// Compares two long parts piece by piece.
fn pieces((a, of_a): Part<'_>, (b, of_b): Part<'_>, out: &mut Out) {
    let (mut at_a, mut at_b) = (of_a.start, of_b.start);
    while at_a < of_a.end && at_b < of_b.end {
        let (end_a, end_b) = (of_a.end.min(at_a + PIECE), of_b.end.min(at_b + PIECE));
        myers((a, at_a..end_a), (b, at_b..end_b), out);
        (at_a, at_b) = (end_a, end_b);
    }
    out.push(false, at_a..of_a.end, at_b..of_b.end);
}

/// Myers' algorithm, with the limits that git sets on its search: for a hostile pair the list of
/// differences gets longer than needed, but the search does not.
fn myers((a, of_a): Part<'_>, (b, of_b): Part<'_>, out: &mut Out) {
    let (Some(slice_a), Some(slice_b)) = (a.get(of_a.clone()), b.get(of_b.clone())) else {
        return;
    };
    let (all_a, all_b) = (0..slice_a.len(), 0..slice_b.len());
    // `capture_diff_slices` would also compile all other algorithms of the crate.
    let mut found = Compact::new(Replace::new(Capture::new()), slice_a, slice_b);
    let Ok(()) = myers::diff(&mut found, slice_a, all_a, slice_b, all_b);
    for op in found.into_inner().into_inner().into_ops() {
        let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
        out.push(
            matches!(op, DiffOp::Equal { .. }),
            moved(op.old_range(), of_a.start),
            moved(op.new_range(), of_b.start),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_base::random::Random;

    /// Checks the invariants; returns the number of equal tokens.
    fn check(a: &[u32], b: &[u32]) -> usize {
        let stretches = differences(a, b);
        let (mut at_a, mut at_b, mut equal, mut before) = (0, 0, 0, None);
        for stretch in &stretches {
            assert_eq!((stretch.a.start, stretch.b.start), (at_a, at_b));
            assert!(!stretch.a.is_empty() || !stretch.b.is_empty());
            assert_ne!(before, Some(stretch.equal));
            before = Some(stretch.equal);
            if stretch.equal {
                assert_eq!(a[stretch.a.clone()], b[stretch.b.clone()]);
                equal += stretch.a.len();
            }
            (at_a, at_b) = (stretch.a.end, stretch.b.end);
        }
        assert_eq!((at_a, at_b), (a.len(), b.len()));
        equal
    }

    #[test]
    fn short_sequences_are_compared_whole() {
        for (a, b, equal) in [
            (&[][..], &[][..], 0),
            (&[1], &[], 0),
            (&[], &[1], 0),
            (&[1, 2, 3], &[1, 2, 3], 3),
            (&[1, 2, 3], &[1, 3], 2),
            (&[1, 2], &[3, 4], 0),
        ] {
            assert_eq!(check(a, b), equal);
        }
    }

    #[test]
    fn changes_of_a_long_sequence_are_found() {
        let mut random = Random::new(3);
        for words in [30, 5_000, 1_000_000] {
            let a: Vec<u32> = (0..120_000).map(|_| random.below(words) as u32).collect();
            let mut b = a.clone();
            for _ in 0..300 {
                let at = random.below(b.len() as u64) as usize;
                match random.below(3) {
                    0 => {
                        b.remove(at);
                    }
                    1 => b.insert(at, 2_000_000),
                    _ => b[at] = 2_000_001,
                }
            }
            // A passage of its own in each.
            b.splice(5..5, 3_000_000..3_060_000);
            let equal = check(&a, &b);
            assert!(equal >= a.len() - 300, "{words}: {equal}");
        }
    }

    #[test]
    fn hostile_sequences_take_bounded_time() {
        let n = 200_000u32;
        let mut random = Random::new(5);
        let mut of =
            |words: u64| -> Vec<u32> { (0..n).map(|_| random.below(words) as u32).collect() };
        let permuted = |step: u32| -> Vec<u32> {
            (0..n)
                .map(|i| (u64::from(i) * u64::from(step) % u64::from(n)) as u32)
                .collect()
        };
        for (a, b) in [
            (of(2), of(2)),
            (of(1000), of(1000)),
            (vec![1; n as usize], vec![1; n as usize / 3]),
            (vec![1; n as usize], vec![2; n as usize]),
            (permuted(1), permuted(7_919)),
            (permuted(1), permuted(n - 1)),
        ] {
            let begun = std::time::Instant::now();
            let equal = check(&a, &b);
            let seconds = begun.elapsed().as_secs_f64();
            eprintln!("{equal} of {n} equal, {seconds:.2} s");
            assert!(seconds < 60.0, "{seconds:.1} s");
        }
    }

    #[test]
    fn the_longest_rising_subsequence_is_found() {
        let pairs = [(0, 5), (1, 1), (2, 4), (3, 2), (4, 3), (5, 9), (6, 0)];
        assert_eq!(rising(&pairs), [(1, 1), (3, 2), (4, 3), (5, 9)]);
        assert!(rising(&[]).is_empty());
    }
}
