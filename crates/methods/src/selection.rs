//! Which chunks of a document become its features: the selections of document fingerprinting.
//!
//! # Source
//! Bernstein & Zobel 2006, section 4.2 (names) and 6.1 (combinations), and the papers cited there:
//! - `full`: every chunk.
//! - `spex`: chunks that occur more than once in the collection (section 5; `spex.rs`).
//! - `modulo-K`: chunks whose hash is 0 modulo K.
//! - `random-N`: one chunk in N, drawn at random in each document independently.
//! - `every-N`: every Nth chunk.
//! - `rare-N`: chunks that occur in at most N documents (Heintze 1996).
//! - `anchor-A.B.C`: chunks that begin with one of these letter sequences (Manber 1994).
//! - `winnowing-W`: of every W consecutive chunks the one with the smallest hash, and the last one
//!   of equals (Schleimer, Wilkerson & Aiken 2003).
//! - `min-N`: the chunks with the N smallest hashes of the document.
//!
//! A `+` combines selections: `spex+modulo-16` selects the chunks that both select.
//!
//! # Invariants
//! - Full, SPEX, modulo, anchor and rare select a chunk either in all documents or in none. The
//!   others do not.
//! - Of any W consecutive chunks that two documents share, winnowing selects one in both documents.
//!   So it never misses a shared run of W + l - 1 words, where l is the words in a chunk. A
//!   document of fewer than W chunks is one window.
//!
//! # Where we depart from the papers
//! - `random-N` draws chunks by a hash of the text and the position, so that a run can be repeated.
//! - For `rare-N` the join drops the chunks that occur in more than N documents (`--max-postings`).
//!   N is at least 2, because a chunk of one document forms no pair.
//! - Anchors match the lower-case words that are compared, and only at the beginning of a chunk.
//!   Manber's anchors match anywhere in the bytes.

use super::Document;
use super::document::fingerprint;
use super::mix;
use super::spex::Spex;

/// One of the combined selections.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Full,
    Spex,
    Modulo(u64),
    Random(u64),
    Every(usize),
    Rare(u32),
    Anchor(Vec<String>),
    Winnowing(usize),
    Min(usize),
}

/// Selections; a chunk is selected if all of them select it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChunkSelection(Vec<Part>);

/// The valid forms, for error messages.
const FORM: &str = "full, spex, modulo-K, random-N, every-N, rare-N, anchor-A.B, winnowing-W or min-N, or \
                    several with + between them";

impl ChunkSelection {
    /// Reads a selection such as `spex+modulo-16`.
    pub(super) fn read(text: &str) -> Result<ChunkSelection, String> {
        let parts = text.split('+').map(|part| {
            let (name, value) = match part.split_once('-') {
                Some((name, value)) => (name, Some(value)),
                None => (part, None),
            };
            let number = |least: u64| {
                let number = value.and_then(|value| value.parse::<u32>().ok());
                number.filter(|&n| u64::from(n) >= least)
            };
            let part = match (name, value) {
                ("full", None) => Some(Part::Full),
                ("spex", None) => Some(Part::Spex),
                ("modulo", _) => number(1).map(|n| Part::Modulo(n.into())),
                ("random", _) => number(1).map(|n| Part::Random(n.into())),
                ("every", _) => number(1).map(|n| Part::Every(n as usize)),
                ("rare", _) => number(2).map(Part::Rare),
                ("winnowing", _) => number(1).map(|n| Part::Winnowing(n as usize)),
                ("min", _) => number(1).map(|n| Part::Min(n as usize)),
                ("anchor", Some(value)) => {
                    let anchors: Vec<String> = value.split('.').map(Into::into).collect();
                    let letters =
                        |a: &String| !a.is_empty() && a.chars().all(char::is_alphanumeric);
                    anchors.iter().all(letters).then_some(Part::Anchor(anchors))
                }
                _ => None,
            };
            part.ok_or_else(|| format!("selection is {FORM}, and not `{text}`"))
        });
        parts.collect::<Result<_, _>>().map(ChunkSelection)
    }

    /// Whether the selection needs to know which chunks occur more than once in the collection.
    pub(super) fn spex(&self) -> bool {
        self.0.contains(&Part::Spex)
    }

    /// The K of `modulo-K`: it keeps one chunk in K. 1 if `modulo` is not selected.
    pub(super) fn modulo(&self) -> u64 {
        let modulo = self.0.iter().map(|part| match part {
            Part::Modulo(k) => *k,
            _ => 1,
        });
        modulo.max().unwrap_or(1)
    }

