//! `mod`: the fingerprints that are 0 modulo n.
//!
//! # Source
//! Mod_n of Cherkasova et al. 2009, section 2 (Broder 1997 with words). The parameters are from
//! section 4: windows of 20 bytes, n = 100.
//!
//! # Where we depart from the paper
//! See `windows.rs`.

use super::windows::{MEASURE, THRESHOLD, WINDOW, join, window, windows};
use super::{Entry, Method};

pub(super) const METHOD: Entry = Entry {
    name: "mod",
    about: "Fingerprints of byte windows that are 0 modulo n",
    paper: "Cherkasova et al. 2009, sections 2 and 4",
    parameters: &[
        WINDOW,
        "n=100: keeps one fingerprint in n (the paper: 100 for short documents, 500 for documents of \
             50 KB)",
        MEASURE,
        THRESHOLD,
    ],
    build: |values| {
        let window = window(values)?;
        let n = values.number("n", 1..=u64::from(u32::MAX))?;
        let join = join(values)?;
        Ok(Method::plain(join, move |document, keys| {
            let fingerprints = windows(document, window).iter().copied();
            keys.extend(fingerprints.filter(|f| f.is_multiple_of(n)));
        }))
    },
};
