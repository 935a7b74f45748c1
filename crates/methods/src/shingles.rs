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
use super::{Entry, Method, join_by, join_by_shared};
use lookalike_base::Measure;
use lookalike_engine::join::Join;

pub(super) const METHOD: Entry = Entry {
    name: "shingles",
    about: "DSC: shingles, all of them or the selections of Broder, Heintze or Shivakumar",
    paper: "Ye et al. 2008, section 2.1 and Table 1; Chowdhury et al. 2002, section 2",
    parameters: &[
        "preset=full: full, broder97, heintze, shivakumar2 or shivakumar4; sets the parameters below",
        "size=preset: words in a shingle (lines with shivakumar)",
        "every=preset: keeps one shingle in this number",
        "most=preset: keeps at most this number of the smallest shingles of a document",
        "max-postings=preset: drops shingles that occur in more documents; none drops no shingles",
        "threshold=preset: lowest resemblance of a pair; with shivakumar, the least number of shared shingles",
    ],
    build: |values| {
        let (lines, texts) = values.one_of("preset", &PRESETS)?;
        let values = &values.filled(PRESET_OF.into_iter().zip(texts));
        let most = u64::from(u32::MAX);
        let mut join = match lines {
            true => join_by_shared(values.number("threshold", 1..=most)? as u32),
            false => join_by(Measure::Resemblance, values.threshold("threshold")?),
        };
        if values.text("max-postings") != "none" {
            join.max_postings = Some(values.number("max-postings", 2..=most)? as u32);
            join.join = Join::Count;
        }
        let size = values.number("size", 1..=1000)? as usize;
        let every = values.number("every", 1..=most)?;
        let kept = values.number("most", 1..=most)? as usize;
        Ok(Method::plain(join, move |document, keys| {
            if lines {
                let lines: Vec<&str> = document.lines().filter(|line| !line.is_empty()).collect();
                let shingles = lines.chunks_exact(size);
                keys.extend(shingles.map(|lines| fingerprint(lines.join("\n").as_bytes())));
            } else {
                keys.append(document.shingles(size));
            }
            keys.retain(|key| key.is_multiple_of(every));
            if keys.len() > kept {
                keys.sort_unstable();
                keys.dedup();
                keys.truncate(kept);
            }
        }))
    },
};

/// The parameters that a preset sets.
const PRESET_OF: [&str; 5] = ["size", "every", "most", "max-postings", "threshold"];
/// Whether shingles consist of lines, and the values of `PRESET_OF`. Of lines, the threshold is a
/// number of shared shingles.
const PRESETS: [(&str, (bool, [&str; 5])); 5] = [
    ("full", (false, ["10", "1", ALL, "none", "17/20"])),
    ("broder97", (false, ["10", "25", "400", "1000", "1/2"])),
    ("heintze", (false, ["10", "1", "100", "1000", "1/2"])),
    ("shivakumar2", (true, ["2", "1", ALL, "none", "25"])),
    ("shivakumar4", (true, ["4", "1", ALL, "none", "15"])),
];
/// More shingles than a document has.
const ALL: &str = "4294967295";
