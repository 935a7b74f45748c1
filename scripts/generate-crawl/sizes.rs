//! How many words a document has.
//!
//! # Source
//! Ye, Wen & Ma 2008, Table 3: documents and shingles in 11 groups by words, of the documents of
//! .GOV without exact duplicates.
//!
//! # Algorithm
//! A group is drawn by its documents; in the group the density falls in a straight line whose slope
//! gives the group's mean. The last group is open and falls with the power 5 (Pareto, 4), which
//! has its mean within half a percent; it is cut at [`MOST_WORDS`].

use super::random::Random;

/// The last word count that is drawn.
pub const MOST_WORDS: u32 = 200_000;

/// The least: a title and a few words.
const LEAST_WORDS: u32 = 8;

/// A document of so many words has this many shingles less, of ten words each.
const SHORTER: f64 = 9.0;

/// A row of Table 3.
pub struct Group {
    /// The first word count of the group; the next group's is the first that is not.
    pub low: u32,
    pub documents: u32,
    pub shingles: u32,
}

const fn group(low: u32, documents: u32, shingles: u32) -> Group {
    Group {
        low,
        documents,
        shingles,
    }
}

/// Table 3.
pub const GROUPS: [Group; 11] = [
    group(0, 651_983, 118_247_397),
    group(500, 153_741, 105_876_410),
    group(1_000, 78_590, 107_785_579),
    group(2_000, 28_917, 69_980_491),
    group(3_000, 14_669, 50_329_605),
    group(4_000, 8_808, 39_165_329),
    group(5_000, 5_636, 30_760_394),
    group(6_000, 3_833, 24_750_365),
    group(7_000, 2_790, 20_796_424),
    group(8_000, 1_983, 16_770_544),
    group(9_000, 7_775, 93_564_410),
];

/// The group of a document of so many words.
pub fn group_of(words: u32) -> usize {
    GROUPS.partition_point(|group| group.low <= words) - 1
}

/// Draws a number of words.
pub fn draw(random: &mut Random) -> u32 {
    let documents: u32 = GROUPS.iter().map(|group| group.documents).sum();
    let mut at = random.below(documents);
    let mut index = 0;
    while at >= GROUPS[index].documents {
        at -= GROUPS[index].documents;
        index += 1;
    }
    let group = &GROUPS[index];
    let u = random.unit();
    let Some(next) = GROUPS.get(index + 1) else {
        let words = f64::from(group.low) / (1.0 - u).sqrt().sqrt();
        return words.min(f64::from(MOST_WORDS)) as u32;
    };
    let low = f64::from(group.low.max(LEAST_WORDS));
    let width = f64::from(next.low) - low;
    let mean = f64::from(group.shingles) / f64::from(group.documents) + SHORTER;
    // On 0..1 the density 1 + b (1 - 2x) has the mean 1/2 - b/6, and (1 + b) x - b x^2 below x.
    let b = 3.0 - 6.0 * (mean - low) / width;
    let x = (1.0 + b - ((1.0 + b) * (1.0 + b) - 4.0 * b * u).sqrt()) / (2.0 * b);
    (low + x * width) as u32
}
