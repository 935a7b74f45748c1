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
//! 1. Documents are read and turned into keys in the same way as the documents of the collection,
//!    until the memory for a batch is full or standard input pauses.
//! 2. If the collection has an index ([`lookalike_engine::index`]), the threads share the queries of
//!    the batch. A query looks up the rarest of its keys that every match must share one of, and its
//!    keys are compared with the sets of the documents that it finds (`indexed`).
//! 3. Otherwise the keys of the batch are sorted, and an index over their first bits is built. The
//!    sets of the collection are read once for each batch; the threads share the segments. Each key
//!    of a document is looked up in the batch, and the keys that the document shares with each
//!    query are counted.
//!
//! # Invariants
//! - The answers are exact: they are the pairs with representatives that the collection would have
//!   given had it contained the query. They do not depend on threads, memory or batches.
//! - Nothing is written, except the features of a method if they do not exist yet.
//! - Every record gives one reply, in the order of the records, unless it is skipped. If standard
//!   input has one JSON document on each line, a line is a record, and the replies to all lines so
//!   far are given when it pauses: a program that writes a line can wait for the reply.
//!
//! # Cost
//! With the index, some blocks of it for each query and a block of sets for each candidate. Without
//! it, every batch reads all sets; with enough memory and no pauses there is one batch. A pause
//! then has to be as long as the last pass, so that passes take at most half of the time that is
//! lost. Memory: 28 bytes for each key of a batch and about 200 bytes for each match. If the
//! matches of a batch do not fit, the batch is looked up again in halves. A large document takes
//! memory while it is turned into keys, and only then.
//!
//! # Where we depart from the source
//! The shared postings omit keys that occur in only one document, and a query may contain such a
//! key, so the index is one of its own. Batches make up for it where it is missing.
//!
//! # Errors
//! Those of the readers, and `BudgetTooSmall`, `StageMissing`, `Corrupt`, `Io`.

mod batch;
mod indexed;
mod stored;

use lookalike_base::{
    Budget, Context, Criterion, Key, Measure, PROCESS_BYTES, Queue, Result, Threshold, Unit,
    budget::ByteSize, counted, keywords, on_threads, refuse, with_keys,
};
use lookalike_engine::collection::{
    self, Captured, Catalogue, CatalogueEntry, Sameness, TextDigest,
};
use lookalike_engine::shingle::{DocumentFacts, Excluded, Shingler};
use lookalike_methods::{self as methods, Keyer, Spec};
use lookalike_store::Workspace;
use lookalike_text::parse::Parser;
use lookalike_text::read::{
    Coming, InputFile, Interpreted, RawDocument, ReadConfig, Reject, each_as_it_comes, warnings,
};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use batch::QueryBatch;
use indexed::{Asked, Looker};

pub use stored::{Stored, StoredQueries, stored_bytes};

const STAGE: &str = "query";
/// Buffers of the readers of inputs and of sets.
const FIXED_BYTES: u64 = 12 << 20;
/// A text buffer is reused for the next document up to this number of bytes.
const TEXT_KEPT: usize = 1 << 20;
/// The least memory for queries and their matches.
const LEAST_ROOM: u64 = 4 << 20;
/// Buffers of a thread that reads sets.
const THREAD_BYTES: u64 = 4 << 20;
/// Bytes for each document of the collection, if its sets are read.
const COLUMN_BYTES: u64 = 4;
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
}

impl QueryConfig {
    /// The criterion of `containing`, in which the size of the query is used twice.
    fn inside(&self) -> Option<Criterion> {
        let measure = Measure::Containment;
        (self.containing).map(|threshold| Criterion { measure, threshold })
    }
}

impl Default for QueryConfig {
    fn default() -> Self {
        QueryConfig {
            criterion: Criterion::default(),
            // 0.8.
            containing: Threshold::new(4, 5),
            top: Some(10),
        }
    }
}

/// A document that matches a query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Match {
    /// Its number in the collection.
    #[serde(skip)]
    pub document: u32,
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
    /// The capture that it is.
    #[serde(flatten)]
    pub captured: Captured,
}

keywords! {
    /// Why a document is listed.
    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Why {
        /// Its text equals the query's, byte for byte.
        Identical = "identical",
        /// Its words equal the query's, its text does not.
        #[serde(rename = "same words")]
        SameWords = "same words",
        /// Its words equal the query's. Whether its text does is unknown ([`Sameness::Unknown`]).
        Exact = "exact",
        /// It reaches the criterion.
        Near = "near",
        /// It only contains enough of the query ([`QueryConfig::containing`]).
        Contains = "contains",
    }
}