    /// The N of `rare-N`: the most documents in which a chunk may occur.
    pub(super) fn rare(&self) -> Option<u32> {
        let most = self.0.iter().filter_map(|part| match part {
            Part::Rare(most) => Some(*most),
            _ => None,
        });
        most.min()
    }

    /// Appends the hashes of the selected chunks of `size` words.
    pub(super) fn select(
        &self,
        document: &mut Document<'_>,
        size: usize,
        spex: Option<&Spex>,
        keys: &mut Vec<u64>,
    ) {
        let from = keys.len();
        keys.extend(document.shingles(size).iter());
        let chunks = keys.get_mut(from..).unwrap_or_default();
        if self.0 == [Part::Full] {
            return;
        }
        let mut keep = vec![true; chunks.len()];
        for part in &self.0 {
            match (part, spex) {
                (Part::Spex, Some(spex)) => spex.keep(document, &mut keep),
                (Part::Anchor(anchors), _) => {
                    let words = document.words();
                    for (keep, chunk) in keep.iter_mut().zip(words.windows(size)) {
                        *keep &= anchors.iter().any(|a| chunk.starts_with(a.as_bytes()));
                    }
                }
                (Part::Random(n), _) => {
                    let seed = fingerprint(document.text().as_bytes());
                    for (at, keep) in keep.iter_mut().enumerate() {
                        *keep &= mix(seed ^ mix(at as u64)).is_multiple_of(*n);
                    }
                }
                (part, _) => part.keep(chunks, &mut keep),
            }
        }
        let mut keep = keep.into_iter();
        let mut at = 0;
        keys.retain(|_| {
            at += 1;
            at <= from || keep.next() == Some(true)
        });
    }
}

impl Part {
    /// Clears `keep` for the chunks that this selection does not select. Handles only selections
    /// that need no more than hashes and positions.
    fn keep(&self, chunks: &[u64], keep: &mut [bool]) {
        let selected: Vec<bool> = match self {
            Part::Modulo(k) => chunks.iter().map(|of| of.is_multiple_of(*k)).collect(),
            Part::Every(n) => (0..chunks.len()).map(|at| at.is_multiple_of(*n)).collect(),
            Part::Min(n) => {
                let mut smallest = chunks.to_vec();
                smallest.sort_unstable();
                smallest.dedup();
                let most = smallest.get(n - 1).copied().unwrap_or(u64::MAX);
                chunks.iter().map(|chunk| *chunk <= most).collect()
            }
            Part::Winnowing(window) => {
                let mut selected = vec![false; chunks.len()];
                winnow(chunks, *window, |at| selected[at] = true);
                selected
            }
            Part::Full | Part::Spex | Part::Random(_) | Part::Rare(_) | Part::Anchor(_) => return,
        };
        for (keep, selected) in keep.iter_mut().zip(selected) {
            *keep &= selected;
        }
    }
}

