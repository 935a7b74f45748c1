//! Single documents of a collection: found by their names, with the facts about them, their texts,
//! and the passages that two of them share.
//!
//! # In and out
//! In: an output directory, and the name of a document: its docno, or FILE:RECORD with the file and
//! the record as in `documents.tsv`. Out: its [`Facts`]; its text ([`texts()`]); what two documents
//! share, by the definitions of the collection ([`compare()`]).
//!
//! # Algorithm
//! 1. A docno is looked for in the column of docnos, from its start to its end. A place is looked
//!    for in the list of inputs, and in the segments with the documents of the file.
//! 2. Exact duplicates come from the column of representatives, pairs and clusters from the
//!    committed pairs, in one pass over each.
//! 3. A text is read from its input, and used if its words still have the same MD5. If the input is
//!    gone, the text that the collection keeps takes its place, or the representative's text, which
//!    has the same words.
//!
//! # Invariants
//! - Nothing in the directory is changed.
//! - A text comes from [`lookalike_text::parse::Parser::text_as_read`], as in the other commands that
//!   state positions; only a kept text has its white space folded. A missing text is not an error:
//!   the reason takes its place.
//! - Resemblance and containment are exact, of the full sets, whatever the pairs were made with.
//!
//! # Cost
//! Time: the column of docnos, the documents up to the wanted one in its segments and its file, the
//! pairs once or twice; an input up to the wanted record. Memory: about 20 bytes a document of the
//! collection for the facts; for a text that is read again one record of at most `--max-document`;
//! for a comparison both sets or both texts, with about 130 bytes for each word.

mod compare;
mod facts;
mod find;
mod folded;
mod inputs;
mod named;
mod positions;
mod texts;

use serde::Serialize;

pub use compare::{Both, CompareConfig, Side, compare};
pub use facts::{Facts, Known, NamedDocument, facts};
pub use find::{find, name_of, stored};
pub use folded::Folded;
pub use inputs::{READER_BYTES, Reread, Wanted, read_again, record_bytes};
pub use named::{ShownDocument, look_up};
pub use positions::{Compared, Covered, Lines, Pair, Passages, Place, passages};
pub use texts::{Source, Text, no_text, texts};

/// Name of this work in messages.
const STAGE: &str = "show";

/// Buffers of readers and of the decompressor.
const FIXED_BYTES: u64 = 24 << 20;

/// The first of some things.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Listed<T> {
    /// How many there are.
    pub total: u64,
    pub listed: Vec<T>,
}

impl<T> Listed<T> {
    /// Adds one, and lists it if it is one of the first `most`.
    fn add(&mut self, most: usize, one: T) {
        self.total += 1;
        if self.listed.len() < most {
            self.listed.push(one);
        }
    }
}