impl Why {
    /// For a document with the words of the query.
    fn equal(query: TextDigest, document: TextDigest) -> Why {
        match Sameness::of(query, document) {
            Sameness::Identical => Why::Identical,
            Sameness::SameWords => Why::SameWords,
            Sameness::Unknown => Why::Exact,
        }
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

/// A document that a query is compared with.
struct Compared<'a> {
    number: u32,
    md5: [u8; 16],
    text: TextDigest,
    words: u64,
    keys: u64,
    /// Its keys, if the measure needs them.
    set: &'a [u8],
    /// The keys that it shares with the query.
    shared: u64,
}

/// A record that should be a document but is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// Its docno, if it can be known.
    pub query: Option<String>,
    /// The reason, as in `rejects.jsonl`.
    pub rejected: &'static str,
    /// The reason in detail.
    pub detail: String,
    /// All of this in one line, with the file, for messages.
    #[serde(skip)]
    pub line: String,
}

/// A warning about a record that is a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Its docno.
    pub query: String,
    /// The reason, as in `rejects.jsonl`.
    pub warning: &'static str,
    /// The reason in detail.
    pub detail: String,
}

/// The reply to a record of the inputs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// The record is a query.
    Answer(Answer),
    /// The record is rejected.
    Rejected(Rejected),
    /// Something is odd about the next query.
    Warning(Warning),
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

/// Looks up documents in a collection and calls `reply` with the answer to each, with the records
/// that are rejected, and with warnings, in input order.
pub fn run(
    base: &Workspace,
    spec: Option<&Spec>,
    inputs: &[InputFile],
    read: &ReadConfig,
    config: &QueryConfig,
    context: &Context<'_>,
    mut reply: impl FnMut(Reply) -> Result<()>,
) -> Result<QueryStats> {
    if !collection::ingested(&base.manifest) || !base.manifest.has::<CatalogueEntry>() {
        return Err(base.missing("ingest"));
    }
    let mut asking = Asking {
        inputs,
        read,
        context,
        reply: &mut reply,
    };
    let theirs = collection::config(&base.manifest);
    theirs.check_rule(base.directory())?;
    if let Some(condition) = &theirs.condition {
        let note =
            format!("all documents are looked at, whatever --where {condition} says of pairs");
        context.progress.note(&note);
    }
    let shingle = &theirs.shingle;
    match spec {
        Some(spec) => {
            let workspace = methods::keys_to_read(base, spec, context)?;
            let prepared = spec.method.prepare(base, context)?;
            let join = spec.method.join;
            let config = QueryConfig {
                criterion: join.criterion(),
                ..config.clone()
            };
            let held = prepared.held_bytes;
            let features = &collection::config(&workspace.manifest).shingle;
            asking.run(&workspace, &config, held, &|| {
                let mut keyer = Keyer::new(&prepared, &shingle.parse);
                let mut parser = Parser::new(&shingle.parse);
                let mut text = Vec::new();
                let mut shingler = Shingler::<u64>::new(features);
                Box::new(move |document, set, room| {
                    // Only words and MD5 are needed, computed as for the collection. Nothing is
                    // hashed.
                    let facts = shingler.shingle(document, (u64::MAX, 0), &mut Vec::new());
                    shingler.shrink();
                    parser.text(document, &mut text);
                    parser.shrink();
                    let needed = text.len() as u64 * methods::COST;
                    if needed > room {
                        return Err(needed);
                    }
                    keyer.keys(&String::from_utf8_lossy(&text), set);
                    text.clear();
                    text.shrink_to(TEXT_KEPT);
                    Ok(facts)
                })
            })
        }
        None => with_keys!(shingle.fingerprint, K => asking.shingles::<K>(base, config)),
    }
}

struct Asking<'a> {
    inputs: &'a [InputFile],
    read: &'a ReadConfig,
    context: &'a Context<'a>,
    reply: &'a mut dyn FnMut(Reply) -> Result<()>,
}