/// Calls `each` with the position of the smallest of every `window` consecutive hashes, and with
/// the last position of equal ones. A position may come several times.
fn winnow(hashes: &[u64], window: usize, mut each: impl FnMut(usize)) {
    // Candidates in the window by position; each hash is smaller than all hashes after it.
    let mut rising: std::collections::VecDeque<(usize, u64)> = std::collections::VecDeque::new();
    let first_end = window.min(hashes.len());
    for (at, &hash) in hashes.iter().enumerate() {
        while rising.back().is_some_and(|&(_, before)| before >= hash) {
            rising.pop_back();
        }
        rising.push_back((at, hash));
        if rising.front().is_some_and(|&(from, _)| from + window <= at) {
            rising.pop_front();
        }
        if at + 1 >= first_end
            && let Some(&(least, _)) = rising.front()
        {
            each(least);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::Scratch;
    use super::*;

    fn selected(text: &str, size: usize, selection: &str) -> Vec<u64> {
        let mut scratch = Scratch::new(&Default::default());
        let mut keys = vec![7];
        let selection = ChunkSelection::read(selection).unwrap();
        selection.select(
            &mut Document::new(text, &mut scratch),
            size,
            None,
            &mut keys,
        );
        assert_eq!(keys.remove(0), 7);
        keys
    }

    fn words(from: u64, count: u64) -> String {
        let words: Vec<String> = (from..from + count).map(|n| format!("w{n}")).collect();
        words.join(" ")
    }

    #[test]
    fn selections_read_and_are_refused() {
        for text in [
            "full",
            "spex",
            "spex+modulo-16",
            "random-10",
            "every-3",
            "rare-2",
            "anchor-th.st",
            "winnowing-4+spex",
            "min-9",
        ] {
            ChunkSelection::read(text).unwrap();
        }
        for text in [
            "",
            "all",
            "spex+",
            "spex-1",
            "modulo",
            "modulo-0",
            "rare-1",
            "anchor-",
            "anchor-a..b",
            "winnowing-x",
            "min-4294967296",
        ] {
            assert!(ChunkSelection::read(text).is_err(), "{text}");
        }
        let both = ChunkSelection::read("spex+modulo-16").unwrap();
        assert_eq!((both.spex(), both.modulo(), both.rare()), (true, 16, None));
    }

    #[test]
    fn each_selects_what_it_says() {
        let text = words(0, 300);
        let all = selected(&text, 4, "full");
        assert_eq!(all.len(), 297);
        let modulo: Vec<u64> = all.iter().copied().filter(|h| h % 5 == 0).collect();
        assert_eq!(selected(&text, 4, "modulo-5"), modulo);
        assert_eq!(selected(&text, 4, "modulo-5+full"), modulo);
        let every: Vec<u64> = all.iter().copied().step_by(7).collect();
        assert_eq!(selected(&text, 4, "every-7"), every);
        let mut smallest = selected(&text, 4, "min-10");
        smallest.sort_unstable();
        let mut sorted = all.clone();
        sorted.sort_unstable();
        assert_eq!(smallest, sorted[..10]);
        // Chunks that begin with w1: 1, 10 to 19, 100 to 199.
        assert_eq!(selected(&text, 4, "anchor-x.w1").len(), 111);
        let random = selected(&text, 4, "random-3");
        assert!((60..140).contains(&random.len()), "{}", random.len());
        assert_eq!(random, selected(&text, 4, "random-3"));
        // Combined selections keep the intersection.
        let both: Vec<u64> = modulo
            .iter()
            .copied()
            .filter(|h| every.contains(h))
            .collect();
        assert_eq!(selected(&text, 4, "every-7+modulo-5"), both);
        for selection in ["full", "every-2", "winnowing-3", "min-1"] {
            assert_eq!(selected("a b c", 4, selection), [0; 0]);
        }
    }

    #[test]
    fn winnowing_takes_the_last_smallest_of_each_window() {
        let places = |hashes: &[u64], window| {
            let mut places = Vec::new();
            winnow(hashes, window, |at| places.push(at));
            places.dedup();
            places
        };
        // The figure of Schleimer, Wilkerson & Aiken 2003, section 3, with windows of 4.
        let hashes = [
            77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98,
        ];
        let taken: Vec<u64> = places(&hashes, 4)
            .into_iter()
            .map(|at| hashes[at])
            .collect();
        assert_eq!(taken, [17, 17, 8, 39, 17]);
        assert_eq!(places(&[5, 5, 5, 5], 2), [1, 2, 3]);
        assert_eq!(places(&[3, 1, 2], 9), [1]);
        assert_eq!(places(&[], 3), [0; 0]);
        // Compare with the definition.
        for seed in 0..200 {
            let hashes: Vec<u64> = (0..seed % 23).map(|n| mix(seed * 100 + n) % 9).collect();
            for window in 1..6 {
                let mut expected: Vec<usize> = Vec::new();
                for (from, window) in hashes.windows(window.min(hashes.len().max(1))).enumerate() {
                    let least = window.iter().min().unwrap();
                    let last = window.iter().rposition(|h| h == least).unwrap();
                    expected.push(from + last);
                }
                expected.dedup();
                assert_eq!(places(&hashes, window), expected, "{hashes:?} {window}");
            }
        }
    }

    /// A run of W + l - 1 shared words is W shared chunks, and both documents select one of them.
    #[test]
    fn winnowing_misses_no_long_shared_run() {
        for seed in 0..100u64 {
            for (size, window) in [(1, 1), (3, 4), (8, 10)] {
                let run = words(seed * 1000, (size + window - 1) as u64);
                let (left, right) = (words(500_000 + seed, 37), words(700_000 - seed, 91));
                let selection = format!("winnowing-{window}");
                let a = selected(&format!("{left} {run} {right}"), size, &selection);
                let b = selected(&format!("{right} {run} {left}"), size, &selection);
                let inside = selected(&run, size, "full");
                assert!(
                    a.iter().any(|h| b.contains(h) && inside.contains(h)),
                    "{seed} {size} {window}"
                );
            }
        }
    }
}
