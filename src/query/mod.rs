//! Lookup: find documents of a collection that resemble or contain new ones.
//!
//! # Source
//! The search problem (1 x n) of Bernstein & Zobel 2006, sections 1 and 4.2.1: look up the keys of
//! a query document, and count for each document the keys that it shares with the query. A key is
//! the fingerprint of a shingle, or a feature of a method. Kolcz & Chowdhury 2008, section 5.2,
//! treat spam filtering as such a lookup.
//!
//! # In and out
//! In: documents in any format that `ingest` reads, and a collection, represented by its shingles
//! or by the features of a method. Out: for each query document, in input order, the
//! representatives that reach the threshold with it, most similar first.
//!
//! # Algorithm
//! 1. Documents are read and turned into keys in the same way as those of the collection, until the
//!    memory for a batch is full.
//! 2. The keys of a batch are sorted, and an index over their first bits is built.
//! 3. The sets of the collection are read once for each batch; the threads share the segments. Each
//!    key of a document is looked up in the batch, and the keys that the document shares with each
//!    query are counted.
//!
//! # Invariants
//! - The answers are exact: they are the pairs with representatives that the collection would have
//!   given had it contained the query. They do not depend on threads, memory or batches.
//! - Nothing is written, except the features of a method if they do not exist yet.
//!
//! # Cost
//! Every batch reads all sets; with enough memory there is one batch. Memory: 28 bytes for each key
//! of a batch and about 200 bytes for each match. If the matches of a batch do not fit, the batch
//! is looked up again in halves.
//!
//! # Where we depart from the source
//! There is no index of all keys: the shared postings omit keys that occur in only one document,
//! and a query may contain such a key. Batches make up for the missing index.
//!
//! # Errors
//! Those of the readers, and `BudgetTooSmall`, `StageMissing`, `Corrupt`, `Io`.

mod batch;
mod indexed;

use crate::budget::{ByteSize, PROCESS_BYTES};
use crate::collection::{self, Catalogue, CatalogueEntry};
use crate::ids::{FingerprintKind, Key, Threshold};
use crate::measure::{Criterion, Measure};
use crate::methods::{self, Keyer, Spec};
use crate::parse::{Parser, TokenKind};
use crate::progress::{Context, Unit};
use crate::read::{InputFile, Interpreted, RawDocument, ReadConfig, each_interpreted};
use crate::shingle::Shingler;
use crate::workspace::Workspace;
use crate::{Error, Result};
use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use batch::{Asked, QueryBatch};
use indexed::Looker;

const STAGE: &str = "query";
/// Buffers of the readers of inputs and of sets.
const FIXED_BYTES: u64 = 12 << 20;
/// A text buffer is reused for the next document up to this number of bytes.
const TEXT_KEPT: usize = 1 << 20;
/// The largest batch: its index still makes good use of the CPU cache.
const BATCH_BYTES: u64 = 256 << 20;

/// Query parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryConfig {
    /// The criterion that a match must reach; a method brings its own.
    pub criterion: Criterion,
    /// Also list documents that contain at least this share of the query's keys.
    pub containing: Option<Threshold>,
    /// The largest number of documents to list for each query; `None` for all.
    pub top: Option<usize>,
    /// Where to search. The answers are the same.
    pub search: Search,
}

/// Where a look-up searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// In the index if there is one and it costs less than reading all sets.
    #[default]
    Cheapest,
    /// In the index.
    Index,
    /// In the sets, all of which are read.
    Sets,
}

impl Default for QueryConfig {
    fn default() -> Self {
        QueryConfig {
            criterion: Criterion::default(),
            // 0.8.
            containing: Threshold::new(4, 5),
            top: Some(10),
            search: Search::Cheapest,
        }
    }
}

/// A document that matches a query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Match {
    /// Its docno.
    pub docno: String,
    /// Why it is listed.
    #[serde(rename = "match")]
    pub why: Why,
    /// The measure's value, to six decimals.
    pub score: f64,
    /// Share of the query's keys that the document has.
    pub contains_query: f64,
    /// Share of the document's keys that the query has.
    pub in_query: f64,
    /// Number of keys that both have.
    pub shared: u64,
    /// Number of the document's keys.
    pub keys: u64,
}

