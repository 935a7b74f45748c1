//! Transfer of labels: give the labels of documents to their near-duplicates in another collection.
//!
//! # Source
//! Fröbe, Bevendorff, Gienapp, Völske, Stein, Potthast & Hagen 2021 ("CopyCat: Near-Duplicates
//! within and between the ClueWeb and the Common Crawl", SIGIR 2021), section 5: relevance
//! judgements for ClueWeb09 are transferred to near-duplicates in ClueWeb12 and in Common Crawl, so
//! that an old test collection serves for a newer crawl.
//!
//! # In and out
//! In: labels of documents of a collection, and another collection, both as output directories with
//! fingerprints that were made in the same way. Labels are relevance judgements in one of the forms
//! of [`crate::qrels`], or a list of docno and label: two columns, CSV, or JSON.
//! Out: [`TransferReport`], and in a directory
//!
//! - the labels of the other collection, in the form of the input;
//! - `transferred.tsv`: each of these labels, with both docnos and their resemblance;
//! - `contradictions.jsonl`: the documents whose near-duplicates have different labels.
//!
//! # Definition
//! A document B of the new collection is found by a labelled document A of the old one if their
//! resemblance reaches the threshold, or if they are exact duplicates. A set of fingerprints stands
//! for all exact duplicates: a labelled document is looked up by the set of its representative, and
//! the exact duplicates of a representative that is found are found with the same resemblance.
//!
//! The labels of all documents that find B are its candidates, for each topic and subtopic by
//! themselves; a list is one topic. B gets the candidate with the highest resemblance; among
//! equals, the candidate whose document comes first in the old collection. If the candidates do not
//! all say the same, B is a *contradiction*. Judgements say the same if their relevance is the same
//! number; other labels if they are the same text.
//!
//! # Algorithm
//! 1. The labels are read into memory. One pass over the documents of the old collection finds
//!    their numbers, and one over its catalogue their representatives.
//! 2. The set of each representative that is labelled is looked up in the new collection
//!    ([`lookalike_tasks::query`]): in its index if it has one, otherwise in one pass over its sets
//!    for each batch. The result is a list of links: old document, new document, shared
//!    fingerprints.
//! 3. The links are sorted by new document, and the candidates of each are compared.
//! 4. One pass over the catalogue of the new collection finds the exact duplicates of those that
//!    get a label, and the files are written.
//!
//! # Invariants
//! - Resemblances are compared as fractions, in integers of 128 bits.
//! - The files are the same bytes for every budget and number of threads, with and without an
//!   index. Labels are in the order of the input, and the documents that get one in the order of
//!   the new collection: each representative, followed by its exact duplicates.
//! - Labels = unknown + alone + overruled + transferred.
//! - Both collections are only read.
//!
//! # Cost
//! Memory: 360 bytes and three times its text for each label; 48 bytes for each link and for each
//! label that a representative gets, 24 for each exact duplicate of it; and the memory of a
//! look-up. Time: one pass over the documents of the old collection, and the look-ups.
//!
//! # Where we depart from the source
//! CopyCat finds near-duplicates by SimHash and verifies them by their 8-grams, with a threshold
//! for each corpus. Here the resemblance of all pairs is exact. CopyCat lets judgements of a
//! document and of its copies stand beside each other; here the nearest document decides, and
//! contradictions are listed.
//!
//! # What is not guaranteed
//! If several documents of the old collection have the same docno, the first one has the label.
//! Docnos are compared byte for byte, by hashes of 128 bits. If several documents of the new
//! collection have the same docno, the file of labels has one line for each topic;
//! `transferred.tsv` has all. A docno that cannot stand in the file of labels (white space in
//! judgements, a line break in a list) is only in `transferred.tsv`, where it is escaped.
//!
//! # Errors
//! `BadLine` for labels that cannot be read; `BadParameter` for collections with other
//! fingerprints, and if the output would replace an input or a file of a collection;
//! `StageMissing`; `BudgetTooSmall`; those of reading.

mod config;
mod labels;
mod links;
mod output;

use std::cell::Cell;
use std::path::Path;

use crate::qrels::{Held, Judgement, key_of};
use lookalike_base::{Context, Error, Memory, Result};
use lookalike_engine::collection::{Catalogue, each_document};
use lookalike_engine::pipeline;
use lookalike_store::{Workspace, disk};
use lookalike_tasks::query::{Stored, StoredQueries, stored_bytes};

use labels::{LABEL_BYTES, Labels};
use links::{Decision, Link, Links};
use output::{Outputs, SEEN_BYTES, check_output};

pub use config::{LabelsFormat, TransferConfig, TransferReport};

const STAGE: &str = "transfer";

/// Bytes of memory of a link or a decision: 16, three times while a table grows.
const LINK_BYTES: u64 = 48;
/// Bytes of memory of an exact duplicate of a document that gets a label: 8, three times.
const DUPLICATE_BYTES: u64 = 24;

/// The number of something that is not there.
const NONE: u32 = u32::MAX;

