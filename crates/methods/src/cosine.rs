//! `cosine`: finds exactly the pairs whose sets of unique terms have a cosine of at least 0.9.
//!
//! # Source
//! Kolcz & Chowdhury 2008, section 6.4, equation 2: shared / sqrt(d(i) d(j)), which ignores how
//! often a term occurs in a document. The paper evaluates I-Match against this measure. Terms:
//! section 6.3 (`terms.rs`).
//!
//! # Algorithm
//! The features are the fingerprints of the unique terms. The prefix join limits the candidates to
//! pairs that can reach the threshold, in exact arithmetic ([`lookalike_base::measure`]).
//!
//! # Where we depart from the paper
//! - The text requires a cosine greater than 0.9, but equation 3 requires at least 0.9; we follow
//!   the equation.
//! - The paper finds the neighbours of a sample of documents; here all pairs are found.

use super::terms::{LEAST_TERMS, Preprocessing, filters_help, least_terms};
use super::{Entry, Method, join_by};
use lookalike_base::Measure;

pub(super) const METHOD: Entry = Entry {
    name: "cosine",
    about: "Exact cosine of the sets of unique terms",
    paper: "Kolcz & Chowdhury 2008, sections 6.3 and 6.4",
    parameters: &[
        "threshold=0.9: lowest cosine of a pair",
        "terms=kolcz: kolcz: words of section 6.3; chowdhury: tokens that pass `filters`",
        concat!("filters=none: ", filters_help!()),
        LEAST_TERMS,
    ],
    build: |values| {
        let keys = Preprocessing::read(values)?.keys(least_terms(values)?);
        let join = join_by(Measure::Cosine, values.threshold("threshold")?);
        Ok(Method::new(join, move |_, _| Ok(keys.clone())))
    },
};
