//! `syntactic`: one hash over the unique tokens that pass filters. The filters need no statistics
//! of the collection.
//!
//! # Source
//! Chowdhury, Frieder, Grossman & McCabe 2002, section 4.2 and Table II: all 32 combinations of
//! five filters. `terms.rs` describes the filters.
//!
//! # Algorithm
//! The only feature of a document is the first 64 bits of the SHA-1 of its unique terms, in
//! ascending Unicode order and with a line feed after each. Documents with the same feature are a
//! set of duplicates. A document without terms has no feature and is ignored.
//!
//! # Where we depart from the paper
//! - The paper recommends no combination. By default `filters` selects all five, which found most
//!   in Table II. `filters=nosc+stem` is the baseline of its Table X.
//! - Separating the terms in the hash is our addition.

use sha1::{Digest, Sha1};

use super::terms::{Filters, LEAST_TERMS, Preprocessing, Terms, filters_help, least_terms};
use super::{Entry, Method, join_by_shared};

pub(super) const METHOD: Entry = Entry {
    name: "syntactic",
    about: "One hash of the document's unique tokens after filters",
    paper: "Chowdhury et al. 2002, section 4.2, Table II",
    parameters: &[
        concat!("filters=sw+tg5+tl25+nosc+stem: ", filters_help!()),
        LEAST_TERMS,
    ],
    build: |values| {
        let preprocessing = Preprocessing::Chowdhury(Filters::read(values.text("filters"))?);
        let least_terms = least_terms(values)?;
        let plain = Method::plain(join_by_shared(1), move |document, keys| {
            let mut terms: Terms = preprocessing.terms(document);
            if terms.len() >= least_terms.max(1) {
                terms.sort();
                keys.push(signature(terms.lines()));
            }
        });
        Ok(Method {
            sets: true,
            ..plain
        })
    },
};

/// The first 64 bits of the SHA-1 of the terms.
pub(super) fn signature<'t>(lines: impl Iterator<Item = &'t [u8]>) -> u64 {
    let mut hash = Sha1::new();
    for line in lines {
        hash.update(line);
    }
    let first = hash.finalize().into_iter().take(8);
    first.fold(0, |bits, byte| bits << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_of_whole_terms() {
        // sha1sum of "abc\n".
        assert_eq!(
            signature([&b"abc\n"[..]].into_iter()),
            0x03cf_d743_661f_0797
        );
        let of = |lines: &[&'static [u8]]| signature(lines.iter().copied());
        assert_ne!(of(&[b"a\n", b"bc\n"]), of(&[b"ab\n", b"c\n"]));
    }
}