/// Opens a collection for reading. If something is to be made first, makes it, and then no other
/// process may use the directory.
fn open(directory: &Path, context: &Context<'_>) -> Result<Workspace> {
    if let Some(workspace) = pipeline::open_to_read(directory)? {
        pipeline::has_texts(&workspace)?;
        return Ok(workspace);
    }
    let mut workspace = pipeline::open_texts(directory)?;
    pipeline::catalogued(&mut workspace, context)?;
    Ok(workspace)
}

/// Transfers labels.
pub fn run(config: &TransferConfig, context: &Context<'_>) -> Result<TransferReport> {
    let from = open(&config.from, context)?;
    let same = |path: &Path| disk::identity(path).map_err(Error::io("inspect", path));
    let other = match same(&config.from)? == same(&config.to)? {
        true => None,
        false => Some(open(&config.to, context)?),
    };
    let to = other.as_ref().unwrap_or(&from);
    // From the start, so that the first refusal names what all needs.
    let look_up = stored_bytes(to, context)?;
    let mut held = Held::new(STAGE, context, (look_up, LABEL_BYTES));
    let labels = Labels::read(&config.labels, config.format, &mut held)?;
    if let Some(output) = &config.output {
        check_output(output, &config.labels, &labels, [&from, to])?;
    }
    let documents = Documents::find(&from, &labels, context)?;
    let held = Cell::new(held.memory.used - look_up);
    let links = find_links(&from, &labels, &documents, to, config, &held, context)?;
    let held = Memory::new(&context.budget, held.get());
    write(&labels, &documents, links, to, config, held, context)
}

/// The documents of the labels in the old collection.
struct Documents {
    /// For each label, its document; [`NONE`] if it is unknown.
    documents: Vec<u32>,
    /// The representatives that are looked up, in order.
    wanted: Vec<Stored>,
    /// The labels of known documents, by their representative.
    order: Vec<u32>,
    /// The position of each label's representative in `wanted`; [`NONE`] if it is unknown.
    places: Vec<u32>,
    /// Where the labels of each representative end in `order`.
    ends: Vec<u32>,
    docnos: u64,
    unknown: u64,
}

impl Documents {
    fn find(from: &Workspace, labels: &Labels, context: &Context<'_>) -> Result<Documents> {
        /// A docno of the labels.
        struct Name {
            key: u128,
            document: u32,
            /// Its place in `wanted`.
            place: u32,
            /// The representative. Exact duplicates have its words and its MD5.
            stored: Stored,
        }
        let all = &labels.judgements.all;
        let mut keys: Vec<u128> = all.iter().map(|label| label.key).collect();
        keys.sort_unstable();
        keys.dedup();
        let name = |key| Name {
            key,
            document: NONE,
            place: NONE,
            stored: Stored {
                document: NONE,
                words: 0,
                md5: [0; 16],
            },
        };
        let mut names: Vec<Name> = keys.into_iter().map(name).collect();
        each_document(from, |document, record| {
            context.tick(STAGE, document)?;
            if let Ok(at) = names.binary_search_by_key(&key_of(record.docno), |name| name.key)
                && names[at].document == NONE
            {
                let name = &mut names[at];
                name.document = document;
                (name.stored.words, name.stored.md5) = (record.words, record.md5);
            }
            Ok(())
        })?;
        names.sort_unstable_by_key(|name| name.document);
        let mut next = 0;
        Catalogue::each_representative(from, |document, first| {
            while let Some(name) = names.get_mut(next).filter(|name| name.document == document) {
                name.stored.document = first;
                next += 1;
            }
            Ok(())
        })?;
        names.sort_unstable_by_key(|name| name.stored.document);
        let known = names.partition_point(|name| name.stored.document != NONE);
        let mut wanted: Vec<Stored> = Vec::new();
        for name in &mut names[..known] {
            if wanted.last().map(|last| last.document) != Some(name.stored.document) {
                wanted.push(name.stored);
            }
            name.place = wanted.len() as u32 - 1;
        }
        names.sort_unstable_by_key(|name| name.key);
        let of = |label: &Judgement| {
            let name = &names[names.partition_point(|name| name.key < label.key)];
            (name.document, name.place)
        };
        let (documents, places): (Vec<u32>, Vec<u32>) = all.iter().map(of).unzip();
        let place = |label: u32| places[label as usize];
        let mut order: Vec<u32> = (0..places.len() as u32)
            .filter(|&label| place(label) != NONE)
            .collect();
        order.sort_unstable_by_key(|&label| (place(label), label));
        let ends = (0..wanted.len() as u32)
            .map(|end| order.partition_point(|&label| place(label) <= end) as u32)
            .collect();
        Ok(Documents {
            documents,
            wanted,
            order,
            places,
            ends,
            docnos: names.len() as u64,
            unknown: (names.len() - known) as u64,
        })
    }

    /// The labels of a representative.
    fn labels(&self, place: u32) -> &[u32] {
        let place = place as usize;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.order[start as usize..self.ends[place] as usize]
    }
}