/// Why a document is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// Its canonical document is identical to the query's.
    Exact,
    /// It reaches the criterion.
    Near,
    /// It only contains enough of the query ([`QueryConfig::containing`]).
    Contains,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Exact => "exact",
            Why::Near => "near",
            Why::Contains => "contains",
        })
    }
}

/// The result of a query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The query's docno.
    pub query: String,
    /// Number of its words.
    pub words: u64,
    /// Number of its keys. A query without keys matches only identical documents.
    pub keys_query: u64,
    /// Number of documents that match.
    pub found: u64,
    /// The best matches.
    pub matches: Vec<Match>,
}

/// Totals of a lookup. `records` = `queries` + `rejected` + `skipped`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueryStats {
    /// Records read.
    pub records: u64,
    /// Records that are queries.
    pub queries: u64,
    /// Records that should be documents but are not.
    pub rejected: u64,
    /// Records that are not meant to be documents.
    pub skipped: u64,
    /// Queries with at least one match.
    pub matched: u64,
    /// Number of times that the collection was read.
    pub batches: u64,
}

/// Looks up documents in a collection and calls `answer` for each, in input order.
pub fn run(
    base: &Workspace,
    spec: Option<&Spec>,
    inputs: &[InputFile],
    read: &ReadConfig,
    config: &QueryConfig,
    context: &Context<'_>,
    mut answer: impl FnMut(Answer) -> Result<()>,
) -> Result<QueryStats> {
    if !collection::ingested(&base.manifest) || !base.manifest.has::<CatalogueEntry>() {
        return Err(Error::StageMissing {
            path: base.directory().into(),
            stage: "ingest",
        });
    }
    let mut asking = Asking {
        inputs,
        read,
        context,
        answer: &mut answer,
    };
    let shingle = &collection::config(&base.manifest).shingle;
    let largest = read.max_document.0;
    match spec {
        Some(spec) => {
            let workspace = methods::keys(base, spec, context)?;
            let mut keyer = Keyer::new(spec.method().prepare(base, context)?);
            let mut parser = Parser::new(&shingle.parse);
            let mut text = Vec::new();
            let mut shingler =
                Shingler::<u64>::new(&collection::config(&workspace.manifest).shingle);
            let join = spec.method().join();
            let config = QueryConfig {
                criterion: join.criterion(),
                ..config.clone()
            };
            let held = keyer.held_bytes();
            asking.run(&workspace, &config, held, |document, set, room| {
                // Only words and MD5 are needed, computed as for the collection. Nothing is hashed.
                let facts = shingler.shingle(document, (u64::MAX, 0), &mut Vec::new());
                shingler.shrink();
                parser.text(document, &mut text);
                parser.shrink();
                let needed = text.len() as u64 * methods::COST;
                // Memory for the largest document is reserved; this document leaves the rest of it
                // unused.
                let left = largest.saturating_sub(text.len() as u64) * 5 / 2;
                if needed > room + left {
                    return Err(needed - left);
                }
                keyer.keys(&String::from_utf8_lossy(&text), set);
                text.clear();
                text.shrink_to(TEXT_KEPT);
                Ok((facts.words, facts.md5))
            })
        }
        None => match shingle.fingerprint {
            FingerprintKind::Xxh3 => asking.shingles::<u64>(base, config),
            FingerprintKind::Md5 => asking.shingles::<u128>(base, config),
        },
    }
}

struct Asking<'a> {
    inputs: &'a [InputFile],
    read: &'a ReadConfig,
    context: &'a Context<'a>,
    answer: &'a mut dyn FnMut(Answer) -> Result<()>,
}