/// Writes the keys of a document and returns facts about it. If the keys would need more memory
/// than the last argument, returns the memory that they need.
type Keying<'a, K> =
    Box<dyn FnMut(&RawDocument<'_>, &mut Vec<K>, u64) -> Result<DocumentFacts, u64> + 'a>;

impl Asking<'_> {
    fn shingles<K: Key>(&mut self, base: &Workspace, config: &QueryConfig) -> Result<QueryStats> {
        let shingle = &collection::config(&base.manifest).shingle;
        let held = shingle.excluded.as_ref().map_or(0, Excluded::bytes);
        self.run(base, config, held, &|| {
            let mut shingler = Shingler::<K>::new(shingle);
            Box::new(move |document, set, room| {
                let needed = |most| QueryBatch::<K>::bytes_of_one(most);
                let most = shingler.most_shingles(document, |most| needed(most) <= room);
                if needed(most) > room {
                    return Err(needed(most));
                }
                let facts = shingler.shingle(document, (K::default(), K::MAX), set);
                // Frees the buffer of a token as long as the document before the next document is
                // read.
                shingler.shrink();
                Ok(facts)
            })
        })
    }

    /// `held` bytes are in use by the caller. Every thread makes its own keying.
    fn run<'a, K: Key>(
        &mut self,
        workspace: &Workspace,
        config: &QueryConfig,
        held: u64,
        keying: &(dyn Fn() -> Keying<'a, K> + Sync),
    ) -> Result<QueryStats> {
        let context = self.context;
        if config.criterion.measure == Measure::S4 {
            let limit = "it weights each shared key by the documents of the collection that have \
                        it, and a query is not one of them; use s3";
            return refuse("score", Measure::S4, limit);
        }
        let documents = Catalogue::stats(workspace)?.documents;
        let batch = QueryBatch::<K>::new(workspace, config)?;
        let of_thread = THREAD_BYTES + Looker::bytes(documents);
        let indexed = batch.has_index();
        let columns = if indexed { 0 } else { documents * COLUMN_BYTES };
        let mut fixed = PROCESS_BYTES + FIXED_BYTES + held + of_thread + columns;
        let what = || format!("looking up in {}", counted(documents, "document"));
        context.budget.require(fixed + LEAST_ROOM, what)?;
        let memory = context.budget.memory.0;
        // More threads, as far as there is memory.
        if indexed && self.inputs.iter().any(|input| input.path == Path::new("-")) {
            // All files that may change are open, so a long-lived query does not block additions.
            workspace.release();
        }
        let spare = memory.saturating_sub(fixed + LEAST_ROOM) / 2;
        let more = (spare / of_thread).min(context.budget.threads as u64 - 1);
        fixed += more * of_thread;
        let context = &Context {
            budget: Budget {
                threads: 1 + more as usize,
                ..context.budget
            },
            ..*context
        };
        let room = memory - fixed;
        context.start(STAGE, Unit::Bytes, InputFile::total(self.inputs));
        let mut asking = Batches {
            batch,
            context,
            fixed,
            room,
            document: 0,
            keying,
            own: keying(),
            set: Vec::new(),
            unkeyed: Vec::new(),
            unkeyed_bytes: 0,
            keyed: 0,
            answered: 0,
            rejects: Rejects::default(),
            reply: &mut *self.reply,
            stats: QueryStats::default(),
        };
        each_as_it_comes(self.inputs, self.read, STAGE, context, |coming| {
            match coming {
                Coming::Framed(bytes) => asking.begin(bytes)?,
                Coming::Pause(bytes) => {
                    asking.document = bytes.min(room / 2);
                    asking.ask()?;
                }
                Coming::Record(Interpreted::Document(document)) => {
                    asking.push(document)?;
                }
                Coming::Record(Interpreted::Skipped(_)) => {
                    asking.stats.records += 1;
                    asking.stats.skipped += 1;
                }
                Coming::Record(Interpreted::Rejected(reject)) => {
                    let file = &self.inputs[reject.source.file as usize].docno;
                    asking.reject(reject.line(file), reject)?;
                }
            }
            Ok(asking.patience())
        })?;
        asking.document = 0;
        asking.ask()?;
        Ok(asking.stats)
    }
}

/// Rejected records and warnings that wait for the answers to the queries before them.
#[derive(Default)]
struct Rejects {
    /// Each with the number of queries before it.
    waiting: VecDeque<(u64, Reply)>,
    bytes: u64,
    /// Bytes of the warnings about queries of the current batch.
    warned: u64,
}

/// The most bytes of rejected records and warnings that wait.
const REJECTED_BYTES: u64 = 1 << 20;