/// Looks the labelled documents up. `held` are the bytes in use.
fn find_links(
    from: &Workspace,
    labels: &Labels,
    documents: &Documents,
    to: &Workspace,
    config: &TransferConfig,
    held: &Cell<u64>,
    context: &Context<'_>,
) -> Result<Links> {
    let before = held.get();
    let budget = context.budget;
    // Links beyond this are counted and not kept, so that the error can name the least budget that
    // suffices: look-ups need the other half.
    let fixed = before + stored_bytes(to, context)?;
    let left = budget.memory.0.saturating_sub(fixed);
    let most = left.min(budget.memory.0.saturating_sub(before) / 2);
    let mut links = Links::default();
    let mut count = 0u64;
    let name = |at: usize| {
        let first = documents.labels(at as u32).first();
        let label = first.map(|&label| &labels.judgements.all[label as usize]);
        label.map_or_else(String::new, |label| labels.judgements.docno(label).into())
    };
    let queries = StoredQueries {
        stage: STAGE,
        context,
        from,
        wanted: &documents.wanted,
        to,
        threshold: config.threshold,
        held,
        name: &name,
    };
    queries.ask(|at, answer| {
        for found in answer.matches {
            count += 1;
            if count * LINK_BYTES > most {
                links = Links::default();
                held.set(before);
                continue;
            }
            held.set(before + count * LINK_BYTES);
            links.all.push(Link {
                old: at as u32,
                new: found.document,
                shared: found.shared as u32,
                shingles: found.keys as u32,
            });
        }
        links.sizes.push(answer.keys_query as u32);
        Ok(())
    })?;
    let least = (before + 2 * count * LINK_BYTES).max(fixed + count * LINK_BYTES);
    budget.require(least, || {
        format!("{count} pairs of a labelled document and a near-duplicate")
    })?;
    links.all.sort_unstable_by_key(|link| (link.new, link.old));
    Ok(links)
}

/// Decides about the labels of each document that was found, and writes the files.
fn write(
    labels: &Labels,
    documents: &Documents,
    links: Links,
    to: &Workspace,
    config: &TransferConfig,
    mut held: Memory,
    context: &Context<'_>,
) -> Result<TransferReport> {
    held.take(Catalogue::names_bytes(to, &context.budget)?);
    let names = Catalogue::names(to, &context.budget)?;
    let mut out = Outputs::create(config, labels)?;
    let mut report = TransferReport {
        path: config.labels.clone(),
        format: labels.format,
        labels: labels.judgements.all.len() as u64,
        unknown_labels: (documents.documents.iter())
            .filter(|&&document| document == NONE)
            .count() as u64,
        docnos: documents.docnos,
        unknown_docnos: documents.unknown,
        ..TransferReport::default()
    };
    let found = links.found(documents);
    let (mut decisions, mut count) = (Vec::new(), 0u64);
    let mut candidates = Vec::new();
    for (n, group) in links.all.chunk_by(|a, b| a.new == b.new).enumerate() {
        context.tick(STAGE, n)?;
        links.candidates(group, labels, documents, &mut candidates);
        for candidates in candidates.chunk_by(|a, b| a.topic == b.topic) {
            let first = &candidates[0];
            count += 1;
            if held.take(LINK_BYTES) {
                let old = first.label;
                decisions.push(Decision { old, ..first.link });
            }
            let of = |number: u32| &labels.judgements.all[number as usize];
            if candidates
                .iter()
                .any(|other| !labels.agree(of(first.label), of(other.label)))
            {
                report.contradictions += 1;
                let docno = names.get(first.link.new)?;
                out.contradiction(&docno, candidates, &links, labels)?;
            }
        }
    }
    held.check(|| format!("{count} labels of documents that were found"))?;
    let sizes = links.sizes;
    drop((candidates, links.all));

    decisions.sort_unstable_by_key(|decision: &Decision| (decision.old, decision.new));
    let duplicates = links::duplicates(&decisions, to, &mut held, context)?;
    report.documents = duplicates.documents;
    let repeats = Catalogue::stats(to)?.docnos_repeated > 0;
    if repeats {
        let all = decisions
            .iter()
            .map(|decision| duplicates.of(decision.new).count() as u64);
        let lines: u64 = all.sum();
        held.take(lines * SEEN_BYTES);
        let what = || format!("{lines} labels of documents, some of them with the same docno");
        held.check(what)?;
    }
    out.begin(labels, repeats)?;
    let mut decided = decisions.chunk_by(|a, b| a.old == b.old).peekable();
    for (number, &document) in documents.documents.iter().enumerate() {
        context.tick(STAGE, number)?;
        let number = number as u32;
        let Some(decisions) = decided.next_if(|decisions| decisions[0].old == number) else {
            report.overruled += u64::from(document != NONE && found[number as usize]);
            report.alone += u64::from(document != NONE && !found[number as usize]);
            continue;
        };
        report.transferred += 1;
        let size = sizes[documents.places[number as usize] as usize];
        for decision in decisions {
            for new in duplicates.of(decision.new) {
                let docno = names.get(new)?;
                out.transferred(labels, decision, size, &docno, &mut report)?;
            }
        }
    }
    out.finish()?;
    let line = format!(
        "transfer: {} of {} labels transferred; contradictions: {}",
        report.transferred, report.labels, report.contradictions
    );
    context.progress.end(&line);
    Ok(report)
}
