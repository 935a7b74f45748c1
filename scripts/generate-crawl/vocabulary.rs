//! The word forms, and words drawn from them.
//!
//! # Algorithm
//! The first forms are the commonest English words; the others are made of syllables, longer as
//! they get rarer, none twice. The form of rank r is drawn with a probability of 1/r (Zipf),
//! by the alias method (Walker 1977, in Vose's order): two array accesses a word.

use std::collections::HashSet;

use super::random::{Purpose, Random};

/// How many forms there are.
pub const FORMS: u32 = 200_000;

const COMMON: &str = "the of and to in a is for that be on with as by or are this at from an will it \
    which not was have has may their all other any can more if these its also such been were they \
    who but no state one new under must when each use than information section into about there \
    health should program public out we within only through time he our after years federal year \
    data two do per up some so most report where you national your them before both first made \
    between system services during over number he's those part page office department general";

const ONSETS: [&str; 32] = [
    "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "b", "c", "d", "f",
    "l", "m", "n", "p", "r", "s", "t", "st", "tr", "pr", "ch", "gr", "",
];
const NUCLEI: [&str; 16] = [
    "a", "e", "i", "o", "u", "a", "e", "i", "o", "a", "e", "i", "o", "ea", "ou", "ai",
];
const CODAS: [&str; 16] = [
    "", "", "", "", "", "", "", "", "n", "r", "s", "t", "l", "m", "nt", "st",
];
const ENDINGS: [&str; 16] = [
    "", "", "", "", "", "", "s", "s", "ed", "ing", "er", "ly", "tion", "al", "y", "ity",
];

/// The forms and their probabilities.
pub struct Vocabulary {
    bytes: Vec<u8>,
    /// Where each form begins, and the end of the last.
    starts: Vec<u32>,
    /// Of each form: below which of 2^32 it is kept, and the form taken otherwise.
    alias: Vec<(u32, u32)>,
}

impl Vocabulary {
    pub fn new(seed: u64) -> Self {
        let mut vocabulary = Vocabulary {
            bytes: Vec::new(),
            starts: vec![0],
            alias: alias(),
        };
        let mut seen = HashSet::new();
        let common = COMMON.split_ascii_whitespace();
        for form in common.filter(|form| form.bytes().all(|b| b.is_ascii_lowercase())) {
            if seen.insert(form.as_bytes().to_vec()) {
                vocabulary.push(form.as_bytes());
            }
        }
        let mut random = Random::new(seed, Purpose::Vocabulary, 0);
        let mut form = Vec::new();
        while vocabulary.len() < FORMS {
            // Common words are short.
            let syllables = match vocabulary.len() {
                0..1_000 => random.between(1, 2),
                1_000..10_000 => random.between(1, 3),
                _ => random.between(2, 3),
            };
            form.clear();
            for _ in 0..syllables {
                for part in [&ONSETS[..], &NUCLEI[..], &CODAS[..]] {
                    form.extend_from_slice(
                        part[random.below(part.len() as u32) as usize].as_bytes(),
                    );
                }
            }
            form.extend_from_slice(ENDINGS[random.below(16) as usize].as_bytes());
            if form.len() >= 2 && seen.insert(form.clone()) {
                vocabulary.push(&form);
            }
        }
        vocabulary
    }

    fn push(&mut self, form: &[u8]) {
        self.bytes.extend_from_slice(form);
        self.starts.push(self.bytes.len() as u32);
    }

    fn len(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// The form of a rank, lower-case ASCII letters.
    pub fn form(&self, rank: u32) -> &[u8] {
        let (start, end) = (self.starts[rank as usize], self.starts[rank as usize + 1]);
        &self.bytes[start as usize..end as usize]
    }

    /// A rank, drawn by its frequency.
    pub fn draw(&self, random: &mut Random) -> u32 {
        let bits = random.next();
        let rank = (((bits >> 32) * u64::from(FORMS)) >> 32) as u32;
        let (kept_below, other) = self.alias[rank as usize];
        if (bits as u32) < kept_below {
            rank
        } else {
            other
        }
    }
}

fn alias() -> Vec<(u32, u32)> {
    let n = FORMS as usize;
    let total: f64 = (1..=n).map(|rank| 1.0 / rank as f64).sum();
    let mut weights: Vec<f64> = (1..=n).map(|rank| n as f64 / rank as f64 / total).collect();
    let mut alias: Vec<(u32, u32)> = (0..FORMS).map(|rank| (u32::MAX, rank)).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..n).partition(|&rank| weights[rank] < 1.0);
    while let (Some(low), Some(&high)) = (small.pop(), large.last()) {
        alias[low] = ((weights[low] * 4_294_967_296.0) as u32, high as u32);
        weights[high] -= 1.0 - weights[low];
        if weights[high] < 1.0 {
            large.pop();
            small.push(high);
        }
    }
    alias
}
