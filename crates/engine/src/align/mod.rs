//! Where the tokens of two texts agree and where they differ.
//!
//! # Source
//! Differences: Myers 1986, by the crate `similar`, which limits the search as git does; for long
//! texts between anchors that occur once in each, after B. Cohen's patience diff. Names of equal
//! runs: Karp, Miller & Rosenberg 1972.
//!
//! # In and out
//! In: two texts with the places of their tokens ([`Words`]), or two sequences of token numbers
//! ([`numbers`]), in which equal tokens have equal numbers. Out: a list of stretches that are equal
//! or differ ([`differences()`]), which together cover both texts in order; or all maximal matches
//! ([`matches()`]), which may overlap and cross.
//!
//! # Algorithm
//! *Differences.* Texts of up to [`differences::MYERS_TOKENS`] tokens are compared by Myers'
//! algorithm. In longer texts, the runs of 32 tokens that occur exactly once in each text are
//! anchors; the longest sequence of anchors that rises in both texts is kept, and each is extended.
//! Gaps between anchors are treated in the same way with runs of 8 tokens, then with single ones. A
//! gap that is still too long is cut into pieces of equal length, which are compared one by one.
//!
//! *Matches.* Each run of k tokens gets a name, such that equal runs have equal names, from the
//! names of two shorter runs: no hash decides whether runs are equal. A maximal match begins at a
//! pair of runs with the same name whose tokens before them differ. So the number of matches
//! follows from the number of runs with each name and with each token before them, without a look
//! at a pair.
//!
//! # Invariants
//! - The results depend on the two sequences alone, not on time.
//! - Stretches of differences alternate between equal and not equal, none is empty in both texts,
//!   and equal ones have the same tokens.
//! - The matches listed are the first of all matches in their order. The number of all matches and
//!   the tokens that they cover are exact, however many are listed.
//!
//! # Cost
//! Memory for each token of both texts: [`Words`] takes 16 bytes, [`TextComparison`] 8, [`numbers`]
//! up to [`NUMBER_BYTES`], [`differences()`] up to [`differences::BYTES`], [`matches()`] up to
//! [`matches::BYTES`]. Time, of n tokens: differences take O(n log n), except for at most
//! [`differences::MYERS_TOKENS`] tokens at a time, where the search is limited. Matches take O(n
//! log k + n log n) and the tokens of the matches listed, at most [`matches::MOST_COMPARED`].
//!
//! # What is not guaranteed
//! The differences need not be the smallest set.

mod blocks;
pub mod differences;
pub mod matches;
mod words;

pub use blocks::{Block, LEAST_FOLDED, TextComparison};
pub use differences::{Stretch, differences};
pub use matches::matches;
pub use words::{NUMBER_BYTES, Pieces, Words, numbers};