/// The most bytes of documents that the threads turn into keys together, for each thread: enough
/// that starting the threads costs little.
const UNKEYED_BYTES: u64 = 512 << 10;
/// The share of the memory that these documents may take. Their keys take up to 25 times as much.
const UNKEYED_SHARE: u64 = 256;

/// Queries in batches, and the replies to them.
struct Batches<'a, 'k, K: Key> {
    batch: QueryBatch<'a, K>,
    context: &'a Context<'a>,
    fixed: u64,
    room: u64,
    /// Memory of the current record.
    document: u64,
    keying: &'a (dyn Fn() -> Keying<'k, K> + Sync),
    /// The keying of this thread.
    own: Keying<'k, K>,
    set: Vec<K>,
    /// Documents that are still to be turned into keys.
    unkeyed: Vec<RawDocument<'static>>,
    unkeyed_bytes: u64,
    /// Number of queries that are in a batch, and of those that are answered.
    keyed: u64,
    answered: u64,
    rejects: Rejects,
    reply: &'a mut dyn FnMut(Reply) -> Result<()>,
    stats: QueryStats,
}

impl<K: Key> Batches<'_, '_, K> {
    /// Makes room for a record of this number of bytes.
    fn begin(&mut self, bytes: u64) -> Result<()> {
        // The record, its text, and the same text in canonical form.
        let document = bytes * 5 / 2;
        let left = self.room.saturating_sub(document);
        if self.batch.bytes() > left / 2 {
            self.document = bytes.min(self.room / 2);
            self.ask()?;
        }
        let least = self.fixed.saturating_add(document + LEAST_ROOM);
        let what = || format!("a document of {}", ByteSize(bytes));
        self.context.budget.require(least, what)?;
        self.document = document;
        Ok(())
    }

    /// The most bytes of documents without keys.
    fn unkeyed_most(&self) -> u64 {
        match self.context.budget.threads {
            1 => 0,
            threads => (UNKEYED_BYTES * threads as u64).min(self.room / UNKEYED_SHARE),
        }
    }

    /// Takes a query, which is turned into keys at once or later by all threads.
    fn push(&mut self, document: RawDocument<'_>) -> Result<()> {
        self.stats.records += 1;
        self.stats.queries += 1;
        let (bytes, most) = (document.body.len() as u64, self.unkeyed_most());
        if bytes > most / 4 {
            self.key()?;
            return self.key_alone(&document);
        }
        // A text may be empty.
        self.unkeyed_bytes += bytes + size_of::<RawDocument<'_>>() as u64;
        self.unkeyed.push(RawDocument {
            docno: Cow::Owned(document.docno.into_owned()),
            unnamed: document.unnamed,
            charset: document.charset.map(|charset| charset.into_owned().into()),
            body: Cow::Owned(document.body.into_owned()),
            replaced: document.replaced,
            begins: document.begins,
            notices: document.notices,
            element: document.element,
            ..RawDocument::of_text("", document.content)
        });
        match self.unkeyed_bytes > most {
            true => self.key(),
            false => Ok(()),
        }
    }

    /// Turns the documents that are still without keys into keys.
    fn key(&mut self) -> Result<()> {
        let unkeyed = std::mem::take(&mut self.unkeyed);
        self.unkeyed_bytes = 0;
        let threads = self.context.budget.threads.min(unkeyed.len());
        if threads <= 1 {
            return unkeyed.iter().try_for_each(|found| self.key_alone(found));
        }
        let (keying, room, stop) = (self.keying, self.room, self.context.stop);
        let queue = Queue::new(unkeyed.iter().enumerate());
        let work = |_| {
            let mut keys = keying();
            let mut keyed = Vec::new();
            while let Some((at, document)) = queue.next() {
                stop.check(STAGE)?;
                let mut set = Vec::new();
                let made = keys(document, &mut set, room);
                keyed.push((at, made.map(|facts| (facts, set))));
            }
            Ok(keyed)
        };
        let keyed = on_threads(STAGE, threads, work, None)?.into_iter();
        let mut keyed: Vec<_> = keyed.flatten().collect();
        keyed.sort_unstable_by_key(|(at, _)| *at);
        for (document, (_, made)) in unkeyed.iter().zip(keyed) {
            match made {
                Ok((facts, set)) => self.put(document, facts, &set)?,
                Err(needed) => self.refuse(&document.docno, needed)?,
            }
        }
        Ok(())
    }

