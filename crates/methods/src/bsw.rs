//! `bsw`: the smallest fingerprint of each content-defined chunk.
//!
//! # Source
//! BSW_n of Cherkasova et al. 2009, section 2. The Basic Sliding Window algorithm ends a chunk at
//! each window whose fingerprint is 0 modulo n. The paper keeps the numerically smallest
//! fingerprint of the windows of each chunk. The original algorithm (`keep=chunk`) keeps a hash of
//! the chunk. Windows of 20 bytes, n = 100.
//!
//! # Where we depart from the paper
//! See `windows.rs`. The window whose fingerprint ends a chunk is the last window of that chunk.
//! The last chunk ends with the text.

use super::document::fingerprint;
use super::windows::{MEASURE, THRESHOLD, WINDOW, join, window, windows};
use super::{Entry, Method};

pub(super) const METHOD: Entry = Entry {
    name: "bsw",
    about: "The smallest fingerprint of each content-defined chunk, or a hash of the chunk",
    paper: "Cherkasova et al. 2009, sections 2 and 4",
    parameters: &[
        WINDOW,
        "n=100: average number of windows in a chunk",
        "keep=smallest: smallest: the smallest fingerprint of each chunk, as in the paper; chunk: a hash of the chunk, \
             the classic algorithm",
        MEASURE,
        THRESHOLD,
    ],
    build: |values| {
        let window = window(values)?;
        let n = values.number("n", 1..=u64::from(u32::MAX))?;
        let whole = values.one_of("keep", &[("smallest", false), ("chunk", true)])?;
        let join = join(values)?;
        Ok(Method::plain(join, move |document, keys| {
            let text = document.text().as_bytes();
            let fingerprints = windows(document, window);
            let mut from = 0;
            for chunk in fingerprints.split_inclusive(|f| f.is_multiple_of(n)) {
                let to = from + chunk.len();
                if whole {
                    // A chunk ends where the last window that begins in it ends.
                    let end = to + window - 1;
                    let start = if from == 0 { 0 } else { from + window - 1 };
                    keys.push(fingerprint(&text[start..end]));
                } else {
                    keys.extend(chunk.iter().min());
                }
                from = to;
            }
        }))
    },
};
