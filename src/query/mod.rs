//! Look-up: which documents of a collection a new one resembles, or is contained in.
//!
//! # Source
//! The search problem (1 x n) of Bernstein & Zobel 2006, sections 1 and 4.2.1: the keys of a query document
//! are looked up, and for each document what it shares with the query is counted. Spam filtering as such
//! a look-up: Kolcz & Chowdhury 2008, section 5.2.
//!
//! # In and out
//! In: documents, of any format that `ingest` reads, and a collection, by its shingles or by the keys of a
//! method. Out, for each document in its order: the representatives that reach the threshold with it, the most
//! alike first.
//!
//! # Algorithm
//! 1. Documents are read, and become keys as those of the collection did, until memory for a batch is full.
//! 2. The keys of a batch are sorted, with an index over their first bits.
//! 3. The collection's sets are read once for each batch, segments shared out among the threads; each key
//!    of a document is looked up in the batch, and what queries share with the document is counted.
//!
//! # Invariants
//! - The answers are exact: those that the collection would have given had the query been one of it, against its
//!   representatives. They do not depend on threads, memory or batches.
//! - Nothing is written but the keys of a method, where they were not there.
//!
//! # Cost
//! Every batch reads all sets: with enough memory, once. Memory: a batch's keys, 28 bytes each, and what it
//! finds, some 200 bytes a match. Where that is more than there is room for, the batch is looked up again in
//! halves.
//!
//! # Where we depart from the source
//! There is no index of all keys: shared postings leave out those of one document only, which a query may
//! hold. A batch makes up for that.
//!
//! # Errors
//! As the readers', and `BudgetTooSmall`, `StageMissing`, `Corrupt`, `Io`.

mod batch;

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

use serde::Serialize;

use batch::{Asked, Batch};

const STAGE: &str = "query";
/// Readers of inputs and of sets.
const FIXED_BYTES: u64 = 12 << 20;
/// Bytes of a text whose buffer is kept for the next.
const TEXT_KEPT: usize = 1 << 20;
/// Memory of a batch, if there is so much: the index stays useful for the cache.
const BATCH_BYTES: u64 = 256 << 20;

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryConfig {
    /// What a document is to reach, unless the method says it.
    pub criterion: Criterion,
    /// List also documents that hold so much of the query's keys.
    pub containing: Option<Threshold>,
    /// So many documents are listed of each query; all where there is none.
    pub top: Option<usize>,
}

impl Default for QueryConfig {
    fn default() -> Self {
        QueryConfig {
            criterion: Criterion::default(),
            containing: None,
            top: Some(10),
        }
    }
}

/// A document that a query is like.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Match {
    /// Its docno.
    pub docno: String,
    /// Is its canonical document the same?
    pub exact: bool,
    /// The measure's value, to six decimals.
    pub score: f64,
    /// Share of the query's keys that it has.
    pub contains: f64,
    /// Share of its keys that the query has.
    pub contained: f64,
    /// Keys of both.
    pub shared: u64,
    /// Its keys.
    pub keys: u64,
}

/// What became of a query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The query's docno.
    pub query: String,
    /// Its words.
    pub words: u64,
    /// Its keys; a query without any is like nothing.
    pub keys: u64,
    /// Documents that reach the threshold.
    pub found: u64,
    /// The best of them.
    pub matches: Vec<Match>,
}

/// What was asked, in all. `records` = `queries` + `rejected` + `skipped`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueryStats {
    /// Records read.
    pub records: u64,
    /// Queries among them.
    pub queries: u64,
    /// Records that are no documents and should be.
    pub rejected: u64,
    /// Records that are no documents.
    pub skipped: u64,
    /// Queries that were found.
    pub matched: u64,
    /// Times that the collection was read.
    pub batches: u64,
}

/// Looks documents up in a collection; `answer` gets each in its order.
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
                // Words and MD5 as the collection has them; nothing is hashed.
                let facts = shingler.shingle(document, (u64::MAX, 0), &mut Vec::new());
                shingler.shrink();
                parser.text(document, &mut text);
                parser.shrink();
                let needed = text.len() as u64 * methods::COST;
                // What the largest document would take is left by this one until the next is read.
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
            if Batch::<K>::bytes_of_one(most) > room {
                if !matches!(
                    &collection::config(&base.manifest).shingle.parse.tokens,
                    TokenKind::Bytes(_)
                ) {
                    // There are not more shingles than words; nothing is hashed to count these.
                    let words = shingler
                        .shingle(document, (K::MAX, K::default()), set)
                        .words;
                    most = words as usize;
                    shingler.shrink();
                }
                let needed = Batch::<K>::bytes_of_one(most);
                if needed > room {
                    return Err(needed);
                }
            }
            let facts = shingler.shingle(document, (K::default(), K::MAX), set);
            // A token as long as the document is not held while the next is read.
            shingler.shrink();
            Ok((facts.words, facts.md5))
        })
    }

    /// `held` bytes are held meanwhile. `keys` makes the keys of a document, and gives its words and MD5; or,
    /// where they would take more memory than its last argument, how much they would.
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
                limit: "it weighs keys by all documents that have them, and a query is none of these; use s3"
                    .into(),
            });
        }
        let documents = Catalogue::stats(workspace)?.documents;
        let largest = self.read.max_document.0;
        // A document, its text, that again as canonical text.
        let fixed = PROCESS_BYTES
            + FIXED_BYTES
            + held
            + documents * 4
            + largest * 5 / 2
            + context.budget.threads as u64 * (4 << 20);
        let least = ByteSize(fixed + (4 << 20));
        let what = || format!("looking documents of up to {} up", self.read.max_document);
        context.budget.require(least, what)?;
        let room = context.budget.memory.0 - fixed;
        let most = (room / 2).min(BATCH_BYTES);
        let sizes = self
            .inputs
            .iter()
            .map(|i| i.identity.as_ref().map(|f| f.size));
        context.progress.start(STAGE, Unit::Bytes, sizes.sum());
        let mut stats = QueryStats::default();
        let mut batch = Batch::<K>::new(workspace, config)?;
        let mut set = Vec::new();
        let answer = &mut *self.answer;
        let mut ask = |batch: &mut Batch<K>, stats: &mut QueryStats| -> Result<()> {
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
                        let needed = Batch::<K>::bytes_of_one(set.len());
                        if needed > room {
                            Err(needed)
                        } else {
                            Ok(facts)
                        }
                    });
                    let (words, md5) = match made {
                        Ok(facts) => facts,
                        Err(needed) => {
                            // It is more than is left.
                            let least = ByteSize(fixed.saturating_add(needed));
                            let what = || format!("looking {} up", document.docno);
                            return context.budget.require(least, what);
                        }
                    };
                    if batch.bytes() + Batch::<K>::bytes_of(set.len()) > most {
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