    /// Turns a document into keys on this thread.
    fn key_alone(&mut self, document: &RawDocument<'_>) -> Result<()> {
        let room = self.room - self.document;
        let mut set = std::mem::take(&mut self.set);
        match (self.own)(document, &mut set, room) {
            Ok(facts) => self.put(document, facts, &set)?,
            Err(needed) => self.refuse(&document.docno, needed)?,
        }
        self.set = set;
        Ok(())
    }

    /// Refuses a document that needs more memory than is left.
    fn refuse(&self, docno: &str, needed: u64) -> Result<()> {
        let least = (self.fixed + self.document).saturating_add(needed);
        let what = || format!("looking {docno} up");
        self.context.budget.require(least, what)
    }

    /// Adds a query to the batch, which is looked up first if it is full.
    fn put(&mut self, document: &RawDocument<'_>, own: DocumentFacts, set: &[K]) -> Result<()> {
        let docno = &*document.docno;
        for warning in warnings(document, own.words, own.notices) {
            let warning = Warning {
                query: warning.docno.unwrap_or_default(),
                warning: warning.reason.text(),
                detail: warning.detail,
            };
            let bytes = warning.query.len() + warning.detail.len();
            self.wait(self.keyed, Reply::Warning(warning), bytes);
            self.rejects.warned += bytes as u64;
        }
        if self.rejects.warned > REJECTED_BYTES {
            self.look_up()?;
        }
        self.keyed += 1;
        let room = self.room - self.document;
        let needed = QueryBatch::<K>::bytes_of_one(set.len());
        if needed > room {
            return self.refuse(docno, needed);
        }
        let most = (room / 2).min(BATCH_BYTES);
        if self.batch.bytes() + QueryBatch::<K>::bytes_of(set.len()) > most {
            self.look_up()?;
        }
        let asked = Asked {
            docno: docno.into(),
            words: own.words,
            md5: own.md5,
            text: TextDigest::new(own.text),
            keys: set.len() as u64,
        };
        self.batch.push(asked, set);
        Ok(())
    }

    fn reject(&mut self, line: String, reject: Reject) -> Result<()> {
        self.stats.records += 1;
        self.stats.rejected += 1;
        let rejected = Rejected {
            query: reject.docno,
            rejected: reject.reason.text(),
            detail: reject.detail,
            line,
        };
        if self.answered == self.stats.queries {
            return (self.reply)(Reply::Rejected(rejected));
        }
        // The line has what the other fields have.
        let bytes = 2 * rejected.line.len();
        self.wait(self.stats.queries, Reply::Rejected(rejected), bytes);
        if self.rejects.bytes > REJECTED_BYTES {
            self.ask()?;
        }
        Ok(())
    }

    /// Keeps a reply with so many bytes until the queries before it are answered.
    fn wait(&mut self, before: u64, reply: Reply, bytes: usize) {
        let rejects = &mut self.rejects;
        rejects.bytes += (size_of::<(u64, Reply)>() + bytes) as u64;
        // Records may be rejected before the queries in front of them are turned into keys.
        let waiting = &mut rejects.waiting;
        let at = waiting.partition_point(|(other, _)| *other <= before);
        waiting.insert(at, (before, reply));
    }

    /// How long standard input may pause until the queries are looked up; `None` if there are none.
    fn patience(&self) -> Option<Duration> {
        (self.answered < self.stats.queries).then(|| self.batch.patience())
    }

    /// Answers all queries so far.
    fn ask(&mut self) -> Result<()> {
        self.key()?;
        self.look_up()
    }

    /// Looks the batch up.
    fn look_up(&mut self) -> Result<()> {
        let (fixed, room) = (self.fixed + self.document, self.room - self.document);
        let (stats, reply, waiting) = (&mut self.stats, &mut self.reply, &mut self.rejects.waiting);
        let answered = &mut self.answered;
        let mut rejected = |answered: u64, reply: &mut dyn FnMut(Reply) -> Result<()>| {
            while waiting
                .front()
                .is_some_and(|(before, _)| *before <= answered)
                && let Some((_, waited)) = waiting.pop_front()
            {
                reply(waited)?;
            }
            Ok(())
        };
        stats.batches += self.batch.ask(fixed, room, self.context, |answer| {
            rejected(*answered, reply)?;
            *answered += 1;
            stats.matched += u64::from(answer.found > 0);
            reply(Reply::Answer(answer))
        })?;
        rejected(*answered, reply)?;
        self.rejects.warned = 0;
        if waiting.is_empty() {
            self.rejects.bytes = 0;
        }
        Ok(())
    }
}
