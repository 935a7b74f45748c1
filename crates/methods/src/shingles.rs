//! `shingles` (DSC): shared shingles, all of them or with the selection of an earlier paper.
//!
//! # Source
//! Ye, Wen & Ma 2008, section 2.1 and Table 1:
//! - `preset=broder97`: Broder, Glassman, Manasse & Zweig 1997. Shingles of 10 words whose
//!   fingerprint is 0 modulo 25, at most 400 per document, without shingles of more than 1,000
//!   documents. A pair has a resemblance of 0.5 or more.
//! - `preset=heintze`: Heintze 1996. The N smallest shingles of each document, without frequent
//!   ones.
//! - `preset=shivakumar2`, `preset=shivakumar4`: Shivakumar & Garcia-Molina 1998. Every two lines
//!   are a shingle, and a pair shares 25; or every four lines are one, and a pair shares 15.
//!
//! `preset=full` repeats the main join: all shingles of 10 words, at a resemblance of 0.85.
//!
//! # Where we depart from the papers
//! - If a document has more than 400 shingles, the smallest are kept.
//! - Ye et al. do not give Heintze's N, limit on frequency or threshold: 100, 1,000 and 0.5 are
//!   ours.
//! - The order in Table 1 decides which of `25 or 15` belongs to two lines and which to four.
//! - A line ends at a line feed of the text or a line break of the markup. Empty lines are ignored.

use super::document::fingerprint;
use super::{Entry, Parameter, Plain, join_by, join_by_shared};
use lookalike_base::ids::Threshold;
use lookalike_base::measure::Measure;
use lookalike_engine::join::Join;

pub(super) const METHOD: Entry = Entry {
    name: "shingles",
    about: "DSC: shingles, all of them or the selections of Broder, Heintze or Shivakumar",
    paper: "Ye et al. 2008, section 2.1 and Table 1; Chowdhury et al. 2002, section 2",
    parameters: &[
        Parameter::new(
            "preset",
            "full",
            "full, broder97, heintze, shivakumar2 or shivakumar4; sets the parameters below",
        ),
        Parameter::new(
            "size",
            "preset",
            "words in a shingle (lines with shivakumar)",
        ),
        Parameter::new("every", "preset", "keeps one shingle in this number"),
        Parameter::new(
            "most",
            "preset",
            "keeps at most this number of the smallest shingles of a document",
        ),
        Parameter::new(
            "max-postings",
            "preset",
            "drops shingles that occur in more documents; none drops no shingles",
        ),
        Parameter::new(
            "threshold",
            "preset",
            "lowest resemblance of a pair; with shivakumar, the least number of shared shingles",
        ),
    ],
    build: |values| {
        let preset = values.one_of("preset", &PRESETS)?;
        let number = |name: &str, preset: u64, least: u64, most: u64| match values.text(name) {
            "preset" => Ok(preset),
            _ => values.number(name, least..=most),
        };
        let most = u64::from(u32::MAX);
        let max_postings = match values.text("max-postings") {
            "preset" => preset.max_postings,
            "none" => None,
            _ => Some(values.number("max-postings", 2..=most)? as u32),
        };
        let mut join = match (preset.lines, values.text("threshold")) {
            (true, _) => join_by_shared(number("threshold", preset.threshold.0, 1, most)? as u32),
            (false, "preset") => {
                let (numerator, denominator) = preset.threshold;
                let threshold =
                    Threshold::new(numerator, denominator).ok_or("a preset is wrong")?;
                join_by(Measure::Resemblance, threshold)
            }
            (false, _) => join_by(Measure::Resemblance, values.threshold("threshold")?),
        };
        join.max_postings = max_postings;
        if max_postings.is_some() {
            join.join = Join::Count;
        }
        let size = number("size", preset.size, 1, 1000)? as usize;
        let every = number("every", preset.every, 1, most)?;
        let kept = number("most", preset.most, 1, most)? as usize;
        Ok(Box::new(Plain::new(join, move |document, keys| {
            if preset.lines {
                let lines: Vec<&str> = document.lines().filter(|line| !line.is_empty()).collect();
                let shingles = lines.chunks_exact(size);
                keys.extend(shingles.map(|lines| fingerprint(lines.join("\n").as_bytes(), 0)));
            } else {
                keys.append(document.shingles(size, 0));
            }
            keys.retain(|key| key.is_multiple_of(every));
            if keys.len() > kept {
                keys.sort_unstable();
                keys.dedup();
                keys.truncate(kept);
            }
        })))
    },
};

#[derive(Clone, Copy)]
struct Preset {
    lines: bool,
    size: u64,
    every: u64,
    most: u64,
    max_postings: Option<u32>,
    /// The least resemblance as a fraction; with `lines`, the least number of shared shingles, over
    /// 1.
    threshold: (u64, u64),
}

const FULL: Preset = Preset {
    lines: false,
    size: 10,
    every: 1,
    most: u32::MAX as u64,
    max_postings: None,
    threshold: (17, 20),
};
const PRESETS: [(&str, Preset); 5] = [
    ("full", FULL),
    (
        "broder97",
        Preset {
            every: 25,
            most: 400,
            max_postings: Some(1000),
            threshold: (1, 2),
            ..FULL
        },
    ),
    (
        "heintze",
        Preset {
            most: 100,
            max_postings: Some(1000),
            threshold: (1, 2),
            ..FULL
        },
    ),
    (
        "shivakumar2",
        Preset {
            lines: true,
            size: 2,
            threshold: (25, 1),
            ..FULL
        },
    ),
    (
        "shivakumar4",
        Preset {
            lines: true,
            size: 4,
            threshold: (15, 1),
            ..FULL
        },
    ),
];