impl Asking<'_> {
    fn shingles<K: Key>(&mut self, base: &Workspace, config: &QueryConfig) -> Result<QueryStats> {
        let mut shingler = Shingler::<K>::new(&collection::config(&base.manifest).shingle);
        self.run(base, config, 0, |document, set, room| {
            let mut most = shingler.most_fingerprints(document.body.len());
            if QueryBatch::<K>::bytes_of_one(most) > room {
                if !matches!(
                    &collection::config(&base.manifest).shingle.parse.tokens,
                    TokenKind::Bytes(_)
                ) {
                    // There are at most as many shingles as words, and counting words needs no
                    // hashing.
                    let words = shingler
                        .shingle(document, (K::MAX, K::default()), set)
                        .words;
                    most = words as usize;
                    shingler.shrink();
                }
                let needed = QueryBatch::<K>::bytes_of_one(most);
                if needed > room {
                    return Err(needed);
                }
            }
            let facts = shingler.shingle(document, (K::default(), K::MAX), set);
            // Frees the buffer of a token as long as the document before the next document is read.
            shingler.shrink();
            Ok((facts.words, facts.md5))
        })
    }

    /// `held` bytes are in use by the caller. `keys` writes the keys of a document and returns its
    /// words and MD5. If the keys would need more memory than its last argument, it returns what
    /// they need.
    fn run<K: Key>(
        &mut self,
        workspace: &Workspace,
        config: &QueryConfig,
        held: u64,
        mut keys: impl FnMut(&RawDocument<'_>, &mut Vec<K>, u64) -> Result<(u64, [u8; 16]), u64>,
    ) -> Result<QueryStats> {
        let context = self.context;
        if config.criterion.measure == Measure::S4 {
            return Err(Error::BadParameter {
                name: "score",
                given: Measure::S4.to_string(),
                limit: "it weights each shared key by the documents of the collection that have \
                        it, and a query is not one of them; use s3"
                    .into(),
            });
        }
        let documents = Catalogue::stats(workspace)?.documents;
        let largest = self.read.max_document.0;
        // A document, its text, and the same text in canonical form.
        let fixed = PROCESS_BYTES
            + FIXED_BYTES
            + held
            + documents * 4
            + largest * 5 / 2
            + context.budget.threads as u64 * ((4 << 20) + Looker::bytes(documents));
        let least = ByteSize(fixed + (4 << 20));
        let what = || format!("looking up documents of up to {}", self.read.max_document);
        context.budget.require(least, what)?;
        let room = context.budget.memory.0 - fixed;
        let most = (room / 2).min(BATCH_BYTES);
        let sizes = self
            .inputs
            .iter()
            .map(|i| i.identity.as_ref().map(|f| f.size));
        context.progress.start(STAGE, Unit::Bytes, sizes.sum());
        let mut stats = QueryStats::default();
        let mut batch = QueryBatch::<K>::new(workspace, config)?;
        let mut set = Vec::new();
        let answer = &mut *self.answer;
        let mut ask = |batch: &mut QueryBatch<K>, stats: &mut QueryStats| -> Result<()> {
            stats.batches += batch.ask((fixed, room), context, |found| {
                stats.matched += u64::from(found.found > 0);
                answer(found)
            })?;
            Ok(())
        };
        each_interpreted(self.inputs, self.read, (STAGE, 0), context, |found| {
            stats.records += 1;
            match found {
                Interpreted::Document(document) => {
                    stats.queries += 1;
                    let made = keys(&document, &mut set, room).and_then(|facts| {
                        let needed = QueryBatch::<K>::bytes_of_one(set.len());
                        if needed > room {
                            Err(needed)
                        } else {
                            Ok(facts)
                        }
                    });
                    let (words, md5) = match made {
                        Ok(facts) => facts,
                        Err(needed) => {
                            // The document needs more than what is left.
                            let least = ByteSize(fixed.saturating_add(needed));
                            let what = || format!("looking {} up", document.docno);
                            return context.budget.require(least, what);
                        }
                    };
                    if batch.bytes() + QueryBatch::<K>::bytes_of(set.len()) > most {
                        ask(&mut batch, &mut stats)?;
                    }
                    let docno = Cow::into_owned(document.docno);
                    let keys = set.len() as u64;
                    let asked = Asked {
                        docno,
                        words,
                        md5,
                        keys,
                    };
                    batch.push(asked, &set);
                }
                Interpreted::Skipped(_) => stats.skipped += 1,
                Interpreted::Rejected(reject) => {
                    stats.rejected += 1;
                    let (reason, detail) = (reject.reason.text(), &reject.detail);
                    let docno = reject.docno.as_deref().unwrap_or("a record");
                    context
                        .progress
                        .note(&format!("rejected: {docno}: {reason} {detail}"));
                }
            }
            Ok(())
        })?;
        ask(&mut batch, &mut stats)?;
        Ok(stats)
    }
}
